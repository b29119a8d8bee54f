//! Fire walls: after an edit, exactly these queries run.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use expect_test::{Expect, expect};
use taipan_base::{MemorySystem, System, sync};
use taipan_driver::{Database, LoadOptions, QueryEvent, Timings, compile_native};

struct Workbench {
    db: Database,
    system: Arc<MemorySystem>,
}

impl Workbench {
    fn new(files: &[(&str, &str)]) -> Workbench {
        let system = Arc::new(MemorySystem::new(taipan_prelude::SHIPPED));
        for (path, text) in files {
            system.write(*path, text);
        }
        let bench = Workbench {
            db: Database::new(system.clone() as Arc<dyn System>),
            system,
        };
        bench.db.log().record_from_now();
        bench.compile().expect("the program compiles");
        bench.db.take_log();
        bench
    }

    /// Everything up to the object file of the whole program.
    fn compile(&self) -> Result<Vec<u8>, String> {
        let options = LoadOptions::default();
        let target = Utf8Path::new("/main.py");
        compile_native(&self.db, &options, target, &mut Timings::default())
            .map_err(|e| format!("{e:?}"))
    }

    /// Stages that run again after an edit: query and key. Projections, which only look
    /// a result up and compare it, are left out.
    fn edit(&mut self, path: &str, text: &str) -> String {
        self.system.write(path, text);
        sync(&mut self.db, &[Utf8PathBuf::from(path)]);
        // An edit may break the program.
        let _ = self.compile();
        let mut lines: Vec<String> = self
            .db
            .take_log()
            .into_iter()
            .filter(|(query, _, event)| {
                *event == QueryEvent::Executed && STAGES.contains(&query.as_str())
            })
            .map(|(query, key, _)| format!("{query} {key}\n"))
            .collect();
        lines.sort();
        lines.concat()
    }
}

/// Queries that do work.
const STAGES: &[&str] = &[
    "parse",
    "module_codes",
    "code",
    "image",
    "flow_graph",
    "solve",
    "annotate_helper",
    "rtyped_graph",
    "struct_body",
    "simplified",
    "optimized",
    "exceptions",
    "gc",
    "machine_code",
];

const MAIN: &str = "\
from lib import area, Shape

def helper(n):
    return n * 2 + 1

def entry_point(argv):
    s = Shape(len(argv), 3)
    print helper(area(s))
    return 0
";

const LIB: &str = "\
class Shape(object):
    def __init__(self, w, h):
        self.w = w
        self.h = h

def area(s):
    return s.w * s.h
";

fn check(path: &str, from: &str, to: &str, expected: &Expect) {
    let mut bench = Workbench::new(&[("/main.py", MAIN), ("/lib.py", LIB)]);
    let text = if path == "/main.py" { MAIN } else { LIB };
    assert!(text.contains(from));
    expected.assert_eq(&bench.edit(path, &text.replace(from, to)));
}

#[test]
fn nothing_changed() {
    check("/main.py", "n * 2 + 1", "n * 2 + 1", &expect![[""]]);
}

#[test]
fn one_body() {
    check(
        "/main.py",
        "n * 2 + 1",
        "n * 3 + 1",
        &expect![[r#"
        code /main.py:helper
        exceptions main.entry_point
        flow_graph main.helper
        gc main.entry_point
        machine_code main.entry_point
        module_codes /main.py
        optimized main.entry_point
        optimized main.helper
        parse /main.py
        rtyped_graph main.helper
        simplified main.helper
        solve /main.py
    "#]],
    );
}

#[test]
fn lines_moved() {
    check(
        "/lib.py",
        "def area",
        "# a comment\n\ndef area",
        &expect![[r#"
            module_codes /lib.py
            parse /lib.py
        "#]],
    );
}

#[test]
fn a_result_becomes_a_string() {
    check(
        "/main.py",
        "return n * 2 + 1",
        "return str(n)",
        &expect![[r#"
            code /main.py:helper
            exceptions main.entry_point
            flow_graph main.helper
            gc main.entry_point
            machine_code main.entry_point
            module_codes /main.py
            optimized main.entry_point
            optimized main.helper
            parse /main.py
            rtyped_graph main.entry_point
            rtyped_graph main.helper
            simplified main.entry_point
            simplified main.helper
            solve /main.py
        "#]],
    );
}

#[test]
fn a_new_attribute() {
    check(
        "/lib.py",
        "self.h = h",
        "self.h = h\n        self.tag = 0",
        &expect![[r#"
            code /lib.py:Shape.__init__
            flow_graph lib.Shape.__init__
            module_codes /lib.py
            optimized lib.Shape.__init__
            optimized lib.area
            optimized main.entry_point
            parse /lib.py
            rtyped_graph lib.Shape.__init__
            rtyped_graph main.entry_point
            simplified lib.Shape.__init__
            solve /main.py
            struct_body Instance(#4eb81115048cb214)
            struct_body Vtable(#4eb81115048cb214)
        "#]],
    );
}

#[test]
fn order_and_threads_change_nothing() {
    let edited = LIB.replace("s.w * s.h", "s.w + s.h");
    let fresh = Workbench::new(&[("/main.py", MAIN), ("/lib.py", &edited)]);
    let mut warm = Workbench::new(&[("/main.py", MAIN), ("/lib.py", LIB)]);
    warm.edit("/lib.py", "def area(s):\n    return 'x'\n");
    warm.edit("/lib.py", &edited);
    assert_eq!(fresh.compile(), warm.compile());
}
