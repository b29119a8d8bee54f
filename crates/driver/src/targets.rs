//! Which files of a folder are programs.

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::FileContents;

use crate::config::TargetConfig;
use crate::fault::Failure;
use crate::folders::{Reader, files_below};

/// The target files that some paths stand for: files themselves, and of folders the
/// files in them that define `target` or `entry_point`, sorted. A folder without any
/// is wrong usage, as is one that cannot be read.
pub fn find_targets(
    reader: &dyn Reader,
    paths: &[Utf8PathBuf],
) -> Result<Vec<Utf8PathBuf>, Failure> {
    let mut out = Vec::new();
    for path in paths {
        if !path.is_dir() {
            out.push(path.clone());
            continue;
        }
        let mut found = python_files(reader, path)?;
        found.retain(|file| {
            camino::absolute_utf8(file).is_ok_and(|file| match reader.read(&file) {
                FileContents::Text(text) => is_target(&text),
                _ => false,
            })
        });
        if found.is_empty() {
            return Err(Failure::Usage(format!(
                "{path}: no file in it defines `target` or `entry_point`"
            )));
        }
        found.sort();
        out.extend(found);
    }
    Ok(out)
}

/// The files of configured targets, each with its options.
pub fn configured_targets(
    reader: &dyn Reader,
    targets: &[TargetConfig],
) -> Result<Vec<(Utf8PathBuf, TargetConfig)>, Failure> {
    let mut out = Vec::new();
    for target in targets {
        let found = find_targets(reader, std::slice::from_ref(&target.file))?;
        out.extend(found.into_iter().map(|file| (file, target.clone())));
    }
    Ok(out)
}

/// The files of Python in and below a folder, hidden folders and `node_modules` left out.
pub fn python_files(reader: &dyn Reader, folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Failure> {
    let enters = |name: &str| !name.starts_with('.') && name != "node_modules";
    files_below(reader, folder, &enters, &|file| {
        file.ends_with(".py") && !file.starts_with('.')
    })
}

/// Whether a text looks like that of a target file.
pub fn is_target(text: &str) -> bool {
    text.lines()
        .any(|l| l.starts_with("def target(") || l.starts_with("def entry_point("))
}
