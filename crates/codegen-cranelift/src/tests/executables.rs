//! Executables made with the C compiler.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use taipan_codegen::{Glue, SymbolRef};
use taipan_language::Machine;
use taipan_platform::{Libraries, Parts, link_executable};
use taipan_runtime_object::HOST_RUNTIME;

use super::{parse, transformed};
use crate::{LoadedImage, OptLevel, compile_all, object_file, run_program};

/// Prints its arguments; the exit code is their number, without any it raises.
pub(super) const PROGRAM: &str = "
    func rpy_os_write = external 'rpy_os_write': func(Signed, *GcStruct rpy_string) -> Signed
    struct list = GcStruct { length: Signed, items: *GcArray of *GcStruct rpy_string }
    func check = synth 'check' (): func(Signed) -> Signed
    graph check
    block0(n: Signed):
        big: Signed = int_sub(9223372036854775807, n)
        v: Signed = int_add_ovf(big, 2)
        canraise
            ok: return(v)
            &vtable #00000000000000e4 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): except(t0, v0)
    END
    graph entry_point
    block0(args: *GcStruct list):
        n: Signed = getfield(args, .length)
        items: *GcArray of *GcStruct rpy_string = getfield(args, .items)
        x: Signed = direct_call(&check, n)
        goto block1(items, 0, n)
    block1(i1: *GcArray of *GcStruct rpy_string, at: Signed, n1: Signed):
        c: Bool = int_lt(at, n1)
        switch c
            False: return(n1)
            True: block2(i1, at, n1)
    block2(i2: *GcArray of *GcStruct rpy_string, at2: Signed, n2: Signed):
        s: *GcStruct rpy_string = getarrayitem(i2, at2)
        w: Signed = direct_call(&rpy_os_write, 1, s)
        w2: Signed = direct_call(&rpy_os_write, 1, &'\\n')
        next: Signed = int_add(at2, 1)
        goto block1(i2, next, n2)
    END";

#[test]
fn built_programs_run() {
    let program = transformed(&parse(PROGRAM));
    let entry = program.function("entry_point").expect("declared");
    let roots = [SymbolRef::Glue(Glue::Main)];
    let image = compile_all(&program, &roots, Some(entry), OptLevel::Speed).expect("compiles");
    let object = object_file(&image, Machine::HOST).expect("writes");
    let dir = tempfile::tempdir().expect("a folder");
    let exe = dir.path().join("prog");
    let parts = Parts {
        compiler: "cc".as_ref(),
        objects: &[&object],
        runtime: HOST_RUNTIME,
        libraries: &Libraries::default(),
        options: &[],
    };
    link_executable(&parts, &exe).expect("links");
    for stress in ["0", "1"] {
        let run = |args: &[&str]| {
            let mut command = Command::new(&exe);
            command.args(args).env("TAIPAN_GC_STRESS", stress);
            command.output().expect("runs")
        };
        let out = run(&["one", "two"]);
        let name = exe.to_string_lossy();
        assert_eq!(
            String::from_utf8_lossy(&out.stdout),
            format!("{name}\none\ntwo\n")
        );
        assert_eq!(out.status.code(), Some(3));
        // One argument, its own name, is one too few.
        let out = run(&[]);
        assert_eq!(
            out.status.signal(),
            Some(6),
            "as C's abort() ends a program"
        );
        let err = String::from_utf8_lossy(&out.stderr);
        // Functions without lines are helpers: those below the first one are left out.
        assert_eq!(
            err,
            "RPython traceback:\n  File \"<taipan>\", in entry_point\n\
             Fatal RPython error: OverflowError\n"
        );
    }
}

#[test]
fn programs_run_in_this_process() {
    let program = transformed(&parse(PROGRAM));
    let entry = program.function("entry_point").expect("declared");
    let image = compile_all(&program, &[], Some(entry), OptLevel::Speed).expect("compiles");
    let image = LoadedImage::new(image).expect("loads");
    for args in [&["a", "b"][..], &["a", "b", "c", "d"]] {
        let argv: Vec<Vec<u8>> = args.iter().map(|a| a.as_bytes().to_vec()).collect();
        assert_eq!(run_program(&image, &argv), Ok(args.len() as i32));
    }
}
