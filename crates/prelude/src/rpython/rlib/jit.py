"""Hints to the just-in-time compiler. Without one they mean nothing: the decorators
mark functions, and the functions give back what they get."""
from rpython.rlib.nonconst import NonConstant
from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rlib.unroll import unrolling_iterable


# Decorators.

def _contradict(func, first, second):
    raise TypeError("%s cannot be both %s and %s" % (func.__name__, first, second))

def elidable(func):
    """Calls with equal arguments may be merged or left out."""
    if getattr(func, '_jit_unroll_safe_', False):
        _contradict(func, 'elidable', 'unroll_safe')
    func._elidable_function_ = True
    return func

purefunction = elidable

def elidable_promote(promote_args='all'):
    """elidable, with arguments that are promoted first."""
    def decorator(func):
        elidable(func)
        func._elidable_promote_args_ = promote_args
        return func
    return decorator

purefunction_promote = elidable_promote

def dont_look_inside(func):
    if getattr(func, '_jit_unroll_safe_', False):
        _contradict(func, 'dont_look_inside', 'unroll_safe')
    func._jit_look_inside_ = False
    return func

def look_inside(func):
    func._jit_look_inside_ = True
    return func

def unroll_safe(func):
    if getattr(func, '_elidable_function_', False):
        _contradict(func, 'elidable', 'unroll_safe')
    if not getattr(func, '_jit_look_inside_', True):
        _contradict(func, 'dont_look_inside', 'unroll_safe')
    func._jit_unroll_safe_ = True
    return func

def loop_invariant(func):
    """The function takes no argument and returns the same all through a loop."""
    dont_look_inside(func)
    func._jit_loop_invariant_ = True
    return func

def look_inside_iff(predicate):
    """Calls are followed where the predicate, which takes the same arguments, is true."""
    def decorator(func):
        func = unroll_safe(func)
        # Each caller decides by itself.
        func._annspecialcase_ = 'specialize:call_location'
        predicate._annspecialcase_ = 'specialize:call_location'
        # Programs look at the names of the arguments, so it has the same.
        code = func.func_code
        arguments = ', '.join(code.co_varnames[:code.co_argcount])
        names = dict(func=func, predicate=predicate, specialize=specialize,
                     dont_look_inside=dont_look_inside, we_are_jitted=we_are_jitted)
        exec """if 1:
            @dont_look_inside
            @specialize.call_location()
            def trampoline(%(arguments)s):
                return func(%(arguments)s)
            @specialize.call_location()
            def followed_or_not(%(arguments)s):
                if not we_are_jitted() or predicate(%(arguments)s):
                    return func(%(arguments)s)
                return trampoline(%(arguments)s)
        """ % {'arguments': arguments} in names
        followed_or_not = names['followed_or_not']
        followed_or_not.__name__ = func.__name__
        return followed_or_not
    return decorator

def oopspec(spec):
    """What operation on an object the function does, for the compiler."""
    def mark(func):
        func.oopspec = spec
        return func
    return mark

not_in_trace = oopspec('jit.not_in_trace()')

def jit_callback(name):
    def decorator(func):
        return func
    return decorator


# Values.

def hint(x, **kwds):
    return x

def we_are_jitted():
    return False

# Promoted, a value is a constant of the code that is compiled from there on.

def promote_unicode(x):
    return hint(x, promote_unicode=True)

def promote_string(x):
    return hint(x, promote_string=True)

@specialize.argtype(0)
def promote(x):
    return hint(x, promote=True)

@specialize.call_location()
def isconstant(value):
    return NonConstant(False)

@specialize.call_location()
def isvirtual(value):
    return NonConstant(False)

@specialize.call_location()
def loop_unrolling_heuristic(lst, size, cutoff=2):
    return size == 0 or (isconstant(size) and size <= cutoff)

def current_trace_length():
    return -1

def jit_debug(string, arg1=0, arg2=0, arg3=0, arg4=0):
    pass

def assert_green(value):
    pass

class AssertGreenFailed(Exception):
    pass

@specialize.argtype(0)
def record_exact_class(value, cls):
    assert type(value) is cls

@specialize.argtype(0)
def record_exact_value(value, const_value):
    """const_value, which value is as well."""
    assert value == const_value
    return const_value

@specialize.call_location()
def record_known_result(result, func, *args):
    pass

@specialize.call_location()
def conditional_call(condition, function, *args):
    if condition:
        function(*args)

@specialize.call_location()
def conditional_call_elidable(value, function, *args):
    """value, or what the function returns where it is 0 or None."""
    if isinstance(value, int):
        if value == 0:
            value = function(*args)
    # An empty list is there already; an empty string or dict is not.
    elif not isinstance(value, list) and not value:
        value = function(*args)
    return value

# How compiled code spells them.
_jit_conditional_call = conditional_call
_jit_conditional_call_value = conditional_call_elidable

def enter_portal_frame(unique_id):
    pass

def leave_portal_frame():
    pass

@specialize.argtype(0)
def force_virtualizable(virtualizable):
    pass


# References to frames that need not exist.

class InvalidVirtualRef(Exception):
    pass

class DirectVRef(object):
    """A reference that has its object; calling it gives the object. While a program loads
    it checks what a just-in-time compiler would rely on."""

    def __init__(self, x):
        self._state = 'non-forced'
        self._x = x

    def __call__(self):
        if not we_are_translated():
            if self._state == 'invalid':
                raise InvalidVirtualRef
            self._state = 'forced'
        return self._x

    @property
    def virtual(self):
        if we_are_translated():
            return False
        return self._state == 'non-forced'

    def _finish(self):
        if not we_are_translated():
            if self._state == 'non-forced':
                self._state = 'invalid'

DirectJitVRef = DirectVRef

@specialize.argtype(0)
def virtual_ref(x):
    return DirectJitVRef(x)

@specialize.argtype(1)
def virtual_ref_finish(vref, x):
    vref._finish()

@specialize.argtype(0)
def non_virtual_ref(x):
    return DirectVRef(x)

vref_None = non_virtual_ref(None)


# Drivers and parameters.

class JitHintError(Exception):
    """Inconsistency in the JIT hints."""

ENABLE_ALL_OPTS = 'intbounds:rewrite:virtualize:string:pure:earlyforce:heap:unroll'

PARAMETERS = {
    'threshold': 1039, 'function_threshold': 1619, 'trace_eagerness': 200,
    'decay': 40, 'trace_limit': 6000, 'inlining': 1, 'loop_longevity': 1000,
    'retrace_limit': 0, 'pureop_historylength': 16, 'max_retrace_guards': 15,
    'max_unroll_loops': 0, 'disable_unrolling': 200, 'enable_opts': 'all',
    'max_unroll_recursion': 7, 'vec': 0, 'vec_all': 0, 'vec_cost': 0,
}
PARAMETER_DOCS = dict([(name, name.replace('_', ' ')) for name in PARAMETERS])
unroll_parameters = unrolling_iterable(PARAMETERS.items())


class JitDriver(object):
    """Says where an interpreter's loop is. greens are constant while one loop of the
    interpreted program runs; all other live variables are reds."""

    name = 'jitdriver'
    active = True
    inline_jit_merge_point = False
    virtualizables = []

    @not_rpython
    def __init__(self, greens=None, reds=None, virtualizables=None,
                 get_jitcell_at=None, set_jitcell_at=None,
                 get_printable_location=None, confirm_enter_jit=None,
                 can_never_inline=None, should_unroll_one_iteration=None,
                 name='jitdriver', check_untranslated=True, vectorize=False,
                 get_unique_id=None, is_recursive=False, get_location=None):
        if greens is not None:
            self.greens = greens
        self.name = name
        self.autoreds = reds == 'auto'
        if self.autoreds:
            # Those are found out.
            assert confirm_enter_jit is None, "confirm_enter_jit needs to know the reds"
            self.reds, self.numreds = [], None
        else:
            if reds is not None:
                self.reds = reds
            for kind in ('greens', 'reds'):
                if not hasattr(self, kind):
                    raise AttributeError("no '%s' supplied" % (kind,))
                if isinstance(getattr(self, kind), str):
                    raise TypeError("%s is a list of names, not a string" % (kind,))
            self.numreds = len(self.reds)
        if virtualizables is not None:
            self.virtualizables = virtualizables
        for v in self.virtualizables:
            assert v in self.reds, "the virtualizable %s is no red variable" % (v,)
        self.check_untranslated = check_untranslated
        self.is_recursive = is_recursive
        self.vec = vectorize
        # Functions of the greens.
        self.can_never_inline = can_never_inline
        self.confirm_enter_jit = confirm_enter_jit
        self.get_location = get_location
        self.get_printable_location = get_printable_location
        self.get_unique_id = get_unique_id
        self.has_unique_id = get_unique_id is not None
        self.should_unroll_one_iteration = should_unroll_one_iteration

    def _freeze_(self):
        return True

    # Calls of these two name the live variables; the annotator leaves those out.

    def jit_merge_point(_self, **live_variables):
        pass

    def can_enter_jit(_self, **live_variables):
        pass

    def loop_header(self):
        pass

    def inline(self, call_jit_merge_point):
        def decorate(func):
            func._inline_jit_merge_point_ = call_jit_merge_point
            return func
        return decorate


class TraceLimitTooHigh(Exception):
    pass

@specialize.arg(0, 1)
def set_param(driver, name, value):
    """None as driver stands for all of them."""
    pass

@specialize.arg(0, 1)
def set_param_to_default(driver, name):
    pass

@specialize.arg(0)
def set_user_param(driver, text):
    """Sets what 'name=value,name=value', 'off' or 'default' says."""
    if text == 'default':
        for parameter, _ in unroll_parameters:
            set_param_to_default(driver, parameter)
    elif text == 'off':
        # What is negative is never reached.
        set_param(driver, 'function_threshold', -1)
        set_param(driver, 'threshold', -1)
    else:
        for setting in text.split(','):
            _set_user_param(driver, setting.strip(' '))

@specialize.arg(0)
def _set_user_param(driver, setting):
    """One 'name=value'. The name of a parameter is a constant of set_param()."""
    sides = setting.split('=')
    if len(sides) != 2:
        raise ValueError
    name, value = sides[0], sides[1]
    for parameter, _ in unroll_parameters:
        if parameter == name:
            if parameter == 'enable_opts':
                set_param(driver, parameter, value)
            else:
                set_param(driver, parameter, int(value))
            return
    raise ValueError


# What hooks get to see; none is ever called.

class AsmInfo(object):
    """Where compiled code lies."""

    def __init__(self, ops_offset, asmaddr, asmlen, rawstart=0):
        self.asmaddr, self.asmlen, self.rawstart = asmaddr, asmlen, rawstart
        self.ops_offset = ops_offset

class JitDebugInfo(object):
    asminfo = None

class JitHookInterface(object):
    def on_abort(self, reason, jitdriver, greenkey, greenkey_repr, logops, operations):
        pass

    def before_compile(self, debug_info):
        pass

    def after_compile(self, debug_info):
        pass

    def before_compile_bridge(self, debug_info):
        pass

    def after_compile_bridge(self, debug_info):
        pass

class Counters(object):
    counters = """
    TRACING BACKEND OPS RECORDED_OPS GUARDS OPT_OPS OPT_GUARDS OPT_FORCINGS
    OPT_VECTORIZE_TRY OPT_VECTORIZED ABORT_TOO_LONG ABORT_BRIDGE ABORT_BAD_LOOP
    ABORT_ESCAPE ABORT_FORCE_QUASIIMMUT ABORT_SEGMENTED_TRACE FORCE_VIRTUALIZABLES
    NVIRTUALS NVHOLES NVREUSED TOTAL_COMPILED_LOOPS TOTAL_COMPILED_BRIDGES
    TOTAL_FREED_LOOPS TOTAL_FREED_BRIDGES
    """.split()

for _number, _name in enumerate(Counters.counters):
    setattr(Counters, _name, _number)
Counters.counter_names = list(Counters.counters)
Counters.ncounters = len(Counters.counters)
