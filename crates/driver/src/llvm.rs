//! Executables by LLVM: the operations behind `--backend llvm` and `emit llvm`.
//!
//! What LLVM makes of a module is kept under the module's text and the compiler that made it,
//! so a build compiles the modules that an edit has changed.

use std::{fs, io};

use camino::Utf8Path;
use taipan_codegen_cranelift::gdb_object;
use taipan_language::Machine;
use taipan_lltype::FuncSym;
use taipan_platform::{LIBRARIES, Llvm};
use taipan_runtime_object::HOST_RUNTIME;

use crate::KeyHasher;
use crate::c::{COptions, leave_files};
use crate::db::{Database, LoadOptions};
use crate::fault::{Failure, guarded};
use crate::link::link_with_cache;
use crate::parallel::{par_map, par_steps};
use crate::profile::{Counting, Profile, obtain};
use crate::program::load;
use crate::result_cache::{Question, remember};
use crate::run::{RunRequest, run_built};
use crate::stages::llvm::{LlvmProgram, modules};
use crate::stages::lowlevel_errors::codegen_failure;
use crate::timing::Timings;
use crate::typed::typed_program;

/// Kind of the cache entries.
const OBJECT: &str = "llvm_object";

/// A module as text, under its name.
type ModuleText = (String, String);

/// Makes an executable.
pub fn build_llvm(
    db: &Database,
    load_options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    options: &COptions,
    timings: &mut Timings,
) -> Result<(), Failure> {
    // What cannot be compiled need not be translated.
    Llvm::find().map_err(failure)?;
    let program = llvm_texts(db, load_options, target, timings)?;
    compile_llvm(db, &program, output, options, timings)
}

/// The texts of a program's modules.
pub struct LlvmTexts {
    modules: Vec<ModuleText>,
    /// Functions of C libraries that the program brings.
    foreign: Vec<FuncSym>,
}

impl LlvmTexts {
    /// All of the text.
    pub fn bytes(&self) -> impl Iterator<Item = u8> {
        self.modules.iter().flat_map(|(_, text)| text.bytes())
    }
}

/// Makes an executable of the modules of a program.
pub fn compile_llvm(
    db: &Database,
    program: &LlvmTexts,
    output: &Utf8Path,
    options: &COptions,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let tools = Llvm::find().map_err(failure)?;
    let LlvmTexts {
        modules: texts,
        foreign,
    } = program;
    if let Some(folder) = &options.keep_source {
        leave(&tools, options.optimize, texts, foreign, folder, output)
            .map_err(|e| Failure::Usage(format!("--keep-source {folder}: {e}")))?;
    }
    let script = match options.debug {
        true => Some(gdb_object(Machine::HOST).map_err(|e| Failure::Usage(e.to_string()))?),
        false => None,
    };
    let make = |more: &[String], linked: &[&str], output: &Utf8Path, by, timings: &mut Timings| {
        let code = Code {
            tools: &tools,
            level: options.optimize,
            more,
            by,
        };
        let objects = timings.phase("object", || objects(db, &code, texts))?;
        let objects: Vec<&[u8]> = objects.iter().chain(&script).map(Vec::as_slice).collect();
        timings
            .phase("link", || {
                link_with_cache(
                    &db.cache(),
                    Machine::HOST,
                    &objects,
                    foreign,
                    linked,
                    output,
                )
            })
            .map_err(|e| Failure::Usage(format!("{output}: {e}")))
    };
    let Some(profile) = &options.profile else {
        return make(&[], &[], output, None, timings);
    };
    let library = tools.profile_library().map_err(failure)?;
    let clang = tools.clang().unwrap_or(&library);
    let counting = Counting::of_clang(clang, tools.identity())?;
    let modules: Vec<(&str, &str)> = texts
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let compiler = format!("{} -O{}", tools.identity(), options.optimize);
    let profile = obtain(
        profile,
        &counting,
        &compiler,
        &modules,
        timings,
        |program, timings| {
            let counts: Vec<String> = counting.counts().iter().map(|c| (*c).to_owned()).collect();
            let library = library.to_string_lossy();
            // Nothing in the modules names what is to be taken of it.
            let linked = ["-Wl,-u,__llvm_profile_runtime", &*library];
            make(&counts, &linked, program, None, timings)
        },
    )?;
    make(&[], &[], output, Some((&counting, &profile)), timings)
}

/// How modules become object files.
struct Code<'a> {
    tools: &'a Llvm,
    level: u8,
    /// What clang is told besides.
    more: &'a [String],
    /// The profile that they are optimised by.
    by: Option<(&'a Counting, &'a Profile)>,
}

/// Builds a program by LLVM and runs it, as a process of its own; returns its exit code, or 128
/// and the number of the signal that ended it.
pub fn run_llvm(
    db: &Database,
    options: &LoadOptions,
    request: &RunRequest,
    timings: &mut Timings,
) -> Result<i32, Failure> {
    let llvm = COptions {
        optimize: request.optimize,
        debug: options.debug,
        ..COptions::default()
    };
    run_built(options, request, timings, |program, timings| {
        build_llvm(db, options, &request.target, program, &llvm, timings)
    })
}

/// Leaves the modules in a folder, with the runtime and a Makefile that puts them together in their
/// order, by which the table of places is sorted.
fn leave(
    tools: &Llvm,
    level: u8,
    texts: &[ModuleText],
    foreign: &[FuncSym],
    folder: &Utf8Path,
    output: &Utf8Path,
) -> io::Result<()> {
    let named: Vec<(String, &str)> = (texts.iter())
        .map(|(name, text)| (format!("{name}.ll"), text.as_str()))
        .collect();
    let files = named.iter().map(|(name, text)| (name.as_str(), *text));
    let (compile, link) = leave_files(files, foreign, HOST_RUNTIME, folder)?;
    let objects: Vec<String> = texts.iter().map(|(name, _)| format!("{name}.o")).collect();
    let commands = tools.commands("$<".as_ref(), "$@".as_ref(), level, &[]);
    let commands = commands.iter().map(|words| {
        let words = words.iter().map(|w| w.to_string_lossy());
        format!("\t{}\n", words.collect::<Vec<_>>().join(" "))
    });
    let makefile = MAKEFILE
        .replace("@NAME@", output.file_name().unwrap_or("program"))
        .replace("@OBJECTS@", &objects.join(" \\\n    "))
        .replace("@COMMANDS@", &commands.collect::<String>())
        .replace("@FOREIGN@", &compile)
        .replace("@LINK@", &link)
        .replace("@LIBRARIES@", &LIBRARIES.join(" "));
    fs::write(folder.join("Makefile"), makefile)
}

const MAKEFILE: &str = "# Puts together what Taipan translated.
CC = cc
OBJECTS = \\
    @OBJECTS@

@NAME@: $(OBJECTS) runtime.o
\t$(CC) -no-pie -O2 -o $@ $(OBJECTS) runtime.o @FOREIGN@ @LINK@ @LIBRARIES@

%.o: %.ll
@COMMANDS@
clean:
\trm -f @NAME@ $(OBJECTS)

.PHONY: clean
";

/// The texts of a program's modules.
pub fn llvm_texts(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<LlvmTexts, Failure> {
    let (modules, foreign) = guarded(|| {
        let program = load(db, target, options)?;
        let question = Question {
            what: "llvm_to_build",
            program,
            options: &[],
            extent: true,
        };
        let mut libraries = Vec::new();
        let texts = remember(
            db,
            &question,
            // What C libraries do is known to them alone.
            |(_, foreign): &(Vec<ModuleText>, bool)| !foreign,
            || {
                let (roots, root) = typed_program(db, program, timings)?;
                let LlvmProgram { modules, foreign } =
                    modules(db, roots, &root, timings).map_err(|e| codegen_failure(&e))?;
                let texts = par_map(db, &modules, |_, m| {
                    Ok::<_, Failure>((m.name.clone(), m.text().map_err(|e| codegen_failure(&e))?))
                });
                let texts = texts.into_iter().collect::<Result<Vec<_>, _>>()?;
                let brings = !foreign.is_empty();
                libraries = foreign;
                Ok((texts, brings))
            },
        )?;
        Ok::<_, Failure>((texts.0, libraries))
    })??;
    Ok(LlvmTexts { modules, foreign })
}

/// The object files of modules, on all threads: from the cache, or by LLVM.
fn objects(db: &Database, code: &Code<'_>, texts: &[ModuleText]) -> Result<Vec<Vec<u8>>, Failure> {
    let Code { tools, level, .. } = *code;
    let folder = tempfile::tempdir().map_err(failure)?;
    let mut more = code.more.to_vec();
    let counts = code
        .by
        .and_then(|(counting, profile)| Some((counting, profile, profile.of("")?)));
    if let Some((counting, profile, (name, _))) = &counts {
        profile.put_into(folder.path()).map_err(failure)?;
        more.extend(counting.uses(&folder.path().join(name)));
    }
    let cache = db.cache();
    let numbered: Vec<(usize, &ModuleText)> = texts.iter().enumerate().collect();
    let commands = format!(
        "{:?}",
        tools.commands("".as_ref(), "".as_ref(), level, code.more)
    );
    let made = par_steps(db, &numbered, |_, (i, (_, text))| {
        let key = KeyHasher::new(OBJECT)
            .text(tools.identity())
            .text(&commands)
            .text(text)
            .bytes(counts.as_ref().map_or(&[], |(_, _, (_, counts))| counts))
            .finish();
        if let Some(object) = cache.get(OBJECT, key) {
            return Ok(object);
        }
        let object = tools.compile(text, level, &more, folder.path(), &format!("module{i}"))?;
        cache.put(OBJECT, key, object.clone());
        Ok(object)
    });
    made.into_iter()
        .collect::<io::Result<Vec<_>>>()
        .map_err(failure)
}

fn failure(e: io::Error) -> Failure {
    Failure::Usage(e.to_string())
}
