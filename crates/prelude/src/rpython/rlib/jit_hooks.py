"""Figures of the tracing JIT, which are all zero, since nothing is traced; and what it is
told of single loops, which changes nothing. Operations and boxes of traces, which hooks of
the tracing JIT get, do not exist."""
from rpython.rtyper.lltypesystem import llmemory, lltype
from rpython.rlib.objectmodel import specialize


def stats_set_debug(warmrunnerdesc, flag):
    pass


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
