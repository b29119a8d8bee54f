//! Arithmetic, comparison and conversion.

use taipan_graph::IntKind;
use taipan_lltype::{LLConst, LLOperand, LLType, NumFamily, NumOp, TypeKind};

use crate::expr::{ADD, AND, Expr, MUL, OR, SHIFT, UNARY, XOR};
use crate::types::pointer;

/// The largest value of a word without sign.
const MASK: &str = "0xffffffffffffffff";

/// `family_op(a, b)`; unary operations have their operand as both.
pub(crate) fn number(
    family: NumFamily,
    op: NumOp,
    a: &Expr,
    b: &Expr,
    count: Option<i128>,
) -> Option<Expr> {
    let is_float = family == NumFamily::Float;
    let wrapped = |e: Expr| wrap_to(family, &e);
    let compare =
        |text: &str, opposite: &str| Expr::compare(a, text, b, (!is_float).then_some(opposite));
    let binary = |text: &str, level: u8| Expr::binary(a, text, b, level);
    let unary = |text: &str| Expr::new(format!("{text}{}", a.under(UNARY)), UNARY).reading(a.reads);
    let bits = match family {
        NumFamily::Lllong | NumFamily::Ulllong => 128,
        _ => 64,
    };
    let signed = matches!(family, NumFamily::Int | NumFamily::Lllong);
    Some(match op {
        NumOp::IsTrue => Expr::compare(
            a,
            "!=",
            &Expr::atom(if is_float { "0.0" } else { "0" }),
            Some("==").filter(|_| !is_float),
        ),
        NumOp::Lt => compare("<", ">="),
        NumOp::Le => compare("<=", ">"),
        NumOp::Eq => Expr::compare(a, "==", b, Some("!=")),
        NumOp::Ne => Expr::compare(a, "!=", b, Some("==")),
        NumOp::Gt => compare(">", "<="),
        NumOp::Ge => compare(">=", "<"),
        NumOp::And if !is_float => binary("&", AND),
        NumOp::Or if !is_float => binary("|", OR),
        NumOp::Xor if !is_float => binary("^", XOR),
        NumOp::Neg => wrapped(unary("-")),
        NumOp::Abs => wrapped(Expr::call("abs", &[a])),
        NumOp::Invert if !is_float => wrapped(unary("~")),
        NumOp::Add => wrapped(binary("+", ADD)),
        NumOp::Sub => wrapped(binary("-", ADD)),
        NumOp::Mul => wrapped(binary("*", MUL)),
        NumOp::TrueDiv if is_float => Expr::call("float_div", &[a, b]),
        NumOp::FloorDiv if signed => wrapped(Expr::call("int_div", &[a, b])),
        NumOp::Mod if signed => Expr::call("int_mod", &[a, b]),
        NumOp::FloorDiv if !is_float => binary("//", MUL),
        NumOp::Mod if !is_float => binary("%", MUL),
        NumOp::LShift if !is_float => match count {
            Some(n) if (0..bits).contains(&n) => wrapped(binary("<<", SHIFT)),
            _ => wrapped(Expr::call(
                "shifted_left",
                &[a, b, &Expr::atom(bits.to_string())],
            )),
        },
        NumOp::RShift if !is_float => match count {
            Some(n) if (0..bits).contains(&n) => binary(">>", SHIFT),
            _ => Expr::call("shifted_right", &[a, b, &Expr::atom(bits.to_string())]),
        },
        NumOp::And
        | NumOp::Or
        | NumOp::Xor
        | NumOp::Invert
        | NumOp::TrueDiv
        | NumOp::FloorDiv
        | NumOp::Mod
        | NumOp::LShift
        | NumOp::RShift => return None,
    })
}

fn wrap_to(family: NumFamily, e: &Expr) -> Expr {
    match family {
        NumFamily::Float => e.clone(),
        NumFamily::Int => Expr::call("signed", &[e]),
        NumFamily::Lllong => Expr::call("signed128", &[e]),
        NumFamily::Ulllong => masked(e, 128),
        NumFamily::Uint | NumFamily::Char | NumFamily::Unichar => masked(e, 64),
    }
}

fn masked(e: &Expr, bits: u8) -> Expr {
    let mask = match bits {
        64 => MASK.to_owned(),
        bits => format!("{:#x}", u128::MAX >> (128 - u32::from(bits))),
    };
    Expr::binary(e, "&", &Expr::atom(mask), AND)
}

/// The integer within the range of a kind.
fn wrap(e: &Expr, kind: IntKind) -> Expr {
    match (kind.signed, kind.bits) {
        (false, bits) => masked(e, bits),
        (true, 64) => Expr::call("signed", &[e]),
        (true, bits) => Expr::call(&format!("signed{bits}"), &[e]),
    }
}

/// The least and the greatest of integers and their like.
fn range(ty: LLType) -> Option<(bool, u8)> {
    Some(match ty.kind() {
        TypeKind::Bool => (false, 1),
        TypeKind::Char => (false, 8),
        TypeKind::UniChar => (false, 32),
        TypeKind::Int(k) => (k.signed, k.bits),
        _ => return None,
    })
}

/// Whether all values of `from` are values of `to`.
fn fits(from: LLType, to: IntKind) -> bool {
    match range(from) {
        Some((false, bits)) => bits <= to.bits && !to.signed || bits < to.bits,
        Some((true, bits)) => to.signed && bits <= to.bits,
        None => false,
    }
}

/// A value of another primitive type.
pub(crate) fn converted(e: &Expr, from: LLType, to: LLType) -> Option<Expr> {
    if from == to {
        return Some(e.clone());
    }
    let from_float = matches!(from.kind(), TypeKind::Float | TypeKind::SingleFloat);
    let whole = match from_float {
        true => Expr::call("truncated", &[e]),
        false => e.clone(),
    };
    Some(match to.kind() {
        TypeKind::Bool if from_float => Expr::compare(e, "!=", &Expr::atom("0.0"), None),
        TypeKind::Bool => Expr::compare(e, "!=", &Expr::atom("0"), Some("==")),
        TypeKind::Char => masked(&whole, 8),
        TypeKind::UniChar
            if fits(
                from,
                IntKind {
                    signed: false,
                    bits: 32,
                },
            ) =>
        {
            whole
        }
        TypeKind::UniChar => masked(&whole, 32),
        TypeKind::Int(_) if *from.kind() == TypeKind::Bool => Expr::call("int", &[e]),
        TypeKind::Int(k) if fits(from, *k) => whole,
        TypeKind::Int(k) => wrap(&whole, *k),
        TypeKind::Float if from_float => e.clone(),
        TypeKind::Float => Expr::call("float", &[e]),
        TypeKind::SingleFloat => Expr::call("single", &[e]),
        TypeKind::Address | TypeKind::Ptr(_) if pointer(from).is_none() => {
            Expr::call(from_number(to), &[&whole])
        }
        _ => return None,
    })
}

/// The function of the support library that makes a pointer of a type of a number.
pub(crate) fn from_number(ty: LLType) -> &'static str {
    match pointer(ty) {
        Some(crate::types::Pointer::Raw) | None => "address_of_number",
        Some(_) => "object_of_number",
    }
}

/// A constant number of places to shift by.
pub(crate) fn shift_count(o: &LLOperand) -> Option<i128> {
    match o {
        LLOperand::Const(LLConst::Int(_, n)) => Some(n.get()),
        _ => None,
    }
}
