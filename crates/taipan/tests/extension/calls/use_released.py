import os
import threading
import time
import traceback

import released

names = ['a%d' % i for i in range(7)]
expected = {name: 100 for name in names}
failures = []


def check(f, *args):
    try:
        f(*args)
    except BaseException as e:
        failures.append(e)


def spins(k):
    for i in range(50):
        assert released.spin(700, ['%s-%d' % (n, k) for n in names]) == {
            '%s-%d' % (n, k): 100 for n in names}
        assert released.held('a0-%d' % k) >= 0
        assert released.held('none') == -1
        assert released.depth(100) == 100
        try:
            released.fails(3)
        except ValueError as e:
            frames = traceback.extract_tb(e.__traceback__)[1:]
            assert [f.name for f in frames] == ['fails'], frames
            assert not frames[0].line.startswith('def'), frames
        else:
            assert False


def run(threads):
    for t in threads:
        t.start()
    for t in threads:
        t.join()


spins(0)
run([threading.Thread(target=check, args=(spins, k)) for k in range(8)])
assert not failures, failures

# Python goes on while such a function runs.
running = threading.Thread(target=released.spin, args=(30 * 10**6, names))
ticks = 0
running.start()
while running.is_alive():
    time.sleep(0.001)
    ticks += 1
assert ticks > 10, ticks

# A fork that interrupts one says so, and does not hang.
running = threading.Thread(target=released.spin, args=(30 * 10**6, names))
running.start()
time.sleep(0.05)
child = os.fork()
if child == 0:
    try:
        released.held('x')
    except RuntimeError as e:
        os._exit(0 if 'forked' in str(e) else 2)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
running.join()
assert released.held('a0') >= 0
child = os.fork()
if child == 0:
    os._exit(0 if released.held('a0') >= 0 else 1)
assert os.waitpid(child, 0)[1] == 0
