//! Programs that are kept linked from one edit to the next.
//!
//! ```text
//! compile_entries   optimises, and emits the code of what may be other than before
//! linked_image      emits what else is needed, and puts the pieces together
//! ```
//!
//! What code and data consist of is kept outside salsa's tables, by the [`Linker`]. Each piece is
//! made in a scope of its own ([`taipan_interp::reads`]): after an edit only those are asked for
//! that hang on what changed.

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;
use taipan_annotator::Roots;
use taipan_base::reads::{Step, dependants, scope};
use taipan_base::{LineIndex, noted};
use taipan_code::CodeSpans;
use taipan_codegen::{CodegenError, CompiledFunction, Image, Linker, Piece, Positions, SymbolRef};
use taipan_lltype::FuncSym;
use taipan_rtyper::StaticKey;

use crate::db::Database;
use crate::function::LLFunction;
use crate::keys::TypeKey;
use crate::parallel::{par_map, par_steps};
use crate::stages::debug::image_debug;
use crate::stages::native::{QuerySource, glue_code, machine_code};
use crate::stages::reach::reachable;
use crate::stages::whole::graph::{Basis, BasisChanges, Place, place, work_in_place};
use crate::stages::whole::{Surroundings, changed_effects, optimized_functions};
use crate::stages::{GraphStage, StageProgram, function_effects};
use crate::timing::Timings;

/// Makes the machine code of everything that a program needs, and of what more functions do which
/// it may not call itself, on all threads.
pub fn compile_entries(db: &Database, roots: Roots, more: &[FuncSym], timings: &mut Timings) {
    let functions = timings.phase("optimize", || {
        let mut functions = optimized_functions(db, roots);
        if !more.is_empty() {
            functions.extend(reachable(db, roots, GraphStage::Optimized, more).functions);
        }
        functions
    });
    timings.phase("codegen", || {
        with_linked(db, roots, |linked| {
            let symbols = functions.into_iter().map(SymbolRef::Func);
            let unknown = |s: &SymbolRef| !linked.linker.knows(s);
            let unknown: Vec<SymbolRef> = symbols.filter(unknown).collect();
            // Errors come back when the program is put together.
            let _ = linked.supply(db, roots, None, unknown);
        });
    });
}

/// Optimises all functions of a program, on all threads.
pub(crate) fn optimize_all(db: &Database, roots: Roots, timings: &mut Timings) {
    timings.phase("optimize", || optimized_functions(db, roots));
}

/// The image of a program, and of more that is to be in it. With an entry point it has a program
/// table. What has changed since the last time was compiled by [`compile_entries`].
pub(crate) fn linked_image(
    db: &Database,
    roots: Roots,
    symbols: &[SymbolRef],
    entry: Option<&FuncSym>,
) -> Result<Image, CodegenError> {
    with_linked(db, roots, |linked| {
        linked.linker.begin(symbols, entry);
        loop {
            let missing = linked.linker.missing();
            if missing.is_empty() {
                break;
            }
            linked.supply(db, roots, entry, missing)?;
        }
        let mut source = QuerySource::new(db, roots);
        let known = &mut linked.known;
        let mut image =
            (linked.linker).image(&mut |f, code| source.positions_from(f, code, known))?;
        image.collector = roots.program(db).options(db).collector;
        if roots.program(db).options(db).debug {
            image.debug = Some(image_debug(db, roots, &image)?);
        }
        if known.len() > 2 * image.functions().count() {
            known.retain(|f, _| image.place(&SymbolRef::Func(f.clone())).is_some());
        }
        Ok(image)
    })
}

noted! {
    /// The machine code of a function in a program that is linked.
    kept CodePiece(LLFunction)
}

noted! {
    /// Prebuilt data in a program that is linked.
    kept DataPiece(StaticKey)
}

noted! {
    /// Type information in a program that is linked.
    kept TypePiece(TypeKey)
}

/// What is kept of a linked program.
#[derive(Default)]
struct Linked {
    basis: Basis,
    surroundings: Option<Surroundings>,
    /// The version of all effects that this is of.
    effects: u64,
    linker: Linker,
    known: KnownPositions,
}

/// What tracebacks say of code, and what that was made from.
pub(crate) type KnownPositions = FxHashMap<FuncSym, Known>;

/// See [`KnownPositions`].
pub(crate) struct Known {
    pub(crate) code: Arc<CompiledFunction>,
    pub(crate) spans: Arc<CodeSpans>,
    pub(crate) lines: Arc<LineIndex>,
    pub(crate) positions: Arc<Positions>,
}

fn with_linked<R>(db: &Database, roots: Roots, work: impl FnOnce(&mut Linked) -> R) -> R {
    let slot: Place<Linked> = place(db, "linked programs", roots);
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    // Effects are compared here.
    optimized_functions(db, roots);
    // Before it is taken out: whoever is cancelled here loses nothing.
    let before = slot.as_ref().map(|linked| linked.basis.clone());
    let BasisChanges { steps, now, .. } = before.unwrap_or_default().changes(db, roots);
    let surroundings = Surroundings::of(db, roots);
    let mut linked = slot.take().unwrap_or_default();
    let others = surroundings.changed_since(roots, linked.surroundings.as_ref());
    let (version, effects) = changed_effects(db, roots, linked.effects);
    match (steps, others, effects) {
        (Some(mut steps), Some(others), Some(effects)) => {
            steps.extend(others);
            let functions = effects.into_iter().map(|f| LLFunction::new(db, roots, f));
            steps.extend(functions.map(Step::of::<function_effects>));
            linked.forget(db, roots, &steps);
        }
        _ => linked = Linked::default(),
    }
    linked.basis = now;
    linked.surroundings = Some(surroundings);
    linked.effects = version;
    // Where it is cancelled, it is known what is missing.
    work_in_place(slot, linked, work)
}

impl Linked {
    /// Has everything asked for again that hangs on something.
    fn forget(&mut self, db: &Database, roots: Roots, steps: &[Step]) {
        if steps.is_empty() {
            return;
        }
        let code = dependants::<CodePiece>(db, steps).into_iter();
        let code = code.filter(|f| f.roots(db) == roots);
        let code = code.map(|f| SymbolRef::Func(f.sym(db).clone()));
        let data = dependants::<DataPiece>(db, steps).into_iter();
        let data = data.filter(|s| s.roots(db) == roots);
        let data = data.map(|s| SymbolRef::Static(s.sym(db).clone()));
        let types = dependants::<TypePiece>(db, steps).into_iter();
        let types = types.filter(|t| t.roots(db) == roots);
        let types = types.map(|t| SymbolRef::TypeInfo(t.ty(db)));
        let all: Vec<SymbolRef> = code.chain(data).chain(types).collect();
        self.linker.forget(&all);
    }

    /// Makes what symbols stand for, on all threads. The error is the first one.
    fn supply(
        &mut self,
        db: &Database,
        roots: Roots,
        entry: Option<&FuncSym>,
        symbols: Vec<SymbolRef>,
    ) -> Result<(), CodegenError> {
        let (functions, others): (Vec<SymbolRef>, Vec<SymbolRef>) =
            (symbols.into_iter()).partition(|s| matches!(s, SymbolRef::Func(_)));
        let make = |db: &Database, s: &SymbolRef| piece(db, roots, entry, s);
        let mut pieces = par_steps(db, &functions, make);
        pieces.extend(par_map(db, &others, make));
        let mut result = Ok(());
        for (symbol, piece) in functions.into_iter().chain(others).zip(pieces) {
            match piece {
                Ok(piece) => self.linker.supply(symbol, piece),
                Err(e) => result = result.and(Err(e)),
            }
        }
        result
    }
}

fn piece(
    db: &Database,
    roots: Roots,
    entry: Option<&FuncSym>,
    symbol: &SymbolRef,
) -> Result<Piece, CodegenError> {
    let data = || Piece::data(symbol, entry, &StageProgram::new(db, roots, GraphStage::Gc));
    match symbol {
        SymbolRef::Func(f) => {
            let f = LLFunction::new(db, roots, f.clone());
            scope::<CodePiece, _>(db, f, || {
                (machine_code(db, f).map(Piece::Code)).map_err(|e| (*e).clone())
            })
        }
        SymbolRef::Glue(glue) => glue_code(db, roots, glue).map(Piece::Code),
        SymbolRef::Static(s) => scope::<DataPiece, _>(db, StaticKey::new(db, roots, s), data),
        SymbolRef::TypeInfo(ty) => scope::<TypePiece, _>(db, TypeKey::new(db, roots, *ty), data),
        // Made anew each time.
        _ => data(),
    }
}
