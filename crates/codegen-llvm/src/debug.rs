//! Types as LLVM's metadata, for debuggers.

use taipan_codegen::{DebugType, ScalarKind};

use crate::module::Nodes;
use crate::names::escaped;

/// The numbers of the nodes of types, by number of the type.
pub(crate) fn type_nodes(types: &[DebugType], nodes: &mut Nodes) -> Vec<usize> {
    // They refer to each other.
    let numbers: Vec<usize> = types
        .iter()
        .map(|_| nodes.distinct(String::new()))
        .collect();
    for (i, (ty, number)) in types.iter().zip(&numbers).enumerate() {
        let text = match ty {
            DebugType::Scalar { name, size, kind } => {
                let encoding = match kind {
                    ScalarKind::Bool => "DW_ATE_boolean",
                    ScalarKind::Char => "DW_ATE_unsigned_char",
                    ScalarKind::UniChar => "DW_ATE_UTF",
                    ScalarKind::Signed => "DW_ATE_signed",
                    ScalarKind::Unsigned => "DW_ATE_unsigned",
                    ScalarKind::Float => "DW_ATE_float",
                    ScalarKind::Address => "DW_ATE_address",
                };
                format!(
                    "!DIBasicType(name: \"{}\", size: {}, encoding: {encoding})",
                    escaped(name.as_bytes()),
                    size * 8
                )
            }
            DebugType::Pointer(to) => {
                let to = to.map_or("null".to_owned(), |to| format!("!{}", numbers[to]));
                format!("!DIDerivedType(tag: DW_TAG_pointer_type, baseType: {to}, size: 64)")
            }
            DebugType::Struct {
                name,
                size,
                members,
            } => {
                let members: Vec<String> = (members.iter())
                    .map(|m| {
                        let member = nodes.distinct(format!(
                            "!DIDerivedType(tag: DW_TAG_member, name: \"{}\", scope: !{number}, \
                             baseType: !{}, size: {}, offset: {})",
                            escaped(m.name.as_bytes()),
                            numbers[m.ty],
                            8 * size_of(types, m.ty),
                            8 * m.offset
                        ));
                        format!("!{member}")
                    })
                    .collect();
                let members = nodes.distinct(format!("!{{{}}}", members.join(", ")));
                format!(
                    "distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"{}\", \
                     size: {}, elements: !{members})",
                    escaped(name.as_bytes()),
                    8 * size
                )
            }
            DebugType::Array(of, count) => {
                let count = count.map_or(-1, |n| n as i64);
                let range = nodes.distinct(format!("!DISubrange(count: {count})"));
                let ranges = nodes.distinct(format!("!{{!{range}}}"));
                format!(
                    "!DICompositeType(tag: DW_TAG_array_type, baseType: !{}, size: {}, \
                     elements: !{ranges})",
                    numbers[*of],
                    8 * size_of(types, i)
                )
            }
        };
        nodes.fill(*number, text);
    }
    numbers
}

/// Number of bytes; none are counted of items without end.
fn size_of(types: &[DebugType], ty: usize) -> u64 {
    match &types[ty] {
        DebugType::Scalar { size, .. } | DebugType::Struct { size, .. } => *size,
        DebugType::Pointer(_) => 8,
        DebugType::Array(of, count) => size_of(types, *of) * count.unwrap_or(0),
    }
}
