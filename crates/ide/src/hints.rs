//! Inlay hints: what the annotator found out, beside the code.

use taipan_annotator::{
    Class, Desc, ListDef, Roots, Site, SomeKind, SomeValue, annotation_text, class_attributes,
    dict_def, int_kind_name, list_def,
};
use taipan_base::{File, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_driver::Database;
use taipan_graph::ObjId;

use crate::body::{Body, distinct};
use crate::index::{Role, file_index};
use crate::program::{Home, Workspace};
use crate::symbol::{Resolver, Symbol};

/// A hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// Where it stands.
    pub offset: u32,
    /// What it says, shortly.
    pub text: String,
    /// The annotation in full.
    pub tooltip: String,
    /// What it is about.
    pub kind: HintKind,
}

/// What a hint is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HintKind {
    /// An argument of a function.
    Argument,
    /// The result of a function.
    Result,
    /// An attribute, where it is first assigned.
    Attribute,
}

/// The annotations of arguments, results and attributes in a part of a file.
pub fn inlay_hints(
    db: &Database,
    workspace: &Workspace,
    file: File,
    range: TextRange,
) -> Vec<Hint> {
    let index = file_index(db, file);
    let r = Resolver::of(db, workspace, file);
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let Some(roots) = home.roots else {
        return Vec::new();
    };
    let inside = |offset: u32| range.start <= offset && offset <= range.end;
    let mut out = Vec::new();
    let mut add = |offset: u32, prefix: &str, values: &[SomeValue], kind: HintKind| {
        if values.is_empty() {
            return;
        }
        let text = short(home, roots, values);
        let full: Vec<String> = values
            .iter()
            .map(|v| annotation_text(db, roots, v))
            .collect();
        out.push(Hint {
            offset,
            text: format!("{prefix}{text}"),
            tooltip: full.join("\n"),
            kind,
        });
    };
    let mut attributes: Vec<Symbol> = Vec::new();
    for t in &index.tokens {
        match t.role {
            Role::Parameter if inside(t.range.end) => {
                // What `self` is stands above.
                let scope = &index.scopes.scopes[t.scope];
                let method = scope
                    .parent
                    .is_some_and(|p| matches!(index.scopes.scopes[p].node, ScopeNode::Class(_)));
                if method && index.text(t) == "self" {
                    continue;
                }
                if let Some(body) = r.body_of_scope(&index, t.scope) {
                    let values = body.argument(index.text(t));
                    add(t.range.end, ": ", &values, HintKind::Argument);
                }
            }
            // It returns None by all means.
            Role::Function(_) if index.text(t) == "__init__" => {}
            Role::Function(f) => {
                let node = ScopeNode::Function(f);
                let end = signature_end(file.text(db), index.parsed.spans.function(f));
                if let Some(scope) = index.scopes.by_node.get(&node)
                    && let Some(end) = end.filter(|e| inside(*e))
                    && let Some(body) = r.body_of_scope(&index, *scope)
                {
                    add(end, " -> ", &results(&body), HintKind::Result);
                }
            }
            Role::Attribute(_, true) if inside(t.range.end) => {
                for symbol in r.symbols(file, &index, t) {
                    let Symbol::Member(class, name) = &symbol else {
                        continue;
                    };
                    let attrs = class_attributes(db, Class::new(db, roots, *class));
                    if attributes.contains(&symbol) {
                        continue;
                    }
                    if let Some(a) = attrs.attrs.get(&**name) {
                        let value = std::slice::from_ref(&a.value);
                        add(t.range.end, ": ", value, HintKind::Attribute);
                    }
                    attributes.push(symbol.clone());
                }
            }
            _ => {}
        }
    }
    out.sort_by_key(|h| h.offset);
    out
}

/// What a function returns, in each specialisation.
fn results(body: &Body) -> Vec<SomeValue> {
    distinct(body.graphs.iter().map(|(_, a)| a.signature.result.clone()))
}

/// The offset behind the closing parenthesis of a definition's parameters.
fn signature_end(text: &str, spans: &taipan_syntax::DefinitionSpans) -> Option<u32> {
    let after = spans.params.last().map_or(spans.name.end, |p| p.end);
    let rest = text.get(after as usize..spans.whole.end as usize)?;
    // Default values may hold brackets of their own; a hint is not worth parsing them.
    let line = rest.split('\n').next()?;
    let colon = line.rfind(':')?;
    let close = line[..colon].rfind(')')?;
    Some(after + close as u32 + 1)
}

/// No more alternatives than this are spelled out.
const MOST_ALTERNATIVES: usize = 3;

fn short(home: &Home<'_>, roots: Roots, values: &[SomeValue]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for v in values {
        let text = short_text(home, roots, v, 0);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.len() > MOST_ALTERNATIVES {
        texts.truncate(MOST_ALTERNATIVES);
        texts.push("…".to_owned());
    }
    texts.join(" | ")
}

/// An annotation in a few letters: `int>=0`, `str?` (may be None), `[A]`.
fn short_text(home: &Home<'_>, roots: Roots, s: &SomeValue, depth: u32) -> String {
    if depth > 3 {
        return "…".to_owned();
    }
    let inner = |s: &SomeValue| short_text(home, roots, s, depth + 1);
    let optional = |name: String, none: bool| match none {
        true => format!("{name}?"),
        false => name,
    };
    match &s.kind {
        SomeKind::Impossible => "never".to_owned(),
        SomeKind::Integer { nonneg, kind } => match int_kind_name(*kind) {
            Some(name) => name,
            None if *nonneg => "int>=0".to_owned(),
            None => "int".to_owned(),
        },
        SomeKind::Bool => "bool".to_owned(),
        SomeKind::Float => "float".to_owned(),
        SomeKind::SingleFloat => "r_singlefloat".to_owned(),
        SomeKind::Char { .. } => "char".to_owned(),
        SomeKind::UniChar => "unichar".to_owned(),
        SomeKind::Str { can_be_none, .. } => optional("str".to_owned(), *can_be_none),
        SomeKind::Unicode { can_be_none } => optional("unicode".to_owned(), *can_be_none),
        SomeKind::ByteArray { can_be_none } => optional("bytearray".to_owned(), *can_be_none),
        SomeKind::List { site, can_be_none } => {
            let def: std::sync::Arc<ListDef> = list_def(home.db, Site::new(home.db, roots, *site));
            optional(format!("[{}]", inner(&def.item)), *can_be_none)
        }
        SomeKind::Dict { site, can_be_none } => {
            let def = dict_def(home.db, Site::new(home.db, roots, *site));
            let text = format!("{{{}: {}}}", inner(&def.key), inner(&def.value));
            optional(text, *can_be_none)
        }
        SomeKind::Tuple(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("({})", items.join(", "))
        }
        SomeKind::Instance { class, can_be_none } => {
            let name = class.map_or("object".to_owned(), |c| home.class_name(c));
            optional(name, *can_be_none)
        }
        SomeKind::Pbc { descs, can_be_none } => {
            let mut names: Vec<String> = descs.iter().map(|d| desc(home, d)).collect();
            names.sort();
            names.dedup();
            if names.len() > MOST_ALTERNATIVES {
                let more = names.len() - MOST_ALTERNATIVES;
                names.truncate(MOST_ALTERNATIVES);
                names.push(format!("+{more}"));
            }
            optional(names.join("|"), *can_be_none)
        }
        SomeKind::None => "None".to_owned(),
        SomeKind::Iterator { container, .. } => format!("iter {}", inner(container)),
        SomeKind::Builder { unicode: false, .. } => "StringBuilder".to_owned(),
        SomeKind::Builder { unicode: true, .. } => "UnicodeBuilder".to_owned(),
        SomeKind::Ptr(t) => t.to_string(),
        SomeKind::Conflict => "conflict".to_owned(),
        _ => annotation_text(home.db, roots, s)
            .trim_start_matches("Some")
            .to_owned(),
    }
}

fn desc(home: &Home<'_>, d: &Desc) -> String {
    let name = |id: &ObjId| match home.object(*id).as_deref() {
        Some(taipan_interp::ObjData::Function(f)) => f.name.to_string(),
        Some(taipan_interp::ObjData::Class(c)) => c.name.to_string(),
        Some(taipan_interp::ObjData::Module { name }) => name.to_string(),
        Some(taipan_interp::ObjData::Instance(i)) => home.class_name(i.class),
        _ => "?".to_owned(),
    };
    match d {
        Desc::Function(f) => name(f),
        Desc::Class(c) => format!("class {}", name(c)),
        Desc::Method { func, .. } | Desc::FrozenMethod { func, .. } => name(func),
        Desc::Frozen(o) => name(o),
    }
}
