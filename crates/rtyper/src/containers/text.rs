//! Byte strings, unicode strings and their characters (RPython: `rstr.py`). Helpers
//! are shared: they are specialised by the type of string.

use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, Operand};
use taipan_language::{Codec, Exc, TextMethod};
use taipan_lltype::{
    BOOL, CHAR, FLOAT, FuncSym, HelperArg, LLConst, LLOp, LLOperand, LLType, NumFamily, PlainOp,
    SIGNED, STR, StaticSym, UNICHAR, UNICODE, View,
};

use super::list_of;
use crate::hop::{SliceKind, cbool, cfield, csigned, ctype};
use crate::reprs::comparison;
use crate::{
    Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError, helper_sym,
};

/// Strings: of bytes, or unicode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TextRepr<const UNICODE: bool>;

/// Characters: of byte strings, or unicode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CharacterRepr<const UNICODE: bool>;

/// The Repr of strings of one kind.
pub(super) fn text(unicode: bool) -> Repr {
    if unicode { Repr::Unicode } else { Repr::Str }
}

/// The container behind strings of one kind.
fn container(unicode: bool) -> LLType {
    if unicode { *UNICODE } else { *STR }
}

fn char_type(unicode: bool) -> LLType {
    if unicode { *UNICHAR } else { *CHAR }
}

/// Whether the Repr is one of text, and of which kind.
pub(super) fn unicode_of(r: &Repr) -> Option<bool> {
    match r {
        Repr::Str | Repr::Char => Some(false),
        Repr::Unicode | Repr::UniChar => Some(true),
        _ => None,
    }
}

/// Whether the Repr is one of characters.
pub(super) fn is_char(r: &Repr) -> bool {
    matches!(r, Repr::Char | Repr::UniChar)
}

fn helper_for(name: &str, args: &[LLType], result: LLType) -> FuncSym {
    let args = args.iter().map(|t| HelperArg::Type(*t)).collect();
    helper_sym(name, args, result)
}

impl<const U: bool> ReprMethods for TextRepr<U> {
    fn lowleveltype(&self) -> LLType {
        container(U).ptr()
    }

    fn describe(&self) -> Description {
        Description::a(if U { "unicode" } else { "str" })
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        let sym = match c {
            Const::None => return Ok(LLConst::Null(self.lowleveltype())),
            Const::Str(s) if !U => StaticSym::Str(s.clone()),
            Const::Str(s) if s.is_ascii() => {
                StaticSym::Unicode(s.iter().map(|b| u32::from(*b)).collect())
            }
            Const::Unicode(s) if U => StaticSym::Unicode(s.clone()),
            other => {
                return Err(TyperError::internal(format!(
                    "{other} is not {}",
                    self.describe()
                )));
            }
        };
        Ok(LLConst::data(sym, self.lowleveltype()))
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        let t = self.lowleveltype();
        Ok(Some(helper_for("rstr.ll_streq", &[t, t], *BOOL)))
    }

    fn get_ll_hash_function(&self, _: &RTyper<'_>) -> Typed<FuncSym> {
        Ok(helper_for(
            "rstr.ll_strhash",
            &[self.lowleveltype()],
            *SIGNED,
        ))
    }

    fn has_fasthash(&self) -> bool {
        true
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        text_method(name, hop, U)
    }

    fn rtype_len(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&text(U), 0)?;
        Ok(Some(length(hop.llops, v)))
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&text(U), 0)?;
        let v = hop
            .llops
            .gendirectcall_to("rstr.ll_str_is_true", [v], *BOOL);
        Ok(Some(v))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&text(U), 0)?;
        let t = STR.ptr();
        if U {
            let v = hop.llops.gendirectcall_to("rstr.ll_unicode2str", [v], t);
            return Ok(Some(v));
        }
        if can_be_none(hop, 0) {
            let v = hop.llops.gendirectcall_to("rstr.ll_str_or_none", [v], t);
            return Ok(Some(v));
        }
        Ok(Some(v))
    }

    fn rtype_unicode(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            hop.exception_cannot_occur()?;
            return c.map(Some);
        }
        let v = hop.inputarg(&text(U), 0)?;
        if U {
            hop.exception_cannot_occur()?;
            return Ok(Some(v));
        }
        hop.exception_is_here()?;
        let v = hop
            .llops
            .gendirectcall_to("rstr.ll_str2unicode", [v], UNICODE.ptr());
        Ok(Some(v))
    }

    fn rtype_repr(&self, hop: &Hop<'_>) -> RType {
        if U {
            return Err(TyperError::missing("`repr()`", self.describe())
                .with_help("encode it first: `repr(s.encode('utf-8'))`"));
        }
        let v = hop.inputarg(&Repr::Str, 0)?;
        let v = hop.llops.gendirectcall_to("rstr.ll_repr", [v], STR.ptr());
        Ok(Some(v))
    }

    fn rtype_int(&self, hop: &Hop<'_>) -> RType {
        rtype_int(hop, U)
    }

    fn rtype_long(&self, hop: &Hop<'_>) -> RType {
        rtype_int(hop, U)
    }

    fn rtype_float(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Str, 0)?;
        hop.has_implicit_exception(Exc::ValueError)?;
        hop.exception_is_here()?;
        let v = hop
            .llops
            .gendirectcall_to("ll_str.ll_str2float", [v], *FLOAT);
        Ok(Some(v))
    }

    fn rtype_ord(&self, hop: &Hop<'_>) -> RType {
        let r = if U { Repr::UniChar } else { Repr::Char };
        let v = hop.inputarg(&r, 0)?;
        ord(hop, v, U)
    }

    fn rtype_getslice(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&text(U), 0)?;
        let (kind, bounds) = hop.decompose_slice_args()?;
        let helper = match kind {
            SliceKind::MinusOne => "rstr.ll_stringslice_minusone",
            SliceKind::StartOnly => "rstr.ll_stringslice_startonly",
            SliceKind::StartStop => "rstr.ll_stringslice_startstop",
        };
        let args = std::iter::once(v).chain(bounds);
        let v = hop
            .llops
            .gendirectcall_to(helper, args, self.lowleveltype());
        hop.convert_result(v, &text(U)).map(Some)
    }

    fn rtype_bytearray(&self, hop: &Hop<'_>) -> RType {
        super::bytearray::of_string(hop)
    }

    fn rtype_bltn_list(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&text(U), 0)?;
        let list = list_of(&hop.r_result)?;
        if list.item != if U { Repr::UniChar } else { Repr::Char } {
            return Err(TyperError::with_code(
                ErrorCode::NoConversion,
                format!(
                    "`list()` of {} makes a list of characters, and longer ones come into it",
                    self.describe()
                ),
            )
            .with_help("append the characters to a list of its own"));
        }
        let t = list.ty;
        hop.exception_cannot_occur()?;
        let v = hop
            .llops
            .gendirectcall_to("rstr.ll_string2list", [ctype(t), v], t.ptr());
        Ok(Some(v))
    }

    fn rtype_iter(&self, hop: &Hop<'_>) -> RType {
        super::iter::newiter(hop)
    }
}

impl<const U: bool> ReprMethods for CharacterRepr<U> {
    fn lowleveltype(&self) -> LLType {
        char_type(U)
    }

    fn describe(&self) -> Description {
        Description::a(if U { "unicode character" } else { "character" })
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::Str(s) if s.len() == 1 => Ok(if U {
                LLConst::UniChar(u32::from(s[0]))
            } else {
                LLConst::Char(s[0])
            }),
            Const::Unicode(s) if U && s.len() == 1 => Ok(LLConst::UniChar(s[0])),
            other => Err(TyperError::internal(format!(
                "{other} is not {}",
                self.describe()
            ))),
        }
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, _: &RTyper<'_>) -> Typed<FuncSym> {
        Ok(helper_for(
            "rint.ll_hash_int",
            &[self.lowleveltype()],
            *SIGNED,
        ))
    }

    fn has_fasthash(&self) -> bool {
        true
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        let method = TextMethod::named(name);
        if let Some(helper) = method.and_then(|m| char_test(m, U)) {
            let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
            hop.exception_cannot_occur()?;
            return Ok(Some(hop.llops.gendirectcall_to(helper, [v], *BOOL)));
        }
        let case = match method {
            Some(TextMethod::Upper) => "rstr.ll_upper_char",
            Some(TextMethod::Lower) => "rstr.ll_lower_char",
            _ => return text_method(name, hop, U),
        };
        let v = hop.inputarg(&Repr::Char, 0)?;
        hop.exception_cannot_occur()?;
        let v = hop.llops.gendirectcall_to(case, [v], *CHAR);
        hop.convert_result(v, &Repr::Char).map(Some)
    }

    fn rtype_len(&self, _: &Hop<'_>) -> RType {
        Ok(Some(csigned(1)))
    }

    fn rtype_bool(&self, _: &Hop<'_>) -> RType {
        Ok(Some(cbool(true)))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        if U {
            return TextRepr::<U>.rtype_str(hop);
        }
        let v = hop.inputarg(&Repr::Char, 0)?;
        hop.convert_result(v, &Repr::Char).map(Some)
    }

    fn rtype_unicode(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            hop.exception_cannot_occur()?;
            return c.map(Some);
        }
        if !U {
            return TextRepr::<U>.rtype_unicode(hop);
        }
        let v = hop.inputarg(&Repr::UniChar, 0)?;
        hop.exception_cannot_occur()?;
        hop.convert_result(v, &Repr::UniChar).map(Some)
    }

    fn rtype_repr(&self, hop: &Hop<'_>) -> RType {
        TextRepr::<U>.rtype_repr(hop)
    }

    fn rtype_ord(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
        ord(hop, v, U)
    }

    fn rtype_int(&self, hop: &Hop<'_>) -> RType {
        rtype_int(hop, U)
    }

    fn rtype_float(&self, hop: &Hop<'_>) -> RType {
        TextRepr::<U>.rtype_float(hop)
    }

    fn rtype_getslice(&self, hop: &Hop<'_>) -> RType {
        TextRepr::<U>.rtype_getslice(hop)
    }

    fn rtype_bytearray(&self, hop: &Hop<'_>) -> RType {
        super::bytearray::of_string(hop)
    }

    fn rtype_bltn_list(&self, hop: &Hop<'_>) -> RType {
        TextRepr::<U>.rtype_bltn_list(hop)
    }

    fn rtype_iter(&self, hop: &Hop<'_>) -> RType {
        super::iter::newiter(hop)
    }
}

fn ord(hop: &Hop<'_>, v: LLOperand, unicode: bool) -> RType {
    hop.exception_cannot_occur()?;
    let op = if unicode {
        PlainOp::CastUnicharToInt
    } else {
        PlainOp::CastCharToInt
    };
    Ok(Some(hop.genop(op.view(&[v]), *SIGNED)))
}

/// Whether the annotator thinks that an argument may be None.
fn can_be_none(hop: &Hop<'_>, i: usize) -> bool {
    use taipan_annotator::SomeKind::{Str, Unicode};
    matches!(
        hop.args_s[i].kind,
        Str {
            can_be_none: true,
            ..
        } | Unicode { can_be_none: true }
    )
}

/// `len(s.chars)`
pub(super) fn length(llops: &LLOps<'_>, v: LLOperand) -> LLOperand {
    llops.genop(
        View::Getinteriorarraysize {
            object: &v,
            path: &[cfield("chars")],
        },
        *SIGNED,
    )
}

/// The helper that tests a character.
fn char_test(method: TextMethod, unicode: bool) -> Option<&'static str> {
    use TextMethod::*;
    Some(match method {
        IsSpace if unicode => "rstr.ll_unichar_isspace",
        IsSpace => "rstr.ll_char_isspace",
        IsDigit => "rstr.ll_char_isdigit",
        IsAlpha => "rstr.ll_char_isalpha",
        IsAlnum => "rstr.ll_char_isalnum",
        IsUpper => "rstr.ll_char_isupper",
        IsLower => "rstr.ll_char_islower",
        StartsWith | EndsWith | Find | RFind | Count | Strip | LStrip | RStrip | Join | Split
        | RSplit | Replace | Upper | Lower | SplitLines | Decode | Encode | Format => return None,
    })
}

/// `int(s)`, `int(s, base)`
fn rtype_int(hop: &Hop<'_>, unicode: bool) -> RType {
    let v = hop.inputarg(&text(unicode), 0)?;
    let base = match hop.nb_args() {
        1 => csigned(10),
        _ => hop.inputarg(&Repr::signed(), 1)?,
    };
    hop.has_implicit_exception(Exc::ValueError)?;
    hop.exception_is_here()?;
    let v = hop
        .llops
        .gendirectcall_to("ll_str.ll_int", [v, base], *SIGNED);
    hop.convert_result(v, &Repr::signed()).map(Some)
}

// ---- methods ----

fn text_method(name: &str, hop: &Hop<'_>, unicode: bool) -> RType {
    use TextMethod::*;
    let missing = || {
        let what = hop.args_r[0].methods().describe();
        TyperError::missing(format_args!("`.{name}()`"), what)
    };
    let t = container(unicode).ptr();
    match TextMethod::named(name).ok_or_else(missing)? {
        Find | RFind | Count => search(name, hop, unicode),
        StartsWith | EndsWith => affix(name, hop, unicode),
        Strip => strip(hop, unicode, true, true),
        LStrip => strip(hop, unicode, true, false),
        RStrip => strip(hop, unicode, false, true),
        Split | RSplit => split(name, hop, unicode),
        Join => join(hop, unicode),
        Replace => replace(hop, unicode),
        Upper | Lower => {
            let v = hop.inputarg(&Repr::Str, 0)?;
            hop.exception_cannot_occur()?;
            let helper = format!("rstr.ll_{name}");
            Ok(Some(hop.llops.gendirectcall_to(&helper, [v], t)))
        }
        IsDigit | IsAlpha | IsAlnum => {
            let v = hop.inputarg(&text(unicode), 0)?;
            hop.exception_cannot_occur()?;
            let helper = format!("rstr.ll_{name}");
            Ok(Some(hop.llops.gendirectcall_to(&helper, [v], *BOOL)))
        }
        Encode | Decode => recode(hop, unicode),
        SplitLines => splitlines(hop),
        // Of characters alone, or not at all: the annotator says so.
        IsSpace | IsLower | IsUpper | Format => Err(missing()),
    }
}

/// Optional bounds of a search: from 0 to any length.
fn bounds(hop: &Hop<'_>) -> Typed<[LLOperand; 2]> {
    let mut out = [csigned(0), csigned(i64::MAX)];
    for (i, bound) in out.iter_mut().enumerate() {
        if hop.nb_args() > i + 2 && hop.args_r[i + 2] != Repr::None {
            *bound = hop.inputarg(&Repr::signed(), i + 2)?;
        }
    }
    Ok(out)
}

fn search(name: &str, hop: &Hop<'_>, unicode: bool) -> RType {
    let s = hop.inputarg(&text(unicode), 0)?;
    let (what, suffix) = needle(hop, 1, unicode)?;
    let [start, end] = bounds(hop)?;
    hop.exception_cannot_occur()?;
    let helper = format!("rstr.ll_{name}{suffix}");
    let v = hop
        .llops
        .gendirectcall_to(&helper, [s, what, start, end], *SIGNED);
    Ok(Some(v))
}

/// An argument that may be a character: the operand, and what the name of its helper
/// ends with.
fn needle(hop: &Hop<'_>, i: usize, unicode: bool) -> Typed<(LLOperand, &'static str)> {
    let arg = hop
        .args_r
        .get(i)
        .ok_or_else(|| TyperError::new("too few arguments"))?;
    if is_char(arg) {
        let r = if unicode { Repr::UniChar } else { Repr::Char };
        return Ok((hop.inputarg(&r, i)?, "_char"));
    }
    Ok((hop.inputarg(&text(unicode), i)?, ""))
}

fn affix(name: &str, hop: &Hop<'_>, unicode: bool) -> RType {
    let s = hop.inputarg(&text(unicode), 0)?;
    let (what, suffix) = needle(hop, 1, unicode)?;
    hop.exception_cannot_occur()?;
    let helper = format!("rstr.ll_{name}{suffix}");
    Ok(Some(hop.llops.gendirectcall_to(&helper, [s, what], *BOOL)))
}

fn strip(hop: &Hop<'_>, unicode: bool, left: bool, right: bool) -> RType {
    let s = hop.inputarg(&text(unicode), 0)?;
    let t = container(unicode).ptr();
    let (left, right) = (cbool(left), cbool(right));
    hop.exception_cannot_occur()?;
    let v = match hop.args_r.get(1) {
        None | Some(Repr::None) => {
            let helper = if unicode {
                "rstr.ll_strip_default_unicode"
            } else {
                "rstr.ll_strip_default"
            };
            hop.llops.gendirectcall_to(helper, [s, left, right], t)
        }
        Some(_) => {
            let (what, suffix) = needle(hop, 1, unicode)?;
            let helper = if suffix.is_empty() {
                "rstr.ll_strip_multiple"
            } else {
                "rstr.ll_strip"
            };
            hop.llops
                .gendirectcall_to(helper, [s, what, left, right], t)
        }
    };
    Ok(Some(v))
}

fn split(name: &str, hop: &Hop<'_>, unicode: bool) -> RType {
    let s = hop.inputarg(&text(unicode), 0)?;
    let limit = match hop.nb_args() {
        0..=2 => csigned(-1),
        _ => hop.inputarg(&Repr::signed(), 2)?,
    };
    let list = list_of(&hop.r_result)?.ty;
    let by = match hop.args_r.get(1) {
        None | Some(Repr::None) => None,
        Some(_) => Some(needle(hop, 1, unicode)?),
    };
    let v = match by {
        None if name == "rsplit" => {
            return Err(
                TyperError::missing("`.rsplit()` without a separator", "a str")
                    .with_help("say which character separates the parts: `rsplit(' ')`"),
            );
        }
        None => {
            hop.exception_cannot_occur()?;
            let args = [ctype(list), s, limit];
            hop.llops
                .gendirectcall_to("rstr.ll_split_blanks", args, list.ptr())
        }
        Some((by, suffix)) => {
            // Whatever a handler around it catches, as in RPython, where no exception is
            // expected here.
            if suffix.is_empty() {
                hop.exception_is_here()?;
            } else {
                hop.exception_cannot_occur()?;
            }
            // Of byte strings it is what RPython makes of it.
            if suffix.is_empty() && unicode {
                hop.gendirectcall("rstr.ll_check_separator", [by.clone()])?;
            }
            let helper = format!(
                "rstr.ll_{name}{}",
                if suffix.is_empty() { "" } else { "_chr" }
            );
            hop.llops
                .gendirectcall_to(&helper, [ctype(list), s, by, limit], list.ptr())
        }
    };
    Ok(Some(v))
}

fn splitlines(hop: &Hop<'_>) -> RType {
    let s = hop.inputarg(&Repr::Str, 0)?;
    let keep = match hop.nb_args() {
        1 => cbool(false),
        _ => hop.inputarg(&Repr::Bool, 1)?,
    };
    let list = list_of(&hop.r_result)?.ty;
    hop.exception_cannot_occur()?;
    let args = [ctype(list), s, keep];
    Ok(Some(hop.llops.gendirectcall_to(
        "rstr.ll_splitlines",
        args,
        list.ptr(),
    )))
}

fn join(hop: &Hop<'_>, unicode: bool) -> RType {
    // Of a list without items, whatever their type would be.
    if let Some(c) = hop.result_const() {
        hop.exception_cannot_occur()?;
        return Ok(Some(c?));
    }
    let t = container(unicode).ptr();
    let r_list = hop.args_r[1].clone();
    let list = list_of(&r_list)?;
    let item = list.item.clone();
    let v_list = hop.inputarg(&r_list, 1)?;
    let v_length = list.length(hop.llops, v_list.clone());
    let v_items = list.items(hop.llops, v_list);
    let s = hop.inputarg(&text(unicode), 0)?;
    let empty = matches!(hop.const_arg(0), Some(Const::Str(s)) if s.is_empty())
        || matches!(hop.const_arg(0), Some(Const::Unicode(s)) if s.is_empty());
    hop.exception_cannot_occur()?;
    let v = if is_char(&item) {
        if empty {
            let args = [ctype(container(unicode)), v_length, v_items];
            hop.llops.gendirectcall_to("rstr.ll_join_chars", args, t)
        } else {
            let args = [s, v_length, v_items];
            hop.llops
                .gendirectcall_to("rstr.ll_join_chars_with", args, t)
        }
    } else if empty {
        let args = [ctype(container(unicode)), v_length, v_items];
        hop.llops.gendirectcall_to("rstr.ll_join_strs", args, t)
    } else {
        hop.llops
            .gendirectcall_to("rstr.ll_join", [s, v_length, v_items], t)
    };
    Ok(Some(v))
}

fn replace(hop: &Hop<'_>, unicode: bool) -> RType {
    let t = container(unicode).ptr();
    let s = hop.inputarg(&text(unicode), 0)?;
    if hop.nb_args() != 3 || !is_char(&hop.args_r[1]) || !is_char(&hop.args_r[2]) {
        return Err(TyperError::new(
            "`.replace()` of longer strings is not RPython: it exchanges single characters",
        )
        .with_help("use `replace(s, old, new)` of rpython.rlib.rstring"));
    }
    let (old, _) = needle(hop, 1, unicode)?;
    let (new, _) = needle(hop, 2, unicode)?;
    hop.exception_cannot_occur()?;
    let v = hop
        .llops
        .gendirectcall_to("rstr.ll_replace_chr_chr", [s, old, new], t);
    Ok(Some(v))
}

/// `s.decode('ascii')`, `u.encode('latin-1')`, ...
fn recode(hop: &Hop<'_>, unicode: bool) -> RType {
    let codec = match hop.const_arg(1) {
        None if hop.nb_args() == 1 => Codec::Ascii.name(),
        c => c
            .and_then(Const::as_str)
            .ok_or_else(|| TyperError::new("the name of the encoding must be a constant"))?,
    };
    let codec = Codec::named(codec).ok_or_else(|| {
        TyperError::new(format!(
            "encoding {codec} is not one of ascii, latin-1, utf-8"
        ))
    })?;
    let v = hop.inputarg(&text(unicode), 0)?;
    let helper = match (unicode, codec) {
        (true, Codec::Ascii) => "rstr.ll_unicode2str",
        (true, Codec::Latin1) => "rstr.ll_encode_latin1",
        (true, Codec::Utf8) => "rstr.ll_encode_utf8",
        (false, Codec::Ascii) => "rstr.ll_str2unicode",
        (false, Codec::Latin1) => "rstr.ll_decode_latin1",
        (false, Codec::Utf8) => "rstr.ll_decode_utf8",
    };
    let (error, to) = match unicode {
        true => (Exc::UnicodeEncodeError, *STR),
        false => (Exc::UnicodeDecodeError, *UNICODE),
    };
    hop.has_implicit_exception(error)?;
    hop.exception_is_here()?;
    Ok(Some(hop.llops.gendirectcall_to(helper, [v], to.ptr())))
}

// ---- binary operations ----

/// Operations with text on the left.
pub(super) fn text_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let unicode1 = unicode_of(r1)?;
    let op = hop.op.not_inplace();
    if op == HlOp::Mod {
        return Some(match hop.op {
            HlOp::InplaceMod => Err(TyperError::not_rpython("`%=` of a string")
                .with_help("write it out: `s = s % values`")),
            _ => super::format::rtype_mod(hop, unicode1),
        });
    }
    if let Some(unicode2) = unicode_of(r2) {
        let unicode = unicode1 || unicode2;
        return match op {
            HlOp::Add => Some(concat(hop, r2, unicode)),
            HlOp::Contains => Some(contains(hop, unicode1)),
            HlOp::Is if is_char(r1) && is_char(r2) => Some(compare(hop, r1, r2, unicode)),
            HlOp::Is => None,
            HlOp::Eq | HlOp::Ne | HlOp::Lt | HlOp::Le | HlOp::Gt | HlOp::Ge => {
                Some(compare(hop, r1, r2, unicode))
            }
            HlOp::Cmp => Some(cmp(hop, unicode)),
            _ => None,
        };
    }
    match (op, r2) {
        (HlOp::GetItem, Repr::Int(_) | Repr::Bool) => Some(getitem(hop, unicode1)),
        (HlOp::Mul, Repr::Int(_) | Repr::Bool) => Some(repeat(hop, r1, 0)),
        _ => None,
    }
}

/// `n * s`
pub(super) fn int_text_pair(hop: &Hop<'_>, _: &Repr, r2: &Repr) -> Option<RType> {
    unicode_of(r2)?;
    (hop.op.not_inplace() == HlOp::Mul).then(|| repeat(hop, r2, 1))
}

fn concat(hop: &Hop<'_>, r2: &Repr, unicode: bool) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let t = container(unicode).ptr();
    let s = hop.inputarg(&text(unicode), 0)?;
    let (second, helper) = if is_char(r2) {
        (needle(hop, 1, unicode)?.0, "rstr.ll_strconcat_char")
    } else {
        (hop.inputarg(&text(unicode), 1)?, "rstr.ll_strconcat")
    };
    Ok(Some(hop.llops.gendirectcall_to(helper, [s, second], t)))
}

fn contains(hop: &Hop<'_>, unicode: bool) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let s = hop.inputarg(&text(unicode), 0)?;
    let (what, suffix) = needle(hop, 1, unicode)?;
    let helper = format!("rstr.ll_contains{suffix}");
    Ok(Some(hop.llops.gendirectcall_to(&helper, [s, what], *BOOL)))
}

fn compare(hop: &Hop<'_>, r1: &Repr, r2: &Repr, unicode: bool) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let op = comparison(hop.op).ok_or_else(|| TyperError::internal("not a comparison"))?;
    if is_char(r1) && is_char(r2) {
        let (r, family) = if unicode {
            (Repr::UniChar, NumFamily::Unichar)
        } else {
            (Repr::Char, NumFamily::Char)
        };
        let args = hop.inputargs([&r, &r])?;
        return Ok(Some(
            hop.llops.genop(LLOp::Num(family, op).view(&args), *BOOL),
        ));
    }
    let r = text(unicode);
    let args = hop.inputargs([&r, &r])?;
    let helper = format!("rstr.ll_str{}", op.name());
    Ok(Some(hop.llops.gendirectcall_to(&helper, args, *BOOL)))
}

fn cmp(hop: &Hop<'_>, unicode: bool) -> RType {
    let r = text(unicode);
    let args = hop.inputargs([&r, &r])?;
    let v = hop
        .llops
        .gendirectcall_to("rstr.ll_strcmp_sign", args, *SIGNED);
    Ok(Some(v))
}

fn getitem(hop: &Hop<'_>, unicode: bool) -> RType {
    if let Some(c) = hop.result_const() {
        hop.exception_cannot_occur()?;
        return c.map(Some);
    }
    let checked = hop.has_implicit_exception(Exc::IndexError)?;
    let nonneg = crate::reprs::is_nonneg(&hop.args_s[1]);
    let args = hop.inputargs([&text(unicode), &Repr::signed()])?;
    let char = if unicode { Repr::UniChar } else { Repr::Char };
    if checked {
        hop.exception_is_here()?;
    } else {
        hop.exception_cannot_occur()?;
    }
    let t = char_type(unicode);
    if !checked && hop.rt.is_checked() {
        let [s, i] = &args;
        let length = hop
            .llops
            .gendirectcall_to("rstr.ll_strlen", [s.clone()], *SIGNED);
        super::list::assert_index(hop, i, length);
    }
    let v = if nonneg && !checked {
        let [s, i] = args;
        hop.genop(
            View::Getinteriorfield {
                object: &s,
                path: &[cfield("chars"), i],
            },
            t,
        )
    } else {
        let helper = match (nonneg, checked) {
            (true, _) => "rstr.ll_stritem_nonneg_checked",
            (false, true) => "rstr.ll_stritem_checked",
            (false, false) => "rstr.ll_stritem",
        };
        hop.llops.gendirectcall_to(helper, args, t)
    };
    hop.convert_result(v, &char).map(Some)
}

fn repeat(hop: &Hop<'_>, r: &Repr, which: usize) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let unicode = unicode_of(r).unwrap_or_default();
    let t = container(unicode);
    let times = hop.inputarg(&Repr::signed(), 1 - which)?;
    let v = if is_char(r) {
        let v = hop.inputarg(r, which)?;
        hop.llops
            .gendirectcall_to("rstr.ll_char_mul", [ctype(t), v, times], t.ptr())
    } else {
        let v = hop.inputarg(r, which)?;
        hop.llops
            .gendirectcall_to("rstr.ll_str_mul", [v, times], t.ptr())
    };
    Ok(Some(v))
}

// ---- conversions ----

/// Characters to strings, bytes to unicode, and strings of one character back.
pub(super) fn text_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    use Repr::{Char, Str, UniChar, Unicode};
    let call = |v: LLOperand, helper: &str, to: &Repr| {
        llops.gendirectcall_to(helper, [v], to.lowleveltype())
    };
    Some(Ok(match (from, to) {
        (Char, Str) => {
            if let Operand::Const(LLConst::Char(c)) = v {
                let sym = StaticSym::Str([c].into());
                return Some(Ok(Operand::Const(LLConst::data(sym, STR.ptr()))));
            }
            call(v, "rstr.ll_chr2str", to)
        }
        (UniChar, Unicode) => call(v, "rstr.ll_unichr2unicode", to),
        (Char, UniChar) => call(v, "rstr.ll_chr2unichr", to),
        (Str, Unicode) => call(v, "rstr.ll_str2unicode", to),
        (Char, Unicode) => {
            let v = call(v, "rstr.ll_chr2unichr", &UniChar);
            call(v, "rstr.ll_unichr2unicode", to)
        }
        (Str, Char) | (Unicode, UniChar) => llops.genop(
            View::Getinteriorfield {
                object: &v,
                path: &[cfield("chars"), csigned(0)],
            },
            to.lowleveltype(),
        ),
        _ => return None,
    }))
}
