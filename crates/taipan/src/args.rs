//! The command line.

mod c;
mod jit;
mod library;
mod test;

use camino::{Utf8Path, Utf8PathBuf};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use taipan_driver::{Failure, Machine, Optimising, TargetConfig, Translation, missing_library};
use taipan_language::{Collector, PassSet, PassSwitches};

use crate::rpython::RpythonArgs;

pub(crate) use c::COptions;
pub(crate) use jit::{JitArgs, nothing_to_compile};
pub(crate) use library::LibraryOptions;
pub(crate) use test::{CoverageReport, Plugin, TestArgs, TestEngine, Traceback, with_own_options};

/// An incremental, query-based compiler for RPython.
#[derive(Parser)]
#[command(name = "taipan", version = crate::VERSION, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Compile in memory and run.
    Run(RunArgs),
    /// Make a stand-alone native executable.
    Build(BuildArgs),
    /// Make an executable by the command line of the original's `rpython`.
    Rpython(RpythonArgs),
    /// Report diagnostics only.
    Check(CheckArgs),
    /// Compile one function for the types of literal arguments and call it.
    Call(CallArgs),
    /// Print what one stage made of a function or program.
    Emit(EmitArgs),
    /// Show a program at every stage on a page in the browser, which follows edits.
    Explore(ExploreArgs),
    /// Specialise one function for some of its arguments and run what is left.
    Timeshift(TimeshiftArgs),
    /// Repeat a command on every change of a file that it depends on.
    Watch(WatchArgs),
    /// Run the tests of test modules as translated code.
    Test(TestArgs),
    /// Serve an editor that debugs programs and tests, on standard input and output (Debug Adapter Protocol).
    Debug,
    /// Show what a just-in-time compiler wrote into the file that TAIPAN_JITLOG names.
    Jitlog(JitlogArgs),
    /// Say what the code of a diagnostic means.
    Explain(ExplainArgs),
    /// Serve an editor on standard input and output (Language Server Protocol).
    Lsp,
    /// Make a small program with tests, to begin with.
    Init(InitArgs),
    /// Remove what is kept between processes.
    Clean(CleanArgs),
    /// Trust a folder: its code may run while it is only checked or edited.
    Trust(TrustArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Write manual pages.
    Man(ManArgs),
}

#[derive(Args)]
pub(crate) struct InitArgs {
    /// The folder, made if there is none; by default this one.
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: Utf8PathBuf,
    /// Kind of project.
    #[arg(long, value_enum, default_value = "interpreter")]
    pub(crate) template: Template,
    /// Only a program that greets, and a test.
    #[arg(long, conflicts_with = "template")]
    pub(crate) bare: bool,
    /// The name of the language; `minnow` by default.
    #[arg(long, value_name = "NAME", value_parser = crate::init::language_name)]
    pub(crate) name: Option<String>,
}

/// Kind of a new project.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// An interpreter of a small language, with a just-in-time compiler: where the first part of the book ends.
    Interpreter,
    /// A calculator.
    Calculator,
    /// A stack machine with a just-in-time compiler.
    Stack,
    /// A register machine with a just-in-time compiler.
    Register,
    /// The same as `--bare`.
    Bare,
}

#[derive(Args)]
pub(crate) struct CleanArgs {
    /// A target or folder of the project; by default this folder.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<Utf8PathBuf>,
    /// Where the cache lives.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache_dir: Option<Utf8PathBuf>,
    /// Only say what would be removed.
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
pub(crate) struct TrustArgs {
    /// The folder; by default this one.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<Utf8PathBuf>,
    /// Print the trusted folders.
    #[arg(long, conflicts_with_all = ["path", "remove"])]
    pub(crate) list: bool,
    /// Trust the folder no longer.
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The folder that the pages are written to; made if there is none.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Utf8PathBuf,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// The code, such as TP0301; without it, all codes are listed.
    pub(crate) code: Option<String>,
}

#[derive(Args)]
pub(crate) struct JitlogArgs {
    /// The log.
    pub(crate) file: Utf8PathBuf,
    /// Only the function of that number, or those whose location has this in it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) function: Option<String>,
    /// Only what belongs to the driver of that name.
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<String>,
    /// Only the tables.
    #[arg(long, conflicts_with_all = ["code", "asm"])]
    pub(crate) summary: bool,
    /// The operations of residual code, too.
    #[arg(long)]
    pub(crate) code: bool,
    /// Machine code, too, if TAIPAN_JITLOG_ASM was set.
    #[arg(long)]
    pub(crate) asm: bool,
    /// The ten places that cost most, why, and what helps.
    #[arg(long, conflicts_with_all = ["summary", "code", "asm", "function", "driver"])]
    pub(crate) advise: bool,
    /// How advice is printed.
    #[arg(long, value_enum, default_value = "text", requires = "advise")]
    pub(crate) format: AdviceFormat,
}

/// How advice is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdviceFormat {
    /// For people.
    Text,
    /// One line, an object.
    Json,
}

/// More threads than this are a slip: each takes address space for deep recursion.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MOST_THREADS) => Ok(n),
        _ => Err(format!("it takes a number from 1 to {MOST_THREADS}")),
    }
}

fn size(text: &str) -> Result<u64, String> {
    taipan_driver::parse_size(text)
        .ok_or_else(|| "it takes a size in bytes, or with a unit: 512M, 2G".to_owned())
}

/// Options that all commands share.
#[derive(Clone, Args)]
pub(crate) struct Common {
    /// Print a table of phases and their times.
    #[arg(long)]
    pub(crate) timings: bool,
    /// Write one JSON line per query executed or reused.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_queries: Option<Utf8PathBuf>,
    /// Neither read nor write the cache.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Where the cache lives.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache_dir: Option<Utf8PathBuf>,
    /// Worker threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// A further folder to import from (also the variable TAIPANPATH).
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<Utf8PathBuf>,
    /// How many bytecode instructions import time may take; 1,000 million by default.
    #[arg(long, value_name = "N")]
    pub(crate) step_limit: Option<u64>,
    /// How much memory import time may take, such as 2G; a quarter of the machine's by default.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true)]
    pub(crate) memory_limit: Option<u64>,
    /// An option for the program's `target()`, as the original takes them after TARGET.py.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) target_option: Vec<String>,
    /// What the original's command line sets in `driver.config.translation`.
    #[arg(skip)]
    pub(crate) settings: Vec<(String, String)>,
    /// Options of the target in the configuration.
    #[arg(skip)]
    pub(crate) options: Option<TargetConfig>,
}

/// Which engine executes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The interpreter of low-level graphs.
    Llinterp,
    /// The interpreter of object-oriented low-level graphs.
    Ootype,
    /// Machine code in memory.
    Native,
    /// Machine code by way of C.
    C,
    /// CPython, on Python that is made of low-level graphs.
    Python,
}

/// Which engine executes timeshifted code.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeshiftEngine {
    /// The interpreter of low-level graphs.
    Llinterp,
    /// Machine code in memory.
    Native,
}

/// Which back end makes code.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Machine code by Cranelift.
    Cranelift,
    /// C, compiled by gcc or clang.
    C,
    /// Machine code by LLVM, which clang runs.
    Llvm,
    /// Python 3, in one file.
    Python,
    /// WebAssembly with the host's garbage collector, for Node 22 or later (with `--target wasm32-wasi`), or for a page
    /// (with `--target web`).
    Wasmgc,
}

impl Backend {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Backend::Cranelift => "cranelift",
            Backend::C => "c",
            Backend::Llvm => "llvm",
            Backend::Python => "python",
            Backend::Wasmgc => "wasmgc",
        }
    }
}

/// How code is made. An option is hidden for as long as it has one value that works:
/// scripts may already give it, `--help` does not offer it.
#[derive(Args)]
pub(crate) struct CodeOptions {
    /// The back end: `cranelift`, but `c` from -O2 on for executables of this machine without a just-in-time compiler.
    #[arg(long, value_enum)]
    pub(crate) backend: Option<Backend>,
    /// Optimisation level: 0 is code with checks, 1 the default, 2 goes by way of C, 3 optimises all C
    /// files together.
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) optimize: Option<u8>,
    #[command(flatten)]
    pub(crate) collector: CollectorOption,
    /// Generate the just-in-time compiler of an interpreter with hints (`=false`: do not).
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    pub(crate) jit: Option<bool>,
    #[command(flatten)]
    pub(crate) checks: Checks,
    #[command(flatten)]
    pub(crate) passes: PassOptions,
}

/// What manages the memory of compiled programs.
#[derive(Clone, Args)]
pub(crate) struct CollectorOption {
    /// The garbage collector of compiled code; `generational` by default.
    #[arg(long, value_name = "NAME", value_parser = collectors())]
    pub(crate) gc: Option<Collector>,
}

fn collectors() -> impl TypedValueParser<Value = Collector> {
    PossibleValuesParser::new(Collector::ALL.iter().map(|c| c.name()))
        .map(|name| Collector::named(&name).unwrap_or_default())
}

impl CollectorOption {
    /// The collector.
    pub(crate) fn gc(&self) -> Collector {
        self.gc.unwrap_or_default()
    }

    /// Refuses all but the generational one, for that reason.
    pub(crate) fn only_generational(&self, why: &str) -> Result<(), Failure> {
        match self.gc() {
            Collector::Generational => Ok(()),
            gc => Err(Failure::Usage(format!("{why}: leave out --gc {gc}"))),
        }
    }

    /// The same for programs that are made of Python.
    pub(crate) fn supports_python(&self) -> Result<(), Failure> {
        self.only_generational("Python manages the memory of programs that are made of Python")
    }

    /// Refuses what the collector cannot be used for.
    pub(crate) fn supports(&self, jit: bool) -> Result<(), Failure> {
        if jit {
            self.only_generational(
                "the just-in-time compiler makes code for the generational collector only",
            )?;
        }
        match missing_library(self.gc()) {
            Some(what) => Err(Failure::Usage(format!(
                "--gc {} needs {what}, which is not there: install libgc1 (Debian and Ubuntu: \
                 apt-get install libgc1)",
                self.gc()
            ))),
            None => Ok(()),
        }
    }
}

/// What code is made for.
#[derive(Clone, Copy, Args)]
pub(crate) struct ForMachine {
    /// What code is made for, such as aarch64-unknown-linux-gnu, i386-linux or wasm32-wasi, or `web` for a page; by
    /// default this machine.
    #[arg(long = "target", value_name = "TARGET", value_parser = made_for)]
    machine: Option<MadeFor>,
}

/// What programs can be made for.
#[derive(Clone, Copy)]
enum MadeFor {
    Machine(Machine),
    /// A page with the program as WebAssembly.
    Web,
}

impl ForMachine {
    pub(crate) fn machine(self) -> Machine {
        match self.machine {
            None => Machine::default(),
            Some(MadeFor::Machine(machine)) => machine,
            Some(MadeFor::Web) => Machine::Wasm32,
        }
    }

    /// Whether the command line says nothing.
    pub(crate) fn is_default(self) -> bool {
        self.machine.is_none()
    }

    /// Whether it is a page that is wanted.
    pub(crate) fn web(self) -> bool {
        matches!(self.machine, Some(MadeFor::Web))
    }
}

fn made_for(target: &str) -> Result<MadeFor, String> {
    if target == "web" {
        return Ok(MadeFor::Web);
    }
    Machine::named(target).map(MadeFor::Machine).ok_or_else(|| {
        let known = Machine::ALL.map(Machine::triple).join(", ");
        format!("there is no such target; there are {known}, web")
    })
}

/// Which passes over graphs run.
#[derive(Clone, Args)]
pub(crate) struct PassOptions {
    /// Switch passes over graphs on and off, as in `-inlining,+asserts`. `all` stands for all of them; later switches
    /// count. By default the optimisation level decides.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, default_value = "",
          hide_default_value = true, value_parser = switches)]
    pub(crate) passes: PassSwitches,
}

fn switches(text: &str) -> Result<PassSwitches, String> {
    match text {
        "" => Ok(PassSwitches::default()),
        _ => text.parse(),
    }
}

impl PassOptions {
    /// Takes over the switches of a target where there are none.
    pub(crate) fn take(&mut self, options: &TargetConfig) {
        if let (Some(passes), true) = (&options.passes, self.passes == PassSwitches::default()) {
            self.passes = passes.clone();
        }
    }

    /// The passes that run at a level, without which it is 1.
    pub(crate) fn at(&self, level: Option<u8>) -> PassSet {
        let level = level.map_or_else(PassSet::default, PassSet::of_level);
        self.passes.apply(level)
    }
}

/// Whether code is checked while it runs.
#[derive(Clone, Args)]
pub(crate) struct Checks {
    /// Check indices, raw memory that was freed and the like, and say where (`=false`: do not).
    /// By default tests, called functions and what -O0 makes are checked.
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    pub(crate) lldebug: Option<bool>,
}

impl CodeOptions {
    /// The passes over graphs that run.
    pub(crate) fn passes(&self) -> PassSet {
        self.passes.at(self.optimize)
    }

    /// Options of the translation, as `driver.config` shows them to the program.
    pub(crate) fn translation(&self) -> Translation {
        Translation {
            level: self.optimize,
            jit: self.jit(),
        }
    }

    /// Whether a just-in-time compiler is generated.
    pub(crate) fn jit(&self) -> bool {
        self.jit.unwrap_or(false)
    }

    /// Whether code has checks.
    pub(crate) fn checked(&self) -> bool {
        self.checks.lldebug.unwrap_or(self.optimize == Some(0))
    }

    /// The back end that makes executables for a machine.
    pub(crate) fn backend_of_executables(&self, machine: Machine) -> Backend {
        self.backend.unwrap_or(match self.optimize {
            _ if machine.needs_c() => Backend::C,
            Some(2 | 3) if !self.jit() && machine == Machine::HOST => Backend::C,
            _ => Backend::Cranelift,
        })
    }
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) jit: JitArgs,
    #[command(flatten)]
    pub(crate) code: CodeOptions,
    #[command(flatten)]
    pub(crate) for_machine: ForMachine,
    /// Which engine executes; native by default.
    #[arg(long, value_enum)]
    pub(crate) engine: Option<Engine>,
    /// Write a flame graph of the functions that were running to a file, `profile.svg` by default; another name than
    /// `*.svg` gets lines of stacks and their samples.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "profile.svg")]
    pub(crate) profile: Option<Utf8PathBuf>,
    /// Do not say what the compiler is at.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The file with `target` or `entry_point`, the name of a target of the project, or a folder, which stands for the
    /// project's target; by default this folder. Everything behind it is the program's.
    // One argument with many values, so that options behind the target are values.
    #[arg(value_name = "TARGET.py", trailing_var_arg = true)]
    words: Vec<String>,
    /// The target, once it is known.
    #[arg(skip)]
    pub(crate) target: Utf8PathBuf,
}

impl RunArgs {
    /// The target as it is given.
    pub(crate) fn given(&self) -> &str {
        self.words.first().map_or(".", String::as_str)
    }

    /// The program's own arguments. `--` directly behind the target is not one of them, as with `cargo run`.
    pub(crate) fn args(&self) -> &[String] {
        match self.words.get(1..).unwrap_or_default() {
            [first, rest @ ..] if first == "--" => rest,
            words => words,
        }
    }
}

#[derive(Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) code: CodeOptions,
    #[command(flatten)]
    pub(crate) for_machine: ForMachine,
    /// The file with `target` or `entry_point`, the name of a target of the project, or a folder, which stands for the
    /// project's target.
    #[arg(
        value_name = "TARGET.py",
        default_value = ".",
        hide_default_value = true
    )]
    pub(crate) target: Utf8PathBuf,
    /// Make a module for Python 3 of the functions whose types are declared.
    #[arg(long, conflicts_with = "jit")]
    pub(crate) extension: bool,
    /// Annotations of the arguments of the only function that the module offers, where the target is FILE.py:FUNC.
    #[arg(long, value_name = "TYPES", requires = "extension")]
    pub(crate) inputs: Option<String>,
    #[command(flatten)]
    pub(crate) library: LibraryOptions,
    /// Say nothing unless something is wrong.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Tell debuggers and profilers of functions, lines, variables and types. By default what -O0 and
    /// --lldebug make has that.
    #[arg(short = 'g', long)]
    pub(crate) debug_info: bool,
    /// Have the executable optimise machine code on a second thread while it runs, unless TAIPAN_JIT_BACKGROUND=0 is set.
    #[arg(long)]
    pub(crate) jit_background: bool,
    #[command(flatten)]
    pub(crate) c: COptions,
    /// The executable; by default the module's name and `-c`, of Python `-python.py`, or `.abi3.so` with
    /// `--extension`.
    #[arg(short = 'o', value_name = "OUT")]
    pub(crate) output: Option<Utf8PathBuf>,
}

impl BuildArgs {
    /// The file of the target, and the function of it that a module for Python is made of.
    pub(crate) fn module(&self) -> (&Utf8Path, Option<&str>) {
        match self.target.as_str().rsplit_once(':') {
            Some((file, name)) if self.extension && !self.target.exists() => {
                (Utf8Path::new(file), Some(name))
            }
            _ => (&self.target, None),
        }
    }

    /// Where the executable optimises code, if it has a just-in-time compiler.
    pub(crate) fn optimising(&self) -> Result<Option<Optimising>, Failure> {
        match (self.code.jit(), self.jit_background) {
            (true, true) => Ok(Some(Optimising::Background)),
            (true, false) => Ok(Some(Optimising::Foreground)),
            (false, false) => Ok(None),
            (false, true) => Err(Failure::Usage("--jit-background needs --jit".to_owned())),
        }
    }

    /// Whether debuggers are told of the program.
    pub(crate) fn debug(&self) -> bool {
        self.debug_info || self.code.checked() || self.code.optimize == Some(0)
    }
}

/// How diagnostics are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, on stderr.
    Text,
    /// An array, on stdout.
    Json,
    /// A SARIF log, on stdout.
    Sarif,
}

#[derive(Clone, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Target files, or names of targets of the project; folders stand for the target files in them. By default the
    /// configured targets, else this folder.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<Utf8PathBuf>,
    /// How diagnostics are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: CheckFormat,
    /// Change files where a fix is certain, and check the result.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Say nothing unless something is wrong.
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Explain which queries ran, and why they ran again.
    #[arg(short = 'v', long, conflicts_with = "log_queries")]
    pub(crate) verbose: bool,
}

#[derive(Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Compile the loops of interpreters just in time.
    #[arg(long)]
    pub(crate) jit: bool,
    #[command(flatten)]
    pub(crate) jit_args: JitArgs,
    /// Which engine executes.
    #[arg(long, value_enum, default_value = "llinterp")]
    pub(crate) engine: Engine,
    #[command(flatten)]
    pub(crate) collector: CollectorOption,
    #[command(flatten)]
    pub(crate) checks: Checks,
    #[command(flatten)]
    pub(crate) passes: PassOptions,
    /// Print one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer JSON lines of calls from a file, or from standard input with `-`.
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<Utf8PathBuf>,
    /// How long a call of a batch may take.
    #[arg(long, value_name = "N", default_value = "100", requires = "batch")]
    pub(crate) seconds: u64,
    /// The function.
    #[arg(value_name = "FILE.py:FUNC", required_unless_present = "batch")]
    pub(crate) function: Option<String>,
    /// Python literals; a bare word is a string.
    #[arg(
        value_name = "ARG",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) args: Vec<String>,
}

#[derive(Args)]
pub(crate) struct TimeshiftArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Positions of arguments that are constants while compiling, from 0.
    #[arg(long = "static", value_name = "I,J", value_delimiter = ',')]
    pub(crate) is_static: Vec<usize>,
    /// Specialise this function instead, where FUNC reaches it.
    #[arg(long, value_name = "NAME")]
    pub(crate) portal: Option<String>,
    /// `default` or `eager`, `novirtual` (arrays are made even if their length is known),
    /// `heap-cache` (what is known of memory is not read again), `oopspec` (calls of
    /// functions with an oopspec stay calls), or `stop-at=NAME,NAME` (so do those of these
    /// functions). With `lazy`, the sides of branches are compiled when code gets there.
    #[arg(long, value_name = "POLICY", default_value = "default")]
    pub(crate) policy: String,
    /// Inline functions up to this size first, which counts operations.
    #[arg(long, value_name = "THRESHOLD")]
    pub(crate) inline: Option<u32>,
    /// Optimise the graphs first: tests of one number become switches, objects that do not
    /// leave a function variables.
    #[arg(long)]
    pub(crate) optimize: bool,
    /// Which engine executes residual code and its surroundings.
    #[arg(long, value_enum, default_value = "llinterp")]
    pub(crate) engine: TimeshiftEngine,
    /// Print one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The function.
    #[arg(value_name = "FILE.py:FUNC")]
    pub(crate) function: String,
    /// Python literals; a bare word is a string.
    #[arg(value_name = "ARG", allow_negative_numbers = true)]
    pub(crate) args: Vec<String>,
}

/// A stage of compilation.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Bytecode.
    Bytecode,
    /// The flow graph.
    Flow,
    /// Annotations of its variables.
    Annotations,
    /// Low-level operations.
    Rtyped,
    /// After optimisation.
    Optimized,
    /// After the exception transform.
    Exceptions,
    /// On object-oriented types.
    Oo,
    /// After the GC transform.
    Gc,
    /// Cranelift's intermediate form.
    Clif,
    /// Machine code as text.
    Asm,
    /// C source.
    C,
    /// LLVM's text, as a module of its own.
    Llvm,
    /// WebAssembly with the host's collector as text; a function is a module of its own.
    Wat,
    /// Python source.
    Python,
    /// Binding times, with the function as the portal.
    Colors,
    /// The timeshifted graphs of what that portal reaches.
    Timeshifted,
    /// What shows strings, lists, dicts and instances in gdb (no stage of a program).
    Gdb,
}

/// How a stage is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmitFormat {
    /// For people.
    Text,
    /// For Graphviz.
    Dot,
    /// A picture of a graph.
    Svg,
    /// For programs.
    Json,
}

#[derive(Args)]
pub(crate) struct EmitArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The stage.
    #[arg(value_enum)]
    pub(crate) stage: Stage,
    /// The function, or a whole program.
    #[arg(value_name = "FILE.py[:FUNC]")]
    pub(crate) function: Option<String>,
    /// Annotations of the arguments.
    #[arg(long, value_name = "TYPES")]
    pub(crate) inputs: Option<String>,
    /// How it is printed.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: EmitFormat,
    /// Say from which lines of the source code comes.
    #[arg(long)]
    pub(crate) lines: bool,
    #[command(flatten)]
    pub(crate) collector: CollectorOption,
    #[command(flatten)]
    pub(crate) for_machine: ForMachine,
    #[command(flatten)]
    pub(crate) passes: PassOptions,
}

#[derive(Args)]
pub(crate) struct ExploreArgs {
    /// Print a table of phases and their times after every round.
    #[arg(long)]
    pub(crate) timings: bool,
    /// Neither read nor write the cache.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Where the cache lives.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache_dir: Option<Utf8PathBuf>,
    /// Worker threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// A further folder to import from (also the variable TAIPANPATH).
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<Utf8PathBuf>,
    /// How many bytecode instructions import time may take; 1,000 million by default.
    #[arg(long, value_name = "N")]
    pub(crate) step_limit: Option<u64>,
    /// How much memory import time may take, such as 2G; a quarter of the machine's by default.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true)]
    pub(crate) memory_limit: Option<u64>,
    /// An option for the program's `target()`, as the original takes them after TARGET.py.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) target_option: Vec<String>,
    #[command(flatten)]
    pub(crate) passes: PassOptions,
    /// The port on this machine; any free one by default.
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) port: u16,
    /// Open the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// Look at files at intervals, where the system does not tell of changes.
    #[arg(long)]
    pub(crate) poll: bool,
    /// The file with `target` or `entry_point`, the name of a target of the project, or a folder, which stands for the
    /// project's target.
    #[arg(
        value_name = "TARGET.py",
        default_value = ".",
        hide_default_value = true
    )]
    pub(crate) target: Utf8PathBuf,
    /// Options of the target in the configuration.
    #[arg(skip)]
    pub(crate) options: Option<TargetConfig>,
}

impl ExploreArgs {
    /// What it shares with other commands. The log of queries is for commands that end; the
    /// page has a timeline.
    pub(crate) fn common(&self) -> Common {
        Common {
            timings: self.timings,
            log_queries: None,
            no_cache: self.no_cache,
            cache_dir: self.cache_dir.clone(),
            threads: self.threads,
            path: self.path.clone(),
            step_limit: self.step_limit,
            memory_limit: self.memory_limit,
            target_option: self.target_option.clone(),
            settings: Vec::new(),
            options: self.options.clone(),
        }
    }
}

#[derive(Args)]
pub(crate) struct WatchArgs {
    /// Look at files at intervals, where the system does not tell of changes.
    #[arg(long, global = true)]
    pub(crate) poll: bool,
    #[command(subcommand)]
    command: Option<WatchCommand>,
}

impl WatchArgs {
    /// The command; `check` by default.
    pub(crate) fn command_mut(&mut self) -> &mut WatchCommand {
        self.command.get_or_insert_with(|| {
            let words = ["taipan", "watch", "check"];
            match Cli::parse_from(words).command {
                Command::Watch(WatchArgs {
                    command: Some(check),
                    ..
                }) => check,
                _ => unreachable!("`watch check` is one of these"),
            }
        })
    }

    /// The command, once [`WatchArgs::command_mut`] was called.
    pub(crate) fn command(&self) -> &WatchCommand {
        self.command.as_ref().expect("the command line is complete")
    }
}

/// Leaves an option out of the help of `watch`, which refuses it.
fn for_one_run(option: clap::Arg) -> clap::Arg {
    option.hide(true)
}

#[derive(Subcommand)]
pub(crate) enum WatchCommand {
    /// Report diagnostics.
    #[command(mut_arg("log_queries", for_one_run))]
    #[command(mut_arg("quiet", for_one_run))]
    #[command(mut_arg("fix", for_one_run))]
    Check(CheckArgs),
    /// Run a program, anew when its code has changed.
    #[command(mut_arg("log_queries", for_one_run))]
    #[command(mut_arg("profile", for_one_run))]
    #[command(mut_arg("quiet", for_one_run))]
    #[command(mut_arg("jit_summary", for_one_run))]
    #[command(mut_arg("jit_residual", for_one_run))]
    #[command(mut_arg("backend", for_one_run))]
    #[command(mut_arg("engine", for_one_run))]
    #[command(mut_arg("machine", for_one_run))]
    Run(WatchRunArgs),
    /// Keep an executable up to date.
    #[command(mut_arg("log_queries", for_one_run))]
    #[command(mut_arg("quiet", for_one_run))]
    #[command(mut_arg("extension", for_one_run))]
    #[command(mut_arg("inputs", for_one_run))]
    #[command(mut_arg("shared", for_one_run))]
    #[command(mut_arg("entrypoints", for_one_run))]
    #[command(mut_arg("profopt", for_one_run))]
    #[command(mut_arg("profile", for_one_run))]
    Build(BuildArgs),
    /// Run the tests that a change can affect.
    #[command(mut_arg("log_queries", for_one_run))]
    Test(TestArgs),
}

#[derive(Args)]
pub(crate) struct WatchRunArgs {
    /// Change the running program where only function bodies have changed.
    #[arg(long)]
    pub(crate) hot: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}
