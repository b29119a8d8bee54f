//! `taipan check`

use camino::Utf8PathBuf;
use taipan_base::{render_json, render_sarif};
use taipan_driver::{
    Explainer, Failure, check as check_program, find_targets, guarded, has_errors, load,
};

use crate::args::{CheckArgs, CheckFormat};
use crate::output::Context;

/// How many lines of explanation are worth reading.
const VERBOSE_LINES: usize = 60;

pub(crate) fn check(args: &CheckArgs) -> i32 {
    let context = &mut Context::new(&args.common, args.paths.first().map(|p| &**p));
    if args.verbose {
        context.db.log().record_from_now();
    }
    let code = check_all(args, context);
    context.finish(&args.common);
    if args.verbose {
        eprint!(
            "{}",
            Explainer::default().round(&context.db).text(VERBOSE_LINES)
        );
    }
    code
}

fn check_all(args: &CheckArgs, context: &mut Context) -> i32 {
    let targets = match targets(args, context) {
        Ok(t) => t,
        Err(f) => return context.fail(&f),
    };
    let mut all = Vec::new();
    let mut code = 0;
    for target in targets {
        let db = &context.db;
        let load_options = &context.load;
        let found = context.timings.phase("check", || {
            load(db, &target, load_options)
                .and_then(|program| Ok(guarded(|| check_program(db, program))?))
        });
        match found {
            Ok(found) => all.extend(found),
            Err(f) => code = code.max(context.fail(&f)),
        }
    }
    match args.format {
        CheckFormat::Text => context.print(&all),
        CheckFormat::Json => println!("{}", render_json(&context.db, &all)),
        CheckFormat::Sarif => println!("{}", render_sarif(&context.db, &all)),
    }
    code.max(i32::from(has_errors(&all)))
}

/// The target files that the arguments stand for; without arguments the configured
/// targets, else this folder.
fn targets(args: &CheckArgs, context: &Context) -> Result<Vec<Utf8PathBuf>, Failure> {
    let configured = &context.config.targets;
    if !args.paths.is_empty() {
        find_targets(&args.paths)
    } else if !configured.is_empty() {
        find_targets(configured)
    } else {
        find_targets(&[".".into()])
    }
}
