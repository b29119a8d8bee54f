//! What there is to say of the name or expression under the cursor.

use taipan_annotator::{
    Class, Roots, SomeValue, Spec, annotation, annotation_text, class_attributes, class_def,
};
use taipan_base::{File, TextRange};
use taipan_driver::{Database, color_of_name};
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_syntax::Expr;

use crate::body::Body;
use crate::index::{FileIndex, Role, Token, file_index};
use crate::program::{FilePosition, Home, Workspace};
use crate::repr::{instance_layout, repr_text};
use crate::symbol::{Owner, Resolver, Symbol};

/// What is said of a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// What it is about.
    pub range: TextRange,
    /// Lines of code: annotations, signatures.
    pub code: Vec<String>,
    /// Further lines for people: low-level types, where something is declared. What
    /// stands in backquotes is code.
    pub notes: Vec<String>,
    /// The variable that has a color, if it is one that may.
    pub colored: Option<Colored>,
}

/// More specialisations than this are counted, not shown.
const MOST_SPECIALISATIONS: usize = 8;

/// Annotation, Repr and low-level type of the variable or expression at a place; of
/// functions the signature of each specialisation, of attributes the class that
/// declares them, of classes their layout.
pub fn hover(db: &Database, workspace: &Workspace, position: FilePosition) -> Option<Hover> {
    let file = position.file;
    let index = file_index(db, file);
    let resolver = Resolver::of(db, workspace, file);
    if let Some(token) = index.token_at(position.offset) {
        return of_token(&resolver, file, &index, token);
    }
    of_expression(&resolver, &index, position.offset)
}

fn of_token(r: &Resolver<'_>, file: File, index: &FileIndex, token: &Token) -> Option<Hover> {
    let mut hover = Hover {
        range: token.range,
        code: Vec::new(),
        notes: Vec::new(),
        colored: None,
    };
    let home = r.home.as_ref();
    let symbols = r.symbols(file, index, token);
    let name = index.text(token);
    match token.role {
        Role::Attribute(expr, _) => {
            let values = r.body_of_scope(index, token.scope).map(|b| {
                let range = index.parsed.spans.expr(expr);
                b.expression(range)
            });
            let values = values.unwrap_or_default();
            for owner in r.owners(file, index, token, expr) {
                member(r, &mut hover, owner, name);
            }
            if hover.code.is_empty()
                && let (Some(home), false) = (home, values.is_empty())
            {
                annotated(home, &mut hover, name, &values);
            }
        }
        _ => {
            let home = home?;
            match symbols.first()? {
                Symbol::Local(code, name) => {
                    let body = r.body(*code)?;
                    let values = match token.role {
                        Role::Parameter | Role::Keyword(_) => body.argument(name),
                        Role::Write(_) => body.variable(name, token.range, true),
                        _ => body.variable(name, token.range, false),
                    };
                    match values.is_empty() {
                        true => hover.code.push(format!("{name}: never has a value")),
                        false => annotated(home, &mut hover, name, &values),
                    }
                    let has_drivers = |r| taipan_driver::may_have_drivers(home.db, r);
                    if home.roots.is_some_and(has_drivers) {
                        hover.colored = Some(Colored::new(&body, name));
                    }
                }
                Symbol::Global(file, name) => {
                    let value = home.global(home.module_of(*file)?, name)?;
                    constant(home, &mut hover, name, &value);
                }
                Symbol::Member(class, name) => {
                    // The own method rather than that of the class on top.
                    let scope = index.variable(token).0;
                    let own = index.codes.get(scope).and_then(|c| home.class_of(*c));
                    member(r, &mut hover, Owner::Class(own.unwrap_or(*class)), name);
                }
                Symbol::Module(file) => {
                    let path = taipan_base::File::path(*file, r.db);
                    hover.code.push(format!("module {name}"));
                    hover.notes.push(format!("`{path}`"));
                }
                Symbol::Builtin(name) => {
                    hover.code.push(format!("builtin {name}"));
                }
            }
        }
    }
    (!hover.code.is_empty()).then_some(hover)
}

/// The innermost expression around an offset that is an operation.
fn of_expression(r: &Resolver<'_>, index: &FileIndex, offset: u32) -> Option<Hover> {
    let at = TextRange::new(offset, offset);
    let operation = |e: &Expr| {
        matches!(
            e,
            Expr::Binary(..)
                | Expr::Unary(..)
                | Expr::Compare(..)
                | Expr::Call(_)
                | Expr::Subscript(..)
                | Expr::List(_)
                | Expr::Dict(_)
                | Expr::Tuple(_)
        )
    };
    let expr = index.expr_at(at, operation)?;
    let range = index.parsed.spans.expr(expr);
    let home = r.home.as_ref()?;
    let body = r.body_of_scope(index, index.scope_at(offset))?;
    let values = body.expression(range);
    let mut hover = Hover {
        range,
        code: Vec::new(),
        notes: Vec::new(),
        colored: None,
    };
    annotated(home, &mut hover, "", &values);
    (!hover.code.is_empty()).then_some(hover)
}

/// Annotations of a name, one line each.
fn annotated(home: &Home<'_>, hover: &mut Hover, name: &str, values: &[SomeValue]) {
    let Some(roots) = home.roots else { return };
    let prefix = match name {
        "" => String::new(),
        name => format!("{name}: "),
    };
    for s in values.iter().take(MOST_SPECIALISATIONS) {
        let text = annotation_text(home.db, roots, s);
        hover.code.push(format!("{prefix}{text}"));
        low_level(home, roots, hover, s);
    }
    if values.len() > MOST_SPECIALISATIONS {
        let more = values.len() - MOST_SPECIALISATIONS;
        hover.notes.push(format!("and {more} more specialisations"));
    }
}

/// Whose color is asked for: a local variable of some specialisations of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Colored {
    specs: Vec<Spec>,
    name: String,
}

impl Colored {
    fn new(body: &Body, name: &str) -> Colored {
        let specs = body.graphs.iter().map(|(spec, _)| *spec);
        Colored {
            specs: specs.take(MOST_SPECIALISATIONS).collect(),
            name: name.to_owned(),
        }
    }

    /// The color of the variable while the loops of a `JitDriver` are compiled, a line for people
    /// each. Empty if no driver reaches its function. Takes long in a large interpreter: annotations
    /// do not wait for it.
    pub fn notes(&self, db: &Database) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for spec in &self.specs {
            if let Some(color) = color_of_name(db, *spec, &self.name) {
                let note = color.to_string();
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }
}

fn low_level(home: &Home<'_>, roots: Roots, hover: &mut Hover, s: &SomeValue) {
    if let Some((repr, ty)) = repr_text(home.db, roots, s) {
        let note = format!("`{repr}`, low-level type `{ty}`");
        if !hover.notes.contains(&note) {
            hover.notes.push(note);
        }
    }
}

/// A constant of the image.
fn constant(home: &Home<'_>, hover: &mut Hover, name: &str, value: &Const) {
    let Const::Obj(id) = value else {
        hover.code.push(format!("{name} = {value}"));
        return;
    };
    match home.object(*id).as_deref() {
        Some(ObjData::Function(_)) => function(home, hover, *id, name, None),
        Some(ObjData::StaticMethod(Const::Obj(f)) | ObjData::ClassMethod(Const::Obj(f))) => {
            function(home, hover, *f, name, None);
        }
        Some(ObjData::Class(_)) => class(home, hover, *id, name),
        Some(ObjData::Instance(i)) => {
            let of = home.class_name(i.class);
            hover.code.push(format!("{name}: prebuilt {of}"));
        }
        Some(ObjData::List(items)) => {
            hover
                .code
                .push(format!("{name}: prebuilt list of {}", items.len()));
        }
        Some(ObjData::Dict(items)) => {
            hover
                .code
                .push(format!("{name}: prebuilt dict of {}", items.len()));
        }
        Some(ObjData::Module { name: full }) => hover.code.push(format!("module {full}")),
        Some(ObjData::Builtin { name: full, .. }) => hover.code.push(format!("builtin {full}")),
        Some(ObjData::LLType(t)) => hover.code.push(format!("{name} = {t}")),
        _ => hover.code.push(format!("{name}: prebuilt object")),
    }
}

/// A function: its signature in every specialisation.
fn function(home: &Home<'_>, hover: &mut Hover, id: ObjId, name: &str, class: Option<ObjId>) {
    let Some(ObjData::Function(f)) = home.object(id).as_deref().cloned() else {
        return;
    };
    let code = taipan_code::code(home.db, f.code);
    let name = match class {
        Some(c) => format!("{}.{name}", home.class_name(c)),
        None => name.to_owned(),
    };
    let specs: Vec<Spec> = home
        .specs(f.code)
        .into_iter()
        .filter(|s| s.func(home.db) == id)
        .collect();
    for s in specs.iter().take(MOST_SPECIALISATIONS) {
        let Some(roots) = home.roots else { break };
        let a = annotation(home.db, *s);
        let mut args = Vec::new();
        for (i, arg) in a.signature.args.iter().enumerate() {
            let text = annotation_text(home.db, roots, arg);
            match code.locals.get(i) {
                Some(n) => args.push(format!("{n}: {text}")),
                None => args.push(text),
            }
        }
        let result = annotation_text(home.db, roots, &a.signature.result);
        let args = args.join(", ");
        hover.code.push(format!("def {name}({args}) -> {result}"));
        if let Ok(sym) = taipan_rtyper::func_sym_of(home.db, *s) {
            let ty = sym.ty();
            let args: Vec<String> = ty.args.iter().map(ToString::to_string).collect();
            let note = format!("low-level `({}) -> {}`", args.join(", "), ty.result);
            hover.notes.push(note);
        }
        let key = s.key(home.db);
        if !key.is_empty() {
            hover.notes.push(format!("specialised by `{key}`"));
        }
    }
    if specs.len() > MOST_SPECIALISATIONS {
        let more = specs.len() - MOST_SPECIALISATIONS;
        hover.notes.push(format!("and {more} more specialisations"));
    }
    if specs.is_empty() {
        let n = code.argcount as usize;
        let args: Vec<&str> = code.locals[..n].iter().map(|l| &**l).collect();
        hover.code.push(format!("def {name}({})", args.join(", ")));
        hover.notes.push("the program never calls it".to_owned());
    }
    if let Some(doc) = code.doc.map(|d| &code.consts[d as usize]) {
        hover.notes.extend(doc_text(doc));
    }
}

/// The first paragraph of a docstring.
pub(crate) fn doc_text(doc: &taipan_code::CodeConst) -> Option<String> {
    let taipan_code::CodeConst::Str(s) = doc else {
        return None;
    };
    let text = String::from_utf8_lossy(s);
    let lines = text.trim().lines().map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|l| !l.is_empty()).collect();
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}

/// A class: its attributes and the layout of its instances.
fn class(home: &Home<'_>, hover: &mut Hover, id: ObjId, name: &str) {
    let Some(ObjData::Class(c)) = home.object(id).as_deref().cloned() else {
        return;
    };
    let bases: Vec<String> = c.bases.iter().map(|b| home.class_name(*b)).collect();
    hover
        .code
        .push(format!("class {name}({})", bases.join(", ")));
    let body = home.code_of_class(id);
    let body = body.map(|c| taipan_code::code(home.db, home.own_code(c)));
    let doc = body.and_then(|b| doc_text(&b.consts[b.doc? as usize]));
    hover.notes.extend(doc);
    let Some(roots) = home.roots else { return };
    let key = Class::new(home.db, roots, id);
    if class_def(home.db, key).name.is_empty() {
        hover.notes.push("the program does not use it".to_owned());
        return;
    }
    for (attr, a) in &class_attributes(home.db, key).attrs {
        if !a.readonly {
            let text = annotation_text(home.db, roots, &a.value);
            hover.code.push(format!("    {attr}: {text}"));
        }
    }
    if let Some(fields) = instance_layout(home.db, roots, id) {
        let fields: Vec<String> = fields.iter().map(|(n, t)| format!("{n}: {t}")).collect();
        hover.notes.push(match fields.is_empty() {
            true => "adds no fields".to_owned(),
            false => format!("layout `{{{}}}`", fields.join(", ")),
        });
    }
}

/// An attribute or method, with the class that declares it.
fn member(r: &Resolver<'_>, hover: &mut Hover, owner: Owner, name: &str) {
    let Some(home) = &r.home else { return };
    let class = match owner {
        Owner::Module(file) => {
            if let Some(value) = home.module_of(file).and_then(|m| home.global(m, name)) {
                constant(home, hover, name, &value);
            }
            return;
        }
        Owner::Class(c) => c,
    };
    if let Some((in_class, value)) = home.class_attr(class, name)
        && let Const::Obj(id) = &value
        && matches!(home.object(*id).as_deref(), Some(ObjData::Function(_)))
    {
        function(home, hover, *id, name, Some(in_class));
        return;
    }
    let Some(roots) = home.roots else { return };
    for c in home.mro(class) {
        let attrs = class_attributes(home.db, Class::new(home.db, roots, c));
        let Some(a) = attrs.attrs.get(name) else {
            continue;
        };
        let text = annotation_text(home.db, roots, &a.value);
        let of = home.class_name(c);
        hover.code.push(format!("{of}.{name}: {text}"));
        low_level(home, roots, hover, &a.value);
        hover.notes.push(match a.readonly {
            true => format!("declared in `{of}`, never assigned on an instance"),
            false => format!("declared in `{of}`"),
        });
        return;
    }
    if let Some((c, value)) = home.class_attr(class, name) {
        constant(
            home,
            hover,
            &format!("{}.{name}", home.class_name(c)),
            &value,
        );
    }
}
