//! What residual functions and units are, for the log.

use std::time::Duration;

use serde_json::{Value, json};
use taipan_graph::{ExitCase, VarId};
use taipan_jit::engine::Entered;
use taipan_jit::{Word, type_name};
use taipan_lltype::{LLGraph, LowLevel};

use super::{Functions, NEVER, Point};
use crate::cells::load;
use crate::engine::NativeJit;
use crate::listing::{Listing, greens_text, location, word_text};
use crate::log::{Stopwatch, micros, operations};
use crate::world::InProcess;

/// A unit that is being made, if somebody wants to know.
pub(super) struct Made {
    function: usize,
    hot: bool,
    listing: Listing,
}

impl Made {
    /// It is a loop, with optimisations.
    pub(super) fn hot(self) -> Made {
        Made { hot: true, ..self }
    }
}

impl<'p> Functions<'p> {
    /// The program starts.
    pub(crate) fn begin(&mut self, drivers: &[Entered]) {
        self.log.begin(|| {
            let drivers = drivers.iter().map(|d| {
                let names = |types: &[_]| types.iter().map(|t| type_name(*t)).collect::<Vec<_>>();
                json!({
                    "name": d.name,
                    "portal": d.portal.name(),
                    "greens": names(&d.greens),
                    "reds": names(&d.entry.args),
                })
            });
            drivers.collect()
        });
    }

    /// The program has ended.
    pub(crate) fn end(&mut self) {
        for (unit, tally) in self.log.tallies().into_iter().enumerate() {
            let count = NEVER - load(tally);
            (self.log).event("entered", || json!({"unit": unit, "count": count}));
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
        self.log.event("function", || {
            json!({
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
        self.log.event("grown", || {
            json!({
                "function": function,
                "stub": stub,
                "value": value,
                "specialise_us": micros(took),
            })
        });
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
        graph: &LLGraph,
        started: &mut Stopwatch,
    ) -> Option<Made> {
        if !self.log.is_on() {
            return None;
        }
        let own = self.log.stopwatch();
        let residual = self.functions[function].residual.clone();
        let mut exits = Vec::new();
        let listing = Listing::new(
            graph,
            |op| residual.note(op).cloned(),
            |portal, greens| {
                let driver = jit.entered.iter().position(|d| d.portal == *portal);
                match driver {
                    Some(driver) => self.location_in_code(jit, driver, greens),
                    None => portal.name().to_owned(),
                }
            },
            |cell| {
                exits.push(cell);
                format!("{{{}}}", exits.len() - 1)
            },
        );
        let mut made = Made {
            function,
            hot: false,
            listing,
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
            "forced": made.listing.forced,
            "code": made.listing.code,
        });
        if let (Some(assembly), Value::Object(event)) = (assembly, &mut event) {
            event.insert("assembly".to_owned(), assembly.into());
        }
        self.log.event("unit", || event);
    }
}
