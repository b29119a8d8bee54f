"""Which modules there are in folders, for programs that load all modules of a package."""
import imp
import os
import sys


class ImpImporter(object):
    """Finds modules in a folder."""

    def __init__(self, path=None):
        self.path = path

    def find_module(self, fullname, path=None):
        name = fullname.split('.')[-1]
        if self.path is None:
            if name != fullname:
                return None
            folders = None
        else:
            folders = [self.path]
        try:
            found = imp.find_module(name, folders)
        except ImportError:
            return None
        return ImpLoader(fullname, *found)

    def iter_modules(self, prefix=''):
        """Name, and whether it is a package, of each module in the folder, by name."""
        if self.path is None or not os.path.isdir(self.path):
            return
        yielded = {}
        for entry in sorted(os.listdir(self.path)):
            name, is_package = entry, False
            if entry.endswith('.py'):
                name = entry[:-3]
            elif '.' not in entry:
                is_package = os.path.isfile(os.path.join(self.path, entry, '__init__.py'))
            if name == '__init__' or name in yielded or '.' in name:
                continue
            if is_package or name != entry:
                yielded[name] = True
                yield prefix + name, is_package


class ImpLoader(object):
    """Loads a module that was found."""

    def __init__(self, fullname, file, filename, etc):
        self.fullname = fullname
        self.file = file
        self.filename = filename
        self.etc = etc

    def load_module(self, fullname):
        if fullname != self.fullname:
            raise ImportError("Loader for module %s cannot handle module %s" % (
                self.fullname, fullname))
        return imp.load_module(fullname, self.file, self.filename, self.etc)

    def is_package(self, fullname):
        return self.etc[2] == imp.PKG_DIRECTORY

    def get_filename(self, fullname=None):
        if self.is_package(fullname):
            return os.path.join(self.filename, '__init__.py')
        return self.filename


def get_importer(path_item):
    return ImpImporter(path_item)


def iter_importers(fullname=''):
    """The importers of a package's folders, or of `sys.path`."""
    if '.' in fullname:
        package = fullname.rpartition('.')[0]
        __import__(package)
        folders = getattr(sys.modules[package], '__path__', [])
    else:
        folders = sys.path
    for folder in folders:
        yield ImpImporter(folder)


def find_loader(fullname):
    for importer in iter_importers(fullname):
        loader = importer.find_module(fullname)
        if loader is not None:
            return loader
    return None


def get_loader(module_or_name):
    return find_loader(getattr(module_or_name, '__name__', module_or_name))


def iter_modules(path=None, prefix=''):
    """Importer, name, and whether it is a package, of each module in some folders."""
    yielded = {}
    for folder in sys.path if path is None else path:
        importer = ImpImporter(folder)
        for name, is_package in importer.iter_modules(prefix):
            if name not in yielded:
                yielded[name] = True
                yield importer, name, is_package


def walk_packages(path=None, prefix='', onerror=None):
    """As iter_modules(), with those in packages, which are imported for that."""
    seen = {}
    for importer, name, is_package in iter_modules(path, prefix):
        yield importer, name, is_package
        if not is_package:
            continue
        try:
            __import__(name)
        except ImportError:
            if onerror is not None:
                onerror(name)
        except Exception:
            if onerror is None:
                raise
            onerror(name)
        else:
            inside = getattr(sys.modules[name], '__path__', None) or []
            inside = [folder for folder in inside if folder not in seen]
            seen.update((folder, True) for folder in inside)
            for item in walk_packages(inside, name + '.', onerror):
                yield item


def extend_path(path, name):
    """The folders of a package, with those of its name in other folders of `sys.path`."""
    if not isinstance(path, list):
        return path
    path = path[:]
    for folder in sys.path:
        inside = os.path.join(folder, *name.split('.'))
        if inside not in path and os.path.isfile(os.path.join(inside, '__init__.py')):
            path.append(inside)
    return path
