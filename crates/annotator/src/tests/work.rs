//! How much work the solver has: evaluations are counted, not timed.

use std::fmt::Write;

use taipan_graph::Const;
use taipan_interp::{Name, module_global, target_module};
use taipan_testkit::TestDb;

use super::basic::result_of;
use crate::bounds::{NESTING, Nesting};
use crate::solution::solve;
use crate::{RootSet, Roots};

/// How many evaluations it took so far to annotate a program, through all its edits.
fn evaluations(db: &TestDb, roots: Roots) -> u32 {
    solve(db, roots).read(|warm| warm.solver.clock.count())
}

/// How often slots were read and written in these.
fn steps(text: &str) -> u64 {
    let db = TestDb::with_fixture(&format!("#- /main.py\n{text}"));
    let steps = solve(&db, roots_of(&db)).read(|warm| warm.solver.steps);
    // A program with a mistake would be solved in no time.
    let result = result_of(&db, "");
    assert!(result.starts_with("SomeInteger"), "{result}");
    steps
}

/// `f` of `/main.py`, as a program of its own each time.
fn roots_of(db: &TestDb) -> Roots {
    let program = db.program();
    let module = target_module(db, program).expect("a module");
    let Some(Const::Obj(func)) = module_global(db, Name::new(db, program, module, "f")) else {
        panic!("no f");
    };
    let args = [].into();
    Roots::new(db, program, RootSet::Call { func: *func, args }, false)
}

/// A tuple that is put into a tuple in place of a number is a conflict at once. Values stay small
/// then: large ones that change part by part took hours in a program of twenty thousand lines.
#[test]
fn tuples_in_conflicts_stay_small() {
    let text = "
def g(x, n):
    t = (x, n, x, None)
    if n > 2:
        return g(t, n - 1)
    return h(n, t)

def h(n, x):
    return (g(x, n), x)

def f():
    g(5, 3)
    return 1
";
    let db = TestDb::with_fixture(&format!("#- /main.py\n{text}"));
    let small = Nesting {
        parts: 200,
        ..NESTING
    };
    for roots in [roots_of(&db), roots_of(&db).recover(&db)] {
        solve(&db, roots).read(|warm| {
            for (_, slot) in warm.solver.store.slots.iter() {
                let value = slot.current();
                assert!(!value.is_nested_beyond(&small), "{:?}: {value:?}", slot.key);
            }
        });
    }
}

/// Programs of twice the size take no more than 2.3 times the work.
#[track_caller]
fn is_near_linear(size: usize, program: impl Fn(usize) -> String) {
    let (once, twice) = (steps(&program(size)), steps(&program(2 * size)));
    assert!(10 * twice < 23 * once, "{once} steps, then {twice}");
}

#[test]
fn many_calls_in_a_row() {
    is_near_linear(150, |size| row_of_calls(size, "5"));
}

/// A function that calls so many others with a value.
fn row_of_calls(length: usize, value: &str) -> String {
    let mut text = String::new();
    let mut sum = "0".to_owned();
    for i in 0..length {
        let _ = write!(text, "def f_{i}(n):\n    return n + {i}\n\n");
        let _ = write!(sum, " + f_{i}(n)");
    }
    text + &format!("def g():\n    n = {value}\n    return {sum}\n\ndef f():\n    return g()\n")
}

/// How often slots are read and written after an edit of a function that calls so many others.
fn steps_of_edit(calls: usize) -> u64 {
    let text = row_of_calls(calls, "len([0])");
    let mut db = TestDb::with_fixture(&format!("#- /main.py\n{text}"));
    let roots = roots_of(&db);
    let steps = |db: &TestDb| solve(db, roots).read(|warm| warm.solver.steps);
    let before = steps(&db);
    db.edit("/main.py", &row_of_calls(calls, "len([0]) - 1"));
    assert_eq!(result_of(&db, ""), "SomeInteger");
    let after = steps(&db) - before;
    assert!(after > 0);
    after
}

#[test]
fn what_has_waited_often_is_not_evaluated_from_the_start_each_time() {
    let (once, twice) = (steps_of_edit(100), steps_of_edit(200));
    assert!(10 * twice < 23 * once, "{once} steps, then {twice}");
}

#[test]
fn a_chain_of_calls() {
    is_near_linear(100, |size| {
        let mut text = "def g_0(n):\n    return n\n\n".to_owned();
        for i in 1..size {
            let before = i - 1;
            let _ = write!(
                text,
                "def g_{i}(n):\n    x = g_{before}(n)\n    return x + 1\n\n"
            );
        }
        text + &format!("def f():\n    return g_{}(5)\n", size - 1)
    });
}

#[test]
fn a_chain_of_prebuilt_objects() {
    is_near_linear(150, |size| {
        format!(
            "\
class Node(object):
    def __init__(self, next, value):
        self.next = next
        self.value = value

first = None
for i in range({size}):
    first = Node(first, i)

def f():
    total = 0
    node = first
    while node is not None:
        total += node.value
        node = node.next
    return total
"
        )
    });
}

#[test]
fn methods_that_call_the_methods_of_all_classes() {
    is_near_linear(60, |size| {
        let mut text = "class Node(object):\n    pass\n\n".to_owned();
        let mut made = String::new();
        for i in 0..size {
            let _ = write!(
                text,
                "\
class Node{i}(Node):
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def evaluate(self, n):
        if n == 0:
            return {i}
        return self.left.evaluate(n - 1) + self.right.evaluate(n - {i})

"
            );
            let _ = writeln!(made, "    if n > {i}:\n        node = Node{i}(node, node)");
        }
        text + &format!(
            "\
class Leaf(Node):
    def evaluate(self, n):
        return n

def make(n):
    node = Leaf()
{made}
    return node

def f():
    return make(len([0])).evaluate(3)
"
        )
    });
}

/// Classes each of which derives from the one before, with what is in each.
fn class_chain(size: usize, body: impl Fn(usize) -> String) -> String {
    let mut text = format!("class C0(object):\n{}\n", body(0));
    for i in 1..size {
        let _ = write!(text, "class C{i}(C{}):\n{}\n", i - 1, body(i));
    }
    text
}

#[test]
fn a_chain_of_subclasses_with_attributes_of_their_own() {
    is_near_linear(100, |size| {
        let classes = class_chain(size, |i| {
            let above = match i {
                0 => "n".to_owned(),
                _ => format!("C{}.run(self, n)", i - 1),
            };
            let half = i / 2;
            format!(
                "    def run(self, n):
        self.a{i} = n
        return {above} + self.a{half}
"
            )
        });
        classes + &format!("\ndef f():\n    return C{}().run(3)\n", size - 1)
    });
}

#[test]
fn a_chain_of_subclasses_that_are_all_in_use() {
    is_near_linear(60, |size| {
        let mut text = class_chain(size, |i| {
            let above = match i {
                0 => "1".to_owned(),
                _ => format!("C{}.run(self, n - 1)", i - 1),
            };
            format!(
                "    def __init__(self, n):
        self.common = n
        self.a{i} = n

    def run(self, n):
        if n < 0:
            return self.a{i} + self.common
        return {above} + self.own
"
            )
        });
        let (mut objects, mut made) = (String::new(), String::new());
        for i in 0..size {
            let _ = write!(text, "p{i} = C{i}({i})\np{i}.own = {i}\n");
            let _ = write!(objects, "p{i}, ");
            let _ = writeln!(made, "    total += C{i}(total).common");
        }
        text + &format!(
            "objects = [{objects}]

def f():
    total = 0
    for o in objects:
        total += o.run(total)
{made}
    return total
"
        )
    });
}

#[test]
fn a_table_of_functions_that_is_called_in_many_places() {
    is_near_linear(80, |size| {
        let mut text = String::new();
        let (mut table, mut sum) = (String::new(), "0".to_owned());
        for i in 0..size {
            let _ = write!(text, "def f_{i}(n):\n    return n + {i}\n\n");
            let _ = write!(text, "def g_{i}(n):\n    return table[n]({i})\n\n");
            let _ = write!(table, "f_{i}, ");
            let _ = write!(sum, " + g_{i}(n)");
        }
        text + &format!("table = [{table}]\n\ndef f():\n    n = 5\n    return {sum}\n")
    });
}

/// Readers of an attribute in a row, each of which gets instances of a subclass first and
/// of their base class then.
fn row_of_readers(length: usize) -> String {
    let mut text = "\
class Base(object):
    def __init__(self, value):
        self.value = value

class First(Base):
    pass

class Second(Base):
    pass

"
    .to_owned();
    for i in (0..length).rev() {
        let next = match i + 1 {
            n if n < length => format!("read_{n}(x)"),
            _ => "0".to_owned(),
        };
        let _ = write!(text, "def read_{i}(x):\n    return x.value + {next}\n\n");
    }
    text.push_str("def f():\n    a = read_0(First(1))\n    return a + read_0(Second(2))\n");
    text
}

#[test]
fn attributes_that_move_up_are_no_reason_to_go_back() {
    let db = TestDb::with_fixture(&format!("#- /main.py\n{}", row_of_readers(100)));
    assert_eq!(result_of(&db, ""), "SomeInteger(nonneg)");
    let evaluations = evaluations(&db, roots_of(&db));
    assert!(evaluations < 500, "{evaluations} evaluations");
}

/// Families of classes that have nothing to do with each other. The last one may be another: what
/// follows a call in its function is taken back together with what the call came to.
fn families(moved: bool) -> String {
    let mut text = String::new();
    for i in 0..20 {
        let base = if moved && i == 19 { "Left" } else { "Right" };
        let _ = write!(
            text,
            "\
class Root{i}(object):
    def get(self):
        return -1

class Left{i}(Root{i}):
    def get(self):
        return 'left'

class Right{i}(Root{i}):
    def get(self):
        return {i}

class Leaf{i}({base}{i}):
    pass

def ask_{i}(x):
    return x.get()

"
        );
    }
    text.push_str("def f():\n");
    for i in 0..20 {
        let _ = writeln!(text, "    a{i} = ask_{i}(Leaf{i}())");
    }
    text.push_str("    return a19\n");
    text
}

#[test]
fn a_class_that_moves_concerns_its_family_alone() {
    let mut db = TestDb::with_fixture(&format!("#- /main.py\n{}", families(false)));
    assert_eq!(result_of(&db, ""), "SomeInteger(nonneg, const=19)");
    // One program through all its edits.
    let roots = roots_of(&db);
    let cold = evaluations(&db, roots);
    for (moved, result) in [
        (true, "SomeString(no_nul, const='left')"),
        (false, "SomeInteger(nonneg, const=19)"),
        (true, "SomeString(no_nul, const='left')"),
    ] {
        let before = evaluations(&db, roots);
        db.edit("/main.py", &families(moved));
        assert_eq!(result_of(&db, ""), result);
        let after = evaluations(&db, roots) - before;
        assert!(after * 4 < cold, "{after} evaluations, {cold} at first");
    }
}

/// A function whose failures are described by the one constant that it is called with, as far as
/// its first caller goes; the second one is behind it. A long way leads on from the failures.
fn described_failures(length: usize) -> String {
    let mut text = "\
class Text(object):
    def __init__(self, text):
        self.text = text

    def read(self, n):
        return step_0(n) + len(self.text)

class Failure(Exception):
    def __init__(self, text):
        self.text = text

def wrap(text):
    return Text(text)
wrap._annspecialcase_ = 'specialize:arg_or_var(0)'

def get(n, name):
    if n < 0:
        raise Failure(wrap(name))
    return n

"
    .to_owned();
    for i in (0..length).rev() {
        let next = match i + 1 {
            n if n < length => format!("step_{n}(n)"),
            _ => "n".to_owned(),
        };
        let _ = write!(text, "def step_{i}(n):\n    return {next} + {i}\n\n");
    }
    text.push_str(
        "\
def f():
    try:
        n = get(len([0]) - 1, 'one')
    except Failure, e:
        return e.text.read(2)
    return get(n, 'two')
",
    );
    text
}

#[test]
fn what_an_operation_must_not_call_too_early_keeps_nothing_else_waiting() {
    let db = TestDb::with_fixture(&format!("#- /main.py\n{}", described_failures(100)));
    assert_eq!(result_of(&db, ""), "SomeInteger(nonneg)");
    let evaluations = evaluations(&db, roots_of(&db));
    assert!(evaluations < 300, "{evaluations} evaluations");
}

#[test]
fn a_function_that_waits_in_order_does_not_begin_again() {
    // The loop is behind the call, which waits, and reached without it, too. What its test says of
    // variables is less when `x` is negative.
    let text = "\
def wrap(x):
    return [x]
wrap._annspecialcase_ = 'specialize:argtype(0)'

def g(n, m):
    x = 0
    if m < n:
        x = len(wrap(m > n))
    while x > m:
        x = x - n
    return x

def f():
    return g(len([0]), len([0]) - 1)
";
    let db = TestDb::with_fixture(&format!("#- /main.py\n{text}"));
    assert_eq!(result_of(&db, ""), "SomeInteger");
    let evaluations = evaluations(&db, roots_of(&db));
    assert!(evaluations < 30, "{evaluations} evaluations");
}
