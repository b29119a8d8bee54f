"""A Scheme as a CEK machine, in the style of Pycket: a state is a node, an environment and a continuation on the heap, so tail calls
and call/cc need no stack. Simple expressions are evaluated directly. Environments are linked frames, variables are addressed
by depth and index. A loop is entered where the body of a function begins.
"""
import math
from rpython.rlib.jit import JitDriver, promote, unroll_safe
import common
import front
from common import Failure


class SchemeError(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


def error(text):
    return SchemeError(Str(text))


# ---- values ----

class Value(object):
    def show(self):
        return '#<value>'


class Unique(Value):
    _immutable_fields_ = ['name']

    def __init__(self, name):
        self.name = name

    def show(self):
        return self.name


class Fixnum(Value):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class Flonum(Value):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class Str(Value):
    _immutable_fields_ = ['text']

    def __init__(self, text):
        self.text = text

    def show(self):
        return self.text


class Cons(Value):
    def __init__(self, car, cdr):
        self.car = car
        self.cdr = cdr


class Vector(Value):
    _immutable_fields_ = ['items']

    def __init__(self, items):
        self.items = items


class Hash(Value):
    def __init__(self):
        self.numbers = {}
        self.texts = {}


class Closure(Value):
    _immutable_fields_ = ['code', 'env']

    def __init__(self, code, env):
        self.code = code
        self.env = env


class Reified(Value):
    _immutable_fields_ = ['cont']

    def __init__(self, cont):
        self.cont = cont


TRUE = Unique('#t')
FALSE = Unique('#f')
NULL = Unique('()')


def boolean(flag):
    return TRUE if flag else FALSE


class Env(object):
    _immutable_fields_ = ['values', 'parent']

    def __init__(self, values, parent):
        self.values = values
        self.parent = parent


class Cell(object):
    """A global variable. Most of them are functions that never change."""
    _immutable_fields_ = ['w_value?']

    def __init__(self):
        self.w_value = FALSE


# ---- continuations ----

class Cont(object):
    def plug(self, w_value):
        raise NotImplementedError


class Done(Cont):
    def plug(self, w_value):
        raise Finished(w_value)


class Finished(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


class OperandCont(Cont):
    _immutable_fields_ = ['node', 'index', 'values', 'env', 'next']

    def __init__(self, node, index, values, env, next):
        self.node = node
        self.index = index
        self.values = values
        self.env = env
        self.next = next

    @unroll_safe
    def plug(self, w_value):
        node = promote(self.node)
        index = promote(self.index)
        values = [None] * len(node.operands)
        for i in range(index):
            values[i] = self.values[i]
        values[index] = w_value
        return node.operands_from(values, index + 1, self.env, self.next)


class BeginCont(Cont):
    _immutable_fields_ = ['node', 'index', 'env', 'next']

    def __init__(self, node, index, env, next):
        self.node = node
        self.index = index
        self.env = env
        self.next = next

    def plug(self, w_value):
        return promote(self.node).run_from(promote(self.index), self.env, self.next)


class IfCont(Cont):
    _immutable_fields_ = ['node', 'env', 'next']

    def __init__(self, node, env, next):
        self.node = node
        self.env = env
        self.next = next

    def plug(self, w_value):
        return promote(self.node).choose(w_value), self.env, self.next


class SetCont(Cont):
    _immutable_fields_ = ['node', 'env', 'next']

    def __init__(self, node, env, next):
        self.node = node
        self.env = env
        self.next = next

    def plug(self, w_value):
        promote(self.node).target.assign(self.env, w_value)
        return self.next.plug(w_value)


class HandlerCont(Cont):
    """Marks `(try thunk handler)`."""
    _immutable_fields_ = ['w_handler', 'next']

    def __init__(self, w_handler, next):
        self.w_handler = w_handler
        self.next = next

    def plug(self, w_value):
        return self.next.plug(w_value)


DONE = Done()


# ---- nodes ----

class Node(object):
    _immutable_fields_ = ['simple', 'body?']
    simple = False
    body = False            # of a function

    def show(self):
        return 'node'

    def eval(self, env):
        """The value of a simple expression."""
        raise NotImplementedError

    def step(self, env, cont):
        return cont.plug(self.eval(env))


class Const(Node):
    _immutable_fields_ = ['w_value']
    simple = True

    def __init__(self, w_value):
        self.w_value = w_value

    def eval(self, env):
        return self.w_value


class Reference(Node):
    _immutable_fields_ = ['depth', 'index']
    simple = True

    def __init__(self, depth, index):
        self.depth = depth
        self.index = index

    @unroll_safe
    def frame(self, env):
        depth = self.depth
        while depth > 0:
            env = env.parent
            depth -= 1
        return env

    def eval(self, env):
        return self.frame(env).values[self.index]

    def assign(self, env, w_value):
        self.frame(env).values[self.index] = w_value


class GlobalReference(Reference):
    _immutable_fields_ = ['cell']

    def __init__(self, cell):
        Reference.__init__(self, 0, 0)
        self.cell = cell

    def eval(self, env):
        return self.cell.w_value

    def assign(self, env, w_value):
        self.cell.w_value = w_value


class Lambda(Node):
    _immutable_fields_ = ['name', 'arguments', 'code']
    simple = True

    def __init__(self, name, arguments):
        self.name = name
        self.arguments = arguments
        self.code = None

    def eval(self, env):
        return Closure(self, env)


class If(Node):
    _immutable_fields_ = ['test', 'then', 'otherwise']

    def __init__(self, test, then, otherwise):
        self.test = test
        self.then = then
        self.otherwise = otherwise

    def show(self):
        return 'if'

    def choose(self, w_value):
        if w_value is FALSE:
            return self.otherwise
        return self.then

    def step(self, env, cont):
        if self.test.simple:
            return self.choose(self.test.eval(env)), env, cont
        return self.test, env, IfCont(self, env, cont)


class Begin(Node):
    _immutable_fields_ = ['nodes[*]']

    def __init__(self, nodes):
        self.nodes = nodes

    def show(self):
        return 'begin'

    @unroll_safe
    def run_from(self, index, env, cont):
        last = len(self.nodes) - 1
        while index < last:
            node = self.nodes[index]
            if not node.simple:
                return node, env, BeginCont(self, index + 1, env, cont)
            node.eval(env)
            index += 1
        return self.nodes[last], env, cont

    def step(self, env, cont):
        return self.run_from(0, env, cont)


class Assign(Node):
    _immutable_fields_ = ['target', 'value']

    def __init__(self, target, value):
        self.target = target
        self.value = value

    def show(self):
        return 'set!'

    def step(self, env, cont):
        return self.value, env, SetCont(self, env, cont)


class Operands(Node):
    """A node that evaluates others first."""
    _immutable_fields_ = ['operands[*]']

    def __init__(self, operands):
        self.operands = operands

    def finish(self, values, env, cont):
        raise NotImplementedError

    @unroll_safe
    def operands_from(self, values, index, env, cont):
        while index < len(self.operands):
            operand = self.operands[index]
            if not operand.simple:
                return operand, env, OperandCont(self, index, values, env, cont)
            values[index] = operand.eval(env)
            index += 1
        return self.finish(values, env, cont)

    def step(self, env, cont):
        return self.operands_from([None] * len(self.operands), 0, env, cont)


class Let(Operands):
    """Binds the operands in a new frame."""
    _immutable_fields_ = ['inner']

    def __init__(self, operands, inner):
        Operands.__init__(self, operands)
        self.inner = inner

    def show(self):
        return 'let'

    def finish(self, values, env, cont):
        return self.inner, Env(values, env), cont


class Loop(Operands):
    """A named let: a frame with the function, which is called with the operands."""
    _immutable_fields_ = ['function']

    def __init__(self, operands, function):
        Operands.__init__(self, operands)
        self.function = function

    def show(self):
        return 'loop ' + self.function.name

    def finish(self, values, env, cont):
        frame = Env([None], env)
        frame.values[0] = Closure(self.function, frame)
        return self.function.code, Env(values, frame), cont


class Call(Operands):
    def show(self):
        return 'call'

    @unroll_safe
    def finish(self, values, env, cont):
        arguments = [None] * (len(values) - 1)
        for i in range(len(arguments)):
            arguments[i] = values[i + 1]
        return apply(values[0], arguments, cont)


def apply(w_function, arguments, cont):
    if isinstance(w_function, Closure):
        code = promote(w_function.code)
        if len(arguments) != code.arguments:
            raise error('wrong number of arguments of ' + code.name)
        return code.code, Env(arguments, w_function.env), cont
    if isinstance(w_function, Reified):
        return w_function.cont.plug(arguments[0])
    raise error('not a function')


class Capture(Operands):
    """(call/cc f)"""
    def finish(self, values, env, cont):
        return apply(values[0], [Reified(cont)], cont)


class Try(Operands):
    """(try thunk handler)"""
    def finish(self, values, env, cont):
        return apply(values[0], [], HandlerCont(values[1], cont))


class Throw(Operands):
    def finish(self, values, env, cont):
        return unwind(cont, values[0])


def next_of(cont):
    if isinstance(cont, OperandCont):
        return cont.next
    if isinstance(cont, BeginCont):
        return cont.next
    if isinstance(cont, IfCont):
        return cont.next
    if isinstance(cont, SetCont):
        return cont.next
    if isinstance(cont, HandlerCont):
        return cont.next
    return None


def find_handler(cont):
    while cont is not None:
        if isinstance(cont, HandlerCont):
            return cont
        cont = next_of(cont)
    return None


def unwind(cont, w_value):
    handler = find_handler(cont)
    if handler is None:
        raise SchemeError(w_value)
    return apply(handler.w_handler, [w_value], handler.next)


PRIMITIVES = ['+', '-', '*', '/', 'quotient', 'modulo', '<', '>', '<=', '>=', '=', 'eq?', 'cons', 'car', 'cdr', 'null?',
              'pair?', 'set-car!', 'set-cdr!', 'make-vector', 'vector-ref', 'vector-set!', 'vector-length',
              'string-append', 'string-length', 'string-ref', 'number->string', 'string<?', 'string=?', 'float',
              'truncate', 'sqrt', 'bitwise-and', 'bitwise-xor', 'shift', 'not', 'make-hash', 'hash-ref', 'hash-set!',
              'zero?']


class Primitive(Operands):
    """Simple if all its operands are."""
    _immutable_fields_ = ['name']

    def __init__(self, name, operands):
        Operands.__init__(self, operands)
        self.name = name
        simple = True
        for operand in operands:
            simple = simple and operand.simple
        self.simple = simple

    def show(self):
        return self.name

    @unroll_safe
    def eval(self, env):
        values = [None] * len(self.operands)
        for i in range(len(values)):
            values[i] = self.operands[i].eval(env)
        return primitive(self.name, values)

    def step(self, env, cont):
        if self.simple:
            return cont.plug(self.eval(env))
        return Operands.step(self, env, cont)

    def finish(self, values, env, cont):
        return cont.plug(primitive(self.name, values))


def fixnum(w_value):
    if isinstance(w_value, Fixnum):
        return w_value.number
    raise error('not an integer')


def flonum(w_value):
    if isinstance(w_value, Flonum):
        return w_value.number
    if isinstance(w_value, Fixnum):
        return float(w_value.number)
    raise error('not a number')


def text(w_value):
    if isinstance(w_value, Str):
        return w_value.text
    raise error('not a string')


def pair(w_value):
    if isinstance(w_value, Cons):
        return w_value
    raise error('not a pair')


def items(w_value):
    if isinstance(w_value, Vector):
        return w_value.items
    raise error('not a vector')


def slot(w_vector, w_index):
    index = fixnum(w_index)
    if index < 0 or index >= len(items(w_vector)):
        raise error('index')
    return index


def numeric(name, w_left, w_right):
    if isinstance(w_left, Fixnum) and isinstance(w_right, Fixnum):
        a = w_left.number
        b = w_right.number
        if name == '+':
            return Fixnum(a + b)
        elif name == '-':
            return Fixnum(a - b)
        elif name == '*':
            return Fixnum(a * b)
        elif name == '<':
            return boolean(a < b)
        elif name == '>':
            return boolean(a > b)
        elif name == '<=':
            return boolean(a <= b)
        elif name == '>=':
            return boolean(a >= b)
        elif name == '=':
            return boolean(a == b)
    f = flonum(w_left)
    g = flonum(w_right)
    if name == '+':
        return Flonum(f + g)
    elif name == '-':
        return Flonum(f - g)
    elif name == '*':
        return Flonum(f * g)
    elif name == '<':
        return boolean(f < g)
    elif name == '>':
        return boolean(f > g)
    elif name == '<=':
        return boolean(f <= g)
    elif name == '>=':
        return boolean(f >= g)
    elif name == '=':
        return boolean(f == g)
    if g == 0.0:
        raise error('division by zero')
    return Flonum(f / g)


def primitive(name, values):
    if name in ('+', '-', '*', '<', '>', '<=', '>=', '=', '/'):
        return numeric(name, values[0], values[1])
    elif name == 'cons':
        return Cons(values[0], values[1])
    elif name == 'car':
        return pair(values[0]).car
    elif name == 'cdr':
        return pair(values[0]).cdr
    elif name == 'null?':
        return boolean(values[0] is NULL)
    elif name == 'pair?':
        return boolean(isinstance(values[0], Cons))
    elif name == 'set-car!':
        pair(values[0]).car = values[1]
        return values[1]
    elif name == 'set-cdr!':
        pair(values[0]).cdr = values[1]
        return values[1]
    elif name == 'quotient' or name == 'modulo':
        a = fixnum(values[0])
        b = fixnum(values[1])
        if b == 0:
            raise error('division by zero')
        return Fixnum(a // b) if name == 'quotient' else Fixnum(a % b)
    elif name == 'eq?':
        w_left = values[0]
        w_right = values[1]
        if isinstance(w_left, Fixnum) and isinstance(w_right, Fixnum):
            return boolean(w_left.number == w_right.number)
        return boolean(w_left is w_right)
    elif name == 'zero?':
        return boolean(fixnum(values[0]) == 0)
    elif name == 'not':
        return boolean(values[0] is FALSE)
    elif name == 'vector-ref':
        return items(values[0])[slot(values[0], values[1])]
    elif name == 'vector-set!':
        items(values[0])[slot(values[0], values[1])] = values[2]
        return values[2]
    elif name == 'vector-length':
        return Fixnum(len(items(values[0])))
    elif name == 'make-vector':
        return Vector([values[1]] * fixnum(values[0]))
    elif name == 'bitwise-and':
        return Fixnum(fixnum(values[0]) & fixnum(values[1]))
    elif name == 'bitwise-xor':
        return Fixnum(fixnum(values[0]) ^ fixnum(values[1]))
    elif name == 'shift':
        return Fixnum(fixnum(values[0]) >> (fixnum(values[1]) & 63))
    elif name == 'float':
        return Flonum(flonum(values[0]))
    elif name == 'truncate':
        return Fixnum(int(flonum(values[0])))
    elif name == 'sqrt':
        return Flonum(math.sqrt(flonum(values[0])))
    elif name == 'string-append':
        return Str(text(values[0]) + text(values[1]))
    elif name == 'string-length':
        return Fixnum(len(text(values[0])))
    elif name == 'string-ref':
        index = fixnum(values[1])
        if index < 0 or index >= len(text(values[0])):
            raise error('index')
        return Fixnum(ord(text(values[0])[index]))
    elif name == 'string<?':
        return boolean(text(values[0]) < text(values[1]))
    elif name == 'string=?':
        return boolean(text(values[0]) == text(values[1]))
    elif name == 'number->string':
        return Str(values[0].show())
    return hashes(name, values)


def hashes(name, values):
    if name == 'make-hash':
        return Hash()
    w_hash = values[0]
    if not isinstance(w_hash, Hash):
        raise error('not a hash')
    key = values[1]
    if name == 'hash-ref':
        if isinstance(key, Fixnum):
            return w_hash.numbers.get(key.number, values[2])
        return w_hash.texts.get(text(key), values[2])
    if isinstance(key, Fixnum):
        w_hash.numbers[key.number] = values[2]
    else:
        w_hash.texts[text(key)] = values[2]
    return values[2]


# ---- reading ----

class Scope(object):
    def __init__(self, names, parent):
        self.names = names
        self.parent = parent


class Translator(object):
    def __init__(self):
        self.cells = {}

    def cell(self, name):
        if name not in self.cells:
            self.cells[name] = Cell()
        return self.cells[name]

    def reference(self, name, scope):
        depth = 0
        while scope is not None:
            for i in range(len(scope.names)):
                if scope.names[i] == name:
                    return Reference(depth, i)
            scope = scope.parent
            depth += 1
        return GlobalReference(self.cell(name))

    def atom(self, word, scope):
        c = word[0]
        if c == '"':
            return Const(Str(word[1:]))
        if c.isdigit() or (c == '-' and len(word) > 1):
            if '.' in word:
                return Const(Flonum(float(word)))
            return Const(Fixnum(int(word)))
        if word == '#t':
            return Const(TRUE)
        if word == '#f':
            return Const(FALSE)
        if word == 'null':
            return Const(NULL)
        return self.reference(word, scope)

    def sequence(self, forms, start, scope):
        nodes = []
        for i in range(start, len(forms)):
            form = forms[i]
            if form.items is not None and len(form.items) > 2 and form.items[0].text == 'copies':
                for _ in range(int(form.items[1].name())):
                    nodes.append(self.sequence(form.items, 2, scope))
            else:
                nodes.append(self.node(form, scope))
        if len(nodes) == 1:
            return nodes[0]
        return Begin(nodes[:])

    def function(self, name, arguments, forms, start, scope):
        names = [argument.name() for argument in arguments]
        result = Lambda(name, len(names))
        result.code = self.sequence(forms, start, Scope(names, scope))
        result.code.body = True
        return result

    def node(self, form, scope):
        if form.items is None:
            return self.atom(form.text, scope)
        forms = form.items
        head = ''
        if forms[0].items is None:
            head = forms[0].text
        if head == 'if':
            otherwise = Const(FALSE)
            if len(forms) > 3:
                return If(self.node(forms[1], scope), self.node(forms[2], scope), self.node(forms[3], scope))
            return If(self.node(forms[1], scope), self.node(forms[2], scope), otherwise)
        elif head == 'begin':
            return self.sequence(forms, 1, scope)
        elif head == 'lambda':
            return self.function('lambda', forms[1].list(), forms, 2, scope)
        elif head == 'set!':
            target = self.reference(forms[1].name(), scope)
            return Assign(target, self.node(forms[2], scope))
        elif head == 'let':
            at = 1
            if forms[1].items is None:
                at = 2
            names = []
            operands = []
            for binding in forms[at].list():
                names.append(binding.items[0])
                operands.append(self.node(binding.items[1], scope))
            if at == 1:
                inner = Scope([name.name() for name in names], scope)
                return Let(operands[:], self.sequence(forms, 2, inner))
            inner = Scope([forms[1].name()], scope)
            function = self.function(forms[1].name(), names, forms, 3, inner)
            return Loop(operands[:], function)
        start = 0
        if head == 'call/cc' or head == 'try' or head == 'throw' or head in PRIMITIVES:
            start = 1
        operands = [self.node(forms[i], scope) for i in range(start, len(forms))]
        if start == 0:
            return Call(operands[:])
        elif head == 'call/cc':
            return Capture(operands[:])
        elif head == 'try':
            return Try(operands[:])
        elif head == 'throw':
            return Throw(operands[:])
        return Primitive(head, operands[:])


def location(node):
    return node.show()


driver = JitDriver(greens=['node'], reds=['env', 'cont'], is_recursive=True, get_printable_location=location)


def interpret(node, env, cont):
    while True:
        driver.jit_merge_point(node=node, env=env, cont=cont)
        try:
            node, env, cont = node.step(env, cont)
        except SchemeError as e:
            node, env, cont = unwind(cont, e.w_value)
        if node.body:
            driver.can_enter_jit(node=node, env=env, cont=cont)


def evaluate(node, env):
    try:
        interpret(node, env, DONE)
    except Finished as e:
        return e.w_value
    except SchemeError as e:
        raise Failure('uncaught: ' + e.w_value.show())


class Scheme(common.Engine):
    def __init__(self, forms):
        translator = Translator()
        nothing = Env([], None)
        for form in forms:
            parts = form.list()
            if parts[0].name() != 'define':
                raise Failure('a definition was expected')
            if parts[1].items is not None:
                names = parts[1].items
                name = names[0].name()
                function = translator.function(name, names[1:], parts, 2, None)
                translator.cell(name).w_value = Closure(function, nothing)
            else:
                value = evaluate(translator.node(parts[2], None), nothing)
                translator.cell(parts[1].name()).w_value = value
        self.main = translator.cell('main')

    def unit(self, n):
        call = Call([GlobalReference(self.main), Const(Fixnum(n))])
        return evaluate(call, Env([], None)).show()


def load(text):
    return Scheme(front.Reader(text).read_all())


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
