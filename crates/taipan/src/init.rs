//! `taipan init`: a small program to begin with.

use camino::{Utf8Path, Utf8PathBuf};

use crate::args::{InitArgs, Template};
use crate::output::{put, tell};

/// A file of a new project: its path, and its text.
type Text = (&'static str, &'static str);

macro_rules! files {
    ($($path:literal = $text:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $text)))),*]
    };
}

/// Files of every project.
const COMMON: &[Text] = files![
    ".gitignore" = "init/gitignore",
    ".helix/languages.toml" = "init/helix/languages.toml",
    ".vscode/settings.json" = "init/vscode/settings.json",
    "pyproject.toml" = "init/pyproject.toml",
];

/// Names of files that are kept if they exist.
const KEPT: [&str; 2] = [".gitignore", "README.md"];

/// Name of the language in the templates.
const NAME: &str = "minnow";

impl Template {
    /// Its own files. Those of the interpreter are the program at which the book's first part ends.
    fn files(self) -> &'static [Text] {
        match self {
            Template::Interpreter => files![
                "README.md" = "init/README.md",
                "code.py" = "init/code.py",
                "compiler.py" = "init/compiler.py",
                "examples/fib.mw" = "init/examples/fib.mw",
                "examples/primes.mw" = "init/examples/primes.mw",
                "interpreter.py" = "init/interpreter.py",
                "lexer.py" = "init/lexer.py",
                "main.py" = "init/main.py",
                "test_lexer.py" = "init/test_lexer.py",
                "test_minnow.py" = "init/test_minnow.py",
                "values.py" = "init/values.py",
            ],
            Template::Calculator => files![
                "README.md" = "calculator/README.md",
                "calculator.py" = "calculator/calculator.py",
                "main.py" = "calculator/main.py",
                "test_calculator.py" = "calculator/test_calculator.py",
            ],
            Template::Stack => files![
                "README.md" = "stack/README.md",
                "examples/sum.asm" = "stack/examples/sum.asm",
                "machine.py" = "stack/machine.py",
                "main.py" = "stack/main.py",
                "test_machine.py" = "stack/test_machine.py",
            ],
            Template::Register => files![
                "README.md" = "register/README.md",
                "examples/sum.asm" = "register/examples/sum.asm",
                "machine.py" = "register/machine.py",
                "main.py" = "register/main.py",
                "test_machine.py" = "register/test_machine.py",
            ],
            Template::Bare => files![
                "README.md" = "bare/README.md",
                "main.py" = "bare/main.py",
                "test_main.py" = "bare/test_main.py",
            ],
        }
    }

    /// Description, and a command that runs the program.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Template::Interpreter => (
                "an interpreter of a small language",
                "taipan run main.py examples/fib.mw",
            ),
            Template::Calculator => ("a calculator", "taipan run main.py '2 * (3 + 4)'"),
            Template::Stack => (
                "a stack machine",
                "taipan run --jit main.py examples/sum.asm",
            ),
            Template::Register => (
                "a register machine",
                "taipan run --jit main.py examples/sum.asm",
            ),
            Template::Bare => ("a program", "taipan run main.py Ada"),
        }
    }
}

pub(crate) fn init(args: &InitArgs) -> i32 {
    let folder = &args.folder;
    let template = if args.bare {
        Template::Bare
    } else {
        args.template
    };
    let name = args.name.as_deref().unwrap_or(NAME);
    let files: Vec<(Utf8PathBuf, String)> = (COMMON.iter().chain(template.files()))
        .map(|(path, text)| (folder.join(named(path, name)), named(text, name)))
        .collect();
    let (kept, new): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| {
        let is_kept = path.file_name().is_some_and(|n| KEPT.contains(&n));
        is_kept && path.is_file()
    });
    // Nothing is written before it is certain that nothing is overwritten.
    for (path, _) in &new {
        if path.symlink_metadata().is_ok() {
            tell(&format!(
                "taipan: {path} exists already: nothing was written\n"
            ));
            return 2;
        }
    }
    for (path, text) in &new {
        if let Err(e) = write(path, text) {
            tell(&format!("taipan: cannot write {path}: {e}\n"));
            return 2;
        }
    }
    for (path, _) in &kept {
        tell(&format!("taipan: {path} is as it was\n"));
    }
    let enter = if folder == "." {
        String::new()
    } else {
        format!("    cd {folder}\n")
    };
    let (what, first) = template.words();
    put(&format!(
        "Made {what} in {folder}. Try\n\n{enter}    {first}\n    taipan test\n"
    ))
}

/// A path or text of a template with another name of its language.
fn named(text: &str, name: &str) -> String {
    if name == NAME {
        return text.to_owned();
    }
    text.replace(NAME, &name.to_lowercase())
        .replace(&capitalized(NAME), &capitalized(name))
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// Exceptions that Python has already: the interpreter has a class of the language's name and `Error`.
const TAKEN: [&str; 20] = [
    "Arithmetic",
    "Assertion",
    "Attribute",
    "Buffer",
    "Eof",
    "Environment",
    "Import",
    "Index",
    "Io",
    "Key",
    "Lookup",
    "Memory",
    "Name",
    "Os",
    "Overflow",
    "Reference",
    "Runtime",
    "Standard",
    "Type",
    "Value",
];

/// Checks a name given for the language.
pub(crate) fn language_name(text: &str) -> Result<String, String> {
    let mut chars = text.chars();
    let is_name = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err("it takes a letter, and letters, digits and `_` behind it".to_owned());
    }
    let name = capitalized(text);
    if TAKEN.contains(&name.as_str()) {
        Err(format!("Python has a class {name}Error already"))
    } else {
        Ok(text.to_owned())
    }
}

fn write(path: &Utf8Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
