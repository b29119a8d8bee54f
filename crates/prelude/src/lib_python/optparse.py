"""Options on command lines: those that `target()` is given, since programs that load
have no command line of their own."""
import sys

SUPPRESS_HELP = 'SUPPRESSHELP'
SUPPRESS_USAGE = 'SUPPRESSUSAGE'
NO_DEFAULT = ('NO', 'DEFAULT')


class OptParseError(Exception):
    pass


class OptionError(OptParseError):
    pass


class OptionValueError(OptParseError):
    pass


class BadOptionError(OptParseError):
    pass


class HelpFormatter(object):
    """Nobody reads help while a program loads."""

    def __init__(self, *args, **kwds):
        pass

class IndentedHelpFormatter(HelpFormatter):
    pass

class TitledHelpFormatter(HelpFormatter):
    pass


class Values(object):
    def __init__(self, defaults=None):
        if defaults:
            self.__dict__.update(defaults)

    def ensure_value(self, name, value):
        if getattr(self, name, None) is None:
            setattr(self, name, value)
        return getattr(self, name)


# What values are made of, and what they are called if they are not.
_TYPES = {
    'string': (str, None), 'choice': (str, None), 'int': (int, 'integer'),
    'long': (long, 'long integer'), 'float': (float, 'floating-point'),
}

# Actions that take a value.
_WITH_VALUE = ['store', 'append']

# Actions that need no place for a value.
_WITHOUT_DEST = ['callback', 'help', 'version']


class Option(object):
    dest = None

    def __init__(self, *names, **kwds):
        self._short_opts = [n for n in names if n[1:2] != '-']
        self._long_opts = [n for n in names if n[1:2] == '-']
        self.action = kwds.pop('action', 'store')
        self.dest = kwds.pop('dest', None)
        self.default = kwds.pop('default', NO_DEFAULT)
        self.help = kwds.pop('help', None)
        self.const = kwds.pop('const', None)
        self.choices = kwds.pop('choices', None)
        self.nargs = kwds.pop('nargs', 1)
        self.callback = kwds.pop('callback', None)
        self.callback_args = kwds.pop('callback_args', ())
        self.callback_kwargs = kwds.pop('callback_kwargs', None) or {}
        type = kwds.pop('type', None)
        if type is None and self.action in _WITH_VALUE:
            type = 'choice' if self.choices else 'string'
        self.type = getattr(type, '__name__', type)
        if self.type == 'str':
            self.type = 'string'
        if self.dest is None and (self.type or self.action not in _WITHOUT_DEST):
            first = (self._long_opts or self._short_opts)[0]
            self.dest = first.lstrip('-').replace('-', '_')

    def takes_value(self):
        return self.type is not None

    def convert_value(self, name, value):
        """The value or values of the option, which is called by this name."""
        if self.nargs == 1:
            return self._converted(name, value)
        return tuple([self._converted(name, v) for v in value])

    def _converted(self, name, value):
        convert, what = _TYPES[self.type]
        if self.type == 'choice' and value not in self.choices:
            words = ', '.join(map(repr, self.choices))
            raise OptionValueError("option %s: invalid choice: %r (choose from %s)"
                                   % (name, value, words))
        try:
            if self.type in ('int', 'long'):
                return convert(value, 0)
            return convert(value)
        except ValueError:
            raise OptionValueError("option %s: invalid %s value: %r" % (name, what, value))

    def process(self, name, value, values, parser):
        if value is not None:
            value = self.convert_value(name, value)
        action, dest = self.action, self.dest
        if action == 'store':
            setattr(values, dest, value)
        elif action == 'store_const':
            setattr(values, dest, self.const)
        elif action in ('store_true', 'store_false'):
            setattr(values, dest, action == 'store_true')
        elif action in ('append', 'append_const'):
            item = value if action == 'append' else self.const
            values.ensure_value(dest, []).append(item)
        elif action == 'count':
            setattr(values, dest, values.ensure_value(dest, 0) + 1)
        elif action == 'callback':
            self.callback(self, name, value, parser, *self.callback_args,
                          **self.callback_kwargs)


class OptionGroup(object):
    def __init__(self, parser, title='', description=None):
        self.parser = parser
        self.title = title
        self.option_list = []

    def add_option(self, *args, **kwds):
        option = args[0] if args and isinstance(args[0], Option) else Option(*args, **kwds)
        self.option_list.append(option)
        return option

    def add_options(self, options):
        for option in options:
            self.add_option(option)


class OptionParser(OptionGroup):
    def __init__(self, usage=None, *args, **kwds):
        OptionGroup.__init__(self, self)
        self.usage = usage
        self.option_groups = []
        self.defaults = {}
        self.allow_interspersed_args = True
        self.values = None
        self.rargs = self.largs = None

    def set_defaults(self, **kwds):
        self.defaults.update(kwds)

    def enable_interspersed_args(self):
        self.allow_interspersed_args = True

    def disable_interspersed_args(self):
        self.allow_interspersed_args = False

    def add_option_group(self, group, *args):
        if not isinstance(group, OptionGroup):
            group = OptionGroup(self, group, *args)
        self.option_groups.append(group)
        return group

    def _options(self):
        for group in [self] + self.option_groups:
            for option in group.option_list:
                yield option

    def get_option(self, name):
        for option in self._options():
            if name in option._short_opts or name in option._long_opts:
                return option
        return None

    def has_option(self, name):
        return self.get_option(name) is not None

    def error(self, msg):
        sys.stderr.write("error: %s\n" % msg)
        sys.exit(2)

    def parse_args(self, args=None, values=None):
        """The values of the options, and the arguments that are none. Without `args` there
        are none: what loads has no command line."""
        values = values or Values(self.defaults)
        for option in self._options():
            if option.dest is not None:
                default = None if option.default is NO_DEFAULT else option.default
                values.ensure_value(option.dest, default)
        self.values, self.rargs, self.largs = values, list(args or []), []
        try:
            self._process_args()
        except (BadOptionError, OptionValueError) as e:
            self.error(str(e))
        return values, self.largs + self.rargs

    def _process_args(self):
        rargs = self.rargs
        while rargs:
            arg = rargs[0]
            if arg == '--':
                del rargs[0]
                return
            elif arg.startswith('--'):
                del rargs[0]
                self._process_long(arg)
            elif arg.startswith('-') and len(arg) > 1:
                del rargs[0]
                self._process_short(arg)
            elif self.allow_interspersed_args:
                self.largs.append(rargs.pop(0))
            else:
                return

    def _process_long(self, arg):
        name, explicit, value = arg.partition('=')
        name = self._match_long(name)
        option = self.get_option(name)
        if option.takes_value():
            if explicit:
                self.rargs.insert(0, value)
            value = self._values_of(option, name)
        elif explicit:
            raise BadOptionError("%s option does not take a value" % name)
        else:
            value = None
        option.process(name, value, self.values, self)

    def _match_long(self, name):
        """The option that is called so, or begins so."""
        if self.has_option(name):
            return name
        names = [n for option in self._options() for n in option._long_opts]
        found = sorted(n for n in names if n.startswith(name))
        if not found:
            raise BadOptionError("no such option: %s" % name)
        if len(found) > 1:
            raise BadOptionError("ambiguous option: %s (%s?)" % (name, ', '.join(found)))
        return found[0]

    def _process_short(self, arg):
        letters = arg[1:]
        while letters:
            name, letters = '-' + letters[0], letters[1:]
            option = self.get_option(name)
            if option is None:
                raise BadOptionError("no such option: %s" % name)
            value = None
            if option.takes_value():
                if letters:
                    self.rargs.insert(0, letters)
                    letters = ''
                value = self._values_of(option, name)
            option.process(name, value, self.values, self)

    def _values_of(self, option, name):
        n = option.nargs
        if len(self.rargs) < n:
            wanted = 'an argument' if n == 1 else '%d arguments' % n
            raise BadOptionError("%s option requires %s" % (name, wanted))
        values = self.rargs[:n]
        del self.rargs[:n]
        return values[0] if n == 1 else tuple(values)
