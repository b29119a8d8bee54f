"""Functions made at import time: from source text, or under another name."""

import types

PY_IDENTIFIER = ''.join([chr(i) if chr(i).isalnum() else '_' for i in range(256)])
PY_IDENTIFIER_MAX = 120


def valid_identifier(stuff):
    """A name that is spelled like some object."""
    stuff = str(stuff).translate(PY_IDENTIFIER)
    if not stuff or '0' <= stuff[0] <= '9':
        stuff = '_' + stuff
    return stuff[:PY_IDENTIFIER_MAX]


def func_with_new_name(func, newname, globals=None):
    """A copy of a function with another name, and perhaps other globals."""
    if globals is None:
        globals = func.func_globals
    f = types.FunctionType(func.func_code, globals, newname, func.func_defaults,
                           func.func_closure)
    f.func_dict.update(func.func_dict)
    return f


def func_renamer(newname):
    """Decorator: a copy of the function with that name."""
    def decorate(func):
        return func_with_new_name(func, newname)
    return decorate


def compile2(source, filename='', mode='exec', flags=0, dont_inherit=0):
    """compile(), where everything but the source may be left out."""
    return compile(source, filename or '<source>', mode)


def nice_repr_for_func(fn, name=None):
    """`(module:line)name`"""
    if name is None:
        name = getattr(fn, '__name__', 'UNKNOWN')
    module = getattr(fn, '__module__', None) or '?'
    code = getattr(fn, 'func_code', None)
    line = code.co_firstlineno if code is not None else -1
    return '(%s:%d)%s' % (module, line, name)


# As the table of str.translate: what no identifier can have in it becomes an underscore.
PY_IDENTIFIER = ''.join([chr(i) if chr(i).isalnum() and i < 128 else '_' for i in range(256)])
PY_IDENTIFIER_MAX = 120


def valid_identifier(stuff):
    """An identifier that looks like the object's text."""
    name = str(stuff).translate(PY_IDENTIFIER)
    if not name or name[0].isdigit():
        name = '_' + name
    return name[:PY_IDENTIFIER_MAX]


def has_varargs(func):
    return getattr(func, 'func_code', func).co_flags & 4 != 0


def has_varkeywords(func):
    return getattr(func, 'func_code', func).co_flags & 8 != 0


def getsource(object):
    """The source text; None if it is not known."""
    import inspect
    try:
        return inspect.getsource(object)
    except (IOError, TypeError):
        return None


def rpython_wrapper(f, template, templateargs=None, **globaldict):
    """A function in the place of `f`, with its name and parameters. The template is its
    source, where `{name}`, `{arglist}` and `{original}` are to be filled in."""
    import inspect
    import py
    names, star, keywords, _ = inspect.getargspec(f)
    assert star is None and keywords is None, "a wrapper of a function with star parameters"
    original = f.__name__ + '_original'
    source = template.format(name=f.__name__, arglist=', '.join(names), original=original,
                             **(templateargs or {}))
    globaldict[original] = f
    exec py.code.Source(source).compile() in globaldict
    wrapper = globaldict[f.__name__]
    wrapper.func_defaults = f.func_defaults
    wrapper.func_dict.update(f.func_dict)
    return wrapper
