//! `taipan debug`

use taipan_debug::Toolchain;

use crate::output::tell;
use crate::project;

/// Serves a debugger's client on standard input and output. Returns the exit code.
pub(crate) fn debug() -> i32 {
    let taipan = std::env::current_exe().map_or_else(|_| "taipan".into(), Into::into);
    let toolchain = Toolchain {
        taipan,
        environment: project::environment,
    };
    match taipan_debug::serve(std::io::stdin(), std::io::stdout(), toolchain) {
        Ok(()) => 0,
        Err(e) => {
            tell(&format!("taipan: {e}\n"));
            2
        }
    }
}
