"""Pickling lists, dicts and instances, and reading them back."""
import pickle
import sys


class Point(object):
    def __init__(self, x, y):
        self.x = x
        self.y = y


def data(n):
    return {
        'numbers': list(range(n, n + 40)),
        'floats': [i * 0.25 for i in range(20)],
        'points': [Point(i, n) for i in range(10)],
        'names': {'key%d' % i: ('value', i, None) for i in range(15)},
    }


def main(rounds):
    total = 0
    for i in range(rounds):
        text = pickle.dumps(data(i), 2)
        back = pickle.loads(text)
        total += sum(p.x + p.y for p in back['points']) + back['names']['key7'][1] + len(text) // 10000
    return total


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
