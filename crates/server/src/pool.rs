//! The threads that answer requests.

use crossbeam_channel::{Sender, unbounded};

/// The stages recurse with the program's nesting; address space is free.
const STACK: usize = 256 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that take jobs in order.
#[derive(Clone)]
pub(crate) struct Pool(Sender<Job>);

impl Pool {
    /// Starts threads.
    pub(crate) fn new(name: &str, threads: usize) -> Pool {
        let (sender, receiver) = unbounded::<Job>();
        for i in 0..threads {
            let receiver = receiver.clone();
            let thread = std::thread::Builder::new()
                .name(format!("{name} {i}"))
                .stack_size(STACK);
            // Without a thread the jobs are dropped, and their requests stay without an
            // answer: as good as it gets on a machine that has none left.
            let _ = thread.spawn(move || receiver.into_iter().for_each(|job| job()));
        }
        Pool(sender)
    }

    /// Has a job done. Jobs catch their own panics.
    pub(crate) fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let _ = self.0.send(Box::new(job));
    }
}
