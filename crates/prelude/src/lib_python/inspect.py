"""What there is to know of live objects."""
import types
from collections import namedtuple

ArgSpec = namedtuple('ArgSpec', 'args varargs keywords defaults')


def ismodule(x):
    return isinstance(x, types.ModuleType)


def isclass(x):
    return isinstance(x, (type, types.ClassType))


def isfunction(x):
    return isinstance(x, types.FunctionType)


def ismethod(x):
    return isinstance(x, types.MethodType)


def isbuiltin(x):
    return isinstance(x, types.BuiltinFunctionType)


def isroutine(x):
    return isbuiltin(x) or isfunction(x) or ismethod(x)


def isgeneratorfunction(x):
    return (isfunction(x) or ismethod(x)) and bool(x.func_code.co_flags & 0x20)


def isgenerator(x):
    return isinstance(x, types.GeneratorType)


def iscode(x):
    return isinstance(x, types.CodeType)


def getargs(code):
    n = code.co_argcount
    names = list(code.co_varnames)
    varargs = keywords = None
    if code.co_flags & 4:
        varargs = names[n]
    if code.co_flags & 8:
        keywords = names[n + (varargs is not None)]
    return names[:n], varargs, keywords


def getargspec(func):
    if ismethod(func):
        func = func.im_func
    if not isfunction(func):
        raise TypeError('%r is not a Python function' % (func,))
    args, varargs, keywords = getargs(func.func_code)
    return ArgSpec(args, varargs, keywords, func.func_defaults)


def getmembers(x, predicate=None):
    members = []
    for name in dir(x):
        try:
            value = getattr(x, name)
        except AttributeError:
            continue
        if predicate is None or predicate(value):
            members.append((name, value))
    return members


def getmro(cls):
    if hasattr(cls, '__mro__'):
        return cls.__mro__
    found = []

    def search(c):
        if c not in found:
            found.append(c)
            for base in c.__bases__:
                search(base)
    search(cls)
    return tuple(found)


def getdoc(x):
    doc = getattr(x, '__doc__', None)
    return cleandoc(doc) if isinstance(doc, basestring) else None


def cleandoc(doc):
    lines = doc.expandtabs().split('\n')
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(margins or [0])
    lines = [lines[0].lstrip()] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return '\n'.join(lines)


def getmodule(x):
    import sys
    return sys.modules.get(getattr(x, '__module__', None))


def getfile(x):
    if ismodule(x):
        return x.__file__
    if ismethod(x):
        x = x.im_func
    return x.func_code.co_filename


getsourcefile = getfile


def currentframe():
    import sys
    return sys._getframe(1)
