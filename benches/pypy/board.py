"""Stones on a board, placed at random; groups without a free neighbour are taken away."""
import sys

SIZE = 9
EMPTY, BLACK, WHITE = range(3)
NEIGHBOURS = []
for at in range(SIZE * SIZE):
    x, y = at % SIZE, at // SIZE
    found = [(x + dx, y + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    NEIGHBOURS.append([a + SIZE * b for a, b in found if 0 <= a < SIZE and 0 <= b < SIZE])


class Random(object):
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) & 0x7fffffff
        return (self.state >> 8) % n


class Board(object):
    def __init__(self):
        self.stones = [EMPTY] * (SIZE * SIZE)
        self.taken = [0, 0, 0]

    def group(self, at):
        """The stones of a group, and whether it has a free neighbour."""
        color = self.stones[at]
        found, todo = {at}, [at]
        free = False
        while todo:
            for n in NEIGHBOURS[todo.pop()]:
                stone = self.stones[n]
                if stone == EMPTY:
                    free = True
                elif stone == color and n not in found:
                    found.add(n)
                    todo.append(n)
        return found, free

    def place(self, at, color):
        self.stones[at] = color
        for n in NEIGHBOURS[at]:
            if self.stones[n] == BLACK + WHITE - color:
                group, free = self.group(n)
                if not free:
                    self.take(group, color)
        group, free = self.group(at)
        if not free:
            self.take(group, BLACK + WHITE - color)

    def take(self, group, by):
        self.taken[by] += len(group)
        for at in group:
            self.stones[at] = EMPTY


def playout(seed):
    random, board = Random(seed), Board()
    color = BLACK
    for _ in range(120):
        at = random.below(SIZE * SIZE)
        if board.stones[at] == EMPTY:
            board.place(at, color)
        color = BLACK + WHITE - color
    return board.stones.count(BLACK), board.taken[BLACK], board.taken[WHITE]


def main(rounds):
    totals = [0, 0, 0]
    for seed in range(rounds):
        for i, n in enumerate(playout(seed)):
            totals[i] += n
    return totals


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
