"""Categories, widths, numbers, and what may be asked of a character."""
from _taipan_unicode import numbers, text
from rpython.rlib.unicodedata._tables import small_numbers

# By the kind of a character: its category, and the answers to the questions below, a bit
# each. Kind 0 is that of what is no character.
_CATEGORY, _FLAGS = text('category').split(' '), numbers('flags')

# The questions by their bits, the lowest first. `mirrored` is no word of its own, but a
# number in Python.
_QUESTIONS = ['isspace', 'isalpha', 'islinebreak', 'isupper', 'istitle', 'islower',
              'isnumeric', 'isdigit', 'isdecimal', 'mirrored', 'isxidstart',
              'isxidcontinue', 'isprintable', 'iscaseignorable']

# By the layout of a character: its direction and its width.
_BIDIRECTIONAL, _WIDTH = text('bidirectional').split(','), text('width').split(' ')


def _quotient(fraction):
    numerator, denominator = fraction.split('/')
    return float(numerator) / float(denominator)

# By the number that a character stands for; -1 where it is no digit.
_DECIMAL, _DIGIT = numbers('decimal'), numbers('digit')
_NUMERIC = [_quotient(fraction) for fraction in text('numeric').split(' ')]


def properties(version):
    kind_of = small_numbers('kinds', version)
    layout_of = small_numbers('layouts', version)
    number_of = small_numbers('numerics', version)

    def question(mask):
        def ask(code):
            return _FLAGS[kind_of(code)] & mask != 0
        return ask
    masks = dict([(name, 1 << i) for i, name in enumerate(_QUESTIONS)])
    masks['isalnum'] = masks['isalpha'] | masks['isnumeric']
    masks['iscased'] = masks['isupper'] | masks['istitle'] | masks['islower']
    result = dict([(name, question(mask)) for name, mask in masks.items()])
    isnumeric = result['isnumeric']

    def category(code):
        return _CATEGORY[kind_of(code)]

    def bidirectional(code):
        """Empty for what is no character."""
        return _BIDIRECTIONAL[layout_of(code)]

    def east_asian_width(code):
        return _WIDTH[layout_of(code)]

    def decimal(code):
        """KeyError for what is no decimal digit; so it is with the others below."""
        value = _DECIMAL[number_of(code)]
        if value < 0:
            raise KeyError
        return value

    def digit(code):
        value = _DIGIT[number_of(code)]
        if value < 0:
            raise KeyError
        return value

    def numeric(code):
        if not isnumeric(code):
            raise KeyError
        return _NUMERIC[number_of(code)]

    for function in (category, bidirectional, east_asian_width, decimal, digit, numeric):
        result[function.__name__] = function
    return result
