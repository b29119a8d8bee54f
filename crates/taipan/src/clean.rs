//! `taipan clean`: removes what is kept between processes.

use camino::Utf8Path;
use taipan_base::forget_answers;
use taipan_driver::{Database, clean_cache, clean_old_cache, default_cache_folder};

use crate::args::CleanArgs;
use crate::output::{project_config, put, tell};
use crate::place::Place;

pub(crate) fn clean(args: &CleanArgs) -> i32 {
    let target = args.path.as_deref().unwrap_or(Utf8Path::new("."));
    if !target.exists() {
        tell(&format!("taipan: there is no {target}\n"));
        return 2;
    }
    let (config, _) = project_config(&Database::default(), target);
    let place = Place::new(args.cache_dir.as_ref(), &config, target);
    let (folder, root) = match &place {
        Place::Folder(folder) => (Some(folder.clone()), None),
        Place::Project(root) => (default_cache_folder(root), Some(root)),
    };
    let mut code = match folder {
        Some(folder) => match clean_cache(&folder, args.dry_run) {
            Ok((0, _)) => put(&format!("Nothing to remove in {folder}\n")),
            Ok((files, bytes)) => removed(args, &folder, files, bytes),
            Err(e) => failed(&folder, &e),
        },
        None => put("Nothing to remove: there is no cache folder\n"),
    };
    if let Some(root) = root {
        code = code.max(match clean_old_cache(root, args.dry_run) {
            Ok(None) => 0,
            Ok(Some((folder, files, bytes))) => removed(args, &folder, files, bytes),
            Err(e) => failed(root, &e),
        });
    }
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

fn removed(args: &CleanArgs, folder: &Utf8Path, files: usize, bytes: u64) -> i32 {
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

fn failed(folder: &Utf8Path, e: &std::io::Error) -> i32 {
    tell(&format!("taipan: cannot remove {folder}: {e}\n"));
    2
}
