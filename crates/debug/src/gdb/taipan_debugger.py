"""The command `-taipan` of gdb's machine interface: one object of JSON in, `do` says which function, JSON out."""

import json
import os
import re

import gdb
import taipan_expressions as expressions
import taipan_printers as printers
import taipan_values as values

# The settings of this session: offsets in `rpy_state` and the like, given by `begin`.
settings = {}

# Why the program has stopped, as the breakpoints here know it.
reasons = []

# Breakpoints by their number in the editor.
breakpoints = {}

# First character of lines on gdb's console that are meant for the editor.
NOTE = '\x01'


def forget(event):
    reasons.clear()


gdb.events.cont.connect(forget)


def note(**what):
    """Tells the editor something while the program runs."""
    gdb.write(NOTE + json.dumps(what) + '\n')


# Breakpoints

class Stop(gdb.Breakpoint):
    """A breakpoint of the editor: a line or a function, with a condition, a number of times and a log message."""

    def __init__(self, id, condition, times, log, **where):
        self.id, self.only_if, self.times, self.log = id, condition, Times(times), log
        super().__init__(**where)

    def stop(self):
        frame = gdb.newest_frame()
        if self.only_if:
            try:
                if not expressions.truth(expressions.evaluate(self.only_if, frame)):
                    return False
            except expressions.Problem as problem:
                note(output='condition %s: %s\n' % (self.only_if, problem))
        if not self.times.another():
            return False
        if self.log:
            note(output=logged(self.log, frame) + '\n')
            return False
        reasons.append({'kind': 'breakpoint', 'id': self.id})
        return True


class Times:
    """`3` or `>= 3`: from the third time on; `== 3`, `< 3`, `% 3`."""

    def __init__(self, text):
        self.count = 0
        found = re.fullmatch(r'\s*(>=|==|<=|>|<|=|%)?\s*(\d+)\s*', text or '>= 0')
        if found is None or found.group(1) == '%' and int(found.group(2)) == 0:
            raise gdb.GdbError('%s: a number of times is N, >= N, > N, == N, <= N, < N or %% N' % text)
        self.sign, self.number = found.group(1) or '>=', int(found.group(2))

    def another(self):
        self.count += 1
        if self.sign == '%':
            return self.count % self.number == 0
        more, same = self.count > self.number, self.count == self.number
        return same and '=' in self.sign or more and '>' in self.sign or not more and not same and '<' in self.sign


def logged(message, frame):
    """A log message with the values of what stands in braces."""
    def value(found):
        try:
            return spoken(expressions.evaluate(found.group(1), frame))
        except expressions.Problem as problem:
            return '{%s: %s}' % (found.group(1), problem)
    return re.sub(r'\{([^{}]*)\}', value, message)


def spoken(value):
    """A value as `print` writes it."""
    value = values.plain(value)
    if isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    return value if isinstance(value, str) else values.text(value)


def set_breakpoint(id, condition=None, times=None, log=None, path=None, line=0, function=None):
    try:
        where = {'function': function} if function else {'source': path, 'line': line}
        made = Stop(id, condition, times, log, **where)
    except (gdb.error, gdb.GdbError, RuntimeError) as error:
        return {'verified': False, 'message': str(error), 'line': line}
    places = [p for p in made.locations if p.source is not None]
    if made.pending or not places and not function:
        made.delete()
        return {'verified': False, 'message': 'no code of the program comes from this line', 'line': line}
    breakpoints[id] = made
    at = places[0].source[1] if places else 0
    return {'verified': True, 'message': '', 'line': at}


def remove_breakpoints(ids):
    for id in ids:
        made = breakpoints.pop(id, None)
        if made is not None and made.is_valid():
            made.delete()
    return {}


# Exceptions

def state(offset):
    """An address in the state that code and runtime share."""
    return '((char *)&rpy_state + %d)' % offset


def word(offset):
    return int(gdb.parse_and_eval('*(unsigned long *)' + state(offset)))


# Offset of the last entry of the traceback, and the mark of an exception that was caught before.
RERAISED = 2


def entry(back):
    """The place of the entry that was recorded `back` entries ago."""
    number = (word(settings['traceback_count']) - back) % settings['traceback_depth']
    return word(settings['traceback'] + 16 * number)


class Raised(gdb.Breakpoint):
    """Stops where an exception is raised: the current exception changes, whose class is there first."""

    def __init__(self):
        where = '*(unsigned long *)' + state(settings['exc_value'])
        super().__init__(where, type=gdb.BP_WATCHPOINT, wp_class=gdb.WP_WRITE, internal=True)
        self.silent = True

    def stop(self):
        name = exception_name()
        # The end of an iteration is no error.
        if name in (None, 'StopIteration') or word(settings['traceback_count']) and entry(1) == RERAISED:
            return False
        reasons.append({'kind': 'raised', 'name': name, 'text': exception_text()})
        return True


raised = None


def catch(all):
    """Stops where exceptions are raised from here on, or not."""
    global raised
    if all and raised is None:
        raised = Raised()
    elif not all and raised is not None:
        raised.delete()
        raised = None
    return {}


def exception_name():
    """The name of the class of the current exception; None without one."""
    vtable = word(settings['exc_type'])
    if not vtable:
        return None
    # A name is the third word of a vtable, and a string has its characters behind three words.
    name = int(gdb.parse_and_eval('((unsigned long *)%d)[2]' % vtable))
    start = gdb.parse_and_eval('(char *)%d' % name)
    memory = gdb.selected_inferior()
    length = int.from_bytes(memory.read_memory(int(start) + settings['string_length'], 8), 'little')
    return bytes(memory.read_memory(int(start) + settings['string_chars'], length)).decode('utf-8', 'replace')


def exception_text():
    """The current exception as a value."""
    try:
        base = gdb.lookup_type('struct object').pointer()
    except gdb.error:
        return exception_name()
    return values.text(gdb.Value(word(settings['exc_value'])).cast(base))


def traceback():
    """The recorded way of the current exception, innermost function first."""
    found = []
    memory = gdb.selected_inferior()
    for back in range(1, min(word(settings['traceback_count']), settings['traceback_depth']) + 1):
        at = entry(back)
        if at == 0:
            break
        if at <= RERAISED:
            continue
        file, function, line = (int(gdb.parse_and_eval('((unsigned long *)%d)[%d]' % (at, i))) for i in range(3))
        file, function = (gdb.parse_and_eval('(char *)%d' % s).string() for s in (file, function))
        found.append({'name': function, 'path': file if os.path.exists(file) else '', 'line': line, 'level': -1})
    return found[::-1]


# Frames

def frame_of(thread, level):
    """The frame of a thread that many calls up."""
    switch(thread)
    frame = gdb.newest_frame()
    for _ in range(level):
        frame = frame.older()
        if frame is None:
            raise gdb.GdbError('there is no such frame any more')
    return frame


def switch(thread):
    for t in gdb.selected_inferior().threads():
        if t.num == thread:
            t.switch()
            return
    raise gdb.GdbError('there is no thread %d' % thread)


def frames(thread, start, levels):
    """The frames of a thread from `start` on, at most `levels` if that is not 0, and their number so far."""
    switch(thread)
    found = traceback() if reasons and reasons[0]['kind'] == 'uncaught' else []
    end = start + levels if levels else None
    frame, level = gdb.newest_frame(), 0
    while frame is not None and (end is None or len(found) <= end):
        found.append(shown_frame(frame, level))
        frame, level = frame.older(), level + 1
    return {'frames': found[start:end], 'total': len(found)}


def shown_frame(frame, level):
    place = frame.find_sal()
    path = place.symtab.fullname() if place.symtab is not None else ''
    if not os.path.exists(path):
        path = ''
    name = printers.HASH.sub('', frame.name() or '%#x' % frame.pc())
    return {'name': name, 'path': path, 'line': place.line if path else 0, 'level': level}


def scope(thread, level):
    """The variables of a frame."""
    if level < 0:
        return []
    return [values.describe(name, value, name) for name, value in expressions.variables(frame_of(thread, level))]


def evaluate(thread, level, expression):
    try:
        value = expressions.evaluate(expression, frame_of(thread, level))
    except expressions.Problem as problem:
        raise gdb.GdbError(str(problem))
    return values.describe(expression, value, '(%s)' % expression)


def threads():
    known = sorted(gdb.selected_inferior().threads(), key=lambda t: t.num)
    return [{'id': t.num, 'name': 'main' if t.num == 1 else 'thread %d' % t.num} for t in known]


# Where and why the program is

def begin(**given):
    settings.update(given)
    gdb.Breakpoint('rpy_main', internal=True, temporary=True)
    return {}


def entry_point():
    """Stops where the entry point starts: the table of the program, the third argument here, begins with it."""
    register = 'x2' if 'aarch64' in gdb.selected_frame().architecture().name() else 'rdx'
    address = int(gdb.parse_and_eval('*(unsigned long *)$%s' % register))
    Entry('*%d' % address, internal=True, temporary=True)
    return {}


class Entry(gdb.Breakpoint):
    def stop(self):
        reasons.append({'kind': 'entry'})
        return True


def why(signal):
    """Why the program has stopped. An executable aborts by an exception that nothing has caught."""
    if not reasons and signal == 'SIGABRT' and word(settings['exc_type']):
        reasons.append({'kind': 'uncaught', 'name': exception_name(), 'text': exception_text()})
    return {'reasons': reasons, 'place': place(gdb.newest_frame())}


def place(frame):
    """Where the program is: in a line of RPython (`here`), in what such a line has called, or `outside` of all."""
    if shown_frame(frame, 0)['path']:
        return 'here'
    while frame is not None:
        if shown_frame(frame, 0)['path']:
            return 'elsewhere'
        frame = frame.older()
    return 'outside'


COMMANDS = {f.__name__: f for f in (
    begin, set_breakpoint, remove_breakpoints, catch, frames, scope, evaluate, threads, entry_point, why,
    values.children, values.named_children)}


class Command(gdb.MICommand):
    def invoke(self, argv):
        request = json.loads(argv[0])
        function = COMMANDS[request.pop('do')]
        try:
            return {'json': json.dumps(function(**request))}
        except (gdb.error, RuntimeError) as error:
            raise gdb.GdbError(str(error))


Command('-taipan')
