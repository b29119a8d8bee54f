//! Which queries a round executed, for people.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use salsa::DatabaseKeyIndex;

use taipan_driver::{Database, QueryEvent};

/// Queries that do work, in the order of the pipeline. Projections, which only look a
/// result up and compare it, are no stages.
const STAGES: &[&str] = &[
    "parse",
    "module_codes",
    "image",
    "flow_graph",
    "solve",
    "annotate_helper",
    "rtyped_graph",
    "jit_graph",
    "simplified",
    "optimized",
    "exceptions",
    "gc",
    "machine_code",
];

/// Stages whose keys are the functions that a user knows.
const NAMED: &[&str] = &["flow_graph", "rtyped_graph", "machine_code"];

/// More names than this are no news.
const MOST_NAMES: usize = 8;

/// How often the queries of one stage ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageCount {
    /// Name of the query.
    pub stage: &'static str,
    /// Their functions ran.
    pub executed: usize,
    /// Their old results were found to be still right.
    pub validated: usize,
}

/// What ran in a round.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reran {
    /// Queries of all kinds whose functions ran.
    pub executed: usize,
    /// Queries of all kinds whose old results were found to be still right.
    pub validated: usize,
    /// Stages that ran at all, in the order of the pipeline.
    pub stages: Vec<StageCount>,
    /// The functions that they ran for, sorted; none if they are many.
    pub functions: Vec<String>,
}

/// What a part of the query log says.
pub(super) fn reran(db: &Database, entries: &[(DatabaseKeyIndex, QueryEvent)]) -> Reran {
    let mut out = Reran::default();
    // A round may reuse a million results: names are looked up once per query.
    let mut counts = FxHashMap::<_, (usize, usize, DatabaseKeyIndex)>::default();
    for (key, event) in entries {
        let count = counts.entry(key.ingredient_index()).or_insert((0, 0, *key));
        match event {
            QueryEvent::Executed => {
                count.0 += 1;
                out.executed += 1;
            }
            QueryEvent::Validated | QueryEvent::Restored => {
                count.1 += 1;
                out.validated += 1;
            }
        }
    }
    salsa::attach(db, || {
        let mut by_name = BTreeMap::<String, _>::new();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(index, _)| *index);
        for (index, (executed, validated, key)) in counts {
            let text = format!("{key:?}");
            let name = text.split('(').next().unwrap_or_default().to_owned();
            by_name.insert(name, (index, executed, validated));
        }
        for stage in STAGES {
            if let Some((_, executed, validated)) = by_name.get(*stage)
                && *executed > 0
            {
                out.stages.push(StageCount {
                    stage,
                    executed: *executed,
                    validated: *validated,
                });
            }
        }
        for stage in NAMED {
            let Some((index, executed, _)) = by_name.get(*stage) else {
                continue;
            };
            if *executed > MOST_NAMES {
                out.functions.clear();
                return;
            }
            for (key, event) in entries {
                if *event == QueryEvent::Executed && key.ingredient_index() == *index {
                    out.functions.extend(taipan_driver::parts::key_text(
                        db,
                        stage,
                        key.key_index(),
                    ));
                }
            }
        }
        out.functions.sort();
        out.functions.dedup();
    });
    out
}
