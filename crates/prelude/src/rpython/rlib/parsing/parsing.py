"""A packrat parser over tokens.

Rules are tried in the order in which they stand, and the result of each at each
place is kept, so that parsing takes time linear in the input.
"""
from rpython.rlib.objectmodel import not_rpython
from rpython.rlib.parsing.deterministic import located, pointed_out
from rpython.rlib.parsing.lexer import SourcePos
from rpython.rlib.parsing.tree import Node, Symbol, Nonterminal


class Rule(object):
    """A nonterminal and its alternatives, each a list of symbols."""

    def __init__(self, nonterminal, expansions):
        self.expansions = expansions
        self.nonterminal = nonterminal

    def getkey(self):
        """What tells it from other rules."""
        return self.nonterminal, tuple(self.expansions)

    @not_rpython
    def __eq__(self, other):
        return self.nonterminal == other.nonterminal and self.expansions == other.expansions

    @not_rpython
    def __ne__(self, other):
        return not (self == other)

    def __repr__(self):
        return "Rule(%r, %r)" % (self.nonterminal, self.expansions)

    def __str__(self):
        alternatives = " | ".join([repr(expansion) for expansion in self.expansions])
        return "%s: %s" % (self.nonterminal, alternatives)


class LazyInputStream(object):
    """Asks an iterator for tokens only as far as they are looked at."""

    def __init__(self, iterator):
        self.data = []
        self.iterator = iter(iterator)

    def __getitem__(self, index):
        assert index >= 0
        try:
            while len(self.data) <= index:
                self.data.append(self.iterator.next())
        except StopIteration:
            raise IndexError("index out of range")
        return self.data[index]


class ParseError(Exception):
    """Parsing got no further than source_pos; errorinformation has what was expected."""

    def __init__(self, source_pos, errorinformation):
        self.source_pos, self.errorinformation = source_pos, errorinformation
        self.args = source_pos, errorinformation

    def nice_error_message(self, filename="<unknown>", source=""):
        """The place, with its line if the source is given, and what was expected."""
        pos = self.source_pos
        if source:
            shown = pointed_out(source, pos.lineno, pos.columnno)
        else:
            shown = ["<couldn't get source>"]
        expected = ""
        if self.errorinformation:
            expected = ": expected " + _listed(self.errorinformation.failure_reasons)
        lines = [located(filename, pos.lineno)] + shown + ["ParseError" + expected]
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
        self.pos = pos
        self.failure_reasons = [] if failure_reasons is None else failure_reasons


def combine_errors(self, other):
    """The error that lies further on; both together if they lie at one place."""
    if self is None:
        return other
    if other is None or len(other.failure_reasons) == 0 or self.pos > other.pos:
        return self
    if other.pos > self.pos or len(self.failure_reasons) == 0:
        return other
    seen = {}
    reasons = []
    for group in [self.failure_reasons, other.failure_reasons]:
        for reason in group:
            if reason not in seen:
                seen[reason] = True
                reasons.append(reason)
    return ErrorInformation(self.pos, reasons)


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
        self.matched = {}
        self.input, self.parser = input, parser

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
    """Parses by rules; rules that begin with themselves are refused.

    What it found out about an input is in what parsetablefactory makes, a
    LazyParseTable or something like it.
    """

    def __init__(self, rules, startsymbol, parsetablefactory=LazyParseTable,
                 check_for_left_recursion=True):
        self.startsymbol = startsymbol
        self.parsetablefactory = parsetablefactory
        self.rules = rules
        self.nonterminal_to_rule = by_name = {}
        for rule in rules:
            by_name[rule.nonterminal] = rule
        assert not check_for_left_recursion or not self.has_left_recursion()

    def parse(self, tokeniterator, lazy=False):
        """The tree of the start symbol; tokens may be left over behind it."""
        tokens = LazyInputStream(tokeniterator) if lazy else list(tokeniterator)
        table = self.parsetablefactory(tokens, self)
        tree, _, error = table.match_symbol(0, self.startsymbol)
        if tree is None:
            raise ParseError(tokens[error.pos].source_pos, error)
        return tree

    def get_rule(self, symbol):
        return self.nonterminal_to_rule[symbol]

    def is_nonterminal(self, symbol):
        return symbol in self.nonterminal_to_rule

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
        return "%s(%r, %r)" % (self.__class__.__name__, self.rules, self.startsymbol)
