"""What a program's `target(driver, args)` gets as its driver: the options of the
translation, and for the rest something that takes settings and gives them back."""


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

    def __init__(self, module):
        self._module = module
        self._config = None
        self._disabled = []
        self.tasks = {}

    def backend_select_goals(self, goals):
        return goals

    @property
    def config(self):
        """Made when somebody asks, because most programs do not."""
        if self._config is None:
            self._config = _translation_config(self._module)
        return self._config


def _translation_config(module):
    from rpython.config import translationoption
    config = translationoption.get_combined_translation_config(translating=True)
    options = getattr(module, 'get_additional_config_options', None)
    if options is not None:
        config = translationoption.get_combined_translation_config(
            options(), existing_config=config, translating=True)
    config.translation.rpython_translate = True
    translationoption.set_opt_level(config, '2')
    return config


def call_target(module):
    """What the target of the module gives back."""
    driver = Driver(module)
    handle_config = getattr(module, 'handle_config', None)
    if handle_config is not None:
        command = Options()
        command.opt = '2'
        command.goals = []
        # As if both had been given on the command line.
        command._cfgimpl_value_owners = {'opt': 'cmdline', 'goals': 'cmdline'}
        handle_config(driver.config, command)
    return module.target(driver, [])
