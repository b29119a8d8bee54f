//! The program that passes over residual code see.

use std::sync::Arc;

use taipan_jit::{JitProgram, Touches};
use taipan_language::Exc;
use taipan_lltype::{
    FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StaticValue, StructBody, StructId,
};
use taipan_transform::{CallAccess, CallFacts, Effects, Part, Summaries, Summary};

/// What calling a function of the running program may do.
pub trait CallEffects {
    /// What calling this one may do.
    fn effects(&self, f: &FuncSym) -> Effects;
}

/// A running program: its types, and what its functions may do. Nothing is known of what
/// its objects hold, prebuilt ones included, which may have changed since.
pub(crate) struct Running<'p> {
    program: &'p dyn JitProgram,
    effects: &'p dyn CallEffects,
    touches: Touches<'p>,
}

impl<'p> Running<'p> {
    pub(crate) fn new(program: &'p dyn JitProgram, effects: &'p dyn CallEffects) -> Self {
        Running {
            program,
            effects,
            touches: Touches::new(program),
        }
    }
}

impl CallFacts for Running<'_> {
    fn is_elidable(&self, f: &FuncSym) -> bool {
        self.program.is_elidable(f)
    }

    fn is_search(&self, f: &FuncSym) -> bool {
        self.program.is_search(f)
    }

    fn can_raise(&self, f: &FuncSym) -> bool {
        self.program.can_raise(f)
    }

    fn access(&self, f: &FuncSym, part: Part<'_>) -> CallAccess {
        let [reads, writes] = match part {
            Part::Field(ty, name) => self.touches.part(f, ty, Some(name)),
            Part::Items(ty) => self.touches.part(f, ty, None),
            Part::Other => self.touches.any(f),
        };
        match (reads, writes) {
            (_, true) => CallAccess::Writes,
            (true, false) => CallAccess::Reads,
            (false, false) => CallAccess::None,
        }
    }
}

impl Program for Running<'_> {
    fn graph(&self, _: &FuncSym) -> Option<Arc<LLGraph>> {
        None
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        match s {
            StaticSym::Named(_, ty) => Arc::new(StaticData {
                ty: *ty,
                value: StaticValue::Zero,
                readonly: false,
            }),
            other => self.program.static_data(other),
        }
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        self.program.struct_body(s)
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        self.program.exception_vtable(exception)
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        self.program.exception_instance(exception)
    }

    fn destructor(&self, ty: LLType) -> Option<FuncSym> {
        self.program.destructor(ty)
    }

    fn is_light_destructor(&self, f: &FuncSym) -> bool {
        self.program.is_light_destructor(f)
    }
}

impl Summaries for Running<'_> {
    fn program(&self) -> &dyn Program {
        self
    }

    fn summary(&self, _: &FuncSym) -> Option<Arc<Summary>> {
        None
    }

    fn simplified(&self, _: &FuncSym) -> Option<Arc<LLGraph>> {
        None
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        self.effects.effects(f)
    }
}
