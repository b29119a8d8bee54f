//! What stands above functions, and links in imports.

use lsp_types::{CodeLens, CodeLensParams, Command, DocumentLink, DocumentLinkParams};
use serde_json::{Value, json};
use taipan_ide::LensKind;

use crate::snapshot::Snapshot;

/// The commands are the client's: it has the terminal and the windows.
pub(super) fn lenses(
    s: &Snapshot,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>, String> {
    let file = s.file(&params.text_document.uri);
    let path = file.path(&s.db).as_str();
    let wanted = &s.settings.code_lens;
    let reran = |function: &str| s.reruns.get(function).cloned();
    let found = taipan_ide::lenses(&s.db, &s.workspace, file, &reran).into_iter();
    let shown = found.filter(|l| match l.kind {
        LensKind::Run | LensKind::Build => wanted.run,
        LensKind::Test(_) => wanted.test,
        LensKind::Graph(_) => wanted.graph,
        LensKind::Reran(_) => wanted.reran,
    });
    let command = |kind: LensKind| {
        let (title, command, arguments) = match kind {
            LensKind::Run => ("run".to_owned(), "taipan.run", vec![json!(path)]),
            LensKind::Build => ("build".to_owned(), "taipan.build", vec![json!(path)]),
            LensKind::Test(name) => {
                let arguments = vec![json!(path), json!(name)];
                ("run test".to_owned(), "taipan.test", arguments)
            }
            LensKind::Graph(name) => {
                let arguments = vec![json!(path), json!(name)];
                ("show graph".to_owned(), "taipan.showGraph", arguments)
            }
            LensKind::Reran(why) => (why, "", Vec::<Value>::new()),
        };
        Command {
            title,
            command: command.to_owned(),
            arguments: (!arguments.is_empty()).then_some(arguments),
        }
    };
    let lens = |l: taipan_ide::Lens| CodeLens {
        range: s.range(file, l.range),
        command: Some(command(l.kind)),
        data: None,
    };
    Ok(Some(shown.map(lens).collect()))
}

pub(super) fn links(
    s: &Snapshot,
    params: DocumentLinkParams,
) -> Result<Option<Vec<DocumentLink>>, String> {
    let file = s.file(&params.text_document.uri);
    let found = taipan_ide::links(&s.db, &s.workspace, file).into_iter();
    let links = found.filter_map(|(range, to)| {
        Some(DocumentLink {
            range: s.range(file, range),
            target: Some(s.url(to)?),
            tooltip: None,
            data: None,
        })
    });
    Ok(Some(links.collect()))
}
