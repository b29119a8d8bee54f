//! The flow object space: abstract interpretation of bytecode that records
//! operations (RPython: `rpython/flowspace`, `rpython/translator/simplify.py`).
//!
//! Owns [`flow_graph`], frame states and how they merge, constant folding against
//! the image, generators as state machines, and the simplification of graphs right
//! after they are built.
//!
//! **Architecture invariants.** A function's graph depends on its own `Code` and on
//! what it read of the image, object by object; never on the text of its file. The
//! result holds instruction indices, no source positions.

mod result;

pub use result::*;

use std::sync::Arc;

use taipan_base::{Db, Diagnostic};
use taipan_interp::Function;

/// The flow graph of a function of the image.
#[salsa::tracked]
pub fn flow_graph(_db: &dyn Db, _func: Function) -> Arc<FlowResult> {
    Arc::new(FlowResult {
        graph: Err(FlowError::new("TP0200", "not a function")),
        signature: Signature::default(),
    })
}

/// What [`flow_graph`] found wrong, for people.
#[salsa::tracked]
pub fn flow_diagnostics(db: &dyn Db, func: Function) -> Arc<Vec<Diagnostic>> {
    let result = flow_graph(db, func);
    let Err(error) = &result.graph else {
        return Arc::default();
    };
    let mut d = Diagnostic::error(error.code, None, &error.message);
    d.help = error.help.clone();
    Arc::new(vec![d])
}
