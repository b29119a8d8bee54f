//! Units of import time are replayed after edits, and the image is the one of a fresh database.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use taipan_base::Program;
use taipan_interp::{image, replayed_steps};
use taipan_testkit::TestDb;
use taipan_testkit::fuzz::{Choices, Target};

mod lines;

/// What import time may take here.
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
    /// Lines in front of the functions.
    blank: usize,
    data: usize,
    helper: usize,
}

fn piece(choices: &mut Choices<'_>) -> (usize, usize) {
    (choices.below(PIECES.len()), 1 + choices.below(4))
}

impl Source {
    fn new(choices: &mut Choices<'_>) -> Source {
        let functions = 3 + choices.below(4);
        let functions = (0..functions)
            .map(|_| (0..1 + choices.below(5)).map(|_| piece(choices)).collect())
            .collect::<Vec<_>>();
        let calls = (0..6 + choices.below(24))
            .map(|_| (choices.below(functions.len()), choices.below(4)))
            .collect();
        Source {
            functions,
            calls,
            blank: 0,
            data: 3,
            helper: 0,
        }
    }

    fn edit(&mut self, choices: &mut Choices<'_>) {
        let f = choices.below(self.functions.len());
        let len = self.functions[f].len();
        match choices.below(10) {
            0..4 if len > 0 => {
                let at = choices.below(len);
                self.functions[f][at].1 = 1 + choices.below(4);
            }
            4 => {
                let new = piece(choices);
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
        for (i, pieces) in self.functions.iter().enumerate() {
            let _ = writeln!(main, "def f{i}(x):\n    s = 0");
            let _ = writeln!(main, "    registry = registries[{i}]");
            let _ = writeln!(main, "    for i in xrange(3000): s += i * x % 7");
            if i > 0 {
                let _ = writeln!(main, "    if x & 1: f{}(x + 2)", i - 1);
            }
            for (piece, k) in pieces {
                let text = PIECES[*piece].replace('K', &k.to_string());
                for line in text.lines() {
                    let _ = writeln!(main, "    {line}");
                }
            }
            let _ = writeln!(main, "    return s");
        }
        for (f, x) in &self.calls {
            let _ = writeln!(main, "try: f{f}({x})");
            main.push_str("except Exception, e: registry.append(type(e).__name__)\n");
        }
        main.push_str(
            "print registry, registries, helper.seen, sorted(names), len(cache), id(registry)\n",
        );
        main.push_str("def entry_point(argv): return len(registry)\n");
        let helper = HELPER.replace("1500", &(1500 + self.helper).to_string());
        vec![
            ("/main.py", main),
            ("/helper.py", helper),
            ("/late.py", LATE.to_owned()),
            ("/data.txt", "a".repeat(self.data)),
            ("/data/1", String::new()),
        ]
    }
}

/// All that there is to an image, as lines in a certain order.
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
    let replayed = AtomicU64::new(0);
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
    // That of all edits.
    let share = replayed.into_inner() / (24 * 6);
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
    // They read what `a` changes.
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
