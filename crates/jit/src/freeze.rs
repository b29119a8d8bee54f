//! Whether a state may go on where another one went on before (RPython, 2008: the
//! `Frozen...` classes of `rvalue.py` and `rcontainer.py`).

use std::collections::{BTreeMap, BTreeSet};

use crate::heap::Known;
use crate::layout::Place;
use crate::pure::{PureArg, PureFact};
use crate::state::{BoxId, Content, JitState, Val, VirtualId};

/// States that must not meet: a virtual object would have to be made for it.
pub(crate) struct DontMerge;

/// The outcome of a comparison.
pub(crate) struct Matched {
    /// The state can go on there.
    pub(crate) exact: bool,
    /// Virtual objects of the state have to be made for that.
    pub(crate) forces: bool,
    /// The boxes of the state that are passed, or if it cannot go on there, those that a
    /// more general state has as variables.
    pub(crate) outgoing: Vec<BoxId>,
    /// Pointers that a more general state does not know to be non-null.
    pub(crate) forget_nonzero: BTreeSet<BoxId>,
    /// What is left of the places that never change, by box.
    pub(crate) partial: BTreeMap<BoxId, Vec<Place>>,
    /// What operations gave, in the state as in the other one.
    pub(crate) pure: Vec<PureFact>,
    /// All but what operations gave agrees.
    pub(crate) but_pure: bool,
    /// Facts of the state that the other one has as well.
    pub(crate) facts: Vec<Known>,
    /// Facts of the state that have to be written before it goes on there.
    pub(crate) unwritten: Vec<Known>,
    /// What the state would have to know of virtualizables to go on there.
    pub(crate) missing: Vec<(BoxId, Place)>,
}

struct Matcher<'a> {
    frozen: &'a JitState,
    live: &'a JitState,
    force: bool,
    /// What is known of memory is passed on.
    pass_known: bool,
    boxes: BTreeMap<BoxId, BoxId>,
    virtuals: BTreeMap<VirtualId, VirtualId>,
    /// Virtual objects of the live state that stay virtual there.
    taken: BTreeSet<VirtualId>,
    /// Those that are made on the way: no longer the same as one that stays virtual.
    made: BTreeSet<VirtualId>,
    out: Matched,
}

/// Compares a state with one that went on before. With `force` they meet at any price.
/// With `pass_known` what is known of memory is passed as other values are.
pub(crate) fn exact_match(
    frozen: &JitState,
    live: &JitState,
    force: bool,
    pass_known: bool,
) -> Result<Matched, DontMerge> {
    let known_null = |s: &JitState| s.known(s.exc_type) == Some(0);
    if !force && (known_null(frozen) != known_null(live) || frozen.exc_unknown != live.exc_unknown)
    {
        return Err(DontMerge);
    }
    let mut m = Matcher {
        frozen,
        live,
        force,
        pass_known,
        boxes: BTreeMap::new(),
        virtuals: BTreeMap::new(),
        taken: BTreeSet::new(),
        made: BTreeSet::new(),
        out: Matched {
            exact: true,
            forces: false,
            outgoing: Vec::new(),
            forget_nonzero: BTreeSet::new(),
            partial: BTreeMap::new(),
            pure: Vec::new(),
            but_pure: false,
            facts: Vec::new(),
            unwritten: Vec::new(),
            missing: Vec::new(),
        },
    };
    for (f, l) in frozen.frames.iter().zip(&live.frames).rev() {
        for (slot, value) in f.values.iter() {
            m.values(value, l.values.get(slot))?;
        }
    }
    m.values(frozen.returned, live.returned)?;
    m.boxes(frozen.exc_type, live.exc_type)?;
    m.boxes(frozen.exc_value, live.exc_value)?;
    if let (Some(f), Some(l)) = (frozen.wanted, live.wanted) {
        m.boxes(f, l)?;
    }
    m.facts()?;
    m.pure();
    Ok(m.out)
}

impl Matcher<'_> {
    fn values(&mut self, f: Val, l: Val) -> Result<(), DontMerge> {
        if let (Val::Red(f), Val::Red(l)) = (f, l) {
            self.boxes(f, l)?;
        }
        Ok(())
    }

    fn boxes(&mut self, f: BoxId, l: BoxId) -> Result<(), DontMerge> {
        let matched = self.one(f, l)?;
        self.out.exact &= matched;
        Ok(())
    }

    fn pass(&mut self, l: BoxId) {
        self.out.outgoing.push(l);
    }

    fn one(&mut self, f: BoxId, l: BoxId) -> Result<bool, DontMerge> {
        let (frozen, live) = (self.frozen.get(f), self.live.get(l));
        let pointer = frozen.ty.pointee().is_some();
        let is_virtual = matches!(live.content, Content::Virtual(_));
        if let (None, Content::Virtual(fv)) = (&frozen.var, &frozen.content) {
            return match (&live.var, &live.content) {
                (None, Content::Virtual(lv)) => self.structs(*fv, *lv),
                _ => {
                    self.pass(l);
                    Ok(false)
                }
            };
        }
        self.out.forces |= is_virtual;
        let matched = match self.frozen.known(f) {
            Some(w) => {
                if pointer {
                    self.out.partial.insert(l, Vec::new());
                    if w == 0 {
                        self.out.forget_nonzero.insert(l);
                    }
                }
                let equal = self.live.known(l) == Some(w);
                if !equal {
                    self.pass(l);
                }
                equal
            }
            None => {
                if let (None, Content::Virtual(v)) = (&live.var, &live.content) {
                    if self.taken.contains(v) {
                        self.pass(l);
                        return match self.force {
                            true => Ok(false),
                            false => Err(DontMerge),
                        };
                    }
                    self.made.insert(*v);
                }
                let mut nonzero = true;
                if pointer && !self.pass_known {
                    nonzero = self.known_fields(f, l)?;
                }
                let (same, first) = match self.boxes.get(&f) {
                    None => {
                        self.boxes.insert(f, l);
                        self.pass(l);
                        (true, true)
                    }
                    Some(first) if *first == l => (true, false),
                    Some(_) => {
                        self.pass(l);
                        (false, false)
                    }
                };
                if pointer && self.pass_known {
                    nonzero = match first {
                        true => self.known_fields(f, l)?,
                        false => !frozen.nonzero || live.nonzero,
                    };
                }
                same && nonzero
            }
        };
        if pointer && !matched && !self.force && is_virtual {
            return Err(DontMerge);
        }
        Ok(matched)
    }

    /// Whether all that is known of the object holds of the other one as well.
    fn known_fields(&mut self, f: BoxId, l: BoxId) -> Result<bool, DontMerge> {
        let (frozen, live) = (self.frozen.get(f), self.live.get(l));
        let empty = Vec::new();
        let wanted = match &frozen.content {
            Content::Partial(fields) => fields,
            _ => &empty,
        };
        if !frozen.nonzero {
            self.out.forget_nonzero.insert(l);
        }
        let mut kept = Vec::new();
        let mut all = !frozen.nonzero || live.nonzero;
        let known = match &live.content {
            Content::Partial(known) => known.clone(),
            _ => Vec::new(),
        };
        for (key, value) in wanted.clone() {
            let other = known.iter().find(|k| k.0 == key);
            if let (true, Some((_, other))) = (self.pass_known, other) {
                kept.push(key);
                all &= self.one(value, *other)?;
                continue;
            }
            let equal = match other {
                // Only what both know as the same constant, or as the same variable that
                // is passed anyway.
                Some((_, other)) => {
                    let (a, b) = (self.frozen.known(value), self.live.known(*other));
                    (a.is_some() && a == b) || self.boxes.get(&value) == Some(other)
                }
                None => false,
            };
            if equal {
                kept.push(key);
            }
            all &= equal;
        }
        self.out.partial.insert(l, kept);
        Ok(all)
    }

    fn structs(&mut self, f: VirtualId, l: VirtualId) -> Result<bool, DontMerge> {
        let (frozen, live) = (
            &self.frozen.virtuals[f.0 as usize],
            &self.live.virtuals[l.0 as usize],
        );
        if let Some(before) = self.virtuals.get(&f) {
            let same = *before == l;
            if !same {
                self.pass(live.own);
            }
            return Ok(same);
        }
        if self.taken.contains(&l) || self.made.contains(&l) {
            self.pass(live.own);
            return Ok(false);
        }
        if frozen.ty != live.ty || frozen.fields.len() != live.fields.len() {
            if !self.force {
                return Err(DontMerge);
            }
            self.pass(live.own);
            return Ok(false);
        }
        self.virtuals.insert(f, l);
        self.taken.insert(l);
        let mut all = true;
        for (f, l) in frozen.fields.clone().into_iter().zip(live.fields.clone()) {
            all &= self.one(f, l)?;
        }
        Ok(all)
    }

    /// Whether all that is known of memory holds in both.
    fn facts(&mut self) -> Result<(), DontMerge> {
        let (frozen, live) = (self.frozen, self.live);
        let mut met = vec![false; live.heap.known.len()];
        let mut left: Vec<&Known> = frozen.heap.known.iter().collect();
        // An object may be one that another fact leads to.
        loop {
            let before = left.len();
            for f in std::mem::take(&mut left) {
                let constant = frozen.known(f.object);
                let object = self.boxes.get(&f.object).copied();
                if constant.is_none() && object.is_none() {
                    left.push(f);
                    continue;
                }
                let found = live.heap.known.iter().position(|k| {
                    let same = match object {
                        Some(object) => live.is_same(k.object, object),
                        None => live.known(k.object) == constant,
                    };
                    k.place == f.place && same
                });
                let Some(i) = found else {
                    self.out.exact = false;
                    if let Some(object) = object
                        && f.kept
                        && frozen.get(f.value).var.is_some()
                    {
                        self.out.missing.push((object, f.place));
                    }
                    continue;
                };
                met[i] = true;
                let fact = live.heap.known[i];
                self.out.facts.push(fact);
                if fact.pending && !f.pending {
                    self.out.unwritten.push(fact);
                }
                self.boxes(f.value, fact.value)?;
            }
            if left.is_empty() {
                break;
            }
            if left.len() == before {
                // A state passes on all that it has still to write.
                let pending = left.iter().find(|k| k.pending);
                let Some(fact) = pending.filter(|_| std::ptr::eq(frozen, live)) else {
                    break;
                };
                self.boxes(fact.object, fact.object)?;
            }
        }
        self.out.exact &= left.is_empty();
        for (fact, met) in live.heap.known.iter().zip(met) {
            // The code that goes on is to know of a virtualizable what can be known.
            match (met || !fact.kept, self.force || frozen.heap.general.closed) {
                (true, _) => {}
                (false, true) if fact.pending => self.out.unwritten.push(*fact),
                (false, true) => {}
                (false, false) => self.out.exact = false,
            }
        }
        Ok(())
    }

    /// Whether what operations gave in the other state they gave in this one.
    fn pure(&mut self) {
        let mut all = true;
        for f in &self.frozen.pure {
            let mut args = Vec::with_capacity(f.args.len());
            for a in &f.args {
                match a {
                    PureArg::Const(w) => args.push(PureArg::Const(*w)),
                    PureArg::Box(b) => match self.boxes.get(b) {
                        Some(l) => args.push(self.live.pure_arg(*l)),
                        // Nobody asks for it any more.
                        None => break,
                    },
                }
            }
            if args.len() < f.args.len() {
                continue;
            }
            let equal = |l: BoxId| match self.frozen.known(f.result) {
                Some(w) => self.live.known(l) == Some(w),
                None => self.boxes.get(&f.result) == Some(&l),
            };
            let found = self
                .live
                .pure
                .iter()
                .find(|l| l.op == f.op && l.ty == f.ty && l.args == args && equal(l.result));
            match found {
                Some(l) => self.out.pure.push(l.clone()),
                None => all = false,
            }
        }
        self.out.but_pure = self.out.exact;
        self.out.exact &= all;
    }
}
