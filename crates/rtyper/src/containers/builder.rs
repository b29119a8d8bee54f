//! StringBuilder and UnicodeBuilder (RPython: `rbuilder.py`).

use taipan_graph::Const;
use taipan_interp::ObjData;
use taipan_language::BuilderMethod;
use taipan_lltype::{
    BOOL, Field, LLConst, LLType, SIGNED, StaticSym, StaticValue, StructBody, VOID, View,
};

use super::text::{is_char, text};
use crate::hop::{csigned, ctype};
use crate::{Description, Hop, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Builders of strings: of bytes, or unicode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BuilderRepr {
    /// Builds unicode strings.
    pub unicode: bool,
}

impl BuilderRepr {
    /// The container behind builders.
    fn container(self) -> LLType {
        let field = |name: &str, ty| Field {
            name: name.into(),
            ty,
        };
        LLType::gc_struct(
            "stringbuilder",
            StructBody {
                fields: vec![
                    field("buffer", text(self.unicode).lowleveltype()),
                    field("used", *SIGNED),
                ],
                ..StructBody::default()
            },
        )
    }
}

/// The contents of a builder that there is before the program runs: what was appended,
/// in a buffer that is full.
pub(super) fn prebuilt(rt: &RTyper<'_>, builder: &ObjData, ty: LLType) -> Typed<StaticValue> {
    let ObjData::Instance(builder) = builder else {
        return Err(TyperError::internal("a builder that is none"));
    };
    let unicode = ty == BuilderRepr { unicode: true }.container();
    let pieces = match builder.get("_pieces") {
        Some(Const::Obj(list)) => rt.object(*list)?,
        _ => return Err(TyperError::internal("a builder without pieces")),
    };
    let ObjData::List(pieces) = &*pieces else {
        return Err(TyperError::internal("a builder whose pieces are no list"));
    };
    let (mut bytes, mut chars) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Const::Str(s) => bytes.extend_from_slice(s),
            Const::Unicode(s) => chars.extend_from_slice(s),
            _ => {}
        }
    }
    let (buffer, used) = if unicode {
        (StaticSym::Unicode(chars.as_slice().into()), chars.len())
    } else {
        (StaticSym::Str(bytes.as_slice().into()), bytes.len())
    };
    let used = LLConst::signed(used as i64);
    Ok(StaticValue::Struct(vec![
        StaticValue::Const(LLConst::data(buffer, text(unicode).lowleveltype())),
        StaticValue::Const(used),
    ]))
}

/// `StringBuilder(size)`
pub(crate) fn rtype_new(hop: &Hop<'_>, unicode: bool) -> RType {
    let size = match hop.nb_args() {
        0 => csigned(100),
        _ => hop.inputarg(&Repr::signed(), 0)?,
    };
    hop.exception_cannot_occur()?;
    let t = BuilderRepr { unicode }.container();
    Ok(Some(hop.llops.gendirectcall_to(
        "rbuilder.ll_new",
        [ctype(t), size],
        t.ptr(),
    )))
}

impl ReprMethods for BuilderRepr {
    fn lowleveltype(&self) -> LLType {
        self.container().ptr()
    }

    fn describe(&self) -> Description {
        Description::a(if self.unicode {
            "UnicodeBuilder"
        } else {
            "StringBuilder"
        })
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::None => Ok(LLConst::Null(self.lowleveltype())),
            Const::Obj(o) => {
                let sym = StaticSym::Object(*o, self.container());
                Ok(LLConst::data(sym, self.lowleveltype()))
            }
            other => Err(TyperError::internal(format!("{other} is no builder"))),
        }
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Builder(*self), 0)?;
        Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        use BuilderMethod::*;
        let Some(method) = BuilderMethod::named(name) else {
            return Err(TyperError::missing(
                format_args!("`.{name}()`"),
                self.describe(),
            ));
        };
        let me = Repr::Builder(*self);
        let string = text(self.unicode);
        let char = if self.unicode {
            Repr::UniChar
        } else {
            Repr::Char
        };
        let signed = Repr::signed();
        hop.exception_cannot_occur()?;
        let call =
            |helper: &str, args: Vec<_>, t| Ok(Some(hop.llops.gendirectcall_to(helper, args, t)));
        match method {
            Append if hop.args_r.get(1).is_some_and(is_char) => {
                let args = hop.inputargs([&me, &char])?;
                call("rbuilder.ll_append_char", args.into(), *VOID)
            }
            Append => {
                let args = hop.inputargs([&me, &string])?;
                call("rbuilder.ll_append", args.into(), *VOID)
            }
            AppendSlice => {
                let args = hop.inputargs([&me, &string, &signed, &signed])?;
                call("rbuilder.ll_append_slice", args.into(), *VOID)
            }
            AppendMultipleChar => {
                let args = hop.inputargs([&me, &char, &signed])?;
                call("rbuilder.ll_append_multiple_char", args.into(), *VOID)
            }
            AppendCharpSize => {
                let r_chars = hop.args_r[1].clone();
                let args = hop.inputargs([&me, &r_chars, &signed])?;
                call("rbuilder.ll_append_charpsize", args.into(), *VOID)
            }
            GetLength => {
                let args = hop.inputargs([&me])?;
                call("rbuilder.ll_getlength", args.into(), *SIGNED)
            }
            Build => {
                let args = hop.inputargs([&me])?;
                call("rbuilder.ll_build", args.into(), string.lowleveltype())
            }
        }
    }
}
