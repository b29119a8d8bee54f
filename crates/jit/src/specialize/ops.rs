//! Operations: computed if their operands are known, else generated.

use smallvec::SmallVec;
use taipan_graph::Const;
use taipan_lltype::{
    LLConst, LLOp, LLOperand, LLType, NumFamily, NumOp, OBJECT, OBJECT_VTABLE, PlainOp, SIGNED,
    UNICODE, VOID, View, VoidConst, const_word, fold, fold_number, word_const,
};

use super::{Failure, Specializer};
use crate::code::{Arg, TsGraph, TsKind, TsOp};
use crate::layout::{Step, field, place_at};
use crate::pure::{PureArg, PureArgs, PureFact, signed_word};
use crate::residual::unique_string_sym;
use crate::state::{BoxId, Content, Fact, JitState, Val, Word};
use crate::world::World;

/// Operations on numbers whose results can be used again.
fn is_pure_number(op: LLOp) -> bool {
    match op {
        LLOp::Num(..) => true,
        LLOp::Plain(p) => matches!(
            p,
            PlainOp::IntBetween
                | PlainOp::IntForceGeZero
                | PlainOp::BoolNot
                | PlainOp::CastBoolToInt
                | PlainOp::CastCharToInt
                | PlainOp::CastIntToChar
                | PlainOp::CastIntToFloat
        ),
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
        self.because(|_| match &op.kind {
            TsKind::Plain(op) | TsKind::Read { op, .. } => format!("used by {op}"),
            _ => "used".to_owned(),
        });
        let result = match &op.kind {
            TsKind::SameAs | TsKind::Cast => self.val(world, state, op.operand()),
            TsKind::UniqueString => {
                let b = self.red_arg(world, state, graph, op.operand());
                match state.known(b) {
                    Some(_) => Val::Red(b),
                    None => Val::Red(self.unique_string(world, state, b)),
                }
            }
            TsKind::ForceVirtualizable => {
                self.write_all_pending(world, state);
                self.val(world, state, op.operand())
            }
            TsKind::RevealConst => {
                let known = self.known_arg(world, state, op.operand());
                Val::Green(known.ok_or("a value is used as a constant before it is known")?)
            }
            TsKind::GreenCall => return self.green_call(world, state, graph, op),
            TsKind::ResidualCall => return self.residual_call(world, state, graph, op),
            TsKind::ElidableCall => {
                let mut args = op.args.iter();
                return match args.all(|a| self.known_arg(world, state, a).is_some()) {
                    true => self.green_call(world, state, graph, op),
                    false => self.residual_call(world, state, graph, op),
                };
            }
            TsKind::IsConstant => Val::Green(self.is_constant(world, state, op)),
            TsKind::IsVirtual => {
                let b = self.red_arg(world, state, graph, op.operand());
                let is_virtual = matches!(state.get(b).content, Content::Virtual(_));
                Val::Green(Word::from(is_virtual))
            }
            TsKind::AssertGreen => {
                // Code of drivers may be running already, and is not wrong without.
                if !self.of_driver && self.known_arg(world, state, op.operand()).is_none() {
                    return Err(Failure {
                        why: "`assert_green()` of a value that is known at run time only".into(),
                        place: self.place(state),
                        remedy: Some("put `promote()` around the value"),
                    });
                }
                Val::Green(0)
            }
            TsKind::RecordExactClass => {
                self.record_exact_class(world, state, graph, op);
                Val::Green(0)
            }
            TsKind::RecordExactValue => {
                let Some(View::JitRecordExactValue { value, known }) = op.view() else {
                    return Err("no value".into());
                };
                let b = self.red_arg(world, state, graph, value);
                if let (None, Some(w)) = (state.known(b), self.known_arg(world, state, known))
                    && let Content::None | Content::Partial(_) = state.get(b).content
                {
                    self.make_known(world, state, b, w);
                }
                Val::Green(0)
            }
            TsKind::RecordNonNull => {
                let b = self.red_arg(world, state, graph, op.operand());
                // One that is null all the same breaks the program's promise.
                if state.known(b).is_none() {
                    state.learn_nonzero(b, true);
                }
                Val::Green(0)
            }
            TsKind::CheckIndex => {
                let inside = self.red_arg(world, state, graph, op.operand());
                if state.known(inside) != Some(1) {
                    let inside = self.operand(world, state, inside);
                    self.check_index(state, inside);
                }
                Val::Green(0)
            }
            TsKind::Malloc(ty) => Val::Red(self.new_virtual(state, *ty, 0)),
            TsKind::MallocVarsize(ty) => {
                self.malloc_varsize(world, state, graph, op, *ty);
                return Ok(());
            }
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
                let Some(View::ExcSet { class, value }) = op.view() else {
                    return Err("no exception".into());
                };
                let etype = self.red_arg(world, state, graph, class);
                let evalue = self.red_arg(world, state, graph, value);
                state.learn_nonzero(etype, true);
                state.learn_nonzero(evalue, true);
                (state.exc_type, state.exc_value) = (etype, evalue);
                state.exc_unknown = false;
                Val::Green(0)
            }
            TsKind::ExcClear => {
                let (t, v) = (OBJECT_VTABLE.ptr(), OBJECT.ptr());
                state.exc_type = state.constant(0, t);
                state.exc_value = state.constant(0, v);
                Val::Green(0)
            }
            TsKind::Plain(plain) => return self.plain(world, state, graph, op, *plain),
            TsKind::MergePoint { .. }
            | TsKind::Promote
            | TsKind::PromoteField
            | TsKind::AssumeField
            | TsKind::Call(..)
            | TsKind::Inline(_)
            | TsKind::DriverMergePoint { .. }
            | TsKind::LoopCloses
            | TsKind::ReverseSplitQueue => return Err("an operation of states".into()),
        };
        self.set(state, graph, op, result);
        Ok(())
    }

    fn is_constant(&mut self, world: &mut dyn World, state: &JitState, op: &TsOp) -> Word {
        let Some(View::JitIsConstant { value, most }) = op.view() else {
            return Word::from(false);
        };
        let value = self.known_arg(world, state, value);
        let most = most.map(|a| self.known_arg(world, state, a));
        Word::from(match (value, most) {
            (None, _) | (_, Some(None)) => false,
            (Some(_), None) => true,
            (Some(size), Some(Some(most))) => size <= most,
        })
    }

    /// A check of a checked build, which says in which function it is.
    fn check_index(&mut self, state: &JitState, inside: LLOperand) {
        let (code, _) = self.own_place(state);
        let function = self.graphs[code as usize].func.name().as_bytes();
        let function = VoidConst::Hl(Const::Str(function.into()));
        let check = View::DebugAssert {
            condition: &inside,
            message: Some(&LLOperand::Const(LLConst::Void(function))),
        };
        self.residual.op(state.at, check, *VOID);
    }

    /// Takes a vtable for that of an object.
    fn record_exact_class(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) {
        let Some(View::JitRecordExactClass {
            object: pointer,
            class,
        }) = op.view()
        else {
            return;
        };
        let object = self.red_arg(world, state, graph, pointer);
        let vtable = self.red_arg(world, state, graph, class);
        if state.known(object).is_some() || state.known(vtable).is_none() {
            return;
        }
        let container = self.pointee_of(state, pointer);
        let steps = [Step::Field("typeptr")];
        let Some(place) = container.and_then(|c| place_at(self.program, c, &steps, false)) else {
            return;
        };
        state.learn_nonzero(object, true);
        if !matches!(state.get(object).content, Content::Virtual(_)) {
            state.learn_constant(object, place, vtable);
        }
    }

    /// Stores a result in the form that its slot has.
    pub(super) fn set(&mut self, state: &mut JitState, graph: &TsGraph, op: &TsOp, val: Val) {
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
        state.frame_mut().values.set(op.result, val);
    }

    fn val(&mut self, world: &mut dyn World, state: &JitState, a: &Arg) -> Val {
        match a {
            Arg::Slot(s) => state.frame().values.get(*s),
            Arg::Const(LLConst::Void(_)) => Val::Green(0),
            Arg::Const(c) => Val::Green(world.word(c)),
        }
    }

    fn exc_occurred(&mut self, world: &mut dyn World, state: &mut JitState) -> BoxId {
        let bool_ty = *taipan_lltype::BOOL;
        if state.exc_unknown {
            let v = self.residual.op(state.at, View::ExcOccurred {}, bool_ty);
            let b = state.variable(v, bool_ty);
            state.get_mut(b).fact = Some(Fact::Exception);
            return b;
        }
        let etype = state.exc_type;
        self.nonzero(world, state, etype, false)
    }

    /// The object that stands for all strings with the characters of one. What the call
    /// reads never changes, and it writes nothing that the program sees.
    fn unique_string(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        string: BoxId,
    ) -> BoxId {
        let ty = state.get(string).ty;
        let operand = self.operand(world, state, string);
        state.escapes(string);
        let callee = LLOperand::Const(LLConst::Func(unique_string_sym(ty)));
        let wide = LLOperand::Const(LLConst::signed(i64::from(ty == UNICODE.ptr())));
        let call = View::DirectCall {
            callee: &callee,
            args: &[operand, wide],
        };
        let v = self.residual.op(state.at, call, ty);
        state.variable(v, ty)
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
        let test = match reverse {
            true => View::PtrIszero { value: &operand },
            false => View::PtrNonzero { value: &operand },
        };
        let v = self.residual.op(state.at, test, bool_ty);
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
        let view = plain.view(&op.args);
        match view {
            View::PtrNonzero { value } | View::PtrIszero { value } => {
                let of = self.red_arg(world, state, graph, value);
                let b = self.nonzero(world, state, of, plain == PlainOp::PtrIszero.into());
                self.set(state, graph, op, Val::Red(b));
                return Ok(());
            }
            View::PtrEq { left, right } | View::PtrNe { left, right } => {
                let reverse = plain == PlainOp::PtrNe.into();
                if let Some(b) = self.same_pointer(world, state, graph, [left, right], reverse) {
                    self.set(state, graph, op, Val::Red(b));
                    return Ok(());
                }
            }
            View::GcCopyArray { .. } => return self.copy_items(world, state, graph, op),
            View::Getsubstruct { object, field } => {
                let b = self.red_arg(world, state, graph, object);
                if let Content::Virtual(_) = state.get(b).content
                    && self.is_base(state, object, field)
                {
                    self.set(state, graph, op, Val::Red(b));
                    return Ok(());
                }
            }
            _ if view.access().is_some_and(|a| a.stored.is_some()) => {
                return self.write(world, state, graph, op, plain);
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
            && (op.args.iter()).all(|a| self.known_arg(world, state, a).is_some())
        {
            // It overflows: the exit of the block sees that there is no result.
            state.frame_mut().values.set(op.result, Val::Unset);
            return Ok(());
        }
        if green && !ty.is_void() {
            return Err(format!("{plain} of {} cannot be computed", graph.name).into());
        }
        let pure = match self.of_driver && is_pure_number(plain) {
            true => Some(self.pure_args(world, state, graph, op)),
            false => None,
        };
        if let Some(args) = &pure
            && let Some(b) = self.known_pure(state, plain, ty, args)
        {
            self.set(state, graph, op, Val::Red(b));
            return Ok(());
        }
        let operands = self.generated_operands(world, state, graph, op);
        match plain {
            LLOp::Plain(p) if touches_memory(p) => {
                self.pointers_escape(state, &op.args);
                self.anything_happens(world, state);
            }
            LLOp::Plain(PlainOp::PtrEq | PlainOp::PtrNe) => {}
            _ => self.pointers_escape(state, &op.args),
        }
        let v = self.residual.op(state.at, plain.view(&operands), ty);
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
                if let Some(args) = pure {
                    state.remember_pure(PureFact {
                        op: plain,
                        ty,
                        args,
                        result: b,
                    });
                }
                Val::Red(b)
            }
        };
        self.set(state, graph, op, val);
        Ok(())
    }

    pub(super) fn pure_args(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> PureArgs {
        let mut out = PureArgs::with_capacity(op.args.len());
        for a in &op.args {
            let b = self.red_arg(world, state, graph, a);
            out.push(state.pure_arg(b));
        }
        out
    }

    /// The result of an operation, if it was generated before, or is a sum whose parts are
    /// known.
    fn known_pure(
        &mut self,
        state: &mut JitState,
        op: LLOp,
        ty: LLType,
        args: &[PureArg],
    ) -> Option<BoxId> {
        if let Some(b) = state.pure_result(op, ty, args) {
            return Some(b);
        }
        let (base, n) = state.as_sum(op, args)?;
        self.sum(state, base, n)
    }

    /// The sum of a variable and a constant. None if the box is no variable.
    pub(super) fn sum(&mut self, state: &mut JitState, base: BoxId, n: i64) -> Option<BoxId> {
        if n == 0 {
            return Some(base);
        }
        let ty = *SIGNED;
        let add = LLOp::Num(NumFamily::Int, NumOp::Add);
        let of: PureArgs = [PureArg::Box(base), PureArg::Const(signed_word(n).into())].into();
        if let Some(b) = state.pure_result(add, ty, &of) {
            return Some(b);
        }
        let v = self.variable_of(state, base)?;
        let sum = View::Binary {
            family: NumFamily::Int,
            op: NumOp::Add,
            left: &LLOperand::Var(v),
            right: &LLOperand::Const(LLConst::signed(n)),
        };
        let v = self.residual.op(state.at, sum, ty);
        let b = state.variable(v, ty);
        state.remember_pure(PureFact {
            op: add,
            ty,
            args: of,
            result: b,
        });
        Some(b)
    }

    /// Something else may point to these from now on.
    pub(super) fn pointers_escape(&self, state: &mut JitState, args: &[Arg]) {
        for a in args {
            if let Arg::Slot(s) = a
                && let Val::Red(b) = state.frame().values.get(*s)
            {
                state.escapes(b);
            }
        }
    }

    /// Whether a field is the struct of the base class, which is the same object.
    fn is_base(&self, state: &JitState, object: &Arg, name: &Arg) -> bool {
        let container = self.pointee_of(state, object);
        let Some(s) = container.and_then(LLType::as_struct) else {
            return false;
        };
        let body = self.program.body(s);
        let first = body.fields.first().map(|f| &*f.name);
        first.is_some() && first == field(Some(name))
    }

    pub(super) fn generated_operands(
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
        let mut operands: SmallVec<[(Word, LLType); 3]> = SmallVec::new();
        for a in &op.args {
            operands.push((self.known_arg(world, state, a)?, self.arg_ty(state, a)));
        }
        match plain.view(&operands) {
            View::Getsubstruct { object: (0, _), .. }
            | View::Getarraysubstruct { array: (0, _), .. } => None,
            View::Getsubstruct {
                object: (at, ty), ..
            } => {
                let View::Getsubstruct { field: name, .. } = plain.view(&op.args) else {
                    return None;
                };
                let name = field(Some(name))?;
                let at = world.memory().field(*at as u64, ty.pointee()?, name);
                Some(Word::from(at.ok()?.0))
            }
            View::Getarraysubstruct {
                array: (at, ty),
                index: (index, _),
            } => {
                let at = world
                    .memory()
                    .item(*at as u64, ty.pointee()?, *index as u64);
                Some(Word::from(at.ok()?.0))
            }
            _ => fold_words(plain, &operands, ty),
        }
    }

    pub(super) fn arg_ty(&self, state: &JitState, a: &Arg) -> LLType {
        let graph = &self.graphs[state.frame().code as usize];
        self.ty_of(graph, a)
    }

    pub(super) fn pointee_of(&self, state: &JitState, a: &Arg) -> Option<LLType> {
        self.arg_ty(state, a).pointee()
    }

    fn same_pointer(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        pointers: [&Arg; 2],
        reverse: bool,
    ) -> Option<BoxId> {
        let [a, b] = pointers.map(|p| self.red_arg(world, state, graph, p));
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
}

/// The result of an operation that depends on its operands only, from their words and types.
pub(super) fn fold_words(op: LLOp, operands: &[(Word, LLType)], result: LLType) -> Option<Word> {
    match op.view(operands) {
        View::PtrEq { left, right } => Some(Word::from(left.0 == right.0)),
        View::PtrNe { left, right } => Some(Word::from(left.0 != right.0)),
        View::PtrNonzero { value } => Some(Word::from(value.0 != 0)),
        View::PtrIszero { value } => Some(Word::from(value.0 == 0)),
        View::CastOpaquePtr { value } | View::SameAs { value } => Some(value.0),
        // The most frequent case, without conversion to constants.
        View::Unary { family, op, value } => number(family, op, (value.0, 0), result),
        View::Binary {
            family,
            op,
            left,
            right,
        } => number(family, op, (left.0, right.0), result),
        _ => {
            let consts = operands.iter().map(|(w, ty)| word_const(*w, *ty));
            const_word(&fold(op, &consts.collect::<Option<Vec<_>>>()?, result)?)
        }
    }
}

/// Folds an operation on numbers.
fn number(family: NumFamily, op: NumOp, words: (Word, Word), result: LLType) -> Option<Word> {
    let word = fold_number(family, op, words, result)?;
    if result == *SIGNED {
        // The word of a `Signed` constant is the number itself.
        return Some(word);
    }
    const_word(&word_const(word, result)?)
}

/// Whether it is not known what of the objects of the program an operation reads or
/// changes.
pub(crate) fn touches_memory(p: PlainOp) -> bool {
    use PlainOp::*;
    matches!(
        p,
        RawMemclear
            | RawMemset
            | RawMemcopy
            | RawMemmove
            | RawStore
            | RawLoad
            | GcLoadIndexed
            | GcStoreIndexed
            | ShrinkArray
            | ZeroGcPointersInside
            | GcCollect
            | GcCollectMinor
            | JitForceVirtualizable
            | JitForceVirtual
            | JitConditionalCall
            | JitConditionalCallValue
    )
}
