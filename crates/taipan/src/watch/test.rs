//! `taipan watch test`

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use taipan_base::Db;
use taipan_driver::{Database, Failure, Past};
use taipan_testing::{TestEngine, TestOptions, TestReport, run, test_files, warm_up};
use taipan_watch::{Answer, Choice, Job};

use super::{Shown, Task};
use crate::args::TestArgs;
use crate::output::{Context, color, failure_text};
use crate::test::{
    Style, coverage, details, exit_code, json_lines, junit, lines, options, summary,
};

pub(super) struct Test {
    args: TestArgs,
    options: TestOptions,
    /// The next round runs all tests.
    all: Arc<AtomicBool>,
    /// The test files before the first change.
    files: Vec<camino::Utf8PathBuf>,
}

impl Test {
    pub(super) fn new(args: &TestArgs, context: &mut Context) -> Result<Test, Failure> {
        let options = options(args, context)?;
        // The interpreter of graphs works on the database all the time, in child processes: of what other
        // threads are doing to it these would see half.
        if !matches!(options.engine, TestEngine::Auto | TestEngine::Native) {
            let text = "watched tests run as machine code: leave out --engine";
            return Err(Failure::Usage(text.to_owned()));
        }
        Ok(Test {
            args: args.clone(),
            files: test_files(&context.db, &options)?,
            options,
            all: Arc::default(),
        })
    }

    fn shown(&self, db: &Database, report: &TestReport) -> Shown {
        let style = Style::new(&self.args, color());
        let mut body = String::new();
        if self.options.collect_only || style.verbosity > 0 {
            for line in lines(style, report) {
                body += &format!("{line}\n");
            }
        }
        body += &details(db, style, report);
        body += &coverage::section(db, &self.args, style, report);
        if let Err(e) = coverage::write_files(db, &self.args, report) {
            body += &format!("taipan: {e}\n");
        }
        if let Some(file) = &self.args.junit_xml
            && let Err(e) = junit::write(db, report, file)
        {
            body += &format!("taipan: {file}: {e}\n");
        }
        let output = (self.args.json)
            .then(|| json_lines(db, report).join("\n"))
            .filter(|lines| !lines.is_empty());
        Shown {
            ok: exit_code(report) == 0,
            status: summary(&self.options, report),
            body,
            output,
            clear: true,
        }
    }
}

impl Task for Test {
    type Outcome = Result<TestReport, Failure>;

    fn title(&self) -> String {
        let paths: Vec<&str> = self.args.paths.iter().map(|p| p.as_str()).collect();
        format!("test {}", paths.join(" "))
    }

    fn job(&mut self) -> Job<Self::Outcome> {
        let options = self.options.clone();
        let all = self.all.clone();
        let work = move |db: &Database, timings: &mut taipan_driver::Timings| {
            let mut options = options.clone();
            options.all |= all.load(Ordering::Relaxed);
            let report = run(db, &options, timings, &mut ());
            // A round that was cancelled did not get here: the next one runs all.
            all.store(false, Ordering::Relaxed);
            report
        };
        let (warm, listed) = (self.options.clone(), self.options.clone());
        let choice = Choice::new(Some(std::mem::take(&mut self.files)));
        Job::new(Arc::new(work))
            .warming_up(move |db| warm_up(db, &warm))
            .if_concerned(move |db| choice.differs(test_files(&Past(db.system()), &listed).ok()))
    }

    fn show(&mut self, db: &Database, answer: &mut Answer<Self::Outcome>) -> Shown {
        match &answer.round.outcome {
            Ok(Ok(report)) => self.shown(db, report),
            Ok(Err(f)) => Shown {
                ok: false,
                status: "no tests ran".to_owned(),
                body: failure_text(db, f, color()),
                output: None,
                clear: true,
            },
            Err(e) => Shown::fault(e),
        }
    }

    fn keys(&self) -> &'static str {
        " · a run all"
    }

    fn key(&mut self, key: char) -> bool {
        if key == 'a' {
            self.all.store(true, Ordering::Relaxed);
        }
        key == 'a'
    }
}
