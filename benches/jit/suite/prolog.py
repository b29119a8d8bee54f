"""A Prolog: clauses as templates of terms, unification with a trail, choice points on a stack, goals that are left as a linked
list of continuations. What is green is the goal that comes next: a clause and an index into its body.

The predicate `main(N, Result)` of a program is its unit of work.
"""
from rpython.rlib.jit import JitDriver, promote, elidable, unroll_safe
import common
from common import Failure


# ---- terms ----

class Term(object):
    def show(self):
        return '?'


class Var(Term):
    def __init__(self):
        self.binding = None


class Num(Term):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class Float(Term):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class Signature(object):
    """A name with a number of arguments; there is one object for each."""
    _immutable_fields_ = ['name', 'arity']

    def __init__(self, name, arity):
        self.name = name
        self.arity = arity
        self.clauses = []
        self.builtin = 0

    @elidable
    def clause(self, index):
        """Clauses are only added while a program is loaded."""
        if index < len(self.clauses):
            return self.clauses[index]
        return None


class Struct(Term):
    """A compound term, or an atom if there are no arguments."""
    _immutable_fields_ = ['signature', 'args[*]']

    def __init__(self, signature, args):
        self.signature = signature
        self.args = args

    def show(self):
        result = self.signature.name
        if len(self.args) > 0:
            result += '(' + ','.join([deref(arg).show() for arg in self.args]) + ')'
        return result


class Local(Term):
    """A variable in a clause's template."""
    _immutable_fields_ = ['index']

    def __init__(self, index):
        self.index = index


@unroll_safe
def deref(term):
    while isinstance(term, Var):
        binding = term.binding
        if binding is None:
            return term
        term = binding
    return term


class Table(object):
    def __init__(self):
        self.signatures = {}

    def get(self, name, arity):
        key = name + '/' + str(arity)
        if key not in self.signatures:
            self.signatures[key] = Signature(name, arity)
        return self.signatures[key]


table = Table()
NIL = Struct(table.get('[]', 0), [])
TRUE = Struct(table.get('true', 0), [])
CONS = table.get('.', 2)
CALL = table.get('call', 1)
BUILTINS = ['true/0', 'fail/0', '!/0', '=/2', 'is/2', '</2', '>/2', '=</2', '>=/2', '=:=/2', '=\\=/2', 'call/1',
            'catch/3', 'throw/1', '==/2', '\\=/2', 'var/1', 'nonvar/1', 'atom_length/2', 'arg/3',
            'functor/3', '$caught/0', 'integer/1']
for _i in range(len(BUILTINS)):
    _name, _arity = BUILTINS[_i].rsplit('/', 1)
    table.get(_name, int(_arity)).builtin = _i + 1
(B_TRUE, B_FAIL, B_CUT, B_UNIFY, B_IS, B_LESS, B_GREATER, B_LE, B_GE, B_EQ, B_NE, B_CALL, B_CATCH, B_THROW, B_SAME,
 B_DIFFERENT, B_VAR, B_NONVAR, B_LENGTH, B_ARG, B_FUNCTOR, B_CAUGHT,
 B_INTEGER) = range(1, len(BUILTINS) + 1)


# ---- reading ----

PRIORITIES = {':-': 1200, ',': 1000, '=': 700, 'is': 700, '<': 700, '>': 700, '=<': 700, '>=': 700, '=:=': 700,
              '=\\=': 700, '==': 700, '\\=': 700, '+': 500, '-': 500, '/\\': 500, '\\/': 500, '*': 400, '/': 400,
              '//': 400, 'mod': 400, '>>': 400, '<<': 400}
SYMBOLS = '+-*/\\<>=:'


class Reader(object):
    def __init__(self, text):
        self.tokens = []
        self.split(text)
        self.at = 0
        self.variables = {}
        self.count = 0

    def split(self, text):
        i = 0
        while i < len(text):
            c = text[i]
            start = i
            if c == '%':
                while i < len(text) and text[i] != '\n':
                    i += 1
                continue
            if c == ' ' or c == '\n' or c == '\t':
                i += 1
                continue
            if c.isalnum() or c == '_':
                number = c.isdigit()
                while i < len(text) and (text[i].isalnum() or text[i] == '_' or
                                         (number and text[i] == '.' and i + 1 < len(text) and text[i + 1].isdigit())):
                    i += 1
            elif c in SYMBOLS:
                while i < len(text) and text[i] in SYMBOLS:
                    i += 1
            else:
                i += 1
            assert start >= 0 and i >= 0
            self.tokens.append(text[start:i])

    def peek(self):
        if self.at >= len(self.tokens):
            return ''
        return self.tokens[self.at]

    def next(self):
        token = self.peek()
        self.at += 1
        return token

    def expect(self, wanted):
        token = self.next()
        if token != wanted:
            raise Failure('expected %s, not %s' % (wanted, token))

    def term(self, limit):
        left = self.primary()
        while True:
            token = self.peek()
            if token not in PRIORITIES or PRIORITIES[token] > limit:
                return left
            priority = PRIORITIES[token]
            self.at += 1
            right = self.term(priority if token == ',' else priority - 1)
            left = Struct(table.get(token, 2), [left, right])

    def primary(self):
        token = self.next()
        if token == '(':
            term = self.term(1200)
            self.expect(')')
            return term
        if token == '[':
            return self.list()
        if token == '-' and self.peek() != '' and self.peek()[0].isdigit():
            token = '-' + self.next()
            return Num(int(token))
        if token == '':
            raise Failure('unexpected end')
        c = token[0]
        if c.isdigit():
            if '.' in token:
                return Float(float(token))
            return Num(int(token))
        if c == '_' or c.isupper():
            if token == '_' or token not in self.variables:
                self.variables[token] = Local(self.count)
                self.count += 1
            return self.variables[token]
        args = []
        if self.peek() == '(':
            self.at += 1
            args.append(self.term(999))
            while self.peek() == ',':
                self.at += 1
                args.append(self.term(999))
            self.expect(')')
        return Struct(table.get(token, len(args)), args[:])

    def list(self):
        if self.peek() == ']':
            self.at += 1
            return NIL
        items = [self.term(999)]
        while self.peek() == ',':
            self.at += 1
            items.append(self.term(999))
        tail = NIL
        if self.peek() == '|':
            self.at += 1
            tail = self.term(999)
        self.expect(']')
        while len(items) > 0:
            tail = Struct(CONS, [items.pop(), tail])
        return tail

    def clause(self):
        self.variables = {}
        self.count = 0
        term = self.term(1200)
        self.expect('.')
        body = []
        head = term
        if isinstance(term, Struct) and term.signature.name == ':-':
            head = term.args[0]
            goals = term.args[1]
            while isinstance(goals, Struct) and goals.signature.name == ',':
                body.append(goals.args[0])
                goals = goals.args[1]
            body.append(goals)
        assert isinstance(head, Struct)
        goals = []
        for goal in body:
            if not isinstance(goal, Struct):
                goal = Struct(CALL, [goal])
            goals.append(goal)
        return Clause(head, goals[:], self.count)


class Clause(object):
    _immutable_fields_ = ['head', 'body[*]', 'size']

    def __init__(self, head, body, size):
        self.head = head
        self.body = body
        self.size = size

    def may_match(self, goal):
        """A look at the first argument, so that fewer choice points are made."""
        args = self.head.args
        if len(args) == 0:
            return True
        first = args[0]
        term = deref(goal.args[0])
        if isinstance(first, Local) or isinstance(term, Var):
            return True
        if isinstance(first, Num):
            return isinstance(term, Num) and first.number == term.number
        if isinstance(first, Struct):
            return isinstance(term, Struct) and first.signature is promote(term.signature)
        return True


# ---- the machine ----

class Continuation(object):
    _immutable_fields_ = ['clause', 'index', 'env', 'next']

    def __init__(self, clause, index, env, next):
        self.clause = clause
        self.index = index
        self.env = env
        self.next = next


class Env(object):
    """The variables of a clause's body, and the choice points that a cut in it keeps."""
    _immutable_fields_ = ['values', 'barrier']

    def __init__(self, size, barrier):
        self.values = [None] * size
        self.barrier = barrier


class Choice(object):
    def __init__(self, goal, index, trail, next):
        self.goal = goal
        self.index = index
        self.trail = trail
        self.next = next

    def catcher(self):
        return None


class Catch(Choice):
    """Marks a call of catch/3; there is nothing to try again."""
    def __init__(self, goal, trail, next):
        Choice.__init__(self, goal, -1, trail, next)

    def catcher(self):
        return self.goal


class PrologError(Exception):
    def __init__(self, term):
        self.term = term


def error(name):
    return PrologError(Struct(table.get(name, 0), []))


def location(index, clause):
    if index < len(clause.body):
        return clause.head.signature.name + ': ' + clause.body[index].signature.name
    return clause.head.signature.name + ': end'


driver = JitDriver(greens=['index', 'clause'], reds=['env', 'next', 'machine'], is_recursive=True, get_printable_location=location)


class Machine(common.Engine):
    def __init__(self, text):
        for key in table.signatures:
            table.signatures[key].clauses = []
        reader = Reader(text)
        while reader.peek() != '':
            clause = reader.clause()
            clause.head.signature.clauses.append(clause)
        result = Struct(table.get('main', 2), [Local(0), Local(1)])
        self.query = Clause(TRUE, [result], 2)
        self.caught = Clause(TRUE, [Struct(table.get('$caught', 0), [])], 0)
        self.called = Clause(TRUE, [Struct(CALL, [Local(0)])], 1)
        self.trail = []
        self.choices = []

    def unit(self, n):
        self.trail = []
        self.choices = []
        env = Env(2, 0)
        env.values[0] = Num(n)
        result = Var()
        env.values[1] = result
        try:
            found = self.run(self.query, env)
        except PrologError as e:
            raise Failure('uncaught: ' + deref(e.term).show())
        if not found:
            return 'no'
        return deref(result).show()

    def bind(self, var, term):
        var.binding = term
        self.trail.append(var)

    def undo(self, size):
        trail = self.trail
        while len(trail) > size:
            trail.pop().binding = None

    @unroll_safe
    def build(self, template, env):
        if isinstance(template, Local):
            value = env.values[template.index]
            if value is None:
                value = Var()
                env.values[template.index] = value
            return value
        if isinstance(template, Struct) and len(template.args) > 0:
            args = [None] * len(template.args)
            i = 0
            while i < len(template.args):
                args[i] = self.build(template.args[i], env)
                i += 1
            return Struct(template.signature, args)
        return template

    @unroll_safe
    def match(self, template, term, env):
        """Unifies a template of a clause's head with a term."""
        if isinstance(template, Local):
            value = env.values[template.index]
            if value is None:
                env.values[template.index] = deref(term)
                return True
            return self.unify(value, term)
        term = deref(term)
        if isinstance(term, Var):
            self.bind(term, self.build(template, env))
            return True
        if isinstance(template, Num):
            return isinstance(term, Num) and term.number == template.number
        if isinstance(template, Struct):
            if not isinstance(term, Struct) or promote(term.signature) is not template.signature:
                return False
            i = 0
            while i < len(template.args):
                if not self.match(template.args[i], term.args[i], env):
                    return False
                i += 1
            return True
        return self.unify(template, term)

    def unify(self, left, right):
        left = deref(left)
        right = deref(right)
        if left is right:
            return True
        if isinstance(left, Var):
            self.bind(left, right)
            return True
        if isinstance(right, Var):
            self.bind(right, left)
            return True
        if isinstance(left, Num):
            return isinstance(right, Num) and left.number == right.number
        if isinstance(left, Float):
            return isinstance(right, Float) and left.number == right.number
        if isinstance(left, Struct) and isinstance(right, Struct):
            return left.signature is right.signature and self.unify_args(left, right)
        return False

    def unify_args(self, left, right):
        for i in range(len(left.args)):
            if not self.unify(left.args[i], right.args[i]):
                return False
        return True

    @unroll_safe
    def enter(self, clause, goal, env):
        head = clause.head
        i = 0
        while i < len(head.args):
            if not self.match(head.args[i], goal.args[i], env):
                return False
            i += 1
        return True

    @unroll_safe
    def first_match(self, signature, goal, index):
        while True:
            clause = signature.clause(index)
            if clause is None or clause.may_match(goal):
                return index
            index += 1

    def cut(self, depth):
        while len(self.choices) > depth:
            self.choices.pop()

    def run(self, clause, env):
        machine = self
        index = 0
        next = None
        while True:
            driver.jit_merge_point(index=index, clause=clause, env=env, next=next, machine=machine)
            if index >= len(clause.body):
                if next is None:
                    return True
                clause = next.clause
                index = next.index
                env = next.env
                next = next.next
                continue
            goal = machine.build(clause.body[index], env)
            assert isinstance(goal, Struct)
            signature = promote(goal.signature)
            try:
                if signature.builtin == B_CALL:
                    called = deref(goal.args[0])
                    if not isinstance(called, Struct):
                        raise error('instantiation_error')
                    if called.signature.builtin != 0:
                        next = Continuation(clause, index + 1, env, next)
                        clause = Clause(TRUE, [called], 0)
                        env = Env(0, len(machine.choices))
                        index = 0
                        continue
                    goal = called
                    signature = promote(goal.signature)
                elif signature.builtin == B_CATCH:
                    next = Continuation(clause, index + 1, env, next)
                    machine.choices.append(Catch(goal, len(machine.trail), next))
                    next = Continuation(machine.caught, 0, Env(0, 0), next)
                    clause = machine.called
                    env = Env(1, len(machine.choices))
                    env.values[0] = goal.args[0]
                    index = 0
                    continue
                elif signature.builtin != 0:
                    if machine.builtin(signature.builtin, goal, env):
                        index += 1
                        continue
                    goal = None
            except PrologError as e:
                catch = machine.handler(e.term)
                if catch is None:
                    raise
                next = Continuation(machine.caught, 1, Env(0, 0), catch.next)
                clause = machine.called
                env = Env(1, len(machine.choices))
                env.values[0] = catch.goal.args[2]
                index = 0
                continue
            at = 0
            after = next
            if goal is not None and (index + 1 < len(clause.body)):
                after = Continuation(clause, index + 1, env, next)
            # try clauses, those of earlier goals if none fits
            while True:
                if goal is None:
                    while len(machine.choices) > 0 and machine.choices[-1].index < 0:
                        machine.choices.pop()
                    if len(machine.choices) == 0:
                        return False
                    choice = machine.choices.pop()
                    machine.undo(choice.trail)
                    goal = choice.goal
                    at = promote(choice.index)
                    after = choice.next
                    signature = promote(goal.signature)
                at = machine.first_match(signature, goal, at)
                candidate = signature.clause(at)
                if candidate is None:
                    if len(signature.clauses) == 0:
                        raise Failure('unknown predicate ' + signature.name)
                    goal = None
                    continue
                barrier = len(machine.choices)
                following = machine.first_match(signature, goal, at + 1)
                if signature.clause(following) is not None:
                    machine.choices.append(Choice(goal, following, len(machine.trail), after))
                new_env = Env(candidate.size, barrier)
                if machine.enter(candidate, goal, new_env):
                    clause = candidate
                    index = 0
                    env = new_env
                    next = after
                    break
                goal = None
                # what was bound is undone with the choice point
            driver.can_enter_jit(index=index, clause=clause, env=env, next=next, machine=machine)

    def handler(self, term):
        """Unwinds to the catch/3 whose ball unifies with the term."""
        while len(self.choices) > 0:
            choice = self.choices.pop()
            self.undo(choice.trail)
            goal = choice.catcher()
            if goal is not None and self.unify(goal.args[1], term):
                return choice
        return None

    def builtin(self, number, goal, env):
        args = goal.args
        if number == B_TRUE or number == B_CAUGHT:
            return True
        elif number == B_FAIL:
            return False
        elif number == B_CUT:
            self.cut(env.barrier)
            return True
        elif number == B_UNIFY:
            return self.unify(args[0], args[1])
        elif number == B_IS:
            return self.unify(args[0], self.value(args[1]))
        elif number == B_THROW:
            raise PrologError(copy(args[0]))
        elif number == B_SAME:
            return same(args[0], args[1])
        elif number == B_DIFFERENT:
            size = len(self.trail)
            equal = self.unify(args[0], args[1])
            self.undo(size)
            return not equal
        elif number == B_VAR:
            return isinstance(deref(args[0]), Var)
        elif number == B_NONVAR:
            return not isinstance(deref(args[0]), Var)
        elif number == B_INTEGER:
            return isinstance(deref(args[0]), Num)
        elif number == B_LENGTH:
            term = deref(args[0])
            assert isinstance(term, Struct)
            return self.unify(args[1], Num(len(term.signature.name)))
        elif number == B_ARG:
            which = deref(args[0])
            term = deref(args[1])
            if not isinstance(which, Num) or not isinstance(term, Struct):
                raise error('type_error')
            at = which.number - 1
            if at < 0 or at >= len(term.args):
                return False
            return self.unify(args[2], term.args[at])
        elif number == B_FUNCTOR:
            name = deref(args[1])
            count = deref(args[2])
            if not isinstance(name, Struct) or not isinstance(count, Num):
                raise error('instantiation_error')
            new_args = [None] * count.number
            for i in range(count.number):
                new_args[i] = Var()
            return self.unify(args[0], Struct(table.get(name.signature.name, count.number), new_args))
        return self.compare(number, self.value(args[0]), self.value(args[1]))

    def compare(self, number, left, right):
        if isinstance(left, Num) and isinstance(right, Num):
            a = left.number
            b = right.number
            if number == B_LESS:
                return a < b
            elif number == B_GREATER:
                return a > b
            elif number == B_LE:
                return a <= b
            elif number == B_GE:
                return a >= b
            elif number == B_EQ:
                return a == b
            return a != b
        f = real(left)
        g = real(right)
        if number == B_LESS:
            return f < g
        elif number == B_GREATER:
            return f > g
        elif number == B_LE:
            return f <= g
        elif number == B_GE:
            return f >= g
        elif number == B_EQ:
            return f == g
        return f != g

    def value(self, term):
        """The number that an expression stands for."""
        term = deref(term)
        if isinstance(term, Num) or isinstance(term, Float):
            return term
        if not isinstance(term, Struct) or len(term.args) == 0:
            raise error('instantiation_error')
        name = promote(term.signature).name
        left = self.value(term.args[0])
        if len(term.args) == 1:
            if name == 'float':
                return Float(real(left))
            if name == 'truncate':
                return Num(int(real(left)))
            raise error('type_error')
        right = self.value(term.args[1])
        if isinstance(left, Num) and isinstance(right, Num):
            return arithmetic(name, left.number, right.number)
        f = real(left)
        g = real(right)
        if name == '+':
            return Float(f + g)
        elif name == '-':
            return Float(f - g)
        elif name == '*':
            return Float(f * g)
        elif name == '/' and g != 0.0:
            return Float(f / g)
        raise error('type_error')


def arithmetic(name, a, b):
    if name == '+':
        return Num(a + b)
    elif name == '-':
        return Num(a - b)
    elif name == '*':
        return Num(a * b)
    elif name == '/\\':
        return Num(a & b)
    elif name == '\\/':
        return Num(a | b)
    elif name == '>>':
        return Num(a >> (b & 63))
    elif name == '<<':
        return Num(a << (b & 63))
    if b == 0:
        raise error('division_by_zero')
    if name == 'mod':
        return Num(a % b)
    elif name == '//' or name == '/':
        return Num(a // b)
    raise error('type_error')


def real(term):
    if isinstance(term, Float):
        return term.number
    if isinstance(term, Num):
        return float(term.number)
    raise error('type_error')


def copy(term):
    """A copy that undoing bindings does not change; variables stay."""
    term = deref(term)
    if isinstance(term, Struct) and len(term.args) > 0:
        return Struct(term.signature, [copy(arg) for arg in term.args])
    return term


def same(left, right):
    left = deref(left)
    right = deref(right)
    if isinstance(left, Num):
        return isinstance(right, Num) and left.number == right.number
    if isinstance(left, Struct) and isinstance(right, Struct):
        if left.signature is not right.signature:
            return False
        for i in range(len(left.args)):
            if not same(left.args[i], right.args[i]):
                return False
        return True
    return left is right


def load(text):
    return Machine(text)


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
