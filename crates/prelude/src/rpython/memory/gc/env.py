"""How big the collector's spaces are: what programs read or replace here while they load
has no effect, Taipan's collector has sizes of its own."""
import os


def _read(text, default, factors):
    """A number with a unit, as variables of the environment have it."""
    text = text.strip().lower()
    factor = 1
    for unit in factors:
        if text.endswith(unit):
            text = text[:-len(unit)]
            factor = factors[unit]
            break
    try:
        return factor * float(text)
    except ValueError:
        return default


def read_from_env(varname):
    return int(_read(os.environ.get(varname) or '', 0, {
        'kb': 1024, 'k': 1024, 'mb': 1024 ** 2, 'm': 1024 ** 2, 'gb': 1024 ** 3, 'g': 1024 ** 3,
        'b': 1}))


def read_float_from_env(varname):
    return _read(os.environ.get(varname) or '', 0.0, {'%': 0.01})


def get_total_memory():
    return 1 << 32


def estimate_best_nursery_size():
    return 4 << 20


def get_L2cache_linux2():
    return -1
