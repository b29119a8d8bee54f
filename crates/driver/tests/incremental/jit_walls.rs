//! Queries of the JIT generator: an edit reaches only what depends on it.

use expect_test::expect;
use taipan_driver::{
    CallOutcome, CallRequest, Engine, JitOptions, LoadOptions, Timings, parse_literal,
};
use taipan_workbench::Workbench;

use crate::walls::{mistakes, recorded};

/// An interpreter with a driver, and nodes with a field that is called immutable.
const LATE: &str = "\
from rpython.rlib.jit import JitDriver

class Node(object):
    _immutable_fields_ = ['value']
    def __init__(self, value):
        self.value = value

def finish(node, n):
    return n + 1

def other(n):
    return n + 2

driver = JitDriver(greens=['node'], reds=['n'])

def run(node, n):
    while n > 0:
        driver.jit_merge_point(node=node, n=n)
        n -= node.value
    return n

def entry_point(argv):
    node = Node(len(argv))
    print run(node, 100)
    print finish(node, 3) + other(4)
    return 0

def target(driver, args):
    return entry_point, None
";

/// What is written late is found out for what has changed alone: no query looks at the whole
/// program, and no other function is looked at.
#[test]
fn wall_late_writes() {
    let mut bench = recorded(&[("/main.py", LATE)]);
    let none: [&str; 0] = [];
    assert_eq!(mistakes(&bench), none);
    bench.db.take_log();
    let mut edit = |from: &str, to: &str| {
        let text = LATE.replace(from, to);
        assert_ne!(text, LATE);
        bench.edit("/main.py", &text);
        let found = mistakes(&bench).join("\n");
        // The driver's own functions are looked at where there is another body for them.
        let ran = bench.ran(&[
            "rtyped_graph",
            "object_flow_of",
            "low_level_facts",
            "jit_drivers",
            "late_writes",
        ]);
        format!("{ran}{found}")
    };
    // Another number: what it does with objects is the same.
    expect![[r#"
        low_level_facts /main.py
        object_flow_of main.other
        rtyped_graph main.other
    "#]]
    .assert_eq(&edit("n + 2", "n + 3"));
    expect![[r#"
        late_writes /main.py
        low_level_facts /main.py
        object_flow_of main.finish
        object_flow_of main.other
        rtyped_graph main.finish
        rtyped_graph main.other
        class main.Node says that its field value never changes, but here it may"#]]
    .assert_eq(&edit("return n + 1", "node.value = n\n    return n + 1"));
    expect![[r#"
        late_writes /main.py
        low_level_facts /main.py
        object_flow_of main.finish
        rtyped_graph main.finish
    "#]]
    .assert_eq(&edit("return n + 1", "n *= 2\n    return n + 1"));
}

/// A frame with a stack, and a function that does not leak the stack.
const OWN: &str = "\
from rpython.rlib.jit import JitDriver, hint

class Frame(object):
    _virtualizable_ = ['stack[*]']
    def __init__(self, n):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.stack = [n] * 3

class Holder(object):
    items = None

holder = Holder()

def last(frame, n):
    return frame.stack[2] + n

def other(n):
    return n + 2

driver = JitDriver(greens=[], reds=['n', 'frame'], virtualizables=['frame'])

def run(frame, n):
    while n > 0:
        driver.jit_merge_point(n=n, frame=frame)
        frame.stack[1] += n
        n -= 1
    return last(frame, n)

def entry_point(argv):
    holder.items = [len(argv)] * 3
    print run(Frame(len(argv)), 100) + other(4) + holder.items[0]
    return 0

def target(driver, args):
    return entry_point, None
";

/// Only changed functions are searched for shared lists. The result for a class is computed again only when a function
/// starts or stops sharing a list.
#[test]
fn wall_own_lists() {
    let mut bench = recorded(&[("/main.py", OWN)]);
    bench.db.generate_jit(true);
    bench.compile().expect("the program compiles");
    bench.db.take_log();
    let mut edit = |from: &str, to: &str| {
        let text = OWN.replace(from, to);
        assert_ne!(text, OWN);
        bench.edit("/main.py", &text);
        bench.compile().expect("the program compiles");
        bench.ran(&["leaked_lists_of", "low_level_facts", "shared_lists"])
    };
    // The edit does not touch lists.
    expect![[r#"
        leaked_lists_of main.other
        low_level_facts /main.py
    "#]]
    .assert_eq(&edit("n + 2", "n + 3"));
    // The list leaks.
    expect![[r#"
        leaked_lists_of main.last
        leaked_lists_of main.other
        low_level_facts /main.py
        shared_lists main.Frame
        shared_lists main.Holder
        shared_lists rpython.rlib.rprint.Line
    "#]]
    .assert_eq(&edit(
        "    return frame.stack[2] + n",
        "    holder.items = frame.stack\n    return frame.stack[2] + n",
    ));
    // The leak is gone.
    expect![[r#"
        leaked_lists_of main.last
        low_level_facts /main.py
        shared_lists main.Frame
        shared_lists main.Holder
        shared_lists rpython.rlib.rprint.Line
    "#]]
    .assert_eq(&edit("frame.stack[2] + n", "frame.stack[2] - n"));
}

/// Only changed functions are searched for writes to fields of finished objects. The tables of a JIT read the result.
#[test]
fn wall_rewritten_fields() {
    let source = format!("{OWN}\ndef main(n): return run(Frame(n), n) + other(n)\n");
    let mut bench = recorded(&[("/main.py", &source)]);
    bench.db.generate_jit(true);
    let call = |bench: &Workbench| {
        let request = CallRequest {
            file: "/main.py".into(),
            func: "main".to_owned(),
            args: vec![parse_literal("4")],
            engine: Engine::Native,
            jit: Some(JitOptions::default()),
        };
        let (options, timings) = (LoadOptions::default(), &mut Timings::default());
        let outcome = taipan_driver::call(&bench.db, &options, &request, timings);
        assert!(matches!(outcome, Ok(CallOutcome::Returned(_))));
        bench.ran(&["rewritten_fields_of", "rewritten_fields"])
    };
    assert!(call(&bench).contains("rewritten_fields_of main.last"));
    let mut edit = |from: &str, to: &str| {
        let text = source.replace(from, to);
        assert_ne!(text, source);
        bench.edit("/main.py", &text);
        call(&bench)
    };
    // The edit does not touch fields.
    expect![[r#"
        rewritten_fields /main.py
        rewritten_fields_of main.other
    "#]]
    .assert_eq(&edit("n + 2", "n + 3"));
    // A field is written.
    expect![[r#"
        rewritten_fields /main.py
        rewritten_fields_of main.other
    "#]]
    .assert_eq(&edit(
        "    return n + 2",
        "    holder.items = [n]\n    return n + 2",
    ));
}
