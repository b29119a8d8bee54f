//! Habits of Python in programs for RPython: whether they are refused, where, and with which remedy.

use expect_test::expect;

use crate::support::{told, told_with_notes};

#[path = "support/mistakes.rs"]
mod support;

/// An exception that would be caught hides no method that is missing.
#[test]
fn iterators_of_python_3() {
    told(
        r#"#- main.py
class Stream(object):
    def __init__(self, text):
        self.text = text
        self.pos = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.pos >= len(self.text):
            raise StopIteration
        self.pos += 1
        return self.text[self.pos - 1]

def entry_point(argv):
    for c in Stream(argv[0]):
        print c
    return 0
"#,
        expect![[r#"
            main.py:16 TP0301 an instance of main.Stream has no attribute `next`
                name the method `next`: `__next__` is its name in Python 3
        "#]],
    );
}

#[test]
fn methods_that_python_looks_for() {
    told(
        r#"#- main.py
class Items(object):
    def __init__(self, items):
        self.items = items

    def __getitem__(self, i):
        return self.items[i]

def entry_point(argv):
    for x in Items(argv):
        print x
    return 0
"#,
        expect![[r#"
            main.py:9 TP0301 an instance of main.Items has no attribute `__iter__`
                loop over `range(len(x))`, or write a method `__iter__` whose result has a method `next`
        "#]],
    );
    told(
        r#"#- main.py
class Bag(object):
    pass

def entry_point(argv):
    try:
        print Bag()["key"]
    except KeyError:
        print "none"
    return 0
"#,
        expect![[r#"
            main.py:6 TP0301 an instance of main.Bag has no attribute `__getitem__`
                neither its class nor an assignment that is reached defines it
        "#]],
    );
    told(
        r#"#- main.py
class Proxy(object):
    def __init__(self, target):
        self.target = target

    def __getattr__(self, name):
        return getattr(self.target, name)

class Bag(object):
    def __init__(self, n):
        self.n = n

def entry_point(argv):
    print Proxy(Bag(2)).n
    return 0
"#,
        expect![[r#"
            main.py:13 TP0301 an instance of main.Proxy has no attribute `n`
                RPython calls no `__getattr__`: define the attribute, or write a method that takes the name
        "#]],
    );
    told(
        r#"#- main.py
class Symbol(object):
    def __new__(cls, name):
        self = object.__new__(cls)
        self.name = name
        return self

def entry_point(argv):
    print Symbol(argv[0]) is None
    return 0
"#,
        expect![[r#"
            main.py:8 TP0304 class main.Symbol has no __init__ and takes no arguments
                RPython calls no `__new__`: write a function that makes the instance
        "#]],
    );
}

#[test]
fn classes_below_builtin_types() {
    told(
        r#"#- main.py
class Stack(list):
    def push(self, x):
        self.append(x)

class Env(dict):
    def find(self, name):
        if name in self:
            return self[name]
        return -1

def entry_point(argv):
    stack = Stack()
    stack.push(len(argv))
    print stack.pop(), Env().find(argv[0])
    return 0
"#,
        expect![[r#"
            main.py:12 TP0312 class Stack derives from the builtin type `list`, so RPython has no instances of it
                derive from `object`, and keep the `list` in an attribute
            main.py:14 TP0312 class Env derives from the builtin type `dict`, so RPython has no instances of it
                derive from `object`, and keep the `dict` in an attribute
        "#]],
    );
}

#[test]
fn other_arguments_than_functions_take() {
    told_with_notes(
        r#"#- main.py
class Base(object):
    def run(self):
        raise NotImplementedError

class Counting(Base):
    def run(self, n):
        return n

class Constant(Base):
    def run(self):
        return 3

TABLE = {"+": lambda a, b: a + b, "neg": lambda a: -a}

def entry_point(argv):
    for o in [Counting(), Constant()]:
        print o.run()
    print TABLE[argv[0]](1)
    return 0
"#,
        expect![[r#"
            main.py:17 TP0304 run() takes exactly 2 arguments (1 given)
                6: run() is defined here
                functions that one call may reach take the same arguments
            main.py:18 TP0304 <lambda>() takes exactly 2 arguments (1 given)
                13: <lambda>() is defined here
                functions that one call may reach take the same arguments
        "#]],
    );
}

#[test]
fn prebuilt_instances_that_differ() {
    told_with_notes(
        r#"#- main.py
class Setting(object):
    def __init__(self, value):
        self.value = value

DEPTH = Setting(10)
NAME = Setting("main")

def entry_point(argv):
    for setting in [DEPTH, NAME]:
        print setting.value
    return 0
"#,
        expect![[r#"
            main.py:10 TP0300 attribute value of Setting mixes an int and a str
                keep the kinds apart, or wrap each in a class with a common base
        "#]],
    );
}

/// Each place of the list and of the dict has values of the other.
#[test]
fn values_that_are_mixed_on_their_way() {
    told_with_notes(
        r#"#- main.py
class Machine(object):
    def __init__(self):
        self.stack = []
        self.names = {}

    def run(self, lines):
        for line in lines:
            parts = line.split(" ")
            if parts[0] == "push":
                self.stack.append(int(parts[1]))
            elif parts[0] == "store":
                self.names[parts[1]] = self.stack.pop()
            elif parts[0] == "load":
                self.stack.append(self.names.get(parts[1]))
            else:
                print self.stack.pop()

def entry_point(argv):
    Machine().run(argv)
    return 0
"#,
        expect![[r#"
            main.py:14 TP0300 a list mixes an int and None
                10: an int comes from here
                14: None comes from here
                only strings, lists, dicts, instances and the like may be None; use a special value instead
        "#]],
    );
}

#[test]
fn attributes_of_subclasses_that_differ() {
    told_with_notes(
        r#"#- main.py
class W_Root(object):
    pass

class W_Int(W_Root):
    def __init__(self, value):
        self.value = value

class W_Str(W_Root):
    def __init__(self, value):
        self.value = value

def add(a, b):
    return W_Int(a.value + b.value)

def entry_point(argv):
    stack = []
    for arg in argv:
        if arg.isdigit():
            stack.append(W_Int(int(arg)))
        else:
            stack.append(W_Str(arg))
    print add(stack.pop(), stack.pop()).value
    return 0
"#,
        expect![[r#"
            main.py:19 TP0300 argument value of __init__() mixes a str and an int
                13: a str comes from here, in add()
                19: an int comes from here, in entry_point()
                keep the kinds apart, or wrap each in a class with a common base
        "#]],
    );
}

#[test]
fn remedies_for_two_kinds() {
    told(
        r#"#- main.py
class Node(object):
    def __init__(self, left):
        self.left = left

class Leaf(object):
    def __init__(self, value):
        self.value = value

class Version(object):
    def __init__(self, parts):
        self.parts = parts

class Instruction(object):
    def __init__(self, *operands):
        self.operands = operands

def pick(n, text):
    if n > 1:
        return text
    return u"none"

def call(name, text):
    return {"len": len, "ord": ord}[name](text)

def entry_point(argv):
    n = len(argv)
    print Node(Leaf(n)) is Node(Node(None))
    print Version([1, n]) is Version((1, 2))
    print Instruction(1) is Instruction(n, 2)
    print len(pick(n, argv[0]))
    print call(argv[0], argv[1])
    return 0
"#,
        expect![[r#"
            main.py:15 TP0300 attribute operands of Instruction mixes a tuple of 2 and a tuple of 1
                tuples of different lengths are of different kinds: use a list, if all items are of one kind
            main.py:20 TP0300 the result of pick() mixes a str and a unicode
                make both unicode with `.decode('utf-8')`, or both bytes with `.encode('utf-8')`
            main.py:23 TP0300 the set of values of a dict mixes the builtin function len() and the builtin function ord()
                choose by `if`, and call each by its name
            main.py:27 TP0300 argument left of __init__() mixes an instance of main.Leaf and an instance of main.Node
                derive both classes from a common base class
            main.py:28 TP0300 argument parts of __init__() mixes a list and a tuple of 2
                make both lists
        "#]],
    );
}

#[test]
fn longs_and_properties() {
    told(
        r#"#- main.py
class Square(object):
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side * self.side

def hashed(text):
    h = 14695981039346656037
    for c in text:
        h = (h ^ ord(c)) * 3
    return h

def entry_point(argv):
    print hashed(argv[0])
    print Square(len(argv)).area()
    return 0
"#,
        expect![[r#"
            main.py:10 TP0314 long constant 14695981039346656037 does not fit an int
                while the program loads, make an `r_uint` of it, or an `rbigint` of rpython.rlib.rbigint
            main.py:17 TP0302 cannot call an int
                `area` is a property: leave the parentheses out
        "#]],
    );
}

#[test]
fn generators_and_sorting() {
    told(
        r#"#- main.py
def numbers(n):
    i = 0
    while i < n:
        yield i
        i += 1

def is_prime(n):
    return all(n % i for i in range(2, n))

def entry_point(argv):
    for a, b in zip(argv, numbers(5)):
        print a, b
    print numbers(3)[0]
    print is_prime(len(argv))
    print sorted(argv, key=len)[0]
    return 0
"#,
        expect![[r#"
            main.py:8 TP0225 a generator expression uses the variable `n` of is_prime()
                a generator expression is a function, and functions that run cannot make closures: write a loop
            main.py:11 TP0318 zip() of a generator is not RPython
                make a list of it first: `[x for x in items]`
            main.py:15 TP0302 sorted() is not RPython
                write a function that says which of two items comes first, `By = make_timsort_class(lt=less)` of rpython.rlib.listsort at the top level of the module, and sort a copy with `By(copy).sort()`
        "#]],
    );
}

#[test]
fn files_of_python_3() {
    told(
        r#"#- main.py
def read(path):
    with open(path, "r", encoding="utf-8") as f:
        return f.read()

def entry_point(argv):
    print len(read(argv[1]))
    return 0
"#,
        expect![[r#"
            main.py:2 TP0304 open() has no argument `encoding`
                leave it out: files hold bytes, and `.decode('utf-8')` makes unicode of what is read
        "#]],
    );
}

#[test]
fn exit_codes_that_are_bools() {
    told(
        r#"#- main.py
def entry_point(argv):
    return len(argv) > 1
"#,
        expect![[r#"
            main.py:1 TP0316 the entry point returns a bool, not an integer
                convert it: `return int(x)`
        "#]],
    );
}

#[test]
fn drivers_that_name_other_variables() {
    told(
        r#"#- main.py
from rpython.rlib.jit import JitDriver

first = JitDriver(greens=['code', 'pc'], reds=['acc', 'n'])
second = JitDriver(greens=['pc'], reds=['acc'])

def run(code):
    pc = acc = n = 0
    while pc < len(code):
        first.jit_merge_point(code=code, pc=pc)
        pc += 1
    return acc + n

def again(pc, acc):
    while pc > 0:
        second.jit_merge_point(pc=pc, total=acc)
        pc -= 1
    return acc

def entry_point(argv):
    return run(argv[0]) + again(len(argv), 1)
"#,
        expect![[r#"
            main.py:9 TP0326 jit_merge_point() takes the variables of its driver: acc, code, n, pc
                pass `acc`, `n` as well, or shorten the greens and reds of the driver
            main.py:15 TP0326 jit_merge_point() takes the variables of its driver: acc, pc
                pass `acc` instead of `total`
        "#]],
    );
}

/// RPython annotates what a driver names whether or not there is a compiler.
#[test]
fn hooks_with_other_greens() {
    told(
        r#"#- main.py
from rpython.rlib.jit import JitDriver

def location(pc, code):
    return "%d: %s" % (pc, code[pc])

driver = JitDriver(greens=['code', 'pc'], reds=['acc'], get_printable_location=location)

def run(code):
    pc = acc = 0
    while pc < len(code):
        driver.jit_merge_point(code=code, pc=pc, acc=acc)
        acc += ord(code[pc])
        pc += 1
    return acc

def entry_point(argv):
    print run(argv[0])
    return 0
"#,
        expect![[r#"
            main.py:4 TP0303 indexing of an int and a str is not RPython
        "#]],
    );
}

/// The place is the call in the program, not the raise in the library.
#[test]
fn greens_that_are_no_list() {
    told_with_notes(
        r#"#- main.py
from rpython.rlib.jit import JitDriver

driver = JitDriver(greens='auto', reds=['pc'])

def entry_point(argv):
    return 0
"#,
        expect![[r#"
            main.py:3 TP0201 TypeError: greens is a list of names, not a string
                285: in JitDriver.__init__
        "#]],
    );
}

/// The program runs without the compiler, so that is a warning.
#[test]
fn merge_points_that_the_compiler_refuses() {
    told(
        r#"#- main.py
from rpython.rlib.jit import JitDriver

driver = JitDriver(greens=['code', 'pc'], reds=['stack'])

def run(code):
    pc = acc = 0
    stack = []
    while pc < len(code):
        driver.jit_merge_point(code=code, pc=pc, stack=stack)
        if code[pc] == "+":
            acc += 1
        else:
            stack.append(acc)
        pc += 1
    return len(stack)

def entry_point(argv):
    print run(argv[0])
    return 0
"#,
        expect![[r#"
            main.py:9 TP0603 `acc` is used after the merge point, and is neither green nor red
                add it to the reds of the driver, and pass it to `jit_merge_point()`
        "#]],
    );
}

/// RPython passes the exception in the place of its class, too.
#[test]
fn classes_of_exceptions_in_exit() {
    told(
        r#"#- main.py
class Quiet(object):
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return kind is ValueError

def entry_point(argv):
    with Quiet():
        if len(argv) > 5:
            raise ValueError("x")
    return 0
"#,
        expect![[r#"
            main.py:6 TP0303 `is` of an instance of exceptions.ValueError or None and class ValueError is not RPython
                ask for the class by `isinstance(x, C)`; the first argument of `__exit__` is the exception itself
        "#]],
    );
}
