//! Instructions as they are emitted: labels, tables of operands, stack depth.

use std::hash::Hash;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use taipan_base::TextRange;

use crate::bytecode::*;

/// A jump target that may still be unknown. Until [`Assembler::finish`] jumps hold
/// its number instead of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

#[derive(Default)]
struct LabelState {
    at: Option<Pc>,
    /// Stack depth there, once a jump told.
    depth: Option<u32>,
}

type Table<T> = IndexSet<T, FxBuildHasher>;

/// Collects the parts of one body.
#[derive(Default)]
pub(super) struct Assembler {
    instrs: Vec<Instr>,
    spans: Vec<TextRange>,
    items: Vec<(Pc, Box<[TextRange]>)>,
    pub(super) consts: Table<CodeConst>,
    pub(super) names: Table<Box<str>>,
    calls: Table<CallDesc>,
    functions: Table<FunctionDesc>,
    imports: Table<ImportDesc>,
    handlers: Vec<Handler>,
    labels: Vec<LabelState>,
    depth: u32,
    max_depth: u32,
    /// After a jump: nothing gets here, so nothing is emitted, until a label is
    /// bound that something jumps to.
    unreachable: bool,
    /// Place of the instructions to come.
    pub(super) at: TextRange,
}

fn index<T: Hash + Eq>(table: &mut Table<T>, item: T) -> u32 {
    table.insert_full(item).0 as u32
}

impl Assembler {
    pub(super) fn pc(&self) -> Pc {
        self.instrs.len() as Pc
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Corrects the depth where code that leaves a value on the stack comes after
    /// other such code that it is no continuation of.
    pub(super) fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(LabelState::default());
        Label(self.labels.len() as u32 - 1)
    }

    /// Puts a label here.
    pub(super) fn bind(&mut self, label: Label) {
        let pc = self.pc();
        let state = &mut self.labels[label.0 as usize];
        state.at = Some(pc);
        if let Some(depth) = state.depth {
            self.depth = depth;
            self.unreachable = false;
        }
    }

    /// Puts the label of an exception handler here.
    pub(super) fn bind_handler(&mut self, label: Label, depth: u32) {
        self.labels[label.0 as usize].depth = Some(depth + 2);
        self.bind(label);
        self.max_depth = self.max_depth.max(depth + 2);
    }

    /// Protects a range.
    pub(super) fn protect(&mut self, start: Pc, end: Pc, target: Label, depth: u32) -> bool {
        if start == end {
            return false;
        }
        self.handlers.push(Handler {
            start,
            end,
            target: target.0,
            depth,
        });
        true
    }

    pub(super) fn emit(&mut self, instr: Instr) {
        let (pops, pushes) = self.effect(instr);
        let before = self.depth;
        self.depth = self.depth.saturating_sub(pops) + pushes;
        if self.unreachable {
            return;
        }
        debug_assert!(before >= pops, "{instr:?} pops {pops} of {before}");
        self.max_depth = self.max_depth.max(self.depth);
        self.instrs.push(instr);
        self.spans.push(self.at);
        if instr.ends_flow() {
            self.unreachable = true;
        }
    }

    /// Emits the making of a display of these items.
    pub(super) fn emit_display(&mut self, instr: Instr, items: impl Iterator<Item = TextRange>) {
        let items: Box<[TextRange]> = items.collect();
        if !self.unreachable && !items.is_empty() {
            self.items.push((self.pc(), items));
        }
        self.emit(instr);
    }

    /// Emits a jump; `make` gets the place of the target.
    pub(super) fn jump(&mut self, make: fn(Pc) -> Instr, label: Label) {
        let instr = make(label.0);
        if !self.unreachable {
            let (pops, _) = self.effect(instr);
            // What is on the stack when the jump is taken.
            let kept = match instr {
                Instr::JumpIfFalseOrPop(_) | Instr::JumpIfTrueOrPop(_) => self.depth,
                _ => self.depth - pops,
            };
            self.labels[label.0 as usize].depth = Some(kept);
        }
        self.emit(instr);
    }

    fn effect(&self, instr: Instr) -> (u32, u32) {
        instr.stack_effect(&self.calls, &self.functions)
    }

    pub(super) fn load_const(&mut self, value: CodeConst) {
        let i = index(&mut self.consts, value);
        self.emit(Instr::LoadConst(i));
    }

    pub(super) fn name(&mut self, name: &str) -> u32 {
        match self.names.get_index_of(name) {
            Some(i) => i as u32,
            None => index(&mut self.names, name.into()),
        }
    }

    pub(super) fn call(&mut self, desc: CallDesc) {
        let i = index(&mut self.calls, desc);
        self.emit(Instr::Call(i));
    }

    /// A call with positional arguments only.
    pub(super) fn call_positional(&mut self, n: u32) {
        self.call(CallDesc {
            positional: n,
            keywords: Vec::new(),
            star: false,
            dstar: false,
        });
    }

    pub(super) fn make_function(&mut self, code: CodeId, defaults: u32, closure: u32) {
        let code = index(&mut self.consts, CodeConst::Code(code));
        let i = index(
            &mut self.functions,
            FunctionDesc {
                code,
                defaults,
                closure,
            },
        );
        self.emit(Instr::MakeFunction(i));
    }

    pub(super) fn import(&mut self, desc: ImportDesc) {
        let i = index(&mut self.imports, desc);
        self.emit(Instr::Import(i));
    }

    /// Puts the parts into a code object, jumps pointing to positions.
    pub(super) fn finish(mut self, code: &mut Code, spans: &mut CodeSpans) {
        let labels = &self.labels;
        let end = self.instrs.len() as Pc;
        let place = |l: Pc| labels[l as usize].at.unwrap_or(end);
        for instr in &mut self.instrs {
            use Instr::*;
            match instr {
                Jump(t) | JumpIfFalse(t) | JumpIfTrue(t) | JumpIfFalseOrPop(t)
                | JumpIfTrueOrPop(t) | JumpIfSuppressed(t) | ForIter(t) => *t = place(*t),
                _ => {}
            }
        }
        for h in &mut self.handlers {
            h.target = place(h.target);
        }
        self.instrs.shrink_to_fit();
        self.spans.shrink_to_fit();
        code.instrs = self.instrs;
        code.handlers = self.handlers;
        code.consts = self.consts.into_iter().collect();
        code.names = self.names.into_iter().collect();
        code.calls = self.calls.into_iter().collect();
        code.functions = self.functions.into_iter().collect();
        code.imports = self.imports.into_iter().collect();
        code.max_stack = self.max_depth;
        spans.instrs = self.spans;
        if code.kind == CodeKind::Function {
            spans.items = self.items;
        }
    }
}
