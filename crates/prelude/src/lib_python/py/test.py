"""pytest under its older name."""
from pytest import (
    Class, Collector, ExceptionInfo, File, Function,
    Instance, Item, Module, Session, approx, collect, config,
    ensuretemp, fail, fixture, importorskip, mark, param, raises, skip, xfail, yield_fixture)
