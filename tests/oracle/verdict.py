"""Lets the original toolchain say which cases made of plain Python are RPython.

Python 2.7. usage: verdict.py CASES [NAMES]

Tests that call library code as plain Python, and tests that are plain Python as a
whole, need not be RPython at all, and may work on what the recording process had: open
files, its environment, its clock. Each such case

- is run once more, in another process and directory, without any open file; if that gives
  something else, or takes long, it makes no case;
- is annotated, rtyped and interpreted by the original toolchain. What comes out is what is
  expected from then on; where the interpreter cannot tell (it knows few C functions),
  what plain Python gives. What the toolchain rejects becomes one case that expects to be
  rejected. Where it fails for other reasons, nobody knows, and it makes no case.

Cases that come from the original interpreter are interpreted once more as well, or run
where it cannot tell, and make no case if that gives something else.

NAMES is a file with the names of cases to ask about, if not all of them: where Taipan
gives what plain Python gives, there is little to ask. CASES/cases.jsonl is written anew;
what it was stays in recorded.jsonl, and dropped.txt says what is no case, and why. Cases
of kind 'made' (by make.py) are asked about only; where the toolchain fails on them it
rejects them, too. One process imports the toolchain and forks for each question; answers are kept in
answers.jsonl, so that a run that was ended goes on where it was.
"""
import ast
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback

from values import outcome, plain

# Calls that take longer wait for something.
SECONDS_TO_RUN = 20
# Of the processor: annotation of most functions takes three.
SECONDS_TO_TRANSLATE = 100
# Kinds of cases that plain Python has made.
PLAIN = ('plain', 'test')
# What floats are that have no literal.
NO_LITERALS = {'inf': float('inf'), '-inf': float('-inf'), 'nan': float('nan')}


class TooSlow(BaseException):
    """Passes through code that catches all exceptions."""


def too_slow(*_):
    raise TooSlow


def in_child(clock, seconds, work, *args):
    """What `work(*args)` returns in a process of its own, which JSON can write; None if
    it takes longer than that by a clock, or the process ends."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        with os.fdopen(reading) as f:
            text = f.read()
        os.waitpid(pid, 0)
        return json.loads(text) if text else None
    folder = tempfile.mkdtemp()
    try:
        # Not among the first: programs may open, close and count those.
        os.dup2(writing, 63)
        for fd in range(3, 63) + range(64, 256):
            try:
                os.close(fd)
            except OSError:
                pass
        silence = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(silence, fd)
        os.close(silence)
        os.chdir(folder)
        # The handler is of no use in code that is stuck in C.
        signal.signal(signal.SIGALRM, too_slow)
        signal.signal(signal.SIGPROF, too_slow)
        signal.setitimer(clock, seconds)
        text = json.dumps(work(*args), encoding='latin-1')
        signal.setitimer(clock, 0)
        os.write(63, text)
    finally:
        shutil.rmtree(folder, True)
        os._exit(0)


def argument(text):
    """The value of an argument. A number that fits an int is one."""
    value = NO_LITERALS[text] if text in NO_LITERALS else ast.literal_eval(text)
    return int(value) if isinstance(value, long) else value


def load(case):
    space = {'__name__': 'case'}
    with open(case['file']) as f:
        exec compile(f.read(), case['file'], 'exec', 0, True) in space
    return space[case['func']]


def run_again(case):
    """The outcome of a case as plain Python."""
    func = load(case)
    args = [argument(a) for a in case['args']]
    try:
        return outcome(func(*args))
    except Exception as e:
        return {'raises': type(e).__name__}


def translate(cases):
    """What the original toolchain says of the function that these cases call: 'accepted',
    or how it fails; and, by id, what comes out where that is known."""
    from rpython.annotator.model import AnnotatorError
    from rpython.flowspace.flowcontext import FlowingError
    from rpython.rtyper.error import TyperError
    from rpython.translator.translator import TranslationContext
    func = load(cases[0])
    inputs = [kind_of(argument(a)) for a in cases[0]['args']]
    context = TranslationContext(list_comprehension_operations=True)
    try:
        context.buildannotator().build_types(func, inputs)
        context.buildrtyper().specialize()
    except (AnnotatorError, FlowingError, TyperError) as e:
        return 'rejected: ' + first_line(e), {}
    except Exception as e:
        at = traceback.extract_tb(sys.exc_info()[2])[-1]
        if isinstance(e, ValueError) and 'flowspace' in at[0]:
            return 'rejected: ' + first_line(e), {}
        return 'failed: %s at %s:%d: %s' % (type(e).__name__, at[0], at[1], first_line(e)), {}
    found = {}
    try:
        for case in cases:
            found[case['id']] = interpret(context, func, case)
    except TooSlow:
        pass
    return 'accepted', found


def interpret(context, func, case):
    """The outcome of a case in the original low-level interpreter; None if it fails."""
    from rpython.rtyper.llinterp import LLException, LLInterpreter
    from rpython.rtyper.test.tool import BaseRtypingTest
    from rpython.translator.translator import graphof
    convert = {str: BaseRtypingTest.string_to_ll, unicode: BaseRtypingTest.unicode_to_ll}
    try:
        args = [argument(a) for a in case['args']]
        args = [convert.get(type(a), lambda a: a)(a) for a in args]
        interpreter = LLInterpreter(context.rtyper)
        try:
            return outcome(plain(interpreter.eval_graph(graphof(context, func), args)))
        except LLException as e:
            return {'raises': raised(interpreter, e)}
    except Exception:
        return None


def raised(interpreter, exception):
    try:
        return interpreter.find_exception(exception).__name__
    except ValueError:  # Python does not have that class
        return ''.join(exception.args[0].name.chars).rstrip('\0')


def kind_of(value):
    """The annotation of an argument, as the annotator takes it."""
    if isinstance(value, list):
        return [type(value[0])] if value else [int]
    return type(value)


def first_line(e):
    lines = [l.strip() for l in str(e).split('\n') if l.strip()]
    return lines[0][:200] if lines else type(e).__name__


def question(case):
    """Cases with the same are the same to the annotator."""
    with open(case['file']) as f:
        text = f.read()
    kinds = [repr(kind_of(argument(a))) for a in case['args']]
    return text, case['func'], tuple(kinds)


class Answers(object):
    """What was answered so far, by the question's name."""

    def __init__(self, path):
        self.known = {}
        if os.path.exists(path):
            with open(path) as f:
                self.known.update(json.loads(line) for line in f)
        self.file = open(path, 'a')

    def ask(self, name, clock, seconds, work, *args):
        if name not in self.known:
            self.known[name] = in_child(clock, seconds, work, *args)
            self.file.write(json.dumps((name, self.known[name])) + '\n')
            self.file.flush()
        return self.known[name]


def judge(folder, names):
    recorded = os.path.join(folder, 'recorded.jsonl')
    noted = os.path.join(folder, 'cases.jsonl')
    if not os.path.exists(recorded):
        shutil.copy(noted, recorded)
    with open(recorded) as f:
        cases = [json.loads(line) for line in f]
    import_toolchain()
    answers = Answers(os.path.join(folder, 'answers.jsonl'))
    dropped, questions = {}, {}
    for case in cases:
        if case['kind'] == 'annotation' or names is not None and case['id'] not in names:
            continue
        if case['kind'] in PLAIN:
            again = answers.ask('run ' + case['id'], signal.ITIMER_REAL, SECONDS_TO_RUN,
                                run_again, case)
            if again != case['expect']:
                dropped[case['id']] = 'gives %s elsewhere' % (again,)
                continue
        questions.setdefault(question(case), []).append(case)
    for same in questions.itervalues():
        answer = answers.ask('translate ' + same[0]['id'], signal.ITIMER_PROF,
                             SECONDS_TO_TRANSLATE, translate, same)
        verdict, found = answer or ('failed: too slow', {})
        for i, case in enumerate(same):
            if case['kind'] == 'made':
                if verdict == 'accepted':
                    case['expect'] = found.get(case['id'])
                elif 'too slow' not in verdict and i == 0:
                    case.update(expect={'error': True}, verdict=verdict)
                if not case['expect']:
                    dropped[case['id']] = verdict
            elif case['kind'] not in PLAIN:
                if verdict.startswith('rejected') and 'error' not in case['expect']:
                    # What was cut out of the test is not what the test translates.
                    dropped[case['id']] = verdict
                    continue
                # What the interpreter does not know, plain Python has stood for.
                again = found.get(case['id']) or answers.ask(
                    'run ' + case['id'], signal.ITIMER_REAL, SECONDS_TO_RUN, run_again, case)
                if again not in (None, case['expect']):
                    dropped[case['id']] = 'gives %s elsewhere' % (again,)
            elif verdict == 'accepted':
                case['expect'] = found.get(case['id']) or case['expect']
            elif verdict.startswith('rejected') and i == 0:
                case.update(expect={'error': True}, verdict=verdict)
            else:
                dropped[case['id']] = verdict
    with open(noted, 'w') as f:
        for case in cases:
            if case['id'] not in dropped:
                f.write(json.dumps(case) + '\n')
    with open(os.path.join(folder, 'dropped.txt'), 'w') as f:
        for name in sorted(dropped):
            f.write(('%s: %s' % (name, dropped[name])).encode('ascii', 'replace') + '\n')
    print len(cases), 'cases,', len(cases) - len(dropped), 'kept'


def import_toolchain():
    """All that questions need, once."""
    sys.setrecursionlimit(20000)
    # Children are short and would look at all of the toolchain again and again.
    gc.disable()
    import rpython.rlib.rbigint
    import rpython.rtyper.lltypesystem.rffi
    import rpython.rtyper.rtyper
    import rpython.translator.translator
    from rpython.tool import ansi_print
    ansi_print.AnsiLogger.output_disabled = True


if __name__ == '__main__':
    chosen = None
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as f:
            chosen = set(f.read().split())
    judge(sys.argv[1], chosen)
