//! Arguments of calls and their matching with parameters (RPython: `argument.py`).

use taipan_base::{Help, did_you_mean};
use taipan_flow::Signature;

use crate::ArgSource;
use crate::val::Val;

/// The arguments of one call; `*args` are unpacked already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    /// Positional ones.
    pub(crate) positional: Vec<(ArgSource, Val)>,
    /// Keyword ones.
    pub(crate) keywords: Vec<(Box<str>, ArgSource, Val)>,
}

/// Arguments by parameter; those beyond the named parameters go to `*args`.
pub(crate) struct Matched {
    /// One per named parameter.
    pub(crate) named: Vec<(ArgSource, Val)>,
    /// What `*args` of the callee receives.
    pub(crate) extra: Vec<(ArgSource, Val)>,
}

/// Why arguments do not fit.
pub(crate) struct Mismatch {
    /// In words.
    pub(crate) message: String,
    /// The usual remedy.
    pub(crate) help: Option<Help>,
}

impl From<String> for Mismatch {
    fn from(message: String) -> Mismatch {
        Mismatch {
            message,
            help: None,
        }
    }
}

impl Arguments {
    pub(crate) fn positional(positional: Vec<(ArgSource, Val)>) -> Arguments {
        Arguments {
            positional,
            keywords: Vec::new(),
        }
    }

    /// With one more in front.
    pub(crate) fn prepend(mut self, source: ArgSource, val: Val) -> Arguments {
        self.positional.insert(0, (source, val));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.positional.is_empty() && self.keywords.is_empty()
    }

    /// Where they come from: positional ones, then keywords.
    pub(crate) fn sources(&self) -> Vec<ArgSource> {
        let positional = self.positional.iter().map(|(s, _)| s);
        let keywords = self.keywords.iter().map(|(_, s, _)| s);
        positional.chain(keywords).cloned().collect()
    }

    /// The values alone, where keywords make no sense.
    pub(crate) fn vals(&self) -> Vec<Val> {
        self.positional.iter().map(|(_, v)| v.clone()).collect()
    }

    /// Finds the argument of each parameter. `defaults` are those of the last ones.
    pub(crate) fn matched(
        self,
        func: &str,
        params: &Signature,
        defaults: &[(ArgSource, Val)],
    ) -> Result<Matched, Mismatch> {
        let count = params.argnames.len();
        let given = self.positional.len() + self.keywords.len();
        let is_method = matches!(
            self.positional.first(),
            Some((ArgSource::Receiver | ArgSource::Instance, _))
        );
        if params.varkeywords {
            return Err(Mismatch {
                message: format!("{func}() takes **keywords, which is not RPython"),
                help: Some("name each keyword as a parameter, or pass a dict".into()),
            });
        }
        let mut positional = self.positional;
        let extra = if positional.len() > count {
            if !params.varargs {
                let mut error = count_error(func, count, defaults.len(), params.varargs, given);
                let first = params.argnames.first().map(|n| &**n);
                if is_method && given == count + 1 && first != Some("self") {
                    error.help = Some(missing_self(func, &params.argnames).into());
                }
                return Err(error);
            }
            positional.split_off(count)
        } else {
            Vec::new()
        };
        let mut slots: Vec<Option<(ArgSource, Val)>> = positional.into_iter().map(Some).collect();
        let by_position = slots.len();
        slots.resize(count, None);
        for (name, source, val) in self.keywords {
            match params.argnames.iter().position(|n| *n == name) {
                Some(i) if i < by_position => {
                    let text = format!("{func}() got multiple values for argument `{name}`");
                    return Err(text.into());
                }
                Some(i) => slots[i] = Some((source, val)),
                None => {
                    let known = params.argnames.iter().map(|n| &**n);
                    return Err(Mismatch {
                        message: format!("{func}() has no argument `{name}`"),
                        help: did_you_mean(&name, known),
                    });
                }
            }
        }
        let first_default = count.saturating_sub(defaults.len());
        let mut named = Vec::with_capacity(count);
        for (i, s) in slots.into_iter().enumerate() {
            match s.or_else(|| {
                i.checked_sub(first_default)
                    .and_then(|d| defaults.get(d).cloned())
            }) {
                Some(s) => named.push(s),
                None => {
                    return Err(count_error(
                        func,
                        count,
                        defaults.len(),
                        params.varargs,
                        given,
                    ));
                }
            }
        }
        Ok(Matched { named, extra })
    }
}

/// What is wrong with the number and the names of a call's arguments, and the usual remedy;
/// nothing of a function that takes any keywords.
pub fn arity_problem(
    func: &str,
    params: &Signature,
    defaults: usize,
    positional: usize,
    keywords: &[Box<str>],
) -> Option<(String, Option<Help>)> {
    if params.varkeywords {
        return None;
    }
    let any = || (ArgSource::Operand(0), Val::default());
    let arguments = Arguments {
        positional: (0..positional).map(|_| any()).collect(),
        keywords: (keywords.iter())
            .map(|k| (k.clone(), ArgSource::Operand(0), Val::default()))
            .collect(),
    };
    let defaults: Vec<_> = (0..defaults).map(|_| any()).collect();
    let mismatch = arguments.matched(func, params, &defaults).err()?;
    Some((mismatch.message, mismatch.help))
}

/// The remedy for a method whose author forgot the instance.
fn missing_self(func: &str, params: &[Box<str>]) -> String {
    let name = func.rsplit('.').next().unwrap_or(func);
    let all: Vec<&str> = ["self"]
        .into_iter()
        .chain(params.iter().map(|p| &**p))
        .collect();
    format!(
        "the first parameter of a method is the instance: `def {name}({})`",
        all.join(", ")
    )
}

fn count_error(func: &str, count: usize, defaults: usize, vararg: bool, given: usize) -> Mismatch {
    if count == 0 && !vararg {
        return format!("{func}() takes no arguments ({given} given)").into();
    }
    let (how, n) = if defaults == 0 && !vararg {
        ("exactly", count)
    } else if given < count - defaults.min(count) {
        ("at least", count - defaults.min(count))
    } else {
        ("at most", count)
    };
    let s = if n == 1 { "" } else { "s" };
    format!("{func}() takes {how} {n} argument{s} ({given} given)").into()
}
