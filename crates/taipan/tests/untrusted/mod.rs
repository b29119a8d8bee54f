//! What a folder can do that nobody trusts, and what C headers have to say today.

mod attacks;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use attacks::{ATTACKS, ENTRY, SCRIPT};

/// A project, and a home of its own.
struct Place {
    _folder: tempfile::TempDir,
    home: PathBuf,
    project: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&project).unwrap();
        Place {
            _folder: folder,
            home,
            project,
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.project.join(name), text).unwrap();
    }

    fn taipan(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(&self.project)
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            .env("XDG_CACHE_HOME", self.home.join("cache"))
            .args(args)
            .output()
            .unwrap()
    }

    #[track_caller]
    fn prints(&self, args: &[&str]) -> String {
        let o = self.taipan(args);
        assert!(o.status.success(), "{args:?}: {o:?}");
        String::from_utf8(o.stdout).unwrap()
    }

    /// Writes one of the attacks, and returns the file that it makes.
    fn attack(&self, source: &str) -> PathBuf {
        let made = self.project.join("made");
        let fill = |text: &str| {
            text.replace("MADE", made.to_str().unwrap())
                .replace("FOLDER", self.project.to_str().unwrap())
        };
        self.write("main.py", &fill(&format!("{source}{ENTRY}")));
        self.write("script", &fill(SCRIPT));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.project.join("script"), mode).unwrap();
        made
    }
}

#[test]
fn nothing_of_a_folder_runs_before_it_is_trusted() {
    for (name, source) in ATTACKS {
        let place = Place::new();
        let made = place.attack(source);
        let o = place.taipan(&["check", "main.py"]);
        let told = String::from_utf8_lossy(&o.stderr);
        assert_eq!(o.status.code(), Some(1), "{name}: {told}");
        assert!(!made.exists(), "{name} ran");
        let remedy = format!("taipan trust {}", place.project.display());
        for part in ["TP0205", "main.py:", &remedy] {
            assert!(told.contains(part), "{name}: no {part} in {told}");
        }
        place.prints(&["trust"]);
        place.prints(&["check", "main.py"]);
        assert!(made.exists(), "{name} did not run");
    }
}

#[test]
fn a_program_that_is_run_may_do_it_at_once() {
    let place = Place::new();
    let made = place.attack(ATTACKS[0].1);
    place.prints(&["run", "main.py"]);
    assert!(made.exists());
    // That says nothing of other commands.
    fs::remove_file(&made).unwrap();
    let o = place.taipan(&["emit", "annotations", "main.py:entry_point"]);
    assert!(!o.status.success() && !made.exists());
}

#[test]
fn the_list_of_trusted_folders() {
    let place = Place::new();
    assert_eq!(place.prints(&["trust", "--list"]), "");
    let line = |folder: &Path| format!("{}\n", folder.display());
    fs::create_dir(place.project.join("inner")).unwrap();
    place.prints(&["trust", "inner"]);
    place.prints(&["trust"]);
    let inner = place.project.join("inner");
    let all = line(&place.project) + &line(&inner);
    assert_eq!(place.prints(&["trust", "--list"]), all);
    let list = place.home.join("config/taipan/trusted");
    let mode = fs::metadata(&list).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    place.prints(&["trust", "--remove"]);
    assert_eq!(place.prints(&["trust", "--list"]), line(&inner));
    let code = |args: &[&str]| place.taipan(args).status.code();
    assert_eq!(code(&["trust", "--remove"]), Some(1));
    assert_eq!(code(&["trust", "nowhere"]), Some(2));
    // A list that others may write to says nothing.
    fs::set_permissions(&list, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(code(&["trust", "--list"]), Some(2));
}

/// A program that prints what its own header says.
const LIMIT: &str = "\
import os
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
here = os.path.dirname(os.path.abspath(__file__))
class CConfig:
    _compilation_info_ = ExternalCompilationInfo(includes=['cfg.h'], include_dirs=[here])
    LIMIT = rffi_platform.ConstantInteger('LIMIT')
LIMIT = rffi_platform.configure(CConfig)['LIMIT']
def entry_point(argv):
    print LIMIT
    return 0
";

#[test]
fn constants_are_those_of_the_header_as_it_is() {
    let place = Place::new();
    place.write("main.py", LIMIT);
    for (value, args) in [
        (5, &["run", "main.py"][..]),
        (7, &["run", "main.py"]),
        (8, &["run", "--no-cache", "main.py"]),
        (9, &["run", "main.py"]),
    ] {
        place.write("inner.h", &format!("#define LIMIT {value}\n"));
        place.write("cfg.h", "#include \"inner.h\"\n");
        assert_eq!(place.prints(args), format!("{value}\n"));
    }
    // Nothing is left to later processes but what `clean` removes.
    let folder = place.home.join("cache/taipan/answers");
    let answers = || fs::read_dir(&folder).unwrap().count();
    assert!(answers() > 0);
    assert!(place.prints(&["clean"]).contains("by the C compiler"));
    assert_eq!(answers(), 0);
    place.prints(&["run", "--no-cache", "main.py"]);
    assert_eq!(answers(), 0);
}

/// A program that calls a function of its own C source.
const SOURCE: &str = "\
import os
from rpython.rtyper.lltypesystem import rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
here = os.path.dirname(os.path.abspath(__file__))
eci = ExternalCompilationInfo(separate_module_files=[os.path.join(here, 'value.c')],
                              include_dirs=[here])
value = rffi.llexternal('value', [], rffi.INT, compilation_info=eci)
def entry_point(argv):
    print int(value())
    return 0
";

#[test]
fn c_sources_are_compiled_with_their_headers_as_they_are() {
    let place = Place::new();
    place.write("main.py", SOURCE);
    place.write(
        "value.c",
        "#include \"value.h\"\nint value(void) { return VALUE; }\n",
    );
    for value in [1, 2] {
        place.write("value.h", &format!("#define VALUE {value}\n"));
        let expected = format!("{value}\n");
        assert_eq!(place.prints(&["run", "main.py"]), expected);
        place.prints(&["build", "main.py", "-o", "value"]);
        let o = Command::new(place.project.join("value")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&o.stdout), expected);
    }
}
