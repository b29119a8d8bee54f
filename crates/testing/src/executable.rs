//! An executable that runs one test, for debuggers and profilers.

use camino::Utf8Path;
use taipan_driver::parts::{ImageUse, codegen_failure, image, image_object, link};
use taipan_driver::{Database, Failure, Timings, guarded};

use crate::code::Code;
use crate::collect::{Case, Module, collect};
use crate::history::History;
use crate::{TestEngine, TestOptions};

/// Makes an executable of the one test that the options choose. It ends by an uncaught exception if the test fails.
/// Fails if they choose no test, or several, and if the test cannot be translated.
pub fn build_test(
    db: &Database,
    options: &TestOptions,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let (modules, collected) =
        timings.phase("collect", || collect(db, options, &History::new(db)))?;
    let (module, case) = match (&modules[..], &collected.ids[..]) {
        ([module], [_]) => (module, &module.cases[0]),
        (_, []) => {
            let mut wrong = collected.errors.into_iter().flat_map(|e| e.diagnostics);
            return match wrong.next() {
                Some(first) => Err(Failure::Diagnostics(
                    std::iter::once(first).chain(wrong).collect(),
                )),
                None => Err(Failure::Usage("there is no such test".to_owned())),
            };
        }
        (_, ids) => {
            let text = format!("these are several tests, name one: {}", ids.join(", "));
            return Err(Failure::Usage(text));
        }
    };
    if let Some(why) = obstacle(case) {
        return Err(Failure::Usage(format!("{}: {why}", case.id)));
    }
    build_case(db, module, options, output, timings)
}

/// Why a test has no machine code.
fn obstacle(case: &Case) -> Option<String> {
    let test = &case.test;
    let skipped = test
        .skip
        .as_ref()
        .map(|why| format!("it is skipped: {why}"));
    let interpreted = (test.interpreted.as_ref())
        .map(|why| format!("it is only interpreted, not translated: {why}"));
    test.problem.clone().or(skipped).or(interpreted)
}

fn build_case(
    db: &Database,
    module: &Module,
    options: &TestOptions,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let machine = options.load.machine;
    let image = guarded(|| {
        let mut code = Code::new(db, module, TestEngine::Native);
        let (roots, entry) = code.entry(timings)?;
        timings
            .phase("link", || image(db, roots, &[entry], ImageUse::Build))
            .map_err(|e| codegen_failure(&e))
    })??;
    let object = image_object(&image, machine, timings)?;
    link(db, &image, machine, &object, output, timings)
}
