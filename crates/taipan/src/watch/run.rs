//! `taipan watch run`

use std::io;
use std::sync::Arc;

use taipan_driver::Machine;
use taipan_driver::{Database, Failure, LoadOptions};
use taipan_language::Collector;
use taipan_watch::{
    Answer, End, Ended, Job, Launcher, Obstacle, Preparation, Prepared, Runner, Step,
};

use super::{Shown, Task};
use crate::args::{Backend, Engine, WatchRunArgs};
use crate::output::{Context, color, failure_text};
use crate::run::watchable;

pub(super) struct Run {
    preparation: Arc<Preparation>,
    runner: Runner,
    takes_input: bool,
}

impl Run {
    pub(super) fn new(
        args: &WatchRunArgs,
        context: &Context,
        launcher: io::Result<Launcher>,
    ) -> Result<Run, Failure> {
        watchable(&args.run.code, args.run.for_machine.machine())?;
        if args.run.profile.is_some() {
            let text = "--profile is for one run: leave it out, or use `taipan run`";
            return Err(Failure::Usage(text.to_owned()));
        }
        let jit = args.run.jit.options(args.run.code.jit());
        if args.hot && jit.is_some() {
            let text = "--hot cannot replace what a just-in-time compiler made: leave out one of --hot and --jit";
            return Err(Failure::Usage(text.to_owned()));
        }
        if jit.as_ref().is_some_and(|j| j.report.is_some()) {
            let text =
                "watched programs tell what was compiled in the file that TAIPAN_JITLOG names";
            return Err(Failure::Usage(text.to_owned()));
        }
        if !matches!(args.run.engine, None | Some(Engine::Native))
            || matches!(args.run.code.backend, Some(Backend::C | Backend::Llvm))
        {
            let text =
                "watched programs run as machine code in memory: leave out --engine and --backend";
            return Err(Failure::Usage(text.to_owned()));
        }
        if args.run.code.collector.gc() == Collector::Boehm {
            let text = "libgc does not know the data of watched programs: leave out --gc boehm";
            return Err(Failure::Usage(text.to_owned()));
        }
        if args.run.for_machine.machine() != Machine::HOST {
            let text = "watched programs run on this machine: leave out --target";
            return Err(Failure::Usage(text.to_owned()));
        }
        if args.hot {
            context.db.make_code_replaceable();
        }
        let launcher =
            launcher.map_err(|e| Failure::Usage(format!("no process for the program: {e}")))?;
        Ok(Run {
            preparation: Arc::new(Preparation::new(
                args.run.target.clone(),
                LoadOptions {
                    checked: args.run.code.checked(),
                    collector: args.run.code.collector.gc(),
                    passes: args.run.code.passes(),
                    translation: args.run.code.translation(),
                    ..context.load.clone()
                },
                args.hot,
                jit,
            )),
            runner: Runner::new(launcher),
            takes_input: super::Terminal::is_there(),
        })
    }

    /// Has the ends of programs reported.
    pub(super) fn wait(&self, report: impl FnMut(Ended) + Send + 'static) -> io::Result<()> {
        self.runner.wait(report)
    }

    fn step(&self, db: &Database, step: &Result<Step, Failure>) -> Shown {
        match step {
            Ok(Step::Started) => Shown::well("started".to_owned()),
            Ok(Step::Ending(None)) => Shown::well("restarted".to_owned()),
            Ok(Step::Ending(Some(why))) => Shown::well(format!("restarted: {}", words(why))),
            Ok(Step::Replaced(names)) => Shown {
                clear: false,
                ..Shown::well(format!("replaced {}", names.join(", ")))
            },
            Ok(Step::Kept) => Shown {
                clear: false,
                ..Shown::well("the same code: goes on".to_owned())
            },
            Err(f) => self.failure(db, f),
        }
    }

    /// The program that runs, if there is one, is not touched by a failure to compile
    /// another one.
    fn failure(&self, db: &Database, f: &Failure) -> Shown {
        let running = self.runner.is_running();
        let status = if running {
            "the program goes on as it was before these errors"
        } else {
            "not started"
        };
        Shown {
            ok: false,
            status: status.to_owned(),
            body: failure_text(db, f, color()),
            output: None,
            clear: !running,
        }
    }
}

impl Task for Run {
    type Outcome = Result<Prepared, Failure>;

    fn title(&self) -> String {
        format!("run {}", self.preparation.target)
    }

    fn job(&mut self) -> Job<Self::Outcome> {
        let (preparation, warm) = (self.preparation.clone(), self.preparation.clone());
        Job::new(Arc::new(move |db, timings| {
            preparation.prepare(db, timings)
        }))
        .warming_up(move |db| warm.warm_up(db))
    }

    fn show(&mut self, db: &Database, answer: &mut Answer<Self::Outcome>) -> Shown {
        match &answer.round.outcome {
            Ok(Ok(prepared)) => {
                let step = self.runner.ready(prepared.clone());
                self.step(db, &step)
            }
            Ok(Err(f)) => self.failure(db, f),
            Err(e) => Shown::fault(e),
        }
    }

    fn again(&mut self, db: &Database) -> Option<Shown> {
        let step = self.runner.again()?;
        Some(self.step(db, &step))
    }

    fn ended(&mut self, db: &Database, ended: Ended) -> Option<Shown> {
        let (ok, status) = match self.runner.ended(ended) {
            Ok(None) => return None,
            Ok(Some(End::Code(code))) => (code == 0, format!("ended with exit code {code}")),
            Ok(Some(End::Signal(n))) => (false, format!("ended by signal {n}{}", name(n))),
            Ok(Some(End::NotStarted(n))) => {
                let e = io::Error::from_raw_os_error(n);
                (false, format!("could not be started: {e}"))
            }
            Err(f) => return Some(self.failure(db, &f)),
        };
        Some(Shown {
            ok,
            status,
            body: String::new(),
            output: None,
            clear: false,
        })
    }

    fn takes_input(&self) -> bool {
        self.takes_input
    }

    fn input(&mut self, line: Option<&str>) {
        // If the program is gone, its end is on its way here.
        let _ = self.runner.input(line);
    }
}

/// What stands against replacing code.
fn words(why: &Obstacle) -> String {
    match why {
        Obstacle::Layout(name) => format!("the fields of {name} have changed"),
        Obstacle::Data(name) => format!("prebuilt data have changed: {name}"),
        Obstacle::Type(name) => format!("the type {name} has changed"),
        Obstacle::Entry => "the entry point has changed".to_owned(),
        Obstacle::Room => "there is no more room for new code".to_owned(),
    }
}

/// ` (SIGSEGV)`
fn name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map_or(String::new(), |n| format!(" ({n})"))
}
