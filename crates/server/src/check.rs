//! Diagnostics of all programs and open files, in the protocol's form.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use camino::Utf8PathBuf;

use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, NumberOrString, Url,
};
use taipan_base::{Db, Diagnostic, ErrorCode, File, Severity, Span};
use taipan_driver::{Past, python_files};
use taipan_ide::{Checked, Others, closed_file_diagnostics, file_diagnostics, unreached};

use crate::snapshot::Snapshot;

/// What is wrong, by document; a document without problems may be absent.
pub(crate) type Findings = BTreeMap<Url, Vec<lsp_types::Diagnostic>>;

/// The files of Python in the folders that hold RPython, listed when they are first asked
/// for.
#[derive(Clone, Default)]
pub(crate) struct Listing(Arc<OnceLock<Vec<Utf8PathBuf>>>);

/// In larger folders files that no program reaches are not looked at unless they are open.
const MOST_CLOSED: usize = 2000;

impl Listing {
    fn others(&self, snapshot: &Snapshot) -> Others {
        let db = &snapshot.db;
        let list = || {
            let past = Past(db.system());
            let folders = snapshot.workspace.folders.iter();
            let found = folders.flat_map(|(f, _)| python_files(&past, f).unwrap_or_default());
            found.collect()
        };
        let mut others = Others::default();
        let paths: &Vec<Utf8PathBuf> = self.0.get_or_init(list);
        if paths.len() <= MOST_CLOSED {
            for path in paths {
                let folders = snapshot.workspace.folders.iter();
                let inside = folders
                    .filter_map(|(f, _)| path.strip_prefix(f).ok())
                    .next();
                others.note(inside.unwrap_or(path));
                others.files.push(db.files().get(db, path));
            }
        }
        others
    }
}

/// Checks all programs, the open files that belong to none, and the configuration.
pub(crate) fn check(
    snapshot: &Snapshot,
    open: &[File],
    listing: &Listing,
    configs: &[Diagnostic],
) -> Findings {
    let db = &snapshot.db;
    let checked = Checked::new(db, &snapshot.workspace);
    let mut all = checked.diagnostics();
    for file in open.iter().filter(|f| f.path(db).extension() == Some("py")) {
        all.extend(file_diagnostics(db, &snapshot.workspace, *file));
    }
    let mut closed = listing.others(snapshot);
    closed.files.retain(|f| !open.contains(f));
    all.extend(closed_file_diagnostics(db, &snapshot.workspace, &closed));
    all.extend(configs.iter().cloned());
    let mut out = Findings::new();
    // What the editor shows of files that are not open it could not fade.
    if snapshot.client.faded {
        for file in open {
            for span in unreached(&checked, *file) {
                if let Some(url) = snapshot.url(span.file) {
                    out.entry(url).or_default().push(faded(snapshot, span));
                }
            }
        }
    }
    for d in &all {
        // What has no place belongs to a target, whose first line the driver gave it.
        let url = d.primary.and_then(|s| snapshot.url(s.file));
        if let Some(url) = url {
            out.entry(url).or_default().push(convert(snapshot, d));
        }
    }
    out
}

/// A function that is shown as unnecessary.
fn faded(snapshot: &Snapshot, span: Span) -> lsp_types::Diagnostic {
    lsp_types::Diagnostic {
        range: snapshot.range(span.file, span.range),
        severity: Some(DiagnosticSeverity::HINT),
        source: Some("taipan".to_owned()),
        message: "no target reaches this function".to_owned(),
        tags: Some(vec![DiagnosticTag::UNNECESSARY]),
        ..lsp_types::Diagnostic::default()
    }
}

/// Whether the marked text can be left out.
fn is_unnecessary(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UnusedImport | ErrorCode::UnusedVariable | ErrorCode::UnreachedCode
    )
}

/// A diagnostic in the protocol's form. Help and notes without a place become part of
/// the message.
pub(crate) fn convert(snapshot: &Snapshot, d: &Diagnostic) -> lsp_types::Diagnostic {
    let mut message = d.message.clone();
    let mut related = Vec::new();
    for note in &d.notes {
        match note.span.and_then(|s| snapshot.location(s)) {
            Some(location) if snapshot.client.related => {
                related.push(DiagnosticRelatedInformation {
                    location,
                    message: note.message.clone(),
                });
            }
            Some(at) => {
                let line = at.range.start.line + 1;
                let path = at.uri.path();
                message.push_str(&format!("\n{} ({path}:{line})", note.message));
            }
            None => message.push_str(&format!("\nnote: {}", note.message)),
        }
    }
    if let Some(help) = &d.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let range = d.primary.map(|s| snapshot.range(s.file, s.range));
    lsp_types::Diagnostic {
        range: range.unwrap_or_default(),
        severity: Some(match d.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(d.code.to_string())),
        source: Some("taipan".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: (snapshot.client.faded && is_unnecessary(d.code))
            .then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..lsp_types::Diagnostic::default()
    }
}
