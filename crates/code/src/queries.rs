//! The queries of this stage.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic, File, Span};
use taipan_syntax::{ParsedFile, SyntaxError};

use crate::bytecode::*;
use crate::compile::{Compiled, compile};

/// A file's syntax tree. Its spans change with every edit, so nothing but
/// [`module_codes`] reads it.
#[salsa::tracked(no_eq, returns(clone))]
pub fn parse(db: &dyn Db, file: File) -> Arc<ParsedFile> {
    Arc::new(taipan_syntax::parse(file.text(db)))
}

/// All codes of a file or text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleCodes {
    /// The module's first, then the others in source order.
    codes: Vec<Compiled>,
    index: FxHashMap<CodeId, usize>,
    errors: Vec<SyntaxError>,
}

impl ModuleCodes {
    fn new(db: &dyn Db, origin: Origin, parsed: &ParsedFile, kind: CodeKind) -> ModuleCodes {
        let (codes, mut errors) = compile(db, origin, parsed, kind);
        errors.extend(parsed.errors.iter().cloned());
        errors.sort_by(|a, b| (a.range, &a.message).cmp(&(b.range, &b.message)));
        let index = codes.iter().enumerate().map(|(i, c)| (c.id, i)).collect();
        ModuleCodes {
            codes,
            index,
            errors,
        }
    }

    /// The ids of all codes: the module's first, then in source order.
    pub fn ids(&self) -> impl Iterator<Item = CodeId> + '_ {
        self.codes.iter().map(|c| c.id)
    }

    /// What is wrong with the text, in the order of places.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }
}

/// Compiles a file.
#[salsa::tracked(returns(clone), no_eq)]
pub fn module_codes(db: &dyn Db, file: File) -> Arc<ModuleCodes> {
    let parsed = parse(db, file);
    Arc::new(ModuleCodes::new(
        db,
        Origin::File(file),
        &parsed,
        CodeKind::Module,
    ))
}

/// Compiles a text that import-time code made.
#[salsa::tracked(returns(clone), no_eq)]
pub fn text_codes(db: &dyn Db, text: SourceText) -> Arc<ModuleCodes> {
    let parsed = taipan_syntax::parse(text.text(db));
    Arc::new(ModuleCodes::new(
        db,
        Origin::Text(text),
        &parsed,
        text.kind(db),
    ))
}

fn codes(db: &dyn Db, id: CodeId) -> Arc<ModuleCodes> {
    match id.origin(db) {
        Origin::File(file) => module_codes(db, file),
        Origin::Text(text) => text_codes(db, text),
    }
}

/// A code by its id. It has no positions and contains no other code, so that it
/// stays equal unless its own body is edited. The code of an id that the file has no
/// longer does nothing.
#[salsa::tracked(returns(clone))]
pub fn code(db: &dyn Db, id: CodeId) -> Arc<Code> {
    let codes = codes(db, id);
    Arc::new(match codes.index.get(&id) {
        Some(i) => codes.codes[*i].code.clone(),
        None => Code::gone(id.qualname(db)),
    })
}

/// Where the parts of a code stand.
#[salsa::tracked(returns(clone))]
pub fn code_spans(db: &dyn Db, id: CodeId) -> Arc<CodeSpans> {
    let codes = codes(db, id);
    Arc::new(match codes.index.get(&id) {
        Some(i) => codes.codes[*i].spans.clone(),
        None => CodeSpans::default(),
    })
}

/// The code of a module's body.
pub fn module_code_id(db: &dyn Db, file: File) -> CodeId {
    CodeId::new(db, Origin::File(file), "<module>", 0)
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
    match text_codes(db, text).errors.first() {
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
        Diagnostic::error("TP0001", Some(span), e.message.clone())
    };
    Arc::new(codes.errors.iter().map(diagnostic).collect())
}
