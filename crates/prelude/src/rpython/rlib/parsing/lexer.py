"""Lexers: the longest match of any of several regular expressions, over and over.

A Lexer has the automaton of its expressions, made while the program loads. Each text gets
a runner of its own, which remembers how far it came.
"""
from rpython.rlib.objectmodel import not_rpython
from rpython.rlib.parsing import deterministic, regex


class _Compared(object):
    """Base of what tests compare by content while a program loads. RPython itself compares
    instances by identity."""

    @not_rpython
    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    @not_rpython
    def __ne__(self, other):
        return self.__dict__ != other.__dict__


class SourcePos(_Compared):
    """An index into the source, with its line and column; all count from 0."""

    def __init__(self, i, lineno, columnno):
        self.lineno = lineno
        self.columnno = columnno
        self.i = i

    def __repr__(self):
        return "SourcePos(%s, %s, %s)" % (self.i, self.lineno, self.columnno)

    def copy(self):
        return SourcePos(self.i, self.lineno, self.columnno)


class Token(_Compared):
    """A piece of source, where it stands, and the name of its regular expression."""

    def __init__(self, name, source, source_pos):
        self.source_pos = source_pos
        self.name = name
        self.source = source

    def __repr__(self):
        return "Token(%r, %r, %r)" % (self.name, self.source, self.source_pos)

    def copy(self):
        """Another token at the same, not a copied, place."""
        return self.__class__(self.name, self.source, self.source_pos)


class Lexer(object):
    """Splits text into tokens; those whose names are in ignore are left out.

    Where several expressions match equally much, the first of them names the token.
    """
    token_regexs = names = rex = None

    def __init__(self, token_regexs, names, ignore=None):
        left_out = {}
        for name in ignore or []:
            assert name in names
            left_out[name] = None
        rex = regex.LexingOrExpression(token_regexs, names)
        automaton = rex.make_automaton().make_deterministic(names)
        automaton.optimize()
        self.token_regexs, self.names, self.rex = token_regexs, names, rex
        self._run_by(automaton.make_lexing_code(), automaton, left_out)

    def _run_by(self, matcher, automaton, ignore):
        self.matcher, self.automaton, self.ignore = matcher, automaton, ignore

    def get_runner(self, text, eof=False, token_class=None):
        return LexingDFARunner(
            self.matcher, self.automaton, text, self.ignore, eof, token_class)

    def tokenize(self, text, eof=False):
        """All tokens; with eof one more, named EOF, stands at the end."""
        tokens = []
        runner = self.get_runner(text, eof)
        try:
            while True:
                tokens.append(runner.find_next_token())
        except StopIteration:
            return tokens


class DummyLexer(Lexer):
    """A lexer from a recognizing function and an automaton that are there already."""

    def __init__(self, matcher, automaton, ignore):
        self._run_by(matcher, automaton, ignore)


class AbstractLexingDFARunner(deterministic.DFARunner):
    """Goes over a text once.

    Subclasses say what a token is (make_token, token_position_class) and which ones to
    leave out (ignore_token). What the matcher found last is in last_matched_index (of the
    last character) and last_matched_state; the next token begins at lineno and columnno.
    """
    i = 0

    def __init__(self, matcher, automaton, text, eof=False):
        deterministic.DFARunner.__init__(self, automaton)
        self.matcher = matcher
        self.text = text
        self.eof = eof
        self.last_matched_index = -1
        self.last_matched_state = 0
        self.lineno = self.columnno = 0

    def __iter__(self):
        return self

    def find_next_token(self):
        """The next token that is not ignored; StopIteration after the last."""
        while True:
            start = self.last_matched_index + 1
            if start >= len(self.text):
                return self._at_end(start)
            source = self._longest_match(start)
            state = self.last_matched_state
            token = self.make_token(start, state, source)
            self.adjust_position(source)
            if not self.ignore_token(state):
                return token

    next = find_next_token

    def _at_end(self, start):
        if not self.eof or start > len(self.text):
            raise StopIteration
        # One past the end: the next call stops.
        self.last_matched_index = start
        return self.make_token(start, -1, "", eof=True)

    def _longest_match(self, start):
        self.state = 0
        read_to = self.inner_loop(start)
        stop = self.last_matched_index + 1
        assert 0 <= start <= stop
        if start == stop:
            if read_to < 0:
                read_to = ~read_to
            place = self.token_position_class(read_to - 1, self.lineno, self.columnno)
            raise deterministic.LexerError(self.text, self.state, place)
        return self.text[start:stop]

    def inner_loop(self, i):
        """Runs the automaton from i on; see DFA.make_lexing_code()."""
        return self.matcher(self, i)

    def adjust_position(self, token):
        """Move the line and the column over a token."""
        lines = token.count("\n")
        if lines > 0:
            # The column counts from the newline itself.
            self.lineno += lines
            self.columnno = token.rfind("\n")
        else:
            self.columnno += len(token)


class LexingDFARunner(AbstractLexingDFARunner):
    """The usual runner: tokens are named after states of the automaton.

    token_class is called with name, source and place of a token; places are made by its
    source_position_class.
    """

    def __init__(self, matcher, automaton, text, ignore, eof=False, token_class=None):
        AbstractLexingDFARunner.__init__(self, matcher, automaton, text, eof)
        if token_class:
            self.token_position_class = token_class.source_position_class
            self.token_class = token_class
        else:
            self.token_position_class = SourcePos
            self.token_class = Token
        self.ignore = ignore

    def make_token(self, index, state, text, eof=False):
        name = "EOF"
        if eof:
            text = name
        else:
            names = self.automaton.names
            assert 0 <= state < len(names)
            name = names[state]
        place = self.token_position_class(index, self.lineno, self.columnno)
        return self.token_class(name, text, place)

    def ignore_token(self, state):
        return self.automaton.names[state] in self.ignore
