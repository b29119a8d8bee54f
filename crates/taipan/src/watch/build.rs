//! `taipan watch build`

use std::sync::Arc;

use camino::Utf8PathBuf;
use taipan_driver::watch::{Answer, Work};
use taipan_driver::{Database, Failure, LoadOptions};

use super::{Shown, Task};
use crate::args::BuildArgs;
use crate::output::{Context, color, failure_text};
use crate::run::{output_of, supported};

pub(super) struct Build {
    target: Utf8PathBuf,
    output: Utf8PathBuf,
    optimize: u8,
    load: LoadOptions,
}

impl Build {
    pub(super) fn new(args: &BuildArgs, context: &Context) -> Result<Build, Failure> {
        supported(&args.code)?;
        Ok(Build {
            target: args.target.clone(),
            output: output_of(args),
            optimize: args.code.optimize,
            load: context.load.clone(),
        })
    }
}

impl Task for Build {
    type Outcome = Result<(), Failure>;

    fn title(&self) -> String {
        format!("build {} -o {}", self.target, self.output)
    }

    fn work(&mut self) -> Arc<Work<Self::Outcome>> {
        let (target, output) = (self.target.clone(), self.output.clone());
        let (load, optimize) = (self.load.clone(), self.optimize);
        Arc::new(move |db, timings| {
            taipan_driver::build(db, &load, &target, &output, optimize, timings)
        })
    }

    fn show(&mut self, db: &Database, answer: &mut Answer<Self::Outcome>) -> Shown {
        match &answer.round.outcome {
            Ok(Ok(())) => Shown::well(format!("built {}", self.output)),
            Ok(Err(f)) => Shown {
                ok: false,
                status: format!("{} is as it was", self.output),
                body: failure_text(db, f, color()),
                output: None,
                clear: true,
            },
            Err(e) => Shown::fault(e),
        }
    }
}
