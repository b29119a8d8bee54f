"""What `conftest.py` files say of a test run: hooks, options, plugins."""
import os
import sys
from _taipan_fixtures import ROOT_FILES, parameters

# Hooks that affect collection or execution: tests of such files are interpreted.
OF_NODES = [
    'pytest_collect_file', 'pytest_pycollect_makemodule', 'pytest_pycollect_makeitem',
    'pytest_generate_tests', 'pytest_itemcollected', 'pytest_runtest_setup',
    'pytest_runtest_call', 'pytest_runtest_teardown', 'pytest_pyfunc_call']
# Options of pytest that hooks read, and their defaults.
OPTIONS = {
    'verbose': 0, 'quiet': 0, 'keyword': '', 'markexpr': '', 'maxfail': 0, 'collectonly': False,
    'tbstyle': 'auto', 'fulltrace': False, 'showlocals': False, 'usepdb': False,
    'capture': 'fd', 'runxfail': False, 'color': 'auto', 'assertmode': 'rewrite'}
LISTS = {
    'python_files': ['test_*.py', '*_test.py'],
    'python_classes': ['Test'],
    'python_functions': ['test'],
    'markers': [], 'usefixtures': [], 'addopts': [], 'norecursedirs': [], 'testpaths': []}
NOTHING = object()


class UsageError(Exception):
    pass


def hookimpl(function=None, hookwrapper=False, optionalhook=False, tryfirst=False,
             trylast=False):
    def mark(function):
        function.hook_options = dict(
            hookwrapper=hookwrapper, tryfirst=tryfirst, trylast=trylast)
        return function
    return mark if function is None else mark(function)


def hookspec(function=None, firstresult=False, historic=False):
    """New hooks need no declaration: whoever calls one says what is made of its results."""
    def mark(function):
        function.first_result = firstresult
        return function
    return mark if function is None else mark(function)


def option_of(hook, name):
    """Whether an implementation has an option, by `hookimpl` or a mark of that name."""
    function = getattr(hook, 'im_func', hook)
    given = getattr(function, 'hook_options', {})
    return given.get(name, False) or bool(
        [m for m in getattr(function, 'pytestmark', []) if m.name == name])


class Outcome(object):
    """What a hook wrapper gets to see."""

    def __init__(self):
        self.result = None
        self.excinfo = None

    def get_result(self):
        if self.excinfo is not None:
            raise self.excinfo[0], self.excinfo[1], self.excinfo[2]
        return self.result

    def force_result(self, result):
        self.result = result
        self.excinfo = None


class PluginManager(object):
    """The modules and objects whose hooks are called, the nearest `conftest.py` last."""

    def __init__(self):
        self.plugins = []

    def register(self, plugin, name=None):
        try:
            bool(plugin)
        except ImportError:
            # A stand-in for a module of the toolchain that does not ship; it has no hooks.
            return None
        if not self.is_registered(plugin):
            self.plugins.append((name or getattr(plugin, '__name__', None), plugin))
            for wanted in names_of(getattr(plugin, 'pytest_plugins', [])):
                self.import_plugin(wanted)
        return plugin

    def import_plugin(self, name):
        __import__(name)
        self.register(sys.modules[name], name)

    def is_registered(self, plugin):
        return bool([p for _, p in self.plugins if p is plugin])

    def unregister(self, plugin):
        self.plugins = [(n, p) for n, p in self.plugins if p is not plugin]

    def getplugin(self, name):
        for known, plugin in self.plugins:
            if known == name:
                return plugin
        return None

    get_plugin = getplugin

    def hasplugin(self, name):
        return self.getplugin(name) is not None

    has_plugin = hasplugin

    def implementations(self, name):
        """Those that wrap, and the others with what pytest does itself (None) among them."""
        wrappers, first, middle, last = [], [], [], []
        for _, plugin in reversed(self.plugins):
            hook = getattr(plugin, name, None)
            if hook is None or not hasattr(hook, 'func_code'):
                continue
            if option_of(hook, 'hookwrapper'):
                wrappers.append(hook)
            elif option_of(hook, 'tryfirst'):
                first.append(hook)
            elif option_of(hook, 'trylast'):
                last.append(hook)
            else:
                middle.append(hook)
        return wrappers, first + middle + [None] + last

    def call(self, name, arguments, builtin=None, first_result=False):
        """Calls a hook: all results that are not None, or the first one."""
        wrappers, hooks = self.implementations(name)
        if not wrappers:
            return self.call_plainly(hooks, arguments, builtin, first_result)
        under_way = []
        for wrapper in wrappers:
            generator = with_arguments(wrapper, arguments)
            generator.next()
            under_way.append(generator)
        outcome = Outcome()
        try:
            outcome.result = self.call_plainly(hooks, arguments, builtin, first_result)
        except Exception:
            outcome.excinfo = sys.exc_info()
        while under_way:
            try:
                under_way.pop().send(outcome)
            except StopIteration:
                continue
            raise RuntimeError('the wrapper of the hook %s yields more than once' % (name,))
        return outcome.get_result()

    def call_plainly(self, hooks, arguments, builtin, first_result):
        results = []
        for hook in hooks:
            if hook is not None:
                result = with_arguments(hook, arguments)
            elif builtin is not None:
                result = builtin()
            else:
                continue
            if result is not None:
                if first_result:
                    return result
                results.append(result)
        return None if first_result else results


def names_of(plugins):
    return [plugins] if isinstance(plugins, str) else list(plugins)


def with_arguments(hook, arguments):
    """Calls an implementation with those of the arguments that it takes."""
    names = parameters(hook)
    if getattr(hook, 'im_self', None) is not None:
        names = names[1:]
    return hook(**dict([(n, arguments[n]) for n in names]))


class HookRelay(object):
    """`config.hook.NAME(..)`"""

    def __init__(self, manager):
        self._manager = manager

    def __getattr__(self, name):
        if not name.startswith('pytest_'):
            raise AttributeError(name)
        return lambda **kwds: self._manager.call(name, kwds)


class Options(object):
    """`config.option`"""


class OptionGroup(object):
    def __init__(self, parser, name):
        self.parser = parser
        self.name = name

    def addoption(self, *names, **attrs):
        self.parser.addoption(*names, **attrs)

    _addoption = addoption


class AssertState(object):
    """How asserts are explained, as `--assert` says."""

    def __init__(self, args):
        modes = [a[len('--assert='):] for a in args if a.startswith('--assert=')]
        self.mode = modes[-1] if modes else 'rewrite'


class Parser(object):
    """What `pytest_addoption` declares, and the values that the command line gives."""

    def __init__(self, config):
        self.config = config
        self.declared = {}

    def getgroup(self, name, description='', after=None):
        return OptionGroup(self, name)

    def addoption(self, *names, **attrs):
        dest = attrs.get('dest')
        if dest is None:
            longest = sorted(names, key=lambda n: (n.startswith('--'), len(n)))[-1]
            dest = longest.lstrip('-').replace('-', '_')
        flags = {'store_true': False, 'store_false': True, 'count': None, 'append': None}
        default = attrs.get('default', flags.get(attrs.get('action')))
        setattr(self.config.option, dest, default)
        for name in names:
            self.config.destinations[name] = dest
            self.declared[name] = attrs

    def parse(self, words, must_be_declared):
        """Takes options of the command line: `--name` or `--name=value`."""
        for word in words:
            name, separator, value = word.partition('=')
            if name not in self.declared:
                if not must_be_declared:
                    continue
                raise UsageError('no conftest.py of this file declares the option %s' % (name,))
            attrs = self.declared[name]
            action = attrs.get('action', 'store')
            takes_value = action in ('store', 'append')
            if takes_value != bool(separator):
                form = 'needs a value: %s=VALUE' if takes_value else 'takes no value'
                raise UsageError('the option %s %s' % (
                    name, form % (name,) if takes_value else form))
            self.assign(self.config.destinations[name], name, attrs, action, value)

    def assign(self, dest, name, attrs, action, value):
        option = self.config.option
        if action in ('store', 'append'):
            value = converted(name, attrs.get('type'), value)
            choices = attrs.get('choices')
            if choices is not None and value not in choices:
                raise UsageError('the option %s is one of %s, not %s' % (
                    name, ', '.join([str(c) for c in choices]), value))
        if action == 'store':
            setattr(option, dest, value)
        elif action == 'append':
            setattr(option, dest, list(getattr(option, dest) or []) + [value])
        elif action == 'count':
            setattr(option, dest, (getattr(option, dest) or 0) + 1)
        elif action in ('store_true', 'store_false'):
            setattr(option, dest, action == 'store_true')
        elif action == 'store_const':
            setattr(option, dest, attrs.get('const'))
        elif action == 'callback':
            attrs['callback'](None, name, None, self)
        else:
            raise UsageError('the option %s has the action %r, which is not supported' % (
                name, action))

    def addini(self, name, help, type=None, default=None):
        if default is None:
            default = {None: '', 'bool': False}.get(type, [])
        self.config.lists.setdefault(name, default)


def converted(name, type, value):
    """The value of an option, of the type that `addoption` names."""
    convert = {None: str, 'string': str, 'int': int, 'float': float}.get(type, type)
    try:
        return convert(value)
    except ValueError:
        raise UsageError('the option %s does not take %r' % (name, value))


class Config(object):
    """The configuration of a run: hooks, options, and what pytest.ini may say."""

    def __init__(self, rootdir=None):
        self.option = Options()
        for name, value in OPTIONS.items():
            setattr(self.option, name, value)
        self.destinations = {}
        self.lists = dict([(name, list(value)) for name, value in LISTS.items()])
        self.pluginmanager = PluginManager()
        self.hook = HookRelay(self.pluginmanager)
        self.rootdir = rootdir
        self.args = []
        self._assertstate = AssertState([])

    def getoption(self, name, default=NOTHING, skip=False):
        name = self.destinations.get(name, name)
        value = getattr(self.option, name, NOTHING)
        if value is NOTHING or (value is None and skip):
            if default is not NOTHING:
                return default
            if skip:
                from _taipan_testing import skip as skip_test
                skip_test('no %r option found' % (name,))
            raise ValueError('no option named %r' % (name,))
        return value

    getvalue = getoption

    def getini(self, name):
        if name not in self.lists:
            raise ValueError('unknown configuration value: %r' % (name,))
        return self.lists[name]

    def addinivalue_line(self, name, line):
        self.lists.setdefault(name, []).append(line)


def root_of(path):
    """The folder that the project of a file begins with."""
    folder = start = os.path.dirname(path)
    while not [f for f in ROOT_FILES if os.path.exists(os.path.join(folder, f))]:
        up = os.path.dirname(folder)
        if up == folder:
            return start
        folder = up
    return folder


def configure(path, around, options, declared):
    """The configuration of a test file, by its `conftest.py` files, nearest first, and the options of the command line:
    those that may be the target's, and those that one of the files has to declare."""
    import py
    config = Config(py.path.local(root_of(path)))
    py.test.config = config
    manager = config.pluginmanager
    for module in reversed(around):
        manager.register(module)
    config.args = options + declared + [path]
    parser = Parser(config)
    parser.addoption('--runxfail', action='store_true', default=False)
    manager.call('pytest_addhooks', {'pluginmanager': manager})
    manager.call('pytest_addoption', {'parser': parser, 'pluginmanager': manager})
    manager.call('pytest_cmdline_preparse', {'config': config, 'args': config.args})
    parser.parse(options, False)
    parser.parse(declared, True)
    config._assertstate = AssertState(config.args)
    manager.call('pytest_configure', {'config': config})
    return config


def hooks_of_nodes(config):
    """The hooks because of which all tests are interpreted."""
    manager = config.pluginmanager
    found = [manager.implementations(name) for name in OF_NODES]
    return [name for name, (wrappers, hooks) in zip(OF_NODES, found)
            if wrappers or len(hooks) > 1]
