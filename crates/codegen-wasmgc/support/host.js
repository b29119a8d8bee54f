// The host's part of programs that Taipan compiles for WasmGC, on the functions of a system: those of Node
// (node.mjs), or those of a page.
//
// Signed numbers are BigInts. A string is an address in the program's memory and a length; the program copies strings
// that are written to back. Names of files, variables and texts are bytes.

'use strict';

/** A program ends by this exception. */
class ProgramEnd extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

const encoder = new TextEncoder();
const NOTHING = new Uint8Array(0);

/** A string of one character for each byte. */
const latin = (bytes) => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

/** All bytes, one piece after the other. */
const joined = (pieces) => {
  const all = new Uint8Array(pieces.reduce((n, piece) => n + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
};

/** An error of the system, by the name of its number. */
const failure = (code) => Object.assign(new Error(code), { code });

/** The exact decimal digits of a finite float that is not negative: `digits` stands for `0.digits * 10 ** point`. */
function exactDigits(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  let mantissa = bits & ((1n << 52n) - 1n);
  if (exponent !== 0) mantissa |= 1n << 52n;
  if (mantissa === 0n) return { digits: '', point: 0 };
  const power = (exponent === 0 ? 1 : exponent) - 1075;
  let text;
  let after = 0;
  if (power >= 0) {
    text = (mantissa << BigInt(power)).toString();
  } else {
    text = (mantissa * 5n ** BigInt(-power)).toString();
    after = -power;
  }
  const point = text.length - after;
  return { digits: text.replace(/0+$/, ''), point };
}

/** Rounds to so many digits, halves to even. */
function rounded({ digits, point }, count) {
  if (count < 0) return { digits: '', point };
  if (digits.length <= count) return { digits, point };
  const rest = digits.slice(count);
  const kept = digits.slice(0, count);
  const half = rest[0] > '5' || (rest[0] === '5' && rest.length > 1);
  const tie = rest === '5' && count > 0 && (kept.charCodeAt(count - 1) - 48) % 2 === 1;
  if (!half && !tie) return { digits: kept.replace(/0+$/, ''), point };
  const up = (BigInt(`1${kept}`) + 1n).toString();
  // A carry out of the first digit: 0.99 becomes 1.00, which is 0.1 * 10.
  return up[0] === '2' ? { digits: '1', point: point + 1 } : { digits: up.slice(1).replace(/0+$/, ''), point };
}

function exponential({ digits, point }, precision, alternate) {
  const all = digits.padEnd(precision + 1, '0') || '0'.repeat(precision + 1);
  const exponent = digits === '' ? 0 : point - 1;
  const after = all.slice(1);
  const dot = after !== '' || alternate ? '.' : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${all[0]}${dot}${after}e${exponent < 0 ? '-' : '+'}${size}`;
}

function fixed({ digits, point }, precision, alternate) {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const after = point > 0 ? digits.slice(point) : digits === '' ? '' : '0'.repeat(-point) + digits;
  const text = after.padEnd(precision, '0');
  return text !== '' || alternate ? `${whole}.${text}` : whole;
}

function general(exact, precision, alternate, dot) {
  const count = precision === 0 ? 1 : precision;
  const value = rounded(exact, count);
  const exponent = value.digits === '' ? 0 : value.point - 1;
  const places = alternate ? count : Math.max(value.digits.length, 1);
  if (exponent < -4 || exponent >= count - dot) return exponential(value, places - 1, alternate);
  return fixed(value, Math.max(places - 1 - exponent, 0), alternate);
}

/** The shortest digits that read back. */
function shortest(x) {
  const [mantissa, exponent] = x.toExponential().split('e');
  const digits = mantissa.replace('.', '').replace(/0+$/, '');
  return { digits, point: digits === '' ? 0 : Number(exponent) + 1 };
}

/** The text of a float, as CPython's PyOS_double_to_string has it. */
function formatFloat(x, code, precision, flags) {
  const upper = code === 'E' || code === 'F' || code === 'G';
  const kind = code.toLowerCase();
  const sign = x < 0 || Object.is(x, -0) ? '-' : flags & 1 ? '+' : '';
  let text;
  if (Number.isNaN(x)) {
    return (flags & 1 ? '+' : '') + (upper ? 'NAN' : 'nan');
  }
  if (!Number.isFinite(x)) return sign + (upper ? 'INF' : 'inf');
  const size = Math.abs(x);
  const alternate = (flags & 4) !== 0;
  if (kind === 'r') {
    const value = shortest(size);
    const exponent = value.digits === '' ? 0 : value.point - 1;
    const count = Math.max(value.digits.length, 1);
    text =
      exponent < -4 || exponent >= 16
        ? exponential(value, count - 1, alternate)
        : fixed(value, Math.max(count - 1 - exponent, 0), alternate);
  } else {
    const exact = exactDigits(size);
    if (kind === 'e') text = exponential(rounded(exact, precision + 1), precision, alternate);
    else if (kind === 'f') {
      const count = exact.point + precision;
      // Nothing is left of it but a carry.
      const value =
        count === 0 && exact.digits > '5' ? { digits: '1', point: exact.point + 1 } : rounded(exact, count);
      text = fixed(value.digits === '' ? { digits: '', point: 0 } : value, precision, alternate);
    } else text = general(exact, precision, alternate, (flags & 2) >> 1);
  }
  if (flags & 2 && /^[0-9]+$/.test(text)) text += '.0';
  return sign + (upper ? text.toUpperCase() : text);
}

const FLOAT = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

function frexp(x) {
  if (x === 0 || !Number.isFinite(x)) return [x, 0];
  const view = new DataView(new ArrayBuffer(8));
  let shift = 0;
  if (Math.abs(x) < 2 ** -1022) {
    x *= 2 ** 64;
    shift = 64;
  }
  view.setFloat64(0, x);
  const high = view.getUint32(0);
  const exponent = ((high >>> 20) & 0x7ff) - 1022;
  view.setUint32(0, ((high & 0x800fffff) | (1022 << 20)) >>> 0);
  return [view.getFloat64(0), exponent - shift];
}

function ldexp(x, n) {
  const by = Math.max(-2200, Math.min(2200, n));
  // In steps that are exact, and only the last of which may round.
  const step = Math.trunc(by / 3);
  if (by > 0) return x * 2 ** step * 2 ** step * 2 ** (by - 2 * step);
  const [m, e] = frexp(x);
  const exponent = e + by;
  if (m === 0 || !Number.isFinite(m)) return x;
  if (exponent > -1021) return x * 2 ** step * 2 ** step * 2 ** (by - 2 * step);
  return exponent < -1080 ? m * 0 : m * 2 ** -1000 * 2 ** (exponent + 1000);
}

/** Rounds halves away from zero. */
function round(x) {
  const size = Math.abs(x);
  const down = Math.floor(size);
  return Math.sign(x) * (size - down >= 0.5 ? down + 1 : down) || x * 0;
}

const mathematics = {
  acos: Math.acos,
  acosh: Math.acosh,
  asin: Math.asin,
  asinh: Math.asinh,
  atan: Math.atan,
  atan2: Math.atan2,
  atanh: Math.atanh,
  cos: Math.cos,
  cosh: Math.cosh,
  exp: Math.exp,
  expm1: Math.expm1,
  fmod: (x, y) => x % y,
  hypot: Math.hypot,
  log: Math.log,
  log10: Math.log10,
  log1p: Math.log1p,
  // C: 1 for any exponent if the base is 1, and for -1 with an infinite one.
  pow: (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y),
  round,
  sin: Math.sin,
  sinh: Math.sinh,
  tan: Math.tan,
  tanh: Math.tanh,
};

// Linux's numbers and messages of errors.
const ERRORS = {
  EPERM: [1, 'Operation not permitted'],
  ENOENT: [2, 'No such file or directory'],
  EIO: [5, 'Input/output error'],
  EBADF: [9, 'Bad file descriptor'],
  EACCES: [13, 'Permission denied'],
  EEXIST: [17, 'File exists'],
  EXDEV: [18, 'Invalid cross-device link'],
  ENOTDIR: [20, 'Not a directory'],
  EISDIR: [21, 'Is a directory'],
  EINVAL: [22, 'Invalid argument'],
  EMFILE: [24, 'Too many open files'],
  ENOTTY: [25, 'Inappropriate ioctl for device'],
  EFBIG: [27, 'File too large'],
  ENOSPC: [28, 'No space left on device'],
  ESPIPE: [29, 'Illegal seek'],
  EROFS: [30, 'Read-only file system'],
  EMLINK: [31, 'Too many links'],
  EPIPE: [32, 'Broken pipe'],
  ERANGE: [34, 'Numerical result out of range'],
  ENAMETOOLONG: [36, 'File name too long'],
  ENOSYS: [38, 'Function not implemented'],
  ENOTEMPTY: [39, 'Directory not empty'],
  ELOOP: [40, 'Too many levels of symbolic links'],
};

const describe = (number) =>
  Object.values(ERRORS).find(([n]) => n === number)?.[1] ?? `Unknown error ${number}`;

// Linux's flags of open().
const WRITE = 1, BOTH = 2, CREATE = 0o100, TRUNCATE = 0o1000, APPEND = 0o2000;

/** The flags that a mode of fopen() stands for. */
const flagsOf = (mode) => {
  const how = mode.replace(/[bet]/g, '');
  if (!/^[rwa]\+?$/.test(how)) throw failure('EINVAL');
  const access = how.endsWith('+') ? BOTH : how === 'r' ? 0 : WRITE;
  return access | { r: 0, w: CREATE | TRUNCATE, a: CREATE | APPEND }[how[0]];
};

/** The C library's files: what is read ahead and what is not written yet, on the descriptors of a system. */
class Streams {
  constructor(system) {
    this.system = system;
    // No file has the number 0.
    this.all = [undefined];
  }

  open(fd) {
    this.all.push({ fd, ahead: NOTHING, behind: [], size: 0, unbuffered: fd === 2 });
    return this.all.length - 1;
  }

  of(number) {
    const stream = this.all[Number(number)];
    if (stream === undefined) throw failure('EBADF');
    return stream;
  }

  flush(stream) {
    const all = joined(stream.behind);
    stream.behind = [];
    stream.size = 0;
    if (all.length > 0) this.system.write(stream.fd, all);
  }

  flushAll() {
    for (const stream of this.all) {
      try {
        if (stream !== undefined) this.flush(stream);
      } catch {
        // Its output has no reader.
      }
    }
  }

  close(number) {
    const stream = this.of(number);
    this.all[Number(number)] = undefined;
    this.flush(stream);
    this.system.close(stream.fd);
  }

  fill(stream) {
    const more = new Uint8Array(8192);
    const n = this.system.read(stream.fd, more);
    stream.ahead = joined([stream.ahead, more.subarray(0, n)]);
    return n > 0;
  }

  take(stream, count, into) {
    const taken = stream.ahead.subarray(0, count);
    stream.ahead = stream.ahead.subarray(taken.length);
    into.set(taken);
    return taken.length;
  }

  read(number, into) {
    const stream = this.of(number);
    this.flush(stream);
    while (stream.ahead.length < into.length && this.fill(stream));
    return this.take(stream, into.length, into);
  }

  line(number, into) {
    const stream = this.of(number);
    this.flush(stream);
    const end = () => stream.ahead.indexOf(10) + 1;
    while (end() === 0 && stream.ahead.length < into.length && this.fill(stream));
    return this.take(stream, Math.min(end() || stream.ahead.length, into.length), into);
  }

  write(number, from) {
    const stream = this.of(number);
    this.forget(stream);
    stream.behind.push(from.slice());
    stream.size += from.length;
    if (stream.unbuffered || stream.size >= 8192) this.flush(stream);
    return from.length;
  }

  /** Goes back to where the program has read to. */
  forget(stream) {
    if (stream.ahead.length > 0) this.system.seek(stream.fd, -stream.ahead.length, 1);
    stream.ahead = NOTHING;
  }

  seek(number, offset, how) {
    const stream = this.of(number);
    this.flush(stream);
    this.forget(stream);
    this.system.seek(stream.fd, offset, how);
  }

  tell(number) {
    const stream = this.of(number);
    this.flush(stream);
    return this.system.seek(stream.fd, 0, 1) - stream.ahead.length;
  }
}

/**
 * The functions that a program imports. `program.memory` is its memory, `program.args` its arguments; `system` has files,
 * the environment, clocks and random bytes.
 */
function functions(program, system) {
  let saved = 0n;
  const streams = new Streams(system);
  program.flush = () => streams.flushAll();
  const bytes = (at, length) => new Uint8Array(program.memory.buffer, at, length);
  // A copy: callers keep the bytes, or the memory may grow before they use them.
  const path = (at, length) => bytes(at, length).slice();
  const attempt = (work) => {
    try {
      return BigInt(work() ?? 0);
    } catch (error) {
      // A program that ends, or waits for input.
      if (error.code === undefined || error instanceof ProgramEnd) throw error;
      saved = BigInt(ERRORS[error.code]?.[0] ?? ERRORS.EIO[0]);
      return -saved;
    }
  };
  // Writes bytes to a string if they fit. Returns their number.
  const put = (found, at, length) => {
    if (found.length <= length) bytes(at, length).set(found);
    return BigInt(found.length);
  };
  const field = (stat, number) => [stat.mode, stat.size, stat.mtimeNs, stat.ino, stat.dev][number];
  const fields = (stat, at) => {
    const view = new DataView(program.memory.buffer, at, 104);
    [
      stat.mode, stat.ino, stat.dev, stat.nlink, stat.uid, stat.gid, stat.size,
      stat.atimeNs, stat.mtimeNs, stat.ctimeNs, stat.blksize, stat.blocks, stat.rdev,
    ].forEach((value, i) => view.setBigInt64(8 * i, BigInt(value), true));
  };
  const zeroBehind = (texts) => joined(texts.flatMap((text) => [text, Uint8Array.of(0)]));
  const die = (message) => {
    program.flush();
    system.write(2, message);
    throw new ProgramEnd(1);
  };
  const locks = [undefined];
  let collects = 1;
  return {
    ...mathematics,
    argument_count: () => program.args.length,
    argument: (i) => {
      const found = encoder.encode(program.args[i]);
      const missing = found.length - program.memory.buffer.byteLength;
      if (missing > 0) program.memory.grow(Math.ceil(missing / 65536));
      bytes(0, found.length).set(found);
      return found.length;
    },
    weakref_new: (object) => (object === null ? null : new WeakRef(object)),
    weakref_get: (reference) => reference?.deref() ?? null,
    collect: () => system.collect(),
    rpy_read_timestamp: () => system.monotonic(),
    rpy_assert_failed: () => die(encoder.encode('AssertionError in debug_assert\n')),
    rpy_fatal: (at, length) => die(joined([path(at, length), encoder.encode('\n')])),
    rpy_uncaught: (at, length) =>
      die(joined([encoder.encode('Fatal RPython error: '), path(at, length), encoder.encode('\n')])),
    rpy_os_write: (fd, at, length) => attempt(() => system.write(Number(fd), bytes(at, length))),
    rpy_os_read: (fd, at, length) => attempt(() => system.read(Number(fd), bytes(at, length))),
    rpy_os_open: (at, length, flags, mode) =>
      attempt(() => system.open(path(at, length), Number(flags), Number(mode))),
    rpy_os_close: (fd) => attempt(() => system.close(Number(fd))),
    rpy_os_lseek: (fd, offset, how) =>
      attempt(() => system.seek(Number(fd), Number(offset), Number(how))),
    rpy_os_isatty: (fd) => (system.isatty(Number(fd)) ? 1 : 0),
    rpy_os_unlink: (at, length) => attempt(() => system.unlink(path(at, length))),
    rpy_os_stat: (at, length, number) =>
      attempt(() => field(system.stat(path(at, length), true), Number(number))),
    rpy_os_fstat: (fd, number) => attempt(() => field(system.fstat(Number(fd)), Number(number))),
    rpy_os_access: (at, length, mode) => {
      try {
        system.access(path(at, length), Number(mode));
        return 1;
      } catch {
        return 0;
      }
    },
    rpy_os_mkdir: (at, length, mode) => attempt(() => system.mkdir(path(at, length), Number(mode))),
    rpy_os_rmdir: (at, length) => attempt(() => system.rmdir(path(at, length))),
    rpy_os_rename: (at, length, to, size) =>
      attempt(() => system.rename(path(at, length), path(to, size))),
    rpy_os_chdir: (at, length) => attempt(() => system.chdir(path(at, length))),
    rpy_os_getcwd: (at, length) => attempt(() => put(system.getcwd(), at, length)),
    rpy_os_getenv: (at, length, to, size) => {
      const value = system.environment.get(latin(bytes(at, length)));
      return value === undefined ? -1n : put(value, to, size);
    },
    rpy_os_strerror: (number, at, length) =>
      put(encoder.encode(describe(Number(number))).subarray(0, length), at, length),
    rpy_os_getpid: () => BigInt(system.pid),
    rpy_os_ftruncate: (fd, length) => attempt(() => system.truncate(Number(fd), Number(length))),
    rpy_os_fsync: (fd) => attempt(() => system.sync(Number(fd))),
    rpy_os_stat_fields: (at, length, follow, to, _size) =>
      attempt(() => fields(system.stat(path(at, length), follow !== 0), to)),
    rpy_os_fstat_fields: (fd, to, _size) => attempt(() => fields(system.fstat(Number(fd)), to)),
    rpy_os_listdir: (at, length, to, size) =>
      attempt(() => put(zeroBehind(system.list(path(at, length))), to, size)),
    rpy_os_readlink: (at, length, to, size) =>
      attempt(() => put(system.readlink(path(at, length)), to, size)),
    rpy_os_symlink: (at, length, to, size) =>
      attempt(() => system.symlink(path(at, length), path(to, size))),
    rpy_os_link: (at, length, to, size) => attempt(() => system.link(path(at, length), path(to, size))),
    rpy_os_utime: (at, length, accessed, modified) =>
      attempt(() => system.utimes(path(at, length), accessed, modified)),
    rpy_os_environ: (at, length) => {
      const all = [...system.environment].map(([name, value]) =>
        joined([Uint8Array.from(name, (c) => c.charCodeAt(0)), encoder.encode('='), value]),
      );
      return put(zeroBehind(all), at, length);
    },
    rpy_os_putenv: (at, length, to, size) => {
      system.environment.set(latin(bytes(at, length)), path(to, size));
      return 0n;
    },
    rpy_os_unsetenv: (at, length) => {
      system.environment.delete(latin(bytes(at, length)));
      return 0n;
    },
    rpy_os_urandom: (at, length) => {
      const random = new Uint8Array(length);
      system.random(random);
      return put(random, at, length);
    },
    rpy_os_saved_errno: () => saved,
    rpy_os_set_saved_errno: (number) => {
      saved = number;
    },
    rpy_os_exit: (code) => {
      throw new ProgramEnd(Number(code & 255n));
    },
    rpy_debug_start: () => 0n,
    rpy_debug_stop: () => 0n,
    rpy_debug_have_prints: () => 0,
    rpy_debug_have_prints_for: () => 0,
    rpy_debug_offset: () => -1n,
    rpy_debug_flush: () => {},
    rpy_file_open: (at, length, mode, size) =>
      attempt(() => streams.open(system.open(path(at, length), flagsOf(latin(bytes(mode, size))), 0o666))),
    rpy_file_fdopen: (fd, mode, size) =>
      attempt(() => {
        flagsOf(latin(bytes(mode, size)));
        return streams.open(Number(fd));
      }),
    rpy_file_standard: (fd) => BigInt(streams.open(Number(fd))),
    rpy_file_set_buffer: (file, mode, _size) =>
      attempt(() => {
        streams.of(file).unbuffered = Number(mode) === 2;
      }),
    rpy_file_close: (file) => attempt(() => streams.close(file)),
    rpy_file_read: (file, at, length) => attempt(() => streams.read(file, bytes(at, length))),
    rpy_file_line: (file, at, length) => attempt(() => streams.line(file, bytes(at, length))),
    rpy_file_write: (file, at, length) => attempt(() => streams.write(file, bytes(at, length))),
    rpy_file_flush: (file) => attempt(() => streams.flush(streams.of(file))),
    rpy_file_seek: (file, offset, how) =>
      attempt(() => streams.seek(file, Number(offset), Number(how))),
    rpy_file_tell: (file) => attempt(() => streams.tell(file)),
    rpy_file_fileno: (file) => attempt(() => streams.of(file).fd),
    rpy_time_time: () => Number(system.now()) / 1e9,
    rpy_time_clock: () => system.cpu(),
    rpy_time_sleep: (seconds) => system.sleep(seconds),
    rpy_time_clock_ns: (clock) => (clock === 0n ? system.now() : system.monotonic()),
    rpy_signal_poll: () => -1n,
    rpy_thread_ident: () => 1n,
    rpy_gil_release: () => {},
    rpy_gil_acquire: () => {},
    rpy_gil_yield: () => {},
    rpy_gil_holder: () => 1n,
    rpy_lock_new: () => {
      locks.push(false);
      return BigInt(locks.length - 1);
    },
    rpy_lock_free: (_lock) => {},
    rpy_lock_try: (lock) => {
      const free = !locks[Number(lock)];
      locks[Number(lock)] = true;
      return free ? 1 : 0;
    },
    rpy_lock_wait: (lock, microseconds, _interrupted) => {
      if (!locks[Number(lock)]) {
        locks[Number(lock)] = true;
        return 1n;
      }
      // No other code gives it back.
      return microseconds < 0n ? 3n : 0n;
    },
    rpy_lock_release: (lock) => {
      if (!locks[Number(lock)]) return -1n;
      locks[Number(lock)] = false;
      return 0n;
    },
    rpy_memory_room: (size) => (size < 1n << 30n ? 1 : 0),
    rpy_gc_set_enabled: (on) => {
      collects = on;
    },
    rpy_gc_is_enabled: () => collects,
    rpy_gc_add_pressure: (_bytes) => {},
    rpy_float_format: (x, code, precision, flags, at, length) => {
      const text = formatFloat(x, String.fromCharCode(code), Number(precision), Number(flags));
      return put(encoder.encode(text), at, length);
    },
    rpy_float_parse: (at, length) => Number(latin(bytes(at, length))),
    rpy_float_parse_ok: (at, length) => (FLOAT.test(latin(bytes(at, length))) ? 1 : 0),
    rpy_float_frexp_mantissa: (x) => frexp(x)[0],
    rpy_float_frexp_exponent: (x) => BigInt(frexp(x)[1]),
    rpy_float_ldexp: (x, n) => ldexp(x, Number(n)),
  };
}

/**
 * Runs a module on arguments, of which the first one is the program's name. Returns the exit code. What is neither an
 * end of the program nor a trap is the caller's.
 */
function runProgram(module, args, system) {
  const program = { args };
  const instance = new WebAssembly.Instance(module, { taipan: functions(program, system) });
  program.memory = instance.exports.memory;
  instance.exports.stack_limit.value = system.stack;
  try {
    const code = Number(instance.exports.run() & 255n);
    program.flush();
    return code;
  } catch (error) {
    if (error instanceof ProgramEnd) return error.code;
    const isTrap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    if (!isTrap) throw error;
    program.flush();
    const what = error instanceof RangeError ? 'the host has no stack left' : error.message;
    system.write(2, encoder.encode(`Fatal RPython error: ${what}\n${error.stack}\n`));
    return 1;
  }
}
