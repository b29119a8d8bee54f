//! Units of import time are replayed after edits, and the image equals that of a fresh database.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use taipan_base::Program;
use taipan_interp::{image, replayed_steps};
use taipan_testkit::TestDb;
use taipan_testkit::fuzz::{Choices, Target};

mod lines;

/// Maximum number of steps of import time.
const STEPS: u64 = 20_000_000;

/// Statements in which `K` is a number that edits change. They are in functions with a parameter `x`, and in a loop. The
/// functions and the loop take enough steps to be units when they run again.
const PIECES: &[&str] = &[
    "registry.append(x + K)\n",
    "@register('f%d' % K)\ndef made(y): return x + y + K\n",
    "made = Meta('Made%d' % K, (Base,), {'k': K})\nregistry.append(made().k)\n",
    "o = Base()\no.k = K\ncache[id(o)] = o\nregistry.append(hash(o) % 97 + id(o) % 89)\n",
    "o = Base()\ncache[o] = K\nregistry.append(len(cache))\n",
    "cache.setdefault(K, []).append(repr(Base()))\n",
    "for k, v in cache.items():\n    if v == K: del cache[k]; break\n",
    "sys.modules['fake%d' % K] = helper\nimport fake1\nregistry.append(fake1.value)\n",
    "helper.value += K\n",
    "setattr(helper, 'extra%d' % K, lambda: x)\n",
    "helper.one = lambda: K\n",
    "registry.append(helper.one())\n",
    "registry.append(sorted(globals())[K])\n",
    "registry.append(len(globals().keys()) + len(vars(helper)))\n",
    "globals()['global%d' % K] = x\n",
    "registry.append([n for n in dir(Base) if n[0] != '_'])\n",
    "Base.late = K\nregistry.append(Base().late)\n",
    "def method(self): return K + x\nBase.method = method\n",
    "registry.append(Base().method())\n",
    "o = Base()\nrefs.append(weakref.ref(o))\nkept.append(o)\n",
    "registry.append(len([r for r in refs if r() is not None]))\n",
    "registry.append(open('/data.txt').read().count('a') + K)\n",
    "registry.append(sorted(os.listdir('/data')))\nregistry.append(os.path.exists('/data/%d' % K))\n",
    "f = open('/tmp/w%d' % K, 'a')\nf.write('xy')\nf.close()\n",
    "registry.append(os.path.exists('/tmp/w1') and open('/tmp/w1').read())\n",
    "try:\n    raise ValueError(K)\nexcept ValueError, e:\n    registry.append(e.args)\n    kept.append(e)\n",
    "registry.append(str(sys.exc_info()[1]))\n",
    "try:\n    raise prebuilt\nexcept KeyError:\n    registry.append('caught %d' % K)\n",
    "raise ValueError(K)\n",
    "registry.append(next(shared) + K)\n",
    "mine = counter(K)\nnext(mine)\nkept.append(mine)\n",
    "if kept and hasattr(kept[-1], 'next'): registry.append(kept[-1].next())\n",
    "names['n%d' % (x % 2)] = 'n' + str(K)\n",
    "names['same'] = names.get('n0')\nregistry.append(names['same'] is names.get('n0'))\n",
    "registry.append(names.get('n0') is names.get('n1') or names.get('n0') is names.get('same'))\n",
    "t = (x, K)\nnames['t'] = t\nregistry.append(t is names['t'] and names['t'] is not (x, K))\n",
    "registry.append(names.get('t') is names.get('u'))\nnames['u'] = names.get('t')\n",
    "names['m'] = Base().method\nregistry.append(names['m'] is names.get('l'))\nnames['l'] = names['m']\n",
    "def inner(): return x * K\nregistry.append(inner())\nkept.append(inner)\n",
    "registry.append([f() for f in kept if callable(f) and getattr(f, '__name__', '') == 'inner'])\n",
    "registry.append(int(random.random() * 100))\n",
    "registry.append(time.clock())\n",
    "registry.append(sys._getframe(1).f_code.co_name)\n",
    "f = sys._getframe(0).f_code\nregistry.append((f.co_firstlineno, f.co_varnames, f.co_argcount))\n",
    "registry.append(last.func_code.co_varnames)\nregistry.append(last.__doc__)\n",
    "print 'piece', x, K,\n",
    "print\n",
    "registry.sort()\nregistry[:] = registry[K:]\n",
    "names.pop('n%d' % K, None)\n",
    "exec 'dyn%d = x * 2' % K\nexec 'gdyn%d = 2' % K in globals()\n",
    "registry.append(eval('x + %d' % K))\n",
    "import late\nregistry.append(late.count(K))\n",
    "for i in range(9):\n    if i == K: break\n    for j in (1, 2): pass\n",
    "for i in [1, 2, 3]:\n    if i == K: return i\n",
    "def deep(n): return deep(n + 1)\ntry: deep(0)\nexcept RuntimeError: registry.append('deep')\n",
    "class Old:\n    k = K\n    def __len__(self): return self.k\nkept.append(Old())\nregistry.append(len(Old()))\n",
    "class Slots(object):\n    __slots__ = ('a',)\n    p = property(lambda self: K)\nregistry.append(Slots().p)\n",
    "reload(late)\n",
    "a = lltype.malloc(CHARS, K + 1, immortal=True)\na[0] = 'x'\nkept.append(a)\n",
    "S = lltype.GcStruct('S', ('x', lltype.Signed), adtmeths={'k': K})\nregistry.append(S.k)\n",
    "registry.append(re.match('a*', 'a' * K).end())\n",
    "held[K % 3] = held[(K + 1) % 3]\nregistry.append(held[0] is held[1])\n",
    "held[0] = [K, x]\n",
    "s = set([x, K]) | frozenset([1])\nregistry.append(sorted(s))\n",
    "nested(x + K)\n",
    "tmp = [K]\n",
    "tmp = [[i] for i in range(K)]\n",
    "gc.collect()\nregistry.append([r() is None for r in refs])\n",
    "refs.append(weakref.ref(Base()))\n",
    "registry.append(id(f0) % 1000 + hash(f1) % 1000)\n",
    "registry.append(cmp(Base(), kept[0]) if kept else None)\n",
    "class Freezing(object):\n    def _freeze_(self):\n        registry.append(K)\n        f0(K)\n        f0(K)\n        return True\nkept.append(Freezing())\n",
    "class Refusing(object):\n    def _freeze_(self):\n        f1(K)\n        if registry[0] == K: raise TypeError('no')\n        return False\nkept.append(Refusing())\n",
    "sys.stdout.write('out %d' % K)\n",
    "super(Base, Base()).__init__()\n",
    "kept.append(iter([K, x]))\n",
    "kept.append(enumerate('abc'))\nregistry.append(kept[-1].next())\n",
    "registry.append([c.__name__ for c in Base.__subclasses__()])\n",
    "registry.append(sorted(Base.__subclasses__()) == Base.__subclasses__())\n",
    "registry.append([n for n in Base.__dict__.keys() if n[0] != '_'][-K:])\n",
    "registry.append('top%d' % K in globals())\n",
    "registry.append(topK(x))\n",
    "registry.append(sig(x))\n",
    "registry.append(sig.func_defaults)\n",
    "registry.append(clo(x))\n",
    "kept.append(Top())\nregistry.append(kept[-1].method())\n",
    "registry.append(hash(Top) % 97 + hash(topK) % 89)\n",
    "cache[Top] = x\ncache[topK] = x\n",
    "registry.append(cache.get(Top, 0))\n",
    "table['k%d' % K] = x\n",
    "registry.append(table.get('a'))\n",
    "registry.append(len(table))\nregistry.append([k for k in table if isinstance(k, str)])\n",
    "del table['k%d' % K]\n",
    "registry.append(table.pop('k%d' % K, None))\n",
    "globals().pop('dyn', None)\n",
    "Top.late = x\nTop.method = lambda self: x\n",
    "registry.append(helper.more1(x))\n",
    "registry.append(helper.More().k)\nclass More(helper.More): pass\nkept.append(More())\n",
    "registry.append(sorted(set([Base, Top, Meta])).index(Top))\n",
    "registry.append(len(names))\nregistry.append(names.keys()[-1])\n",
    "registry.append(names['decorated'](x))\n",
    "registry.append([k for k in sys.modules if k[:4] in ('fake', 'late')])\n",
    "for c in Base.__subclasses__(): c.seen = getattr(c, 'seen', 0) + K\n",
    "Top.__bases__ = (Base,)\n",
    "kept.append(table)\nkept.append([top1, Top])\n",
    "registry.append(topK is names.get('top'))\n",
    "names['top'] = topK\n",
];

/// Statements of the module itself.
const TOPS: &[&str] = &[
    "def topK(y): return y + K\n",
    "def top1(y): return y * K\n",
    "class Top(Base):\n    k = K\n    def method(self): return self.k\n",
    "class Top(Base):\n    def methodK(self): return K\n",
    "class Top(object):\n    __slots__ = ('k',)\n    def method(self): return K\n",
    "class Other(Base): pass\n",
    "@register('decorated')\ndef decorated(y): return y - K\n",
    "@register('d%d' % K)\ndef decorated(y): return y - K\n",
    "table = {'a': K, Base: 1, 'b': [K]}\n",
    "table = {'a': K, 'c': {}}\n",
    "table['top%d' % K] = [K]\n",
    "Base.top = K\n",
    "Base.topK = lambda self: K\n",
    "lam = lambda y: y + K\nkept.append(lam)\n",
    "cache[Base] = K\n",
    "cache[id(Meta)] = K\n",
    "names['lam%d' % K] = lambda y: y * K\n",
    "kept.append([[i] for i in range(K)])\n",
    "dyn = K\n",
    "globals()['dyn%d' % K] = K\n",
    "globals().pop('dyn', None)\n",
    "from late import *\n",
    "from helper import one as topK\n",
    "def sig(a, b=K): return a + b\n",
    "def sig(a): return a + K\n",
    "def sig(*a): return a\n",
    "def closure(n):\n    def g(y): return y + n + K\n    return g\nclo = closure(K)\n",
    "registry.append(len(globals()))\n",
    "o = Base()\nkept.append(o)\nregistry.append(id(o) % 97)\n",
    "refs.append(weakref.ref(Base()))\n",
    "def method(self): return K\nBase.method = method\n",
    "registry.append(K)\n",
    "for i in range(K): kept.append(Base())\n",
    "helper.value = K\n",
    "print 'top', K\n",
    "held[0] = [K]\n",
    "names['text'] = 't' + str(K)\n",
];

/// Statements of the module `helper`.
const HELPER_TOPS: &[&str] = &[
    "def moreK(n): return n + K\n",
    "def more1(n): return n - K\n",
    "class More(object):\n    k = K\n",
    "class More(object):\n    def extra(self): return K\n    k = 2\n",
    "table = {'h': K}\n",
    "value += K\n",
    "extraK = [K]\n",
    "def one(): return K\n",
];

const HEAD: &str = "\
import sys, os, gc, re, random, time, weakref, helper
from rpython.rtyper.lltypesystem import lltype
CHARS = lltype.GcArray(lltype.Char)
registry = []
registries = [[] for _ in range(9)]
cache = {}
names = {}
refs = []
kept = []
held = [None, None, None]
prebuilt = KeyError('prebuilt')
class Meta(type):
    def __init__(cls, name, bases, d):
        registry.append(name)
class Base(object):
    __metaclass__ = Meta
    def method(self): return 0
def register(name):
    def with_name(f):
        names[name] = f
        return f
    return with_name
def counter(n):
    while True:
        n += 1
        yield n
shared = counter(0)
def nested(x):
    s = 0
    for i in xrange(1500): s += i % 7
    helper.seen.append(x)
    return helper.twice(s)
def last(a, b=1):
    'doc'
    c = a
    return c
";

const HELPER: &str = "\
value = 1
seen = []
def one(): return 1
def twice(n):
    s = 0
    for i in xrange(1500): s += i & 3
    seen.append(n)
    return 2 * n + s
";

const LATE: &str = "\
calls = []
def count(n):
    calls.append(n)
    return len(calls)
";

/// A program of functions, each with some pieces, and calls of them.
#[derive(Clone)]
struct Source {
    functions: Vec<Vec<(usize, usize)>>,
    calls: Vec<(usize, usize)>,
    /// Statements of the module, each with the number of functions and calls in front of it.
    tops: Vec<(usize, (usize, usize))>,
    helper_tops: Vec<(usize, usize)>,
    /// Lines in front of the functions.
    blank: usize,
    data: usize,
    helper: usize,
}

fn statement(choices: &mut Choices<'_>, of: &[&str]) -> (usize, usize) {
    (choices.below(of.len()), 1 + choices.below(4))
}

fn text(of: &[&str], (which, k): (usize, usize)) -> String {
    of[which].replace('K', &k.to_string())
}

impl Source {
    fn new(choices: &mut Choices<'_>) -> Source {
        let functions = 3 + choices.below(4);
        let functions = (0..functions)
            .map(|_| {
                (0..1 + choices.below(5))
                    .map(|_| statement(choices, PIECES))
                    .collect()
            })
            .collect::<Vec<_>>();
        let calls = (0..6 + choices.below(24))
            .map(|_| (choices.below(functions.len()), choices.below(4)))
            .collect();
        let tops = (0..choices.below(12)).map(|_| (choices.below(20), statement(choices, TOPS)));
        let tops = tops.collect();
        let helper_tops = (0..choices.below(4)).map(|_| statement(choices, HELPER_TOPS));
        Source {
            functions,
            calls,
            tops,
            helper_tops: helper_tops.collect(),
            blank: 0,
            data: 3,
            helper: 0,
        }
    }

    fn edit(&mut self, choices: &mut Choices<'_>) {
        let f = choices.below(self.functions.len());
        let len = self.functions[f].len();
        match choices.below(22) {
            10..13 => {
                let new = (choices.below(20), statement(choices, TOPS));
                self.tops.insert(choices.below(self.tops.len() + 1), new);
            }
            13..17 if !self.tops.is_empty() => {
                let at = choices.below(self.tops.len());
                self.tops[at].1.1 = 1 + choices.below(4);
            }
            17 if !self.tops.is_empty() => {
                self.tops.remove(choices.below(self.tops.len()));
            }
            18 if !self.tops.is_empty() => {
                let at = choices.below(self.tops.len());
                self.tops[at].0 = choices.below(20);
            }
            19 => {
                let new = statement(choices, HELPER_TOPS);
                let at = choices.below(self.helper_tops.len() + 1);
                self.helper_tops.insert(at, new);
            }
            20 if !self.helper_tops.is_empty() => {
                let at = choices.below(self.helper_tops.len());
                self.helper_tops[at].1 = 1 + choices.below(4);
            }
            0..4 if len > 0 => {
                let at = choices.below(len);
                self.functions[f][at].1 = 1 + choices.below(4);
            }
            4 => {
                let new = statement(choices, PIECES);
                self.functions[f].insert(choices.below(len + 1), new);
            }
            5 if len > 0 => {
                self.functions[f].remove(choices.below(len));
            }
            6 => self.blank += 1,
            7 => self.data += 1,
            8 => self.helper += 1,
            _ => {
                let at = choices.below(self.calls.len());
                self.calls[at].1 = choices.below(4);
            }
        }
    }

    fn files(&self) -> Vec<(&'static str, String)> {
        let mut main = HEAD.to_owned() + &"\n".repeat(self.blank);
        let tops_behind = |main: &mut String, place| {
            for (at, top) in &self.tops {
                if *at == place {
                    main.push_str(&text(TOPS, *top));
                }
            }
        };
        for (i, pieces) in self.functions.iter().enumerate() {
            tops_behind(&mut main, i);
            let _ = writeln!(main, "def f{i}(x):\n    s = 0");
            let _ = writeln!(main, "    registry = registries[{i}]");
            let _ = writeln!(main, "    for i in xrange(3000): s += i * x % 7");
            if i > 0 {
                let _ = writeln!(main, "    if x & 1: f{}(x + 2)", i - 1);
            }
            for piece in pieces {
                for line in text(PIECES, *piece).lines() {
                    let _ = writeln!(main, "    {line}");
                }
            }
            let _ = writeln!(main, "    return s");
        }
        for (i, (f, x)) in self.calls.iter().enumerate() {
            tops_behind(&mut main, self.functions.len() + i);
            let _ = writeln!(main, "try: f{f}({x})");
            main.push_str("except Exception, e: registry.append(type(e).__name__)\n");
        }
        main.push_str(
            "print registry, registries, helper.seen, sorted(names), len(cache), id(registry)\n",
        );
        main.push_str("def entry_point(argv): return len(registry)\n");
        let mut helper = HELPER.replace("1500", &(1500 + self.helper).to_string());
        for top in &self.helper_tops {
            helper.push_str(&text(HELPER_TOPS, *top));
        }
        vec![
            ("/main.py", main),
            ("/helper.py", helper),
            ("/late.py", LATE.to_owned()),
            ("/data.txt", "a".repeat(self.data)),
            ("/data/1", String::new()),
        ]
    }
}

/// The contents of an image, as lines in a fixed order.
fn import(db: &TestDb, program: Program) -> Vec<String> {
    let image = image(db, program);
    let mut lines = lines::of_objects(image);
    #[expect(clippy::iter_over_hash_type, reason = "the lines are sorted")]
    for module in &image.modules {
        lines.push(lines::without_ids(&format!("{module:?}")));
    }
    #[expect(clippy::iter_over_hash_type, reason = "the lines are sorted")]
    for code in &image.ran {
        lines.push(format!(
            "ran {} {:?}",
            code.qualname(db),
            code.file(db).map(|f| f.path(db))
        ));
    }
    lines.sort();
    lines.push(format!("printed: {}", image.printed));
    lines.push(lines::without_ids(&format!("{:?}", image.diagnostics)));
    let files = image.files.iter().map(|f| f.path(db).to_string());
    lines.extend(files);
    lines
}

#[test]
fn images_after_edits_are_those_of_a_fresh_database() {
    let (replayed, edits) = (AtomicU64::new(0), AtomicU64::new(0));
    let target = Target::new("records").cases(24).bytes(512);
    target.run(|choices| {
        let mut source = Source::new(choices);
        let (mut db, program) = lines::fresh(&source.files(), STEPS);
        import(&db, program);
        for _ in 0..6 {
            let before = source.files();
            source.edit(choices);
            let files = source.files();
            lines::write(&mut db, &files);
            let warm = import(&db, program);
            let share = replayed_steps(&db, program).unwrap_or(0);
            replayed.fetch_add(share, Ordering::Relaxed);
            edits.fetch_add(1, Ordering::Relaxed);
            let (alone, alone_program) = lines::fresh(&files, STEPS);
            let alone = import(&alone, alone_program);
            let differs = warm.iter().zip(&alone).find(|(a, b)| a != b);
            assert!(
                warm.len() == alone.len() && differs.is_none(),
                "{differs:#?}\n{}\n----\n{}",
                before[0].1,
                files[0].1
            );
        }
    });
    // The share of all edits.
    let share = replayed.into_inner() / edits.into_inner().max(1);
    assert!(share >= 8, "{share} per cent are replayed");
}

/// A program whose functions `a`, `b` and `c` are called three times each.
fn program_of(a: &str, b: &str, c: &str) -> String {
    let mut text = String::from("seen = []\nshared = []\n");
    for (name, body) in [("a", a), ("b", b), ("c", c)] {
        let _ = writeln!(text, "def {name}(x):\n    s = 0");
        text.push_str("    for i in xrange(20000): s += i * x % 7\n");
        let _ = writeln!(text, "    {body}\n    return s");
    }
    text + "for i in range(3): a(i)\nfor i in range(3): b(i)\nfor i in range(3): c(i)\n\
        print seen, shared\ndef entry_point(argv): return 0\n"
}

/// The share of the steps, in per cent, that is replayed after an edit.
#[track_caller]
fn replayed(before: &str, after: &str) -> u64 {
    let mut db = TestDb::default();
    db.edit("/main.py", before);
    let program = Program::new(&db, "/main.py".into(), vec![], STEPS);
    import(&db, program);
    assert_eq!(replayed_steps(&db, program), None);
    // The second run is recorded.
    let recorded = before.replacen("s = 0", "s = 5", 1);
    db.edit("/main.py", &recorded);
    import(&db, program);
    assert_eq!(replayed_steps(&db, program), None);
    db.edit("/main.py", &after.replacen("s = 0", "s = 5", 1));
    let warm = import(&db, program);
    let share = replayed_steps(&db, program).expect("units are replayed");
    let (alone, alone_program) =
        lines::fresh(&[("/main.py", after.replacen("s = 0", "s = 5", 1))], STEPS);
    assert_eq!(warm, import(&alone, alone_program));
    share
}

#[test]
fn units_that_an_edit_does_not_reach_are_replayed() {
    let before = program_of("seen.append(1)", "shared.append(x)", "shared.append(x)");
    // The second and the third call of `b` and `c` out of nine calls.
    let other = program_of("seen.append(2)", "shared.append(x)", "shared.append(x)");
    assert!((40..50).contains(&replayed(&before, &other)));
    // They read an object that `a` changes.
    let all = program_of("shared.append(2)", "shared.append(x)", "shared.append(x)");
    assert_eq!(replayed(&before, &all), 0);
    // An edit without consequences.
    let none = program_of(
        "seen.append(True and 1)",
        "shared.append(x)",
        "shared.append(x)",
    );
    assert!((40..50).contains(&replayed(&before, &none)));
    let last = program_of(
        "seen.append(1)",
        "shared.append(x)",
        "shared.append(x); s += 1",
    );
    assert!((40..50).contains(&replayed(&before, &last)));
}

#[test]
fn a_few_more_objects_change_no_numbers() {
    let before = program_of("seen.append(1)", "shared.append([x])", "shared.append([x])");
    let after = program_of(
        "seen.append(1); [x]",
        "shared.append([x])",
        "shared.append([x])",
    );
    assert!((40..50).contains(&replayed(&before, &after)));
}

/// The share of the steps that is replayed after a text is put in front of a function.
#[track_caller]
fn replayed_with(before: &str, place: &str, new: &str) -> u64 {
    replayed(before, &before.replacen(place, &format!("{new}{place}"), 1))
}

#[test]
fn new_names_of_a_module_leave_the_units_that_do_not_read_them() {
    let before = program_of(
        "seen.append(1)",
        "shared.append([x])",
        "shared.append({x: f})",
    )
    .replacen(
        "def b",
        "class C(object):\n    k = 1\ndef f(): pass\ndef b",
        1,
    );
    let place = "class C";
    for new in [
        "def g(x): return x\n",
        "table = {'a': [1]}\n",
        "class D(object):\n    k = 1\n",
        "g = lambda x: x\n",
        "@staticmethod\ndef g(): pass\n",
    ] {
        let share = replayed_with(&before, place, new);
        assert!((60..70).contains(&share), "{new}: {share}");
    }
    let share = replayed_with(&before, "    k = 1", "    def m(self): pass\n");
    assert!((60..70).contains(&share), "{share}");
    // All functions read the name of a builtin, which the module now has.
    assert_eq!(replayed_with(&before, place, "xrange = xrange\n"), 0);
}

#[test]
fn iteration_over_names_of_a_module_sees_new_ones() {
    let before = program_of(
        "seen.append(1)",
        "seen.append(len(globals()))",
        "shared.append(x)",
    );
    // The calls of `b` run again.
    let share = replayed_with(&before, "def b", "def g(): pass\n");
    assert!((40..50).contains(&share), "{share}");
    let before = before.replacen("globals()", "object.__subclasses__()", 1);
    let share = replayed_with(&before, "def b", "class C(object): pass\n");
    assert!((40..50).contains(&share), "{share}");
}

#[test]
fn a_run_that_ends_early_keeps_the_record() {
    let before = program_of("seen.append(1)", "shared.append(x)", "shared.append(x)");
    let mut db = TestDb::default();
    db.edit("/main.py", &before);
    let program = Program::new(&db, "/main.py".into(), vec![], STEPS);
    import(&db, program);
    let recorded = format!("{before}print 1\n");
    db.edit("/main.py", &recorded);
    import(&db, program);
    db.edit("/main.py", &format!("0 / 0\n{recorded}"));
    import(&db, program);
    db.edit("/main.py", &recorded);
    import(&db, program);
    assert!(replayed_steps(&db, program).is_some_and(|share| share > 60));
}
