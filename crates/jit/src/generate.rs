//! From a portal to its generating extension.

use std::rc::Rc;
use std::sync::Arc;

use taipan_graph::VarId;
use taipan_lltype::{FuncSym, LLGraph};

use crate::annotator::{Annotator, PORTAL, SpecIx};
use crate::code::TsGraph;
use crate::colors::Colors;
use crate::explain::HintError;
use crate::prepare::prepare;
use crate::program::{JitProgram, Policy};
use crate::text;
use crate::timeshift::timeshift;
use crate::touches::Touches;

/// The compiler that is generated for a portal.
pub struct Generator<'p> {
    annotator: Annotator<'p>,
    colors: Colors,
    graphs: Vec<Arc<TsGraph>>,
    touches: Option<Rc<Touches<'p>>>,
}

impl<'p> Generator<'p> {
    /// Colours all that a portal reaches and timeshifts it.
    pub fn new(
        program: &'p dyn JitProgram,
        portal: &FuncSym,
        policy: Policy,
    ) -> Result<Generator<'p>, HintError> {
        let touches = (policy.heap_cache).then(|| Rc::new(Touches::new(program)));
        let graph = (program.graph(portal)).ok_or_else(|| HintError::no_graph(portal.name()))?;
        let graph = prepare(&graph, false);
        let mut annotator = Annotator::run(program, portal, graph, &|_| false, policy)?;
        let colors = Colors::compute(&mut annotator);
        let graphs = (0..annotator.specs.len())
            .map(|i| {
                let graph = timeshift(&annotator, &colors, SpecIx(i as u32))?;
                Ok(Arc::new(match annotator.policy.real_arrays {
                    true => graph.with_real_arrays(),
                    false => graph,
                }))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Generator {
            annotator,
            colors,
            graphs,
            touches,
        })
    }

    /// The function that is specialised.
    pub fn portal(&self) -> &FuncSym {
        &self.annotator.spec(PORTAL).func
    }

    /// Which arguments of the portal are green.
    pub fn green_arguments(&self) -> Vec<bool> {
        let args = self.annotator.spec(PORTAL).graph.args();
        let green = |v| self.colors.green(PORTAL, v);
        args.iter().map(|v| green(*v)).collect()
    }

    /// The program.
    pub fn program(&self) -> &'p dyn JitProgram {
        self.annotator.program
    }

    pub(crate) fn graphs(&self) -> Vec<Arc<TsGraph>> {
        self.graphs.clone()
    }

    /// What calls do to memory, if the policy wants to know.
    pub(crate) fn touches(&self) -> Option<Rc<Touches<'p>>> {
        self.touches.clone()
    }

    /// The graphs that the portal reaches, with the color of each variable.
    pub fn colors_text(&self) -> String {
        text::colors(&self.annotator, &self.colors)
    }

    /// The same graphs themselves: each with whether a variable is green.
    pub fn colored_graphs(&self) -> impl Iterator<Item = (&LLGraph, impl Fn(VarId) -> bool)> {
        (0..self.annotator.specs.len()).map(move |i| {
            let copy = SpecIx(i as u32);
            let green = move |v| self.colors.green(copy, v);
            (&*self.annotator.spec(copy).graph, green)
        })
    }

    /// Their timeshifted graphs.
    pub fn timeshifted_text(&self) -> String {
        let graphs = self.graphs.iter().map(|g| text::timeshifted(g));
        graphs.collect::<Vec<_>>().join("\n")
    }
}
