//! The loop over the cases of a target.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::Choices;
use crate::shrink::shrink;

/// How often a long run says how it gets on.
const REPORT: Duration = Duration::from_secs(20);

/// Something that is tried with many cases.
pub struct Target {
    name: &'static str,
    cases: u64,
    bytes: usize,
}

/// What the environment asks for.
struct Wanted {
    first: u64,
    cases: u64,
    one: Option<Vec<u8>>,
    /// Somebody waits for it: it tells how it gets on.
    tells: bool,
}

impl Target {
    /// A target. Its name decides which cases it gets.
    pub fn new(name: &'static str) -> Target {
        Target {
            name,
            cases: 100,
            bytes: 1024,
        }
    }

    /// How many cases are tried where the environment does not say.
    pub fn cases(mut self, cases: u64) -> Target {
        self.cases = cases;
        self
    }

    /// How many bytes a case has.
    pub fn bytes(mut self, bytes: usize) -> Target {
        self.bytes = bytes;
        self
    }

    /// Tries the cases. Panics as `test` does on the first one with which it panics, when that has
    /// been made smaller. Returns how many there were.
    pub fn run(self, mut test: impl FnMut(&mut Choices<'_>)) -> u64 {
        let wanted = self.wanted();
        if let Some(case) = wanted.one {
            test(&mut Choices::new(&case));
            return 1;
        }
        let mut progress = Progress::new(&self, &wanted);
        for number in wanted.first..wanted.first.saturating_add(wanted.cases) {
            progress.begin(number);
            let case = bytes_of_case(self.name, number, self.bytes);
            let mut choices = Choices::new(&case);
            if let Err(panic) = catch(|| test(&mut choices)) {
                let used = choices.used();
                self.fail(number, &case[..used], &mut test, panic)
            }
            progress.end(number);
        }
        progress.finish(wanted.cases);
        wanted.cases
    }

    /// Makes a failing case smaller and fails with it.
    fn fail(
        &self,
        number: u64,
        case: &[u8],
        test: &mut impl FnMut(&mut Choices<'_>),
        panic: Box<dyn Any + Send>,
    ) -> ! {
        tell(&format!(
            "case {number} of target {} fails; making it smaller",
            self.name
        ));
        let small = shrink(case, |bytes| {
            quietly(|| catch(|| test(&mut Choices::new(bytes))).is_err())
        });
        let mut hex = String::new();
        for byte in &small {
            let _ = write!(hex, "{byte:02x}");
        }
        tell(&format!(
            "case {number} of target {} fails, with {} of {} bytes as well:\n\
             TAIPAN_FUZZ_BYTES={hex}",
            self.name,
            small.len(),
            case.len()
        ));
        test(&mut Choices::new(&small));
        tell("but not every time");
        resume_unwind(panic)
    }

    fn wanted(&self) -> Wanted {
        let cases = number("TAIPAN_FUZZ_CASES");
        let first = number("TAIPAN_FUZZ_FIRST");
        Wanted {
            first: first.unwrap_or(0),
            cases: cases.unwrap_or(self.cases),
            one: std::env::var("TAIPAN_FUZZ_BYTES")
                .ok()
                .map(|hex| parse_hex(&hex).expect("TAIPAN_FUZZ_BYTES: hexadecimal bytes")),
            tells: cases.or(first).is_some(),
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text}: a number is wanted")),
    )
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = (hex.trim().chars())
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect();
    let digits = digits?;
    (digits.len().is_multiple_of(2))
        .then(|| digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect())
}

/// The bytes of a case: the same whenever they are asked for. (The numbers are those of the
/// splitmix64 generator.)
pub fn bytes_of_case(target: &str, number: u64, len: usize) -> Vec<u8> {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in target.bytes().chain(number.to_le_bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        out.extend((z ^ (z >> 31)).to_le_bytes());
    }
    out.truncate(len);
    out
}

fn catch<T>(f: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs something whose panics on this thread are not told.
fn quietly<T>(f: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    QUIET.set(true);
    let result = f();
    QUIET.set(false);
    result
}

/// Says something to whoever runs the tests.
#[expect(clippy::print_stderr, reason = "tests have no other way to speak")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// How far a long run is.
struct Progress {
    name: &'static str,
    start: Instant,
    told: Instant,
    case_start: Instant,
    slowest: (Duration, u64),
    first: u64,
    /// Has the number of the case that runs.
    note: Option<File>,
}

impl Progress {
    fn new(target: &Target, wanted: &Wanted) -> Progress {
        let mut note = None;
        if wanted.tells {
            let path = std::env::temp_dir().join(format!("taipan-fuzz-{}", target.name));
            note = File::create(&path).ok();
            tell(&format!(
                "target {}: {} cases from number {}; the one that runs is in {}",
                target.name,
                wanted.cases,
                wanted.first,
                path.display()
            ));
        }
        let now = Instant::now();
        Progress {
            name: target.name,
            start: now,
            told: now,
            case_start: now,
            slowest: (Duration::ZERO, wanted.first),
            first: wanted.first,
            note,
        }
    }

    fn begin(&mut self, number: u64) {
        if let Some(note) = &self.note {
            // Of use to people only, who do without.
            let _ = note.write_all_at(format!("{number:<20}\n").as_bytes(), 0);
            self.case_start = Instant::now();
        }
    }

    fn end(&mut self, number: u64) {
        if self.note.is_none() {
            return;
        }
        let now = Instant::now();
        self.slowest = self.slowest.max((now - self.case_start, number));
        if now - self.told >= REPORT {
            self.told = now;
            self.say(number + 1 - self.first);
        }
    }

    fn finish(&self, cases: u64) {
        if self.note.is_some() {
            self.say(cases);
        }
    }

    fn say(&self, cases: u64) {
        let (time, number) = self.slowest;
        tell(&format!(
            "target {}: {cases} cases in {:.0} s; the slowest one, {number}, took {:.3} s",
            self.name,
            self.start.elapsed().as_secs_f64(),
            time.as_secs_f64()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_the_same_each_time() {
        let mut seen = Vec::new();
        for _ in 0..2 {
            let mut numbers = Vec::new();
            (Target::new("a test").cases(20).bytes(16)).run(|c| numbers.push(c.number()));
            seen.push(numbers);
        }
        assert_eq!(seen[0], seen[1]);
        assert_ne!(seen[0][0], seen[0][1]);
        assert_ne!(bytes_of_case("a", 1, 8), bytes_of_case("b", 1, 8));
        assert_eq!(bytes_of_case("a", 1, 8), bytes_of_case("a", 1, 80)[..8]);
    }

    #[test]
    fn a_failure_is_made_small() {
        let mut last = Vec::new();
        let failed = catch(|| {
            quietly(|| {
                (Target::new("a failure").cases(1000).bytes(64)).run(|c| {
                    last = (0..c.below(20)).map(|_| c.below(100)).collect();
                    assert!(last.iter().all(|n| *n < 60));
                });
            });
        });
        QUIET.set(false);
        assert!(failed.is_err());
        assert_eq!(last, [60]);
    }

    #[test]
    fn hexadecimal() {
        assert_eq!(parse_hex("00ff1A"), Some(vec![0, 255, 26]));
        assert_eq!(parse_hex("0"), None);
        assert_eq!(parse_hex("zz"), None);
    }
}
