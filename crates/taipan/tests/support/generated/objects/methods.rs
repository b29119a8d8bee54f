//! Classes and their methods.

use super::{Class, Mixin, Ty, Value, Writer};

/// The methods that the root class has, so that every object has them.
const METHODS: [&str; 7] = ["ident", "calc", "show", "size", "peer", "grow", "at"];

impl Writer<'_> {
    /// The mixins and the classes.
    pub(super) fn hierarchy(&mut self) {
        for i in 0..4 {
            self.mixin(i);
        }
        self.root();
        for i in 1..self.rng.between(8..14) {
            self.subclass(i);
        }
    }

    fn root(&mut self) {
        self.block("class C0(object):", |w| {
            w.attributes(0);
            w.block("def __init__(self, n, s):", |w| {
                w.line("self.n = n");
                w.line("self.s = s");
                w.line("self.next = None");
            });
            for name in METHODS {
                w.method(name, None, false);
            }
        });
        self.classes.push(Class {
            base: None,
            value: None,
            extra: false,
            mixins: Vec::new(),
        });
    }

    fn attributes(&mut self, i: usize) {
        let factor = self.rng.between(1..9);
        self.line(&format!("kind = {i}"));
        self.line(&format!("tag = 't{i}'"));
        self.line(&format!("factor = {factor}"));
    }

    fn mixin(&mut self, i: usize) {
        let base = (i > 0 && self.once_in(2)).then(|| self.rng.below(i));
        let inherits = base.is_some_and(|b| self.mixins[b].shows);
        let own: Vec<&str> = (METHODS.into_iter())
            .filter(|_| self.rng.below(5) < 2)
            .collect();
        let below = base.map_or("object".to_owned(), |b| format!("M{b}"));
        self.block(&format!("class M{i}({below}):"), |w| {
            w.line("_mixin_ = True");
            w.line("@staticmethod");
            w.line(&format!("def raised{i}(n): return (n * {}) & 0xff", i + 3));
            for name in &own {
                let helped = matches!(*name, "calc" | "at").then_some(i);
                w.method(name, helped, *name == "show");
            }
        });
        self.mixins.push(Mixin {
            base,
            shows: inherits || own.contains(&"show"),
        });
    }

    /// A mixin and what it is made of.
    fn parts_of(&self, mixin: usize) -> Vec<usize> {
        let mut parts = vec![mixin];
        while let Some(b) = parts.last().and_then(|m| self.mixins[*m].base) {
            parts.push(b);
        }
        parts
    }

    fn subclass(&mut self, i: usize) {
        let base = self.rng.below(i);
        let inherited = self.classes[base].value;
        let value = match inherited {
            Some(v) => Some(v),
            None if self.rng.bool() => Some([Value::Int, Value::Str][self.rng.below(2)]),
            None => None,
        };
        let mut all = self.classes[base].mixins.clone();
        let mut mixed = Vec::new();
        let mut order: Vec<usize> = (0..self.mixins.len()).collect();
        self.rng.shuffle(&mut order);
        for m in order {
            let parts = self.parts_of(m);
            let known = parts.iter().any(|p| all.contains(p));
            if self.rng.bool() && !known && (value.is_some() || !self.mixins[m].shows) {
                all.extend(parts);
                mixed.push(m);
            }
        }
        let mut bases: Vec<String> = mixed.iter().map(|m| format!("M{m}")).collect();
        let place = if self.once_in(5) { 0 } else { bases.len() };
        bases.insert(place, format!("C{base}"));
        let extra = self.rng.below(3) > 0;
        self.block(&format!("class C{i}({}):", bases.join(", ")), |w| {
            w.attributes(i);
            if extra || value != inherited {
                w.block("def __init__(self, n, s):", |w| {
                    w.line(&format!("C{base}.__init__(self, n, s)"));
                    match value.filter(|_| inherited.is_none()) {
                        Some(Value::Int) => w.line(&format!("self.val = n + {i}")),
                        Some(Value::Str) => w.line(&format!("self.val = s + '{i}'")),
                        None => {}
                    }
                    if extra {
                        w.line(&format!("self.e{i} = n * {i} + 1"));
                    }
                });
            }
            for name in METHODS {
                if w.once_in(4) {
                    w.own_method(name, base, value.is_some());
                }
            }
        });
        self.classes.push(Class {
            base: Some(base),
            value,
            extra,
            mixins: all,
        });
    }

    /// A method of a class, which may ask that of a base class.
    fn own_method(&mut self, name: &str, base: usize, reads_value: bool) {
        // What a mixin gave the base class is no method of one class to RPython.
        let plain = self.classes[base].mixins.is_empty();
        let up = if plain { base } else { 0 };
        match name {
            "ident" if self.rng.bool() => {
                self.block("def ident(self):", |w| {
                    w.line(&format!("return (C{up}.ident(self) + '^')[:20]"));
                });
            }
            "calc" if self.rng.bool() => {
                self.block("def calc(self, k):", |w| {
                    w.line(&format!("return (C{up}.calc(self, k) + self.n) & 0xfff"));
                });
            }
            _ => self.method(name, None, reads_value),
        }
    }

    /// A method of a mixin with that number, or of a class; `show` may read `val`.
    fn method(&mut self, name: &str, mixin: Option<usize>, reads_value: bool) {
        let vars = std::mem::take(&mut self.vars);
        self.add("self.n", Ty::Int);
        self.add("self.factor", Ty::Int);
        self.add("self.s", Ty::Str);
        self.add("self.tag", Ty::Str);
        match name {
            "ident" => self.block("def ident(self):", |w| {
                let e = w.plain_str();
                w.line(&format!("return ({e} + self.tag)[:20]"));
            }),
            "show" => self.block("def show(self):", |w| {
                let e = w.plain_str();
                match reads_value {
                    true => w.line(&format!("return (str(self.val) + {e})[:20]")),
                    false => w.line(&format!("return ('-' + {e})[:20]")),
                }
            }),
            "calc" => self.block("def calc(self, k):", |w| {
                w.add("k", Ty::Int);
                if w.once_in(3) {
                    w.block("if self.next is not None and 0 < k < 5:", |w| {
                        w.line("return (self.next.calc(k - 1) + self.factor) & 0xfff");
                    });
                }
                let e = w.plain_int(2);
                match mixin.filter(|_| w.rng.bool()) {
                    Some(m) => w.line(&format!("return self.raised{m}({e}) + self.factor")),
                    None => w.line(&format!("return {e}")),
                }
            }),
            "at" => {
                self.line("@specialize.arg(1)");
                self.block("def at(self, k):", |w| {
                    let (a, b) = (w.plain_int(1), w.plain_int(1));
                    w.line(&format!("if k == 0: return {a}"));
                    match mixin {
                        Some(m) => w.line(&format!("return self.raised{m}({b}) - k")),
                        None => w.line(&format!("return {b} + k")),
                    }
                });
            }
            "size" => {
                self.line("@property");
                self.block("def size(self):", |w| {
                    let e = w.plain_int(2);
                    w.line(&format!("return {e}"));
                });
            }
            "peer" => self.block("def peer(self, o):", |w| {
                let c = w.rng.below(9);
                w.block("if o is not None and o.n & 1:", |w| w.line("return o"));
                w.block(
                    &format!("if self.n == {c} and self.next is not None:"),
                    |w| {
                        w.line("return self.next");
                    },
                );
                w.line("return self");
            }),
            _ => self.block("def grow(self, k):", |w| {
                w.add("k", Ty::Int);
                let e = w.plain_int(2);
                w.line(&format!("self.n = {e} & 0xff"));
                if reads_value && w.rng.bool() {
                    w.line("self.val = self.val");
                }
                w.line("return self");
            }),
        }
        self.vars = vars;
    }

    /// An integer out of what is in scope, without calls.
    fn plain_int(&mut self, d: usize) -> String {
        if d == 0 || self.once_in(4) {
            return match self.var(Ty::Int) {
                Some(v) if self.rng.bool() => v,
                _ => self.rng.below(10).to_string(),
            };
        }
        let (a, b) = (self.plain_int(d - 1), self.plain_int(d - 1));
        let op = self.pick(&["+", "*", "^", "-"]);
        format!("(({a} {op} {b}) & 0xfff)")
    }

    fn plain_str(&mut self) -> String {
        match self.rng.below(3) {
            0 => format!("str({})", self.plain_int(2)),
            1 => "self.s".to_owned(),
            _ => "self.tag".to_owned(),
        }
    }
}
