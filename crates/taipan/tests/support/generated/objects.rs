//! Random programs of classes: mixins, hierarchies, narrowing, prebuilt objects, call
//! families, specialisation.
//!
//! CPython 2.7, the original toolchain and Taipan agree on them. Every class has a class
//! attribute `kind` of its own and is instantiated while the program loads; attributes that
//! only some classes have are read where a test has told the class. Integers stay small,
//! strings short, calls go down a limited number of times.

mod methods;
mod statements;

use std::ops::{Deref, DerefMut};

use taipan_fuzz::Choices;

use crate::support::text::Text;

/// What expressions are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Str,
    /// An instance of any class.
    Obj,
    /// The same or None.
    Maybe,
    /// An instance of that class or a subclass.
    Inst(usize),
}

/// The attribute `val` of a class, of which unrelated classes have different ideas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Int,
    Str,
}

/// A class; the first one is `C0`, the root.
struct Class {
    base: Option<usize>,
    /// What its `val` is, its own or inherited.
    value: Option<Value>,
    /// Whether it has an attribute `eN` of its own, for its number N.
    extra: bool,
    /// Mixins of it and its bases.
    mixins: Vec<usize>,
}

/// A class that is mixed in.
struct Mixin {
    base: Option<usize>,
    /// Has `show`, which reads `val`.
    shows: bool,
}

/// A variable that is in scope.
#[derive(Clone)]
struct Var {
    name: String,
    ty: Ty,
    /// Holds one and the same prebuilt object always: tests narrow it to nothing.
    single: bool,
}

struct Function {
    name: String,
    args: Vec<Ty>,
    result: Ty,
}

struct Writer<'c> {
    text: Text<'c>,
    classes: Vec<Class>,
    mixins: Vec<Mixin>,
    functions: Vec<Function>,
    vars: Vec<Var>,
    names: usize,
    /// Functions of the table may be called: not by themselves.
    calls: bool,
    /// Nested loops and tests.
    depth: usize,
}

/// How many functions call each other.
const FUNCTIONS: usize = 70;
/// Objects in `OBJS` beyond one of each class.
const MORE: usize = 4;

const HEAD: &str = "\
from rpython.rlib.objectmodel import specialize

class State(object):
    pass
state = State()
state.calls = 0
state.total = 0

@specialize.argtype(0)
def shown(x): return '<' + str(x) + '>'
@specialize.argtype(0)
def tagged(x, k): return x.tag + str((x.n + k) & 0xfff)
@specialize.arg(0)
def part(k, x):
    if k == 0: return x.n
    elif k == 1: return x.factor
    else: return x.calc(1)
@specialize.call_location()
def first_of(a, b):
    if a.n < b.n: return a
    return b
@specialize.arg_or_var(0)
def scaled(k, n): return (k * n) & 0xfff
";

/// The program with that number.
pub(crate) fn program(choices: Choices<'_>) -> String {
    let mut w = Writer {
        text: Text::new(choices, HEAD),
        classes: Vec::new(),
        mixins: Vec::new(),
        functions: Vec::new(),
        vars: Vec::new(),
        names: 0,
        calls: false,
        depth: 0,
    };
    w.hierarchy();
    w.prebuilt();
    w.steps();
    w.calls = true;
    for i in 0..FUNCTIONS {
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
        let vars = self.vars.clone();
        body(self);
        self.vars = vars;
        self.indent -= 1;
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn declare(&mut self, ty: Ty, e: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {e}"));
        self.add(&name, ty);
        name
    }

    fn add(&mut self, name: &str, ty: Ty) {
        self.vars.push(Var {
            name: name.to_owned(),
            ty,
            single: false,
        });
    }

    /// A class other than the root.
    fn class(&mut self) -> usize {
        let n = self.classes.len();
        self.rng.between(1..n)
    }

    fn is_below(&self, class: usize, base: usize) -> bool {
        let mut at = Some(class);
        while let Some(c) = at {
            if c == base {
                return true;
            }
            at = self.classes[c].base;
        }
        false
    }

    /// Objects, classes and tables that are there before the program starts.
    fn prebuilt(&mut self) {
        let classes = self.classes.len();
        let mut objects: Vec<usize> = (0..classes).collect();
        objects.extend((0..MORE).map(|_| self.rng.below(classes)));
        self.rng.shuffle(&mut objects);
        let made: Vec<String> = (objects.iter().enumerate())
            .map(|(i, c)| format!("C{c}({i}, 'o{i}')"))
            .collect();
        self.line(&format!("OBJS = [{}]", made.join(", ")));
        let names: Vec<String> = (0..classes).map(|c| format!("C{c}")).collect();
        self.line(&format!("CLASSES = [{}]", names.join(", ")));
        self.line("TABLE = {'a': OBJS[0], 'b': OBJS[1], 'c': OBJS[2]}");
        for i in 0..objects.len() {
            if self.once_in(2) {
                let to = self.rng.below(objects.len());
                self.line(&format!("OBJS[{i}].next = OBJS[{to}]"));
            }
        }
        for i in 0..3 {
            let c = self.rng.below(classes);
            self.line(&format!("state.g{i} = C{c}({i}, 'g')"));
        }
        self.line("state.cur = OBJS[0]");
        self.line("state.may = None");
        self.block("def make(i, n):", |w| {
            for i in 0..classes {
                w.line(&format!("if i == {i}: return C{i}(n, 'm{i}')"));
            }
            w.line("return OBJS[n % len(OBJS)]");
        });
        self.block("def find(n, k):", |w| {
            w.line("for o in OBJS:");
            w.line("    if (o.n + k) & 7 == n & 7: return o");
            w.line("return None");
        });
    }

    /// Functions that are called through a table: some take what others do not.
    fn steps(&mut self) {
        for i in 0..4 {
            self.block(&format!("def step{i}(o, k):"), |w| {
                w.add("o", Ty::Obj);
                w.add("k", Ty::Int);
                if w.once_in(2) {
                    let c = w.class();
                    w.block(&format!("if isinstance(o, C{c}):"), |w| {
                        w.vars[0].ty = Ty::Inst(c);
                        let e = w.int(2);
                        w.line(&format!("return {e}"));
                    });
                }
                let e = w.int(2);
                w.line(&format!("return {e}"));
            });
            self.vars.clear();
        }
        self.line("STEPS = [step0, step1, step2]");
    }

    fn function(&mut self, i: usize) {
        let args: Vec<Ty> = (0..self.rng.between(1..4))
            .map(|_| [Ty::Int, Ty::Str, Ty::Obj, Ty::Obj, Ty::Maybe][self.rng.below(5)])
            .collect();
        let result = [Ty::Int, Ty::Int, Ty::Str, Ty::Obj][self.rng.below(4)];
        let names: Vec<String> = (0..args.len()).map(|n| format!("p{n}")).collect();
        let name = format!("f{i}");
        self.vars.clear();
        self.block(&format!("def {name}({}):", names.join(", ")), |w| {
            for (name, ty) in names.iter().zip(&args) {
                w.add(name, *ty);
            }
            let default = match result {
                Ty::Int => "-1",
                Ty::Str => "'end'",
                _ => "OBJS[0]",
            };
            w.line(&format!("if state.calls <= 0: return {default}"));
            w.line("state.calls -= 1");
            w.declare(Ty::Int, "0");
            let o = w.obj(1);
            w.declare(Ty::Obj, &o);
            for _ in 0..w.rng.between(1..4) {
                w.statement(result);
            }
            let e = w.expr(result, 2);
            w.line(&format!("return {e}"));
        });
        self.vars.clear();
        self.functions.push(Function { name, args, result });
    }

    fn entry_point(&mut self) {
        for i in 0..self.functions.len() {
            self.block(&format!("def case{i}(out):"), |w| {
                for _ in 0..2 {
                    let (result, call) = (w.functions[i].result, w.call(i, 1));
                    w.line("state.calls = 12");
                    match result {
                        Ty::Int => w.line(&format!("out.append(str({call}))")),
                        Ty::Str => w.line(&format!("out.append({call})")),
                        _ => w.line(&format!("out.append({call}.ident())")),
                    }
                }
                w.line("out.append(str(state.total))");
            });
        }
        self.block("def run():", |w| {
            w.line("out = []");
            w.line("state.may = OBJS[1]");
            for i in 0..w.functions.len() {
                w.line(&format!("case{i}(out)"));
            }
            w.line("for o in OBJS: out.append(o.show() + o.ident() + str(o.n))");
            w.line("return '\\n'.join(out)");
        });
        self.block("def entry_point(argv):", |w| {
            w.line("print run()");
            w.line("return 0");
        });
        super::target(self);
    }
}
