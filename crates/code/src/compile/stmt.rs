//! Statements.

use taipan_base::TextRange;
use taipan_graph::HlOp;
use taipan_syntax::walk;
use taipan_syntax::{
    BinaryOp, Block, ClassId, Expr, ExprId, FunctionId, ImportAlias, ImportFrom, Stmt, StmtId,
};

use super::Compiler;
use crate::bytecode::*;
use crate::scope::ScopeNode;

impl<'a> Compiler<'a> {
    pub(super) fn block(&mut self, block: &'a Block) {
        for s in block {
            self.stmt(*s);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let ast = self.ast;
        let range = self.parsed.spans.stmt(id);
        self.out.at = range;
        match &ast.stmts[id] {
            // A module and a class go on without the statement: what else they define
            // is of use to whoever looks at the rest of the program.
            _ if self.defines() && self.is_broken(id) => self.poisoned = true,
            Stmt::Error => {
                self.raise_syntax_error("invalid syntax");
                self.out.emit(Instr::Pop);
            }
            Stmt::Expr(e) => {
                if self.raises_statement(*e, None) {
                    return;
                }
                if self.constant(*e).is_none() {
                    self.expr(*e);
                    self.out.emit(Instr::Pop);
                }
            }
            Stmt::Assign(targets, value) => {
                if let [target] = **targets
                    && self.raises_statement(*value, Some(target))
                {
                    return;
                }
                self.assign(targets, *value);
            }
            Stmt::AugAssign(op, target, value) => self.augmented(*op, *target, *value, range),
            Stmt::Delete(targets) => {
                for t in targets {
                    self.delete(*t);
                }
            }
            Stmt::Print {
                dest,
                values,
                newline,
            } => self.print(*dest, values, *newline, range),
            Stmt::Exec {
                code,
                globals,
                locals,
            } => {
                self.expr(*code);
                for e in [globals, locals] {
                    match e {
                        Some(e) => self.expr(*e),
                        None => self.out.load_const(CodeConst::None),
                    }
                }
                self.out.at = range;
                self.out.emit(Instr::Exec);
            }
            Stmt::Return(value) => self.return_statement(id, *value),
            Stmt::Raise(operands) => self.raise(id, operands),
            Stmt::Assert(test, message) => {
                if self.test_assert(*test, *message) {
                    return;
                }
                let end = self.out.label();
                self.jump_if(*test, true, end);
                self.out.at = range;
                let name = self.out.name("AssertionError");
                self.out.emit(Instr::LoadGlobal(name));
                if let Some(m) = message {
                    self.expr(*m);
                    self.out.at = range;
                    self.out.call_positional(1);
                }
                self.out.emit(Instr::Raise(1));
                self.out.bind(end);
            }
            Stmt::Pass | Stmt::Global(_) => {}
            Stmt::Break => self.leave_loop(id, true),
            Stmt::Continue => self.leave_loop(id, false),
            Stmt::Import(aliases) => {
                for a in aliases {
                    self.import(a);
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import, range),
            Stmt::If(branches, orelse) => {
                let end = self.out.label();
                for (test, block) in branches {
                    let no = self.out.label();
                    self.jump_if(*test, false, no);
                    self.block(block);
                    self.out.jump(Instr::Jump, end);
                    self.out.bind(no);
                }
                self.block(orelse);
                self.out.bind(end);
            }
            Stmt::While { test, body, orelse } => self.while_loop(*test, body, orelse),
            Stmt::For {
                target,
                iter,
                body,
                orelse,
            } => self.for_loop(*target, *iter, body, orelse),
            Stmt::Try(t) => self.try_statement(t),
            Stmt::With(items, body) => self.with(items, body),
            Stmt::Function(f) => self.function(*f),
            Stmt::Class(c) => self.class(*c),
        }
    }

    /// Whether a statement, or an expression of a simple one, could not be parsed.
    fn is_broken(&self, id: StmtId) -> bool {
        let mut exprs = Vec::new();
        let mut compound = false;
        walk::stmt_parts(&self.ast.stmts[id], &mut |part| match part {
            walk::Part::Expr(e) => exprs.push(e),
            walk::Part::Block(_) => compound = true,
        });
        if compound {
            return false;
        }
        while let Some(e) = exprs.pop() {
            match &self.ast.exprs[e] {
                Expr::Error => return true,
                expr => {
                    if let walk::Spine::Left(left) = walk::expr_parts(expr, &mut |e| exprs.push(e))
                    {
                        exprs.push(left);
                    }
                }
            }
        }
        matches!(self.ast.stmts[id], Stmt::Error)
    }

    fn assign(&mut self, targets: &[ExprId], value: ExprId) {
        let ast = self.ast;
        if let ([target], Expr::Tuple(values)) = (targets, &ast.exprs[value])
            && let Expr::Tuple(targets) | Expr::List(targets) = &ast.exprs[*target]
            && targets.len() == values.len()
            && matches!(values.len(), 2 | 3)
        {
            // `a, b = b, a` makes no tuple.
            for v in values {
                self.expr(*v);
            }
            self.out.at = self.range(value);
            if values.len() == 3 {
                self.out.emit(Instr::Rot3);
            }
            self.out.emit(Instr::Rot2);
            for t in targets {
                self.store_to(*t);
            }
            return;
        }
        self.expr(value);
        for (i, t) in targets.iter().enumerate() {
            if i + 1 < targets.len() {
                self.out.emit(Instr::Dup);
            }
            self.store_to(*t);
        }
    }

    /// Stores the top of the stack to a target.
    pub(super) fn store_to(&mut self, target: ExprId) {
        let range = self.range(target);
        self.out.at = range;
        match &self.ast.exprs[target] {
            Expr::Name(name) => {
                self.raised.remove(name);
                self.store_name(*name);
            }
            Expr::Attribute(value, name) => {
                self.expr(*value);
                let name = self.scopes.mangle(self.scope, *name);
                let i = self.out.name(self.scopes.text(name));
                self.out.at = range;
                self.out.emit(Instr::StoreAttr(i));
            }
            Expr::Subscript(value, index) => {
                self.expr(*value);
                let instr = self.index(*index, Instr::SetSlice, Instr::StoreSubscr);
                self.out.at = range;
                self.out.emit(instr);
            }
            Expr::Tuple(items) | Expr::List(items) => {
                self.out.emit(Instr::UnpackSequence(items.len() as u32));
                for i in items {
                    self.store_to(*i);
                }
            }
            // The parser has reported that it is no target.
            _ => {
                self.raise_syntax_error("invalid target of an assignment");
                self.out.emit(Instr::Pop);
                self.out.emit(Instr::Pop);
            }
        }
    }

    fn delete(&mut self, target: ExprId) {
        let range = self.range(target);
        self.out.at = range;
        match &self.ast.exprs[target] {
            Expr::Name(name) => self.delete_name(*name, range),
            Expr::Attribute(value, name) => {
                self.expr(*value);
                let name = self.scopes.mangle(self.scope, *name);
                let i = self.out.name(self.scopes.text(name));
                self.out.at = range;
                self.out.emit(Instr::DeleteAttr(i));
            }
            Expr::Subscript(value, index) => {
                self.expr(*value);
                let instr = self.index(*index, Instr::DelSlice, Instr::DeleteSubscr);
                self.out.at = range;
                self.out.emit(instr);
            }
            Expr::Tuple(items) | Expr::List(items) => {
                for i in items {
                    self.delete(*i);
                }
            }
            _ => {
                self.raise_syntax_error("invalid target of `del`");
                self.out.emit(Instr::Pop);
            }
        }
    }

    fn augmented(&mut self, op: BinaryOp, target: ExprId, value: ExprId, range: TextRange) {
        let op = inplace(self.binary_op(op));
        let operate = |c: &mut Self| {
            c.expr(value);
            c.out.at = range;
            c.out.emit(Instr::Binary(op));
        };
        match &self.ast.exprs[target] {
            Expr::Name(name) => {
                self.out.at = self.range(target);
                self.load_name(*name);
                operate(self);
                self.store_name(*name);
            }
            Expr::Attribute(object, name) => {
                self.expr(*object);
                let name = self.scopes.mangle(self.scope, *name);
                let i = self.out.name(self.scopes.text(name));
                self.out.at = self.range(target);
                self.out.emit(Instr::Dup);
                self.out.emit(Instr::LoadAttr(i));
                operate(self);
                self.out.emit(Instr::Rot2);
                self.out.emit(Instr::StoreAttr(i));
            }
            Expr::Subscript(object, index) => {
                self.expr(*object);
                let store = self.index(*index, Instr::SetSlice, Instr::StoreSubscr);
                self.out.at = self.range(target);
                if store == Instr::SetSlice {
                    self.out.emit(Instr::Dup3);
                    self.out.emit(Instr::GetSlice);
                    operate(self);
                    self.out.emit(Instr::Rot4);
                } else {
                    self.out.emit(Instr::Dup2);
                    self.out.emit(Instr::Binary(HlOp::GetItem));
                    operate(self);
                    self.out.emit(Instr::Rot3);
                }
                self.out.emit(store);
            }
            _ => {
                self.raise_syntax_error("invalid target of an assignment");
                self.out.emit(Instr::Pop);
            }
        }
    }

    fn print(&mut self, dest: Option<ExprId>, values: &[ExprId], newline: bool, range: TextRange) {
        let Some(dest) = dest else {
            for v in values {
                self.expr(*v);
                self.out.at = self.range(*v);
                self.out.emit(Instr::PrintItem);
            }
            if newline {
                self.out.at = range;
                self.out.emit(Instr::PrintNewline);
            }
            return;
        };
        self.expr(dest);
        for v in values {
            self.expr(*v);
            self.out.at = self.range(*v);
            self.out.emit(Instr::Rot2);
            self.out.emit(Instr::PrintItemTo);
        }
        self.out.at = range;
        self.out.emit(if newline {
            Instr::PrintNewlineTo
        } else {
            Instr::Pop
        });
    }

    fn import_level(&self) -> i32 {
        if self.ast.future.absolute_import {
            0
        } else {
            -1
        }
    }

    fn import(&mut self, alias: &ImportAlias) {
        self.out.import(ImportDesc {
            name: alias.module.clone(),
            level: self.import_level(),
            from: None,
            bind_leaf: alias.alias.is_some(),
        });
        self.store_name(alias.alias.unwrap_or(alias.first));
    }

    fn import_from(&mut self, import: &ImportFrom, range: TextRange) {
        let names: Vec<Box<str>> = match &import.names {
            Some(names) => names
                .iter()
                .map(|(n, _)| self.ast.name(*n).into())
                .collect(),
            None => vec!["*".into()],
        };
        self.out.import(ImportDesc {
            name: import.module.clone(),
            level: match import.dots {
                0 => self.import_level(),
                n => n as i32,
            },
            from: Some(names),
            bind_leaf: false,
        });
        let Some(names) = &import.names else {
            self.out.emit(Instr::ImportStar);
            return;
        };
        for (name, alias) in names {
            let i = self.out.name(self.ast.name(*name));
            self.out.at = range;
            self.out.emit(Instr::ImportFrom(i));
            self.store_name(*alias);
        }
        self.out.emit(Instr::Pop);
    }

    fn decorators(&mut self, decorators: &[ExprId]) {
        for d in decorators {
            self.expr(*d);
        }
    }

    fn apply_decorators(&mut self, decorators: &[ExprId]) {
        for d in decorators.iter().rev() {
            self.out.at = self.range(*d);
            self.out.call_positional(1);
        }
    }

    fn function(&mut self, id: FunctionId) {
        let f = &self.ast.functions[id];
        let name = self.parsed.spans.function(id).name;
        self.decorators(&f.decorators);
        self.make_function(ScopeNode::Function(id), Some(id), name);
        self.apply_decorators(&f.decorators);
        self.out.at = name;
        self.store_name(f.name);
    }

    fn class(&mut self, id: ClassId) {
        let class = &self.ast.classes[id];
        let name = self.parsed.spans.class(id).name;
        self.decorators(&class.decorators);
        self.out.at = name;
        self.out
            .load_const(CodeConst::Str(self.ast.name(class.name).as_bytes().into()));
        for b in &class.bases {
            self.expr(*b);
        }
        self.out.at = name;
        self.out.emit(Instr::BuildTuple(class.bases.len() as u32));
        self.make_function(ScopeNode::Class(id), None, name);
        self.out.emit(Instr::BuildClass);
        self.apply_decorators(&class.decorators);
        self.out.at = name;
        self.store_name(class.name);
    }
}

/// The augmented form of an operation.
fn inplace(op: HlOp) -> HlOp {
    match op {
        HlOp::Add => HlOp::InplaceAdd,
        HlOp::Sub => HlOp::InplaceSub,
        HlOp::Mul => HlOp::InplaceMul,
        HlOp::TrueDiv => HlOp::InplaceTrueDiv,
        HlOp::FloorDiv => HlOp::InplaceFloorDiv,
        HlOp::Div => HlOp::InplaceDiv,
        HlOp::Mod => HlOp::InplaceMod,
        HlOp::Pow => HlOp::InplacePow,
        HlOp::LShift => HlOp::InplaceLShift,
        HlOp::RShift => HlOp::InplaceRShift,
        HlOp::And => HlOp::InplaceAnd,
        HlOp::Or => HlOp::InplaceOr,
        HlOp::Xor => HlOp::InplaceXor,
        other => other,
    }
}
