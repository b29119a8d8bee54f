"""pytest under its older name."""
from pytest import (
    approx, fail, fixture, importorskip, mark, param, raises, skip, xfail)
