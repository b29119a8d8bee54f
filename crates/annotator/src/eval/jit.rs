//! Hints to a just-in-time compiler. Nothing is generated for them, but a wrong one is an
//! error all the same.

use taipan_graph::{Const, ObjId};
use taipan_interp::{FunctionData, ObjData};

use super::Cx;
use super::args::Arguments;
use crate::facts::Known;
use crate::val::Val;
use crate::{ArgSource, Desc};

/// What `hint()` may say of a value, as its keywords.
const HINTS: [&str; 12] = [
    "access_directly",
    "concrete",
    "deepfreeze",
    "force_virtualizable",
    "forget",
    "fresh_virtualizable",
    "global_merge_point",
    "promote",
    "promote_string",
    "promote_unicode",
    "reverse_split_queue",
    "variable",
];

/// Whether calls only tell a just-in-time compiler where a loop is
/// (RPython: `ExtEnterLeaveMarker`): the live variables that they name go nowhere.
pub fn is_jit_marker(func: &FunctionData) -> bool {
    matches!(&*func.name, "jit_merge_point" | "can_enter_jit")
        && &*func.module == "rpython.rlib.jit"
}

impl Cx<'_> {
    /// Checks the keywords of a `hint()`: the JIT generator reads them while compiling.
    pub(super) fn check_hints(&mut self, keywords: &[(Box<str>, ArgSource, Val)]) {
        for (name, _, value) in keywords {
            if !HINTS.contains(&&**name) {
                let known = HINTS.join(", ");
                self.problem("TP0304", format!("hint() takes no '{name}', only {known}"));
            } else if !value.is_bottom() && !matches!(value.const_, Some(Const::Bool(_))) {
                self.problem("TP0304", format!("hint '{name}' must be True or False"));
            }
        }
    }

    /// Checks that such a call names the green and red variables of its driver, each of
    /// them; those with a dot in their names are fields, which are not passed.
    pub(super) fn check_jit_marker(
        &mut self,
        marker: &str,
        desc: &Desc,
        args: &Arguments,
    ) -> Known<()> {
        let Desc::FrozenMethod { frozen, .. } = desc else {
            return Ok(());
        };
        let mut expected = Vec::new();
        for attribute in ["greens", "reds"] {
            match self.names_of_driver(*frozen, attribute)? {
                Some(names) => expected.extend(names.into_iter().filter(|n| !n.contains('.'))),
                None => return Ok(()),
            }
        }
        let mut given: Vec<&str> = args.keywords.iter().map(|k| &*k.0).collect();
        given.sort_unstable();
        expected.sort_unstable();
        if given != expected {
            let expected = expected.join(", ");
            self.problem(
                "TP0304",
                format!("{marker}() takes the variables of its driver: {expected}"),
            );
        }
        Ok(())
    }

    /// The names in an attribute of a driver or of its class, if they are known.
    fn names_of_driver(&self, driver: ObjId, attribute: &str) -> Known<Option<Vec<String>>> {
        let Some(ObjData::Instance(i)) = self.facts.object(driver)?.as_deref().cloned() else {
            return Ok(None);
        };
        let names = match i.get(attribute) {
            Some(own) => Some(own.clone()),
            None => self.facts.lookup(i.class, attribute)?.map(|(_, c)| c),
        };
        let items = match names {
            Some(Const::Tuple(items)) => items.to_vec(),
            Some(Const::Obj(list)) => match self.facts.object(list)?.as_deref() {
                Some(ObjData::List(items)) => items.clone(),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let names = items.iter().map(|c| c.as_str().map(str::to_owned));
        Ok(names.collect())
    }
}
