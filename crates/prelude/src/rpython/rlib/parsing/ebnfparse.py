"""Parsers from grammars in extended Backus-Naur form.

    NAME: "regular expression";     a token; IGNORE is left out
    rule: a "literal" | [b] c* ;    a rule; the first one is where parsing begins

Behind symbols stand `*`, `+` and `?`; round brackets group. Three kinds of brackets
say what the transformer does: `[x]` drops x, `<x>` puts x in place of the node, `>x<`
puts the children of x in its place. How the repetitions become plain rules shows in
parse trees, but not in what the transformer makes of them.
"""
import re

from rpython.rlib.parsing.lexer import Lexer, SourcePos
from rpython.rlib.parsing.parsing import (
    ErrorInformation, PackratParser, ParseError, Rule)
from rpython.rlib.parsing.regex import StringExpression
from rpython.rlib.parsing.regexparse import parse_regex, unescape
from rpython.rlib.parsing.tree import Nonterminal

# what becomes of a symbol in the transformed tree
KEEP, DROP, REPLACE, SPLICE = ' ', '[', '<', '>'

_TOKEN = re.compile(r'''
    (?P<skip> \s+ | \#[^\n]*\n? )
  | (?P<terminal> _*[A-Z][A-Z_]* )
  | (?P<nonterminal> [a-z_][a-z0-9_]* )
  | (?P<quote> "(?:[^"\\]|\\"|\\)*" | '"' )
  | (?P<sign> [:;|*+?()\[\]<>] )
''', re.VERBOSE | re.DOTALL)


def parse_ebnf(s):
    """Of a grammar: the tokens as (name, regular expression) pairs, the rules, and
    the class of transformers. ParseError or ValueError if it is none."""
    grammar = _Grammar(s)
    grammar.read()
    rules, changes = grammar.plain_rules()
    return zip(grammar.names, grammar.regexs), rules, _make_transformer(rules, changes)


def make_parse_function(regexs, rules, eof=False):
    """A function from a string to its parse tree. With eof, the tokens end with
    one named EOF, which rules may ask for."""
    names = [name for name, regex in regexs]
    check_for_missing_names(names, regexs, rules)
    ignore = ["IGNORE"] if "IGNORE" in names else []
    lexer = Lexer([regex for name, regex in regexs], names, ignore=ignore)
    parser = PackratParser(rules, rules[0].nonterminal)

    def parse(s):
        return parser.parse(lexer.tokenize(s, eof=eof))
    return parse


def check_for_missing_names(names, regexs, rules):
    known = set(names) | set(["EOF"]) | set([rule.nonterminal for rule in rules])
    for rule in rules:
        for expansion in rule.expansions:
            for symbol in expansion:
                if symbol not in known:
                    raise ValueError("symbol %r is neither a token nor a rule" % (symbol,))


class _Grammar(object):
    """Reads a grammar. An alternative is a list of (symbol, change) pairs."""

    def __init__(self, text):
        self.text = text
        self.i = 0
        self.tokens = self._tokenize(text)
        self.names = []
        self.regexs = []
        self.literals = {}
        self.rules = []            # (nonterminal, alternatives)
        self.optional = set()  # symbols of rules that may match nothing
        self.plus_count = 0
        self.first = None

    def _tokenize(self, text):
        tokens = []
        i = 0
        while i < len(text):
            match = _TOKEN.match(text, i)
            if match is None:
                self._fail_at(text, i, "a token")
            if match.lastgroup != 'skip':
                tokens.append((match.lastgroup, match.group(), i))
            i = match.end()
        tokens.append(('end', '', len(text)))
        return tokens

    def _fail_at(self, text, i, expected):
        line = text.count("\n", 0, i)
        pos = SourcePos(i, line, i - (text.rfind("\n", 0, i) + 1))
        raise ParseError(pos, ErrorInformation(self.i, [expected]))

    def fail(self, expected):
        self._fail_at(self.text, self.tokens[self.i][2], expected)

    def kind(self, ahead=0):
        """The kind of the next token; signs are their own kind."""
        kind, text, _ = self.tokens[min(self.i + ahead, len(self.tokens) - 1)]
        return text if kind == 'sign' else kind

    def take(self):
        self.i += 1
        return self.tokens[self.i - 1][1]

    def need(self, kind):
        if self.kind() != kind:
            self.fail(kind)
        return self.take()

    def read(self):
        while True:
            if self.kind() == 'terminal':
                name = self.take()
                self.need(':')
                pattern = self.need('quote')[1:-1].replace('\\"', '"')
                self.regexs.append(parse_regex(pattern))
                self.names.append(name)
            else:
                name = self.need('nonterminal')
                self.need(':')
                if self.kind() == ';':
                    self.rules.append((name, [[]]))
                else:
                    alternatives = self.alternatives()
                    if self.first is None:
                        self.first = name
                    self.rules.append((name, alternatives))
            self.need(';')
            if self.kind() == 'end':
                break

    def alternatives(self):
        result = [self.expansion()]
        while self.kind() == '|':
            self.take()
            result.append(self.expansion())
        return result

    def expansion(self):
        result = self.decorated()
        while self.at_item():
            result = result + self.decorated()
        return result

    def at_item(self):
        kind = self.kind()
        if kind == '<':
            # else it ends what a '>' began
            return self.kind(2) == '>'
        return kind in ('terminal', 'nonterminal', 'quote', '[', '(', '>')

    def decorated(self):
        inner = self.enclosed()
        kind = self.kind()
        if kind not in ('*', '+', '?'):
            return inner
        self.take()
        if kind == '+':
            name = "_plus_symbol%d" % self.plus_count
            self.plus_count += 1
        else:
            word = "star" if kind == '*' else "maybe"
            name = "_%s_symbol%d" % (word, len(self.optional))
            self.optional.add(name)
        # that an optional symbol matches nothing is worked into the rules that use it
        alternatives = [inner]
        if kind != '?':
            alternatives.insert(0, inner + [(name, SPLICE)])
        self.rules.append((name, alternatives))
        return [(name, SPLICE)]

    def enclosed(self):
        kind = self.kind()
        if kind == '(':
            self.take()
            inner = self.expansion()
            self.need(')')
            return inner
        if kind == '[':
            return self.bracketed(DROP, ']')
        if kind == '>':
            return self.bracketed(SPLICE, '<')
        if kind == '<':
            self.take()
            inner = [(self.primary(), REPLACE)]
            self.need('>')
            return inner
        return [(self.primary(), KEEP)]

    def bracketed(self, change, end):
        self.take()
        inner = self.expansion()
        self.need(end)
        for _, other in inner:
            assert other == KEEP or other == change
        return [(symbol, change) for symbol, _ in inner]

    def primary(self):
        if self.kind() == 'quote':
            return self.literal(unescape(self.take()[1:-1]))
        if self.kind() in ('terminal', 'nonterminal'):
            return self.take()
        self.fail("a symbol")

    def literal(self, text):
        """The token of a literal: these come before the named ones."""
        if text not in self.literals:
            name = "__%d_%s" % (len(self.literals), text)
            self.literals[text] = name
            self.names.insert(0, name)
            self.regexs.insert(0, StringExpression(text))
        return self.literals[text]

    def plain_rules(self):
        """The rules without symbols that may match nothing, and the changes for
        each alternative as a string. The start rule comes first."""
        rules = list(self.rules)
        for i in range(len(rules)):
            if rules[i][0] == self.first:
                rules[0], rules[i] = rules[i], rules[0]
                break
        plain = []
        more = []
        for name, alternatives in rules:
            result = []
            for index, alternative in enumerate(alternatives):
                result.extend(self._without_optional(name, index, alternative, more))
            plain.append((name, result))
        result_rules = []
        changes = []
        for name, alternatives in plain + more:
            result_rules.append(
                Rule(name, [[symbol for symbol, _ in a] for a in alternatives]))
            if alternatives == [[]]:
                changes.append([])
            else:
                changes.append(["".join([change for _, change in a]) for a in alternatives])
        return result_rules, changes

    def _without_optional(self, name, index, alternative, more):
        """With and without the first optional symbol, and what follows it; if
        there is another one in that, a rule of its own takes over."""
        places = [i for i in range(len(alternative))
                  if alternative[i][0] in self.optional]
        if not places:
            return [alternative]
        if len(places) == len(alternative):
            raise ValueError("an alternative of rule %r may match nothing: it needs "
                             "a symbol that is not optional" % (name,))
        following = ["__%s_rest_%d_%d" % (name, index, i) for i in range(len(places))]
        result = None
        start = 0
        for i, place in enumerate(places):
            if i < len(places) - 1:
                rest = [(following[i], SPLICE)]
            else:
                rest = alternative[place + 1:]
            choices = [alternative[start:place + 1] + rest,
                       alternative[start:place] + rest]
            if result is None:
                result = choices
            else:
                more.append((following[i - 1], choices))
            start = place + 1
        return result


def _make_transformer(rules, changes):
    """The class whose transform(tree) makes the syntax tree of a parse tree. Its
    methods are generated, so that each calls those of its symbols by name."""
    lines = ["class ToAST(object):"]
    nonterminals = set([rule.nonterminal for rule in rules])
    for rule, rule_changes in zip(rules, changes):
        lines.append("    def visit_%s(self, node):" % rule.nonterminal)
        if not rule_changes:
            lines.append("        return [node]")
            continue
        alternatives = zip(rule.expansions, rule_changes)
        lines.append("        children = node.children")
        for test, (expansion, change) in _choices(alternatives):
            indent = "        "
            if test:
                lines.append(indent + "if %s:" % test)
                indent += "    "
            for line in _returning(rule.nonterminal, nonterminals, expansion, change):
                lines.append(indent + line)
    start = rules[0].nonterminal
    lines += ["    def transform(self, tree):",
              "        assert isinstance(tree, Nonterminal)",
              "        assert tree.symbol == %r" % start,
              "        result = self.visit_%s(tree)" % start,
              "        assert len(result) == 1",
              "        return result[0]"]
    source = "\n".join(lines) + "\n"
    namespace = {"Nonterminal": Nonterminal, "__name__": __name__}
    exec source in namespace
    transformer = namespace["ToAST"]
    transformer.source = source
    transformer.changes = changes
    return transformer


def _choices(alternatives):
    """Each alternative with the test that tells it from those behind it."""
    result = []
    for i, (expansion, change) in enumerate(alternatives):
        others = [other for other, _ in alternatives[i + 1:]]
        if not others:
            result.append(("", (expansion, change)))
            break
        tests = []
        if [other for other in others if len(other) != len(expansion)]:
            tests.append("len(children) == %d" % len(expansion))
        others = [other for other in others if len(other) == len(expansion)]
        if expansion in others:
            others.remove(expansion)
        for j, symbol in enumerate(expansion):
            if [other for other in others if other[j] != symbol]:
                tests.append("children[%d].symbol == %r" % (j, symbol))
        if not tests:
            # the others are the same: they are never tried
            result.append(("", (expansion, change)))
            break
        result.append((" and ".join(tests), (expansion, change)))
    return result


def _returning(name, nonterminals, expansion, change):
    def transformed(i):
        child = "children[%d]" % i
        if expansion[i] in nonterminals:
            return "self.visit_%s(%s)" % (expansion[i], child)
        return "[%s]" % child

    if REPLACE in change:
        if change.count(REPLACE) > 1:
            raise ValueError("rule %r puts two nodes in the place of one" % (name,))
        return ["return " + transformed(change.index(REPLACE))]
    lines = ["result = []"]
    for i in range(len(expansion)):
        if change[i] == KEEP:
            lines.append("result.extend(%s)" % transformed(i))
        elif change[i] == SPLICE:
            lines.append("part = %s" % transformed(i))
            lines.append("assert len(part) == 1")
            lines.append("result.extend(part[0].children)")
    lines.append("return [Nonterminal(node.symbol, result)]")
    return lines
