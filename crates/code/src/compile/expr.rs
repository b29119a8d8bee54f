//! Expressions.

use taipan_base::TextRange;
use taipan_graph::HlOp;
use taipan_syntax::walk;
use taipan_syntax::{
    BinaryOp, Call, Clause, CompareOp, Comprehension, ComprehensionKind, Expr, ExprId, FunctionId,
    UnaryOp,
};

use super::Compiler;
use super::assembler::Label;
use crate::bytecode::*;
use crate::scope::{ScopeId, ScopeNode};

impl<'a> Compiler<'a> {
    /// Leaves the value of an expression on the stack.
    pub(super) fn expr(&mut self, id: ExprId) {
        // Down the left side, then up again: see `walk::Spine`.
        let mut chain = Vec::new();
        let mut head = id;
        while let Some(left) = walk::left(&self.ast.exprs[head]) {
            chain.push(head);
            head = left;
        }
        // What is constant so far; nothing of it has been emitted.
        let mut folded = self.constant(head);
        if folded.is_none() {
            self.head(head);
        }
        while let Some(e) = chain.pop() {
            if let Some(value) = folded.take() {
                if let Expr::Binary(op, _, right) = &self.ast.exprs[e] {
                    folded = self.fold_with(*op, &value, *right);
                }
                if folded.is_some() {
                    continue;
                }
                self.out.at = self.range(head);
                self.out.load_const(value);
            }
            match &self.ast.exprs[e] {
                Expr::Binary(op, _, right) => {
                    self.expr(*right);
                    self.out.at = self.range(e);
                    let op = self.binary_op(*op);
                    self.out.emit(Instr::Binary(op));
                }
                Expr::Attribute(value, name) if self.is_raised_value(*value, *name) => {}
                Expr::Attribute(_, name) => {
                    let name = self.scopes.mangle(self.scope, *name);
                    let i = self.out.name(self.scopes.text(name));
                    self.out.at = self.range(e);
                    self.out.emit(Instr::LoadAttr(i));
                }
                Expr::Subscript(_, index) => {
                    let instr = self.index(*index, Instr::GetSlice, Instr::Binary(HlOp::GetItem));
                    self.out.at = self.range(e);
                    self.out.emit(instr);
                }
                Expr::Call(c) => self.call(c, self.range(e)),
                _ => {}
            }
        }
        if let Some(value) = folded {
            self.out.at = self.range(id);
            self.out.load_const(value);
        }
    }

    /// An expression that does not lean to the left and is no constant.
    fn head(&mut self, id: ExprId) {
        let range = self.range(id);
        self.out.at = range;
        match &self.ast.exprs[id] {
            Expr::Name(name) => self.load_name(*name),
            Expr::Tuple(items) => self.build(items, Instr::BuildTuple, range),
            Expr::List(items) => {
                for e in items {
                    self.expr(*e);
                }
                self.out.at = range;
                let places = items.iter().map(|e| self.parsed.spans.expr(*e));
                let make = Instr::BuildList(items.len() as u32);
                self.out.emit_display(make, places);
            }
            Expr::Set(items) => self.build(items, Instr::BuildSet, range),
            Expr::Dict(items) => {
                // As in CPython 2.7, the value comes first; that of a literal key cannot be seen.
                for (key, value) in items {
                    if matches!(self.ast.exprs[*key], Expr::Int(_) | Expr::Str(_)) {
                        self.expr(*key);
                        self.expr(*value);
                    } else {
                        self.expr(*value);
                        self.expr(*key);
                        self.out.emit(Instr::Rot2);
                    }
                }
                self.out.at = range;
                let places = items.iter().flat_map(|(k, v)| [*k, *v]);
                let places = places.map(|e| self.parsed.spans.expr(e));
                let make = Instr::BuildDict(items.len() as u32);
                self.out.emit_display(make, places);
            }
            Expr::Unary(UnaryOp::Not, e) => {
                self.expr(*e);
                self.out.at = range;
                self.out.emit(Instr::Not);
            }
            Expr::Unary(op, e) => {
                self.expr(*e);
                self.out.at = range;
                self.out.emit(Instr::Unary(match op {
                    UnaryOp::Neg => HlOp::Neg,
                    UnaryOp::Pos => HlOp::Pos,
                    _ => HlOp::Invert,
                }));
            }
            Expr::And(items) => self.short_circuit(items, Instr::JumpIfFalseOrPop),
            Expr::Or(items) => self.short_circuit(items, Instr::JumpIfTrueOrPop),
            Expr::Compare(first, rest) => self.compare(*first, rest, range),
            Expr::Conditional { test, then, orelse } => {
                let (no, end) = (self.out.label(), self.out.label());
                self.jump_if(*test, false, no);
                self.expr(*then);
                let depth = self.out.depth();
                self.out.jump(Instr::Jump, end);
                self.out.bind(no);
                self.out.set_depth(depth - 1);
                self.expr(*orelse);
                self.out.bind(end);
            }
            Expr::Lambda(f) => self.make_function(ScopeNode::Function(*f), Some(*f), range),
            Expr::Repr(e) => {
                self.expr(*e);
                self.out.at = range;
                self.out.emit(Instr::Unary(HlOp::Repr));
            }
            Expr::Yield(value) => {
                if !self.in_function() {
                    self.poison(range, "`yield` outside a function");
                    return;
                }
                match value {
                    Some(e) => self.expr(*e),
                    None => self.out.load_const(CodeConst::None),
                }
                self.out.at = range;
                self.out.emit(Instr::Yield);
            }
            Expr::Comprehension(c) => self.comprehension(id, c, range),
            Expr::Slice { lower, upper, step } => {
                self.optional(*lower);
                self.optional(*upper);
                self.optional(step.flatten());
                self.out.at = range;
                self.out.emit(Instr::BuildSlice);
            }
            // Errors were reported by the parser.
            _ => self.raise_syntax_error("invalid syntax"),
        }
    }

    pub(super) fn in_function(&self) -> bool {
        let node = self.scopes.scopes[self.scope].node;
        matches!(node, ScopeNode::Function(_) | ScopeNode::Comprehension(_))
    }

    fn optional(&mut self, e: Option<ExprId>) {
        match e {
            Some(e) => self.expr(e),
            None => self.out.load_const(CodeConst::None),
        }
    }

    fn build(&mut self, items: &[ExprId], make: fn(u32) -> Instr, range: TextRange) {
        for e in items {
            self.expr(*e);
        }
        self.out.at = range;
        self.out.emit(make(items.len() as u32));
    }

    pub(super) fn binary_op(&self, op: BinaryOp) -> HlOp {
        match op {
            BinaryOp::Add => HlOp::Add,
            BinaryOp::Sub => HlOp::Sub,
            BinaryOp::Mul => HlOp::Mul,
            BinaryOp::Div if self.ast.future.division => HlOp::TrueDiv,
            BinaryOp::Div => HlOp::Div,
            BinaryOp::FloorDiv => HlOp::FloorDiv,
            BinaryOp::Mod => HlOp::Mod,
            BinaryOp::Pow => HlOp::Pow,
            BinaryOp::LShift => HlOp::LShift,
            BinaryOp::RShift => HlOp::RShift,
            BinaryOp::And => HlOp::And,
            BinaryOp::Or => HlOp::Or,
            BinaryOp::Xor => HlOp::Xor,
        }
    }

    /// Evaluates what stands in a subscript's brackets. Answers `slice` where that is
    /// a plain slice, whose two bounds are then on the stack, else `item`.
    pub(super) fn index(&mut self, index: ExprId, slice: Instr, item: Instr) -> Instr {
        if let Expr::Slice {
            lower,
            upper,
            step: None,
        } = self.ast.exprs[index]
        {
            self.out.at = self.range(index);
            self.optional(lower);
            self.optional(upper);
            return slice;
        }
        self.expr(index);
        item
    }

    fn call(&mut self, c: &Call, range: TextRange) {
        for e in &c.args {
            self.expr(*e);
        }
        let mut keywords = Vec::new();
        for (name, e) in &c.keywords {
            let name = self.scopes.mangle(self.scope, *name);
            keywords.push(self.scopes.text(name).into());
            self.expr(*e);
        }
        for e in c.star.iter().chain(&c.dstar) {
            self.expr(*e);
        }
        self.out.at = range;
        self.out.call(CallDesc {
            positional: c.args.len() as u32,
            keywords,
            star: c.star.is_some(),
            dstar: c.dstar.is_some(),
        });
    }

    fn short_circuit(&mut self, items: &[ExprId], jump: fn(Pc) -> Instr) {
        let end = self.out.label();
        let Some((last, init)) = items.split_last() else {
            return;
        };
        for e in init {
            self.expr(*e);
            self.out.at = self.range(*e);
            self.out.jump(jump, end);
        }
        self.expr(*last);
        self.out.bind(end);
    }

    /// Emits one comparison of the two values on the stack.
    pub(super) fn compare_op(&mut self, op: CompareOp) {
        let (instr, negate) = match op {
            CompareOp::Lt => (HlOp::Lt, false),
            CompareOp::Le => (HlOp::Le, false),
            CompareOp::Eq => (HlOp::Eq, false),
            CompareOp::Ne => (HlOp::Ne, false),
            CompareOp::Gt => (HlOp::Gt, false),
            CompareOp::Ge => (HlOp::Ge, false),
            CompareOp::In => (HlOp::Contains, false),
            CompareOp::NotIn => (HlOp::Contains, true),
            CompareOp::Is => (HlOp::Is, false),
            CompareOp::IsNot => (HlOp::Is, true),
        };
        if instr == HlOp::Contains {
            self.out.emit(Instr::Rot2);
        }
        self.out.emit(Instr::Binary(instr));
        if negate {
            self.out.emit(Instr::Not);
        }
    }

    /// `a < b < c`: every operand once, the rest only while it holds.
    fn compare(&mut self, first: ExprId, rest: &[(CompareOp, ExprId)], range: TextRange) {
        self.expr(first);
        let Some(((last_op, last), init)) = rest.split_last() else {
            return;
        };
        let cleanup = self.out.label();
        for (op, e) in init {
            self.right_operand(*op, *e);
            self.out.at = range;
            self.out.emit(Instr::Dup);
            self.out.emit(Instr::Rot3);
            self.compare_op(*op);
            self.out.jump(Instr::JumpIfFalseOrPop, cleanup);
        }
        self.right_operand(*last_op, *last);
        self.out.at = range;
        self.compare_op(*last_op);
        if !init.is_empty() {
            let end = self.out.label();
            self.out.jump(Instr::Jump, end);
            self.out.bind(cleanup);
            self.out.emit(Instr::Rot2);
            self.out.emit(Instr::Pop);
            self.out.bind(end);
        }
    }

    /// The right operand of a comparison. As in CPython a list of literals that is only
    /// looked through is a constant tuple.
    fn right_operand(&mut self, op: CompareOp, e: ExprId) {
        if matches!(op, CompareOp::In | CompareOp::NotIn)
            && let Expr::List(items) = &self.ast.exprs[e]
            && let Some(items) = items.iter().map(|i| self.literal(*i)).collect()
        {
            self.out.at = self.range(e);
            self.out.load_const(CodeConst::Tuple(items));
            return;
        }
        self.expr(e);
    }

    /// Jumps if the truth of an expression is `when`; goes on otherwise.
    pub(super) fn jump_if(&mut self, e: ExprId, when: bool, target: Label) {
        match &self.ast.exprs[e] {
            Expr::Unary(UnaryOp::Not, inner) => self.jump_if(*inner, !when, target),
            expr @ (Expr::And(items) | Expr::Or(items)) => {
                // One operand that is `decisive` settles it.
                let decisive = matches!(expr, Expr::Or(_));
                let Some((last, init)) = items.split_last() else {
                    return;
                };
                if decisive == when {
                    for e in init {
                        self.jump_if(*e, when, target);
                    }
                    self.jump_if(*last, when, target);
                } else {
                    let end = self.out.label();
                    for e in init {
                        self.jump_if(*e, !when, end);
                    }
                    self.jump_if(*last, when, target);
                    self.out.bind(end);
                }
            }
            _ => {
                if let Some(truth) = self.truth(e) {
                    if truth == when {
                        self.out.at = self.range(e);
                        self.out.jump(Instr::Jump, target);
                    }
                    return;
                }
                self.expr(e);
                self.out.at = self.range(e);
                let make = if when {
                    Instr::JumpIfTrue
                } else {
                    Instr::JumpIfFalse
                };
                self.out.jump(make, target);
            }
        }
    }

    /// Leaves a function made of the code of a scope on the stack. Default values are
    /// evaluated here.
    pub(super) fn make_function(
        &mut self,
        node: ScopeNode,
        function: Option<FunctionId>,
        range: TextRange,
    ) {
        let mut defaults = 0;
        if let Some(f) = function {
            for d in &self.ast.functions[f].params.defaults {
                self.expr(*d);
                defaults += 1;
            }
        }
        self.out.at = range;
        let inner: ScopeId = self.scopes.by_node[&node];
        let frees = &self.scopes.scopes[inner].frees;
        for name in frees {
            if let Some(i) = self.scopes.deref(self.scope, *name) {
                self.out.emit(Instr::LoadClosure(i));
            }
        }
        self.out
            .make_function(self.ids[inner], defaults, frees.len() as u32);
    }

    fn comprehension(&mut self, id: ExprId, c: &Comprehension, range: TextRange) {
        if c.kind == ComprehensionKind::List {
            self.out.emit(Instr::BuildList(0));
            self.clauses(c, 0, true);
            return;
        }
        self.make_function(ScopeNode::Comprehension(id), None, range);
        if let Some(Clause::For(_, iter)) = c.clauses.first() {
            self.expr(*iter);
            self.out.at = range;
            self.out.emit(Instr::GetIter);
        }
        self.out.call_positional(1);
    }

    /// The body of the function that a comprehension or generator expression is; its
    /// argument is the first clause's iterator.
    pub(super) fn comprehension_body(&mut self, c: &Comprehension) {
        match c.kind {
            ComprehensionKind::Set => self.out.emit(Instr::BuildSet(0)),
            ComprehensionKind::Dict => self.out.emit(Instr::BuildDict(0)),
            _ => {}
        }
        self.out.emit(Instr::LoadFast(0));
        self.clauses(c, 0, false);
        if c.kind == ComprehensionKind::Generator {
            self.out.load_const(CodeConst::None);
        }
        self.out.emit(Instr::Return);
    }

    /// The loops of a comprehension, from a clause on. `own_iter`: whether the first
    /// loop's iterator is made here; otherwise it is on the stack.
    fn clauses(&mut self, c: &Comprehension, from: usize, own_iter: bool) {
        let mut skip = Vec::new();
        let mut loops = Vec::new();
        for (i, clause) in c.clauses.iter().enumerate().skip(from) {
            match clause {
                Clause::For(target, iter) => {
                    if i > 0 || own_iter {
                        self.expr(*iter);
                        self.out.at = self.range(*iter);
                        self.out.emit(Instr::GetIter);
                    }
                    let (head, end) = (self.out.label(), self.out.label());
                    self.out.bind(head);
                    self.out.at = self.range(*iter);
                    self.out.jump(Instr::ForIter, end);
                    self.store_to(*target);
                    loops.push((head, end));
                    skip.push(head);
                }
                Clause::If(test) => {
                    let Some(head) = skip.last() else { continue };
                    self.jump_if(*test, false, *head);
                }
            }
        }
        let depth = loops.len() as u32 + 1;
        let range = self.range(c.element);
        if let (ComprehensionKind::Dict, Some(value)) = (c.kind, c.value) {
            self.expr(value);
        }
        self.expr(c.element);
        self.out.at = range;
        match (c.kind, c.value) {
            (ComprehensionKind::Dict, Some(_)) => {
                self.out.emit(Instr::Rot2);
                self.out.emit(Instr::MapAdd(depth));
            }
            (ComprehensionKind::Set, _) => self.out.emit(Instr::SetAdd(depth)),
            (ComprehensionKind::Generator, _) => {
                self.out.emit(Instr::Yield);
                self.out.emit(Instr::Pop);
            }
            _ => self.out.emit(Instr::ListAppend(depth)),
        }
        for (head, end) in loops.into_iter().rev() {
            self.out.jump(Instr::Jump, head);
            self.out.bind(end);
        }
    }
}
