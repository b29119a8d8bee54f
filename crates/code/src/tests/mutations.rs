//! Whatever a text is, it is parsed and compiled: what is wrong with it is told at a place in the
//! text, all codes are well-formed, and an edit of a text gives what that text gives by itself.

use std::sync::Arc;

use taipan_base::{File, FileContents, TextRange};
use taipan_prelude::SHIPPED;
use taipan_testkit::fuzz::{Choices, Target};
use taipan_testkit::{TestDb, damaged, slightly_damaged};

use crate::{code, code_spans, module_codes, texts_that_matter, verify};

/// Any text at all: a piece of a shipped module with damage, or bytes.
fn any_text(choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        7 => String::from_utf8_lossy(choices.bytes(300)).into_owned(),
        _ => damaged(choices.of(SHIPPED).1, choices),
    }
}

#[track_caller]
fn assert_in_text(text: &str, range: TextRange) {
    let range = range.start as usize..range.end as usize;
    assert!(text.get(range.clone()).is_some(), "{range:?} in {text:?}");
}

/// The tree and everything that is said about places in it.
fn check_tree(text: &str) {
    let parsed = taipan_syntax::parse(text);
    for (id, _) in parsed.ast.exprs.iter() {
        assert_in_text(text, parsed.spans.expr(id));
    }
    for (id, _) in parsed.ast.stmts.iter() {
        assert_in_text(text, parsed.spans.stmt(id));
    }
    let mut last = TextRange::new(0, 0);
    for e in &parsed.errors {
        assert_in_text(text, e.range);
        assert!(last <= e.range, "errors are in the order of places");
        last = e.range;
        assert!(!e.problem.message().contains('\n'), "{:?}", e.problem);
    }
}

/// All codes of `/main.py` with their places, and what is wrong with it, as text.
fn check_codes(db: &TestDb) -> String {
    let file = db.file("/main.py");
    let text = file.text(db);
    let codes = module_codes(db, file);
    let mut out = String::new();
    let mut poisoned = false;
    for id in codes.ids() {
        let code = code(db, *id);
        poisoned |= code.poisoned;
        assert_eq!(verify(&code), Ok(()), "{text}");
        out.push_str(&format!("{id:?} {code:?} {:?}\n", code_spans(db, *id)));
    }
    // What ids are called depends on what was there before.
    for (i, id) in codes.ids().iter().enumerate() {
        out = out.replace(&format!("{id:?}"), &format!("code {i}"));
    }
    let errors = codes.errors(db);
    assert!(!poisoned || !errors.is_empty(), "{text}");
    for e in errors.iter() {
        assert_in_text(text, e.range);
        out.push_str(&format!("{e:?}\n"));
    }
    out
}

#[test]
fn damaged_texts_compile() {
    let target = Target::new("parser").cases(300).bytes(512);
    target.run(|choices| {
        let text = any_text(choices);
        check_tree(&text);
        let mut db = TestDb::default();
        db.edit("/main.py", &text);
        check_codes(&db);
        // Other texts come and go.
        let next = slightly_damaged(&text, choices);
        db.edit("/main.py", &next);
        let mut fresh = TestDb::default();
        fresh.edit("/main.py", &next);
        let is_same = check_codes(&db) == check_codes(&fresh);
        assert!(is_same, "{text:?}, then {next:?}");
    });
}

/// The codes of a text that had others before, as text.
fn codes_after(db: &TestDb, text: &str, earlier: &[Arc<str>]) -> String {
    let contents = FileContents::Text(text.into());
    let file = File::builder("/buffer.py".into(), contents, earlier.into()).new(db);
    let mut out = String::new();
    for id in module_codes(db, file).ids() {
        let (name, n) = (id.qualname(db), id.nth(db));
        // Codes mention others by their ids, which have the file.
        let code = crate::disassemble(db, *id);
        out.push_str(&format!("{name} {n}\n{code}\n{:?}\n", code_spans(db, *id)));
    }
    out
}

/// What is kept of earlier texts is what matters, whenever the others are forgotten.
#[test]
fn earlier_texts_that_do_not_matter() {
    let target = Target::new("earlier-texts").cases(60).bytes(512);
    target.run(|choices| {
        let db = TestDb::default();
        let file = db.file("/main.py");
        let mut text = choices
            .of(SHIPPED)
            .1
            .lines()
            .take(60)
            .collect::<Vec<_>>()
            .join("\n");
        let (mut all, mut few): (Vec<Arc<str>>, Vec<Arc<str>>) = (Vec::new(), Vec::new());
        for _ in 0..2 + choices.below(6) {
            all.push((&*text).into());
            few.push((&*text).into());
            if choices.bool() {
                let matter = texts_that_matter(&db, file, &few);
                let kept = few.into_iter().enumerate();
                few = kept
                    .filter(|(i, _)| matter.contains(i))
                    .map(|(_, t)| t)
                    .collect();
            }
            text = match choices.below(4) {
                0 => all[choices.below(all.len())].to_string(),
                _ => slightly_damaged(&text, choices),
            };
            let (a, b) = (codes_after(&db, &text, &all), codes_after(&db, &text, &few));
            assert!(a == b, "{a}\n--\n{b}");
        }
    });
}
