//! An edited text is compiled function by function, with the outcome of compiling it as a whole.

use taipan_base::File;
use taipan_prelude::SHIPPED;
use taipan_testkit::TestDb;
use taipan_testkit::fuzz::{Choices, Target};

use crate::{code, code_spans, disassemble, module_codes};

/// Names, codes and places of all bodies of `/main.py`, and its errors.
fn outcome(db: &TestDb) -> Vec<String> {
    let file: File = db.file("/main.py");
    let codes = module_codes(db, file);
    let bodies = codes.ids().iter().map(|id| {
        let shown = disassemble(db, *id);
        let (nth, spans) = (id.nth(db), code_spans(db, *id));
        let signature = code(db, *id).argcount;
        format!("{} {nth} {signature}\n{shown}{spans:?}", id.qualname(db))
    });
    let errors = codes.errors(db);
    bodies
        .chain(errors.iter().map(|e| format!("{e:?}")))
        .collect()
}

/// Compiles one text after another.
#[track_caller]
fn check(texts: &[String]) {
    let mut db = TestDb::default();
    for (i, text) in texts.iter().enumerate() {
        db.edit("/main.py", text);
        let mut fresh = TestDb::default();
        fresh.edit("/main.py", text);
        for (edited, whole) in outcome(&db).iter().zip(&outcome(&fresh)) {
            assert_eq!(edited, whole, "text {i} of {texts:#?}");
        }
        assert_eq!(outcome(&db).len(), outcome(&fresh).len());
    }
}

const TEXT: &str = "\
\"\"\"What it is.\"\"\"
from __future__ import division
import a

def f(x, n=lambda: 0):  # A comment.
    return x / 2  # Another one.

    # And one more.
class C(a.B):
    x = [i for i in f(1)]
    def __init__(self):
        self.__n = 1

    @property
    def n(self):
        def get():
            return self.__n
        return get()
    @n.setter
    def n(self, value):
        self.__n = value
    if x:
\tdef m(self, (p, q)):
\t    for i in p: yield {q: i}
    else:
        def other(self): return 1
    class D:
        def f(self):
            global g
            g = lambda: self
def g():
    return f(1), C
";

#[test]
fn edits_of_one_place() {
    let edits = [
        ("x / 2", "x / 3"),
        ("return x / 2", "if x:\n        return 1\n    return x / 2"),
        ("# A comment.", ""),
        ("# Another one.", "# A longer one."),
        ("import a\n", "\n\nimport a\n"),
        ("import division", "import division, unicode_literals"),
        ("from __future__ import division\n", ""),
        ("class C", "class E"),
        ("class D:", "class D(object):"),
        ("    @property\n", "    # It is read.\n    @property\n"),
        ("self.__n = 1", "self.__n = 'n'"),
        ("return get()", "return get"),
        ("def m(", "def n("),
        ("yield", "print"),
        ("(p, q)", "p, q"),
        ("    else:\n        def other(self): return 1\n", ""),
        ("global g\n            ", ""),
        ("    return f(1), C\n", "    return f(1), C"),
        ("def g():\n    return f(1), C\n", ""),
        ("def g()", "def f()"),
        ("return f(1), C", "return ("),
        ("x = [", "    x = ["),
        ("lambda: self", "self"),
    ];
    for (from, to) in edits {
        assert!(TEXT.contains(from), "{from}");
        let edited = TEXT.replacen(from, to, 1);
        check(&[TEXT.to_owned(), edited, TEXT.to_owned()]);
    }
}

/// A line is added, taken out, doubled or moved, or two pieces change places.
fn edit(text: &str, choices: &mut Choices<'_>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..1 + choices.below(2) {
        let at = choices
            .below(lines.len().max(1))
            .min(lines.len().saturating_sub(1));
        let other = choices
            .below(lines.len().max(1))
            .min(lines.len().saturating_sub(1));
        match choices.below(6) {
            0 => lines.insert(at, ""),
            1 => lines.insert(at, "# A comment."),
            2 if lines.len() > 1 => drop(lines.remove(at)),
            3 if !lines.is_empty() => lines.insert(at, lines[at]),
            4 if !lines.is_empty() => lines.insert(at, lines[other]),
            _ if !lines.is_empty() => lines.swap(at, other),
            _ => {}
        }
    }
    lines.join("\n")
}

#[test]
fn random_edits_of_lines() {
    let target = Target::new("pieces").cases(150).bytes(256);
    target.run(|choices| {
        let shipped = choices.of(SHIPPED).1;
        let first = match choices.below(2) {
            0 => TEXT.to_owned(),
            _ => shipped.lines().take(200).collect::<Vec<_>>().join("\n"),
        };
        let mut texts = vec![first];
        for _ in 0..4 {
            let next = edit(&texts[texts.len() - 1], choices);
            texts.push(next);
        }
        check(&texts);
    });
}
