"""Figures of the tracing JIT, which are all zero, since nothing is traced; and what it is
told of single loops, which changes nothing. Operations and boxes of traces, which hooks of
the tracing JIT get, do not exist: functions for these cannot be called."""
from rpython.rtyper.lltypesystem import llmemory, lltype
from rpython.rlib.objectmodel import specialize


def _of_traces(name):
    """A function for operations of traces: what mentions it loads, what calls it does not
    compile."""
    def func(*args):
        raise NotImplementedError(name)
    func.__name__ = name
    func._not_rpython_ = ('nothing is traced, so there are no operations and boxes for hooks '
                          'to look at')
    return func


resop_new = _of_traces('resop_new')
resop_getopnum = _of_traces('resop_getopnum')
resop_getopname = _of_traces('resop_getopname')
resop_getarg = _of_traces('resop_getarg')
resop_setarg = _of_traces('resop_setarg')
box_getint = _of_traces('box_getint')
box_clone = _of_traces('box_clone')
box_constbox = _of_traces('box_constbox')
box_nonconstbox = _of_traces('box_nonconstbox')
box_isconst = _of_traces('box_isconst')
box_isint = _of_traces('box_isint')


def stats_set_debug(warmrunnerdesc, flag):
    pass


# How often a loop ran: its kind, number and count.
LOOP_RUN_CONTAINER = lltype.GcArray(lltype.Struct(
    'elem', ('type', lltype.Char), ('number', lltype.Signed), ('counter', lltype.Signed)))

def stats_get_loop_run_times(warmrunnerdesc):
    """NULL, as where the original counts nothing."""
    return lltype.nullptr(LOOP_RUN_CONTAINER)


def stats_get_counter_value(warmrunnerdesc, no):
    return 0


def stats_get_times_value(warmrunnerdesc, no):
    return 0.0


def stats_asmmemmgr_allocated(warmrunnerdesc):
    return 0


def stats_asmmemmgr_used(warmrunnerdesc):
    return 0


def stats_memmgr_release_all(warmrunnerdesc):
    pass


# Loops by their driver's name and the greens.

@specialize.arg(0)
def get_jitcell_at_key(name, *greenkey):
    """Null, as where nothing is known of a loop."""
    return lltype.nullptr(llmemory.GCREF.TO)


@specialize.arg(0)
def trace_next_iteration(name, *greenkey):
    pass


@specialize.arg(0)
def dont_trace_here(name, *greenkey):
    pass


@specialize.arg(0)
def mark_as_being_traced(name, *greenkey):
    pass


@specialize.arg(0)
def trace_next_iteration_hash(name, hash):
    pass
