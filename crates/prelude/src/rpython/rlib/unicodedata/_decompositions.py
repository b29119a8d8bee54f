"""What characters consist of, and what they make together."""
from _taipan_unicode import numbers, text
from rpython.rlib.rbisect import bisect_left
from rpython.rlib.unicodedata._tables import large_numbers, small_numbers

# What characters consist of: a byte that says how it is meant (0 for what is the same), how
# many characters there are, and these, three bytes each.
_DECOMPOSITION = text('decomposition')
_PREFIX = text('decomposition prefix').split(' ')


def _part(at, i):
    """The part of that number of a decomposition."""
    at += 2 + 3 * i
    return (ord(_DECOMPOSITION[at]) | ord(_DECOMPOSITION[at + 1]) << 8 |
            ord(_DECOMPOSITION[at + 2]) << 16)


def _parts(at):
    return [_part(at, i) for i in range(ord(_DECOMPOSITION[at + 1]))]


def _shown(code):
    digits = hex(code)[2:].upper()
    return '0' * (4 - len(digits)) + digits


def decompositions(version):
    combining = small_numbers('combining', version)
    # Where its decomposition is, or 0.
    place_of = large_numbers('decompositions', version)
    # Two characters, the first one 21 bits to the left, and what they make.
    pairs, composites = numbers('pairs ' + version), numbers('composites ' + version)
    first_follower = min([pair & 0x1fffff for pair in pairs])

    def decomposition(code):
        """As text: codes, behind what kind of decomposition it is. Empty without one."""
        at = place_of(code)
        if at == 0:
            return ''
        shown = [_shown(part) for part in _parts(at)]
        prefix = ord(_DECOMPOSITION[at])
        if prefix != 0:
            shown.insert(0, _PREFIX[prefix])
        return ' '.join(shown)

    def add_canonical(code, result):
        at = place_of(code)
        if at == 0 or _DECOMPOSITION[at] != '\0':
            result.append(code)
        else:
            for part in _parts(at):
                add_canonical(part, result)

    def add_compatible(code, result):
        at = place_of(code)
        if at == 0:
            result.append(code)
        else:
            for part in _parts(at):
                add_compatible(part, result)

    def canon_decomposition(code):
        """All parts that are the same together; empty without a decomposition."""
        result = []
        at = place_of(code)
        if at != 0 and _DECOMPOSITION[at] == '\0':
            add_canonical(code, result)
        return result

    def compat_decomposition(code):
        """All parts that are the same or similar; empty without a decomposition."""
        result = []
        if place_of(code) != 0:
            add_compatible(code, result)
        return result

    def composition(current, next):
        """What two characters make. KeyError if nothing."""
        if next < first_follower or current < 0:
            raise KeyError
        pair = current << 21 | next
        at = bisect_left(pairs, pair, len(pairs))
        if at == len(pairs) or pairs[at] != pair:
            raise KeyError
        return composites[at]

    return {
        'combining': combining,
        'decomposition': decomposition,
        'canon_decomposition': canon_decomposition,
        'compat_decomposition': compat_decomposition,
        'composition': composition,
    }
