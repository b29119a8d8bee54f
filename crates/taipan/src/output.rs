//! What all commands share: options into a database, failures into text and codes.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write as _, stderr, stdout};
use std::sync::Arc;
use std::time::Instant;

use camino::Utf8Path;
use crossterm::style::Stylize as _;
use taipan_base::{Db as _, Diagnostic, render_text};
use taipan_driver::{
    Config, Database, Failure, LoadOptions, Observer, SavedState, TargetConfig, Timings,
    find_config, has_errors, woken,
};

use crate::args::Common;
use crate::place::Place;
use crate::{closing, progress};

/// A command's surroundings.
pub(crate) struct Context {
    /// The database.
    pub(crate) db: Database,
    /// How programs are loaded.
    pub(crate) load: LoadOptions,
    /// The project's configuration.
    pub(crate) config: Config,
    /// Phases so far.
    pub(crate) timings: Timings,
    /// When the command began.
    pub(crate) since: Instant,
}

impl Context {
    /// What [`Context::new`] gives, for commands after which the process ends: it is
    /// never freed, which would take as long as a tenth of the command.
    pub(crate) fn once(
        common: &Common,
        target: Option<&Utf8Path>,
    ) -> Result<&'static mut Context, i32> {
        let context = Context::new(common, target)?;
        context.db.observe(Arc::new(Onlooker));
        Ok(Box::leak(Box::new(context)))
    }

    /// The surroundings of a command on a target, whose project has the cache, and the
    /// configuration that counts where the command line says nothing. If that cannot be
    /// read, it is told, and the exit code comes back: other settings than the ones that are
    /// meant would do something else.
    pub(crate) fn new(common: &Common, target: Option<&Utf8Path>) -> Result<Context, i32> {
        let since = Instant::now();
        let db = woken().unwrap_or_default();
        let target = target.unwrap_or(Utf8Path::new("."));
        let config = sound_config(&db, target)?;
        if !common.no_cache && config.cache != Some(false) {
            let cache = Place::new(common.cache_dir.as_ref(), &config, target).open();
            // For tests of Taipan itself.
            let cache = match std::env::var_os("TAIPAN_CACHE_VERIFY") {
                Some(_) => cache.verifying(),
                None => cache,
            };
            db.set_cache(cache);
        }
        if let Some(questions) = db.system().questions() {
            questions.keep(!common.no_cache && config.cache != Some(false));
        }
        if common.log_queries.is_some() {
            db.log().record_from_now();
        }
        if common.timings {
            db.log().count_passes_from_now();
        }
        if let Some(n) = common.threads.or(config.threads) {
            // Fails only if a pool exists already, which then serves as well.
            let _ = taipan_driver::set_threads(n);
        }
        let mut path = common.path.clone();
        if let Ok(more) = std::env::var("TAIPANPATH") {
            path.extend(more.split(':').filter(|p| !p.is_empty()).map(Into::into));
        }
        path.extend(config.path.iter().cloned());
        let mut target_options = common.target_option.clone();
        if target_options.is_empty() {
            target_options = config.target_options.clone();
        }
        let mut load = LoadOptions {
            path,
            target_options,
            settings: common.settings.clone(),
            environment: config.env.clone(),
            ..LoadOptions::default()
        };
        if let Some(options) = &common.options {
            apply(options, &mut load, common);
        }
        if let Some(limit) = common.step_limit.or(config.step_limit) {
            load.step_limit = limit;
        }
        if let Some(limit) = common.memory_limit.or(config.memory_limit) {
            load.memory_limit = Some(limit);
        }
        let timings = Timings::counting(db.log());
        Ok(Context {
            db,
            load,
            config,
            timings,
            since,
        })
    }

    /// The command runs the program: native code of its folder may run before that, too.
    pub(crate) fn consent(&mut self) {
        self.load.trusted = true;
    }

    /// Has the command go on with what an earlier one like it has left of its memory, and leave
    /// its own ([`Context::leave`]). `arguments` are all that make a difference to what it works
    /// out.
    pub(crate) fn go_on(&self, command: &str, arguments: &[&str]) {
        if let Some(saved) = SavedState::new(&self.db.cache(), command, arguments, &self.load) {
            self.db.set_saved_state(saved);
        }
    }

    /// Leaves the memory of a command, of which everything is done, to later ones.
    pub(crate) fn leave(&'static self) {
        // SAFETY: the process ends now, and its threads have nothing to do.
        unsafe { self.db.save(self.since) };
    }

    /// Prints what `--timings` and `--log-queries` ask for, and keeps what later
    /// processes can use. Answers the exit code of a command that came to `code`.
    pub(crate) fn finish(&self, common: &Common, code: i32) -> i32 {
        progress::end();
        // A cache that cannot be written is only slower.
        if let Err(e) = self.db.cache().flush() {
            tracing::warn!("cache not written: {e}");
        }
        if common.timings {
            tell(&self.timings.table());
        }
        let Some(file) = &common.log_queries else {
            return code;
        };
        let mut text = String::new();
        for (query, key, event) in self.db.take_log() {
            let line = serde_json::json!({"query": query, "key": key, "event": event.name()});
            let _ = writeln!(text, "{line}");
        }
        match std::fs::write(file, text) {
            Ok(()) => code,
            Err(e) => {
                tell(&format!("taipan: cannot write {file}: {e}\n"));
                code.max(2)
            }
        }
    }

    /// Prints diagnostics for people.
    pub(crate) fn print(&self, diagnostics: &[Diagnostic]) {
        tell(&diagnostics_text(&self.db, diagnostics, color()));
    }

    /// Prints a failure; answers the exit code.
    pub(crate) fn fail(&self, failure: &Failure) -> i32 {
        tell(&failure_text(&self.db, failure, color()));
        exit_code(failure)
    }
}

/// Adds the options of a target to those of its project. The command line counts before both.
pub(crate) fn apply(options: &TargetConfig, load: &mut LoadOptions, common: &Common) {
    options.apply(load);
    if !common.target_option.is_empty() {
        load.target_options.clone_from(&common.target_option);
    }
}

/// Writes for people, to standard error. If that is closed or full, there is no place
/// to say so.
pub(crate) fn tell(text: &str) {
    if !text.is_empty() {
        let _ = progress::aside(|| stderr().lock().write_all(text.as_bytes()));
    }
}

/// Writes for programs, to standard output, at once. Answers the exit code.
pub(crate) fn put(text: &str) -> i32 {
    written(progress::aside(|| {
        let mut out = stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    }))
}

/// The exit code of something that was written to standard output.
pub(crate) fn written(done: std::io::Result<()>) -> i32 {
    match done {
        Ok(()) => 0,
        // Who reads along has seen enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe => 0,
        Err(e) => {
            tell(&format!("taipan: standard output: {e}\n"));
            2
        }
    }
}

/// Whether people who read stderr like colours.
pub(crate) fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// What a command says of the work while it is done.
pub(crate) struct Onlooker;

impl Observer for Onlooker {
    fn began(&self, phase: &'static str) {
        progress::began(phase);
    }

    fn ended(&self, _: &'static str) {
        progress::ended();
    }

    fn printed(&self, _: &Utf8Path, text: &str) {
        tell(&whole_lines(text));
    }
}

/// Text that a program printed while it was imported, with the end of its last line, and with
/// symbols for control characters: a program that is only checked must not steer the terminal.
pub(crate) fn whole_lines(text: &str) -> String {
    let mut shown: String = text.chars().map(symbol).collect();
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// A character that is safe on a terminal: control characters become their pictures (U+2400 and
/// following), those that change the direction of text the replacement character, as in the source
/// lines of diagnostics.
fn symbol(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\0'..='\x1f' => {
            char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => c,
    }
}

/// Words for a terminal: that something is done, or that something is wrong with it.
pub(crate) fn painted(ok: bool, words: &str) -> String {
    match (color(), ok) {
        (false, _) => words.to_owned(),
        (true, true) => words.green().bold().to_string(),
        (true, false) => words.red().bold().to_string(),
    }
}

/// Diagnostics for people.
pub(crate) fn listing(db: &Database, diagnostics: &[Diagnostic], color: bool) -> String {
    let mut out = String::new();
    for d in diagnostics {
        let _ = writeln!(out, "{}\n", render_text(db, d, color));
    }
    out
}

/// Diagnostics for people, and how many they are.
pub(crate) fn diagnostics_text(db: &Database, diagnostics: &[Diagnostic], color: bool) -> String {
    let mut out = listing(db, diagnostics, color);
    if has_errors(diagnostics)
        && let Some(problems) = closing::problems(diagnostics)
    {
        let _ = writeln!(out, "{problems}");
    }
    out
}

/// A failure for people, in whole lines.
pub(crate) fn failure_text(db: &Database, failure: &Failure, color: bool) -> String {
    match failure {
        Failure::Diagnostics(all) => diagnostics_text(db, all, color),
        Failure::Usage(text) => format!("taipan: {text}\n"),
        Failure::Fatal(text) => format!("{text}\n"),
        Failure::Internal(e) => format!("taipan: {e}\n"),
    }
}

/// The exit code of a command that failed.
pub(crate) fn exit_code(failure: &Failure) -> i32 {
    match failure {
        Failure::Diagnostics(_) | Failure::Fatal(_) => 1,
        Failure::Usage(_) | Failure::Internal(_) => 2,
    }
}

/// The configuration of a project; what is wrong with it is told. The exit code if it cannot
/// be used.
pub(crate) fn sound_config(db: &Database, about: &Utf8Path) -> Result<Config, i32> {
    let (config, wrong) = project_config(db, about);
    tell(&diagnostics_text(db, &wrong, color()));
    if has_errors(&wrong) {
        Err(2)
    } else {
        Ok(config)
    }
}

/// The configuration of the project that a file or folder belongs to, and what is wrong
/// with it.
pub(crate) fn project_config(db: &Database, about: &Utf8Path) -> (Config, Vec<Diagnostic>) {
    let found = camino::absolute_utf8(about)
        .ok()
        .and_then(|at| find_config(db, &at));
    match found {
        Some((_, read)) => (
            read.config.clone().unwrap_or_default(),
            read.diagnostics.clone(),
        ),
        None => Default::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::whole_lines;

    #[test]
    fn printed_text_does_not_steer_the_terminal() {
        assert_eq!(whole_lines("a\tb\nc"), "a\tb\nc\n");
        assert_eq!(
            whole_lines("\x1b[2J\r\x7f\n"),
            "\u{241b}[2J\u{240d}\u{2421}\n"
        );
        assert_eq!(whole_lines("\u{9b}2J\u{202e}\n"), "\u{fffd}2J\u{fffd}\n");
        assert_eq!(whole_lines("\u{e9}\u{20ac}\n"), "\u{e9}\u{20ac}\n");
    }
}
