//! Ways through the program: definitions, references, symbols.

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, DocumentSymbol,
    DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse,
    Location, ReferenceParams, SymbolInformation, SymbolKind, WorkspaceSymbolParams,
    WorkspaceSymbolResponse,
};
use salsa::Database as _;
use taipan_base::{Db, File};
use taipan_driver::{Past, python_files};

use super::write::mentioning;
use crate::snapshot::Snapshot;

pub(super) fn definition(
    s: &Snapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::definitions(&s.db, &s.workspace, position);
    let locations: Vec<Location> = found.into_iter().filter_map(|d| s.location(d)).collect();
    Ok(Some(GotoDefinitionResponse::Array(locations)))
}

pub(super) fn implementation(
    s: &Snapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::implementations(&s.db, &s.workspace, position);
    let locations: Vec<Location> = found.into_iter().filter_map(|d| s.location(d)).collect();
    Ok(Some(GotoDefinitionResponse::Array(locations)))
}

pub(super) fn type_definition(
    s: &Snapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::type_definitions(&s.db, &s.workspace, position);
    let locations: Vec<Location> = found.into_iter().filter_map(|d| s.location(d)).collect();
    Ok(Some(GotoDefinitionResponse::Array(locations)))
}

pub(super) fn references(
    s: &Snapshot,
    params: ReferenceParams,
) -> Result<Option<Vec<Location>>, String> {
    let position = s.position(&params.text_document_position);
    let others = match taipan_ide::name_at(&s.db, position) {
        Some(name) => mentioning(s, &name),
        None => return Ok(None),
    };
    let mut found = taipan_ide::references(&s.db, &s.workspace, &others, position);
    if !params.context.include_declaration {
        let definitions = taipan_ide::definitions(&s.db, &s.workspace, position);
        found.retain(|r| !definitions.contains(&r.span));
    }
    Ok(Some(
        found
            .into_iter()
            .filter_map(|r| s.location(r.span))
            .collect(),
    ))
}

pub(super) fn highlights(
    s: &Snapshot,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::highlights(&s.db, &s.workspace, position);
    let highlight = |r: taipan_ide::Reference| DocumentHighlight {
        range: s.range(r.span.file, r.span.range),
        kind: Some(match r.write {
            true => DocumentHighlightKind::WRITE,
            false => DocumentHighlightKind::READ,
        }),
    };
    Ok(Some(found.into_iter().map(highlight).collect()))
}

pub(super) fn kind(kind: taipan_ide::SymbolKind) -> SymbolKind {
    match kind {
        taipan_ide::SymbolKind::Class => SymbolKind::CLASS,
        taipan_ide::SymbolKind::Function => SymbolKind::FUNCTION,
        taipan_ide::SymbolKind::Method => SymbolKind::METHOD,
        taipan_ide::SymbolKind::Variable => SymbolKind::VARIABLE,
        taipan_ide::SymbolKind::Module => SymbolKind::MODULE,
    }
}

pub(super) fn document_symbols(
    s: &Snapshot,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, String> {
    let file = s.file(&params.text_document.uri);
    let found = taipan_ide::document_symbols(&s.db, file);
    Ok(Some(DocumentSymbolResponse::Nested(
        found.into_iter().map(|d| symbol(s, file, d)).collect(),
    )))
}

#[allow(deprecated, reason = "the field has to be given")]
fn symbol(s: &Snapshot, file: File, d: taipan_ide::DocumentSymbol) -> DocumentSymbol {
    let children = d.children.into_iter();
    let children: Vec<_> = children.map(|c| symbol(s, file, c)).collect();
    DocumentSymbol {
        name: d.name,
        detail: None,
        kind: kind(d.kind),
        tags: None,
        deprecated: None,
        range: s.range(file, d.range),
        selection_range: s.range(file, d.name_range),
        children: (!children.is_empty()).then_some(children),
    }
}

/// More files than this that belong to no program are not looked into.
const MOST_OTHERS: usize = 2000;

/// The files of Python in the folders of the workspace, unless there are very many.
fn other_files(s: &Snapshot) -> Vec<File> {
    let past = Past(s.db.system());
    let mut paths = Vec::new();
    for folder in s.folders.iter() {
        s.db.unwind_if_revision_cancelled();
        paths.extend(python_files(&past, folder).unwrap_or_default());
    }
    if paths.len() > MOST_OTHERS {
        return Vec::new();
    }
    paths.iter().map(|p| s.db.files().get(&s.db, p)).collect()
}

#[allow(deprecated, reason = "the field has to be given")]
pub(super) fn workspace_symbols(
    s: &Snapshot,
    params: WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>, String> {
    let found = taipan_ide::workspace_symbols(&s.db, &s.workspace, &other_files(s), &params.query);
    let found = found.into_iter().filter_map(|w| {
        Some(SymbolInformation {
            name: w.name,
            kind: kind(w.kind),
            tags: None,
            deprecated: None,
            location: s.location(w.span)?,
            container_name: w.container,
        })
    });
    Ok(Some(WorkspaceSymbolResponse::Flat(found.collect())))
}
