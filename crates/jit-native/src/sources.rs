//! Source lines, and facts about the source, for the log.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use taipan_jit::{JitProgram, SourceLine, StaysCall, TsGraph, engine::function_of};
use taipan_lltype::{CodePlace, FuncSym, LLType, StructId, TypeKind};

/// A line: number of the file, and line number.
type Line = (u32, u32);

/// Lines of functions, and facts that only the log needs. Read only if a log is written.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Sources {
    /// Paths of files, by number.
    files: Vec<Arc<str>>,
    /// For each function that compiled code may call: why it is not followed, and the line of its first loop if the
    /// loop is the reason.
    functions: Vec<(Option<StaysCall>, Option<Line>)>,
    /// For each timeshifted graph: lines of its instructions, in order of instructions.
    graphs: Vec<Vec<(u32, Line)>>,
    /// Fields that are only written while their object is constructed.
    settled: Vec<(StructId, Arc<str>)>,
}

/// Numbers of files.
#[derive(Default)]
struct Files(FxHashMap<Arc<str>, u32>, Vec<Arc<str>>);

impl Files {
    fn line(&mut self, line: SourceLine) -> Line {
        let Files(numbers, all) = self;
        let number = *numbers.entry(line.file.clone()).or_insert_with(|| {
            all.push(line.file);
            all.len() as u32 - 1
        });
        (number, line.line)
    }
}

impl Sources {
    /// Collects them from the functions, timeshifted graphs and structs (`bodies`) of a program.
    pub(crate) fn new<'a>(
        program: &dyn JitProgram,
        functions: impl Iterator<Item = &'a FuncSym>,
        graphs: &[Arc<TsGraph>],
        bodies: impl Iterator<Item = (StructId, Vec<Arc<str>>)>,
    ) -> Sources {
        let mut files = Files::default();
        let functions = functions.map(|f| {
            let stays = program.stays_call(f);
            let has_loop = stays == Some(StaysCall::Loop);
            let line = has_loop.then(|| program.loop_line(f)).flatten();
            (stays, line.map(|line| files.line(line)))
        });
        let functions = functions.collect();
        let mut lines_of = |graph: &Arc<TsGraph>| {
            let mut lines: Vec<(u32, Line)> = Vec::new();
            for at in graph.instructions() {
                let func = function_of(graph).clone();
                let Some(line) = program.line(&CodePlace { func, at }) else {
                    continue;
                };
                let line = files.line(line);
                // An instruction without an entry is on the line of the previous entry.
                if lines.last().is_none_or(|l| l.1 != line) {
                    lines.push((at, line));
                }
            }
            lines
        };
        let graphs = graphs.iter().map(&mut lines_of).collect();
        let settled = bodies.flat_map(|(id, fields)| {
            let settled = fields.into_iter();
            let settled = settled.filter(|f| program.is_settled(&id, f));
            settled.map(|f| (id.clone(), f)).collect::<Vec<_>>()
        });
        Sources {
            functions,
            graphs,
            settled: settled.collect(),
            files: files.1,
        }
    }

    fn at(&self, (file, line): Line) -> Option<SourceLine> {
        let file = self.files.get(file as usize)?.clone();
        Some(SourceLine { file, line })
    }
}

/// [`Sources`] indexed for lookups.
pub(crate) struct Index {
    sources: Sources,
    functions: FxHashMap<FuncSym, usize>,
    graphs: FxHashMap<FuncSym, usize>,
    settled: FxHashSet<(StructId, Arc<str>)>,
}

impl Index {
    /// `functions` are those of [`Sources`], each with the number of its timeshifted graph.
    pub(crate) fn new(
        sources: Sources,
        functions: impl Iterator<Item = (FuncSym, Option<u32>)>,
    ) -> Index {
        let mut index = Index {
            settled: sources.settled.iter().cloned().collect(),
            functions: FxHashMap::default(),
            graphs: FxHashMap::default(),
            sources,
        };
        for (i, (f, graph)) in functions.enumerate() {
            if let Some(graph) = graph {
                index.graphs.insert(f.clone(), graph as usize);
            }
            index.functions.insert(f, i);
        }
        index
    }

    pub(crate) fn line(&self, place: &CodePlace) -> Option<SourceLine> {
        let lines = self.sources.graphs.get(*self.graphs.get(&place.func)?)?;
        let i = lines.partition_point(|l| l.0 <= place.at).checked_sub(1)?;
        self.sources.at(lines[i].1)
    }

    pub(crate) fn loop_line(&self, f: &FuncSym) -> Option<SourceLine> {
        let (_, line) = self.sources.functions.get(*self.functions.get(f)?)?;
        self.sources.at((*line)?)
    }

    pub(crate) fn stays_call(&self, f: &FuncSym) -> Option<StaysCall> {
        self.sources.functions.get(*self.functions.get(f)?)?.0
    }

    pub(crate) fn is_settled(&self, class: &StructId, field: &str) -> bool {
        self.settled.contains(&(class.clone(), field.into()))
    }
}

/// Names of the fields of a struct that are not Void.
pub(crate) fn field_names(fields: &[taipan_lltype::Field]) -> Vec<Arc<str>> {
    let holds = |ty: &LLType| !matches!(ty.kind(), TypeKind::Struct(_)) && !ty.is_void();
    let fields = fields.iter().filter(|f| holds(&f.ty));
    fields.map(|f| f.name.clone()).collect()
}
