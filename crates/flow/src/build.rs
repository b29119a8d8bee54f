//! From a function object to its graph (RPython: `build_flow`).

use taipan_base::{Db, ErrorCode, Program};
use taipan_code::{Code, CodeConst, CodeId, FunctionDesc, Origin, code};
use taipan_graph::{Const, FunctionGraph, ObjId};
use taipan_interp::constants::ConstantSpace;
use taipan_interp::{FunctionData, ObjData, define_synthetic, stable_id};

use crate::context::{Built, FlowContext};
use crate::generator;
use crate::simplify::simplify;
use crate::space::FlowSpace;
use crate::world::World;
use crate::{FlowError, FlowResult, Signature};

pub(crate) fn build_flow(db: &dyn Db, program: Program, id: ObjId) -> FlowResult {
    let world = World { db, program };
    let Some(f) = world.function(id) else {
        return FlowResult::new(None, Vec::new(), Signature::default());
    };
    let code = code(db, f.code);
    let mut signature = Signature {
        argnames: code.locals[..code.argcount as usize].to_vec(),
        varargs: code.varargs,
        varkeywords: code.varkeywords,
    };
    if let Err(e) = assert_rpythonic(f, &code) {
        return FlowResult::new(None, vec![e], signature);
    }
    let class = match f.get(generator::BODY_OF) {
        Some(Const::Obj(class)) => Some(*class),
        _ if code.generator => {
            let graph = generator::entry_graph(world, id, f, &code);
            let errors = captured(world.db, f, &code).into_iter().collect();
            return FlowResult::new(Some(graph), errors, signature);
        }
        _ => None,
    };
    let (built, mut errors) = flow_body(world, f, &code);
    if let Some(e) = captured(world.db, f, &code) {
        // What else there is of it works on the variables.
        errors.retain(|e| e.code != CLOSURE);
        // Of a generator it is told where that is called.
        if class.is_none() {
            errors.insert(0, e);
        }
    }
    if class.is_some() {
        signature = generator::body_signature();
    }
    let graph = built.and_then(|built| {
        let graph = match class {
            Some(class) => generator::body_graph(world, class, built).map(|g| (g, Vec::new())),
            None => simplify(world, built),
        };
        graph.map_err(|e| errors.push(e)).ok()
    });
    let (graph, dead) = graph.unzip();
    let mut result = FlowResult::new(graph, errors, signature);
    result.dead = dead.unwrap_or_default().into();
    result
}

/// The code of a function whose body cannot be compiled: what is wrong in it is told by
/// the diagnostics of its file.
pub const SYNTAX_ERROR: ErrorCode = ErrorCode::BrokenFunction;

/// Rejects what is obviously not RPython.
fn assert_rpythonic(f: &FunctionData, code: &Code) -> Result<(), FlowError> {
    let doc = code.doc.and_then(|i| match &code.consts[i as usize] {
        CodeConst::Str(s) => Some(s.trim_ascii_start().starts_with(b"NOT_RPYTHON")),
        _ => None,
    });
    let tag = f.get("_not_rpython_");
    let tagged = !matches!(tag, None | Some(Const::Bool(false) | Const::None));
    if tagged || doc == Some(true) {
        let text = format!("{} is tagged as not RPython", f.name);
        let error = FlowError::new(ErrorCode::Untranslatable, text);
        // A tag may say why.
        return Err(match tag.and_then(Const::as_str) {
            Some(why) => error.with_help(why),
            None => error,
        });
    }
    if f.get("_extregistry_").is_some() {
        let text = format!("{} is described by an ExtRegistryEntry", f.name);
        return Err(FlowError::new(ErrorCode::Untranslatable, text).with_help(
            "call it by its name: among several functions that a variable may hold, its entry is \
             not asked",
        ));
    }
    if code.poisoned {
        let text = format!("{} has a syntax error", f.name);
        return Err(FlowError::new(SYNTAX_ERROR, text));
    }
    Ok(())
}

/// Code of the error that an inner function uses variables of its outer one.
pub(crate) const CLOSURE: ErrorCode = ErrorCode::Closure;

fn captured(db: &dyn Db, f: &FunctionData, code: &Code) -> Option<FlowError> {
    let names: Vec<String> = (code.cells.iter())
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let s = match names.len() {
        0 => return None,
        1 => "",
        _ => "s",
    };
    let mut inner = code.functions.iter().filter(|made| made.closure > 0);
    let is_generator = |made: &FunctionDesc| match code.consts.get(made.code as usize) {
        Some(CodeConst::Code(body)) => body.qualname(db).ends_with("<genexpr>"),
        _ => false,
    };
    let (what, help) = if inner.all(is_generator) {
        (
            "a generator expression",
            "a generator expression is a function, and functions that run cannot make closures: write a loop",
        )
    } else {
        (
            "an inner function",
            "functions that run cannot make closures: pass the value as an argument, or keep it in an \
             attribute of an object",
        )
    };
    let text = format!(
        "{what} uses the variable{s} {} of {}()",
        names.join(", "),
        f.name
    );
    Some(FlowError::new(CLOSURE, text).with_help(help))
}

/// Flows the instructions of a function. With what is wrong in it.
fn flow_body(world: World<'_>, f: &FunctionData, code: &Code) -> (Option<Built>, Vec<FlowError>) {
    let make_function = |body: CodeId, defaults: &[Const]| nested(world, f, body, defaults);
    let space = FlowSpace {
        world,
        constants: ConstantSpace::new(world.db, world.program),
        graph: FunctionGraph::new(&f.name, (), (), ()),
        consts: Vec::new(),
        module: &f.module,
        block: taipan_graph::BlockId(0),
        at: 0,
        protected: false,
        catches_memory_error: false,
        literal_operands: false,
        merge_due: false,
        log: Vec::new(),
        replayed: 0,
        errors: rustc_hash::FxHashSet::default(),
        leaks: !code.cells.is_empty(),
        make_function: &make_function,
    };
    FlowContext::new(code, space).build(f.globals, &f.closure)
}

/// The function object of a nested function, which has only the globals of the outer
/// one.
fn nested(world: World<'_>, outer: &FunctionData, body: CodeId, defaults: &[Const]) -> ObjId {
    let db = world.db;
    let origin = match body.origin(db) {
        Origin::File(file) => file.path(db).to_string(),
        Origin::Test(file) => format!("test {}", file.path(db)),
        Origin::Text(text) => text.text(db).to_string(),
    };
    let nth = body.nth(db).to_string();
    let globals = format!("{:?}", outer.globals);
    let values: Vec<String> = defaults.iter().map(Const::to_string).collect();
    let qualname = body.qualname(db);
    let mut parts = vec!["nested", &origin, qualname, &nth, &globals];
    parts.extend(values.iter().map(String::as_str));
    let id = stable_id(&parts);
    let data = FunctionData {
        name: qualname.rsplit('.').next().unwrap_or(qualname).into(),
        module: outer.module.clone(),
        code: body,
        globals: outer.globals,
        defaults: defaults.to_vec(),
        closure: Vec::new(),
        attrs: Vec::new(),
        class: None,
    };
    define_synthetic(db, id, ObjData::Function(data));
    id
}
