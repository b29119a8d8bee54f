//! Whatever stands in modules, import time ends, tells what is wrong, and leaves the same image
//! whatever was known before and on however many threads its files were compiled.

use std::fmt::Write as _;

use taipan_base::{Diagnostic, LineIndex, Program, Span};
use taipan_code::module_codes;
use taipan_interp::{image, image_diagnostics};
use taipan_testkit::fuzz::{Choices, Target};
use taipan_testkit::{TestDb, edited, slightly_damaged};

mod lines;

/// What import time may take here.
const STEPS: u64 = 100_000;

/// Pieces of modules: each stands by itself, or uses what others have.
const PIECES: &[&str] = &[
    "import sys, os, math, operator, types, struct, re, itertools\n",
    "from helper import *\n",
    "from helper import Base, table\nimport helper as h\n",
    "class Meta(type):\n    def __new__(cls, name, bases, d):\n        d['made'] = len(bases)\n        return type.__new__(cls, name, bases, d)\n    def __init__(cls, name, bases, d):\n        cls.registry = getattr(cls, 'registry', []) + [name]\n",
    "class A(object):\n    __metaclass__ = Meta\n    x = 1\n    def m(self, y=2, *args, **kwds): return self.x + y\n",
    "class B(A):\n    __slots__ = ('a', 'b')\n    def __getattr__(self, name): return name * 2\n    @property\n    def p(self): return self.m()\n    @classmethod\n    def c(cls): return cls()\n    @staticmethod\n    def s(n): return n\n",
    "b = B()\nvalue = b.p + B.s(3) + len(B.c().other)\n",
    "def gen(n):\n    for i in range(n):\n        got = yield i * i\n        if got: yield got\nsquares = list(gen(5)) + [i for i in gen(3) if i]\n",
    "exec 'made_by_exec = 1 + 2'\nresult = eval('made_by_exec * 7')\n",
    "exec '''def made(x):\n    return x + 1\n''' in globals()\n",
    "def deco(f):\n    def inner(*args): return f(*args)\n    inner.__name__ = f.__name__\n    return inner\n@deco\ndef decorated(a, b): return a - b\nd = decorated(5, 3)\n",
    "for _name in ['add', 'sub', 'mul']:\n    globals()['op_' + _name] = getattr(operator, _name)\n",
    "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfibs = [fib(i) for i in range(12)]\n",
    "try:\n    {}['missing']\nexcept KeyError as e:\n    caught = e.args\nfinally:\n    done = True\n",
    "try:\n    raise ValueError('x', 1)\nexcept (TypeError, ValueError), e:\n    text = str(e) + repr(e.args)\n",
    "def loop():\n    while True:\n        pass\n",
    "def deep(n): return deep(n + 1)\ntry:\n    deep(0)\nexcept RuntimeError:\n    limit = 'reached'\n",
    "table = dict((k, ord(k)) for k in 'hello')\nkeys = sorted(table.items(), key=lambda x: -x[1])\n",
    "big = 1 << 100\nbits = [big % 97, big // 3, -big, hex(big), long('123'), int(2.5e9)]\n",
    "text = 'a,b;c'.replace(';', ',').split(',')\nline = '%s %5.2f %r %x' % ('s', 1.5, None, 255)\n",
    "class Old:\n    def __len__(self): return 3\n    def __iter__(self): return iter([1, 2])\n    def __eq__(self, o): return True\n    def __del__(self): pass\nold = Old()\nflags = [len(old), list(old), old == 3]\n",
    "print 'printed', value if 'value' in dir() else None\n",
    "import helper; reload(helper)\n",
    "with open('/main.py') as f:\n    first = f.readline()\n",
    "global_list = []\ndef register(*args):\n    global_list.extend(args)\n    return register\nregister(1)(2, 3)(*[4, 5])\n",
    "from rpython.rlib.rarithmetic import intmask, r_uint, ovfcheck\nwide = r_uint(-1) >> 3\nnarrow = intmask(1 << 63)\n",
    "from rpython.rlib.objectmodel import specialize, we_are_translated, compute_hash\nhashed = compute_hash('abc')\n@specialize.argtype(0)\ndef spec(x): return x\n",
    "from rpython.rtyper.lltypesystem import lltype, rffi\nS = lltype.GcStruct('S', ('x', lltype.Signed), ('next', lltype.Ptr(lltype.GcForwardReference())))\n",
    "from rpython.rtyper.lltypesystem import lltype\nT = lltype.GcArray(lltype.Char)\na = lltype.malloc(T, 5)\na[0] = 'x'\n",
    "from rpython.rlib.unroll import unrolling_iterable\nnames = unrolling_iterable(['a', 'b'])\n",
    "def entry_point(argv):\n    return len(argv)\ndef target(driver, args):\n    return entry_point, None\n",
    "del value\n",
    "value = value + 1\n",
    "raise SystemExit\n",
    "assert 0, 'no'\n",
    "import missing\n",
    "class C(A, B): pass\n",
    "sys.setrecursionlimit(50)\n",
    "x = [0] * 1000\nx[5:900:3] = []\n",
    "n = sum(x * y for x in range(30) for y in range(30) if x != y)\n",
    "s = set([1, 2]) | frozenset([3])\nt = {1: {2: [3, (4,)]}}\nt[1][2].append(t)\n",
    "lambda_list = [lambda i=i: i for i in range(3)]\ncalled = [f() for f in lambda_list]\n",
    "m = re.match(r'(\\w+)-(\\d+)', 'ab-12')\ngroups = m.groups() if m else None\n",
    "packed = struct.pack('<ih', 1, 2)\nback = struct.unpack('<ih', packed)\n",
];

const HELPER: &str = "\
class Base(object):
    def __init__(self, n=0): self.n = n
table = {}
def add(name):
    def with_name(f):
        table[name] = f
        return f
    return with_name
@add('one')
def one(): return 1
counter = [0]
";

/// A module of some pieces, as it is or with damage.
fn module(choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    for _ in 0..1 + choices.below(9) {
        text.push_str(choices.of(PIECES));
    }
    spoiled(text, choices)
}

fn spoiled(mut text: String, choices: &mut Choices<'_>) -> String {
    for _ in 0..choices.below(4) {
        text = match choices.below(4) {
            0 => slightly_damaged(&text, choices),
            _ => edited(&text, choices),
        };
    }
    text
}

fn place(db: &TestDb, span: Option<Span>) -> String {
    span.map_or("nowhere".to_owned(), |s| {
        let text = s.file.text(db);
        assert!(
            text.get(s.range.start as usize..s.range.end as usize)
                .is_some()
        );
        let (line, column) = LineIndex::new(text).line_column(text, s.range.start);
        format!("{}:{line}:{column}", s.file.path(db))
    })
}

fn told(db: &TestDb, d: &Diagnostic) -> String {
    let mut out = format!("{} {} {}", place(db, d.primary), d.code, d.message);
    for n in &d.notes {
        let _ = write!(out, "; {} {}", place(db, n.span), n.message);
    }
    out
}

/// The image and what went wrong, as lines in a certain order.
fn import(db: &TestDb, program: Program) -> Vec<String> {
    let image = image(db, program);
    let mut lines = lines::of_objects(image);
    lines.push(format!("printed: {}", image.printed));
    lines.extend(image_diagnostics(db, program).iter().map(|d| told(db, d)));
    lines
}

#[test]
fn modules_are_imported() {
    let target = Target::new("import").cases(12).bytes(512);
    target.run(|choices| {
        let helper = spoiled(HELPER.to_owned(), choices);
        let first = [
            ("/main.py", module(choices)),
            ("/helper.py", HELPER.to_owned()),
        ];
        let then = [("/main.py", module(choices)), ("/helper.py", helper)];
        let (mut warm, program) = lines::fresh(&first, STEPS);
        import(&warm, program);
        lines::write(&mut warm, &then);
        let warm = import(&warm, program);
        // The files are compiled on other threads, the last one first.
        let (db, program) = lines::fresh(&then, STEPS);
        std::thread::scope(|scope| {
            for (path, _) in then.iter().rev() {
                let db = db.clone();
                scope.spawn(move || module_codes(&db, db.file(path)).ids().len());
            }
        });
        let alone = import(&db, program);
        let differs = warm.iter().zip(&alone).find(|(a, b)| a != b);
        assert!(
            warm.len() == alone.len() && differs.is_none(),
            "{differs:#?}\n{}\n----\n{}",
            first[0].1,
            then[0].1
        );
    });
}
