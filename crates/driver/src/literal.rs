//! Arguments on the command line to literals.

use num_traits::ToPrimitive;
use taipan_syntax::{Ast, Expr, ExprId, ParsedFile, Stmt, UnaryOp};

use crate::Literal;

/// Reads an argument as a Python literal. A bare word that is no literal is a string.
pub fn parse_literal(text: &str) -> Literal {
    let parsed = taipan_syntax::parse(text.trim());
    value_of(&parsed).unwrap_or_else(|| Literal::Str(text.as_bytes().to_vec()))
}

fn value_of(file: &ParsedFile) -> Option<Literal> {
    if !file.errors.is_empty() {
        return None;
    }
    let [stmt] = &*file.ast.body else { return None };
    match &file.ast.stmts[*stmt] {
        Stmt::Expr(e) => literal(&file.ast, *e),
        _ => None,
    }
}

fn literal(ast: &Ast, e: ExprId) -> Option<Literal> {
    let all = |items: &[ExprId]| {
        items
            .iter()
            .map(|i| literal(ast, *i))
            .collect::<Option<Vec<_>>>()
    };
    Some(match &ast.exprs[e] {
        Expr::None => Literal::None,
        Expr::Bool(b) => Literal::Bool(*b),
        Expr::Int(v) => Literal::Int(i128::from(*v)),
        Expr::Long(v) => Literal::Int(v.to_i128()?),
        Expr::Float(bits) => Literal::Float(f64::from_bits(*bits)),
        Expr::Str(s) => Literal::Str(s.to_vec()),
        Expr::Unicode(s) => Literal::Unicode(s.to_vec()),
        Expr::List(items) => Literal::List(all(items)?),
        Expr::Tuple(items) => Literal::Tuple(all(items)?),
        Expr::Name(n) => match ast.name(*n) {
            "nan" => Literal::Float(f64::NAN),
            "inf" => Literal::Float(f64::INFINITY),
            _ => return None,
        },
        Expr::Unary(op, operand) => match (op, literal(ast, *operand)?) {
            (UnaryOp::Neg, Literal::Int(v)) => Literal::Int(v.checked_neg()?),
            (UnaryOp::Neg, Literal::Float(v)) => Literal::Float(-v),
            (UnaryOp::Pos, v @ (Literal::Int(_) | Literal::Float(_))) => v,
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_words() {
        for (text, value) in [
            ("3", Literal::Int(3)),
            ("-1", Literal::Int(-1)),
            ("9223372036854775808", Literal::Int(1 << 63)),
            ("-9223372036854775808", Literal::Int(-1 << 63)),
            ("-2.5", Literal::Float(-2.5)),
            ("True", Literal::Bool(true)),
            ("None", Literal::None),
            ("'a\\n'", Literal::Str(b"a\n".to_vec())),
            ("u'\\u20ac'", Literal::Unicode(vec![0x20ac])),
            (
                "[1, 2]",
                Literal::List(vec![Literal::Int(1), Literal::Int(2)]),
            ),
            (
                "(1, 'a')",
                Literal::Tuple(vec![Literal::Int(1), Literal::Str(b"a".to_vec())]),
            ),
            ("word", Literal::Str(b"word".to_vec())),
            ("two words", Literal::Str(b"two words".to_vec())),
            ("1 +", Literal::Str(b"1 +".to_vec())),
            ("", Literal::Str(Vec::new())),
        ] {
            assert_eq!(parse_literal(text), value, "{text}");
        }
    }
}
