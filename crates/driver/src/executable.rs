//! Executables of object files that compilers make of texts: plainly, or by a profile.
//!
//! ```text
//! texts ──► objects that count ──► executable ──run──► profile ─┐
//!   └───────────────────────────────────────────────────────────┴─► objects ──► executable
//! ```

use std::io;

use camino::Utf8Path;
use taipan_codegen::gdb_object;
use taipan_language::Machine;
use taipan_lltype::FuncSym;

use crate::db::Database;
use crate::fault::Failure;
use crate::link::link_with_cache;
use crate::profile::{Counting, Profile, ProfileOptions, obtain};
use crate::stages::lowlevel_errors::codegen_failure;
use crate::timing::Timings;

/// What object files have to do with profiles.
#[derive(Clone, Copy)]
pub(crate) enum Profiled<'a> {
    /// Nothing.
    No,
    /// They count.
    Counts(&'a Counting),
    /// They are made by counts.
    By(&'a Counting, &'a Profile),
}

impl Profiled<'_> {
    /// What the compiler is told so that a program counts.
    pub(crate) fn counts(&self) -> Vec<String> {
        let flags = match self {
            Profiled::Counts(counting) => counting.counts(),
            Profiled::No | Profiled::By(..) => &[],
        };
        flags.iter().map(|f| (*f).to_owned()).collect()
    }
}

/// What makes object files of a program's texts.
pub(crate) trait Compilers {
    /// The object files.
    fn objects(
        &self,
        profiled: Profiled<'_>,
        timings: &mut Timings,
    ) -> Result<Vec<Vec<u8>>, Failure>;

    /// What the C compiler is told where it links them.
    fn link(&self, profiled: Profiled<'_>) -> Result<Vec<String>, Failure>;

    /// How they count.
    fn counting(&self) -> Result<Counting, Failure>;

    /// What a profile depends on besides the texts.
    fn identity(&self) -> String;

    /// Names and texts.
    fn texts(&self) -> Vec<(&str, &str)>;
}

/// An executable that is to be made.
pub(crate) struct Executable<'a> {
    pub(crate) db: &'a Database,
    pub(crate) machine: Machine,
    /// Whether debuggers get Taipan's script with it.
    pub(crate) debug: bool,
    /// The functions of C libraries that the program brings.
    pub(crate) foreign: &'a [FuncSym],
    pub(crate) output: &'a Utf8Path,
}

impl Executable<'_> {
    /// Makes it, by a profile if there is to be one.
    pub(crate) fn make(
        &self,
        compilers: &impl Compilers,
        profile: Option<&ProfileOptions>,
        timings: &mut Timings,
    ) -> Result<(), Failure> {
        let make = |profiled: Profiled<'_>, output: &Utf8Path, timings: &mut Timings| {
            let mut objects = compilers.objects(profiled, timings)?;
            // The script is for debuggers of ELF executables.
            if self.debug && !self.machine.is_wasm() {
                let script = gdb_object(self.machine).map_err(|e| codegen_failure(&e))?;
                objects.push(script);
            }
            let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
            let flags = compilers.link(profiled)?;
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let (cache, machine) = (self.db.cache(), self.machine);
            timings
                .phase("link", || {
                    link_with_cache(&cache, machine, &objects, self.foreign, &flags, output)
                })
                .map_err(|e| self.failed(e))
        };
        let Some(options) = profile else {
            return make(Profiled::No, self.output, timings);
        };
        let counting = compilers.counting()?;
        let (identity, texts) = (compilers.identity(), compilers.texts());
        let build = |program: &Utf8Path, timings: &mut Timings| {
            make(Profiled::Counts(&counting), program, timings)
        };
        let profile = obtain(options, &counting, &identity, &texts, timings, build)?;
        make(Profiled::By(&counting, &profile), self.output, timings)
    }

    /// That it cannot be made.
    pub(crate) fn failed(&self, e: io::Error) -> Failure {
        Failure::Usage(format!("{}: {e}", self.output))
    }
}
