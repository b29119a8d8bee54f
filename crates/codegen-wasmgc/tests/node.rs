//! Random control flow, as Node and the LLInterpreter run it.
//!
//! It takes Node 22 or later: `TAIPAN_NODE`, or `node`. Where there is none, the test is reported as ignored; where
//! `TAIPAN_NODE` is set, it fails.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed};
use taipan_codegen_wasmgc::{Linker, function_code};
use taipan_llinterp::LLInterpreter;
use taipan_lltype::{LLType, Program, TableProgram, TypeKind};
use taipan_ootype::lower;
use taipan_testkit::{Numbers, random_graph, timed_trial, with_ends};

/// Runs a module, and prints the result of its `run`.
const RUNNER: &str = "
const module = new WebAssembly.Module(require('fs').readFileSync(process.argv[1]));
const host = new Proxy({}, { get: () => () => 0 });
console.log(String(new WebAssembly.Instance(module, { taipan: host }).exports.run()));
";

fn node() -> OsString {
    std::env::var_os("TAIPAN_NODE").unwrap_or_else(|| "node".into())
}

/// The module of a program that starts with its function `main`.
fn module(program: &TableProgram) -> Vec<u8> {
    let entry = program.function("main").expect("an entry point");
    let mut linker = Linker::new(program, entry).expect("the host has all");
    loop {
        let missing = linker.missing();
        if missing.is_empty() {
            break;
        }
        for f in missing {
            let graph = program.graph(&f).expect("it is there");
            let graph = lower(&graph, program).expect("it has a translation");
            let ty = LLType::new(TypeKind::Func(f.ty().clone()));
            let code = function_code(&graph, ty, program).expect("it has code");
            linker.add(&f, code.into()).expect("the host has all");
        }
    }
    linker.finish(false).expect("it is complete").module
}

/// Runs all functions on some arguments, each of whose results changes the one number that comes out.
fn random_control_flow() -> Result<Completion, Failed> {
    let mut numbers = Numbers(7);
    let (mut declared, mut graphs, mut calls) = (String::new(), String::new(), String::new());
    let mut count = 0;
    for i in 0..200 {
        let _ = writeln!(
            declared,
            "func f{i} = synth 'f{i}' (): func(Signed, Signed) -> Signed"
        );
        graphs.push_str(&random_graph(&format!("f{i}"), &mut numbers));
        for (n, a) in [(1, 5), (7, 9), (40, 3), (60, -8), (90, 12345)] {
            let _ = write!(
                calls,
                "        r{count}: Signed = direct_call(&f{i}, {n}, {a})
        m{count}: Signed = int_mul(x{count}, 1000003)
        x{}: Signed = int_xor(m{count}, r{count})
",
                count + 1
            );
            count += 1;
        }
    }
    let main = format!(
        "graph main\n    block0():\n        x0: Signed = int_add(1, 0)\n{calls}        goto return(x{count})\n    \
         return(r: Signed) except(etype: *Struct object_vtable, evalue: *GcStruct object)\n"
    );
    let program = TableProgram::parse(&with_ends(&format!("{declared}{graphs}{main}")))?;
    let entry = program.function("main").expect("an entry point").clone();
    let expected = LLInterpreter::new(&program)
        .eval(&entry, Vec::new())
        .map_err(|e| format!("{e:?}"))?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("random.wasm");
    std::fs::write(&path, module(&program))?;
    let output = Command::new(node())
        .arg("-e")
        .arg(RUNNER)
        .arg(&path)
        .output()?;
    let found = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = expected.as_i64().map(|n| n.to_string());
    assert_eq!(Some(found.trim()), expected.as_deref(), "{stderr}");
    Ok(Completion::Completed)
}

/// Why nothing can be run.
fn lack() -> Option<String> {
    let runs =
        "new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 3, 1, 0x5f, 0]))";
    match Command::new(node()).arg("-e").arg(runs).output() {
        Ok(o) if o.status.success() => None,
        Ok(_) => Some("this Node has no WebAssembly with garbage collection".to_owned()),
        Err(e) => Some(format!("{}: {e}", node().to_string_lossy())),
    }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let reason = if args.list { None } else { lack() };
    let required = std::env::var_os("TAIPAN_NODE").is_some();
    let test = timed_trial("random_control_flow", move || match reason {
        None => random_control_flow(),
        Some(why) if !required => Ok(Completion::ignored_with(why)),
        Some(why) => Err(why.into()),
    });
    libtest_mimic::run(&args, vec![test]).exit_code()
}
