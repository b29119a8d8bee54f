//! Fields that classes call immutable although the program writes them late: what the JIT
//! generator believes instead, and what is said of it.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_annotator::{Roots, Spec};
use taipan_base::{Db, Diagnostic, ErrorCode, SHIPPED, Severity, Span, noted};
use taipan_graph::ObjId;
use taipan_jit::LateWrite;
use taipan_lltype::{FuncKind, FuncSym, StructBody};
use taipan_rtyper::{RTyper, Universe, instruction_span};

use crate::function::ClassKey;
use crate::stages::drivers::{jit_drivers, may_have_drivers};
use crate::stages::whole::low_level_facts;

noted! {
    /// All late writes of a program with drivers. Read through [`late_fields`], or to be told.
    fn late_writes(db, roots: Roots) -> Arc<[LateWrite]> {
        if jit_drivers(db, roots).map_or(true, |d| d.is_empty()) {
            return Arc::default();
        }
        low_level_facts(db, roots).late.clone()
    }
}

noted! {
    /// The fields of a class that are written late.
    fn late_fields(db, class: ClassKey) -> Arc<[Arc<str>]> {
        let all = late_writes(db, class.roots(db));
        let own = all.iter().filter(|w| w.class == class.class(db));
        let mut fields: Vec<Arc<str>> = own.map(|w| w.field.clone()).collect();
        fields.sort();
        fields.dedup();
        fields.into()
    }
}

noted! {
    /// The fields of a class whose lists the program shares.
    fn shared_lists(db, class: ClassKey) -> Arc<[Arc<str>]> {
        let all = low_level_facts(db, class.roots(db)).leaked;
        let class = class.class(db);
        // The fields are sorted by class.
        let first = all.partition_point(|field| field.0 < class);
        let own = all[first..].iter().take_while(|field| field.0 == class);
        own.map(|field| field.1.clone()).collect()
    }
}

/// The fields of a class as compilers of drivers believe them to be: those that are written
/// late change, though seldom, and virtualizables have their lists for themselves unless the
/// program gives them away.
pub(crate) fn believed_body(
    db: &dyn Db,
    roots: Roots,
    class: ObjId,
    said: Arc<StructBody>,
) -> Arc<StructBody> {
    let class = ClassKey::new(db, roots, class);
    let late = if said.immutable.is_empty() {
        Arc::default()
    } else {
        late_fields(db, class)
    };
    let mut own_lists: Vec<Arc<str>> = match may_have_drivers(db, roots) {
        true => taipan_jit::list_fields(&said).cloned().collect(),
        // The analysis runs for programs with drivers only.
        false => Vec::new(),
    };
    if !own_lists.is_empty() {
        let shared = shared_lists(db, class);
        own_lists.retain(|f| !shared.contains(f));
    }
    if late.is_empty() && own_lists.is_empty() {
        return said;
    }
    let mut body = (*said).clone();
    body.immutable.retain(|f| !late.contains(f));
    body.quasi_immutable.extend(late.iter().cloned());
    body.own_lists = own_lists;
    Arc::new(body)
}

/// Warnings about all of them, one for each field.
pub(crate) fn late_write_warnings(db: &dyn Db, roots: Roots) -> Vec<Diagnostic> {
    let mut seen = FxHashSet::default();
    let all = late_writes(db, roots);
    let first = all.iter().filter(|w| seen.insert((w.class, &w.field)));
    first.map(|w| warning(db, roots, w)).collect()
}

fn warning(db: &dyn Db, roots: Roots, write: &LateWrite) -> Diagnostic {
    let names = RTyper::new(db, Universe::User(roots));
    let class = names.class_name(write.class);
    let field = write.field.strip_prefix("inst_").unwrap_or(&write.field);
    let (writer, instruction) = &write.place;
    let mut at = span(db, roots, writer, *instruction);
    let mut call = (write.call.as_ref())
        .and_then(|(caller, at, callee)| Some((span(db, roots, caller, *at)?, callee)));
    // What ships with the compiler is nothing to change.
    let ships = at.is_some_and(|at| at.file.path(db).starts_with(SHIPPED));
    if ships && let Some((here, _)) = call.take() {
        at = Some(here);
    }
    let mut d = Diagnostic::error(
        ErrorCode::ImmutableWritten,
        at,
        format!("class {class} says that its field {field} never changes, but here it may"),
    );
    d.severity = Severity::Warning;
    if let Some((here, callee)) = call {
        let text = format!("{} gets an object here that is not new", callee.name());
        d = d.with_note(Some(here), text);
    }
    d.with_help(format!(
        "compiled code takes it for '{field}?' of _immutable_fields_; write it so, or before the \
         object is used"
    ))
}

fn span(db: &dyn Db, roots: Roots, f: &FuncSym, at: u32) -> Option<Span> {
    match f.kind() {
        FuncKind::User { func, spec, .. } => {
            instruction_span(db, Spec::new(db, roots, *func, spec.clone()), at)
        }
        _ => None,
    }
}
