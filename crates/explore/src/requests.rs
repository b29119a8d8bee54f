//! What the page asks for.

use serde_json::{Value, json};
use taipan_base::{Db, FileContents};
use taipan_driver::Stage;
use taipan_driver::inspect;

use crate::http::{Query, Refusal};
use crate::live::Live;

/// Stages in the order of the data's way, as the page calls them.
const STAGES: &[Stage] = &[
    Stage::Bytecode,
    Stage::Flow,
    Stage::Annotations,
    Stage::Rtyped,
    Stage::Optimized,
    Stage::Exceptions,
    Stage::Gc,
    Stage::Clif,
    Stage::Asm,
    Stage::Colors,
    Stage::Timeshifted,
];

/// How far a picture of calls reaches.
const DEEPEST: usize = 6;

/// Requests that need no analysis of the program.
pub(crate) fn at_once(live: &Live, path: &str) -> Option<Result<Value, Refusal>> {
    Some(match path {
        "/api/state" => {
            (serde_json::from_str(&live.state())).map_err(|e| Refusal::new(500, e.to_string()))
        }
        "/api/problems" => Ok(live.problems()),
        "/api/rounds" => {
            let rounds = live.rounds();
            let rounds: Vec<_> = rounds.iter().map(|r| &**r).collect();
            value(&rounds)
        }
        _ => return None,
    })
}

pub(crate) fn answer(live: &Live, path: &str, query: &Query) -> Result<Value, Refusal> {
    match path {
        "/api/program" => value(&*live.overview()?),
        "/api/source" => source(live, query.get("file")?),
        "/api/view" => {
            let (function, stage) = (query.get("f")?, query.get("stage")?);
            if let Some(pass) = stage.strip_prefix("pass:") {
                let wrong = |_| Refusal::new(400, format!("{pass} is no pass"));
                let pass = pass.parse().map_err(wrong)?;
                let (_, view) = live.with_program(|p| inspect::passes(p, function, Some(pass)))?;
                return value(&view);
            }
            let found = STAGES.iter().find(|s| s.name() == stage);
            let stage =
                found.ok_or_else(|| Refusal::new(400, format!("there is no stage {stage}")))?;
            value(&live.with_program(|p| inspect::view(p, function, *stage))?)
        }
        "/api/colors" => {
            let function = query.get("f")?;
            value(&live.with_program(|p| inspect::colors(p, function))?)
        }
        "/api/passes" => {
            let function = query.get("f")?;
            let (passes, _) = live.with_program(|p| inspect::passes(p, function, None))?;
            value(&passes)
        }
        "/api/calls" => {
            let overview = live.overview()?;
            let depth = query.number("depth")?.clamp(1, DEEPEST);
            picture(inspect::call_picture(&overview, query.get("f")?, depth))
        }
        "/api/classes" => {
            let overview = live.overview()?;
            picture(inspect::class_picture(&overview, query.get("c")?))
        }
        "/api/timeline" => {
            let number = query.number("round")? as u64;
            let rounds = live.rounds();
            let round = rounds.iter().find(|r| r.number == number);
            let round =
                round.ok_or_else(|| Refusal::new(404, format!("round {number} is forgotten")))?;
            Ok(json!({"round": &**round, "spans": round.spans, "reruns": round.reruns}))
        }
        _ => Err(Refusal::new(404, "there is no such thing")),
    }
}

fn value(value: &impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(value).map_err(|e| Refusal::new(500, e.to_string()))
}

fn picture(made: Result<String, taipan_driver::Failure>) -> Result<Value, Refusal> {
    match made {
        Ok(svg) => Ok(json!({"svg": svg})),
        Err(taipan_driver::Failure::Usage(text)) => Err(Refusal::new(404, text)),
        Err(_) => Err(Refusal::new(500, "the picture cannot be drawn")),
    }
}

/// A file of the program, and no other.
fn source(live: &Live, path: &str) -> Result<Value, Refusal> {
    let overview = live.overview()?;
    if !overview.files.iter().any(|f| f.path == path) {
        return Err(Refusal::new(
            404,
            format!("{path} is no file of the program"),
        ));
    }
    live.with_db(|db| {
        let file = db.files().get(db, path.into());
        match file.contents(db) {
            FileContents::Text(_) => Ok(json!({"path": path, "text": file.text(db)})),
            _ => Err(Refusal::new(404, format!("{path} cannot be read"))),
        }
    })?
}
