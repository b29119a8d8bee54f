//! Attributes that are read through a base class and that only some of its subclasses have ([`Attributes::lacking`]).
//!
//! ```text
//! class A: pass
//! class B(A):  self.x = 5          A has x, because x is read through it
//! class C(A):  pass                objects of C have a field x without a value
//! def get(a):  a.x                 `a` is annotated as A: may be a C
//! ```
//!
//! The rule avoids false warnings: an assignment in any function counts, for all subclasses of the variable's class. Methods are
//! left out: interpreters often call methods of subclasses on values of a base class, and a call of a missing method ends the
//! program. Classes that ship with the compiler are left out, since the author of the program cannot change them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, Program, SHIPPED};
use taipan_graph::{Const, ObjId};
use taipan_interp::{ModuleName, Name, ObjData, Object, module_global, module_named, object};
use taipan_rtyper::{AttributeOf, AttributeUses, Declaration, declaration};

use super::graph::NodeIx;

/// Number of classes that a message names.
const NAMED: usize = 3;

/// Uses of attributes in a whole program.
#[derive(Default)]
pub(super) struct Attributes {
    of: FxHashMap<NodeIx, Arc<AttributeUses>>,
    /// Functions that read an attribute.
    read: FxHashMap<AttributeOf, FxHashSet<NodeIx>>,
    /// Number of functions and objects that give an attribute a value.
    given: FxHashMap<AttributeOf, u32>,
    /// Number of functions and objects that make objects of a class.
    made: FxHashMap<ObjId, u32>,
}

/// An attribute that is read through a class of whose objects some lack it.
pub(super) struct Lacking {
    class: ObjId,
    attribute: Arc<str>,
    /// Classes below that have it.
    with: Vec<ObjId>,
    /// Classes of objects that lack it.
    without: Vec<ObjId>,
    /// Functions and instructions that read it.
    pub(super) readers: Vec<(NodeIx, u32)>,
}

impl Attributes {
    /// Replaces the uses of a function or object; `None` removes it.
    pub(super) fn set(&mut self, n: NodeIx, uses: Option<&Arc<AttributeUses>>) {
        if let Some(old) = self.of.remove(&n) {
            for (key, _) in &old.reads {
                if let Some(nodes) = self.read.get_mut(key) {
                    nodes.remove(&n);
                    if nodes.is_empty() {
                        self.read.remove(key);
                    }
                }
            }
            old.given.iter().for_each(|key| less(&mut self.given, key));
            old.made
                .iter()
                .for_each(|class| less(&mut self.made, class));
        }
        let Some(uses) = uses.filter(|uses| !uses.is_empty()) else {
            return;
        };
        for (key, _) in &uses.reads {
            self.read.entry(key.clone()).or_default().insert(n);
        }
        for key in &uses.given {
            *self.given.entry(key.clone()).or_default() += 1;
        }
        for class in &uses.made {
            *self.made.entry(*class).or_default() += 1;
        }
        self.of.insert(n, uses.clone());
    }

    /// Attributes that are read through a class of whose objects some lack it, in no order.
    pub(super) fn lacking(&self, db: &dyn Db, program: Program) -> Vec<Lacking> {
        let mut mros: FxHashMap<ObjId, Vec<ObjId>> = FxHashMap::default();
        let mut below: FxHashMap<ObjId, Vec<ObjId>> = FxHashMap::default();
        let mut made: Vec<ObjId> = self.made.keys().copied().collect();
        made.sort_unstable();
        for class in made {
            let mro = mro(db, program, class);
            mro.iter()
                .for_each(|c| below.entry(*c).or_default().push(class));
            mros.insert(class, mro);
        }
        let mut out = Vec::new();
        #[expect(
            clippy::iter_over_hash_type,
            reason = "callers sort the warnings by place"
        )]
        for (key @ (class, name), nodes) in &self.read {
            let objects = below.get(class).map_or(&[][..], Vec::as_slice);
            let given = |c: &ObjId| self.given.contains_key(&(*c, name.clone()));
            let declared = |c: &ObjId| declaration(db, program, *c, name);
            let has = |c: &ObjId| mros[c].iter().any(given) || declared(c).is_some();
            let (with, without): (Vec<ObjId>, Vec<ObjId>) = objects.iter().partition(|c| has(c));
            let is_method = |c: &ObjId| declared(c) == Some(Declaration::Method);
            if with.is_empty()
                || without.is_empty()
                || with.iter().any(is_method)
                || ships(db, program, *class)
            {
                continue;
            }
            let place = |n: &NodeIx| {
                let reads = self.of.get(n).map_or(&[][..], |uses| &uses.reads);
                let here = reads.iter().filter(|(of, _)| of == key);
                here.map(|(_, at)| (*n, *at)).collect::<Vec<_>>()
            };
            out.push(Lacking {
                class: *class,
                attribute: name.clone(),
                with,
                without,
                readers: nodes.iter().flat_map(place).collect(),
            });
        }
        out
    }
}

impl Lacking {
    /// The message, and the remedy.
    pub(super) fn words(&self, db: &dyn Db, program: Program) -> (String, String) {
        let Lacking {
            class, attribute, ..
        } = self;
        let base = names(db, program, &[*class]);
        let with = names(db, program, &self.with);
        let without = names(db, program, &self.without);
        (
            format!(
                "`{attribute}` is read through class {base}, and objects of {without} have no value there: it is set in {with} alone"
            ),
            format!(
                "give `{attribute}` a value in the body of {base}, or test with `isinstance()` first"
            ),
        )
    }
}

/// Whether the module of a class ships with the compiler.
fn ships(db: &dyn Db, program: Program, class: ObjId) -> bool {
    let data = object(db, Object::new(db, program, class));
    let Some(ObjData::Class(data)) = data.as_deref() else {
        return true;
    };
    let Some(Ok(module)) = module_named(db, ModuleName::new(db, program, &*data.module)) else {
        return false;
    };
    match module_global(db, Name::new(db, program, *module, "__file__")) {
        Some(Const::Str(path)) => path.starts_with(SHIPPED.as_bytes()),
        _ => false,
    }
}

/// Decrements a count, and removes it at zero.
fn less<K: std::hash::Hash + Eq>(counts: &mut FxHashMap<K, u32>, key: &K) {
    if let Some(n) = counts.get_mut(key) {
        *n -= 1;
        if *n == 0 {
            counts.remove(key);
        }
    }
}

fn mro(db: &dyn Db, program: Program, class: ObjId) -> Vec<ObjId> {
    match object(db, Object::new(db, program, class)).as_deref() {
        Some(ObjData::Class(data)) => data.mro.clone(),
        _ => Vec::new(),
    }
}

/// The names of classes: the first ones, by name.
fn names(db: &dyn Db, program: Program, classes: &[ObjId]) -> String {
    let name = |class: &ObjId| match object(db, Object::new(db, program, *class)).as_deref() {
        Some(ObjData::Class(data)) => format!("{}.{}", data.module, data.name),
        _ => String::new(),
    };
    let mut names: Vec<String> = classes.iter().map(name).collect();
    names.sort();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
