//! The image and its projections, its fire wall, and what bad programs get.

#[path = "image/modules.rs"]
mod modules;
#[path = "image/raised.rs"]
mod raised;

use expect_test::{Expect, expect};
use taipan_base::{Diagnostic, LoadOptions, Program, Translation};
use taipan_graph::{Const, ObjId};
use taipan_interp::{
    Builtin, Name, ObjData, Object, class_attr, entry_point, executable_name, image,
    image_diagnostics, module_global, named_function, named_id, object, target_module,
};
use taipan_language::{
    Collector, FlowFunction, HelperFunction, HlOp, KnownFunction, ShippedFunction, is_python_name,
};
use taipan_testkit::TestDb;

fn global(db: &TestDb, program: Program, name: &str) -> Const {
    let module = target_module(db, program).expect("the target was loaded");
    module_global(db, Name::new(db, program, module, name))
        .clone()
        .unwrap_or_else(|| panic!("no global {name}"))
}

fn data(db: &TestDb, program: Program, c: &Const) -> ObjData {
    match c {
        Const::Obj(id) => get(db, program, *id),
        other => panic!("{other} is no object"),
    }
}

fn get(db: &TestDb, program: Program, id: ObjId) -> ObjData {
    let found = object(db, Object::new(db, program, id)).clone();
    (*found.expect("an object of the image")).clone()
}

fn describe(db: &TestDb, d: &Diagnostic) -> String {
    let place = |s: &Option<taipan_base::Span>| match s {
        Some(s) => {
            let text = s.file.text(db);
            let line = text[..s.range.start as usize].matches('\n').count() + 1;
            let source = text.lines().nth(line - 1).unwrap_or("").trim();
            format!("{}:{line}: {source}", s.file.path(db))
        }
        None => "nowhere".to_owned(),
    };
    let mut out = format!("{} {}\n  at {}\n", d.code, d.message, place(&d.primary));
    for n in &d.notes {
        out.push_str(&format!("  {}, {}\n", n.message, place(&n.span)));
    }
    out
}

fn check_error(fixture: &str, expect: Expect) {
    let db = TestDb::with_fixture(fixture);
    let program = Program::new(&db, "/main.py".into(), vec![], 1_000_000);
    let all: String = image_diagnostics(&db, program)
        .iter()
        .map(|d| describe(&db, d))
        .collect();
    expect.assert_eq(&all);
}

#[test]
fn objects_of_the_image() {
    let db = TestDb::with_fixture(
        "
        class A(object):
            x = 1
            def m(self, y=2): return y
        class B(A):
            _immutable_ = True
        b = B()
        b.attr = [b, 'two', 3.0]
        table = {'one': 1}
        alias = A.m
        bound = b.m
        def outer(n):
            def inner(): return n
            inner.tag = 'marked'
            return inner
        f = outer(5)
        big = 1 << 70
        def entry_point(argv): return 0
        ",
    );
    let program = db.program();
    let b = data(&db, program, &global(&db, program, "b"));
    let ObjData::Instance(b) = b else {
        panic!("{b:?}")
    };
    let ObjData::Class(class) = get(&db, program, b.class) else {
        panic!("no class")
    };
    assert_eq!((&*class.name, &*class.module), ("B", "main"));
    assert_eq!(class.mro.len(), 3);
    assert_eq!(class.mro[2], named_id("__builtin__.object"));
    assert_eq!(class.get("_immutable_"), Some(&Const::Bool(true)));
    let ObjData::List(items) = data(&db, program, b.get("attr").unwrap()) else {
        panic!("no list")
    };
    assert_eq!(items[0], global(&db, program, "b"));
    assert_eq!(items[1..], [Const::str("two"), Const::float(3.0)]);
    let (owner, x) = class_attr(&db, Name::new(&db, program, b.class, "x"))
        .clone()
        .unwrap();
    assert_eq!((owner, x), (class.bases[0], Const::Int(1)));
    assert_eq!(
        data(&db, program, &global(&db, program, "table")),
        ObjData::Dict(vec![(Const::str("one"), Const::Int(1))])
    );
    let ObjData::Function(f) = data(&db, program, &global(&db, program, "f")) else {
        panic!("no function")
    };
    assert_eq!((&*f.name, &*f.module), ("inner", "main"));
    assert_eq!(f.closure, [Some(Const::Int(5))]);
    assert_eq!(f.get("tag"), Some(&Const::str("marked")));
    let ObjData::Method {
        im_self, im_func, ..
    } = data(&db, program, &global(&db, program, "bound"))
    else {
        panic!("no method")
    };
    assert_eq!(im_self, Some(global(&db, program, "b")));
    let ObjData::Function(m) = data(&db, program, &im_func) else {
        panic!("no function")
    };
    assert_eq!(m.defaults, [Const::Int(2)]);
    assert_eq!(m.class, Some(class.bases[0]));
    assert!(matches!(global(&db, program, "big"), Const::Long(_)));
    let entry = entry_point(&db, program).clone().unwrap();
    assert_eq!(Const::Obj(entry), global(&db, program, "entry_point"));
    assert_eq!(
        named_function(&db, program, "A.m").map(Const::Obj),
        Ok(im_func)
    );
}

#[test]
fn ids_do_not_depend_on_other_objects() {
    let source = "
        def make(): return [1]
        first = make()
        class C: pass
        c = C()
        ";
    let db = TestDb::with_fixture(source);
    let mut other = TestDb::with_fixture(source);
    other.edit(
        "/main.py",
        "extra = [[], {}]\nclass D: pass\ndef make(): return [1]\nfirst = make()\nclass C: pass\nc = C()\n",
    );
    let ids = |db: &TestDb| {
        let program = db.program();
        let c = global(db, program, "C");
        (global(db, program, "first"), c)
    };
    assert_eq!(ids(&db), ids(&other));
}

#[test]
fn frozen_instances_and_integers_of_a_width() {
    let db = TestDb::with_fixture(
        "
        from rpython.rlib.rarithmetic import r_uint, intmask
        class F(object):
            def _freeze_(self): return True
        f = F()
        u = r_uint(-1)
        ",
    );
    let program = db.program();
    assert_eq!(*image_diagnostics(&db, program), vec![].into());
    let ObjData::Instance(f) = data(&db, program, &global(&db, program, "f")) else {
        panic!("no instance")
    };
    assert!(f.frozen);
    assert_eq!(
        global(&db, program, "u").to_string(),
        "18446744073709551615u64"
    );
}

/// Editing a function that did not run leaves the image alone; editing one that ran
/// does not.
#[test]
fn bodies_that_do_not_run_are_behind_the_fire_wall() {
    let source = |ran: &str, not_run: &str| {
        format!("def ran():\n    return {ran}\ndef not_run():\n    return {not_run}\nx = ran()\n")
    };
    let mut db = TestDb::with_fixture(&source("1", "2"));
    let program = db.program();
    assert_eq!(global(&db, program, "x"), Const::Int(1));
    db.take_log();

    db.edit("/main.py", &source("1", "3 + 4"));
    assert_eq!(global(&db, program, "x"), Const::Int(1));
    let log = db.take_log();
    assert!(!log.contains_key("image"), "{log:?}");

    db.edit("/main.py", &source("5", "3 + 4"));
    assert_eq!(global(&db, program, "x"), Const::Int(5));
    assert!(db.take_log().contains_key("image"));
}

/// One changed object re-runs the readers of that object alone.
#[test]
fn projections_cut_off() {
    let mut db = TestDb::with_fixture("a = [1]\nb = [2]\n");
    let program = db.program();
    let first = data(&db, program, &global(&db, program, "a"));
    db.edit("/main.py", "a = [1]\nb = [3]\n");
    assert_eq!(image(&db, program).printed, "");
    assert_eq!(data(&db, program, &global(&db, program, "a")), first);
}

#[test]
fn arguments_of_exceptions() {
    check_error(
        "
        raise ValueError(2.5, 3, None, 'text')
        ",
        expect![[r#"
            TP0201 ValueError: 2.5, 3, None, text
              at /main.py:1: raise ValueError(2.5, 3, None, 'text')
        "#]],
    );
}

#[test]
fn exceptions_have_a_traceback() {
    check_error(
        "
        def f(x):
            return g(x) + 1
        def g(x):
            return [][x]
        f(3)
        ",
        expect![[r#"
            TP0201 IndexError: list index out of range
              at /main.py:4: return [][x]
              in <module>, /main.py:5: f(3)
              in f, /main.py:2: return g(x) + 1
        "#]],
    );
}

#[test]
fn endless_recursion() {
    check_error(
        "
        def f(x):
            return f(x + 1)
        try:
            f(0)
        except RuntimeError as e:
            print e
        l = []
        for i in range(5000):
            l = [l]
        for op in (repr, lambda x: x == [x]):
            try:
                op(l)
            except RuntimeError as e:
                print e
        f(0)
        ",
        expect![[r#"
            TP0201 RuntimeError: maximum recursion depth exceeded
              at /main.py:2: return f(x + 1)
              in <module>, /main.py:15: f(0)
              in f, /main.py:2: return f(x + 1)
              in f, /main.py:2: return f(x + 1)
              in f, /main.py:2: return f(x + 1)
              in f, /main.py:2: return f(x + 1)
              990 more frames, nowhere
              in f, /main.py:2: return f(x + 1)
              in f, /main.py:2: return f(x + 1)
              in f, /main.py:2: return f(x + 1)
              in f, /main.py:2: return f(x + 1)
        "#]],
    );
}

#[test]
fn endless_loop() {
    check_error(
        "
        def f():
            while True:
                pass
        f()
        ",
        expect![[r#"
            TP0202 import time does not end: the step limit was reached
              at /main.py:3: pass
              in <module>, /main.py:4: f()
        "#]],
    );
}

#[test]
fn endless_iterators() {
    check_error(
        "
        sum(xrange(1 << 40))
        ",
        expect![[r#"
            TP0202 import time does not end: the step limit was reached
              at /main.py:1: sum(xrange(1 << 40))
        "#]],
    );
}

#[test]
fn what_grows_without_end() {
    check_error(
        "
        def grow(text):
            while True: text += text
        def collect(pieces):
            while True: pieces += pieces
        def number(n):
            while True: n <<= 1 << 20
        for f, start in [(grow, 'a'), (collect, [1]), (number, 3)]:
            try:
                f(start)
                print f
            except MemoryError:
                start = None
        raise ValueError('all of them end')
        ",
        expect![[r#"
            TP0201 ValueError: all of them end
              at /main.py:13: raise ValueError('all of them end')
        "#]],
    );
}

#[test]
fn missing_import() {
    check_error(
        "
        #- /main.py
        import helper
        #- /helper.py
        from nowhere import thing
        ",
        expect![[r#"
            TP0201 ImportError: No module named nowhere
              at /helper.py:1: from nowhere import thing
              in <module>, /main.py:1: import helper
        "#]],
    );
}

#[test]
fn parts_of_the_toolchain_that_are_not_here() {
    let db = TestDb::with_fixture(
        "
        from rpython.rtyper.test.nowhere import Base, helper, other as alias
        import rpython.translator.nowhere.deep as deep
        class Below(Base):
            def method(self): return self.nothing
        made = helper(1, x=deep.thing) + 1
        from rpython.translator.nowhere import *
        starred = SomeName
        @deep.mark.slow
        def f(): return 1
        try:
            from rpython.translator.nowhere import thing
        except ImportError:
            thing = 5
        try:
            if made: pass
        except ImportError, e:
            asked = str(e)
        try:
            same = alias == Base
        except ImportError, e:
            same = None
        def entry_point(argv): return 0
        ",
    );
    let program = Program::new(&db, "/main.py".into(), vec![], 1_000_000);
    assert!(image_diagnostics(&db, program).is_empty());
    let names = ["Below", "made", "f", "starred"].map(|name| {
        let found = data(&db, program, &global(&db, program, name));
        match found {
            ObjData::Builtin { name, .. } => name.to_string(),
            other => format!("{other:?}"),
        }
    });
    expect![[r#"
        [
            "rpython.rtyper.test.nowhere.Base",
            "rpython.rtyper.test.nowhere.helper()",
            "rpython.translator.nowhere.deep.mark.slow()",
            "rpython.translator.nowhere.SomeName",
        ]
    "#]]
    .assert_debug_eq(&names);
    assert_eq!(global(&db, program, "thing"), Const::Int(5));
    assert_eq!(global(&db, program, "same"), Const::None);
    expect!["'rpython.rtyper.test.nowhere.helper() is a part of the original toolchain that is not here'"]
        .assert_eq(&global(&db, program, "asked").to_string());
}

#[test]
fn what_registers_something_with_an_absent_part() {
    let check = |text: &str| {
        let db = TestDb::with_fixture(text);
        let program = Program::new(&db, "/main.py".into(), vec![], 1_000_000);
        image_diagnostics(&db, program)[0].message.clone()
    };
    let unknown = " is a part of the original toolchain that is not here";
    let decorator = check(
        "
        from rpython.annotator.bookkeeper import for_nobody
        @for_nobody(len)
        def f(x): return x
        ",
    );
    let name = "rpython.annotator.bookkeeper.for_nobody";
    assert_eq!(decorator, format!("ImportError: {name}{unknown}"));
    let entry = check(
        "
        from rpython.rtyper.nowhere import Entry
        class MyEntry(Entry):
            _about_ = len
        ",
    );
    assert_eq!(
        entry,
        format!("ImportError: rpython.rtyper.nowhere.Entry{unknown}")
    );
    let extended = check(
        "
        from rpython.annotator.model import SomeNothing
        class __extend__(SomeNothing):
            def method_x(self): return 1
        ",
    );
    let name = "rpython.annotator.model.SomeNothing";
    assert_eq!(extended, format!("ImportError: {name}{unknown}"));
}

#[test]
fn import_cycle() {
    check_error(
        "
        #- /main.py
        import one
        #- /one.py
        from two import b
        a = 1
        #- /two.py
        from one import a
        b = 2
        ",
        expect![[r#"
            TP0201 ImportError: cannot import name a
              at /two.py:1: from one import a
              in <module>, /main.py:1: import one
              in <module>, /one.py:1: from two import b
        "#]],
    );
}

#[test]
fn a_module_that_fails_and_imports_itself_later() {
    let db = TestDb::with_fixture(
        "
        #- /main.py
        def f():
            import helper
        #- /helper.py
        import sys
        sys.modules['another name'] = sys.modules['helper']
        def g():
            import helper
        raise ValueError('not today')
        ",
    );
    let program = Program::new(&db, "/main.py".into(), vec![], 1_000_000);
    // It ends.
    assert!(image_diagnostics(&db, program).is_empty());
}

#[test]
fn missing_target() {
    let db = TestDb::default();
    let program = db.program();
    let all: String = image_diagnostics(&db, program)
        .iter()
        .map(|d| describe(&db, d))
        .collect();
    expect![[r#"
        TP0204 there is no file /main.py
          at nowhere
    "#]]
    .assert_eq(&all);
}

/// A target in a folder of its own finds what is beside that folder, within its project.
#[test]
fn modules_around_the_target() {
    let fixture = "
        #- /project/targets/one/main.py
        import vm.loop, other
        x = vm.loop.name + other.name
        #- /project/vm/__init__.py
        #- /project/vm/loop.py
        name = 'loop '
        #- /project/targets/other.py
        name = 'other'
        ";
    let run = |more: &str| {
        let db = TestDb::with_fixture(&format!("{fixture}{more}"));
        let target = "/project/targets/one/main.py";
        let program = Program::new(&db, target.into(), vec![], 1_000_000);
        match image_diagnostics(&db, program).first() {
            Some(d) => d.message.to_string(),
            None => global(&db, program, "x").to_string(),
        }
    };
    let root = "#- /project/setup.py\n        ";
    assert_eq!(run(root), "'loop other'");
    assert_eq!(run(""), "ImportError: No module named vm.loop");
}

#[test]
fn packages_and_star_imports() {
    let db = TestDb::with_fixture(
        "
        #- /main.py
        from pkg import *
        from pkg.sub import leaf as l
        import pkg.sub.leaf
        import pkg.other as o
        x = (sorted(n for n in globals() if n[0] != '_'), l.value, o.where, pkg.sub.leaf is l)
        #- /pkg/__init__.py
        __all__ = ['shown', 'other']
        shown = 1
        hidden = 2
        #- /pkg/other.py
        import sibling
        where = sibling.me
        #- /pkg/sibling.py
        me = __name__
        #- /pkg/sub/__init__.py
        #- /pkg/sub/leaf.py
        from ..other import where
        from . import twig
        value = where + twig.t
        #- /pkg/sub/twig.py
        t = '!'
        ",
    );
    let program = db.program();
    assert_eq!(*image_diagnostics(&db, program), vec![].into());
    expect![[r#"(#id, 'pkg.sibling!', 'pkg.sibling', True)"#]].assert_eq(&{
        let text = global(&db, program, "x").to_string();
        let start = text.find('#').unwrap();
        format!("{}#id{}", &text[..start], &text[start + 17..])
    });
}

#[test]
fn target_gives_the_entry_point() {
    let db = TestDb::with_fixture(
        "
        def run(argv): return 0
        def target(driver, args):
            driver.exe_name = 'x-%(backend)s'
            driver.config.translation.suggest(gc='boehm')
            return run, None
        ",
    );
    let program = db.program();
    let entry = entry_point(&db, program).clone().unwrap();
    assert_eq!(Const::Obj(entry), global(&db, program, "run"));
    assert_eq!(executable_name(&db, program).as_deref(), Some("x-c"));
}

#[test]
fn target_is_given_its_options() {
    let db = TestDb::with_fixture(
        "
        from rpython.config.config import BoolOption, OptionDescription, to_optparse

        def run(argv): return 0

        def get_additional_config_options():
            return OptionDescription('own', 'options', [
                BoolOption('full', 'all of it', default=False, cmdline='--full'),
                BoolOption('small', 'little of it', default=True, cmdline='--small')])

        def target(driver, args):
            parser = to_optparse(driver.config, useoptions=['own.*'])
            print args, parser.parse_args(args)[1]
            print driver.config.own.full, driver.config.own.small
            return run, None
        ",
    );
    let options = ["--full", "--no-small", "more"];
    let options = LoadOptions {
        target_options: options.map(str::to_owned).into(),
        ..LoadOptions::limited(vec![], 1_000_000)
    };
    let program = Program::with_options(&db, "/main.py".into(), options);
    expect![[r#"
        ['--full', '--no-small', 'more'] ['more']
        True False
    "#]]
    .assert_eq(&image(&db, program).printed);
}

/// Targets and functions can read the optimisation level, the collector, and whether a JIT is generated.
#[test]
fn target_knows_the_translation() {
    let printed = |translation: Translation, collector| {
        let db = TestDb::with_fixture(
            "
            from rpython.rlib import objectmodel

            def run(argv): return 0

            def handle_config(config, translateconfig):
                print translateconfig.opt, translateconfig._cfgimpl_value_owners['opt'],

            def target(driver, args):
                t = driver.config.translation
                print t.jit, t.gc, t.gctransformer, t.withsmallfuncsets, t.backendopt.none,
                print t.backendopt.remove_asserts, t.list_comprehension_operations,
                t = objectmodel._translated_config.translation
                print t.jit, t.gc
                return run, None
            ",
        );
        let options = LoadOptions {
            translation,
            collector,
            ..LoadOptions::limited(vec![], 1_000_000)
        };
        let program = Program::with_options(&db, "/main.py".into(), options);
        image(&db, program).printed.clone()
    };
    let at = |level, jit| printed(Translation { level, jit }, Collector::Generational);
    let mut out = at(None, false) + &at(None, true);
    for level in 0..=3 {
        out += &at(Some(level), level == 2);
    }
    for collector in [Collector::Boehm, Collector::Ref, Collector::None] {
        out += &printed(Translation::default(), collector);
    }
    expect![[r#"
        2 cmdline False incminimark framework 5 None False True False incminimark
        jit cmdline True incminimark framework 5 None False True True incminimark
        0 cmdline False incminimark framework 0 True False True False incminimark
        1 cmdline False incminimark framework 0 None False True False incminimark
        2 cmdline True incminimark framework 5 None False True True incminimark
        3 cmdline False incminimark framework 5 None True True False incminimark
        2 cmdline False boehm boehm 5 None False True False boehm
        2 cmdline False ref ref 5 None False True False ref
        2 cmdline False none none 5 None False True False none
    "#]]
    .assert_eq(&out);
}

/// Programs that look at the arguments of functions see those of decorated ones.
#[test]
fn look_inside_iff_keeps_the_names_of_arguments() {
    let db = TestDb::with_fixture(
        "
        from rpython.rlib import jit
        class A(object):
            @jit.look_inside_iff(lambda self, n, m: n)
            def f(self, n, m):
                return n + m
        code = A.f.im_func.func_code
        print A.f.__name__, code.co_varnames[:code.co_argcount], A().f(3, 4)
        ",
    );
    expect![[r#"
        f ('self', 'n', 'm') 7
    "#]]
    .assert_eq(&image(&db, db.program()).printed);
}

/// What programs do at run time they may also do while they load.
#[test]
fn one_thread_holds_the_lock() {
    let db = TestDb::with_fixture(
        "
        from rpython.rlib import rgil, rtimer, rmmap
        rgil.release()
        rgil.acquire()
        rgil.yield_thread()
        print rgil.am_I_holding_the_GIL(), rtimer._is_64_bit, rmmap._POSIX
        ",
    );
    expect![[r#"
        True True True
    "#]]
    .assert_eq(&image(&db, db.program()).printed);
}

/// A policy of the program's own is looked at beside parts of the toolchain that are absent.
#[test]
fn a_policy_beside_absent_parts() {
    let db = TestDb::with_fixture(
        "
        from rpython.translator.simplify import get_funcobj
        class Policy(object):
            def specialize__lookup(self, funcdesc, args_s): pass
        def found(n): return n
        found._annspecialcase_ = 'specialize:lookup'
        def run(argv): return 0
        def target(driver, args): return run, None, Policy()
        ",
    );
    let program = db.program();
    let entry = entry_point(&db, program).clone().unwrap();
    assert_eq!(Const::Obj(entry), global(&db, program, "run"));
}

/// Every function of the language's tables is found under its name, and is that entry.
#[test]
fn functions_of_the_language() {
    let mut all: Vec<(String, Builtin)> = Vec::new();
    for f in KnownFunction::ALL {
        // What is no attribute of a module: methods, and a class that has another name there.
        let is_global = !matches!(f.module(), "object" | "BaseException" | "_weakref");
        if is_global {
            all.push((format!("{}.{}", f.module(), f.name()), Builtin::Known(*f)));
        }
    }
    let shipped = ShippedFunction::all().iter();
    all.extend(shipped.map(|f| (f.name.to_owned(), Builtin::Shipped(f))));
    let helpers = HelperFunction::all().iter();
    all.extend(helpers.map(|f| (f.name.to_owned(), Builtin::Helper(f))));
    for f in FlowFunction::ALL {
        all.push((format!("__builtin__.{}", f.name()), Builtin::Flow(*f)));
    }
    for name in HlOp::PYTHON_FUNCTIONS {
        let op = HlOp::of_function("__builtin__", name).expect("an operation");
        all.push((format!("__builtin__.{name}"), Builtin::Operation(op)));
    }

    let mut text = String::new();
    for (i, (name, _)) in all.iter().enumerate() {
        let (module, function) = name.rsplit_once('.').expect("a qualified name");
        let get = format!("getattr(module, {function:?})");
        text += &format!("import {module}\nmodule = {module}\nf{i} = {get}\n");
    }
    let db = TestDb::with_fixture(&format!("#- /main.py\n{text}"));
    let program = Program::new(&db, "/main.py".into(), vec![], 10_000_000);
    let problems: Vec<_> = image_diagnostics(&db, program)
        .iter()
        .map(|d| describe(&db, d))
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
    let wrong: Vec<String> = (all.iter().enumerate())
        .filter_map(|(i, (name, expected))| {
            let c = global(&db, program, &format!("f{i}"));
            let found = Builtin::of(&data(&db, program, &c));
            (found.as_ref() != Some(expected)).then(|| format!("{name} is {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every name of `__builtin__` at import time stands in a table of the language.
#[test]
fn names_of_python() {
    let db = TestDb::with_fixture("#- /main.py\nimport __builtin__\nnames = dir(__builtin__)\n");
    let program = Program::new(&db, "/main.py".into(), vec![], 1_000_000);
    let ObjData::List(names) = data(&db, program, &global(&db, program, "names")) else {
        panic!("no list");
    };
    let names = names.iter().filter_map(Const::as_str);
    let unknown: Vec<&str> = names.filter(|n| !is_python_name(n)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// As the original's module of the same name does.
#[test]
fn numbers_in_texts_and_sizes_of_sums() {
    let db = TestDb::with_fixture(
        "
        from rpython.rlib import rsha, rmd5
        from rpython.rlib.rstring import NumberStringParser, ParseStringError
        def digits(text, base):
            try:
                parser = NumberStringParser(text, text, base, 'int', allow_underscores=True)
                return list(iter(parser.next_digit, -1))
            except ParseStringError as e:
                return e.msg
        for text in ['0x_f', '0x__f', '0b__1', '0o__7', '1_0', '1__0', '_1', '1_']:
            print text, digits(text, 0)
        print rsha.blocksize, rsha.digest_size, rmd5.digest_size, hasattr(rmd5, 'blocksize')
        ",
    );
    expect![[r#"
        0x_f [15]
        0x__f invalid literal for int() with base 0
        0b__1 invalid literal for int() with base 0
        0o__7 invalid literal for int() with base 0
        1_0 [1, 0]
        1__0 invalid literal for int() with base 0
        _1 invalid literal for int() with base 0
        1_ invalid literal for int() with base 0
        1 20 16 False
    "#]]
    .assert_eq(&image(&db, db.program()).printed);
}
