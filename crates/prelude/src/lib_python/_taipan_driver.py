"""What a program's `target(driver, args)` gets as its driver: the options of the
translation, and for the rest something that takes settings and gives them back."""
import sys
from types import FunctionType


# The tags without arguments that the annotator knows.
_KNOWN_TAGS = set(['specialize:memo', 'specialize:call_location', 'specialize:ll'])


class Options(object):
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        value = Options()
        object.__setattr__(self, name, value)
        return value

    def __nonzero__(self):
        return False

    def __call__(self, *args, **kwds):
        return None


class Driver(Options):
    exe_name = None

    def __init__(self, module, translation):
        self._module = module
        self._translation = translation
        self._config = None
        self._disabled = []
        self.tasks = {}

    def backend_select_goals(self, goals):
        return goals

    @property
    def config(self):
        """Made when somebody asks, because most programs do not."""
        if self._config is None:
            self._config = _translation_config(self._module, *self._translation)
        return self._config


def _translation_config(module, level, jit, collector):
    """The options as if those of the command line had been given to the original: what is said there counts, and
    the level suggests the rest."""
    from rpython.config import translationoption
    config = translationoption.get_combined_translation_config(translating=True)
    options = getattr(module, 'get_additional_config_options', None)
    if options is not None:
        config = translationoption.get_combined_translation_config(
            options(), existing_config=config, translating=True)
    config.translation.rpython_translate = True
    config.translation.gc = collector
    if jit and level != 'jit':
        config.translation.jit = True
    translationoption.set_opt_level(config, level)
    return config


# What the target calls the executable.
exe_name = None


def call_target(module, options, level, jit, collector):
    """What the target of the module gives back, called with these options of its own, for a translation at that
    level."""
    driver = Driver(module, (level, jit, collector))
    if jit or collector != 'incminimark':
        from rpython.rlib import objectmodel
        objectmodel.set_translated_config(jit, collector)
    handle_config = getattr(module, 'handle_config', None)
    if handle_config is not None:
        command = Options()
        command.opt = level
        command.goals = []
        # As if both had been given on the command line.
        command._cfgimpl_value_owners = {'opt': 'cmdline', 'goals': 'cmdline'}
        handle_config(driver.config, command)
    entry = module.target(driver, list(options))
    if driver.exe_name is not None:
        global exe_name
        exe_name = driver.exe_name % {'backend': 'c'}
    if isinstance(entry, tuple) and len(entry) > 2:
        _forget_specialisations(entry[2])
    return entry


def _forget_specialisations(policy):
    """Programs may bring an annotation policy of their own, with methods `specialize__TAG`
    that make faster variants of functions marked so. Such functions stay as they are."""
    tags = set('specialize:' + name[len('specialize__'):] for name in dir(policy)
               if name.startswith('specialize__')) - _KNOWN_TAGS
    for module in sys.modules.values():
        for value in getattr(module, '__dict__', {}).values():
            for f in vars(value).values() if issubclass(type(value), type) else [value]:
                if type(f) is FunctionType and f.__dict__.get('_annspecialcase_') in tags:
                    del f._annspecialcase_
