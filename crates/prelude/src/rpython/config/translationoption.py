"""The options of a translation, for programs that look at them while they load."""
from rpython.config.config import (
    BoolOption, ChoiceOption, Config, IntOption, OptionDescription, StrOption)

DEFL_GC = "incminimark"
DEFL_ROOTFINDER_WITHJIT = "shadowstack"
IS_64_BITS = True
SUPPORT__THREAD = True
OPT_LEVELS = ['0', '1', 'size', 'mem', '2', '3', 'jit']

translation_optiondescription = OptionDescription("translation", "Translation Options", [
    BoolOption("continuation", "stacklets", default=False),
    ChoiceOption("type_system", "type system", ["lltype"], default="lltype"),
    ChoiceOption("backend", "code generator", ["c"], default="c"),
    BoolOption("shared", "a library instead of a program", default=False),
    BoolOption("log", "progress", default=True),
    ChoiceOption("gc", "garbage collector",
                 ["boehm", "ref", "semispace", "statistics", "generation", "hybrid",
                  "minimark", "incminimark", "none"], default=DEFL_GC),
    ChoiceOption("gcrootfinder", "how roots are found",
                 ["n/a", "shadowstack", "asmgcc"], default="shadowstack"),
    BoolOption("jit", "generate a just-in-time compiler", default=False),
    BoolOption("jit_profiler", "profile it", default=False),
    BoolOption("check_str_without_nul", "strings for C have no zero bytes", default=False),
    BoolOption("rweakref", "weak references", default=True),
    BoolOption("sandbox", "no system calls", default=False),
    BoolOption("thread", "threads", default=False),
    BoolOption("reverse_debugger", "record and replay", default=False),
    BoolOption("translating", "a translation is under way", default=False),
    BoolOption("taggedpointers", "small integers inside pointers", default=False),
    BoolOption("list_comprehension_operations", "lists of known length", default=True),
    BoolOption("withsmallfuncsets", "small sets of functions", default=False),
    BoolOption("lldebug", "checks in the low-level code", default=False),
    IntOption("make_jobs", "parallel compilers", default=1),
    StrOption("output", "name of the program", default=None),
    OptionDescription("backendopt", "Backend Optimization Options", [
        BoolOption("inline", "inline small functions", default=True),
        BoolOption("mallocs", "remove allocations", default=True),
        BoolOption("constfold", "fold constants", default=True),
    ]),
])


def get_combined_translation_config(other_optdescr=None, existing_config=None,
                                    overrides=None, translating=False):
    """A config with the options of the translation, and those of the program."""
    children = []
    if existing_config is not None:
        children.extend([child for child in existing_config._cfgimpl_descr._children
                         if child._name != "translation"])
    children.append(translation_optiondescription)
    if other_optdescr is not None:
        children.append(other_optdescr)
    config = Config(OptionDescription("rpython", "all options", children))
    config.translation.translating = translating
    if overrides:
        config.override(overrides)
    return config


def get_translation_config():
    """The config of the translation that is under way: none while modules load."""
    return None


def set_opt_level(config, level):
    """A level of OPT_LEVELS: what it sets matters to no program."""
    if level not in OPT_LEVELS:
        raise ValueError("no optimization level %s" % (level,))
