//! `format % values` for constant formats: pieces are made one by one and joined
//! (RPython: `do_stringformat`).

use taipan_base::ErrorCode;
use taipan_graph::{Const, Operand};
use taipan_lltype::{FLOAT, LLConst, LLOperand, LLType, STR, UNICODE, View};

use super::text::text;
use super::{tuple_getitem, tuple_items};
use crate::hop::{ArgValue, cbool, cflavor_gc, csigned, ctype};
use crate::{Hop, RType, Repr, Typed, TyperError};

/// A part of a format string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// Itself.
    Text(Vec<u32>),
    /// A value.
    Value(Spec),
}

/// `%`, flags, width, precision, code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spec {
    left: bool,
    zero: bool,
    sign: bool,
    alternate: bool,
    width: i64,
    precision: Option<i64>,
    code: u8,
}

impl Spec {
    /// Nothing but the code.
    fn is_plain(self) -> bool {
        let flags = self.left || self.zero || self.sign || self.alternate;
        !flags && self.width == 0 && self.precision.is_none()
    }
}

/// Takes a format string apart.
pub(super) fn parse(format: &[u32]) -> Typed<Vec<Piece>> {
    let byte = |i: usize| format.get(i).and_then(|c| u8::try_from(*c).ok());
    let bad = || {
        TyperError::with_code(
            ErrorCode::IncompleteFormat,
            "the format string ends in the middle of a `%`",
        )
        .with_help("write `%%` for a percent sign")
    };
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut i = 0;
    while i < format.len() {
        if format[i] != u32::from(b'%') {
            literal.push(format[i]);
            i += 1;
            continue;
        }
        i += 1;
        if byte(i) == Some(b'%') {
            literal.push(u32::from(b'%'));
            i += 1;
            continue;
        }
        let mut spec = Spec {
            left: false,
            zero: false,
            sign: false,
            alternate: false,
            width: 0,
            precision: None,
            code: 0,
        };
        loop {
            match byte(i).ok_or_else(bad)? {
                b'-' => spec.left = true,
                b'0' => spec.zero = true,
                b'+' => spec.sign = true,
                b'#' => spec.alternate = true,
                _ => break,
            }
            i += 1;
        }
        let number = |i: &mut usize| {
            let mut n = 0i64;
            while let Some(d @ b'0'..=b'9') = byte(*i) {
                n = n.saturating_mul(10).saturating_add(i64::from(d - b'0'));
                *i += 1;
            }
            n
        };
        spec.width = number(&mut i);
        if byte(i) == Some(b'.') {
            i += 1;
            spec.precision = Some(number(&mut i));
        }
        spec.code = byte(i).ok_or_else(bad)?;
        i += 1;
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Value(spec));
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

/// `format % values`
pub(super) fn rtype_mod(hop: &Hop<'_>, unicode: bool) -> RType {
    let format: Vec<u32> = match hop.const_arg(0) {
        Some(Const::Str(s)) => s.iter().map(|b| u32::from(*b)).collect(),
        Some(Const::Unicode(s)) => s.to_vec(),
        _ => {
            return Err(TyperError::internal(
                "the string on the left of `%` is not a constant",
            ));
        }
    };
    let pieces = parse(&format)?;
    let values = values(hop)?;
    let wanted = pieces
        .iter()
        .filter(|p| matches!(p, Piece::Value(_)))
        .count();
    // As in RPython more of them do no harm.
    if wanted > values.len() {
        return Err(TyperError::with_code(
            ErrorCode::FormatValueCount,
            format!(
                "the format string has {} but {} given",
                match wanted {
                    1 => "1 place".to_owned(),
                    n => format!("{n} places"),
                },
                match values.len() {
                    1 => "1 value is".to_owned(),
                    n => format!("{n} values are"),
                }
            ),
        )
        .with_help(match &hop.args_r[1] {
            Repr::List(_) => {
                "a list is one value: write its items as a tuple, `(items[0], items[1])`"
            }
            _ => "write a tuple with a value for each: `(a, b)`",
        }));
    }
    let mut values = values.into_iter();
    let mut chunks = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let chunk = match piece {
            Piece::Text(s) => hop.inputconst(&text(unicode), &literal(&s, unicode))?,
            Piece::Value(spec) => {
                let (v, s, r) = values
                    .next()
                    .ok_or_else(|| TyperError::internal("values were counted"))?;
                let mut one = hop.clone();
                one.args_v = vec![v];
                one.args_s = vec![s];
                one.args_r = vec![r];
                one.exceptionlinks = &[];
                one.r_result = Repr::Str;
                one.s_result.const_ = None;
                formatted(&one, spec, unicode)?
            }
        };
        chunks.push(chunk);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(join(hop, chunks, unicode)))
}

fn literal(s: &[u32], unicode: bool) -> Const {
    if unicode {
        Const::Unicode(s.into())
    } else {
        Const::Str(s.iter().map(|c| *c as u8).collect())
    }
}

type Value = (ArgValue, taipan_annotator::SomeValue, Repr);

/// The values on the right: items of a tuple, or the one value.
fn values(hop: &Hop<'_>) -> Typed<Vec<Value>> {
    let (v, s, r) = (&hop.args_v[1], &hop.args_s[1], &hop.args_r[1]);
    if !matches!(r, Repr::Tuple(_)) {
        return Ok(vec![(v.clone(), s.clone(), r.clone())]);
    }
    let taipan_annotator::SomeKind::Tuple(items_s) = &s.kind else {
        return Err(TyperError::internal("a tuple without items"));
    };
    let items_r = tuple_items(r)?;
    let tuple = hop.inputarg(r, 1)?;
    let mut out = Vec::with_capacity(items_r.len());
    for (i, (s, r)) in items_s.iter().zip(items_r).enumerate() {
        let (v, _) = tuple_getitem(hop.llops, &hop.args_r[1], tuple.clone(), i)?;
        out.push((ArgValue::Low(v), s.clone(), r));
    }
    Ok(out)
}

/// One value as a string of the kind asked for.
fn formatted(hop: &Hop<'_>, spec: Spec, unicode: bool) -> Typed<LLOperand> {
    let r = hop.args_r[0].clone();
    let mut v = match spec.code {
        b's' if unicode && matches!(r, Repr::Unicode | Repr::UniChar) => {
            let v = hop.inputarg(&Repr::Unicode, 0)?;
            if r == Repr::UniChar {
                return Ok(v);
            }
            let t = UNICODE.ptr();
            return Ok((hop.llops).gendirectcall_to("rstr.ll_unicode_or_none", [v], t));
        }
        b's' => of_type(hop, r.methods().rtype_str(hop)?)?,
        b'r' => of_type(hop, r.methods().rtype_repr(hop)?)?,
        b'd' | b'i' | b'u' => integer(hop, spec, None)?,
        b'x' => integer(hop, spec, Some("ll_str.ll_int2hex"))?,
        b'o' => integer(hop, spec, Some("ll_str.ll_int2oct"))?,
        b'X' => {
            let v = integer(hop, spec, Some("ll_str.ll_int2hex"))?;
            hop.llops.gendirectcall_to("rstr.ll_upper", [v], STR.ptr())
        }
        b'c' => match r {
            Repr::Int(_) => {
                let i = hop.inputarg(&Repr::signed(), 0)?;
                let c = hop.genop(View::CastIntToChar { value: &i }, *taipan_lltype::CHAR);
                hop.llops
                    .gendirectcall_to("rstr.ll_chr2str", [c], STR.ptr())
            }
            _ => hop.inputarg(&Repr::Str, 0)?,
        },
        // As in RPython, whose `%f` is the `str()` of any number.
        b'f' if spec.is_plain() && matches!(r, Repr::Int(_) | Repr::Bool) => {
            of_type(hop, r.methods().rtype_str(hop)?)?
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
            if !matches!(r, Repr::Float | Repr::Int(_) | Repr::Bool) {
                return Err(TyperError::with_code(
                    ErrorCode::FormatNeedsInteger,
                    format!(
                        "`%{}` formats numbers, not {}",
                        char::from(spec.code),
                        r.methods().describe()
                    ),
                )
                .with_help("use `%s`, or make a number of it with `float()`"));
            }
            let x = hop.inputarg(&Repr::Float, 0)?;
            debug_assert_eq!(hop.llops.ty(&x), *FLOAT);
            let flags = i64::from(spec.sign) | i64::from(spec.alternate) << 2;
            let args = [
                x,
                Operand::Const(LLConst::Char(spec.code)),
                csigned(spec.precision.unwrap_or(6)),
                csigned(flags),
            ];
            hop.llops
                .gendirectcall_to("ll_str.ll_formatd", args, STR.ptr())
        }
        other => {
            return Err(TyperError::with_code(
                ErrorCode::UnknownFormatCharacter,
                format!("`%{}` in a format string is not RPython", char::from(other)),
            )
            .with_help(match other {
                b'(' => "give the values in their order: `\"%s %d\" % (a, b)`",
                b'*' => "write the width into the format string",
                _ => "there are `%d`, `%s`, `%r`, `%x`, `%o`, `%c` and, for floats, `%f`, `%e` and `%g`",
            }));
        }
    };
    if let (b's' | b'r', Some(p)) = (spec.code, spec.precision) {
        let args = [v, csigned(0), csigned(p)];
        v = hop
            .llops
            .gendirectcall_to("rstr.ll_stringslice_startstop", args, STR.ptr());
    }
    if spec.width > 0 {
        let zero = spec.zero && !matches!(spec.code, b's' | b'r' | b'c');
        let args = [
            v,
            csigned(spec.width),
            cbool(spec.left),
            cbool(zero),
            csigned(prefix(spec)),
        ];
        v = hop.llops.gendirectcall_to("ll_str.ll_pad", args, STR.ptr());
    }
    if unicode && hop.llops.ty(&v) != UNICODE.ptr() {
        v = hop.llops.convertvar(v, &Repr::Str, &Repr::Unicode)?;
    }
    Ok(v)
}

fn of_type(hop: &Hop<'_>, v: Option<LLOperand>) -> Typed<LLOperand> {
    match v {
        Some(v) if hop.llops.ty(&v) == *taipan_lltype::CHAR => {
            hop.llops.convertvar(v, &Repr::Char, &Repr::Str)
        }
        Some(v) => Ok(v),
        None => Err(TyperError::new("the value has no text")),
    }
}

/// How many characters stand between the sign and the digits.
fn prefix(spec: Spec) -> i64 {
    match spec.code {
        b'x' | b'X' if spec.alternate => 2,
        _ => 0,
    }
}

/// Decimal, or through a helper of another base.
fn integer(hop: &Hop<'_>, spec: Spec, base: Option<&str>) -> Typed<LLOperand> {
    let (v, wide) = match &hop.args_r[0] {
        Repr::Bool | Repr::Char => (hop.inputarg(&Repr::signed(), 0)?, false),
        Repr::Int(i) => {
            i.family()?;
            let wide = i.kind.bits > 64;
            (hop.inputarg(&hop.args_r[0].clone(), 0)?, wide)
        }
        Repr::Float => (hop.inputarg(&Repr::signed(), 0)?, false),
        other => {
            return Err(TyperError::with_code(
                ErrorCode::FormatNeedsInteger,
                format!(
                    "`%{}` formats integers, not {}",
                    char::from(spec.code),
                    other.methods().describe()
                ),
            )
            .with_help("use `%s`, or make an integer of it with `int()`"));
        }
    };
    let t = STR.ptr();
    let mut text = match base {
        None if wide => hop.llops.gendirectcall_to("ll_str.ll_lllong2dec", [v], t),
        None => hop.llops.gendirectcall_to("ll_str.ll_int2dec", [v], t),
        Some(_) if wide => {
            return Err(TyperError::new("128-bit integers have decimal text only"));
        }
        Some(helper) => hop
            .llops
            .gendirectcall_to(helper, [v, cbool(spec.alternate)], t),
    };
    if let Some(p) = spec.precision {
        let args = [
            text,
            csigned(p),
            csigned(prefix(spec)),
            cbool(spec.code == b'o' && spec.alternate),
        ];
        text = hop.llops.gendirectcall_to("ll_str.ll_min_digits", args, t);
    }
    if spec.sign {
        text = hop.llops.gendirectcall_to("ll_str.ll_with_sign", [text], t);
    }
    Ok(text)
}

/// One string of several.
pub(super) fn join(hop: &Hop<'_>, mut chunks: Vec<LLOperand>, unicode: bool) -> LLOperand {
    let container = if unicode { *UNICODE } else { *STR };
    if chunks.len() == 1 {
        return chunks.remove(0);
    }
    let array = LLType::gc_array(container.ptr());
    let count = csigned(chunks.len() as i64);
    let malloc = View::MallocVarsize {
        ty: &ctype(array),
        flavor: &cflavor_gc(),
        length: &count,
    };
    let items = hop.genop(malloc, array.ptr());
    for (i, chunk) in chunks.into_iter().enumerate() {
        hop.genop_void(View::Setarrayitem {
            array: &items,
            index: &csigned(i as i64),
            value: &chunk,
        });
    }
    let args = [ctype(container), count, items];
    hop.llops
        .gendirectcall_to("rstr.ll_join_strs", args, container.ptr())
}
