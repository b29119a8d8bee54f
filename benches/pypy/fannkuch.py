"""Permutations of a list, and how often their heads can be reversed."""
import sys


def flips(start):
    row = start[:]
    n = 0
    while row[0]:
        k = row[0] + 1
        row[:k] = row[k - 1::-1] if k == len(row) else row[:k][::-1]
        n += 1
    return n


def permutations(n, most):
    """The first permutations in the order of counters."""
    row = list(range(n))
    count = [0] * n
    yield row
    done = 1
    i = 1
    while i < n and done < most:
        if count[i] < i:
            k = count[i] if i & 1 else 0
            row[k], row[i] = row[i], row[k]
            count[i] += 1
            i = 1
            yield row
            done += 1
        else:
            count[i] = 0
            i += 1


def main(rounds):
    most = total = 0
    sign = 1
    for row in permutations(10, rounds * 500):
        n = flips(row)
        if n > most:
            most = n
        total += sign * n
        sign = -sign
    return most, total


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
