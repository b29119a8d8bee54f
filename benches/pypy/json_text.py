"""Writing and reading JSON."""
import json
import sys


def document(n):
    return {
        'id': n,
        'name': u'document %d \xe4\xf6' % n,
        'ratio': n / 7.0,
        'tags': ['a', 'bb', 'c' * (n % 10), None, True, False],
        'nested': [{'x': i, 'y': [i, i * 2], 'text': 'line\n"%d"' % i} for i in range(10)],
    }


def main(rounds):
    total = 0
    for i in range(rounds):
        text = json.dumps(document(i), sort_keys=True)
        back = json.loads(text)
        assert back['nested'][3]['y'] == [3, 6]
        total += len(text) + len(back['tags'][2])
    return total


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
