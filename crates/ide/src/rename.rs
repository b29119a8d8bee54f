//! Renaming, where it is certain what has to change.

use taipan_base::{File, SHIPPED, Span, TextRange};
use taipan_code::CodeId;
use taipan_code::scope::ScopeNode;
use taipan_driver::Database;
use taipan_graph::ObjId;
use taipan_interp::ObjData;
use taipan_syntax::Expr;

use crate::index::{FileIndex, Role, Token, file_index};
use crate::navigation::subclasses;
use crate::places::{Places, star_imports, variables};
use crate::program::{FilePosition, Others, Workspace};
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
    for symbol in r.symbols(position.file, &index, token) {
        renamable(&r, &symbol, index.text(token))?;
    }
    not_mangled(&index, token)?;
    Ok(token.range)
}

/// The edits that rename what is named at a place, everywhere: a local variable, a
/// function or other global, a class, a method or attribute through its hierarchy, in all
/// programs of the workspace and other files of its folders. An error where it is not certain that nothing else
/// would have to change.
pub fn rename(
    db: &Database,
    workspace: &Workspace,
    others: &Others,
    position: FilePosition,
    new: &str,
) -> Result<Edits, String> {
    if !is_identifier(new) {
        return Err(format!("`{new}` is no name"));
    }
    let index = file_index(db, position.file);
    let token = index
        .token_at(position.offset)
        .ok_or("there is no name here")?;
    not_mangled(&index, token)?;
    let places = Places::of(db, workspace, others, position)?;
    for v in &places.views {
        let mut wanted: Vec<&Symbol> = v.wanted.iter().collect();
        wanted.sort_by_key(|s| s.name(db));
        for symbol in wanted {
            renamable(&v.r, symbol, places.name())?;
        }
    }
    if places.name() == new {
        return Ok(Vec::new());
    }
    certain(&places)?;
    free(&places, new)?;
    let spans = places.found.values().map(|(file, t)| Span {
        file: *file,
        range: t.range,
    });
    Ok(spans.map(|s| (s, new.to_owned())).collect())
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

fn not_mangled(index: &FileIndex, token: &Token) -> Result<(), String> {
    let name = index.text(token);
    let mangled = index.scopes.mangle(token.scope, token.name);
    match index.scopes.text(mangled) == name {
        true => Ok(()),
        false => Err(format!("`{name}` is private to its class and mangled")),
    }
}

/// Whether the definition of a symbol can be changed, which is called `name` at the place
/// in question.
fn renamable(r: &Resolver<'_>, symbol: &Symbol, name: &str) -> Result<(), String> {
    let shipped = |f: File| f.path(r.db).starts_with(SHIPPED);
    if symbol.name(r.db) != name && !matches!(symbol, Symbol::Module(_)) {
        let own = symbol.name(r.db);
        return Err(format!("`{name}` is another name of `{own}` here"));
    }
    match symbol {
        Symbol::Builtin(_) => Err(format!("`{name}` is builtin")),
        Symbol::Module(_) => Err(format!("`{name}` is a module: rename its file")),
        Symbol::Global(f, _) if shipped(*f) => Err(format!("`{name}` ships with Taipan")),
        Symbol::Global(_, n) | Symbol::Member(_, n) if n.starts_with('_') && n.ends_with('_') => {
            Err(format!("`{name}` has a special meaning"))
        }
        Symbol::Global(_, n) if matches!(&**n, "target" | "entry_point" | "main") => {
            Err(format!("`{name}` is where the program starts"))
        }
        Symbol::Global(..) => Ok(()),
        Symbol::Member(class, _) => {
            let place = r.home.as_ref().and_then(|h| h.place(*class));
            let place = place.ok_or("its class is builtin")?;
            match shipped(place.file) {
                true => Err(format!("`{name}` ships with Taipan")),
                false => Ok(()),
            }
        }
        Symbol::Local(code, _) => match class_body(r, *code) {
            true => Err(format!("the class of `{name}` is made by a function")),
            false => Ok(()),
        },
    }
}

/// Whether a body is that of a class.
fn class_body(r: &Resolver<'_>, code: CodeId) -> bool {
    let index = code.file(r.db).map(|f| file_index(r.db, f));
    index.is_some_and(|index| {
        let scope = index.codes.iter().position(|c| *c == code);
        scope.is_some_and(|s| matches!(index.scopes.scopes[s].node, ScopeNode::Class(_)))
    })
}

/// Whether all places that may name a symbol are known.
fn certain(places: &Places<'_>) -> Result<(), String> {
    let db = places.db;
    let old = places.name();
    if let Some((file, t)) = places.unknown.first() {
        let at = line(db, *file, t.range);
        return Err(format!(
            "it is not known whether `{old}` at {at} is the same"
        ));
    }
    let shipped = (places.found.values()).any(|(f, _)| f.path(db).starts_with(SHIPPED));
    if shipped {
        return Err("a file that ships with Taipan would have to change".to_owned());
    }
    if places.only_local() {
        return Ok(());
    }
    let variables = variables(places);
    for file in places.files() {
        let index = file_index(db, file);
        // Another import that binds the same name where the first one fails, say.
        let rival = index.tokens.iter().find(|t| {
            let variable = !matches!(t.role, Role::Attribute(..) | Role::Keyword(_));
            variable && variables.get(&file) == Some(&true) && {
                index.variable(t) == (0, old) && !places.has(file, t)
            }
        });
        if let Some(t) = rival.filter(|_| !places.only_members()) {
            let at = line(db, file, t.range);
            return Err(format!("`{old}` at {at} may be something else"));
        }
        let string = index.parsed.ast.exprs.iter().find(|(_, e)| match e {
            Expr::Str(s) => names(s, old),
            // `_immutable_fields_ = "a b".split()`
            Expr::Attribute(value, _) => match &index.parsed.ast.exprs[*value] {
                Expr::Str(s) => s.split(|b| b" ,\n".contains(b)).any(|w| names(w, old)),
                _ => false,
            },
            _ => false,
        });
        if let Some((id, _)) = string {
            let at = line(db, file, index.parsed.spans.expr(id));
            return Err(format!("the string at {at} may mean `{old}`"));
        }
    }
    Ok(())
}

/// Whether a string is a name, perhaps of an immutable field.
fn names(string: &[u8], name: &str) -> bool {
    let rest = string.strip_prefix(name.as_bytes());
    rest.is_some_and(|r| matches!(r, b"" | b"?" | b"[*]" | b"?[*]"))
}

/// `file:line` of a place.
fn line(db: &Database, file: File, range: TextRange) -> String {
    let before = &file.text(db)[..range.start as usize];
    let line = before.matches('\n').count() + 1;
    format!("{}:{line}", file.path(db))
}

/// Whether the new name means nothing yet where it would be.
fn free(places: &Places<'_>, new: &str) -> Result<(), String> {
    let db = places.db;
    let variables = variables(places);
    for v in &places.views {
        let reasons = v.wanted.iter().filter_map(|symbol| {
            match symbol {
                Symbol::Member(class, _) => free_member(&v.r, *class, new),
                Symbol::Local(code, _) => free_local(db, *code, new),
                _ => Ok(()),
            }
            .err()
        });
        // The same one each time.
        if let Some(reason) = reasons.min() {
            return Err(reason);
        }
        if places.only_local() || places.only_members() {
            continue;
        }
        for file in &v.files {
            let named = variables.get(file) == Some(&true)
                || (star_imports(v, *file).iter()).any(|f| variables.contains_key(f));
            if !named || !file.text(db).contains(new) {
                continue;
            }
            let index = file_index(db, *file);
            let taken = index.tokens.iter().any(|t| {
                !matches!(t.role, Role::Attribute(..) | Role::Keyword(_)) && index.text(t) == new
            });
            if taken {
                return Err(format!("`{new}` is used in {} already", file.path(db)));
            }
        }
    }
    Ok(())
}

/// Whether a function neither has nor reads a variable of that name.
fn free_local(db: &Database, code: CodeId, new: &str) -> Result<(), String> {
    let Some(file) = code.file(db) else {
        return Ok(());
    };
    let index = file_index(db, file);
    let clash = index.tokens.iter().any(|t| {
        let (scope, name) = index.variable(t);
        // Also a global that the function reads would be hidden.
        let here = index.codes.get(scope) == Some(&code) || index.codes.get(t.scope) == Some(&code);
        here && name == new && !matches!(t.role, Role::Attribute(..) | Role::Keyword(_))
    });
    match clash {
        true => Err(format!("`{new}` is used in this function already")),
        false => Ok(()),
    }
}

/// Whether an attribute is one of a list, string or other builtin kind.
pub(crate) fn of_builtin_kind(
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
