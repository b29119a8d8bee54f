"""Matching: runs the code of `_code` over a text.

A match context holds a text and the range to look at; after a match it holds what was
found. Where there are several ways the machine notes a Choice and takes the first; when
it fails it goes back to the newest one. Nothing recurses but look-around and atomic groups.
"""
import sys

from rpython.rlib.objectmodel import specialize
from rpython.rlib.rsre import rsre_char
from rpython.rlib.rsre._code import *
from rpython.rlib.rsre._sre_format import Error, from_sre
from rpython.rlib.rsre.rsre_constants import *
from rpython.tool.sourcetools import func_with_new_name


class EndOfString(Exception):
    pass


class CompiledPattern(object):
    """Code, and the flags that it was made with."""
    _immutable_fields_ = ['pattern[*]', 'flags']

    def __init__(self, pattern, flags, own=False):
        """`pattern` is in the format of Python's `sre`, or our own."""
        if not own:
            pattern = from_sre(pattern)
            if V37:
                # The operations themselves say whether they are about Unicode.
                flags = 0
        self.pattern = pattern[:]
        self.flags = flags

    def pat(self, index):
        return self.pattern[index]


class Mark(object):
    """The position noted last under a number, and what was noted before. Groups have
    numbers from 0 on, registers of loops those below, which only a match under way has."""
    _immutable_ = True

    def __init__(self, gid, position, prev):
        self.prev = prev
        self.gid, self.position = gid, position


def find_mark(mark, gid):
    """The position, or -1."""
    while mark is not None and mark.gid != gid:
        mark = mark.prev
    return -1 if mark is None else mark.position


def _of_groups(mark):
    """The marks without those of registers, for who walks along them."""
    groups = []
    total = 0
    while mark is not None:
        total += 1
        if mark.gid >= 0:
            groups.append(mark)
        mark = mark.prev
    if len(groups) > 0 and total == len(groups):
        return groups[0]
    kept = None
    while len(groups) > 0:
        mark = groups.pop()
        kept = Mark(mark.gid, mark.position, kept)
    return kept


class Choice(object):
    """Another way from a position.

    `limit` is -1 for a single way at `pc`. A greedy repetition goes on at `pc` with ever
    fewer characters, down to `limit`; one that is not (`lazy` is the place of its
    operation) with ever more, up to `limit`.
    """

    def __init__(self, pc, ptr, limit, lazy, marks, prev):
        self.pc = pc
        self.ptr = ptr
        self.limit = limit
        self.lazy = lazy
        self.marks = marks
        self.prev = prev


# The classes of contexts of one kind of text each, and the copies made for them so far.
_kinds = []
_copies = []

def specializectx(func):
    """Decorator: the function is a different one for each class of contexts. Of a context
    whose class is not known while compiling it runs that of the class."""
    name = '%s_of_kind_%d' % (func.func_name, len(_copies))
    _copies.append(func)
    for kind in _kinds:
        setattr(kind, name, func_with_new_name(func, '%s_%s' % (func.func_name, kind.__name__)))

    @specialize.argtype(0)
    def choose(ctx, *args):
        return getattr(ctx, name)(*args)
    return func_with_new_name(choose, func.func_name)

def _of_one_kind(cls):
    _kinds.append(cls)
    return cls


# Contexts.

# What a match has to be: any, not empty, or up to the end.
MODE_ANY, MODE_NONEMPTY, MODE_FULL = '\x00', '\x01', '\x02'


class AbstractMatchContext(object):
    """`match_start` is where to match; after a match `match_end` and `match_marks` say
    what was found. Places are numbers that grow from one character to the next."""
    _immutable_fields_ = ['end']
    # The place of the first character.
    ZERO = 0
    match_start = 0
    # Where the match was looked for.
    original_pos = 0
    match_end = 0
    match_marks = None
    match_mode = MODE_ANY

    def __init__(self, match_start, end):
        # Both are places in the text.
        assert match_start >= 0
        assert end >= 0
        self.match_start = match_start
        self.end = end

    def reset(self, start, must_advance=False):
        assert start >= 0
        self.match_start = start
        self.match_marks = None
        self.match_mode = MODE_NONEMPTY if must_advance else MODE_ANY

    def str(self, index):
        """The code of a character."""
        raise NotImplementedError

    def next(self, position):
        raise NotImplementedError

    def prev(self, position):
        """EndOfString if it is the first place."""
        raise NotImplementedError

    def next_indirect(self, position):
        return self.next(position)

    def prev_indirect(self, position):
        return self.prev(position)

    def forward(self, position, n):
        """n characters on; a place behind the end if there are fewer."""
        while n > 0:
            if position >= self.end:
                return self.end + 1
            position = self.next(position)
            n -= 1
        return position

    def back(self, position, n):
        """n characters before, or -1."""
        while n > 0:
            if position <= 0:
                return -1
            position = self.prev(position)
            n -= 1
        return position

    def get_mark(self, gid):
        """Where a group starts (if gid is even) or ends, or -1."""
        return find_mark(self.match_marks, gid)

    def flatten_marks(self):
        """Starts and ends of the match and of all groups that matched, in a row."""
        result = [self.match_start, self.match_end]
        mark = self.match_marks
        last = -1
        while mark is not None:
            last = max(last, mark.gid)
            mark = mark.prev
        for gid in range(last + 1):
            result.append(self.get_mark(gid))
        return result

    def span(self, groupnum=0):
        """Start and end of a group, -1 and -1 if it did not match."""
        if groupnum == 0:
            return self.match_start, self.match_end
        end = self.get_mark(2 * groupnum - 1)
        if end < 0:
            return -1, -1
        return self.get_mark(2 * groupnum - 2), end

    def group(self, groupnum=0):
        """The text of a group of a byte string, None if it did not match."""
        raise NotImplementedError


class FixedMatchContext(AbstractMatchContext):
    """A text whose characters have one place each."""

    def next(self, position):
        return position + 1

    def forward(self, position, n):
        return position + n

    def prev(self, position):
        before = position - 1
        if position == 0:
            raise EndOfString
        assert before >= 0
        return before

    def back(self, position, n):
        return position - n if n <= position else -1

    def _real_pos(self, position):
        assert position >= 0
        return position


@_of_one_kind
class StrMatchContext(FixedMatchContext):
    _immutable_fields_ = ['_string']

    def __init__(self, string, match_start, end):
        self._string = string
        FixedMatchContext.__init__(self, match_start, end)

    def fresh_copy(self, start):
        """A context that has not matched yet, for the same text."""
        return StrMatchContext(self._string, start, self.end)

    def str(self, index):
        return ord(self._string[index])

    def group(self, groupnum=0):
        start, end = self.span(groupnum)
        return self._string[start:end] if 0 <= start <= end else None


@_of_one_kind
class UnicodeMatchContext(FixedMatchContext):
    _immutable_fields_ = ['_unicodestr']

    def __init__(self, unicodestr, match_start, end):
        self._unicodestr = unicodestr
        FixedMatchContext.__init__(self, match_start, end)

    def fresh_copy(self, start):
        return UnicodeMatchContext(self._unicodestr, start, self.end)

    def str(self, index):
        return ord(self._unicodestr[index])


@_of_one_kind
class BufMatchContext(FixedMatchContext):
    """The text is a `rpython.rlib.buffer.Buffer`."""
    _immutable_fields_ = ['_buffer']

    def __init__(self, buf, match_start, end):
        self._buffer = buf
        FixedMatchContext.__init__(self, match_start, end)

    def fresh_copy(self, start):
        return BufMatchContext(self._buffer, start, self.end)

    def str(self, index):
        return ord(self._buffer.getitem(index))


# The machine.

def _one(ctx, pattern, pc, ptr):
    """Whether the operation of one character at `pc` takes the one at `ptr`."""
    op = pattern.pattern[pc]
    c = ctx.str(ptr)
    if op == OP_LITERAL:
        return c == pattern.pattern[pc + 1]
    if op == OP_ANY:
        return c != 10
    if op == OP_ANY_ALL:
        return True
    if op == OP_IN:
        return rsre_char.check_charset(pattern.pattern, pc + 2, c)
    if op == OP_IN_LOWER:
        return rsre_char.check_charset(pattern.pattern, pc + 2,
                                       rsre_char.getlower(c, pattern.flags), pattern.flags)
    if op == OP_NOT_LITERAL:
        return c != pattern.pattern[pc + 1]
    if op == OP_LITERAL_UNI:
        return rsre_char.getlower_unicode(c) == pattern.pattern[pc + 1]
    if op == OP_NOT_LITERAL_UNI:
        return rsre_char.getlower_unicode(c) != pattern.pattern[pc + 1]
    if op == OP_IN_UNI:
        return rsre_char.check_charset(pattern.pattern, pc + 2, rsre_char.getlower_unicode(c),
                                       SRE_FLAG_UNICODE)
    if op == OP_IN_EITHER:
        return (rsre_char.check_charset(pattern.pattern, pc + 2,
                                        rsre_char.getlower(c, pattern.flags)) or
                rsre_char.check_charset(pattern.pattern, pc + 2,
                                        rsre_char.getupper(c, pattern.flags)))
    if op == OP_LITERAL_IGNORE:
        return rsre_char.getlower(c, pattern.flags) == pattern.pattern[pc + 1]
    if op == OP_NOT_LITERAL_IGNORE:
        return rsre_char.getlower(c, pattern.flags) != pattern.pattern[pc + 1]
    # OP_IN_IGNORE: either case is in the set, or in what it leaves out.
    low = rsre_char.getlower(c, pattern.flags)
    if pattern.pattern[pc + 2] == 0:
        return (rsre_char.check_charset(pattern.pattern, pc + 2, low) or
                rsre_char.check_charset(pattern.pattern, pc + 2,
                                        rsre_char.getupper(c, pattern.flags)))
    return (rsre_char.check_charset(pattern.pattern, pc + 2, low) and
            rsre_char.check_charset(pattern.pattern, pc + 2,
                                    rsre_char.getupper(c, pattern.flags)))


def _width_of(pattern, pc):
    """Length of an operation of one character."""
    op = pattern.pattern[pc]
    if OP_IN <= op <= OP_IN_EITHER:
        return pattern.pattern[pc + 1]
    if op == OP_ANY or op == OP_ANY_ALL:
        return 1
    return 2


def _same(ctx, pattern, start, end, ptr, op):
    """If the text from start to end comes again at `ptr`, where it ends; else -1."""
    while start < end:
        if ptr >= ctx.end:
            return -1
        a, b = ctx.str(start), ctx.str(ptr)
        if op == OP_GROUPREF_IGNORE:
            a = rsre_char.getlower(a, pattern.flags)
            b = rsre_char.getlower(b, pattern.flags)
        elif op == OP_GROUPREF_UNI:
            a = rsre_char.getlower_unicode(a)
            b = rsre_char.getlower_unicode(b)
        if a != b:
            return -1
        start = ctx.next(start)
        ptr = ctx.next(ptr)
    return ptr


def sre_match(ctx, pattern, pc, ptr, marks, partial=False):
    """Runs the code at `pc`. If it succeeds, `ctx` has the end and the marks. `partial`:
    it is the code of a look-around or atomic group, which need not reach the end."""
    choice = None
    code = pattern.pattern
    end = ctx.end
    while True:
        op = code[pc]
        ok = True
        if op == OP_SUCCESS:
            if partial or _as_wanted(ctx, ptr):
                assert ptr >= 0
                ctx.match_end = ptr
                ctx.match_marks = marks
                return True
            ok = False
        elif op <= OP_IN_EITHER:
            if ptr < end and _one(ctx, pattern, pc, ptr):
                ptr = ctx.next(ptr)
                pc += _width_of(pattern, pc)
            else:
                ok = False
        elif op == OP_MARK:
            marks = Mark(code[pc + 1], ptr, marks)
            pc += 2
        elif op == OP_JUMP:
            pc = code[pc + 1]
        elif op == OP_SPLIT:
            choice = Choice(code[pc + 2], ptr, -1, -1, marks, choice)
            pc = code[pc + 1]
        elif op == OP_REPEAT_ONE:
            limit = _limit(ctx, ptr, code[pc + 2])
            at = ptr
            while at < limit and _one(ctx, pattern, pc + 4, at):
                at = ctx.next(at)
            least = ctx.forward(ptr, code[pc + 1])
            pc = code[pc + 3]
            ok = at >= least
            if at > least:
                choice = Choice(pc, at, least, -1, marks, choice)
            ptr = at
        elif op == OP_MIN_REPEAT_ONE:
            least = ctx.forward(ptr, code[pc + 1])
            limit = _limit(ctx, ptr, code[pc + 2])
            at = ptr
            while at < limit and at < least and _one(ctx, pattern, pc + 4, at):
                at = ctx.next(at)
            ok = at >= least
            if ok and at < limit:
                choice = Choice(code[pc + 3], at, limit, pc + 4, marks, choice)
            ptr = at
            pc = code[pc + 3]
        elif op == OP_AT:
            ok = sre_at(ctx, code[pc + 1], ptr)
            pc += 2
        elif OP_GROUPREF <= op <= OP_GROUPREF_UNI:
            group = code[pc + 1]
            stop = find_mark(marks, 2 * group - 1)
            start = find_mark(marks, 2 * group - 2)
            if stop >= 0:
                ptr = _same(ctx, pattern, start, stop, ptr, op)
                ok = ptr >= 0
            else:
                ok = False
            pc += 2
        elif op == OP_GROUPREF_EXISTS:
            if find_mark(marks, 2 * code[pc + 1] - 1) >= 0:
                pc += 3
            else:
                pc = code[pc + 2]
        elif op == OP_ASSERT:
            start = ctx.back(ptr, code[pc + 1])
            ok = start >= 0 and sre_match(ctx, pattern, pc + 3, start, marks, True)
            if ok:
                marks = ctx.match_marks
            pc = code[pc + 2]
        elif op == OP_ASSERT_NOT:
            start = ctx.back(ptr, code[pc + 1])
            ok = not (start >= 0 and sre_match(ctx, pattern, pc + 3, start, marks, True))
            pc = code[pc + 2]
        elif op == OP_ATOMIC:
            ok = sre_match(ctx, pattern, pc + 2, ptr, marks, True)
            if ok:
                ptr = ctx.match_end
                marks = ctx.match_marks
            pc = code[pc + 1]
        elif op == OP_POSSESSIVE_ONE:
            limit = _limit(ctx, ptr, code[pc + 2])
            at = ptr
            while at < limit and _one(ctx, pattern, pc + 4, at):
                at = ctx.next(at)
            ok = at >= ctx.forward(ptr, code[pc + 1])
            ptr = at
            pc = code[pc + 3]
        elif op == OP_LOOP_START:
            marks = Mark(-1 - code[pc + 1], ptr, marks)
            pc += 2
        elif op == OP_LOOP_CHECK:
            if find_mark(marks, -1 - code[pc + 1]) == ptr:
                pc = code[pc + 2]
            else:
                pc += 3
        else:
            raise Error("bad code of a regular expression")
        if ok:
            continue
        # Back to the newest choice that has a way left.
        while True:
            if choice is None:
                return False
            pc, marks = choice.pc, choice.marks
            if choice.limit < 0:
                ptr = choice.ptr
                choice = choice.prev
                break
            if choice.lazy < 0:
                ptr = ctx.prev(choice.ptr)
                choice.ptr = ptr
                if ptr <= choice.limit:
                    choice = choice.prev
                break
            if _one(ctx, pattern, choice.lazy, choice.ptr):
                ptr = ctx.next(choice.ptr)
                choice.ptr = ptr
                if ptr >= choice.limit:
                    choice = choice.prev
                break
            choice = choice.prev


def _as_wanted(ctx, ptr):
    """Whether a match may end here. One that is not empty does not end where the search began."""
    if ctx.match_mode == MODE_FULL:
        return ptr == ctx.end
    return ctx.match_mode == MODE_ANY or ptr != ctx.original_pos


def _limit(ctx, ptr, most):
    """Where a repetition from `ptr` on ends at the latest."""
    if most >= ctx.end - ptr:
        return ctx.end
    return min(ctx.forward(ptr, most), ctx.end)


def sre_at(ctx, atcode, ptr):
    if atcode == AT_BEGINNING or atcode == AT_BEGINNING_STRING:
        return ptr == 0
    if atcode == AT_BEGINNING_LINE:
        return ptr == 0 or ctx.str(ctx.prev(ptr)) == 10
    if atcode == AT_END:
        return ptr == ctx.end or (ptr < ctx.end and ctx.next(ptr) == ctx.end and ctx.str(ptr) == 10)
    if atcode == AT_END_LINE:
        return ptr == ctx.end or ctx.str(ptr) == 10
    if atcode == AT_END_STRING:
        return ptr == ctx.end
    wide = atcode == AT_UNI_BOUNDARY or atcode == AT_UNI_NON_BOUNDARY
    before = ptr > 0 and _in_word(ctx.str(ctx.prev(ptr)), wide)
    after = ptr < ctx.end and _in_word(ctx.str(ptr), wide)
    negate = (atcode == AT_NON_BOUNDARY or atcode == AT_LOC_NON_BOUNDARY or
              atcode == AT_UNI_NON_BOUNDARY)
    if ctx.end == 0:
        # An empty text has no boundaries, nor places that are none.
        return False
    return (before != after) != negate


def _in_word(code, wide):
    if wide:
        return rsre_char.is_uni_word(code)
    return rsre_char.is_word(code)


# What programs call.

def match_context(ctx, pattern):
    """Matches at `ctx.match_start`."""
    ctx.original_pos = ctx.match_start
    if ctx.match_start > ctx.end:
        return False
    return _sre_run(ctx, pattern, ctx.match_start)


def _sre_run(ctx, pattern, start):
    if not sre_match(ctx, pattern, 0, start, None):
        return False
    ctx.match_marks = _of_groups(ctx.match_marks)
    return True


def search_context(ctx, pattern):
    """Looks for a match from `ctx.match_start` on, which moves there."""
    literal = -1
    if pattern.pattern[0] == OP_LITERAL:
        literal = pattern.pattern[1]
    start = ctx.original_pos = ctx.match_start
    # What stands at the beginning is nowhere else.
    only_first = pattern.pattern[0] == OP_AT and (
        pattern.pattern[1] == AT_BEGINNING or pattern.pattern[1] == AT_BEGINNING_STRING)
    while start <= ctx.end:
        if literal < 0 or (start < ctx.end and ctx.str(start) == literal):
            assert start >= 0
            ctx.match_start = start
            if _sre_run(ctx, pattern, start):
                return True
        if start >= ctx.end or only_first:
            break
        start = ctx.next(start)
    return False


def _adjust(start, end, length):
    """A range that lies in a text of this length."""
    end = max(min(end, length), 0)
    start = max(min(start, length), 0)
    return start, end


@specialize.argtype(0)
def _context(string, start, end):
    start, end = _adjust(start, end, len(string))
    if isinstance(string, str):
        return StrMatchContext(string, start, end)
    return UnicodeMatchContext(string, start, end)

@specialize.argtype(1)
def match(pattern, string, start=0, end=sys.maxint, fullmatch=False):
    """The context of a match at `start`, or None."""
    ctx = _context(string, start, end)
    if fullmatch:
        ctx.match_mode = MODE_FULL
    if match_context(ctx, pattern):
        return ctx
    return None


@specialize.argtype(1)
def fullmatch(pattern, string, start=0, end=sys.maxint):
    return match(pattern, string, start, end, True)


@specialize.argtype(1)
def search(pattern, string, start=0, end=sys.maxint):
    """The context of the first match from `start` on, or None."""
    ctx = _context(string, start, end)
    if search_context(ctx, pattern):
        return ctx
    return None
