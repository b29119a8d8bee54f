//! Whole answers from the cache: what a command that ends needs, if no file that the
//! answer depends on has changed.
//!
//! An answer depends on its question (command, options, target, search path) and on the
//! contents of every file that was asked for, those that turned out to be missing
//! included. Which files these are is itself an entry of the cache:
//!
//! ```text
//! hash(target, options)                            -> files to look at
//! hash(that, their paths and contents)             -> further files, if any
//! hash(that, their paths and contents, question)   -> the answer
//! ```
//!
//! Every step is found by contents alone, so there is nothing to be out of date. Files
//! are read, not only looked at: what matters is their text, whatever their time stamps
//! say, and reading a whole program takes milliseconds.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::collections::HashSet;

use camino::Utf8PathBuf;
use serde::Serialize;
use serde::de::DeserializeOwned;
use taipan_base::{
    Db, Diagnostic, ErrorCode, File, FileContents, Help, Note, Program, Severity, Span, TextRange,
};

use crate::checked::{Checked, UnreachedFunction};
use crate::db::Database;
use crate::extent::Extent;
use crate::extents::extent_of;
use crate::fault::Failure;
use crate::modes::Modes;
use crate::{Key, KeyHasher};

/// Kind of the entries that list files.
const FILES: &str = "files";

/// What a command wants to know.
pub struct Question<'a> {
    /// The query that it stands for, for the log; also the kind of the cache entry.
    pub what: &'static str,
    /// The program it is about.
    pub program: Program,
    /// Further data that the result depends on, beside the options of the program.
    pub options: &'a [&'a str],
    /// It is about the program from its entry point on, and somebody may want to know how
    /// much that is.
    pub extent: bool,
}

/// What is kept beside an answer.
#[derive(Serialize, serde::Deserialize)]
struct Beside {
    /// What import time printed.
    printed: String,
    /// How much the program is.
    extent: Option<Extent>,
}

impl Beside {
    /// Of a program, once there is the answer.
    fn of(db: &Database, question: &Question<'_>) -> Beside {
        let program = question.program;
        // It may not have been asked for yet.
        db.log().observed().imported(db, program);
        Beside {
            printed: taipan_interp::image(db, program).printed.clone(),
            extent: question.extent.then(|| extent_of(db, program)),
        }
    }

    /// Tells what there is to tell.
    fn tell(self, db: &Database, program: Program) {
        (db.log().observed()).kept(db, program, &self.printed);
        if let Some(extent) = self.extent {
            db.keep_extent(program, extent);
        }
    }
}

/// The answer to a question: from the cache, else computed and kept. Diagnostics are
/// answers too; other failures, and what `keeps` says no to, are not kept.
pub fn remember<T: Serialize + DeserializeOwned>(
    db: &Database,
    question: &Question<'_>,
    keeps: impl Fn(&T) -> bool,
    compute: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let encode = |answer: &Result<T, Failure>| {
        let answer = match answer {
            Ok(value) if !keeps(value) => return None,
            Ok(value) => Ok(value),
            Err(Failure::Diagnostics(all)) => Err(StoredDiagnostics::new(db, all)),
            Err(_) => return None,
        };
        postcard::to_stdvec(&answer).ok()
    };
    let decode = |bytes: &[u8]| {
        let answer: Result<T, StoredDiagnostics> = postcard::from_bytes(bytes).ok()?;
        Some(answer.map_err(|all| Failure::Diagnostics(all.restore(db))))
    };
    recall(db, question, compute, encode, decode)
}

/// The same for what a check says.
pub(crate) fn remember_check(
    db: &Database,
    question: &Question<'_>,
    compute: impl FnOnce() -> Checked,
) -> Checked {
    let encode = |all: &Checked| postcard::to_stdvec(&StoredCheck::new(db, all)).ok();
    let decode = |bytes: &[u8]| {
        let stored: StoredCheck = postcard::from_bytes(bytes).ok()?;
        Some(stored.restore(db))
    };
    recall(db, question, compute, encode, decode)
}

/// Takes an answer from the cache, or computes and keeps it.
fn recall<R>(
    db: &Database,
    question: &Question<'_>,
    compute: impl FnOnce() -> R,
    encode: impl Fn(&R) -> Option<Vec<u8>>,
    decode: impl Fn(&[u8]) -> Option<R>,
) -> R {
    if !db.takes_answers() {
        return compute();
    }
    let cache = db.cache();
    let (seen, at) = walk(db, question.program);
    let stored = cache.get(question.what, answer_key(at, question));
    if !cache.verifies()
        && let Some((beside, answer)) = stored.as_deref().and_then(split)
        && let Some(found) = decode(answer)
    {
        beside.tell(db, question.program);
        db.note_answer();
        db.log()
            .record_restored(question.what, || question.program.target(db).to_string());
        return found;
    }
    db.begin_work();
    let result = compute();
    // Headers and compiler are not among the files.
    let bytes = encode(&result).filter(|_| !taipan_base::asked_c_compiler());
    let bytes = bytes.and_then(|answer| {
        let mut bytes = postcard::to_stdvec(&Beside::of(db, question)).ok()?;
        bytes.extend(answer);
        Some(bytes)
    });
    if stored.is_some() {
        assert!(stored == bytes, "the cached {} differs", question.what);
    } else if let Some(bytes) = bytes {
        let at = extend(db, question.program, seen, at);
        cache.put(question.what, answer_key(at, question), bytes);
    }
    result
}

/// What is kept beside an answer, and the answer.
fn split(bytes: &[u8]) -> Option<(Beside, &[u8])> {
    postcard::take_from_bytes(bytes).ok()
}

fn answer_key(at: Key, question: &Question<'_>) -> Key {
    let mut h = KeyHasher::new("answer");
    h.bytes(at.as_bytes());
    for o in question.options {
        h.text(o);
    }
    h.finish()
}

/// Hash of what there is at a path.
#[salsa::tracked(returns(copy))]
fn contents_key(db: &dyn Db, file: File) -> Key {
    match file.contents(db) {
        FileContents::Text(t) => Key::of(t.as_bytes()),
        other => KeyHasher::new("no text")
            .text(&format!("{other:?}"))
            .finish(),
    }
}

/// Follows the lists of files from the program on as far as they go. Answers the files
/// seen, and the hash of their contents.
fn walk(db: &Database, program: Program) -> (HashSet<Utf8PathBuf>, Key) {
    let mut h = KeyHasher::new("program");
    h.text(program.target(db).as_str())
        .value(program.options(db))
        .value(&Modes::of(db));
    let mut at = h.finish();
    let mut seen = HashSet::new();
    let cache = db.cache();
    while let Some(paths) = (cache.get(FILES, at))
        .and_then(|bytes| postcard::from_bytes::<Vec<Utf8PathBuf>>(&bytes).ok())
    {
        at = step(db, at, &paths);
        seen.extend(paths);
    }
    (seen, at)
}

/// The hash after looking at some more files.
fn step(db: &Database, at: Key, paths: &[Utf8PathBuf]) -> Key {
    let mut h = KeyHasher::new("files");
    h.bytes(at.as_bytes());
    for p in paths {
        let contents = contents_key(db, db.files().get(db, p));
        h.text(p.as_str()).bytes(contents.as_bytes());
    }
    h.finish()
}

/// Writes down which files were asked for beyond those seen on the way to `at`.
fn extend(db: &Database, program: Program, seen: HashSet<Utf8PathBuf>, at: Key) -> Key {
    // Every query ran at most once so far, and in this process: nothing is missing.
    let files = db.files().asked_by(program).into_iter();
    // What ships with the binary is as it is.
    let files = files.filter(|p| !p.starts_with(taipan_base::SHIPPED));
    let more: Vec<Utf8PathBuf> = files.filter(|p| !seen.contains(p)).collect();
    match postcard::to_stdvec(&more) {
        Ok(bytes) if !more.is_empty() => {
            db.cache().put(FILES, at, bytes);
            step(db, at, &more)
        }
        _ => at,
    }
}

/// A place by path.
type StoredSpan = (Utf8PathBuf, u32, u32);

/// A note by content: its place, its message, and whether the label says the same.
type StoredNote = (Option<StoredSpan>, String, bool);

/// A diagnostic by content.
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredDiagnostic {
    code: ErrorCode,
    is_error: bool,
    message: String,
    primary: Option<StoredSpan>,
    label: String,
    notes: Vec<StoredNote>,
    help: Option<Help>,
}

/// Diagnostics as the cache has them.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct StoredDiagnostics(Vec<StoredDiagnostic>);

impl StoredDiagnostics {
    pub fn new(db: &dyn Db, all: &[Diagnostic]) -> StoredDiagnostics {
        let span = |s: Span| -> StoredSpan {
            let path = s.file.path(db).clone();
            (path, s.range.start, s.range.end)
        };
        let stored = all.iter().map(|d| StoredDiagnostic {
            code: d.code,
            is_error: d.severity == Severity::Error,
            message: d.message.clone(),
            primary: d.primary.map(span),
            label: d.label.clone(),
            notes: (d.notes.iter())
                .map(|n| (n.span.map(span), n.message.clone(), n.in_label))
                .collect(),
            help: d.help.clone(),
        });
        StoredDiagnostics(stored.collect())
    }

    /// The diagnostics.
    pub fn restore(self, db: &dyn Db) -> Vec<Diagnostic> {
        let span = |(path, start, end): StoredSpan| Span {
            file: db.files().get(db, &path),
            range: TextRange::new(start, end),
        };
        let restored = self.0.into_iter().map(|d| Diagnostic {
            code: d.code,
            severity: if d.is_error {
                Severity::Error
            } else {
                Severity::Warning
            },
            message: d.message,
            primary: d.primary.map(span),
            label: d.label,
            notes: (d.notes.into_iter())
                .map(|(at, message, in_label)| Note {
                    span: at.map(span),
                    message,
                    in_label,
                })
                .collect(),
            help: d.help,
            problem: None,
        });
        restored.collect()
    }
}

/// What a check says, as the cache has it.
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredCheck {
    diagnostics: StoredDiagnostics,
    files: Vec<Utf8PathBuf>,
    /// Whole definitions and what is wrong with them.
    unreached: Option<Vec<(StoredSpan, StoredDiagnostics)>>,
}

impl StoredCheck {
    fn new(db: &dyn Db, checked: &Checked) -> StoredCheck {
        let stored = |f: &UnreachedFunction| {
            let path = f.file.path(db).clone();
            let findings = StoredDiagnostics::new(db, &f.findings);
            ((path, f.whole.start, f.whole.end), findings)
        };
        StoredCheck {
            diagnostics: StoredDiagnostics::new(db, &checked.diagnostics),
            files: checked.files.iter().map(|f| f.path(db).clone()).collect(),
            unreached: (checked.unreached.as_ref()).map(|all| all.iter().map(stored).collect()),
        }
    }

    fn restore(self, db: &dyn Db) -> Checked {
        let file = |path: &Utf8PathBuf| db.files().get(db, path);
        let restored =
            |((path, start, end), findings): (StoredSpan, StoredDiagnostics)| UnreachedFunction {
                file: file(&path),
                whole: TextRange::new(start, end),
                findings: findings.restore(db),
            };
        Checked {
            diagnostics: self.diagnostics.restore(db),
            files: self.files.iter().map(file).collect(),
            unreached: (self.unreached).map(|all| all.into_iter().map(restored).collect()),
        }
    }
}
