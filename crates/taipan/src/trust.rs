//! `taipan trust`: the folders whose code may run while it is only checked or edited.

use camino::Utf8Path;
use taipan_driver::TrustedFolders;

use crate::args::TrustArgs;
use crate::output::{put, tell};

pub(crate) fn trust(args: &TrustArgs) -> i32 {
    let mut trusted = match TrustedFolders::read() {
        Ok(trusted) => trusted,
        Err(e) => {
            tell(&format!("taipan: the list of trusted folders: {e}\n"));
            return 2;
        }
    };
    if args.list {
        let lines = trusted.folders().iter().map(|f| format!("{f}\n"));
        return put(&lines.collect::<String>());
    }
    let folder = args.path.as_deref().unwrap_or(Utf8Path::new("."));
    let done = if args.remove {
        trusted.remove(folder).map(|removed| match removed {
            Some(folder) => (0, format!("No longer trusted: {folder}\n")),
            None => (1, format!("{folder} is not on the list\n")),
        })
    } else {
        (trusted.add(folder)).map(|folder| (0, format!("Trusted: {folder}\n")))
    };
    match done {
        Ok((0, text)) => put(&text),
        Ok((code, text)) => {
            tell(&format!("taipan: {text}"));
            code
        }
        Err(e) => {
            tell(&format!("taipan: {folder}: {e}\n"));
            2
        }
    }
}
