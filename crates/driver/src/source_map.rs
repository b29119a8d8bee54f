//! Source maps of WebAssembly: which line of the program code comes from, for debuggers of browsers.
//!
//! A map has one line, whose columns are offsets in the module (version 3 of the format).

use rustc_hash::FxHashMap;
use serde_json::json;
use taipan_annotator::Roots;
use taipan_base::{Db, File};
use taipan_codegen_wasmgc::Linked;
use taipan_lltype::{CodePlace, FuncSym};

use crate::stages::native::{line_of, source_of};

/// The map of a module. It has the texts of the sources.
pub(crate) fn source_map(db: &dyn Db, roots: Roots, linked: &Linked) -> String {
    let mut lines = Lines::new(db, roots);
    let (mut files, mut mappings) = (Vec::new(), Mappings::default());
    for (offset, place) in &linked.places {
        match place.as_ref().and_then(|p| lines.of(p)) {
            Some((file, line)) => {
                let known = files.iter().position(|f| *f == file);
                let source = known.unwrap_or_else(|| {
                    files.push(file);
                    files.len() - 1
                });
                mappings.add(*offset, Some((source, line - 1)));
            }
            None => mappings.add(*offset, None),
        }
    }
    let paths: Vec<&str> = files.iter().map(|f| f.path(db).as_str()).collect();
    let texts: Vec<&str> = files.iter().map(|f| f.text(db)).collect();
    json!({
        "version": 3,
        "sources": paths,
        "sourcesContent": texts,
        "names": [],
        "mappings": mappings.text,
    })
    .to_string()
}

/// The lines of places in functions.
pub(crate) struct Lines<'db> {
    db: &'db dyn Db,
    roots: Roots,
    sources: FxHashMap<FuncSym, Option<Source>>,
}

type Source = (
    File,
    std::sync::Arc<taipan_code::CodeSpans>,
    std::sync::Arc<taipan_base::LineIndex>,
);

impl<'db> Lines<'db> {
    pub(crate) fn new(db: &'db dyn Db, roots: Roots) -> Lines<'db> {
        Lines {
            db,
            roots,
            sources: FxHashMap::default(),
        }
    }

    /// The file and the line of a place.
    pub(crate) fn of(&mut self, place: &CodePlace) -> Option<(File, u32)> {
        let (db, roots) = (self.db, self.roots);
        if !self.sources.contains_key(&place.func) {
            let source = source_of(db, roots, &place.func);
            self.sources.insert(place.func.clone(), source);
        }
        let (file, spans, lines) = self.sources[&place.func].as_ref()?;
        match line_of(db, *file, spans, lines, place.at) {
            0 => None,
            line => Some((*file, line)),
        }
    }
}

/// The mappings of a map: numbers in base 64, each the difference from the last one of its kind.
#[derive(Default)]
struct Mappings {
    text: String,
    column: u32,
    source: usize,
    line: u32,
    /// The last one.
    last: Option<(usize, u32)>,
}

impl Mappings {
    /// From this column on: a source and a line from 0, or neither.
    fn add(&mut self, column: u32, to: Option<(usize, u32)>) {
        if to == self.last {
            return;
        }
        self.last = to;
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.number(i64::from(column) - i64::from(self.column));
        self.column = column;
        if let Some((source, line)) = to {
            self.number(source as i64 - self.source as i64);
            self.number(i64::from(line) - i64::from(self.line));
            self.number(0);
            (self.source, self.line) = (source, line);
        }
    }

    /// Five bits a digit, lowest first; the sixth says that there are more. The lowest bit is the sign.
    fn number(&mut self, n: i64) {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut rest = n.unsigned_abs() << 1 | u64::from(n < 0);
        loop {
            let digit = rest & 31;
            rest >>= 5;
            let more = if rest == 0 { 0 } else { 32 };
            self.text.push(char::from(DIGITS[(digit | more) as usize]));
            if rest == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mappings;

    #[test]
    fn numbers_are_differences_in_base_64() {
        let mut m = Mappings::default();
        m.add(0, Some((0, 0)));
        m.add(20, Some((0, 17)));
        m.add(21, Some((0, 17)));
        m.add(40, None);
        m.add(1040, Some((1, 3)));
        assert_eq!(m.text, "AAAA,oBAiBA,oB,w+BCdA");
    }
}
