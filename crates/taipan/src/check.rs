//! `taipan check`

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{render_json, render_sarif};
use taipan_driver::{Explainer, Failure, check as check_program, guarded, has_errors, load};

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
    let targets = match targets(&args.paths) {
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

/// The target files that the arguments stand for: files themselves, and of folders
/// the files that define `target` or `entry_point`. Without arguments, this folder.
fn targets(paths: &[Utf8PathBuf]) -> Result<Vec<Utf8PathBuf>, Failure> {
    let here = [Utf8PathBuf::from(".")];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let mut out = Vec::new();
    for path in paths {
        if !path.is_dir() {
            out.push(path.clone());
            continue;
        }
        let before = out.len();
        search(path, &mut out, 0).map_err(|e| Failure::Usage(format!("{path}: {e}")))?;
        if out.len() == before {
            return Err(Failure::Usage(format!(
                "{path}: no file in it defines `target` or `entry_point`"
            )));
        }
    }
    Ok(out)
}

fn search(folder: &Utf8Path, out: &mut Vec<Utf8PathBuf>, depth: u32) -> std::io::Result<()> {
    // Deep enough for any source tree; symbolic links may make cycles.
    if depth > 32 {
        return Ok(());
    }
    let mut entries: Vec<_> = folder.read_dir_utf8()?.collect::<Result<_, _>>()?;
    entries.sort_by(|a, b| a.path().cmp(b.path()));
    for entry in entries {
        let path = entry.path();
        if path.file_name().is_some_and(|n| n.starts_with('.')) {
            continue;
        }
        if path.is_dir() {
            search(path, out, depth + 1)?;
        } else if path.extension() == Some("py")
            && let Ok(text) = std::fs::read_to_string(path)
            && text
                .lines()
                .any(|l| l.starts_with("def target(") || l.starts_with("def entry_point("))
        {
            out.push(path.to_owned());
        }
    }
    Ok(())
}
