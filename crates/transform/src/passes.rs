//! Passes as they run: which are on, and who looks on.

use taipan_language::{Pass, PassSet};
use taipan_lltype::LLGraph;

use crate::check::check;

/// Somebody who looks on while passes run.
pub trait PassObserver {
    /// A pass is about to run over a graph.
    fn begin(&mut self, pass: Pass, graph: &LLGraph);

    /// That pass has run. What is left over of it until the next one tidies up is still in the graph.
    fn end(&mut self, pass: Pass, graph: &LLGraph);
}

/// The passes that run over a graph.
pub struct Passes<'a> {
    on: PassSet,
    observer: Option<&'a mut dyn PassObserver>,
}

impl<'a> Passes<'a> {
    /// These, with nobody who looks on.
    pub fn new(on: PassSet) -> Passes<'static> {
        Passes { on, observer: None }
    }

    /// These, with somebody who looks on.
    pub fn observed(on: PassSet, observer: &'a mut dyn PassObserver) -> Passes<'a> {
        Passes {
            on,
            observer: Some(observer),
        }
    }

    /// Whether a pass is on.
    pub(crate) fn contains(&self, pass: Pass) -> bool {
        self.on.contains(pass)
    }

    /// Runs a pass if it is on. Returns what it returns, or what is so if nothing was done.
    pub(crate) fn run<T: Default>(
        &mut self,
        pass: Pass,
        g: &mut LLGraph,
        work: impl FnOnce(&mut LLGraph) -> T,
    ) -> T {
        if !self.on.contains(pass) {
            return T::default();
        }
        if let Some(observer) = &mut self.observer {
            observer.begin(pass, g);
        }
        let result = work(g);
        check(pass.name(), g);
        if let Some(observer) = &mut self.observer {
            observer.end(pass, g);
        }
        result
    }
}

/// The usual ones, with nobody who looks on.
impl Default for Passes<'static> {
    fn default() -> Self {
        Passes::new(PassSet::default())
    }
}
