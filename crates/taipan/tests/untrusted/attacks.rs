//! Programs that try to run native code while they are only checked: each makes a file if it can.

/// A name for people, and the source, in which `MADE` is the file and `FOLDER` the program's.
pub(crate) const ATTACKS: &[(&str, &str)] = &[
    (
        "system()",
        "\
from rpython.rtyper.lltypesystem import rffi
system = rffi.llexternal('system', [rffi.CCHARP], rffi.INT)
system(rffi.str2charp('touch MADE'))
",
    ),
    (
        "a constructor",
        "\
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
class CConfig:
    _compilation_info_ = ExternalCompilationInfo(post_include_bits=['''
        #include <stdlib.h>
        int zero(void) { return 0; }
        __attribute__((constructor)) static void begin(void) { system(\"touch MADE\"); }
    '''])
    ZERO = rffi_platform.ConstantInteger('zero()')
rffi_platform.configure(CConfig)
",
    ),
    (
        "a wrapper of the compiler",
        "\
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
eci = ExternalCompilationInfo(compile_extra=['-wrapper', 'FOLDER/script'])
rffi_platform.sizeof('int', eci)
",
    ),
];

/// What every attack ends with.
pub(crate) const ENTRY: &str = "\ndef entry_point(argv):\n    return 0\n";

/// What the compiler's wrapper does.
pub(crate) const SCRIPT: &str = "#!/bin/sh\ntouch MADE\nexec \"$@\"\n";
