//! Expressions, and statements that test what objects are.

use super::{Function, Ty, Value, Var, Writer};

impl Writer<'_> {
    // Expressions.

    /// A variable of a type; an instance of a class is an object too.
    pub(super) fn var(&mut self, ty: Ty) -> Option<String> {
        let fits: Vec<&Var> = (self.vars.iter())
            .filter(|v| match (v.ty, ty) {
                (Ty::Inst(_), Ty::Obj | Ty::Maybe) | (Ty::Obj, Ty::Maybe) => true,
                (a, b) => a == b,
            })
            .collect();
        let names: Vec<String> = fits.iter().map(|v| v.name.clone()).collect();
        (!names.is_empty()).then(|| names[self.rng.below(names.len())].clone())
    }

    pub(super) fn expr(&mut self, ty: Ty, d: usize) -> String {
        match ty {
            Ty::Int => self.int(d),
            Ty::Str => self.str(d),
            Ty::Maybe => self.maybe(d),
            Ty::Obj | Ty::Inst(_) => self.obj(d),
        }
    }

    /// A small integer.
    pub(super) fn int(&mut self, d: usize) -> String {
        if d == 0 {
            return match self.var(Ty::Int) {
                Some(v) if self.rng.bool() => v,
                _ => self.rng.below(10).to_string(),
            };
        }
        let d = d - 1;
        match self.rng.below(22) {
            0 | 1 => self.int(0),
            2 => format!("{}.n", self.obj(d)),
            3 => format!("{}.factor", self.obj(d)),
            4 => format!("{}.kind", self.obj(d)),
            5..8 => format!("{}.calc({})", self.obj(d), self.int(d)),
            8 => format!("{}.size", self.obj(d)),
            9 => format!("len({}.s)", self.obj(d)),
            10 => format!("part({}, {})", self.rng.below(3), self.obj(d)),
            11 => format!("{}.at({})", self.obj(d), self.rng.below(3)),
            12 => format!("scaled({}, {})", self.int(0), self.int(d)),
            13 if self.calls => {
                let o = self.obj(d);
                format!("STEPS[{} % 3]({o}, {})", self.int(d), self.int(d))
            }
            14 if self.calls => format!("step3({}, {})", self.obj(d), self.int(d)),
            15 | 16 => match self.known(Ty::Int) {
                Some(e) => e,
                None => self.int(d),
            },
            17 => match self.call_of(Ty::Int, d) {
                Some(e) => e,
                None => self.int(d),
            },
            _ => {
                let (a, b) = (self.int(d), self.int(d));
                let op = self.pick(&["+", "-", "*", "^", "|"]);
                format!("(({a} {op} {b}) & 0xfff)")
            }
        }
    }

    /// An attribute that only objects of the class of some variable have.
    fn known(&mut self, ty: Ty) -> Option<String> {
        let mut found = Vec::new();
        for v in &self.vars {
            let Ty::Inst(class) = v.ty else { continue };
            let want = if ty == Ty::Int {
                Value::Int
            } else {
                Value::Str
            };
            if self.classes[class].value == Some(want) {
                found.push(format!("{}.val", v.name));
            }
            let mut at = Some(class);
            while let Some(c) = at {
                if self.classes[c].extra && ty == Ty::Int {
                    found.push(format!("{}.e{c}", v.name));
                }
                at = self.classes[c].base;
            }
        }
        (!found.is_empty()).then(|| found[self.rng.below(found.len())].clone())
    }

    fn str(&mut self, d: usize) -> String {
        if d == 0 {
            return match self.var(Ty::Str) {
                Some(v) if self.rng.bool() => v,
                _ => self.pick(&["'x'", "''", "'long'"]).to_owned(),
            };
        }
        let d = d - 1;
        match self.rng.below(14) {
            0 => self.str(0),
            1 | 2 => format!("{}.ident()", self.obj(d)),
            3 | 4 => format!("{}.show()", self.obj(d)),
            5 => format!("{}.tag", self.obj(d)),
            6 => format!("{}.s", self.obj(d)),
            7 => format!("str({})", self.int(d)),
            8 => format!("shown({})", self.int(d)),
            9 => format!("shown({})[:20]", self.str(d)),
            10 => format!("tagged({}, {})", self.obj(d), self.int(d)),
            11 => match self.known(Ty::Str) {
                Some(e) => e,
                None => self.str(d),
            },
            12 => match self.call_of(Ty::Str, d) {
                Some(e) => e,
                None => self.str(d),
            },
            _ => format!("({} + {})[:20]", self.str(d), self.str(d)),
        }
    }

    pub(super) fn obj(&mut self, d: usize) -> String {
        if let Some(v) = self.var(Ty::Obj)
            && (d == 0 || self.rng.below(3) == 0)
        {
            return v;
        }
        if d == 0 {
            let n = self.rng.below(9);
            return format!("OBJS[{n} % len(OBJS)]");
        }
        let d = d - 1;
        match self.rng.below(11) {
            0 | 1 => format!("OBJS[{} % len(OBJS)]", self.int(d)),
            2 => format!("TABLE[{}]", self.pick(&["'a'", "'b'", "'c'"])),
            3 => format!("make({}, {})", self.int(0), self.int(d)),
            4 => format!(
                "CLASSES[{} % len(CLASSES)]({}, {})",
                self.int(d),
                self.int(d),
                self.str(0)
            ),
            5 => format!("C{}({}, {})", self.class(), self.int(d), self.str(0)),
            6 => format!("{}.peer({})", self.obj(d), self.maybe(d)),
            7 => format!("{}.grow({})", self.obj(d), self.int(d)),
            8 => format!("first_of({}, {})", self.obj(d), self.obj(d)),
            9 => "state.cur".to_owned(),
            _ => match self.call_of(Ty::Obj, d) {
                Some(e) => e,
                None => self.obj(d),
            },
        }
    }

    fn maybe(&mut self, d: usize) -> String {
        match self.rng.below(6) {
            0 | 1 => "state.may".to_owned(),
            2 => format!("{}.next", self.obj(d.min(1))),
            3 if d > 0 => format!("find({}, {})", self.int(d - 1), self.int(0)),
            4 => match self.var(Ty::Maybe) {
                Some(v) => v,
                None => self.obj(d),
            },
            _ => self.obj(d),
        }
    }

    /// A call of an earlier function with that result.
    fn call_of(&mut self, result: Ty, d: usize) -> Option<String> {
        let fits = |f: &Function| f.result == result;
        let found: Vec<usize> = (0..self.functions.len())
            .filter(|i| fits(&self.functions[*i]))
            .collect();
        if found.is_empty() {
            return None;
        }
        let i = found[self.rng.below(found.len())];
        Some(self.call(i, d))
    }

    pub(super) fn call(&mut self, i: usize, d: usize) -> String {
        let types = self.functions[i].args.clone();
        let args: Vec<String> = types.iter().map(|t| self.expr(*t, d.min(1))).collect();
        format!("{}({})", self.functions[i].name, args.join(", "))
    }

    fn cond(&mut self, d: usize) -> String {
        match self.rng.below(if d == 0 { 5 } else { 9 }) {
            0 | 1 => format!("{} < {}", self.int(1), self.int(1)),
            2 => format!("isinstance({}, C{})", self.obj(1), self.class()),
            3 => format!("{}.next is None", self.obj(1)),
            4 => format!("{} is {}", self.obj(1), self.maybe(1)),
            5 => format!("not ({})", self.cond(d - 1)),
            6 => format!("({}) and ({})", self.cond(d - 1), self.cond(d - 1)),
            7 => format!("({}) or ({})", self.cond(d - 1), self.cond(d - 1)),
            _ => format!("{}.next is not None", self.obj(1)),
        }
    }

    // Statements.

    pub(super) fn statement(&mut self, result: Ty) {
        if self.depth >= 2 {
            return self.simple();
        }
        self.depth += 1;
        match self.rng.below(16) {
            0 | 1 => self.simple(),
            2..6 => self.tested(result),
            6 => self.negated(result),
            7 => self.either(result),
            8 => self.not_none(result),
            9 => self.single(result),
            10 => self.walk(),
            11 => self.asserted(),
            12 => self.method_value(),
            13 => self.function_value(),
            14 => self.joined_objects(),
            _ => {
                let c = self.cond(2);
                self.block(&format!("if {c}:"), |w| w.body(result));
                self.block("else:", |w| w.body(result));
            }
        }
        self.depth -= 1;
    }

    fn body(&mut self, result: Ty) {
        for _ in 0..self.rng.between(1..3) {
            self.statement(result);
        }
        if self.once_in(8) {
            let e = self.expr(result, 1);
            self.line(&format!("return {e}"));
        }
    }

    fn simple(&mut self) {
        match self.rng.below(10) {
            0 | 1 => {
                let ty = [Ty::Int, Ty::Str, Ty::Obj, Ty::Maybe][self.rng.below(4)];
                let e = self.expr(ty, 2);
                self.declare(ty, &e);
            }
            2 => {
                let e = self.int(2);
                self.line(&format!("state.total = (state.total * 3 + {e}) & 0xffff"));
            }
            3 => {
                let (o, e) = (self.obj(0), self.int(1));
                self.line(&format!("{o}.n = {e}"));
            }
            4 => {
                let (o, e) = (self.obj(0), self.str(1));
                self.line(&format!("{o}.s = {e}[:9]"));
            }
            5 => {
                let (o, e) = (self.obj(0), self.maybe(1));
                self.line(&format!("{o}.next = {e}"));
            }
            6 => {
                let e = self.obj(1);
                self.line(&format!("state.cur = {e}"));
            }
            7 => {
                let e = self.maybe(1);
                self.line(&format!("state.may = {e}"));
            }
            8 => match self.known(Ty::Int) {
                Some(place) => {
                    let e = self.int(1);
                    self.line(&format!("{place} = {e}"));
                }
                None => self.line("state.total += 1"),
            },
            _ => {
                let (o, e) = (self.obj(1), self.int(1));
                self.line(&format!("{o}.grow({e})"));
            }
        }
    }

    /// An object in a variable that is about to be tested.
    fn tested_object(&mut self) -> String {
        let may_be_none = self.once_in(3);
        let ty = if may_be_none { Ty::Maybe } else { Ty::Obj };
        match self.var(ty) {
            Some(v) if !v.contains('.') && self.rng.bool() => v,
            _ => {
                let e = self.expr(ty, 2);
                self.declare(ty, &e)
            }
        }
    }

    /// Inside of a test: a variable is of a class, unless that cannot be.
    fn narrow(&mut self, name: &str, class: usize) {
        let below = |w: &Self, v: &Var| match v.ty {
            Ty::Inst(c) => w.is_below(class, c),
            _ => true,
        };
        let found = self.vars.iter().position(|v| v.name == name);
        if let Some(i) = found
            && !self.vars[i].single
            && below(self, &self.vars[i])
        {
            self.vars[i].ty = Ty::Inst(class);
        }
    }

    /// `if isinstance(...)`, with other branches and an alias; the variable goes on.
    fn tested(&mut self, result: Ty) {
        let v = self.tested_object();
        if self.once_in(3) {
            let ty = self.vars.iter().find(|x| x.name == v).map(|x| x.ty);
            self.declare(ty.unwrap_or(Ty::Maybe), &v);
        }
        let (a, b) = (self.class(), self.class());
        let more = match self.rng.below(4) {
            0 => format!(" and ({})", self.cond(1)),
            _ => String::new(),
        };
        self.block(&format!("if isinstance({v}, C{a}){more}:"), |w| {
            w.narrow(&v, a);
            w.body(result);
        });
        if self.rng.bool() {
            self.block(&format!("elif isinstance({v}, C{b}):"), |w| {
                w.narrow(&v, b);
                w.body(result);
            });
        }
        if self.rng.bool() {
            self.block("else:", |w| w.body(result));
        }
    }

    fn negated(&mut self, result: Ty) {
        let v = self.tested_object();
        let a = self.class();
        self.block(&format!("if not isinstance({v}, C{a}):"), |w| {
            w.body(result)
        });
        self.block("else:", |w| {
            w.narrow(&v, a);
            w.body(result);
        });
    }

    fn either(&mut self, result: Ty) {
        let v = self.tested_object();
        let (a, b) = (self.class(), self.class());
        let test = format!("isinstance({v}, C{a}) or isinstance({v}, C{b})");
        self.block(&format!("if {test}:"), |w| {
            w.narrow(&v, 0);
            w.body(result);
        });
    }

    fn not_none(&mut self, result: Ty) {
        // No variable: the test would tell something of that one, too.
        let e = match self.rng.below(3) {
            0 => format!("find({}, {})", self.int(1), self.int(0)),
            1 => "state.may".to_owned(),
            _ => format!("{}.next", self.obj(1)),
        };
        let v = self.declare(Ty::Maybe, &e);
        let a = self.class();
        match self.rng.below(3) {
            0 => {
                let e = self.expr(result, 1);
                self.line(&format!("if {v} is None: return {e}"));
                self.narrow(&v, 0);
            }
            1 => self.block(
                &format!("if {v} is not None and isinstance({v}, C{a}):"),
                |w| {
                    w.narrow(&v, a);
                    w.body(result);
                },
            ),
            _ => {
                self.block(&format!("if {v} is None:"), |w| {
                    // The test tells the original that it is None and nothing else.
                    w.vars.retain(|x| x.name != v);
                    w.body(result);
                });
                self.block("else:", |w| {
                    w.narrow(&v, 0);
                    w.body(result);
                });
            }
        }
    }

    /// One prebuilt object, which is always the same.
    fn single(&mut self, result: Ty) {
        let i = self.rng.below(3);
        let v = self.declare(Ty::Obj, &format!("state.g{i}"));
        if let Some(last) = self.vars.last_mut() {
            last.single = true;
        }
        let a = self.class();
        self.block(&format!("if isinstance({v}, C{a}):"), |w| w.body(result));
        let e = self.obj(0);
        if self.rng.bool() {
            self.block("else:", |w| w.line(&format!("{v} = {e}")));
        }
    }

    /// Along a chain of objects.
    fn walk(&mut self) {
        let e = self.obj(1);
        let v = self.name();
        let (i, a) = (self.name(), self.class());
        self.line(&format!("{v} = {e}"));
        self.line(&format!("{i} = 0"));
        let test = match self.rng.below(3) {
            0 => format!("while isinstance({v}, C{a}) and {i} < 4:"),
            _ => format!("while {v} is not None and {i} < 4:"),
        };
        let fixed = test.contains("isinstance");
        self.block(&test, |w| {
            w.line(&format!("{i} += 1"));
            w.add(&v, if fixed { Ty::Inst(a) } else { Ty::Obj });
            w.add(&i, Ty::Int);
            let e = w.int(1);
            w.line(&format!("state.total = (state.total + {e}) & 0xfff"));
            w.block(&format!("if isinstance({v}, C{a}):"), |w| {
                w.narrow(&v, a);
                w.simple();
            });
            w.line(&format!("{v} = {v}.next"));
        });
        self.add(&v, Ty::Maybe);
    }

    fn asserted(&mut self) {
        let e = self.obj(1);
        let v = self.declare(Ty::Obj, &e);
        let a = self.class();
        self.block(&format!("if {v}.kind == {a}:"), |w| {
            w.line(&format!("assert isinstance({v}, C{a})"));
            w.narrow(&v, a);
            w.simple();
            w.simple();
        });
    }

    /// A bound method in a variable.
    fn method_value(&mut self) {
        let (a, b, c) = (self.obj(1), self.obj(1), self.cond(1));
        let (name, args) = match self.rng.below(3) {
            0 => ("calc", self.int(1)),
            1 => ("ident", String::new()),
            _ => ("show", String::new()),
        };
        let m = self.name();
        self.line(&format!("{m} = {a}.{name}"));
        self.line(&format!("if {c}: {m} = {b}.{name}"));
        let ty = if name == "calc" { Ty::Int } else { Ty::Str };
        self.declare(ty, &format!("{m}({args})"));
    }

    fn function_value(&mut self) {
        let c = self.cond(1);
        let f = self.name();
        let (a, b) = (self.rng.below(4), self.rng.below(3));
        self.line(&format!("{f} = step{a}"));
        self.line(&format!("if {c}: {f} = step{b}"));
        let e = format!("{f}({}, {})", self.obj(1), self.int(1));
        self.declare(Ty::Int, &e);
    }

    /// Objects of different classes meet in a variable.
    fn joined_objects(&mut self) {
        let (c, a, b) = (self.cond(1), self.class(), self.class());
        let v = self.name();
        let n = self.int(1);
        self.line(&format!("if {c}: {v} = C{a}({n}, 'j')"));
        match self.rng.below(3) {
            0 => self.line(&format!("else: {v} = OBJS[{n} % len(OBJS)]")),
            _ => self.line(&format!("else: {v} = C{b}(7, 'k')")),
        }
        self.add(&v, Ty::Obj);
    }
}
