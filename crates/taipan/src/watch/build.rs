//! `taipan watch build`

use std::sync::Arc;

use taipan_driver::{
    Database, Failure, LoadOptions, wasmgc_script, web_folder, web_folder_with_collector,
};
use taipan_watch::{Answer, By, Job, Rebuild};

use super::{Shown, Task};
use crate::args::{Backend, BuildArgs};
use crate::output::{Context, color, failure_text};
use crate::run::{output_of, source_options, supported_c, watchable};

pub(super) struct Build(Arc<Rebuild>);

impl Build {
    pub(super) fn new(args: &BuildArgs, context: &Context) -> Result<Build, Failure> {
        watchable(&args.code, args.for_machine.machine())?;
        supported_c(args)?;
        let other = [
            (args.extension, "--extension"),
            (args.library.shared, "--shared"),
        ];
        if let Some((_, option)) = other.iter().find(|(is, _)| *is) {
            let text = format!("{option}: `watch build` keeps executables up to date");
            return Err(Failure::Usage(text));
        }
        if args.c.profopt.is_some() || args.c.profile.is_some() {
            let text =
                "--profopt and --profile are for one build: a profile is of the program as it was";
            return Err(Failure::Usage(text.to_owned()));
        }
        let optimising = args.optimising()?;
        let (target, mut output) = (
            args.target.clone(),
            output_of(&context.db, &context.load, args),
        );
        let with_collector = args.code.backend == Some(Backend::Wasmgc);
        match (args.for_machine.web(), with_collector) {
            (true, true) => output = web_folder_with_collector(&target, &output)?,
            (true, false) => output = web_folder(&target, &output)?,
            (false, true) => wasmgc_script(&output)?,
            (false, false) => {}
        }
        let load = LoadOptions {
            checked: args.code.checked(),
            debug: args.debug(),
            collector: args.code.collector.gc(),
            machine: args.for_machine.machine(),
            passes: args.code.passes(),
            translation: args.code.translation(),
            ..context.load.clone()
        };
        let rebuild = Rebuild::new(target, output, load, optimising, by(args));
        Ok(Build(Arc::new(rebuild)))
    }
}

fn by(args: &BuildArgs) -> By {
    match args.code.backend_of_executables(args.for_machine.machine()) {
        Backend::C => By::C(source_options(args)),
        Backend::Llvm => By::Llvm(source_options(args)),
        Backend::Wasmgc => By::Wasmgc,
        Backend::Cranelift | Backend::Python => By::Cranelift,
    }
}

impl Task for Build {
    type Outcome = Result<(), Failure>;

    fn title(&self) -> String {
        format!("build {} -o {}", self.0.target(), self.0.output())
    }

    fn job(&mut self) -> Job<Self::Outcome> {
        let (rebuild, warm) = (self.0.clone(), self.0.clone());
        Job::new(Arc::new(move |db, timings| rebuild.build(db, timings)))
            .warming_up(move |db| warm.warm_up(db))
    }

    fn show(&mut self, db: &Database, answer: &mut Answer<Self::Outcome>) -> Shown {
        let output = self.0.output();
        match &answer.round.outcome {
            Ok(Ok(())) => Shown::well(format!("built {output}")),
            Ok(Err(f)) => Shown {
                ok: false,
                status: format!("{output} is as it was"),
                body: failure_text(db, f, color()),
                output: None,
                clear: true,
            },
            Err(e) => Shown::fault(e),
        }
    }
}
