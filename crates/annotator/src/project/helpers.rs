//! Names of prelude helpers: by what they are specialised.

use std::sync::Arc;

use taipan_lltype::{HelperArg, VoidConst};

use super::Projector;
use crate::eval::annotation_to_lltype;
use crate::store::SpecIx;
use crate::val::{Atom, Val};

impl Projector<'_> {
    /// A helper's outside name: what it is and what it is specialised by.
    pub(super) fn helper_name(&self, spec: SpecIx) -> (Arc<str>, Arc<[HelperArg]>) {
        let key = &self.solver.store.specs[spec];
        let name = match self.solver.facts.function(key.func) {
            Ok(Some(info)) => {
                let module = info.data.module.strip_prefix("taipan_prelude.");
                format!("{}.{}", module.unwrap_or(&info.data.module), info.data.name)
            }
            _ => String::new(),
        };
        let (args, _) = self.own_signature(spec);
        (name.into(), args.iter().map(helper_arg).collect())
    }
}

/// What a helper is specialised by, of one argument.
fn helper_arg(v: &Val) -> HelperArg {
    match v.single() {
        Some(Atom::LLType(t)) => HelperArg::Const(VoidConst::Type(*t)),
        Some(Atom::LLFunc(f)) => HelperArg::Const(VoidConst::Func(f.clone())),
        _ => match annotation_to_lltype(v) {
            Some(t) if !t.is_void() => HelperArg::Type(t),
            Some(_) => HelperArg::Const(VoidConst::None),
            None => HelperArg::Const(match &v.const_ {
                Some(c) => VoidConst::Hl(c.clone()),
                None => VoidConst::None,
            }),
        },
    }
}
