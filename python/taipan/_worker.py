"""The process of a compiled function: reads arguments, calls, and writes the result.

Messages are pickled, and have their length in front.
"""

import os

#: Bytes of a length.
HEAD = 4
#: Bytes that one read takes at most.
CHUNK = 1 << 16


def send(file, message):
    """Writes a message to a file descriptor."""
    rest = memoryview(len(message).to_bytes(HEAD, "little") + message)
    while rest:
        rest = rest[os.write(file, rest):]


def receive(file):
    """The next message of a file descriptor; None at its end."""
    data = os.read(file, CHUNK)
    parts, size, wanted = [data], len(data), HEAD
    while data:
        if wanted == HEAD and size >= HEAD:
            parts = [b"".join(parts)]
            wanted += int.from_bytes(parts[0][:HEAD], "little")
        if wanted > HEAD and size == wanted:
            return b"".join(parts)[HEAD:]
        data = os.read(file, CHUNK)
        parts.append(data)
        size += len(data)
    return None


def called(function, call, pickle):
    """The reply to a call: True and the result, or False and what `raised` takes."""
    try:
        args = pickle.loads(call)
    except Exception as e:
        return False, "TypeError", (f"{function.__name__}() got an argument that cannot be passed: {e}",), "", ""
    try:
        return True, function(*args)
    except Exception as e:
        is_own = type(e).__module__ != "builtins"
        return False, type(e).__name__, None if is_own else e.args, str(e), places(e)


def places(e):
    """Where an exception was raised, and the calls on its way: the innermost one first."""
    lines, at = [], e.__traceback__.tb_next
    while at is not None:
        code = at.tb_frame.f_code
        lines.append(f"  {code.co_filename}:{at.tb_lineno} in {code.co_name}")
        at = at.tb_next
    return "\n".join(["raised at", *reversed(lines)]) if lines else ""


def main(module, name, function, source, sink):
    import importlib.machinery
    import importlib.util
    import pickle
    import signal

    # The caller decides what an interrupt ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    loader = importlib.machinery.ExtensionFileLoader(name, module)
    spec = importlib.util.spec_from_file_location(name, module, loader=loader)
    loaded = importlib.util.module_from_spec(spec)
    loader.exec_module(loaded)
    function = getattr(loaded, function)
    while (call := receive(source)) is not None:
        send(sink, pickle.dumps(called(function, call, pickle), protocol=4))


if __name__ == "__main__":
    import sys

    # The folder of this file is no place to import from.
    del sys.path[0]
    *words, source, sink = sys.argv[1:]
    main(*words, int(source), int(sink))
