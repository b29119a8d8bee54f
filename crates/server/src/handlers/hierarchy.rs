//! Who calls whom, and which class is made from which.

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
    Position, Range, TypeHierarchyItem, TypeHierarchyPrepareParams, TypeHierarchySubtypesParams,
    TypeHierarchySupertypesParams, Url,
};
use taipan_ide::{FilePosition, Item};

use super::navigate::kind;
use super::write::mentioning;
use crate::snapshot::Snapshot;

pub(super) fn prepare_calls(
    s: &Snapshot,
    params: CallHierarchyPrepareParams,
) -> Result<Option<Vec<CallHierarchyItem>>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::call_items(&s.db, &s.workspace, position);
    let items = found.iter().filter_map(|i| call_item(s, i));
    Ok(Some(items.collect()))
}

pub(super) fn incoming_calls(
    s: &Snapshot,
    params: CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>, String> {
    let item = params.item;
    let position = position(s, &item.uri, item.selection_range);
    // A constructor is called by the name of its class.
    let word = match &*item.name {
        "__init__" => item.detail.as_deref().and_then(|d| d.rsplit('.').next()),
        name => Some(name),
    };
    let others = mentioning(s, word.unwrap_or(&item.name));
    let found = taipan_ide::callers(&s.db, &s.workspace, &others, position);
    let calls = found.into_iter().filter_map(|c| {
        let ranges = c.places.iter().map(|p| s.range(c.item.file, *p));
        Some(CallHierarchyIncomingCall {
            from_ranges: ranges.collect(),
            from: call_item(s, &c.item)?,
        })
    });
    Ok(Some(calls.collect()))
}

pub(super) fn outgoing_calls(
    s: &Snapshot,
    params: CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>, String> {
    let item = params.item;
    let position = position(s, &item.uri, item.selection_range);
    let found = taipan_ide::callees(&s.db, &s.workspace, position);
    let calls = found.into_iter().filter_map(|c| {
        let ranges = c.places.iter().map(|p| s.range(position.file, *p));
        Some(CallHierarchyOutgoingCall {
            from_ranges: ranges.collect(),
            to: call_item(s, &c.item)?,
        })
    });
    Ok(Some(calls.collect()))
}

pub(super) fn prepare_types(
    s: &Snapshot,
    params: TypeHierarchyPrepareParams,
) -> Result<Option<Vec<TypeHierarchyItem>>, String> {
    let position = s.position(&params.text_document_position_params);
    let found = taipan_ide::type_items(&s.db, &s.workspace, position);
    Ok(Some(type_items(s, &found)))
}

pub(super) fn supertypes(
    s: &Snapshot,
    params: TypeHierarchySupertypesParams,
) -> Result<Option<Vec<TypeHierarchyItem>>, String> {
    let item = params.item;
    let position = position(s, &item.uri, item.selection_range);
    let found = taipan_ide::supertypes(&s.db, &s.workspace, position);
    Ok(Some(type_items(s, &found)))
}

pub(super) fn subtypes(
    s: &Snapshot,
    params: TypeHierarchySubtypesParams,
) -> Result<Option<Vec<TypeHierarchyItem>>, String> {
    let item = params.item;
    let position = position(s, &item.uri, item.selection_range);
    let found = taipan_ide::subtypes(&s.db, &s.workspace, position);
    Ok(Some(type_items(s, &found)))
}

/// The place of the name of an item that the client has.
fn position(s: &Snapshot, url: &Url, name: Range) -> FilePosition {
    let file = s.file(url);
    let start = |at: Position| s.text_range(file, Range::new(at, at)).start;
    FilePosition {
        file,
        offset: start(name.start),
    }
}

fn call_item(s: &Snapshot, item: &Item) -> Option<CallHierarchyItem> {
    Some(CallHierarchyItem {
        name: item.name.clone(),
        kind: kind(item.kind),
        tags: None,
        detail: (!item.container.is_empty()).then(|| item.container.clone()),
        uri: s.url(item.file)?,
        range: s.range(item.file, item.range),
        selection_range: s.range(item.file, item.name_range),
        data: None,
    })
}

fn type_items(s: &Snapshot, items: &[Item]) -> Vec<TypeHierarchyItem> {
    let item = |item: &Item| {
        Some(TypeHierarchyItem {
            name: item.name.clone(),
            kind: kind(item.kind),
            tags: None,
            detail: (!item.container.is_empty()).then(|| item.container.clone()),
            uri: s.url(item.file)?,
            range: s.range(item.file, item.range),
            selection_range: s.range(item.file, item.name_range),
            data: None,
        })
    };
    items.iter().filter_map(item).collect()
}
