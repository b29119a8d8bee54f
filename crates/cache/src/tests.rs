use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_fuzz::Target;

use super::{Cache, CacheLimits, CacheSecret, Key, KeyHasher, pack_files};
use super::{clean_cache, is_inside};

const LIMITS: CacheLimits = CacheLimits {
    bytes: u64::MAX,
    use_resolution: 0,
};

const SECRET: CacheSecret = CacheSecret::fixed(b"the secret of a test of 32 bytes");

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.0.path()).unwrap().join("cache")
    }

    fn open(&self) -> Cache {
        Cache::open(&self.path(), LIMITS, SECRET)
    }
}

/// The folder of this build.
fn own(cache: &Cache) -> std::path::PathBuf {
    cache.0.as_ref().unwrap().own.clone()
}

fn key(i: u32) -> Key {
    Key::of(&i.to_le_bytes())
}

/// Values of all lengths, some of which can be compressed.
fn value(i: u32) -> Vec<u8> {
    if i.is_multiple_of(2) {
        vec![i as u8; i as usize % 3000]
    } else {
        let mut out = Vec::new();
        while out.len() < i as usize % 700 {
            out.extend(Key::of(&(i + out.len() as u32).to_le_bytes()).as_bytes());
        }
        out
    }
}

/// Puts values of some numbers there, as one process would.
fn fill(folder: &Folder, numbers: impl Iterator<Item = u32>) {
    let cache = folder.open();
    for i in numbers {
        cache.put("test", key(i), value(i));
    }
    cache.flush().unwrap();
}

#[test]
fn entries_are_found_again() {
    let folder = Folder::new();
    let cache = folder.open();
    for i in 0..500 {
        cache.put("test", key(i), value(i));
        assert_eq!(cache.get("test", key(i)), Some(value(i)));
    }
    assert!(!folder.path().exists(), "nothing is written before a flush");
    cache.flush().unwrap();
    for c in [cache, folder.open()] {
        for i in 0..500 {
            assert_eq!(c.get("test", key(i)), Some(value(i)));
        }
        assert_eq!(c.get("test", key(500)), None);
        assert_eq!(c.get("other kind", key(0)), None);
    }
    assert!(folder.path().join("CACHEDIR.TAG").exists());
    assert_eq!(
        std::fs::read_to_string(folder.path().join(".gitignore")).unwrap(),
        "*\n"
    );
}

#[test]
fn a_folder_that_exists_is_not_marked() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path()).unwrap();
    fill(&folder, 0..1);
    assert!(!folder.path().join("CACHEDIR.TAG").exists());
}

#[test]
fn entries_of_another_secret_are_none() {
    let folder = Folder::new();
    fill(&folder, 0..40);
    let other = CacheSecret::fixed(b"another secret of a test: 32 b. ");
    let theirs = Cache::open(&folder.path(), LIMITS, other);
    for i in 0..40 {
        assert_eq!(theirs.get("test", key(i)), None);
        theirs.put("test", key(i), b"forged".to_vec());
    }
    theirs.flush().unwrap();
    // Both have their own, in one folder.
    for i in 0..40 {
        assert_eq!(folder.open().get("test", key(i)), Some(value(i)));
        let theirs = Cache::open(&folder.path(), LIMITS, other);
        assert_eq!(theirs.get("test", key(i)), Some(b"forged".to_vec()));
    }
}

/// Keys hash guessable inputs, such as variables of the environment.
#[test]
fn keys_are_not_stored_as_they_are() {
    let folder = Folder::new();
    let cache = folder.open();
    for i in 0..40 {
        cache.put("test", key(i), b"value".to_vec());
    }
    cache.flush().unwrap();
    let pack = std::fs::read(&pack_files(&own(&cache))[0]).unwrap();
    let stands_there = |bytes: &[u8]| pack.windows(bytes.len()).any(|w| w == bytes);
    assert!(stands_there(b"value"));
    assert!((0..40).all(|i| !stands_there(key(i).as_bytes())));
}

#[test]
fn this_user_alone_can_read_it() {
    let folder = Folder::new();
    fill(&folder, 0..1);
    let cache = folder.open();
    let mode = |p: &std::path::Path| p.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path().as_std_path()), 0o700);
    assert_eq!(mode(&own(&cache)), 0o700);
    assert_eq!(mode(&pack_files(&own(&cache))[0]), 0o600);
}

/// A folder from elsewhere leads nowhere.
#[test]
fn nothing_behind_a_link_is_touched() {
    let folder = Folder::new();
    let elsewhere = folder.0.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for name in ["1-a.pack", "old.tmp", "x.memory", "file"] {
        std::fs::write(elsewhere.join(name), "mine").unwrap();
    }
    let cache = folder.open();
    std::fs::create_dir(folder.path()).unwrap();
    symlink(&elsewhere, own(&cache)).unwrap();
    symlink(&elsewhere, folder.path().join("0".repeat(32))).unwrap();
    cache.put("test", key(1), value(1));
    assert!(cache.flush().is_err());
    clean_cache(&folder.path(), false).unwrap();
    std::fs::remove_file(own(&cache)).unwrap();
    symlink(elsewhere.join("file"), folder.path().join("lock")).unwrap();
    let limits = CacheLimits {
        bytes: 0,
        use_resolution: 0,
    };
    let cache = Cache::open(&folder.path(), limits, SECRET);
    cache.put("test", key(1), value(1));
    assert!(cache.flush().is_err(), "the lock is a link");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 4);
    for entry in std::fs::read_dir(&elsewhere).unwrap() {
        assert_eq!(std::fs::read(entry.unwrap().path()).unwrap(), b"mine");
    }
    assert!(!is_inside(&folder.path().join("lock/x"), &folder.path()));
    assert!(is_inside(&folder.path().join("new/x"), &folder.path()));
    assert!(!is_inside(
        &folder.path().join("../elsewhere"),
        &folder.path()
    ));
}

#[test]
fn many_flushes_leave_few_files() {
    let folder = Folder::new();
    for i in 0..60 {
        fill(&folder, i * 10..i * 10 + 15);
    }
    let cache = folder.open();
    // A child process that another test forks holds the lock until it calls `exec`. A flush skips merging
    // meanwhile.
    let files = pack_files(&own(&cache)).len();
    assert!(files <= 12, "{files}");
    for i in 0..600 {
        assert_eq!(cache.get("test", key(i)), Some(value(i)));
    }
}

#[test]
fn what_is_not_used_goes_first() {
    let folder = Folder::new();
    fill(&folder, 0..200);
    let size = |f: &Folder| -> u64 {
        pack_files(&own(&f.open()))
            .iter()
            .map(|p| p.metadata().unwrap().len())
            .sum()
    };
    let limits = CacheLimits {
        bytes: size(&folder),
        use_resolution: 0,
    };
    // Uses count in seconds.
    let start = super::now();
    while super::now() == start {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let cache = Cache::open(&folder.path(), limits, SECRET);
    for i in 0..50 {
        assert!(cache.get("test", key(i)).is_some());
    }
    for i in 200..230 {
        cache.put("test", key(i), value(i));
    }
    cache.flush().unwrap();
    assert!(size(&folder) <= limits.bytes);
    let cache = folder.open();
    let there = |i: &u32| cache.get("test", key(*i)).is_some();
    assert_eq!((0..50).filter(there).count(), 50);
    assert_eq!((200..230).filter(there).count(), 30);
    let old = (50..200).filter(there).count();
    assert!(old < 150, "something must have gone");
    assert!(old > 0, "not everything had to go");
}

#[test]
fn entries_of_other_builds_go_when_space_is_short() {
    let folder = Folder::new();
    fill(&folder, 0..100);
    let other = folder.path().join("0123456789abcdef0123456789abcdef");
    let kept = folder.path().join("notes");
    for f in [&other, &kept] {
        std::fs::create_dir(f).unwrap();
        std::fs::write(f.join("1-a.pack"), vec![0; 100_000]).unwrap();
    }
    fill(&folder, 100..101);
    assert!(other.exists());
    let limits = CacheLimits {
        bytes: 104_000,
        use_resolution: 0,
    };
    let cache = Cache::open(&folder.path(), limits, SECRET);
    cache.put("test", key(101), value(101));
    cache.flush().unwrap();
    assert!(!other.exists());
    assert!(kept.join("1-a.pack").exists(), "that is not ours");
    for i in 0..102 {
        assert_eq!(folder.open().get("test", key(i)), Some(value(i)));
    }
}

/// Damages the only pack and checks that every answer is the right value or none.
fn with_damage(damage: impl Fn(&mut Vec<u8>)) -> usize {
    let folder = Folder::new();
    fill(&folder, 0..40);
    let pack = pack_files(&own(&folder.open())).remove(0);
    let mut bytes = std::fs::read(&pack).unwrap();
    damage(&mut bytes);
    std::fs::write(&pack, bytes).unwrap();
    let cache = folder.open();
    let mut found = 0;
    for i in 0..40 {
        if let Some(v) = cache.get("test", key(i)) {
            assert_eq!(v, value(i));
            found += 1;
        }
    }
    // And whatever is missing can be stored again.
    fill(&folder, 0..40);
    let cache = folder.open();
    for i in 0..40 {
        assert_eq!(cache.get("test", key(i)), Some(value(i)));
    }
    found
}

#[test]
fn flipped_bits_cost_entries_only() {
    let folder = Folder::new();
    fill(&folder, 0..40);
    let len = std::fs::metadata(&pack_files(&own(&folder.open()))[0])
        .unwrap()
        .len() as usize;
    let mut lost = 0;
    for at in (0..len).step_by(211).chain(len - 60..len) {
        for bit in [0x01, 0x80] {
            lost += 40 - with_damage(|b| b[at] ^= bit);
        }
    }
    assert!(lost > 0);
}

#[test]
fn truncated_files_cost_entries_only() {
    for part in 0..30 {
        with_damage(|b| b.truncate(b.len() * part / 30));
    }
    with_damage(|b| b.truncate(b.len() - 1));
    with_damage(|b| b.push(0));
    with_damage(|b| b.extend_from_within(..));
}

#[test]
fn damaged_packs_cost_entries_only() {
    let target = Target::new("packs").cases(150).bytes(128);
    target.run(|choices| {
        let changes: Vec<(usize, usize, usize)> = (0..1 + choices.below(6))
            .map(|_| {
                (
                    choices.below(5),
                    choices.number() as usize,
                    choices.below(256),
                )
            })
            .collect();
        with_damage(|b| {
            for (kind, at, value) in &changes {
                // The trailer and the rows are where most can go wrong.
                let at = match at % 3 {
                    0 => b.len().saturating_sub(1 + at / 3 % 40),
                    1 => b.len().saturating_sub(1 + at / 3 % 2000),
                    _ => at / 3 % b.len().max(1),
                };
                match kind {
                    0 => b.truncate(at),
                    1 => b.insert(at.min(b.len()), *value as u8),
                    2 => b.extend_from_within(at.min(b.len())..),
                    _ => {
                        if let Some(byte) = b.get_mut(at) {
                            *byte = *value as u8;
                        }
                    }
                }
            }
        });
    });
}

#[test]
fn a_file_truncated_while_it_is_open_costs_entries_only() {
    let folder = Folder::new();
    fill(&folder, 0..40);
    let cache = folder.open();
    let pack = pack_files(&own(&cache)).remove(0);
    std::fs::File::options()
        .write(true)
        .open(pack)
        .unwrap()
        .set_len(100)
        .unwrap();
    for i in 0..40 {
        assert!(cache.get("test", key(i)).is_none_or(|v| v == value(i)));
    }
}

#[test]
fn a_folder_deleted_meanwhile_is_made_anew() {
    let folder = Folder::new();
    fill(&folder, 0..10);
    let cache = folder.open();
    std::fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(cache.get("test", key(3)), Some(value(3)));
    cache.put("test", key(10), value(10));
    cache.flush().unwrap();
    assert_eq!(folder.open().get("test", key(10)), Some(value(10)));
}

#[test]
fn what_is_no_folder_is_an_empty_cache() {
    let folder = Folder::new();
    std::fs::write(folder.path(), "a file").unwrap();
    let cache = folder.open();
    cache.put("test", key(1), value(1));
    assert_eq!(cache.get("test", key(1)), Some(value(1)));
    assert!(cache.flush().is_err());
    assert_eq!(std::fs::read_to_string(folder.path()).unwrap(), "a file");
}

/// Runs a test of this file that is marked `ignore` in a process of its own.
fn child(test: &str, folder: &Folder, number: u32) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &format!("tests::{test}")])
        .env("TAIPAN_TEST_FOLDER", folder.path())
        .env("TAIPAN_TEST_NUMBER", number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a [`child`], which has run its test.
fn finish(child: std::process::Child) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

fn child_task() -> Option<(Utf8PathBuf, u32)> {
    let folder = std::env::var("TAIPAN_TEST_FOLDER").ok()?;
    let number = std::env::var("TAIPAN_TEST_NUMBER").ok()?;
    Some((folder.into(), number.parse().ok()?))
}

#[test]
fn processes_share_a_folder() {
    let folder = Folder::new();
    let children: Vec<_> = (0..6)
        .map(|n| child("one_of_many_processes", &folder, n))
        .collect();
    children.into_iter().for_each(finish);
    let cache = folder.open();
    for i in 0..600 {
        assert_eq!(cache.get("test", key(i)), Some(value(i)), "{i}");
    }
}

/// Reads and writes while others do the same.
#[test]
#[ignore = "run by `processes_share_a_folder`"]
fn one_of_many_processes() {
    let Some((folder, number)) = child_task() else {
        return;
    };
    for round in 0..20 {
        let cache = Cache::open(&folder, LIMITS, SECRET);
        for i in 0..600 {
            assert!(cache.get("test", key(i)).is_none_or(|v| v == value(i)));
        }
        // Every number is written by two processes.
        for i in 0..10 {
            let i = ((number * 100 + round * 10 + i) / 2 + (number % 2) * 300) % 600;
            cache.put("test", key(i), value(i));
        }
        for i in 0..5 {
            let i = number * 100 + round * 5 + i;
            cache.put("test", key(i), value(i));
        }
        cache.flush().unwrap();
    }
}

#[test]
fn a_full_disk_only_loses_entries() {
    let folder = Folder::new();
    fill(&folder, 0..10);
    finish(child("out_of_space", &folder, 0));
    let files = std::fs::read_dir(own(&folder.open())).unwrap().count();
    assert_eq!(files, 1, "nothing half written stays");
    assert_eq!(folder.open().get("test", key(3)), Some(value(3)));
}

/// Limits the size of files that the process may write, which makes writes fail as on
/// a full disk.
#[test]
#[ignore = "run by `a_full_disk_only_loses_entries`"]
fn out_of_space() {
    let Some((folder, _)) = child_task() else {
        return;
    };
    // SAFETY: both calls change this process alone, which exists for this test.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let limit = libc::rlimit {
            rlim_cur: 20_000,
            rlim_max: 20_000,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    let cache = Cache::open(&folder, LIMITS, SECRET);
    for i in 10..500 {
        cache.put("test", key(i), value(i));
    }
    assert!(cache.flush().is_err());
    assert_eq!(cache.get("test", key(3)), Some(value(3)));
}

/// A value is part of a key as a whole, and its parts are kept apart.
#[test]
fn keys_of_values() {
    let of = |value: &(&str, &str, Option<u8>)| KeyHasher::new("value").value(value).finish();
    let one = ("ab", "c", None);
    assert_eq!(of(&one), of(&one));
    for other in [("a", "bc", None), ("ab", "c", Some(0)), ("ab", "", None)] {
        assert_ne!(of(&one), of(&other), "{other:?}");
    }
}
