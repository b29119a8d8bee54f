//! Calls of builtin functions and methods (RPython: `rbuiltin.py`).

use std::sync::Arc;

use taipan_annotator::SomeValue;
use taipan_graph::Const;
use taipan_language::KnownFunction;
use taipan_lltype::{LLConst, LLOperand, LLType, VOID};

use crate::hop::{ArgValue, cvoid};
use crate::{Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError, containers};

/// A builtin function: Void, known by name.
#[derive(Debug)]
pub struct BuiltinFunctionRepr;

impl ReprMethods for BuiltinFunctionRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> String {
        "a builtin function".into()
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
        let name = match &hop.args_r[0] {
            Repr::Builtin(name) => name.clone(),
            _ => return Err(TyperError::internal("not a builtin function")),
        };
        let mut hop2 = hop.clone();
        hop2.r_s_pop(0);
        rtype_builtin(&name, &hop2)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        let Some(Const::Shape(shape)) = hop.const_arg(1).cloned() else {
            return Err(TyperError::internal("a call without a shape"));
        };
        let name = match &hop.args_r[0] {
            Repr::Builtin(name) => name.clone(),
            _ => return Err(TyperError::internal("not a builtin function")),
        };
        if shape.star {
            return Err(TyperError::new(format!("*args in a call of {name}")));
        }
        let mut hop2 = hop.clone();
        hop2.r_s_pop(0);
        hop2.r_s_pop(0);
        // Keyword arguments come last; the typers below look them up by name.
        hop2.keywords = shape.keywords.clone();
        rtype_builtin(&name, &hop2)
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

    fn describe(&self) -> String {
        format!(
            "the method '{}' of {}",
            self.name,
            self.self_repr.methods().describe()
        )
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
pub fn builtin_conversion(
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

/// The last two parts of a qualified name: `rpython.rlib.rarithmetic.intmask` is
/// `rarithmetic.intmask` wherever it is imported from.
fn short_name(name: &str) -> &str {
    match name.rmatch_indices('.').nth(1) {
        Some((i, _)) => &name[i + 1..],
        None => name,
    }
}

/// Types a call of a builtin function. The arguments of the call are those of `hop`.
fn rtype_builtin(name: &str, hop: &Hop<'_>) -> RType {
    if let Some(f) = KnownFunction::qualified(name) {
        return super::rlib::rtype(f, hop);
    }
    let short = short_name(name);
    if let Some(result) = containers::rtype_builtin(name, hop) {
        return result;
    }
    if let Some(result) = super::lowlevel::rtype(short, hop) {
        return result;
    }
    if let Some(f) = short.strip_prefix("__builtin__.")
        && let Some(result) = python_builtin(f, hop)
    {
        return result;
    }
    match short {
        "object.__init__" | "Exception.__init__" | "BaseException.__init__" => {
            hop.exception_cannot_occur()?;
            Ok(Some(cvoid()))
        }
        "weakref.ref" | "_weakref.ref" | "_weakref.weakref" | "weakref.ReferenceType" => {
            super::weakref::rtype_weakref_create(hop)
        }
        _ => match hop.result_const() {
            // Whatever it does, the annotator knows what comes out.
            Some(c) => {
                hop.exception_cannot_occur()?;
                c.map(Some)
            }
            None => Err(TyperError::with_code(
                "TP0415",
                format!("the builtin function `{name}` is not RPython"),
            )),
        },
    }
}

/// Functions of `__builtin__` that the Repr of their first argument types.
fn python_builtin(name: &str, hop: &Hop<'_>) -> Option<RType> {
    match name {
        "min" | "max" => return Some(min_max(hop, name == "min")),
        "hasattr" | "callable" => return Some(constant_result(hop, name)),
        "bytearray" if hop.nb_args() == 0 => {
            return Some(crate::containers::bytearray_of_length(hop));
        }
        _ => {}
    }
    let first = hop.args_r.first()?.clone();
    let r = first.methods();
    Some(match name {
        "bool" => r.rtype_bool(hop),
        "int" => r.rtype_int(hop),
        "long" => r.rtype_long(hop),
        "float" => r.rtype_float(hop),
        "chr" => r.rtype_chr(hop),
        "unichr" => r.rtype_unichr(hop),
        "ord" => r.rtype_ord(hop),
        "unicode" => r.rtype_unicode(hop),
        "str" => r.rtype_str(hop),
        "repr" => r.rtype_repr(hop),
        "hex" => r.rtype_hex(hop),
        "oct" => r.rtype_oct(hop),
        "bin" => r.rtype_bin(hop),
        "abs" => r.rtype_abs(hop),
        "len" => r.rtype_len(hop),
        "hash" => r.rtype_hash(hop),
        "id" => r.rtype_id(hop),
        "type" => r.rtype_type(hop),
        "iter" => r.rtype_iter(hop),
        "next" => r.rtype_next(hop),
        "isinstance" => r.rtype_isinstance(hop),
        "issubclass" => r.rtype_issubtype(hop),
        "list" => r.rtype_bltn_list(hop),
        "bytearray" => r.rtype_bytearray(hop),
        "getattr" => r.rtype_getattr(hop),
        "setattr" => r.rtype_setattr(hop),
        _ => return None,
    })
}

fn min_max(hop: &Hop<'_>, min: bool) -> RType {
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

fn constant_result(hop: &Hop<'_>, function: &str) -> RType {
    hop.exception_cannot_occur()?;
    hop.result_const()
        .unwrap_or_else(|| {
            Err(TyperError::new(format!(
                "what `{function}()` returns is not known while compiling"
            )))
        })
        .map(Some)
}
