//! What an edit has run again on each way to code: for debuggers, for other machines, with each
//! collector, by way of C and LLVM, and as WebAssembly with the host's collector. The output after an edit equals that of a fresh process.

use expect_test::{Expect, expect};
use taipan_driver::{LoadOptions, Machine, Stage, Timings, wasmgc_module};
use taipan_language::Collector;
use taipan_workbench::Workbench;

const ONE: &str = "\
def f(n):
    s = 0
    for i in range(n): s += i * n
    return s
";

const TWO: &str = "\
def g(n):
    s = 1
    while n: s, n = s * n, n - 1
    return [s]
";

const MAIN: &str = "\
import one, two

def entry_point(argv):
    n = len(argv)
    print one.f(n + 3) + two.g(n + 4)[-1]
    return 0
";

/// No function of the module is inlined, so this concerns one function.
fn another_body() -> String {
    ONE.replace("i * n", "i - n")
}

/// The lines of the function move, and nothing else.
fn moved() -> String {
    format!("# moved\n{ONE}")
}

/// Queries behind the optimised graphs, as far as they do work.
const BEHIND: &[&str] = &[
    "exceptions",
    "gc",
    "machine_code",
    "code_debug",
    "c_code",
    "llvm_code",
    "llvm_source",
    "llvm_data",
    "llvm_type_info",
    "llvm_program",
    "llvm_module",
    "oo_graph",
    "wasmgc_code",
];

fn with(one: &str, options: &LoadOptions) -> Workbench {
    let files = [("/main.py", MAIN), ("/one.py", one), ("/two.py", TWO)];
    let mut bench = Workbench::with(&files);
    bench.options = options.clone();
    bench.db.log().record_from_now();
    bench
}

/// What runs after an edit of a body, and after one that moves lines.
fn check<T: PartialEq>(options: &LoadOptions, make: impl Fn(&Workbench) -> T, expected: &Expect) {
    let mut bench = with(ONE, options);
    make(&bench);
    bench.db.take_log();
    let mut ran = String::new();
    for (what, one) in [("body", another_body()), ("lines", moved())] {
        bench.edit("/one.py", ONE);
        make(&bench);
        bench.db.take_log();
        bench.edit("/one.py", &one);
        let made = make(&bench);
        ran += &format!("{what}:\n{}", bench.ran(BEHIND));
        assert!(made == make(&with(&one, options)), "{what}");
    }
    expected.assert_eq(&ran);
}

fn object(bench: &Workbench) -> Vec<u8> {
    bench.compile().expect("it compiles")
}

#[test]
fn an_object_file() {
    check(
        &LoadOptions::default(),
        object,
        &expect![[r#"
        body:
        exceptions one.f
        gc one.f
        machine_code one.f
        lines:
    "#]],
    );
}

#[test]
fn for_debuggers() {
    let options = LoadOptions {
        debug: true,
        ..LoadOptions::default()
    };
    check(
        &options,
        object,
        &expect![[r#"
        body:
        code_debug one.f
        exceptions one.f
        gc one.f
        machine_code one.f
        lines:
        code_debug one.f
    "#]],
    );
}

#[test]
fn checked() {
    let options = LoadOptions {
        checked: true,
        ..LoadOptions::default()
    };
    check(
        &options,
        object,
        &expect![[r#"
        body:
        exceptions one.f
        gc one.f
        machine_code one.f
        lines:
    "#]],
    );
}

/// Each machine has the same queries run.
#[test]
fn for_each_machine() {
    let expected = expect![[r#"
        body:
        exceptions one.f
        gc one.f
        machine_code one.f
        lines:
    "#]];
    for machine in Machine::ALL {
        if !machine.needs_c() {
            let options = LoadOptions {
                machine,
                ..LoadOptions::default()
            };
            check(&options, object, &expected);
        }
    }
}

/// Each collector has the same queries run.
#[test]
fn with_each_collector() {
    let expected = expect![[r#"
        body:
        exceptions one.f
        gc one.f
        machine_code one.f
        lines:
    "#]];
    for collector in Collector::ALL {
        let options = LoadOptions {
            collector: *collector,
            ..LoadOptions::default()
        };
        check(&options, object, &expected);
    }
}

/// The files of a program in C, by name.
fn c_files(bench: &Workbench) -> Vec<(String, String)> {
    let timings = &mut Timings::default();
    let program = taipan_driver::parts::c_files(&bench.db, &bench.options, &bench.target, timings);
    let files = program.expect("it compiles").sources.into_iter();
    files.map(|f| (f.name, f.text)).collect()
}

/// LLVM's modules, by name.
fn llvm_modules(bench: &Workbench) -> Vec<(String, String)> {
    let text = bench.emit(Stage::Llvm).expect("it compiles");
    let modules = text.split("\n; ").map(|m| {
        let name = m.lines().next().unwrap_or_default();
        (name.trim_start_matches("; ").to_owned(), m.to_owned())
    });
    modules.collect()
}

#[test]
fn by_way_of_c() {
    check(
        &LoadOptions::default(),
        c_files,
        &expect![[r#"
        body:
        c_code one.f
        exceptions one.f
        gc one.f
        lines:
    "#]],
    );
}

#[test]
fn by_way_of_c_for_other_machines() {
    let expected = expect![[r#"
        body:
        c_code one.f
        exceptions one.f
        gc one.f
        lines:
    "#]];
    for machine in Machine::ALL {
        if machine.needs_c() {
            let options = LoadOptions {
                machine,
                ..LoadOptions::default()
            };
            check(&options, c_files, &expected);
        }
    }
}

/// Without and with information for debuggers the same queries run.
#[test]
fn by_llvm() {
    let expected = expect![[r#"
        body:
        exceptions one.f
        gc one.f
        llvm_code one.f
        llvm_module one
        llvm_program main.entry_point
        llvm_source one.f
        lines:
        llvm_module one
        llvm_program main.entry_point
        llvm_source one.f
    "#]];
    for debug in [false, true] {
        let options = LoadOptions {
            debug,
            ..LoadOptions::default()
        };
        check(&options, llvm_modules, &expected);
    }
}

/// An edit of a body changes the file or module that the function is in, and no other.
#[test]
fn one_file_changes() {
    let changed = |make: fn(&Workbench) -> Vec<(String, String)>| {
        let mut bench = with(ONE, &LoadOptions::default());
        let before = make(&bench);
        bench.edit("/one.py", &another_body());
        let after = make(&bench);
        assert_eq!(before.len(), after.len());
        let pairs = before.into_iter().zip(after);
        let changed = pairs.filter(|(a, b)| a != b).map(|(_, b)| b.0);
        changed.collect::<Vec<String>>()
    };
    assert_eq!(changed(c_files), ["one.c"]);
    assert_eq!(changed(llvm_modules), ["one"]);
}

/// Types, functions and data have other numbers in the module when one is added: code knows nothing of that.
#[test]
fn with_the_collector_of_the_host() {
    let options = LoadOptions {
        machine: Machine::Wasm32,
        ..LoadOptions::default()
    };
    let module = |bench: &Workbench| {
        let timings = &mut Timings::default();
        let output = "/made.wasm".into();
        wasmgc_module(&bench.db, &bench.options, &bench.target, output, timings)
            .expect("it compiles")
    };
    check(
        &options,
        module,
        &expect![[r#"
        body:
        exceptions one.f
        oo_graph one.f
        wasmgc_code one.f
        lines:
    "#]],
    );
}
