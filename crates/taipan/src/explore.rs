//! `taipan explore`

use std::process::{Command, Stdio};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_explore::{Options, Server};

use crate::args::ExploreArgs;
use crate::output::{Context, Onlooker, put, tell};

pub(crate) fn explore(args: &ExploreArgs) -> i32 {
    let mut context = match Context::new(&args.common(), Some(&args.target)) {
        Ok(context) => context,
        Err(code) => return code,
    };
    context.load.passes = args.passes.at(None);
    context.db.observe(Arc::new(Onlooker));
    // Before anything is served: a wrong name is no program.
    if let Err(f) = taipan_driver::load(&context.db, &args.target, &context.load) {
        return context.fail(&f);
    }
    let command = std::env::current_exe().ok();
    let command = command.and_then(|c| Utf8PathBuf::from_path_buf(c).ok());
    let options = Options {
        target: match camino::absolute_utf8(&args.target) {
            Ok(target) => target,
            Err(e) => {
                tell(&format!("taipan: {}: {e}\n", args.target));
                return 2;
            }
        },
        load: context.load.clone(),
        port: args.port,
        poll: args.poll,
        timings: args.timings.then_some(tell),
        command: command.unwrap_or_else(|| Utf8Path::new("taipan").to_owned()),
    };
    let server = match Server::start(context.db, options) {
        Ok(server) => server,
        Err(e) => {
            tell(&format!("taipan: cannot serve: {e}\n"));
            return 2;
        }
    };
    let code = put(&format!("{}\n", server.url()));
    if code != 0 {
        return code;
    }
    if args.open {
        open(&server.url());
    }
    server.serve()
}

/// Shows a page in the user's browser.
fn open(url: &str) {
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let browser = std::env::var("BROWSER").unwrap_or_else(|_| usual.to_owned());
    let mut command = Command::new(&browser);
    command.arg(url).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(e) = command.spawn() {
        tell(&format!("taipan: {browser}: {e}\n"));
    }
}
