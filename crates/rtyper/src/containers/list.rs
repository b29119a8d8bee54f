//! Lists and ranges (RPython: `rlist.py`, `lltypesystem/rlist.py`, `rrange.py`).
//!
//! ```text
//! fixed:     GcArray of items            range: start, stop[, step]
//! resizable: length, items: *GcArray
//! ```

use std::sync::Arc;

use taipan_annotator::{ListDef, Site, SiteId};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, ObjId, Operand};
use taipan_language::{Exc, ListMethod};
use taipan_lltype::{
    BOOL, Field, FuncSym, HelperArg, LLConst, LLOperand, LLType, NumFamily, NumOp, SIGNED,
    StructBody, UNSIGNED, VOID, View, VoidConst,
};

use super::eq_operand;
use super::recursive::{self, Container, RecursiveRepr};
use crate::hop::{SliceKind, cfield, cflavor_gc, csigned, ctype};
use crate::reprs::is_nonneg;
use crate::{
    Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError, helper_sym,
};

/// How a list is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListKind {
    /// Of fixed length.
    Fixed,
    /// Changes its length.
    Resizable,
    /// A range with this step, 0 for a variable one.
    Range(i64),
}

/// Lists of one layout and item Repr.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ListRepr {
    /// The layout.
    pub kind: ListKind,
    /// Repr of the items.
    pub item: Repr,
    /// The container type.
    pub ty: LLType,
}

/// The Repr of the lists of a creation site.
pub(crate) fn list_repr(rt: &RTyper<'_>, site: SiteId) -> Typed<Repr> {
    if rt.is_inside(site) {
        return Ok(Repr::Recursive(RecursiveRepr { site, dict: false }));
    }
    let _guard = rt.enter(
        ObjId(site.0),
        "a list contains itself: its type is not finite",
    )?;
    let def = taipan_annotator::list_def(rt.db, Site::new(rt.db, rt.roots()?, site));
    let cycle = recursive::cycle(rt, &Container::List(def.clone()))?;
    let repr = rt.inside(cycle, || of_def(rt, &def))?;
    Ok(Repr::List(Arc::new(repr)))
}

fn of_def(rt: &RTyper<'_>, def: &ListDef) -> Typed<ListRepr> {
    if !def.mutated
        && let Some(step) = def.range_step
        && !def.resized
    {
        return Ok(range(step));
    }
    let item = rt.getrepr(&def.item)?;
    Ok(if def.resized {
        resizable(item)
    } else {
        fixed(item)
    })
}

/// Lists of fixed length.
pub(super) fn fixed(item: Repr) -> ListRepr {
    ListRepr {
        kind: ListKind::Fixed,
        ty: LLType::gc_array(item.lowleveltype()),
        item,
    }
}

fn resizable(item: Repr) -> ListRepr {
    ListRepr {
        kind: ListKind::Resizable,
        ty: LLType::gc_list(item.lowleveltype()),
        item,
    }
}

fn range(step: i64) -> ListRepr {
    let names: &[&str] = if step == 0 {
        &["start", "stop", "step"]
    } else {
        &["start", "stop"]
    };
    ListRepr {
        kind: ListKind::Range(step),
        ty: LLType::gc_struct(
            "range",
            StructBody {
                fields: names
                    .iter()
                    .map(|n| Field {
                        name: (*n).into(),
                        ty: *SIGNED,
                    })
                    .collect(),
                adtmeths: None,
                immutable: names.iter().map(|n| (*n).into()).collect(),
                ..StructBody::default()
            },
        ),
        item: Repr::signed(),
    }
}

/// The step of a range, or of an iterator over one: a constant, or read from it.
pub(super) fn range_step(llops: &LLOps<'_>, step: i64, v: &LLOperand) -> LLOperand {
    match step {
        0 => llops.genop(
            View::Getfield {
                object: v,
                field: &cfield("step"),
            },
            *SIGNED,
        ),
        step => csigned(step),
    }
}

/// A truth value as a Void operand: whether an index is checked.
fn ccheck(check: bool) -> LLOperand {
    Operand::Const(LLConst::Void(VoidConst::Hl(Const::Bool(check))))
}

impl ListRepr {
    fn repr(&self) -> Repr {
        Repr::List(Arc::new(self.clone()))
    }

    /// Type of the items.
    pub(super) fn item_type(&self) -> LLType {
        self.item.lowleveltype()
    }

    /// `len(l)`
    pub(super) fn length(&self, llops: &LLOps<'_>, v: LLOperand) -> LLOperand {
        match self.kind {
            ListKind::Range(step) => {
                let step = range_step(llops, step, &v);
                llops.gendirectcall_to("rrange.ll_range_length", [v, step], *SIGNED)
            }
            _ => llops.gendirectcall_to("rlist.ll_length", [v], *SIGNED),
        }
    }

    /// The array of items, which may have more room than the length says.
    pub(super) fn items(&self, llops: &LLOps<'_>, v: LLOperand) -> LLOperand {
        match self.kind {
            ListKind::Resizable => {
                let t = LLType::gc_array(self.item_type()).ptr();
                llops.genop(
                    View::Getfield {
                        object: &v,
                        field: &cfield("items"),
                    },
                    t,
                )
            }
            _ => v,
        }
    }

    /// A list of these items, which are in the form of the item Repr.
    pub(super) fn newlist(&self, llops: &LLOps<'_>, items: Vec<LLOperand>) -> LLOperand {
        let n = csigned(items.len() as i64);
        let (list, array) = match self.kind {
            ListKind::Fixed => {
                let malloc = View::MallocVarsize {
                    ty: &ctype(self.ty),
                    flavor: &cflavor_gc(),
                    length: &n,
                };
                let v = llops.genop(malloc, self.ty.ptr());
                (v.clone(), v)
            }
            _ => {
                if items.is_empty() {
                    let args = [ctype(self.ty)];
                    return llops.gendirectcall_to("rlist.ll_newemptylist", args, self.ty.ptr());
                }
                let args = [ctype(self.ty), n];
                let v = llops.gendirectcall_to("rlist.ll_newlist", args, self.ty.ptr());
                let array = self.items(llops, v.clone());
                (v, array)
            }
        };
        for (i, item) in items.into_iter().enumerate() {
            llops.genop_void(View::Setarrayitem {
                array: &array,
                index: &csigned(i as i64),
                value: &item,
            });
        }
        list
    }

    fn require_list(&self, what: &str) -> Typed<()> {
        match self.kind {
            ListKind::Range(_) => Err(TyperError::missing(what, "a range")
                .with_help("make a list of it: `[i for i in items]`")),
            _ => Ok(()),
        }
    }

    fn require_resizable(&self, what: &str) -> Typed<()> {
        match self.kind {
            ListKind::Resizable => Ok(()),
            _ => Err(TyperError::with_code(
                ErrorCode::FixedListOperation,
                format!("{what} of a list of fixed length is not RPython"),
            )
            .with_help("make a copy first: `items[:]` can grow and shrink")),
        }
    }
}

impl ReprMethods for ListRepr {
    fn lowleveltype(&self) -> LLType {
        self.ty.ptr()
    }

    fn describe(&self) -> Description {
        Description::a(match self.kind {
            ListKind::Range(_) => "range",
            _ => "list",
        })
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        super::statics::prebuilt(rt, c, self.ty)
    }

    fn get_ll_eq_function(&self, rt: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        self.require_list("`==`")?;
        let t = HelperArg::Type(self.lowleveltype());
        let eq = match self.item.methods().get_ll_eq_function(rt)? {
            Some(f) => VoidConst::Func(f),
            None => VoidConst::None,
        };
        let args = vec![t.clone(), t, HelperArg::Const(eq)];
        Ok(Some(helper_sym("rlist.ll_listeq", args, *BOOL)))
    }

    fn get_ll_hash_function(&self, _: &RTyper<'_>) -> Typed<FuncSym> {
        Err(TyperError::with_code(
            ErrorCode::ListAsKey,
            "a list cannot be the key of a dict: it has no hash",
        )
        .with_help(
            "use a tuple, or an `r_dict` of rpython.rlib.objectmodel with functions that compare and hash",
        ))
    }

    fn rtype_len(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        Ok(Some(self.length(hop.llops, v)))
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&self.repr(), 0)?;
        let v = match self.kind {
            ListKind::Range(step) => {
                let step = range_step(hop.llops, step, &v);
                hop.llops
                    .gendirectcall_to("rrange.ll_range_is_true", [v, step], *BOOL)
            }
            _ => hop
                .llops
                .gendirectcall_to("rlist.ll_list_is_true", [v], *BOOL),
        };
        Ok(Some(v))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        self.require_list("`str()`")?;
        if self.item == Repr::Impossible {
            return hop.inputconst(&Repr::Str, &Const::str("[]")).map(Some);
        }
        let v = hop.inputarg(&self.repr(), 0)?;
        let item = super::fn_operand(super::str_function(&self.item)?);
        let t = taipan_lltype::STR.ptr();
        Ok(Some(hop.llops.gendirectcall_to(
            "rlist.ll_list_str",
            [v, item],
            t,
        )))
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        use ListMethod::*;
        let missing = || TyperError::missing(format_args!("`.{name}()`"), self.describe());
        let method = ListMethod::named(name).ok_or_else(missing)?;
        self.require_list(&format!("`.{name}()`"))?;
        match method {
            Append | Insert | Pop | Remove | Extend => {
                self.require_resizable(&format!("`.{name}()`"))?
            }
            Index | Count | Reverse | Sort => {}
        }
        match method {
            Append => self.append(hop),
            Insert => self.insert(hop),
            Extend => self.extend(hop),
            Pop => self.pop(hop),
            Remove | Index | Count => self.find(method, hop),
            Reverse => {
                let v = hop.inputarg(&self.repr(), 0)?;
                hop.exception_cannot_occur()?;
                Ok(Some(hop.llops.gendirectcall_to(
                    "rlist.ll_reverse",
                    [v],
                    *VOID,
                )))
            }
            Sort => Err(missing()),
        }
    }

    fn rtype_getslice(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        if let ListKind::Range(_) = self.kind {
            return Err(TyperError::missing("slicing", "a range")
                .with_help("make a list of it: `[i for i in items]`"));
        }
        let (kind, bounds) = hop.decompose_slice_args()?;
        let helper = match kind {
            SliceKind::MinusOne => "rlist.ll_listslice_minusone",
            SliceKind::StartOnly => "rlist.ll_listslice_startonly",
            SliceKind::StartStop => "rlist.ll_listslice_startstop",
        };
        let result = super::list_of(&hop.r_result)?.ty;
        let args = [ctype(result), v].into_iter().chain(bounds);
        Ok(Some(hop.llops.gendirectcall_to(helper, args, result.ptr())))
    }

    fn rtype_setslice(&self, hop: &Hop<'_>) -> RType {
        self.require_resizable("assigning to a slice")?;
        let v = hop.inputarg(&self.repr(), 0)?;
        let (kind, mut bounds) = hop.decompose_slice_args()?;
        match kind {
            SliceKind::StartStop => {}
            SliceKind::StartOnly => bounds.push(self.length(hop.llops, v.clone())),
            SliceKind::MinusOne => {
                return Err(TyperError::not_rpython("assigning to `[:-1]` of a list")
                    .with_help("store `len(items) - 1` in a variable, put an `assert x >= 0` in front, and assign to `[:x]`"));
            }
        }
        let r_source = hop.args_r[3].clone();
        super::list_of(&r_source)?.require_list("assigning to a slice")?;
        let source = hop.inputarg(&r_source, 3)?;
        let args = std::iter::once(v)
            .chain(bounds)
            .chain(std::iter::once(source));
        hop.exception_is_here()?;
        let v = hop
            .llops
            .gendirectcall_to("rlist.ll_listsetslice", args, *VOID);
        Ok(Some(v))
    }

    fn rtype_delslice(&self, hop: &Hop<'_>) -> RType {
        self.require_resizable("deleting a slice")?;
        let v = hop.inputarg(&self.repr(), 0)?;
        let (kind, bounds) = hop.decompose_slice_args()?;
        let helper = match kind {
            SliceKind::MinusOne => "rlist.ll_listdelslice_minusone",
            SliceKind::StartOnly => "rlist.ll_listdelslice_startonly",
            SliceKind::StartStop => "rlist.ll_listdelslice_startstop",
        };
        let args = std::iter::once(v).chain(bounds);
        Ok(Some(hop.llops.gendirectcall_to(helper, args, *VOID)))
    }

    fn rtype_bltn_list(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        let result = super::list_of(&hop.r_result)?.ty;
        hop.exception_cannot_occur()?;
        let v = match self.kind {
            ListKind::Range(step) => {
                let step = range_step(hop.llops, step, &v);
                let args = [ctype(result), v, step];
                hop.llops
                    .gendirectcall_to("rrange.ll_copy_range", args, result.ptr())
            }
            _ => hop
                .llops
                .gendirectcall_to("rlist.ll_copy", [ctype(result), v], result.ptr()),
        };
        Ok(Some(v))
    }

    fn rtype_iter(&self, hop: &Hop<'_>) -> RType {
        super::iter::newiter(hop)
    }

    fn rtype_hint(&self, hop: &Hop<'_>) -> RType {
        super::builtin::list_hint(self, hop)
    }
}

// ---- methods ----

impl ListRepr {
    fn append(&self, hop: &Hop<'_>) -> RType {
        let args = hop.inputargs([&self.repr(), &self.item])?;
        hop.exception_cannot_occur()?;
        let v = hop.llops.gendirectcall_to("rlist.ll_append", args, *VOID);
        Ok(Some(v))
    }

    fn insert(&self, hop: &Hop<'_>) -> RType {
        let args = hop.inputargs([&self.repr(), &Repr::signed(), &self.item])?;
        hop.exception_cannot_occur()?;
        if hop.const_arg(1) == Some(&Const::Int(0)) {
            let [l, _, item] = args;
            let v = hop
                .llops
                .gendirectcall_to("rlist.ll_prepend", [l, item], *VOID);
            return Ok(Some(v));
        }
        if !is_nonneg(&hop.args_s[1]) {
            return Err(TyperError::with_code(
                ErrorCode::NegativeInsert,
                "the index of `.insert()` may be negative",
            )
            .with_help("store it in a variable and put an `assert x >= 0` in front"));
        }
        let v = hop
            .llops
            .gendirectcall_to("rlist.ll_insert_nonneg", args, *VOID);
        Ok(Some(v))
    }

    fn extend(&self, hop: &Hop<'_>) -> RType {
        self.extend_by(hop)?;
        Ok(Some(crate::hop::cvoid()))
    }

    /// Appends the items of argument 1; answers the list.
    fn extend_by(&self, hop: &Hop<'_>) -> Typed<LLOperand> {
        let v = hop.inputarg(&self.repr(), 0)?;
        let r_other = hop.args_r[1].clone();
        match &r_other {
            Repr::List(other) if other.item == self.item && !is_range(other) => {
                let w = hop.inputarg(&r_other, 1)?;
                hop.llops
                    .gendirectcall_to("rlist.ll_extend", [v.clone(), w], *VOID);
            }
            r if super::text::unicode_of(r).is_some() => {
                let unicode = self.item == Repr::UniChar;
                if !unicode && self.item != Repr::Char {
                    return Err(TyperError::missing(
                        "`+=`",
                        format_args!("{} and {}", self.describe(), r.methods().describe()),
                    )
                    .with_help(
                        "`+=` adds each character: add a string as one item by `append()`",
                    ));
                }
                let s = hop.inputarg(&super::text::text(unicode), 1)?;
                let args = [v.clone(), s, csigned(0), csigned(i64::MAX)];
                hop.llops
                    .gendirectcall_to("rlist.ll_extend_with_str", args, *VOID);
            }
            _ => {
                let to = fixed(self.item.clone());
                let w = hop.inputarg(&Repr::List(Arc::new(to)), 1)?;
                hop.llops
                    .gendirectcall_to("rlist.ll_extend", [v.clone(), w], *VOID);
            }
        }
        Ok(v)
    }

    fn pop(&self, hop: &Hop<'_>) -> RType {
        let check = hop.has_implicit_exception(Exc::IndexError)?;
        let v = hop.inputarg(&self.repr(), 0)?;
        let index = match hop.nb_args() {
            2 => Some(hop.inputarg(&Repr::signed(), 1)?),
            _ => None,
        };
        hop.exception_is_here()?;
        let t = self.item_type();
        let c = ccheck(check);
        let v = match (index, hop.const_arg(1)) {
            (None, _) | (_, Some(Const::Int(-1))) => {
                hop.llops
                    .gendirectcall_to("rlist.ll_pop_default", [c, v], t)
            }
            (Some(_), Some(Const::Int(0))) => {
                hop.llops.gendirectcall_to("rlist.ll_pop_zero", [c, v], t)
            }
            (Some(i), _) => {
                let helper = if is_nonneg(&hop.args_s[1]) {
                    "rlist.ll_pop_nonneg"
                } else {
                    "rlist.ll_pop"
                };
                hop.llops.gendirectcall_to(helper, [c, v, i], t)
            }
        };
        hop.convert_result(v, &self.item).map(Some)
    }

    /// `remove`, `index`, `count`
    fn find(&self, method: ListMethod, hop: &Hop<'_>) -> RType {
        let [l, item] = hop.inputargs([&self.repr(), &self.item])?;
        let eq = eq_operand(hop.rt, &self.item)?;
        hop.raises_implicitly(method.raises())?;
        let result = match method {
            ListMethod::Remove => *VOID,
            _ => *SIGNED,
        };
        let helper = format!("rlist.ll_list{}", method.name());
        Ok(Some(hop.llops.gendirectcall_to(
            &helper,
            [l, item, eq],
            result,
        )))
    }
}

fn is_range(l: &ListRepr) -> bool {
    matches!(l.kind, ListKind::Range(_))
}

// ---- binary operations ----

/// Operations with a list on the left.
pub(super) fn list_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let Repr::List(l) = r1 else { return None };
    Some(match (hop.op, r2) {
        (HlOp::GetItem, Repr::Int(_) | Repr::Bool) => getitem(hop, l),
        (HlOp::SetItem, Repr::Int(_) | Repr::Bool) => setitem(hop, l),
        (HlOp::DelItem, Repr::Int(_) | Repr::Bool) => delitem(hop, l),
        (HlOp::Contains, _) => contains(hop, l),
        (HlOp::Add, Repr::List(_)) => concat(hop, r2),
        (HlOp::InplaceAdd, _) => inplace_add(hop, l),
        (HlOp::Mul, Repr::Int(_) | Repr::Bool) => repeat(hop, r1, 0),
        (HlOp::InplaceMul, Repr::Int(_) | Repr::Bool) => inplace_mul(hop, l),
        (HlOp::Eq | HlOp::Ne, Repr::List(_)) => compare(hop, r1, r2),
        (HlOp::Is, Repr::List(other)) if l.ty != other.ty => match hop.result_const() {
            Some(c) => c.map(Some),
            // Lists of different layouts are different lists, or both None.
            None => Ok(Some(crate::hop::cbool(false))),
        },
        _ => return None,
    })
}

/// `n * l`
pub(super) fn int_list_pair(hop: &Hop<'_>, _: &Repr, r2: &Repr) -> Option<RType> {
    match (r2, hop.op) {
        (Repr::List(_), HlOp::Mul) => Some(repeat(hop, r2, 1)),
        _ => None,
    }
}

/// In checked builds: that an index is one of a sequence of that length, where nobody catches
/// an IndexError.
pub(super) fn assert_index(hop: &Hop<'_>, index: &LLOperand, length: LLOperand) {
    let sum = |left: &LLOperand, right: &LLOperand| {
        let sum = View::Binary {
            family: NumFamily::Int,
            op: NumOp::Add,
            left,
            right,
        };
        hop.genop(sum, *SIGNED)
    };
    let (mut index, mut length) = (index.clone(), length);
    if !is_nonneg(&hop.args_s[1]) {
        // From -length to length.
        index = sum(&index, &length);
        length = sum(&length, &length);
    }
    assert_inside(hop, index, length);
}

/// The same of an index that counts from the start only.
pub(crate) fn assert_inside(hop: &Hop<'_>, index: LLOperand, length: LLOperand) {
    let unsigned = |v| hop.genop(View::CastIntToUint { value: &v }, *UNSIGNED);
    let inside = View::Binary {
        family: NumFamily::Uint,
        op: NumOp::Lt,
        left: &unsigned(index),
        right: &unsigned(length),
    };
    let inside = hop.genop(inside, *BOOL);
    let what = VoidConst::Hl(Const::Str(b"index out of range".as_slice().into()));
    let what = Operand::Const(LLConst::Void(what));
    hop.llops.genop_void(View::DebugAssert {
        condition: &inside,
        message: Some(&what),
    });
}

/// The list, the index and what else stands before the helper's further arguments.
fn indexed(hop: &Hop<'_>, l: &ListRepr, check: bool) -> Typed<Vec<LLOperand>> {
    let v = hop.inputarg(&l.repr(), 0)?;
    let i = hop.inputarg(&Repr::signed(), 1)?;
    if !check && hop.rt.is_checked() {
        let length = l.length(hop.llops, v.clone());
        assert_index(hop, &i, length);
    }
    Ok(match l.kind {
        ListKind::Range(step) => {
            let step = range_step(hop.llops, step, &v);
            vec![ccheck(check), v, step, i]
        }
        _ => vec![ccheck(check), v, i],
    })
}

fn suffix(hop: &Hop<'_>) -> &'static str {
    if is_nonneg(&hop.args_s[1]) {
        "_nonneg"
    } else {
        ""
    }
}

fn getitem(hop: &Hop<'_>, l: &ListRepr) -> RType {
    let check = hop.has_implicit_exception(Exc::IndexError)?;
    let args = indexed(hop, l, check)?;
    hop.exception_is_here()?;
    let base = if is_range(l) {
        "rrange.ll_range_getitem"
    } else {
        "rlist.ll_getitem"
    };
    let helper = format!("{base}{}", suffix(hop));
    let v = hop.llops.gendirectcall_to(&helper, args, l.item_type());
    hop.convert_result(v, &l.item).map(Some)
}

fn setitem(hop: &Hop<'_>, l: &ListRepr) -> RType {
    l.require_list("assigning to an item")?;
    let check = hop.has_implicit_exception(Exc::IndexError)?;
    let mut args = indexed(hop, l, check)?;
    args.push(hop.inputarg(&l.item, 2)?);
    hop.exception_is_here()?;
    let helper = format!("rlist.ll_setitem{}", suffix(hop));
    Ok(Some(hop.llops.gendirectcall_to(&helper, args, *VOID)))
}

fn delitem(hop: &Hop<'_>, l: &ListRepr) -> RType {
    l.require_resizable("deleting an item")?;
    let check = hop.has_implicit_exception(Exc::IndexError)?;
    let args = indexed(hop, l, check)?;
    hop.exception_is_here()?;
    let helper = format!("rlist.ll_delitem{}", suffix(hop));
    Ok(Some(hop.llops.gendirectcall_to(&helper, args, *VOID)))
}

fn contains(hop: &Hop<'_>, l: &ListRepr) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let [v, item] = hop.inputargs([&l.repr(), &l.item])?;
    hop.exception_cannot_occur()?;
    let v = match l.kind {
        ListKind::Range(step) => {
            let step = range_step(hop.llops, step, &v);
            let args = [v, step, item];
            hop.llops
                .gendirectcall_to("rrange.ll_range_contains", args, *BOOL)
        }
        _ => {
            let eq = eq_operand(hop.rt, &l.item)?;
            hop.llops
                .gendirectcall_to("rlist.ll_listcontains", [v, item, eq], *BOOL)
        }
    };
    Ok(Some(v))
}

fn concat(hop: &Hop<'_>, r2: &Repr) -> RType {
    let result = super::list_of(&hop.r_result)?;
    let operand = |i: usize, r: &Repr| -> Typed<LLOperand> {
        match r {
            Repr::List(l) if !is_range(l) && l.item == result.item => hop.inputarg(r, i),
            _ => hop.inputarg(&Repr::List(Arc::new(fixed(result.item.clone()))), i),
        }
    };
    let v1 = operand(0, &hop.args_r[0])?;
    let v2 = operand(1, r2)?;
    let args = [ctype(result.ty), v1, v2];
    Ok(Some(hop.llops.gendirectcall_to(
        "rlist.ll_concat",
        args,
        result.ty.ptr(),
    )))
}

fn inplace_add(hop: &Hop<'_>, l: &ListRepr) -> RType {
    l.require_resizable("`+=`")?;
    l.extend_by(hop).map(Some)
}

fn repeat(hop: &Hop<'_>, r: &Repr, which: usize) -> RType {
    let result = super::list_of(&hop.r_result)?.ty;
    super::list_of(r)?.require_list("`*`")?;
    let v = hop.inputarg(r, which)?;
    let factor = hop.inputarg(&Repr::signed(), 1 - which)?;
    let args = [ctype(result), v, factor];
    Ok(Some(hop.llops.gendirectcall_to(
        "rlist.ll_mul",
        args,
        result.ptr(),
    )))
}

fn inplace_mul(hop: &Hop<'_>, l: &ListRepr) -> RType {
    l.require_resizable("`*=`")?;
    let args = hop.inputargs([&l.repr(), &Repr::signed()])?;
    Ok(Some(hop.llops.gendirectcall_to(
        "rlist.ll_inplace_mul",
        args,
        l.ty.ptr(),
    )))
}

fn compare(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> RType {
    let (Repr::List(l1), Repr::List(l2)) = (r1, r2) else {
        return Err(TyperError::internal("not lists"));
    };
    let as_list = |l: &ListRepr| {
        if is_range(l) {
            Repr::List(Arc::new(fixed(l.item.clone())))
        } else {
            l.repr()
        }
    };
    let (a, b) = (as_list(l1), as_list(l2));
    let item = if l1.item == l2.item || l2.item == Repr::Impossible {
        &l1.item
    } else {
        &l2.item
    };
    let [v1, v2] = hop.inputargs([&a, &b])?;
    let eq = eq_operand(hop.rt, item)?;
    hop.exception_cannot_occur()?;
    let v = hop
        .llops
        .gendirectcall_to("rlist.ll_listeq", [v1, v2, eq], *BOOL);
    Ok(Some(super::maybe_negated(hop, v)))
}

// ---- creation and conversion ----

/// `[a, b, ...]`
pub(crate) fn rtype_newlist(hop: &Hop<'_>) -> RType {
    let list = super::list_of(&hop.r_result)?;
    list.require_list("a list display")?;
    let mut items = Vec::with_capacity(hop.nb_args());
    for i in 0..hop.nb_args() {
        items.push(hop.inputarg(&list.item, i)?);
    }
    Ok(Some(list.newlist(hop.llops, items)))
}

/// `range(...)`, `xrange(...)`
pub(crate) fn rtype_range(hop: &Hop<'_>) -> RType {
    let signed = Repr::signed();
    let (start, stop, step) = match hop.nb_args() {
        1 => (csigned(0), hop.inputarg(&signed, 0)?, csigned(1)),
        2 => {
            let [a, b] = hop.inputargs([&signed, &signed])?;
            (a, b, csigned(1))
        }
        3 => {
            let [a, b, c] = hop.inputargs([&signed, &signed, &signed])?;
            (a, b, c)
        }
        n => return Err(TyperError::new(format!("range() with {n} arguments"))),
    };
    let variable = hop.nb_args() == 3 && hop.const_arg(2).is_none();
    if hop.const_arg(2) == Some(&Const::Int(0)) {
        return Err(TyperError::new("range() with step zero"));
    }
    if variable {
        hop.has_implicit_exception(Exc::ValueError)?;
        hop.exception_is_here()?;
    } else {
        hop.exception_cannot_occur()?;
    }
    let list = super::list_of(&hop.r_result)?;
    let t = list.ty;
    let v = match list.kind {
        ListKind::Range(0) => {
            let args = [ctype(t), start, stop, step];
            hop.llops
                .gendirectcall_to("rrange.ll_newrangest", args, t.ptr())
        }
        ListKind::Range(_) => {
            let args = [ctype(t), start, stop];
            hop.llops
                .gendirectcall_to("rrange.ll_newrange", args, t.ptr())
        }
        _ => {
            let args = [ctype(t), start, stop, step];
            hop.llops
                .gendirectcall_to("rrange.ll_range2list", args, t.ptr())
        }
    };
    Ok(Some(v))
}

/// Ranges to lists, and among lists of one layout whose items differ only by class.
pub(super) fn list_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    let (Repr::List(a), Repr::List(b)) = (from, to) else {
        return None;
    };
    if a.ty == b.ty {
        return Some(Ok(v));
    }
    match (a.kind, b.kind) {
        (ListKind::Range(step), ListKind::Fixed | ListKind::Resizable)
            if b.item == Repr::signed() =>
        {
            let step = range_step(llops, step, &v);
            let args = [ctype(b.ty), v, step];
            Some(Ok(llops.gendirectcall_to(
                "rrange.ll_copy_range",
                args,
                b.ty.ptr(),
            )))
        }
        // A list that nothing was ever put into goes for any other one.
        (ListKind::Fixed | ListKind::Resizable, ListKind::Fixed | ListKind::Resizable)
            if a.item == Repr::Impossible =>
        {
            Some(Ok(b.newlist(llops, vec![])))
        }
        _ => None,
    }
}
