//! The main loop: the state of the world, and who changes it when.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, Initialized, LogMessage, Notification as _,
};
use lsp_types::request::{
    CodeLensRefresh, RegisterCapability, WorkspaceConfiguration, WorkspaceDiagnosticRefresh,
};
use lsp_types::{
    CancelParams, ConfigurationItem, ConfigurationParams, DidChangeConfigurationParams,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWatchedFilesRegistrationOptions, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, FileSystemWatcher, GlobPattern, InitializeParams, MessageType,
    NumberOrString, PublishDiagnosticsParams, Registration, RegistrationParams,
};
use salsa::Cancelled;
use serde_json::{Value, json};
use taipan_base::{Db, Diagnostic, File, OsSystem, Overlay, sync};
use taipan_driver::{ConfigFile, Database, InternalError, Observer, guarded, is_target};
use taipan_ide::Workspace;

mod requests;

use requests::{Job, Pending};

use crate::Error;
use crate::capabilities::Client;
use crate::check::{Findings, Listing, check};
use crate::convert::{path_of, url_of};
use crate::documents::{Documents, Sifted};
use crate::handlers::Refusal;
use crate::pool::Pool;
use crate::projects::{Project, Search, load_all, search_folder};
use crate::pull::Pull;
use crate::reruns::{Explained, Reruns};
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::tokens::SentTokens;

/// Puts what programs print when they are imported into the client's log.
struct Printed(Sender<Message>);

impl Observer for Printed {
    fn printed(&self, target: &Utf8Path, text: &str) {
        let text = text.trim_end();
        let params = json!({
            "type": MessageType::LOG,
            "message": format!("{target} printed when it was imported:\n{text}"),
        });
        let n = Notification {
            method: LogMessage::METHOD.to_owned(),
            params,
        };
        // Without a client there is nobody to tell.
        let _ = self.0.send(n.into());
    }
}

/// How work on a snapshot ended.
enum Outcome<T> {
    Done(T),
    Cancelled,
    Fault(InternalError),
}

/// Work on a snapshot. Nothing that goes wrong in it ends the server.
fn run<T>(work: impl FnOnce() -> T) -> Outcome<T> {
    match Cancelled::catch(AssertUnwindSafe(|| guarded(work))) {
        Ok(Ok(value)) => Outcome::Done(value),
        Ok(Err(fault)) if fault.is_elsewhere() => Outcome::Cancelled,
        Ok(Err(fault)) => Outcome::Fault(fault),
        Err(_) => Outcome::Cancelled,
    }
}

/// What workers report to the main loop.
enum Task {
    /// A request was worked on.
    Answered(Job, Outcome<Result<Value, Refusal>>),
    /// A request has a result that will do while a better one is made.
    Partly(Job, Value),
    /// A revision was checked.
    Checked(u64, Outcome<Findings>),
    /// It turned out why functions were compiled again for a revision.
    Explained(u64, Reruns),
    /// It was found out which texts of a document matter.
    Sifted(Utf8PathBuf, Sifted, BTreeSet<usize>),
    /// A folder was searched for targets.
    Searched(Utf8PathBuf, Vec<Utf8PathBuf>),
}

/// What has changed since the inputs were last set.
#[derive(Default)]
struct Stale {
    files: BTreeSet<Utf8PathBuf>,
    /// Configuration, settings, or which programs there are.
    programs: bool,
}

/// The server's state, all of it owned by the main loop.
pub(crate) struct Server<'c> {
    connection: &'c Connection,
    client: Arc<Client>,
    settings: Arc<Settings>,
    db: Database,
    overlay: Arc<Overlay>,
    documents: Documents,
    projects: Vec<Project>,
    workspace: Arc<Workspace>,
    configs: Vec<(File, Arc<ConfigFile>)>,
    stale: Stale,
    pending: HashMap<RequestId, Pending>,
    /// Number of requests that workers were given.
    jobs: u64,
    published: Findings,
    /// Requests for diagnostics that wait for the check of the present state.
    pulls: Vec<Pull>,
    /// Counts the states that were checked.
    revision: u64,
    /// The last state whose check is over.
    checked: u64,
    /// Whether the present state is being checked.
    analysing: bool,
    workers: Pool,
    /// For requests that nothing delays: those about syntax.
    quick: Pool,
    slow: Pool,
    /// Completes results, which may take long.
    completer: Pool,
    checker: Pool,
    sender: Sender<Task>,
    tasks: Receiver<Task>,
    /// The semantic tokens that the client has.
    tokens: SentTokens,
    /// Why functions were compiled again after the last edit.
    reruns: Arc<Reruns>,
    /// The files of the folders, until there are others.
    listing: Listing,
    explained: Explained,
    /// There are other programs than when the client was last told to ask for lenses.
    new_lenses: bool,
    next_request: i32,
    /// The request for settings that is under way.
    asked_settings: Option<RequestId>,
    /// Whether progress of the first analysis is being shown.
    progress: bool,
}

/// Names the progress of the first analysis.
const PROGRESS: &str = "taipan/analysis";

impl<'c> Server<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        client: Client,
        params: &InitializeParams,
    ) -> Self {
        let overlay = Arc::new(Overlay::new(Arc::new(OsSystem::new(
            taipan_prelude::SHIPPED,
        ))));
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let (sender, tasks) = unbounded();
        let db = Database::new(overlay.clone());
        db.observe(Arc::new(Printed(connection.sender.clone())));
        // Fails only if a pool exists already, which then serves as well.
        let _ = taipan_driver::set_threads(threads);
        let options = params.initialization_options.as_ref();
        Server {
            connection,
            client: Arc::new(client),
            settings: Arc::new(options.map(Settings::initial).unwrap_or_default()),
            db,
            overlay,
            documents: Documents::default(),
            projects: folders(params).into_iter().map(Project::new).collect(),
            workspace: Arc::default(),
            configs: Vec::new(),
            stale: Stale {
                programs: true,
                ..Stale::default()
            },
            pending: HashMap::new(),
            jobs: 0,
            published: Findings::new(),
            pulls: Vec::new(),
            revision: 0,
            checked: 0,
            analysing: false,
            workers: Pool::new("taipan worker", threads.clamp(2, 4)),
            quick: Pool::new("taipan quick worker", 1),
            slow: Pool::new("taipan slow worker", 1),
            completer: Pool::new("taipan completer", 1),
            checker: Pool::new("taipan checker", 1),
            sender,
            tasks,
            tokens: SentTokens::default(),
            reruns: Arc::default(),
            listing: Listing::default(),
            explained: Explained::default(),
            new_lenses: true,
            next_request: 0,
            asked_settings: None,
            progress: false,
        }
    }

    /// Serves until there are no messages any more.
    pub(crate) fn run(mut self) -> Result<(), Error> {
        if self.client.lenses {
            self.db.log().record_from_now();
        }
        let messages = self.connection.receiver.clone();
        loop {
            self.refresh()?;
            select! {
                recv(messages) -> message => {
                    // The client is gone.
                    let Ok(message) = message else { return Ok(()) };
                    self.message(message)?;
                    // Edits that arrived together cost one revision.
                    while let Ok(message) = messages.try_recv() {
                        self.message(message)?;
                    }
                }
                recv(self.tasks) -> task => {
                    if let Ok(task) = task {
                        self.task(task)?;
                    }
                }
                recv(self.timer()) -> _ => self.expire()?,
            }
        }
    }

    /// What is asked of the client when it has been initialized.
    fn greet(&mut self) -> Result<(), Error> {
        if self.client.watching {
            let watcher = |glob: &str| FileSystemWatcher {
                glob_pattern: GlobPattern::String(glob.to_owned()),
                kind: None,
            };
            let options = DidChangeWatchedFilesRegistrationOptions {
                watchers: vec![watcher("**/*.py"), watcher("**/pyproject.toml")],
            };
            let registration = Registration {
                id: "taipan/files".to_owned(),
                method: DidChangeWatchedFiles::METHOD.to_owned(),
                register_options: Some(serde_json::to_value(options)?),
            };
            self.request::<RegisterCapability>(RegistrationParams {
                registrations: vec![registration],
            })?;
        }
        self.ask_settings()
    }

    fn ask_settings(&mut self) -> Result<(), Error> {
        if self.client.configuration {
            let items = vec![ConfigurationItem {
                scope_uri: None,
                section: Some("taipan".to_owned()),
            }];
            let id = self.request::<WorkspaceConfiguration>(ConfigurationParams { items })?;
            self.asked_settings = Some(id);
        }
        Ok(())
    }

    /// Handles a message.
    fn message(&mut self, message: Message) -> Result<(), Error> {
        match message {
            Message::Request(request) => {
                // It is about the text with the edits before it.
                self.refresh()?;
                self.client_request(request)?;
            }
            Message::Notification(n) => {
                let method = n.method.clone();
                if let Err(e) = self.notification(n) {
                    self.log(MessageType::WARNING, &format!("{method}: {e}"))?;
                }
            }
            Message::Response(r) => {
                if self.asked_settings.as_ref() == Some(&r.id) {
                    self.asked_settings = None;
                    let first = r.result.as_ref().and_then(|v| v.get(0));
                    if let Some(value) = first.filter(|v| !v.is_null()) {
                        self.set_settings(Settings::read(value));
                    }
                }
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            db: self.db.clone(),
            workspace: self.workspace.clone(),
            folders: self.projects.iter().map(|p| p.folder.clone()).collect(),
            client: self.client.clone(),
            settings: self.settings.clone(),
            tokens: self.tokens.clone(),
            reruns: self.reruns.clone(),
        }
    }

    fn notification(&mut self, n: Notification) -> Result<(), Error> {
        match n.method.as_str() {
            Initialized::METHOD => self.greet()?,
            DidOpenTextDocument::METHOD => {
                let params: DidOpenTextDocumentParams = serde_json::from_value(n.params)?;
                let document = params.text_document;
                let path = path_of(&document.uri);
                self.documents
                    .open(path.clone(), document.uri, document.version, document.text);
                self.stale.programs |= !self.in_project(&path);
                self.stale.files.insert(path);
            }
            DidChangeTextDocument::METHOD => {
                let params: DidChangeTextDocumentParams = serde_json::from_value(n.params)?;
                let document = params.text_document;
                let path = path_of(&document.uri);
                let encoding = self.client.encoding;
                let changes = params.content_changes;
                if self
                    .documents
                    .change(&path, document.version, changes, encoding)
                {
                    self.stale.files.insert(path);
                }
            }
            DidCloseTextDocument::METHOD => {
                let params: DidCloseTextDocumentParams = serde_json::from_value(n.params)?;
                let path = path_of(&params.text_document.uri);
                if self.documents.close(&path).is_some() {
                    self.overlay.close(&path);
                    self.stale.programs |= !self.in_project(&path);
                    self.stale.files.insert(path);
                }
            }
            DidChangeWatchedFiles::METHOD => {
                let params: DidChangeWatchedFilesParams = serde_json::from_value(n.params)?;
                let mut appeared = false;
                for change in params.changes {
                    appeared |= change.typ != lsp_types::FileChangeType::CHANGED;
                    self.stale.files.insert(path_of(&change.uri));
                }
                if appeared {
                    // There may be other targets now.
                    self.projects
                        .iter_mut()
                        .for_each(|p| p.search = Search::Due);
                    self.stale.programs = true;
                }
            }
            DidChangeConfiguration::METHOD => {
                let params: DidChangeConfigurationParams = serde_json::from_value(n.params)?;
                match params.settings.is_null() || self.client.configuration {
                    true => self.ask_settings()?,
                    false => self.set_settings(Settings::read(&params.settings)),
                }
            }
            "$/cancelRequest" => {
                let params: CancelParams = serde_json::from_value(n.params)?;
                self.cancel(params.id)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn set_settings(&mut self, settings: Settings) {
        let settings = Settings {
            trusted: self.settings.trusted,
            ..settings
        };
        if *self.settings != settings {
            self.settings = Arc::new(settings);
            self.stale.programs = true;
        }
    }

    fn in_project(&self, path: &Utf8Path) -> bool {
        self.projects.iter().any(|p| path.starts_with(&p.folder))
    }

    /// Whether the first search of a folder is running.
    fn is_searching(&self) -> bool {
        self.projects.iter().any(Project::is_unknown)
    }

    /// Sets the inputs to what has changed, and checks the new state.
    fn refresh(&mut self) -> Result<(), Error> {
        let stale = std::mem::take(&mut self.stale);
        if stale.files.is_empty() && !stale.programs {
            return Ok(());
        }
        for path in &stale.files {
            if let Some(document) = self.documents.get(path) {
                let earlier = document.earlier.as_slice().into();
                self.overlay
                    .set(path.clone(), document.text.clone(), earlier);
            }
        }
        let paths: Vec<Utf8PathBuf> = stale.files.into_iter().collect();
        sync(&mut self.db, &paths);
        paths.iter().for_each(|path| self.sift(path));
        let configured = |p: &Utf8PathBuf| p.file_name() == Some("pyproject.toml");
        if stale.programs || paths.iter().any(configured) {
            self.load()?;
        }
        self.revision += 1;
        self.analysing = true;
        self.begin_progress()?;
        self.start_check();
        Ok(())
    }

    /// Has a worker find out which texts of a document matter.
    fn sift(&self, path: &Utf8Path) {
        let Some(document) = self.documents.get(path) else {
            return;
        };
        if document.earlier.is_empty() || path.extension() != Some("py") {
            return;
        }
        let to_sift = document.to_sift();
        let file = self.db.files().get(&self.db, path);
        let (db, sender, path) = (self.db.clone(), self.sender.clone(), path.to_owned());
        self.quick.spawn(move || {
            let outcome = run(|| taipan_code::texts_that_matter(&db, file, &to_sift.texts));
            drop(db);
            if let Outcome::Done(matter) = outcome {
                let _ = sender.send(Task::Sifted(path, to_sift, matter));
            }
        });
    }

    /// Finds the programs anew.
    fn load(&mut self) -> Result<(), Error> {
        let mut projects = self.projects.clone();
        // A target outside of all folders is a project of its own.
        for (path, document) in self.documents.iter() {
            if !self.in_project(path)
                && path.extension() == Some("py")
                && is_target(&document.text)
                && let Some(folder) = path.parent()
            {
                projects.push(Project {
                    folder: folder.to_owned(),
                    found: Some(vec![path.clone()]),
                    search: Search::Over,
                });
            }
        }
        let loaded = load_all(&self.db, &projects, &self.settings);
        self.workspace = Arc::new(Workspace {
            programs: loaded.programs,
            folders: loaded.folders,
        });
        self.configs = loaded.configs;
        self.listing = Listing::default();
        self.new_lenses = true;
        for problem in loaded.problems {
            self.log(MessageType::WARNING, &problem)?;
        }
        for folder in loaded.unsearched {
            for p in self.projects.iter_mut().filter(|p| p.folder == folder) {
                p.search = Search::Running;
            }
            let sender = self.sender.clone();
            self.slow.spawn(move || {
                let found = search_folder(&folder);
                let _ = sender.send(Task::Searched(folder, found));
            });
        }
        Ok(())
    }

    fn start_check(&self) {
        let snapshot = self.snapshot();
        let revision = self.revision;
        let open: Vec<File> = self
            .documents
            .iter()
            .map(|(p, _)| self.db.files().get(&self.db, p))
            .collect();
        let configs: Vec<Diagnostic> = self
            .configs
            .iter()
            .flat_map(|(_, c)| c.diagnostics.iter().cloned())
            .collect();
        // The log is recorded then, and grows until it is read.
        let explained = self.client.lenses.then(|| self.explained.clone());
        let listing = self.listing.clone();
        let sender = self.sender.clone();
        self.checker.spawn(move || {
            let outcome = run(|| check(&snapshot, &open, &listing, &configs));
            let done = matches!(outcome, Outcome::Done(_));
            let db = snapshot.db.clone();
            drop(snapshot);
            let _ = sender.send(Task::Checked(revision, outcome));
            if let Some(explained) = explained.filter(|_| done) {
                let outcome = run(|| explained.round(&db));
                drop(db);
                if let Outcome::Done(reruns) = outcome {
                    let _ = sender.send(Task::Explained(revision, reruns));
                }
            }
        });
    }

    fn task(&mut self, task: Task) -> Result<(), Error> {
        match task {
            Task::Answered(job, outcome) => self.answered(&job, outcome),
            Task::Partly(job, value) => {
                self.partly(&job, value);
                Ok(())
            }
            Task::Checked(revision, outcome) => match outcome {
                Outcome::Done(findings) if revision == self.revision => {
                    self.checked = revision;
                    self.analysing = false;
                    self.publish(findings)?;
                    self.answer_pulls()?;
                    self.end_progress()
                }
                Outcome::Fault(fault) if revision == self.revision => {
                    self.analysing = false;
                    self.log(MessageType::ERROR, &fault.to_string())?;
                    for pull in std::mem::take(&mut self.pulls) {
                        let code = ErrorCode::InternalError as i32;
                        self.respond(Response::new_err(pull.id, code, fault.to_string()))?;
                    }
                    self.end_progress()
                }
                // There is a newer one under way.
                _ => Ok(()),
            },
            Task::Explained(revision, reruns) => {
                if revision == self.revision
                    && !self.workspace.programs.is_empty()
                    && (*self.reruns != reruns || self.new_lenses)
                {
                    self.reruns = Arc::new(reruns);
                    self.new_lenses = false;
                    if self.client.refreshes_lenses {
                        self.request::<CodeLensRefresh>(())?;
                    }
                }
                Ok(())
            }
            Task::Sifted(path, sifted, matter) => {
                if let Some(document) = self.documents.get_mut(&path) {
                    document.sift(sifted, &matter);
                }
                Ok(())
            }
            Task::Searched(folder, found) => {
                for p in self.projects.iter_mut().filter(|p| p.folder == folder) {
                    p.found = Some(found.clone());
                    if p.search == Search::Running {
                        p.search = Search::Over;
                    }
                }
                self.stale.programs = true;
                self.refresh()?;
                self.release()
            }
        }
    }

    /// Tells the client what has changed since the last time, or only that it has to ask.
    fn publish(&mut self, mut findings: Findings) -> Result<(), Error> {
        if self.client.pulls {
            let changed = self.published != findings;
            self.published = findings;
            if changed && self.client.refreshes {
                self.request::<WorkspaceDiagnosticRefresh>(())?;
            }
            return Ok(());
        }
        // Of open documents the client hears even that nothing is wrong.
        for (path, document) in self.documents.iter() {
            let url = url_of(path).unwrap_or_else(|| document.url.clone());
            findings.entry(url).or_default();
        }
        let old = std::mem::take(&mut self.published);
        let gone = old
            .iter()
            .filter(|(u, d)| !findings.contains_key(*u) && !d.is_empty());
        let gone = gone.map(|(u, _)| (u.clone(), Vec::new()));
        let new = findings.iter().filter(|(u, d)| old.get(*u) != Some(*d));
        let new = new.map(|(u, d)| (u.clone(), d.clone()));
        for (url, diagnostics) in gone.chain(new) {
            let document = self.documents.get(&path_of(&url));
            let params = PublishDiagnosticsParams {
                uri: document.map_or(url, |d| d.url.clone()),
                diagnostics,
                version: document.map(|d| d.version),
            };
            self.notify::<lsp_types::notification::PublishDiagnostics>(params)?;
        }
        self.published = findings;
        Ok(())
    }

    fn begin_progress(&mut self) -> Result<(), Error> {
        if !self.client.progress || self.progress || self.revision > 1 {
            return Ok(());
        }
        self.progress = true;
        self.request::<lsp_types::request::WorkDoneProgressCreate>(
            lsp_types::WorkDoneProgressCreateParams {
                token: NumberOrString::String(PROGRESS.to_owned()),
            },
        )?;
        self.notify_value(
            "$/progress",
            json!({"token": PROGRESS, "value": {"kind": "begin", "title": "Taipan: analysing"}}),
        )
    }

    fn end_progress(&mut self) -> Result<(), Error> {
        if !self.progress || self.is_searching() {
            return Ok(());
        }
        self.progress = false;
        self.notify_value(
            "$/progress",
            json!({"token": PROGRESS, "value": {"kind": "end"}}),
        )
    }

    fn log(&self, typ: MessageType, message: &str) -> Result<(), Error> {
        let message = message.to_owned();
        self.notify::<LogMessage>(lsp_types::LogMessageParams { typ, message })
    }

    fn respond(&self, response: Response) -> Result<(), Error> {
        Ok(self.connection.sender.send(response.into())?)
    }

    fn notify<N: lsp_types::notification::Notification>(
        &self,
        params: N::Params,
    ) -> Result<(), Error> {
        self.notify_value(N::METHOD, serde_json::to_value(params)?)
    }

    fn notify_value(&self, method: &str, params: Value) -> Result<(), Error> {
        let n = Notification {
            method: method.to_owned(),
            params,
        };
        Ok(self.connection.sender.send(n.into())?)
    }

    fn request<R: lsp_types::request::Request>(
        &mut self,
        params: R::Params,
    ) -> Result<RequestId, Error> {
        self.next_request += 1;
        let id = RequestId::from(self.next_request);
        let request = Request::new(id.clone(), R::METHOD.to_owned(), params);
        self.connection.sender.send(request.into())?;
        Ok(id)
    }
}

/// The folders that the client has open.
#[allow(deprecated, reason = "older clients know only rootUri")]
fn folders(params: &InitializeParams) -> Vec<Utf8PathBuf> {
    let folders = params.workspace_folders.iter().flatten();
    let mut out: Vec<Utf8PathBuf> = folders.map(|f| path_of(&f.uri)).collect();
    if out.is_empty() {
        out.extend(params.root_uri.as_ref().map(path_of));
    }
    out
}
