"""The numbers of the `sre` module: what programs build patterns of, see `_sre_format`.

They are those of Python 2, but in an interpreter of a later Python: where there is PyPy's
module `pypy.module.sys.version`, those of the version that it names. Operations that a
version lacks are None.
"""
try:
    from pypy.module.sys.version import CPYTHON_VERSION as _VERSION
except ImportError:
    _VERSION = (2, 7)

MAXREPEAT = 2147483647
V37 = _VERSION >= (3, 7)
V311 = _VERSION >= (3, 11)

# The operations of each version, in the order of their numbers. Python 3.7 has no CALL in its
# patterns either, but a number for it.
_PYTHON2 = """
    FAILURE SUCCESS ANY ANY_ALL ASSERT ASSERT_NOT AT BRANCH CALL CATEGORY CHARSET BIGCHARSET
    GROUPREF GROUPREF_EXISTS GROUPREF_IGNORE IN IN_IGNORE INFO JUMP LITERAL LITERAL_IGNORE MARK
    MAX_UNTIL MIN_UNTIL NOT_LITERAL NOT_LITERAL_IGNORE NEGATE RANGE REPEAT REPEAT_ONE SUBPATTERN
    MIN_REPEAT_ONE RANGE_IGNORE"""
_PYTHON37 = """
    FAILURE SUCCESS ANY ANY_ALL ASSERT ASSERT_NOT AT BRANCH CALL CATEGORY CHARSET BIGCHARSET
    GROUPREF GROUPREF_EXISTS IN INFO JUMP LITERAL MARK MAX_UNTIL MIN_UNTIL NOT_LITERAL NEGATE RANGE
    REPEAT REPEAT_ONE SUBPATTERN MIN_REPEAT_ONE
    GROUPREF_IGNORE IN_IGNORE LITERAL_IGNORE NOT_LITERAL_IGNORE
    GROUPREF_LOC_IGNORE IN_LOC_IGNORE LITERAL_LOC_IGNORE NOT_LITERAL_LOC_IGNORE
    GROUPREF_UNI_IGNORE IN_UNI_IGNORE LITERAL_UNI_IGNORE NOT_LITERAL_UNI_IGNORE RANGE_UNI_IGNORE"""
_SINCE_311 = 'ATOMIC_GROUP POSSESSIVE_REPEAT POSSESSIVE_REPEAT_ONE'


def _numbers():
    """The numbers by the names of the operations, of all versions."""
    names = (_PYTHON37 if V37 else _PYTHON2).split()
    if V311:
        names.remove('CALL')
        at = names.index('MIN_REPEAT_ONE') + 1
        names[at:at] = _SINCE_311.split()
    numbers = {}
    for name in (_PYTHON2 + _PYTHON37 + ' ' + _SINCE_311).split():
        numbers[name] = names.index(name) if name in names else None
    return numbers

OPCODES = _numbers()
for _name in OPCODES:
    _prefix = 'OPCODE_'
    if _name.endswith(('_LOC_IGNORE', '_UNI_IGNORE')):
        _prefix = 'OPCODE37_'
    elif _name == 'RANGE_IGNORE':
        _prefix = 'OPCODE27_'
    globals()[_prefix + _name] = OPCODES[_name]

# Not of Python: two letters of a general category of Unicode, the second one shifted by 8.
OPCODE_UNICODE_GENERAL_CATEGORY = 70


ATCODES = {}
for _i, _name in enumerate([
        'AT_BEGINNING', 'AT_BEGINNING_LINE', 'AT_BEGINNING_STRING', 'AT_BOUNDARY',
        'AT_NON_BOUNDARY', 'AT_END', 'AT_END_LINE', 'AT_END_STRING', 'AT_LOC_BOUNDARY',
        'AT_LOC_NON_BOUNDARY', 'AT_UNI_BOUNDARY', 'AT_UNI_NON_BOUNDARY']):
    ATCODES[_name] = _i
globals().update(ATCODES)

CHCODES = {}
for _i, _name in enumerate(['DIGIT', 'SPACE', 'WORD', 'LINEBREAK', 'LOC_WORD', 'UNI_DIGIT',
                            'UNI_SPACE', 'UNI_WORD', 'UNI_LINEBREAK']):
    CHCODES['CATEGORY_' + _name] = 2 * _i
    CHCODES['CATEGORY_' + _name.replace('LOC_', 'LOC_NOT_').replace('UNI_', 'UNI_NOT_')
            if '_' in _name else 'CATEGORY_NOT_' + _name] = 2 * _i + 1
globals().update(CHCODES)

SRE_INFO_PREFIX, SRE_INFO_LITERAL, SRE_INFO_CHARSET = 1, 2, 4

SRE_FLAG_TEMPLATE = 1
SRE_FLAG_IGNORECASE = 2
SRE_FLAG_LOCALE = 4
SRE_FLAG_MULTILINE = 8
SRE_FLAG_DOTALL = 16
SRE_FLAG_UNICODE = 32
SRE_FLAG_VERBOSE = 64
SRE_FLAG_DEBUG = 128
