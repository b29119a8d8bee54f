import importlib
import os
import resource
import sys
import threading

import other
import state


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# Two modules have two heaps, and nothing in common.
for i in range(5000):
    assert state.push('s%d' % i) == i + 1
    assert other.push('o%d' % i) == -i - 1
assert state.garbage(10**6) > 0
assert [state.pop() for _ in range(5000)] == ['s%d' % i for i in reversed(range(5000))]
assert other.pop() == 'o4999'
for module in (state, other):
    try:
        module.pop() and [module.pop() for _ in range(5000)]
    except IndexError:
        pass
    else:
        assert False

# Loaded again it is the same one.
state.push('kept')
assert importlib.reload(state) is state and state.pop() == 'kept'
state.push('kept')
del sys.modules['state']
again = importlib.import_module('state')
assert again.pop() == 'kept'

# Calls leave nothing behind.
def work(n):
    for i in range(n):
        state.push('x' * 50)
        state.pop()
        try:
            state.pop()
        except IndexError:
            pass


work(3000)
state.garbage(10**6)
before = peak()
work(20000)
state.garbage(3 * 10**6)
assert peak() - before < 8 << 10, peak() - before

# Any thread may call: each has its own stack.
assert state.depth(10000) == 10000
failures = []


def thread(k):
    try:
        for i in range(200):
            assert state.depth(50 + k) == 50 + k
            assert state.garbage(100) == 190
        try:
            state.depth(10**9)
        except RuntimeError:
            pass
        else:
            assert False
    except BaseException as e:
        failures.append(e)


threading.stack_size(1 << 20)
for turn in range(5):
    threads = [threading.Thread(target=thread, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
assert not failures, failures
state.push('after')
before = peak()
for i in range(500):
    t = threading.Thread(target=state.garbage, args=(10,))
    t.start()
    t.join()
assert peak() - before < 8 << 10, peak() - before
assert state.pop() == 'after'

# A fork has a heap of its own.
state.push('parent')
child = os.fork()
if child == 0:
    ok = state.pop() == 'parent' and state.garbage(10**5) > 0
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
assert state.pop() == 'parent'

# So does one of a thread that was never there.
result = []


def forks():
    child = os.fork()
    if child == 0:
        os._exit(0 if state.depth(100) == 100 and state.garbage(10**5) > 0 else 1)
    result.append(os.waitpid(child, 0)[1])


t = threading.Thread(target=forks)
t.start()
t.join()
assert result == [0]

# Other interpreters are refused.
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
one = interpreters.create()
script = '''
import sys
sys.path.insert(0, %r)
try:
    import state
except ImportError as e:
    assert 'interpreter' in str(e), e
else:
    raise SystemExit('it was imported')
''' % os.path.dirname(os.path.abspath(state.__file__))
said = interpreters.run_string(one, script)
assert said is None, said
interpreters.destroy(one)
