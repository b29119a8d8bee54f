# ------------------------------------------------------------------------------
# How programs begin and end
# ------------------------------------------------------------------------------

import json
import queue
import traceback

# How many calls may be active before StackOverflow is raised.
DEEPEST = 20000

# Up to 3.10 each call of Python takes a piece of the machine stack.
NEEDS_STACK = sys.version_info < (3, 11)

requests = queue.Queue()


def in_main_thread(action):
    """What only the main thread may do."""
    if threading.current_thread() is threading.main_thread():
        return action()
    answer = queue.Queue()
    requests.put((action, answer))
    result, error = answer.get()
    if error is not None:
        raise error
    return result


def with_deep_stack(program):
    """Runs a function that may call deeply, and returns what it returns."""
    sys.setrecursionlimit(DEEPEST + 100)
    if not NEEDS_STACK:
        return program()
    result = []

    def run():
        result.append(program())
        requests.put(None)

    threading.stack_size(512 << 20)
    threading.Thread(target=run, daemon=True).start()
    while True:
        request = requests.get()
        if request is None:
            return result[0]
        action, answer = request
        try:
            answer.put((action(), None))
        except Exception as error:
            answer.put((None, error))


def end(code):
    """Ends the process, with what C's files still hold written."""
    process['fflush'](None)
    os._exit(code & 0xff)


def fatal(text):
    process['fflush'](None)
    os.write(2, text.encode('utf-8', 'surrogateescape'))
    os.abort()


def functions_of(error):
    """Where an exception went through functions of the program, outermost first."""
    return [f for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]


def start(entry, argv):
    """Enters a program, and ends the process."""
    def run():
        try:
            if argv is None:
                return entry()
            words = [string(os.fsencode(a)) for a in sys.argv]
            if argv is list:
                return entry(words)
            return entry(made(argv, length=len(words), items=words))
        except Exit as error:
            return error.code
        except (Raised, RecursionError) as error:
            text = 'RPython traceback:\n'
            for f in functions_of(error)[-100:]:
                text += '  line %d of %s, in %s\n' % (f.lineno, os.path.basename(f.filename), f.name)
            fatal(text + 'Fatal RPython error: %s\n' % raised(error).name().split('.')[-1])
        except Exception as error:
            fatal(traceback.format_exc() + 'Fatal RPython error: %s\n' % error)

    code = with_deep_stack(run)
    end(code if code is not None else 0)


def answer(call, shown):
    """Calls a function, and prints what it returns or raises as a line of JSON."""
    def run():
        try:
            return {'ok': shown_value(call(), shown)}
        except Exit as error:
            return {'raises': 'SystemExit(%d)' % error.code, 'traceback': []}
        except (Raised, RecursionError) as error:
            names = [f.name for f in functions_of(error)][::-1]
            names = [name for name in names if not name.startswith(('<', 'run'))]
            return {'raises': raised(error).name().split('.')[-1], 'traceback': names[:100]}
        except Exception as error:
            return {'fault': '%s: %s' % (type(error).__name__, error), 'trace': traceback.format_exc()}

    line = json.dumps(with_deep_stack(run))
    process['fflush'](None)
    print('\n\x00' + line, flush=True)
    os._exit(0)


def shown_value(value, shown):
    """A value for JSON, as its type says."""
    kind = shown[0]
    if kind == 'text':
        return None if value is None or type(value) is int and value == 0 else shown[1]
    if kind == 'none' or value is None:
        return None
    if kind == 'number':
        inside = type(value) is bool or -1 << 63 <= value < 1 << 64
        return value if inside else str(value)
    if kind == 'float':
        if value != value:
            return 'nan'
        if abs(value) == INFINITY:
            return 'inf' if value > 0 else '-inf'
        # Exact, whatever reads it.
        return '\x00%d' % bits_of_float(value)
    if kind == 'char':
        return chr(value)
    if kind == 'unichar':
        return text_of([value])
    if kind == 'str':
        return value.chars.decode('latin-1')
    if kind == 'unicode':
        return text_of(value.chars)
    if kind == 'items':
        return [shown_value(v, shown[1]) for v in value]
    if kind == 'list':
        items = getattr(value, shown[2])
        return [shown_value(v, shown[3]) for v in items[:getattr(value, shown[1])]]
    if kind == 'range':
        step = getattr(value, shown[3]) if type(shown[3]) is str else shown[3]
        return list(range(getattr(value, shown[1]), getattr(value, shown[2]), step))
    if kind == 'tuple':
        return [shown_value(getattr(value, name), item) for name, item in shown[1]]
    name = getattr(getattr(value, shown[1]), shown[2])
    return '<%s object>' % name.chars.decode('utf-8', 'replace')


def text_of(chars):
    return ''.join(chr(c) if c < 0x110000 and not 0xd800 <= c < 0xe000 else '\ufffd' for c in chars)
