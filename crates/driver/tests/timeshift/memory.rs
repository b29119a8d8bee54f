//! Residual code that reads and writes memory: what is known of objects, lists and
//! virtualizable frames while compiling.

use crate::residual::{check, check_with};
use taipan_driver::JitPolicy;

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
        reads(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=1 int_add=1
        reads_what_it_wrote(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 int_add=1 setfield=1
        writes_again(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 setfield=1
        items(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getarrayitem=1 getarraysize=1 int_add=4 setarrayitem=1
        through_a_branch(5) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=2 int_add=3 int_gt=1 int_sub=1
        through_a_branch(1) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=2 int_add=3 int_gt=1 int_sub=1
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
        aliases(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=1 exc_type=2 exc_value=2 getfield=2 int_add=1 setfield=1
        another_field(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=1 exc_type=2 exc_value=2 getfield=1 int_add=1 setfield=1
        another_class(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=1 exc_type=2 exc_value=2 getfield=1 int_add=1 setfield=1
        new_object(5) leaves direct_call=2 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=2 int_add=1 malloc=2 setfield=8
        list_items(5, 0) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getarrayitem=4 getarraysize=1 int_add=4 int_lt=1 setarrayitem=1
        list_items(5, 1) leaves direct_call=1 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getarrayitem=4 getarraysize=1 int_add=4 int_lt=1 setarrayitem=1
        two_lists(5) leaves direct_call=2 exc_clear=2 exc_occurred=2 exc_set=1 exc_type=2 exc_value=2 getarrayitem=2 int_add=2 setarrayitem=2
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
        changed(5) leaves direct_call=2 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=3 int_add=3
        looked_at(5) leaves direct_call=2 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=1 int_add=2
        pure_call(5) leaves direct_call=2 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=1 int_add=2
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

/// Objects whose type is erased stay what they are.
#[test]
fn erased_objects_are_not_made() {
    check_memory(
        "
from rpython.rlib.rerased import new_erasing_pair
erase_list, unerase_list = new_erasing_pair('list')
erase_cell, unerase_cell = new_erasing_pair('cell')
def known(n):
    frame = [erase_cell(Cell(n)), erase_list([n, 5])]
    unerase_list(frame[1])[0] += 2
    frame[0] = erase_cell(Cell(n * 3))
    return unerase_cell(frame[0]).x + unerase_list(frame[1])[0]
def escapes(n):
    erased = erase_cell(Cell(n))
    G.cell = unerase_cell(erased)
    return unerase_cell(erased).y
def passed(n):
    erased = erase_cell(opaque(n))
    change(unerase_cell(erased), 7)
    return unerase_cell(erased).y
",
        "
        known(5) leaves int_add=2 int_mul=1
        escapes(5) leaves malloc=1 setfield=4
        passed(5) leaves direct_call=2 exc_clear=1 exc_occurred=1 exc_set=1 exc_type=1 exc_value=1 getfield=1
        ",
    );
}

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
