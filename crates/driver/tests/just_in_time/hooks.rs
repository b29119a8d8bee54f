//! Functions that drivers name: they are a part of programs whose loops are compiled, and
//! of no others.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome};
use expect_test::expect;
use taipan_driver::{Engine, JitOptions, JitReport};

/// What a call returns, and what was compiled.
fn compiled(source: &str, args: &[i64], engine: Engine) -> (String, JitReport) {
    let mut db = database(source);
    db.generate_jit(true);
    let report = Arc::new(Mutex::new(JitReport::default()));
    let options = JitOptions {
        threshold: Some(2),
        report: Some(report.clone()),
        ..JitOptions::default()
    };
    let got = outcome(&db, "main", args, engine, Some(options));
    let report = report.lock().expect("nothing panicked").clone();
    (got, report)
}

const CONFIRM: &str = "
from rpython.rlib.jit import JitDriver
class Code(object):
    def __init__(self, name): self.name = name
class Frame(object):
    def __init__(self, traced): self.traced = traced
def confirm(mode, code, n, frame):
    return not frame.traced and code.name != 'never'
def location(mode, code):
    return 'mode %d of %s' % (mode, code.name)
def unique(mode, code):
    return mode * 10 + len(code.name)
def no(mode, code):
    return False
driver = JitDriver(greens=['mode', 'code'], reds=['n', 'frame'],
                   confirm_enter_jit=confirm, get_printable_location=location,
                   get_unique_id=unique, can_never_inline=no,
                   should_unroll_one_iteration=no)
def loop(mode, code, frame):
    n = 30
    while n > 0:
        driver.jit_merge_point(mode=mode, code=code, n=n, frame=frame)
        n -= mode
        driver.can_enter_jit(mode=mode, code=code, n=n, frame=frame)
    return n
def main(traced, never):
    code = Code('some')
    if never: code = Code('never')
    return loop(2, code, Frame(traced != 0))
";

/// Nothing is compiled, and nothing entered, unless the program agrees.
#[test]
fn confirm_enter_jit() {
    for engine in [Engine::LLInterp, Engine::Native] {
        for (args, functions) in [([0, 0], 1), ([1, 0], 0), ([0, 1], 0)] {
            let (got, report) = compiled(CONFIRM, &args, engine);
            let got = (&*got, report.functions);
            assert_eq!(got, ("0", functions), "{args:?}, {engine:?}");
        }
    }
    // It may also be the loop's own variable that decides.
    let switched = CONFIRM.replace("return not frame.traced", "return n < 0 or False");
    let (got, report) = compiled(&switched, &[0, 0], Engine::LLInterp);
    assert_eq!((&*got, report.functions), ("0", 0));
}

const EVERY_HINT: &str = "from rpython.rlib import jit
from rpython.rlib.jit import (JitDriver, promote_string, promote_unicode, conditional_call,
    conditional_call_elidable, record_known_result, jit_debug, enter_portal_frame,
    leave_portal_frame, virtual_ref, virtual_ref_finish, non_virtual_ref, vref_None,
    loop_invariant, not_in_trace, set_user_param, JitHookInterface, Counters, jit_callback,
    record_exact_class, record_exact_value, force_virtualizable, promote, elidable)

class Log(object):
    def __init__(self): self.n = 0
log = Log()

class Frame(object):
    def __init__(self, n): self.n = n; self.back = vref_None

class Context(object):
    def __init__(self): self.topref = vref_None; self.factor = 3
context = Context()

def note(k):
    log.n += k

@elidable
def compute(n):
    return n * 2 + 1

class Box(object):
    def __init__(self): self.cached = 0

@loop_invariant
def get_context():
    return context

@not_in_trace
def only_interpreted(n):
    pass

@elidable
def length(s): return len(s)

def unique_id(code): return len(code)
def name(code): return code

class Hooks(JitHookInterface):
    def on_abort(self, reason, jitdriver, greenkey, greenkey_repr, logops, operations): pass
    def after_compile(self, debug_info): pass
hooks = Hooks()

driver = JitDriver(greens=['code'], reds=['i', 'total', 'box', 'frame'], name='hints',
    get_printable_location=name, get_unique_id=unique_id, is_recursive=True)

def loop(code, n, box):
    frame = Frame(n)
    total = 0
    i = n
    while i > 0:
        driver.jit_merge_point(code=code, i=i, total=total, box=box, frame=frame)
        enter_portal_frame(unique_id(code))
        jit_debug('loop', i, total)
        key = 'k' + str(i % 3)
        key = promote_string(key)
        u = promote_unicode(u'u' + unicode(str(i % 2)))
        total += len(key) + len(u)
        if key == 'k1': total += 100
        conditional_call(i % 7 == 0, note, i)
        v = conditional_call_elidable(box.cached, compute, 5)
        box.cached = v
        total += v
        record_known_result(11, compute, 5)
        total += compute(5)
        ref = virtual_ref(frame)
        old = context.topref
        context.topref = ref
        total += get_context().factor
        if i % 5 == 0:
            f = context.topref()
            total += f.n
        if i % 11 == 0:
            total += int(ref.virtual) * 0
        context.topref = old
        virtual_ref_finish(ref, frame)
        only_interpreted(i)
        force_virtualizable(frame)
        leave_portal_frame()
        driver.loop_header()
        i -= 1
    return total

def main(n):
    set_user_param(None, 'threshold=3,trace_limit=100')
    box = Box()
    r = loop('some code', n, box)
    return r * 1000 + log.n
";

/// Hints that mean something to a tracing compiler only change nothing.
#[test]
fn hints_of_tracing_compilers() {
    let expected = outcome(&database(EVERY_HINT), "main", &[60], Engine::LLInterp, None);
    assert!(expected.parse::<i64>().is_ok(), "{expected}");
    for engine in [Engine::LLInterp, Engine::Native] {
        let (got, report) = compiled(EVERY_HINT, &[60], engine);
        assert_eq!((got, report.functions), (expected.clone(), 1));
    }
}

const STRINGS: &str = "
from rpython.rlib.jit import JitDriver, promote_string, promote_unicode, dont_look_inside
driver = JitDriver(greens=[], reds=['n', 'total'])
@dont_look_inside
def key(n): return ['first', 'second', 'third'][n % 3] + 'key'
@dont_look_inside
def wide(n): return [u'a', u'bc'][n % 2] + u'd'
@dont_look_inside
def perhaps(n):
    if n % 4 == 0: return None
    return key(n)
def main(n):
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total)
        k = promote_string(key(n))
        if k == 'secondkey': total += 100
        if k.startswith('third'): total += 3
        total += len(k) + len(promote_unicode(wide(n)))
        if promote_string(perhaps(n)) is None: total += 7
        n -= 1
    return total
";

/// Strings are promoted by their characters: equal ones are one case, and what is computed of
/// them is known.
#[test]
fn promoted_strings() {
    let expected = outcome(&database(STRINGS), "main", &[300], Engine::LLInterp, None);
    for engine in [Engine::LLInterp, Engine::Native] {
        let (got, report) = compiled(STRINGS, &[300], engine);
        assert_eq!(got, expected, "{engine:?}");
        let counts = &report.counts;
        let blocks = counts["blocks"].as_u64().expect("a number");
        assert!(blocks < 200, "{engine:?}: {blocks} blocks");
        // Only the functions that nobody looks inside, and what makes strings unique.
        assert_eq!(
            counts["residual"].get("getinteriorarraysize"),
            None,
            "{engine:?}"
        );
        assert_eq!(
            counts["residual"].get("getinteriorfield"),
            None,
            "{engine:?}"
        );
    }
}

/// Errors of such a function. Its result matters to a compiler alone.
#[test]
fn mistakes_in_functions_of_drivers() {
    let mut text = String::new();
    for (right, wrong) in [
        ("return 'mode %d", "return n + 'mode %d"),
        ("return 'mode %d of %s' % (mode, code.name)", "return mode"),
        (
            "return 'mode %d of %s' % (mode, code.name)",
            "return code.nome",
        ),
        ("def location(mode, code)", "def location(mode)"),
        (
            "def no(mode, code):\n    return False",
            "def no(mode, code):\n    return 1",
        ),
        (
            "    return n\ndef",
            "    return n + unique(u'x', Code('a'))\ndef",
        ),
    ] {
        let source = CONFIRM.replace(right, wrong);
        let (got, _) = compiled(&source, &[0, 0], Engine::LLInterp);
        text += &format!("{got}\n");
        let without = outcome(&database(&source), "main", &[0, 0], Engine::LLInterp, None);
        text += &format!("    without a compiler: {without}\n");
    }
    expect![[r#"
        TP0222: name `n` is not defined
            without a compiler: TP0222: name `n` is not defined
        TP0603: get_printable_location does not return a string
            without a compiler: 0
        TP0301: an instance of main.Code has no attribute `nome`
            without a compiler: TP0301: an instance of main.Code has no attribute `nome`
        TP0304: location() takes exactly 1 argument (2 given)
            without a compiler: TP0304: location() takes exactly 1 argument (2 given)
        TP0603: can_never_inline does not return a bool
            without a compiler: 0
        TP0300: argument mode of unique() mixes an int and a unicode
            without a compiler: TP0300: argument mode of unique() mixes an int and a unicode
    "#]]
    .assert_eq(&text);
}

const SHARED: &str = "
from rpython.rlib.jit import JitDriver
from rpython.rlib.objectmodel import specialize
class Node(object):
    def text(self): return 'node'
    def run(self, n): return n
class Loop(Node):
    def __init__(self, k): self.k = k
    def text(self): return 'loop'
    def run(self, n):
        total = 0
        while n > 0:
            loops.jit_merge_point(code=self, n=n, total=total)
            total += self.k
            n -= 1
        return total
class Call(Node):
    def __init__(self, k): self.k = k
    def run(self, n):
        calls.jit_merge_point(code=self)
        return n + self.k
@specialize.argtype(0)
def where(code): return code.text()
loops = JitDriver(greens=['code'], reds=['n', 'total'], get_printable_location=where)
calls = JitDriver(greens=['code'], reds='auto', get_printable_location=where)
nodes = [Loop(1), Call(2), Loop(3)]
def main(n):
    total = 0
    for i in range(n): total += nodes[i % 3].run(i)
    return total
";

/// A function that several drivers name may be specialised for each of them.
#[test]
fn a_function_of_several_drivers() {
    let mut db = database(SHARED);
    let expected = outcome(&db, "main", &[20], Engine::LLInterp, None);
    db.generate_jit(true);
    for engine in [Engine::LLInterp, Engine::Native] {
        let options = JitOptions {
            threshold: Some(2),
            ..JitOptions::default()
        };
        let got = outcome(&db, "main", &[20], engine, Some(options));
        assert_eq!(got, expected);
    }
}

const METHODS: &str = "
from rpython.rlib.jit import JitDriver
class Node(object):
    _immutable_ = True
    def __init__(self, add, inner):
        self.add = add
        self.inner = inner
def never(node): return NEVER
def unroll(node): return UNROLL
loop = JitDriver(greens=['node'], reds=['n', 'total'])
method = JitDriver(greens=['node'], reds=['x'], is_recursive=True, can_never_inline=never,
                   should_unroll_one_iteration=unroll)
def invoke(node, x):
    while True:
        method.jit_merge_point(node=node, x=x)
        x = (x * 3 + node.add) & 0xffff
        if x & 1:
            return x
        x += 1
def run(node, n):
    total = 0
    while n > 0:
        loop.jit_merge_point(node=node, n=n, total=total)
        total += invoke(node.inner, n)
        n -= 1
    return total
LEAF = Node(4, None)
ROOT = Node(0, LEAF)
def main(n):
    return run(ROOT, n)
";

/// The residual operations of METHODS, which returns the same in all ways.
fn operations(never: bool, unroll: bool) -> String {
    let python = |b: bool| if b { "True" } else { "False" };
    let source = METHODS.replace("NEVER", python(never));
    let source = source.replace("UNROLL", python(unroll));
    let expected = outcome(&database(&source), "main", &[300], Engine::LLInterp, None);
    let mut found = Vec::new();
    for engine in [Engine::LLInterp, Engine::Native] {
        let (got, report) = compiled(&source, &[300], engine);
        assert_eq!(got, expected, "{engine:?}");
        let counts = &report.counts["residual"];
        found.push(format!(
            "{} functions, {} calls, {} multiplications",
            report.functions, counts["direct_call"], counts["int_mul"]
        ));
    }
    found.join("; ")
}

/// A function with a merge point is compiled into its caller if its driver unrolls the first
/// round of a loop; the second round is a call, and so is all that may never be inlined.
#[test]
fn methods_are_compiled_into_their_callers() {
    let all = [(false, true), (false, false), (true, true)];
    let lines = all.map(|(never, unroll)| operations(never, unroll));
    expect![[r#"
        2 functions, 1 calls, 2 multiplications; 2 functions, 1 calls, 2 multiplications
        2 functions, 1 calls, 1 multiplications; 2 functions, 1 calls, 1 multiplications
        2 functions, 1 calls, 1 multiplications; 2 functions, 1 calls, 1 multiplications"#]]
    .assert_eq(&lines.join("\n"));
}

const KNOWN_RESULTS: &str = "
from rpython.rlib import jit, jit_hooks
from rpython.rlib.jit import JitDriver
class Cache(object):
    def __init__(self): self.items = None; self.text = None; self.number = 0; self.made = 0
    def make_items(self, n): self.made += 1; return [n]
    def make_text(self, n): self.made += 1; return 'abc'
    def make_number(self, n): self.made += 1; return n
class W(object): pass
class A(W):
    def __init__(self, n): self.n = n
class B(W): pass
numbers = [3, 4]
things = [A(5), B()]
driver = JitDriver(greens=['code'], reds=['n', 'total', 'cache'], name='known')
def first(cache, n): return cache.make_items(n)
def text(cache, n): return cache.make_text(n)
def number(cache, n): return cache.make_number(n)
def loop(code, n, cache):
    total = 0
    while n > 0:
        driver.jit_merge_point(code=code, n=n, total=total, cache=cache)
        # An empty list is one, an empty string is none, nor is the number 0.
        if n % 4 == 0: cache.items = []
        elif n % 7 == 0: cache.items = None
        cache.items = jit.conditional_call_elidable(cache.items, first, cache, n)
        total += len(cache.items) * 3
        if n % 5 == 0: cache.text = ''
        cache.text = jit.conditional_call_elidable(cache.text, text, cache, n)
        total += len(cache.text)
        if n % 3 == 0: cache.number = n % 2
        cache.number = jit.conditional_call_elidable(cache.number, number, cache, n)
        total += cache.number
        k = jit.record_exact_value(numbers[0], 3)
        total += k * 2
        thing = things[code]
        if isinstance(thing, A):
            jit.record_exact_class(thing, A)
            total += thing.n
        n -= 1
    return total
def main(code, n):
    jit_hooks.dont_trace_here('known', 7)
    jit_hooks.trace_next_iteration('known', code)
    cache = Cache()
    total = loop(code, n, cache)
    if jit_hooks.get_jitcell_at_key('known', 9): return -1
    return total * 1000 + cache.made
";

/// What conditional calls take for a value that is missing, and what records return.
#[test]
fn recorded_values_and_missing_ones() {
    for code in [0, 1] {
        let args = [code, 60];
        let expected = outcome(
            &database(KNOWN_RESULTS),
            "main",
            &args,
            Engine::LLInterp,
            None,
        );
        for engine in [Engine::LLInterp, Engine::Native] {
            let (got, report) = compiled(KNOWN_RESULTS, &args, engine);
            assert_eq!(got, expected, "{engine:?}");
            assert!(report.functions > 0);
        }
    }
    expect!["1896028"].assert_eq(&outcome(
        &database(KNOWN_RESULTS),
        "main",
        &[0, 60],
        Engine::LLInterp,
        None,
    ));
}

/// Hooks for what a tracing compiler does can be written, though nothing calls them; nothing else
/// can call what is there for them.
#[test]
fn operations_of_traces() {
    let db = database(
        "
from rpython.rlib import jit
from rpython.rlib.jit_hooks import resop_getopname, box_getint
class Hooks(jit.JitHookInterface):
    def after_compile(self, debug_info):
        print resop_getopname(debug_info.operations[0])
hooks = Hooks()
def main(n): return n + 1
def wrong(n): return box_getint(n)
def entry_point(argv):
    return main(len(argv))
def target(driver, args):
    return entry_point, None
",
    );
    let run = |f| outcome(&db, f, &[6], Engine::LLInterp, None);
    expect!["7"].assert_eq(&run("main"));
    expect!["TP0228: box_getint is tagged as not RPython"].assert_eq(&run("wrong"));
}
