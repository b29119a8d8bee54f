//! What residual functions and units are, for the log.

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use taipan_graph::{ExitCase, Operation, VarId};
use taipan_jit::engine::ResidualFunction;
use taipan_jit::{Note, Word, portal_of, type_name};
use taipan_lltype::{CodePlace, FuncSym, LLGraph, LowLevel};

use super::{Functions, NEVER, Point};
use crate::cells::load;
use crate::costs::{About, Costs, count_rounds};
use crate::engine::NativeJit;
use crate::listing::{Listing, greens_text, location, word_text};
use crate::log::{Stopwatch, micros, operations};
use crate::world::InProcess;

/// A unit that is being made, if somebody wants to know.
pub(super) struct Made {
    function: usize,
    hot: bool,
    listing: Listing,
    costs: Costs,
    /// Counters of its loops.
    rounds: Vec<usize>,
}

/// Data about a unit under construction.
struct Region<'a, 'p> {
    functions: &'a mut Functions<'p>,
    jit: &'a NativeJit<'p>,
    residual: Rc<ResidualFunction<'p>>,
}

impl About for Region<'_, '_> {
    fn note(&self, op: &Operation<LowLevel>) -> Option<Note> {
        self.residual.note(op).cloned()
    }

    fn origin(&self, op: &Operation<LowLevel>) -> Option<CodePlace> {
        self.residual.origin(op)
    }

    fn location(&mut self, portal: &FuncSym, greens: &[Word]) -> String {
        // Inlined functions have no portal of their own.
        let is_it = |f: &FuncSym| f == portal || portal_of(f) == Some(portal);
        let driver = self.jit.entered.iter().position(|d| is_it(&d.portal));
        match driver {
            Some(driver) => self.functions.location_in_code(self.jit, driver, greens),
            None => portal.name().to_owned(),
        }
    }
}

impl Made {
    /// It is a loop, with optimisations.
    pub(super) fn hot(self) -> Made {
        Made { hot: true, ..self }
    }
}

impl<'p> Functions<'p> {
    /// The program starts.
    pub(crate) fn begin(&mut self, jit: &NativeJit<'p>) {
        self.log.begin(|| {
            let drivers = jit.entered.iter().map(|d| {
                let types = |types: &[_]| types.iter().map(|t| type_name(*t)).collect::<Vec<_>>();
                let portal = jit.types.timeshifted(&d.portal);
                let names = portal.as_ref().map(|p| p.argument_names());
                let (green, red) = names.as_deref().unwrap_or_default().split_at(match &names {
                    Some(names) => d.greens.len().min(names.len()),
                    None => 0,
                });
                let deciding = portal.as_ref().map(|p| p.deciding_arguments());
                let deciding: Vec<bool> = deciding
                    .unwrap_or_default()
                    .into_iter()
                    .take(green.len())
                    .collect();
                let mut driver = json!({
                    "name": d.name,
                    "portal": d.portal.name(),
                    "greens": types(&d.greens),
                    "reds": types(&d.entry.args),
                    "green_names": green,
                    "red_names": red,
                    "deciding_greens": deciding,
                });
                let at = portal.as_ref().and_then(|p| p.merge_point());
                let func = d.portal.clone();
                if let Some(at) = at.and_then(|at| jit.types.line(&CodePlace { func, at }))
                    && let Value::Object(driver) = &mut driver
                {
                    driver.insert("file".to_owned(), (&*at.file).into());
                    driver.insert("line".to_owned(), at.line.into());
                }
                driver
            });
            drivers.collect()
        });
    }

    /// The program has ended.
    pub(crate) fn end(&mut self, jit: &NativeJit<'p>) {
        if !self.log.is_on() {
            return;
        }
        let counted = |word: usize| NEVER - load(word);
        for (unit, tally) in self.log.tallies().into_iter().enumerate() {
            let count = counted(tally);
            let rounds: Vec<u64> = self.log.rounds(unit).iter().map(|w| counted(*w)).collect();
            (self.log).event(
                "entered",
                || json!({"unit": unit, "count": count, "rounds": rounds}),
            );
        }
        for (driver, of) in jit.entered.iter().zip(jit.summaries()) {
            self.log.event("greens", || {
                json!({
                    "driver": driver.name,
                    "seen": of.seen,
                    "compiled": of.compiled,
                    "refused": of.refused,
                    "passed": of.passed,
                    "values": of.values,
                })
            });
        }
        let (units, hot) = (self.counts.units, self.counts.hot);
        self.log.end(units, hot, self.code.used());
    }

    /// Where greens are, in words.
    fn location(&mut self, jit: &NativeJit<'p>, driver: usize, greens: &[Word]) -> String {
        let key = (driver, greens.to_vec());
        if let Some(text) = self.locations.get(&key) {
            return text.clone();
        }
        let text = location(&mut self.world(jit), &jit.entered[driver], greens);
        self.locations.insert(key, text.clone());
        text
    }

    /// Where the greens of code are, in words.
    fn location_in_code(&mut self, jit: &NativeJit<'p>, driver: usize, greens: &[Word]) -> String {
        let entered = &jit.entered[driver];
        if entered.compiles_ahead && !self.locations.contains_key(&(driver, greens.to_vec())) {
            return greens_text(&mut self.world(jit), entered, greens);
        }
        self.location(jit, driver, greens)
    }

    /// A residual function was started.
    pub(super) fn log_function(
        &mut self,
        jit: &NativeJit<'p>,
        (number, driver): (usize, usize),
        greens: &[Word],
        count: i64,
        took: Duration,
    ) {
        if !self.log.is_on() {
            return;
        }
        let location = self.location(jit, driver, greens);
        let types = greens.iter().zip(&jit.entered[driver].greens);
        let words: Vec<String> = (types)
            .map(|(w, ty)| word_text(&mut self.world(jit), *w, *ty))
            .collect();
        let cpu = self.log.cpu();
        self.log.event("function", || {
            json!({
                "greens": words,
                "passed": jit.account.passed(),
                "cpu_us": micros(cpu),
                "function": number,
                "driver": jit.entered[driver].name,
                "portal": jit.entered[driver].portal.name(),
                "location": location,
                "count": count,
                "specialise_us": micros(took),
            })
        });
    }

    /// A loop stays interpreted.
    pub(crate) fn log_refused(
        &mut self,
        jit: &NativeJit<'p>,
        driver: usize,
        greens: &[Word],
        why: &str,
    ) {
        if !self.log.is_on() {
            return;
        }
        let location = self.location(jit, driver, greens);
        let name = &jit.entered[driver].name;
        (self.log).event(
            "refused",
            || json!({"driver": name, "location": location, "why": why}),
        );
    }

    /// The specialiser went on at a stub.
    pub(super) fn log_grown(
        &mut self,
        jit: &NativeJit<'p>,
        (function, stub): (usize, usize),
        value: Option<(Word, VarId)>,
        started: Stopwatch,
    ) {
        if !self.log.is_on() {
            return;
        }
        let took = started.elapsed();
        let value = value.map(|(w, v)| {
            let ty = *self.functions[function].residual.graph().ty(v);
            word_text(&mut self.world(jit), w, ty)
        });
        let mut event = json!({
            "function": function,
            "stub": stub,
            "value": value,
            "specialise_us": micros(took),
        });
        if let (Some((waits, place)), Value::Object(event)) = (
            self.functions[function].residual.promotion(stub),
            &mut event,
        ) {
            event.insert("what".to_owned(), waits.of.name().into());
            event.insert("green".to_owned(), waits.green.into());
            if let Some(at) = place.and_then(|place| jit.types.line(&place)) {
                event.insert("file".to_owned(), (&*at.file).into());
                event.insert("line".to_owned(), at.line.into());
            }
        }
        self.log.event("grown", || event);
    }

    /// What a case of a promotion is for.
    pub(super) fn log_case(
        &mut self,
        jit: &NativeJit<'p>,
        cell: usize,
        stub: usize,
        case: &ExitCase<LowLevel>,
    ) {
        if !self.log.is_on() {
            return;
        }
        let value = match case {
            ExitCase::Value(c) => {
                let world: &mut InProcess<'_, '_> = &mut self.world(jit);
                let w = taipan_jit::World::word(world, c);
                word_text(world, w, c.ty())
            }
            ExitCase::Bool(b) => (if *b { "True" } else { "False" }).to_owned(),
            _ => return,
        };
        let reason = || format!("{value} was promoted at stub {stub}");
        self.log.first_reason(cell, reason);
    }

    /// A unit as text, before it becomes machine code. The time that this takes is left out.
    pub(super) fn log_listing(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        graph: &mut LLGraph,
        started: &mut Stopwatch,
    ) -> Option<Made> {
        if !self.log.is_on() {
            return None;
        }
        let own = self.log.stopwatch();
        let residual = self.functions[function].residual.clone();
        let mut exits = Vec::new();
        let mut region = Region {
            functions: self,
            jit,
            residual,
        };
        let listing = Listing::new(graph, &mut region, |cell| {
            exits.push(cell);
            format!("{{{}}}", exits.len() - 1)
        });
        let costs = Costs::new(graph, jit.types, &jit.program, &mut region);
        let words = costs.loops.iter().map(|_| self.words.new_word(NEVER));
        let rounds: Vec<usize> = words.collect();
        count_rounds(graph, &costs.loops, &rounds);
        let mut made = Made {
            function,
            hot: false,
            listing,
            costs,
            rounds,
        };
        for (i, cell) in exits.into_iter().enumerate() {
            let name = self.cell_name(cell);
            for line in &mut made.listing.code {
                if let Some(start) = line.strip_suffix(&format!("{{{i}}}")) {
                    *line = format!("{start}{name}");
                }
            }
        }
        started.leave_out(own.elapsed());
        Some(made)
    }

    /// What a cell leads to, in words.
    fn cell_name(&self, cell: usize) -> String {
        let Some(c) = self.cells.get(&cell) else {
            return "the compiler".to_owned();
        };
        match (c.point, self.log.unit(cell)) {
            (Point::Stub(n), None) if c.promotes => format!("stub {n}, which waits for a value"),
            (Point::Stub(n), None) => format!("stub {n}"),
            (Point::Default(n), _) => format!("stub {n}, with another value"),
            (_, Some(unit)) => format!("unit {unit}"),
            (Point::Block(_), None) => "what is not compiled yet".to_owned(),
            (Point::Portal, None) => "another loop".to_owned(),
            (Point::Hot(_) | Point::Again(_), None) => "the compiler: this is hot".to_owned(),
        }
    }

    /// A unit was made, for a cell.
    pub(super) fn log_unit(
        &mut self,
        jit: &NativeJit<'p>,
        made: Option<Made>,
        graph: &LLGraph,
        (cell, at, bytes): (usize, usize, usize),
        started: Stopwatch,
    ) {
        let Some(made) = made else { return };
        let took = started.elapsed();
        self.log.compiled(took);
        let assembly = self.log.wants_assembly().then(|| {
            let compiler = match made.hot {
                true => &mut self.speed,
                false => &mut self.quick,
            };
            let text = compiler.unit_asm(&jit.program, &graph.name, graph, &self.names);
            let text = text.unwrap_or_default();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        let (unit, why) = self.log.new_unit(cell);
        self.log.count_rounds_by(unit, made.rounds);
        let mut event = json!({
            "function": made.function,
            "unit": unit,
            "kind": if made.hot { "loop" } else { "quick" },
            "why": why,
            "blocks": graph.reachable().len(),
            "operations": operations(graph),
            "bytes": bytes,
            "address": format!("{at:#x}"),
            "compile_us": micros(took),
            "merge_points": made.listing.merge_points,
            "loops": made.costs.loops.iter().map(|l| l.1).collect::<Vec<_>>(),
            "outside": made.costs.outside,
            "forced": made.costs.objects,
            "calls": made.costs.calls,
            "reads": made.costs.reads,
            "code": made.listing.code,
        });
        if let (Some(assembly), Value::Object(event)) = (assembly, &mut event) {
            event.insert("assembly".to_owned(), assembly.into());
        }
        self.log.event("unit", || event);
    }
}
