"""The sampling profiler, which does not sample: its hooks have no effect."""
from rpython.rtyper.lltypesystem.rffi import NULL

MAX_FUNC_NAME = 1023


class VMProfError(Exception):
    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return self.msg


class VMProfPlatformUnsupported(Exception):
    pass


def register_code_object_class(CodeClass, full_name_func):
    pass


def register_code(code, name):
    pass


def get_unique_id(code):
    return 0


def vmprof_execute_code(name, get_code_fn, result_class=None,
                        _hack_update_stack_untranslated=False):
    """Decorates the function that runs a code object."""
    def decorate(func):
        return func
    return decorate


def enable(fileno, interval, memory=0, native=0, real_time=0):
    raise VMProfError("this program was compiled without the profiler")


def disable():
    pass


def start_sampling():
    pass


def stop_sampling():
    return 0


def is_enabled():
    return False


def get_profile_path(space):
    return None

# The stack of code objects that a profile shows, for programs that switch stacks.

def save_stack():
    return NULL

def empty_stack():
    pass

def restore_stack(x):
    pass
