"""Names of characters, and characters by their names.

The texts are those of all versions: names of characters in the order of their codes, then
alternative names, then names of sequences. Each has a number, and consists of words. In a
block of sixteen, each one is told by how many words it shares with the one before, and by
those that follow.
"""
from _taipan_unicode import numbers, text

# Blocks of texts, and where they start. A text is a byte, four bits for how many words of
# the one before stay and four for how many come behind them; then these.
_TEXTS, _BLOCKS = text('names'), numbers('name blocks')
# A word that is often used takes one byte, others two.
_SHORT = numbers('short words')
# In place of a word: a hyphen and the code of the character.
_CODE = 0
# All words one behind the other, short ones first; and by length, how many are shorter.
_WORDS, _SHORTER = text('words'), numbers('word lengths')
# Numbers of texts, two bytes each, in the order of the texts.
_ORDER = text('name order')
# Characters that follow each other: the first code and the number of its name. There is
# one number more, that of the first text that is the name of no character.
_RUNS, _STARTS = numbers('name runs'), numbers('name starts')

# Characters of these names are no characters yet; what `lookup` finds of them is a
# private character that stands for an alternative name or for a sequence.
ALIASES, SEQUENCES, NO_NAMES = 0xf0000, 0xf0200, 0xf0400

# Sequences as UTF-8, in the order of their names.
_SEQUENCES = text('sequences').split('\0')

_IDEOGRAPH = 'CJK UNIFIED IDEOGRAPH-'
_SYLLABLE = 'HANGUL SYLLABLE '
_FIRST_SYLLABLE, _LAST_SYLLABLE = 0xac00, 0xd7a3
_LEADING = 'G GG N D DD R M B BB S SS - J JJ C K T P H'.replace('-', '').split(' ')
_VOWELS = 'A AE YA YAE EO E YEO YE O WA WAE OE YO U WEO WE WI YU EU YI I'.split(' ')
_TRAILING = ('- G GG GS N NJ NH D L LG LM LB LS LT LP LH M B BS S SS NG J C K T P '
             'H').replace('-', '').split(' ')

# Ideographs that have a name: first and last. These are the original's, which are not
# always those of the standard.
_BASIC_IDEOGRAPHS = [(0x3400, 0x4db5), (0x20000, 0x2a6d6)]
_IDEOGRAPHS = {
    '3.2.0': [(0x4e00, 0x9fa5)],
    '5.2.0': [(0x4e00, 0x9fcb), (0x2a700, 0x2b734)],
    '9.0.0': [(0x4e00, 0x9fd5), (0x2a700, 0x2b734), (0x2b740, 0x2b81d), (0x2b820, 0x2cea1)],
    '11.0.0': [(0x4e00, 0x9fef), (0x2a700, 0x2b734), (0x2b740, 0x2b81d),
               (0x2b820, 0x2cea1)],
    '12.1.0': [(0x4e00, 0x9fef), (0x2a700, 0x2b734), (0x2b740, 0x2cea1),
               (0x2ceb0, 0x2ebe0)],
    '13.0.0': [(0x4e00, 0x9ffc), (0x2a700, 0x2b734), (0x2b740, 0x2cea1),
               (0x2ceb0, 0x2ebe0), (0x30000, 0x3134a)],
    '14.0.0': [(0x4e00, 0x9ffd), (0x2a6d7, 0x2a6df), (0x2a700, 0x2b738),
               (0x2b740, 0x2cea1), (0x2ceb0, 0x2ebe0), (0x30000, 0x3134a)],
}


def _last_up_to(items, value):
    """The index of the last item that is no more than a value, among rising ones; -1
    without one."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) >> 1
        if items[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low - 1


def _number_of(code):
    """The number of a character's name, or -1."""
    run = _last_up_to(_RUNS, code)
    if run < 0:
        return -1
    number = _STARTS[run] + code - _RUNS[run]
    return number if number < _STARTS[run + 1] else -1


def _code_of(number):
    """The character whose name has that number, or -1."""
    run = _last_up_to(_STARTS, number)
    if run == len(_RUNS):
        return -1
    return _RUNS[run] + number - _STARTS[run]


def _tokens(number):
    """The words of a text, as they are written."""
    tokens = []
    at = _BLOCKS[number >> 4]
    for _ in range((number & 15) + 1):
        head = ord(_TEXTS[at])
        at += 1
        del tokens[head >> 4:]
        for _ in range(head & 15):
            token = ord(_TEXTS[at])
            at += 1
            if token >= len(_SHORT):
                token = token << 8 | ord(_TEXTS[at])
                at += 1
            tokens.append(token)
    return tokens


def _word(token):
    number = token - (len(_SHORT) << 8) if token >= len(_SHORT) else _SHORT[token]
    length = _last_up_to(_SHORTER, number)
    start = 0
    for i in range(1, length):
        start += i * (_SHORTER[i + 1] - _SHORTER[i])
    start += (number - _SHORTER[length]) * length
    end = start + length
    assert 0 <= start <= end
    return _WORDS[start:end]


def _text(number):
    tokens = _tokens(number)
    ending = ''
    if tokens[-1] == _CODE:
        tokens.pop()
        ending = '-' + hex(_code_of(number))[2:].upper()
    return ' '.join([_word(token) for token in tokens]) + ending


def _find(name):
    """The number of a text, or -1."""
    low, high = 0, len(_ORDER) >> 1
    while low < high:
        middle = (low + high) >> 1
        number = ord(_ORDER[2 * middle]) | ord(_ORDER[2 * middle + 1]) << 8
        text = _text(number)
        if text == name:
            return number
        if text < name:
            low = middle + 1
        else:
            high = middle
    return -1


def _ideograph(digits):
    """A code out of the end of a name."""
    if not 4 <= len(digits) <= 5:
        raise KeyError
    for c in digits:
        if not ('0' <= c <= '9' or 'A' <= c <= 'F'):
            raise KeyError
    return int(digits, 16)


def _longest(parts, name, start):
    """Which of the parts of syllables stands in a name, the longest one; or -1."""
    found = -1
    for i in range(len(parts)):
        part = parts[i]
        if found >= 0 and len(part) <= len(parts[found]):
            continue
        if name[start:start + len(part)] == part:
            found = i
    return found


def _syllable(name):
    """The code of a syllable."""
    start = len(_SYLLABLE)
    leading = _longest(_LEADING, name, start)
    start += len(_LEADING[leading])
    vowel = _longest(_VOWELS, name, start)
    if vowel < 0:
        raise KeyError
    start += len(_VOWELS[vowel])
    trailing = _longest(_TRAILING, name, start)
    if start + len(_TRAILING[trailing]) != len(name):
        raise KeyError
    syllable = leading * len(_VOWELS) + vowel
    return _FIRST_SYLLABLE + syllable * len(_TRAILING) + trailing


def _syllable_name(code):
    code -= _FIRST_SYLLABLE
    syllable, trailing = code // len(_TRAILING), code % len(_TRAILING)
    leading, vowel = syllable // len(_VOWELS), syllable % len(_VOWELS)
    return _SYLLABLE + _LEADING[leading] + _VOWELS[vowel] + _TRAILING[trailing]


def naming(version, category):
    ideographs = _BASIC_IDEOGRAPHS + _IDEOGRAPHS[version]
    # Which alternative name it is in this version, by the number of the name, or -1; and of
    # which character.
    aliases, alias_codes = numbers('aliases ' + version), numbers('alias codes ' + version)
    # The same for sequences; and which one of _SEQUENCES it is.
    sequences = numbers('sequences ' + version)
    sequence_numbers = numbers('sequence numbers ' + version)

    def is_ideograph(code):
        for first, last in ideographs:
            if first <= code <= last:
                return True
        return False

    def name(code):
        """KeyError for characters without a name."""
        if is_ideograph(code):
            return _IDEOGRAPH + hex(code)[2:].upper()
        if _FIRST_SYLLABLE <= code <= _LAST_SYLLABLE:
            return _syllable_name(code)
        number = _number_of(code)
        if number < 0 or category(code) == 'Cn':
            raise KeyError
        return _text(number)

    def lookup(name, with_named_sequence=False, with_alias=False):
        """The character of that name, or a private one that stands for what else has that
        name, where that is asked for. KeyError without one."""
        if name.startswith(_IDEOGRAPH):
            code = _ideograph(name[len(_IDEOGRAPH):])
            if not is_ideograph(code):
                raise KeyError
            return code
        if name.startswith(_SYLLABLE):
            return _syllable(name)
        number = _find(name)
        if number < 0:
            raise KeyError
        code = _code_of(number)
        if code >= 0:
            if category(code) == 'Cn':
                raise KeyError
            return code
        number -= _STARTS[len(_RUNS)]
        if number < len(aliases):
            place, first, wanted = aliases[number], ALIASES, with_alias
        else:
            number -= len(aliases)
            place, first, wanted = sequences[number], SEQUENCES, with_named_sequence
        if place < 0 or not wanted:
            raise KeyError
        return first + place

    def lookup_with_alias(name, with_named_sequence=False):
        """The same for alternative names, too."""
        code = lookup(name, with_named_sequence, True)
        if 0 <= code - ALIASES < len(alias_codes):
            return alias_codes[code - ALIASES]
        return code

    def lookup_named_sequence(code):
        """The sequence that a private character stands for, as UTF-8, or None."""
        if 0 <= code - SEQUENCES < len(sequence_numbers):
            return _SEQUENCES[sequence_numbers[code - SEQUENCES]]
        return None

    def lookup_named_sequence_length(code):
        """How many characters it has, or -1."""
        sequence = lookup_named_sequence(code)
        if sequence is None:
            return -1
        length = 0
        for c in sequence:
            if ord(c) & 0xc0 != 0x80:
                length += 1
        return length

    return {
        'name': name,
        'lookup': lookup,
        'lookup_with_alias': lookup_with_alias,
        'lookup_named_sequence': lookup_named_sequence,
        'lookup_named_sequence_length': lookup_named_sequence_length,
    }
