"""Values that the compiler knows nothing of, so that what tests do with them is done when
they run. An attribute that is written is no constant, even if one value only comes there."""


class Hidden(object):
    number = 0
    natural = 0
    real = 0.0
    text = ''
    character = '?'
    wide_text = u''
    wide_character = u'?'
    truth = False

hidden = Hidden()


def number(n):
    hidden.number = n
    return hidden.number

def natural(n):
    """A number that is known not to be negative, such as slices have to have."""
    assert n >= 0
    hidden.natural = n
    return hidden.natural

def real(x):
    hidden.real = x
    return hidden.real

def truth(b):
    hidden.truth = b
    return hidden.truth

def text(s):
    hidden.text = s
    return hidden.text

def character(c):
    hidden.character = c
    return hidden.character

def wide(u):
    hidden.wide_text = u
    return hidden.wide_text

def wide_character(u):
    hidden.wide_character = u
    return hidden.wide_character

def upto(n):
    """A list of the numbers below n that may change its length."""
    result = []
    for i in range(number(n)):
        result.append(i)
    return result
