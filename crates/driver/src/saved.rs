//! A database that outlives its process: the memory of a command that took long is written to
//! the cache folder, and the next one of the same kind goes on with it as a watch would, after
//! an edit.
//!
//! ```text
//! taipan check ──► whole answer in the cache? ──yes──► told
//!                    │ no
//!                    ▼
//!                  saved memory? ──yes──► the process starts itself again, at addresses that are
//!                    │ no                 free beside it (exec), and maps it: [`wake`]
//!                    ▼                      │ reads all files anew, sets those that differ
//!                  everything is worked out ◄┘
//!                    │
//!                    ▼
//!                  it took long? ──yes──► a copy of the process (fork) writes the memory
//! ```
//!
//! What makes that sound: the memory is that of the same executable ([`taipan_heap`]), asked the
//! same question in the same folder, and every input of the database is read again
//! ([`taipan_base::sync`]): files, and the environment where a program sees it. Answers of the C
//! compiler are kept by question beyond processes anyway ([`taipan_base::CAnswer`]).

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use taipan_cache::MEMORY_EXTENSION as EXTENSION;
use taipan_heap::{GENERATION_VARIABLE, Mapped, Saving, StaticTable};

use crate::db::{Database, LaterProcesses, LoadOptions};
use crate::{Cache, KeyHasher};

/// A command that took less starts from nothing next time, or from where it has started itself.
const WORTH_SAVING: Duration = Duration::from_millis(500);

/// The environment variable that sets another duration, in milliseconds: for tests of Taipan
/// itself.
const WORTH_VARIABLE: &str = "TAIPAN_SAVE_AFTER";

/// Bytes that all memory saved in a cache folder may take.
const MOST: u64 = 4 << 30;

/// How long to wait for another process that is just writing what is looked for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Address of the database that [`wake`] found; 0 if there is none, or it was taken.
static WOKEN: AtomicUsize = AtomicUsize::new(0);

/// Milliseconds that the command took which began from nothing and left what [`wake`] found; 0 if
/// nothing was found.
static FIRST_TOOK: AtomicU64 = AtomicU64::new(0);

/// Maps the memory that [`Database::set_saved_state`] has started this process with, if it has.
/// [`woken`] gives what is in there.
///
/// # Safety
/// This is the first thing that the process does: it has one thread, and has used nothing of the
/// compiler.
pub unsafe fn wake() {
    let Some(given) = std::env::var_os(GENERATION_VARIABLE) else {
        return;
    };
    // SAFETY: there is one thread.
    unsafe { std::env::remove_var(GENERATION_VARIABLE) };
    let Some((_, path)) = given.to_str().and_then(|given| given.split_once(':')) else {
        return;
    };
    let path = PathBuf::from(path);
    let (Ok(file), Some(writer)) = (File::open(&path), writer()) else {
        return;
    };
    // SAFETY: as the caller promises.
    match unsafe { taipan_heap::map(&file, writer) } {
        Ok(mapped) => {
            WOKEN.store(mapped.root(), Ordering::Relaxed);
            FIRST_TOOK.store(mapped.note(), Ordering::Relaxed);
        }
        // Whatever is in it, it is of no use.
        Err(_) => drop(fs::remove_file(path)),
    }
}

/// The database that this process was started with, once: every file is read again, and what
/// differs is set. It has no cache yet.
pub fn woken() -> Option<Database> {
    let root = WOKEN.swap(0, Ordering::Relaxed);
    // SAFETY: `SavedState::save` of this build has written the address of a database, which was
    // mapped since, and nobody else takes it.
    (root != 0).then(|| unsafe { std::ptr::read(root as *const Database) }.resumed())
}

/// What a file must say to be taken: which executable has written it, and that it was one of this
/// user's. Memory that somebody else has made would be code of theirs that runs, be it in a
/// checkout that only looks like a cache of this user's.
fn writer() -> Option<[u8; 16]> {
    let mut h = KeyHasher::new("writer");
    h.bytes(taipan_cache::build_id().as_bytes());
    h.bytes(&taipan_base::user_secret().ok()?);
    Some(*h.finish().as_bytes())
}

/// Statics that databases refer to.
fn statics() -> Vec<StaticTable> {
    let mut all = vec![taipan_base::asked_table(), taipan_annotator::runs_table()];
    all.push(taipan_interp::type_objects_table());
    all.extend(taipan_lltype::type_tables());
    all
}

/// Where the memory of commands of one kind is kept.
pub struct SavedState {
    path: PathBuf,
}

impl SavedState {
    /// The place for a command with these arguments, whatever makes a difference to what it works
    /// out. None where nothing is kept.
    pub fn new(
        cache: &Cache,
        command: &str,
        arguments: &[&str],
        load: &LoadOptions,
    ) -> Option<Self> {
        let folder = cache.own_folder()?;
        if !taipan_heap::is_reserved() {
            return None;
        }
        let mut h = KeyHasher::new("saved");
        h.text(command)
            .text(std::env::current_dir().ok()?.to_str()?);
        h.text(&std::env::var("CC").unwrap_or_default());
        h.number(arguments.len() as u64);
        for argument in arguments {
            h.text(argument);
        }
        h.text(&format!("{load:?}"));
        let name = format!("{:?}.{EXTENSION}", h.finish());
        Some(SavedState {
            path: folder.join(name),
        })
    }

    /// The files that processes are writing, or have given up, for this place.
    fn writing(&self) -> Vec<PathBuf> {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let all = entries(self.path.parent().unwrap_or(Path::new("")));
        let is_ours = |p: &PathBuf| {
            let name = p.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&*stem) && name.ends_with(".tmp")
        };
        all.into_iter().filter(is_ours).collect()
    }

    /// Waits until nobody writes what is looked for.
    fn wait_for_writers(&self) {
        let until = Instant::now() + PATIENCE;
        for path in self.writing() {
            while let Ok(file) = File::open(&path)
                && matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
                && Instant::now() < until
            {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Deletes what was not used for longest, so that there is room, and makes a locked file
    /// to write to.
    fn make_room(&self) -> io::Result<(File, PathBuf)> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder)?;
        for path in self.writing() {
            if File::open(&path)?.try_lock_shared().is_ok() {
                fs::remove_file(path)?;
            }
        }
        let needed = resident_bytes()?;
        let mut others: Vec<(SystemTime, u64, PathBuf)> =
            entries(folder.parent().unwrap_or(folder))
                .iter()
                .flat_map(|build| entries(build))
                .filter(|p| p.extension().is_some_and(|e| e == EXTENSION) && *p != self.path)
                .filter_map(|p| {
                    let meta = p.metadata().ok()?;
                    Some((meta.modified().ok()?, meta.len(), p))
                })
                .collect();
        others.sort();
        let mut all: u64 = needed + others.iter().map(|(_, len, _)| len).sum::<u64>();
        for (_, len, path) in others {
            if all <= MOST {
                break;
            }
            fs::remove_file(path)?;
            all -= len;
        }
        // The disk is for others, too.
        if all > MOST || free_bytes(folder)? / 4 < needed {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let path = self
            .path
            .with_extension(format!("{}.tmp", std::process::id()));
        let file = File::create_new(&path)?;
        file.lock()?;
        Ok((file, path))
    }
}

impl LaterProcesses for SavedState {
    /// Starts this process again with what an earlier one has saved. Comes back if there is
    /// nothing, or if that fails: nothing is different then.
    fn resume(&self) {
        if taipan_heap::own_generation() != Some(0) {
            return;
        }
        self.wait_for_writers();
        let (Ok(file), Some(writer)) = (File::open(&self.path), writer()) else {
            return;
        };
        let Some(mapped) = Mapped::look_at(&file, writer) else {
            return drop(fs::remove_file(&self.path));
        };
        let Some(generation) = taipan_heap::next_generation(mapped.last_generation()) else {
            return;
        };
        // It was used.
        let _ = file.set_modified(SystemTime::now());
        let mut arguments = std::env::args_os();
        let mut command = Command::new("/proc/self/exe");
        if let Some(name) = arguments.next() {
            command.arg0(name);
        }
        let given = format!("{generation}:{}", self.path.display());
        let _ = command
            .args(arguments)
            .env(GENERATION_VARIABLE, given)
            .exec();
    }

    /// Has a copy of this process write its memory if the command, which began then, took long.
    /// What goes wrong only makes the next one slower.
    unsafe fn save(&self, db: &'static Database, since: Instant) {
        let took = since.elapsed();
        let first_took = FIRST_TOOK.load(Ordering::Relaxed);
        // What goes on with saved memory leaves it as it is, which the next one can go on with as
        // well, as long as the edits since then do not add up.
        let worth = WORTH_SAVING.max(Duration::from_millis(first_took) / 2);
        let wanted = std::env::var(WORTH_VARIABLE)
            .ok()
            .and_then(|ms| ms.parse().ok());
        if took < wanted.map_or(worth, Duration::from_millis) || !db.is_alone() {
            return;
        }
        let Some(build) = writer() else { return };
        let note = match first_took {
            0 => took.as_millis() as u64,
            first => first,
        };
        // SAFETY: as the caller promises; a database refers to the heap, to what the executable
        // has, and to these statics. What it says of files and of the cache is made anew.
        let done = self.make_room().and_then(|(file, path)| unsafe {
            taipan_heap::save(&Saving {
                file: &file,
                path: &path,
                complete: &self.path,
                build,
                note,
                root: std::ptr::from_ref(db) as usize,
                statics: &statics(),
            })
        });
        if let Err(e) = done {
            tracing::warn!("memory not saved: {e}");
        }
    }
}

/// What is in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.filter_map(|e| Some(e.ok()?.path())).collect()
}

/// How much memory this process has.
fn resident_bytes() -> io::Result<u64> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    Ok(pages.ok_or(io::ErrorKind::InvalidData)? * 4096)
}

/// How much room there is on the disk of a folder.
fn free_bytes(folder: &Path) -> io::Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    let folder = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
    let mut all = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: a string with an end, and room for what the system tells.
    match unsafe { libc::statvfs(folder.as_ptr(), all.as_mut_ptr()) } {
        0 => {
            // SAFETY: the call has filled it in.
            let all = unsafe { all.assume_init() };
            Ok(all.f_bavail * all.f_frsize)
        }
        _ => Err(io::Error::last_os_error()),
    }
}
