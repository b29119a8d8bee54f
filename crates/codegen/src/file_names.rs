//! What files of modules are called.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

/// Digits of hashes: no two look alike.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The first `length` digits of the hash of something.
pub fn hash_digits(content: &impl Hash, length: u32) -> String {
    let mut h = FxHasher::default();
    content.hash(&mut h);
    let mut hash = h.finish();
    let mut out = String::new();
    for _ in 0..length {
        out.push(char::from(DIGITS[(hash >> 59) as usize]));
        hash <<= 5;
    }
    out
}

/// The letters and digits of a name, joined by `_`: a name in C, and in Makefiles.
pub fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(c),
            _ if out.is_empty() || out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        Some(c) if !c.is_ascii_digit() => out.to_owned(),
        Some(_) => format!("_{out}"),
        None => "it".to_owned(),
    }
}

/// Most characters of a module's name that a file has.
const SHOWN: usize = 100;
/// Digits of the hash that makes names differ.
const HASH: u32 = 6;

/// What the files of modules are called, without their ending. No two are the same, also where case is
/// ignored, and none has a `-` but before a hash: with one, files that belong to no module have names of their own.
///
/// ```text
/// data    shapes.circle    shapes_circle    Data
/// data    shapes_circle-4x0f2k    shapes_circle    Data-9p31vz
/// ```
pub fn file_stems<'a>(modules: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let plain = |module: &str| {
        let mut stem = identifier(module);
        stem.truncate(SHOWN);
        stem
    };
    let mut stems: BTreeMap<&str, String> = modules.into_iter().map(|m| (m, plain(m))).collect();
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    for stem in stems.values() {
        *users.entry(stem.to_ascii_lowercase()).or_default() += 1;
    }
    for (module, stem) in &mut stems {
        let lower = stem.to_ascii_lowercase();
        if users[&lower] > 1 && **module != *lower {
            *stem = format!("{stem}-{}", hash_digits(module, HASH));
        }
    }
    stems
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn files_of_modules_differ() {
        let long = "m".repeat(150);
        let names = [
            "data",
            "Data",
            "DATA",
            "a.b",
            "a_b",
            "a.B",
            "int",
            "3d",
            "\u{e9}",
            "\u{e8}",
            "my-target",
            &long,
            &format!("{long}n"),
        ];
        let stems = file_stems(names);
        let mut all: Vec<String> = stems.values().map(|s| s.to_ascii_lowercase()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), names.len());
        let shown: String = (stems.iter().filter(|(m, _)| m.len() < 100))
            .map(|(m, s)| format!("{m} {s}\n"))
            .collect();
        expect![[r#"
            3d _3d
            DATA DATA-p5ymtj
            Data Data-x1vqzh
            a.B a_B-ay07fk
            a.b a_b-9zay5a
            a_b a_b
            data data
            int int
            my-target my_target
            è it-gp4f1w
            é it-36qkfh
        "#]]
        .assert_eq(&shown);
        // One that is alone in a program has its own name.
        assert_eq!(file_stems(["a.b"])["a.b"], "a_b");
        assert_eq!(file_stems(["Data"])["Data"], "Data");
    }
}
