//! Operations: computed if their operands are known, else generated.

use taipan_lltype::{
    HeapError, LLConst, LLOp, LLOperand, LLType, OBJECT, OBJECT_VTABLE, PlainOp, VOID, VoidConst,
    const_word, fold, word_const,
};

use super::{Failure, Specializer};
use crate::code::{Arg, TsGraph, TsKind, TsOp};
use crate::layout::{field_name_of, fields_of, find_field};
use crate::state::{
    BoxId, Content, Fact, FieldKey, GenVar, JitState, RedBox, Val, VirtualId, VirtualStruct, Word,
};
use crate::world::World;

/// The field that an operand names.
fn field(a: Option<&Arg>) -> Option<&str> {
    match a {
        Some(Arg::Const(LLConst::Void(VoidConst::Field(name)))) => Some(name),
        _ => None,
    }
}

impl Specializer<'_> {
    pub(super) fn operation(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Result<(), Failure> {
        let (t, v) = (OBJECT_VTABLE.ptr(), OBJECT.ptr());
        let result = match &op.kind {
            TsKind::SameAs | TsKind::Cast => self.val(world, state, &op.args[0]),
            TsKind::RevealConst => {
                let known = self.known_arg(world, state, &op.args[0]);
                Val::Green(known.ok_or("a value is used as a constant before it is known")?)
            }
            TsKind::GreenCall => return self.green_call(world, state, graph, op),
            TsKind::ResidualCall => return self.residual_call(world, state, graph, op),
            TsKind::Malloc(ty) => Val::Red(self.new_virtual(state, *ty)),
            TsKind::Read { op: read, constant } => {
                return self.read(world, state, graph, op, *read, *constant);
            }
            TsKind::ExcOccurred => Val::Red(self.exc_occurred(world, state)),
            TsKind::ExcType | TsKind::ExcValue => {
                if state.exc_unknown {
                    self.fetch_exception(state);
                    state.exc_unknown = false;
                }
                Val::Red(match op.kind {
                    TsKind::ExcType => state.exc_type,
                    _ => state.exc_value,
                })
            }
            TsKind::ExcSet => {
                let etype = self.red_arg(world, state, graph, &op.args[0]);
                let evalue = self.red_arg(world, state, graph, &op.args[1]);
                state.learn_nonzero(etype, true);
                state.learn_nonzero(evalue, true);
                (state.exc_type, state.exc_value) = (etype, evalue);
                state.exc_unknown = false;
                Val::Green(0)
            }
            TsKind::ExcClear => {
                state.exc_type = state.constant(0, t);
                state.exc_value = state.constant(0, v);
                Val::Green(0)
            }
            TsKind::Plain(plain) => return self.plain(world, state, graph, op, *plain),
            TsKind::MergePoint { .. }
            | TsKind::Promote
            | TsKind::PromoteField
            | TsKind::Call(..)
            | TsKind::ReverseSplitQueue => return Err("an operation of states".to_owned()),
        };
        self.set(state, graph, op, result);
        Ok(())
    }

    /// Stores a result in the form that its slot has.
    fn set(&mut self, state: &mut JitState, graph: &TsGraph, op: &TsOp, val: Val) {
        let info = &graph.slots[op.result as usize];
        let val = match val {
            Val::Green(w) if !info.green && !info.ty.is_void() => {
                Val::Red(state.constant(w, info.ty))
            }
            Val::Red(b) if info.green => match state.known(b) {
                Some(w) => Val::Green(w),
                None => val,
            },
            other => other,
        };
        state.frame_mut().values[op.result as usize] = val;
    }

    fn val(&mut self, world: &mut dyn World, state: &JitState, a: &Arg) -> Val {
        match a {
            Arg::Slot(s) => state.frame().values[*s as usize],
            Arg::Const(LLConst::Void(_)) => Val::Green(0),
            Arg::Const(c) => Val::Green(world.word(c)),
        }
    }

    fn exc_occurred(&mut self, world: &mut dyn World, state: &mut JitState) -> BoxId {
        let bool_ty = *taipan_lltype::BOOL;
        if state.exc_unknown {
            let v = (self.residual).op(state.at, PlainOp::ExcOccurred.into(), [], bool_ty);
            let b = state.variable(v, bool_ty);
            state.get_mut(b).fact = Some(Fact::Exception);
            return b;
        }
        let etype = state.exc_type;
        self.nonzero(world, state, etype, false)
    }

    /// Whether a pointer is not null, or with `reverse`, whether it is.
    fn nonzero(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        of: BoxId,
        reverse: bool,
    ) -> BoxId {
        let bool_ty = *taipan_lltype::BOOL;
        if let Some(w) = state.known(of) {
            return state.constant(Word::from((w != 0) != reverse), bool_ty);
        }
        if state.get(of).nonzero {
            return state.constant(Word::from(!reverse), bool_ty);
        }
        let operand = self.operand(world, state, of);
        let op = if reverse {
            PlainOp::PtrIszero
        } else {
            PlainOp::PtrNonzero
        };
        let v = self.residual.op(state.at, op.into(), [operand], bool_ty);
        let b = state.variable(v, bool_ty);
        state.get_mut(b).fact = Some(Fact::NonNull { of, reverse });
        b
    }

    fn plain(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
        plain: LLOp,
    ) -> Result<(), Failure> {
        let info = &graph.slots[op.result as usize];
        let (ty, green) = (info.ty, info.green);
        match plain {
            LLOp::Plain(p @ (PlainOp::PtrNonzero | PlainOp::PtrIszero)) => {
                let of = self.red_arg(world, state, graph, &op.args[0]);
                let b = self.nonzero(world, state, of, p == PlainOp::PtrIszero);
                self.set(state, graph, op, Val::Red(b));
                return Ok(());
            }
            LLOp::Plain(p @ (PlainOp::PtrEq | PlainOp::PtrNe)) => {
                if let Some(b) = self.same_pointer(world, state, graph, op, p == PlainOp::PtrNe) {
                    self.set(state, graph, op, Val::Red(b));
                    return Ok(());
                }
            }
            LLOp::Plain(PlainOp::Setfield | PlainOp::BareSetfield) => {
                return self.setfield(world, state, graph, op, plain);
            }
            LLOp::Plain(PlainOp::Getsubstruct) => {
                let b = self.red_arg(world, state, graph, &op.args[0]);
                if let Content::Virtual(_) = state.get(b).content {
                    self.set(state, graph, op, Val::Red(b));
                    return Ok(());
                }
            }
            _ => {}
        }
        if plain.flags() & taipan_lltype::FOLD != 0
            && let Some(w) = self.folded(world, state, op, plain, ty)
        {
            self.set(state, graph, op, Val::Green(w));
            return Ok(());
        }
        if plain.flags() == taipan_lltype::OVF
            && self.known_arg(world, state, &op.args[0]).is_some()
            && self.known_arg(world, state, &op.args[1]).is_some()
        {
            // It overflows: the exit of the block sees that there is no result.
            state.frame_mut().values[op.result as usize] = Val::Unset;
            return Ok(());
        }
        if green && !ty.is_void() {
            return Err(format!("{plain} of {} cannot be computed", graph.name));
        }
        let operands = self.generated_operands(world, state, graph, op);
        let v = self.residual.op(state.at, plain, operands, ty);
        let val = match ty.is_void() {
            true => Val::Green(0),
            false => {
                let fresh = matches!(
                    plain,
                    LLOp::Plain(
                        PlainOp::Malloc
                            | PlainOp::MallocVarsize
                            | PlainOp::Getsubstruct
                            | PlainOp::Getarraysubstruct
                    )
                );
                let b = state.variable(v, ty);
                state.get_mut(b).nonzero = fresh;
                Val::Red(b)
            }
        };
        self.set(state, graph, op, val);
        Ok(())
    }

    fn generated_operands(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Vec<LLOperand> {
        (op.args.iter())
            .map(|a| self.generated_operand(world, state, graph, a))
            .collect()
    }

    /// An operand of generated code, at the type that the operation works on.
    fn generated_operand(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        a: &Arg,
    ) -> LLOperand {
        match a {
            Arg::Const(c) => LLOperand::Const(c.clone()),
            Arg::Slot(s) => {
                let b = self.red_arg(world, state, graph, a);
                self.typed_operand(world, state, b, graph.slots[*s as usize].ty)
            }
        }
    }

    /// The result of an operation on known operands.
    fn folded(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: &TsOp,
        plain: LLOp,
        ty: LLType,
    ) -> Option<Word> {
        let mut words = Vec::with_capacity(op.args.len());
        for a in &op.args {
            words.push(self.known_arg(world, state, a)?);
        }
        match plain {
            LLOp::Plain(PlainOp::PtrEq) => Some(Word::from(words[0] == words[1])),
            LLOp::Plain(PlainOp::PtrNe) => Some(Word::from(words[0] != words[1])),
            LLOp::Plain(PlainOp::CastOpaquePtr | PlainOp::SameAs) => Some(words[0]),
            LLOp::Plain(PlainOp::Getsubstruct | PlainOp::Getarraysubstruct) if words[0] == 0 => {
                None
            }
            LLOp::Plain(PlainOp::Getsubstruct) => {
                let container = self.pointee_of(state, &op.args[0])?;
                let name = field(op.args.get(1))?;
                let at = world
                    .memory()
                    .field(words[0] as u64, container, name)
                    .ok()?;
                Some(Word::from(at.0))
            }
            LLOp::Plain(PlainOp::Getarraysubstruct) => {
                let container = self.pointee_of(state, &op.args[0])?;
                let at = world
                    .memory()
                    .item(words[0] as u64, container, words[1] as u64);
                Some(Word::from(at.ok()?.0))
            }
            _ => {
                let mut consts = Vec::with_capacity(words.len());
                for (a, w) in op.args.iter().zip(&words) {
                    let ty = self.arg_ty(state, a);
                    consts.push(word_const(*w, ty)?);
                }
                const_word(&fold(plain, &consts, ty)?)
            }
        }
    }

    fn arg_ty(&self, state: &JitState, a: &Arg) -> LLType {
        let graph = &self.graphs[state.frame().code as usize];
        self.ty_of(graph, a)
    }

    fn pointee_of(&self, state: &JitState, a: &Arg) -> Option<LLType> {
        self.arg_ty(state, a).pointee()
    }

    fn same_pointer(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
        reverse: bool,
    ) -> Option<BoxId> {
        let a = self.red_arg(world, state, graph, &op.args[0]);
        let b = self.red_arg(world, state, graph, &op.args[1]);
        let truth = |state: &mut JitState, equal: bool| {
            Some(state.constant(Word::from(equal != reverse), *taipan_lltype::BOOL))
        };
        match (state.known(a), state.known(b)) {
            (Some(x), Some(y)) => return truth(state, x == y),
            (Some(0), None) => return Some(self.nonzero(world, state, b, !reverse)),
            (None, Some(0)) => return Some(self.nonzero(world, state, a, !reverse)),
            _ => {}
        }
        let virtual_of = |state: &JitState, b| match state.get(b).content {
            Content::Virtual(v) => Some(v),
            _ => None,
        };
        match (virtual_of(state, a), virtual_of(state, b)) {
            (None, None) if a == b => truth(state, true),
            (None, None) => None,
            (x, y) => truth(state, x == y),
        }
    }

    // Memory.

    fn read(
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
            state.frame_mut().values[op.result as usize] = Val::Green(0);
            return Ok(());
        }
        let pointer = self.red_arg(world, state, graph, &op.args[0]);
        let container = self
            .pointee_of(state, &op.args[0])
            .ok_or("a read of what is no object")?;
        if constant
            && state.known(pointer).is_some_and(|p| p != 0)
            && let Some(w) = self.read_now(world, state, op, read, container)
        {
            self.set(state, graph, op, Val::Green(w));
            return Ok(());
        }
        state.learn_nonzero(pointer, true);
        let key = match read {
            LLOp::Plain(PlainOp::Getfield) => {
                field(op.args.get(1)).and_then(|n| find_field(self.program, container, n))
            }
            _ => None,
        };
        if let Some(b) = key.and_then(|key| self.known_field(state, pointer, key)) {
            self.set(state, graph, op, Val::Red(b));
            return Ok(());
        }
        let operands = self.generated_operands(world, state, graph, op);
        let v = self.residual.op(state.at, read, operands, info.ty);
        let b = state.variable(v, info.ty);
        if constant
            && let Some(key) = key
            && state.known(pointer).is_none()
        {
            let red = state.get_mut(pointer);
            match &mut red.content {
                Content::Partial(fields) => fields.push((key, b)),
                content => *content = Content::Partial(vec![(key, b)]),
            }
        }
        self.set(state, graph, op, Val::Red(b));
        Ok(())
    }

    /// What memory holds that does not change.
    fn read_now(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: &TsOp,
        read: LLOp,
        container: LLType,
    ) -> Option<Word> {
        let mut at = self.known_arg(world, state, &op.args[0])? as u64;
        let mut ty = container;
        for a in &op.args[1..] {
            let step: Result<(u64, LLType), HeapError> = match field(Some(a)) {
                Some(name) => world.memory().field(at, ty, name),
                None => {
                    let index = self.known_arg(world, state, a)?;
                    let index = u64::try_from(index).ok()?;
                    world.memory().item(at, ty, index)
                }
            };
            (at, ty) = step.ok()?;
        }
        match read {
            LLOp::Plain(PlainOp::Getarraysize | PlainOp::Getinteriorarraysize) => {
                world.memory().array_length(at, ty).ok().map(Word::from)
            }
            _ => world.memory().load_word(at, ty).ok(),
        }
    }

    fn known_field(&self, state: &JitState, pointer: BoxId, key: FieldKey) -> Option<BoxId> {
        match &state.get(pointer).content {
            Content::None => None,
            Content::Partial(fields) => fields.iter().find(|f| f.0 == key).map(|f| f.1),
            Content::Virtual(v) => {
                let object = &state.virtuals[v.0 as usize];
                let fields = fields_of(self.program, object.ty);
                let i = fields.iter().position(|f| f.0 == key)?;
                Some(object.fields[i])
            }
        }
    }

    fn setfield(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
        plain: LLOp,
    ) -> Result<(), Failure> {
        state.frame_mut().values[op.result as usize] = Val::Green(0);
        if self.arg_ty(state, &op.args[2]).is_void() {
            return Ok(());
        }
        let pointer = self.red_arg(world, state, graph, &op.args[0]);
        let value = self.red_arg(world, state, graph, &op.args[2]);
        state.learn_nonzero(pointer, true);
        if let Content::Virtual(v) = state.get(pointer).content {
            let container = self.pointee_of(state, &op.args[0]).ok_or("no object")?;
            let name = field(op.args.get(1)).ok_or("no field")?;
            let key = find_field(self.program, container, name).ok_or("no such field")?;
            let object = &mut state.virtuals[v.0 as usize];
            let fields = fields_of(self.program, object.ty);
            let i = (fields.iter().position(|f| f.0 == key)).ok_or("no such field")?;
            object.fields[i] = value;
            return Ok(());
        }
        let operands = self.generated_operands(world, state, graph, op);
        self.residual.op(state.at, plain, operands, *VOID);
        Ok(())
    }

    fn new_virtual(&mut self, state: &mut JitState, ty: LLType) -> BoxId {
        let fields = fields_of(self.program, ty)
            .into_iter()
            .map(|(_, ty)| state.constant(0, ty))
            .collect();
        let number = VirtualId(state.virtuals.len() as u32);
        let own = state.add(RedBox {
            ty: ty.ptr(),
            var: None,
            nonzero: true,
            content: Content::Virtual(number),
            fact: None,
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
        let flavor = VoidConst::Flavor {
            gc: true,
            zero: false,
        };
        let args = [VoidConst::Type(object.ty), flavor];
        let args = args.map(|a| LLOperand::Const(LLConst::Void(a)));
        let ty = object.ty.ptr();
        let new = self.residual.op(state.at, PlainOp::Malloc.into(), args, ty);
        let own = state.get_mut(object.own);
        own.var = Some(GenVar::Var(new));
        own.content = Content::None;
        let fields = fields_of(self.program, object.ty);
        for (((container, i), ty), value) in fields.into_iter().zip(object.fields) {
            let Some(name) = field_name_of(self.program, (container, i)) else {
                continue;
            };
            let at = self.typed_operand(world, state, object.own, container.ptr());
            let value = self.typed_operand(world, state, value, ty);
            let name = LLOperand::Const(LLConst::Void(VoidConst::Field(name)));
            self.residual
                .op(state.at, PlainOp::Setfield.into(), [at, name, value], *VOID);
        }
    }
}
