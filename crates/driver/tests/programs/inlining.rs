//! What a program, and the prelude, say of inlining functions.

use expect_test::expect;
use taipan_driver::{EmitForm, EmitRequest, Stage, Timings, emit};
use taipan_language::NEVER_INLINED;
use taipan_workbench::Workbench;

/// A small function and a big one, each with a decorator.
fn program(small: &str, big: &str) -> String {
    let work = "    n = n * 3 + g.value\n    g.value = n ^ 5\n".repeat(20);
    format!(
        "\
from rpython.rlib.objectmodel import always_inline, dont_inline, try_inline
class Global(object):
    value = 1
g = Global()
def plain(f): return f
@{small}
def small(n):
    return n + 1
@{big}
def big(n):
{work}    return n
def entry_point(argv):
    n = small(len(argv))
    n = big(n)
    return big(n) + small(n)
"
    )
}

/// The functions that the optimised entry point still calls.
fn called(bench: &Workbench) -> Vec<&'static str> {
    let text = optimized(bench);
    let is_called = |name: &&str| text.contains(&format!("main.{name}"));
    ["small", "big"].into_iter().filter(is_called).collect()
}

/// The graph of the optimised entry point.
fn optimized(bench: &Workbench) -> String {
    let request = EmitRequest {
        stage: Stage::Optimized,
        file: bench.target.clone(),
        func: Some("entry_point".to_owned()),
        inputs: None,
        form: EmitForm::Text,
        targets: Vec::new(),
    };
    let text = emit(&bench.db, &bench.options, &request, &mut Timings::default());
    text.expect("it is RPython")
}

#[test]
fn decorators_decide() {
    let mut bench = Workbench::of(&program("plain", "plain"));
    assert_eq!(called(&bench), ["big"]);
    for (small, big, left) in [
        ("plain", "always_inline", &[][..]),
        ("plain", "try_inline", &[]),
        ("dont_inline", "plain", &["small", "big"]),
        ("plain", "plain", &["big"]),
    ] {
        bench.edit("/main.py", &program(small, big));
        assert_eq!(called(&bench), left, "@{small} and @{big}");
    }
}

/// Each of them is called once in this program, however small it is.
#[test]
fn helpers_that_are_seldom_called_stay_calls() {
    let bench = Workbench::of(
        "\
def entry_point(argv):
    args = []
    for arg in argv:
        args.append(arg)
    return len(args)
",
    );
    let text = optimized(&bench);
    for helper in NEVER_INLINED {
        let calls = text.matches(&format!("direct_call(&{helper},")).count();
        assert_eq!(calls, 1, "{helper} in\n{text}");
    }
}

/// What grows a list takes its items, so that a list that is not given away is two variables. Before
/// it grows, its items are an array that there is already.
#[test]
fn a_list_that_grows_is_kept_in_variables() {
    let bench = Workbench::of(
        "\
def entry_point(argv):
    squares = []
    for i in range(len(argv)):
        squares.append(i * i)
    sum = 0
    for square in squares:
        sum += square
    return sum
",
    );
    let text = optimized(&bench);
    assert!(text.contains("direct_call(&rlist.grow, "), "{text}");
    assert!(!text.contains("malloc(<type GcStruct list"), "{text}");
}

/// A decorator concerns the functions that call the one it decorates, or have what calls it inlined,
/// and no others. The function itself is only optimised where it is called at all.
#[test]
fn callers_are_optimised_again() {
    let text = |decorator: &str| {
        format!(
            "\
from rpython.rlib.objectmodel import dont_inline
def plain(f): return f
@{decorator}
def small(n):
    return n + 1
def caller(n):
    if n > 50:
        return caller(n - 1) + small(n)
    return small(n)
def other(n):
    if n > 50:
        return other(n - 1)
    return n * 5
def entry_point(argv):
    return caller(len(argv)) + other(len(argv))
"
        )
    };
    let mut bench = Workbench::of(&text("plain"));
    bench.db.log().record_from_now();
    bench.compile().expect("it is RPython");
    bench.db.take_log();
    let edit = |bench: &mut Workbench, decorator: &str| {
        bench.edit("/main.py", &text(decorator));
        bench.compile().expect("it is RPython");
        bench.ran(&["inlining", "simplified", "optimized"])
    };
    expect![[r#"
        inlining main.small
        optimized main.caller
        optimized main.entry_point
        optimized main.small
    "#]]
    .assert_eq(&edit(&mut bench, "dont_inline"));
    expect![[r#"
        inlining main.small
        optimized main.caller
        optimized main.entry_point
    "#]]
    .assert_eq(&edit(&mut bench, "plain"));
}
