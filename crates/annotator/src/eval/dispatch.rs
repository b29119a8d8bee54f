//! Calls of functions and methods that are found at run time. A call site that can reach
//! many passes its arguments to the set of them, once; a node of the set passes them on to
//! each member. So the work is proportional to call sites plus members, not to their
//! product.

use std::sync::Arc;

use taipan_graph::{BlockId, ObjId};

use super::args::Arguments;
use super::jit::is_jit_marker;
use super::{Cx, FunctionState};
use crate::facts::Known;
use crate::special::Specialization;
use crate::store::{SetIx, SlotKey};
use crate::val::Val;
use crate::{ArgSource, Desc};

impl Cx<'_> {
    /// Calls several functions, or several methods, at once. None if they have to be looked at
    /// one by one.
    pub(super) fn call_set(&mut self, descs: &Arc<[Desc]>, args: &Arguments) -> Option<Val> {
        // They are sorted by kind.
        let of_one_kind = matches!(
            (descs.first(), descs.last()),
            (Some(Desc::Method { .. }), Some(Desc::Method { .. }))
                | (Some(Desc::Function(_)), Some(Desc::Function(_)))
        );
        let in_order = (args.positional.iter().enumerate())
            .all(|(i, (s, _))| *s == ArgSource::Operand(i as u32 + 1));
        if descs.len() < 2 || !of_one_kind || !in_order || !args.keywords.is_empty() {
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

    /// Whether the members of a set can be called as one.
    pub(super) fn set_node(&mut self, set: SetIx) -> Known<()> {
        if self.read(SlotKey::SetUsed(set)).is_bottom() {
            return Ok(());
        }
        let descs = self.store.sets[set as usize].clone();
        let plain = self.for_all(descs.iter(), |cx, d| {
            Ok(match d {
                Desc::Method {
                    func,
                    self_class: Some(_),
                    ..
                } => cx.is_plain_function(*func)?,
                Desc::Function(func) => {
                    cx.is_plain_function(*func)? && cx.entry_of(*func)?.is_none()
                }
                _ => false,
            })
        })?;
        self.signal(if plain.into_iter().all(|p| p) {
            SlotKey::SetPlain(set)
        } else {
            SlotKey::SetMixed(set)
        });
        Ok(())
    }

    /// Whether a function is the same for all arguments.
    fn is_plain_function(&self, func: ObjId) -> Known<bool> {
        let info = self.facts.function(func)?;
        Ok(info.is_some_and(|f| f.special == Specialization::Default && !is_jit_marker(&f.data)))
    }

    /// Passes what call sites pass to a set on to its members.
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
        self.short_calls = true;
        let descs = self.store.sets[set as usize].clone();
        let results = self.for_all(descs.iter(), |cx, d| cx.call_desc(d, args.clone()))?;
        let result = self.join_all(&results);
        self.write(SlotKey::SetRet(set, count), result);
        state.ops = vec![(BlockId(0), 0, std::mem::take(&mut self.record))];
        state.problems = std::mem::take(&mut self.problems);
        Ok(state)
    }
}
