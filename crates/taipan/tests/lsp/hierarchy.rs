//! Hierarchies, lenses, links, and what is told of files and functions that nobody reaches.

use expect_test::expect;
use serde_json::{Value, json};

use crate::client::Client;

const NODES: &str = "\
class Node(object):
    def eval(self):
        raise NotImplementedError

class Number(Node):
    def __init__(self, n):
        self.n = n
    def eval(self):
        return self.n

def unused(n):
    return n
";

const MAIN: &str = "\
import nodes

def make(n):
    return nodes.Number(n)

def entry_point(argv):
    return make(len(argv)).eval()
";

const TEST: &str = "\
from nodes import Number
def test_eval():
    assert Number(3).eval() == 3
";

const FILES: &[(&str, &str)] = &[
    ("main.py", MAIN),
    ("nodes.py", NODES),
    ("test_nodes.py", TEST),
];

fn start(params: Value) -> Client {
    let mut c = Client::start_with(FILES, params);
    c.open("main.py");
    c.open("nodes.py");
    c.wait_program("main.py", "make(len", 0);
    c
}

/// Names of items, with the lines on which they stand.
fn names(found: &Value) -> Vec<String> {
    let name = |i: &Value| {
        format!(
            "{}:{}",
            i["name"].as_str().unwrap(),
            i["range"]["start"]["line"]
        )
    };
    found.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn calls() {
    let mut c = start(json!({}));
    let found = c.at(
        "textDocument/prepareCallHierarchy",
        "main.py",
        "make(len",
        0,
    );
    assert_eq!(names(&found), ["make:2"]);
    let incoming = c.request("callHierarchy/incomingCalls", json!({"item": found[0]}));
    assert_eq!(incoming[0]["from"]["name"], "entry_point");
    assert_eq!(
        incoming[0]["fromRanges"][0]["start"],
        json!({"line": 6, "character": 11})
    );
    let outgoing = c.request("callHierarchy/outgoingCalls", json!({"item": found[0]}));
    assert_eq!(outgoing[0]["to"]["name"], "__init__");
    assert_eq!(outgoing[0]["to"]["detail"], "Number");
    // Of a constructor, from another file that no target reaches.
    let incoming = c.request(
        "callHierarchy/incomingCalls",
        json!({"item": outgoing[0]["to"]}),
    );
    let from: Vec<&str> = (incoming.as_array().unwrap().iter())
        .map(|i| i["from"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(from, ["make", "test_eval"]);
    c.stop();
}

#[test]
fn types_and_implementations() {
    let mut c = start(json!({}));
    let capabilities = c.heard[0].clone();
    assert_eq!(capabilities["typeHierarchyProvider"], true);
    let found = c.at(
        "textDocument/prepareTypeHierarchy",
        "nodes.py",
        "Node(object",
        0,
    );
    assert_eq!(names(&found), ["Node:0"]);
    let below = c.request("typeHierarchy/subtypes", json!({"item": found[0]}));
    assert_eq!(names(&below), ["Number:4"]);
    let above = c.request("typeHierarchy/supertypes", json!({"item": below[0]}));
    assert_eq!(names(&above), ["Node:0"]);
    let found = c.at("textDocument/implementation", "nodes.py", "eval", 0);
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 7, "character": 8})
    );
    assert_eq!(found.as_array().unwrap().len(), 1);
    let found = c.at("textDocument/typeDefinition", "main.py", "make(len", 0);
    assert_eq!(found, json!([]));
    c.replace(
        "main.py",
        "    return make",
        0,
        "    made = make(2)\n    return made.eval() + make",
    );
    let found = c.at("textDocument/typeDefinition", "main.py", "made.eval", 0);
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 4, "character": 6})
    );
    c.stop();
}

#[test]
fn links_and_symbols() {
    let mut c = start(json!({}));
    let params = json!({"textDocument": {"uri": c.url("main.py")}});
    let found = c.request("textDocument/documentLink", params);
    assert_eq!(found[0]["target"], c.url("nodes.py"));
    // Also of files that no target reaches.
    let found = c.request("workspace/symbol", json!({"query": "eval"}));
    let names: Vec<&str> = (found.as_array().unwrap().iter())
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["eval", "eval", "test_eval"]);
    c.stop();
}

/// Titles and commands of the lenses of a file, with their lines.
fn lenses(c: &mut Client, name: &str) -> String {
    let params = json!({"textDocument": {"uri": c.url(name)}});
    let found = c.request("textDocument/codeLens", params);
    let root = c.path("").display().to_string();
    let mut out = String::new();
    for l in found.as_array().unwrap() {
        let command = &l["command"];
        let line = &l["range"]["start"]["line"];
        let title = command["title"].as_str().unwrap();
        let name = command["command"].as_str().unwrap();
        let arguments = command["arguments"].to_string().replace(&root, "");
        out.push_str(&format!("{line} {title}: {name} {arguments}\n"));
    }
    out
}

#[test]
fn lenses_and_why_a_function_was_compiled_again() {
    let mut c = start(json!({"capabilities": {
        "textDocument": {"codeLens": {}},
        "workspace": {"codeLens": {"refreshSupport": true}},
    }}));
    c.wait_codes("main.py", &[]);
    expect![[r#"
        2 show graph: taipan.showGraph ["main.py","make"]
        5 run: taipan.run ["main.py"]
        5 build: taipan.build ["main.py"]
        5 show graph: taipan.showGraph ["main.py","entry_point"]
    "#]]
    .assert_eq(&lenses(&mut c, "main.py"));
    expect![[r#"
        1 run test: taipan.test ["test_nodes.py","test_eval"]
    "#]]
    .assert_eq(&lenses(&mut c, "test_nodes.py"));
    // They are asked for again when the program is known, and when there is something new.
    let refresh = |m: &Value| m["method"] == "workspace/codeLens/refresh";
    c.wait_heard(refresh);
    // Of the function that was edited, and of one that it concerns.
    c.replace(
        "main.py",
        "make(len(argv)).eval()",
        0,
        "make(len(argv) - 5).eval()",
    );
    let found = loop {
        let found = lenses(&mut c, "main.py");
        if found.contains("again") {
            break found;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    let of = |line: &str| -> String {
        let wanted = |l: &&str| l.starts_with(line) && l.contains(" again because ");
        found.lines().filter(wanted).collect()
    };
    let edited = "5 flow graph, annotation, rtyped graph again because it was edited";
    assert!(of("5 ").starts_with(edited), "{found}");
    assert!(
        of("2 ").starts_with("2 annotation, rtyped graph"),
        "{found}"
    );
    assert!(of("2 ").contains(" changed: "), "{found}");
    let refreshes = c.heard.iter().filter(|m| refresh(m)).count();
    assert!(refreshes > 1);
    // What is not wanted is not shown.
    let settings = json!({"taipan": {"codeLens": {"run": false, "graph": false, "reran": false}}});
    c.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": settings}),
    );
    assert_eq!(lenses(&mut c, "main.py"), "");
    c.stop();
}

#[test]
fn mistakes_in_files_that_are_not_open() {
    let mut c = Client::start(&[
        ("pyproject.toml", "[tool.taipan]\ntargets = [\"main.py\"]\n"),
        (
            "main.py",
            "import used\ndef entry_point(argv):\n    return used.f(len(argv))\n",
        ),
        ("used.py", "def f(n):\n    return n.nothing\n"),
        // No target reaches it.
        ("tool.py", "import used\ndef g(:\n    pass\n"),
        // It has nothing to do with the program, and may be another Python.
        (
            "setup.py",
            "from setuptools import setup\nprint(f'{setup}', file=1)\n",
        ),
    ]);
    c.wait_codes("used.py", &["TP0301"]);
    c.wait_codes("tool.py", &["TP0001"]);
    assert_eq!(c.diagnostics.get("setup.py"), None);
    // When it is mended on disk it is well.
    std::fs::write(c.path("tool.py"), "import used\n").unwrap();
    let changes = json!([{"uri": c.url("tool.py"), "type": 2}]);
    c.notify(
        "workspace/didChangeWatchedFiles",
        json!({"changes": changes}),
    );
    c.wait_codes("tool.py", &[]);
    // A new one is found.
    std::fs::write(c.path("new.py"), "import used\nx = (\n").unwrap();
    let changes = json!([{"uri": c.url("new.py"), "type": 1}]);
    c.notify(
        "workspace/didChangeWatchedFiles",
        json!({"changes": changes}),
    );
    c.wait_codes("new.py", &["TP0001"]);
    c.stop();
}

#[test]
fn functions_that_no_target_reaches_are_faded() {
    let mut c = start(
        json!({"capabilities": {"textDocument": {"publishDiagnostics": {
            "tagSupport": {"valueSet": [1, 2]},
        }}}}),
    );
    let found = c.wait("nodes.py", |d| d.as_array().unwrap().len() == 1);
    expect![[r#"
        [
          {
            "message": "no target reaches this function",
            "range": {
              "end": {
                "character": 12,
                "line": 11
              },
              "start": {
                "character": 0,
                "line": 10
              }
            },
            "severity": 4,
            "source": "taipan",
            "tags": [
              1
            ]
          }
        ]"#]]
    .assert_eq(&c.show(&found));
    // It is reached now, while another one is broken.
    c.replace(
        "main.py",
        "    return make",
        0,
        "    nodes.unused(1)\n    return make",
    );
    c.wait("nodes.py", |d| d.as_array().unwrap().is_empty());
    c.replace("main.py", "nodes.unused(1)", 0, "pass");
    c.wait("nodes.py", |d| d.as_array().unwrap().len() == 1);
    c.stop();
}

#[test]
fn code_without_use_is_faded() {
    let mut c = start(
        json!({"capabilities": {"textDocument": {"publishDiagnostics": {
            "tagSupport": {"valueSet": [1, 2]},
        }}}}),
    );
    c.wait("nodes.py", |d| d.as_array().unwrap().len() == 1);
    c.replace(
        "main.py",
        "    return make",
        0,
        "    unused = 1\n    return make",
    );
    c.wait("main.py", |d| {
        let all = d.as_array().unwrap();
        all.iter()
            .any(|d| d["code"] == "TP0021" && d["tags"] == json!([1]) && d["severity"] == 2)
    });
    c.stop();
}
