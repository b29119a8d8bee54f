"""The ll_* helpers. What they are made of is described in the crate's lib.rs."""
from taipan_prelude import (
    rint, rfloat, rmath, rstr, rlist, rrange, rdict, rtuple, rbuilder, robject,
    rposix, rclass, rmodel)
