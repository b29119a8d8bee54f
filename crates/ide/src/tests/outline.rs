use std::fmt::Write as _;

use expect_test::{Expect, expect};
use taipan_base::TextRange;

use super::fixture;
use super::navigation::PROGRAM;

#[test]
fn document_symbols_nest() {
    let f = fixture(
        "
        import os$0
        X = Y = 1
        X = 2
        class A(object):
            attr = 3
            def method(self):
                def inner():
                    pass
                local = 4
            class B:
                pass
        def f():
            pass
        ",
    );
    let mut out = String::new();
    fn show(out: &mut String, symbols: &[crate::DocumentSymbol], depth: usize) {
        for s in symbols {
            let _ = writeln!(out, "{}{:?} {}", "  ".repeat(depth), s.kind, s.name);
            show(out, &s.children, depth + 1);
        }
    }
    show(&mut out, &crate::document_symbols(&f.db, f.file()), 0);
    expect![].assert_eq(&out);
}

#[test]
fn workspace_symbols_by_letters() {
    let f = fixture(PROGRAM);
    let find = |query: &str, expected: Expect| {
        let found = crate::workspace_symbols(&f.db, &f.workspace, query);
        let lines: Vec<String> = found
            .iter()
            .map(|s| format!("{:?} {} in {:?}", s.kind, f.show(s.span), s.container))
            .collect();
        expected.assert_eq(&lines.join("\n"));
    };
    find("area", expect![]);
    find("sq", expect![]);
    find("LIMIT", expect![]);
    find("nothing", expect![]);
}

#[test]
fn folds_and_selections() {
    let f = fixture(
        "
        import a
        import b
        def f(x):
            if x:
                return [
                    $0x,
                ]
        ",
    );
    let text = f.file().text(&f.db);
    let piece = |r: TextRange| text[r.start as usize..r.end as usize].replace('\n', "|");
    let folds: Vec<String> = crate::folds(&f.db, f.file())
        .iter()
        .map(|x| piece(x.range))
        .collect();
    expect![].assert_eq(&folds.join("\n"));
    let all: Vec<String> = crate::selections(&f.db, f.file(), f.position.offset)
        .into_iter()
        .map(piece)
        .collect();
    expect![].assert_eq(&all.join("\n"));
}

#[test]
fn hints() {
    let f = fixture(PROGRAM);
    for path in ["/shapes.py", "/helper.py", "/main.py"] {
        let file = taipan_base::Db::files(&f.db).get(&f.db, path.into());
        let mut text = file.text(&f.db).to_owned();
        let all = TextRange::new(0, text.len() as u32);
        let hints = crate::inlay_hints(&f.db, &f.workspace, file, all);
        for h in hints.iter().rev() {
            text.insert_str(h.offset as usize, &format!("«{}»", h.text));
        }
        match path {
            "/shapes.py" => expect![].assert_eq(&text),
            "/helper.py" => expect![].assert_eq(&text),
            _ => expect![].assert_eq(&text),
        }
    }
}

#[test]
fn tokens() {
    let f = fixture(PROGRAM);
    let file = taipan_base::Db::files(&f.db).get(&f.db, "/helper.py".into());
    let text = file.text(&f.db);
    let all = TextRange::new(0, text.len() as u32);
    let mut out = String::new();
    for t in crate::semantic_tokens(&f.db, &f.workspace, file, all) {
        let name = &text[t.range.start as usize..t.range.end as usize];
        let flags = [
            (t.declaration, " declaration"),
            (t.constant, " constant"),
            (t.builtin, " builtin"),
        ];
        let flags: String = flags.iter().filter(|f| f.0).map(|f| f.1).collect();
        let _ = writeln!(out, "{name}: {:?}{flags}", t.kind);
    }
    expect![].assert_eq(&out);
}
