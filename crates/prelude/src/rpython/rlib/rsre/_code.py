"""The code of regular expressions: what `rpy` and `_sre_format` make and `rsre_core` runs.

A pattern is a list of numbers, operation by operation; targets are places in it.

    SUCCESS
    LITERAL c, NOT_LITERAL c, ANY, ANY_ALL      one character; ANY is not a newline
    LITERAL_IGNORE c, NOT_LITERAL_IGNORE c      c is in lower case
    IN skip negate count (kind a b)*            one character in a set, of ranges from a to
                                                b and of categories a; the next operation is
                                                `skip` further on
    IN_IGNORE, IN_LOWER the same                either case is in the set; in lower case it is
    IN_EITHER the same                          one of the cases is in the set, negated or not
    LITERAL_UNI c, NOT_LITERAL_UNI c, IN_UNI    like LITERAL_IGNORE, ..., IN_LOWER, with the
                                                lower case of Unicode whatever the flags
    MARK n                                      notes the position
    JUMP target
    SPLIT first second                          tries one way, then the other
    AT where
    GROUPREF n, GROUPREF_IGNORE n, ..._UNI n    what group n matched
    GROUPREF_EXISTS n otherwise                 goes on if group n matched, else there
    ASSERT back next, ASSERT_NOT back next      matches what follows `back` characters
                                                before here, and goes on at `next`
    REPEAT_ONE min max next                     the operation that follows, which is of one
    MIN_REPEAT_ONE min max next                 character, as often or as rarely as possible
    POSSESSIVE_ONE min max next                 the same as often as possible, for good
    ATOMIC next                                 matches what follows, up to SUCCESS, without
                                                coming back to it; goes on at `next`
    LOOP_START register                         notes the position
    LOOP_CHECK register out                     leaves a loop that matched nothing
"""

from rpython.rlib.rsre.rsre_constants import MAXREPEAT

(OP_SUCCESS, OP_LITERAL, OP_LITERAL_IGNORE, OP_NOT_LITERAL, OP_NOT_LITERAL_IGNORE, OP_ANY,
 OP_ANY_ALL, OP_LITERAL_UNI, OP_NOT_LITERAL_UNI, OP_IN, OP_IN_IGNORE, OP_IN_LOWER, OP_IN_UNI,
 OP_IN_EITHER, OP_MARK, OP_JUMP, OP_SPLIT, OP_AT, OP_GROUPREF, OP_GROUPREF_IGNORE,
 OP_GROUPREF_UNI, OP_GROUPREF_EXISTS, OP_ASSERT, OP_ASSERT_NOT, OP_REPEAT_ONE,
 OP_MIN_REPEAT_ONE, OP_POSSESSIVE_ONE, OP_ATOMIC, OP_LOOP_START, OP_LOOP_CHECK) = range(30)

# Kinds of items in sets.
RANGE, CATEGORY, RANGE_EITHER_CASE = range(3)
