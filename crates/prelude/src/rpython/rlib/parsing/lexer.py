"""Lexers: the longest match of any of several regular expressions, over and over."""
from rpython.rlib.objectmodel import not_rpython
from rpython.rlib.parsing import deterministic, regex


class Token(object):
    """A piece of source with the name of its regular expression."""

    def __init__(self, name, source, source_pos):
        self.name = name
        self.source = source
        self.source_pos = source_pos

    def copy(self):
        return self.__class__(self.name, self.source, self.source_pos)

    @not_rpython
    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    @not_rpython
    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return "Token(%r, %r, %r)" % (self.name, self.source, self.source_pos)


class SourcePos(object):
    """An index into the source, with its line and column; all count from 0."""

    def __init__(self, i, lineno, columnno):
        self.i = i
        self.lineno = lineno
        self.columnno = columnno

    def copy(self):
        return SourcePos(self.i, self.lineno, self.columnno)

    @not_rpython
    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    @not_rpython
    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return "SourcePos(%r, %r, %r)" % (self.i, self.lineno, self.columnno)


class Lexer(object):
    """Splits text into tokens; those whose names are in ignore are left out."""

    def __init__(self, token_regexs, names, ignore=None):
        ignore = ignore or []
        for name in ignore:
            assert name in names
        self.token_regexs = token_regexs
        self.names = names
        self.rex = regex.LexingOrExpression(token_regexs, names)
        self.automaton = self.rex.make_automaton().make_deterministic(names)
        self.automaton.optimize()
        self.ignore = dict.fromkeys(ignore)
        self.matcher = self.automaton.make_lexing_code()

    def get_runner(self, text, eof=False, token_class=None):
        return LexingDFARunner(self.matcher, self.automaton, text,
                               self.ignore, eof, token_class=token_class)

    def tokenize(self, text, eof=False):
        """All tokens; with eof one more, named EOF, stands at the end."""
        runner = self.get_runner(text, eof)
        result = []
        while True:
            try:
                result.append(runner.find_next_token())
            except StopIteration:
                return result


class DummyLexer(Lexer):
    """A lexer from a recognizing function and an automaton that are there already."""

    def __init__(self, matcher, automaton, ignore):
        self.token_regexs = None
        self.names = None
        self.rex = None
        self.automaton = automaton
        self.ignore = ignore
        self.matcher = matcher


class AbstractLexingDFARunner(deterministic.DFARunner):
    """Goes over a text once. Subclasses say what a token is (make_token,
    token_position_class) and which ones to leave out (ignore_token)."""
    i = 0

    def __init__(self, matcher, automaton, text, eof=False):
        self.automaton = automaton
        self.state = 0
        self.text = text
        self.last_matched_state = 0
        self.last_matched_index = -1
        self.eof = eof
        self.matcher = matcher
        self.lineno = 0
        self.columnno = 0

    def find_next_token(self):
        """The next token that is not ignored; StopIteration after the last."""
        while True:
            self.state = 0
            start = self.last_matched_index + 1
            assert start >= 0
            if start >= len(self.text):
                if self.eof and start == len(self.text):
                    # one past the end: the next call stops
                    self.last_matched_index += 1
                    return self.make_token(start, -1, "", eof=True)
                raise StopIteration
            end = self.inner_loop(start)
            if end < 0:
                end = ~end
            stop = self.last_matched_index + 1
            assert stop >= 0
            if stop == start:
                pos = self.token_position_class(end - 1, self.lineno, self.columnno)
                raise deterministic.LexerError(self.text, self.state, pos)
            source = self.text[start:stop]
            token = self.make_token(start, self.last_matched_state, source)
            self.adjust_position(source)
            if not self.ignore_token(self.last_matched_state):
                return token

    def adjust_position(self, token):
        """Move the line and the column over a token."""
        newlines = token.count("\n")
        self.lineno += newlines
        if newlines == 0:
            self.columnno += len(token)
        else:
            # counted from the newline itself
            self.columnno = token.rfind("\n")

    def inner_loop(self, i):
        return self.matcher(self, i)

    next = find_next_token

    def __iter__(self):
        return self


class LexingDFARunner(AbstractLexingDFARunner):
    """The usual runner: tokens are named after states of the automaton."""

    def __init__(self, matcher, automaton, text, ignore, eof=False, token_class=None):
        if not token_class:
            self.token_class = Token
            self.token_position_class = SourcePos
        else:
            self.token_class = token_class
            self.token_position_class = token_class.source_position_class
        AbstractLexingDFARunner.__init__(self, matcher, automaton, text, eof)
        self.ignore = ignore

    def ignore_token(self, state):
        return self.automaton.names[state] in self.ignore

    def make_token(self, index, state, text, eof=False):
        pos = self.token_position_class(index, self.lineno, self.columnno)
        if eof:
            return self.token_class("EOF", "EOF", pos)
        assert 0 <= state < len(self.automaton.names)
        return self.token_class(self.automaton.names[state], text, pos)
