//! Control flow of random graphs, as CPython and the LLInterpreter run it.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;

use expect_test::expect;
use taipan_llinterp::LLInterpreter;
use taipan_lltype::{FuncSym, LLValue, Program, TableProgram};
use taipan_testkit::{Numbers, random_graph, with_ends};

use crate::{Comments, Entry, Module, function_text};

struct NoComments;

impl Comments for NoComments {
    fn place(&self, _: &FuncSym, _: u32) -> Option<(String, u32)> {
        None
    }
}

fn module(program: &TableProgram) -> Module<'_> {
    let mut module = Module::new(program);
    for f in &program.functions {
        module.enter(f).expect("it can be expressed");
    }
    for f in module.missing() {
        let graph = program.graph(&f).expect("it is there");
        let text = function_text(&graph, program).expect("it can be expressed");
        module.add(&f, Arc::new(text)).expect("it can be expressed");
    }
    module
}

fn python(text: &str) -> String {
    let program = TableProgram::parse(text).expect("parses");
    module(&program).finish_functions(&program.functions, &NoComments)
}

#[test]
fn a_loop_with_two_entries() {
    let text = with_ends(
        "
        graph f
        block0(n: Signed):
            c: Bool = int_gt(n, 10)
            switch c
                False: block1(n)
                True: block2(n)
        block1(a: Signed):
            b: Signed = int_sub(a, 1)
            goto block2(b)
        block2(d: Signed):
            e: Bool = int_gt(d, 0)
            switch e
                False: return(d)
                True: block1(d)
        END",
    );
    expect![[r#"
        def f(n_0):
            block = 0
            while True:
                if block == 0:
                    if n_0 <= 10:
                        a_2 = n_0
                        block = 3
                    else:
                        d_4 = n_0
                        block = 1
                elif block == 1:
                    if d_4 <= 0:
                        return d_4
                    else:
                        a_2 = d_4
                        block = 3
                elif block == 3:
                    d_4 = signed(a_2 - 1)
                    block = 1
    "#]]
    .assert_eq(&python(&text));
}

#[test]
fn random_control_flow() {
    let mut numbers = Numbers(1);
    let mut calls = String::new();
    let mut expected = String::new();
    let mut text = String::new();
    for i in 0..200 {
        let graph = random_graph(&format!("f{i}"), &mut numbers);
        let program = TableProgram::parse(&graph).expect("parses");
        let f = program.functions[0].clone();
        for (n, a) in [(1, 5), (7, 9), (40, 3), (60, -8), (90, 12345)] {
            let args = [n, a].map(LLValue::signed).to_vec();
            let result = LLInterpreter::new(&program)
                .eval(&f, args)
                .expect("it ends");
            let _ = writeln!(
                expected,
                "f{i}({n}, {a}) = {}",
                result.as_i64().unwrap_or_default()
            );
            let _ = writeln!(calls, "print('f{i}({n}, {a}) =', f{i}({n}, {a}))");
        }
        text.push_str(&python(&graph));
    }
    let library = crate::support_library();
    let folder = std::env::temp_dir().join(format!("taipan-python-{}", std::process::id()));
    std::fs::write(&folder, format!("{library}\n{text}\n{calls}")).expect("it is written");
    let output = Command::new("python3")
        .arg(&folder)
        .output()
        .expect("python3 is there");
    let _ = std::fs::remove_file(&folder);
    let printed = String::from_utf8_lossy(&output.stdout);
    let wrong = printed.lines().zip(expected.lines()).find(|(a, b)| a != b);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(wrong, None, "{stderr}");
    assert_eq!(
        printed.lines().count(),
        expected.lines().count(),
        "{stderr}"
    );
}

#[test]
fn an_empty_program_is_complete() {
    let program = TableProgram::parse(&with_ends(
        "graph f\n    block0(n: Signed): goto return(n)\n    END",
    ))
    .expect("parses");
    let text = module(&program).finish("f.py", &Entry::Nothing, None, &NoComments);
    assert!(
        text.expect("it is made")
            .starts_with("#!/usr/bin/env python3\n")
    );
}
