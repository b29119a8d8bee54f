//! Help with writing: completion, signatures, actions, rename.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, Documentation,
    MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, PrepareRenameResponse,
    RenameParams, SignatureHelp, SignatureHelpParams, SignatureInformation,
    TextDocumentPositionParams, TextEdit, Url, WorkspaceEdit,
};
use salsa::Database as _;
use taipan_base::{Db, FileContents, SHIPPED, Span};
use taipan_driver::{Past, Reader, python_files};
use taipan_ide::{CompletionKind, FilePosition, Others};

use crate::convert::Encoding;
use crate::snapshot::Snapshot;

pub(super) fn prepare_rename(
    s: &Snapshot,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, String> {
    let position = s.position(&params);
    let range = taipan_ide::prepare_rename(&s.db, &s.workspace, position)?;
    let range = s.range(position.file, range);
    Ok(Some(PrepareRenameResponse::Range(range)))
}

pub(super) fn rename(s: &Snapshot, params: RenameParams) -> Result<Option<WorkspaceEdit>, String> {
    let position = s.position(&params.text_document_position);
    let name = taipan_ide::prepare_rename(&s.db, &s.workspace, position)?;
    let text = position.file.text(&s.db);
    let others = mentioning(s, &text[name.start as usize..name.end as usize]);
    let edits = taipan_ide::rename(&s.db, &s.workspace, &others, position, &params.new_name)?;
    workspace_edit(s, edits).map(Some)
}

/// The files of Python in the folders of the workspace, and among them those that hold a
/// word: what no program reaches may name things as well.
pub(super) fn mentioning(s: &Snapshot, word: &str) -> Others {
    // What does not hold it becomes no input.
    let past = Past(s.db.system());
    let mut out = Others::default();
    for folder in s.folders.iter() {
        for path in python_files(&past, folder).unwrap_or_default() {
            s.db.unwind_if_revision_cancelled();
            out.note(path.strip_prefix(folder).unwrap_or(&path));
            if let FileContents::Text(text) = past.read(&path)
                && text.contains(word)
            {
                out.files.push(s.db.files().get(&s.db, &path));
            }
        }
    }
    out
}

fn workspace_edit(s: &Snapshot, edits: Vec<(Span, String)>) -> Result<WorkspaceEdit, String> {
    let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
    for (span, text) in edits {
        let shipped = span.file.path(&s.db).starts_with(SHIPPED);
        let Some(at) = s.location(span).filter(|_| !shipped) else {
            return Err("a file that ships with Taipan would have to change".to_owned());
        };
        let edit = TextEdit::new(at.range, text);
        changes.entry(at.uri).or_default().push(edit);
    }
    Ok(WorkspaceEdit::new(changes))
}

pub(super) fn completion(
    s: &Snapshot,
    params: CompletionParams,
) -> Result<Option<CompletionResponse>, String> {
    let position = s.position(&params.text_document_position);
    let trigger = params.context.and_then(|c| c.trigger_character);
    // A blank asks for something only in an import.
    if trigger.as_deref() == Some(" ") && !taipan_ide::completes_import(&s.db, position) {
        return Ok(None);
    }
    let found = taipan_ide::completions(&s.db, &s.workspace, position);
    let item = |(i, c): (usize, taipan_ide::Completion)| CompletionItem {
        sort_text: Some(format!("{i:05}")),
        kind: Some(match c.kind {
            CompletionKind::Local => CompletionItemKind::VARIABLE,
            CompletionKind::Attribute => CompletionItemKind::FIELD,
            CompletionKind::Method => CompletionItemKind::METHOD,
            CompletionKind::Function | CompletionKind::Builtin => CompletionItemKind::FUNCTION,
            CompletionKind::Class => CompletionItemKind::CLASS,
            CompletionKind::Module => CompletionItemKind::MODULE,
            CompletionKind::Global => CompletionItemKind::CONSTANT,
            CompletionKind::Keyword => CompletionItemKind::KEYWORD,
        }),
        detail: c.detail,
        // Documentation waits until it is asked for.
        data: c.definition.map(|d| {
            let path = d.file.path(&s.db).as_str();
            serde_json::json!({"path": path, "offset": d.range.start})
        }),
        label: c.name,
        ..CompletionItem::default()
    };
    Ok(Some(CompletionResponse::Array(
        found.into_iter().enumerate().map(item).collect(),
    )))
}

pub(super) fn resolve_completion(
    s: &Snapshot,
    mut item: CompletionItem,
) -> Result<CompletionItem, String> {
    let Some(data) = item.data.take() else {
        return Ok(item);
    };
    let (Some(path), Some(offset)) = (data["path"].as_str(), data["offset"].as_u64()) else {
        return Ok(item);
    };
    let file = s.db.files().get(&s.db, path.into());
    let offset = offset as u32;
    let position = FilePosition { file, offset };
    let found = match item.kind {
        Some(CompletionItemKind::MODULE) => taipan_ide::module_documentation(&s.db, file),
        _ => taipan_ide::documentation(&s.db, &s.workspace, position, &item.label),
    };
    if let Some(found) = found {
        let value = super::show::markdown(&found);
        item.documentation = Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }));
    }
    Ok(item)
}

pub(super) fn signature_help(
    s: &Snapshot,
    params: SignatureHelpParams,
) -> Result<Option<SignatureHelp>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::signatures(&s.db, &s.workspace, position);
    let active = found.first().map(|f| f.active);
    let signature = |f: taipan_ide::Signature| {
        // Labels count as positions do in UTF-16, whatever was agreed on for those.
        let place = |at: u32| Encoding::Utf16.columns(&f.label[..at as usize]);
        let parameters = f.parameters.iter().map(|p| ParameterInformation {
            label: ParameterLabel::LabelOffsets([place(p.start), place(p.end)]),
            documentation: None,
        });
        let parameters = Some(parameters.collect());
        SignatureInformation {
            label: f.label,
            documentation: None,
            parameters,
            active_parameter: Some(f.active),
        }
    };
    let signatures: Vec<_> = found.into_iter().map(signature).collect();
    Ok((!signatures.is_empty()).then_some(SignatureHelp {
        signatures,
        active_signature: Some(0),
        active_parameter: active,
    }))
}

pub(super) fn code_actions(
    s: &Snapshot,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>, String> {
    let file = s.file(&params.text_document.uri);
    let range = s.text_range(file, params.range);
    let mut out = CodeActionResponse::new();
    for fix in taipan_ide::fixes(&s.db, &s.workspace, file, range) {
        let diagnostic = crate::check::convert(s, &fix.diagnostic);
        let Ok(edit) = workspace_edit(s, fix.edits) else {
            continue;
        };
        out.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic]),
            edit: Some(edit),
            is_preferred: Some(fix.preferred),
            ..CodeAction::default()
        }));
    }
    Ok(Some(out))
}
