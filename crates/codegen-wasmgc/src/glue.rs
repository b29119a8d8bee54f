//! Functions that the back end writes itself.

use taipan_lltype::{FuncSym, LLType, OBJECT, Program, SIGNED, STR, TypeKind, WEAKREF};
use taipan_ootype::{Lack, OOType, Place, identity_field, items_field, member};
use wasm_encoder::{BlockType, HeapType, MemArg, MemArgTarget, ValType};

use crate::code::{Ins, body};
use crate::emit::new_object;
use crate::host::{is_string, writes};
use crate::symbols::{Callee, FunctionCode, Global, Glue, HostFunction, Symbols, TypeSym};
use crate::types::{Numbers, OBJECT as ANY, nullable, packed, signature};
use crate::wide::wide_type;

/// The signature of a program's entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// The function.
    pub(crate) function: FuncSym,
    /// Functions that fill prebuilt data, which are called first.
    pub(crate) fills: u32,
}

/// A function being written.
pub(crate) struct Writer<'a> {
    program: &'a dyn Program,
    symbols: Symbols,
    locals: Vec<ValType>,
    params: usize,
    code: Vec<Ins>,
}

/// The parameters and the results of a piece of glue.
pub(crate) fn glue_type(
    glue: &Glue,
    numbers: &mut dyn Numbers,
) -> Result<(Vec<ValType>, Vec<ValType>), Lack> {
    use ValType::{I32, I64};
    let mut array =
        |ty: LLType| nullable(HeapType::Concrete(numbers.number(TypeSym::Container(ty))));
    Ok(match glue {
        Glue::External(f) => return signature(function_type(f), numbers),
        Glue::IdentityHash => (vec![ANY], vec![I64]),
        Glue::MulOverflows => (vec![I64, I64], vec![I32]),
        Glue::MulHigh => (vec![I64, I64], vec![I64]),
        Glue::Wide(op) => wide_type(*op),
        Glue::NewRecords(ty) => (vec![I64], vec![array(*ty)]),
        Glue::CopyRecords(ty) => {
            let ty = array(*ty);
            (vec![ty, ty, I64, I64, I64], vec![])
        }
        Glue::NewWeakref | Glue::Deref => (vec![ANY], vec![ANY]),
        Glue::Reserve => (vec![I32], vec![]),
        Glue::ToMemory => (vec![array(characters()), I32], vec![]),
        Glue::FromMemory => (vec![I32, array(characters())], vec![]),
        Glue::Fill(_) => (vec![], vec![]),
        Glue::Run => (vec![], vec![I64]),
    })
}

/// The type of a function.
pub(crate) fn function_type(f: &FuncSym) -> LLType {
    LLType::new(TypeKind::Func(f.ty().clone()))
}

/// The array in byte strings.
fn characters() -> LLType {
    items_field(*STR, &taipan_lltype::NoProgram).map_or(*STR, |(_, array)| array)
}

/// The code of a piece of glue. Its type is set where it is linked.
pub(crate) fn glue_code(
    glue: &Glue,
    entry: &Entry,
    program: &dyn Program,
) -> Result<FunctionCode, Lack> {
    let mut symbols = Symbols::default();
    let (params, _) = glue_type(glue, &mut symbols)?;
    let mut w = Writer {
        program,
        symbols,
        params: params.len(),
        locals: params,
        code: Vec::new(),
    };
    match glue {
        Glue::External(f) => w.external(f)?,
        Glue::IdentityHash => w.identity_hash(),
        Glue::MulOverflows => w.mul_overflows(),
        Glue::MulHigh => w.mul_high(),
        Glue::Wide(op) => w.wide(*op)?,
        Glue::NewRecords(ty) => w.new_records(*ty)?,
        Glue::CopyRecords(ty) => w.copy_records(*ty)?,
        Glue::NewWeakref => w.new_weakref(),
        Glue::Deref => w.deref(),
        Glue::Reserve => w.reserve(),
        Glue::ToMemory => w.store_characters(),
        Glue::FromMemory => w.load_characters(),
        // Made with the data.
        Glue::Fill(_) => {}
        Glue::Run => w.run(entry)?,
    }
    let bytes = body(w.code, &w.locals, w.params);
    Ok(w.symbols.code(0, bytes))
}

impl Writer<'_> {
    pub(crate) fn local(&mut self, ty: ValType) -> u32 {
        self.locals.push(ty);
        self.locals.len() as u32 - 1
    }

    pub(crate) fn add<const N: usize>(&mut self, code: [Ins; N]) {
        self.code.extend(code);
    }

    fn container(&mut self, ty: LLType) -> u32 {
        self.symbols.ty(TypeSym::Container(ty))
    }

    pub(crate) fn call_glue(&mut self, glue: Glue) {
        self.call(Callee::Glue(glue));
    }

    fn call(&mut self, callee: Callee) {
        let number = self.symbols.callee(callee);
        self.code.push(Ins::Call(number));
    }

    /// While a counter is below a limit, both `i32`: the code, then the counter goes up by one.
    fn count(&mut self, counter: u32, limit: u32, code: Vec<Ins>) {
        self.add([
            Ins::Block(BlockType::Empty),
            Ins::Loop(BlockType::Empty),
            Ins::LocalGet(counter),
            Ins::LocalGet(limit),
            Ins::I32GeU,
            Ins::BrIf(1),
        ]);
        self.code.extend(code);
        self.add([
            Ins::LocalGet(counter),
            Ins::I32Const(1),
            Ins::I32Add,
            Ins::LocalSet(counter),
            Ins::Br(0),
            Ins::End,
            Ins::End,
        ]);
    }

    fn identity_hash(&mut self) {
        let ty = self.container(*OBJECT);
        let last = self.symbols.global(Global::LastHash);
        let object = self.local(nullable(HeapType::Concrete(ty)));
        let hash = self.local(ValType::I64);
        let field = identity_field(self.program) as u32;
        self.add([
            Ins::LocalGet(0),
            Ins::RefIsNull,
            Ins::If(BlockType::Empty),
            Ins::I64Const(0),
            Ins::Return,
            Ins::End,
            Ins::LocalGet(0),
            Ins::RefCastNullable(HeapType::Concrete(ty)),
            Ins::LocalTee(object),
            Ins::StructGet {
                struct_type_index: ty,
                field_index: field,
            },
            Ins::LocalTee(hash),
            Ins::I64Eqz,
            Ins::If(BlockType::Empty),
            // The golden ratio spreads numbers that follow one another; the sign is left out, and zero never comes.
            Ins::GlobalGet(last),
            Ins::I64Const(0x9e37_79b9_7f4a_7c15_u64 as i64),
            Ins::I64Add,
            Ins::GlobalSet(last),
            Ins::LocalGet(object),
            Ins::GlobalGet(last),
            Ins::I64Const(1),
            Ins::I64ShrU,
            Ins::I64Const(1),
            Ins::I64Or,
            Ins::LocalTee(hash),
            Ins::StructSet {
                struct_type_index: ty,
                field_index: field,
            },
            Ins::End,
            Ins::LocalGet(hash),
        ]);
    }

    /// A product of two numbers of 32 bits never overflows. Of others the division goes back, where it is possible.
    fn mul_overflows(&mut self) {
        let product = self.local(ValType::I64);
        for n in 0..2 {
            self.add([
                Ins::LocalGet(n),
                Ins::LocalGet(n),
                Ins::I64Extend32S,
                Ins::I64Eq,
            ]);
        }
        self.add([
            Ins::I32And,
            Ins::If(BlockType::Empty),
            Ins::I32Const(0),
            Ins::Return,
            Ins::End,
            Ins::LocalGet(0),
            Ins::I64Eqz,
            Ins::If(BlockType::Empty),
            Ins::I32Const(0),
            Ins::Return,
            Ins::End,
            Ins::LocalGet(0),
            Ins::I64Const(-1),
            Ins::I64Eq,
            Ins::If(BlockType::Empty),
            Ins::LocalGet(1),
            Ins::I64Const(i64::MIN),
            Ins::I64Eq,
            Ins::Return,
            Ins::End,
            Ins::LocalGet(0),
            Ins::LocalGet(1),
            Ins::I64Mul,
            Ins::LocalTee(product),
            Ins::LocalGet(0),
            Ins::I64DivS,
            Ins::LocalGet(1),
            Ins::I64Ne,
        ]);
    }

    /// Schoolbook multiplication of halves of words.
    fn mul_high(&mut self) {
        const LOW: i64 = 0xffff_ffff;
        let [al, ah, bl, bh, t, u] = [(); 6].map(|()| self.local(ValType::I64));
        for (from, low, high) in [(0, al, ah), (1, bl, bh)] {
            self.add([
                Ins::LocalGet(from),
                Ins::I64Const(LOW),
                Ins::I64And,
                Ins::LocalSet(low),
                Ins::LocalGet(from),
                Ins::I64Const(32),
                Ins::I64ShrU,
                Ins::LocalSet(high),
            ]);
        }
        self.add([
            // t = ah * bl + (al * bl >> 32)
            Ins::LocalGet(ah),
            Ins::LocalGet(bl),
            Ins::I64Mul,
            Ins::LocalGet(al),
            Ins::LocalGet(bl),
            Ins::I64Mul,
            Ins::I64Const(32),
            Ins::I64ShrU,
            Ins::I64Add,
            Ins::LocalSet(t),
            // u = al * bh + (t & LOW)
            Ins::LocalGet(al),
            Ins::LocalGet(bh),
            Ins::I64Mul,
            Ins::LocalGet(t),
            Ins::I64Const(LOW),
            Ins::I64And,
            Ins::I64Add,
            Ins::LocalSet(u),
            // ah * bh + (t >> 32) + (u >> 32)
            Ins::LocalGet(ah),
            Ins::LocalGet(bh),
            Ins::I64Mul,
            Ins::LocalGet(t),
            Ins::I64Const(32),
            Ins::I64ShrU,
            Ins::I64Add,
            Ins::LocalGet(u),
            Ins::I64Const(32),
            Ins::I64ShrU,
            Ins::I64Add,
        ]);
    }

    /// The record type of an array's items.
    fn record(array: LLType) -> Result<LLType, Lack> {
        match array.kind() {
            TypeKind::Array(a) => Ok(a.of),
            TypeKind::FixedArray(of, _) => Ok(*of),
            _ => Err(Lack::Addresses),
        }
    }

    fn new_records(&mut self, array: LLType) -> Result<(), Lack> {
        let number = self.container(array);
        let made = self.local(nullable(HeapType::Concrete(number)));
        let [i, n] = [(); 2].map(|()| self.local(ValType::I32));
        let record = new_object(Self::record(array)?, self.program, &mut self.symbols, None)?;
        self.add([
            Ins::LocalGet(0),
            Ins::I32WrapI64,
            Ins::LocalTee(n),
            Ins::ArrayNewDefault(number),
            Ins::LocalSet(made),
        ]);
        let mut code = vec![Ins::LocalGet(made), Ins::LocalGet(i)];
        code.extend(record);
        code.push(Ins::ArraySet(number));
        self.count(i, n, code);
        self.add([Ins::LocalGet(made)]);
        Ok(())
    }

    /// `(source, dest, source_start, dest_start, length)`. From the end, where records of the same array would be
    /// overwritten before they are read.
    fn copy_records(&mut self, array: LLType) -> Result<(), Lack> {
        let number = self.container(array);
        let record = Self::record(array)?;
        let item = self.container(record);
        let ty = nullable(HeapType::Concrete(item));
        let (from, to) = (self.local(ty), self.local(ty));
        let [i, n, at] = [(); 3].map(|()| self.local(ValType::I32));
        self.add([Ins::LocalGet(4), Ins::I32WrapI64, Ins::LocalSet(n)]);
        let mut code = vec![
            Ins::LocalGet(n),
            Ins::LocalGet(i),
            Ins::I32Sub,
            Ins::I32Const(1),
            Ins::I32Sub,
            Ins::LocalGet(i),
            Ins::LocalGet(2),
            Ins::LocalGet(3),
            Ins::I64LtU,
            Ins::Select,
            Ins::LocalSet(at),
        ];
        for (array, start, record) in [(0, 2, from), (1, 3, to)] {
            code.extend([
                Ins::LocalGet(array),
                Ins::LocalGet(start),
                Ins::I32WrapI64,
                Ins::LocalGet(at),
                Ins::I32Add,
                Ins::ArrayGet(number),
                Ins::LocalSet(record),
            ]);
        }
        let copies = self.copy_fields(record, &[Ins::LocalGet(from)], &[Ins::LocalGet(to)])?;
        code.extend(copies);
        self.count(i, n, code);
        Ok(())
    }

    /// Copies all fields of a record to another one, those of its parts as well.
    fn copy_fields(&mut self, ty: LLType, from: &[Ins], to: &[Ins]) -> Result<Vec<Ins>, Lack> {
        let struct_type_index = self.container(ty);
        let mut code = Vec::new();
        for (i, field) in taipan_ootype::fields_of(ty, self.program)
            .iter()
            .enumerate()
        {
            let field_index = i as u32;
            let what = taipan_ootype::storage(field.ty);
            let get = match packed(what) {
                crate::types::Packed::No => Ins::StructGet {
                    struct_type_index,
                    field_index,
                },
                _ => Ins::StructGetU {
                    struct_type_index,
                    field_index,
                },
            };
            if field.ty.as_struct().is_some() {
                let part = |object: &[Ins]| [object, std::slice::from_ref(&get)].concat();
                let (from, to) = (part(from), part(to));
                code.extend(self.copy_fields(field.ty, &from, &to)?);
                continue;
            }
            if matches!(
                field.ty.kind(),
                TypeKind::Array(_) | TypeKind::FixedArray(..)
            ) {
                return Err(Lack::Operation(
                    "copy of an array inside of a record".into(),
                ));
            }
            code.extend(to.iter().chain(from).cloned());
            code.extend([
                get,
                Ins::StructSet {
                    struct_type_index,
                    field_index,
                },
            ]);
        }
        Ok(code)
    }

    fn new_weakref(&mut self) {
        let number = self.symbols.ty(TypeSym::Weakref);
        let target = self.container(*OBJECT);
        self.add([Ins::RefNull(HeapType::Concrete(target)), Ins::LocalGet(0)]);
        self.call(Callee::Host(HostFunction::NewWeakref));
        self.add([Ins::StructNew(number)]);
    }

    fn deref(&mut self) {
        let made = self.symbols.ty(TypeSym::Weakref);
        let prebuilt = self.container(*WEAKREF);
        let field = match member(*WEAKREF, "target", self.program) {
            Some(Place::Field(i, _)) => i as u32,
            _ => 0,
        };
        self.add([
            Ins::LocalGet(0),
            Ins::RefTestNonNull(HeapType::Concrete(made)),
            Ins::If(BlockType::Empty),
            Ins::LocalGet(0),
            Ins::RefCastNonNull(HeapType::Concrete(made)),
            Ins::StructGet {
                struct_type_index: made,
                field_index: field + 1,
            },
        ]);
        self.call(Callee::Host(HostFunction::Deref));
        self.add([
            Ins::Return,
            Ins::End,
            Ins::LocalGet(0),
            Ins::RefCastNullable(HeapType::Concrete(prebuilt)),
            Ins::StructGet {
                struct_type_index: prebuilt,
                field_index: field,
            },
        ]);
    }

    fn reserve(&mut self) {
        self.add([
            Ins::LocalGet(0),
            Ins::MemorySize(0),
            Ins::I32Const(16),
            Ins::I32Shl,
            Ins::I32GtU,
            Ins::If(BlockType::Empty),
            Ins::LocalGet(0),
            Ins::I32Const(16),
            Ins::I32ShrU,
            Ins::MemoryGrow(0),
            Ins::Drop,
            Ins::End,
        ]);
    }

    fn store_characters(&mut self) {
        let number = self.container(characters());
        let [i, n] = [(); 2].map(|()| self.local(ValType::I32));
        self.add([Ins::LocalGet(0), Ins::ArrayLen, Ins::LocalSet(n)]);
        self.count(
            i,
            n,
            vec![
                Ins::LocalGet(1),
                Ins::LocalGet(i),
                Ins::I32Add,
                Ins::LocalGet(0),
                Ins::LocalGet(i),
                Ins::ArrayGetU(number),
                Ins::I32Store8(AT_ADDRESS),
            ],
        );
    }

    fn load_characters(&mut self) {
        let number = self.container(characters());
        let [i, n] = [(); 2].map(|()| self.local(ValType::I32));
        self.add([Ins::LocalGet(1), Ins::ArrayLen, Ins::LocalSet(n)]);
        self.count(
            i,
            n,
            vec![
                Ins::LocalGet(1),
                Ins::LocalGet(i),
                Ins::LocalGet(0),
                Ins::LocalGet(i),
                Ins::I32Add,
                Ins::I32Load8U(AT_ADDRESS),
                Ins::ArraySet(number),
            ],
        );
    }

    /// Pushes the characters of a string in a local.
    fn characters_of(&mut self, string: u32) {
        let number = self.container(*STR);
        let field = items_field(*STR, self.program).map_or(0, |(i, _)| i as u32);
        self.add([
            Ins::LocalGet(string),
            Ins::StructGet {
                struct_type_index: number,
                field_index: field,
            },
        ]);
    }

    /// Strings are copied to memory, one behind the other; those that the function writes to are copied back.
    fn external(&mut self, f: &FuncSym) -> Result<(), Lack> {
        let end = self.local(ValType::I32);
        let mut places = Vec::new();
        let mut arguments = Vec::new();
        let mut param = 0;
        for (i, ty) in f.ty().args.iter().enumerate() {
            if ty.is_void() {
                continue;
            }
            if is_string(*ty) {
                let at = self.local(ValType::I32);
                self.add([Ins::LocalGet(end), Ins::LocalSet(at)]);
                self.characters_of(param);
                self.add([
                    Ins::ArrayLen,
                    Ins::LocalGet(end),
                    Ins::I32Add,
                    Ins::LocalSet(end),
                ]);
                places.push((param, at, writes(f, i)));
            }
            arguments.push((param, is_string(*ty)));
            param += 1;
        }
        self.add([Ins::LocalGet(end)]);
        self.call(Callee::Glue(Glue::Reserve));
        for (string, at, _) in &places {
            self.characters_of(*string);
            self.add([Ins::LocalGet(*at)]);
            self.call(Callee::Glue(Glue::ToMemory));
        }
        let mut ats = places.iter();
        for (param, is_string) in arguments {
            match ats.as_slice().first().filter(|_| is_string) {
                Some((_, at, _)) => {
                    ats.next();
                    self.add([Ins::LocalGet(*at)]);
                    self.characters_of(param);
                    self.add([Ins::ArrayLen]);
                }
                None => self.add([Ins::LocalGet(param)]),
            }
        }
        self.call(Callee::Host(HostFunction::External(f.clone())));
        for (string, at, written) in places {
            if written {
                self.add([Ins::LocalGet(at)]);
                self.characters_of(string);
                self.call(Callee::Glue(Glue::FromMemory));
            }
        }
        Ok(())
    }

    /// Makes a string of characters at the start of memory; their number is in a local.
    fn string(&mut self, length: u32, into: u32) -> Result<(), Lack> {
        let chars = self.container(characters());
        let items = [Ins::LocalGet(length), Ins::ArrayNewDefault(chars)];
        let made = new_object(*STR, self.program, &mut self.symbols, Some(&items))?;
        self.code.extend(made);
        self.add([Ins::LocalSet(into), Ins::I32Const(0)]);
        self.characters_of(into);
        self.call(Callee::Glue(Glue::FromMemory));
        Ok(())
    }

    fn run(&mut self, entry: &Entry) -> Result<(), Lack> {
        for n in 0..entry.fills {
            self.call(Callee::Glue(Glue::Fill(n)));
        }
        let f = &entry.function;
        let argument = f.ty().args.iter().find(|t| !t.is_void()).copied();
        if let Some(ty) = argument {
            self.arguments(ty)?;
        }
        self.call(Callee::Func(f.clone()));
        let returns = OOType::of(f.ty().result);
        let code = self.local(ValType::I64);
        let is_code = f.ty().result == *SIGNED;
        match returns {
            OOType::Void => {}
            _ if is_code => self.add([Ins::LocalSet(code)]),
            _ => self.add([Ins::Drop]),
        }
        let class = self.symbols.global(Global::ExcType);
        let vtable = *taipan_lltype::OBJECT_VTABLE;
        let struct_type_index = self.container(vtable);
        let name = match member(vtable, "name", self.program) {
            Some(Place::Field(i, _)) => i as u32,
            _ => return Err(Lack::Operation("name of a class".into())),
        };
        self.add([
            Ins::GlobalGet(class),
            Ins::RefIsNull,
            Ins::I32Eqz,
            Ins::If(BlockType::Empty),
            Ins::GlobalGet(class),
            Ins::StructGet {
                struct_type_index,
                field_index: name,
            },
        ]);
        self.call(Callee::Func(crate::host::external("rpy_uncaught")));
        self.add([Ins::End, Ins::LocalGet(code)]);
        Ok(())
    }

    /// Pushes the arguments of the command line, as a list of that type.
    fn arguments(&mut self, ty: LLType) -> Result<(), Lack> {
        let bad = || Lack::Operation(format!("entry point that takes {ty}"));
        let list = ty.pointee().ok_or_else(bad)?;
        let array = list.list_items().ok_or_else(bad)?;
        let string = self.container(*STR);
        let number = self.container(array);
        let items = self.local(nullable(HeapType::Concrete(number)));
        let s = self.local(nullable(HeapType::Concrete(string)));
        let [i, n, length] = [(); 3].map(|()| self.local(ValType::I32));
        self.call(Callee::Host(HostFunction::ArgumentCount));
        self.add([
            Ins::LocalTee(n),
            Ins::ArrayNewDefault(number),
            Ins::LocalSet(items),
        ]);
        let before = std::mem::take(&mut self.code);
        self.add([Ins::LocalGet(i)]);
        self.call(Callee::Host(HostFunction::Argument));
        self.add([Ins::LocalSet(length)]);
        self.string(length, s)?;
        self.add([
            Ins::LocalGet(items),
            Ins::LocalGet(i),
            Ins::LocalGet(s),
            Ins::ArraySet(number),
        ]);
        let each = std::mem::replace(&mut self.code, before);
        self.count(i, n, each);
        if list == array {
            self.add([Ins::LocalGet(items)]);
            return Ok(());
        }
        let number = self.container(list);
        for field in taipan_ootype::fields_of(list, self.program) {
            match &*field.name {
                "length" => self.add([Ins::LocalGet(n), Ins::I64ExtendI32U]),
                "items" => self.add([Ins::LocalGet(items)]),
                _ => return Err(bad()),
            }
        }
        self.add([Ins::StructNew(number)]);
        Ok(())
    }
}

/// At the address on the stack.
const AT_ADDRESS: MemArg = MemArg {
    offset: 0,
    align: 0,
    target: MemArgTarget::Memory(0),
    ordering: None,
};
