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

/// What the just-in-time compiler does.
#[derive(Clone, Args)]
pub(crate) struct JitArgs {
    /// Compile a loop when it has come by so often, whatever the program says.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) jit_threshold: Option<i64>,
    /// When the sides of branches are compiled.
    #[arg(long, value_enum, default_value = "lazy")]
    pub(crate) jit_splits: Splits,
    /// Compile at most about so many blocks of code at once; what comes after them is
    /// compiled by itself
    #[arg(long, value_name = "BLOCKS")]
    pub(crate) jit_bound: Option<usize>,
    /// Optimise machine code on a second thread while the program runs.
    #[arg(long)]
    pub(crate) jit_background: bool,
    /// Say on standard error what was compiled, one line of JSON.
    #[arg(long)]
    pub(crate) jit_summary: bool,
    /// Print the residual functions on standard error.
    #[arg(long)]
    pub(crate) jit_residual: bool,
}

/// What is said of a program without a driver.
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

    /// Says what was compiled of a target.
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
