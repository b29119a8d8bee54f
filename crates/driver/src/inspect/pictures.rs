//! Parts of the call graph and of the class hierarchy as pictures.

use std::collections::{BTreeMap, BTreeSet};

use taipan_picture::{Direction, Edge, Line, Node, Picture};

use super::Overview;
use crate::Failure;
use crate::show::drawn;

/// More boxes than this are left out of a picture of calls, and counted.
const MOST: usize = 90;

/// What a function calls, and what calls it, so many steps in both directions.
pub fn call_picture(all: &Overview, name: &str, depth: usize) -> Result<String, Failure> {
    let center = (all.functions.iter())
        .position(|f| f.name == name)
        .ok_or_else(|| Failure::Usage(format!("the program has no function {name}")))?;
    let mut callers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, f) in all.functions.iter().enumerate() {
        for c in &f.calls {
            callers.entry(*c).or_default().push(i);
        }
    }
    let none = Vec::new();
    let below = |f: usize| &all.functions[f].calls;
    let above = |f: usize| callers.get(&f).unwrap_or(&none);
    let mut shown = vec![center];
    let mut left_out = 0;
    let mut spread = |next: &dyn Fn(usize) -> Vec<usize>| {
        let mut wave = vec![center];
        for _ in 0..depth {
            let mut more = Vec::new();
            for f in wave.iter().flat_map(|f| next(*f)) {
                if shown.contains(&f) {
                    continue;
                }
                if shown.len() >= MOST {
                    left_out += 1;
                    continue;
                }
                shown.push(f);
                more.push(f);
            }
            wave = more;
        }
    };
    spread(&|f| above(f).clone());
    spread(&|f| below(f).clone());
    let mut picture = Picture {
        title: format!("calls around {name}"),
        direction: Direction::Right,
        ..Picture::default()
    };
    for f in &shown {
        let row = &all.functions[*f];
        let (module, rest) = parts(all, *f);
        let mut lines = vec![Line::of(rest, "head")];
        if !module.is_empty() {
            lines.push(Line::of(module, "note"));
        }
        picture.nodes.push(Node {
            key: row.name.clone(),
            class: if *f == center { "here" } else { "" },
            lines,
        });
    }
    for (from, f) in shown.iter().enumerate() {
        for c in below(*f) {
            if let Some(to) = shown.iter().position(|s| s == c) {
                picture.edges.push(Edge {
                    from,
                    to,
                    ..Edge::default()
                });
            }
        }
    }
    if left_out > 0 {
        picture.nodes.push(Node {
            key: String::new(),
            class: "cold",
            lines: vec![Line::of(format!("and {left_out} more"), "note")],
        });
    }
    drawn(&picture)
}

/// The module of a function, and its name in it.
fn parts(all: &Overview, f: usize) -> (String, String) {
    let row = &all.functions[f];
    let file = row.file.and_then(|f| all.files.get(f));
    let stem = file.and_then(|f| f.path.rsplit('/').next());
    let stem = stem.and_then(|s| s.strip_suffix(".py")).unwrap_or_default();
    match row.name.find(&format!("{stem}.")) {
        Some(at) if !stem.is_empty() => {
            let end = at + stem.len();
            (row.name[..end].to_owned(), row.name[end + 1..].to_owned())
        }
        _ => (String::new(), row.name.clone()),
    }
}

/// A class with its bases and all that is below it.
pub fn class_picture(all: &Overview, name: &str) -> Result<String, Failure> {
    let center = (all.classes.iter())
        .position(|c| c.name == name)
        .ok_or_else(|| Failure::Usage(format!("the program has no class {name}")))?;
    let mut shown = BTreeSet::from([center]);
    let mut at = all.classes[center].base;
    while let Some(base) = at.filter(|b| shown.insert(*b)) {
        at = all.classes[base].base;
    }
    let mut below = vec![center];
    while let Some(class) = below.pop() {
        for (i, c) in all.classes.iter().enumerate() {
            if c.base == Some(class) && shown.insert(i) {
                below.push(i);
            }
        }
    }
    let shown: Vec<usize> = shown.into_iter().collect();
    let mut picture = Picture {
        title: format!("classes around {name}"),
        direction: Direction::Right,
        ..Picture::default()
    };
    for c in &shown {
        let class = &all.classes[*c];
        let (module, short) = class.name.rsplit_once('.').unwrap_or(("", &class.name));
        let mut lines = vec![Line::of(short, "head"), Line::of(module, "note")];
        let fields = class.attributes.iter().filter(|a| !a.readonly);
        lines.extend(fields.map(|a| Line::of(format!("{}: {}", a.name, a.annotation), "")));
        picture.nodes.push(Node {
            key: class.name.clone(),
            class: if *c == center { "here" } else { "" },
            lines,
        });
    }
    for (to, c) in shown.iter().enumerate() {
        let base = all.classes[*c].base;
        if let Some(from) = base.and_then(|b| shown.iter().position(|s| *s == b)) {
            picture.edges.push(Edge {
                from,
                to,
                ..Edge::default()
            });
        }
    }
    drawn(&picture)
}
