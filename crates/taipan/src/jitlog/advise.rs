//! `taipan jitlog --advise`: the most expensive places, with causes and remedies.
//!
//! The log has the costs of compiled code by unit and loop, and the rounds of each loop. The report adds them up over
//! all units, grouped by the thing that the author can change: a called function, an allocated class, fields.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::groups::Groups;
use super::totals::{Totals, share};
use super::{Cost, Log, Unit};
use super::{remedies, values};

/// Number of places in the report.
const MOST: usize = 10;

/// Minimum share of a place in the report.
const LEAST: f64 = 0.005;

/// Minimum share of CPU time.
const LEAST_TIME: f64 = 0.02;

/// Number of reads of an object per round that makes promoting the object worthwhile.
const LEAST_READS: u64 = 3;

/// Estimated costs in plain operations; they only determine the order of places.
pub(super) mod weight {
    pub(in super::super) const CALL: f64 = 30.0;
    pub(in super::super) const OBJECT: f64 = 10.0;
    /// A read of a value that could be known, with the tests that depend on it.
    pub(in super::super) fn of_field(is_before: bool) -> f64 {
        if is_before { 1.0 } else { 4.0 }
    }
    pub(in super::super) const READ: f64 = 2.0;
    /// An entry of a unit without optimisations.
    pub(in super::super) const QUICK: f64 = 30.0;
    /// A visit of the interpreter, and a microsecond.
    pub(in super::super) const INTERPRETED: f64 = 300.0;
    pub(in super::super) const MICROSECOND: f64 = 2000.0;
}

/// A place with a cost.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Advice {
    /// Kind of the cost.
    pub(super) kind: &'static str,
    /// Place in the interpreter.
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    pub(super) function: Option<String>,
    /// Location in the interpreted program (`get_printable_location`).
    pub(super) location: Option<String>,
    /// Number of other places.
    pub(super) other_places: usize,
    /// Description with frequency.
    pub(super) what: String,
    pub(super) why: String,
    pub(super) remedy: String,
    /// Number of times, if known.
    pub(super) times: Option<u64>,
    /// Share of all rounds and entries, or of CPU time.
    pub(super) share: f64,
    /// Sort key.
    #[serde(skip)]
    pub(super) weight: f64,
}

/// The report on a run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) seconds: Option<f64>,
    /// Rounds of loops and entries of units, and the part of them in quick units.
    pub(super) rounds: u64,
    pub(super) quick_share: f64,
    pub(super) faults: Vec<String>,
    pub(super) advice: Vec<Advice>,
}

/// The advice, most expensive place first.
pub(super) fn report(log: &Log) -> Report {
    let totals = Totals::new(log);
    let mut advice = Vec::new();
    calls(log, &totals, &mut advice);
    objects(log, &totals, &mut advice);
    fields(log, &totals, &mut advice);
    values::promotions(log, &totals, &mut advice);
    values::greens(log, &totals, &mut advice);
    quick(log, &totals, &mut advice);
    refused(log, &totals, &mut advice);
    nothing(log, &totals, &mut advice);
    compile_time(log, &totals, &mut advice);
    let counted = advice.iter().filter(|a| !a.is_time());
    let all = totals.work + counted.map(|a| a.weight).sum::<f64>();
    advice.retain(|a| {
        if a.is_time() {
            a.share >= LEAST_TIME
        } else {
            a.weight >= all * LEAST
        }
    });
    advice.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    advice.truncate(MOST);
    Report {
        seconds: log.end.as_ref().map(|end| end.at),
        rounds: totals.rounds,
        quick_share: share(totals.quick, totals.rounds),
        faults: faults(log),
        advice,
    }
}

/// Faults of the compiler.
pub(super) fn faults(log: &Log) -> Vec<String> {
    Totals::new(log).fault(log).into_iter().collect()
}

fn calls(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    let key = |c: &Cost| {
        let why = c.why.as_deref();
        let own = c.callee.as_ref().is_some_and(|f| f.starts_with("rpy_"));
        // The interpreter calls itself for calls of the interpreted program.
        (why != Some("portal") && !own).then(|| (c.callee.clone(), c.targets.clone()))
    };
    for group in Groups::new(log, |u| &u.calls, |u, l| log.rounds(u, l), key)
        .0
        .values()
    {
        let Some(cost) = group.cost() else { continue };
        let Some(said) = remedies::call(cost, &group.often(totals)) else {
            continue;
        };
        out.push(Advice {
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            ..group.advice("call", totals, weight::CALL)
        });
    }
}

fn objects(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    // Frequent exits to the interpreter are compiled after a while.
    let stays = |c: &Cost| c.why.as_deref() != Some("left to the interpreter");
    let key = |c: &Cost| stays(c).then(|| (c.r#type.clone(), c.why.clone()));
    let groups = Groups::new(log, |u| &u.forced, |u, l| log.rounds(u, l), key).0;
    // An object allocated as part of another one is counted with that.
    let mut most: BTreeMap<&str, (f64, &Key)> = BTreeMap::new();
    for (key, group) in &groups {
        let entry = most.entry(key.0.as_deref().unwrap_or_default());
        let entry = entry.or_insert((group.times, key));
        if group.times > entry.0 {
            *entry = (group.times, key);
        }
    }
    let around = |key: &Key| -> Option<&Key> {
        let container = key
            .1
            .as_deref()?
            .strip_prefix("stored into ")?
            .split_once(" of ")?
            .1;
        let around = most.get(container)?;
        (around.1.0 != key.0).then_some(around.1)
    };
    let mut parts: BTreeMap<&Key, (f64, Vec<&str>)> = BTreeMap::new();
    for (key, group) in &groups {
        let (mut root, mut steps) = (key, 0);
        while let Some(next) = around(root).filter(|_| steps < groups.len()) {
            (root, steps) = (next, steps + 1);
        }
        if steps > 0 && steps < groups.len() {
            let entry = parts.entry(root).or_default();
            entry.0 += group.times;
            entry.1.extend(key.0.as_deref());
        }
    }
    for (key, group) in groups.iter().filter(|g| around(g.0).is_none()) {
        let Some(cost) = group.cost() else { continue };
        let (times, inside) = parts.remove(key).unwrap_or_default();
        let said = remedies::object(cost, &group.often(totals), &inside);
        let advice = group.advice("object", totals, weight::OBJECT);
        out.push(Advice {
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            weight: advice.weight + times * weight::OBJECT,
            ..advice
        });
    }
}

/// The type of an object that is made, and why.
type Key = (Option<String>, Option<String>);

/// Fields that could be known, and objects that could be.
fn fields(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    let known = |c: &Cost| c.known || c.follows;
    let missing = |c: &Cost| (!c.immutable && known(c)).then(|| c.class.clone());
    // An operation hoisted out of a loop counts for the loop.
    let rounds = |u: &Unit, at: Option<usize>| match (at, u.loops.len()) {
        (None, 1) => log.all_rounds(u),
        _ => log.rounds(u, at),
    };
    for (class, group) in &Groups::new(log, |u| &u.reads, rounds, missing).0 {
        let fields = field_names(log, |c| c.class == *class && !c.immutable && known(c));
        let said = remedies::fields(class, &fields, &group.often(totals));
        out.push(Advice {
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            ..group.advice("field", totals, weight::of_field(group.is_before))
        });
    }
    // Classes allocated by compiled code have too many instances for a promotion.
    let made: Vec<&str> = (log.units())
        .flat_map(|u| &u.forced)
        .filter_map(|c| c.r#type.as_deref())
        .collect();
    let unknown = |c: &Cost| c.immutable && !known(c) && !made.contains(&&*c.class);
    let class = |c: &Cost| unknown(c).then(|| c.class.clone());
    for (class, group) in &Groups::new(log, |u| &u.reads, |u, l| log.rounds(u, l), class).0 {
        // Boxes of numbers, and objects with few reads.
        let is_deep = group.places.values().any(|(_, cost)| cost.deep);
        if !is_deep || group.per_round < LEAST_READS {
            continue;
        }
        let fields = field_names(log, |c| c.class == *class && unknown(c));
        let said = remedies::promote(class, &fields, &group.often(totals));
        out.push(Advice {
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            ..group.advice("promote", totals, weight::READ)
        });
    }
}

/// Fields of the reads of a kind, most frequent first.
fn field_names(log: &Log, wanted: impl Fn(&Cost) -> bool) -> Vec<&Cost> {
    let mut names: BTreeMap<&str, (f64, &Cost)> = BTreeMap::new();
    for unit in log.units() {
        for cost in unit.reads.iter().filter(|c| wanted(c)) {
            let entry = names.entry(&cost.field).or_insert((0.0, cost));
            entry.0 += (cost.count * log.rounds(unit, cost.in_loop)) as f64;
        }
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    names.into_iter().map(|(_, (_, cost))| cost).collect()
}

/// Frequently entered code without optimisations.
fn quick(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    if !totals.is_quick() {
        return;
    }
    let entries = |f: &super::Function| -> u64 {
        let quick = f.units().filter(|u| u.kind != "loop");
        quick.map(|u| log.all_rounds(u)).sum()
    };
    let Some(most) = log.functions.iter().max_by_key(|f| entries(f)) else {
        return;
    };
    let unit = most.units().filter(|u| u.kind != "loop");
    let unit = unit.max_by_key(|u| log.all_rounds(u));
    let location = unit
        .and_then(|u| u.merge_points.first())
        .unwrap_or(&most.location);
    let said = remedies::quick(
        totals.quick,
        share(totals.quick, totals.rounds),
        totals.seconds,
    );
    out.push(Advice {
        kind: "quick",
        location: Some(location.clone()),
        other_places: log.functions.iter().filter(|f| entries(f) > 0).count() - 1,
        what: said.what,
        why: said.why,
        remedy: said.remedy,
        times: Some(totals.quick),
        share: share(totals.quick, totals.rounds),
        weight: totals.quick as f64 * weight::QUICK,
        ..Advice::default()
    });
}

/// Loops that stay interpreted.
fn refused(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    let mut whys: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for r in &log.refused {
        whys.entry(&r.why).or_default().push(&r.location);
    }
    for (why, locations) in whys {
        let said = remedies::refused(locations.len(), why);
        out.push(Advice {
            kind: "refused",
            location: Some(locations[0].to_owned()),
            other_places: locations.len() - 1,
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            // Later visits of these are not counted.
            weight: totals.work,
            ..Advice::default()
        });
    }
}

/// Advice for a run without compiled code, unless changing greens are the cause.
fn nothing(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    let changing = out.iter().any(|a| a.kind == "green");
    if !log.functions.is_empty() || !log.refused.is_empty() || changing {
        return;
    }
    for of in &log.greens {
        let Some(driver) = log.drivers.iter().find(|d| d.name == of.driver) else {
            continue;
        };
        let said = remedies::nothing(of, totals.cpu);
        out.push(Advice {
            kind: "interpreted",
            file: driver.file.clone(),
            line: driver.line,
            function: driver.function(),
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            times: Some(of.passed),
            share: 1.0,
            weight: totals.cpu as f64 * weight::MICROSECOND,
            ..Advice::default()
        });
    }
}

/// Functions whose compile time exceeds the time saved.
fn compile_time(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    let Some(pace) = totals.pace else { return };
    let (mut cost, mut saved, mut slow) = (0, 0.0, Vec::new());
    for f in &log.functions {
        let took = f.specialise_us + f.units().map(|u| u.compile_us).sum::<u64>();
        let passes = |u: &Unit| log.all_rounds(u) * u.merge_points.len().max(1) as u64;
        let rounds: u64 = f.units().map(passes).sum();
        let most = rounds as f64 * pace;
        if most < took as f64 {
            cost += took;
            saved += most;
            slow.push((took, f));
        }
    }
    let Some((_, first)) = slow.iter().max_by_key(|s| s.0) else {
        return;
    };
    let part = share(cost, totals.cpu);
    let said = remedies::compile_time(slow.len(), cost, saved as u64, part);
    out.push(Advice {
        kind: "compile",
        location: Some(first.location.clone()),
        other_places: slow.len() - 1,
        what: said.what,
        why: said.why,
        remedy: said.remedy,
        share: part,
        weight: (cost as f64 - saved) * weight::MICROSECOND,
        ..Advice::default()
    });
}

impl Report {
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for fault in &self.faults {
            let _ = writeln!(out, "fault: {fault}\n");
        }
        let Some(_) = self.seconds else {
            return out + "the program did not end by itself: nobody counted entries\n";
        };
        if self.advice.is_empty() {
            out.push_str("nothing costs much\n");
        }
        for (i, advice) in self.advice.iter().enumerate() {
            advice.text(i + 1, &mut out);
        }
        out
    }
}

impl Advice {
    /// Whether the cost is a measured time, not a count.
    fn is_time(&self) -> bool {
        self.times.is_none() && self.kind != "refused"
    }

    fn text(&self, number: usize, out: &mut String) {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => Some(format!("{}:{line}", super::shown(file))),
            _ => None,
        };
        let function = self.function.as_ref().map(|f| format!("in {f}"));
        let location = self.location.as_ref().map(|l| format!("at {l:?}"));
        let others = match self.other_places {
            0 => None,
            1 => Some("and one other place".to_owned()),
            n => Some(format!("and {n} other places")),
        };
        let place: Vec<String> = [place, function, location, others]
            .into_iter()
            .flatten()
            .collect();
        let _ = writeln!(out, "{number}. {}", place.join(", "));
        if let Some(line) = self.source_line() {
            let _ = writeln!(out, "       {line}");
        }
        for (name, text) in [
            ("what", &self.what),
            ("why", &self.why),
            ("do", &self.remedy),
        ] {
            let _ = writeln!(out, "   {:<5} {text}", format!("{name}:"));
        }
        out.push('\n');
    }

    /// The source line, if the file can be read.
    fn source_line(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.file.as_ref()?).ok()?;
        let line = text.lines().nth((self.line? as usize).checked_sub(1)?)?;
        Some(line.trim().to_owned())
    }
}
