//! The bytecode engine: executes one [`Instr`] at a time on a [`Frame`], and puts
//! every operation on values to an [`ObjectSpace`].
//!
//! Both object spaces run on it. The concrete space loops over [`step`] until the
//! frame returns. The flow space's driver looks at the [`Step`] after every
//! instruction:
//!
//! - an operation that the flow space recorded and that may raise answers `Ok` as
//!   usual; the driver then takes the frame as it is for the normal path and a copy
//!   sent through [`unwind`] for each exceptional one. `frame.pc` is advanced only
//!   after success, so the driver keeps the instruction's own pc for the copy;
//! - a truth test that the space cannot answer gives [`Step::Fork`], with the
//!   operand already popped: each successor is entered by [`Frame::follow`] on a
//!   copy of the frame;
//! - a driver that wants to treat an instruction in its own way looks at
//!   `code.instrs[frame.pc]` before it calls [`step`].
//!
//! **Architecture invariants.** Knows code and the names of operations, and no value: what a value is,
//! and what an operation makes of it, is the space's.

use taipan_code::{CallDesc, Code, CodeId, ImportDesc, Instr, Pc};
use taipan_graph::HlOp;

/// Why an operation has no value to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwind<V, S> {
    /// It raised: exception class and instance. Behind a pointer, since most answers are
    /// values and should not be larger than they are.
    Raise(Box<(V, V)>),
    /// The space wants to leave the frame altogether: flow ends the block or rejects
    /// the function, the concrete space has hit a limit.
    Stop(S),
}

impl<V, S> Unwind<V, S> {
    /// An exception of this class.
    pub fn raised(class: V, value: V) -> Self {
        Unwind::Raise(Box::new((class, value)))
    }
}

/// Answer of an operation of a space.
pub type Answer<S, T = <S as ObjectSpace>::Value> =
    Result<T, Unwind<<S as ObjectSpace>::Value, <S as ObjectSpace>::Stop>>;

/// Answer to a truth test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Known.
    Known(bool),
    /// Both are possible.
    Fork,
}

/// Answer of an iterator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<V> {
    /// The next item.
    Item(V),
    /// There is none.
    Exhausted,
    /// Both are possible; this is the item if there is one.
    Fork(V),
}

/// A name that an instruction mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its index among the names of the code.
    pub index: u32,
}

impl<V> Next<V> {
    /// Pushes the item on a stack if the iterator certainly has one. `Fork` keeps its item.
    pub fn without_item(self, stack: &mut Vec<V>) -> Next<Option<V>> {
        match self {
            Next::Item(v) => {
                stack.push(v);
                Next::Item(None)
            }
            Next::Exhausted => Next::Exhausted,
            Next::Fork(v) => Next::Fork(Some(v)),
        }
    }
}

/// What the engine asks of values.
///
/// Operands are given in stack order, bottom first, except where a method says
/// otherwise. An operation has the names and the order of operands of RPython's
/// flow operations wherever there is one.
pub trait ObjectSpace: Sized {
    /// A value on the frame.
    type Value: Clone;
    /// What [`Unwind::Stop`] carries.
    type Stop;

    /// A constant of the running code. Not called for constants that are nested bodies.
    fn code_constant(&self, i: u32) -> &Self::Value;

    /// Pushes a copy of a value.
    #[inline(always)]
    fn push_copy(stack: &mut Vec<Self::Value>, v: &Self::Value) {
        stack.push(v.clone());
    }

    /// Moves the top of the stack to a local.
    #[inline(always)]
    fn pop_into(stack: &mut Vec<Self::Value>, local: &mut Option<Self::Value>) {
        *local = stack.pop();
    }

    /// Pushes a global or, if it is missing, a builtin: [`ObjectSpace::load_global`].
    #[inline(always)]
    fn push_global(&mut self, frame: &mut Frame<Self::Value>, name: Named<'_>) -> Answer<Self, ()> {
        let v = self.load_global(frame, name)?;
        frame.stack.push(v);
        Ok(())
    }

    /// Replaces the top of the stack by its attribute: [`ObjectSpace::load_attr`].
    #[inline(always)]
    fn attr_of_top(&mut self, frame: &mut Frame<Self::Value>, name: Named<'_>) -> Answer<Self, ()> {
        let v = self.load_attr(frame.top(0), name)?;
        frame.replace::<Self>(1, v);
        Ok(())
    }

    /// Pushes the next item of the iterator on top of the stack: [`ObjectSpace::next`]. The item is
    /// returned instead, in `Fork`, if the iterator may be exhausted.
    #[inline(always)]
    fn push_next(
        &mut self,
        frame: &mut Frame<Self::Value>,
    ) -> Answer<Self, Next<Option<Self::Value>>> {
        Ok(self.next(frame.top(0))?.without_item(&mut frame.stack))
    }

    /// Calls the function below the topmost `n` values with these values as arguments, and replaces
    /// function and arguments by the result: [`ObjectSpace::call`].
    #[inline(always)]
    fn call_top(
        &mut self,
        code: &Code,
        frame: &mut Frame<Self::Value>,
        desc: &CallDesc,
        n: usize,
    ) -> Answer<Self, ()> {
        let v = self.call(code, frame, frame.top(n), desc, frame.top_n(n))?;
        frame.replace::<Self>(n + 1, v);
        Ok(())
    }

    /// Replaces the two topmost values by the result of an operation on them: [`ObjectSpace::op`].
    #[inline(always)]
    fn binary_top(&mut self, frame: &mut Frame<Self::Value>, op: HlOp) -> Answer<Self, ()> {
        let v = self.op(op, frame.top_n(2))?;
        frame.replace::<Self>(2, v);
        Ok(())
    }

    /// Replaces the top of the stack by its `n` items, the first one on top: [`ObjectSpace::unpack`].
    #[inline(always)]
    fn unpack_top(&mut self, frame: &mut Frame<Self::Value>, n: u32) -> Answer<Self, ()> {
        let items = self.unpack(frame.top(0), n)?;
        frame.drop_n::<Self>(1);
        frame.stack.extend(items.into_iter().rev());
        Ok(())
    }

    /// `obj[key] = v`
    #[inline(always)]
    fn set_item(
        &mut self,
        obj: &Self::Value,
        key: &Self::Value,
        v: &Self::Value,
    ) -> Answer<Self, ()> {
        let args = [obj.clone(), key.clone(), v.clone()];
        self.op(HlOp::SetItem, &args)?;
        Ok(())
    }

    /// Pushes the contents of a cell: [`ObjectSpace::load_cell`].
    #[inline(always)]
    fn push_cell(
        &mut self,
        cell: &Self::Value,
        name: &str,
        stack: &mut Vec<Self::Value>,
    ) -> Answer<Self, ()> {
        let v = self.load_cell(cell, name)?;
        stack.push(v);
        Ok(())
    }

    /// Pops `n` values.
    #[inline(always)]
    fn discard(stack: &mut Vec<Self::Value>, n: usize) {
        stack.truncate(stack.len() - n);
    }

    /// Overwrites a value.
    #[inline(always)]
    fn put(place: &mut Self::Value, v: Self::Value) {
        *place = v;
    }

    /// Replaces the first of two operands by the result of an operation. False if the operation may fail, or an
    /// operand has a destructor; nothing is changed then.
    #[inline(always)]
    fn op_in_place(op: HlOp, a: &mut Self::Value, b: &Self::Value) -> bool {
        let _ = (op, a, b);
        false
    }

    /// An operation of the flow model, all operands given: `setitem` is
    /// `(obj, key, value)`, `setslice` is `(obj, start, stop, value)`, `newdict` is
    /// `(k1, v1, k2, v2, ..)`, `contains` is `(container, item)`.
    fn op(&mut self, op: HlOp, args: &[Self::Value]) -> Answer<Self>;

    /// The truth value, for a branch.
    fn truth(&mut self, v: &Self::Value) -> Answer<Self, Truth>;

    /// Whether an `__exit__` that was given an exception and answered `v` suppresses
    /// it. RPython's context managers cannot.
    fn suppresses(&mut self, v: &Self::Value) -> Answer<Self, bool> {
        let _ = v;
        Ok(false)
    }

    /// A bool as a value.
    fn bool(&mut self, b: bool) -> Self::Value;

    /// The next item of an iterator.
    fn next(&mut self, it: &Self::Value) -> Answer<Self, Next<Self::Value>>;

    /// Exactly `n` items of a sequence, first one first.
    fn unpack(&mut self, v: &Self::Value, n: u32) -> Answer<Self, Vec<Self::Value>>;

    /// A set display.
    fn build_set(&mut self, items: &[Self::Value]) -> Answer<Self>;

    /// `list.append(v)` of a comprehension.
    fn list_append(&mut self, list: &Self::Value, v: Self::Value) -> Answer<Self, ()>;

    /// `set.add(v)` of a comprehension.
    fn set_add(&mut self, set: &Self::Value, v: Self::Value) -> Answer<Self, ()>;

    /// `dict[key] = v` of a comprehension.
    fn dict_add(
        &mut self,
        dict: &Self::Value,
        key: Self::Value,
        v: Self::Value,
    ) -> Answer<Self, ()>;

    /// `obj.name`
    fn load_attr(&mut self, obj: &Self::Value, name: Named<'_>) -> Answer<Self>;

    /// `obj.name = v`
    fn store_attr(
        &mut self,
        obj: &Self::Value,
        name: Named<'_>,
        v: Self::Value,
    ) -> Answer<Self, ()>;

    /// `del obj.name`
    fn delete_attr(&mut self, obj: &Self::Value, name: &str) -> Answer<Self, ()>;

    /// An unset local was read or deleted.
    fn unbound_local(&mut self, name: &str) -> Unwind<Self::Value, Self::Stop>;

    /// A global, else a builtin.
    fn load_global(&mut self, frame: &Frame<Self::Value>, name: Named<'_>) -> Answer<Self>;

    /// `global name; name = v`
    fn store_global(
        &mut self,
        frame: &Frame<Self::Value>,
        name: Named<'_>,
        v: Self::Value,
    ) -> Answer<Self, ()>;

    /// `global name; del name`
    fn delete_global(&mut self, frame: &Frame<Self::Value>, name: &str) -> Answer<Self, ()>;

    /// A name of a module, class or exec body: local dict, else global, else builtin.
    fn load_name(&mut self, frame: &Frame<Self::Value>, name: Named<'_>) -> Answer<Self>;

    /// Sets a name of such a body.
    fn store_name(
        &mut self,
        frame: &Frame<Self::Value>,
        name: Named<'_>,
        v: Self::Value,
    ) -> Answer<Self, ()>;

    /// Deletes a name of such a body.
    fn delete_name(&mut self, frame: &Frame<Self::Value>, name: &str) -> Answer<Self, ()>;

    /// A new cell.
    fn new_cell(&mut self, contents: Option<Self::Value>) -> Self::Value;

    /// Contents of a cell; `name` is the variable's.
    fn load_cell(&mut self, cell: &Self::Value, name: &str) -> Answer<Self>;

    /// Sets the contents of a cell.
    fn store_cell(&mut self, cell: &Self::Value, v: Self::Value) -> Answer<Self, ()>;

    /// Calls. `args` holds the positional arguments, then the values of
    /// `desc.keywords`, then the `*` and `**` arguments where `desc` says so.
    fn call(
        &mut self,
        code: &Code,
        frame: &Frame<Self::Value>,
        callee: &Self::Value,
        desc: &CallDesc,
        args: &[Self::Value],
    ) -> Answer<Self>;

    /// A function object.
    fn make_function(
        &mut self,
        frame: &Frame<Self::Value>,
        body: CodeId,
        defaults: &[Self::Value],
        closure: &[Self::Value],
    ) -> Answer<Self>;

    /// A class, from its name, its bases and the function that runs its body.
    fn build_class(
        &mut self,
        frame: &Frame<Self::Value>,
        name: &Self::Value,
        bases: &Self::Value,
        body: &Self::Value,
    ) -> Answer<Self>;

    /// What a `raise` statement with these operands raises.
    fn raise(&mut self, operands: &[Self::Value]) -> Unwind<Self::Value, Self::Stop>;

    /// Whether an exception class matches an `except` clause.
    fn exc_match(&mut self, etype: &Self::Value, class: &Self::Value) -> Answer<Self>;

    /// An import.
    fn import(&mut self, frame: &Frame<Self::Value>, desc: &ImportDesc) -> Answer<Self>;

    /// `from module import name`
    fn import_from(&mut self, module: &Self::Value, name: &str) -> Answer<Self>;

    /// `from module import *`
    fn import_star(&mut self, frame: &Frame<Self::Value>, module: &Self::Value)
    -> Answer<Self, ()>;

    /// One item of a `print`, to a file or to standard output.
    fn print_item(&mut self, file: Option<&Self::Value>, v: &Self::Value) -> Answer<Self, ()>;

    /// End of a `print`.
    fn print_newline(&mut self, file: Option<&Self::Value>) -> Answer<Self, ()>;

    /// `exec source in globals, locals`, None where left out: then it sets locals of the
    /// frame.
    fn exec(
        &mut self,
        code: &Code,
        frame: &mut Frame<Self::Value>,
        source: &Self::Value,
        globals: &Self::Value,
        locals: &Self::Value,
    ) -> Answer<Self, ()>;
}

/// The state of a running body: plain data, so that the flow space can copy and
/// merge it. Between instructions `pc` is the next instruction's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<V> {
    /// The instruction to execute.
    pub pc: Pc,
    /// Fast locals, None where unset.
    pub locals: Vec<Option<V>>,
    /// The operand stack.
    pub stack: Vec<V>,
    /// Cells, then the free variables' cells.
    pub cells: Vec<V>,
    /// The globals, in whatever form the space keeps them.
    pub globals: V,
    /// The dict of local names of module, class and exec bodies, and of functions after
    /// an `exec` that may have added some.
    pub names: Option<V>,
}

impl<V: Clone> Frame<V> {
    /// A frame at the first instruction. `locals` are the parameters' values (the
    /// rest is filled up as unset); `stack` is empty; `closure` are the cells of the free
    /// variables.
    #[inline(always)]
    pub fn enter<S: ObjectSpace<Value = V>>(
        space: &mut S,
        code: &Code,
        globals: V,
        mut locals: Vec<Option<V>>,
        mut stack: Vec<V>,
        closure: &[V],
    ) -> Frame<V> {
        stack.reserve_exact(code.max_stack as usize);
        locals.resize(code.locals.len().max(locals.len()), None);
        let mut cells = Vec::with_capacity(code.cells.len() + closure.len());
        for (_, param) in &code.cells {
            let contents = param.and_then(|p| locals[p as usize].take());
            cells.push(space.new_cell(contents));
        }
        cells.extend_from_slice(closure);
        Frame {
            pc: 0,
            locals,
            stack,
            cells,
            globals,
            names: None,
        }
    }

    /// Goes on with one of the successors of a fork.
    pub fn follow(&mut self, s: &Successor<V>) {
        if s.pop {
            self.stack.pop();
        }
        self.stack.extend(s.push.clone());
        self.pc = s.pc;
    }

    /// Takes the value of a step that returned or yielded.
    pub fn take(&mut self) -> V {
        self.pop()
    }

    #[inline(always)]
    fn pop(&mut self) -> V {
        self.stack.pop().expect("operand stack underflow")
    }

    /// The value `n` below the top of the stack.
    #[inline(always)]
    pub fn top(&self, n: usize) -> &V {
        &self.stack[self.stack.len() - 1 - n]
    }

    /// The `n` topmost values.
    #[inline(always)]
    pub fn top_n(&self, n: usize) -> &[V] {
        &self.stack[self.stack.len() - n..]
    }

    /// Replaces the `n` topmost values by one.
    #[inline(always)]
    pub fn replace<S: ObjectSpace<Value = V>>(&mut self, n: usize, v: V) {
        let Some(lowest) = n.checked_sub(1) else {
            return self.stack.push(v);
        };
        S::discard(&mut self.stack, lowest);
        if let Some(place) = self.stack.last_mut() {
            S::put(place, v);
        }
    }

    #[inline(always)]
    fn drop_n<S: ObjectSpace<Value = V>>(&mut self, n: usize) {
        S::discard(&mut self.stack, n);
    }
}

/// One way to go on after a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor<V> {
    /// Next instruction.
    pub pc: Pc,
    /// Whether one value is popped first.
    pub pop: bool,
    /// What is then pushed.
    pub push: Option<V>,
}

impl<V> Successor<V> {
    fn at(pc: Pc) -> Self {
        Successor {
            pc,
            pop: false,
            push: None,
        }
    }

    fn pushing(pc: Pc, v: V) -> Self {
        Successor {
            pc,
            pop: false,
            push: Some(v),
        }
    }
}

/// What one instruction came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<V, S> {
    /// Go on at `frame.pc`.
    Continue,
    /// The body returned: [`Frame::take`] what.
    Return,
    /// A generator yielded: [`Frame::take`] what. To resume, push the sent value and go on at
    /// `frame.pc`.
    Yield,
    /// A truth test went both ways: the successor where it is true and the one where
    /// it is false. For `ForIter`: where there is an item, and where there is none.
    Fork(Box<[Successor<V>; 2]>),
    /// It raised: exception class and instance. `frame.pc` is still the
    /// instruction; see [`unwind`].
    Raise(Box<(V, V)>),
    /// The space said to stop.
    Stop(S),
}

/// Sends an exception through the handler table: the frame goes on at the handler
/// with the exception pushed, or the exception leaves the frame.
pub fn unwind<V>(code: &Code, frame: &mut Frame<V>, etype: V, evalue: V) -> Result<(), (V, V)> {
    let pc = frame.pc;
    match code.handlers.iter().find(|h| h.start <= pc && pc < h.end) {
        Some(h) => {
            frame.stack.truncate(h.depth as usize);
            frame.stack.push(evalue);
            frame.stack.push(etype);
            frame.pc = h.target;
            Ok(())
        }
        None => Err((etype, evalue)),
    }
}

/// Executes the instruction at `frame.pc`. Inlined, so that what goes on costs no answer.
#[inline(always)]
pub fn step<S: ObjectSpace>(
    space: &mut S,
    code: &Code,
    frame: &mut Frame<S::Value>,
) -> Step<S::Value, S::Stop> {
    match execute(space, code, frame) {
        Ok(s) => s,
        Err(Unwind::Raise(raised)) => Step::Raise(raised),
        Err(Unwind::Stop(s)) => Step::Stop(s),
    }
}

#[inline(always)]
#[expect(
    clippy::too_many_lines,
    reason = "a table: an arm per instruction, with few lines each"
)]
fn execute<S: ObjectSpace>(
    space: &mut S,
    code: &Code,
    frame: &mut Frame<S::Value>,
) -> Answer<S, Step<S::Value, S::Stop>> {
    let pc = frame.pc;
    let name = |i: u32| &*code.names[i as usize];
    let named = |i: u32| Named {
        text: &code.names[i as usize],
        index: i,
    };
    match code.instrs[pc as usize] {
        Instr::LoadConst(i) => {
            S::push_copy(&mut frame.stack, space.code_constant(i));
        }
        Instr::LoadFast(i) => match &frame.locals[i as usize] {
            Some(v) => S::push_copy(&mut frame.stack, v),
            None => return Err(space.unbound_local(&code.locals[i as usize])),
        },
        Instr::StoreFast(i) => {
            S::pop_into(&mut frame.stack, &mut frame.locals[i as usize]);
        }
        Instr::DeleteFast(i) => {
            if frame.locals[i as usize].take().is_none() {
                return Err(space.unbound_local(&code.locals[i as usize]));
            }
        }
        Instr::LoadGlobal(i) => {
            space.push_global(frame, named(i))?;
        }
        Instr::StoreGlobal(i) => {
            let v = frame.pop();
            space.store_global(frame, named(i), v)?;
        }
        Instr::DeleteGlobal(i) => space.delete_global(frame, name(i))?,
        Instr::LoadName(i) => {
            let v = space.load_name(frame, named(i))?;
            frame.stack.push(v);
        }
        Instr::StoreName(i) => {
            let v = frame.pop();
            space.store_name(frame, named(i), v)?;
        }
        Instr::DeleteName(i) => space.delete_name(frame, name(i))?,
        Instr::LoadDeref(i) => {
            let i = i as usize;
            let variable = match code.cells.get(i) {
                Some((n, _)) => n,
                None => &code.frees[i - code.cells.len()],
            };
            space.push_cell(&frame.cells[i], variable, &mut frame.stack)?;
        }
        Instr::StoreDeref(i) => {
            let v = frame.pop();
            space.store_cell(&frame.cells[i as usize], v)?;
        }
        Instr::LoadClosure(i) => {
            let v = frame.cells[i as usize].clone();
            frame.stack.push(v);
        }
        Instr::LoadLocals => {
            let v = frame.names.clone().unwrap_or_else(|| frame.globals.clone());
            frame.stack.push(v);
        }
        Instr::LoadAttr(i) => {
            space.attr_of_top(frame, named(i))?;
        }
        Instr::StoreAttr(i) => {
            let v = frame.top(1).clone();
            space.store_attr(frame.top(0), named(i), v)?;
            frame.drop_n::<S>(2);
        }
        Instr::DeleteAttr(i) => {
            space.delete_attr(frame.top(0), name(i))?;
            frame.drop_n::<S>(1);
        }
        Instr::Unary(op) => apply(space, frame, op, 1)?,
        Instr::Binary(op) => {
            let done = match &mut frame.stack[..] {
                [.., a, b] => S::op_in_place(op, a, b),
                _ => false,
            };
            if done {
                std::mem::forget(frame.stack.pop());
            } else {
                space.binary_top(frame, op)?;
            }
        }
        Instr::Not => {
            let truth = space.truth(frame.top(0))?;
            frame.drop_n::<S>(1);
            match truth {
                Truth::Known(b) => {
                    let v = space.bool(!b);
                    frame.stack.push(v);
                }
                Truth::Fork => {
                    let (f, t) = (space.bool(false), space.bool(true));
                    return Ok(Step::Fork(Box::new([
                        Successor::pushing(pc + 1, f),
                        Successor::pushing(pc + 1, t),
                    ])));
                }
            }
        }
        Instr::ToBool => apply(space, frame, HlOp::Bool, 1)?,
        Instr::StoreSubscr => {
            let [obj, key, v] = [1, 0, 2].map(|n| frame.top(n));
            space.set_item(obj, key, v)?;
            frame.drop_n::<S>(3);
        }
        Instr::DeleteSubscr => {
            space.op(HlOp::DelItem, frame.top_n(2))?;
            frame.drop_n::<S>(2);
        }
        Instr::GetSlice => apply(space, frame, HlOp::GetSlice, 3)?,
        Instr::SetSlice => {
            let args = [
                frame.top(2).clone(),
                frame.top(1).clone(),
                frame.top(0).clone(),
                frame.top(3).clone(),
            ];
            space.op(HlOp::SetSlice, &args)?;
            frame.drop_n::<S>(4);
        }
        Instr::DelSlice => {
            space.op(HlOp::DelSlice, frame.top_n(3))?;
            frame.drop_n::<S>(3);
        }
        Instr::BuildSlice => apply(space, frame, HlOp::NewSlice, 3)?,
        Instr::BuildTuple(n) => apply(space, frame, HlOp::NewTuple, n as usize)?,
        Instr::BuildList(n) => apply(space, frame, HlOp::NewList, n as usize)?,
        Instr::BuildDict(n) => apply(space, frame, HlOp::NewDict, 2 * n as usize)?,
        Instr::BuildSet(n) => {
            let v = space.build_set(frame.top_n(n as usize))?;
            frame.replace::<S>(n as usize, v);
        }
        Instr::ListAppend(n) => {
            let v = frame.pop();
            space.list_append(frame.top(n as usize - 1), v)?;
        }
        Instr::SetAdd(n) => {
            let v = frame.pop();
            space.set_add(frame.top(n as usize - 1), v)?;
        }
        Instr::MapAdd(n) => {
            let (key, v) = (frame.top(1).clone(), frame.top(0).clone());
            space.dict_add(frame.top(n as usize + 1), key, v)?;
            frame.drop_n::<S>(2);
        }
        Instr::UnpackSequence(n) => space.unpack_top(frame, n)?,
        Instr::Pop => frame.drop_n::<S>(1),
        Instr::Dup => repeat(frame, 1),
        Instr::Dup2 => repeat(frame, 2),
        Instr::Dup3 => repeat(frame, 3),
        Instr::Rot2 => rotate(frame, 2),
        Instr::Rot3 => rotate(frame, 3),
        Instr::Rot4 => rotate(frame, 4),
        Instr::Jump(target) => {
            frame.pc = target;
            return Ok(Step::Continue);
        }
        Instr::JumpIfFalse(target) => {
            let truth = space.truth(frame.top(0))?;
            frame.drop_n::<S>(1);
            return match truth {
                Truth::Known(b) => Ok(go(frame, if b { pc + 1 } else { target })),
                Truth::Fork => fork(Successor::at(pc + 1), Successor::at(target)),
            };
        }
        Instr::JumpIfTrue(target) => {
            let truth = space.truth(frame.top(0))?;
            frame.drop_n::<S>(1);
            return match truth {
                Truth::Known(b) => Ok(go(frame, if b { target } else { pc + 1 })),
                Truth::Fork => fork(Successor::at(target), Successor::at(pc + 1)),
            };
        }
        Instr::JumpIfSuppressed(target) => {
            let v = frame.pop();
            let suppressed = space.suppresses(&v)?;
            return Ok(go(frame, if suppressed { target } else { pc + 1 }));
        }
        Instr::JumpIfFalseOrPop(target) => {
            return match space.truth(frame.top(0))? {
                Truth::Known(true) => {
                    frame.drop_n::<S>(1);
                    Ok(go(frame, pc + 1))
                }
                Truth::Known(false) => Ok(go(frame, target)),
                Truth::Fork => {
                    let v = frame.pop();
                    fork(Successor::at(pc + 1), Successor::pushing(target, v))
                }
            };
        }
        Instr::JumpIfTrueOrPop(target) => {
            return match space.truth(frame.top(0))? {
                Truth::Known(false) => {
                    frame.drop_n::<S>(1);
                    Ok(go(frame, pc + 1))
                }
                Truth::Known(true) => Ok(go(frame, target)),
                Truth::Fork => {
                    let v = frame.pop();
                    fork(Successor::pushing(target, v), Successor::at(pc + 1))
                }
            };
        }
        Instr::GetIter => apply(space, frame, HlOp::Iter, 1)?,
        Instr::ForIter(target) => match space.push_next(frame)? {
            Next::Item(_) => {}
            Next::Exhausted => {
                frame.drop_n::<S>(1);
                frame.pc = target;
                return Ok(Step::Continue);
            }
            Next::Fork(item) => {
                let done = Successor {
                    pc: target,
                    pop: true,
                    push: None,
                };
                let next = Successor {
                    pc: pc + 1,
                    pop: false,
                    push: item,
                };
                return fork(next, done);
            }
        },
        Instr::Call(i) => {
            let desc = &code.calls[i as usize];
            space.call_top(code, frame, desc, desc.operands())?;
        }
        Instr::MakeFunction(i) => {
            let desc = &code.functions[i as usize];
            let taipan_code::CodeConst::Code(body) = code.consts[desc.code as usize] else {
                unreachable!("MakeFunction of a constant that is no code");
            };
            let (d, c) = (desc.defaults as usize, desc.closure as usize);
            let (defaults, closure) = frame.top_n(d + c).split_at(d);
            let v = space.make_function(frame, body, defaults, closure)?;
            frame.replace::<S>(d + c, v);
        }
        Instr::BuildClass => {
            let v = space.build_class(frame, frame.top(2), frame.top(1), frame.top(0))?;
            frame.replace::<S>(3, v);
        }
        Instr::Return => {
            return Ok(Step::Return);
        }
        Instr::Yield => {
            frame.pc += 1;
            return Ok(Step::Yield);
        }
        Instr::Raise(n) => return Err(space.raise(frame.top_n(n as usize))),
        Instr::Reraise => {
            let etype = frame.pop();
            return Ok(Step::Raise(Box::new((etype, frame.pop()))));
        }
        Instr::ExcMatch => {
            let v = space.exc_match(frame.top(1), frame.top(0))?;
            frame.replace::<S>(2, v);
        }
        Instr::Import(i) => {
            let v = space.import(frame, &code.imports[i as usize])?;
            frame.stack.push(v);
        }
        Instr::ImportFrom(i) => {
            let v = space.import_from(frame.top(0), name(i))?;
            frame.stack.push(v);
        }
        Instr::ImportStar => {
            space.import_star(frame, frame.top(0))?;
            frame.drop_n::<S>(1);
        }
        Instr::PrintItem => {
            space.print_item(None, frame.top(0))?;
            frame.drop_n::<S>(1);
        }
        Instr::PrintNewline => space.print_newline(None)?,
        Instr::PrintItemTo => {
            space.print_item(Some(frame.top(0)), frame.top(1))?;
            let file = frame.pop();
            frame.replace::<S>(1, file);
        }
        Instr::PrintNewlineTo => {
            space.print_newline(Some(frame.top(0)))?;
            frame.drop_n::<S>(1);
        }
        Instr::Exec => {
            let [source, globals, locals] = [2, 1, 0].map(|n| frame.top(n).clone());
            space.exec(code, frame, &source, &globals, &locals)?;
            frame.drop_n::<S>(3);
        }
    }
    frame.pc = pc + 1;
    Ok(Step::Continue)
}

fn go<V, S>(frame: &mut Frame<V>, pc: Pc) -> Step<V, S> {
    frame.pc = pc;
    Step::Continue
}

fn fork<V, S, E>(a: Successor<V>, b: Successor<V>) -> Result<Step<V, S>, E> {
    Ok(Step::Fork(Box::new([a, b])))
}

#[inline(always)]
fn apply<S: ObjectSpace>(
    space: &mut S,
    frame: &mut Frame<S::Value>,
    op: HlOp,
    n: usize,
) -> Answer<S, ()> {
    let v = space.op(op, frame.top_n(n))?;
    frame.replace::<S>(n, v);
    Ok(())
}

fn repeat<V: Clone>(frame: &mut Frame<V>, n: usize) {
    let from = frame.stack.len() - n;
    frame.stack.extend_from_within(from..);
}

/// Moves the top value below the next `n - 1`.
fn rotate<V>(frame: &mut Frame<V>, n: usize) {
    let from = frame.stack.len() - n;
    frame.stack[from..].rotate_right(1);
}
