//! From a low-level graph to the text of a C function.
//!
//! Blocks become labels and links become assignments and jumps. A block with one predecessor takes its values
//! by the names that they have already. Void variables vanish.

mod arith;
mod call;
mod checks;
mod control;
mod convert;
mod dispatch;
mod malloc;
mod memory;
mod plain;
mod wide;

use std::fmt::Write as _;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_codegen::machine::{Bad, Operands, Ty};
use taipan_codegen::{CodegenError, DispatchTable, RootsFrame, file_of_unplaced};
use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{
    FuncKind, FuncSym, LLConst, LLGraph, LLType, Layout, LowLevel, Program, StaticSym, layout,
};

use crate::names;
use crate::types::{Types, declared};

/// Starts a line that says which position in the bytecode the code comes from that follows.
pub(crate) const AT: char = '\u{1}';

/// The text of one function, and what it refers to.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct CFunction {
    /// Its name in C.
    pub name: String,
    /// Its name in RPython, for tracebacks.
    pub(crate) written_as: String,
    /// The file that tracebacks name if the source is unknown.
    pub(crate) unplaced_file: String,
    /// The text, with marks of positions in place of `#line` directives.
    pub(crate) text: String,
    /// Functions with graphs that it refers to.
    pub functions: Vec<FuncSym>,
    /// Functions of the runtime and of C libraries.
    pub externals: Vec<FuncSym>,
    /// Functions whose addresses C code gets that runs while other threads may run.
    pub callbacks: Vec<FuncSym>,
    /// Prebuilt data.
    pub statics: Vec<StaticSym>,
    /// Types whose type information it refers to.
    pub type_infos: Vec<LLType>,
    /// Types that it names.
    pub(crate) mentioned: Vec<LLType>,
    /// Types whose contents it names.
    pub(crate) complete: Vec<LLType>,
    /// Places in the source that it names, as positions in the function's bytecode.
    pub locations: Vec<u32>,
}

/// How functions are emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EmitOptions {
    /// Whether undefined behaviour is checked for.
    pub checked: bool,
}

/// The C function of a graph.
pub fn emit_function(
    program: &dyn Program,
    f: &FuncSym,
    graph: &LLGraph,
    options: EmitOptions,
) -> Result<CFunction, CodegenError> {
    let name = names::function(f);
    let mut emitter = Emitter::new(program, graph, name.clone(), options);
    (emitter.function(f.ty())).map_err(|m| CodegenError::new(f.name(), m))?;
    Ok(CFunction {
        written_as: f.name().to_owned(),
        unplaced_file: file_of_unplaced(f).to_owned(),
        ..emitter.finish(name)
    })
}

/// The function by which C code calls a function of the program while other threads may run: it
/// takes the lock of the threads around the call.
pub fn emit_callback(f: &FuncSym) -> Result<CFunction, CodegenError> {
    let mut types = Types::default();
    let name = names::callback(f);
    let count = f.ty().args.iter().filter(|t| !t.is_void()).count();
    let arguments: Vec<String> = (0..count).map(|i| format!("a{i}")).collect();
    let text = (|| {
        let prototype = types.prototype(f.ty(), &name, Some(&arguments))?;
        let call = format!("{}({})", names::function(f), arguments.join(", "));
        let mut text = format!("{prototype}\n{{\n    Signed taken = rpy_callback_enter();\n");
        match f.ty().result.is_void() {
            true => writeln!(text, "    {call};"),
            false => {
                let result = types.value(f.ty().result)?;
                writeln!(text, "    {} = {call};", declared(&result, "result"))
            }
        }
        .map_err(|e| e.to_string())?;
        text.push_str("    rpy_callback_leave(taken);\n");
        if !f.ty().result.is_void() {
            text.push_str("    return result;\n");
        }
        text.push_str("}\n");
        Ok(text)
    })()
    .map_err(|m: Bad| CodegenError::new(f.name(), m))?;
    Ok(CFunction {
        name,
        text,
        functions: vec![f.clone()],
        mentioned: types.mentioned.into_iter().collect(),
        complete: types.complete.into_iter().collect(),
        ..CFunction::default()
    })
}

/// The function that calls another one with arguments from memory: it takes the address of an array
/// of 16-byte slots, one per argument that is not Void, and that of a slot for the result.
pub(crate) fn emit_trampoline(f: &FuncSym) -> Result<CFunction, CodegenError> {
    let mut types = Types::default();
    let name = names::trampoline(f);
    let external = matches!(f.kind(), FuncKind::External { .. });
    let callee = match external {
        true => names::external(f),
        false => names::function(f),
    };
    let text = (|| {
        let mut arguments = Vec::new();
        for (i, ty) in f.ty().args.iter().filter(|t| !t.is_void()).enumerate() {
            let ty = types.value(*ty)?;
            arguments.push(format!("*({ty} *)(arguments + {})", 16 * i));
        }
        let call = format!("{callee}({})", arguments.join(", "));
        let call = match f.ty().result.is_void() {
            true => call,
            false => format!("*({} *)result = {call}", types.value(f.ty().result)?),
        };
        Ok(format!(
            "void {name}(const char *arguments, void *result)\n{{\n    {call};\n}}\n"
        ))
    })()
    .map_err(|m: Bad| CodegenError::new(f.name(), m))?;
    let (functions, externals) = match external {
        true => (vec![], vec![f.clone()]),
        false => (vec![f.clone()], vec![]),
    };
    Ok(CFunction {
        name,
        text,
        functions,
        externals,
        mentioned: types.mentioned.into_iter().collect(),
        complete: types.complete.into_iter().collect(),
        ..CFunction::default()
    })
}

struct Emitter<'a> {
    program: &'a dyn Program,
    graph: &'a LLGraph,
    name: String,
    options: EmitOptions,
    /// What variables are called: those of blocks with one predecessor as what they are given.
    values: Vec<Option<String>>,
    /// Declarations of variables.
    declarations: String,
    /// Variables that the program has a name for.
    declared: Vec<plain::Declared>,
    /// Statements of the block at hand.
    body: String,
    /// Statements of the blocks so far.
    blocks: Vec<(BlockId, String)>,
    /// Blocks that only jump by a table.
    dispatches: FxHashMap<BlockId, Rc<DispatchTable>>,
    /// Blocks that are jumped to.
    targets: IndexSet<BlockId>,
    types: Types,
    functions: IndexSet<FuncSym>,
    externals: IndexSet<FuncSym>,
    callbacks: IndexSet<FuncSym>,
    statics: IndexSet<StaticSym>,
    type_infos: IndexSet<LLType>,
    locations: IndexSet<u32>,
    /// The position that the last statement comes from.
    at: Option<u32>,
    /// The number of slots of the frame on the shadow stack.
    roots: Option<RootsFrame>,
    /// Whether it calls functions of the program.
    calls: bool,
    /// Whether the block's last operation overflowed, if it is one that may.
    overflow: Option<String>,
    /// When the block's last operation finds the nursery full, and what fills in the object
    /// otherwise, if it is one that may.
    nursery: Option<(String, Vec<String>)>,
    /// Whether the current block is rarely executed.
    in_cold_block: bool,
    /// The operation at hand.
    place: (BlockId, usize),
    /// Number of variables that are no variables of the graph.
    temporaries: usize,
}

impl<'a> Emitter<'a> {
    fn new(
        program: &'a dyn Program,
        graph: &'a LLGraph,
        name: String,
        options: EmitOptions,
    ) -> Emitter<'a> {
        Emitter {
            program,
            graph,
            name,
            options,
            values: vec![None; graph.vars.len()],
            declarations: String::new(),
            declared: Vec::new(),
            body: String::new(),
            blocks: Vec::new(),
            dispatches: FxHashMap::default(),
            targets: IndexSet::new(),
            types: Types::of(program),
            functions: IndexSet::new(),
            externals: IndexSet::new(),
            callbacks: IndexSet::new(),
            statics: IndexSet::new(),
            type_infos: IndexSet::new(),
            locations: IndexSet::new(),
            at: None,
            roots: None,
            calls: false,
            overflow: None,
            nursery: None,
            in_cold_block: false,
            place: (graph.startblock, 0),
            temporaries: 0,
        }
    }

    fn finish(self, name: String) -> CFunction {
        CFunction {
            name,
            text: self.body,
            functions: self.functions.into_iter().collect(),
            externals: self.externals.into_iter().collect(),
            callbacks: self.callbacks.into_iter().collect(),
            statics: self.statics.into_iter().collect(),
            type_infos: self.type_infos.into_iter().collect(),
            mentioned: self.types.mentioned.into_iter().collect(),
            complete: self.types.complete.into_iter().collect(),
            locations: self.locations.into_iter().collect(),
            ..CFunction::default()
        }
    }

    fn statement(&mut self, text: impl AsRef<str>) {
        self.body.push_str("    ");
        self.body.push_str(text.as_ref());
        self.body.push('\n');
    }

    /// The name of a variable, which is declared now.
    fn declare(&mut self, v: VarId) -> Result<String, Bad> {
        let data = &self.graph.vars[v.index()];
        let name = match taipan_codegen::identifier(&data.name) {
            name if data.name.is_empty() || name.is_empty() => format!("v{}", v.index()),
            plain => {
                let name = format!("{plain}_{}", v.index());
                self.declared.push(plain::Declared {
                    plain,
                    name: name.clone(),
                });
                name
            }
        };
        let ty = self.types.value(data.ty)?;
        let declaration = declared(&ty, &name);
        self.declarations.push_str(&format!("    {declaration};\n"));
        self.values[v.index()] = Some(name.clone());
        Ok(name)
    }

    /// A new variable of a type of C.
    fn temporary(&mut self, ty: &str) -> String {
        let name = format!("t{}", self.temporaries);
        self.temporaries += 1;
        let declaration = declared(ty, &name);
        self.declarations.push_str(&format!("    {declaration};\n"));
        name
    }

    /// The C name of a function.
    fn function_name(&mut self, f: &FuncSym) -> String {
        match f.kind() {
            FuncKind::External { .. } => {
                self.externals.insert(f.clone());
                names::external(f)
            }
            _ => {
                self.functions.insert(f.clone());
                names::function(f)
            }
        }
    }

    /// The address of type information.
    fn type_info(&mut self, ty: LLType) -> String {
        self.type_infos.insert(ty);
        format!("&{}", names::type_info(ty))
    }

    /// The address of the record of a place.
    fn location(&mut self, at: u32) -> String {
        let (i, _) = self.locations.insert_full(at);
        format!("&{}[{i}]", names::locations(&self.name))
    }
}

impl Operands for Emitter<'_> {
    /// An expression that needs no parentheses as an operand of a graph. The result of an operation may need them: it is
    /// assigned to a variable, unless the operation has declared its variable already.
    type Value = String;

    fn graph(&self) -> &LLGraph {
        self.graph
    }

    fn program(&self) -> &dyn Program {
        self.program
    }

    fn is_checked(&self) -> bool {
        self.options.checked
    }

    fn begin(&mut self, block: BlockId, index: usize, op: &Operation<LowLevel>) {
        self.place = (block, index);
        self.mark(op.at);
    }

    fn place(&self) -> (BlockId, usize) {
        self.place
    }

    fn in_cold_block(&self) -> bool {
        self.in_cold_block
    }

    fn variable(&self, v: VarId) -> Option<String> {
        self.values[v.index()].clone()
    }

    fn constant(&mut self, c: &LLConst) -> Result<String, Bad> {
        Ok(match c {
            LLConst::Void(_) => return Err("a Void constant has no value".into()),
            LLConst::Null(ty) => format!("(({})0)", self.types.value(*ty)?),
            LLConst::Func(f) => {
                let ty = self.types.value(f.ptr_type())?;
                format!("(({ty})&{})", self.function_name(f))
            }
            LLConst::Static(s, ty) => {
                let ty = self.types.value(*ty)?;
                let place = place_of(s, self.program)?;
                self.statics.insert(s.root().clone());
                format!("(({ty}){place})")
            }
            number => number_text(number).ok_or_else(|| format!("a constant {c}"))?,
        })
    }

    fn int(&mut self, _ty: Ty, n: i128) -> String {
        n.to_string()
    }

    fn null(&mut self) -> String {
        "NULL".to_owned()
    }

    fn define(&mut self, v: VarId, value: String) -> Result<(), Bad> {
        if self.values[v.index()].is_none() {
            let name = self.declare(v)?;
            self.statement(format!("{name} = {value};"));
        }
        Ok(())
    }

    fn discard(&mut self, value: String) {
        self.statement(format!("{value};"));
    }

    fn layout(&mut self, ty: LLType) -> Rc<Layout> {
        Rc::new(layout(ty, self.program))
    }
}

/// The address of prebuilt data as an expression: GC objects have a word before them.
pub(crate) fn place_of(s: &StaticSym, program: &dyn Program) -> Result<String, Bad> {
    let (root, offset) = (s.place(program)).ok_or("no such place in prebuilt data")?;
    Ok(match offset {
        0 => names::data(root),
        n => format!("({} + {n})", names::data(root)),
    })
}

/// A number, char or float as a constant of C.
pub(crate) fn number_text(c: &LLConst) -> Option<String> {
    Some(match c {
        LLConst::Bool(b) => i32::from(*b).to_string(),
        LLConst::Char(c) => match c {
            b'\'' | b'\\' => format!("'\\{}'", char::from(*c)),
            b' '..=b'~' => format!("'{}'", char::from(*c)),
            _ => c.to_string(),
        },
        LLConst::UniChar(c) => format!("{c}u"),
        LLConst::Int(kind, v) => integer(v.get(), kind.bits, kind.signed),
        LLConst::Float(bits) => float(*bits),
        LLConst::SingleFloat(bits) => {
            let v = f32::from_bits(*bits);
            match v.is_nan() {
                true => format!("rpy_bits_singlefloat({bits:#x})"),
                false => format!("((float){})", float(f64::from(v).to_bits())),
            }
        }
        _ => return None,
    })
}

fn integer(v: i128, bits: u8, signed: bool) -> String {
    if bits == 128 {
        let (high, low) = ((v as u128 >> 64) as u64, v as u64);
        let text = format!("RPY_INT128({high}ull, {low}ull)");
        return match signed {
            true => text,
            false => format!("((UInt128){text})"),
        };
    }
    let suffix = match (bits, signed) {
        (64, true) => "ll",
        (64, false) => "ull",
        (_, true) => "",
        (_, false) => "u",
    };
    match v {
        // The number without its sign is no number of C.
        _ if v == i128::from(i64::MIN) => "(-9223372036854775807ll - 1)".to_owned(),
        _ if v == i128::from(i32::MIN) && bits == 32 => "(-2147483647 - 1)".to_owned(),
        _ if v < 0 => format!("({v}{suffix})"),
        _ => format!("{v}{suffix}"),
    }
}

fn float(bits: u64) -> String {
    let v = f64::from_bits(bits);
    if v.is_nan() {
        return format!("rpy_bits_float({}ll)", bits as i64);
    }
    let text = match v.is_infinite() {
        true => "__builtin_inf()".to_owned(),
        false => format!("{:?}", v.abs()),
    };
    match v.is_sign_negative() {
        true => format!("(-{text})"),
        false => text,
    }
}
