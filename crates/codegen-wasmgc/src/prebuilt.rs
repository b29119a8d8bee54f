//! Prebuilt data.
//!
//! ```text
//! (global $a (ref $point) i64.const 1, i64.const 2, struct.new $point)
//! (global $b (ref $pair) global.get $a, ref.null $pair, struct.new $pair)
//! fill: global.get $b, global.get $b, struct.set $pair 1
//! ```
//!
//! An object is made by a constant expression; it may refer to objects before it. Objects come behind those that they refer to,
//! where references close no circle. Functions fill the rest: such references, parts of other objects, and
//! the items of long arrays, whose bytes are in a data segment.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_lltype::{LLConst, LLType, Program, StaticSym, StaticValue, TypeKind, const_word};
use taipan_ootype::{Lack, OOType, base_of, fields_of, identity_field, storage};
use wasm_encoder::{ConstExpr, HeapType};

use crate::code::{Ins, body};
use crate::emit::{new_object, number_ins, path_code, zero};
use crate::symbols::{FunctionCode, Global, Symbols, TypeSym};
use crate::types::{Numbers, heap_type};

/// An array of bytes up to this length is made by its constant expression.
const SHORT: usize = 16;

/// Engines accept no more items in `array.new_fixed`.
const MOST_FIXED: usize = 10_000;

/// Instructions of a function that fills data. Engines compile functions as a whole: larger ones take long.
const MOST_FILLED: usize = 4000;

/// The numbers of everything that data refers to.
pub(crate) trait Numbering: Numbers {
    /// The number of a global.
    fn global(&mut self, global: Global) -> u32;
}

impl Numbering for Symbols {
    fn global(&mut self, global: Global) -> u32 {
        Symbols::global(self, global)
    }
}

/// The data, in order.
pub(crate) struct Prebuilt {
    /// How each object is made.
    pub(crate) objects: Vec<(StaticSym, LLType, ConstExpr)>,
    /// The functions that fill the remainder.
    pub(crate) fills: Vec<FunctionCode>,
    /// The bytes of long arrays.
    pub(crate) bytes: Vec<u8>,
}

/// A step into an object.
#[derive(Clone)]
enum Step {
    Field(LLType, u32),
    Item(LLType, u32),
}

/// Puts objects behind those that they refer to.
pub(crate) fn ordered(
    all: &[StaticSym],
    references: &FxHashMap<StaticSym, Vec<StaticSym>>,
) -> Vec<StaticSym> {
    let mut order = Vec::new();
    let mut seen: FxHashSet<&StaticSym> = FxHashSet::default();
    for first in all {
        if !seen.insert(first) {
            continue;
        }
        let mut stack = vec![(first, 0)];
        while let Some((s, i)) = stack.last_mut() {
            match references.get(*s).and_then(|r| r.get(*i)) {
                Some(next) => {
                    *i += 1;
                    if seen.insert(next) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    order.push((*s).clone());
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Makes data.
///
/// # Errors
/// Data that objects of the host cannot hold.
pub(crate) fn prebuilt(
    order: &[StaticSym],
    program: &dyn Program,
    numbers: &mut dyn Numbering,
) -> Result<Prebuilt, Lack> {
    let mut maker = Maker {
        program,
        numbers,
        before: Some(FxHashSet::default()),
        root: StaticSym::ObjectVtable,
        path: Vec::new(),
        fill: Vec::new(),
        symbols: Symbols::default(),
        fills: Vec::new(),
        bytes: Vec::new(),
    };
    let mut objects = Vec::new();
    for s in order {
        let data = program.static_data(s);
        maker.root = s.clone();
        let mut code = Vec::new();
        maker.value(data.ty, &data.value, &mut code)?;
        objects.push((s.clone(), data.ty, ConstExpr::extended(code)));
        maker.before.get_or_insert_default().insert(s.clone());
    }
    maker.end_of_fill();
    Ok(Prebuilt {
        objects,
        fills: maker.fills,
        bytes: maker.bytes,
    })
}

struct Maker<'a> {
    program: &'a dyn Program,
    numbers: &'a mut dyn Numbering,
    /// The objects that are there already; all of them in functions that fill data.
    before: Option<FxHashSet<StaticSym>>,
    /// The object that is being made, and the place in it.
    root: StaticSym,
    path: Vec<Step>,
    /// The function that fills data, so far.
    fill: Vec<Ins>,
    symbols: Symbols,
    fills: Vec<FunctionCode>,
    bytes: Vec<u8>,
}

impl Maker<'_> {
    /// Pushes a container with its contents.
    fn value(&mut self, ty: LLType, value: &StaticValue, out: &mut Vec<Ins>) -> Result<(), Lack> {
        let number = self.numbers.number(TypeSym::Container(ty));
        match (value, ty.kind()) {
            (StaticValue::Struct(parts), TypeKind::Struct(_)) => {
                let mut next = 0;
                self.fields(ty, ty, parts, &mut next, out)?;
                out.push(Ins::StructNew(number));
                Ok(())
            }
            (StaticValue::Zero, TypeKind::Array(_)) => {
                out.extend([Ins::I32Const(0), Ins::ArrayNewDefault(number)]);
                Ok(())
            }
            (StaticValue::Zero, _) => {
                // Numbers of the same kind as elsewhere: it is not in a function.
                let code = new_object(ty, self.program, self.numbers, None)?;
                out.extend(code);
                Ok(())
            }
            (StaticValue::Bytes(bytes), _) => {
                self.byte_items(ty, bytes, out);
                Ok(())
            }
            (StaticValue::Array(items), TypeKind::Array(_) | TypeKind::FixedArray(..)) => {
                self.items(ty, items, out)
            }
            _ => Err(Lack::RawMemory),
        }
    }

    /// Pushes the fields of a struct, those of its base first. `next` counts them.
    fn fields(
        &mut self,
        whole: LLType,
        ty: LLType,
        parts: &[StaticValue],
        next: &mut u32,
        out: &mut Vec<Ins>,
    ) -> Result<(), Lack> {
        let s = ty.as_struct().ok_or(Lack::RawMemory)?;
        let fields = self.program.body(s);
        if fields.union {
            return Err(Lack::Reinterpretation);
        }
        let base = base_of(ty, self.program);
        for (i, (field, part)) in fields.fields.iter().zip(parts).enumerate() {
            if let (0, Some(base)) = (i, base) {
                match part {
                    StaticValue::Struct(parts) => self.fields(whole, base, parts, next, out)?,
                    _ => self.cleared(base, next, out)?,
                }
                continue;
            }
            if field.ty.is_void() {
                continue;
            }
            self.path.push(Step::Field(whole, *next));
            self.part(field.ty, part, out)?;
            self.path.pop();
            *next += 1;
        }
        if ty == *taipan_lltype::OBJECT {
            debug_assert_eq!(*next as usize, identity_field(self.program));
            out.push(Ins::I64Const(self.root.identity_hash()));
            *next += 1;
        }
        Ok(())
    }

    /// Pushes the fields of a base that is all zero.
    fn cleared(&mut self, base: LLType, next: &mut u32, out: &mut Vec<Ins>) -> Result<(), Lack> {
        for m in fields_of(base, self.program) {
            self.part(m.ty, &StaticValue::Zero, out)?;
            *next += 1;
        }
        Ok(())
    }

    /// Pushes a field or an item.
    fn part(&mut self, ty: LLType, value: &StaticValue, out: &mut Vec<Ins>) -> Result<(), Lack> {
        match (value, ty.kind()) {
            (_, TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)) => {
                self.value(ty, value, out)
            }
            (StaticValue::Const(c), _) => self.constant(ty, c, out),
            (StaticValue::Zero, _) => {
                let ins = zero(storage(ty), self.numbers)?;
                out.push(ins);
                Ok(())
            }
            _ => Err(Lack::RawMemory),
        }
    }

    /// Whether code here may refer to an object.
    fn is_there(&self, s: &StaticSym) -> bool {
        self.before.as_ref().is_none_or(|before| before.contains(s))
    }

    fn constant(&mut self, ty: LLType, c: &LLConst, out: &mut Vec<Ins>) -> Result<(), Lack> {
        match c {
            LLConst::Func(f) => {
                out.push(Ins::GlobalGet(
                    self.numbers.global(Global::Method(f.clone())),
                ));
            }
            LLConst::Static(s, _) if self.is_there(s) => {
                let root = s.root();
                let number = self.numbers.global(Global::Static(root.clone()));
                out.push(Ins::GlobalGet(number));
                if let StaticSym::Within(_, path) = &**s {
                    let ty = self.program.static_data(root).ty;
                    out.extend(path_code(ty, path, self.program, self.numbers)?);
                }
            }
            LLConst::Static(s, _) => {
                self.later(s)?;
                out.push(Ins::RefNull(heap_type(OOType::of(ty), self.numbers)));
            }
            LLConst::Null(t) => match OOType::of(*t) {
                OOType::Raw(_) => return Err(Lack::RawMemory),
                t => out.push(Ins::RefNull(heap_type(t, self.numbers))),
            },
            LLConst::Void(_) => {}
            number => out.push(number_ins(number)?),
        }
        Ok(())
    }

    /// Pushes the part of the current object that these steps lead to, in the function that fills data.
    fn reach(&mut self, path: &[Step]) {
        let root = self.symbols.global(Global::Static(self.root.clone()));
        self.fill.push(Ins::GlobalGet(root));
        for step in path {
            match step {
                Step::Field(ty, i) => {
                    let struct_type_index = self.symbols.ty(TypeSym::Container(*ty));
                    self.fill.push(Ins::StructGet {
                        struct_type_index,
                        field_index: *i,
                    });
                }
                Step::Item(ty, i) => {
                    let number = self.symbols.ty(TypeSym::Container(*ty));
                    self.fill
                        .extend([Ins::I32Const(*i as i32), Ins::ArrayGet(number)]);
                }
            }
        }
    }

    /// Sets a reference at the current place in the function that fills data.
    fn later(&mut self, s: &StaticSym) -> Result<(), Lack> {
        let mut path = self.path.clone();
        let last = path.pop().ok_or(Lack::RawMemory)?;
        self.reach(&path);
        if let Step::Item(_, i) = last {
            self.fill.push(Ins::I32Const(i as i32));
        }
        let root = s.root();
        let number = self.symbols.global(Global::Static(root.clone()));
        self.fill.push(Ins::GlobalGet(number));
        if let StaticSym::Within(_, path) = s {
            let ty = self.program.static_data(root).ty;
            let code = path_code(ty, path, self.program, &mut self.symbols)?;
            self.fill.extend(code);
        }
        self.fill.push(match last {
            Step::Field(ty, i) => Ins::StructSet {
                struct_type_index: self.symbols.ty(TypeSym::Container(ty)),
                field_index: i,
            },
            Step::Item(ty, _) => Ins::ArraySet(self.symbols.ty(TypeSym::Container(ty))),
        });
        self.fill_is_longer();
        Ok(())
    }

    /// Ends a function that has become long.
    fn fill_is_longer(&mut self) {
        if self.fill.len() >= MOST_FILLED {
            self.end_of_fill();
        }
    }

    fn end_of_fill(&mut self) {
        if self.fill.is_empty() {
            return;
        }
        let code = std::mem::take(&mut self.fill);
        let symbols = std::mem::take(&mut self.symbols);
        self.fills.push(symbols.code(0, body(code, &[], 0)));
    }

    /// Pushes an array of bytes.
    fn byte_items(&mut self, ty: LLType, bytes: &[u8], out: &mut Vec<Ins>) {
        let number = self.numbers.number(TypeSym::Container(ty));
        if bytes.len() <= SHORT || self.before.is_none() {
            out.extend(bytes.iter().map(|b| Ins::I32Const(i32::from(*b))));
            out.push(Ins::ArrayNewFixed {
                array_type_index: number,
                array_size: bytes.len() as u32,
            });
            return;
        }
        out.extend([
            Ins::I32Const(bytes.len() as i32),
            Ins::ArrayNewDefault(number),
        ]);
        let from = self.bytes.len() as i32;
        self.bytes.extend_from_slice(bytes);
        self.fill_from_bytes(ty, from, bytes.len() as i32);
    }

    /// Fills the array at the current place from the data segment.
    fn fill_from_bytes(&mut self, ty: LLType, from: i32, count: i32) {
        self.reach(&self.path.clone());
        self.fill.extend([
            Ins::I32Const(0),
            Ins::I32Const(from),
            Ins::I32Const(count),
            Ins::ArrayInitData {
                array_type_index: self.symbols.ty(TypeSym::Container(ty)),
                array_data_index: 0,
            },
        ]);
        self.fill_is_longer();
    }

    fn items(&mut self, ty: LLType, items: &[StaticValue], out: &mut Vec<Ins>) -> Result<(), Lack> {
        let number = self.numbers.number(TypeSym::Container(ty));
        let of = match ty.kind() {
            TypeKind::Array(a) => a.of,
            TypeKind::FixedArray(of, _) => *of,
            _ => return Err(Lack::RawMemory),
        };
        if items.len() > SHORT
            && self.before.is_some()
            && let Some(bytes) = number_bytes(of, items)
        {
            out.extend([
                Ins::I32Const(items.len() as i32),
                Ins::ArrayNewDefault(number),
            ]);
            let from = self.bytes.len() as i32;
            self.bytes.extend(bytes);
            self.fill_from_bytes(ty, from, items.len() as i32);
            return Ok(());
        }
        if items.len() > MOST_FIXED {
            out.extend([
                Ins::I32Const(items.len() as i32),
                Ins::ArrayNewDefault(number),
            ]);
            return self.fill_items(ty, of, items);
        }
        for (i, item) in items.iter().enumerate() {
            if of.is_void() {
                out.push(Ins::I32Const(0));
                continue;
            }
            self.path.push(Step::Item(ty, i as u32));
            self.part(of, item, out)?;
            self.path.pop();
        }
        out.push(Ins::ArrayNewFixed {
            array_type_index: number,
            array_size: items.len() as u32,
        });
        Ok(())
    }
}

impl Maker<'_> {
    /// Fills the long array at the current place item by item.
    fn fill_items(&mut self, ty: LLType, of: LLType, items: &[StaticValue]) -> Result<(), Lack> {
        if self.before.is_none() {
            return Err(Lack::Operation(format!(
                "prebuilt array of {} items inside of another one",
                items.len()
            )));
        }
        for (i, item) in items.iter().enumerate() {
            let is_null = matches!(item, StaticValue::Const(LLConst::Null(_)));
            if of.is_void() || is_null {
                continue;
            }
            self.reach(&self.path.clone());
            let mut code = vec![Ins::I32Const(i as i32)];
            let mut inner = Maker {
                program: self.program,
                numbers: &mut self.symbols,
                before: None,
                root: self.root.clone(),
                path: Vec::new(),
                fill: Vec::new(),
                symbols: Symbols::default(),
                fills: Vec::new(),
                bytes: Vec::new(),
            };
            inner.part(of, item, &mut code)?;
            debug_assert!(inner.fill.is_empty() && inner.bytes.is_empty());
            self.fill.extend(code);
            let number = self.symbols.ty(TypeSym::Container(ty));
            self.fill.push(Ins::ArraySet(number));
            self.fill_is_longer();
        }
        Ok(())
    }
}

/// Items that are numbers, as bytes, lowest first; none if they are something else.
fn number_bytes(of: LLType, items: &[StaticValue]) -> Option<Vec<u8>> {
    let size = match of.kind() {
        TypeKind::Bool | TypeKind::Char => 1,
        TypeKind::UniChar | TypeKind::SingleFloat => 4,
        TypeKind::Float => 8,
        TypeKind::Int(k) if k.bits <= 64 => usize::from(k.bits / 8),
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(items.len() * size);
    for item in items {
        let word = match item {
            StaticValue::Const(c) => const_word(c)?,
            StaticValue::Zero => 0,
            _ => return None,
        };
        bytes.extend_from_slice(&word.to_le_bytes()[..size]);
    }
    Some(bytes)
}

/// A reference that is never null.
pub(crate) fn not_null(ty: LLType, numbers: &mut dyn Numbers) -> wasm_encoder::ValType {
    wasm_encoder::ValType::Ref(wasm_encoder::RefType {
        nullable: false,
        heap_type: HeapType::Concrete(numbers.number(TypeSym::Container(ty))),
    })
}
