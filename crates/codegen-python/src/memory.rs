//! Fields, items and parts of objects.

use taipan_lltype::{ConstantOperand, LLOperand, LLType, TypeKind, field_of, layout};

use crate::expr::{ADD, Expr, MUL};
use crate::function::{Bad, Writer};
use crate::types::{
    Pointer, attribute, code, is_bytes, is_container, item_layout, item_type, pointer, varsized,
};

/// A part of an object.
pub(crate) enum Part {
    /// Python has it: what reads it, and what stores go to.
    Place(Expr, LLType),
    /// A field behind an address.
    Field {
        at: Expr,
        name: String,
        offset: u64,
        ty: LLType,
    },
    /// An item behind an address.
    Item {
        at: Expr,
        index: Expr,
        start: u64,
        size: u64,
        ty: LLType,
    },
}

impl Part {
    fn ty(&self) -> LLType {
        match self {
            Part::Place(_, ty) | Part::Field { ty, .. } | Part::Item { ty, .. } => *ty,
        }
    }

    /// Reads it; of a container, a pointer to it.
    fn value(&self) -> Result<Expr, Bad> {
        let text = match self {
            Part::Place(e, _) => return Ok(e.clone().reading(true)),
            Part::Field {
                at,
                name,
                offset,
                ty,
            } => match code(*ty) {
                Some(code) => format!("getfield({}, '{name}', {offset}, '{code}')", at.text),
                None => format!("field_at({}, '{name}', {offset})", at.text),
            },
            Part::Item {
                at,
                index,
                start,
                size,
                ty,
            } => match code(*ty) {
                Some(code) => {
                    format!(
                        "getitem({}, {}, {start}, {size}, '{code}')",
                        at.text, index.text
                    )
                }
                None => format!("item_at({}, {}, {start}, {size})", at.text, index.text),
            },
        };
        Ok(Expr::atom(text).reading(true))
    }

    fn store(&self, value: &Expr) -> Result<String, Bad> {
        if is_container(self.ty()) {
            return Err(format!("store of a {}", self.ty()));
        }
        let code = code(self.ty()).unwrap_or_default();
        Ok(match self {
            Part::Place(e, _) => format!("{} = {}", e.text, value.text),
            Part::Field {
                at, name, offset, ..
            } => {
                format!(
                    "setfield({}, '{name}', {offset}, '{code}', {})",
                    at.text, value.text
                )
            }
            Part::Item {
                at,
                index,
                start,
                size,
                ..
            } => format!(
                "setitem({}, {}, {start}, {size}, '{code}', {})",
                at.text, index.text, value.text
            ),
        })
    }
}

impl Writer<'_> {
    /// A step from a container to a part of it.
    fn step(&mut self, from: Expr, raw: bool, ty: LLType, step: &LLOperand) -> Result<Part, Bad> {
        if let Some(name) = step.as_field() {
            if let (Some(of), Some(index)) = (item_type(ty), name.strip_prefix("item")) {
                return self.item_step(from, raw, ty, of, Expr::atom(index));
            }
            let s = ty.as_struct().ok_or_else(|| format!("field of a {ty}"))?;
            let (index, field) = field_of(ty, name, self.program)
                .ok_or_else(|| format!("{ty} has no field {name}"))?;
            let attr = attribute(s, name, self.program);
            if raw {
                let offset = layout(ty, self.program).fields[index];
                let name = attr.unwrap_or_default();
                return Ok(Part::Field {
                    at: from,
                    name,
                    offset,
                    ty: field,
                });
            }
            return Ok(match attr {
                Some(attr) => Part::Place(from.attribute(&attr), field),
                None => Part::Place(from, field),
            });
        }
        let of = item_type(ty).ok_or_else(|| format!("item of a {ty}"))?;
        let index = self.operand(step);
        self.item_step(from, raw, ty, of, index)
    }

    fn item_step(
        &mut self,
        from: Expr,
        raw: bool,
        ty: LLType,
        of: LLType,
        index: Expr,
    ) -> Result<Part, Bad> {
        if !raw {
            return Ok(Part::Place(from.item(&index), of));
        }
        let (start, size) =
            item_layout(ty, self.program).ok_or_else(|| format!("item of a {ty}"))?;
        Ok(Part::Item {
            at: from,
            index,
            start,
            size,
            ty: of,
        })
    }

    /// Follows names of fields and indices from what a pointer refers to.
    fn part(&mut self, object: &LLOperand, path: &[LLOperand]) -> Result<Part, Bad> {
        let (ptr, mut ty) = self.pointee(object)?;
        let raw = pointer(ptr) == Some(Pointer::Raw);
        let mut part = Part::Place(self.operand(object), ty);
        for step in path {
            let from = match &part {
                // What the path starts at is no read itself.
                Part::Place(e, _) => e.clone(),
                part => part.value()?,
            };
            part = self.step(from, raw, ty, step)?;
            ty = part.ty();
        }
        Ok(part)
    }

    /// The type of a pointer and of what it refers to.
    pub(crate) fn pointee(&self, o: &LLOperand) -> Result<(LLType, LLType), Bad> {
        let ty = self.ty(o);
        let to = ty
            .pointee()
            .ok_or_else(|| format!("{ty} where a pointer is needed"))?;
        Ok((ty, to))
    }

    /// Reads a part of an object.
    pub(crate) fn load(&mut self, object: &LLOperand, path: &[LLOperand]) -> Result<Expr, Bad> {
        let part = self.part(object, path)?;
        match part.ty().is_void() {
            true => Ok(Expr::atom("None")),
            false => part.value(),
        }
    }

    /// Writes a part of an object; nothing where there is nothing to write.
    pub(crate) fn store(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        value: &LLOperand,
    ) -> Result<Option<String>, Bad> {
        let part = self.part(object, path)?;
        if part.ty().is_void() {
            return Ok(None);
        }
        let value = self.operand(value);
        part.store(&value).map(Some)
    }

    /// The length of the array at the end of a path.
    pub(crate) fn length(&mut self, object: &LLOperand, path: &[LLOperand]) -> Result<Expr, Bad> {
        let part = self.part(object, path)?;
        let ty = part.ty();
        if let TypeKind::FixedArray(_, n) = ty.kind() {
            return Ok(Expr::atom(n.to_string()));
        }
        let (ptr, _) = self.pointee(object)?;
        let array = part.value()?;
        if pointer(ptr) != Some(Pointer::Raw) {
            return Ok(Expr::call("len", &[&array]).reading(true));
        }
        let at = layout(ty, self.program).var.and_then(|v| v.length);
        let at = at.ok_or_else(|| format!("length of a {ty}"))?;
        Ok(Expr::call("length", &[&array, &Expr::atom(at.to_string())]).reading(true))
    }

    /// `direct_fieldptr`
    pub(crate) fn field_pointer(
        &mut self,
        object: &LLOperand,
        field: &LLOperand,
    ) -> Result<Expr, Bad> {
        let (ptr, ty) = self.pointee(object)?;
        let from = self.operand(object);
        let raw = pointer(ptr) == Some(Pointer::Raw);
        let part = self.step(from.clone(), true, ty, field)?;
        match part {
            Part::Field {
                name, offset, ty, ..
            } if raw || code(ty).is_some() => {
                let text = format!("field_pointer({}, '{name}', {offset})", from.text);
                Ok(Expr::atom(text).reading(from.reads))
            }
            Part::Item {
                index, start, size, ..
            } if raw => {
                let text = format!("item_at({}, {}, {start}, {size})", from.text, index.text);
                Ok(Expr::atom(text).reading(true))
            }
            _ => self.step(from, false, ty, field)?.value(),
        }
    }

    /// `direct_arrayitems`
    pub(crate) fn items_pointer(&mut self, array: &LLOperand) -> Result<Expr, Bad> {
        let (_, ty) = self.pointee(array)?;
        let (start, size) =
            item_layout(ty, self.program).ok_or_else(|| format!("items of a {ty}"))?;
        let code = item_type(ty).and_then(code).unwrap_or("");
        let p = self.operand(array);
        Ok(Expr::atom(format!(
            "items_pointer({}, {start}, {size}, '{code}')",
            p.text
        ))
        .reading(p.reads))
    }

    /// `direct_ptradd`
    pub(crate) fn pointer_add(
        &mut self,
        items: &LLOperand,
        count: &LLOperand,
    ) -> Result<Expr, Bad> {
        let (_, ty) = self.pointee(items)?;
        let (_, size) = item_layout(ty, self.program).ok_or_else(|| format!("items of a {ty}"))?;
        let (p, n) = (self.operand(items), self.operand(count));
        let bytes = Expr::binary(&n, "*", &Expr::atom(size.to_string()), MUL);
        Ok(Expr::call("address_add", &[&p, &bytes]))
    }

    /// The bytes of a GC object, or raw memory, by distance.
    fn bytes_at(&mut self, object: &LLOperand, distance: &Expr) -> Result<String, Bad> {
        let ty = self.ty(object);
        let p = self.operand(object);
        let Some(to) = ty.pointee().filter(|_| pointer(ty) != Some(Pointer::Raw)) else {
            return Ok(format!("address_add({}, {})", p.text, distance.text));
        };
        let (array, of) = match varsized(to, self.program) {
            Some((attr, of)) => (p.attribute(&attr), of),
            None => (p, to),
        };
        let (start, size) =
            item_layout(to, self.program).ok_or_else(|| format!("bytes of a {to}"))?;
        let code = item_type(of)
            .and_then(code)
            .ok_or_else(|| format!("bytes of a {to}"))?;
        let at = Expr::binary(distance, "-", &Expr::atom(start.to_string()), ADD);
        Ok(format!(
            "Within({}, {size}, '{code}', {})",
            array.text, at.text
        ))
    }

    /// `raw_load` and `gc_load_indexed`
    pub(crate) fn load_bytes(
        &mut self,
        object: &LLOperand,
        distance: &Expr,
        ty: LLType,
    ) -> Result<Expr, Bad> {
        let code = code(ty).ok_or_else(|| format!("load of a {ty}"))?;
        let at = self.bytes_at(object, distance)?;
        Ok(Expr::atom(format!("load({at}, '{code}')")).reading(true))
    }

    /// `raw_store` and `gc_store_indexed`
    pub(crate) fn store_bytes(
        &mut self,
        object: &LLOperand,
        distance: &Expr,
        value: &LLOperand,
    ) -> Result<String, Bad> {
        let ty = self.ty(value);
        let code = code(ty).ok_or_else(|| format!("store of a {ty}"))?;
        let at = self.bytes_at(object, distance)?;
        let value = self.operand(value);
        Ok(format!("store({at}, '{code}', {})", value.text))
    }

    /// A new object of a type, or raw memory.
    pub(crate) fn malloc(
        &mut self,
        ty: LLType,
        length: Option<&LLOperand>,
        clear: bool,
    ) -> Result<Expr, Bad> {
        let length = length.map(|n| self.operand(n));
        let program = self.program;
        if !ty.is_gc_container() {
            let l = layout(ty, program);
            let zero = if clear { "True" } else { "False" };
            let text = match (&l.var, length) {
                (Some(var), Some(n)) => {
                    let length = var.length.map_or("None".to_owned(), |at| at.to_string());
                    format!(
                        "raw_array({}, {}, {}, {length}, {zero})",
                        n.text, var.empty_size, var.item_size
                    )
                }
                _ => format!("raw_malloc({}, {zero})", l.size),
            };
            return Ok(Expr::atom(text));
        }
        let n = length.unwrap_or_else(|| Expr::atom("0"));
        if ty.as_struct().is_some() {
            let class = self.class(ty);
            let Some((_, array)) = varsized(ty, program) else {
                return Ok(Expr::atom(format!("{class}()")));
            };
            let (_, size) = item_layout(array, program).unwrap_or((0, 1));
            return Ok(Expr::atom(format!("{class}({})", allocated(&n, size))));
        }
        let (_, size) = item_layout(ty, program).ok_or_else(|| format!("malloc of a {ty}"))?;
        let of = item_type(ty).ok_or_else(|| format!("malloc of a {ty}"))?;
        let n = allocated(&n, size);
        Ok(if is_bytes(ty) {
            Expr::atom(format!("bytearray({n})"))
        } else {
            let zero = crate::types::zero(of);
            match self.cleared(of) {
                Some(part) => Expr::atom(format!("InlinedItems({part} for _ in range({n}))")),
                None => Expr::new(format!("[{zero}] * {n}"), MUL),
            }
        })
    }

    /// What makes a cleared container inside of another one; none for other values.
    fn cleared(&mut self, ty: LLType) -> Option<String> {
        match ty.kind() {
            TypeKind::Struct(_) => Some(format!("{}()", self.class(ty))),
            TypeKind::FixedArray(of, n) => Some(match self.cleared(*of) {
                Some(part) => format!("InlinedItems({part} for _ in range({n}))"),
                None if is_bytes(ty) => format!("bytearray({n})"),
                None => format!("[{}] * {n}", crate::types::zero(*of)),
            }),
            _ => None,
        }
    }
}

/// A number of items that memory is there for.
fn allocated(n: &Expr, size: u64) -> String {
    match n.text.parse::<u32>() {
        Ok(small) if u64::from(small) * size < 1 << 31 => n.text.clone(),
        _ => format!("allocated({}, {size})", n.text),
    }
}
