//! Values that do not go together, and the remedies.

use std::mem::discriminant;

use taipan_base::{Diagnostic, Note, Span};

use super::CONFLICT;
use crate::eval::BOTH_TEXTS;
use crate::origins::Origin;
use crate::project::is_conflict;
use crate::solver::{FactJoiner, Solver};
use crate::val::{Atom, Val};

/// The diagnostic for values that do not go together, with the places that they come
/// from.
pub(super) fn conflict(
    solver: &Solver,
    what: &str,
    origins: &[(Option<Span>, Origin)],
) -> Option<Diagnostic> {
    let mut origins = (origins.iter()).filter(|(_, o)| !is_conflict(&o.val) && !o.val.is_bottom());
    let mut joiner = FactJoiner::new(&solver.facts);
    let mut sum = Val::default();
    let mut before: Vec<&(Option<Span>, Origin)> = Vec::new();
    let (span, clash) = origins.find(|o| {
        sum = sum.join(&o.1.val, &mut joiner);
        let clashes = is_conflict(&sum);
        if !clashes {
            before.push(o);
        }
        clashes
    })?;
    // The first one that does not go with it: others, as None, may go with both.
    let clashes = |o: &&&(Option<Span>, Origin)| {
        let both =
            o.1.val
                .join(&clash.val, &mut FactJoiner::new(&solver.facts));
        is_conflict(&both)
    };
    let (first_span, first) = before.iter().find(clashes).or(before.first())?;
    let (a, b) = (
        solver.facts.describe(&first.val),
        solver.facts.describe(&clash.val),
    );
    let (place, kind, way) = match span {
        Some(span) => (Some(*span), &b, clash.way.unnamed()),
        None => (*first_span, &a, first.way.unnamed()),
    };
    if first_span == span && span.is_some() && first.way == clash.way {
        let mut d = Diagnostic::error(CONFLICT, place, format!("{what} {a} and {b}"));
        d.help = remedy(&first.val, &clash.val).map(Into::into);
        return Some(d.with_label(format!("both {}", way.of_both())));
    }
    // Which function it is goes without saying if both are in the same.
    let note = |o: &Origin| {
        if first.way == clash.way {
            way.to_string()
        } else {
            o.way.to_string()
        }
    };
    let mut d = Diagnostic::error(CONFLICT, place, format!("{what} {a} and {b}"))
        .with_label(format!("{kind} {way}"));
    d.notes = vec![
        Note {
            span: *first_span,
            message: format!("{a} {}", note(first)),
            in_label: first_span.is_some() && span.is_none(),
        },
        Note {
            span: *span,
            message: format!("{b} {}", note(clash)),
            in_label: span.is_some(),
        },
    ];
    if let Some(help) = remedy(&first.val, &clash.val) {
        d = d.with_help(help);
    }
    Some(d)
}

/// The same origins with values that are mixed already taken apart, one for each kind that no other origin has.
pub(super) fn parts(origins: Vec<(Option<Span>, Origin)>) -> Vec<(Option<Span>, Origin)> {
    let plain = || (origins.iter().map(|(_, o)| &o.val)).filter(|v| !is_conflict(v));
    let atoms: Vec<_> = plain().flat_map(|v| &v.atoms).map(discriminant).collect();
    let none = plain().any(|v| v.none);
    let new = |val: &Val| {
        let atoms = val
            .atoms
            .iter()
            .filter(|a| !atoms.contains(&discriminant(*a)));
        let mut vals: Vec<Val> = atoms.cloned().map(Val::from).collect();
        if val.none && !none {
            vals.push(Val::none());
        }
        vals
    };
    let each = |(span, o): &(Option<Span>, Origin)| {
        let vals = if is_conflict(&o.val) {
            new(&o.val)
        } else {
            vec![o.val.clone()]
        };
        let (span, place, item, way) = (*span, o.place, o.item, o.way.clone());
        vals.into_iter().map(move |val| {
            let way = way.clone();
            (
                span,
                Origin {
                    val,
                    place,
                    item,
                    way,
                },
            )
        })
    };
    origins.iter().flat_map(each).collect()
}

/// The remedy for two kinds of values in one place.
fn remedy(one: &Val, other: &Val) -> Option<&'static str> {
    if one.is_none() != other.is_none() {
        return Some(
            "only strings, lists, dicts, instances and the like may be None; use a special value instead",
        );
    }
    Some(match (one.single()?, other.single()?) {
        (Atom::Str { .. }, Atom::Uni { .. }) | (Atom::Uni { .. }, Atom::Str { .. }) => BOTH_TEXTS,
        (Atom::Instance(_), Atom::Instance(_)) => "derive both classes from a common base class",
        (Atom::Tuple(a), Atom::Tuple(b)) if a.len() != b.len() => {
            "tuples of different lengths are of different kinds: use a list, if all items are of one kind"
        }
        (Atom::Tuple(_), Atom::List(_)) | (Atom::List(_), Atom::Tuple(_)) => "make both lists",
        (Atom::Builtin(_) | Atom::BuiltinMethod { .. }, _)
        | (_, Atom::Builtin(_) | Atom::BuiltinMethod { .. }) => {
            "choose by `if`, and call each by its name"
        }
        (a, b) if kind(a).min(kind(b)) > 0 && kind(a) != kind(b) => {
            "keep the kinds apart, or wrap each in a class with a common base"
        }
        _ => return None,
    })
}

/// Kinds of values that an attribute of a class can hold.
fn kind(atom: &Atom) -> u32 {
    match atom {
        Atom::Int(_) | Atom::Float => 1,
        Atom::Str { .. } | Atom::Uni { .. } => 2,
        Atom::List(_) | Atom::Dict(_) | Atom::Tuple(_) => 3,
        Atom::Instance(_) => 4,
        _ => 0,
    }
}
