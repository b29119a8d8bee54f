//! Programs as WebAssembly with the host's collector, run by Node: their output and their end are the same as on this
//! machine.
//!
//! It takes Node 22 or later: `TAIPAN_NODE`, or `node`. Where there is none, tests are reported as ignored; where
//! `TAIPAN_NODE` is set, they fail.

#[path = "support/elsewhere.rs"]
#[allow(dead_code, reason = "other targets use more of it")]
mod elsewhere;
#[path = "support/programs.rs"]
mod programs;
#[path = "support"]
mod support {
    #[allow(dead_code, reason = "other tests make the cases by their own number")]
    pub(crate) mod generated;
    pub(crate) mod text;
}

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::LazyLock;

use elsewhere::{Place, stderr};
use expect_test::expect;
use libtest_mimic::{Arguments, Completion, Failed};
use programs::{PROGRAMS, outcome, programs};
use support::generated::{self, Generated};
use taipan_testkit::timed_trial;

const WASM: &str = "wasm32-wasi";
const HOST: &str = "x86_64-unknown-linux-gnu";
const BACKEND: &[&str] = &["--backend", "wasmgc"];

const FILES: &[(&str, &str)] = &[
    ("numbers.py", include_str!("targets/numbers.py")),
    ("faults.py", include_str!("targets/faults.py")),
    ("system.py", include_str!("wasmgc/system.py")),
    ("floats.py", include_str!("wasmgc/floats.py")),
    ("objects.py", include_str!("wasmgc/objects.py")),
    ("missing.py", include_str!("wasmgc/missing.py")),
];

/// The fixtures that are refused, with the message of each diagnostic.
const REFUSED: &[(&str, &[&str])] = &[("files.py", &["no processes: fork() cannot be called"])];

/// Where the programs of this file are.
static PLACE: LazyLock<Place> = LazyLock::new(|| Place::new("wasmgc", FILES));

/// The Node that runs programs.
fn node() -> OsString {
    std::env::var_os("TAIPAN_NODE").unwrap_or_else(|| "node".into())
}

/// Builds a program: the script that runs it.
fn built(folder: &Path, target: &str, options: &[&str]) -> Result<PathBuf, Failed> {
    let all = [BACKEND, options].concat();
    let name = format!("{}{}.wasm", target.replace('/', "_"), options.concat());
    let out = PLACE.0.join(name);
    let mut args = vec!["build", "--quiet", "--target", WASM, "-o"];
    args.push(out.to_str().expect("a path in UTF-8"));
    args.extend(all);
    args.push(target);
    let o = PLACE.taipan(folder, &args);
    match o.status.success() {
        true => Ok(out.with_extension("mjs")),
        false => Err(format!("{target}: {}", stderr(&o)).into()),
    }
}

/// Runs a program on some input.
fn run(script: &Path, folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(node())
        .arg(script)
        .args(args)
        .current_dir(folder)
        .env("TAIPAN_TEST", "set")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Node runs");
    let mut stdin = child.stdin.take().expect("it has an input");
    // A program may end before it has read all.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("Node ends")
}

/// How a program ends by a signal on this machine it ends with exit code 1 here.
fn same(expected: &Output, found: &Output) -> bool {
    let ((text, code), (found_text, found_code)) = (outcome(expected), outcome(found));
    (text, code.unwrap_or(1)) == (found_text, found_code.unwrap_or(-1))
}

/// Compares runs of a program on this machine and in Node.
fn compare(folder: &Path, target: &str, args: &[&str], options: &[&str]) -> Result<(), Failed> {
    let script = built(folder, target, options)?;
    let here = PLACE.built(folder, target, HOST, &[])?;
    let expected = Command::new(here).args(args).current_dir(folder).output()?;
    let found = run(&script, folder, args, "");
    if same(&expected, &found) {
        return Ok(());
    }
    Err(format!(
        "{target} {args:?} {options:?}\n--- here\n{:?}\n{}\n--- wasmgc\n{:?}\n{}",
        outcome(&expected),
        stderr(&expected),
        outcome(&found),
        stderr(&found),
    )
    .into())
}

/// The messages of errors, each once, without their common part.
fn messages(text: &str) -> Vec<String> {
    let start = "error[TP0504]: WebAssembly with the host's collector has ";
    let lines = text.lines().filter(|l| l.starts_with("error"));
    let mut all: Vec<String> = lines
        .map(|l| l.strip_prefix(start).unwrap_or(l).to_owned())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// All fixtures but those that are refused.
fn fixtures() -> Result<(), Failed> {
    let refused: BTreeMap<&str, &[&str]> = REFUSED.iter().copied().collect();
    let mut wrong = Vec::new();
    for (target, args) in PROGRAMS.iter().filter(|(t, _)| !refused.contains_key(t)) {
        if let Err(why) = compare(&programs(), target, args, &[]) {
            wrong.push(why.message().unwrap_or_default().to_owned());
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n\n").into()),
    }
}

/// Generated programs: projects of several modules, and programs that use much of the language.
fn generated() -> Result<(), Failed> {
    let all = generated::projects()
        .chain(generated::numbered(
            generated::PROGRAMS,
            8,
            generated::random_program,
        ))
        .chain(generated::numbered(
            generated::FAMILIES,
            3,
            generated::program_of_families,
        ))
        .chain(generated::numbered(
            generated::CLASSES,
            3,
            generated::program_of_classes,
        ));
    for program in all {
        let folder = program.write();
        compare_generated(&program, folder.path())?;
    }
    Ok(())
}

fn compare_generated(program: &Generated, folder: &Path) -> Result<(), Failed> {
    let target = program.target;
    let name = |e: Failed| format!("{}: {}", program.name, e.message().unwrap_or_default());
    let script = built(folder, target, &[]).map_err(name)?;
    let expected = PLACE.taipan(folder, &["run", "--quiet", target]);
    let found = run(&script, folder, &[], "");
    assert!(
        !expected.stdout.is_empty(),
        "{} printed nothing",
        program.name
    );
    match same(&expected, &found) {
        true => Ok(()),
        false => Err(format!(
            "{}\n--- here\n{:?}\n--- wasmgc\n{:?}\n{}",
            program.name,
            outcome(&expected),
            outcome(&found),
            stderr(&found)
        )
        .into()),
    }
}

/// The refused programs and the reason for each; no other program is refused.
fn refused() -> Result<(), Failed> {
    for (target, expected) in REFUSED {
        let all = [&["build", "-q", "--target", WASM], BACKEND, &[target]].concat();
        let o = PLACE.taipan(&programs(), &all);
        assert_eq!(messages(&stderr(&o)), *expected, "{target}");
        assert_eq!(o.status.code(), Some(1));
    }
    Ok(())
}

/// At every level, with checks, and with names for debuggers.
fn levels() -> Result<(), Failed> {
    for options in [&["-O0"][..], &["-O1"], &["-O2"], &["-g"]] {
        for (target, args) in [("richards.py", &["1"]), ("grammar.py", &["1"])] {
            compare(&programs(), target, args, options)?;
        }
    }
    Ok(())
}

/// Floats to and from texts, and numbers of up to 128 bits at their edges.
fn numbers() -> Result<(), Failed> {
    compare(&PLACE.0, "floats.py", &["7"], &[])?;
    compare(&PLACE.0, "numbers.py", &["7"], &[])
}

/// Instances, function pointers, identity hashes, weak references, prebuilt data that refers to itself.
fn objects() -> Result<(), Failed> {
    compare(&PLACE.0, "objects.py", &["7"], &[])
}

/// Uncaught exceptions, a null pointer, a division by zero, and a stack that is used up.
fn faults() -> Result<(), Failed> {
    let script = built(&PLACE.0, "faults.py", &[])?;
    let mut told = String::new();
    for what in ["raised", "deep", "divided", "null"] {
        let o = run(&script, &PLACE.0, &[what], "");
        let text = stderr(&o);
        let first = text.lines().next().unwrap_or_default();
        told += &format!("{what}: {:?} {first}\n", o.status.code());
    }
    expect![[r#"
        raised: Some(1) Fatal RPython error: ValueError
        deep: Some(4) 
        divided: Some(1) Fatal RPython error: divide by zero
        null: Some(1) Fatal RPython error: dereferencing a null pointer
    "#]]
    .assert_eq(&told);
    Ok(())
}

/// Files, the environment, clocks, input, the stack.
fn system() -> Result<(), Failed> {
    let script = built(&PLACE.0, "system.py", &[])?;
    let folder = tempfile::tempdir()?;
    let o = run(&script, folder.path(), &["260", "a b"], "typed\n");
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    expect![[r#"
        [260, a b]
        8
        exists 1
        one
        two
        three
         two
         8
        14 1 1
        [text] 0
        0
        bc
        not empty 1 Directory not empty
        missing 2 No such file or directory
        set 1
        now
        1 1
        1
        300
        wasm32 1
        / 1
        1 0
        1
        too much
        too deep
        again
        typed

    "#]]
    .assert_eq(&format!("{text}{}", stderr(&o)));
    assert_eq!(o.status.code(), Some(4));
    Ok(())
}

/// The missing features of a program, with places and remedies.
fn missing() -> Result<(), Failed> {
    let all = [&["build", "-q", "--target", WASM], BACKEND, &["missing.py"]].concat();
    let o = PLACE.taipan(&PLACE.0, &all);
    expect![[r#"
        error[TP0504]: WebAssembly with the host's collector has no `__del__`, and no queue of finalizers
          --> missing.py:61:5
           |
        61 |     Mortal()
           |     ^^^^^^^^ it is needed here
           |
           = help: release the resource where it is no longer needed (`try`/`finally`, `with`); or leave out `--backend wasmgc`

        error[TP0504]: WebAssembly with the host's collector has no fields, items and cases of 128 bits
          --> missing.py:66:17
           |
        66 |     kept.append(wide(5))
           |                 ^^^^^^^ it is needed here
           |
           = help: keep two words of 64 bits, or an rbigint; or leave out `--backend wasmgc`

        error[TP0504]: WebAssembly with the host's collector has no raw memory: all objects are the collector's
          --> missing.py:30:20
           |
        30 |         return len(rffi.charp2str(p))
           |                    ^^^^^^^^^^^^^^^^^ it is needed here
           |
           = help: keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory

        error[TP0504]: WebAssembly with the host's collector has no raw memory: all objects are the collector's
          --> missing.py:30:9
           |
        30 |         return len(rffi.charp2str(p))
           |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is needed here
           |
           = help: keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory

        error[TP0504]: WebAssembly with the host's collector has no raw memory: all objects are the collector's
          --> missing.py:29:10
           |
        29 |     with rffi.scoped_str2charp(what) as p:
           |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is needed here
           |
           = help: keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory

        error[TP0504]: WebAssembly with the host's collector has no raw memory: all objects are the collector's
          --> missing.py:21:9
           |
        21 |     p = lltype.malloc(POINT, flavor='raw')
           |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is needed here
           |
           = help: keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory

        error[TP0504]: WebAssembly with the host's collector has no raw memory: all objects are the collector's
          --> missing.py:24:5
           |
        24 |     lltype.free(p, flavor='raw')
           |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is needed here
           |
           = help: keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory

        error[TP0504]: WebAssembly with the host's collector has no threads: thread_start() cannot be called
          --> missing.py:56:5
           |
        56 |     rthread.start_new_thread(worker, ())
           |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is needed here
           |
           = help: keep it out of what the program can reach on this target; or leave out `--backend wasmgc`

        error[TP0504]: WebAssembly with the host's collector has no processes: fork() cannot be called
          --> missing.py:52:12
           |
        52 |     return os.fork()
           |            ^^^^^^^^^ it is needed here
           |
           = help: keep it out of what the program can reach on this target; or leave out `--backend wasmgc`

        9 errors
    "#]].assert_eq(&stderr(&o));
    Ok(())
}

/// Options that do not go together.
fn usage() -> Result<(), Failed> {
    let mut told = String::new();
    for line in [
        "build --backend wasmgc faults.py",
        "build --backend wasmgc --target wasm32-wasi --gc ref faults.py",
        "build --backend wasmgc --target wasm32-wasi --jit faults.py",
        "build --backend wasmgc --target wasm32-wasi --lto faults.py",
        "run --backend wasmgc --target wasm32-wasi faults.py",
        "watch run --backend wasmgc --target wasm32-wasi faults.py",
    ] {
        let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(&PLACE.0)
            .args(line.split(' '))
            .output()?;
        told += &format!("{line}: {:?}\n{}", o.status.code(), stderr(&o));
    }
    expect![[r#"
        build --backend wasmgc faults.py: Some(2)
        taipan: --backend wasmgc makes WebAssembly: give --target wasm32-wasi or --target web, too
        build --backend wasmgc --target wasm32-wasi --gc ref faults.py: Some(2)
        taipan: the host manages the memory of programs that --backend wasmgc makes: leave out --gc ref
        build --backend wasmgc --target wasm32-wasi --jit faults.py: Some(2)
        taipan: wasm32-wasi: the just-in-time compiler makes no code for that: leave out --jit
        build --backend wasmgc --target wasm32-wasi --lto faults.py: Some(2)
        taipan: --keep-source and --lto are about C files: leave them out
        run --backend wasmgc --target wasm32-wasi faults.py: Some(2)
        taipan: Node runs what --backend wasmgc makes: `taipan build` makes it
        watch run --backend wasmgc --target wasm32-wasi faults.py: Some(2)
        taipan: watched programs run on this machine: leave out --target
    "#]].assert_eq(&told);
    Ok(())
}

/// A number of a source map, from the front of a text: five bits a digit in base 64, the lowest bit is the sign.
fn number(text: &mut std::str::Bytes<'_>) -> Option<i64> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut n, mut shift) = (0, 0);
    loop {
        let c = text.next()?;
        let digit = digits.iter().position(|d| *d == c)? as i64;
        n |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            return Some(if n & 1 == 0 { n >> 1 } else { -(n >> 1) });
        }
    }
}

/// `-g` makes a source map: the code of a line is where the map says.
fn source_map() -> Result<(), Failed> {
    let script = built(&PLACE.0, "faults.py", &["-g"])?;
    let module = std::fs::read(script.with_extension("wasm"))?;
    let map = std::fs::read(script.with_extension("wasm.map"))?;
    let url = script.with_extension("wasm.map");
    let url = url.file_name().and_then(|n| n.to_str()).expect("a name");
    let mut section = b"\x10sourceMappingURL".to_vec();
    section.push(url.len() as u8);
    section.extend(url.bytes());
    assert!(module.ends_with(&section), "{url}");
    let map: serde_json::Value = serde_json::from_slice(&map)?;
    let sources = map["sources"].as_array().expect("sources");
    let own = sources
        .iter()
        .position(|s| s.as_str().is_some_and(|s| s.ends_with("faults.py")));
    let own = own.expect("the program is a source") as i64;
    let text = map["sourcesContent"][own as usize]
        .as_str()
        .expect("its text");
    let (mut offset, mut source, mut line) = (0, 0, 0);
    let mut all = Vec::new();
    for mapping in map["mappings"].as_str().expect("mappings").split(',') {
        let mut rest = mapping.bytes();
        offset += number(&mut rest).expect("an offset");
        let place = number(&mut rest).map(|n| {
            source += n;
            line += number(&mut rest).expect("a line");
            (source, line)
        });
        all.push((offset as usize, place));
    }
    all.push((module.len(), None));
    let mut dereferenced = 0;
    for pair in all.windows(2) {
        assert!(pair[0].0 < pair[1].0, "{pair:?}");
        let Some((source, line)) = pair[0].1 else {
            continue;
        };
        let code = &module[pair[0].0..pair[1].0];
        let line = text.lines().nth(line as usize).filter(|_| source == own);
        // `struct.get`
        let reads = code.windows(2).any(|b| b == [0xfb, 0x02]);
        dereferenced += usize::from(reads && line.is_some_and(|l| l.contains("n.next.v")));
    }
    assert!(dereferenced > 0);
    Ok(())
}

/// Why no program can be run.
fn lack() -> Option<String> {
    let output = Command::new(node()).arg("--version").output();
    let version = match &output {
        Ok(o) => String::from_utf8_lossy(&o.stdout),
        Err(e) => return Some(format!("{}: {e}", node().to_string_lossy())),
    };
    let major = version.trim().trim_start_matches('v').split('.').next();
    match major.and_then(|n| n.parse::<u32>().ok()) {
        Some(n) if n >= 22 => None,
        _ => Some(format!("Node is {}: it takes 22 or later", version.trim())),
    }
}

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let reason = if args.list { None } else { lack() };
    let required = std::env::var_os("TAIPAN_NODE").is_some();
    let done = |test: Test| move || test().map(|()| Completion::Completed);
    let mut trials = vec![
        timed_trial("refused", done(refused)),
        timed_trial("missing", done(missing)),
        timed_trial("usage", done(usage)),
        timed_trial("source_map", done(source_map)),
    ];
    let run: [(&str, Test); 7] = [
        ("fixtures", fixtures),
        ("generated", generated),
        ("levels", levels),
        ("numbers", numbers),
        ("objects", objects),
        ("faults", faults),
        ("system", system),
    ];
    for (name, test) in run {
        let reason = reason.clone();
        trials.push(timed_trial(name, move || match &reason {
            None => test().map(|()| Completion::Completed),
            Some(why) if !required => Ok(Completion::ignored_with(why)),
            Some(why) => Err(why.into()),
        }));
    }
    libtest_mimic::run(&args, trials).exit_code()
}
