//! Requests: the protocol's parameters in, `taipan_ide`'s answers out.

mod hierarchy;
mod lenses;
mod navigate;
mod show;
mod write;

use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare,
    CodeActionRequest, CodeLensRequest, Completion as CompletionRequest, DocumentHighlightRequest,
    DocumentLinkRequest, DocumentSymbolRequest, FoldingRangeRequest, GotoDefinition,
    GotoImplementation, GotoTypeDefinition, HoverRequest, InlayHintRequest,
    InlayHintResolveRequest, PrepareRenameRequest, References, Rename, Request,
    ResolveCompletionItem, SelectionRangeRequest, SemanticTokensFullDeltaRequest,
    SemanticTokensFullRequest, SemanticTokensRangeRequest, SignatureHelpRequest,
    TypeHierarchyPrepare, TypeHierarchySubtypes, TypeHierarchySupertypes, WorkspaceSymbolRequest,
};
use serde_json::Value;

use crate::snapshot::Snapshot;

pub(crate) use show::TOKEN_MODIFIERS;
pub(crate) use show::TOKEN_TYPES;

/// Why a request has no result.
pub(crate) enum Refusal {
    /// Its parameters are not what they should be.
    Params(String),
    /// It cannot be done, for a reason that the user should read.
    Reason(String),
}

/// The result of a request.
pub(crate) enum Reply {
    /// The result.
    Whole(Value),
    /// A result that will do, and how to complete it, which may take long.
    Part(Value, Completion),
}

/// Completes a result. Runs on a worker of its own, so that no other request waits for it.
pub(crate) type Completion = Box<dyn FnOnce(&Snapshot) -> Result<Value, Refusal> + Send>;

/// Answers a request.
pub(crate) type Handler = fn(&Snapshot, Value) -> Result<Reply, Refusal>;

fn wrong(e: serde_json::Error) -> Refusal {
    Refusal::Params(e.to_string())
}

fn call<R: Request>(
    snapshot: &Snapshot,
    params: Value,
    handle: fn(&Snapshot, R::Params) -> Result<R::Result, String>,
) -> Result<Reply, Refusal> {
    let params = serde_json::from_value(params).map_err(wrong)?;
    let result = handle(snapshot, params).map_err(Refusal::Reason)?;
    serde_json::to_value(result)
        .map(Reply::Whole)
        .map_err(wrong)
}

fn hover(snapshot: &Snapshot, params: Value) -> Result<Reply, Refusal> {
    let params = serde_json::from_value(params).map_err(wrong)?;
    show::hover(snapshot, params).map_err(wrong)
}

/// Whether a request is about the syntax of one file: nothing that it needs waits for import time.
pub(crate) fn is_syntactic(method: &str) -> bool {
    [
        DocumentSymbolRequest::METHOD,
        FoldingRangeRequest::METHOD,
        SelectionRangeRequest::METHOD,
    ]
    .contains(&method)
}

/// Whether answers to a method may take longer than someone who types wants to wait: they go
/// through whole folders.
pub(crate) fn is_slow(method: &str) -> bool {
    [
        References::METHOD,
        Rename::METHOD,
        WorkspaceSymbolRequest::METHOD,
        CallHierarchyIncomingCalls::METHOD,
        CallHierarchyOutgoingCalls::METHOD,
    ]
    .contains(&method)
}

macro_rules! handlers {
    ($($request:ty => $handler:path,)*) => {
        /// The handler of a method.
        pub(crate) fn find(method: &str) -> Option<Handler> {
            match method {
                HoverRequest::METHOD => Some(hover),
                $(<$request>::METHOD => Some(|s, p| call::<$request>(s, p, $handler)),)*
                _ => None,
            }
        }
    };
}

handlers! {
    InlayHintRequest => show::inlay_hints,
    InlayHintResolveRequest => show::resolve_hint,
    SemanticTokensFullRequest => show::tokens_full,
    SemanticTokensFullDeltaRequest => show::tokens_delta,
    SemanticTokensRangeRequest => show::tokens_range,
    FoldingRangeRequest => show::folds,
    SelectionRangeRequest => show::selections,
    GotoDefinition => navigate::definition,
    GotoImplementation => navigate::implementation,
    GotoTypeDefinition => navigate::type_definition,
    CallHierarchyPrepare => hierarchy::prepare_calls,
    CallHierarchyIncomingCalls => hierarchy::incoming_calls,
    CallHierarchyOutgoingCalls => hierarchy::outgoing_calls,
    TypeHierarchyPrepare => hierarchy::prepare_types,
    TypeHierarchySupertypes => hierarchy::supertypes,
    TypeHierarchySubtypes => hierarchy::subtypes,
    CodeLensRequest => lenses::lenses,
    DocumentLinkRequest => lenses::links,
    References => navigate::references,
    DocumentHighlightRequest => navigate::highlights,
    DocumentSymbolRequest => navigate::document_symbols,
    WorkspaceSymbolRequest => navigate::workspace_symbols,
    PrepareRenameRequest => write::prepare_rename,
    Rename => write::rename,
    CompletionRequest => write::completion,
    ResolveCompletionItem => write::resolve_completion,
    SignatureHelpRequest => write::signature_help,
    CodeActionRequest => write::code_actions,
}
