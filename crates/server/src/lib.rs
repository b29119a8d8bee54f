//! The language server: the Language Server Protocol on top of [`taipan_ide`].
//!
//! ```text
//! stdin ─► front ─► main loop: owns the database, sets inputs ──snapshots──► workers: answer requests
//! stdout ◄────────── responses, diagnostics, progress ◄─────────tasks────── checker: diagnostics
//! ```
//!
//! The front answers `shutdown` and obeys `exit` whatever the others do.
//! The main loop takes all messages that have arrived, applies the edits among them to
//! its copy of each document, and sets the database's inputs once, which cancels what
//! still works on the old text. Requests are answered by workers on clones of the
//! database. One that was cancelled by an edit is asked again, unless the edit was in
//! the file that it is about: then its positions mean nothing any more and the answer
//! is `ContentModified`.
//!
//! **Architecture invariants.** No analysis here: all answers come from `taipan_ide` as
//! plain data and are only put into the protocol's form. The main loop never computes a
//! query that can take long. Positions are converted at the edge, in [`convert`].

mod capabilities;
mod check;
mod convert;
mod documents;
mod fix;
mod front;
mod handlers;
mod pool;
mod projects;
mod pull;
mod reruns;
mod settings;
mod shipped;
mod snapshot;
mod state;
mod tokens;
mod transport;

pub use fix::{Fixed, fixed_files};

use lsp_server::{Connection, ErrorCode, Response};
use lsp_types::InitializeParams;

/// Why serving ended before its time.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Serves an editor on standard input and output until it says `exit`.
pub fn serve_stdio() -> Result<(), Error> {
    let (connection, threads) = transport::stdio()?;
    serve(&connection)?;
    threads.finish(&connection)
}

/// Serves a client until it says `exit`.
pub fn serve(connection: &Connection) -> Result<(), Error> {
    let (id, refreshes, params) = loop {
        let (id, params) = connection.initialize_start()?;
        // `lsp_types` has another name for it than the protocol.
        let refresh = params.pointer("/capabilities/workspace/diagnostics/refreshSupport");
        let refreshes = refresh.and_then(serde_json::Value::as_bool) == Some(true);
        match serde_json::from_value::<InitializeParams>(params) {
            Ok(params) => break (id, refreshes, params),
            Err(e) => {
                let code = ErrorCode::InvalidParams as i32;
                let refused = Response::new_err(id, code, e.to_string());
                connection.sender.send(refused.into())?;
            }
        }
    };
    let mut client = capabilities::Client::new(&params);
    client.refreshes |= refreshes;
    let mut capabilities = serde_json::to_value(capabilities::server(&client))?;
    // `lsp_types` does not have it.
    capabilities["typeHierarchyProvider"] = true.into();
    let answer = serde_json::json!({
        "capabilities": capabilities,
        "serverInfo": {"name": "taipan", "version": env!("CARGO_PKG_VERSION")},
    });
    connection
        .sender
        .send(Response::new_ok(id, answer).into())?;
    front::attend(connection, client, params)
}
