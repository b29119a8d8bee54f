//! Diagnostics of all programs and open files, in the protocol's form.

use std::collections::BTreeMap;

use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, NumberOrString, Url,
};
use taipan_base::{Diagnostic, File, Severity};
use taipan_ide::{file_diagnostics, workspace_diagnostics};

use crate::snapshot::Snapshot;

/// What is wrong, by document; a document without problems may be absent.
pub(crate) type Findings = BTreeMap<Url, Vec<lsp_types::Diagnostic>>;

/// Checks all programs, the open files that belong to none, and the configuration.
pub(crate) fn check(snapshot: &Snapshot, open: &[File], configs: &[Diagnostic]) -> Findings {
    let db = &snapshot.db;
    let mut all = workspace_diagnostics(db, &snapshot.workspace);
    for file in open.iter().filter(|f| f.path(db).extension() == Some("py")) {
        all.extend(file_diagnostics(db, &snapshot.workspace, *file));
    }
    all.extend(configs.iter().cloned());
    let mut out = Findings::new();
    for d in &all {
        // What has no place belongs to a target, whose first line the driver gave it.
        let url = d.primary.and_then(|s| snapshot.url(s.file));
        if let Some(url) = url {
            out.entry(url).or_default().push(convert(snapshot, d));
        }
    }
    out
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
        code: Some(NumberOrString::String(d.code.to_owned())),
        source: Some("taipan".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: None::<Vec<DiagnosticTag>>,
        ..lsp_types::Diagnostic::default()
    }
}
