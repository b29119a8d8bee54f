"""From patterns in the format of Python's `sre` to the code of `_code`.

A pattern is a list of numbers. A `skip` is counted from its own place.

    LITERAL c, NOT_LITERAL c, ..._IGNORE c, ANY, ANY_ALL, AT where, MARK n, JUMP skip
    IN skip items FAILURE, IN_IGNORE ...        items: NEGATE, LITERAL c, RANGE a b,
                                                CATEGORY c, CHARSET 8 words, BIGCHARSET ...
    BRANCH skip body JUMP skip, skip body JUMP skip, ..., 0
    REPEAT skip min max body UNTIL
    REPEAT_ONE skip min max item SUCCESS
    ASSERT skip back body SUCCESS
    GROUPREF n, GROUPREF_EXISTS n skip          groups from 0 on; skip from the place of n
    INFO skip ...

Python 3.7 adds ..._UNI_IGNORE and ..._LOC_IGNORE, and ignores the flags of the pattern;
..._IGNORE is about ASCII then. Python 3.11 adds these:

    ATOMIC_GROUP skip body SUCCESS
    POSSESSIVE_REPEAT skip min max body SUCCESS     SUCCESS is where skip ends
    POSSESSIVE_REPEAT_ONE skip min max item SUCCESS
"""
from rpython.rlib.rsre._code import *
from rpython.rlib.rsre.rsre_char import getlower_locale
from rpython.rlib.rsre.rsre_constants import *

# Longer code than that is refused: it comes of repetitions of repetitions.
MOST_CODE = 1000000


class Error(Exception):
    def __init__(self, msg):
        self.msg = msg


class _Frame(object):
    """One copy of a body: where operations of the pattern are in the code, and which jumps
    wait for that."""

    def __init__(self):
        self.places = {}
        self.jumps = []


class _Translator(object):
    def __init__(self, pattern):
        self.pattern = pattern
        self.out = []
        self.registers = 0

    def emit(self, op, a):
        self.out.append(op)
        self.out.append(a)
        return len(self.out) - 1

    def body(self, pos, end):
        """Translates a range that is entered at its start only."""
        frame = _Frame()
        self.sequence(pos, end, frame)
        frame.places[end] = len(self.out)
        for place in frame.jumps:
            target = self.out[place]
            if target not in frame.places:
                raise Error("bad jump in a regular expression")
            self.out[place] = frame.places[target]

    def sequence(self, pos, end, frame):
        while pos < end:
            if len(self.out) > MOST_CODE:
                raise Error("regular expression code too long")
            frame.places[pos] = len(self.out)
            pos = self.operation(pos, frame)
        if pos != end:
            raise Error("bad code of a regular expression")

    def operation(self, pos, frame):
        """Translates the operation at `pos`; where the next one is."""
        pattern = self.pattern
        op = pattern[pos]
        if op == OPCODE_SUCCESS:
            self.out.append(OP_SUCCESS)
            return pos + 1
        if op == OPCODE_FAILURE:
            self.set(OP_IN, False, [])
            return pos + 1
        if op == OPCODE_ANY:
            self.out.append(OP_ANY)
            return pos + 1
        if op == OPCODE_ANY_ALL:
            self.out.append(OP_ANY_ALL)
            return pos + 1
        argument = pattern[pos + 1]
        after = pos + 1 + argument
        if op == OPCODE_LITERAL:
            self.emit(OP_LITERAL, argument)
        elif op == OPCODE_NOT_LITERAL:
            self.emit(OP_NOT_LITERAL, argument)
        elif op == OPCODE_LITERAL_IGNORE:
            self.emit(OP_LITERAL_IGNORE, argument)
        elif op == OPCODE_NOT_LITERAL_IGNORE:
            self.emit(OP_NOT_LITERAL_IGNORE, argument)
        elif op == OPCODE_AT:
            self.emit(OP_AT, argument)
        elif op == OPCODE_MARK:
            self.emit(OP_MARK, argument)
        elif op == OPCODE_GROUPREF:
            self.emit(OP_GROUPREF, argument + 1)
        elif op == OPCODE_GROUPREF_IGNORE:
            self.emit(OP_GROUPREF_IGNORE, argument + 1)
        elif op == OPCODE_JUMP:
            frame.jumps.append(self.emit(OP_JUMP, after))
        elif op == OPCODE_GROUPREF_EXISTS:
            self.emit(OP_GROUPREF_EXISTS, argument + 1)
            self.out.append(pos + 1 + pattern[pos + 2])
            frame.jumps.append(len(self.out) - 1)
            return pos + 3
        elif op == OPCODE_IN:
            self.charset(OP_IN, pos + 2)
            return after
        elif op == OPCODE_IN_IGNORE:
            self.charset(OP_IN_LOWER, pos + 2)
            return after
        elif op == OPCODE_INFO:
            return after
        elif op == OPCODE_BRANCH:
            return self.branch(pos + 1, frame)
        elif op == OPCODE_REPEAT:
            return self.repeat(pos + 4, after, pattern[pos + 2], pattern[pos + 3])
        elif op == OPCODE_REPEAT_ONE:
            return self.repeat_one(OP_REPEAT_ONE, pos, after)
        elif op == OPCODE_MIN_REPEAT_ONE:
            return self.repeat_one(OP_MIN_REPEAT_ONE, pos, after)
        elif op == OPCODE_ASSERT or op == OPCODE_ASSERT_NOT:
            own = OP_ASSERT if op == OPCODE_ASSERT else OP_ASSERT_NOT
            self.emit(own, pattern[pos + 2])
            self.out.append(0)
            following = len(self.out) - 1
            self.body(pos + 3, after)
            self.out[following] = len(self.out)
            return after
        elif V37:
            return self.later_operation(op, argument, pos, after)
        else:
            raise Error("unknown operation of a regular expression")
        return pos + 2

    def later_operation(self, op, argument, pos, after):
        """The same for operations that Python 2 lacks."""
        if op == OPCODE37_LITERAL_UNI_IGNORE:
            self.emit(OP_LITERAL_UNI, argument)
        elif op == OPCODE37_NOT_LITERAL_UNI_IGNORE:
            self.emit(OP_NOT_LITERAL_UNI, argument)
        elif op == OPCODE37_GROUPREF_UNI_IGNORE:
            self.emit(OP_GROUPREF_UNI, argument + 1)
        elif op == OPCODE37_IN_UNI_IGNORE:
            self.charset(OP_IN_UNI, pos + 2)
            return after
        elif op == OPCODE37_LITERAL_LOC_IGNORE:
            # Either case of either side is the same as the lower cases.
            self.emit(OP_LITERAL_IGNORE, getlower_locale(argument))
        elif op == OPCODE37_NOT_LITERAL_LOC_IGNORE:
            self.emit(OP_NOT_LITERAL_IGNORE, getlower_locale(argument))
        elif op == OPCODE37_GROUPREF_LOC_IGNORE:
            self.emit(OP_GROUPREF_IGNORE, argument + 1)
        elif op == OPCODE37_IN_LOC_IGNORE:
            self.charset(OP_IN_EITHER, pos + 2)
            return after
        elif V311 and op == OPCODE_ATOMIC_GROUP:
            following = self.emit(OP_ATOMIC, 0)
            self.body(pos + 2, after)
            self.out[following] = len(self.out)
            return after
        elif V311 and op == OPCODE_POSSESSIVE_REPEAT_ONE:
            return self.repeat_one(OP_POSSESSIVE_ONE, pos, after)
        elif V311 and op == OPCODE_POSSESSIVE_REPEAT:
            following = self.emit(OP_ATOMIC, 0)
            self.repetitions(pos + 4, after, self.pattern[pos + 2], self.pattern[pos + 3],
                             True, True)
            self.out.append(OP_SUCCESS)
            self.out[following] = len(self.out)
            return after + 1
        else:
            raise Error("unknown operation of a regular expression")
        return pos + 2

    def repeat_one(self, own, pos, after):
        self.emit(own, self.pattern[pos + 2])
        following = self.emit(self.pattern[pos + 3], 0)
        # Without the SUCCESS at its end.
        self.body(pos + 4, after - 1)
        self.out[following] = len(self.out)
        return after

    def split(self, inside_first):
        """Goes on here, first or second; the place of the other way's target."""
        at = len(self.out)
        if inside_first:
            self.emit(OP_SPLIT, at + 3)
            self.out.append(0)
            return at + 2
        self.emit(OP_SPLIT, 0)
        self.out.append(at + 3)
        return at + 1

    def branch(self, pos, frame):
        """Alternatives, of which the first skip is at `pos`."""
        skip = self.pattern[pos]
        while skip != 0:
            following = pos + skip
            skip = self.pattern[following]
            other = -1
            if skip != 0:
                other = self.split(True)
            self.sequence(pos + 1, following, frame)
            if other >= 0:
                self.out[other] = len(self.out)
            pos = following
        return pos + 1

    def repeat(self, pos, end, least, most):
        greedy = self.pattern[end] == OPCODE_MAX_UNTIL
        if not greedy and self.pattern[end] != OPCODE_MIN_UNTIL:
            raise Error("bad repetition in a regular expression")
        self.repetitions(pos, end, least, most, greedy, False)
        return end + 1

    def repeated(self, pos, end, atomic):
        """One repetition."""
        if not atomic:
            self.body(pos, end)
            return
        following = self.emit(OP_ATOMIC, 0)
        self.body(pos, end)
        self.out.append(OP_SUCCESS)
        self.out[following] = len(self.out)

    def repetitions(self, pos, end, least, most, greedy, atomic):
        for _ in range(least):
            self.repeated(pos, end, atomic)
        if most >= MAXREPEAT:
            register = self.registers
            self.registers += 1
            start = len(self.out)
            way_out = self.split(greedy)
            self.emit(OP_LOOP_START, register)
            self.repeated(pos, end, atomic)
            self.emit(OP_LOOP_CHECK, register)
            self.out.append(0)
            check = len(self.out) - 1
            self.emit(OP_JUMP, start)
            self.out[way_out] = len(self.out)
            self.out[check] = len(self.out)
        else:
            ways_out = []
            for _ in range(most - least):
                ways_out.append(self.split(greedy))
                self.repeated(pos, end, atomic)
            for way_out in ways_out:
                self.out[way_out] = len(self.out)

    # Sets.

    def set(self, op, negate, items):
        self.emit(op, 4 + 3 * len(items))
        self.emit(int(negate), len(items))
        for kind, low, high in items:
            self.out.append(kind)
            self.out.append(low)
            self.out.append(high)

    def charset(self, op, pos):
        pattern = self.pattern
        negate = False
        items = []
        while True:
            kind = pattern[pos]
            if kind == OPCODE_FAILURE:
                break
            elif kind == OPCODE_NEGATE:
                negate = not negate
                pos += 1
            elif kind == OPCODE_LITERAL:
                items.append((RANGE, pattern[pos + 1], pattern[pos + 1]))
                pos += 2
            elif kind == OPCODE_RANGE:
                items.append((RANGE, pattern[pos + 1], pattern[pos + 2]))
                pos += 3
            elif not V37 and kind == OPCODE27_RANGE_IGNORE or \
                    V37 and kind == OPCODE37_RANGE_UNI_IGNORE:
                items.append((RANGE_EITHER_CASE, pattern[pos + 1], pattern[pos + 2]))
                pos += 3
            elif kind == OPCODE_CATEGORY:
                items.append((CATEGORY, pattern[pos + 1], 0))
                pos += 2
            elif kind == OPCODE_CHARSET:
                self.bits(items, 0, pos + 1)
                pos += 9
            elif kind == OPCODE_BIGCHARSET:
                blocks = pos + 66
                for i in range(256):
                    block = pattern[pos + 2 + (i >> 2)] >> (8 * (i & 3)) & 0xff
                    self.bits(items, 256 * i, blocks + 8 * block)
                pos = blocks + 8 * pattern[pos + 1]
            else:
                # Nothing is in a set that is not understood.
                negate = False
                items = []
                break
        self.set(op, negate, items)

    def bits(self, items, base, pos):
        """The characters from `base` on whose bits are set in eight words at `pos`."""
        start = -1
        for i in range(256):
            if self.pattern[pos + (i >> 5)] >> (i & 31) & 1:
                if start < 0:
                    start = i
            elif start >= 0:
                items.append((RANGE, base + start, base + i - 1))
                start = -1
        if start >= 0:
            items.append((RANGE, base + start, base + 255))


def from_sre(pattern):
    """The code of a pattern; Error for what is not understood."""
    translator = _Translator(pattern)
    translator.body(0, len(pattern))
    return translator.out
