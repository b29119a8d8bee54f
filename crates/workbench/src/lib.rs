//! A program in memory that is compiled, edited and compiled again: what tests and benches of the
//! whole compiler share.
//!
//! ```ignore
//! use taipan_workbench::Workbench;
//!
//! let mut bench = Workbench::of("def entry_point(argv):\n    return 1\n");
//! assert!(bench.check().diagnostics.is_empty());
//! bench.edit("/main.py", "def entry_point(argv):\n    return 1 + 'a'\n");
//! assert!(!bench.check().diagnostics.is_empty());
//! ```
//!
//! **Architecture invariants.** Used by tests and benches only. Stands on the driver; tests of the
//! crates below have `taipan-testkit`.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{MemorySystem, Program, System, sync};
use taipan_driver::{
    CallOutcome, CallRequest, Checked, Database, EmitForm, EmitRequest, Engine, Failure,
    LoadOptions, QueryEvent, Stage, Timings, call, checked, compile_native, emit, load,
    parse_literal,
};

/// The target where none is named.
const MAIN: &str = "/main.py";

/// A database over files in memory.
pub struct Workbench {
    /// The database. Whoever works on it directly keeps to [`Workbench::system`]'s files.
    pub db: Database,
    /// The files.
    pub system: Arc<MemorySystem>,
    /// The file that programs are loaded from.
    pub target: Utf8PathBuf,
    /// How it is loaded.
    pub options: LoadOptions,
}

impl Workbench {
    /// A program of one file, `/main.py`.
    pub fn of(source: &str) -> Workbench {
        Workbench::with(&[(MAIN, source)])
    }

    /// A program of several files, of which `/main.py` is the target.
    pub fn with(files: &[(&str, &str)]) -> Workbench {
        Workbench::of_files(files.iter().copied(), MAIN)
    }

    /// A program with a target of its own.
    pub fn of_files<P: AsRef<Utf8Path>, T: AsRef<str>>(
        files: impl IntoIterator<Item = (P, T)>,
        target: impl Into<Utf8PathBuf>,
    ) -> Workbench {
        let system = Arc::new(MemorySystem::new(taipan_prelude::SHIPPED));
        for (path, text) in files {
            system.write(path.as_ref(), text.as_ref());
        }
        Workbench {
            db: Database::new(system.clone() as Arc<dyn System>),
            system,
            target: target.into(),
            options: LoadOptions {
                // Tests run what they compile.
                trusted: true,
                ..LoadOptions::default()
            },
        }
    }

    /// Writes a file and tells the database.
    pub fn edit(&mut self, path: impl AsRef<Utf8Path>, text: &str) {
        self.edit_all([(path, text)]);
    }

    /// Writes several files and tells the database of all at once.
    pub fn edit_all<P: AsRef<Utf8Path>, T: AsRef<str>>(
        &mut self,
        files: impl IntoIterator<Item = (P, T)>,
    ) {
        let mut paths = Vec::new();
        for (path, text) in files {
            self.system.write(path.as_ref(), text.as_ref());
            paths.push(path.as_ref().to_owned());
        }
        sync(&mut self.db, &paths);
    }

    /// The program.
    ///
    /// # Panics
    /// The target is not there.
    pub fn program(&self) -> Program {
        self.program_of(&self.target)
    }

    /// The program of another target.
    ///
    /// # Panics
    /// It is not there.
    pub fn program_of(&self, target: &Utf8Path) -> Program {
        match load(&self.db, target, &self.options) {
            Ok(program) => program,
            Err(e) => panic!("{target}: {e:?}"),
        }
    }

    /// What a check of the program says.
    pub fn check(&self) -> Checked {
        self.check_of(&self.target)
    }

    /// What a check of another target says.
    pub fn check_of(&self, target: &Utf8Path) -> Checked {
        let program = self.program_of(target);
        checked(&self.db, program, &mut Timings::default())
    }

    /// The object file of the whole program.
    pub fn compile(&self) -> Result<Vec<u8>, Failure> {
        let timings = &mut Timings::default();
        compile_native(&self.db, &self.options, &self.target, timings)
    }

    /// What a stage made of the whole program, as text.
    pub fn emit(&self, stage: Stage) -> Result<String, Failure> {
        let request = EmitRequest {
            stage,
            file: self.target.clone(),
            func: None,
            inputs: None,
            form: EmitForm::Text,
            targets: Vec::new(),
        };
        emit(&self.db, &self.options, &request, &mut Timings::default())
    }

    /// Calls a function of the target with arguments that are written as literals.
    pub fn call(
        &self,
        func: &str,
        args: &[impl AsRef<str>],
        engine: Engine,
    ) -> Result<CallOutcome, Failure> {
        let request = CallRequest {
            file: self.target.clone(),
            func: func.to_owned(),
            args: args.iter().map(|a| parse_literal(a.as_ref())).collect(),
            engine,
            jit: None,
        };
        call(&self.db, &self.options, &request, &mut Timings::default())
    }

    /// The queries that ran since this was last asked, as `name key`, sorted; of those that are
    /// listed.
    pub fn ran(&self, queries: &[&str]) -> String {
        let log = self.db.take_log().into_iter();
        let ran = log.filter(|(query, _, event)| {
            *event == QueryEvent::Executed && queries.contains(&query.as_str())
        });
        let mut lines: Vec<String> = ran
            .map(|(query, key, _)| format!("{query} {key}\n"))
            .collect();
        lines.sort();
        lines.concat()
    }
}

/// The engines that functions are called on. By way of C each call takes most of a second, so that is
/// done where it is asked for (`TAIPAN_TEST_C=1`).
pub fn engines() -> impl Iterator<Item = Engine> {
    let by_way_of_c = std::env::var_os("TAIPAN_TEST_C").map(|_| Engine::C);
    [Engine::LLInterp, Engine::Native]
        .into_iter()
        .chain(by_way_of_c)
}
