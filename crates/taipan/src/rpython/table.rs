//! The options of the original's command line, and what each means here.
//!
//! The names are those of `translate.py` and `rpython/config/translationoption.py`. The parser, the help, the manual
//! page, what targets set in `driver.config.translation`, and docs/moving.md follow this table.

use Meaning::{AsItIs, Build, ByValue, Compiler, Like, NoEffect, Output, Refused, Step, Training};
use Takes::{Choice, Switch, Text, Word};

/// An option of the original.
pub(super) struct Original {
    /// Its spellings.
    pub(super) names: &'static [&'static str],
    /// Its path in `config.translation`; empty for options of `translate.py` itself.
    pub(super) key: &'static str,
    /// The value behind it.
    pub(super) takes: Takes,
    /// Its meaning when given, or with a value.
    pub(super) on: Meaning,
    /// The meaning of its negative form (`--no-NAME`).
    pub(super) off: Meaning,
    /// Its line of the help; empty if the help does not show it.
    pub(super) help: &'static str,
}

/// The value of an option.
pub(super) enum Takes {
    /// None.
    Word,
    /// None, and there is a negative form.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text, shown as this in the help.
    Text(&'static str),
}

/// Meaning of an option for `taipan build`.
pub(super) enum Meaning {
    /// These words of `taipan build`; `{}` stands for the value.
    Build(&'static [&'static str]),
    /// The same, where that is not quite what the original does: the difference.
    Like(&'static [&'static str], &'static str),
    /// No effect: it is always so.
    AsItIs,
    /// No effect, for this reason.
    NoEffect(&'static str),
    /// Refused, since it would change the program's meaning; the alternative.
    Refused(&'static str),
    /// The step at which the translation ends.
    Step(Goal),
    /// By the value; `*` stands for all others.
    ByValue(&'static [(&'static str, Meaning)]),
    /// The value is the C compiler.
    Compiler,
    /// The value is the executable's name.
    Output,
    /// Optimise by a profile: `--profopt`, and `--profoptargs` with the arguments of the training run.
    Training,
}

/// The step at which a translation ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Goal {
    /// Types are known, and errors reported.
    Check,
    /// C files are written.
    Source,
    /// The executable is made.
    Compile,
}

impl Original {
    /// The first long name, which stands for the option in messages.
    pub(super) fn name(&self) -> &'static str {
        let long = self.names.iter().find(|n| n.starts_with("--"));
        long.unwrap_or(&self.names[0])
    }

    /// The short name.
    pub(super) fn short(&self) -> Option<char> {
        let short = self.names.iter().find(|n| !n.starts_with("--"))?;
        short.chars().nth(1)
    }

    /// The name in the parser.
    pub(super) fn id(&self) -> &'static str {
        self.name().trim_start_matches('-')
    }

    /// The name of the negative form in the parser.
    pub(super) fn negation(&self) -> Option<String> {
        matches!(self.takes, Switch).then(|| match self.id() {
            id if id.starts_with("without") => id.replacen("without", "with", 1),
            id if id.starts_with("with") => id.replacen("with", "without", 1),
            id => format!("no-{id}"),
        })
    }

    /// The option with a path in `config.translation`.
    pub(super) fn with_key(key: &str) -> Option<&'static Original> {
        OPTIONS.iter().find(|o| !key.is_empty() && o.key == key)
    }
}

const NO_STEP: Meaning =
    Refused("steps are not left out: name the last one (--annotate, --rtype, --source)");
const INLINING: &str = "what is inlined is decided by what calls cost";
const COLLECTOR: &str =
    "means the generational collector, which moves objects and is the only one here that does";
const PROFILED: &str = "--profopt with --profoptargs optimises by a profile";
const WINDOWS: &str = "it is about Windows";

/// The help of options that are accepted, and not shown.
const HIDDEN: &str = "";

macro_rules! original {
    ($($names:literal)|+, $key:literal, $takes:expr, $on:expr, $off:expr, $help:expr) => {
        Original { names: &[$($names),+], key: $key, takes: $takes, on: $on, off: $off, help: $help }
    };
    ($($names:literal)|+, $key:literal, $takes:expr, $on:expr, $help:expr) => {
        original!($($names)|+, $key, $takes, $on, AsItIs, $help)
    };
}

/// All of them, in the order of the help.
pub(super) const OPTIONS: &[Original] = &[
    original!(
        "-O" | "--opt",
        "",
        Choice(&["0", "1", "size", "mem", "2", "3", "jit"]),
        ByValue(&[
            ("jit", Build(&["--jit"])),
            (
                "size",
                Like(
                    &["-O", "2", "--passes", "+asserts"],
                    "means -O2 without assertions"
                )
            ),
            (
                "mem",
                Like(
                    &["-O", "2", "--passes", "+asserts"],
                    "means -O2 without assertions"
                )
            ),
            ("*", Build(&["-O", "{}"])),
        ]),
        "Optimisation level: 2 by default, by way of C; `jit` generates the just-in-time compiler"
    ),
    original!(
        "--output",
        "output",
        Text("NAME"),
        Output,
        "The executable; by default what the target says, or its name and `-c`"
    ),
    // Steps.
    original!(
        "-a" | "--annotate",
        "",
        Word,
        Step(Goal::Check),
        "Report errors, and make nothing"
    ),
    original!(
        "-t" | "--rtype",
        "",
        Word,
        Step(Goal::Check),
        "Report errors, and make nothing"
    ),
    original!(
        "--backendopt",
        "",
        Word,
        Step(Goal::Check),
        "Report errors, and make nothing"
    ),
    original!(
        "--pyjitpl",
        "",
        Word,
        Step(Goal::Check),
        "Report errors, and make nothing"
    ),
    original!(
        "-s" | "--source",
        "",
        Word,
        Step(Goal::Source),
        "Leave C files and a Makefile in a folder, the executable's name and `-source`, and compile nothing"
    ),
    original!(
        "-c" | "--compile",
        "",
        Word,
        Step(Goal::Compile),
        "Make the executable, which is the default"
    ),
    original!(
        "--pyjittest",
        "",
        Word,
        Refused("`taipan run --jit TARGET.py` tries the just-in-time compiler out"),
        HIDDEN
    ),
    original!(
        "--llinterpret",
        "",
        Word,
        Refused("`taipan run --engine llinterp TARGET.py` interprets low-level graphs"),
        HIDDEN
    ),
    original!("--no-annotate", "", Word, NO_STEP, HIDDEN),
    original!("--no-rtype", "", Word, NO_STEP, HIDDEN),
    original!("--no-pyjitpl", "", Word, NO_STEP, HIDDEN),
    original!("--no-jittest", "", Word, NO_STEP, HIDDEN),
    original!("--no-backendopt", "", Word, NO_STEP, HIDDEN),
    original!("--no-source", "", Word, NO_STEP, HIDDEN),
    original!("--no-compile", "", Word, NO_STEP, HIDDEN),
    original!("--no-llinterpret", "", Word, NO_STEP, HIDDEN),
    // Memory.
    original!(
        "--gc",
        "gc",
        Choice(&[
            "incminimark",
            "boehm",
            "ref",
            "none",
            "minimark",
            "generation",
            "hybrid",
            "semispace",
            "statistics"
        ]),
        ByValue(&[
            ("incminimark", Build(&["--gc", "generational"])),
            ("boehm", Build(&["--gc", "boehm"])),
            ("ref", Build(&["--gc", "ref"])),
            ("none", Build(&["--gc", "none"])),
            ("*", Like(&["--gc", "generational"], COLLECTOR)),
        ]),
        "The garbage collector; names of moving collectors mean the generational one"
    ),
    original!(
        "--gcrootfinder",
        "gcrootfinder",
        Choice(&["n/a", "shadowstack", "asmgcc"]),
        ByValue(&[
            ("asmgcc", NoEffect("roots are on a shadow stack")),
            ("*", AsItIs),
        ]),
        HIDDEN
    ),
    original!(
        "--gcremovetypeptr",
        "gcremovetypeptr",
        Switch,
        NoEffect("headers of objects are always short"),
        NoEffect("headers of objects are always short"),
        HIDDEN
    ),
    // Programs.
    original!("--thread", "thread", Switch, AsItIs, HIDDEN),
    original!("--continuation", "continuation", Switch, AsItIs, HIDDEN),
    original!(
        "--translation-jit",
        "jit",
        Switch,
        Build(&["--jit"]),
        HIDDEN
    ),
    original!(
        "--jit-backend",
        "jit_backend",
        Choice(&[
            "auto",
            "x86",
            "x86-64",
            "x86-without-sse2",
            "arm",
            "aarch64",
            "ppc",
            "s390x",
            "zarch"
        ]),
        ByValue(&[
            ("auto", AsItIs),
            ("x86", AsItIs),
            ("x86-64", AsItIs),
            (
                "*",
                Refused("the just-in-time compiler makes code for x86-64: leave it out")
            ),
        ]),
        HIDDEN
    ),
    original!(
        "--translation-jit_opencoder_model",
        "jit_opencoder_model",
        Choice(&["normal", "big"]),
        NoEffect("code is compiled by regions, which have no traces to be stored"),
        HIDDEN
    ),
    original!(
        "--translation-jit_profiler",
        "jit_profiler",
        Choice(&["off", "oprofile"]),
        ByValue(&[
            ("off", AsItIs),
            (
                "*",
                NoEffect(
                    "perf knows the compiled functions if TAIPAN_PERF_MAP=1 is set when the program runs"
                )
            ),
        ]),
        HIDDEN
    ),
    original!(
        "--shared",
        "shared",
        Switch,
        Build(&["--shared"]),
        "Make a library for C, and an executable that calls its entry point"
    ),
    original!(
        "--entrypoints",
        "secondaryentrypoints",
        Text("KEYS"),
        Build(&["--entrypoints", "{}"]),
        "Keys of the functions that the library offers; `main` by default"
    ),
    original!(
        "--sandbox",
        "sandbox",
        Switch,
        Refused(
            "sandboxed executables are not supported: leave it out, and run the \
        executable in a sandbox of the system such as bubblewrap"
        ),
        HIDDEN
    ),
    original!(
        "--revdb",
        "reverse_debugger",
        Switch,
        Refused(
            "reverse debugging is not supported: leave it out, and record the \
        executable with rr or gdb (`taipan build -g`)"
        ),
        HIDDEN
    ),
    original!(
        "--platform",
        "platform",
        Text("NAME"),
        ByValue(&[
            ("host", AsItIs),
            (
                "*",
                Refused("`taipan build --target TRIPLE` makes programs for other machines")
            ),
        ]),
        HIDDEN
    ),
    original!(
        "-b" | "--backend",
        "backend",
        Choice(&["c"]),
        AsItIs,
        HIDDEN
    ),
    original!(
        "--translation-rweakref",
        "rweakref",
        Switch,
        AsItIs,
        NoEffect("weak references are there in any case"),
        HIDDEN
    ),
    original!(
        "--log",
        "log",
        Switch,
        AsItIs,
        NoEffect("sections of output (PYPYLOG) are there in any case"),
        HIDDEN
    ),
    original!(
        "--lldebug",
        "lldebug",
        Switch,
        Build(&["--lldebug"]),
        Build(&["--lldebug", "false"]),
        "Check indices, raw memory that was freed and the like"
    ),
    original!(
        "--lldebug0",
        "lldebug0",
        Switch,
        Build(&["--lldebug", "-O", "0"]),
        "The same, with -O0"
    ),
    // The C compiler.
    original!(
        "--cc",
        "cc",
        Text("COMPILER"),
        Compiler,
        "The C compiler, as the variable CC"
    ),
    original!(
        "--make-jobs",
        "make_jobs",
        Text("N"),
        Build(&["--threads", "{}"]),
        "Worker threads, of all steps"
    ),
    original!(
        "--lto",
        "lto",
        Switch,
        Build(&["--lto"]),
        "Optimise all C files together when they are linked"
    ),
    original!(
        "--profopt",
        "profopt",
        Switch,
        Training,
        "Optimise by a training run"
    ),
    original!(
        "--profoptargs",
        "profoptargs",
        Text("ARGS"),
        Training,
        "The arguments of that run"
    ),
    original!(
        "--no__thread",
        "no__thread",
        Word,
        NoEffect("what a thread has of its own is found in one way"),
        HIDDEN
    ),
    original!(
        "--dont-write-c-files",
        "dont_write_c_files",
        Switch,
        NoEffect("C files are kept for no longer than they are compiled, but by --source"),
        HIDDEN
    ),
    original!(
        "--dump_static_data_info",
        "dump_static_data_info",
        Switch,
        NoEffect("`taipan explore TARGET.py` shows the objects of import time"),
        HIDDEN
    ),
    // Analysis and passes.
    original!(
        "--listcompr",
        "list_comprehension_operations",
        Switch,
        AsItIs,
        AsItIs,
        HIDDEN
    ),
    original!("--keepgoing", "keepgoing", Switch, AsItIs, HIDDEN),
    original!(
        "--translation-withsmallfuncsets",
        "withsmallfuncsets",
        Text("N"),
        NoEffect("few functions at one place become tests for them"),
        HIDDEN
    ),
    original!(
        "--translation-taggedpointers",
        "taggedpointers",
        Switch,
        NoEffect("instances of UnboxedValue are objects"),
        HIDDEN
    ),
    original!(
        "--translation-split_gc_address_space",
        "split_gc_address_space",
        Switch,
        NoEffect("pointers to objects and others are told apart in any case"),
        HIDDEN
    ),
    original!(
        "--translation-rpython_translate",
        "rpython_translate",
        Switch,
        AsItIs,
        AsItIs,
        HIDDEN
    ),
    original!(
        "--translation-backendopt-none",
        "backendopt.none",
        Switch,
        Build(&["--passes", "-all"]),
        "No passes over graphs"
    ),
    original!(
        "--translation-backendopt-inline",
        "backendopt.inline",
        Switch,
        AsItIs,
        Build(&["--passes", "-inlining"]),
        HIDDEN
    ),
    original!(
        "--inline-threshold",
        "backendopt.inline_threshold",
        Text("N"),
        ByValue(&[
            ("0", Build(&["--passes", "-inlining"])),
            ("*", NoEffect(INLINING)),
        ]),
        "0: inline nothing; any other value changes nothing"
    ),
    original!(
        "--inline-heuristic",
        "backendopt.inline_heuristic",
        Text("NAME"),
        NoEffect(INLINING),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-print_statistics",
        "backendopt.print_statistics",
        Switch,
        Build(&["--timings"]),
        "Print tables of phases and passes"
    ),
    original!(
        "--if-block-merge",
        "backendopt.merge_if_blocks",
        Switch,
        AsItIs,
        Build(&["--passes", "-switches"]),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-mallocs",
        "backendopt.mallocs",
        Switch,
        AsItIs,
        Build(&["--passes", "-allocations"]),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-constfold",
        "backendopt.constfold",
        Switch,
        AsItIs,
        Build(&["--passes", "-folding"]),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-profile_based_inline",
        "backendopt.profile_based_inline",
        Text("ARGS"),
        NoEffect(PROFILED),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-profile_based_inline_threshold",
        "backendopt.profile_based_inline_threshold",
        Text("N"),
        NoEffect(PROFILED),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-profile_based_inline_heuristic",
        "backendopt.profile_based_inline_heuristic",
        Text("NAME"),
        NoEffect(PROFILED),
        HIDDEN
    ),
    original!(
        "--translation-backendopt-remove_asserts",
        "backendopt.remove_asserts",
        Switch,
        Build(&["--passes", "+asserts"]),
        Build(&["--passes", "-asserts"]),
        "Leave assertions out"
    ),
    original!(
        "--translation-backendopt-really_remove_asserts",
        "backendopt.really_remove_asserts",
        Switch,
        Build(&["--passes", "+asserts"]),
        "Leave assertions out"
    ),
    original!(
        "--translation-backendopt-storesink",
        "backendopt.storesink",
        Switch,
        AsItIs,
        AsItIs,
        HIDDEN
    ),
    // Output.
    original!("--batch", "", Word, AsItIs, HIDDEN),
    original!(
        "--verbose",
        "verbose",
        Switch,
        Build(&["--timings"]),
        "Print tables of phases and passes"
    ),
    original!(
        "--profile",
        "",
        Switch,
        Like(&["--timings"], "prints tables of phases and passes"),
        "Print tables of phases and passes"
    ),
    original!(
        "--pdb",
        "",
        Switch,
        NoEffect("no debugger is started: diagnostics have the place"),
        HIDDEN
    ),
    original!(
        "--view",
        "",
        Word,
        NoEffect("`taipan explore TARGET.py` shows graphs"),
        HIDDEN
    ),
    original!(
        "--huge",
        "",
        Text("N"),
        NoEffect("`taipan explore TARGET.py` shows graphs of any size"),
        HIDDEN
    ),
    original!(
        "--fork-before",
        "fork_before",
        Choice(&[
            "annotate",
            "rtype",
            "backendopt",
            "database",
            "source",
            "pyjitpl"
        ]),
        NoEffect("each translation continues from the one before"),
        HIDDEN
    ),
    original!(
        "--translation-countmallocs",
        "countmallocs",
        Switch,
        NoEffect("nothing is counted: PYPYLOG=gc:- shows collections"),
        HIDDEN
    ),
    original!(
        "--translation-countfieldaccess",
        "countfieldaccess",
        Switch,
        NoEffect("nothing is counted"),
        HIDDEN
    ),
    original!(
        "--translation-instrumentctl",
        "instrumentctl",
        Text("TEXT"),
        NoEffect(PROFILED),
        HIDDEN
    ),
    original!(
        "--translation-icon",
        "icon",
        Text("FILE"),
        NoEffect(WINDOWS),
        HIDDEN
    ),
    original!(
        "--translation-manifest",
        "manifest",
        Text("FILE"),
        NoEffect(WINDOWS),
        HIDDEN
    ),
    original!(
        "--translation-libname",
        "libname",
        Text("FILE"),
        NoEffect(WINDOWS),
        HIDDEN
    ),
];
