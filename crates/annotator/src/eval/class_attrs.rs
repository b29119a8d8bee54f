//! Attributes of the instances of a class: what they are, beside what is assigned to them.

use std::sync::Arc;

use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;

use super::Cx;
use crate::Desc;
use crate::facts::Known;
use crate::store::{SlotIx, SlotKey, Stamp, Store, classes_in};
use crate::val::{Atom, Val};

/// How far the evaluation of an attribute has come. The next one looks at new subclasses alone,
/// and at those whose prebuilt instances hold something else.
#[derive(Default)]
pub(crate) struct AttrProgress {
    /// Entries of the log of subclasses that were looked at.
    entries: usize,
    subclasses: Vec<Subclass>,
    /// What the class, its bases and its subclasses hold themselves.
    sources: Val,
    /// What methods were bound of.
    bound: Val,
    /// Which values of slots it has seen: those before this stamp.
    since: Stamp,
}

/// A subclass in use, with the slots of its prebuilt instances.
struct Subclass {
    class: ObjId,
    has_instances: SlotIx,
    field: Option<SlotIx>,
}

impl Subclass {
    fn changed(&self, store: &Store, since: Stamp) -> bool {
        let slots = [Some(self.has_instances), self.field];
        let mut slots = slots.into_iter().flatten();
        slots.any(|slot| store.slots[slot as usize].changed_since(since))
    }
}

impl Cx<'_> {
    /// The sources of an attribute on instances of a class, beside assignments: values
    /// in the class, its bases and subclasses in use, and in prebuilt instances. A
    /// base class on whose instances the attribute is used too has it in common.
    /// Returns nothing if the attribute is not used.
    pub(super) fn attr_node(
        &mut self,
        class: ObjId,
        name: &Arc<str>,
        before: Option<Box<AttrProgress>>,
    ) -> Known<Option<Box<AttrProgress>>> {
        let used = SlotKey::AttrUsed(class, name.clone());
        if self.read(used).is_bottom() {
            return Ok(None);
        }
        let Some(info) = self.facts.class(class)? else {
            return Ok(None);
        };
        let here = SlotKey::Attr(class, name.clone());
        let first = before.is_none();
        self.whole = first;
        let mut p = before.unwrap_or_default();
        let new = self.new_subclasses(class, &mut p.entries);
        // The class itself is among both: its own value, which may hide those of its bases,
        // must not come later than theirs.
        let bases = info.chain.iter().filter(|_| first);
        let sources = self.for_all(bases.chain(&new), |cx, c| cx.class_source(*c, name))?;
        for v in sources.iter().flatten() {
            self.write(here.clone(), v.clone());
        }
        let sources = self.join_all(sources.iter().flatten());
        p.sources = self.join(&p.sources, &sources);
        for class in new {
            let has_instances = self.store.slot(SlotKey::HasInstances(class));
            p.subclasses.push(Subclass {
                class,
                has_instances,
                field: None,
            });
        }
        for i in 0..p.subclasses.len() {
            let subclass = &mut p.subclasses[i];
            if subclass.field.is_some() && !subclass.changed(self.store, p.since) {
                continue;
            }
            if self.read_slot(subclass.has_instances).is_bottom() {
                continue;
            }
            let c = subclass.class;
            self.signal(SlotKey::FieldUsed(c, name.clone()));
            let field = *(subclass.field)
                .get_or_insert_with(|| self.store.slot(SlotKey::Field(c, name.clone())));
            let v = self.read_slot(field);
            if !v.is_bottom() {
                self.write(here.clone(), v);
                self.signal(SlotKey::AttrSet(class, name.clone()));
            }
        }
        p.since = self.t;
        // Methods are bound once for all who read them. What is written above counts, so
        // that a method that is overridden is never bound on the way.
        let all = self.read(here.clone());
        let all = self.join(&all, &p.sources);
        if let [Atom::Pbc(descs)] = &all.atoms[..]
            && descs.len() > 1
            && descs.iter().any(|d| matches!(d, Desc::Method { .. }))
            && all != p.bound
        {
            let bound = self.lookup_filter(class, &all)?;
            self.write(SlotKey::Bound(class, name.clone()), bound);
            p.bound = all;
        }
        for base in info.chain.iter().skip(1) {
            let used = SlotKey::AttrUsed(*base, name.clone());
            if self.read(used).is_bottom() {
                continue;
            }
            let there = SlotKey::Attr(*base, name.clone());
            let (mine, theirs) = (self.read(here.clone()), self.read(there.clone()));
            self.write(there, mine);
            self.write(here.clone(), theirs);
            let set = self.read(SlotKey::AttrSet(class, name.clone()));
            self.write(SlotKey::AttrSet(*base, name.clone()), set);
        }
        Ok(Some(p))
    }

    /// The subclasses in use of a class, itself included, that have been contributed since the
    /// first so many entries.
    fn new_subclasses(&mut self, class: ObjId, entries: &mut usize) -> Vec<ObjId> {
        let slot = self.store.slot(SlotKey::SubClasses(class));
        if self.read_slot(slot).is_bottom() {
            return Vec::new();
        }
        let new = &self.store.slots[slot as usize].log[*entries..];
        let new = &new[..new.partition_point(|e| e.stamp < self.t)];
        *entries += new.len();
        let mut classes: Vec<ObjId> = new.iter().flat_map(|e| classes_in(&e.val)).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
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
                        "TP0314",
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
        let bound = descs
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
        let atoms = smallvec::smallvec![Atom::Pbc(bound)];
        Ok(Some(Val::new(v.none, None, atoms)))
    }
}
