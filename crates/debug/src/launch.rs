//! The arguments of the request `launch`, and the build of its executable.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use tempfile::TempDir;

use crate::Event;
use crate::output::{Pipe, Stream};

/// The commands of Taipan that a session uses.
pub struct Toolchain {
    /// The `taipan` binary.
    pub taipan: OsString,
    /// The variables that a project sets for its program: by the folder that the session is in, and the target, its
    /// name, a folder or a test file.
    pub environment: fn(&Utf8Path, &str) -> Vec<(String, String)>,
}

/// The arguments of `launch`.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Launch {
    /// A target, a folder, or the name of a target of the project.
    program: Option<String>,
    /// A test: `FILE::NAME`.
    test: Option<String>,
    /// An executable that Taipan has built.
    executable: Option<String>,
    /// The program's own arguments.
    args: Vec<String>,
    /// The current folder of the program, which paths are relative to; by default that of the adapter.
    cwd: Option<String>,
    /// Variables of the environment; null removes one.
    env: BTreeMap<String, Option<String>>,
    /// The file of the program's standard input; by default it is empty.
    stdin: Option<String>,
    /// Options of `taipan build`.
    build_args: Vec<String>,
    /// Stop where the entry point starts.
    pub(crate) stop_on_entry: bool,
    /// Run without stopping at breakpoints.
    pub(crate) no_debug: bool,
}

/// A source of the executable that gdb loads.
pub(crate) enum Debuggee {
    /// The result of `taipan build` with this argument.
    Built(String),
    /// An executable.
    Executable(Utf8PathBuf),
}

impl Launch {
    /// The debuggee. The error is for the client.
    pub(crate) fn debuggee(&self) -> Result<Debuggee, String> {
        match (&self.program, &self.test, &self.executable) {
            (Some(program), None, None) => Ok(Debuggee::Built(program.clone())),
            (None, Some(test), None) if test.contains("::") => Ok(Debuggee::Built(test.clone())),
            (None, Some(test), None) => Err(format!("test: {test} is not FILE::NAME")),
            (None, None, Some(executable)) => {
                Ok(Debuggee::Executable(self.folder().join(executable)))
            }
            _ => Err("launch takes one of program, test and executable".to_owned()),
        }
    }

    /// Where the program runs.
    pub(crate) fn folder(&self) -> Utf8PathBuf {
        let given = Utf8Path::new(self.cwd.as_deref().unwrap_or("."));
        camino::absolute_utf8(given).unwrap_or_else(|_| given.to_owned())
    }

    /// The arguments of the program and its three streams, as gdb hands them to a shell.
    pub(crate) fn command_line(&self, stdout: &str, stderr: &str) -> String {
        let stdin = match &self.stdin {
            Some(file) => self.folder().join(file).into_string(),
            None => "/dev/null".to_owned(),
        };
        let words = self.args.iter().map(|a| shell_word(a));
        let streams = [("<", stdin.as_str()), (">", stdout), ("2>", stderr)];
        let streams = streams.map(|(sign, path)| format!("{sign}{}", shell_word(path)));
        words.chain(streams).collect::<Vec<_>>().join(" ")
    }

    /// The variables that the program's environment has beside the adapter's: names, and values or None.
    pub(crate) fn environment(&self, toolchain: &Toolchain) -> Vec<(String, Option<String>)> {
        let about = self.program.as_ref().or(self.test.as_ref());
        let configured = about.map_or_else(Vec::new, |about| {
            let file = about.split("::").next().unwrap_or(about);
            (toolchain.environment)(&self.folder(), file)
        });
        // Variables of the project do not replace those of the environment.
        let configured = (configured.into_iter())
            .filter(|(name, _)| std::env::var_os(name).is_none() && !self.env.contains_key(name))
            .map(|(name, value)| (name, Some(value)));
        let given = self.env.iter().map(|(n, v)| (n.clone(), v.clone()));
        configured.chain(given).collect()
    }
}

/// Options of the build, unless the client gives others. Functions that are inlined have no breakpoints. Variables that
/// a collector moves have no value where it knows them.
const DEFAULTS: [(&str, &str); 3] = [("-O", "0"), ("--passes", "=-all"), ("--gc", "=ref")];

/// A word for `sh`, whatever is in it.
fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A build while it runs.
pub(crate) struct Build {
    process: Child,
    folder: TempDir,
    executable: Utf8PathBuf,
}

impl Build {
    /// Starts `taipan build` on an argument. Its output goes to the session.
    pub(crate) fn start(
        launch: &Launch,
        what: &str,
        toolchain: &Toolchain,
        events: &Sender<Event>,
    ) -> io::Result<Build> {
        let folder = tempfile::Builder::new().prefix("taipan-debug-").tempdir()?;
        let stem = Utf8Path::new(what.split("::").next().unwrap_or(what)).file_stem();
        let path = folder.path().join(stem.unwrap_or("program"));
        let executable = Utf8PathBuf::try_from(path).map_err(io::Error::other)?;
        let pipe = Pipe::new(Stream::Build, events)?;
        let mut command = Command::new(&toolchain.taipan);
        command.args(["build", "--quiet", "-g"]);
        for (option, value) in DEFAULTS {
            if !launch.build_args.iter().any(|a| a.starts_with(option)) {
                command.arg(format!("{option}{value}"));
            }
        }
        let process = command
            .args(&launch.build_args)
            .args(["-o", executable.as_str(), what])
            .current_dir(launch.folder())
            .stdin(Stdio::null())
            .stdout(pipe.writer()?)
            .stderr(pipe.writer()?)
            .spawn()?;
        Ok(Build {
            process,
            folder,
            executable,
        })
    }

    /// Waits for the end, once the output is at its end. The executable, with the folder that it lives in; None if
    /// there is none.
    pub(crate) fn finish(mut self) -> Option<(Utf8PathBuf, TempDir)> {
        let status = self.process.wait().ok()?;
        status.success().then_some((self.executable, self.folder))
    }

    /// Ends it before its time.
    pub(crate) fn kill(mut self) {
        // The process may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(json: &str) -> Launch {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn one_of_three_is_debugged() {
        let error = |json: &str| launch(json).debuggee().err().unwrap_or_default();
        assert_eq!(error(r#"{"program": "a.py"}"#), "");
        assert_eq!(error(r#"{"test": "a.py::test_a"}"#), "");
        assert_eq!(error(r#"{"test": "a.py"}"#), "test: a.py is not FILE::NAME");
        let one = "launch takes one of program, test and executable";
        assert_eq!(error("{}"), one);
        assert_eq!(error(r#"{"program": "a.py", "executable": "a-c"}"#), one);
    }

    #[test]
    fn arguments_pass_a_shell() {
        let l = launch(r#"{"args": ["a b", "it's", "$HOME"], "stdin": "in", "cwd": "/tmp"}"#);
        assert_eq!(
            l.command_line("/out", "/err"),
            r"'a b' 'it'\''s' '$HOME' <'/tmp/in' >'/out' 2>'/err'"
        );
    }
}
