//! Damage to the files of a cache: whoever opens it says what one without a cache says.

use std::path::PathBuf;

use camino::Utf8Path;
use taipan_base::render_json;
use taipan_driver::{Cache, CacheLimits, CacheSecret};
use taipan_fuzz::{Choices, Target};
use taipan_workbench::Workbench;

const HELPER: &str = "
class Shape(object):
    def __init__(self, n):
        self.n = n
    def area(self):
        return self.n * 2
TABLE = {'a': Shape(1), 'b': Shape(2)}
";

const MAIN: &str = "
from helper import Shape, TABLE
def total(shapes):
    n = 0
    for s in shapes:
        n += s.area()
    return n
def entry_point(argv):
    shapes = [Shape(i) for i in range(len(argv))] + [TABLE['a']]
    print total(shapes), ' '.join(argv)
    return 0
def target(driver, args):
    return entry_point, None
";

/// Texts of the program: whole ones, and one that is wrong.
const TEXTS: &[(&str, &str)] = &[
    (MAIN, HELPER),
    (MAIN, ""),
    (MAIN, "class Shape(object):\n    pass\nTABLE = {}\n"),
];

const SECRET: CacheSecret = CacheSecret::fixed(b"the secret of a test of 32 bytes");

/// Diagnostics, and the object file or that there is none, as a new process finds them.
fn answers(text: (&str, &str), cache: Option<&Utf8Path>) -> (String, Option<Vec<u8>>) {
    let bench = Workbench::with(&[("/main.py", text.0), ("/helper.py", text.1)]);
    if let Some(folder) = cache {
        bench
            .db
            .set_cache(Cache::open(folder, CacheLimits::default(), SECRET));
    }
    let found = bench.check().diagnostics;
    let object = bench.compile();
    bench.db.cache().flush().expect("the cache can be written");
    (render_json(&bench.db, &found).to_string(), object.ok())
}

/// Files below a folder with what is in them.
fn files(folder: &std::path::Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => out.extend(files(&path)),
            false => out.push((path.clone(), std::fs::read(path).unwrap())),
        }
    }
    out.sort();
    out
}

fn damage(files: &mut [(PathBuf, Vec<u8>)], choices: &mut Choices<'_>) {
    let others: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
    let i = choices.below(files.len());
    let bytes = &mut files[i].1;
    // The rows at the end say where everything else is.
    let at = match choices.bool() {
        true => bytes.len().saturating_sub(1 + choices.below(400)),
        false => choices.below(bytes.len()),
    };
    match choices.below(8) {
        0..3 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << choices.below(8);
            }
        }
        3 => bytes.truncate(at),
        4 => {
            let end = (at + choices.below(64)).min(bytes.len());
            bytes[at.min(end)..end].fill(0);
        }
        5 => {
            bytes.drain(at.min(bytes.len())..(at + 1 + choices.below(32)).min(bytes.len()));
        }
        6 => *bytes = choices.one_of(&others).clone(),
        _ => {
            let other = choices.one_of(&others);
            let end = (at + choices.below(4096)).min(bytes.len()).min(other.len());
            if at < end {
                bytes[at..end].copy_from_slice(&other[at..end]);
            }
        }
    }
}

#[test]
fn a_damaged_cache_changes_no_answer() {
    let plain: Vec<_> = TEXTS.iter().map(|t| answers(*t, None)).collect();
    assert!(plain[0].1.is_some() && plain[1].1.is_none());
    // Two packs: what each of two processes left.
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("cache");
    for (text, plain) in TEXTS.iter().zip(&plain) {
        assert_eq!(answers(*text, Some(&path)), *plain);
    }
    let whole = files(path.as_std_path());
    assert!(whole.len() > 1);
    let target = Target::new("cache").cases(12).bytes(256);
    target.run(|choices| {
        let mut damaged = whole.clone();
        for _ in 0..1 + choices.below(4) {
            damage(&mut damaged, choices);
        }
        std::fs::remove_dir_all(&path).unwrap();
        for (file, bytes) in &damaged {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
        for _ in 0..2 {
            let i = choices.below(TEXTS.len());
            assert!(answers(TEXTS[i], Some(&path)) == plain[i], "text {i}");
        }
    });
}
