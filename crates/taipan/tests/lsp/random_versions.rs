//! What is said of broken texts is a function of the texts: a server that was asked between the edits,
//! and took its time for each, says the same as one that gets them all at once.

use serde_json::{Value, json};
use taipan_fuzz::{Choices, Target};

use crate::client::Client;

const FILE: &str = "main.py";

const PROGRAM: &str = "\
LIMIT = 10

class A(object):
    kind = 1
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x + self.kind

def double(n):
    total = n * 2
    return total

def greeting(name):
    return 'hello ' + name

def entry_point(argv):
    a = A(double(len(argv)))
    print greeting(argv[0])
    return a.get() + LIMIT
";

/// Pieces that break, mend, or change what functions give; the first is what is there.
const PLACES: &[&[&str]] = &[
    &["LIMIT = 10", "LIMIT = 10 +", "LIMIT = 'x'", "LIMIT = ("],
    &["kind = 1", "kind = [", "kind = 2", "kind = "],
    &[
        "def __init__(self, x):",
        "def __init__(self, x",
        "def __init__(self, x)",
    ],
    &[
        "return self.x + self.kind",
        "return self.",
        "return (self.x",
        "return self.y",
    ],
    &[
        "def double(n):",
        "def double(n, ",
        "def duble(n):",
        "double(n):",
    ],
    &[
        "total = n * 2",
        "total = n * (",
        "total = [n]",
        "total = n +",
    ],
    &[
        "return total",
        "return total[",
        "return str(total)",
        "retrun total",
    ],
    &[
        "return 'hello ' + name",
        "return 'hello",
        "return name.",
        "return len(name)",
    ],
    &[
        "a = A(double(len(argv)))",
        "a = A(double(len(argv))",
        "a = A(double(argv))",
        "a = A(1",
    ],
    &[
        "return a.get() + LIMIT",
        "return a.get() +",
        "return a.",
        "return a.get()",
    ],
];

fn text_of(chosen: &[usize]) -> String {
    let mut text = PROGRAM.to_owned();
    for (pieces, choice) in PLACES.iter().zip(chosen) {
        text = text.replace(pieces[0], pieces[*choice]);
    }
    text
}

fn start() -> Client {
    let params = json!({"capabilities": {"textDocument": {
        "diagnostic": {},
        "hover": {"contentFormat": ["markdown"]},
    }}});
    let mut c = Client::start_with(&[(FILE, PROGRAM)], params);
    c.open(FILE);
    c.wait_program(FILE, "double", 0);
    c
}

/// Everything that is said of the present text.
fn said(c: &mut Client, text: &str) -> Vec<String> {
    let document = json!({"uri": c.url(FILE)});
    let about = json!({"textDocument": document});
    let lines = text.lines().count();
    let whole = json!({
        "textDocument": document,
        "range": {
            "start": {"line": 0, "character": 0},
            "end": {"line": lines, "character": 0},
        },
    });
    let mut out = vec![
        c.request("textDocument/diagnostic", about.clone()),
        c.request("textDocument/documentSymbol", about),
        c.request("textDocument/inlayHint", whole),
    ];
    for (line, text) in text.lines().enumerate() {
        for character in (0..text.len()).step_by(6) {
            let position = json!({"line": line, "character": character});
            let params = json!({"textDocument": document, "position": position});
            out.push(c.request("textDocument/hover", params));
        }
    }
    out.iter().map(|v| c.show(v)).collect()
}

fn compare(asked: &[String], fresh: &[String], texts: &[String]) {
    for (a, b) in asked.iter().zip(fresh) {
        assert!(a == b, "{}\nasked: {a}\nfresh: {b}", texts.join("----\n"));
    }
}

fn try_versions(choices: &mut Choices<'_>) {
    let mut asked = start();
    let mut chosen = vec![0; PLACES.len()];
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..2 + choices.below(8) {
        for _ in 0..1 + choices.below(3) {
            let at = choices.below(PLACES.len());
            chosen[at] = choices.below(PLACES[at].len());
        }
        let text = text_of(&chosen);
        asked.set_text(FILE, &text);
        if choices.below(3) > 0 {
            let params = json!({"textDocument": {"uri": asked.url(FILE)}});
            asked.request("textDocument/diagnostic", params);
        }
        texts.push(text);
    }
    let last = texts.last().cloned().unwrap_or_default();
    let told = said(&mut asked, &last);
    asked.stop();
    let mut fresh = start();
    for text in &texts {
        fresh.set_text(FILE, text);
    }
    compare(&told, &said(&mut fresh, &last), &texts);
    // Nothing of them is left in a text that is whole.
    fresh.set_text(FILE, PROGRAM);
    let whole = said(&mut fresh, PROGRAM);
    fresh.stop();
    let mut new = start();
    compare(&whole, &said(&mut new, PROGRAM), &texts);
    new.stop();
}

#[test]
fn broken_texts() {
    let target = Target::new("broken-versions").cases(2).bytes(128);
    target.run(try_versions);
}

#[test]
fn each_function_is_as_it_was_where_it_parsed_last() {
    let mut c = start();
    let hover = |c: &mut Client, wanted: &str| -> Value {
        c.at("textDocument/hover", FILE, wanted, 0)["contents"]["value"].take()
    };
    // One function is broken, and stays so while another one changes.
    let broken = PROGRAM.replace("def get(self):", "def get(self, (:");
    c.set_text(FILE, &broken);
    let changed = broken.replace("return 'hello ' + name", "return len(name)");
    c.set_text(FILE, &changed);
    let known = hover(&mut c, "greeting(name)");
    assert!(
        known.as_str().unwrap().contains("-> SomeInteger"),
        "{known}"
    );
    // Then the other one is broken, too: it is what it was just before.
    c.set_text(
        FILE,
        &changed.replace("return len(name)", "return len(name["),
    );
    assert_eq!(hover(&mut c, "greeting(name)"), known);
    let get = hover(&mut c, "get() +");
    assert!(get.as_str().unwrap().contains("-> SomeInteger"), "{get}");
    c.stop();
}
