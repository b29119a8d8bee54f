"""The part of unittest that test modules use: `taipan test` runs the classes."""
import pytest
from _taipan import show
from _taipan_testing import MarkDecorator
from rpython.rlib.objectmodel import specialize


class SkipTest(Exception):
    pass


def skip(reason):
    return MarkDecorator('skip', (), {'reason': reason})


def skipIf(condition, reason):
    return MarkDecorator('skipif', (bool(condition),), {'reason': reason})


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


def expectedFailure(func):
    return MarkDecorator('xfail')(func)


class TestCase(object):
    """A base of classes with tests. Methods that translated tests can call are RPython."""

    failureException = AssertionError
    longMessage = False
    maxDiff = None
    __test__ = True

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def run_cleanups(self):
        cleanups = self.__dict__.get('_cleanups', [])
        while cleanups:
            function, args, kwds = cleanups.pop()
            function(*args, **kwds)

    doCleanups = run_cleanups

    def addCleanup(self, function, *args, **kwds):
        self.__dict__.setdefault('_cleanups', []).append((function, args, kwds))

    def id(self):
        return self.__class__.__name__

    def shortDescription(self):
        return None

    def skipTest(self, reason):
        pytest.skip(reason)

    def fail(self, msg=None):
        pytest.fail(msg or 'None')

    @specialize.argtype(1)
    def assertTrue(self, expr, msg=None):
        if not expr:
            pytest.fail(msg or 'the value is not true')

    @specialize.argtype(1)
    def assertFalse(self, expr, msg=None):
        if expr:
            pytest.fail(msg or 'the value is not false')

    failUnless = assert_ = assertTrue
    failIf = assertFalse

    @specialize.argtype(1, 2)
    def assertEqual(self, first, second, msg=None):
        if not first == second:
            different(first, '!=', second, msg)

    @specialize.argtype(1, 2)
    def assertNotEqual(self, first, second, msg=None):
        if not first != second:
            different(first, '==', second, msg)

    assertEquals = failUnlessEqual = assertEqual
    assertMultiLineEqual = assertListEqual = assertTupleEqual = assertEqual
    assertDictEqual = assertSetEqual = assertSequenceEqual = assertEqual
    assertNotEquals = failIfEqual = assertNotEqual

    @specialize.argtype(1, 2)
    def assertIs(self, first, second, msg=None):
        if first is not second:
            different(first, 'is not', second, msg)

    @specialize.argtype(1, 2)
    def assertIsNot(self, first, second, msg=None):
        if first is second:
            different(first, 'is', second, msg)

    @specialize.argtype(1)
    def assertIsNone(self, first, msg=None):
        if first is not None:
            pytest.fail(msg or (text_of(first) + ' is not None'))

    @specialize.argtype(1)
    def assertIsNotNone(self, first, msg=None):
        if first is None:
            pytest.fail(msg or 'unexpectedly None')

    @specialize.argtype(1, 2)
    def assertIn(self, member, container, msg=None):
        if member not in container:
            different(member, 'not in', container, msg)

    @specialize.argtype(1, 2)
    def assertNotIn(self, member, container, msg=None):
        if member in container:
            different(member, 'in', container, msg)

    @specialize.argtype(1, 2)
    def assertLess(self, first, second, msg=None):
        if not first < second:
            different(first, 'not less than', second, msg)

    @specialize.argtype(1, 2)
    def assertLessEqual(self, first, second, msg=None):
        if not first <= second:
            different(first, 'not less than or equal to', second, msg)

    @specialize.argtype(1, 2)
    def assertGreater(self, first, second, msg=None):
        if not first > second:
            different(first, 'not greater than', second, msg)

    @specialize.argtype(1, 2)
    def assertGreaterEqual(self, first, second, msg=None):
        if not first >= second:
            different(first, 'not greater than or equal to', second, msg)

    @specialize.arg(2)
    def assertIsInstance(self, obj, cls, msg=None):
        if not isinstance(obj, cls):
            pytest.fail(msg or (text_of(obj) + ' is not an instance of ' + cls.__name__))

    @specialize.arg(2)
    def assertNotIsInstance(self, obj, cls, msg=None):
        if isinstance(obj, cls):
            pytest.fail(msg or (text_of(obj) + ' is an instance of ' + cls.__name__))

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        difference = abs(first - second)
        if delta is None:
            within = difference < tolerance(7 if places is None else places)
        else:
            within = difference <= delta
        if not within:
            different(first, '!= (nearly)', second, msg)

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        difference = abs(first - second)
        if delta is None:
            within = difference < tolerance(7 if places is None else places)
        else:
            within = difference <= delta
        if within:
            different(first, '== (nearly)', second, msg)

    assertAlmostEquals = assertAlmostEqual

    # In the interpreter only.

    def assertItemsEqual(self, first, second, msg=None):
        left, rest = list(first), list(second)
        for item in list(left):
            if item in rest:
                rest.remove(item)
                left.remove(item)
        if left or rest:
            pytest.fail(msg or 'only in the first: %r, only in the second: %r' % (left, rest))

    assertCountEqual = assertItemsEqual

    def assertRaises(self, expected, function=None, *args, **kwds):
        context = RaisesContext(expected)
        if function is None:
            return context
        with context:
            function(*args, **kwds)

    failUnlessRaises = assertRaises

    def assertRaisesRegexp(self, expected, regexp, function=None, *args, **kwds):
        context = RaisesContext(expected, match=regexp)
        if function is None:
            return context
        with context:
            function(*args, **kwds)

    assertRaisesRegex = assertRaisesRegexp

    def assertRegexpMatches(self, text, regexp, msg=None):
        import re
        if not re.search(regexp, text):
            pytest.fail(msg or '%r does not match %r' % (text, regexp))

    assertRegex = assertRegexpMatches


class RaisesContext(pytest.RaisesContext):
    @property
    def exception(self):
        return self.value


@specialize.argtype(0)
def text_of(value):
    return show(value)


@specialize.argtype(0, 2)
def different(first, relation, second, msg):
    if msg is None:
        pytest.fail(text_of(first) + ' ' + relation + ' ' + text_of(second))
    else:
        pytest.fail(msg)


def tolerance(places):
    """What rounds to 0 at so many places is smaller."""
    result = 0.5
    for i in range(places):
        result /= 10.0
    return result


def main(*args, **kwds):
    """Tests are run by `taipan test`."""
