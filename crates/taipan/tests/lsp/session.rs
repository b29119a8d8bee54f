//! From `initialize` to `exit`: documents, diagnostics, configuration, cancellation.

use expect_test::expect;
use serde_json::{Value, json};

use crate::client::Client;

const PROGRAM: &str = "\
class A(object):
    def __init__(self, x):
        self.x = x

def double(n):
    return n * 2

def entry_point(argv):
    a = A(double(len(argv)))
    return a.x
";

/// What a program prints when it is imported is in the client's log.
#[test]
fn what_import_time_prints() {
    let mut c = Client::start(&[("main.py", &format!("print 'hello'\n{PROGRAM}"))]);
    c.open("main.py");
    let logged = c.wait_heard(|m| m["method"] == "window/logMessage");
    let text = logged["params"]["message"].as_str().unwrap();
    assert!(
        text.ends_with("main.py printed when it was imported:\nhello"),
        "{text}"
    );
    c.stop();
}

#[test]
fn diagnostics_follow_the_text() {
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    c.open("main.py");
    c.replace("main.py", "n * 2", 0, "'text'");
    let found = c.wait_codes("main.py", &["TP0316"]);
    expect![[r#"
        [
          {
            "code": "TP0316",
            "message": "the entry point returns a str, not an integer\nhelp: return 0 at the end",
            "range": {
              "end": {
                "character": 15,
                "line": 7
              },
              "start": {
                "character": 4,
                "line": 7
              }
            },
            "severity": 1,
            "source": "taipan"
          }
        ]"#]]
    .assert_eq(&c.show(&found));
    c.replace("main.py", "'text'", 0, "n + 1");
    c.wait_codes("main.py", &[]);
    // Both sides of a conflict.
    c.replace("main.py", "A(double", 0, "A('s')\n    a = A(double");
    let found = c.wait_codes("main.py", &["TP0300"]);
    expect![[r#"
        [
          {
            "code": "TP0300",
            "message": "argument x of __init__() mixes a str and an int\nhelp: keep the kinds apart, or wrap each in a class with a common base",
            "range": {
              "end": {
                "character": 28,
                "line": 9
              },
              "start": {
                "character": 8,
                "line": 9
              }
            },
            "relatedInformation": [
              {
                "location": {
                  "range": {
                    "end": {
                      "character": 14,
                      "line": 8
                    },
                    "start": {
                      "character": 8,
                      "line": 8
                    }
                  },
                  "uri": "main.py"
                },
                "message": "a str comes from here"
              },
              {
                "location": {
                  "range": {
                    "end": {
                      "character": 28,
                      "line": 9
                    },
                    "start": {
                      "character": 8,
                      "line": 9
                    }
                  },
                  "uri": "main.py"
                },
                "message": "an int comes from here"
              }
            ],
            "severity": 1,
            "source": "taipan"
          }
        ]"#]]
    .assert_eq(&c.show(&found));
    c.stop();
}

#[test]
fn hover_over_the_wire() {
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    c.open("main.py");
    c.wait_codes("main.py", &[]);
    let found = c.wait_program("main.py", "x\n", 1);
    expect![[r#"
        {
          "contents": {
            "kind": "markdown",
            "value": "```python\nA.x: SomeInteger(nonneg)\n```\n\n`IntegerRepr`, low-level type `Signed`\n\ndeclared in `A`"
          },
          "range": {
            "end": {
              "character": 14,
              "line": 9
            },
            "start": {
              "character": 13,
              "line": 9
            }
          }
        }"#]].assert_eq(&c.show(&found));
    c.stop();
}

#[test]
fn requests_wait_for_the_first_search() {
    // The search of so many files is still running when the first request arrives.
    let names: Vec<String> = (0..1000).map(|n| format!("lib/part{n}.py")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "N = 1\n")).collect();
    let text = "\
def double(n):
    return n + n

def entry_point(argv):
    return double(len(argv))

def target(driver, args):
    return entry_point, None
";
    files.push(("targetmain.py", text));
    let mut c = Client::start(&files);
    c.open("targetmain.py");
    let hover = c.at("textDocument/hover", "targetmain.py", "double", 0);
    expect![[r#"
        {
          "contents": {
            "kind": "markdown",
            "value": "```python\ndef double(n: SomeInteger(nonneg)) -> SomeInteger(nonneg)\n```\n\nlow-level `(Signed) -> Signed`"
          },
          "range": {
            "end": {
              "character": 10,
              "line": 0
            },
            "start": {
              "character": 4,
              "line": 0
            }
          }
        }"#]].assert_eq(&c.show(&hover));
    c.stop();
}

#[test]
fn positions_in_the_encoding_that_was_agreed_on() {
    let text = "def entry_point(argv):\n    s = '𝄞ß'; return 'x'\n";
    for (encoding, column) in [("utf-8", 18), ("utf-16", 15), ("utf-32", 14)] {
        let capabilities = json!({"general": {"positionEncodings": [encoding]}});
        let params = json!({"capabilities": capabilities});
        let mut c = Client::start_with(&[("main.py", text)], params);
        assert_eq!(c.heard[0]["positionEncoding"], encoding);
        c.open("main.py");
        let position = json!({"line": 1, "character": column});
        let uri = c.url("main.py");
        let params = json!({"textDocument": {"uri": uri}, "position": position});
        let id = c.ask("textDocument/hover", params);
        assert!(c.answer(id).get("error").is_none());
        // `return` is replaced by an error at exactly its place.
        let range = json!({
            "start": {"line": 1, "character": column},
            "end": {"line": 1, "character": column + 6},
        });
        c.change("main.py", json!([{"range": range, "text": "return 1 +"}]));
        let text = c.wait("main.py", |d| d.to_string().contains("TP0223"));
        assert!(text.to_string().contains("TP0223"));
        c.stop();
    }
}

#[test]
fn configuration_counts_and_is_checked() {
    let mut c = Client::start(&[
        ("pyproject.toml", "[tool.taipan]\ntargets = ['a.py']\n"),
        ("a.py", "def entry_point(argv):\n    return 'a'\n"),
        ("b.py", "def entry_point(argv):\n    return 'b'\n"),
    ]);
    c.wait_codes("a.py", &["TP0316"]);
    assert!(!c.diagnostics.contains_key("b.py"));
    // The file in the editor counts, saved or not.
    c.open("pyproject.toml");
    c.replace("pyproject.toml", "'a.py'", 0, "'b.py'");
    c.wait_codes("b.py", &["TP0316"]);
    c.wait_codes("a.py", &[]);
    c.replace("pyproject.toml", "targets", 0, "target");
    c.wait_codes("pyproject.toml", &["TP0011"]);
    c.stop();
}

/// Each target of the configuration is checked with its own options, of which an edit counts at once.
#[test]
fn options_of_each_target_count() {
    let config = "\
[[tool.taipan.targets]]
name = 'plain'
file = 'main.py'

[[tool.taipan.targets]]
name = 'deep'
file = 'main.py'
env = { DEPTH = 'deep' }
target-options = ['--text']
";
    let main = "\
import os
DEPTH = os.environ.get('DEPTH')
def entry_point(argv):
    if DEPTH == 'deep':
        return len(argv) + 'a'
    return 0
def other(argv):
    return 'b'
def target(driver, args):
    return (other if args == ['--text'] else entry_point), None
";
    let mut c = Client::start(&[("pyproject.toml", config), ("main.py", main)]);
    // The options choose another entry point.
    c.wait_codes("main.py", &["TP0316"]);
    c.open("pyproject.toml");
    c.replace("pyproject.toml", "'--text'", 0, "");
    c.wait_codes("main.py", &["TP0303"]);
    c.replace("pyproject.toml", "'deep' }", 0, "'flat' }");
    c.wait_codes("main.py", &[]);
    c.stop();
}

#[test]
fn settings_come_from_the_client() {
    let capabilities = json!({"workspace": {"configuration": true}});
    let mut c = Client::start_with(
        &[
            ("a.py", "def entry_point(argv):\n    return 'a'\n"),
            ("b.py", "def entry_point(argv):\n    return 'b'\n"),
        ],
        json!({
            "capabilities": capabilities,
            "initializationOptions": {"targets": ["a.py"]},
        }),
    );
    c.wait_codes("a.py", &["TP0316"]);
    assert!(!c.diagnostics.contains_key("b.py"));
    c.settings = json!({"targets": ["b.py"]});
    c.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": null}),
    );
    c.wait_codes("b.py", &["TP0316"]);
    c.wait_codes("a.py", &[]);
    c.stop();
}

#[test]
fn changes_on_disk_and_new_files() {
    let capabilities =
        json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut c = Client::start_with(
        &[(
            "main.py",
            "import helper\ndef entry_point(argv):\n    return helper.f()\n",
        )],
        json!({"capabilities": capabilities}),
    );
    c.wait_heard(|m| m["method"] == "client/registerCapability");
    c.wait_codes("main.py", &["TP0201"]);
    std::fs::write(c.path("helper.py"), "def f():\n    return 0\n").unwrap();
    let event =
        |c: &Client, kind: u32| json!({"changes": [{"uri": c.url("helper.py"), "type": kind}]});
    let created = event(&c, 1);
    c.notify("workspace/didChangeWatchedFiles", created);
    c.wait_codes("main.py", &[]);
    std::fs::write(c.path("helper.py"), "def f():\n    return 'x'\n").unwrap();
    let changed = event(&c, 2);
    c.notify("workspace/didChangeWatchedFiles", changed.clone());
    c.wait_codes("main.py", &["TP0316"]);
    // A buffer hides the disk until it is closed.
    c.open_text("helper.py", "def f():\n    return 1\n");
    c.wait_codes("main.py", &[]);
    let uri = c.url("helper.py");
    c.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": uri}}),
    );
    c.wait_codes("main.py", &["TP0316"]);
    std::fs::remove_file(c.path("helper.py")).unwrap();
    let deleted = event(&c, 3);
    c.notify("workspace/didChangeWatchedFiles", deleted);
    c.wait_codes("main.py", &["TP0201"]);
    c.stop();
}

#[test]
fn the_first_analysis_shows_progress() {
    let capabilities = json!({"window": {"workDoneProgress": true}});
    let params = json!({"capabilities": capabilities});
    let mut c = Client::start_with(&[("main.py", PROGRAM)], params);
    let kind = |k: &'static str| move |m: &Value| m["params"]["value"]["kind"] == k;
    c.wait_heard(kind("begin"));
    c.wait_heard(kind("end"));
    c.stop();
}

#[test]
fn diagnostics_can_be_asked_for() {
    let capabilities = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    });
    let params = json!({"capabilities": capabilities});
    let library = "def half(n):\n    return n // 2\n";
    let main = "from lib import half\ndef entry_point(argv):\n    return half(len(argv))\n";
    let mut c = Client::start_with(&[("main.py", main), ("lib.py", library)], params);
    c.wait_heard(|m| m["diagnosticProvider"]["interFileDependencies"] == true);
    c.open("main.py");
    c.open("lib.py");
    c.wait_program("main.py", "half(len", 0);
    let document = |c: &Client, name: &str, old: Value| json!({"textDocument": {"uri": c.url(name)}, "previousResultId": old});
    let codes = |report: &Value| -> Vec<String> {
        let items = report["items"].as_array().unwrap().iter();
        items
            .map(|d| d["code"].as_str().unwrap().to_owned())
            .collect()
    };
    let params = document(&c, "main.py", Value::Null);
    let first = c.request("textDocument/diagnostic", params);
    assert_eq!(first["kind"], "full");
    assert_eq!(codes(&first), [""; 0]);
    let params = document(&c, "main.py", first["resultId"].clone());
    let same = c.request("textDocument/diagnostic", params);
    assert_eq!(
        same,
        json!({"kind": "unchanged", "resultId": first["resultId"]})
    );
    // The answer is about the text with the edits before the request, in other files too.
    c.replace("lib.py", "n // 2", 0, "'text'");
    let params = document(&c, "lib.py", Value::Null);
    let wrong = c.request("textDocument/diagnostic", params);
    let params = json!({"previousResultIds": [{"uri": c.url("main.py"), "value": "old"}]});
    let all = c.request("workspace/diagnostic", params);
    let told: Vec<(&str, Vec<String>)> = (all["items"].as_array().unwrap().iter())
        .map(|r| (r["uri"].as_str().unwrap(), codes(r)))
        .collect();
    let count = told.iter().map(|(_, codes)| codes.len()).sum::<usize>();
    assert!(count > 0 && codes(&wrong).len() <= count, "{told:?}");
    assert!(
        told.iter().any(|(uri, _)| uri.ends_with("/main.py")),
        "{told:?}"
    );
    c.replace("lib.py", "'text'", 0, "n // 3");
    let params = document(&c, "main.py", Value::Null);
    let mended = c.request("textDocument/diagnostic", params);
    assert_eq!(codes(&mended), [""; 0]);
    c.wait_heard(|m| m["method"] == "workspace/diagnostic/refresh");
    // Nothing comes unasked.
    assert!(c.diagnostics.is_empty());
    c.stop();
}

#[test]
fn requests_can_be_cancelled_and_outdated() {
    let mut c = Client::start(&[("main.py", PROGRAM)]);
    c.open("main.py");
    let position = c.position("main.py", "double", 0);
    let uri = c.url("main.py");
    let params = json!({"textDocument": {"uri": uri}, "position": position});
    // Whatever happens, every request is answered: with its result, or with one of the
    // codes that say why not.
    let mut ids = Vec::new();
    for i in 0..20 {
        let id = c.ask("textDocument/hover", params.clone());
        ids.push(id);
        match i % 3 {
            0 => c.notify("$/cancelRequest", json!({"id": id})),
            1 => c.set_text("main.py", &format!("{PROGRAM}# {i}\n")),
            _ => {}
        }
    }
    for id in ids {
        let answer = c.answer(id);
        let code = answer["error"]["code"].as_i64();
        assert!(matches!(code, None | Some(-32800 | -32801)), "{answer}");
    }
    let unknown = c.ask("textDocument/nonsense", json!({}));
    assert_eq!(c.answer(unknown)["error"]["code"], -32601);
    let wrong = c.ask("textDocument/hover", json!({"textDocument": 3}));
    assert_eq!(c.answer(wrong)["error"]["code"], -32602);
    c.stop();
}
