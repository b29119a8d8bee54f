"""pytest under its older name."""
from pytest import (
    fail, fixture, importorskip, mark, param, raises, skip, xfail)
