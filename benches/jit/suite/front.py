"""The front end of the interpreters that run the language L: s-expressions with resolved variables.

L has integers, floats, strings, lists, dicts, classes, closures and exceptions:

    (global x EXPR)                     a global variable
    (fun NAME (ARG ...) BODY ...)       a global function; `main` takes the size
    (class NAME (FIELD ...) METHOD ...) a class; each METHOD is (NAME (self ARG ...) BODY ...)
    (class NAME SUPER (FIELD ...) METHOD ...)

    (let x E) (set x E) (if C A B) (while C BODY ...) (for x E BODY ...) (do BODY ...)
    (and A B) (or A B) (not A) (return E) (try E x HANDLER) (throw E) (yield E)
    (fn (ARG ...) BODY ...) (F ARG ...) (new CLASS ARG ...) (send E NAME ARG ...)
    (. E FIELD) (.= E FIELD V) (list E ...) and the operators of OPERATORS
    (unroll K BODY ...)                 K copies of the body

Each interpreter translates the nodes that `parse` returns into its own code.
"""
from common import Failure

# name: number of arguments
OPERATORS = {
    '+': 2, '-': 2, '*': 2, '/': 2, '%': 2, '<': 2, '<=': 2, '>': 2, '>=': 2, '==': 2, '!=': 2,
    '&': 2, '|': 2, '^': 2, '<<': 2, '>>': 2,
    'newlist': 2, 'at': 2, 'put': 3, 'push': 2, 'pop': 1, 'len': 1,
    'dict': 0, 'get': 3, 'dput': 3, 'has': 2,
    'str': 1, 'char': 2, 'ord': 1, 'chr': 1, 'slice': 3,
    'float': 1, 'int': 1, 'sqrt': 1,
}


class Sexp(object):
    """An atom with a text, or a list of items. The text of a string begins with a quote."""
    def __init__(self, text, items):
        self.text = text
        self.items = items      # None for an atom

    def name(self):
        if self.items is not None:
            raise Failure('a name was expected')
        return self.text

    def list(self):
        if self.items is None:
            raise Failure('a list was expected: ' + self.text)
        return self.items


class Reader(object):
    def __init__(self, text):
        self.text = text
        self.at = 0

    def skip(self):
        text = self.text
        while self.at < len(text):
            c = text[self.at]
            if c == ';':
                while self.at < len(text) and text[self.at] != '\n':
                    self.at += 1
            elif c == ' ' or c == '\n' or c == '\t' or c == '\r':
                self.at += 1
            else:
                break

    def read(self):
        self.skip()
        text = self.text
        if self.at >= len(text):
            raise Failure('unexpected end')
        c = text[self.at]
        start = self.at
        assert start >= 0
        if c == '(':
            self.at += 1
            items = []
            self.skip()
            while self.at < len(text) and text[self.at] != ')':
                items.append(self.read())
                self.skip()
            self.at += 1
            return Sexp('', items)
        if c == '"':
            self.at += 1
            while self.at < len(text) and text[self.at] != '"':
                self.at += 1
            end = self.at
            assert end >= 0
            self.at += 1
            return Sexp(text[start:end], None)
        while self.at < len(text) and text[self.at] not in ' ()\n\t\r;':
            self.at += 1
        end = self.at
        assert end >= 0
        if start == end:
            raise Failure('unexpected )')
        return Sexp(text[start:end], None)

    def read_all(self):
        result = []
        self.skip()
        while self.at < len(self.text):
            result.append(self.read())
            self.skip()
        return result


class Variable(object):
    """A local variable. One that an inner function uses lives in a cell."""
    def __init__(self, name, index):
        self.name = name
        self.index = index
        self.captured = False


class Node(object):
    def __init__(self, kind, kids):
        self.kind = kind
        self.kids = kids
        self.name = ''
        self.index = -1         # of a global, a free variable, a function or a class
        self.number = 0
        self.real = 0.0
        self.variable = None    # of 'local', 'setlocal', 'for' and 'try'


class Function(object):
    """A function, with the variables of its own and those of outer functions that it uses."""
    def __init__(self, program, name, outer):
        self.program = program
        self.name = name
        self.outer = outer
        self.variables = []
        self.visible = {}
        self.free_names = []
        self.arguments = 0
        self.body = None
        self.yields = False
        self.index = len(program.functions)
        program.functions.append(self)

    def declare(self, name):
        if name in self.visible:
            return self.visible[name]
        variable = Variable(name, len(self.variables))
        self.variables.append(variable)
        self.visible[name] = variable
        return variable

    def hidden(self):
        variable = Variable('', len(self.variables))
        self.variables.append(variable)
        return variable

    def free(self, name):
        """The index of an outer function's variable in this function's cells, or -1."""
        for i in range(len(self.free_names)):
            if self.free_names[i] == name:
                return i
        outer = self.outer
        if outer is None:
            return -1
        if name in outer.visible:
            outer.visible[name].captured = True
        elif outer.free(name) < 0:
            return -1
        self.free_names.append(name)
        return len(self.free_names) - 1

    def cell_sources(self):
        """For each free variable, where the outer function has its cell: the index of a local
        variable, or -1 - the index of a free one."""
        outer = self.outer
        result = []
        for name in self.free_names:
            if name in outer.visible:
                result.append(outer.visible[name].index)
            else:
                result.append(-1 - outer.free(name))
        return result[:]


class Class(object):
    def __init__(self, name, index, parent):
        self.name = name
        self.index = index
        self.parent = parent
        self.fields = []
        self.methods = {}       # name: function
        self.method_names = []

    def add(self, name, function):
        if name not in self.methods:
            self.method_names.append(name)
        self.methods[name] = function


class Program(object):
    def __init__(self):
        self.functions = []
        self.classes = []
        self.class_indexes = {}
        self.global_names = []
        self.global_indexes = {}
        self.function_indexes = {}
        self.initial = None     # a function that sets the globals

    def main(self):
        if 'main' not in self.function_indexes:
            raise Failure('there is no function main')
        return self.function_indexes['main']


class Resolver(object):
    def __init__(self, program):
        self.program = program

    def function(self, name, outer, arguments, items, start):
        function = Function(self.program, name, outer)
        for argument in arguments:
            function.declare(argument.name())
        function.arguments = len(arguments)
        function.body = self.body(function, items, start)
        return function

    def body(self, function, items, start):
        kids = [self.node(function, items[i]) for i in range(start, len(items))]
        if len(kids) == 1:
            return kids[0]
        return Node('do', kids)

    def atom(self, function, text):
        c = text[0]
        if c == '"':
            node = Node('str', [])
            node.name = text[1:]
            return node
        if c.isdigit() or (c == '-' and len(text) > 1):
            if '.' in text:
                node = Node('float', [])
                node.real = float(text)
            else:
                node = Node('int', [])
                node.number = int(text)
            return node
        if text == 'nil' or text == 'true' or text == 'false':
            return Node(text, [])
        return self.variable(function, text, '', [])

    def variable(self, function, name, prefix, kids):
        program = self.program
        if name in function.visible:
            node = Node(prefix + 'local', kids)
            node.variable = function.visible[name]
        else:
            index = function.free(name)
            if index >= 0:
                node = Node(prefix + 'free', kids)
                node.index = index
            elif name in program.global_indexes:
                node = Node(prefix + 'global', kids)
                node.index = program.global_indexes[name]
            elif name in program.function_indexes and prefix == '':
                node = Node('function', kids)
                node.index = program.function_indexes[name]
            else:
                raise Failure('unknown name ' + name)
        node.name = name
        return node

    def nodes(self, function, items, start):
        return [self.node(function, items[i]) for i in range(start, len(items))]

    def node(self, function, sexp):
        items = sexp.items
        if items is None:
            return self.atom(function, sexp.text)
        if len(items) == 0:
            return Node('nil', [])
        head = items[0]
        if head.items is not None:
            return Node('call', self.nodes(function, items, 0))
        name = head.text
        if name in OPERATORS:
            node = Node('op', self.nodes(function, items, 1))
            if len(node.kids) != OPERATORS[name]:
                raise Failure('wrong number of operands: ' + name)
            node.name = name
            return node
        if name == 'let':
            variable = function.declare(items[1].name())
            node = Node('setlocal', [self.node(function, items[2])])
            node.variable = variable
            node.name = variable.name
            return node
        if name == 'set':
            kids = [self.node(function, items[2])]
            return self.variable(function, items[1].name(), 'set', kids)
        if name in ('if', 'and', 'or', 'not', 'return', 'throw', 'yield', 'list', 'do'):
            node = Node(name, self.nodes(function, items, 1))
            if name == 'if' and len(node.kids) == 2:
                node.kids.append(Node('nil', []))
            if name == 'yield':
                function.yields = True
            return node
        if name == 'unroll':
            # copies of a piece of code, for programs with many loops
            count = int(items[1].name())
            return Node('do', [self.body(function, items, 2) for _ in range(count)])
        if name == 'while':
            condition = self.node(function, items[1])
            return Node('while', [condition, self.body(function, items, 2)])
        if name == 'for':
            sequence = self.node(function, items[2])
            variable = function.declare(items[1].name())
            node = Node('for', [sequence, self.body(function, items, 3)])
            node.variable = variable
            node.index = function.hidden().index    # two slots for the state of the loop
            function.hidden()
            return node
        if name == 'try':
            body = self.node(function, items[1])
            variable = function.declare(items[2].name())
            node = Node('try', [body, self.node(function, items[3])])
            node.variable = variable
            return node
        if name == 'fn':
            inner = self.function('fn', function, items[1].list(), items, 2)
            node = Node('fn', [])
            node.index = inner.index
            return node
        if name == 'new':
            node = Node('new', self.nodes(function, items, 2))
            node.name = items[1].name()
            if node.name not in self.program.class_indexes:
                raise Failure('unknown class ' + node.name)
            node.index = self.program.class_indexes[node.name]
            return node
        if name == 'send':
            kids = [self.node(function, items[1])]
            for i in range(3, len(items)):
                kids.append(self.node(function, items[i]))
            node = Node('send', kids)
            node.name = items[2].name()
            return node
        if name == '.':
            node = Node('field', [self.node(function, items[1])])
            node.name = items[2].name()
            return node
        if name == '.=':
            node = Node('setfield', [self.node(function, items[1]), self.node(function, items[3])])
            node.name = items[2].name()
            return node
        return Node('call', self.nodes(function, items, 0))


def parse(text):
    program = Program()
    forms = Reader(text).read_all()
    resolver = Resolver(program)
    # names first, since functions refer to each other
    count = 0
    for form in forms:
        items = form.list()
        kind = items[0].name()
        name = items[1].name()
        if kind == 'fun':
            program.function_indexes[name] = count
            count += 1
        elif kind == 'global':
            program.global_indexes[name] = len(program.global_names)
            program.global_names.append(name)
        elif kind == 'class':
            parent = None
            if items[2].items is None:
                parent = program.classes[program.class_indexes[items[2].name()]]
            program.class_indexes[name] = len(program.classes)
            program.classes.append(Class(name, len(program.classes), parent))
        else:
            raise Failure('unknown form ' + kind)
    # the functions of the program have the first indexes, inner ones and methods come after them
    for form in forms:
        items = form.list()
        if items[0].name() == 'fun':
            function = Function(program, items[1].name(), None)
            for argument in items[2].list():
                function.declare(argument.name())
            function.arguments = len(items[2].list())
    initial = Function(program, 'globals', None)
    settings = []
    for form in forms:
        items = form.list()
        kind = items[0].name()
        name = items[1].name()
        if kind == 'fun':
            function = program.functions[program.function_indexes[name]]
            function.body = resolver.body(function, items, 3)
        elif kind == 'global':
            settings.append(resolver.variable(initial, name, 'set', [resolver.node(initial, items[2])]))
        else:
            at = 2
            if items[2].items is None:
                at = 3
            cls = program.classes[program.class_indexes[name]]
            if cls.parent is not None:
                # those of the parent are complete by now
                cls.fields = [field for field in cls.parent.fields]
                for method in cls.parent.method_names:
                    cls.add(method, cls.parent.methods[method])
            for field in items[at].list():
                cls.fields.append(field.name())
            for i in range(at + 1, len(items)):
                method = items[i].list()
                method_name = method[0].name()
                cls.add(method_name, resolver.function(method_name, None, method[1].list(), method, 2))
    initial.body = Node('do', settings)
    program.initial = initial
    return program
