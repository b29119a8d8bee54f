//! Random programs in Quill, the language of fixtures/programs/quill: loops that get hot,
//! values that change their types on the way, closures, and failures that are caught.
//!
//! Every program ends: loops count, and functions stop calling each other when the
//! program's fuel is used up. What is not possible with the values at hand is an error of
//! the language, which the nearest `try` prints.

use taipan_fuzz::Choices;

use super::text::Text;

/// Most statements that blocks hold inside each other.
const DEPTH: u32 = 3;

struct Writer<'c> {
    text: Text<'c>,
    /// Variables that may be read and assigned, innermost last.
    names: Vec<String>,
    /// Counters of loops, which are only read.
    counters: Vec<String>,
    /// Functions with their numbers of arguments.
    functions: Vec<(String, usize)>,
    next: u32,
}

/// The text of a program.
pub(crate) fn program(choices: Choices<'_>) -> String {
    let head = "let fuel = 3000;\nlet total = 0;\n";
    let mut w = Writer {
        text: Text::new(choices, head),
        names: vec!["total".to_owned()],
        counters: Vec::new(),
        functions: Vec::new(),
        next: 0,
    };
    for _ in 0..w.text.rng.between(1..4) {
        w.function();
    }
    w.main();
    w.text.out
}

impl Writer<'_> {
    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn function(&mut self) {
        let (name, count) = (self.fresh("f"), self.text.rng.between(1..4));
        let params: Vec<String> = (0..count).map(|_| self.fresh("p")).collect();
        let outer = self.names.len();
        self.text
            .line(&format!("fn {name}({}) {{", params.join(", ")));
        self.text.indent += 1;
        let first = params[0].clone();
        self.text.line("fuel = fuel - 1;");
        self.text
            .line(&format!("if fuel < 0 {{ return {first}; }}"));
        self.names.extend(params);
        if self.text.once_in(2) {
            // Calls itself as well.
            self.functions.push((name.clone(), count));
        }
        self.block(0);
        let result = self.expression(2);
        self.text.line(&format!("return {result};"));
        self.text.indent -= 1;
        self.text.line("}");
        self.names.truncate(outer);
        if self.functions.last().is_none_or(|f| f.0 != name) {
            self.functions.push((name, count));
        }
    }

    fn main(&mut self) {
        for _ in 0..4 {
            let (name, value) = (self.fresh("g"), self.expression(1));
            self.guarded(&format!("let {name} = {value};"));
            self.text.line(&format!("let {name} = 7;"));
            self.names.push(name);
        }
        for _ in 0..3 {
            self.text.line("try {");
            self.text.indent += 1;
            let known = self.names.len();
            self.count_to(40, 200, 0);
            self.names.truncate(known);
            self.text.indent -= 1;
            self.text.line("} catch e { print \"caught\", e; }");
        }
        for name in self.names.clone() {
            self.text.line(&format!("print \"{name}\", {name};"));
        }
    }

    /// A statement that may fail.
    fn guarded(&mut self, statement: &str) {
        self.text.line(&format!(
            "try {{ {statement} }} catch e {{ total = 1; print \"caught\", e; }}"
        ));
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..self.text.rng.between(1..5) {
            self.statement(depth);
        }
    }

    fn nested(&mut self, depth: u32) {
        self.text.indent += 1;
        let known = self.names.len();
        self.block(depth + 1);
        self.names.truncate(known);
        self.text.indent -= 1;
    }

    /// A loop that counts up to a number between these.
    fn count_to(&mut self, least: u32, most: u32, depth: u32) {
        let (i, n) = (self.fresh("i"), self.text.rng.between(least..most));
        self.text.line(&format!("let {i} = 0;"));
        self.text.line(&format!("while {i} < {n} {{"));
        self.text.indent += 1;
        self.text.line(&format!("{i} = {i} + 1;"));
        self.text.indent -= 1;
        self.counters.push(i);
        // The next round starts with a number in some variable.
        let guard = (depth == 0 || self.text.once_in(4)).then(|| self.variable());
        if guard.is_some() {
            self.text.line("    try {");
        }
        self.nested(depth);
        if let Some(name) = guard {
            self.text
                .line(&format!("    }} catch e {{ {name} = len(str(e)); }}"));
        }
        self.counters.pop();
        self.text.line("}");
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth >= DEPTH {
            self.text.rng.below(4)
        } else {
            self.text.rng.below(10)
        };
        match kind {
            0 => {
                let (name, value) = (self.fresh("v"), self.expression(2));
                self.text.line(&format!("let {name} = {value};"));
                self.names.push(name);
            }
            1..=3 => {
                let (name, value) = (self.variable(), self.expression(2));
                self.text.line(&format!("{name} = {value};"));
            }
            4 | 5 => {
                let condition = self.condition();
                self.text.line(&format!("if {condition} {{"));
                self.nested(depth);
                if self.text.once_in(2) {
                    self.text.line("} else {");
                    self.nested(depth);
                }
                self.text.line("}");
            }
            6 => self.count_to(2, 6, depth),
            7 => {
                let (x, container) = (self.fresh("x"), self.container());
                self.text.line(&format!("for {x} in {container} {{"));
                self.counters.push(x);
                self.nested(depth);
                self.counters.pop();
                self.text.line("}");
            }
            8 => {
                let name = self.variable();
                self.text.line("try {");
                self.nested(depth);
                if self.text.once_in(3) {
                    let (condition, value) = (self.condition(), self.expression(1));
                    self.text
                        .line(&format!("    if {condition} {{ throw {value}; }}"));
                }
                self.text
                    .line(&format!("}} catch e {{ {name} = len(str(e)); }}"));
            }
            _ => {
                // A closure that is made and called at once, or later.
                let (f, name, p) = (self.fresh("c"), self.variable(), self.fresh("p"));
                self.names.push(p.clone());
                let body = self.expression(2);
                self.names.pop();
                self.text.line(&format!(
                    "let {f} = fn({p}) {{ {name} = {name}; return {body}; }};"
                ));
                self.functions.push((f.clone(), 1));
                let argument = self.expression(1);
                self.functions.pop();
                self.text.line(&format!("{name} = {f}({argument});"));
            }
        }
    }

    fn variable(&mut self) -> String {
        let i = self.text.rng.below(self.names.len());
        self.names[i].clone()
    }

    fn condition(&mut self) -> String {
        let operator = self.text.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (left, right) = (self.number(1), self.number(1));
        let simple = format!("{left} {operator} {right}");
        match self.text.rng.below(5) {
            0 => format!("not ({simple})"),
            1 => format!("{simple} and {} == 0", self.parity()),
            2 => format!("{simple} or {} == 1", self.parity()),
            _ => simple,
        }
    }

    /// A number that alternates with the loops.
    fn parity(&mut self) -> String {
        match self.counters.last() {
            Some(i) => format!("{i} % 2"),
            None => "total % 3".to_owned(),
        }
    }

    fn container(&mut self) -> String {
        match self.text.rng.below(3) {
            0 => format!("range(0, {})", self.text.rng.between(1..6)),
            1 => format!("[{}, {}, 3]", self.number(1), self.number(1)),
            _ => "\"abc\"".to_owned(),
        }
    }

    /// An expression that is a number, if its variables are.
    fn number(&mut self, depth: u32) -> String {
        match self.text.rng.below(if depth == 0 { 4 } else { 8 }) {
            0 => format!("{}", self.text.rng.between::<i32>(0..50)),
            1 if !self.counters.is_empty() => {
                let i = self.text.rng.below(self.counters.len());
                self.counters[i].clone()
            }
            1..=3 => self.variable(),
            4 | 5 => {
                let operator = self.text.pick(&["+", "-", "*"]);
                format!(
                    "({} {operator} {})",
                    self.number(depth - 1),
                    self.number(depth - 1)
                )
            }
            6 => format!(
                "({} % {})",
                self.number(depth - 1),
                self.text.rng.between(1..100)
            ),
            _ => match self.text.rng.below(self.functions.len() + 1) {
                0 => format!("-{}", self.number(depth - 1)),
                f => {
                    let (name, count) = self.functions[f - 1].clone();
                    let args: Vec<String> = (0..count).map(|_| self.number(0)).collect();
                    format!("{name}({})", args.join(", "))
                }
            },
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        match self.text.rng.below(60) {
            0 => "1.5".to_owned(),
            1 => "\"s\"".to_owned(),
            2 => "true".to_owned(),
            3 => "nil".to_owned(),
            4 => format!("[{}, 2]", self.number(1)),
            5 => format!("{{\"k\": {}}}", self.number(1)),
            6 => format!("len({})", self.container()),
            7 => format!("{}[{}]", self.container(), self.number(1)),
            8 => format!("str({})", self.number(1)),
            9 => self.condition(),
            _ => self.number(depth),
        }
    }
}
