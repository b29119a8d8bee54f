//! An executable that is kept up to date.

use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use taipan_driver::parts::{
    ImageUse, build_image, bundle, c_files, compile_c, compile_llvm, image_object, link,
    llvm_texts, write_executable,
};
use taipan_driver::{
    COptions, Database, Failure, LoadOptions, Optimising, Timings, guarded, wasmgc_module,
};

/// What makes machine code.
pub enum By {
    /// Cranelift.
    Cranelift,
    /// A C compiler, with these options.
    C(COptions),
    /// LLVM, with these options.
    Llvm(COptions),
    /// WebAssembly with the host's collector. The script or the page that runs it is there.
    Wasmgc,
}

/// Builds an executable again and again.
pub struct Rebuild {
    target: Utf8PathBuf,
    output: Utf8PathBuf,
    load: LoadOptions,
    /// Where it optimises code, if it compiles loops while it runs.
    jit: Option<Optimising>,
    by: By,
    /// The object file of the executable that is there, or the whole file.
    linked: Mutex<Option<Vec<u8>>>,
}

impl Rebuild {
    /// Of that target.
    pub fn new(
        target: Utf8PathBuf,
        output: Utf8PathBuf,
        load: LoadOptions,
        jit: Option<Optimising>,
        by: By,
    ) -> Rebuild {
        Rebuild {
            target,
            output,
            load,
            jit,
            by,
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
        if let Some(optimising) = self.jit
            && let Some(made) = bundle(db, &self.load, &self.target, ImageUse::Run, timings)?
        {
            return self.unless_there(made.executable(optimising)?, |file| {
                timings.phase("link", || write_executable(file, &self.output))
            });
        }
        if let By::Llvm(options) = &self.by {
            let program = llvm_texts(db, &self.load, &self.target, timings)?;
            return self.unless_there(program.bytes().collect(), |_| {
                compile_llvm(db, &program, &self.output, options, timings)
            });
        }
        if let By::C(c) = &self.by {
            let program = c_files(db, &self.load, &self.target, timings)?;
            let text = program
                .sources
                .iter()
                .flat_map(|f| f.text.bytes())
                .collect();
            return self.unless_there(text, |_| {
                compile_c(db, &self.load, &program, &self.output, c, timings)
            });
        }
        if matches!(self.by, By::Wasmgc) {
            let made = wasmgc_module(db, &self.load, &self.target, &self.output, timings)?;
            let mut all = made.module.clone();
            all.extend(made.source_map.iter().flat_map(|map| map.bytes()));
            return self.unless_there(all, |_| made.write(&self.output));
        }
        let image = guarded(|| build_image(db, &self.load, &self.target, timings))??;
        let object = image_object(&image, self.load.machine, timings)?;
        self.unless_there(object, |object| {
            link(db, &image, self.load.machine, object, &self.output, timings)
        })
    }

    /// Makes an executable of what it consists of, unless it is there.
    fn unless_there(
        &self,
        new: Vec<u8>,
        make: impl FnOnce(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if linked.as_ref() == Some(&new) && self.output.exists() {
            return Ok(());
        }
        make(&new)?;
        *linked = Some(new);
        Ok(())
    }

    /// Makes what [`Rebuild::build`] needs for the next edit.
    pub fn warm_up(&self, db: &Database) {
        // What goes wrong is said by whoever needs the program.
        if self.jit.is_some() {
            let timings = &mut Timings::default();
            let _ = bundle(db, &self.load, &self.target, ImageUse::Run, timings);
            return;
        }
        let timings = &mut Timings::default();
        match &self.by {
            By::C(_) => drop(c_files(db, &self.load, &self.target, timings)),
            By::Llvm(_) => drop(llvm_texts(db, &self.load, &self.target, timings)),
            By::Wasmgc => {
                let output = &self.output;
                drop(wasmgc_module(db, &self.load, &self.target, output, timings));
            }
            By::Cranelift => drop(build_image(db, &self.load, &self.target, timings)),
        }
    }
}
