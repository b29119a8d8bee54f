//! Programs as WebAssembly, run by Node: what they print is the same as on this machine, with a collector
//! that runs at every allocation as well. And pages with programs, in Chromium.
//!
//! Where there is no clang for WebAssembly, no Node or no browser, tests are reported as ignored, with what
//! is missing. Where `TAIPAN_TARGETS` is set, they fail.

#[path = "support/chromium.rs"]
#[allow(dead_code, reason = "browser.rs uses more of it")]
mod chromium;
#[path = "support/elsewhere.rs"]
mod elsewhere;
#[path = "support/explorer.rs"]
#[allow(dead_code, reason = "browser.rs uses more of it")]
mod explorer;
#[path = "support/programs.rs"]
mod programs;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::LazyLock;

use chromium::Browser;
use elsewhere::{Place, STRESSED, stderr};
use expect_test::expect;
use libtest_mimic::{Arguments, Completion, Failed};
use programs::{PROGRAMS, outcome, programs};
use serde_json::json;
use taipan_testkit::timed_trial;

const WASM: &str = "wasm32-wasi";
const HOST: &str = "x86_64-unknown-linux-gnu";

const FILES: &[(&str, &str)] = &[
    ("numbers.py", include_str!("targets/numbers.py")),
    ("faults.py", include_str!("targets/faults.py")),
    ("cards.py", include_str!("targets/cards.py")),
    ("behind.py", include_str!("targets/behind.py")),
    ("system.py", include_str!("wasm/system.py")),
    ("prompt.py", PROMPT),
    ("missing.py", MISSING),
];

/// Asks for lines until there is none any more.
const PROMPT: &str = "\
import os
import time


def entry_point(argv):
    start = time.time()
    n = 0
    while True:
        os.write(1, '%d> ' % n)
        line = os.read(0, 100)
        if not line:
            break
        n += 1
        os.write(1, line.strip().upper() + '\\n')
        if line == 'fail\\n':
            os.write(2, 'wrong\\n')
    os.write(1, 'bye after %d lines, %s\\n' % (n, ' '.join(argv[1:])))
    if time.time() < start:
        return 1
    return 3


def target(driver, args):
    return entry_point
";

/// Uses what WASI does not have.
const MISSING: &str = "\
import os
from rpython.rlib import rthread, rsignal
from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rstacklet import StackletThread
from rpython.rtyper.lltypesystem import lltype, llmemory, rffi

strlen = rffi.llexternal('strlen', [rffi.CCHARP], rffi.SIZE_T)


def worker():
    pass


def piece(handle, arg):
    return handle


def start():
    rthread.start_new_thread(worker, ())


def entry_point(argv):
    what = argv[1]
    if what == 'fork':
        return os.fork()
    elif what == 'thread':
        start()
    elif what == 'stacklet':
        StackletThread(None).new(piece, llmemory.NULL)
    elif what == 'signal':
        rsignal.pypysig_setflag(2)
    elif what == 'c':
        with rffi.scoped_str2charp(what) as p:
            return intmask(strlen(p))
    elif os.uname()[4] == 'none':
        return os.system('true')
    return 0


def target(driver, args):
    return entry_point
";

/// The fixture that starts processes.
const PROCESSES: &str = "files.py";

/// Where the programs of this file are.
static PLACE: LazyLock<Place> = LazyLock::new(|| Place::new("wasm", FILES));

fn stdout(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

/// Has Node run a program, with these variables besides and this input.
fn node(
    program: &Path,
    folder: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
    input: &str,
) -> Output {
    let mut child = Command::new("node")
        .args(["--no-warnings", "--no-turbo-fast-api-calls"])
        .arg("-e")
        .arg(include_str!("../../platform/src/wasi.js"))
        .arg("--")
        .arg(program)
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(folder)
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

/// How a program ends by a signal on this machine it ends with an exit code here.
fn same(expected: &Output, found: &Output) -> bool {
    let ((text, code), (found_text, found_code)) = (outcome(expected), outcome(found));
    (text, code.unwrap_or(1)) == (found_text, found_code.unwrap_or(-1))
}

/// Compares runs of a program on this machine and as WebAssembly.
fn compare(
    folder: &Path,
    target: &str,
    args: &[&str],
    options: &[&str],
    stress: bool,
) -> Result<(), Failed> {
    let there = PLACE.built(folder, target, WASM, options)?;
    let here = PLACE.built(folder, target, HOST, &[])?;
    let expected = Command::new(here).args(args).current_dir(folder).output()?;
    let variables: &[(&str, &str)] = match stress {
        true => &[("TAIPAN_GC_STRESS", "1")],
        false => &[],
    };
    let found = node(&there, folder, args, variables, "");
    if same(&expected, &found) {
        return Ok(());
    }
    Err(format!(
        "{target} {args:?} {options:?}, stress: {stress}\n--- here\n{:?}\n{}\n--- {WASM}\n{:?}\n{}",
        outcome(&expected),
        stderr(&expected),
        outcome(&found),
        stderr(&found),
    )
    .into())
}

fn fixtures() -> Result<(), Failed> {
    for (target, args) in PROGRAMS.iter().filter(|(t, _)| *t != PROCESSES) {
        compare(&programs(), target, args, &[], false)?;
    }
    let o = PLACE.taipan(&programs(), &["build", "-q", "--target", WASM, PROCESSES]);
    let text = stderr(&o);
    match text.contains("error[TP0504]: wasm32-wasi has no processes: fork()") {
        true => Ok(()),
        false => Err(text.into()),
    }
}

fn stressed() -> Result<(), Failed> {
    for (target, args) in PROGRAMS
        .iter()
        .filter(|(t, _)| STRESSED.contains(t) && *t != PROCESSES)
    {
        compare(&programs(), target, args, &[], true)?;
    }
    compare(&PLACE.0, "numbers.py", &["7"], &[], true)
}

/// At every level, with checks, and all files together.
fn levels() -> Result<(), Failed> {
    for options in [&["-O0"][..], &["-O1"], &["-O2"], &["-O3"], &["--lto"]] {
        compare(&PLACE.0, "numbers.py", &["7"], options, false)?;
    }
    compare(&programs(), "richards.py", &["1"], &["-O0"], false)
}

/// The collector looks at some parts of a large object only.
fn cards() -> Result<(), Failed> {
    compare(&PLACE.0, "cards.py", &["20000"], &[], false)
}

/// Writes behind the last characters of strings.
fn behind() -> Result<(), Failed> {
    compare(&PLACE.0, "behind.py", &["70000"], &[], false)?;
    compare(&PLACE.0, "behind.py", &["130"], &[], true)?;
    compare(&PLACE.0, "behind.py", &["130"], &["--gc", "ref"], true)
}

fn collectors() -> Result<(), Failed> {
    for gc in ["ref", "none"] {
        for target in ["richards.py", "shapes.py", "huffman.py"] {
            let (target, args) = PROGRAMS
                .iter()
                .find(|(t, _)| *t == target)
                .expect("a fixture");
            compare(&programs(), target, args, &["--gc", gc], false)?;
        }
    }
    compare(&programs(), "shapes.py", &["20"], &["--gc", "ref"], true)
}

/// Files, the environment, clocks, memory and the stack.
fn system() -> Result<(), Failed> {
    let program = PLACE.built(&PLACE.0, "system.py", WASM, &[])?;
    let folder = tempfile::tempdir()?;
    for stress in [&[][..], &[("PYPY_GC_NURSERY", "64K")]] {
        let variables = [&[("TAIPAN_TEST", "set")][..], stress].concat();
        let o = node(
            &program,
            folder.path(),
            &["260", "a b"],
            &variables,
            "typed\n",
        );
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
            1 0
            1 1 1
            too much
            too deep
            again
            3234476509624757991344647769100216810857203198904625400933895331391691459636928060001
            1
            typed

        "#]]
        .assert_eq(&format!("{}{}", stdout(&o), stderr(&o)));
        assert_eq!(o.status.code(), Some(4));
    }
    Ok(())
}

/// Exceptions that nobody catches, checks that fail, and a stack that is used up.
fn faults() -> Result<(), Failed> {
    let run = |options: &[&str], what: &str| -> Result<String, Failed> {
        let program = PLACE.built(&PLACE.0, "faults.py", WASM, options)?;
        let o = node(&program, &PLACE.0, &[what], &[], "");
        let text = stderr(&o);
        let trap = text.lines().find(|l| l.starts_with("RuntimeError"));
        let text = trap.map_or(text.clone(), |line| format!("{line}\n"));
        let text = text.replace(PLACE.0.to_str().expect("a path in UTF-8"), "<folder>");
        Ok(format!("{what} {options:?}: {:?}\n{text}", o.status.code()))
    };
    let mut told = run(&[], "raised")?;
    told.push_str(&run(&[], "deep")?);
    told.push_str(&run(&[], "divided")?);
    told.push_str(&run(&["--lldebug"], "null")?);
    told.push_str(&run(&["--lldebug"], "divided")?);
    expect![[r#"
        raised []: Some(1)
        RPython traceback:
          File "<folder>/faults.py", line 38, in faults.entry_point
          File "<folder>/faults.py", line 22, in faults.raised
        Fatal RPython error: ValueError
        deep []: Some(4)
        divided []: Some(1)
        RuntimeError: divide by zero
        null ["--lldebug"]: Some(1)
        RPython traceback:
          File "<folder>/faults.py", line 11, in faults.null
        Fatal RPython error: null pointer used
        divided ["--lldebug"]: Some(1)
        RuntimeError: divide by zero
    "#]]
    .assert_eq(&told);
    Ok(())
}

/// `taipan run` has a runtime run a program.
fn run() -> Result<(), Failed> {
    let o = PLACE.taipan(
        &PLACE.0,
        &["run", "--quiet", "--target", WASM, "prompt.py", "a", "b"],
    );
    assert_eq!(stdout(&o), "0> bye after 0 lines, a b\n");
    assert_eq!(o.status.code(), Some(3), "{}", stderr(&o));
    Ok(())
}

/// What WASI does not have is told where the program gets to it.
fn missing() -> Result<(), Failed> {
    let o = PLACE.taipan(&PLACE.0, &["build", "-q", "--target", WASM, "missing.py"]);
    assert_eq!(o.status.code(), Some(1));
    expect![[r#"
        error[TP0504]: wasm32-wasi has no processes: system() cannot be called
          --> missing.py:36:16
           |
        36 |         return os.system('true')
           |                ^^^^^^^^^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: wasm32-wasi has no C functions of the host: strlen() cannot be called
          --> missing.py:34:28
           |
        34 |             return intmask(strlen(p))
           |                            ^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: wasm32-wasi has no signals: signal_set() cannot be called
          --> missing.py:31:9
           |
        31 |         rsignal.pypysig_setflag(2)
           |         ^^^^^^^^^^^^^^^^^^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: wasm32-wasi has no stacklets: stacklet_new() cannot be called
          --> missing.py:29:9
           |
        29 |         StackletThread(None).new(piece, llmemory.NULL)
           |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: wasm32-wasi has no threads: thread_start() cannot be called
          --> missing.py:27:9
           |
        27 |         start()
           |         ^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: wasm32-wasi has no processes: fork() cannot be called
          --> missing.py:25:16
           |
        25 |         return os.fork()
           |                ^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: wasm32-wasi has no C functions of the host: uname() cannot be called
           --> missing.py:35:10
            |
         35 |     elif os.uname()[4] == 'none':
            |          ^^^^^^^^^^ the program gets there from here
            |
        note: and then here
           --> <taipan>/rpython/rlib/_rposix_c.py:229:18
            |
        229 |         _checked(_c_uname(buf), 'uname')
            |                  ^^^^^^^^^^^^^
            = help: keep it out of what the program can reach on this target

        7 errors
    "#]]
    .assert_eq(&stderr(&o));
    Ok(())
}

/// What needs no tools.
fn refusals() -> Result<(), Failed> {
    let refused: String = [
        &["build", "-q", "--jit"][..],
        &["build", "-q", "--backend", "cranelift"],
        &["build", "-q", "--backend", "llvm"],
        &["build", "-q", "--backend", "python"],
        &["build", "-q", "--extension"],
        &["build", "-q", "--gc", "boehm"],
        &["build", "-q", "--profopt", "a b"],
        &["run", "-q", "--engine", "llinterp"],
        &["run", "-q", "--backend", "c"],
    ]
    .iter()
    .map(|first| {
        let o = PLACE.taipan(
            &PLACE.0,
            &[*first, &["--target", WASM, "prompt.py"]].concat(),
        );
        assert_eq!(o.status.code(), Some(2), "{first:?}");
        format!("{first:?}\n{}", stderr(&o))
    })
    .collect();
    expect![[r#"
        ["build", "-q", "--jit"]
        taipan: wasm32-wasi: the just-in-time compiler makes no code for that: leave out --jit
        ["build", "-q", "--backend", "cranelift"]
        taipan: wasm32-wasi: programs are made by way of C: leave out --backend
        ["build", "-q", "--backend", "llvm"]
        taipan: wasm32-wasi: programs are made by way of C: leave out --backend
        ["build", "-q", "--backend", "python"]
        taipan: Python is made for this machine: leave out --target
        ["build", "-q", "--extension"]
        taipan: --extension: modules for Python are made for this machine: leave out --target
        ["build", "-q", "--gc", "boehm"]
        taipan: libgc is taken from this machine: leave out one of --gc boehm and --target
        ["build", "-q", "--profopt", "a b"]
        taipan: a training run is one on this machine: leave out --profopt and --profile, or --target
        ["run", "-q", "--engine", "llinterp"]
        taipan: wasm32-wasi: programs are made by way of C and run as a process of their own: leave out --engine and --backend
        ["run", "-q", "--backend", "c"]
        taipan: wasm32-wasi: programs are made by way of C and run as a process of their own: leave out --engine and --backend
    "#]].assert_eq(&refused);
    let o = PLACE.taipan(&PLACE.0, &["run", "-q", "--target", "web", "prompt.py"]);
    expect![[r#"
        taipan: a page is for a browser to run: `taipan build --target web` makes it
    "#]]
    .assert_eq(&stderr(&o));
    // Without any tools it is said which are to be installed.
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(&PLACE.0)
        .env("PATH", "/nowhere")
        .env_remove("CC")
        .args(["build", "-q", "--no-cache", "--target", WASM, "prompt.py"])
        .output()
        .expect("taipan runs");
    expect![[r#"
        taipan: prompt.wasm: no WebAssembly can be made: there is no clang (Debian's packages are clang lld wasi-libc libclang-rt-dev-wasm32)
    "#]].assert_eq(&stderr(&o));
    Ok(())
}

/// Serves the files of a folder, until the process ends: the address.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(&folder, stream));
        }
    });
    address
}

fn answer(folder: &Path, mut stream: std::net::TcpStream) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    // To the end of the head.
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = first.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("wasm") => "application/wasm",
        _ => "text/plain",
    };
    let (status, body) = match std::fs::read(folder.join(name)) {
        Ok(body) => ("200 OK", body),
        // Browsers ask for a picture of the page.
        Err(_) => ("204 No Content", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
}

const STATE: &str = "document.body.dataset.state";
const OUTPUT: &str = "document.getElementById('output').textContent";

/// A program that asks for lines, in a page.
fn prompt(browser: &Browser, options: &[&str]) -> Result<(), Failed> {
    let folder = PLACE.built(&PLACE.0, "prompt.py", "web", options)?;
    let mut page = browser.open(&format!("{}/?args=a+%27b+c%27", serve(folder)));
    page.wait(&format!("{STATE} === 'waits'"));
    assert_eq!(page.ask(OUTPUT), json!("0> "));
    for line in ["hello", "fail"] {
        page.ask(&format!(
            "document.getElementById('line').value = '{line}'; \
             document.getElementById('form').requestSubmit()"
        ));
        page.wait(&format!("{STATE} === 'waits'"));
    }
    assert_eq!(
        page.ask(OUTPUT),
        json!("0> hello\nHELLO\n1> fail\nFAIL\nwrong\n2> ")
    );
    let end = "new KeyboardEvent('keydown', { key: 'd', ctrlKey: true })";
    page.ask(&format!(
        "document.getElementById('line').dispatchEvent({end})"
    ));
    page.wait(&format!("{STATE} === 'ended'"));
    let text = page.ask(OUTPUT);
    let text = text.as_str().expect("a text");
    assert!(text.ends_with("2> bye after 2 lines, a b c\n"), "{text}");
    let status = page.ask("document.getElementById('status').textContent");
    assert_eq!(status, json!("has ended with code 3"));
    Ok(())
}

/// Quill, with a program that is written on its page.
fn quill(browser: &Browser, options: &[&str]) -> Result<(), Failed> {
    let folder = PLACE.built(&programs(), "quill/targetquill.py", "web", options)?;
    let mut page = browser.open(&serve(folder));
    page.wait(&format!("{STATE} === 'ended'"));
    let demo = PLACE.taipan(&programs(), &["run", "-q", "quill/targetquill.py"]);
    assert_eq!(page.ask(OUTPUT), json!(stdout(&demo)));
    page.ask(
        "document.getElementById('text').value = 'let n = 6; print \"is\", n * 7;'; \
         document.getElementById('arguments').value = 'program'; \
         document.getElementById('run').click()",
    );
    page.wait(&format!("{OUTPUT}.includes('is') && {STATE} === 'ended'"));
    assert_eq!(page.ask(OUTPUT), json!("is 42\n"));
    Ok(())
}

/// Why no program can be built and run; an error if it is not known why.
fn tools() -> Result<Option<String>, String> {
    let o = PLACE.taipan(&PLACE.0, &["run", "--quiet", "--target", WASM, "prompt.py"]);
    let text = stderr(&o);
    let known = ["Debian's package", "rustup target add"];
    match o.status.code() {
        Some(3) => {}
        _ if known.iter().any(|k| text.contains(k)) => return Ok(Some(text)),
        _ => return Err(text),
    }
    let node = Command::new("node").arg("--version").output();
    Ok(match node {
        Ok(_) => None,
        Err(e) => Some(format!("node: {e}")),
    })
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let reason = match args.list {
        true => Ok(None),
        false => tools(),
    };
    let required = std::env::var_os("TAIPAN_TARGETS").is_some();
    let mut trials = vec![
        timed_trial("refusals", || refusals().map(|()| Completion::Completed)),
        timed_trial("missing", || missing().map(|()| Completion::Completed)),
    ];
    let mut trial = |name: &str, test: Box<dyn Fn() -> Result<(), Failed> + Send>| {
        let reason = reason.clone();
        trials.push(timed_trial(name, move || match &reason {
            Ok(None) => test().map(|()| Completion::Completed),
            Ok(Some(why)) if !required => Ok(Completion::ignored_with(why.trim())),
            Ok(Some(why)) | Err(why) => Err(why.into()),
        }));
    };
    trial("fixtures", Box::new(fixtures));
    trial("stressed", Box::new(stressed));
    trial("levels", Box::new(levels));
    trial("collectors", Box::new(collectors));
    trial("cards", Box::new(cards));
    trial("behind", Box::new(behind));
    trial("system", Box::new(system));
    trial("faults", Box::new(faults));
    trial("run", Box::new(run));
    type OnPage = fn(&Browser, &[&str]) -> Result<(), Failed>;
    let collector: &[&str] = &["--backend", "wasmgc"];
    for (name, test, options) in [
        ("prompt", prompt as OnPage, &[][..]),
        ("quill", quill, &[]),
        ("prompt_with_collector", prompt, collector),
        ("quill_with_collector", quill, collector),
    ] {
        let reason = reason.clone();
        trials.push(timed_trial(name, move || {
            let browser = match (&reason, Browser::find()) {
                (Ok(None), Ok(browser)) => browser,
                (Ok(None), Err(why)) if std::env::var_os("TAIPAN_BROWSER").is_none() => {
                    return Ok(Completion::ignored_with(why));
                }
                (Ok(None), Err(why)) => return Err(why.into()),
                (Ok(Some(why)), _) if !required => {
                    return Ok(Completion::ignored_with(why.trim()));
                }
                (Ok(Some(why)) | Err(why), _) => return Err(why.into()),
            };
            test(&browser, options).map(|()| Completion::Completed)
        }));
    }
    libtest_mimic::run(&args, trials).exit_code()
}
