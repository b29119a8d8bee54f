//! How values look at the low level, for people.

use taipan_annotator::{Roots, SomeValue};
use taipan_driver::Database;
use taipan_graph::ObjId;
use taipan_lltype::StructId;
use taipan_rtyper::{LayoutKey, RTyper, Repr, Universe};

/// Repr and low-level type of an annotation: `IntegerRepr, Signed`. None where it has
/// no low-level form.
pub(crate) fn repr_text(db: &Database, roots: Roots, s: &SomeValue) -> Option<(String, String)> {
    let repr = RTyper::new(db, Universe::User(roots)).getrepr(s).ok()?;
    Some((repr_name(&repr), repr.lowleveltype().to_string()))
}

/// The name of a representation as RPython has it, where it differs from the variant's.
fn repr_name(repr: &Repr) -> String {
    let variant = format!("{repr:?}");
    let variant = variant.split(['(', ' ', '{']).next().unwrap_or_default();
    let name = match variant {
        "Int" => "Integer",
        "Str" => "String",
        "UniChar" => "UnicodeCodePoint",
        "Function" | "Functions" => "FunctionsPBC",
        "Classes" => "ClassesPBC",
        "Methods" => "MethodsPBC",
        "Frozen" => "FrozenPBC",
        "Impossible" => "Void",
        other => other,
    };
    format!("{name}Repr")
}

/// The fields of the instances of a class, those of base classes left out: name and
/// low-level type each.
pub(crate) fn instance_layout(
    db: &Database,
    roots: Roots,
    class: ObjId,
) -> Option<Vec<(String, String)>> {
    let key = LayoutKey::new(db, roots, StructId::Instance(class));
    let body = taipan_rtyper::struct_body(db, key);
    let body = body.as_ref().ok()?;
    let fields = body.fields.iter().filter(|f| &*f.name != "super");
    Some(
        fields
            .map(|f| (f.name.to_string(), f.ty.to_string()))
            .collect(),
    )
}
