//! Where a local variable got the value that it has at an instruction: for messages only.

use std::collections::VecDeque;

use taipan_base::Db;
use taipan_code::{Code, Instr, code};
use taipan_graph::Const;
use taipan_interp::{Function, ObjData, Object, object};

use crate::context::constant;

/// What is known of a value whose place is wanted.
#[derive(Clone, Copy)]
pub enum Given<'a> {
    /// It is this constant.
    Const(&'a Const),
    /// This instruction made it.
    MadeBy(u32),
    /// It is what this variable had before.
    Variable(&'a str),
}

/// Whether an instruction of a function does nothing but read a variable.
pub fn reads_variable(db: &dyn Db, func: Function, at: u32) -> bool {
    let data = object(db, Object::new(db, func.program(db), func.obj(db)));
    let Some(ObjData::Function(f)) = data.as_deref() else {
        return false;
    };
    let code = code(db, f.code);
    matches!(code.instrs.get(at as usize), Some(Instr::LoadFast(_)))
}

/// The instruction that gave a value to a variable of this name, which has it behind the
/// instruction `at`. Without such a variable: that gave the value which `at` works on. Where
/// several can be the one, the nearest of those that fit what is known of the value.
pub fn assigned_at(db: &dyn Db, func: Function, at: u32, name: &str, value: Given<'_>) -> u32 {
    let data = object(db, Object::new(db, func.program(db), func.obj(db)));
    let Some(ObjData::Function(f)) = data.as_deref() else {
        return at;
    };
    let code = code(db, f.code);
    let Some(instr) = code.instrs.get(at as usize) else {
        return at;
    };
    if let Some(made) = assigned_next(&code, at, name) {
        return made;
    }
    let before = predecessors(&code);
    let local = code.locals.iter().position(|l| **l == *name);
    let stores = match (local, instr) {
        (Some(local), _) => assignments(&code, &before, at, local as u32),
        (None, Instr::LoadFast(local)) => assignments(&code, &before, at, *local),
        (None, Instr::StoreFast(_)) => vec![at],
        (None, _) => Vec::new(),
    };
    let mut made: Vec<u32> = Vec::new();
    for pc in stores {
        made.extend(values_of(&code, &before, pc));
    }
    let fits = |pc: &u32| match (value, code.instrs[*pc as usize]) {
        (Given::Const(value), Instr::LoadConst(c)) => {
            let c = code.consts.get(c as usize).map(constant);
            c.as_ref().and_then(|c| c.as_const()) == Some(value)
        }
        (Given::Variable(name), Instr::LoadFast(l)) => *code.locals[l as usize] == *name,
        (Given::MadeBy(by), _) => by == *pc,
        _ => false,
    };
    let best = made.iter().copied().find(fits);
    best.or(made.first().copied()).unwrap_or(at)
}

/// The instruction that gave a value to a variable which is assigned right behind `at`, before
/// anything is computed: `x = 1 if a else 2` has met the other way before it assigns.
fn assigned_next(code: &Code, at: u32, name: &str) -> Option<u32> {
    let (mut made, mut pc) = match code.instrs[at as usize] {
        // Where a way ends in one, it is the way of the jump.
        Instr::JumpIfFalseOrPop(to) | Instr::JumpIfTrueOrPop(to) => (at.checked_sub(1)?, to),
        Instr::JumpIfFalse(to) | Instr::JumpIfTrue(to) => (at, to),
        _ => (at, at + 1),
    };
    for _ in 0..code.instrs.len() {
        let instr = *code.instrs.get(pc as usize)?;
        match instr {
            Instr::StoreFast(l) if *code.locals[l as usize] == *name => {
                let takes_apart = matches!(
                    code.instrs[made as usize],
                    Instr::StoreFast(_) | Instr::UnpackSequence(_) | Instr::Dup
                );
                return Some(if takes_apart { pc } else { made });
            }
            Instr::Jump(to) => pc = to,
            Instr::StoreFast(_) | Instr::LoadConst(_) | Instr::LoadFast(_) => {
                (made, pc) = (pc, pc + 1);
            }
            _ => return None,
        }
    }
    None
}

/// The assignments to a variable that may be the last ones before an instruction is done,
/// the nearest first.
fn assignments(code: &Code, before: &[Vec<u32>], at: u32, local: u32) -> Vec<u32> {
    let mut seen = vec![false; code.instrs.len()];
    let mut todo = VecDeque::from([at]);
    let mut found = Vec::new();
    while let Some(pc) = todo.pop_front() {
        if std::mem::replace(&mut seen[pc as usize], true) {
            continue;
        }
        if code.instrs[pc as usize] == Instr::StoreFast(local) {
            found.push(pc);
        } else {
            todo.extend(&before[pc as usize]);
        }
    }
    found
}

/// Where control may come from to each instruction.
fn predecessors(code: &Code) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); code.instrs.len() + 1];
    for (pc, instr) in code.instrs.iter().enumerate() {
        if !matches!(
            instr,
            Instr::Jump(_) | Instr::Return | Instr::Raise(_) | Instr::Reraise
        ) {
            before[pc + 1].push(pc as u32);
        }
        if let Some(to) = instr.jump_target() {
            before[to as usize].push(pc as u32);
        }
    }
    for h in &code.handlers {
        before[h.target as usize].extend(h.start..h.end);
    }
    before
}

/// The instructions that can have made the value which another one stores; itself for parts
/// of what is assigned at once, and items of loops.
fn values_of(code: &Code, before: &[Vec<u32>], store: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut todo = before[store as usize].clone();
    while let Some(pc) = todo.pop() {
        match code.instrs[pc as usize] {
            Instr::Jump(_) | Instr::JumpIfFalseOrPop(_) | Instr::JumpIfTrueOrPop(_) => {
                todo.extend(&before[pc as usize]);
            }
            Instr::StoreFast(_) | Instr::UnpackSequence(_) | Instr::Dup => found.push(store),
            i if i.jump_target().is_some() => found.push(store),
            _ => found.push(pc),
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
