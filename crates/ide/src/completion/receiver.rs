//! What stands in front of a dot, also in a line that is being written: the expression is
//! taken from the text and looked up step by step in what the program as it was says of
//! variables, attributes and functions.

use taipan_annotator::{
    Class, Desc, Site, SomeKind, SomeValue, annotation, class_attributes, dict_def, list_def,
};
use taipan_base::{File, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_code::{CodeId, code_spans};
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_syntax::{BinaryOp, Expr, ExprId, ParsedFile, Stmt};

use crate::body::{Body, distinct};
use crate::index::FileIndex;
use crate::program::Home;
use crate::symbol::{Owner, Resolver};

/// What is known of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Known {
    /// Its annotation.
    Value(SomeValue),
    /// It always is this object of the image.
    Object(Const),
    /// A list of which only the items are known.
    List(Box<Known>),
    /// A method of a value of a builtin kind.
    Method(Box<Known>, String),
    /// A builtin function.
    Builtin(String),
}

/// No more alternatives than this are followed.
const MOST: usize = 16;

/// Finds out what expressions at a place are.
pub(super) struct Typer<'a> {
    r: &'a Resolver<'a>,
    home: &'a Home<'a>,
    file: File,
    index: &'a FileIndex,
    offset: u32,
}

impl<'a> Typer<'a> {
    pub(super) fn new(
        r: &'a Resolver<'a>,
        home: &'a Home<'a>,
        file: File,
        index: &'a FileIndex,
        offset: u32,
    ) -> Self {
        Typer {
            r,
            home,
            file,
            index,
            offset,
        }
    }

    /// What the expression is that a text ends with.
    pub(super) fn receiver(&self, text: &str) -> Vec<Known> {
        let exact = self.exact(text.trim_end().len() as u32);
        if !exact.is_empty() {
            return exact;
        }
        let Some(start) = expression_start(text) else {
            return Vec::new();
        };
        // Line breaks are inside of brackets then.
        let parsed = taipan_syntax::parse(&format!("({})", &text[start..]));
        match (&parsed.errors[..], &parsed.ast.body[..]) {
            ([], [stmt]) => match parsed.ast.stmts[*stmt] {
                Stmt::Expr(e) => self.expression(&parsed, e),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The classes whose members it has.
    pub(super) fn owners(&self, known: &Known) -> Vec<Owner> {
        match known {
            Known::Value(v) => self.r.owners_of(self.home, v),
            Known::Object(c) => self.r.owner_of_const(c).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The longest expression that ends there, if the text still parses as one and the
    /// program computes it.
    fn exact(&self, end: u32) -> Vec<Known> {
        let spans = &self.index.parsed.spans;
        let exprs = self.index.parsed.ast.exprs.iter();
        let whole = exprs
            .filter(|(_, e)| !matches!(e, Expr::Error))
            .map(|(id, _)| (id, spans.expr(id)))
            .filter(|(_, r)| r.end == end)
            .max_by_key(|(_, r)| r.end - r.start);
        let Some((id, range)) = whole else {
            return Vec::new();
        };
        let scope = self.index.scope_at(end);
        if let Some(c) = self.r.constant(self.file, self.index, scope, id) {
            return vec![Known::Object(c)];
        }
        let Some(body) = self.r.body_of_scope(self.index, scope) else {
            return Vec::new();
        };
        let values = match &self.index.parsed.ast.exprs[id] {
            Expr::Name(n) => body.variable(self.index.scopes.text(*n), range, false),
            _ => body.expression(range),
        };
        values.into_iter().map(Known::Value).collect()
    }

    fn expression(&self, p: &ParsedFile, id: ExprId) -> Vec<Known> {
        let each = |id: &ExprId| self.expression(p, *id);
        let mut out: Vec<Known> = match &p.ast.exprs[id] {
            Expr::Name(n) => self.variable(p.ast.name(*n)),
            Expr::Attribute(value, n) => {
                let name = p.ast.name(*n);
                let values = self.expression(p, *value).into_iter();
                values.flat_map(|v| self.attribute(v, name)).collect()
            }
            Expr::Call(c) => {
                let functions = self.expression(p, c.function).into_iter();
                let first = || {
                    let first = c.args.first();
                    first.map(each).unwrap_or_default()
                };
                functions.flat_map(|f| self.call(f, &first)).collect()
            }
            Expr::Subscript(value, at) => {
                let values = self.expression(p, *value).into_iter();
                let at = &p.ast.exprs[*at];
                values.flat_map(|v| self.item(v, at)).collect()
            }
            Expr::Str(s) => vec![Known::Object(Const::Str(s.clone()))],
            Expr::Unicode(s) => vec![Known::Object(Const::Unicode(s.clone()))],
            Expr::And(all) | Expr::Or(all) => all.iter().flat_map(each).collect(),
            Expr::Conditional { then, orelse, .. } => {
                [then, orelse].into_iter().flat_map(each).collect()
            }
            Expr::List(items) => {
                let first = items.iter().flat_map(each).next();
                let item = first.unwrap_or(Known::Value(SomeValue::default()));
                vec![Known::List(Box::new(item))]
            }
            // `'%d' % n`, `a + b`.
            Expr::Binary(BinaryOp::Add | BinaryOp::Mod | BinaryOp::Mul, left, _) => each(left),
            _ => Vec::new(),
        };
        let mut seen: Vec<Known> = Vec::new();
        out.retain(|k| {
            let new = !seen.contains(k) && seen.len() < MOST;
            if new {
                seen.push(k.clone());
            }
            new
        });
        out
    }

    /// The function around the place: while its text is broken it is where it was.
    fn function(&self) -> Option<CodeId> {
        let scope = self.index.scope_at(self.offset);
        if matches!(self.index.scopes.scopes[scope].node, ScopeNode::Function(_)) {
            return self.index.codes.get(scope).copied();
        }
        let inside = |c: &CodeId| {
            let whole = code_spans(self.r.db, *c).whole;
            whole.start < self.offset && self.offset <= whole.end
        };
        let around = self.index.codes.iter().skip(1).copied().filter(inside);
        let size = |c: &CodeId| {
            let whole = code_spans(self.r.db, *c).whole;
            whole.end - whole.start
        };
        around.min_by_key(size)
    }

    fn variable(&self, name: &str) -> Vec<Known> {
        let code = self.function();
        if let Some(code) = code
            && let Some(body) = self.r.body(code)
        {
            let values = local(&body, name);
            if !values.is_empty() {
                return values.into_iter().map(Known::Value).collect();
            }
        }
        let module = self.home.module_of(self.file);
        if let Some(c) = module.and_then(|m| self.home.global(m, name)) {
            return vec![Known::Object(c)];
        }
        if name == "self"
            && let Some(class) = self.enclosing_class()
        {
            return vec![instance(class)];
        }
        vec![Known::Builtin(name.to_owned())]
    }

    fn enclosing_class(&self) -> Option<ObjId> {
        let mut scope = self.index.scope_at(self.offset);
        loop {
            let s = &self.index.scopes.scopes[scope];
            if matches!(s.node, ScopeNode::Class(_)) {
                return self.home.class_of(*self.index.codes.get(scope)?);
            }
            scope = s.parent?;
        }
    }

    fn attribute(&self, of: Known, name: &str) -> Vec<Known> {
        if let Known::Object(Const::Obj(id)) = &of
            && let Some(ObjData::Module { name: package }) = self.home.object(*id).as_deref()
        {
            let inside = || self.home.module_named(&format!("{package}.{name}"));
            let found = self.home.global(*id, name);
            let found = found.or_else(|| inside().map(Const::Obj));
            return found.map(Known::Object).into_iter().collect();
        }
        if let Known::Object(Const::Obj(id)) = &of
            && let Some(ObjData::Instance(i)) = self.home.object(*id).as_deref()
            && let Some(value) = i.get(name)
        {
            return vec![Known::Object(value.clone())];
        }
        let owners = self.owners(&of);
        if owners.is_empty() {
            return vec![Known::Method(Box::new(of), name.to_owned())];
        }
        let mut out = Vec::new();
        for owner in owners {
            match owner {
                Owner::Module(file) => {
                    let module = self.home.module_of(file);
                    let value = module.and_then(|m| self.home.global(m, name));
                    out.extend(value.map(Known::Object));
                }
                Owner::Class(class) => out.extend(self.member(class, name)),
            }
        }
        out
    }

    fn member(&self, class: ObjId, name: &str) -> Vec<Known> {
        let home = self.home;
        if let Some(roots) = home.roots {
            for c in home.mro(class) {
                let attrs = class_attributes(home.db, Class::new(home.db, roots, c));
                if let Some(a) = attrs.attrs.get(name) {
                    return vec![Known::Value(a.value.clone())];
                }
            }
        }
        let Some((_, value)) = home.class_attr(class, name) else {
            return Vec::new();
        };
        if let Const::Obj(id) = &value
            && let Some(ObjData::Property { fget, .. }) = home.object(*id).as_deref()
        {
            return self.call(Known::Object(fget.clone()), &Vec::new);
        }
        vec![Known::Object(value)]
    }

    /// What a call results in; `first` answers what is known of its first argument.
    fn call(&self, function: Known, first: &dyn Fn() -> Vec<Known>) -> Vec<Known> {
        match function {
            Known::Object(Const::Obj(id)) => self.call_object(id),
            Known::Value(SomeValue {
                kind: SomeKind::Pbc { descs, .. },
                ..
            }) => {
                let of = |d: &Desc| match d {
                    Desc::Function(f)
                    | Desc::Method { func: f, .. }
                    | Desc::FrozenMethod { func: f, .. } => self.results(*f),
                    Desc::Class(c) => vec![instance(*c)],
                    Desc::Frozen(_) => Vec::new(),
                };
                descs.iter().take(MOST).flat_map(of).collect()
            }
            Known::Value(SomeValue {
                kind: SomeKind::BuiltinMethod { name, of },
                ..
            }) => self.call_method(Known::Value((*of).clone()), &name),
            Known::Method(of, name) => self.call_method(*of, &name),
            Known::Builtin(name) => match &*name {
                "str" | "chr" | "hex" | "oct" | "repr" => vec![string()],
                "list" | "sorted" | "reversed" | "max" | "min" | "abs" => first(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn call_object(&self, id: ObjId) -> Vec<Known> {
        match self.home.object(id).as_deref() {
            Some(ObjData::Function(_)) => self.results(id),
            Some(ObjData::Class(c)) if !c.builtin => vec![instance(id)],
            Some(
                ObjData::StaticMethod(Const::Obj(f))
                | ObjData::ClassMethod(Const::Obj(f))
                | ObjData::Method {
                    im_func: Const::Obj(f),
                    ..
                },
            ) => self.results(*f),
            _ => Vec::new(),
        }
    }

    /// What a function returns, in each specialisation.
    fn results(&self, function: ObjId) -> Vec<Known> {
        let Some(ObjData::Function(f)) = self.home.object(function).as_deref().cloned() else {
            return Vec::new();
        };
        let specs = self.home.specs(f.code).into_iter();
        let own = specs.filter(|s| s.func(self.r.db) == function);
        let results = own.map(|s| annotation(self.r.db, s).signature.result.clone());
        distinct(results).into_iter().map(Known::Value).collect()
    }

    /// A method of a value of a builtin kind.
    fn call_method(&self, of: Known, name: &str) -> Vec<Known> {
        let list = |item: Vec<Known>| -> Vec<Known> {
            let lists = item.into_iter().map(|i| Known::List(Box::new(i)));
            lists.collect()
        };
        if is_string(&of) {
            return match name {
                "split" | "rsplit" | "splitlines" => vec![Known::List(Box::new(of))],
                "strip" | "lstrip" | "rstrip" | "lower" | "upper" | "replace" | "join"
                | "decode" | "encode" => vec![of],
                _ => Vec::new(),
            };
        }
        let dict = self.dict_parts(&of);
        match (name, dict) {
            ("get" | "pop" | "setdefault", Some((_, value))) => value,
            ("values" | "itervalues", Some((_, value))) => list(value),
            ("keys" | "iterkeys", Some((key, _))) => list(key),
            ("copy", Some(_)) => vec![of],
            ("pop", None) => self.items(&of),
            ("build", None) => vec![string()],
            _ => Vec::new(),
        }
    }

    fn item(&self, of: Known, at: &Expr) -> Vec<Known> {
        if matches!(at, Expr::Slice { .. }) || is_string(&of) {
            return vec![of];
        }
        if let Some((_, value)) = self.dict_parts(&of) {
            return value;
        }
        let position = match at {
            Expr::Int(i) => usize::try_from(*i).ok(),
            _ => None,
        };
        let tuple: Option<Vec<Known>> = match &of {
            Known::Value(SomeValue {
                kind: SomeKind::Tuple(items),
                ..
            }) => Some(items.iter().cloned().map(Known::Value).collect()),
            Known::Object(Const::Tuple(items)) => {
                Some(items.iter().cloned().map(Known::Object).collect())
            }
            _ => None,
        };
        if let Some(items) = tuple {
            let one = position.and_then(|i| items.get(i).cloned());
            return one.map_or(items, |one| vec![one]);
        }
        let items = self.items(&of);
        if !items.is_empty() {
            return items;
        }
        let method = self.attribute(of, "__getitem__").into_iter();
        method.flat_map(|m| self.call(m, &Vec::new)).collect()
    }

    /// What a list holds.
    fn items(&self, of: &Known) -> Vec<Known> {
        match of {
            Known::List(item) => vec![(**item).clone()],
            Known::Value(SomeValue {
                kind: SomeKind::List { site, .. },
                ..
            }) => {
                let Some(roots) = self.home.roots else {
                    return Vec::new();
                };
                let def = list_def(self.r.db, Site::new(self.r.db, roots, *site));
                vec![Known::Value(def.item.clone())]
            }
            Known::Object(Const::Obj(id)) => match self.home.object(*id).as_deref() {
                Some(ObjData::List(items)) => items
                    .iter()
                    .take(MOST)
                    .cloned()
                    .map(Known::Object)
                    .collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The keys and values of a dict.
    fn dict_parts(&self, of: &Known) -> Option<(Vec<Known>, Vec<Known>)> {
        match of {
            Known::Value(SomeValue {
                kind: SomeKind::Dict { site, .. },
                ..
            }) => {
                let def = dict_def(self.r.db, Site::new(self.r.db, self.home.roots?, *site));
                let known = |v: &SomeValue| vec![Known::Value(v.clone())];
                Some((known(&def.key), known(&def.value)))
            }
            Known::Object(Const::Obj(id)) => match self.home.object(*id).as_deref() {
                Some(ObjData::Dict(items)) => {
                    let some = || items.iter().take(MOST);
                    let keys = some().map(|(k, _)| Known::Object(k.clone()));
                    let values = some().map(|(_, v)| Known::Object(v.clone()));
                    Some((keys.collect(), values.collect()))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn instance(class: ObjId) -> Known {
    Known::Value(SomeValue {
        kind: SomeKind::Instance {
            class: Some(class),
            can_be_none: false,
        },
        const_: None,
    })
}

fn string() -> Known {
    Known::Value(SomeValue {
        kind: SomeKind::Str {
            can_be_none: false,
            no_nul: false,
        },
        const_: None,
    })
}

fn is_string(known: &Known) -> bool {
    match known {
        Known::Value(v) => matches!(
            v.kind,
            SomeKind::Str { .. }
                | SomeKind::Char { .. }
                | SomeKind::Unicode { .. }
                | SomeKind::UniChar
        ),
        Known::Object(c) => matches!(c, Const::Str(_) | Const::Unicode(_)),
        _ => false,
    }
}

/// All that a local variable is somewhere in its function.
fn local(body: &Body, name: &str) -> Vec<SomeValue> {
    body.variable(name, TextRange::new(u32::MAX, u32::MAX), false)
}

/// Where the expression begins that a text ends with: a name, literal or bracket, with
/// what is asked of it (`f(x)[0].a`).
fn expression_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = text.trim_end().len();
    // A name, literal or pair of brackets at a time.
    loop {
        let last = *bytes.get(at.checked_sub(1)?)?;
        let start = match last {
            b')' | b']' | b'}' => {
                let open = opening(bytes, at - 1)?;
                let before = text[..open].trim_end_matches([' ', '\t']);
                let called = before.bytes().last().is_some_and(ends_operand);
                if called && last != b'}' && !ends_with_keyword(before) {
                    at = before.len();
                    continue;
                }
                open
            }
            b'\'' | b'"' => {
                let open = string_start(bytes, at - 1)?;
                let prefix = text[..open].trim_end_matches(['u', 'U', 'r', 'R', 'b', 'B']);
                let word = prefix.bytes().last().is_some_and(is_word);
                if word { open } else { prefix.len() }
            }
            b if is_word(b) => {
                let word = text[..at].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
                word.len()
            }
            _ => return None,
        };
        let before = text[..start].trim_end_matches([' ', '\t']);
        match before.strip_suffix('.') {
            Some(rest) => at = rest.trim_end_matches([' ', '\t']).len(),
            None => return Some(start),
        }
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

fn ends_operand(b: u8) -> bool {
    is_word(b) || matches!(b, b')' | b']' | b'}' | b'\'' | b'"')
}

fn ends_with_keyword(text: &str) -> bool {
    let start = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    super::KEYWORDS.contains(&&text[start.len()..])
}

/// The bracket that the one at `close` closes.
fn opening(bytes: &[u8], close: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = close;
    loop {
        match bytes[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'\'' | b'"' => at = string_start(bytes, at)?,
            _ => {}
        }
        at = at.checked_sub(1)?;
    }
}

/// The quote that opens the string on one line which the one at `end` closes.
fn string_start(bytes: &[u8], end: usize) -> Option<usize> {
    let quote = bytes[end];
    let mut at = end.checked_sub(1)?;
    loop {
        match bytes[at] {
            b'\n' => return None,
            b if b == quote && (at == 0 || bytes[at - 1] != b'\\') => return Some(at),
            _ => at = at.checked_sub(1)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::expression_start;

    #[test]
    fn the_expression_in_front_of_a_dot() {
        for (text, wanted) in [
            ("x = a", "a"),
            ("x = a.b.c", "a.b.c"),
            ("f(a, b", "b"),
            ("f(x)", "f(x)"),
            ("return f(x)[0].g( ')' )", "f(x)[0].g( ')' )"),
            ("print (a)", "(a)"),
            ("if not (a or b)", "(a or b)"),
            ("a = u'%d'", "u'%d'"),
            ("'%s, ' % a", "a"),
            ("f(a,\n  b)", "f(a,\n  b)"),
            ("a = {1: 2}", "{1: 2}"),
            ("x = y[a:b]", "y[a:b]"),
            ("-a", "a"),
        ] {
            let start = expression_start(text).unwrap();
            assert_eq!(&text[start..], wanted, "{text}");
        }
        assert_eq!(expression_start("a ="), None);
        assert_eq!(expression_start(""), None);
        assert_eq!(expression_start(")"), None);
    }
}
