//! Executables by way of C: the operation behind `build --backend c`.

use std::ffi::{OsStr, OsString};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_annotator::Roots;
use taipan_codegen::c_libraries;
use taipan_codegen_c::{CProgram, Extent, File};
use taipan_codegen_cranelift::{LoadedImage, call_roots, gdb_object};
use taipan_language::Machine;
use taipan_lltype::FuncSym;
use taipan_platform::c::{CFlags, FLAGS, compile_file, run_compiler};
use taipan_platform::{LIBRARIES, c_compiler, file_identity};
use taipan_runtime_object::wasi_source;

use crate::KeyHasher;
use crate::db::{Database, LoadOptions};
use crate::fault::{Failure, guarded};
use crate::link::{link_with_cache, runtime};
use crate::parallel::par_map;
use crate::profile::{Counting, Profile, ProfileOptions, obtain};
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
    let collector = roots.program(db).collector(db);
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
            let objects = compile(db, &program, &compiler_of_c()?, &flags, None)?;
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
    if let Some(folder) = &options.keep_source {
        runtime(&db.cache(), machine)
            .and_then(|runtime| {
                let tools = Tools {
                    compiler: &cc,
                    flags: &flags,
                    link: &link,
                    runtime: &runtime,
                };
                leave(program, &tools, folder, output)
            })
            .map_err(|e| Failure::Usage(format!("--keep-source {folder}: {e}")))?;
    }
    // The script is for debuggers of this machine's executables.
    let script = match options.debug && !machine.is_wasm() {
        true => Some(gdb_object(machine).map_err(|e| codegen_failure(&e))?),
        false => None,
    };
    let make = |flags: &[String],
                by: Option<(&Counting, &Profile)>,
                output: &Utf8Path,
                timings: &mut Timings| {
        let objects = timings
            .phase("cc", || compile(db, program, &cc, flags, by))
            .map_err(failed)?;
        let objects: Vec<&[u8]> = objects.iter().chain(&script).map(Vec::as_slice).collect();
        let flags: Vec<&str> = flags
            .iter()
            .map(String::as_str)
            .chain(link.iter().copied())
            .collect();
        timings
            .phase("link", || {
                link_with_cache(
                    &db.cache(),
                    machine,
                    &objects,
                    &program.foreign,
                    &flags,
                    output,
                )
            })
            .map_err(failed)
    };
    let Some(profile) = &options.profile else {
        return make(&flags, None, output, timings);
    };
    let counting = Counting::of_c_compiler(&cc)?;
    let files = program.headers.iter().chain(&program.sources);
    let files: Vec<(&str, &str)> = files.map(|f| (f.name.as_str(), f.text.as_str())).collect();
    // What functions are like that are counted depends on the level.
    let compiler = format!("{:?} {}", file_identity(&cc), flags.join(" "));
    let profile = obtain(
        profile,
        &counting,
        &compiler,
        &files,
        timings,
        |program, timings| {
            let counts = counting.counts().iter().map(|f| (*f).to_owned());
            let flags: Vec<String> = flags.iter().cloned().chain(counts).collect();
            make(&flags, None, program, timings)
        },
    )?;
    make(&flags, Some((&counting, &profile)), output, timings)
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
            let mut made = c_executable(db, roots, &root)?;
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
    by: Option<(&Counting, &Profile)>,
) -> io::Result<Vec<Vec<u8>>> {
    let dir = tempfile::Builder::new().prefix("taipan-cc-").tempdir()?;
    let cache = db.cache();
    let compiler = file_identity(cc).filter(|_| cache.is_on());
    for h in &program.headers {
        fs::write(dir.path().join(&h.name), &h.text)?;
    }
    if let Some((_, profile)) = by {
        profile.put_into(dir.path())?;
    }
    // The longest one takes longest.
    let mut order: Vec<usize> = (0..program.sources.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(program.sources[*i].text.len()));
    let objects = par_map(db, &order, |_, i| {
        let file = &program.sources[*i];
        let stem = file.name.strip_suffix(".c").unwrap_or(&file.name);
        let counts = by.and_then(|(counting, profile)| Some((counting, profile.of(stem)?)));
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

/// Leaves files in a folder, with the runtime and the C libraries that the program brings; says how
/// these are compiled and linked.
pub(crate) fn leave_files<'a>(
    files: impl Iterator<Item = (&'a str, &'a str)>,
    foreign: &[FuncSym],
    runtime: &[u8],
    folder: &Utf8Path,
) -> io::Result<(String, String)> {
    fs::create_dir_all(folder)?;
    for (name, text) in files {
        let file = folder.join(name);
        // Make looks at times.
        if !fs::read_to_string(&file).is_ok_and(|t| t == text) {
            fs::write(file, text)?;
        }
    }
    fs::write(folder.join("runtime.o"), runtime)?;
    let (compile, link) = c_libraries(foreign).write(folder.as_std_path())?;
    let words = |all: Vec<OsString>| {
        let all = all.into_iter();
        all.map(|w| w.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    Ok((words(compile), words(link)))
}

/// What makes a program of C files.
struct Tools<'a> {
    compiler: &'a OsStr,
    /// What it is told where it compiles and where it links, and where it links alone.
    flags: &'a [String],
    link: &'a [&'a str],
    /// The runtime's object file.
    runtime: &'a [u8],
}

/// Leaves the files in a folder, with the runtime and a Makefile that puts them together.
fn leave(
    program: &CProgram,
    tools: &Tools<'_>,
    folder: &Utf8Path,
    output: &Utf8Path,
) -> io::Result<()> {
    let files = program.headers.iter().chain(&program.sources);
    let files = files.map(|f| (f.name.as_str(), f.text.as_str()));
    let (compile, link) = leave_files(files, &program.foreign, tools.runtime, folder)?;
    let name = output.file_name().unwrap_or("program");
    let objects: Vec<String> = program
        .sources
        .iter()
        .map(|f| f.name.replace(".c", ".o"))
        .collect();
    let makefile = MAKEFILE
        .replace("@NAME@", name)
        .replace("@FLAGS@", &FLAGS.join(" "))
        .replace("@CC@", &tools.compiler.to_string_lossy())
        .replace("@OPTIMIZE@", &tools.flags.join(" "))
        .replace("@LINKING@", &tools.link.join(" "))
        .replace("@OBJECTS@", &objects.join(" \\\n    "))
        .replace("@FOREIGN@", &compile)
        .replace("@LINK@", &link)
        .replace("@LIBRARIES@", &LIBRARIES.join(" "));
    fs::write(folder.join("Makefile"), makefile)
}

const MAKEFILE: &str =
    "# Puts together what Taipan translated: `make`, `make CC=clang`, `make OPTIMIZE=-O3`.
CC = @CC@
OPTIMIZE = @OPTIMIZE@
CFLAGS = @FLAGS@
OBJECTS = \\
    @OBJECTS@

@NAME@: $(OBJECTS) runtime.o
\t$(CC) -no-pie $(OPTIMIZE) @LINKING@ -o $@ $(OBJECTS) runtime.o @FOREIGN@ @LINK@ @LIBRARIES@

%.o: %.c taipan.h
\t$(CC) $(CFLAGS) $(OPTIMIZE) -c -o $@ $<

clean:
\trm -f @NAME@ $(OBJECTS)

.PHONY: clean
";
