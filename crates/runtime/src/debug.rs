//! Sections of debug output: `debug_start`, `debug_print`, `debug_stop`, and the variable PYPYLOG
//! that says what becomes of them.
//!
//! ```text
//! PYPYLOG=                 nothing but what is printed outside sections, on stderr
//! PYPYLOG=jit,gc:FILE      sections whose category starts with one of these
//! PYPYLOG=:FILE            all sections
//! PYPYLOG=FILE, +FILE      where sections start and end, nothing in them
//! ```
//!
//! `-` is stderr, and `%d` in FILE is the number of the process. Output is written line by line, so
//! there is nothing to be lost when the program dies.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed,
};

use crate::exc::decimal;
use crate::string::RpyString;
use crate::{float, os, sys};

/// A bit per section that is open, the innermost lowest: whether its output is wanted. Outside of all
/// it is.
static WANTED: AtomicU64 = AtomicU64::new(u64::MAX);
/// The variable has been looked at.
static READY: AtomicBool = AtomicBool::new(false);
/// Sections show, nothing in them does.
static PROFILE: AtomicBool = AtomicBool::new(false);
/// Where output goes.
static FILE: AtomicI32 = AtomicI32::new(2);
/// It is a terminal.
static COLORS: AtomicBool = AtomicBool::new(false);
/// The prefixes of categories, a text that stays.
static PREFIXES: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static PREFIXES_LEN: AtomicUsize = AtomicUsize::new(0);

const VARIABLE: &core::ffi::CStr = c"PYPYLOG";
/// Write only, made if it is not there, emptied; closed in other programs.
pub(crate) const CREATE: c_int = 0o1 | 0o100 | 0o1000 | 0o2_000_000;

/// The line that is being put together. Only the thread with the lock prints.
struct Line {
    bytes: [u8; 1024],
    len: usize,
    /// Something is in it.
    begun: bool,
}

static mut LINE: Line = Line {
    bytes: [0; 1024],
    len: 0,
    begun: false,
};

impl Line {
    fn push(&mut self, text: &[u8]) {
        self.begun = true;
        for part in text.chunks(self.bytes.len()) {
            if self.len + part.len() > self.bytes.len() {
                self.write();
            }
            self.bytes[self.len..][..part.len()].copy_from_slice(part);
            self.len += part.len();
        }
    }

    fn write(&mut self) {
        os::write_all(FILE.load(Relaxed), &self.bytes[..self.len]);
        self.len = 0;
    }

    fn end(&mut self) {
        self.push(b"\n");
        self.write();
        self.begun = false;
    }
}

fn line<'a>() -> &'a mut Line {
    let line = &raw mut LINE;
    // SAFETY: only the thread with the lock prints, and nobody keeps it.
    unsafe { &mut *line }
}

fn wants() -> bool {
    WANTED.load(Relaxed) & 1 != 0
}

/// Looks at the variable, once.
fn ensure_opened() {
    if READY.swap(true, Relaxed) {
        return;
    }
    // SAFETY: the name ends in a zero byte; what is there stays until it is changed.
    let value = unsafe {
        let value = sys::getenv(VARIABLE.as_ptr());
        if value.is_null() {
            &[][..]
        } else {
            os::c_bytes(value)
        }
    };
    if !value.is_empty() {
        open(value);
        let to = FILE.load(Relaxed);
        COLORS.store(to == 2 && os::isatty(2), Relaxed);
    }
}

fn open(value: &[u8]) {
    let colon = value.iter().position(|b| *b == b':');
    let name = match (value.strip_prefix(b"+"), colon) {
        (None, Some(at)) => {
            keep_prefixes(&value[..at]);
            &value[at + 1..]
        }
        (plus, _) => {
            PROFILE.store(true, Relaxed);
            plus.unwrap_or(value)
        }
    };
    let number = name.windows(2).position(|w| w == b"%d");
    if name != b"-" {
        let mut path = [0; os::PATH_MAX];
        let mut len = 0;
        let mut push = |part: &[u8]| {
            // The last byte stays zero.
            let room = path.len() - 1 - len;
            let part = &part[..part.len().min(room)];
            path[len..][..part.len()].copy_from_slice(part);
            len += part.len();
        };
        match number {
            Some(at) => {
                push(&name[..at]);
                push(decimal(os::getpid(), &mut [0; 32]));
                push(&name[at + 2..]);
            }
            None => push(name),
        }
        // SAFETY: the path ends in a zero byte.
        let fd = unsafe { sys::open(path.as_ptr().cast::<c_char>(), CREATE, 0o666) };
        if fd >= 0 {
            FILE.store(fd, Relaxed);
        }
    }
    // Programs that this one starts do not write into the same file.
    if number.is_none() {
        // SAFETY: `value` is not used any more.
        unsafe { sys::unsetenv(VARIABLE.as_ptr()) };
    }
}

fn keep_prefixes(prefixes: &[u8]) {
    // SAFETY: memory of that size, which is never given back.
    unsafe {
        let copy = sys::malloc(prefixes.len().max(1)).cast::<u8>();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(prefixes.as_ptr(), prefixes.len());
            PREFIXES_LEN.store(prefixes.len(), Relaxed);
            PREFIXES.store(copy, Relaxed);
        }
    }
}

/// The prefixes that are asked for, if sections are shown by prefix.
fn prefixes() -> Option<impl Iterator<Item = &'static [u8]>> {
    let start = PREFIXES.load(Relaxed);
    // SAFETY: `keep_prefixes` stored text and length, and never gives the text back.
    let all = (!start.is_null())
        .then(|| unsafe { core::slice::from_raw_parts(start, PREFIXES_LEN.load(Relaxed)) })?;
    Some(all.split(|b| *b == b','))
}

fn is_asked_for(category: &[u8]) -> bool {
    prefixes().is_some_and(|mut all| all.any(|p| category.starts_with(p)))
}

/// Writes where a section starts or ends; returns the time.
fn mark(color: &[u8], before: &[u8], category: &[u8], after: &[u8]) -> i64 {
    let time = os::cpu_nanoseconds();
    let mut digits = [0; 16];
    let mut at = digits.len();
    let mut rest = time as u64;
    while rest != 0 || at == digits.len() {
        at -= 1;
        digits[at] = b"0123456789abcdef"[(rest % 16) as usize];
        rest /= 16;
    }
    let colors = COLORS.load(Relaxed);
    let line = line();
    if line.begun {
        line.end();
    }
    if colors {
        line.push(color);
    }
    for part in [&b"["[..], &digits[at..], b"] ", before, category, after] {
        line.push(part);
    }
    if colors {
        line.push(b"\x1b[0m");
    }
    line.end();
    time
}

/// `debug_start`: a section starts. Returns the time if that is asked for, or shown.
pub fn start(category: &[u8], timestamp: bool) -> i64 {
    begin(category, timestamp)
}

/// The same for sections of the runtime's own.
pub(crate) fn begin(category: &[u8], timestamp: bool) -> i64 {
    ensure_opened();
    let wanted = WANTED.load(Relaxed) << 1;
    let shows = !PROFILE.load(Relaxed) && is_asked_for(category);
    WANTED.store(wanted | u64::from(shows), Relaxed);
    match shows || PROFILE.load(Relaxed) {
        true => mark(b"\x1b[1m\x1b[31m", b"{", category, b""),
        false => time_if(timestamp),
    }
}

/// `debug_stop`: the innermost section ends.
pub fn stop(category: &[u8], timestamp: bool) -> i64 {
    end(category, timestamp)
}

/// The same for sections of the runtime's own.
pub(crate) fn end(category: &[u8], timestamp: bool) -> i64 {
    ensure_opened();
    let time = match PROFILE.load(Relaxed) || wants() {
        true => mark(b"\x1b[31m", b"", category, b"}"),
        false => time_if(timestamp),
    };
    // Above the sections there are ones.
    let above = 1 << 63;
    WANTED.store(WANTED.load(Relaxed) >> 1 | above, Relaxed);
    time
}

fn time_if(timestamp: bool) -> i64 {
    match timestamp {
        true => os::cpu_nanoseconds(),
        false => 0,
    }
}

/// `have_debug_prints`: whether what is printed now shows.
pub fn have_prints() -> bool {
    wants()
}

/// `have_debug_prints_for`: whether some section with that prefix shows.
pub fn have_prints_for(prefix: &[u8]) -> bool {
    ensure_opened();
    !PROFILE.load(Relaxed)
        && prefixes()
            .is_some_and(|mut all| all.any(|p| prefix.starts_with(p) || p.starts_with(&*prefix)))
}

/// `debug_offset`: how much has been written, or -1.
pub fn offset() -> i64 {
    const CURRENT: c_int = 1;
    if !READY.load(Relaxed) {
        return -1;
    }
    // SAFETY: an invalid descriptor is an error, no more.
    unsafe { sys::lseek(FILE.load(Relaxed), 0, CURRENT) }
}

/// `debug_flush`: all lines are written already.
pub fn flush() {}

/// `debug_forked`: this is a new process. Its output goes into a file of its own, if the name
/// has its number in it, else to stderr.
pub fn forked(_offset: i64) {
    if READY.swap(false, Relaxed) {
        let file = FILE.swap(2, Relaxed);
        if file != 2 {
            // SAFETY: the descriptor was opened here, and `FILE` no longer names it.
            unsafe { sys::close(file) };
        }
        PROFILE.store(false, Relaxed);
        PREFIXES.store(core::ptr::null_mut(), Relaxed);
    }
}

/// Part of a line of the runtime's own.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a [u8]),
    Number(usize),
    /// A number that the original keeps as a Float.
    Float(usize),
    /// So many nanoseconds, as seconds.
    Seconds(i64),
}

/// Prints a line of the runtime's own, with a space between the parts.
pub(crate) fn print(parts: &[Part<'_>]) {
    if !wants() {
        return;
    }
    let line = line();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            line.push(b" ");
        }
        let mut digits = [0; 32];
        match *part {
            Part::Text(text) => line.push(text),
            Part::Number(n) => line.push(decimal(n as i64, &mut digits)),
            Part::Float(n) => {
                line.push(decimal(n as i64, &mut digits));
                line.push(b".000000");
            }
            Part::Seconds(nanoseconds) => {
                let micros = nanoseconds / 1000;
                line.push(decimal(micros / 1_000_000, &mut digits));
                line.push(b".");
                // The digit before the fraction keeps its zeros.
                line.push(&decimal(micros % 1_000_000 + 1_000_000, &mut digits)[1..]);
            }
        }
    }
    line.end();
}

/// One argument of `debug_print`; `kind` says what it is: 0 a Signed, 1 a Float (by
/// its bits), 2 a byte string, 3 a Char, 4 the end of the line, 5 an address, 6 an Unsigned.
///
/// # Safety
/// A string is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_debug_print(kind: u32, value: u64) {
    if !wants() {
        return;
    }
    ensure_opened();
    let line = line();
    if kind == 4 {
        return line.end();
    }
    if line.begun {
        line.push(b" ");
    }
    let mut text = [0; 400];
    match kind {
        0 => line.push(decimal(value as i64, &mut [0; 32])),
        1 => {
            let n = float::format(f64::from_bits(value), b'f', 6, 0, &mut text);
            line.push(&text[..n as usize]);
        }
        2 if value == 0 => line.push(b"(null)"),
        // SAFETY: the operation `debug_print` passes a live string, which does not move before this
        // returns.
        2 => line.push(unsafe { RpyString::bytes(value as usize as *mut RpyString) }),
        3 => line.push(&[value as u8]),
        _ => {
            let base = if kind == 5 { 16 } else { 10 };
            let mut at = text.len();
            let mut rest = value;
            while rest != 0 || at == text.len() {
                at -= 1;
                text[at] = b"0123456789abcdef"[(rest % base) as usize];
                rest /= base;
            }
            if kind == 5 {
                line.push(b"0x");
            }
            line.push(&text[at..]);
        }
    }
}
