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
    default_goal = None

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
            self._before = _values(self._config)
        return self._config


def _translation_config(module, level, jit, collector, settings):
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
    for path, text in settings:
        _set(config.translation, path, text)
    if jit and level != 'jit':
        config.translation.jit = True
    translationoption.set_opt_level(config, level)
    return config


def _set(translation, path, text):
    """Sets an option as the command line does, unless its value is one that the original does not know."""
    from rpython.config.config import BoolOption, ConfigError
    home, name = translation._cfgimpl_get_home_by_path(path)
    option = home._cfgimpl_descr.child(name)
    value = text == 'True' if isinstance(option, BoolOption) else option.convert_from_cmdline(text)
    try:
        home.setoption(name, value, 'cmdline')
    except ConfigError:
        pass


def _values(config):
    translation = config.translation
    return dict([(path, getattr(translation, path)) for path in translation.getpaths()])


def _changes(before, after):
    """The options that the target has set, as texts."""
    return [(path, str(after[path])) for path in sorted(after)
            if after[path] != before[path] and after[path] is not None]


# What the target calls the executable.
exe_name = None
# What it sets in `driver.config.translation`, as pairs of a path and a text, and `default_goal`.
settings = ()


def call_target(module, options, translation):
    """What the target of the module gives back, called with these options of its own, for a translation: level, whether
    there is a just-in-time compiler, collector, and further settings."""
    level, jit, collector, _ = translation
    driver = Driver(module, translation)
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
    _note_settings(driver)
    if driver.exe_name is not None:
        global exe_name
        exe_name = driver.exe_name % {'backend': 'c'}
    if isinstance(entry, tuple) and len(entry) > 2:
        _forget_specialisations(entry[2])
    return entry


def _note_settings(driver):
    global settings
    found = []
    if driver._config is not None:
        found = _changes(driver._before, _values(driver._config))
    if driver.default_goal is not None:
        found.append(('default_goal', str(driver.default_goal)))
    settings = tuple(found)


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
