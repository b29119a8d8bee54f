"""Trees of named options with values, and command lines that set them."""
import optparse

SUPPRESS_USAGE = optparse.SUPPRESS_USAGE

# As the cmdline of an option: the option is called after its path.
DEFAULT_OPTION_NAME = object()


class ConfigError(Exception):
    pass


class ConflictConfigError(ConfigError):
    pass


class NoMatchingOptionFound(AttributeError):
    pass


class Config(object):
    """The values of the options of an OptionDescription, as attributes."""

    def __init__(self, descr, parent=None, **overrides):
        self._cfgimpl_descr = descr
        self._cfgimpl_parent = parent
        for child in descr._children:
            if isinstance(child, OptionDescription):
                value = Config(child, self)
            else:
                value = child.getdefault()
            object.__setattr__(self, child._name, value)
        self.override(overrides)

    def override(self, overrides):
        """Set options by their dotted paths."""
        for path in overrides:
            home, name = self._cfgimpl_get_home_by_path(path)
            setattr(home, name, overrides[path])

    def _cfgimpl_get_home_by_path(self, path):
        home = self
        names = path.split('.')
        for name in names[:-1]:
            home = getattr(home, name)
        return home, names[-1]

    def __setattr__(self, name, value):
        if not name.startswith('_cfgimpl_'):
            child = self._cfgimpl_descr.child(name)
            if child is None:
                raise AttributeError("no option %s" % (name,))
            if not child.validate(value):
                raise ConfigError("option %s cannot be %r" % (name, value))
        object.__setattr__(self, name, value)

    def suggest(self, **values):
        self.set(**values)

    def set(self, **values):
        """Set options by the last part of their names, or by their paths."""
        for name in values:
            homes = self._cfgimpl_homes(name) if '.' not in name else [
                self._cfgimpl_get_home_by_path(name)[0]]
            if not homes:
                raise NoMatchingOptionFound("no option %s" % (name,))
            setattr(homes[0], name.split('.')[-1], values[name])

    def _cfgimpl_homes(self, name):
        result = []
        for child in self._cfgimpl_descr._children:
            if isinstance(child, OptionDescription):
                result.extend(getattr(self, child._name)._cfgimpl_homes(name))
            elif child._name == name:
                result.append(self)
        return result

    def getpaths(self, include_groups=False):
        result = []
        for child in self._cfgimpl_descr._children:
            if isinstance(child, OptionDescription):
                if include_groups:
                    result.append(child._name)
                below = getattr(self, child._name).getpaths(include_groups)
                result.extend([child._name + '.' + path for path in below])
            else:
                result.append(child._name)
        return result

    def __str__(self):
        lines = ["[%s]" % (self._cfgimpl_descr._name,)]
        for path in self.getpaths():
            home, name = self._cfgimpl_get_home_by_path(path)
            lines.append("    %s = %s" % (path, getattr(home, name)))
        return "\n".join(lines)


class Option(object):
    opt_type = None

    def __init__(self, name, doc, default=None, cmdline=DEFAULT_OPTION_NAME, **ignored):
        self._name = name
        self.doc = doc
        self.default = default
        self.cmdline = cmdline

    def getdefault(self):
        return self.default

    def validate(self, value):
        return True

    def add_optparse_option(self, names, parser, config):
        def store(option, opt_str, value, parser):
            setattr(config, self._name, value)
        parser.add_option(help=self.doc, action='callback', type=self.opt_type,
                          callback=store, *names)


class BoolOption(Option):
    def __init__(self, name, doc, default=None, cmdline=DEFAULT_OPTION_NAME, negation=True, **ignored):
        Option.__init__(self, name, doc, default=default, cmdline=cmdline)
        self.negation = negation

    def validate(self, value):
        return isinstance(value, bool)

    def add_optparse_option(self, names, parser, config):
        def store(option, opt_str, value, parser):
            setattr(config, self._name, '--no-' not in opt_str)
        parser.add_option(help=self.doc, action='callback', callback=store, *names)
        negated = ['--no-' + n[2:] for n in names if n.startswith('--')]
        if self.negation and negated:
            parser.add_option(action='callback', callback=store, *negated)


class IntOption(Option):
    opt_type = 'int'

    def validate(self, value):
        return isinstance(value, (int, long))


class FloatOption(Option):
    opt_type = 'float'

    def validate(self, value):
        return isinstance(value, (int, long, float))


class StrOption(Option):
    opt_type = 'string'

    def validate(self, value):
        return isinstance(value, str)


class ChoiceOption(Option):
    opt_type = 'string'

    def __init__(self, name, doc, values, default=None, cmdline=DEFAULT_OPTION_NAME, **ignored):
        Option.__init__(self, name, doc, default=default, cmdline=cmdline)
        self.values = values

    def validate(self, value):
        return value is None or value in self.values


class ArbitraryOption(Option):
    def __init__(self, name, doc, default=None, defaultfactory=None, **ignored):
        Option.__init__(self, name, doc, default=default)
        self.defaultfactory = defaultfactory

    def getdefault(self):
        if self.defaultfactory is not None:
            return self.defaultfactory()
        return self.default

    def add_optparse_option(self, names, parser, config):
        pass


class OptionDescription(object):
    """A named group of options."""

    def __init__(self, name, doc, children, cmdline=DEFAULT_OPTION_NAME):
        self._name = name
        self.doc = doc
        self._children = children
        self.cmdline = cmdline

    def child(self, name):
        for child in self._children:
            if child._name == name:
                return child
        return None


def to_optparse(config, useoptions=None, parser=None, parserargs=(), parserkwargs={},
                extra_useoptions=()):
    """A command-line parser that sets the options with these paths."""
    if parser is None:
        parser = optparse.OptionParser(*parserargs, **parserkwargs)
    if not isinstance(config, Config):
        return parser
    paths = config.getpaths() if useoptions is None else useoptions
    for path in list(paths) + list(extra_useoptions):
        if path.endswith('.*'):
            continue
        home, name = config._cfgimpl_get_home_by_path(path)
        option = home._cfgimpl_descr.child(name)
        if isinstance(option, Option) and option.cmdline is not None:
            if option.cmdline is DEFAULT_OPTION_NAME:
                names = ['--' + path.replace('.', '-')]
            else:
                names = option.cmdline.split()
            option.add_optparse_option(names, parser, home)
    return parser
