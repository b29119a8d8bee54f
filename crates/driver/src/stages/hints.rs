//! What functions tell the JIT generator besides their graphs: the attributes that the
//! decorators of `rlib.jit` leave on them.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use taipan_base::{Db, Program};
use taipan_graph::{Const, ObjId};
use taipan_interp::{FunctionData, Name, ObjData, Object, module_global, named_id};
use taipan_lltype::FuncKind;

use crate::function::LLFunction;

#[cfg(test)]
mod tests;

/// What the attributes of a function say. The JIT generator does not heed all of it yet.
#[allow(dead_code)]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct JitAttributes {
    /// `@elidable`: calls with equal arguments may be merged or left out.
    pub(crate) elidable: bool,
    /// `@elidable_promote`: the arguments that are promoted first: `all`, or their
    /// indices (`0, 2`).
    pub(crate) promote_args: Option<Box<str>>,
    /// `@dont_look_inside` and `@look_inside`, if one of them is there.
    pub(crate) look_inside: Option<bool>,
    /// `@unroll_safe`: loops may be unrolled.
    pub(crate) unroll_safe: bool,
    /// `@loop_invariant`: calls give the same all through a loop.
    pub(crate) loop_invariant: bool,
    /// `@oopspec`
    pub(crate) oopspec: Option<Oopspec>,
}

/// What a function does to a container: `list.append(l, item)`.
#[allow(dead_code)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Oopspec {
    /// As it is spelled.
    pub(crate) text: Box<str>,
    /// The names of the function's parameters, which the text mentions.
    pub(crate) argnames: Box<[Box<str>]>,
}

/// The attributes of a function of the program or of a helper; nothing for others.
#[salsa::tracked(returns(clone))]
pub(crate) fn jit_attributes(db: &dyn Db, f: LLFunction) -> Arc<JitAttributes> {
    let (program, func) = match f.sym(db).kind() {
        FuncKind::User { func, .. } => (f.roots(db).program(db), Some(*func)),
        FuncKind::Helper { name, .. } => {
            let prelude = db.files().prelude(db);
            (prelude, helper(db, prelude, name))
        }
        FuncKind::Synth { .. } | FuncKind::External { .. } => return Arc::default(),
    };
    let found = func.and_then(|func| {
        taipan_interp::object(db, Object::new(db, program, func))
            .as_deref()
            .and_then(|data| match data {
                ObjData::Function(f) => Some(attributes(db, f)),
                _ => None,
            })
    });
    Arc::new(found.unwrap_or_default())
}

/// The function object of a helper: `module.function` below `taipan_prelude`.
fn helper(db: &dyn Db, prelude: Program, name: &str) -> Option<ObjId> {
    let (module, func) = name.rsplit_once('.')?;
    let module = named_id(&format!("taipan_prelude.{module}"));
    match module_global(db, Name::new(db, prelude, module, func)) {
        Some(Const::Obj(func)) => Some(*func),
        _ => None,
    }
}

fn attributes(db: &dyn Db, f: &FunctionData) -> JitAttributes {
    let truth = |name| match f.get(name)? {
        Const::Bool(b) => Some(*b),
        Const::Int(i) => Some(*i != 0),
        _ => None,
    };
    let is_set = |name| truth(name) == Some(true);
    JitAttributes {
        // The second one is how decorators of old spelled it.
        elidable: is_set("_elidable_function_") || is_set("_pure_function_"),
        promote_args: f
            .get("_elidable_promote_args_")
            .and_then(Const::as_str)
            .map(Into::into),
        look_inside: truth("_jit_look_inside_"),
        unroll_safe: is_set("_jit_unroll_safe_"),
        loop_invariant: is_set("_jit_loop_invariant_"),
        oopspec: f.get("oopspec").and_then(Const::as_str).map(|text| {
            let code = taipan_code::code(db, f.code);
            Oopspec {
                text: text.into(),
                argnames: code.locals[..code.argcount as usize].into(),
            }
        }),
    }
}
