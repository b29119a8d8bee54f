//! How much work the solver has: evaluations are counted, not timed.

use std::fmt::Write;

use taipan_graph::Const;
use taipan_interp::{Name, module_global, target_module};
use taipan_testkit::TestDb;

use super::basic::result_of;
use crate::solution::solve;
use crate::{RootSet, Roots};

/// How many evaluations it took so far to annotate `f` of `/main.py`.
fn evaluations(db: &TestDb) -> u32 {
    let program = db.program();
    let module = target_module(db, program).expect("a module");
    let Some(Const::Obj(func)) = module_global(db, Name::new(db, program, module, "f")) else {
        panic!("no f");
    };
    let args = [].into();
    let roots = Roots::new(db, program, RootSet::Call { func: *func, args }, false);
    solve(db, roots).read(|warm| warm.solver.clock)
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
    let evaluations = evaluations(&db);
    assert!(evaluations < 500, "{evaluations} evaluations");
}

/// Families of classes that have nothing to do with each other.
fn families(moved: bool) -> String {
    let mut text = String::new();
    for i in 0..20 {
        let base = if moved && i == 7 { "Left" } else { "Right" };
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
    text.push_str("    return a7\n");
    text
}

#[test]
fn a_class_that_moves_concerns_its_family_alone() {
    let mut db = TestDb::with_fixture(&format!("#- /main.py\n{}", families(false)));
    assert_eq!(result_of(&db, ""), "SomeInteger(nonneg, const=7)");
    let cold = evaluations(&db);
    for (moved, result) in [
        (true, "SomeString(no_nul, const='left')"),
        (false, "SomeInteger(nonneg, const=7)"),
        (true, "SomeString(no_nul, const='left')"),
    ] {
        let before = evaluations(&db);
        db.edit("/main.py", &families(moved));
        assert_eq!(result_of(&db, ""), result);
        let after = evaluations(&db) - before;
        assert!(after * 4 < cold, "{after} evaluations, {cold} at first");
    }
}
