"""The spectral norm of a matrix: loops over lists of floats, calls of small functions."""
import sys


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(vector, of):
    n = len(vector)
    result = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += of(i, j) * vector[j]
        result.append(total)
    return result


def transposed(i, j):
    return element(j, i)


def main(rounds):
    u = [1.0] * 40
    v = u
    for _ in range(rounds):
        v = times(times(u, element), transposed)
        scale = max(v)
        u = [x / scale for x in v]
    above = sum(a * b for a, b in zip(u, v))
    below = sum(a * a for a in u)
    return '%.9f' % (above / below) ** 0.5


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
