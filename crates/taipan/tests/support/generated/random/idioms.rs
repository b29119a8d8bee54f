//! Shapes of code that compilers have got wrong: errors that become other errors, truth
//! values that join, `try` with `finally` and jumps out of it, closures that are made while
//! the program loads, arithmetic on integers of other kinds, ...

use super::{Bool, Dict, Int, Ints, Maybe, Object, Str, Strs, Ty, Writer};

/// What the statements here use.
pub(super) const HEAD: &str = "\
from rpython.rlib.rarithmetic import r_uint, r_longlong

def choose(c, a, b):
    if c: return a
    return b
def both(c, d): return int(c) * 2 + int(d)
def checked(a, b):
    try: return ovfcheck(a * b)
    except OverflowError: raise Halt(intmask(a ^ b))
def careful(a, b):
    try: return checked(a, b)
    except Halt as e: raise Stop(intmask(e.n + 1))

def make_steps(k):
    def make_step(j):
        def step(n): return intmask(n * k + j)
        return step
    return make_step
CLOSURES = [make_steps(i)(i * i - 2) for i in range(4)]

class Animal(object):
    legs = 4
    sound = ''
    def noise(self, n): return self.sound * (n & 3) + str(self.legs)
    def walk(self, n): return intmask(n * self.legs)
class Bird(Animal):
    legs = 2
    sound = 'tweet'
    def walk(self, n): return intmask(Animal.walk(self, n) + 1)
class Duck(Bird):
    sound = 'quack'
    def noise(self, n): return Bird.noise(self, n + 1).upper()
    def swim(self, n): return n ^ 5
class Snake(Animal):
    legs = 0
    def walk(self, n):
        if n & 1: raise Stop(n)
        return n
ANIMALS = [Animal(), Bird(), Duck(), Snake()]

def pairs(words):
    i = 0
    for w in words:
        yield i, w
        i += len(w)
";

impl Writer<'_> {
    /// One of the shapes as a statement.
    pub(super) fn idiom(&mut self, depth: usize, result: Option<Ty>) {
        match self.rng.below(12) {
            0 => self.translated_error(),
            1 => self.joined_truth(),
            2 if self.loops < 2 => self.jumps_through_finally(depth, result),
            3 => self.levels_of_handlers(depth),
            4 => self.list_of_pairs(),
            5 => self.generated_pairs(),
            6 => self.changed_values(),
            7 => self.dynamic_class(),
            8 => self.reraised(),
            9 => self.narrowed(),
            10 => self.nested_loops(),
            _ => self.unicode(),
        }
    }

    fn add_up(&mut self, e: &str) {
        self.line(&format!("state.total = intmask(state.total * 7 + {e})"));
    }

    /// A value in a new variable that is read-only for others.
    fn keep(&mut self, e: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {e}"));
        name
    }

    fn translated_error(&mut self) {
        let (a, b) = (self.int(2), self.int(2));
        let f = self.pick(&["checked", "careful"]);
        let v = self.keep("0");
        self.block("try:", |w| {
            w.line(&format!("{v} = {f}(state.zero ^ {a}, {b})"));
        });
        self.block("except Halt as e:", |w| w.line(&format!("{v} = e.n")));
        self.block("except Stop as e:", |w| w.line(&format!("{v} = ~e.n")));
        self.add_up(&v);
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.rng.below(4) {
                0 => match self.var(Maybe, false) {
                    Some(m) => format!("({m} is not None)"),
                    None => "True".to_owned(),
                },
                1 => self.var(Bool, false).unwrap_or("False".to_owned()),
                _ => self.bool(1),
            };
        }
        let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
        match self.rng.below(4) {
            0 => format!("({a} and {b})"),
            1 => format!("({a} or {b})"),
            2 => format!("(not {a})"),
            _ => {
                let c = self.truth(0);
                format!("({a} if {c} else {b})")
            }
        }
    }

    fn joined_truth(&mut self) {
        let c = self.truth(2);
        match self.rng.below(3) {
            0 => {
                let (a, b) = (self.int(1), self.int(1));
                self.add_up(&format!("choose({c}, {a}, {b})"));
            }
            1 => {
                let d = self.truth(1);
                self.add_up(&format!("both({c}, {d})"));
            }
            _ => {
                let v = self.keep(&c);
                let d = self.truth(1);
                self.block(&format!("if {v} and {d}:"), |w| w.add_up("11"));
                self.block(&format!("elif not {v}:"), |w| w.add_up("13"));
            }
        }
    }

    fn jumps_through_finally(&mut self, depth: usize, result: Option<Ty>) {
        let x = self.name();
        let n = self.rng.between(2..5);
        self.loops += 1;
        self.block(&format!("for {x} in range({n}):"), |w| {
            w.scope(&[(x.as_str(), Int)]);
            w.block("try:", |w| {
                let c = w.bool(1);
                let mut jumps = vec!["break".to_owned(), "continue".to_owned()];
                if let Some(ty) = result {
                    let e = w.expr(ty, 1);
                    jumps.push(format!("return {e}"));
                    jumps.push(format!("raise Stop({x})"));
                }
                let jump = jumps.swap_remove(w.rng.below(jumps.len()));
                w.block(&format!("if {c}:"), |w| {
                    w.body(0, None);
                    w.line(&jump);
                });
                if depth > 0 {
                    w.statement(depth - 1, result);
                }
                w.add_up(&x);
            });
            if w.rng.bool() {
                w.block("except Halt as e:", |w| w.add_up("e.n"));
            }
            w.block("finally:", |w| w.add_up("17"));
        });
        self.loops -= 1;
    }

    fn levels_of_handlers(&mut self, depth: usize) {
        let (e, c) = (self.int(1), self.bool(1));
        let class = self.pick(&["Stop", "Halt"]);
        self.block("try:", |w| {
            w.block("try:", |w| {
                w.block("try:", |w| {
                    w.block(&format!("if {c}:"), |w| {
                        w.line(&format!("raise {class}({e})"));
                    });
                    w.add_up("3");
                });
                w.block("except Halt as e:", |w| {
                    w.line("raise Stop(intmask(e.n * 3))");
                });
                w.block("else:", |w| w.body(depth.min(1), None));
            });
            w.block("finally:", |w| w.add_up("5"));
        });
        self.block("except Stop as e:", |w| w.add_up("e.n"));
    }

    fn list_of_pairs(&mut self) {
        let (ints, words) = (self.expr(Ints, 1), self.expr(Strs, 1));
        let l = self.keep(&format!(
            "[(n, w) for n in ({ints})[:3] for w in ({words})[:3]]"
        ));
        let (n, s) = (self.name(), self.name());
        let i = self.int(1);
        self.block(&format!("if len({l}) > 2:"), |w| {
            w.line(&format!("{l}[{i} % len({l})] = (len({l}), 'new')"));
            w.line(&format!("{l}.append({l}.pop(0))"));
            w.line(&format!("{l}.reverse()"));
        });
        self.block(&format!("for {n}, {s} in {l}:"), |w| {
            w.scope(&[(n.as_str(), Int), (s.as_str(), Str)]);
            let e = w.int(2);
            w.add_up(&format!("({n} ^ len({s}) ^ {e})"));
        });
        self.block(&format!("if (3, 'new') in {l}:"), |w| w.add_up("19"));
    }

    fn generated_pairs(&mut self) {
        let words = self.expr(Strs, 1);
        let (i, s) = (self.name(), self.name());
        self.block(&format!("for {i}, {s} in pairs({words}):"), |w| {
            w.scope(&[(i.as_str(), Int), (s.as_str(), Str)]);
            w.line(&format!("if {i} > 9: break"));
            let e = w.int(2);
            w.add_up(&format!("({i} + len({s}) ^ {e})"));
        });
    }

    /// Values of a dict change while it is walked, keys are taken out of a copy.
    fn changed_values(&mut self) {
        let d = self.expr(Dict, 1);
        let d = self.keep(&format!("({d}).copy()"));
        let k = self.name();
        let e = self.int(1);
        self.block(&format!("for {k} in {d}:"), |w| {
            w.line(&format!("{d}[{k}] = intmask({d}[{k}] + len({k}) * ({e}))"));
        });
        self.block(&format!("for {k} in {d}.keys():"), |w| {
            w.line(&format!("if len({k}) & 1: del {d}[{k}]"));
        });
        self.block(&format!("for {k} in {d}.values():"), |w| {
            w.line(&format!("state.total = intmask(state.total + {k})"));
        });
        self.add_up(&format!("len({d})"));
    }

    fn dynamic_class(&mut self) {
        let e = self.int(1);
        let a = self.keep(&format!("ANIMALS[({e}) & 3]"));
        let n = self.int(1);
        self.block("try:", |w| {
            w.line(&format!("print '[' + {a}.noise({n}) + ']', {a}.legs"));
            w.add_up(&format!("{a}.walk({n})"));
        });
        self.block("except Stop as e:", |w| w.add_up("e.n"));
        self.block(&format!("if isinstance({a}, Duck):"), |w| {
            w.add_up(&format!("{a}.swim({n})"));
        });
        self.block(&format!("elif isinstance({a}, Bird):"), |w| w.add_up("23"));
        if self.rng.bool() {
            let legs = self.rng.below(7);
            self.line(&format!("{a} = Duck()"));
            self.line(&format!("{a}.legs = {legs}"));
            self.add_up(&format!("{a}.walk({n})"));
        }
    }

    fn reraised(&mut self) {
        let n = self.int(1);
        self.block("try:", |w| {
            w.block("try:", |w| w.line(&format!("stop({n})")));
            w.block("except Stop as e:", |w| {
                w.add_up("e.n");
                w.line("raise");
            });
        });
        self.block("except Halt:", |w| w.add_up("29"));
        self.block("except Stop as e:", |w| w.add_up("e.n + 1"));
    }

    /// What is known of a variable after tests and assertions.
    fn narrowed(&mut self) {
        let m = self.expr(Maybe, 2);
        let o = self.expr(Object, 1);
        let m = self.keep(&format!("({m})"));
        self.block(&format!("if {m} is None or {m}.next is None:"), |w| {
            w.line(&format!("{m} = {o}"));
        });
        self.line(&format!("assert {m} is not None"));
        self.block(
            &format!("while {m}.next is not None and {m}.next is not {m} and {m}.n > 3:"),
            |w| {
                w.line(&format!("{m}.n = 2"));
                w.line(&format!("{m} = {m}.next"));
                w.line(&format!("assert {m} is not None"));
            },
        );
        self.add_up(&format!("{m}.n + {m}.kind"));
    }

    fn nested_loops(&mut self) {
        let (x, y, z) = (self.name(), self.name(), self.name());
        let (a, b, e) = (self.int(1), self.int(1), self.int(1));
        self.line(&format!("{z} = {e}"));
        self.block(&format!("for {x} in range(({a}) & 3, 5):"), |w| {
            w.block(&format!("for {y} in range(6, {x}, -2):"), |w| {
                w.line(&format!("if {x} == {y}: break"));
                w.line(&format!("if {y} & 2: continue"));
                w.line(&format!("{z} = intmask({z} * 3 + {x} - {y})"));
            });
            w.block("else:", |w| {
                w.line(&format!("{z} ^= {b}"));
            });
        });
        self.add_up(&z);
    }

    fn unicode(&mut self) {
        let (s, n) = (self.expr(Str, 1), self.int(1));
        let u = self.keep(&format!(
            "unicode(''.join([c for c in {s} if ord(c) < 128]))"
        ));
        self.line(&format!("{u} = {u} + unichr(200 + (({n}) & 1023)) + u'z'"));
        match self.rng.below(4) {
            0 => self.line(&format!("{u} = {u}.replace(u'a', u'b')")),
            1 => self.line(&format!("{u} = {u} * (({n}) & 3)")),
            2 => self.line(&format!("{u} = u'-'.join([{u}, u'q', {u}])")),
            _ => self.line(&format!("{u} = {u}[1:]")),
        }
        self.line(&format!("print '[' + {u}.encode('utf-8') + ']', len({u})"));
        self.add_up(&format!("{u}.find(u'z')"));
    }

    /// An integer, by way of other kinds of them.
    pub(super) fn other_integers(&mut self, a: &str, d: usize) -> String {
        let b = self.int(d);
        match self.rng.below(12) {
            0 => format!("intmask(r_uint({a}) + r_uint({b}))"),
            1 => format!("intmask(r_uint({a}) * r_uint({b}))"),
            2 => format!("intmask(r_uint({a}) // (r_uint({b}) | r_uint(1)))"),
            3 => format!("intmask(r_uint({a}) % (r_uint({b}) | r_uint(1)))"),
            4 => format!("intmask(r_uint({a}) >> (({b}) & 63))"),
            5 => format!("intmask(r_uint({a}) << (({b}) & 63))"),
            6 => format!("int(r_uint({a}) < r_uint({b}))"),
            7 => format!("intmask(~r_uint({a}))"),
            8 => format!("intmask(r_longlong({a}) ^ r_longlong({b}))"),
            9 => format!("int(r_longlong({a}) >= r_longlong({b}))"),
            10 => format!("CLOSURES[({a}) & 3]({b})"),
            _ => format!("choose({}, {a}, {b})", self.truth(1)),
        }
    }

    /// A string, by slices and the rarer methods.
    pub(super) fn other_text(&mut self, s: &str, d: usize) -> String {
        let n = self.int(d);
        match self.rng.below(12) {
            0 => format!("('ab' + {s})[({n}) & 1:(({n}) & 3) + 2]"),
            1 => format!("('abc' + {s})[:-1][({n}) & 1:]"),
            2 => format!("({s})[:][:6]"),
            3 => format!("'-'.join(({s}).split(' ', 1))"),
            4 => format!("'-'.join(({s}).rsplit(',', 1))"),
            5 => format!("({s} + 'x').lstrip('a')"),
            6 => format!("({s} + ' ').rstrip()"),
            7 => format!("('%s-%x' % ({s}[:5], ({n}) & 255))"),
            8 => format!("('%d%s%o' % ({n}, {s}[:2], ({n}) & 63))"),
            9 => format!("str(int(({s} + '0').isdigit()) + 2 * int(({s} + 'a').isalpha()))"),
            10 => format!("('%.2f' % {})", self.float(d)),
            _ => format!("oct(({n}) & 0xfff)"),
        }
    }
}
