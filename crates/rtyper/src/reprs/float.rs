//! Floating-point numbers (RPython: `rfloat.py`).

use taipan_graph::{Const, HlOp};
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, FLOAT, FuncSym, LLConst, LLOp, LLType, NumFamily, NumOp, SIGNED, SINGLEFLOAT, View,
};

use crate::{Description, Hop, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Float.
#[derive(Debug)]
pub(crate) struct FloatRepr;

/// A number constant as a float, as Python converts it.
pub(crate) fn const_as_float(c: &Const) -> Option<f64> {
    Some(match c {
        Const::Float(bits) => f64::from_bits(*bits),
        Const::Int(i) => *i as f64,
        Const::Bool(b) => f64::from(u8::from(*b)),
        Const::RInt(kind, i) if kind.is_nonneg(*i) => i.get() as u128 as f64,
        Const::RInt(_, i) => i.get() as f64,
        Const::SingleFloat(bits) => f64::from(f32::from_bits(*bits)),
        _ => return None,
    })
}

impl FloatRepr {
    fn unary(&self, hop: &Hop<'_>, op: NumOp) -> RType {
        let [v] = hop.inputargs([&Repr::Float])?;
        Ok(Some(hop.llops.genop(
            View::Unary {
                family: NumFamily::Float,
                op,
                value: &v,
            },
            *FLOAT,
        )))
    }
}

impl ReprMethods for FloatRepr {
    fn lowleveltype(&self) -> LLType {
        *FLOAT
    }

    fn describe(&self) -> Description {
        Description::a("float")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        const_as_float(c)
            .map(|f| LLConst::Float(f.to_bits()))
            .ok_or_else(|| TyperError::internal(format!("{c} is not a float")))
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rfloat.ll_hash_float", &[*FLOAT])
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let [v] = hop.inputargs([&Repr::Float])?;
        Ok(Some(hop.llops.genop(
            View::Unary {
                family: NumFamily::Float,
                op: NumOp::IsTrue,
                value: &v,
            },
            *BOOL,
        )))
    }

    fn rtype_neg(&self, hop: &Hop<'_>) -> RType {
        self.unary(hop, NumOp::Neg)
    }

    fn rtype_pos(&self, hop: &Hop<'_>) -> RType {
        hop.inputarg(&Repr::Float, 0).map(Some)
    }

    fn rtype_abs(&self, hop: &Hop<'_>) -> RType {
        self.unary(hop, NumOp::Abs)
    }

    fn rtype_int(&self, hop: &Hop<'_>) -> RType {
        let [v] = hop.inputargs([&Repr::Float])?;
        if hop.rt.raises_uncaught() {
            hop.raises_implicitly(&[Exc::ValueError, Exc::OverflowError])?;
            return hop.gendirectcall("rfloat.ll_float_to_int", [v]).map(Some);
        }
        hop.exception_cannot_occur()?;
        Ok(Some(hop.genop(View::CastFloatToInt { value: &v }, *SIGNED)))
    }

    fn rtype_long(&self, hop: &Hop<'_>) -> RType {
        self.rtype_int(hop)
    }

    fn rtype_float(&self, hop: &Hop<'_>) -> RType {
        let [v] = hop.inputargs([&Repr::Float])?;
        hop.exception_cannot_occur()?;
        Ok(Some(v))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Float, 0)?;
        hop.gendirectcall("ll_str.ll_float_str", [v]).map(Some)
    }
}

/// SingleFloat: stored and cast, nothing else.
#[derive(Debug)]
pub(crate) struct SingleFloatRepr;

impl ReprMethods for SingleFloatRepr {
    fn lowleveltype(&self) -> LLType {
        *SINGLEFLOAT
    }

    fn describe(&self) -> Description {
        Description::an("r_singlefloat")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::SingleFloat(bits) => Ok(LLConst::SingleFloat(*bits)),
            other => Err(TyperError::internal(format!(
                "{other} is not an r_singlefloat"
            ))),
        }
    }

    fn rtype_float(&self, hop: &Hop<'_>) -> RType {
        let [v] = hop.inputargs([&Repr::SingleFloat])?;
        hop.exception_cannot_occur()?;
        Ok(Some(hop.genop(View::CastPrimitive { value: &v }, *FLOAT)))
    }
}

/// Comparison operations, by the name that all families share.
pub(crate) fn comparison(op: HlOp) -> Option<NumOp> {
    Some(match op {
        HlOp::Lt => NumOp::Lt,
        HlOp::Le => NumOp::Le,
        HlOp::Eq | HlOp::Is => NumOp::Eq,
        HlOp::Ne => NumOp::Ne,
        HlOp::Gt => NumOp::Gt,
        HlOp::Ge => NumOp::Ge,
        _ => return None,
    })
}

/// Arithmetic and comparison where at least one side is a float and the other one
/// any number.
pub(crate) fn float_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let number = |r: &Repr| matches!(r, Repr::Float | Repr::Int(_) | Repr::Bool);
    if !number(r1) || !number(r2) || !matches!((r1, r2), (Repr::Float, _) | (_, Repr::Float)) {
        return None;
    }
    let op = hop.op.not_inplace();
    if let Some(cmp) = comparison(op) {
        return Some(typed(hop, cmp, *BOOL));
    }
    let op = match op {
        HlOp::Add => NumOp::Add,
        HlOp::Sub => NumOp::Sub,
        HlOp::Mul => NumOp::Mul,
        HlOp::TrueDiv | HlOp::Div => NumOp::TrueDiv,
        HlOp::Pow => return Some(rtype_pow(hop)),
        _ => return None,
    };
    Some(typed(hop, op, *FLOAT))
}

fn typed(hop: &Hop<'_>, op: NumOp, result: LLType) -> RType {
    let args = hop.inputargs([&Repr::Float, &Repr::Float])?;
    if op == NumOp::TrueDiv && hop.has_implicit_exception(Exc::ZeroDivisionError)? {
        hop.exception_is_here()?;
        return hop.gendirectcall("rmodel.ll_truediv_zer", args).map(Some);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(hop.llops.genop(
        LLOp::Num(NumFamily::Float, op).view(&args),
        result,
    )))
}

fn rtype_pow(hop: &Hop<'_>) -> RType {
    let [x, y] = hop.inputargs([&Repr::Float, &Repr::Float])?;
    hop.exception_is_here()?;
    hop.gendirectcall("rmath.ll_math_pow", [x, y]).map(Some)
}
