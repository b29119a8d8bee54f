"""Records, global variables, small lists and comparisons of strings."""
import sys

LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'


class Record(object):
    def __init__(self, kind, number, text, following=None):
        self.kind = kind
        self.number = number
        self.text = text
        self.following = following

    def copy(self):
        return Record(self.kind, self.number, self.text, self.following)


counter = 0
table = [[0] * 20 for _ in range(20)]


def shift(record, by):
    global counter
    counter += 1
    new = record.copy()
    new.number = (record.number + by) % 9973
    new.following = record
    if new.kind == 'first':
        new.kind = 'second'
    else:
        new.kind = 'first'
    return new


def fill(row, at, value):
    row[at] = value
    row[at + 1] = row[at]
    row[at + 7] = at
    table[at][at] += value % 3
    return row


def same(left, right, at):
    while at < 24:
        if LETTERS[at] == left[at % len(left)]:
            at += 1
            if left > right:
                return at
        at += 2
    return 0


def main(rounds):
    total = 0
    record = Record('first', 0, 'SOME TEXT OF A RECORD')
    row = [0] * 20
    for i in range(rounds * 1000):
        record = shift(record, i)
        if i % 50 == 0:
            record.following = None
        fill(row, i % 11, record.number)
        total += same(record.text, 'SOME OTHER TEXT', i % 7) + row[i % 20]
    return total, counter, sum(table[i][i] for i in range(20))


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
