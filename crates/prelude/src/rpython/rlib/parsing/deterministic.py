"""Finite automata over bytes.

Built while a program is loaded; what a translated program keeps of one is the
function that make_lexing_code() returns, and the names of the states.
"""
import linecache

from rpython.rlib.objectmodel import not_rpython

# The function that make_lexing_code() returns.
_RECOGNIZE = """def recognize(runner, i):
    text = runner.text
    state = 0
    while True:
        if %(accepting)r[state] == '+':
            runner.last_matched_index = i - 1
            runner.last_matched_state = state
        runner.state = state
        if i >= len(text):
            return i if %(accepting)r[state] == '+' else ~i
        at = (state * %(width)d + ord(%(class_of)r[ord(text[i])])) * 2
        target = ord(%(targets)r[at]) << 8 | ord(%(targets)r[at + 1])
        i += 1
        if target == 0:
            return ~i
        state = target - 1
"""

ALPHABET = [chr(i) for i in range(256)]


@not_rpython
def compress_char_set(chars):
    """The runs of neighbours in chars: (first, length) pairs, longer ones first."""
    runs = []
    for char in sorted(set(chars)):
        if runs and ord(char) == ord(runs[-1][0]) + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((char, 1))
    runs.sort(key=lambda run: (-run[1], run[0]))
    return runs


def located(filename, lineno):
    """How a message about a place in the source begins."""
    return "  File %s, line %s" % (filename, lineno + 1)


def pointed_out(source, lineno, columnno):
    """The line of a place, and a line with an arrow below it."""
    line = source.split("\n")[lineno]
    return [line, " " * columnno + "^"]


class LexerError(Exception):
    """No token matches at source_pos."""

    def __init__(self, input, state, source_pos):
        self.input, self.state, self.source_pos = input, state, source_pos
        self.args = input, state, source_pos

    def __str__(self):
        return self.nice_error_message()

    def nice_error_message(self, filename="<unknown>"):
        """The place, its line, and an arrow."""
        lineno = self.source_pos.lineno
        lines = [located(filename, lineno)]
        lines.extend(pointed_out(self.input, lineno, self.source_pos.columnno))
        lines.append("LexerError")
        return "\n".join(lines)


class _Automaton(object):
    """States with numbers from 0 on and names. Final states accept. Unmergeable ones stay
    apart when an automaton is made smaller, and keep their name."""

    def __init__(self, num_states, transitions, final_states, unmergeable_states, names):
        self.num_states = num_states
        self.transitions = transitions
        self.names = names
        self.final_states = final_states
        self.unmergeable_states = unmergeable_states

    @not_rpython
    def _new_state(self, name, final, unmergeable):
        number = self.num_states
        self.num_states = number + 1
        self.names.append(str(number) if name is None else name)
        for applies, states in [(final, self.final_states),
                                (unmergeable, self.unmergeable_states)]:
            if applies:
                states.add(number)
        return number


class DFA(_Automaton):
    """A deterministic automaton; state 0 is where it starts.

    transitions maps (state, char) to a state.
    """

    def __init__(self, num_states=0, transitions=None, final_states=None,
                 unmergeable_states=None, names=None):
        _Automaton.__init__(
            self, num_states,
            transitions={} if transitions is None else transitions,
            final_states=set() if final_states is None else final_states,
            unmergeable_states=set() if unmergeable_states is None else unmergeable_states,
            names=[] if names is None else names)

    @not_rpython
    def __repr__(self):
        return "DFA(%r, %r, %r, %r, %r)" % (
            self.num_states, self.transitions, self.final_states,
            self.unmergeable_states, self.names)

    @not_rpython
    def add_state(self, name=None, final=False, unmergeable=False):
        return self._new_state(name, final, unmergeable)

    @not_rpython
    def __setitem__(self, key, next_state):
        self.transitions[key] = next_state

    @not_rpython
    def __getitem__(self, key):
        return self.transitions[key]

    @not_rpython
    def __contains__(self, key):
        return key in self.transitions

    @not_rpython
    def get_all_chars(self):
        return set([char for state, char in self.transitions])

    @not_rpython
    def char_classes(self):
        """Characters that lead to the same states everywhere are one class.

        Gives the class of each of the 256 characters, and per state the target
        (or -1) for each class.
        """
        columns = []
        for i in range(256):
            columns.append([-1] * self.num_states)
        for (state, char), target in self.transitions.items():
            columns[ord(char)][state] = target
        numbers = {}
        class_of = []
        for column in columns:
            class_of.append(numbers.setdefault(tuple(column), len(numbers)))
        by_class = [None] * len(numbers)
        for column, number in numbers.items():
            by_class[number] = column
        rows = []
        for state in range(self.num_states):
            rows.append([column[state] for column in by_class])
        return class_of, rows

    @not_rpython
    def optimize(self):
        """Merge states that accept the same; tells whether there were any."""
        class_of, rows = self.char_classes()
        # the block of each state; refined until no block has states that differ
        blocks = []
        for state in range(self.num_states):
            if state in self.unmergeable_states:
                blocks.append(state + 2)
            elif state in self.final_states:
                blocks.append(1)
            else:
                blocks.append(0)
        count = len(set(blocks))
        while True:
            numbers = {}
            refined = []
            for state in range(self.num_states):
                targets = [-1 if t < 0 else blocks[t] for t in rows[state]]
                key = (blocks[state], tuple(targets))
                refined.append(numbers.setdefault(key, len(numbers)))
            blocks = refined
            if len(numbers) == count:
                break
            count = len(numbers)
        if count == self.num_states:
            return False
        # blocks are numbered in the order of their first states: 0 stays the start
        names = [None] * count
        for state in range(self.num_states):
            block = blocks[state]
            if names[block] is None:
                names[block] = self.names[state]
            elif state not in self.unmergeable_states:
                names[block] += ", " + self.names[state]
        transitions = {}
        for (state, char), target in self.transitions.items():
            transitions[blocks[state], char] = blocks[target]
        self.names = names
        self.transitions = transitions
        self.num_states = count
        self.final_states = set([blocks[s] for s in self.final_states])
        self.unmergeable_states = set([blocks[s] for s in self.unmergeable_states])
        return True

    @not_rpython
    def make_code(self):
        """A function that tells whether the automaton accepts a string."""
        width, class_of, targets, accepting = self._tables()

        def recognize(input):
            state = 0
            for i in range(len(input)):
                state = targets[state * width + ord(class_of[ord(input[i])])]
                if state < 0:
                    raise LexerError(input, state, i)
            if not accepting[state]:
                raise LexerError(input, state, len(input))
            return True
        return recognize

    @not_rpython
    def make_lexing_code(self):
        """A function recognize(runner, i) that finds the longest match from i on.

        It leaves the match in runner.last_matched_index and _state, and returns
        the index after the last character if all the rest was read and matches,
        else the complement of the index where it gave up.
        """
        width, class_of, targets, accepting = self._tables()
        # All of it is in its text, tables too, for makepackrat copies that elsewhere.
        # A table of states has two characters for each; 0 stands for none.
        assert self.num_states < 0xffff
        text = _RECOGNIZE % {
            'accepting': "".join(["+" if accepts else "-" for accepts in accepting]),
            'class_of': class_of,
            'width': width,
            'targets': "".join([chr(t + 1 >> 8) + chr(t + 1 & 0xff) for t in targets]),
        }
        name = '<recognize %d>' % (len(linecache.cache),)
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        namespace = {}
        exec compile(text, name, 'exec') in namespace
        return namespace['recognize']

    @not_rpython
    def _tables(self):
        class_of, rows = self.char_classes()
        targets = []
        for row in rows:
            targets.extend(row)
        accepting = [state in self.final_states for state in range(self.num_states)]
        # at most 256 classes: a byte for each
        return len(rows[0]), "".join([chr(c) for c in class_of]), targets, accepting

    @not_rpython
    def get_runner(self):
        return DFARunner(self)

    @not_rpython
    def make_nondeterministic(self):
        result = NFA()
        for state in range(self.num_states):
            result.add_state(self.names[state], start=state == 0,
                             final=state in self.final_states)
        for (state, char), target in self.transitions.items():
            result.add_transition(state, target, char)
        return result


class DFARunner(object):
    """Follows an automaton character by character."""

    def __init__(self, automaton):
        self.automaton = automaton
        self.state = 0

    @not_rpython
    def nextstate(self, char):
        self.state = self.automaton[self.state, char]
        return self.state

    @not_rpython
    def recognize(self, s):
        self.state = 0
        for char in s:
            if (self.state, char) not in self.automaton:
                return False
            self.nextstate(char)
        return self.state in self.automaton.final_states


class NFA(_Automaton):
    """A nondeterministic automaton; input None is a step without a character.

    transitions maps a state to a dict from input to the set of states it leads to.
    """

    def __init__(self):
        _Automaton.__init__(self, 0, {}, set(), set(), [])
        self.start_states = set()

    def add_state(self, name=None, start=False, final=False, unmergeable=False):
        number = self._new_state(name, final, unmergeable)
        if start:
            self.start_states.add(number)
        return number

    def add_transition(self, state, next_state, input=None):
        by_input = self.transitions.setdefault(state, {})
        by_input.setdefault(input, set()).add(next_state)

    def get_next_states(self, state, char):
        """Where one character leads, after any steps without one."""
        result = set()
        for reached in self.epsilon_closure([state]):
            result |= self.transitions.get(reached, {}).get(char, set())
        return result

    def epsilon_closure(self, states):
        closure = set(states)
        todo = list(closure)
        while todo:
            for target in self.transitions.get(todo.pop(), {}).get(None, ()):
                if target not in closure:
                    closure.add(target)
                    todo.append(target)
        return closure

    def update(self, other):
        """Add the states of another automaton; maps its states to those here."""
        mapping = {}
        for state in range(other.num_states):
            mapping[state] = self.add_state(other.names[state])
        for state, by_input in other.transitions.items():
            for input, targets in by_input.items():
                for target in targets:
                    self.add_transition(mapping[state], mapping[target], input)
        return mapping

    def make_deterministic(self, name_precedence=None):
        """The automaton of the sets of states that are possible at a time.

        Where several unmergeable states come together, the one whose name comes
        first in name_precedence gives the name.
        """
        result = DFA()
        known = {}
        todo = []

        def state_of(states):
            closure = self.epsilon_closure(states)
            key = frozenset(closure)
            if key not in known:
                members = sorted(closure)
                unmergeable = [s for s in members if s in self.unmergeable_states]
                name = ", ".join([self.names[s] for s in members])
                if unmergeable:
                    candidates = [self.names[s] for s in unmergeable]
                    if name_precedence is None:
                        name = candidates[-1]
                    else:
                        ranked = [n for n in name_precedence if n in candidates]
                        if ranked:
                            name = ranked[0]
                known[key] = result.add_state(
                    name, bool(closure & self.final_states), bool(unmergeable))
                todo.append((known[key], members))
            return known[key]

        state_of(self.start_states)
        while todo:
            state, members = todo.pop()
            by_char = {}
            for member in members:
                for input, targets in self.transitions.get(member, {}).items():
                    if input is not None:
                        by_char.setdefault(input, set()).update(targets)
            # many characters lead to the same set: look it up once
            by_targets = {}
            for char in sorted(by_char):
                by_targets.setdefault(frozenset(by_char[char]), []).append(char)
            for targets, chars in sorted(by_targets.items(), key=lambda item: item[1]):
                target = state_of(targets)
                for char in chars:
                    result[state, char] = target
        return result


class SetNFARunner(object):
    """Runs an NFA by following all possible states at once."""

    def __init__(self, automaton):
        self.automaton = automaton

    def recognize(self, s):
        states = set(self.automaton.start_states)
        for char in s:
            following = set()
            for state in states:
                following |= self.automaton.get_next_states(state, char)
            states = following
        return bool(self.automaton.epsilon_closure(states) & self.automaton.final_states)


class BacktrackingNFARunner(object):
    """Runs an NFA by trying one way after the other."""

    def __init__(self, automaton):
        self.automaton = automaton

    def recognize(self, s):
        return any([self._accepts(s, 0, state) for state in self.automaton.start_states])

    def _accepts(self, s, i, state):
        if i == len(s):
            return bool(self.automaton.epsilon_closure([state])
                        & self.automaton.final_states)
        for following in self.automaton.get_next_states(state, s[i]):
            if self._accepts(s, i + 1, following):
                return True
        return False
