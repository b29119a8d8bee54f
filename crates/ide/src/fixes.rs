//! The usual remedies, as edits.
//!
//! What is wrong is known by the diagnostic's code and place; what to change is read
//! from the syntax tree there, and which of two operands it is from annotations.

mod unused;

use taipan_annotator::{SomeKind, SomeValue};
use taipan_base::{Db, Diagnostic, ErrorCode, File, Help, Severity, Span, TextRange};
use taipan_driver::{Database, Timings, check};
use taipan_language::KnownFunction;
use taipan_syntax::{BinaryOp, Call, Expr, ExprId, Stmt};

use crate::index::{FileIndex, Role, file_index};
use crate::navigation::subclasses;
use crate::program::Workspace;
use crate::rename::Edits;
use crate::symbol::{Owner, Resolver};

/// A remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// What it is for.
    pub diagnostic: Diagnostic,
    /// Texts to be replaced, with what replaces them.
    pub edits: Edits,
    /// It is the one that is usually meant.
    pub preferred: bool,
    /// It changes nothing but the mistake, so that it may be applied without a look at it.
    pub safe: bool,
}

/// The remedies of what is wrong in a part of a file.
pub fn fixes(db: &Database, workspace: &Workspace, file: File, range: TextRange) -> Vec<Fix> {
    let r = Resolver::of(db, workspace, file);
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let index = file_index(db, file);
    let mut out = Vec::new();
    for diagnostic in check(db, home.program, &mut Timings::default()) {
        let Some(at) = diagnostic.primary.filter(|s| s.file == file) else {
            continue;
        };
        if at.range.end < range.start || range.end < at.range.start {
            continue;
        }
        let mut fixer = Fixer {
            r: &r,
            file,
            text: file.text(db),
            index: &index,
            at: at.range,
            found: Vec::new(),
            suppression: None,
        };
        fixer.find(diagnostic.code);
        if let Some(Help::Similar(name)) = &diagnostic.help {
            fixer.rename(name);
        }
        if diagnostic.severity == Severity::Warning {
            fixer.suppression = Some(fixer.found.len());
            fixer.suppress(diagnostic.code);
        }
        let suppression = fixer.suppression.take();
        for (i, (title, edits)) in fixer.found.into_iter().enumerate() {
            let is_comment = Some(i) == suppression;
            out.push(Fix {
                title,
                diagnostic: diagnostic.clone(),
                edits,
                preferred: i == 0 && !is_comment,
                safe: i == 0 && !is_comment && is_safe(diagnostic.code),
            });
        }
    }
    out
}

/// Whether the first remedy of a kind of mistake keeps all else as it is.
fn is_safe(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UndefinedName | ErrorCode::ReplacedOperation | ErrorCode::IgnoredTruth
    )
}

/// Other names of `rpython.rlib` that programs forget to import than known functions: decorators,
/// classes, and second names of integer types.
const LIBRARY: &[(&str, &str)] = &[
    ("specialize", "rpython.rlib.objectmodel"),
    ("JitDriver", "rpython.rlib.jit"),
    ("r_int64", "rpython.rlib.rarithmetic"),
    ("r_longlong", "rpython.rlib.rarithmetic"),
    ("r_uint64", "rpython.rlib.rarithmetic"),
    ("r_ulonglong", "rpython.rlib.rarithmetic"),
];

/// The module of `rpython.rlib` that has a name.
fn library_of(name: &str) -> Option<&'static str> {
    let functions = KnownFunction::ALL.iter().map(|f| (f.name(), f.module()));
    let all = functions.chain(LIBRARY.iter().copied());
    let found = all.filter(|(n, module)| *n == name && module.starts_with("rpython.rlib."));
    found.map(|(_, module)| module).next()
}

struct Fixer<'a> {
    r: &'a Resolver<'a>,
    file: File,
    text: &'a str,
    index: &'a FileIndex,
    at: TextRange,
    found: Vec<(String, Edits)>,
    /// The one among them that only suppresses a warning.
    suppression: Option<usize>,
}

impl Fixer<'_> {
    fn find(&mut self, code: ErrorCode) {
        match code {
            ErrorCode::NotRPython => self.power(),
            ErrorCode::UndefinedName => self.import_name(),
            ErrorCode::NoSuchAttribute => self.narrow(),
            ErrorCode::ReplacedOperation | ErrorCode::InvalidBuiltinArgument => {
                self.replace_builtin();
            }
            ErrorCode::MixedStrings => self.decode(),
            ErrorCode::InvalidWeakref => self.not_none(),
            ErrorCode::InvalidAttributeUse => self.add_to_attrs(),
            ErrorCode::MixedSignedness => self.signedness(),
            ErrorCode::MaybeNegative => self.not_negative(),
            ErrorCode::EntryPointResult => self.return_zero(),
            ErrorCode::IgnoredTruth => self.length(),
            ErrorCode::UnusedImport => self.remove_import(),
            ErrorCode::UnusedVariable => self.drop_variable(),
            ErrorCode::UnreachedCode => self.remove_lines(self.at, "Remove this code"),
            _ => {}
        }
    }

    /// The name at the end of the marked place becomes another one.
    fn rename(&mut self, name: &str) {
        let marked = self.source(self.at);
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let old = marked.rsplit(|c| !word(c)).next().unwrap_or_default();
        if old.is_empty() || old.starts_with(|c: char| c.is_ascii_digit()) {
            return;
        }
        let range = TextRange::new(self.at.end - old.len() as u32, self.at.end);
        let title = format!("Write `{name}`");
        self.add(title, vec![(range, name.to_owned())]);
    }

    /// The test of an instance that has a length.
    fn length(&mut self) {
        let (Some(home), Some(subject)) = (&self.r.home, self.subject()) else {
            return;
        };
        let has_length = |s: &SomeValue| match s.kind {
            SomeKind::Instance { class: Some(c), .. } => home.class_attr(c, "__len__").is_some(),
            _ => false,
        };
        let is_test = self.index.stmt_at(self.at.start).is_some_and(|s| {
            matches!(
                self.index.parsed.ast.stmts[s],
                Stmt::If(..) | Stmt::While { .. }
            )
        });
        if is_test && self.annotations(subject).iter().any(has_length) {
            let text = format!("len({}) > 0", self.source(self.at));
            self.add(format!("Write `{text}`"), vec![(self.at, text)]);
        }
    }

    /// The comment that suppresses a warning, behind the line or in the one that is there.
    fn suppress(&mut self, code: ErrorCode) {
        let start = self.at.start as usize;
        let end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |i| start + i);
        let line_start = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line = self.text[line_start..end].trim_end();
        let end = (line_start + line.len()) as u32;
        let listed = line
            .rsplit_once("# noqa:")
            .is_some_and(|(_, codes)| !codes.contains('#'));
        let text = match listed {
            true => format!(", {code}"),
            false => format!("  # noqa: {code}"),
        };
        self.add(
            format!("Suppress {code} in this line"),
            vec![(TextRange::new(end, end), text)],
        );
    }

    fn add(&mut self, title: impl Into<String>, edits: Vec<(TextRange, String)>) {
        let edits = edits.into_iter().map(|(range, text)| {
            let file = self.file;
            (Span { file, range }, text)
        });
        self.found.push((title.into(), edits.collect()));
    }

    fn source(&self, range: TextRange) -> &str {
        self.text
            .get(range.start as usize..range.end as usize)
            .unwrap_or("")
    }

    fn range(&self, e: ExprId) -> TextRange {
        self.index.parsed.spans.expr(e)
    }

    fn expr(&self, e: ExprId) -> &Expr {
        &self.index.parsed.ast.exprs[e]
    }

    /// The expression that the diagnostic is about.
    fn subject(&self) -> Option<ExprId> {
        let exact = |e: &Expr| !matches!(e, Expr::Error);
        let found = self.index.expr_at(self.at, exact)?;
        (self.range(found) == self.at).then_some(found)
    }

    fn call(&self) -> Option<&Call> {
        match self.expr(self.subject()?) {
            Expr::Call(c) => Some(c),
            _ => None,
        }
    }

    /// The text of a plain name or attribute, which can be written twice.
    fn repeatable(&self, e: ExprId) -> Option<String> {
        match self.expr(e) {
            Expr::Name(_) => Some(self.source(self.range(e)).to_owned()),
            Expr::Attribute(value, _) => {
                self.repeatable(*value)?;
                Some(self.source(self.range(e)).to_owned())
            }
            _ => None,
        }
    }

    /// Annotations of an expression in the function that it is in.
    fn annotations(&self, e: ExprId) -> Vec<SomeValue> {
        let range = self.range(e);
        let scope = self.index.scope_at(range.start);
        let Some(body) = self.r.body_of_scope(self.index, scope) else {
            return Vec::new();
        };
        match self.expr(e) {
            Expr::Name(n) => body.variable(self.index.scopes.text(*n), range, false),
            _ => body.expression(range),
        }
    }

    /// An edit that puts a line in front of the statement that the diagnostic is in.
    fn line_before(&self, line: &str) -> Option<(TextRange, String)> {
        let stmt = self.index.stmt_at(self.at.start)?;
        // A test of a compound statement is computed there too.
        let start = self.index.parsed.spans.stmt(stmt).start as usize;
        let line_start = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let indent = &self.text[line_start..start];
        if !indent.trim().is_empty() {
            return None;
        }
        let at = TextRange::new(line_start as u32, line_start as u32);
        Some((at, format!("{indent}{line}\n")))
    }

    /// An edit that imports a name, unless the module has it.
    fn import(&self, name: &str) -> Vec<(TextRange, String)> {
        let Some(module) = library_of(name) else {
            return Vec::new();
        };
        let known = self.index.bindings(name).next().is_some();
        if known {
            return Vec::new();
        }
        let ast = &self.index.parsed.ast;
        let spans = &self.index.parsed.spans;
        // Behind the last import at the top of the file, else behind its docstring.
        let head = ast.body.iter().take_while(|s| match &ast.stmts[**s] {
            Stmt::Import(_) | Stmt::ImportFrom(_) => true,
            Stmt::Expr(e) => matches!(ast.exprs[*e], Expr::Str(_) | Expr::Unicode(_)),
            _ => false,
        });
        let end = head.last().map_or(0, |s| spans.stmt(*s).end as usize);
        let at = match end {
            0 => 0,
            end => self.text[end..]
                .find('\n')
                .map_or(self.text.len(), |i| end + i + 1),
        };
        let at = TextRange::new(at as u32, at as u32);
        vec![(at, format!("from {module} import {name}\n"))]
    }

    fn wrap(&self, function: &str, e: ExprId) -> Vec<(TextRange, String)> {
        let range = self.range(e);
        let mut edits = self.import(function);
        edits.push((range, format!("{function}({})", self.source(range))));
        edits
    }

    /// `a ** b`: there is `pow()` of floats alone.
    fn power(&mut self) {
        let Some(subject) = self.subject() else {
            return;
        };
        if let Expr::Binary(BinaryOp::Pow, a, b) = *self.expr(subject) {
            let (a, b) = (self.source(self.range(a)), self.source(self.range(b)));
            let text = format!("pow(float({a}), {b})");
            self.add(format!("Write `{text}`"), vec![(self.at, text)]);
        }
    }

    fn import_name(&mut self) {
        let name = self.source(self.at).to_owned();
        let edits = self.import(&name);
        if !edits.is_empty() {
            self.add(format!("Import `{name}`"), edits);
        }
    }

    /// An attribute that only subclasses have.
    fn narrow(&mut self) {
        let Some(home) = &self.r.home else { return };
        let tokens = self.index.tokens.iter();
        let token = tokens
            .filter(|t| t.range.end == self.at.end)
            .find_map(|t| match t.role {
                Role::Attribute(e, _) if self.range(e) == self.at => Some((t, e)),
                _ => None,
            });
        let Some((token, expr)) = token else { return };
        let Expr::Attribute(value, _) = *self.expr(expr) else {
            return;
        };
        let Some(receiver) = self.repeatable(value) else {
            return;
        };
        let name = self.index.text(token).to_owned();
        let mut having: Vec<String> = Vec::new();
        for owner in self.r.owners(self.file, self.index, token, expr) {
            let Owner::Class(class) = owner else { continue };
            for sub in subclasses(home, class) {
                let declared = home.roots.is_some_and(|roots| {
                    let key = taipan_annotator::Class::new(home.db, roots, sub);
                    let attrs = taipan_annotator::class_attributes(home.db, key);
                    attrs.attrs.contains_key(&*name)
                });
                if declared || home.class_attr(sub, &name).is_some() {
                    having.push(home.class_name(sub));
                }
            }
        }
        having.sort();
        having.dedup();
        for class in having {
            let line = format!("assert isinstance({receiver}, {class})");
            if let Some(edit) = self.line_before(&line) {
                self.add(format!("Add `{line}`"), vec![edit]);
            }
        }
    }

    /// `hash(x)`, `id(x)` and `int(unsigned)`
    fn replace_builtin(&mut self) {
        let Some(call) = self.call() else { return };
        let (function, args) = (call.function, call.args.clone());
        let new = match (self.source(self.range(function)), &args[..]) {
            ("hash", [_]) => "compute_hash",
            ("id", [_]) => "compute_unique_id",
            ("int", [arg]) if self.annotations(*arg).iter().any(is_unsigned) => "intmask",
            _ => return,
        };
        let mut edits = self.import(new);
        edits.push((self.range(function), new.to_owned()));
        self.add(format!("Use `{new}`"), edits);
    }

    /// A byte string and a unicode string in one operation.
    fn decode(&mut self) {
        let Some(subject) = self.subject() else {
            return;
        };
        let (a, b) = match self.expr(subject) {
            Expr::Binary(_, a, b) => (*a, *b),
            Expr::Compare(a, rest) if rest.len() == 1 => (*a, rest[0].1),
            _ => return,
        };
        let is = |e: ExprId, wanted: fn(&SomeKind) -> bool| match self.expr(e) {
            Expr::Str(_) => wanted(&SomeKind::Str {
                can_be_none: false,
                no_nul: false,
            }),
            Expr::Unicode(_) => wanted(&SomeKind::UniChar),
            _ => self.annotations(e).iter().any(|s| wanted(&s.kind)),
        };
        let bytes = |k: &SomeKind| matches!(k, SomeKind::Str { .. } | SomeKind::Char { .. });
        let unicode = |k: &SomeKind| matches!(k, SomeKind::Unicode { .. } | SomeKind::UniChar);
        let mixed = [(a, b), (b, a)].into_iter();
        let this = mixed
            .filter(|(this, other)| is(*this, bytes) && is(*other, unicode))
            .map(|(this, _)| self.range(this))
            .next();
        if let Some(range) = this {
            let text = format!("{}.decode('utf-8')", self.source(range));
            self.add("Decode the byte string", vec![(range, text)]);
        }
    }

    /// An argument that may be None.
    fn not_none(&mut self) {
        let Some(call) = self.call() else { return };
        let args = call.args.clone();
        for arg in args {
            let nullable = self.annotations(arg).iter().any(|s| {
                matches!(
                    s.kind,
                    SomeKind::Instance {
                        can_be_none: true,
                        ..
                    }
                )
            });
            if nullable && let Some(name) = self.repeatable(arg) {
                let line = format!("assert {name} is not None");
                if let Some(edit) = self.line_before(&line) {
                    self.add(format!("Add `{line}`"), vec![edit]);
                }
            }
        }
    }

    /// An attribute that `_attrs_` does not list.
    fn add_to_attrs(&mut self) {
        let Some(home) = &self.r.home else { return };
        let tokens = self.index.tokens.iter();
        let found = tokens
            .filter(|t| self.at.start <= t.range.start && t.range.end <= self.at.end)
            .find_map(|t| match t.role {
                Role::Attribute(e, _) => Some((t, e)),
                _ => None,
            });
        let Some((token, expr)) = found else { return };
        let name = self.index.text(token).to_owned();
        for owner in self.r.owners(self.file, self.index, token, expr) {
            let Owner::Class(class) = owner else { continue };
            for c in home.mro(class) {
                let Some(code) = home.code_of_class(c) else {
                    continue;
                };
                let Some(file) = code.file(home.db) else {
                    continue;
                };
                if let Some((span, text)) = attrs_entry(home.db, file, code, &name) {
                    let of = home.class_name(c);
                    let title = format!("Add '{name}' to `_attrs_` of {of}");
                    self.found.push((title, vec![(span, text)]));
                    return;
                }
            }
        }
    }

    /// Integers that may differ in signedness.
    fn signedness(&mut self) {
        let Some(subject) = self.subject() else {
            return;
        };
        let (a, b) = match self.expr(subject) {
            Expr::Binary(_, a, b) => (*a, *b),
            Expr::Compare(a, rest) if rest.len() == 1 => (*a, rest[0].1),
            _ => return,
        };
        let (first, second) = match self.annotations(a).iter().any(is_unsigned) {
            true => (("intmask", a), ("r_uint", b)),
            false => (("intmask", b), ("r_uint", a)),
        };
        for (function, e) in [first, second] {
            let text = self.source(self.range(e)).to_owned();
            let edits = self.wrap(function, e);
            self.add(format!("Write `{function}({text})`"), edits);
        }
    }

    /// A bound of a slice or search that may be negative.
    fn not_negative(&mut self) {
        let Some(subject) = self.subject() else {
            return;
        };
        let bounds: Vec<ExprId> = match self.expr(subject) {
            Expr::Subscript(_, index) => match self.expr(*index) {
                Expr::Slice { lower, upper, .. } => lower.iter().chain(upper).copied().collect(),
                _ => Vec::new(),
            },
            Expr::Call(c) => c.args.iter().skip(1).copied().collect(),
            _ => Vec::new(),
        };
        for e in bounds {
            let negative = self
                .annotations(e)
                .iter()
                .any(|s| matches!(s.kind, SomeKind::Integer { nonneg: false, .. }));
            if negative && let Some(name) = self.repeatable(e) {
                let line = format!("assert {name} >= 0");
                if let Some(edit) = self.line_before(&line) {
                    self.add(format!("Add `{line}`"), vec![edit]);
                }
            }
        }
    }

    /// An entry point that ends without an exit code.
    fn return_zero(&mut self) {
        let functions = &self.index.parsed.ast.functions;
        let spans = &self.index.parsed.spans;
        let Some((id, def)) = functions
            .iter()
            .find(|(id, _)| spans.function(*id).name == self.at)
        else {
            return;
        };
        let taipan_syntax::FunctionBody::Block(block) = &def.body else {
            return;
        };
        let Some(last) = block.last() else { return };
        let last_range = spans.stmt(*last);
        let body_end = self.text[..spans.function(id).whole.end as usize]
            .trim_end()
            .len();
        let start = last_range.start as usize;
        let line = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let indent = self.text[line..start].to_owned();
        let ends = matches!(self.index.parsed.ast.stmts[*last], Stmt::Return(_));
        if !ends && indent.trim().is_empty() {
            let at = TextRange::new(body_end as u32, body_end as u32);
            self.add("Add `return 0`", vec![(at, format!("\n{indent}return 0"))]);
        }
    }
}

fn is_unsigned(s: &SomeValue) -> bool {
    matches!(&s.kind, SomeKind::Integer { kind, .. } if !kind.signed)
}

/// The edit that adds a name to the list `_attrs_` in the body of a class.
fn attrs_entry(
    db: &dyn Db,
    file: File,
    code: taipan_code::CodeId,
    name: &str,
) -> Option<(Span, String)> {
    let index = file_index(db, file);
    let scope = index.codes.iter().position(|c| *c == code)?;
    let token = index.tokens.iter().find(|t| {
        t.scope == scope && matches!(t.role, Role::Write(_)) && index.text(t) == "_attrs_"
    })?;
    let stmt = index.stmt_at(token.range.start)?;
    let Stmt::Assign(_, value) = &index.parsed.ast.stmts[stmt] else {
        return None;
    };
    let (Expr::List(items) | Expr::Tuple(items)) = &index.parsed.ast.exprs[*value] else {
        return None;
    };
    let spans = &index.parsed.spans;
    let (at, text) = match items.last() {
        Some(last) => (spans.expr(*last).end, format!(", '{name}'")),
        // Behind the opening bracket.
        None => (spans.expr(*value).start + 1, format!("'{name}'")),
    };
    let range = TextRange::new(at, at);
    Some((Span { file, range }, text))
}
