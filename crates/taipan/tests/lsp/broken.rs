//! Edits that break the syntax keep the rest of the program analysed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;

const PROGRAM: &str = "\
LIMIT = 10

class A(object):
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x

def double(n):
    return n * 2

def entry_point(argv):
    a = A(double(len(argv)))
    return a.get() + LIMIT
";

fn text(v: &Value) -> String {
    v["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// What is known of `a.get()` in the entry point.
fn hover(c: &mut Client) -> String {
    text(&c.at("textDocument/hover", "main.py", "get() +", 0))
}

#[test]
fn a_broken_function_keeps_its_signature() {
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    c.open("main.py");
    c.wait_codes("main.py", &[]);
    c.wait_program("main.py", "double", 0);
    let whole = hover(&mut c);
    assert!(whole.contains("SomeInteger"), "{whole}");
    // A body, a header, a class attribute, a global: each in the middle of an edit.
    for (old, new) in [
        ("n * 2", "n * ("),
        ("def double(n):", "def double(n, "),
        ("    def get", "    kind = [\n    def get"),
        ("LIMIT = 10", "LIMIT = 10 +"),
        ("self.x = x", "self.x = x.\n"),
    ] {
        c.replace("main.py", old, 0, new);
        let found = c.wait("main.py", |d| d.to_string().contains("TP0001"));
        let codes: Vec<&str> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["code"].as_str().unwrap())
            .collect();
        assert!(codes.iter().all(|c| *c == "TP0001"), "{new}: {found}");
        assert_eq!(hover(&mut c), whole, "{new}");
        c.replace("main.py", new, 0, old);
        c.wait_codes("main.py", &[]);
    }
    c.stop();
}

#[test]
fn errors_elsewhere_are_still_told() {
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    c.open("main.py");
    c.wait_codes("main.py", &[]);
    c.replace("main.py", "return self.x", 0, "return self.x +");
    c.wait_codes("main.py", &["TP0001"]);
    c.replace("main.py", "a.get() + LIMIT", 0, "a.got() + LIMIT");
    c.wait_codes("main.py", &["TP0001", "TP0301"]);
    c.stop();
}

#[test]
fn a_file_that_is_opened_broken() {
    let broken = PROGRAM.replace("n * 2", "n * (");
    let mut c = Client::start(&[("main.py", &broken)]);
    c.open("main.py");
    c.wait_codes("main.py", &["TP0001"]);
    let found = text(&c.wait_program("main.py", "double(len", 0));
    assert!(found.contains("def double"), "{found}");
    c.stop();
}

#[test]
fn a_file_that_no_target_reaches() {
    let mut c = Client::start(&[
        ("main.py", PROGRAM),
        (
            "tool.py",
            "def f(x):\n    return x +\ndef g():\n    return 1\n",
        ),
    ]);
    c.open("tool.py");
    c.wait_codes("tool.py", &["TP0001"]);
    let symbols = c.request(
        "textDocument/documentSymbol",
        serde_json::json!({"textDocument": {"uri": c.url("tool.py")}}),
    );
    let names: Vec<&str> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["f", "g"]);
    c.stop();
}

#[test]
fn an_exception_at_import_time_leaves_the_rest_known() {
    let library = "\
class A(object):
    pass

def double(n):
    return n * 2

def entry_point(argv):
    return double(len(argv))
";
    let mut c = Client::start(&[("main.py", library)]);
    c.open("main.py");
    c.wait_codes("main.py", &[]);
    c.wait_program("main.py", "double", 0);
    c.replace(
        "main.py",
        "class A",
        0,
        "import nothing_like_this\n\nclass A",
    );
    c.wait_codes("main.py", &["TP0201"]);
    let known = c.at("textDocument/hover", "main.py", "double", 1);
    assert!(text(&known).contains("SomeInteger"), "{known}");
    // What is wrong elsewhere is told as well, what follows from it is not.
    let name = "nothing_like_this.x";
    c.replace(
        "main.py",
        "pass",
        0,
        &format!("pass\n\ndef unknown():\n    return {name}"),
    );
    let call = "double(len(argv))";
    c.replace("main.py", call, 0, &format!("{call} + unknown()"));
    c.replace("main.py", "n * 2", 0, "n.nothing");
    c.wait_codes("main.py", &["TP0201", "TP0301"]);
    c.stop();
}

/// Not even if it was still being parsed when it was closed.
#[test]
fn what_was_closed_stands_in_for_nothing() {
    let more = "\ndef more(n):\n    return [n, (n + 1) * 2, str(n)]\n".repeat(4_000);
    let broken = PROGRAM.replace("self, x):", "self, x:");
    let mut c = Client::start(&[("main.py", &broken)]);
    let document = json!({"textDocument": {"uri": c.url("main.py")}});
    c.open_text("main.py", &format!("{PROGRAM}{more}"));
    // Before a request is answered what was opened is taken up.
    c.ask("textDocument/foldingRange", document.clone());
    c.notify("textDocument/didClose", document.clone());
    c.open_text("main.py", &broken);
    let both = ["TP0001", "TP0304"];
    c.wait_codes("main.py", &both);
    // By now the long text has been parsed.
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..2 {
        c.request("textDocument/foldingRange", document.clone());
        std::thread::sleep(Duration::from_millis(300));
    }
    c.wait_codes("main.py", &both);
    c.stop();
}
