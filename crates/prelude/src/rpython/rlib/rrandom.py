"""The Mersenne Twister MT19937, with the numbers of CPython's `random`."""
from rpython.rlib.rarithmetic import r_uint, intmask

N = 624
M = 397
WORD = r_uint(0xffffffff)
UPPER_MASK = r_uint(0x80000000)
LOWER_MASK = r_uint(0x7fffffff)
TWIST = r_uint(0x9908b0df)


class Random(object):
    """A generator. `state` are N words of 32 bits, of which `index` have been used."""

    def __init__(self, seed=r_uint(0)):
        self.state = [r_uint(0)] * N
        self.index = 0
        self.init_genrand(seed)

    def init_genrand(self, s):
        """Starts from one word."""
        state = self.state
        word = s & WORD
        state[0] = word
        for i in range(1, N):
            word = (r_uint(1812433253) * (word ^ (word >> 30)) + r_uint(i)) & WORD
            state[i] = word
        self.index = N

    def init_by_array(self, init_key):
        """Starts from a list of words."""
        self.init_genrand(r_uint(19650218))
        state = self.state
        length = len(init_key)
        i = 1
        j = 0
        for _ in range(max(N, length)):
            last = state[i - 1]
            mixed = state[i] ^ ((last ^ (last >> 30)) * r_uint(1664525))
            state[i] = (mixed + init_key[j] + r_uint(j)) & WORD
            i += 1
            j += 1
            if i == N:
                state[0] = state[N - 1]
                i = 1
            if j == length:
                j = 0
        for _ in range(N - 1):
            last = state[i - 1]
            mixed = state[i] ^ ((last ^ (last >> 30)) * r_uint(1566083941))
            state[i] = (mixed - r_uint(i)) & WORD
            i += 1
            if i == N:
                state[0] = state[N - 1]
                i = 1
        state[0] = UPPER_MASK

    def _twist(self):
        state = self.state
        for i in range(N):
            following = i + 1
            if following == N:
                following = 0
            far = i + M
            if far >= N:
                far -= N
            y = (state[i] & UPPER_MASK) | (state[following] & LOWER_MASK)
            word = state[far] ^ (y >> 1)
            if y & r_uint(1):
                word ^= TWIST
            state[i] = word

    def genrand32(self):
        """The next 32 random bits, as r_uint."""
        if self.index >= N:
            self._twist()
            self.index = 0
        y = self.state[self.index]
        self.index += 1
        y ^= y >> 11
        y ^= (y << 7) & r_uint(0x9d2c5680)
        y ^= (y << 15) & r_uint(0xefc60000)
        return y ^ (y >> 18)

    def random(self):
        """A float from 0 up to but not including 1, with 53 random bits."""
        high = intmask(self.genrand32() >> 5)
        low = intmask(self.genrand32() >> 6)
        return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)

    def jumpahead(self, n):
        """Scrambles the state by the number."""
        state = self.state
        for i in range(N - 1, 1, -1):
            j = n % i
            state[i], state[j] = state[j], state[i]
        for i in range(N):
            state[i] = (state[i] + r_uint(i + 1)) & WORD
        self.index = N
