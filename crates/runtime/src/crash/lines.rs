//! DWARF's table of lines, versions 2 to 5, as far as a traceback needs it: the line and the name of
//! the file that the code at one address comes from.
//!
//! The table is a program for a small machine with an address, a file and a line. Each of its rows
//! holds up to the next one.

use super::own::text;
use super::reader::Reader;

/// What a unit's header says.
struct Unit<'a> {
    version: u64,
    wide: bool,
    /// Bytes of the shortest instruction.
    least: u64,
    line_base: i64,
    line_range: u64,
    opcode_base: u8,
    /// Numbers of arguments of the standard operations.
    arguments: &'a [u8],
    /// Where folders and files are listed.
    files: Reader<'a>,
    /// Where the rows are.
    rows: Reader<'a>,
}

/// The line of a file that the code at an address comes from, in the function that starts there. Where
/// the code itself is of another file (what a header has was put there), it is the last one before it.
pub(super) fn find(
    lines: &[u8],
    names: &[u8],
    function: usize,
    pc: usize,
    file: &[u8],
) -> Option<u32> {
    let mut at = 0;
    while at < lines.len() {
        let mut r = Reader { bytes: lines, at };
        let mut length = r.take::<4>()?;
        let wide = length == 0xffff_ffff;
        if wide {
            length = r.take::<8>()?;
        }
        let end = r.at.checked_add(usize::try_from(length).ok()?)?;
        let unit = Reader {
            bytes: lines.get(..end)?,
            at: r.at,
        };
        at = end;
        // One unit that is not understood says nothing of the others.
        if let Some(unit) = header(unit, wide)
            && let Some(line) = line_of(&unit, names, function as u64, pc as u64, file)
        {
            return (line != 0).then_some(line);
        }
    }
    None
}

fn header(mut r: Reader<'_>, wide: bool) -> Option<Unit<'_>> {
    let version = r.take::<2>()?;
    if !(2..=5).contains(&version) {
        return None;
    }
    if version == 5 {
        let (address, segment) = (r.byte()?, r.byte()?);
        if !matches!(address, 4 | 8) || segment != 0 {
            return None;
        }
    }
    let length = r.word(wide)?;
    let mut rows = r;
    rows.skip(length)?;
    let least = u64::from(r.byte()?);
    if version >= 4 && r.byte()? != 1 {
        return None;
    }
    // Whether rows are statements matters to nobody here.
    r.byte()?;
    let line_base = i64::from(r.byte()? as i8);
    let line_range = u64::from(r.byte()?);
    let opcode_base = r.byte()?;
    if line_range == 0 || opcode_base == 0 {
        return None;
    }
    let start = r.at;
    r.skip(u64::from(opcode_base) - 1)?;
    Some(Unit {
        version,
        wide,
        least,
        line_base,
        line_range,
        opcode_base,
        arguments: r.bytes.get(start..r.at)?,
        files: r,
        rows,
    })
}

/// The line of that file at an address; 0 if the unit knows none. None if the address is not in the unit.
fn line_of(unit: &Unit<'_>, names: &[u8], function: u64, pc: u64, wanted: &[u8]) -> Option<u32> {
    let mut r = unit.rows;
    // Where the row before starts, if its sequence goes on.
    let mut last: Option<u64> = None;
    // The last line of the file so far, in the function.
    let mut found = 0;
    // Which file was looked at last, and whether it is the one.
    let mut known = (u64::MAX, false);
    let (mut address, mut file, mut line) = (0u64, 1u64, 1i64);
    while r.at < r.bytes.len() {
        let opcode = r.byte()?;
        let mut ends = false;
        let is_row = if opcode >= unit.opcode_base {
            let n = u64::from(opcode - unit.opcode_base);
            address = address.wrapping_add((n / unit.line_range).wrapping_mul(unit.least));
            line = line.wrapping_add(unit.line_base + (n % unit.line_range) as i64);
            true
        } else {
            match opcode {
                0 => {
                    let length = r.unsigned()?;
                    let mut inner = r;
                    r.skip(length)?;
                    match inner.byte()? {
                        1 => ends = true,
                        2 if length == 5 => address = inner.take::<4>()?,
                        2 => address = inner.take::<8>()?,
                        _ => {}
                    }
                    ends
                }
                1 => true,
                2 => {
                    address = address.wrapping_add(r.unsigned()?.wrapping_mul(unit.least));
                    false
                }
                3 => {
                    line = line.wrapping_add(r.signed()?);
                    false
                }
                4 => {
                    file = r.unsigned()?;
                    false
                }
                8 => {
                    let n = u64::from(255 - unit.opcode_base);
                    address = address.wrapping_add((n / unit.line_range).wrapping_mul(unit.least));
                    false
                }
                9 => {
                    address = address.wrapping_add(r.take::<2>()?);
                    false
                }
                other => {
                    for _ in 0..*unit.arguments.get(usize::from(other) - 1)? {
                        r.unsigned()?;
                    }
                    false
                }
            }
        };
        if !is_row {
            continue;
        }
        if last.is_some_and(|start| (start..address).contains(&pc)) {
            return Some(found);
        }
        last = (!ends).then_some(address);
        if ends {
            (address, file, line) = (0, 1, 1);
            found = 0;
            continue;
        }
        if known.0 != file {
            known = (
                file,
                file_name(unit, names, file).is_some_and(|name| last_part(name) == wanted),
            );
        }
        if address < function {
            found = 0;
        } else if known.1 && line != 0 {
            found = line as u32;
        }
    }
    None
}

/// A file's name without its folders.
pub(super) fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// The name of the file of that number.
fn file_name<'a>(unit: &Unit<'a>, names: &'a [u8], file: u64) -> Option<&'a [u8]> {
    let mut r = unit.files;
    if unit.version == 5 {
        // Folders, then files, each described by pairs of what it is and how it is written.
        entries(&mut r, unit.wide, names, u64::MAX)?;
        return entries(&mut r, unit.wide, names, file)?;
    }
    while !r.text()?.is_empty() {}
    let mut number = 1;
    loop {
        let name = r.text()?;
        if name.is_empty() {
            return None;
        }
        if number == file {
            return Some(name);
        }
        for _ in 0..3 {
            r.unsigned()?;
        }
        number += 1;
    }
}

/// Reads a list of folders or files; what is in it under a number is its name.
fn entries<'a>(
    r: &mut Reader<'a>,
    wide: bool,
    names: &'a [u8],
    wanted: u64,
) -> Option<Option<&'a [u8]>> {
    const PATH: u64 = 1;
    let formats = usize::from(r.byte()?);
    let mut format = [(0, 0); 8];
    for pair in format.get_mut(..formats)? {
        *pair = (r.unsigned()?, r.unsigned()?);
    }
    let mut found = None;
    for number in 0..r.unsigned()? {
        for (what, form) in &format[..formats] {
            let mut name = None;
            match form {
                // string
                0x08 => name = Some(r.text()?),
                // line_strp
                0x1f => name = text(names, usize::try_from(r.word(wide)?).ok()?),
                // strp
                0x0e => r.word(wide).map(|_| ())?,
                // udata
                0x0f => r.unsigned().map(|_| ())?,
                // data1, data2, data4, data8, data16
                0x0b => r.skip(1)?,
                0x05 => r.skip(2)?,
                0x06 => r.skip(4)?,
                0x07 => r.skip(8)?,
                0x1e => r.skip(16)?,
                // block
                0x09 => {
                    let n = r.unsigned()?;
                    r.skip(n)?;
                }
                _ => return None,
            }
            if *what == PATH && number == wanted {
                found = name;
            }
        }
    }
    Some(found)
}
