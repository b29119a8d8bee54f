//! Code to be read: line by line, with where each comes from.

use std::ops::Range;

use crate::emit::symbol_text;
use cranelift_codegen::{CompiledCode, FinalizedRelocTarget};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction};
use taipan_codegen::CompiledFunction;

/// A line of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeLine {
    /// The line, without its end.
    pub text: String,
    /// The instruction of the function's bytecode that it comes from.
    pub at: Option<u32>,
}

/// Lines of Cranelift's text, which has places in front of instructions: `@001c  v3 = ...`.
pub(crate) fn clif_lines(text: &str) -> Vec<CodeLine> {
    let line = |line: &str| {
        let placed = line.strip_prefix('@').and_then(|l| l.split_once(' '));
        let Some((digits, rest)) = placed else {
            return CodeLine {
                text: line.to_owned(),
                at: None,
            };
        };
        CodeLine {
            text: format!("    {}", rest.trim_start()),
            at: u32::from_str_radix(digits, 16).ok(),
        }
    };
    text.lines().map(line).collect()
}

/// The instructions of code of this machine without tables, a line each. Jumps of x86-64 name their targets by offset;
/// instructions of aarch64 are the words that an assembler takes for them.
pub(crate) fn plain_asm(code: &CompiledFunction) -> String {
    if cfg!(target_arch = "aarch64") {
        words_asm(code)
    } else {
        x86_64_asm(code)
    }
}

fn words_asm(code: &CompiledFunction) -> String {
    let mut text = String::new();
    for (at, bytes) in (0_u64..).step_by(4).zip(code.code.chunks_exact(4)) {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        text.push_str(&format!("{at:6x}    .inst 0x{word:08x}"));
        push_symbol(&mut text, code, at..at + 4);
    }
    text
}

/// Ends a line with the symbol that an instruction refers to, if there is one.
fn push_symbol(text: &mut String, code: &CompiledFunction, inside: Range<u64>) {
    if let Some(r) = code.relocs.iter().find(|r| inside.contains(&r.offset)) {
        text.push_str("  # ");
        text.push_str(&symbol_text(&r.target));
    }
    text.push('\n');
}

fn x86_64_asm(code: &CompiledFunction) -> String {
    let mut text = String::new();
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.options_mut().set_uppercase_hex(false);
    let decoder = Decoder::with_ip(64, &code.code, 0, DecoderOptions::NONE);
    for instruction in decoder {
        let at = instruction.ip();
        text.push_str(&format!("{at:6x}    "));
        formatter.format(&instruction, &mut text);
        push_symbol(&mut text, code, at..instruction.next_ip());
    }
    text
}

/// The instructions of a function, each with its offset. What lies between a jump and the
/// next block, or behind the last block, is a table or a constant.
pub(crate) fn asm_lines(
    code: &CompiledCode,
    name: impl Fn(&FinalizedRelocTarget) -> Option<String>,
) -> Vec<CodeLine> {
    let bytes = code.code_buffer();
    let starts: Vec<usize> = code.bb_starts.iter().map(|s| *s as usize).collect();
    let mut lines = Vec::new();
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.options_mut().set_uppercase_hex(false);
    let mut instruction = Instruction::default();
    let mut at = 0;
    while at < bytes.len() {
        if starts.contains(&at) {
            lines.push(CodeLine {
                text: format!("{at:6x}:"),
                at: None,
            });
        }
        let mut decoder = Decoder::with_ip(64, &bytes[at..], at as u64, DecoderOptions::NONE);
        decoder.decode_out(&mut instruction);
        let end = at + instruction.len().max(1);
        let mut text = format!("{at:6x}    ");
        formatter.format(&instruction, &mut text);
        let relocs = code.buffer.relocs().iter();
        let mut names = relocs
            .filter(|r| (at..end).contains(&(r.offset as usize)))
            .filter_map(|r| name(&r.target));
        if let Some(name) = names.next() {
            text.push_str("  # ");
            text.push_str(&name);
        }
        let mut places = code.buffer.get_srclocs_sorted().iter();
        let place = places.find(|l| (l.start as usize..l.end as usize).contains(&at));
        lines.push(CodeLine {
            text,
            at: place.map(|l| l.loc.bits()),
        });
        let leaves = matches!(
            instruction.flow_control(),
            FlowControl::Return
                | FlowControl::UnconditionalBranch
                | FlowControl::IndirectBranch
                | FlowControl::Exception
        );
        at = match leaves {
            true => {
                let next = starts.iter().filter(|s| **s >= end).min();
                let next = next.copied().unwrap_or(bytes.len());
                if next > end {
                    lines.push(data_line(end, &bytes[end..next]));
                }
                next
            }
            false => end,
        };
    }
    lines
}

fn data_line(at: usize, bytes: &[u8]) -> CodeLine {
    CodeLine {
        text: format!("{at:6x}    {} bytes of data", bytes.len()),
        at: None,
    }
}
