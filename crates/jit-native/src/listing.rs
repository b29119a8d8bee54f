//! Units and values as text, for the log.

use taipan_graph::text::GraphText;
use taipan_graph::{Operation, VarId, cleanup, ssa_to_ssi};
use taipan_jit::engine::Entered;
use taipan_jit::{Note, Word, World, type_name};
use taipan_lltype::text::LLNames;
use taipan_lltype::{
    Addr, FuncSym, LLConst, LLGraph, LLOperand, LLType, LLValue, LowLevel, NamedOperands,
    OBJECT_VTABLE, STR, TypeKind, View,
};

use crate::costs::{About, is_tally};

/// Longer strings are cut.
const LONGEST: usize = 60;

/// A unit as text.
#[derive(Default)]
pub(crate) struct Listing {
    /// Its lines.
    pub(crate) code: Vec<String>,
    /// The merge points in it, in words.
    pub(crate) merge_points: Vec<String>,
}

impl Listing {
    /// The listing of a graph. `exit` describes the target of a cell.
    pub(crate) fn new(
        graph: &LLGraph,
        about: &mut dyn About,
        mut exit: impl FnMut(usize) -> String,
    ) -> Listing {
        let mut out = Listing::default();
        let mut graph = graph.clone();
        for block in &mut graph.blocks {
            // What only counts how often the unit is entered is there for the log.
            let tallies: Vec<VarId> = (block.operations.iter())
                .filter(|op| is_tally(block, op))
                .map(|op| op.result)
                .collect();
            block.operations.retain(|op| !tallies.contains(&op.result));
        }
        // Units without optimisations are in SSA form.
        ssa_to_ssi(&mut graph);
        cleanup(&mut graph);
        graph.compact();
        let graph = &graph;
        let text = GraphText::new(graph, LLNames::default()).without_declarations();
        for b in graph.reachable() {
            if b == graph.returnblock || b == graph.exceptblock {
                continue;
            }
            let lines = text.block_text(b);
            let operations = &graph.block(b).operations;
            for (i, line) in lines.lines().enumerate() {
                let op = i.checked_sub(1).and_then(|i| operations.get(i));
                let noted = op.and_then(|op| about.note(op));
                out.code.push(match (noted, op) {
                    (Some(Note::MergePoint { portal, greens }), _) => {
                        let place = about.location(&portal, &greens);
                        out.merge_points.push(place.clone());
                        format!("    # {place}")
                    }
                    (Some(Note::Forced { ty, why }), _) => {
                        format!("    # a {} is made: {why}", type_name(ty))
                    }
                    (None, Some(op)) => match leaves_by(op) {
                        Some(cell) => format!("{line}    # to {}", exit(cell)),
                        None => line.to_owned(),
                    },
                    (None, None) => line.to_owned(),
                });
            }
        }
        out
    }
}

/// The cell by which an operation leaves a unit.
fn leaves_by(op: &Operation<LowLevel>) -> Option<usize> {
    match op.view() {
        View::JitExit {
            cell: LLOperand::Const(LLConst::Int(_, cell)),
            ..
        } => usize::try_from(cell.get()).ok(),
        _ => None,
    }
}

/// Where the greens of a driver are: what the program says, else the greens themselves.
pub(crate) fn location(world: &mut dyn World, driver: &Entered, greens: &[Word]) -> String {
    let said = driver.printable_location.as_ref();
    if let Some(text) = said.and_then(|f| printable(world, f, driver, greens)) {
        return text;
    }
    greens_text(world, driver, greens)
}

/// The greens of a driver themselves.
pub(crate) fn greens_text(world: &mut dyn World, driver: &Entered, greens: &[Word]) -> String {
    let texts = greens.iter().zip(&driver.greens);
    let texts: Vec<String> = texts.map(|(w, ty)| word_text(world, *w, *ty)).collect();
    format!("{}({})", driver.name, texts.join(", "))
}

/// What `get_printable_location` returns, unless it raises.
fn printable(
    world: &mut dyn World,
    f: &FuncSym,
    driver: &Entered,
    greens: &[Word],
) -> Option<String> {
    let args: Vec<(Word, LLType)> =
        (greens.iter().copied().zip(driver.greens.iter().copied())).collect();
    let pointer = world.word(&LLConst::Func(f.clone()));
    let result = f.ty().result;
    let word = world.call(pointer, &args, result).ok()?.ok()?;
    match result.pointee() {
        Some(_) if word != 0 => {
            let bytes = world.memory().str_bytes(word as Addr).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Some(_) => None,
        None => char::from_u32(word as u32).map(String::from),
    }
}

/// A value in words.
pub(crate) fn word_text(world: &mut dyn World, w: Word, ty: LLType) -> String {
    match ty.kind() {
        TypeKind::Float => f64::from_bits(w as u64).to_string(),
        TypeKind::Bool => (if w == 0 { "False" } else { "True" }).to_owned(),
        TypeKind::Char => match u8::try_from(w) {
            Ok(c) => format!("'{}'", c.escape_ascii()),
            Err(_) => w.to_string(),
        },
        TypeKind::Ptr(_) if w == 0 => "null".to_owned(),
        TypeKind::Ptr(to) => {
            if let Some(f) = world.function(w) {
                return f.name().to_owned();
            }
            let memory = world.memory();
            if *to == *STR
                && let Ok(mut bytes) = memory.str_bytes(w as Addr)
            {
                bytes.truncate(LONGEST);
                return format!("'{}'", bytes.escape_ascii());
            }
            if *to == *OBJECT_VTABLE
                && let Ok(LLValue::Ptr(name)) = memory.get_field(w as Addr, *to, "name")
                && let Ok(name) = memory.str_bytes(name)
            {
                return String::from_utf8_lossy(&name).into_owned();
            }
            format!("<{} at {:#x}>", type_name(*to), w as u64)
        }
        _ => w.to_string(),
    }
}
