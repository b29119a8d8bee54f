//! Shipped modules with random damage: whatever is wrong is told, at a place in the
//! text, and all codes stay well-formed.

use taipan_prelude::SHIPPED;
use taipan_testkit::TestDb;

use crate::{CodeKind, SourceText, code, text_codes, verify};

/// What is put in.
const PIECES: &[&str] = &[
    "(", ")", "[", "}", ":", "=", "\"", "'''", "\\", "\n", "\n    ", "\t", "lambda ", "print ",
    "exec ", "if ", "else", "def ", "class ", ",", ".", "**", "`", "yield ", "for ", " in ",
    "not ", "0x", "9", "é", "\0", "\r", "#", "@", ";", "try:", "except", "finally:", "with ",
    "import ", "return ", "global ", "del ", "raise ", "u'", "\\N{", "break\n",
];

/// A xorshift generator: the same damage in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize % n.max(1)
    }
}

fn damage(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let start = random.below(chars.len());
    chars = chars[start..].iter().copied().take(1_500).collect();
    for _ in 0..=random.below(8) {
        let at = random.below(chars.len());
        if random.below(3) == 0 {
            let end = (at + 1 + random.below(10)).min(chars.len());
            chars.drain(at.min(end)..end);
        } else {
            chars.splice(at..at, PIECES[random.below(PIECES.len())].chars());
        }
    }
    chars.into_iter().collect()
}

#[test]
fn damaged_texts_compile() {
    let mut random = Random(0x5eed);
    let db = TestDb::default();
    for _ in 0..300 {
        let (path, text) = SHIPPED[random.below(SHIPPED.len())];
        let text = damage(text, &mut random);
        let source = SourceText::new(&db, path, text.as_str(), CodeKind::Module);
        let codes = text_codes(&db, source);
        let mut poisoned = false;
        for id in codes.ids() {
            let code = code(&db, *id);
            poisoned |= code.poisoned;
            assert_eq!(verify(&code), Ok(()), "{text}");
        }
        let errors = codes.errors(&db);
        assert!(!poisoned || !errors.is_empty(), "{text}");
        for e in errors.iter() {
            let range = e.range.start as usize..e.range.end as usize;
            assert!(text.get(range).is_some(), "{e:?} in {text}");
        }
    }
}
