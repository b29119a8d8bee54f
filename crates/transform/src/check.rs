//! What holds of every graph behind every pass, checked where Rust checks assertions: in tests.

use taipan_graph::verify;
use taipan_lltype::{LLGraph, StructType, check_operations};

/// Looks at a graph behind a pass. The fields of classes are left out, which the program would have to
/// be asked for: what asked would depend on them, in tests only.
///
/// # Panics
/// With debug assertions, if it is not valid: with all that is wrong.
#[track_caller]
pub(crate) fn check(pass: &str, graph: &LLGraph) {
    if !cfg!(debug_assertions) {
        return;
    }
    let mut wrong = check_operations(graph, &StructType::known_body);
    if let Err(errors) = verify(graph) {
        wrong.extend(errors.0);
    }
    let (name, wrong) = (&graph.name, wrong.join("\n"));
    assert!(
        wrong.is_empty(),
        "{name} is not valid behind {pass}:\n{wrong}"
    );
}
