//! The table of places, by which the runtime names the functions that were running when a
//! program faults: addresses in ascending order, each with the place that the code from there
//! on comes from. Functions lie in the order of their modules and of the modules' texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use taipan_codegen::SymbolRef;

use crate::module::Places;
use crate::names::{global, symbol_name};

/// A function in the table of places.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlacesRow {
    /// The name of its symbol.
    pub symbol: String,
    /// The file that it is from.
    pub file: std::sync::Arc<str>,
    /// The function that is named.
    pub function: std::sync::Arc<str>,
}

/// The definition of the table. After the functions comes code that belongs to none: that of
/// `end`.
pub(crate) fn places_table(
    rows: &[PlacesRow],
    checked: bool,
    end: &str,
    places: &mut Places,
    declarations: &mut BTreeMap<String, String>,
) -> String {
    let mut cells = vec![
        format!("i64 {}", i64::from(checked)),
        format!("i64 {}", rows.len() + 1),
    ];
    for row in rows {
        let address = global(&row.symbol);
        declarations
            .entry(row.symbol.clone())
            .or_insert_with(|| format!("declare void {address}()"));
        cells.push(format!("ptr {address}"));
        cells.push(format!(
            "ptr {}",
            places.record(&row.file, &row.function, 0)
        ));
    }
    cells.push(format!("ptr {}", global(end)));
    cells.push("ptr null".to_owned());
    let types: Vec<&str> = (cells.iter())
        .map(|c| c.split_once(' ').map_or("", |(t, _)| t))
        .collect();
    let name = symbol_name(&SymbolRef::Places).unwrap_or_default();
    declarations.remove(&name);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} = dso_local constant <{{ {} }}> <{{ {} }}>, align 8",
        global(&name),
        types.join(", "),
        cells.join(", ")
    );
    out
}
