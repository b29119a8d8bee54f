//! Calls of functions and methods that are found at run time. A call site that can reach
//! many passes its arguments to the set of them, once; a node of the set passes them on to
//! each member. So the work is proportional to call sites plus members, not to their
//! product.

use taipan_graph::{BlockId, ObjId};

use super::args::Arguments;
use super::jit::is_jit_marker;
use super::{CallRecord, Cx, FunctionState, OpRecord, Problem};
use crate::facts::Known;
use crate::special::Specialization;
use crate::store::{SetIx, SlotIx, SlotKey, Stamp, Store};
use crate::val::Val;
use crate::{ArgSource, Desc, Descs};

/// How far the calls of a set have come. The next evaluation looks at those members alone
/// that return something else, as long as they are called with the same.
pub(crate) struct DispatchProgress {
    members: Vec<Member>,
    /// What they return.
    result: Val,
    /// Which values of slots it has seen: those before this stamp.
    since: Stamp,
}

/// A member of a set that is called.
#[derive(Default)]
struct Member {
    calls: Vec<CallRecord>,
    problems: Vec<Problem>,
    /// The slots that the call has read.
    read: Vec<SlotIx>,
}

impl DispatchProgress {
    /// What the set calls, and what is wrong with that.
    pub(crate) fn into_state(self) -> FunctionState {
        let mut record = OpRecord::default();
        let mut problems: Vec<Problem> = Vec::new();
        for m in self.members {
            record.calls.extend(m.calls);
            for p in m.problems {
                if !problems.contains(&p) {
                    problems.push(p);
                }
            }
        }
        FunctionState {
            ops: vec![(BlockId(0), 0, record)],
            problems,
            ..FunctionState::default()
        }
    }
}

impl Cx<'_> {
    /// Calls several functions, or several methods, at once. None if they have to be looked at
    /// one by one.
    pub(super) fn call_set(&mut self, descs: &Descs, args: &Arguments) -> Option<Val> {
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
        let descs = self.store.methods(set).clone();
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

    /// Passes what call sites pass to a set on to its members. Returns nothing if it is not
    /// called.
    pub(super) fn dispatch_node(
        &mut self,
        set: SetIx,
        count: u32,
        before: Option<Box<DispatchProgress>>,
    ) -> Known<Option<Box<DispatchProgress>>> {
        if self.read(SlotKey::SetCalled(set, count)).is_bottom() {
            return Ok(None);
        }
        let mut passed = Vec::with_capacity(count as usize);
        for i in 0..count {
            let v = self.read(SlotKey::SetArg(set, count, i));
            if v.is_bottom() {
                return Ok(None);
            }
            passed.push((ArgSource::Operand(i + 1), v));
        }
        let args = Arguments::positional(passed);
        self.several_callees = true;
        let descs = self.store.methods(set).clone();
        let read = self.take_read();
        let changed = |slot: &SlotIx, store: &Store, since| store.slots[*slot].changed_since(since);
        let mut p = match before {
            Some(p) if !read.iter().any(|s| changed(s, self.store, p.since)) => {
                self.whole = false;
                p
            }
            _ => Box::new(DispatchProgress {
                members: descs.iter().map(|_| Member::default()).collect(),
                result: Val::default(),
                since: Stamp::NONE,
            }),
        };
        let (first, since) = (self.whole, p.since);
        p.since = self.t;
        let again = (p.members.iter_mut().zip(descs.iter()))
            .filter(|(m, _)| first || m.read.iter().any(|s| changed(s, self.store, since)))
            .collect::<Vec<_>>();
        let results = self.for_all(again, |cx, (member, d)| {
            let result = cx.call_desc(d, args.clone())?;
            member.calls = std::mem::take(&mut cx.record).calls;
            member.problems = std::mem::take(&mut cx.problems);
            member.read = cx.take_read();
            Ok(result)
        })?;
        let result = self.join_all(results.iter().chain([&p.result]));
        self.write(SlotKey::SetRet(set, count), result.clone());
        p.result = result;
        Ok(Some(p))
    }
}
