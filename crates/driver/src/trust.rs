//! Folders that the user trusts: native code of theirs may run while they are only checked or edited.
//!
//! The list is a file of the user's configuration with one folder per line. Nothing in a project can
//! change it or stand in for it.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

/// The list of trusted folders.
pub struct TrustedFolders {
    file: PathBuf,
    folders: Vec<Utf8PathBuf>,
}

impl TrustedFolders {
    /// Reads the user's list. It is empty if there is no file yet.
    ///
    /// # Errors
    /// The file cannot be read, or another user may write to it.
    pub fn read() -> io::Result<TrustedFolders> {
        let file = file()?;
        let folders = match fs::metadata(&file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e),
            Ok(meta) => {
                // SAFETY: geteuid() cannot fail.
                let is_own = meta.uid() == unsafe { libc::geteuid() } && meta.mode() & 0o022 == 0;
                if !is_own {
                    let text = format!("{}: others may write to it", file.display());
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
                }
                let text = fs::read_to_string(&file)?;
                text.lines()
                    .filter(|l| !l.is_empty())
                    .map(Into::into)
                    .collect()
            }
        };
        Ok(TrustedFolders { file, folders })
    }

    /// The folders, sorted.
    pub fn folders(&self) -> &[Utf8PathBuf] {
        &self.folders
    }

    /// Whether a folder or one above it is on the list.
    pub fn contains(&self, folder: &Utf8Path) -> bool {
        let Ok(real) = folder.canonicalize_utf8() else {
            return false;
        };
        real.ancestors()
            .any(|f| self.folders.iter().any(|t| t == f))
    }

    /// Adds a folder, and returns its real path.
    ///
    /// # Errors
    /// There is no such folder, or the list cannot be written.
    pub fn add(&mut self, folder: &Utf8Path) -> io::Result<Utf8PathBuf> {
        let real = folder.canonicalize_utf8()?;
        if !real.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        if real.as_str().contains('\n') {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        if !self.folders.contains(&real) {
            self.folders.push(real.clone());
            self.folders.sort();
            self.write()?;
        }
        Ok(real)
    }

    /// Removes a folder. Returns its path on the list, or none if it is not there. A folder that is gone
    /// can be named as the list has it.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn remove(&mut self, folder: &Utf8Path) -> io::Result<Option<Utf8PathBuf>> {
        let real = (folder.canonicalize_utf8()).unwrap_or_else(|_| folder.to_owned());
        let before = self.folders.len();
        self.folders.retain(|f| *f != real);
        if self.folders.len() == before {
            return Ok(None);
        }
        self.write()?;
        Ok(Some(real))
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(&self.file);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let new = self.file.with_extension(std::process::id().to_string());
        let mut file = (OpenOptions::new().write(true).create(true).truncate(true))
            .mode(0o600)
            .open(&new)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        for folder in &self.folders {
            writeln!(file, "{folder}")?;
        }
        fs::rename(new, &self.file)
    }
}

/// Whether the user trusts a folder. A list that cannot be read trusts none.
pub(crate) fn is_trusted(folder: &Utf8Path) -> bool {
    TrustedFolders::read().is_ok_and(|trusted| trusted.contains(folder))
}

/// Where the list is: `$XDG_CONFIG_HOME/taipan/trusted`, or `$HOME/.config/taipan/trusted`.
fn file() -> io::Result<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    let missing = || io::Error::new(io::ErrorKind::NotFound, "HOME names no folder");
    Ok(base.ok_or_else(missing)?.join("taipan/trusted"))
}
