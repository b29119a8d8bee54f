//! `taipan check`

use std::collections::HashSet;
use std::time::Instant;

use camino::Utf8PathBuf;
use taipan_base::{Diagnostic, Program, render_json, render_sarif};
use taipan_driver::{
    Database, Explainer, Extent, Failure, LoadOptions, Timings, checked as check_program, extent,
    guarded, has_errors, load, unreached_by_all,
};

use crate::args::{CheckArgs, CheckFormat, Common};
use crate::closing::{closing_line, problems};
use crate::output::{Context, apply, color, diagnostics_text, exit_code, listing, put, tell};
use crate::progress;
use crate::project::{Chosen, shortened, targets};
use taipan_server::fixed_files;

/// How many lines of explanation are worth reading.
const VERBOSE_LINES: usize = 60;

pub(crate) fn check(args: &CheckArgs) -> i32 {
    let context = match Context::once(&args.common, args.paths.first().map(|p| &**p)) {
        Ok(context) => context,
        Err(code) => return code,
    };
    let fixed = match args.fix.then(|| fix(args, context)) {
        Some(Err(code)) => return code,
        Some(Ok(count)) => count > 0,
        None => false,
    };
    let context = match fixed {
        // The files have changed.
        true => match Context::once(&args.common, args.paths.first().map(|p| &**p)) {
            Ok(context) => context,
            Err(code) => return code,
        },
        false => context,
    };
    if args.verbose {
        context.db.log().record_from_now();
    }
    if !args.quiet && args.format == CheckFormat::Text {
        progress::begin(context.db.log());
    }
    let paths: Vec<&str> = args.paths.iter().map(|p| p.as_str()).collect();
    context.go_on("check", &paths);
    let code = check_all(args, context);
    let code = context.finish(&args.common, code);
    if args.verbose {
        tell(&Explainer::default().round(&context.db).text(VERBOSE_LINES));
    }
    context.leave();
    code
}

/// Applies the fixes that are certain. Returns the number of fixed problems, or the exit code if a file cannot be
/// written.
fn fix(args: &CheckArgs, context: &mut Context) -> Result<usize, i32> {
    let Context {
        db,
        load,
        config,
        timings,
        ..
    } = context;
    let chosen = targets(&args.paths, db, config);
    let checked = check_targets(chosen, db, (load, &args.common), timings);
    let here = camino::absolute_utf8(".").unwrap_or_default();
    // Libraries along the path belong to other projects.
    let is_own = |d: &&Diagnostic| {
        let path = d.primary.map(|s| s.file.path(db));
        let inside =
            |folder: &Utf8PathBuf| folder != "" && path.is_some_and(|p| p.starts_with(folder));
        inside(&here) || inside(&config.root)
    };
    let own: Vec<Diagnostic> = checked.found.iter().filter(is_own).cloned().collect();
    let files = fixed_files(db, checked.programs, &own);
    for file in &files {
        if let Err(e) = std::fs::write(&file.path, &file.text) {
            tell(&format!("taipan: cannot write {}: {e}\n", file.path));
            return Err(2);
        }
        if !args.quiet {
            let problems = match file.count {
                1 => "1 problem".to_owned(),
                n => format!("{n} problems"),
            };
            let path = shortened(&file.path, &here);
            tell(&format!("taipan: fixed {problems} in {path}\n"));
        }
    }
    Ok(files.iter().map(|f| f.count).sum())
}

fn check_all(args: &CheckArgs, context: &mut Context) -> i32 {
    let Context {
        db,
        load,
        config,
        timings,
        since,
    } = context;
    let chosen = targets(&args.paths, db, config);
    let checked = check_targets(chosen, db, (load, &args.common), timings);
    let closing = (!args.quiet && args.format == CheckFormat::Text && !checked.programs.is_empty())
        .then(|| checked.closing(db, *since));
    progress::end();
    for f in &checked.failures {
        context.fail(f);
    }
    let code = match args.format {
        CheckFormat::Text => {
            tell(&listing(&context.db, &checked.found, color()));
            0
        }
        format => put(&format!(
            "{}\n",
            rendered(format, &context.db, &checked.found)
        )),
    };
    tell(&closing.unwrap_or_default());
    checked.exit_code().max(code)
}

/// What checking some targets gave.
pub(crate) struct Checked {
    /// The programs that could be looked at.
    programs: Vec<Program>,
    /// What is wrong with their programs.
    pub(crate) found: Vec<Diagnostic>,
    /// Why others could not be checked.
    pub(crate) failures: Vec<Failure>,
}

impl Checked {
    pub(crate) fn exit_code(&self) -> i32 {
        let failed = self.failures.iter().map(exit_code).max().unwrap_or(0);
        failed.max(i32::from(has_errors(&self.found)))
    }

    /// The line that tells how much it was.
    fn closing(&self, db: &Database, since: Instant) -> String {
        let mut whole = Extent::default();
        for program in &self.programs {
            whole.add(&extent(db, *program));
        }
        let ok = self.exit_code() == 0;
        let problems = problems(&self.found);
        let problems = problems.as_deref().or(ok.then_some("no errors"));
        closing_line(("checked", ""), &whole, since, problems, ok)
    }
}

pub(crate) fn check_targets(
    targets: Result<Vec<Chosen>, Failure>,
    db: &Database,
    (load_options, common): (&LoadOptions, &Common),
    timings: &mut Timings,
) -> Checked {
    let mut checked = Checked {
        programs: Vec::new(),
        found: Vec::new(),
        failures: Vec::new(),
    };
    let mut told = HashSet::new();
    let mut programs = Vec::new();
    match targets {
        Ok(targets) => {
            for target in targets {
                let mut options = load_options.clone();
                if let Some(own) = &target.options {
                    apply(own, &mut options, common);
                }
                let found = load(db, &target.file, &options).and_then(|program| {
                    checked.programs.push(program);
                    Ok(guarded(|| check_program(db, program, timings))?)
                });
                match found {
                    Ok(found) => {
                        for d in &found.diagnostics {
                            // What is wrong with a module that several targets import.
                            if told.insert((d.code, d.primary, d.message.clone())) {
                                checked.found.push(d.clone());
                            }
                        }
                        programs.push(found);
                    }
                    Err(f) => checked.failures.push(f),
                }
            }
        }
        Err(f) => checked.failures.push(f),
    }
    // What could not be checked might reach them.
    if checked.failures.is_empty() {
        for f in unreached_by_all(programs.iter()) {
            checked.found.extend(f.findings.iter().cloned());
        }
    }
    checked
}

/// Diagnostics for programs, on one line or more.
pub(crate) fn rendered(format: CheckFormat, db: &Database, found: &[Diagnostic]) -> String {
    match format {
        CheckFormat::Text => diagnostics_text(db, found, false),
        CheckFormat::Json => render_json(db, found).to_string(),
        CheckFormat::Sarif => render_sarif(db, found).to_string(),
    }
}
