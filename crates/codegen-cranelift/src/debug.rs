//! What Cranelift knows of where variables are, and of frames.

use cranelift_codegen::ir::ValueLabel;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::isa::unwind::UnwindInst;
use cranelift_codegen::{CompiledCode, LabelValueLoc, Reg};
use rustc_hash::FxHashMap;
use taipan_codegen::{CodeDebug, FrameStep, VariablePlace, code_variables};
use taipan_lltype::LLGraph;
use target_lexicon::Architecture;

/// The label of a variable of the graph.
pub(crate) fn label(variable: usize) -> ValueLabel {
    ValueLabel::from_u32(variable as u32)
}

/// What debuggers are told of code that was compiled with labels.
pub(crate) fn code_debug(isa: &dyn TargetIsa, code: &CompiledCode, graph: &LLGraph) -> CodeDebug {
    let dwarf = |reg| isa.map_regalloc_reg_to_dwarf(reg).ok();
    let mut ranges: FxHashMap<u32, Vec<(u32, u32, VariablePlace)>> = FxHashMap::default();
    for v in 0..graph.vars.len() {
        let Some(found) = code.value_labels_ranges.get(&label(v)) else {
            continue;
        };
        let mut places: Vec<_> = (found.iter())
            .filter_map(|r| {
                let place = match r.loc {
                    LabelValueLoc::Reg(reg) => VariablePlace::Register(dwarf(reg)?),
                    LabelValueLoc::CFAOffset(offset) => VariablePlace::Frame(offset),
                };
                Some((r.start, r.end, place))
            })
            .collect();
        // In whichever order Cranelift has them.
        places.sort_by_key(|(start, end, _)| (*start, *end));
        ranges.insert(v as u32, places);
    }
    let arguments = graph.args();
    let named = graph.vars.iter().enumerate().filter_map(|(i, v)| {
        let name = v.name.as_ref();
        let is_argument = arguments.iter().any(|a| a.index() == i);
        (!name.is_empty() && !v.ty.is_void()).then(|| (i as u32, name.into(), v.ty, is_argument))
    });
    CodeDebug {
        frame: frame(isa, code),
        variables: code_variables(named, &ranges),
    }
}

/// How frames are made.
fn frame(isa: &dyn TargetIsa, code: &CompiledCode) -> Vec<(u32, FrameStep)> {
    let (pointer, link) = match isa.triple().architecture {
        Architecture::Aarch64(_) => (29, Some(30)),
        Architecture::Riscv64(_) => (8, Some(1)),
        _ => (6, None),
    };
    let mut steps = Vec::new();
    // From the frame's start down to where registers are saved.
    let mut saved = 0;
    for (at, instruction) in &code.buffer.unwind_info {
        let mut step = |s| steps.push((*at, s));
        match instruction {
            UnwindInst::PushFrameRegs {
                offset_upward_to_caller_sp: up,
            } => {
                let up = *up as i32;
                step(FrameStep::Offset(up));
                step(FrameStep::Saved(pointer, -up));
                if let Some(link) = link {
                    step(FrameStep::Saved(link, 8 - up));
                }
            }
            UnwindInst::DefineNewFrame {
                offset_upward_to_caller_sp: up,
                offset_downward_to_clobbers: down,
            } => {
                step(FrameStep::Register(pointer));
                saved = (up + down) as i32;
            }
            UnwindInst::SaveReg {
                clobber_offset,
                reg,
            } => {
                if let Ok(reg) = isa.map_regalloc_reg_to_dwarf(Reg::from(*reg)) {
                    step(FrameStep::Saved(reg, *clobber_offset as i32 - saved));
                }
            }
            UnwindInst::StackAlloc { .. }
            | UnwindInst::RegStackOffset { .. }
            | UnwindInst::Aarch64SetPointerAuth { .. } => {}
        }
    }
    steps
}
