//! Polling: what the system says of each followed file, compared at intervals.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

/// Two writes within one tick of a file system's clock leave the same time behind: a
/// file whose time is younger than this is reported again.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// The state of a file as far as it can be told without reading it; none if there is
/// no such file. Links are followed.
#[derive(Clone, PartialEq, Eq)]
struct Stamp(Option<(SystemTime, u64, bool, u64)>);

impl Stamp {
    fn of(path: &Utf8Path) -> Stamp {
        let Ok(m) = std::fs::metadata(path) else {
            return Stamp(None);
        };
        let modified = m.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&m);
        #[cfg(not(unix))]
        let inode = 0;
        Stamp(Some((modified, m.len(), m.is_dir(), inode)))
    }

    fn is_young(&self) -> bool {
        self.0.is_some_and(|(modified, ..)| {
            modified.elapsed().map_or(true, |age| age < COARSEST_CLOCK)
        })
    }
}

/// The states of all followed files when they were last looked at.
#[derive(Default)]
pub(super) struct Stamps(BTreeMap<Utf8PathBuf, (Stamp, bool)>);

impl Stamps {
    /// Follows a path from its present state on.
    pub(super) fn add(&mut self, path: &Utf8Path) {
        let stamp = Stamp::of(path);
        let young = stamp.is_young();
        self.0.insert(path.to_owned(), (stamp, young));
    }

    /// The paths that may have changed since the last call, sorted.
    pub(super) fn changed(&mut self) -> Vec<Utf8PathBuf> {
        let mut out = Vec::new();
        for (path, (old, young)) in &mut self.0 {
            let now = Stamp::of(path);
            if now != *old || *young {
                out.push(path.clone());
            }
            *young = now.is_young();
            *old = now;
        }
        out
    }
}
