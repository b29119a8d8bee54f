//! Calls of builtin functions and methods (RPython: `rbuiltin.py`).

use std::sync::Arc;

use taipan_annotator::SomeValue;
use taipan_base::ErrorCode;
use taipan_graph::Const;
use taipan_interp::Builtin;
use taipan_language::KnownFunction;
use taipan_lltype::{LLConst, LLOperand, LLType, VOID};

use crate::hop::{ArgValue, cvoid};
use crate::translate_op::dispatch;
use crate::{
    Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError, containers,
};

/// A builtin function: Void, known while compiling.
#[derive(Debug)]
pub(crate) struct BuiltinFunctionRepr;

impl ReprMethods for BuiltinFunctionRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::a("builtin function")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        Ok(crate::rtyper::void_const(c))
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        match hop.result_const() {
            Some(c) => c.map(Some),
            None => Ok(Some(cvoid())),
        }
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        let f = called(hop)?;
        let mut hop2 = hop.clone();
        hop2.r_s_pop(0);
        rtype_builtin(&f, &hop2)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        let Some(Const::Shape(shape)) = hop.const_arg(1).cloned() else {
            return Err(TyperError::internal("a call without a shape"));
        };
        let f = called(hop)?;
        if shape.star {
            return Err(TyperError::new(format!("*args in a call of {}", f.name())));
        }
        let mut hop2 = hop.clone();
        hop2.r_s_pop(0);
        hop2.r_s_pop(0);
        // Keyword arguments come last; the typers below look them up by name.
        hop2.keywords = shape.keywords.clone();
        rtype_builtin(&f, &hop2)
    }
}

fn called(hop: &Hop<'_>) -> Typed<Builtin> {
    match &hop.args_r[0] {
        Repr::Builtin(f) => Ok(f.clone()),
        _ => Err(TyperError::internal("not a builtin function")),
    }
}

/// A method of a builtin kind, bound: represented as its self.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BuiltinMethodRepr {
    /// Name of the method.
    pub name: Arc<str>,
    /// Annotation of self.
    pub s_self: SomeValue,
    /// Repr of self.
    pub self_repr: Repr,
}

impl BuiltinMethodRepr {
    /// The method of that name.
    pub fn new(name: Arc<str>, s_self: SomeValue, self_repr: Repr) -> Self {
        BuiltinMethodRepr {
            name,
            s_self,
            self_repr,
        }
    }

    fn call(&self, hop: &Hop<'_>, mut hop2: Hop<'_>) -> RType {
        if let ArgValue::Const(Const::Obj(o)) = &hop.args_v[0]
            && let taipan_interp::ObjData::Builtin {
                im_self: Some(s), ..
            } = &*hop.rt.object(*o)?
        {
            hop2.args_v[0] = ArgValue::Const(s.clone());
        }
        hop2.args_s[0] = self.s_self.clone();
        hop2.args_r[0] = self.self_repr.clone();
        self.self_repr.methods().rtype_method(&self.name, &hop2)
    }
}

impl ReprMethods for BuiltinMethodRepr {
    fn lowleveltype(&self) -> LLType {
        self.self_repr.lowleveltype()
    }

    fn describe(&self) -> Description {
        let of = self.self_repr.methods().describe();
        Description::named(format!("the method '{}' of {of}", self.name))
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        if let Const::Obj(o) = c
            && let taipan_interp::ObjData::Builtin {
                im_self: Some(s), ..
            } = &*rt.object(*o)?
        {
            return self.self_repr.convert_const(rt, s);
        }
        self.self_repr.convert_const(rt, c)
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        self.call(hop, hop.clone())
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        let Some(Const::Shape(shape)) = hop.const_arg(1).cloned() else {
            return Err(TyperError::internal("a call without a shape"));
        };
        if shape.star {
            return Err(TyperError::new(format!(
                "*args in a call of {}",
                self.describe()
            )));
        }
        let mut hop2 = hop.clone();
        hop2.r_s_pop(1);
        hop2.keywords = shape.keywords.clone();
        self.call(hop, hop2)
    }
}

/// Bound builtin methods of one name convert like their selves.
pub(crate) fn builtin_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    if let Some(result) = super::weakref::weakref_conversion(llops, v.clone(), from, to) {
        return Some(result);
    }
    match (from, to) {
        (Repr::BuiltinMethod(a), Repr::BuiltinMethod(b)) if a.name == b.name => {
            Some(llops.convertvar(v, &a.self_repr, &b.self_repr))
        }
        (_, Repr::Builtin(_) | Repr::LLType(_) | Repr::LLFunc(_)) => Some(Ok(cvoid())),
        _ => None,
    }
}

/// Types a call of a builtin function. The arguments of the call are those of `hop`.
fn rtype_builtin(f: &Builtin, hop: &Hop<'_>) -> RType {
    match f {
        Builtin::Known(known) => super::known::rtype(*known, hop),
        Builtin::Helper(helper) => containers::call_helper(hop, helper),
        Builtin::Operation(op) => {
            let mut hop = hop.clone();
            hop.op = *op;
            dispatch(&hop)
        }
        Builtin::LowLevel(op) => super::lowlevel::low_level_operation(*op, hop),
        Builtin::Marker(_) => {
            hop.exception_cannot_occur()?;
            Ok(Some(cvoid()))
        }
        Builtin::Runtime(f) => super::lowlevel::call_external(hop, &f.symbol()),
        Builtin::Flow(_) | Builtin::Shipped(_) | Builtin::FailedImport | Builtin::Other(_) => {
            Err(TyperError::with_code(
                ErrorCode::BuiltinWithoutRepr,
                format!("the builtin function `{}` is not RPython", f.name()),
            ))
        }
    }
}

/// A function that the Repr of its first argument types; without arguments, what the annotator knows.
pub(super) fn by_first(
    hop: &Hop<'_>,
    f: KnownFunction,
    typed: impl Fn(&dyn ReprMethods) -> RType,
) -> RType {
    match hop.args_r.first().cloned() {
        Some(first) => typed(first.methods()),
        None => known_result(hop, f),
    }
}

/// A call whose result the annotator knows: `float()`, `slice(0, 2)`.
pub(super) fn known_result(hop: &Hop<'_>, f: KnownFunction) -> RType {
    match hop.result_const() {
        Some(c) => {
            hop.exception_cannot_occur()?;
            c.map(Some)
        }
        None => Err(TyperError::with_code(
            ErrorCode::BuiltinWithoutRepr,
            format!("this call of `{}()` is not RPython", f.name()),
        )),
    }
}

/// `tuple()`, `tuple(t)` of a tuple
pub(super) fn tuple(hop: &Hop<'_>) -> RType {
    match hop.args_r.first() {
        Some(Repr::Tuple(_)) => hop.inputarg(&hop.r_result, 0).map(Some),
        _ => known_result(hop, KnownFunction::Tuple),
    }
}

pub(super) fn min_max(hop: &Hop<'_>, min: bool) -> RType {
    let r = hop.r_result.clone();
    super::int::check_width(&hop.args_r[0], &hop.args_r[1])?;
    let args = hop.inputargs([&r, &r])?;
    hop.exception_cannot_occur()?;
    let helper = if min {
        "rmodel.ll_min"
    } else {
        "rmodel.ll_max"
    };
    Ok(Some(hop.llops.gendirectcall_to(
        helper,
        args,
        r.lowleveltype(),
    )))
}

/// The result of a function that has to be a constant; `help` is the remedy where it is none.
pub(super) fn constant_result(hop: &Hop<'_>, function: &str, help: &str) -> RType {
    hop.exception_cannot_occur()?;
    hop.result_const()
        .unwrap_or_else(|| {
            Err(TyperError::new(format!(
                "the result of `{function}()` is not known while compiling"
            ))
            .with_help(help))
        })
        .map(Some)
}
