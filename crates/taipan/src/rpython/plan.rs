//! Translation of the original's command line into one of `taipan build`.

use camino::{Utf8Path, Utf8PathBuf};

use super::command::{Given, RpythonArgs, Value};
use super::table::{Goal, Meaning, Original};

/// The words that `taipan check` takes as well.
const COMMON: [&str; 2] = ["--timings", "--threads"];

/// A translation, in the words of `taipan build`.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The step at which it ends.
    goal: Option<Goal>,
    /// Options of `taipan build` with their values; the last one of a name counts.
    words: Vec<(&'static str, String)>,
    /// Whether there is to be a training run.
    trains: bool,
    /// The program's arguments in that run.
    training: Option<String>,
    /// The C compiler.
    pub(super) compiler: Option<String>,
    /// One line for each option that has another effect than in the original.
    pub(super) notes: Vec<String>,
    /// Values in `driver.config.translation` as targets see them, by path.
    pub(super) settings: Vec<(String, String)>,
}

/// Where an option comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    CommandLine,
    /// The target has set it in its configuration.
    Target,
}

impl Plan {
    /// The plan of a command line, or why it is refused.
    pub(super) fn new(args: &RpythonArgs) -> Result<Plan, String> {
        let mut plan = Plan::default();
        for Given { option, value } in &args.given {
            plan.take(option, value, Place::CommandLine)?;
            let text = match value {
                Value::On => "True",
                Value::Off => "False",
                Value::Text(text) => text,
            };
            // Collector and compiler are inputs of the translation, which the configuration shows in any case.
            if !matches!(option.key, "" | "gc" | "jit") {
                (plan.settings).push((option.key.to_owned(), text.to_owned()));
            }
        }
        if plan.trains && plan.training.is_none() {
            return Err(
                "--profopt: it takes a training run: give the program's arguments by --profoptargs"
                    .to_owned(),
            );
        }
        if plan.has("--shared") && plan.has("--jit") {
            return Err(
                "--shared: a library has no just-in-time compiler: leave out -Ojit, or --shared"
                    .to_owned(),
            );
        }
        plan.settle();
        Ok(plan)
    }

    /// The plan with what the target has set in `driver.config.translation`, by path, and its step
    /// (`driver.default_goal`).
    pub(super) fn with_settings(
        &self,
        target: &Utf8Path,
        set: &[(String, String)],
    ) -> Result<Plan, String> {
        let mut plan = self.clone();
        plan.notes.clear();
        for (path, text) in set {
            if path == "default_goal" {
                plan.goal = plan.goal.or(goal_named(text));
                continue;
            }
            let Some(option) = Original::with_key(path) else {
                continue;
            };
            let value = match text.as_str() {
                "True" => Value::On,
                "False" => Value::Off,
                text => Value::Text(text.to_owned()),
            };
            plan.take(option, &value, Place::Target)
                .map_err(|e| format!("{target} sets config.translation.{path}: {e}"))?;
        }
        plan.settle();
        Ok(plan)
    }

    fn take(
        &mut self,
        option: &'static Original,
        value: &Value,
        from: Place,
    ) -> Result<(), String> {
        // The executable that targets ask for beside the library is made.
        if from == Place::Target && option.key == "shared" {
            return Ok(());
        }
        let (meaning, text) = match value {
            Value::On => (&option.on, ""),
            Value::Off => (&option.off, ""),
            Value::Text(text) => (&option.on, text.as_str()),
        };
        let shown = match value {
            Value::On => option.name().to_owned(),
            Value::Off => format!("--{}", option.negation().unwrap_or_default()),
            Value::Text(text) => format!("{}={text}", option.name()),
        };
        let meaning = match meaning {
            Meaning::ByValue(all) => {
                let found = all.iter().find(|(v, _)| *v == text || *v == "*");
                found.map_or(&Meaning::AsItIs, |(_, meaning)| meaning)
            }
            meaning => meaning,
        };
        match meaning {
            Meaning::Build(words) => self.say(words, text),
            Meaning::Like(words, why) => {
                self.say(words, text);
                self.note(&shown, why, from);
            }
            Meaning::AsItIs | Meaning::ByValue(_) => {}
            Meaning::NoEffect(why) => self.note(&shown, why, from),
            Meaning::Refused(why) => return Err(format!("{shown}: {why}")),
            Meaning::Step(goal) => self.goal = self.goal.max(Some(*goal)),
            Meaning::Compiler => self.compiler = Some(text.to_owned()),
            Meaning::Output => {
                let name = text.replace("%(backend)s", "c");
                self.set("-o", name);
            }
            Meaning::Training => match value {
                Value::Text(text) => self.training = Some(text.clone()),
                value => self.trains = *value == Value::On,
            },
        }
        Ok(())
    }

    fn note(&mut self, shown: &str, why: &str, from: Place) {
        if from == Place::CommandLine {
            self.notes.push(format!("{shown}: {why}"));
        }
    }

    /// Adds words of `taipan build`.
    fn say(&mut self, words: &'static [&'static str], value: &str) {
        let mut words = words.iter().peekable();
        while let Some(name) = words.next() {
            let word = words.next_if(|w| !w.starts_with("--") && **w != "-O");
            let value = word.map_or(String::new(), |w| w.replace("{}", value));
            match self.words.iter_mut().find(|(n, _)| n == name) {
                Some((_, old)) if *name == "--passes" => {
                    old.push(',');
                    old.push_str(&value);
                }
                _ => self.set(name, value),
            }
        }
    }

    fn set(&mut self, name: &'static str, value: String) {
        match self.words.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value,
            None => self.words.push((name, value)),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.words.iter().any(|(n, _)| *n == name)
    }

    /// Adds words that depend on several options.
    fn settle(&mut self) {
        let by_c = match self.words.iter().find(|(n, _)| *n == "-O") {
            Some((_, level)) => matches!(level.as_str(), "2" | "3"),
            None => true,
        };
        if self.has("--shared") {
            // Machine code of libraries is Cranelift's.
            let lto = self.has("--lto").then_some("--lto");
            let profopt = self.trains.then_some("--profopt");
            for name in lto.into_iter().chain(profopt) {
                self.note(
                    name,
                    "a library is not made by way of C",
                    Place::CommandLine,
                );
            }
            self.words.retain(|(n, _)| *n != "--lto");
            self.trains = false;
            return;
        }
        if self.has("--entrypoints") {
            let why = "functions for C are those of a library: give --shared, too";
            self.note("--entrypoints", why, Place::CommandLine);
            self.words.retain(|(n, _)| *n != "--entrypoints");
        }
        if self.has("--jit") {
            let lto = self.has("--lto").then_some("--lto");
            let profopt = self.trains.then_some("--profopt");
            for name in lto.into_iter().chain(profopt) {
                let why = "a program with a just-in-time compiler is not made by way of C";
                self.note(name, why, Place::CommandLine);
            }
            self.words.retain(|(n, _)| *n != "--lto");
            self.trains = false;
            return;
        }
        if !self.has("-O") {
            self.set("-O", "2".to_owned());
        }
        if let Some(arguments) = self.training.clone().filter(|_| self.trains) {
            self.set("--profopt", arguments);
        }
        let needs_c = self.has("--lto") || self.has("--profopt") || self.goal() == Goal::Source;
        if needs_c && !by_c {
            self.set("--backend", "c".to_owned());
        }
    }

    /// The step at which the translation ends.
    pub(super) fn goal(&self) -> Goal {
        self.goal.unwrap_or(Goal::Compile)
    }

    /// The command line of `taipan build`, or of `taipan check` if no more is asked for.
    pub(super) fn command_line(
        &self,
        target: &Utf8Path,
        options: &[String],
        path: &[Utf8PathBuf],
    ) -> Vec<String> {
        let check = self.goal() == Goal::Check;
        let mut all = vec!["taipan", if check { "check" } else { "build" }]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        for (name, value) in &self.words {
            if check && !COMMON.contains(name) {
                continue;
            }
            match value.as_str() {
                "" => all.push((*name).to_owned()),
                value if name.starts_with("--") => all.push(format!("{name}={value}")),
                value => all.extend([(*name).to_owned(), value.to_owned()]),
            }
        }
        for folder in path {
            all.extend(["--path".to_owned(), folder.to_string()]);
        }
        all.extend(options.iter().map(|o| format!("--target-option={o}")));
        all.extend(["--".to_owned(), target.to_string()]);
        all
    }
}

/// The step of that name in the original's driver.
fn goal_named(name: &str) -> Option<Goal> {
    let name = name.split('_').next().unwrap_or(name);
    match name {
        "annotate" | "rtype" | "backendopt" | "pyjitpl" => Some(Goal::Check),
        "source" | "database" => Some(Goal::Source),
        "compile" => Some(Goal::Compile),
        _ => None,
    }
}
