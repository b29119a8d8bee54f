//! What must hold for every code, checked in tests.

use std::ops::Index;

use crate::bytecode::*;

impl Instr {
    /// Numbers of values that it takes from the stack and leaves there, when no jump
    /// is taken.
    pub fn stack_effect(
        self,
        calls: &impl Index<usize, Output = CallDesc>,
        functions: &impl Index<usize, Output = FunctionDesc>,
    ) -> (u32, u32) {
        use Instr::*;
        match self {
            LoadConst(_) | LoadFast(_) | LoadGlobal(_) | LoadName(_) | LoadDeref(_)
            | LoadClosure(_) | LoadLocals | Import(_) => (0, 1),
            StoreFast(_) | StoreGlobal(_) | StoreName(_) | StoreDeref(_) => (1, 0),
            DeleteFast(_) | DeleteGlobal(_) | DeleteName(_) | Jump(_) | PrintNewline => (0, 0),
            LoadAttr(_) | Unary(_) | Not | ToBool | GetIter | Yield => (1, 1),
            Pop | DeleteAttr(_) | ListAppend(_) | SetAdd(_) | ImportStar | PrintItem
            | PrintNewlineTo | Return => (1, 0),
            JumpIfFalse(_) | JumpIfTrue(_) | JumpIfFalseOrPop(_) | JumpIfTrueOrPop(_)
            | JumpIfSuppressed(_) => (1, 0),
            StoreAttr(_) | DeleteSubscr | MapAdd(_) | Reraise => (2, 0),
            Binary(_) | ExcMatch | PrintItemTo => (2, 1),
            StoreSubscr | DelSlice | Exec => (3, 0),
            GetSlice | BuildSlice | BuildClass => (3, 1),
            SetSlice => (4, 0),
            BuildTuple(n) | BuildList(n) | BuildSet(n) => (n, 1),
            BuildDict(n) => (2 * n, 1),
            UnpackSequence(n) => (1, n),
            Dup => (1, 2),
            Dup2 => (2, 4),
            Dup3 => (3, 6),
            Rot2 => (2, 2),
            Rot3 => (3, 3),
            Rot4 => (4, 4),
            ForIter(_) | ImportFrom(_) => (1, 2),
            Call(i) => {
                let c = &calls[i as usize];
                let stars = u32::from(c.star) + u32::from(c.dstar);
                (1 + c.positional + c.keywords.len() as u32 + stars, 1)
            }
            MakeFunction(i) => {
                let f = &functions[i as usize];
                (f.defaults + f.closure, 1)
            }
            Raise(n) => (n, 0),
        }
    }

    /// Whether the next instruction never follows.
    pub fn ends_flow(self) -> bool {
        use Instr::*;
        matches!(self, Jump(_) | Return | Raise(_) | Reraise)
    }
}

/// Checks that every instruction is reached with one stack depth, that the stack
/// never underflows nor exceeds `max_stack`, that nothing falls off the end, and that
/// operands are in range. Answers the first violation.
pub fn verify(code: &Code) -> Result<(), String> {
    let mut depths: Vec<Option<u32>> = vec![None; code.instrs.len()];
    let mut work = Vec::new();
    let mut reach = |work: &mut Vec<(Pc, u32)>, pc: Pc, depth: u32| {
        let Some(slot) = depths.get_mut(pc as usize) else {
            return Err(format!("{pc} is past the end"));
        };
        match slot {
            None => {
                *slot = Some(depth);
                work.push((pc, depth));
                Ok(())
            }
            Some(d) if *d == depth => Ok(()),
            Some(d) => Err(format!("depth at {pc} is {d} and {depth}")),
        }
    };
    reach(&mut work, 0, 0)?;
    while let Some((pc, depth)) = work.pop() {
        let instr = code.instrs[pc as usize];
        check_operand(code, instr).map_err(|what| format!("{what} at {pc}"))?;
        let (pops, pushes) = instr.stack_effect(&code.calls, &code.functions);
        let Some(rest) = depth.checked_sub(pops) else {
            return Err(format!("{instr:?} at {pc} pops {pops} of {depth}"));
        };
        let after = rest + pushes;
        if depth.max(after) > code.max_stack {
            return Err(format!("depth at {pc} exceeds {}", code.max_stack));
        }
        if let Some(target) = instr.jump_target() {
            let kept = match instr {
                Instr::JumpIfFalseOrPop(_) | Instr::JumpIfTrueOrPop(_) => depth,
                _ => rest,
            };
            reach(&mut work, target, kept)?;
        }
        if !instr.ends_flow() {
            reach(&mut work, pc + 1, after)?;
        }
        if let Some(h) = code
            .handlers
            .iter()
            .find(|h| (h.start..h.end).contains(&pc))
        {
            if h.depth > rest {
                return Err(format!("handler of {pc} expects {} values", h.depth));
            }
            reach(&mut work, h.target, h.depth + 2)?;
        }
    }
    Ok(())
}

fn check_operand(code: &Code, instr: Instr) -> Result<(), String> {
    use Instr::*;
    let (index, len) = match instr {
        LoadConst(i) => (i, code.consts.len()),
        LoadFast(i) | StoreFast(i) | DeleteFast(i) => (i, code.locals.len()),
        LoadGlobal(i) | StoreGlobal(i) | DeleteGlobal(i) | LoadName(i) | StoreName(i)
        | DeleteName(i) | LoadAttr(i) | StoreAttr(i) | DeleteAttr(i) | ImportFrom(i) => {
            (i, code.names.len())
        }
        LoadDeref(i) | StoreDeref(i) | LoadClosure(i) => (i, code.cells.len() + code.frees.len()),
        Call(i) => (i, code.calls.len()),
        MakeFunction(i) => (i, code.functions.len()),
        Import(i) => (i, code.imports.len()),
        _ => return Ok(()),
    };
    if (index as usize) < len {
        Ok(())
    } else {
        Err(format!("{instr:?} has no operand"))
    }
}
