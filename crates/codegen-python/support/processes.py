# ------------------------------------------------------------------------------
# Processes, signals, time and locks
# ------------------------------------------------------------------------------

import gc
import signal
import threading
import time


def rpy_os_getenv(name, out):
    value = os.environb.get(bytes(name.chars))
    return -1 if value is None else copy_if_fits(value, out)


def rpy_os_environ(out):
    return copy_if_fits(b''.join(k + b'=' + v + b'\0' for k, v in os.environb.items()), out)


def rpy_os_putenv(name, value):
    return attempt(os.environb.__setitem__, path_of(name), path_of(value))


def rpy_os_unsetenv(name):
    return attempt(lambda: os.environb.pop(path_of(name), None) and None)


def rpy_os_getpid():
    return os.getpid()


# Output for debugging is that of machine code.

def rpy_debug_start(category, timestamp):
    return 0


def rpy_debug_stop(category, timestamp):
    return 0


def rpy_debug_have_prints():
    return False


def rpy_debug_have_prints_for(prefix):
    return False


def rpy_debug_offset():
    return -1


def rpy_debug_flush():
    pass


def rpy_debug_forked(offset):
    pass


def rpy_os_getppid():
    return os.getppid()


def rpy_os_getuid():
    return os.getuid()


def rpy_os_geteuid():
    return os.geteuid()


def rpy_os_getgid():
    return os.getgid()


def rpy_os_getegid():
    return os.getegid()


is_forked = False


def rpy_os_fork():
    global is_forked
    pid = attempt(os.fork)
    is_forked |= pid == 0
    return pid


def rpy_os_waitpid(pid, options):
    def wait():
        pid_of, status = os.waitpid(pid, options)
        return pid_of << 32 | status
    return attempt(wait)


def words_of(s):
    return bytes(s.chars).split(b'\0')[:-1]


def rpy_os_execve(path, args, env):
    pairs = (variable.partition(b'=') for variable in words_of(env))
    variables = {name: value for name, _, value in pairs}
    return attempt(os.execve, path_of(path), words_of(args), variables)


def rpy_os_kill(pid, number):
    return attempt(os.kill, pid, number)


def rpy_os_system(command):
    return attempt(os.system, path_of(command))


def rpy_os_urandom(s):
    s.chars[:] = os.urandom(len(s.chars))
    return len(s.chars)


def rpy_os_exit(code):
    if is_forked:
        os._exit(code & 0xff)
    raise Exit(code)


def rpy_fatal(message):
    raise Fault(bytes(message.chars).decode('latin-1'))


arrived = []
wakeup_fd = -1
wakeup_is_zero = False
wakeup_errno = 0


def note_signal(number, frame=None):
    global wakeup_errno
    if number not in arrived:
        arrived.append(number)
    if wakeup_fd >= 0:
        try:
            os.write(wakeup_fd, bytes([0 if wakeup_is_zero else number]))
        except OSError as error:
            wakeup_errno = error.errno


def rpy_signal_set(number, what):
    handler = (signal.SIG_DFL, signal.SIG_IGN, note_signal)[what]
    return attempt(in_main_thread, lambda: signal.signal(number, handler) and None)


def rpy_signal_poll():
    if not arrived:
        return -1
    arrived.sort()
    return arrived.pop(0)


def rpy_signal_push(number):
    note_signal(number)


def rpy_signal_wakeup_fd(fd, is_zero):
    global wakeup_fd, wakeup_is_zero
    before, wakeup_fd, wakeup_is_zero = wakeup_fd, fd, is_zero
    return before


def rpy_signal_wakeup_errno():
    return wakeup_errno


def rpy_time_time():
    return time.time()


def rpy_time_clock():
    return time.process_time()


def rpy_time_sleep(seconds):
    time.sleep(max(seconds, 0.0))


def rpy_time_clock_ns(clock):
    return attempt(time.clock_gettime_ns, clock)


def timestamp():
    return time.perf_counter_ns()


# One thread runs the program: nobody else holds a lock for long, or gives one back.

locks = {}


def rpy_thread_ident():
    return threading.get_ident()


stack_size = 0


def rpy_thread_stack_size():
    return stack_size


def rpy_thread_set_stack_size(size):
    global stack_size
    if size != 0 and not 32768 <= size < 1 << 47:
        return -1
    stack_size = size
    return 0


def rpy_gil_release():
    pass


def rpy_gil_acquire():
    pass


def rpy_gil_yield():
    pass


def rpy_gil_holder():
    return threading.get_ident()


def rpy_lock_new():
    number = len(locks) + 1
    locks[number] = False
    return number


def rpy_lock_free(number):
    locks[number] = False


def rpy_lock_try(number):
    taken, locks[number] = locks[number], True
    return not taken


def rpy_lock_wait(number, microseconds, interruptible):
    if rpy_lock_try(number):
        return 1
    if microseconds < 0 and not interruptible:
        return 3
    end = None if microseconds < 0 else time.monotonic() + microseconds / 1e6
    while end is None or time.monotonic() < end:
        if interruptible and arrived:
            return 2
        time.sleep(0.001)
    return 0


def rpy_lock_release(number):
    if not locks.get(number):
        return -1
    locks[number] = False
    return 0


# The depth of the stack is Python's own affair.

def rpy_stack_set_length_fraction(fraction):
    pass


def rpy_stack_set_critical(critical):
    pass


def rpy_stack_is_too_big():
    return False


def rpy_stack_is_almost_full():
    return False


def rpy_memory_room(size):
    return size < 1 << 31


def rpy_gc_collect_step():
    return -1


def rpy_gc_dump(fd):
    return False


def rpy_gc_set_enabled(enabled):
    (gc.enable if enabled else gc.disable)()


def rpy_gc_is_enabled():
    return gc.isenabled()


def rpy_gc_stat(number):
    return 0


def rpy_gc_set_most_heap(size):
    pass


def rpy_gc_add_pressure(size):
    pass


# Variables of threads, of which there is one.

thread_words = {}
thread_objects = {}


def rpy_thread_word(number):
    if number not in thread_words:
        thread_words[number] = raw_malloc(8, True)
    return thread_words[number]


def rpy_thread_object(number):
    return thread_objects.get(number)


def rpy_thread_set_object(number, o):
    thread_objects[number] = o
