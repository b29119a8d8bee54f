//! The server of `taipan explore`, asked as its page asks it.

#[path = "support/explorer.rs"]
mod explorer;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use explorer::{Explorer, http};
use serde_json::{Value, json};

impl Explorer {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.ask("GET", path, "");
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        (status, value)
    }

    /// What is there.
    fn value(&self, path: &str) -> Value {
        let (status, value) = self.get(path);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }
}

/// A path as it stands in an address.
fn encoded(path: &Path) -> String {
    path.to_str().unwrap().replace('/', "%2F")
}

/// The rows of a table whose name is that.
fn row<'v>(table: &'v Value, name: &str) -> &'v Value {
    let rows = table.as_array().unwrap().iter();
    let names: Vec<&str> = rows.clone().map(|r| r["name"].as_str().unwrap()).collect();
    let mut found = rows.filter(|r| r["name"] == name);
    found
        .next()
        .unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

fn names(table: &Value) -> Vec<&str> {
    let rows = table.as_array().unwrap().iter();
    rows.map(|r| r["name"].as_str().unwrap()).collect()
}

#[test]
fn the_page_and_all_its_parts_are_served() {
    let server = Explorer::start();
    let (status, html) = server.ask("GET", "/", "");
    assert_eq!(status, 200);
    assert!(html.contains("<title>taipan explore</title>"), "{html}");
    // What a part mentions is there, and nothing comes from elsewhere.
    let mut seen = vec!["/".to_owned()];
    let mut left = vec![html];
    while let Some(text) = left.pop() {
        assert!(
            !text.contains("https://") && !text.contains("//cdn"),
            "{text}"
        );
        for part in text.split(['"', '\'']) {
            let part = part.trim_start_matches("./").trim_start_matches('/');
            let is_file = part.ends_with(".js") || part.ends_with(".css");
            let path = format!("/{part}");
            if is_file && !seen.contains(&path) {
                let (status, text) = server.ask("GET", &path, "");
                assert_eq!(status, 200, "{path}");
                seen.push(path);
                left.push(text);
            }
        }
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
    assert_eq!(server.get("/nothing").0, 404);
}

#[test]
fn a_program_is_shown_with_its_functions_calls_and_classes() {
    let server = Explorer::start();
    server.wait_for(1);
    let program = server.value("/api/program");
    assert_eq!(program, server.value("/api/program"));
    let functions = &program["functions"];
    let all = names(functions);
    assert_eq!(
        all.iter()
            .filter(|n| n.starts_with("main.double ["))
            .count(),
        2,
        "{all:?}"
    );
    let total = row(functions, "main.total");
    assert!(
        total["signature"]
            .as_str()
            .unwrap()
            .contains("(shapes: [Shape]) → int>=0"),
        "{total}"
    );
    let first = total["lines"][0].as_u64().unwrap();
    assert_eq!(
        explorer::MAIN.lines().nth(first as usize - 1),
        Some("def total(shapes):")
    );
    let called: Vec<&str> = (total["calls"].as_array().unwrap().iter())
        .map(|i| all[i.as_u64().unwrap() as usize])
        .collect();
    assert_eq!(
        called,
        [
            "shapes.Circle.area",
            "shapes.Shape.area",
            "shapes.Square.area"
        ]
    );

    let classes = &program["classes"];
    let square = row(classes, "shapes.Square");
    let base = square["base"].as_u64().unwrap() as usize;
    assert_eq!(names(classes)[base], "shapes.Shape");
    assert_eq!(square["place"][1], 6);
    assert_eq!(row(&square["attributes"], "side")["annotation"], "int>=0");

    let driver = row(&program["drivers"], "loops");
    assert_eq!(
        all[driver["function"].as_u64().unwrap() as usize],
        "main.interpret"
    );
    assert_eq!(driver["greens"], json!(["pc", "code"]));
    assert_eq!(driver["reds"], json!(["acc", "n"]));

    let source = server.value(&format!(
        "/api/source?file={}",
        encoded(&server.file("main.py"))
    ));
    assert_eq!(source["text"], explorer::MAIN);
    assert_eq!(server.get("/api/source?file=%2Fetc%2Fpasswd").0, 404);

    let calls = server.value("/api/calls?f=main.total&depth=1");
    let svg = calls["svg"].as_str().unwrap();
    for name in ["main.total", "main.entry_point", "shapes.Circle.area"] {
        assert!(svg.contains(&format!("data-key=\"{name}\"")), "{svg}");
    }
    assert!(!svg.contains("main.interpret"), "{svg}");
    let further = server.value("/api/calls?f=main.total&depth=2");
    assert!(
        !further["svg"]
            .as_str()
            .unwrap()
            .contains("data-key=\"main.interpret\"")
    );
    let classes = server.value("/api/classes?c=shapes.Circle");
    let svg = classes["svg"].as_str().unwrap();
    assert!(
        svg.contains("data-key=\"shapes.Shape\"") && !svg.contains("shapes.Square"),
        "{svg}"
    );
}

#[test]
fn a_function_is_shown_at_every_stage() {
    let server = Explorer::start();
    server.wait_for(1);
    let line = (explorer::MAIN.lines())
        .position(|l| l.contains("s.area()"))
        .unwrap()
        + 1;
    for stage in [
        "flow",
        "annotations",
        "rtyped",
        "optimized",
        "exceptions",
        "gc",
        "pass:0",
    ] {
        let path = format!("/api/view?f=main.total&stage={stage}");
        let view = server.value(&path);
        let svg = view["svg"].as_str().unwrap();
        assert!(
            svg.contains(&format!("data-line=\"{line}\"")),
            "{stage}: {svg}"
        );
        assert_eq!(server.value(&path), view, "{stage}");
    }
    let annotated = server.value("/api/view?f=main.total&stage=annotations");
    let svg = annotated["svg"].as_str().unwrap();
    assert!(svg.contains("[Shape]"), "{svg}");
    for stage in ["bytecode", "clif", "asm"] {
        let view = server.value(&format!("/api/view?f=main.total&stage={stage}"));
        let lines = view["lines"].as_array().unwrap();
        assert!(lines.iter().any(|l| l["line"] == line), "{stage}: {view}");
    }
    // What is known while a loop is compiled is green, and why the rest is not stands there.
    let view = server.value("/api/view?f=main.interpret&stage=annotations");
    let svg = view["svg"].as_str().unwrap();
    assert!(svg.contains("data-name=\"pc_"), "{svg}");
    let known = server.value("/api/colors?f=main.interpret");
    assert_eq!(known["pc"]["class"], "green", "{known}");
    assert_eq!(known["acc"]["class"], "red", "{known}");
    let why = known["acc"]["text"].as_str().unwrap();
    assert!(
        why.starts_with("red: argument `acc` of portal of"),
        "{known}"
    );
    assert_eq!(server.value("/api/colors?f=main.entry_point"), json!({}));
    let colors = server.value("/api/view?f=main.interpret&stage=colors");
    assert!(
        colors["svg"].as_str().unwrap().contains("tp-red"),
        "{colors}"
    );

    let passes = server.value("/api/passes?f=main.total");
    assert_eq!(names(&passes)[..2], ["simplified", "inlining"]);
    let last = passes.as_array().unwrap().len() - 1;
    let last = server.value(&format!("/api/view?f=main.total&stage=pass:{last}"));
    let optimized = server.value("/api/view?f=main.total&stage=optimized");
    assert_eq!(last, optimized);

    for (path, status) in [
        ("/api/view?f=main.nothing&stage=flow", 422),
        ("/api/view?f=main.total&stage=nothing", 400),
        ("/api/view?f=main.total&stage=pass:99", 422),
        ("/api/view?stage=flow", 400),
        ("/api/calls?f=main.nothing&depth=1", 404),
        ("/api/calls?f=main.total&depth=much", 400),
        ("/api/timeline?round=77", 404),
    ] {
        let (found, value) = server.get(path);
        assert_eq!(found, status, "{path}: {value}");
        assert!(value["error"].is_string(), "{path}: {value}");
    }
}

#[test]
fn edits_are_followed_and_the_timeline_says_what_ran_and_why() {
    let server = Explorer::start();
    let state = server.wait_for(1);
    assert_eq!(state["problems"], 0, "{state}");
    let first = server.value("/api/timeline?round=1");
    let spans = first["spans"].as_array().unwrap();
    for name in [
        "parse",
        "image",
        "flow_graph",
        "solve",
        "rtyped_graph",
        "optimized",
        "machine_code",
    ] {
        assert!(spans.iter().any(|s| s["name"] == name), "{name}");
    }
    // A query lies within what waited for it.
    for s in spans {
        let end = |s: &Value| s["start"].as_u64().unwrap() + s["took"].as_u64().unwrap();
        match s["parent"].as_u64() {
            Some(p) if spans[p as usize]["thread"] == s["thread"] => {
                let p = &spans[p as usize];
                assert!(p["start"].as_u64() <= s["start"].as_u64(), "{p} {s}");
                // Rounded to microseconds.
                assert!(end(s) <= end(p) + 2, "{p} {s}");
            }
            _ => {}
        }
    }
    // Names a reader knows, without numbers of the database.
    for s in spans {
        let key = s["key"].as_str().unwrap_or("");
        assert!(!key.contains("Id("), "{s}");
    }
    let before = server.value("/api/view?f=shapes.Circle.area&stage=rtyped");

    server.edit("shapes.py", "3 * self.radius", "314 * self.radius");
    let state = server.wait_for(2);
    assert_eq!(
        state["changed"],
        json!([server.file("shapes.py").to_str().unwrap()])
    );
    let after = server.value("/api/view?f=shapes.Circle.area&stage=rtyped");
    assert_ne!(before, after);
    assert!(after["svg"].as_str().unwrap().contains("314"), "{after}");
    let second = server.value("/api/timeline?round=2");
    let ran = |name: &str| {
        let spans = second["spans"].as_array().unwrap().iter();
        let found = spans.filter(|s| s["name"] == name);
        found
            .map(|s| s["key"].as_str().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ran("flow_graph"), ["shapes.Circle.area"]);
    assert!(
        ran("machine_code")
            .iter()
            .any(|k| k == "shapes.Circle.area")
    );
    assert!(!ran("machine_code").iter().any(|k| k == "main.interpret"));
    let why = second["reruns"].as_array().unwrap().iter();
    let mut why = why.filter(|r| r["query"] == "flow_graph" && r["key"] == "shapes.Circle.area");
    let why = why.next().unwrap()["why"].as_str().unwrap();
    assert!(why.contains("code ") && why.contains("changed"), "{why}");

    // What is wrong is told, and the program is there again when it is mended.
    server.edit("shapes.py", "314 * self.radius", "314 * self.radios");
    let state = server.wait_for(3);
    assert_eq!(state["problems"], 1, "{state}");
    assert_eq!(state["errors"], 1, "{state}");
    let problems = server.value("/api/problems");
    let text = problems["diagnostics"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("radios") && text.contains("shapes.py:19"),
        "{text}"
    );
    server.edit("shapes.py", "314 * self.radios", "314 * self.radius");
    assert_eq!(server.wait_for(4)["problems"], 0);
    assert_eq!(
        server.value("/api/view?f=shapes.Circle.area&stage=rtyped"),
        after
    );
    assert_eq!(server.value("/api/rounds").as_array().unwrap().len(), 4);
}

#[test]
fn residual_code_is_shown() {
    let server = Explorer::start();
    let body = json!({"args": [], "threshold": 10}).to_string();
    let (status, text) = server.ask("POST", "/api/residual", &body);
    assert_eq!(status, 200, "{text}");
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["exit"], 0, "{told}");
    assert!(
        told["output"].as_str().unwrap().starts_with("12502500\n"),
        "{told}"
    );
    assert!(
        told["residual"].as_str().unwrap().contains("int_add"),
        "{told}"
    );
    assert!(told["summary"]["functions"].as_u64() >= Some(1), "{told}");
    assert_eq!(server.ask("POST", "/api/residual", "{").0, 400);
}

#[test]
fn a_run_is_followed_by_advice() {
    let server = Explorer::start();
    let main = server.file("main.py");
    let tree = include_str!("../../../fixtures/programs/jit/advice/tree.py");
    std::fs::write(&main, tree).unwrap();
    let body = json!({"args": ["300000"], "threshold": null}).to_string();
    let (status, text) = server.ask("POST", "/api/residual", &body);
    assert_eq!(status, 200, "{text}");
    let told: Value = serde_json::from_str(&text).unwrap();
    let advice = told["advice"].as_array().expect("advice").iter();
    let call = advice.clone().find(|a| a["kind"] == "call");
    let call = call.unwrap_or_else(|| panic!("{told}"));
    assert_eq!(call["file"], main.to_str().unwrap(), "{call}");
    assert_eq!(call["function"], "main.While.eval", "{call}");
    assert!(
        call["what"]
            .as_str()
            .unwrap()
            .starts_with("main.Sum.eval is called"),
        "{call}"
    );
}

#[test]
fn only_the_own_page_is_answered() {
    let server = Explorer::start();
    let (port, cookie) = (server.port.to_string(), server.cookie());
    let send = |method: &str, path: &str, headers: &[(&str, &str)]| {
        let mut all = vec![("Cookie", &*cookie)];
        all.extend(headers);
        http(server.port, method, path, &all, "").0
    };
    let asked = |headers: &[(&str, &str)]| send("GET", "/api/state", headers);
    assert_eq!(asked(&[]), 200);
    assert_eq!(asked(&[("Host", &format!("localhost:{port}"))]), 200);
    assert_eq!(
        asked(&[("Origin", &format!("http://127.0.0.1:{port}"))]),
        200
    );
    assert_eq!(asked(&[("Host", &format!("evil.example:{port}"))]), 403);
    assert_eq!(asked(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(asked(&[("Origin", "http://127.0.0.1:1")]), 403);
    assert_eq!(asked(&[("Sec-Fetch-Site", "same-origin")]), 200);
    // A page of another port of this machine, which gets the cookie.
    assert_eq!(asked(&[("Sec-Fetch-Site", "same-site")]), 403);
    let foreign = [("Origin", "http://evil.example")];
    assert_eq!(send("POST", "/api/residual", &foreign), 403);
    assert_eq!(send("GET", "/events", &foreign), 403);
    assert_eq!(send("DELETE", "/api/state", &[]), 405);
    assert_eq!(asked(&[("X", "y")]), 200);
    assert_eq!(
        send("POST", "/api/residual", &[("Content-Length", "9999999")]),
        413
    );
}

/// Another user of the machine can connect, and knows everything but the token.
#[test]
fn who_does_not_have_the_token_gets_nothing() {
    let server = Explorer::start();
    let other = "0".repeat(32);
    let cookie = format!("taipan-explore-{}={other}", server.port);
    let elsewhere = format!("taipan-explore-1={}", server.token);
    for headers in [
        vec![],
        vec![("Cookie", &*cookie)],
        vec![("Cookie", &*elsewhere)],
    ] {
        for (method, path, body) in [
            ("GET", "/".to_owned(), ""),
            ("GET", "/app.js".to_owned(), ""),
            ("GET", format!("/?token={other}"), ""),
            ("GET", "/?token=".to_owned(), ""),
            ("GET", "/api/state".to_owned(), ""),
            ("GET", "/api/view?f=main.total&stage=flow".to_owned(), ""),
            ("GET", "/events".to_owned(), ""),
            ("GET", "/nothing".to_owned(), ""),
            // The token is for the first page, and nothing else.
            ("GET", format!("/api/state?token={}", server.token), ""),
            (
                "POST",
                format!("/api/residual?token={}", server.token),
                "{\"args\": []}",
            ),
        ] {
            let (status, text) = http(server.port, method, &path, &headers, body);
            assert_eq!(status, 403, "{method} {path}: {text}");
            let told: Value = serde_json::from_str(&text).unwrap();
            let told = told["error"].as_str().unwrap();
            assert!(told.contains("open the address that"), "{told}");
        }
    }
    // Whoever has the address gets the page with a cookie.
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let (path, host) = (server.url(""), format!("127.0.0.1:{}", server.port));
    let path = path.split_once(&host).unwrap().1;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let head = answer.split_once("\r\n\r\n").unwrap().0;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let set = format!(
        "Set-Cookie: {}; Path=/; HttpOnly; SameSite=Strict",
        server.cookie()
    );
    assert!(head.lines().any(|l| l == set), "{head}");
    assert!(
        !answer
            .split_once("\r\n\r\n")
            .unwrap()
            .1
            .contains(&server.token)
    );
}

/// Connections that nobody uses, as browsers open them, keep nobody from asking; too many at once
/// are refused, and the process lives.
#[test]
fn silent_connections_are_in_nobodys_way() {
    let server = Explorer::start();
    let connect = || std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let some: Vec<_> = (0..20).map(|_| connect()).collect();
    assert_eq!(server.get("/api/state").0, 200);
    let many: Vec<_> = (0..300).map(|_| connect()).collect();
    drop((some, many));
    let state = || -> Option<String> {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).ok()?;
        let (host, cookie) = (format!("127.0.0.1:{}", server.port), server.cookie());
        let head = format!("Host: {host}\r\nCookie: {cookie}\r\n");
        write!(stream, "GET /api/state HTTP/1.1\r\n{head}\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.lines().next().map(str::to_owned)
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while state().as_deref() != Some("HTTP/1.1 200 OK") {
        assert!(std::time::Instant::now() < end);
    }
}
