//! Small random programs on which CPython 2.7 and RPython must agree.
//!
//! What differs between the two is kept out: integers wrap around by `intmask`, indices
//! are in range or caught, slices start at what is known to be there, dicts are only
//! walked where the order does not count. Functions call functions before them only, and
//! all calls together are limited, so that every program ends.

mod idioms;

use std::ops::{Deref, DerefMut};

use taipan_fuzz::Choices;

use crate::support::text::Text;

/// What expressions are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Bool,
    Str,
    Float,
    Ints,
    Strs,
    /// From strings to integers.
    Dict,
    /// An integer and a string.
    Pair,
    /// An instance of `Base` or a subclass.
    Object,
    /// The same or None.
    Maybe,
}

use Ty::*;

const TYPES: [Ty; 10] = [Int, Int, Str, Bool, Float, Ints, Strs, Dict, Object, Maybe];

/// What every program starts with.
const HEAD: &str = "\
import math, sys
from rpython.rlib.rarithmetic import intmask, ovfcheck

class State(object):
    pass
state = State()
state.calls = 400
state.total = 0
# Values that are no constants for the compiler.
state.zero = 0
state.empty = ''
NUMBERS = [3, -1, 4, 1, -5, 9]
WORDS = ['red', '', 'green', 'a b', '12']
AGES = {'red': 1, 'a': 2, '': 3}

class Stop(Exception):
    def __init__(self, n):
        self.n = n
class Halt(Stop):
    pass
def stop(n):
    if n > 1: raise Halt(n)
    raise Stop(n)
";

/// A variable that is in scope.
#[derive(Clone)]
struct Var {
    name: String,
    ty: Ty,
    /// Not to be assigned to.
    fixed: bool,
}

struct Function {
    name: String,
    args: Vec<Ty>,
    result: Ty,
    /// How many of the last arguments have default values.
    defaults: usize,
}

struct Writer<'c> {
    text: Text<'c>,
    vars: Vec<Var>,
    functions: Vec<Function>,
    /// Loops around the place.
    loops: usize,
    names: usize,
    /// Methods and tables of functions may be called: not by themselves.
    calls: bool,
}

/// The program with that number.
pub(crate) fn program(choices: Choices<'_>) -> String {
    let mut w = Writer {
        text: Text::new(choices, &format!("{HEAD}{}", idioms::HEAD)),
        vars: Vec::new(),
        functions: Vec::new(),
        loops: 0,
        names: 0,
        calls: false,
    };
    w.classes();
    w.tables();
    w.calls = true;
    for i in 0..w.rng.between(3..7) {
        w.function(i);
    }
    w.entry_point();
    w.text.out
}

impl<'c> Deref for Writer<'c> {
    type Target = Text<'c>;

    fn deref(&self) -> &Text<'c> {
        &self.text
    }
}

impl DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.text
    }
}

impl Writer<'_> {
    /// `head:` with what `body` writes below it.
    fn block(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.line(head);
        self.indent += 1;
        let vars = self.vars.len();
        body(self);
        self.vars.truncate(vars);
        self.indent -= 1;
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn classes(&mut self) {
        for (head, below) in [
            ("Base(object)", ""),
            ("Left(Base)", "Base"),
            ("Right(Base)", "Base"),
            ("Deep(Left)", "Left"),
        ] {
            self.block(&format!("class {head}:"), |w| {
                if below.is_empty() {
                    w.line("kind = 0");
                    w.block("def __init__(self, n, s):", |w| {
                        w.line("self.n = n");
                        w.line("self.s = s");
                        w.line("self.next = None");
                    });
                } else {
                    let kind = w.rng.between(1..9);
                    w.line(&format!("kind = {kind}"));
                }
                let up = |call: &str| match below {
                    "" => None,
                    b => Some(format!("{b}.{call}")),
                };
                if below.is_empty() || w.rng.bool() {
                    w.method("value", &[("k", Int)], Int, up("value(self, k)"));
                }
                if below.is_empty() || w.rng.bool() {
                    w.method("text", &[], Str, up("text(self)"));
                }
                w.block("def bump(self, k):", |w| {
                    w.scope(&[("k", Int)]);
                    let e = w.int(2);
                    w.line(&format!("self.n = {e}"));
                    w.line("return self");
                });
            });
        }
    }

    /// A method that computes something from its fields, or asks the base class.
    fn method(&mut self, name: &str, args: &[(&str, Ty)], result: Ty, up: Option<String>) {
        let names: String = args.iter().map(|(n, _)| format!(", {n}")).collect();
        self.block(&format!("def {name}(self{names}):"), |w| {
            w.scope(&[("self.n", Int), ("self.s", Str)]);
            w.scope(args);
            let e = w.expr(result, 2);
            match (up, result) {
                (Some(up), Int) if w.rng.bool() => w.line(&format!("return intmask({e} + {up})")),
                (Some(up), Str) if w.rng.bool() => w.line(&format!("return ({up} + {e})[:20]")),
                _ => w.line(&format!("return {e}")),
            }
        });
    }

    fn scope(&mut self, vars: &[(&str, Ty)]) {
        self.vars.extend(vars.iter().map(|(name, ty)| Var {
            name: (*name).to_owned(),
            ty: *ty,
            fixed: true,
        }));
    }

    /// Functions that are called through a table, and a generator.
    fn tables(&mut self) {
        for i in 0..3 {
            self.block(&format!("def step{i}(a, b):"), |w| {
                w.scope(&[("a", Int), ("b", Int)]);
                let e = w.int(3);
                w.line(&format!("return {e}"));
            });
        }
        self.line("STEPS = [step0, step1, step2]");
        self.block("def numbers(n):", |w| {
            w.line("last = n");
            w.block("for i in range(n & 7):", |w| {
                w.scope(&[("i", Int), ("n", Int), ("last", Int)]);
                let e = w.int(2);
                w.line("if last == 13: return");
                w.line("yield last");
                w.line(&format!("last = {e}"));
            });
        });
    }

    fn function(&mut self, i: usize) {
        let args: Vec<Ty> = (0..self.rng.between(1..4))
            .map(|_| TYPES[self.rng.below(TYPES.len())])
            .collect();
        let result = [Int, Int, Str, Bool, Ints, Pair][self.rng.below(6)];
        let mut defaults = 0;
        while defaults < args.len() && self.rng.below(3) == 0 {
            let ty = args[args.len() - 1 - defaults];
            if !matches!(ty, Int | Str | Bool | Float) {
                break;
            }
            defaults += 1;
        }
        let mut params = Vec::new();
        for (n, ty) in args.iter().enumerate() {
            params.push(match n + defaults >= args.len() {
                true => format!("p{n}={}", self.literal(*ty)),
                false => format!("p{n}"),
            });
        }
        let name = format!("f{i}");
        self.block(&format!("def {name}({}):", params.join(", ")), |w| {
            let default = w.literal(result);
            w.line(&format!("if state.calls <= 0: return {default}"));
            w.line("state.calls -= 1");
            for (n, ty) in args.iter().enumerate() {
                w.vars.push(Var {
                    name: format!("p{n}"),
                    ty: *ty,
                    fixed: false,
                });
            }
            for ty in [Int, Str, TYPES[w.rng.below(TYPES.len())]] {
                let e = w.expr(ty, 2);
                w.declare(ty, &e);
            }
            for _ in 0..w.rng.between(3..8) {
                w.statement(3, Some(result));
            }
            let e = w.expr(result, 2);
            w.line(&format!("return {e}"));
        });
        self.functions.push(Function {
            name,
            args,
            result,
            defaults,
        });
    }

    fn declare(&mut self, ty: Ty, e: &str) {
        let name = self.name();
        self.line(&format!("{name} = {e}"));
        self.vars.push(Var {
            name,
            ty,
            fixed: false,
        });
    }

    fn entry_point(&mut self) {
        self.block("def entry_point(argv):", |w| {
            w.block("try:", |w| w.line("stop(len(argv))"));
            w.block("except Stop as e:", |w| w.line("state.total = e.n"));
            for ty in [Int, Str, Ints, Dict, Object] {
                let e = w.literal(ty);
                w.declare(ty, &e);
            }
            for i in 0..w.functions.len() {
                for _ in 0..3 {
                    let (ty, call) = (w.functions[i].result, w.call(i, 2));
                    w.line("state.calls = 60");
                    w.block("try:", |w| {
                        let name = w.name();
                        w.line(&format!("{name} = {call}"));
                        w.print(ty, &name);
                    });
                    w.block("except Stop as e:", |w| w.line("print 'stopped', e.n"));
                }
                w.block("try:", |w| w.statement(2, None));
                w.block("except Stop:", |w| w.line("print 'stopped'"));
            }
            w.line("print state.total");
            w.line("return 0");
        });
        super::target(self);
    }

    fn print(&mut self, ty: Ty, name: &str) {
        match ty {
            Int => self.line(&format!("print '[', {name}, ']'")),
            // CPython's print statement leaves out the blank after what ends in a newline.
            Str => self.line(&format!("print '[' + {name} + ']'")),
            // The text of a truth value is not Python's.
            Bool => self.line(&format!("print '[', int({name}), ']'")),
            Float => self.line(&format!("print '%f' % {name}")),
            Ints => self.line(&format!("print ' '.join([str(n) for n in {name}])")),
            Strs => self.line(&format!("print '|'.join({name})")),
            Pair => self.line(&format!("print {name}[0], '[' + {name}[1] + ']'")),
            Dict => self.block("for w in WORDS:", |w| {
                w.line(&format!("print {name}.get(w, -1),"));
            }),
            Object => self.line(&format!(
                "print {name}.value(3), '[' + {name}.text() + ']', {name}.kind"
            )),
            Maybe => {
                self.block(&format!("if {name} is None:"), |w| w.line("print 'None'"));
                self.block("else:", |w| w.print(Object, name));
            }
        }
    }

    // Statements.

    fn statement(&mut self, depth: usize, result: Option<Ty>) {
        let simple = depth == 0 || self.rng.below(3) == 0;
        match if simple {
            self.rng.below(10)
        } else {
            self.rng.below(24)
        } {
            0..3 => self.assign(),
            3..5 => self.change_list(),
            5 => self.change_dict(),
            6 => self.change_object(),
            7 => self.trap(),
            8 => {
                let ty = TYPES[self.rng.below(TYPES.len())];
                match self.var(ty, false) {
                    Some(name) => self.print(ty, &name),
                    None => self.assign(),
                }
            }
            9 => {
                let e = self.int(2);
                self.line(&format!("state.total = intmask(state.total * 31 + {e})"));
            }
            10..13 => {
                let c = self.bool(2);
                self.block(&format!("if {c}:"), |w| w.body(depth - 1, result));
                if self.rng.bool() {
                    let c = self.bool(2);
                    self.block(&format!("elif {c}:"), |w| w.body(depth - 1, result));
                }
                if self.rng.bool() {
                    self.block("else:", |w| w.body(depth - 1, result));
                }
            }
            13..16 if self.loops < 2 => self.for_loop(depth, result),
            16 if self.loops < 2 => {
                let (name, n) = (self.name(), self.rng.between(1..6));
                self.line(&format!("{name} = {n}"));
                self.loops += 1;
                let c = self.bool(2);
                self.block(&format!("while {name} > 0 and ({c}):"), |w| {
                    w.line(&format!("{name} -= 1"));
                    w.body(depth - 1, result);
                });
                self.loops -= 1;
            }
            17 | 18 => self.try_block(depth, result),
            20.. => self.idiom(depth, result),
            _ => match result {
                Some(ty) => {
                    let c = self.bool(2);
                    let e = self.expr(ty, 2);
                    let leave = match self.rng.below(4) {
                        0 => format!("raise Stop({})", self.int(1)),
                        1 => format!("raise Halt({})", self.int(1)),
                        _ => format!("return {e}"),
                    };
                    self.block(&format!("if {c}:"), |w| w.line(&leave));
                }
                None => self.assign(),
            },
        }
    }

    fn body(&mut self, depth: usize, result: Option<Ty>) {
        for _ in 0..self.rng.between(1..4) {
            self.statement(depth, result);
        }
        if self.loops > 0 && self.rng.below(6) == 0 {
            let c = self.bool(1);
            let leave = self.pick(&["break", "continue"]);
            self.line(&format!("if {c}: {leave}"));
        }
    }

    fn for_loop(&mut self, depth: usize, result: Option<Ty>) {
        self.loops += 1;
        let x = self.name();
        let (head, vars) = match self.rng.below(8) {
            0 => (
                format!("for {x} in {}[:]:", self.expr(Ints, 1)),
                vec![(x, Int)],
            ),
            1 => (
                format!("for {x} in {}[:]:", self.expr(Strs, 1)),
                vec![(x, Str)],
            ),
            2 => (format!("for {x} in {}:", self.expr(Str, 1)), vec![(x, Str)]),
            3 => {
                let i = self.name();
                let e = self.expr(Strs, 1);
                (
                    format!("for {i}, {x} in enumerate({e}[:]):"),
                    vec![(i, Int), (x, Str)],
                )
            }
            4 => {
                let y = self.name();
                let (a, b) = (self.expr(Ints, 1), self.expr(Strs, 1));
                (
                    format!("for {x}, {y} in zip(NUMBERS + {a}, {b}):"),
                    vec![(x, Int), (y, Str)],
                )
            }
            5 => (
                format!("for {x} in numbers({}):", self.int(1)),
                vec![(x, Int)],
            ),
            6 => (
                format!("for {x} in range({} & 7, -2, -2):", self.int(1)),
                vec![(x, Int)],
            ),
            _ => (
                format!("for {x} in range({} & 3):", self.int(1)),
                vec![(x, Int)],
            ),
        };
        self.block(&head, |w| {
            let vars: Vec<(&str, Ty)> = vars.iter().map(|(n, t)| (n.as_str(), *t)).collect();
            w.scope(&vars);
            w.body(depth - 1, result);
        });
        self.loops -= 1;
        // What the order of a dict does not change.
        if let (Some(d), Some(v)) = (self.var(Dict, false), self.var(Int, true)) {
            let k = self.name();
            self.block(&format!("for {k} in {d}:"), |w| {
                w.line(&format!("{v} = intmask({v} + {d}[{k}] * len({k}))"));
            });
        }
    }

    fn try_block(&mut self, depth: usize, result: Option<Ty>) {
        self.block("try:", |w| {
            w.body(depth - 1, result);
            let c = w.bool(1);
            let (class, e) = (w.pick(&["Stop", "Halt"]), w.int(1));
            w.line(&format!("if {c}: raise {class}({e})"));
        });
        match self.rng.below(3) {
            0 => self.block("finally:", |w| w.line("state.total += 1")),
            1 => {
                self.block("except Halt as e:", |w| w.line("state.total ^= e.n"));
                self.block("except Stop:", |w| w.body(0, None));
            }
            _ => {
                self.block("except Stop as e:", |w| w.line("state.total ^= e.n"));
                self.block("else:", |w| w.body(0, None));
            }
        }
    }

    fn assign(&mut self) {
        let ty = TYPES[self.rng.below(TYPES.len())];
        match self.var(ty, true) {
            Some(name) => {
                let e = self.expr(ty, 3);
                self.line(&format!("{name} = {e}"));
            }
            None => {
                let e = self.int(2);
                self.line(&format!("state.total ^= {e}"));
            }
        }
    }

    fn change_list(&mut self) {
        let ty = if self.rng.bool() { Ints } else { Strs };
        let Some(l) = self.var(ty, true) else {
            return self.assign();
        };
        let item = if ty == Ints { Int } else { Str };
        let e = self.expr(item, 2);
        let i = self.int(1);
        let (head, change) = match self.rng.below(9) {
            0..3 => (format!("if len({l}) < 12:"), format!("{l}.append({e})")),
            3 => (format!("if {l}:"), format!("{l}.pop()")),
            4 => (format!("if {l}:"), format!("{l}[{i} % len({l})] = {e}")),
            5 => (
                format!("if len({l}) < 12:"),
                format!("{l}.insert(len({l}) // 2, {e})"),
            ),
            6 => (format!("if len({l}) > 1:"), format!("del {l}[1]")),
            7 => (format!("if len({l}) > 2:"), format!("{l}.pop({i} & 1)")),
            _ => {
                let more = self.expr(ty, 1);
                (format!("if len({l}) < 8:"), format!("{l} += {more}[:3]"))
            }
        };
        // Arguments and constants are shared: what is changed is a copy.
        self.line(&format!("{l} = {l}[:]"));
        self.block(&head, |w| w.line(&change));
        if self.rng.below(4) == 0 {
            self.line(&format!("{l}.reverse()"));
        }
    }

    fn change_dict(&mut self) {
        let Some(d) = self.var(Dict, true) else {
            return self.assign();
        };
        let (k, v) = (self.expr(Str, 1), self.int(2));
        self.line(&format!("{d} = {d}.copy()"));
        match self.rng.below(4) {
            0 => self.block(&format!("if {k} in {d}:"), |w| {
                w.line(&format!("del {d}[{k}]"))
            }),
            1 => {
                let more = self.expr(Dict, 1);
                self.line(&format!("{d}.update({more})"));
            }
            2 => self.line(&format!("{d}.setdefault({k}, {v})")),
            _ => self.line(&format!("{d}[{k}] = {v}")),
        }
    }

    fn change_object(&mut self) {
        let Some(o) = self.var(Object, false) else {
            return self.assign();
        };
        let e = self.int(2);
        match self.rng.below(4) {
            0 => {
                let s = self.expr(Str, 2);
                self.line(&format!("{o}.s = {s}"));
            }
            1 => {
                let m = self.expr(Maybe, 1);
                self.line(&format!("{o}.next = {m}"));
            }
            2 => self.line(&format!("{o}.bump({e})")),
            _ => self.line(&format!("{o}.n = {e}")),
        }
    }

    /// An operation that may raise, and what is done then.
    fn trap(&mut self) {
        let Some(v) = self.var(Int, true) else {
            return self.assign();
        };
        let (a, b) = (self.int(2), self.int(2));
        let (e, class) = match self.rng.below(8) {
            0 => (
                format!("ovfcheck((state.zero ^ {a}) + {b})"),
                "OverflowError",
            ),
            1 => (
                format!("ovfcheck((state.zero ^ {a}) * {b})"),
                "OverflowError",
            ),
            2 => (
                format!("ovfcheck((state.zero ^ {a}) - {b})"),
                "OverflowError",
            ),
            3 => (
                format!("({a} & 0xffff) // ({b} ^ state.zero)"),
                "ZeroDivisionError",
            ),
            4 => (
                format!("({a} & 0xffff) % ({b} ^ state.zero)"),
                "ZeroDivisionError",
            ),
            5 => (
                format!("{}[{a} ^ state.zero]", self.expr(Ints, 1)),
                "IndexError",
            ),
            6 => (
                format!(
                    "{}[{} + state.empty]",
                    self.expr(Dict, 1),
                    self.expr(Str, 1)
                ),
                "KeyError",
            ),
            _ => (
                format!("int({} + state.empty)", self.expr(Str, 1)),
                "ValueError",
            ),
        };
        self.block("try:", |w| w.line(&format!("{v} = {e}")));
        self.block(&format!("except {class}:"), |w| {
            let e = w.int(1);
            w.line(&format!("{v} = {e}"));
        });
    }

    // Expressions.

    /// A variable of that type, if there is one.
    fn var(&mut self, ty: Ty, assigned: bool) -> Option<String> {
        let fits = |v: &&Var| v.ty == ty && !(assigned && v.fixed);
        let found: Vec<String> = self
            .vars
            .iter()
            .filter(fits)
            .map(|v| v.name.clone())
            .collect();
        (!found.is_empty()).then(|| found[self.rng.below(found.len())].clone())
    }

    fn literal(&mut self, ty: Ty) -> String {
        match ty {
            Int => match self.rng.below(10) {
                0 => "sys.maxint".to_owned(),
                1 => "(-sys.maxint - 1)".to_owned(),
                2 => self.rng.between::<i32>(-100_000..100_000).to_string(),
                _ => self.rng.between::<i32>(-9..20).to_string(),
            },
            Bool => self.pick(&["True", "False"]).to_owned(),
            Str => {
                let words = [
                    "''",
                    "'a'",
                    "'red'",
                    "'b,c'",
                    "'17'",
                    "' x '",
                    "'Green'",
                    "'-3'",
                    "'\\n\\x00'",
                ];
                self.pick(&words).to_owned()
            }
            Float => self
                .pick(&["0.0", "1.5", "-2.25", "100.0", "0.1"])
                .to_owned(),
            Ints => "NUMBERS".to_owned(),
            Strs => "WORDS".to_owned(),
            Dict => "AGES".to_owned(),
            Pair => format!("({}, {})", self.literal(Int), self.literal(Str)),
            Object => format!("Base({}, {})", self.literal(Int), self.literal(Str)),
            Maybe => "None".to_owned(),
        }
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.rng.below(5) == 0 {
            let found = self.var(ty, false);
            return found.unwrap_or_else(|| self.literal(ty));
        }
        let d = depth - 1;
        // Sometimes a function that gives one.
        if self.rng.below(8) == 0 {
            let fit: Vec<usize> = (0..self.functions.len())
                .filter(|i| self.functions[*i].result == ty)
                .collect();
            if !fit.is_empty() {
                let i = fit[self.rng.below(fit.len())];
                return self.call(i, d);
            }
        }
        if self.rng.below(10) == 0 && ty != Object {
            let (a, c, b) = (self.expr(ty, d), self.bool(d), self.expr(ty, d));
            return format!("({a} if {c} else {b})");
        }
        match ty {
            Int => self.int(depth),
            Bool => self.bool(depth),
            Str => self.str(d),
            Float => self.float(d),
            Ints => match self.rng.below(6) {
                0 => format!("[{}, {}]", self.int(d), self.int(d)),
                1 => format!("range({} & 7)", self.int(d)),
                2 => {
                    let (l, e) = (self.expr(Ints, d), self.int(d));
                    format!("[intmask(n ^ {e}) for n in {l}]")
                }
                3 => format!("[len(w) for w in {}]", self.expr(Strs, d)),
                4 => format!(
                    "([1, 2, 3, 4] + {})[{} & 3:]",
                    self.expr(Ints, d),
                    self.int(d)
                ),
                _ => format!("({} + {})[:9]", self.expr(Ints, d), self.expr(Ints, d)),
            },
            Strs => match self.rng.below(4) {
                0 => format!("[{}, {}]", self.expr(Str, d), self.expr(Str, d)),
                1 => format!("{}.split(',')", self.expr(Str, d)),
                2 => format!("[str(n) for n in {}]", self.expr(Ints, d)),
                _ => format!("({} + {})[:6]", self.expr(Strs, d), self.expr(Strs, d)),
            },
            Dict => format!(
                "{{{}: {}, 'red': {}}}",
                self.expr(Str, d),
                self.int(d),
                self.int(d)
            ),
            Pair => format!("({}, {})", self.int(d), self.expr(Str, d)),
            Object => {
                let class = self.pick(&["Base", "Left", "Right", "Deep"]);
                let (n, s) = (self.int(d), self.expr(Str, d));
                match self.rng.bool() {
                    true => format!("{class}({n}, {s})"),
                    false => format!("{class}({n}, {s}).bump({})", self.int(d)),
                }
            }
            Maybe => match self.rng.below(4) {
                0 => "None".to_owned(),
                1 => format!("{}.next", self.expr(Object, d)),
                _ => self.expr(Object, d),
            },
        }
    }

    fn call(&mut self, i: usize, depth: usize) -> String {
        let Function { args, defaults, .. } = &self.functions[i];
        let (all, defaults) = (args.len(), *defaults);
        let given = all - self.rng.below(defaults + 1);
        let args: Vec<String> = (0..given)
            .map(|n| {
                let e = self.expr(self.functions[i].args[n], depth);
                match n + 1 == given && self.rng.below(4) == 0 {
                    true => format!("p{n}={e}"),
                    false => e,
                }
            })
            .collect();
        format!("{}({})", self.functions[i].name, args.join(", "))
    }

    fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.below(5) == 0 {
            let found = self.var(Int, false);
            return found.unwrap_or_else(|| self.literal(Int));
        }
        let d = depth - 1;
        let a = self.int(d);
        match self.rng.below(28) {
            0 => format!("intmask({a} + {})", self.int(d)),
            1 => format!("intmask({a} - {})", self.int(d)),
            2 => format!("intmask({a} * {})", self.int(d)),
            3 => format!("({a} & {})", self.int(d)),
            4 => format!("({a} | {})", self.int(d)),
            5 => format!("({a} ^ {})", self.int(d)),
            6 => format!("({a} >> ({} & 63))", self.int(d)),
            7 => format!("intmask(({a} ^ state.zero) << ({} & 63))", self.int(d)),
            8 => format!("({a} // (({} & 63) + 1))", self.int(d)),
            9 => format!("({a} % (({} & 63) + 1))", self.int(d)),
            10 => format!("divmod({a}, ({} & 63) + 1)[1]", self.int(d)),
            11 => format!("intmask(-{a})"),
            12 => format!("(~{a})"),
            13 => format!("min({a}, {})", self.int(d)),
            14 => format!("max({a}, {})", self.int(d)),
            15 => format!("len({})", self.expr(Str, d)),
            16 => format!("len({})", self.expr(Ints, d)),
            17 => format!("{}.find({})", self.expr(Str, d), self.expr(Str, d)),
            18 => format!("{}.rfind('a')", self.expr(Str, d)),
            19 => format!("({} + 'a').count('a')", self.expr(Str, d)),
            20 => format!("ord(({} + 'x')[0])", self.expr(Str, d)),
            21 => format!("{}.get({}, {a})", self.expr(Dict, d), self.expr(Str, d)),
            22 if self.calls => format!("{}.value({a})", self.expr(Object, d)),
            23 if self.calls => format!("STEPS[({a}) % 3]({a}, {})", self.int(d)),
            24 => format!("int({} * 4.0)", self.float(d)),
            25 | 26 => self.other_integers(&a, d),
            _ => match self.var(Maybe, false) {
                Some(m) => format!("({m}.value({a}) if {m} is not None else {a})"),
                None => format!("int({})", self.bool(d)),
            },
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.rng.below(16) {
            0 => format!("({} and {})", self.comparison(d), self.comparison(d)),
            1 => format!("({} or {})", self.comparison(d), self.comparison(d)),
            2 => format!("(not {})", self.comparison(d)),
            3 => format!("{}.startswith({})", self.expr(Str, d), self.expr(Str, d)),
            4 => format!("{}.endswith('a')", self.expr(Str, d)),
            5 => format!("({} in {})", self.expr(Str, d), self.expr(Dict, d)),
            6 => format!("({} in {})", self.int(d), self.expr(Ints, d)),
            7 => format!("('a' in {})", self.expr(Str, d)),
            8 => format!(
                "({} is None)",
                self.var(Maybe, false).unwrap_or("None".into())
            ),
            9 => format!(
                "isinstance({}, {})",
                self.expr(Object, d),
                self.pick(&["Left", "Right", "Deep"])
            ),
            10 => self.var(Bool, false).unwrap_or("True".to_owned()),
            11 => format!("({} == {})", self.expr(Ints, d), self.expr(Ints, d)),
            _ => self.comparison(d),
        }
    }

    fn comparison(&mut self, d: usize) -> String {
        let op = self.pick(&["<", "<=", "==", "!=", ">", ">="]);
        let ty = [Int, Int, Int, Str, Float][self.rng.below(5)];
        format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
    }

    /// A string of limited length.
    fn str(&mut self, d: usize) -> String {
        let s = self.expr(Str, d);
        match self.rng.below(23) {
            0 | 1 => format!("({s} + {})[:20]", self.expr(Str, d)),
            2 => format!("str({})", self.int(d)),
            3 => format!("('%d' % {})", self.int(d)),
            4 => format!("('%s:%d' % ({s}[:9], {}))", self.int(d)),
            5 => format!("('%x' % ({} & 0xffff))", self.int(d)),
            6 => format!("{s}.upper()"),
            7 => format!("{s}.lower()"),
            8 => format!("{s}.replace('a', 'b')[:20]"),
            9 => format!("{s}.strip()"),
            10 => format!("','.join({})[:20]", self.expr(Strs, d)),
            11 => format!("({s} * ({} & 3))[:20]", self.int(d)),
            12 => format!("chr({} & 127)", self.int(d)),
            13 => format!("('xyz' + {s})[{} & 3:]", self.int(d)),
            14 => format!("({s} + '!')[0]"),
            15 if self.calls => format!("{}.text()", self.expr(Object, d)),
            16 => format!("hex({} & 0xfff)", self.int(d)),
            17 => format!("WORDS[{} % 5]", self.int(d)),
            18 => format!("{s}[:{} & 7]", self.int(d)),
            19..22 => self.other_text(&s, d),
            _ => format!("{s}[:-1]"),
        }
    }

    /// A float of limited size.
    fn float(&mut self, d: usize) -> String {
        if d == 0 {
            return self.literal(Float);
        }
        let a = self.float(d - 1);
        match self.rng.below(8) {
            0 => format!("({a} + {})", self.float(d - 1)),
            1 => format!("({a} - {})", self.float(d - 1)),
            2 => format!("({a} * 0.5)"),
            3 => format!("({a} / 3.0)"),
            4 => format!("float({} & 0xff)", self.int(d - 1)),
            5 => format!("math.floor({a})"),
            6 => format!("math.sqrt({a} * {a})"),
            _ => format!("abs({a})"),
        }
    }
}
