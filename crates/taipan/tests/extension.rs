//! `taipan build --extension`: modules that Python 3 imports.
//!
//! What is in `extension/` is built, and the programs in `extension/calls/` call it. `PYTHON3` names the
//! interpreter; `python3` is looked for otherwise. Where there is none that is new enough, the
//! tests that need it are reported as ignored, with the reason: this target has a harness of its
//! own, since the standard one knows no test that finds out while it runs.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use expect_test::{Expect, expect};
use libtest_mimic::{Arguments, Completion, Failed};
use taipan_testkit::timed_trial;

/// A Python that modules work with.
struct Python3(String);

impl Python3 {
    /// The interpreter, or why there is none.
    fn find() -> Result<Python3, String> {
        let name = std::env::var("PYTHON3").unwrap_or_else(|_| "python3".to_owned());
        let script = "import sys; assert sys.version_info >= (3, 10), sys.version";
        match Command::new(&name).args(["-c", script]).output() {
            Ok(o) if o.status.success() => Ok(Python3(name)),
            Ok(o) => {
                let said = text(&o.stderr);
                let last = said.lines().last().unwrap_or("it failed");
                Err(format!("no Python 3.10: {name}: {last}"))
            }
            Err(e) => Err(format!("no Python 3.10: {name}: {e}")),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extension")
}

fn taipan(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder).args(args);
    command.output().expect("taipan runs")
}

/// Builds modules into a folder, with these options, and has a program call them.
fn calls(
    python: &Python3,
    modules: &[&str],
    program: &str,
    options: &[&str],
    stress: bool,
) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for module in modules {
        let source = sources().join(format!("{module}.py"));
        let source = source.to_string_lossy();
        let words = ["build", "-q", "--no-cache", "--extension", &source];
        let out = taipan(folder.path(), &[&words, options].concat());
        if !out.status.success() {
            return Err(format!("{module}: {}", text(&out.stderr)).into());
        }
    }
    let mut command = Command::new(&python.0);
    let script = sources().join("calls").join(program);
    command
        .arg("-B")
        .arg(script)
        .env("PYTHONPATH", folder.path());
    if stress {
        command.env("TAIPAN_GC_STRESS", "1");
    }
    let out = command.output()?;
    match out.status.success() {
        true => Ok(()),
        false => Err(format!("{}\n{}", out.status, text(&out.stderr)).into()),
    }
}

/// What is said of a module that cannot be built.
fn refused(source: &str, expected: &Expect) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("mod.py"), source)?;
    let out = taipan(
        folder.path(),
        &["build", "-q", "--no-cache", "--extension", "mod.py"],
    );
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    expected.assert_eq(&text(&out.stderr));
    assert!(!folder.path().join("mod.abi3.so").exists());
    Ok(())
}

fn what_cannot_be_declared() -> Result<(), Failed> {
    refused(
        "\
from rpython.rlib.objectmodel import enforceargs, specialize

class Box(object):
    pass

def number(z):
    # type: (complex) -> int
    return 1

def maybe(n):
    # type: (Optional[int]) -> int
    return 1

def few(a, b):
    # type: (int) -> int
    return a

def keys(d):
    # type: (Dict[float, int]) -> int
    return 1

def broken(a):
    # type: (int -> int
    return a

def default(a=None):
    # type: (int) -> int
    return a

def starred(a, *rest):
    # type: (int, int) -> int
    return a

@specialize.argtype(0)
def special(a):
    # type: (int) -> int
    return a

@enforceargs(Box)
def boxed(b):
    return 1

@enforceargs(int, None)
def partly(a, b):
    return a
",
        &expect![[r#"
            error[TP0214]: Python cannot call `number`: `complex` is no type that is passed
             --> mod.py:6:5
              |
            6 | def number(z):
              |     ^^^^^^

            error[TP0214]: Python cannot call `maybe`: RPython has no int that may be None
              --> mod.py:10:5
               |
            10 | def maybe(n):
               |     ^^^^^

            error[TP0214]: Python cannot call `few`: it has 2 arguments, and its declaration 1
              --> mod.py:14:5
               |
            14 | def few(a, b):
               |     ^^^

            error[TP0214]: Python cannot call `keys`: keys of dicts are integers or strings, not float
              --> mod.py:18:5
               |
            18 | def keys(d):
               |     ^^^^

            error[TP0214]: Python cannot call `broken`: the comment `(int -> int` has no `)` where one is expected
              --> mod.py:22:5
               |
            22 | def broken(a):
               |     ^^^^^^

            error[TP0214]: Python cannot call `default`: the default of `a` is no int
              --> mod.py:26:5
               |
            26 | def default(a=None):
               |     ^^^^^^^

            error[TP0214]: Python cannot call `starred`: it takes *args or **kwargs
              --> mod.py:30:5
               |
            30 | def starred(a, *rest):
               |     ^^^^^^^

            error[TP0214]: Python cannot call `special`: it is specialised (specialize:argtype(0)): there is no one function to call
              --> mod.py:35:5
               |
            35 | def special(a):
               |     ^^^^^^^

            error[TP0214]: Python cannot call `boxed`: instances of `Box` are not passed
              --> mod.py:40:5
               |
            40 | def boxed(b):
               |     ^^^^^

            error[TP0214]: Python cannot call `partly`: @enforceargs leaves out the type of an argument
              --> mod.py:44:5
               |
            44 | def partly(a, b):
               |     ^^^^^^

            10 errors
        "#]],
    )
}

fn results_that_are_others() -> Result<(), Failed> {
    refused(
        "\
from rpython.rlib.objectmodel import enforceargs

class Box(object):
    pass

def number(n):
    # type: (int) -> int
    return n * 0.5

def texts(n):
    # type: (int) -> List[str]
    return [n]

def box(n):
    # type: (int) -> Dict[str, int]
    return Box()

@enforceargs(int)
def numbers(n):
    return [n]

def none(n):
    # type: (int) -> float
    if n:
        return None
",
        &expect![[r#"
            error[TP0214]: `number` is declared to return int, but returns SomeFloat
             --> mod.py:6:5
              |
            6 | def number(n):
              |     ^^^^^^
              |
              = help: change the declaration, or what is returned

            error[TP0214]: `texts` is declared to return List[str], but returns SomeList[SomeInteger]
              --> mod.py:10:5
               |
            10 | def texts(n):
               |     ^^^^^
               |
               = help: change the declaration, or what is returned

            error[TP0214]: `box` is declared to return Dict[str, int], but returns SomeInstance(Box)
              --> mod.py:14:5
               |
            14 | def box(n):
               |     ^^^
               |
               = help: change the declaration, or what is returned

            error[TP0214]: Python cannot call `numbers`: it returns SomeList[SomeInteger]
              --> mod.py:19:5
               |
            19 | def numbers(n):
               |     ^^^^^^^
               |
               = help: results that are no number, string or None are declared: `# type: (int) -> List[int]` below `def`, or @signature

            error[TP0214]: `none` is declared to return float, but returns SomeNone
              --> mod.py:22:5
               |
            22 | def none(n):
               |     ^^^^
               |
               = help: change the declaration, or what is returned

            5 errors
        "#]],
    )
}

fn mistakes_of_the_program() -> Result<(), Failed> {
    refused(
        "\
def add(a, b):
    # type: (int, str) -> int
    return a + b
",
        &expect![[r#"
            error[TP0303]: `+` of an int and a str is not RPython
             --> mod.py:3:12
              |
            3 |     return a + b
              |            ^^^^^
              |
              = help: make a string of the number with `str()`, or use `%`, as in `"%d" % n`

            1 error
        "#]],
    )
}

fn a_module_without_functions() -> Result<(), Failed> {
    refused(
        "\
def add(a, b):
    return a + b

def _hidden(a):
    # type: (int) -> int
    return a
",
        &expect![[r#"
            error[TP0215]: the module has no function that Python can call
             --> mod.py:1:1
              |
            1 | def add(a, b):
              | ^^^^^^^^^^^^^^
              |
              = help: declare the types of functions that Python is to call: `# type: (int, str) -> float` below `def`, or @enforceargs or @signature

            1 error
        "#]],
    )
}

/// `__all__` says what is offered: also what is named like a private one, or comes from another module.
fn names_that_are_listed() -> Result<(), Failed> {
    refused(
        "\
__all__ = ['add', '_hidden']

def add(a, b):
    return a + b

def _hidden(a):
    # type: (int) -> int
    return a
",
        &expect![[r#"
            error[TP0214]: Python cannot call `add`: its types are not declared
             --> mod.py:3:5
              |
            3 | def add(a, b):
              |     ^^^

            1 error
        "#]],
    )
}

fn names_of_files() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = "def one():\n    # type: () -> int\n    return 1\n";
    std::fs::write(folder.path().join("mod.py"), source)?;
    for (file, works) in [
        ("other.abi3.so", true),
        ("other.so", true),
        ("2.so", false),
        ("a-b.so", false),
        ("mod", false),
    ] {
        let out = taipan(
            folder.path(),
            &["build", "-q", "--extension", "mod.py", "-o", file],
        );
        assert_eq!(out.status.success(), works, "{file}: {}", text(&out.stderr));
        assert_eq!(folder.path().join(file).exists(), works, "{file}");
    }
    Ok(())
}

/// What was built is taken from the cache; what was not edited stays the same, byte for byte.
fn builds_are_kept() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let cache = folder.path().join("cache");
    let cache = cache.to_string_lossy();
    let file = folder.path().join("mod.py");
    let source = |n: i32| format!("def one():\n    # type: () -> int\n    return {n}\n");
    let build = |with: &[&str]| {
        let mut args = vec!["build", "-q", "--extension", "mod.py"];
        args.extend(with);
        let out = taipan(folder.path(), &args);
        assert!(out.status.success(), "{}", text(&out.stderr));
        std::fs::read(folder.path().join("mod.abi3.so")).expect("it was built")
    };
    std::fs::write(&file, source(1))?;
    let first = build(&["--cache-dir", &cache]);
    let again = build(&["--cache-dir", &cache]);
    std::fs::write(&file, source(2))?;
    let edited = build(&["--cache-dir", &cache]);
    let fresh = build(&["--no-cache"]);
    std::fs::write(&file, source(1))?;
    let back = build(&["--cache-dir", &cache]);
    assert!(first == again && first == back && edited == fresh && first != edited);
    // Without a C compiler only what is kept can be had.
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    let command = command.current_dir(folder.path()).env("CC", "/none/such");
    let out = command
        .args(["build", "-q", "--no-cache", "--extension", "mod.py"])
        .output()?;
    assert_eq!(out.status.code(), Some(2));
    assert!(
        text(&out.stderr).contains("/none/such"),
        "{}",
        text(&out.stderr)
    );
    Ok(())
}

/// A module of one function, which declares nothing: its types are those of `--inputs`, or of its calls.
fn one_function(python: &Python3) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = "\
class Wrong(Exception):
    def __init__(self, msg):
        self.msg = msg

def head(texts, n):
    if n > len(texts):
        raise Wrong('%d of %d' % (n, len(texts)))
    return texts[:n], {'n': n}

def other(n):
    # type: (int) -> int
    return n

def entry_point(argv):
    head(argv, 1)
    return 0
";
    std::fs::write(folder.path().join("mod.py"), source)?;
    let inputs = ["--inputs", "SomeList[SomeString], SomeInteger(nonneg)"];
    for options in [&inputs[..], &[]] {
        let words = ["build", "-q", "--no-cache", "--extension", "mod.py:head"];
        let out = taipan(folder.path(), &[&words, options].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        let script = "\
import mod
assert mod.head(['a', 'b', '\u{e4}'], 1) == (['a'], {'n': 1})
assert not hasattr(mod, 'other')
for wrong, error in ((-1, OverflowError), ('1', TypeError), (2.5, TypeError), (4, mod.Wrong)):
    try:
        mod.head(['a', 'b', 'c'], wrong)
    except error as e:
        print(e)
    else:
        assert False, wrong
";
        let out = Command::new(&python.0)
            .args(["-B", "-c", script])
            .current_dir(folder.path())
            .output()?;
        assert!(out.status.success(), "{}", text(&out.stderr));
        expect![[r#"
            head() argument 'n' (pos 2) is out of range for int that is not negative
            head() argument 'n' (pos 2) must be int, not str
            head() argument 'n' (pos 2) must be int, not float
            4 of 3
        "#]]
        .assert_eq(&text(&out.stdout));
        std::fs::remove_file(folder.path().join("mod.abi3.so"))?;
    }
    Ok(())
}

fn wrong_inputs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = "\
class Box(object):
    pass

def box(n):
    return Box()

def add(a, b):
    return a + b
";
    std::fs::write(folder.path().join("mod.py"), source)?;
    let said = |words: &[&str]| {
        let out = taipan(
            folder.path(),
            &[&["build", "-q", "--no-cache", "--extension"], words].concat(),
        );
        assert!(!out.status.success());
        text(&out.stderr)
    };
    expect!["taipan: Python cannot call `box`: its result is SomeInstance(Box)\n"]
        .assert_eq(&said(&["--inputs", "int", "mod.py:box"]));
    expect!["taipan: Python cannot call `add`: argument 1 is SomeChar\n"].assert_eq(&said(&[
        "--inputs",
        "SomeChar, SomeChar",
        "mod.py:add",
    ]));
    expect!["taipan: --inputs needs FILE.py:FUNC\n"]
        .assert_eq(&said(&["--inputs", "int", "mod.py"]));
    let text = said(&["--inputs", "int, str", "mod.py:add"]);
    assert!(text.contains("error[TP0303]"), "{text}");
    let text = said(&["mod.py:add"]);
    assert!(text.contains("--inputs"), "{text}");
    let text = said(&["--inputs", "int", "mod.py:none"]);
    assert!(text.contains("none"), "{text}");
    Ok(())
}

/// An exception class that nothing raises.
fn exceptions_that_are_not_raised() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = "\
class Wrong(Exception):
    def __init__(self, msg):
        self.msg = msg

def add(a, b):
    # type: (int, int) -> int
    return a + b

def fail(n):
    raise Wrong('%d' % n)
";
    std::fs::write(folder.path().join("mod.py"), source)?;
    let words = ["build", "-q", "--no-cache", "--extension", "mod.py"];
    let out = taipan(folder.path(), &words);
    assert!(out.status.success(), "{}", text(&out.stderr));
    Ok(())
}

/// Levels make different code.
fn levels() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = "def add(a, b):\n    # type: (int, int) -> int\n    return a + b\n";
    std::fs::write(folder.path().join("mod.py"), source)?;
    let mut made = Vec::new();
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let words = ["build", "-q", "--no-cache", "--extension", level, "mod.py"];
        let out = taipan(folder.path(), &words);
        assert!(out.status.success(), "{level}: {}", text(&out.stderr));
        made.push(std::fs::read(folder.path().join("mod.abi3.so"))?);
    }
    let differ = |a: usize, b: usize| assert!(made[a] != made[b], "-O{a} and -O{b}");
    differ(0, 1);
    differ(1, 2);
    differ(2, 3);
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let python = Arc::new(Python3::find());
    let with_python =
        |name: &'static str, modules: &'static [&str], program: &'static str, stress: bool| {
            let python = python.clone();
            timed_trial(name, move || match &*python {
                Ok(python) => {
                    calls(python, modules, program, &[], stress).map(|()| Completion::Completed)
                }
                Err(why) => Ok(Completion::ignored_with(why)),
            })
        };
    let by_c = |name: &'static str, module: &'static str, program: &'static str| {
        let python = python.clone();
        timed_trial(name, move || match &*python {
            Ok(python) => {
                calls(python, &[module], program, &["-O2"], false).map(|()| Completion::Completed)
            }
            Err(why) => Ok(Completion::ignored_with(why)),
        })
    };
    let one = python.clone();
    let one_function = timed_trial("one_function", move || match &*one {
        Ok(python) => one_function(python).map(|()| Completion::Completed),
        Err(why) => Ok(Completion::ignored_with(why)),
    });
    let alone = |name: &str, test: fn() -> Result<(), Failed>| {
        timed_trial(name, move || test().map(|()| Completion::Completed))
    };
    let trials = vec![
        with_python("values", &["values"], "use_values.py", false),
        with_python("values_with_stress", &["values"], "use_few_values.py", true),
        with_python("exceptions", &["errors"], "use_errors.py", false),
        with_python(
            "unguarded_operations",
            &["unguarded"],
            "use_unguarded.py",
            false,
        ),
        with_python(
            "heaps_and_threads",
            &["state", "other"],
            "use_state.py",
            false,
        ),
        with_python("released_lock", &["released"], "use_released.py", false),
        by_c("values_by_c", "values", "use_values.py"),
        by_c("exceptions_by_c", "errors", "use_errors.py"),
        by_c("unguarded_operations_by_c", "unguarded", "use_unguarded.py"),
        by_c("released_lock_by_c", "released", "use_released.py"),
        one_function,
        alone("wrong_inputs", wrong_inputs),
        alone("levels", levels),
        alone(
            "exceptions_that_are_not_raised",
            exceptions_that_are_not_raised,
        ),
        alone("what_cannot_be_declared", what_cannot_be_declared),
        alone("results_that_are_others", results_that_are_others),
        alone("mistakes_of_the_program", mistakes_of_the_program),
        alone("a_module_without_functions", a_module_without_functions),
        alone("names_that_are_listed", names_that_are_listed),
        alone("names_of_files", names_of_files),
        alone("builds_are_kept", builds_are_kept),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}
