//! Which variables of a function are known while the loops of a driver are compiled.

use std::collections::BTreeMap;

use serde::Serialize;
use taipan_annotator::annotation;
use taipan_jit::NameColor;

use crate::fault::{Failure, guarded};
use crate::inspect::Inspected;
use crate::stages::drivers::color_of_name;

/// The color of the variables of one name.
#[derive(Serialize, Debug)]
pub struct ColorRow {
    /// `green`, `red`, or `both` where it is green in some places alone.
    pub class: &'static str,
    /// The color in words, with the path from a red variable to where it becomes red.
    pub text: String,
}

/// The colors of the variables of a function, by name. Empty if no driver reaches it.
///
/// Takes long in a large interpreter, unlike views: all that drivers reach is colored first.
pub fn colors(
    program: &Inspected<'_>,
    function: &str,
) -> Result<BTreeMap<String, ColorRow>, Failure> {
    guarded(|| {
        let spec = program.spec(function)?;
        let annotated = annotation(program.db, spec);
        let mut rows = BTreeMap::new();
        for var in annotated.graph.vars.iter().filter(|v| !v.name.is_empty()) {
            if rows.contains_key(&*var.name) {
                continue;
            }
            if let Some(color) = color_of_name(program.db, spec, &var.name) {
                let row = ColorRow {
                    class: match color {
                        NameColor::Green => "green",
                        NameColor::Red(_) => "red",
                        NameColor::Both(_) => "both",
                    },
                    text: color.to_string(),
                };
                rows.insert(var.name.to_string(), row);
            }
        }
        Ok(rows)
    })?
}
