"""A pytest plugin for a pypy checkout, run by CPython 2.7: turns the calls that its
rtyping tests make into cases for `taipan call`.

Every `interpret(f, args)` of a test becomes a line of JSON in $TAIPAN_CASES/cases.jsonl
and a module with the function and the names that it needs, cut out of the test's
source. Nothing of it is kept in this repository. See run.py.
"""
import ast
import json
import os
import sys
import types

OUT = os.environ['TAIPAN_CASES']
current = [None]
counter = [0]
sources = {}


def literal(x):
    """The text of a value as an argument of `taipan call`, or None."""
    if x is None or type(x) in (bool, int, float):
        return repr(x)
    if type(x) is str:
        return repr(x)
    if type(x) is unicode:
        return repr(x)
    if type(x) in (list, tuple):
        parts = [literal(y) for y in x]
        if None in parts:
            return None
        if type(x) is list:
            return '[%s]' % ', '.join(parts)
        return '(%s)' % ''.join([p + ', ' for p in parts])
    return from_lowlevel(x)


def from_lowlevel(x):
    value = plain(x)
    if isinstance(value, (str, unicode)):
        return repr(value)
    return None


UNKNOWN = object()


def plain(x):
    """A result as JSON would have it; UNKNOWN where that is not known."""
    if x is None or type(x) in (bool, int):
        return x
    if type(x) is long:
        return int(x)
    if type(x) is float:
        if x != x:
            return 'nan'
        if x in (float('inf'), float('-inf')):
            return 'inf' if x > 0 else '-inf'
        return x
    if type(x) is str:
        return x
    if type(x) is unicode:
        return x
    if type(x) in (list, tuple):
        items = [plain(y) for y in x]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(x, long):
        return int(x)
    try:
        from rpython.rtyper.lltypesystem import lltype
        t = lltype.typeOf(x)
        if t == lltype.Void:
            return None
        if isinstance(t, lltype.Ptr):
            name = getattr(t.TO, '_name', '')
            if name in ('rpy_string', 'rpy_unicode'):
                if not x:
                    return None
                return ('' if name == 'rpy_string' else u'').join(list(x.chars))
    except Exception:
        pass
    return UNKNOWN


def names_in(node):
    return set(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def bound_by(node):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return set([node.name])
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return set((a.asname or a.name).split('.')[0] for a in node.names)
    names = set(n.id for n in ast.walk(node)
                if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Param)))
    # `a.x = 1` and `a[0] = 1` are part of what makes `a`
    for n in ast.walk(node):
        if isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store):
            while isinstance(n, (ast.Attribute, ast.Subscript)):
                n = n.value
            if isinstance(n, ast.Name):
                names.add(n.id)
    return names


def text_of(lines, body, i, end):
    """Source lines of statement i of a body that ends before line `end`."""
    first = body[i].lineno
    if getattr(body[i], 'decorator_list', None):
        first = min(d.lineno for d in body[i].decorator_list)
    last = end
    if i + 1 < len(body):
        last = body[i + 1].lineno
        if getattr(body[i + 1], 'decorator_list', None):
            last = min(d.lineno for d in body[i + 1].decorator_list)
    part = lines[first - 1:last - 1]
    while part and (not part[-1].strip() or part[-1].lstrip().startswith('#')):
        part.pop()
    return part


def dedent(part):
    margin = min(len(l) - len(l.lstrip()) for l in part if l.strip())
    return [l[margin:] for l in part]


def next_line(body_list, node, default):
    """First line after `node` among its siblings."""
    for i, n in enumerate(body_list):
        if n is node and i + 1 < len(body_list):
            after = body_list[i + 1]
            if getattr(after, 'decorator_list', None):
                return min(d.lineno for d in after.decorator_list)
            return after.lineno
    return default


class Source(object):
    def __init__(self, filename):
        self.filename = filename
        with open(filename) as f:
            self.text = f.read()
        self.lines = self.text.split('\n')
        self.tree = ast.parse(self.text)

    def test_body(self, line):
        """The test function around a line: its statements and where it ends."""
        best = None
        scopes = [(self.tree.body, len(self.lines) + 1)]
        while scopes:
            body, end = scopes.pop()
            for node in body:
                last = next_line(body, node, end)
                if isinstance(node, ast.ClassDef):
                    scopes.append((node.body, last))
                elif isinstance(node, ast.FunctionDef) and node.lineno <= line < last:
                    best = node, last
        return best

    def without_self(self, text):
        """Replaces what test classes offer to their tests by what it stands for."""
        const = 'unicode' if 'unicode' in self.filename else 'str'
        for attribute, meaning in [('self.const', const), ('self.newdict2()', '{}'),
                                   ('self.newdict()', '{}')]:
            text = text.replace(attribute, meaning)
        return text

    def module_for(self, func_line, func_name, test):
        """Text of a module that defines the function, or None."""
        statements = []  # (bound names, used names, lines, is wanted)
        body = self.tree.body
        for i, node in enumerate(body):
            if node is test:
                continue
            part = text_of(self.lines, body, i, len(self.lines) + 1)
            statements.append((bound_by(node), names_in(node), part, node))
        found = False
        if test is not None:
            node, end = test
            for i, st in enumerate(node.body):
                if isinstance(st, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
                                   ast.Assign)):
                    part = dedent(text_of(self.lines, node.body, i, end))
                    joined = self.without_self('\n'.join(part))
                    if joined != '\n'.join(part):
                        part = joined.split('\n')
                    elif 'self' in names_in(st) and not isinstance(
                            st, (ast.ClassDef, ast.FunctionDef)):
                        continue
                    if names_in(st) & set(['interpret', 'interpret_raises', 'res']) and isinstance(
                            st, ast.Assign):
                        continue
                    statements.append((bound_by(st), names_in(st), part, st))
        wanted = set([func_name])
        keep = set()
        changed = True
        while changed:
            changed = False
            for i, (bound, used, part, st) in enumerate(statements):
                if i not in keep and bound & wanted:
                    keep.add(i)
                    wanted |= used
                    changed = True
        out = []
        for i in sorted(keep):
            if func_name in statements[i][0]:
                found = True
            out.extend(statements[i][2])
            out.append('')
        return '\n'.join(out) + '\n' if found else None


def record(func, args, outcome, kind):
    try:
        if not isinstance(func, types.FunctionType) or func.__name__ == '<lambda>':
            return
        texts = [literal(a) for a in args]
        if None in texts:
            return
        filename = func.__code__.co_filename
        if filename.endswith('.pyc'):
            filename = filename[:-1]
        if filename not in sources:
            sources[filename] = Source(filename)
        source = sources[filename]
        text = source.module_for(func.__code__.co_firstlineno, func.__name__,
                                 source.test_body(func.__code__.co_firstlineno - 1)
                                 if func.__code__.co_name != current[0] else None)
        if text is None:
            return
        n = counter[0]
        counter[0] += 1
        base = os.path.splitext(os.path.basename(filename))[0]
        name = '%s_%s_%d.py' % (base, current[0] or 'x', n)
        name = name.replace('[', '_').replace(']', '_').replace('/', '_').replace(' ', '_')
        path = os.path.join(OUT, name)
        with open(path, 'w') as f:
            f.write(text)
        # the cut must define the function in plain Python too
        space = {'__name__': 'case'}
        try:
            exec compile(text, path, 'exec') in space
            assert callable(space[func.__name__])
        except Exception:
            os.unlink(path)
            return
        case = {'id': name[:-3], 'file': path, 'func': func.__name__, 'args': texts,
                'expect': outcome, 'test': current[0], 'kind': kind}
        with open(os.path.join(OUT, 'cases.jsonl'), 'a') as f:
            f.write(json.dumps(case, encoding='latin-1') + '\n')
    except (SyntaxError, IOError, TypeError, ValueError):
        pass


def pytest_runtest_setup(item):
    current[0] = item.name


def pytest_configure(config):
    from rpython.rtyper.test import test_llinterp as t

    plain_interpret = t.interpret
    plain_raises = t.interpret_raises

    def interpret(func, values, *args, **kwds):
        result = plain_interpret(func, values, *args, **kwds)
        value = plain(result)
        record(func, values, {'any': True} if value is UNKNOWN else {'ok': value}, 'interpret')
        return result

    def interpret_raises(exc, func, values, *args, **kwds):
        result = plain_raises(exc, func, values, *args, **kwds)
        record(func, values, {'raises': exc.__name__}, 'interpret')
        return result

    t.interpret = interpret
    t.interpret_raises = interpret_raises

    from rpython.translator.c.test import test_genc

    def compile(fn, argtypes, *args, **kwds):
        """Stands for the C build: the Python function itself, recorded."""
        def call(*values, **keywords):
            expected = keywords.get('expected_exception_name')
            try:
                result = fn(*values)
            except Exception as e:
                record(fn, values, {'raises': type(e).__name__}, 'c')
                if expected is not None:
                    return None
                raise
            value = plain(result)
            record(fn, values, {'any': True} if value is UNKNOWN else {'ok': value}, 'c')
            return result
        return call

    test_genc.compile = compile
