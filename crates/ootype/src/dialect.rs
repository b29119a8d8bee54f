//! Graphs, and their text form.
//!
//! It is that of `lltype` graphs but for the types of variables: `p_0: Instance(GcStruct point)`.

use std::fmt::{self, Formatter};

use taipan_graph::text::{Cursor, ParseError, TextDialect};
use taipan_graph::{Dialect, Graph, Operand};
use taipan_lltype::text::{
    LLNames, declaration, declarations, fmt_constant, fmt_type, parse_constant, parse_type,
};
use taipan_lltype::{EFFECT, LLConst, LowLevel, RAISE};

use crate::{OOOp, OOType};

/// The dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectOriented;

/// The graph of a function.
pub type OOGraph = Graph<ObjectOriented>;
/// An operand. Constants are those of `lltype`.
pub type OOOperand = Operand<ObjectOriented>;

/// The type of a constant.
pub fn const_type(c: &LLConst) -> OOType {
    OOType::of(c.ty())
}

/// The type of an operand.
pub fn type_of(graph: &OOGraph, o: &OOOperand) -> OOType {
    match o {
        Operand::Var(v) => *graph.ty(*v),
        Operand::Const(c) => const_type(c),
    }
}

impl Dialect for ObjectOriented {
    type Op = OOOp;
    type Const = LLConst;
    type Ty = OOType;

    fn const_ty(c: &LLConst) -> OOType {
        const_type(c)
    }

    fn is_removable(op: OOOp) -> bool {
        op.flags() & (EFFECT | RAISE) == 0
    }

    fn as_bool(c: &LLConst) -> Option<bool> {
        LowLevel::as_bool(c)
    }
}

impl TextDialect for ObjectOriented {
    type Names = LLNames;

    fn declare(graph: &OOGraph, names: &mut LLNames) -> String {
        declarations(graph, names, |t| t.low())
    }

    fn parse_declaration(cursor: &mut Cursor<'_>, names: &mut LLNames) -> Result<bool, ParseError> {
        declaration(cursor, names)
    }

    fn parse_op(name: &str) -> Option<OOOp> {
        OOOp::from_name(name)
    }

    fn fmt_const(c: &LLConst, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
        fmt_constant(c, names, f)
    }

    fn parse_const(cursor: &mut Cursor<'_>, names: &LLNames) -> Result<LLConst, ParseError> {
        parse_constant(cursor, names)
    }

    fn fmt_ty(t: &OOType, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(": ")?;
        match (t.word(), t.container()) {
            (Some(word), Some(to)) => {
                write!(f, "{word}(")?;
                fmt_type(to, names, f)?;
                f.write_str(")")
            }
            _ => write!(f, "{t}"),
        }
    }

    fn parse_ty(cursor: &mut Cursor<'_>, names: &LLNames) -> Result<OOType, ParseError> {
        cursor.expect(":")?;
        if cursor.eat_word("Object") {
            return Ok(OOType::Object);
        }
        let words = ["Instance", "Record", "Class", "Array", "StaticMethod"];
        if words.into_iter().any(|word| cursor.eat_word(word)) {
            cursor.expect("(")?;
            let to = parse_type(cursor, names)?;
            cursor.expect(")")?;
            return Ok(OOType::reference(to));
        }
        parse_type(cursor, names).map(OOType::of)
    }
}
