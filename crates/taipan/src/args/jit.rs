//! Options of the just-in-time compiler.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::output::tell;

/// When the just-in-time compiler compiles the sides of a branch.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Splits {
    /// Both at once.
    Eager,
    /// Each when code gets there.
    Lazy,
}

/// Options of the just-in-time compiler.
#[derive(Clone, Args)]
pub(crate) struct JitArgs {
    /// Number of visits of a loop before it is compiled, instead of the program's threshold.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) jit_threshold: Option<i64>,
    /// When the sides of branches are compiled.
    #[arg(long, value_enum, default_value = "lazy")]
    pub(crate) jit_splits: Splits,
    /// Approximate maximum number of blocks that are compiled at once; the next blocks are
    /// compiled separately
    #[arg(long, value_name = "BLOCKS")]
    pub(crate) jit_bound: Option<usize>,
    /// Optimise machine code on a second thread while the program runs.
    #[arg(long)]
    pub(crate) jit_background: bool,
    /// Print a summary of the compiled code on standard error, one line of JSON.
    #[arg(long)]
    pub(crate) jit_summary: bool,
    /// Print the residual functions on standard error.
    #[arg(long)]
    pub(crate) jit_residual: bool,
}

/// The message for a program without a driver.
pub(crate) fn nothing_to_compile(target: &str) -> String {
    format!(
        "taipan: {target} has no jit_merge_point of a JitDriver: there is nothing to compile just in time\n"
    )
}

impl JitArgs {
    pub(crate) fn options(&self, jit: bool) -> Option<taipan_driver::JitOptions> {
        jit.then_some(taipan_driver::JitOptions {
            splits: match self.jit_splits {
                Splits::Eager => taipan_driver::Splits::Eager,
                Splits::Lazy => taipan_driver::Splits::Lazy,
            },
            threshold: self.jit_threshold,
            most_blocks: self.jit_bound,
            most_code: None,
            largest_unit: None,
            background: self.jit_background,
            report: (self.jit_summary || self.jit_residual).then(Arc::default),
            drivers: Arc::default(),
        })
    }

    /// Prints the summary and the residual functions of a target, as the options say.
    pub(crate) fn tell(&self, target: &str, options: Option<&taipan_driver::JitOptions>) {
        let Some(options) = options else { return };
        if options.drivers.get() == Some(&0) {
            tell(&nothing_to_compile(target));
        }
        let Some(report) = &options.report else {
            return;
        };
        let report = report.lock().unwrap_or_else(|e| e.into_inner());
        if self.jit_residual {
            report.graphs.iter().for_each(|g| tell(g));
        }
        if self.jit_summary {
            let (functions, refused) = (report.functions, &report.refused);
            let optimised = report.optimised;
            let mut line =
                json!({"functions": functions, "optimised": optimised, "refused": refused});
            if let (Value::Object(line), Value::Object(counts)) = (&mut line, &report.counts) {
                line.extend(counts.clone());
            }
            tell(&format!("{line}\n"));
        }
    }
}
