import pytest

from lexer import tokenize, MinnowError


def texts(source):
    return [token.text for token in tokenize(source)]


def test_words_and_symbols():
    assert texts('let x1=30') == ['let', 'x1', '=', '30', 'the end']


def test_comments_end_with_the_line():
    assert texts('1 # 2\n3') == ['1', '3', 'the end']


def test_text_without_end():
    with pytest.raises(MinnowError) as info:
        tokenize('print 1\nprint "open')
    assert info.value.line == 2
