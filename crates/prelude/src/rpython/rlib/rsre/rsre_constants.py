"""The code of regular expressions: what `rpy` makes and `rsre_core` runs.

A pattern is a list of numbers, operation by operation; targets are places in it.

    SUCCESS
    LITERAL c, NOT_LITERAL c, ANY, ANY_ALL      one character; ANY is not a newline
    LITERAL_IGNORE c, NOT_LITERAL_IGNORE c      c is in lower case
    IN, IN_IGNORE skip negate count (kind a b)* one character in a set, of ranges from a
                                                to b (kind 0) and of categories a (kind 1);
                                                the next operation is `skip` further on
    MARK n                                      notes the position
    JUMP target
    SPLIT first second                          tries one way, then the other
    AT where
    GROUPREF n, GROUPREF_IGNORE n               what group n matched
    GROUPREF_EXISTS n otherwise                 goes on if group n matched, else there
    ASSERT back next, ASSERT_NOT back next      matches what follows `back` characters
                                                before here, and goes on at `next`
    REPEAT_ONE min max next                     the operation that follows, which is of one
    MIN_REPEAT_ONE min max next                 character, as often or as rarely as possible
    LOOP_START register                         notes the position
    LOOP_CHECK register out                     leaves a loop that matched nothing
"""

MAXREPEAT = 2147483647

(OPCODE_SUCCESS, OPCODE_LITERAL, OPCODE_LITERAL_IGNORE, OPCODE_NOT_LITERAL,
 OPCODE_NOT_LITERAL_IGNORE, OPCODE_ANY, OPCODE_ANY_ALL, OPCODE_IN, OPCODE_IN_IGNORE,
 OPCODE_MARK, OPCODE_JUMP, OPCODE_SPLIT, OPCODE_AT, OPCODE_GROUPREF,
 OPCODE_GROUPREF_IGNORE, OPCODE_GROUPREF_EXISTS, OPCODE_ASSERT, OPCODE_ASSERT_NOT,
 OPCODE_REPEAT_ONE, OPCODE_MIN_REPEAT_ONE, OPCODE_LOOP_START,
 OPCODE_LOOP_CHECK) = range(22)

(AT_BEGINNING, AT_BEGINNING_LINE, AT_BEGINNING_STRING, AT_BOUNDARY, AT_NON_BOUNDARY,
 AT_END, AT_END_LINE, AT_END_STRING, AT_UNI_BOUNDARY, AT_UNI_NON_BOUNDARY) = range(10)

(CATEGORY_DIGIT, CATEGORY_NOT_DIGIT, CATEGORY_SPACE, CATEGORY_NOT_SPACE,
 CATEGORY_WORD, CATEGORY_NOT_WORD, CATEGORY_UNI_DIGIT, CATEGORY_UNI_NOT_DIGIT,
 CATEGORY_UNI_SPACE, CATEGORY_UNI_NOT_SPACE, CATEGORY_UNI_WORD,
 CATEGORY_UNI_NOT_WORD) = range(12)

SRE_FLAG_TEMPLATE = 1
SRE_FLAG_IGNORECASE = 2
SRE_FLAG_LOCALE = 4
SRE_FLAG_MULTILINE = 8
SRE_FLAG_DOTALL = 16
SRE_FLAG_UNICODE = 32
SRE_FLAG_VERBOSE = 64
SRE_FLAG_DEBUG = 128
