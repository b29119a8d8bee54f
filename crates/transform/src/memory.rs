//! What is known of mutable memory: the places that loads and stores are about, and
//! which values they hold where ways meet.
//!
//! ```text
//! block1(t):                          block1(t):
//!     a = getfield(t, .x)                 a = getfield(t, .x)
//!     switch a                            switch a
//!         False: block2(t)                    False: block2(t)
//!         True: block3(t)                     True: block3(t, True)
//! block2(t):                          block2(t):
//!     u = setfield(t, .x, b)              u = setfield(t, .x, b)
//!     goto block3(t)                      goto block3(t, b)
//! block3(t):                          block3(t, c):
//!     c = getfield(t, .x)
//! ```
//!
//! A load of what every way has at hand becomes an input argument; links that pass
//! constants may then skip the switch that it was for.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use taipan_graph::{
    BlockId, ExitCase, ExitSwitch, Link, LinkId, Operation, VarId, entry_map, find_loops,
};
use taipan_lltype::{
    Accessed, FuncSym, LLConst, LLGraph, LLOperand, LLType, LowLevel, NamedOperands, View,
    VoidConst,
};

use crate::around::{Around, CallAccess, Effect, Part};
use crate::ssa::{constant, type_of};

/// Places up to which they are looked at where ways meet: beyond, merging costs more
/// than it gives.
const MAX_PLACES: usize = 200;

/// A place in memory that a load or store is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) object: LLOperand,
    /// Field names and indexes.
    pub(crate) path: Vec<LLOperand>,
    pub(crate) kind: Kind,
}

/// Which stores may change a place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Kind {
    shape: Shape,
    /// The type of the value there.
    value: LLType,
    /// Outside of the heap, where pointers may be cast.
    raw: bool,
}

/// What part of what a place is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Shape {
    /// A field of a struct type.
    Field(LLType, LLOperand),
    /// Some field of a union.
    Union(LLType),
    /// Items of an array type.
    Items(LLType),
    /// A field of the structs that are the items of an array type, or an item (`true`)
    /// or a field of what is inlined in a struct type.
    Interior(LLType, LLOperand, bool),
    /// The result of a search for a key in a dict of this struct type, with an index of this array type.
    Search(LLType, LLType),
}

/// Name of the field of dicts that holds the index.
const INDEXES: &str = "indexes";

impl Place {
    /// Whether it is the same place all the time: in an object of which the variable is not
    /// among some, at a constant offset.
    pub(crate) fn is_constant(&self, among: impl Fn(VarId) -> bool) -> bool {
        self.object.as_var().is_none_or(|v| !among(v)) && self.has_constant_path()
    }

    fn has_constant_path(&self) -> bool {
        self.path.iter().all(|o| o.as_var().is_none())
    }

    /// Whether it is another place of the same object for certain.
    pub(crate) fn is_beside(&self, other: &Place) -> bool {
        let constant = self.has_constant_path() && other.has_constant_path();
        self.object == other.object && constant && self.path != other.path
    }
}

impl Kind {
    /// The type of the value.
    pub(crate) fn value(&self) -> LLType {
        self.value
    }

    /// Whether it lies outside of the heap.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw
    }

    /// What functions are asked about.
    pub(crate) fn part(&self) -> Part<'_> {
        match &self.shape {
            Shape::Field(ty, LLOperand::Const(LLConst::Void(VoidConst::Field(name)))) => {
                Part::Field(*ty, name)
            }
            Shape::Items(ty) => Part::Items(*ty),
            _ => Part::Other,
        }
    }

    /// The parts of memory that a search depends on; none for other shapes.
    pub(crate) fn index(&self) -> Option<[Part<'static>; 2]> {
        match self.shape {
            Shape::Search(dict, indexes) => {
                Some([Part::Field(dict, INDEXES), Part::Items(indexes)])
            }
            _ => None,
        }
    }

    /// Objects of the heap are what their types say. Raw memory may be seen at any type,
    /// as C programs may for which strict aliasing is off; pointers into objects of the
    /// heap are to values of the type that is there.
    pub(crate) fn may_alias(&self, other: &Kind) -> bool {
        match (self.raw, other.raw) {
            (false, false) => self.shape.overlaps(&other.shape),
            (true, true) => !self.shape.is_other_field(&other.shape),
            _ => self.value == other.value,
        }
    }
}

impl Shape {
    fn overlaps(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Field(_, f), Shape::Interior(_, g, _))
            | (Shape::Interior(_, g, _), Shape::Field(_, f)) => f == g,
            (Shape::Items(_), Shape::Interior(_, _, item))
            | (Shape::Interior(_, _, item), Shape::Items(_)) => *item,
            (Shape::Search(_, indexes), Shape::Items(items))
            | (Shape::Items(items), Shape::Search(_, indexes)) => indexes == items,
            (Shape::Search(dict, _), Shape::Field(ty, LLOperand::Const(name)))
            | (Shape::Field(ty, LLOperand::Const(name)), Shape::Search(dict, _)) => {
                dict == ty && *name == LLConst::field(INDEXES)
            }
            _ => self == other,
        }
    }

    /// Whether both are fields of the same type, but not the same.
    fn is_other_field(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Field(s, f), Shape::Field(t, g))
            | (Shape::Interior(s, f, _), Shape::Interior(t, g, _)) => s == t && f != g,
            _ => false,
        }
    }
}

/// What a load or store is about.
pub(crate) struct Access {
    pub(crate) place: Place,
    /// The value that is stored.
    pub(crate) stored: Option<LLOperand>,
    /// Whether the place never changes after initialisation.
    pub(crate) immutable: bool,
}

/// What a load or store is about; none for other operations.
pub(crate) fn place(g: &LLGraph, op: &Operation<LowLevel>, around: Around<'_>) -> Option<Access> {
    let view = op.view();
    let Accessed {
        object,
        path,
        stored,
    } = view.access()?;
    let container = type_of(g, object).pointee()?;
    let mut immutable = false;
    let shape = match view {
        View::Getfield { field, .. }
        | View::Setfield { field, .. }
        | View::BareSetfield { field, .. } => {
            let body = around.program.body(container.as_struct()?);
            if let LLOperand::Const(LLConst::Void(VoidConst::Field(n))) = field {
                immutable = body.immutable.contains(n)
                    && (!n.starts_with("inst_") || around.believes(container, n, object));
            }
            match body.union {
                true => Shape::Union(container),
                false => Shape::Field(container, field.clone()),
            }
        }
        View::Getarrayitem { .. } | View::Setarrayitem { .. } | View::BareSetarrayitem { .. } => {
            immutable = container.as_array().is_some_and(|a| a.immutable);
            Shape::Items(container)
        }
        _ => {
            let field = path.iter().rfind(|o| is_field(o))?.clone();
            let item = !path.last().is_some_and(is_field);
            Shape::Interior(container, field, item)
        }
    };
    let kind = Kind {
        shape,
        value: match stored {
            Some(v) => type_of(g, v),
            None => *g.ty(op.result),
        },
        raw: !container.is_gc_container(),
    };
    Some(Access {
        place: Place {
            object: object.clone(),
            path: path.to_vec(),
            kind,
        },
        stored: stored.cloned(),
        immutable,
    })
}

/// The place that stands for the result of a search for a key in a dict; none if the dict has no index.
pub(crate) fn searched(g: &LLGraph, op: &Operation<LowLevel>, around: Around<'_>) -> Option<Place> {
    let View::DirectCall { callee, args } = op.view() else {
        return None;
    };
    // The key determines the hash.
    let [dict, key, _, functions @ ..] = args else {
        return None;
    };
    let container = type_of(g, dict).pointee()?;
    let body = around.program.body(container.as_struct()?);
    let indexes = body.fields.iter().find(|f| &*f.name == INDEXES)?.ty;
    let kind = Kind {
        shape: Shape::Search(container, indexes.pointee()?),
        value: *g.ty(op.result),
        raw: false,
    };
    Some(Place {
        object: dict.clone(),
        path: [callee, key]
            .into_iter()
            .chain(functions)
            .cloned()
            .collect(),
        kind,
    })
}

fn is_field(o: &LLOperand) -> bool {
    matches!(o, LLOperand::Const(LLConst::Void(VoidConst::Field(_))))
}

/// What some blocks write.
pub(crate) struct Writes<'a> {
    around: Around<'a>,
    kinds: Vec<Kind>,
    callees: Vec<FuncSym>,
    anything: bool,
}

impl<'a> Writes<'a> {
    /// What these blocks write.
    pub(crate) fn of(g: &LLGraph, blocks: &[BlockId], around: Around<'a>) -> Writes<'a> {
        let mut writes = Writes {
            around,
            kinds: Vec::new(),
            callees: Vec::new(),
            anything: false,
        };
        for op in blocks.iter().flat_map(|b| &g.block(*b).operations) {
            match place(g, op, around) {
                Some(p) if p.stored.is_some() => writes.kinds.push(p.place.kind),
                Some(_) => {}
                None => match around.effect(op) {
                    Effect::None => {}
                    Effect::Calls(fs) => {
                        let new = fs.iter().filter(|f| !writes.callees.contains(f));
                        let new: Vec<FuncSym> = new.cloned().collect();
                        writes.callees.extend(new);
                    }
                    Effect::Anything => writes.anything = true,
                },
            }
        }
        writes
    }

    /// Whether a place of this kind may change.
    pub(crate) fn may_change(&self, kind: &Kind) -> bool {
        self.anything
            || self.kinds.iter().any(|k| k.may_alias(kind))
            || !self.callees.is_empty()
                && self.around.access(&self.callees, kind) == CallAccess::Writes
    }
}

/// What is known of a place.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Held {
    Value(LLOperand),
    /// What each link into a block has for it.
    Merged(BlockId),
}

/// A place by its number in [`Ways`]. Memory is copied at branches and compared where ways meet, places are large.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PlaceId(usize);

/// What places hold at a point of the program.
#[derive(Clone, Default, Debug)]
pub(crate) struct Memory(FxHashMap<PlaceId, Held>);

impl Memory {
    /// Something unknown may have been written anywhere.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A load has found this value.
    pub(crate) fn loaded(&mut self, place: PlaceId, value: LLOperand) {
        self.0.insert(place, Held::Value(value));
    }
}

/// What is known of memory on the links of a graph in SSA form, block after block in
/// an order in which all ways to a block but those back to it come first.
pub(crate) struct Ways<'a> {
    entries: Vec<Vec<LinkId>>,
    /// For links to blocks that others lead to, too.
    on_links: FxHashMap<LinkId, Memory>,
    /// Input arguments that were made of loads.
    made: FxHashMap<(BlockId, PlaceId), VarId>,
    places: IndexSet<Place, FxBuildHasher>,
    /// What loops write, by their headers.
    loops: FxHashMap<BlockId, Writes<'a>>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(g: &LLGraph, around: Around<'a>) -> Ways<'a> {
        let loops = find_loops(g).into_iter();
        Ways {
            entries: entry_map(g),
            on_links: FxHashMap::default(),
            made: FxHashMap::default(),
            places: IndexSet::default(),
            loops: loops
                .map(|l| (l.header, Writes::of(g, &l.blocks, around)))
                .collect(),
        }
    }

    /// The number of a place.
    pub(crate) fn number(&mut self, place: Place) -> PlaceId {
        PlaceId(self.places.insert_full(place).0)
    }

    fn kind(&self, place: PlaceId) -> &Kind {
        &self.places[place.0].kind
    }

    /// One of these functions is called.
    pub(crate) fn called(&self, memory: &mut Memory, fs: &[FuncSym], around: Around<'_>) {
        let writes = |p: &PlaceId| around.access(fs, self.kind(*p)) == CallAccess::Writes;
        memory.0.retain(|p, _| !writes(p));
    }

    /// A store. True if the value was there already.
    pub(crate) fn store(&self, memory: &mut Memory, place: PlaceId, value: LLOperand) -> bool {
        let value = Held::Value(value);
        if memory.0.get(&place) == Some(&value) {
            return true;
        }
        let kind = self.kind(place);
        memory.0.retain(|p, _| !kind.may_alias(self.kind(*p)));
        memory.0.insert(place, value);
        false
    }

    /// Number of links into a block.
    pub(crate) fn entries(&self, b: BlockId) -> usize {
        self.entries[b.index()].len()
    }

    /// Notes what is known when control leaves a block. `value` says what operands are
    /// known to be there.
    pub(crate) fn leave(
        &mut self,
        g: &LLGraph,
        b: BlockId,
        memory: &Memory,
        value: impl Fn(&LLOperand) -> LLOperand,
    ) {
        let block = g.block(b);
        for (exit, link) in block.exits.iter().enumerate() {
            let ends = [g.returnblock, g.exceptblock].contains(&link.target);
            if ends || self.entries(link.target) < 2 || memory.0.len() > MAX_PLACES {
                continue;
            }
            let condition = condition_of(&block.exitswitch, link);
            let known = memory.0.iter().map(|(place, held)| {
                let held = match (held, &condition) {
                    (Held::Value(o), Some((v, c))) if o.as_var() == Some(*v) => {
                        Held::Value(constant(c.clone()))
                    }
                    (Held::Value(o), _) => Held::Value(value(o)),
                    (merged, _) => merged.clone(),
                };
                (*place, held)
            });
            let known = Memory(known.collect());
            self.on_links.insert(LinkId { source: b, exit }, known);
        }
    }

    /// What is known whichever way control came to a block that several links lead to.
    pub(crate) fn enter(&self, g: &LLGraph, b: BlockId) -> Memory {
        let mut known = Memory::default();
        let came: Vec<&Memory> = (self.entries[b.index()].iter())
            .filter_map(|l| self.on_links.get(l))
            .collect();
        let [first, others @ ..] = &came[..] else {
            return known;
        };
        let all = came.len() == self.entries(b);
        if b == g.startblock || b == g.returnblock || b == g.exceptblock {
            return known;
        }
        let writes = match (all, self.loops.get(&b)) {
            (false, None) => return known,
            (_, writes) => writes,
        };
        #[expect(
            clippy::iter_over_hash_type,
            reason = "what is known of a place depends on that place alone"
        )]
        for (place, held) in &first.0 {
            if writes.is_some_and(|w| w.may_change(self.kind(*place))) {
                continue;
            }
            let mut rest = others.iter().map(|m| m.0.get(place));
            if rest.clone().all(|other| other == Some(held)) {
                known.0.insert(*place, held.clone());
            } else if all
                && matches!(held, Held::Value(_))
                && rest.all(|other| matches!(other, Some(Held::Value(_))))
            {
                known.0.insert(*place, Held::Merged(b));
            }
        }
        known
    }

    /// What a place holds, if that is known. May add an input argument of that type to
    /// a block where ways meet.
    pub(crate) fn load(
        &mut self,
        g: &mut LLGraph,
        memory: &mut Memory,
        place: PlaceId,
        ty: LLType,
    ) -> Option<LLOperand> {
        let b = match memory.0.get(&place)? {
            Held::Value(o) => return Some(o.clone()),
            Held::Merged(b) => *b,
        };
        let v = match self.made.get(&(b, place)) {
            Some(v) => *v,
            None => self.make(g, b, place, ty)?,
        };
        memory.loaded(place, v.into());
        Some(v.into())
    }

    fn make(&mut self, g: &mut LLGraph, b: BlockId, place: PlaceId, ty: LLType) -> Option<VarId> {
        let links = &self.entries[b.index()];
        let value = |l: &LinkId| match self.on_links.get(l)?.0.get(&place)? {
            Held::Value(o) => Some(o.clone()),
            Held::Merged(_) => None,
        };
        let values: Vec<LLOperand> = links.iter().map(value).collect::<Option<_>>()?;
        if values.iter().any(|o| type_of(g, o) != ty) {
            return None;
        }
        let v = g.new_var("", ty);
        g.block_mut(b).inputargs.push(v);
        for (l, o) in links.iter().zip(values) {
            g.link_mut(*l).args.push(o);
        }
        self.made.insert((b, place), v);
        Some(v)
    }
}

/// What control going along a link says of the variable that decided it.
pub(crate) fn condition_of(
    exitswitch: &ExitSwitch<LowLevel>,
    link: &Link<LowLevel>,
) -> Option<(VarId, LLConst)> {
    let ExitSwitch::Value(LLOperand::Var(v)) = exitswitch else {
        return None;
    };
    match &link.case {
        ExitCase::Bool(b) => Some((*v, LLConst::Bool(*b))),
        ExitCase::Value(c) => Some((*v, c.clone())),
        _ => None,
    }
}
