"""What a C compiler needs to know to use a library."""
import os

from _taipan import ask_c_compiler, ask_tool, written_files

FIELDS = ('pre_include_bits', 'includes', 'include_dirs', 'post_include_bits', 'libraries',
          'library_dirs', 'separate_module_sources', 'separate_module_files',
          'compile_extra', 'link_extra', 'frameworks', 'link_files')


class ExternalCompilationInfo(object):

    def __init__(self, pre_include_bits=(), includes=(), include_dirs=(), post_include_bits=(),
                 libraries=(), library_dirs=(), separate_module_sources=(),
                 separate_module_files=(), compile_extra=(), link_extra=(), frameworks=(),
                 link_files=(), testonly_libraries=(), use_cpp_linker=False, platform=None):
        for name in FIELDS:
            value = locals()[name]
            assert not isinstance(value, str), "%s must be a sequence" % name
            setattr(self, name, tuple([str(item) for item in value]))
        self.platform = platform

    @classmethod
    def from_compiler_flags(cls, flags):
        """Of options for the compiler: -I, -D and others."""
        folders, macros, others = [], [], []
        for flag in flags.split():
            start, rest = flag[:2], flag[2:]
            if start in ('-L', '-l'):
                raise ValueError("%r is an option for the linker" % flag)
            if start == '-I':
                folders.append(rest)
            elif start == '-D':
                name, _, value = rest.partition('=')
                if name != '_XOPEN_SOURCE':
                    macros.append('#define %s %s' % (name, value or '1'))
            else:
                others.append(flag)
        return cls(pre_include_bits=macros, include_dirs=folders, compile_extra=others)

    @classmethod
    def from_linker_flags(cls, flags):
        """Of options for the linker: -L, -l and others."""
        folders, libraries, others = [], [], []
        for flag in flags.split():
            start, rest = flag[:2], flag[2:]
            if start in ('-I', '-D'):
                raise ValueError("%r is an option for the compiler" % flag)
            if start == '-L':
                folders.append(rest)
            elif start == '-l':
                libraries.append(rest)
            else:
                others.append(flag)
        return cls(libraries=libraries, library_dirs=folders, link_extra=others)

    @classmethod
    def from_config_tool(cls, execonfigtool):
        """Of a program of the system that knows how its library is used, as sdl-config. It runs only
        if the program's folder is trusted."""
        return cls._from_tool(execonfigtool, None)

    @classmethod
    def from_pkg_config(cls, pkgname):
        """Of what pkg-config knows of a package. ImportError if it is not installed: modules that
        need it are left out then."""
        assert isinstance(pkgname, str)
        return cls._from_tool('pkg-config', pkgname)

    @classmethod
    def _from_tool(cls, tool, package):
        said = []
        for option in '--cflags', '--libs':
            ok, text = ask_tool(tool, option, package)
            if not ok:
                raise ImportError(text)
            said.append(text)
        cflags, libs = said
        return cls.from_compiler_flags(cflags).merge(cls.from_linker_flags(libs))

    def merge(self, *others):
        """This and the others, without repetition."""
        fields = {}
        for name in FIELDS:
            found = []
            for eci in (self,) + others:
                found += [item for item in getattr(eci, name) if item not in found]
            fields[name] = tuple(found)
        return ExternalCompilationInfo(**fields)

    def _attributes(self):
        return dict([(name, getattr(self, name)) for name in FIELDS])

    def copy_without(self, *names):
        fields = self._attributes()
        for name in names:
            del fields[name]
        return ExternalCompilationInfo(**fields)

    def convert_sources_to_files(self, *args, **kwds):
        return self

    def compile_shared_lib(self, *args, **kwds):
        return self

    def as_tuple(self, macro=None):
        """What the compiler of this program needs, () if that is nothing."""
        everything = tuple([getattr(self, name) for name in FIELDS])
        if everything == ((),) * len(FIELDS) and not macro:
            return ()
        headers = self._written_headers()
        return everything + (headers, self._state(headers))

    def _state(self, headers):
        """Of all files that are compiled along, and of what they include."""
        sources = self.separate_module_files + self.separate_module_sources
        if not (sources or self.include_dirs):
            return ()
        lines = ['#include <%s>' % name for name in self.includes]
        lines += self.post_include_bits + self.separate_module_sources
        lines += ['#include "%s"' % os.path.abspath(name) for name in self.separate_module_files]
        options = ['-I' + d for d in self.include_dirs] + list(self.compile_extra)
        ok, state = ask_c_compiler('\n'.join(self.pre_include_bits + tuple(lines)), options, headers,
                                   'inputs')
        return (state,) if ok else ()

    def _written_headers(self):
        """Headers that the program has made while it loads, in the folders where the compiler
        looks for them: name, text, name, text, ..."""
        found = []
        for folder in self.include_dirs:
            found += written_files(os.path.abspath(folder))
        return tuple(found)

    def __eq__(self, other):
        return (self.__class__ is other.__class__ and
                self._attributes() == other._attributes())

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(tuple([getattr(self, name) for name in FIELDS]))

    def __repr__(self):
        given = [(name, getattr(self, name)) for name in FIELDS if getattr(self, name)]
        return '<ExternalCompilationInfo %s>' % ', '.join(['%s=%r' % pair for pair in given])
