use expect_test::{Expect, expect};

use super::fixture;

fn check(text: &str, expected: Expect) {
    let f = fixture(text);
    let shown = match crate::hover(&f.db, &f.workspace, f.position) {
        None => "nothing\n".to_owned(),
        Some(h) => {
            let source = f.position.file.text(&f.db);
            let about = &source[h.range.start as usize..h.range.end as usize];
            let mut out = format!("[{about}]\n");
            for line in h.code.iter().chain(&h.notes) {
                out.push_str(line);
                out.push('\n');
            }
            out
        }
    };
    expected.assert_eq(&shown);
}

const PROGRAM: &str = "
class A(object):
    def __init__(self, x):
        self.x = x
        self.items = []
    def get(self, n):
        for i in range(n):
            if i > 3:
                self.items.append(i)
        total = self.x + n
        return 'a' * total
class B(A):
    def get(self, n):
        return 'b%d' % n
TABLE = [1, 2, 3]
def make(flag):
    \"\"\"Makes one.

    More.
    \"\"\"
    if flag:
        r = A(3)
    else:
        r = B(4)
    return r
def entry_point(argv):
    obj = make(len(argv) > 1)
    y = obj.get(TABLE[len(argv)])
    print y
    return 0
";

/// The program with the cursor in front of the nth occurrence of a text.
fn at(wanted: &str, nth: usize) -> String {
    let (place, _) = PROGRAM.match_indices(wanted).nth(nth).unwrap();
    format!("{}$0{}", &PROGRAM[..place], &PROGRAM[place..])
}

#[test]
fn variables() {
    check(
        &at("total", 0),
        expect![[r#"
        [total]
        total: SomeInteger(nonneg)
        `IntegerRepr`, low-level type `Signed`
    "#]],
    );
    check(
        &at("total", 1),
        expect![[r#"
        [total]
        total: SomeInteger(nonneg)
        `IntegerRepr`, low-level type `Signed`
    "#]],
    );
    check(
        &at("i > 3", 0),
        expect![[r#"
        [i]
        i: SomeInteger(nonneg)
        `IntegerRepr`, low-level type `Signed`
    "#]],
    );
    check(
        &at("flag", 0),
        expect![[r#"
        [flag]
        flag: SomeBool
        `BoolRepr`, low-level type `Bool`
    "#]],
    );
    check(
        &at("flag", 1),
        expect![[r#"
        [flag]
        flag: SomeBool
        `BoolRepr`, low-level type `Bool`
    "#]],
    );
    check(
        &at("r = A", 0),
        expect![[r#"
        [r]
        r: SomeInstance(A)
        `InstanceRepr`, low-level type `*GcStruct main.A`
    "#]],
    );
    check(
        &at("r = B", 0),
        expect![[r#"
        [r]
        r: SomeInstance(B)
        `InstanceRepr`, low-level type `*GcStruct main.B`
    "#]],
    );
    check(
        &at("return r", 0).replace("$0return r", "return $0r"),
        expect![[r#"
        [r]
        r: SomeInstance(A)
        `InstanceRepr`, low-level type `*GcStruct main.A`
    "#]],
    );
    check(
        &at("argv", 0),
        expect![[r#"
        [argv]
        argv: SomeList[SomeString(no_nul)](resized, mutated)
        `ListRepr`, low-level type `*GcStruct list`
    "#]],
    );
    check(
        &at("y\n", 0),
        expect![[r#"
        [y]
        y: SomeString(no_nul)
        `StringRepr`, low-level type `*GcStruct rpy_string`
    "#]],
    );
}

#[test]
fn attributes_and_methods() {
    check(
        &at("x + n", 0),
        expect![[r#"
        [x]
        A.x: SomeInteger(nonneg)
        `IntegerRepr`, low-level type `Signed`
        declared in `A`
    "#]],
    );
    check(
        &at("x = x", 0),
        expect![[r#"
        [x]
        A.x: SomeInteger(nonneg)
        `IntegerRepr`, low-level type `Signed`
        declared in `A`
    "#]],
    );
    check(
        &at("items.append", 0),
        expect![[r#"
        [items]
        A.items: SomeList[SomeInteger(nonneg)](resized, mutated)
        `ListRepr`, low-level type `*GcStruct list`
        declared in `A`
    "#]],
    );
    check(
        &at("append", 0),
        expect![[r#"
        [append]
        append: SomeBuiltinMethod[SomeList[SomeInteger(nonneg)](resized, mutated)](append)
        `BuiltinMethodRepr`, low-level type `*GcStruct list`
    "#]],
    );
    check(
        &at("get(TABLE", 0),
        expect![[r#"
        [get]
        def A.get(self: SomeInstance(A), n: SomeInteger(nonneg)) -> SomeString(no_nul)
        low-level `(*GcStruct main.A, Signed) -> *GcStruct rpy_string`
    "#]],
    );
    check(
        &at("get(self", 1),
        expect![[r#"
        [get]
        def B.get(self: SomeInstance(A), n: SomeInteger(nonneg)) -> SomeString(no_nul)
        low-level `(*GcStruct main.A, Signed) -> *GcStruct rpy_string`
    "#]],
    );
}

#[test]
fn globals() {
    check(
        &at("make(len", 0),
        expect![[r#"
        [make]
        def make(flag: SomeBool) -> SomeInstance(A)
        low-level `(Bool) -> *GcStruct main.A`
        Makes one.
    "#]],
    );
    check(
        &at("make(flag", 0),
        expect![[r#"
        [make]
        def make(flag: SomeBool) -> SomeInstance(A)
        low-level `(Bool) -> *GcStruct main.A`
        Makes one.
    "#]],
    );
    check(
        &at("A(3)", 0),
        expect![[r#"
        [A]
        class A(object)
            items: SomeList[SomeInteger(nonneg)](resized, mutated)
            x: SomeInteger(nonneg)
        layout `{inst_items: *GcStruct list, inst_x: Signed}`
    "#]],
    );
    check(
        &at("B(A)", 0),
        expect![[r#"
        [B]
        class B(A)
        adds no fields
    "#]],
    );
    check(
        &at("TABLE[", 0),
        expect![[r#"
        [TABLE]
        TABLE: prebuilt list of 3
    "#]],
    );
    check(
        &at("range", 0),
        expect![[r#"
        [range]
        builtin range
    "#]],
    );
}

#[test]
fn expressions() {
    check(
        &at("+ n", 0),
        expect![[r#"
        [self.x + n]
        SomeInteger(nonneg)
        `IntegerRepr`, low-level type `Signed`
    "#]],
    );
    check(
        &at("* total", 0),
        expect![[r#"
        ['a' * total]
        SomeString(no_nul)
        `StringRepr`, low-level type `*GcStruct rpy_string`
    "#]],
    );
    check(
        &at("> 1", 0),
        expect![[r#"
        [len(argv) > 1]
        SomeBool
        `BoolRepr`, low-level type `Bool`
    "#]],
    );
    check(
        &at("[1, 2, 3]", 0),
        expect![[r#"
        nothing
    "#]],
    );
}

const INTERPRETER: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc', 'code'], reds=['total', 'n'])
class Code(object):
    _immutable_fields_ = ['text', 'steps[*]']
    def __init__(self, text, steps):
        self.text = text
        self.steps = steps
def step_of(code, pc):
    size = code.steps[pc]
    return size
def run(code, n):
    pc = total = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, total=total, n=n)
        op = code.text[pc]
        count = step_of(code, pc)
        if op == '+':
            total += n
        elif op == '-':
            total -= count
        elif op == '<':
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, total=total, n=n)
                continue
        else:
            return total
        pc += 1
def entry_point(argv):
    other = len(argv)
    return run(Code('+-<.', [1, 2, 1, other]), other)
def target(driver, args):
    return entry_point, None
";

/// What is known of a variable of an interpreter while its loops are compiled, and why not.
#[test]
fn colors_of_an_interpreter() {
    let mut shown = String::new();
    for (wanted, nth) in [
        ("op ==", 0),
        ("pc += 1", 0),
        ("count\n", 0),
        ("size = ", 0),
        ("total += n", 0),
        ("n > 0", 0),
        ("other = ", 0),
    ] {
        let (place, _) = INTERPRETER.match_indices(wanted).nth(nth).unwrap();
        let text = format!("{}$0{}", &INTERPRETER[..place], &INTERPRETER[place..]);
        let f = fixture(&text);
        let hover = crate::hover(&f.db, &f.workspace, f.position).unwrap();
        assert!(!hover.notes.iter().any(|n| n.contains("green")));
        let colors = hover.colored.map(|c| c.notes(&f.db)).unwrap_or_default();
        let color = colors.first().map_or("no color", |n| &**n);
        shown += &format!("{wanted:?}: {color}\n");
    }
    expect![[r#"
        "op ==": green: known while compiling
        "pc += 1": green: known while compiling
        "count\n": green: known while compiling
        "size = ": green: known while compiling
        "total += n": red: argument `total` of portal of main.run
        "n > 0": red: argument `n` of portal of main.run
        "other = ": no color
    "#]]
    .assert_eq(&shown);
}

/// An interpreter with a chain of calls, in each of which every value is red on account of the one
/// before: paths are as long as the chain, in each of many variables.
fn chain(calls: usize) -> String {
    let mut text = String::from(
        "from rpython.rlib.jit import JitDriver\n\
         driver = JitDriver(greens=['pc'], reds=['value'])\n",
    );
    for n in (0..calls).rev() {
        let next = match n + 1 {
            last if last == calls => "sum".to_owned(),
            next => format!("step{next}(sum)"),
        };
        text += &format!("def step{n}(value{n}):\n    sum = value{n} + {n}\n    return {next}\n");
    }
    text += "\
def run(value):
    pc = 0
    while pc < 10:
        driver.jit_merge_point(pc=pc, value=value)
        value = step0(value)
        pc += 1
    return value
def entry_point(argv):
    return run(len(argv))
def target(driver, args):
    return entry_point, None
";
    text
}

#[test]
fn paths_of_colors_are_bounded() {
    const CALLS: usize = 250;
    let text = chain(CALLS);
    let place = text.find("sum = value249").unwrap();
    let f = fixture(&format!("{}$0{}", &text[..place], &text[place..]));
    let hover = crate::hover(&f.db, &f.workspace, f.position).unwrap();
    assert_eq!(hover.code, ["sum: SomeInteger(nonneg)"]);
    let colors = hover.colored.unwrap().notes(&f.db);
    let path: Vec<&str> = colors[0].split(", from ").collect();
    assert_eq!(path.len(), 13, "{path:?}");
    assert!(
        path[0].starts_with("red: `sum` = int_add in step249"),
        "{path:?}"
    );
    assert!(path[1].starts_with("argument `value249`"), "{path:?}");
    assert_eq!(path.last(), Some(&"further values"));
}
