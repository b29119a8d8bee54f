//! A program that is started anew, or changed while it runs, as its source changes.

use std::io;
use std::sync::Arc;

use camino::Utf8Path;
use taipan_codegen::Image;

use super::process::{End, Ended, Launcher};
use crate::compile::{codegen_failure, compile_for_process};
use crate::{Database, Failure, LoadOptions, Timings};

/// A program compiled for the process that runs it.
#[derive(Clone)]
pub struct Prepared(Arc<Image>);

/// Compiles a program for a [`Runner`].
pub fn prepare(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Prepared, Failure> {
    let image = compile_for_process(db, options, target, timings)?;
    Ok(Prepared(Arc::new(image)))
}

/// What became of new code, or of the wish to run again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The program has been started.
    Started,
    /// The program that runs is of the same code and goes on.
    Kept,
    /// The program that runs is being ended; it starts anew when that is done.
    Ending,
}

/// Runs one program at a time.
pub struct Runner {
    launcher: Launcher,
    /// Number of the run under way.
    running: Option<u64>,
    loaded: Option<Loaded>,
    /// What is to be started when the run under way has ended.
    next: Option<Prepared>,
}

struct Loaded {
    prepared: Prepared,
    table: usize,
}

impl Runner {
    /// A runner that has started nothing yet.
    pub fn new(launcher: Launcher) -> Runner {
        Runner {
            launcher,
            running: None,
            loaded: None,
            next: None,
        }
    }

    /// Whether a program is under way, or about to be started.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Calls `report` for every end of a program, on a thread of its own; it is to be
    /// given to [`Runner::ended`].
    pub fn wait(&self, report: impl FnMut(Ended) + Send + 'static) -> io::Result<()> {
        self.launcher.wait(report)
    }

    /// Takes new code.
    pub fn ready(&mut self, prepared: Prepared) -> Result<Step, Failure> {
        if self.running.is_none() {
            return self.start(prepared);
        }
        let same = self.next.is_none()
            && (self.loaded.as_ref()).is_some_and(|l| *l.prepared.0 == *prepared.0);
        if same {
            return Ok(Step::Kept);
        }
        self.restart(prepared)
    }

    /// Runs the code of last time again; nothing if there is none yet.
    pub fn again(&mut self) -> Option<Result<Step, Failure>> {
        let prepared = match &self.next {
            Some(p) => p.clone(),
            None => self.loaded.as_ref()?.prepared.clone(),
        };
        Some(match self.running {
            None => self.start(prepared),
            Some(_) => self.restart(prepared),
        })
    }

    /// A program has ended. Answers how, unless it was ended for the next one, which
    /// has been started.
    pub fn ended(&mut self, ended: Ended) -> Result<Option<End>, Failure> {
        if self.running != Some(ended.run) {
            return Ok(None);
        }
        self.running = None;
        match self.next.take() {
            Some(prepared) => self.start(prepared).map(|_| None),
            None => Ok(Some(ended.end)),
        }
    }

    /// Gives a line to the program's standard input; none ends it.
    pub fn input(&self, line: Option<&str>) -> Result<(), Failure> {
        match line {
            Some(line) => self.launcher.input(format!("{line}\n").as_bytes()),
            None => self.launcher.end_input(),
        }
        .map_err(|e| lost(&e))
    }

    fn restart(&mut self, prepared: Prepared) -> Result<Step, Failure> {
        self.next = Some(prepared);
        self.launcher.stop().map_err(|e| lost(&e))?;
        Ok(Step::Ending)
    }

    fn start(&mut self, prepared: Prepared) -> Result<Step, Failure> {
        let table = match &self.loaded {
            Some(l) if Arc::ptr_eq(&l.prepared.0, &prepared.0) => l.table,
            _ => {
                // What is there now is about to be overwritten.
                self.loaded = None;
                let region = self.launcher.region();
                let table = (region.load(&prepared.0)).map_err(|e| codegen_failure(&e))?;
                self.loaded = Some(Loaded { prepared, table });
                table
            }
        };
        self.running = Some(self.launcher.start(table).map_err(|e| lost(&e))?);
        Ok(Step::Started)
    }
}

fn lost(e: &io::Error) -> Failure {
    Failure::Usage(format!("the process that starts programs is lost: {e}"))
}
