//! Renaming, where it is certain what has to change.

use taipan_base::{File, Span, TextRange};
use taipan_driver::Database;
use taipan_graph::ObjId;
use taipan_interp::ObjData;
use taipan_syntax::Expr;

use crate::index::{FileIndex, Role, Token, file_index};
use crate::navigation::{references_to, subclasses};
use crate::program::{FilePosition, Workspace};
use crate::symbol::{Resolver, Symbol};

/// Texts to be replaced, with what replaces them.
pub type Edits = Vec<(Span, String)>;

/// The name at a place that can be renamed; an error that says why it cannot.
pub fn prepare_rename(
    db: &Database,
    workspace: &Workspace,
    position: FilePosition,
) -> Result<TextRange, String> {
    let index = file_index(db, position.file);
    let token = index
        .token_at(position.offset)
        .ok_or("there is no name here")?;
    let r = Resolver::of(db, workspace, position.file);
    renamable(&r, position.file, &index, token)?;
    Ok(token.range)
}

/// The edits that rename what is named at a place, everywhere: a local variable, a
/// function or other global, a class, a method or attribute through its hierarchy. An
/// error where it is not certain that nothing else would have to change.
pub fn rename(
    db: &Database,
    workspace: &Workspace,
    position: FilePosition,
    new: &str,
) -> Result<Edits, String> {
    let file = position.file;
    if !is_identifier(new) {
        return Err(format!("`{new}` is no name"));
    }
    let index = file_index(db, file);
    let token = index
        .token_at(position.offset)
        .ok_or("there is no name here")?;
    let r = Resolver::of(db, workspace, file);
    let symbol = renamable(&r, file, &index, token)?;
    let old = symbol.name(db);
    if old == new {
        return Ok(Vec::new());
    }
    certain(&r, file, &symbol, &old, new)?;
    let references = references_to(&r, file, std::slice::from_ref(&symbol));
    let mut out = Edits::new();
    for x in references {
        // An import under another name keeps that name.
        let range = x.span.range;
        let text = &x.span.file.text(db)[range.start as usize..range.end as usize];
        if text == old {
            out.push((x.span, new.to_owned()));
        }
    }
    Ok(out)
}

fn is_identifier(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else",
        "except", "exec", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
        "not", "or", "pass", "print", "raise", "return", "try", "while", "with", "yield", "None",
        "True", "False",
    ];
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !KEYWORDS.contains(&name)
}

/// What a token stands for, if its definition can be changed.
fn renamable(
    r: &Resolver<'_>,
    file: File,
    index: &FileIndex,
    token: &Token,
) -> Result<Symbol, String> {
    let name = index.text(token);
    let symbols = r.symbols(file, index, token);
    let symbol = match &symbols[..] {
        [one] => one.clone(),
        [] => return Err(format!("it is not known what `{name}` stands for here")),
        _ => {
            return Err(format!(
                "`{name}` stands for members of unrelated classes here"
            ));
        }
    };
    if index
        .scopes
        .text(index.scopes.mangle(token.scope, token.name))
        != name
    {
        return Err(format!("`{name}` is private to its class and mangled"));
    }
    let shipped = |f: File| f.path(r.db).starts_with(taipan_base::SHIPPED);
    match &symbol {
        Symbol::Builtin(_) => Err(format!("`{name}` is builtin")),
        Symbol::Module(_) => Err(format!("`{name}` is a module: rename its file")),
        Symbol::Global(f, _) if shipped(*f) => Err(format!("`{name}` ships with Taipan")),
        Symbol::Global(_, n) | Symbol::Member(_, n) if n.starts_with("__") && n.ends_with("__") => {
            Err(format!("`{name}` has a special meaning"))
        }
        Symbol::Global(_, n) if matches!(&**n, "target" | "entry_point" | "main") => {
            Err(format!("`{name}` is where the program starts"))
        }
        Symbol::Member(class, _) => {
            let home = r.home.as_ref().ok_or("no program has this file")?;
            let place = home.place(*class).ok_or("its class is builtin")?;
            match shipped(place.file) {
                true => Err(format!("`{name}` ships with Taipan")),
                false => Ok(symbol),
            }
        }
        _ => Ok(symbol),
    }
}

/// Whether all places that may name a symbol are known, and its new name is free.
fn certain(
    r: &Resolver<'_>,
    file: File,
    symbol: &Symbol,
    old: &str,
    new: &str,
) -> Result<(), String> {
    if let Symbol::Local(code, _) = symbol {
        let home_file = code.file(r.db).unwrap_or(file);
        let index = file_index(r.db, home_file);
        let clash = index.tokens.iter().any(|t| {
            let (scope, name) = index.variable(t);
            // Also a global that the function reads would be hidden.
            let here =
                index.codes.get(scope) == Some(code) || index.codes.get(t.scope) == Some(code);
            here && name == new && !matches!(t.role, Role::Attribute(..) | Role::Keyword(_))
        });
        return match clash {
            true => Err(format!("`{new}` is used in this function already")),
            false => Ok(()),
        };
    }
    for f in r.files(file).iter() {
        if !f.text(r.db).contains(old) && !f.text(r.db).contains(new) {
            continue;
        }
        let index = file_index(r.db, *f);
        unknown_uses(r, *f, &index, symbol, old)?;
        if let Symbol::Global(home, _) = symbol
            && f == home
        {
            let taken = index.tokens.iter().any(|t| {
                !matches!(t.role, Role::Attribute(..) | Role::Keyword(_)) && index.text(t) == new
            });
            if taken {
                return Err(format!("`{new}` is used in {} already", f.path(r.db)));
            }
        }
    }
    match symbol {
        Symbol::Member(class, _) => free_member(r, *class, new),
        _ => Ok(()),
    }
}

/// Names that could stand for a symbol although it is not known that they do.
fn unknown_uses(
    r: &Resolver<'_>,
    file: File,
    index: &FileIndex,
    symbol: &Symbol,
    old: &str,
) -> Result<(), String> {
    let line = |range: TextRange| {
        let before = &file.text(r.db)[..range.start as usize];
        let line = before.matches('\n').count() + 1;
        format!("{}:{line}", file.path(r.db))
    };
    for t in index.tokens.iter().filter(|t| index.text(t) == old) {
        let unresolved = match (t.role, symbol) {
            (Role::Attribute(expr, _), Symbol::Member(..)) => {
                let symbols = r.symbols(file, index, t);
                let mixed = symbols.contains(symbol) && symbols.len() > 1;
                mixed || symbols.is_empty() && !of_builtin_kind(r, index, t, expr)
            }
            _ => false,
        };
        if unresolved {
            return Err(format!(
                "it is not known whether `{old}` at {} is the same",
                line(t.range)
            ));
        }
    }
    for (id, e) in index.parsed.ast.exprs.iter() {
        if matches!(e, Expr::Str(s) if **s == *old.as_bytes())
            && !file.path(r.db).starts_with(taipan_base::SHIPPED)
        {
            return Err(format!(
                "the string at {} may mean `{old}`",
                line(index.parsed.spans.expr(id))
            ));
        }
    }
    Ok(())
}

/// Whether an attribute is one of a list, string or other builtin kind.
fn of_builtin_kind(
    r: &Resolver<'_>,
    index: &FileIndex,
    token: &Token,
    expr: taipan_syntax::ExprId,
) -> bool {
    let Some(body) = r.body_of_scope(index, token.scope) else {
        return false;
    };
    let found = body.operations(index.parsed.spans.expr(expr));
    !found.is_empty()
        && found.iter().all(|f| {
            use taipan_annotator::SomeKind::*;
            let kind = f.operand(0).map(|s| &s.kind);
            kind.is_some_and(|k| {
                !matches!(
                    k,
                    Impossible | Conflict | Instance { .. } | Pbc { .. } | Exception(_) | Type
                )
            })
        })
}

/// Whether no class of the hierarchy has a member of that name.
fn free_member(r: &Resolver<'_>, class: ObjId, new: &str) -> Result<(), String> {
    let home = r.home.as_ref().ok_or("no program has this file")?;
    let mut all = home.mro(class);
    all.extend(subclasses(home, class));
    for c in all {
        let declared = home.roots.is_some_and(|roots| {
            let key = taipan_annotator::Class::new(r.db, roots, c);
            let attrs = taipan_annotator::class_attributes(r.db, key);
            attrs.attrs.contains_key(new)
        });
        let own =
            matches!(home.object(c).as_deref(), Some(ObjData::Class(d)) if d.get(new).is_some());
        if declared || own {
            return Err(format!("{} has `{new}` already", home.class_name(c)));
        }
    }
    Ok(())
}
