
// Node's files, environment, clocks and random bytes. The program runs in a thread of its own, which has a larger stack
// than the first one.

import * as fs from 'node:fs';
import { randomFillSync } from 'node:crypto';
import { isatty } from 'node:tty';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Worker, isMainThread, workerData } from 'node:worker_threads';

/** Linux's flags of open() as those of this system. */
const nativeFlags = (flags) => {
  const { constants } = fs;
  const known = [
    [1, constants.O_WRONLY], [2, constants.O_RDWR], [0o100, constants.O_CREAT],
    [0o200, constants.O_EXCL], [0o1000, constants.O_TRUNC], [0o2000, constants.O_APPEND],
  ];
  return known.reduce((all, [bit, native]) => (flags & bit ? all | native : all), 0);
};

class NodeSystem {
  constructor() {
    this.pid = process.pid;
    // A quarter of the thread's: sizes of frames are estimates.
    this.stack = 4 << 20;
    this.folder = process.cwd();
    this.start = process.hrtime.bigint();
    const bytes = (text) => new Uint8Array(Buffer.from(text));
    this.environment = new Map(
      Object.entries(process.env).map(([name, value]) => [latin(bytes(name)), bytes(value)]),
    );
    // Where files are read and written, by descriptor: Node has no seek.
    this.positions = new Map();
  }

  /**
   * A full collection. A script with microtasks of its own ends the job, as far as weak references are concerned, which keep
   * their targets until then.
   */
  collect() {
    if (this.collector === undefined) {
      v8.setFlagsFromString('--expose-gc');
      const context = vm.createContext({}, { microtaskMode: 'afterEvaluate' });
      this.collector = { context, collect: vm.runInContext('gc', context) };
    }
    vm.runInContext('0', this.collector.context);
    this.collector.collect();
  }

  /** Threads cannot change the folder of the process. */
  path(name) {
    const isRelative = name.length > 0 && name[0] !== 47 && this.folder !== process.cwd();
    return Buffer.from(isRelative ? joined([Buffer.from(`${this.folder}/`), name]) : name);
  }

  open(name, flags, mode) {
    const fd = fs.openSync(this.path(name), nativeFlags(flags), mode);
    if (fs.fstatSync(fd).isFile()) this.positions.set(fd, { at: 0, append: (flags & APPEND) !== 0 });
    return fd;
  }

  close(fd) {
    this.positions.delete(fd);
    fs.closeSync(fd);
  }

  read(fd, into) {
    const position = this.positions.get(fd);
    if (position !== undefined) {
      const n = fs.readSync(fd, into, 0, into.length, position.at);
      position.at += n;
      return n;
    }
    for (;;) {
      try {
        return fs.readSync(fd, into, 0, into.length, null);
      } catch (error) {
        if (error.code === 'EOF') return 0;
        if (error.code !== 'EAGAIN') throw error;
        this.sleep(0.005);
      }
    }
  }

  write(fd, from) {
    const position = this.positions.get(fd);
    if (position?.append) position.at = fs.fstatSync(fd).size;
    let done = 0;
    while (done < from.length) {
      const at = position === undefined || position.append ? null : position.at;
      try {
        const n = fs.writeSync(fd, from, done, from.length - done, at);
        done += n;
        if (position !== undefined) position.at += n;
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        this.sleep(0.001);
      }
    }
    return done;
  }

  seek(fd, offset, how) {
    const position = this.positions.get(fd);
    if (position === undefined) {
      fs.fstatSync(fd);
      throw failure('ESPIPE');
    }
    const base = [0, position.at, fs.fstatSync(fd).size][how];
    if (!(base + offset >= 0)) throw failure('EINVAL');
    position.at = base + offset;
    return position.at;
  }

  stat(name, follow) {
    const stat = follow ? fs.statSync : fs.lstatSync;
    return stat(this.path(name), { bigint: true });
  }

  chdir(name) {
    const to = this.path(name);
    if (!fs.statSync(to).isDirectory()) throw failure('ENOTDIR');
    this.folder = fs.realpathSync(to);
  }

  sleep(seconds) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);
  }

  cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }

  mkdir(name, mode) {
    fs.mkdirSync(this.path(name), mode);
  }

  isatty(fd) { return isatty(fd); }
  fstat(fd) { return fs.fstatSync(fd, { bigint: true }); }
  access(name, mode) { fs.accessSync(this.path(name), mode); }
  unlink(name) { fs.unlinkSync(this.path(name)); }
  rmdir(name) { fs.rmdirSync(this.path(name)); }
  rename(from, to) { fs.renameSync(this.path(from), this.path(to)); }
  getcwd() { return Buffer.from(this.folder); }
  truncate(fd, size) { fs.ftruncateSync(fd, size); }
  sync(fd) { fs.fsyncSync(fd); }
  list(name) { return fs.readdirSync(this.path(name), { encoding: 'buffer' }); }
  readlink(name) { return fs.readlinkSync(this.path(name), { encoding: 'buffer' }); }
  symlink(to, name) { fs.symlinkSync(Buffer.from(to), this.path(name)); }
  link(from, to) { fs.linkSync(this.path(from), this.path(to)); }
  utimes(name, accessed, modified) { fs.utimesSync(this.path(name), accessed, modified); }
  random(into) { randomFillSync(into); }
  now() { return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)); }
  monotonic() { return process.hrtime.bigint() - this.start; }
}

function compiled(url) {
  try {
    return new WebAssembly.Module(fs.readFileSync(url));
  } catch (error) {
    const needed = 'It takes WebAssembly with garbage collection: Node 22 or later.';
    fs.writeSync(2, `This Node (${process.version}) cannot run the program: ${error.message}\n${needed}\n`);
    process.exit(2);
  }
}

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: process.argv.slice(1),
    resourceLimits: { stackSizeMb: 16, maxOldGenerationSizeMb: 4096, maxYoungGenerationSizeMb: 64 },
  });
  worker.on('error', (error) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    fs.writeSync(2, isMemory ? 'Fatal RPython error: out of memory\n' : `${error.stack}\n`);
    process.exitCode = 1;
  });
  worker.on('exit', (code) => process.exit(process.exitCode ?? code));
} else {
  const module = compiled(new URL('@PROGRAM@', import.meta.url));
  process.exit(runProgram(module, workerData, new NodeSystem()));
}
