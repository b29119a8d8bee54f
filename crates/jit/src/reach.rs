//! Reachable boxes of a state, and copies of a state without the others.

use crate::heap::{Heap, Known};
use crate::pure::PureArg;
use crate::state::{BoxId, Content, Fact, JitState, RedBox, Val, VirtualStruct};

/// No box, or no virtual struct.
const GONE: u32 = u32::MAX;

impl JitState {
    /// Reachable boxes, by number. With `pending`, the objects of pending writes are roots.
    pub(crate) fn reached(&self, pending: bool) -> Vec<bool> {
        self.walk(&self.heap.known, pending, None).seen
    }

    /// Reachable boxes, by number, if `known` are all facts. The objects of pending writes are roots.
    pub(crate) fn reached_by(&self, known: &[Known]) -> Vec<bool> {
        self.walk(known, true, None).seen
    }

    /// Visits the reachable boxes, each once, in an order that depends on the structure alone. `known` are all facts. With
    /// `needed`, values in places that never change are followed only if they are `needed` or constants.
    fn walk<'a>(&'a self, known: &[Known], pending: bool, needed: Option<&'a [bool]>) -> Walk<'a> {
        let mut walk = Walk {
            state: self,
            needed,
            order: Vec::with_capacity(self.boxes.len()),
            seen: vec![false; self.boxes.len()],
            left: Vec::new(),
        };
        for f in self.frames.iter().rev() {
            f.values.boxes().for_each(|b| walk.visit(b));
        }
        if let Val::Red(b) = self.returned {
            walk.visit(b);
        }
        walk.visit(self.exc_type);
        walk.visit(self.exc_value);
        if let Some(b) = self.wanted {
            walk.visit(b);
        }
        let mut next: Vec<BoxId> = Vec::new();
        loop {
            let seen = |b: BoxId| walk.seen[b.0 as usize];
            // A fact is reachable if its object and the base of its index are reachable, or if its write is pending.
            for fact in known {
                let (object, value) = (seen(fact.object), seen(fact.value));
                let at_hand = |b: BoxId| seen(b) || self.is_constant(b);
                let base = fact.pending || fact.place.base().is_none_or(at_hand);
                let matters = (at_hand(fact.object) && base) || (fact.pending && pending);
                if matters && !object {
                    next.push(fact.object);
                }
                if matters && !value {
                    next.push(fact.value);
                }
                if let (true, Some(base)) = (matters, fact.place.base())
                    && !seen(base)
                {
                    next.push(base);
                }
            }
            // So is the constant result of an operation whose operands are.
            for fact in &self.pure {
                let operands = || {
                    fact.args.iter().all(|a| match a {
                        PureArg::Box(b) => seen(*b),
                        PureArg::Const(_) => true,
                    })
                };
                if !seen(fact.result) && self.is_constant(fact.result) && operands() {
                    next.push(fact.result);
                }
            }
            if next.is_empty() {
                return walk;
            }
            next.drain(..).for_each(|b| walk.visit(b));
        }
    }

    /// Removes unreachable boxes and virtual structs and renumbers the others in the order of [`JitState::walk`].
    pub(crate) fn compact(&mut self) {
        self.forget_repeated();
        let order = self.walk(&self.heap.known, true, None).order;
        let mut boxes = std::mem::take(&mut self.boxes);
        let virtuals = std::mem::take(&mut self.virtuals);
        let count = boxes.len();
        // Each box is moved out at most once.
        let take = |b: BoxId| {
            let red = &mut boxes[b.0 as usize];
            RedBox {
                content: std::mem::replace(&mut red.content, Content::None),
                ..*red
            }
        };
        self.renumber(&order, (count, &virtuals), take);
    }

    /// A compact copy without facts whose values nothing else needs: the value of a fact is a variable that stays alive.
    pub(crate) fn settled(&self) -> JitState {
        let known = (self.facts_at_hand(0)).unwrap_or_else(|| self.heap.known.clone());
        let needed = self.needed(&known);
        let known = self.without_repeated(known);
        let order = self.walk(&known, true, Some(&needed)).order;
        let mut state = JitState {
            boxes: Vec::new(),
            virtuals: Vec::new(),
            heap: Heap {
                known,
                fresh: self.heap.fresh.clone(),
                general: self.heap.general,
            },
            pure: self.pure.clone(),
            frames: self.frames.clone(),
            ..*self
        };
        let is_constant = |b: BoxId| self.is_constant(b);
        let copy = |b: BoxId| {
            let red = self.get(b);
            let content = match &red.content {
                Content::Partial(places) => {
                    let places = places.iter();
                    let stays = places.filter(|p| needed[p.1.0 as usize] || is_constant(p.1));
                    Content::Partial(stays.copied().collect())
                }
                Content::None => Content::None,
                Content::Virtual(v) => Content::Virtual(*v),
            };
            RedBox { content, ..*red }
        };
        state.renumber(&order, (self.boxes.len(), &self.virtuals), copy);
        state
    }

    /// Boxes that frames, facts or virtual structs refer to, by number. References by constant places do not count.
    fn needed(&self, known: &[Known]) -> Vec<bool> {
        let mut needed = vec![false; self.boxes.len()];
        let roots = self.frames.iter().flat_map(|f| f.values.boxes());
        let returned = match self.returned {
            Val::Red(b) => Some(b),
            _ => None,
        };
        let other = [self.exc_type, self.exc_value].into_iter();
        let other = other.chain(self.wanted).chain(returned);
        let facts = (known.iter()).flat_map(|k| [Some(k.object), Some(k.value), k.place.base()]);
        let facts = facts.flatten();
        let fields = self.virtuals.iter().flat_map(|v| v.fields.iter().copied());
        for b in roots.chain(other).chain(facts).chain(fields) {
            needed[b.0 as usize] = true;
        }
        needed
    }

    /// Puts the boxes of `order` and their virtual structs into the state, and renumbers all references to them. `count` is
    /// the number of old boxes; `get` returns the box of an old number.
    fn renumber(
        &mut self,
        order: &[BoxId],
        (count, virtuals): (usize, &[VirtualStruct]),
        mut get: impl FnMut(BoxId) -> RedBox,
    ) {
        let mut box_map = vec![GONE; count];
        for (i, b) in order.iter().enumerate() {
            box_map[b.0 as usize] = i as u32;
        }
        let to = |b: BoxId| BoxId(box_map[b.0 as usize]);
        let kept = |b: BoxId| box_map[b.0 as usize] != GONE;
        let mut virtual_map = vec![GONE; virtuals.len()];
        self.boxes.reserve_exact(order.len());
        for b in order {
            let mut red = get(*b);
            match &mut red.content {
                Content::None => {}
                Content::Virtual(v) => {
                    let new = &mut virtual_map[v.0 as usize];
                    if *new == GONE {
                        *new = self.virtuals.len() as u32;
                        let object = &virtuals[v.0 as usize];
                        self.virtuals.push(VirtualStruct {
                            ty: object.ty,
                            fields: object.fields.iter().map(|f| to(*f)).collect(),
                            own: to(object.own),
                        });
                    }
                    v.0 = *new;
                }
                Content::Partial(places) => {
                    places.iter_mut().for_each(|p| p.1 = to(p.1));
                    if places.is_empty() {
                        red.content = Content::None;
                    }
                }
            }
            red.fact = match red.fact {
                // The pointer is unreachable, so the fact is useless.
                Some(Fact::NonNull { of, .. }) if !kept(of) => None,
                Some(Fact::NonNull { of, reverse }) => Some(Fact::NonNull {
                    of: to(of),
                    reverse,
                }),
                other => other,
            };
            self.boxes.push(red);
        }
        self.heap.fresh.retain(|b| kept(*b));
        self.heap.fresh.iter_mut().for_each(|b| *b = to(*b));
        self.heap
            .known
            .retain(|k| kept(k.object) && kept(k.value) && k.place.base().is_none_or(kept));
        for k in &mut self.heap.known {
            (k.object, k.value) = (to(k.object), to(k.value));
            if let Some(base) = k.place.base() {
                k.place = k.place.with_base(to(base));
            }
        }
        self.pure.retain(|f| {
            let operands = f.args.iter().all(|a| match a {
                PureArg::Box(b) => kept(*b),
                PureArg::Const(_) => true,
            });
            operands && kept(f.result)
        });
        for f in &mut self.pure {
            f.result = to(f.result);
            for a in &mut f.args {
                if let PureArg::Box(b) = a {
                    *b = to(*b);
                }
            }
        }
        for b in self.frames.iter_mut().flat_map(|f| f.values.boxes_mut()) {
            *b = to(*b);
        }
        if let Val::Red(b) = &mut self.returned {
            *b = to(*b);
        }
        (self.exc_type, self.exc_value) = (to(self.exc_type), to(self.exc_value));
        self.wanted = self.wanted.map(to);
    }
}

/// A walk over the boxes of a state.
struct Walk<'a> {
    state: &'a JitState,
    /// See [`JitState::walk`].
    needed: Option<&'a [bool]>,
    /// Visited boxes.
    order: Vec<BoxId>,
    seen: Vec<bool>,
    /// Boxes to visit; the next one is last.
    left: Vec<BoxId>,
}

impl Walk<'_> {
    /// Visits a box and the boxes that it consists of.
    fn visit(&mut self, b: BoxId) {
        let mut next = Some(b);
        while let Some(b) = next.take().or_else(|| self.left.pop()) {
            if std::mem::replace(&mut self.seen[b.0 as usize], true) {
                continue;
            }
            self.order.push(b);
            match &self.state.get(b).content {
                Content::None => {}
                Content::Virtual(v) => {
                    let object = &self.state.virtuals[v.0 as usize];
                    self.left.extend(object.fields.iter().rev());
                    next = Some(object.own);
                }
                Content::Partial(places) => {
                    let values = places.iter().rev().map(|p| p.1);
                    match self.needed {
                        Some(needed) => {
                            let state = self.state;
                            let stays = |b: &BoxId| needed[b.0 as usize] || state.is_constant(*b);
                            self.left.extend(values.filter(stays));
                        }
                        None => self.left.extend(values),
                    }
                }
            }
        }
    }
}
