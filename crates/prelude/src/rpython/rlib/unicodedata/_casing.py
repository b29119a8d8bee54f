"""Upper, lower and title case, and what texts are compared by without regard to it."""
from _taipan_unicode import numbers
from rpython.rlib.unicodedata._tables import large_numbers

# By the case of a character: how far away the other ones are.
_UPPER, _LOWER, _TITLE, _FOLD = (numbers('upper'), numbers('lower'), numbers('title'),
                                 numbers('fold'))
# By the case of a character: where those are that are not that one character, or 0.
_FULL_UPPER, _FULL_LOWER, _FULL_TITLE, _FULL_FOLD = (
    numbers('full upper'), numbers('full lower'), numbers('full title'),
    numbers('full fold'))
# How many characters, and these.
_FULL = numbers('full')


def _codes(at):
    return [_FULL[at + 1 + i] for i in range(_FULL[at])]


def casing(version):
    case_of = large_numbers('cases', version)

    def simple(distances):
        """The one character that stands for it, itself if need be."""
        def convert(code):
            return code + distances[case_of(code)]
        return convert

    def full(distances, full_distances):
        """A list of characters that stand for it."""
        def convert(code):
            case = case_of(code)
            at = full_distances[case]
            if at != 0:
                return _codes(at)
            return [code + distances[case]]
        return convert

    return {
        'toupper': simple(_UPPER),
        'tolower': simple(_LOWER),
        'totitle': simple(_TITLE),
        'toupper_full': full(_UPPER, _FULL_UPPER),
        'tolower_full': full(_LOWER, _FULL_LOWER),
        'totitle_full': full(_TITLE, _FULL_TITLE),
        'casefold_lookup': full(_FOLD, _FULL_FOLD),
    }
