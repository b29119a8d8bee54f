"""Matching in texts in UTF-8. Places are those of bytes."""
import sys

from rpython.rlib import rutf8
from rpython.rlib.rsre import rsre_core
from rpython.rlib.rsre.rsre_core import AbstractMatchContext, EndOfString


@rsre_core._of_one_kind
class Utf8MatchContext(AbstractMatchContext):
    _immutable_fields_ = ['_utf8']

    def __init__(self, utf8string, match_start, end):
        self._utf8 = utf8string
        AbstractMatchContext.__init__(self, match_start, end)

    def fresh_copy(self, start):
        return Utf8MatchContext(self._utf8, start, self.end)

    def str(self, index):
        assert index >= 0
        return rutf8.codepoint_at_pos(self._utf8, index)

    def next(self, position):
        assert position >= 0
        return rutf8.next_codepoint_pos(self._utf8, position)

    def prev(self, position):
        if position <= 0:
            raise EndOfString
        before = rutf8.prev_codepoint_pos(self._utf8, position)
        assert before >= 0
        return before

    def group(self, groupnum=0):
        start, end = self.span(groupnum)
        return self._utf8[start:end] if 0 <= start <= end else None


def make_utf8_ctx(utf8string, bytestart, byteend):
    start, end = rsre_core._adjust(bytestart, byteend, len(utf8string))
    return Utf8MatchContext(utf8string, start, end)


def utf8search(pattern, utf8string, bytestart=0, byteend=sys.maxint):
    """The context of the first match from `bytestart` on, or None."""
    ctx = make_utf8_ctx(utf8string, bytestart, byteend)
    if rsre_core.search_context(ctx, pattern):
        return ctx
    return None


def utf8match(pattern, utf8string, bytestart=0, byteend=sys.maxint, fullmatch=False):
    """The context of a match at `bytestart`, or None."""
    ctx = make_utf8_ctx(utf8string, bytestart, byteend)
    if fullmatch:
        ctx.match_mode = rsre_core.MODE_FULL
    if rsre_core.match_context(ctx, pattern):
        return ctx
    return None
