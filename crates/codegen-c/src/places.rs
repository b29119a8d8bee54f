//! The table by which the runtime names the functions that were running when a program faults.
//!
//! Which addresses functions have is known when all files are linked, and C compilers put parts of
//! functions elsewhere and make copies of others. The table is therefore by symbol: the runtime
//! looks up the address in the executable's own table of symbols, and the symbol's hash here. So the
//! table refers to no function, and keeps none from being inlined or left out.

use indexmap::IndexMap;
use taipan_codegen::file_of_unplaced;
use taipan_lltype::FuncSym;

use crate::program::{CodePlaces, File};
use crate::unit::quoted;

/// How the program table's file gets to know of the table.
pub(crate) const DECLARATION: &str = "\nextern const char rpy_places[];\n";

/// A function in the table.
pub(crate) struct Row {
    hash: u64,
    file: String,
    function: String,
}

impl Row {
    /// Of a function with that name in C.
    pub(crate) fn new(f: &FuncSym, name: &str, places: Option<&CodePlaces>) -> Row {
        let (file, function) = match places {
            Some(p) => (&*p.file, &*p.function),
            None => (file_of_unplaced(f), f.name()),
        };
        Row {
            hash: hash(name),
            file: file.to_owned(),
            function: function.to_owned(),
        }
    }
}

/// FNV-1a, as the runtime has it.
fn hash(name: &str) -> u64 {
    (name.bytes()).fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The file with the table: flags, the number of rows, and in each a hash and the record of the
/// function as a whole.
pub(crate) fn file(mut rows: Vec<Row>, checked: bool) -> File {
    const CHECKED: u64 = 1;
    const BY_SYMBOL: u64 = 2;
    rows.sort_by(|a, b| (a.hash, &a.file, &a.function).cmp(&(b.hash, &b.file, &b.function)));
    // Of two that are the same nobody knows which one was running.
    let (mut unique, mut last) = (Vec::with_capacity(rows.len()), None);
    for row in rows {
        match last.replace(row.hash) == Some(row.hash) {
            true => _ = unique.pop_if(|r: &mut Row| r.hash == row.hash),
            false => unique.push(row),
        }
    }
    let flags = BY_SYMBOL | if checked { CHECKED } else { 0 };
    let mut files: IndexMap<&str, usize> = IndexMap::new();
    let mut records = String::new();
    let mut cells = String::new();
    for (i, row) in unique.iter().enumerate() {
        let next = files.len();
        let file = *files.entry(&row.file).or_insert(next);
        let function = quoted(&row.function);
        records.push_str(&format!("    {{ file_{file}, {function}, 0 }},\n"));
        cells.push_str(&format!("    {{ {:#x}u, &places[{i}] }},\n", row.hash));
    }
    let files: String = (files.iter())
        .map(|(file, i)| format!("static const char file_{i}[] = {};\n", quoted(file)))
        .collect();
    // C knows no arrays without items.
    let count = unique.len();
    let size = count.max(1);
    File {
        // No module is called so.
        name: "fault-places.c".to_owned(),
        text: format!(
            "#include \"taipan.h\"\n\n{files}\nstatic const RPyLocation places[{size}] = {{\n{records}}};\n\n\
             /* By the hashes of functions' names. */\nextern const struct places {{\n    \
             Unsigned flags, count;\n    struct {{\n        Unsigned hash;\n        \
             const RPyLocation *place;\n    }} rows[{size}];\n}} rpy_places;\n\n\
             const struct places rpy_places = {{ {flags}, {count}, {{\n{cells}}} }};\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(hash: u64, function: &str) -> Row {
        Row {
            hash,
            file: "/m.py".to_owned(),
            function: function.to_owned(),
        }
    }

    #[test]
    fn rows_are_sorted_and_differ() {
        let rows = vec![
            row(7, "m.b"),
            row(3, "m.a"),
            row(9, "m.c"),
            row(9, "m.d"),
            row(9, "m.e"),
        ];
        let text = file(rows, true).text;
        let start = text.find("const struct places rpy_places = ").unwrap();
        expect_test::expect![[r#"
            const struct places rpy_places = { 3, 2, {
                { 0x3u, &places[0] },
                { 0x7u, &places[1] },
            } };
        "#]]
        .assert_eq(&text[start..]);
        assert!(text.contains(r#"{ file_0, "m.a", 0 },"#));
    }

    #[test]
    fn a_program_without_functions_has_a_table() {
        assert!(file(Vec::new(), false).text.contains("{ 2, 0, {"));
    }
}
