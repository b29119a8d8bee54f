//! The program under watch: its database, and what happened in each round.

use std::net::TcpStream;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::Utf8PathBuf;
use salsa::Cancelled;
use serde::Serialize;
use serde_json::json;
use taipan_base::{Diagnostic, WatchOptions, render_json, render_text};
use taipan_driver::inspect::{self, Inspected, Overview};
use taipan_driver::{
    Database, Explainer, Failure, LoadOptions, Outcome, QuerySpan, Round as Explained, Timings,
    has_errors,
};
use taipan_watch::{Answer, Job, Watch, WatchEvent, Work};

use crate::Options;
use crate::events::{self, News};
use crate::http::Refusal;
use crate::pool::STACK;

/// How many rounds are remembered.
const MOST_ROUNDS: usize = 30;

/// What a round gives: what is wrong with the program, or why that cannot be said.
type Made = Result<Vec<Diagnostic>, Failure>;

/// What the owner of the watch is asked for.
enum Message {
    Watch(Box<WatchEvent<Made>>),
    Lease(Sender<Database>),
}

/// The program under watch.
pub(crate) struct Live {
    pub(crate) target: Utf8PathBuf,
    pub(crate) load: LoadOptions,
    pub(crate) command: Utf8PathBuf,
    messages: Mutex<Sender<Message>>,
    news: Sender<News>,
    shared: Arc<Mutex<Shared>>,
    overview: Mutex<Option<(u64, Arc<Overview>)>>,
}

/// What all threads see.
struct Shared {
    /// Grows with every round that is over.
    version: u64,
    busy: bool,
    rounds: Vec<Arc<RoundRecord>>,
    problems: serde_json::Value,
    failure: Option<String>,
    news: Sender<News>,
}

/// What happened in a round.
#[derive(Serialize)]
pub(crate) struct RoundRecord {
    pub(crate) number: u64,
    /// Files that changed before it.
    pub(crate) changed: Vec<String>,
    /// Milliseconds from the change to the end.
    pub(crate) took: f64,
    /// Queries whose functions ran.
    pub(crate) executed: usize,
    /// Queries whose old results were found to be still right.
    pub(crate) reused: usize,
    #[serde(skip)]
    pub(crate) spans: Vec<QuerySpan>,
    #[serde(skip)]
    pub(crate) reruns: Vec<Rerun>,
}

/// Why a query ran.
#[derive(Serialize)]
pub(crate) struct Rerun {
    query: String,
    key: String,
    why: String,
    /// `changed`, `same`, or nothing where it was not compared.
    outcome: &'static str,
}

impl Live {
    pub(crate) fn start(db: Database, options: Options) -> std::io::Result<Live> {
        let (news, before) = channel();
        let shared = Shared {
            version: 0,
            busy: true,
            rounds: Vec::new(),
            problems: json!([]),
            failure: None,
            news: news.clone(),
        };
        events::start(shared.state(), before)?;
        let shared = Arc::new(Mutex::new(shared));
        let (messages, inbox) = channel();
        let (target, load) = (options.target.clone(), options.load.clone());
        let work: Arc<Work<Made>> = Arc::new(move |db: &Database, timings: &mut Timings| {
            inspect::make(db, &load, &target, timings)
        });
        db.log().measure_from_now();
        let watch_options = WatchOptions {
            poll: options.poll,
            ..WatchOptions::default()
        };
        let report = messages.clone();
        let report = move |e| drop(report.send(Message::Watch(Box::new(e))));
        let watch = Watch::start(db, watch_options, Job::new(work), report)?;
        let for_owner = shared.clone();
        std::thread::Builder::new()
            .name("owner".to_owned())
            .stack_size(STACK)
            .spawn(move || own(watch, &inbox, &for_owner, options.timings))?;
        Ok(Live {
            target: options.target,
            load: options.load,
            command: options.command,
            messages: Mutex::new(messages),
            news,
            shared,
            overview: Mutex::default(),
        })
    }

    /// Does something with the database; again, if an edit comes between. A request that
    /// comes while nothing is known yet waits as the first round does.
    pub(crate) fn with_db<T>(&self, work: impl Fn(&Database) -> T) -> Result<T, Refusal> {
        let gone = || Refusal::new(503, "the watcher has ended");
        loop {
            let (reply, lease) = channel();
            lock(&self.messages)
                .send(Message::Lease(reply))
                .map_err(|_| gone())?;
            let db = lease.recv().map_err(|_| gone())?;
            // The clone goes before the next attempt: who sets inputs waits for that.
            match Cancelled::catch(AssertUnwindSafe(|| work(&db))) {
                Ok(done) => return Ok(done),
                Err(_) => drop(db),
            }
        }
    }

    /// Does something with the program.
    pub(crate) fn with_program<T>(
        &self,
        work: impl Fn(&Inspected<'_>) -> Result<T, Failure>,
    ) -> Result<T, Refusal> {
        loop {
            let done = self.with_db(|db| {
                let done = Inspected::new(db, &self.load, &self.target)
                    .and_then(|p| taipan_driver::guarded(|| work(&p))?);
                match done {
                    // The thread that worked it out was cancelled.
                    Err(Failure::Internal(e)) if e.is_elsewhere() => None,
                    Ok(done) => Some(Ok(done)),
                    Err(f) => Some(Err(Refusal::new(422, failure_text(db, &f)))),
                }
            })?;
            if let Some(done) = done {
                return done;
            }
        }
    }

    /// Functions, classes and files of the program, made once per round. Those of an earlier round while the program has mistakes.
    pub(crate) fn overview(&self) -> Result<Arc<Overview>, Refusal> {
        let version = self.shared().version;
        let mut kept = lock(&self.overview);
        if let Some((at, overview)) = &*kept
            && *at == version
        {
            return Ok(overview.clone());
        }
        match self.with_program(|p| Ok(inspect::overview(p))) {
            Ok(overview) => {
                let overview = Arc::new(overview);
                *kept = Some((version, overview.clone()));
                Ok(overview)
            }
            Err(refusal) => match &*kept {
                Some((_, overview)) => Ok(overview.clone()),
                None => Err(refusal),
            },
        }
    }

    /// Notifies a connection of every round.
    pub(crate) fn listen(&self, stream: TcpStream) {
        let _ = self.news.send(News::Listener(stream));
    }

    pub(crate) fn state(&self) -> String {
        self.shared().state()
    }

    /// What is wrong with the program, and why it could not be made.
    pub(crate) fn problems(&self) -> serde_json::Value {
        let shared = self.shared();
        json!({"diagnostics": shared.problems, "failure": shared.failure})
    }

    pub(crate) fn rounds(&self) -> Vec<Arc<RoundRecord>> {
        self.shared().rounds.clone()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn state(&self) -> String {
        let all = self.problems.as_array().map_or(&[][..], Vec::as_slice);
        let failed = usize::from(self.failure.is_some());
        let errors = all.iter().filter(|p| p["severity"] == "error").count();
        let last = self.rounds.last();
        json!({
            "version": self.version,
            "busy": self.busy,
            "problems": all.len() + failed,
            "errors": errors + failed,
            "changed": last.map(|r| &r.changed),
            "took": last.map(|r| r.took),
            "executed": last.map(|r| r.executed),
            "reused": last.map(|r| r.reused),
        })
        .to_string()
    }

    fn tell(&self) {
        let _ = self.news.send(News::State(self.state()));
    }
}

/// Sets inputs, lends the database, and writes down what rounds did. Alone in doing so: no
/// other thread holds a clone of the database for longer than its work takes.
fn own(
    mut watch: Watch<Made>,
    inbox: &Receiver<Message>,
    shared: &Mutex<Shared>,
    timings: Option<fn(&str)>,
) {
    let mut explainer = Explainer::default();
    while let Ok(message) = inbox.recv() {
        match message {
            Message::Lease(reply) => drop(reply.send(watch.db().clone())),
            Message::Watch(event) => match *event {
                WatchEvent::Changed(batch) => {
                    if watch.changed(&batch) {
                        let mut shared = lock(shared);
                        shared.busy = true;
                        shared.tell();
                    }
                }
                WatchEvent::Finished(round) => {
                    if let Some(answer) = watch.finished(*round) {
                        if let Some(tell) = timings {
                            tell(&answer.round.timings.table());
                        }
                        finished(watch.db(), answer, &mut explainer, shared);
                    }
                }
            },
        }
    }
}

fn finished(
    db: &Database,
    mut answer: Answer<Made>,
    explainer: &mut Explainer,
    shared: &Mutex<Shared>,
) {
    let explained = answer.explained(db, explainer);
    let spans = answer.timeline(db);
    let took = match answer.working.as_secs_f64() {
        // The first round was asked for: nothing changed before it.
        0.0 => answer
            .round
            .timings
            .phases()
            .map(|(_, t)| t.as_secs_f64())
            .sum(),
        working => working + answer.gathering.as_secs_f64(),
    };
    let record = RoundRecord {
        number: answer.round.number,
        changed: answer.changed.iter().map(ToString::to_string).collect(),
        took: took * 1e3,
        executed: explained.executed,
        reused: explained.reused,
        spans,
        reruns: reruns(&explained),
    };
    let (problems, failure) = match &answer.round.outcome {
        Ok(Ok(found)) => (rendered(db, found), None),
        Ok(Err(Failure::Diagnostics(found))) => (rendered(db, found), None),
        Ok(Err(failure)) => (json!([]), Some(failure_text(db, failure))),
        Err(fault) => (json!([]), Some(fault.to_string())),
    };
    let mut shared = lock(shared);
    shared.version += 1;
    shared.busy = false;
    shared.problems = problems;
    shared.failure = failure;
    if shared.rounds.len() == MOST_ROUNDS {
        shared.rounds.remove(0);
    }
    shared.rounds.push(Arc::new(record));
    shared.tell();
}

fn reruns(explained: &Explained) -> Vec<Rerun> {
    (explained.reruns.iter())
        .map(|r| Rerun {
            query: r.query.clone(),
            key: r.key.clone(),
            why: r.reason.to_string(),
            outcome: match r.outcome {
                Outcome::Changed => "changed",
                Outcome::Equal => "same",
                Outcome::NotCompared => "",
            },
        })
        .collect()
}

/// Diagnostics for programs, each with its text for people.
fn rendered(db: &Database, found: &[Diagnostic]) -> serde_json::Value {
    let mut all = render_json(db, found);
    let texts = found.iter().map(|d| render_text(db, d, false));
    if let Some(all) = all.as_array_mut() {
        for (value, text) in all.iter_mut().zip(texts) {
            value["text"] = text.into();
        }
    }
    all
}

/// A failure in words.
fn failure_text(db: &Database, failure: &Failure) -> String {
    match failure {
        Failure::Diagnostics(all) if has_errors(all) || !all.is_empty() => {
            let texts: Vec<String> = all.iter().map(|d| render_text(db, d, false)).collect();
            texts.join("\n\n")
        }
        Failure::Diagnostics(_) => "the program is wrong".to_owned(),
        Failure::Usage(text) | Failure::Fatal(text) => text.clone(),
        Failure::Internal(e) => e.to_string(),
    }
}
