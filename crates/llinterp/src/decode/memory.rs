//! Fields, items and parts of objects, as addresses.

use taipan_lltype::{
    Access, LLConst, LLGraph, LLOperand, LLType, Memory, NumFamily, NumOp, TypeKind, VOID,
    VoidConst, round_up,
};

use super::{Bad, Decoder, access_of};
use crate::code::{Inst, ItemShape, Opnd};

/// What is done with a place inside of an object.
#[derive(Clone, Copy)]
pub(super) enum Interior<'a> {
    Read,
    Write(&'a LLOperand),
    /// The length of the array there is read.
    Length,
}

impl Decoder<'_, '_> {
    pub(super) fn field(&mut self, ty: LLType, name: &LLOperand) -> Result<(u64, LLType), Bad> {
        let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = name else {
            return Err("field name that is no constant".into());
        };
        let (at, field) = self
            .heap
            .field(0, ty, name)
            .map_err(|_| format!("{ty} has no field {name}"))?;
        Ok((at, field))
    }

    pub(super) fn item_shape(&mut self, ty: LLType) -> Result<ItemShape, Bad> {
        if let TypeKind::FixedArray(of, n) = ty.kind() {
            let l = self.heap.layout(*of);
            let step = round_up(l.size, l.align);
            return Ok(ItemShape {
                start: 0,
                step,
                length: None,
                // Pointers to single items are moved along arrays.
                fixed: (*n > 1).then_some(*n),
                ty,
            });
        }
        let l = self.heap.layout(ty);
        match (&l.var, ty.as_array()) {
            (Some(v), Some(_)) => Ok(ItemShape {
                start: v.items,
                step: v.item_size,
                length: v.length,
                fixed: None,
                ty,
            }),
            _ => Err(format!("item of a {ty}")),
        }
    }

    pub(super) fn item_type(ty: LLType) -> LLType {
        match ty.kind() {
            TypeKind::FixedArray(of, _) => *of,
            TypeKind::Array(a) => a.of,
            _ => *VOID,
        }
    }

    pub(super) fn shape_id(&mut self, shape: ItemShape) -> u32 {
        self.code.shapes.push(shape);
        self.code.shapes.len() as u32 - 1
    }

    pub(super) fn offset(&mut self, p: Opnd, offset: u64, dst: u32) {
        if offset == 0 {
            return self.emit(Inst::Move { a: p, dst });
        }
        let b = self.constant(i128::from(offset));
        self.emit(Inst::Num {
            family: NumFamily::Uint,
            op: NumOp::Add,
            a: p,
            b,
            dst,
        });
    }

    pub(super) fn load(&mut self, p: Opnd, offset: u64, access: Access, dst: u32) {
        let offset = offset as u32;
        match access {
            Access::Void => {}
            Access::W128 => {
                // The upper half first: `dst` may be the slot of `p`.
                self.emit(Inst::Load {
                    p,
                    offset: offset + 8,
                    access: Access::W64,
                    dst: dst + 1,
                });
                self.emit(Inst::Load {
                    p,
                    offset,
                    access: Access::W64,
                    dst,
                });
            }
            _ => self.emit(Inst::Load {
                p,
                offset,
                access,
                dst,
            }),
        }
    }

    pub(super) fn store(&mut self, p: Opnd, offset: u64, ty: LLType, v: Opnd) -> Result<(), Bad> {
        let offset = offset as u32;
        match access_of(ty)? {
            Access::Void => {}
            Access::W128 => {
                self.emit(Inst::Store {
                    p,
                    offset,
                    access: Access::W64,
                    v,
                });
                self.emit(Inst::Store {
                    p,
                    offset: offset + 8,
                    access: Access::W64,
                    v: v.high(),
                });
            }
            access => self.emit(Inst::Store {
                p,
                offset,
                access,
                v,
            }),
        }
        Ok(())
    }

    pub(super) fn get_item(&mut self, p: Opnd, index: Opnd, shape: ItemShape, dst: u32) {
        let access = Access::of(Self::item_type(shape.ty));
        let shape = self.shape_id(shape);
        match access {
            Some(Access::Void) => {}
            None => self.emit(Inst::ItemAddr {
                p,
                index,
                shape,
                dst,
            }),
            Some(Access::W128) => {
                let at = self.scratch();
                self.emit(Inst::ItemAddr {
                    p,
                    index,
                    shape,
                    dst: at,
                });
                self.load(Opnd(at), 0, Access::W128, dst);
            }
            Some(access) => self.emit(Inst::LoadItem {
                p,
                index,
                shape,
                access,
                dst,
            }),
        }
    }

    pub(super) fn set_item(
        &mut self,
        p: Opnd,
        index: Opnd,
        shape: ItemShape,
        v: Opnd,
    ) -> Result<(), Bad> {
        let of = Self::item_type(shape.ty);
        let access = access_of(of)?;
        let shape = self.shape_id(shape);
        match access {
            Access::Void => {}
            Access::W128 => {
                let at = self.scratch();
                self.emit(Inst::ItemAddr {
                    p,
                    index,
                    shape,
                    dst: at,
                });
                self.store(Opnd(at), 0, of, v)?;
            }
            access => self.emit(Inst::StoreItem {
                p,
                index,
                shape,
                access,
                v,
            }),
        }
        Ok(())
    }

    pub(super) fn array_size(
        &mut self,
        p: Opnd,
        offset: u64,
        ty: LLType,
        dst: u32,
    ) -> Result<(), Bad> {
        let shape = self.item_shape(ty)?;
        match (shape.fixed, shape.length) {
            (Some(n), _) => {
                let a = self.constant(i128::from(n));
                self.emit(Inst::Move { a, dst });
            }
            (None, Some(at)) => self.load(p, offset + at, Access::W64, dst),
            _ => return Err(format!("length of a {ty}")),
        }
        Ok(())
    }

    /// Follows field names and indexes into an object.
    pub(super) fn interior(
        &mut self,
        g: &LLGraph,
        object: &LLOperand,
        path: &[LLOperand],
        what: Interior<'_>,
        dst: u32,
    ) -> Result<(), Bad> {
        let mut ty = self.pointee(g, object)?;
        let mut at = self.opnd(object);
        let mut offset = 0;
        for (i, step) in path.iter().enumerate() {
            let last = i + 1 == path.len();
            if self.ty(g, step).is_void() {
                let (o, field) = self.field(ty, step)?;
                (offset, ty) = (offset + o, field);
                continue;
            }
            let mut shape = self.item_shape(ty)?;
            shape.start += offset;
            shape.length = shape.length.map(|l| l + offset);
            let index = self.opnd(step);
            ty = Self::item_type(ty);
            match what {
                Interior::Write(value) if last => {
                    let v = self.opnd(value);
                    return self.set_item(at, index, shape, v);
                }
                Interior::Read if last => {
                    self.get_item(at, index, shape, dst);
                    return Ok(());
                }
                Interior::Read | Interior::Write(_) | Interior::Length => {}
            }
            let (shape, to) = (self.shape_id(shape), self.scratch());
            self.emit(Inst::ItemAddr {
                p: at,
                index,
                shape,
                dst: to,
            });
            (at, offset) = (Opnd(to), 0);
        }
        match (what, Access::of(ty)) {
            (Interior::Write(value), _) => {
                let v = self.opnd(value);
                self.store(at, offset, ty, v)?;
            }
            (Interior::Length, _) => self.array_size(at, offset, ty, dst)?,
            (Interior::Read, Some(access)) => self.load(at, offset, access, dst),
            (Interior::Read, None) => self.offset(at, offset, dst),
        }
        Ok(())
    }

    pub(super) fn address_sum(&mut self, a: &LLOperand, b: &LLOperand) -> Opnd {
        let (a, b, dst) = (self.opnd(a), self.opnd(b), self.scratch());
        self.emit(Inst::Num {
            family: NumFamily::Int,
            op: NumOp::Add,
            a,
            b,
            dst,
        });
        Opnd(dst)
    }

    pub(super) fn indexed(
        &mut self,
        p: &LLOperand,
        index: &LLOperand,
        scale: &LLOperand,
        base: &LLOperand,
    ) -> Opnd {
        let (a, b, dst) = (self.opnd(index), self.opnd(scale), self.scratch());
        self.emit(Inst::Num {
            family: NumFamily::Int,
            op: NumOp::Mul,
            a,
            b,
            dst,
        });
        let at = self.address_sum(p, base);
        self.emit(Inst::Num {
            family: NumFamily::Int,
            op: NumOp::Add,
            a: at,
            b: Opnd(dst),
            dst,
        });
        Opnd(dst)
    }
}
