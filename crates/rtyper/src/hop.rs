//! One high-level operation while it is being typed (RPython: `HighLevelOp`).

use taipan_annotator::{CallInfo, SomeKind, SomeValue};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, ObjId, Operand};
use taipan_language::Exc;
use taipan_lltype::{LLConst, LLOperand, LLType, View, VoidConst};

use crate::exceptions::exception_id;
use crate::llops::Raising;
use crate::{LLOps, RTyper, Repr, Typed, TyperError};

/// Operand of a high-level operation: a constant not yet converted, or a value that
/// has its low-level form already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArgValue {
    /// To be converted by the Repr that is asked for.
    Const(Const),
    /// A low-level operand in the form of the argument's Repr.
    Low(LLOperand),
    /// A pointer to a part of a GC container.
    Interior(InteriorValue),
}

/// A container and the way to a part of it: what stands for a pointer to the part,
/// within the block that makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InteriorValue {
    /// The container.
    pub base: LLOperand,
    /// Field names and indices.
    pub path: Vec<LLOperand>,
}

/// A high-level operation: operands, their annotations and Reprs. Copies share the
/// list that operations are appended to, so a method may change its copy's arguments
/// and dispatch again.
#[derive(Clone)]
pub struct Hop<'a> {
    /// The typer.
    pub rt: &'a RTyper<'a>,
    /// Where operations go.
    pub llops: &'a LLOps<'a>,
    /// The operation.
    pub op: HlOp,
    /// Operands.
    pub args_v: Vec<ArgValue>,
    /// Their annotations.
    pub args_s: Vec<SomeValue>,
    /// Their Reprs.
    pub args_r: Vec<Repr>,
    /// Annotation of the result.
    pub s_result: SomeValue,
    /// Repr of the result.
    pub r_result: Repr,
    /// Classes of the exceptions that the graph catches here.
    pub exceptionlinks: &'a [ObjId],
    /// How the annotator resolved it, if it is a call.
    pub call: Option<&'a CallInfo>,
    /// Names of the last arguments, in a call of a builtin with keywords.
    pub keywords: Vec<Box<str>>,
}

impl<'a> Hop<'a> {
    /// Number of arguments.
    pub fn nb_args(&self) -> usize {
        self.args_v.len()
    }

    /// The argument, converted to that Repr.
    pub fn inputarg(&self, to: &Repr, i: usize) -> Typed<LLOperand> {
        let v = self
            .args_v
            .get(i)
            .ok_or_else(|| TyperError::new(format!("too few operands for {}", self.op.spelt())))?;
        match v {
            ArgValue::Const(c) => self.inputconst(to, c),
            ArgValue::Interior(v) if let Repr::InteriorPtr(r) = to => Ok(r.make_box(self.llops, v)),
            ArgValue::Interior(_) => Err(TyperError::with_code(
                ErrorCode::InteriorAsValue,
                "a part of a structure is used as a value of its own",
            )),
            ArgValue::Low(v) => match &self.args_s[i].const_ {
                Some(c) => self.inputconst(to, c),
                None => self.llops.convertvar(v.clone(), &self.args_r[i], to),
            },
        }
    }

    /// All arguments, converted to these Reprs; there must be as many.
    pub fn inputargs<const N: usize>(&self, to: [&Repr; N]) -> Typed<[LLOperand; N]> {
        if self.nb_args() != N {
            return Err(TyperError::new(format!(
                "{} with {} operands instead of {N} is not RPython",
                self.op.spelt(),
                self.nb_args()
            )));
        }
        let mut out = Vec::with_capacity(N);
        for (i, r) in to.iter().enumerate() {
            out.push(self.inputarg(r, i)?);
        }
        Ok(out
            .try_into()
            .expect("one operand was pushed for each of N Reprs"))
    }

    /// A constant in the form of that Repr.
    pub fn inputconst(&self, to: &Repr, c: &Const) -> Typed<LLOperand> {
        Ok(Operand::Const(to.convert_const(self.rt, c)?))
    }

    /// The constant value of an argument, if the annotator knows it.
    pub fn const_arg(&self, i: usize) -> Option<&Const> {
        match self.args_v.get(i)? {
            ArgValue::Const(c) => Some(c),
            ArgValue::Low(_) | ArgValue::Interior(_) => self.args_s[i].const_.as_ref(),
        }
    }

    /// An attribute name, argument `i`.
    pub fn const_name(&self, i: usize) -> Typed<&str> {
        self.const_arg(i)
            .and_then(Const::as_str)
            .ok_or_else(|| TyperError::new("the name of the attribute is not a constant"))
    }

    /// The result as a constant, if the annotator knows it.
    pub fn result_const(&self) -> Option<Typed<LLOperand>> {
        let c = self.s_result.const_.as_ref()?;
        Some(self.inputconst(&self.r_result, c))
    }

    /// Appends an operation (see [`LLOps::genop`]).
    pub fn genop(&self, op: View<'_, LLOperand>, result: LLType) -> LLOperand {
        self.llops.genop(op, result)
    }

    /// Appends an operation without result.
    pub fn genop_void(&self, op: View<'_, LLOperand>) -> LLOperand {
        self.llops.genop_void(op)
    }

    /// Calls a prelude helper (see [`LLOps::gendirectcall`]).
    pub fn gendirectcall(
        &self,
        helper: &str,
        args: impl IntoIterator<Item = LLOperand>,
    ) -> Typed<LLOperand> {
        self.llops.gendirectcall(helper, args)
    }

    /// Converts the value to the Repr of the result.
    pub fn convert_result(&self, v: LLOperand, from: &Repr) -> Typed<LLOperand> {
        self.llops.convertvar(v, from, &self.r_result)
    }

    /// Takes out argument `i`.
    pub fn r_s_pop(&mut self, i: usize) -> (ArgValue, SomeValue, Repr) {
        (
            self.args_v.remove(i),
            self.args_s.remove(i),
            self.args_r.remove(i),
        )
    }

    /// Puts in a first argument.
    pub fn v_s_insertfirstarg(&mut self, v: ArgValue, s: SomeValue) -> Typed<()> {
        let r = self.rt.getrepr(&s)?;
        self.insertfirstarg(v, s, r);
        Ok(())
    }

    /// Puts in a first argument whose Repr is known.
    pub fn insertfirstarg(&mut self, v: ArgValue, s: SomeValue, r: Repr) {
        self.args_v.insert(0, v);
        self.args_s.insert(0, s);
        self.args_r.insert(0, r);
    }

    /// Exchanges the first two arguments.
    pub fn swap_fst_snd_args(&mut self) {
        self.args_v.swap(0, 1);
        self.args_s.swap(0, 1);
        self.args_r.swap(0, 1);
    }

    /// Before the operation that raises these, if there are any, and nothing else.
    pub fn raises_implicitly(&self, exceptions: &[Exc]) -> Typed<()> {
        if exceptions.is_empty() {
            return self.exception_cannot_occur();
        }
        for e in exceptions {
            self.has_implicit_exception(*e)?;
        }
        self.exception_is_here()
    }

    /// Whether the graph catches this builtin exception here, or a Python program that calls
    /// it may, so that the operation has to check for it. To be asked before [`Hop::exception_is_here`].
    pub fn has_implicit_exception(&self, exception: Exc) -> Typed<bool> {
        if self.llops.raising() != Raising::Unknown {
            return Err(TyperError::internal(
                "already generated the operation that raises",
            ));
        }
        let mut result = self.rt.raises_uncaught();
        if self.exceptionlinks.is_empty() {
            return Ok(result);
        }
        let exc = exception_id(exception);
        let mut checked = self.llops.implicit_checked().borrow_mut();
        let checked = checked.get_or_insert_with(Vec::new);
        for case in self.exceptionlinks {
            if self.rt.is_subclass(exc, *case) {
                checked.push(*case);
                result = true;
            }
        }
        Ok(result)
    }

    /// The next low-level operation is the one that the exception links belong to.
    pub fn exception_is_here(&self) -> Typed<()> {
        self.exception_once()?;
        if self.exceptionlinks.is_empty() {
            return Ok(());
        }
        if let Some(checked) = &*self.llops.implicit_checked().borrow() {
            // Whether the operation makes an object is not told before.
            let memory_error = exception_id(Exc::MemoryError);
            for case in self.exceptionlinks {
                if !checked.contains(case) && *case != memory_error {
                    return Err(TyperError::new(format!(
                        "{} is caught here, but {} never raises it",
                        self.rt.class_name(*case),
                        self.op.spelt()
                    )));
                }
            }
        }
        self.llops.set_raising(Raising::At(self.llops.len()));
        Ok(())
    }

    /// None of the exceptions that the graph catches here can occur.
    pub fn exception_cannot_occur(&self) -> Typed<()> {
        self.exception_once()?;
        if !self.exceptionlinks.is_empty() {
            self.llops.set_raising(Raising::Removed);
        }
        Ok(())
    }

    fn exception_once(&self) -> Typed<()> {
        if self.llops.raising() != Raising::Unknown {
            return Err(TyperError::internal(
                "cannot catch an exception at more than one low-level operation",
            ));
        }
        Ok(())
    }

    /// Makes the result a pointer to a part of a container.
    pub(crate) fn interior(&self, base: LLOperand, path: Vec<LLOperand>) -> LLOperand {
        *self.llops.interior().borrow_mut() = Some(InteriorValue { base, path });
        cvoid()
    }

    /// Types the operation by its first argument or arguments.
    pub fn dispatch(&self) -> crate::RType {
        crate::translate_op::dispatch(self)
    }

    /// Which kind of slicing arguments 1 and 2 ask for, and the operands it needs.
    pub fn decompose_slice_args(&self) -> Typed<(SliceKind, Vec<LLOperand>)> {
        let start_const = self.const_arg(1).cloned();
        let stop_const = self.const_arg(2).cloned();
        if matches!(start_const, Some(Const::None | Const::Int(0)))
            && stop_const == Some(Const::Int(-1))
        {
            return Ok((SliceKind::MinusOne, vec![]));
        }
        for (i, which) in [(1, "start"), (2, "stop")] {
            if let SomeKind::Integer { nonneg: false, .. } = self.args_s[i].kind {
                return Err(TyperError::internal(format!(
                    "slicing: the {which} may be negative"
                )));
            }
        }
        let signed = Repr::signed();
        let v_start = match start_const {
            Some(Const::None) => Operand::Const(LLConst::signed(0)),
            _ => self.inputarg(&signed, 1)?,
        };
        if stop_const == Some(Const::None) {
            return Ok((SliceKind::StartOnly, vec![v_start]));
        }
        let v_stop = self.inputarg(&signed, 2)?;
        Ok((SliceKind::StartStop, vec![v_start, v_stop]))
    }
}

/// Kinds of slicing that helpers exist for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceKind {
    /// `[:-1]`
    MinusOne,
    /// `[start:]`
    StartOnly,
    /// `[start:stop]`
    StartStop,
}

/// A Signed operand.
pub(crate) fn csigned(v: i64) -> LLOperand {
    Operand::Const(LLConst::signed(v))
}

/// A Bool operand.
pub(crate) fn cbool(v: bool) -> LLOperand {
    Operand::Const(LLConst::Bool(v))
}

/// A field name operand.
pub(crate) fn cfield(name: &str) -> LLOperand {
    Operand::Const(LLConst::field(name))
}

/// A type operand.
pub(crate) fn ctype(t: LLType) -> LLOperand {
    Operand::Const(LLConst::Void(VoidConst::Type(t)))
}

/// The Void operand that stands for nothing.
pub(crate) fn cvoid() -> LLOperand {
    Operand::Const(LLConst::void())
}

/// The flavour operand of a GC `malloc`.
pub(crate) fn cflavor_gc() -> LLOperand {
    Operand::Const(LLConst::Void(VoidConst::Flavor {
        gc: true,
        zero: false,
    }))
}
