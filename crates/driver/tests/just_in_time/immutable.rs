//! Fields that classes call immutable although the program writes them: compiled code
//! computes what the interpreter does, and a warning says where.

use std::fmt::Write as _;

use crate::support::jit::{database, outcome};
use expect_test::{Expect, expect};
use taipan_base::{Span, position};
use taipan_driver::{Engine, JitOptions, LoadOptions, Splits, Timings, check, load};

/// An interpreter of nodes that are replaced, renumbered and published while it runs.
/// `main` of each test calls `run`.
const NODES: &str = "
from rpython.rlib import jit
from rpython.rlib.objectmodel import instantiate  # noqa: TP0020
driver = jit.JitDriver(greens=['node'], reds=['n', 'acc', 'first'])
class Node(object):
    _immutable_fields_ = ['value', 'next']
    def __init__(self, value, next):
        self.value = value
        self.next = next
class Last(Node):
    _immutable_fields_ = ['extra']
    extra = 5
    def __init__(self, value, next, extra):
        Node.__init__(self, value, next)
        self.set_up(extra)
    def set_up(self, extra):
        self.extra = extra
class Registry(object):
    last = Node(0, None)
registry = Registry()
def run(node, n):
    first = node
    acc = 0
    while n > 0:
        driver.jit_merge_point(node=node, n=n, acc=acc, first=first)
        acc = acc * 3 + step(node, n) & 0xffffff
        node = node.next
        if node is None:
            node = first
            n -= 1
            driver.can_enter_jit(node=node, n=n, acc=acc, first=first)
    return acc
";

/// The program computes the same with a compiler on each engine, and these warnings are
/// given.
#[track_caller]
fn same(source: &str, warnings: &Expect) {
    let source = format!("{NODES}{source}");
    let target = "
def entry_point(argv):
    return main(len(argv))
def target(driver, args):
    return entry_point, None
";
    let all = format!("{source}{target}");
    let mut db = database(&all);
    let program = load(&db, "/main.py".into(), &LoadOptions::default());
    let program = program.unwrap_or_else(|e| panic!("{e:?}"));
    let mut text = String::new();
    for d in check(&db, program, &mut Timings::default()) {
        let line = |span: Option<Span>| {
            let at = span.map_or(0, |s| position(&db, s).start.0 as usize);
            all.lines().nth(at.wrapping_sub(1)).unwrap_or("").trim()
        };
        let _ = writeln!(text, "{}: {}: `{}`", d.code, d.message, line(d.primary));
        for n in &d.notes {
            let _ = writeln!(text, "    {}: `{}`", n.message, line(n.span));
        }
    }
    warnings.assert_eq(&text);
    let expected = outcome(&db, "main", &[20], Engine::LLInterp, None);
    db.generate_jit(true);
    for engine in [Engine::LLInterp, Engine::Native] {
        for splits in [Splits::Eager, Splits::Lazy] {
            for threshold in [1, 3, 7] {
                let options = JitOptions {
                    threshold: Some(threshold),
                    splits,
                    ..JitOptions::default()
                };
                let got = outcome(&db, "main", &[20], engine, Some(options));
                assert_eq!(got, expected, "{engine:?}, {splits:?}, {threshold}");
            }
        }
    }
}

#[test]
fn objects_that_are_being_made() {
    // In `__init__` and what it calls, by who made the object, by factories, whatever was
    // done with the object meanwhile.
    same(
        "
class Builder(object):
    def __init__(self):
        self.made = []
    def node(self, value):
        made = Node(value, None)
        self.made.append(made)
        return made
def change(node, value):
    node.value = value
    return node
def make(cls, value):
    return cls(value, None, 2)
class Other(Last):
    pass
def bare(value):
    node = instantiate(Node)
    node.value = value
    node.next = None
    return node
def copy(node):
    if node is None:
        return None
    new = Node(0, None)
    new.value = node.value + 1
    new.next = copy(node.next)
    return new
def chain(values):
    first = None
    for value in values:
        node = Node(0, first)
        registry.last = node
        node.value = value
        first = node
    return first
def step(node, n):
    if isinstance(node, Last):
        return node.extra * n
    return node.value
def main(n):
    registry.last.value = 8
    builder = Builder()
    a = builder.node(3)
    a.next = make(Last, 4)
    b = change(Node(1, a), 7)
    c = bare(n)
    c.next = make(Other, 3)
    return (run(b, n) + run(copy(c), n) + run(chain([1, 2, 3]), n)) % 251
",
        &expect![[""]],
    );
}

/// A loop of an interpreter allocates an object per iteration, and also holds that of the previous iteration.
#[test]
fn objects_that_loops_make() {
    let program = |after: &str| {
        format!(
            "
looping = jit.JitDriver(greens=[], reds=['n', 'top'])
def step(node, n):
    return node.value
def main(n):
    n += 20
    top = None
    while n > 0:
        looping.jit_merge_point(n=n, top=top)
        before = top
        top = Node(n, before)
        {after}
        n -= 1
        looping.can_enter_jit(n=n, top=top)
    return run(top, 20)
"
        )
    };
    same(&program("top.value = n + 1"), &expect![[""]]);
    // The previous object passed the merge point.
    same(
        &program("if before is not None: before.value = n"),
        &expect![[r#"
            TP0604: class main.Node says that its field value never changes, but here it may: `if before is not None: before.value = n`
        "#]],
    );
}

#[test]
fn objects_that_are_in_use() {
    same(
        "
def step(node, n):
    if n == 9:
        node.value = 40 + n
    return node.value
def main(n):
    return run(Node(1, Node(2, None)), n)
",
        &expect![[r#"
            TP0604: class main.Node says that its field value never changes, but here it may: `node.value = 40 + n`
                main.step gets an object here that is not new: `acc = acc * 3 + step(node, n) & 0xffffff`
        "#]],
    );
}

#[test]
fn objects_that_are_passed_on() {
    same(
        "
def replace(node, value):
    node.value = value
def changes(node, n):
    if n & 7 == 2:
        replace(node, n)
def step(node, n):
    changes(node, n)
    return node.value
def main(n):
    made = Node(1, None)
    replace(made, 4)
    return run(made, n)
",
        &expect![[r#"
            TP0604: class main.Node says that its field value never changes, but here it may: `node.value = value`
                main.step gets an object here that is not new: `acc = acc * 3 + step(node, n) & 0xffffff`
        "#]],
    );
}

#[test]
fn fields_of_subclasses_and_lists() {
    same(
        "
class Code(object):
    _immutable_ = True
    def __init__(self, numbers):
        self.numbers = numbers
class Lists(Node):
    _immutable_fields_ = ['numbers[*]']
    def __init__(self, numbers):
        Node.__init__(self, 1, None)
        self.numbers = numbers
def step(node, n):
    if n == 12 and isinstance(node, Last):
        node.extra = 11
    if isinstance(node, Lists):
        if n == 8:
            node.numbers = [n, n]
        return node.numbers[1]
    if isinstance(node, Last):
        return node.extra
    return node.value
code = Code([1, 2])
def main(n):
    node = Lists([1, 2, 3])
    node.next = Last(1, Node(code.numbers[n & 1], None), 3)
    return run(node, n)
",
        &expect![[r#"
            TP0604: class main.Last says that its field extra never changes, but here it may: `node.extra = 11`
                main.step gets an object here that is not new: `acc = acc * 3 + step(node, n) & 0xffffff`
            TP0604: class main.Lists says that its field numbers never changes, but here it may: `node.numbers = [n, n]`
                main.step gets an object here that is not new: `acc = acc * 3 + step(node, n) & 0xffffff`
        "#]],
    );
}

#[test]
fn what_was_published_before_an_interpreter_ran() {
    // Before the first one runs it may be written, then not.
    same(
        "
def step(node, n):
    return node.value + registry.last.value
def publish(value):
    node = Node(value, None)
    registry.last = node
    return node
def main(n):
    node = publish(3)
    node.value = 5
    registry.last.value = 6
    a = run(node, n)
    node.value = 9
    own = Node(1, None)
    own.value = 2
    return a + run(node, n) + run(own, n) & 0xffff
",
        &expect![[r#"
            TP0604: class main.Node says that its field value never changes, but here it may: `node.value = 9`
        "#]],
    );
}
