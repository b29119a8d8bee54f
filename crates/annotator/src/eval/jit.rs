//! Hints to a just-in-time compiler. Nothing is generated for them, but a wrong one is an
//! error all the same.

use taipan_base::ErrorCode;
use taipan_graph::{Const, ObjId};
use taipan_interp::{FunctionData, ObjData};

use super::Cx;
use super::args::Arguments;
use crate::facts::Known;
use crate::val::Val;
use crate::{ArgSource, Desc};

/// What `hint()` may say of a value, as its keywords.
const HINTS: [&str; 13] = [
    "access_directly",
    "concrete",
    "deepfreeze",
    "force_no_const",
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

/// What a `JitDriver` may name as functions for the just-in-time compiler to call: with
/// the greens, and `confirm_enter_jit` with the reds as well.
pub const JIT_HOOKS: [&str; 6] = [
    "get_printable_location",
    "get_location",
    "confirm_enter_jit",
    "can_never_inline",
    "should_unroll_one_iteration",
    "get_unique_id",
];

/// Whether calls only tell a just-in-time compiler where a loop is
/// (RPython: `ExtEnterLeaveMarker`): the live variables that they name go nowhere.
pub fn is_jit_marker(func: &FunctionData) -> bool {
    matches!(&*func.name, "jit_merge_point" | "can_enter_jit")
        && &*func.module == "rpython.rlib.jit"
}

/// Hints that say the opposite of each other: of a value that is to be known, and of one
/// that is not to be.
const KNOWN: [&str; 5] = [
    "concrete",
    "deepfreeze",
    "promote",
    "promote_string",
    "promote_unicode",
];
const UNKNOWN: [&str; 2] = ["force_no_const", "variable"];

impl Cx<'_> {
    /// Checks the keywords of a `hint()`: the JIT generator reads them while compiling.
    pub(super) fn check_hints(&mut self, keywords: &[(Box<str>, ArgSource, Val)]) {
        for (name, _, value) in keywords {
            if !HINTS.contains(&&**name) {
                let known = HINTS.join(", ");
                self.problem(
                    ErrorCode::InvalidHint,
                    format!("hint() takes no '{name}', only {known}"),
                );
            } else if !value.is_bottom() && !matches!(value.const_, Some(Const::Bool(_))) {
                self.problem(
                    ErrorCode::InvalidHint,
                    format!("hint '{name}' must be True or False"),
                );
            }
        }
        let set = |names: &[&str]| {
            let is_set = |v: &Val| v.const_ == Some(Const::Bool(true));
            let mut all = keywords.iter();
            all.find(|(name, _, v)| names.contains(&&**name) && is_set(v))
                .map(|(name, ..)| name.clone())
        };
        if let (Some(known), Some(unknown)) = (set(&KNOWN), set(&UNKNOWN)) {
            self.problem(
                ErrorCode::InvalidHint,
                format!("the hints '{known}' and '{unknown}' contradict each other"),
            );
        }
        if set(&["fresh_virtualizable"]).is_some() && set(&["access_directly"]).is_none() {
            self.problem(
                ErrorCode::InvalidHint,
                "hint 'fresh_virtualizable' needs 'access_directly' as well",
            );
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
        let automatic = self.driver_attribute(*frozen, "autoreds")? == Some(Const::Bool(true));
        if automatic && marker == "can_enter_jit" {
            self.problem(
                ErrorCode::InvalidHint,
                "can_enter_jit() of a driver with reds='auto': its merge point alone says where the loop is",
            );
        }
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
            let quoted = |names: Vec<&str>| {
                let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
                names.join(", ")
            };
            let missing = expected
                .iter()
                .map(String::as_str)
                .filter(|n| !given.contains(n));
            let missing = quoted(missing.collect());
            let more = given
                .iter()
                .copied()
                .filter(|n| !expected.iter().any(|e| e == n));
            let more = quoted(more.collect());
            let help = match (&*missing, &*more) {
                ("", more) => {
                    format!("leave {more} out, or extend the greens or reds of the driver")
                }
                (missing, "") => {
                    format!("pass {missing} as well, or shorten the greens and reds of the driver")
                }
                (missing, more) => format!("pass {missing} instead of {more}"),
            };
            let expected = expected.join(", ");
            self.problem_help(
                ErrorCode::InvalidHint,
                format!("{marker}() takes the variables of its driver: {expected}"),
                Some(help),
            );
        }
        Ok(())
    }

    /// Calls the functions that a driver names, as its compiler will (RPython:
    /// `annotate_hooks`).
    pub(super) fn call_hooks(&mut self, desc: &Desc, args: &Arguments) -> Known<()> {
        let Desc::FrozenMethod { frozen, .. } = desc else {
            return Ok(());
        };
        for hook in JIT_HOOKS {
            let Some(Const::Obj(func)) = self.driver_attribute(*frozen, hook)? else {
                continue;
            };
            if self.facts.function(func)?.is_none() {
                self.problem(
                    ErrorCode::InvalidHint,
                    format!("{hook} is no plain function"),
                );
                continue;
            }
            let mut given = Vec::new();
            let colors: &[&str] = match hook {
                "confirm_enter_jit" => &["greens", "reds"],
                _ => &["greens"],
            };
            for color in colors {
                for name in self.names_of_driver(*frozen, color)?.unwrap_or_default() {
                    let value = |n: &str| args.keywords.iter().find(|k| *k.0 == *n);
                    let val = match (value(&name), name.split_once('.')) {
                        (Some((_, _, val)), _) => val.clone(),
                        (None, Some((object, field))) => match value(object) {
                            Some((_, _, val)) => {
                                let val = val.clone();
                                self.getattr(&val, &field.into())?
                            }
                            None => return Ok(()),
                        },
                        // The call does not name it, which was said already.
                        (None, None) => return Ok(()),
                    };
                    if val.is_bottom() {
                        return Ok(());
                    }
                    given.push((ArgSource::Receiver, val));
                }
            }
            // The operation itself calls nothing.
            let record = std::mem::take(&mut self.record);
            self.call_desc(&Desc::Function(func), Arguments::positional(given))?;
            self.record = record;
        }
        Ok(())
    }

    /// An attribute of a driver or of its class.
    fn driver_attribute(&self, driver: ObjId, attribute: &str) -> Known<Option<Const>> {
        let Some(ObjData::Instance(i)) = self.facts.object(driver)?.as_deref().cloned() else {
            return Ok(None);
        };
        Ok(match i.get(attribute) {
            Some(own) => Some(own.clone()),
            None => self.facts.lookup(i.class, attribute)?.map(|(_, c)| c),
        })
    }

    /// The names in an attribute of a driver or of its class, if they are known.
    fn names_of_driver(&self, driver: ObjId, attribute: &str) -> Known<Option<Vec<String>>> {
        let items = match self.driver_attribute(driver, attribute)? {
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
