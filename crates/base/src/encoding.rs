//! The encoding that a source file declares (PEP 263).

use taipan_language::Codec;

/// Whether a comment on the first two lines declares latin-1, of which each byte is the
/// character of the same number. Only the start of a file needs to be given.
///
/// ```
/// assert!(taipan_base::declares_latin1(b"#!/usr/bin/python\n# -*- coding: Latin-1 -*-\n"));
/// assert!(!taipan_base::declares_latin1(b"coding = 'latin-1'\n"));
/// ```
pub fn declares_latin1(text: &[u8]) -> bool {
    text.split(|b| *b == b'\n')
        .take(2)
        .filter_map(declared)
        .any(|name| {
            let name = String::from_utf8_lossy(name);
            // How some editors call it, and no codec.
            let is_editors = name.eq_ignore_ascii_case("iso-latin-1");
            is_editors || Codec::named(&name) == Some(Codec::Latin1)
        })
}

/// The name of the encoding that a line declares: what follows `coding:` or `coding=` in a
/// comment without anything but white space before it.
fn declared(line: &[u8]) -> Option<&[u8]> {
    const WORD: &[u8] = b"coding";
    let comment = line.trim_ascii_start().strip_prefix(b"#")?;
    let after = comment
        .windows(WORD.len() + 1)
        .position(|w| w.starts_with(WORD) && matches!(w[WORD.len()], b':' | b'='))?;
    let name = comment[after + WORD.len() + 1..].trim_ascii_start();
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    Some(&name[..name.iter().take_while(|b| is_part(b)).count()])
}
