//! Whatever is sent, the server lives: each request is answered once, with an error of the protocol
//! where it makes no sense, and what comes next is understood.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use taipan_fuzz::{Choices, Target};

use crate::client::Client;

const MAIN: &str = "\
class Shape(object):
    def area(self, scale):
        return 'ß𝄞', scale

def entry_point(argv):
    shape = Shape()
    print shape.area(len(argv))
    return 0

def target(driver, args):
    return entry_point, None
";

/// Requests about a place in a document, or about all of it.
const METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/semanticTokens/range",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/definition",
    "textDocument/implementation",
    "textDocument/typeDefinition",
    "textDocument/prepareCallHierarchy",
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "textDocument/prepareTypeHierarchy",
    "typeHierarchy/supertypes",
    "typeHierarchy/subtypes",
    "textDocument/codeLens",
    "textDocument/documentLink",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "workspace/symbol",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/completion",
    "completionItem/resolve",
    "textDocument/signatureHelp",
    "textDocument/codeAction",
    "textDocument/diagnostic",
    "workspace/diagnostic",
    "inlayHint/resolve",
    "workspace/executeCommand",
    "initialize",
    "no/such/method",
    "",
];

/// Errors that say that the client is wrong, or that something cannot be done. -32603, an internal
/// error, is none of them.
const FINE: &[i64] = &[-32600, -32601, -32602, -32800, -32801, -32802, -32803];

/// What is found where something else is expected.
fn odd_value(choices: &mut Choices<'_>) -> Value {
    match choices.below(14) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(u32::MAX),
        3 => json!(i64::MIN),
        4 => json!(1.5),
        5 => json!(1e300),
        6 => json!(""),
        7 => json!("ß\u{0}\u{2028}"),
        8 => json!([]),
        9 => json!({}),
        10 => json!(true),
        11 => json!("x".repeat(5_000)),
        12 => json!([[[[{"a": [null]}]]]]),
        _ => json!(choices.below(40)),
    }
}

/// Replaces something inside of a value, or leaves it out.
fn spoil(value: &mut Value, choices: &mut Choices<'_>) {
    let inner = match value {
        Value::Object(members) if !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = choices.one_of(&names);
            if choices.below(6) == 0 {
                members.remove(name);
                return;
            }
            members.get_mut(name)
        }
        Value::Array(items) if !items.is_empty() => {
            let i = choices.below(items.len());
            items.get_mut(i)
        }
        _ => None,
    };
    match inner {
        Some(inner) if choices.below(4) > 0 => spoil(inner, choices),
        Some(inner) => *inner = odd_value(choices),
        None => *value = odd_value(choices),
    }
}

/// A place that there may be, or not.
fn position(choices: &mut Choices<'_>) -> Value {
    let mut number = || match choices.below(6) {
        0 => u64::from(u32::MAX),
        1 => choices.below(10_000) as u64,
        _ => choices.below(16) as u64,
    };
    json!({"line": number(), "character": number()})
}

fn range(choices: &mut Choices<'_>) -> Value {
    json!({"start": position(choices), "end": position(choices)})
}

fn url(client: &Client, choices: &mut Choices<'_>) -> String {
    match choices.below(10) {
        0 => client.url("missing.py"),
        1 => client.url(""),
        2 => client.url("%ff%00.py"),
        3 => "untitled:Untitled-1".to_owned(),
        4 => choices
            .of(&["", "file:", "file:///", "a b", "http://x/y.py"])
            .to_owned(),
        _ => client.url("main.py"),
    }
}

/// Parameters as requests and notifications about documents have them, all at once.
fn params(client: &Client, choices: &mut Choices<'_>) -> Value {
    let uri = url(client, choices);
    let item = json!({
        "name": "area", "kind": 12, "uri": uri, "range": range(choices),
        "selectionRange": range(choices), "data": odd_value(choices),
    });
    json!({
        "textDocument": {
            "uri": uri, "version": choices.below(9), "languageId": "python", "text": MAIN,
        },
        "position": position(choices),
        "positions": [position(choices), position(choices)],
        "range": range(choices),
        "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1},
        "newName": choices.of(&["other", "", "1", "a b", "class", "é"]),
        "query": choices.of(&["", "area", "\u{0}"]),
        "label": "area",
        "item": item,
        "previousResultId": "1",
        "previousResultIds": [],
        "contentChanges": [{"range": range(choices), "text": choices.of(&["", "x", "\n(", "𝄞"])}],
        "command": "taipan.nothing",
        "arguments": [],
        "settings": {"taipan": {}},
        "changes": [{"uri": uri, "type": 1 + choices.below(4)}],
    })
}

/// What the client waits for in the end.
#[derive(Default)]
struct Expected {
    /// Requests with these ids.
    answers: BTreeSet<i64>,
    /// So many errors about nothing that can be named.
    refusals: usize,
}

fn send_something(client: &mut Client, expected: &mut Expected, choices: &mut Choices<'_>) {
    match choices.below(16) {
        0 => {
            let text = ["{", "nul", "\u{1}", "{\"id\": 1", "\"\\ud800\""];
            let text = match choices.below(6) {
                5 => "[".repeat(5_000),
                i => text[i].to_owned(),
            };
            client.send_text(&text);
            expected.refusals += 1;
        }
        1 => {
            let values = [
                json!([]),
                json!({}),
                json!(7),
                json!({"jsonrpc": "2.0", "id": null, "method": "textDocument/hover"}),
                json!({"jsonrpc": "2.0", "id": [1], "method": "textDocument/hover"}),
                json!({"jsonrpc": "2.0", "method": 7}),
            ];
            client.send_text(&choices.one_of(&values).to_string());
            expected.refusals += 1;
        }
        2 => {
            let headers: &[&[u8]] = &[
                b"Content-Length: x\r\n\r\n",
                b"nothing of the kind\r\n\r\n",
                b"\xff\xfe\r\n\r\n",
                b"Content-Length: 99999999999999999999\r\n\r\n",
            ];
            client.send_bytes(choices.of(headers));
            expected.refusals += 1;
        }
        // Answers to questions that were not asked.
        3 => {
            let id = choices.below(50);
            let answers = [
                json!({"jsonrpc": "2.0", "id": id + 1_000_000, "result": [{}]}),
                json!({"jsonrpc": "2.0", "id": "none", "error": {"code": 1, "message": ""}}),
            ];
            client.send_text(&choices.one_of(&answers).to_string());
        }
        4 => {
            let mut params = json!({"id": choices.below(200)});
            if choices.bool() {
                spoil(&mut params, choices);
            }
            client.notify("$/cancelRequest", params);
        }
        5..9 => {
            const NOTIFICATIONS: &[&str] = &[
                "textDocument/didOpen",
                "textDocument/didChange",
                "textDocument/didChange",
                "textDocument/didClose",
                "textDocument/didSave",
                "workspace/didChangeConfiguration",
                "workspace/didChangeWatchedFiles",
                "initialized",
                "$/setTrace",
                "no/such/notification",
            ];
            let method = choices.of(NOTIFICATIONS);
            let mut params = params(client, choices);
            for _ in 0..choices.below(4) {
                spoil(&mut params, choices);
            }
            client.notify(method, params);
        }
        _ => {
            let method = choices.of(METHODS);
            let mut params = params(client, choices);
            for _ in 0..choices.below(4) {
                spoil(&mut params, choices);
            }
            expected.answers.insert(client.ask(method, params));
        }
    }
}

#[test]
fn whatever_is_sent() {
    // One server serves all cases as long as it lives.
    let mut server = None;
    let target = Target::new("messages").cases(60).bytes(1024);
    target.run(|choices| {
        let mut client = server.take().unwrap_or_else(|| {
            let mut client = Client::start(&[("main.py", MAIN)]);
            client.wait_program_of("main.py", MAIN, "shape");
            client
        });
        client.set_aside_refusals();
        let mut expected = Expected::default();
        for _ in 0..1 + choices.below(12) {
            send_something(&mut client, &mut expected, choices);
        }
        for id in expected.answers {
            let answer = client.answer(id);
            let code = answer["error"]["code"].as_i64();
            assert!(code.is_none_or(|c| FINE.contains(&c)), "{answer}");
        }
        // It understands what is right, and has not forgotten what is in the file.
        let uri = client.url("main.py");
        client.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        );
        client.wait_program_of("main.py", MAIN, "shape");
        assert_eq!(client.set_aside_refusals(), expected.refusals);
        server = Some(client);
    });
    if let Some(client) = server {
        client.stop();
    }
}

/// What comes out of order, in the order in which it is sent.
#[test]
fn out_of_order() {
    let mut client = Client::start_silent(&[("main.py", MAIN)]);
    let code = |client: &mut Client, method: &str, params: Value| {
        let id = client.ask(method, params);
        client.answer(id)["error"]["code"].as_i64()
    };
    // Before `initialize`.
    assert_eq!(
        code(&mut client, "textDocument/hover", json!({})),
        Some(-32002)
    );
    client.notify("textDocument/didOpen", json!({}));
    assert_eq!(
        code(&mut client, "initialize", json!({"capabilities": 7})),
        Some(-32602)
    );
    assert_eq!(
        code(&mut client, "initialize", json!({"capabilities": {}})),
        None
    );
    // Before `initialized`, and once more.
    let symbols = json!({"textDocument": {"uri": client.url("main.py")}});
    assert_eq!(
        code(&mut client, "textDocument/documentSymbol", symbols),
        None
    );
    assert_eq!(
        code(&mut client, "initialize", json!({"capabilities": {}})),
        Some(-32600)
    );
    client.notify("initialized", json!({}));
    assert_eq!(code(&mut client, "shutdown", Value::Null), None);
    // After `shutdown`.
    assert_eq!(
        code(&mut client, "textDocument/hover", json!({})),
        Some(-32600)
    );
    assert_eq!(code(&mut client, "shutdown", Value::Null), Some(-32600));
    client.leave();
}
