//! What interpreters written in RPython do that smaller programs do not.

use crate::support::check;

#[test]
fn classes_whose_constructors_are_called_in_different_ways() {
    check(
        "
class Value(object):
    def __init__(self, place=None): self.place = place
class Apple(Value):
    def name(self): return 'apple'
class Pear(Value):
    def name(self): return 'pear'
class Box(Value):
    def __init__(self, content): self.content = content
    def look(self): return 'box of ' + self.content.name()
class Bag(Value):
    def __init__(self, content): self.content = content
    def look(self): return 'bag of ' + self.content.name()
def make(inner, outer):
    return outer(inner())
def pack(n):
    if n > 0: made = make(Apple, Box)
    else: made = make(Pear, Bag)
    return made.look()
",
        "
        pack(1) == \"box of apple\"
        pack(0) == \"bag of pear\"
        ",
    );
}

#[test]
fn exceptions_beside_exception_itself() {
    check(
        "
def leave(n):
    if n > 2: raise SystemExit(n)
    if n > 1: raise KeyboardInterrupt
    if n > 0: raise ValueError
    return n
def stay(n):
    try:
        return leave(n)
    except ValueError:
        return 10
    except KeyboardInterrupt:
        return 20
    except Exception:
        return 30
",
        "
        stay(0) == 0
        stay(1) == 10
        stay(2) == 20
        stay(3) == 30
        leave(3) raises SystemExit
        ",
    );
}

#[test]
fn what_is_promoted_is_no_constant() {
    check(
        "
from rpython.rlib.jit import JitDriver, promote
driver = JitDriver(greens=['n'], reds=['total'])
class Shape(object):
    def area(self): return self.side
class Square(Shape):
    def area(self): return self.side * self.side
class Circle(Shape):
    def area(self): return 3 * self.side * self.side
class Scene(object):
    def __init__(self, verbose=0): self.verbose = promote(verbose)
    def area(self, shapes, i):
        shape = shapes[i]
        if isinstance(shape, Square): return shape.side
        if self.verbose != 0: return shape.area()
        return -1
def circle(side):
    c = Circle()
    c.side = side
    return c
circles = [circle(1), circle(2)]
def measure(i):
    return Scene().area(circles, i)
def count(n):
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total)
        total += n
        n -= 1
    return total
SUM = count(4)
def known(): return SUM
",
        "
        measure(1) == -1
        known() == 10
        ",
    );
}

#[test]
fn hints_change_no_value() {
    check(
        "
from rpython.rlib.jit import hint, promote, promote_string, promote_unicode
class Frame(object):
    _virtualizable_ = ['pc']
    def __init__(self, pc):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.pc = pc
    def next(self): return self.pc + 1
class Other(Frame):
    def next(self): return self.pc + 2
primes = [2, 3, 5]
def run(n, text):
    hint(None, global_merge_point=True)
    n = hint(n, concrete=True)
    frame = Frame(promote(n + 1))
    if n > 3: frame = Other(n)
    hint(frame.__class__, promote=True)
    text = promote_string(text)
    wide = promote_unicode(u'abc')
    known = hint(primes, deepfreeze=True)
    fixed = hint(54, variable=True)
    hint(None, reverse_split_queue=True)
    frame = hint(frame, force_virtualizable=True)
    hint(n, promote=False)
    return frame.next() + len(text) + len(wide) + known[n % 3] + fixed + hint(n, forget=True)
def unknown(n): return hint(n, promot=True)
def vague(n): return hint(n, promote=n)
",
        "
        run(2, 'ab') == 70
        run(4, 'ab') == 72
        unknown(1) error hint() takes no 'promot', only access_directly, concrete, deepfreeze, force_no_const, \
force_virtualizable, forget, fresh_virtualizable, global_merge_point, promote, promote_string, \
promote_unicode, reverse_split_queue, variable
        vague(1) error hint 'promote' must be True or False
        ",
    );
}

#[test]
fn constants_of_all_bits() {
    check(
        "
from rpython.rlib.rarithmetic import intmask, r_uint, r_ulonglong
def low(n):
    return intmask(r_ulonglong(0xffffffffffffffff) >> (64 - n))
def high():
    return intmask(r_uint(0xffffffff00000000))
",
        "
        low(8) == 255
        high() == -4294967296
        ",
    );
}

#[test]
fn questions_about_the_translation() {
    check(
        "
import sys
from rpython.config.config import BoolOption, ConflictConfigError, Config, OptionDescription
from rpython.config.translationoption import get_combined_translation_config
own = OptionDescription('own', 'options of the program', [
    BoolOption('fast', 'be quick', default=False, requires=[('own.simple', True)]),
    BoolOption('simple', 'do little', default=False)])
config = get_combined_translation_config(own, translating=True)
before = config.own.simple
config.own.fast = True
after = config.own.simple
config.translation.suggest(withsmallfuncsets=5)
small = config.translation.withsmallfuncsets
try:
    config.own.simple = False
except ConflictConfigError:
    conflict = True
else:
    conflict = False
translating = sys.argv[0].endswith('rpython')
def options():
    return (before, after, small, conflict, translating)
def fast(): return config.own.fast
",
        "
        options() == [false,true,5,true,true]
        fast() == true
        ",
    );
}

#[test]
fn static_methods_of_mixins_are_copied() {
    check(
        "
class Reading(object):
    _mixin_ = True
    @staticmethod
    def same(v): return v
class Base(object): pass
class Number(Base, Reading): pass
class Text(Base, Reading): pass
class Word(Text): pass
def statics(n): return Number().same(n) + len(Text().same('abc')) + len(Word().same('xy'))
",
        "
        statics(3) == 8
        ",
    );
}

#[test]
fn attributes_of_frozen_instances_that_are_not_read() {
    check(
        "
class Options(object):
    def _freeze_(self): return True
first = Options()
first.weight, first.parts = 5, [8]
second = Options()
second.weight, second.parts = 6, ['text']
def unread(n):
    if n == 1:
        o = first
    else:
        o = second
    return first.parts[0] + o.weight
",
        "
        unread(1) == 13
        unread(2) == 14
        ",
    );
}

/// Such an attribute has one value, and still is one.
#[test]
fn texts_of_attributes_that_are_always_none() {
    check(
        "
class Wrong(Exception):
    def __init__(self, message, line):
        self.message = message
        self.line = line
def read(n):
    if n > 3: raise Wrong(None, n)
    return n
def told(n):
    try:
        read(n)
    except Wrong as e:
        return str(e.message) + ' %s|%s' % (e.message, str((e.message, e.line)))
    return 'fine'
",
        "
        told(3) == \"fine\"
        told(4) == \"None None|(None, 4)\"
        ",
    );
}

/// What is written as a list is a constant tuple to CPython's compiler, and what cannot be
/// of the kind of a value is not compared with it.
#[test]
fn membership_of_literals() {
    check(
        "
class A(object): pass
a = A()
def truth(n): return (n > 3) in [1, 2]
def letter(n): return chr(n) in ('a', 'bc', u'd', 1)
def number(n): return n in ['x', None, 5, 2.5]
def not_number(n): return n not in ['x', n * 2]
def nullable(n):
    s = None
    if n > 3: s = str(n)
    return s in ('6', None)
def object(n):
    x = None
    if n > 3: x = a
    return x in (a, 3)
",
        "
        truth(5) == false
        letter(97) == true
        letter(1) == false
        number(5) == true
        number(2) == false
        not_number(5) error a list mixes an int and a str
        nullable(3) == true
        nullable(5) == false
        object(5) == true
        ",
    );
}

/// What is known of a value when its truth is an argument is forgotten in the call.
#[test]
fn arguments_that_say_what_is_not_none() {
    check(
        "
class Box(object):
    def __init__(self, content): self.content = content
def find(n):
    if n > 3: return None
    return Box(n)
def demand(condition, what):
    if not condition: raise ValueError(what)
def found(n):
    box = find(n)
    demand(box is not None, 'a box')
    return box.content
def told(n):
    box = find(n)
    if n > 2: box = Box(0)
    there = not (box is None)
    missing = not there
    return box.content + there * 10 + missing * 100
",
        "
        found(2) == 2
        found(4) raises ValueError
        told(2) == 12
        told(4) == 10
        ",
    );
}

#[test]
fn none_is_compared_by_identity() {
    check(
        "
class A(object): pass
def one(n): return n
def text(n): return str(n) == None
def instance(n):
    a = None
    if n > 3: a = A()
    return a != None
def function(n):
    f = None
    if n > 3: f = one
    return f != None
def by_default(n, mode=None): return mode == 'r' or mode is None
def variable(n): return by_default(n)
",
        "
        text(3) error `==` of a str and None is not RPython
        instance(3) error `!=` of an instance of main.A and None is not RPython
        function(5) == true
        variable(5) == true
        ",
    );
}

#[test]
fn specialised_by_the_types_of_star_arguments() {
    check(
        "
from rpython.rlib.objectmodel import specialize

class Box(object):
    def __init__(self, text):
        self.text = text
class Red(Box):
    pass

@specialize.ll()
def shown(*values):
    if len(values) == 2:
        return shown(values[0]) + ' ' + shown(values[1])
    x = values[0]
    if isinstance(x, float):
        return 'float'
    if isinstance(x, int):
        return 'int %d' % (x + 1)
    if isinstance(x, Box):
        return x.text
    return '?'

def one(n):
    return shown(n) + shown(2.5) + shown(Box('box')) + shown(Red('red'))
def two(n):
    return shown(n, Box('b')) + shown(Red('r'), 2.5)
",
        "
        one(3) == \"int 4floatboxred\"
        two(8) == \"int 9 br float\"
        ",
    );
}

#[test]
fn declared_integers_and_tuples() {
    check(
        "
from rpython.annotator.model import SomeInteger, SomeTuple
from rpython.rlib import types
from rpython.rlib.rarithmetic import r_uint
from rpython.rlib.signature import signature

s_uint = SomeInteger(knowntype=r_uint)

@signature(s_uint, returns=SomeTuple((s_uint, types.int())))
def span(n):
    return (n, -1)
def rest(s):
    n, m = span(len(s) // 2)
    return s[n:] + str(m)
@signature(types.bool(), returns=types.int())
def number(yes):
    return int(yes) + 1
def odd(n):
    return number(n % 2 == 1)
",
        "
        rest(\"abcdef\") == \"def-1\"
        odd(5) == 2
        ",
    );
}

/// Both signs of 128 bits, in every place that a constant may have.
#[test]
fn prebuilt_integers_of_128_bits() {
    check(
        "
from rpython.rlib.rarithmetic import intmask, r_longlonglong, r_ulonglonglong
MOST = (r_ulonglonglong(-1) << 64) | r_ulonglonglong(-1)
LEAST = r_longlonglong(-1) << 126
class Range(object):
    def __init__(self): self.end = MOST
the_range = Range()
ends = [MOST, r_ulonglonglong(3)]
of_key = {r_ulonglonglong(3): MOST}
def key(n):
    if n > 3: return r_ulonglonglong(n)
    return MOST
def beyond(n): return key(n) > r_ulonglonglong(10)
def least(n): return intmask((LEAST + r_longlonglong(n)) >> 100)
def shrunk(n):
    the_range.end = the_range.end - r_ulonglonglong(n)
    return intmask(the_range.end >> 70) + intmask(ends[n] >> 100)
def looked_up(n): return intmask(of_key[r_ulonglonglong(n)] >> 90)
",
        "
        beyond(0) == true
        beyond(5) == false
        least(7) == -67108864
        shrunk(0) == 288230376420147198
        shrunk(1) == 288230376151711743
        looked_up(3) == 274877906943
",
    );
}

/// What `_immutable_` and `_immutable_fields_` say must be true of base classes too.
#[test]
fn immutable_fields_that_contradict() {
    check(
        "
class Base(object):
    def __init__(self, n): self.n = n
class Listed(Base):
    _immutable_fields_ = ['n']
def listed(n):
    return Listed(n).n + Base(n).n
class Whole(Base):
    _immutable_ = True
def whole(n):
    return Whole(n).n + Base(n).n
class Frozen(object):
    _immutable_ = True
class Heir(Frozen):
    def __init__(self, n): self.n = n
def heir(n):
    return Heir(n).n
class Seldom(object):
    _immutable_ = True
    _immutable_fields_ = ['n?']
    def __init__(self, n): self.n = n
def seldom(n):
    return Seldom(n).n
class Items(object):
    _immutable_fields_ = ['n[*]']
    def __init__(self, n): self.n = n
def items(n):
    return Items(n).n
class Good(object):
    _immutable_fields_ = ['n', 'l[*]', 'm?']
    def __init__(self, n):
        self.n = n
        self.l = [n]
        self.m = n
class Better(Good):
    _immutable_fields_ = ['k']
    def __init__(self, n):
        Good.__init__(self, n)
        self.k = n
def good(n):
    return Good(n).n + Better(n).k + Better(n).l[0]
",
        "
        listed(1) error field n may change in class main.Base, but not in its subclass main.Listed
        whole(1) error field n may change in class main.Base, but not in its subclass main.Whole
        heir(1) error class main.Frozen has _immutable_ = True, and so must its subclass main.Heir
        seldom(1) error class main.Seldom has _immutable_ = True, but its field n may change
        items(1) error _immutable_fields_ of class main.Items says that n is a list, which it is not
        good(1) == 3
        ",
    );
}

#[test]
fn immutable_classes_with_others_below() {
    check(
        "
class Value(object):
    _immutable_ = True
    def __init__(self, n):
        self.n = n
class Bowl(Value):
    _immutable_ = None
    def fill(self, m):
        self.m = m
def filled(n):
    b = Bowl(n)
    b.fill(4)
    b.fill(5)
    return b.n + b.m
",
        "filled(3) == 8",
    );
}

#[test]
fn classes_that_are_raised_with_an_argument() {
    check(
        "
class Stop(Exception):
    def __init__(self, code): self.code = code
class Final(Stop): pass
def number(n):
    try: raise Stop, n
    except Stop as e: return e.code
def text(n):
    try: raise ValueError, 'bad %d' % n
    except ValueError: return 1
def instance(n):
    value = Stop(n)
    if n > 3: value = Final(n)
    try: raise Stop, value
    except Final: return -1
    except Stop as e: return e.code
",
        "
        number(3) == 3
        text(3) == 1
        instance(3) == 3
        instance(4) == -1
        ",
    );
}

/// A prebuilt exception is known no longer once it is raised, wherever it comes from: the
/// text of a truth value that varies is a digit, as everywhere in RPython.
#[test]
fn raising_prebuilt_exceptions() {
    check(
        "
class Error(Exception): pass
READY = Error()
def which(n):
    try:
        if n > 1: raise READY
        raise Error()
    except Error as e:
        return str(e is READY)
def leave(n):
    if n > 1: raise READY
    if n > 0: raise Error()
def outside(n):
    try:
        leave(n)
    except Error as e:
        return e is READY
    return False
def again(n):
    try:
        try:
            raise READY
        except Error as e:
            raise e
    except Error as other:
        return n if other is READY else -1
",
        "
        which(1) == \"0\"
        which(2) == \"1\"
        outside(0) == false
        outside(1) == false
        outside(2) == true
        again(7) == 7
        ",
    );
}

/// All of them derive from Exception here, so it catches what a call raises; in the function
/// that raises one itself, its class is known.
#[test]
fn exception_and_keyboard_interrupt() {
    check(
        "
def leave(n):
    if n > 2: raise ValueError
    if n > 1: raise KeyboardInterrupt
    return n
def stay(n):
    try: return leave(n)
    except Exception: return 10
def directly(n):
    try:
        if n > 1: raise KeyboardInterrupt
    except Exception:
        return 10
    return n
def first(n):
    try: return leave(n)
    except KeyboardInterrupt: return 20
    except Exception: return 10
",
        "
        stay(1) == 1
        stay(2) == 10
        stay(3) == 10
        directly(1) == 1
        directly(2) raises KeyboardInterrupt
        first(2) == 20
        first(3) == 10
        ",
    );
}

/// What is asked of a class is far above it, or nowhere.
#[test]
fn a_hierarchy_of_a_hundred_levels() {
    let mut source = "
class C0(object):
    size = 7
    def level(self): return 0
    def set(self, n): self.first = n
"
    .to_owned();
    for i in 1..100 {
        source += &format!("class C{i}(C{}):\n    c{i} = {i}\n", i - 1);
        source += &format!("    def set{i}(self, n): self.a{i} = n\n");
        if i % 30 == 0 {
            source += &format!("    def level(self): return {i}\n");
        }
        if i == 50 {
            source += "    size = 50\n";
        }
    }
    source += "
def make(n):
    if n == 0: return C0()
    if n == 1: return C49()
    if n == 2: return C50()
    return C99()
prebuilt = [C0(), C49(), C50(), C99()]
def size(n):
    x = make(n)
    x.size += 1
    return x.size + 100 * prebuilt[n].size
def level(n): return make(n).level() + 100 * prebuilt[n].level()
def below_fifty(n): return 1 if isinstance(make(n), C50) else 0
def own(n):
    x = C99()
    x.set(n)
    x.set1(n + 1)
    x.set99(n + 2)
    return x.first + 10 * x.a1 + 100 * x.a99 + 1000 * x.c2
";
    check(
        &source,
        "
        size(0) == 708
        size(1) == 708
        size(2) == 5051
        size(3) == 5051
        level(0) == 0
        level(1) == 3030
        level(2) == 3030
        level(3) == 9090
        below_fifty(1) == 0
        below_fifty(2) == 1
        below_fifty(3) == 1
        own(1) == 2321
        ",
    );
}

/// Functions that are operations, where the graph does not know which one is called.
#[test]
fn operations_as_values() {
    check(
        "
import operator
def call(g, x):
    return g(x)
call._annspecialcase_ = 'specialize:arg(0)'
def divide(g, x, y):
    try:
        return g(x, y)
    except ZeroDivisionError:
        return -1
def pick(g, x, y):
    try:
        return g(x, y)
    except IndexError:
        return -1

def lengths(s):
    return call(len, s) + call(abs, -3)
def texts(n):
    return call(str, n) + call(chr, 65)
def quotient(n):
    return divide(operator.div, 7, n)
def item(n):
    return pick(operator.getitem, [4, 5], n)
",
        "
        lengths('abc') == 6
        texts(12) == \"12A\"
        quotient(2) == 3
        quotient(0) == -1
        item(1) == 5
        item(2) == -1
        ",
    );
}
