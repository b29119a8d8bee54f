"""Instances and classes. An instance starts with `typeptr`, which points to the
vtable of its class; vtables start with the range that tells subclasses."""
from rpython.rtyper.lltypesystem.lltype import Signed, Bool, Unsigned, nullptr, cast_primitive, cast_pointer, typeOf
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import rpy_fatal
from taipan_prelude.ll_str import ll_int2hex
from taipan_prelude.rstr import ll_chr2str, ll_strconcat, ll_strconcat_char


def ll_issubclass(subcls, cls):
    return llop.int_between(Bool, cls.subclassrange_min, subcls.subclassrange_min,
                            cls.subclassrange_max)

def ll_isinstance(obj, cls):
    if not obj:
        return False
    return ll_issubclass(obj.typeptr, cls)

def ll_isinstance_exact(obj, cls):
    """For a class without subclasses."""
    if not obj:
        return False
    return obj.typeptr == cls

def ll_checked_cast(obj, cls):
    """Null for an instance of another class."""
    if ll_isinstance(obj, cls):
        return obj
    return nullptr(typeOf(obj).TO)

def ll_inst_type(VTABLE, obj):
    """Null for None."""
    if not obj:
        return nullptr(VTABLE)
    return obj.typeptr

def ll_inst_hash(obj):
    if not obj:
        return 0
    return llop.gc_identityhash(Signed, obj)

def ll_cls_hash(cls):
    """Stands in the vtable, so that it does not depend on addresses."""
    if not cls:
        return 0
    return cls.hash

def ll_ptr_hash(p):
    """For pointers to prebuilt data, which never moves."""
    return llop.cast_ptr_to_int(Signed, p)

def ll_inst_str(obj):
    if not obj:
        return "NULL"
    address = ll_int2hex(cast_primitive(Unsigned, llop.gc_id(Signed, obj)), False)
    s = ll_strconcat(ll_chr2str('<'), obj.typeptr.name)
    s = ll_strconcat(s, " object at 0x")
    s = ll_strconcat(s, address)
    return ll_strconcat_char(s, '>')

def ll_sub_inst_str(obj, OBJECTPTR):
    return ll_inst_str(cast_pointer(OBJECTPTR, obj))

def ll_ptr_str(p):
    return ll_int2hex(cast_primitive(Unsigned, llop.cast_ptr_to_int(Signed, p)), True)

def ll_address_hash(address):
    return llop.cast_adr_to_int(Signed, address)

def ll_fatalerror(message):
    rpy_fatal(message)
