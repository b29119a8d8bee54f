"""Digits of big integers in other bases, from magnitudes as in rbigint_digits."""
from rpython.rlib.rbigint_digits import MASK, _mul_digits, _without_zeroes
from rpython.rlib.rbigint_division import _divrem_digit, _long_division

# Shorter magnitudes are taken apart group by group.
SPLIT_FROM = 20


class Text(object):
    """Digits in a base, the lowest first."""

    def __init__(self, base, letters):
        self.base = base
        self.letters = letters
        self.chars = []
        # the largest power of the base that is one digit, and how many places it has
        self.power = base
        self.places = 1
        while self.power < MASK // base:
            self.power *= base
            self.places += 1
        # its squares and theirs, and how many places those have
        self.powers = []
        self.widths = []

    def append(self, digits):
        """Append a magnitude. A long one is divided by a power of the base of about half its
        length, and so on with both parts (Brent and Zimmermann, Modern Computer Arithmetic,
        1.7.2)."""
        square = [self.power]
        width = self.places
        while 4 * len(square) - 1 <= len(digits):
            square = _without_zeroes(_mul_digits(square, square))
            width *= 2
            self.powers.append(square)
            self.widths.append(width)
        self._append_part(digits, len(self.powers) - 1)

    def _append_part(self, digits, level):
        while level >= 0 and len(digits) > SPLIT_FROM:
            power = self.powers[level]
            if len(digits) < 2 * len(power) - 1:
                level -= 1
                continue
            digits, low = _long_division(digits, power)
            end = len(self.chars) + self.widths[level]
            self._append_part(_without_zeroes(low), level - 1)
            while len(self.chars) < end:
                self.chars.append(self.letters[0])
        self._append_groups(digits)

    def _append_groups(self, digits):
        while len(digits) > 0:
            digits, group = _divrem_digit(digits, self.power)
            digits = _without_zeroes(digits)
            count = 0
            while count < self.places and (len(digits) > 0 or group > 0):
                self.chars.append(self.letters[group % self.base])
                group //= self.base
                count += 1
