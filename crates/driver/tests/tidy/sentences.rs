//! No decision reads a sentence. Messages, labels, notes and remedies are for people; code that depends on a
//! finding matches its data (`Problem`, `Help`, an error code). So no sentence stands where a text is
//! compared, and no text of a finding is searched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::root;

/// The crates from the parser to the command line, whose reports people read.
const CRATES: &[&str] = &[
    "base",
    "code",
    "codes",
    "driver",
    "flow",
    "ide",
    "interp",
    "annotator",
    "rtyper",
    "server",
    "syntax",
    "taipan",
    "testing",
    "watch",
];

/// Folders and files whose texts come from elsewhere.
const FOREIGN: &[(&str, &str)] = &[
    ("driver/src/targets.rs", "the beginning of a line of Python"),
    ("taipan/src/jitlog.rs", "the log of a just-in-time compiler"),
    (
        "taipan/src/jitlog/advise.rs",
        "the log of a just-in-time compiler",
    ),
    (
        "taipan/src/jitlog/remedies.rs",
        "the log of a just-in-time compiler",
    ),
    ("rtyper/src/statics.rs", "the name of a symbol"),
];

/// Methods that compare or search a text.
const SEARCHES: &[&str] = &[
    "contains",
    "ends_with",
    "eq",
    "find",
    "matches",
    "replace",
    "replacen",
    "rfind",
    "rsplit",
    "rsplit_once",
    "split",
    "split_once",
    "split_whitespace",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_matches",
    "trim_start_matches",
];

/// Fields with texts of findings.
const TEXTS: &[&str] = &["help", "label", "message"];

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Text(String),
    Word(String),
    Sign(&'static str),
    Char(char),
}

const SIGNS: &[&str] = &["==", "!=", "=>", "||", "&&", "::", ".."];

/// The tokens of Rust, with their lines; characters and lifetimes are left out.
fn tokens(source: &str) -> Vec<(Token, usize)> {
    let mut out = Vec::new();
    let mut rest = source;
    let (mut at, mut counted) = (1, source);
    while let Some(c) = rest.chars().next() {
        at += counted[..counted.len() - rest.len()].matches('\n').count();
        counted = rest;
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |i| &rest[i..]);
        } else if let Some(raw) = raw_text(rest) {
            out.push((Token::Text(raw.0.to_owned()), at));
            rest = raw.1;
        } else if c == '"' {
            let (text, behind) = plain_text(&rest[1..]);
            out.push((Token::Text(text), at));
            rest = behind;
        } else if c == '\'' {
            rest = behind_character(rest);
        } else if c.is_alphabetic() || c == '_' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            out.push((Token::Word(rest[..end].to_owned()), at));
            rest = &rest[end..];
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            out.push((Token::Sign(sign), at));
            rest = &rest[sign.len()..];
        } else {
            if !c.is_whitespace() {
                out.push((Token::Char(c), at));
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// A text without escapes, `r"..."` or `r#"..."#`, and the rest of the source.
fn raw_text(source: &str) -> Option<(&str, &str)> {
    let inner = source.strip_prefix('r')?;
    let marks = inner.len() - inner.trim_start_matches('#').len();
    let inner = inner[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    inner.split_once(end.as_str())
}

/// The text up to the closing quote, with escapes left out, and the rest of the source.
fn plain_text(source: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = source.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return (text, &source[i + 1..]),
            '\\' => drop(chars.next()),
            c => text.push(c),
        }
    }
    (text, "")
}

/// The rest of the source behind a character or a lifetime.
fn behind_character(source: &str) -> &str {
    let inner = &source[1..];
    let mut chars = inner.char_indices();
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => inner[2..].find('\'').map_or("", |i| &inner[2 + i + 1..]),
        (Some((_, c)), Some((_, '\''))) => &inner[c.len_utf8() + 1..],
        _ => inner,
    }
}

/// Whether a text has two words.
fn is_sentence(text: &str) -> bool {
    let ends = |c: char| c.is_alphabetic() || "`'}".contains(c);
    let begins = |c: char| c.is_alphabetic() || "`'{(".contains(c);
    let chars: Vec<char> = text.chars().collect();
    chars
        .windows(3)
        .any(|w| ends(w[0]) && w[1] == ' ' && begins(w[2]))
}

/// Names of constants that are sentences.
fn constants(tokens: &[(Token, usize)]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (i, (token, _)) in tokens.iter().enumerate() {
        let (Token::Word(word), Some((Token::Word(name), _))) = (token, tokens.get(i + 1)) else {
            continue;
        };
        let value = tokens[i..]
            .iter()
            .take_while(|(t, _)| *t != Token::Char(';'));
        let texts = value.filter_map(|(t, _)| match t {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        if word == "const" && matches!(texts[..], [text] if is_sentence(text)) {
            out.insert(name.clone());
        }
    }
    out
}

/// Whether the token at an index is compared: by an operator, by a method, or as a pattern.
fn is_compared(tokens: &[(Token, usize)], i: usize) -> bool {
    let token = |i: Option<usize>| i.and_then(|i| tokens.get(i)).map(|(t, _)| t);
    let before = |n: usize| token(i.checked_sub(n));
    let is_operator = |t: Option<&Token>| matches!(t, Some(Token::Sign("==" | "!=")));
    if is_operator(before(1)) || is_operator(token(Some(i + 1))) {
        return true;
    }
    // `.starts_with("..")`, `.contains(&"..")`
    let open = if before(1) == Some(&Token::Char('&')) {
        2
    } else {
        1
    };
    if before(open) == Some(&Token::Char('('))
        && let Some(Token::Word(method)) = before(open + 1)
        && matches!(before(open + 2), Some(Token::Char('.')))
        && SEARCHES.contains(&method.as_str())
    {
        return true;
    }
    // `matches!(x, "..")`
    let macro_name = tokens[..i]
        .iter()
        .rposition(|(t, _)| *t == Token::Word("matches".into()));
    if let Some(start) = macro_name
        && token(Some(start + 1)) == Some(&Token::Char('!'))
        && before(1) == Some(&Token::Char(','))
        && are_inside_first(&tokens[start + 2..i])
    {
        return true;
    }
    // An arm: `".." =>`, `(_, "..") =>`, `".." | ".." =>`
    let mut next = i + 1;
    let mut closed = true;
    loop {
        match token(Some(next)) {
            Some(Token::Sign("=>")) => return closed,
            Some(Token::Word(word)) if word == "if" => return closed && is_arm(&tokens[next..]),
            Some(Token::Char(')' | ']')) => closed = true,
            Some(Token::Char('|') | Token::Text(_)) => {}
            Some(Token::Char(',' | '_') | Token::Sign("..")) => closed = false,
            Some(Token::Word(word)) if word == "_" => closed = false,
            _ => return false,
        }
        next += 1;
    }
}

/// Whether tokens end directly inside the bracket that they begin with.
fn are_inside_first(tokens: &[(Token, usize)]) -> bool {
    let mut depth = 0;
    for (token, _) in tokens {
        depth += match token {
            Token::Char('(' | '[' | '{') => 1,
            Token::Char(')' | ']' | '}') => -1,
            _ => 0,
        };
        if depth == 0 {
            return false;
        }
    }
    depth == 1
}

/// Whether tokens are the guard of an arm: an arrow comes before a block or the end of a statement.
fn is_arm(tokens: &[(Token, usize)]) -> bool {
    let end = |t: &Token| matches!(t, Token::Sign("=>") | Token::Char('{' | ';'));
    let found = tokens.iter().find(|(t, _)| end(t));
    matches!(found, Some((Token::Sign("=>"), _)))
}

/// Whether the token at an index is a field with a text of a finding that is searched.
fn is_searched_field(tokens: &[(Token, usize)], i: usize) -> bool {
    let Token::Word(name) = &tokens[i].0 else {
        return false;
    };
    let is_field = i > 0 && tokens[i - 1].0 == Token::Char('.');
    if !is_field || !TEXTS.contains(&name.as_str()) {
        return false;
    }
    // `.message.as_str().contains(`
    let chain = tokens[i + 1..].chunk_by(|_, b| b.0 != Token::Char('.'));
    let methods = chain.take_while(|link| link[0].0 == Token::Char('.') && link.len() > 1);
    let mut names = methods.map(|link| match &link[1].0 {
        Token::Word(word) => word.as_str(),
        _ => "",
    });
    let conversions = [
        "as_str",
        "as_deref",
        "as_ref",
        "to_string",
        "clone",
        "chars",
        "bytes",
        "lines",
    ];
    let first = names.find(|name| !conversions.contains(name));
    first.is_some_and(|name| SEARCHES.contains(&name))
}

/// Rust files of a folder and below that are no tests.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, out);
            }
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            out.push(path);
        }
    }
    out.sort();
}

/// The faults of a text, as lines and tokens.
fn wrong(tokens: &[(Token, usize)], constants: &BTreeSet<String>) -> Vec<String> {
    let mut out = Vec::new();
    for (i, (token, line)) in tokens.iter().enumerate() {
        let found = match token {
            Token::Text(text) if is_sentence(text) && is_compared(tokens, i) => text,
            Token::Word(name) if constants.contains(name) && is_compared(tokens, i) => name,
            Token::Word(name) if is_searched_field(tokens, i) => name,
            _ => continue,
        };
        out.push(format!("{line}: {found}"));
    }
    out
}

#[test]
fn no_decision_reads_a_sentence() {
    let mut all = Vec::new();
    let mut foreign = BTreeSet::new();
    for name in CRATES {
        let folder = root().join("crates").join(name).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files);
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            tokens(text.split("#[cfg(test)]\nmod tests {").next().unwrap())
        };
        let files: Vec<(&PathBuf, _)> = files.iter().map(|path| (path, read(path))).collect();
        let constants: BTreeSet<String> = files
            .iter()
            .flat_map(|(_, tokens)| constants(tokens))
            .collect();
        for (path, tokens) in &files {
            let path = path
                .strip_prefix(root().join("crates"))
                .unwrap()
                .to_str()
                .unwrap();
            let found = wrong(tokens, &constants);
            if FOREIGN.iter().any(|(file, _)| *file == path) {
                foreign.extend((!found.is_empty()).then(|| path.to_owned()));
            } else {
                all.extend(found.iter().map(|f| format!("crates/{path}:{f}")));
            }
        }
    }
    assert!(all.is_empty(), "decisions read sentences: {all:#?}");
    let needed: Vec<&str> = FOREIGN.iter().map(|(file, _)| *file).collect();
    let mut needed: Vec<String> = needed.iter().map(|f| (*f).to_owned()).collect();
    needed.sort();
    assert_eq!(
        Vec::from_iter(foreign),
        needed,
        "files that need no exception"
    );
}

/// Each way of reading a sentence is found, and nothing else.
#[test]
fn sentences_in_decisions_are_found() {
    let found = |source: &str| {
        let tokens = tokens(source);
        wrong(&tokens, &constants(&tokens)).len()
    };
    for source in [
        r#"if text == "no name" {}"#,
        r#"if "no name" != text {}"#,
        r#"text.starts_with("no name")"#,
        r#"text.strip_prefix(&"no name")"#,
        r#"match text { "no name" => 1, _ => 2 }"#,
        r#"match text { "no name" if x(y) => 1, _ => 2 }"#,
        r#"match (text, 1) { (_, "no name") => 1, _ => 2 }"#,
        r#"match (text, 1) { ("no name", _) => 1, _ => 2 }"#,
        r#"matches!(text, "no name")"#,
        r#"const NONE: &str = "no name"; fn f() { match text { NONE => 1 } }"#,
        r#"d.message.contains(&name)"#,
        r#"d.help.as_deref().unwrap().len() + d.label.as_str().split('x')"#,
        r##"x == r#"no name"#"##,
    ] {
        assert_eq!(found(source), 1, "{source}");
    }
    assert_eq!(found(r#"match text { "no name" | "two words" => 1 }"#), 2);
    for source in [
        r#"// text == "no name""#,
        r#"f("no name") == text"#,
        r#"map_err(|_| "no name")?"#,
        r#"match x { 1 => "no name", _ => "two words" }"#,
        r#"match x { 1 => f("no name"), (_, 2) => y }"#,
        r#"match x { 1 => &["no name"], _ => y }"#,
        r#"let x = "no name"; if y {}"#,
        r#"text == "name""#,
        r#"d.message.len()"#,
        r#"let c = '"'; text == "name""#,
        r#"fn f<'a>(x: &'a str) -> &'a str { "no name" }"#,
    ] {
        assert_eq!(found(source), 0, "{source}");
    }
}
