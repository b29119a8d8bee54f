"""The machine that programs are compiled for, which is the one they are compiled on."""
import os
from platform import machine as _machine


class CompilationError(Exception):
    """What a C compiler says."""

    def __init__(self, out='', err=''):
        self.out = out
        self.err = err

    def __repr__(self):
        return '<CompilationError err=%r>' % (self.err,)


class ExecutionResult(object):
    def __init__(self, returncode, out, err):
        self.returncode = returncode
        self.out = out
        self.err = err


class Platform(object):
    name = 'linux'
    c_environ = None
    so_ext = 'so'
    so_prefixes = ('lib', '')
    exe_ext = ''
    cc = 'gcc'
    cflags = ()
    link_flags = ()
    shared_only = ()
    extra_libs = ()
    relevant_environ = ()
    standalone_only = ()

    def check___thread(self):
        return True

    def include_dirs_for_libffi(self):
        return []

    def library_dirs_for_libffi(self):
        return []

    def preprocess_include_dirs(self, include_dirs):
        return include_dirs

    def preprocess_library_dirs(self, library_dirs):
        return library_dirs

    def get_multiarch(self):
        """The name that Debian gives the machine with its C library."""
        named = os.environ.get('PYPY_MULTIARCH')
        if named is not None:
            return named
        machine = _machine()
        if machine in ('i486', 'i586', 'i686'):
            machine = 'i386'
        return machine + '-linux-gnu'

    def key(self):
        """What programs that are compiled alike have in common."""
        return self.name, self.cc, self.cflags, self.link_flags

    def compile(self, *args, **kwds):
        raise NotImplementedError("C code is compiled with the program that declares it")

    execute = gen_makefile = execute_makefile = compile

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __hash__(self):
        return hash(self.name)


platform = host = Platform()
is_host_build = lambda: True
host_factory = Platform

def pick_platform(new_platform, cc):
    return platform

def set_platform(new_platform, cc):
    pass

def log_error(*args):
    pass
