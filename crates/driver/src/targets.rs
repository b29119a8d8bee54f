//! Which files of a folder are programs.

use camino::{Utf8Path, Utf8PathBuf};

use crate::Failure;

/// The target files that some paths stand for: files themselves, and of folders the
/// files in them that define `target` or `entry_point`, sorted. A folder without any
/// is wrong usage, as is one that cannot be read.
pub fn find_targets(paths: &[Utf8PathBuf]) -> Result<Vec<Utf8PathBuf>, Failure> {
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

/// Whether a text looks like that of a target file.
pub fn is_target(text: &str) -> bool {
    text.lines()
        .any(|l| l.starts_with("def target(") || l.starts_with("def entry_point("))
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
            && std::fs::read_to_string(path).is_ok_and(|text| is_target(&text))
        {
            out.push(path.to_owned());
        }
    }
    Ok(())
}
