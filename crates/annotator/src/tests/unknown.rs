//! Random programs of which little is known: calls with None in the place of a value, functions
//! without callers, containers that hold themselves, functions and methods that are stored in and
//! called from lists and dicts, mutual recursion. Most of these programs have errors:
//! errors are found in bounded work, and incremental and fresh results are equal.

use std::fmt::Write as _;

use taipan_fuzz::{Choices, Target};
use taipan_graph::Const;
use taipan_interp::{Name, module_global, target_module};
use taipan_testkit::TestDb;

use super::basic::result_of;
use crate::solution::solve;
use crate::{RootSet, Roots, parse_inputs};

const FUNCTIONS: usize = 5;

const CLASSES: &str = "\
class Base(object):
    x = None
    def __init__(self, x):
        self.x = x
    def m(self, a):
        return self.x

class One(Base):
    def m(self, a):
        self.y = a
        return self

class Two(Base):
    def m(self, a):
        return a.m(self)

";

const TABLES: &str = "
TABLE = {'k': f0, 's': f1}
ROW = [f1, f2, f0]

def f(n):
    f3(n, None)
    return f0(None, n)
";

struct Writer<'w, 'c> {
    choices: &'w mut Choices<'c>,
}

impl Writer<'_, '_> {
    fn function(&mut self, i: usize) -> String {
        let mut text = format!("def f{i}(a, b):\n    c = {}\n", self.value(2));
        for _ in 0..self.choices.below(5) {
            let statement = self.statement();
            let _ = writeln!(text, "{statement}");
        }
        text + &format!("    return {}\n\n", self.value(2))
    }

    fn variable(&mut self) -> &'static str {
        self.choices.of(&["a", "b", "c"])
    }

    fn callee(&mut self) -> String {
        match self.choices.below(7) {
            0..=2 => format!("f{}", self.choices.below(FUNCTIONS)),
            3 => format!("TABLE[{}]", self.choices.of(&["'k'", "'s'", "c"])),
            4 => format!("ROW[{}]", self.choices.of(&["0", "len(ROW) - 1"])),
            5 => format!("{}[0]", self.variable()),
            _ => self.variable().to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        let plain = match depth {
            0 => 5,
            _ => 16,
        };
        match self.choices.below(plain) {
            0 => "None".to_owned(),
            1 | 2 => self.variable().to_owned(),
            3 => "1".to_owned(),
            4 => self
                .choices
                .of(&["'s'", "2.5", "f2", "Base(None).m"])
                .to_owned(),
            5 | 6 => {
                let (callee, a, b) = (self.callee(), self.value(depth - 1), self.value(depth - 1));
                format!("{callee}({a}, {b})")
            }
            7 => format!("[{}]", self.value(depth - 1)),
            8 => format!("{{'k': {}}}", self.value(depth - 1)),
            9 | 10 => format!("({}, {})", self.value(depth - 1), self.value(depth - 1)),
            11 => {
                let class = self.choices.of(&["Base", "One", "Two"]);
                format!("{class}({})", self.value(depth - 1))
            }
            12 => format!("{}.m({})", self.variable(), self.value(depth - 1)),
            13 => format!("{}.x", self.variable()),
            14 => format!(
                "{}[{}]",
                self.variable(),
                self.choices.of(&["0", "1", "'k'", "b"])
            ),
            _ => format!("{}(a)", self.variable()),
        }
    }

    fn statement(&mut self) -> String {
        let v = self.variable();
        let e = self.value(2);
        match self.choices.below(10) {
            0 => format!("    {v} = {e}"),
            1 => format!("    if a:\n        {v} = {e}"),
            2 => format!("    for i in range(3):\n        {v} = ({v}, {e})"),
            3 => format!("    for i in range(3):\n        {v} = [{v}]"),
            4 => format!("    {v}.append({e})"),
            5 => format!("    {v}.append({v})"),
            6 => format!("    {v}['k'] = {e}"),
            7 => format!("    {v}.x = {e}"),
            8 => format!("    if isinstance({v}, One):\n        return {v}.m({v})"),
            _ => format!("    for {v} in {e}:\n        c = {v}"),
        }
    }
}

fn program(functions: &[String]) -> String {
    format!("{CLASSES}{}{TABLES}", functions.concat())
}

/// The first error in `f`, or its result, with the work done so far.
fn annotated(db: &TestDb) -> (String, u64) {
    let result = result_of(db, "SomeInteger");
    let program = db.program();
    let module = target_module(db, program).expect("a module");
    let Some(Const::Obj(func)) = module_global(db, Name::new(db, program, module, "f")) else {
        panic!("no f");
    };
    let args = parse_inputs("SomeInteger").unwrap().into();
    let roots = Roots::new(db, program, RootSet::Call { func: *func, args }, false);
    let steps = |roots| solve(db, roots).read(|warm| warm.solver.steps);
    (result, steps(roots) + steps(roots.recover(db)))
}

/// Slots that such a program reads and writes, at most: twenty times what is usual.
const MOST_STEPS: u64 = 20_000;

#[test]
fn programs_of_which_little_is_known() {
    let target = Target::new("annotation").cases(12).bytes(512);
    target.run(|choices| {
        let mut writer = Writer { choices };
        let mut functions: Vec<String> = (0..FUNCTIONS).map(|i| writer.function(i)).collect();
        let source = program(&functions);
        let mut db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
        let (_, mut before) = annotated(&db);
        assert!(before < MOST_STEPS, "{before} steps:\n{source}");
        for _ in 0..2 {
            let i = writer.choices.below(FUNCTIONS);
            functions[i] = writer.function(i);
            let source = program(&functions);
            db.edit("/main.py", &source);
            let (edited, steps) = annotated(&db);
            let fresh = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
            let (anew, from_start) = annotated(&fresh);
            assert_eq!(edited, anew, "{source}");
            assert!(from_start < MOST_STEPS, "{from_start} steps:\n{source}");
            let edit = steps.checked_sub(before).unwrap_or(steps);
            assert!(edit < 2 * MOST_STEPS, "{edit} steps for an edit:\n{source}");
            before = steps;
        }
    });
}
