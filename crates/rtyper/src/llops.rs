//! The list of low-level operations that one high-level block turns into
//! (RPython: `LowLevelOpList`).

use std::cell::{Cell, RefCell};

use taipan_graph::{Const, ObjId, Operand, Operation, VarData, VarId};
use taipan_lltype::{FuncSym, LLConst, LLOperand, LLType, LowLevel, VOID, View, VoidConst};

use crate::hop::InteriorValue;
use crate::{RTyper, Repr, Typed, TyperError};

/// Where in the list the operation is that the block's exception links belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Raising {
    /// Nobody said yet.
    Unknown,
    /// At this position.
    At(usize),
    /// Nowhere: the exceptions cannot occur and the links go away.
    Removed,
}

/// Low-level variables of the graph under construction.
#[derive(Default)]
pub struct Vars(RefCell<Vec<VarData<LowLevel>>>);

impl Vars {
    /// The variables of a graph that is being built.
    pub(crate) fn from_inner(vars: Vec<VarData<LowLevel>>) -> Vars {
        Vars(RefCell::new(vars))
    }

    /// A fresh variable.
    pub fn fresh(&self, name: &str, ty: LLType) -> VarId {
        let mut vars = self.0.borrow_mut();
        vars.push(VarData {
            name: name.into(),
            ty,
        });
        VarId(vars.len() as u32 - 1)
    }

    /// Type of a variable.
    pub fn ty(&self, v: VarId) -> LLType {
        self.0.borrow()[v.index()].ty
    }

    /// Name of a variable.
    pub fn name(&self, v: VarId) -> Box<str> {
        self.0.borrow()[v.index()].name.clone()
    }

    /// Gives a nameless variable a name for people.
    pub fn set_name(&self, v: VarId, name: &str) {
        let data = &mut self.0.borrow_mut()[v.index()];
        if data.name.is_empty() {
            data.name = name.into();
        }
    }

    /// All of them, for the finished graph.
    pub fn into_inner(self) -> Vec<VarData<LowLevel>> {
        self.0.into_inner()
    }
}

/// Collects operations. All methods take `&self`, so that a [`crate::Hop`] and its
/// copies write to the same list.
pub struct LLOps<'a> {
    /// The typer.
    pub rt: &'a RTyper<'a>,
    vars: &'a Vars,
    ops: RefCell<Vec<Operation<LowLevel>>>,
    at: Cell<u32>,
    raising: Cell<Raising>,
    implicit_checked: RefCell<Option<Vec<ObjId>>>,
    interior: RefCell<Option<InteriorValue>>,
}

impl<'a> LLOps<'a> {
    /// An empty list.
    pub fn new(rt: &'a RTyper<'a>, vars: &'a Vars) -> Self {
        LLOps {
            rt,
            vars,
            ops: RefCell::default(),
            at: Cell::new(0),
            raising: Cell::new(Raising::Unknown),
            implicit_checked: RefCell::new(None),
            interior: RefCell::new(None),
        }
    }

    /// The operations.
    pub fn finish(self) -> (Vec<Operation<LowLevel>>, Raising) {
        (self.ops.into_inner(), self.raising.get())
    }

    /// Number of operations so far.
    pub fn len(&self) -> usize {
        self.ops.borrow().len()
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytecode position that further operations come from.
    pub fn set_at(&self, at: u32) {
        self.at.set(at);
    }

    /// Type of an operand (its `concretetype`).
    pub fn ty(&self, v: &LLOperand) -> LLType {
        match v {
            Operand::Var(v) => self.vars.ty(*v),
            Operand::Const(c) => c.ty(),
        }
    }

    /// Appends an operation and returns its result, of this type.
    pub fn genop(&self, op: View<'_, LLOperand>, result: LLType) -> LLOperand {
        let v = self.vars.fresh("", result);
        let op = op.operation(v, self.at.get());
        self.ops.borrow_mut().push(op);
        Operand::Var(v)
    }

    /// Appends an operation without result.
    pub fn genop_void(&self, op: View<'_, LLOperand>) -> LLOperand {
        self.genop(op, *VOID)
    }

    /// Converts a value from one Repr to another.
    pub fn convertvar(&self, v: LLOperand, from: &Repr, to: &Repr) -> Typed<LLOperand> {
        if from == to {
            return Ok(v);
        }
        let result = crate::pairs::convert_from_to(self, v, from, to)?;
        let got = self.ty(&result);
        if got != to.lowleveltype() {
            return Err(TyperError::internal(format!(
                "conversion from {from:?} to {to:?} gave a {got}"
            )));
        }
        Ok(result)
    }

    /// Calls a prelude helper (`module.function` below `taipan_prelude`), specialised
    /// for the types of these arguments; Void constants are part of the
    /// specialisation.
    pub fn gendirectcall(
        &self,
        helper: &str,
        args: impl IntoIterator<Item = LLOperand>,
    ) -> Typed<LLOperand> {
        let args: Vec<LLOperand> = args.into_iter().collect();
        let f = self
            .rt
            .helper(helper, args.iter().map(|a| self.helper_arg(a)).collect())?;
        Ok(self.gencall(f, args))
    }

    /// Likewise, where the type of the result is known: nothing of the helper is
    /// looked at now. It must be the type that the helper turns out to return.
    pub fn gendirectcall_to(
        &self,
        helper: &str,
        args: impl IntoIterator<Item = LLOperand>,
        result: LLType,
    ) -> LLOperand {
        let args: Vec<LLOperand> = args.into_iter().collect();
        let spec = args.iter().map(|a| self.helper_arg(a)).collect();
        self.gencall(crate::helper_sym(helper, spec, result), args)
    }

    /// Calls a known low-level function.
    pub fn gencall(&self, f: FuncSym, args: impl IntoIterator<Item = LLOperand>) -> LLOperand {
        let result = f.ty().result;
        let args: Vec<LLOperand> = args.into_iter().collect();
        let call = View::DirectCall {
            callee: &Operand::Const(LLConst::Func(f)),
            args: &args,
        };
        self.genop(call, result)
    }

    fn helper_arg(&self, v: &LLOperand) -> taipan_lltype::HelperArg {
        use taipan_lltype::HelperArg;
        match v {
            // Helpers know nothing of the objects of the program that they serve.
            Operand::Const(LLConst::Void(VoidConst::Hl(Const::Obj(_))))
                if matches!(self.rt.universe, crate::Universe::User(_)) =>
            {
                HelperArg::Const(VoidConst::None)
            }
            Operand::Const(LLConst::Void(c)) => HelperArg::Const(c.clone()),
            other if self.ty(other).is_void() => HelperArg::Const(VoidConst::None),
            other => HelperArg::Type(self.ty(other)),
        }
    }

    /// The last operation so far that may raise, for operations that say nothing of
    /// exceptions.
    pub(crate) fn last_raising(&self) -> Raising {
        let ops = self.ops.borrow();
        match ops.iter().rposition(|op| op.op.can_raise()) {
            Some(i) => Raising::At(i),
            None => Raising::Removed,
        }
    }

    pub(crate) fn raising(&self) -> Raising {
        self.raising.get()
    }

    pub(crate) fn set_raising(&self, r: Raising) {
        self.raising.set(r);
    }

    pub(crate) fn implicit_checked(&self) -> &RefCell<Option<Vec<ObjId>>> {
        &self.implicit_checked
    }

    /// What the last operation made, if it is a pointer to an inlined part.
    pub(crate) fn interior(&self) -> &RefCell<Option<InteriorValue>> {
        &self.interior
    }
}
