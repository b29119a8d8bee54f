"""What instances are at the low level."""
from rpython.rtyper.lltypesystem import lltype
from taipan_lowlevel import OBJECT

OBJECTPTR = lltype.Ptr(OBJECT)
