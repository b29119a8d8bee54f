//! Options about source files that back ends write.

use camino::Utf8PathBuf;
use clap::Args;

/// What there is to say to back ends that write source files.
#[derive(Args)]
pub(crate) struct COptions {
    /// Leave the files of C or LLVM in this folder, with a Makefile (with `--backend c` or `llvm`).
    #[arg(long, value_name = "DIR")]
    pub(crate) keep_source: Option<Utf8PathBuf>,
    /// Only write the files.
    #[arg(skip)]
    pub(crate) source_only: bool,
    /// Optimise all C files together when they are linked (with `--backend c`).
    #[arg(long)]
    pub(crate) lto: bool,
    /// Optimise for what the program does with these arguments: make an executable that counts which branches are
    /// taken, run it, and make another one by the counts (with `--backend c` or `llvm`).
    #[arg(long, value_name = "ARGS", value_parser = words, allow_hyphen_values = true)]
    pub(crate) profopt: Option<Words>,
    /// Leave what `--profopt` has counted in this folder; without that option, optimise by what is there.
    #[arg(long, value_name = "DIR")]
    pub(crate) profile: Option<Utf8PathBuf>,
}

/// Words of a command line.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) Vec<String>);

/// Splits a text into words as a shell does.
fn words(text: &str) -> Result<Words, String> {
    shlex::split(text)
        .map(Words)
        .ok_or_else(|| "a quote is not closed, or a backslash stands at the end".to_owned())
}
