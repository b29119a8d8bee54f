//! Every kind of request once, in the protocol's form.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::client::Client;

const MAIN: &str = "\
import helper
from helper import Base, Derived

def pick(flag):
    if flag:
        return Base(1)
    return Derived(2)

def entry_point(argv):
    thing = pick(len(argv) > 1)
    return thing.value() + helper.LIMIT
";

const HELPER: &str = "\
LIMIT = 3

class Base(object):
    def __init__(self, n):
        self.n = n
    def value(self):
        return self.n

class Derived(Base):
    def value(self):
        return -self.n
";

fn start() -> Client {
    let mut c = Client::start(&[("main.py", MAIN), ("helper.py", HELPER)]);
    c.open("main.py");
    c.open("helper.py");
    c.wait_codes("main.py", &[]);
    c.wait_program("main.py", "thing = pick", 0);
    c
}

/// `file:line:column-column` of each location, counted from 0.
fn places(c: &Client, value: &Value, expected: Expect) {
    let lines: Vec<String> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|l| {
            let uri = l["uri"].as_str().unwrap_or("");
            format!("{} {}", c.show(&uri.into()), range(&l["range"]))
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

fn range(r: &Value) -> String {
    let (a, b) = (&r["start"], &r["end"]);
    format!(
        "{}:{}-{}:{}",
        a["line"], a["character"], b["line"], b["character"]
    )
}

fn document(c: &Client, name: &str) -> Value {
    json!({"textDocument": {"uri": c.url(name)}})
}

#[test]
fn navigation() {
    let mut c = start();
    let found = c.at("textDocument/definition", "main.py", "value()", 0);
    places(
        &c,
        &found,
        expect![[r#"
        "helper.py" 5:8-5:13
        "helper.py" 9:8-9:13"#]],
    );
    let mut params = document(&c, "helper.py");
    params["position"] = c.position("helper.py", "n = n", 0);
    params["context"] = json!({"includeDeclaration": true});
    let found = c.request("textDocument/references", params.clone());
    places(
        &c,
        &found,
        expect![[r#"
        "helper.py" 4:13-4:14
        "helper.py" 6:20-6:21
        "helper.py" 10:21-10:22"#]],
    );
    params["context"] = json!({"includeDeclaration": false});
    let found = c.request("textDocument/references", params);
    places(
        &c,
        &found,
        expect![[r#"
        "helper.py" 6:20-6:21
        "helper.py" 10:21-10:22"#]],
    );
    let found = c.at("textDocument/documentHighlight", "main.py", "thing", 0);
    places(
        &c,
        &found,
        expect![[r#"
        "" 9:4-9:9
        "" 10:11-10:16"#]],
    );
    let params = document(&c, "helper.py");
    let found = c.request("textDocument/documentSymbol", params);
    assert_eq!(found[1]["children"][1]["name"], "value");
    let found = c.request("workspace/symbol", json!({"query": "deriv"}));
    expect![[r#"
        [
          {
            "kind": 5,
            "location": {
              "range": {
                "end": {
                  "character": 13,
                  "line": 8
                },
                "start": {
                  "character": 6,
                  "line": 8
                }
              },
              "uri": "helper.py"
            },
            "name": "Derived"
          }
        ]"#]]
    .assert_eq(&c.show(&found));
    c.stop();
}

#[test]
fn hints_are_resolved() {
    let mut c = start();
    let mut params = document(&c, "main.py");
    params["range"] = json!({
        "start": {"line": 3, "character": 0},
        "end": {"line": 4, "character": 0},
    });
    let found = c.request("textDocument/inlayHint", params);
    let first = found[0].clone();
    expect![[r#"
        {
          "data": "SomeBool",
          "kind": 1,
          "label": ": bool",
          "position": {
            "character": 13,
            "line": 3
          }
        }"#]]
    .assert_eq(&c.show(&first));
    let resolved = c.request("inlayHint/resolve", first);
    assert_eq!(resolved["tooltip"], "SomeBool");
    // Not if they are not wanted.
    let settings = json!({"taipan": {"inlayHints": {"arguments": false, "results": false}}});
    c.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": settings}),
    );
    let mut params = document(&c, "main.py");
    params["range"] = json!({
        "start": {"line": 0, "character": 0},
        "end": {"line": 99, "character": 0},
    });
    assert_eq!(c.request("textDocument/inlayHint", params), json!([]));
    c.stop();
}

/// Applies an edit of tokens as a client does.
fn apply(old: &[Value], edits: &Value) -> Vec<Value> {
    let mut data = old.to_vec();
    for e in edits.as_array().unwrap().iter().rev() {
        let start = e["start"].as_u64().unwrap() as usize;
        let end = start + e["deleteCount"].as_u64().unwrap() as usize;
        let new = e["data"].as_array().unwrap().iter().cloned();
        data.splice(start..end, new);
    }
    data
}

#[test]
fn tokens_and_their_changes() {
    let mut c = start();
    let params = document(&c, "main.py");
    let full = c.request("textDocument/semanticTokens/full", params.clone());
    let old = full["data"].as_array().unwrap().clone();
    c.replace(
        "main.py",
        "thing = pick",
        0,
        "thing = pick(False)\n    thing = pick",
    );
    let mut delta = params.clone();
    delta["previousResultId"] = full["resultId"].clone();
    let delta = c.request("textDocument/semanticTokens/full/delta", delta);
    let full = c.request("textDocument/semanticTokens/full", params.clone());
    assert_eq!(Value::Array(apply(&old, &delta["edits"])), full["data"]);
    let mut part = params;
    part["range"] = json!({
        "start": {"line": 3, "character": 0},
        "end": {"line": 4, "character": 0},
    });
    let part = c.request("textDocument/semanticTokens/range", part);
    // `pick` and `flag`.
    assert_eq!(part["data"].as_array().unwrap().len(), 2 * 5);
    c.stop();
}

#[test]
fn rename_through_the_hierarchy() {
    let mut c = start();
    let mut params = document(&c, "main.py");
    params["position"] = c.position("main.py", "value()", 0);
    let prepared = c.request("textDocument/prepareRename", params.clone());
    assert_eq!(range(&prepared), "10:17-10:22");
    params["newName"] = json!("amount");
    let edit = c.request("textDocument/rename", params);
    let mut all: Vec<String> = Vec::new();
    for (uri, edits) in edit["changes"].as_object().unwrap() {
        for e in edits.as_array().unwrap() {
            let uri = c.show(&uri.as_str().into());
            all.push(format!("{uri} {} {}", range(&e["range"]), e["newText"]));
        }
    }
    all.sort();
    expect![[r#"
        "helper.py" 5:8-5:13 "amount"
        "helper.py" 9:8-9:13 "amount"
        "main.py" 10:17-10:22 "amount""#]]
    .assert_eq(&all.join("\n"));
    // A refusal says why.
    let mut params = document(&c, "main.py");
    params["position"] = c.position("main.py", "len", 0);
    params["newName"] = json!("length");
    let id = c.ask("textDocument/rename", params);
    let answer = c.answer(id);
    assert_eq!(answer["error"]["message"], "`len` is builtin");
    c.stop();
}

/// A module that a target, a test module and a file that cannot be loaded name.
#[test]
fn references_and_rename_over_the_borders_of_programs() {
    let files = [
        (
            "src/lib.py",
            "class Table(object):\n    def intern(self): return 1\ndef symbol_for(text): return len(text)\n",
        ),
        (
            "src/main.py",
            "import lib\ndef entry_point(argv): return lib.symbol_for('a') + lib.Table().intern()\n",
        ),
        (
            "src/test_lib.py",
            "from lib import symbol_for\ndef test_it():\n    assert symbol_for('b') == 1\n",
        ),
        (
            "tests/test_more.py",
            "import not_there\nfrom lib import symbol_for\ndef check(table):\n    return table.intern(), symbol_for('c')\n",
        ),
    ];
    let mut c = Client::start(&files);
    let wanted = [
        "src/lib.py 2:4-2:14",
        "src/main.py 1:34-1:44",
        "src/test_lib.py 0:16-0:26",
        "src/test_lib.py 2:11-2:21",
        "tests/test_more.py 1:16-1:26",
        "tests/test_more.py 3:27-3:37",
    ];
    // From the library, from the test, and from what cannot be loaded.
    for (name, nth) in [
        ("src/lib.py", 0),
        ("src/test_lib.py", 1),
        ("tests/test_more.py", 1),
    ] {
        c.open(name);
        let mut params = document(&c, name);
        params["position"] = c.position(name, "symbol_for", nth);
        params["context"] = json!({"includeDeclaration": true});
        let found = c.request("textDocument/references", params.clone());
        let found: Vec<String> = (found.as_array().unwrap().iter())
            .map(|l| {
                let uri = l["uri"].as_str().unwrap();
                let file = uri.strip_prefix(&c.url("")).unwrap();
                format!("{file} {}", range(&l["range"]))
            })
            .collect();
        assert_eq!(found, wanted, "{name}");
        params["newName"] = json!("intern_symbol");
        let edit = c.request("textDocument/rename", params);
        let mut changed: Vec<String> = Vec::new();
        for (uri, edits) in edit["changes"].as_object().unwrap() {
            let file = uri.strip_prefix(&c.url("")).unwrap();
            let ranges = edits.as_array().unwrap().iter();
            changed.extend(ranges.map(|e| format!("{file} {}", range(&e["range"]))));
        }
        changed.sort();
        assert_eq!(changed, wanted, "{name}");
    }
    // What is not certain is refused, with the place.
    let mut params = document(&c, "src/lib.py");
    params["position"] = c.position("src/lib.py", "intern", 0);
    params["newName"] = json!("add");
    let id = c.ask("textDocument/rename", params);
    let answer = c.answer(id);
    let path = c.path("tests/test_more.py");
    let reason = format!(
        "it is not known whether `intern` at {}:4 is the same",
        path.display()
    );
    assert_eq!(answer["error"]["message"], *reason);
    c.stop();
}

#[test]
fn quick_fixes_are_edits() {
    let mut c = start();
    c.replace("main.py", "return thing.value()", 0, "return intmask(3)");
    let found = c.wait_codes("main.py", &["TP0222"]);
    let mut params = document(&c, "main.py");
    params["range"] = found[0]["range"].clone();
    params["context"] = json!({"diagnostics": found});
    let actions = c.request("textDocument/codeAction", params);
    assert_eq!(actions[0]["diagnostics"][0], found[0]);
    let mut action = actions[0].clone();
    action["diagnostics"] = Value::Null;
    expect![[r#"
        {
          "diagnostics": null,
          "edit": {
            "changes": {
              "main.py": [
                {
                  "newText": "from rpython.rlib.rarithmetic import intmask\n",
                  "range": {
                    "end": {
                      "character": 0,
                      "line": 2
                    },
                    "start": {
                      "character": 0,
                      "line": 2
                    }
                  }
                }
              ]
            }
          },
          "isPreferred": true,
          "kind": "quickfix",
          "title": "Import `intmask`"
        }"#]]
    .assert_eq(&c.show(&action));
    c.stop();
}

/// Each fix is applied to a document with code without use; what else may depend on the code stays.
#[test]
fn quick_fixes_of_code_without_use() {
    let main = "\
import sys
import os, math  # both
from helper import (one,
                    two, three)
def entry_point(argv):
    dropped = one_more(len(argv))
    kept = (len(argv))
    print math.pi, two()
    return 0
    print 1  # behind the end
def one_more(n):
    return n + 1
";
    let helper = "def one(): pass\ndef two(): return 2\ndef three(): pass\n";
    let mut c = Client::start(&[("main.py", main), ("helper.py", helper)]);
    c.open("main.py");
    let codes = [&["TP0020"; 4][..], &["TP0021"; 2], &["TP0022"]].concat();
    let found = c.wait_codes("main.py", &codes);
    let mut lines: Vec<String> = main.lines().map(str::to_owned).collect();
    let mut titles = Vec::new();
    let mut edits: Vec<Value> = Vec::new();
    for d in found.as_array().unwrap() {
        let mut params = document(&c, "main.py");
        params["range"] = d["range"].clone();
        params["context"] = json!({"diagnostics": [d]});
        let actions = c.request("textDocument/codeAction", params);
        for action in actions.as_array().unwrap() {
            let title = action["title"].as_str().unwrap();
            if title.starts_with("Suppress") {
                continue;
            }
            titles.push(title.to_owned());
            let changes = &action["edit"]["changes"][c.url("main.py")];
            edits.extend(changes.as_array().unwrap().iter().cloned());
        }
    }
    expect![[r#"
        Remove the import of `sys`
        Remove the import of `os`
        Remove the import of `one`
        Remove the import of `three`
        Leave the variable `dropped` out
        Remove this code"#]]
    .assert_eq(&titles.join("\n"));
    // From the end, so that places in front of an edit stay.
    let place = |p: &Value| ["line", "character"].map(|key| p[key].as_u64().unwrap() as usize);
    edits.sort_by_key(|e| std::cmp::Reverse(place(&e["range"]["start"])));
    for e in &edits {
        assert_eq!(e["newText"], "");
        let [first, from] = place(&e["range"]["start"]);
        let [last, to] = place(&e["range"]["end"]);
        let rest = lines[last][to..].to_owned();
        lines[first].replace_range(from.., &rest);
        lines.drain(first + 1..=last);
    }
    expect![[r#"
        import math  # both
        from helper import (two)
        def entry_point(argv):
            one_more(len(argv))
            kept = (len(argv))
            print math.pi, two()
            return 0
        def one_more(n):
            return n + 1"#]]
    .assert_eq(&lines.join("\n"));
    c.stop();
}

#[test]
fn writing_in_the_middle_of_an_edit() {
    let mut c = start();
    c.replace(
        "main.py",
        "return thing.value()",
        0,
        "thing.\n    return thing.value()",
    );
    c.wait_codes("main.py", &["TP0001"]);
    let mut params = document(&c, "main.py");
    params["position"] = json!({"line": 10, "character": 10});
    let found = c.request("textDocument/completion", params);
    let names: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["label"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["n", "value"]);
    // What it says of one of them is told when it is asked for.
    let value = found[1].clone();
    assert_eq!(value["documentation"], Value::Null);
    let value = c.request("completionItem/resolve", value);
    let text = value["documentation"]["value"].as_str().unwrap();
    let signature = "def Base.value(self: SomeInstance(Base)) -> SomeInteger";
    assert!(text.contains(signature), "{text}");
    let labels = |found: &Value| -> Vec<String> {
        let all = found.as_array().unwrap().iter();
        all.map(|i| i["label"].as_str().unwrap().to_owned())
            .collect()
    };
    // Any expression of which the annotation is known, and imports.
    c.replace("main.py", "thing.\n", 0, "pick(1).\n");
    params = document(&c, "main.py");
    params["position"] = json!({"line": 10, "character": 12});
    let found = c.request("textDocument/completion", params.clone());
    assert_eq!(labels(&found), ["n", "value"]);
    c.replace("main.py", "pick(1).\n", 0, "from helper import \n");
    params["position"] = json!({"line": 10, "character": 23});
    params["context"] = json!({"triggerKind": 2, "triggerCharacter": " "});
    let found = c.request("textDocument/completion", params.clone());
    assert_eq!(labels(&found), ["Base", "Derived", "LIMIT"]);
    // A blank elsewhere asks for nothing.
    params["position"] = json!({"line": 10, "character": 8});
    let found = c.request("textDocument/completion", params);
    assert_eq!(found, Value::Null);
    c.replace("main.py", "from helper import \n", 0, "thing.\n");
    c.replace("main.py", "thing.\n", 0, "pick(\n");
    c.wait_codes("main.py", &["TP0001"]);
    let mut params = document(&c, "main.py");
    params["position"] = json!({"line": 10, "character": 9});
    let found = c.request("textDocument/signatureHelp", params);
    assert_eq!(found["signatures"][0]["label"], "pick(flag: SomeBool)");
    c.stop();
}

#[test]
fn folds_and_selections() {
    let mut c = start();
    let params = document(&c, "helper.py");
    let folds = c.request("textDocument/foldingRange", params);
    let lines: Vec<String> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|f| format!("{}-{}", f["startLine"], f["endLine"]))
        .collect();
    assert_eq!(lines, ["2-6", "3-4", "5-6", "8-10", "9-10"]);
    let mut params = document(&c, "helper.py");
    params["positions"] = json!([c.position("helper.py", "n\n", 0)]);
    let found = c.request("textDocument/selectionRange", params);
    let mut at = &found[0];
    let mut chain = Vec::new();
    while !at.is_null() {
        chain.push(range(&at["range"]));
        at = &at["parent"];
    }
    expect![[r#"
        4:17-4:18
        4:8-4:18
        3:4-4:18
        2:0-6:21
        0:0-11:0"#]]
    .assert_eq(&chain.join("\n"));
    c.stop();
}

#[test]
fn shipped_files_can_be_opened() {
    let text = "\
from rpython.rlib.rarithmetic import intmask
def entry_point(argv):
    return intmask(len(argv))
";
    let mut c = Client::start(&[("main.py", text)]);
    c.open("main.py");
    let found = c.at("textDocument/definition", "main.py", "intmask(", 0);
    let uri = found[0]["uri"].as_str().unwrap().to_owned();
    let path = uri.strip_prefix("file://").unwrap();
    let copy = std::fs::read_to_string(path).unwrap();
    let line = found[0]["range"]["start"]["line"].as_u64().unwrap() as usize;
    let defined = copy.lines().nth(line).unwrap();
    assert!(defined.contains("intmask"), "{defined}");
    // The copy is the shipped file: what is asked of it is known.
    let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": copy});
    c.notify("textDocument/didOpen", json!({"textDocument": document}));
    let params = json!({
        "textDocument": {"uri": uri},
        "position": found[0]["range"]["start"],
    });
    let hover = c.request("textDocument/hover", params);
    assert!(hover.to_string().contains("intmask"), "{hover}");
    c.stop();
}
