//! The functions that an `r_dict` compares and hashes its keys with.
//!
//! A function that is known while compiling is called as it is. Methods are bound to
//! something that the dict keeps (`eq_self`, `hash_self`) and that comes as their first
//! argument. Where one of several functions may be meant (subclasses override the method,
//! or dicts with different functions meet), the dict keeps what tells them apart, and a
//! function made here asks for it:
//!
//! ```text
//! def key_function(receiver, key1, key2):
//!     if isinstance(receiver, Derived):
//!         return Derived.eq(receiver, key1, key2)
//!     return Base.eq(receiver, key1, key2)
//! ```

use std::cmp::Reverse;

use taipan_annotator::{Desc, SomeKind, SomeValue, Spec, Target};
use taipan_base::ErrorCode;
use taipan_graph::{BlockId, Const, ExitCase, ExitSwitch, Link, ObjId, Operand};
use taipan_lltype::{
    BOOL, FuncSym, FuncType, HelperArg, LLConst, LLGraph, LLOperand, LLType, OBJECT, OBJECT_VTABLE,
    StaticSym, StructId, View, VoidConst,
};

use crate::reprs::{InstanceRepr, cast_pointer, gen_issubclass};
use crate::synth::{self, fill};
use crate::{LLOps, RTyper, Repr, Typed, TyperError};

/// A function that an `r_dict` calls with its keys.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KeyFunction {
    /// The function.
    pub func: FuncSym,
    /// Of a method, or one of several functions: its first argument. The dict keeps that.
    pub receiver: Option<Repr>,
}

impl KeyFunction {
    /// The type of what the dict keeps.
    pub(super) fn receiver_type(&self) -> Option<LLType> {
        self.receiver.as_ref().map(Repr::lowleveltype)
    }
}

/// The functions of an `r_dict` with these keys.
pub(super) fn custom_functions(
    rt: &RTyper<'_>,
    eq: &SomeValue,
    hash: &SomeValue,
    key: &Repr,
) -> Typed<(KeyFunction, KeyFunction)> {
    let k = key.lowleveltype();
    match (
        key_function(rt, eq, &[k, k])?,
        key_function(rt, hash, &[k])?,
    ) {
        (Some(eq), Some(hash)) => Ok((eq, hash)),
        _ => Err(TyperError::new(format!(
            "the functions of an r_dict take something else than its keys, {}",
            key.methods().describe()
        ))),
    }
}

/// One of several functions, and what tells that it is meant.
struct Candidate {
    /// The class that defines the method, or the function as a value.
    by: ObjId,
    func: FuncSym,
}

/// The function that these may be; none if it takes something else than these keys.
fn key_function(rt: &RTyper<'_>, s: &SomeValue, keys: &[LLType]) -> Typed<Option<KeyFunction>> {
    let SomeKind::Pbc { descs, .. } = &s.kind else {
        return Err(unknown());
    };
    let mut candidates = Vec::new();
    for d in descs.iter() {
        candidates.push(candidate(rt, d)?);
    }
    let receiver = match rt.getrepr(s)? {
        r if r.is_void() => None,
        r => Some(r),
    };
    let bound = receiver.as_ref().map(Repr::lowleveltype);
    if let Some(first) = candidates.first()
        && candidates.iter().all(|c| c.func == first.func)
        && takes(&first.func, bound, keys)
    {
        let func = first.func.clone();
        return Ok(Some(KeyFunction { func, receiver }));
    }
    let (Some(receiver), Some(bound)) = (receiver, bound) else {
        return Ok(None);
    };
    let methods = matches!(receiver, Repr::Methods(_));
    if methods {
        // A subclass is asked for before its base classes.
        candidates.sort_by_key(|c| Reverse(rt.bases(c.by).count()));
    } else if !matches!(receiver, Repr::Functions(_) | Repr::Frozen(_)) {
        return Err(unknown());
    }
    let own = usize::from(methods);
    for c in &candidates {
        let args = &c.func.ty().args;
        let fits = args.len() == keys.len() + own
            && args[own..]
                .iter()
                .zip(keys)
                .all(|(to, from)| passes(*from, *to))
            && c.func.ty().result == candidates[0].func.ty().result;
        if !fits {
            return Ok(None);
        }
    }
    let func = key_function_sym(&candidates, methods, bound, keys);
    Ok(Some(KeyFunction {
        func,
        receiver: Some(receiver),
    }))
}

fn unknown() -> TyperError {
    TyperError::with_code(
        ErrorCode::InvalidRDictFunctions,
        "this r_dict compares or hashes by functions in one place and by methods in another",
    )
    .with_help("give it functions everywhere, or methods of one name")
}

fn candidate(rt: &RTyper<'_>, d: &Desc) -> Typed<Candidate> {
    let (by, f) = match d {
        Desc::Function(f) | Desc::FrozenMethod { func: f, .. } => (*f, *f),
        Desc::Method { func, origin, .. } => (*origin, *func),
        _ => return Err(unknown()),
    };
    let f = rt.underlying_function(f)?;
    let spec = Spec::new(rt.db, rt.roots()?, f, "");
    let func = rt.target_sym(Target::Spec(spec))?;
    Ok(Candidate { by, func })
}

/// Whether a function takes these keys after what it is bound to.
fn takes(f: &FuncSym, bound: Option<LLType>, keys: &[LLType]) -> bool {
    let args = &f.ty().args;
    let (own, rest) = args.split_at(args.len().saturating_sub(keys.len()));
    // The self of a frozen method is Void.
    rest == keys
        && match bound {
            Some(t) => own == [t],
            None => own.len() <= 1 && own.iter().all(|t| t.is_void()),
        }
}

/// Whether a key can be passed as an argument of this type: an instance also as one of
/// another class.
fn passes(from: LLType, to: LLType) -> bool {
    from == to || (is_instance(from) && is_instance(to))
}

fn is_instance(ty: LLType) -> bool {
    let Some(to) = ty.pointee() else { return false };
    to == *OBJECT
        || to
            .as_struct()
            .is_some_and(|s| matches!(s.id, StructId::Instance(_)))
}

/// The name of functions that call one of several.
pub(crate) const KEY_FUNCTION: &str = "key_function";

fn key_function_sym(
    candidates: &[Candidate],
    methods: bool,
    receiver: LLType,
    keys: &[LLType],
) -> FuncSym {
    let mut args = vec![HelperArg::Const(VoidConst::Hl(Const::Bool(methods)))];
    for c in candidates {
        args.push(HelperArg::Const(VoidConst::Hl(Const::Obj(c.by))));
        args.push(HelperArg::Const(VoidConst::Func(c.func.clone())));
    }
    let result = candidates[0].func.ty().result;
    let args_ty = [receiver].into_iter().chain(keys.iter().copied()).collect();
    let ty = FuncType {
        args: args_ty,
        result,
    };
    synth::synth(KEY_FUNCTION, args, ty)
}

/// The graph of a [`KEY_FUNCTION`]: one test per candidate but the last.
pub(crate) fn build_key_function(
    rt: &RTyper<'_>,
    sym: &FuncSym,
    methods: bool,
    candidates: &[HelperArg],
) -> Typed<LLGraph> {
    let mut g = synth::new_graph(sym);
    let mut block = g.startblock;
    let last = candidates.len() / 2 - 1;
    for (i, candidate) in candidates.chunks_exact(2).enumerate() {
        let [
            HelperArg::Const(VoidConst::Hl(Const::Obj(by))),
            HelperArg::Const(VoidConst::Func(f)),
        ] = candidate
        else {
            return Err(TyperError::internal("a candidate of another shape"));
        };
        let mut chosen = block;
        if i < last {
            let args = g.block(block).inputargs.clone();
            let receiver = Operand::Var(args[0]);
            let meant = fill(rt, &mut g, block, |llops| {
                is_meant(llops, receiver, *by, methods, sym.ty().args[0])
            })?;
            let yes: Vec<_> = args.iter().map(|v| g.copy_var(*v)).collect();
            let no: Vec<_> = args.iter().map(|v| g.copy_var(*v)).collect();
            chosen = g.new_block(yes);
            let next = g.new_block(no);
            let pass: Vec<LLOperand> = args.into_iter().map(Operand::Var).collect();
            let b = g.block_mut(block);
            b.exitswitch = ExitSwitch::Value(meant);
            b.exits = vec![
                Link::with_case(next, pass.clone(), ExitCase::Bool(false)),
                Link::with_case(chosen, pass, ExitCase::Bool(true)),
            ];
            block = next;
        }
        call_in(rt, &mut g, chosen, f, methods)?;
    }
    Ok(g)
}

fn is_meant(
    llops: &LLOps<'_>,
    receiver: LLOperand,
    by: ObjId,
    methods: bool,
    ty: LLType,
) -> Typed<LLOperand> {
    if methods {
        let own = InstanceRepr::root().gettype(llops, receiver);
        let class = LLConst::data(StaticSym::Vtable(by), OBJECT_VTABLE.ptr());
        return Ok(gen_issubclass(llops, own, Operand::Const(class)));
    }
    let function = llops.rt.convert_const_to(&Const::Obj(by), ty)?;
    Ok(llops.genop(
        View::PtrEq {
            left: &receiver,
            right: &Operand::Const(function),
        },
        *BOOL,
    ))
}

/// Ends a block by returning what a function answers to the block's arguments.
fn call_in(
    rt: &RTyper<'_>,
    g: &mut LLGraph,
    block: BlockId,
    f: &FuncSym,
    methods: bool,
) -> Typed<()> {
    let given = g.block(block).inputargs.clone();
    let result = fill(rt, g, block, |llops| {
        let given = given.iter().skip(usize::from(!methods));
        let args: Vec<LLOperand> = (given.zip(&f.ty().args))
            .map(|(v, ty)| cast_pointer(llops, Operand::Var(*v), *ty))
            .collect();
        Ok(llops.gencall(f.clone(), args))
    })?;
    g.block_mut(block).exits = vec![Link::new(g.returnblock, vec![result])];
    Ok(())
}
