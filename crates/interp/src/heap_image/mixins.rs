//! What mixins put into a class (RPython: `ClassDesc.add_mixins`).
//!
//! To Python a mixin is one more base class. To RPython it is text that each class with it
//! repeats: attributes become those of the class itself, before or behind its one regular
//! base, and every function is a copy of its own. The copies have an identity, so that
//! whatever tells functions apart tells them apart: two classes that are called through
//! their common base run different code.
//!
//! ```text
//! class Mixin:  def f(self): ...           f:  id of the function
//! class A(Mixin, Base)                     f:  id of ("mixed in", A, "f")
//! class B(Mixin, Base)                     f:  id of ("mixed in", B, "f")
//! ```

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use taipan_graph::{Const, ObjId};

use crate::heap_image::heap_to_image::Freezer;
use crate::space::heap::{Heap, Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::{Attrs, ObjData, stable_id};

/// Attributes by name; a later one replaces an earlier one in its place.
type Mixed = IndexMap<Box<str>, Const>;

impl Freezer<'_> {
    /// The attributes that the mixins of a class put into it.
    pub(crate) fn mixed_in(&mut self, class: Ref) -> Attrs {
        let heap = self.heap;
        let bases = &heap.the_class(class).bases;
        let regular = (bases.iter()).position(|b| *b != ty::OBJECT && !is_mixin(heap, *b));
        let (before, after) = bases.split_at(regular.unwrap_or(bases.len()));
        let mut mixed = Mixed::new();
        // What a mixin has behind the base is there only if the base has not got it.
        if let Some((base, after)) = after.split_first() {
            let mut skip: FxHashSet<&str> = FxHashSet::default();
            for c in heap
                .the_class(*base)
                .mro
                .iter()
                .filter(|c| **c != ty::OBJECT)
            {
                skip.extend(attributes(heap, *c).map(|(name, _)| name));
            }
            self.add_mixins(class, after, &skip, &mut mixed);
        }
        self.add_mixins(class, before, &FxHashSet::default(), &mut mixed);
        mixed.into_iter().collect()
    }

    fn add_mixins(&mut self, class: Ref, bases: &[Ref], skip: &FxHashSet<&str>, mixed: &mut Mixed) {
        let heap = self.heap;
        let mixins: Vec<Ref> = (bases.iter().copied())
            .filter(|b| is_mixin(heap, *b))
            .collect();
        let mut orders: Vec<Vec<Ref>> = (mixins.iter())
            .map(|m| heap.the_class(*m).mro.clone())
            .collect();
        orders.push(mixins);
        // What comes first in Python's order is put in last.
        for part in merge_orders(orders).into_iter().rev() {
            if part == ty::OBJECT {
                continue;
            }
            for (name, value) in attributes(heap, part) {
                if !skip.contains(name) {
                    self.add_attribute(class, name, value, mixed);
                }
            }
        }
    }

    fn add_attribute(&mut self, class: Ref, name: &str, value: &Value, mixed: &mut Mixed) {
        let heap = self.heap;
        let kind = match value {
            Value::Ref(r) => Some(heap.kind(*r)),
            _ => None,
        };
        // What stands for a name in `__slots__`.
        if let Value::Ref(r) = value
            && heap.class_name(heap.get(*r).class) == "member_descriptor"
        {
            return;
        }
        if let Some(Kind::Property(parts)) = kind {
            for (function, suffix) in parts.iter().zip(["__getter__", "__setter__"]) {
                let name = format!("{name}{suffix}");
                if let Some(copy) = self.copy(class, &name, function) {
                    mixed.insert(name.into(), Const::Obj(copy));
                }
            }
        }
        let constant = match kind {
            Some(Kind::Function(_)) => self.copy(class, name, value).map(Const::Obj),
            Some(Kind::StaticMethod(function)) => self.copy(class, name, function).map(|copy| {
                let method = self.mixed_id("static method", class, name);
                let data = ObjData::StaticMethod(Const::Obj(copy));
                self.objects.insert(method, Arc::new(data));
                Const::Obj(method)
            }),
            _ => None,
        };
        let constant = constant.unwrap_or_else(|| self.constant(value));
        mixed.insert(name.into(), constant);
    }

    /// The copy of a function under a name of a class; none if it is something else.
    fn copy(&mut self, class: Ref, name: &str, function: &Value) -> Option<ObjId> {
        let Value::Ref(f) = function else { return None };
        if !matches!(self.heap.kind(*f), Kind::Function(_)) {
            return None;
        }
        let id = self.mixed_id("mixed in", class, name);
        let data = self.data(*f);
        self.objects.insert(id, Arc::new(data));
        Some(id)
    }

    fn mixed_id(&self, what: &str, class: Ref, name: &str) -> ObjId {
        stable_id(&[what, &self.id(class).0.to_string(), name])
    }
}

/// A class's own attributes with text for a name.
fn attributes(heap: &Heap, class: Ref) -> impl Iterator<Item = (&str, &Value)> {
    let dict = heap.get(class).attrs.and_then(|d| heap.dict_of(d));
    dict.into_iter()
        .flat_map(|d| d.iter())
        .filter_map(|(k, v)| Some((k.as_text()?, v)))
}

fn is_mixin(heap: &Heap, class: Ref) -> bool {
    matches!(heap.attr(class, "_mixin_"), Some(Value::Bool(true)))
}

/// Python's method resolution order of a class with these bases' orders.
fn merge_orders(mut orders: Vec<Vec<Ref>>) -> Vec<Ref> {
    let mut out = Vec::new();
    loop {
        orders.retain(|o| !o.is_empty());
        let next = orders
            .iter()
            .map(|o| o[0])
            .find(|c| !orders.iter().any(|o| o[1..].contains(c)));
        let Some(next) = next.or_else(|| orders.first().map(|o| o[0])) else {
            return out;
        };
        for o in &mut orders {
            o.retain(|c| *c != next);
        }
        out.push(next);
    }
}
