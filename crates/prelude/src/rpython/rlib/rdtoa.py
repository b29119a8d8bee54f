"""Floats from and to decimal text, correctly rounded."""
from rpython.rlib import rfloat
from rpython.rtyper.lltypesystem import rffi

# strtod(start, end) of the C library, which rounds correctly: sets where the number ends.
dg_strtod = rffi.llexternal('strtod', [rffi.CCHARP, rffi.CCHARPP], rffi.DOUBLE)

lower_special_strings = ['inf', '+inf', '-inf', 'nan']
upper_special_strings = ['INF', '+INF', '-INF', 'NAN']


def strtod(input):
    """ValueError unless all of `input` is a float, without blanks around it."""
    for c in input:
        if c.isspace() or c == '_':
            raise ValueError("invalid input")
    return rfloat.rstring_to_float(input)


def _digits(value, mode, precision):
    """The digits of a positive float without zeros around them, and how many of them (or of
    zeros) are in front of the point: mode 0 for as few as give the float again, 2 for
    `precision` digits, 3 for so many behind the point."""
    if mode == 2:
        text = rfloat.formatd(value, 'e', max(precision, 1) - 1)
    elif mode == 3:
        text = rfloat.formatd(value, 'f', precision)
    else:
        text = rfloat.formatd(value, 'r', 0)
    point = 0
    e = text.find('e')
    if e >= 0:
        point = int(text[e + 1:])
        text = text[:e]
    dot = text.find('.')
    if dot >= 0:
        point += dot
        text = text[:dot] + text[dot + 1:]
    else:
        point += len(text)
    start, stop = 0, len(text)
    while start < stop and text[start] == '0':
        start += 1
        point -= 1
    while stop > start and text[stop - 1] == '0':
        stop -= 1
    if start == stop:
        return '0', 1
    assert start >= 0 and stop >= 0
    return text[start:stop], point


def _has_exponent(code, point, precision, flags):
    if code == 'e':
        return True
    elif code == 'g':
        return (point <= -4 or point > precision or
                (point == precision and flags & rfloat.DTSF_ADD_DOT_0 != 0))
    elif code == 'r':
        return point <= -4 or point > 16
    return False


def _number(digits, point, behind, keep_point):
    """Digits with a decimal point after the first `point` of them, and at least so many
    digits behind it."""
    if point <= 0:
        digits = '0' * (1 - point) + digits
        point = 1
    if len(digits) < point + behind:
        digits += '0' * (point + behind - len(digits))
    if len(digits) == point and not keep_point:
        return digits
    assert point >= 0
    return digits[:point] + '.' + digits[point:]


def dtoa(value, code='r', mode=0, precision=0, flags=0, special_strings=lower_special_strings,
         upper=False):
    """Text of a float in the style that `code` tells: 'e', 'f', 'g' or 'r'."""
    if value != value:
        return special_strings[3]
    negative = rfloat.copysign(1.0, value) < 0.0
    if value - value != 0.0:
        if negative:
            return special_strings[2]
        elif flags & rfloat.DTSF_SIGN:
            return special_strings[1]
        return special_strings[0]
    digits, point = _digits(abs(value), mode, precision)
    exponent = _has_exponent(code, point, precision, flags)
    shown_point = 1 if exponent else point
    behind = 0
    if code == 'f':
        behind = precision
    elif code == 'e' or (code == 'g' and flags & rfloat.DTSF_ALT):
        behind = precision - shown_point
    if not exponent and flags & rfloat.DTSF_ADD_DOT_0:
        behind = max(behind, 1)
    text = _number(digits, shown_point, behind, flags & rfloat.DTSF_ALT != 0)
    if exponent:
        number = str(abs(point - 1))
        if len(number) < 2 and not flags & rfloat.DTSF_CUT_EXP_0:
            number = '0' + number
        sign = '-' if point < 1 else '+'
        text += ('E' if upper else 'e') + sign + number
    if negative and not (digits == '0' and flags & rfloat.DTSF_NO_NEG_0):
        return '-' + text
    elif flags & rfloat.DTSF_SIGN and not negative:
        return '+' + text
    return text


def dtoa_formatd(value, code, precision, flags):
    """Like rfloat.formatd()."""
    upper = code == 'E' or code == 'F' or code == 'G'
    special_strings = upper_special_strings if upper else lower_special_strings
    if upper:
        code = code.lower()
    mode = 2
    if code == 'e':
        precision += 1
    elif code == 'f':
        mode = 3
    elif code == 'g':
        precision = max(precision, 1)
    elif code == 'r':
        mode = 0
    else:
        raise ValueError("Invalid mode")
    return dtoa(value, code, mode, precision, flags, special_strings, upper)
