//! The parser of the original's command line, made from the table of its options.

use camino::Utf8PathBuf;
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::table::{OPTIONS, Original, Takes};

/// A parsed command line.
pub(crate) struct RpythonArgs {
    /// The options.
    pub(super) given: Vec<Given>,
    /// The target, perhaps without its `.py`.
    pub(super) target: Utf8PathBuf,
    /// The target's own options.
    pub(super) options: Vec<String>,
}

/// An option with its value.
pub(super) struct Given {
    pub(super) option: &'static Original,
    pub(super) value: Value,
}

/// The value of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    On,
    Off,
    Text(String),
}

/// The target and its options.
const TARGET: &str = "TARGET.py";

impl Args for RpythonArgs {
    fn augment_args(command: Command) -> Command {
        let mut command = command
            .args_override_self(true)
            // As optparse has it: the beginning of a name will do, if no other option begins so.
            .infer_long_args(true);
        for option in OPTIONS {
            command = command.arg(arg(option));
            if let Some(negation) = option.negation() {
                // Clap takes names that live as long as the process; a command line is made once or twice in it.
                let negation: &'static str = negation.leak();
                command = command.arg(
                    Arg::new(negation)
                        .long(negation)
                        .action(ArgAction::SetTrue)
                        .overrides_with(option.id())
                        .hide(true),
                );
            }
        }
        command
            .arg(
                Arg::new("full-help")
                    .long("full-help")
                    .action(ArgAction::HelpLong)
                    .hide(true),
            )
            .arg(
                // One argument of many words: whatever stands behind the target is the target's.
                Arg::new(TARGET)
                    .required(true)
                    .num_args(1..)
                    .trailing_var_arg(true)
                    .help("The file with `target`, whose `.py` can be left out; options behind it are the target's"),
            )
            .after_help(
                "The other options of the original are accepted, with a line that says what they mean here, or refused.",
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn arg(option: &'static Original) -> Arg {
    let mut arg = Arg::new(option.id())
        .help(option.help)
        .hide(option.help.is_empty());
    if option.name().starts_with("--") {
        arg = arg.long(option.id());
    }
    if let Some(short) = option.short() {
        arg = arg.short(short);
    }
    match option.takes {
        Takes::Word | Takes::Switch => arg.action(ArgAction::SetTrue),
        Takes::Choice(words) => arg
            .value_name("VALUE")
            .value_parser(PossibleValuesParser::new(words)),
        Takes::Text(shown) => arg.value_name(shown).allow_hyphen_values(true),
    }
}

impl FromArgMatches for RpythonArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let mut given = Vec::new();
        for option in OPTIONS {
            let negation = option.negation().filter(|n| is_given(n));
            let value = match option.takes {
                _ if negation.is_some() => Value::Off,
                _ if !is_given(option.id()) => continue,
                Takes::Word | Takes::Switch => Value::On,
                Takes::Choice(_) | Takes::Text(_) => {
                    let text = matches.get_one::<String>(option.id());
                    Value::Text(text.cloned().unwrap_or_default())
                }
            };
            given.push(Given { option, value });
        }
        let words = matches.get_many::<String>(TARGET);
        let mut words = words.into_iter().flatten().cloned();
        Ok(RpythonArgs {
            given,
            target: words.next().unwrap_or_default().into(),
            options: words.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
