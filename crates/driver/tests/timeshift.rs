//! Residual code: what specialising a function leaves, and that it computes the same as
//! the function itself on every engine.

#[path = "support/arguments.rs"]
mod arguments;

use std::sync::Arc;

use arguments::split;
use taipan_base::MemorySystem;
use taipan_driver::{
    CallOutcome, CallRequest, Database, EmitRequest, Engine, Failure, JitPolicy, LoadOptions,
    Splits, Stage, TimeshiftOutcome, TimeshiftRequest, Timings, call, emit, parse_literal,
    timeshift,
};

/// Specialises functions of a source and compares with what is written:
/// `f(1, 2) leaves int_add=1`, one per line. Before the function may stand `static(0)`,
/// the positions of constants, `portal(name)`, `inline(100)` and `optimize()`. The operations are all that are left,
/// `flexswitches=1` if promotions made any. What residual code returns or raises must be
/// what every engine gets by calling the function.
#[track_caller]
fn check(source: &str, cases: &str) {
    check_with(source, cases, &JitPolicy::default());
}

#[track_caller]
fn check_with(source: &str, cases: &str, policy: &JitPolicy) {
    let db = database(source);
    let mut wrong = Vec::new();
    for line in cases.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (head, want) = line.split_once(" leaves").expect("what is left");
        let mut request = request(head, policy);
        let mut run = |engine| {
            request.engine = engine;
            let options = LoadOptions::default();
            timeshift(&db, &options, &request, &mut Timings::default())
        };
        let got = match run(Engine::LLInterp) {
            Ok(outcome) => {
                let native = run(Engine::Native);
                if native.as_ref().ok() != Some(&outcome) {
                    wrong.push(format!("{head}: {outcome:?}, as machine code {native:?}"));
                }
                for engine in [Engine::LLInterp, Engine::Native] {
                    let called = called(&db, &request, engine);
                    if outcome.result != called {
                        let got = &outcome.result;
                        wrong.push(format!("{head}: {got:?}, not {called:?} as on {engine:?}"));
                    }
                }
                left(&outcome)
            }
            Err(e) => format!("error {e:?}"),
        };
        if got != want.trim() {
            wrong.push(format!("{head} leaves {got}, not{want}"));
        }
    }
    eprintln!("{}", wrong.join("\n"));
    assert!(wrong.is_empty());
}

fn database(source: &str) -> Database {
    let system = MemorySystem::new(taipan_prelude::SHIPPED);
    system.write("/main.py", source);
    Database::new(Arc::new(system))
}

fn request(head: &str, policy: &JitPolicy) -> TimeshiftRequest {
    let mut request = TimeshiftRequest {
        file: "/main.py".into(),
        func: String::new(),
        args: Vec::new(),
        is_static: Vec::new(),
        portal: None,
        policy: policy.clone(),
        engine: Engine::LLInterp,
        splits: Splits::Eager,
        inline: None,
        optimize: false,
    };
    for word in head.split_inclusive(") ") {
        let (name, args) = word.trim().split_once('(').expect("arguments");
        let args = split(args.strip_suffix(')').expect("a parenthesis"));
        match name {
            "static" => {
                request.is_static = args.iter().map(|a| a.trim().parse().unwrap()).collect()
            }
            "portal" => request.portal = Some(args[0].clone()),
            "inline" => request.inline = args[0].parse().ok(),
            "optimize" => request.optimize = true,
            func => {
                request.func = func.to_owned();
                request.args = args.iter().map(|a| parse_literal(a)).collect();
            }
        }
    }
    request
}

/// What a call of the function itself gives.
fn called(
    db: &Database,
    request: &TimeshiftRequest,
    engine: Engine,
) -> Result<serde_json::Value, String> {
    let request = CallRequest {
        file: request.file.clone(),
        func: request.func.clone(),
        args: request.args.clone(),
        engine,
        jit: None,
    };
    match call(
        db,
        &LoadOptions::default(),
        &request,
        &mut Timings::default(),
    ) {
        Ok(CallOutcome::Returned(v)) => Ok(v),
        Ok(CallOutcome::Raised { class, .. }) => Err(class),
        Err(e) => Err(format!("{e:?}")),
    }
}

fn left(outcome: &TimeshiftOutcome) -> String {
    let number = |v: &serde_json::Value| v.as_u64().unwrap_or(0);
    let mut parts = Vec::new();
    for (name, n) in outcome.counts["residual"].as_object().expect("counts") {
        parts.push(format!("{name}={}", number(n)));
    }
    let switches = number(&outcome.counts["flexswitches"]);
    if switches > 0 {
        parts.push(format!("flexswitches={switches}"));
    }
    parts.join(" ")
}

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
    let request = request("f(1)", &JitPolicy::default());
    let failed = timeshift(
        &db,
        &LoadOptions::default(),
        &request,
        &mut Timings::default(),
    );
    let Err(Failure::Diagnostics(found)) = failed else {
        panic!("{failed:?}");
    };
    // The variable, the hint, and the red value that it depends on.
    let text = &found[0].message;
    for part in ["amount", "concrete", "getfield"] {
        assert!(text.contains(part), "{text}");
    }
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
    let request = request("f(3)", &JitPolicy::default());
    let failed = timeshift(
        &db,
        &LoadOptions::default(),
        &request,
        &mut Timings::default(),
    );
    let Err(Failure::Diagnostics(found)) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(found[0].code, "TP0602");
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
            dot: false,
            result_only: false,
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

fn caching() -> JitPolicy {
    JitPolicy {
        heap_cache: true,
        ..JitPolicy::default()
    }
}

/// Objects that exist at run time: `opaque` makes them, and no call of it writes to them.
const OBJECTS: &str = "
from rpython.rlib.jit import hint, dont_look_inside, elidable
class Cell(object):
    def __init__(self, x):
        self.x = x
        self.y = x
class Other(object):
    def __init__(self, x):
        self.x = x
class Global(object):
    cell = Cell(0)
    list = [0]
G = Global()
@dont_look_inside
def opaque(n):
    if n == 1000:
        return G.cell
    G.cell = Cell(n)
    return G.cell
@dont_look_inside
def other(n):
    return Other(n)
@dont_look_inside
def numbers(n):
    return [n, n + 1, n + 2]
@dont_look_inside
def change(cell, n):
    cell.x = n
@dont_look_inside
def look(cell):
    return cell.x + cell.y
@elidable
def pure(n):
    return n * 2
";

#[track_caller]
fn check_memory(source: &str, cases: &str) {
    check_with(&format!("{OBJECTS}{source}"), cases, &caching());
}

#[test]
fn what_is_known_of_memory_is_read_once() {
    check_memory(
        "
def reads(n):
    c = opaque(n)
    return c.x + c.x
def reads_what_it_wrote(n):
    c = opaque(n)
    c.x = n
    return c.x + c.x
def writes_again(n):
    c = opaque(n)
    c.x = n
    c.x = n
    return c.x
def items(n):
    a = numbers(n)
    a[1] = 5
    return a[0] + a[0] + a[1] + len(a) + len(a)
def through_a_branch(n):
    c = opaque(n)
    total = c.x
    if n > 3:
        total += c.y
    else:
        total -= c.x
    return total + c.x
",
        "
        reads(5) leaves direct_call=1 getfield=1 int_add=1
        reads_what_it_wrote(5) leaves direct_call=1 int_add=1 setfield=1
        writes_again(5) leaves direct_call=1 setfield=1
        items(5) leaves direct_call=1 getarrayitem=1 getarraysize=1 int_add=4 setarrayitem=1
        through_a_branch(5) leaves direct_call=1 getfield=2 int_add=3 int_gt=1 int_sub=1
        through_a_branch(1) leaves direct_call=1 getfield=2 int_add=3 int_gt=1 int_sub=1
        ",
    );
}

#[test]
fn what_may_be_the_same_object_is_read_again() {
    check_memory(
        "
def aliases(n):
    c = opaque(n)
    d = opaque(1000)
    x = c.x
    d.x = 77
    return x + c.x
def another_field(n):
    c = opaque(n)
    d = opaque(1000)
    x = c.x
    d.y = 77
    return x + c.x
def another_class(n):
    c = opaque(n)
    d = other(n)
    x = c.x
    d.x = 77
    return x + c.x
def new_object(n):
    c = opaque(n)
    x = c.x
    d = Cell(n)
    look(d)
    e = Cell(n)
    G.cell = e
    e.x = 12
    return x + c.x
def list_items(n, i):
    a = numbers(n)
    x = a[0] + a[1]
    a[i] = 100
    return x + a[0] + a[1]
def two_lists(n):
    a = numbers(n)
    b = numbers(n)
    x = a[0]
    b[1] = 100
    y = a[0]
    b[0] = 100
    return x + y + a[0]
",
        "
        aliases(5) leaves direct_call=2 getfield=2 int_add=1 setfield=1
        another_field(5) leaves direct_call=2 getfield=1 int_add=1 setfield=1
        another_class(5) leaves direct_call=2 getfield=1 int_add=1 setfield=1
        new_object(5) leaves direct_call=2 getfield=2 int_add=1 malloc=2 setfield=8
        list_items(5, 0) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getarrayitem=4 getarraysize=1 int_add=4 int_lt=1 setarrayitem=1
        list_items(5, 1) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getarrayitem=4 getarraysize=1 int_add=4 int_lt=1 setarrayitem=1
        two_lists(5) leaves direct_call=2 getarrayitem=2 int_add=2 setarrayitem=2
        ",
    );
}

#[test]
fn calls_change_what_they_write() {
    check_memory(
        "
def changed(n):
    c = opaque(n)
    x = c.x + c.y
    change(c, 9)
    return x + c.x + c.y
def looked_at(n):
    c = opaque(n)
    x = c.x
    x += look(c)
    return x + c.x
def pure_call(n):
    c = opaque(n)
    x = c.x
    x += pure(n)
    return x + c.x
",
        "
        changed(5) leaves direct_call=2 getfield=3 int_add=3
        looked_at(5) leaves direct_call=2 getfield=1 int_add=2
        pure_call(5) leaves direct_call=2 getfield=1 int_add=2
        ",
    );
}

#[test]
fn lists_that_do_not_escape_are_not_made() {
    check(
        "
def two(x, y):
    l = [x, y]
    return l[0] - l[1] + len(l)
def appended(x):
    l = []
    l.append(x)
    l.append(x + 1)
    l.append(x + 2)
    return l[2] * l[0]
def popped(x):
    l = [x, x + 1]
    l.append(7)
    a = l.pop()
    b = l.pop()
    return a + b + len(l)
def sliced(x):
    l = [x, x + 1, x + 2, x + 3]
    m = l[1:3]
    m.extend([x, 2])
    m[1] = 5
    return m[0] + m[1] + l[2] + m[3] + len(m)
def merged(x):
    if x > 3:
        l = [x, 2]
    else:
        l = [4, x]
    return l[0] * l[1]
def escapes(x):
    l = [x, 2]
    i = 0
    while i < x:
        l.append(i)
        i += 1
    return l[-1] + len(l)
def unknown_index(x):
    l = [x, 2, 3]
    return l[x]
def tuples(x, y):
    a, b = (x, [y])
    return a + b[0]
",
        "
        two(3, 4) leaves int_add=1 int_sub=1
        appended(3) leaves int_add=2 int_mul=1
        popped(3) leaves int_add=3
        sliced(3) leaves int_add=7
        merged(3) leaves int_gt=1 int_mul=2
        merged(4) leaves int_gt=1 int_mul=2
        escapes(3) leaves direct_call=4 exc_clear=4 exc_occurred=4 exc_set=1 exc_type=4 exc_value=4 gc_copy_array=4 getarrayitem=2 getarraysize=3 int_add=14 int_gt=16 int_lshift=4 int_lt=8 int_rshift=2 malloc_varsize=8 setarrayitem=26
        escapes(30) leaves direct_call=4 exc_clear=4 exc_occurred=4 exc_set=1 exc_type=4 exc_value=4 gc_copy_array=4 getarrayitem=2 getarraysize=3 int_add=14 int_gt=16 int_lshift=4 int_lt=8 int_rshift=2 malloc_varsize=8 setarrayitem=26
        unknown_index(1) leaves getarrayitem=1 int_add=1 int_lt=1 malloc_varsize=1 setarrayitem=3
        tuples(1, 2) leaves int_add=1
        ",
    );
}

const FRAMES: &str = "
from rpython.rlib.jit import hint, dont_look_inside, elidable
class Frame(object):
    _virtualizable_ = ['pc', 'depth', 'stack[*]']
    def __init__(self, size):
        self.pc = 0
        self.depth = 0
        self.stack = [0] * size
        self.other = 0
    def push(self, v):
        depth = hint(self.depth, promote=True)
        assert depth >= 0
        self.stack[depth] = v
        self.depth = depth + 1
    def pop(self):
        depth = hint(self.depth, promote=True) - 1
        assert depth >= 0
        self.depth = depth
        return self.stack[depth]
class Global(object):
    frame = None
G = Global()
@dont_look_inside
def new_frame(size):
    G.frame = Frame(size)
    return G.frame
@dont_look_inside
def look():
    return G.frame.depth * 100 + G.frame.stack[0]
@dont_look_inside
def nothing(n):
    return n + 1
@dont_look_inside
def rewind(frame):
    frame.stack[0] = 77
";

#[test]
fn frames_are_kept_in_variables() {
    check_with(
        &format!(
            "{FRAMES}
def straight(n):
    f = new_frame(5)
    f.push(n)
    f.push(n + 1)
    return f.pop() * f.pop()
def counted(n):
    f = new_frame(5)
    f.push(n)
    f.push(0)
    while True:
        hint(None, global_merge_point=True)
        total = f.pop()
        i = f.pop()
        if i <= 0:
            break
        f.push(i - 1)
        f.push(total + i)
    return total
def seen(n):
    f = new_frame(5)
    f.push(n)
    f.push(n + 1)
    r = look()
    return r + f.pop() + f.pop()
def unseen(n):
    f = new_frame(5)
    f.push(n)
    f.push(n + 1)
    r = nothing(n)
    return r + f.pop() + f.pop()
def rewound(n):
    f = new_frame(5)
    f.push(n)
    f.push(n + 1)
    rewind(f)
    return f.pop() + f.pop()
def raises(n):
    f = new_frame(5)
    f.push(n)
    if n > 3:
        raise ValueError
    return 1
def caller(n):
    try:
        return raises(n)
    except ValueError:
        return look()
def two_frames(n):
    f = new_frame(5)
    g = new_frame(5)
    f.push(n)
    g.push(3)
    f.push(4)
    g.push(n)
    return f.pop() + g.pop() * f.pop() + look()
def new_one(n):
    f = Frame(3)
    f.push(n)
    f.push(3)
    return f.pop() * f.pop()
"
        ),
        "
        straight(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=2 int_add=1 int_mul=1 setarrayitem=2 setfield=1 flexswitches=1
        counted(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=2 int_add=2 int_le=2 int_sub=2 setarrayitem=4 setfield=2 flexswitches=1
        counted(50) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=2 int_add=2 int_le=2 int_sub=2 setarrayitem=4 setfield=2 flexswitches=1
        seen(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=2 exc_type=2 exc_value=2 getfield=2 int_add=3 setarrayitem=2 setfield=3 flexswitches=1
        unseen(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=2 exc_type=2 exc_value=2 getfield=2 int_add=3 setarrayitem=4 setfield=2 flexswitches=1
        rewound(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=2 exc_type=2 exc_value=2 getarrayitem=2 getfield=2 int_add=2 setarrayitem=2 setfield=2 flexswitches=1
        portal(raises) caller(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=2 exc_type=1 exc_value=1 getfield=2 int_gt=1 setarrayitem=1 setfield=1 flexswitches=1
        portal(raises) caller(2) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=2 exc_type=1 exc_value=1 getfield=2 int_gt=1 setarrayitem=1 setfield=1 flexswitches=1
        two_frames(5) leaves direct_call=3 exc_clear=2 exc_occurred=2 exc_set=1 exc_type=2 exc_value=2 getarrayitem=2 getfield=9 int_add=2 int_mul=1 setarrayitem=4 setfield=7 flexswitches=7
        new_one(5) leaves int_mul=1
        ",
        &caching(),
    );
}

#[test]
fn lookups_in_prebuilt_dicts_that_never_change() {
    check(
        "
from rpython.rlib.jit import hint
one = {1: 10, 2: 20, 3: 30}
two = {'a': 5, 'b': 6}
def number(n, x):
    n = hint(n, concrete=True)
    d = hint(one, deepfreeze=True)
    v = hint(d[n], concrete=True)
    return v + x
def missing(n, x):
    n = hint(n, concrete=True)
    d = hint(one, deepfreeze=True)
    if hint(n in d, concrete=True):
        return x
    return -x
",
        "
        number(2, 5) leaves int_add=1
        missing(2, 5) leaves
        missing(7, 5) leaves int_neg=1
        ",
    );
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
        "f(4) leaves direct_call=1 getfield=1",
    );
}
