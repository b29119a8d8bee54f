//! Programs with many mistakes: each is told at once, and nothing that follows from one.

use std::collections::BTreeSet;
use std::process::Command;

use expect_test::expect;

use crate::support::told;

#[path = "support/mistakes.rs"]
mod support;

#[test]
fn thirteen_in_one_function() {
    told(
        r#"#- main.py
import os

class Parser(object):
    def __init__(self, text):
        self.text = text

    def next_token(self):
        return self.text[0]

def two(a, b):
    return a + b

def work(n, text):
    a = unknown
    b = [1].appnd(n)
    c = os.getcwdd()
    d = two(n)
    e = {n, 1}
    f = n ** 2
    g = n()
    h = text + n
    i = Parser(text).next_tokenn()
    j = 1 + "a"
    k = text.upperr()
    l = n.real
    print a, b, c, d, e, f, g, h, i, j, k, l
    for x in n:
        print x
    return a.b + c.d(e.f) + k.g

def entry_point(argv):
    work(len(argv), argv[0])
    return 0
"#,
        expect![[r#"
            main.py:14 TP0222 name `unknown` is not defined
            main.py:15 TP0301 a list has no attribute `appnd`
                did you mean `append`?
            main.py:16 TP0223 module os has no attribute `getcwdd`
                did you mean `getcwd`?
            main.py:17 TP0304 two() takes exactly 2 arguments (1 given)
            main.py:18 TP0220 a set is not RPython
                use a dict whose values are None
            main.py:19 TP0220 a ** b is not RPython
                multiply, or use `math.pow()`, which works on floats
            main.py:20 TP0302 cannot call an int
            main.py:21 TP0303 `+` of a str and an int is not RPython
                make a string of the number with `str()`, or use `%`, as in `"%d" % n`
            main.py:22 TP0301 an instance of main.Parser has no attribute `next_tokenn`
                did you mean `next_token`?
            main.py:23 TP0223 `1 + 'a'` always raises TypeError: unsupported operand type(s) for +: 'int' and 'str'
            main.py:24 TP0301 a str has no attribute `upperr`
                did you mean `upper`?
            main.py:25 TP0301 an int has no attribute `real`
            main.py:27 TP0303 an int is not iterable
                count with `range(n)`
        "#]],
    );
}

#[test]
fn fourteen_of_all_kinds() {
    told(
        r#"#- helper.py
import missing_module

LIMIT = {"a": 1}["b"]

def helped(n):
    return n + 1
#- main.py
import helper
from nowhere import thing

def broken(a):
    return a +

class Shape(object):
    def area(self):
        return 1

class Circle(Shape):
    pass

def names():
    return undefined_one

def arguments(n):
    return names(n)

def attributes(shape):
    return shape.arae()

def conflict(flag):
    if flag:
        return 1
    return "one"

def state():
    global COUNTER
    COUNTER = 1

def calls(argv):
    return argv()

def powers(n):
    return n ** n

def inner(n):
    import not_there
    return not_there.f(n)

def types(n):
    return "n" + n

def format(n):
    return n.text

def entry_point(argv):
    n = helper.helped(len(argv))
    names()
    arguments(n)
    attributes(Circle())
    conflict(n > 1)
    state()
    calls(argv)
    powers(n)
    inner(n)
    types(n)
    format(n)
    thing(n)
    broken(n)
    return len(argv)
"#,
        expect![[r#"
            main.py:5 TP0001 expected an expression
            helper.py:1 TP0201 ImportError: No module named missing_module
            helper.py:3 TP0201 KeyError: 'b'
            main.py:2 TP0201 ImportError: No module named nowhere
            main.py:15 TP0222 name `undefined_one` is not defined
            main.py:18 TP0304 names() takes no arguments (1 given)
            main.py:21 TP0301 an instance of main.Circle has no attribute `arae`
                did you mean `area`?
            main.py:26 TP0300 the result of conflict() mixes an int and a str
                keep the kinds apart, or wrap each in a class with a common base
            main.py:30 TP0221 the global variable `COUNTER` is modified
                globals are constants: keep what changes in an attribute of a global object
            main.py:33 TP0302 cannot call a list
            main.py:36 TP0220 a ** b is not RPython
                multiply, or use `math.pow()`, which works on floats
            main.py:39 TP0227 ImportError: No module named not_there
            main.py:43 TP0303 `+` of a str and an int is not RPython
                make a string of the number with `str()`, or use `%`, as in `"%d" % n`; the number of a character is `ord(c)`
            main.py:46 TP0301 an int has no attribute `text`
        "#]],
    );
}

#[test]
fn what_an_unreached_raise_would_have_set_is_not_told() {
    told(
        r#"#- main.py
class ParseError(Exception):
    def __init__(self, line):
        self.line = line

class Parser(object):
    def __init__(self, text):
        self.text = text
        self.line = 1

    def peek(self):
        return self.text[0]

    def parse(self):
        if self.peeek() == "x":
            raise ParseError(self.line)
        return 1

def entry_point(argv):
    try:
        return Parser(argv[0]).parse()
    except ParseError as e:
        print e.line
        return 1
"#,
        expect![[r#"
            main.py:14 TP0301 an instance of main.Parser has no attribute `peeek`
                did you mean `peek`?
        "#]],
    );
}

#[test]
fn an_open_bracket_is_all_that_is_told() {
    told(
        r#"#- main.py
class Point(object):
    def __init__(self, x, y):
        self.x = two(x, [1, 2)
        self.y = y

    def norm(self):
        return self.x + self.y

def two(a, b):
    return a

def entry_point(argv):
    return Point(1, 2).norm()
"#,
        expect![[r#"
            main.py:3 TP0001 `)` does not close the `[` before it
        "#]],
    );
}

#[test]
fn paths_below_the_current_folder_are_relative() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("lib")).unwrap();
    std::fs::write(root.join("lib/main.py"), "import helper\n").unwrap();
    std::fs::write(root.join("lib/helper.py"), "import nothing\n").unwrap();
    let places = |at: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command
            .current_dir(root.join(at))
            .args(["check", "--no-cache"]);
        let out = command.args(args).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        let lines = said.lines().filter_map(|l| l.split_once("> "));
        let files = lines.map(|(_, place)| place.split_once(':').unwrap().0);
        files.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let absolute = root.join("lib/main.py");
    let absolute = absolute.to_str().unwrap();
    let set = |paths: [&str; 2]| BTreeSet::from(paths.map(str::to_owned));
    let below = ["lib/helper.py", "lib/main.py"];
    assert_eq!(places("", &["lib/main.py"]), set(below));
    assert_eq!(places("", &[absolute]), set(below));
    assert_eq!(places("lib", &["main.py"]), set(["helper.py", "main.py"]));
    // Elsewhere only the whole path says where it is.
    std::fs::create_dir(root.join("other")).unwrap();
    let outside = below.map(|p| format!("{}/{p}", root.display()));
    let outside = BTreeSet::from(outside);
    assert_eq!(places("other", &[absolute]), outside);
}

#[test]
fn a_module_of_several_targets_is_told_of_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "lib.py",
        "import nothing\ndef f(n):\n    return n.upper()\n",
    );
    for name in ["a.py", "b.py"] {
        write(
            name,
            "import lib\ndef entry_point(argv):\n    return lib.f(len(argv))\n",
        );
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command
        .current_dir(folder.path())
        .args(["check", "--no-cache"]);
    let out = command.output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    let seconds = regex::Regex::new(r" in \d+\.\d\d s").unwrap();
    let said = seconds.replace(&said, " in T s");
    let errors: Vec<&str> = said.lines().filter(|l| l.contains("error")).collect();
    expect![[r#"
        error[TP0201]: ImportError: No module named nothing
        error[TP0301]: an int has no attribute `upper`
        checked 3 files in T s: 2 errors"#]]
    .assert_eq(&errors.join("\n"));
}

/// A module whose names are misspelt.
const MOD: &str = r#"#- mod.py
LIMIT = 3
def name(n):
    return n
class Box(object):
    size = 3
    def width(self):
        return 1
"#;

#[test]
fn similar_names_while_the_program_loads() {
    let main = r#"#- main.py
import mdo
import rpython.rlib.rarithmetik
import subproces
from mod import nmae
from mod import Box
import mod
box = Box()
X = Box.siez
Y = mod.LIMTI
Z = lenn([])
Q = box.widht()
W = nothing_like_it
"#;
    told(
        &format!("{MOD}{main}"),
        expect![[r#"
        main.py:1 TP0201 ImportError: No module named mdo
            did you mean `mod`?
        main.py:2 TP0201 ImportError: No module named rarithmetik
            did you mean `rarithmetic`?
        main.py:3 TP0201 ImportError: No module named subproces
            did you mean `subprocess`?
        main.py:4 TP0201 ImportError: cannot import name nmae
            did you mean `name`?
        main.py:8 TP0201 AttributeError: type object 'Box' has no attribute 'siez'
            did you mean `size`?
        main.py:9 TP0201 AttributeError: 'module' object has no attribute 'LIMTI'
            did you mean `LIMIT`?
        main.py:10 TP0201 NameError: name 'lenn' is not defined
            did you mean `len`?
        main.py:11 TP0201 AttributeError: 'Box' object has no attribute 'widht'
            did you mean `width`?
        main.py:12 TP0201 NameError: name 'nothing_like_it' is not defined
    "#]],
    );
}

#[test]
fn similar_names_in_functions() {
    let main = r#"#- main.py
import os
import mod
def f(width, height=1):
    return width
class Shape(object):
    def __init__(self):
        self.colour = 1
    def area(self):
        return 1
def entry_point(argv):
    counter = 1
    print mod.nmae(1)
    print mod.Box.siez
    print lenn(argv)
    print cuonter
    print os.getcwdd()
    from mod import nmae
    import mdo
    from rpython.rlib.rarithmetik import x
    f(widht=1)
    shape = Shape()
    print shape.color, shape.aera(), argv.appned(1), argv[0].joim
    return mod.nothing_like_it
"#;
    told(
        &format!("{MOD}{main}"),
        expect![[r#"
            main.py:12 TP0223 module mod has no attribute `nmae`
                did you mean `name`?
            main.py:13 TP0223 class mod.Box has no attribute `siez`
                did you mean `size`?
            main.py:14 TP0222 name `lenn` is not defined
                did you mean `len`?
            main.py:15 TP0222 name `cuonter` is not defined
                did you mean `counter`?
            main.py:16 TP0223 module os has no attribute `getcwdd`
                did you mean `getcwd`?
            main.py:17 TP0227 cannot import name `nmae`
                did you mean `name`?
            main.py:18 TP0227 ImportError: No module named mdo
                did you mean `mod`?
            main.py:19 TP0227 ImportError: No module named rarithmetik
                did you mean `rarithmetic`?
            main.py:20 TP0304 f() has no argument `widht`
                did you mean `width`?
            main.py:22 TP0301 an instance of main.Shape has no attribute `color`
                did you mean `colour`?
            main.py:22 TP0301 an instance of main.Shape has no attribute `aera`
                did you mean `area`?
            main.py:22 TP0301 a list has no attribute `appned`
                did you mean `append`?
            main.py:22 TP0301 a str has no attribute `joim`
                did you mean `join`?
            main.py:23 TP0223 module mod has no attribute `nothing_like_it`
        "#]],
    );
}

#[test]
fn functions_with_closures_or_tags_hide_nothing() {
    told(
        r#"#- main.py
from rpython.rlib.objectmodel import not_rpython

def outer(n, m):
    def add(x):
        return x + n
    return m.foo + add(1)

@not_rpython
def tagged(n):
    return n.anything

def entry_point(argv):
    outer(len(argv), 1)
    n = tagged(len(argv))
    n.more()
    return argv.bar
"#,
        expect![[r#"
            main.py:5 TP0225 an inner function uses the variable `n` of outer()
                functions that run cannot make closures: pass the value as an argument, or keep it in an attribute of an object
            main.py:6 TP0301 an int has no attribute `foo`
            main.py:9 TP0228 tagged is tagged as not RPython
            main.py:16 TP0301 a list has no attribute `bar`
        "#]],
    );
}

#[test]
fn generators_with_mistakes_hide_nothing() {
    told(
        r#"#- main.py
def closure(n, m):
    def inner():
        return n
    yield inner()
    print [1].appnd(m)
    yield "a" + 1

def typo(n):
    yield n + unknown
    print [1].appnd(n)

def entry_point(argv):
    for x in closure(1, 2):
        print x
    for x in typo(1):
        print x
    return argv.bar
"#,
        expect![[r#"
            main.py:3 TP0225 an inner function uses the variable `n` of closure()
                functions that run cannot make closures: pass the value as an argument, or keep it in an attribute of an object
            main.py:5 TP0301 a list has no attribute `appnd`
                did you mean `append`?
            main.py:6 TP0223 `'a' + 1` always raises TypeError: cannot concatenate 'str' and 'int' objects
            main.py:9 TP0222 name `unknown` is not defined
            main.py:10 TP0301 a list has no attribute `appnd`
                did you mean `append`?
            main.py:17 TP0301 a list has no attribute `bar`
        "#]],
    );
}

#[test]
fn coroutines_are_told_of_once() {
    told(
        r#"#- main.py
async def answer():
    return 42

async def more(n):
    async with n as f:
        return await answer()

def entry_point(argv):
    await = 3
    return await
"#,
        expect![[r#"
            main.py:1 TP0001 `async` is Python 3 syntax
                write an ordinary function: there are generators and threads, but no coroutines
            main.py:4 TP0001 `async` is Python 3 syntax
                write an ordinary function: there are generators and threads, but no coroutines
            main.py:5 TP0001 `async` is Python 3 syntax
                write an ordinary function: there are generators and threads, but no coroutines
            main.py:6 TP0001 `await` is Python 3 syntax
                write an ordinary function: there are generators and threads, but no coroutines
        "#]],
    );
}

/// None is what is left of the exit code if what assigns it is not reached.
#[test]
fn an_exit_code_that_another_mistake_keeps_away() {
    let program = |call: &str, result: &str| {
        format!(
            r#"#- main.py
class Run(object):
    def __init__(self):
        self.code = None

    def start(self):
        self.code = Code()

class Code(object):
    pass

def entry_point(argv):
    run = Run()
    {call}
    return {result}
"#
        )
    };
    told(
        &program("run.start(1)", "run.code"),
        expect![[r#"
        main.py:13 TP0304 start() takes exactly 1 argument (2 given)
    "#]],
    );
    // None is written there, whatever else is wrong.
    told(
        &program("run.start(1)", "None"),
        expect![[r#"
        main.py:11 TP0316 the entry point returns None, not an integer
            return 0 at the end
        main.py:13 TP0304 start() takes exactly 1 argument (2 given)
    "#]],
    );
    told(
        &program("pass", "run.code"),
        expect![[r#"
        main.py:11 TP0316 the entry point returns None, not an integer
            return 0 at the end
    "#]],
    );
}

/// What prebuilt lists and dicts hold has to be usable, even if other items are.
#[test]
fn items_of_prebuilt_containers() {
    told(
        r#"#- main.py
class Node(object):
    size = 1 << 70

LIST = [1, 1 << 64]
DICT = {'a': [0], 'b': [set([1])]}
UNUSED = [set([1])]

def entry_point(argv):
    print LIST[len(argv)]
    print DICT[argv[0]][0]
    return 0
"#,
        expect![[r#"
            main.py:9 TP0314 long constant 18446744073709551616 does not fit an int
                while the program loads, make an `r_uint` of it, or an `rbigint` of rpython.rlib.rbigint
            main.py:10 TP0314 a set is no RPython value
                use a dict whose values are None
        "#]],
    );
    told(
        r#"#- main.py
class Node(object):
    size = 1 << 70

def entry_point(argv):
    print Node().size
    return 0
"#,
        expect![[r#"
            main.py:5 TP0314 long constant 1180591620717411303424 does not fit an int
                while the program loads, make an `r_uint` of it, or an `rbigint` of rpython.rlib.rbigint
        "#]],
    );
}

#[test]
fn values_that_never_come() {
    let program = |body: &str| {
        format!(
            r#"#- main.py
class Node(object):
    def __init__(self):
        self.nodes = []
        self.names = {{}}

def fails(n):
    raise ValueError(n)

def entry_point(argv):
    node = Node()
    n = len(argv)
    pair = (n, argv)
    {body}
    return 0
"#
        )
    };
    told(
        &program("print node.nodes[n]"),
        expect![[r#"
        main.py:13 TP0311 this list is always empty: nothing puts an item into it
            append to it, or leave the operation out
    "#]],
    );
    told(
        &program("print node.names[argv[0]]"),
        expect![[r#"
        main.py:13 TP0311 this dict is always empty: nothing puts an item into it
            assign to an item, or leave the operation out
    "#]],
    );
    told(
        &program("print pair[2]"),
        expect![[r#"
        main.py:13 TP0311 a tuple of 2 has no item 2
    "#]],
    );
    told(
        &program("print node.nodes.pop().names"),
        expect![[r#"
        main.py:12 TP0021 variable `pair` gets a value, and nothing uses it
            leave the variable out, or name it `_`
    "#]],
    );
}

#[test]
fn paths_in_what_commands_say_are_relative() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.py");
    let taipan = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        let out = command.current_dir(folder.path()).args(args).output();
        let out = out.unwrap();
        String::from_utf8(out.stdout).unwrap() + &String::from_utf8(out.stderr).unwrap()
    };
    std::fs::write(&main, "def entry_point(argv):\n    return 0\n").unwrap();
    assert_eq!(
        taipan(&["call", "main.py:nothing"]),
        "taipan: main.py: the module has no function `nothing` [TP0213]\n"
    );
}

/// As in code that is translated: an argument that the function does not have.
#[test]
fn keywords_that_no_parameter_has() {
    told(
        r#"#- main.py
def scaled(n, factor=2, offset=0):
    return n * factor + offset

class Box(object):
    def __init__(self, width):
        self.width = width

A = scaled(1, fcator=3)
B = Box(widht=3)
C = scaled(1, factor=3, facto=4)
D = scaled(1, unlike_any=3)

def entry_point(argv):
    return scaled(len(argv), ofset=3)
"#,
        expect![[r#"
            main.py:8 TP0201 TypeError: scaled() got an unexpected keyword argument 'fcator'
                did you mean `factor`?
            main.py:9 TP0201 TypeError: __init__() got an unexpected keyword argument 'widht'
                did you mean `width`?
            main.py:10 TP0201 TypeError: scaled() got an unexpected keyword argument 'facto'
            main.py:11 TP0201 TypeError: scaled() got an unexpected keyword argument 'unlike_any'
            main.py:14 TP0304 scaled() has no argument `ofset`
                did you mean `offset`?
        "#]],
    );
}

/// Operators and keywords of other languages.
#[test]
fn syntax_from_elsewhere() {
    told(
        r#"#- main.py
def first(n):
    n++
    return n

def second(n):
    if n:
        return 1
    else if n > 3:
        return 2
    return 3

def third(n):
    n--;
    return -n

def entry_point(argv):
    return 0
"#,
        expect![[r#"
            main.py:2 TP0001 Python has no operator `++`
                write `x += 1`
            main.py:3 TP0001 invalid syntax
            main.py:8 TP0001 Python has no `else if`
                write `elif`
            main.py:13 TP0001 Python has no operator `--`
                write `x -= 1`
        "#]],
    );
}

/// The instance that a method does not name, names of other languages, and classes above that
/// RPython cannot have instances of.
#[test]
fn habits_from_elsewhere() {
    told(
        r#"#- main.py
class Counter(object):
    def __init__(self):
        self.n = 0

    def add(amount):
        self.n += amount
        self.n += 1

class Names(dict):
    pass

def first(n):
    return null

class Wrong(Exception):
    pass

def second(n):
    try:
        if n > 1:
            raise Wrong()
    except Wrong, e:
        print e.message

def entry_point(argv):
    n = len(argv)
    second(n)
    Counter().add(n)
    names = Names()
    first(n)
    print isinstance(n, 3), isinstance(n, (int, argv[0]))
    return 0
"#,
        expect![[r#"
            main.py:13 TP0222 name `null` is not defined
                write `None`
            main.py:23 TP0301 an instance of main.Wrong has no attribute `message`
                keep it in an attribute of an exception class of your own
            main.py:28 TP0304 add() takes exactly 1 argument (2 given)
                the first parameter of a method is the instance: `def add(self, amount)`
            main.py:29 TP0312 class Names derives from the builtin type `dict`, so RPython has no instances of it
                derive from `object`, and keep the `dict` in an attribute
            main.py:31 TP0318 the second argument of `isinstance()` is an int, not a class
        "#]],
    );
}

/// Names are looked up in one module: that another one has a variable of that name, or that it is a
/// word of the message, hides nothing. What a statement that failed would have set is left out.
#[test]
fn names_of_several_modules_that_fail() {
    told(
        r#"#- helper.py
name = 1
LIMIT = {"a": name}["b"]

def helped(n):
    return n + missing_in_helper + LIMIT
#- all.py
from helper import *

def use(n):
    return n + LIMIT + helped(n) + missing_in_all
#- main.py
import all
import helper
from helper import LIMIT
VERSION = 1 / 0

def names(n):
    print is_
    return n + name

def others(n):
    print all.LIMIT, helper.LIMIT, helper.LIMITS
    return defined

def first(n):
    print LIMIT, VERSION, 1 + "a"
    return not_

def imports(n):
    import nothing
    from helper import name, nmae, LIMIT

def entry_point(argv):
    n = len(argv)
    names(n)
    others(n)
    first(n)
    imports(n)
    all.use(n)
    return helper.helped(n)
"#,
        expect![[r#"
            helper.py:2 TP0201 KeyError: 'b'
            main.py:4 TP0201 ZeroDivisionError: integer division or modulo by zero
            all.py:4 TP0222 name `missing_in_all` is not defined
            helper.py:5 TP0222 name `missing_in_helper` is not defined
            main.py:7 TP0222 name `is_` is not defined
            main.py:8 TP0222 name `name` is not defined
                did you mean `__name__`?
            main.py:11 TP0223 module helper has no attribute `LIMITS`
            main.py:12 TP0222 name `defined` is not defined
            main.py:15 TP0223 `1 + 'a'` always raises TypeError: unsupported operand type(s) for +: 'int' and 'str'
            main.py:16 TP0222 name `not_` is not defined
            main.py:19 TP0227 ImportError: No module named nothing
            main.py:20 TP0227 cannot import name `nmae`
                did you mean `name`?
        "#]],
    );
}

/// The last statement of a module is one as any other.
#[test]
fn last_statements_that_fail() {
    told(
        r#"#- helper.py
def helped(n):
    return n.real

TABLE = {}["a"]
#- main.py
import helper

def entry_point(argv):
    helper.helped(len(argv))
    print helper.TABLE
    return undefined

entry_point([])
"#,
        expect![[r#"
            helper.py:4 TP0201 KeyError: 'a'
            helper.py:2 TP0301 an int has no attribute `real`
            main.py:6 TP0222 name `undefined` is not defined
                write `None`
        "#]],
    );
}

/// What `import *` of a module that is not there would have brought is not known; other modules
/// have nothing of that.
#[test]
fn imports_of_all_that_fail() {
    told(
        r#"#- helper.py
def helped(n):
    return n + nothing_here
#- main.py
from nowhere import *
from helper import *

def entry_point(argv):
    print anything
    return helped(len(argv))
"#,
        expect![[r#"
            main.py:1 TP0201 ImportError: No module named nowhere
            helper.py:2 TP0222 name `nothing_here` is not defined
        "#]],
    );
}

/// Functions that a call which failed would have led to, and statements that set attributes.
#[test]
fn what_would_have_been_set_elsewhere() {
    told(
        r#"#- main.py
class Config(object):
    pass

def setup(n):
    global size
    size = {}[n]

setup(1)
Config.limit = [][0]

def entry_point(argv):
    print size, Config.limit, Config.limits
    return width
"#,
        expect![[r#"
            main.py:6 TP0201 KeyError: 1
            main.py:9 TP0201 IndexError: list index out of range
            main.py:12 TP0223 class main.Config has no attribute `limits`
            main.py:13 TP0222 name `width` is not defined
        "#]],
    );
}

/// Strings are no exceptions.
#[test]
fn what_cannot_be_raised() {
    told(
        r#"#- main.py
def worded(n):
    if n > 1:
        raise "oops"
    raise ValueError, "oops"

def composed(text):
    raise text + "!"

def numbered(n):
    raise n

def pick(items, i):
    return items[i]

def entry_point(argv):
    n = len(argv)
    print pick((1, "a", 2.5), n)
    if n > 3:
        worded(n)
    if n > 2:
        composed(argv[0])
    if n > 1:
        numbered(n)
    return 0
"#,
        expect![[r#"
            main.py:3 TP0220 a str is no exception, so it cannot be raised
                raise an instance of an exception class, as in `raise ValueError("...")`
            main.py:7 TP0220 a str is no exception, so it cannot be raised
                raise an instance of an exception class, as in `raise ValueError("...")`
            main.py:10 TP0220 an int is no exception, so it cannot be raised
                raise an instance of an exception class, as in `raise ValueError("...")`
            main.py:13 TP0428 the index into a tuple is not a constant
                use a list, if all items are of one kind, or choose by `if`
        "#]],
    );
}

/// The line behind one that is not complete is not wrong.
#[test]
fn attributes_that_are_not_written_yet() {
    told(
        r#"#- main.py
def first(thing):
    thing.
    return thing.value()

def second(thing):
    x = thing.value(1.).
    if x.

    return 1.

def entry_point(argv):
    return 0
"#,
        expect![[r#"
            main.py:2 TP0001 expected a name
            main.py:6 TP0001 expected a name
            main.py:7 TP0001 expected `:`
        "#]],
    );
}
