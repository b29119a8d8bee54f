//! `taipan watch check`

use std::sync::Arc;

use taipan_base::Db;
use taipan_driver::{Config, Database, LoadOptions, Past, Reader, Timings};
use taipan_watch::{Answer, Choice, Job, Work};

use super::{Shown, Task};
use crate::args::{CheckArgs, CheckFormat};
use crate::check::{Checked, check_targets, rendered};
use crate::closing::problems;
use crate::output::{Context, color, failure_text, listing};
use crate::project::targets;

pub(super) struct Check {
    args: CheckArgs,
    load: LoadOptions,
    config: Config,
}

impl Check {
    pub(super) fn new(args: CheckArgs, context: &Context) -> Check {
        Check {
            args,
            load: context.load.clone(),
            config: context.config.clone(),
        }
    }
}

impl Task for Check {
    type Outcome = Checked;

    fn title(&self) -> String {
        let paths: Vec<&str> = self.args.paths.iter().map(|p| p.as_str()).collect();
        format!("check {}", paths.join(" "))
    }

    fn job(&mut self) -> Job<Checked> {
        let (args, load, config) = (self.args.clone(), self.load.clone(), self.config.clone());
        let (paths, common) = (args.paths, args.common);
        let chosen = move |reader: &dyn Reader| targets(&paths, reader, &config);
        let work = {
            let chosen = chosen.clone();
            move |db: &Database, timings: &mut Timings| {
                check_targets(chosen(db), db, (&load, &common), timings)
            }
        };
        let work: Arc<Work<Checked>> = Arc::new(work);
        let choice = Choice::new(None);
        Job::new(work.clone())
            .warming_up(move |db| drop(work(db, &mut Timings::default())))
            .if_concerned(move |db| choice.differs(chosen(&Past(db.system())).ok()))
    }

    fn show(&mut self, db: &Database, answer: &mut Answer<Checked>) -> Shown {
        let checked = match &answer.round.outcome {
            Ok(checked) => checked,
            Err(e) => return Shown::fault(e),
        };
        let color = color();
        let mut body: String = (checked.failures.iter())
            .map(|f| failure_text(db, f, color))
            .collect();
        let mut output = None;
        match self.args.format {
            CheckFormat::Text => body.push_str(&listing(db, &checked.found, color)),
            format => output = Some(rendered(format, db, &checked.found)),
        }
        let status = match (problems(&checked.found), checked.failures.is_empty()) {
            (Some(problems), _) => problems,
            (None, true) => "no errors".to_owned(),
            (None, false) => "not everything could be checked".to_owned(),
        };
        Shown {
            ok: checked.exit_code() == 0,
            status,
            body,
            output,
            clear: true,
        }
    }
}
