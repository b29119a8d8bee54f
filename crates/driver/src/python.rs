//! Programs as Python: the operations behind `emit python`, `build --backend python` and the engine of that
//! name.

use std::cell::RefCell;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};

use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde_json::Value;
use taipan_annotator::Roots;
use taipan_base::{Db, Diagnostic, ErrorCode};
use taipan_codegen::c_libraries;
use taipan_codegen_python::{Argument, Comments, Entry, Module, Unsupported};
use taipan_lltype::{CodePlace, FuncSym};
use taipan_platform::shared_library;

use crate::LoadOptions;
use crate::db::Database;
use crate::engine::CallOutcome;
use crate::fault::{Failure, guarded};
use crate::function::LLFunction;
use crate::link::{folder_of, write};
use crate::parallel::par_map;
use crate::program::{load, placed};
use crate::show::Places;
use crate::stages::lowlevel_errors::span_of;
use crate::stages::python::python_text;
use crate::stages::{GraphStage, StageProgram};
use crate::timing::Timings;
use crate::typed::typed_program;
use crate::value::Literal;

/// What runs Python.
const INTERPRETER: &str = "python3";

/// Exit code of a program that ended with an uncaught exception.
const FATAL_EXIT: i32 = 1;

/// What runs a file as a program of some name: its path comes first, then the program's arguments.
const RUNNER: &str = "\
import sys
path, sys.argv = sys.argv[1], sys.argv[2:]
with open(path) as file:
    text = file.read()
exec(compile(text, path, 'exec'), {'__name__': '__main__', '__file__': path})
";

/// Makes a Python program of one file.
pub fn build_python(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let text = guarded(|| program_text(db, options, target, timings))??;
    folder_of(output)
        .and_then(|folder| write(folder, output, text.as_bytes()))
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// Runs a program as Python, and returns its exit code.
pub(crate) fn run_python(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    argv: &[String],
    timings: &mut Timings,
) -> Result<i32, Failure> {
    let text = guarded(|| program_text(db, options, target, timings))??;
    timings.phase("execute", || {
        let status = with_file(&text, |command| command.args(argv).status())?;
        Ok(exit_code(status))
    })
}

fn exit_code(status: ExitStatus) -> i32 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(libc::SIGABRT)) => FATAL_EXIT,
        (None, signal) => 128 + signal.unwrap_or(0),
    }
}

/// Calls a function as Python.
pub(crate) fn call_python(
    (db, roots): (&Database, Roots),
    root: &FuncSym,
    args: &[Literal],
    timings: &mut Timings,
) -> Result<CallOutcome, Failure> {
    let entry = Entry::Call(root.clone(), args.iter().map(argument).collect());
    let text = timings.phase("python", || module_text(db, roots, &entry, root.name()))?;
    let output = timings.phase("execute", || {
        with_file(&text, |command| {
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::inherit())
                .output()
        })
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some((printed, line)) = text.rsplit_once("\n\0") else {
        print(&text);
        return Err(Failure::Fatal(format!(
            "{INTERPRETER} ended with {}",
            output.status
        )));
    };
    print(printed);
    let answer: Value = serde_json::from_str(line)
        .map_err(|e| Failure::Fatal(format!("{INTERPRETER} printed no answer: {e}")))?;
    let text = |name: &str| answer[name].as_str().map(str::to_owned);
    if let Some(class) = text("raises") {
        let names = answer["traceback"].as_array().into_iter().flatten();
        let traceback = names.filter_map(|n| Some(n.as_str()?.to_owned())).collect();
        return Ok(CallOutcome::Raised { class, traceback });
    }
    if let Some(message) = text("fault") {
        let d = Diagnostic::error(ErrorCode::UnsafeForMachineCode, None, message);
        return Err(d.with_note(None, text("trace").unwrap_or_default()).into());
    }
    Ok(CallOutcome::Returned(with_floats(&answer["ok"])))
}

/// An answer with numbers where Python gives the bits of floats.
fn with_floats(answer: &Value) -> Value {
    match answer {
        Value::String(s) => match s
            .strip_prefix('\0')
            .and_then(|bits| bits.parse::<i64>().ok())
        {
            Some(bits) => Value::from(f64::from_bits(bits as u64)),
            None => answer.clone(),
        },
        Value::Array(items) => items.iter().map(with_floats).collect(),
        other => other.clone(),
    }
}

/// What a called function has printed.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    // Who does not listen any more needs no answer either.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn argument(literal: &Literal) -> Argument {
    match literal {
        Literal::None => Argument::None,
        Literal::Bool(b) => Argument::Bool(*b),
        Literal::Int(v) => Argument::Int(*v),
        Literal::Float(v) => Argument::Float(*v),
        Literal::Str(s) => Argument::Str(s.clone()),
        Literal::Unicode(s) => Argument::Unicode(s.clone()),
        Literal::List(items) => Argument::List(items.iter().map(argument).collect()),
        Literal::Tuple(items) => Argument::Tuple(items.iter().map(argument).collect()),
    }
}

/// Runs Python on a text.
fn with_file<T>(
    text: &str,
    run: impl FnOnce(&mut Command) -> std::io::Result<T>,
) -> Result<T, Failure> {
    let failed = |e: std::io::Error| Failure::Usage(format!("a temporary file: {e}"));
    let mut file = tempfile::Builder::new()
        .suffix(".py")
        .tempfile()
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let mut command = Command::new(INTERPRETER);
    command.arg("-c").arg(RUNNER).arg(file.path());
    run(&mut command).map_err(|e| {
        Failure::Usage(format!(
            "{INTERPRETER} cannot be run: {e}. It is part of CPython 3.9 or later (Debian: `apt install python3`)"
        ))
    })
}

fn program_text(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<String, Failure> {
    let program = load(db, target, options)?;
    let (roots, root) = typed_program(db, program, timings)?;
    let title = target.file_name().unwrap_or(target.as_str());
    timings.phase("python", || {
        module_text(db, roots, &Entry::Program(root), title)
    })
}

/// The Python of a whole program, or of some of its functions.
pub(crate) fn python_of(
    db: &Database,
    roots: Roots,
    root: &FuncSym,
    functions: Option<&[FuncSym]>,
) -> Result<String, Failure> {
    let Some(functions) = functions else {
        return module_text(db, roots, &Entry::Program(root.clone()), root.name());
    };
    let program = StageProgram::new(db, roots, GraphStage::Rtyped);
    let mut module = Module::new(&program);
    for f in functions {
        module.enter(f).map_err(no_python)?;
    }
    add(db, roots, &mut module, functions.to_vec())?;
    Ok(module.finish_functions(functions, &Lines::new(db, roots)))
}

fn module_text(db: &Database, roots: Roots, entry: &Entry, title: &str) -> Result<String, Failure> {
    let program = StageProgram::new(db, roots, GraphStage::Rtyped);
    let mut module = Module::new(&program);
    match entry {
        Entry::Program(f) | Entry::Call(f, _) => module.enter(f).map_err(no_python)?,
        Entry::Nothing => {}
    }
    loop {
        let missing = module.missing();
        if missing.is_empty() {
            break;
        }
        add(db, roots, &mut module, missing)?;
    }
    let foreign = c_libraries(&module.foreign());
    let library = match foreign.is_empty() {
        true => None,
        false if !roots.program(db).options(db).trusted => {
            let text = "the C sources of a program are compiled only if its folder is trusted";
            let help = "if you trust the code in this folder, say so: taipan trust";
            let d = Diagnostic::error(ErrorCode::UntrustedFolder, None, text).with_help(help);
            return Err(placed(db, roots.program(db), d).into());
        }
        false => Some(shared_library(&foreign).map_err(|e| no_python(e.to_string()))?),
    };
    let lines = Lines::new(db, roots);
    module
        .finish(title, entry, library.as_deref(), &lines)
        .map_err(Failure::Usage)
}

/// Makes the text of functions, on all threads.
fn add(
    db: &Database,
    roots: Roots,
    module: &mut Module<'_>,
    functions: Vec<FuncSym>,
) -> Result<(), Failure> {
    let texts = par_map(db, &functions, |db, f| {
        python_text(db, LLFunction::new(db, roots, f.clone()))
    });
    for (f, text) in functions.iter().zip(texts) {
        match text {
            Some(Ok(text)) => module.add(f, text).map_err(no_python)?,
            Some(Err(why)) => return Err(unsupported(db, roots, f, &why).into()),
            None => return Err(no_python(format!("{} has no graph", f.name()))),
        }
    }
    Ok(())
}

fn no_python(why: String) -> Failure {
    Diagnostic::error(
        ErrorCode::NoCode,
        None,
        format!("no Python can be made: {why}"),
    )
    .into()
}

fn unsupported(db: &dyn Db, roots: Roots, f: &FuncSym, why: &Unsupported) -> Diagnostic {
    let place = CodePlace {
        func: f.clone(),
        at: why.at,
    };
    let message = format!("no Python can be made of {}: {}", f.name(), why.message);
    Diagnostic::error(ErrorCode::NoCode, span_of(db, roots, &place), message)
}

/// Lines of the source that Python comes from.
struct Lines<'db> {
    db: &'db dyn Db,
    roots: Roots,
    known: RefCell<FxHashMap<FuncSym, Option<Places>>>,
}

impl<'db> Lines<'db> {
    fn new(db: &'db dyn Db, roots: Roots) -> Lines<'db> {
        Lines {
            db,
            roots,
            known: RefCell::default(),
        }
    }
}

impl Comments for Lines<'_> {
    fn place(&self, f: &FuncSym, at: u32) -> Option<(String, u32)> {
        let mut known = self.known.borrow_mut();
        let places = known
            .entry(f.clone())
            .or_insert_with(|| Places::of_sym(self.db, self.roots, f));
        let places = places.as_ref()?;
        Some((places.path().to_owned(), places.line(at)?))
    }
}
