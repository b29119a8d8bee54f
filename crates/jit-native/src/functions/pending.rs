//! Regions whose optimised code a second thread makes.

use rustc_hash::FxHashMap;
use taipan_codegen::{CodegenError, CompiledFunction};
use taipan_graph::BlockId;
use taipan_jit::Failure;
use taipan_lltype::LLGraph;

use super::Functions;
use super::hot::Region;
use crate::background::{Background, Done, Fault, MakeTables};
use crate::cells::store;
use crate::engine::NativeJit;

/// Number of entries of a region after which it is tested for the first time whether its code is there, and the
/// maximum: the number doubles with each test.
const FIRST_TEST: u64 = 64;
const MOST_BETWEEN_TESTS: u64 = 1_024;

/// The second thread, and the regions that it has.
pub(super) struct Pending {
    background: Background,
    /// By number of the job.
    regions: FxHashMap<u64, Region>,
    /// By function and block: the job whose region the block belongs to. The counter of the block ran out.
    waits: FxHashMap<(usize, BlockId), Wait>,
}

struct Wait {
    job: u64,
    /// Number of entries up to the next test.
    rounds: u64,
}

impl Pending {
    fn wait(&mut self, function: usize, b: BlockId, job: u64) {
        let rounds = FIRST_TEST;
        self.waits.insert((function, b), Wait { job, rounds });
    }

    /// Forgets a job. The results are its region, and the blocks that wait for it.
    fn take(&mut self, job: u64) -> Option<(Region, Vec<BlockId>)> {
        let region = self.regions.remove(&job)?;
        let waits = self.waits.extract_if(|_, wait| wait.job == job);
        let mut blocks: Vec<BlockId> = waits.map(|((_, b), _)| b).collect();
        blocks.sort_unstable();
        Some((region, blocks))
    }
}

impl<'p> Functions<'p> {
    /// See [`NativeJit::optimise_in_background`]. The log describes code in the order in which it is compiled, so with
    /// a log there is no second thread.
    pub(crate) fn optimise_in_background(&mut self, tables: MakeTables) {
        self.pending = (!self.log.is_on()).then(|| Pending {
            background: Background::new(tables),
            regions: FxHashMap::default(),
            waits: FxHashMap::default(),
        });
    }

    /// Hands the graph of a region to the second thread. Returns it if there is none.
    pub(super) fn submit(
        &mut self,
        graph: LLGraph,
        region: Region,
    ) -> Result<(), (LLGraph, Region)> {
        let Some(pending) = &mut self.pending else {
            return Err((graph, region));
        };
        let job = match pending.background.submit(graph) {
            Ok(job) => job,
            Err(graph) => return Err((graph, region)),
        };
        pending.wait(region.function, region.counted, job);
        pending.regions.insert(job, region);
        Ok(())
    }

    /// Whether the second thread has the region with a head. If so, the block whose counter ran out waits for it, too.
    pub(super) fn waits_too(
        &mut self,
        function: usize,
        (head, counted): (BlockId, BlockId),
    ) -> bool {
        let Some(pending) = &mut self.pending else {
            return false;
        };
        let mut regions = pending.regions.iter();
        let job = regions.find(|(_, r)| (r.function, r.head) == (function, head));
        let Some(job) = job.map(|(job, _)| *job) else {
            return false;
        };
        pending.wait(function, counted, job);
        true
    }

    /// The cell by which code continues at a block while the second thread has its region; none if it has not.
    pub(super) fn go_on_meanwhile(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        b: BlockId,
    ) -> Result<Option<usize>, Failure> {
        let waits = self.pending.as_mut().map(|p| &mut p.waits);
        let Some(wait) = waits.and_then(|waits| waits.get_mut(&(function, b))) else {
            return Ok(None);
        };
        let rounds = wait.rounds;
        wait.rounds = (2 * rounds).min(MOST_BETWEEN_TESTS);
        if let Some((counter, _)) = self.counter(function, b) {
            store(counter, rounds);
        }
        self.go_on_quickly(jit, function, b).map(Some)
    }

    /// Has regions entered by their optimised code if the second thread has made it.
    pub(super) fn install_finished(&mut self, jit: &NativeJit<'p>) {
        while let Some(done) = self.finished() {
            let taken = self.pending.as_mut().and_then(|p| p.take(done.number));
            let Some((region, blocks)) = taken else {
                continue;
            };
            let most = jit.options.largest_unit;
            let placed = match done.code {
                Ok(code) if code.code.len() <= most => self.place(&region, &code).ok(),
                Ok(_) | Err(Fault::Refused) => None,
                Err(Fault::Internal(why)) => {
                    jit.stop_compiling(&why);
                    None
                }
            };
            match placed {
                Some(code) => self.install(region, code),
                // The existing code stays.
                None => blocks
                    .iter()
                    .for_each(|b| self.stop_counting(region.function, *b)),
            }
        }
    }

    /// A job that the second thread has finished.
    fn finished(&mut self) -> Option<Done> {
        let pending = self.pending.as_mut()?;
        if pending.background.has_lost_jobs() {
            // The counters of their regions run out again.
            pending.regions.clear();
            pending.waits.clear();
        }
        pending.background.finished()
    }

    /// Puts code of a region into memory.
    fn place(&mut self, region: &Region, code: &CompiledFunction) -> Result<usize, CodegenError> {
        let names = &self.names;
        let at = self.code.add(code, &mut |s| names.resolve(s))?;
        let name = &self.functions[region.function].residual.graph().name;
        self.log.code(at, code.code.len(), name);
        Ok(at)
    }
}
