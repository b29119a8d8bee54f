"""The ll_* helpers. What they are made of is described in the crate's lib.rs."""
from taipan_prelude import (
    rint, rfloat, ll_str, rmath, rstr, rlist, rrange, rdict, rtuple, rbuilder,
    rclass, rmodel, rposix, rfile, rsignal, rsocket, rbytearray, rshow)
