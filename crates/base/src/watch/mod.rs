//! Following files: which of those that the database has asked for may have changed.
//!
//! ```text
//! kernel ──notify──► folders of the files ──┐
//!                                           ├─► thread: gather until quiet ─► Batch of paths
//! timer ──stat──► each file (polling) ──────┘
//! ```
//!
//! A followed path need not exist: the folders on the way to it are watched as far as
//! they are there, so that its creation is seen. Symbolic links on the way are watched
//! as well as what they lead to. A batch says *may have changed*: whoever receives it
//! reads the files and compares, as [`crate::sync`] does.

mod follow;
mod poll;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use follow::Followed;
use poll::Stamps;

/// How files are followed.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Look at every file at intervals, without asking the system for notification.
    pub poll: bool,
    /// The interval of looking.
    pub interval: Duration,
    /// A batch is complete when nothing has happened for so long,
    pub settle: Duration,
    /// or when it has been open for so long.
    pub limit: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions {
            poll: false,
            interval: Duration::from_millis(250),
            settle: Duration::from_millis(2),
            limit: Duration::from_millis(500),
        }
    }
}

/// Files that may have changed at about the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Followed paths, sorted.
    pub paths: Vec<Utf8PathBuf>,
    /// When the first of the changes was noticed.
    pub first: Instant,
}

/// How changes come to be known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WatchMode {
    /// The system tells.
    Notified,
    /// Files are looked at; if not by choice, why.
    Polling(Option<String>),
}

/// Follows files on a thread of its own, until it is dropped.
pub struct FileWatcher {
    state: Arc<Mutex<State>>,
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    followed: Followed,
    backend: Backend,
}

enum Backend {
    Notify(RecommendedWatcher),
    Poll { stamps: Stamps, why: Option<String> },
}

enum Message {
    Happened(notify::Result<notify::Event>),
    Stop,
}

impl FileWatcher {
    /// Starts to follow nothing yet. `report` is called on the watcher's thread.
    pub fn start(options: WatchOptions, report: impl FnMut(Batch) + Send + 'static) -> FileWatcher {
        let (messages, inbox) = channel();
        let polling = |why| Backend::Poll {
            stamps: Stamps::default(),
            why,
        };
        let backend = if options.poll {
            polling(None)
        } else {
            let sender = messages.clone();
            // Sending fails only when this watcher is gone.
            let handler = move |event| drop(sender.send(Message::Happened(event)));
            match notify::recommended_watcher(handler) {
                Ok(w) => Backend::Notify(w),
                Err(e) => polling(Some(e.to_string())),
            }
        };
        let state = Arc::new(Mutex::new(State {
            followed: Followed::default(),
            backend,
        }));
        let worker = Worker {
            state: state.clone(),
            inbox,
            options,
            report,
        };
        let thread = std::thread::Builder::new()
            .name("file watcher".to_owned())
            .spawn(move || worker.run())
            .ok();
        FileWatcher {
            state,
            messages,
            thread,
        }
    }

    /// Follows these absolute paths too; answers those that are new. When it returns,
    /// later changes are noticed: a caller that has read a file before compares it once
    /// more.
    pub fn follow<'a>(&self, paths: impl IntoIterator<Item = &'a Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let mut state = lock(&self.state);
        let mut added = Vec::new();
        for path in paths {
            if state.followed.add(path) {
                if let Backend::Poll { stamps, .. } = &mut state.backend {
                    stamps.add(path);
                }
                added.push(path.clone());
            }
        }
        state.watch_folders();
        added
    }

    /// How changes come to be known at present.
    pub fn mode(&self) -> WatchMode {
        match &lock(&self.state).backend {
            Backend::Notify(_) => WatchMode::Notified,
            Backend::Poll { why, .. } => WatchMode::Polling(why.clone()),
        }
    }
}

impl Drop for FileWatcher {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Has the system tell of the folders that matter now.
    fn watch_folders(&mut self) {
        let Backend::Notify(watcher) = &mut self.backend else {
            return;
        };
        let mut failure = None;
        for folder in self.followed.take_stale_folders() {
            // Most often the system has forgotten it by itself.
            let _ = watcher.unwatch(folder.as_std_path());
        }
        for folder in self.followed.take_new_folders() {
            match watcher.watch(folder.as_std_path(), RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It has gone since it was looked up: the event of that is on its way.
                Err(e) if is_missing(&e) => self.followed.forget_folder(&folder),
                // No more watches are to be had, or the folder may not be listed though
                // files in it may be read.
                Err(e) => failure = Some(e.to_string()),
            }
        }
        if let Some(why) = failure {
            let mut stamps = Stamps::default();
            self.followed.paths().for_each(|p| stamps.add(&p));
            self.backend = Backend::Poll {
                stamps,
                why: Some(why),
            };
        }
    }
}

fn is_missing(e: &notify::Error) -> bool {
    match &e.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(e) => matches!(
            e.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        ),
        _ => false,
    }
}

/// What has been gathered for the next batch.
#[derive(Default)]
struct Gathered {
    /// Entries of watched folders that something happened to, as far as they matter.
    entries: BTreeSet<Utf8PathBuf>,
    /// Those that are being written: read now, they could be half there.
    open: BTreeSet<Utf8PathBuf>,
    /// Events were lost: anything may have changed.
    everything: bool,
}

impl Gathered {
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.everything
    }
}

struct Worker<F> {
    state: Arc<Mutex<State>>,
    inbox: Receiver<Message>,
    options: WatchOptions,
    report: F,
}

impl<F: FnMut(Batch)> Worker<F> {
    fn run(mut self) {
        loop {
            let mut gathered = Gathered::default();
            match self.inbox.recv_timeout(self.options.interval) {
                Ok(Message::Happened(event)) => drop(self.gather(event, &mut gathered)),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.poll(),
            }
            if gathered.is_empty() {
                continue;
            }
            let first = Instant::now();
            if !self.settle(first, &mut gathered) {
                return;
            }
            let paths = self.resolve(gathered);
            if !paths.is_empty() {
                (self.report)(Batch { paths, first });
            }
        }
    }

    /// Gathers until nothing happens any more; false if it is time to stop.
    fn settle(&self, first: Instant, gathered: &mut Gathered) -> bool {
        let end = first + self.options.limit;
        let mut quiet_from = first;
        loop {
            let until = if gathered.open.is_empty() {
                (quiet_from + self.options.settle).min(end)
            } else {
                end
            };
            let Some(rest) = until.checked_duration_since(Instant::now()) else {
                return true;
            };
            match self.inbox.recv_timeout(rest) {
                Ok(Message::Happened(event)) => {
                    // What does not matter does not keep the batch open.
                    if self.gather(event, gathered) {
                        quiet_from = Instant::now();
                    }
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => return true,
            }
        }
    }

    /// Notes what an event is about; false if it does not matter.
    fn gather(&self, event: notify::Result<notify::Event>, gathered: &mut Gathered) -> bool {
        let Ok(event) = event else {
            gathered.everything = true;
            return true;
        };
        if event.need_rescan() {
            gathered.everything = true;
            return true;
        }
        // Reading is no change. Reading a folder or file is what its readers here do.
        let reading = matches!(event.kind, EventKind::Access(kind)
            if kind != AccessKind::Close(AccessMode::Write));
        if reading {
            return false;
        }
        // Other systems than Linux do not tell when a file is closed.
        let open = cfg!(target_os = "linux")
            && matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
        let named = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        let mut matters = false;
        let state = lock(&self.state);
        for path in &event.paths {
            if let Some(path) = Utf8Path::from_path(path)
                && state.followed.matters(path, named)
            {
                gathered.entries.insert(path.to_owned());
                if open {
                    gathered.open.insert(path.to_owned())
                } else {
                    gathered.open.remove(path)
                };
                matters = true;
            }
        }
        matters
    }

    /// The followed paths behind what was gathered; watches folders that have come.
    fn resolve(&self, gathered: Gathered) -> Vec<Utf8PathBuf> {
        let mut state = lock(&self.state);
        let paths = if gathered.everything {
            state.followed.renew_all()
        } else {
            state.followed.renew(&gathered.entries)
        };
        state.watch_folders();
        paths
    }

    fn poll(&mut self) {
        let first = Instant::now();
        let paths = match &mut lock(&self.state).backend {
            Backend::Poll { stamps, .. } => stamps.changed(),
            Backend::Notify(_) => return,
        };
        if !paths.is_empty() {
            (self.report)(Batch { paths, first });
        }
    }
}
