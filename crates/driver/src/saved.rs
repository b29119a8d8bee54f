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
//! ([`taipan_base::sync`]): files, and the variables of the environment that a program asked for.
//! Answers of the C compiler are kept by question beyond processes anyway ([`taipan_base::CAnswer`]).
//!
//! What makes it safe: the file is authenticated by a key that only this user's processes have, and
//! that is another one for each file name; it is opened only where nobody else can write to it.
//! Nothing that this process knows of the key, nor the environment, is on the heap.

use std::ffi::{CString, OsString, c_char};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use taipan_cache::MEMORY_EXTENSION as EXTENSION;
use taipan_heap::{GENERATION_VARIABLE, Mapped, MemoryKey, Saving, StaticTable, resident_bytes};
use taipan_platform::{check_own_folder, open_own_file, user_secret};

use crate::LoadOptions;
use crate::db::{Database, LaterProcesses};
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
    let (Ok(file), Some(key)) = (open_own_file(&path), memory_key(&path)) else {
        return;
    };
    // SAFETY: as the caller promises. The key is of this build, and only this user can write to the
    // file, whose processes never do once it has its name.
    match unsafe { taipan_heap::map(&file, &key) } {
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

/// What a file of memory is authenticated by: the user's secret, the executable that wrote it, and its
/// name, which stands for the command. Memory that somebody else has made would be code of theirs
/// that runs, be it in a checkout that only looks like a cache of this user's. None where the user has no
/// secret.
fn memory_key(path: &Path) -> Option<MemoryKey> {
    let mut h = blake3::Hasher::new_keyed(user_secret().ok()?);
    h.update(b"memory");
    h.update(taipan_cache::build_id().as_bytes());
    h.update(path.file_name()?.as_encoded_bytes());
    Some(*h.finalize().as_bytes())
}

/// Statics that databases refer to.
fn statics() -> Vec<StaticTable> {
    let mut all = vec![taipan_base::asked_table(), taipan_annotator::runs_table()];
    all.push(taipan_interp::type_objects_table());
    all.extend(taipan_lltype::type_tables());
    all.extend(owners_of_empty_slice().map(StaticTable::of));
    all
}

/// Number of owners of the empty slice that all `Arc<[T]>::default()` share, a static of the standard library. A process
/// that continues with the memory restores it: dropping such values would make it negative otherwise. None if the
/// standard library allocates each slice.
fn owners_of_empty_slice() -> Option<&'static AtomicUsize> {
    let empty = Arc::<[u8]>::default();
    if !Arc::ptr_eq(&empty, &Arc::default()) {
        return None;
    }
    // The numbers of strong and of weak owners stand in front of the value.
    let at = Arc::as_ptr(&empty).cast::<AtomicUsize>().wrapping_sub(2);
    // SAFETY: the value is a static, and its header has these two numbers; whether it is the first is seen below.
    let owners = unsafe { &*at };
    let before = owners.load(Ordering::Relaxed);
    let other = empty.clone();
    let counts =
        owners.load(Ordering::Relaxed) == before + 1 && before == Arc::strong_count(&other) - 1;
    counts.then_some(owners)
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
            while let Ok(file) = open_own_file(&path)
                && matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
                && Instant::now() < until
            {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Deletes what was not used for longest, so that there is room, and makes a locked file
    /// to write to.
    fn make_room(&self, cache: &Cache) -> io::Result<(File, PathBuf)> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        cache.make_folder()?;
        // No process would take what lies where others can write.
        check_own_folder(folder)?;
        for path in self.writing() {
            if open_own_file(&path)?.try_lock_shared().is_ok() {
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
        let mut options = File::options();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
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
        let (Ok(file), Some(key)) = (open_own_file(&self.path), memory_key(&self.path)) else {
            return;
        };
        let Some(mapped) = Mapped::look_at(&file, &key) else {
            return drop(fs::remove_file(&self.path));
        };
        let Some(generation) = taipan_heap::next_generation(mapped.last_generation()) else {
            return;
        };
        // It was used.
        let _ = file.set_modified(SystemTime::now());
        let mut given = OsString::from(format!("{GENERATION_VARIABLE}={generation}:"));
        given.push(&self.path);
        let _ = start_again(given);
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
        // The values are on the heap then, and must not be saved.
        if taipan_base::listed_environment() {
            return;
        }
        let Some(key) = memory_key(&self.path) else {
            return;
        };
        let note = match first_took {
            0 => took.as_millis() as u64,
            first => first,
        };
        // SAFETY: as the caller promises; a database refers to the heap, to what the executable
        // has, and to these statics. What it says of files and of the cache is made anew.
        let done = self.make_room(&db.cache()).and_then(|(file, path)| unsafe {
            taipan_heap::save(&Saving {
                file: &file,
                path: &path,
                complete: &self.path,
                key: &key,
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

/// Starts this process again with its arguments and one more variable. Comes back if that fails.
/// (`Command::env` would copy the whole environment to the heap.)
fn start_again(variable: OsString) -> io::Result<()> {
    unsafe extern "C" {
        static mut environ: *const *const c_char;
    }
    let variable = CString::new(variable.into_vec())?;
    let arguments: Vec<CString> = std::env::args_os()
        .map(|a| CString::new(a.into_vec()))
        .collect::<Result<_, _>>()?;
    let mut argv: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
    argv.push(std::ptr::null());
    let mut envp = vec![variable.as_ptr()];
    // SAFETY: nobody changes the environment any more, so that all pointers stay what they are; both
    // lists end with a null pointer.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            envp.push(*at);
            at = at.add(1);
        }
        envp.push(std::ptr::null());
        libc::execve(c"/proc/self/exe".as_ptr(), argv.as_ptr(), envp.as_ptr());
    }
    Err(io::Error::last_os_error())
}

/// What is in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.filter_map(|e| Some(e.ok()?.path())).collect()
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
