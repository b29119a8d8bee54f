//! Truth values (RPython: `rbool.py`). Arithmetic on them is that of `int`.

use taipan_graph::Const;
use taipan_lltype::{BOOL, FuncSym, LLConst, LLType};

use crate::{Description, Hop, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Bool.
#[derive(Debug)]
pub(crate) struct BoolRepr;

/// Methods that widen to Signed first.
macro_rules! as_int {
    ($($name:ident)*) => {
        $(fn $name(&self, hop: &Hop<'_>) -> RType {
            Repr::signed().methods().$name(hop)
        })*
    };
}

impl ReprMethods for BoolRepr {
    fn lowleveltype(&self) -> LLType {
        *BOOL
    }

    fn describe(&self) -> Description {
        Description::a("bool")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::Bool(b) => Ok(LLConst::Bool(*b)),
            other => Err(TyperError::internal(format!("{other} is not a bool"))),
        }
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rint.ll_hash_int", &[*BOOL])
    }

    fn has_fasthash(&self) -> bool {
        true
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        hop.inputarg(&Repr::Bool, 0).map(Some)
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Bool, 0)?;
        hop.gendirectcall("rmodel.ll_bool_str", [v]).map(Some)
    }

    as_int! {
        rtype_pos rtype_neg rtype_neg_ovf rtype_abs rtype_abs_ovf rtype_invert rtype_int rtype_float
        rtype_long rtype_hex rtype_oct rtype_bin rtype_chr rtype_unichr
    }
}
