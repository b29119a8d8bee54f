//! The Unicode Character Database, in seven versions.
//!
//! `unicode/unicode.bin` is made by `unicode/make.py` from the files that the Unicode
//! Consortium publishes (see `unicode/LICENSE`). It consists of named sections: a byte
//! with the length of the name, the name, four bytes with the length of what follows, the
//! lowest first, and that. Sections are one of
//!
//! - text, or what only the modules of `rpython.rlib.unicodedata` know how to read;
//! - numbers: of each one the difference to the one before, seven bits per byte, the
//!   lowest first, the sign in the lowest bit;
//! - columns, which give each character a number. `NAME` has a byte that says how many
//!   bytes a number takes, and pages of 256 numbers, which all versions share.
//!   `NAME VERSION` has numbers: how many pages come next that are the same, and which
//!   page of the section that is.

static DATA: &[u8] = include_bytes!("../unicode/unicode.bin");

/// Characters of a page.
const PAGE: usize = 256;

/// A number for each character, in one version.
pub struct Column {
    /// For each 256 characters, which page has them.
    pub index: Vec<u8>,
    /// The pages that this version uses: 256 numbers each, of one or two bytes, the lower
    /// first.
    pub pages: Vec<u8>,
}

/// What a section holds, or None where there is none of that name.
pub fn section(name: &str) -> Option<&'static [u8]> {
    let mut rest = DATA;
    loop {
        let (length, after) = rest.split_first()?;
        let (found, after) = after.split_at_checked((*length).into())?;
        let (length, after) = after.split_first_chunk::<4>()?;
        let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        if found == name.as_bytes() {
            return Some(text);
        }
        rest = after;
    }
}

/// The numbers of a section.
pub fn numbers(name: &str) -> Option<Vec<i64>> {
    let mut numbers = Vec::new();
    let (mut last, mut bits, mut shift) = (0, 0u64, 0);
    for byte in section(name)? {
        bits |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            let change = (bits >> 1) as i64;
            last += if bits & 1 == 0 { change } else { !change };
            numbers.push(last);
            (bits, shift) = (0, 0);
        }
    }
    Some(numbers)
}

/// A column as a version such as `14.0.0` has it.
pub fn column(name: &str, version: &str) -> Option<Column> {
    let (width, all) = section(name)?.split_first()?;
    let size = PAGE * usize::from(*width);
    let mut column = Column {
        index: Vec::new(),
        pages: Vec::new(),
    };
    // Which pages this version uses, in the order of their numbers here.
    let mut used: Vec<i64> = Vec::new();
    for run in numbers(&format!("{name} {version}"))?.chunks_exact(2) {
        let (times, page) = (run[0], run[1]);
        let number = used.iter().position(|p| *p == page).unwrap_or_else(|| {
            used.push(page);
            let start = page as usize * size;
            column.pages.extend_from_slice(&all[start..start + size]);
            used.len() - 1
        });
        let number = u8::try_from(number).ok()?;
        column.index.extend((0..times).map(|_| number));
    }
    Some(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a character in a column of one byte.
    fn number(column: &Column, code: usize) -> u8 {
        column.pages[usize::from(column.index[code / PAGE]) * PAGE + code % PAGE]
    }

    #[test]
    fn a_column_covers_all_characters_in_every_version() {
        for version in [
            "3.2.0", "5.2.0", "9.0.0", "11.0.0", "12.1.0", "13.0.0", "14.0.0",
        ] {
            let kinds = column("kinds", version).unwrap();
            assert_eq!(kinds.index.len() * PAGE, 0x11_0000);
            let category = section("category").unwrap().split(|c| *c == b' ');
            let categories: Vec<&[u8]> = category.collect();
            let of = |code| categories[usize::from(number(&kinds, code))];
            assert_eq!(of(0x41), b"Lu");
            assert_eq!(of(0xd800), b"Cs");
            assert_eq!(of(0x10_fffd), b"Co");
            assert_eq!(of(0x10_ffff), b"Cn");
            // SQUARE ERA NAME REIWA
            let is_new = matches!(version, "12.1.0" | "13.0.0" | "14.0.0");
            assert_eq!(of(0x32ff) == b"So", is_new, "{version}");
        }
    }

    #[test]
    fn numbers_rise_and_fall() {
        let digits = numbers("digit").unwrap();
        assert_eq!(digits.iter().max(), Some(&9));
        assert_eq!(digits.iter().min(), Some(&-1));
        let starts = numbers("name starts").unwrap();
        assert!(starts.is_sorted() && *starts.last().unwrap() > 0x8000);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert!(section("kind").is_none());
        assert!(numbers("aliases 1.0.0").is_none());
        assert!(column("kinds", "1.0.0").is_none());
    }
}
