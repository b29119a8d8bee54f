//! Executables by LLVM: the operations behind `--backend llvm` and `emit llvm`.
//!
//! What LLVM makes of a module is kept under the module's text and the compiler that made it,
//! so a build compiles the modules that an edit has changed.

use std::io;

use camino::Utf8Path;
use taipan_codegen::file_stems;
use taipan_language::Machine;
use taipan_lltype::FuncSym;
use taipan_platform::Llvm;
use taipan_runtime_object::HOST_RUNTIME;

use crate::KeyHasher;
use crate::LoadOptions;
use crate::c::COptions;
use crate::db::Database;
use crate::executable::{Compilers, Executable, Profiled};
use crate::fault::{Failure, guarded};
use crate::kept_source::KeptSource;
use crate::parallel::par_steps;
use crate::profile::Counting;
use crate::program::load;
use crate::result_cache::{Question, remember};
use crate::run::{RunRequest, run_built};
use crate::stages::llvm::{ModuleText, modules};
use crate::stages::lowlevel_errors::codegen_failure;
use crate::timing::Timings;
use crate::typed::typed_program;

/// Kind of the cache entries.
const OBJECT: &str = "llvm_object";

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
    let executable = Executable {
        db,
        machine: Machine::HOST,
        debug: options.debug,
        foreign,
        output,
    };
    let compilers = LlvmCompilers {
        db,
        tools: &tools,
        level: options.optimize,
        texts,
    };
    if let Some(folder) = &options.keep_source {
        leave(&compilers, foreign, folder, output)
            .map_err(|e| Failure::Usage(format!("--keep-source {folder}: {e}")))?;
    }
    executable.make(&compilers, options.profile.as_ref(), timings)
}

/// LLVM with the modules of a program.
struct LlvmCompilers<'a> {
    db: &'a Database,
    tools: &'a Llvm,
    level: u8,
    texts: &'a [ModuleText],
}

impl Compilers for LlvmCompilers<'_> {
    fn objects(
        &self,
        profiled: Profiled<'_>,
        timings: &mut Timings,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        timings
            .phase("object", || self.compile(profiled))
            .map_err(failure)
    }

    fn link(&self, profiled: Profiled<'_>) -> Result<Vec<String>, Failure> {
        let Profiled::Counts(_) = profiled else {
            return Ok(Vec::new());
        };
        let library = self.tools.profile_library().map_err(failure)?;
        // Nothing in the modules names what is to be taken of it.
        let whole = "-Wl,-u,__llvm_profile_runtime".to_owned();
        Ok(vec![whole, library.to_string_lossy().into_owned()])
    }

    fn counting(&self) -> Result<Counting, Failure> {
        // Without it nothing counts.
        let library = self.tools.profile_library().map_err(failure)?;
        let clang = self.tools.clang().unwrap_or(&library);
        Counting::of_clang(clang, self.tools.identity())
    }

    fn identity(&self) -> String {
        format!("{} -O{}", self.tools.identity(), self.level)
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        self.texts.iter().map(|(n, t)| (&**n, &**t)).collect()
    }
}

impl LlvmCompilers<'_> {
    /// The object files of the modules, on all threads: from the cache, or by LLVM.
    fn compile(&self, profiled: Profiled<'_>) -> io::Result<Vec<Vec<u8>>> {
        let LlvmCompilers { tools, level, .. } = *self;
        let folder = tempfile::tempdir()?;
        let plain = profiled.counts();
        let mut more = plain.clone();
        let mut counts: &[u8] = &[];
        if let Profiled::By(counting, profile) = profiled
            && let Some((name, content)) = profile.of("")
        {
            profile.put_into(folder.path())?;
            more.extend(counting.uses(&folder.path().join(name)));
            counts = content;
        }
        let cache = self.db.cache();
        let numbered: Vec<(usize, &ModuleText)> = self.texts.iter().enumerate().collect();
        let commands = tools.commands("".as_ref(), "".as_ref(), level, &plain);
        let commands = format!("{commands:?}");
        let made = par_steps(self.db, &numbered, |_, (i, (_, text))| {
            let key = KeyHasher::new(OBJECT)
                .text(tools.identity())
                .text(&commands)
                .text(text)
                .bytes(counts)
                .finish();
            if let Some(object) = cache.get(OBJECT, key) {
                return Ok(object);
            }
            let object = tools.compile(text, level, &more, folder.path(), &format!("module{i}"))?;
            cache.put(OBJECT, key, object.clone());
            Ok(object)
        });
        made.into_iter().collect()
    }
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

/// Leaves the modules in a folder, with a Makefile that puts them together in their order, by which the table of
/// places is sorted.
fn leave(
    compilers: &LlvmCompilers<'_>,
    foreign: &[FuncSym],
    folder: &Utf8Path,
    output: &Utf8Path,
) -> io::Result<()> {
    let LlvmCompilers { tools, texts, .. } = compilers;
    let stems = file_stems(texts.iter().map(|(name, _)| &**name));
    let stem = |name: &str| &stems[name];
    let source = KeptSource {
        files: (texts.iter())
            .map(|(name, text)| (format!("{}.ll", stem(name)), &**text))
            .collect(),
        objects: (texts.iter())
            .map(|(name, _)| format!("{}.o", stem(name)))
            .collect(),
        foreign,
        runtime: HOST_RUNTIME,
        output,
    };
    let commands = tools.commands("$<".as_ref(), "$@".as_ref(), compilers.level, &[]);
    let commands = commands.iter().map(|words| {
        let words = words.iter().map(|w| w.to_string_lossy());
        format!("\t{}\n", words.collect::<Vec<_>>().join(" "))
    });
    let rules = format!("%.o: %.ll\n{}", commands.collect::<String>());
    source.leave(folder, "cc", "-O2", "", &rules)
}

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
                let (texts, foreign) =
                    modules(db, roots, &root, timings).map_err(|e| codegen_failure(&e))?;
                let brings = !foreign.is_empty();
                libraries = foreign;
                Ok((texts, brings))
            },
        )?;
        Ok::<_, Failure>((texts.0, libraries))
    })??;
    Ok(LlvmTexts { modules, foreign })
}

fn failure(e: io::Error) -> Failure {
    Failure::Usage(e.to_string())
}
