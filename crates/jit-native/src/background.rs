//! Optimisation of regions on a second thread.
//!
//! The thread of the program makes the graph of a region, continues in code without optimisations, and puts the machine
//! code into memory when it is there. The passes and the code generator, which take most of the time, run on the
//! second thread. They read tables of the program, of which that thread has its own, and no memory of the program.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::{mem, ptr, thread};

use taipan_codegen::{CompiledFunction, SymbolRef};
use taipan_codegen_cranelift::{Addresses, FunctionCompiler, OptLevel, external_address};
use taipan_lltype::LLGraph;
use taipan_transform::{Passes, gc_transform_residual, optimize_residual};

use crate::engine::text_of;
use crate::program::Running;
use crate::tables::Tabled;
use crate::world::address_in_name;

/// Stack size of the second thread, in bytes.
const STACK: usize = 16 << 20;

/// Makes the tables of a program for a second thread.
pub type MakeTables = Arc<dyn Fn() -> Tabled + Send + Sync>;

/// A second thread, and the regions that it has.
pub(crate) struct Background {
    tables: MakeTables,
    thread: Option<Thread>,
    /// Number of the next job.
    next: u64,
}

/// The thread, started by the process of that number.
struct Thread {
    process: u32,
    jobs: Sender<Job>,
    done: Receiver<Done>,
    /// Jobs that are left are not needed any more.
    stop: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

struct Job {
    number: u64,
    graph: LLGraph,
}

/// A finished job.
pub(crate) struct Done {
    pub(crate) number: u64,
    pub(crate) code: Result<CompiledFunction, Fault>,
}

/// Why there is no code.
pub(crate) enum Fault {
    /// The code generator refuses the graph.
    Refused,
    /// Message of an error of the compiler itself.
    Internal(String),
}

impl Background {
    /// No thread yet: it is started for the first job.
    pub(crate) fn new(tables: MakeTables) -> Background {
        Background {
            tables,
            thread: None,
            next: 0,
        }
    }

    /// Whether jobs were lost: a process that was forked has no second thread.
    pub(crate) fn has_lost_jobs(&mut self) -> bool {
        let lost = (self.thread).take_if(|t| t.process != std::process::id());
        let is_lost = lost.is_some();
        // The other process may have forked while its thread held a lock of these channels.
        mem::forget(lost);
        is_lost
    }

    /// Compiles the graph of a region with optimisations. The result is the number of the job, or the graph if there can
    /// be no thread.
    pub(crate) fn submit(&mut self, graph: LLGraph) -> Result<u64, LLGraph> {
        let thread = self.thread.take().or_else(|| start(self.tables.clone()));
        let Some(thread) = thread else {
            return Err(graph);
        };
        let number = self.next;
        let sent = thread.jobs.send(Job { number, graph });
        sent.map_err(|unsent| unsent.0.graph)?;
        self.next += 1;
        self.thread = Some(thread);
        Ok(number)
    }

    /// A job that has been finished since the last call.
    pub(crate) fn finished(&mut self) -> Option<Done> {
        self.thread.as_ref()?.done.try_recv().ok()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.has_lost_jobs() {
            return;
        }
        if let Some(thread) = self.thread.take() {
            thread.stop.store(true, Ordering::Relaxed);
            drop(thread.jobs);
            // It catches its panics.
            let _ = thread.handle.join();
        }
    }
}

/// Held while the second thread works. `fork` waits for it, so that no lock is held in the new process by a thread that
/// is not there.
static WORKS: Mutex<()> = Mutex::new(());

thread_local! {
    /// [`WORKS`], while this thread forks.
    static FORKS: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

extern "C" fn before_fork() {
    let works = WORKS.lock().unwrap_or_else(PoisonError::into_inner);
    FORKS.with(|f| *f.borrow_mut() = Some(works));
}

extern "C" fn after_fork() {
    FORKS.with(|f| *f.borrow_mut() = None);
}

/// Starts a second thread. None if the system has no room for it.
fn start(tables: MakeTables) -> Option<Thread> {
    static HANDLERS: Once = Once::new();
    // SAFETY: the handlers are functions of this program, which stay.
    HANDLERS.call_once(|| unsafe {
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork));
    });
    let (jobs, todo) = channel::<Job>();
    let (results, done) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let work = move || {
        let mut worker = None;
        for job in todo {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let _works = WORKS.lock().unwrap_or_else(PoisonError::into_inner);
            let worker = worker.get_or_insert_with(|| Worker::new(&tables));
            let number = job.number;
            let code = catch_unwind(AssertUnwindSafe(|| worker.compile(job)));
            let code = code.unwrap_or_else(|p| Err(Fault::Internal(text_of(&*p).to_owned())));
            if results.send(Done { number, code }).is_err() {
                return;
            }
        }
    };
    let handle = without_signals(|| thread::Builder::new().stack_size(STACK).spawn(work)).ok()?;
    Some(Thread {
        process: std::process::id(),
        jobs,
        done,
        stop,
        handle,
    })
}

/// Runs `f` with all signals blocked. A thread that it starts leaves signals to the threads of the program.
fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are initialised before they are read, and the mask is put back.
    unsafe {
        let (mut all, mut old) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut());
        result
    }
}

/// State of the second thread.
struct Worker {
    program: Tabled,
    /// None if there is no code generator for this machine.
    compiler: Option<FunctionCompiler>,
}

impl Worker {
    fn new(tables: &MakeTables) -> Worker {
        Worker {
            program: tables(),
            compiler: FunctionCompiler::for_units(OptLevel::Speed).ok(),
        }
    }

    fn compile(&mut self, job: Job) -> Result<CompiledFunction, Fault> {
        let compiler = self.compiler.as_mut().ok_or(Fault::Refused)?;
        let program = Running::new(&self.program, &self.program);
        let mut graph = job.graph;
        optimize_residual(&mut graph, &program, &program);
        let graph = gc_transform_residual(&graph, &program, &mut Passes::default());
        let code = compiler.compile_unit(&program, &graph.name, &graph, &Unplaced);
        code.map_err(|_| Fault::Refused)
    }
}

/// Addresses that are known without the image. References to others are resolved when the code is put into memory.
struct Unplaced;

impl Addresses for Unplaced {
    fn address(&self, symbol: &SymbolRef) -> Option<usize> {
        match symbol {
            SymbolRef::External(name) => external_address(name).ok(),
            other => address_in_name(other),
        }
    }
}
