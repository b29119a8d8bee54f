//! Why queries ran again after an edit: what `check -v` tells.
//!
//! Salsa does not say which dependency made a query run, so this is found from the
//! outside. An [`Explainer`] keeps the results of the last round; after an edit it
//! knows which queries ran, in which order, and whose results differ from before. A
//! query that ran again did so because of a changed result of an earlier stage; the
//! one that is about the same function or file is named, else the one that ran last
//! before it.

use std::any::Any;
use std::fmt;

use rustc_hash::FxHashMap;
use salsa::plumbing::FromId;
use salsa::{Database as _, DatabaseKeyIndex, Id};
use taipan_annotator::{Class, Roots, Site, Spec};
use taipan_base::{Db, File, shown_path};
use taipan_code::CodeId;
use taipan_graph::ObjId;
use taipan_interp::{Function, Name, ObjData, Object};
use taipan_lltype::{FuncKind, FuncSym};
use taipan_rtyper::{FuncKey, FuncKeyKind, LayoutKey};

use crate::db::Database;
use crate::function::LLFunction;
use crate::keys::{has_low_level_key, key_text};
use crate::log::QueryEvent;
use crate::stages;

/// Why a query ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It was asked for the first time.
    New,
    /// A file has other contents than before: its path.
    FileChanged(String),
    /// The result of this query, with its key, is another than before.
    ResultChanged(String, String),
    /// Something that no name is kept for.
    Other,
}

/// What the result of a query is, compared with that of the round before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Another one, or the first one.
    Changed,
    /// An equal one: nothing behind it ran because of it.
    Equal,
    /// It was not compared: readers go through projections that are.
    NotCompared,
}

/// A query that ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerun {
    /// Its name.
    pub query: String,
    /// Its key in words.
    pub key: String,
    /// The file, or the function by file, qualified name and number, that it is about.
    pub subject: Option<String>,
    /// Why it ran.
    pub reason: Reason,
    /// What came of it.
    pub outcome: Outcome,
}

/// What happened in one round, in order of time.
#[derive(Clone, Default, Debug)]
pub struct Round {
    /// Queries that ran, those left out that have no stage.
    pub reruns: Vec<Rerun>,
    /// How many queries ran, of all kinds.
    pub executed: usize,
    /// How many were found to be still right.
    pub reused: usize,
}

/// Remembers the results of one round to explain the next.
#[derive(Default)]
pub struct Explainer {
    known: FxHashMap<DatabaseKeyIndex, Option<Held>>,
}

/// A result that is kept for comparison.
struct Held {
    value: Box<dyn Any + Send>,
    equal: fn(&dyn Any, &dyn Any) -> bool,
}

impl Explainer {
    /// Takes the query log of a database and explains what ran since the last call.
    /// The log must have been recording. Between rounds the inputs are set.
    pub fn round(&mut self, db: &Database) -> Round {
        let log = db.log().take_entries();
        self.explained(db, log)
    }

    /// The same of a log that was taken before.
    pub fn explained(&mut self, db: &Database, log: Vec<(DatabaseKeyIndex, QueryEvent)>) -> Round {
        salsa::attach(db, || self.explain(db, log))
    }

    fn explain(&mut self, db: &Database, log: Vec<(DatabaseKeyIndex, QueryEvent)>) -> Round {
        let mut round = Round::default();
        // Whose results changed so far, in order of time.
        let mut changed: Vec<Changed> = Vec::new();
        for (index, event) in log {
            if event == QueryEvent::Validated {
                round.reused += 1;
                continue;
            }
            // There may be very many, and edits wait for this.
            db.unwind_if_revision_cancelled();
            round.executed += 1;
            // Attached databases print `name(Id(..))`.
            let text = format!("{index:?}");
            let name = text.split('(').next().unwrap_or(&text);
            let id = index.key_index();
            let Some(level) = level(name) else { continue };
            let subject = subject(db, name, id);
            let held = held(db, name, id);
            let before = self.known.get(&index);
            let reason = match before {
                None => Reason::New,
                Some(_) => reason(name, level, subject.as_deref(), &changed),
            };
            let outcome = match (before.map(Option::as_ref), &held) {
                (_, None) => Outcome::NotCompared,
                (Some(Some(old)), Some(new)) if (old.equal)(&*old.value, &*new.value) => {
                    Outcome::Equal
                }
                _ => Outcome::Changed,
            };
            let key = key_text(db, name, id)
                .or_else(|| subject.clone())
                .unwrap_or_default();
            // Who looks something up for the first time does not change it.
            let looked_up = before.is_none() && PROJECTIONS.contains(&name);
            if outcome != Outcome::Equal && !looked_up {
                changed.push(Changed {
                    query: name.to_owned(),
                    key: key.clone(),
                    level,
                    subject: subject.clone(),
                });
            }
            round.reruns.push(Rerun {
                query: name.to_owned(),
                key,
                subject,
                reason,
                outcome,
            });
            self.known.insert(index, held);
        }
        // Asking for results to compare has left traces of its own.
        db.log().take_entries();
        round
    }
}

struct Changed {
    query: String,
    key: String,
    level: usize,
    subject: Option<String>,
}

fn reason(name: &str, level: usize, subject: Option<&str>, changed: &[Changed]) -> Reason {
    // Both read the text of a file.
    if matches!(name, "parse" | "module_codes") {
        return Reason::FileChanged(subject.unwrap_or_default().to_owned());
    }
    let earlier = || changed.iter().rev().filter(|c| c.level < level);
    // Functions read their own graphs; summaries are for callers. A file's name begins
    // the names of the codes in it.
    let same = |c: &&Changed| match (&c.subject, subject) {
        (Some(a), Some(b)) => match b.strip_prefix(&**a) {
            Some("") => !c.query.ends_with("_summary"),
            Some(rest) => name.starts_with("code") && rest.starts_with(':'),
            None => false,
        },
        _ => false,
    };
    match earlier().find(same).or_else(|| earlier().next()) {
        Some(c) => Reason::ResultChanged(c.query.clone(), c.key.clone()),
        None => Reason::Other,
    }
}

/// The stages in the order of the data's way; queries of one entry do not read one
/// another.
const STAGES: &[&[&str]] = &[
    &["parse", "module_codes"],
    &["code", "code_spans", "syntax_diagnostics"],
    &["image"],
    &[
        "object",
        "module_global",
        "entry_point",
        "image_diagnostics",
    ],
    &["flow_graph"],
    &["flow_diagnostics"],
    &["solve", "annotate_helper"],
    &[
        "annotation",
        "class_attributes",
        "class_def",
        "list_def",
        "dict_def",
    ],
    &["annotation_diagnostics", "dead_operation_warnings"],
    &["struct_body"],
    &["rtyped_graph"],
    &["object_flow_of", "leaked_lists_of"],
    &["low_level_facts"],
    &["simplified"],
    &["simplified_summary"],
    &["simplified_mentions"],
    &["optimized"],
    &["optimized_summary"],
    &["optimized_mentions"],
    &["program_effects", "jit_program_effects"],
    &["function_effects", "jit_effects"],
    &["jit_graph"],
    &["exceptions"],
    &["gc", "oo_graph"],
    &["machine_code", "c_code", "llvm_code", "wasmgc_code"],
    &["code_debug", "llvm_source", "llvm_data", "llvm_type_info"],
    &["llvm_program"],
    &["llvm_module"],
];

/// Queries that only look something up in a larger result: not worth a line unless
/// what they found is another.
const PROJECTIONS: &[&str] = &[
    "llvm_contents",
    "llvm_row",
    "code",
    "code_spans",
    "object",
    "module_global",
    "entry_point",
    "annotation",
    "class_attributes",
    "class_def",
    "list_def",
    "dict_def",
    "function_effects",
];

fn level(name: &str) -> Option<usize> {
    STAGES.iter().position(|s| s.contains(&name))
}

/// The file, or the function by file and name, that a query is about.
fn subject(db: &dyn Db, name: &str, id: Id) -> Option<String> {
    let function = |program, obj: ObjId| {
        let data = taipan_interp::object(db, Object::new(db, program, obj)).as_ref()?;
        match &**data {
            ObjData::Function(f) => code_subject(db, f.code),
            _ => None,
        }
    };
    let sym = |roots: Roots, sym: &FuncSym| match sym.kind() {
        FuncKind::User { func, .. } => function(roots.program(db), *func),
        _ => Some(sym.name().to_owned()),
    };
    match name {
        "parse" | "module_codes" | "syntax_diagnostics" => {
            Some(shown_path(db, File::from_id(id).path(db)).to_string())
        }
        "code" | "code_spans" => code_subject(db, CodeId::from_id(id)),
        "flow_graph" | "flow_diagnostics" => {
            let key = Function::from_id(id);
            function(key.program(db), key.obj(db))
        }
        "annotation" => {
            let spec = Spec::from_id(id);
            function(spec.roots(db).program(db), spec.func(db))
        }
        "rtyped_graph" => match FuncKey::from_id(id).kind(db) {
            FuncKeyKind::User(spec) => function(spec.roots(db).program(db), spec.func(db)),
            _ => None,
        },
        _ if has_low_level_key(name) => {
            let key = LLFunction::from_id(id);
            sym(key.roots(db), key.sym(db))
        }
        _ => None,
    }
}

fn code_subject(db: &dyn Db, code: CodeId) -> Option<String> {
    let file = shown_path(db, code.file(db)?.path(db));
    Some(format!("{file}:{}#{}", code.qualname(db), code.nth(db)))
}

/// The result of a query; none for those that are never compared.
fn held(db: &dyn Db, name: &str, id: Id) -> Option<Held> {
    Some(match name {
        "parse" => hold(taipan_code::parse(db, File::from_id(id)).clone()),
        "code" => hold(taipan_code::code(db, CodeId::from_id(id)).clone()),
        "object" => hold(taipan_interp::object(db, Object::from_id(id)).clone()),
        "module_global" => hold(taipan_interp::module_global(db, Name::from_id(id)).clone()),
        "flow_graph" => hold(taipan_flow::flow_graph(db, Function::from_id(id)).clone()),
        "annotation" => hold(taipan_annotator::annotation(db, Spec::from_id(id))),
        "class_attributes" => hold(taipan_annotator::class_attributes(db, Class::from_id(id))),
        "class_def" => hold(taipan_annotator::class_def(db, Class::from_id(id))),
        "list_def" => hold(taipan_annotator::list_def(db, Site::from_id(id))),
        "dict_def" => hold(taipan_annotator::dict_def(db, Site::from_id(id))),
        "struct_body" => hold(taipan_rtyper::struct_body(db, LayoutKey::from_id(id))),
        "rtyped_graph" => hold(taipan_rtyper::rtyped_graph(db, FuncKey::from_id(id))),
        "simplified" => hold(stages::simplified(db, LLFunction::from_id(id))),
        "simplified_summary" => hold(stages::simplified_summary(db, LLFunction::from_id(id))),
        "simplified_mentions" => hold(stages::simplified_mentions(db, LLFunction::from_id(id))),
        "optimized" => hold(stages::optimized_graph(db, LLFunction::from_id(id))),
        "optimized_summary" => hold(stages::optimized_summary(db, LLFunction::from_id(id))),
        "optimized_mentions" => hold(stages::optimized_mentions(db, LLFunction::from_id(id))),
        "function_effects" => hold(stages::function_effects(db, LLFunction::from_id(id))),
        "jit_effects" => hold(stages::jit_effects(db, LLFunction::from_id(id))),
        "jit_graph" => hold(stages::jit_graph(db, LLFunction::from_id(id))),
        "exceptions" => hold(stages::exceptions(db, LLFunction::from_id(id))),
        "gc" => hold(stages::gc(db, LLFunction::from_id(id))),
        _ => return None,
    })
}

fn hold<T: PartialEq + Any + Send>(value: T) -> Held {
    Held {
        value: Box::new(value),
        equal: |a, b| match (a.downcast_ref::<T>(), b.downcast_ref::<T>()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::New => write!(f, "new"),
            Reason::FileChanged(path) => write!(f, "{path} was edited"),
            Reason::ResultChanged(query, key) => write!(f, "{query} {key} changed"),
            Reason::Other => write!(f, "something it reads changed"),
        }
    }
}

impl Round {
    /// One line per query that ran again: what ran, why, and whether its result is
    /// another. At most `limit` lines; first-time runs are only counted, look-ups that
    /// found the same are left out.
    pub fn text(&self, limit: usize) -> String {
        let (new, mut again): (Vec<&Rerun>, Vec<&Rerun>) =
            self.reruns.iter().partition(|r| r.reason == Reason::New);
        again.retain(|r| r.outcome == Outcome::Changed || !PROJECTIONS.contains(&&*r.query));
        let width = again
            .iter()
            .take(limit)
            .map(|r| r.query.len() + 1 + r.key.len())
            .max()
            .unwrap_or(0);
        let mut out = String::new();
        for r in again.iter().take(limit) {
            let what = format!("{} {}", r.query, r.key);
            let end = match r.outcome {
                Outcome::Equal => " (same result)",
                Outcome::Changed | Outcome::NotCompared => "",
            };
            out.push_str(&format!("{what:<width$}  because {}{end}\n", r.reason));
        }
        if again.len() > limit {
            out.push_str(&format!("... and {} more\n", again.len() - limit));
        }
        if !new.is_empty() {
            out.push_str(&format!("{} ran for the first time\n", new.len()));
        }
        out.push_str(&format!(
            "{} queries executed, {} reused\n",
            self.executed, self.reused
        ));
        out
    }
}
