"""A regular-expression matcher: patterns become instructions of a backtracking machine. What may be tried later is a linked list.
The search for the start of a match is part of the instructions, so that all loops are the machine's.

A program has lines `letters LETTERS` or `words WORD ...`, from which a text of n characters is drawn, and lines
`pattern PATTERN`. A unit counts all matches in the text. Patterns have `.`, `[a-z]`, `[^a]`, `*`, `+`, `?` (and lazy `*?`, `+?`),
`{n}`, `|`, groups, `\\1`, `\\b`, `\\d`, `\\w`, `^` and `$`.
"""
from rpython.rlib.jit import JitDriver, promote
import common
from common import Failure

NAMES = ['CHAR', 'ANY', 'SET', 'SPLIT', 'LAZY', 'JUMP', 'SAVE', 'BACKREF', 'START', 'END', 'BOUNDARY', 'MATCH']
(CHAR, ANY, SET, SPLIT, LAZY, JUMP, SAVE, BACKREF, START, END, BOUNDARY, MATCH) = range(len(NAMES))


class CharSet(object):
    _immutable_fields_ = ['bits']

    def __init__(self, chars, negated):
        members = [negated] * 256
        for c in chars:
            members[ord(c)] = not negated
        self.bits = ''.join([chr(int(member)) for member in members])

    def has(self, c):
        return self.bits[ord(c)] != '\0'


class Program(object):
    _immutable_fields_ = ['ops[*]', 'args[*]', 'sets[*]', 'groups']

    def __init__(self, ops, args, sets, groups):
        self.ops = ops
        self.args = args
        self.sets = sets
        self.groups = groups


class Parser(object):
    def __init__(self, pattern):
        self.pattern = pattern
        self.at = 0
        self.ops = []
        self.args = []
        self.sets = []
        self.groups = 1

    def compile(self):
        # tries here first, then one character later
        self.emit(SPLIT, 3)
        self.emit(ANY, 0)
        self.emit(JUMP, 0)
        self.ops[0] = LAZY
        self.args[0] = 3
        self.emit(SAVE, 0)
        self.alternatives()
        if self.at < len(self.pattern):
            raise Failure('unexpected ) in ' + self.pattern)
        self.emit(SAVE, 1)
        self.emit(MATCH, 0)
        return Program(self.ops[:], self.args[:], self.sets[:], self.groups)

    def emit(self, op, arg):
        self.ops.append(op)
        self.args.append(arg)
        return len(self.ops) - 1

    def insert(self, at, op, arg):
        """Inserts an instruction; jumps inside of what is moved are relative to nothing, so they move, too."""
        self.ops.insert(at, op)
        self.args.insert(at, arg)
        for i in range(at + 1, len(self.ops)):
            if self.ops[i] == SPLIT or self.ops[i] == LAZY or self.ops[i] == JUMP:
                if self.args[i] >= at:
                    self.args[i] += 1

    def peek(self):
        if self.at < len(self.pattern):
            return self.pattern[self.at]
        return '\0'

    def take(self, c):
        if self.peek() == c:
            self.at += 1
            return True
        return False

    def alternatives(self):
        start = len(self.ops)
        self.sequence()
        if self.take('|'):
            self.insert(start, SPLIT, 0)
            end = self.emit(JUMP, 0)
            self.args[start] = len(self.ops)
            self.alternatives()
            self.args[end] = len(self.ops)

    def sequence(self):
        while self.peek() not in '|)\0':
            start = len(self.ops)
            before = self.at
            self.atom()
            after = self.at
            self.repetition(start, before, after)

    def repetition(self, start, before, after):
        if self.take('*'):
            op = LAZY if self.take('?') else SPLIT
            self.insert(start, SPLIT, 0)
            self.emit(JUMP, start)
            self.ops[start] = SPLIT
            self.args[start] = len(self.ops)
            if op == LAZY:
                # first what comes after the loop
                self.ops[start] = LAZY
        elif self.take('+'):
            op = SPLIT if self.take('?') else LAZY
            self.emit(op, start)
        elif self.take('?'):
            op = LAZY if self.take('?') else SPLIT
            self.insert(start, op, 0)
            self.args[start] = len(self.ops)
        elif self.take('{'):
            count = 0
            while self.peek() != '}':
                count = count * 10 + ord(self.peek()) - ord('0')
                self.at += 1
            self.at += 1
            end = self.at
            for _ in range(count - 1):
                self.at = before
                self.atom()
                assert self.at == after
            self.at = end

    def atom(self):
        c = self.peek()
        self.at += 1
        if c == '(':
            group = self.groups
            self.groups += 1
            self.emit(SAVE, 2 * group)
            self.alternatives()
            if not self.take(')'):
                raise Failure('missing ) in ' + self.pattern)
            self.emit(SAVE, 2 * group + 1)
        elif c == '.':
            self.emit(ANY, 0)
        elif c == '[':
            self.brackets()
        elif c == '^':
            self.emit(START, 0)
        elif c == '$':
            self.emit(END, 0)
        elif c == '\\':
            self.escape()
        else:
            self.emit(CHAR, ord(c))

    def escape(self):
        c = self.peek()
        self.at += 1
        if c == 'b':
            self.emit(BOUNDARY, 0)
        elif c == 'd':
            self.set('0123456789', False)
        elif c == 'w':
            self.set(span('a', 'z') + span('A', 'Z') + span('0', '9') + '_', False)
        elif c.isdigit():
            self.emit(BACKREF, ord(c) - ord('0'))
        else:
            self.emit(CHAR, ord(c))

    def set(self, chars, negated):
        self.sets.append(CharSet(chars, negated))
        self.emit(SET, len(self.sets) - 1)

    def brackets(self):
        negated = self.take('^')
        chars = ''
        while self.peek() != ']':
            first = self.peek()
            self.at += 1
            if self.peek() == '-':
                self.at += 1
                chars += span(first, self.peek())
                self.at += 1
            else:
                chars += first
        self.at += 1
        self.set(chars, negated)


def span(first, last):
    return ''.join([chr(code) for code in range(ord(first), ord(last) + 1)])


# ---- the machine ----

class Retry(object):
    """What is tried if this way fails: a place and a position, or a saved position that is put back."""
    _immutable_fields_ = ['pc', 'position', 'next']

    def __init__(self, pc, position, next):
        self.pc = pc            # or -1 - the number of what was saved
        self.position = position
        self.next = next


class Match(object):
    _immutable_fields_ = ['text', 'saved']

    def __init__(self, text, groups):
        self.text = text
        self.saved = [-1] * (2 * groups)


def is_word(text, position):
    if position < 0 or position >= len(text):
        return False
    c = text[position]
    return c.isalnum() or c == '_'


def same_again(match, start, end, position):
    """Whether text[start:end] stands at the position."""
    text = match.text
    if position + end - start > len(text):
        return False
    for i in range(end - start):
        if text[start + i] != text[position + i]:
            return False
    return True


def location(pc, program):
    return '%d %s' % (pc, NAMES[program.ops[pc]])


driver = JitDriver(greens=['pc', 'program'], reds=['position', 'match', 'retry'], is_recursive=True,
                   get_printable_location=location)


def search(program, match, position):
    """Finds the next match at or after the position."""
    retry = None
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, program=program, position=position, match=match, retry=retry)
        op = program.ops[pc]
        arg = program.args[pc]
        fine = True
        next = pc + 1
        if op == CHAR:
            fine = position < len(match.text) and ord(match.text[position]) == arg
            position += 1
        elif op == ANY:
            fine = position < len(match.text)
            position += 1
        elif op == SET:
            fine = position < len(match.text) and program.sets[arg].has(match.text[position])
            position += 1
        elif op == SPLIT:
            retry = Retry(arg, position, retry)
        elif op == LAZY:
            retry = Retry(next, position, retry)
            next = arg
        elif op == JUMP:
            next = arg
        elif op == SAVE:
            retry = Retry(-1 - arg, match.saved[arg], retry)
            match.saved[arg] = position
        elif op == BACKREF:
            start = match.saved[2 * arg]
            end = match.saved[2 * arg + 1]
            fine = end >= 0 and same_again(match, start, end, position)
            position += end - start
        elif op == START:
            fine = position == 0
        elif op == END:
            fine = position == len(match.text)
        elif op == BOUNDARY:
            fine = is_word(match.text, position - 1) != is_word(match.text, position)
        else:
            return True
        if not fine:
            while retry is not None and promote(retry.pc) < 0:
                match.saved[-1 - retry.pc] = retry.position
                retry = retry.next
            if retry is None:
                return False
            next = promote(retry.pc)
            position = retry.position
            retry = retry.next
        if next <= pc:
            pc = next
            driver.can_enter_jit(pc=pc, program=program, position=position, match=match, retry=retry)
        else:
            pc = next


class Matcher(common.Engine):
    def __init__(self, text):
        self.programs = []
        self.pieces = []
        for line in text.split('\n'):
            if line == '' or line[0] == '#':
                continue
            parts = line.split(' ', 1)
            if len(parts) != 2:
                raise Failure('bad line ' + line)
            if parts[0] == 'pattern':
                self.programs.append(Parser(parts[1]).compile())
            elif parts[0] == 'letters':
                self.pieces = [c for c in parts[1]]
            elif parts[0] == 'words':
                self.pieces = [word + ' ' for word in parts[1].split(' ')]
        self.size = -1
        self.text = ''

    def prepare(self, n):
        if n == self.size:
            return
        seed = 42
        parts = []
        length = 0
        while length < n:
            seed = (seed * 1103515 + 12345) % 2147483647
            parts.append(self.pieces[(seed >> 4) % len(self.pieces)])
            length += len(parts[-1])
        self.text = ''.join(parts)
        self.size = n

    def unit(self, n):
        self.prepare(n)
        check = 0
        for program in self.programs:
            position = 0
            while position <= len(self.text):
                match = Match(self.text, program.groups)
                if not search(program, match, position):
                    break
                start = match.saved[0]
                end = match.saved[1]
                check = (check * 31 + start + end) & 0xffffff
                position = end
                if end == start:
                    position += 1
        return str(check)


def load(text):
    return Matcher(text)


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
