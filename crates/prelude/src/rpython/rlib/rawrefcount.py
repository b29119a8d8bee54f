"""Links between instances and blocks of raw memory, PyObjects, that C code counts
references to. A PyObject is a struct that starts with two Signed: its count
(`c_ob_refcnt`) and the link (`c_ob_pypy_link`).

An instance that a PyObject is linked to is worth REFCNT_FROM_PYPY references, or
REFCNT_FROM_PYPY_LIGHT if the PyObject is to be freed with it; the program adds them to
the count itself. In compiled programs the collector keeps the links. While a program
loads, and in interpreted tests, the lists of this module do, and only _collect() looks
at them.
"""
import sys, weakref

from rpython.rlib import rgc
from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rtyper.annlowlevel import (
    cast_gcref_to_instance, cast_instance_to_gcref)
from rpython.rtyper.lltypesystem import llmemory, lltype
from rpython.rtyper.lltypesystem.lloperation import llop

REFCNT_FROM_PYPY = sys.maxint // 4 + 1
REFCNT_FROM_PYPY_LIGHT = REFCNT_FROM_PYPY + (sys.maxint // 2 + 1)
_Py_IMMORTAL_REFCNT = 2 ** 32 - 1

RAWREFCOUNT_DEALLOC_TRIGGER = lltype.Ptr(lltype.FuncType([], lltype.Void))


def init(dealloc_trigger_callback=None):
    """Sets the function that is called after a collection which left PyObjects to
    next_dead(). In compiled programs it is an `llhelper`, and only the first call counts;
    otherwise each call forgets all links."""
    if we_are_translated():
        llop.gc_rawrefcount_init(lltype.Void,
                                 llmemory.cast_ptr_to_adr(dealloc_trigger_callback))
    else:
        _init(dealloc_trigger_callback)

@specialize.argtype(0, 1)
def create_link_pypy(p, ob):
    """Links an instance that has the data: it lives as long as the count is above what
    it is worth, and from_obj() finds the PyObject."""
    if we_are_translated():
        llop.gc_rawrefcount_create_link_pypy(
            lltype.Void, cast_instance_to_gcref(p), llmemory.cast_ptr_to_adr(ob))
    else:
        _create_link_pypy(p, ob)

@specialize.argtype(0, 1)
def create_link_pyobj(p, ob):
    """Links a PyObject that has the data: the count does not keep the instance alive,
    and from_obj() does not find the PyObject."""
    if we_are_translated():
        llop.gc_rawrefcount_create_link_pyobj(
            lltype.Void, cast_instance_to_gcref(p), llmemory.cast_ptr_to_adr(ob))
    else:
        _create_link_pyobj(p, ob)

@specialize.argtype(0, 1)
def mark_deallocating(marker, ob):
    """Has to_obj() return `marker`, a prebuilt instance, for a PyObject without a
    link."""
    if we_are_translated():
        llop.gc_rawrefcount_mark_deallocating(
            lltype.Void, cast_instance_to_gcref(marker), llmemory.cast_ptr_to_adr(ob))
    else:
        _link(marker, ob)

@specialize.arg(0)
def from_obj(OB_PTR_TYPE, p):
    """The PyObject of an instance that has the data, or null."""
    if we_are_translated():
        adr = llop.gc_rawrefcount_from_obj(llmemory.Address, cast_instance_to_gcref(p))
        return llmemory.cast_adr_to_ptr(adr, OB_PTR_TYPE)
    return _from_obj(OB_PTR_TYPE, p)

@specialize.arg(0)
@specialize.argtype(1)
def to_obj(Class, ob):
    """The instance that a PyObject is linked to, or None."""
    if we_are_translated():
        ref = llop.gc_rawrefcount_to_obj(llmemory.GCREF, llmemory.cast_ptr_to_adr(ob))
        return cast_gcref_to_instance(Class, ref)
    return _to_obj(Class, ob)

@specialize.arg(0)
def next_dead(OB_PTR_TYPE):
    """Takes a PyObject whose last reference was that of an instance that died, or null.
    Its count is 1."""
    if we_are_translated():
        adr = llop.gc_rawrefcount_next_dead(llmemory.Address)
        return llmemory.cast_adr_to_ptr(adr, OB_PTR_TYPE)
    return _next_dead(OB_PTR_TYPE)


# Without a collector. Addresses are not known, so a link is an index of `_adr2pypy`.
_p_list = []
_o_list = []
_d_list = []
_adr2pypy = [None]
_pypy2ob = {}
_pypy2ob_rev = {}
_dealloc_trigger_callback = None
_keepalive_forever = set()

@not_rpython
def _init(dealloc_trigger_callback):
    global _dealloc_trigger_callback
    _dealloc_trigger_callback = dealloc_trigger_callback
    for links in (_p_list, _o_list, _d_list, _adr2pypy):
        del links[:]
    _adr2pypy.append(None)
    _pypy2ob.clear()
    _pypy2ob_rev.clear()

@not_rpython
def _link(p, ob):
    assert not ob.c_ob_pypy_link, "the PyObject has a link"
    ob.c_ob_pypy_link = len(_adr2pypy)
    _adr2pypy.append(p)

@not_rpython
def _create_link_pypy(p, ob):
    assert p not in _pypy2ob and ob._obj not in _pypy2ob_rev
    _link(p, ob)
    _join(p, ob)
    _p_list.append(ob)

@not_rpython
def _create_link_pyobj(p, ob):
    assert p not in _pypy2ob and ob._obj not in _pypy2ob_rev
    _link(p, ob)
    _o_list.append(ob)

@not_rpython
def _join(p, ob):
    _pypy2ob[p] = ob
    _pypy2ob_rev[ob._obj] = p

@not_rpython
def _from_obj(OB_PTR_TYPE, p):
    ob = _pypy2ob.get(p)
    if ob is None:
        return lltype.nullptr(OB_PTR_TYPE.TO)
    assert lltype.typeOf(ob) == OB_PTR_TYPE
    return ob

@not_rpython
def _to_obj(Class, ob):
    p = _adr2pypy[ob.c_ob_pypy_link]
    assert p is None or isinstance(p, Class)
    return p

@not_rpython
def _next_dead(OB_PTR_TYPE):
    if not _d_list:
        return lltype.nullptr(OB_PTR_TYPE.TO)
    ob = _d_list.pop(0)
    assert lltype.typeOf(ob) == OB_PTR_TYPE
    return ob

@not_rpython
def _collect(track_allocation=True):
    """Does what a collection does to links, and calls the callback if PyObjects wait; once
    more if it returns "RETRY"."""
    again = True
    while again:
        p_links = _weaken(_p_list, True)
        o_links = _weaken(_o_list, False)
        for i in range(3):          # of a cycle with __del__, one dies at a time
            rgc.collect()
        for ob, ref in p_links:
            if _is_kept(ob, ref, track_allocation):
                _join(ref(), ob)
                _p_list.append(ob)
        for ob, ref in o_links:
            if _is_kept(ob, ref, track_allocation):
                _o_list.append(ob)
        again = bool(_d_list) and _dealloc_trigger_callback() == "RETRY"

@not_rpython
def _weaken(obs, has_data):
    """Takes those PyObjects out of a list whose links do not keep the instances alive.
    Returns them with weak references."""
    weak, kept = [], []
    while obs:
        ob = obs.pop(0)
        count = ob.c_ob_refcnt
        if count == _Py_IMMORTAL_REFCNT:
            raise AssertionError("rawrefcount: immortal PyObjects are not supported")
        if has_data and count not in (REFCNT_FROM_PYPY, REFCNT_FROM_PYPY_LIGHT):
            kept.append(ob)
            continue
        assert count >= REFCNT_FROM_PYPY
        p = _adr2pypy[ob.c_ob_pypy_link]
        _adr2pypy[ob.c_ob_pypy_link] = None
        weak.append((ob, weakref.ref(p)))
        if has_data:
            del _pypy2ob[p]
            del _pypy2ob_rev[ob._obj]
        del p
    obs.extend(kept)
    return weak

@not_rpython
def _is_kept(ob, ref, track_allocation):
    """After a collection: whether the instance is alive. If it is not, its references
    to the PyObject go."""
    p = ref()
    if p is not None:
        _adr2pypy[ob.c_ob_pypy_link] = p
        return True
    ob.c_ob_pypy_link = 0
    is_light = ob.c_ob_refcnt >= REFCNT_FROM_PYPY_LIGHT
    ob.c_ob_refcnt -= REFCNT_FROM_PYPY_LIGHT if is_light else REFCNT_FROM_PYPY
    if ob.c_ob_refcnt == 0:
        if is_light:
            lltype.free(ob, flavor='raw', track_allocation=track_allocation)
        else:
            ob.c_ob_refcnt = 1
            _d_list.append(ob)
    return False

@not_rpython
def _dont_free_any_more():
    """Keeps all instances that are linked alive."""
    for ob in _p_list + _o_list:
        _keepalive_forever.add(_to_obj(object, ob))
    del _d_list[:]
