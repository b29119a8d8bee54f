//! What every name of a file is, for colours.

use taipan_base::{File, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_driver::Database;
use taipan_graph::Const;
use taipan_interp::ObjData;

use crate::index::{FileIndex, Role, Token, file_index};
use crate::program::Workspace;
use crate::symbol::{Owner, Resolver, Symbol};

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum TokenKind {
    /// A module.
    Namespace,
    /// A class.
    Class,
    /// A function.
    Function,
    /// A function in a class.
    Method,
    /// An attribute.
    Property,
    /// An argument.
    Parameter,
    /// Any other variable.
    Variable,
}

/// A name with what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemanticToken {
    /// The name.
    pub range: TextRange,
    /// What it is.
    pub kind: TokenKind,
    /// It is defined there.
    pub declaration: bool,
    /// It always has the same value: a global or something in one.
    pub constant: bool,
    /// Every module sees it.
    pub builtin: bool,
}

/// The names in a part of a file, in order.
pub fn semantic_tokens(
    db: &Database,
    workspace: &Workspace,
    file: File,
    range: TextRange,
) -> Vec<SemanticToken> {
    let index = file_index(db, file);
    let r = Resolver::of(db, workspace, file);
    let inside = |t: &&Token| range.start < t.range.end && t.range.start < range.end;
    index
        .tokens
        .iter()
        .filter(inside)
        .map(|t| token(&r, file, &index, t))
        .collect()
}

fn token(r: &Resolver<'_>, file: File, index: &FileIndex, t: &Token) -> SemanticToken {
    let mut out = SemanticToken {
        range: t.range,
        kind: TokenKind::Variable,
        declaration: matches!(t.role, Role::Parameter | Role::Function(_) | Role::Class(_)),
        constant: false,
        builtin: false,
    };
    match t.role {
        Role::Parameter | Role::Keyword(_) => out.kind = TokenKind::Parameter,
        Role::Module(..) => out.kind = TokenKind::Namespace,
        Role::Class(_) => out.kind = TokenKind::Class,
        Role::Function(_) => {
            out.kind = match index.scopes.scopes[t.scope].node {
                ScopeNode::Class(_) => TokenKind::Method,
                _ => TokenKind::Function,
            };
        }
        Role::Attribute(expr, _) => {
            out.kind = TokenKind::Property;
            let value = r.constant(file, index, t.scope, expr);
            out.constant = value.is_some();
            if let Some(kind) = value.as_ref().and_then(|c| kind_of(r, c)) {
                out.kind = kind;
            } else if let Some(home) = &r.home {
                let name = index.text(t);
                let method = r.owners(file, index, t, expr).iter().any(|o| match o {
                    Owner::Class(c) => home
                        .class_attr(*c, name)
                        .is_some_and(|(_, v)| kind_of(r, &v) == Some(TokenKind::Function)),
                    Owner::Module(_) => false,
                });
                if method {
                    out.kind = TokenKind::Method;
                }
            }
        }
        Role::Imported(_, false) => {
            if let Some(Symbol::Global(from, name)) = r.symbols(file, index, t).first()
                && let Some(home) = &r.home
                && let Some(value) = home.module_of(*from).and_then(|m| home.global(m, name))
            {
                out.constant = true;
                out.kind = kind_of(r, &value).unwrap_or(out.kind);
            }
        }
        Role::Read(_) | Role::Write(_) | Role::Imported(..) => {
            let (scope, name) = index.variable(t);
            match index.scopes.scopes[scope].node {
                ScopeNode::Function(f) => {
                    let params = &index.parsed.ast.functions[f].params;
                    let named = |p: &taipan_syntax::Param| *p == taipan_syntax::Param::Name(t.name);
                    if params.positional.iter().any(named) {
                        out.kind = TokenKind::Parameter;
                    }
                }
                ScopeNode::Module => {
                    let home = r.home.as_ref();
                    let value = home.and_then(|h| h.global(h.module_of(file)?, name));
                    out.constant = value.is_some();
                    out.builtin = value.is_none() && home.is_some();
                    if let Some(kind) = value.and_then(|v| kind_of(r, &v)) {
                        out.kind = kind;
                    }
                }
                _ => {}
            }
        }
    }
    out
}

fn kind_of(r: &Resolver<'_>, c: &Const) -> Option<TokenKind> {
    let Const::Obj(id) = c else { return None };
    Some(match r.home.as_ref()?.object(*id).as_deref()? {
        ObjData::Module { .. } => TokenKind::Namespace,
        ObjData::Class(_) => TokenKind::Class,
        ObjData::Function(_)
        | ObjData::Builtin { .. }
        | ObjData::StaticMethod(_)
        | ObjData::ClassMethod(_)
        | ObjData::Method { .. } => TokenKind::Function,
        _ => return None,
    })
}
