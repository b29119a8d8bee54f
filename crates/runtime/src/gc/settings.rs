//! What the environment says about the collector: the variables of RPython's incminimark, with
//! their units. What is not a number counts as not set.

use crate::{float, os};

/// The values of the variables; `None` and 0.0 where nothing is asked for.
pub(super) struct Settings {
    /// `PYPY_GC_NURSERY`
    pub(super) nursery: Option<usize>,
    /// `PYPY_GC_MAJOR_COLLECT`
    pub(super) major_collect: Option<f64>,
    /// `PYPY_GC_GROWTH`
    pub(super) growth: Option<f64>,
    /// `PYPY_GC_MIN`
    pub(super) least_heap: Option<usize>,
    /// `PYPY_GC_MAX`
    pub(super) most_heap: Option<usize>,
    /// `PYPY_GC_MAX_DELTA`
    pub(super) most_growth: Option<usize>,
    /// `PYPY_GC_INCREMENT_STEP`
    pub(super) increment_step: Option<usize>,
    /// `PYPY_GC_NURSERY_DEBUG`
    pub(super) nursery_debug: bool,
    /// `TAIPAN_GC_STRESS`
    pub(super) stress: bool,
}

impl Settings {
    /// Nothing is asked for.
    #[cfg(test)]
    pub(super) const NONE: Settings = Settings {
        nursery: None,
        major_collect: None,
        growth: None,
        least_heap: None,
        most_heap: None,
        most_growth: None,
        increment_step: None,
        nursery_debug: false,
        stress: false,
    };

    /// Reads the environment.
    pub(super) fn read() -> Settings {
        Settings {
            nursery: size(b"PYPY_GC_NURSERY"),
            major_collect: factor(b"PYPY_GC_MAJOR_COLLECT"),
            growth: factor(b"PYPY_GC_GROWTH"),
            least_heap: size(b"PYPY_GC_MIN"),
            most_heap: size(b"PYPY_GC_MAX"),
            most_growth: size(b"PYPY_GC_MAX_DELTA"),
            increment_step: size(b"PYPY_GC_INCREMENT_STEP"),
            nursery_debug: size(b"PYPY_GC_NURSERY_DEBUG").is_some(),
            stress: is_set(b"TAIPAN_GC_STRESS"),
        }
    }
}

/// A number of bytes above zero.
fn size(name: &[u8]) -> Option<usize> {
    let (value, factor) = number(name)?;
    let bytes = (value * factor) as usize;
    (bytes > 0).then_some(bytes)
}

/// A number above one, without a unit.
fn factor(name: &[u8]) -> Option<f64> {
    let (value, factor) = number(name)?;
    (factor == 1.0 && value > 1.0).then_some(value)
}

fn is_set(name: &[u8]) -> bool {
    let mut buffer = [0; 32];
    match value(name, &mut buffer) {
        Some(value) => value != b"0",
        None => false,
    }
}

/// A number, and what its unit stands for.
fn number(name: &[u8]) -> Option<(f64, f64)> {
    let mut buffer = [0; 32];
    parse(value(name, &mut buffer)?)
}

/// What a variable is set to, unless that is nothing.
fn value<'a>(name: &[u8], buffer: &'a mut [u8; 32]) -> Option<&'a [u8]> {
    let mut copy = [0; 32];
    let copy = copy.get_mut(..name.len())?;
    copy.copy_from_slice(name);
    let len = usize::try_from(os::getenv(copy, buffer)).ok()?;
    buffer.get(..len).filter(|value| !value.is_empty())
}

/// `4M`, `1.6GB`, `300000`, `2kb`: a number and what its unit stands for.
fn parse(text: &[u8]) -> Option<(f64, f64)> {
    let text = match text {
        [rest @ .., b'b' | b'B'] if !rest.is_empty() => rest,
        _ => text,
    };
    let factor = match text.last()? {
        b'k' | b'K' => 1 << 10,
        b'm' | b'M' => 1 << 20,
        b'g' | b'G' => 1 << 30,
        _ => 1,
    };
    let digits = text.len() - usize::from(factor != 1);
    let value = float::parsed(text[..digits].trim_ascii())?;
    Some((value, f64::from(factor)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn numbers_have_units() {
        let read = |text: &str| parse(text.as_bytes()).map(|(n, unit)| n * unit);
        for (text, bytes) in [
            ("300000", 300_000.0),
            ("4M", 4_194_304.0),
            ("4mb", 4_194_304.0),
            ("2k", 2048.0),
            ("1.5KB", 1536.0),
            ("1.6GB", 1.6 * 1_073_741_824.0),
            ("12b", 12.0),
            ("-1", -1.0),
            (" 7 M", 7_340_032.0),
        ] {
            assert_eq!(read(text), Some(bytes), "{text}");
        }
        for text in ["", "b", "M", "MB", "many", "4T", "4MM", "0x10", "1,5"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
