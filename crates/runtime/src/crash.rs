//! Ends that are no exceptions: a signal that a fault of the program raises, and a check of a
//! checked build that fails. Both show the RPython functions that were running.
//!
//! A program comes with a table of places: addresses of its code, in ascending order, each
//! with the place in the source that the code from there on comes from. Code of checked builds
//! keeps frame pointers and has a place for each line. Callers are found by the unwind tables of
//! compilers ([`unwind`]), and by frame pointers in code that is compiled just in time. Where both end,
//! return addresses on the rest of the stack are shown with the remark that their functions may have
//! returned.
//!
//! Programs by way of C have a table by names of functions ([`BY_SYMBOL`]): which addresses these have is
//! known by the executable's own table of symbols. Lines of checked code that no table of ours has are
//! those of the information for debuggers ([`own`]).

mod lines;
mod own;
mod reader;
pub(crate) mod samples;
mod unwind;

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use self::own::OwnFile;
use self::unwind::Caller;
use crate::platform::{FAULT_ADDRESS, Registers, current_registers, follows_call, registers};
use crate::start::Slot;
use crate::state::Location;
use crate::{exc, os, sys};

/// The start of a table of places; the rows follow.
#[repr(C)]
pub struct Places {
    /// [`CHECKED`] and [`BY_SYMBOL`]
    pub flags: u64,
    /// Number of rows.
    pub count: u64,
}

/// The code keeps frame pointers, and lines are known.
pub const CHECKED: u64 = 1;
/// Rows have hashes of the names of functions in place of addresses, in ascending order.
pub const BY_SYMBOL: u64 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct Row {
    /// Or the hash of a symbol.
    address: u64,
    /// Null where no code of the program's own is.
    location: Slot<Location>,
}

/// The table of the program that runs, or 0.
static PLACES: AtomicUsize = AtomicUsize::new(0);

/// Calls that are shown at most.
const MOST_CALLS: usize = 100;
/// Frames that are followed at most, of any code.
const MOST_FRAMES: usize = 1 << 14;
/// Bytes of the longest call instruction that [`follows_call`] reads.
const LONGEST_CALL: usize = 5;
/// Words of a stack that are looked at for return addresses.
const MOST_WORDS: usize = 1 << 16;
/// Addresses below are those of fields of null.
const NULL_PAGE: usize = 64 << 10;

const SIGILL: c_int = 4;
const SIGBUS: c_int = 7;
const SIGFPE: c_int = 8;
const SIGSEGV: c_int = 11;
/// SA_SIGINFO, SA_ONSTACK, SA_NODEFER is not set: a fault in the handler ends the process.
const FLAGS: c_int = 0x4 | 0x0800_0000;
const ALTERNATE_STACK: usize = 64 << 10;

#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

#[repr(C)]
struct Stack {
    start: *mut c_void,
    flags: c_int,
    size: usize,
}

unsafe extern "C" {
    fn sigaction(number: c_int, action: *const Action, old: *mut Action) -> c_int;
    fn sigaltstack(new: *const Stack, old: *mut Stack) -> c_int;
    fn raise(number: c_int) -> c_int;
    /// Vectors are pairs of address and size.
    fn process_vm_readv(
        process: c_int,
        to: *const usize,
        to_count: usize,
        from: *const usize,
        from_count: usize,
        flags: usize,
    ) -> isize;
}

/// The program that runs from now on has this table, or none.
pub fn set_places(table: *const Places) {
    PLACES.store(table as usize, Relaxed);
}

/// From now on faults show what was running before they end the process. A large enough stack that has been set up
/// for this thread's signals stays.
pub fn install() {
    // SAFETY: structures are laid out as the C library has them; memory for the stack is
    // never given back.
    unsafe {
        let mut old = Stack {
            start: core::ptr::null_mut(),
            flags: 0,
            size: 0,
        };
        let known = sigaltstack(core::ptr::null(), &raw mut old) == 0 && !old.start.is_null();
        // Rust's threads have 8 KB. On processors with large vector and tile registers, what the kernel saves
        // takes most of that.
        if !known || old.size < ALTERNATE_STACK {
            let stack = Stack {
                start: crate::pages::map(ALTERNATE_STACK) as *mut c_void,
                flags: 0,
                size: ALTERNATE_STACK,
            };
            sigaltstack(&raw const stack, core::ptr::null_mut());
        }
        for signal in [SIGILL, SIGBUS, SIGFPE, SIGSEGV] {
            set(signal, fault as *const () as usize, FLAGS);
        }
    }
}

unsafe fn set(signal: c_int, handler: usize, flags: c_int) {
    let action = Action {
        handler,
        mask: [0; 16],
        flags,
        restorer: 0,
    };
    // SAFETY: the structure is laid out as the C library's, and handlers have the type that the
    // flags require.
    unsafe { sigaction(signal, &raw const action, core::ptr::null_mut()) };
}

extern "C" fn fault(signal: c_int, info: *const c_void, context: *const c_void) {
    // SAFETY: the kernel gave these; from here on the signal ends the process, at once if
    // looking around faults.
    unsafe {
        set(signal, 0, 0);
        if let Some(table) = Table::current() {
            let mut way = Way::default();
            way.follow(&table, registers(context));
            way.print(&table);
        }
        os::write_all(2, b"Fatal RPython error: ");
        let address = *info.byte_add(FAULT_ADDRESS).cast::<usize>();
        os::write_all(
            2,
            match signal {
                SIGSEGV if address < NULL_PAGE => b"null pointer used (SIGSEGV)\n",
                SIGSEGV => b"bad memory access (SIGSEGV)\n",
                // Both are what divisions without a result do.
                SIGFPE => b"division by zero, or its result is too large (SIGFPE)\n",
                SIGILL => b"division by zero, or its result is too large (SIGILL)\n",
                _ => b"bad memory access (SIGBUS)\n",
            },
        );
        raise(signal);
    }
}

struct Table {
    checked: bool,
    by_symbol: bool,
    rows: *const Row,
    count: usize,
    own: Option<OwnFile>,
}

impl Table {
    /// The table of the program that runs, if it has one.
    ///
    /// # Safety
    /// The table stays as long as the program runs.
    unsafe fn current() -> Option<Table> {
        let start = PLACES.load(Relaxed) as *const Places;
        // SAFETY: `set_places` was given null or the table of the program, which stays as long as
        // the program runs; its rows follow the header.
        unsafe {
            let header = start.as_ref()?;
            let (checked, by_symbol) = (header.flags & CHECKED != 0, header.flags & BY_SYMBOL != 0);
            Some(Table {
                checked,
                by_symbol,
                rows: start.add(1).cast(),
                count: header.count as usize,
                own: match checked || by_symbol {
                    true => OwnFile::open(),
                    false => None,
                },
            })
        }
    }

    /// The last row up to that address or hash.
    fn row(&self, key: u64) -> Option<&Row> {
        // SAFETY: below the number of rows.
        unsafe { self.rows.add(self.row_number(key)?).as_ref() }
    }

    fn row_number(&self, key: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            // SAFETY: below the number of rows.
            match unsafe { (*self.rows.add(middle)).address } <= key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low.checked_sub(1)
    }

    /// Whether the function with the code at an address, which is not described, keeps a frame pointer.
    fn has_frame(&self, pc: usize) -> Option<bool> {
        if self.by_symbol {
            return (self.checked && self.find_row(pc).is_some()).then_some(true);
        }
        let mut row = self.row_number(pc as u64)?;
        // SAFETY: rows up to that one, and the code of a function, which is longer than these
        // instructions.
        unsafe {
            (*self.rows.add(row)).location.0.as_ref()?;
            while row > 0 && !(*self.rows.add(row - 1)).location.0.is_null() {
                row -= 1;
            }
            let start = (*self.rows.add(row)).address as *const u8;
            let n = Registers::FRAME.len();
            Some(core::slice::from_raw_parts(start, n) == Registers::FRAME)
        }
    }

    /// The caller of a function.
    fn caller(&self, at: &Registers) -> Caller {
        let has_frame = match unwind::caller(at) {
            Caller::Unknown => self.has_frame(at.pc),
            // Code in memory: the program's, or compiled just in time. A call of null has left the return
            // address behind.
            Caller::NoFile => Some(self.has_frame(at.pc).unwrap_or(at.pc >= NULL_PAGE)),
            known => return known,
        };
        has_frame.map_or(Caller::Unknown, |has| self.caller_by_frame(at, has))
    }

    /// The caller of a function that keeps a frame pointer, or has no frame.
    fn caller_by_frame(&self, at: &Registers, has_frame: bool) -> Caller {
        let mut caller = Registers {
            pc: 0,
            values: [None; Registers::COUNT],
        };
        let mut words = [0; 2];
        let (fp, sp) = (at.fp(), at.sp());
        let (back, sp) = if has_frame {
            let Some(frame) = fp.filter(|fp| read(*fp, &mut words) == 2) else {
                return Caller::Unknown;
            };
            caller.values[Registers::FP] = Some(words[0]);
            // Where calls leave the return address in a register, C compilers put both words at any end
            // of the frame.
            let ends = !self.by_symbol || Registers::LINK.is_none();
            let sp = ends.then(|| frame.wrapping_add(size_of_val(&words)));
            (Some(words[1]), sp)
        } else {
            caller.values[Registers::FP] = fp;
            match Registers::LINK {
                Some(link) => (at.values[link], sp),
                None => {
                    let found = sp.filter(|sp| read(*sp, &mut words[..1]) == 1);
                    (
                        found.map(|_| words[0]),
                        found.map(|sp| sp + size_of::<usize>()),
                    )
                }
            }
        };
        caller.values[Registers::SP] = sp;
        match back {
            None => Caller::Unknown,
            Some(0) => Caller::Outermost,
            Some(back) => {
                caller.pc = back.wrapping_sub(1);
                Caller::Known(caller)
            }
        }
    }

    /// What the table says of the code at an address.
    fn find_row(&self, pc: usize) -> Option<&'static Location> {
        let row = match self.by_symbol {
            true => {
                let hash = own::hash(self.own.as_ref()?.function(pc)?);
                self.row(hash).filter(|row| row.address == hash)
            }
            false => self.row(pc as u64),
        }?;
        // SAFETY: places are static.
        unsafe { row.location.0.as_ref() }
    }

    /// The place that the code at an address comes from.
    fn find(&self, pc: usize) -> Option<Location> {
        let mut location = *self.find_row(pc)?;
        if self.checked
            && location.line == 0
            && let Some(own) = &self.own
        {
            // SAFETY: texts end in a zero byte.
            let file = unsafe { os::c_bytes(location.file.cast()) };
            location.line = own.line(pc, file).map_or(0, u64::from);
        }
        Some(location)
    }
}

/// A place in the code.
#[derive(Clone, Copy)]
struct Call {
    pc: usize,
    /// It was running. Otherwise its return address was on the stack, where it may have been left.
    certain: bool,
}

/// Calls, innermost first. There may be little stack.
struct Way {
    calls: [Call; MOST_CALLS],
    count: usize,
}

impl Default for Way {
    fn default() -> Self {
        let none = Call {
            pc: 0,
            certain: false,
        };
        Way {
            calls: [none; MOST_CALLS],
            count: 0,
        }
    }
}

impl Way {
    /// Adds a place if it is in code of the program.
    fn push(&mut self, table: &Table, pc: usize, certain: bool) {
        if table.find_row(pc).is_none() {
            return;
        }
        if let Some(slot) = self.calls.get_mut(self.count) {
            *slot = Call { pc, certain };
        }
        self.count += 1;
    }

    fn is_full(&self) -> bool {
        self.count > MOST_CALLS
    }

    /// Adds a function that is running, and its callers; where these are not known, return addresses on the rest of the stack.
    unsafe fn follow(&mut self, table: &Table, at: Registers) {
        if let Some(last) = self.running(table, at) {
            // SAFETY: the callers pass registers of a function of this process whose
            // program is loaded. `search` reads words of the stack through the system.
            unsafe { self.search(table, last.sp().unwrap_or(0)) };
        }
    }

    /// Adds a function that is running, and its callers. Returns the last one whose caller is not known, unless there
    /// are enough.
    fn running(&mut self, table: &Table, mut at: Registers) -> Option<Registers> {
        for _ in 0..MOST_FRAMES {
            self.push(table, at.pc, true);
            if self.is_full() {
                return None;
            }
            match table.caller(&at) {
                // Stacks grow downwards.
                Caller::Known(caller) if caller.sp() >= at.sp() => at = caller,
                Caller::Outermost => return None,
                _ => return Some(at),
            }
        }
        None
    }

    /// Adds functions whose return addresses are on the stack, from an address on.
    unsafe fn search(&mut self, table: &Table, sp: usize) {
        if sp == 0 || !sp.is_multiple_of(size_of::<usize>()) {
            return;
        }
        let mut words = [0; 64];
        let mut at = sp;
        for _ in 0..MOST_WORDS / words.len() {
            // Up to where the stack ends.
            let n = read(at, &mut words);
            for word in &words[..n] {
                let is_code = |back| table.find_row(word.wrapping_sub(back)).is_some();
                // SAFETY: code of the program is mapped in one piece, from the first byte that is read to the last one.
                if is_code(1) && is_code(LONGEST_CALL) && unsafe { follows_call(*word) } {
                    self.push(table, word.wrapping_sub(1), false);
                }
            }
            if n < words.len() || self.is_full() {
                return;
            }
            at += size_of::<usize>() * n;
        }
    }

    fn print(&self, table: &Table) {
        if self.count == 0 {
            return;
        }
        os::write_all(2, b"RPython traceback:\n");
        if self.count > MOST_CALLS {
            os::write_all(2, b"  ...\n");
        }
        for call in self.calls[..self.count.min(MOST_CALLS)].iter().rev() {
            if let Some(location) = table.find(call.pc) {
                exc::print_location(&location, call.certain);
            }
        }
    }
}

/// Reads words of this process that may not be there: how many there are.
fn read(address: usize, words: &mut [usize]) -> usize {
    let to = [words.as_mut_ptr() as usize, size_of_val(words)];
    let from = [address, size_of_val(words)];
    // SAFETY: the system writes into `words` what it can read.
    let n = unsafe {
        let own = crate::os::getpid() as c_int;
        match process_vm_readv(own, to.as_ptr(), 1, from.as_ptr(), 1, 0) {
            n if n < 0 && *sys::__errno_location() == sys::ENOSYS => read_by_pipe(address, words),
            n => n,
        }
    };
    usize::try_from(n).unwrap_or(0) / size_of::<usize>()
}

/// The same where the system has no call for it, such as QEMU's: what cannot be read cannot be
/// written into a pipe either.
unsafe fn read_by_pipe(address: usize, words: &mut [usize]) -> isize {
    let mut ends = [0; 2];
    // SAFETY: there is room for both ends; the words fit into the pipe, so nothing waits.
    unsafe {
        if sys::pipe(ends.as_mut_ptr()) != 0 {
            return -1;
        }
        let n = sys::write(ends[1], address as *const u8, size_of_val(words));
        let n = match usize::try_from(n) {
            Ok(n) => sys::read(ends[0], words.as_mut_ptr().cast(), n),
            Err(_) => n,
        };
        sys::close(ends[0]);
        sys::close(ends[1]);
        n
    }
}

/// A check of a checked build has failed, in a function with this frame.
///
/// # Safety
/// The program's static data and code are mapped; its code keeps frame pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_check_failed(
    what: u64,
    location: &'static Location,
    frame: usize,
) -> ! {
    let mut way = Way::default();
    // SAFETY: a function of a checked build calls this with its frame pointer. Its program is
    // loaded, and memory is read through the system.
    unsafe {
        if let Some(table) = Table::current() {
            // Of the function that called, its caller is to be shown: its own place is known better.
            let mut own = Registers {
                pc: 0,
                values: [None; Registers::COUNT],
            };
            own.values[Registers::FP] = Some(frame);
            if let Caller::Known(caller) = table.caller_by_frame(&own, true) {
                way.follow(&table, caller);
            }
            way.print(&table);
        }
    }
    if way.count == 0 {
        os::write_all(2, b"RPython traceback:\n");
    }
    exc::print_location(location, true);
    exc::fatal(match what {
        1 => b"index out of range",
        2 => b"raw memory used after it was freed",
        3 => b"raw memory freed twice",
        _ => b"AssertionError in debug_assert",
    })
}

/// The check of an index has failed in code that was compiled just in time, from a function of
/// that name.
///
/// # Safety
/// The name is as long as that; the program's static data and code are mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_unit_check_failed(name: *const u8, length: usize) -> ! {
    let mut way = Way::default();
    // SAFETY: code that was compiled at run time calls this with the address and the length of a
    // name in its unit. Its program is loaded.
    let name = unsafe {
        if let Some(table) = Table::current() {
            way.follow(&table, current_registers());
            way.print(&table);
        }
        core::slice::from_raw_parts(name, length)
    };
    if way.count == 0 {
        os::write_all(2, b"RPython traceback:\n");
    }
    for part in [b"  In ", name, b", compiled just in time\n"] {
        os::write_all(2, part);
    }
    exc::fatal(b"index out of range")
}
