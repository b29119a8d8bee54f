"""How deep functions may recurse: by default, where the program sets a limit, in threads and stacklets, and in
critical code."""

from rpython.rlib import rstack, rstacklet, rthread
from rpython.rlib.rstackovf import StackOverflow, check_stack_overflow
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(separate_module_sources=[
    'long stack_pointer(void) { return (long)__builtin_frame_address(0); }'],
    post_include_bits=['long stack_pointer(void);'])
stack_pointer = rffi.llexternal('stack_pointer', [], lltype.Signed, compilation_info=eci)


class State(object):
    deepest = 0
    full = 0
    most = 0
    lowest = 0

state = State()
lock = rthread.allocate_lock()


def deep(n):
    state.deepest = n
    if state.full == 0 and rstack.stack_almost_full():
        state.full = n
    if n == state.most:
        return 0
    return deep(n + 1) + 1


def depth(most=-1):
    state.most = most
    state.full = 0
    try:
        deep(0)
    except StackOverflow:
        check_stack_overflow()
    return state.deepest


def about(n, expected):
    return expected * 9 // 10 <= n <= expected * 11 // 10


def of_another(n):
    try:
        if n == 1:
            raise NotImplementedError
        if n == 2:
            raise RuntimeError
        rstack.stack_check()
        deep(0)
    except StackOverflow:
        return 'StackOverflow'
    except RuntimeError:
        return 'RuntimeError'
    return 'nothing'


def run_in_thread():
    depth()
    lock.release()


def in_thread():
    lock.acquire(True)
    rthread.start_new_thread(run_in_thread, ())
    lock.acquire(True)
    lock.release()
    return state.deepest


def run_in_stacklet(h, arg):
    depth()
    return h


def in_stacklet():
    rstacklet.StackletThread().new(run_in_stacklet)
    return state.deepest


def everywhere(expected):
    print about(in_thread(), expected), about(in_stacklet(), expected)


def limits():
    default = depth()
    print 'default', default > 2000, about(depth(), default), about(state.full, default * 15 // 16)
    rstack._stack_set_length_fraction(0.5)
    print 'half', about(depth(), default // 2), about(state.full, default * 15 // 32)
    rstack._stack_set_length_fraction(2.0)
    print 'twice', about(depth(), default * 2)
    rstack._stack_criticalcode_start()
    print 'critical', depth(default * 3) == default * 3
    rstack._stack_criticalcode_stop()
    print 'no more', about(depth(), default * 2)
    rstack._stack_set_length_fraction(1000.0)
    print 'the end', depth() > default * 5
    rstack._stack_set_length_fraction(1.0)
    print 'as before', about(depth(), default)
    print of_another(0), of_another(1), of_another(2)
    return default


def measured(n):
    state.lowest = stack_pointer()
    return measured(n + 1) + 1


def elsewhere():
    start = stack_pointer()
    try:
        measured(0)
    except StackOverflow:
        check_stack_overflow()
    print 'KB', about((start - state.lowest) >> 10, 768)
    default = depth()
    for percent in [100, 50, 200]:
        rstack._stack_set_length_fraction(percent / 100.0)
        everywhere(default * percent // 100)
    return default


def entry_point(argv):
    limits()
    elsewhere()
    return 0


def target(driver, args):
    return entry_point
