//! Graphs that the RTyper builds by itself: `instantiate` functions of vtables, tables
//! of memo functions, the program's entry.

use rustc_hash::FxHashSet;
use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::Db;
use taipan_graph::{BlockId, Const, ExitCase, ExitSwitch, Link, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, FuncKind, FuncSym, FuncType, GCREF, HelperArg, LLConst, LLGraph, LLOperand, LLType,
    NumFamily, NumOp, OBJECT_VTABLE, SIGNED, StaticSym, TypeKind, View, VoidConst,
};

use crate::exceptions::exception_id;
use crate::hop::cfield;
use crate::llops::Vars;
use crate::reprs::{InstanceRepr, attr_family, points_to_frozen};
use crate::specialize::{exception_type, exception_value};
use crate::statics::{IDENTITY, class_hash, identity, placeholder_type};
use crate::{LLOps, RTyper, Repr, Typed, TyperError, containers};

pub(crate) fn synth(name: &str, args: Vec<HelperArg>, ty: FuncType) -> FuncSym {
    FuncSym::new(
        FuncKind::Synth {
            name: name.into(),
            args: args.into(),
        },
        ty,
    )
}

fn object_arg(o: ObjId) -> HelperArg {
    HelperArg::Const(VoidConst::Hl(Const::Obj(o)))
}

/// `instantiate() -> instance of the class`, for its vtable.
pub(crate) fn instantiate_sym(class: ObjId) -> FuncSym {
    synth(
        "instantiate",
        vec![object_arg(class)],
        FuncType {
            args: vec![],
            result: *GCREF,
        },
    )
}

/// Stands for a function at a type at which it is never called.
pub(crate) fn never_called_sym(func: ObjId, ptr: LLType) -> Typed<FuncSym> {
    let ty = ptr
        .pointee()
        .and_then(LLType::as_func)
        .ok_or_else(|| TyperError::internal("no function type"))?;
    Ok(synth("never_called", vec![object_arg(func)], ty.clone()))
}

/// Calls a function and casts the integer that it returns: what C calls by a pointer of
/// another type.
pub(crate) fn converted_result_sym(callee: &FuncSym, result: LLType) -> FuncSym {
    let args = callee.ty().args.clone();
    let callee = HelperArg::Const(VoidConst::Func(callee.clone()));
    synth("converted_result", vec![callee], FuncType { args, result })
}

/// Looks up the result of a memo function by its arguments.
pub(crate) fn memo_sym(
    table: &[(Vec<Const>, Const)],
    args: &[HelperArg],
    result: LLType,
) -> FuncSym {
    let rows = table
        .iter()
        .map(|(args, value)| {
            let mut row = args.clone();
            row.push(value.clone());
            Const::Tuple(row.into())
        })
        .collect();
    let mut params = vec![HelperArg::Const(VoidConst::Hl(Const::Tuple(rows)))];
    params.extend(args.iter().cloned());
    let types = args.iter().map(crate::rtyper::helper_arg_type).collect();
    synth(
        "memo",
        params,
        FuncType {
            args: types,
            result,
        },
    )
}

/// The function that a program starts with: calls the root with the arguments that
/// the runtime hands over.
pub fn entry_sym(db: &dyn Db, roots: Roots) -> Typed<FuncSym> {
    let RootSet::EntryPoint(func) = roots.set(db) else {
        return Err(TyperError::internal("these roots have no entry point"));
    };
    let spec = Spec::new(db, roots, *func, "");
    crate::queries::func_sym_of(db, spec)
}

/// Builds the graph of a synthetic function.
pub(crate) fn build(rt: &RTyper<'_>, sym: &FuncSym) -> Typed<LLGraph> {
    let FuncKind::Synth { name, args } = sym.kind() else {
        return Err(TyperError::internal("not a synthetic function"));
    };
    match (&**name, &args[..]) {
        ("instantiate", [HelperArg::Const(VoidConst::Hl(Const::Obj(class)))]) => {
            instantiate(rt, sym, *class)
        }
        ("never_called", _) => Ok(never_called(rt, sym)),
        ("converted_result", [HelperArg::Const(VoidConst::Func(callee))]) => {
            let mut g = new_graph(sym);
            let start = g.startblock;
            let args: Vec<LLOperand> = g.args().iter().map(|v| Operand::Var(*v)).collect();
            let v = fill(rt, &mut g, start, |llops| {
                let v = llops.gencall(callee.clone(), args);
                crate::reprs::gen_cast(llops, sym.ty().result, v)
            })?;
            let link = Link::new(g.returnblock, vec![v]);
            g.block_mut(start).exits = vec![link];
            Ok(g)
        }
        ("memo", [HelperArg::Const(VoidConst::Hl(Const::Tuple(rows))), ..]) => memo(rt, sym, rows),
        ("tuple_eq" | "tuple_hash", [HelperArg::Type(ty), fns @ ..]) => {
            let eq = &**name == "tuple_eq";
            of_arguments(rt, sym, fns, |llops, fns, args| match eq {
                true => containers::gen_tuple_eq(llops, *ty, fns, args),
                false => containers::gen_tuple_hash(llops, *ty, fns, &args[0]),
            })
        }
        ("tuple_show", [HelperArg::Type(ty), fns @ ..]) => {
            of_arguments(rt, sym, fns, |llops, fns, args| {
                containers::gen_tuple_show(llops, *ty, fns, &args[0])
            })
        }
        (
            containers::KEY_FUNCTION,
            [
                HelperArg::Const(VoidConst::Hl(Const::Bool(methods))),
                rest @ ..,
            ],
        ) => containers::build_key_function(rt, sym, *methods, rest),
        ("instance_show", _) => of_arguments(rt, sym, &[], |llops, _, args| {
            containers::gen_instance_show(llops, &args[0])
        }),
        _ => Err(TyperError::internal(format!(
            "no builder for a synthetic function '{name}'"
        ))),
    }
}

pub(crate) fn new_graph(sym: &FuncSym) -> LLGraph {
    let mut g = LLGraph::new(
        sym.name(),
        sym.ty().result,
        exception_type(),
        exception_value(),
    );
    for (i, t) in sym.ty().args.iter().enumerate() {
        let v = g.new_var(&format!("a{i}"), *t);
        g.block_mut(BlockId(0)).inputargs.push(v);
    }
    g
}

/// Runs a builder that appends operations to one block of a graph.
pub(crate) fn fill(
    rt: &RTyper<'_>,
    g: &mut LLGraph,
    block: BlockId,
    build: impl FnOnce(&LLOps<'_>) -> Typed<LLOperand>,
) -> Typed<LLOperand> {
    let vars = Vars::from_inner(std::mem::take(&mut g.vars));
    let llops = LLOps::new(rt, &vars);
    let result = build(&llops);
    let (operations, _) = llops.finish();
    g.vars = vars.into_inner();
    g.block_mut(block).operations.extend(operations);
    result
}

fn instantiate(rt: &RTyper<'_>, sym: &FuncSym, class: ObjId) -> Typed<LLGraph> {
    let mut g = new_graph(sym);
    let start = g.startblock;
    let v = fill(rt, &mut g, start, |llops| {
        let v = InstanceRepr::new(rt, Some(class)).new_instance(llops)?;
        Ok(llops.genop(View::CastOpaquePtr { value: &v }, *GCREF))
    })?;
    let link = Link::new(g.returnblock, vec![v]);
    g.block_mut(start).exits = vec![link];
    Ok(g)
}

/// A function that consists of operations on its arguments, made of other functions.
fn of_arguments(
    rt: &RTyper<'_>,
    sym: &FuncSym,
    fns: &[HelperArg],
    build: impl FnOnce(&LLOps<'_>, &[VoidConst], &[LLOperand]) -> LLOperand,
) -> Typed<LLGraph> {
    let fns: Vec<VoidConst> = fns
        .iter()
        .map(|f| match f {
            HelperArg::Const(c) => c.clone(),
            HelperArg::Type(_) => VoidConst::None,
        })
        .collect();
    let mut g = new_graph(sym);
    let start = g.startblock;
    let args: Vec<LLOperand> = g.args().iter().map(|v| Operand::Var(*v)).collect();
    let v = fill(rt, &mut g, start, |llops| Ok(build(llops, &fns, &args)))?;
    let link = Link::new(g.returnblock, vec![v]);
    g.block_mut(start).exits = vec![link];
    Ok(g)
}

fn raise(rt: &RTyper<'_>, g: &LLGraph, exception: Exc) -> Link<taipan_lltype::LowLevel> {
    let class = exception_id(exception);
    let vtable = LLConst::data(StaticSym::Vtable(class), exception_type());
    let value = crate::statics::standard_instance(rt, class);
    Link::new(
        g.exceptblock,
        vec![Operand::Const(vtable), Operand::Const(value)],
    )
}

fn never_called(rt: &RTyper<'_>, sym: &FuncSym) -> LLGraph {
    let mut g = new_graph(sym);
    let link = raise(rt, &g, Exc::AssertionError);
    let start = g.startblock;
    g.block_mut(start).exits = vec![link];
    g
}

/// Up to so many rows are found by comparing one after the other.
const FEW_ROWS: usize = 8;

/// A switch on a number of the one argument that is not known, if there are many rows: on the
/// identity of a frozen instance, or on the hash of a class. The last row is for all others.
fn memo_by_number(rt: &RTyper<'_>, sym: &FuncSym, rows: &[Const]) -> Typed<Option<LLGraph>> {
    let mut given = (sym.ty().args.iter().enumerate()).filter(|(_, t)| !t.is_void());
    let (Some((at, ty)), None) = (given.next(), given.next()) else {
        return Ok(None);
    };
    let is_class = *ty == OBJECT_VTABLE.ptr();
    if rows.len() <= FEW_ROWS || !is_class && !points_to_frozen(*ty) {
        return Ok(None);
    }
    let mut exits = Vec::with_capacity(rows.len());
    let mut numbers = FxHashSet::default();
    let mut g = new_graph(sym);
    for (n, row) in rows.iter().enumerate() {
        let Const::Tuple(row) = row else {
            return Ok(None);
        };
        let (Some(Const::Obj(key)), Some(value)) = (row.get(at), row.last()) else {
            return Ok(None);
        };
        let number = match is_class {
            true => class_hash(*key),
            false => identity(*key),
        };
        if !numbers.insert(number) || !is_class && !has_identity(rt, *key, *ty)? {
            return Ok(None);
        }
        let value = Operand::Const(rt.convert_const_to(value, sym.ty().result)?);
        let case = match n + 1 == rows.len() {
            true => ExitCase::Default,
            false => ExitCase::Value(LLConst::signed(number)),
        };
        exits.push(Link::with_case(g.returnblock, vec![value], case));
    }
    let start = g.startblock;
    let argument = Operand::Var(g.args()[at]);
    let number = fill(rt, &mut g, start, |llops| {
        let (object, field) = match ty.pointee().is_some_and(|t| t.as_struct().is_some()) {
            true if is_class => (argument, "hash"),
            true => (argument, IDENTITY),
            false => {
                let ty = placeholder_type().ptr();
                let object = llops.genop(View::CastOpaquePtr { value: &argument }, ty);
                (object, IDENTITY)
            }
        };
        Ok(llops.genop(
            View::Getfield {
                object: &object,
                field: &cfield(field),
            },
            *SIGNED,
        ))
    })?;
    let block = g.block_mut(start);
    block.exitswitch = ExitSwitch::Value(number);
    block.exits = exits;
    Ok(Some(g))
}

/// Whether what stands for an object at a type is known to have [`IDENTITY`].
fn has_identity(rt: &RTyper<'_>, obj: ObjId, ty: LLType) -> Typed<bool> {
    let of_one_family = ty.pointee().is_some_and(|t| t.as_struct().is_some());
    let is_instance = matches!(&*rt.object(obj)?, ObjData::Instance(_));
    Ok(is_instance && (of_one_family || attr_family(rt, obj)?.is_none()))
}

/// One block per row and argument: compares, and goes on with the next row on a
/// difference. The last row needs no comparison.
fn memo(rt: &RTyper<'_>, sym: &FuncSym, rows: &[Const]) -> Typed<LLGraph> {
    if let Some(g) = memo_by_number(rt, sym, rows)? {
        return Ok(g);
    }
    let mut g = new_graph(sym);
    let types = &sym.ty().args;
    let mut block = g.startblock;
    for (n, row) in rows.iter().enumerate() {
        let Const::Tuple(row) = row else {
            return Err(TyperError::internal("a row that is no tuple"));
        };
        let Some((value, keys)) = row.split_last() else {
            return Err(TyperError::internal("an empty row"));
        };
        let value = Operand::Const(rt.convert_const_to(value, sym.ty().result)?);
        let last = n + 1 == rows.len();
        let args = g.block(block).inputargs.clone();
        let matched = fill(rt, &mut g, block, |llops| {
            let mut all: Option<LLOperand> = None;
            for ((key, t), v) in keys.iter().zip(types).zip(&args) {
                if t.is_void() || last {
                    continue;
                }
                let key = Operand::Const(rt.convert_const_to(key, *t)?);
                let same = equal(llops, Operand::Var(*v), key, *t);
                all = Some(match all {
                    None => same,
                    Some(so_far) => and(llops, so_far, same),
                });
            }
            Ok(all.unwrap_or(Operand::Const(LLConst::Bool(true))))
        })?;
        let found = Link::new(g.returnblock, vec![value]);
        if matches!(matched, Operand::Const(_)) {
            g.block_mut(block).exits = vec![found];
            return Ok(g);
        }
        let next_args: Vec<_> = args.iter().map(|v| g.copy_var(*v)).collect();
        let next = g.new_block(next_args);
        let pass = args.into_iter().map(Operand::Var).collect();
        let b = g.block_mut(block);
        b.exitswitch = ExitSwitch::Value(matched);
        b.exits = vec![
            Link::with_case(next, pass, ExitCase::Bool(false)),
            Link {
                case: ExitCase::Bool(true),
                ..found
            },
        ];
        block = next;
    }
    let link = raise(rt, &g, Exc::AssertionError);
    g.block_mut(block).exits = vec![link];
    Ok(g)
}

fn equal(llops: &LLOps<'_>, a: LLOperand, b: LLOperand, t: LLType) -> LLOperand {
    let family = match t.kind() {
        TypeKind::Ptr(_) => {
            return llops.genop(
                View::PtrEq {
                    left: &a,
                    right: &b,
                },
                *BOOL,
            );
        }
        TypeKind::Char => NumFamily::Char,
        TypeKind::UniChar => NumFamily::Unichar,
        TypeKind::Float => NumFamily::Float,
        TypeKind::Bool => {
            let a = llops.convertvar(a, &Repr::Bool, &Repr::signed());
            let b = llops.convertvar(b, &Repr::Bool, &Repr::signed());
            return match (a, b) {
                (Ok(a), Ok(b)) => llops.genop(
                    View::Binary {
                        family: NumFamily::Int,
                        op: NumOp::Eq,
                        left: &a,
                        right: &b,
                    },
                    *BOOL,
                ),
                _ => Operand::Const(LLConst::Bool(false)),
            };
        }
        TypeKind::Int(k) if !k.signed => NumFamily::Uint,
        _ => NumFamily::Int,
    };
    llops.genop(
        View::Binary {
            family,
            op: NumOp::Eq,
            left: &a,
            right: &b,
        },
        *BOOL,
    )
}

fn and(llops: &LLOps<'_>, a: LLOperand, b: LLOperand) -> LLOperand {
    let int = |v: LLOperand| llops.genop(View::CastBoolToInt { value: &v }, *SIGNED);
    let both = llops.genop(
        View::Binary {
            family: NumFamily::Int,
            op: NumOp::And,
            left: &int(a),
            right: &int(b),
        },
        *SIGNED,
    );
    llops.genop(
        View::Unary {
            family: NumFamily::Int,
            op: NumOp::IsTrue,
            value: &both,
        },
        *BOOL,
    )
}
