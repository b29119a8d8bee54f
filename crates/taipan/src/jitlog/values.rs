//! Values that code is specialised for: promotions and greens.

use std::collections::BTreeMap;

use super::advise::{Advice, weight};
use super::remedies;
use super::totals::{Totals, share};
use super::{Driver, Grown, Log, Step};

/// Minimum number of values of a reported promotion or green.
const MANY_VALUES: usize = 8;

/// A green prevents compilation if it has at least this number of values, and at most this number of visits per
/// value.
const MOST_CHANGING: u64 = 200;
const SELDOM: u64 = 50;

/// Promotions with many values.
pub(super) fn promotions(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    let mut places: BTreeMap<_, (Vec<&str>, u64, &Grown)> = BTreeMap::new();
    for function in &log.functions {
        for step in &function.story {
            let Step::Grown(_, grown) = step else {
                continue;
            };
            let (Some(what), Some(value)) = (grown.what.as_deref(), &grown.value) else {
                continue;
            };
            if matches!(what, "callee" | "result") {
                continue;
            }
            let green = grown.green.map(|g| (function.driver.as_str(), g));
            let place = (what, green, grown.file.as_deref(), grown.line);
            let (values, took, _) = places.entry(place).or_insert((Vec::new(), 0, grown));
            values.push(value);
            *took += grown.specialise_us;
        }
    }
    for ((what, green, ..), (mut values, took, grown)) in places {
        values.sort_unstable();
        values.dedup();
        if values.len() < MANY_VALUES {
            continue;
        }
        // Each value has separate units, whose share of the compile time is unknown.
        let part = share(took, totals.specialising);
        let compiling = (part * totals.compiling as f64) as u64 + took;
        let green = green.and_then(|(driver, i)| log.green_name(driver, i));
        let said = remedies::promotion(what, green, values.len(), &values, compiling);
        out.push(Advice {
            kind: "promotion",
            file: grown.file.clone(),
            line: grown.line,
            what: said.what,
            why: said.why,
            remedy: said.remedy,
            share: share(compiling, totals.cpu),
            weight: compiling as f64 * weight::MICROSECOND,
            ..Advice::default()
        });
    }
}

/// Greens whose values distinguish identical places of the interpreted program.
pub(super) fn greens(log: &Log, totals: &Totals, out: &mut Vec<Advice>) {
    for of in &log.greens {
        let Some(driver) = log.drivers.iter().find(|d| d.name == of.driver) else {
            continue;
        };
        let place = Advice {
            kind: "green",
            file: driver.file.clone(),
            line: driver.line,
            function: driver.function(),
            ..Advice::default()
        };
        let name = |i| {
            log.green_name(&of.driver, i)
                .unwrap_or_else(|| i.to_string())
        };
        let interpreted = of.seen - of.compiled - of.refused;
        let seldom = of.passed / interpreted.max(1);
        let changing = (0..of.values.len()).max_by_key(|i| of.values[*i]);
        if let Some(i) = changing
            && !driver.decides(i)
            && of.values[i] >= MOST_CHANGING
            && 2 * of.values[i] >= of.seen
            && seldom < SELDOM
        {
            let said = remedies::green_interpreted(&name(i), of, seldom);
            out.push(Advice {
                what: said.what,
                why: said.why,
                remedy: said.remedy,
                times: Some(of.passed),
                share: share(of.passed, totals.rounds + totals.passed),
                weight: of.passed as f64 * weight::INTERPRETED,
                ..place.clone()
            });
        }
        for i in (0..driver.greens.len()).filter(|i| !driver.decides(*i)) {
            let Some((count, cost)) = same_code(log, driver, i) else {
                continue;
            };
            let said = remedies::green_compiled(&name(i), count, cost);
            out.push(Advice {
                what: said.what,
                why: said.why,
                remedy: said.remedy,
                share: share(cost, totals.cpu),
                weight: cost as f64 * weight::MICROSECOND,
                ..place.clone()
            });
        }
    }
}

/// Number of values of one green with code that is identical except for constants, and the compile time.
fn same_code(log: &Log, driver: &Driver, green: usize) -> Option<(usize, u64)> {
    let mut groups: BTreeMap<Vec<&str>, Vec<(String, u64)>> = BTreeMap::new();
    let functions = log.functions.iter().filter(|f| f.driver == driver.name);
    for f in functions.filter(|f| f.greens.len() > green) {
        let mut others: Vec<&str> = f.greens.iter().map(|g| &**g).collect();
        others.remove(green);
        let first = f.units().next();
        let code = first
            .map(|u| without_constants(&u.code))
            .unwrap_or_default();
        let cost = f.specialise_us + f.units().map(|u| u.compile_us).sum::<u64>();
        groups.entry(others).or_default().push((code, cost));
    }
    let mut best: Option<(usize, u64)> = None;
    for functions in groups.values().filter(|f| f.len() >= MANY_VALUES) {
        let mut codes: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for (code, cost) in functions {
            let entry = codes.entry(code).or_default();
            entry.0 += 1;
            entry.1 += cost;
        }
        let most = codes.values().max().copied();
        if let Some((count, cost)) = most.filter(|m| m.0 * 2 > functions.len()) {
            let (counts, costs) = best.unwrap_or_default();
            best = Some((counts + count, costs + cost));
        }
    }
    best.filter(|b| b.0 >= MANY_VALUES)
}

/// Lines of code without numbers and addresses.
fn without_constants(code: &[String]) -> String {
    let mut out = String::new();
    for line in code.iter().filter(|l| !l.trim_start().starts_with('#')) {
        let line = line.split("    # to ").next().unwrap_or_default();
        let mut digits = false;
        for c in line.chars() {
            let is_digit = c.is_ascii_digit() || digits && c.is_ascii_hexdigit();
            if !(is_digit && digits) {
                out.push(if is_digit { '#' } else { c });
            }
            digits = is_digit;
        }
        out.push('\n');
    }
    out
}
