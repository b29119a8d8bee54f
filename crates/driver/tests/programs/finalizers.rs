//! Objects with `__del__` and in finalizer queues, on each engine.

use crate::support::{check, check_without_python};

/// What the cases share: objects that note in a list that they died.
const NOTES: &str = "
from rpython.rlib import rgc
class Notes(object): pass
notes = Notes()
notes.died = []
class Noted(object):
    def __init__(self, n): self.n = n
    def __del__(self): notes.died.append(self.n)
def start():
    notes.died = []
def died():
    rgc.collect()
    return ' '.join([str(n) for n in notes.died])
";

fn check_notes(program: &str, calls: &str) {
    check(&format!("{NOTES}{program}"), calls);
}

#[test]
fn dead_objects_are_finalized_once() {
    check_notes(
        "
def make(n):
    for i in range(n): Noted(i)
def f(n):
    start()
    make(n)
    first = died()
    return first + '|' + died()
",
        "
        f(3) == \"0 1 2|0 1 2\"
        ",
    );
}

/// In Python a variable keeps its object until the function returns.
#[test]
fn variables_that_are_not_used_any_more_keep_nothing() {
    let source = "
def kept(n):
    start()
    keep = Noted(n)
    Noted(n + 1)
    now = died()
    return now + '|%d' % keep.n
";
    check_without_python(&format!("{NOTES}{source}"), "kept(5) == \"6|5\"");
}

#[test]
fn classes_inherit_finalizers_and_replace_them() {
    check_notes(
        "
class Heir(Noted): pass
class Other(Noted):
    def __del__(self): notes.died.append(-self.n)
class Both(Noted):
    def __del__(self):
        notes.died.append(100)
        Noted.__del__(self)
def make():
    Heir(1)
    Other(2)
    Both(3)
def f():
    start()
    make()
    return died()
",
        "
        f() == \"1 -2 100 3\"
        ",
    );
}

#[test]
fn light_finalizers_see_their_own_fields() {
    check(
        "
from rpython.rlib import rgc
from rpython.rtyper.lltypesystem import lltype
CELLS = lltype.Array(lltype.Signed, hints={'nolength': True})
class Count(object): pass
count = Count()
count.open = 0
class Buffer(object):
    def __init__(self, n):
        self.raw = lltype.malloc(CELLS, n, flavor='raw')
        self.size = n
        count.open += n
    @rgc.must_be_light_finalizer
    def __del__(self):
        count.open -= self.size
        lltype.free(self.raw, flavor='raw')
def make(n):
    keep = Buffer(1)
    for i in range(n): Buffer(10)
    return keep
def f(n):
    count.open = 0
    keep = make(n)
    rgc.collect()
    kept = count.open
    keep.size = 1
    return kept
",
        "
        f(1000) == 1
        ",
    );
}

#[test]
fn what_refers_to_others_goes_first() {
    check_notes(
        "
class Holder(Noted):
    def __init__(self, n, held):
        self.n = n
        self.held = held
    def __del__(self): notes.died.append(self.n * 10 + self.held.n)
def make(): Holder(1, Holder(2, Noted(3)))
def f():
    start()
    make()
    return died() + '|' + died() + '|' + died() + '|' + died()
",
        "
        f() == \"12|12 23|12 23 3|12 23 3\"
        ",
    );
}

/// Python calls all finalizers at once.
#[test]
fn cycles_are_finalized_one_at_a_time() {
    let source = "
class Holder(Noted):
    def __init__(self, n, held):
        self.n = n
        self.held = held
    def __del__(self): notes.died.append(self.n * 10 + self.held.n)
def make_cycle():
    a = Holder(1, None)
    b = Holder(2, a)
    a.held = b
    notes.refs = [weakref.ref(a), weakref.ref(b)]
def cycle():
    start()
    make_cycle()
    first = died()
    for ref in notes.refs: first += ' ' + str(ref() is None)
    return first + '|' + died() + '|' + died()
def make_queue(n):
    nodes = [Node(i) for i in range(n)]
    for i in range(n):
        nodes[i].next = nodes[(i + 3) % n]
        queue.register_finalizer(nodes[i])
class Node(object):
    def __init__(self, n): self.n = n
class Queue(rgc.FinalizerQueue):
    Class = Node
    def finalizer_trigger(self): pass
queue = Queue()
def queued(n):
    make_queue(n)
    found = ''
    for i in range(n + 1):
        rgc.collect()
        while True:
            node = queue.next_dead()
            if node is None: break
            found += str(node.n)
    return found
";
    let program = format!("import weakref\n{NOTES}{source}");
    let calls = "
        cycle() == \"12 1 1|12 21|12 21\"
        queued(7) == \"0123456\"
        ";
    check_without_python(&program, calls);
}

#[test]
fn finalizers_may_keep_their_object() {
    check_notes(
        "
notes.saved = None
class Phoenix(object):
    def __init__(self, n): self.n = n
    def __del__(self): notes.saved = self
def make(n): Phoenix(n)
def f(n):
    make(n)
    rgc.collect()
    saved = notes.saved
    assert saved is not None
    notes.saved = None
    found = saved.n
    rgc.collect()
    rgc.collect()
    return found, notes.saved is None
",
        "
        f(8) == [8,true]
        ",
    );
}

#[test]
fn what_a_finalizer_raises_is_forgotten() {
    check_notes(
        "
class Angry(object):
    def __init__(self, n): self.n = n
    def __del__(self):
        notes.died.append(self.n)
        raise ValueError
def make(n):
    Angry(n)
    Noted(n + 1)
def f(n):
    start()
    make(n)
    try: return died()
    except ValueError: return 'raised'
",
        "
        f(1) == \"1 2\"
        ",
    );
}

#[test]
fn weak_references_are_told_before_finalizers_run() {
    check_notes(
        "
import weakref
class Watched(object):
    def __init__(self, n): self.n = n
    def __del__(self):
        if notes.refs[0]() is None: notes.died.append(self.n)
notes.refs = []
def make(n): notes.refs = [weakref.ref(Watched(n))]
def f(n):
    start()
    make(n)
    return died()
",
        "
        f(4) == \"4\"
        ",
    );
}

#[test]
fn finalizer_queues_hand_out_the_dead() {
    check_notes(
        "
class Plain(object):
    def __init__(self, n): self.n = n
class Part(Plain): pass
class Queue(rgc.FinalizerQueue):
    Class = Plain
    def finalizer_trigger(self): notes.died.append(1000)
class Other(rgc.FinalizerQueue):
    Class = Plain
    def finalizer_trigger(self):
        while True:
            p = self.next_dead()
            if p is None: break
            notes.died.append(-p.n)
queue = Queue()
other = Other()
def make(n):
    queue.register_finalizer(Plain(n))
    queue.register_finalizer(Part(n + 1))
    other.register_finalizer(Plain(n + 2))
    Plain(n + 3)
def f(n):
    start()
    assert queue.next_dead() is None
    make(n)
    rgc.collect()
    while True:
        p = queue.next_dead()
        if p is None: break
        notes.died.append(p.n)
    return ' '.join([str(n) for n in notes.died])
",
        "
        f(1) == \"1000 -3 1 2\"
        ",
    );
}

#[test]
fn many_dead_objects_between_collections() {
    check(
        "
class Count(object): pass
count = Count()
count.n = 0
count.text = ''
class A(object):
    def __init__(self, i): self.i = i
    def __del__(self):
        count.n += 1
        count.text = str(self.i)
def f(n):
    keep = [A(0)]
    for i in range(n):
        a = A(i)
        if i % 1000 == 0: keep.append(a)
    return count.n <= n and len(keep) == n // 1000 + 1
",
        "
        f(50000) == true
        ",
    );
}

#[test]
fn python_name_of_the_collector() {
    check(
        "
import gc
class Count(object): n = 0
count = Count()
class A(object):
    def __del__(self): count.n += 1
def make(n):
    for i in range(n): A()
gc.collect()
def f(n):
    make(n)
    gc.collect()
    gc.collect()
    return count.n
",
        "
        f(4) == 4
        ",
    );
}
