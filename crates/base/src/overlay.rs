//! Open editor buffers over the files of another system.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{EarlierTexts, FileContents, Questions, System};

/// A system whose files are those of another one, except where an editor has them
/// open: there the buffer's text counts, saved or not.
pub struct Overlay {
    under: Arc<dyn System>,
    buffers: Mutex<HashMap<Utf8PathBuf, Buffer>>,
}

struct Buffer {
    text: Arc<str>,
    earlier: EarlierTexts,
}

impl Overlay {
    /// Nothing is open yet.
    pub fn new(under: Arc<dyn System>) -> Self {
        Overlay {
            under,
            buffers: Mutex::default(),
        }
    }

    /// Opens a buffer or replaces its text, with the texts that it had before
    /// ([`crate::File::earlier`]). A database that has read the file must be told with
    /// [`crate::sync`].
    pub fn set(&self, path: impl Into<Utf8PathBuf>, text: Arc<str>, earlier: EarlierTexts) {
        self.lock().insert(path.into(), Buffer { text, earlier });
    }

    /// Closes a buffer: the file below counts again.
    pub fn close(&self, path: &Utf8Path) {
        self.lock().remove(path);
    }

    /// Whether a buffer is open.
    pub fn is_open(&self, path: &Utf8Path) -> bool {
        self.lock().contains_key(path)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Utf8PathBuf, Buffer>> {
        self.buffers.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl System for Overlay {
    fn current_folder(&self) -> Option<&Utf8Path> {
        self.under.current_folder()
    }

    fn read(&self, path: &Utf8Path) -> FileContents {
        match self.lock().get(path) {
            Some(buffer) => FileContents::Text(buffer.text.clone()),
            None => self.under.read(path),
        }
    }

    fn questions(&self) -> Option<&Questions> {
        self.under.questions()
    }

    fn earlier(&self, path: &Utf8Path) -> EarlierTexts {
        let buffers = self.lock();
        let buffer = buffers.get(path);
        buffer.map(|b| b.earlier.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    #[test]
    fn a_buffer_hides_the_file_until_it_is_closed() {
        let disk = MemorySystem::new(&[]);
        disk.write("/a.py", "disk");
        let overlay = Overlay::new(Arc::new(disk));
        let path = Utf8Path::new("/a.py");
        let text = |t: &str| FileContents::Text(t.into());
        assert_eq!(overlay.read(path), text("disk"));
        overlay.set(path, "buffer".into(), EarlierTexts::default());
        assert_eq!(overlay.read(path), text("buffer"));
        overlay.close(path);
        assert_eq!(overlay.read(path), text("disk"));
        assert_eq!(overlay.read(Utf8Path::new("/b.py")), FileContents::Missing);
    }
}
