//! The tests of a file as code: which of them are one program, what each depends on,
//! and the machine code of those that are to be run. From the cache where nothing that
//! this depends on has changed: then nothing of the file is compiled.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use taipan_annotator::Roots;
use taipan_base::{Diagnostic, Program};
use taipan_codegen::{Glue, Image, Place, SymbolRef};
use taipan_codegen_cranelift::LoadedImage;
use taipan_graph::ObjId;
use taipan_interp::Observed;
use taipan_lltype::FuncSym;
use taipan_rtyper::{FuncKeyKind, func_key};

use crate::collect::{Module, runners};
use crate::fingerprint::{Fingerprint, test_fingerprint};
use crate::group::{self, Groups, runner_sym};
use crate::{TestEngine, execute};
use taipan_driver::parts::{
    ImageUse, LLFunction, Question, StoredDiagnostics, codegen_failure, reaching, remember,
};
use taipan_driver::{Database, Failure, Timings, guarded, parts};

/// What is known of the tests of a file when they have been compiled. Tests are numbers
/// of cases.
#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    /// Tests that are one program, each with what it depends on, if that can be told.
    pub(super) groups: Vec<Vec<(usize, Option<Fingerprint>)>>,
    broken: Vec<(Vec<usize>, StoredDiagnostics)>,
    /// Tests that reach a `str()` of an instance, in ascending order: Python may make
    /// another text of it, by methods of its class.
    show_instances: Vec<usize>,
}

impl Plan {
    /// Whether a test may do as machine code something else than as Python, by what RPython
    /// itself says.
    pub(super) fn shows_instances(&self, case: usize) -> bool {
        self.show_instances.binary_search(&case).is_ok()
    }

    /// Tests that cannot be compiled, with what is wrong.
    pub(super) fn take_broken(&mut self, db: &Database) -> Vec<(usize, Vec<Diagnostic>)> {
        let broken = std::mem::take(&mut self.broken).into_iter();
        broken
            .flat_map(|(cases, problems)| {
                let problems = problems.restore(db);
                cases.into_iter().map(move |i| (i, problems.clone()))
            })
            .collect()
    }
}

/// The machine code of tests, not placed yet.
#[derive(Serialize, Deserialize)]
struct TestImage {
    image: Image,
    /// Where each test is entered.
    entries: Vec<(usize, Place)>,
}

/// What runs tests of a group in child processes.
pub(super) enum Runner {
    /// Their machine code.
    Native(Box<LoadedImage>, HashMap<usize, Place>),
    /// Their graphs.
    Interpreted(Roots, HashMap<usize, FuncSym>),
    /// Their bytecode. By their numbers in the module.
    Python(Program, HashMap<usize, usize>),
}

impl Runner {
    /// Runs a test in a child process. `observed`: of interpreted tests.
    pub(super) fn run(&self, db: &Database, case: usize, observed: Observed) {
        match self {
            Runner::Native(image, entries) => execute::run_native(image, entries.get(&case)),
            Runner::Interpreted(roots, syms) => {
                execute::run_interpreted(db, *roots, syms.get(&case));
            }
            Runner::Python(program, numbers) => {
                execute::run_as_python(db, *program, numbers[&case], observed);
            }
        }
    }
}

/// What runs tests of a module as Python. Import time is asked for here: children could
/// only do it once each.
pub(super) fn python(db: &Database, module: &Module) -> Result<Runner, Failure> {
    guarded(|| taipan_interp::image(db, module.program))?;
    let numbers = (module.cases.iter().enumerate()).map(|(i, c)| (i, c.test.number));
    Ok(Runner::Python(module.program, numbers.collect()))
}

/// Whether a function is a helper of that name, for whatever types.
fn is_helper(db: &Database, roots: Roots, f: &FuncSym, name: &str) -> bool {
    let key = func_key(db, roots, f);
    key.is_some_and(|k| matches!(k.kind(db), FuncKeyKind::Helper(h) if &**h.name(db) == name))
}

/// The tests of a file, compiled when somebody needs them.
pub(super) struct Code<'a> {
    db: &'a Database,
    module: &'a Module,
    engine: TestEngine,
    compiled: Option<Compiled>,
}

struct Compiled {
    groups: Groups,
    /// The tests that a function runs.
    by_runner: HashMap<ObjId, Vec<usize>>,
}

impl Compiled {
    /// The tests of a group with their functions.
    fn cases(&self, db: &Database, group: usize) -> Vec<(usize, FuncSym)> {
        let group = &self.groups.groups[group];
        let mut out = Vec::new();
        for runner in &group.runners {
            if let Some(sym) = runner_sym(db, group.roots, *runner) {
                out.extend(self.by_runner[runner].iter().map(|i| (*i, sym.clone())));
            }
        }
        out
    }
}

impl<'a> Code<'a> {
    pub(super) fn new(db: &'a Database, module: &'a Module, engine: TestEngine) -> Code<'a> {
        Code {
            db,
            module,
            engine,
            compiled: None,
        }
    }

    /// Which tests there are to run, and what they depend on.
    pub(super) fn plan(&mut self, timings: &mut Timings) -> Result<Plan, Failure> {
        if self.engine == TestEngine::LLInterp {
            return self.make_plan(timings);
        }
        let db = self.db;
        let names = self.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let question = Question {
            what: "test_plan",
            program: self.module.program,
            options: &names,
            extent: false,
        };
        guarded(|| remember(db, &question, |_| true, || self.make_plan(timings)))?
    }

    /// What runs some tests of a group of the plan.
    pub(super) fn runner(
        &mut self,
        group: usize,
        cases: &[usize],
        timings: &mut Timings,
    ) -> Result<Runner, Failure> {
        let db = self.db;
        if self.engine == TestEngine::LLInterp {
            let compiled = self.compiled(timings);
            let roots = compiled.groups.groups[group].roots;
            let syms = compiled.cases(db, group).into_iter().collect();
            return Ok(Runner::Interpreted(roots, syms));
        }
        let mut options = self.names();
        options.push(format!("group {group}"));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let question = Question {
            what: "test_image",
            program: self.module.program,
            options: &options,
            extent: false,
        };
        // What a later process takes over is for whichever of them it has to run.
        let wanted = (!db.takes_answers()).then_some(cases);
        // What C libraries do is known to them alone.
        let keeps = |i: &TestImage| i.image.foreign.is_empty();
        guarded(|| {
            let image = remember(db, &question, keeps, || {
                self.make_image(group, wanted, timings)
            })?;
            let loaded = timings.phase("load", || LoadedImage::new(image.image));
            let loaded = loaded.map_err(|e| codegen_failure(&e))?;
            let entries = image.entries.into_iter().collect();
            Ok(Runner::Native(Box::new(loaded), entries))
        })?
    }

    /// The function that runs the first test, and the program that it is part of.
    pub(super) fn entry(&mut self, timings: &mut Timings) -> Result<(Roots, FuncSym), Failure> {
        let db = self.db;
        let compiled = self.compiled(timings);
        if let Some((_, problems)) = compiled.groups.broken.first() {
            return Err(Failure::Diagnostics(problems.clone()));
        }
        let first = compiled.groups.groups.first();
        let entry = first.and_then(|group| {
            let (_, sym) = compiled.cases(db, 0).into_iter().next()?;
            Some((group.roots, sym))
        });
        entry.ok_or_else(|| Failure::Usage("the test has no code".to_owned()))
    }

    /// Which tests were chosen, for the cache.
    fn names(&self) -> Vec<String> {
        match self.module.whole {
            true => vec!["all".to_owned()],
            false => {
                let names = self.module.cases.iter().map(|c| c.test.name.clone());
                std::iter::once("some".to_owned()).chain(names).collect()
            }
        }
    }

    fn compiled(&mut self, timings: &mut Timings) -> &Compiled {
        let (db, module) = (self.db, self.module);
        self.compiled.get_or_insert_with(|| {
            let known = runners(db, module.program);
            let mut by_runner: HashMap<ObjId, Vec<usize>> = HashMap::new();
            let mut order = Vec::new();
            for (i, case) in module.cases.iter().enumerate() {
                let test = &case.test;
                if test.problem.is_some() || test.skip.is_some() || test.interpreted.is_some() {
                    continue;
                }
                if let Some(Some(runner)) = known.get(test.number) {
                    let all = by_runner.entry(runner.runner).or_default();
                    if all.is_empty() {
                        order.push(runner.clone());
                    }
                    all.push(i);
                }
            }
            let groups = group::compile(db, module.program, &order, module.whole, timings);
            Compiled { groups, by_runner }
        })
    }

    fn make_plan(&mut self, timings: &mut Timings) -> Result<Plan, Failure> {
        let (db, engine) = (self.db, self.engine);
        let compiled = self.compiled(timings);
        let mut groups = Vec::new();
        let mut show_instances = Vec::new();
        for (n, group) in compiled.groups.groups.iter().enumerate() {
            let mut cases = Vec::new();
            let all = compiled.cases(db, n);
            let entries: Vec<FuncSym> = all.iter().map(|(_, sym)| sym.clone()).collect();
            let shows = timings.phase("compare", || {
                let makes_text = |f: &FuncSym| is_helper(db, group.roots, f, "rclass.ll_inst_str");
                reaching(db, group.roots, &entries, makes_text)
            });
            show_instances.extend(
                all.iter()
                    .filter(|(_, f)| shows.contains(f))
                    .map(|(i, _)| *i),
            );
            for (i, sym) in all {
                let key = LLFunction::new(db, group.roots, sym);
                let fingerprint = match engine {
                    TestEngine::LLInterp => None,
                    _ => timings.phase("compare", || test_fingerprint(db, key)),
                };
                cases.push((i, fingerprint));
            }
            groups.push(cases);
        }
        let broken = compiled.groups.broken.iter().map(|(runner, problems)| {
            let cases = compiled.by_runner[runner].clone();
            (cases, StoredDiagnostics::new(db, problems))
        });
        show_instances.sort_unstable();
        Ok(Plan {
            show_instances,
            groups,
            broken: broken.collect(),
        })
    }

    /// The code of some tests of a group, or of all.
    fn make_image(
        &mut self,
        group: usize,
        wanted: Option<&[usize]>,
        timings: &mut Timings,
    ) -> Result<TestImage, Failure> {
        let db = self.db;
        let compiled = self.compiled(timings);
        let mut cases = compiled.cases(db, group);
        cases.retain(|(i, _)| wanted.is_none_or(|w| w.contains(i)));
        let roots = compiled.groups.groups[group].roots;
        let entries: Vec<FuncSym> = cases.iter().map(|(_, f)| f.clone()).collect();
        let image = timings
            .phase("link", || parts::image(db, roots, &entries, ImageUse::Call))
            .map_err(|e| codegen_failure(&e))?;
        let place = |f: FuncSym| image.place(&SymbolRef::Glue(Glue::Trampoline(f)));
        let entries = (cases.into_iter())
            .filter_map(|(i, f)| Some((i, place(f)?)))
            .collect();
        Ok(TestImage { image, entries })
    }
}
