//! Programs that never end or take ever more memory: import time ends at its limits, at the same
//! place each time, and stops where its result is not needed any more.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use salsa::Setter;
use taipan_base::{Diagnostic, LoadOptions, Program};
use taipan_interp::{image, image_diagnostics};
use taipan_testkit::TestDb;

const MEGABYTE: u64 = 1 << 20;

/// The first diagnostic of a program with these limits: code, message, and line.
fn ends_with(source: &str, steps: u64, memory: Option<u64>) -> String {
    let db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
    let options = LoadOptions {
        memory_limit: memory,
        ..LoadOptions::limited(vec![], steps)
    };
    let program = Program::with_options(&db, "/main.py".into(), options);
    let diagnostics = image_diagnostics(&db, program);
    let line = |d: &Diagnostic| {
        d.primary.map_or(0, |s| {
            let text = s.file.text(&db);
            text[..s.range.start as usize].matches('\n').count() + 1
        })
    };
    match diagnostics.first() {
        Some(d) => format!("{} {}: {}", d.code, line(d), d.message),
        None => "no diagnostic".to_owned(),
    }
}

const TOO_MUCH: &str = "import time takes too much memory: the memory limit was reached";
const ENDLESS: &str = "import time does not end: the step limit was reached";

#[track_caller]
fn takes_too_much(source: &str, line: usize) {
    let expected = format!("TP0203 {line}: {TOO_MUCH}");
    let found = ends_with(source, u64::MAX, Some(64 * MEGABYTE));
    assert_eq!(found, expected, "{source}");
}

#[track_caller]
fn does_not_end(source: &str, line: usize) {
    let expected = format!("TP0202 {line}: {ENDLESS}");
    let found = ends_with(source, 300_000, None);
    assert_eq!(found, expected, "{source}");
}

#[test]
fn memory_of_objects_is_bounded() {
    takes_too_much("l = []\nwhile True:\n    l.append([1])\n", 3);
    takes_too_much("l = []\nwhile True:\n    l.append('x' * 1000)\n", 3);
    takes_too_much(
        "d = {}\nn = 0\nwhile True:\n    n += 1\n    d[n] = n * 1.5\n",
        5,
    );
    takes_too_much(
        "class A(object): pass\na = A()\nwhile True: b = A(); b.a = a; a = b\n",
        3,
    );
    takes_too_much(
        "t = [()]\nwhile True:\n    t.append((('x' * 100, 1), 2))\n",
        3,
    );
}

#[test]
fn memory_of_strings_and_longs_is_bounded() {
    takes_too_much("s = 'x'\nwhile True:\n    s = s + s\n", 3);
    takes_too_much(
        "l = []\nn = 3 ** 1000\nwhile True:\n    n = n * 3\n    l.append(n)\n",
        4,
    );
    takes_too_much("l = [u'x' * 5000000 for i in range(100)]\n", 1);
}

/// Nothing refers to the list of a loop over `range` but the loop: there is none.
#[test]
fn loops_over_range_take_no_memory() {
    let loops = "for i in range(30):\n    for j in range(1000000): break\n\
                 assert [j for j in range(1, 6, 2)] == [1, 3, 5] and j == 5\n\
                 found = list(j for j in range(3))\n\
                 assert found == range(3)\n";
    let found = ends_with(loops, u64::MAX, Some(64 * MEGABYTE));
    assert_eq!(found, "no diagnostic");
    let kept = "l = []\nfor i in range(30):\n    l.append(range(1000000))\n";
    takes_too_much(kept, 3);
    let wrong = "try:\n    for i in range(1 << 40): pass\nexcept OverflowError: pass\n";
    assert_eq!(ends_with(wrong, u64::MAX, None), "no diagnostic");
}

/// Values that only frames hold count as well.
#[test]
fn memory_of_local_variables_is_bounded() {
    takes_too_much(
        "def f(n):\n    s = ('%d' % n) * 300000\n    return f(n + 1) + s\nf(0)\n",
        2,
    );
    takes_too_much(
        "def g():\n    for i in iter(int, 1): yield 'x' * 1000\nx = list(g())\n",
        2,
    );
    takes_too_much(
        "def g():\n    for i in iter(int, 1): yield 'x' * 1000\nx = ''.join(g())\n",
        2,
    );
    takes_too_much("map(lambda i: 'x' * 1000, xrange(10 ** 9))\n", 1);
}

#[test]
fn memory_of_output_and_files_is_bounded() {
    takes_too_much("while True:\n    print 'x' * 1000\n", 2);
    takes_too_much(
        "f = open('/tmp/x', 'w')\nwhile True:\n    f.write('x' * 1000)\n",
        3,
    );
    takes_too_much(
        "n = 0\nwhile True:\n    n += 1\n    exec 'x%d = 1' % n\n",
        4,
    );
}

/// However much memory there may be.
#[test]
fn output_is_bounded() {
    let found = ends_with("while True: print 'x' * 10000\n", u64::MAX, None);
    let expected = "TP0201 1: IOError: [Errno 28] No space left on device";
    assert_eq!(found, expected);
}

#[test]
fn raw_memory_is_bounded() {
    let source = "from rpython.rtyper.lltypesystem import lltype, rffi\nwhile True:\n    \
                  lltype.malloc(rffi.CCHARP.TO, 1000000, flavor='raw')\n";
    takes_too_much(source, 3);
}

/// Also where `target()` takes it, after the modules were loaded.
#[test]
fn memory_of_the_target_function_is_bounded() {
    takes_too_much(
        "def target(driver, args):\n    l = []\n    while True: l.append([1])\n",
        3,
    );
}

/// A large allocation is refused before it is made.
#[test]
fn large_allocations_are_refused() {
    takes_too_much("x = [0] * 16000000\n", 1);
    takes_too_much("x = range(16000000)\n", 1);
    takes_too_much("x = 'x' * 100000000\n", 1);
    let huge = [
        "'x' * 10 ** 12",
        "[0] * 10 ** 12",
        "10 ** 10 ** 10",
        "1 << 10 ** 12",
        "range(10 ** 12)",
        "('x' * 10 ** 5).replace('x', 'y' * 10 ** 5)",
        "('x' * 10 ** 5).join(['y'] * 10 ** 5)",
        "open('/tmp/x', 'w').truncate(10 ** 12)",
    ];
    for expression in huge {
        let source = format!(
            "try:\n    {expression}\nexcept (MemoryError, OverflowError, IOError):\n    pass\n"
        );
        let found = ends_with(&source, 10_000_000, None);
        assert_eq!(found, "no diagnostic", "{expression}");
    }
}

/// Dropped values do not count.
#[test]
fn garbage_does_not_count() {
    let source = "s = ''\nfor i in xrange(3000):\n    s = s + 'x' * 100\nl = range(100000)\nfor i in xrange(100):\n    \
                  l[:] = tuple(l)\n    t = u'x' * 1000000\n";
    assert_eq!(
        ends_with(source, u64::MAX, Some(64 * MEGABYTE)),
        "no diagnostic"
    );
    let same = "for i in xrange(50000): eval('1 + 1')\n";
    assert_eq!(
        ends_with(same, u64::MAX, Some(64 * MEGABYTE)),
        "no diagnostic"
    );
    let shared = "s = 'x' * 1000\nl = [s] * 1000000\nt = (s, s) * 100000\n";
    assert_eq!(
        ends_with(shared, u64::MAX, Some(64 * MEGABYTE)),
        "no diagnostic"
    );
}

#[test]
fn long_operations_are_refused() {
    let message = "import time takes too long: an operation on very large integers";
    for expression in [
        "str(3 ** 2000000)",
        "3 ** 2000000 / 3 ** 1000000",
        "pow(3, 1 << 100000, 3 ** 20000)",
        "int('7' * 1000000)",
    ] {
        let found = ends_with(&format!("x = {expression}\n"), u64::MAX, None);
        assert_eq!(found, format!("TP0202 1: {message}"), "{expression}");
    }
    let source = "x = str(3 ** 20000), int('f' * 1000000, 16), 7 ** 30000 / 7 ** 20000, pow(3, 1 << 2000, 3 ** 500)\n";
    assert_eq!(ends_with(source, u64::MAX, None), "no diagnostic");
}

/// Expressions that work without end in builtin functions.
const IN_BUILTINS: &[&str] = &[
    "sum(i for i in iter(int, 1))",
    "sum(iter(int, 1))",
    "max(iter(int, 1))",
    "sorted(iter(int, 1))",
    "dict((i, i) for i in iter(int, 1))",
    "set(iter(int, 1))",
    "reduce(lambda a, b: a, iter(int, 1))",
    "any(iter(int, 1))",
    "all(iter(lambda: 1, 0))",
    "1 in iter(int, 1)",
    "zip(iter(int, 1), iter(int, 1))",
    "filter(None, iter(int, 1))",
    "[].extend(iter(int, 1))",
    "''.join('' for i in iter(int, 1))",
    "[x for x in iter(int, 1)]",
];

/// A lot of work in few calls.
const BULK: &[&str] = &[
    "t = 'a' * 1000000\nwhile True: t.find('ab')\n",
    "t = 'a' * 1000000\nwhile True: t.count('b')\n",
    "t = 'a' * 1000000\nwhile True: t.replace('b', 'c')\n",
    "t = 'a' * 1000000\nwhile True: t.split('b')\n",
    "t = 'a' * 1000000\nwhile True: 'b' in t\n",
    "t = 'a' * 1000000; u = 'a' * 999999 + 'a'\nwhile True: t == u\n",
    "l = [0] * 1000000\nwhile True: l.index(0, 999999)\n",
    "l = [0] * 1000000\nwhile True: 1 in l\n",
    "l = [0] * 1000000\nwhile True: l[:] = l\n",
    "l = [0] * 1000000\nwhile True: l.insert(0, l.pop())\n",
    "l = range(100000)\nwhile True: sorted(l)\n",
    "n = 3 ** 5000\nwhile True: str(n)\n",
    "n = 3 ** 5000\nwhile True: n * n\n",
    "import re\nt = 'a' * 100000\nwhile True: re.search('b', t)\n",
    "import re\nre.match('(a*)*b', 'a' * 100)\nre.match('(a|a)*(?=b)c', 'a' * 100)\n\
     while True: re.match('(a|a)*(?=b)c', 'a' * 30)\n",
    "a = []\nfor i in range(100): a = [a, a]\nwhile True: a == [list(a[0]), a[1]]\n",
    "a = []\nfor i in range(100): a = [a, a]\nwhile True: repr(a)\n",
];

#[test]
fn steps_in_builtin_functions_count() {
    for expression in IN_BUILTINS {
        does_not_end(&format!("x = {expression}\n"), 1);
    }
}

#[test]
fn bulk_work_counts() {
    for source in BULK {
        let found = ends_with(source, 300_000, None);
        assert!(found.starts_with("TP0202"), "{source}: {found}");
    }
}

/// A write gets through while import time runs.
#[test]
fn import_time_is_cancelled() {
    let in_builtins = IN_BUILTINS.iter().map(|e| format!("x = {e}\n"));
    let sources = in_builtins.chain(BULK.iter().map(|s| (*s).to_owned()));
    let mut sources: Vec<String> = sources.collect();
    sources.push("while True: pass\n".to_owned());
    sources.push("def f():\n    while True: pass\nf()\n".to_owned());
    for source in sources {
        let mut db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
        let program = db.program();
        let endless = LoadOptions::limited(vec![], u64::MAX);
        program.set_options(&mut db).to(endless);
        let other = db.clone();
        let (started, begun) = mpsc::channel();
        let worker = std::thread::spawn(move || {
            started.send(()).unwrap();
            salsa::Cancelled::catch(std::panic::AssertUnwindSafe(|| {
                image(&other, program);
            }))
            .is_err()
        });
        begun.recv().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let since = Instant::now();
        db.edit("/main.py", "x = 1\n");
        assert!(since.elapsed() < Duration::from_secs(20), "{source}");
        assert!(worker.join().unwrap(), "it came to an end: {source}");
        assert!(image_diagnostics(&db, program).is_empty(), "{source}");
    }
}

/// Deep tuples would end the process where they are dropped, and tuples that share tuples grow
/// without bound where they become constants.
#[test]
fn tuples_are_nested_to_some_depth() {
    for source in [
        "t = ()\nwhile True: t = (t,)\n",
        "t = ()\nwhile True: t = (t, t)\n",
        "def f(*t): return t\nt = ()\nwhile True: t = f(t)\n",
        "t = ()\nwhile True:\n    for t in enumerate([t]): pass\n",
        "t = ()\nwhile True: (t,) = zip([t])\n",
        "t = ()\nwhile True: t = (t.__len__,)\n",
    ] {
        let found = ends_with(source, 1_000_000, None);
        assert!(
            found.contains("MemoryError: too large"),
            "{source}: {found}"
        );
    }
    let source = "t = ()\nfor i in range(900): t = (t, i)\n";
    assert_eq!(ends_with(source, u64::MAX, None), "no diagnostic");
}
