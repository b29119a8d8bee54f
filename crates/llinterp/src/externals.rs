//! Calls out of low-level code: functions of the runtime and the C library.

use taipan_lltype::{Heap, HeapError, LLType, Memory, STR, TypeKind};
use taipan_runtime::externals::Value;

/// The outside world of an interpreted program.
#[derive(Debug, Default)]
pub struct Host {
    /// What the program wrote to stdout and stderr, if that is kept instead of written.
    pub captured: Option<[Vec<u8>; 2]>,
    /// Whether this process is a copy that the program made of itself, in which nothing
    /// but its thread goes on.
    forked: bool,
    /// Limit of the call depth.
    pub(crate) depth: Depth,
}

/// Maximum number of active calls; corresponds to the stack length of machine code.
#[derive(Debug)]
pub(crate) struct Depth {
    /// The default limit.
    pub(crate) most: usize,
    /// Fraction of the default that the program requested.
    fraction: f64,
    /// Critical code is running: stack checks succeed.
    critical: bool,
}

impl Default for Depth {
    fn default() -> Depth {
        Depth {
            most: 20_000,
            fraction: 1.0,
            critical: false,
        }
    }
}

impl Depth {
    /// Whether `active` calls exceed the limit.
    pub(crate) fn is_too_big(&self, calls: usize) -> bool {
        let fraction = if self.critical {
            MOST
        } else {
            self.fraction.min(MOST)
        };
        calls as f64 >= self.most as f64 * fraction
    }

    /// Implements the runtime's functions about the stack. None for other functions.
    fn call(&mut self, name: &str, words: &[i128], calls: usize) -> Option<i128> {
        match (name, words) {
            ("rpy_stack_set_length_fraction", [x]) => self.fraction = f64::from_bits(*x as u64),
            ("rpy_stack_set_critical", [critical]) => self.critical = *critical != 0,
            ("rpy_stack_is_too_big", []) => return Some(self.is_too_big(calls).into()),
            ("rpy_stack_is_almost_full", []) => {
                return Some(self.is_too_big(calls + calls / 15).into());
            }
            _ => return None,
        }
        Some(0)
    }
}

/// Maximum fraction that a program can request; corresponds to a machine stack of 8 MB.
const MOST: f64 = 10.0;

impl Host {
    /// Sets the default number of active calls at which `RuntimeError` is raised.
    pub fn set_max_depth(&mut self, calls: usize) {
        self.depth.most = calls;
    }

    /// Writes to stderr, or keeps it.
    pub(crate) fn complain(&mut self, text: &str) {
        match &mut self.captured {
            Some([_, err]) => err.extend(text.as_bytes()),
            None => {
                taipan_runtime::os::write_all(2, text.as_bytes());
            }
        }
    }

    /// Keeps what is written to stdout and stderr.
    pub fn capturing() -> Host {
        Host {
            captured: Some(Default::default()),
            ..Host::default()
        }
    }
}

/// Why an external function did not return.
pub(crate) enum ExternalError {
    Heap(HeapError),
    Exit(i32),
    Fatal(String),
}

impl From<HeapError> for ExternalError {
    fn from(e: HeapError) -> Self {
        ExternalError::Heap(e)
    }
}

/// What `rpy_lock_wait` answers where nobody is there who could give the lock back.
const NOBODY_THERE: i128 = 3;

/// Calls an external function on words, one per argument that is not Void. `active` is the number of active calls.
pub(crate) fn call(
    name: &str,
    types: &[LLType],
    words: &[i128],
    heap: &mut Heap<'_>,
    host: &mut Host,
    calls: usize,
) -> Result<i128, ExternalError> {
    if let Some(result) = host.depth.call(name, words, calls) {
        return Ok(result);
    }
    let types = types.iter().filter(|t| !t.is_void());
    let mut strings: Vec<Vec<u8>> = Vec::new();
    for (ty, w) in types.clone().zip(words) {
        if *ty == STR.ptr() {
            strings.push(heap.str_bytes(*w as u64)?);
        }
    }
    match (name, words) {
        ("rpy_os_exit", [code, ..]) if host.forked => taipan_runtime::os::exit(*code as i64),
        ("rpy_os_exit", [code, ..]) => return Err(ExternalError::Exit(*code as i32)),
        ("rpy_fatal", _) => {
            let text = strings
                .first()
                .map(|s| String::from_utf8_lossy(s).into_owned());
            return Err(ExternalError::Fatal(text.unwrap_or_default()));
        }
        // Threads of machine code in the same process never give back a lock of this program.
        ("rpy_lock_wait", [_, microseconds, 0]) if *microseconds < 0 => return Ok(NOBODY_THERE),
        // Output for debugging is that of machine code.
        (name, _) if name.starts_with("rpy_debug_") => return Ok(0),
        ("rpy_os_write", [fd @ (1 | 2), ..]) => {
            if let (Some(out), Some(s)) = (&mut host.captured, strings.first()) {
                out[*fd as usize - 1].extend(s);
                return Ok(s.len() as i128);
            }
        }
        _ => {}
    }
    let mut rest = strings.iter_mut();
    let mut values = Vec::new();
    for (ty, w) in types.clone().zip(words) {
        values.push(match ty.kind() {
            TypeKind::Bool => Value::Bool(*w != 0),
            TypeKind::Char => Value::Char(*w as u8),
            TypeKind::Int(_) => Value::Int(*w as i64),
            TypeKind::Float => Value::Float(f64::from_bits(*w as u64)),
            _ => match rest.next() {
                Some(s) => Value::Str(s),
                None => return Err(unknown(name)),
            },
        });
    }
    let result = match taipan_runtime::externals::call(name, &mut values) {
        None => return Err(unknown(name)),
        Some(Value::Void | Value::Str(_)) => 0,
        Some(Value::Bool(b)) => i128::from(b),
        Some(Value::Char(c)) => i128::from(c),
        Some(Value::Int(i)) => {
            host.forked |= name == "rpy_os_fork" && i == 0;
            i128::from(i)
        }
        Some(Value::Float(f)) => i128::from(f.to_bits()),
    };
    drop(values);
    // Strings are passed to be written to as well.
    let mut strings = strings.iter();
    for (ty, w) in types.zip(words) {
        if *ty == STR.ptr()
            && let Some(s) = strings.next()
        {
            let (at, n) = heap.str_chars(*w as u64)?;
            heap.bytes_mut(at, n)?.copy_from_slice(s);
        }
    }
    Ok(result)
}

fn unknown(name: &str) -> ExternalError {
    ExternalError::Fatal(format!(
        "the low-level interpreter has no C function {name}: run the program as machine code"
    ))
}
