//! Inlay hints: what the annotator found out, beside the code.

use taipan_annotator::{Class, Roots, SomeValue, annotation_text, class_attributes, short_text};
use taipan_base::{File, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_driver::Database;

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
        let text = short_text(home.db, roots, v);
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
