//! What functions return, for given arguments.

use expect_test::{Expect, expect};
use taipan_graph::Const;
use taipan_interp::{Name, module_global, target_module};
use taipan_testkit::TestDb;

use crate::{
    RootSet, Roots, annotation, annotation_diagnostics, annotation_text, parse_inputs, specs_of,
};

/// Annotates `f` of `/main.py`, called with these inputs, and shows its result, or
/// what is wrong.
pub(super) fn result_of(db: &TestDb, inputs: &str) -> String {
    let program = db.program();
    let problems = taipan_interp::image_diagnostics(db, program);
    if let Some(d) = problems.first() {
        return format!("import: {}", d.message);
    }
    let Some(module) = *target_module(db, program) else {
        return "no module".into();
    };
    let name = Name::new(db, program, module, "f");
    let Some(Const::Obj(func)) = module_global(db, name) else {
        return "no f".into();
    };
    let args = match parse_inputs(inputs) {
        Ok(a) => a.into(),
        Err(e) => return e,
    };
    let roots = Roots::new(db, program, RootSet::Call { func: *func, args }, false);
    let mut out = String::new();
    for d in annotation_diagnostics(db, roots).iter() {
        let place = match d.primary {
            Some(s) => {
                let text = s.file.text(db);
                let line = taipan_base::LineIndex::new(text)
                    .line_column(text, s.range.start)
                    .0;
                format!("{line}: ")
            }
            None => String::new(),
        };
        out.push_str(&format!("{place}{} {}\n", d.code, d.message));
        for n in &d.notes {
            out.push_str(&format!("    {}\n", n.message));
        }
    }
    if !out.is_empty() {
        return out;
    }
    for spec in specs_of(db, roots).iter() {
        if spec.func(db) == *func {
            let a = annotation(db, *spec);
            return annotation_text(db, roots, &a.signature.result);
        }
    }
    "not reached".into()
}

#[track_caller]
fn check(source: &str, inputs: &str, expected: Expect) {
    let db = TestDb::with_fixture(source);
    expected.assert_eq(&result_of(&db, inputs));
}

/// Several one-line functions of the same arguments.
#[track_caller]
fn check_all(inputs: &str, lines: &[&str], expected: Expect) {
    let mut out = String::new();
    for line in lines {
        let source = format!("from rpython.rlib.rarithmetic import r_uint, intmask\n{line}\n");
        let db = TestDb::with_fixture(&source);
        out.push_str(&format!(
            "{line} -> {}\n",
            result_of(&db, inputs).trim_end()
        ));
    }
    expected.assert_eq(&out);
}

#[test]
fn integers() {
    check_all(
        "SomeInteger(nonneg), SomeInteger",
        &[
            "def f(x, y): return x + 1",
            "def f(x, y): return x - 1",
            "def f(x, y): return x & y",
            "def f(x, y): return x | y",
            "def f(x, y): return x / y",
            "def f(x, y): return x >> y",
            "def f(x, y): return -x",
            "def f(x, y): return abs(y)",
            "def f(x, y): return x == y",
            "def f(x, y): return x < 0",
            "def f(x, y): return r_uint(y) + 1",
            "def f(x, y): return r_uint(y) + y",
            "def f(x, y): return intmask(r_uint(y))",
            "def f(x, y): return float(y) / x",
            "def f(x, y): return x < y or x",
            "def f(x, y): return max(x, y)",
            "def f(x, y): return min(x, y)",
            "def f(x, y): return divmod(x, y)",
        ],
        expect![[r#"
            def f(x, y): return x + 1 -> SomeInteger(nonneg)
            def f(x, y): return x - 1 -> SomeInteger
            def f(x, y): return x & y -> SomeInteger(nonneg)
            def f(x, y): return x | y -> SomeInteger
            def f(x, y): return x / y -> SomeInteger
            def f(x, y): return x >> y -> SomeInteger(nonneg)
            def f(x, y): return -x -> SomeInteger
            def f(x, y): return abs(y) -> SomeInteger(nonneg)
            def f(x, y): return x == y -> SomeBool
            def f(x, y): return x < 0 -> SomeBool(const=False)
            def f(x, y): return r_uint(y) + 1 -> SomeInteger(nonneg, r_uint)
            def f(x, y): return r_uint(y) + y -> 2: TP0308 these integers may be of different signedness
            def f(x, y): return intmask(r_uint(y)) -> SomeInteger
            def f(x, y): return float(y) / x -> SomeFloat
            def f(x, y): return x < y or x -> SomeInteger(nonneg)
            def f(x, y): return max(x, y) -> SomeInteger(nonneg)
            def f(x, y): return min(x, y) -> SomeInteger
            def f(x, y): return divmod(x, y) -> SomeTuple[SomeInteger, SomeInteger]
        "#]],
    );
}

#[test]
fn strings_and_tuples() {
    check_all(
        "SomeString, SomeInteger",
        &[
            "def f(s, n): return s[n]",
            "def f(s, n): return s[1:]",
            "def f(s, n): return s[n:]",
            "def f(s, n): return s + 'x'",
            "def f(s, n): return 'x' * n",
            "def f(s, n): return '%d %s' % (n, 'a')",
            "def f(s, n): return '%d %s' % (n, s)",
            "def f(s, n): return s.find('x')",
            "def f(s, n): return s.split(' ')",
            "def f(s, n): return ','.join([s])",
            "def f(s, n): return ord(s[0])",
            "def f(s, n): return chr(n)",
            "def f(s, n): return s.upper(), len(s), str(n)",
            "def f(s, n): return (s, n)[1]",
            "def f(s, n): return (s, n) + (1.5,)",
            "def f(s, n): return s.frobnicate()",
            "def f(s, n): return u'x' + s",
            "def f(s, n): return s < u'x'",
        ],
        expect![[r#"
            def f(s, n): return s[n] -> SomeChar
            def f(s, n): return s[1:] -> SomeString
            def f(s, n): return s[n:] -> 2: TP0309 slicing: the start may be negative
            def f(s, n): return s + 'x' -> SomeString
            def f(s, n): return 'x' * n -> SomeString(no_nul)
            def f(s, n): return '%d %s' % (n, 'a') -> SomeString(no_nul)
            def f(s, n): return '%d %s' % (n, s) -> SomeString
            def f(s, n): return s.find('x') -> SomeInteger
            def f(s, n): return s.split(' ') -> SomeList[SomeString]
            def f(s, n): return ','.join([s]) -> SomeString
            def f(s, n): return ord(s[0]) -> SomeInteger(nonneg)
            def f(s, n): return chr(n) -> SomeChar
            def f(s, n): return s.upper(), len(s), str(n) -> SomeTuple[SomeString, SomeInteger(nonneg), SomeString]
            def f(s, n): return (s, n)[1] -> SomeInteger
            def f(s, n): return (s, n) + (1.5,) -> SomeTuple[SomeString, SomeInteger, SomeFloat(const=1.5)]
            def f(s, n): return s.frobnicate() -> 2: TP0301 a str has no attribute `frobnicate`
            def f(s, n): return u'x' + s -> 2: TP0319 `+` of a unicode and a str is not RPython
            def f(s, n): return s < u'x' -> 2: TP0319 comparing a byte string with a unicode string is not RPython
        "#]],
    );
}

#[test]
fn containers() {
    check_all(
        "SomeInteger",
        &[
            "def f(n): return []",
            "def f(n): return [n, 1]",
            "def f(n): return range(10)",
            "def f(n): return [1] + [n]",
            "def f(n): return [i for i in range(3)]",
            "def f(n): return {n: 'x'}.get(n)",
            "def f(n): return {1: 'x'}.items()",
            "def f(n): return {}",
            "def f(n): return n in [1, 2]",
            "def f(n): return [n, 'x']",
            "def f(n): return [n, None]",
            "def f(n): return ['x', None]",
            "def f(n): return [(1, 'a'), (n, 'bc')]",
            "def f(n): return [[]]",
            "def f(n): return [][0]",
        ],
        expect![[r#"
            def f(n): return [] -> SomeList[SomeImpossibleValue]
            def f(n): return [n, 1] -> SomeList[SomeInteger]
            def f(n): return range(10) -> SomeList[SomeInteger(nonneg)](range_step=1)
            def f(n): return [1] + [n] -> SomeList[SomeInteger]
            def f(n): return [i for i in range(3)] -> SomeList[SomeInteger(nonneg)]
            def f(n): return {n: 'x'}.get(n) -> SomeString(can_be_None, no_nul)
            def f(n): return {1: 'x'}.items() -> SomeList[SomeTuple[SomeInteger(nonneg, const=1), SomeChar(const='x')]]
            def f(n): return {} -> SomeDict[SomeImpossibleValue, SomeImpossibleValue]
            def f(n): return n in [1, 2] -> SomeBool
            def f(n): return [n, 'x'] -> 2: TP0300 a list mixes an int and a str
                an int comes from here
                a str comes from here
            def f(n): return [n, None] -> 2: TP0300 a list mixes an int and None
                an int comes from here
                None comes from here
            def f(n): return ['x', None] -> SomeList[SomeString(can_be_None, no_nul)]
            def f(n): return [(1, 'a'), (n, 'bc')] -> SomeList[SomeTuple[SomeInteger, SomeString(no_nul)]]
            def f(n): return [[]] -> SomeList[SomeList[SomeImpossibleValue]]
            def f(n): return [][0] -> 2: TP0311 this list is always empty: nothing puts an item into it
        "#]],
    );
}

#[test]
fn lists_meet() {
    check(
        "
        def g(lst, x):
            lst.append(x)

        def f(n):
            a = [1]
            b = []
            g(a, n)
            g(b, 5)
            c = [-1]
            if n > 5:
                return a
            return c
        ",
        "SomeInteger",
        expect!["SomeList[SomeInteger](resized, mutated)"],
    );
}

#[test]
fn attributes_move_to_the_base_class() {
    check(
        "
        class A(object):
            pass

        class B(A):
            x = 5

        class C(A):
            def __init__(self, x):
                self.x = x

        def get(a):
            return a.x

        def f(n):
            return get(B()) + get(C(n))
        ",
        "SomeInteger",
        expect!["SomeInteger"],
    );
}

#[test]
fn methods_and_narrowing() {
    check(
        "
        class A(object):
            def m(self): return None

        class B(A):
            def m(self): return self
            def only(self): return 7

        def make(n):
            if n > 5:
                return A()
            return B()

        def f(n):
            x = make(n).m()
            if x is None:
                return 1.5
            if isinstance(x, B):
                return x.only()
            return 'never'
        ",
        "SomeInteger",
        expect!["SomeFloat"],
    );
}

#[test]
fn specialisation() {
    check(
        "
        from rpython.rlib.objectmodel import specialize

        @specialize.argtype(0)
        def same(x): return x

        @specialize.arg(0)
        def pick(which, a, b):
            if which == 'a':
                return a
            return b

        @specialize.memo()
        def name(cls):
            return cls.__name__ + '!'

        class A(object): pass
        class B(object): pass

        def star(*args):
            return args[0]

        def f(n):
            if n > 5:
                cls = A
            else:
                cls = B
            return same(n), same('x'), pick('a', n, 's'), pick('b', n, 's'), name(cls), star(n, 1.5)
        ",
        "SomeInteger",
        expect![
            "SomeTuple[SomeInteger, SomeChar(const='x'), SomeInteger, SomeChar(const='s'), SomeString(no_nul), SomeInteger]"
        ],
    );
}

#[test]
fn exceptions() {
    check(
        "
        class Mine(Exception):
            def __init__(self, value):
                self.value = value

        def g(n):
            if n < 0:
                raise Mine(n)
            return [n][n]

        def f(n):
            try:
                return g(n)
            except Mine as e:
                return e.value
            except IndexError:
                return 1.5
        ",
        "SomeInteger",
        expect!["SomeFloat"],
    );
}

#[test]
fn what_is_wrong() {
    check(
        "
        class A(object): pass
        def g(a, b=1): return a
        def f(n):
            a = A()
            a.x = n
            a.x = None
            g()
            g(n, c=2)
            n()
            A(5)
            return a.x
        ",
        "SomeInteger",
        expect![[r#"
            6: TP0300 attribute x of A mixes an int and None
                an int comes from here
                None comes from here
            7: TP0304 g() takes at least 1 argument (0 given)
                g() is defined here
            8: TP0304 g() has no argument `c`
                g() is defined here
            9: TP0302 cannot call an int
            10: TP0304 class main.A has no __init__ and takes no arguments
        "#]],
    );
}

/// One program per thing that RPython forbids.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of programs")]
fn forbidden() {
    for (source, expected) in [
        (
            "
            def f(s):
                return s[1:5:2]
            ",
            expect![[r#"
                2: TP0321 a slice with a step is not RPython
            "#]],
        ),
        (
            "
            class A(object):
                @property
                def x(self): return 1
            class B(A):
                def set_x(self, v): self.y = v
                x = property(fset=set_x)
            def f(s):
                b = B()
                b.x = 20
            ",
            expect![[r#"
                9: TP0300 attribute x of B mixes a property and an int
                    a property comes from a class or a prebuilt instance
                    an int comes from here, in f()
            "#]],
        ),
        (
            "
            class A(object):
                @property
                def x(self): return 1
            class B(A):
                def set_x(self, v): self.y = v
                x = property(fset=set_x)
            def f(s):
                return B().x
            ",
            expect![[r#"
                8: TP0307 property x cannot be read
            "#]],
        ),
        (
            "
            class E(ValueError):
                def __init__(self, n): self.n = n
            def f(s):
                try:
                    raise E(3)
                except E as e:
                    n = e.n
                except ValueError as e:
                    e.n = 4
            ",
            expect![[r#"
                9: TP0307 instances of exceptions.ValueError have no attribute `n`
            "#]],
        ),
        (
            "
            class A(object):
                def _freeze_(self): return True
                def foo(self): return 1
            class B(A):
                def foo(self): return 2
            a, b = A(), B()
            def f(s):
                x = a if s else b
                return x.foo()
            ",
            expect![[r#"
                9: TP0302 method foo is another function in one frozen instance than in another
            "#]],
        ),
        (
            "
            def f(s):
                return ord(s)
            ",
            expect![[r#"
                2: TP0303 `ord()` of a str is not RPython
            "#]],
        ),
        (
            "
            class A(object):
                def __call__(self): return 1
            a = A()
            def f(s):
                return a
            ",
            expect![[r#"
                4: TP0314 a prebuilt instance with a __call__ method is not RPython
            "#]],
        ),
        (
            "
            def f(s):
                return {i: 1 for i in range(3)}
            ",
            expect![[r#"
                2: TP0220 a dict comprehension is not RPython
            "#]],
        ),
        (
            "
            def f(s):
                x = int(1e30)
            ",
            expect![[r#"
                2: TP0314 long constant 1000000000000000019884624838656 does not fit an int
            "#]],
        ),
        (
            "
            def f(s):
                return int('123456789012345678901')
            ",
            expect![[r#"
                2: TP0314 long constant 123456789012345678901 does not fit an int
            "#]],
        ),
        (
            "
            def f(s):
                return int(len(s), 10)
            ",
            expect![[r#"
                2: TP0318 int() with a base takes a byte string and an integer
            "#]],
        ),
        (
            "
            class A(object):
                pass
            def f(s):
                x = next(A())
            ",
            expect![[r#"
                4: TP0301 an instance of main.A has no attribute `next`
            "#]],
        ),
        (
            "
            def f(s):
                return Ellipsis
            ",
            expect![[r#"
                1: TP0314 Ellipsis is no RPython value
            "#]],
        ),
        (
            "
            class A(object):
                _must_be_light_finalizer_ = True
            class B(A):
                def __del__(self): pass
            def f(s):
                B()
            ",
            expect![[r#"
                6: TP0312 the finalizer of class B must be light, as that of a base class is (`rgc.must_be_light_finalizer`)
            "#]],
        ),
        (
            "
            class A(object):
                _immutable_fields_ = ['items[*]']
            def f(s):
                a = A()
                items = []
                items.append(s)
                a.items = items
            ",
            expect![[r#"
                6: TP0313 this list is resized, but it was declared never to be (`make_sure_not_resized`)
            "#]],
        ),
        (
            "
            class Root(object): pass
            class A(Root):
                _immutable_fields_ = ['items[*]']
                def __init__(self, s): self.items = [s]
            def g(x): return len(x.items)
            def f(s):
                return g(A(s)) + g(Root())
            ",
            expect![[r#"
                5: TP0307 attribute items belongs to class main.Root because it is used on one, but its subclass main.A lists it in _immutable_fields_
            "#]],
        ),
    ] {
        check(source, "SomeString", expected);
    }
}

#[test]
fn functions_of_a_family_take_the_same_arguments() {
    let db = TestDb::with_fixture(
        "
        class A(object):
            def m(self, x, y=1): return x + y
        class B(A):
            def m(self, x, z=2, w=3): return x - z - w
        def f(n):
            if n > 5:
                o = A()
            else:
                o = B()
            return o.m(n)
        ",
    );
    expect!["SomeInteger"].assert_eq(&result_of(&db, "SomeInteger"));
}

#[test]
fn an_edit_inside_a_function_stays_inside() {
    let source = "
def g(x):
    return x + 1

def h(x):
    return g(x)

def f(n):
    return h(n)
";
    let mut db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
    let program = db.program();
    // Signatures of all functions, and what ran for them.
    let signatures = |db: &TestDb, program: taipan_base::Program| {
        let module = target_module(db, program).expect("a module");
        let name = Name::new(db, program, module, "f");
        let Some(Const::Obj(func)) = module_global(db, name) else {
            panic!("no f");
        };
        let args = parse_inputs("SomeInteger").expect("an input").into();
        let roots = Roots::new(db, program, RootSet::Call { func: *func, args }, false);
        let all: Vec<_> = specs_of(db, roots)
            .iter()
            .map(|s| crate::signature(db, *s))
            .collect();
        (all, db.take_log())
    };
    let (first, _) = signatures(&db, program);
    // The same interface.
    db.edit("/main.py", &source.replace("x + 1", "x * 3"));
    let (second, log) = signatures(&db, program);
    assert_eq!(log.get("solve"), Some(&1));
    assert_eq!(log.get("flow_graph"), Some(&1), "{log:?}");
    assert_eq!(first, second);
    // Another result: everybody up to the root.
    db.edit("/main.py", &source.replace("x + 1", "x * 1.5"));
    let (third, _) = signatures(&db, program);
    assert!(third.iter().zip(&first).all(|(a, b)| a.result != b.result));
    // Nothing that matters.
    db.edit(
        "/main.py",
        &format!("# a comment\n{}", source.replace("x + 1", "x * 1.5")),
    );
    let (_, log) = signatures(&db, program);
    assert_eq!(log.get("solve"), None, "{log:?}");
}

#[test]
fn growing_without_end() {
    check(
        "
        def f(n):
            x = (n,)
            while n > 0:
                x = (x,)
                n -= 1
            return x
        ",
        "SomeInteger",
        expect![[r#"
            4: TP0324 a value nested in a value of its own kind without end
        "#]],
    );
    // Twice: before it is as deep, it is too large.
    check(
        "
        def f(n):
            x = (n, n)
            while n > 0:
                x = (x, x)
                n -= 1
            return x
        ",
        "SomeInteger",
        expect![[r#"
            4: TP0324 a value nested in a value of its own kind without end
        "#]],
    );
}

#[test]
fn prebuilt_r_dicts() {
    check(
        "
        from rpython.rlib.objectmodel import r_dict

        def eq(a, b):
            return a[0] == b[0]

        def hash_(s):
            return ord(s[0])

        d = r_dict(eq, hash_)
        d['abc'] = 5

        def f(s):
            d[s] = -1
            return d[s]
        ",
        "SomeString",
        expect!["SomeInteger"],
    );
}

/// A declaration may be a function of all arguments' annotations.
#[test]
fn arguments_declared_by_functions() {
    let source = "
from rpython.annotator.signature import Sig
def g(x, y):
    return y
g._annenforceargs_ = Sig(lambda s1, s2: s1, lambda s1, s2: s1)
def f(x, y):
    return g(x, y)
";
    check(source, "int, SomeInteger(nonneg)", expect!["SomeInteger"]);
    check(
        source,
        "SomeInteger(nonneg), int",
        expect![[r#"
        6: TP0306 argument 2 of g() is declared as an int, but got an int
    "#]],
    );
}

/// What C takes for a string holds no zero byte.
#[test]
fn texts_of_the_system() {
    check_all(
        "SomeByteArray, str, SomeString(no_nul)",
        &[
            "from os import getcwd, getenv; f = lambda b, s, s0: (getcwd(), getenv('X'), b)",
            "from os import getenv; f = lambda b, s, s0: (getenv('X', s0), getenv('X', s))",
        ],
        expect![[r#"
            from os import getcwd, getenv; f = lambda b, s, s0: (getcwd(), getenv('X'), b) -> SomeTuple[SomeString(no_nul), SomeString(can_be_None, no_nul), SomeByteArray]
            from os import getenv; f = lambda b, s, s0: (getenv('X', s0), getenv('X', s)) -> SomeTuple[SomeString(can_be_None, no_nul), SomeString(can_be_None)]
        "#]],
    );
}

#[test]
fn special_methods_that_are_not_there() {
    check_all(
        "int",
        &[
            "class A(object): pass\ndef f(n): return n in A()",
            "class A(object): pass\ndef f(n): return len(A())",
            "class A(object): pass\ndef f(n): A()[n] = 1",
            "class A(object): pass\ndef f(n): return A()[n:]",
            "class A(object):\n  def __len__(self): raise ValueError\ndef f(n): return len(A())",
        ],
        expect![[r#"
            class A(object): pass
            def f(n): return n in A() -> 3: TP0301 an instance of main.A has no attribute `__contains__`
            class A(object): pass
            def f(n): return len(A()) -> 3: TP0301 an instance of main.A has no attribute `__len__`
            class A(object): pass
            def f(n): A()[n] = 1 -> 3: TP0301 an instance of main.A has no attribute `__setitem__`
            class A(object): pass
            def f(n): return A()[n:] -> 3: TP0301 an instance of main.A has no attribute `__getslice__`
            class A(object):
              def __len__(self): raise ValueError
            def f(n): return len(A()) -> SomeImpossibleValue
        "#]],
    );
}

/// Lists that are given room or whose items are replaced keep what else is known of them.
#[test]
fn lists_that_change_in_one_way() {
    let source = "
from rpython.rlib.objectmodel import newlist_hint
def room(n):
    return newlist_hint(n)
def numbers(n):
    l = range(n)
    l[0] = 5
    return l
def f(n):
    return room(n), numbers(n)
";
    check(
        source,
        "int",
        expect![[
            "SomeTuple[SomeList[SomeImpossibleValue](resized), SomeList[SomeInteger(nonneg)](mutated, range_step=1)]"
        ]],
    );
}

#[test]
fn floats_are_not_divided_to_integers() {
    check(
        "def f(x): return x // 1.5",
        "float",
        expect![[r#"
            1: TP0303 `//` of a float and a float is not RPython
        "#]],
    );
    check(
        "def f(x): return x % 1.5",
        "float",
        expect![[r#"
            1: TP0303 `%` of a float and a float is not RPython
        "#]],
    );
}

/// As far as low-level types follow from annotations; a list has one too, but the RTyper chooses it.
#[test]
fn operands_of_low_level_operations() {
    let check = |call: &str, expected: Expect| {
        let import = "from rpython.rtyper.lltypesystem import lltype, llmemory
from rpython.rtyper.lltypesystem.lloperation import llop";
        check(
            &format!("{import}\ndef f(n):\n    return {call}"),
            "int",
            expected,
        );
    };
    check("llop.int_add(lltype.Signed, n, 1)", expect!["SomeInteger"]);
    check(
        "llop.int_add(lltype.Signed, n, [n])",
        expect!["SomeInteger"],
    );
    check(
        "llop.int_add(lltype.Signed, n, 0.5)",
        expect![[r#"
            4: TP0401 `llop.int_add()`: Float where Signed is needed
        "#]],
    );
    check(
        "llop.int_add(lltype.Signed, n)",
        expect![[r#"
            4: TP0401 `llop.int_add()`: 2 operands are needed
        "#]],
    );
    check(
        "llop.int_between(lltype.Signed, n, n, n)",
        expect![[r#"
            4: TP0401 `llop.int_between()`: the result is no Bool
        "#]],
    );
    check(
        "llop.raw_malloc(llmemory.Address)",
        expect![[r#"
            4: TP0401 `llop.raw_malloc()`: 1 or 2 operands are needed
        "#]],
    );
    check(
        "llop.raw_memclear(lltype.Void, n, n)",
        expect![[r#"
            4: TP0401 `llop.raw_memclear()`: `address` is no Address
        "#]],
    );
}

/// A wrong number of arguments of a function of Python is one mistake, whatever the function.
#[test]
fn numbers_of_arguments() {
    for (call, expected) in [
        (
            "range()",
            expect![[r#"
                1: TP0302 range() with no argument is not RPython
            "#]],
        ),
        (
            "range(n, n, n, n)",
            expect![[r#"
                1: TP0302 range() with 4 arguments is not RPython
            "#]],
        ),
        (
            "chr(n, n)",
            expect![[r#"
                1: TP0302 chr() with 2 arguments is not RPython
            "#]],
        ),
        (
            "slice(n, n, n, n)",
            expect![[r#"
                1: TP0302 slice() with 4 arguments is not RPython
            "#]],
        ),
        (
            "zip([n])",
            expect![[r#"
                1: TP0302 zip() with 1 argument is not RPython
            "#]],
        ),
        (
            "min(n)",
            expect![[r#"
                1: TP0302 min() with 1 argument is not RPython
            "#]],
        ),
        (
            "int(n, n, n)",
            expect![[r#"
                1: TP0302 int() with 3 arguments is not RPython
            "#]],
        ),
    ] {
        check(&format!("def f(n): return {call}"), "int", expected);
    }
}

/// Recursions that need another copy of a function each time.
#[test]
fn specialised_without_end() {
    check(
        "
        from rpython.rlib.objectmodel import specialize
        @specialize.memo()
        def following(n):
            return n + 1
        @specialize.arg(0)
        def count(n, left):
            if left == 0:
                return n
            return count(following(n), left - 1)
        def f(n):
            return count(0, n)
        ",
        "SomeInteger",
        expect![[r#"
            9: TP0331 count() is specialised without end
        "#]],
    );
    check(
        "
        def count(*args):
            return count(1, *args)
        def f(n):
            return count(n)
        ",
        "SomeInteger",
        expect![[r#"
            2: TP0331 count() is specialised without end
        "#]],
    );
}
