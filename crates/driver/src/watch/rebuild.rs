//! An executable that is kept up to date.

use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use crate::compile::{build_image, image_object, link};
use crate::{Database, Failure, LoadOptions, Timings, guarded};

/// Builds an executable again and again.
pub struct Rebuild {
    target: Utf8PathBuf,
    output: Utf8PathBuf,
    load: LoadOptions,
    /// The object file of the executable that is there.
    linked: Mutex<Option<Vec<u8>>>,
}

impl Rebuild {
    /// Of that target.
    pub fn new(target: Utf8PathBuf, output: Utf8PathBuf, load: LoadOptions) -> Rebuild {
        Rebuild {
            target,
            output,
            load,
            linked: Mutex::default(),
        }
    }

    /// The target file.
    pub fn target(&self) -> &Utf8Path {
        &self.target
    }

    /// The executable.
    pub fn output(&self) -> &Utf8Path {
        &self.output
    }

    /// Builds it; whoever looks at the executable sees the one of before or the new one.
    /// The same code is not linked twice: a program that lists the output's folder
    /// while it is imported would be built for ever.
    pub fn build(&self, db: &Database, timings: &mut Timings) -> Result<(), Failure> {
        let image = guarded(|| build_image(db, &self.load, &self.target, timings))??;
        let object = image_object(&image, timings)?;
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if linked.as_ref() == Some(&object) && self.output.exists() {
            return Ok(());
        }
        link(db, &image, &object, &self.output, timings)?;
        *linked = Some(object);
        Ok(())
    }

    /// Makes what [`Rebuild::build`] needs for the next edit.
    pub fn warm_up(&self, db: &Database) {
        // What goes wrong is said by whoever needs the program.
        let _ = build_image(db, &self.load, &self.target, &mut Timings::default());
    }
}
