//! Questions to the C compiler of a machine: constants, sizes, whether something links, and what a small
//! program prints.
//!
//! Constants are read from the object file, so nothing that was compiled runs and no emulator is needed. What
//! is no constant for the compiler, and calls of C functions, need a program that runs: confined
//! ([`crate::sandbox`]) unless the folder that asks is trusted.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use taipan_language::Machine;

use crate::c::compiler_options;
use crate::command::with_variables;
use crate::flags::refused_option;
use crate::sandbox::{Confinement, Ended, IsWanted, Limits, run_bounded};
use crate::state::{is_system, state_of};
use crate::{c_compiler, runner};

/// A question to the C compiler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CQuestion {
    /// The machine that it is about.
    pub machine: Machine,
    /// The C program.
    pub source: String,
    /// Further C code of the program, compiled separately: many questions have the same. Empty if there is none.
    pub shared: String,
    /// Options of the compiler.
    pub options: Vec<String>,
    /// Headers that only the compiler sees: what sources include them by, and their text.
    pub headers: Vec<(String, String)>,
    /// The requested result.
    pub wanted: Wanted,
    /// Native code of the folder that asks may do what the user may.
    pub trusted: bool,
}

/// The result that is requested of a C program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wanted {
    /// The values of its constants called `taipan_KIND_NUMBER`, one `NUMBER KIND VALUE` per line, sorted. Kinds are
    /// `i`, a `long long` with a `char` beside it, of kind `p`, that says whether the value is positive; `f`, a
    /// `double`; and `s`, an array of `char`, whose value is in hexadecimal digits.
    Constants,
    /// Whether it compiles and links.
    Links,
    /// Its output.
    Output,
    /// The state of all files that it includes: another text if one of them has changed. It need not
    /// compile.
    Inputs,
}

/// The answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CAnswer {
    /// The requested result.
    Said(String),
    /// The messages of the compiler that refuses the program, or why there is none.
    Refused(String),
    /// An operation that an untrusted folder may not do.
    Forbidden(String),
}

/// An answer, and what it was made from.
#[derive(Clone, Debug)]
pub struct CAnswered {
    /// The answer.
    pub answer: CAnswer,
    /// Files that compiler and linker have read, or looked for in vain. Absolute.
    pub inputs: Vec<PathBuf>,
    /// The compiler came to a limit: asking again would take as long.
    pub exceeded: bool,
}

/// The shared code of a question as an object file.
#[derive(Clone, Debug)]
pub struct CObject {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Files that the compiler has read. Absolute.
    pub inputs: Vec<PathBuf>,
}

/// Limits of compilers.
const COMPILER: Limits = Limits {
    time: Duration::from_secs(20),
    memory: 4 << 30,
    output: 1 << 20,
};

/// Limits of programs.
const PROGRAM: Limits = Limits {
    time: Duration::from_secs(10),
    memory: 1 << 30,
    output: 1 << 20,
};

/// Limits of programs of trusted folders.
const TRUSTED: Limits = Limits {
    time: Duration::from_secs(60),
    memory: 8 << 30,
    output: 1 << 24,
};

/// Keeps gcc from taking a precompiled header, which may lie beside any header and is mapped as the
/// compiler's memory: none is taken behind a token.
const FIRST_TOKEN: &str = "typedef int taipan_first_token;\n";

impl CQuestion {
    /// The operation that an untrusted folder may not do.
    fn forbidden(&self) -> Option<CAnswer> {
        let option = match self.trusted {
            true => None,
            false => refused_option(&self.options),
        };
        option.map(|option| {
            CAnswer::Forbidden(format!(
                "the C compiler is given `{option}`, which may run a program or write a file"
            ))
        })
    }
}

/// Compiles the shared code of a question. The folder is for this question alone. The inner error is
/// the refusal of the C compiler.
///
/// # Errors
/// As [`ask_c_compiler`].
pub fn compile_shared(
    question: &CQuestion,
    folder: &Path,
    is_wanted: IsWanted<'_>,
) -> io::Result<Result<CObject, CAnswer>> {
    if let Some(forbidden) = question.forbidden() {
        return Ok(Err(forbidden));
    }
    let cc = match c_compiler(question.machine) {
        Ok(cc) => cc,
        Err(why) => return Ok(Err(CAnswer::Refused(why))),
    };
    let shared = CQuestion {
        source: question.shared.clone(),
        wanted: Wanted::Constants,
        ..question.clone()
    };
    let asked = Asked::prepare(&shared, folder, &cc, is_wanted)?;
    if let Some(messages) = failure(&asked.compile()?) {
        return Ok(Err(CAnswer::Refused(messages)));
    }
    Ok(Ok(CObject {
        bytes: fs::read(&asked.made)?,
        inputs: asked.headers(),
    }))
}

/// Asks the C compiler. `shared` is the shared code of the question. The folder is for this question alone.
///
/// # Errors
/// Files of the folder cannot be written or read, or the answer is not wanted any more
/// ([`io::ErrorKind::Interrupted`]).
pub fn ask_c_compiler(
    question: &CQuestion,
    shared: Option<&CObject>,
    folder: &Path,
    is_wanted: IsWanted<'_>,
) -> io::Result<CAnswered> {
    let refused = |answer| CAnswered {
        answer,
        inputs: Vec::new(),
        exceeded: false,
    };
    if let Some(forbidden) = question.forbidden() {
        if question.wanted == Wanted::Inputs {
            // The compilation of the sources reports it.
            return Ok(refused(CAnswer::Said(String::new())));
        }
        return Ok(refused(forbidden));
    }
    let cc = match c_compiler(question.machine) {
        Ok(cc) => cc,
        Err(why) => return Ok(refused(CAnswer::Refused(why))),
    };
    let mut asked = Asked::prepare(question, folder, &cc, is_wanted)?;
    if let Some(shared) = shared {
        let object = folder.join("shared.o");
        fs::write(&object, &shared.bytes)?;
        asked.shared = Some(object);
    }
    if question.wanted == Wanted::Inputs {
        return asked.inputs();
    }
    let compiled = asked.compile()?;
    let mut inputs = asked.headers();
    inputs.extend(shared.iter().flat_map(|s| s.inputs.iter().cloned()));
    let answer = match failure(&compiled) {
        Some(messages) => {
            if inputs.is_empty() && compiled.exceeded.is_none() {
                inputs = asked.headers_looked_for()?;
            }
            CAnswer::Refused(messages)
        }
        None => {
            inputs.extend(asked.linked(&compiled));
            match question.wanted {
                Wanted::Constants => asked.constants()?,
                Wanted::Links => CAnswer::Said(String::new()),
                Wanted::Output | Wanted::Inputs => asked.output()?,
            }
        }
    };
    inputs.sort();
    inputs.dedup();
    Ok(CAnswered {
        answer,
        inputs,
        exceeded: compiled.exceeded.is_some(),
    })
}

/// Why a compiler failed, if it did.
fn failure(ended: &Ended) -> Option<String> {
    match (ended.exceeded, ended.status.success()) {
        (Some(limit), _) => Some(format!("the C compiler takes too much {limit}")),
        (None, true) => None,
        (None, false) => Some(String::from_utf8_lossy(&ended.stderr).into_owned()),
    }
}

/// A question whose files are in place.
struct Asked<'a> {
    question: &'a CQuestion,
    folder: &'a Path,
    cc: &'a OsStr,
    source: PathBuf,
    shared: Option<PathBuf>,
    made: PathBuf,
    rules: PathBuf,
    is_wanted: IsWanted<'a>,
}

impl<'a> Asked<'a> {
    fn prepare(
        question: &'a CQuestion,
        folder: &'a Path,
        cc: &'a OsStr,
        is_wanted: IsWanted<'a>,
    ) -> io::Result<Self> {
        write_headers(&question.headers, &folder.join("include"))?;
        let source = folder.join("question.c");
        fs::write(&source, format!("{FIRST_TOKEN}{}", question.source))?;
        let made = match question.wanted {
            Wanted::Constants => folder.join("question.o"),
            Wanted::Links | Wanted::Output | Wanted::Inputs => folder.join("question"),
        };
        let rules = folder.join("question.d");
        Ok(Asked {
            question,
            folder,
            cc,
            source,
            shared: None,
            made,
            rules,
            is_wanted,
        })
    }

    /// The compiler with everything that all its runs are given.
    fn compiler(&self) -> Command {
        // A cache of the compiler's would have to be written. Messages are read by people and programs
        // alike, whatever their language.
        let variables = [
            ("TMPDIR", self.folder.as_os_str()),
            ("CCACHE_DISABLE", OsStr::new("1")),
            ("LC_ALL", OsStr::new("C")),
        ];
        let mut command = with_variables(self.cc, &variables);
        command.args(["-w", "-MF"]).arg(&self.rules);
        command
    }

    fn options(&self, command: &mut Command) {
        command.args(compiler_options(self.question.machine));
        if !self.question.headers.is_empty() {
            command.arg("-I").arg(self.folder.join("include"));
        }
        let links = matches!(self.question.wanted, Wanted::Links | Wanted::Output);
        let options = self.question.options.iter();
        command.args(options.filter(|o| links || !is_for_linker(o)));
        // Values are in the object's data, and no plug-in of the linker reads what it is given.
        command.arg("-fno-lto");
    }

    fn run(&self, command: Command) -> io::Result<Ended> {
        let confinement = match self.question.trusted {
            true => Confinement::None,
            false => Confinement::Compiler(self.folder),
        };
        run_bounded(command, COMPILER, confinement, self.is_wanted)
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", self.cc.display())))
    }

    fn compile(&self) -> io::Result<Ended> {
        let mut command = self.compiler();
        match self.question.wanted {
            Wanted::Constants => command.arg("-c"),
            // The linker says what it reads.
            Wanted::Links | Wanted::Output | Wanted::Inputs => command.arg("-Wl,--trace"),
        };
        command
            .arg("-MD")
            .arg("-o")
            .arg(&self.made)
            .arg(&self.source)
            .args(&self.shared);
        self.options(&mut command);
        self.run(command)
    }

    /// The files that the compiler has read.
    fn headers(&self) -> Vec<PathBuf> {
        let rules = fs::read_to_string(&self.rules).unwrap_or_default();
        self.others(prerequisites(&rules))
    }

    /// The files that a compiler that failed has read or looked for.
    fn headers_looked_for(&self) -> io::Result<Vec<PathBuf>> {
        let mut command = self.compiler();
        command.args(["-M", "-MG"]).arg(&self.source);
        self.options(&mut command);
        self.run(command)?;
        let mut found = Vec::new();
        let folders = include_folders(&self.question.options);
        let rules = fs::read_to_string(&self.rules).unwrap_or_default();
        for name in prerequisites(&rules) {
            if name.exists() || name.is_absolute() {
                found.push(name);
            } else {
                found.extend(folders.iter().map(|folder| folder.join(&name)));
            }
        }
        Ok(self.others(found))
    }

    /// The files that a program includes, with their state.
    fn inputs(&self) -> io::Result<CAnswered> {
        let mut inputs = self.headers_looked_for()?;
        inputs.sort();
        inputs.dedup();
        let mut all = String::new();
        for file in inputs.iter().filter(|f| !is_system(f)) {
            all.push_str(&format!("{}\n{}\n", file.display(), state_of(file)));
        }
        let state = match all.is_empty() {
            true => String::new(),
            false => blake3::hash(all.as_bytes()).to_hex().to_string(),
        };
        Ok(CAnswered {
            answer: CAnswer::Said(state),
            inputs,
            exceeded: false,
        })
    }

    /// The files that the linker has read.
    fn linked(&self, compiled: &Ended) -> Vec<PathBuf> {
        let text = String::from_utf8_lossy(&compiled.stdout).into_owned();
        let paths = text.lines().map(PathBuf::from).filter(|p| p.is_absolute());
        self.others(paths.collect())
    }

    /// Files other than the question's own, by their absolute paths.
    fn others(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        let absolute = files
            .into_iter()
            .filter_map(|f| std::path::absolute(f).ok());
        absolute.filter(|f| !f.starts_with(self.folder)).collect()
    }

    /// The constants in the object file.
    fn constants(&self) -> io::Result<CAnswer> {
        let bytes = fs::read(&self.made)?;
        Ok(match read_constants(&bytes) {
            Some(text) => CAnswer::Said(text),
            None => CAnswer::Refused("not all of this is constant".to_owned()),
        })
    }

    /// The program's output.
    fn output(&self) -> io::Result<CAnswer> {
        let CQuestion {
            machine, trusted, ..
        } = *self.question;
        let mut command = match runner(machine, &self.made) {
            Ok(command) => command,
            Err(why) => return Ok(CAnswer::Refused(why)),
        };
        if trusted {
            return Ok(said(
                &run_bounded(command, TRUSTED, Confinement::None, self.is_wanted)?,
                "",
            ));
        }
        if machine != Machine::HOST {
            let text =
                format!("a C function is called on {machine}, where programs cannot be confined");
            return Ok(CAnswer::Forbidden(text));
        }
        command.current_dir(self.folder);
        let mut readable = library_folders(&self.question.options);
        readable.push(self.folder.to_owned());
        match run_bounded(
            command,
            PROGRAM,
            Confinement::Program(&readable),
            self.is_wanted,
        ) {
            Ok(ended) if ended.was_confined() => Ok(CAnswer::Forbidden(
                "C code writes files, starts processes or uses the network".to_owned(),
            )),
            Ok(ended) => Ok(said(
                &ended,
                " (it ran without access to files, processes and network)",
            )),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => Ok(CAnswer::Forbidden(format!(
                "C code cannot be confined: {e}"
            ))),
        }
    }
}

/// The answer of a program that has run.
fn said(ended: &Ended, how: &str) -> CAnswer {
    match (ended.exceeded, ended.status.success()) {
        (Some(limit), _) => CAnswer::Refused(format!("the C program takes too much {limit}")),
        (None, true) => CAnswer::Said(String::from_utf8_lossy(&ended.stdout).into_owned()),
        (None, false) => CAnswer::Refused(format!("the C program failed: {}{how}", ended.status)),
    }
}

/// Writes headers into a folder. Their names must not lead out of it.
fn write_headers(headers: &[(String, String)], folder: &Path) -> io::Result<()> {
    for (name, text) in headers {
        let name = Path::new(name);
        if !name.components().all(|c| matches!(c, Component::Normal(_))) {
            continue;
        }
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// Whether an option is a file or something else that only matters where programs are linked.
fn is_for_linker(option: &str) -> bool {
    option.starts_with("-Wl,")
        || !option.starts_with('-') && [".o", ".a", ".so"].iter().any(|e| option.ends_with(e))
}

/// The argument of an option, in the same word or in the next one.
fn arguments_of<'a>(options: &'a [String], names: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let Some(argument) = names.iter().find_map(|name| option.strip_prefix(name)) else {
            continue;
        };
        match argument {
            "" => found.extend(rest.next().map(String::as_str)),
            argument => found.push(argument),
        }
    }
    found
}

fn include_folders(options: &[String]) -> Vec<PathBuf> {
    let names = ["-I", "-isystem", "-iquote", "-idirafter"];
    arguments_of(options, &names)
        .into_iter()
        .map(Into::into)
        .collect()
}

fn library_folders(options: &[String]) -> Vec<PathBuf> {
    arguments_of(options, &["-L"])
        .into_iter()
        .map(Into::into)
        .collect()
}

/// The files on the right of the first rule of a makefile, as compilers write it.
fn prerequisites(rules: &str) -> Vec<PathBuf> {
    let text = rules.replace("\\\n", " ");
    let line = text.lines().next().unwrap_or("");
    let Some((_, files)) = line.split_once(": ") else {
        return Vec::new();
    };
    let mut words = vec![String::new()];
    let mut letters = files.chars().peekable();
    while let Some(c) = letters.next() {
        let quoted = match c {
            '\\' => letters.next_if(|next| " #\\".contains(*next)),
            '$' => letters.next_if_eq(&'$'),
            _ => None,
        };
        match (c, quoted, words.last_mut()) {
            (' ', None, _) => words.push(String::new()),
            (c, quoted, Some(word)) => word.push(quoted.unwrap_or(c)),
            (_, _, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().map(PathBuf::from).collect()
}

/// The constants of an object file, as [`Wanted::Constants`] has them. None if one is known only where the
/// program is linked.
fn read_constants(object: &[u8]) -> Option<String> {
    let file = object::File::parse(object).ok()?;
    let mut found = Vec::new();
    let mut positive = Vec::new();
    for symbol in file.symbols().filter(|s| s.is_definition()) {
        let name = symbol.name().unwrap_or("");
        let Some((kind, number)) = name
            .strip_prefix("taipan_")
            .and_then(|rest| rest.split_once('_'))
        else {
            continue;
        };
        let Ok(number) = number.parse::<u32>() else {
            continue;
        };
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let (start, size) = (symbol.address(), symbol.size());
        let within = |offset: u64| (start..start + size).contains(&offset);
        if section.relocations().any(|(offset, _)| within(offset)) {
            return None;
        }
        let bytes = match section.kind() {
            SectionKind::UninitializedData => vec![0; usize::try_from(size).ok()?],
            _ => section.data_range(start, size).ok()??.to_vec(),
        };
        match kind {
            "p" => positive.push((number, *bytes.first()? != 0)),
            _ => found.push((number, kind, bytes)),
        }
    }
    found.sort();
    let mut text = String::new();
    for (number, kind, bytes) in found {
        let value = match kind {
            "i" => {
                let bits = u64::from_le_bytes(bytes.try_into().ok()?);
                match positive.contains(&(number, true)) {
                    true => bits.to_string(),
                    false => (bits as i64).to_string(),
                }
            }
            "f" => format!("{:e}", f64::from_le_bytes(bytes.try_into().ok()?)),
            "s" => {
                let string = bytes.split(|b| *b == 0).next().unwrap_or(&[]);
                string.iter().map(|b| format!("{b:02x}")).collect()
            }
            _ => continue,
        };
        text.push_str(&format!("{number} {kind} {value}\n"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(source: &str, wanted: Wanted) -> CQuestion {
        CQuestion {
            machine: Machine::HOST,
            source: source.to_owned(),
            shared: String::new(),
            options: Vec::new(),
            headers: Vec::new(),
            wanted,
            trusted: false,
        }
    }

    fn ask(question: &CQuestion) -> CAnswered {
        let folder = tempfile::tempdir().unwrap();
        ask_c_compiler(question, None, folder.path(), &|| true).unwrap()
    }

    fn answer(source: &str, wanted: Wanted) -> CAnswer {
        ask(&question(source, wanted)).answer
    }

    const VALUES: &str = "
        const long long taipan_i_3 = (long long)sizeof(short);
        const char taipan_p_3 = 1;
        const long long taipan_i_10 = 0;
        const long long taipan_i_11 = (long long)0xffffffffffffffffULL;
        const char taipan_p_11 = 0xffffffffffffffffULL > 0;
        const long long taipan_i_12 = -7;
        const double taipan_f_1 = 0.1;
        const double taipan_f_2 = 1e400;
        const char taipan_s_0[] = \"a\\0b\";
        const int taipan_other = 5;
    ";

    const ANSWERS: &str =
        "0 s 61\n1 f 1e-1\n2 f inf\n3 i 2\n10 i 0\n11 i 18446744073709551615\n12 i -7\n";

    #[test]
    fn constants_are_read_from_objects() {
        let said = CAnswer::Said(ANSWERS.to_owned());
        assert_eq!(answer(VALUES, Wanted::Constants), said);
        let address = "extern int x; const long long taipan_i_0 = (long long)&x;";
        assert!(matches!(
            answer(address, Wanted::Constants),
            CAnswer::Refused(_)
        ));
        let mut with_lto = question(VALUES, Wanted::Constants);
        with_lto.options = ["-flto", "-O2", "x.o", "-lm"].map(str::to_owned).to_vec();
        assert_eq!(ask(&with_lto).answer, said);
    }

    #[test]
    fn programs_link_and_print() {
        let program = "#include <stdio.h>\nint main(void) { printf(\"%d\", 6 * 7); return 0; }\n";
        assert_eq!(
            answer(program, Wanted::Output),
            CAnswer::Said("42".to_owned())
        );
        assert_eq!(answer(program, Wanted::Links), CAnswer::Said(String::new()));
        let missing =
            "extern int no_such_thing(void); int main(void) { return no_such_thing(); }\n";
        let CAnswer::Refused(messages) = answer(missing, Wanted::Links) else {
            panic!("it links");
        };
        assert!(messages.contains("no_such_thing"), "{messages}");
        let never = "int main(void) { return 3; }";
        assert!(matches!(answer(never, Wanted::Output), CAnswer::Refused(_)));
    }

    #[test]
    fn shared_code_is_compiled_once_for_many_programs() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("cfg.h");
        fs::write(&header, "#define N 40\n").unwrap();
        let options = vec![format!("-I{}", folder.path().display())];
        let with_shared = |source: &str, shared: &str| CQuestion {
            shared: shared.to_owned(),
            options: options.clone(),
            ..question(source, Wanted::Output)
        };
        let code = "#include <cfg.h>\nint more(int n) { return n + N; }\n";
        let compile = |question: &CQuestion| {
            let work = tempfile::tempdir().unwrap();
            compile_shared(question, work.path(), &|| true).unwrap()
        };
        let object = compile(&with_shared("", code)).unwrap();
        assert!(object.inputs.contains(&header), "{:?}", object.inputs);
        for (n, printed) in [(1, "41"), (2, "42")] {
            let program = format!(
                "#include <stdio.h>\nint more(int);\nint main(void) {{ printf(\"%d\", more({n})); return 0; }}\n"
            );
            let asked = with_shared(&program, code);
            let work = tempfile::tempdir().unwrap();
            let known = ask_c_compiler(&asked, Some(&object), work.path(), &|| true).unwrap();
            assert_eq!(known.answer, CAnswer::Said(printed.to_owned()));
            assert!(known.inputs.contains(&header), "{:?}", known.inputs);
        }
        let refused = compile(&with_shared("", "no C"));
        assert!(matches!(refused, Err(CAnswer::Refused(_))));
        let mut unsafe_option = with_shared("", code);
        unsafe_option.options = vec!["-B.".to_owned()];
        let forbidden = compile(&unsafe_option);
        assert!(matches!(forbidden, Err(CAnswer::Forbidden(_))));
    }

    #[test]
    fn nobody_who_is_not_trusted_does_anything() {
        let file = tempfile::tempdir().unwrap().path().join("made");
        let attack = format!(
            "#include <stdlib.h>\n__attribute__((constructor)) static void c(void) {{ system(\"touch {}\"); }}\n\
             int main(void) {{ return 0; }}\nconst long long taipan_i_0 = 1; const char taipan_p_0 = 1;\n",
            file.display()
        );
        assert!(matches!(
            answer(&attack, Wanted::Constants),
            CAnswer::Said(_)
        ));
        assert!(matches!(answer(&attack, Wanted::Links), CAnswer::Said(_)));
        assert!(matches!(
            answer(&attack, Wanted::Output),
            CAnswer::Forbidden(_)
        ));
        let mut option = question("int main(void) { return 0; }", Wanted::Links);
        option.options = vec!["-B.".to_owned()];
        let CAnswer::Forbidden(text) = ask(&option).answer else {
            panic!("it is allowed");
        };
        assert!(text.contains("`-B.`"), "{text}");
        assert!(!file.exists());
    }

    #[test]
    fn what_was_included_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("my cfg.h");
        fs::write(&header, "#define N 5\n").unwrap();
        let source = "#include <stdio.h>\n#include <my cfg.h>\nconst long long taipan_i_0 = N;";
        let mut asked = question(source, Wanted::Constants);
        asked.options = vec![format!("-I{}", folder.path().display())];
        let known = ask(&asked);
        assert_eq!(known.answer, CAnswer::Said("0 i 5\n".to_owned()));
        assert!(known.inputs.contains(&header), "{:?}", known.inputs);
        assert!(known.inputs.iter().any(|f| f.ends_with("stdio.h")));
        fs::remove_file(&header).unwrap();
        let unknown = ask(&asked);
        assert!(matches!(unknown.answer, CAnswer::Refused(_)));
        assert!(unknown.inputs.contains(&header), "{:?}", unknown.inputs);
    }

    #[test]
    fn no_precompiled_header_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("cfg.h");
        fs::write(&header, "#define N 1\n").unwrap();
        let precompiled = folder.path().join("cfg.h.gch");
        let mut cc = Command::new("cc");
        cc.args(["-w", "-x", "c-header", "-DSECRET", "-o"])
            .arg(&precompiled)
            .arg(&header);
        assert!(cc.status().unwrap().success());
        fs::write(&header, "#define N 2\n").unwrap();
        let mut asked = question(
            "#include <cfg.h>\nconst long long taipan_i_0 = N;",
            Wanted::Constants,
        );
        asked.options = vec![
            format!("-I{}", folder.path().display()),
            "-DSECRET".to_owned(),
        ];
        assert_eq!(ask(&asked).answer, CAnswer::Said("0 i 2\n".to_owned()));
    }

    #[test]
    fn headers_that_only_the_compiler_sees_stay_in_their_folder() {
        let mut asked = question(
            "#include <sub/n.h>\nconst long long taipan_i_0 = N;",
            Wanted::Constants,
        );
        let header = |name: &str, n: i32| (name.to_owned(), format!("#define N {n}\n"));
        asked.headers = vec![header("sub/n.h", 7), header("../n.h", 8)];
        let known = ask(&asked);
        assert_eq!(known.answer, CAnswer::Said("0 i 7\n".to_owned()));
        assert!(known.inputs.iter().all(|f| !f.ends_with("sub/n.h")));
    }

    #[test]
    fn rules_of_makefiles() {
        let rules = "q.o: q.c \\\n a\\ b.h c\\#.h \\\n d$$.h e\\f.h\n\nother: x\n";
        let files = ["q.c", "a b.h", "c#.h", "d$.h", "e\\f.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rules), files);
    }
}
