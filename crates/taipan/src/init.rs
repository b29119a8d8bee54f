//! `taipan init`: a small interpreter to begin with.

use camino::Utf8Path;

use crate::args::InitArgs;
use crate::output::{put, tell};

/// The files of a new project, by their paths in it. They are the program at which the
/// book's first part ends.
const FILES: &[(&str, &str)] = &[
    (".gitignore", include_str!("../templates/init/gitignore")),
    (
        ".helix/languages.toml",
        include_str!("../templates/init/helix/languages.toml"),
    ),
    (
        ".vscode/settings.json",
        include_str!("../templates/init/vscode/settings.json"),
    ),
    ("README.md", include_str!("../templates/init/README.md")),
    ("code.py", include_str!("../templates/init/code.py")),
    ("compiler.py", include_str!("../templates/init/compiler.py")),
    (
        "examples/fib.mw",
        include_str!("../templates/init/examples/fib.mw"),
    ),
    (
        "examples/primes.mw",
        include_str!("../templates/init/examples/primes.mw"),
    ),
    (
        "interpreter.py",
        include_str!("../templates/init/interpreter.py"),
    ),
    ("lexer.py", include_str!("../templates/init/lexer.py")),
    ("main.py", include_str!("../templates/init/main.py")),
    (
        "pyproject.toml",
        include_str!("../templates/init/pyproject.toml"),
    ),
    (
        "test_lexer.py",
        include_str!("../templates/init/test_lexer.py"),
    ),
    (
        "test_minnow.py",
        include_str!("../templates/init/test_minnow.py"),
    ),
    ("values.py", include_str!("../templates/init/values.py")),
];

pub(crate) fn init(args: &InitArgs) -> i32 {
    let folder = &args.folder;
    // Nothing is written before it is certain that nothing is overwritten.
    for (path, _) in FILES {
        let path = folder.join(path);
        if path.symlink_metadata().is_ok() {
            tell(&format!(
                "taipan: {path} exists already: nothing was written\n"
            ));
            return 2;
        }
    }
    for (path, text) in FILES {
        if let Err(e) = write(&folder.join(path), text) {
            tell(&format!(
                "taipan: cannot write {}: {e}\n",
                folder.join(path)
            ));
            return 2;
        }
    }
    let enter = if folder == "." {
        String::new()
    } else {
        format!("    cd {folder}\n")
    };
    put(&format!(
        "Made an interpreter of a small language in {folder}. Try\n\n{enter}    \
         taipan run main.py examples/fib.mw\n    taipan test\n"
    ))
}

fn write(path: &Utf8Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
