"""A function on its way through the compiler."""

import json
import os
import subprocess
import tempfile

from ._binary import find_binary
from ._errors import CompileError, Diagnostic, TaipanError
from ._function import MODULE, Function
from ._graph import Graph

#: Stages that have graphs, from the source on.
STAGES = ("flow", "annotations", "rtyped", "optimized", "exceptions", "gc")

_KINDS = {int: "SomeInteger", float: "SomeFloat", bool: "SomeBool", str: "SomeString", bytes: "SomeString",
          type(None): "SomeNone"}


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


class Annotation(str):
    """What is known of a value, as `SomeInteger(nonneg)`."""

    def __repr__(self):
        return str(self)


class Translation:
    """The way of a function through the compiler's stages.

    `file` is the file that defines it, `function` its name (`C.method` for a method), and `argtypes` the types
    of its arguments: int, float, bool, str, bytes, None, `[int]` for a list, `(int, str)` for a tuple, `{str: int}`
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
        """The function as machine code, to be called from Python. It takes a C compiler, which links."""
        folder = tempfile.TemporaryDirectory(prefix="taipan-")
        module = os.path.join(folder.name, f"{MODULE}.abi3.so")
        done = self._run(["build", "--quiet", "--extension", "-o", module])
        if done.returncode != 0:
            folder.cleanup()
            # The text has the mistakes of the program, with places.
            self._json("gc")
            raise TaipanError(done.stderr.strip())
        return Function(self.file, self.function, folder, module)

    def _arguments(self):
        arguments = []
        for folder in self.path:
            arguments += ["--path", folder]
        return arguments

    def _run(self, words):
        """Runs a command of the binary on the function."""
        command = [find_binary(), *words, *self._arguments()]
        if self.argtypes is not None:
            command += ["--inputs", ", ".join(map(_annotation, self.argtypes))]
        command.append(f"{self.file}:{self.function}")
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="surrogateescape")

    def _emit(self, stage, *options):
        done = self._run(["emit", stage, *options])
        if done.returncode != 0:
            raise TaipanError(done.stderr.strip())
        return done.stdout

    def _json(self, stage):
        done = self._run(["emit", stage, "--format", "json"])
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            raise TaipanError(done.stderr.strip()) from None
        if "error" in answer:
            raise CompileError([Diagnostic.from_json(d) for d in answer["diagnostics"]])
        return answer
