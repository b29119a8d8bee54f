"""A packrat parser over tokens.

Rules are tried in the order in which they stand, and the result of each at each
place is kept, so that parsing takes time linear in the input.
"""
from rpython.rlib.objectmodel import not_rpython
from rpython.rlib.parsing.lexer import SourcePos
from rpython.rlib.parsing.tree import Node, Symbol, Nonterminal


class Rule(object):
    """A nonterminal and its alternatives, each a list of symbols."""

    def __init__(self, nonterminal, expansions):
        self.nonterminal = nonterminal
        self.expansions = expansions

    def getkey(self):
        return (self.nonterminal, tuple(self.expansions))

    @not_rpython
    def __eq__(self, other):
        return self.getkey() == other.getkey()

    @not_rpython
    def __ne__(self, other):
        return not self == other

    def __str__(self):
        return "%s: %s" % (self.nonterminal,
                           " | ".join([repr(e) for e in self.expansions]))

    def __repr__(self):
        return "Rule(%r, %r)" % (self.nonterminal, self.expansions)


class LazyInputStream(object):
    """Asks an iterator for tokens only as far as they are looked at."""

    def __init__(self, iterator):
        self.iterator = iter(iterator)
        self.data = []

    def __getitem__(self, index):
        assert index >= 0
        while index >= len(self.data):
            try:
                token = self.iterator.next()
            except StopIteration:
                raise IndexError("index out of range")
            self.data.append(token)
        return self.data[index]


class ParseError(Exception):
    """Parsing got no further than source_pos."""

    def __init__(self, source_pos, errorinformation):
        self.source_pos = source_pos
        self.errorinformation = errorinformation
        self.args = (source_pos, errorinformation)

    def nice_error_message(self, filename="<unknown>", source=""):
        pos = self.source_pos
        lines = ["  File %s, line %s" % (filename, pos.lineno + 1)]
        if source:
            lines.append(source.split("\n")[pos.lineno])
            lines.append(" " * pos.columnno + "^")
        else:
            lines.append("<couldn't get source>")
        message = "ParseError"
        if self.errorinformation:
            message += ": expected " + _listed(self.errorinformation.failure_reasons)
        lines.append(message)
        return "\n".join(lines)


def _listed(names):
    if len(names) == 1:
        return names[0]
    quoted = ["'%s'" % name for name in names]
    last = quoted.pop()
    return ", ".join(quoted) + " or " + last


class ErrorInformation(object):
    """What would have been possible at the token with the index pos."""

    def __init__(self, pos, failure_reasons=None):
        if failure_reasons is None:
            failure_reasons = []
        self.failure_reasons = failure_reasons
        self.pos = pos


def combine_errors(one, other):
    """The error that lies further on; both together if they lie at one place."""
    if one is None:
        return other
    if other is None or len(other.failure_reasons) == 0 or one.pos > other.pos:
        return one
    if other.pos > one.pos or len(one.failure_reasons) == 0:
        return other
    seen = {}
    reasons = []
    for group in [one.failure_reasons, other.failure_reasons]:
        for reason in group:
            if reason not in seen:
                seen[reason] = True
                reasons.append(reason)
    return ErrorInformation(one.pos, reasons)


def _readable(symbol):
    """Literals are called __NUMBER_TEXT: show the text."""
    if symbol.startswith("__"):
        pieces = symbol.split("_")
        if len(pieces[2]) > 0 and pieces[2][0].isdigit():
            return pieces[-1]
    return symbol


class LazyParseTable(object):
    """What was found out about an input: (node or None, next index, error)
    for each index and symbol that were asked for."""

    def __init__(self, input, parser):
        self.parser = parser
        self.input = input
        self.matched = {}

    def match_symbol(self, i, symbol):
        if (i, symbol) in self.matched:
            return self.matched[i, symbol]
        if self.parser.is_nonterminal(symbol):
            result = self._match_rule(i, self.parser.get_rule(symbol))
        else:
            result = self._match_terminal(i, symbol)
        self.matched[i, symbol] = result
        return result

    def _match_rule(self, i, rule):
        error = None
        for expansion in rule.expansions:
            children = []
            at = i
            for symbol in expansion:
                node, following, failure = self.match_symbol(at, symbol)
                if node is None:
                    error = combine_errors(error, failure)
                    break
                children.append(node)
                at = following
            else:
                return (Nonterminal(rule.nonterminal, children), at, error)
        return (None, 0, error)

    def _match_terminal(self, i, symbol):
        try:
            token = self.input[i]
        except IndexError:
            return (None, 0, ErrorInformation(i))
        if self.terminal_equality(symbol, token):
            return (Symbol(symbol, token.source, token), i + 1, None)
        return (None, 0, ErrorInformation(i, [_readable(symbol)]))

    def terminal_equality(self, symbol, input):
        return symbol == input.name


class PackratParser(object):
    """Parses by rules; rules that begin with themselves are refused."""

    def __init__(self, rules, startsymbol, parsetablefactory=LazyParseTable,
                 check_for_left_recursion=True):
        self.rules = rules
        self.nonterminal_to_rule = {}
        for rule in rules:
            self.nonterminal_to_rule[rule.nonterminal] = rule
        self.startsymbol = startsymbol
        if check_for_left_recursion:
            assert not self.has_left_recursion()
        self.parsetablefactory = parsetablefactory

    def is_nonterminal(self, symbol):
        return symbol in self.nonterminal_to_rule

    def get_rule(self, symbol):
        return self.nonterminal_to_rule[symbol]

    def parse(self, tokeniterator, lazy=False):
        """The tree of the start symbol; tokens may be left over behind it."""
        if lazy:
            input = LazyInputStream(tokeniterator)
        else:
            input = list(tokeniterator)
        table = self.parsetablefactory(input, self)
        node, _, error = table.match_symbol(0, self.startsymbol)
        if node is None:
            raise ParseError(input[error.pos].source_pos, error)
        return node

    @not_rpython
    def has_left_recursion(self):
        begins_with = {}
        for rule in self.rules:
            begins_with[rule.nonterminal] = [
                expansion[0] for expansion in rule.expansions
                if expansion and self.is_nonterminal(expansion[0])]
        for start in begins_with:
            seen = set()
            todo = list(begins_with[start])
            while todo:
                symbol = todo.pop()
                if symbol == start:
                    return True
                if symbol not in seen:
                    seen.add(symbol)
                    todo.extend(begins_with[symbol])
        return False

    @not_rpython
    def __repr__(self):
        return "%s((%r, %r))" % (self.__class__.__name__, self.rules, self.startsymbol)
