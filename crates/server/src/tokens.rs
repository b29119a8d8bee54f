//! The semantic tokens that clients have, to send them only what changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use lsp_types::{SemanticToken, SemanticTokens};
use taipan_base::File;
use taipan_driver::Database;

/// Tokens of a document under the name that the client knows them by.
type Kept = (String, Arc<Vec<SemanticToken>>);

/// The tokens that were sent last, by document.
#[derive(Clone, Default)]
pub(crate) struct SentTokens {
    sent: Arc<Mutex<(u64, BTreeMap<Utf8PathBuf, Kept>)>>,
}

/// The sent tokens together with a database that knows the files' paths.
pub(crate) struct Sent<'a>(pub(crate) &'a SentTokens, pub(crate) &'a Database);

impl Sent<'_> {
    /// Remembers tokens and gives them a name.
    pub(crate) fn keep(&self, file: File, data: Vec<SemanticToken>) -> SemanticTokens {
        let mut sent = self.0.sent.lock().unwrap_or_else(|e| e.into_inner());
        sent.0 += 1;
        let id = sent.0.to_string();
        let kept = (id.clone(), Arc::new(data.clone()));
        sent.1.insert(file.path(self.1).clone(), kept);
        SemanticTokens {
            result_id: Some(id),
            data,
        }
    }

    /// The tokens of that name, if they were the last ones of the document.
    pub(crate) fn get(&self, file: File, id: &str) -> Option<Arc<Vec<SemanticToken>>> {
        let sent = self.0.sent.lock().unwrap_or_else(|e| e.into_inner());
        let (name, data) = sent.1.get(file.path(self.1))?;
        (name == id).then(|| data.clone())
    }
}
