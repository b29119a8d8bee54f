//! Lines of the source that code comes from.

use camino::Utf8Path;
use taipan_annotator::{Roots, Spec};
use taipan_base::{Db, LineIndex, TextRange};
use taipan_code::{CodeId, code_spans};
use taipan_interp::{ObjData, Object};
use taipan_lltype::{FuncKind, FuncSym};

/// Where the instructions of a function are in its file.
pub(crate) struct Places {
    path: String,
    text: String,
    index: LineIndex,
    instructions: Vec<TextRange>,
}

impl Places {
    /// Those of a code; none if it is of no file.
    pub(crate) fn of_code(db: &dyn Db, target: &Utf8Path, code: CodeId) -> Option<Places> {
        let file = code.file(db)?;
        let text = file.text(db).to_owned();
        let path = file.path(db);
        // As far as they have it in common, the way to both says nothing.
        let mut common = target.ancestors().skip(1).filter(|a| *a != "/");
        let folder = common.find(|a| path.starts_with(a));
        let shown = folder.and_then(|f| path.strip_prefix(f).ok());
        Some(Places {
            path: shown.unwrap_or(path).to_string(),
            index: LineIndex::new(&text),
            text,
            instructions: code_spans(db, code).instrs.to_vec(),
        })
    }

    /// Those of a function of a program.
    pub(crate) fn of_spec(db: &dyn Db, spec: Spec) -> Option<Places> {
        let program = spec.roots(db).program(db);
        let object = Object::new(db, program, spec.func(db));
        match taipan_interp::object(db, object).as_deref() {
            Some(ObjData::Function(f)) => Places::of_code(db, program.target(db), f.code),
            _ => None,
        }
    }

    /// Those of a low-level function that the program itself has.
    pub(crate) fn of_sym(db: &dyn Db, roots: Roots, sym: &FuncSym) -> Option<Places> {
        match sym.kind() {
            FuncKind::User { func, spec, .. } => {
                Places::of_spec(db, Spec::new(db, roots, *func, spec.clone()))
            }
            _ => None,
        }
    }

    /// The file, as comments have it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The line of an instruction, from 1.
    pub(crate) fn line(&self, at: u32) -> Option<u32> {
        let range = self.instructions.get(at as usize)?;
        Some(self.index.line_column(&self.text, range.start).0)
    }

    /// The line of an instruction as a comment has it: `vm.py:12: x = y + 1`.
    pub(crate) fn comment(&self, at: u32) -> Option<String> {
        let line = self.line(at)?;
        let text = self.text.lines().nth(line as usize - 1)?;
        Some(format!("{}:{line}: {}", self.path, text.trim()))
    }
}
