//! Builds by a profile (RPython: `--profopt`): an executable counts how often its branches are taken in a run
//! that shows what the program usually does, and another one is made with these counts.
//!
//! A profile belongs to the texts that the back end gave the compiler, and to that compiler: the folder that it
//! is left in says which. With anything else it is refused, for its counts would be of other code.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_platform::{on_path, said, with_variables};

use crate::Key;
use crate::fault::Failure;
use crate::timing::Timings;

/// Which profile a build goes by.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// Arguments of the run that shows what the program does; without them the profile of an earlier run is used.
    pub train: Option<Vec<String>>,
    /// Where profiles are left, and found.
    pub folder: Option<Utf8PathBuf>,
}

/// How a compiler counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Counting {
    /// gcc: a file of counts for each object file.
    Gcc,
    /// clang: one file, which this program makes of those that runs leave.
    Llvm(PathBuf),
}

/// The name of the one file of a profile of LLVM.
const WHOLE: &str = "program.profdata";
/// The file that says what a profile is of.
const SOURCES: &str = "sources";

/// A profile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Profile {
    /// Files of counts, by name.
    files: BTreeMap<String, Vec<u8>>,
}

impl Profile {
    /// The counts for an object file of that name, without its ending: they stand beside it as a file of that name.
    pub(crate) fn of(&self, stem: &str) -> Option<(String, &[u8])> {
        let own = format!("{stem}.gcda");
        let found = [own.as_str(), WHOLE]
            .into_iter()
            .find_map(|name| self.files.get_key_value(name));
        found.map(|(name, counts)| (name.clone(), &**counts))
    }

    /// Writes the files of counts into a folder.
    pub(crate) fn put_into(&self, folder: &Path) -> io::Result<()> {
        (self.files.iter()).try_for_each(|(name, counts)| fs::write(folder.join(name), counts))
    }

    fn leave(&self, folder: &Utf8Path, sources: &str) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        self.put_into(folder.as_std_path())?;
        // Last: a folder without it has no profile.
        fs::write(folder.join(SOURCES), sources)
    }
}

impl Counting {
    /// How a C compiler counts.
    pub(crate) fn of_c_compiler(cc: &OsStr) -> Result<Counting, Failure> {
        let says = said(Command::new(cc).arg("--version")).unwrap_or_default();
        if says.contains("clang") {
            Counting::of_clang(Path::new(cc), &says)
        } else {
            Ok(Counting::Gcc)
        }
    }

    /// How that clang counts, which says that of its version.
    pub(crate) fn of_clang(clang: &Path, says: &str) -> Result<Counting, Failure> {
        let version: String = (says
            .split_once("version ")
            .map_or("", |(_, rest)| rest)
            .chars())
        .take_while(char::is_ascii_digit)
        .collect();
        let beside = on_path(clang).and_then(|p| p.canonicalize().ok());
        let beside = beside.and_then(|p| Some(p.parent()?.join("llvm-profdata")));
        let numbered = format!("llvm-profdata-{version}");
        let names = [OsStr::new(&numbered), OsStr::new("llvm-profdata")];
        let found = (beside.filter(|p| p.is_file()).into_iter())
            .chain(names.into_iter().filter_map(on_path))
            .find(|p| version_of(p).is_some_and(|v| v == version));
        found.map(Counting::Llvm).ok_or_else(|| {
            Failure::Usage(format!(
                "profiles of {} need llvm-profdata {version}, which is not there: install llvm-{version}",
                clang.display()
            ))
        })
    }

    /// What the compiler and the linker are told for an executable that counts.
    pub(crate) fn counts(&self) -> &'static [&'static str] {
        &["-fprofile-generate"]
    }

    /// What the compiler is told to use counts that stand beside the object file.
    pub(crate) fn uses(&self, counts: &Path) -> Vec<String> {
        match self {
            Counting::Gcc => vec![
                "-fprofile-use".to_owned(),
                // Threads may have counted at the same time.
                "-fprofile-correction".to_owned(),
            ],
            Counting::Llvm(_) => vec![format!("-fprofile-use={}", counts.display())],
        }
    }

    /// What runs have left in a folder.
    fn collect(&self, folder: &Path) -> io::Result<Profile> {
        let mut left = Vec::new();
        for entry in fs::read_dir(folder)? {
            left.push(entry?.path());
        }
        left.sort();
        let mut files = BTreeMap::new();
        match self {
            Counting::Gcc => {
                for path in left
                    .iter()
                    .filter(|p| p.extension() == Some(OsStr::new("gcda")))
                {
                    let name = path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    files.insert(name, fs::read(path)?);
                }
            }
            Counting::Llvm(_) if left.is_empty() => {}
            Counting::Llvm(profdata) => {
                let whole = folder.join(WHOLE);
                let output = (Command::new(profdata)
                    .arg("merge")
                    .arg("-o")
                    .arg(&whole)
                    .args(&left))
                .output()?;
                if !output.status.success() {
                    let text = String::from_utf8_lossy(&output.stderr);
                    return Err(io::Error::other(format!("{}: {text}", profdata.display())));
                }
                files.insert(WHOLE.to_owned(), fs::read(whole)?);
            }
        }
        Ok(Profile { files })
    }
}

/// The profile that a build goes by: of a run of the executable that `build` makes, or of an earlier one. `sources`
/// are the texts that the compiler gets, by name; `compiler` is what it is.
pub(crate) fn obtain(
    options: &ProfileOptions,
    counting: &Counting,
    compiler: &str,
    sources: &[(&str, &str)],
    timings: &mut Timings,
    build: impl FnOnce(&Utf8Path, &mut Timings) -> Result<(), Failure>,
) -> Result<Profile, Failure> {
    let made_of = made_of(compiler, sources);
    let Some(arguments) = &options.train else {
        let folder = options.folder.as_deref().unwrap_or(Utf8Path::new("."));
        return found(folder, &made_of);
    };
    let failed = |e: io::Error| Failure::Usage(format!("--profopt: {e}"));
    let place = tempfile::Builder::new()
        .prefix("taipan-profile-")
        .tempdir()
        .map_err(failed)?;
    let program = Utf8PathBuf::from_path_buf(place.path().join("program"))
        .map_err(|p| Failure::Usage(format!("{} is not UTF-8", p.display())))?;
    let counts = place.path().join("counts");
    fs::create_dir(&counts).map_err(failed)?;
    build(&program, timings)?;
    timings.phase("training", || train(&program, arguments, &counts))?;
    let profile = counting.collect(&counts).map_err(failed)?;
    if profile.files.is_empty() {
        return Err(Failure::Usage(
            "--profopt: the run left no counts. A program that is ended by os._exit() or a signal leaves none"
                .to_owned(),
        ));
    }
    if let Some(folder) = &options.folder {
        let left = profile.leave(folder, &made_of);
        left.map_err(|e| Failure::Usage(format!("--profile {folder}: {e}")))?;
    }
    Ok(profile)
}

/// Runs an executable that counts.
fn train(program: &Utf8Path, arguments: &[String], counts: &Path) -> Result<(), Failure> {
    let each = counts.join("%p.profraw");
    // gcc: all files into that folder, whatever the paths are that it was compiled with.
    let mut command = with_variables(
        program,
        &[
            ("GCOV_PREFIX", counts.as_os_str()),
            ("GCOV_PREFIX_STRIP", "1000".as_ref()),
            ("LLVM_PROFILE_FILE", each.as_os_str()),
        ],
    );
    // Some counts are of addresses; they are the same each time.
    // SAFETY: between fork and exec it makes one system call, which concerns the new process only.
    unsafe {
        command.pre_exec(|| {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(())
        });
    }
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(|e| Failure::Usage(format!("--profopt: {program}: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = arguments.join(" ");
    Err(Failure::Usage(format!(
        "--profopt: the run with `{line}` failed ({}), and so shows nothing to go by\n{}",
        output.status,
        said.trim_end()
    )))
}

/// The profile of an earlier run, if it is of the same program.
fn found(folder: &Utf8Path, made_of: &str) -> Result<Profile, Failure> {
    let usage = |text: String| Failure::Usage(format!("--profile {folder}: {text}"));
    let again = "give --profopt, too, to have the program run once more";
    let of = fs::read_to_string(folder.join(SOURCES)).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => usage(format!("there is no profile: {again}")),
        _ => usage(e.to_string()),
    })?;
    if of != made_of {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (of, now) = (lines(&of), lines(made_of));
        let changed = now.iter().skip(1).filter(|line| !of.contains(line)).count();
        return Err(usage(if of.first() == now.first() {
            format!(
                "the profile is not of this program: {changed} of {} files that the compiler gets are others. \
                 {again}",
                now.len() - 1
            )
        } else {
            format!("the profile was made with another compiler: {again}")
        }));
    }
    let mut files = BTreeMap::new();
    for entry in folder.read_dir_utf8().map_err(|e| usage(e.to_string()))? {
        let path = entry.map_err(|e| usage(e.to_string()))?.into_path();
        if matches!(path.extension(), Some("gcda" | "profdata")) {
            let counts = fs::read(&path).map_err(|e| usage(e.to_string()))?;
            files.insert(path.file_name().unwrap_or_default().to_owned(), counts);
        }
    }
    Ok(Profile { files })
}

/// What a profile is of, in lines.
fn made_of(compiler: &str, sources: &[(&str, &str)]) -> String {
    let line = |text: &str| format!("{:?}\n", Key::of(text.as_bytes()));
    let files = sources
        .iter()
        .map(|(name, text)| format!("{name} {}", line(text)));
    format!("{}{}", line(compiler), files.collect::<String>())
}

/// What a program prints.
fn version_of(profdata: &Path) -> Option<String> {
    let says = said(Command::new(profdata).args(["merge", "--version"]))?;
    let (_, rest) = says.split_once("version ")?;
    Some(rest.chars().take_while(char::is_ascii_digit).collect())
}
