"""Parse trees, and visitors that dispatch on the symbol of a node.

A visitor that is to be translated derives from RPythonVisitor and calls
`self.dispatch(node)`; at import time `node.visit(visitor)` takes any object with
`visit_SYMBOL` methods.
"""
from rpython.rlib.objectmodel import not_rpython


class Node(object):
    """Base of both kinds of nodes."""

    @not_rpython
    def visit(self, visitor):
        """Calls the method of a visitor that is for this node, with the node."""
        if isinstance(visitor, RPythonVisitor):
            return visitor.dispatch(self)
        name = "visit_" + self.symbol
        if hasattr(visitor, name):
            return getattr(visitor, name)(self)
        return self._visited_by_default(visitor)

    @not_rpython
    def dot(self):
        """Lines in the language of graphviz, for the node and all below it."""
        raise NotImplementedError


class Nonterminal(Node):
    """An inner node: the name of its rule, and what the rule matched."""

    def __init__(self, symbol, children):
        self.symbol, self.children = symbol, children

    def getsourcepos(self):
        """Where its first token stands; IndexError if it has none."""
        return self.children[0].getsourcepos()

    def __repr__(self):
        return "Nonterminal(%r, %r)" % (self.symbol, self.children)

    def __str__(self):
        children = [str(child) for child in self.children]
        return "%s(%s)" % (self.symbol, ", ".join(children))

    @not_rpython
    def _visited_by_default(self, visitor):
        if not hasattr(visitor, "visit"):
            raise AttributeError("no visit_" + self.symbol)
        return visitor.visit(self)

    @not_rpython
    def dot(self):
        yield '"%d" [label="%s"];' % (id(self), _in_label(self.symbol))
        for child in self.children:
            yield '"%d" -> "%d";' % (id(self), id(child))
            for line in child.dot():
                yield line


class Symbol(Node):
    """A leaf: the terminal's name, its text, and the token that it comes from."""

    def __init__(self, symbol, additional_info, token):
        self.additional_info = additional_info
        self.symbol, self.token = symbol, token

    def getsourcepos(self):
        """Where its token stands."""
        return self.token.source_pos

    def __repr__(self):
        return "Symbol(%r, %r)" % (self.symbol, self.additional_info)

    @not_rpython
    def _visited_by_default(self, visitor):
        return self

    @not_rpython
    def dot(self):
        text = "%s\\n%s" % (_in_label(self.symbol), _in_label(str(self.additional_info)))
        yield '"%d" [shape=box,label="%s"];' % (id(self), text)


def _in_label(text):
    return text.replace("\\", "\\\\").replace('"', "'").replace("\n", "\\n")


class VisitError(Exception):
    """A visitor has no method for a node."""

    def __init__(self, node):
        self.args = (node,)
        self.node = node

    def __str__(self):
        return "no method visits %s" % (self.node,)


def make_dispatch_function(methods, for_nonterminal, for_symbol, for_any):
    """The dispatch method of a visitor class.

    methods maps symbols to functions; the other three, each a function or None,
    take the nodes whose symbol is not among them.
    """
    if methods:
        def find(symbol):
            return methods.get(symbol, None)
    else:
        def find(symbol):
            return None

    def dispatch(self, node):
        if isinstance(node, Nonterminal):
            method = find(node.symbol)
            if method is not None:
                return method(self, node)
            if for_nonterminal is not None:
                return for_nonterminal(self, node)
        elif isinstance(node, Symbol):
            method = find(node.symbol)
            if method is not None:
                return method(self, node)
            if for_symbol is not None:
                return for_symbol(self, node)
        if for_any is not None:
            return for_any(self, node)
        raise VisitError(node)
    return dispatch


class CreateDispatchDictionaryMetaclass(type):
    """Gives each class a `dispatch` over the `visit_` methods of its own body."""

    def __new__(cls, name, bases, namespace):
        methods = {}
        for key, value in namespace.items():
            if key.startswith("visit_"):
                methods[key[len("visit_"):]] = value
        namespace["dispatch"] = make_dispatch_function(
            methods,
            namespace.get("general_nonterminal_visit"),
            namespace.get("general_symbol_visit"),
            namespace.get("general_visit"))
        return type.__new__(cls, name, bases, namespace)


class RPythonVisitor(object):
    """Base of visitors: define visit_SYMBOL(self, node), call dispatch(node)."""
    __metaclass__ = CreateDispatchDictionaryMetaclass
