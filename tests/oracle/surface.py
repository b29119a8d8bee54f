#!/usr/bin/env python2.7
"""Compares the public names of the toolchain's modules with those that Taipan ships.

usage: surface.py compare PYPY [--taipan PATH] [MODULE...]
       surface.py declined [--taipan PATH]

Run it with CPython 2.7. The modules are all of `rpython.rlib` but its tests, and those of the
rest of the toolchain that PYPY's folder `pypy` imports names of. A name is public if a
statement of the module defines it and it begins without an underscore, or if a module of
PYPY's `pypy` uses it. Names are found in the source (`ast`). Which of them Taipan has, and
the parameters of its functions and methods, says the program that `taipan check` runs.

`compare` prints a line for each name that is missing or has other parameters. Names in
`declined.txt` are left out; those of them that are there after all are reported, too. It
fails if it prints anything. `declined` needs no checkout: it only does the latter.
"""
import argparse
import ast
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DECLINED = os.path.join(HERE, 'declined.txt')
TAIPAN = os.path.join(HERE, '..', '..', 'target', 'release', 'taipan')

# Parameters of a function: the names of the positional ones, the number of defaults, and whether
# it takes further ones, by position and by name.
Parameters = collections.namedtuple('Parameters', 'names defaults star double_star')

# The program that describes what Taipan has. It prints a line per name that is asked about.
PROGRAM = r'''
import sys

class Sample(object):
    def method(self):
        pass

METHOD = type(Sample.method)

def parameters(function):
    code = function.func_code
    return '%s;%d;%d;%d' % (','.join(code.co_varnames[:code.co_argcount]),
                            len(function.func_defaults or ()),
                            code.co_flags & 4 != 0, code.co_flags & 8 != 0)

def described(value, path):
    """The parameters of a function, '?' for another value, '-' for one that is not there."""
    for name in path:
        if not hasattr(value, name):
            return '-'
        value = getattr(value, name)
    if type(value) is METHOD:
        value = value.im_func
    if type(value) is type(parameters):
        return parameters(value)
    return '?'

def loaded(module):
    try:
        __import__(module)
    except ImportError as e:
        return None
    return sys.modules[module]

def tell(module, paths):
    value = loaded(module)
    for path in paths.split():
        told = '-' if value is None else described(value, path.split('.'))
        print 'surface', module, path, told

def target(*args):
    return (lambda argv: 0), None
'''


def is_test(path):
    """Whether a file is a test, or a tool for people beside a module of rlib."""
    parts = path.split(os.sep)
    return 'test' in parts or 'tool' in parts[:-1] and 'rlib' in parts or \
        parts[-1].startswith(('test_', 'conftest'))


def sources(root, folder):
    """The paths of the Python files below a folder, without tests."""
    for base, folders, files in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(files):
            path = os.path.relpath(os.path.join(base, name), root)
            if name.endswith('.py') and not is_test(path):
                yield path


def parsed(root, path):
    with open(os.path.join(root, path)) as f:
        return ast.parse(f.read(), path)


def module_file(root, module):
    """The path of a module's source below the root; None if there is none."""
    base = module.replace('.', os.sep)
    for path in (base + '.py', os.path.join(base, '__init__.py')):
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def parameters_of(function):
    args = function.args
    names = [a.id if isinstance(a, ast.Name) else '(...)' for a in args.args]
    return Parameters(names, len(args.defaults), bool(args.vararg), bool(args.kwarg))


class Surface(object):
    """The names that the statements of a module define, each with its parameters: None for what
    is no function, or has more than one definition. Methods are `Class.method`."""

    def __init__(self, tree):
        self.names = {}
        self.stars = []
        self.block(tree.body, '')

    def define(self, name, parameters=None):
        if name in self.names and self.names[name] != parameters:
            parameters = None
        self.names[name] = parameters

    def bind(self, target, prefix):
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.define(prefix + node.id)

    def block(self, statements, prefix):
        for statement in statements:
            self.statement(statement, prefix)

    def statement(self, s, prefix):
        if isinstance(s, ast.FunctionDef):
            self.define(prefix + s.name, parameters_of(s))
        elif isinstance(s, ast.ClassDef):
            self.define(prefix + s.name)
            if s.name.endswith('CConfig'):
                # What it asks the C compiler becomes names of the module, mostly.
                self.block(s.body, '')
            elif not prefix:
                self.block(s.body, s.name + '.')
        elif isinstance(s, ast.Assign) and not prefix:
            for target in s.targets:
                self.bind(target, prefix)
        elif isinstance(s, ast.ImportFrom) and s.names[0].name == '*':
            self.stars.append(s.module)
        elif isinstance(s, ast.If):
            taken = self.decided(s.test)
            if taken is not False:
                self.block(s.body, prefix)
            if taken is not True:
                self.block(s.orelse, prefix)
        elif isinstance(s, (ast.For, ast.While)):
            self.block(s.body + s.orelse, prefix)
        elif isinstance(s, ast.With):
            self.block(s.body, prefix)
        elif isinstance(s, ast.TryExcept):
            self.block(s.body + s.orelse, prefix)
            for handler in s.handlers:
                self.block(handler.body, prefix)
        elif isinstance(s, ast.TryFinally):
            self.block(s.body + s.finalbody, prefix)

    # What conditions of modules say on Linux with 64 bits.
    WORDS = {'_WIN32': False, '_WIN64': False, '_WIN': False, 'WIN32': False, 'WIN64': False,
             '_MS_WINDOWS': False, 'MS_WINDOWS': False, 'IS_WINDOWS': False, 'LONG_BIT32': False,
             '_LINUX': True, '_POSIX': True, '_MACOS': False, '_MACOSX': False, 'sys_is_win': False}

    def decided(self, test):
        """Whether a condition holds, None where nothing is known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decided(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Name):
            return self.WORDS.get(test.id)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            right = test.comparators[0]
            if isinstance(right, ast.Str):
                left = ast.dump(test.left)
                equal = {'win32': False, 'nt': False, 'darwin': False, 'posix': True}.get(right.s)
                if 'platform' in left or "'os'" in left:
                    if equal is not None:
                        if isinstance(test.ops[0], ast.Eq):
                            return equal
                        if isinstance(test.ops[0], ast.NotEq):
                            return not equal
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute):
            if test.func.attr == 'startswith' and test.args and \
                    isinstance(test.args[0], ast.Str):
                return {'win': False, 'darwin': False, 'linux': True}.get(test.args[0].s)
        return None


class Uses(ast.NodeVisitor):
    """Which names of which modules of the toolchain a module uses. After `import *` these are all
    of its names that the other module defines."""

    def __init__(self, found, is_module):
        self.found, self.is_module, self.local = found, is_module, {}
        self.stars, self.names = set(), set()

    def visit_Name(self, node):
        self.names.add(node.id)

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name.startswith('rpython.'):
                self.found.setdefault(alias.name, set())
                if alias.asname:
                    self.local[alias.asname] = alias.name

    def visit_ImportFrom(self, node):
        if node.level or not (node.module or '').startswith('rpython.'):
            return
        for alias in node.names:
            inner = node.module + '.' + alias.name
            if self.is_module(inner):
                self.local[alias.asname or alias.name] = inner
                self.found.setdefault(inner, set())
            elif alias.name != '*':
                self.found.setdefault(node.module, set()).add(alias.name)
            else:
                self.stars.add(node.module)

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.local:
            self.found[self.local[node.value.id]].add(node.attr)
        self.generic_visit(node)


def used_by_pypy(root):
    """{module of the toolchain: names of it that modules of pypy use}"""
    found = {}
    for path in sources(root, 'pypy'):
        try:
            tree = parsed(root, path)
        except SyntaxError:
            continue
        uses = Uses(found, lambda name: module_file(root, name) is not None)
        # Imports may follow their uses in the text, within functions.
        uses.visit(tree)
        uses.visit(tree)
        for star in uses.stars:
            found.setdefault(star, set()).update(uses.names.intersection(surface_of(root, star)))
    return found


def surface_of(root, module, seen=()):
    path = module_file(root, module)
    if path is None or module in seen:
        return {}
    surface = Surface(parsed(root, path))
    names = {}
    for star in surface.stars:
        if star and star.startswith('rpython.'):
            inherited = surface_of(root, star, seen + (module,))
            names.update((n, p) for n, p in inherited.items() if not n.startswith('_'))
    names.update(surface.names)
    return names


def public(name):
    return not any(part.startswith('_') for part in name.split('.'))


def wanted(root):
    """{module: {name: parameters}} of the checkout, and what pypy uses of it."""
    used = used_by_pypy(root)
    modules = set(used)
    for path in sources(root, os.path.join('rpython', 'rlib')):
        name = path[:-len('.py')].replace(os.sep, '.')
        if name.endswith('.__init__'):
            name = name[:-len('.__init__')]
        modules.add(name)
    result = {}
    for module in modules:
        if module_file(root, module) is None:
            continue
        names = surface_of(root, module)
        mine = {}
        if module.startswith('rpython.rlib'):
            mine = dict((n, p) for n, p in names.items() if public(n))
        for name in used.get(module, ()):
            mine.setdefault(name, names.get(name))
        result[module] = mine
    return result, used


def told(questions, taipan):
    """Asks Taipan about {module: names}: {(module, name): what the program says}."""
    folder = tempfile.mkdtemp()
    program = os.path.join(folder, 'targetsurface.py')
    with open(program, 'w') as f:
        f.write(PROGRAM)
        for module, names in sorted(questions.items()):
            f.write('tell(%r, %r)\n' % (module, ' '.join(sorted(names))))
    try:
        process = subprocess.Popen([taipan, 'check', '--no-cache', program], cwd=folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = process.communicate()[0]
        if process.returncode != 0:
            raise SystemExit('\n'.join(line for line in output.splitlines()
                                       if not line.startswith('surface ')))
    finally:
        os.unlink(program)
        os.rmdir(folder)
    result = {}
    for line in output.splitlines():
        if line.startswith('surface '):
            _, module, name, answer = line.split(' ', 3)
            result[module, name] = answer
    return result


def parameters_told(text):
    names, defaults, star, double_star = text.split(';')
    return Parameters(names.split(',') if names else [], int(defaults), star == '1',
                      double_star == '1')


def accepts(ours, theirs):
    """Whether a function takes whatever the original takes."""
    count = len(theirs.names)
    if ours.names[:count] != theirs.names:
        return False
    if len(ours.names) - ours.defaults > count - theirs.defaults:
        return False
    return ours.star >= theirs.star and ours.double_star >= theirs.double_star


def shown(p):
    first = len(p.names) - p.defaults
    parts = p.names[:first] + [name + '=' for name in p.names[first:]]
    return '(%s)' % ', '.join(parts + ['*'] * p.star + ['**'] * p.double_star)


def read_declined():
    """{(module, name): reason}; a name may be `*`, for the whole module, and ends in `()` if its
    parameters are declined. A line that begins with `#` is the reason of the lines that follow."""
    result = collections.OrderedDict()
    reason, is_new = '', True
    with open(DECLINED) as f:
        for line in f:
            line = line.strip()
            if line.startswith('#'):
                reason = line[1:].strip() if is_new else reason + ' ' + line[1:].strip()
                is_new = False
            elif line:
                is_new = True
                words = line.split()
                for name in words[1:]:
                    if (words[0], name) in result:
                        raise SystemExit('%s is declined twice' % ((words[0], name),))
                    result[words[0], name] = reason
    return result


def compare(args):
    declined = read_declined()
    theirs, used = wanted(args.pypy)
    if args.modules:
        theirs = dict((m, theirs[m]) for m in args.modules)
    answers = told(theirs, args.taipan)
    lines = []
    for module in sorted(theirs):
        missing = [n for n in theirs[module] if answers[module, n] == '-']
        for name in sorted(theirs[module]):
            if (module, name) in declined or (module, '*') in declined:
                continue
            owner = name.rpartition('.')[0]
            if (module, owner) in declined or owner in missing:
                continue
            mark = 'pypy' if name in used.get(module, ()) else '    '
            answer, parameters = answers[module, name], theirs[module][name]
            if answer == '-':
                signature = shown(parameters) if parameters else ''
                lines.append('%s missing    %s %s%s' % (mark, module, name, signature))
            elif answer != '?' and parameters is not None:
                ours = parameters_told(answer)
                if (module, name + '()') not in declined and not accepts(ours, parameters):
                    lines.append('%s parameters %s %s%s, here %s' % (
                        mark, module, name, shown(parameters), shown(ours)))
    return lines + there_after_all(declined, args.taipan)


def there_after_all(declined, taipan):
    """Lines about names that are declined and exist."""
    questions = {}
    keys = [key for key in declined if not key[1].endswith('()')]
    for module, name in keys:
        questions.setdefault(module, set()).add('__name__' if name == '*' else name)
    answers = told(questions, taipan)
    return ['declined and there %s %s' % key for key in keys
            if answers[key[0], '__name__' if key[1] == '*' else key[1]] != '-']


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest='command')
    for name in ('compare', 'declined'):
        command = commands.add_parser(name)
        command.add_argument('--taipan', default=TAIPAN)
        if name == 'compare':
            command.add_argument('pypy')
            command.add_argument('modules', nargs='*')
    args = parser.parse_args()
    args.taipan = os.path.abspath(args.taipan)
    if args.command == 'compare':
        lines = compare(args)
    else:
        lines = there_after_all(read_declined(), args.taipan)
    for line in lines:
        print line
    return 1 if lines else 0


if __name__ == '__main__':
    sys.exit(main())
