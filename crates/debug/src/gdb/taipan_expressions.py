"""Expressions of RPython on the variables of a frame."""

import ast
import operator

import gdb
import taipan_printers as printers
import taipan_values as values


class Problem(Exception):
    """Why an expression has no value."""


BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}

ORDER = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}

UNARY = {
    ast.Not: lambda v: not truth(v), ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}


def evaluate(text, frame):
    """The value of an expression; a Problem if there is none."""
    try:
        tree = ast.parse(text.strip(), mode='eval')
    except (SyntaxError, ValueError):
        raise Problem('%r is no expression' % text)
    try:
        return Evaluator(frame).value(tree.body)
    except (TypeError, ZeroDivisionError, OverflowError, IndexError, KeyError) as error:
        raise Problem('%s: %s' % (type(error).__name__, error))
    except (gdb.error, gdb.GdbError) as error:
        raise Problem(str(error))


def truth(value):
    value = values.plain(value)
    if isinstance(value, gdb.Value):
        return values.kind(value) in (None, 'instance', 'tuple') or values.length(value) > 0
    return bool(value)


def equal(a, b):
    a, b = values.plain(a), values.plain(b)
    if isinstance(a, gdb.Value) and isinstance(b, gdb.Value):
        return int(a) == int(b)
    if isinstance(a, str) != isinstance(b, str) and isinstance(a, (str, bytes)) and isinstance(b, (str, bytes)):
        a, b = (v if isinstance(v, str) else v.decode('latin-1') for v in (a, b))
    return not isinstance(a, gdb.Value) and not isinstance(b, gdb.Value) and a == b


def items(value):
    """The items of a list, the keys of a dict, or the characters of a string."""
    if isinstance(value, bytes):
        return [value[i:i + 1] for i in range(len(value))]
    if isinstance(value, str):
        return list(value)
    what = values.kind(value) if isinstance(value, gdb.Value) else None
    if what in ('list', 'array'):
        return [values.item(value, i) for i in range(values.length(value))]
    if what == 'tuple':
        return values.tuple_items(value.dereference())
    if what == 'dict':
        return [k for k, _ in printers.dict_entries(value.dereference())]
    raise Problem('%s has no items' % values.type_name(value))


def contains(whole, part):
    whole, part = values.plain(whole), values.plain(part)
    if isinstance(whole, (bytes, str)) and type(whole) is type(part):
        return part in whole
    return any(equal(part, i) for i in items(whole))


class Evaluator:
    """Each method `NAME` takes a node of that class of Python's syntax tree."""

    def __init__(self, frame):
        self.frame = frame

    def value(self, node):
        method = getattr(self, type(node).__name__, None)
        if method is None:
            raise Problem('%s is not evaluated here' % ast.unparse(node))
        return method(node)

    def Constant(self, node):
        value = node.value
        if isinstance(value, str) and node.kind != 'u':
            return value.encode('utf-8')
        if value is None or isinstance(value, (int, float, str, bytes)):
            return value
        raise Problem('%s is not evaluated here' % ast.unparse(node))

    def Name(self, node):
        for name, value in variables(self.frame):
            if name == node.id:
                if value.is_optimized_out:
                    raise Problem('%s has no value here' % name)
                return value
        raise Problem('no variable %s here' % node.id)

    def Attribute(self, node):
        of = values.plain(self.value(node.value))
        if of is None:
            raise Problem('%s is None' % ast.unparse(node.value))
        if not isinstance(of, gdb.Value):
            raise Problem('%s is no instance' % ast.unparse(node.value))
        if values.kind(of) == 'instance':
            found = values.attributes(of)
        else:
            struct = printers.target(of.type)
            names = printers.fields(struct) if struct is not None else ()
            found = [(name, of.dereference()[name]) for name in names if name]
        for name, value in found:
            if name == node.attr:
                return value
        raise Problem('%s has no attribute %s' % (values.type_name(of), node.attr))

    def Subscript(self, node):
        of, index = values.plain(self.value(node.value)), node.slice
        if isinstance(index, ast.Slice):
            if not isinstance(of, (bytes, str)):
                raise Problem('slices are of strings here')
            bounds = [None if b is None else values.plain(self.value(b)) for b in (index.lower, index.upper)]
            return of[bounds[0]:bounds[1]]
        index = values.plain(self.value(index))
        if isinstance(of, gdb.Value) and values.kind(of) == 'dict':
            for key, value in printers.dict_entries(of.dereference()):
                if equal(key, index):
                    return value
            raise Problem('no key %s' % values.text(index))
        if isinstance(of, gdb.Value) and values.kind(of) in ('list', 'array'):
            length = values.length(of)
            if not -length <= index < length:
                raise Problem('index %d of %d items' % (index, length))
            return values.item(of, index % length)
        return items(of)[index]

    def Compare(self, node):
        left = self.value(node.left)
        for op, right in zip(node.ops, node.comparators):
            right = self.value(right)
            if not self.compare(op, left, right):
                return False
            left = right
        return True

    def compare(self, op, left, right):
        if isinstance(op, (ast.Eq, ast.Is)):
            return equal(left, right)
        if isinstance(op, (ast.NotEq, ast.IsNot)):
            return not equal(left, right)
        if isinstance(op, (ast.In, ast.NotIn)):
            return contains(right, left) == isinstance(op, ast.In)
        return ORDER[type(op)](values.plain(left), values.plain(right))

    def BoolOp(self, node):
        stops = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.value(part)
            if truth(value) == stops:
                break
        return value

    def BinOp(self, node):
        operation = BINARY.get(type(node.op))
        left, right = (values.plain(self.value(part)) for part in (node.left, node.right))
        if operation is None:
            raise Problem('%s is not evaluated here' % ast.unparse(node))
        if isinstance(node.op, ast.Div) and (isinstance(left, float) or isinstance(right, float)):
            operation = operator.truediv
        return operation(left, right)

    def UnaryOp(self, node):
        return UNARY[type(node.op)](values.plain(self.value(node.operand)))

    def IfExp(self, node):
        return self.value(node.body if truth(self.value(node.test)) else node.orelse)

    def Call(self, node):
        known = {'len': values.length, 'bool': truth, 'ord': ord, 'chr': lambda n: bytes([n]), 'abs': abs,
                 'int': int, 'str': lambda v: values.text(v).encode('utf-8')}
        function = known.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if function is None or len(node.args) != 1 or node.keywords:
            raise Problem('%s: functions of the program are not called' % ast.unparse(node))
        return function(values.plain(self.value(node.args[0])))


def variables(frame):
    """Names and values of the arguments and variables of a frame, arguments first."""
    try:
        block = frame.block()
    except RuntimeError:
        # A function without debug information.
        return []
    found = {}
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if (symbol.is_argument or symbol.is_variable) and symbol.name not in found:
                found[symbol.name] = (symbol.is_argument, symbol.value(frame))
        if block.function is not None:
            break
        block = block.superblock
    ordered = sorted(found.items(), key=lambda entry: not entry[1][0])
    return [(name, value) for name, (_, value) in ordered]
