//! Requests of the client: who works on them, and how long that may take.
//!
//! Every request is answered within some seconds. One that waits for an analysis that does not end
//! (import time of a program with an endless loop, say) is answered with `ContentModified`, which lets
//! editors keep what they show and ask again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use crossbeam_channel::{Receiver, at, never};
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::request::{Initialize, Request as _};
use lsp_types::{MessageType, NumberOrString, Url};
use salsa::{CancellationToken, Database as _};
use serde_json::{Value, json};

use super::{Outcome, Server, Task, run};
use crate::Error;
use crate::convert::path_of;
use crate::handlers::{self, Refusal, Reply};
use crate::pull::Pull;

/// How long a request may wait for an analysis that is under way.
const PATIENCE: Duration = Duration::from_secs(3);
/// The same of requests that go through whole folders: somebody looks at a spinner.
const SLOW_PATIENCE: Duration = Duration::from_secs(15);
/// How long a request waits for the first search of a folder, which finds the programs.
const SEARCH_PATIENCE: Duration = Duration::from_secs(3);
/// How long a result that will do is kept for a better one.
const PART_PATIENCE: Duration = Duration::from_millis(300);

const ANALYSING: &str = "the program is still being analysed";

/// A request that is being worked on.
pub(super) struct Pending {
    /// Which of the requests with its id it is.
    job: u64,
    method: String,
    params: Value,
    /// The document that it is about, with the version it was made for.
    document: Option<(Utf8PathBuf, Option<i32>)>,
    /// Stops the work.
    token: CancellationToken,
    /// The client does not want the answer any more.
    cancelled: bool,
    /// When the client asked.
    since: Instant,
    /// A result that will do, and when it came.
    part: Option<(Value, Instant)>,
    /// Set when nobody waits for the rest of the result.
    answered: Arc<AtomicBool>,
    /// The request waits for the search of a folder; no worker has it.
    held: bool,
}

/// What a worker works on.
#[derive(Clone)]
pub(super) struct Job {
    id: RequestId,
    job: u64,
}

impl Pending {
    /// The time limit of the request. A held request is then given to a worker, any other one is answered. None,
    /// no limit, once the present state has been analysed.
    fn deadline(&self, analysing: bool) -> Option<Instant> {
        let patience = if handlers::is_slow(&self.method) {
            SLOW_PATIENCE
        } else {
            PATIENCE
        };
        if self.held {
            return Some(self.since + SEARCH_PATIENCE);
        }
        let part = self.part.as_ref().map(|(_, came)| *came + PART_PATIENCE);
        part.or(analysing.then(|| self.since + patience))
    }
}

impl Server<'_> {
    pub(super) fn client_request(&mut self, request: Request) -> Result<(), Error> {
        if request.method == Initialize::METHOD {
            return self.refuse(request.id, "the server is initialized already");
        }
        let is_asked = self.pulls.iter().any(|p| p.id == request.id);
        if is_asked || self.pending.contains_key(&request.id) {
            return self.refuse(request.id, "another request has this id");
        }
        if let Some(pull) = Pull::read(&request.id, &request.method, &request.params) {
            return match pull {
                Ok(pull) => {
                    self.pulls.push(pull);
                    self.answer_pulls()
                }
                Err(e) => {
                    let code = ErrorCode::InvalidParams as i32;
                    self.respond(Response::new_err(request.id, code, e.to_string()))
                }
            };
        }
        if handlers::find(&request.method).is_none() {
            let message = format!("unknown request {}", request.method);
            let code = ErrorCode::MethodNotFound as i32;
            return self.respond(Response::new_err(request.id, code, message));
        }
        let url = request.params.pointer("/textDocument/uri");
        let path = url
            .and_then(Value::as_str)
            .and_then(|u| Url::parse(u).ok())
            .map(|u| path_of(&u));
        let document = path.map(|p| {
            let version = self.documents.get(&p).map(|d| d.version);
            (p, version)
        });
        let now = Instant::now();
        self.work(request.id, request.method, request.params, document, now);
        Ok(())
    }

    /// Answers a request that must not be made now.
    fn refuse(&self, id: RequestId, why: &str) -> Result<(), Error> {
        let code = ErrorCode::InvalidRequest as i32;
        self.respond(Response::new_err(id, code, why.to_owned()))
    }

    /// Has a worker answer a request.
    fn work(
        &mut self,
        id: RequestId,
        method: String,
        params: Value,
        document: Option<(Utf8PathBuf, Option<i32>)>,
        since: Instant,
    ) {
        let Some(handler) = handlers::find(&method) else {
            return;
        };
        // Most results depend on the programs that contain the file.
        let held = self.is_searching()
            && !handlers::is_syntactic(&method)
            && since.elapsed() < SEARCH_PATIENCE;
        let snapshot = self.snapshot();
        // Those that take long keep nobody who types waiting.
        let workers = match () {
            () if handlers::is_syntactic(&method) => &self.quick,
            () if handlers::is_slow(&method) => &self.slow,
            () => &self.workers,
        };
        self.jobs += 1;
        let job = Job {
            id: id.clone(),
            job: self.jobs,
        };
        let answered = Arc::new(AtomicBool::new(false));
        let pending = Pending {
            job: self.jobs,
            method,
            params: params.clone(),
            document,
            token: snapshot.db.cancellation_token(),
            cancelled: false,
            since,
            part: None,
            answered: answered.clone(),
            held,
        };
        self.pending.insert(id, pending);
        if held {
            return;
        }
        let sender = self.sender.clone();
        let completer = self.completer.clone();
        workers.spawn(move || {
            let outcome = run(|| handler(&snapshot, params));
            let whole = match outcome {
                Outcome::Done(Ok(Reply::Part(value, complete))) => {
                    let _ = sender.send(Task::Partly(job.clone(), value));
                    // A handle of its own: a client that does not want the answer any more cancels
                    // the request, and the next one needs the same.
                    let snapshot = snapshot.clone();
                    completer.spawn(move || {
                        let wanted = !answered.load(Ordering::Relaxed);
                        let outcome = wanted.then(|| run(|| complete(&snapshot)));
                        drop(snapshot);
                        if let Some(outcome) = outcome {
                            let _ = sender.send(Task::Answered(job, outcome));
                        }
                    });
                    return;
                }
                Outcome::Done(Ok(Reply::Whole(value))) => Outcome::Done(Ok(value)),
                Outcome::Done(Err(e)) => Outcome::Done(Err(e)),
                Outcome::Cancelled => Outcome::Cancelled,
                Outcome::Fault(fault) => Outcome::Fault(fault),
            };
            // Edits wait for it.
            drop(snapshot);
            let _ = sender.send(Task::Answered(job, whole));
        });
    }

    /// Gives held requests to workers once the first search of all folders has ended.
    pub(super) fn release(&mut self) -> Result<(), Error> {
        if self.is_searching() {
            return Ok(());
        }
        let held = self.jobs_of(|p| p.held);
        for job in held {
            self.answered(&job, Outcome::Cancelled)?;
        }
        self.answer_pulls()
    }

    /// The jobs of pending requests that satisfy a condition, in order of arrival.
    fn jobs_of(&self, wanted: impl Fn(&Pending) -> bool) -> Vec<Job> {
        let found = self.pending.iter().filter(|(_, p)| wanted(p));
        let mut found: Vec<Job> = found
            .map(|(id, p)| Job {
                id: id.clone(),
                job: p.job,
            })
            .collect();
        found.sort_by_key(|j| j.job);
        found
    }

    /// Forgets a request whose answer is on its way.
    fn settle(&mut self, job: &Job) -> Option<Pending> {
        self.pending.get(&job.id).filter(|p| p.job == job.job)?;
        let pending = self.pending.remove(&job.id)?;
        pending.answered.store(true, Ordering::Relaxed);
        Some(pending)
    }

    /// Keeps a result that will do.
    pub(super) fn partly(&mut self, job: &Job, value: Value) {
        if let Some(pending) = self.pending.get_mut(&job.id).filter(|p| p.job == job.job) {
            pending.part = Some((value, Instant::now()));
        }
    }

    /// Fires when the next request has to be answered.
    pub(super) fn timer(&self) -> Receiver<Instant> {
        let requests = self
            .pending
            .values()
            .filter_map(|p| p.deadline(self.analysing));
        let waiting = self.analysing || self.is_searching();
        let pulls = self.pulls.iter().map(|p| p.since + PATIENCE);
        let pulls = pulls.filter(|_| waiting);
        requests.chain(pulls).min().map_or_else(never, at)
    }

    /// Answers the requests that have waited long enough.
    pub(super) fn expire(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        let late = |p: &Pending| p.deadline(self.analysing).is_some_and(|d| d <= now);
        for job in self.jobs_of(late) {
            if self.pending[&job.id].held {
                self.answered(&job, Outcome::Cancelled)?;
                continue;
            }
            let Some(pending) = self.settle(&job) else {
                continue;
            };
            let response = match pending.part {
                Some((value, _)) => Response::new_ok(job.id, value),
                None => {
                    // The worker is free for the next request.
                    pending.token.cancel();
                    let code = if handlers::is_slow(&pending.method) {
                        ErrorCode::RequestFailed
                    } else {
                        ErrorCode::ContentModified
                    };
                    Response::new_err(job.id, code as i32, ANALYSING.to_owned())
                }
            };
            self.respond(response)?;
        }
        let waiting = self.analysing || self.is_searching();
        let is_late = |p: &Pull| waiting && p.since + PATIENCE <= now;
        let (late, rest) = std::mem::take(&mut self.pulls)
            .into_iter()
            .partition(is_late);
        self.pulls = rest;
        let late: Vec<Pull> = late;
        for pull in late {
            let mut response = Response::new_err(
                pull.id,
                ErrorCode::ServerCancelled as i32,
                ANALYSING.to_owned(),
            );
            if let Some(error) = &mut response.error {
                error.data = Some(json!({"retriggerRequest": true}));
            }
            self.respond(response)?;
        }
        Ok(())
    }

    /// The client does not want an answer any more.
    pub(super) fn cancel(&mut self, id: NumberOrString) -> Result<(), Error> {
        let id = match id {
            NumberOrString::Number(n) => RequestId::from(n),
            NumberOrString::String(s) => RequestId::from(s),
        };
        let text = "cancelled by the client".to_owned();
        let code = ErrorCode::RequestCanceled as i32;
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.cancelled = true;
            pending.token.cancel();
            if pending.part.is_some() || pending.held {
                let job = Job {
                    job: pending.job,
                    id: id.clone(),
                };
                self.settle(&job);
                self.respond(Response::new_err(id, code, text))?;
            }
        } else if let Some(at) = self.pulls.iter().position(|p| p.id == id) {
            self.pulls.remove(at);
            self.respond(Response::new_err(id, code, text))?;
        }
        Ok(())
    }

    pub(super) fn answered(
        &mut self,
        job: &Job,
        outcome: Outcome<Result<Value, Refusal>>,
    ) -> Result<(), Error> {
        let Some(pending) = self.settle(job) else {
            return Ok(());
        };
        let id = job.id.clone();
        let error = |code: ErrorCode, message: &str| {
            Response::new_err(id.clone(), code as i32, message.to_owned())
        };
        let response = match outcome {
            Outcome::Done(Ok(value)) => Response::new_ok(id, value),
            Outcome::Done(Err(Refusal::Params(e))) => error(ErrorCode::InvalidParams, &e),
            Outcome::Done(Err(Refusal::Reason(e))) => error(ErrorCode::RequestFailed, &e),
            Outcome::Fault(fault) => {
                self.log(MessageType::ERROR, &fault.to_string())?;
                error(ErrorCode::InternalError, &fault.to_string())
            }
            Outcome::Cancelled if pending.cancelled => {
                error(ErrorCode::RequestCanceled, "cancelled by the client")
            }
            // What this request waited for was cancelled under another one, or failed
            // there: then it fails here as well when it is tried again.
            Outcome::Cancelled => {
                let same = pending.document.as_ref().is_none_or(|(path, version)| {
                    self.documents.get(path).map(|d| d.version) == *version
                        && !self.stale.files.contains(path)
                });
                if same {
                    self.refresh()?;
                    self.work(
                        id,
                        pending.method,
                        pending.params,
                        pending.document,
                        pending.since,
                    );
                    return Ok(());
                }
                error(ErrorCode::ContentModified, "the document has changed")
            }
        };
        self.respond(response)
    }

    /// Answers what was asked about the present state, if that has been checked.
    pub(super) fn answer_pulls(&mut self) -> Result<(), Error> {
        if self.checked != self.revision || self.is_searching() {
            return Ok(());
        }
        for pull in std::mem::take(&mut self.pulls) {
            let version = |url: &Url| self.documents.get(&path_of(url)).map(|d| d.version);
            let result = pull.answer(&self.published, version)?;
            self.respond(Response::new_ok(pull.id, result))?;
        }
        Ok(())
    }
}
