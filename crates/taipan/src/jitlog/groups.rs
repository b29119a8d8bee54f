//! Costs of all units, grouped by the thing that the author of the interpreter can change.

use std::collections::BTreeMap;

use super::advise::Advice;
use super::remedies;
use super::totals::{Totals, share};
use super::{Cost, Log, Unit};

/// A line of a file.
type Place<'a> = (Option<&'a str>, Option<u64>);

/// The places of one cost.
#[derive(Default)]
pub(super) struct Group<'a> {
    pub(super) times: f64,
    /// Rounds and entries of the loops and units that contain it.
    rounds: u64,
    /// Frequency per round in the most expensive loop.
    pub(super) per_round: u64,
    each_round: bool,
    pub(super) places: BTreeMap<Place<'a>, (f64, &'a Cost)>,
    locations: BTreeMap<&'a str, f64>,
    most: u64,
    /// It was hoisted out of that loop.
    pub(super) is_before: bool,
}

impl<'a> Group<'a> {
    fn add(&mut self, cost: &'a Cost, rounds: u64) {
        let times = cost.count as f64 * rounds as f64;
        // It is unknown in which rounds.
        let times = if cost.each_round == Some(false) {
            times / 2.0
        } else {
            times
        };
        self.times += times;
        let place = (cost.file.as_deref(), cost.line);
        let place = self.places.entry(place).or_insert((0.0, cost));
        place.0 += times;
        *self.locations.entry(&cost.location).or_default() += times;
    }

    pub(super) fn cost(&self) -> Option<&'a Cost> {
        let most = self.places.values().max_by(|a, b| a.0.total_cmp(&b.0));
        most.map(|m| m.1)
    }

    pub(super) fn advice(&self, kind: &'static str, totals: &Totals, weight: f64) -> Advice {
        let mut advice = Advice {
            kind,
            other_places: self.places.len().saturating_sub(1),
            times: Some(self.times as u64),
            share: share(self.rounds, totals.rounds),
            weight: self.times * weight,
            ..Advice::default()
        };
        if let Some(cost) = self.cost() {
            advice.file.clone_from(&cost.file);
            advice.line = cost.line;
            advice.function.clone_from(&cost.function);
        }
        let location = self.locations.iter().max_by(|a, b| a.1.total_cmp(b.1));
        advice.location = location
            .map(|l| (*l.0).to_owned())
            .filter(|l| !l.is_empty());
        advice
    }

    /// Frequency in words.
    pub(super) fn often(&self, totals: &Totals) -> String {
        let rounds = remedies::number(self.rounds);
        let part = remedies::percent(share(self.rounds, totals.rounds));
        let each = match (self.each_round, self.per_round) {
            (_, 1) if self.is_before => "once before loops".to_owned(),
            (_, n) if self.is_before => format!("{n} times before loops"),
            (true, 1) => "once in each round".to_owned(),
            (true, n) => format!("{n} times in each round"),
            (false, 1) => "in some rounds".to_owned(),
            (false, n) => format!("up to {n} times a round"),
        };
        format!("{each}: {rounds} rounds, {part} of all")
    }
}

/// Costs by group.
pub(super) struct Groups<'a, K>(pub(super) BTreeMap<K, Group<'a>>);

impl<'a, K: Ord + Clone> Groups<'a, K> {
    /// Groups the costs of a kind by key. Costs without a key are skipped.
    pub(super) fn new(
        log: &'a Log,
        of: impl Fn(&'a Unit) -> &'a [Cost],
        rounds: impl Fn(&'a Unit, Option<usize>) -> u64,
        key: impl Fn(&'a Cost) -> Option<K>,
    ) -> Self {
        let mut groups: BTreeMap<K, Group<'a>> = BTreeMap::new();
        for unit in log.units() {
            // Frequency per round, by loop.
            let mut each: BTreeMap<(K, Option<usize>), (u64, bool)> = BTreeMap::new();
            for cost in of(unit) {
                let Some(key) = key(cost) else { continue };
                let rounds = rounds(unit, cost.in_loop);
                let entry = each.entry((key.clone(), cost.in_loop));
                let (count, always) = entry.or_insert((0, true));
                *count += cost.count;
                *always &= cost.each_round == Some(true);
                groups.entry(key).or_default().add(cost, rounds);
            }
            let mut sums: BTreeMap<K, u64> = BTreeMap::new();
            for ((key, at), (count, always)) in each {
                let group = groups.entry(key.clone()).or_default();
                let rounds = rounds(unit, at);
                *sums.entry(key).or_default() += rounds;
                // Prefer occurrences in loops.
                if rounds > group.most || rounds == group.most && at.is_some() {
                    group.most = rounds;
                    (group.per_round, group.each_round) = (count, always);
                    group.is_before = at.is_none() && rounds > log.rounds(unit, None);
                }
            }
            for (key, rounds) in sums {
                let all = log.all_rounds(unit);
                groups.entry(key).or_default().rounds += rounds.min(all);
            }
        }
        Groups(groups)
    }
}
