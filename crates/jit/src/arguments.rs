//! Virtual arguments of portals: objects that the caller allocates only for the callee.
//!
//! A portal call usually passes a frame that the caller has just allocated and does not use again. Residual code has
//! to allocate it because the callee may be the interpreter:
//!
//! ```text
//! v1 = malloc(Frame)
//! setfield(v1, .depth, 0)
//! v2 = malloc(W_Int)
//! setfield(v2, .value, v0)
//! setfield(v1, .local, v2)
//! v3 = direct_call(&portal, 0, code, v1)
//! ```
//!
//! A compiled callee does not need the objects. A second residual function for the portal takes `v0` and starts with a
//! virtual frame, so the values of the frame are passed in registers. (A tracing compiler does that only within a
//! trace.) The objects are recognised in the residual graph: each must be allocated in the block of the call and have
//! no other uses.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{
    LLConst, LLGraph, LLOperand, LLType, LowLevel, NamedOperands, Program, View, VoidConst,
    const_word,
};

use crate::layout::{Index, MOST_ITEMS, Place, Shape, Step, place_at};

/// Maximum number of values passed instead of objects.
const MOST_VALUES: usize = 16;

/// Maximum number of virtual objects per call.
const MOST_OBJECTS: usize = 16;

/// Shape of the reds of a portal call, some of which are virtual objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualArguments {
    pub(crate) objects: Vec<VirtualObject>,
    /// One for each red.
    pub(crate) reds: Vec<Part>,
    /// Types of the passed values.
    pub(crate) values: Vec<LLType>,
}

impl VirtualArguments {
    /// Types of the values passed instead of the reds.
    pub fn types(&self) -> &[LLType] {
        &self.values
    }
}

/// An object of [`VirtualArguments`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct VirtualObject {
    pub(crate) ty: LLType,
    /// Length of its array; 0 without one.
    pub(crate) length: u64,
    /// Its values, in the order of its [`Shape`].
    pub(crate) fields: Vec<Part>,
}

/// A value of an object, or a red.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// A value that is passed, by number.
    Value(usize),
    /// A constant with its type.
    Known(LLConst, LLType),
    /// An object, by number.
    Object(usize),
}

/// Virtual arguments recognised at one call.
pub struct Built {
    /// Their shape.
    pub arguments: VirtualArguments,
    /// The passed values, as variables of the residual graph.
    pub values: Vec<VarId>,
    /// Indexes of the operations in the block that allocate and fill the objects. Their results have no other uses.
    pub operations: Vec<usize>,
}

/// Recognises virtual arguments of the portal call at index `call` of a block. The last `reds` operands of the call
/// are the reds; `uses` are the use counts of the graph. None if no red is virtual, or if a limit is exceeded.
pub(crate) fn built_arguments(
    program: &dyn Program,
    g: &LLGraph,
    uses: &FxHashMap<VarId, usize>,
    (block, call): (BlockId, usize),
    reds: usize,
) -> Option<Built> {
    let operations = &g.block(block).operations;
    let (before, call) = (&operations[..call], operations.get(call)?);
    let reds = &call.args[call.args.len().checked_sub(reds)?..];
    let mut made = MadeObjects::find(program, g, before);
    made.drop_others(before, reds, uses);
    let mut reader = Reader {
        g,
        made: &made,
        numbers: FxHashMap::default(),
        order: Vec::new(),
        values: Vec::new(),
    };
    let mut parts = Vec::with_capacity(reds.len());
    for red in reds {
        parts.push(reader.part(red)?);
    }
    let mut objects = Vec::new();
    while let Some(v) = reader.order.get(objects.len()).copied() {
        objects.push(reader.object(v)?);
        if objects.len() > MOST_OBJECTS {
            return None;
        }
    }
    if objects.is_empty() || reader.values.len() > MOST_VALUES {
        return None;
    }
    let is_one =
        |v: VarId| (made.object_of(v)).is_some_and(|object| reader.numbers.contains_key(&object));
    let builds = |op: &Operation<LowLevel>| is_one(op.result) || stored_in(op).is_some_and(is_one);
    let numbered = before.iter().enumerate();
    let operations = numbered.filter(|(_, op)| builds(op)).map(|(i, _)| i);
    let operations = operations.collect();
    let types = reader.values.iter().map(|v| *g.ty(*v)).collect();
    Some(Built {
        arguments: VirtualArguments {
            objects,
            reds: parts,
            values: types,
        },
        values: reader.values,
        operations,
    })
}

/// The object of a store.
fn stored_in(op: &Operation<LowLevel>) -> Option<VarId> {
    let access = op.view().access()?;
    access.stored?;
    access.object.as_var()
}

/// An object allocated in the block.
struct MadeObject {
    ty: LLType,
    shape: Shape,
    length: u64,
    /// The stored values; None for fields without a store.
    fields: Vec<Option<LLOperand>>,
}

/// Allocated objects, by result of the allocation.
struct MadeObjects {
    all: FxHashMap<VarId, MadeObject>,
    /// The object of each variable that points to one: results of allocations and casts of them.
    of: FxHashMap<VarId, VarId>,
}

impl MadeObjects {
    fn find(program: &dyn Program, g: &LLGraph, operations: &[Operation<LowLevel>]) -> Self {
        let mut made = MadeObjects {
            all: FxHashMap::default(),
            of: FxHashMap::default(),
        };
        for op in operations {
            match op.view() {
                View::Malloc {
                    ty,
                    flavor,
                    destructor: None,
                } => made.add(program, op.result, (ty, flavor), Some(0)),
                View::MallocVarsize { ty, flavor, length } => {
                    let length = match length {
                        LLOperand::Const(c) => const_word(c).and_then(|n| u64::try_from(n).ok()),
                        LLOperand::Var(_) => None,
                    };
                    made.add(program, op.result, (ty, flavor), length);
                }
                View::CastPointer { value } => {
                    if let Some(object) = value.as_var().and_then(|v| made.object_of(v)) {
                        made.of.insert(op.result, object);
                    }
                }
                _ => made.store(program, g, op),
            }
        }
        made
    }

    fn add(
        &mut self,
        program: &dyn Program,
        result: VarId,
        (ty, flavor): (&LLOperand, &LLOperand),
        length: Option<u64>,
    ) {
        let (LLOperand::Const(LLConst::Void(VoidConst::Type(ty))), Some(length)) = (ty, length)
        else {
            return;
        };
        let LLOperand::Const(LLConst::Void(VoidConst::Flavor { gc: true, .. })) = flavor else {
            return;
        };
        let Some(shape) = Shape::of(program, *ty).filter(|_| length <= MOST_ITEMS) else {
            return;
        };
        let object = MadeObject {
            ty: *ty,
            length,
            fields: vec![None; shape.count(length)],
            shape,
        };
        self.all.insert(result, object);
        self.of.insert(result, result);
    }

    fn object_of(&self, v: VarId) -> Option<VarId> {
        self.of.get(&v).copied()
    }

    /// Records a store into an object. Removes the object if the place of the store is unknown.
    fn store(&mut self, program: &dyn Program, g: &LLGraph, op: &Operation<LowLevel>) {
        let Some(object) = stored_in(op).and_then(|v| self.object_of(v)) else {
            return;
        };
        let place = place_of_store(program, g, op);
        let Some(made) = self.all.get_mut(&object) else {
            return;
        };
        let count = made.fields.len();
        let slot = place.and_then(|(place, _)| made.shape.slot(place, count));
        match (slot, place) {
            (Some(slot), Some((_, value))) => made.fields[slot] = Some(value.clone()),
            _ => _ = self.all.remove(&object),
        }
    }

    /// Removes objects with other uses than stores into them, stores of them into remaining objects, and the call.
    /// Iterates, since a removal adds uses to the objects stored in the removed one.
    fn drop_others(
        &mut self,
        before: &[Operation<LowLevel>],
        reds: &[LLOperand],
        uses: &FxHashMap<VarId, usize>,
    ) {
        loop {
            let mut known: FxHashMap<VarId, usize> = FxHashMap::default();
            let mut uses_it = |o: &LLOperand| {
                if let Some(v) = o.as_var().filter(|v| self.of.contains_key(v)) {
                    *known.entry(v).or_default() += 1;
                }
            };
            for op in before {
                match op.view() {
                    View::CastPointer { value } => uses_it(value),
                    view => {
                        let Some(access) = view.access() else {
                            continue;
                        };
                        let object = access.object.as_var().and_then(|v| self.object_of(v));
                        if let (Some(value), Some(object)) = (access.stored, object)
                            && self.all.contains_key(&object)
                        {
                            uses_it(access.object);
                            uses_it(value);
                        }
                    }
                }
            }
            reds.iter().for_each(&mut uses_it);
            let count = |of: &FxHashMap<VarId, usize>, v: &VarId| of.get(v).copied().unwrap_or(0);
            let others: FxHashSet<VarId> = (self.of.iter())
                .filter(|(v, _)| count(uses, v) != count(&known, v))
                .map(|(_, object)| *object)
                .collect();
            let before = self.all.len();
            self.all.retain(|object, _| !others.contains(object));
            if self.all.len() == before {
                break;
            }
        }
        self.of.retain(|_, object| self.all.contains_key(object));
    }
}

/// Place and value of a store.
fn place_of_store<'a>(
    program: &dyn Program,
    g: &LLGraph,
    op: &'a Operation<LowLevel>,
) -> Option<(Place, &'a LLOperand)> {
    let access = op.view().access()?;
    let container = g.ty(access.object.as_var()?).pointee()?;
    let steps = access.path.iter().map(|step| match step {
        LLOperand::Const(LLConst::Void(VoidConst::Field(name))) => Some(Step::Field(name)),
        LLOperand::Const(c) => Some(Step::Item(Index::Known(
            u64::try_from(const_word(c)?).ok()?,
        ))),
        LLOperand::Var(_) => None,
    });
    let steps: Vec<Step<'_>> = steps.collect::<Option<_>>()?;
    let place = place_at(program, container, &steps, false)?;
    Some((place, access.stored?))
}

/// State of the conversion to [`VirtualArguments`].
struct Reader<'a> {
    g: &'a LLGraph,
    made: &'a MadeObjects,
    /// Numbers of the objects reached so far.
    numbers: FxHashMap<VarId, usize>,
    order: Vec<VarId>,
    values: Vec<VarId>,
}

impl Reader<'_> {
    fn part(&mut self, o: &LLOperand) -> Option<Part> {
        Some(match o {
            LLOperand::Const(LLConst::Void(_)) => return None,
            LLOperand::Const(c) => Part::Known(c.clone(), c.ty()),
            LLOperand::Var(v) => match self.made.object_of(*v) {
                Some(object) => {
                    let next = self.order.len();
                    let number = *self.numbers.entry(object).or_insert(next);
                    if number == next {
                        self.order.push(object);
                    }
                    Part::Object(number)
                }
                None if self.g.ty(*v).is_void() => return None,
                None => match self.values.iter().position(|other| other == v) {
                    Some(number) => Part::Value(number),
                    None => {
                        self.values.push(*v);
                        Part::Value(self.values.len() - 1)
                    }
                },
            },
        })
    }

    fn object(&mut self, v: VarId) -> Option<VirtualObject> {
        let made = self.made.all.get(&v)?;
        let mut fields = Vec::with_capacity(made.fields.len());
        for (value, (_, ty)) in made.fields.iter().zip(made.shape.places(made.fields.len())) {
            fields.push(match value {
                Some(value) => self.part(value)?,
                // Pointers in new memory are null.
                None if ty.is_gc_ptr() => Part::Known(LLConst::Null(ty), ty),
                None => return None,
            });
        }
        Some(VirtualObject {
            ty: made.ty,
            length: made.length,
            fields,
        })
    }
}
