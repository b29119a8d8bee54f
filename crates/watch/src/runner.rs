//! A program that is started anew, or changed while it runs, as its source changes.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8PathBuf;
use taipan_codegen::{Image, Lister, Listing};
use taipan_codegen_cranelift::{HotProgram, LoadedProgram, Obstacle};

use crate::process::{End, Ended, Launcher};
use taipan_driver::parts::{
    ImageUse, bundle, codegen_failure, compile_for_process, list_for_process,
};
use taipan_driver::{Database, Failure, JitOptions, LoadOptions, Splits, Timings};

/// A program compiled for the process that runs it.
#[derive(Clone)]
pub enum Prepared {
    /// As a whole.
    Whole(Arc<Image>),
    /// In parts that can be replaced.
    Parts(Arc<Listing>),
    /// With what compiles its loops while it runs.
    WithJit(Arc<JitProgram>),
}

/// A program that compiles its loops while it runs.
#[derive(PartialEq, Eq)]
pub struct JitProgram {
    /// As it would stand behind an executable.
    payload: Vec<u8>,
    splits: Splits,
    threshold: Option<i64>,
}

/// Compiles a program for a [`Runner`], again and again.
pub struct Preparation {
    /// The target file.
    pub target: Utf8PathBuf,
    /// How it is loaded.
    pub load: LoadOptions,
    /// How its loops are compiled while it runs, if they are.
    jit: Option<JitOptions>,
    /// What is remembered from one listing to the next, if parts are to be replaced.
    parts: Option<Mutex<Lister>>,
}

impl Preparation {
    /// With `hot`, in parts that can be replaced: the database must make replaceable
    /// code ([`Database::make_code_replaceable`]).
    pub fn new(
        target: Utf8PathBuf,
        load: LoadOptions,
        hot: bool,
        jit: Option<JitOptions>,
    ) -> Preparation {
        Preparation {
            target,
            load,
            jit,
            parts: hot.then(Mutex::default),
        }
    }

    /// Compiles it.
    pub fn prepare(&self, db: &Database, timings: &mut Timings) -> Result<Prepared, Failure> {
        let (target, load) = (&*self.target, &self.load);
        if let Some(jit) = &self.jit
            && let Some(made) = bundle(db, load, target, ImageUse::Run, timings)?
        {
            return Ok(Prepared::WithJit(Arc::new(JitProgram {
                payload: made.into_payload()?,
                splits: jit.splits,
                threshold: jit.threshold,
            })));
        }
        let Some(lister) = &self.parts else {
            let image = compile_for_process(db, load, target, timings)?;
            return Ok(Prepared::Whole(Arc::new(image)));
        };
        // Taken out meanwhile: whoever is cancelled leaves nothing half done behind.
        let slot = || lister.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lister = std::mem::take(&mut *slot());
        let listing = list_for_process(db, load, target, &mut lister, timings)?;
        *slot() = lister;
        Ok(Prepared::Parts(Arc::new(listing)))
    }

    /// Makes what [`Preparation::prepare`] needs for the next edit.
    pub fn warm_up(&self, db: &Database) {
        // What goes wrong is said by whoever needs the program.
        if self.jit.is_some() {
            let timings = &mut Timings::default();
            let _ = bundle(db, &self.load, &self.target, ImageUse::Run, timings);
            return;
        }
        let _ = compile_for_process(db, &self.load, &self.target, &mut Timings::default());
    }
}

/// What became of new code, or of the wish to run again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The program has been started.
    Started,
    /// The program that runs is of the same code and goes on.
    Kept,
    /// These functions of the program that runs have been replaced; callers of others
    /// may have come or gone with them.
    Replaced(Vec<String>),
    /// The program that runs is being ended; it starts anew when that is done. If its
    /// parts could have been replaced, what stood against it.
    Ending(Option<Obstacle>),
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

/// What the region holds.
struct Loaded {
    prepared: Prepared,
    program: LoadedProgram,
    parts: Option<HotProgram>,
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

    /// Whether a program is under way.
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
        // What is about to end is no matter any more.
        let Some(loaded) = self.loaded.as_mut().filter(|_| self.next.is_none()) else {
            return self.restart(prepared, None);
        };
        match (&loaded.prepared, &prepared, &mut loaded.parts) {
            (Prepared::Whole(old), Prepared::Whole(new), _) if old.same_contents(new) => {
                Ok(Step::Kept)
            }
            (Prepared::WithJit(old), Prepared::WithJit(new), _) if old == new => Ok(Step::Kept),
            (_, Prepared::Parts(new), Some(parts)) => {
                match parts.replace(new).map_err(|e| codegen_failure(&e))? {
                    Ok(replaced) => {
                        loaded.prepared = prepared;
                        let mut names: Vec<_> =
                            replaced.iter().map(|f| f.name().to_owned()).collect();
                        names.sort();
                        names.dedup();
                        Ok(match names.is_empty() {
                            true => Step::Kept,
                            false => Step::Replaced(names),
                        })
                    }
                    Err(obstacle) => self.restart(prepared, Some(obstacle)),
                }
            }
            _ => self.restart(prepared, None),
        }
    }

    /// Runs the code of last time again; nothing if there is none yet.
    pub fn again(&mut self) -> Option<Result<Step, Failure>> {
        let prepared = match &self.next {
            Some(p) => p.clone(),
            None => self.loaded.as_ref()?.prepared.clone(),
        };
        Some(match self.running {
            None => self.start(prepared),
            Some(_) => self.restart(prepared, None),
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

    fn restart(&mut self, prepared: Prepared, why: Option<Obstacle>) -> Result<Step, Failure> {
        self.next = Some(prepared);
        self.launcher.stop().map_err(|e| lost(&e))?;
        Ok(Step::Ending(why))
    }

    fn start(&mut self, prepared: Prepared) -> Result<Step, Failure> {
        if let Prepared::WithJit(program) = &prepared {
            let (splits, threshold) = (program.splits, program.threshold);
            let started = (self.launcher).start_with_jit(&program.payload, splits, threshold);
            self.running = Some(started.map_err(|e| lost(&e))?);
            self.loaded = Some(Loaded {
                prepared,
                program: nowhere(),
                parts: None,
            });
            return Ok(Step::Started);
        }
        let program = match &self.loaded {
            // The program changes its own copy of the data only.
            Some(loaded) if same(&loaded.prepared, &prepared) => loaded.program.clone(),
            _ => self.load(prepared)?,
        };
        self.running = Some(self.launcher.start(&program).map_err(|e| lost(&e))?);
        Ok(Step::Started)
    }

    fn load(&mut self, prepared: Prepared) -> Result<LoadedProgram, Failure> {
        // What is there now is about to be overwritten.
        self.loaded = None;
        let region = self.launcher.region();
        let loaded = match &prepared {
            Prepared::Whole(image) => (region.load(image)).map(|program| (program, None)),
            Prepared::Parts(listing) => HotProgram::load(region, listing).map(|parts| {
                let program = LoadedProgram {
                    table: parts.table(),
                    library: None,
                };
                (program, Some(parts))
            }),
            // It is loaded by its own process.
            Prepared::WithJit(_) => Ok((nowhere(), None)),
        };
        let (program, parts) = loaded.map_err(|e| codegen_failure(&e))?;
        self.loaded = Some(Loaded {
            prepared,
            program: program.clone(),
            parts,
        });
        Ok(program)
    }
}

/// A program that the region does not hold.
fn nowhere() -> LoadedProgram {
    LoadedProgram {
        table: 0,
        library: None,
    }
}

/// Whether a region that holds one holds the other. Where parts have been replaced, data
/// may have been written that a program has changed.
fn same(a: &Prepared, b: &Prepared) -> bool {
    matches!((a, b), (Prepared::Whole(a), Prepared::Whole(b)) if Arc::ptr_eq(a, b))
}

fn lost(e: &io::Error) -> Failure {
    Failure::Usage(format!("the process that starts programs is lost: {e}"))
}
