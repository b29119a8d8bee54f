use std::sync::Arc;

use camino::Utf8PathBuf;
use expect_test::{Expect, expect};
use taipan_annotator::{RootSet, Roots};
use taipan_base::{MemorySystem, System, sync};
use taipan_graph::text::print_graph;
use taipan_graph::{IntKind, verify};
use taipan_jit::JitProgram;
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{FuncSym, HelperArg, LLValue, PlainOp, Program as _, SIGNED};

use super::jit_attributes;
use crate::function::LLFunction;
use crate::names::lowlevel_names;
use crate::stages::drivers::jit_drivers;
use crate::stages::reach::reachable;
use crate::stages::{GraphStage, JitPasses, StageProgram, jit_graph, simplified};
use crate::typed::{find_function, typed};
use crate::{Database, LoadOptions, QueryEvent, Timings, load, parse_literal};

/// A program whose function `f` takes integers.
struct Bench {
    db: Database,
    system: Arc<MemorySystem>,
    roots: Roots,
    f: FuncSym,
}

impl Bench {
    /// The functions that were timeshifted since this was last asked.
    fn timeshifted_now(&self) -> String {
        let log = self.db.take_log().into_iter();
        let mut lines: Vec<String> = log
            .filter(|(q, _, event)| *event == QueryEvent::Executed && q == "timeshifted")
            .map(|(_, key, _)| key)
            .collect();
        lines.sort();
        lines.join(", ")
    }

    fn new(source: &str, args: usize) -> Bench {
        let system = Arc::new(MemorySystem::new(taipan_prelude::SHIPPED));
        system.write("/main.py", source);
        let db = Database::new(system.clone() as Arc<dyn System>);
        let program = load(&db, "/main.py".into(), &LoadOptions::default()).expect("loads");
        let func = find_function(&db, program, "f").expect("there is f");
        let zero = parse_literal("0").argument_type().expect("an integer");
        let args = vec![zero; args].into();
        let roots = Roots::new(&db, program, RootSet::Call { func, args }, false);
        let f = typed(&db, roots, &mut Timings::default()).expect("is RPython");
        Bench {
            db,
            system,
            roots,
            f,
        }
    }

    fn key(&self, sym: &FuncSym) -> LLFunction {
        LLFunction::new(&self.db, self.roots, sym.clone())
    }

    /// All functions of the program.
    fn functions(&self) -> Vec<FuncSym> {
        let entry = std::slice::from_ref(&self.f);
        reachable(&self.db, self.roots, GraphStage::Jit, entry).functions
    }

    fn named(&self, name: &str) -> FuncSym {
        let all = self.functions();
        let found = all.into_iter().find(|f| f.name().ends_with(name));
        found.expect("the program has such a function")
    }

    fn text(&self) -> String {
        let graph = jit_graph(&self.db, self.key(&self.f)).expect("a graph");
        let program = self.roots.program(&self.db);
        print_graph(&*graph, lowlevel_names(&self.db, program, &graph))
    }

    fn check(&self, expected: &Expect) {
        expected.assert_eq(&self.text());
    }

    /// What `f` gives in the interpreter, with graphs of some stage.
    fn call(&self, stage: GraphStage, args: &[i64]) -> String {
        let program = StageProgram::new(&self.db, self.roots, stage);
        let mut interp = LLInterpreter::new(&program);
        let args = args
            .iter()
            .map(|n| LLValue::Int(IntKind::SIGNED, i128::from(*n)))
            .collect();
        match interp.eval(&self.f, args) {
            Ok(v) => format!("{v:?}"),
            Err(LLError::Raised(e)) => e.name,
            Err(e) => format!("{e:?}"),
        }
    }

    /// All graphs are sound, run as the RTyper's do, and lose their hints when simplified.
    fn runs(&self, calls: &[&[i64]]) {
        for sym in self.functions() {
            let graph = jit_graph(&self.db, self.key(&sym)).expect("a graph");
            assert!(verify(&*graph).is_ok(), "{}", sym.name());
            let graph = simplified(&self.db, self.key(&sym)).expect("a graph");
            let hints = graph.blocks.iter().flat_map(|b| &b.operations);
            let hints = hints.filter(|op| op.op == PlainOp::Hint.into());
            assert_eq!(hints.count(), 0, "{}", sym.name());
        }
        for args in calls {
            let expected = self.call(GraphStage::Rtyped, args);
            assert_eq!(self.call(GraphStage::Jit, args), expected, "{args:?}");
        }
    }
}

const RAISING: &str = "
from rpython.rlib.jit import hint, promote

class Bad(Exception):
    def __init__(self, n):
        self.n = n

def pick(items, i):
    i = hint(i, concrete=True)
    if i > 90:
        raise Bad(i)
    try:
        return items[i]
    except IndexError:
        raise KeyError

def f(n, m):
    hint(None, global_merge_point=True)
    n = promote(n)
    try:
        return pick([n, m], n) + pick([m], m)
    except KeyError:
        return -1
    except Bad, e:
        return e.n
";

#[test]
fn hints_stay_and_exceptions_are_explicit() {
    let b = Bench::new(RAISING, 2);
    b.check(&expect![[r#"
        struct main.Bad = GcStruct instance #main.Bad
        func main.pick = user #main.pick '' 'main.pick': func(*GcArray of Signed, Signed) -> Signed
        graph f
        block0(n_0: Signed, m_1: Signed):
            v2: Void = hint(Void, .global_merge_point) @3
            n_3: Signed = hint(n_0, .promote) @7
            v4: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 2) @12
            v5: Void = setarrayitem(v4, 0, n_3) @12
            v6: Void = setarrayitem(v4, 1, m_1) @12
            v7: Signed = direct_call(&main.pick, v4, n_3) @14
            v8: Bool = exc_occurred() @14
            switch v8
                False: block1(m_1, v7)
                True: block9()
        block1(m_9: Signed, v10: Signed):
            v11: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 1) @17
            v12: Void = setarrayitem(v11, 0, m_9) @17
            v13: Signed = direct_call(&main.pick, v11, m_9) @19
            v14: Bool = exc_occurred() @19
            switch v14
                False: block2(v10, v13)
                True: block3()
        block2(v15: Signed, v16: Signed):
            v17: Signed = int_add(v15, v16) @20
            goto return(v17)
        block3():
            v18: *Struct object_vtable = exc_type() @19
            v19: *GcStruct object = exc_value() @19
            v20: Signed = getfield(v18, .subclassrange_min) @19
            v21: Signed = getfield(&vtable #exceptions.KeyError as *Struct object_vtable, .subclassrange_min) @19
            v22: Signed = getfield(&vtable #exceptions.KeyError as *Struct object_vtable, .subclassrange_max) @19
            v23: Bool = int_between(v21, v20, v22) @19
            switch v23
                False: block4(v20, v18, v19)
                True: block8(v18)
        block4(v24: Signed, v25: *Struct object_vtable, v26: *GcStruct object):
            v27: Signed = getfield(&vtable #main.Bad as *Struct object_vtable, .subclassrange_min) @19
            v28: Signed = getfield(&vtable #main.Bad as *Struct object_vtable, .subclassrange_max) @19
            v29: Bool = int_between(v27, v24, v28) @19
            switch v29
                False: block5()
                True: block6(v25, v26)
        block5():
            v30: Void = debug_record_traceback() @19
            goto return(0)
        block6(v31: *Struct object_vtable, v32: *GcStruct object):
            v33: Void = debug_catch_exception(v31) @19
            v34: Void = exc_clear() @19
            goto block7(v32)
        block7(last_exc_value_35: *GcStruct object):
            v36: *GcStruct main.Bad = cast_pointer(last_exc_value_35)
            goto block14(v36)
        block8(v37: *Struct object_vtable):
            v38: Void = debug_catch_exception(v37) @19
            v39: Void = exc_clear() @19
            goto return(-1)
        block9():
            v40: *Struct object_vtable = exc_type() @14
            v41: *GcStruct object = exc_value() @14
            v42: Signed = getfield(v40, .subclassrange_min) @14
            v43: Signed = getfield(&vtable #exceptions.KeyError as *Struct object_vtable, .subclassrange_min) @14
            v44: Signed = getfield(&vtable #exceptions.KeyError as *Struct object_vtable, .subclassrange_max) @14
            v45: Bool = int_between(v43, v42, v44) @14
            switch v45
                False: block10(v42, v40, v41)
                True: block15(v40)
        block10(v46: Signed, v47: *Struct object_vtable, v48: *GcStruct object):
            v49: Signed = getfield(&vtable #main.Bad as *Struct object_vtable, .subclassrange_min) @14
            v50: Signed = getfield(&vtable #main.Bad as *Struct object_vtable, .subclassrange_max) @14
            v51: Bool = int_between(v49, v46, v50) @14
            switch v51
                False: block11()
                True: block12(v47, v48)
        block11():
            v52: Void = debug_record_traceback() @14
            goto return(0)
        block12(v53: *Struct object_vtable, v54: *GcStruct object):
            v55: Void = debug_catch_exception(v53) @14
            v56: Void = exc_clear() @14
            goto block13(v54)
        block13(last_exc_value_57: *GcStruct object):
            v58: *GcStruct main.Bad = cast_pointer(last_exc_value_57)
            goto block14(v58)
        block14(v59: *GcStruct main.Bad):
            v60: Signed = getfield(v59, .inst_n) @37
            goto return(v60)
        block15(v61: *Struct object_vtable):
            v62: Void = debug_catch_exception(v61) @14
            v63: Void = exc_clear() @14
            goto return(-1)
        return(v64: Signed)
        except(etype_65: *Struct object_vtable, evalue_66: *GcStruct object)
    "#]]);
}

#[test]
fn graphs_of_the_rtyper_take_the_exception_transform() {
    Bench::new(RAISING, 2).runs(&[&[0, 0], &[1, 0], &[2, 0], &[0, 1], &[95, 0], &[1, 99]]);
    let uncaught = "
from rpython.rlib.rarithmetic import ovfcheck
def down(n):
    return 1 if n == 0 else n * down(n - 1)
def f(n):
    d = {}
    for i in range(n):
        d[str(i)] = i
    if n > 20:
        raise ValueError
    return ovfcheck(down(n) * 1000000000) + d['3']
";
    Bench::new(uncaught, 1).runs(&[&[2], &[5], &[15], &[30]]);
}

#[test]
fn attributes_of_functions() {
    let source = "
from rpython.rlib import jit

@jit.elidable
def pure(n): return n + 1
def old(n): return n + 2
old._pure_function_ = True
@jit.elidable_promote('0')
def promoting(n): return n + 3
@jit.dont_look_inside
def residual(n): return n + 4
@jit.look_inside
def inside(n): return n + 5
@jit.unroll_safe
def loop(n):
    while n > 5: n -= 1
    return n
@jit.loop_invariant
def fixed(n): return n + 6
@jit.oopspec('counter.add(self, amount)')
def add(counter, amount): return counter + amount
@jit.look_inside_iff(lambda n: n > 3)
def some(n): return n + 7
def plain(n): return n

def f(n):
    n = pure(n) + old(n) + promoting(n) + residual(n) + inside(n) + loop(n)
    return n + fixed(n) + add(n, 3) + some(n) + plain(n) + len([n])
";
    let b = Bench::new(source, 1);
    let mut lines = String::new();
    for name in [
        "pure",
        "old",
        "promoting",
        "residual",
        "inside",
        "loop",
        "fixed",
        "add",
        "some",
        "plain",
    ] {
        let a = jit_attributes(&b.db, b.key(&b.named(&format!("main.{name}"))));
        lines += &format!("{name} {a:?}\n");
    }
    expect![[r#"
        pure JitAttributes { elidable: true, promote_args: None, look_inside: None, unroll_safe: false, loop_invariant: false, oopspec: None }
        old JitAttributes { elidable: true, promote_args: None, look_inside: None, unroll_safe: false, loop_invariant: false, oopspec: None }
        promoting JitAttributes { elidable: true, promote_args: Some("0"), look_inside: None, unroll_safe: false, loop_invariant: false, oopspec: None }
        residual JitAttributes { elidable: false, promote_args: None, look_inside: Some(false), unroll_safe: false, loop_invariant: false, oopspec: None }
        inside JitAttributes { elidable: false, promote_args: None, look_inside: Some(true), unroll_safe: false, loop_invariant: false, oopspec: None }
        loop JitAttributes { elidable: false, promote_args: None, look_inside: None, unroll_safe: true, loop_invariant: false, oopspec: None }
        fixed JitAttributes { elidable: false, promote_args: None, look_inside: Some(false), unroll_safe: false, loop_invariant: true, oopspec: None }
        add JitAttributes { elidable: false, promote_args: None, look_inside: None, unroll_safe: false, loop_invariant: false, oopspec: Some(Oopspec { text: "counter.add(self, amount)", argnames: ["counter", "amount"] }) }
        some JitAttributes { elidable: false, promote_args: None, look_inside: None, unroll_safe: true, loop_invariant: false, oopspec: None }
        plain JitAttributes { elidable: false, promote_args: None, look_inside: None, unroll_safe: false, loop_invariant: false, oopspec: None }
    "#]].assert_eq(&lines);
    // Those of helpers and of what has no attributes are there to be asked for.
    for sym in b.functions() {
        jit_attributes(&b.db, b.key(&sym));
    }
    let args = Arc::from([HelperArg::Type(*SIGNED)]);
    let kind = taipan_lltype::FuncKind::Helper {
        name: "rint.ll_absent".into(),
        args,
    };
    let absent = FuncSym::new(kind, b.f.ty().clone());
    assert_eq!(*jit_attributes(&b.db, b.key(&absent)), Default::default());
}

/// Who calls a function that changes is not transformed again, unless it may raise now.
#[test]
fn an_edit_reaches_no_caller() {
    let source = "
def double(n):
    return n * 2

def f(n):
    return double(n) + 1
";
    let mut b = Bench::new(source, 1);
    b.db.log().record_from_now();
    let edit = |b: &mut Bench, to: &str| {
        b.system
            .write("/main.py", &source.replace("return n * 2", to));
        sync(&mut b.db, &[Utf8PathBuf::from("/main.py")]);
        for sym in b.functions() {
            jit_graph(&b.db, b.key(&sym));
        }
        let log = b.db.take_log().into_iter();
        let mut lines: Vec<String> = log
            .filter(|(q, _, event)| *event == QueryEvent::Executed && q == "jit_graph")
            .map(|(_, key, _)| key)
            .collect();
        lines.sort();
        lines.join(" ")
    };
    assert_eq!(edit(&mut b, "return n * 2"), "main.double main.f");
    assert_eq!(edit(&mut b, "return n * 3"), "main.double");
    let raises = "if n > 5: raise ValueError\n    return n * 3";
    assert_eq!(edit(&mut b, raises), "main.double main.f");
}

const HANDLERS: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc', 'code'], reds=['acc'])

def add(acc):
    return acc + 1

def mul(acc):
    return acc * 2

def step(op, acc):
    if op == 'a':
        return add(acc)
    return mul(acc)

def f(acc):
    code = 'am' * acc
    pc = 0
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, acc=acc)
        acc = step(code[pc], acc)
        pc += 1
    return acc
";

/// What compilers of drivers read of a function is made anew if that function changes, or
/// another one is to be followed now; and it is what a new process makes.
#[test]
fn an_edit_timeshifts_one_function() {
    let mut b = Bench::new(HANDLERS, 1);
    b.db.log().record_from_now();
    let portal = |b: &Bench| {
        let drivers = jit_drivers(&b.db, b.roots).expect("a driver");
        drivers[0].portal.clone()
    };
    let all = |b: &Bench| {
        let program = StageProgram::new(&b.db, b.roots, GraphStage::Jit);
        let names = ["add", "mul", "step"].map(|n| b.named(&format!("main.{n}")));
        let functions = names.into_iter().chain([portal(b)]);
        let graphs = functions.map(|f| program.timeshifted(&f).expect("a graph"));
        graphs.collect::<Vec<_>>()
    };
    let edit = |b: &mut Bench, from: &str, to: &str| {
        let source = HANDLERS.replace(from, to);
        b.system.write("/main.py", &source);
        sync(&mut b.db, &[Utf8PathBuf::from("/main.py")]);
        let made = all(b);
        assert_eq!(made, all(&Bench::new(&source, 1)));
        b.timeshifted_now()
    };
    let everything = "main.add, main.mul, main.step, portal of main.f";
    assert_eq!(edit(&mut b, "", ""), everything);
    assert_eq!(edit(&mut b, "acc * 2", "acc * 3"), "main.mul");
    assert_eq!(edit(&mut b, "'am' * acc", "'ma' * acc"), "main.mul");
    // With a loop in it a function is called, not followed.
    let looping = "while acc < 10: acc += 3\n    return acc";
    let followed = "main.mul, main.step";
    assert_eq!(edit(&mut b, "return acc * 2", looping), followed);
}

const NODES: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['node'], reds=['n', 'acc'])
class Node(object):
    _immutable_fields_ = ['left', 'right']
    def __init__(self, left, right):
        self.left = left
        self.right = right

def left(node, acc):
    return acc + node.left

def right(node, acc):
    return acc * node.right

def late(node, acc):
    return acc

def f(n):
    node = Node(n, 3)
    acc = 0
    while n > 0:
        driver.jit_merge_point(node=node, n=n, acc=acc)
        acc = late(node, right(node, left(node, acc)))
        n -= 1
    return acc
";

/// Whether a field is written late is found in the whole program, and reaches only who reads
/// that field.
#[test]
fn a_late_write_reaches_who_reads_the_field() {
    let mut b = Bench::new(NODES, 1);
    b.db.log().record_from_now();
    let mut edit = |to: &str| {
        let source = NODES.replace("return acc\n\ndef f", &format!("{to}\n\ndef f"));
        b.system.write("/main.py", &source);
        sync(&mut b.db, &[Utf8PathBuf::from("/main.py")]);
        let program = StageProgram::new(&b.db, b.roots, GraphStage::Jit);
        for name in ["left", "right", "late"] {
            let f = b.named(&format!("main.{name}"));
            program.timeshifted(&f).expect("a graph");
        }
        b.timeshifted_now()
    };
    let everything = "main.late, main.left, main.right";
    assert_eq!(edit("return acc"), everything);
    assert_eq!(edit("return acc + 1"), "main.late");
    assert_eq!(
        edit("node.left = acc\n    return acc"),
        "main.late, main.left"
    );
    assert_eq!(edit("node.left = acc\n    return acc + 2"), "main.late");
}

/// Markers name the greens and reds of their driver in its order, and are gone in code
/// of the interpreter alone.
#[test]
fn markers() {
    let bench = Bench::new(
        "
from rpython.rlib import jit
class Code(object):
    _immutable_fields_ = ['size']
    def __init__(self, size): self.size = size
driver = jit.JitDriver(greens=['pc', 'code.size'], reds=['code', 'x'])
def f(x):
    code = Code(x)
    pc = 0
    while pc < code.size:
        driver.jit_merge_point(x=x, pc=pc, code=code)
        if jit.we_are_jitted() and jit.isconstant(x):
            jit.assert_green(x)
        pc += 1
    jit.set_param(driver, 'threshold', 3)
    return pc
",
        1,
    );
    let text = bench.text();
    let found = text.lines().map(str::trim).filter(|l| l.contains("jit"));
    expect![[r#"
        v11: Void = jit_set_param(<const #rpython.rlib.jit.JitDriver@1e1e>, .threshold, 3) @43
        v20: Void = jit_marker(.jit_merge_point, <const #rpython.rlib.jit.JitDriver@1e1e>, <const (2, False)>, pc_16, v17, code_18, x_19) @16
        v24: Bool = we_are_jitted() @20
        v28: Bool = jit_is_constant(x_26) @25
        v32: Void = jit_assert_green(x_30) @30"#]].assert_eq(&found.collect::<Vec<_>>().join("\n"));
    bench.runs(&[&[0], &[3]]);
    let graph = simplified(&bench.db, bench.key(&bench.f)).expect("a graph");
    let left = graph.blocks.iter().flat_map(|b| &b.operations);
    let left: Vec<String> = left.map(|op| op.op.to_string()).collect();
    assert!(!left.iter().any(|op| op.contains("jit")), "{left:?}");
}

/// Graphs that are optimised first have their hints still, and the calls about which hints
/// say something.
#[test]
fn optimised_with_hints() {
    let bench = Bench::new(
        "
from rpython.rlib.jit import hint, elidable, dont_look_inside
class Pair(object):
    def __init__(self, a, b): self.a, self.b = a, b
def swap(p):
    return Pair(p.b, hint(p.a, promote=True))
@elidable
def twice(n): return n * 2
@dont_look_inside
def apart(n): return n * 3
def f(n):
    p = swap(Pair(n, n + 1))
    if p.a == 1: k = 10
    elif p.a == 5: k = 20
    elif p.a == 8: k = 40
    else: k = 7
    return k + p.b + twice(n) + apart(n)
",
        1,
    );
    let made = |inline, optimize| {
        let portal = bench.key(&bench.f);
        let stage = GraphStage::JitOptimized(JitPasses {
            inline,
            optimize,
            portal,
        });
        let program = StageProgram::new(&bench.db, bench.roots, stage);
        let graph = program.graph(&bench.f).expect("a graph");
        assert!(verify(&*graph).is_ok());
        for n in [-1, 0, 4, 7, 9] {
            let expected = bench.call(GraphStage::Rtyped, &[n]);
            assert_eq!(bench.call(stage, &[n]), expected, "{n}");
        }
        let all = graph.blocks.iter().flat_map(|b| &b.operations);
        let names: Vec<String> = all.map(|op| op.op.to_string()).collect();
        let count = |name: &str| names.iter().filter(|n| *n == name).count();
        let widest = graph.blocks.iter().map(|b| b.exits.len()).max();
        format!(
            "malloc {}, direct_call {}, hint {}, exits {}",
            count("malloc"),
            count("direct_call"),
            count("hint"),
            widest.unwrap_or(0)
        )
    };
    let all = [
        made(None, false),
        made(Some(1000), false),
        made(None, true),
        made(Some(1000), true),
    ];
    expect![[r#"
        malloc 1, direct_call 4, hint 0, exits 2
        malloc 2, direct_call 2, hint 1, exits 2
        malloc 1, direct_call 4, hint 0, exits 2
        malloc 0, direct_call 2, hint 1, exits 4"#]]
    .assert_eq(&all.join("\n"));
}
