//! Whether a state may go on where another one went on before (RPython, 2008: the
//! `Frozen...` classes of `rvalue.py` and `rcontainer.py`).

use std::collections::{BTreeMap, BTreeSet};

use crate::state::{BoxId, Content, JitState, Val, VirtualId};

/// States that must not meet: a virtual object would have to be made for it.
pub(crate) struct DontMerge;

/// The outcome of a comparison.
pub(crate) struct Matched {
    /// The state can go on there.
    pub(crate) exact: bool,
    /// The boxes of the state that are passed, or if it cannot go on there, those that a
    /// more general state has as variables.
    pub(crate) outgoing: Vec<BoxId>,
    /// Pointers that a more general state does not know to be non-null.
    pub(crate) forget_nonzero: BTreeSet<BoxId>,
    /// What is left of the fields that are known, by box.
    pub(crate) partial: BTreeMap<BoxId, Vec<crate::state::FieldKey>>,
}

struct Matcher<'a> {
    frozen: &'a JitState,
    live: &'a JitState,
    force: bool,
    boxes: BTreeMap<BoxId, BoxId>,
    virtuals: BTreeMap<VirtualId, VirtualId>,
    taken: BTreeSet<VirtualId>,
    out: Matched,
}

/// Compares a state with one that went on before. With `force` they meet at any price.
pub(crate) fn exact_match(
    frozen: &JitState,
    live: &JitState,
    force: bool,
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
        boxes: BTreeMap::new(),
        virtuals: BTreeMap::new(),
        taken: BTreeSet::new(),
        out: Matched {
            exact: true,
            outgoing: Vec::new(),
            forget_nonzero: BTreeSet::new(),
            partial: BTreeMap::new(),
        },
    };
    for (f, l) in frozen.frames.iter().zip(&live.frames).rev() {
        for (f, l) in f.values.iter().zip(&l.values) {
            m.values(*f, *l)?;
        }
    }
    m.values(frozen.returned, live.returned)?;
    m.boxes(frozen.exc_type, live.exc_type)?;
    m.boxes(frozen.exc_value, live.exc_value)?;
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
                let mut nonzero = true;
                if pointer {
                    nonzero = self.known_fields(f, l)?;
                }
                let same = match self.boxes.get(&f) {
                    None => {
                        self.boxes.insert(f, l);
                        self.pass(l);
                        true
                    }
                    Some(first) if *first == l => true,
                    Some(_) => {
                        self.pass(l);
                        false
                    }
                };
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
        if self.taken.contains(&l) {
            self.pass(live.own);
            return Ok(false);
        }
        if frozen.ty != live.ty {
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
}
