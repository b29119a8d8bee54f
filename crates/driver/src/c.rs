//! Executables by way of C: the operation behind `build --backend c`.

use std::ffi::{OsStr, OsString};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_annotator::Roots;
use taipan_codegen::c_libraries;
use taipan_codegen_c::{CProgram, Extent, File};
use taipan_codegen_cranelift::{LoadedImage, call_roots};
use taipan_language::Machine;
use taipan_lltype::FuncSym;
use taipan_platform::c::{CFlags, FLAGS, compile_file, run_compiler};
use taipan_platform::{c_compiler, file_identity};
use taipan_runtime_object::wasi_source;

use crate::KeyHasher;
use crate::LoadOptions;
use crate::db::Database;
use crate::executable::{Compilers, Executable, Profiled};
use crate::fault::{Failure, guarded};
use crate::kept_source::KeptSource;
use crate::link::runtime;
use crate::parallel::par_map;
use crate::profile::{Counting, ProfileOptions};
use crate::program::load;
use crate::result_cache::{Question, remember};
use crate::stages::c::{c_executable, c_program};
use crate::stages::linked::optimize_all;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::{GraphStage, StageProgram};
use crate::timing::Timings;
use crate::typed::typed_program;

/// How C is compiled.
#[derive(Clone, Debug, Default)]
pub struct COptions {
    /// Optimisation level of the C compiler.
    pub optimize: u8,
    /// Optimise all files together when they are linked.
    pub lto: bool,
    /// Information for debuggers.
    pub debug: bool,
    /// Where the files are left, with a Makefile.
    pub keep_source: Option<Utf8PathBuf>,
    /// Nothing is compiled.
    pub source_only: bool,
    /// The profile that code is optimised by.
    pub profile: Option<ProfileOptions>,
}

/// Kind of the cache entries.
const OBJECT: &str = "c_object";

impl COptions {
    /// What the C compiler is told for a program.
    fn flags(&self, load_options: &LoadOptions) -> CFlags {
        CFlags {
            machine: load_options.machine,
            optimize: self.optimize,
            lto: self.lto,
            debug: self.debug,
            checked: load_options.checked,
        }
    }
}

/// Makes an executable by way of C.
pub fn build_c(
    db: &Database,
    load_options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    options: &COptions,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let program = c_files(db, load_options, target, timings)?;
    compile_c(db, load_options, &program, output, options, timings)
}

/// What calls a function, by way of C, in this process.
pub(crate) fn load_c(
    db: &Database,
    roots: Roots,
    root: &FuncSym,
    checked: bool,
    timings: &mut Timings,
) -> Result<LoadedImage, Failure> {
    optimize_all(db, roots, timings);
    let exports = call_roots(&StageProgram::new(db, roots, GraphStage::Gc), root);
    let collector = roots.program(db).options(db).collector;
    let program = timings.phase("codegen", || {
        c_program(db, roots, Extent::Library(&exports)).map_err(|e| codegen_failure(&e))
    })?;
    let mut flags = CFlags {
        machine: Machine::HOST,
        optimize: 1,
        lto: false,
        debug: checked,
        checked,
    }
    .compile();
    flags.extend(LIBRARY.map(str::to_owned));
    let failed = |e: io::Error| Failure::Usage(format!("{}: {e}", root.name()));
    timings
        .phase("cc", || {
            let dir = tempfile::Builder::new().prefix("taipan-c-").tempdir()?;
            let mut files = Vec::new();
            let objects = compile(db, &program, &compiler_of_c()?, &flags, Profiled::No)?;
            for (i, object) in objects.iter().enumerate() {
                let file = dir.path().join(format!("{i}.o"));
                fs::write(&file, object)?;
                files.push(file);
            }
            let (sources, link) = c_libraries(&program.foreign).write(dir.path())?;
            let library = dir.path().join("library.so");
            run_compiler(&compiler_of_c()?, |c| {
                c.args(["-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic", "-o"])
                    .arg(&library);
                c.args(files).args(sources).args(link).arg("-lm");
            })?;
            let library = LoadedImage::shared(&library, &program.imports, exports, collector);
            library.map_err(|e| io::Error::other(e.to_string()))
        })
        .map_err(failed)
}

/// The object files of a program that is part of another one, with the C compiler and options for linking them.
pub(crate) struct CPart {
    /// The object files.
    pub(crate) objects: Vec<Vec<u8>>,
    /// Options of the C compiler for linking.
    pub(crate) options: Vec<String>,
}

/// Compiles a program that is part of another one.
pub(crate) fn compile_part(
    db: &Database,
    load_options: &LoadOptions,
    program: &CProgram,
    options: &COptions,
) -> io::Result<CPart> {
    let mut flags = options.flags(load_options).compile();
    flags.extend(SHARED.map(str::to_owned));
    let objects = compile(db, program, &compiler_of_c()?, &flags, Profiled::No)?;
    Ok(CPart {
        objects,
        options: flags,
    })
}

/// Further options for files of shared objects; later options count.
const SHARED: [&str; 2] = ["-fPIC", "-fno-semantic-interposition"];

/// What files of libraries are compiled with besides: later options count.
const LIBRARY: [&str; 3] = ["-fPIC", "-DRPY_LIBRARY", "-fno-semantic-interposition"];

/// The C files of a program.
pub fn c_files(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<CProgram, Failure> {
    guarded(|| files(db, options, target, timings))?
}

/// Makes an executable of the C files of a program.
pub fn compile_c(
    db: &Database,
    load_options: &LoadOptions,
    program: &CProgram,
    output: &Utf8Path,
    options: &COptions,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let machine = load_options.machine;
    let flags = options.flags(load_options);
    let link = flags.link();
    let flags = flags.compile();
    let failed = |e: io::Error| Failure::Usage(format!("{output}: {e}"));
    let cc = c_compiler(machine).map_err(|e| failed(io::Error::other(e)))?;
    let executable = Executable {
        db,
        machine,
        debug: options.debug,
        foreign: &program.foreign,
        output,
    };
    let compilers = CCompilers {
        db,
        program,
        cc: &cc,
        flags: &flags,
        link: &link,
        output,
    };
    if let Some(folder) = &options.keep_source {
        runtime(&db.cache(), machine)
            .and_then(|runtime| leave(program, &compilers, &runtime, folder))
            .map_err(|e| Failure::Usage(format!("--keep-source {folder}: {e}")))?;
    }
    if options.source_only {
        return Ok(());
    }
    executable.make(&compilers, options.profile.as_ref(), timings)
}

/// A C compiler with the files of a program.
struct CCompilers<'a> {
    db: &'a Database,
    program: &'a CProgram,
    cc: &'a OsStr,
    /// What it is told where it compiles and where it links, and where it links alone.
    flags: &'a [String],
    link: &'a [&'a str],
    output: &'a Utf8Path,
}

impl Compilers for CCompilers<'_> {
    fn objects(
        &self,
        profiled: Profiled<'_>,
        timings: &mut Timings,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let flags = [self.flags, &profiled.counts()].concat();
        timings
            .phase("cc", || {
                compile(self.db, self.program, self.cc, &flags, profiled)
            })
            .map_err(|e| Failure::Usage(format!("{}: {e}", self.output)))
    }

    fn link(&self, profiled: Profiled<'_>) -> Result<Vec<String>, Failure> {
        let link = self.link.iter().map(|f| (*f).to_owned());
        let flags = [self.flags, &profiled.counts()].concat();
        Ok(flags.into_iter().chain(link).collect())
    }

    fn counting(&self) -> Result<Counting, Failure> {
        Counting::of_c_compiler(self.cc)
    }

    fn identity(&self) -> String {
        // What functions are like that are counted depends on the level.
        format!("{:?} {}", file_identity(self.cc), self.flags.join(" "))
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        let files = self.program.headers.iter().chain(&self.program.sources);
        files.map(|f| (f.name.as_str(), f.text.as_str())).collect()
    }
}

fn files(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<CProgram, Failure> {
    let program = load(db, target, options)?;
    let question = Question {
        what: "c_program",
        program,
        options: &[],
        extent: true,
    };
    // What C libraries do is known to them alone.
    let keeps = |c: &CProgram| c.foreign.is_empty();
    remember(db, &question, keeps, || {
        let (roots, root) = typed_program(db, program, timings)?;
        optimize_all(db, roots, timings);
        timings.phase("codegen", || {
            let mut made = c_executable(db, roots, Extent::Program(&root))?;
            if options.machine.is_wasm() {
                made.sources.push(File {
                    // No module has this name.
                    name: "wasi-libc.c".to_owned(),
                    text: wasi_source().to_owned(),
                });
            }
            Ok(made)
        })
    })
}

/// Compiles the files, on all threads, by a profile if there is one. What has not changed comes from the cache.
fn compile(
    db: &Database,
    program: &CProgram,
    cc: &OsStr,
    flags: &[String],
    profiled: Profiled<'_>,
) -> io::Result<Vec<Vec<u8>>> {
    let dir = tempfile::Builder::new().prefix("taipan-cc-").tempdir()?;
    let cache = db.cache();
    let compiler = file_identity(cc).filter(|_| cache.is_on());
    for h in &program.headers {
        fs::write(dir.path().join(&h.name), &h.text)?;
    }
    let by = match profiled {
        Profiled::By(counting, profile) => Some((counting, profile)),
        Profiled::No | Profiled::Counts(_) => None,
    };
    if let Some((_, profile)) = by {
        profile.put_into(dir.path())?;
    }
    // The longest one takes longest.
    let mut order: Vec<usize> = (0..program.sources.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(program.sources[*i].text.len()));
    let objects = par_map(db, &order, |_, i| {
        let file = &program.sources[*i];
        let counts =
            by.and_then(|(counting, profile)| Some((counting, profile.of(stem(&file.name))?)));
        let key = compiler.as_ref().map(|compiler| {
            let mut key = KeyHasher::new(OBJECT);
            key.text(compiler)
                .text(&flags.join(" "))
                .text(&FLAGS.join(" "));
            (program.headers.iter().chain([file])).for_each(|f| {
                key.text(&f.text);
            });
            if let Some((_, (name, counts))) = &counts {
                key.text(name).bytes(counts);
            }
            key.finish()
        });
        if let Some(object) = key.and_then(|key| cache.get(OBJECT, key)) {
            return Ok::<_, io::Error>(object);
        }
        let by = match &counts {
            None => Vec::new(),
            Some((counting, (name, _))) => counting.uses(&dir.path().join(name)),
        };
        let flags = [flags, &by].concat();
        let object = compile_file(cc, dir.path(), &file.name, &file.text, &flags)?;
        if let Some(key) = key {
            cache.put(OBJECT, key, object.clone());
        }
        Ok(object)
    });
    let mut out = vec![Vec::new(); objects.len()];
    for (i, object) in order.into_iter().zip(objects) {
        out[i] = object?;
    }
    Ok(out)
}

/// The C compiler: what is made of C runs on this machine.
fn compiler_of_c() -> io::Result<OsString> {
    c_compiler(Machine::HOST).map_err(io::Error::other)
}

/// Leaves the files in a folder, with a Makefile.
fn leave(
    program: &CProgram,
    compilers: &CCompilers<'_>,
    runtime: &[u8],
    folder: &Utf8Path,
) -> io::Result<()> {
    let files = program.headers.iter().chain(&program.sources);
    let stems = program.sources.iter().map(|f| stem(&f.name));
    let source = KeptSource {
        files: files.map(|f| (f.name.clone(), &*f.text)).collect(),
        objects: stems.map(|stem| format!("{stem}.o")).collect(),
        foreign: &program.foreign,
        runtime,
        output: compilers.output,
    };
    let cc = compilers.cc.to_string_lossy();
    let link = format!("$(OPTIMIZE) {}", compilers.link.join(" "));
    let head = format!(
        "# Others by `make CC=clang`, `make OPTIMIZE=-O3`.\nOPTIMIZE = {}\nCFLAGS = {}\n",
        compilers.flags.join(" "),
        FLAGS.join(" ")
    );
    source.leave(folder, &cc, &link, &head, RULES)
}

const RULES: &str = "%.o: %.c taipan.h\n\t$(CC) $(CFLAGS) $(OPTIMIZE) -c -o $@ $<\n";

/// The name of a C file without its ending.
fn stem(name: &str) -> &str {
    name.strip_suffix(".c").unwrap_or(name)
}
