//! The language reference, docs/language: its examples are run, and it leaves nothing out.
//!
//! An example is a block of Python that ends with calls and what comes of them; docs/language/index.md
//! says how it is read. Calls are run by the interpreter of low-level graphs and as machine code, and
//! under CPython 2.7 where there is one (`PYTHON2` names it); where there is none, those tests are
//! reported as ignored. `UPDATE_BOOK=1` puts what comes out into the pages: read the diff.

#[path = "../support/python2.rs"]
mod python2;

mod pages;
mod told;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use camino::Utf8PathBuf;
use libtest_mimic::{Arguments, Completion};
use serde_json::{Value, json};
use taipan_base::MemorySystem;
use taipan_driver::{
    CallOutcome, CallRequest, Database, Engine, Failure, Literal, LoadOptions, Timings, call,
    parse_literal, python_text,
};
use taipan_testkit::timed_trial;

use pages::{Call, Example};
use python2::Python2;

/// How a call ends, in the words of the pages.
enum Outcome {
    Value(Value),
    Other(String),
}

impl Outcome {
    fn text(&self) -> String {
        match self {
            Outcome::Value(v) => python_text(v),
            Outcome::Other(text) => text.clone(),
        }
    }

    /// Whether that is what a page says: a value may be a tuple where this shows a list.
    fn is(&self, said: &str) -> bool {
        match self {
            Outcome::Value(v) => json_of(&parse_literal(said)) == *v,
            Outcome::Other(text) => text == said,
        }
    }
}

/// The form that results of calls have.
fn json_of(literal: &Literal) -> Value {
    match literal {
        Literal::None => Value::Null,
        Literal::Bool(b) => json!(b),
        Literal::Int(n) => match (i64::try_from(*n), u64::try_from(*n)) {
            (Ok(n), _) => json!(n),
            (_, Ok(n)) => json!(n),
            _ => json!(n.to_string()),
        },
        Literal::Float(f) if f.is_finite() => json!(f),
        Literal::Float(f) => json!(f.to_string().to_lowercase()),
        Literal::Str(s) => json!(s.iter().map(|b| char::from(*b)).collect::<String>()),
        Literal::Unicode(s) => {
            let text: String = s.iter().filter_map(|c| char::from_u32(*c)).collect();
            json!(text)
        }
        Literal::List(items) | Literal::Tuple(items) => items.iter().map(json_of).collect(),
    }
}

/// The database of a page, with each example in a file of its own.
fn database(examples: &[Example]) -> Database {
    let system = MemorySystem::new(taipan_prelude::SHIPPED);
    for e in examples {
        system.write(file(e).as_str(), &e.program);
    }
    Database::new(Arc::new(system))
}

fn file(example: &Example) -> Utf8PathBuf {
    format!("/{}/example.py", example.line).into()
}

fn run(db: &Database, example: &Example, c: &Call, engine: Engine) -> Outcome {
    let arguments = c.arguments();
    let request = CallRequest {
        file: file(example),
        func: c.function().to_owned(),
        args: arguments.iter().map(|a| parse_literal(a)).collect(),
        engine,
        jit: None,
    };
    let options = LoadOptions::default();
    match call(db, &options, &request, &mut Timings::default()) {
        Ok(CallOutcome::Returned(v)) => Outcome::Value(v),
        Ok(CallOutcome::Raised { class, .. }) => Outcome::Other(format!("raises {class}")),
        Err(Failure::Diagnostics(d)) => Outcome::Other(match d.first() {
            Some(d) => format!("error[{}]: {}", d.code.as_str(), d.message),
            None => "error".to_owned(),
        }),
        Err(e) => Outcome::Other(format!("{e:?}")),
    }
}

/// Runs the examples of a page on both engines, and tells what is not as it says. `outcome`s become
/// what comes out.
fn engines(page: &str, examples: &mut [Example]) -> String {
    let db = database(examples);
    let mut wrong = String::new();
    for e in examples {
        let unexpected = |c: &Call| {
            let mut outcome = run(&db, e, c, Engine::LLInterp);
            if outcome.is(&c.outcome) && !c.is_refused() {
                outcome = run(&db, e, c, Engine::Native);
            }
            (!outcome.is(&c.outcome)).then(|| outcome.text())
        };
        let unexpected: Vec<Option<String>> = e.calls.iter().map(unexpected).collect();
        for (c, got) in e.calls.iter_mut().zip(unexpected) {
            if let Some(got) = got {
                let (line, text, said) = (e.line, &c.text, &c.outcome);
                let _ = writeln!(wrong, "{page}:{line}: {text}\n  {got}\n  not {said}");
                c.outcome = got;
            }
        }
    }
    wrong
}

/// Results in the words of the pages, of calls each of which runs in a module that is new.
const HARNESS: &str = r#"
import json

def shown(x):
    if x is None or isinstance(x, (bool, float, basestring)):
        return repr(x)
    if isinstance(x, (int, long)) or hasattr(x, '__int__'):
        return '%d' % int(x)
    if isinstance(x, tuple):
        return '(' + ', '.join(map(shown, x)) + (',)' if len(x) == 1 else ')')
    if isinstance(x, list):
        return '[' + ', '.join(map(shown, x)) + ']'
    return '<%s object>' % x.__class__.__name__

def outcome(program, call):
    names = {'__name__': 'example'}
    try:
        exec program in names
    except ImportError, e:
        return 'no module: %s' % e
    try:
        return shown(eval(call, names))
    except Exception, e:
        return 'raises ' + e.__class__.__name__

with open('calls.json') as f:
    calls = json.load(f)
with open('outcomes.json', 'w') as f:
    json.dump([outcome(program, call.encode('utf-8')) for program, call in calls], f)
"#;

/// The modules of the import-time interpreter that shipped modules are made of are not there in
/// CPython.
const ABSENT: &[&str] = &["no module: No module named _lltype"];

/// Runs the examples of a page under CPython, and tells what is not as it says.
fn python(interpreter: &Python2, page: &str, examples: &mut [Example]) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let all = examples.iter().flat_map(|e| {
        let calls = e.calls.iter();
        calls.map(|c| json!([e.program, c.text]))
    });
    let calls = Value::Array(all.collect()).to_string();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("calls.json"), calls).map_err(|e| e.to_string())?;
    std::fs::write(file("harness.py"), HARNESS).map_err(|e| e.to_string())?;
    let out = interpreter.run(folder.path(), "harness.py", &[]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let outcomes = std::fs::read_to_string(file("outcomes.json")).map_err(|_| said.clone())?;
    let outcomes: Vec<String> = serde_json::from_str(&outcomes).map_err(|_| said)?;
    let mut outcomes = outcomes.into_iter();
    let mut wrong = String::new();
    for e in examples {
        for c in &mut e.calls {
            let got = outcomes.next().ok_or("too few outcomes")?;
            if ABSENT.contains(&&*got) || c.is_refused() && c.python.is_none() {
                continue;
            }
            let said = c.python.as_ref().unwrap_or(&c.outcome);
            let same = c.python.as_ref() == Some(&c.outcome);
            if got != *said || same {
                let (line, text) = (e.line, &c.text);
                let _ = writeln!(wrong, "{page}:{line}: {text}\n  {got}\n  not {said}");
                let of_same_items =
                    json_of(&parse_literal(&got)) == json_of(&parse_literal(&c.outcome));
                match of_same_items || same {
                    true => (c.outcome, c.python) = (got, None),
                    false => c.python = Some(got),
                }
            }
        }
    }
    Ok(wrong)
}

fn check(wrong: String) -> Result<Completion, libtest_mimic::Failed> {
    match wrong.is_empty() {
        true => Ok(Completion::Completed),
        false => Err(wrong.into()),
    }
}

/// Puts what comes out into the pages.
fn update(interpreter: Option<&Python2>) -> Result<(), String> {
    for name in pages::names() {
        let page = pages::read(&name);
        let mut examples = pages::examples(&page)?;
        let mut wrong = engines(&name, &mut examples);
        if let Some(interpreter) = interpreter {
            wrong += &python(interpreter, &name, &mut examples)?;
        }
        if !wrong.is_empty() {
            let path = pages::docs().join("language").join(&name);
            let new = pages::with_examples(&page, &examples);
            std::fs::write(path, new).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// Something that has to hold of the pages.
type Rule = fn() -> Result<(), String>;

fn main() -> ExitCode {
    let interpreter = Arc::new(Python2::find());
    if std::env::var_os("UPDATE_BOOK").is_some()
        && let Err(e) = update(interpreter.as_ref().as_ref().ok())
    {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), e.as_bytes());
        return ExitCode::FAILURE;
    }
    let mut trials = Vec::new();
    for name in pages::names() {
        let page = name.clone();
        trials.push(timed_trial(format!("engines {name}"), move || {
            let mut examples = pages::examples(&pages::read(&page))?;
            check(engines(&page, &mut examples))
        }));
        let interpreter = interpreter.clone();
        trials.push(timed_trial(format!("python {name}"), move || {
            let mut examples = pages::examples(&pages::read(&name))?;
            match &*interpreter {
                Ok(interpreter) => check(python(interpreter, &name, &mut examples)?),
                Err(reason) => Ok(Completion::ignored_with(reason)),
            }
        }));
    }
    let told: [(&str, Rule); 3] = [
        ("every method is told of", told::methods),
        ("every function is told of", told::functions),
        ("every name is told of", told::names),
    ];
    for (name, test) in told {
        trials.push(timed_trial(name, move || {
            test().map(|()| Completion::Completed).map_err(Into::into)
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
