//! Who calls whom, and which class is made from which.

use std::collections::BTreeMap;

use taipan_base::{File, Span, TextRange};
use taipan_code::scope::{ScopeId, ScopeNode};
use taipan_driver::Database;
use taipan_graph::ObjId;
use taipan_interp::{ObjData, image, program_files};
use taipan_syntax::{Expr, ExprId};

use crate::index::{FileIndex, Role, Token, file_index};
use crate::navigation::definitions;
use crate::places::Places;
use crate::program::{FilePosition, Home, Others, Workspace};
use crate::symbol::{Owner, Resolver, Symbol};
use crate::symbols::SymbolKind;

/// A function, class or module body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The class that a method is in, else the module.
    pub container: String,
    /// The file.
    pub file: File,
    /// All of it.
    pub range: TextRange,
    /// The name.
    pub name_range: TextRange,
}

/// A function that calls or is called, with the places of the calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The other function.
    pub item: Item,
    /// The names in the calls, in the file of the function that calls.
    pub places: Vec<TextRange>,
}

/// The functions that a name at a place stands for; those that call it come with
/// [`callers`], those that it calls with [`callees`].
pub fn call_items(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Item> {
    let index = file_index(db, position.file);
    let token = index.token_at(position.offset);
    // At a definition it is that one alone, whatever it overrides.
    let own = token.filter(|t| matches!(t.role, Role::Function(_) | Role::Class(_)));
    let all = match own {
        Some(t) => vec![Span {
            file: position.file,
            range: t.range,
        }],
        None => definitions(db, workspace, position),
    };
    let all = all.into_iter();
    let items = all.filter_map(|s| item_at(db, s));
    let callable = |i: &Item| i.kind != SymbolKind::Variable;
    items.filter(callable).collect()
}

/// The function or class whose name stands at a place.
fn item_at(db: &Database, place: Span) -> Option<Item> {
    let index = file_index(db, place.file);
    let token = index.token_at(place.range.start)?;
    let node = match token.role {
        Role::Function(f) => ScopeNode::Function(f),
        Role::Class(c) => ScopeNode::Class(c),
        _ => return None,
    };
    item_of(db, place.file, &index, *index.scopes.by_node.get(&node)?)
}

/// The function, class or module of a scope; of a lambda or comprehension what it is in.
fn item_of(db: &Database, file: File, index: &FileIndex, mut scope: ScopeId) -> Option<Item> {
    let module = Symbol::Module(file).name(db);
    loop {
        let s = &index.scopes.scopes[scope];
        let spans = &index.parsed.spans;
        let (kind, def) = match s.node {
            ScopeNode::Module => {
                let start = TextRange::new(0, 0);
                return Some(Item {
                    name: module,
                    kind: SymbolKind::Module,
                    container: String::new(),
                    file,
                    range: start,
                    name_range: start,
                });
            }
            ScopeNode::Function(f) => (SymbolKind::Function, spans.function(f)),
            ScopeNode::Class(c) => (SymbolKind::Class, spans.class(c)),
            ScopeNode::Comprehension(_) => {
                scope = s.parent?;
                continue;
            }
        };
        let named = index.token_at(def.name.start).filter(|t| {
            matches!(t.role, Role::Function(_) | Role::Class(_)) && t.range == def.name
        });
        let Some(name) = named else {
            scope = s.parent?;
            continue;
        };
        let around = s.parent.map(|p| &index.scopes.scopes[p]);
        let class = around.filter(|p| matches!(p.node, ScopeNode::Class(_)));
        return Some(Item {
            name: index.text(name).to_owned(),
            kind: match (kind, class) {
                (SymbolKind::Function, Some(_)) => SymbolKind::Method,
                (kind, _) => kind,
            },
            container: class.map_or(module, |c| c.qualname.to_string()),
            file,
            range: def.whole,
            name_range: def.name,
        });
    }
}

/// What calls the function or class whose name stands at a place, in all programs, test
/// modules and other files: where the program is annotated only calls that do reach it,
/// elsewhere all that name it.
pub fn callers(
    db: &Database,
    workspace: &Workspace,
    others: &Others,
    position: FilePosition,
) -> Vec<Call> {
    let Some(wanted) = token_scope(db, position) else {
        return Vec::new();
    };
    let mut found: BTreeMap<(String, TextRange), (Item, Vec<TextRange>)> = BTreeMap::new();
    for from in names_to_look_for(db, position) {
        let Ok(places) = Places::of_all(db, workspace, others, from) else {
            continue;
        };
        for (file, token) in places.found.values() {
            let index = file_index(db, *file);
            let Some(call) = call_of(&index, token) else {
                continue;
            };
            let mut reached: Option<bool> = None;
            for v in places.views.iter().filter(|v| v.files.contains(file)) {
                let functions = v.r.callees(&index, token.scope, call);
                if let Some(home) = v.r.home.as_ref().filter(|_| !functions.is_empty()) {
                    let own = |f: &ObjId| code_place(home, *f) == Some(wanted);
                    *reached.get_or_insert(false) |= functions.iter().any(own);
                }
            }
            if reached == Some(false) {
                continue;
            }
            if let Some(item) = item_of(db, *file, &index, token.scope) {
                let key = (file.path(db).to_string(), item.name_range);
                found
                    .entry(key)
                    .or_insert((item, Vec::new()))
                    .1
                    .push(token.range);
            }
        }
    }
    let calls = found.into_values();
    calls
        .map(|(item, mut places)| {
            places.sort();
            places.dedup();
            Call { item, places }
        })
        .collect()
}

/// A constructor is called by the name of its class.
fn names_to_look_for(db: &Database, position: FilePosition) -> Vec<FilePosition> {
    let index = file_index(db, position.file);
    let mut out = vec![position];
    if let Some(token) = index.token_at(position.offset)
        && index.text(token) == "__init__"
        && let ScopeNode::Class(c) = index.scopes.scopes[token.scope].node
    {
        out.push(FilePosition {
            offset: index.parsed.spans.class(c).name.start,
            ..position
        });
    }
    out
}

/// The place of the function whose name stands at a position: of a class the place of its
/// constructor.
fn token_scope(db: &Database, position: FilePosition) -> Option<(File, TextRange)> {
    let index = file_index(db, position.file);
    let token = index.token_at(position.offset)?;
    let range = match token.role {
        Role::Function(f) => index.parsed.spans.function(f).name,
        Role::Class(c) => {
            let scope = index.scopes.by_node.get(&ScopeNode::Class(c))?;
            let init = index.tokens.iter().find(|t| {
                t.scope == *scope
                    && matches!(t.role, Role::Function(_))
                    && index.text(t) == "__init__"
            });
            init.map_or(token.range, |t| t.range)
        }
        _ => return None,
    };
    Some((position.file, range))
}

fn code_place(home: &Home<'_>, function: ObjId) -> Option<(File, TextRange)> {
    let place = home.place(function)?;
    Some((place.file, place.range))
}

/// The call whose function a token names: `f(..)`, `a.f(..)`.
fn call_of(index: &FileIndex, token: &Token) -> Option<ExprId> {
    let function = match token.role {
        Role::Read(e) | Role::Attribute(e, false) => e,
        _ => return None,
    };
    let mut exprs = index.parsed.ast.exprs.iter();
    exprs.find_map(|(id, e)| match e {
        Expr::Call(c) if c.function == function => Some(id),
        _ => None,
    })
}

/// What the function whose name stands at a place calls, in all programs that have it.
pub fn callees(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Call> {
    let file = position.file;
    let index = file_index(db, file);
    let inside = match index.token_at(position.offset).map(|t| t.role) {
        Some(Role::Function(f)) => ScopeNode::Function(f),
        Some(Role::Class(c)) => ScopeNode::Class(c),
        _ => ScopeNode::Module,
    };
    let Some(scope) = index.scopes.by_node.get(&inside).copied().or(Some(0)) else {
        return Vec::new();
    };
    let mut resolvers = vec![Resolver::of(db, workspace, file)];
    let first = resolvers[0].home.as_ref().map(|h| h.program);
    for p in workspace.programs.iter().filter(|p| Some(**p) != first) {
        if program_files(db, *p).contains(&file) {
            resolvers.push(Resolver::in_program(Home::new(db, *p)));
        }
    }
    let mut found: BTreeMap<(String, TextRange), (Item, Vec<TextRange>)> = BTreeMap::new();
    for token in &index.tokens {
        if !within(&index, token.scope, scope) {
            continue;
        }
        let Some(call) = call_of(&index, token) else {
            continue;
        };
        let mut places: Vec<Span> = Vec::new();
        for r in &resolvers {
            let Some(home) = &r.home else { continue };
            let functions = r.callees(&index, token.scope, call);
            places.extend(functions.iter().filter_map(|f| home.place(*f)));
        }
        if places.is_empty() {
            let offset = token.range.start;
            let at = FilePosition { file, offset };
            places = definitions(db, workspace, at);
        }
        for item in places.into_iter().filter_map(|p| item_at(db, p)) {
            let key = (item.file.path(db).to_string(), item.name_range);
            let entry = found.entry(key).or_insert((item, Vec::new()));
            if !entry.1.contains(&token.range) {
                entry.1.push(token.range);
            }
        }
    }
    let calls = found.into_values();
    calls.map(|(item, places)| Call { item, places }).collect()
}

/// Whether a scope is another one, or a lambda or comprehension in it.
fn within(index: &FileIndex, mut scope: ScopeId, outer: ScopeId) -> bool {
    loop {
        if scope == outer {
            return true;
        }
        let s = &index.scopes.scopes[scope];
        let nameless = match s.node {
            ScopeNode::Comprehension(_) => true,
            ScopeNode::Function(f) => {
                let name = index.parsed.spans.function(f).name;
                index.token_at(name.start).is_none_or(|t| t.range != name)
            }
            _ => false,
        };
        match s.parent {
            Some(p) if nameless => scope = p,
            _ => return false,
        }
    }
}

/// The classes that a name at a place stands for: itself, or those of its values.
pub fn type_items(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Item> {
    let mut all = definitions(db, workspace, position);
    all.retain(|s| is_class(db, *s));
    if all.is_empty() {
        all = crate::navigation::type_definitions(db, workspace, position);
    }
    all.into_iter().filter_map(|s| item_at(db, s)).collect()
}

fn is_class(db: &Database, place: Span) -> bool {
    item_at(db, place).is_some_and(|i| i.kind == SymbolKind::Class)
}

/// The classes that the class whose name stands at a place is made from.
pub fn supertypes(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Item> {
    related(db, workspace, position, |home, class| {
        match home.object(class).as_deref() {
            Some(ObjData::Class(c)) => c.bases.to_vec(),
            _ => Vec::new(),
        }
    })
}

/// The classes that are made from the class whose name stands at a place.
pub fn subtypes(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Item> {
    related(db, workspace, position, made_from)
}

/// The classes directly below a class, in use or not.
pub(crate) fn made_from(home: &Home<'_>, class: ObjId) -> Vec<ObjId> {
    let image = image(home.db, home.program);
    let below = image.objects.iter().filter(|(_, o)| match &***o {
        ObjData::Class(c) => c.bases.contains(&class),
        _ => false,
    });
    below.map(|(id, _)| *id).collect()
}

/// Classes that have to do with one, by place, in all programs that have it.
fn related(
    db: &Database,
    workspace: &Workspace,
    position: FilePosition,
    of: impl Fn(&Home<'_>, ObjId) -> Vec<ObjId>,
) -> Vec<Item> {
    let file = position.file;
    let index = file_index(db, file);
    let Some(Role::Class(c)) = index.token_at(position.offset).map(|t| t.role) else {
        return Vec::new();
    };
    let scope = index.scopes.by_node.get(&ScopeNode::Class(c));
    let Some(code) = scope.and_then(|s| index.codes.get(*s).copied()) else {
        return Vec::new();
    };
    let mut homes: Vec<Home<'_>> = workspace.home(db, file).into_iter().collect();
    let first = homes.first().map(|h| h.program);
    for p in workspace.programs.iter().filter(|p| Some(**p) != first) {
        if program_files(db, *p).contains(&file) {
            homes.push(Home::new(db, *p));
        }
    }
    let mut found: BTreeMap<(String, TextRange), Item> = BTreeMap::new();
    for home in &homes {
        let Some(class) = home.class_of(code) else {
            continue;
        };
        let places = of(home, class).into_iter().filter_map(|c| home.place(c));
        for item in places.filter_map(|p| item_at(db, p)) {
            found.insert((item.file.path(db).to_string(), item.name_range), item);
        }
    }
    found.into_values().collect()
}

/// The classes of the values of what is named at a place.
pub(crate) fn classes_at(
    r: &Resolver<'_>,
    file: File,
    index: &FileIndex,
    token: &Token,
) -> Vec<ObjId> {
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let values = match token.role {
        Role::Attribute(expr, write) => {
            let body = r.body_of_scope(index, token.scope).filter(|_| !write);
            let range = index.parsed.spans.expr(expr);
            let mut values = body.map(|b| b.expression(range)).unwrap_or_default();
            if values.is_empty() {
                let owners = r.owners(file, index, token, expr).into_iter();
                let attributes = owners.filter_map(|o| match o {
                    Owner::Class(c) => attribute(home, c, index.text(token)),
                    Owner::Module(_) => None,
                });
                values.extend(attributes);
            }
            values
        }
        Role::Parameter => {
            let body = r.body_of_scope(index, token.scope);
            body.map(|b| b.argument(index.text(token)))
                .unwrap_or_default()
        }
        _ => {
            let body = r.body_of_scope(index, index.variable(token).0);
            let write = matches!(token.role, Role::Write(_));
            let name = index.text(token);
            body.map(|b| b.variable(name, token.range, write))
                .unwrap_or_default()
        }
    };
    let mut out = Vec::new();
    for v in &values {
        for owner in r.owners_of(home, &held(home, v)) {
            if let Owner::Class(c) = owner
                && !out.contains(&c)
            {
                out.push(c);
            }
        }
    }
    if values.is_empty()
        && let [Symbol::Global(f, name)] = &r.symbols(file, index, token)[..]
        && let Some(value) = home.module_of(*f).and_then(|m| home.global(m, name))
        && let Some(Owner::Class(c)) = r.owner_of_const(&value)
    {
        out.push(c);
    }
    out
}

fn attribute(home: &Home<'_>, class: ObjId, name: &str) -> Option<taipan_annotator::SomeValue> {
    let roots = home.roots?;
    home.mro(class).into_iter().find_map(|c| {
        let key = taipan_annotator::Class::new(home.db, roots, c);
        let attrs = taipan_annotator::class_attributes(home.db, key);
        attrs.attrs.get(name).map(|a| a.value.clone())
    })
}

/// What a list or dict holds in the end; anything else is itself.
fn held(home: &Home<'_>, value: &taipan_annotator::SomeValue) -> taipan_annotator::SomeValue {
    use taipan_annotator::{Site, SomeKind, dict_def, list_def};
    let Some(roots) = home.roots else {
        return value.clone();
    };
    let mut value = value.clone();
    // Lists of themselves end here, too.
    for _ in 0..8 {
        value = match &value.kind {
            SomeKind::List { site, .. } => {
                let def = list_def(home.db, Site::new(home.db, roots, *site));
                def.item.clone()
            }
            SomeKind::Dict { site, .. } => {
                let def = dict_def(home.db, Site::new(home.db, roots, *site));
                def.value.clone()
            }
            _ => return value,
        };
    }
    value
}
