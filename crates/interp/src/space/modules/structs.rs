//! `struct`.

use num_traits::ToPrimitive;

use crate::space::builtin::{Args, Builtin};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// A parsed format: little end first, and repeat count, code and size of each field.
struct Format {
    little: bool,
    fields: Vec<(usize, char, usize)>,
    aligned: bool,
}

fn parse(it: &mut Interp, v: &Value) -> R<Format> {
    let text = it.name_of(v, "struct format")?;
    let (little, native, rest) = match text.chars().next() {
        Some('<' | '=') => (true, false, &text[1..]),
        Some('>' | '!') => (false, false, &text[1..]),
        Some('@') => (true, true, &text[1..]),
        _ => (true, true, &text[..]),
    };
    let mut chars = rest.chars();
    let mut fields = Vec::new();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut count = None;
        let mut c = c;
        while let Some(d) = c.to_digit(10) {
            count = Some((count.unwrap_or(0) * 10 + d as usize).min(1 << 30));
            match chars.next() {
                Some(n) => c = n,
                None => return error(it, "repeat count given without format specifier"),
            }
        }
        let size = match c {
            'x' | 'c' | 'b' | 'B' | '?' | 's' | 'p' => 1,
            'h' | 'H' => 2,
            'i' | 'I' | 'f' => 4,
            'l' | 'L' => {
                if native {
                    8
                } else {
                    4
                }
            }
            'q' | 'Q' | 'd' | 'P' => 8,
            _ => return error(it, "bad char in struct format"),
        };
        let count = count.unwrap_or(1);
        if count > 1 << 20 {
            return error(it, "repeat count too large");
        }
        fields.push((count, c, size));
    }
    Ok(Format {
        little,
        fields,
        aligned: native,
    })
}

fn error<T>(it: &mut Interp, message: &str) -> R<T> {
    let class = match it.load("struct") {
        Ok(m) => it.heap.attr(m, "error").and_then(Value::as_ref),
        Err(_) => None,
    };
    it.raise(class.unwrap_or(ty::VALUE_ERROR), message)
}

fn align(f: &Format, at: usize, size: usize) -> usize {
    if f.aligned {
        at.next_multiple_of(size)
    } else {
        at
    }
}

fn calcsize(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "calcsize")?;
    let f = parse(it, arg)?;
    let mut at = 0;
    for (n, _, size) in &f.fields {
        at = align(&f, at, *size) + n * size;
    }
    Ok(Value::from(at))
}

fn pack(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "pack")?;
    let f = parse(it, arg)?;
    let mut values = args.pos[1..].iter();
    let mut out: Vec<u8> = Vec::new();
    for (n, c, size) in &f.fields {
        out.resize(align(&f, out.len(), *size), 0);
        if matches!(c, 's' | 'p') {
            let Some(v) = values.next() else {
                return error(it, "pack requires more arguments");
            };
            let s = it.bytes_of(v)?;
            let mut s = s.to_vec();
            s.resize(*n, 0);
            out.extend(s);
            continue;
        }
        for _ in 0..*n {
            if *c == 'x' {
                out.push(0);
                continue;
            }
            let Some(v) = values.next() else {
                return error(it, "pack requires more arguments");
            };
            let mut bytes = field_bytes(it, *c, *size, v)?;
            if !f.little {
                bytes.reverse();
            }
            out.extend(bytes);
        }
    }
    if values.next().is_some() {
        return error(it, "pack got too many arguments");
    }
    Ok(Value::bytes(&out))
}

fn field_bytes(it: &mut Interp, c: char, size: usize, v: &Value) -> R<Vec<u8>> {
    Ok(match c {
        'c' => it.bytes_of(v)?.to_vec(),
        '?' => vec![u8::from(it.truth(v)?)],
        'f' => (it.float_of(v)? as f32).to_le_bytes().to_vec(),
        'd' => it.float_of(v)?.to_le_bytes().to_vec(),
        _ => {
            let n = it.int_of(v, None)?;
            let Some(n) = it.big_int(&n).and_then(|b| b.to_i128()) else {
                return error(it, "integer out of range for format");
            };
            let bits = 8 * size as u32;
            let (low, high) = if c.is_ascii_lowercase() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            if n < low || n > high {
                return error(it, "integer out of range for format");
            }
            n.to_le_bytes()[..size].to_vec()
        }
    })
}

fn unpack(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "unpack", 2, 2)?;
    let f = parse(it, &args.pos[0])?;
    let data = it.bytes_of(&args.pos[1])?;
    let mut at = 0;
    let mut out = Vec::new();
    for (n, c, size) in &f.fields {
        at = align(&f, at, *size);
        if matches!(c, 's' | 'p') {
            let Some(s) = data.get(at..at + n) else {
                return error(it, "unpack requires a longer string argument");
            };
            out.push(Value::bytes(s));
            at += n;
            continue;
        }
        for _ in 0..*n {
            let Some(s) = data.get(at..at + size) else {
                return error(it, "unpack requires a longer string argument");
            };
            at += size;
            let mut raw = [0u8; 16];
            raw[..*size].copy_from_slice(s);
            if !f.little {
                raw[..*size].reverse();
            }
            let unsigned = i128::from_le_bytes(raw);
            let eight: [u8; 8] = raw[..8].try_into().expect("eight bytes");
            out.push(match c {
                'x' => continue,
                'c' => Value::bytes(s),
                '?' => Value::Bool(s[0] != 0),
                'f' => {
                    let four: [u8; 4] = raw[..4].try_into().expect("four bytes");
                    Value::Float(f64::from(f32::from_le_bytes(four)))
                }
                'd' => Value::Float(f64::from_le_bytes(eight)),
                c if c.is_ascii_lowercase() => {
                    let shift = 128 - 8 * *size as u32;
                    Value::int_or_long((unsigned << shift >> shift).into())
                }
                _ => Value::int_or_long(unsigned.into()),
            });
        }
    }
    if at != data.len() {
        return error(it, "unpack requires a string argument of the right length");
    }
    Ok(Value::tuple(out))
}

/// Functions of `_struct`.
pub(crate) const STRUCT: &[Builtin] = &[
    Builtin::function("_struct.calcsize", calcsize),
    Builtin::function("_struct.pack", pack),
    Builtin::function("_struct.unpack", unpack),
];
