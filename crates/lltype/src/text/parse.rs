//! Types, constants and declarations from text.

use std::sync::Arc;

use taipan_graph::text::{Cursor, ParseError, int_with_kind, parse_const};
use taipan_graph::{Const, IntKind, ObjId};

use super::{LLNames, is_name_char};
use crate::{
    ADDRESS, ArrayType, BOOL, CHAR, FLOAT, Field, FuncKind, FuncSym, FuncType, HelperArg, LLConst,
    LLType, SIGNED, SINGLEFLOAT, STR, StaticSym, StructBody, StructId, StructType, TypeKind,
    UNICHAR, UNICODE, UNSIGNED, VOID, VoidConst,
};

type Parsed<T> = Result<T, ParseError>;

/// One declaration of a struct or a function, if there is one at the cursor.
///
/// # Errors
/// The unexpected text, with its place.
pub fn declaration(cursor: &mut Cursor<'_>, names: &mut LLNames) -> Parsed<bool> {
    if cursor.eat_word("struct") {
        let label = name(cursor)?;
        let t = structure(cursor, label, names)?;
        names.structs.insert(label.to_owned(), t);
        names.struct_names.insert(t, label.to_owned());
        return Ok(true);
    }
    if cursor.eat_word("func") {
        let label = name(cursor)?;
        let f = function(cursor, names)?;
        names.funcs.insert(label.to_owned(), f.clone());
        names.func_names.insert(f, label.to_owned());
        return Ok(true);
    }
    Ok(false)
}

fn name<'a>(cursor: &mut Cursor<'a>) -> Parsed<&'a str> {
    let name = cursor.take_while(is_name_char);
    // What closes a `<func name>` is no part of the name.
    let unclosed = name.matches('>').count() > name.matches('<').count();
    if unclosed && name.ends_with('>') {
        cursor.back(1);
        return Ok(&name[..name.len() - 1]);
    }
    Ok(name)
}

fn quoted(cursor: &mut Cursor<'_>) -> Parsed<Arc<str>> {
    let points = cursor.quoted()?;
    let text: String = points.into_iter().filter_map(char::from_u32).collect();
    Ok(text.into())
}

fn object(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<ObjId> {
    match parse_const(cursor, &names.objects)? {
        Const::Obj(o) => Ok(o),
        _ => cursor.error("expected an object"),
    }
}

/// A struct declaration. The name before a `~` is the struct's own.
fn structure(cursor: &mut Cursor<'_>, label: &str, names: &LLNames) -> Parsed<LLType> {
    let own: Arc<str> = label.split('~').next().unwrap_or(label).into();
    cursor.expect("=")?;
    let gc = cursor.eat_word("GcStruct");
    if !gc && !cursor.eat_word("Struct") {
        return cursor.error("expected `GcStruct` or `Struct`");
    }
    let id = if cursor.eat_word("instance") {
        StructId::Instance(object(cursor, names)?)
    } else if cursor.eat_word("vtable") {
        StructId::Vtable(object(cursor, names)?)
    } else if cursor.eat_word("forward") {
        StructId::Forward(quoted(cursor)?)
    } else {
        StructId::Inline(Arc::new(body(cursor, names)?))
    };
    Ok(LLType::new(TypeKind::Struct(StructType {
        name: own,
        gc,
        id,
    })))
}

fn body(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<StructBody> {
    cursor.expect("{")?;
    let fields = cursor.list("}", |c| {
        let name = c.word()?.into();
        c.expect(":")?;
        Ok(Field {
            name,
            ty: ty(c, names)?,
        })
    })?;
    let adtmeths = adtmeths(cursor, names)?;
    let mut names_after = |word: &str| -> Parsed<Vec<Arc<str>>> {
        if !cursor.eat_word(word) {
            return Ok(Vec::new());
        }
        cursor.expect("(")?;
        cursor.list(")", |c| c.word().map(Arc::from))
    };
    Ok(StructBody {
        fields,
        adtmeths,
        immutable: names_after("immutable")?,
        frozen_lists: names_after("frozen_lists")?,
        quasi_immutable: names_after("quasi_immutable")?,
        virtualizable: names_after("virtualizable")?,
        virtualizable_lists: names_after("virtualizable_lists")?,
        own_lists: names_after("own_lists")?,
        union: cursor.eat_word("union"),
    })
}

/// `adtmeths #id`, if that is what comes next.
fn adtmeths(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<Option<ObjId>> {
    Ok(match cursor.eat_word("adtmeths") {
        true => Some(object(cursor, names)?),
        false => None,
    })
}

fn function(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<FuncSym> {
    cursor.expect("=")?;
    let kind = match cursor.word()? {
        "user" => FuncKind::User {
            func: object(cursor, names)?,
            spec: quoted(cursor)?,
            name: quoted(cursor)?,
        },
        "helper" => FuncKind::Helper {
            name: quoted(cursor)?,
            args: helper_args(cursor, names)?,
        },
        "synth" => FuncKind::Synth {
            name: quoted(cursor)?,
            args: helper_args(cursor, names)?,
        },
        "external" => FuncKind::External {
            name: quoted(cursor)?,
            can_collect: cursor.eat_word("can_collect"),
            can_raise: cursor.eat_word("can_raise"),
            releases_gil: cursor.eat_word("releases_gil"),
            library: None,
        },
        other => return cursor.error(format!("no kind of function `{other}`")),
    };
    cursor.expect(":")?;
    match ty(cursor, names)?.kind() {
        TypeKind::Func(ty) => Ok(FuncSym::new(kind, ty.clone())),
        _ => cursor.error("expected a function type"),
    }
}

fn helper_args(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<Arc<[HelperArg]>> {
    cursor.expect("(")?;
    let args = cursor.list(")", |c| {
        if !c.eat("=") {
            return Ok(HelperArg::Type(ty(c, names)?));
        }
        match constant(c, names)? {
            LLConst::Void(v) => Ok(HelperArg::Const(v)),
            _ => c.error("expected a constant of type Void"),
        }
    })?;
    Ok(args.into())
}

fn func(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<FuncSym> {
    let name = name(cursor)?;
    match names.func_named(name) {
        Some(f) => Ok(f.clone()),
        None => cursor.error(format!("no function is called `{name}`")),
    }
}

/// A type.
///
/// # Errors
/// The unexpected text, with its place.
pub fn ty(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<LLType> {
    if cursor.eat("*") {
        return Ok(ty(cursor, names)?.ptr());
    }
    let word = cursor.word()?;
    Ok(match word {
        "Void" => *VOID,
        "Bool" => *BOOL,
        "Char" => *CHAR,
        "UniChar" => *UNICHAR,
        "Signed" => *SIGNED,
        "Unsigned" => *UNSIGNED,
        "Float" => *FLOAT,
        "SingleFloat" => *SINGLEFLOAT,
        "Address" => *ADDRESS,
        "GcStruct" | "Struct" => {
            let name = name(cursor)?;
            match names.struct_named(name) {
                Some(t) => t,
                None => return cursor.error(format!("no struct is called `{name}`")),
            }
        }
        "GcArray" | "Array" => {
            let (mut nolength, mut immutable, mut extra_item) = (false, false, false);
            if cursor.eat("(") {
                for hint in cursor.list(")", Cursor::word)? {
                    nolength |= hint == "nolength";
                    immutable |= hint == "immutable";
                    extra_item |= hint == "extra_item";
                }
            }
            LLType::new(TypeKind::Array(ArrayType {
                gc: word == "GcArray",
                nolength,
                immutable,
                extra_item,
                adtmeths: adtmeths(cursor, names)?,
                of: of(cursor, names)?,
            }))
        }
        "FixedSizeArray" => {
            let n = cursor.int()?;
            LLType::new(TypeKind::FixedArray(of(cursor, names)?, n))
        }
        "func" => {
            cursor.expect("(")?;
            let args = cursor.list(")", |c| ty(c, names))?;
            cursor.expect("->")?;
            let result = ty(cursor, names)?;
            LLType::new(TypeKind::Func(FuncType { args, result }))
        }
        "GcOpaque" | "Opaque" => LLType::new(TypeKind::Opaque {
            name: name(cursor)?.into(),
            gc: word == "GcOpaque",
        }),
        word => match int_type(word) {
            Some(kind) => LLType::new(TypeKind::Int(kind)),
            None => return cursor.error(format!("no type is called `{word}`")),
        },
    })
}

fn of(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<LLType> {
    if !cursor.eat_word("of") {
        return cursor.error("expected `of`");
    }
    ty(cursor, names)
}

/// `Int32`, `UInt8`, ...
fn int_type(word: &str) -> Option<IntKind> {
    let (signed, rest) = match word.strip_prefix('U') {
        Some(rest) => (false, rest),
        None => (true, word),
    };
    let bits = rest.strip_prefix("Int")?.parse().ok()?;
    Some(IntKind { signed, bits })
}

/// A constant.
///
/// # Errors
/// The unexpected text, with its place.
pub fn constant(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<LLConst> {
    if cursor.eat("&") {
        return symbol(cursor, names);
    }
    if cursor.eat(".") {
        return Ok(LLConst::field(cursor.word()?));
    }
    if cursor.eat("<") {
        return special(cursor, names).map(LLConst::Void);
    }
    if cursor.eat("{") {
        let targets = cursor.list("}", |c| func(c, names))?;
        return Ok(LLConst::Void(VoidConst::Targets(targets.into())));
    }
    if cursor.eat("u+") {
        let hex = cursor.take_while(|c| c.is_ascii_hexdigit());
        return match u32::from_str_radix(hex, 16) {
            Ok(c) => Ok(LLConst::UniChar(c)),
            Err(_) => cursor.error("expected a code point"),
        };
    }
    if cursor.peek("'") {
        return match cursor.quoted()?[..] {
            [c] if c < 256 => Ok(LLConst::Char(c as u8)),
            _ => cursor.error("a Char is one byte"),
        };
    }
    for (word, c) in [
        ("Void", LLConst::void()),
        ("True", LLConst::Bool(true)),
        ("False", LLConst::Bool(false)),
    ] {
        if cursor.eat_word(word) {
            return Ok(c);
        }
    }
    if cursor.eat_word("null") {
        return Ok(LLConst::Null(ty(cursor, names)?));
    }
    number(cursor)
}

fn number(cursor: &mut Cursor<'_>) -> Parsed<LLConst> {
    let text = cursor.take_while(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if let Ok(i) = text.parse() {
        return Ok(LLConst::signed(i));
    }
    if let Some((value, kind)) = int_with_kind(text) {
        return Ok(LLConst::int(kind, value));
    }
    if let Some(single) = text.strip_suffix('f').filter(|t| *t != "in")
        && let Ok(v) = single.parse::<f32>()
    {
        return Ok(LLConst::SingleFloat(v.to_bits()));
    }
    match text.parse::<f64>() {
        Ok(v) => Ok(LLConst::Float(v.to_bits())),
        Err(_) => cursor.error(format!("expected a constant, found `{text}`")),
    }
}

/// What stands between `<` and `>`.
fn special(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<VoidConst> {
    let c = match cursor.word()? {
        "type" => VoidConst::Type(ty(cursor, names)?),
        "const" => VoidConst::Hl(parse_const(cursor, &names.objects)?),
        "func" => VoidConst::Func(func(cursor, names)?),
        word @ ("gc" | "raw") => VoidConst::Flavor {
            gc: word == "gc",
            zero: cursor.eat(",") && cursor.eat_word("zero"),
        },
        other => return cursor.error(format!("no constant `<{other}`")),
    };
    cursor.expect(">")?;
    Ok(c)
}

/// What stands behind `&`.
fn symbol(cursor: &mut Cursor<'_>, names: &LLNames) -> Parsed<LLConst> {
    let Some((sym, natural)) = prebuilt(cursor, names)? else {
        return func(cursor, names).map(LLConst::Func);
    };
    if cursor.eat_word("as") {
        return Ok(LLConst::data(sym, ty(cursor, names)?));
    }
    match natural {
        Some(t) => Ok(LLConst::data(sym, t)),
        None => cursor.error("expected `as` and a pointer type"),
    }
}

/// A name of prebuilt data, and the type of pointers to it where that goes without
/// saying; none if there is something else.
fn prebuilt(
    cursor: &mut Cursor<'_>,
    names: &LLNames,
) -> Parsed<Option<(StaticSym, Option<LLType>)>> {
    Ok(Some(if cursor.peek("'") || cursor.peek("u'") {
        match parse_const(cursor, &names.objects)? {
            Const::Str(s) => (StaticSym::Str(s), Some(STR.ptr())),
            Const::Unicode(s) => (StaticSym::Unicode(s), Some(UNICODE.ptr())),
            _ => return cursor.error("expected a string"),
        }
    } else if cursor.eat_word("vtable") {
        let sym = if cursor.eat_word("object") {
            StaticSym::ObjectVtable
        } else {
            StaticSym::Vtable(object(cursor, names)?)
        };
        (sym, None)
    } else if cursor.eat_word("object") {
        let o = object(cursor, names)?;
        (StaticSym::Object(o, ty(cursor, names)?), None)
    } else if cursor.eat_word("part") {
        let part = quoted(cursor)?;
        let o = object(cursor, names)?;
        (StaticSym::Part(o, part, ty(cursor, names)?), None)
    } else if cursor.eat_word("value") {
        let c = parse_const(cursor, &names.objects)?;
        (StaticSym::Value(c, ty(cursor, names)?), None)
    } else if cursor.eat_word("named") {
        let name = quoted(cursor)?;
        (StaticSym::Named(name, ty(cursor, names)?), None)
    } else if cursor.eat_word("within") {
        let mut path = Vec::new();
        while !cursor.eat_word("of") {
            let text = cursor.take_while(|c| c.is_ascii_digit() || c == '-');
            match text.parse() {
                Ok(i) => path.push(i),
                Err(_) => return cursor.error("expected a number"),
            }
            cursor.expect(",")?;
        }
        match prebuilt(cursor, names)? {
            Some((root, _)) => (StaticSym::Within(Arc::new(root), path.into()), None),
            None => return cursor.error("expected prebuilt data"),
        }
    } else {
        return Ok(None);
    }))
}
