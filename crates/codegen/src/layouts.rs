//! The layouts of types.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use taipan_lltype::{LLType, Layout, Program, layout};

/// Layouts of types of one program, each computed once.
#[derive(Default)]
pub struct Layouts(FxHashMap<LLType, Rc<Layout>>);

impl Layouts {
    /// The layout of a container.
    pub fn get(&mut self, ty: LLType, program: &dyn Program) -> Rc<Layout> {
        let known = self.0.entry(ty);
        known
            .or_insert_with(|| Rc::new(layout(ty, program)))
            .clone()
    }
}
