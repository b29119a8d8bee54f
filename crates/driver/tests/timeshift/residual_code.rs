//! Residual code: what specialising a function leaves, and that it computes the same as
//! the function itself on every engine.

use crate::residual::{called, check, check_with, database, request};
use taipan_base::{Diagnostic, ErrorCode, Span};
use taipan_driver::{
    Database, EmitForm, EmitRequest, Engine, Failure, JitPolicy, LoadOptions, Stage, Timings, emit,
    timeshift,
};

#[test]
fn an_interpreter_of_plus_and_minus() {
    check(
        "
from rpython.rlib.jit import hint
def plus_minus(s, x, y):
    acc = x
    n = len(s)
    pc = 0
    while pc < n:
        op = s[pc]
        op = hint(op, concrete=True)
        if op == '+':
            acc += y
        elif op == '-':
            acc -= y
        pc += 1
    return acc
",
        "
        plus_minus('+-+', 10, 3) leaves int_add=2 int_sub=1
        plus_minus('', 10, 3) leaves
        static(1, 2) plus_minus('++', 10, 3) leaves
        ",
    );
}

#[test]
fn what_does_not_depend_on_a_hint_is_red() {
    check(
        "
from rpython.rlib.jit import hint
def loop(x, y):
    x = hint(x, concrete=True)
    total = 0
    while x:
        total += y
        x -= 1
    return total
def red_loop(x, y):
    total = 0
    while x:
        total += y
        x -= 1
    return total
def choose(flag, x):
    if flag:
        y = 17
    else:
        y = 22
    x -= 1
    y += 1
    return y + x
",
        "
        loop(3, 5) leaves int_add=3
        red_loop(3, 5) leaves int_add=2 int_is_true=2 int_sub=2
        static(0) red_loop(3, 5) leaves int_add=2 int_is_true=1 int_sub=1
        choose(1, 5) leaves int_add=2 int_is_true=1 int_sub=2
        choose(0, 5) leaves int_add=2 int_is_true=1 int_sub=2
        ",
    );
}

#[test]
fn calls_are_compiled_into_their_callers() {
    check(
        "
from rpython.rlib.jit import hint, dont_look_inside, elidable
def double(n):
    return n + n
def red(x):
    return double(x) * 3
def sign(n):
    if n > 0: return 1
    return -1
def both_returns(x, y):
    return sign(x) + y
def factorial(n):
    if n <= 1: return 1
    return n * factorial(n - 1)
def green(n, x):
    n = hint(n, concrete=True)
    return factorial(n) + x
@dont_look_inside
def opaque(n):
    return n - 1
def outside(x):
    return opaque(x) * 2
@elidable
def pure(n):
    return n * n
def folded(n, x):
    n = hint(n, concrete=True)
    return pure(n) + x
class Base(object):
    def get(self, n): return n + 1
class Sub(Base):
    def get(self, n): return n - 1
def method(flag, n):
    if flag: o = Base()
    else: o = Sub()
    return o.get(n)
",
        "
        red(4) leaves int_add=1 int_mul=1
        both_returns(3, 4) leaves int_add=2 int_gt=1
        both_returns(-3, 4) leaves int_add=2 int_gt=1
        green(5, 1) leaves int_add=1
        outside(5) leaves direct_call=1 int_mul=1
        folded(5, 1) leaves int_add=1
        method(1, 5) leaves int_add=1 int_is_true=1 int_sub=1
        method(0, 5) leaves int_add=1 int_is_true=1 int_sub=1
        ",
    );
}

#[test]
fn objects_that_do_not_escape_are_not_made() {
    check(
        "
class Box(object):
    def __init__(self, value): self.value = value
class Holder(object):
    kept = None
holder = Holder()
def add(a, b):
    return Box(a.value + b.value)
def boxed_sum(x, y):
    return add(Box(x), Box(y)).value
def counted(n):
    i = Box(0)
    total = Box(0)
    while i.value < n:
        total = add(total, i)
        i = Box(i.value + 1)
    return total.value
def escapes(x):
    holder.kept = Box(x)
    return holder.kept.value
def compared(x):
    a = Box(x)
    b = Box(x)
    return (a is b) or (a is None)
",
        "
        boxed_sum(3, 4) leaves int_add=1
        counted(5) leaves int_add=4 int_lt=3
        escapes(3) leaves getfield=2 malloc=1 setfield=3
        compared(3) leaves
        ",
    );
}

#[test]
fn promotion_grows_a_switch() {
    check(
        "
from rpython.rlib.jit import hint, promote
def promoted(n):
    k = hint(n, promote=True)
    k = hint(k, concrete=True)
    return k * 2
def twice(n):
    total = 0
    i = 0
    while i < n:
        k = hint(i & 1, promote=True)
        hint(k, concrete=True)
        if k:
            total += 10
        else:
            total += 1
        i += 1
    return total
class Base(object):
    def get(self): return 1
class Sub(Base):
    def get(self): return 2
def of_kind(n):
    if n: return Base()
    return Sub()
def kinds(n):
    o = of_kind(n & 1)
    return o.get()
",
        "
        promoted(7) leaves flexswitches=1
        kinds(3) leaves int_and=1 int_is_true=1
        kinds(4) leaves int_and=1 int_is_true=1
        ",
    );
}

#[test]
fn a_promotion_in_a_loop_comes_back_to_itself() {
    let db = database(
        "
from rpython.rlib.jit import hint
def loop(n):
    total = 0
    i = 0
    while i < n:
        hint(None, global_merge_point=True)
        k = hint(i & 3, promote=True)
        hint(k, concrete=True)
        total += k
        i += 1
    return total
",
    );
    let specialized = |call: &str| {
        let request = request(call, &JitPolicy::default());
        let outcome = timeshift(
            &db,
            &LoadOptions::default(),
            &request,
            &mut Timings::default(),
        );
        let outcome = outcome.expect("it is specialised");
        assert_eq!(outcome.result, called(&db, &request, Engine::Native));
        outcome.counts
    };
    // However often the loop comes by.
    assert_eq!(specialized("loop(20)"), specialized("loop(200)"));
}

#[test]
fn exceptions_are_known_while_compiling() {
    check(
        "
from rpython.rlib.rarithmetic import ovfcheck
class Stop(Exception):
    def __init__(self, value): self.value = value
def check(n):
    if n > 5: raise Stop(n)
    return n
def caught(n):
    try:
        return check(n) + 1
    except Stop as e:
        return e.value - 1
def raised(n):
    return check(n) + 1
def overflow(a, b):
    try:
        return ovfcheck(a + b)
    except OverflowError:
        return -1
",
        "
        caught(3) leaves int_add=1 int_gt=1 int_sub=1
        caught(9) leaves int_add=1 int_gt=1 int_sub=1
        overflow(3, 4) leaves int_add_ovf=1
        overflow(9223372036854775807, 4) leaves int_add_ovf=1
        static(0, 1) overflow(9223372036854775807, 4) leaves
        static(0, 1) overflow(3, 4) leaves
        ",
    );
}

#[test]
fn a_portal_that_is_called_from_outside() {
    check(
        "
from rpython.rlib.jit import hint
def interpret(code, x):
    hint(None, global_merge_point=True)
    pc = 0
    while pc < len(code):
        op = hint(code[pc], concrete=True)
        if op == 'd':
            x = x * 2
        else:
            x = x + 1
        pc += 1
    return x
def main(n):
    return interpret('did', n) + interpret('i', n)
",
        "
        portal(interpret) main(5) leaves int_add=2 int_mul=2
        ",
    );
}

#[test]
fn calls_that_a_policy_names_stay() {
    let policy = JitPolicy {
        stop_at: vec!["helper".to_owned()],
        ..JitPolicy::default()
    };
    check_with(
        "
def helper(n):
    return n * 3
def f(n):
    return helper(n) + 1
",
        "f(4) leaves direct_call=1 int_add=1",
        &policy,
    );
}

/// What is told of a function that cannot be specialised, or does what no code must do.
fn refused(db: &Database, call: &str) -> Diagnostic {
    let request = request(call, &JitPolicy::default());
    let options = LoadOptions::default();
    match timeshift(db, &options, &request, &mut Timings::default()) {
        Err(Failure::Diagnostics(found)) => found[0].clone(),
        other => panic!("{other:?}"),
    }
}

/// What stands at a place.
fn spelt(db: &Database, span: Span) -> &str {
    let range = span.range;
    &span.file.text(db)[range.start as usize..range.end as usize]
}

#[test]
fn a_hint_that_cannot_be_fulfilled() {
    let db = database(
        "
from rpython.rlib.jit import hint
class Cell(object):
    value = 3
cell = Cell()
def f(n):
    cell.value = n
    amount = cell.value
    amount = hint(amount, concrete=True)
    return amount
",
    );
    let found = refused(&db, "f(1)");
    // The hint, the variable, and the red value that it depends on.
    assert_eq!(
        found.message,
        "`hint(concrete=True)` needs `amount` while compiling, but it depends on `amount` (getfield in f)"
    );
    assert_eq!(found.label, "`amount` is known at run time only");
    let hint = "hint(amount, concrete=True)";
    assert_eq!(found.primary.map(|s| spelt(&db, s)), Some(hint));
    let note = &found.notes[0];
    assert_eq!(note.message, "`amount` is read from a field here");
    assert_eq!(note.span.map(|s| spelt(&db, s)), Some("cell.value"));
}

#[test]
fn residual_code_without_end_is_refused() {
    let db = database(
        "
def count(n):
    if n < 1:
        return 0
    return count(n - 1) + 1
def f(n):
    return count(n)
",
    );
    let found = refused(&db, "f(3)");
    assert_eq!(found.code, ErrorCode::SpecializerGaveUp);
    assert!(found.primary.is_some());
    assert!(found.help.unwrap().to_string().contains("dont_look_inside"));
}

/// Also where residual code does it: operations there know what they come from.
#[test]
fn faults_have_the_place_of_the_program() {
    let db = database(
        "
def f(n):
    return divided(7, n)
def divided(a, n):
    return (a + n) // n
",
    );
    let found = refused(&db, "f(0)");
    assert_eq!(
        (found.code, &*found.message),
        (ErrorCode::UnsafeForMachineCode, "division by zero")
    );
    assert_eq!(spelt(&db, found.primary.unwrap()), "(a + n) // n");
}

#[test]
fn items_of_frozen_lists_are_green() {
    check(
        "
from rpython.rlib.jit import hint
class Code(object):
    _immutable_fields_ = ['fixed[*]', 'mutable']
    def __init__(self, items):
        self.fixed = items[:]
        self.mutable = items[:]
CODE = Code([1, 2, 3])
def fixed(x):
    total = 0
    i = 0
    while i < len(CODE.fixed):
        total += hint(CODE.fixed[i], concrete=True) * x
        i += 1
    return total
def mutable(x):
    CODE.mutable[2] = 7
    return x * CODE.mutable[1]
def passed(items, i):
    return items[i]
def through_a_call(x):
    return x * (passed(CODE.fixed, 1) + passed(CODE.mutable, 0))
",
        "
        fixed(5) leaves int_add=3 int_mul=3
        mutable(5) leaves getarrayitem=1 int_mul=1 setarrayitem=1
        through_a_call(5) leaves getarrayitem=1 int_add=1 int_mul=1
        ",
    );
}

#[test]
fn quasi_immutable_fields_of_known_objects_are_promoted() {
    check(
        "
class Cell(object):
    _immutable_fields_ = ['value?', 'items?[*]']
    def __init__(self, value):
        self.value = value
        self.items = ITEMS
ITEMS = [3, 3]
CELL = Cell(3)
def known(x):
    if x > 100:
        CELL.value = x
        CELL.items = ITEMS
    return x * (CELL.value + 1)
def items(x):
    return x * (CELL.items[1] + 1)
def unknown(x):
    return Cell(x).value + 1
",
        "
        known(5) leaves getfield=1 int_gt=1 int_mul=1 setfield=2 flexswitches=1
        items(5) leaves getfield=1 int_mul=1 flexswitches=1
        unknown(5) leaves int_add=1
        ",
    );
}

/// What a base class says of fields counts for those that only subclasses have.
#[test]
fn immutable_fields_of_subclasses() {
    check(
        "
class Base(object):
    _immutable_fields_ = ['size', 'items[*]', 'seldom?']
class A(Base):
    def __init__(self, n):
        self.size = n
        self.items = [n, n]
        self.seldom = n
        self.other = n
class B(Base):
    def __init__(self, n):
        self.size = (n, n)
KNOWN = A(3)
def known(x):
    if x > 100:
        return A(x).size + B(x).size[1]
    return x * (KNOWN.size + KNOWN.items[1] + KNOWN.seldom)
def other(x):
    if x > 100:
        return A(x).other + B(x).size[1]
    return x * KNOWN.other
",
        "
        known(5) leaves getfield=1 int_add=1 int_gt=1 int_mul=1 flexswitches=1
        other(5) leaves getfield=1 int_add=1 int_gt=1 int_mul=1
        ",
    );
}

#[test]
fn colors_of_a_portal() {
    let db = database(
        "
from rpython.rlib.jit import hint
def f(n, x):
    hint(n, concrete=True)
    return n * 2 + x
def entry_point(argv):
    return f(len(argv), len(argv))
def target(driver, args):
    return entry_point, None
",
    );
    let emitted = |stage| {
        let request = EmitRequest {
            stage,
            file: "/main.py".into(),
            func: Some("f".to_owned()),
            inputs: None,
            form: EmitForm::Text,
            targets: Vec::new(),
        };
        emit(
            &db,
            &LoadOptions::default(),
            &request,
            &mut Timings::default(),
        )
        .expect("it works")
    };
    let expected = expect_test::expect![[r#"
        ; f: red
        ; green: n_0 v2 v3
        ; red: x_1 v4 v5
        graph f
        block0(n_0: Signed, x_1: Signed):
            v2: Signed = hint(n_0, .concrete) @3
            v3: Signed = int_mul(n_0, 2) @7
            v4: Signed = int_add(v3, x_1) @9
            goto return(v4)
        return(v5: Signed)
        except(etype_6: *Struct object_vtable, evalue_7: *GcStruct object)

    "#]];
    expected.assert_eq(&emitted(Stage::Colors));
    let expected = expect_test::expect![[r#"
        timeshifted f ; red
        block0(n_0: green, x_1: red): ; start
            v2: green = same_as(n_0)
            v3: green = int_mul(n_0, 2)
            v4: red = int_add(v3, x_1)
            goto block1(v4)
        block1(v5: red):
            return v5
    "#]];
    expected.assert_eq(&emitted(Stage::Timeshifted));
}

/// Graphs that are optimised first keep their hints.
#[test]
fn optimised_graphs() {
    check(
        "
from rpython.rlib.jit import hint, elidable
from rpython.rlib.objectmodel import we_are_translated
class Pair(object):
    def __init__(self, a, b): self.a, self.b = a, b
def swap(p):
    return Pair(p.b, p.a)
@elidable
def twice(n):
    return n * 2
def digit(n):
    if n == 1: return 10
    elif n == 5: return 20
    elif n == 8: return 40
    else: return -1
def switch(n, m):
    n = hint(n, concrete=True)
    return digit(n) * m
def red(n, m):
    return digit(n) * m
def calls(a, b):
    p = swap(Pair(a, b))
    return p.a - p.b + twice(a)
def raising(n):
    if n < 0: raise ValueError
    return n + 1
def catching(n):
    try: return raising(n)
    except ValueError: return -7
def outer(n):
    return portal(n, 4)
def portal(n, m):
    return raising(n) * m
",
        "
        switch(5, 3) leaves int_mul=1
        optimize() switch(5, 3) leaves int_mul=1
        optimize() switch(8, 3) leaves int_mul=1
        red(8, 3) leaves int_eq=3 int_mul=4
        optimize() red(8, 3) leaves int_eq=3 int_mul=4
        inline(1000) optimize() red(5, 3) leaves int_eq=3 int_mul=4
        calls(7, 2) leaves direct_call=1 int_add=1 int_sub=1
        inline(1000) optimize() calls(7, 2) leaves direct_call=1 int_add=1 int_sub=1
        inline(1000) catching(-3) leaves int_add=1 int_lt=1
        inline(1000) optimize() catching(3) leaves int_add=1 int_lt=1
        inline(1000) portal(portal) outer(3) leaves exc_set=1 int_add=1 int_lt=1 int_mul=1
        inline(1000) optimize() portal(portal) outer(-3) leaves exc_set=1 int_add=1 int_lt=1 int_mul=1
        ",
    );
}

/// The portal may be a function that another one returned.
#[test]
fn portals_by_the_name_of_the_module() {
    check(
        "
def make(k):
    def inner(n):
        return n * k
    def interp(n):
        return inner(n) + 1
    return interp, inner
interp, by_three = make(3)
def f(n): return interp(n)
",
        "portal(by_three) f(4) leaves int_mul=1",
    );
}

/// A pointer that is asserted not to be null is not tested again.
#[test]
fn asserted_pointers() {
    check(
        "
from rpython.rlib.debug import ll_assert
from rpython.rlib.jit import dont_look_inside
class A(object):
    def __init__(self, n): self.n = n
@dont_look_inside
def make(n):
    return A(n) if n > 0 else None
def check(a):
    ll_assert(bool(a), 'there is one')
def f(n):
    a = make(n)
    check(a)
    if a is None:
        return n * 5
    return a.n
",
        "f(4) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=1",
    );
}
