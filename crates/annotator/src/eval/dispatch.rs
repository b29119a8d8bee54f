//! Calls of methods that are found at run time. A call site that can reach many methods
//! passes its arguments to the set of them, once; a node of the set passes them on to
//! each method. So the work is proportional to call sites plus methods, not to their
//! product.

use std::sync::Arc;

use taipan_graph::BlockId;

use super::args::Arguments;
use super::{Cx, FunctionState};
use crate::facts::Known;
use crate::special::Specialization;
use crate::store::{SetIx, SlotKey};
use crate::val::Val;
use crate::{ArgSource, Desc};

impl Cx<'_> {
    /// Calls several methods at once. None if they have to be looked at one by one.
    pub(super) fn call_set(&mut self, descs: &Arc<[Desc]>, args: &Arguments) -> Option<Val> {
        let methods = matches!(
            (descs.first(), descs.last()),
            (Some(Desc::Method { .. }), Some(Desc::Method { .. }))
        );
        let in_order = (args.positional.iter().enumerate())
            .all(|(i, (s, _))| *s == ArgSource::Operand(i as u32 + 1));
        if descs.len() < 2 || !methods || !in_order || !args.keywords.is_empty() {
            return None;
        }
        let set = self.store.set(descs);
        self.signal(SlotKey::SetUsed(set));
        if self.read(SlotKey::SetPlain(set)).is_bottom() {
            let mixed = !self.read(SlotKey::SetMixed(set)).is_bottom();
            return if mixed { None } else { Some(Val::default()) };
        }
        let count = args.positional.len() as u32;
        self.signal(SlotKey::SetCalled(set, count));
        for (i, (_, v)) in args.positional.iter().enumerate() {
            self.write(SlotKey::SetArg(set, count, i as u32), v.clone());
        }
        self.record.family = Some((set, count));
        Some(self.read(SlotKey::SetRet(set, count)))
    }

    /// Whether the methods of a set can be called as one.
    pub(super) fn set_node(&mut self, set: SetIx) -> Known<()> {
        if self.read(SlotKey::SetUsed(set)).is_bottom() {
            return Ok(());
        }
        let mut plain = true;
        for d in self.store.sets[set as usize].clone().iter() {
            plain &= match d {
                Desc::Method {
                    func,
                    self_class: Some(_),
                    ..
                } => (self.facts.function(*func)?)
                    .is_some_and(|f| f.special == Specialization::Default),
                _ => false,
            };
        }
        self.signal(if plain {
            SlotKey::SetPlain(set)
        } else {
            SlotKey::SetMixed(set)
        });
        Ok(())
    }

    /// Passes what call sites pass to a set on to its methods.
    pub(super) fn dispatch_node(&mut self, set: SetIx, count: u32) -> Known<FunctionState> {
        let mut state = FunctionState::default();
        if self.read(SlotKey::SetCalled(set, count)).is_bottom() {
            return Ok(state);
        }
        let mut passed = Vec::with_capacity(count as usize);
        for i in 0..count {
            let v = self.read(SlotKey::SetArg(set, count, i));
            if v.is_bottom() {
                return Ok(state);
            }
            passed.push((ArgSource::Operand(i + 1), v));
        }
        let args = Arguments::positional(passed);
        let mut result = Val::default();
        self.short_calls = true;
        for d in self.store.sets[set as usize].clone().iter() {
            let r = self.call_desc(d, args.clone())?;
            result = self.join(&result, &r);
        }
        self.write(SlotKey::SetRet(set, count), result);
        state.ops = vec![(BlockId(0), 0, std::mem::take(&mut self.record))];
        state.problems = std::mem::take(&mut self.problems);
        Ok(state)
    }
}
