//! What functions return, compared with what they declare.

use taipan_annotator::{
    Roots, Site, SiteId, SomeKind, SomeValue, Spec, annotation_text, dict_def, list_def, signature,
};
use taipan_base::{Db, Diagnostic, ErrorCode};
use taipan_graph::IntKind;
use taipan_interp::{Extension, ExtensionType, function_name};

use super::c_text::shown;
use crate::db::Database;

/// Functions whose results are not what is declared, or nothing that is passed.
pub(super) fn mismatches(db: &Database, roots: Roots, offered: &Extension) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for f in &offered.functions {
        let result = &signature(db, Spec::new(db, roots, f.func, "")).result;
        if fits(db, roots, result, &f.result, &mut Vec::new()) {
            continue;
        }
        let name = function_name(db, roots.program(db), f.func);
        let text = annotation_text(db, roots, result);
        let (message, help) = match f.result {
            ExtensionType::Any => (
                format!("Python cannot call `{}`: it returns {text}", f.name),
                "results that are no number, string or None are declared: \
                 `# type: (int) -> List[int]` below `def`, or @signature",
            ),
            _ => (
                format!(
                    "`{}` is declared to return {}, but returns {text}",
                    f.name,
                    shown(&f.result)
                ),
                "change the declaration, or what is returned",
            ),
        };
        let span = name.map(|(_, span)| span);
        all.push(Diagnostic::error(ErrorCode::NotForPython, span, message).with_help(help));
    }
    all
}

/// Whether values of an annotation can be passed as this type. `open` are the containers that are
/// being looked at.
fn fits(
    db: &dyn Db,
    roots: Roots,
    s: &SomeValue,
    ty: &ExtensionType,
    open: &mut Vec<SiteId>,
) -> bool {
    let mut inside = |site: SiteId, parts: &[(&SomeValue, &ExtensionType)]| {
        if open.contains(&site) {
            return false;
        }
        open.push(site);
        let fit = parts.iter().all(|(s, ty)| fits(db, roots, s, ty, open));
        open.pop();
        fit
    };
    match (&s.kind, ty) {
        // It does not return, or no value gets there; None is None whatever was declared, where
        // there is an object that can be it.
        (SomeKind::Impossible, _) | (_, ExtensionType::None) => true,
        (_, ExtensionType::Optional(ty)) => fits(db, roots, s, ty, open),
        (SomeKind::None, ty) => !is_number(ty),
        (SomeKind::Bool, ExtensionType::Int | ExtensionType::Bool | ExtensionType::Any) => true,
        (SomeKind::Integer { kind, .. }, ExtensionType::Int | ExtensionType::Any) => {
            *kind == IntKind::SIGNED
        }
        (SomeKind::Integer { kind, .. }, ExtensionType::Integer { signed }) => {
            kind.bits == 64 && kind.signed == *signed
        }
        (SomeKind::Integer { kind, nonneg }, ExtensionType::NonNegative) => {
            *nonneg && *kind == IntKind::SIGNED
        }
        (SomeKind::Integer { kind, .. }, ExtensionType::Float) => *kind == IntKind::SIGNED,
        (SomeKind::Float, ExtensionType::Float | ExtensionType::Any) => true,
        (
            SomeKind::Char { .. } | SomeKind::Str { .. },
            ExtensionType::Str | ExtensionType::Bytes | ExtensionType::Any,
        ) => true,
        (
            SomeKind::UniChar | SomeKind::Unicode { .. },
            ExtensionType::Unicode | ExtensionType::Any,
        ) => true,
        (SomeKind::List { site, .. }, ExtensionType::List(item)) => {
            let def = list_def(db, Site::new(db, roots, *site));
            inside(*site, &[(&def.item, item)])
        }
        (SomeKind::Dict { site, .. }, ExtensionType::Dict(kv)) => {
            let def = dict_def(db, Site::new(db, roots, *site));
            inside(*site, &[(&def.key, &kv.0), (&def.value, &kv.1)])
        }
        (SomeKind::Tuple(items), ExtensionType::Tuple(types)) => {
            items.len() == types.len()
                && items
                    .iter()
                    .zip(types)
                    .all(|(s, ty)| fits(db, roots, s, ty, open))
        }
        _ => false,
    }
}

fn is_number(ty: &ExtensionType) -> bool {
    matches!(
        ty,
        ExtensionType::Int
            | ExtensionType::NonNegative
            | ExtensionType::Integer { .. }
            | ExtensionType::Bool
            | ExtensionType::Float
    )
}
