//! Random functions that raise, catch and clean up: machine code computes and raises what the
//! low-level interpreter does.

use std::fmt::Write as _;

use taipan_driver::{CallOutcome, Engine};
use taipan_fuzz::{Choices, Target};
use taipan_workbench::Workbench;

const PRELUDE: &str = "
from rpython.rlib.rarithmetic import intmask, ovfcheck, r_uint
class Err(Exception):
    def __init__(self, n):
        self.n = n
class SubErr(Err):
    pass
class Other(Exception):
    pass
class Box(object):
    kind = 1
    def __init__(self, n, next):
        self.n = n
        self.next = next
    def get(self, k):
        return self.n + k
class Odd(Box):
    kind = 2
    def get(self, k):
        if k & 1:
            raise SubErr(self.n)
        return self.n ^ k
class State(object):
    pass
state = State()
state.log = 0
state.fuel = 0
# Values that are no constants for the compiler.
state.zero = 0
state.empty = ''
def note(n):
    state.log = intmask(state.log * 31 + n)
def burn():
    state.fuel -= 1
    if state.fuel < 0:
        raise Other()
TABLE = {'a': 1, 'bc': 2}
";

/// What handlers catch.
const CLASSES: &[&str] = &[
    "Err",
    "SubErr",
    "Other",
    "IndexError",
    "KeyError",
    "ValueError",
    "OverflowError",
    "ZeroDivisionError",
    "(Err, KeyError)",
    "(IndexError, Other)",
];

const CALLS: &[[&str; 3]] = &[
    ["0", "1", "''"],
    ["5", "2", "'a'"],
    ["-9", "3", "'12'"],
    ["255", "-1", "'bc'"],
    ["4611686018427387904", "4", "'a12'"],
];

struct Writer<'w, 'c> {
    choices: &'w mut Choices<'c>,
    out: String,
    /// Functions that may be called: those before.
    functions: usize,
}

impl Writer<'_, '_> {
    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", indent * 4);
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        self.choices.of(texts)
    }

    /// An integer that raises nothing the compiler does not check everywhere.
    fn int(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .of(&["i", "j", "k", "1", "7", "-3", "len(s)"])
                .to_owned();
        }
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        match self.choices.below(14) {
            0 => a,
            1 => format!("intmask({a} + {b})"),
            2 => format!("intmask({a} * {b})"),
            3 => format!("({a} & {b})"),
            4 => format!("({a} - (({b}) & 15))"),
            5 => format!("({a} >> ({b} & 31))"),
            6 => format!("({a} // (({b} & 7) + 1))"),
            7 => format!("({a} % (({b} & 7) + 1))"),
            8 => format!("(o.get({a} & 3) if o is not None else {b})"),
            9 => format!("l[{a} & 1]"),
            10 => format!("TABLE[{} + state.empty]", self.text(0)),
            11 => format!("int({} + state.empty)", self.text(0)),
            12 if self.functions > 0 => {
                let f = self.choices.below(self.functions);
                format!("f{f}({a} & 0xff, {b}, s)")
            }
            _ => format!("intmask(r_uint({a}) >> ({b} & 7))"),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.of(&["s", "'a'", "'12'", "''", "'bc'"]).to_owned();
        }
        let t = self.text(depth - 1);
        match self.choices.below(5) {
            0 => format!("({t} + {})[:9]", self.text(0)),
            1 => format!("str({} & 0xff)", self.int(1)),
            2 => format!("{t}[{} & 3:]", self.int(1)),
            3 => format!("({t} * ({} & 1))", self.int(1)),
            _ => format!("{t}.replace('a', 'x')[:9]"),
        }
    }

    /// Something that may raise what the handler around it catches.
    fn risky(&mut self) -> (String, &'static str) {
        let (a, b) = (self.int(1), self.int(1));
        let b = format!("({b} ^ state.zero)");
        match self.choices.below(7) {
            0 => (format!("i = l[{b}]"), "IndexError"),
            1 => (format!("j = ovfcheck({a} * {b})"), "OverflowError"),
            2 => (format!("k = {a} // {b}"), "ZeroDivisionError"),
            3 => (format!("i = ord(s[{b}])"), "IndexError"),
            4 => (
                format!("k = ovfcheck(({a} & 0xffff) << ({b} & 63))"),
                "OverflowError",
            ),
            5 => (format!("l[{b}] = {a}"), "IndexError"),
            _ => (format!("j = {a} % {b}"), "ZeroDivisionError"),
        }
    }

    fn statement(&mut self, indent: usize, depth: usize) {
        let simple = depth == 0;
        let line = match self.choices.below(if simple { 9 } else { 17 }) {
            0 | 1 => format!("{} = {}", self.of(&["i", "j", "k"]), self.int(2)),
            2 => format!("s = {}", self.text(1)),
            3 => format!("note({})", self.int(1)),
            4 => format!("o = {}({}, o)", self.of(&["Box", "Odd"]), self.int(1)),
            5 => "o = o.next if o is not None else None".to_owned(),
            6 => format!("l = [{}, {}, k]", self.int(1), self.int(1)),
            7 => format!("if {} & 3 == 1: raise {}", self.int(1), self.raised()),
            8 => format!("if {} & 7 == 2: return {}", self.int(1), self.int(1)),
            9 | 10 => {
                let (risky, class) = self.risky();
                self.line(indent, "try:");
                self.line(indent + 1, &risky);
                self.line(indent, &format!("except {class}:"));
                return self.block(indent + 1, depth - 1);
            }
            11..14 => return self.try_block(indent, depth),
            14 | 15 => {
                let test = self.int(1);
                self.line(indent, &format!("if {test} & 1:"));
                self.block(indent + 1, depth - 1);
                if self.choices.bool() {
                    self.line(indent, "else:");
                    self.block(indent + 1, depth - 1);
                }
                return;
            }
            _ => {
                let times = self.choices.below(4) + 1;
                self.line(indent, &format!("for i in range({times}):"));
                self.line(indent + 1, "burn()");
                self.block(indent + 1, depth - 1);
                let leave = self.of(&["break", "continue", "pass"]);
                let test = self.int(1);
                self.line(indent + 1, &format!("if {test} & 1: {leave}"));
                return;
            }
        };
        self.line(indent, &line);
    }

    fn raised(&mut self) -> String {
        match self.choices.below(6) {
            0 => format!("Err({})", self.int(1)),
            1 => format!("SubErr({})", self.int(1)),
            n => ["Other()", "KeyError()", "ValueError()", "IndexError()"][n - 2].to_owned(),
        }
    }

    fn try_block(&mut self, indent: usize, depth: usize) {
        self.line(indent, "try:");
        self.block(indent + 1, depth - 1);
        let form = self.choices.below(4);
        if form < 3 {
            let class = self.of(CLASSES);
            match class {
                "Err" | "SubErr" => {
                    self.line(indent, &format!("except {class} as e:"));
                    self.line(indent + 1, "note(e.n)");
                }
                _ => self.line(indent, &format!("except {class}:")),
            }
            self.block(indent + 1, depth - 1);
            if form == 1 {
                let test = self.int(1);
                self.line(indent + 1, &format!("if {test} & 1: raise"));
            }
            if form == 2 {
                self.line(indent, "else:");
                self.block(indent + 1, depth - 1);
            }
        } else {
            self.line(indent, "finally:");
            self.line(indent + 1, "note(5)");
            let value = self.int(1);
            self.line(indent + 1, &format!("k = intmask(k + {value})"));
        }
    }

    fn block(&mut self, indent: usize, depth: usize) {
        for _ in 0..1 + self.choices.below(3) {
            self.statement(indent, depth);
        }
    }

    fn function(&mut self, name: &str) {
        self.line(0, &format!("def {name}(i, j, s):"));
        self.line(1, "burn()");
        self.line(1, "k = 0");
        self.line(1, "o = None");
        self.line(1, "l = [i, j]");
        for _ in 0..2 + self.choices.below(6) {
            self.statement(1, 3);
        }
        self.line(1, "return intmask(i + j * 3 + k * 7 + len(s) + l[0])");
        self.functions += 1;
    }
}

/// What comes out of a call. Whatever is no result and no exception is a mistake of the generator's.
fn outcome(bench: &Workbench, name: &str, args: &[&str], engine: Engine) -> String {
    match bench.call(name, args, engine) {
        Ok(CallOutcome::Returned(v)) => v.to_string(),
        Ok(CallOutcome::Raised { class, .. }) => format!("raises {class}"),
        Err(e) => panic!("{e:?}"),
    }
}

#[test]
fn engines_agree_on_what_is_raised() {
    let target = Target::new("engines").cases(3).bytes(1024);
    target.run(|choices| {
        let mut w = Writer {
            choices,
            out: PRELUDE.to_owned(),
            functions: 0,
        };
        for n in 0..1 + w.choices.below(3) {
            w.function(&format!("f{n}"));
        }
        let last = w.functions - 1;
        let _ = write!(
            w.out,
            "def f(i, j, s):\n    state.log = i\n    state.fuel = 60\n    try:\n        \
             if i == 71: raise Err(1)\n        \
             n = f{last}(i, j, s)\n    except Err as e:\n        n = e.n ^ 77\n    \
             return n, state.log\n\
             def raw(i, j, s):\n    state.fuel = 60\n    return f{last}(i, j, s)\n"
        );
        let bench = Workbench::of(&w.out);
        for name in ["f", "raw"] {
            for args in CALLS {
                let expected = outcome(&bench, name, args, Engine::LLInterp);
                for engine in [Engine::Native, Engine::C, Engine::Python] {
                    let found = outcome(&bench, name, args, engine);
                    assert_eq!(expected, found, "{name}{args:?}, {engine:?}, of{}", w.out);
                }
            }
        }
    });
}
