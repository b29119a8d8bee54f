//! `taipan clean`: removes what is kept between processes.

use camino::Utf8Path;
use taipan_base::forget_answers;
use taipan_driver::{Database, clean_cache, default_cache_folder};

use crate::args::CleanArgs;
use crate::output::{project_config, put, tell};

pub(crate) fn clean(args: &CleanArgs) -> i32 {
    let target = args.path.as_deref().unwrap_or(Utf8Path::new("."));
    if !target.exists() {
        tell(&format!("taipan: there is no {target}\n"));
        return 2;
    }
    let (config, _) = project_config(&Database::default(), target);
    let folder = match args.cache_dir.as_ref().or(config.cache_dir.as_ref()) {
        Some(folder) => folder.clone(),
        None => default_cache_folder(target),
    };
    let code = match clean_cache(&folder, args.dry_run) {
        Ok((0, _)) => put(&format!("Nothing to remove in {folder}\n")),
        Ok((files, bytes)) => {
            let verb = if args.dry_run {
                "Would remove"
            } else {
                "Removed"
            };
            let noun = if files == 1 { "file" } else { "files" };
            let megabytes = bytes as f64 / 1e6;
            put(&format!(
                "{verb} {files} {noun}, {megabytes:.1} MB, in {folder}\n"
            ))
        }
        Err(e) => {
            tell(&format!("taipan: cannot remove {folder}: {e}\n"));
            2
        }
    };
    code.max(clean_answers(args.dry_run))
}

/// Removes what the C compiler has made, which no project has for itself. Returns the exit code.
fn clean_answers(dry_run: bool) -> i32 {
    match forget_answers(dry_run) {
        Ok(0) => 0,
        Ok(n) => {
            let verb = if dry_run { "Would remove" } else { "Removed" };
            let noun = if n == 1 { "file" } else { "files" };
            put(&format!("{verb} {n} {noun} made by the C compiler\n"))
        }
        // No folder of the user's, no answers in it.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => 0,
        Err(e) => {
            tell(&format!("taipan: answers of the C compiler: {e}\n"));
            2
        }
    }
}
