//! What is computed while compiling.

use expect_test::expect;

use taipan_graph::{Const, Operand};
use taipan_testkit::TestDb;

use super::{check, function};
use crate::flow_graph;

#[test]
fn arithmetic() {
    check(
        r#"
        N = 10
        def f():
            x = 3 + 4 * N
            return (x // 5, x % 5, x << 2, -x, x - 1 < N, 7.5 / 2)
        "#,
        expect![[r#"
            graph f
            block0():
                goto return((8, 3, 172, -43, False, 3.75))
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}

#[test]
fn long_results_do_not_fold() {
    check(
        r#"
        import sys
        def f():
            return sys.maxint + 1
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = add(9223372036854775807, 1) @3
                goto return(v0)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
}

#[test]
fn globals_and_modules() {
    check(
        r#"
        #- /main.py
        import other
        def f():
            if other.DEBUG:
                return other.g()
            return other.NAME
        #- /other.py
        DEBUG = False
        NAME = 'x' + 'y'
        def g():
            pass
        "#,
        expect![[r#"
            graph f
            block0():
                goto return('xy')
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}

#[test]
fn we_are_translated() {
    check(
        r#"
        from rpython.rlib.objectmodel import we_are_translated
        def f(x):
            if we_are_translated():
                return x
            return nothing_of_that_name
        "#,
        expect![[r#"
            graph f
            block0(x_0):
                goto return(x_0)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
}

#[test]
fn constant_containers() {
    check(
        r#"
        L = [10, 20, 30]
        D = {'a': 1}
        T = (1, (2, 3))
        def f(i):
            return L[1] + D['a'] + T[1][0] + len(L) + L[i]
        "#,
        expect![[r#"
            graph f
            block0(i_0):
                v1 = getitem(#list@ea50, i_0) @19
                v2 = add(26, v1) @20
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
    );
}

#[test]
fn strings() {
    check(
        r#"
        def f():
            name = 'item%d' % 5
            return (name[0], name[-1], name[1:3], len(name), 'it' in name, name + '!', name == 'item5')
        "#,
        expect![[r#"
            graph f
            block0():
                goto return(('i', '5', 'te', 5, True, 'item5!', True))
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}

#[test]
fn prebuilt_instances_are_read_at_run_time() {
    check(
        r#"
        class C(object):
            def __init__(self):
                self.x = 1
        c = C()
        def f():
            return c.x
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = getattr(#main.C@6dba, 'x') @1
                goto return(v0)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
}

#[test]
fn frozen_instances_fold() {
    check(
        r#"
        class C(object):
            def __init__(self):
                self.x = 1
            def _freeze_(self):
                return True
            def m(self):
                pass
        c = C()
        def f():
            c.m()
            return c.x
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = getattr(#main.C@6dba, 'm') @1
                v1 = simple_call(v0) @2
                goto return(1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
    );
}

#[test]
fn unrolling_iterable() {
    check(
        r#"
        from rpython.rlib.unroll import unrolling_iterable
        NAMES = unrolling_iterable([('a', 1), ('b', 2)])
        def f(o, x):
            for name, n in NAMES:
                if n == x:
                    return getattr(o, name)
                setattr(o, name + '_', n)
            return 0
        "#,
        expect![[r#"
            graph f
            block0(o_0, x_1):
                v2 = eq(1, x_1) @8
                v3 = bool(v2) @9
                switch v3
                    False: block1(o_0, x_1)
                    True: block4(o_0)
            block1(o_4, x_5):
                v6 = setattr(o_4, 'a_', 1) @21
                v7 = eq(2, x_5) @8
                v8 = bool(v7) @9
                switch v8
                    False: block2(o_4)
                    True: block3(o_4)
            block2(o_9):
                v10 = setattr(o_9, 'b_', 2) @21
                goto return(0)
            block3(o_11):
                v12 = getattr(o_11, 'b') @13
                goto return(v12)
            block4(o_13):
                v14 = getattr(o_13, 'a') @13
                goto return(v14)
            return(v15)
            except(etype_16, evalue_17)
        "#]],
    );
}

#[test]
fn unrolling_with_break_and_else() {
    check(
        r#"
        from rpython.rlib.unroll import unrolling_iterable
        NUMBERS = unrolling_iterable(range(3))
        def f(x):
            for i in NUMBERS:
                if x == i:
                    break
            else:
                i = 17
            return i
        "#,
        expect![[r#"
            graph f
            block0(x_0):
                v1 = eq(x_0, 0) @6
                v2 = bool(v1) @7
                switch v2
                    False: block1(x_0)
                    True: return(0)
            block1(x_3):
                v4 = eq(x_3, 1) @6
                v5 = bool(v4) @7
                switch v5
                    False: block2(x_3)
                    True: return(1)
            block2(x_6):
                v7 = eq(x_6, 2) @6
                v8 = bool(v7) @7
                switch v8
                    False: return(17)
                    True: return(2)
            return(v9)
            except(etype_10, evalue_11)
        "#]],
    );
}

#[test]
fn class_tests() {
    check(
        r#"
        class A(object):
            pass
        class B(A):
            pass
        def f():
            return (issubclass(B, A), isinstance(3, int), type(3) is int, B is A, isinstance(None, A))
        "#,
        expect![[r#"
            graph f
            block0():
                goto return((True, True, True, False, False))
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}

#[test]
fn rewritten_directly() {
    check(
        r#"
        def g():
            pass
        def h():
            pass
        h._flowspace_rewrite_directly_as_ = g
        def f():
            return h()
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = simple_call(#main.g) @1
                goto return(v0)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
}

#[test]
fn r_uint_of_a_constant() {
    check(
        r#"
        from rpython.rlib.rarithmetic import r_uint
        def f():
            return r_uint(5)
        "#,
        expect![[r#"
            graph f
            block0():
                goto return(5u64)
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
    check(
        r#"
        from rpython.rlib.rarithmetic import r_uint
        def f():
            return r_uint(' -1'), r_uint(2.75)
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = newtuple(18446744073709551615u64, 2u64) @6
                goto return(v0)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
    check(
        r#"
        from rpython.rlib.rarithmetic import r_ulonglong
        def f():
            return r_ulonglong(0xffffffffffffffff)
        "#,
        expect![[r#"
            graph f
            block0():
                goto return(18446744073709551615u64)
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}

#[test]
fn a_loop_over_constants_runs() {
    check(
        r#"
        def f():
            s = 0
            for i in (1, 2, 3):
                s = s + i
            i = 0
            while i < 5:
                i = i + 1
            return i
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = iter((1, 2, 3)) @3
                goto block1(v0)
            block1(v1):
                i_2 = next(v1) @4
                canraise
                    ok: block1(v1)
                    #exceptions.StopIteration(last_exception_3, last_exc_value_4): return(5)
            return(v5)
            except(etype_6, evalue_7)
        "#]],
    );
}

/// What is computed with them has to be folded: there are none at run time, and only
/// tuples of a known length.
#[test]
fn complex_numbers_buffers_and_repeated_tuples() {
    check(
        r#"
        HALF = 0.5j
        def f():
            z = (3 + 4j) * HALF / 2
            text = buffer('some bytes', 5, 3)
            pair = ('a', 1)
            return (pair * 2, 0 * pair, str(z), repr(-z), abs(3 - 4j), z.real, z.imag, 'at %s' % 1j,
                    z == 1j, complex, type(z), bool(0j), str(text), len(text))
        "#,
        expect![[r#"
            graph f
            block0():
                goto return((('a', 1, 'a', 1), (), '(-1+0.75j)', '(1-0.75j)', 5.0, -1.0, 0.75, 'at 1j', False, #__builtin__.complex, #__builtin__.complex, False, 'byt', 3))
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}

/// Constants print as in Python, whatever happens to a list later.
#[test]
fn texts_of_constants() {
    check(
        r#"
        class A(object): pass
        NAMES = ['a', "it's", u'b', 1.5]
        def f():
            NAMES.append('c')
            return (str(NAMES), repr(('a', None)), '%r and %s' % ({1: 'x'}, (1,)),
                    str(A), str(int), str(ValueError), str(2 ** 70), str(0.1 + 0.2), repr(1e100))
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = getattr(#list@ce59, 'append') @1
                v1 = simple_call(v0, 'c') @3
                v2 = newdict() @14
                v3 = setitem(v2, 1, 'x') @14
                v4 = newtuple(v2, (1,)) @16
                v5 = mod('%r and %s', v4) @17
                v6 = newtuple('[\'a\', \"it\'s\", u\'b\', 1.5]', '(\'a\', None)', v5, '<class \'main.A\'>', '<type \'int\'>', '<type \'exceptions.ValueError\'>', '1180591620717411303424', '0.3', '1e+100') @38
                goto return(v6)
            return(v7)
            except(etype_8, evalue_9)
        "#]],
    );
}

/// What the original made of random expressions: see tests/oracle/constants.py, which wrote
/// the table. A row has the names that are bound, the expression whose `repr` is taken, and
/// whether that becomes a constant, always raises, or is recorded.
#[test]
fn table_of_folded_expressions() {
    let (header, rows) = include_str!("folded.txt")
        .split_once("\n\n")
        .expect("a module and rows");
    let rows: Vec<[&str; 3]> = rows
        .lines()
        .map(|row| {
            let parts: Vec<&str> = row.split('\t').collect();
            <[&str; 3]>::try_from(parts).expect("three parts")
        })
        .collect();
    assert!(rows.len() > 500);
    let wrong: String = rows
        .chunks(100)
        .map(|rows| disagreements(header, rows))
        .collect();
    assert_eq!(wrong, "");
}

/// The rows in which something else comes out.
fn disagreements(header: &str, rows: &[[&str; 3]]) -> String {
    let mut source = format!("{header}\n");
    for (i, [bound, expression, _]) in rows.iter().enumerate() {
        source += &format!("def f{i}():\n");
        for binding in bound.split("; ").filter(|b| !b.is_empty()) {
            source += &format!("    {binding}\n");
        }
        source += &format!("    return repr({expression})\n");
    }
    let db = TestDb::with_fixture(&source);
    let mut wrong = String::new();
    for (i, [bound, expression, outcome]) in rows.iter().enumerate() {
        let func = function(&db, db.program(), &format!("f{i}"));
        let got = match &flow_graph(&db, func).graph {
            Err(e) => match e.message.split_once(" always raises ") {
                Some((_, raised)) => {
                    format!("raises {}", raised.split(':').next().unwrap_or_default())
                }
                None => format!("error {}", e.message),
            },
            Ok(graph) => {
                let block = graph.block(graph.startblock);
                match &block.exits[0].args[0] {
                    Operand::Const(Const::Str(s)) => {
                        format!("folded {}", String::from_utf8_lossy(s))
                    }
                    _ => {
                        let ops: Vec<&str> = block.operations.iter().map(|o| o.op.name()).collect();
                        format!("recorded {}", ops.join(" "))
                    }
                }
            }
        };
        if got != *outcome {
            wrong += &format!("{bound} | {expression} | {got}, not {outcome}\n");
        }
    }
    wrong
}

/// What always raises does so although nobody uses the result.
#[test]
fn unused_results_that_always_raise() {
    const HEAD: &str = "
class Frozen(object):
    limit = 3
    def _freeze_(self):
        return True
class Plain(object):
    pass
class Lazy(Frozen):
    def __getattr__(self, name):
        return 5
def fun():
    pass
fun.tag = 1
L, D, frozen, lazy = [1], {}, Frozen(), Lazy()
";
    let said = |expression: &str| {
        let db = TestDb::with_fixture(&format!(
            "{HEAD}\ndef f():\n    x = {expression}\n    return 0\n"
        ));
        let result = flow_graph(&db, function(&db, db.program(), "f"));
        let told = result.errors.first().map(|e| e.message.clone());
        format!("{expression}: {}\n", told.as_deref().unwrap_or("-"))
    };
    let all = [
        "1 + 'x'",
        "None + 1",
        "'a' * 'b'",
        "L.missing",
        "L.append",
        "D.missing",
        "D.has_key",
        "fun.missing",
        "fun.tag",
        "fun.func_code",
        "int.missing",
        "int.bit_length",
        "str.join",
        "frozen.missing",
        "frozen.limit",
        "lazy.missing",
        "getattr(D, 1)",
        "isinstance(5, L)",
        "isinstance(5, (str, 3))",
        "isinstance(5, (int, 3))",
        "isinstance(5, (3, int))",
        "isinstance(5, frozen)",
        "isinstance(5, Plain)",
        "-9223372036854775807 >> 1180591620717411303424",
        "1 is 3",
    ];
    let all: String = all.into_iter().map(said).collect();
    expect![[r#"
        1 + 'x': `1 + 'x'` always raises TypeError: unsupported operand type(s) for +: 'int' and 'str'
        None + 1: `None + 1` always raises TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'
        'a' * 'b': `'a' * 'b'` always raises TypeError: unsupported operand type(s) for *: 'str' and 'str'
        L.missing: list has no attribute `missing`
        L.append: -
        D.missing: dict has no attribute `missing`
        D.has_key: -
        fun.missing: function main.fun has no attribute `missing`
        fun.tag: -
        fun.func_code: -
        int.missing: class __builtin__.int has no attribute `missing`
        int.bit_length: -
        str.join: -
        frozen.missing: main.Frozen object has no attribute `missing`
        frozen.limit: -
        lazy.missing: -
        getattr(D, 1): `getattr(<dict>, 1)` always raises TypeError: getattr(): attribute name must be string
        isinstance(5, L): `isinstance(5, <list>)` always raises TypeError: isinstance() arg 2 must be a class, type, or tuple of classes and types
        isinstance(5, (str, 3)): `isinstance(5, (<class __builtin__.str>, 3))` always raises TypeError: isinstance() arg 2 must be a class, type, or tuple of classes and types
        isinstance(5, (int, 3)): -
        isinstance(5, (3, int)): `isinstance(5, (3, <class __builtin__.int>))` always raises TypeError: isinstance() arg 2 must be a class, type, or tuple of classes and types
        isinstance(5, frozen): `isinstance(5, <main.Frozen object>)` always raises TypeError: isinstance() arg 2 must be a class, type, or tuple of classes and types
        isinstance(5, Plain): -
        -9223372036854775807 >> 1180591620717411303424: `-9223372036854775807 >> 1180591620717411303424L` always raises OverflowError: long int too large to convert to int
        1 is 3: -
    "#]].assert_eq(&all);
}
