"""Options of programs are read at run time."""

SUPPRESS_HELP = 'SUPPRESSHELP'
SUPPRESS_USAGE = 'SUPPRESSUSAGE'
NO_DEFAULT = ('NO', 'DEFAULT')


class OptParseError(Exception):
    pass


class OptionError(OptParseError):
    pass


class OptionValueError(OptParseError):
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


class Option(object):
    def __init__(self, *names, **kwds):
        self._short_opts = [n for n in names if n[1:2] != '-']
        self._long_opts = [n for n in names if n[1:2] == '-']
        self.dest = kwds.pop('dest', None) or names[-1].lstrip('-').replace('-', '_')
        self.default = kwds.pop('default', NO_DEFAULT)
        self.action = kwds.pop('action', 'store')
        self.help = kwds.pop('help', None)
        self.callback = kwds.pop('callback', None)
        self.type = kwds.pop('type', None)


class OptionGroup(object):
    def __init__(self, parser, title='', description=None):
        self.parser = parser
        self.title = title
        self.option_list = []

    def add_option(self, *args, **kwds):
        option = args[0] if args and isinstance(args[0], Option) else Option(*args, **kwds)
        self.option_list.append(option)
        return option


class OptionParser(OptionGroup):
    """Takes every option's default: no command line is read while a program loads."""

    def __init__(self, usage=None, *args, **kwds):
        OptionGroup.__init__(self, self)
        self.usage = usage
        self.option_groups = []
        self.defaults = {}

    def set_defaults(self, **kwds):
        self.defaults.update(kwds)

    def disable_interspersed_args(self):
        pass

    def add_option_group(self, group, *args):
        if not isinstance(group, OptionGroup):
            group = OptionGroup(self, group, *args)
        self.option_groups.append(group)
        return group

    def parse_args(self, args=None, values=None):
        values = values or Values(self.defaults)
        for group in [self] + self.option_groups:
            for option in group.option_list:
                default = None if option.default is NO_DEFAULT else option.default
                values.ensure_value(option.dest, default)
        return values, list(args or [])
