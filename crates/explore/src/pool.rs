//! A fixed number of threads: no request makes one, so that none fails for want of one.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// The stages recurse with the program's nesting; address space is free.
pub(crate) const STACK: usize = 1 << 29;

/// Threads that take jobs in order.
pub(crate) struct Pool<T>(SyncSender<T>);

/// How many threads, and how many jobs may wait for them.
pub(crate) struct Size {
    pub(crate) threads: usize,
    pub(crate) waiting: usize,
}

impl<T: Send + 'static> Pool<T> {
    /// Starts threads. Fewer will do; fails if there is none. A job that `work` gives back is done
    /// again after those that wait.
    pub(crate) fn start(
        name: &str,
        size: &Size,
        work: impl Fn(T) -> Option<T> + Send + Sync + 'static,
    ) -> io::Result<Pool<T>> {
        Pool::start_by(name, size, work, |thread, body| {
            thread.spawn(body).map(drop)
        })
    }

    fn start_by(
        name: &str,
        size: &Size,
        work: impl Fn(T) -> Option<T> + Send + Sync + 'static,
        spawn: impl Fn(Builder, Box<dyn FnOnce() + Send>) -> io::Result<()>,
    ) -> io::Result<Pool<T>> {
        let (sender, jobs) = sync_channel(size.waiting);
        let (jobs, work) = (Arc::new(Mutex::new(jobs)), Arc::new(work));
        let started = (0..size.threads).map(|_| {
            let (jobs, work, again) = (jobs.clone(), work.clone(), sender.clone());
            let thread = Builder::new().name(name.to_owned()).stack_size(STACK);
            let body = move || {
                while let Some(job) = next(&jobs) {
                    if let Some(job) = work(job) {
                        // Where too many are waiting it is forgotten.
                        let _ = again.try_send(job);
                    }
                }
            };
            spawn(thread, Box::new(body))
        });
        let started: Vec<io::Result<()>> = started.collect();
        if started.iter().any(Result::is_ok) {
            return Ok(Pool(sender));
        }
        let failed = started.into_iter().find_map(Result::err);
        Err(failed.unwrap_or_else(|| io::Error::other("no threads")))
    }

    /// Has a job done; gives it back if too many are waiting.
    pub(crate) fn offer(&self, job: T) -> Result<(), T> {
        self.0.try_send(job).map_err(|e| match e {
            TrySendError::Full(job) | TrySendError::Disconnected(job) => job,
        })
    }
}

fn next<T>(jobs: &Mutex<Receiver<T>>) -> Option<T> {
    let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
    jobs.recv().ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn threads_that_cannot_be_made() {
        let size = Size {
            threads: 3,
            waiting: 1,
        };
        let again = || io::Error::from(io::ErrorKind::WouldBlock);
        let none = Pool::start_by("none", &size, |_: u32| None, |_, _| Err(again()));
        assert_eq!(none.err().unwrap().kind(), io::ErrorKind::WouldBlock);
        // One of three: it does the work of all, and what is too much comes back.
        let made = Cell::new(0);
        let (sender, begun) = channel();
        let (end, ends) = channel::<()>();
        let ends = Mutex::new(ends);
        let work = move |job: u32| {
            sender.send(job).unwrap();
            let _ = ends.lock().unwrap().recv();
            None
        };
        let spawn = |thread: Builder, body: Box<dyn FnOnce() + Send>| {
            made.set(made.get() + 1);
            match made.get() {
                2 => thread.spawn(body).map(drop),
                _ => Err(again()),
            }
        };
        let pool = Pool::start_by("one", &size, work, spawn).unwrap();
        pool.offer(1).unwrap();
        assert_eq!(begun.recv(), Ok(1));
        pool.offer(2).unwrap();
        assert_eq!(pool.offer(3), Err(3));
        drop(end);
        assert_eq!(begun.recv(), Ok(2));
    }
}
