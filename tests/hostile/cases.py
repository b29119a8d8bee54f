"""The hostile folders. In their texts `@CANARY@` is a file that must not come into being, `@VICTIM@` one that must
not change, and `@PROJECT@` the folder itself."""

import os
import subprocess
from dataclasses import dataclass, field
from typing import Callable, Optional

TARGET = '''
def entry_point(argv):
    print "hello"
    return 0

def target(driver, args):
    return entry_point, None
'''


@dataclass
class Case:
    name: str
    files: dict
    #: What `check` has to say.
    says: list = field(default_factory=list)
    #: What `check` must not say.
    never_says: list = field(default_factory=list)
    #: Ways by which it is not opened, where the way cannot tell anything.
    not_by: tuple = ()
    #: The only ways by which it is opened, if there are any.
    only_by: tuple = ()
    #: Does what a text cannot: links, special files.
    prepare: Optional[Callable] = None


def module(name, text, **how):
    """A folder with one module, whose text runs at import time."""
    return Case(name, {'target.py': text + TARGET}, **how)


SCRIPT = '#!/bin/sh\ntouch @CANARY@\nexit 1\n'

ECI = '''
from rpython.rtyper.lltypesystem import rffi, lltype
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
'''

CONSTRUCTOR = '''
#include <stdlib.h>
static void __attribute__((constructor)) begin(void) { system("touch @CANARY@"); }
'''


def question(name, eci, files=None, **how):
    """A question to the C compiler with something in its compilation info."""
    text = ECI + f'''
eci = ExternalCompilationInfo({eci})
class CConfig:
    _compilation_info_ = eci
    LIMIT = rffi_platform.DefinedConstantInteger('RAND_MAX')
CONFIG = rffi_platform.configure(CConfig)
'''
    return Case(name, {'target.py': text + TARGET, **(files or {})}, **how)


def make_fifo(place):
    os.mkfifo(place.project / 'pipe.py')


def link_to_zeros(place):
    (place.project / 'zeros.py').symlink_to('/dev/zero')


def make_huge_file(place):
    with open(place.project / 'huge.py', 'wb') as file:
        file.truncate(64 << 30)


def link_cache_outside(place):
    (place.root / 'outside').mkdir()
    (place.project / '.taipan-cache').symlink_to(place.root / 'outside')


RUN = [
    module('run-llexternal', ECI + '''
system = rffi.llexternal("system", [rffi.CCHARP], rffi.INT)
system(rffi.str2charp("touch @CANARY@"))
''', says=['taipan trust']),
    module('run-llexternal-execl', ECI + '''
popen = rffi.llexternal("popen", [rffi.CCHARP, rffi.CCHARP], rffi.VOIDP)
popen(rffi.str2charp("touch @CANARY@"), rffi.str2charp("r"))
''', says=['taipan trust']),
    question('run-constructor', "post_include_bits=['''" + CONSTRUCTOR + "''']"),
    question('run-separate-constructor', "separate_module_sources=['''" + CONSTRUCTOR + "''']"),
    question('run-wrapper', "compile_extra=['-wrapper', '@PROJECT@/evil.sh'], includes=['stdlib.h']",
             {'evil.sh': SCRIPT}, says=['-wrapper']),
    question('run-wrapper-joined', "compile_extra=['-wrapper=@PROJECT@/evil.sh'], includes=['stdlib.h']",
             {'evil.sh': SCRIPT}),
    question('run-programs-folder', "compile_extra=['-B@PROJECT@/'], includes=['stdlib.h']",
             {name: SCRIPT for name in ('as', 'ld', 'cc1', 'collect2')}, says=['-B']),
    question('run-link-programs-folder', "link_extra=['-B@PROJECT@/'], includes=['stdlib.h']",
             {name: SCRIPT for name in ('as', 'ld', 'cc1', 'collect2')}),
    question('run-specs', "compile_extra=['-specs=@PROJECT@/evil.specs'], includes=['stdlib.h']",
             {'evil.specs': '*asm:\n%{!S: | @PROJECT@/evil.sh}\n', 'evil.sh': SCRIPT}),
    question('run-plugin', "compile_extra=['-fplugin=@PROJECT@/evil.so'], includes=['stdlib.h']"),
    question('run-linker', "link_extra=['-fuse-ld=@PROJECT@/evil.sh'], includes=['stdlib.h']", {'evil.sh': SCRIPT}),
    question('run-linker-plugin', "link_extra=['-Wl,-plugin,@PROJECT@/evil.so'], includes=['stdlib.h']"),
    question('run-response-file', "compile_extra=['@@PROJECT@/options'], includes=['stdlib.h']",
             {'options': '-wrapper @PROJECT@/evil.sh\n', 'evil.sh': SCRIPT}),
    question('run-option-in-folder-name', "include_dirs=['x', '-wrapper', '@PROJECT@/evil.sh'], includes=['stdlib.h']",
             {'evil.sh': SCRIPT}),
    question('run-option-in-library-name', "libraries=['m -wrapper @PROJECT@/evil.sh'], includes=['stdlib.h']",
             {'evil.sh': SCRIPT}),
    question('run-option-in-file-name', "separate_module_files=['-wrapper'], includes=['stdlib.h']"),
    module('run-config-tool', ECI + '''
try:
    ExternalCompilationInfo.from_config_tool('@PROJECT@/evil.sh')
except ImportError:
    pass
''' , prepare=lambda place: (place.project / 'evil.sh').write_text(SCRIPT.replace('@CANARY@', str(place.canary)))
           and (place.project / 'evil.sh').chmod(0o755)),
    module('run-pkg-config', ECI + '''
try:
    ExternalCompilationInfo.from_pkg_config('--define-variable=x=`touch @CANARY@`')
except ImportError:
    pass
'''),
    *(module(f'run-{name}', f'try:\n    {text}\nexcept Exception:\n    pass\n') for name, text in {
        'system': 'import os; os.system("touch @CANARY@")',
        'popen': 'import os; os.popen("touch @CANARY@").read()',
        'fork': 'import os; os.fork() or os.execv("/usr/bin/touch", ["touch", "@CANARY@"])',
        'subprocess': 'import subprocess; subprocess.call(["touch", "@CANARY@"])',
        'commands': 'import commands; commands.getoutput("touch @CANARY@")',
        'ctypes': 'import ctypes; ctypes.CDLL(None).system("touch @CANARY@")',
        'platform': 'from rpython.translator.platform import platform; '
                    'platform.execute("touch", ["@CANARY@"])',
    }.items()),
    Case('run-compiler-of-project', {
        'target.py': ECI + '''
class CConfig:
    _compilation_info_ = ExternalCompilationInfo(includes=['stdlib.h'])
    LIMIT = rffi_platform.DefinedConstantInteger('RAND_MAX')
CONFIG = rffi_platform.configure(CConfig)
''' + TARGET,
        'pyproject.toml': '[tool.taipan]\ntargets = ["target.py"]\nenv = { CC = "@PROJECT@/evil.sh" }\n'
                          'trusted = true\ncc = "@PROJECT@/evil.sh"\n',
        'evil.sh': SCRIPT, 'cc': SCRIPT, 'gcc': SCRIPT,
        '.vscode/settings.json': '{"taipan.command": "@PROJECT@/evil.sh"}',
    }),
    module('run-environment', '''
import os
os.environ['CC'] = '@PROJECT@/evil.sh'
os.environ['PATH'] = '@PROJECT@'
''' + ECI + '''
class CConfig:
    _compilation_info_ = ExternalCompilationInfo(includes=['stdlib.h'])
    LIMIT = rffi_platform.DefinedConstantInteger('RAND_MAX')
CONFIG = rffi_platform.configure(CConfig)
'''),
]

WRITE = [
    *(module(f'write-{name}', f'try:\n    {text}\nexcept Exception:\n    pass\n') for name, text in {
        'open': 'open("@CANARY@", "w").write("x")',
        'append': 'open("@VICTIM@", "a").write("x")',
        'update': 'open("@VICTIM@", "r+").write("x")',
        'os-open': 'import os; os.write(os.open("@CANARY@", os.O_CREAT | os.O_WRONLY, 0644), "x")',
        'remove': 'import os; os.remove("@VICTIM@")',
        'rename': 'import os; os.rename("@VICTIM@", "@CANARY@")',
        'mkdir': 'import os; os.mkdir("@CANARY@")',
        'symlink': 'import os; os.symlink("/etc", "@CANARY@")',
        'truncate': 'import os; os.truncate("@VICTIM@", 0)',
        'shutil': 'import shutil; shutil.copy("@VICTIM@", "@CANARY@")',
        'cache-module': 'import py; py.path.local("@CANARY@").write("x")',
    }.items()),
    module('write-through-c', ECI + '''
creat = rffi.llexternal("creat", [rffi.CCHARP, rffi.INT], rffi.INT)
creat(rffi.str2charp("@CANARY@"), 0644)
''', says=['taipan trust']),
    *(question(f'write-compiler{flag.split("@")[0]}', f"compile_extra={flag.split(' ')!r}, includes=['stdlib.h']")
      for flag in ('-o @CANARY@', '-o@CANARY@', '-MF @CANARY@ -MD', '-MMD -MF@CANARY@', '-save-temps=cwd',
                   '-fdump-tree-all=@CANARY@', '-dumpdir @CANARY@', '-aux-info @CANARY@', '-Wp,-MD,@CANARY@',
                   '-Wa,-a=@CANARY@', '-fcallgraph-info', '-fsave-optimization-record', '-ftest-coverage',
                   '-fprofile-generate=@CANARY@', '-fopt-info-all=@CANARY@', '-fdiagnostics-format=json-file',
                   '-ftime-trace=@CANARY@', '-fmodules-cache-path=@CANARY@', '-gsplit-dwarf',
                   '-Wl,-Map=@CANARY@', '-Wl,-o,@CANARY@', '-Xlinker -Map=@CANARY@', '-T@PROJECT@/x.ld')),
    Case('write-cache-elsewhere', {
        'target.py': TARGET,
        'pyproject.toml': '[tool.taipan]\ntargets = ["target.py"]\ncache-dir = "@CANARY@"\n',
    }),
    Case('write-cache-above', {
        'target.py': TARGET,
        'pyproject.toml': '[tool.taipan]\ntargets = ["target.py"]\ncache-dir = "../canary"\n',
    }),
    Case('write-cache-by-link', {
        'target.py': TARGET,
        'pyproject.toml': '[tool.taipan]\ntargets = ["target.py"]\ncache-dir = "inner/cache"\n',
    }, prepare=lambda place: (place.project / 'inner').symlink_to(place.root)),
    Case('write-old-cache-by-link', {'target.py': TARGET}, prepare=link_cache_outside),
]

EXHAUST = [
    module('exhaust-list', 'xs = []\nwhile True:\n    xs.append(xs)\n', says=['error']),
    module('exhaust-print', 'while True:\n    print "x" * 1000\n', says=['error']),
    module('exhaust-string', 'x = "x" * 10 ** 12\n', says=['error']),
    module('exhaust-doubling', 'x = "x"\nwhile True:\n    x = x + x\n', says=['error']),
    module('exhaust-dict', 'd = {}\nn = 0\nwhile True:\n    d[n] = n\n    n += 1\n', says=['error']),
    module('exhaust-range', 'x = range(10 ** 12)\n', says=['error']),
    module('exhaust-list-repeat', 'x = [0] * 10 ** 11\n', says=['error']),
    module('exhaust-power', 'x = 10 ** 10 ** 10\n', says=['error']),
    module('exhaust-shift', 'x = 1 << 10 ** 13\n', says=['error']),
    module('exhaust-longs', 'x = 3\nwhile True:\n    x = x * x\n', says=['error']),
    module('exhaust-recursion', 'def f(n):\n    return f(n + 1)\nf(0)\n', says=['error']),
    module('exhaust-class-repr', 'x = []\nfor i in range(100000):\n    x = [x]\nrepr(x)\n', says=['error']),
    module('exhaust-join', '"".join(str(i) for i in iter(int, 1))\n', says=['error']),
    module('exhaust-raw-memory', ECI + '''
kept = []
while True:
    kept.append(lltype.malloc(rffi.CArray(lltype.Char), 1 << 20, flavor='raw'))
''', says=['error']),
    module('exhaust-raw-memory-at-once', ECI + '''
kept = lltype.malloc(rffi.CArray(lltype.Char), 1 << 42, flavor='raw')
''', says=['error']),
    Case('exhaust-parentheses', {'target.py': 'x = ' + '(' * 100000 + ')' * 100000 + '\n' + TARGET}),
    Case('exhaust-operators', {'target.py': 'x = ' + '-' * 200000 + '1\n' + TARGET}),
    Case('exhaust-indentation', {'target.py': ''.join(' ' * i + 'if 1:\n' for i in range(3000)) + TARGET}),
    Case('exhaust-huge-file', {'target.py': 'import huge\n' + TARGET}, prepare=make_huge_file),
]

HANG = [
    module('hang-loop', 'while True:\n    pass\n', says=['error']),
    module('hang-iter', 'list(iter(int, 1))\n', says=['error']),
    module('hang-sum', 'sum(i for i in iter(int, 1))\n', says=['error']),
    module('hang-contains', '1 in iter(int, 1)\n', says=['error']),
    module('hang-any', 'any(iter(int, 1))\n', says=['error']),
    module('hang-max', 'max(iter(int, 1))\n', says=['error']),
    module('hang-filter', 'import itertools\nfilter(None, itertools.count())\n', says=['error']),
    module('hang-finds', 'x = "a" * 1000000\nfor i in xrange(100000):\n    x.find("a" * 1000 + "b")\n', says=['error']),
    module('hang-powers', 'x = 7 ** 100000\nfor i in xrange(1000000):\n    x ** 50 % 3\n', says=['error']),
    module('hang-long-text', 'x = str(3 ** 3000000)\n'),
    module('hang-expression', 'import re\nre.match("(a*)*b", "a" * 100)\n', says=['error']),
    module('hang-compare', '''
a, b = [], []
for i in range(60):
    a, b = [a, a], [b, b]
a == b
''', says=['error']),
    module('hang-sleep', 'import time\ntime.sleep(100000)\n'),
    Case('hang-pipe', {'target.py': 'import pipe\n' + TARGET}, prepare=make_fifo, says=['pipe']),
    Case('hang-zeros', {'target.py': 'import zeros\n' + TARGET}, prepare=link_to_zeros, says=['zeros']),
    module('hang-reads', 'try:\n    open("/dev/zero").read()\nexcept IOError:\n    pass\n'),
    module('hang-reads-pipe', 'try:\n    open("pipe.py").read()\nexcept IOError:\n    pass\n', prepare=make_fifo),
    question('hang-include', "includes=['/dev/zero']"),
    question('hang-include-pipe', "includes=['@PROJECT@/pipe.py']", prepare=make_fifo),
    question('hang-macros', "post_include_bits=['''"
             + '#define A0 x\n' + ''.join(f'#define A{n + 1} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n}\n' for n in range(12))
             + "char *s = (char *)sizeof(0 A12);''']"),
    Case('hang-listing', {'target.py': TARGET}, prepare=lambda place: [
        (place.project / f'loop{n}').symlink_to(place.project) for n in range(20)]),
]


def plant_cache(place):
    """A cache that somebody else made for the same path and the same text, where it was kept once."""
    folder = place.root / 'attacker'
    folder.mkdir()
    made = subprocess.run(
        [place.taipan, 'build', '--cache-dir', str(place.project / '.taipan-cache'), 'target.py',
         '-o', str(place.root / 'made')],
        cwd=place.project, env=dict(place.environment(), HOME=str(folder), XDG_CACHE_HOME=str(folder / 'cache')),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert made.returncode == 0, made.stderr.decode()
    assert any((place.project / '.taipan-cache').rglob('*')), 'the cache that is to be planted is empty'


DECEIVE = [
    module('deceive-colours', 'undefined_\x1b[31mname\x1b[0m\n', never_says=['\x1b[31m']),
    module('deceive-title', 'x = "\x1b]0;owned\x07" + 1\n', never_says=['\x1b]0;owned']),
    module('deceive-directions', 'x = "\u202e" + 1 # \u2066\n', never_says=['\u202e', '\u2066']),
    module('deceive-prints', 'print "\\x1b]0;owned\\x07\\x1b[2J"\n', never_says=['\x1b[2J', '\x1b]0;']),
    module('deceive-raises', 'raise ValueError("\\x1b[2Jgone")\n', never_says=['\x1b[2J'], says=['error']),
]

PLANTED = [Case('deceive-cache', {'target.py': TARGET}, prepare=plant_cache, only_by=('planted',))]

CASES = [*RUN, *WRITE, *EXHAUST, *HANG, *DECEIVE, *PLANTED]
