//! Fields, items and raw memory.

use taipan_codegen::abi;
use taipan_codegen::machine::{Bad, Memory, Objects, Operands};
use taipan_codegen::runtime::RuntimeFunction;
use taipan_graph::Operation;
use taipan_lltype::{LLConst, LLOperand, LLType, LowLevel, TypeKind, VoidConst, field_of, layout};

use super::Emitter;
use crate::names;
use crate::types::scalar;

/// Bytes that a function of WebAssembly takes of the stack besides its variables.
const FRAME: usize = 64;

/// So many variables take a word there: no more are in use at once in nearly all functions.
const WORDS: usize = 32;

/// A place in memory.
pub(super) struct Place {
    base: Base,
    ty: LLType,
}

enum Base {
    /// What an expression points to.
    Pointer(String),
    /// What an expression is.
    Lvalue(String),
}

impl Place {
    /// The place as an expression.
    pub(super) fn text(&self) -> String {
        match &self.base {
            Base::Pointer(p) => format!("(*{p})"),
            Base::Lvalue(l) => l.clone(),
        }
    }

    fn member(&self, name: &str) -> String {
        match &self.base {
            Base::Pointer(p) => format!("{p}->{name}"),
            Base::Lvalue(l) => format!("{l}.{name}"),
        }
    }
}

/// Whether pointers to a container are pointers to its first item.
fn is_items(ty: LLType) -> bool {
    match ty.kind() {
        TypeKind::Array(a) => a.nolength && !a.gc,
        TypeKind::FixedArray(..) => true,
        _ => false,
    }
}

impl Memory for Emitter<'_> {
    fn load(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Result<Option<String>, Bad> {
        let place = self.checked_place(object, path, op)?;
        if place.ty.is_void() {
            return Ok(None);
        }
        if self.types.is_slot(place.ty) {
            return Ok(Some(format!("{}.address", place.text())));
        }
        if is_value(place.ty) {
            return Ok(Some(place.text()));
        }
        // An object inside of another one.
        let to = *self.graph.ty(op.result);
        self.address(&place, to).map(Some)
    }

    fn store(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        value: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<(), Bad> {
        let place = self.checked_place(object, path, op)?;
        match self.maybe(value)? {
            Some(v) if self.types.is_slot(place.ty) => {
                self.statement(format!("RPY_SET_SLOT({}, {v});", place.text()));
            }
            Some(v) => self.statement(format!("{} = {v};", place.text())),
            None => {}
        }
        Ok(())
    }

    fn length(
        &mut self,
        pointer: &LLOperand,
        path: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Result<String, Bad> {
        let place = self.checked_place(pointer, path, op)?;
        self.types.complete.insert(place.ty);
        match place.ty.kind() {
            TypeKind::FixedArray(_, n) => Ok(n.to_string()),
            TypeKind::Array(a) if !a.nolength => Ok(place.member("length")),
            _ => Err(format!("the length of a {}", place.ty)),
        }
    }

    fn set_length(&mut self, array: &String, at: u64, length: &String) {
        self.statement(format!(
            "*(RawSigned *)((Address){array} + {at}) = {length};"
        ));
    }

    fn part_address(
        &mut self,
        pointer: &LLOperand,
        step: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Option<String>, Bad> {
        let to = *self.graph.ty(op.result);
        let place = self.checked_place(pointer, std::slice::from_ref(step), op)?;
        match place.ty.is_void() {
            true => Ok(None),
            false => self.address(&place, to).map(Some),
        }
    }

    fn items_address(&mut self, array: &LLOperand, to: LLType) -> Result<String, Bad> {
        let place = self.place_in(array, &[])?;
        self.types.complete.insert(place.ty);
        let to = self.types.value(to)?;
        Ok(format!("({to}){}", self.items_of(&place)))
    }

    fn item_address(
        &mut self,
        items: &LLOperand,
        count: &LLOperand,
        to: LLType,
    ) -> Result<String, Bad> {
        let place = self.place_in(items, &[])?;
        self.types.complete.insert(place.ty);
        let count = self.value(count)?;
        let to = self.types.value(to)?;
        Ok(format!("({to})({} + {count})", self.items_of(&place)))
    }

    fn raw_address(&mut self, address: &String, offset: &String) -> String {
        format!("(Address){address} + {offset}")
    }

    fn indexed_address(
        &mut self,
        object: &String,
        index: &String,
        scale: &String,
        offset: &String,
    ) -> String {
        format!("(Address){object} + {index} * {scale} + {offset}")
    }

    fn load_raw(&mut self, at: &String, ty: LLType) -> Result<String, Bad> {
        self.raw(at, ty)
    }

    fn store_raw(&mut self, at: &String, value: &String, ty: LLType) -> Result<(), Bad> {
        let place = self.raw_place(at, ty)?;
        self.statement(match self.types.is_slot(ty) {
            true => format!("RPY_SET_SLOT({place}, {value});"),
            false => format!("{place} = {value};"),
        });
        Ok(())
    }

    fn fill(&mut self, address: &String, byte: Option<&String>, size: &String) {
        self.statement(match byte {
            Some(byte) => format!("__builtin_memset({address}, (int){byte}, {size});"),
            None => format!("__builtin_memset({address}, 0, {size});"),
        });
    }

    fn copy(&mut self, f: RuntimeFunction, source: &String, dest: &String, size: &String) {
        self.statement(format!("__builtin_{}({dest}, {source}, {size});", f.name));
    }

    fn copy_items(&mut self, ty: LLType, operands: [&LLOperand; 5]) -> Result<(), Bad> {
        let l = layout(ty, self.program);
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let mut values = Vec::with_capacity(operands.len());
        for o in operands {
            values.push(self.value(o)?);
        }
        let [source, dest, from, to, n] = &values[..] else {
            return Err("needs five operands".into());
        };
        if ty.is_gc_container() && !var.item_gc_pointers.is_empty() {
            self.write_barrier(dest, None);
        }
        let (size, start) = (var.item_size, var.items);
        self.statement(format!(
            "__builtin_memmove((Address){dest} + {start} + {to} * {size}, \
             (Address){source} + {start} + {from} * {size}, {n} * {size});"
        ));
        Ok(())
    }
}

impl Emitter<'_> {
    /// The place in an object where fields and items lead to.
    pub(super) fn place_in(
        &mut self,
        pointer: &LLOperand,
        path: &[LLOperand],
    ) -> Result<Place, Bad> {
        let mut place = Place {
            base: Base::Pointer(self.value(pointer)?),
            ty: self.pointee(pointer)?,
        };
        for step in path {
            self.step(&mut place, step)?;
        }
        Ok(place)
    }

    /// Goes on into a field or an item.
    fn step(&mut self, place: &mut Place, step: &LLOperand) -> Result<(), Bad> {
        let container = place.ty;
        self.types.complete.insert(container);
        if let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = step {
            let (_, ty) = field_of(container, name, self.program)
                .ok_or_else(|| format!("{container} has no field {name}"))?;
            *place = Place {
                base: Base::Lvalue(place.member(&names::field(name))),
                ty,
            };
            return Ok(());
        }
        let of = match container.kind() {
            TypeKind::Array(a) => a.of,
            TypeKind::FixedArray(of, _) => *of,
            _ => return Err(format!("an item of a {container}")),
        };
        let index = self.value(step)?;
        let items = self.items_of(place);
        *place = Place {
            base: Base::Lvalue(format!("{items}[{index}]")),
            ty: of,
        };
        Ok(())
    }

    /// The items of an array.
    fn items_of(&self, place: &Place) -> String {
        match (is_items(place.ty), &place.base) {
            (true, Base::Pointer(p)) => p.clone(),
            (true, Base::Lvalue(l)) => l.clone(),
            (false, _) => place.member("items"),
        }
    }

    /// The place, of which checked code knows that it was not freed.
    fn checked_place(
        &mut self,
        pointer: &LLOperand,
        path: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Result<Place, Bad> {
        if self.options.checked {
            let ty = self.ty(pointer);
            // Elsewhere the machine notices.
            if self.program.machine().is_wasm() {
                self.check_null(pointer, op)?;
            }
            self.check_raw(pointer, ty, op)?;
        }
        self.place_in(pointer, path)
    }

    fn check_null(&mut self, pointer: &LLOperand, op: &Operation<LowLevel>) -> Result<(), Bad> {
        if let LLOperand::Var(_) = pointer {
            let (address, location) = (self.value(pointer)?, self.location(op.at));
            let what = abi::check::NULL;
            self.statement(format!("RPY_CHECK({address} != NULL, {what}, {location});"));
        }
        Ok(())
    }

    fn check_raw(
        &mut self,
        pointer: &LLOperand,
        ty: LLType,
        op: &Operation<LowLevel>,
    ) -> Result<(), Bad> {
        let Some(container) = ty.pointee() else {
            return Ok(());
        };
        // Smaller ones are parts of others.
        let large = layout(container, self.program).size >= 8 || container.as_array().is_some();
        if ty.is_gc_ptr() || container.is_vtable() || !large {
            return Ok(());
        }
        let (address, location) = (self.value(pointer)?, self.location(op.at));
        self.statement(format!(
            "RPY_CHECK(*(RawUnsigned *){address} != {:#x}ull, {}, {location});",
            abi::FREED,
            abi::check::FREED
        ));
        Ok(())
    }

    fn address(&mut self, place: &Place, to: LLType) -> Result<String, Bad> {
        let to = self.types.value(to)?;
        Ok(match (&place.base, is_items(place.ty)) {
            (Base::Pointer(p), _) => format!("({to}){p}"),
            (Base::Lvalue(l), true) => format!("({to}){l}"),
            (Base::Lvalue(l), false) => format!("({to})&{l}"),
        })
    }

    /// What is at an address.
    pub(super) fn raw(&mut self, at: &str, ty: LLType) -> Result<String, Bad> {
        let place = self.raw_place(at, ty)?;
        Ok(match self.types.is_slot(ty) {
            true => format!("({place}).address"),
            false => place,
        })
    }

    fn raw_place(&mut self, at: &str, ty: LLType) -> Result<String, Bad> {
        match ty.kind() {
            TypeKind::Ptr(_) => {}
            _ if scalar(ty).is_some() => {}
            _ => return Err(format!("a load of {ty}")),
        }
        Ok(format!("*({} *)({at})", self.types.element(ty)))
    }

    /// Of WebAssembly nobody knows how much of the host's stack a function takes. It takes as much of the
    /// one that is looked at, in memory, as that may be: a word for each of its first variables, a
    /// byte for each of the others, which mostly share their places, and some for the call; and no less
    /// than its roots. Functions that call none end soon.
    pub(super) fn frame(&self) -> String {
        if !self.program.machine().is_wasm() || !self.calls {
            return String::new();
        }
        let variables = self.declarations.lines().count();
        let words = variables.min(WORDS);
        let roots = self.roots.map_or(0, |frame| frame.size() as usize);
        let bytes = (FRAME + 8 * words + variables - words).max(roots);
        format!("    RPY_FRAME({bytes});\n")
    }
}

/// Whether values of a type are read and written as they are.
fn is_value(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Ptr(_)) || scalar(ty).is_some()
}
