"""Regular expressions as trees; make_automaton() gives the automaton of one."""
from rpython.rlib.parsing.deterministic import ALPHABET, NFA


class RegularExpression(object):
    """Base of all of them: `a + b` is one after the other, `a * 3` thrice, `+a` at least
    once, `a | b` one of two, `~a` all that does not match."""

    def make_automaton(self):
        """A new NFA with one start state."""
        nfa = NFA()
        start = nfa.add_state(start=True)
        end = nfa.add_state(final=True)
        self.connect(nfa, start, end)
        return nfa

    def connect(self, nfa, start, end):
        """Add states so that this expression leads from start to end."""
        raise NotImplementedError

    def kleene(self):
        """Any number of times."""
        return KleeneClosure(self)

    def __pos__(self):
        return self + self.kleene()

    def __mul__(self, times):
        repeated = StringExpression("")
        for _ in range(times):
            repeated += self
        return repeated

    def __add__(self, other):
        return AddExpression(self, other)

    def __invert__(self):
        return NotExpression(self)

    def __or__(self, other):
        return OrExpression(self, other)


class StringExpression(RegularExpression):
    """Just this string."""

    def __init__(self, s):
        self.string = s

    def __add__(self, other):
        if isinstance(other, StringExpression):
            return StringExpression(self.string + other.string)
        return RegularExpression.__add__(self, other)

    def connect(self, nfa, start, end):
        for char in self.string:
            state = nfa.add_state()
            nfa.add_transition(start, state, char)
            start = state
        nfa.add_transition(start, end)

    def __repr__(self):
        return "StringExpression(%r)" % (self.string,)


class RangeExpression(RegularExpression):
    """One character between two, both included."""

    def __init__(self, fromchar, tochar):
        self.fromchar = fromchar
        self.tochar = tochar

    def connect(self, nfa, start, end):
        for i in range(ord(self.fromchar), ord(self.tochar) + 1):
            nfa.add_transition(start, end, chr(i))

    def __repr__(self):
        return "RangeExpression(%r, %r)" % (self.fromchar, self.tochar)


class AddExpression(RegularExpression):
    """One after the other."""

    def __init__(self, rega, regb):
        self.rega = rega
        self.regb = regb

    def connect(self, nfa, start, end):
        middle = nfa.add_state()
        self.rega.connect(nfa, start, middle)
        self.regb.connect(nfa, middle, end)

    def __repr__(self):
        return "AddExpression(%r, %r)" % (self.rega, self.regb)


class ExpressionTag(RegularExpression):
    """An expression whose final state bears a name."""

    def __init__(self, reg, tag):
        self.reg = reg
        self.tag = tag

    def connect(self, nfa, start, end):
        tagged = nfa.add_state(self.tag, unmergeable=True)
        self.reg.connect(nfa, start, tagged)
        nfa.add_transition(tagged, end)

    def __repr__(self):
        return "ExpressionTag(%r, %r)" % (self.reg, self.tag)


class KleeneClosure(RegularExpression):
    """Any number of times, also none."""

    def __init__(self, regex):
        self.regex = regex

    def connect(self, nfa, start, end):
        # two states of its own: start and end may be those of a loop around this
        before = nfa.add_state()
        after = nfa.add_state()
        nfa.add_transition(start, before)
        self.regex.connect(nfa, before, after)
        nfa.add_transition(after, before)
        nfa.add_transition(before, end)

    def __repr__(self):
        return "KleeneClosure(%r)" % (self.regex,)


class OrExpression(RegularExpression):
    """One of two."""

    def __init__(self, rega, regb):
        self.rega = rega
        self.regb = regb

    def connect(self, nfa, start, end):
        for reg in [self.rega, self.regb]:
            before = nfa.add_state()
            nfa.add_transition(start, before)
            reg.connect(nfa, before, end)

    def __repr__(self):
        return "OrExpression(%r, %r)" % (self.rega, self.regb)


class NotExpression(RegularExpression):
    """All strings that an expression does not match."""

    def __init__(self, reg):
        self.reg = reg

    def connect(self, nfa, start, end):
        dfa = self.reg.make_automaton().make_deterministic()
        sink = dfa.add_state()
        for state in range(dfa.num_states):
            for char in ALPHABET:
                if (state, char) not in dfa:
                    dfa[state, char] = sink
        mapping = nfa.update(dfa.make_nondeterministic())
        nfa.add_transition(start, mapping[0])
        for state in range(dfa.num_states):
            if state not in dfa.final_states:
                nfa.add_transition(mapping[state], end)

    def __invert__(self):
        return self.reg


class LexingOrExpression(RegularExpression):
    """The tokens of a lexer: which one matched is the name of the final state."""

    def __init__(self, regs, names):
        self.names = names
        self.regs = regs

    def make_automaton(self):
        nfa = NFA()
        start = nfa.add_state(start=True)
        for reg, name in zip(self.regs, self.names):
            # A state of its own, to which nothing leads back.
            before = nfa.add_state()
            nfa.add_transition(start, before)
            reg.connect(nfa, before, nfa.add_state(name, final=True, unmergeable=True))
        return nfa

    def __repr__(self):
        return "LexingOrExpression(%r, %r)" % (self.regs, self.names)
