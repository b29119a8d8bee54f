//! Random programs in the toy languages of fixtures/programs/jit and in Brainfuck. Every
//! program ends: loops count down, and functions call those in front of them, or
//! themselves with a smaller number.

use std::fmt::Write;

use fastrand::Rng;

/// A language: its name, the program that runs texts in it, and what writes one.
pub(crate) struct Toy {
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) program: fn(u64) -> String,
}

pub(crate) const TOYS: &[Toy] = &[
    Toy {
        name: "stack",
        target: "
from stack import Failure, Frame, W_Int, assemble, interpret

def run(text):
    output = []
    main = assemble(text)
    frame = Frame(main)
    frame.stack[0] = W_Int(12)
    try:
        result = interpret(main, frame, output).text()
    except Failure as e:
        result = 'failed: ' + e.text
    return result + ' ' + ' '.join(output)
",
        program: stack,
    },
    Toy {
        name: "registers",
        target: "
from registers import assemble, interpret

def run(text):
    output = []
    result = interpret(assemble(text), 5, output)
    return '%d %s' % (result, ' '.join([str(n) for n in output]))
",
        program: registers,
    },
    Toy {
        name: "lisp",
        target: "
from lisp import LispError, run as run_lisp

def run(text):
    try:
        return run_lisp(text, 12).show()
    except LispError as e:
        return 'error: ' + e.text
",
        program: lisp,
    },
    Toy {
        name: "brainfuck",
        target: "
from brainfuck import parse, run as run_brainfuck

def run(text):
    code, brackets = parse(text)
    out = []
    steps = run_brainfuck(code, brackets, out)
    return '%d %s' % (steps, ' '.join([str(ord(c)) for c in out]))
",
        program: brainfuck,
    },
];

/// Runs the programs of a file, which are separated by lines of one percent sign.
pub(crate) const MAIN: &str = "
import os

def entry_point(argv):
    fd = os.open(argv[1], os.O_RDONLY, 0)
    text = ''
    while True:
        more = os.read(fd, 65536)
        if len(more) == 0:
            break
        text += more
    os.close(fd)
    number = 0
    for program in text.split('%\\n'):
        print number, run(program)
        number += 1
    return 0

def target(driver, args):
    return entry_point, None
";

/// The next of some numbered names.
struct Names(u32);

impl Names {
    fn next(&mut self, prefix: &str) -> String {
        self.0 += 1;
        format!("{prefix}{}", self.0)
    }
}

// The stack machine. Functions have two numbers, `a` and `b`, a value of any kind, `w`, and
// a counter for each depth of loops. Jumps reach 255 bytes.

struct Stack {
    rng: Rng,
    out: String,
    labels: Names,
    functions: Vec<String>,
    /// How many bytes the function has left.
    room: i32,
}

fn stack(seed: u64) -> String {
    let mut s = Stack {
        rng: Rng::with_seed(seed),
        out: String::new(),
        labels: Names(0),
        functions: Vec::new(),
        room: 0,
    };
    for i in 0..s.rng.usize(1..4) {
        let name = format!("f{i}");
        s.room = 110;
        let _ = write!(s.out, "\nfn {name} a b | w i j\n nil store w");
        if s.rng.bool() {
            // A recursion.
            let more = s.labels.next("m");
            let _ = write!(
                s.out,
                " load a const 1 less iffalse {more} load b return : {more}"
            );
            let _ = write!(s.out, " load a const 2 sub load b call {name} store b");
            s.room -= 26;
        }
        s.block(1);
        s.number(2);
        s.out.push_str(" return");
        s.functions.push(name);
    }
    s.room = 150;
    s.out
        .push_str("\nfn main n | a b w i j k\n const 1 store a const 2 store b nil store w");
    s.out
        .push_str("\n: main load n iffalse end load n const 1 sub store n\n");
    s.block(0);
    s.block(0);
    s.out
        .push_str(" jump main : end load w print load b print load a return\n");
    s.out
}

impl Stack {
    fn op(&mut self, bytes: i32, text: &str) {
        self.room -= bytes;
        self.out.push(' ');
        self.out.push_str(text);
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..self.rng.usize(1..4) {
            if self.room < 45 {
                return;
            }
            self.statement(depth);
        }
        self.out.push('\n');
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.u8(..10) {
            0..=2 => {
                self.number(2);
                let to = ["store a", "store b"][self.rng.usize(..2)];
                self.op(2, to);
            }
            3 | 4 => {
                self.any(2);
                self.op(2, "store w");
            }
            5 => {
                self.any(1);
                self.op(1, "print");
            }
            6 | 7 => {
                let (other, end) = (self.labels.next("e"), self.labels.next("d"));
                self.any(1);
                self.op(2, &format!("iffalse {other}"));
                self.block(depth);
                self.op(2, &format!("jump {end} : {other}"));
                self.block(depth);
                self.op(0, &format!(": {end}"));
            }
            _ if depth < 2 => {
                let i = ["i", "j"][depth];
                let (head, end) = (self.labels.next("l"), self.labels.next("d"));
                let n = self.rng.u8(2..9);
                self.op(4, &format!("const {n} store {i} : {head}"));
                self.op(4, &format!("load {i} iffalse {end}"));
                self.op(7, &format!("load {i} const 1 sub store {i}"));
                self.block(depth + 1);
                self.op(2, &format!("jump {head} : {end}"));
            }
            _ => {
                self.any(0);
                self.op(1, "pop");
            }
        }
    }

    /// Pushes a number.
    fn number(&mut self, depth: u32) {
        if depth == 0 || self.room < 20 {
            let n = self.rng.i8(-4..30);
            let choices = [
                format!("const {n}"),
                "load a".to_owned(),
                "load b".to_owned(),
            ];
            let choice = self.rng.usize(..3);
            self.op(2, &choices[choice]);
            return;
        }
        match self.rng.u8(..8) {
            0 => self.number(0),
            1 if !self.functions.is_empty() => {
                let f = self.functions[self.rng.usize(..self.functions.len())].clone();
                let n = self.rng.u8(..5);
                self.op(2, &format!("const {n}"));
                self.number(depth - 1);
                self.op(2, &format!("call {f}"));
            }
            2 => {
                self.any(depth - 1);
                self.any(depth - 1);
                self.op(1, "equal");
            }
            _ => {
                self.number(depth - 1);
                self.number(depth - 1);
                let op = ["add", "sub", "mul", "less"][self.rng.usize(..4)];
                self.op(1, op);
            }
        }
    }

    /// Pushes a value of any kind.
    fn any(&mut self, depth: u32) {
        if depth == 0 || self.room < 20 {
            let choices = ["nil", "load w", "const 'ab'", "load a", "const ''"];
            let choice = self.rng.usize(..5);
            self.op(2, choices[choice]);
            return;
        }
        match self.rng.u8(..8) {
            0 | 1 => self.number(depth),
            2 => {
                self.op(2, "const 's'");
                self.number(depth - 1);
                self.op(1, "add");
            }
            3 | 4 => {
                self.any(depth - 1);
                self.number(depth - 1);
                let which = ["pair", "pair first", "pair second"][self.rng.usize(..3)];
                self.op(2, which);
            }
            5 => {
                // Fails where it is no pair, now and then.
                let rarely = self.rng.u8(..12) == 0;
                match rarely {
                    true => self.op(3, "load w second"),
                    false => self.any(0),
                }
            }
            6 => {
                self.any(depth - 1);
                self.op(2, "dup pair first");
            }
            _ => self.any(0),
        }
    }
}

// The register machine: counters are r1 to r3, numbers r4 to r11, r12 what is divided by.

struct Registers {
    rng: Rng,
    out: String,
    labels: Names,
    room: i32,
}

fn registers(seed: u64) -> String {
    let mut r = Registers {
        rng: Rng::with_seed(seed),
        out: String::new(),
        labels: Names(0),
        room: 215,
    };
    for i in 4..12 {
        let n = r.rng.i8(-20..100);
        r.line(3, &format!("set r{i} {n}"));
    }
    r.counted(1, 14, 200);
    r.line(2, "out r4");
    r.line(2, "out r7");
    r.line(3, "move r0 r5");
    r.line(1, "stop");
    r.out
}

impl Registers {
    fn line(&mut self, bytes: i32, text: &str) {
        self.room -= bytes;
        let _ = writeln!(self.out, " {text}");
    }

    /// A loop with a counter, which takes at most so many bytes.
    fn counted(&mut self, counter: u8, rounds: u8, bytes: i32) {
        let head = self.labels.next("l");
        let end = self.room - bytes;
        self.line(3, &format!("set r{counter} {rounds}"));
        let _ = writeln!(self.out, "{head}:");
        self.line(4, &format!("addn r{counter} r{counter} -1"));
        let zero = match self.rng.bool() {
            true => "r13",
            false => "r14",
        };
        for _ in 0..self.rng.usize(2..7) {
            if self.room < end + 40 {
                break;
            }
            self.statement(counter);
        }
        self.line(3, &format!("set {zero} 0"));
        self.line(4, &format!("jless {zero} r{counter} {head}"));
    }

    fn statement(&mut self, counter: u8) {
        let mut reg = || self.rng.u8(4..12);
        let (a, b, c) = (reg(), reg(), reg());
        let n = self.rng.u8(1..60);
        match self.rng.u8(..12) {
            0 if counter < 3 => {
                let rounds = self.rng.u8(1..8);
                self.counted(counter + 1, rounds, 70);
            }
            0 | 1 => {
                let skip = self.labels.next("s");
                self.line(4, &format!("jless r{a} r{b} {skip}"));
                self.simple(a, c, n);
                self.simple(b, a, n);
                let _ = writeln!(self.out, "{skip}:");
            }
            2 => {
                let (other, skip) = (self.labels.next("e"), self.labels.next("s"));
                self.line(4, &format!("and r12 r{a} r{counter}"));
                self.line(3, &format!("jzero r12 {other}"));
                self.simple(a, c, n);
                self.line(2, &format!("jump {skip}"));
                let _ = writeln!(self.out, "{other}:");
                self.simple(b, a, n);
                let _ = writeln!(self.out, "{skip}:");
            }
            3 => {
                self.line(3, &format!("set r12 {n}"));
                self.line(4, &format!("mod r{a} r{b} r12"));
            }
            4 => self.line(2, &format!("out r{a}")),
            _ => self.simple(a, b, n),
        }
    }

    fn simple(&mut self, a: u8, b: u8, n: u8) {
        let c = self.rng.u8(4..12);
        let text = match self.rng.u8(..8) {
            0 => format!("add r{a} r{b} r{c}"),
            1 => format!("sub r{a} r{b} r{c}"),
            2 => format!("mul r{a} r{b} r{c}"),
            3 => format!("and r{a} r{b} r{c}"),
            4 => format!("xor r{a} r{b} r{c}"),
            5 => format!("shr r{a} r{b} {n}"),
            6 => format!("addn r{a} r{b} {n}"),
            _ => format!("move  r{a} r{b}"),
        };
        self.line(4, &text);
    }
}

// The Lisp. `n` counts down, `x` and `y` are numbers, `v` is a value of any kind.

struct Lisp {
    rng: Rng,
    functions: Vec<String>,
    /// How deep it is in functions without a name.
    inside: u32,
}

fn lisp(seed: u64) -> String {
    let mut l = Lisp {
        rng: Rng::with_seed(seed),
        functions: Vec::new(),
        inside: 0,
    };
    let mut out = "(set g 5)\n".to_owned();
    for i in 0..l.rng.usize(1..4) {
        let name = format!("f{i}");
        let last = l.any(2);
        let (x, y, v) = (l.number(2), l.number(1), l.any(2));
        let step = match l.rng.u8(..3) {
            // A loop, a recursion, and both.
            0 => format!("({name} (- n 1) {x} {y} {v})"),
            1 => format!("(cons {v} ({name} (- n 1) {x} y v))"),
            _ => format!(
                "(if (< x y) ({name} (- n 1) {x} {y} v) (car (cons ({name} (- n 2) y x {v}) n)))"
            ),
        };
        let _ = writeln!(
            out,
            "(define {name} (lambda (n x y v) (if (< n 1) {last} {step})))"
        );
        l.functions.push(name);
    }
    let body: Vec<String> = (0..4).map(|_| l.statement(2)).collect();
    let _ = writeln!(
        out,
        "(define main (lambda (n) ((lambda (x y v) (begin (while (< 0 n) (begin (set n (- n 1)) {})) (cons x (cons y (cons g v))))) 1 2 '())))",
        body.join(" ")
    );
    out
}

impl Lisp {
    fn statement(&mut self, depth: u32) -> String {
        match self.rng.u8(..7) {
            0 => format!("(set x {})", self.number(depth)),
            1 => format!("(set y {})", self.number(depth)),
            2 => format!("(set g {})", self.number(depth)),
            3 | 4 => format!("(set v {})", self.any(depth)),
            5 => {
                let (yes, no) = (self.statement(depth - 1), self.statement(depth - 1));
                format!("(if {} {yes} {no})", self.any(1))
            }
            _ if depth > 1 && self.inside == 0 => {
                self.inside += 1;
                let body = self.statement(depth - 1);
                self.inside -= 1;
                let rounds = self.rng.u8(1..9);
                format!("((lambda (i) (while (< 0 i) (begin (set i (- i 1)) {body}))) {rounds})")
            }
            _ => format!("(set v (cons {} '()))", self.number(1)),
        }
    }

    fn number(&mut self, depth: u32) -> String {
        if depth == 0 {
            let n = self.rng.i8(-5..40);
            return match self.rng.u8(..4) {
                0 => "x".to_owned(),
                1 => "y".to_owned(),
                2 => "g".to_owned(),
                _ => n.to_string(),
            };
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.rng.u8(..9) {
            0 => format!("(% {a} {})", self.rng.u8(1..9)),
            1 => format!("(if {} {a} {b})", self.any(depth - 1)),
            2 => format!("(car (cons {a} {b}))"),
            3 => format!("((lambda (z) (+ z (* z {a}))) {b})"),
            4 => format!("((lambda (k) (k {a})) (lambda (z) (- z {b})))"),
            _ => {
                let op = ["+", "-", "*"][self.rng.usize(..3)];
                format!("({op} {a} {b})")
            }
        }
    }

    fn any(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.rng.u8(..5) {
                0 => "'()".to_owned(),
                1 => "'name".to_owned(),
                2 => "v".to_owned(),
                _ => self.number(0),
            };
        }
        let (a, b) = (self.any(depth - 1), self.any(depth - 1));
        match self.rng.u8(..12) {
            0 => format!("(cons {a} '())"),
            1 => format!("(null {a})"),
            2 => format!("(not {a})"),
            3 => format!("(= {a} {b})"),
            4 => format!("(if {a} {b} v)"),
            5 => format!("(cdr (cons {a} {b}))"),
            6 => format!("(< {} {})", self.number(depth - 1), self.number(depth - 1)),
            // Fails where it is no number or no pair, now and then.
            7 if self.rng.u8(..8) == 0 => "(car v)".to_owned(),
            8 if self.rng.u8(..8) == 0 => "(+ v 1)".to_owned(),
            9 if !self.functions.is_empty() => {
                let f = &self.functions[self.rng.usize(..self.functions.len())];
                let n = self.rng.u8(..7);
                format!("({f} {n} x {} {a})", self.rng.u8(..9))
            }
            _ => self.number(depth),
        }
    }
}

// Brainfuck: loops count a cell down, and work on cells to its right only.

fn brainfuck(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut out = String::new();
    for _ in 0..3 {
        commands(&mut rng, &mut out, 3);
        out.push('\n');
    }
    out
}

fn commands(rng: &mut Rng, out: &mut String, depth: usize) {
    let mut right = 0;
    let mut at = 0;
    for _ in 0..rng.usize(2..10) {
        match rng.u8(..8) {
            0..=2 => {
                let sign = ["+", "-"][rng.usize(..2)];
                out.push_str(&sign.repeat(rng.usize(1..5)));
            }
            3 => out.push('.'),
            4 => {
                out.push('>');
                at += 1;
            }
            5 if at > 0 => {
                out.push('<');
                at -= 1;
            }
            6 if depth > 0 => {
                out.push_str("[-]");
                out.push_str(&"+".repeat(rng.usize(1..7)));
                out.push_str("[>");
                commands(rng, out, depth - 1);
                out.push_str("<-]");
            }
            _ => out.push_str("[->+<]"),
        }
        right = right.max(at);
    }
    out.push_str(&"<".repeat(at));
}
