"""Numbers that look random and are the same every time."""
from _taipan import random


class Random(object):
    def __init__(self, seed=None):
        pass

    def seed(self, seed=None):
        pass

    def random(self):
        return random()

    def randrange(self, start, stop=None, step=1):
        numbers = range(start) if stop is None else range(start, stop, step)
        return numbers[int(random() * len(numbers))]

    def randint(self, low, high):
        return low + int(random() * (high - low + 1))

    def choice(self, items):
        return items[int(random() * len(items))]

    def shuffle(self, items):
        for i in reversed(range(1, len(items))):
            j = int(random() * (i + 1))
            items[i], items[j] = items[j], items[i]

    def sample(self, items, n):
        items = list(items)
        self.shuffle(items)
        return items[:n]

    def uniform(self, low, high):
        return low + (high - low) * random()

    def getrandbits(self, bits):
        n = 0
        for i in range(bits):
            n = 2 * n + int(random() * 2)
        return n


_random = Random()
seed = _random.seed
randrange = _random.randrange
randint = _random.randint
choice = _random.choice
shuffle = _random.shuffle
sample = _random.sample
uniform = _random.uniform
getrandbits = _random.getrandbits

# What the compiler says where translated code calls these.
for _function in [Random.__init__, Random.seed, Random.random, Random.randrange, Random.randint, Random.choice,
                  Random.shuffle, Random.sample, Random.uniform, Random.getrandbits]:
    _function.im_func._instead_ = 'use `Random(seed)` of rpython.rlib.rrandom'
