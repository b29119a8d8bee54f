//! What goes wrong in low-level code, told at the place of the source that it comes from.

use taipan_annotator::{Roots, Spec};
use taipan_base::{Db, Diagnostic, ErrorCode, SHIPPED, Span};
use taipan_codegen::CodegenError;
use taipan_jit::{Failure as GaveUp, HintError, portal_of};
use taipan_llinterp::Fault;
use taipan_lltype::{CodePlace, FuncKind, HeapError};
use taipan_rtyper::TyperError;

use crate::fault::Failure;

/// Calls that a diagnostic shows at most.
const MOST_CALLS: usize = 5;

/// Where an instruction is in the source. Helpers have no place.
pub(crate) fn span_of(db: &dyn Db, roots: Roots, place: &CodePlace) -> Option<Span> {
    let func = portal_of(&place.func).unwrap_or(&place.func);
    match func.kind() {
        FuncKind::User { func, spec, .. } => {
            let spec = Spec::new(db, roots, *func, spec.clone());
            taipan_rtyper::instruction_span(db, spec, place.at)
        }
        _ => None,
    }
}

/// A fault of low-level code: at the innermost place in the program's own files, with the calls
/// that led there.
pub(crate) fn fault(db: &dyn Db, roots: Roots, f: &Fault) -> Diagnostic {
    let (message, help) = match &f.access {
        Some(HeapError::OutOfBounds(_)) => (
            "index out of range",
            Some("catch IndexError here: where nothing catches it, indices are not checked"),
        ),
        Some(HeapError::Null) => (
            "null pointer used",
            Some("compare the value with None first"),
        ),
        _ => (&*f.message, None),
    };
    let d = with_calls(
        db,
        roots,
        ErrorCode::UnsafeForMachineCode,
        message,
        &f.calls,
    );
    let d = d.with_note(
        None,
        format!("the operation is `{}` in {}", f.operation, f.graph),
    );
    match help {
        Some(help) => d.with_help(help),
        None => d,
    }
}

/// A feature that the target lacks, at the innermost place in the program's own files, with the calls that led there.
pub(crate) fn lack(db: &dyn Db, roots: Roots, calls: &[CodePlace], message: &str) -> Diagnostic {
    with_calls(db, roots, ErrorCode::NotOnTheTarget, message, calls)
}

fn with_calls(
    db: &dyn Db,
    roots: Roots,
    code: ErrorCode,
    message: &str,
    calls: &[CodePlace],
) -> Diagnostic {
    let mut spans: Vec<Span> = (calls.iter())
        .filter_map(|place| span_of(db, roots, place))
        .collect();
    spans.dedup();
    let own = |s: &Span| !s.file.path(db).as_str().starts_with(SHIPPED);
    let first = spans.iter().position(own).unwrap_or(0);
    let mut calls = spans.into_iter().skip(first);
    let mut d = Diagnostic::error(code, calls.next(), message);
    for call in calls.take(MOST_CALLS) {
        d = d.with_note(Some(call), "called here");
    }
    d
}

/// A hint that cannot be fulfilled: at the hint, with the way to the value that it depends on.
pub(crate) fn hint(db: &dyn Db, roots: Roots, e: &HintError) -> Diagnostic {
    let span = e.place.as_ref().and_then(|p| span_of(db, roots, p));
    let mut d = Diagnostic::error(ErrorCode::UnknownHint, span, e.message.clone())
        .with_label(e.label.clone());
    for (text, place) in e.path.iter().filter_map(|step| step.note.as_ref()) {
        d = d.with_note(span_of(db, roots, place), text.clone());
    }
    match e.remedy {
        Some(remedy) => d.with_help(remedy),
        None => d,
    }
}

/// Why the specialiser gave up, where it did.
pub(crate) fn gave_up(db: &dyn Db, roots: Roots, why: &GaveUp) -> Diagnostic {
    let span = why.place.as_ref().and_then(|p| span_of(db, roots, p));
    let d = Diagnostic::error(ErrorCode::SpecializerGaveUp, span, why.why.clone());
    match why.remedy {
        Some(remedy) => d.with_help(remedy),
        None => d,
    }
}

pub(crate) fn typer_failure(e: TyperError) -> Failure {
    typer_diagnostic(e).into()
}

pub(crate) fn typer_diagnostic(e: TyperError) -> Diagnostic {
    e.diagnostic(None)
}

/// That no code can be generated, as a failure of a command.
pub fn codegen_failure(e: &CodegenError) -> Failure {
    Diagnostic::error(
        ErrorCode::NoCode,
        None,
        format!("no code can be generated: {e}"),
    )
    .into()
}
