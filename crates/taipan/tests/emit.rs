//! `taipan emit`: functions as programs use them, lines of the source, pictures.

use std::path::Path;
use std::process::{Command, Output};

const NODES: &str = "\
class Node(object):
    pass

class Number(Node):
    def __init__(self, n):
        self.n = n
    def eval(self):
        return self.n

class BinOp(Node):
    def __init__(self, left, right):
        self.left = left
        self.right = right
    def eval(self):
        if self.left is None:
            return 0
        return (self.left.eval() +
                self.right.eval())
    def unused(self, x):
        return x
    @staticmethod
    def make(a, b):
        if b == 0:
            return BinOp(None, Number(b))
        return BinOp(Number(a), Number(b))
";

const MAIN: &str = "\
from mini.nodes import BinOp

def entry_point(argv):
    print BinOp.make(len(argv), len(argv[0])).eval()
    return 0
";

/// A package that no file of loads by itself, and the program that uses it.
fn project(config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    std::fs::create_dir(at.join("mini")).unwrap();
    std::fs::create_dir(at.join("bin")).unwrap();
    std::fs::write(at.join("mini/__init__.py"), "").unwrap();
    std::fs::write(at.join("mini/nodes.py"), NODES).unwrap();
    std::fs::write(at.join("bin/main.py"), MAIN).unwrap();
    std::fs::write(at.join("pyproject.toml"), config).unwrap();
    dir
}

const CONFIG: &str = "[tool.taipan]\ntargets = ['bin/main.py']\npath = ['.']\n";

fn taipan(folder: &Path, args: &[&str]) -> Output {
    let (command, rest) = args.split_first().unwrap();
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args([command, "--cache-dir=cache"])
        .args(rest)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(folder: &Path, args: &[&str]) -> String {
    let o = taipan(folder, args);
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.success(), "{args:?}: {stderr}");
    String::from_utf8(o.stdout).unwrap()
}

#[test]
fn a_method_is_shown_as_the_configured_program_uses_it() {
    let dir = project(CONFIG);
    let at = dir.path();
    let eval = "mini/nodes.py:BinOp.eval";
    let shown = text(at, &["emit", "annotations", eval]);
    assert!(shown.contains("self_0: SomeInstance(BinOp)"), "{shown}");
    assert!(shown.contains("; returns SomeInteger"), "{shown}");
    // The same from the cache.
    assert_eq!(text(at, &["emit", "annotations", eval]), shown);
    for stage in [
        "bytecode",
        "flow",
        "rtyped",
        "optimized",
        "gc",
        "clif",
        "asm",
    ] {
        assert!(!text(at, &["emit", stage, eval]).is_empty(), "{stage}");
    }
    let json = text(at, &["emit", "annotations", "--format=json", eval]);
    assert!(json.starts_with("{\"annotation\":\"SomeInteger"), "{json}");
    let make = text(at, &["emit", "annotations", "mini/nodes.py:BinOp.make"]);
    assert!(make.contains("returns SomeInstance(BinOp)"), "{make}");
    // From elsewhere, too.
    let file = at.join("mini/nodes.py");
    let elsewhere = format!("{}:BinOp.eval", file.to_str().unwrap());
    let cache = at.join("cache");
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(["emit", "annotations", &elsewhere, "--cache-dir"])
        .arg(cache)
        .current_dir("/")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), shown);
}

#[test]
fn programs_are_found_where_none_are_configured() {
    let dir = project("[tool.taipan]\npath = ['.']\n");
    let eval = "mini/nodes.py:BinOp.eval";
    let shown = text(dir.path(), &["emit", "annotations", eval]);
    assert!(shown.contains("self_0: SomeInstance(BinOp)"), "{shown}");
}

#[test]
fn what_no_program_uses_needs_types() {
    let dir = project(CONFIG);
    let unused = "mini/nodes.py:BinOp.unused";
    let o = taipan(dir.path(), &["emit", "annotations", unused]);
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("--inputs") && stderr.contains("tool.taipan"),
        "{stderr}"
    );
}

#[test]
fn lines_of_the_source_are_shown() {
    let dir = project(CONFIG);
    let eval = "mini/nodes.py:BinOp.eval";
    for stage in [
        "bytecode",
        "flow",
        "annotations",
        "rtyped",
        "optimized",
        "exceptions",
        "gc",
    ] {
        let shown = text(dir.path(), &["emit", stage, "--lines", eval]);
        let comment = "    ; mini/nodes.py:15: if self.left is None:\n";
        assert!(shown.contains(comment), "{stage}: {shown}");
        assert!(
            !text(dir.path(), &["emit", stage, eval]).contains(comment),
            "{stage}"
        );
    }
    for stage in ["clif", "asm"] {
        let shown = text(dir.path(), &["emit", stage, "--lines", eval]);
        for comment in [
            "    ; mini/nodes.py:15: if self.left is None:\n",
            "; mini/nodes.py:17: return (self.left.eval() +\n",
            "; mini/nodes.py:18: self.right.eval())\n",
        ] {
            assert!(shown.contains(comment), "{stage}: {shown}");
        }
    }
    let asm = text(dir.path(), &["emit", "asm", "--lines", eval]);
    assert!(asm.contains("ret"), "{asm}");
    assert!(!asm.contains("(bad)"), "{asm}");
    let calls = asm.lines().filter(|l| l.contains("call"));
    for call in calls {
        assert!(call.contains("# ") || call.contains("*%r"), "{call}\n{asm}");
    }
}

#[test]
fn graphs_are_drawn() {
    let dir = project(CONFIG);
    let at = dir.path();
    let eval = "mini/nodes.py:BinOp.eval";
    for stage in [
        "flow",
        "annotations",
        "rtyped",
        "optimized",
        "exceptions",
        "gc",
        "colors",
    ] {
        let svg = text(at, &["emit", stage, "--format=svg", eval]);
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        assert!(svg.contains("class=\"tp-node tp-start\""), "{svg}");
        assert!(svg.contains("class=\"tp-way"), "{svg}");
    }
    let svg = text(at, &["emit", "annotations", "--format=svg", eval]);
    assert!(
        svg.contains("<title>SomeInstance(BinOp)</title>self_0"),
        "{svg}"
    );
    assert!(svg.contains("data-line=\"15\""), "{svg}");
    for (stage, form) in [("asm", "svg"), ("clif", "dot"), ("bytecode", "svg")] {
        let o = taipan(at, &["emit", stage, "--format", form, eval]);
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("text only"), "{stderr}");
    }
}

#[test]
fn graphs_are_those_for_a_collector() {
    let dir = tempfile::tempdir().unwrap();
    let main = "\
class Pair(object):
    def __init__(self, other):
        self.other = other

def turned(pair):
    pair.other.other = pair
    return pair

def entry_point(argv):
    print turned(Pair(Pair(None))) is None
    return 0
";
    std::fs::write(dir.path().join("main.py"), main).unwrap();
    for (collector, operation) in [("generational", "gc_writebarrier"), ("ref", "decref")] {
        let args = [
            "emit",
            "gc",
            "--gc",
            collector,
            "--passes=-all",
            "main.py:turned",
        ];
        let graph = text(dir.path(), &args);
        for other in ["gc_writebarrier", "decref"] {
            assert_eq!(graph.contains(other), other == operation, "{graph}");
        }
    }
    let args = ["emit", "python", "--gc", "none", "main.py:turned"];
    assert_eq!(taipan(dir.path(), &args).status.code(), Some(2));
}

/// Bytecodes with gaps between them need one table of jumps, not one for each run of them.
#[test]
fn one_jump_table_for_bytecodes_with_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let mut main = "def step(code, n):\n    op = ord(code[n])\n".to_owned();
    for n in (1..120).filter(|n| n % 4 != 0) {
        main += &format!("    if op == {n}: return n * {n} - op\n");
    }
    main += "    return 0\n\n\ndef entry_point(argv):\n    print step(argv[0], len(argv))\n    return 0\n";
    std::fs::write(at.join("main.py"), main).unwrap();
    let clif = text(at, &["emit", "clif", "main.py:step"]);
    assert_eq!(clif.matches("br_table").count(), 1, "{clif}");
}

/// Inlining tells classes that annotations do not.
#[test]
fn classes_of_inlined_objects_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let main = "\
class Cell(object):
    def __init__(self, n):
        self.n = n
class Box(Cell):
    pass
class Other(Cell):
    pass

def weight(cell):
    if isinstance(cell, Box):
        return 10 + cell.n
    if isinstance(cell, Other):
        return 20 + cell.n
    return cell.n

def f(n):
    return weight(Box(n))

def g(n):
    return weight(Other(n))

def h(n):
    return weight(Cell(n))

def entry_point(argv):
    n = len(argv)
    print f(n), g(n), h(n)
    return 0
";
    std::fs::write(at.join("main.py"), main).unwrap();
    for f in ["f", "g", "h"] {
        let optimized = text(at, &["emit", "optimized", &format!("main.py:{f}")]);
        assert!(!optimized.contains("int_between"), "{optimized}");
    }
    assert_eq!(text(at, &["run", "main.py"]), "11 21 1\n");
}

#[test]
fn graphs_on_objects_and_their_code_are_shown() {
    let dir = project(CONFIG);
    let (at, eval) = (dir.path(), "mini/nodes.py:BinOp.eval");
    let graph = text(at, &["emit", "oo", "--lines", eval]);
    let read = ": Instance(GcStruct mini.nodes.Number) = oogetfield(self_2, .inst_left)";
    let line = "; mini/nodes.py:15: if self.left is None:";
    for wanted in [read, line, "ooisnull("] {
        assert!(graph.contains(wanted), "{wanted}\n{graph}");
    }
    let code = text(at, &["emit", "wat", "--lines", eval]);
    let read = "struct.get $\"GcStruct mini.nodes.BinOp\" $inst_left";
    let line = ";; mini/nodes.py:15: if self.left is None:";
    for wanted in [read, line, "(import \"program\" "] {
        assert!(code.contains(wanted), "{wanted}\n{code}");
    }
    let program = text(at, &["emit", "wat", "bin/main.py"]);
    assert!(program.contains("(export \"run\" "), "{program}");
    assert!(text(at, &["emit", "oo", "--format=svg", eval]).starts_with("<svg"));
}

#[test]
fn code_for_objects_says_what_is_missing() {
    let dir = project(CONFIG);
    let source = "\
class Mortal(object):
    def __del__(self):
        pass

def make():
    return Mortal()

def entry_point(argv):
    return 0 if make() is None else 1
";
    std::fs::write(dir.path().join("mortal.py"), source).unwrap();
    let o = taipan(dir.path(), &["emit", "wat", "mortal.py:make"]);
    let told = String::from_utf8_lossy(&o.stderr);
    let place = "mortal.py:6:12";
    assert!(
        told.contains("error[TP0504]") && told.contains(place),
        "{told}"
    );
    assert!(text(dir.path(), &["emit", "oo", "mortal.py:make"]).contains("oofinalize("));
}
