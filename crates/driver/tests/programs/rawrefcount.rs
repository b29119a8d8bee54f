//! Links between instances and raw memory that C counts references to, on each engine.

use expect_test::expect;
use taipan_driver::Failure;
use taipan_language::Collector;
use taipan_workbench::Workbench;

use crate::support::{check, check_without_python};

/// Definitions of all cases: PyObjects, and instances that are made in functions of their own.
const LINKS: &str = "
from rpython.rlib import rawrefcount, rgc
from rpython.rlib.objectmodel import keepalive_until_here
from rpython.rlib.rawrefcount import REFCNT_FROM_PYPY, REFCNT_FROM_PYPY_LIGHT
from rpython.rtyper.annlowlevel import llhelper
from rpython.rtyper.lltypesystem import lltype
PyObjectS = lltype.Struct('PyObjectS', ('c_ob_refcnt', lltype.Signed),
                          ('c_ob_pypy_link', lltype.Signed))
PyObject = lltype.Ptr(PyObjectS)
class W_Root(object):
    def __init__(self, n): self.n = n
class W_Part(W_Root): pass
class State(object): pass
state = State()
state.calls = 0
marker = W_Root(-1)
def trigger(): state.calls += 1
def start():
    rawrefcount.init(llhelper(rawrefcount.RAWREFCOUNT_DEALLOC_TRIGGER, trigger))
    state.calls = 0
def pyobject(count):
    ob = lltype.malloc(PyObjectS, flavor='raw', zero=True)
    ob.c_ob_refcnt = count
    return ob
def made(n, count):
    p = W_Root(n) if n % 2 else W_Part(n)
    ob = pyobject(count)
    rawrefcount.create_link_pypy(p, ob)
    return p
def link_pypy(n, count):
    return rawrefcount.from_obj(PyObject, made(n, count))
def link_pyobj(n, count):
    ob = pyobject(count)
    rawrefcount.create_link_pyobj(W_Part(n), ob)
    return ob
def dead():
    n = 0
    while True:
        ob = rawrefcount.next_dead(PyObject)
        if not ob: return n
        assert ob.c_ob_refcnt == 1 and rawrefcount.to_obj(W_Root, ob) is None
        lltype.free(ob, flavor='raw')
        n += 1
";

fn check_links(program: &str, calls: &str) {
    check_without_python(&format!("{LINKS}{program}"), calls);
}

#[test]
fn instances_and_pyobjects_find_each_other() {
    check_links(
        "
def f(n):
    start()
    p = made(n, REFCNT_FROM_PYPY)
    ob = rawrefcount.from_obj(PyObject, p)
    assert rawrefcount.to_obj(W_Root, ob) is p
    assert not rawrefcount.from_obj(PyObject, W_Root(n))
    rgc.collect()
    assert rawrefcount.from_obj(PyObject, p) == ob and dead() == 0
    assert rawrefcount.to_obj(W_Root, ob).n == p.n
    keepalive_until_here(p)
    p = None
    rgc.collect()
    return state.calls * 10 + dead()
def other(n):
    start()
    ob = pyobject(1)
    assert rawrefcount.to_obj(W_Root, ob) is None
    rawrefcount.mark_deallocating(marker, ob)
    rgc.collect()
    m = rawrefcount.to_obj(W_Root, ob)
    lltype.free(ob, flavor='raw')
    return m is marker and m.n + n == n - 1
",
        "
        f(3) == 11
        f(4) == 11
        other(2) == true
        ",
    );
}

#[test]
fn references_of_c_keep_instances_alive() {
    check_links(
        "
def f(n):
    start()
    ob = link_pypy(n, REFCNT_FROM_PYPY + 2)
    light = link_pypy(n + 1, REFCNT_FROM_PYPY_LIGHT + 1)
    rgc.collect()
    result = rawrefcount.to_obj(W_Root, ob).n * 10 + rawrefcount.to_obj(W_Root, light).n
    ob.c_ob_refcnt -= 2
    light.c_ob_refcnt -= 1
    assert dead() == 0 and state.calls == 0
    rgc.collect()
    return result * 100 + state.calls * 10 + dead()
",
        "
        f(3) == 3411
        ",
    );
}

#[test]
fn pyobjects_with_the_data_outlive_their_instances() {
    check_links(
        "
def f(n):
    start()
    ob = link_pyobj(n, REFCNT_FROM_PYPY + 1)
    light = link_pyobj(n, REFCNT_FROM_PYPY_LIGHT + 1)
    lost = link_pyobj(n, REFCNT_FROM_PYPY)
    rgc.collect()
    assert rawrefcount.to_obj(W_Root, ob) is None
    count = ob.c_ob_refcnt + light.c_ob_refcnt
    lltype.free(ob, flavor='raw')
    lltype.free(light, flavor='raw')
    return count * 100 + state.calls * 10 + dead()
",
        "
        f(3) == 211
        ",
    );
}

#[test]
fn many_links_between_collections() {
    check_links(
        "
def f(n):
    start()
    kept = []
    seen = 0
    for i in range(n):
        ob = link_pypy(i, REFCNT_FROM_PYPY + (i % 7 == 0))
        if i % 7 == 0: kept.append(ob)
        if i % 1000 == 0: seen += dead()
    total = 0
    for ob in kept:
        total += rawrefcount.to_obj(W_Root, ob).n
        ob.c_ob_refcnt -= 1
    rgc.collect()
    rgc.collect()
    return total * 100000 + seen + dead()
",
        "
        f(20000) == 2857857120000
        ",
    );
}

/// While a program loads, links are lists of the module.
#[test]
fn links_while_a_program_loads() {
    check(
        "
from rpython.rlib import rawrefcount
from rpython.rlib.rawrefcount import REFCNT_FROM_PYPY, REFCNT_FROM_PYPY_LIGHT
from rpython.rtyper.lltypesystem import lltype
PyObjectS = lltype.Struct('PyObjectS', ('c_ob_refcnt', lltype.Signed),
                          ('c_ob_pypy_link', lltype.Signed))
PyObject = lltype.Ptr(PyObjectS)
class W_Root(object): pass
def pyobject(count):
    ob = lltype.malloc(PyObjectS, flavor='raw', zero=True, immortal=True)
    ob.c_ob_refcnt = count
    return ob
def links():
    return len(rawrefcount._p_list), len(rawrefcount._o_list), len(rawrefcount._d_list)
calls = []
rawrefcount.init(lambda: calls.append(1))
found = []
p, q = W_Root(), W_Root()
a, b, c = [pyobject(n) for n in (REFCNT_FROM_PYPY, REFCNT_FROM_PYPY + 1, REFCNT_FROM_PYPY)]
rawrefcount.create_link_pypy(p, a)
rawrefcount.create_link_pypy(q, b)
rawrefcount.create_link_pyobj(W_Root(), c)
found += [rawrefcount.from_obj(PyObject, p) == a, rawrefcount.to_obj(W_Root, b) is q,
          not rawrefcount.from_obj(PyObject, W_Root()), links()]
del q
rawrefcount._collect()
found += [links(), rawrefcount.to_obj(W_Root, a) is p, len(calls), rawrefcount.to_obj(W_Root, c) is None]
b.c_ob_refcnt -= 1
del p
rawrefcount._collect()
found += [links(), len(calls), a.c_ob_refcnt, b.c_ob_refcnt]
ends = [rawrefcount.next_dead(PyObject) == ob for ob in (c, b, a)]
found += [sorted(ends), not rawrefcount.next_dead(PyObject)]
text = repr(found)
def f(n):
    return text
",
        "f(0) == \"[True, True, True, (2, 1, 0), (2, 0, 1), True, 1, True, (0, 0, 3), 2, 1, 1, [True, True, True], True]\"",
    );
}

#[test]
fn some_collectors_have_no_links() {
    let source = format!("{LINKS}\ndef entry_point(argv):\n    start()\n    return dead()\n");
    let mut said = Vec::new();
    for collector in Collector::ALL {
        let mut bench = Workbench::of(&source);
        bench.options.collector = *collector;
        said.push(match bench.compile() {
            Ok(_) => format!("{collector}: compiles"),
            Err(Failure::Diagnostics(d)) => {
                let has_place = d[0].primary.is_some();
                format!("{}: {} (place: {has_place})", d[0].code, d[0].message)
            }
            Err(other) => format!("{other:?}"),
        });
    }
    expect![[r"
        generational: compiles
        TP0504: the collector ref does not have rpython.rlib.rawrefcount: it does not learn when C gives up its last reference (place: true)
        TP0504: the collector boehm does not have rpython.rlib.rawrefcount: libgc takes no roots that depend on a count (place: true)
        none: compiles
    "]]
    .assert_eq(&(said.join("\n") + "\n"));
}
