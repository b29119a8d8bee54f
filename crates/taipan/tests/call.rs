//! `taipan call` as programs use it: what goes to standard output, and the exit codes.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const SOURCE: &str = "\
def double(n):
    print 'doubling', n
    return n * 2

def pick(n):
    if n > 1:
        raise IndexError
    return [10, 20][n]

def wrong(n):
    return n + 'x'

def leaves(n):
    import os
    os._exit(n)

def reads():
    import os
    return os.read(0, 100)

class Dead(object):
    count = 0
dead = Dead()

class Mortal(object):
    def __init__(self, n):
        self.n = n
    def __del__(self):
        dead.count += 1

def deaths(n):
    total = 0
    for i in range(n):
        total += Mortal(i).n
    return dead.count
";

fn taipan(args: &[&str], input: &str) -> Output {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.py"), SOURCE).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir.path())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[track_caller]
fn check(args: &[&str], input: &str, stdout: &str, code: i32) {
    let o = taipan(args, input);
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert_eq!(String::from_utf8_lossy(&o.stdout), stdout, "{stderr}");
    assert_eq!(o.status.code(), Some(code), "{stderr}");
}

#[test]
fn one_line_of_json() {
    for engine in ["llinterp", "native"] {
        let json = ["call", "--json", "--engine", engine];
        let call = |args: [&'static str; 2]| [&json[..], &args].concat();
        check(&call(["main.py:double", "4"]), "", "{\"ok\":8}\n", 0);
        let raises = "{\"raises\":\"IndexError\"}\n";
        check(&call(["main.py:pick", "2"]), "", raises, 1);
    }
    let o = taipan(&["call", "--json", "main.py:wrong", "1"], "");
    let line = String::from_utf8(o.stdout).unwrap();
    assert!(line.starts_with("{\"error\":"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert_eq!(o.status.code(), Some(2));
}

#[test]
fn what_a_called_function_prints_is_no_answer() {
    let o = taipan(&["call", "--json", "main.py:double", "4"], "");
    assert!(String::from_utf8_lossy(&o.stderr).contains("doubling 4"));
    check(&["call", "main.py:double", "4"], "", "doubling 4\n8\n", 0);
}

#[test]
fn batches() {
    check(
        &["call", "--batch", "-"],
        "{\"file\": \"main.py\", \"func\": \"double\", \"args\": [\"4\"], \"id\": 1}\n\
         nonsense\n\
         {\"file\": \"main.py\", \"func\": \"pick\", \"args\": [\"2\"], \"id\": \"b\"}\n\
         {\"file\": \"main.py\", \"func\": \"pick\", \"args\": [1], \"id\": \"c\"}\n",
        "{\"id\":1,\"ok\":8}\n\
         {\"error\":\"not a line of JSON: expected ident at line 1 column 2\",\"id\":null}\n\
         {\"id\":\"b\",\"raises\":\"IndexError\"}\n\
         {\"id\":\"c\",\"ok\":20}\n",
        2,
    );
}

/// A call that ends its process is answered for all the same.
#[test]
fn no_call_of_a_batch_stops_the_others() {
    let call = |func: &str, args: &str| {
        format!("{{\"file\": \"main.py\", \"func\": \"{func}\", \"args\": [{args}], \"id\": 0}}\n")
    };
    let input =
        call("double", "1") + &call("leaves", "3") + &call("reads", "") + &call("double", "2");
    check(
        &["call", "--engine", "native", "--batch", "-"],
        &input,
        "{\"id\":0,\"ok\":2}\n\
         {\"error\":\"the call ended the process: exit code 3\",\"id\":0}\n\
         {\"id\":0,\"ok\":\"\"}\n\
         {\"id\":0,\"ok\":4}\n",
        2,
    );
}

/// The collector decides when objects die.
#[test]
fn batches_use_the_collector() {
    let call = "{\"file\": \"main.py\", \"func\": \"deaths\", \"args\": [3]}\n";
    for (gc, dead) in [("generational", 0), ("ref", 3), ("none", 0)] {
        for engine in ["native", "c"] {
            let args = ["call", "--engine", engine, "--gc", gc, "--batch", "-"];
            check(&args, call, &format!("{{\"id\":null,\"ok\":{dead}}}\n"), 0);
        }
    }
    let refused = ["call", "--engine", "python", "--gc", "ref", "--batch", "-"];
    let o = taipan(&refused, call);
    assert_eq!((o.status.code(), &o.stdout[..]), (Some(2), &b""[..]));
    assert!(String::from_utf8_lossy(&o.stderr).contains("leave out --gc ref"));
}

/// A file's own encoding decides about the bytes of its string literals.
#[test]
fn latin1_files() {
    let dir = tempfile::tempdir().unwrap();
    let call = |head: &[u8], body: &str| {
        let text = [head, body.as_bytes(), b" '\xe9\\n' + r'\xe9'\n"].concat();
        std::fs::write(dir.path().join("main.py"), text).unwrap();
        let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(dir.path())
            .args(["call", "--json", "main.py:f", "0"])
            .output()
            .unwrap();
        let out = [o.stdout, o.stderr].concat();
        String::from_utf8_lossy(&out).into_owned()
    };
    let body = "def f(n):\n    return";
    let latin1 = b"#!/usr/bin/python\n# -*- coding: latin1 -*-\n";
    let expected = "{\"ok\":\"\u{e9}\\n\u{e9}\"}\n";
    assert_eq!(call(latin1, body).replace(": ", ":"), expected);
    assert!(call(b"", body).contains("this is not valid UTF-8"));
}
