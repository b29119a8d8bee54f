// Programs with the host's collector in a page: the system that `host.js` stands on, over the files in memory, the
// terminal and the history of `wasi.js`.

'use strict';

const CODES = {
  [ERRNO.BADF]: 'EBADF', [ERRNO.EXIST]: 'EEXIST', [ERRNO.INVAL]: 'EINVAL', [ERRNO.ISDIR]: 'EISDIR',
  [ERRNO.NOENT]: 'ENOENT', [ERRNO.NOTDIR]: 'ENOTDIR', [ERRNO.NOTEMPTY]: 'ENOTEMPTY', [ERRNO.NOTCAPABLE]: 'EPERM',
};

class PageSystem {
  constructor(run) {
    this.run = run;
    this.pid = 1;
    // Half of the browsers' stack: sizes of frames are estimates.
    this.stack = 512 << 10;
    this.folder = '/';
    const env = Object.entries(run.options.env ?? {});
    this.environment = new Map(
      env.map(([name, value]) => [latin(encoder.encode(name)), encoder.encode(value)]),
    );
  }

  absolute(name) {
    const text = new TextDecoder().decode(name);
    return text.startsWith('/') ? text : `${this.folder}/${text}`;
  }

  // The target of a path: its folder, the name in it, and the entry of that name.
  find(name) {
    if (name.length === 0) throw failure('ENOENT');
    const found = this.run.findFrom(this.run.root, this.absolute(name));
    if (typeof found === 'number') throw failure(CODES[found] ?? 'EIO');
    return found;
  }

  existing(name) {
    const found = this.find(name);
    if (!found.node) throw failure('ENOENT');
    return found;
  }

  descriptor(fd) {
    const found = this.run.fds[fd];
    if (!found) throw failure('EBADF');
    return found;
  }

  file(fd) {
    const found = this.descriptor(fd);
    if (found.tty !== undefined) throw failure('ESPIPE');
    if (found.node instanceof Folder) throw failure('EISDIR');
    return found;
  }

  open(name, flags) {
    const { folder, name: last, node: there } = this.find(name);
    let node = there;
    if (node && flags & CREATE && flags & 0o200) throw failure('EEXIST');
    if (!node) {
      if (!(flags & CREATE)) throw failure('ENOENT');
      node = new File();
      node.time = this.now();
      folder.entries.set(last, node);
    }
    const writes = (flags & (WRITE | BOTH)) !== 0;
    if (node instanceof Folder && writes) throw failure('EISDIR');
    if (flags & TRUNCATE && node instanceof File) node.resize(0);
    const { fds } = this.run;
    const free = fds.findIndex((d, i) => i > 3 && !d);
    const fd = free < 0 ? fds.length : free;
    fds[fd] = { node, at: 0, append: (flags & APPEND) !== 0 };
    return fd;
  }

  close(fd) {
    this.descriptor(fd);
    this.run.fds[fd] = undefined;
  }

  read(fd, into) {
    if (this.descriptor(fd).tty === 0) return this.run.readInput(into, 0);
    const file = this.file(fd);
    const n = file.node.read(into, file.at);
    file.at += n;
    return n;
  }

  write(fd, from) {
    const { tty } = this.descriptor(fd);
    if (tty === 0) throw failure('EBADF');
    if (tty !== undefined) {
      this.run.print(tty, from.slice());
      return from.length;
    }
    const file = this.file(fd);
    if (file.append) file.at = file.node.size;
    file.node.time = this.now();
    file.at += file.node.write(from, file.at);
    return from.length;
  }

  seek(fd, offset, how) {
    const file = this.file(fd);
    const at = [0, file.at, file.node.size][how] + offset;
    if (!(at >= 0)) throw failure('EINVAL');
    file.at = at;
    return at;
  }

  shown({ tty, node }) {
    const mode = tty !== undefined ? 0o020620 : node instanceof Folder ? 0o040755 : 0o100644;
    const time = node?.time ?? 0n;
    return {
      mode, ino: node?.id ?? 0n, dev: 1, nlink: 1, uid: 0, gid: 0, size: node?.size ?? 0,
      atimeNs: time, mtimeNs: time, ctimeNs: time, blksize: 4096, blocks: 0, rdev: 0,
    };
  }

  rmdir(name) {
    const { folder, name: last, node } = this.existing(name);
    if (!(node instanceof Folder)) throw failure('ENOTDIR');
    if (!folder) throw failure('EINVAL');
    if (node.entries.size) throw failure('ENOTEMPTY');
    folder.entries.delete(last);
  }

  unlink(name) {
    const { folder, name: last, node } = this.existing(name);
    if (node instanceof Folder) throw failure('EISDIR');
    folder.entries.delete(last);
  }

  mkdir(name) {
    const { folder, name: last, node } = this.find(name);
    if (node) throw failure('EEXIST');
    folder.entries.set(last, new Folder());
  }

  rename(from, to) {
    const [source, target] = [this.existing(from), this.find(to)];
    if (target.node === source.node) return;
    if (!source.folder || !target.folder) throw failure('EINVAL');
    const [isFolder, wasFolder] = [source.node, target.node].map((n) => n instanceof Folder);
    if (target.node && isFolder !== wasFolder) throw failure(wasFolder ? 'EISDIR' : 'ENOTDIR');
    if (wasFolder && target.node.entries.size) throw failure('ENOTEMPTY');
    source.folder.entries.delete(source.name);
    target.folder.entries.set(target.name, source.node);
  }

  link(from, to) {
    const [source, target] = [this.existing(from), this.find(to)];
    if (target.node) throw failure('EEXIST');
    target.folder.entries.set(target.name, source.node);
  }

  list(name) {
    const { node } = this.existing(name);
    if (!(node instanceof Folder)) throw failure('ENOTDIR');
    return [...node.entries.keys()].map((entry) => encoder.encode(entry));
  }

  chdir(name) {
    if (!(this.existing(name).node instanceof Folder)) throw failure('ENOTDIR');
    const parts = [];
    for (const part of this.absolute(name).split('/').filter((p) => p && p !== '.')) {
      if (part === '..') parts.pop();
      else parts.push(part);
    }
    this.folder = `/${parts.join('/')}`;
  }

  // A program that runs again gets the same input, times and random bytes.
  random(into) {
    into.set(this.run.tell(() => {
      const all = new Uint8Array(into.length);
      for (let i = 0; i < all.length; i += 65536) crypto.getRandomValues(all.subarray(i, i + 65536));
      return all;
    }));
  }

  /** A page cannot have the browser collect. */
  collect() {}

  sleep(seconds) {
    this.run.tell(() => {
      const until = performance.now() + seconds * 1000;
      while (performance.now() < until);
      return 0;
    });
  }

  now() { return this.run.now(); }
  monotonic() { return this.run.tell(() => BigInt(Math.round(performance.now() * 1e6))); }
  cpu() { return Number(this.monotonic()) / 1e9; }
  isatty(fd) { return this.run.fds[fd]?.tty !== undefined; }
  getcwd() { return encoder.encode(this.folder); }
  stat(name) { return this.shown(this.existing(name)); }
  fstat(fd) { return this.shown(this.descriptor(fd)); }
  access(name) { this.existing(name); }
  truncate(fd, size) { this.file(fd).node.resize(size); }
  sync(fd) { this.descriptor(fd); }
  readlink() { throw failure('EINVAL'); }
  symlink() { throw failure('ENOSYS'); }
  utimes(name, _accessed, modified) { this.existing(name).node.time = BigInt(Math.round(modified * 1e9)); }
}

// A run of a program whose objects are the browser's.
class GcRun extends Run {
  static lack() {
    // A module with a struct type.
    const module = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 3, 1, 0x5f, 0);
    if (WebAssembly.validate(module)) return undefined;
    return 'This browser has no WebAssembly with garbage collection. Those since the end of 2024 have it.';
  }

  start(module) {
    try {
      return runProgram(module, this.options.args ?? [], new PageSystem(this));
    } catch (error) {
      if (error instanceof Wait) return undefined;
      throw error;
    }
  }
}
