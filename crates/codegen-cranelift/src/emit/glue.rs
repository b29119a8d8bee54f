//! Code that belongs to no graph.

use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, MemFlagsData, Signature, UserFuncName, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use taipan_codegen::runtime::{self, RuntimeFunction};
use taipan_codegen::{Glue, SymbolRef, abi};
use taipan_lltype::{FuncKind, FuncSym};

use super::symbols::Symbols;
use super::types::{c_signature, c_value, clif_type, signature};
use super::{Bad, PTR};
use crate::isa::Peculiarities;

/// Distance between the slots of a trampoline's arguments.
const SLOT: i32 = 16;

/// Fills in `func`.
pub(crate) fn emit_glue(
    func: &mut ir::Function,
    builder_context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    glue: &Glue,
) -> Result<Symbols, Bad> {
    let machine = Peculiarities::of(isa);
    func.name = UserFuncName::default();
    func.signature = Signature::new(CallConv::SystemV);
    match glue {
        Glue::Main => {
            let int = c_value(I32, true, machine);
            func.signature.params = vec![int, AbiParam::new(PTR)];
            func.signature.returns = vec![int];
        }
        Glue::Library => {
            func.signature.params = vec![AbiParam::new(I8)];
            func.signature.returns = vec![AbiParam::new(I32)];
        }
        Glue::Trampoline(_) => func.signature.params = [PTR, PTR].map(AbiParam::new).to_vec(),
        Glue::Callback(f) => func.signature = c_signature(f.ty(), machine)?,
    }
    let own_signature = func.signature.clone();

    let mut symbols = Symbols::new(machine);
    let mut b = FunctionBuilder::new(func, builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let args = b.block_params(block).to_vec();
    match glue {
        Glue::Main => call_runtime_main(&mut b, &mut symbols, &args, own_signature),
        Glue::Library => start_library(&mut b, &mut symbols, &args),
        Glue::Trampoline(f) => call_from_memory(&mut b, &mut symbols, &args, f, machine)?,
        Glue::Callback(f) => call_with_lock(&mut b, &mut symbols, &args, f)?,
    }
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
    Ok(symbols)
}

fn call_runtime_main(
    b: &mut FunctionBuilder<'_>,
    symbols: &mut Symbols,
    args: &[Value],
    mut sig: Signature,
) {
    sig.params.push(AbiParam::new(PTR));
    let sig = b.import_signature(sig);
    let table = symbols.global(b.func, &SymbolRef::ProgramTable);
    let table = b.ins().symbol_value(PTR, table);
    let main = symbols.function(b.func, &SymbolRef::External(abi::MAIN.into()), sig);
    let call = b.ins().call(main, &[args[0], args[1], table]);
    let result = b.inst_results(call).to_vec();
    b.ins().return_(&result);
}

fn start_library(b: &mut FunctionBuilder<'_>, symbols: &mut Symbols, args: &[Value]) {
    let mut sig = Signature::new(CallConv::SystemV);
    sig.params = vec![AbiParam::new(PTR), AbiParam::new(I8).uext()];
    sig.returns = vec![AbiParam::new(I32)];
    let sig = b.import_signature(sig);
    let table = symbols.global(b.func, &SymbolRef::ProgramTable);
    let table = b.ins().symbol_value(PTR, table);
    let start = SymbolRef::External(abi::EXTENSION_START.into());
    let start = symbols.function(b.func, &start, sig);
    let call = b.ins().call(start, &[table, args[0]]);
    let result = b.inst_results(call).to_vec();
    b.ins().return_(&result);
}

fn call_from_memory(
    b: &mut FunctionBuilder<'_>,
    symbols: &mut Symbols,
    args: &[Value],
    f: &FuncSym,
    machine: Peculiarities,
) -> Result<(), Bad> {
    let external = matches!(f.kind(), FuncKind::External { .. });
    let sig = match external {
        true => c_signature(f.ty(), machine)?,
        false => signature(f.ty())?,
    };
    let flags = MemFlagsData::trusted();
    let types = f.ty().args.iter().filter_map(|t| clif_type(*t));
    let values: Vec<Value> = (types.enumerate())
        .map(|(i, ty)| b.ins().load(ty, flags, args[0], i as i32 * SLOT))
        .collect();
    let sig = b.import_signature(sig);
    let callee = symbols.function(b.func, &SymbolRef::function(f), sig);
    let call = b.ins().call(callee, &values);
    if let [result] = b.inst_results(call)[..] {
        b.ins().store(flags, result, args[1], 0);
    }
    b.ins().return_(&[]);
    Ok(())
}

/// The runtime says whether the lock had to be taken, and gets that back.
fn call_with_lock(
    b: &mut FunctionBuilder<'_>,
    symbols: &mut Symbols,
    args: &[Value],
    f: &FuncSym,
) -> Result<(), Bad> {
    let mut sig = Signature::new(CallConv::SystemV);
    sig.params = vec![AbiParam::new(I64)];
    let leave = b.import_signature(sig.clone());
    sig.returns = core::mem::take(&mut sig.params);
    let enter = b.import_signature(sig);
    let symbol = |f: RuntimeFunction| SymbolRef::External(f.name.into());
    let enter = symbols.function(b.func, &symbol(runtime::CALLBACK_ENTER), enter);
    let leave = symbols.function(b.func, &symbol(runtime::CALLBACK_LEAVE), leave);
    let sig = b.import_signature(signature(f.ty())?);
    let callee = symbols.function(b.func, &SymbolRef::function(f), sig);
    let entered = b.ins().call(enter, &[]);
    let taken = b.inst_results(entered)[0];
    let call = b.ins().call(callee, args);
    let result = b.inst_results(call).to_vec();
    b.ins().call(leave, &[taken]);
    b.ins().return_(&result);
    Ok(())
}
