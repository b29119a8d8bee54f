//! Integers of all kinds (RPython: `rint.py`).

use taipan_annotator::{SomeKind, SomeValue};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, IntKind, Operand};
use taipan_interp::ObjData;
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, CHAR, FLOAT, FuncSym, LLConst, LLOp, LLOperand, LLType, NumFamily, NumOp, PlainOp,
    SIGNED, TypeKind, UNICHAR, View,
};

use crate::containers::{newtuple, tuple_items};
use crate::hop::cbool;
use crate::reprs::float::comparison;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Integers of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerRepr {
    /// Which kind.
    pub kind: IntKind,
}

/// A number constant of integral type.
pub(crate) fn const_as_int(c: &Const) -> Option<i128> {
    Some(match c {
        Const::Int(i) => i128::from(*i),
        Const::Bool(b) => i128::from(*b),
        Const::RInt(_, i) => i.get(),
        Const::Long(n) => i128::try_from(&**n).ok()?,
        _ => return None,
    })
}

impl IntegerRepr {
    /// The Repr of that kind.
    pub fn new(kind: IntKind) -> Self {
        IntegerRepr { kind }
    }

    /// The family of operations that works on it (RPython's `opprefix`). The kinds
    /// narrower than a word have none: they are for storage.
    pub fn family(&self) -> Typed<NumFamily> {
        match (self.kind.signed, self.kind.bits) {
            (true, 64) => Ok(NumFamily::Int),
            (false, 64) => Ok(NumFamily::Uint),
            (true, 128) => Ok(NumFamily::Lllong),
            (false, 128) => Ok(NumFamily::Ulllong),
            _ => Err(TyperError::with_code(
                ErrorCode::SmallIntegerArithmetic,
                format!(
                    "{} can be stored and converted, but not computed with",
                    self.describe()
                ),
            )
            .with_help("convert it first: `int(x)`")),
        }
    }

    fn repr(&self) -> Repr {
        Repr::Int(*self)
    }

    fn unary(&self, hop: &Hop<'_>, op: NumOp) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        hop.exception_cannot_occur()?;
        Ok(Some(hop.llops.genop(
            View::Unary {
                family: self.family()?,
                op,
                value: &v,
            },
            self.lowleveltype(),
        )))
    }

    fn unary_ovf(&self, hop: &Hop<'_>, helper: &str) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        hop.has_implicit_exception(Exc::OverflowError)?;
        hop.exception_is_here()?;
        let t = self.lowleveltype();
        Ok(Some(hop.llops.gendirectcall_to(helper, [v], t)))
    }

    fn checked_char(&self, hop: &Hop<'_>, check: &str, op: PlainOp, result: LLType) -> RType {
        let v = hop.inputarg(&Repr::signed(), 0)?;
        if hop.has_implicit_exception(Exc::ValueError)? {
            hop.exception_is_here()?;
            hop.gendirectcall(check, [v.clone()])?;
        } else {
            hop.exception_cannot_occur()?;
        }
        Ok(Some(hop.genop(op.view(&[v]), result)))
    }

    fn based(&self, hop: &Hop<'_>, helper: &str) -> RType {
        self.family()?;
        let v = hop.inputarg(&self.repr(), 0)?;
        hop.gendirectcall(helper, [v, cbool(true)]).map(Some)
    }
}

impl ReprMethods for IntegerRepr {
    fn lowleveltype(&self) -> LLType {
        LLType::new(TypeKind::Int(self.kind))
    }

    fn describe(&self) -> Description {
        match taipan_annotator::int_kind_name(self.kind) {
            None => Description::an("int"),
            Some(name) => Description::an(name),
        }
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        if let Const::Obj(o) = c
            && let ObjData::Instance(i) = &*rt.object(*o)?
            && let Some(inner) = &i.value
        {
            return self.convert_const(rt, inner);
        }
        match const_as_int(c) {
            // As in RPython: what fits an int is cast, also if it is written as a long.
            Some(v)
                if !matches!(c, Const::Long(_))
                    || i64::try_from(v).is_ok()
                    || self.kind.wrap(v) == v =>
            {
                Ok(LLConst::int(self.kind, self.kind.wrap(v)))
            }
            Some(_) => Err(TyperError::internal(format!(
                "the number {c} does not fit {}",
                self.describe()
            ))),
            None => Err(TyperError::internal(format!("{c} is not an integer"))),
        }
    }

    fn get_ll_eq_function(&self, rt: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        if self.family().is_ok() {
            return Ok(None);
        }
        let t = self.lowleveltype();
        rt.helper_for("rmodel.ll_eq_shortint", &[t, t]).map(Some)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rint.ll_hash_int", &[self.lowleveltype()])
    }

    fn has_fasthash(&self) -> bool {
        true
    }

    fn rtype_bytearray(&self, hop: &Hop<'_>) -> RType {
        crate::containers::bytearray_of_length(hop)
    }

    fn rtype_chr(&self, hop: &Hop<'_>) -> RType {
        self.checked_char(hop, "rint.ll_check_chr", PlainOp::CastIntToChar, *CHAR)
    }

    fn rtype_unichr(&self, hop: &Hop<'_>) -> RType {
        self.checked_char(
            hop,
            "rint.ll_check_unichr",
            PlainOp::CastIntToUnichar,
            *UNICHAR,
        )
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&self.repr(), 0)?;
        Ok(Some(hop.llops.genop(
            View::Unary {
                family: self.family()?,
                op: NumOp::IsTrue,
                value: &v,
            },
            *BOOL,
        )))
    }

    fn rtype_abs(&self, hop: &Hop<'_>) -> RType {
        if self.kind.signed {
            self.unary(hop, NumOp::Abs)
        } else {
            self.rtype_pos(hop)
        }
    }

    fn rtype_abs_ovf(&self, hop: &Hop<'_>) -> RType {
        if !self.kind.signed {
            return Err(TyperError::with_code(
                ErrorCode::InvalidOverflowCheck,
                format!(
                    "`ovfcheck()` works on plain ints, not on {}",
                    self.describe()
                ),
            )
            .with_help("compute with plain ints"));
        }
        self.unary_ovf(hop, "rint.ll_int_abs_ovf")
    }

    fn rtype_invert(&self, hop: &Hop<'_>) -> RType {
        self.unary(hop, NumOp::Invert)
    }

    fn rtype_neg(&self, hop: &Hop<'_>) -> RType {
        if self.kind.signed {
            return self.unary(hop, NumOp::Neg);
        }
        let v = hop.inputarg(&self.repr(), 0)?;
        hop.exception_cannot_occur()?;
        let zero = Operand::Const(LLConst::int(self.kind, 0));
        Ok(Some(hop.llops.genop(
            View::Binary {
                family: self.family()?,
                op: NumOp::Sub,
                left: &zero,
                right: &v,
            },
            self.lowleveltype(),
        )))
    }

    fn rtype_neg_ovf(&self, hop: &Hop<'_>) -> RType {
        if !self.kind.signed {
            return self.rtype_neg(hop);
        }
        self.unary_ovf(hop, "rint.ll_int_neg_ovf")
    }

    fn rtype_pos(&self, hop: &Hop<'_>) -> RType {
        hop.exception_cannot_occur()?;
        hop.inputarg(&self.repr(), 0).map(Some)
    }

    fn rtype_int(&self, hop: &Hop<'_>) -> RType {
        if !self.kind.signed && self.kind.bits >= 64 {
            return Err(TyperError::internal("`int()` of an unsigned number"));
        }
        let v = hop.inputarg(&Repr::signed(), 0)?;
        hop.exception_cannot_occur()?;
        Ok(Some(v))
    }

    fn rtype_long(&self, hop: &Hop<'_>) -> RType {
        self.rtype_int(hop)
    }

    fn rtype_float(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Float, 0)?;
        hop.exception_cannot_occur()?;
        Ok(Some(v))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        self.family()?;
        let v = hop.inputarg(&self.repr(), 0)?;
        let helper = match self.kind.bits {
            ..=64 => "ll_str.ll_int2dec",
            _ => "ll_str.ll_lllong2dec",
        };
        hop.gendirectcall(helper, [v]).map(Some)
    }

    fn rtype_repr(&self, hop: &Hop<'_>) -> RType {
        self.rtype_str(hop)
    }

    fn rtype_hex(&self, hop: &Hop<'_>) -> RType {
        self.based(hop, "ll_str.ll_int2hex")
    }

    fn rtype_oct(&self, hop: &Hop<'_>) -> RType {
        self.based(hop, "ll_str.ll_int2oct")
    }

    fn rtype_bin(&self, hop: &Hop<'_>) -> RType {
        self.based(hop, "ll_str.ll_int2bin")
    }
}

/// Arithmetic and comparison of integers and bools.
pub(crate) fn int_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let integral = |r: &Repr| matches!(r, Repr::Int(_) | Repr::Bool);
    if !integral(r1) || !integral(r2) {
        return None;
    }
    let op = hop.op.not_inplace();
    if let Some(cmp) = comparison(op) {
        return Some(compare(hop, r1, r2, cmp));
    }
    Some(match op {
        HlOp::Add => arithmetic(hop, NumOp::Add),
        HlOp::Sub => arithmetic(hop, NumOp::Sub),
        HlOp::Mul => arithmetic(hop, NumOp::Mul),
        HlOp::And => arithmetic(hop, NumOp::And),
        HlOp::Or => arithmetic(hop, NumOp::Or),
        HlOp::Xor => arithmetic(hop, NumOp::Xor),
        HlOp::LShift => shift(hop, NumOp::LShift),
        HlOp::RShift => shift(hop, NumOp::RShift),
        HlOp::AddOvf => add_ovf(hop),
        HlOp::SubOvf => checked(hop, PlainOp::IntSubOvf),
        HlOp::MulOvf => checked(hop, PlainOp::IntMulOvf),
        HlOp::FloorDiv | HlOp::Div => call_helper(hop, "py_div", true, false),
        HlOp::FloorDivOvf | HlOp::DivOvf => call_helper(hop, "py_div", true, true),
        HlOp::Mod => call_helper(hop, "py_mod", true, false),
        HlOp::ModOvf => call_helper(hop, "py_mod", true, true),
        HlOp::DivMod => divmod(hop),
        HlOp::LShiftOvf => call_helper(hop, "lshift", false, true),
        HlOp::TrueDiv => truediv(hop),
        _ => return None,
    })
}

/// Integers narrower than a word are for storage. Beside a plain int or a bool they
/// stay what they are (RPython: `compute_restype`), so there is no arithmetic either;
/// beside another wide kind they become that.
pub(crate) fn check_width(r1: &Repr, r2: &Repr) -> Typed<()> {
    let narrow = |r: &Repr| match r {
        Repr::Int(i) if i.kind.bits < 64 => Some(*i),
        _ => None,
    };
    let takes_part =
        |r: &Repr| matches!(r, Repr::Bool) || *r == Repr::signed() || narrow(r).is_some();
    match narrow(r1).or(narrow(r2)) {
        Some(i) if takes_part(r1) && takes_part(r2) => i.family().map(drop),
        _ => Ok(()),
    }
}

/// The Repr that arithmetic is done in: that of the result, `int` for a bool.
fn arithmetic_repr(hop: &Hop<'_>) -> Typed<(Repr, NumFamily)> {
    if let [r1, r2] = &hop.args_r[..] {
        check_width(r1, r2)?;
    }
    result_repr(hop)
}

fn result_repr(hop: &Hop<'_>) -> Typed<(Repr, NumFamily)> {
    match &hop.r_result {
        Repr::Int(r) => Ok((Repr::Int(*r), r.family()?)),
        Repr::Bool => Ok((Repr::signed(), NumFamily::Int)),
        other => Err(TyperError::internal(format!(
            "'{}' of integers gives {}",
            hop.op.name(),
            other.methods().describe()
        ))),
    }
}

fn arithmetic(hop: &Hop<'_>, op: NumOp) -> RType {
    let (r, family) = arithmetic_repr(hop)?;
    let args = hop.inputargs([&r, &r])?;
    hop.exception_cannot_occur()?;
    let v = hop
        .llops
        .genop(LLOp::Num(family, op).view(&args), r.lowleveltype());
    hop.convert_result(v, &r).map(Some)
}

/// The count may be of any width.
fn shift(hop: &Hop<'_>, op: NumOp) -> RType {
    let (r, family) = result_repr(hop)?;
    let args = hop.inputargs([&r, &Repr::signed()])?;
    if hop.rt.raises_uncaught() && !is_nonneg(&hop.args_s[1]) {
        hop.raises_implicitly(&[Exc::ValueError])?;
        hop.gendirectcall("rint.ll_check_shift", [args[1].clone()])?;
    } else {
        hop.exception_cannot_occur()?;
    }
    let op = LLOp::Num(family, op);
    let v = hop.llops.genop(op.view(&args), r.lowleveltype());
    hop.convert_result(v, &r).map(Some)
}

/// An operation that raises OverflowError by itself.
fn checked(hop: &Hop<'_>, op: PlainOp) -> RType {
    let (r, family) = arithmetic_repr(hop)?;
    if family != NumFamily::Int {
        return Err(TyperError::with_code(
            ErrorCode::InvalidOverflowCheck,
            format!(
                "`ovfcheck()` works on plain ints, not on {}",
                r.methods().describe()
            ),
        )
        .with_help("compute with plain ints"));
    }
    let args = hop.inputargs([&r, &r])?;
    hop.has_implicit_exception(Exc::OverflowError)?;
    hop.exception_is_here()?;
    let v = hop.genop(op.view(&args), r.lowleveltype());
    hop.convert_result(v, &r).map(Some)
}

fn add_ovf(hop: &Hop<'_>) -> RType {
    if hop.r_result == Repr::signed() {
        if is_nonneg(&hop.args_s[1]) {
            return checked(hop, PlainOp::IntAddNonnegOvf);
        }
        if is_nonneg(&hop.args_s[0]) {
            let mut hop2 = hop.clone();
            hop2.swap_fst_snd_args();
            return checked(&hop2, PlainOp::IntAddNonnegOvf);
        }
    }
    checked(hop, PlainOp::IntAddOvf)
}

/// Whether the annotator proved a number non-negative.
pub(crate) fn is_nonneg(s: &SomeValue) -> bool {
    match s.kind {
        SomeKind::Integer { nonneg, .. } => nonneg,
        SomeKind::Bool => true,
        _ => false,
    }
}

/// Division, modulo and checked shift through helpers: `ll_int_py_div`,
/// `ll_int_py_div_ovf`, `ll_int_py_div_zer`, `ll_int_py_div_ovf_zer`, and variants for
/// arguments known to be non-negative.
fn call_helper(hop: &Hop<'_>, func: &str, zer: bool, ovf: bool) -> RType {
    let (r, family) = arithmetic_repr(hop)?;
    let mut name = format!("rint.ll_{}_{func}", family.name());
    let mut implicit = false;
    if ovf {
        if family != NumFamily::Int {
            return Err(TyperError::with_code(
                ErrorCode::InvalidOverflowCheck,
                format!(
                    "`ovfcheck()` works on plain ints, not on {}",
                    r.methods().describe()
                ),
            )
            .with_help("compute with plain ints"));
        }
        hop.has_implicit_exception(Exc::OverflowError)?;
        name.push_str("_ovf");
        implicit = true;
    } else if func == "py_div" && quotient_may_overflow(hop, family) {
        name.push_str("_ovf");
        implicit = true;
    }
    if zer && hop.has_implicit_exception(Exc::ZeroDivisionError)? {
        name.push_str("_zer");
        implicit = true;
    }
    let r2 = if func == "lshift" {
        Repr::signed()
    } else {
        r.clone()
    };
    let args = hop.inputargs([&r, &r2])?;
    if implicit {
        hop.exception_is_here()?;
    } else {
        hop.exception_cannot_occur()?;
        if family == NumFamily::Int && zer && hop.args_s.iter().all(is_nonneg) {
            // Truncation and rounding down agree.
            let op = if func == "py_div" {
                NumOp::FloorDiv
            } else {
                NumOp::Mod
            };
            let v = hop
                .llops
                .genop(LLOp::Num(family, op).view(&args), r.lowleveltype());
            return hop.convert_result(v, &r).map(Some);
        }
    }
    let v = hop.llops.gendirectcall_to(&name, args, r.lowleveltype());
    hop.convert_result(v, &r).map(Some)
}

/// Whether the machine might trap on a quotient that is too large where that has to raise.
fn quotient_may_overflow(hop: &Hop<'_>, family: NumFamily) -> bool {
    family == NumFamily::Int && hop.rt.raises_uncaught() && !hop.args_s.iter().all(is_nonneg)
}

/// Quotient and remainder. Only the division looks whether the divisor is zero.
fn divmod(hop: &Hop<'_>) -> RType {
    let Some(r) = tuple_items(&hop.r_result)?.first().cloned() else {
        return Err(TyperError::internal("divmod gives an empty tuple"));
    };
    check_width(&hop.args_r[0], &hop.args_r[1])?;
    let family = match &r {
        Repr::Int(r) => r.family()?,
        _ => NumFamily::Int,
    };
    let zer = match hop.has_implicit_exception(Exc::ZeroDivisionError)? {
        true if quotient_may_overflow(hop, family) => "_ovf_zer",
        true => "_zer",
        false => "",
    };
    let args = hop.inputargs([&r, &r])?;
    match zer {
        "" => hop.exception_cannot_occur()?,
        _ => hop.exception_is_here()?,
    }
    let ty = r.lowleveltype();
    let call = |f: &str, zer: &str| {
        let name = format!("rint.ll_{}_py_{f}{zer}", family.name());
        hop.llops.gendirectcall_to(&name, args.clone(), ty)
    };
    let items = vec![call("div", zer), call("mod", "")];
    newtuple(hop.llops, &hop.r_result, items).map(Some)
}

fn truediv(hop: &Hop<'_>) -> RType {
    let args = hop.inputargs([&Repr::Float, &Repr::Float])?;
    if hop.has_implicit_exception(Exc::ZeroDivisionError)? {
        hop.exception_is_here()?;
        return hop.gendirectcall("rmodel.ll_truediv_zer", args).map(Some);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(hop.llops.genop(
        LLOp::Num(NumFamily::Float, NumOp::TrueDiv).view(&args),
        *FLOAT,
    )))
}

fn compare(hop: &Hop<'_>, r1: &Repr, r2: &Repr, op: NumOp) -> RType {
    if let Some(c) = hop.result_const() {
        hop.exception_cannot_occur()?;
        return c.map(Some);
    }
    check_width(r1, r2)?;
    let unsigned = |r: &Repr| matches!(r, Repr::Int(i) if !i.kind.signed);
    if (unsigned(r1) || unsigned(r2))
        && !((unsigned(r1) || is_nonneg(&hop.args_s[0]))
            && (unsigned(r2) || is_nonneg(&hop.args_s[1])))
    {
        return Err(TyperError::with_code(
            ErrorCode::MixedComparison,
            "a signed and an unsigned number are compared",
        )
        .with_help("convert one of them with `r_uint()` or `intmask()`"));
    }
    let r = Repr::Int(wider(r1, r2));
    let Repr::Int(int) = &r else {
        return Err(TyperError::internal("no common integer kind"));
    };
    let family = int.family()?;
    let args = hop.inputargs([&r, &r])?;
    hop.exception_cannot_occur()?;
    Ok(Some(
        hop.llops.genop(LLOp::Num(family, op).view(&args), *BOOL),
    ))
}

/// The kind that both are compared in: the larger one, unsigned if one is.
fn wider(r1: &Repr, r2: &Repr) -> IntegerRepr {
    let kind = |r: &Repr| match r {
        Repr::Int(i) => i.kind,
        _ => IntKind::SIGNED,
    };
    let (a, b) = (kind(r1), kind(r2));
    IntegerRepr::new(IntKind {
        signed: a.signed && b.signed,
        bits: a.bits.max(b.bits).max(64),
    })
}

/// Conversions among bools, integers of all kinds and floats.
pub(crate) fn num_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    use PlainOp::*;
    let op: LLOp = match (from, to) {
        (Repr::Bool, Repr::Int(i)) => match i.kind {
            IntKind::SIGNED => CastBoolToInt.into(),
            IntKind::UNSIGNED => CastBoolToUint.into(),
            _ => CastPrimitive.into(),
        },
        (Repr::Bool, Repr::Float) => CastBoolToFloat.into(),
        (Repr::Float, Repr::Bool) => LLOp::Num(NumFamily::Float, NumOp::IsTrue),
        (Repr::Int(i), Repr::Bool) => match i.family() {
            Ok(family) => LLOp::Num(family, NumOp::IsTrue),
            Err(_) => CastPrimitive.into(),
        },
        (Repr::Int(a), Repr::Int(b)) => match (a.kind, b.kind) {
            (IntKind::SIGNED, IntKind::UNSIGNED) => CastIntToUint.into(),
            (IntKind::UNSIGNED, IntKind::SIGNED) => CastUintToInt.into(),
            _ => CastPrimitive.into(),
        },
        (Repr::Int(i), Repr::Float) | (Repr::Float, Repr::Int(i)) if i.kind.bits > 64 => {
            return None;
        }
        (Repr::Int(i), Repr::Float) => match i.kind {
            IntKind::SIGNED => CastIntToFloat.into(),
            IntKind::UNSIGNED => CastUintToFloat.into(),
            _ => CastPrimitive.into(),
        },
        (Repr::Float, Repr::Int(i)) => match i.kind {
            IntKind::SIGNED => CastFloatToInt.into(),
            IntKind::UNSIGNED => CastFloatToUint.into(),
            _ => CastPrimitive.into(),
        },
        _ => return None,
    };
    Some(Ok(llops.genop(op.view(&[v]), to.lowleveltype())))
}

/// Converts between primitive low-level types, as `cast_primitive` does
/// (RPython: `gen_cast`).
pub(crate) fn gen_cast(llops: &LLOps<'_>, target: LLType, v: LLOperand) -> Typed<LLOperand> {
    use PlainOp::*;
    let source = llops.ty(&v);
    if source == target {
        return Ok(v);
    }
    let to_signed = |t: LLType| -> Option<Option<PlainOp>> {
        Some(match t.kind() {
            TypeKind::Int(IntKind::SIGNED) => None,
            TypeKind::Bool => Some(CastBoolToInt),
            TypeKind::Char => Some(CastCharToInt),
            TypeKind::UniChar => Some(CastUnicharToInt),
            TypeKind::Float => Some(CastFloatToInt),
            TypeKind::Int(IntKind::UNSIGNED) => Some(CastUintToInt),
            _ => return None,
        })
    };
    let from_signed = |t: LLType| -> Option<Option<PlainOp>> {
        Some(match t.kind() {
            TypeKind::Int(IntKind::SIGNED) => None,
            TypeKind::Char => Some(CastIntToChar),
            TypeKind::UniChar => Some(CastIntToUnichar),
            TypeKind::Float => Some(CastIntToFloat),
            TypeKind::Int(IntKind::UNSIGNED) => Some(CastIntToUint),
            _ => return None,
        })
    };
    // Through Signed a float would lose what only Unsigned holds.
    match (source.kind(), target.kind()) {
        (TypeKind::Float, TypeKind::Int(IntKind::UNSIGNED)) => {
            return Ok(llops.genop(View::CastFloatToUint { value: &v }, target));
        }
        (TypeKind::Int(IntKind::UNSIGNED), TypeKind::Float) => {
            return Ok(llops.genop(View::CastUintToFloat { value: &v }, target));
        }
        (TypeKind::Int(IntKind::SIGNED), TypeKind::Bool) => {
            return Ok(llops.genop(
                View::Unary {
                    family: NumFamily::Int,
                    op: NumOp::IsTrue,
                    value: &v,
                },
                *BOOL,
            ));
        }
        _ => {}
    }
    if let (Some(first), Some(second)) = (to_signed(source), from_signed(target)) {
        let mut v = v;
        if let Some(op) = first {
            v = llops.genop(op.view(&[v]), *SIGNED);
        }
        if let Some(op) = second {
            v = llops.genop(op.view(&[v]), target);
        }
        return Ok(v);
    }
    let op = match (source.kind(), target.kind()) {
        (TypeKind::Ptr(a), TypeKind::Ptr(b)) => {
            let opaque = |t: &LLType| matches!(t.kind(), TypeKind::Opaque { .. });
            if opaque(a) || opaque(b) {
                CastOpaquePtr
            } else {
                CastPointer
            }
        }
        (TypeKind::Address, TypeKind::Ptr(_)) => CastAdrToPtr,
        (TypeKind::Ptr(_), TypeKind::Address) => CastPtrToAdr,
        (TypeKind::Ptr(_), TypeKind::Int(_)) => {
            let v = llops.genop(View::CastPtrToInt { value: &v }, *SIGNED);
            return gen_cast(llops, target, v);
        }
        (TypeKind::Address, TypeKind::Int(_)) => {
            let v = llops.genop(View::CastAdrToInt { value: &v }, *SIGNED);
            return gen_cast(llops, target, v);
        }
        (TypeKind::Int(_), TypeKind::Ptr(_)) => {
            let v = gen_cast(llops, *SIGNED, v)?;
            return Ok(llops.genop(View::CastIntToPtr { value: &v }, target));
        }
        (TypeKind::Int(_), TypeKind::Address) => {
            let v = gen_cast(llops, *SIGNED, v)?;
            return Ok(llops.genop(View::CastIntToAdr { value: &v }, target));
        }
        (TypeKind::Void, _)
        | (_, TypeKind::Void | TypeKind::Ptr(_) | TypeKind::Struct(_) | TypeKind::Array(_)) => {
            return Err(TyperError::new(format!(
                "no cast from {source} to {target}"
            )));
        }
        _ => CastPrimitive,
    };
    Ok(llops.genop(op.view(&[v]), target))
}
