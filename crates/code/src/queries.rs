//! The queries of this stage.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic, ErrorCode, File, Help, Span, TextRange};
use taipan_syntax::{ParsedFile, SyntaxError, SyntaxProblem};

use crate::bytecode::*;
use crate::compile::{Compiled, compile};
use crate::pieces::{self, Known};
use crate::recover::{is_whole, recover};

/// A file's syntax tree. Its spans change with every edit, so nothing that lasts depends on it.
#[salsa::tracked(no_eq, returns(clone))]
pub fn parse(db: &dyn Db, file: File) -> Arc<ParsedFile> {
    let _timed = taipan_base::timed(db);
    let text = file.text(db);
    let mut parsed = taipan_syntax::parse(text);
    if let Some(at) = file.valid_up_to(db) {
        let is_replaced = |r: TextRange| {
            let there = text.get(r.start as usize..r.end as usize);
            there.is_some_and(|t| t.contains(char::REPLACEMENT_CHARACTER))
        };
        parsed.errors.retain(|e| !is_replaced(e.range));
        let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
        parsed.errors.push(SyntaxError {
            range: TextRange::new(at as u32, end as u32),
            problem: SyntaxProblem::NotUtf8,
        });
        parsed.errors.sort_by_key(|e| e.range);
    }
    Arc::new(parsed)
}

/// One body of a file. Its fields are tracked one by one: who reads the code of one
/// function does not notice that another one changed.
#[salsa::tracked(debug)]
struct Body<'db> {
    #[returns(copy)]
    id: CodeId,
    #[tracked]
    #[returns(clone)]
    code: Arc<Code>,
    #[tracked]
    #[returns(clone)]
    spans: Arc<CodeSpans>,
}

/// All codes of a file at once.
#[salsa::tracked(debug)]
struct Codes<'db> {
    #[tracked]
    #[returns(clone)]
    list: Arc<[(CodeId, Arc<Code>)]>,
}

/// What is wrong with a file.
#[salsa::tracked(debug)]
struct Errors<'db> {
    #[tracked]
    #[returns(clone)]
    list: Arc<[SyntaxError]>,
}

/// All codes of a file or text. Equal to what it was as long as there are the same
/// definitions, whatever their bodies say.
#[derive(Clone, PartialEq, Eq, Debug, salsa::SalsaValue)]
pub struct ModuleCodes<'db> {
    /// The module's first, then the others in source order.
    bodies: Vec<Body<'db>>,
    ids: Vec<CodeId>,
    index: FxHashMap<CodeId, usize>,
    codes: Codes<'db>,
    errors: Errors<'db>,
}

impl<'db> ModuleCodes<'db> {
    fn new(
        db: &'db dyn Db,
        origin: Origin,
        parsed: &ParsedFile,
        kind: CodeKind,
        recover: impl FnOnce(&mut Vec<Compiled>),
    ) -> Self {
        let (bodies, errors) = compiled(db, origin, parsed, kind, recover);
        ModuleCodes::of(db, &bodies, errors)
    }

    fn of(db: &'db dyn Db, known: &[Known], errors: Vec<SyntaxError>) -> Self {
        let ids: Vec<_> = known.iter().map(|k| k.id).collect();
        let mut list = Vec::with_capacity(known.len());
        let mut bodies = Vec::with_capacity(known.len());
        for k in known {
            list.push((k.id, k.code.clone()));
            bodies.push(Body::new(db, k.id, k.code.clone(), k.spans.clone()));
        }
        ModuleCodes {
            bodies,
            index: ids.iter().enumerate().map(|(i, id)| (*id, i)).collect(),
            ids,
            codes: Codes::new(db, list.into()),
            errors: Errors::new(db, errors.into()),
        }
    }

    /// The ids of all codes: the module's first, then in source order.
    pub fn ids(&self) -> &[CodeId] {
        &self.ids
    }

    /// What is wrong with the text, in the order of places.
    pub fn errors(&self, db: &'db dyn Db) -> Arc<[SyntaxError]> {
        self.errors.list(db)
    }
}

/// Compiles a file. After an edit, functions whose text has not changed keep their codes: see [`crate::pieces`].
#[salsa::tracked(returns(ref))]
pub fn module_codes(db: &dyn Db, file: File) -> ModuleCodes<'_> {
    let _timed = taipan_base::timed(db);
    if let Some(known) = pieces::compile_edited(db, file) {
        return ModuleCodes::of(db, &known, Vec::new());
    }
    // Reads the text: a dependency on the tree would make salsa parse an edited text to validate this query.
    let (_, _) = (file.text(db), file.valid_up_to(db));
    let parsed = taipan_base::aside(db, |db| parse(db, file));
    let origin = Origin::File(file);
    let (bodies, errors) = compiled(db, origin, &parsed, CodeKind::Module, |codes| {
        let earlier = file.earlier(db);
        if !earlier.is_empty() {
            recover(db, origin, codes, &parsed, file.text(db), earlier);
        }
    });
    let has_errors = !errors.is_empty();
    let codes = ModuleCodes::of(db, &bodies, errors);
    if !has_errors {
        pieces::keep(db, file, bodies);
    }
    codes
}

/// All bodies of a text, and its errors.
fn compiled(
    db: &dyn Db,
    origin: Origin,
    parsed: &ParsedFile,
    kind: CodeKind,
    recover: impl FnOnce(&mut Vec<Compiled>),
) -> (Vec<Known>, Vec<SyntaxError>) {
    let (mut codes, mut errors) = compile(db, origin, parsed, kind);
    if !is_whole(&codes, parsed) {
        recover(&mut codes);
    }
    errors.extend(parsed.errors.iter().cloned());
    errors.sort_by(SyntaxError::order);
    (codes.into_iter().map(Known::from).collect(), errors)
}

/// Compiles a file as a test module.
#[salsa::tracked(returns(ref))]
pub fn test_codes(db: &dyn Db, file: File) -> ModuleCodes<'_> {
    let parsed = parse(db, file);
    ModuleCodes::new(db, Origin::Test(file), &parsed, CodeKind::Module, |_| {})
}

/// Compiles a text that import-time code made.
#[salsa::tracked(returns(ref))]
pub fn text_codes(db: &dyn Db, text: SourceText) -> ModuleCodes<'_> {
    let kind = text.kind(db);
    let source = match kind {
        // As `eval` does, unlike `exec`.
        CodeKind::Eval => text.text(db).trim_start_matches([' ', '\t']),
        _ => text.text(db),
    };
    let parsed = taipan_syntax::parse(source);
    ModuleCodes::new(db, Origin::Text(text), &parsed, kind, |_| {})
}

fn body(db: &dyn Db, id: CodeId) -> Option<Body<'_>> {
    let codes = match id.origin(db) {
        Origin::File(file) => module_codes(db, file),
        Origin::Test(file) => test_codes(db, file),
        Origin::Text(text) => text_codes(db, text),
    };
    codes.index.get(&id).map(|i| codes.bodies[*i])
}

/// A code by its id. It has no positions and contains no other code, so that it
/// stays equal unless its own body is edited. The code of an id that the file has no
/// longer does nothing.
#[salsa::tracked(returns(clone))]
pub fn code(db: &dyn Db, id: CodeId) -> Arc<Code> {
    match body(db, id) {
        Some(body) => body.code(db),
        None => Arc::new(Code::gone(id.qualname(db))),
    }
}

/// What a code object tells of how its function is called: stays equal when the rest of
/// the body changes, so that who looks at a function without running it need not look again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeSignature {
    /// Last part of the qualified name.
    pub name: Box<str>,
    /// Number of positional parameters.
    pub argcount: u32,
    /// Whether it takes `*args`.
    pub varargs: bool,
    /// Whether it takes `**kwargs`.
    pub varkeywords: bool,
    /// Whether calling it makes a generator.
    pub generator: bool,
    /// [`Code::future`].
    pub future: u32,
    /// The docstring.
    pub doc: Option<CodeConst>,
}

/// The signature of a code.
#[salsa::tracked(returns(clone))]
pub fn code_signature(db: &dyn Db, id: CodeId) -> Arc<CodeSignature> {
    let code = code(db, id);
    Arc::new(CodeSignature {
        name: code.name.clone(),
        argcount: code.argcount,
        varargs: code.varargs,
        varkeywords: code.varkeywords,
        generator: code.generator,
        future: code.future,
        doc: code.doc.map(|at| code.consts[at as usize].clone()),
    })
}

/// The names of a code's variables: stays equal when only what is done with them changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeVariables {
    /// Fast locals, the parameters first.
    pub locals: Vec<Box<str>>,
    /// Locals that inner functions capture.
    pub cells: Vec<Box<str>>,
    /// Captured variables of outer functions.
    pub frees: Vec<Box<str>>,
}

/// The variables of a code.
#[salsa::tracked(returns(clone))]
pub fn code_variables(db: &dyn Db, id: CodeId) -> Arc<CodeVariables> {
    let code = code(db, id);
    Arc::new(CodeVariables {
        locals: code.locals.clone(),
        cells: code.cells.iter().map(|(name, _)| name.clone()).collect(),
        frees: code.frees.clone(),
    })
}

/// All codes of a file, with their ids, in source order. For whoever depends on most
/// functions of a program: one dependency per file, and the value tells which of them
/// changed.
#[salsa::tracked(returns(clone))]
pub fn file_codes(db: &dyn Db, file: File) -> Arc<[(CodeId, Arc<Code>)]> {
    module_codes(db, file).codes.list(db)
}

/// The same of a file as a test module.
#[salsa::tracked(returns(clone))]
pub fn test_file_codes(db: &dyn Db, file: File) -> Arc<[(CodeId, Arc<Code>)]> {
    test_codes(db, file).codes.list(db)
}

/// Where the parts of a code stand.
#[salsa::tracked(returns(clone))]
pub fn code_spans(db: &dyn Db, id: CodeId) -> Arc<CodeSpans> {
    match body(db, id) {
        Some(body) => body.spans(db),
        None => Arc::default(),
    }
}

/// The line that a code begins in, from 1: `co_firstlineno`. Stays equal when lines of its body
/// or of what is below change.
#[salsa::tracked(returns(copy))]
pub fn first_line(db: &dyn Db, id: CodeId) -> usize {
    line_at(db, id, code_spans(db, id).whole.start)
}

/// The line, from 1, in which a place of a code's text is.
pub fn line_at(db: &dyn Db, id: CodeId, offset: u32) -> usize {
    let text = match id.origin(db) {
        Origin::File(f) | Origin::Test(f) => f.text(db),
        Origin::Text(t) => t.text(db),
    };
    let end = (offset as usize).min(text.len());
    let before = text.as_bytes()[..end].iter();
    before.filter(|b| **b == b'\n').count() + 1
}

/// What the functions of a file import when they run, with the function's code, in
/// source order. Stays equal when other things in their bodies change, so that
/// import time may read it.
#[salsa::tracked(returns(clone))]
pub fn function_imports(db: &dyn Db, file: File) -> Arc<Vec<(CodeId, ImportDesc)>> {
    // One dependency, where each body's own would be looked at in every revision.
    let codes = module_codes(db, file).codes.list(db);
    let functions = codes.iter().filter(|(_, c)| c.kind == CodeKind::Function);
    let imports = functions.flat_map(|(id, c)| c.imports.iter().map(|i| (*id, i.clone())));
    Arc::new(imports.collect())
}

/// The code of a module's body.
pub fn module_code_id(db: &dyn Db, file: File) -> CodeId {
    CodeId::new(db, Origin::File(file), "<module>", 0)
}

/// The code of a module's body as that of a test module.
pub fn test_code_id(db: &dyn Db, file: File) -> CodeId {
    CodeId::new(db, Origin::Test(file), "<module>", 0)
}

/// Compiles a text that import-time code gives to `exec` or `eval`. Answers the id
/// of its body's code, or the first syntax error.
pub fn compile_text(
    db: &dyn Db,
    filename: &str,
    text: &str,
    kind: CodeKind,
) -> Result<CodeId, SyntaxError> {
    let text = SourceText::new(db, filename, text, kind);
    match text_codes(db, text).errors(db).first() {
        Some(e) => Err(e.clone()),
        None => Ok(CodeId::new(db, Origin::Text(text), "<module>", 0)),
    }
}

/// What is wrong with a file's text.
#[salsa::tracked(returns(clone))]
pub fn syntax_diagnostics(db: &dyn Db, file: File) -> Arc<Vec<Diagnostic>> {
    let codes = module_codes(db, file);
    let diagnostic = |e: &SyntaxError| {
        let span = Span {
            file,
            range: e.range,
        };
        let message = e.problem.message();
        let mut d = Diagnostic::error(ErrorCode::InvalidSyntax, Some(span), message);
        d.help = e.problem.remedy().map(Help::from);
        d
    };
    Arc::new(codes.errors(db).iter().map(diagnostic).collect())
}
