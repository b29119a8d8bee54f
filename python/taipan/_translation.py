"""A function on its way through the compiler."""

import json
import os
import subprocess
import threading
import weakref

from ._binary import find_binary
from ._errors import CompileError, Diagnostic, TaipanError, raised
from ._graph import Graph

#: Stages that have graphs, from the source on.
STAGES = ("flow", "annotations", "rtyped", "optimized", "exceptions", "gc")

_KINDS = {int: "SomeInteger", float: "SomeFloat", bool: "SomeBool", str: "SomeString", type(None): "SomeNone"}


def _annotation(kind):
    """The text of an annotation: of a Python type, of a list, tuple or dict of such, or a text as it is."""
    if isinstance(kind, str):
        return kind
    if kind is None:
        return "SomeNone"
    if isinstance(kind, list) and len(kind) == 1:
        return f"SomeList[{_annotation(kind[0])}](resized)"
    if isinstance(kind, tuple):
        return f"SomeTuple[{', '.join(map(_annotation, kind))}]"
    if isinstance(kind, dict) and len(kind) == 1:
        [(key, value)] = kind.items()
        return f"SomeDict[{_annotation(key)}, {_annotation(value)}]"
    if isinstance(kind, type) and kind in _KINDS:
        return _KINDS[kind]
    raise TypeError(f"{kind!r} is no type of an argument")


def _literal(value, kind):
    """A value as the text of a literal of RPython, of the kind that the argument has."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(kind, type) and kind in _KINDS and not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, got {value!r}")
    if isinstance(value, bytes):
        return repr(value)[1:]
    if isinstance(value, list):
        inner = kind[0] if isinstance(kind, list) else None
        return f"[{', '.join(_literal(v, inner) for v in value)}]"
    if isinstance(value, tuple):
        inner = kind if isinstance(kind, tuple) else (None,) * len(value)
        if len(inner) != len(value):
            raise TypeError(f"expected a tuple of {len(inner)}, got {value!r}")
        return f"({''.join(_literal(v, k) + ', ' for v, k in zip(value, inner))})"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise TypeError(f"{value!r} cannot be passed to compiled code")


class Annotation(str):
    """What is known of a value, as `SomeInteger(nonneg)`."""

    def __repr__(self):
        return str(self)


class Translation:
    """The way of a function through the compiler's stages.

    `file` is the file that defines it, `function` its name (`C.method` for a method), and `argtypes` the types
    of its arguments: int, float, bool, str, None, `[int]` for a list, `(int, str)` for a tuple, `{str: int}`
    for a dict, or the text of an annotation such as "SomeInteger(nonneg)". Without them they are what the
    programs in the folder call it with.

    A file that changes is read anew by the next step. Each step raises CompileError if the program is wrong.
    """

    def __init__(self, file, function, argtypes=None, path=()):
        # Later steps may be taken in another folder.
        self.file = os.path.abspath(file)
        self.function = function
        self.argtypes = None if argtypes is None else list(argtypes)
        self.path = [os.path.abspath(folder) for folder in path]
        if not os.path.isfile(self.file):
            raise FileNotFoundError(self.file)

    def __repr__(self):
        return f"<Translation of {self.file}:{self.function}>"

    def annotate(self):
        """The annotation of the result."""
        return Annotation(self._json("annotations")["annotation"])

    def rtype(self):
        """The low-level graph."""
        return self.view("rtyped")

    def optimize(self):
        """The low-level graph after optimisation."""
        return self.view("optimized")

    def view(self, stage="flow"):
        """The graph at a stage (see STAGES): a picture in notebooks, `show()` opens it in a browser."""
        if stage not in STAGES:
            raise ValueError(f"no stage {stage!r}: it is one of {', '.join(STAGES)}")
        # Says what is wrong, if anything is, with places.
        self._json(stage)
        title = f"{stage} of {self.function}"
        return Graph(title, self._emit(stage), self._emit(stage, "--format", "svg"))

    def source(self, stage):
        """The text of any stage that `taipan emit` knows: `bytecode`, `clif` and `asm` are no graphs."""
        self._json(stage)
        return self._emit(stage)

    def compile(self):
        """The function as machine code, to be called from Python."""
        self._json("gc")
        return Function(self)

    def _arguments(self):
        arguments = []
        for folder in self.path:
            arguments += ["--path", folder]
        return arguments

    def _run(self, stage, *options):
        command = [find_binary(), "emit", stage, *self._arguments(), *options]
        if self.argtypes is not None:
            command += ["--inputs", ", ".join(map(_annotation, self.argtypes))]
        command.append(f"{self.file}:{self.function}")
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def _emit(self, stage, *options):
        done = self._run(stage, *options)
        if done.returncode != 0:
            raise TaipanError(done.stderr.strip())
        return done.stdout

    def _json(self, stage):
        done = self._run(stage, "--format", "json")
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            raise TaipanError(done.stderr.strip()) from None
        if "error" in answer:
            raise CompileError([Diagnostic.from_json(d) for d in answer["diagnostics"]])
        return answer


class Function:
    """A compiled function. Arguments are copied into the compiled program, and the result out of it.

    It runs in a process of its own, which a crash cannot leave, and which ends with this object.
    """

    def __init__(self, translation):
        self._translation = translation
        self._process = None
        self._lock = threading.Lock()
        self._count = 0
        self.__name__ = translation.function

    def __repr__(self):
        return f"<compiled {self._translation.file}:{self._translation.function}>"

    def __call__(self, *args):
        kinds = self._translation.argtypes
        if kinds is None:
            kinds = [None] * len(args)
        if len(kinds) != len(args):
            raise TypeError(f"{self.__name__} takes {len(kinds)} arguments, not {len(args)}")
        call = {
            "file": self._translation.file,
            "func": self._translation.function,
            "args": [_literal(a, k) for a, k in zip(args, kinds)],
        }
        answer = self._ask(call)
        if "ok" in answer:
            return answer["ok"]
        if "raises" in answer:
            raise raised(answer["raises"])
        raise TaipanError(answer["error"])

    def _ask(self, call):
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._count += 1
            call["id"] = self._count
            self._process.stdin.write(json.dumps(call) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise TaipanError("the process of compiled functions has ended")
        return json.loads(line)

    def _start(self):
        arguments = self._translation._arguments()
        self._process = subprocess.Popen(
            [find_binary(), "call", *arguments, "--engine", "native", "--batch", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        weakref.finalize(self, _end, self._process)


def _end(process):
    process.stdin.close()
    process.stdout.close()
    process.wait()
