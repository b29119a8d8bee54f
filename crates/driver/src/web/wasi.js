// WASI for a program in a page: a terminal, a clock, random bytes, and files in memory.
//
// A page cannot make a program wait for what is typed. So when a program wants more than was typed yet,
// it is given up, and runs again from its start when there is more: with what it was told the last time, that is
// the same input, times and random bytes, it does the same again. What it printed before is not printed again.

'use strict';

const ERRNO = {
  BADF: 8, EXIST: 20, INVAL: 28, ISDIR: 31, NOENT: 44, NOSYS: 52, NOTDIR: 54, NOTEMPTY: 55,
  SPIPE: 70, XDEV: 75, NOTCAPABLE: 76,
};
const CHARACTER_DEVICE = 2, DIRECTORY = 3, REGULAR_FILE = 4;

// The program has ended.
class Exit {
  constructor(code) { this.code = code; }
}

// The program wants more input than there is.
class Wait {}

class File {
  constructor(bytes = new Uint8Array(0)) {
    this.bytes = bytes;
    this.size = bytes.length;
    this.time = 0n;
    this.id = File.next++;
  }

  resize(size) {
    if (size > this.bytes.length) {
      const bytes = new Uint8Array(Math.max(size, 2 * this.bytes.length));
      bytes.set(this.bytes.subarray(0, this.size));
      this.bytes = bytes;
    } else if (size < this.size) {
      this.bytes.fill(0, size, this.size);
    }
    this.size = size;
  }

  read(into, at) {
    const n = Math.max(0, Math.min(into.length, this.size - at));
    into.set(this.bytes.subarray(at, at + n));
    return n;
  }

  write(from, at) {
    if (at + from.length > this.size) this.resize(at + from.length);
    this.bytes.set(from, at);
    return from.length;
  }
}
File.next = 2n;

class Folder {
  constructor() {
    this.entries = new Map();
    this.time = 0n;
    this.id = File.next++;
  }
}

// What a program was told, and what it has printed: what has to be the same when it runs again.
class History {
  constructor() {
    this.input = [];
    this.ended = false;
    this.told = [];
    this.printed = [0, 0, 0];
  }

  // Types a line.
  type(bytes) { this.input.push(...bytes); }
}

// A run of a program. `options` has `args`, `env`, `files` (names and bytes), the `history`, and what
// is called with what is printed: `print(1 or 2, bytes)`.
class Run {
  constructor(options) {
    this.options = options;
    this.history = options.history;
    this.at = { input: 0, told: 0, printed: [0, 0, 0] };
    File.next = 2n;
    this.root = new Folder();
    for (const [name, bytes] of Object.entries(options.files ?? {})) {
      const parts = name.split('/').filter((p) => p && p !== '.');
      let folder = this.root;
      for (const part of parts.slice(0, -1)) {
        if (!folder.entries.has(part)) folder.entries.set(part, new Folder());
        folder = folder.entries.get(part);
      }
      folder.entries.set(parts.at(-1), new File(Uint8Array.from(bytes)));
    }
    this.fds = [{ tty: 0 }, { tty: 1 }, { tty: 2 }, { node: this.root, root: true, at: 0 }];
    this.text = new TextEncoder();
  }

  // Why the browser cannot run programs.
  static lack() {}

  // Runs the program: its exit code, or none if it waits for input.
  start(module) {
    const own = this.imports();
    const wasi = {};
    for (const { name } of WebAssembly.Module.imports(module)) {
      wasi[name] = own[name] ?? (() => ERRNO.NOSYS);
    }
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
    this.memory = instance.exports.memory;
    try {
      instance.exports._start();
      return 0;
    } catch (e) {
      if (e instanceof Exit) return e.code;
      if (e instanceof Wait) return undefined;
      throw e;
    }
  }

  view() { return new DataView(this.memory.buffer); }

  bytes(at, length) { return new Uint8Array(this.memory.buffer, at, length); }

  string(at, length) { return new TextDecoder().decode(this.bytes(at, length).slice()); }

  // What the program is told of the world outside: the same in every run.
  tell(find) {
    const { told } = this.history;
    if (this.at.told === told.length) told.push(find());
    return told[this.at.told++];
  }

  print(fd, bytes) {
    const printed = this.history.printed;
    const before = this.at.printed[fd];
    this.at.printed[fd] += bytes.length;
    if (this.at.printed[fd] > printed[fd]) {
      const from = printed[fd] - before;
      printed[fd] = this.at.printed[fd];
      this.options.print(fd, bytes.slice(Math.max(0, from)));
    }
  }

  // Up to the end of a line. There was something already, or there has to be something.
  readInput(into, already) {
    const { input, ended } = this.history;
    let n = 0;
    while (n < into.length && this.at.input < input.length) {
      const byte = input[this.at.input++];
      into[n++] = byte;
      if (byte === 10) break;
    }
    if (n === 0 && into.length > 0 && !already && !ended) throw new Wait();
    return n;
  }

  // Calls `f` with each buffer of a list of them, until one is not used to its end: the sum of
  // what it returns.
  each(list, count, result, f) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const view = this.view();
      const [at, length] = [view.getUint32(list + 8 * i, true), view.getUint32(list + 8 * i + 4, true)];
      const n = f(this.bytes(at, length));
      sum += n;
      if (n < length) break;
    }
    this.view().setUint32(result, sum, true);
    return 0;
  }

  // Where a path leads: the folder, the name in it, and what is there.
  find(fd, at, length) {
    const start = this.fds[fd];
    if (!start) return ERRNO.BADF;
    if (!(start.node instanceof Folder)) return ERRNO.NOTDIR;
    return this.findFrom(start.node, this.string(at, length));
  }

  // The same from a folder.
  findFrom(start, path) {
    const way = [start];
    const parts = path.split('/').filter((p) => p && p !== '.');
    let name = '';
    for (const [i, part] of parts.entries()) {
      if (part === '..') {
        if (way.length === 1) return ERRNO.NOTCAPABLE;
        way.pop();
        continue;
      }
      if (!(way.at(-1) instanceof Folder)) return ERRNO.NOTDIR;
      const node = way.at(-1).entries.get(part);
      if (i === parts.length - 1) return { folder: way.at(-1), name: part, node };
      if (!node) return ERRNO.NOENT;
      way.push(node);
      name = part;
    }
    return { folder: way.at(-2), name, node: way.at(-1) };
  }

  stat(at, { tty, node }) {
    const view = this.view();
    this.bytes(at, 64).fill(0);
    if (tty !== undefined) {
      view.setUint8(at + 16, CHARACTER_DEVICE);
      return 0;
    }
    view.setBigUint64(at, 1n, true);
    view.setBigUint64(at + 8, node.id, true);
    view.setUint8(at + 16, node instanceof Folder ? DIRECTORY : REGULAR_FILE);
    view.setBigUint64(at + 24, 1n, true);
    view.setBigUint64(at + 32, BigInt(node.size ?? 0), true);
    for (const time of [40, 48, 56]) view.setBigUint64(at + time, node.time, true);
    return 0;
  }

  now() { return this.tell(() => BigInt(Date.now()) * 1000000n); }

  list(strings, table, at) {
    for (const s of strings) {
      const bytes = this.text.encode(s + '\0');
      this.view().setUint32(table, at, true);
      this.bytes(at, bytes.length).set(bytes);
      table += 4;
      at += bytes.length;
    }
    return 0;
  }

  sizes(strings, count, size) {
    this.view().setUint32(count, strings.length, true);
    const bytes = strings.map((s) => this.text.encode(s).length + 1);
    this.view().setUint32(size, bytes.reduce((a, b) => a + b, 0), true);
    return 0;
  }

  imports() {
    const args = this.options.args ?? [];
    const env = Object.entries(this.options.env ?? {}).map(([k, v]) => `${k}=${v}`);
    // The file of a descriptor, or the number of an error.
    const file = (fd) => {
      const d = this.fds[fd];
      if (!d) return ERRNO.BADF;
      if (d.tty !== undefined) return ERRNO.SPIPE;
      return d.node instanceof Folder ? ERRNO.ISDIR : d;
    };
    const on = (d, f) => (typeof d === 'number' ? d : f(d));
    return {
      args_get: (table, at) => this.list(args, table, at),
      args_sizes_get: (count, size) => this.sizes(args, count, size),
      environ_get: (table, at) => this.list(env, table, at),
      environ_sizes_get: (count, size) => this.sizes(env, count, size),

      clock_res_get: (clock, at) => {
        this.view().setBigUint64(at, 1000000n, true);
        return 0;
      },
      clock_time_get: (clock, precision, at) => {
        const time = clock === 0
          ? this.now()
          : this.tell(() => BigInt(Math.round(performance.now() * 1e6)));
        this.view().setBigUint64(at, time, true);
        return 0;
      },
      random_get: (at, length) => {
        const bytes = this.tell(() => {
          const all = new Uint8Array(length);
          for (let i = 0; i < length; i += 65536) crypto.getRandomValues(all.subarray(i, i + 65536));
          return all;
        });
        this.bytes(at, length).set(bytes);
        return 0;
      },
      sched_yield: () => 0,
      // Sleeps, but not again when the program has slept before.
      poll_oneoff: (subscriptions, events, count, result) => {
        const view = this.view();
        let least;
        for (let i = 0; i < count; i++) {
          const at = subscriptions + 48 * i;
          if (view.getUint8(at + 8) !== 0) return ERRNO.NOSYS;
          let time = Number(view.getBigUint64(at + 24, true)) / 1e6;
          if (view.getUint16(at + 40, true) & 1) {
            time -= view.getUint32(at + 16, true) === 0 ? Date.now() : performance.now();
          }
          if (!(least?.time <= time)) least = { time, at };
        }
        if (!least) return ERRNO.INVAL;
        this.tell(() => {
          const until = performance.now() + least.time;
          while (performance.now() < until);
          return 0;
        });
        this.bytes(events, 32).fill(0);
        view.setBigUint64(events, view.getBigUint64(least.at, true), true);
        view.setUint32(result, 1, true);
        return 0;
      },
      proc_exit: (code) => { throw new Exit(code); },

      fd_write: (fd, list, count, result) => {
        const d = this.fds[fd];
        if (!d || d.tty === 0) return ERRNO.BADF;
        if (d.tty !== undefined) {
          return this.each(list, count, result, (bytes) => (this.print(d.tty, bytes), bytes.length));
        }
        return on(file(fd), () => {
          if (d.append) d.at = d.node.size;
          d.node.time = this.now();
          return this.each(list, count, result, (bytes) => {
            d.at += d.node.write(bytes, d.at);
            return bytes.length;
          });
        });
      },
      fd_read: (fd, list, count, result) => {
        const d = this.fds[fd];
        if (d?.tty === 0) {
          let already = 0;
          return this.each(list, count, result, (into) => {
            const n = this.readInput(into, already);
            already += n;
            return n;
          });
        }
        if (d?.tty !== undefined) return ERRNO.BADF;
        return on(file(fd), () => this.each(list, count, result, (into) => {
          const n = d.node.read(into, d.at);
          d.at += n;
          return n;
        }));
      },
      fd_pread: (fd, list, count, at, result) => on(file(fd), (d) => {
        let from = Number(at);
        return this.each(list, count, result, (into) => {
          const n = d.node.read(into, from);
          from += n;
          return n;
        });
      }),
      fd_pwrite: (fd, list, count, at, result) => on(file(fd), (d) => {
        let to = Number(at);
        return this.each(list, count, result, (bytes) => {
          to += d.node.write(bytes, to);
          return bytes.length;
        });
      }),
      fd_seek: (fd, by, how, result) => on(file(fd), (d) => {
        const at = [0, d.at, d.node.size][how] + Number(by);
        if (!(at >= 0)) return ERRNO.INVAL;
        d.at = at;
        this.view().setBigUint64(result, BigInt(at), true);
        return 0;
      }),
      fd_tell: (fd, result) => on(file(fd), (d) => {
        this.view().setBigUint64(result, BigInt(d.at), true);
        return 0;
      }),
      fd_close: (fd) => {
        if (!this.fds[fd]) return ERRNO.BADF;
        this.fds[fd] = undefined;
        return 0;
      },
      fd_renumber: (from, to) => {
        if (!this.fds[from]) return ERRNO.BADF;
        this.fds[to] = this.fds[from];
        this.fds[from] = undefined;
        return 0;
      },
      fd_sync: (fd) => (this.fds[fd] ? 0 : ERRNO.BADF),
      fd_datasync: (fd) => (this.fds[fd] ? 0 : ERRNO.BADF),
      fd_advise: (fd) => (this.fds[fd] ? 0 : ERRNO.BADF),
      fd_fdstat_get: (fd, at) => {
        const d = this.fds[fd];
        if (!d) return ERRNO.BADF;
        const kind = d.tty !== undefined ? CHARACTER_DEVICE
          : d.node instanceof Folder ? DIRECTORY : REGULAR_FILE;
        const view = this.view();
        this.bytes(at, 24).fill(0);
        view.setUint8(at, kind);
        view.setUint16(at + 2, d.append ? 1 : 0, true);
        // All rights, but for those to move within what is no file: by these terminals are known.
        const rights = (1n << 29n) - 1n & (kind === CHARACTER_DEVICE ? ~0x24n : ~0n);
        view.setBigUint64(at + 8, rights, true);
        view.setBigUint64(at + 16, (1n << 29n) - 1n, true);
        return 0;
      },
      fd_fdstat_set_flags: (fd, flags) => {
        const d = this.fds[fd];
        if (!d) return ERRNO.BADF;
        d.append = (flags & 1) !== 0;
        return 0;
      },
      fd_filestat_get: (fd, at) => {
        const d = this.fds[fd];
        return d ? this.stat(at, d) : ERRNO.BADF;
      },
      fd_filestat_set_size: (fd, size) => on(file(fd), (d) => (d.node.resize(Number(size)), 0)),
      fd_filestat_set_times: (fd, accessed, modified, flags) => on(file(fd), (d) => {
        if (flags & 12) d.node.time = flags & 8 ? this.now() : modified;
        return 0;
      }),
      fd_prestat_get: (fd, at) => {
        if (!this.fds[fd]?.root) return ERRNO.BADF;
        this.view().setUint32(at, 0, true);
        this.view().setUint32(at + 4, 1, true);
        return 0;
      },
      fd_prestat_dir_name: (fd, at) => {
        if (!this.fds[fd]?.root) return ERRNO.BADF;
        this.bytes(at, 1)[0] = 47;
        return 0;
      },
      fd_readdir: (fd, at, length, cookie, result) => {
        const d = this.fds[fd];
        if (!(d?.node instanceof Folder)) return d ? ERRNO.NOTDIR : ERRNO.BADF;
        const all = [['.', d.node], ['..', d.node], ...d.node.entries];
        const out = [];
        for (const [i, [name, node]] of all.entries()) {
          if (i < Number(cookie)) continue;
          if (out.length >= length) break;
          const bytes = this.text.encode(name);
          const head = new DataView(new ArrayBuffer(24));
          head.setBigUint64(0, BigInt(i + 1), true);
          head.setBigUint64(8, node.id, true);
          head.setUint32(16, bytes.length, true);
          head.setUint8(20, node instanceof Folder ? DIRECTORY : REGULAR_FILE);
          out.push(...new Uint8Array(head.buffer), ...bytes);
        }
        const n = Math.min(out.length, length);
        this.bytes(at, n).set(out.slice(0, n));
        this.view().setUint32(result, n, true);
        return 0;
      },

      path_open: (fd, lookup, path, length, how, rights, inheriting, flags, result) => {
        return on(this.find(fd, path, length), ({ folder, name, node }) => {
          const [create, directory, exclusive, truncate] = [1, 2, 4, 8].map((bit) => how & bit);
          if (node && create && exclusive) return ERRNO.EXIST;
          if (!node) {
            if (!create || directory) return ERRNO.NOENT;
            node = new File();
            node.time = this.now();
            folder.entries.set(name, node);
          }
          if (directory && !(node instanceof Folder)) return ERRNO.NOTDIR;
          if (node instanceof Folder && BigInt(rights) & 0x40n) return ERRNO.ISDIR;
          if (truncate && node instanceof File) node.resize(0);
          let number = this.fds.findIndex((d, i) => i > 3 && !d);
          if (number < 0) number = this.fds.length;
          this.fds[number] = { node, at: 0, append: (flags & 1) !== 0 };
          this.view().setUint32(result, number, true);
          return 0;
        });
      },
      path_filestat_get: (fd, flags, path, length, at) => on(this.find(fd, path, length), ({ node }) => (
        node ? this.stat(at, { node }) : ERRNO.NOENT
      )),
      path_filestat_set_times: (fd, lookup, path, length, accessed, modified, flags) => (
        on(this.find(fd, path, length), ({ node }) => {
          if (!node) return ERRNO.NOENT;
          if (flags & 12) node.time = flags & 8 ? this.now() : modified;
          return 0;
        })
      ),
      path_create_directory: (fd, path, length) => on(this.find(fd, path, length), ({ folder, name, node }) => {
        if (node) return ERRNO.EXIST;
        folder.entries.set(name, new Folder());
        return 0;
      }),
      path_remove_directory: (fd, path, length) => on(this.find(fd, path, length), ({ folder, name, node }) => {
        if (!node) return ERRNO.NOENT;
        if (!(node instanceof Folder)) return ERRNO.NOTDIR;
        if (!folder) return ERRNO.INVAL;
        if (node.entries.size) return ERRNO.NOTEMPTY;
        folder.entries.delete(name);
        return 0;
      }),
      path_unlink_file: (fd, path, length) => on(this.find(fd, path, length), ({ folder, name, node }) => {
        if (!node) return ERRNO.NOENT;
        if (node instanceof Folder) return ERRNO.ISDIR;
        folder.entries.delete(name);
        return 0;
      }),
      path_rename: (fd, path, length, to, toPath, toLength) => (
        on(this.find(fd, path, length), (from) => on(this.find(to, toPath, toLength), (target) => {
          if (!from.node) return ERRNO.NOENT;
          if (target.node === from.node) return 0;
          if (!from.folder || !target.folder) return ERRNO.INVAL;
          const [isFolder, wasFolder] = [from.node, target.node].map((n) => n instanceof Folder);
          if (target.node && isFolder !== wasFolder) return wasFolder ? ERRNO.ISDIR : ERRNO.NOTDIR;
          if (wasFolder && target.node.entries.size) return ERRNO.NOTEMPTY;
          from.folder.entries.delete(from.name);
          target.folder.entries.set(target.name, from.node);
          return 0;
        }))
      ),
      path_link: (fd, flags, path, length, to, toPath, toLength) => (
        on(this.find(fd, path, length), (from) => on(this.find(to, toPath, toLength), (target) => {
          if (!from.node) return ERRNO.NOENT;
          if (target.node) return ERRNO.EXIST;
          target.folder.entries.set(target.name, from.node);
          return 0;
        }))
      ),
      path_readlink: () => ERRNO.INVAL,
    };
  }
}

if (typeof module !== 'undefined') module.exports = { History, Run };
