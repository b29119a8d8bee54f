//! `taipan run` and `taipan build`

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::Diagnostic;
use taipan_driver::{
    Built, COptions, Database, Failure, LoadOptions, Machine, OfferedFunction, ProfileOptions,
    RunRequest, build_llvm, build_with_jit, extent, load, run_llvm,
};
use taipan_testing::{TestEngine, TestOptions};

use crate::args::{Backend, BuildArgs, CodeOptions, Engine, RunArgs, nothing_to_compile};
use crate::closing::{closing_line, problems};
use crate::emit::programs;
use crate::output::{Context, color, listing, tell};
use crate::{profile, progress};

pub(crate) fn run(args: &RunArgs) -> i32 {
    let context = match Context::once(&args.common, Some(&args.target)) {
        Ok(context) => context,
        Err(code) => return code,
    };
    context.consent();
    let configured = context.config.engine.as_deref().map(|e| match e {
        "llinterp" => Engine::Llinterp,
        "ootype" => Engine::Ootype,
        "c" => Engine::C,
        "python" => Engine::Python,
        _ => Engine::Native,
    });
    let llvm = args.code.backend == Some(Backend::Llvm);
    if llvm && args.engine.is_some_and(|e| e != Engine::Native) {
        let text = "--backend is of machine code: leave out one of --engine and --backend";
        return context.fail(&Failure::Usage(text.to_owned()));
    }
    let chosen = match args.code.backend {
        Some(Backend::Python) => Some(Engine::Python),
        _ => args.engine.or(configured),
    };
    let engine = match chosen.unwrap_or(Engine::Native) {
        Engine::Llinterp => taipan_driver::Engine::LLInterp,
        Engine::Ootype => taipan_driver::Engine::Ootype,
        Engine::Native if args.code.backend == Some(Backend::C) => taipan_driver::Engine::C,
        Engine::Native => taipan_driver::Engine::Native,
        Engine::C => taipan_driver::Engine::C,
        Engine::Python if args.code.jit() => {
            return context.fail(&Failure::Usage(
                "Python has no just-in-time compiler: leave out --jit".to_owned(),
            ));
        }
        Engine::Python => {
            if let Err(f) = args.code.collector.supports_python() {
                return context.fail(&f);
            }
            taipan_driver::Engine::Python
        }
    };
    if args.code.backend == Some(Backend::Wasmgc) {
        let text = "Node runs what --backend wasmgc makes: `taipan build` makes it";
        return context.fail(&Failure::Usage(text.to_owned()));
    }
    if args.for_machine.web() {
        let text = "a page is for a browser to run: `taipan build --target web` makes it";
        return context.fail(&Failure::Usage(text.to_owned()));
    }
    let machine = args.for_machine.machine();
    if let Err(f) = supported(&args.code, machine) {
        return context.fail(&f);
    }
    if engine != taipan_driver::Engine::Native && machine != Machine::HOST {
        let text = if machine.needs_c() {
            "programs are made by way of C and run as a process of their own: leave out --engine and --backend"
        } else {
            "programs for other machines run as machine code by Cranelift: no engine but `native` does that"
        };
        return context.fail(&Failure::Usage(format!("{machine}: {text}")));
    }
    if !args.quiet {
        progress::begin(context.db.log());
    }
    context.load.checked = args.code.checked();
    context.load.collector = args.code.collector.gc();
    context.load.machine = machine;
    context.load.passes = args.code.passes();
    context.load.translation = args.code.translation();
    // Executables that are made to be run once: checks say lines by it.
    context.load.debug = args.code.checked() && (llvm || engine == taipan_driver::Engine::C);
    context.db.generate_jit(args.code.jit());
    let request = RunRequest {
        target: args.target.clone(),
        // As CPython has it, the first argument is the program itself.
        argv: std::iter::once(args.target.to_string())
            .chain(args.args().iter().cloned())
            .collect(),
        engine,
        optimize: args.code.optimize.unwrap_or(2),
        jit: args.jit.options(args.code.jit()),
        profile: args.profile.clone(),
    };
    if let Some(file) = &args.profile
        && let Err(f) = profile::prepare(file, engine, args.code.jit(), machine)
    {
        return context.fail(&f);
    }
    let (db, load, timings) = (&context.db, &context.load, &mut context.timings);
    let outcome = match engine {
        taipan_driver::Engine::C if args.code.jit() => Err(Failure::Usage(WITHOUT_JIT.to_owned())),
        _ if llvm => run_llvm(db, load, &request, timings),
        _ => taipan_driver::run(db, load, &request, timings),
    };
    args.jit.tell(args.target.as_str(), request.jit.as_ref());
    let outcome = match &args.profile {
        Some(file) => outcome.and_then(|code| profile::finish(file, args.quiet).map(|()| code)),
        None => outcome,
    };
    let code = match outcome {
        Ok(code) => code,
        Err(f) => context.fail(&f),
    };
    context.finish(&args.common, code)
}

pub(crate) fn build(args: &BuildArgs) -> i32 {
    let context = match Context::once(&args.common, Some(args.module().0)) {
        Ok(context) => context,
        Err(code) => return code,
    };
    build_in(context, args)
}

/// How a program is loaded that an executable is made of.
pub(crate) fn load_options(context: &Context, args: &BuildArgs) -> LoadOptions {
    LoadOptions {
        checked: args.code.checked(),
        collector: args.code.collector.gc(),
        machine: args.for_machine.machine(),
        passes: args.code.passes(),
        translation: args.code.translation(),
        extension: args.extension,
        entrypoints: args.library.keys(),
        debug: args.debug(),
        settings: args.common.settings.clone(),
        // The command makes the program to be run.
        trusted: true,
        ..context.load.clone()
    }
}

/// Makes an executable in these surroundings.
pub(crate) fn build_in(context: &'static mut Context, args: &BuildArgs) -> i32 {
    let machine = args.for_machine.machine();
    if let Err(f) = supported(&args.code, machine).and_then(|()| supported_c(args)) {
        return context.fail(&f);
    }
    if !args.quiet {
        progress::begin(context.db.log());
    }
    context.load = load_options(context, args);
    context.db.end_with_command();
    context.db.generate_jit(args.code.jit());
    let level = args.code.optimize.unwrap_or(1).to_string();
    let jit = args.code.jit().to_string();
    let debug = args.debug().to_string();
    let backend = match args.extension {
        true => "extension",
        false if args.library.shared => "shared",
        false => args.code.backend_of_executables(machine).name(),
    };
    let collector = args.code.collector.gc().name();
    context.go_on(
        "build",
        &[
            args.target.as_str(),
            args.inputs.as_deref().unwrap_or_default(),
            &level,
            &jit,
            &debug,
            backend,
            collector,
        ],
    );
    let (output, outcome) = match test_name(&args.target) {
        Some(name) => {
            let output = args.output.clone();
            let output = output.unwrap_or_else(|| format!("{name}-c").into());
            let outcome = make_test(context, args, &output);
            (output, outcome)
        }
        None => {
            let output = output_of(&context.db, &context.load, args);
            let outcome = make(context, args, &output);
            (output, outcome)
        }
    };
    let code = match outcome {
        Ok(warnings) => {
            progress::end();
            tell(&listing(&context.db, &warnings, color()));
            if !args.quiet {
                tell(&built(context, args, &output, &warnings));
            }
            0
        }
        Err(f) => context.fail(&f),
    };
    let code = context.finish(&args.common, code);
    context.leave();
    code
}

/// The line that tells what was made.
fn built(
    context: &Context,
    args: &BuildArgs,
    output: &Utf8Path,
    warnings: &[Diagnostic],
) -> String {
    let extent = load(&context.db, args.module().0, &context.load)
        .map(|program| extent(&context.db, program))
        .unwrap_or_default();
    let (done, made) = match &args.c.keep_source {
        Some(folder) if args.c.source_only => ("wrote", folder.as_path()),
        _ => ("built", output),
    };
    closing_line(
        (done, &format!(" {made} from")),
        &extent,
        context.since,
        problems(warnings).as_deref(),
        true,
    )
}

/// Makes the executable. Returns warnings.
fn make(
    context: &mut Context,
    args: &BuildArgs,
    output: &Utf8Path,
) -> Result<Vec<Diagnostic>, Failure> {
    if args.extension {
        make_extension(context, args, output)?;
        return Ok(Vec::new());
    }
    let (db, load, target) = (&context.db, &context.load, &args.target);
    let timings = &mut context.timings;
    if args.library.shared {
        taipan_driver::build_library(db, load, target, output, timings)?;
        return Ok(Vec::new());
    }
    if args.code.backend == Some(Backend::Wasmgc) {
        match args.for_machine.web() {
            true => taipan_driver::build_web_with_collector(db, load, target, output, timings)?,
            false => taipan_driver::build_wasmgc(db, load, target, output, timings)?,
        }
        return Ok(Vec::new());
    }
    if args.code.backend == Some(Backend::Llvm) {
        let options = source_options(args);
        build_llvm(db, load, target, output, &options, timings)?;
        return Ok(Vec::new());
    }
    if args.for_machine.web() {
        let options = source_options(args);
        taipan_driver::build_web(db, load, target, output, &options, timings)?;
        return Ok(Vec::new());
    }
    if let Some(options) = c_options(args) {
        taipan_driver::build_c(db, load, target, output, &options, timings)?;
        return Ok(Vec::new());
    }
    if args.code.backend == Some(Backend::Python) {
        if args.code.jit() {
            return Err(Failure::Usage(
                "Python has no just-in-time compiler: leave out --jit".to_owned(),
            ));
        }
        taipan_driver::build_python(db, load, target, output, timings)?;
        return Ok(Vec::new());
    }
    let Some(optimising) = args.optimising()? else {
        taipan_driver::build(db, load, target, output, timings)?;
        return Ok(Vec::new());
    };
    match build_with_jit(db, load, target, output, optimising, timings)? {
        Built::WithJit(warnings) => Ok(warnings),
        Built::WithoutDrivers => {
            tell(&nothing_to_compile(args.target.as_str()));
            Ok(Vec::new())
        }
    }
}

/// Makes a module for Python.
fn make_extension(
    context: &mut Context,
    args: &BuildArgs,
    output: &Utf8Path,
) -> Result<(), Failure> {
    let (file, name) = args.module();
    let function = name.map(|name| OfferedFunction {
        name: name.to_owned(),
        inputs: args.inputs.clone(),
        targets: match args.inputs {
            Some(_) => Vec::new(),
            None => programs(context, file),
        },
    });
    if function.is_none() && args.inputs.is_some() {
        let text = "--inputs needs FILE.py:FUNC".to_owned();
        return Err(Failure::Usage(text));
    }
    let options = c_options(args);
    let (db, load) = (&context.db, &context.load);
    taipan_driver::build_extension(
        db,
        load,
        file,
        function.as_ref(),
        options.as_ref(),
        output,
        &mut context.timings,
    )
}

/// The name of the test that `FILE::NAME` stands for, without its parameters.
fn test_name(target: &Utf8Path) -> Option<&str> {
    let (_, names) = target.as_str().split_once("::")?;
    let name = names.rsplit("::").next().unwrap_or(names);
    name.split('[').next()
}

/// Makes an executable of a test. Returns no warnings.
fn make_test(
    context: &mut Context,
    args: &BuildArgs,
    output: &Utf8Path,
) -> Result<Vec<Diagnostic>, Failure> {
    let by_cranelift = args.code.backend.unwrap_or(Backend::Cranelift) == Backend::Cranelift;
    let plain = by_cranelift && !args.code.jit() && !args.extension && !args.library.shared;
    if !plain || !args.for_machine.is_default() || c_options(args).is_some() {
        let text = "an executable of a test is made by Cranelift for this machine: leave out other options of that";
        return Err(Failure::Usage(text.to_owned()));
    }
    let options = TestOptions {
        paths: vec![args.target.clone()],
        engine: TestEngine::Native,
        load: context.load.clone(),
        ..TestOptions::default()
    };
    taipan_testing::build_test(&context.db, &options, output, &mut context.timings)?;
    Ok(Vec::new())
}

/// How C is compiled, if that is the way.
fn c_options(args: &BuildArgs) -> Option<COptions> {
    let backend = args.code.backend_of_executables(args.for_machine.machine());
    (backend == Backend::C).then(|| source_options(args))
}

pub(crate) fn source_options(args: &BuildArgs) -> COptions {
    COptions {
        optimize: args.code.optimize.unwrap_or(2),
        lto: args.c.lto || args.code.optimize == Some(3),
        debug: args.debug(),
        keep_source: args.c.keep_source.clone(),
        source_only: args.c.source_only,
        profile: (args.c.profopt.is_some() || args.c.profile.is_some()).then(|| ProfileOptions {
            train: args.c.profopt.as_ref().map(|words| words.0.clone()),
            folder: args.c.profile.clone(),
        }),
    }
}

/// The executable that is to be made: what the command line says, what `target()` says, or
/// the target's name.
pub(crate) fn output_of(db: &Database, load: &LoadOptions, args: &BuildArgs) -> Utf8PathBuf {
    let is_executable = !args.extension
        && !args.for_machine.web()
        && !args.for_machine.machine().is_wasm()
        && args.code.backend != Some(Backend::Python);
    let given = args.output.clone();
    let named = || taipan_driver::executable_name(db, load, &args.target);
    given
        .or_else(|| is_executable.then(named)?)
        .unwrap_or_else(|| {
            let named = args.common.options.as_ref().and_then(|o| o.name.as_deref());
            let name = named.or(args.module().0.file_stem());
            let name = name.unwrap_or("program");
            Utf8PathBuf::from(match args.code.backend {
                _ if args.for_machine.web() => format!("{name}-web"),
                _ if args.for_machine.machine().is_wasm() => format!("{name}.wasm"),
                _ if args.extension => format!("{name}.abi3.so"),
                Some(Backend::Python) => format!("{name}-python.py"),
                _ => format!("{name}-c"),
            })
        })
}

/// Refuses options of a back end that is not asked for.
pub(crate) fn supported_c(args: &BuildArgs) -> Result<(), Failure> {
    let machine = args.for_machine.machine();
    let is_here = machine == Machine::HOST;
    if args.extension {
        (args.code.collector).only_generational(
            "modules for Python keep what Python refers to by the generational collector",
        )?;
    }
    let (keep, lto) = (args.c.keep_source.is_some(), args.c.lto);
    let profile = args.c.profopt.is_some() || args.c.profile.is_some();
    let by_cranelift = args.code.backend.unwrap_or(Backend::Cranelift) == Backend::Cranelift;
    let text = match args.code.backend_of_executables(machine) {
        _ if args.library.shared && !is_here => {
            "--shared: libraries are made for this machine: leave out --target"
        }
        _ if args.library.shared && !by_cranelift => {
            "--shared: libraries are made by the Cranelift back end: leave out --backend"
        }
        _ if args.library.shared && (keep || lto || profile) => {
            "--shared: libraries are not made by way of C: leave out --keep-source, --lto, --profopt and --profile"
        }
        _ if args.library.shared => return Ok(()),
        _ if args.extension && !is_here => {
            "--extension: modules for Python are made for this machine: leave out --target"
        }
        Backend::Llvm | Backend::Python | Backend::Wasmgc if args.extension => {
            "--extension: modules for Python are made by the Cranelift back end, or by way of C: leave out --backend, \
             or give --backend c"
        }
        _ if args.extension && keep => "--keep-source goes without --extension",
        _ if profile && machine.is_wasm() => {
            "a training run is one on this machine: leave out --profopt and --profile, or --target"
        }
        backend
            if profile && (args.extension || !matches!(backend, Backend::C | Backend::Llvm)) =>
        {
            "--profopt and --profile are about what C compilers and LLVM make: give --backend c, \
             --backend llvm or -O2, too"
        }
        Backend::Cranelift if !is_here && (keep || lto) => {
            "--keep-source and --lto are about C files, and executables for other machines are made by \
             Cranelift: leave them out"
        }
        Backend::Wasmgc if keep || lto => {
            "--keep-source and --lto are about C files: leave them out"
        }
        Backend::Cranelift | Backend::Python if keep || lto => {
            "--keep-source and --lto are about C files: give --backend c or -O2, too"
        }
        Backend::Llvm if lto => "--lto is about C files: give --backend c, or leave it out",
        Backend::Cranelift | Backend::Llvm | Backend::C | Backend::Python | Backend::Wasmgc => {
            return Ok(());
        }
    };
    Err(Failure::Usage(text.to_owned()))
}

const WITHOUT_JIT: &str = "a just-in-time compiler makes its code by Cranelift: programs that have one \
                           are built with it, not by way of C";

/// Why there is no Python for other machines.
pub(crate) const PYTHON_IS_HERE: &str = "Python is made for this machine: leave out --target";

/// The same for programs that are watched, which are kept up to date as machine code.
pub(crate) fn watchable(options: &CodeOptions, machine: Machine) -> Result<(), Failure> {
    if options.backend == Some(Backend::Python) {
        let text = "watched programs are machine code: leave out --backend";
        return Err(Failure::Usage(text.to_owned()));
    }
    supported(options, machine)
}

/// Refuses what is not there yet, rather than ignoring it.
pub(crate) fn supported(options: &CodeOptions, machine: Machine) -> Result<(), Failure> {
    let is_here = machine == Machine::HOST;
    match options.backend.unwrap_or(Backend::Cranelift) {
        Backend::Python if !is_here => return Err(Failure::Usage(PYTHON_IS_HERE.to_owned())),
        Backend::Cranelift | Backend::Llvm if machine.needs_c() && options.backend.is_some() => {
            return Err(Failure::Usage(format!(
                "{machine}: programs are made by way of C: leave out --backend"
            )));
        }
        Backend::Cranelift => {}
        Backend::Wasmgc if !machine.is_wasm() => {
            return Err(Failure::Usage(
                "--backend wasmgc makes WebAssembly: give --target wasm32-wasi or --target web, too".to_owned(),
            ));
        }
        Backend::Wasmgc => {
            let why = "the host manages the memory of programs that --backend wasmgc makes";
            options.collector.only_generational(why)?;
        }
        Backend::Python => options.collector.supports_python()?,
        Backend::C if options.jit() => {
            return Err(Failure::Usage(WITHOUT_JIT.to_owned()));
        }
        Backend::C | Backend::Llvm if !is_here && !machine.needs_c() => {
            return Err(Failure::Usage(
                "executables for other machines are made by Cranelift: leave out --backend"
                    .to_owned(),
            ));
        }
        Backend::C => {}
        Backend::Llvm if options.jit() => {
            return Err(Failure::Usage(
                "the LLVM back end has no just-in-time compiler: leave out one of --jit and \
                 --backend"
                    .to_owned(),
            ));
        }
        Backend::Llvm => {}
    }
    if machine.needs_c() && options.jit() {
        return Err(Failure::Usage(format!(
            "{machine}: the just-in-time compiler makes no code for that: leave out --jit"
        )));
    }
    if !is_here && options.collector.gc() == taipan_language::Collector::Boehm {
        let text = "libgc is taken from this machine: leave out one of --gc boehm and --target";
        return Err(Failure::Usage(text.to_owned()));
    }
    options.collector.supports(options.jit())
}
