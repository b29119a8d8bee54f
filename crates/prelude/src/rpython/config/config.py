"""Trees of named options with values, and command lines that set them.

Who set a value decides who may change it: defaults and suggestions yield to what the
user or another option asks for, and two who insist on different values conflict.
"""
import optparse

SUPPRESS_USAGE = optparse.SUPPRESS_USAGE

# As the cmdline of an option: the option is called after its path.
DEFAULT_OPTION_NAME = object()

YIELDING = ('default', 'suggested')


class ConfigError(Exception):
    """An option cannot have this value."""


class ConflictConfigError(ConfigError):
    """Another one, or the user, insists on another value."""


class NoMatchingOptionFound(AttributeError):
    """There is no option of this name."""


class AmbigousOptionError(Exception):
    """There are several options of this name."""


class Config(object):
    """The values of the options of an OptionDescription, as attributes."""

    _cfgimpl_frozen = False

    def __init__(self, descr, parent=None, **overrides):
        self._cfgimpl_descr = descr
        self._cfgimpl_parent = parent
        self._cfgimpl_value_owners = {}
        self._cfgimpl_warnings = []
        for child in descr._children:
            if isinstance(child, OptionDescription):
                self._cfgimpl_store(child._name, Config(child, self))
            else:
                self._cfgimpl_store(child._name, child.getdefault())
                self._cfgimpl_value_owners[child._name] = 'default'
        self.override(overrides)

    def _cfgimpl_store(self, name, value):
        object.__setattr__(self, name, value)

    def _cfgimpl_options(self):
        return [child for child in self._cfgimpl_descr._children if isinstance(child, Option)]

    def _cfgimpl_groups(self):
        return [child for child in self._cfgimpl_descr._children
                if isinstance(child, OptionDescription)]

    def _cfgimpl_get_toplevel(self):
        config = self
        while config._cfgimpl_parent is not None:
            config = config._cfgimpl_parent
        return config

    def _cfgimpl_get_home_by_path(self, path):
        """The config that has the option, and the option's name in it."""
        home = self
        names = path.split('.')
        for name in names[:-1]:
            home = getattr(home, name)
        return home, names[-1]

    def copy(self, as_default=False, parent=None):
        result = Config(self._cfgimpl_descr, parent)
        for option in self._cfgimpl_options():
            result._cfgimpl_store(option._name, getattr(self, option._name))
            if not as_default:
                owner = self._cfgimpl_value_owners[option._name]
                result._cfgimpl_value_owners[option._name] = owner
        for group in self._cfgimpl_groups():
            result._cfgimpl_store(
                group._name, getattr(self, group._name).copy(as_default, result))
        return result

    # Setting values

    def setoption(self, name, value, who):
        option = self._cfgimpl_descr.child(name)
        if option is None:
            raise AttributeError("unknown option %s" % (name,))
        owner = self._cfgimpl_value_owners[name]
        if owner not in YIELDING:
            if getattr(self, name) == value or who in YIELDING:
                return
            raise ConflictConfigError(
                "cannot override value to %s for option %s" % (value, name))
        option.setoption(self, value, who)
        self._cfgimpl_value_owners[name] = who

    def __setattr__(self, name, value):
        if name.startswith('_cfgimpl_'):
            object.__setattr__(self, name, value)
        elif self._cfgimpl_frozen and getattr(self, name) != value:
            raise TypeError("trying to change a frozen option object")
        else:
            self.setoption(name, value, 'user')

    def __delattr__(self, name):
        if name.startswith('_cfgimpl_'):
            object.__delattr__(self, name)
            return
        option = self._cfgimpl_descr.child(name)
        if not isinstance(option, Option):
            raise AttributeError("no option %s" % (name,))
        self._cfgimpl_store(name, option.default)
        self._cfgimpl_value_owners[name] = 'default'

    def __getattr__(self, path):
        if '.' not in path:
            raise AttributeError("no option %s" % (path,))
        home, name = self._cfgimpl_get_home_by_path(path)
        return getattr(home, name)

    def override(self, overrides):
        """Change defaults, by the paths of the options."""
        for path in overrides:
            home, name = self._cfgimpl_get_home_by_path(path)
            home.setoption(name, overrides[path], 'default')

    def suggest(self, **values):
        for name in values:
            self.suggestoption(name, values[name])

    def suggestoption(self, name, value):
        try:
            self.setoption(name, value, 'suggested')
        except ConflictConfigError:
            pass

    def set(self, **values):
        """Set options by the ends of their paths."""
        paths = self.getpaths()
        for end in values:
            found = [path for path in paths if ('.' + path).endswith('.' + end)]
            if not found:
                raise NoMatchingOptionFound("there is no option that matches %s" % (end,))
            if len(found) > 1:
                raise AmbigousOptionError("more than one option that ends with %s" % (end,))
            home, name = self._cfgimpl_get_home_by_path(found[0])
            home.setoption(name, values[end], 'user')

    # Looking at all of it

    def getpaths(self, include_groups=False):
        return self._cfgimpl_descr.getpaths(include_groups)

    def get_warnings(self):
        """What was warned of, in the whole tree."""
        return self._cfgimpl_get_toplevel()._cfgimpl_warnings

    def add_warning(self, warning):
        self.get_warnings().append(warning)

    def _freeze_(self):
        self._cfgimpl_frozen = True
        return True

    def getkey(self):
        """All values, by which trees are compared."""
        return self._cfgimpl_descr.getkey(self)

    def __eq__(self, other):
        return isinstance(other, Config) and self.getkey() == other.getkey()

    def __ne__(self, other):
        return not (self == other)

    def __hash__(self):
        return hash(self.getkey())

    def __iter__(self):
        for option in self._cfgimpl_options():
            yield option._name, getattr(self, option._name)

    def __str__(self, indent=""):
        lines = []
        for child in sorted(self._cfgimpl_descr._children, key=lambda child: child._name):
            value = getattr(self, child._name)
            if isinstance(value, Config):
                text = value.__str__(indent + "    ")
                if text:
                    lines.append(text)
            elif self._cfgimpl_value_owners[child._name] != 'default':
                lines.append("%s    %s = %s" % (indent, child._name, value))
        if indent and not lines:
            return ''
        return "\n".join(["%s[%s]" % (indent, self._cfgimpl_descr._name)] + lines)


class Option(object):
    """A value with a default. What else has to be set with it stands under the value in
    `_requires` and `_suggests`, as pairs of a path and a value."""

    opt_type = None

    def __init__(self, name, doc, default=None, cmdline=DEFAULT_OPTION_NAME,
                 requires=None, suggests=None):
        self._name = name
        self.doc = doc
        self.default = default
        self.cmdline = cmdline
        self._requires = requires or {}
        self._suggests = suggests or {}

    def getdefault(self):
        return self.default

    def getkey(self, value):
        return value

    def validate(self, value):
        return True

    def convert_from_cmdline(self, value):
        return value

    def setoption(self, config, value, who):
        top = config._cfgimpl_get_toplevel()
        for path, other in _with(self._requires, value):
            home, name = top._cfgimpl_get_home_by_path(path)
            home.setoption(name, other, 'default' if who == 'default' else 'required')
        for path, other in _with(self._suggests, value):
            home, name = top._cfgimpl_get_home_by_path(path)
            home.suggestoption(name, other)
        if not (value is None and who == 'default') and not self.validate(value):
            raise ConfigError("invalid value %s for option %s" % (value, self._name))
        config._cfgimpl_store(self._name, value)

    def add_optparse_option(self, names, parser, config):
        def store(option, opt_str, value, parser):
            config.setoption(self._name, self.convert_from_cmdline(value), 'cmdline')
        parser.add_option(help=self.doc, action='callback', type=self.opt_type,
                          callback=store, *names)


def _with(others, value):
    return others.get(value, []) if others else []


class BoolOption(Option):
    """`requires` and `suggests` are for True. The validator is called with the toplevel
    config before that is set."""

    def __init__(self, name, doc, default=None, requires=None, suggests=None, validator=None,
                 cmdline=DEFAULT_OPTION_NAME, negation=True):
        Option.__init__(self, name, doc, default, cmdline, {True: requires or []},
                        {True: suggests or []})
        self._validator = validator
        self.negation = negation

    def validate(self, value):
        return isinstance(value, bool)

    def setoption(self, config, value, who):
        if value and self._validator is not None:
            self._validator(config._cfgimpl_get_toplevel())
        Option.setoption(self, config, value, who)

    def add_optparse_option(self, names, parser, config):
        def callback(answer):
            def store(option, opt_str, value, parser):
                config.setoption(self._name, answer, 'cmdline')
            return store
        parser.add_option(help=self.doc, action='callback', callback=callback(True), *names)
        if self.negation:
            long_names = [name for name in names if name.startswith('--')] or names
            parser.add_option(action='callback', callback=callback(False),
                              *['--' + _negation(name.lstrip('-')) for name in long_names])


def _negation(name):
    if name.startswith('without'):
        return 'with' + name[len('without'):]
    if name.startswith('with'):
        return 'without' + name[len('with'):]
    return 'no-' + name


class IntOption(Option):
    opt_type = 'int'

    def validate(self, value):
        return isinstance(value, (int, long))

    def setoption(self, config, value, who):
        Option.setoption(self, config, _converted(int, value, self), who)


class FloatOption(Option):
    opt_type = 'float'

    def validate(self, value):
        return isinstance(value, (int, long, float))

    def setoption(self, config, value, who):
        Option.setoption(self, config, _converted(float, value, self), who)


def _converted(convert, value, option):
    if value is None:
        return None
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise ConfigError("invalid value %s for option %s" % (value, option._name))


class StrOption(Option):
    opt_type = 'string'

    def validate(self, value):
        return isinstance(value, str)


class ChoiceOption(Option):
    """One of some words; `requires` and `suggests` are by word."""

    opt_type = 'string'

    def __init__(self, name, doc, values, default=None, requires=None, suggests=None,
                 cmdline=DEFAULT_OPTION_NAME):
        Option.__init__(self, name, doc, default, cmdline, requires, suggests)
        self.values = values

    def validate(self, value):
        return value is None or value in self.values

    def convert_from_cmdline(self, value):
        return value.strip()


class ArbitraryOption(Option):
    """Any value, perhaps one made for each config."""

    def __init__(self, name, doc, default=None, defaultfactory=None):
        Option.__init__(self, name, doc, default, None)
        self.defaultfactory = defaultfactory

    def getdefault(self):
        if self.defaultfactory is not None:
            return self.defaultfactory()
        return self.default

    def add_optparse_option(self, names, parser, config):
        pass


class OptionDescription(object):
    """A named group of options."""

    cmdline = None

    def __init__(self, name, doc, children):
        self._name = name
        self.doc = doc
        self._children = children
        for child in children:
            setattr(self, child._name, child)

    def child(self, name):
        for child in self._children:
            if child._name == name:
                return child
        return None

    def getkey(self, config):
        return tuple([child.getkey(getattr(config, child._name)) for child in self._children])

    def add_optparse_option(self, names, parser, config):
        pass

    def getpaths(self, include_groups=False, currpath=None):
        """The paths of all options below."""
        above = currpath or []
        paths = []
        for child in self._children:
            path = above + [child._name]
            if isinstance(child, OptionDescription):
                if include_groups:
                    paths.append('.'.join(path))
                paths += child.getpaths(include_groups, path)
            else:
                paths.append('.'.join(path))
        return paths


class OptHelpFormatter(optparse.TitledHelpFormatter):
    extra_useage = None


def to_optparse(config, useoptions=None, parser=None, parserargs=None, parserkwargs=None,
                extra_useage=None):
    """A command-line parser that sets the options with these paths; `group.*` stands for all
    of a group."""
    if parser is None:
        parser = optparse.OptionParser(*(parserargs or []), **(parserkwargs or {}))
    todo = config.getpaths(include_groups=True) if useoptions is None else list(useoptions)
    seen = set()
    for path in todo:
        if path.endswith('.*'):
            home, name = config._cfgimpl_get_home_by_path(path[:-2])
            todo.extend([path[:-1] + below for below in getattr(home, name).getpaths()])
        elif path not in seen:
            seen.add(path)
            home, name = config._cfgimpl_get_home_by_path(path)
            option = home._cfgimpl_descr.child(name)
            if option.cmdline is DEFAULT_OPTION_NAME:
                names = ['--' + path.replace('.', '-')]
            elif option.cmdline is None:
                continue
            else:
                names = option.cmdline.split(' ')
            option.add_optparse_option(names, parser, home)
    return parser


def make_dict(config):
    return dict([(path, getattr(config, path)) for path in config.getpaths()])
