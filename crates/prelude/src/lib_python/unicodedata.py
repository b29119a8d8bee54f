"""The database of characters as Python has it: by characters rather than codes."""
from rpython.rlib.unicodedata import unicodedb_5_2_0 as _db

unidata_version = _db.version

# Syllables of Hangul consist of two or three parts, by their numbers.
_SYLLABLES, _LEADING, _VOWELS, _TRAILING = 0xac00, 0x1100, 0x1161, 0x11a7
_LEADING_COUNT, _VOWEL_COUNT, _TRAILING_COUNT = 19, 21, 28
_SYLLABLE_COUNT = _LEADING_COUNT * _VOWEL_COUNT * _TRAILING_COUNT

_MISSING = object()


def _code(char):
    if not isinstance(char, unicode) or len(char) != 1:
        raise TypeError('need a single Unicode character as parameter')
    return ord(char)


def _asking(function):
    def ask(char):
        return function(_code(char))
    ask.__name__ = function.__name__
    return ask


def _looking(function, message):
    def look(char, default=_MISSING):
        try:
            return function(_code(char))
        except KeyError:
            if default is _MISSING:
                raise ValueError(message)
            return default
    look.__name__ = function.__name__
    return look


category = _asking(_db.category)
bidirectional = _asking(_db.bidirectional)
combining = _asking(_db.combining)
east_asian_width = _asking(_db.east_asian_width)
decomposition = _asking(_db.decomposition)
decimal = _looking(_db.decimal, 'not a decimal')
digit = _looking(_db.digit, 'not a digit')
numeric = _looking(_db.numeric, 'not a numeric character')
name = _looking(_db.name, 'no such name')


def mirrored(char):
    return int(_db.mirrored(_code(char)))


def lookup(name):
    try:
        return unichr(_db.lookup(name.upper()))
    except KeyError:
        raise KeyError("undefined character name '%s'" % name)


def _parts(code, compatible):
    syllable = code - _SYLLABLES
    if 0 <= syllable < _SYLLABLE_COUNT:
        leading, rest = divmod(syllable, _VOWEL_COUNT * _TRAILING_COUNT)
        vowel, trailing = divmod(rest, _TRAILING_COUNT)
        parts = [_LEADING + leading, _VOWELS + vowel]
        return parts + [_TRAILING + trailing] if trailing else parts
    find = _db.compat_decomposition if compatible else _db.canon_decomposition
    return find(code) or [code]


def _together(first, second):
    """What two characters make, or None."""
    leading, vowel = first - _LEADING, second - _VOWELS
    if 0 <= leading < _LEADING_COUNT and 0 <= vowel < _VOWEL_COUNT:
        return _SYLLABLES + (leading * _VOWEL_COUNT + vowel) * _TRAILING_COUNT
    syllable, trailing = first - _SYLLABLES, second - _TRAILING
    if (0 <= syllable < _SYLLABLE_COUNT and syllable % _TRAILING_COUNT == 0 and
            0 < trailing < _TRAILING_COUNT):
        return first + trailing
    try:
        return _db.composition(first, second)
    except KeyError:
        return None


def _decomposed(text, compatible):
    codes, marks = [], []
    for char in text:
        for part in _parts(ord(char), compatible):
            if _db.combining(part):
                marks.append(part)
            else:
                codes += sorted(marks, key=_db.combining)
                codes.append(part)
                marks = []
    return codes + sorted(marks, key=_db.combining)


def _composed(codes):
    result = []
    # Where the last character is that marks may join, and the class of the last one that
    # did not.
    base, last = -1, 0
    for code in codes:
        mark = _db.combining(code)
        if base >= 0 and (last < mark or last == 0 and base == len(result) - 1):
            both = _together(result[base], code)
            if both is not None:
                result[base] = both
                continue
        if mark == 0:
            base = len(result)
        last = mark
        result.append(code)
    return result


def normalize(form, text):
    if form not in ('NFC', 'NFD', 'NFKC', 'NFKD'):
        raise ValueError('invalid normalization form')
    codes = _decomposed(text, 'K' in form)
    if form.endswith('C'):
        codes = _composed(codes)
    return u''.join([unichr(code) for code in codes])
