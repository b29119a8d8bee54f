//! Why functions were compiled again after the last edit, by the query log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use taipan_driver::{Database, Explainer, Outcome, Reason, Round};

/// By path, qualified name and number of each function, in words.
pub(crate) type Reruns = BTreeMap<String, String>;

/// Keeps the results of the last round, to explain the next.
#[derive(Clone, Default)]
pub(crate) struct Explained(Arc<Mutex<Explainer>>);

impl Explained {
    /// What ran since the last call. The database's log must be recording.
    pub(crate) fn round(&self, db: &Database) -> Reruns {
        let mut explainer = self.0.lock().unwrap_or_else(|e| e.into_inner());
        in_words(&explainer.round(db))
    }
}

fn in_words(round: &Round) -> Reruns {
    let mut all: BTreeMap<&str, Vec<&taipan_driver::Rerun>> = BTreeMap::new();
    for r in &round.reruns {
        if let Some(function) = r.subject.as_deref().filter(|s| s.contains('#'))
            && r.reason != Reason::New
        {
            all.entry(function).or_default().push(r);
        }
    }
    let mut out = Reruns::new();
    for (function, reruns) in all {
        // What its file has for it was looked up again, and is the same.
        let told = |r: &&&taipan_driver::Rerun| r.query != "code_spans";
        let stages = || reruns.iter().filter(told).filter(|r| r.query != "code");
        let Some(first) = stages().next() else {
            continue;
        };
        let mut names: Vec<String> = Vec::new();
        for r in stages() {
            let name = r.query.replace('_', " ");
            let name = match r.outcome {
                Outcome::Equal => format!("{name} (same result)"),
                _ => name,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let edited = reruns
            .iter()
            .any(|r| r.query == "code" && r.outcome == Outcome::Changed);
        let because = match (&first.reason, edited) {
            (_, true) => "it was edited".to_owned(),
            (Reason::ResultChanged(query, key), _) => {
                format!("{} of {key} changed", query.replace('_', " "))
            }
            (reason, _) => reason.to_string(),
        };
        let text = format!("{} again because {because}", names.join(", "));
        out.insert(function.to_owned(), text);
    }
    out
}
