"""Compiled functions, each in a process of its own."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref

from . import _worker
from ._errors import TaipanError, raised

#: The name of the module that has the function.
MODULE = "compiled"


class Function:
    """A compiled function. Arguments are copied into the compiled program, and the result out of it.

    It runs in a process of its own, which a crash cannot leave, and which ends with this object. The next call
    after a crash starts another process.
    """

    def __init__(self, file, name, folder, module):
        self._file = file
        self._folder = folder
        self._module = module
        self._process = None
        self._end = None
        self._lock = threading.Lock()
        self.__name__ = name

    def __repr__(self):
        return f"<compiled {self._file}:{self.__name__}>"

    def __call__(self, *args):
        try:
            call = pickle.dumps(args, protocol=4)
        except Exception as e:
            raise TypeError(f"{self.__name__}() got an argument that cannot be passed: {e}") from None
        done, *result = pickle.loads(self._ask(call))
        if done:
            return result[0]
        raise raised(*result)

    def _ask(self, call):
        with self._lock:
            if self._process is None:
                self._start()
            try:
                _worker.send(self._to, call)
                answer = _worker.receive(self._from)
            except BrokenPipeError:
                answer = None
            except BaseException:
                # The reply that is missing must not be taken for that of the next call.
                self._stop()
                raise
            if answer is None:
                raise TaipanError(f"the call ended the process: {self._stop()}")
        return answer

    def _start(self):
        for_worker, self._to = os.pipe()
        self._from, from_worker = os.pipe()
        try:
            words = [self._module, MODULE, self.__name__, str(for_worker), str(from_worker)]
            self._process = subprocess.Popen(
                [sys.executable, _worker.__file__, *words],
                stdin=subprocess.DEVNULL,
                pass_fds=(for_worker, from_worker),
            )
        finally:
            os.close(for_worker)
            os.close(from_worker)
        self._end = weakref.finalize(self, _end, self._process, (self._to, self._from))

    def _stop(self):
        """Ends the process; the text of how it ended."""
        process, self._process = self._process, None
        self._end()
        code = process.returncode
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _end(process, files):
    for file in files:
        os.close(file)
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
