"""What there is to know of live objects."""
import linecache
import sys
import types
from collections import namedtuple

Arguments = namedtuple('Arguments', 'args varargs keywords')
ArgSpec = namedtuple('ArgSpec', 'args varargs keywords defaults')

# Flags of code objects.
CO_OPTIMIZED, CO_NEWLOCALS, CO_VARARGS, CO_VARKEYWORDS = 0x1, 0x2, 0x4, 0x8
CO_NESTED, CO_GENERATOR, CO_NOFREE = 0x10, 0x20, 0x40


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
    return Arguments(names[:n], varargs, keywords)


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
    if ismodule(x):
        return x
    name = getattr(x, '__module__', None)
    return sys.modules.get(name)


def getfile(x):
    if ismethod(x):
        x = x.im_func
    if isfunction(x):
        x = x.func_code
    if iscode(x):
        return x.co_filename
    module = getmodule(x)
    if module is None or not hasattr(module, '__file__'):
        raise TypeError('%r has no source file' % (x,))
    return module.__file__

getsourcefile = getfile


def currentframe():
    return sys._getframe(1)


def findsource(x):
    """The lines of the file of an object, and the index of its first one."""
    lines = linecache.getlines(getfile(x))
    if not lines:
        raise IOError('could not get source code')
    if ismodule(x):
        return lines, 0
    if isclass(x):
        return lines, _class_line(lines, x.__name__)
    if ismethod(x):
        x = x.im_func
    if isfunction(x):
        x = x.func_code
    if iscode(x):
        at = x.co_firstlineno - 1
        # Decorators belong to what they decorate.
        while at > 0 and lines[at - 1].lstrip().startswith('@'):
            at -= 1
        return lines, at
    raise IOError('could not find the source of %r' % (x,))


def _class_line(lines, name):
    """Of several classes of that name the least indented one."""
    best = None
    for i in range(len(lines)):
        text = lines[i].lstrip()
        if not text.startswith('class'):
            continue
        rest = text[5:].lstrip()
        if rest[:len(name)] != name or not rest[len(name):].lstrip()[:1] in ('(', ':'):
            continue
        indent = len(lines[i]) - len(text)
        if best is None or indent < best[0]:
            best = indent, i
    if best is None:
        raise IOError('could not find class definition')
    return best[1]


def getblock(lines):
    """The lines of the first compound statement."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    end = 0
    header = True
    depth, quote = 0, None
    for i in range(len(lines)):
        text = lines[i].strip()
        fresh = depth == 0 and quote is None
        if fresh and text and not text.startswith('#'):
            here = len(lines[i]) - len(lines[i].lstrip())
            if not header and here <= indent:
                break
            header = header and text.startswith("@")
        depth, quote = _scan(lines[i], depth, quote)
        if text:
            end = i + 1
    # Comments that follow the block are not part of it.
    while end > 1:
        text = lines[end - 1].lstrip()
        outside = text.startswith('#') and len(lines[end - 1]) - len(text) <= indent
        if text and not outside:
            break
        end -= 1
    return lines[:end]


def _scan(line, depth, quote):
    """How many brackets, and which string in triple quotes, are open after a line."""
    i = 0
    single = None
    while i < len(line):
        c = line[i]
        if c == '\\' and (quote or single):
            i += 2
            continue
        if quote:
            if line[i:i + 3] == quote:
                quote = None
                i += 2
        elif single:
            if c == single:
                single = None
        elif line[i:i + 3] in ('"""', "'''"):
            quote = line[i:i + 3]
            i += 2
        elif c in '"\'':
            single = c
        elif c == '#':
            break
        elif c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
        i += 1
    return depth, quote


def getsourcelines(x):
    lines, at = findsource(x)
    if ismodule(x):
        return lines, 0
    return getblock(lines[at:]), at + 1


def getsource(x):
    return ''.join(getsourcelines(x)[0])
