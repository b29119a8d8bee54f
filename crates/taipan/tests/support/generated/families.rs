//! Random call families: functions, methods and constructors with other parameters, default values
//! and star parameters, called at the same places in many shapes.
//!
//! A call is written only if each callee takes it. All callees of a place are tried, so that a value
//! that comes from another function is seen.

use taipan_fuzz::Choices;

use crate::support::text::Text;

/// What a parameter is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Float,
    /// A string or None.
    Str,
    /// A `Point` or None.
    Object,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A parameter, with the default value that it may have.
#[derive(Clone)]
struct Param {
    name: &'static str,
    ty: Ty,
    default: Option<String>,
}

/// A function of a family. Methods have their self beside the parameters.
#[derive(Clone)]
struct Callee {
    params: Vec<Param>,
    /// Takes `*rest`, all integers.
    star: bool,
}

/// How members of a family are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Functions,
    Methods,
    BoundMethods,
    Classes,
}

const KINDS: [Kind; 5] = [
    Kind::Functions,
    Kind::Methods,
    Kind::Methods,
    Kind::BoundMethods,
    Kind::Classes,
];

/// How many families a program has.
const FAMILIES: usize = 6;

const HEAD: &str = "\
class State(object):
    pass
state = State()
state.zero = 0
state.real = 0.0
class Point(object):
    def __init__(self, n):
        self.n = n
POINTS = [Point(3), Point(5), Point(8)]
def of_text(s):
    return 7 if s is None else len(s)
def of_point(p):
    return 11 if p is None else p.n
def number(n): return state.zero + n
def real(x): return state.real + x
def text(n): return 'x' * number(n)
def point(n): return POINTS[number(n)]
";

/// A program that prints what its calls return.
pub(super) fn program(choices: Choices<'_>) -> String {
    let mut text = Text::new(choices, HEAD);
    for family in 0..FAMILIES {
        write_family(&mut text, family);
    }
    text.line("def entry_point(argv):");
    for family in 0..FAMILIES {
        text.line(&format!(
            "    for n in range(COUNT{family}): calls{family}(n)"
        ));
        text.line(&format!("    others{family}()"));
    }
    text.line("    return 0");
    super::target(&mut text);
    text.out
}

fn default_of(w: &mut Text<'_>, ty: Ty) -> String {
    match ty {
        Ty::Int => w.rng.between(-9..99_i64).to_string(),
        Ty::Float => w.pick(&["0.5", "2.0", "-1.25", "8.75"]).to_owned(),
        Ty::Str => w.pick(&["None", "''", "'s'", "'long'"]).to_owned(),
        Ty::Object => (w.pick(&["None", "POINTS[0]", "POINTS[1]"])).to_owned(),
    }
}

/// An argument that the compiler knows nothing of, or a constant.
fn argument(w: &mut Text<'_>, ty: Ty) -> String {
    if w.once_in(4) {
        return default_of(w, ty);
    }
    let n = w.rng.below(3);
    match ty {
        Ty::Int => format!("number({})", w.rng.between(-9..99_i64)),
        Ty::Float => format!("real({n}.5)"),
        Ty::Str => format!("text({n})"),
        Ty::Object => format!("point({n})"),
    }
}

/// The members of a family. Where the parameters are of several types, a name and a place stand for
/// one type in all members.
fn members(w: &mut Text<'_>) -> Vec<Callee> {
    let typed = w.once_in(2);
    let types: Vec<Ty> = (NAMES.iter())
        .map(|_| match typed {
            true => w.rng.of(&[Ty::Int, Ty::Float, Ty::Str, Ty::Object]),
            false => Ty::Int,
        })
        .collect();
    let count = w.rng.between(2..5_usize);
    let most = w.rng.between(1..5_usize);
    let mut all = Vec::new();
    for _ in 0..count {
        let mut order: Vec<usize> = (0..NAMES.len()).collect();
        if !typed && w.once_in(2) {
            w.rng.shuffle(&mut order);
        }
        let len = (most + w.rng.below(3)).min(NAMES.len());
        // With few that must be passed there are many ways to call all members.
        let plain = w.rng.below(3).min(len);
        let mut params = Vec::new();
        for (i, n) in order[..len].iter().enumerate() {
            let ty = types[*n];
            let default = (i >= plain).then(|| default_of(w, ty));
            let name = NAMES[*n];
            params.push(Param { name, ty, default });
        }
        let star = !typed && w.once_in(4);
        all.push(Callee { params, star });
    }
    all
}

/// The parameters as they are written, and what they come to.
fn signature(c: &Callee) -> String {
    let mut out: Vec<String> = Vec::new();
    for p in &c.params {
        out.push(match &p.default {
            Some(d) => format!("{}={d}", p.name),
            None => p.name.to_owned(),
        });
    }
    if c.star {
        out.push("*rest".to_owned());
    }
    out.join(", ")
}

fn body(w: &mut Text<'_>, c: &Callee) -> Vec<String> {
    let mut lines = vec![format!("n = {}", w.rng.between(1..999_i64))];
    for p in &c.params {
        let name = p.name;
        let value = match p.ty {
            Ty::Int => name.to_owned(),
            Ty::Float => format!("int({name} * 4.0)"),
            Ty::Str => format!("of_text({name})"),
            Ty::Object => format!("of_point({name})"),
        };
        lines.push(format!("n = (n * 31 + {value}) & 0xffffff"));
    }
    if c.star {
        lines.push("if len(rest) > 0: n = n * 3 + rest[0]".to_owned());
        lines.push("if len(rest) > 1: n = n * 5 + rest[1]".to_owned());
        lines.push("n += len(rest)".to_owned());
    }
    lines
}

/// How a call passes its arguments.
struct Shape {
    positional: usize,
    keywords: Vec<&'static str>,
    /// How many of the positional ones are items of a tuple.
    star: usize,
}

fn takes(c: &Callee, shape: &Shape) -> bool {
    if shape.positional > c.params.len() && !c.star {
        return false;
    }
    let by_name = |name: &&str| {
        (c.params.iter().position(|p| p.name == *name)).is_some_and(|i| i >= shape.positional)
    };
    let missing = (c.params.iter().skip(shape.positional))
        .any(|p| p.default.is_none() && !shape.keywords.contains(&p.name));
    shape.keywords.iter().all(by_name) && !missing
}

/// A call that all of these take.
fn shape(w: &mut Text<'_>, callees: &[&Callee]) -> Option<Shape> {
    for _ in 0..40 {
        let positional = w.rng.below(6);
        let mut keywords: Vec<&'static str> = NAMES.to_vec();
        w.rng.shuffle(&mut keywords);
        keywords.truncate(w.rng.below(4));
        let star = match w.once_in(3) {
            true => w.rng.below(positional + 1),
            false => 0,
        };
        let shape = Shape {
            positional,
            keywords,
            star,
        };
        if callees.iter().all(|c| takes(c, &shape)) {
            return Some(shape);
        }
    }
    None
}

/// The arguments of a call as they are written.
fn arguments(w: &mut Text<'_>, callees: &[&Callee], shape: &Shape) -> String {
    let longest = callees.iter().max_by_key(|c| c.params.len());
    let params = longest.map_or(&[][..], |c| &c.params);
    let mut out: Vec<String> = Vec::new();
    for i in 0..shape.positional {
        let ty = params.get(i).map_or(Ty::Int, |p| p.ty);
        out.push(argument(w, ty));
    }
    let items = out.split_off(shape.positional - shape.star);
    for name in &shape.keywords {
        let ty = (params.iter().find(|p| p.name == *name)).map_or(Ty::Int, |p| p.ty);
        let value = argument(w, ty);
        out.push(format!("{name}={value}"));
    }
    if !items.is_empty() {
        out.push(format!("*({},)", items.join(", ")));
    }
    out.join(", ")
}

fn write_family(w: &mut Text<'_>, family: usize) {
    let kind = w.rng.of(&KINDS);
    let members = members(w);
    for (i, c) in members.iter().enumerate() {
        write_member(w, kind, family, i, c);
    }
    let name = |i: usize| match kind {
        Kind::Functions => format!("f{family}_{i}"),
        Kind::Methods | Kind::BoundMethods => format!("C{family}_{i}()"),
        Kind::Classes => format!("C{family}_{i}"),
    };
    let all: Vec<String> = (0..members.len()).map(name).collect();
    w.line(&format!("FAMILY{family} = [{}]", all.join(", ")));
    w.line(&format!("COUNT{family} = len(FAMILY{family})"));
    w.line(&format!("def calls{family}(n):"));
    w.line(&format!("    x = FAMILY{family}[n]"));
    if kind == Kind::BoundMethods {
        w.line("    f = x.run");
    }
    let everyone: Vec<&Callee> = members.iter().collect();
    for _ in 0..w.rng.between(2..7_usize) {
        write_call(w, kind, &everyone, "    ");
    }
    w.line("    print ''");
    write_others(w, kind, family, &members);
}

fn write_member(w: &mut Text<'_>, kind: Kind, family: usize, i: usize, c: &Callee) {
    let signature = signature(c);
    let (def, result) = match kind {
        Kind::Functions => {
            w.line(&format!("def f{family}_{i}({signature}):"));
            w.indent += 1;
            for line in body(w, c) {
                w.line(&line);
            }
            w.line("return n");
            w.indent -= 1;
            return;
        }
        Kind::Methods | Kind::BoundMethods => ("run", "return n"),
        Kind::Classes => ("__init__", "self.n = n"),
    };
    let base = match i {
        0 => "object".to_owned(),
        _ => format!("C{family}_{}", w.rng.below(i)),
    };
    w.line(&format!("class C{family}_{i}({base}):"));
    w.line(&format!("    def {def}(self, {signature}):"));
    w.indent += 2;
    for line in body(w, c) {
        w.line(&line);
    }
    w.line(result);
    w.indent -= 2;
}

/// A call of what `x` may be.
fn write_call(w: &mut Text<'_>, kind: Kind, callees: &[&Callee], indent: &str) {
    let Some(shape) = shape(w, callees) else {
        return;
    };
    let arguments = arguments(w, callees, &shape);
    let call = match kind {
        Kind::Functions => format!("x({arguments})"),
        Kind::Methods => format!("x.run({arguments})"),
        Kind::BoundMethods => format!("f({arguments})"),
        Kind::Classes => format!("x({arguments}).n"),
    };
    w.line(&format!("{indent}print {call},"));
}

/// Calls that reach some members of a family: two of them, or one by its name.
fn write_others(w: &mut Text<'_>, kind: Kind, family: usize, members: &[Callee]) {
    w.line(&format!("def others{family}():"));
    for _ in 0..w.rng.below(4) {
        let (i, j) = (w.rng.below(members.len()), w.rng.below(members.len()));
        let reached: Vec<&Callee> = match kind {
            Kind::Functions | Kind::Classes => vec![&members[i], &members[j]],
            // Subclasses have methods of their own.
            Kind::Methods | Kind::BoundMethods => members.iter().collect(),
        };
        let (one, two) = match kind {
            Kind::Functions => (format!("f{family}_{i}"), format!("f{family}_{j}")),
            _ => (format!("C{family}_{i}"), format!("C{family}_{j}")),
        };
        for n in 0..2 {
            let made = match kind {
                Kind::Functions | Kind::Classes => {
                    format!("{one} if number({n}) else {two}")
                }
                Kind::Methods | Kind::BoundMethods => {
                    format!("FAMILY{family}[number({i})] if number({n}) else FAMILY{family}[{j}]")
                }
            };
            w.line(&format!("    x = {made}"));
            if kind == Kind::BoundMethods {
                w.line("    f = x.run");
            }
            write_call(w, kind, &reached, "    ");
        }
        // One member alone: no other may have a say in that.
        let alone = [&members[i]];
        if let Some(shape) = shape(w, &alone) {
            let arguments = arguments(w, &alone, &shape);
            let call = match kind {
                Kind::Functions => format!("{one}({arguments})"),
                Kind::Methods | Kind::BoundMethods => {
                    let comma = if arguments.is_empty() { "" } else { ", " };
                    format!("{one}.run(FAMILY{family}[{i}]{comma}{arguments})")
                }
                Kind::Classes => format!("{one}({arguments}).n"),
            };
            w.line(&format!("    print {call},"));
        }
    }
    w.line("    print ''");
}
