//! Call shapes of specialisations that call sites with several callees share.
//!
//! Such a call site passes one list of arguments, whichever function it reaches: positional
//! arguments, then keywords. Each callee has a specialisation that takes exactly that list. It
//! assigns the arguments to its own parameters and fills in its own default values (RPython:
//! `normalize_calltable_row_signature`).

use std::fmt::Write as _;

use smallvec::SmallVec;
use taipan_flow::Signature;
use taipan_graph::Const;

use super::Cx;
use super::args::Arguments;
use crate::facts::{FuncInfo, Known};
use crate::val::Val;
use crate::{ArgSource, Desc, Descs};

/// The parameter that each argument of a call belongs to, by position.
type Parameters = SmallVec<[u32; 6]>;

/// Which named parameters callers of a specialisation pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Passed {
    /// All, in order.
    All,
    /// Some, or all in another order. The others have their default values.
    Some(Parameters),
}

/// Precedes the parameters in the key of a specialisation that is not passed all of them.
const PREFIX: &str = "passed:";

impl Passed {
    /// That of the specialisation with a key.
    pub(crate) fn of_key(key: &str) -> Passed {
        match key.strip_prefix(PREFIX).and_then(|k| k.split_once(' ')) {
            Some((list, _)) => {
                let list = list.split(',').filter_map(|n| n.parse().ok());
                Passed::Some(list.collect())
            }
            None => Passed::All,
        }
    }

    /// That of a call which passes a callee these arguments. They stay, in the order in which
    /// all callees of the call take them.
    pub(super) fn of_call(inputs: &mut Vec<(ArgSource, Val)>, order: &[ArgSource]) -> Passed {
        let named = inputs.len();
        let mut given: Vec<(u32, (ArgSource, Val))> = std::mem::take(inputs)
            .into_iter()
            .enumerate()
            .filter(|(_, (source, _))| !matches!(source, ArgSource::Default(_)))
            .map(|(i, input)| (i as u32, input))
            .collect();
        given.sort_by_key(|(_, (source, _))| order.iter().position(|o| o == source));
        let parameters: Parameters = given.iter().map(|(i, _)| *i).collect();
        inputs.extend(given.into_iter().map(|(_, input)| input));
        if parameters.iter().copied().eq(0..named as u32) {
            Passed::All
        } else {
            Passed::Some(parameters)
        }
    }

    /// The key of the specialisation whose remaining part is `key`.
    pub(super) fn key(&self, key: String) -> String {
        let Passed::Some(list) = self else {
            return key;
        };
        let mut out = PREFIX.to_owned();
        for (i, n) in list.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            let _ = write!(out, "{separator}{n}");
        }
        out.push(' ');
        out += &key;
        out
    }

    /// How many of the named parameters are passed.
    pub(crate) fn count(&self, named: usize) -> usize {
        match self {
            Passed::All => named,
            Passed::Some(list) => list.len(),
        }
    }

    /// The argument that a parameter gets; none if that is its default value.
    pub(crate) fn argument_of(&self, parameter: usize) -> Option<usize> {
        match self {
            Passed::All => Some(parameter),
            Passed::Some(list) => list.iter().position(|p| *p as usize == parameter),
        }
    }

    /// The parameter that gets an argument.
    pub(crate) fn parameter_of(&self, argument: usize) -> usize {
        match self {
            Passed::All => argument,
            Passed::Some(list) => list.get(argument).map_or(usize::MAX, |p| *p as usize),
        }
    }
}

/// The default value of one of `named` parameters.
pub(crate) fn default_of(defaults: &[Const], named: usize, parameter: usize) -> Option<&Const> {
    defaults.get((parameter + defaults.len()).checked_sub(named)?)
}

/// How many arguments callers pass to a specialisation, `*args` one by one.
pub(crate) fn arg_count(info: &FuncInfo, key: &str) -> u32 {
    let params = &info.params;
    let stars = if params.varargs { star_count(key) } else { 0 };
    (Passed::of_key(key).count(params.argnames.len()) + stars) as u32
}

/// How many `*args` a specialisation takes.
pub(crate) fn star_count(key: &str) -> usize {
    key.rsplit_once('*')
        .and_then(|(_, n)| n.parse().ok())
        .unwrap_or(0)
}

impl Cx<'_> {
    /// Arguments for several callees: keywords are in the order of the parameters if the
    /// callees agree on it, so that a call that passes all needs no specialisation. Otherwise
    /// they stay sorted by name.
    pub(super) fn in_common_order(
        &mut self,
        descs: &Descs,
        mut args: Arguments,
    ) -> Known<Arguments> {
        if args.keywords.len() < 2 {
            return Ok(args);
        }
        let params = self.for_all(descs.iter(), |cx, d| cx.parameters(d))?;
        let mut sorted: Option<Vec<usize>> = None;
        for params in params.into_iter().flatten() {
            let place = |i: &usize| {
                let (name, ..) = &args.keywords[*i];
                params.argnames.iter().position(|n| n == name)
            };
            let mut order: Vec<usize> = (0..args.keywords.len()).collect();
            order.sort_by_key(place);
            if *sorted.get_or_insert_with(|| order.clone()) != order {
                return Ok(args);
            }
        }
        if let Some(order) = sorted {
            args.keywords = order.iter().map(|i| args.keywords[*i].clone()).collect();
        }
        Ok(args)
    }

    /// The parameters of the function that a call of a member of a PBC reaches.
    fn parameters(&mut self, desc: &Desc) -> Known<Option<Signature>> {
        let func = match desc {
            Desc::Function(func) | Desc::Method { func, .. } | Desc::FrozenMethod { func, .. } => {
                Some(*func)
            }
            Desc::Class(class) => match self.facts.lookup(*class, "__init__")? {
                Some((_, Const::Obj(init))) => Some(init),
                _ => None,
            },
            Desc::Frozen(_) => None,
        };
        let Some(func) = func else { return Ok(None) };
        Ok(self.facts.function(func)?.map(|info| info.params.clone()))
    }
}
