//! LLVM's programs: `clang`, or `opt` and `llc`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{on_path, run};

/// The oldest version that is known to read `ptr` right. LLVM 14 has to be told to, and then
/// drops stores of which a part is stored to again.
const OLDEST: u32 = 15;
/// The newest one that is looked for by its number.
const NEWEST: u32 = 40;

/// What makes object files.
#[derive(Clone, Debug)]
pub struct Llvm {
    kind: Kind,
    version: u32,
    identity: String,
}

#[derive(Clone, Debug)]
enum Kind {
    Clang(PathBuf),
    OptAndLlc(PathBuf, PathBuf),
}

impl Llvm {
    /// The compiler that `$CLANG` names; else `clang`, the newest `clang-N`, or `opt` and
    /// `llc`, whatever is there first and new enough.
    pub fn find() -> io::Result<Llvm> {
        let mut old = None;
        let mut new_enough = |tools: Llvm| match tools.version >= OLDEST {
            true => Some(tools),
            false => {
                old.get_or_insert(tools);
                None
            }
        };
        let clang = |path: PathBuf| Llvm::of(Kind::Clang(path.clone()), &[path]);
        let named = std::env::var_os("CLANG");
        let names: Vec<OsString> = match &named {
            Some(name) => vec![name.clone()],
            None => {
                let numbered = (OLDEST..=NEWEST).rev().map(|n| format!("clang-{n}").into());
                std::iter::once("clang".into()).chain(numbered).collect()
            }
        };
        for path in names.iter().filter_map(on_path) {
            if let Some(found) = new_enough(clang(path)?) {
                return Ok(found);
            }
        }
        if let (None, Some(opt), Some(llc)) = (&named, on_path("opt"), on_path("llc")) {
            let both = [opt.clone(), llc.clone()];
            if let Some(found) = new_enough(Llvm::of(Kind::OptAndLlc(opt, llc), &both)?) {
                return Ok(found);
            }
        }
        let name = names[0].to_string_lossy();
        let wanted = format!(
            "install clang {OLDEST} or newer (on Debian 12: apt-get install clang-19), or name \
             one in CLANG"
        );
        Err(io::Error::other(match old {
            Some(old) => format!(
                "{} is LLVM {}, which is too old for the LLVM back end: {wanted}",
                old.program().display(),
                old.version
            ),
            None => format!("the LLVM back end needs {name}, which is not there: {wanted}"),
        }))
    }

    fn program(&self) -> &Path {
        match &self.kind {
            Kind::Clang(clang) => clang,
            Kind::OptAndLlc(opt, _) => opt,
        }
    }

    fn of(kind: Kind, programs: &[PathBuf]) -> io::Result<Llvm> {
        let mut identity = String::new();
        let mut version = u32::MAX;
        for program in programs {
            let mut command = Command::new(program);
            command.arg("--version");
            let said = run_tool(&mut command)?;
            let said = String::from_utf8_lossy(&said).into_owned();
            version = version.min(version_in(&said).unwrap_or(0));
            let metadata = program.metadata()?;
            let time = metadata.modified().ok();
            let time = time.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
            let (path, size) = (program.display(), metadata.len());
            identity.push_str(&format!("{path} {size} {time:?}\n{said}"));
        }
        Ok(Llvm {
            kind,
            version,
            identity,
        })
    }

    /// What its results depend on besides the text.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The clang that makes object files, if one does.
    pub fn clang(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Clang(clang) => Some(clang),
            Kind::OptAndLlc(..) => None,
        }
    }

    /// The library that clang has beside it which keeps the counts of programs that count.
    pub fn profile_library(&self) -> io::Result<PathBuf> {
        let clang = self.clang().ok_or_else(|| {
            io::Error::other("profiles need clang: opt and llc make none".to_owned())
        })?;
        let names = [
            format!("libclang_rt.profile-{}.a", std::env::consts::ARCH),
            "libclang_rt.profile.a".to_owned(),
        ];
        for name in names {
            let said = run_tool(Command::new(clang).arg(format!("-print-file-name={name}")))?;
            let path = PathBuf::from(String::from_utf8_lossy(&said).trim());
            if path.is_file() {
                return Ok(path);
            }
        }
        Err(io::Error::other(format!(
            "executables that count need the profile library of {}, which is not there: on Debian and Ubuntu, \
             apt-get install libclang-rt-{}-dev",
            clang.display(),
            self.version
        )))
    }

    /// The commands that make an object file of a module in that file, as one writes them, at
    /// an optimisation level. clang is told `more`.
    pub fn commands(
        &self,
        from: &Path,
        to: &Path,
        level: u8,
        more: &[String],
    ) -> Vec<Vec<OsString>> {
        let (from, to) = (from.as_os_str(), to.as_os_str());
        let o = format!("-O{level}");
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        match &self.kind {
            Kind::Clang(clang) => {
                let mut command = vec![clang.as_os_str().to_owned()];
                command.extend(words(&["-c", &o, "-x", "ir", "-w", "-fno-pic", "-fno-pie"]));
                for option in self.code_options() {
                    command.extend(words(&["-mllvm", option]));
                }
                command.extend(more.iter().map(OsString::from));
                command.extend(["-o".into(), to.to_owned(), from.to_owned()]);
                vec![command]
            }
            Kind::OptAndLlc(opt, llc) => {
                let optimized = Path::new(to).with_extension("bc");
                let mut first = vec![opt.as_os_str().to_owned(), o.clone().into()];
                let mut second = vec![llc.as_os_str().to_owned()];
                second.extend(words(&[&o, "-filetype=obj", "-relocation-model=static"]));
                second.extend(words(self.code_options()));
                first.extend(["-o".into(), optimized.clone().into(), from.to_owned()]);
                second.extend(["-o".into(), to.to_owned(), optimized.into()]);
                vec![first, second]
            }
        }
    }

    /// What LLVM is told when it makes machine code. LLVM 19 alone leaves jumps by tables of addresses where many
    /// blocks lead to them and away from them, which are those of loops over bytecodes; the switch came with it.
    fn code_options(&self) -> &'static [&'static str] {
        match self.version {
            19 => &["-tail-dup-pred-size=4096", "-tail-dup-succ-size=4096"],
            _ => &[],
        }
    }

    /// The object file of a module's text. Its files are in that folder meanwhile. clang is told `more`.
    pub fn compile(
        &self,
        text: &str,
        level: u8,
        more: &[String],
        folder: &Path,
        name: &str,
    ) -> io::Result<Vec<u8>> {
        let from = folder.join(format!("{name}.ll"));
        let to = folder.join(format!("{name}.o"));
        std::fs::write(&from, text)?;
        for words in self.commands(&from, &to, level, more) {
            run_tool(Command::new(&words[0]).args(&words[1..]))?;
        }
        std::fs::read(&to)
    }
}

/// Runs one of LLVM's programs. An error names it.
fn run_tool(command: &mut Command) -> io::Result<Vec<u8>> {
    run(command).map_err(|e| match e.kind() {
        io::ErrorKind::Other => e,
        kind => {
            let program = command.get_program().to_string_lossy();
            io::Error::new(kind, format!("{program} cannot be run: {e}"))
        }
    })
}

/// The first number after `version`.
fn version_in(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("version ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}
