//! Whether a state may go on where another one went on before (RPython, 2008: the
//! `Frozen...` classes of `rvalue.py` and `rcontainer.py`).

use crate::heap::Known;
use crate::layout::Place;
use crate::pure::{PureArg, PureFact};
use crate::state::{BoxId, Content, GenVar, JitState, Val, VirtualId, VirtualStruct};

/// States that must not meet: a virtual object would have to be made for it.
pub(crate) struct DontMerge;

/// The outcome of a comparison.
pub(crate) struct Matched {
    /// The state can go on there.
    pub(crate) exact: bool,
    /// Virtual objects of the state have to be made for that.
    pub(crate) forces: bool,
    /// Pending writes that the other state lacks force virtual objects.
    pub(crate) writes: bool,
    /// The boxes of the state that are passed, or if it cannot go on there, those that a
    /// more general state has as variables.
    pub(crate) outgoing: Vec<BoxId>,
    /// Pointers that a more general state does not know to be non-null.
    pub(crate) forget_nonzero: Vec<BoxId>,
    /// What is left of the places that never change, by box. The last one that is there for a
    /// box counts.
    pub(crate) partial: Vec<(BoxId, Vec<Place>)>,
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
    /// By box, and by virtual object, of the frozen state: that of the live one. States meet
    /// often, so these are vectors.
    boxes: Vec<Option<BoxId>>,
    virtuals: Vec<Option<VirtualId>>,
    /// What becomes of the virtual objects of the live state.
    fates: Vec<Fate>,
    out: Matched,
}

/// What becomes of a virtual object where states meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// Nothing yet.
    Open,
    /// It stays virtual.
    Taken,
    /// It is made on the way: no longer the same as one that stays virtual.
    Made,
}

/// Compares a live state with the frozen state of an existing version. With `force` they are merged whatever it costs.
/// A pending exception must be in the same place in both: in the state, or unfetched in residual code. With
/// `pass_known` known values of memory are passed as block arguments.
pub(crate) fn exact_match(
    frozen: &JitState,
    live: &JitState,
    force: bool,
    pass_known: bool,
) -> Result<Matched, DontMerge> {
    let known_null = |s: &JitState| s.known(s.exc_type) == Some(0);
    if frozen.exc_unknown != live.exc_unknown || (!force && known_null(frozen) != known_null(live))
    {
        return Err(DontMerge);
    }
    let mut m = Matcher {
        frozen,
        live,
        force,
        pass_known,
        boxes: vec![None; frozen.boxes.len()],
        virtuals: vec![None; frozen.virtuals.len()],
        fates: vec![Fate::Open; live.virtuals.len()],
        out: Matched {
            exact: true,
            forces: false,
            writes: false,
            outgoing: Vec::new(),
            forget_nonzero: Vec::new(),
            partial: Vec::new(),
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

impl<'a> Matcher<'a> {
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
                    self.out.partial.push((l, Vec::new()));
                    if w == 0 {
                        self.out.forget_nonzero.push(l);
                    }
                }
                let equal = self.live.known(l) == Some(w);
                if !equal {
                    self.pass(l);
                }
                equal
            }
            None => {
                if let (None, Content::Virtual(v)) = (&live.var, &live.content)
                    && !self.made(*v)
                {
                    self.pass(l);
                    return match self.force {
                        true => Ok(false),
                        false => Err(DontMerge),
                    };
                }
                let mut nonzero = true;
                if pointer && !self.pass_known {
                    nonzero = self.known_fields(f, l)?;
                }
                let (same, first) = match self.boxes[f.0 as usize] {
                    None => {
                        self.boxes[f.0 as usize] = Some(l);
                        self.pass(l);
                        (true, true)
                    }
                    Some(first) if first == l => (true, false),
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
                same && nonzero && !frozen.owner.differs(live.owner)
            }
        };
        if pointer && !matched && !self.force && is_virtual {
            return Err(DontMerge);
        }
        Ok(matched)
    }

    /// Marks a virtual struct as forced, and those it refers to. False if one of them stays virtual in the other state.
    fn made(&mut self, v: VirtualId) -> bool {
        match self.fates[v.0 as usize] {
            Fate::Made => return true,
            Fate::Taken => return false,
            Fate::Open => self.fates[v.0 as usize] = Fate::Made,
        }
        let live: &'a JitState = self.live;
        let mut all = true;
        for b in &live.virtuals[v.0 as usize].fields {
            if let Content::Virtual(inner) = live.get(*b).content {
                all &= self.made(inner);
            }
        }
        all
    }

    /// Whether all that is known of the object holds of the other one as well.
    fn known_fields(&mut self, f: BoxId, l: BoxId) -> Result<bool, DontMerge> {
        let (frozen, live): (&'a JitState, &'a JitState) = (self.frozen, self.live);
        let (of, ol) = (frozen.get(f), live.get(l));
        if !of.nonzero {
            self.out.forget_nonzero.push(l);
        }
        let mut kept = Vec::new();
        let mut all = !of.nonzero || ol.nonzero;
        let known = ol.content.places();
        for (key, value) in of.content.places() {
            let other = known.iter().find(|k| k.0 == *key);
            if let (true, Some((_, other))) = (self.pass_known, other) {
                kept.push(*key);
                all &= self.one(*value, *other)?;
                continue;
            }
            let equal = match other {
                // Only what both know as the same constant, or as the same variable that
                // is passed anyway.
                Some((_, other)) => {
                    let (a, b) = (frozen.known(*value), live.known(*other));
                    (a.is_some() && a == b) || self.boxes[value.0 as usize] == Some(*other)
                }
                None => false,
            };
            if equal {
                kept.push(*key);
            }
            all &= equal;
        }
        self.out.partial.push((l, kept));
        Ok(all)
    }

    fn structs(&mut self, f: VirtualId, l: VirtualId) -> Result<bool, DontMerge> {
        let frozen: &'a VirtualStruct = &self.frozen.virtuals[f.0 as usize];
        let live: &'a VirtualStruct = &self.live.virtuals[l.0 as usize];
        if let Some(before) = self.virtuals[f.0 as usize] {
            let same = before == l;
            if !same {
                self.pass(live.own);
            }
            return Ok(same);
        }
        if self.fates[l.0 as usize] != Fate::Open {
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
        self.virtuals[f.0 as usize] = Some(l);
        self.fates[l.0 as usize] = Fate::Taken;
        let mut all = true;
        for (f, l) in frozen.fields.iter().zip(&live.fields) {
            all &= self.one(*f, *l)?;
        }
        Ok(all)
    }

    /// Whether all that is known of memory holds in both.
    fn facts(&mut self) -> Result<(), DontMerge> {
        let (frozen, live) = (self.frozen, self.live);
        let mut met = vec![false; live.heap.known.len()];
        let mut left: Vec<&Known> = frozen.heap.known.iter().collect();
        // States that came the same way know the same in the same order.
        let mut next = 0;
        // An object may be one that another fact leads to.
        loop {
            let before = left.len();
            for f in std::mem::take(&mut left) {
                let constant = frozen.constant_of(f.object);
                let object = self.boxes[f.object.0 as usize];
                let base = f.place.base().map(|b| self.boxes[b.0 as usize]);
                if (constant.is_none() && object.is_none()) || base == Some(None) {
                    left.push(f);
                    continue;
                }
                let place = match base.flatten() {
                    Some(base) => f.place.with_base(base),
                    None => f.place,
                };
                let fits = |k: &Known| {
                    k.place == place
                        && match object {
                            Some(object) => live.is_same(k.object, object),
                            None => live.constant_of(k.object) == constant,
                        }
                };
                let facts = &live.heap.known;
                let found = match facts.get(next) {
                    Some(k) if fits(k) => Some(next),
                    _ => facts.iter().position(fits),
                };
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
                next = i + 1;
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
                if let Some(base) = fact.place.base() {
                    self.boxes(base, base)?;
                }
            }
        }
        self.out.exact &= left.is_empty();
        for (fact, met) in live.heap.known.iter().zip(met) {
            // The code that goes on is to know of a virtualizable what can be known.
            if met {
                continue;
            }
            if fact.kept && !self.force && !frozen.heap.general.closed {
                self.out.exact = false;
            } else if fact.pending {
                self.out.unwritten.push(*fact);
                if let Content::Virtual(v) = live.get(fact.value).content {
                    self.out.writes = true;
                    self.out.exact &= self.made(v);
                }
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
                    PureArg::Box(b) => match self.boxes[b.0 as usize] {
                        Some(l) => args.push(self.live.pure_arg(l)),
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
                None => self.boxes[f.result.0 as usize] == Some(l),
            };
            let found = self
                .live
                .pure
                .iter()
                .find(|l| l.op == f.op && l.ty == f.ty && *l.args == *args && equal(l.result));
            match found {
                Some(l) => self.out.pure.push(l.clone()),
                None => all = false,
            }
        }
        self.out.but_pure = self.out.exact;
        self.out.exact &= all;
    }
}

/// The boxes that the next block of a state gets as arguments: those that
/// [`exact_match`] passes where the state meets itself.
pub(crate) fn passed(state: &JitState, pass_known: bool) -> Vec<BoxId> {
    let mut p = Passing {
        state,
        pass_known,
        boxes: vec![false; state.boxes.len()],
        virtuals: vec![false; state.virtuals.len()],
        outgoing: Vec::new(),
    };
    for frame in state.frames.iter().rev() {
        frame.values.boxes().for_each(|b| p.pass(b));
    }
    if let Val::Red(b) = state.returned {
        p.pass(b);
    }
    p.pass(state.exc_type);
    p.pass(state.exc_value);
    if let Some(b) = state.wanted {
        p.pass(b);
    }
    let mut left: Vec<&Known> = state.heap.known.iter().collect();
    loop {
        let before = left.len();
        left.retain(|k| {
            let base = (k.place.base()).is_none_or(|b| p.boxes[b.0 as usize]);
            let object = p.boxes[k.object.0 as usize] || state.constant_of(k.object).is_some();
            let at_hand = object && base;
            if at_hand {
                p.pass(k.value);
            }
            !at_hand
        });
        if left.is_empty() {
            break;
        }
        if left.len() == before {
            // All that is still to be written.
            let Some(fact) = left.iter().find(|k| k.pending) else {
                break;
            };
            p.pass(fact.object);
            if let Some(base) = fact.place.base() {
                p.pass(base);
            }
        }
    }
    p.outgoing
}

struct Passing<'a> {
    state: &'a JitState,
    pass_known: bool,
    /// Variables and virtual objects that were met.
    boxes: Vec<bool>,
    virtuals: Vec<bool>,
    outgoing: Vec<BoxId>,
}

impl Passing<'_> {
    fn pass(&mut self, b: BoxId) {
        let red = self.state.get(b);
        match (&red.var, &red.content) {
            (None, Content::Virtual(v)) => {
                if !std::mem::replace(&mut self.virtuals[v.0 as usize], true) {
                    let object = &self.state.virtuals[v.0 as usize];
                    object.fields.iter().for_each(|f| self.pass(*f));
                }
            }
            (Some(GenVar::Const(_)), _) => {}
            (_, content) => {
                if std::mem::replace(&mut self.boxes[b.0 as usize], true) {
                    return;
                }
                self.outgoing.push(b);
                if self.pass_known && red.ty.pointee().is_some() {
                    content.places().iter().for_each(|f| self.pass(f.1));
                }
            }
        }
    }
}
