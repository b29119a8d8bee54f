//! Which options of a C compiler a folder may choose that nobody trusts: those that can neither run a
//! program nor write a file.
//!
//! It is a list of what is allowed. An option that is not on it is refused, however harmless: compilers
//! gain options with every release, among them ones that load plug-ins and name files to write.
//!
//! `-include` is not on it. A precompiled header lies beside a header unseen, gcc maps it into its own
//! memory, and nothing but a token in front of all headers keeps it from doing so.

/// Options whose argument is attached or the next word, and names a folder, a macro or a library.
const WITH_ARGUMENT: &[&str] = &["-I", "-L", "-D", "-U", "-l"];

/// Options whose argument is the next word.
const WITH_NEXT: &[&str] = &["-isystem", "-iquote", "-idirafter"];

/// Options that stand for themselves.
const ALONE: &[&str] = &[
    "-ansi",
    "-pedantic",
    "-pedantic-errors",
    "-pthread",
    "-pthreads",
    "-pipe",
    "-rdynamic",
    "-s",
    "-static",
    "-static-libgcc",
    "-nostdinc",
    "-undef",
    "-w",
    "-g",
];

/// Options that begin so, and go on with letters, digits and `+-._=` only.
const BEGINNINGS: &[&str] = &[
    "-std=", "-O", "-g0", "-g1", "-g2", "-g3", "-ggdb", "-gdwarf",
];

/// Values of `-f` that are allowed.
const FEATURES: &[&str] = &[
    "PIC",
    "pic",
    "PIE",
    "pie",
    "asynchronous-unwind-tables",
    "common",
    "data-sections",
    "delete-null-pointer-checks",
    "exceptions",
    "fast-math",
    "fat-lto-objects",
    "function-sections",
    "gnu89-inline",
    "inline-functions",
    "lax-vector-conversions",
    "lto",
    "lto=auto",
    "math-errno",
    "ms-extensions",
    "omit-frame-pointer",
    "openmp",
    "permissive",
    "rounding-math",
    "short-enums",
    "short-wchar",
    "signed-char",
    "stack-clash-protection",
    "stack-protector",
    "stack-protector-all",
    "stack-protector-strong",
    "strict-aliasing",
    "strict-overflow",
    "trapping-math",
    "trapv",
    "unroll-loops",
    "unsigned-char",
    "unwind-tables",
    "visibility-inlines-hidden",
    "wrapv",
];

/// Prefixes of `-f` options with a value that are allowed.
const FEATURES_WITH_VALUE: &[&str] = &[
    "cf-protection",
    "debug-prefix-map",
    "exec-charset",
    "file-prefix-map",
    "fp-contract",
    "input-charset",
    "macro-prefix-map",
    "pack-struct",
    "visibility",
];

/// Linker options that are allowed behind `-Wl,`.
const FOR_LINKER: &[&str] = &[
    "-E",
    "--export-dynamic",
    "-export-dynamic",
    "--as-needed",
    "--no-as-needed",
    "--gc-sections",
    "--no-undefined",
    "--start-group",
    "--end-group",
    "--whole-archive",
    "--no-whole-archive",
    "--enable-new-dtags",
    "--disable-new-dtags",
    "-Bstatic",
    "-Bdynamic",
    "-Bsymbolic",
    "-Bsymbolic-functions",
    "-O1",
    "-O2",
    "-s",
];

/// Linker options that are allowed behind `-Wl,`, with an argument behind a comma or `=`.
const FOR_LINKER_WITH_ARGUMENT: &[&str] = &[
    "-rpath",
    "--rpath",
    "-R",
    "-rpath-link",
    "--rpath-link",
    "-soname",
    "--soname",
    "-h",
    "-z",
    "--hash-style",
    "--build-id",
];

/// Endings of files that are linked as they are.
const LINKED: &[&str] = &[".o", ".a", ".so"];

/// The first of these options that might run a program or write a file.
pub fn refused_option(options: &[String]) -> Option<&str> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let option = option.as_str();
        let takes_next = WITH_NEXT.contains(&option) || WITH_ARGUMENT.contains(&option);
        if takes_next {
            // A missing argument is the compiler's to complain about.
            if rest
                .next()
                .is_some_and(|argument| argument.starts_with('@'))
            {
                return Some(option);
            }
        } else if !is_harmless(option) {
            return Some(option);
        }
    }
    None
}

fn is_harmless(option: &str) -> bool {
    if !option.starts_with('-') {
        return is_linked_file(option);
    }
    ALONE.contains(&option)
        || WITH_ARGUMENT.iter().any(|start| option.starts_with(start))
        || begins_harmless(option)
        || option.strip_prefix("-f").is_some_and(is_harmless_feature)
        || option.strip_prefix("-m").is_some_and(is_harmless_machine)
        || option.strip_prefix("-Wl,").is_some_and(is_harmless_link)
        || option.strip_prefix("-W").is_some_and(is_plain)
}

/// Whether it is a file for the linker. Files may begin with anything but `@`, which would be one with
/// more options.
fn is_linked_file(name: &str) -> bool {
    !name.starts_with('@')
        && (LINKED.iter().any(|ending| name.ends_with(ending)) || name.contains(".so."))
}

fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-._=".contains(c);
    text.chars().all(plain)
}

fn begins_harmless(option: &str) -> bool {
    let mut starts = BEGINNINGS.iter();
    starts.any(|start| option.strip_prefix(start).is_some_and(is_plain))
}

fn is_harmless_feature(feature: &str) -> bool {
    if let Some((name, _)) = feature.split_once('=')
        && FEATURES_WITH_VALUE.contains(&name)
    {
        return true;
    }
    // A disabled option neither runs nor writes anything.
    let turned_off = feature
        .strip_prefix("no-")
        .is_some_and(|f| is_plain(f) && !f.contains('='));
    turned_off || FEATURES.contains(&feature) || FEATURES_WITH_VALUE.contains(&feature)
}

/// `-mllvm` and `-mmlir` give clang's own parts options, among them ones that load plug-ins.
fn is_harmless_machine(what: &str) -> bool {
    is_plain(what) && !what.starts_with("llvm") && !what.starts_with("mlir")
}

fn is_harmless_link(words: &str) -> bool {
    let mut words = words.split(',');
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        if FOR_LINKER_WITH_ARGUMENT.contains(&name) {
            let alone = name == "--build-id" || name.len() < word.len();
            if !alone
                && words
                    .next()
                    .is_none_or(|argument| argument.starts_with('@'))
            {
                return false;
            }
        } else if !FOR_LINKER.contains(&word) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &str) -> Option<String> {
        let words: Vec<String> = options.split(' ').map(str::to_owned).collect();
        refused_option(&words).map(str::to_owned)
    }

    #[test]
    fn what_programs_say_of_libraries_is_allowed() {
        for options in [
            "-I/usr/include/x -I inc -DN=5 -D M -U M -L. -lfoo -l foo -isystem inc",
            "-O2 -g -Wall -Wno-error=x -std=gnu99 -pthread -fPIC -fno-strict-aliasing -m32 -march=x86-64-v2",
            "-Wl,-rpath,/opt/lib -Wl,--as-needed -Wl,-z,relro,-z,now -Wl,--export-dynamic -Wl,-rpath=/opt/lib",
            "lib/libfoo.a part.o libfoo.so libfoo.so.1",
        ] {
            assert_eq!(refused(options), None, "{options}");
        }
    }

    #[test]
    fn what_may_run_or_write_is_refused() {
        for option in [
            "-wrapper",
            "-B.",
            "-specs=x",
            "-specs",
            "-fplugin=./x.so",
            "-fpass-plugin=x.so",
            "-fplugin-arg-x-y",
            "-fdump-tree-all=/tmp/x",
            "-fuse-ld=./ld",
            "-fprofile-generate",
            "-ftest-coverage",
            "-fstack-usage",
            "-fcallgraph-info",
            "-fsave-optimization-record",
            "-fopt-info-all=/tmp/x",
            "-fdiagnostics-add-output=sarif:file=x",
            "-fmodule-mapper=|x",
            "-ftime-trace=/tmp/x",
            "-fcrash-diagnostics-dir=/tmp",
            "-gsplit-dwarf",
            "-Xclang",
            "-Xlinker",
            "-Xassembler",
            "-mllvm",
            "-mllvm=-load=x",
            "@options",
            "-o",
            "-ox",
            "-x",
            "-xc++",
            "-include",
            "-imacros",
            "-MD",
            "-MF/tmp/x",
            "-save-temps",
            "-dumpdir",
            "-E",
            "-S",
            "-T",
            "-Tscript",
            "-Wl,-T,script",
            "-Wl,-Map=/tmp/x",
            "-Wl,-plugin,x.so",
            "-Wl,--dynamic-linker=x",
            "-Wl,-rpath,@x",
            "-Wl,-rpath",
            "-Wl,@x",
            "-Wa,-a=/tmp/x",
            "-Wp,-MD,/tmp/x",
            "-no-canonical-prefixes",
            "--sysroot=.",
            "--config=x",
            "-cc1",
            "x.c",
            "x.s",
        ] {
            assert_eq!(refused(option).as_deref(), Some(option));
        }
        assert_eq!(refused("-I @x").as_deref(), Some("-I"));
        assert_eq!(refused("-O2 -B. -lm").as_deref(), Some("-B."));
    }
}
