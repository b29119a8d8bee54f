"""Cuts the function that a test calls, and all that it needs, out of the test's source.

Python 2.7. The result is the text of a module that defines the function at top level.
"""
import ast
import collections
import math
import operator
import re
import symtable
import sys
import types

from rpython.rlib import objectmodel, rarithmetic, rfloat
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi

# Modules whose names tests put into variables.
EXPORTING = [math, operator, rarithmetic, rfloat, lltype, llmemory, rffi]


INF = float('inf')


def names_in(node):
    return set(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def used_by(node, lines):
    """The names that a statement takes from around it."""
    try:
        tables = [symtable.symtable('\n'.join(lines) + '\n', '?', 'exec')]
    except SyntaxError:
        return names_in(node)
    names = set(s.get_name() for s in tables[0].get_symbols())
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names.update(s.get_name() for s in table.get_symbols() if s.is_global())
    return names


def in_scope(node):
    """A statement's nodes, without the bodies of functions and classes."""
    todo = [node]
    while todo:
        n = todo.pop()
        yield n
        if not isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(n)


def bound_by(node):
    names = set()
    for n in in_scope(node):
        if isinstance(n, (ast.FunctionDef, ast.ClassDef)):
            names.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name).split('.')[0] for a in n.names)
        elif isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Param, ast.Del)):
            names.add(n.id)
    # `a.x = 1` and `a[0] = 1` are part of what makes `a`
    for n in in_scope(node):
        if isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store):
            while isinstance(n, (ast.Attribute, ast.Subscript)):
                n = n.value
            if isinstance(n, ast.Name):
                names.add(n.id)
    # ... and so is `a.append(1)`
    for n in in_scope(node):
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            call, n = n.value, n.value.func
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name):
                names.add(n.value.id)
            # ... and what a function is once translated, and an attribute by name.
            elif isinstance(n, ast.Name) and n.id in ('register_external', 'setattr'):
                names |= names_in(call.args[0])
    return names


def free_variables(func, seen=()):
    """Values of the free variables of a function and of functions among them."""
    values = {}
    for name, cell in zip(func.__code__.co_freevars, func.__closure__ or ()):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            continue
        if isinstance(values[name], types.FunctionType) and values[name] not in seen:
            inner = free_variables(values[name], seen + (func,))
            values.update((n, v) for n, v in inner.items() if n not in values)
    return values


def is_plain(value):
    if type(value) is tuple:
        return all(is_plain(v) for v in value)
    return value is None or type(value) in (bool, int, float, str)


def spelled(name, value):
    """A statement that binds a name to a value, or None."""
    if isinstance(value, float) and (value != value or value in (INF, -INF)):
        return '%s = float(%r)' % (name, str(value))
    if is_plain(value):
        return '%s = %r' % (name, value)
    if isinstance(value, type) and value.__module__ in ('__builtin__', 'exceptions'):
        return '%s = %s' % (name, value.__name__)
    if isinstance(value, types.ModuleType):
        return None
    for module in EXPORTING:
        for known in [getattr(value, '__name__', ''), name]:
            if vars(module).get(known, module) is value:
                return 'from %s import %s as %s' % (module.__name__, known, name)
    if isinstance(value, lltype.LowLevelType):
        for module in EXPORTING:
            for known in sorted(vars(module)):
                if vars(module)[known] is value:
                    return 'from %s import %s as %s' % (module.__name__, known, name)
    return None


def varying(name, value):
    """The same for a variable that tests bind anew all the time, lists among them."""
    if type(value) is list and all([is_plain(v) for v in value]):
        return '%s = %r' % (name, value)
    return spelled(name, value)


def bound_by_loops(test):
    """The names of a test's parameters, and those that its loops and conditions bind."""
    names = set()
    if test is not None:
        for node in in_scope(test.node.args):
            if isinstance(node, ast.Name):
                names.add(node.id)
        for st in test.node.body:
            for node in in_scope(st):
                if isinstance(node, ast.For):
                    names |= names_in(node.target)
                elif isinstance(node, ast.If):
                    names |= set(n.id for n in in_scope(node)
                                 if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    names.discard('self')
    return names


def first_line(node):
    return min([node.lineno] + [d.lineno for d in getattr(node, 'decorator_list', ())])


def dedent(part):
    margin = min([len(l) - len(l.lstrip()) for l in part if l.strip()] or [0])
    return [l[margin:] for l in part]


def described_by(node):
    """The names that a class, an entry of the toolchain's registry, is about."""
    names = set()
    for st in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(st, ast.Assign) and names_in(st.targets[0]) & set(['_about_', '_type_']):
            names |= names_in(st.value)
    return names


class Statement(object):
    """A statement that a cut may keep: its lines, what it binds and what it uses."""

    def __init__(self, node, lines, last):
        self.node = node
        self.first = first_line(node)
        self.last = last
        self.lines = lines
        self.bound = bound_by(node)
        self.used = used_by(node, lines)
        # Statements of tests come after those of the module, which may be further down.
        self.local = False
        self.about = described_by(node)

    def defines(self):
        return isinstance(self.node, (ast.FunctionDef, ast.ClassDef))


def needed_imports(node, used):
    """The part of a `from` import that a cut needs; None for any other statement."""
    if not isinstance(node, ast.ImportFrom) or node.level or node.names[0].name == '*':
        return None
    return ['from %s import %s as %s' % (node.module, a.name, a.asname or a.name)
            for a in node.names if (a.asname or a.name) in used]


# Names in statements of a test that run the function or look at the outcome.
RUNS = set(['interpret', 'interpret_raises', 'res', 'py', 'compile', 'getcompiled', 'rtype',
            'graphof', 'gengraph', 'translate', 'annotate', 'build_types'])

# The class of the running test, if it has one.
test_class = [None]


class Source(object):
    """A test module."""

    def __init__(self, filename):
        self.filename = filename
        with open(filename) as f:
            self.lines = f.read().split('\n')
        self.tree = ast.parse('\n'.join(self.lines))
        self.future = [l for l in self.lines if l.startswith('from __future__')]

    def statements(self, body, end):
        """The statements of a body that ends before line `end`."""
        out = []
        for i, node in enumerate(body):
            last = first_line(body[i + 1]) if i + 1 < len(body) else end
            part = self.lines[first_line(node) - 1:last - 1]
            while part and (not part[-1].strip() or part[-1].lstrip().startswith('#')):
                part.pop()
            out.append(Statement(node, dedent(part), last))
        return out

    def test_around(self, line):
        """The innermost test function or method around a line."""
        scopes = [(self.tree.body, len(self.lines) + 1)]
        while scopes:
            for st in self.statements(*scopes.pop()):
                if not st.first <= line < st.last:
                    continue
                if isinstance(st.node, ast.ClassDef) or (
                        isinstance(st.node, ast.If) and not st.node.orelse):
                    scopes.append((st.node.body, st.last))
                elif isinstance(st.node, ast.FunctionDef):
                    return st
        return None

    def without_self(self, lines):
        """Replaces what test classes offer to their tests by what it stands for."""
        cls = test_class[0]
        text = '\n'.join(lines)
        ordered = 'ordereddict' in getattr(cls, '__module__', '')
        new_dict = 'OrderedDict()' if ordered else '{}'
        r_dict = 'r_ordereddict(' if ordered else 'r_dict('
        for attribute, meaning in [
                ('self.constchar', getattr(cls, 'constchar', chr).__name__),
                ('self.const', getattr(cls, 'const', str).__name__),
                ('self.newdict2()', new_dict), ('self.newdict()', new_dict),
                ('self.new_r_dict(', r_dict)]:
            text = text.replace(attribute, meaning)
        # Test classes of the JIT have types, and functions that make objects.
        for attribute in re.findall(r'self\.(_\w+)', text):
            value = getattr(cls, attribute, None)
            if isinstance(value, types.FunctionType):
                text = text.replace('self.' + attribute, value.__name__)
            elif value in (str, unicode, chr, unichr) or isinstance(value, type):
                text = text.replace('self.' + attribute, value.__name__)
        return text.split('\n')

    def cut(self, func, place, besides):
        """Text of a module that defines a live function, called at some place, and
        further names; None where its definition is not found."""
        code = func.__code__
        test = self.test_around(code.co_firstlineno)
        if test is not None and test.node.name == func.__name__:
            test = None
        call_line = place.line
        if code.co_name == '<lambda>':
            return self.cut_lambda(func, test, place, besides)
        available = [st for st in self.statements(self.tree.body, len(self.lines) + 1)
                     if test is None or st.node is not test.node]
        if test is not None:
            available += self.local_statements(test, call_line)
            available += self.static_methods()
        known = self.known_values(func, test, place)
        target = [st for st in available
                  if func.__name__ in st.bound and st.first <= code.co_firstlineno < st.last]
        if not target:
            target = self.methods_at(code.co_firstlineno)
            available += target
        inner = test if not target else None
        while inner is not None and not target:
            inner = self.function_in(inner, code.co_firstlineno)
            if inner is not None:
                local = self.local_statements(inner, inner.last)
                available += local
                target = [st for st in local if st.first <= code.co_firstlineno < st.last
                          and func.__name__ in st.bound]
        if not target:
            return None
        keep = self.closure([(name, None) for name in [func.__name__] + besides], available, known, call_line,
                            {func.__name__: target[0]})
        return self.assemble(func, keep, known, available)

    def function_in(self, outer, line):
        """The function around a line that a function defines, or None."""
        for st in self.statements(outer.node.body, outer.last):
            if isinstance(st.node, ast.FunctionDef) and st.first < line < st.last:
                return st
        return None

    def methods_at(self, line):
        """The function of a class that starts at a line, as if it were none of a class."""
        scopes = [st for st in self.statements(self.tree.body, len(self.lines) + 1)
                  if isinstance(st.node, ast.ClassDef)]
        return [st for scope in scopes for st in self.statements(scope.node.body, scope.last)
                if isinstance(st.node, ast.FunctionDef) and st.first == line]

    def static_methods(self):
        """Functions of the test class that are called without an object."""
        out = []
        for name in dir(test_class[0]):
            value = getattr(test_class[0], name)
            if isinstance(value, types.FunctionType) and name.startswith('_'):
                for st in self.methods_at(value.__code__.co_firstlineno):
                    st.lines = [l for l in st.lines if l != '@staticmethod']
                    st.used = used_by(st.node, st.lines)
                    out.append(st)
        return out

    def cut_lambda(self, func, test, place, besides):
        """The same for a function that a test writes as a lambda; its name is then
        `a_lambda`."""
        call_line = place.line
        text = self.lambda_text(func.__code__)
        if text is None or test is None:
            return None
        lines = self.without_self(['a_lambda = ' + text])
        node = ast.parse('\n'.join(lines)).body[0]
        st = Statement(node, lines, 0)
        st.local, st.first = True, call_line
        available = [other for other in self.statements(self.tree.body, len(self.lines) + 1)
                     if other.first != test.first]
        available += self.local_statements(test, call_line)
        known = self.known_values(func, test, place)
        keep = self.closure([(n, st) for n in sorted(st.used)] + [(n, None) for n in besides],
                            available, known, call_line, {})
        keep.add(st)
        available.append(st)
        return self.assemble(func, keep, known, available)

    def lambda_text(self, code):
        """The source of a lambda on one line, found by compiling what may be it."""
        line = self.lines[code.co_firstlineno - 1]
        start = line.find('lambda')
        while start >= 0:
            for end in range(len(line), start, -1):
                text = '(%s)' % line[start:end]
                try:
                    if not isinstance(ast.parse(text, mode='eval').body, ast.Lambda):
                        continue
                    found = compile(text, '?', 'eval').co_consts[0]
                except (SyntaxError, TypeError):
                    continue
                if getattr(found, 'co_code', None) == code.co_code:
                    return text
            start = line.find('lambda', start + 1)
        return None

    def cut_test(self, func, rewrite):
        """Text of a module that defines a whole test, `rewrite` having had its lines;
        None where it takes arguments or `rewrite` gives nothing."""
        st = self.test_around(func.__code__.co_firstlineno)
        if st is None or st.node.name != func.__name__ or st.node.decorator_list:
            return None
        lines = rewrite(st.lines)
        if lines is None:
            return None
        args = func.__code__.co_varnames[:func.__code__.co_argcount]
        if args and (args != ('self',) or 'self' in st.used):
            return None
        if args:
            lines = [lines[0].replace('(self)', '()')] + lines[1:]
        tree = ast.parse('\n'.join(lines))
        st.lines = lines
        st.used = names_in(tree)
        available = [other for other in self.statements(self.tree.body, len(self.lines) + 1)
                     if other.first != st.first]
        keep = self.closure([(n, st) for n in sorted(st.used)], available, {}, 1 << 30, {})
        keep.add(st)
        available.append(st)
        return self.assemble(func, keep, {}, available)

    def closure(self, todo, available, known, call_line, targets):
        """The statements that names and what they use need."""
        seen = set()
        keep = set()
        while todo:
            name, user = todo.pop()
            if name in seen or name in known:
                continue
            seen.add(name)
            entries = [st for st in available if name in st.about]
            for st in self.that_bind(name, available, call_line) + entries:
                if st.defines() and name in targets and name in st.bound:
                    st = targets[name]
                if st not in keep:
                    keep.add(st)
                    todo += [(n, st) for n in st.used]
        return keep

    def local_statements(self, test, call_line):
        out = []
        for st in self.flattened(test.node.body, test.last):
            if st.first > call_line:
                break
            st.local = True
            if not isinstance(st.node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
                                        ast.Assign, ast.AugAssign, ast.Delete, ast.Expr,
                                        ast.For)):
                continue
            lines = self.without_self(st.lines)
            if lines == st.lines and 'self' in st.used and not st.defines():
                continue
            if not st.defines() and st.used & RUNS:
                continue
            if lines != st.lines:
                st.lines, st.used = lines, used_by(st.node, lines)
            out.append(st)
        return out

    def flattened(self, body, end):
        """The statements of a body, and functions and classes that loops and the like
        in it define."""
        for st in self.statements(body, end):
            yield st
            if isinstance(st.node, (ast.For, ast.With, ast.If)):
                # What a loop assigns counts only where the loop itself cannot be kept.
                runs = st.used & RUNS
                for inner in self.flattened(st.node.body, st.last):
                    if inner.defines() or runs:
                        yield inner

    def that_bind(self, name, available, call_line):
        """Statements that make a name: of several definitions the last one before the
        call, and what is done to it afterwards."""
        all_of_them = [st for st in available if name in st.bound]
        definitions = [st for st in all_of_them if st.defines()]
        if definitions:
            chosen = ([st for st in definitions if st.first <= call_line] or definitions)[-1]
            return [st for st in all_of_them if st is chosen or (
                not st.defines() and chosen.first < st.first <= call_line)]
        return all_of_them

    def known_values(self, func, test, place):
        """Free variables with plain values, and what loops and calls of a test bind anew
        each time, as source text."""
        known = {}
        for name, value in free_variables(func).items():
            known[name] = spelled(name, value)
        for name in bound_by_loops(test):
            if name in place.values:
                known[name] = varying(name, place.values[name])
        return dict((name, text) for name, text in known.items() if text is not None)

    def star_import_of(self, name):
        """The module of a star import of this file that brings a name, or None."""
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == '*':
                if not name.startswith('__') and name in vars(sys.modules.get(node.module, objectmodel)):
                    return node.module
        return None

    def assemble(self, func, keep, known, available):
        out = self.future + [known[name] for name in sorted(known) if name != func.__name__]
        bound = set(known)
        for st in available:
            bound |= st.bound
        used = set()
        for st in keep:
            # What an import binds is not used by that alone.
            if not isinstance(st.node, (ast.Import, ast.ImportFrom)):
                used |= st.used
        # What star imports bring.
        for name in sorted(used - bound):
            value = func.__globals__.get(name, vars(objectmodel).get(name))
            if isinstance(value, types.ModuleType) and '.' in value.__name__:
                out.append('from %s import %s as %s' % (
                    tuple(value.__name__.rsplit('.', 1)) + (name,)))
                continue
            home = self.star_import_of(name)
            if home is None:
                home = getattr(value, '__module__', None) or ''
            if home.startswith('rpython.') and hasattr(sys.modules.get(home), name):
                out.append('from %s import %s' % (home, name))
        for st in sorted(keep, key=lambda st: (st.local, st.first)):
            out += needed_imports(st.node, used) or st.lines
            out.append('')
        text = '\n'.join(out) + '\n'
        # Some tests take their own source for a long text.
        return text.replace('__file__', repr(self.filename))


def source_of(func, sources={}):
    """The test file that a function is in."""
    filename = func.__code__.co_filename
    if filename.endswith('.pyc'):
        filename = filename[:-1]
    if filename not in sources:
        sources[filename] = Source(filename)
    return sources[filename]


def cut(func, place, besides):
    """Text of a module with a function as it was called, and further names; None where
    it cannot be cut out."""
    return source_of(func).cut(func, place, besides)


# Where a test has a function called: the line, and the local variables there.
Place = collections.namedtuple('Place', ['line', 'values'])


def cut_test(func, rewrite):
    """Text of a module with a whole test, its lines rewritten; None where it cannot be
    cut out."""
    return source_of(func).cut_test(func, rewrite)
