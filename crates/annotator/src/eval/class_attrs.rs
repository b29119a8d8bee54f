//! Attributes of the instances of a class: what they are, beside what is assigned to them.
//!
//! An attribute that is used on instances of a class and of a base class is one, with all that
//! the classes and prebuilt instances below have of it. So whatever a class has goes to the
//! nearest base class on which the attribute is used (its *home*), and from there to the next;
//! and what a class has that it is used on comes from its home. Hierarchies can be deep and wide:
//! nobody asks each base or each subclass. Whoever comes looks for those that were there before,
//! in sets of classes in the order of the hierarchy, and depends on those that it finds alone.

use std::ops::ControlFlow;
use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;

use super::attrs::has_methods;
use super::{Cx, Problem};
use crate::Desc;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Val};

/// How far the evaluation of an attribute that is used on instances of a class has come: the next
/// one takes over what classes have, since those that have something later bring it.
#[derive(Default)]
pub(crate) struct AttrProgress {
    /// It was looked at before.
    begun: bool,
    /// What the class, its bases and the classes below have themselves.
    sources: Val,
    /// What methods were bound of.
    bound: Val,
    /// What is wrong with these.
    problems: Vec<Problem>,
}

impl Cx<'_> {
    /// What a class that is in use has of an attribute. Returns nothing if nobody asks for it.
    pub(super) fn attr_node(
        &mut self,
        class: ObjId,
        name: &Arc<str>,
        before: Option<Box<AttrProgress>>,
    ) -> Known<Option<Box<AttrProgress>>> {
        let used = !self
            .read(SlotKey::AttrUsed(class, name.clone()))
            .is_bottom();
        let homes = self.read(SlotKey::Homes(class, name.clone()));
        if !used && homes.is_bottom() || self.facts.class(class)?.is_none() {
            return Ok(None);
        }
        // There are no such instances. An edit may have left an attribute used on them that is
        // used on those of a base class in fact.
        if self.read(SlotKey::ClassUsed(class)).is_bottom() {
            return Ok(None);
        }
        let home = self.used_above(class, name)?;
        if !used {
            if let Some(home) = home {
                self.held_attr(class, name, home)?;
            }
            return Ok(None);
        }
        let mut p = before.unwrap_or_default();
        self.used_attr(class, name, home, &mut p)?;
        p.problems.append(&mut self.problems);
        self.problems = p.problems.clone();
        Ok(Some(p))
    }

    /// An attribute that is used on instances of the class.
    fn used_attr(
        &mut self,
        class: ObjId,
        name: &Arc<str>,
        home: Option<ObjId>,
        p: &mut AttrProgress,
    ) -> Known<()> {
        let here = SlotKey::Attr(class, name.clone());
        let first = !std::mem::replace(&mut p.begun, true);
        self.whole = first;
        if first {
            // All at once: what the class has itself may hide what its bases have, and methods
            // that are overridden must not be bound before those that override them.
            let mut sources = self.sources_above(class, name, home)?;
            sources.extend(self.sources_below(class, name)?);
            for v in &sources {
                self.write(here.clone(), v.clone());
            }
            p.sources = self.join_all(&sources);
        }
        self.fields(class, name, class)?;
        // Methods are bound once for all who read them. What is written above counts, so
        // that a method that is overridden is never bound on the way.
        let all = self.read(here.clone());
        let all = self.join(&all, &p.sources);
        if has_methods(&all) && all != p.bound {
            let bound = self.lookup_filter(class, &all)?;
            self.write(SlotKey::Bound(class, name.clone()), bound);
            p.bound = all;
        }
        let Some(home) = home else { return Ok(()) };
        let there = SlotKey::Attr(home, name.clone());
        let (mine, theirs) = (self.read(here.clone()), self.read(there.clone()));
        self.write(there, mine);
        self.write(here, theirs);
        let set = self.read(SlotKey::AttrSet(class, name.clone()));
        self.write(SlotKey::AttrSet(home, name.clone()), set);
        Ok(())
    }

    /// What a class on whose instances the attribute is not used has for its home.
    fn held_attr(&mut self, class: ObjId, name: &Arc<str>, home: ObjId) -> Known<()> {
        if let Some(v) = self.class_source(class, name)? {
            self.write(SlotKey::Attr(home, name.clone()), v);
        }
        self.fields(class, name, home)
    }

    /// What prebuilt instances of this very class have, for a class on which it is used.
    fn fields(&mut self, class: ObjId, name: &Arc<str>, home: ObjId) -> Known<()> {
        if self.read(SlotKey::HasInstances(class)).is_bottom() {
            return Ok(());
        }
        self.signal(SlotKey::FieldUsed(class, name.clone()));
        let v = self.read(SlotKey::Field(class, name.clone()));
        if !v.is_bottom() {
            self.write(SlotKey::Attr(home, name.clone()), v);
            self.signal(SlotKey::AttrSet(home, name.clone()));
        }
        Ok(())
    }

    /// What a class and its bases have themselves: those up to its home, which has all that is
    /// above, and up to the first that has anything, which hides that.
    fn sources_above(
        &mut self,
        class: ObjId,
        name: &Arc<str>,
        home: Option<ObjId>,
    ) -> Known<Vec<Val>> {
        let mut definers: Vec<ObjId> = Vec::new();
        self.facts.definers(class, name, |c, _| {
            let enough = match home {
                Some(home) => !definers.is_empty() && !self.facts.is_subclass(c, home)?,
                None => false,
            };
            if !enough {
                definers.push(c);
            }
            Ok(if enough {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        let sources = self.for_all(definers, |cx, c| cx.class_source(c, name))?;
        Ok(sources.into_iter().flatten().collect())
    }

    /// What classes below have, as far as they are in use; and they are told where to bring what
    /// comes. Those that come into use later, or get prebuilt instances, look for homes themselves.
    fn sources_below(&mut self, class: ObjId, name: &Arc<str>) -> Known<Vec<Val>> {
        // The nearest classes below that it is used on have what is further below.
        let mut used = self.store.used.remove(name).unwrap_or_default();
        let is_used = |c| self.holds_something(&SlotKey::AttrUsed(c, name.clone()));
        let users = (self.facts).hierarchy(|h| used.topmost_below(class, h, is_used));
        self.store.used.insert(name.clone(), used);
        let mut sources = Vec::new();
        for user in &users {
            self.read(SlotKey::AttrUsed(*user, name.clone()));
            self.facts.class(*user)?;
            self.tell_home(*user, name, class);
            sources.push(self.read(SlotKey::Attr(*user, name.clone())));
        }
        let definers = self.facts.definers_below(class, &users, name);
        let defined = self.for_all(definers, |cx, c| {
            if cx.is_class_used(c)? {
                cx.class_source(c, name)
            } else {
                Ok(None)
            }
        })?;
        sources.extend(defined.into_iter().flatten());
        let holders = match self.store.fields.get_mut(name) {
            Some(fields) => (self.facts).hierarchy(|h| fields.below_but(class, &users, h)),
            None => Vec::new(),
        };
        for holder in holders {
            let instances = SlotKey::HasInstances(holder);
            if self.holds_something(&instances) {
                self.read(instances);
                self.facts.class(holder)?;
                self.tell_home(holder, name, class);
            }
        }
        Ok(sources)
    }

    /// The nearest base of a class on whose instances an attribute is used as of now. Whoever asks
    /// is to be told of those that come later, by `Homes`.
    pub(super) fn used_above(&mut self, class: ObjId, name: &Arc<str>) -> Known<Option<ObjId>> {
        self.facts.class(class)?;
        let Some(used) = self.store.used.get(name) else {
            return Ok(None);
        };
        let is_used = |c| self.holds_something(&SlotKey::AttrUsed(c, name.clone()));
        let home = (self.facts).hierarchy(|h| used.nearest_above(class, h, is_used));
        if let Some(home) = home {
            self.read(SlotKey::AttrUsed(home, name.clone()));
        }
        Ok(home)
    }

    /// A class has something of an attribute, and a base class, on which it is used, is to get it.
    pub(super) fn tell_home(&mut self, class: ObjId, name: &Arc<str>, home: ObjId) {
        let homes = SlotKey::Homes(class, name.clone());
        self.write(homes, Val::pbc(Desc::Class(home)));
    }

    /// What a class's own dict contributes to an attribute of its instances.
    fn class_source(&mut self, class: ObjId, name: &Arc<str>) -> Known<Option<Val>> {
        let Some(info) = self.facts.class(class)? else {
            return Ok(None);
        };
        let Some(value) = info.dict.get(&**name) else {
            return Ok(None);
        };
        if &**name == "__init__" && info.builtin_exception {
            return Ok(None);
        }
        if let Const::Obj(o) = value {
            match self.facts.object(*o)?.as_deref() {
                // Where its accessors serve, nobody asks for it by its own name.
                Some(ObjData::Property { .. }) => return Ok(Some(Atom::Property.into())),
                Some(ObjData::StaticMethod(f)) => return self.const_val(f).map(Some),
                Some(ObjData::ClassMethod(_)) => {
                    self.problem_help(
                        ErrorCode::InvalidConstant,
                        format!("{name} is a class method, which is not RPython"),
                        Some("use a static method"),
                    );
                    return Ok(None);
                }
                _ => {}
            }
        }
        let v = self.const_val(value)?;
        let [Atom::Pbc(descs)] = &v.atoms[..] else {
            return Ok(Some(v));
        };
        if !descs.iter().any(|d| matches!(d, Desc::Function(_))) {
            return Ok(Some(v));
        }
        let mut bound: Vec<Desc> = descs
            .iter()
            .map(|d| match d {
                Desc::Function(f) => Desc::Method {
                    func: *f,
                    origin: class,
                    self_class: None,
                    name: name.clone(),
                },
                other => other.clone(),
            })
            .collect();
        bound.sort();
        let atoms = smallvec::smallvec![Atom::Pbc(bound.into())];
        Ok(Some(Val::new(v.none, None, atoms)))
    }
}
