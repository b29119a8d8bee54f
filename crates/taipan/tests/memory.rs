//! What executables do when the system has no more memory for them.

use std::process::Command;

const SOURCE: &str = "\
from rpython.rlib.rstring import StringBuilder
def grow_list():
    l = []
    while True: l.append(len(l))
def grow_dict():
    d = {}
    while True: d[len(d)] = 1
def grow_text():
    b = StringBuilder()
    while True: b.append('a longer text' * 100)
def grow_join(text):
    while True: text = ','.join([text, text])
def entry_point(argv):
    for i in range(4):
        try:
            if i == 0: grow_list()
            elif i == 1: grow_dict()
            elif i == 2: grow_text()
            else: grow_join(argv[0])
        except MemoryError:
            print 'no memory for', i
    return 0
def target(driver, args): return entry_point, None
";

#[test]
fn what_grows_step_by_step_raises_memory_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.py"), SOURCE).unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir.path())
        .args(["build", "main.py", "-o", "program"])
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let o = Command::new("sh")
        .current_dir(dir.path())
        .args(["-c", "ulimit -v 600000; exec ./program"])
        .output()
        .unwrap();
    let expected: String = (0..4).map(|i| format!("no memory for {i}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&o.stdout), expected, "{o:?}");
}
