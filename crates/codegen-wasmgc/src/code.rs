//! Instructions on their way to bytes.
//!
//! ```text
//! local.set 5                                      local.set 5
//! local.get 5      (nothing, if that was all)      local.get 5      local.tee 5
//!                                                  ...
//!                                                  local.get 5
//! ```

use wasm_encoder::{Function, Instruction, ValType};

/// An instruction.
pub(crate) type Ins = Instruction<'static>;

/// An instruction, and the one of the bytecode that it comes from.
type Placed = (Ins, Option<u32>);

/// Stands where the code of an instruction of the bytecode begins, until [`placed`] takes it out. Code here has no
/// `memory.discard` otherwise.
pub(crate) fn place(at: u32) -> Ins {
    Ins::MemoryDiscard(at)
}

/// Notes the place at each instruction.
fn placed(code: Vec<Ins>) -> Vec<Placed> {
    let mut at = None;
    let mut out = Vec::with_capacity(code.len());
    for i in code {
        match i {
            Ins::MemoryDiscard(place) => at = Some(place),
            _ => out.push((i, at)),
        }
    }
    out
}

/// How often each local is read.
fn reads(code: &[Placed], locals: usize) -> Vec<u32> {
    let mut reads = vec![0; locals];
    for (i, _) in code {
        if let Ins::LocalGet(n) = i {
            reads[*n as usize] += 1;
        }
    }
    reads
}

/// Drops unreachable code: the instructions between a jump and the end of its block.
fn reached(code: Vec<Placed>) -> Vec<Placed> {
    let mut out: Vec<Placed> = Vec::with_capacity(code.len());
    // How many blocks begin in the part that is not reached; none where control is.
    let mut skipped: Option<u32> = None;
    for (i, at) in code {
        match (&i, &mut skipped) {
            (Ins::Block(_) | Ins::Loop(_) | Ins::If(_), Some(n)) => *n += 1,
            (Ins::End, Some(n)) if *n > 0 => *n -= 1,
            (Ins::Else, Some(n)) if *n > 0 => {}
            (Ins::End | Ins::Else, Some(_)) => {
                skipped = None;
                out.push((i, at));
            }
            (_, Some(_)) => {}
            (_, None) => {
                let ends = matches!(
                    i,
                    Ins::Br(_) | Ins::BrTable(..) | Ins::Return | Ins::Unreachable
                );
                out.push((i, at));
                skipped = ends.then_some(0);
            }
        }
    }
    out
}

/// Drops locals that only carry a value to the next instruction.
fn simplified(code: Vec<Placed>, locals: usize) -> Vec<Placed> {
    let reads = reads(&code, locals);
    let mut out: Vec<Placed> = Vec::with_capacity(code.len());
    for (i, at) in code {
        match (out.last(), &i) {
            (Some((Ins::LocalSet(a), _)), Ins::LocalGet(b)) if a == b => {
                let n = *a;
                out.pop();
                if reads[n as usize] > 1 {
                    out.push((Ins::LocalTee(n), at));
                }
            }
            _ => out.push((i, at)),
        }
    }
    for (i, _) in &mut out {
        if let Ins::LocalSet(n) = i
            && reads[*n as usize] == 0
        {
            *i = Ins::Drop;
        }
    }
    out
}

/// The bytes of a function.
pub(crate) struct Body {
    /// Locals and instructions.
    pub(crate) bytes: Vec<u8>,
    /// Where the code of instructions of the bytecode begins: an offset in the bytes, and the number of the instruction.
    pub(crate) places: Vec<(u32, u32)>,
}

/// The bytes of a function: its locals behind `params`, and its code, without the `end` of the whole.
pub(crate) fn body(code: Vec<Ins>, locals: &[ValType], params: usize) -> Body {
    let mut code = simplified(reached(placed(code)), locals.len());
    let mut used = vec![false; locals.len()];
    for (i, _) in &code {
        if let Ins::LocalGet(n) | Ins::LocalSet(n) | Ins::LocalTee(n) = i {
            used[*n as usize] = true;
        }
    }
    // Locals of a type stand beside each other: their declaration is a count and a type.
    let mut order: Vec<usize> = (params..locals.len()).filter(|n| used[*n]).collect();
    let mut types: Vec<ValType> = Vec::new();
    for n in &order {
        if !types.contains(&locals[*n]) {
            types.push(locals[*n]);
        }
    }
    order.sort_by_key(|n| types.iter().position(|t| *t == locals[*n]));
    let mut numbers: Vec<u32> = (0..locals.len() as u32).collect();
    for (new, old) in order.iter().enumerate() {
        numbers[*old] = (params + new) as u32;
    }
    for (i, _) in &mut code {
        if let Ins::LocalGet(n) | Ins::LocalSet(n) | Ins::LocalTee(n) = i {
            *n = numbers[*n as usize];
        }
    }
    let mut function = Function::new_with_locals_types(order.iter().map(|n| locals[*n]));
    let (mut places, mut last) = (Vec::new(), None);
    for (i, at) in &code {
        if let Some(at) = at.filter(|_| *at != last) {
            places.push((function.byte_len() as u32, at));
        }
        last = *at;
        function.instruction(i);
    }
    function.instruction(&Ins::End);
    Body {
        bytes: function.into_raw_body(),
        places,
    }
}
