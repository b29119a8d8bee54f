//! Compiling an edited file: functions whose text has not changed keep their codes.
//!
//! ```text
//! def f(): return 1        def f(): return 1         codes of f as they were, at their new places
//! def g(): return 2        def g(): return 3         g is parsed and compiled
//! x = f()                  x = f()                   the module's code as it was
//! ```
//!
//! The last correct text of a file and its codes are warm state. The result is what compiling the whole text gives
//! ([`taipan_syntax::split`]); a text with errors is always compiled as a whole.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, File};
use taipan_syntax::{Cut, FunctionPiece, Split};

use crate::bytecode::*;
use crate::compile::{Compiled, compile};

/// The name of the warm state.
const SLOT: &str = "code.pieces";

/// A compiled body, shared with the results of queries.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) id: CodeId,
    pub(crate) code: Arc<Code>,
    pub(crate) spans: Arc<CodeSpans>,
}

impl From<Compiled> for Known {
    fn from(c: Compiled) -> Known {
        Known {
            id: c.id,
            code: Arc::new(c.code),
            spans: Arc::new(c.spans),
        }
    }
}

/// A correct text with its codes.
struct Earlier {
    text: Box<str>,
    /// Computed at the first edit.
    split: Option<Split>,
    /// In the order of [`crate::ModuleCodes::ids`].
    bodies: Vec<Known>,
}

type Files = FxHashMap<File, Earlier>;

/// Keeps the codes of a file, which has no errors, for its next edit.
pub(crate) fn keep(db: &dyn Db, file: File, bodies: Vec<Known>) {
    let earlier = Earlier {
        text: file.text(db).into(),
        split: None,
        bodies,
    };
    put(db, file, earlier);
}

fn put(db: &dyn Db, file: File, earlier: Earlier) {
    db.warm()
        .with(SLOT, |files: &mut Files| files.insert(file, earlier));
}

/// The codes of a file that was compiled before, in the order of their definitions. None if the file has to be compiled as
/// a whole.
pub(crate) fn compile_edited(db: &dyn Db, file: File) -> Option<Vec<Known>> {
    let mut earlier = db
        .warm()
        .with(SLOT, |files: &mut Files| files.remove(&file))?;
    let Some((split, bodies)) = edited(db, file, &mut earlier) else {
        put(db, file, earlier);
        return None;
    };
    let earlier = Earlier {
        text: file.text(db).into(),
        split: Some(split),
        bodies: bodies.clone(),
    };
    put(db, file, earlier);
    Some(bodies)
}

fn edited(db: &dyn Db, file: File, earlier: &mut Earlier) -> Option<(Split, Vec<Known>)> {
    if file.valid_up_to(db).is_some() {
        return None;
    }
    let text = file.text(db);
    let split = taipan_syntax::split(text)?;
    if earlier.split.is_none() {
        earlier.split = taipan_syntax::split(&earlier.text);
    }
    let before = earlier.split.as_ref()?;
    let old = Functions::of(db, before, &earlier.bodies);
    let to: Vec<Cut> = split.functions.iter().map(|f| f.body).collect();
    let mut edited = Edited {
        db,
        file,
        text,
        split: &split,
        old_text: &earlier.text,
        old: &old,
        bodies: Vec::with_capacity(earlier.bodies.len()),
    };
    if before.outline == split.outline {
        let from: Vec<Cut> = before.functions.iter().map(|f| f.body).collect();
        edited.by_outline(&earlier.bodies, &from, &to)?;
    } else {
        let compiled = compile_text(db, file, &split.outline)?;
        let outline: Vec<Known> = compiled.into_iter().map(Known::from).collect();
        let from: Vec<Cut> = split.functions.iter().map(|f| f.stub).collect();
        edited.by_outline(&outline, &from, &to)?;
    }
    let bodies = edited.bodies;
    Some((split, bodies))
}

/// Compiles a text. None if it has errors.
fn compile_text(db: &dyn Db, file: File, text: &str) -> Option<Vec<Compiled>> {
    let parsed = taipan_syntax::parse(text);
    if !parsed.errors.is_empty() {
        return None;
    }
    let (codes, errors) = compile(db, Origin::File(file), &parsed, CodeKind::Module);
    let is_correct = errors.is_empty() && !codes.iter().any(|c| c.code.poisoned);
    is_correct.then_some(codes)
}

/// Functions of a text by qualified name, with their bodies.
struct Functions<'a>(FxHashMap<&'a str, (&'a FunctionPiece, &'a [Known])>);

impl<'a> Functions<'a> {
    fn of(db: &'a dyn Db, split: &'a Split, bodies: &'a [Known]) -> Functions<'a> {
        let pieces: FxHashMap<&str, &FunctionPiece> =
            split.functions.iter().map(|f| (&*f.qualname, f)).collect();
        let mut found = FxHashMap::default();
        let mut at = 0;
        while let Some(body) = bodies.get(at) {
            let name = &**body.id.qualname(db);
            let len = 1 + inner(db, name, &bodies[at + 1..]);
            match pieces.get(name) {
                Some(piece) => {
                    found.insert(name, (*piece, &bodies[at..at + len]));
                    at += len;
                }
                None => at += 1,
            }
        }
        Functions(found)
    }
}

/// Number of bodies inside a function, which follow its own.
fn inner(db: &dyn Db, function: &str, following: &[Known]) -> usize {
    let is_inner = |k: &&Known| is_inside(k.id.qualname(db), function);
    following.iter().take_while(is_inner).count()
}

/// Whether a qualified name is that of a body inside a function.
fn is_inside(name: &str, function: &str) -> bool {
    name.strip_prefix(function)
        .is_some_and(|rest| rest.starts_with(".<locals>."))
}

/// The codes of an edited text, under construction.
struct Edited<'a> {
    db: &'a dyn Db,
    file: File,
    text: &'a str,
    split: &'a Split,
    old_text: &'a str,
    old: &'a Functions<'a>,
    bodies: Vec<Known>,
}

impl Edited<'_> {
    /// Adds all bodies: those of a text with the same outline, with the functions of this text in place of its own.
    fn by_outline(&mut self, outline: &[Known], from: &[Cut], to: &[Cut]) -> Option<()> {
        let pieces: FxHashMap<&str, &FunctionPiece> = (self.split.functions.iter())
            .map(|f| (&*f.qualname, f))
            .collect();
        let mut functions = 0;
        let mut at = 0;
        while let Some(body) = outline.get(at) {
            at += 1;
            let spans = moved(&body.spans, |p| place(p, from, to));
            let name = &**body.id.qualname(self.db);
            let Some(piece) = pieces.get(name) else {
                self.bodies.push(Known {
                    spans,
                    ..body.clone()
                });
                continue;
            };
            at += inner(self.db, name, &outline[at..]);
            functions += 1;
            let first = self.bodies.len();
            self.function(piece)?;
            let own = self.bodies.get_mut(first)?;
            // Decorators belong to the definition, and stand in the outline.
            if own.spans.whole != spans.whole {
                Arc::make_mut(&mut own.spans).whole = spans.whole;
            }
        }
        (functions == self.split.functions.len()).then_some(())
    }

    /// Adds a function and the bodies inside it.
    fn function(&mut self, f: &FunctionPiece) -> Option<()> {
        let slice = |text: &str, f: &FunctionPiece| {
            let range = f.range.start as usize..f.range.end as usize;
            text.get(range).map(str::to_owned)
        };
        if let Some((g, bodies)) = self.old.0.get(&*f.qualname)
            && g.context == f.context
            && slice(self.old_text, g) == slice(self.text, f)
        {
            let (from, to) = (g.range.start, f.range.start);
            self.bodies.extend(bodies.iter().map(|k| Known {
                spans: moved(&k.spans, |p| (p + to).saturating_sub(from)),
                ..k.clone()
            }));
            return Some(());
        }
        let (text, own) = f.text(self.text);
        let start = f.range.start;
        let name = &*f.qualname;
        for mut c in compile_text(self.db, self.file, &text)? {
            let qualname = &**c.id.qualname(self.db);
            if qualname == name || is_inside(qualname, name) {
                c.spans = c.spans.moved(|p| (p + start).saturating_sub(own));
                self.bodies.push(c.into());
            }
        }
        Some(())
    }
}

/// Moves positions. Returns the same object if none moves.
fn moved(spans: &Arc<CodeSpans>, to: impl Fn(u32) -> u32) -> Arc<CodeSpans> {
    let new = (**spans).clone().moved(to);
    match new == **spans {
        true => spans.clone(),
        false => Arc::new(new),
    }
}

/// A position outside of bodies that are cut out of one text, in another text that differs in these bodies alone.
fn place(p: u32, from: &[Cut], to: &[Cut]) -> u32 {
    let before = from.partition_point(|c| c.start < p);
    let Some(i) = before.checked_sub(1) else {
        return p;
    };
    let (from, to) = (from[i], to[i]);
    match p <= from.end {
        true => to.end,
        false => to.resume + p.saturating_sub(from.resume),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_outside_of_bodies() {
        let cut = |start, end, resume| Cut { start, end, resume };
        let from = [cut(10, 20, 25), cut(40, 45, 45)];
        let to = [cut(10, 12, 14), cut(29, 50, 51)];
        let places = [0, 10, 20, 26, 40, 45, 46].map(|p| place(p, &from, &to));
        assert_eq!(places, [0, 10, 12, 15, 29, 50, 52]);
    }
}
