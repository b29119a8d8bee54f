//! Attributes that a function reads, assigns and whose objects it makes, by class ([`AttributeUses`]).
//!
//! An attribute belongs to the topmost class on whose instances the program uses it, as in the original. So an object of a subclass
//! that never sets it has a field without a value. The driver finds such objects from the uses in all functions.

use std::sync::Arc;

use taipan_annotator::{CallInfo, FunctionAnnotation, SomeKind, Spec};
use taipan_base::{Db, Program};
use taipan_graph::{Const, HighLevel, HlOp, ObjId, Operand};
use taipan_interp::{ClassData, ObjData, Object, object};

/// A class and the name of an attribute.
pub type AttributeOf = (ObjId, Arc<str>);

/// Uses of attributes of instances in a function or a prebuilt object, without repetitions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AttributeUses {
    /// Attributes that are read, by the class of the annotation, with the instructions. Those that the class or a base of it
    /// declares in its body are left out.
    pub reads: Vec<(AttributeOf, u32)>,
    /// Attributes that get a value.
    pub given: Vec<AttributeOf>,
    /// Classes of which it makes objects.
    pub made: Vec<ObjId>,
}

impl AttributeUses {
    /// Whether there are no uses.
    pub fn is_empty(&self) -> bool {
        *self == AttributeUses::default()
    }

    fn without_repetitions(mut self) -> AttributeUses {
        self.reads.sort_unstable();
        self.reads.dedup();
        self.given.sort_unstable();
        self.given.dedup();
        self.made.sort_unstable();
        self.made.dedup();
        self
    }
}

/// The uses of attributes in a function; reads only `with_reads`. None if its annotation is not complete.
pub fn attribute_uses(db: &dyn Db, spec: Spec, with_reads: bool) -> AttributeUses {
    let annotation = taipan_annotator::annotation(db, spec);
    let mut uses = AttributeUses::default();
    if annotation.broken.is_some() {
        return uses;
    }
    let program = spec.roots(db).program(db);
    let graph = &annotation.graph;
    let reached = (graph.reachable().into_iter()).filter(|b| annotation.reached[b.index()]);
    for op in reached.flat_map(|b| &graph.block(b).operations) {
        let [x, Operand::Const(name), ..] = &op.args[..] else {
            continue;
        };
        let (Some(class), Some(name)) = (class_of(&annotation, x), name.as_str()) else {
            continue;
        };
        match op.op {
            HlOp::SetAttr => uses.given.push((class, name.into())),
            HlOp::GetAttr if with_reads && declaration(db, program, class, name).is_none() => {
                uses.reads.push(((class, name.into()), op.at));
            }
            _ => {}
        }
    }
    for (_, call) in annotation.calls.iter() {
        if let CallInfo::Instantiate(made) = call {
            uses.made
                .extend(made.classes.iter().map(|(class, _)| *class));
        }
    }
    uses.without_repetitions()
}

/// The uses of attributes by a prebuilt object. Only instances have any.
pub fn prebuilt_attribute_uses(db: &dyn Db, program: Program, id: ObjId) -> AttributeUses {
    let mut uses = AttributeUses::default();
    if let Some(ObjData::Instance(i)) = object(db, Object::new(db, program, id)).as_deref() {
        uses.made.push(i.class);
        let given = i.attrs.iter();
        uses.given
            .extend(given.map(|(name, _)| (i.class, (&**name).into())));
    }
    uses.without_repetitions()
}

/// The declaration of an attribute in a class body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Declaration {
    /// It has a value, or is listed in `_attrs_` or `__slots__`.
    Value,
    /// It is a method or a property.
    Method,
}

/// The declaration of an attribute in the bodies of a class and its bases. Builtin classes declare each attribute as
/// [`Declaration::Value`].
pub fn declaration(db: &dyn Db, program: Program, class: ObjId, name: &str) -> Option<Declaration> {
    let object = |id: ObjId| object(db, Object::new(db, program, id)).clone();
    let kind = |value: &Const| match value {
        Const::Obj(id) => match object(*id).as_deref() {
            Some(
                ObjData::Function(_)
                | ObjData::StaticMethod(_)
                | ObjData::ClassMethod(_)
                | ObjData::Property { .. },
            ) => Declaration::Method,
            _ => Declaration::Value,
        },
        _ => Declaration::Value,
    };
    let data = object(class)?;
    let ObjData::Class(data) = &*data else {
        return Some(Declaration::Value);
    };
    if name == "__class__" || data.builtin {
        return Some(Declaration::Value);
    }
    data.mro.iter().find_map(|base| {
        let base = object(*base)?;
        let ObjData::Class(base) = &*base else {
            return None;
        };
        let of_system = base.builtin && &*base.name == "EnvironmentError";
        let listed = of_system || lists(db, program, base, name);
        let value = base.get(name).or_else(|| base.mixed_in(name));
        value.map(kind).or(listed.then_some(Declaration::Value))
    })
}

/// Whether `_attrs_` or `__slots__` of a class list a name.
fn lists(db: &dyn Db, program: Program, class: &ClassData, name: &str) -> bool {
    let is_name = |c: &Const| c.as_str() == Some(name);
    let mut lists = ["__slots__", "_attrs_"]
        .into_iter()
        .filter_map(|l| class.get(l));
    lists.any(|list| match list {
        Const::Tuple(names) => names.iter().any(is_name),
        Const::Obj(id) => match object(db, Object::new(db, program, *id)).as_deref() {
            Some(ObjData::List(names)) => names.iter().any(is_name),
            _ => false,
        },
        one => is_name(one),
    })
}

fn class_of(annotation: &FunctionAnnotation, x: &Operand<HighLevel>) -> Option<ObjId> {
    let Operand::Var(v) = x else { return None };
    match annotation.var(*v).kind {
        SomeKind::Instance { class, .. } => class,
        _ => None,
    }
}
