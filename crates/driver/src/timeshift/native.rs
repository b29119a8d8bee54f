//! `taipan timeshift --engine native`: residual code as machine code, called by a program
//! of machine code.
//!
//! Calls of the portal must not be inlined where they are to enter residual code. So the
//! functions from which it can be reached are compiled apart from all others, which are
//! those that a run has.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Db, Diagnostic, ErrorCode};
use taipan_codegen::{
    CodeSource, CodegenError, CompiledFunction, Glue, Positions, SymbolRef, build_image,
};
use taipan_codegen_cranelift::{LoadedImage, call_function, call_roots};
use taipan_jit::Generator;
use taipan_jit::engine::{OnePortal, References};
use taipan_jit_native::{CallEffects, NativeJit, Options, enter_stub, roots};
use taipan_lltype::{FuncSym, LLGraph, Program};
use taipan_transform::{Effects, Passes, Summaries, Summary};

use crate::db::Database;
use crate::fault::Failure;
use crate::function::LLFunction;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::{QuerySource, with_compiler};
use crate::stages::reach::reachable;
use crate::stages::{
    GraphStage, QuerySummaries, StageProgram, function_effects, lowlevel_errors, simplified,
    simplified_summary,
};
use crate::timeshift::{TimeshiftOutcome, TimeshiftRequest};
use crate::timing::Timings;
use crate::value::{counts_json, lowlevel_args, short_name, to_json};

/// A program in which calls of the portal enter residual code.
struct WithPortal<'db> {
    summaries: QuerySummaries<'db>,
    db: &'db dyn Db,
    roots: Roots,
    portal: FuncSym,
    /// The functions that may call it, itself included.
    callers: FxHashSet<FuncSym>,
}

impl<'db> WithPortal<'db> {
    fn new(db: &'db Database, roots: Roots, root: &FuncSym, portal: &FuncSym) -> Self {
        let all = reachable(
            db,
            roots,
            GraphStage::Simplified,
            std::slice::from_ref(root),
        );
        let mut callers_of: FxHashMap<FuncSym, Vec<FuncSym>> = FxHashMap::default();
        for f in all.functions {
            let key = LLFunction::new(db, roots, f.clone());
            let Some(summary) = simplified_summary(db, key) else {
                continue;
            };
            for callee in &summary.callees {
                callers_of
                    .entry(callee.clone())
                    .or_default()
                    .push(f.clone());
            }
        }
        let mut callers = FxHashSet::from_iter([portal.clone()]);
        let mut waiting = vec![portal.clone()];
        while let Some(f) = waiting.pop() {
            for f in callers_of.remove(&f).unwrap_or_default() {
                if callers.insert(f.clone()) {
                    waiting.push(f);
                }
            }
        }
        WithPortal {
            summaries: QuerySummaries::new(db, roots),
            db,
            roots,
            portal: portal.clone(),
            callers,
        }
    }

    fn key(&self, f: &FuncSym) -> LLFunction {
        LLFunction::new(self.db, self.roots, f.clone())
    }
}

impl Summaries for WithPortal<'_> {
    fn program(&self) -> &dyn Program {
        self.summaries.program()
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        if *f == self.portal {
            None
        } else {
            self.summaries.summary(f)
        }
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        if *f == self.portal {
            None
        } else {
            self.summaries.simplified(f)
        }
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        let own = function_effects(self.db, self.key(f));
        if self.callers.contains(f) {
            Effects {
                can_raise: true,
                can_collect: true,
                ..own
            }
        } else {
            own
        }
    }
}

impl CallEffects for WithPortal<'_> {
    fn effects(&self, f: &FuncSym) -> Effects {
        Summaries::effects(self, f)
    }
}

/// Its code.
struct Source<'a, 'db> {
    program: &'a WithPortal<'db>,
    stub: LLGraph,
    others: QuerySource<'db>,
}

impl CodeSource for Source<'_, '_> {
    fn compiled(&mut self, f: &FuncSym) -> Result<Arc<CompiledFunction>, CodegenError> {
        let p = self.program;
        if !p.callers.contains(f) {
            return self.others.compiled(f);
        }
        let mut passes = Passes::new(p.roots.program(p.db).options(p.db).passes);
        let graph = if *f == p.portal {
            self.stub.clone()
        } else {
            let graph = simplified(p.db, p.key(f))
                .ok_or_else(|| CodegenError::new(f.name(), "the function has no graph"))?;
            taipan_transform::optimize(f, &graph, p, &mut passes)
        };
        let graph = taipan_transform::exception_transform(&graph, Summaries::effects(p, f), p);
        let graph = taipan_transform::gc_transform(&graph, p, &mut passes);
        let program = StageProgram::new(p.db, p.roots, GraphStage::Gc);
        with_compiler(|c| c.compile(&program, f, &graph)).map(Arc::new)
    }

    fn glue(&mut self, glue: &Glue) -> Result<Arc<CompiledFunction>, CodegenError> {
        self.others.glue(glue)
    }

    fn positions(&mut self, f: &FuncSym, code: &Arc<CompiledFunction>) -> Option<Arc<Positions>> {
        self.others.positions(f, code)
    }
}

/// Runs the function of a request.
pub(crate) fn native(
    db: &Database,
    hinted: &StageProgram<'_>,
    generator: &Generator<'_>,
    root: &FuncSym,
    request: &TimeshiftRequest,
    timings: &mut Timings,
) -> Result<TimeshiftOutcome, Failure> {
    let failure = |e: CodegenError| codegen_failure(&e);
    let all = hinted.roots();
    let program = StageProgram::new(db, all, GraphStage::Gc);
    let with_portal = WithPortal::new(db, all, root, generator.portal());
    let portals = OnePortal {
        generator,
        is_static: request.is_static.clone(),
        splits: request.splits,
    };
    let mut source = Source {
        program: &with_portal,
        stub: enter_stub(generator.portal(), 0, &portals.green()),
        others: QuerySource::new(db, all),
    };
    let mut symbols: Vec<SymbolRef> = call_roots(&program, root);
    symbols.extend(roots(&References::of(generator), &program));
    let image = timings
        .phase("codegen", || {
            build_image(&program, &mut source, &symbols, None)
        })
        .map_err(failure)?;
    let image = LoadedImage::new(image).map_err(failure)?;
    let options = Options {
        threshold: Some(0),
        raises: true,
        ..Options::default()
    };
    let jit = NativeJit::new(&portals, hinted, &with_portal, &image, options).map_err(failure)?;
    let result = timings.phase("execute", || {
        jit.run(|| {
            call_function(
                &program,
                &image,
                root,
                |memory| lowlevel_args(memory, root, &request.args),
                |memory, result| match result {
                    Ok(v) => to_json(memory, v, root.ty().result).map(Ok).map_err(|e| {
                        Diagnostic::error(ErrorCode::UnreadableResult, None, e.to_string())
                    }),
                    Err(raised) => Ok(Err(short_name(&raised.class).to_owned())),
                },
            )
        })
    });
    let result = result.map_err(failure)?;
    if let Some(why) = jit.failure() {
        return Err(lowlevel_errors::gave_up(db, hinted.roots(), &why).into());
    }
    Ok(TimeshiftOutcome {
        result: result?,
        counts: counts_json(&jit.counts().residual),
    })
}
