//! `_immutable_`, `_immutable_fields_` and `_virtualizable_` of classes: what they say, and
//! whether base classes agree (RPython: `ImmutableConflictError`).

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_lltype::StructBody;

use crate::{RTyper, Repr, Typed, TyperError};

/// A name in one of the lists: `x`, `x[*]`, `x?` or `x?[*]`.
struct Declared {
    /// The field.
    name: Arc<str>,
    /// `?`: it changes, but seldom.
    quasi: bool,
    /// `[*]`: a list whose items do not change.
    list: bool,
}

impl Declared {
    fn parse(text: &str) -> Declared {
        let (text, list) = match text.strip_suffix("[*]") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (name, quasi) = match text.strip_suffix('?') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        Declared {
            name: name.into(),
            quasi,
            list,
        }
    }
}

/// What a class says of its fields, of these names: a body without fields.
pub(crate) fn declared_immutable(
    rt: &RTyper<'_>,
    class: ObjId,
    fields: &[Arc<str>],
) -> Typed<StructBody> {
    let (mut listed, virtualizable) = (listed(rt, class)?, virtualizable(rt, class)?);
    let all = is_immutable(rt, class)?;
    let inst = |d: &Declared| -> Arc<str> { format!("inst_{}", d.name).into() };
    // What a base class says is about fields that only subclasses have, too.
    let inherited = listed_above(rt, class)?.into_iter();
    listed.extend(inherited.filter(|d| fields.contains(&inst(d))));
    let names = |wanted: &dyn Fn(&Declared) -> bool| -> Vec<Arc<str>> {
        let chosen = listed.iter().filter(|d| wanted(d));
        chosen.map(inst).collect()
    };
    Ok(StructBody {
        immutable: match all {
            true => fields.to_vec(),
            false => names(&|d| !d.quasi),
        },
        frozen_lists: names(&|d| d.list),
        quasi_immutable: names(&|d| d.quasi),
        virtualizable: match &virtualizable {
            Some(listed) => listed.iter().map(inst).collect(),
            None => fields.to_vec(),
        },
        virtualizable_lists: (virtualizable.iter().flatten())
            .filter(|d| d.list)
            .map(inst)
            .collect(),
        ..StructBody::default()
    })
}

/// Rejects what a class says of its fields where that contradicts itself or a base class.
pub(crate) fn check(rt: &RTyper<'_>, class: ObjId) -> Typed<()> {
    let name = || rt.class_name(class);
    let immutable = is_immutable(rt, class)?;
    let listed = listed(rt, class)?;
    if let Some(base) = rt.class_base(class)
        && !immutable
        // `_immutable_ = None` says so expressly.
        && rt.own_class_attribute(class, "_immutable_")?.is_none()
        && is_immutable(rt, base)?
    {
        return conflict(format!(
            "class {} has _immutable_ = True, and so must its subclass {}",
            rt.class_name(base),
            name()
        ));
    }
    let own = rt.class_attributes(class);
    for d in &listed {
        let Some((_, a)) = own.attrs.iter().find(|(n, _)| **n == d.name) else {
            continue;
        };
        if d.quasi && immutable {
            return conflict(format!(
                "class {} has _immutable_ = True, but its field {} may change",
                name(),
                d.name
            ));
        }
        let may_be_list = |r: &Repr| matches!(r, Repr::List(_) | Repr::Recursive(_) | Repr::None);
        if d.list && !a.readonly && !may_be_list(&rt.getrepr(&a.value)?) {
            return conflict(format!(
                "_immutable_fields_ of class {} says that {} is a list, which it is not",
                name(),
                d.name
            ));
        }
    }
    if !immutable && listed.is_empty() {
        return Ok(());
    }
    let mut above = rt.class_base(class);
    while let Some(base) = above {
        for field in mutable_fields(rt, base)? {
            if immutable || listed.iter().any(|d| d.name == field && !d.list) {
                return conflict(format!(
                    "field {field} may change in class {}, but not in its subclass {}",
                    rt.class_name(base),
                    name()
                ));
            }
        }
        above = rt.class_base(base);
    }
    Ok(())
}

fn conflict<T>(message: String) -> Typed<T> {
    Err(TyperError::with_code(
        ErrorCode::InvalidClassLayout,
        message,
    ))
}

/// The fields that a class itself has and that neither it nor a base calls immutable.
fn mutable_fields(rt: &RTyper<'_>, class: ObjId) -> Typed<Vec<Arc<str>>> {
    if is_immutable(rt, class)? {
        return Ok(Vec::new());
    }
    let mut declared = listed(rt, class)?;
    declared.extend(listed_above(rt, class)?);
    let mut fields = Vec::new();
    for (name, a) in rt.class_attributes(class).attrs.iter() {
        let unchanging = a.readonly || declared.iter().any(|d| d.name == *name);
        if !unchanging && !rt.getrepr(&a.value)?.lowleveltype().is_void() {
            fields.push(name.clone());
        }
    }
    Ok(fields)
}

/// Whether the class itself says `_immutable_ = True`.
fn is_immutable(rt: &RTyper<'_>, class: ObjId) -> Typed<bool> {
    match rt.own_class_attribute(class, "_immutable_")? {
        None | Some(Const::None) => Ok(false),
        Some(Const::Bool(true)) => Ok(true),
        Some(_) => conflict(format!(
            "class {}: _immutable_ is something else than True",
            rt.class_name(class)
        )),
    }
}

/// `_immutable_fields_` of the class itself.
fn listed(rt: &RTyper<'_>, class: ObjId) -> Typed<Vec<Declared>> {
    let declared = rt.own_class_attribute(class, "_immutable_fields_")?;
    names_in(rt, declared)
}

/// `_immutable_fields_` of all its base classes. Most have none, which is known without a look at each
/// of them: with deep hierarchies these looks would be the square of the classes.
fn listed_above(rt: &RTyper<'_>, class: ObjId) -> Typed<Vec<Declared>> {
    let mut all = Vec::new();
    let mut above = rt.class_base(class);
    while let Some(base) = above
        && rt.names_above(base).may_have("_immutable_fields_")
    {
        all.extend(listed(rt, base)?);
        above = rt.class_base(base);
    }
    Ok(all)
}

/// `_virtualizable_` of the class itself; none if it is `True`, which means all fields.
fn virtualizable(rt: &RTyper<'_>, class: ObjId) -> Typed<Option<Vec<Declared>>> {
    match rt.own_class_attribute(class, "_virtualizable_")? {
        Some(Const::Bool(true)) => Ok(None),
        declared => names_in(rt, declared).map(Some),
    }
}

/// The names in a list or tuple.
fn names_in(rt: &RTyper<'_>, declared: Option<Const>) -> Typed<Vec<Declared>> {
    let items = match declared {
        Some(Const::Tuple(items)) => items.to_vec(),
        Some(Const::Obj(o)) => match &*rt.object(o)? {
            ObjData::List(items) => items.clone(),
            _ => vec![],
        },
        _ => vec![],
    };
    Ok(items
        .iter()
        .filter_map(Const::as_str)
        .map(Declared::parse)
        .collect())
}
