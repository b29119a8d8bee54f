//! What the compiler is at: a line on the terminal for what takes longer than a second.
//!
//! A thread looks at intervals how far the phase in progress came; the phases know nothing
//! of it. The line is taken away before anything else is written, before the user's program
//! runs, and at the end, so that it never stands between other output. Where standard error
//! is no terminal there is no thread.

use std::io::{IsTerminal as _, stderr};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use taipan_driver::{QueryLog, Steps};

/// What takes less is done before anybody could read what it was.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is brought up to date.
const INTERVAL: Duration = Duration::from_millis(100);

/// The one line of this process.
static LINE: OnceLock<Line> = OnceLock::new();

struct Line {
    bar: ProgressBar,
    log: QueryLog,
    state: Mutex<State>,
    over: Condvar,
}

#[derive(Default)]
struct State {
    /// The phase in progress.
    phase: Option<&'static str>,
    /// The line is there.
    shown: bool,
    /// Nothing is shown any more.
    over: bool,
}

/// Shows what is done to a database, if there is somebody who could see it.
pub(crate) fn begin(log: &QueryLog) {
    if !wanted() {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let line = Line {
        bar,
        log: log.clone(),
        state: Mutex::default(),
        over: Condvar::new(),
    };
    if LINE.set(line).is_err() {
        return;
    }
    // Without the thread there is no line, which is no loss.
    let _ = (std::thread::Builder::new().name("progress".to_owned())).spawn(|| {
        if let Some(line) = LINE.get() {
            line.attend();
        }
    });
}

/// A phase begins.
pub(crate) fn began(phase: &'static str) {
    if let Some(line) = LINE.get() {
        let mut state = line.state();
        // From here on the terminal is the program's.
        if words(phase).is_none() {
            line.end(&mut state);
        }
        state.phase = Some(phase);
    }
}

/// A phase is over.
pub(crate) fn ended() {
    if let Some(line) = LINE.get() {
        line.state().phase = None;
    }
}

/// Does what writes to the terminal, without the line.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let Some(line) = LINE.get() else {
        return work();
    };
    let state = line.state();
    if state.shown {
        line.bar.suspend(work)
    } else {
        work()
    }
}

/// Takes the line away for good.
pub(crate) fn end() {
    if let Some(line) = LINE.get() {
        line.end(&mut line.state());
    }
}

/// Whether there is a terminal that can show a line that changes, and somebody to look at
/// it: as cargo and uv have it.
fn wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    stderr().is_terminal()
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
        // What developers want to see goes to standard error, past this line.
        && !["NO_COLOR", "CI", "TAIPAN_LOG"].iter().any(|v| is_set(v))
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, state: &mut State) {
        if state.shown {
            self.bar.finish_and_clear();
        }
        state.shown = false;
        state.over = true;
        self.over.notify_all();
    }

    fn attend(&self) {
        let mut state = self.state();
        let mut pause = PATIENCE;
        while !state.over {
            let waited = self.over.wait_timeout(state, pause);
            let timeout;
            (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && !state.over {
                pause = INTERVAL;
                state.shown |= self.draw(state.phase);
            }
        }
    }

    /// Brings the line up to date; answers whether there is one now.
    fn draw(&self, phase: Option<&'static str>) -> bool {
        // Between two phases the last one stands.
        let Some((doing, unit)) = phase.and_then(words) else {
            return false;
        };
        let steps = self.log.steps();
        let Ok(style) = ProgressStyle::with_template(&template(doing, unit, steps)) else {
            return false;
        };
        self.bar.set_style(style.progress_chars("=> "));
        self.bar.update(|s| {
            s.set_len(steps.expected as u64);
            s.set_pos(steps.done as u64);
        });
        true
    }
}

/// The line, as the library takes it.
fn template(doing: &str, unit: Option<&str>, steps: Steps) -> String {
    match (steps, unit) {
        (Steps { done, expected: 0 }, Some(unit)) if done > 0 => {
            let unit = unit.strip_suffix('s').filter(|_| done == 1).unwrap_or(unit);
            format!("{{spinner}} {doing}: {done} {unit}")
        }
        (Steps { done, expected }, Some(unit)) if expected > 0 => {
            format!("{{spinner}} {doing} [{{bar:24}}] {done}/{expected} {unit}")
        }
        _ => format!("{{spinner}} {doing}"),
    }
}

/// What is done in a phase, and what is counted; none of phases that belong to the user's
/// program.
fn words(phase: &'static str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match phase {
        "parse" => ("parsing", Some("files")),
        "import" => ("importing", Some("modules")),
        "flow" => ("building flow graphs", Some("functions")),
        "annotate" => ("annotating", Some("functions")),
        "rtype" => ("rtyping", Some("functions")),
        "optimize" => ("optimizing", Some("functions")),
        "codegen" => ("generating code", Some("functions")),
        "timeshift" => ("generating the just-in-time compiler", None),
        "link" => ("linking", None),
        "object" => ("writing the object file", None),
        "load" | "execute" => return None,
        other => (other, None),
    })
}
