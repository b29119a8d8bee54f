//! The target's module name, its import path, and messages about missing modules.

use expect_test::{Expect, expect};
use taipan_base::{LoadOptions, Program};
use taipan_interp::{image, image_diagnostics};
use taipan_testkit::TestDb;

/// The output of a program, and its first diagnostic.
#[track_caller]
fn check(fixture: &str, target: &str, tests: bool, expected: Expect) {
    let db = TestDb::with_fixture(fixture);
    let options = LoadOptions {
        tests,
        ..LoadOptions::limited(vec!["/lib".into()], 10_000_000)
    };
    let program = Program::with_options(&db, target.into(), options);
    let mut text = image(&db, program).printed.clone();
    if let Some(d) = image_diagnostics(&db, program).first() {
        text.push_str(&format!("{}\n", d.message));
        for note in &d.notes {
            text.push_str(&format!("  {}\n", note.message));
        }
        if let Some(help) = &d.help {
            text.push_str(&format!("  help: {help}\n"));
        }
    }
    expected.assert_eq(&text);
}

const PACKAGE: &str = "
    #- /top/tgt/__init__.py
    print 'the package'
    #- /top/tgt/near.py
    name = 'near'
    #- /top/both.py
    name = 'beside the package'
    #- /lib/both.py
    name = 'on the path'
    #- /top/tgt/t.py
";

/// As the original's `translate.py` imports it.
#[test]
fn the_target_is_run_as_a_script() {
    let source = "
    import sys, both, near
    print __name__, repr(__package__), sys.path, both.name, near.__name__
    def target(driver, args): return f, None
    def f(argv): return 0
    if 'again' not in sys.modules:
        sys.modules['again'] = None
        import tgt.t
        print tgt.t.__name__, tgt.t.f is f
";
    check(
        &format!("{PACKAGE}{source}"),
        "/top/tgt/t.py",
        false,
        expect![[r#"
            t '' ['/top/tgt', '/lib'] on the path near
            the package
            tgt.t 'tgt' ['/top/tgt', '/lib'] on the path tgt.near
            tgt.t False
        "#]],
    );
}

#[test]
fn a_script_has_no_package_to_import_from() {
    let source = "
    def entry_point(argv): return 0
    from . import near
";
    check(
        &format!("{PACKAGE}{source}"),
        "/top/tgt/t.py",
        false,
        expect![[r#"
            ValueError: Attempted relative import in non-package
        "#]],
    );
}

/// Their functions are compiled, or their tests run.
#[test]
fn other_files_are_modules_of_their_packages() {
    let source = "
    from . import near
    import both
    print __name__, near.__name__, both.name
    def test_it(): pass
";
    for tests in [false, true] {
        check(
            &format!("{PACKAGE}{source}"),
            "/top/tgt/t.py",
            tests,
            expect![[r#"
                the package
                tgt.t tgt.near beside the package
            "#]],
        );
    }
}

/// The texts are those of CPython 2.7.
#[test]
fn import_errors_name_what_follows_the_package() {
    let message = |statement: &str, expected: Expect| {
        let fixture = format!(
            "
            #- /pk/__init__.py
            #- /pk/sub/__init__.py
            #- /main.py
            {statement}
            "
        );
        check(&fixture, "/main.py", false, expected);
    };
    message(
        "import nope",
        expect![[r#"
        ImportError: No module named nope
    "#]],
    );
    message(
        "import nope.a.b",
        expect![[r#"
        ImportError: No module named nope.a.b
    "#]],
    );
    message(
        "import pk.zz.b",
        expect![[r#"
        ImportError: No module named zz.b
          the module is `pk.zz.b`
    "#]],
    );
    message(
        "from pk.sub.zz import q",
        expect![[r#"
        ImportError: No module named zz
          the module is `pk.sub.zz`
    "#]],
    );
}

#[test]
fn modules_that_have_other_names_today() {
    let help = |statement: &str, expected: Expect| {
        check(
            &format!("#- /main.py\n{statement}"),
            "/main.py",
            false,
            expected,
        );
    };
    help(
        "from pypy.rlib.jit import JitDriver",
        expect![[r#"
        ImportError: No module named pypy.rlib.jit
          help: `pypy.rlib.jit` is `rpython.rlib.jit` today
    "#]],
    );
    help(
        "from pypy.rpython.lltypesystem import lltype",
        expect![[r#"
        ImportError: No module named pypy.rpython.lltypesystem
          help: `pypy.rpython.lltypesystem` is `rpython.rtyper.lltypesystem` today
    "#]],
    );
    help(
        "import pypy.rlib.nothing",
        expect![[r#"
        ImportError: No module named pypy.rlib.nothing
    "#]],
    );
}

#[test]
fn modules_of_folders_are_listed() {
    check(
        "
        #- /pk/__init__.py
        #- /pk/b.py
        name = 'b'
        #- /pk/a.py
        #- /pk/data.txt
        #- /pk/sub/__init__.py
        #- /pk/sub/c.py
        #- /pk/empty/nothing.txt
        #- /main.py
        import pkgutil, pk
        print [(name, is_package) for _, name, is_package in pkgutil.iter_modules(pk.__path__)]
        print [name for _, name, _ in pkgutil.walk_packages(pk.__path__, 'pk.')]
        print [name for _, name, _ in pkgutil.iter_modules() if name in ('main', 'pk')]
        for finder, name, _ in pkgutil.iter_modules(['/pk']):
            if name == 'b':
                print finder.find_module(name).load_module(name).name
        ",
        "/main.py",
        false,
        expect![[r#"
            [('a', False), ('b', False), ('sub', True)]
            ['pk.a', 'pk.b', 'pk.sub', 'pk.sub.c']
            ['main', 'pk']
            b
        "#]],
    );
}
