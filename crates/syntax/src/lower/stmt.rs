//! Statements and definitions.

use taipan_base::TextRange;
use tree_sitter::Node;

use super::expr::in_field;
use super::{Child, Lowerer};
use crate::ast::*;
use crate::kind::{Field, Kind};
use crate::mask::Mark;
use crate::{Habit, SyntaxProblem};

impl<'t> Lowerer<'_, 't> {
    /// The statements of a module or block.
    pub(super) fn block(&mut self, node: Node<'t>) -> Block {
        let children = self.children(node);
        let mut out = Vec::with_capacity(children.len());
        self.deeper(node, |l| {
            for (child, _) in children {
                if child.is_named() {
                    let stmt = l.stmt(child);
                    let id = l.alloc_stmt(stmt, l.range(child));
                    out.push(id);
                }
            }
        });
        out.into()
    }

    /// The block in a field. The pre-pass has seen that there is one.
    fn suite(&mut self, block: Option<Node<'t>>) -> Block {
        block.map_or_else(Block::default, |b| self.block(b))
    }

    fn stmt(&mut self, node: Node<'t>) -> Stmt {
        let range = self.range(node);
        if !self.kind(node).is_compound() {
            self.check_end(range);
        }
        match self.kind(node) {
            Kind::ExpressionStatement => self.expression_statement(node),
            Kind::Pass => match self.mark(node) {
                Mark::PrintEmpty => Stmt::Print {
                    dest: None,
                    values: Box::default(),
                    newline: true,
                },
                _ => Stmt::Pass,
            },
            Kind::Delete => match self.mark(node) {
                mark @ (Mark::Print | Mark::PrintTo) => self.print(node, mark),
                Mark::Exec => self.exec(node),
                _ => self.delete(node),
            },
            Kind::Return => {
                let value = self.named_child(node);
                Stmt::Return(value.map(|v| self.expr(v)))
            }
            Kind::Raise => self.raise(node),
            Kind::Assert => {
                let parts = self.expr_children(node);
                match *parts {
                    [test] => Stmt::Assert(test, None),
                    [test, message] => Stmt::Assert(test, Some(message)),
                    _ => {
                        self.error(range, "`assert` takes a condition and a message");
                        Stmt::Error
                    }
                }
            }
            Kind::Break => Stmt::Break,
            Kind::Continue => Stmt::Continue,
            Kind::Global => {
                let children = self.children(node);
                let mut names = Vec::new();
                for (child, _) in children {
                    if self.kind(child) == Kind::Identifier {
                        names.push(self.name(child));
                    }
                }
                Stmt::Global(names.into())
            }
            Kind::Import => self.import(node),
            Kind::ImportFrom => self.import_from(node),
            Kind::IfStatement => self.if_statement(node),
            Kind::While => {
                let c = self.children(node);
                let Some(test) = in_field(&c, Field::Condition) else {
                    return Stmt::Error;
                };
                Stmt::While {
                    test: self.expr(test),
                    body: self.suite(in_field(&c, Field::Body)),
                    orelse: self.else_clause(&c),
                }
            }
            Kind::ForStatement => {
                let c = self.children(node);
                let (Some(target), Some(iter)) =
                    (in_field(&c, Field::Left), in_field(&c, Field::Right))
                else {
                    return Stmt::Error;
                };
                Stmt::For {
                    target: self.target(target),
                    iter: self.expr(iter),
                    body: self.suite(in_field(&c, Field::Body)),
                    orelse: self.else_clause(&c),
                }
            }
            Kind::Try => self.try_statement(node),
            Kind::With => self.with(node),
            Kind::FunctionDefinition => self.function(node, Box::default()),
            Kind::ClassDefinition => self.class(node, Box::default()),
            Kind::DecoratedDefinition => self.decorated(node),
            Kind::Nonlocal => {
                self.error(range, Habit::Nonlocal);
                Stmt::Error
            }
            Kind::TypeAlias | Kind::Match => {
                self.error(range, Habit::Statement);
                Stmt::Error
            }
            _ => {
                if !node.has_error() {
                    self.error(range, SyntaxProblem::Invalid);
                }
                Stmt::Error
            }
        }
    }

    /// The grammar takes a line break for a blank where no statement can end: notes
    /// the lines that it went past so.
    fn check_end(&mut self, range: TextRange) {
        if let Some(i) = self.masked.line_at(range.start)
            && range.end > self.masked.lines[i].range.end
        {
            self.overruns.push(i);
        }
    }

    fn expression_statement(&mut self, node: Node<'t>) -> Stmt {
        let children = self.children(node);
        match children.as_slice() {
            [(one, _)] => match self.kind(*one) {
                Kind::Assignment => self.assignment(*one),
                Kind::AugmentedAssignment => self.augmented_assignment(*one),
                _ => {
                    let value = self.expr(*one);
                    match self.ast.exprs[value] {
                        Expr::Error => Stmt::Error,
                        _ => Stmt::Expr(value),
                    }
                }
            },
            _ => {
                let items = self.expr_children(node);
                Stmt::Expr(self.alloc(Expr::Tuple(items), self.range(node)))
            }
        }
    }

    fn assignment(&mut self, node: Node<'t>) -> Stmt {
        let mut targets = Vec::new();
        let mut at = node;
        loop {
            let c = self.children(at);
            if in_field(&c, Field::Annotation).is_some() {
                self.error(self.range(at), Habit::Annotation);
            }
            let (Some(left), Some(right)) = (in_field(&c, Field::Left), in_field(&c, Field::Right))
            else {
                return Stmt::Error;
            };
            targets.push(self.target(left));
            match self.kind(right) {
                Kind::Assignment => at = right,
                Kind::AugmentedAssignment => {
                    self.error(
                        self.range(right),
                        "an augmented assignment is no expression",
                    );
                    return Stmt::Error;
                }
                _ => {
                    let value = self.expr(right);
                    return Stmt::Assign(targets.into(), value);
                }
            }
        }
    }

    fn augmented_assignment(&mut self, node: Node<'t>) -> Stmt {
        let c = self.children(node);
        let (Some(left), Some(op), Some(right)) = (
            in_field(&c, Field::Left),
            in_field(&c, Field::Operator),
            in_field(&c, Field::Right),
        ) else {
            return Stmt::Error;
        };
        let Some(op) = self.augmented_op(op) else {
            self.error(self.range(op), Habit::MatrixProduct);
            return Stmt::Error;
        };
        let target = self.target(left);
        if matches!(self.ast.exprs[target], Expr::Tuple(_) | Expr::List(_)) {
            self.error(
                self.range(left),
                "augmented assignment needs a single target",
            );
            return Stmt::Error;
        }
        if matches!(
            self.kind(right),
            Kind::Assignment | Kind::AugmentedAssignment
        ) {
            self.error(self.range(right), SyntaxProblem::AssignmentInExpression);
            return Stmt::Error;
        }
        Stmt::AugAssign(op, target, self.expr(right))
    }

    /// Lowers what is assigned to or deleted, and checks that this is possible.
    pub(super) fn target(&mut self, node: Node<'t>) -> ExprId {
        let target = self.expr(node);
        self.check_target(target);
        target
    }

    fn check_target(&mut self, target: ExprId) {
        let mut stack = vec![target];
        while let Some(t) = stack.pop() {
            let what = match &self.ast.exprs[t] {
                Expr::Error | Expr::Name(_) | Expr::Attribute(..) | Expr::Subscript(..) => continue,
                Expr::Tuple(items) if items.is_empty() => "`()`",
                Expr::Tuple(items) | Expr::List(items) => {
                    stack.extend(items.iter().rev());
                    continue;
                }
                Expr::None => "`None`",
                Expr::Bool(_) => "`True` or `False`",
                Expr::Call(_) => "the result of a call",
                Expr::Comprehension(_) => "a comprehension",
                Expr::Str(_) | Expr::Unicode(_) | Expr::Int(_) | Expr::Float(_) | Expr::Long(_) => {
                    "a literal"
                }
                _ => "an expression",
            };
            let range = self.spans.expr(t);
            self.error(range, format!("cannot assign to {what}"));
        }
    }

    /// The operands of a statement that takes a list without parentheses, and
    /// whether a comma ends it.
    fn operands(&mut self, node: Node<'t>) -> (Box<[ExprId]>, bool) {
        let Some(child) = self.named_child(node) else {
            return Default::default();
        };
        if self.kind(child) != Kind::ExpressionList {
            return ([self.expr(child)].into(), false);
        }
        let comma = self
            .children(child)
            .last()
            .is_some_and(|c| self.kind(c.0) == Kind::Comma);
        (self.expr_children(child), comma)
    }

    fn print(&mut self, node: Node<'t>, mark: Mark) -> Stmt {
        let (mut values, comma) = self.operands(node);
        let mut dest = None;
        let mut newline = !comma;
        if mark == Mark::PrintTo && !values.is_empty() {
            dest = Some(values[0]);
            // `print >>f,` prints a line break all the same.
            newline |= values.len() == 1;
            values = values[1..].into();
        }
        Stmt::Print {
            dest,
            values,
            newline,
        }
    }

    fn exec(&mut self, node: Node<'t>) -> Stmt {
        let parenthesized = self
            .named_child(node)
            .is_some_and(|c| self.kind(c) == Kind::Tuple);
        let (operands, _) = self.operands(node);
        let parts: Vec<ExprId> = match (operands.as_ref(), parenthesized) {
            ([one], true) => match &self.ast.exprs[*one] {
                Expr::Tuple(items) => items.to_vec(),
                _ => vec![*one],
            },
            ([first, rest @ ..], _) => match &self.ast.exprs[*first] {
                Expr::Compare(code, ops) if matches!(**ops, [(CompareOp::In, _)]) => {
                    let mut parts = vec![*code, ops[0].1];
                    parts.extend(rest);
                    parts
                }
                _ => operands.to_vec(),
            },
            ([], _) => return Stmt::Error,
        };
        match *parts {
            [code] => Stmt::Exec {
                code,
                globals: None,
                locals: None,
            },
            [code, globals] => Stmt::Exec {
                code,
                globals: Some(globals),
                locals: None,
            },
            [code, globals, locals] => Stmt::Exec {
                code,
                globals: Some(globals),
                locals: Some(locals),
            },
            _ => {
                self.error(
                    self.range(node),
                    "`exec` takes a source and at most two dicts",
                );
                Stmt::Error
            }
        }
    }

    fn delete(&mut self, node: Node<'t>) -> Stmt {
        let (targets, _) = self.operands(node);
        for t in &targets {
            self.check_target(*t);
        }
        Stmt::Delete(targets)
    }

    fn raise(&mut self, node: Node<'t>) -> Stmt {
        let c = self.children(node);
        if let Some(cause) = in_field(&c, Field::Cause) {
            self.error(self.range(cause), Habit::RaiseFrom);
        }
        let operands = c.iter().find(|c| c.0.is_named() && c.1 != Field::Cause);
        let Some((operands, _)) = operands else {
            return Stmt::Raise(Box::default());
        };
        if self.kind(*operands) != Kind::ExpressionList {
            return Stmt::Raise([self.expr(*operands)].into());
        }
        let parts = self.expr_children(*operands);
        if parts.len() > 3 {
            self.error(
                self.range(node),
                "`raise` takes a class, a value and a traceback",
            );
            return Stmt::Error;
        }
        Stmt::Raise(parts)
    }

    fn import(&mut self, node: Node<'t>) -> Stmt {
        let mut aliases = Vec::new();
        for (child, _) in self.children(node) {
            let (dotted, alias) = match self.kind(child) {
                Kind::DottedName => (child, None),
                Kind::AliasedImport => {
                    let c = self.children(child);
                    let Some(dotted) = in_field(&c, Field::Name) else {
                        continue;
                    };
                    (dotted, in_field(&c, Field::Alias))
                }
                _ => continue,
            };
            let module = self.dotted(dotted);
            let first = self.intern(module.split('.').next().unwrap_or(""));
            let alias = alias.map(|a| self.name(a));
            aliases.push(ImportAlias {
                module,
                alias,
                first,
            });
        }
        Stmt::Import(aliases.into())
    }

    /// A dotted name, without the blanks that may stand in it.
    fn dotted(&self, node: Node<'t>) -> Box<str> {
        let text = self.text(node);
        if text.contains(|c: char| c.is_whitespace() || c == '\\') {
            text.chars()
                .filter(|c| !c.is_whitespace() && *c != '\\')
                .collect::<String>()
                .into()
        } else {
            text.into()
        }
    }

    fn import_from(&mut self, node: Node<'t>) -> Stmt {
        let c = self.children(node);
        let mut import = ImportFrom {
            module: "".into(),
            dots: 0,
            names: None,
        };
        let Some(module) = in_field(&c, Field::ModuleName) else {
            return Stmt::Error;
        };
        if self.kind(module) == Kind::RelativeImport {
            for (child, _) in self.children(module) {
                match self.kind(child) {
                    Kind::ImportPrefix => {
                        let dots = self.text(child).bytes().filter(|b| *b == b'.');
                        import.dots = dots.count() as u32;
                    }
                    Kind::DottedName => import.module = self.dotted(child),
                    _ => {}
                }
            }
        } else {
            import.module = self.dotted(module);
        }
        let future = &*import.module == "__future__";
        if c.iter().any(|c| self.kind(c.0) == Kind::WildcardImport) {
            if future {
                self.error(self.range(node), "Python 2.7 has no such future feature");
            }
        } else {
            let mut names = Vec::new();
            for (child, field) in c {
                if field != Field::Name {
                    continue;
                }
                let (name, alias) = if self.kind(child) == Kind::AliasedImport {
                    let c = self.children(child);
                    let (Some(name), Some(alias)) =
                        (in_field(&c, Field::Name), in_field(&c, Field::Alias))
                    else {
                        continue;
                    };
                    (name, alias)
                } else {
                    (child, child)
                };
                if future {
                    self.future_feature(name);
                }
                names.push((self.name(name), self.name(alias)));
            }
            import.names = Some(names.into());
        }
        Stmt::ImportFrom(Box::new(import))
    }

    fn future_feature(&mut self, node: Node<'t>) {
        let name = self.text(node);
        let future = &mut self.ast.future;
        match name {
            "division" => future.division = true,
            "print_function" => future.print_function = true,
            "unicode_literals" => future.unicode_literals = true,
            "absolute_import" => future.absolute_import = true,
            "nested_scopes" | "generators" | "with_statement" => {}
            _ => self.error(self.range(node), "Python 2.7 has no such future feature"),
        }
    }

    fn if_statement(&mut self, node: Node<'t>) -> Stmt {
        let mut branches = Vec::new();
        let mut orelse = Block::default();
        let children = self.children(node);
        let branch = |l: &mut Self, c: &[Child<'t>]| {
            let test = in_field(c, Field::Condition)?;
            let test = l.expr(test);
            Some((test, l.suite(in_field(c, Field::Consequence))))
        };
        branches.extend(branch(self, &children));
        for (child, _) in children {
            match self.kind(child) {
                Kind::ElifClause => {
                    let c = self.children(child);
                    branches.extend(branch(self, &c));
                }
                Kind::ElseClause => {
                    let c = self.children(child);
                    orelse = self.suite(in_field(&c, Field::Body));
                }
                _ => {}
            }
        }
        if branches.is_empty() {
            return Stmt::Error;
        }
        Stmt::If(branches.into(), orelse)
    }

    fn else_clause(&mut self, children: &[Child<'t>]) -> Block {
        match children.iter().find(|c| self.kind(c.0) == Kind::ElseClause) {
            Some((clause, _)) => {
                let c = self.children(*clause);
                self.suite(in_field(&c, Field::Body))
            }
            None => Block::default(),
        }
    }

    fn try_statement(&mut self, node: Node<'t>) -> Stmt {
        let c = self.children(node);
        let body = self.suite(in_field(&c, Field::Body));
        let mut clauses: Vec<(Node<'t>, ExceptClause)> = Vec::new();
        let mut finally = None;
        for (child, _) in &c {
            match self.kind(*child) {
                Kind::ExceptClause => {
                    let handler = self.except_clause(*child);
                    clauses.push((*child, handler));
                }
                Kind::FinallyClause => {
                    let block = self.named_child(*child);
                    finally = Some(self.suite(block));
                }
                _ => {}
            }
        }
        if clauses.is_empty() && finally.is_none() && !node.has_error() {
            let start = self.start(node);
            self.error(
                TextRange::new(start, start + 3),
                "`try` needs an `except` or a `finally` clause",
            );
        }
        if let [init @ .., _] = clauses.as_slice()
            && let Some((clause, _)) = init.iter().find(|(_, h)| h.class.is_none())
        {
            let start = self.start(*clause);
            self.error(
                TextRange::new(start, start + 6),
                "an `except` without a class must be the last",
            );
        }
        let orelse = self.else_clause(&c);
        if clauses.is_empty() && !orelse.is_empty() {
            self.error(
                self.range(node),
                "`else` needs an `except` clause before it",
            );
        }
        Stmt::Try(Box::new(Try {
            body,
            handlers: clauses.into_iter().map(|(_, h)| h).collect(),
            orelse,
            finally: finally.unwrap_or_default(),
        }))
    }

    fn except_clause(&mut self, node: Node<'t>) -> ExceptClause {
        let c = self.children(node);
        if let Some((star, _)) = c.iter().find(|c| self.kind(c.0) == Kind::Mul) {
            self.error(self.range(*star), Habit::ExceptStar);
        }
        let values: Vec<_> = c
            .iter()
            .filter(|c| c.1 == Field::Value && c.0.is_named())
            .map(|c| c.0)
            .collect();
        let mut class = None;
        let mut target = in_field(&c, Field::Alias);
        match *values {
            [] => {}
            [one] if self.kind(one) == Kind::AsPattern => {
                let (value, alias) = self.as_pattern(one);
                class = value;
                target = alias;
            }
            [one] => class = Some(one),
            [one, second] => {
                class = Some(one);
                target = Some(second);
            }
            [_, _, third, ..] => {
                self.error(self.range(third), "`except` takes a class and a target");
            }
        }
        let class = class.map(|n| self.expr(n));
        let target = target.map(|n| self.target(n));
        let block = c.iter().map(|c| c.0).find(|n| self.kind(*n) == Kind::Block);
        ExceptClause {
            class,
            target,
            body: self.suite(block),
        }
    }

    /// The two sides of `value as target`.
    fn as_pattern(&mut self, node: Node<'t>) -> (Option<Node<'t>>, Option<Node<'t>>) {
        let c = self.children(node);
        let value = c.iter().find(|c| c.1 != Field::Alias && c.0.is_named());
        let alias = in_field(&c, Field::Alias).map(|a| match self.kind(a) {
            Kind::AsPatternTarget => self.named_child(a).unwrap_or(a),
            _ => a,
        });
        (value.map(|c| c.0), alias)
    }

    fn with(&mut self, node: Node<'t>) -> Stmt {
        let c = self.children(node);
        let mut items = Vec::new();
        let clause = c.iter().find(|c| self.kind(c.0) == Kind::WithClause);
        for (item, _) in clause.map_or_else(Default::default, |c| self.children(c.0)) {
            if self.kind(item) != Kind::WithItem {
                continue;
            }
            let Some(value) = self.named_child(item) else {
                continue;
            };
            if self.kind(value) == Kind::AsPattern {
                if let (Some(value), alias) = self.as_pattern(value) {
                    let value = self.expr(value);
                    items.push((value, alias.map(|a| self.target(a))));
                }
            } else {
                items.push((self.expr(value), None));
            }
        }
        let body = self.suite(in_field(&c, Field::Body));
        if items.is_empty() {
            return Stmt::Error;
        }
        Stmt::With(items.into(), body)
    }

    fn decorated(&mut self, node: Node<'t>) -> Stmt {
        let c = self.children(node);
        let mut decorators = Vec::new();
        for (child, _) in &c {
            if self.kind(*child) == Kind::Decorator
                && let Some(value) = self.named_child(*child)
            {
                self.check_end(TextRange::new(self.start(*child), self.range(value).end));
                decorators.push(self.expr(value));
            }
        }
        match in_field(&c, Field::Definition) {
            Some(d) if self.kind(d) == Kind::FunctionDefinition => {
                self.function(d, decorators.into())
            }
            Some(d) if self.kind(d) == Kind::ClassDefinition => self.class(d, decorators.into()),
            _ => Stmt::Error,
        }
    }

    fn function(&mut self, node: Node<'t>, decorators: Box<[ExprId]>) -> Stmt {
        let c = self.children(node);
        let whole = self.range(node);
        for field in [Field::ReturnType, Field::TypeParameters] {
            if let Some(n) = in_field(&c, field) {
                self.error(self.range(n), Habit::Annotation);
            }
        }
        let Some(name) = in_field(&c, Field::Name) else {
            return Stmt::Error;
        };
        let (params, param_spans) = match in_field(&c, Field::Parameters) {
            Some(p) => {
                if matches!(self.mark(p), Mark::String(_)) {
                    self.error(self.range(p), "expected `(`");
                }
                self.params(p)
            }
            None => Default::default(),
        };
        let spans = DefinitionSpans {
            whole,
            name: self.range(name),
            params: param_spans,
        };
        let name = self.name(name);
        let body = FunctionBody::Block(self.suite(in_field(&c, Field::Body)));
        let function = Function {
            name,
            params,
            body,
            decorators,
        };
        Stmt::Function(self.alloc_function(function, spans))
    }

    fn class(&mut self, node: Node<'t>, decorators: Box<[ExprId]>) -> Stmt {
        let c = self.children(node);
        let Some(name) = in_field(&c, Field::Name) else {
            return Stmt::Error;
        };
        let spans = DefinitionSpans {
            whole: self.range(node),
            name: self.range(name),
            params: Vec::new(),
        };
        let name = self.name(name);
        let mut bases = Vec::new();
        if let Some(list) = in_field(&c, Field::Superclasses) {
            if matches!(self.mark(list), Mark::String(_)) {
                self.error(self.range(list), "expected `(`");
            }
            for (child, _) in self.children(list) {
                match self.kind(child) {
                    Kind::Comma => {}
                    Kind::KeywordArgument | Kind::ListSplat | Kind::DictionarySplat => {
                        self.error(self.range(child), Habit::ClassArgument);
                    }
                    _ => bases.push(self.expr(child)),
                }
            }
        }
        let body = self.suite(in_field(&c, Field::Body));
        let class = Class {
            name,
            bases: bases.into(),
            body,
            decorators,
        };
        Stmt::Class(self.alloc_class(class, spans))
    }
}
