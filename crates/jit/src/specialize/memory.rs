//! Reads and writes of memory: of objects that exist while compiling only, and of others
//! by what is known of them.

use std::rc::Rc;

use std::sync::Arc;

use smallvec::SmallVec;
use taipan_lltype::{
    Accessed, HeapError, LLConst, LLOp, LLOperand, LLType, PlainOp, SIGNED, StructBody, VOID, View,
    VoidConst,
};

use super::{Failure, Specializer};
use crate::binding::Frozen;
use crate::code::{Arg, TsGraph, TsOp};
use crate::heap::Known;
use crate::layout::{
    Index, MOST_ITEMS, Place, Shape, Step, array_field, field, field_name_of, place_at,
    reads_length,
};
use crate::own_lists::items_of;
use crate::state::{
    BoxId, Content, FieldKey, GenVar, JitState, OwnField, Owner, RedBox, Val, VirtualId,
    VirtualStruct, Word,
};
use crate::world::World;

/// So many items are copied one by one, where that saves making an array.
const MOST_COPIES: u64 = 8;

/// What an operation reads or writes.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// Where; none if it is not known what else lies there.
    pub(super) place: Option<Place>,
    /// Through a pointer into an object.
    interior: bool,
}

impl Specializer<'_> {
    /// What the operands after the pointer lead to.
    pub(super) fn access(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: LLOp,
        object: &Arg,
        path: &[Arg],
    ) -> Access {
        let Some(container) = self.pointee_of(state, object) else {
            return Access {
                place: None,
                interior: true,
            };
        };
        let interior = !container.is_gc_container();
        if let ([only], false) = (path, reads_length(op))
            && let Some(name) = field(Some(only))
        {
            let place = self.layouts.field(self.program, container, name).place;
            return Access { place, interior };
        }
        let mut steps: SmallVec<[Step<'_>; 2]> = SmallVec::new();
        for a in path {
            steps.push(match field(Some(a)) {
                Some(name) => Step::Field(name),
                None => Step::Item(self.index(world, state, a)),
            });
        }
        Access {
            place: place_at(self.program, container, &steps, reads_length(op)),
            interior,
        }
    }

    /// The index that an operand is.
    fn index(&mut self, world: &mut dyn World, state: &JitState, a: &Arg) -> Index {
        if let Some(word) = self.known_arg(world, state, a) {
            return u64::try_from(word).map_or(Index::Unknown, Index::Known);
        }
        match a {
            Arg::Slot(s)
                if self.of_driver
                    && let Val::Red(b) = state.frame().values.get(*s)
                    && state.get(b).ty == *SIGNED =>
            {
                let (base, n) = state.sum_of(b);
                Index::Sum(base, n)
            }
            _ => Index::Unknown,
        }
    }

    /// An index as an operand of residual code.
    fn index_operand(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        index: Index,
    ) -> LLOperand {
        match index {
            Index::Known(i) => LLOperand::Const(LLConst::signed(i as i64)),
            Index::Sum(base, n) => {
                let b = self.sum(state, base, n).unwrap_or(base);
                self.operand(world, state, b)
            }
            Index::Unknown => LLOperand::Const(LLConst::signed(0)),
        }
    }

    pub(super) fn read(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
        read: LLOp,
        constant: bool,
    ) -> Result<(), Failure> {
        let info = &graph.slots[op.result as usize];
        if info.ty.is_void() {
            state.frame_mut().values.set(op.result, Val::Green(0));
            return Ok(());
        }
        let (object, path) = op.read_place().ok_or("no read")?;
        let pointer = self.red_arg(world, state, graph, object);
        let container = self
            .pointee_of(state, object)
            .ok_or("a read of what is no object")?;
        let promised = state.get(pointer).frozen;
        let constant = constant || promised.reads_constant();
        if constant
            && let Some(at) = state.known(pointer).filter(|p| *p != 0)
            && let Some(w) = self.read_now(world, state, (at, container), path, read)
        {
            let frozen = self.promised(promised, container, field(path.first()), info.ty);
            if info.green || frozen == Frozen::No {
                self.set(state, graph, op, Val::Green(w));
            } else {
                let b = state.constant(w, info.ty);
                state.get_mut(b).frozen = frozen;
                self.set(state, graph, op, Val::Red(b));
            }
            return Ok(());
        }
        state.learn_nonzero(pointer, true);
        let access = self.access(world, state, read, object, path);
        // What never changes is there whatever object it is.
        let certain = access
            .place
            .filter(|p| self.keeps_facts(state, pointer, *p));
        let place = certain.filter(|_| constant || !access.interior);
        if let Some(b) = place.and_then(|p| self.known_value(state, pointer, p)) {
            self.learn_owner(state, pointer, place, b);
            self.set(state, graph, op, Val::Red(b));
            return Ok(());
        }
        let operands = self.generated_operands(world, state, graph, op);
        if !constant {
            self.write_pending(world, state, |state, k| reaches(state, k, pointer, access));
        }
        let v = self.residual.op(state.at, read.view(&operands), info.ty);
        let b = state.variable(v, info.ty);
        self.learn_owner(state, pointer, access.place, b);
        if let Some(place) = place {
            if !constant {
                self.learn_value(state, pointer, place, b);
            } else if state.known(pointer).is_none()
                && place.base().is_none()
                && (self.touches.is_some() || matches!(place, Place::Field(_)))
            {
                state.learn_constant(pointer, place, b);
            }
        }
        self.set(state, graph, op, Val::Red(b));
        Ok(())
    }

    /// What is promised of the memory behind a pointer that was read: deep promises are for
    /// that as well, those about a list only for its array.
    pub(super) fn promised(
        &self,
        of: Frozen,
        container: LLType,
        name: Option<&str>,
        ty: LLType,
    ) -> Frozen {
        let inner = match of {
            Frozen::Deep => Frozen::Deep,
            _ => Frozen::No,
        };
        let array = ty.pointee().is_some_and(|t| t.as_array().is_some());
        let facts = |n| self.layouts.field(self.program, container, n);
        let list = name.is_some_and(|n| facts(n).frozen_list);
        match list || (of == Frozen::List && array) {
            true => inner.max(Frozen::List),
            false => inner,
        }
    }

    /// The object that a field was read from whose value is to be made known, if it is known.
    pub(super) fn known_source(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: &TsOp,
    ) -> Option<Word> {
        let [_, object, _] = &op.args[..] else {
            return None;
        };
        self.known_arg(world, state, object)
    }

    /// Learns what the field that a known value was read from promises of the memory behind it:
    /// that of the list of `x?[*]` does not change.
    pub(super) fn learn_promise(&self, state: &mut JitState, op: &TsOp, value: BoxId) {
        let [_, object, name] = &op.args[..] else {
            return;
        };
        let ty = state.get(value).ty;
        if let (Some(container), true) = (self.pointee_of(state, object), ty.pointee().is_some()) {
            let frozen = self.promised(Frozen::No, container, field(Some(name)), ty);
            let red = state.get_mut(value);
            red.frozen = red.frozen.max(frozen);
        }
    }

    /// What memory holds that does not change.
    fn read_now(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        (object, container): (Word, LLType),
        path: &[Arg],
        read: LLOp,
    ) -> Option<Word> {
        let mut at = object as u64;
        let mut ty = container;
        for a in path {
            let step: Result<(u64, LLType), HeapError> = match field(Some(a)) {
                Some(name) => world.memory().field(at, ty, name),
                None => {
                    let index = self.known_arg(world, state, a)?;
                    let index = u64::try_from(index).ok()?;
                    world.memory().item(at, ty, index)
                }
            };
            if let Err(HeapError::OutOfBounds(_)) = step {
                state.doubtful |= self.of_driver;
            }
            (at, ty) = step.ok()?;
        }
        match read {
            LLOp::Plain(PlainOp::Getarraysize | PlainOp::Getinteriorarraysize) => {
                world.memory().array_length(at, ty).ok().map(Word::from)
            }
            _ => world.memory().load_word(at, ty).ok(),
        }
    }

    /// The value in a place of an object, if it is known.
    pub(super) fn known_value(
        &self,
        state: &mut JitState,
        object: BoxId,
        place: Place,
    ) -> Option<BoxId> {
        match &state.get(object).content {
            Content::Virtual(v) => {
                let of = &state.virtuals[v.0 as usize];
                let (ty, count) = (of.ty, of.fields.len());
                let shape = self.shape(ty)?;
                if let Place::Length(array) = place {
                    shape.items.as_ref().filter(|i| i.array == array)?;
                    return Some(state.constant(Word::from(shape.length(count)), *SIGNED));
                }
                let slot = shape.slot(place, count)?;
                Some(state.virtuals[v.0 as usize].fields[slot])
            }
            Content::Partial(fields) => (fields.iter().find(|f| f.0 == place))
                .map(|f| f.1)
                .or_else(|| state.recall(object, place)),
            Content::None => state.recall(object, place),
        }
    }

    /// Learns what is in a place that may change.
    fn learn_value(&self, state: &mut JitState, object: BoxId, place: Place, value: BoxId) {
        if self.touches.is_some() {
            let kept = self.is_kept(state, object, place);
            self.remember(
                state,
                Known {
                    object,
                    place,
                    value,
                    pending: false,
                    kept,
                    list: self.holds_list(place),
                },
            );
        }
    }

    fn remember(&self, state: &mut JitState, fact: Known) {
        self.learn_owner(state, fact.object, Some(fact.place), fact.value);
        state.remember(fact);
    }

    /// Learns the owner of a list from the place that holds it. A pointer in a place that owns no list, erased pointers
    /// included, has the owner `Elsewhere`.
    fn learn_owner(&self, state: &mut JitState, object: BoxId, place: Option<Place>, value: BoxId) {
        let red = state.get(value);
        if red.owner != Owner::Unknown || !red.ty.is_gc_ptr() {
            return;
        }
        let is_list = red.ty.pointee().and_then(items_of).is_some();
        let owner = match place {
            None => return,
            // The array of items of a list that grows, or the list of an iterator.
            Some(Place::Field((container, _))) if items_of(container).is_some() => {
                state.get(object).owner
            }
            Some(Place::Field(key)) if is_list && self.names_field(key, |body| &body.own_lists) => {
                Owner::Field(OwnField::of(key))
            }
            Some(_) => Owner::Elsewhere,
        };
        state.get_mut(value).owner = owner;
    }

    /// Whether facts about a place are recorded. Items of a virtualizable's list need a constant index.
    fn keeps_facts(&self, state: &JitState, object: BoxId, place: Place) -> bool {
        place.is_certain()
            && (place.base().is_none() || !self.is_list_of_virtualizable(state, object))
    }

    /// Whether a place belongs to a virtualizable: what is there is kept in variables until
    /// other code may look.
    fn is_kept(&self, state: &JitState, object: BoxId, place: Place) -> bool {
        match place {
            Place::Field(key) => self.is_virtualizable(key, false),
            Place::Item { .. } => self.is_list_of_virtualizable(state, object),
            Place::Length(_) => false,
        }
    }

    /// Whether a field of a virtualizable holds the list, marked `[*]`.
    pub(super) fn is_list_of_virtualizable(&self, state: &JitState, list: BoxId) -> bool {
        let mut facts = state.heap.known.iter();
        facts.any(|k| k.list && state.is_same(k.value, list))
    }

    /// Whether a place is a field of a virtualizable with a list marked `[*]`.
    fn holds_list(&self, place: Place) -> bool {
        match place {
            Place::Field(key) => self.is_virtualizable(key, true),
            _ => false,
        }
    }

    /// Whether a field is one of a virtualizable, or one with a list whose items are.
    fn is_virtualizable(&self, key: FieldKey, list: bool) -> bool {
        match list {
            true => self.names_field(key, |body| &body.virtualizable_lists),
            false => self.names_field(key, |body| &body.virtualizable),
        }
    }

    /// Whether a field is among those that its struct says something of.
    fn names_field(&self, key: FieldKey, said: impl Fn(&StructBody) -> &Vec<Arc<str>>) -> bool {
        let body = (key.0.as_struct()).map(|s| self.program.body(s));
        body.is_some_and(|body| {
            let names = said(&body);
            !names.is_empty() && names.contains(&body.fields[key.1].name)
        })
    }

    pub(super) fn write(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
        plain: LLOp,
    ) -> Result<(), Failure> {
        state.frame_mut().values.set(op.result, Val::Green(0));
        let Some(Accessed {
            object,
            path,
            stored: Some(value),
        }) = op.view().and_then(View::access)
        else {
            return Err("a write of nothing".into());
        };
        if self.arg_ty(state, value).is_void() {
            return Ok(());
        }
        let pointer = self.red_arg(world, state, graph, object);
        let value = self.red_arg(world, state, graph, value);
        state.learn_nonzero(pointer, true);
        let access = self.access(world, state, plain, object, path);
        let place =
            (access.place).filter(|p| self.keeps_facts(state, pointer, *p) && !access.interior);
        if let Some(place) = place {
            if self.write_virtual(state, pointer, place, value) {
                return Ok(());
            }
            let old = self.known_value(state, pointer, place);
            if old.is_some_and(|old| state.is_same(old, value)) {
                return Ok(());
            }
        }
        if let Some(place) = place
            && self.touches.is_some()
        {
            let kept = self.is_kept(state, pointer, place);
            if kept || self.may_wait(state, pointer, place, value) {
                // A symbolic index may equal that of another fact about the object.
                let reached = |state: &JitState, k: &Known| {
                    let replaced = k.place == place && state.is_same(k.object, pointer);
                    reaches(state, k, pointer, access) && !replaced
                };
                self.write_pending(world, state, reached);
                state.forget(reached);
                state.forget_constant(pointer, place);
                let list = self.holds_list(place);
                let fact = Known {
                    object: pointer,
                    place,
                    value,
                    pending: true,
                    kept,
                    list,
                };
                self.remember(state, fact);
                return Ok(());
            }
            state.drop_pending(pointer, place);
        }
        let operands = self.generated_operands(world, state, graph, op);
        self.write_pending(world, state, |state, k| reaches(state, k, pointer, access));
        state.forget(|state, k| reaches(state, k, pointer, access));
        state.escapes(value);
        self.before_write(world, state, pointer, place, &operands);
        self.residual.op(state.at, plain.view(&operands), *VOID);
        if let Some(place) = place {
            state.forget_constant(pointer, place);
            self.learn_value(state, pointer, place, value);
        }
        Ok(())
    }

    /// Writes to an object that exists while compiling only. False if it is none, or if it
    /// has no such place.
    fn write_virtual(
        &self,
        state: &mut JitState,
        object: BoxId,
        place: Place,
        value: BoxId,
    ) -> bool {
        let Content::Virtual(v) = state.get(object).content else {
            return false;
        };
        let object = &mut state.virtuals[v.0 as usize];
        let slot = self
            .shape(object.ty)
            .and_then(|shape| shape.slot(place, object.fields.len()));
        match slot {
            Some(slot) => {
                object.fields[slot] = value;
                true
            }
            None => false,
        }
    }

    // What other code may see and do.

    /// Writes what is pending.
    pub(super) fn write_pending(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        which: impl Fn(&JitState, &Known) -> bool,
    ) {
        loop {
            let found = state.heap.known.iter();
            let mut found = found
                .enumerate()
                .filter(|(_, k)| k.pending && which(state, k));
            let Some((i, fact)) = found.next().map(|(i, k)| (i, *k)) else {
                return;
            };
            state.heap.known[i].pending = false;
            self.store(world, state, fact.object, fact.place, fact.value, None);
        }
    }

    /// Writes everything that is pending: other code goes on.
    pub(super) fn write_all_pending(&mut self, world: &mut dyn World, state: &mut JitState) {
        self.write_pending(world, state, |_, _| true);
    }

    /// Writes some of what is pending.
    pub(super) fn write_these(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        facts: &[Known],
    ) {
        self.write_pending(world, state, |_, k| facts.contains(k));
    }

    /// Writes what is pending in objects that nothing else in the state leads to: other
    /// states could not tell which ones these are.
    pub(super) fn write_unreachable(&mut self, world: &mut dyn World, state: &mut JitState) {
        if !state.heap.known.iter().any(|k| k.pending) {
            return;
        }
        let reached = state.reached(false);
        // What a write makes is a new box, which nothing led to.
        let is_reached = |b: BoxId| reached.get(b.0 as usize) == Some(&true);
        self.write_pending(world, state, |_, k| !is_reached(k.object));
    }

    /// Reads what another state knows of a virtualizable. False if that is not possible.
    pub(super) fn read_missing(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        object: BoxId,
        place: Place,
    ) -> bool {
        let real = state.get(object).var.is_some() && state.get(object).nonzero;
        let exists = match place {
            Place::Item { array, index, .. } => {
                let length = self.known_value(state, object, Place::Length(array));
                let length = length.and_then(|b| state.known(b));
                match (length, index) {
                    (Some(length), Index::Known(i)) => Word::from(i) < length,
                    _ => false,
                }
            }
            _ => true,
        };
        let (true, Some(ty)) = (real && exists, self.type_at(place)) else {
            return false;
        };
        self.load(world, state, object, place, ty, None).is_ok()
    }

    /// The shape of objects of a type. None if they are never virtual.
    pub(super) fn shape(&self, ty: LLType) -> Option<Rc<Shape>> {
        self.layouts.shape(self.program, ty)
    }

    /// Generates a write.
    fn store(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        object: BoxId,
        place: Place,
        value: BoxId,
        container: Option<LLType>,
    ) {
        let name = |n: std::sync::Arc<str>| LLOperand::Const(LLConst::Void(VoidConst::Field(n)));
        self.because(|s| {
            let place = match place {
                Place::Field(key) => field_name_of(s.program, key),
                _ => None,
            };
            let place = place.unwrap_or_else(|| "items".into());
            let ty = state.get(object).ty.pointee().map(crate::notes::type_name);
            format!("stored into {place} of {}", ty.unwrap_or_default())
        });
        let (op, ty, at) = match place {
            Place::Field(key) => {
                let Some(n) = field_name_of(self.program, key) else {
                    return;
                };
                (PlainOp::Setfield, key.0.ptr(), vec![name(n)])
            }
            Place::Item {
                array,
                index: i,
                field: inner,
            } => {
                let own = self.item_pointer(state, object, array, container);
                let own = own.unwrap_or(state.get(object).ty);
                let mut at = Vec::new();
                // Of a struct that ends in an array, or one of its subtypes.
                at.extend(
                    own.pointee()
                        .and_then(|c| array_field(self.program, c))
                        .map(name),
                );
                at.push(self.index_operand(world, state, i));
                if let Some(n) = inner.and_then(|key| field_name_of(self.program, key)) {
                    at.push(name(n));
                }
                match at.len() {
                    1 => (PlainOp::Setarrayitem, own, at),
                    _ => (PlainOp::Setinteriorfield, own, at),
                }
            }
            Place::Length(_) => return,
        };
        let pointer = self.typed_operand(world, state, object, ty);
        let wanted = self.type_at(place);
        let operand = match wanted {
            Some(ty) => self.typed_operand(world, state, value, ty),
            None => self.operand(world, state, value),
        };
        state.escapes(value);
        let mut operands = vec![pointer];
        operands.extend(at);
        operands.push(operand);
        self.before_write(world, state, object, Some(place), &operands);
        self.residual.op(state.at, op.view(&operands), *VOID);
    }

    /// The type of what is in a place.
    pub(super) fn type_at(&self, place: Place) -> Option<LLType> {
        match place {
            Place::Field(key)
            | Place::Item {
                field: Some(key), ..
            } => {
                let body = self.program.body(key.0.as_struct()?);
                body.fields.get(key.1).map(|f| f.ty)
            }
            Place::Item { array, .. } => array.as_array().map(|a| a.of),
            Place::Length(_) => Some(*SIGNED),
        }
    }

    // Copies.

    /// Copies items. False if nothing is known of them, and they are copied at run time.
    pub(super) fn copy_items(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Result<(), Failure> {
        state.frame_mut().values.set(op.result, Val::Green(0));
        let Some(View::GcCopyArray {
            source,
            dest,
            source_start,
            dest_start,
            length,
        }) = op.view()
        else {
            return Err("no copy".into());
        };
        let numbers = [source_start, dest_start, length].map(|a| {
            let word = self.known_arg(world, state, a);
            word.and_then(|w| u64::try_from(w).ok())
        });
        let container = self.pointee_of(state, dest).ok_or("no array")?;
        let source = self.red_arg(world, state, graph, source);
        let target = self.red_arg(world, state, graph, dest);
        let shape = self.shape(container);
        let items = shape.as_ref().and_then(|s| s.items.as_ref());
        if let ([Some(i), Some(j), Some(n)], Some(items)) = (&numbers, items) {
            let is_virtual = |b| matches!(state.get(b).content, Content::Virtual(_));
            let (from, into) = (is_virtual(source), is_virtual(target));
            let few = *n <= MOST_COPIES;
            if *n == 0 || (from && into) || (few && (from || into)) {
                let (from, into) = ((source, *i), (target, *j));
                return self.copy_known(world, state, from, into, *n, (container, items));
            }
        }
        let operands = self.generated_operands(world, state, graph, op);
        let array = match container.as_array() {
            Some(_) => Some(container),
            None => (self.program)
                .body(container.as_struct().ok_or("no array")?)
                .fields
                .last()
                .map(|f| f.ty),
        };
        let copied = |k: &Known| match k.place {
            Place::Item { array: of, .. } => Some(of) == array,
            _ => false,
        };
        self.write_pending(world, state, |_, k| copied(k));
        state.forget(|state, k| copied(k) && state.may_be_same(k.object, target));
        let copy = PlainOp::GcCopyArray;
        self.residual.op(state.at, copy.view(&operands), *VOID);
        Ok(())
    }

    /// Copies items one by one.
    fn copy_known(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        (source, i): (BoxId, u64),
        (target, j): (BoxId, u64),
        n: u64,
        (container, items): (LLType, &crate::layout::Items),
    ) -> Result<(), Failure> {
        let place = |index, field| Place::Item {
            array: items.array,
            index: Index::Known(index),
            field,
        };
        let mut values = Vec::new();
        for k in 0..n {
            for (field, ty) in &items.each {
                let at = place(i + k, *field);
                let value = match self.known_value(state, source, at) {
                    Some(b) => b,
                    None => self.load(world, state, source, at, *ty, Some(container))?,
                };
                values.push((place(j + k, *field), value));
            }
        }
        for (at, value) in values {
            if self.write_virtual(state, target, at, value) {
                continue;
            }
            let access = Access {
                place: Some(at),
                interior: false,
            };
            self.write_pending(world, state, |state, k| reaches(state, k, target, access));
            state.forget(|state, k| reaches(state, k, target, access));
            self.store(world, state, target, at, value, Some(container));
            self.learn_value(state, target, at, value);
        }
        Ok(())
    }

    /// Fills an array as a helper of lists does. False if that is left to the helper.
    pub(super) fn fill_items(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        args: &[Arg],
    ) -> bool {
        let [items, count, item] = args else {
            return false;
        };
        let array = self.red_arg(world, state, graph, items);
        let known = self.known_arg(world, state, count);
        let (Content::Virtual(_), Some(count)) = (&state.get(array).content, known) else {
            return false;
        };
        let Some(container) = self.pointee_of(state, items) else {
            return false;
        };
        let item = self.red_arg(world, state, graph, item);
        (0..count).all(|i| {
            let place = Place::Item {
                array: container,
                index: Index::Known(i as u64),
                field: None,
            };
            self.write_virtual(state, array, place, item)
        })
    }

    /// Type of pointers to an object by which items of an array are read and written: the object is the array, or a
    /// struct that ends in it. Of an object that was erased (`GCREF`) the operation may know more than the object.
    fn item_pointer(
        &self,
        state: &JitState,
        object: BoxId,
        array: LLType,
        known: Option<LLType>,
    ) -> Option<LLType> {
        let own = state.get(object).ty;
        let holds = |t: LLType| t == array || array_field(self.program, t).is_some();
        let (Some(container), gc) = (own.pointee(), array.as_array()?.gc) else {
            return None;
        };
        if holds(container) {
            return Some(own);
        }
        known.or(gc.then_some(array)).map(LLType::ptr)
    }

    /// Generates a read. `container` is what the operation takes the object for.
    fn load(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        object: BoxId,
        place: Place,
        ty: LLType,
        container: Option<LLType>,
    ) -> Result<BoxId, Failure> {
        let name = |n: std::sync::Arc<str>| LLOperand::Const(LLConst::Void(VoidConst::Field(n)));
        let (op, at_type, at) = match place {
            Place::Field(key) => {
                let n = field_name_of(self.program, key).ok_or("no field")?;
                (PlainOp::Getfield, key.0.ptr(), vec![name(n)])
            }
            Place::Item {
                array,
                index,
                field: inner,
            } => {
                let index = self.index_operand(world, state, index);
                let own = self
                    .item_pointer(state, object, array, container)
                    .ok_or("no array")?;
                let mut at = Vec::new();
                // Of a struct that ends in an array.
                at.extend(
                    own.pointee()
                        .and_then(|c| array_field(self.program, c))
                        .map(name),
                );
                at.push(index);
                if let Some(key) = inner {
                    at.push(name(field_name_of(self.program, key).ok_or("no field")?));
                }
                match at.len() {
                    1 => (PlainOp::Getarrayitem, own, at),
                    _ => (PlainOp::Getinteriorfield, own, at),
                }
            }
            Place::Length(_) => return Err("a length is read by itself".into()),
        };
        let access = Access {
            place: Some(place),
            interior: false,
        };
        self.write_pending(world, state, |state, k| reaches(state, k, object, access));
        let mut operands = vec![self.typed_operand(world, state, object, at_type)];
        operands.extend(at);
        let v = self.residual.op(state.at, op.view(&operands), ty);
        let b = state.variable(v, ty);
        self.learn_value(state, object, place, b);
        Ok(b)
    }

    // Objects that exist while compiling only.

    /// A new array, or a struct that ends in one: virtual if its length is known and small.
    pub(super) fn malloc_varsize(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
        ty: LLType,
    ) {
        let Some(View::MallocVarsize { length: count, .. }) = op.view() else {
            return;
        };
        let length = self.known_arg(world, state, count);
        let length = length.and_then(|n| u64::try_from(n).ok());
        let shape = self.shape(ty);
        if let (Some(n), Some(_)) = (length.filter(|n| *n <= MOST_ITEMS), &shape) {
            let b = self.new_virtual(state, ty, n);
            self.set(state, graph, op, Val::Red(b));
            return;
        }
        let operands = self.generated_operands(world, state, graph, op);
        let info = &graph.slots[op.result as usize];
        let malloc = PlainOp::MallocVarsize;
        let v = self.residual.op(state.at, malloc.view(&operands), info.ty);
        let b = state.variable(v, info.ty);
        state.get_mut(b).nonzero = true;
        state.heap.fresh.push(b);
        if let Some(items) = shape
            .as_ref()
            .and_then(|s| s.items.as_ref())
            .filter(|_| self.touches.is_some())
        {
            let length = self.red_arg(world, state, graph, count);
            state.learn_constant(b, Place::Length(items.array), length);
        }
        self.set(state, graph, op, Val::Red(b));
    }

    /// An object that exists while compiling only; `length` is that of its array.
    pub(super) fn new_virtual(&self, state: &mut JitState, ty: LLType, length: u64) -> BoxId {
        let places = match self.shape(ty) {
            Some(shape) => shape.places(shape.count(length)),
            None => Vec::new(),
        };
        let fields = places.into_iter().map(|(_, ty)| state.constant(0, ty));
        let fields = fields.collect();
        let number = VirtualId(state.virtuals.len() as u32);
        let own = state.add(RedBox {
            ty: ty.ptr(),
            var: None,
            nonzero: true,
            content: Content::Virtual(number),
            fact: None,
            frozen: Frozen::No,
            owner: Owner::Unknown,
        });
        state.virtuals.push(VirtualStruct { ty, fields, own });
        own
    }

    /// Makes an object that existed while compiling only.
    pub(super) fn force(&mut self, world: &mut dyn World, state: &mut JitState, b: BoxId) {
        let Content::Virtual(v) = state.get(b).content else {
            return;
        };
        let object = state.virtuals[v.0 as usize].clone();
        let Some(shape) = self.shape(object.ty) else {
            return;
        };
        let flavor = VoidConst::Flavor {
            gc: true,
            zero: false,
        };
        let [of, flavor] =
            [VoidConst::Type(object.ty), flavor].map(|c| LLOperand::Const(LLConst::Void(c)));
        let count = object.fields.len();
        let length = LLOperand::Const(LLConst::signed(shape.length(count) as i64));
        let malloc = match &shape.items {
            Some(_) => View::MallocVarsize {
                ty: &of,
                flavor: &flavor,
                length: &length,
            },
            None => View::Malloc {
                ty: &of,
                flavor: &flavor,
                destructor: None,
            },
        };
        let ty = object.ty.ptr();
        let why = self.note_forced(state.at, object.ty);
        let new = self.residual.op(state.at, malloc, ty);
        let own = state.get_mut(object.own);
        own.var = Some(GenVar::Var(new));
        own.content = Content::None;
        state.heap.fresh.push(object.own);
        if let Some(items) = shape.items.as_ref().filter(|_| self.touches.is_some()) {
            let length = state.constant(Word::from(shape.length(count)), *SIGNED);
            state.learn_constant(object.own, Place::Length(items.array), length);
        }
        for ((place, ty), value) in shape.places(count).into_iter().zip(object.fields) {
            // Pointers in new memory are null.
            let cleared = matches!(place, Place::Item { .. }) && ty.is_gc_ptr();
            if !cleared || state.known(value) != Some(0) {
                self.store(world, state, object.own, place, value, None);
            }
            self.learn_value(state, object.own, place, value);
        }
        // What comes next is what it was.
        self.because(|_| why);
    }
}

/// Whether what an operation reads or writes may be where a fact says something.
fn reaches(state: &JitState, k: &Known, pointer: BoxId, access: Access) -> bool {
    let Some(place) = access.place else {
        return true;
    };
    if !access.interior {
        return k.place.overlaps(&place) && state.may_be_same(k.object, pointer);
    }
    // Into whatever object there is.
    match (k.place, place) {
        (Place::Field(a), Place::Field(b)) => a == b,
        (Place::Item { field: Some(a), .. }, Place::Field(b)) => a == b,
        (Place::Item { array: a, .. }, Place::Item { array: b, .. }) => a == b,
        _ => false,
    }
}
