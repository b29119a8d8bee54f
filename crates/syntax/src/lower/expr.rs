//! Expressions.

use num_bigint::BigInt;
use rustc_hash::FxHashSet;
use taipan_base::TextRange;
use tree_sitter::Node;

use super::{Child, Lowerer};
use crate::ast::*;
use crate::kind::{Field, Kind};
use crate::literal::{self, Reading};
use crate::mask::Mark;
use crate::{Habit, SyntaxProblem};

/// The first child in a field.
pub(super) fn in_field<'t>(children: &[Child<'t>], field: Field) -> Option<Node<'t>> {
    children.iter().find(|c| c.1 == field).map(|c| c.0)
}

/// A step to the right of a chain that leans to the left.
enum Step<'t> {
    Binary(BinaryOp, Node<'t>),
    Attribute(Node<'t>),
    Call(Node<'t>),
    Subscript(Node<'t>),
}

impl<'t> Lowerer<'_, 't> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, node: Node<'t>) -> ExprId {
        self.deeper(node, |l| l.chain(node))
            .unwrap_or_else(|| self.alloc(Expr::Error, self.range(node)))
    }

    fn chain(&mut self, node: Node<'t>) -> ExprId {
        // Down the left side, then back up: `a.b(c) + d` is a chain of four.
        let mut chain: Vec<(Step<'t>, TextRange)> = Vec::new();
        let mut head = node;
        loop {
            let step = match self.kind(head) {
                Kind::BinaryOperator => {
                    let c = self.children(head);
                    let (Some(left), Some(op), Some(right)) = (
                        in_field(&c, Field::Left),
                        in_field(&c, Field::Operator),
                        in_field(&c, Field::Right),
                    ) else {
                        break;
                    };
                    let Some(op) = self.binary_op(op) else { break };
                    Some((left, Step::Binary(op, right)))
                }
                Kind::Attribute => {
                    let c = self.children(head);
                    in_field(&c, Field::Object)
                        .zip(in_field(&c, Field::Attribute))
                        .map(|(object, name)| (object, Step::Attribute(name)))
                }
                Kind::Call => {
                    let c = self.children(head);
                    in_field(&c, Field::Function)
                        .zip(in_field(&c, Field::Arguments))
                        .map(|(function, args)| (function, Step::Call(args)))
                }
                Kind::Subscript => {
                    let c = self.children(head);
                    in_field(&c, Field::Value).map(|value| (value, Step::Subscript(head)))
                }
                _ => None,
            };
            let Some((left, step)) = step else { break };
            chain.push((step, self.range(head)));
            head = left;
        }
        let mut value = self.simple(head);
        while let Some((step, range)) = chain.pop() {
            let expr = match step {
                Step::Binary(op, right) => Expr::Binary(op, value, self.expr(right)),
                Step::Attribute(name) => Expr::Attribute(value, self.name(name)),
                Step::Call(args) => self.call(value, args),
                Step::Subscript(node) => Expr::Subscript(value, self.subscript(node)),
            };
            value = self.alloc(expr, range);
        }
        value
    }

    fn exprs(&mut self, nodes: impl IntoIterator<Item = Node<'t>>) -> Box<[ExprId]> {
        nodes.into_iter().map(|n| self.expr(n)).collect()
    }

    /// The expressions among children, whatever stands between them.
    pub(super) fn expr_children(&mut self, node: Node<'t>) -> Box<[ExprId]> {
        let children = self.children(node);
        self.exprs(children.iter().map(|c| c.0).filter(Node::is_named))
    }

    /// The first child that is a node of its own.
    pub(super) fn named_child(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        self.children(node).iter().map(|c| c.0).find(Node::is_named)
    }

    /// An expression that is no chain.
    fn simple(&mut self, node: Node<'t>) -> ExprId {
        let range = self.range(node);
        // Other nodes may start with a string too.
        if matches!(self.kind(node), Kind::Tuple | Kind::TuplePattern)
            && let Mark::String(group) = self.mark(node)
        {
            let literals = self.masked.string(group);
            let reading = Reading {
                unicode_literals: self.ast.future.unicode_literals,
                latin1: self.latin1,
            };
            let value = literal::string(self.source, literals, reading, &mut self.errors);
            return self.alloc(value, range);
        }
        let expr = match self.kind(node) {
            Kind::Identifier if self.mark(node) == Mark::Dotted => return self.dotted_expr(node),
            Kind::Identifier => Expr::Name(self.name(node)),
            Kind::None => Expr::None,
            Kind::True => Expr::Bool(true),
            Kind::False => Expr::Bool(false),
            Kind::Ellipsis => Expr::Ellipsis,
            // What is wrong there was reported.
            Kind::Integer if self.mark(node) == Mark::Replacement => Expr::Error,
            Kind::Integer => match literal::number(self.text(node)) {
                Ok(value) => value,
                Err(message) => {
                    self.error(range, message);
                    Expr::Error
                }
            },
            Kind::Parenthesized => {
                let children = self.children(node);
                let Some((inner, _)) = children.first() else {
                    return self.alloc(Expr::Error, range);
                };
                let inner = self.expr(*inner);
                if self.mark(node) != Mark::Backquote {
                    return inner;
                }
                Expr::Repr(inner)
            }
            Kind::Tuple | Kind::TuplePattern | Kind::ExpressionList | Kind::PatternList => {
                let items = self.expr_children(node);
                if self.mark(node) == Mark::Backquote && self.kind(node) == Kind::Tuple {
                    if items.is_empty() {
                        self.error(range, "expected an expression between the backquotes");
                    }
                    let tuple = self.alloc(Expr::Tuple(items), range);
                    Expr::Repr(tuple)
                } else if self.kind(node) == Kind::TuplePattern
                    && items.len() == 1
                    && !self
                        .children(node)
                        .iter()
                        .any(|c| self.kind(c.0) == Kind::Comma)
                {
                    return items[0]; // mere parentheses
                } else {
                    Expr::Tuple(items)
                }
            }
            Kind::List | Kind::ListPattern => Expr::List(self.expr_children(node)),
            Kind::Set => Expr::Set(self.expr_children(node)),
            Kind::Dictionary => self.dict(node),
            Kind::UnaryOperator => {
                let c = self.children(node);
                let op = in_field(&c, Field::Operator).map(|n| self.kind(n));
                let op = match op {
                    Some(Kind::Sub) => UnaryOp::Neg,
                    Some(Kind::Add) => UnaryOp::Pos,
                    _ => UnaryOp::Invert,
                };
                let Some(arg) = in_field(&c, Field::Argument) else {
                    return self.alloc(Expr::Error, range);
                };
                let arg = self.expr(arg);
                match &self.ast.exprs[arg] {
                    // -9223372036854775808 is an int although its digits alone are a long.
                    Expr::Long(v)
                        if op == UnaryOp::Neg
                            && **v == BigInt::from(1u64 << 63)
                            && !self.text(node).ends_with(['l', 'L', ')']) =>
                    {
                        Expr::Int(i64::MIN)
                    }
                    _ => Expr::Unary(op, arg),
                }
            }
            Kind::NotOperator => {
                let c = self.children(node);
                let Some(arg) = in_field(&c, Field::Argument) else {
                    return self.alloc(Expr::Error, range);
                };
                Expr::Unary(UnaryOp::Not, self.expr(arg))
            }
            Kind::BooleanOperator => self.boolean(node),
            Kind::ComparisonOperator => self.comparison(node),
            Kind::ConditionalExpression => {
                let c = self.children(node);
                let parts = self.exprs(c.iter().map(|c| c.0).filter(Node::is_named));
                match *parts {
                    [then, test, orelse] => Expr::Conditional { test, then, orelse },
                    _ => Expr::Error,
                }
            }
            Kind::Lambda => self.lambda(node),
            Kind::Yield => {
                let c = self.children(node);
                if c.iter().any(|c| self.kind(c.0) == Kind::From) {
                    self.error(range, Habit::YieldFrom);
                    Expr::Error
                } else {
                    let value = c.iter().map(|c| c.0).find(Node::is_named);
                    Expr::Yield(value.map(|v| self.expr(v)))
                }
            }
            Kind::ListComprehension => self.comprehension(node, ComprehensionKind::List),
            Kind::SetComprehension => self.comprehension(node, ComprehensionKind::Set),
            Kind::DictComprehension => self.comprehension(node, ComprehensionKind::Dict),
            Kind::GeneratorExpression => self.comprehension(node, ComprehensionKind::Generator),
            Kind::Slice => self.slice(node),
            Kind::ListSplat | Kind::ListSplatPattern | Kind::DictionarySplat => {
                self.error(range, Habit::Starred);
                Expr::Error
            }
            Kind::NamedExpression => {
                self.error(range, Habit::Walrus);
                Expr::Error
            }
            Kind::BinaryOperator => {
                if !node.has_error() {
                    self.error(range, Habit::MatrixProduct);
                }
                Expr::Error
            }
            // ERROR nodes are reported where the tree is searched for them.
            _ => {
                if !node.has_error() {
                    self.error(range, SyntaxProblem::Invalid);
                }
                Expr::Error
            }
        };
        self.alloc(expr, range)
    }

    /// A name with attributes, which is one token.
    fn dotted_expr(&mut self, node: Node<'t>) -> ExprId {
        let mut range = self.range(node);
        let mut parts = self.text(node).split('.');
        let first = parts.next().unwrap_or("");
        range.end = range.start + first.len() as u32;
        let name = self.intern(first);
        let mut value = self.alloc(Expr::Name(name), range);
        for part in parts {
            range.end += 1 + part.len() as u32;
            let name = self.intern(part);
            value = self.alloc(Expr::Attribute(value, name), range);
        }
        value
    }

    fn binary_op(&self, node: Node<'_>) -> Option<BinaryOp> {
        Some(match self.kind(node) {
            Kind::Add | Kind::AddAssign => BinaryOp::Add,
            Kind::Sub | Kind::SubAssign => BinaryOp::Sub,
            Kind::Mul | Kind::MulAssign => BinaryOp::Mul,
            Kind::Div | Kind::DivAssign => BinaryOp::Div,
            Kind::FloorDiv | Kind::FloorDivAssign => BinaryOp::FloorDiv,
            Kind::Mod | Kind::ModAssign => BinaryOp::Mod,
            Kind::Pow | Kind::PowAssign => BinaryOp::Pow,
            Kind::LShift | Kind::LShiftAssign => BinaryOp::LShift,
            Kind::RShift | Kind::RShiftAssign => BinaryOp::RShift,
            Kind::BitAnd | Kind::AndAssign => BinaryOp::And,
            Kind::BitOr | Kind::OrAssign => BinaryOp::Or,
            Kind::BitXor | Kind::XorAssign => BinaryOp::Xor,
            _ => return None,
        })
    }

    /// The operator of an augmented assignment.
    pub(super) fn augmented_op(&self, node: Node<'_>) -> Option<BinaryOp> {
        self.binary_op(node)
    }

    /// `a and b and c` becomes one node with three operands.
    fn boolean(&mut self, node: Node<'t>) -> Expr {
        let mut operands = Vec::new();
        let mut kind = None;
        let mut head = node;
        loop {
            let c = self.children(head);
            let (Some(left), Some(op), Some(right)) = (
                in_field(&c, Field::Left),
                in_field(&c, Field::Operator),
                in_field(&c, Field::Right),
            ) else {
                break;
            };
            let op = self.kind(op);
            if *kind.get_or_insert(op) != op {
                break;
            }
            operands.push(right);
            head = left;
            if self.kind(head) != Kind::BooleanOperator {
                break;
            }
        }
        operands.push(head);
        let operands = self.exprs(operands.into_iter().rev());
        if operands.len() < 2 {
            Expr::Error
        } else if kind == Some(Kind::And) {
            Expr::And(operands)
        } else {
            Expr::Or(operands)
        }
    }

    fn comparison(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let mut first = None;
        let mut rest = Vec::new();
        let mut op = None;
        for (child, field) in children {
            if field == Field::Operators {
                op = match self.kind(child) {
                    Kind::Lt => Some(CompareOp::Lt),
                    Kind::Le => Some(CompareOp::Le),
                    Kind::EqEq => Some(CompareOp::Eq),
                    Kind::NotEq | Kind::LtGt => Some(CompareOp::Ne),
                    Kind::Gt => Some(CompareOp::Gt),
                    Kind::Ge => Some(CompareOp::Ge),
                    Kind::In => Some(CompareOp::In),
                    Kind::NotIn => Some(CompareOp::NotIn),
                    Kind::Is => Some(CompareOp::Is),
                    Kind::IsNot => Some(CompareOp::IsNot),
                    _ => op,
                };
            } else if child.is_named() {
                let value = self.expr(child);
                match (first, op.take()) {
                    (None, _) => first = Some(value),
                    (Some(_), Some(op)) => rest.push((op, value)),
                    (Some(_), None) => return Expr::Error,
                }
            }
        }
        match first {
            Some(first) if !rest.is_empty() => Expr::Compare(first, rest.into()),
            _ => Expr::Error,
        }
    }

    fn dict(&mut self, node: Node<'t>) -> Expr {
        let mut items = Vec::new();
        for (child, _) in self.children(node) {
            match self.kind(child) {
                Kind::Pair => {
                    let c = self.children(child);
                    if let (Some(key), Some(value)) =
                        (in_field(&c, Field::Key), in_field(&c, Field::Value))
                    {
                        items.push((self.expr(key), self.expr(value)));
                    }
                }
                Kind::DictionarySplat => {
                    let range = self.range(child);
                    self.error(range, Habit::DictUnpacking);
                }
                _ => {}
            }
        }
        Expr::Dict(items.into())
    }

    fn lambda(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let whole = self.range(node);
        let name = children
            .iter()
            .find(|c| self.kind(c.0) == Kind::LambdaWord)
            .map_or(whole, |c| self.range(c.0));
        let (params, param_spans) = match in_field(&children, Field::Parameters) {
            Some(p) => self.params(p),
            None => Default::default(),
        };
        let Some(body) = in_field(&children, Field::Body) else {
            return Expr::Error;
        };
        let body = FunctionBody::Expr(self.expr(body));
        let function = Function {
            name: self.intern("<lambda>"),
            params,
            body,
            decorators: Box::default(),
        };
        let spans = DefinitionSpans {
            whole,
            name,
            params: param_spans,
        };
        Expr::Lambda(self.alloc_function(function, spans))
    }

    /// A parameter list with the place of each parameter.
    pub(super) fn params(&mut self, node: Node<'t>) -> (Params, Vec<TextRange>) {
        let mut positional = Vec::new();
        let mut defaults = Vec::new();
        let mut params = Params::default();
        let mut spans = Vec::new();
        for (mut child, _) in self.children(node) {
            let range = self.range(child);
            match self.kind(child) {
                Kind::TypedParameter => {
                    self.error(range, Habit::Annotation);
                    match self.children(child).first() {
                        Some((inner, _)) => child = *inner,
                        None => continue,
                    }
                }
                Kind::TypedDefaultParameter => {
                    self.error(range, Habit::Annotation);
                }
                _ => {}
            }
            let after_star = params.varargs.is_some() || params.varkeywords.is_some();
            match self.kind(child) {
                Kind::Identifier | Kind::TuplePattern => {
                    if after_star {
                        self.error(range, Habit::ParameterBehindStar);
                        continue;
                    }
                    if !defaults.is_empty() {
                        self.error(
                            range,
                            "a parameter without a default follows one with a default",
                        );
                        continue;
                    }
                    positional.push(self.param(child));
                    spans.push(range);
                }
                Kind::DefaultParameter | Kind::TypedDefaultParameter => {
                    let c = self.children(child);
                    let (Some(name), Some(value)) =
                        (in_field(&c, Field::Name), in_field(&c, Field::Value))
                    else {
                        continue;
                    };
                    if after_star {
                        self.error(range, Habit::ParameterBehindStar);
                        continue;
                    }
                    positional.push(self.param(name));
                    spans.push(self.range(name));
                    defaults.push(self.expr(value));
                }
                Kind::ListSplatPattern | Kind::DictionarySplatPattern => {
                    let single = self.kind(child) == Kind::ListSplatPattern;
                    let name = self
                        .children(child)
                        .iter()
                        .map(|c| c.0)
                        .find(|n| self.kind(*n) == Kind::Identifier);
                    let Some(name) = name else {
                        self.error(range, "expected a name after the star");
                        continue;
                    };
                    let slot_taken = if single {
                        after_star
                    } else {
                        params.varkeywords.is_some()
                    };
                    if slot_taken {
                        self.error(range, Habit::ParameterBehindStar);
                        continue;
                    }
                    let name = Some(self.name(name));
                    if single {
                        params.varargs = name;
                    } else {
                        params.varkeywords = name;
                    }
                    spans.push(range);
                }
                Kind::KeywordSeparator | Kind::PositionalSeparator => {
                    self.error(range, Habit::BareStar);
                }
                _ => {}
            }
        }
        params.positional = positional.into();
        let mut seen = FxHashSet::default();
        for (name, span) in params.names().zip(&spans) {
            if name.is_some_and(|n| !seen.insert(n)) {
                self.error(*span, "this parameter's name is used twice");
            }
        }
        params.defaults = defaults.into();
        (params, spans)
    }

    fn param(&mut self, node: Node<'t>) -> Param {
        if self.kind(node) == Kind::Identifier {
            return Param::Name(self.name(node));
        }
        if matches!(self.mark(node), Mark::String(_)) {
            self.error(self.range(node), "expected a parameter's name");
        }
        let target = self.expr(node);
        // `(a)` is the same as `a`.
        match self.ast.exprs[target] {
            Expr::Name(name) => Param::Name(name),
            _ => Param::Tuple(target),
        }
    }

    fn comprehension(&mut self, node: Node<'t>, kind: ComprehensionKind) -> Expr {
        let children = self.children(node);
        let mut element = None;
        let mut value = None;
        let mut clauses = Vec::new();
        for (child, field) in children {
            match self.kind(child) {
                Kind::Pair if field == Field::Body => {
                    let c = self.children(child);
                    element = in_field(&c, Field::Key).map(|k| self.expr(k));
                    value = in_field(&c, Field::Value).map(|v| self.expr(v));
                }
                Kind::ForInClause => {
                    let c = self.children(child);
                    let Some(target) = in_field(&c, Field::Left) else {
                        continue;
                    };
                    let target = self.expr(target);
                    let iters: Vec<_> = c
                        .iter()
                        .filter(|c| c.1 == Field::Right && c.0.is_named())
                        .map(|c| c.0)
                        .collect();
                    if iters.len() > 1 && kind != ComprehensionKind::List {
                        self.error(
                            self.range(node),
                            "a generator expression beside other arguments needs parentheses",
                        );
                    }
                    let iter = match *iters {
                        [] => continue,
                        [one] => self.expr(one),
                        [first, .., last] => {
                            let range = TextRange::new(self.start(first), self.range(last).end);
                            let items = self.exprs(iters);
                            self.alloc(Expr::Tuple(items), range)
                        }
                    };
                    clauses.push(Clause::For(target, iter));
                }
                Kind::IfClause => {
                    if let Some((test, _)) = self.children(child).first() {
                        clauses.push(Clause::If(self.expr(*test)));
                    }
                }
                _ if field == Field::Body => element = Some(self.expr(child)),
                _ => {}
            }
        }
        match element {
            Some(element) if matches!(clauses.first(), Some(Clause::For(..))) => {
                Expr::Comprehension(Box::new(Comprehension {
                    kind,
                    element,
                    value,
                    clauses: clauses.into(),
                }))
            }
            _ => Expr::Error,
        }
    }

    fn subscript(&mut self, node: Node<'t>) -> ExprId {
        let children = self.children(node);
        let comma = children.iter().any(|c| self.kind(c.0) == Kind::Comma);
        let parts: Vec<_> = children
            .iter()
            .filter(|c| c.1 == Field::Subscript)
            .map(|c| c.0)
            .collect();
        match *parts {
            [one] if !comma => self.expr(one),
            _ => {
                let start = parts.first().map_or(0, |n| self.start(*n));
                let end = parts.last().map_or(start, |n| self.range(*n).end);
                let items = self.exprs(parts);
                self.alloc(Expr::Tuple(items), TextRange::new(start, end))
            }
        }
    }

    fn slice(&mut self, node: Node<'t>) -> Expr {
        let mut parts = [None; 3];
        let mut colons = 0;
        for (child, _) in self.children(node) {
            if self.kind(child) == Kind::Colon {
                colons += 1;
            } else if child.is_named() && colons < 3 {
                parts[colons] = Some(self.expr(child));
            }
        }
        let [lower, upper, step] = parts;
        Expr::Slice {
            lower,
            upper,
            step: (colons > 1).then_some(step),
        }
    }

    fn call(&mut self, function: ExprId, args: Node<'t>) -> Expr {
        let range = self.range(args);
        if matches!(self.mark(args), Mark::String(_) | Mark::Backquote) {
            // Two values in a row: the text has no parentheses here.
            self.error(range, SyntaxProblem::Invalid);
            return Expr::Error;
        }
        let mut call = Call {
            function,
            args: Box::default(),
            keywords: Box::default(),
            star: None,
            dstar: None,
        };
        if self.kind(args) == Kind::GeneratorExpression {
            call.args = [self.expr(args)].into();
            return Expr::Call(Box::new(call));
        }
        let mut positional = Vec::new();
        let mut keywords: Vec<(Name, ExprId)> = Vec::new();
        let mut seen = FxHashSet::default();
        for (child, _) in self.children(args) {
            let range = self.range(child);
            match self.kind(child) {
                Kind::Comma => {}
                Kind::KeywordArgument => {
                    let c = self.children(child);
                    let (Some(name), Some(value)) =
                        (in_field(&c, Field::Name), in_field(&c, Field::Value))
                    else {
                        continue;
                    };
                    let name = self.name(name);
                    let value = self.expr(value);
                    if !seen.insert(name) {
                        self.error(range, "keyword argument repeated");
                    } else if call.dstar.is_some() {
                        self.error(range, "no argument may follow `**`");
                    } else {
                        keywords.push((name, value));
                    }
                }
                Kind::ListSplat | Kind::ListSplatPattern => {
                    let value = self.named_child(child).map(|c| self.expr(c));
                    if call.star.is_some() || call.dstar.is_some() {
                        self.error(range, "only one `*` argument is possible, before `**`");
                    }
                    call.star = value;
                }
                Kind::DictionarySplat => {
                    let value = self.named_child(child).map(|c| self.expr(c));
                    if call.dstar.is_some() {
                        self.error(range, "only one `**` argument is possible");
                    }
                    call.dstar = value;
                }
                _ if child.is_named() => {
                    if !keywords.is_empty() || call.star.is_some() || call.dstar.is_some() {
                        self.error(range, "positional argument after a keyword or starred one");
                    }
                    positional.push(self.expr(child));
                }
                _ => {}
            }
        }
        call.args = positional.into();
        call.keywords = keywords.into();
        Expr::Call(Box::new(call))
    }
}
