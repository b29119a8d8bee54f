//! Damage to texts, as fuzz targets do it.

use taipan_fuzz::Choices;

/// What is put in: words and signs of Python, and what no program has.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "=",
    "\"",
    "'''",
    "\\",
    "\n",
    "\n    ",
    "\t",
    "lambda ",
    "print ",
    "exec ",
    "if ",
    "else",
    "def ",
    "class ",
    ",",
    ".",
    "**",
    "`",
    "yield ",
    "for ",
    " in ",
    "not ",
    "0x",
    "9",
    "é",
    "\0",
    "\r",
    "#",
    "@",
    ";",
    "try:",
    "except",
    "finally:",
    "with ",
    "import ",
    "return ",
    "global ",
    "del ",
    "raise ",
    "u'",
    "\\N{",
    "break\n",
    "from ",
    " is ",
    " or ",
    "while 1:",
    "assert ",
    "None",
    "self",
    "1.5e",
    "<>",
    "<<",
    "->",
    "*args",
    "\u{feff}",
    "\u{2028}",
    "# -*- coding: latin-1 -*-\n",
];

/// At most so many characters of a text are kept.
const MOST: usize = 1_500;

/// What opens something that can stand inside itself.
const NESTING: &[&str] = &[
    "(",
    "[",
    "{",
    "-",
    "not ",
    "lambda: ",
    "f(",
    "a[",
    "`",
    "if x:\n",
    "x.",
    "\t",
    "[x for x in ",
    "1 if 1 else ",
    "def f():\n",
    "(yield ",
    "{1: ",
];

/// A piece of a text with some of it gone and other things put in.
pub fn damaged(text: &str, choices: &mut Choices<'_>) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let start = choices.below(chars.len());
    chars = chars[start..].iter().copied().take(MOST).collect();
    for _ in 0..=choices.below(8) {
        damage(&mut chars, choices);
    }
    chars.into_iter().collect()
}

/// The same for all of a text, at one place.
pub fn slightly_damaged(text: &str, choices: &mut Choices<'_>) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    damage(&mut chars, choices);
    chars.into_iter().collect()
}

fn damage(chars: &mut Vec<char>, choices: &mut Choices<'_>) {
    let at = choices.below(chars.len());
    match choices.below(8) {
        0 | 1 => {
            let end = (at + 1 + choices.below(10)).min(chars.len());
            chars.drain(at.min(end)..end);
        }
        // Something that stands elsewhere.
        2 => {
            let from = choices.below(chars.len());
            let end = (from + choices.below(60)).min(chars.len());
            let piece = chars[from..end].to_vec();
            chars.splice(at..at, piece);
        }
        3 => {
            let piece = choices.of(NESTING);
            let times = 1 + choices.below(200);
            chars.splice(at..at, piece.repeat(times).chars());
        }
        _ => {
            chars.splice(at..at, choices.of(PIECES).chars());
        }
    }
}

/// A text of which lines are gone, doubled, moved, or say something else: mostly still a
/// program.
pub fn edited(text: &str, choices: &mut Choices<'_>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let at = choices.below(lines.len());
    let line = lines[at].clone();
    // As often as not with something that is a line too.
    let other = choices.below(lines.len());
    match choices.below(10) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, line),
        2 => lines.swap(at, other),
        3 => lines[at] = lines[other].clone(),
        _ => {
            const CHANGES: &[(&str, &str)] = &[
                (" + ", " - "),
                ("1", "2"),
                ("0", "'zero'"),
                ("return ", "return None and "),
                ("= ", "= None or "),
                ("self.", "self.other_"),
                ("range(", "list("),
                ("[", "("),
                ("(", "(1, "),
                (", ", " or "),
                ("'", "u'"),
                (" is ", " == "),
                ("if ", "while "),
                ("for ", "if "),
                (":", ": pass"),
                ("    ", ""),
                ("object", "Exception"),
                ("def ", "class "),
            ];
            let (from, to) = choices.of(CHANGES);
            lines[at] = line.replacen(from, to, 1);
        }
    }
    lines.join("\n") + "\n"
}
