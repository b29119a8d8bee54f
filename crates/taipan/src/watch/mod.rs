//! `taipan watch`
//!
//! One loop waits for everything: changes of files, the end of a round, the end of the
//! program, keys and signals. What differs between the commands is a [`Task`].

mod build;
mod check;
mod report;
mod run;
mod screen;
mod terminal;
mod test;

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use taipan_base::WatchOptions;
use taipan_driver::{Database, InternalError, Observer};
use taipan_watch::{Answer, Ended, Input, Job, Launcher, Watch, WatchEvent};

use crate::args::{Common, WatchArgs, WatchCommand};
use crate::output::{Context, tell, whole_lines};
use screen::{Screen, Scroll};
use terminal::Terminal;

/// What is repeated, and how its outcome is shown.
trait Task {
    /// What a round gives.
    type Outcome: Send + 'static;

    /// The command line in short.
    fn title(&self) -> String;

    /// What is repeated.
    fn job(&mut self) -> Job<Self::Outcome>;

    /// Takes up what an answer brings.
    fn show(&mut self, db: &Database, answer: &mut Answer<Self::Outcome>) -> Shown;

    /// Does it again without a change of any file; none if the work is to be done for
    /// that.
    fn again(&mut self, db: &Database) -> Option<Shown> {
        let _ = db;
        None
    }

    /// The program has ended: what there is to tell.
    fn ended(&mut self, db: &Database, ended: Ended) -> Option<Shown> {
        let _ = (db, ended);
        None
    }

    /// Keys of its own, as the footer tells of them.
    fn keys(&self) -> &'static str {
        ""
    }

    /// Takes a key of its own; answers whether the work is to be done again for it.
    fn key(&mut self, key: char) -> bool {
        let _ = key;
        false
    }

    /// Whether typed lines can be given to the program.
    fn takes_input(&self) -> bool {
        false
    }

    /// Gives the program a line, or the end of its input.
    fn input(&mut self, line: Option<&str>) {
        let _ = line;
    }
}

/// What is shown of an outcome.
struct Shown {
    /// Whether all is well.
    ok: bool,
    /// The outcome in a line.
    status: String,
    /// More of it, in whole lines.
    body: String,
    /// For programs, on standard output.
    output: Option<String>,
    /// Whether what stands on the screen is out of date.
    clear: bool,
}

impl Shown {
    /// All is well.
    fn well(status: String) -> Shown {
        Shown {
            ok: true,
            status,
            body: String::new(),
            output: None,
            clear: true,
        }
    }

    /// A fault of Taipan.
    fn fault(e: &InternalError) -> Shown {
        Shown {
            ok: false,
            status: "internal error".to_owned(),
            body: format!("taipan: {e}\n"),
            output: None,
            clear: true,
        }
    }
}

/// What the loop waits for.
enum Event<T> {
    Watch(WatchEvent<T>),
    Ended(Ended),
    Key(KeyEvent),
    Resized,
    /// The process goes on after it was stopped.
    Continued,
    Quit(i32),
}

/// Forks what starts the watched program. To be called while there is one thread.
pub(crate) fn launcher(args: &WatchArgs) -> Option<std::io::Result<Launcher>> {
    let WatchCommand::Run(args) = args.command() else {
        return None;
    };
    let input = if Terminal::is_there() {
        Input::Given
    } else {
        Input::Inherited
    };
    let argv = std::iter::once(args.run.target.as_str())
        .chain(args.run.args().iter().map(String::as_str))
        .map(|a| a.as_bytes().to_vec())
        .collect();
    // SAFETY: `main` calls this before it starts a thread.
    Some(unsafe { Launcher::fork(argv, input) })
}

pub(crate) fn watch(args: &WatchArgs, launcher: Option<std::io::Result<Launcher>>) -> i32 {
    start(args, launcher).unwrap_or_else(|code| code)
}

/// Answers the exit code, also where there was nothing to watch.
fn start(args: &WatchArgs, launcher: Option<std::io::Result<Launcher>>) -> Result<i32, i32> {
    let quiet = match args.command() {
        WatchCommand::Check(a) => a.quiet,
        WatchCommand::Build(a) => a.quiet,
        WatchCommand::Run(a) => a.run.quiet,
        WatchCommand::Test(_) => false,
    };
    if let WatchCommand::Check(a) = args.command()
        && a.fix
    {
        tell("taipan: --fix is for commands that run once\n");
        return Err(2);
    }
    if quiet {
        tell("taipan: --quiet is for commands that run once\n");
        return Err(2);
    }
    Ok(match args.command() {
        WatchCommand::Check(a) => {
            let context = Context::new(&a.common, a.paths.first().map(|p| &**p))?;
            let task = check::Check::new(a.clone(), &context);
            session(args, &a.common, context, |_| Ok(task))
        }
        WatchCommand::Build(a) => {
            let mut context = Context::new(&a.common, Some(&a.target))?;
            context.consent();
            context.db.generate_jit(a.code.jit());
            match build::Build::new(a, &context) {
                Ok(task) => session(args, &a.common, context, |_| Ok(task)),
                Err(f) => context.fail(&f),
            }
        }
        WatchCommand::Test(a) => {
            let mut context = Context::new(&a.common, crate::test::target(a))?;
            context.consent();
            match test::Test::new(a, &mut context) {
                Ok(task) => session(args, &a.common, context, |_| Ok(task)),
                Err(f) => context.fail(&f),
            }
        }
        WatchCommand::Run(a) => {
            let mut context = Context::new(&a.run.common, Some(&a.run.target))?;
            context.consent();
            context.db.generate_jit(a.run.code.jit());
            let launcher = launcher.ok_or(2)?;
            match run::Run::new(a, &context, launcher) {
                Ok(task) => session(args, &a.run.common, context, |events| {
                    let events = events.clone();
                    task.wait(move |e| drop(events.send(Event::Ended(e))))?;
                    Ok(task)
                }),
                Err(f) => context.fail(&f),
            }
        }
    })
}

/// Watches until somebody quits; answers the exit code.
fn session<T: Task>(
    args: &WatchArgs,
    common: &Common,
    context: Context,
    task: impl FnOnce(&Sender<Event<T::Outcome>>) -> std::io::Result<T>,
) -> i32 {
    if common.log_queries.is_some() {
        tell("taipan: --log-queries is for commands that run once\n");
        return 2;
    }
    let printed = Arc::new(Printed::default());
    context.db.observe(printed.clone());
    let (sender, events) = channel();
    let started = task(&sender).and_then(|mut task| {
        let terminal = terminal::attend(&sender)?;
        let options = WatchOptions {
            poll: args.poll,
            ..WatchOptions::default()
        };
        let report = sender.clone();
        let report = move |e| drop(report.send(Event::Watch(e)));
        let watch = Watch::start(context.db, options, task.job(), report)?;
        let screen = Screen::new(
            task.title(),
            terminal.has_keys().then(|| task.keys()),
            task.takes_input(),
        );
        Ok(Session {
            task,
            watch,
            screen,
            terminal,
            typed: None,
            timings: common.timings,
            printed,
        })
    });
    match started {
        Ok(mut session) => {
            let code = session.run(&events);
            // A cache that cannot be written is only slower.
            if let Err(e) = session.watch.db().cache().flush() {
                tracing::warn!("cache not written: {e}");
            }
            code
        }
        Err(e) => {
            tell(&format!("taipan: cannot watch: {e}\n"));
            2
        }
    }
}

/// What programs printed when they were imported since the last answer.
#[derive(Default)]
struct Printed(Mutex<BTreeMap<Utf8PathBuf, String>>);

impl Observer for Printed {
    fn printed(&self, target: &Utf8Path, text: &str) {
        // An outdated round may have imported the program before.
        self.lock().insert(target.to_owned(), whole_lines(text));
    }
}

impl Printed {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Utf8PathBuf, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.lock()).into_values().collect()
    }
}

struct Session<T: Task> {
    task: T,
    watch: Watch<T::Outcome>,
    screen: Screen,
    terminal: Terminal,
    /// A line for the program that is being typed.
    typed: Option<String>,
    timings: bool,
    printed: Arc<Printed>,
}

impl<T: Task> Session<T> {
    fn run(&mut self, events: &Receiver<Event<T::Outcome>>) -> i32 {
        self.screen.working();
        while let Ok(event) = events.recv() {
            match event {
                Event::Watch(WatchEvent::Changed(batch)) => {
                    if self.watch.changed(&batch) {
                        self.screen.working();
                    }
                }
                Event::Watch(WatchEvent::Finished(round)) => {
                    if let Some(answer) = self.watch.finished(*round) {
                        self.answer(answer);
                    }
                }
                Event::Ended(ended) => {
                    if let Some(shown) = self.task.ended(self.watch.db(), ended) {
                        self.screen.show(None, shown, self.watching());
                    }
                }
                Event::Key(key) => {
                    if let Some(code) = self.key(key) {
                        return self.quit(code);
                    }
                }
                Event::Resized => self.screen.redraw(),
                Event::Continued => {
                    self.terminal.take();
                    self.screen.redraw();
                }
                Event::Quit(code) => return self.quit(code),
            }
        }
        2
    }

    fn answer(&mut self, mut answer: Answer<T::Outcome>) {
        let mut shown = self.task.show(self.watch.db(), &mut answer);
        shown.body.insert_str(0, &self.printed.take());
        let mut told = report::told(self.watch.db(), &answer);
        if self.timings {
            told.timings = answer.round.timings.table();
        }
        self.screen.show(Some(told), shown, self.watching());
    }

    /// What is watched, and how.
    fn watching(&self) -> String {
        report::watching(self.watch.files(), &self.watch.mode())
    }

    fn quit(&mut self, code: i32) -> i32 {
        self.screen.leave();
        self.terminal.give_back();
        code
    }

    /// Answers the exit code if it is time to quit.
    fn key(&mut self, key: KeyEvent) -> Option<i32> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, &mut self.typed) {
            (KeyCode::Char('c'), _) if control => return Some(128 + signal_hook::consts::SIGINT),
            (KeyCode::Enter, Some(line)) => {
                self.task.input(Some(line));
                self.typed = None;
                self.screen.typed(None);
            }
            (KeyCode::Char('d'), Some(line)) if control && line.is_empty() => {
                self.task.input(None);
                self.typed = None;
                self.screen.typed(None);
            }
            (KeyCode::Esc, Some(_)) => {
                self.typed = None;
                self.screen.typed(None);
            }
            (code, Some(line)) => {
                match code {
                    KeyCode::Backspace => drop(line.pop()),
                    KeyCode::Char(c) if !control => line.push(c),
                    _ => {}
                }
                self.screen.typed(Some(line));
            }
            (KeyCode::Char('q'), None) => return Some(0),
            (KeyCode::Char('s'), None) => self.screen.toggle_statistics(),
            (KeyCode::Down, None) => self.screen.scroll(Scroll::Line(1)),
            (KeyCode::Up, None) => self.screen.scroll(Scroll::Line(-1)),
            (KeyCode::PageDown, None) => self.screen.scroll(Scroll::Page(1)),
            (KeyCode::PageUp, None) => self.screen.scroll(Scroll::Page(-1)),
            (KeyCode::Char('r'), None) => match self.task.again(self.watch.db()) {
                Some(shown) => self.screen.show(None, shown, self.watching()),
                None => {
                    self.watch.rerun();
                    self.screen.working();
                }
            },
            (KeyCode::Char('i'), None) if self.task.takes_input() => {
                self.typed = Some(String::new());
                self.screen.typed(Some(""));
            }
            (KeyCode::Char(c), None) if self.task.key(c) => {
                self.watch.rerun();
                self.screen.working();
            }
            _ => {}
        }
        None
    }
}
