# Files that a program writes while it is imported.
import os, sys, tempfile
here = tempfile.mkdtemp()
print os.path.isdir(here), os.listdir(here)
name = os.path.join(here, 'made_module.py')
with open(name, 'w') as f:
    f.write('import sys\nclass Made(object):\n    x = 41\n')
    print >> f, 'def more(n):'
    print >> f, '    return Made.x + n'
    print f.tell() > 60
print os.path.exists(name), os.path.getsize(name) > 60, os.listdir(here), open(name).readline(),
sys.path.insert(0, here)
import made_module
print made_module.more(1), made_module.__name__, made_module.more.__module__
space = {}; execfile(name, space); print space['more'](2)
def attempt(f, *args):
    try: return f(*args)
    except EnvironmentError, e: return type(e).__name__, e.errno
other = os.path.join(here, 'other')
print attempt(os.rename, name, other), os.path.exists(name), os.listdir(here), attempt(open, name)
print attempt(os.mkdir, here), attempt(open, os.path.join(here, 'no', 'file'), 'w'), attempt(os.rmdir, here)
f = open(other, 'r+'); f.seek(7); f.write('os '); f.seek(0); print f.readline(), f.tell(); f.close()
f = open(other, 'a'); f.write('# end\n'); f.writelines(['# a\n', '# b\n']); f.close()
print open(other).read().splitlines()[-3:], attempt(os.listdir, other)
fd = os.open(other, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
print os.write(fd, 'abcdef'), os.lseek(fd, 1, 0), os.read(fd, 3), os.lseek(fd, 0, 2), os.ftruncate(fd, 2)
os.close(fd); print open(other).read(), attempt(os.open, other, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
g = os.fdopen(os.open(other, os.O_WRONLY | os.O_APPEND), 'a'); g.write('xyz'); g.close(); print open(other).read()
sub = os.path.join(here, 'p', 'q'); os.makedirs(sub); print os.path.isdir(sub), sorted(os.listdir(here))
open(os.path.join(sub, '__init__.py'), 'w').close()
open(os.path.join(here, 'p', '__init__.py'), 'w').write('from p.q import __name__ as inner\n')
import p.q; print p.inner, attempt(os.remove, sub), attempt(os.unlink, name)
os.remove(other); print os.path.exists(other), attempt(os.rmdir, other)
g = open(other, 'w'); g.close()
try: g.write('late')
except ValueError, e: print e
os.remove(other)
for path, folders, files in os.walk(here, False):
    for name in files: os.remove(os.path.join(path, name))
    os.rmdir(path)
print os.path.exists(here)

# What there is to know of a file while a program loads.
import stat
place = tempfile.mkdtemp()
measured = os.path.join(place, 'measured')
with open(measured, 'wb') as f: f.write('\xff\x00abc')
st = os.stat(measured)
print stat.S_ISREG(st.st_mode), stat.S_ISREG(st[stat.ST_MODE]), st.st_size, st[6], len(st), os.lstat(measured).st_size
print stat.S_ISDIR(os.stat(place).st_mode), os.path.lexists(measured), os.path.lexists(place + '/unmeasured')
print os.path.samefile(measured, os.path.join(place, '.', 'measured')), os.path.samefile(place, measured)
try: os.stat(place + '/unmeasured')
except OSError, e: print e.errno, e.strerror
fd = os.open(measured, os.O_RDONLY)
print os.fstat(fd).st_size, os.fstat(fd).st_ino == st.st_ino, stat.S_ISREG(os.fstat(fd).st_mode)
os.close(fd)
try: os.fstat(fd)
except OSError, e: print e.errno
os.remove(measured)
os.rmdir(place)

# What is below folders that were made or removed, beside others whose names begin alike.
base = tempfile.mkdtemp()
def there(*names): return [os.path.exists(os.path.join(base, *names[:i + 1])) for i in range(len(names))]
os.makedirs(os.path.join(base, 'd', 'e')); os.mkdir(os.path.join(base, 'd.e')); os.mkdir(os.path.join(base, 'd-'))
open(os.path.join(base, 'd', 'e', 'f'), 'w').close(); open(os.path.join(base, 'd.e', 'f'), 'w').close()
print there('d', 'e', 'f'), there('d.e', 'f'), there('d', 'e', 'g', 'h'), there('d', 'z', 'f'), there('d-', 'f', 'f')
os.remove(os.path.join(base, 'd', 'e', 'f')); os.rmdir(os.path.join(base, 'd', 'e'))
print there('d', 'e', 'f'), there('d.e', 'f'), there('d', 'a', 'b'), attempt(open, os.path.join(base, 'd', 'e', 'f'))
os.rmdir(os.path.join(base, 'd')); os.mkdir(os.path.join(base, 'd')); print there('d', 'e', 'f'), there('d.e', 'f')
os.remove(os.path.join(base, 'd.e', 'f'))
for name in ('d', 'd.e', 'd-'): os.rmdir(os.path.join(base, name))
os.rmdir(base); print there('d', 'e'), there('d.e', 'f')
