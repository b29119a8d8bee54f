//! What executables do when the system has no more memory for them.

use std::path::Path;
use std::process::{Command, Output};

fn build(folder: &Path, source: &str) {
    build_with(folder, source, &[]);
}

fn build_with(folder: &Path, source: &str, options: &[&str]) {
    std::fs::write(folder.join("main.py"), source).unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(folder)
        .args(["build", "main.py", "-o", "program"])
        .args(options)
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
}

/// Runs the program with some variables.
fn run(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(folder.join("program"));
    command
        .current_dir(folder)
        .args(args)
        .envs(variables.iter().copied());
    command.output().unwrap()
}

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
    build(dir.path(), SOURCE);
    let o = Command::new("sh")
        .current_dir(dir.path())
        .args(["-c", "ulimit -v 600000; exec ./program"])
        .output()
        .unwrap();
    let expected: String = (0..4).map(|i| format!("no memory for {i}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&o.stdout), expected, "{o:?}");
}

const LIMITED: &str = "\
import os
from rpython.rlib import rgc
class Node(object):
    def __init__(self, n, next):
        self.n = n
        self.next = next
class Keeper(object):
    pass
keeper = Keeper()
keeper.nodes = None
def fill():
    nodes = keeper.nodes = []
    while True: nodes.append(Node(len(nodes), None))
def chain():
    node = None
    while True:
        node = Node(1, node)
        keeper.nodes = [node]
def entry_point(argv):
    if argv[1] == 'chain': chain()
    if argv[1] == 'sizes':
        print rgc.get_stats(rgc.NURSERY_SIZE), rgc.get_stats(rgc.TOTAL_MEMORY) > 0
        return 0
    if argv[1] == 'dump':
        keeper.nodes = [Node(1, Node(2, None))]
        fd = os.open(argv[2], os.O_WRONLY | os.O_CREAT, 0644)
        print rgc.dump_rpy_heap(fd), rgc.dump_rpy_heap(-1)
        os.close(fd)
        return 0
    if argv[1] == 'set': rgc.set_max_heap_size(30000000)
    for i in range(2):
        try: fill()
        except MemoryError:
            print 'no memory', i, len(keeper.nodes) > 100000
            keeper.nodes = None
            rgc.collect()
            print rgc.get_stats(rgc.TOTAL_MEMORY) < 10000000
            print rgc.get_stats(rgc.PEAK_MEMORY) < 60000000
    return 0
def target(driver, args): return entry_point, None
";

#[test]
fn the_heap_has_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), LIMITED);
    let limit = [("PYPY_GC_MAX", "28.6MB"), ("PYPY_GC_NURSERY", "1M")];
    for (how, variables) in [("env", &limit[..]), ("set", &limit[1..])] {
        let o = run(dir.path(), &[how], variables);
        let expected = "no memory 0 1\n1\n1\nno memory 1 1\n1\n1\n";
        assert_eq!(String::from_utf8_lossy(&o.stdout), expected, "{o:?}");
        assert!(o.status.success());
    }
    // Small objects raise as well.
    let o = run(dir.path(), &["chain"], &limit);
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(
        stderr.ends_with("Fatal RPython error: MemoryError\n"),
        "{stderr}"
    );
}

const OLD_GARBAGE: &str = "\
from rpython.rlib import rgc
class Keeper(object):
    text = None
    numbers = None
keeper = Keeper()
def entry_point(argv):
    n = int(argv[1])
    for i in range(4):
        keeper.text = 'x' * (n + i)
        rgc.collect(0)
        keeper.text = None
        keeper.numbers = [i] * (n // 8)
        rgc.collect(0)
        keeper.numbers = None
    print 'done'
    return 0
def target(driver, args): return entry_point, None
";

#[test]
fn old_garbage_is_freed_before_the_system_has_nothing_left() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), OLD_GARBAGE);
    // There is room for one of the objects, and not for two.
    let o = Command::new("sh")
        .current_dir(dir.path())
        .args(["-c", "ulimit -v 600000; exec ./program 300000000"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), "done\n", "{o:?}");
}

#[test]
fn the_environment_says_how_large_the_nursery_is() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), LIMITED);
    for (value, size) in [
        ("1M", 1 << 20),
        ("1.5mb", 3 << 19),
        ("lots", 4 << 20),
        ("1", 64 << 10),
    ] {
        let o = run(dir.path(), &["sizes"], &[("PYPY_GC_NURSERY", value)]);
        let expected = format!("{size} 1\n");
        assert_eq!(
            String::from_utf8_lossy(&o.stdout),
            expected,
            "{value} {o:?}"
        );
    }
}

const LOGGED: &str = "\
class Node(object):
    def __init__(self, next):
        self.next = next
def entry_point(argv):
    last = None
    for i in range(400000):
        last = Node(last)
        if i % 100000 == 0: last = None
    texts = [chr(65 + i) * 100000 for i in range(5)]
    print len(texts)
    return 0
def target(driver, args): return entry_point, None
";

/// The collector's own sections of the log, as the original has them.
#[test]
fn the_collector_writes_sections() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), LOGGED);
    let variables = [
        ("PYPYLOG", "gc:log"),
        ("PYPY_GC_NURSERY", "64K"),
        ("PYPY_GC_MIN", "1M"),
    ];
    let o = run(dir.path(), &[], &variables);
    assert_eq!(String::from_utf8_lossy(&o.stdout), "5\n", "{o:?}");
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    // Times and sizes differ. What is the first of its kind stands for all.
    let mut seen = std::collections::BTreeSet::new();
    let mut found = String::new();
    for line in log.lines() {
        let line = match line.split_once("] ") {
            Some((_, section)) => format!("[..] {section}"),
            None => line.to_owned(),
        };
        let mut shape = String::new();
        for c in line.chars() {
            match c.is_ascii_digit() {
                true if shape.ends_with('N') => {}
                true => shape.push('N'),
                false => shape.push(c),
            }
        }
        if seen.insert(shape.clone()) {
            found.push_str(&shape);
            found.push('\n');
        }
    }
    let expected = "\
[..] {gc-set-nursery-size
nursery size: N
[..] gc-set-nursery-size}
[..] {gc-minor
[..] {gc-minor-walkroots
[..] gc-minor-walkroots}
minor collect, total memory used: N
number of pinned objects: N
total size of surviving objects: N
time taken: N.N
[..] gc-minor}
[..] {gc-collect-step
starting gc state:  SCANNING
number of objects to mark N plus N
stopping, now in gc state:  MARKING
time taken:  N.N
[..] gc-collect-step}
starting gc state:  MARKING
freeing GC objects, up to N pages. More to do.
stopping, now in gc state:  SWEEPING
starting gc state:  SWEEPING
freeing GC objects, up to N pages. No more pages left.
freeing raw objects: N freed, limit was N
[..] {gc-collect-done
arenas:                N  =>  N
bytes used in arenas:  N
bytes raw-malloced:    N  =>  N
next major collection threshold:  N.N
[..] gc-collect-done}
stopping, now in gc state:  SCANNING
";
    assert_eq!(found, expected);
}

#[test]
fn the_heap_is_written_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), LIMITED);
    let o = run(dir.path(), &["dump", "heap"], &[]);
    assert_eq!(String::from_utf8_lossy(&o.stdout), "1 0\n", "{o:?}");
    let bytes = std::fs::read(dir.path().join("heap")).unwrap();
    let words: Vec<i64> = (bytes.chunks_exact(8))
        .map(|word| i64::from_ne_bytes(word.try_into().unwrap()))
        .collect();
    // After the roots there are the list's items, and the nodes.
    let marker = words.windows(4).position(|w| w == [0, 0, 0, -1]).unwrap();
    let rest = words[marker + 4..]
        .split(|w| *w == -1)
        .filter(|o| !o.is_empty());
    let objects: Vec<&[i64]> = words[..marker].split(|w| *w == -1).chain(rest).collect();
    assert!(
        objects
            .iter()
            .filter(|o| !o.is_empty())
            .all(|o| o.len() >= 3)
    );
    let nodes = objects
        .iter()
        .filter(|o| o.len() == 4 && objects.iter().any(|to| to.first() == Some(&o[3])));
    assert!(nodes.count() > 0, "{objects:?}");
}

const TYPES: &str = "\
import os
from rpython.rlib import rgc
class Node(object):
    def __init__(self, next, name):
        self.next = next
        self.name = name
def entry_point(argv):
    node = Node(None, argv[0])
    packed = rgc.get_typeids_z()
    os.write(1, ''.join([packed[i] for i in range(len(packed))]))
    numbers = rgc.get_typeids_list()
    number = rgc.get_rpy_type_index(rgc.cast_instance_to_gcref(node))
    os.write(2, '%d %d %s' % (number, int(numbers[number]), node.name[:0]))
    return 0
def target(driver, args): return entry_point, None
";

/// As a debugger of the heap has them: `zlib.decompress(...)`, a line for each number.
#[test]
fn types_have_names() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), TYPES);
    let o = run(dir.path(), &[], &[]);
    let packed = dir.path().join("typeids");
    std::fs::write(&packed, &o.stdout).unwrap();
    let unpacked = Command::new("python3")
        .args(["-c", "import sys, zlib; print(zlib.decompress(open(sys.argv[1], 'rb').read()).decode(), end='')"])
        .arg(&packed)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&unpacked.stdout);
    let numbers = String::from_utf8_lossy(&o.stderr);
    let mut numbers = numbers.split_whitespace();
    let (number, typeid) = (numbers.next().unwrap(), numbers.next().unwrap());
    assert_eq!(number, typeid);
    let line = format!("member{number:<4} GcStruct main.Node {{ super, inst_name, inst_next }}");
    assert!(text.starts_with("member0    ?\n"), "{o:?} {unpacked:?}");
    assert!(text.lines().any(|l| l == line), "no {line:?} in\n{text}");
    let numbers: Vec<usize> = (text.lines())
        .map(|l| l["member".len()..][..4].trim().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
}

/// Handlers in the very function that allocates, with the collectors that keep a limit exactly.
#[test]
fn handlers_see_what_their_own_function_allocates() {
    let source = include_str!("memory/handlers.py");
    let expected = "\
append_product 1
product -1
nested_finally -7
concat 1
concat_inplace 1
times -2
extend 1
extend_inplace 1
slices 1
grow_dict 1
append 1
joins 1
in_tuple 1
with_others 1
";
    for collector in ["generational", "ref"] {
        let dir = tempfile::tempdir().unwrap();
        build_with(dir.path(), source, &["--gc", collector]);
        let limit = [("PYPY_GC_MAX", "60MB")];
        let o = run(dir.path(), &[], &limit);
        let stdout = String::from_utf8_lossy(&o.stdout);
        assert_eq!(stdout, expected, "{collector} {o:?}");
        for small in ["instances", "tuples", "lists", "formats"] {
            let o = run(dir.path(), &[small], &limit);
            let stdout = String::from_utf8_lossy(&o.stdout);
            assert_eq!(stdout, "1\n", "{collector} {small} {o:?}");
        }
    }
}
