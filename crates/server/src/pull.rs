//! Diagnostics that the client asks for (`textDocument/diagnostic`,
//! `workspace/diagnostic`): answered when the state that they are about has been checked.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use lsp_server::RequestId;
use lsp_types::request::{DocumentDiagnosticRequest, Request as _, WorkspaceDiagnosticRequest};
use lsp_types::{
    DocumentDiagnosticParams, FullDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport, Url,
    WorkspaceDiagnosticParams,
};
use serde_json::{Value, json};

use crate::check::Findings;
use crate::convert::{path_of, url_of};

/// A request that waits for a check.
pub(crate) struct Pull {
    pub(crate) id: RequestId,
    /// When the client asked.
    pub(crate) since: Instant,
    about: About,
}

/// What is asked for, with the names of the reports that the client has.
enum About {
    Document(Url, Option<String>),
    Workspace(HashMap<Url, String>),
}

impl Pull {
    /// The request of that method; none if it is another one.
    pub(crate) fn read(
        id: &RequestId,
        method: &str,
        params: &Value,
    ) -> Option<serde_json::Result<Pull>> {
        let about = match method {
            DocumentDiagnosticRequest::METHOD => {
                serde_json::from_value(params.clone()).map(|p: DocumentDiagnosticParams| {
                    About::Document(p.text_document.uri, p.previous_result_id)
                })
            }
            WorkspaceDiagnosticRequest::METHOD => {
                serde_json::from_value(params.clone()).map(|p: WorkspaceDiagnosticParams| {
                    let known = p.previous_result_ids.into_iter();
                    About::Workspace(known.map(|k| (k.uri, k.value)).collect())
                })
            }
            _ => return None,
        };
        let id = id.clone();
        let since = Instant::now();
        Some(about.map(|about| Pull { id, since, about }))
    }

    /// The result. `version` answers that of an open document.
    pub(crate) fn answer(
        &self,
        findings: &Findings,
        version: impl Fn(&Url) -> Option<i32>,
    ) -> serde_json::Result<Value> {
        let known = match &self.about {
            About::Document(url, old) => return report(findings, url, old.as_deref()),
            About::Workspace(known) => known,
        };
        let mut items = Vec::new();
        // What the client knows of and is well by now is told of too.
        let gone = known.keys().filter(|u| !findings.contains_key(&usual(u)));
        let mut urls: Vec<&Url> = findings.keys().chain(gone).collect();
        urls.sort();
        for url in urls {
            let old = (known.iter().find(|(u, _)| usual(u) == usual(url))).map(|(_, v)| &**v);
            let mut item = report(findings, url, old)?;
            item["uri"] = serde_json::to_value(url)?;
            item["version"] = serde_json::to_value(version(url))?;
            items.push(item);
        }
        Ok(json!({"items": items}))
    }
}

/// Clients write one and the same URL in several ways.
fn usual(url: &Url) -> Url {
    url_of(&path_of(url)).unwrap_or_else(|| url.clone())
}

/// The report on a document, unless the client has it.
fn report(findings: &Findings, url: &Url, old: Option<&str>) -> serde_json::Result<Value> {
    let items = findings.get(&usual(url)).cloned().unwrap_or_default();
    let mut h = DefaultHasher::new();
    serde_json::to_string(&items)?.hash(&mut h);
    let name = format!("{:016x}", h.finish());
    if old == Some(&*name) {
        let mut report =
            serde_json::to_value(UnchangedDocumentDiagnosticReport { result_id: name })?;
        report["kind"] = "unchanged".into();
        return Ok(report);
    }
    let mut report = serde_json::to_value(FullDocumentDiagnosticReport {
        result_id: Some(name),
        items,
    })?;
    report["kind"] = "full".into();
    Ok(report)
}
