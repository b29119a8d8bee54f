//! Questions to programs of the machine, for the shipped modules that know what to ask.

use std::panic::AssertUnwindSafe;

use camino::Utf8Path;
use taipan_base::{CAnswer, CQuestion, Question, ToolQuestion, Wanted, answer_of};
use taipan_engine::Unwind;
use taipan_language::Machine;

use crate::space::builtin::Args;
use crate::space::value::Value;
use crate::space::{Fatal, Interp, R};

/// `ask_c_compiler(source, options, headers, wanted, shared='')`: whether the C program compiled, and its wanted
/// values or the text of the compiler. Headers are what `written_files` returns; `shared` is C code that is compiled
/// separately, once for all questions that have it.
pub(crate) fn ask_c_compiler(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "ask_c_compiler", 4, 5)?;
    let source = it.name_of(&args.pos[0], "C program")?;
    let mut options = Vec::new();
    for o in it.list_of(&args.pos[1])? {
        options.push(it.name_of(&o, "option")?);
    }
    let mut headers = Vec::new();
    for pair in it.list_of(&args.pos[2])?.chunks_exact(2) {
        let name = it.name_of(&pair[0], "name of a header")?;
        headers.push((name, it.name_of(&pair[1], "header")?));
    }
    let wanted = match it.name_of(&args.pos[3], "what is wanted")?.as_str() {
        "constants" => Wanted::Constants,
        "links" => Wanted::Links,
        "inputs" => Wanted::Inputs,
        _ => Wanted::Output,
    };
    let shared = match args.pos.get(4) {
        Some(shared) => it.name_of(shared, "C code")?,
        None => String::new(),
    };
    let question = CQuestion {
        machine: seen_machine(it),
        source,
        shared,
        options,
        headers,
        wanted,
        trusted: it.program.options(it.db).trusted,
    };
    ask(it, Question::Compiler(question))
}

/// `ask_tool(tool, option, package)`: whether it could be asked, and what it printed or why not.
pub(crate) fn ask_tool(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "ask_tool", 3, 3)?;
    let package = match &args.pos[2] {
        Value::None => None,
        package => Some(it.name_of(package, "package")?),
    };
    let folder = it.program.target(it.db).parent();
    let question = ToolQuestion {
        tool: it.name_of(&args.pos[0], "tool")?,
        options: vec![it.name_of(&args.pos[1], "option")?],
        package,
        folder: folder
            .unwrap_or(Utf8Path::new("/"))
            .as_std_path()
            .to_owned(),
        trusted: it.program.options(it.db).trusted,
    };
    ask(it, Question::Tool(question))
}

/// `find_library(name)`: the name under which a library is loaded, or None.
pub(crate) fn find_library(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "find_library", 1, 1)?;
    let question = Question::Library {
        machine: seen_machine(it),
        name: it.name_of(&args.pos[0], "library")?,
    };
    Ok(match answered(it, question)? {
        CAnswer::Said(file) => Value::str(&file),
        CAnswer::Refused(_) | CAnswer::Forbidden(_) => Value::None,
    })
}

/// The machine whose system programs see: those for WebAssembly see of it what Linux has.
fn seen_machine(it: &Interp) -> Machine {
    let machine = it.program.options(it.db).machine;
    match machine.is_wasm() {
        true => Machine::HOST,
        false => machine,
    }
}

/// Whether the answer is what was asked for, and its text.
fn ask(it: &mut Interp, question: Question) -> R {
    let (ok, text) = match answered(it, question)? {
        CAnswer::Said(text) => (true, text),
        CAnswer::Refused(text) | CAnswer::Forbidden(text) => (false, text),
    };
    Ok(Value::tuple(vec![Value::Bool(ok), Value::str(&text)]))
}

/// The answer to a question. What an untrusted folder may not do ends import time: no handler goes on
/// as if the machine lacked something.
fn answered(it: &mut Interp, question: Question) -> R<CAnswer> {
    it.spoil();
    let Some(questions) = it.db.system().questions() else {
        return Ok(CAnswer::Refused("there is no C compiler here".to_owned()));
    };
    let db = it.db;
    // An edit makes the answer needless: what waits for the database does not wait for the compiler.
    let is_wanted = || {
        let look = AssertUnwindSafe(|| db.unwind_if_revision_cancelled());
        salsa::Cancelled::catch(look).is_ok()
    };
    let path = loop {
        match questions.ask(question.clone(), &is_wanted) {
            Some(path) => break path,
            None => db.unwind_if_revision_cancelled(),
        }
    };
    let file = it.db.files().get_for(it.db, it.program, &path);
    let answer = answer_of(file.text(it.db));
    // Watchers follow these; the answer alone decides whether anything is worked out again.
    for own in questions.files_of(&path) {
        it.db.files().get_for(it.db, it.program, &own);
    }
    match answer {
        CAnswer::Forbidden(what) => {
            it.forbidden = Some(what);
            it.last_stack.clear();
            Err(Unwind::Stop(Fatal::Untrusted))
        }
        answer => Ok(answer),
    }
}
