//! StringBuilder and UnicodeBuilder (RPython: `rbuilder.py`).

use taipan_graph::Const;
use taipan_lltype::{BOOL, Field, LLConst, LLType, PlainOp, SIGNED, StructBody, VOID};

use super::text::{is_char, text};
use crate::hop::{csigned, ctype};
use crate::{Hop, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

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

/// `StringBuilder(size)`
pub(super) fn rtype_new(hop: &Hop<'_>, unicode: bool) -> RType {
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

    fn describe(&self) -> String {
        if self.unicode {
            "a UnicodeBuilder"
        } else {
            "a StringBuilder"
        }
        .into()
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::None => Ok(LLConst::Null(self.lowleveltype())),
            _ => Err(TyperError::new(format!(
                "{} cannot be made while the program loads",
                self.describe()
            ))),
        }
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Builder(*self), 0)?;
        Ok(Some(hop.genop(PlainOp::PtrNonzero, [v], *BOOL)))
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
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
        match name {
            "append" if hop.args_r.get(1).is_some_and(is_char) => {
                let args = hop.inputargs([&me, &char])?;
                call("rbuilder.ll_append_char", args.into(), *VOID)
            }
            "append" => {
                let args = hop.inputargs([&me, &string])?;
                call("rbuilder.ll_append", args.into(), *VOID)
            }
            "append_slice" => {
                let args = hop.inputargs([&me, &string, &signed, &signed])?;
                call("rbuilder.ll_append_slice", args.into(), *VOID)
            }
            "append_multiple_char" => {
                let args = hop.inputargs([&me, &char, &signed])?;
                call("rbuilder.ll_append_multiple_char", args.into(), *VOID)
            }
            "append_charpsize" => {
                let r_chars = hop.args_r[1].clone();
                let args = hop.inputargs([&me, &r_chars, &signed])?;
                call("rbuilder.ll_append_charpsize", args.into(), *VOID)
            }
            "getlength" => {
                let args = hop.inputargs([&me])?;
                call("rbuilder.ll_getlength", args.into(), *SIGNED)
            }
            "build" => {
                let args = hop.inputargs([&me])?;
                call("rbuilder.ll_build", args.into(), string.lowleveltype())
            }
            _ => Err(TyperError::missing(&format!(".{name}()"), self.describe())),
        }
    }
}
