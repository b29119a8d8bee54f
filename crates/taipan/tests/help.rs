//! `--help` offers what works, and nothing else.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use clap::parser::ValueSource;

const PROGRAM: &str = "\
def double(n):
    return n * 2

def entry_point(argv):
    print double(len(argv))
    return 0
";

const TEST: &str = "\
import pytest
from main import double

@pytest.mark.slow
def test_double():
    assert double(2) == 4
";

fn taipan(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.py"), PROGRAM).unwrap();
    std::fs::write(folder.path().join("test_main.py"), TEST).unwrap();
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(folder.path())
        .args(args)
        .output()
        .unwrap()
}

fn help(command: &str) -> String {
    let o = taipan(&[command, "--help"]);
    assert!(o.status.success(), "{command}");
    String::from_utf8(o.stdout).unwrap()
}

/// The values that `--help` lists below the mention of an option or argument.
fn values(help: &str, of: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|l| !l.trim_start().starts_with(of));
    let values = (lines.skip(1))
        .skip_while(|l| l.trim() != "Possible values:")
        .skip(1);
    values
        .map_while(|l| l.trim().strip_prefix("- "))
        .map(|l| l.split(':').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_stage_that_is_offered_works() {
    let stages = values(&help("emit"), "<STAGE>");
    assert!(stages.len() >= 11, "{stages:?}");
    for stage in stages {
        let o = taipan(&["emit", &stage, "main.py:double"]);
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.success(), "{stage}: {stderr}");
        assert!(!o.stdout.is_empty(), "{stage}");
    }
}

#[test]
fn every_engine_that_is_offered_works() {
    let calls: [(&str, &[&str]); 3] = [
        ("run", &["main.py"]),
        ("call", &["main.py:double", "3"]),
        ("test", &["test_main.py"]),
    ];
    for (command, rest) in calls {
        let engines = values(&help(command), "--engine");
        assert!(engines.len() >= 2, "{command}: {engines:?}");
        for engine in engines {
            let o = taipan(&[&[command, "--engine", &engine], rest].concat());
            let stderr = String::from_utf8_lossy(&o.stderr);
            assert!(o.status.success(), "{command} {engine}: {stderr}");
        }
    }
}

/// Back ends, collectors and levels do what is asked for. llvm.rs and collectors.rs have those that need
/// what is not on every machine.
#[test]
fn every_way_to_make_code_that_is_offered_works() {
    for command in ["run", "build"] {
        let help = help(command);
        let backends = values(&help, "--backend");
        assert_eq!(backends, ["cranelift", "c", "llvm", "python", "wasmgc"]);
        // A list without explanations.
        let collectors = "[possible values: generational, ref, boehm, none]";
        assert!(help.contains(collectors), "{help}");
        let options: [&[&str]; 8] = [
            &["--gc", "generational"],
            &["--gc", "ref"],
            &["--gc", "none"],
            &["--jit"],
            &["-O0"],
            &["-O1"],
            &["-O2"],
            &["-O3"],
        ];
        for option in options {
            let o = taipan(&[&[command], option, &["main.py"]].concat());
            let stderr = String::from_utf8_lossy(&o.stderr);
            assert!(o.status.success(), "{command} {option:?}: {stderr}");
        }
    }
}

const INTERPRETER: &str = "\
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc', 'code'], reds=['n'])

def main(code, n):
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, n=n)
        op = code[pc]
        pc += 1
        if op == 'i':
            n += 1
        elif op == 'j':
            if n > 50:
                return n
            pc = 0
            driver.can_enter_jit(pc=pc, code=code, n=n)

def entry_point(argv):
    print main('iij', len(argv))
    return 0
";

/// Command lines that together use every option of every command. Each works as it stands,
/// in a folder with `main.py`, `typed.py`, `test_main.py`, `interpreter.py` and `batch`; those of `watch`
/// and `explore` go on until they are ended.
const USES: &[&str] = &[
    "run --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --engine native main.py more",
    "run --cache-dir cache --jit --jit-threshold 3 --jit-splits lazy --jit-bound 100 --jit-background \
     --jit-summary --jit-residual interpreter.py",
    "build --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --jit --jit-background -o made interpreter.py",
    "build --cache-dir cache --lldebug --quiet --gc none main.py",
    "build --backend c -O3 --passes=-asserts -g --keep-source c-files --lto main.py",
    "build --debug-info main.py",
    "build --backend c --profopt more --profile counts main.py",
    "build --extension typed.py",
    "build --extension --inputs SomeInteger -o double.so main.py:double",
    "build --shared --entrypoints main -o shared main.py",
    "rpython --shared --entrypoints main --output from-rpython main.py",
    "rpython --opt 2 --output made --compile --gc ref --cc cc --make-jobs 1 --lto --profopt --profoptargs more --verbose main.py",
    "rpython --annotate --rtype --backendopt --pyjitpl --lldebug --lldebug0 --profile main.py",
    "rpython --source --inline-threshold 0 --translation-backendopt-none --translation-backendopt-print_statistics \
     --translation-backendopt-remove_asserts --translation-backendopt-really_remove_asserts main.py",
    "run --backend c -O1 --passes=-all,+inlining main.py",
    "build --backend python -o made.py main.py",
    "run --backend python main.py",
    "build --target wasm32-wasi --backend wasmgc -g -o made.wasm main.py",
    "build --target web --backend wasmgc -o page main.py",
    "run --lldebug --quiet --gc ref main.py",
    "run --profile main.py",
    "call --lldebug --engine native --gc ref --passes=-inlining main.py:double 3",
    "test --lldebug=false --gc ref test_main.py",
    "run --target x86_64-linux-gnu main.py",
    "build --target x86_64-linux-gnu main.py",
    "emit asm --target x86_64-linux-gnu main.py:double",
    "emit gdb",
    "check --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --format json main.py",
    "check --cache-dir cache --verbose main.py",
    "check --quiet --fix main.py",
    "call --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --engine native --json main.py:double 3",
    "call --cache-dir cache --jit --jit-threshold 3 --jit-splits lazy --jit-bound 100 --jit-background \
     --jit-summary --jit-residual --engine native interpreter.py:main iij 3",
    "call --batch batch --seconds 50",
    "emit flow --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --format dot main.py:double",
    "emit optimized --passes=-inlining --gc ref --format svg --lines main.py:double",
    "emit annotations --cache-dir cache --inputs SomeInteger main.py:double",
    "explore --timings --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full --port 0 --open --poll \
     main.py",
    "explore --timings --cache-dir cache --passes=-inlining main.py",
    "timeshift --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --static 0 --policy lazy --inline 10 --optimize --engine native --json main.py:double 3",
    "timeshift --cache-dir cache --portal double --static 0 main.py:twice 3",
    "test --timings --log-queries log --no-cache --threads 1 --path . --step-limit 100000 --memory-limit 1G --target-option=--full \
     --engine native -k double --all --exit-first --maxfail 1 --timeout 60 --junit-xml junit \
     --json --verbose test_main.py",
    "test --cache-dir cache --last-failed --trust --quiet test_main.py",
    "test --deselect test_main.py::test_slow --ignore slow --runxfail --capture no test_main.py",
    "test -m slow --failed-first --showlocals --show-output --tb short -r a --durations 3 test_main.py",
    "test --collect-only",
    "test -p no:cacheprovider -W error --cov --cov-report term test_main.py",
    "jitlog --function main --driver driver --code --asm jitlog",
    "jitlog --summary jitlog",
    "jitlog --advise --format json jitlog",
    "explain TP0300",
    "init made-project",
    "init --template stack --name quark made-machine",
    "init --bare made-bare",
    "clean --cache-dir cache --dry-run .",
    "trust .",
    "trust --list",
    "trust --remove .",
    "completions bash",
    "man pages",
    "lsp",
    "debug",
    "build -g -o made-test test_main.py::test_double",
    "watch --poll check --timings --no-cache --threads 1 --path . \
     --step-limit 100000 --memory-limit 1G --target-option=--full --format text main.py",
    "watch check --cache-dir cache --verbose main.py",
    "watch run --hot --timings --no-cache --threads 1 --path . \
     --step-limit 100000 --memory-limit 1G --target-option=--full --engine native main.py more",
    "watch run --cache-dir cache --jit --jit-threshold 3 --jit-splits lazy --jit-bound 100 --jit-background \
     interpreter.py",
    "watch build --timings --no-cache --threads 1 --path . \
     --step-limit 100000 --memory-limit 1G --target-option=--full --jit --jit-background -o made interpreter.py",
    "watch build --cache-dir cache --passes=-inlining --lldebug --gc ref main.py",
    "watch build --backend c -O2 --debug-info --keep-source c-files --lto main.py",
    "watch build -g main.py",
    "watch run --backend cranelift --passes=-inlining -O1 main.py",
    "watch run --lldebug --gc none main.py",
    "watch test --lldebug=false --gc ref test_main.py",
    "watch run --target x86_64-linux-gnu main.py",
    "watch build --target x86_64-linux-gnu main.py",
    "watch test --timings --no-cache --threads 1 --path . \
     --step-limit 100000 --memory-limit 1G --target-option=--full --engine native -k double --all --exit-first --maxfail 1 --timeout 60 \
     --junit-xml junit --json --verbose test_main.py",
    "watch test --cache-dir cache --last-failed --trust --quiet test_main.py",
    "watch test --collect-only test_main.py",
    "watch test -p no:cacheprovider -W error --cov --cov-report term test_main.py",
    "watch test --deselect test_main.py::test_slow --ignore slow --runxfail --capture no test_main.py",
    "watch test -m slow --failed-first --showlocals --show-output --tb short -r a --durations 3 test_main.py",
];

/// All options that `--help` offers, as `watch run --hot`.
fn offered(command: &clap::Command, path: &str, all: &mut BTreeSet<String>) {
    let options = command.get_arguments().filter(|a| !a.is_hide_set());
    all.extend(options.map(|a| format!("{path}{}", a.get_id())));
    for c in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        all.insert(format!("{path}{}", c.get_name()));
        offered(c, &format!("{path}{} ", c.get_name()), all);
    }
}

/// What of that a command line gives.
fn used(
    command: &clap::Command,
    matches: &clap::ArgMatches,
    path: &str,
    all: &mut BTreeSet<String>,
) {
    for id in command.get_arguments().map(|a| a.get_id().as_str()) {
        if let Ok(Some(_)) = matches.try_get_raw(id)
            && matches.value_source(id) == Some(ValueSource::CommandLine)
        {
            all.insert(format!("{path}{id}"));
        }
    }
    if let Some((name, matches)) = matches.subcommand() {
        all.insert(format!("{path}{name}"));
        let command = command.find_subcommand(name).unwrap();
        used(command, matches, &format!("{path}{name} "), all);
    }
}

#[test]
fn every_option_that_is_offered_is_used_here() {
    let mut all = BTreeSet::new();
    offered(&taipan_cli::command(), "", &mut all);
    for line in USES {
        let words = std::iter::once("taipan").chain(line.split_whitespace());
        let matches = taipan_cli::command().try_get_matches_from(words);
        let matches = matches.unwrap_or_else(|e| panic!("{line}: {e}"));
        let mut here = BTreeSet::new();
        used(&taipan_cli::command(), &matches, "", &mut here);
        all.retain(|o| !here.contains(o));
    }
    assert!(all.is_empty(), "nothing runs {all:#?}");
}

/// A process that ends with the test, whatever comes of that.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_option_that_is_offered_works() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let twice = "\ndef twice(n):\n    return double(n) + double(n)\n";
    write("main.py", &format!("{PROGRAM}{twice}"));
    write(
        "typed.py",
        "def double(n):\n    # type: (int) -> int\n    return n * 2\n",
    );
    write("test_main.py", TEST);
    write("interpreter.py", INTERPRETER);
    write(
        "batch",
        "{\"file\": \"main.py\", \"func\": \"double\", \"args\": [\"3\"], \"id\": 1}\n",
    );
    let start = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command.current_dir(folder.path());
        command.args(line.split_whitespace());
        command.stdin(Stdio::null());
        // Nothing is opened while tests run, and nothing trusted beyond them.
        command.env("BROWSER", "true");
        command.env("XDG_CONFIG_HOME", folder.path().join("config"));
        command
    };
    let jitlog = start("run --jit --jit-threshold 3 interpreter.py")
        .env("TAIPAN_JITLOG", folder.path().join("jitlog"))
        .env("TAIPAN_JITLOG_ASM", "1")
        .status();
    assert!(jitlog.unwrap().success());
    // Tests of their own talk to the language server and the debugger.
    for line in USES.iter().filter(|line| !["lsp", "debug"].contains(line)) {
        let (watches, explores) = (line.starts_with("watch"), line.starts_with("explore"));
        if watches || explores {
            let errors = folder.path().join("errors");
            let child = start(line)
                .stdout(File::create(folder.path().join("output")).unwrap())
                .stderr(File::create(&errors).unwrap())
                .spawn();
            let mut child = Watching(child.unwrap());
            // It has done its work once, and says that it waits.
            let said = || std::fs::read_to_string(&errors).unwrap();
            let started = Instant::now();
            let is_done = |said: String| match watches {
                true => said.contains("watching ") || said.contains("polling "),
                false => said.contains("total "),
            };
            while !is_done(said()) {
                let late = started.elapsed() > Duration::from_secs(60);
                assert!(!late, "{line}: it says {}", said());
                let ended = child.0.try_wait().unwrap();
                assert!(ended.is_none(), "{line}: {ended:?}\n{}", said());
                std::thread::sleep(Duration::from_millis(20));
            }
            drop(child);
            let said = said();
            let wrong = said.contains("error:") || said.contains("error[");
            assert!(!wrong, "{line}: {said}");
            continue;
        }
        let o = start(line).output().unwrap();
        let stderr = String::from_utf8_lossy(&o.stderr);
        let stdout = String::from_utf8_lossy(&o.stdout);
        assert!(o.status.success(), "{line}: {stderr}{stdout}");
    }
}
