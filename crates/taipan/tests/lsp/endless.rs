//! Programs whose import does not end keep nobody who types waiting.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;

const PROGRAM: &str = "\
def double(n):
    return n * 2

def entry_point(argv):
    return double(len(argv))
";

fn typed(c: &mut Client) -> String {
    let hover = c.at("textDocument/hover", "main.py", "double(len", 0);
    hover["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The code of the error that a request is answered with.
fn code(c: &mut Client, method: &str, params: Value) -> Option<i64> {
    let id = c.ask(method, params);
    c.answer(id)["error"]["code"].as_i64()
}

#[test]
fn every_request_is_answered() {
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    c.open("main.py");
    c.wait_program("main.py", "double", 0);
    let known = typed(&mut c);
    let document = json!({"textDocument": {"uri": c.url("main.py")}});
    // Calls, so that the limit of steps is far away.
    let endless = format!("while True:\n    str(len([]))\n{PROGRAM}");
    c.set_text("main.py", &endless);
    // More than there are workers.
    let place = json!({
        "textDocument": {"uri": c.url("main.py")},
        "position": c.position("main.py", "double(len", 0),
    });
    let hovers: Vec<i64> = (0..6)
        .map(|_| c.ask("textDocument/hover", place.clone()))
        .collect();
    // What is about syntax waits for none of them.
    let symbols = c.request("textDocument/documentSymbol", document.clone());
    assert_eq!(symbols.as_array().unwrap().len(), 2);
    for id in hovers {
        // ContentModified.
        assert_eq!(c.answer(id)["error"]["code"], -32801);
    }
    // ServerCancelled: the client is to ask again.
    assert_eq!(
        code(&mut c, "textDocument/diagnostic", document),
        Some(-32802)
    );
    // Everything is as it was when the text is.
    c.set_text("main.py", PROGRAM);
    assert_eq!(typed(&mut c), known);
    c.stop();
}

#[test]
fn shutdown_is_answered() {
    for endless in ["while True: str(len([]))", "sum(i for i in iter(int, 1))"] {
        let mut c = Client::start(&[("main.py", PROGRAM)]);
        c.open("main.py");
        c.wait_program("main.py", "double", 0);
        c.set_text("main.py", &format!("{endless}\n{PROGRAM}"));
        let place = json!({
            "textDocument": {"uri": c.url("main.py")},
            "position": {"line": 1, "character": 5},
        });
        // Work begins, and an edit waits for it.
        c.ask("textDocument/hover", place);
        c.set_text("main.py", &format!("{endless} # again\n{PROGRAM}"));
        c.stop();
    }
}

/// A pipe has no end, and reading it waits for somebody who writes.
#[test]
fn a_pipe_is_no_module() {
    let program = format!("import pipe\n{PROGRAM}");
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    let made = Command::new("mkfifo").arg(c.path("pipe.py")).status();
    assert!(made.unwrap().success());
    c.open_text("main.py", &program);
    let found = c.wait("main.py", |d| d.as_array().is_some_and(|d| !d.is_empty()));
    assert!(found.to_string().contains("pipe"), "{found}");
    c.set_text("main.py", PROGRAM);
    c.wait_codes("main.py", &[]);
    c.stop();
}
