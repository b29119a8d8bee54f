//! What is shown in the text: hovers, hints, colours, folds.

use lsp_types::{
    FoldingRange, FoldingRangeKind, FoldingRangeParams, Hover, HoverContents, HoverParams,
    InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, InlayHintTooltip, LanguageString,
    MarkedString, MarkupContent, MarkupKind, SelectionRange, SelectionRangeParams, SemanticToken,
    SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDeltaParams,
    SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensParams,
    SemanticTokensRangeParams, SemanticTokensRangeResult, SemanticTokensResult,
};
use serde_json::Value;
use taipan_base::{File, TextRange};
use taipan_ide::{HintKind, TokenKind};

use super::Reply;
use crate::snapshot::Snapshot;

/// What is said of a place: annotations at once, colors when they are known.
pub(super) fn hover(s: &Snapshot, params: HoverParams) -> serde_json::Result<Reply> {
    let position = s.position(&params.text_document_position_params);
    let Some(mut found) = taipan_ide::hover(&s.db, &s.workspace, position) else {
        return Ok(Reply::Whole(Value::Null));
    };
    let colored = found.colored.take();
    let value = serde_json::to_value(hover_of(s, position.file, &found))?;
    let Some(colored) = colored else {
        return Ok(Reply::Whole(value));
    };
    let complete = move |s: &Snapshot| {
        found.notes.extend(colored.notes(&s.db));
        serde_json::to_value(hover_of(s, position.file, &found)).map_err(super::wrong)
    };
    Ok(Reply::Part(value, Box::new(complete)))
}

fn hover_of(s: &Snapshot, file: File, found: &taipan_ide::Hover) -> Hover {
    let contents = match s.client.markdown {
        true => HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: markdown(found),
        }),
        false => {
            let code = found.code.join("\n");
            let mut parts = vec![MarkedString::LanguageString(LanguageString {
                language: "python".to_owned(),
                value: code,
            })];
            parts.extend(found.notes.iter().cloned().map(MarkedString::String));
            HoverContents::Array(parts)
        }
    };
    Hover {
        contents,
        range: Some(s.range(file, found.range)),
    }
}

/// What is said of a place, as Markdown.
pub(super) fn markdown(found: &taipan_ide::Hover) -> String {
    let code = found.code.join("\n");
    let mut parts = match code.is_empty() {
        true => Vec::new(),
        false => vec![format!("```python\n{code}\n```")],
    };
    parts.extend(found.notes.iter().cloned());
    parts.join("\n\n")
}

pub(super) fn inlay_hints(
    s: &Snapshot,
    params: InlayHintParams,
) -> Result<Option<Vec<InlayHint>>, String> {
    let file = s.file(&params.text_document.uri);
    let range = s.text_range(file, params.range);
    let wanted = &s.settings.inlay_hints;
    let hints = taipan_ide::inlay_hints(&s.db, &s.workspace, file, range);
    let hints = hints.into_iter().filter(|h| match h.kind {
        HintKind::Argument => wanted.arguments,
        HintKind::Result => wanted.results,
        HintKind::Attribute => wanted.attributes,
    });
    Ok(Some(
        hints
            .map(|h| InlayHint {
                position: s.range(file, TextRange::new(h.offset, h.offset)).start,
                label: InlayHintLabel::String(h.text),
                kind: Some(InlayHintKind::TYPE),
                text_edits: None,
                tooltip: None,
                padding_left: None,
                padding_right: None,
                // The tooltip, until it is asked for.
                data: Some(h.tooltip.into()),
            })
            .collect(),
    ))
}

pub(super) fn resolve_hint(_: &Snapshot, mut hint: InlayHint) -> Result<InlayHint, String> {
    if let Some(serde_json::Value::String(text)) = hint.data.take() {
        hint.tooltip = Some(InlayHintTooltip::String(text));
    }
    Ok(hint)
}

/// In the order of [`TokenKind`].
pub(crate) const TOKEN_TYPES: &[SemanticTokenType] = &[
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::CLASS,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::METHOD,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
];

/// Bit by bit.
pub(crate) const TOKEN_MODIFIERS: &[SemanticTokenModifier] = &[
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::DEFAULT_LIBRARY,
];

fn tokens(s: &Snapshot, file: File, range: TextRange) -> Vec<SemanticToken> {
    let mut line = 0;
    let mut start = 0;
    taipan_ide::semantic_tokens(&s.db, &s.workspace, file, range)
        .into_iter()
        .map(|t| {
            let at = s.range(file, t.range);
            let token = SemanticToken {
                delta_line: at.start.line - line,
                delta_start: match at.start.line == line {
                    true => at.start.character - start,
                    false => at.start.character,
                },
                length: at.end.character - at.start.character,
                token_type: token_type(t.kind),
                token_modifiers_bitset: u32::from(t.declaration)
                    | u32::from(t.constant) << 1
                    | u32::from(t.builtin) << 2,
            };
            (line, start) = (at.start.line, at.start.character);
            token
        })
        .collect()
}

fn token_type(kind: TokenKind) -> u32 {
    kind as u32
}

fn whole(s: &Snapshot, file: File) -> TextRange {
    TextRange::new(0, file.text(&s.db).len() as u32)
}

pub(super) fn tokens_full(
    s: &Snapshot,
    params: SemanticTokensParams,
) -> Result<Option<SemanticTokensResult>, String> {
    let file = s.file(&params.text_document.uri);
    let result = s.sent().keep(file, tokens(s, file, whole(s, file)));
    Ok(Some(result.into()))
}

pub(super) fn tokens_delta(
    s: &Snapshot,
    params: SemanticTokensDeltaParams,
) -> Result<Option<SemanticTokensFullDeltaResult>, String> {
    let file = s.file(&params.text_document.uri);
    let old = s.sent().get(file, &params.previous_result_id);
    let new: SemanticTokens = s.sent().keep(file, tokens(s, file, whole(s, file)));
    let Some(old) = old else {
        return Ok(Some(new.into()));
    };
    // One edit: what differs between a common start and a common end.
    let same = |(a, b): &(&SemanticToken, &SemanticToken)| a == b;
    let start = old.iter().zip(&new.data).take_while(same).count();
    let rest = old.len().min(new.data.len()) - start;
    let (back, ahead) = (old.iter().rev(), new.data.iter().rev());
    let end = back.zip(ahead).take(rest).take_while(same).count();
    let edits = match (start == old.len(), old.len() == new.data.len()) {
        (true, true) => Vec::new(),
        _ => vec![SemanticTokensEdit {
            start: 5 * start as u32,
            delete_count: 5 * (old.len() - start - end) as u32,
            data: Some(new.data[start..new.data.len() - end].to_vec()),
        }],
    };
    Ok(Some(SemanticTokensFullDeltaResult::TokensDelta(
        lsp_types::SemanticTokensDelta {
            result_id: new.result_id,
            edits,
        },
    )))
}

pub(super) fn tokens_range(
    s: &Snapshot,
    params: SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>, String> {
    let file = s.file(&params.text_document.uri);
    let range = s.text_range(file, params.range);
    Ok(Some(SemanticTokensRangeResult::Tokens(SemanticTokens {
        result_id: None,
        data: tokens(s, file, range),
    })))
}

pub(super) fn folds(
    s: &Snapshot,
    params: FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>, String> {
    let file = s.file(&params.text_document.uri);
    let text = file.text(&s.db);
    let folds = taipan_ide::folds(&s.db, file).into_iter().map(|f| {
        // Blank lines after a block do not belong to it.
        let piece = text.get(f.range.start as usize..f.range.end as usize);
        let length = piece.unwrap_or("").trim_end().len() as u32;
        let range = TextRange::new(f.range.start, f.range.start + length);
        let range = s.range(file, range);
        FoldingRange {
            start_line: range.start.line,
            end_line: range.end.line,
            kind: f.imports.then_some(FoldingRangeKind::Imports),
            ..FoldingRange::default()
        }
    });
    Ok(Some(folds.collect()))
}

pub(super) fn selections(
    s: &Snapshot,
    params: SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>, String> {
    let file = s.file(&params.text_document.uri);
    let of = |position: lsp_types::Position| {
        let at = s.text_range(file, lsp_types::Range::new(position, position));
        let ranges = taipan_ide::selections(&s.db, file, at.start);
        let mut outer: Option<SelectionRange> = None;
        for r in ranges.into_iter().rev() {
            outer = Some(SelectionRange {
                range: s.range(file, r),
                parent: outer.map(Box::new),
            });
        }
        outer.unwrap_or(SelectionRange {
            range: lsp_types::Range::new(position, position),
            parent: None,
        })
    };
    Ok(Some(params.positions.into_iter().map(of).collect()))
}
