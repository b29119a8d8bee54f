//! What functions return, for given arguments.

use expect_test::{Expect, expect};
use taipan_graph::Const;
use taipan_interp::{Name, module_global, target_module};
use taipan_testkit::TestDb;

use crate::{
    RootSet, Roots, annotation, annotation_diagnostics, annotation_text, parse_inputs, specs_of,
};

/// Annotates `f` of `/main.py`, called with these inputs, and shows its result, or
/// what is wrong.
pub(super) fn result_of(db: &TestDb, inputs: &str) -> String {
    let program = db.program();
    let problems = taipan_interp::image_diagnostics(db, program);
    if let Some(d) = problems.first() {
        return format!("import: {}", d.message);
    }
    let Some(module) = *target_module(db, program) else {
        return "no module".into();
    };
    let name = Name::new(db, program, module, "f");
    let Some(Const::Obj(func)) = module_global(db, name) else {
        return "no f".into();
    };
    let args = match parse_inputs(inputs) {
        Ok(a) => a.into(),
        Err(e) => return e,
    };
    let roots = Roots::new(db, program, RootSet::Call { func: *func, args });
    let mut out = String::new();
    for d in annotation_diagnostics(db, roots).iter() {
        let place = match d.primary {
            Some(s) => {
                let text = s.file.text(db);
                let line = taipan_base::LineIndex::new(text)
                    .line_column(text, s.range.start)
                    .0;
                format!("{line}: ")
            }
            None => String::new(),
        };
        out.push_str(&format!("{place}{} {}\n", d.code, d.message));
        for n in &d.notes {
            out.push_str(&format!("    {}\n", n.message));
        }
    }
    if !out.is_empty() {
        return out;
    }
    for spec in specs_of(db, roots).iter() {
        if spec.func(db) == *func {
            let a = annotation(db, *spec);
            return annotation_text(db, roots, &a.signature.result);
        }
    }
    "not reached".into()
}

#[track_caller]
fn check(source: &str, inputs: &str, expected: Expect) {
    let db = TestDb::with_fixture(source);
    expected.assert_eq(&result_of(&db, inputs));
}

#[test]
fn integers() {
    check(
        "def f(x): return x + 1",
        "SomeInteger(nonneg)",
        expect!["SomeInteger(nonneg)"],
    );
    check(
        "def f(x): return x - 1",
        "SomeInteger(nonneg)",
        expect!["SomeInteger"],
    );
}
