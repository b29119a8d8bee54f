//! What test modules compile to beyond other modules: asserts that explain themselves,
//! and `raises`.
//!
//! ```text
//! assert f(a) == 3    left = f(a); if not left == 3:
//!                         raise @testing.assertion(@testing.compared(HEAD, show(left), show(3)))
//! raises(E, f, a)     try: f(a)
//!                     except E: pass
//!                     else: raise @testing.did_not_raise("E")
//! with raises(E) as i: ...; i.value          (likewise; `i` is the exception itself,
//!                                             and so is `i.value`)
//! ```
//!
//! `@testing` is a global that import time gives to test modules: the shipped module
//! `_taipan_testing`. An explanation is a text of fields separated by zero bytes, each
//! of which starts with a letter that says what it is: see [`field`].

use std::collections::HashSet;

use taipan_syntax::{Block, Call, CompareOp, Expr, ExprId, Name, ParsedFile, Stmt, UnaryOp};

use super::Compiler;
use super::control::Frame;
use crate::bytecode::*;
use crate::scope::Place;
use taipan_syntax::walk::{Spine, expr_parts};

/// The global of a test module that has what rewritten statements call.
pub const TESTING_GLOBAL: &str = "@testing";

/// What a field of an explanation is, by its first byte.
pub mod field {
    /// Source of the asserted expression.
    pub const EXPRESSION: char = 'E';
    /// The operator of a comparison, before its operands.
    pub const OPERATOR: char = 'C';
    /// Source of the left operand, where it says more than its value.
    pub const LEFT_SOURCE: char = 'l';
    /// Source of the right operand, likewise.
    pub const RIGHT_SOURCE: char = 'r';
    /// Value of the left operand.
    pub const LEFT: char = 'L';
    /// Value of the right operand.
    pub const RIGHT: char = 'R';
    /// Value of an expression that is no comparison.
    pub const VALUE: char = 'V';
    /// Where it stands: `pc nth qualname` of the instruction and the code.
    pub const POSITION: char = 'P';
    /// `name=value` of a local variable in the expression.
    pub const NAME: char = 'W';
    /// The message that the assert gives itself. The last field: it may hold anything.
    pub const MESSAGE: char = 'M';
}

/// What the compiler knows of a test module.
pub(super) struct TestModule<'a> {
    text: &'a str,
    /// Names under which the module imports `raises`.
    raises: HashSet<Name>,
    /// Variables of which more is asked than `.value`: what `raises` gives them has to be
    /// an object.
    asked: HashSet<Name>,
}

/// What the object of `raises` has that the exception itself has not.
const INFORMATION: [&str; 8] = [
    "type",
    "match",
    "typename",
    "traceback",
    "tb",
    "exconly",
    "errisinstance",
    "getrepr",
];

impl<'a> TestModule<'a> {
    pub(super) fn new(parsed: &ParsedFile, text: &'a str) -> TestModule<'a> {
        let ast = &parsed.ast;
        let mut raises = HashSet::new();
        for s in &ast.body {
            if let Stmt::ImportFrom(import) = &ast.stmts[*s]
                && matches!(&*import.module, "pytest" | "py.test")
            {
                let names = import.names.iter().flatten();
                let wanted = names.filter(|(n, _)| ast.name(*n) == "raises");
                raises.extend(wanted.map(|(_, alias)| *alias));
            }
        }
        let asked = (ast.exprs.iter())
            .filter_map(|(_, e)| match e {
                Expr::Attribute(of, name) if INFORMATION.contains(&ast.name(*name)) => {
                    match ast.exprs[*of] {
                        Expr::Name(n) => Some(n),
                        _ => None,
                    }
                }
                _ => None,
            })
            .collect();
        TestModule {
            text,
            raises,
            asked,
        }
    }
}

/// An operand that stays at hand until the assert has failed.
#[derive(Clone, Copy)]
enum Kept {
    /// Evaluated again: a literal or a variable.
    Expr(ExprId),
    /// A hidden local.
    Local(u32),
}

/// A call of `raises`.
pub(super) struct Raises<'a> {
    class: ExprId,
    /// What is called, and with what; none for the form that `with` takes.
    call: Option<(ExprId, &'a [ExprId])>,
}

impl<'a> Compiler<'a> {
    /// Compiles an assert of a test module, if it is one that explains itself.
    pub(super) fn test_assert(&mut self, test: ExprId, message: Option<ExprId>) -> bool {
        if self.testing.is_none() || !self.in_function() {
            return false;
        }
        if let Expr::And(items) = &self.ast.exprs[test] {
            // Each by itself: the first that does not hold is what matters.
            for e in items {
                self.explained_assert(*e, message);
            }
        } else {
            self.explained_assert(test, message);
        }
        true
    }

    fn explained_assert(&mut self, test: ExprId, message: Option<ExprId>) {
        let ast = self.ast;
        let range = self.range(test);
        let end = self.out.label();
        let mut shown = HashSet::new();
        self.out.at = range;
        let mut head = format!("{}{}", field::EXPRESSION, self.source(test));
        head += &format!("\0{}{}", field::POSITION, self.position());
        let (helper, operands) = match &ast.exprs[test] {
            Expr::Compare(first, rest) if rest.len() == 1 => {
                let (op, second) = rest[0];
                let left = self.keep(*first);
                let right = self.keep(second);
                self.load_kept(left);
                self.load_kept(right);
                self.out.at = range;
                self.compare_op(op);
                self.out.jump(Instr::JumpIfTrue, end);
                head += &format!("\0{}{}", field::OPERATOR, operator(op));
                let sources = [(field::LEFT_SOURCE, *first), (field::RIGHT_SOURCE, second)];
                for (tag, e) in sources {
                    if self.constant(e).is_none() {
                        head += &format!("\0{tag}{}", self.source(e));
                    }
                    if let Expr::Name(n) = ast.exprs[e] {
                        shown.insert(n);
                    }
                }
                ("compared", vec![left, right])
            }
            Expr::Or(_) | Expr::Conditional { .. } | Expr::Compare(..) => {
                self.jump_if(test, true, end);
                ("condition", Vec::new())
            }
            _ => {
                let (inner, when) = match &ast.exprs[test] {
                    Expr::Unary(UnaryOp::Not, inner) => (*inner, false),
                    _ => (test, true),
                };
                match ast.exprs[inner] {
                    // Compiled by jumps, without a value.
                    Expr::Unary(UnaryOp::Not, _) | Expr::And(_) | Expr::Or(_) => {
                        self.jump_if(inner, when, end);
                        ("condition", Vec::new())
                    }
                    _ => {
                        let value = self.keep(inner);
                        self.load_kept(value);
                        self.out.at = range;
                        self.out.jump(
                            if when {
                                Instr::JumpIfTrue
                            } else {
                                Instr::JumpIfFalse
                            },
                            end,
                        );
                        if let Expr::Name(n) = ast.exprs[inner] {
                            shown.insert(n);
                        }
                        ("condition_of", vec![value])
                    }
                }
            }
        };
        let mut names = Vec::new();
        self.local_names(test, &mut names);
        names.retain(|n| shown.insert(*n));

        self.out.at = range;
        self.load_testing("assertion");
        for _ in 0..names.len() + usize::from(message.is_some()) {
            self.load_testing("also");
        }
        self.load_testing(helper);
        self.out.load_const(CodeConst::Str(head.as_bytes().into()));
        for kept in &operands {
            self.load_testing("show");
            self.load_kept(*kept);
            self.out.at = range;
            self.out.call_positional(1);
        }
        self.out.call_positional(1 + operands.len() as u32);
        for n in names {
            let label = format!("{}{}=", field::NAME, ast.name(n));
            self.out.load_const(CodeConst::Str(label.as_bytes().into()));
            self.load_testing("show");
            self.load_name(n);
            self.out.call_positional(1);
            self.out.call_positional(3);
        }
        if let Some(m) = message {
            let label = field::MESSAGE.to_string();
            self.out.load_const(CodeConst::Str(label.as_bytes().into()));
            self.load_testing("text");
            self.expr(m);
            self.out.at = range;
            self.out.call_positional(1);
            self.out.call_positional(3);
        }
        self.out.call_positional(1);
        self.out.emit(Instr::Raise(1));
        self.out.bind(end);
    }

    /// Evaluates an operand for the test and for the explanation after it.
    fn keep(&mut self, e: ExprId) -> Kept {
        if self.constant(e).is_some() || matches!(self.ast.exprs[e], Expr::Name(_)) {
            return Kept::Expr(e);
        }
        self.expr(e);
        let local = self.hidden_local("operand");
        self.out.emit(Instr::StoreFast(local));
        Kept::Local(local)
    }

    fn load_kept(&mut self, kept: Kept) {
        match kept {
            Kept::Expr(e) => self.expr(e),
            Kept::Local(i) => self.out.emit(Instr::LoadFast(i)),
        }
    }

    /// A function of the module that helps tests.
    fn load_testing(&mut self, name: &str) {
        let global = self.out.name(TESTING_GLOBAL);
        self.out.emit(Instr::LoadGlobal(global));
        let name = self.out.name(name);
        self.out.emit(Instr::LoadAttr(name));
    }

    /// Where the compiler is, by names and numbers that no edit elsewhere changes.
    fn position(&self) -> String {
        let nth = self.ids[self.scope].nth(self.db);
        let qualname = &self.scopes.scopes[self.scope].qualname;
        format!("{} {nth} {qualname}", self.out.pc())
    }

    /// The text of an expression, on one line.
    fn source(&self, e: ExprId) -> String {
        let text = self.testing.as_ref().map_or("", |t| t.text);
        let range = self.range(e);
        let text = text.get(range.start as usize..range.end as usize);
        let words: Vec<&str> = text.unwrap_or("").split_whitespace().collect();
        words.join(" ")
    }

    /// The local variables that the value of an expression certainly depends on, in
    /// the order of their first use.
    fn local_names(&self, e: ExprId, out: &mut Vec<Name>) {
        let mut at = e;
        let mut later = Vec::new();
        loop {
            match &self.ast.exprs[at] {
                Expr::Name(n) => {
                    let (_, place) = self.place(*n);
                    if !matches!(place, Place::Global) && !out.contains(n) {
                        out.push(*n);
                    }
                    break;
                }
                // Not every part of these has been evaluated.
                Expr::Conditional { .. } => break,
                Expr::Compare(_, rest) if rest.len() > 1 => break,
                expr => match expr_parts(expr, &mut |e| later.push(e)) {
                    Spine::Left(left) => at = left,
                    Spine::End => break,
                },
            }
        }
        for e in later {
            self.local_names(e, out);
        }
    }

    /// Whether an expression is a call of `raises` that can be compiled.
    pub(super) fn raises_call(&self, e: ExprId) -> Option<Raises<'a>> {
        let testing = self.testing.as_ref()?;
        let ast = self.ast;
        let Expr::Call(call) = &ast.exprs[e] else {
            return None;
        };
        let Call {
            function,
            args,
            keywords,
            star: None,
            dstar: None,
        } = &**call
        else {
            return None;
        };
        let is_name =
            |e: ExprId, text: &str| matches!(&ast.exprs[e], Expr::Name(n) if ast.name(*n) == text);
        let named = match &ast.exprs[*function] {
            Expr::Name(n) => testing.raises.contains(n),
            Expr::Attribute(module, name) if ast.name(*name) == "raises" => {
                is_name(*module, "pytest")
                    || matches!(&ast.exprs[*module], Expr::Attribute(py, test)
                        if is_name(*py, "py") && ast.name(*test) == "test")
            }
            _ => false,
        };
        if !named || !keywords.is_empty() || !self.in_function() {
            return None;
        }
        let (class, rest) = args.split_first()?;
        let call = match rest.split_first() {
            None => None,
            // Source to be executed is for import time only.
            Some((f, _)) if matches!(ast.exprs[*f], Expr::Str(_)) => return None,
            Some((f, args)) => Some((*f, args)),
        };
        Some(Raises {
            class: *class,
            call,
        })
    }

    /// `raises(E, f, args)` as a statement; its value is the exception.
    pub(super) fn raises_statement(&mut self, e: ExprId, target: Option<ExprId>) -> bool {
        let Some(raises) = self.raises_call(e) else {
            return false;
        };
        let Some((function, args)) = raises.call else {
            return false;
        };
        self.expect_raise(raises.class, target, |c| {
            c.expr(function);
            for a in args {
                c.expr(*a);
            }
            c.out.at = c.range(e);
            c.out.call_positional(args.len() as u32);
            c.out.emit(Instr::Pop);
        });
        true
    }

    /// `with raises(E) as target:`
    pub(super) fn with_raises(
        &mut self,
        manager: ExprId,
        target: Option<ExprId>,
        rest: &'a [(ExprId, Option<ExprId>)],
        body: &'a Block,
    ) -> bool {
        // An object that knows more than the exception is for the interpreter.
        let asked = |c: &Self| match (target, &c.testing) {
            (Some(t), Some(testing)) => {
                matches!(c.ast.exprs[t], Expr::Name(n) if testing.asked.contains(&n))
            }
            _ => false,
        };
        match self.raises_call(manager) {
            Some(Raises { class, call: None }) if !asked(self) => {
                self.expect_raise(class, target, |c| c.with(rest, body));
                true
            }
            _ => {
                if let Some(t) = target
                    && let Expr::Name(n) = self.ast.exprs[t]
                {
                    self.raised.remove(&n);
                }
                false
            }
        }
    }

    fn expect_raise(
        &mut self,
        class: ExprId,
        target: Option<ExprId>,
        body: impl FnOnce(&mut Self),
    ) {
        let at = self.range(class);
        let (end, next) = (self.out.label(), self.out.label());
        let range = self.open_range();
        self.frames.push(Frame::Try(range));
        body(self);
        let handler = self.close_range();
        self.out.at = at;
        let source = self.source(class);
        let place = format!("{}{}", field::POSITION, self.position());
        self.load_testing("did_not_raise");
        for text in [source, place] {
            self.out.load_const(CodeConst::Str(text.as_bytes().into()));
        }
        self.out.call_positional(2);
        self.out.emit(Instr::Raise(1));
        if let Some((handler, depth)) = handler {
            self.out.bind_handler(handler, depth);
            let depth = self.out.depth();
            self.out.emit(Instr::Dup);
            self.expr(class);
            self.out.at = at;
            self.out.emit(Instr::ExcMatch);
            self.out.jump(Instr::JumpIfFalse, next);
            self.out.emit(Instr::Pop);
            match target {
                Some(t) => {
                    self.store_to(t);
                    if let Expr::Name(n) = self.ast.exprs[t] {
                        self.raised.insert(n);
                    }
                }
                None => self.out.emit(Instr::Pop),
            }
            self.out.jump(Instr::Jump, end);
            self.out.set_depth(depth);
            self.out.bind(next);
            self.out.emit(Instr::Reraise);
        }
        self.out.bind(end);
    }

    /// Whether `value.name` is the `.value` of what `raises` answered: the exception,
    /// which is what the variable holds.
    pub(super) fn is_raised_value(&self, value: ExprId, name: Name) -> bool {
        self.ast.name(name) == "value"
            && matches!(self.ast.exprs[value], Expr::Name(n) if self.raised.contains(&n))
    }
}

fn operator(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
        CompareOp::In => "in",
        CompareOp::NotIn => "not in",
        CompareOp::Is => "is",
        CompareOp::IsNot => "is not",
    }
}
