"""The options of a translation, for programs that look at them while they load."""
import os
import sys

from rpython.config.config import (
    ArbitraryOption, BoolOption, ChoiceOption, Config, ConfigError, ConflictConfigError,
    FloatOption, IntOption, OptionDescription, StrOption)

DEFL_INLINE_THRESHOLD = 32.4
DEFL_PROF_BASED_INLINE_THRESHOLD = 32.4
DEFL_LOW_INLINE_THRESHOLD = 16.2
DEFL_GC = "incminimark"
DEFL_ROOTFINDER_WITHJIT = "shadowstack"
# Where programs that load may put what they want to find again; they never do. The folder is in memory, as all that
# they write, and nobody else could have made it.
CACHE_DIR = '/rpython-cache'
if not os.path.isdir(CACHE_DIR):
    os.mkdir(CACHE_DIR)
IS_64_BITS = sys.maxint > 2147483647
SUPPORT__THREAD = True
OPT_LEVELS = ['0', '1', 'size', 'mem', '2', '3', 'jit']
DEFAULT_OPT_LEVEL = '2'
PLATFORMS = ['host', 'arm']

_GCS = ["boehm", "ref", "semispace", "statistics", "generation", "hybrid", "minimark",
        "incminimark", "none"]
_HEURISTIC = "rpython.translator.backendopt.inline.inlining_heuristic"


def _off(name, doc, **kwds):
    return BoolOption(name, doc, default=False, **kwds)


def _on(name, doc, **kwds):
    return BoolOption(name, doc, default=True, **kwds)

translation_optiondescription = OptionDescription("translation", "Translation Options", [
    _off("continuation", "stacklets", cmdline="--continuation"),
    ChoiceOption("type_system", "type system", ["lltype"], default="lltype", cmdline=None),
    ChoiceOption("backend", "code generator", ["c"], default="c", cmdline="-b --backend"),
    _off("shared", "a library instead of a program", cmdline="--shared"),
    _on("log", "print what happens if asked to", cmdline="--log"),
    ChoiceOption("gc", "garbage collector", _GCS, default="ref", cmdline="--gc", requires=dict(
        [(gc, [("translation.gctransformer",
                gc if gc in ("boehm", "ref", "none") else "framework")]) for gc in _GCS])),
    ChoiceOption("gctransformer", "how collectors work", ["boehm", "ref", "framework", "none"],
                 default="ref", cmdline=None),
    BoolOption("gcremovetypeptr", "short object headers", default=IS_64_BITS,
               cmdline="--gcremovetypeptr"),
    ChoiceOption("gcrootfinder", "how roots are found", ["n/a", "shadowstack"],
                 default="shadowstack", cmdline="--gcrootfinder"),
    _off("thread", "threads", cmdline="--thread"),
    _off("sandbox", "no system calls", cmdline="--sandbox"),
    _on("rweakref", "weak references"),
    _off("jit", "generate a just-in-time compiler",
         suggests=[("translation.gc", DEFL_GC),
                   ("translation.gcrootfinder", DEFL_ROOTFINDER_WITHJIT),
                   ("translation.list_comprehension_operations", True)]),
    ChoiceOption("jit_backend", "its code generator", ["auto", "x86", "x86-without-sse2", "arm"],
                 default="auto", cmdline="--jit-backend"),
    ChoiceOption("jit_opencoder_model", "how big its traces may be, in older versions",
                 ["normal", "big"], default="normal"),
    ChoiceOption("jit_profiler", "its profiler", ["off", "oprofile"], default="off"),
    _off("check_str_without_nul", "strings for C have no zero bytes", cmdline=None),
    _off("verbose", "say more", cmdline="--verbose"),
    StrOption("cc", "the C compiler", cmdline="--cc"),
    _off("profopt", "optimize after profiles", cmdline="--profopt"),
    StrOption("profoptargs", "what to profile", cmdline="--profoptargs"),
    _off("instrument", "count what runs", cmdline=None),
    _off("countmallocs", "count allocations", cmdline=None),
    _off("countfieldaccess", "count accesses to fields"),
    ChoiceOption("fork_before", "where to stop for repetitions",
                 ["annotate", "rtype", "backendopt", "database", "source", "pyjitpl"],
                 cmdline="--fork-before"),
    _off("dont_write_c_files", "write no code", cmdline="--dont-write-c-files"),
    ArbitraryOption("instrumentctl", "what counts"),
    StrOption("output", "name of the program", cmdline="--output"),
    StrOption("secondaryentrypoints", "further entry points, by the keys of their groups",
              default="main", cmdline="--entrypoints"),
    _off("dump_static_data_info", "say what prebuilt data there is",
         cmdline="--dump_static_data_info"),
    BoolOption("no__thread", "variables of threads by calls", default=not SUPPORT__THREAD,
               cmdline="--no__thread", negation=False),
    IntOption("make_jobs", "parallel compilers", default=1, cmdline="--make-jobs"),
    _off("list_comprehension_operations", "lists of known length", cmdline="--listcompr"),
    IntOption("withsmallfuncsets", "how small sets of functions are numbers", default=0),
    _off("taggedpointers", "small integers inside pointers"),
    _off("keepgoing", "collect errors", cmdline="--keepgoing"),
    _off("lldebug", "checks in the low-level code", cmdline="--lldebug"),
    _off("lldebug0", "the same without optimization", cmdline="--lldebug0"),
    _off("lto", "optimize while linking", cmdline="--lto"),
    StrOption("icon", "picture of the program"),
    StrOption("manifest", "its manifest"),
    StrOption("libname", "its library"),
    OptionDescription("backendopt", "Backend Optimization Options", [
        _on("inline", "inline small functions"),
        FloatOption("inline_threshold", "which are small", default=DEFL_INLINE_THRESHOLD,
                    cmdline="--inline-threshold"),
        StrOption("inline_heuristic", "who says so", default=_HEURISTIC,
                  cmdline="--inline-heuristic"),
        _off("print_statistics", "say what was done"),
        _on("merge_if_blocks", "make switches", cmdline="--if-block-merge"),
        _on("mallocs", "remove allocations"),
        _on("constfold", "fold constants"),
        StrOption("profile_based_inline", "inline what is called often"),
        FloatOption("profile_based_inline_threshold", "what is small then",
                    default=DEFL_PROF_BASED_INLINE_THRESHOLD),
        StrOption("profile_based_inline_heuristic", "who says so then", default=_HEURISTIC),
        _off("remove_asserts", "assertions are not checked"),
        _off("really_remove_asserts", "nor compiled"),
        _on("storesink", "store late"),
        _off("replace_we_are_jitted", "there is no just-in-time compiler", cmdline=None),
        BoolOption("none", "no optimizations", requires=[
            ("translation.backendopt.inline", False),
            ("translation.backendopt.inline_threshold", 0),
            ("translation.backendopt.merge_if_blocks", False),
            ("translation.backendopt.mallocs", False),
            ("translation.backendopt.constfold", False)]),
    ]),
    ChoiceOption("platform", "the machine to compile for", ["host"] + PLATFORMS, default="host",
                 cmdline="--platform"),
    _off("split_gc_address_space", "objects have addresses of their own"),
    _off("reverse_debugger", "record and replay", cmdline="--revdb"),
    _off("rpython_translate", "a translation is under way"),
])


def get_combined_translation_config(other_optdescr=None, existing_config=None, overrides=None,
                                    translating=False):
    """A config with the options of the translation, and those of the program. Of an existing
    one it keeps the values of what it does not replace."""
    own = [] if other_optdescr is None else [other_optdescr]
    if existing_config is None:
        kept = [BoolOption("translating", "a translation is under way", default=False,
                           cmdline=None), translation_optiondescription]
    else:
        kept = [child for child in existing_config._cfgimpl_descr._children
                if other_optdescr is None or child._name != other_optdescr._name]
    config = Config(OptionDescription("pypy", "all options", own + kept), **(overrides or {}))
    if translating:
        config.translating = True
    if existing_config is not None:
        for child in kept:
            config._cfgimpl_store(child._name, getattr(existing_config, child._name))
    return config


def set_opt_level(config, level):
    """Suggests what goes with a level of OPT_LEVELS."""
    if level not in OPT_LEVELS:
        raise ConfigError("no such optimization level: %r" % (level,))
    translation = config.translation
    if translation._cfgimpl_value_owners['gc'] != 'suggested':
        translation.suggest(gc="boehm" if level in ('0', '1', 'size') else DEFL_GC)
    if level == '0':
        translation.backendopt.suggest(none=True)
    elif level in ('1', 'size', 'mem'):
        translation.backendopt.suggest(inline_threshold=DEFL_LOW_INLINE_THRESHOLD)
    else:
        translation.suggest(withsmallfuncsets=5)
    if level in ('size', 'mem', '3'):
        translation.backendopt.suggest(remove_asserts=True)
    if level == 'mem':
        translation.suggest(gcremovetypeptr=True)
    if level == 'jit':
        translation.suggest(jit=True)
    translation.suggest(list_comprehension_operations=True)
    translation.gc = translation.gc


def set_platform(config):
    """There is one."""


def get_platform(config):
    from rpython.translator.platform import platform
    return platform

_GLOBAL_TRANSLATIONCONFIG = None


def get_translation_config():
    """The config of the translation that is under way: none while modules load."""
    return _GLOBAL_TRANSLATIONCONFIG
