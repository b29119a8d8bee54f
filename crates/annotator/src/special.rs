//! Specialisation policies (RPython: `policy.py`, `specialize.py`): which of a
//! function's graphs a call reaches.

use taipan_interp::FunctionData;

/// What a function is specialised by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Specialization {
    /// One graph (but one per number of `*args`).
    Default,
    /// `specialize:memo`
    Memo,
    /// `specialize:arg(i, ..)`: values of these arguments.
    Arg(Vec<usize>),
    /// `specialize:arg_or_var(i, ..)`: values if all are constant, else one graph.
    ArgOrVar(Vec<usize>),
    /// `specialize:argtype(i, ..)`: types of these arguments.
    ArgType(Vec<usize>),
    /// `specialize:arglistitemtype(i)`: type of the items of a list argument.
    ArgListItemType(usize),
    /// `specialize:call_location`
    CallLocation,
    /// `specialize:ll`: low-level types of all arguments, values of Void ones.
    LowLevel,
    /// `specialize:ll_and_arg(i, ..)`
    LowLevelAndArg(Vec<usize>),
    /// Not a tag of RPython's.
    Unknown(Box<str>),
}

impl Specialization {
    /// By the function's `_annspecialcase_`.
    pub(crate) fn of(f: &FunctionData) -> Specialization {
        match f.get("_annspecialcase_").and_then(|c| c.as_str()) {
            Some(tag) => Specialization::parse(tag),
            None => Specialization::Default,
        }
    }

    /// The names of all ways.
    pub(crate) const NAMES: [&str; 8] = [
        "memo",
        "arg",
        "arg_or_var",
        "argtype",
        "arglistitemtype",
        "call_location",
        "ll",
        "ll_and_arg",
    ];

    fn parse(tag: &str) -> Specialization {
        let name = tag.strip_prefix("specialize:").unwrap_or(tag);
        let (name, params) = match name.split_once('(') {
            Some((n, p)) => (n, p.trim_end_matches(')')),
            None => (name, ""),
        };
        let params: Vec<usize> = params
            .split(',')
            .filter_map(|p| p.trim().parse().ok())
            .collect();
        match name {
            "memo" => Specialization::Memo,
            "arg" => Specialization::Arg(params),
            "arg_or_var" => Specialization::ArgOrVar(params),
            "argtype" => Specialization::ArgType(params),
            "arglistitemtype" => {
                Specialization::ArgListItemType(params.first().copied().unwrap_or(0))
            }
            "call_location" => Specialization::CallLocation,
            "ll" => Specialization::LowLevel,
            "ll_and_arg" => Specialization::LowLevelAndArg(params),
            _ => Specialization::Unknown(tag.into()),
        }
    }
}
