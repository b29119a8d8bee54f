//! What the pages have to tell of: all that the tables of the language have for users.

use std::collections::BTreeSet;

use regex::Regex;
use taipan_language::{
    BuilderMethod, Codec, DictMethod, Exc, HelperFunction, KnownFunction, ListMethod,
    ShippedFunction, TextMethod, python_names,
};

use crate::pages;

/// What stands in backticks.
fn spans(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The methods that tables of a page have a line for: `` | `s.find(..)`, .. | ``.
fn methods_told(page: &str) -> BTreeSet<String> {
    let call = Regex::new(r"^[a-z]+\.([a-z_]+)\(").expect("a pattern");
    let rows = page.lines().filter(|l| l.starts_with("| `"));
    let first = rows.filter_map(|l| l.split('|').nth(1));
    first
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter_map(|span| Some(call.captures(span)?[1].to_owned()))
        .collect()
}

/// Each method has a line in a table, and no line is about one that there is not.
pub(crate) fn methods() -> Result<(), String> {
    let written = DictMethod::ALL.iter().filter(|m| m.is_written());
    let texts = TextMethod::NAMES.iter().chain(BuilderMethod::NAMES);
    let tables: [(&str, BTreeSet<&str>); 3] = [
        ("lists.md", ListMethod::NAMES.iter().copied().collect()),
        ("dicts.md", written.map(|m| m.name()).collect()),
        ("strings.md", texts.copied().collect()),
    ];
    let mut wrong = Vec::new();
    for (page, there) in tables {
        let told = methods_told(&pages::read(page));
        let told: BTreeSet<&str> = told.iter().map(String::as_str).collect();
        for name in there.difference(&told) {
            wrong.push(format!("docs/language/{page} does not tell of .{name}()"));
        }
        for name in told.difference(&there) {
            wrong.push(format!(
                "docs/language/{page}: there is no method .{name}()"
            ));
        }
    }
    none(&wrong)
}

/// Each function that programs may call is told of on a page that speaks of its module.
pub(crate) fn functions() -> Result<(), String> {
    let mut all: BTreeSet<(&str, &str)> = BTreeSet::new();
    all.extend(KnownFunction::ALL.iter().map(|f| (f.module(), f.name())));
    let helpers = HelperFunction::all().iter().map(|f| f.name);
    let shipped = ShippedFunction::all().iter().map(|f| f.name);
    all.extend(helpers.chain(shipped).filter_map(|n| n.rsplit_once('.')));
    // What shipped code alone calls.
    all.retain(|(module, name)| {
        let own = |part: &str| part.starts_with('_') && part != "__builtin__";
        !module.split('.').any(own) && !own(name) && *module != "taipan_lowlevel"
    });
    let mut texts: Vec<(String, String)> = (pages::names().into_iter())
        .map(|name| (pages::read(&name), name))
        .collect();
    let jit = pages::docs().join("jit.md");
    texts.push((std::fs::read_to_string(jit).expect("a page"), "jit".into()));
    let told: Vec<(&str, BTreeSet<&str>, &str)> = (texts.iter())
        .map(|(text, name)| (&**text, spans(text).collect(), &**name))
        .collect();
    let is_told = |(module, name): &(&str, &str)| {
        told.iter().any(|(text, spans, page)| {
            let speaks = match *module {
                "__builtin__" => *page == "builtins.md",
                module => text.contains(&format!("`{module}")),
            };
            let is_it = |span: &&str| {
                let span = span.strip_prefix(&format!("{module}.")).unwrap_or(span);
                let rest = span.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
            };
            speaks && spans.iter().any(is_it)
        })
    };
    let missing: Vec<String> = (all.iter())
        .filter(|f| !is_told(f))
        .map(|(module, name)| format!("no page tells of {module}.{name}()"))
        .collect();
    none(&missing)
}

/// Names that Python has by itself, and codecs.
pub(crate) fn names() -> Result<(), String> {
    let (builtins, exceptions) = (pages::read("builtins.md"), pages::read("exceptions.md"));
    let strings = pages::read("strings.md");
    let mut wrong = Vec::new();
    let word = |span: &str| -> String {
        let end = span.find(|c: char| !c.is_alphanumeric() && c != '_');
        span[..end.unwrap_or(span.len())].to_owned()
    };
    let told: BTreeSet<String> = spans(&builtins)
        .chain(spans(&exceptions))
        .map(word)
        .collect();
    let exceptions: BTreeSet<&str> = spans(&exceptions).collect();
    for name in python_names() {
        let is_class = Exc::ALL.iter().any(|e| e.name() == name);
        let is_told = match is_class {
            true => exceptions.contains(name),
            false => told.contains(name),
        };
        if !is_told {
            wrong.push(format!("no page tells of the builtin `{name}`"));
        }
    }
    for codec in Codec::ALL {
        if !spans(&strings).any(|s| s == codec.name()) {
            wrong.push(format!("no page tells of the codec {}", codec.name()));
        }
    }
    none(&wrong)
}

fn none(wrong: &[String]) -> Result<(), String> {
    match wrong {
        [] => Ok(()),
        _ => Err(wrong.join("\n")),
    }
}
