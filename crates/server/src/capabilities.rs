//! What the client can do, and what the server offers it.

use lsp_types::{
    CallHierarchyServerCapability, ClientCapabilities, CodeActionKind, CodeActionOptions,
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, DiagnosticOptions,
    DiagnosticServerCapabilities, DiagnosticTag, DocumentLinkOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, ImplementationProviderCapability,
    InitializeParams, InlayHintOptions, InlayHintServerCapabilities, OneOf, PositionEncodingKind,
    RenameOptions, SelectionRangeProviderCapability, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities, SignatureHelpOptions,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TypeDefinitionProviderCapability, WorkDoneProgressOptions,
};

use crate::convert::Encoding;
use crate::handlers::{TOKEN_MODIFIERS, TOKEN_TYPES};

/// What matters of the client's capabilities.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// How columns are counted.
    pub(crate) encoding: Encoding,
    /// Understands `window/workDoneProgress/create`.
    pub(crate) progress: bool,
    /// File watchers can be registered.
    pub(crate) watching: bool,
    /// Answers `workspace/configuration`.
    pub(crate) configuration: bool,
    /// Asks for diagnostics; they are not sent unasked then.
    pub(crate) pulls: bool,
    /// Can be told to ask for diagnostics again.
    pub(crate) refreshes: bool,
    /// Shows related places of a diagnostic.
    pub(crate) related: bool,
    /// Shows Markdown in hovers.
    pub(crate) markdown: bool,
    /// Shows what is unnecessary as such.
    pub(crate) faded: bool,
    /// Shows code lenses.
    pub(crate) lenses: bool,
    /// Can be told to ask for code lenses again.
    pub(crate) refreshes_lenses: bool,
}

impl Client {
    pub(crate) fn new(params: &InitializeParams) -> Client {
        let c: &ClientCapabilities = &params.capabilities;
        let general = c.general.as_ref();
        let encodings = general.and_then(|g| g.position_encodings.as_deref());
        let text = c.text_document.as_ref();
        let workspace = c.workspace.as_ref();
        let hover = text.and_then(|t| t.hover.as_ref()?.content_format.as_ref());
        Client {
            // UTF-8 is what everything here counts in; UTF-16 is what all clients know.
            encoding: match encodings {
                Some(all) if all.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
                Some(all)
                    if all.contains(&PositionEncodingKind::UTF32)
                        && !all.contains(&PositionEncodingKind::UTF16) =>
                {
                    Encoding::Utf32
                }
                _ => Encoding::Utf16,
            },
            progress: c
                .window
                .as_ref()
                .and_then(|w| w.work_done_progress)
                .unwrap_or(false),
            watching: workspace
                .and_then(|w| w.did_change_watched_files?.dynamic_registration)
                .unwrap_or(false),
            configuration: workspace.and_then(|w| w.configuration).unwrap_or(false),
            pulls: text.is_some_and(|t| t.diagnostic.is_some()),
            refreshes: workspace
                .and_then(|w| w.diagnostic.as_ref()?.refresh_support)
                .unwrap_or(false),
            related: text
                .and_then(|t| t.publish_diagnostics.as_ref()?.related_information)
                .unwrap_or(false),
            faded: text
                .and_then(|t| t.publish_diagnostics.as_ref()?.tag_support.as_ref())
                .is_some_and(|t| t.value_set.contains(&DiagnosticTag::UNNECESSARY)),
            lenses: text.is_some_and(|t| t.code_lens.is_some()),
            refreshes_lenses: workspace
                .and_then(|w| w.code_lens.as_ref()?.refresh_support)
                .unwrap_or(false),
            markdown: hover.is_some_and(|f| f.contains(&lsp_types::MarkupKind::Markdown)),
        }
    }
}

/// What the server offers.
pub(crate) fn server(client: &Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Right(InlayHintServerCapabilities::Options(
            InlayHintOptions {
                resolve_provider: Some(true),
                ..InlayHintOptions::default()
            },
        ))),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: TOKEN_TYPES.to_vec(),
                    token_modifiers: TOKEN_MODIFIERS.to_vec(),
                },
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned(), " ".to_owned()]),
            resolve_provider: Some(true),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        diagnostic_provider: client.pulls.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                ..DiagnosticOptions::default()
            })
        }),
        ..ServerCapabilities::default()
    }
}
