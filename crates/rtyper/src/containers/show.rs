//! Texts of values for people, as failed asserts of tests show them: `_taipan.show(v)`
//! gives something like `repr(v)`, and always something. What has no text of its own
//! is shown by its kind.

use taipan_graph::Const;
use taipan_graph::Operand;
use taipan_lltype::{
    FuncKind, FuncSym, HelperArg, LLConst, LLOperand, LLType, STR, StaticSym, View, VoidConst,
};

use super::list::ListKind;
use super::tuple::{item_of, item_types};
use crate::hop::ArgValue;
use crate::reprs::InstanceRepr;
use crate::synth::synth;
use crate::{Hop, LLOps, RType, Repr, helper_sym};

/// `_taipan.show(v)`, or `_taipan.text(v)`, which leaves byte strings as they are.
pub(crate) fn rtype_show(hop: &Hop<'_>, as_text: bool) -> RType {
    hop.exception_cannot_occur()?;
    let r = &hop.args_r[0];
    if as_text && *r == Repr::Str {
        let v = hop.inputarg(r, 0)?;
        let v = hop
            .llops
            .gendirectcall_to("rstr.ll_str_or_none", [v], STR.ptr());
        return Ok(Some(v));
    }
    let constant = |text: &str| hop.inputconst(&Repr::Str, &Const::str(text)).map(Some);
    if let (ArgValue::Const(Const::Obj(o)), true) = (&hop.args_v[0], r.lowleveltype().is_void()) {
        return constant(&object_text(hop, *o));
    }
    match show_function(r) {
        Some(f) => {
            let v = match r {
                Repr::Instance(_) => hop.inputarg(&Repr::Instance(InstanceRepr::root()), 0)?,
                _ => hop.inputarg(r, 0)?,
            };
            Ok(Some(call(hop.llops, &f, v)))
        }
        None => constant(&kind_text(r)),
    }
}

/// The name of a function or class that is known while compiling.
fn object_text(hop: &Hop<'_>, o: taipan_graph::ObjId) -> String {
    use taipan_interp::ObjData;
    match hop.rt.object(o).as_deref() {
        Ok(ObjData::Function(f)) => format!("<function {}>", f.name),
        Ok(ObjData::Class(c)) => format!("<class {}>", c.name),
        Ok(ObjData::Module { name }) => format!("<module {name}>"),
        Ok(ObjData::Builtin { name, .. }) => format!("<built-in {name}>"),
        _ => "<object>".to_owned(),
    }
}

/// What there is to say of a value that has no text.
fn kind_text(r: &Repr) -> String {
    if *r == Repr::None {
        return "None".to_owned();
    }
    match r.methods().describe().kind() {
        Some(kind) => format!("<{kind}>"),
        None => "<object>".to_owned(),
    }
}

/// Calls a function of [`show_function`], with the constants that it is made for.
fn call(llops: &LLOps<'_>, f: &FuncSym, v: LLOperand) -> LLOperand {
    let mut args = vec![v];
    if let FuncKind::Helper { args: all, .. } = f.kind() {
        args.extend(all.iter().filter_map(|a| match a {
            HelperArg::Const(c) => Some(Operand::Const(LLConst::Void(c.clone()))),
            HelperArg::Type(_) => None,
        }));
    }
    llops.gencall(f.clone(), args)
}

/// The function that shows a value of a Repr; none for one that has no values at run
/// time, or none that can be shown.
fn show_function(r: &Repr) -> Option<FuncSym> {
    let t = r.lowleveltype();
    let with = |name: &str, rest: Vec<FuncSym>| {
        let rest = rest
            .into_iter()
            .map(|f| HelperArg::Const(VoidConst::Func(f)));
        let args = std::iter::once(HelperArg::Type(t)).chain(rest).collect();
        Some(helper_sym(name, args, STR.ptr()))
    };
    match r {
        Repr::Int(i) if i.kind.bits > 64 => with("ll_str.ll_lllong2dec", vec![]),
        Repr::Int(_) => with("ll_str.ll_int2dec", vec![]),
        Repr::Bool => with("rshow.ll_show_bool", vec![]),
        Repr::Float => with("ll_str.ll_float_str", vec![]),
        Repr::Char => with("rshow.ll_show_char", vec![]),
        Repr::UniChar => with("rshow.ll_show_unichar", vec![]),
        Repr::Str => with("rshow.ll_show_str", vec![]),
        Repr::Unicode => with("rshow.ll_show_unicode", vec![]),
        Repr::Instance(_) => {
            let root = InstanceRepr::root();
            let args = vec![HelperArg::Type(Repr::Instance(root).lowleveltype())];
            Some(helper_sym("rshow.ll_show_instance", args, STR.ptr()))
        }
        Repr::List(l) if !matches!(l.kind, ListKind::Range(_)) => {
            with("rshow.ll_show_list", vec![item_function(&l.item)?])
        }
        Repr::Dict(d) => {
            let functions = vec![item_function(&d.key)?, item_function(&d.value)?];
            with("rshow.ll_show_dict", functions)
        }
        Repr::Tuple(tuple) if !t.is_void() => {
            let items = tuple.items.iter().map(|r| {
                HelperArg::Const(match item_function(r) {
                    Some(f) => VoidConst::Func(f),
                    None => VoidConst::Hl(Const::str(&kind_text(r))),
                })
            });
            let args = std::iter::once(HelperArg::Type(t)).chain(items);
            Some(synth("tuple_show", args.collect(), show_type(t)))
        }
        _ => None,
    }
}

/// The same for an item of a container, which is at the item's own type.
fn item_function(r: &Repr) -> Option<FuncSym> {
    match r {
        Repr::Instance(i) if i.class.is_some() => {
            let t = r.lowleveltype();
            let args = vec![HelperArg::Type(t)];
            Some(synth("instance_show", args, show_type(t)))
        }
        _ => show_function(r),
    }
}

fn show_type(arg: LLType) -> taipan_lltype::FuncType {
    taipan_lltype::FuncType {
        args: vec![arg],
        result: STR.ptr(),
    }
}

/// The function that makes the text of a tuple from those of its items.
pub(super) fn tuple_text(t: LLType, items: Vec<FuncSym>) -> FuncSym {
    let items = (items.into_iter()).map(|f| HelperArg::Const(VoidConst::Func(f)));
    let args = std::iter::once(HelperArg::Type(t)).chain(items);
    synth("tuple_show", args.collect(), show_type(t))
}

/// Emits the body of `tuple_show`.
pub(crate) fn gen_tuple_show(
    llops: &LLOps<'_>,
    ty: LLType,
    fns: &[VoidConst],
    arg: &LLOperand,
) -> LLOperand {
    let text = |s: &[u8]| {
        let sym = StaticSym::Str(s.into());
        Operand::Const(LLConst::data(sym, STR.ptr()))
    };
    let mut out = text(b"(");
    let n = fns.len();
    for (i, (f, t)) in fns.iter().zip(item_types(ty)).enumerate() {
        let shown = match f {
            VoidConst::Func(f) => call(llops, f, item_of(llops, arg, i, t)),
            VoidConst::Hl(Const::Str(kind)) => text(kind),
            _ => text(b"?"),
        };
        out = llops.gendirectcall_to("rstr.ll_strconcat", [out, shown], STR.ptr());
        let separator = match (i + 1 == n, n) {
            (true, 1) => &b",)"[..],
            (true, _) => b")",
            _ => b", ",
        };
        out = llops.gendirectcall_to("rstr.ll_strconcat", [out, text(separator)], STR.ptr());
    }
    out
}

/// Emits the body of `instance_show`.
pub(crate) fn gen_instance_show(llops: &LLOps<'_>, arg: &LLOperand) -> LLOperand {
    let root = InstanceRepr::root().ty;
    let v = llops.genop(View::CastPointer { value: arg }, root);
    llops.gendirectcall_to("rshow.ll_show_instance", [v], STR.ptr())
}
