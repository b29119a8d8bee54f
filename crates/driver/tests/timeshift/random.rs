//! Random functions over objects, lists and fixed arrays that may be the same: residual
//! code computes what the interpreter does. A mistake in what is known of memory is a
//! wrong result without any other sign.

use std::fmt::Write as _;

use taipan_driver::{
    CallOutcome, Engine, JitPolicy, Splits, TimeshiftRequest, Timings, parse_literal, timeshift,
};
use taipan_fuzz::{Choices, Target};
use taipan_workbench::Workbench;

const PRELUDE: &str = "
from rpython.rlib.jit import hint, dont_look_inside, elidable
class Base(object):
    def __init__(self, x):
        self.x = x
        self.y = 3
        self.items = [x, 1, 2]
        self.next = None
class Sub(Base):
    pass
class Other(object):
    def __init__(self, x):
        self.x = x
class Kept(object):
    cell = Base(0)
    list = [1, 2, 3]
kept = Kept()
@dont_look_inside
def keep(c, l):
    kept.cell = c
    kept.list = l
@dont_look_inside
def kept_cell():
    return kept.cell
@dont_look_inside
def kept_list():
    return kept.list
@dont_look_inside
def writes_x(c, n):
    c.x = n
@dont_look_inside
def reads(c):
    return c.x * 3 + c.y
@dont_look_inside
def writes_items(l, n):
    l[n & 1] = n
@elidable
def pure(n):
    return n ^ 21
def inside(c, n):
    c.y = n
    return c.x
";

const VIRTUALIZABLE: &str = "    _virtualizable_ = ['x', 'next', 'items[*]']\n";

/// Statements on cells `a`, `b`, `c`, lists `l`, `m` and numbers `i`, `j`, `k`.
fn statement(r: &mut Choices<'_>, depth: u32, indent: usize, out: &mut String) {
    let pad = "    ".repeat(indent);
    let cell = r.of(&["a", "b", "c"]);
    let other = r.of(&["a", "b", "c"]);
    let list = r.of(&["l", "m"]);
    let list2 = r.of(&["l", "m"]);
    let n = r.of(&["i", "j", "k", "1", "2"]);
    let to = r.of(&["i", "j", "k"]);
    let field = r.of(&["x", "y"]);
    let at = r.of(&["0", "1", "2", "i & 1", "j & 1"]);
    let line = match r.below(if depth > 2 { 24 } else { 28 }) {
        0..=2 => format!("{cell}.{field} = {n}"),
        3..=5 => format!("{to} += {cell}.{field}"),
        6 => format!("{cell} = {other}"),
        7 => format!("{cell} = Base({n})"),
        8 => format!("{cell} = Sub({n})"),
        9 => format!("{list} = [{n}, i, j]"),
        10 | 11 => format!("{list}[{at}] = {n}"),
        12 | 13 => format!("{to} += {list}[{at}]"),
        14 => format!("{list} = {list2}"),
        15 => format!("{cell}.items[{at}] = {n}"),
        16 => format!("{to} += {cell}.items[{at}]"),
        17 => format!("{list} = {cell}.items"),
        18 => format!("{cell}.next = {other}"),
        19 => format!("if {cell}.next is not None: {to} += {cell}.next.x"),
        20 => r
            .of(&[
                "keep(a, l)",
                "keep(b, m)",
                "writes_x(a, k)",
                "writes_x(b, 5)",
                "i += reads(a)",
                "j += reads(c)",
                "writes_items(l, i)",
                "writes_items(m, 7)",
                "k += pure(i)",
                "k += inside(a, i)",
                "a.items = m",
            ])
            .to_owned(),
        21 => r
            .of(&["c = kept_cell()", "m = kept_list()", "b = kept.cell"])
            .to_owned(),
        22 => format!("{to} = ({to} * 3 + {n}) & 0xffff"),
        23 => format!("if {cell} is {other}: {to} += 1"),
        24 | 25 => {
            let _ = writeln!(out, "{pad}if {n} & {}:", 1 + r.below(4));
            block(r, depth + 1, indent + 1, out);
            if r.below(2) == 0 {
                let _ = writeln!(out, "{pad}else:");
                block(r, depth + 1, indent + 1, out);
            }
            return;
        }
        _ => {
            let v = format!("t{indent}");
            let _ = writeln!(out, "{pad}{v} = {}", 1 + r.below(4));
            let _ = writeln!(out, "{pad}while {v} > 0:");
            let _ = writeln!(out, "{pad}    {v} -= 1");
            block(r, depth + 1, indent + 1, out);
            return;
        }
    };
    let _ = writeln!(out, "{pad}{line}");
}

fn block(r: &mut Choices<'_>, depth: u32, indent: usize, out: &mut String) {
    for _ in 0..2 + r.below(6) {
        statement(r, depth, indent, out);
    }
}

fn program(r: &mut Choices<'_>) -> String {
    let mut out = PRELUDE.to_owned();
    if r.bool() {
        let class = "class Base(object):\n";
        out = out.replace(class, &format!("{class}{VIRTUALIZABLE}"));
    }
    out.push_str("def f(i, j, k):\n    a = Base(i)\n    b = Sub(j)\n    keep(b, b.items)\n");
    out.push_str("    c = kept_cell()\n    l = kept_list()\n    m = [i, j, k]\n");
    for _ in 0..12 {
        statement(r, 0, 1, &mut out);
    }
    out.push_str("    r = a.x + b.x * 5 + c.x * 7 + a.y * 11 + b.y * 13 + c.y * 17\n");
    out.push_str("    r += l[0] + l[1] * 3 + l[2] * 5 + m[0] * 7 + m[1] * 9 + m[2] * 19\n");
    out.push_str("    r += a.items[0] * 23 + a.items[1] * 29 + a.items[2] * 31\n");
    out.push_str("    d = kept.cell\n    n = kept.list\n");
    out.push_str("    r += d.x * 37 + d.y * 41 + n[0] + n[1] * 2 + d.items[2]\n");
    out.push_str("    return r + i * 43 + j * 47 + k * 53\n");
    out
}

#[test]
fn residual_code_computes_the_same() {
    let policies = [
        (false, Splits::Eager),
        (true, Splits::Eager),
        (true, Splits::Lazy),
    ];
    let policies = policies.map(|(heap_cache, splits)| {
        let policy = JitPolicy {
            heap_cache,
            ..JitPolicy::default()
        };
        (policy, splits)
    });
    let target = Target::new("residual-code").cases(12).bytes(2048);
    target.run(|choices| {
        let source = program(choices);
        let bench = Workbench::of(&source);
        for args in [["0", "1", "2"], ["5", "2", "9"], ["3", "3", "4"]] {
            let want = match bench.call("f", &args, Engine::LLInterp) {
                Ok(CallOutcome::Returned(v)) => v,
                other => panic!("it does not run: {other:?}\n{source}"),
            };
            for (policy, splits) in &policies {
                let request = TimeshiftRequest {
                    file: "/main.py".into(),
                    func: "f".to_owned(),
                    args: args.iter().map(|a| parse_literal(a)).collect(),
                    is_static: Vec::new(),
                    portal: None,
                    engine: Engine::LLInterp,
                    policy: policy.clone(),
                    splits: *splits,
                    inline: None,
                    optimize: false,
                };
                let got = timeshift(&bench.db, &bench.options, &request, &mut Timings::default());
                match got {
                    Ok(got) if got.result == Ok(want.clone()) => {}
                    Ok(got) => panic!(
                        "{args:?}, {policy:?}, {splits:?}: {:?}, not {want:?}\n{source}",
                        got.result
                    ),
                    Err(e) => {
                        panic!("{args:?}, {policy:?}, {splits:?}: {e:?}\n{source}")
                    }
                }
            }
        }
    });
}
