#!/usr/bin/env python3
"""Writes unicode.bin, next to this file, from files of the Unicode Character Database.

    python3 crates/prelude/unicode/make.py FOLDER

FOLDER has the files of every version below under names as `UnicodeData-14.0.0.txt`:
UnicodeData, CompositionExclusions, EastAsianWidth, LineBreak, DerivedCoreProperties,
CaseFolding, SpecialCasing (from version 5 on), NameAliases and NamedSequences, as the
Consortium publishes them, and UnihanNumeric, the lines of Unihan that have numbers.

The format is told in ../src/unicode.rs. What the sections mean is told by the modules that
use them, ../src/rpython/rlib/unicodedata.
"""

import collections
import os
import sys

VERSIONS = ['3.2.0', '5.2.0', '9.0.0', '11.0.0', '12.1.0', '13.0.0', '14.0.0']
CODES = 0x110000
PAGE = 256

# The bits of what may be asked of a character.
SPACE, ALPHA, LINEBREAK, UPPER, TITLE, LOWER, NUMERIC, DIGIT, DECIMAL, MIRRORED, \
    XID_START, XID_CONTINUE, PRINTABLE, CASE_IGNORABLE = [1 << i for i in range(14)]


class Numbering:
    """Numbers for things, in the order in which they come."""

    def __init__(self, *first):
        self.numbers = {}
        for thing in first:
            self.number(thing)

    def number(self, thing):
        return self.numbers.setdefault(thing, len(self.numbers))

    def __iter__(self):
        return iter(self.numbers)

    def __len__(self):
        return len(self.numbers)


class Char:
    def __init__(self, fields):
        self.name = '' if fields[1].startswith('<') else fields[1]
        self.category = fields[2]
        self.combining = int(fields[3] or 0)
        self.bidirectional = fields[4]
        prefix, _, codes = fields[5].rpartition('> ')
        self.prefix = prefix and prefix + '>'
        self.decomposition = tuple(int(c, 16) for c in codes.split())
        self.decimal = int(fields[6]) if fields[6] else -1
        self.digit = int(fields[7]) if fields[7] else -1
        self.numeric = fraction(fields[8]) if fields[8] else None
        self.mirrored = fields[9] == 'Y'
        self.upper, self.lower, self.title = [int(c, 16) if c else None
                                              for c in fields[12:15]]
        self.width = 'N'
        self.linebreak = False
        self.properties = set()


def fraction(text):
    numerator, _, denominator = text.replace(',', '').partition('/')
    return int(numerator), int(denominator or 1)


def unassigned():
    return Char(['', '', 'Cn'] + [''] * 12)


class Version:
    """What one version of the database says."""

    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        # Uppercase and Lowercase are more than categories from version 6 on.
        self.cased_properties = int(version.split('.')[0]) >= 6
        self.chars = {}
        self.read_chars()
        for first, last, (width,) in self.ranges('EastAsianWidth'):
            for code in range(first, last + 1):
                self.chars.setdefault(code, unassigned()).width = width
        for first, last, (kind,) in self.ranges('LineBreak'):
            if kind in ('BK', 'CR', 'LF', 'NL'):
                for code in range(first, last + 1):
                    self.chars[code].linebreak = True
        for first, last, (name,) in self.ranges('DerivedCoreProperties'):
            for code in range(first, last + 1):
                if code in self.chars:
                    self.chars[code].properties.add(name)
        for code, tag, value in self.unihan():
            if tag in ('kAccountingNumeric', 'kPrimaryNumeric', 'kOtherNumeric'):
                self.chars[code].numeric = fraction(value)
        self.excluded = {first for first, _, _ in self.ranges('CompositionExclusions')}
        self.special = {}
        if self.has('SpecialCasing'):
            for code, _, (lower, title, upper, *condition) in self.ranges('SpecialCasing'):
                if not any(condition):
                    self.special[code] = codes_of(lower), codes_of(title), codes_of(upper)
        self.folds = {code: codes_of(mapping)
                      for code, _, (status, mapping, _) in self.ranges('CaseFolding')
                      if status in 'CF'}
        # Pairs of name and code, and of name and codes.
        self.aliases = [(name, int(code, 16))
                        for code, name, *_ in self.fields('NameAliases')]
        self.sequences = [(name, codes_of(codes))
                          for name, codes in self.fields('NamedSequences')]

    def path(self, kind):
        return os.path.join(self.folder, '%s-%s.txt' % (kind, self.version))

    def has(self, kind):
        return os.path.exists(self.path(kind))

    def lines(self, kind):
        with open(self.path(kind), encoding='latin-1') as f:
            for line in f:
                line = line.partition('#')[0].strip()
                if line:
                    yield line

    def fields(self, kind):
        for line in self.lines(kind):
            yield [field.strip() for field in line.split(';')]

    def ranges(self, kind):
        """First and last code of a line, and its other fields."""
        for codes, *fields in self.fields(kind):
            first, _, last = codes.partition('..')
            yield int(first, 16), int(last or first, 16), fields

    def unihan(self):
        for line in self.lines('UnihanNumeric'):
            code, tag, value = line.split()[:3]
            yield int(code[2:], 16), tag, value

    def read_chars(self):
        first = None
        for fields in self.fields('UnicodeData'):
            code = int(fields[0], 16)
            if fields[1].endswith(', First>'):
                first = code
            elif fields[1].endswith(', Last>'):
                for each in range(first, code + 1):
                    self.chars[each] = Char(fields)
            else:
                self.chars[code] = Char(fields)

    def flags(self, code, char):
        def bit(flag, condition):
            return flag if condition else 0

        def has(name):
            return name in char.properties

        category, cased = char.category, self.cased_properties
        return (bit(SPACE, category == 'Zs' or char.bidirectional in ('WS', 'B', 'S'))
                | bit(ALPHA, category in ('Lm', 'Lt', 'Lu', 'Ll', 'Lo'))
                | bit(LINEBREAK, char.linebreak or char.bidirectional == 'B')
                | bit(UPPER, category == 'Lu' or cased and has('Uppercase'))
                | bit(TITLE, category == 'Lt')
                | bit(LOWER, category == 'Ll' or cased and has('Lowercase'))
                | bit(NUMERIC, char.numeric is not None)
                | bit(DIGIT, char.digit >= 0)
                | bit(DECIMAL, char.decimal >= 0)
                | bit(MIRRORED, char.mirrored)
                | bit(XID_START, has('XID_Start'))
                | bit(XID_CONTINUE, has('XID_Continue'))
                | bit(PRINTABLE, code == 0x20 or category[0] not in 'CZ')
                | bit(CASE_IGNORABLE, has('Case_Ignorable')))

    def compositions(self):
        """Pairs of characters and what they make together."""
        pairs = {}
        for code, char in sorted(self.chars.items()):
            if len(char.decomposition) != 2 or char.prefix or code in self.excluded:
                continue
            first, second = char.decomposition
            if not self.chars[first].combining:
                pairs[first << 21 | second] = code
        return sorted(pairs.items())


def codes_of(text):
    return tuple(int(c, 16) for c in text.split())


class Column:
    """A number for every code in every version, in pages that versions share."""

    def __init__(self, name, width):
        self.name, self.width = name, width
        self.pages = Numbering(bytes(PAGE * width))
        self.indexes = []

    def add(self, version, numbers):
        """`numbers`: what is not 0, by code."""
        index = []
        codes = sorted(numbers)
        at = 0
        for start in range(0, CODES, PAGE):
            page = bytearray(PAGE * self.width)
            while at < len(codes) and codes[at] < start + PAGE:
                place = (codes[at] - start) * self.width
                page[place:place + self.width] = numbers[codes[at]].to_bytes(self.width,
                                                                             'little')
                at += 1
            index.append(self.pages.number(bytes(page)))
        assert len(set(index)) <= 256, self.name
        self.indexes.append((version, index))

    def write(self, sections):
        sections[self.name] = bytes([self.width]) + b''.join(self.pages)
        for version, index in self.indexes:
            runs = []
            for page in index:
                if runs and runs[-1][1] == page:
                    runs[-1][0] += 1
                else:
                    runs.append([1, page])
            runs = [number for run in runs for number in run]
            sections['%s %s' % (self.name, version)] = numbers_section(runs)


def numbers_section(numbers):
    """Differences between numbers: seven bits per byte, the lowest first, their sign in
    the lowest bit."""
    result = bytearray()
    last = 0
    for number in numbers:
        change = number - last
        last = number
        left = change << 1 if change >= 0 else ~change << 1 | 1
        while left >= 0x80:
            result.append(left & 0x7f | 0x80)
            left >>= 7
        result.append(left)
    return bytes(result)


def write_columns(tables, sections):
    kinds, layouts = Numbering(('Cn', 0)), Numbering(('', 'N'))
    numerics, cases = Numbering((-1, -1, (0, 1))), Numbering((0,) * 8)
    decompositions, offsets = bytearray(2), {}
    fulls, full_offsets = [0], {}
    names = ['kinds', 'layouts', 'combining', 'numerics']
    columns = {name: Column(name, 1) for name in names}
    columns['cases'] = Column('cases', 2)
    columns['decompositions'] = Column('decompositions', 2)

    def full(codes, simple):
        if codes == (simple,):
            return 0
        if codes not in full_offsets:
            full_offsets[codes] = len(fulls)
            fulls.extend((len(codes),) + codes)
        return full_offsets[codes]

    prefixes = Numbering('')
    prefixes.number('')
    for table in tables:
        by_column = {name: {} for name in columns}
        for code, char in table.chars.items():
            kind = kinds.number((char.category, table.flags(code, char)))
            # By their kind those are known that are not there.
            assert kind == 0 or char.category != 'Cn'
            by_column['kinds'][code] = kind
            by_column['layouts'][code] = layouts.number((char.bidirectional, char.width))
            by_column['combining'][code] = char.combining
            if char.numeric or char.digit >= 0 or char.decimal >= 0:
                number = char.decimal, char.digit, char.numeric or (0, 1)
                by_column['numerics'][code] = numerics.number(number)
            upper, lower, title = [code if to is None else to
                                   for to in (char.upper, char.lower, char.title)]
            special = table.special.get(code, ((lower,), (title,), (upper,)))
            fold = table.folds.get(code, (code,))
            simple_fold = fold[0] if len(fold) == 1 else code
            case = (upper - code, lower - code, title - code, simple_fold - code,
                    full(special[2], upper), full(special[0], lower),
                    full(special[1], title), full(fold, simple_fold))
            by_column['cases'][code] = cases.number(case)
            if char.decomposition:
                key = prefixes.number(char.prefix), char.decomposition
                if key not in offsets:
                    offsets[key] = len(decompositions)
                    decompositions.append(key[0])
                    decompositions.append(len(char.decomposition))
                    for each in char.decomposition:
                        decompositions.extend(each.to_bytes(3, 'little'))
                by_column['decompositions'][code] = offsets[key]
        for name, column in columns.items():
            numbers = {code: n for code, n in by_column[name].items() if n}
            column.add(table.version, numbers)
    for column in columns.values():
        column.write(sections)
    sections['category'] = ' '.join(category for category, _ in kinds).encode()
    sections['flags'] = numbers_section([flags for _, flags in kinds])
    sections['bidirectional'] = ','.join(kind for kind, _ in layouts).encode()
    sections['width'] = ' '.join(width for _, width in layouts).encode()
    sections['decimal'] = numbers_section([decimal for decimal, _, _ in numerics])
    sections['digit'] = numbers_section([digit for _, digit, _ in numerics])
    sections['numeric'] = ' '.join('%d/%d' % n for _, _, n in numerics).encode()
    for i, name in enumerate(['upper', 'lower', 'title', 'fold', 'full upper',
                              'full lower', 'full title', 'full fold']):
        sections[name] = numbers_section([case[i] for case in cases])
    sections['full'] = numbers_section(fulls)
    sections['decomposition'] = bytes(decompositions)
    sections['decomposition prefix'] = ' '.join(prefixes).encode()
    for table in tables:
        pairs = table.compositions()
        sections['pairs ' + table.version] = numbers_section([pair for pair, _ in pairs])
        sections['composites ' + table.version] = numbers_section([c for _, c in pairs])


# Names in a block, of which only the first is written in full; how many words are written
# in one byte; and a word that stands for the code of the character behind a hyphen.
BLOCK = 16
SHORT = 200
CODE = ''


def write_names(tables, sections):
    names, aliases, sequences = {}, {}, {}
    for table in tables:
        for code, char in table.chars.items():
            if char.name:
                assert names.setdefault(code, char.name) == char.name
        for name, code in table.aliases:
            assert aliases.setdefault(name, code) == code
        for name, codes in table.sequences:
            assert sequences.setdefault(name, codes) == codes
    codes = sorted(names)
    texts = [names[code] for code in codes] + list(aliases) + list(sequences)
    assert len(set(texts)) == len(texts) < 1 << 16
    words_of = [words(names[code], code) for code in codes]
    words_of += [text.split(' ') for text in texts[len(codes):]]

    entries, last = [], []
    for number, name in enumerate(words_of):
        shared = 0
        if number % BLOCK:
            while name[shared:shared + 1] == last[shared:shared + 1] != []:
                shared += 1
        last = name
        entries.append((shared, name[shared:]))
    counts = collections.Counter(word for _, new in entries for word in new)
    del counts[CODE]
    # Numbered by their lengths, so that a word is found by its number.
    by_length = sorted(counts, key=lambda word: (len(word), word))
    numbers = {word: number for number, word in enumerate(by_length)}
    often = sorted(counts, key=lambda word: (-counts[word], word))[:SHORT - 1]
    short = {word: token for token, word in enumerate([CODE] + often)}
    coded, blocks = bytearray(), []
    for number, (shared, new) in enumerate(entries):
        if number % BLOCK == 0:
            blocks.append(len(coded))
        assert shared < 16 and len(new) < 16
        coded.append(shared << 4 | len(new))
        for word in new:
            if word in short:
                coded.append(short[word])
            else:
                coded += ((SHORT << 8) + numbers[word]).to_bytes(2, 'big')
    sections['names'] = bytes(coded)
    sections['name blocks'] = numbers_section(blocks)
    sections['short words'] = numbers_section([0] + [numbers[word] for word in often])
    sections['words'] = ''.join(by_length).encode()
    longest = len(by_length[-1])
    sections['word lengths'] = numbers_section(
        [sum(1 for word in by_length if len(word) < n) for n in range(longest + 2)])
    order = sorted(range(len(texts)), key=lambda number: texts[number])
    sections['name order'] = b''.join(n.to_bytes(2, 'little') for n in order)
    firsts = [i for i, code in enumerate(codes) if i == 0 or codes[i - 1] != code - 1]
    sections['name runs'] = numbers_section([codes[i] for i in firsts])
    sections['name starts'] = numbers_section(firsts + [len(codes)])
    sections['sequences'] = '\0'.join(''.join(map(chr, each))
                                      for each in sequences.values()).encode()
    numbered = list(sequences)
    for table in tables:
        # Where the alternative names stand in the list of this version, or -1.
        listed = {name: i for i, (name, _) in enumerate(table.aliases)}
        sections['aliases ' + table.version] = numbers_section(
            [listed.get(name, -1) for name in aliases])
        sections['alias codes ' + table.version] = numbers_section(
            [code for _, code in table.aliases])
        listed = {name: i for i, (name, _) in enumerate(table.sequences)}
        sections['sequences ' + table.version] = numbers_section(
            [listed.get(name, -1) for name in sequences])
        sections['sequence numbers ' + table.version] = numbers_section(
            [numbered.index(name) for name, _ in table.sequences])


def words(name, code):
    ending = '-%04X' % code
    if name.endswith(ending):
        return name[:-len(ending)].split(' ') + [CODE]
    return name.split(' ')


def main():
    folder, = sys.argv[1:]
    tables = [Version(folder, version) for version in VERSIONS]
    sections = {}
    write_columns(tables, sections)
    write_names(tables, sections)
    with open(os.path.join(os.path.dirname(__file__), 'unicode.bin'), 'wb') as f:
        for name, text in sections.items():
            f.write(bytes([len(name)]) + name.encode())
            f.write(len(text).to_bytes(4, 'little') + text)


if __name__ == '__main__':
    main()
