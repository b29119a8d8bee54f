//! Someone types anything at all: the server lives, and what it says in the end is what
//! a fresh `taipan check` says of the same text.

use std::process::Command;

use serde_json::{Value, json};
use taipan_fuzz::{Choices, Target};

use crate::client::Client;

const MAIN: &str = "\
from shapes import Square, Circle, total
from rpython.rlib.rarithmetic import intmask

LIMIT = 100

def build(n):
    items = []
    for i in range(n):
        if i % 2:
            items.append(Square(i))
        else:
            items.append(Circle(i))
    return items

def entry_point(argv):
    n = total(build(len(argv) + 3))
    if n > LIMIT:
        return intmask(LIMIT)
    return n
";

const SHAPES: &str = "\
class Shape(object):
    def area(self):
        raise NotImplementedError

class Square(Shape):
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side * self.side

class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius
    def area(self):
        return 3 * self.radius * self.radius

def total(shapes):
    result = 0
    for shape in shapes:
        result += shape.area()
    return result
";

/// What people type, good and bad.
const SNIPPETS: &[&str] = &[
    "x = 1\n",
    "    return 'text'\n",
    "None",
    " + ",
    "(",
    ")",
    "[",
    "self.other = 3\n",
    "\n",
    "def f(a, b):\n    return a + b\n",
    "class Extra(Shape):\n    def area(self):\n        return 1\n",
    ":",
    "'",
    "    ",
    "import shapes\n",
    "del ",
    "u'x'",
    "\t",
    "# comment",
    "lambda x: x",
    "yield 1\n",
    "while True:\n",
    "\u{e9}",
    "\\",
    "\"\"\"",
];

/// Everything that is wrong, as `code file:line:column`, sorted.
fn said_by_server(c: &Client) -> Vec<String> {
    let mut out = Vec::new();
    for (file, found) in &c.diagnostics {
        for d in found.as_array().unwrap() {
            let start = &d["range"]["start"];
            let line = start["line"].as_u64().unwrap() + 1;
            let column = start["character"].as_u64().unwrap() + 1;
            out.push(format!(
                "{} {file}:{line}:{column}",
                d["code"].as_str().unwrap()
            ));
        }
    }
    out.sort();
    out
}

fn said_by_check(files: &[(&str, String)]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let out = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(["check", "--no-cache", "--format", "json", "main.py"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(
        out.status.code() != Some(2),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut lines: Vec<String> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|d| {
            let file = d["file"].as_str().unwrap_or("main.py");
            let name = file.rsplit('/').next().unwrap();
            format!(
                "{} {name}:{}:{}",
                d["code"].as_str().unwrap(),
                d["line"],
                d["column"]
            )
        })
        .collect();
    lines.sort();
    lines
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Line and column in characters: the encoding that this test asks for.
fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    json!({"line": line, "character": before[start..].chars().count()})
}

struct Typist {
    client: Client,
    texts: Vec<(&'static str, String)>,
}

impl Typist {
    /// Replaces a piece of a text.
    fn edit(&mut self, file: usize, from: usize, to: usize, new: &str) {
        let (name, text) = &mut self.texts[file];
        let range = json!({"start": position(text, from), "end": position(text, to)});
        text.replace_range(from..to, new);
        self.client
            .change(name, json!([{"range": range, "text": new}]));
    }

    /// Types a snippet letter by letter, or deletes something letter by letter.
    fn burst(&mut self, choices: &mut Choices<'_>) {
        let file = choices.below(2);
        let length = self.texts[file].1.len();
        let at = choices.below(length + 1);
        let at = floor(&self.texts[file].1, at);
        if choices.below(3) == 0 {
            for _ in 0..choices.below(12) {
                let text = &self.texts[file].1;
                let at = floor(text, at.min(text.len()));
                let Some(c) = text[at..].chars().next() else {
                    break;
                };
                self.edit(file, at, at + c.len_utf8(), "");
            }
        } else {
            let snippet = SNIPPETS[choices.below(SNIPPETS.len())];
            let mut at = at;
            for c in snippet.chars() {
                self.edit(file, at, at, c.encode_utf8(&mut [0; 4]));
                at += c.len_utf8();
            }
        }
        self.curiosity(file, choices);
    }

    /// Asks for something and does not wait for the answer.
    fn curiosity(&mut self, file: usize, choices: &mut Choices<'_>) {
        const METHODS: &[&str] = &[
            "textDocument/hover",
            "textDocument/definition",
            "textDocument/documentHighlight",
            "textDocument/completion",
            "textDocument/signatureHelp",
            "textDocument/prepareRename",
            "textDocument/documentSymbol",
            "textDocument/foldingRange",
            "textDocument/semanticTokens/full",
        ];
        let (name, text) = &self.texts[file];
        let at = floor(text, choices.below(text.len() + 1));
        let params = json!({
            "textDocument": {"uri": self.client.url(name)},
            "position": position(text, at),
        });
        let method = METHODS[choices.below(METHODS.len())];
        let id = self.client.ask(method, params);
        match choices.below(3) {
            0 => self.client.notify("$/cancelRequest", json!({"id": id})),
            1 => {
                let answer = self.client.answer(id);
                // -32803: it says why it cannot. Never an internal error.
                let code = answer["error"]["code"].as_i64();
                let fine = matches!(code, None | Some(-32800 | -32801 | -32803));
                assert!(fine, "{method}: {answer}");
            }
            _ => {}
        }
    }

    /// Waits until the server says what a fresh check says.
    fn compare(&mut self) {
        // What stood in for broken texts is forgotten with the buffers.
        for i in 0..self.texts.len() {
            let (name, text) = self.texts[i].clone();
            let uri = self.client.url(name);
            self.client.notify(
                "textDocument/didClose",
                json!({"textDocument": {"uri": uri}}),
            );
            self.client.open_text(name, &text);
        }
        let wanted = said_by_check(&self.texts);
        // Of a file that the program does not reach only its syntax is looked at.
        let reached = wanted.iter().any(|w| w.contains(" shapes.py:"));
        let same = |c: &Client| {
            let mut said = said_by_server(c);
            said.retain(|s| reached || !s.starts_with("TP0001 shapes.py:"));
            said == wanted
        };
        self.client.wait_until(same, &wanted);
    }
}

/// Someone with a server and both files open.
fn sit_down() -> Typist {
    let params = json!({
        "capabilities": {"general": {"positionEncodings": ["utf-32"]}},
    });
    let files = [("main.py", MAIN), ("shapes.py", SHAPES)];
    let mut client = Client::start_with(&files, params);
    for (name, _) in files {
        client.open(name);
    }
    Typist {
        client,
        texts: files.map(|(name, text)| (name, text.to_owned())).into(),
    }
}

#[test]
fn whatever_is_typed() {
    // One server serves all cases as long as nothing is wrong.
    let mut sitting = None;
    let target = Target::new("typing").cases(6).bytes(1024);
    target.run(|choices| {
        let mut typist = sitting.take().unwrap_or_else(sit_down);
        for _ in 0..1 + choices.below(4) {
            for _ in 0..1 + choices.below(6) {
                typist.burst(choices);
            }
            typist.compare();
            if choices.below(3) == 0 {
                break;
            }
        }
        for (i, good) in [MAIN, SHAPES].into_iter().enumerate() {
            let end = typist.texts[i].1.len();
            typist.edit(i, 0, end, good);
        }
        typist.compare();
        sitting = Some(typist);
    });
    if let Some(typist) = sitting {
        typist.client.stop();
    }
}
