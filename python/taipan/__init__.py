"""RPython from Python 3: the way of a function through the compiler's stages.

    >>> import taipan
    >>> t = taipan.Translation("prog.py", "f", [int])
    >>> t.annotate()
    SomeInteger
    >>> t.view()            # a graph; shown as a picture in notebooks
    >>> f = t.compile()
    >>> f(3)
    4

Everything is worked out by the `taipan` binary, which comes with this package.
"""

from ._binary import find_binary
from ._errors import CompileError, Diagnostic, Place, RaisedError, TaipanError
from ._graph import Graph
from ._translation import STAGES, Annotation, Function, Translation

__all__ = [
    "Annotation",
    "CompileError",
    "Diagnostic",
    "Function",
    "Graph",
    "Place",
    "RaisedError",
    "STAGES",
    "TaipanError",
    "Translation",
    "find_binary",
]
