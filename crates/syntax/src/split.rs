//! A text in pieces that can be parsed one by one.
//!
//! ```text
//! class C(A):                  class C(A):         class C:
//!     n = 1                        n = 1               def f(self):
//!     def f(self):                 def f(self):            return self.n
//!         return self.n                pass
//!
//! text                         outline             function C.f
//! ```
//!
//! The functions are those outside all other functions. The meaning of one depends on its text, on the names of the classes
//! around it and on imports from `__future__`. Bytecode of a piece is that of the whole text, with other positions.

use rustc_hash::FxHashMap;
use taipan_base::{TextRange, declares_latin1};

use crate::mask::{self, Keyword, Line, Wrong};

/// A text in pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The text with `pass` for the bodies of the functions.
    pub outline: String,
    /// The functions, in the order of the text.
    pub functions: Vec<FunctionPiece>,
}

/// A function that is parsed separately.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionPiece {
    /// Its qualified name. No other function or class of the text has it.
    pub qualname: Box<str>,
    /// Lines that stand for the classes and blocks around it, and imports from `__future__`.
    pub context: Box<str>,
    /// Its text, from the beginning of its first line.
    pub range: TextRange,
    /// The body in the text.
    pub body: Cut,
    /// The replacement of the body in the outline.
    pub stub: Cut,
}

/// The place of a body in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// End of the line before it.
    pub start: u32,
    /// End of its last token.
    pub end: u32,
    /// End of its last line.
    pub resume: u32,
}

impl FunctionPiece {
    /// The text to parse, and the position of its start in it.
    pub fn text(&self, source: &str) -> (String, u32) {
        let own = &source[self.range.start as usize..self.range.end as usize];
        (
            format!("{}{own}\n", self.context),
            self.context.len() as u32,
        )
    }
}

/// A block that is open at a line.
struct Open<'a> {
    width: u32,
    class: Option<&'a str>,
}

/// Splits a text. None if the lines of the text are not those of a correct program.
pub fn split(source: &str) -> Option<Split> {
    if declares_latin1(source.as_bytes()) {
        return None;
    }
    let masked = mask::lex(source, &Wrong::default());
    let lines = &masked.lines[..];
    if !masked.errors.is_empty() || lines.iter().any(|l| l.bad) {
        return None;
    }
    let mut found: Vec<FunctionPiece> = Vec::new();
    let mut named: FxHashMap<String, u32> = FxHashMap::default();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut future = String::new();
    let mut i = 0;
    while let Some(line) = lines.get(i) {
        i += 1;
        while open.last().is_some_and(|o| o.width >= line.width) {
            open.pop();
        }
        let text = text_of(source, line);
        if text.contains("__future__") {
            // Such imports count for what follows.
            if !found.is_empty() || !open.is_empty() {
                return None;
            }
            future.push_str(text);
            future.push('\n');
        }
        let Some(keyword) = line.keyword else {
            continue;
        };
        let class = match keyword {
            Keyword::Def | Keyword::Class => {
                let name = name_after(text)?;
                let qualname = qualified(&open, name);
                *named.entry(qualname.clone()).or_default() += 1;
                if keyword == Keyword::Def {
                    let body = lines[i..]
                        .iter()
                        .take_while(|l| l.width > line.width)
                        .count();
                    if !line.inline && body > 0 {
                        let last = &lines[i + body - 1];
                        found.push(piece(source, line, last, qualname, &open, &future));
                    }
                    i += body;
                    continue;
                }
                Some(name)
            }
            _ => None,
        };
        if !line.inline {
            open.push(Open {
                width: line.width,
                class,
            });
        }
    }
    found.retain(|f| named.get(&*f.qualname) == Some(&1));
    let outline = outline(source, &mut found);
    Some(Split {
        outline,
        functions: found,
    })
}

fn text_of<'s>(source: &'s str, line: &Line) -> &'s str {
    &source[line.range.start as usize..line.range.end as usize]
}

/// The name after the first word of a line.
fn name_after(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once([' ', '\t'])?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    // Other characters are left to the parser.
    let plain = rest[end..]
        .chars()
        .next()
        .is_none_or(|c| c.is_ascii() && c != '\\');
    (end > 0 && plain).then(|| &rest[..end])
}

fn qualified(open: &[Open<'_>], name: &str) -> String {
    let mut out = String::new();
    for class in open.iter().filter_map(|o| o.class) {
        out.push_str(class);
        out.push('.');
    }
    out.push_str(name);
    out
}

fn piece(
    source: &str,
    line: &Line,
    last: &Line,
    qualname: String,
    open: &[Open<'_>],
    future: &str,
) -> FunctionPiece {
    let before = &source[..line.range.start as usize];
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1) as u32;
    let mut context = future.to_owned();
    for o in open {
        context.extend(std::iter::repeat_n(' ', o.width as usize));
        match o.class {
            Some(class) => context.extend(["class ", class, ":\n"]),
            None => context.push_str("if 1:\n"),
        }
    }
    let end = last.range.end;
    let after = &source[end as usize..];
    let resume = end + after.find(['\n', '\r']).unwrap_or(after.len()) as u32;
    let body = Cut {
        start: line.range.end,
        end,
        resume,
    };
    FunctionPiece {
        qualname: qualname.into(),
        context: context.into(),
        range: TextRange::new(start, end),
        body,
        // Set by `outline`.
        stub: body,
    }
}

/// The text with stubs, whose places are set.
fn outline(source: &str, functions: &mut [FunctionPiece]) -> String {
    let mut out = String::with_capacity(source.len() / 2);
    let mut at = 0;
    for f in functions {
        out.push_str(&source[at as usize..f.body.start as usize]);
        f.stub.start = out.len() as u32;
        // On the line of the header: the indentation of the body does not matter then.
        out.push_str(" pass");
        f.stub.end = out.len() as u32;
        f.stub.resume = f.stub.end;
        at = f.body.resume;
    }
    out.push_str(&source[at as usize..]);
    out
}
