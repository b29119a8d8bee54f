"""The sampling profiler: where a program spends its time, in code objects of the interpreted language.

The function that runs a code object keeps a stack of them while the profiler is on. A signal of the timer
writes that stack into a file, which vmprof's tools read (`_sampler.py`).
"""
import os

from rpython.rlib import rposix
from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rlib.rthread import ThreadLocalField
from rpython.rlib.rweaklist import RWeakListMixin
from rpython.rtyper.lltypesystem import lltype, rffi

from rpython.rlib.rvmprof._sampler import (
    DEPTH, FIRST, PSTACK, ROOM, ROUND, STACK, c_code, c_open, c_path, c_pause, c_stack, c_start, c_stop)

MAX_FUNC_NAME = 1023

REGISTER = lltype.Ptr(lltype.FuncType([PSTACK], lltype.Void))


class VMProfError(Exception):
    msg = ''

    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return self.msg


class VMProfPlatformUnsupported(Exception):
    pass


class _State(object):
    """What is the same for all threads."""
    _immutable_fields_ = ['is_enabled?']

    def __init__(self):
        self.is_enabled = False
        # How often it was enabled: stacks that the handler knows have that number.
        self.round = 0
        # The number of the last code object: multiples of 4, as vmprof's tools expect.
        self.last_id = 4
        # Makes the stack of a thread known to the handler. Programs that never enable the profiler need no C compiler.
        self.register = lltype.nullptr(REGISTER.TO)

    def _cleanup_(self):
        self.__init__()

_state = _State()
_stack = ThreadLocalField(PSTACK, 'rvmprof_stack')


class _CodeObjects(RWeakListMixin):
    """The code objects of a class that exist."""

    def __init__(self):
        self.initialize()


class _Classes(object):
    """The classes of code objects."""

    def __init__(self):
        self.known = {}
        self.write_all = lambda: None

    @not_rpython
    def add(self, CodeClass, full_name_func):
        before, objects = self.write_all, _CodeObjects()

        def write_all():
            before()
            for reference in objects.get_all_handles():
                code = reference()
                if code is not None:
                    _write_code(code._vmprof_unique_id, full_name_func(code))
        self.known[CodeClass], self.write_all = objects, write_all
        CodeClass._vmprof_unique_id = 0
        CodeClass._vmprof_weak_list = objects
        # Not an immutable one: objects that were there before the program ran get a number, too.
        attributes = CodeClass.__dict__.get('_attrs_')
        if attributes is not None:
            CodeClass._attrs_ = list(attributes) + ['_vmprof_unique_id']

    def _freeze_(self):
        return True

_classes = _Classes()


def register_code_object_class(CodeClass, full_name_func):
    """Declares that instances of the class are code objects. `full_name_func(code)` returns
    'class:func_name:func_line:filename', with exactly three colons."""
    if CodeClass not in _classes.known:
        _classes.add(CodeClass, full_name_func)


@specialize.argtype(0)
def register_code(code, name):
    """Gives a new code object its number. `name` is as for its class."""
    if code._vmprof_unique_id == 0:
        _state.last_id += 4
        code._vmprof_unique_id = _state.last_id
        if _state.is_enabled:
            _write_code(code._vmprof_unique_id, name(code))
        else:
            code._vmprof_weak_list.add_handle(code)


@specialize.memo()
def _is_registered(CodeClass):
    return hasattr(CodeClass, '_vmprof_unique_id')


@specialize.call_location()
def get_unique_id(code):
    """The number of a code object; 0 if it has none."""
    assert code is not None
    if _is_registered(code.__class__):
        return code._vmprof_unique_id
    return 0


def _write_code(number, name):
    if name.count(':') != 3 or len(name) > MAX_FUNC_NAME:
        raise VMProfError("a name is 'class:func_name:func_line:filename', not longer than %d: %s" % (MAX_FUNC_NAME, name))
    _check(c_code(name, number))


def _check(result):
    if rffi.cast(lltype.Signed, result) < 0:
        raise VMProfError(os.strerror(rposix.get_saved_errno()))


def vmprof_execute_code(name, get_code_fn, result_class=None,
                        _hack_update_stack_untranslated=False):
    """Decorates the function that runs a code object. `get_code_fn` returns that, of the same arguments."""
    def decorate(func):
        def decorated_function(*args):
            if not _state.is_enabled or not we_are_translated():
                return func(*args)
            stack = _this_stack()
            depth = _enter(stack, get_code_fn(*args)._vmprof_unique_id)
            try:
                return func(*args)
            finally:
                stack[DEPTH] = depth
        decorated_function.__name__ = func.__name__ + '_rvmprof'
        return decorated_function
    return decorate


def _this_stack():
    """The stack of this thread, which the handler knows."""
    stack = _stack.getraw()
    if not stack:
        # As long as the process lives: the handler may look there at any time.
        stack = lltype.malloc(STACK, FIRST + ROOM, flavor='raw', zero=True, track_allocation=False)
        _stack.setraw(stack)
    if stack[ROUND] != _state.round:
        stack[ROUND] = _state.round
        _state.register(stack)
    return stack


def _enter(stack, unique_id):
    """Puts a code object on the stack. Returns the depth before."""
    depth = stack[DEPTH]
    if depth < ROOM:
        stack[FIRST + depth] = unique_id
    stack[DEPTH] = depth + 1
    return depth


def enable(fileno, interval, memory=0, native=0, real_time=0):
    """Takes samples every `interval` seconds, and writes them to that file; with `memory`, how much of it is resident,
    too. Code objects that are entered before are in no sample."""
    if _state.is_enabled:
        raise VMProfError("vmprof is already enabled")
    # Not a number is in no interval.
    if not 1e-6 <= interval < 1.0:
        raise VMProfError("bad value for 'interval'")
    if native:
        raise VMProfError("native functions are not sampled")
    _check(c_open(fileno, interval, memory, real_time))
    _classes.write_all()
    _state.round += 1
    _state.register = c_stack
    _state.is_enabled = True
    _this_stack()
    _check(c_start())


def disable():
    """Takes no more samples. The file is complete then; it stays open."""
    if not _state.is_enabled:
        raise VMProfError("vmprof is not enabled")
    _state.is_enabled = False
    _check(c_stop())


def is_enabled():
    return _state.is_enabled


def stop_sampling():
    """Takes no samples until start_sampling(). Returns the file's number, -1 without one."""
    return rffi.cast(lltype.Signed, c_pause(1))


def start_sampling():
    c_pause(-1)


def get_profile_path(space):
    """The path of the file, '' if it has none; None while there is none."""
    if not _state.is_enabled:
        return None
    with rffi.scoped_alloc_buffer(4096) as path:
        length = rffi.cast(lltype.Signed, c_path(path.raw, path.size))
        return path.str(length) if length >= 0 else ''


# The stack of code objects, for programs that switch machine stacks.

def save_stack():
    """What restore_stack() takes when this machine stack is entered again."""
    return _stack.getraw()


def empty_stack():
    """The new machine stack has a stack of its own, as soon as it enters a code object."""
    restore_stack(lltype.nullptr(STACK))


def restore_stack(x):
    _stack.setraw(x)
    if _state.is_enabled:
        _state.register(x)
