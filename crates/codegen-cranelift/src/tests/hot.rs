//! Code that is replaced while another process runs it.

use taipan_codegen::{Lister, Listing};
use taipan_lltype::{StructBody, StructId, TableProgram};

use super::{parse, transformed};
use crate::compiler::OnDemand;
use crate::{FunctionCompiler, HotProgram, Obstacle, OptLevel, Region};

/// Calls `price` by its name and by a pointer.
const PROGRAM: &str = "
    func price = synth 'price' (): func(Signed) -> Signed
    func more = synth 'more' (): func(Signed) -> Signed
    func twice = synth 'twice' (): func(*func(Signed) -> Signed, Signed) -> Signed
    graph price
    block0(n: Signed):
        r: Signed = int_mul(n, 2)
        goto return(r)
    END
    graph twice
    block0(p: *func(Signed) -> Signed, m: Signed):
        a: Signed = indirect_call(p, m, {price})
        b: Signed = direct_call(&price, m)
        c: Signed = int_add(a, b)
        goto return(c)
    END
    graph entry_point
    block0():
        v: Signed = direct_call(&twice, &price, 10)
        goto return(v)
    END";

fn program(text: &str) -> TableProgram {
    transformed(&parse(text))
}

fn listing(program: &TableProgram) -> Listing {
    let entry = program.function("entry_point").expect("declared");
    let mut source = OnDemand::new(
        program,
        FunctionCompiler::new(OptLevel::Speed).expect("a compiler"),
    );
    (Lister::default().list(program, &mut source, entry)).expect("lists")
}

/// In another process: what the entry point answers, again and again, until `last` does
/// not come any more; the last answer is the exit code.
fn elsewhere(region: &Region, entry: usize, last: i64) -> libc::pid_t {
    // SAFETY: the child makes system calls and runs the code in the region, no more.
    unsafe {
        let pid = libc::fork();
        if pid != 0 {
            return pid;
        }
        if region.enter().is_err() {
            libc::_exit(255);
        }
        // It does not outlive a test that has failed.
        libc::alarm(60);
        let entry: extern "C" fn() -> i64 = std::mem::transmute(entry);
        loop {
            let answer = entry();
            if answer != last {
                libc::_exit(answer as i32);
            }
            libc::sched_yield();
        }
    }
}

fn exit_code(pid: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: waits for a child of this test.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => -1,
    }
}

#[test]
fn a_running_process_sees_new_code() {
    let before = program(PROGRAM);
    let region = Region::new().expect("memory");
    let mut hot = HotProgram::load(&region, &listing(&before)).expect("loads");
    let entry = before.function("entry_point").expect("declared");
    let address = hot.entry(entry).expect("is there");
    let process = elsewhere(&region, address, 40);

    // A body that calls a function that was not there before.
    let after = program(
        &PROGRAM
            .replace(
                "r: Signed = int_mul(n, 2)",
                "k: Signed = int_add(n, 0)
        r: Signed = direct_call(&more, k)",
            )
            .replace(
                "graph price",
                "graph more
        block0(x: Signed):
            y: Signed = int_mul(x, 3)
            goto return(y)
        END
        graph price",
            ),
    );
    let replaced = hot
        .replace(&listing(&after))
        .expect("compiles")
        .expect("can be replaced");
    let names: Vec<_> = replaced.iter().map(|f| f.name().to_owned()).collect();
    assert_eq!(names, ["price"]);
    assert_eq!(hot.entry(entry), Some(address));
    // Both ways of calling lead to the new code, though one may do so before the other.
    assert!([50, 60].contains(&exit_code(process)));
    assert_eq!(exit_code(elsewhere(&region, address, 0)), 60);

    // The same again is no change.
    let replaced = hot
        .replace(&listing(&after))
        .expect("compiles")
        .expect("can be replaced");
    assert!(replaced.is_empty());
}

/// Reads a field of a struct whose fields the program knows by name.
const LAYOUT: &str = "
    struct C = GcStruct forward 'C'
    func field = synth 'field' (): func(*GcStruct C) -> Signed
    graph field
    block0(c: *GcStruct C):
        v: Signed = getfield(c, .x)
        goto return(v)
    END
    graph entry_point
    block0():
        v: Signed = direct_call(&field, null *GcStruct C)
        goto return(v)
    END";

#[test]
fn another_layout_is_an_obstacle() {
    let point = |names: [&str; 2]| StructBody {
        fields: names
            .map(|n| taipan_lltype::Field {
                name: n.into(),
                ty: *taipan_lltype::SIGNED,
            })
            .to_vec(),
        ..StructBody::default()
    };
    let with = |names| {
        let mut program = parse(LAYOUT);
        program.structs = vec![(StructId::Forward("C".into()), point(names))];
        transformed(&program)
    };
    let region = Region::new().expect("memory");
    let mut hot = HotProgram::load(&region, &listing(&with(["x", "y"]))).expect("loads");
    let obstacle = hot.replace(&listing(&with(["y", "x"]))).expect("compiles");
    assert_eq!(obstacle, Err(Obstacle::Layout("C".into())));
    let same = hot.replace(&listing(&with(["x", "y"]))).expect("compiles");
    assert_eq!(same, Ok(Vec::new()));
}
