//! A program at the stage right after rtyping, as back ends see it.

use std::cell::RefCell;
use std::sync::Arc;

use taipan_annotator::{Class, Roots};
use taipan_base::{Db, Diagnostic};
use taipan_language::Exc;
use taipan_lltype::{
    FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StaticValue, StructBody, StructId,
    TypeKind, VOID,
};

use crate::exceptions::exception_id;
use crate::queries::{
    LayoutKey, StaticKey, destructor, func_key, rtyped_graph, static_data, struct_body,
};
use crate::{RTyper, Universe};

/// The functions and data of a program as the RTyper leaves them. What cannot be
/// typed is missing; the reasons pile up in [`RtypedProgram::take_errors`].
pub struct RtypedProgram<'db> {
    db: &'db dyn Db,
    roots: Roots,
    errors: RefCell<Vec<Diagnostic>>,
}

impl<'db> RtypedProgram<'db> {
    /// The program that these roots reach.
    pub fn new(db: &'db dyn Db, roots: Roots) -> Self {
        RtypedProgram {
            db,
            roots,
            errors: RefCell::default(),
        }
    }

    /// What could not be typed of what was asked for so far.
    pub fn take_errors(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.errors.borrow_mut())
    }

    fn note(&self, d: &Diagnostic) {
        let mut errors = self.errors.borrow_mut();
        if !errors.contains(d) {
            errors.push(d.clone());
        }
    }
}

impl Program for RtypedProgram<'_> {
    fn graph(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        let key = func_key(self.db, self.roots, f)?;
        match rtyped_graph(self.db, key) {
            Ok(graph) => Some(graph),
            Err(d) => {
                self.note(&d);
                None
            }
        }
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        let key = StaticKey::new(self.db, self.roots, s);
        match static_data(self.db, key) {
            Ok(data) => data,
            Err(d) => {
                self.note(&d);
                Arc::new(StaticData {
                    ty: *VOID,
                    value: StaticValue::Zero,
                    readonly: true,
                })
            }
        }
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        let key = LayoutKey::new(self.db, self.roots, s);
        match struct_body(self.db, key) {
            Ok(body) => body,
            Err(d) => {
                self.note(&d);
                Arc::default()
            }
        }
    }

    fn destructor(&self, ty: LLType) -> Option<FuncSym> {
        let TypeKind::Struct(s) = ty.kind() else {
            return None;
        };
        match &s.id {
            StructId::Instance(class) => {
                let class = Class::new(self.db, self.roots, *class);
                destructor(self.db, class).ok().flatten()
            }
            _ => None,
        }
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        StaticSym::Vtable(exception_id(exception))
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        let rt = RTyper::new(self.db, Universe::User(self.roots));
        crate::statics::standard_instance_sym(&rt, exception_id(exception))
    }
}
