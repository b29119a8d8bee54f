//! Places in containers, and new containers.

use taipan_graph::{Operand, VarId};
use taipan_lltype::{ConstantOperand, LLConst, LLOperand, LLType, TypeKind, VoidConst};

use super::{Lowerer, operand};
use crate::{Lack, OOOperand, OOType, ObjectOp, Place, items_field, member, storage};

/// The target of a step.
enum Step {
    /// The container itself, as one of its base.
    Base(LLType),
    /// A field or an item.
    Part(Part),
    /// A Void field.
    Nothing,
}

/// A field or an item of a container.
struct Part {
    container: OOOperand,
    key: Key,
    /// The `lltype` type of the part.
    ty: LLType,
}

enum Key {
    Field(OOOperand),
    Item(OOOperand),
}

impl Lowerer<'_> {
    /// The container that a pointer refers to.
    pub(super) fn pointee(&self, o: &LLOperand) -> Result<LLType, Lack> {
        let ty = match o {
            Operand::Var(v) => *self.graph.ty(*v),
            Operand::Const(c) => c.ty(),
        };
        match OOType::of(ty).container() {
            Some(to) => Ok(to),
            None => Err(Lack::RawMemory),
        }
    }

    fn step(&mut self, container: OOOperand, ty: LLType, step: &LLOperand) -> Result<Step, Lack> {
        let item = |container, index, ty| {
            Step::Part(Part {
                container,
                key: Key::Item(index),
                ty,
            })
        };
        let of = match ty.kind() {
            TypeKind::Array(a) => Some(a.of),
            TypeKind::FixedArray(of, _) => Some(*of),
            _ => None,
        };
        let Some(name) = step.as_field() else {
            let of = of.ok_or(Lack::Addresses)?;
            return Ok(match of.is_void() {
                true => Step::Nothing,
                false => item(container, operand(step), of),
            });
        };
        if let (Some(of), Some(Ok(index))) = (of, name.strip_prefix("item").map(str::parse)) {
            let index = Operand::Const(LLConst::signed(index));
            return Ok(item(container, index, of));
        }
        if ty.as_struct().is_some_and(|s| self.program.body(s).union) {
            return Err(Lack::Reinterpretation);
        }
        Ok(match member(ty, name, self.program) {
            Some(Place::Base(base)) => Step::Base(base),
            Some(Place::Field(_, ty)) => Step::Part(Part {
                container,
                key: Key::Field(operand(step)),
                ty,
            }),
            Some(Place::Nothing) => Step::Nothing,
            None => return Err(Lack::Addresses),
        })
    }

    /// Reads a part.
    fn read(&mut self, part: Part, result: Option<VarId>) -> OOOperand {
        let ty = storage(part.ty);
        let (op, args) = match part.key {
            Key::Field(name) => (ObjectOp::GetField, vec![part.container, name]),
            Key::Item(index) => (ObjectOp::GetItem, vec![part.container, index]),
        };
        match result {
            Some(result) => {
                self.object(op, args, result);
                Operand::Var(result)
            }
            None => self.push(op, args, ty),
        }
    }

    /// Follows all steps but the last one.
    fn place(&mut self, object: &LLOperand, path: &[LLOperand]) -> Result<Step, Lack> {
        let (mut ty, mut container) = (self.pointee(object)?, operand(object));
        let (last, path) = path.split_last().ok_or(Lack::Addresses)?;
        for step in path {
            container = match self.step(container.clone(), ty, step)? {
                Step::Base(base) => {
                    ty = base;
                    self.push(ObjectOp::Cast, vec![container], OOType::reference(base))
                }
                Step::Part(part) => {
                    ty = part.ty;
                    self.read(part, None)
                }
                Step::Nothing => return Ok(Step::Nothing),
            };
        }
        self.step(container, ty, last)
    }

    /// `getfield`, `getarrayitem`, `getinteriorfield`, and pointers to parts.
    pub(super) fn load(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        result: VarId,
    ) -> Result<(), Lack> {
        match self.place(object, path)? {
            Step::Base(_) => self.cast(operand(object), result)?,
            Step::Part(part) => drop(self.read(part, Some(result))),
            Step::Nothing => self.same(nothing(), result),
        }
        Ok(())
    }

    /// `setfield`, `setarrayitem` and `setinteriorfield`.
    pub(super) fn store(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        value: &LLOperand,
        result: VarId,
    ) -> Result<(), Lack> {
        let Step::Part(part) = self.place(object, path)? else {
            self.same(nothing(), result);
            return Ok(());
        };
        let value = operand(value);
        match part.key {
            Key::Field(name) => {
                let args = vec![part.container, name, value];
                self.object(ObjectOp::SetField, args, result);
            }
            Key::Item(index) => {
                let args = vec![part.container, index, value];
                self.object(ObjectOp::SetItem, args, result);
            }
        }
        Ok(())
    }

    /// The array at the end of a path.
    fn array(&mut self, object: &LLOperand, path: &[LLOperand]) -> Result<OOOperand, Lack> {
        if path.is_empty() {
            return Ok(operand(object));
        }
        match self.place(object, path)? {
            Step::Part(part) => Ok(self.read(part, None)),
            Step::Base(_) | Step::Nothing => Err(Lack::Addresses),
        }
    }

    /// `getarraysize` and `getinteriorarraysize`.
    pub(super) fn length(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        result: VarId,
    ) -> Result<(), Lack> {
        let array = self.array(object, path)?;
        self.object(ObjectOp::Length, vec![array], result);
        Ok(())
    }

    /// The items of an array, or of an object with an array at its end.
    fn items(&mut self, object: &LLOperand) -> Result<OOOperand, Lack> {
        let ty = self.pointee(object)?;
        let Some(s) = ty.as_struct() else {
            return Ok(operand(object));
        };
        let (_, array) = items_field(ty, self.program).ok_or(Lack::Addresses)?;
        let body = self.program.body(s);
        let name = &body.fields.last().ok_or(Lack::Addresses)?.name;
        let args = vec![operand(object), Operand::Const(LLConst::field(name))];
        Ok(self.push(ObjectOp::GetField, args, OOType::reference(array)))
    }

    /// `gc_copy_array`
    pub(super) fn copy_items(
        &mut self,
        arrays: [&LLOperand; 2],
        numbers: [&LLOperand; 3],
        result: VarId,
    ) -> Result<(), Lack> {
        let mut args = Vec::new();
        for array in arrays {
            args.push(self.items(array)?);
        }
        args.extend(numbers.map(operand));
        self.object(ObjectOp::CopyItems, args, result);
        Ok(())
    }

    /// `malloc` and `malloc_varsize`
    pub(super) fn allocate(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        result: VarId,
    ) -> Result<(), Lack> {
        let is_raw = matches!(
            flavor,
            LLOperand::Const(LLConst::Void(VoidConst::Flavor { gc: false, .. }))
        );
        if is_raw {
            return Err(Lack::RawMemory);
        }
        let mut args = vec![operand(ty)];
        args.extend(length.map(operand));
        let op = match length {
            Some(_) => ObjectOp::NewItems,
            None => ObjectOp::New,
        };
        self.object(op, args, result);
        Ok(())
    }
}

/// The Void constant.
pub(super) fn nothing() -> OOOperand {
    Operand::Const(LLConst::void())
}
