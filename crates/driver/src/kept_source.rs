//! What `--keep-source` leaves in a folder: the files of a program, the runtime, the C libraries that the program
//! brings, and a Makefile that puts them together.

use std::ffi::OsString;
use std::{fs, io};

use camino::Utf8Path;
use taipan_codegen::c_libraries;
use taipan_lltype::FuncSym;
use taipan_platform::LIBRARIES;

/// The runtime's object file. No file of a module has a name like that (`file_stems` of codegen).
const RUNTIME: &str = "taipan-runtime.o";
/// The folder of the C libraries' files, which have names of their own.
const FOREIGN: &str = "libraries";

/// What is left.
pub(crate) struct KeptSource<'a> {
    /// Names and texts; all of the folder.
    pub(crate) files: Vec<(String, &'a str)>,
    /// Object files that the program consists of, in the order in which they are linked.
    pub(crate) objects: Vec<String>,
    /// The functions of C libraries that the program brings.
    pub(crate) foreign: &'a [FuncSym],
    /// The runtime.
    pub(crate) runtime: &'a [u8],
    /// The executable.
    pub(crate) output: &'a Utf8Path,
}

impl KeptSource<'_> {
    /// Writes everything. `compiler` is the C compiler, `link` are its options where it links; `head` is a part of
    /// the Makefile with more variables, and `rules` one with those that make object files.
    pub(crate) fn leave(
        &self,
        folder: &Utf8Path,
        compiler: &str,
        link: &str,
        head: &str,
        rules: &str,
    ) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for (name, text) in &self.files {
            let file = folder.join(name);
            // Make looks at times.
            if !fs::read_to_string(&file).is_ok_and(|t| t == *text) {
                fs::write(file, text)?;
            }
        }
        fs::write(folder.join(RUNTIME), self.runtime)?;
        let libraries = c_libraries(self.foreign);
        let (compile, more) = if libraries.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            let folder = folder.join(FOREIGN);
            fs::create_dir_all(&folder)?;
            // As the Makefile sees it.
            libraries.write_as(folder.as_std_path(), FOREIGN.as_ref())?
        };
        let makefile = MAKEFILE
            .replace("@NAME@", &self.target())
            .replace("@CC@", compiler)
            .replace("@HEAD@", head)
            .replace("@RULES@", rules)
            .replace("@OBJECTS@", &self.objects.join(" \\\n    "))
            .replace("@RUNTIME@", RUNTIME)
            .replace("@LINK@", link)
            .replace("@FOREIGN@", &words(compile))
            .replace("@MORE@", &words(more))
            .replace("@LIBRARIES@", &LIBRARIES.join(" "));
        fs::write(folder.join("Makefile"), makefile)
    }

    /// What `make` makes: the executable under its name, unless that means something else to it.
    fn target(&self) -> String {
        let name = self.output.file_name().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let files = self.files.iter().map(|(name, _)| name.as_str());
        let mut taken = files
            .chain(self.objects.iter().map(String::as_str))
            .chain(["", "clean", "Makefile", RUNTIME, FOREIGN]);
        if name.chars().all(is_plain) && !taken.any(|t| t.eq_ignore_ascii_case(name)) {
            name.to_owned()
        } else {
            "program".to_owned()
        }
    }
}

fn words(all: Vec<OsString>) -> String {
    let all = all.into_iter().map(|w| w.to_string_lossy().into_owned());
    all.collect::<Vec<_>>().join(" ")
}

const MAKEFILE: &str = "# Puts together what Taipan translated: `make`.
CC = @CC@
@HEAD@OBJECTS = \\
    @OBJECTS@

@NAME@: $(OBJECTS) @RUNTIME@
\t$(CC) -no-pie @LINK@ -o $@ $(OBJECTS) @RUNTIME@ @FOREIGN@ @MORE@ @LIBRARIES@

@RULES@
clean:
\trm -f @NAME@ $(OBJECTS)

.PHONY: clean
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_not_something_else() {
        let target = |output: &str| {
            let source = KeptSource {
                files: vec![("main.c".to_owned(), "")],
                objects: vec!["main.o".to_owned()],
                foreign: &[],
                runtime: &[],
                output: output.into(),
            };
            source.target()
        };
        assert_eq!(target("/tmp/quill-1.0"), "quill-1.0");
        for taken in [
            "clean", "Makefile", "makefile", "main.c", "main.o", "a b", "a:b", "$a", "a%", "/",
        ] {
            assert_eq!(target(taken), "program", "{taken}");
        }
    }
}
