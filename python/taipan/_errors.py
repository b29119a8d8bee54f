"""What can go wrong, with its place."""

import builtins
from dataclasses import dataclass, field
from typing import List, Optional


@dataclass(frozen=True)
class Place:
    """A place in a source file, and what there is to say of it. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str = ""

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """One finding of the compiler."""

    code: str
    severity: str
    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    notes: List[Place] = field(default_factory=list)
    help: Optional[str] = None

    @classmethod
    def from_json(cls, found):
        known = {name: found.get(name) for name in cls.__dataclass_fields__}
        known["notes"] = [Place(n["file"], n["line"], n["column"], n["message"]) for n in found["notes"]]
        return cls(**known)

    def __str__(self):
        lines = [f"{self.severity}[{self.code}]: {self.message}", f"  --> {self.file}:{self.line}:{self.column}"]
        lines += [f"note: {note.message}\n  --> {note}" for note in self.notes]
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class TaipanError(Exception):
    """The compiler could not do its work: wrong usage, or a fault of its own."""


class CompileError(TaipanError):
    """The program is wrong. `diagnostics` says where and why."""

    def __init__(self, diagnostics):
        self.diagnostics = diagnostics
        super().__init__("\n\n".join(map(str, diagnostics)))


class RaisedError(TaipanError):
    """The compiled function raised an exception of the program's own; `name` is its class, `message` its text.

    Exceptions that Python has too, such as IndexError, are raised as these.
    """

    def __init__(self, name, message=""):
        self.name = name
        self.message = message
        super().__init__(f"{name}: {message}" if message else name)


def raised(name, args, message, places):
    """The exception to raise for one that came out of compiled code. `args` are None for a class of the program's own."""
    found = RaisedError(name, message) if args is None else getattr(builtins, name)(*args)
    if places and hasattr(found, "add_note"):
        found.add_note(places)
    return found
