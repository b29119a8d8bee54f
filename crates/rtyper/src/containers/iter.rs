//! Iterators (RPython: `AbstractListIteratorRepr`, `DictIteratorRepr`,
//! `EnumerateIteratorRepr`, ...).

use std::sync::Arc;

use taipan_annotator::SomeValue;
use taipan_language::Exc;
use taipan_lltype::{Field, LLOperand, LLType, SIGNED, StructBody, View};

use super::list::{ListKind, range_step};
use super::tuple::newtuple;
use super::{DictRepr, ListRepr, tuple_items};
use crate::hop::{cfield, csigned, ctype, cvoid};
use crate::{Description, Hop, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// What an iterator goes over.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum IterKind {
    /// The items of a list.
    List(Arc<ListRepr>),
    /// The items of a list, from the last one.
    ReversedList(Arc<ListRepr>),
    /// The characters of a string; unicode or not.
    Text(bool),
    /// The keys of a dict.
    Keys(Arc<DictRepr>),
    /// The values of a dict.
    Values(Arc<DictRepr>),
    /// The pairs of keys and values of a dict.
    Items(Arc<DictRepr>),
    /// The keys of a dict, from the last one.
    ReversedKeys(Arc<DictRepr>),
    /// Keys and their hashes.
    KeysWithHash(Arc<DictRepr>),
    /// Keys, values and the hashes of the keys.
    ItemsWithHash(Arc<DictRepr>),
    /// The items of a tuple of one Repr, copied to a list.
    Tuple(Arc<ListRepr>),
    /// Pairs of an index and what another iterator gives.
    Enumerate(Arc<IterRepr>),
}

/// Iterators of one kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IterRepr {
    /// What it goes over.
    pub kind: IterKind,
    /// The container type of the iterator.
    pub ty: LLType,
}

fn structure(name: &str, fields: &[(&str, LLType)]) -> LLType {
    LLType::gc_struct(
        name,
        StructBody {
            fields: fields
                .iter()
                .map(|(name, ty)| Field {
                    name: (*name).into(),
                    ty: *ty,
                })
                .collect(),
            ..StructBody::default()
        },
    )
}

fn list_iterator(l: &ListRepr) -> LLType {
    match l.kind {
        ListKind::Range(0) => structure(
            "rangeiter",
            &[("next", *SIGNED), ("stop", *SIGNED), ("step", *SIGNED)],
        ),
        ListKind::Range(_) => structure("rangeiter", &[("next", *SIGNED), ("stop", *SIGNED)]),
        _ => structure("listiter", &[("list", l.ty.ptr()), ("index", *SIGNED)]),
    }
}

impl IterRepr {
    fn new(kind: IterKind) -> IterRepr {
        let ty = match &kind {
            IterKind::List(l) | IterKind::ReversedList(l) | IterKind::Tuple(l) => list_iterator(l),
            IterKind::Text(unicode) => structure(
                "stringiter",
                &[
                    ("string", super::text::text(*unicode).lowleveltype()),
                    ("length", *SIGNED),
                    ("index", *SIGNED),
                ],
            ),
            IterKind::Keys(d)
            | IterKind::Values(d)
            | IterKind::Items(d)
            | IterKind::ReversedKeys(d)
            | IterKind::KeysWithHash(d)
            | IterKind::ItemsWithHash(d) => {
                structure("dictiter", &[("dict", d.ty.ptr()), ("index", *SIGNED)])
            }
            IterKind::Enumerate(inner) => structure(
                "enumerateiter",
                &[("iter", inner.ty.ptr()), ("count", *SIGNED)],
            ),
        };
        IterRepr { kind, ty }
    }

    /// The iterator over a container of that Repr.
    fn over(r: &Repr, variant: &str) -> Typed<IterRepr> {
        let kind = match (r, variant) {
            (Repr::List(l), "reversed") if !matches!(l.kind, ListKind::Range(_)) => {
                IterKind::ReversedList(l.clone())
            }
            (Repr::Dict(d), "reversed") => IterKind::ReversedKeys(d.clone()),
            (Repr::Iter(i), "") => return Ok((**i).clone()),
            (r, "enumerate") => IterKind::Enumerate(Arc::new(Self::over(r, "")?)),
            (Repr::List(l), "") => IterKind::List(l.clone()),
            (Repr::Str | Repr::Char, "") => IterKind::Text(false),
            (Repr::Unicode | Repr::UniChar, "") => IterKind::Text(true),
            (Repr::Dict(d), "" | "keys") => IterKind::Keys(d.clone()),
            (Repr::Dict(d), "values") => IterKind::Values(d.clone()),
            (Repr::Dict(d), "items") => IterKind::Items(d.clone()),
            (Repr::Dict(d), "keys_with_hash") => IterKind::KeysWithHash(d.clone()),
            (Repr::Dict(d), "items_with_hash") => IterKind::ItemsWithHash(d.clone()),
            (Repr::Tuple(t), "") => {
                // What is in an empty one makes no difference.
                let first = t.items.first().unwrap_or(&Repr::None);
                if t.items.iter().any(|r| r != first) {
                    return Err(TyperError::not_rpython(
                        "iteration over a tuple of items of different kinds",
                    )
                    .with_help(
                        "take its items one by one, or loop over a global `unrolling_iterable(..)`",
                    ));
                }
                IterKind::Tuple(Arc::new(super::list::fixed(first.clone())))
            }
            (r, "") => {
                return Err(TyperError::not_rpython(format_args!(
                    "iteration over {}",
                    r.methods().describe()
                )));
            }
            (r, v) => {
                return Err(TyperError::missing(
                    format_args!("`.iter{v}()`"),
                    r.methods().describe(),
                ));
            }
        };
        Ok(IterRepr::new(kind))
    }
}

/// The Repr of iterators over a container.
pub(crate) fn iterator_repr(rt: &RTyper<'_>, container: &SomeValue, variant: &str) -> Typed<Repr> {
    let r = rt.getrepr(container)?;
    Ok(Repr::Iter(Arc::new(IterRepr::over(&r, variant)?)))
}

/// A new iterator, of the Repr of the result, over argument 0.
pub(crate) fn newiter(hop: &Hop<'_>) -> RType {
    let Repr::Iter(it) = &hop.r_result else {
        return Err(TyperError::internal("iter() gives something else"));
    };
    hop.exception_cannot_occur()?;
    let r = hop.args_r[0].clone();
    let v = hop.inputarg(&r, 0)?;
    start(hop, it, &r, v).map(Some)
}

fn start(hop: &Hop<'_>, it: &IterRepr, r: &Repr, v: LLOperand) -> Typed<LLOperand> {
    let t = it.ty.ptr();
    let call = |helper: &str, args: Vec<LLOperand>| {
        let args = std::iter::once(ctype(it.ty)).chain(args);
        hop.llops.gendirectcall_to(helper, args, t)
    };
    if let Repr::Iter(_) = r {
        return Ok(v);
    }
    if let Repr::Tuple(t) = r
        && t.items.len() != 1
    {
        return Err(TyperError::not_rpython(format_args!(
            "iteration over a tuple of {} items",
            t.items.len()
        ))
        .with_help("write a list instead of the tuple"));
    }
    Ok(match &it.kind {
        IterKind::List(l) => match l.kind {
            ListKind::Range(n) => {
                let step = range_step(hop.llops, n, &v);
                let iter = call("rrange.ll_rangeiter", vec![v, step.clone()]);
                if n == 0 {
                    hop.genop_void(View::Setfield {
                        object: &iter,
                        field: &cfield("step"),
                        value: &step,
                    });
                }
                iter
            }
            _ => call("rlist.ll_listiter", vec![v]),
        },
        IterKind::ReversedList(_) => call("rlist.ll_revlistiter", vec![v]),
        IterKind::Text(unicode) => {
            let v = hop.llops.convertvar(v, r, &super::text::text(*unicode))?;
            call("rstr.ll_striter", vec![v])
        }
        IterKind::Keys(_)
        | IterKind::Values(_)
        | IterKind::Items(_)
        | IterKind::KeysWithHash(_)
        | IterKind::ItemsWithHash(_) => call("rdict.ll_dictiter", vec![v]),
        IterKind::ReversedKeys(_) => call("rdict.ll_revdictiter", vec![v]),
        IterKind::Tuple(l) => {
            let mut items = Vec::new();
            for i in 0..tuple_items(r)?.len() {
                items.push(super::tuple_getitem(hop.llops, r, v.clone(), i)?.0);
            }
            let list = l.newlist(hop.llops, items);
            call("rlist.ll_listiter", vec![list])
        }
        IterKind::Enumerate(inner) => {
            let inner = start(hop, inner, r, v)?;
            let first = match hop.nb_args() {
                1 => csigned(0),
                _ => hop.inputarg(&Repr::signed(), 1)?,
            };
            call("rlist.ll_enumerate", vec![inner, first])
        }
    })
}

impl ReprMethods for IterRepr {
    fn lowleveltype(&self) -> LLType {
        self.ty.ptr()
    }

    fn describe(&self) -> Description {
        Description::an("iterator")
    }

    fn rtype_iter(&self, hop: &Hop<'_>) -> RType {
        hop.exception_cannot_occur()?;
        hop.inputarg(&hop.r_result, 0).map(Some)
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        match name {
            "next" => self.rtype_next(hop),
            _ => Err(TyperError::missing(
                format_args!("`.{name}()`"),
                self.describe(),
            )),
        }
    }

    fn rtype_next(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Iter(Arc::new(self.clone())), 0)?;
        hop.has_implicit_exception(Exc::StopIteration)?;
        if self.over_dict() {
            hop.has_implicit_exception(Exc::RuntimeError)?;
        }
        let chain = self.chain(hop, v);
        hop.exception_is_here()?;
        self.next(hop, &chain, &hop.r_result).map(Some)
    }
}

impl IterRepr {
    /// Whether a dict is behind it: to RPython, looking for the next item may then raise
    /// RuntimeError, too.
    fn over_dict(&self) -> bool {
        match &self.kind {
            IterKind::Enumerate(inner) => inner.over_dict(),
            IterKind::List(_)
            | IterKind::Tuple(_)
            | IterKind::ReversedList(_)
            | IterKind::Text(_) => false,
            _ => true,
        }
    }

    /// The iterator and those inside it; behind one over a range, the step.
    fn chain(&self, hop: &Hop<'_>, v: LLOperand) -> Vec<LLOperand> {
        let mut chain = vec![v.clone()];
        match &self.kind {
            IterKind::Enumerate(inner) => {
                let v = hop.genop(
                    View::Getfield {
                        object: &v,
                        field: &cfield("iter"),
                    },
                    inner.ty.ptr(),
                );
                chain.extend(inner.chain(hop, v));
            }
            IterKind::List(l) => {
                if let ListKind::Range(step) = l.kind {
                    chain.push(range_step(hop.llops, step, &v));
                }
            }
            _ => {}
        }
        chain
    }

    /// The next item, in the form of that Repr. The first call that it makes is the
    /// one that may raise StopIteration.
    fn next(&self, hop: &Hop<'_>, chain: &[LLOperand], result: &Repr) -> Typed<LLOperand> {
        let llops = hop.llops;
        let Some((v, rest)) = chain.split_first() else {
            return Err(TyperError::internal("an iterator without itself"));
        };
        let v = v.clone();
        match &self.kind {
            IterKind::List(l) | IterKind::Tuple(l) => {
                let item = match rest {
                    [step] => {
                        let args = [v, step.clone()];
                        llops.gendirectcall_to("rrange.ll_rangenext", args, *SIGNED)
                    }
                    _ => llops.gendirectcall_to("rlist.ll_listnext", [v], l.item_type()),
                };
                llops.convertvar(item, &l.item, result)
            }
            IterKind::ReversedList(l) => {
                let item = llops.gendirectcall_to("rlist.ll_revlistnext", [v], l.item_type());
                llops.convertvar(item, &l.item, result)
            }
            IterKind::Text(unicode) => {
                let r = if *unicode { Repr::UniChar } else { Repr::Char };
                let item = llops.gendirectcall_to("rstr.ll_strnext", [v], r.lowleveltype());
                llops.convertvar(item, &r, result)
            }
            IterKind::Keys(d) => {
                let n = dict_next(hop, &v);
                let key = dict_key(hop, d, v, n);
                llops.convertvar(key, &d.key, result)
            }
            IterKind::ReversedKeys(d) => {
                let n = llops.gendirectcall_to("rdict.ll_revdictnext", [v.clone()], *SIGNED);
                let key = dict_key(hop, d, v, n);
                llops.convertvar(key, &d.key, result)
            }
            IterKind::Values(d) => {
                let n = dict_next(hop, &v);
                let value = dict_value(hop, d, v, n);
                llops.convertvar(value, &d.value, result)
            }
            IterKind::Items(d) => {
                let n = dict_next(hop, &v);
                let key = dict_key(hop, d, v.clone(), n.clone());
                let value = dict_value(hop, d, v, n);
                make_tuple(hop, result, [(key, &d.key), (value, &d.value)])
            }
            IterKind::KeysWithHash(d) => {
                let n = dict_next(hop, &v);
                let hash = dict_hash(hop, d, v.clone(), n.clone())?;
                let key = dict_key(hop, d, v, n);
                make_tuple(hop, result, [(key, &d.key), (hash, &Repr::signed())])
            }
            IterKind::ItemsWithHash(d) => {
                let n = dict_next(hop, &v);
                let hash = dict_hash(hop, d, v.clone(), n.clone())?;
                let key = dict_key(hop, d, v.clone(), n.clone());
                let value = dict_value(hop, d, v, n);
                let items = [(key, &d.key), (value, &d.value), (hash, &Repr::signed())];
                make_tuple(hop, result, items)
            }
            IterKind::Enumerate(inner) => {
                let r_item = match result {
                    Repr::Impossible => Repr::Impossible,
                    _ => tuple_items(result)?[1].clone(),
                };
                let item = inner.next(hop, rest, &r_item)?;
                let count = llops.gendirectcall_to("rlist.ll_count_up", [v], *SIGNED);
                make_tuple(hop, result, [(count, &Repr::signed()), (item, &r_item)])
            }
        }
    }
}

/// A tuple of values in the form of these Reprs; nothing where none ever comes, from
/// a container that stays empty.
fn make_tuple<'r>(
    hop: &Hop<'_>,
    result: &Repr,
    items: impl IntoIterator<Item = (LLOperand, &'r Repr)>,
) -> Typed<LLOperand> {
    if *result == Repr::Impossible {
        return Ok(cvoid());
    }
    let mut values = Vec::new();
    for ((v, from), to) in items.into_iter().zip(tuple_items(result)?) {
        values.push(hop.llops.convertvar(v, from, &to)?);
    }
    newtuple(hop.llops, result, values)
}

fn dict_next(hop: &Hop<'_>, v: &LLOperand) -> LLOperand {
    hop.llops
        .gendirectcall_to("rdict.ll_dictnext", [v.clone()], *SIGNED)
}

fn dict_key(hop: &Hop<'_>, d: &DictRepr, v: LLOperand, n: LLOperand) -> LLOperand {
    let t = d.key.lowleveltype();
    hop.llops
        .gendirectcall_to("rdict.ll_dictiter_key", [v, n], t)
}

fn dict_value(hop: &Hop<'_>, d: &DictRepr, v: LLOperand, n: LLOperand) -> LLOperand {
    let t = d.value.lowleveltype();
    hop.llops
        .gendirectcall_to("rdict.ll_dictiter_value", [v, n], t)
}

fn dict_hash(hop: &Hop<'_>, d: &DictRepr, v: LLOperand, n: LLOperand) -> Typed<LLOperand> {
    let args = [v, n, d.hash_function(hop.rt)?];
    Ok(hop
        .llops
        .gendirectcall_to("rdict.ll_dictiter_hash", args, *SIGNED))
}
