//! Where values are in objects: the fields and items of objects that may be virtual,
//! flattened, and the places that operations on memory name.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use taipan_lltype::{LLConst, LLOp, LLType, PlainOp, Program, TypeKind, VoidConst};

use crate::code::Arg;
use crate::purity::has_frozen_list;
use crate::state::{BoxId, FieldKey};

/// Arrays with more items than this are never virtual.
pub(crate) const MOST_ITEMS: u64 = 64;

/// An item of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Index {
    Known(u64),
    /// Sum of a variable of residual code and a constant, such as an offset from an interpreter's stack pointer.
    Sum(BoxId, i64),
    Unknown,
}

impl Index {
    /// Whether two indexes may be equal.
    fn may_be(self, other: Index) -> bool {
        match (self, other) {
            (Index::Known(i), Index::Known(j)) => i == j,
            (Index::Sum(a, i), Index::Sum(b, j)) => a != b || i == j,
            _ => true,
        }
    }
}

/// A place that holds a value, in an object that some pointer points to. An object has
/// one array at the most, so that the type of the array is enough to tell its items.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// A field of a struct.
    Field(FieldKey),
    /// An item of an array, or of the array at the end of a struct. Of an array of
    /// structs, one of their fields.
    Item {
        array: LLType,
        index: Index,
        field: Option<FieldKey>,
    },
    /// The length of the array.
    Length(LLType),
}

impl Place {
    /// Whether it is known which one it is.
    pub(crate) fn is_certain(&self) -> bool {
        !matches!(
            self,
            Place::Item {
                index: Index::Unknown,
                ..
            }
        )
    }

    /// The variable of [`Index::Sum`].
    pub(crate) fn base(&self) -> Option<BoxId> {
        match self {
            Place::Item {
                index: Index::Sum(base, _),
                ..
            } => Some(*base),
            _ => None,
        }
    }

    /// The place with another variable for [`Index::Sum`].
    pub(crate) fn with_base(mut self, base: BoxId) -> Place {
        if let Place::Item {
            index: Index::Sum(b, _),
            ..
        } = &mut self
        {
            *b = base;
        }
        self
    }

    /// Whether the two may be one place, in one object.
    pub(crate) fn overlaps(&self, other: &Place) -> bool {
        match (self, other) {
            (
                Place::Item {
                    array: a,
                    index: i,
                    field: f,
                },
                Place::Item {
                    array: b,
                    index: j,
                    field: g,
                },
            ) => a == b && f == g && i.may_be(*j),
            (a, b) => a == b,
        }
    }
}

/// The items of a [`Shape`].
pub(crate) struct Items {
    pub(crate) array: LLType,
    /// The values of an item.
    pub(crate) each: Vec<(Option<FieldKey>, LLType)>,
}

/// The values that an object of a type consists of: those of its fields, those of its
/// base first, then for each item of its array those of the item.
pub(crate) struct Shape {
    pub(crate) fixed: Vec<(FieldKey, LLType)>,
    pub(crate) items: Option<Items>,
}

impl Shape {
    /// The shape of objects of a type. None if they are never virtual.
    pub(crate) fn of(program: &dyn Program, ty: LLType) -> Option<Shape> {
        let mut shape = Shape {
            fixed: Vec::new(),
            items: None,
        };
        match ty.kind() {
            TypeKind::Array(_) => shape.items = Some(Items::of(program, ty)?),
            TypeKind::Struct(_) => shape.add_struct(program, ty, true)?,
            _ => return None,
        }
        Some(shape)
    }

    fn add_struct(&mut self, program: &dyn Program, ty: LLType, outer: bool) -> Option<()> {
        let body = program.body(ty.as_struct()?);
        if body.union {
            return None;
        }
        for (i, f) in body.fields.iter().enumerate() {
            match f.ty.kind() {
                TypeKind::Struct(_) if i == 0 => self.add_struct(program, f.ty, false)?,
                TypeKind::Array(_) if outer && i + 1 == body.fields.len() => {
                    self.items = Some(Items::of(program, f.ty)?);
                }
                TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..) => return None,
                TypeKind::Void => {}
                _ => self.fixed.push(((ty, i), f.ty)),
            }
        }
        Some(())
    }

    /// The types of the values of an object, and of as many more as there could be.
    pub(crate) fn types(&self) -> impl Iterator<Item = LLType> {
        let fixed = self.fixed.iter().map(|(_, ty)| *ty);
        let items = self.items.iter();
        fixed.chain(items.flat_map(|i| i.each.iter().map(|(_, ty)| *ty).cycle()))
    }

    /// How many values an object consists of.
    pub(crate) fn count(&self, length: u64) -> usize {
        let each = self.items.as_ref().map_or(0, |i| i.each.len());
        self.fixed.len() + each * length as usize
    }

    /// How many items an object of so many values has.
    pub(crate) fn length(&self, count: usize) -> u64 {
        let items = (count - self.fixed.len()) as u64;
        self.items
            .as_ref()
            .map_or(0, |i| items / i.each.len() as u64)
    }

    /// Which value of an object of so many is at a place.
    pub(crate) fn slot(&self, place: Place, count: usize) -> Option<usize> {
        match place {
            Place::Field(key) => self.fixed.iter().position(|f| f.0 == key),
            Place::Item {
                array,
                index: Index::Known(index),
                field,
            } => {
                let items = self.items.as_ref().filter(|i| i.array == array)?;
                let inner = items.each.iter().position(|e| e.0 == field)?;
                let index = usize::try_from(index).ok()?;
                let slot = index.checked_mul(items.each.len())?;
                let slot = slot.checked_add(self.fixed.len() + inner)?;
                (slot < count).then_some(slot)
            }
            Place::Item { .. } | Place::Length(_) => None,
        }
    }

    /// The places and types of all values of an object of so many.
    pub(crate) fn places(&self, count: usize) -> Vec<(Place, LLType)> {
        let fixed = self.fixed.iter().map(|(key, ty)| (Place::Field(*key), *ty));
        let mut places: Vec<_> = fixed.collect();
        for index in 0..self.length(count) {
            let each = self.items.iter().flat_map(|i| {
                let place = |field| Place::Item {
                    array: i.array,
                    index: Index::Known(index),
                    field,
                };
                i.each.iter().map(move |(field, ty)| (place(*field), *ty))
            });
            places.extend(each);
        }
        places
    }
}

impl Items {
    fn of(program: &dyn Program, array: LLType) -> Option<Items> {
        let of = array.as_array()?.of;
        let each = match of.kind() {
            TypeKind::Void => return None,
            TypeKind::Struct(_) => {
                let mut item = Shape {
                    fixed: Vec::new(),
                    items: None,
                };
                item.add_struct(program, of, false)?;
                let fields = item.fixed.into_iter();
                fields.map(|(key, ty)| (Some(key), ty)).collect()
            }
            TypeKind::Array(_) | TypeKind::FixedArray(..) => return None,
            _ => vec![(None, of)],
        };
        let items = Items { array, each };
        (!items.each.is_empty()).then_some(items)
    }
}

/// A step from a container into it.
pub(crate) enum Step<'a> {
    /// To a field.
    Field(&'a str),
    /// To an item.
    Item(Index),
}

/// The place that is some steps away from the start of a container, if it is one that
/// nothing else overlaps.
pub(crate) fn place_at(
    program: &dyn Program,
    container: LLType,
    steps: &[Step<'_>],
    length: bool,
) -> Option<Place> {
    let mut ty = container;
    let mut item: Option<(LLType, Index)> = None;
    for (i, step) in steps.iter().enumerate() {
        let last = i + 1 == steps.len() && !length;
        match (ty.kind(), step) {
            (TypeKind::Struct(_), Step::Field(name)) => {
                let key = find_field(program, ty, name)?;
                let body = program.body(key.0.as_struct()?);
                if body.union {
                    return None;
                }
                ty = body.fields.get(key.1)?.ty;
                if last {
                    let inlined = matches!(
                        ty.kind(),
                        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
                    );
                    return match item {
                        _ if inlined => None,
                        None => Some(Place::Field(key)),
                        Some((array, index)) => Some(Place::Item {
                            array,
                            index,
                            field: Some(key),
                        }),
                    };
                }
                // Of two inlined structs of one type the fields could not be told apart.
                ty.as_array()?;
            }
            (TypeKind::Array(a), Step::Item(index)) if item.is_none() => {
                if last {
                    return Some(Place::Item {
                        array: ty,
                        index: *index,
                        field: None,
                    });
                }
                item = Some((ty, *index));
                ty = a.of;
            }
            _ => return None,
        }
    }
    (length && item.is_none() && ty.as_array().is_some()).then_some(Place::Length(ty))
}

/// Memoized facts about types, shared by all residual functions.
#[derive(Default)]
pub(crate) struct Layouts {
    shapes: RefCell<FxHashMap<LLType, Option<Rc<Shape>>>>,
    fields: RefCell<FxHashMap<LLType, FxHashMap<Box<str>, FieldFacts>>>,
}

/// Facts about one field of a container.
#[derive(Clone, Copy)]
pub(crate) struct FieldFacts {
    /// The result of [`place_at`].
    pub(crate) place: Option<Place>,
    /// It holds a list whose length and items never change.
    pub(crate) frozen_list: bool,
}

impl Layouts {
    /// The shape of objects of a type. None if they are never virtual.
    pub(crate) fn shape(&self, program: &dyn Program, ty: LLType) -> Option<Rc<Shape>> {
        let mut shapes = self.shapes.borrow_mut();
        let shape = shapes
            .entry(ty)
            .or_insert_with(|| Shape::of(program, ty).map(Rc::new));
        shape.clone()
    }

    /// The field of a container with that name.
    pub(crate) fn field(&self, program: &dyn Program, container: LLType, name: &str) -> FieldFacts {
        let mut fields = self.fields.borrow_mut();
        let of_container = fields.entry(container).or_default();
        if let Some(facts) = of_container.get(name) {
            return *facts;
        }
        let facts = FieldFacts {
            place: place_at(program, container, &[Step::Field(name)], false),
            frozen_list: has_frozen_list(program, container, name),
        };
        of_container.insert(name.into(), facts);
        facts
    }
}

/// The field that an operand names.
pub(crate) fn field(a: Option<&Arg>) -> Option<&str> {
    match a {
        Some(Arg::Const(LLConst::Void(VoidConst::Field(name)))) => Some(name),
        _ => None,
    }
}

/// Whether an operation reads the length of an array.
pub(crate) fn reads_length(op: LLOp) -> bool {
    matches!(
        op,
        LLOp::Plain(PlainOp::Getarraysize | PlainOp::Getinteriorarraysize)
    )
}

/// A field of a struct or of one of its bases, by name.
pub(crate) fn find_field(program: &dyn Program, ty: LLType, name: &str) -> Option<FieldKey> {
    let body = program.body(ty.as_struct()?);
    match body.fields.iter().position(|f| &*f.name == name) {
        Some(i) => Some((ty, i)),
        None => find_field(program, body.fields.first()?.ty, name),
    }
}

/// The name of a field.
pub(crate) fn field_name_of(program: &dyn Program, key: FieldKey) -> Option<std::sync::Arc<str>> {
    let body = program.body(key.0.as_struct()?);
    body.fields.get(key.1).map(|f| f.name.clone())
}

/// The field that an object's array is in, for structs that end in one.
pub(crate) fn array_field(program: &dyn Program, ty: LLType) -> Option<std::sync::Arc<str>> {
    let body = program.body(ty.as_struct()?);
    let last = body.fields.last()?;
    last.ty.as_array().map(|_| last.name.clone())
}
