//! The drivers of a program (`JitDriver`), and its graphs with the way into compiled code.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use taipan_annotator::{JIT_HOOKS, Roots, Spec};
use taipan_base::{Db, Diagnostic, ErrorCode, Severity, Span, noted};
use taipan_graph::{Const, ObjId};
use taipan_interp::{ModuleName, ObjData, Object, module_named};
use taipan_jit::{
    DriverHooks, DriverInfo, FunctionHints, JitProgram, KnownNames, Marker, MarkerKind, NameColor,
    OwnTouches, Portal, PromotedArguments, SourceLine, StaysCall, TsGraph, portal_of,
};
use taipan_lltype::{
    BOOL, CHAR, CodePlace, FuncKind, FuncSym, LLGraph, LLType, SIGNED, STR, StructId,
};
use taipan_rtyper::func_sym_of;

use crate::function::LLFunction;
use crate::modes::jit_is_on;
use crate::stages::hints::jit_attributes;
use crate::stages::native::{line_of, source_of, written_as};
use crate::stages::whole::{marked_functions, rewritten_fields};
use crate::stages::{
    GraphStage, StageProgram, graph_to_follow_once, jit_effects, jit_graph_once, lowlevel_errors,
    root_syms, rtyped,
};

/// A driver of a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
struct DriverKey {
    #[returns(copy)]
    roots: Roots,
    #[returns(copy)]
    object: ObjId,
}

noted! {
    /// Where markers of drivers stand in a function.
    fn marked(db, f: LLFunction) -> Arc<[Marker]> {
        // A portal has what its function has; helpers have none.
        if !matches!(f.sym(db).kind(), FuncKind::User { .. }) {
            return Arc::default();
        }
        match rtyped(db, f.roots(db), f.sym(db)) {
            Some(Ok(graph)) => taipan_jit::markers(&graph).into(),
            _ => Arc::default(),
        }
    }
}

/// Whether a function has the merge point of a driver.
pub(crate) fn has_merge_point(db: &dyn Db, f: LLFunction) -> bool {
    let all = marked(db, f);
    all.iter().any(|m| m.kind == MarkerKind::MergePoint)
}

noted! {
    /// A function from its merge point on.
    fn split(db, f: LLFunction) -> Result<Arc<Portal>, Diagnostic> {
        split_at_merge_point(db, f)
    }
}

fn split_at_merge_point(db: &dyn Db, f: LLFunction) -> Result<Arc<Portal>, Diagnostic> {
    let all = marked(db, f);
    let mut points = all.iter().filter(|m| m.kind == MarkerKind::MergePoint);
    let wrong = |m: Option<&Marker>, text: String| {
        let span = m.and_then(|m| span_of(db, f, m));
        Diagnostic::error(ErrorCode::MisplacedMergePoint, span, text)
    };
    let name = f.sym(db).name();
    let (point, second) = (points.next(), points.next());
    let Some(point) = point else {
        return Err(wrong(None, format!("{name} has no jit_merge_point")));
    };
    if second.is_some() {
        return Err(wrong(
            second,
            format!("{name} has several calls of jit_merge_point"),
        ));
    }
    let graph = match rtyped(db, f.roots(db), f.sym(db)) {
        Some(graph) => graph?,
        None => return Err(wrong(None, format!("{name} has no graph"))),
    };
    taipan_jit::portal(f.sym(db), &graph, point)
        .map(Arc::new)
        .map_err(|e| wrong(Some(point), e.message).with_help(e.help))
}

/// The graph of a portal or of its runner, if the function is one.
pub(crate) fn portal_graph(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Option<Result<Arc<LLGraph>, Diagnostic>> {
    if let Some(portal) = taipan_jit::runner_of(f) {
        return Some(Ok(Arc::new(taipan_jit::runner(portal, None))));
    }
    if let Some(portal) = taipan_jit::rest_of(f) {
        return Some(Ok(Arc::new(taipan_jit::rest(portal))));
    }
    let function = portal_of(f)?;
    let portal = split(db, LLFunction::new(db, roots, function.clone()));
    Some(portal.map(|p| Arc::new(p.graph.clone())))
}

/// The graph of a function with a merge point, in the form in which its calls are followed.
pub(crate) fn followed(db: &dyn Db, f: LLFunction) -> Option<Arc<Portal>> {
    if has_merge_point(db, f) {
        split(db, f).ok()
    } else {
        None
    }
}

fn span_of(db: &dyn Db, f: LLFunction, m: &Marker) -> Option<Span> {
    let func = f.sym(db).clone();
    lowlevel_errors::span_of(db, f.roots(db), &CodePlace { func, at: m.at })
}

/// Whether a program has the class: without it there are no drivers.
pub fn may_have_drivers(db: &dyn Db, roots: Roots) -> bool {
    let jit = ModuleName::new(db, roots.program(db), "rpython.rlib.jit");
    module_named(db, jit).is_some()
}

noted! {
    /// All drivers that have a merge point in a program, by their names and then by those of
    /// their functions.
    pub(crate) fn jit_drivers(db, roots: Roots) -> Result<Arc<[DriverInfo]>, Diagnostic> {
        find_drivers(db, roots)
    }
}

/// A warning about a merge point that the JIT generator refuses: without `--jit` the program can be compiled.
pub(crate) fn driver_warning(db: &dyn Db, roots: Roots) -> Option<Diagnostic> {
    let mut d = jit_drivers(db, roots).err()?;
    if d.code != ErrorCode::MisplacedMergePoint {
        return None;
    }
    d.severity = Severity::Warning;
    Some(d)
}

fn find_drivers(db: &dyn Db, roots: Roots) -> Result<Arc<[DriverInfo]>, Diagnostic> {
    // Most programs need not be looked through.
    if !may_have_drivers(db, roots) {
        return Ok(Arc::default());
    }
    if let Err(e) = root_syms(db, roots) {
        return Err(crate::stages::lowlevel_errors::typer_diagnostic(e));
    }
    let functions = marked_functions(db, roots);
    let mut found: Vec<(ObjId, DriverInfo)> = Vec::new();
    // Drivers whose loops close in functions that have not the merge point as well.
    let mut elsewhere: BTreeSet<ObjId> = BTreeSet::new();
    for f in functions.iter() {
        let key = LLFunction::new(db, roots, f.clone());
        let all = marked(db, key);
        let own = |d: ObjId| {
            let mut points = all.iter().filter(|m| m.kind == MarkerKind::MergePoint);
            points.any(|m| m.driver == d)
        };
        let closing = all.iter().filter(|m| m.kind == MarkerKind::CanEnterJit);
        elsewhere.extend(closing.map(|m| m.driver).filter(|d| !own(*d)));
        let Some(point) = all.iter().find(|m| m.kind == MarkerKind::MergePoint) else {
            continue;
        };
        let portal = split(db, key)?;
        let types = &portal.sym.ty().args;
        let enters = |m: &&Marker| m.kind == MarkerKind::CanEnterJit && m.driver == point.driver;
        let info = DriverInfo {
            number: 0,
            name: driver_name(db, roots, point.driver),
            function: f.clone(),
            portal: portal.sym.clone(),
            runner: taipan_jit::runner_sym(&portal.sym),
            rest: taipan_jit::rest_sym(&portal.sym),
            greens: types[..portal.greens].to_vec(),
            reds: types[portal.greens..].to_vec(),
            enters_at_merge_point: all.iter().find(enters).is_none(),
            hooks: hooks(db, roots, point.driver, &portal).map_err(|text| {
                Diagnostic::error(
                    ErrorCode::MisplacedMergePoint,
                    span_of(db, key, point),
                    text,
                )
            })?,
            is_recursive: matches!(
                driver_attribute(db, roots, point.driver, "is_recursive"),
                Some(Const::Bool(true))
            ),
        };
        if let Some((_, other)) = found.iter().find(|d| d.0 == point.driver) {
            let text = format!(
                "the driver {} has a jit_merge_point in {} as well",
                info.name,
                other.function.name()
            );
            return Err(Diagnostic::error(
                ErrorCode::MisplacedMergePoint,
                span_of(db, key, point),
                text,
            ));
        }
        found.push((point.driver, info));
    }
    for (driver, info) in &mut found {
        info.enters_at_merge_point |= elsewhere.contains(driver);
    }
    found.sort_by(|(_, a), (_, b)| (&a.name, a.function.name()).cmp(&(&b.name, b.function.name())));
    let numbered = found.into_iter().enumerate().map(|(i, (_, mut info))| {
        info.number = i as u32;
        info
    });
    Ok(numbered.collect())
}

/// The colors of the variables of all that the drivers of a program reach, one after the other:
/// see [`taipan_jit::known_names`]. A driver with contradicting hints is left out.
#[salsa::tracked(no_eq, returns(clone))]
fn known_while_compiling(db: &dyn Db, roots: Roots) -> Arc<Vec<KnownNames>> {
    let program = StageProgram::new(db, roots, GraphStage::Jit);
    let drivers = jit_drivers(db, roots).unwrap_or_default();
    let known = (drivers.iter()).filter_map(|d| taipan_jit::known_names(&program, d).ok());
    Arc::new(known.collect())
}

/// Whether the variables of that name in a function are known while compiling the loops of a
/// driver. None if no driver reaches the function, or it has none.
///
/// The first call colors all that drivers reach, which takes long in a large interpreter: to be
/// called where nobody waits for anything else. Later calls are fast.
pub fn color_of_name(db: &dyn Db, spec: Spec, name: &str) -> Option<NameColor> {
    let roots = spec.roots(db);
    if !may_have_drivers(db, roots) {
        return None;
    }
    let sym = func_sym_of(db, spec).ok()?;
    let known = known_while_compiling(db, roots);
    known.iter().rev().find_map(|k| k.color(&sym, name))
}

fn driver_name(db: &dyn Db, roots: Roots, driver: ObjId) -> String {
    let name = driver_attribute(db, roots, driver, "name");
    let name = name.as_ref().and_then(Const::as_str);
    name.unwrap_or("jitdriver").to_owned()
}

/// Names of the greens and of the reds of the driver whose merge point stands in a function. Reds that the driver
/// leaves to be found are not there.
pub(crate) fn driver_variables(
    db: &dyn Db,
    roots: Roots,
    function: &FuncSym,
) -> (Vec<String>, Vec<String>) {
    let all = marked(db, LLFunction::new(db, roots, function.clone()));
    let point = all.iter().find(|m| m.kind == MarkerKind::MergePoint);
    let names = |which: &str| {
        let value = point.and_then(|p| driver_attribute(db, roots, p.driver, which));
        let items = match &value {
            Some(Const::Tuple(items)) => items.to_vec(),
            Some(Const::Obj(list)) => {
                match taipan_interp::object(db, Object::new(db, roots.program(db), *list))
                    .as_deref()
                {
                    Some(ObjData::List(items)) => items.to_vec(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        };
        let names = items.iter().filter_map(Const::as_str);
        names.map(str::to_owned).collect()
    };
    (names("greens"), names("reds"))
}

fn driver_attribute(db: &dyn Db, roots: Roots, driver: ObjId, name: &str) -> Option<Const> {
    let object = Object::new(db, roots.program(db), driver);
    match taipan_interp::object(db, object).as_deref() {
        Some(ObjData::Instance(i)) => i.get(name).cloned(),
        _ => None,
    }
}

/// The kind of value that a hook returns.
#[derive(Clone, Copy)]
enum Returned {
    Str,
    Tuple,
    Bool,
    Int,
}

impl Returned {
    fn is(self, ty: LLType) -> bool {
        match self {
            Returned::Str => ty == STR.ptr() || ty == *CHAR,
            Returned::Tuple => ty.is_gc_ptr(),
            Returned::Bool => ty == *BOOL,
            Returned::Int => ty == *SIGNED,
        }
    }
}

impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Returned::Str => "a string",
            Returned::Tuple => "a tuple",
            Returned::Bool => "a bool",
            Returned::Int => "an integer",
        })
    }
}

/// The functions that a driver names, or what is wrong with one of them.
fn hooks(db: &dyn Db, roots: Roots, driver: ObjId, portal: &Portal) -> Result<DriverHooks, String> {
    let mut hooks = DriverHooks::default();
    if !roots.jit(db) {
        return Ok(hooks);
    }
    let values = &portal.sym.ty().args;
    for name in JIT_HOOKS {
        let Some(Const::Obj(func)) = driver_attribute(db, roots, driver, name) else {
            continue;
        };
        let greens = portal.greens;
        let (given, result, place) = match name {
            "get_printable_location" => (greens, Returned::Str, &mut hooks.printable_location),
            "get_location" => (greens, Returned::Tuple, &mut hooks.location),
            "confirm_enter_jit" => (values.len(), Returned::Bool, &mut hooks.confirm_enter_jit),
            "can_never_inline" => (greens, Returned::Bool, &mut hooks.can_never_inline),
            "get_unique_id" => (greens, Returned::Int, &mut hooks.unique_id),
            _ => (
                greens,
                Returned::Bool,
                &mut hooks.should_unroll_one_iteration,
            ),
        };
        let mut fitting = None;
        for spec in copies(db, roots, func) {
            let sym = func_sym_of(db, spec).map_err(|e| format!("{name}: {}", e.message))?;
            let takes: Vec<LLType> = (sym.ty().args.iter().copied())
                .filter(|t| !t.is_void())
                .collect();
            let same = takes == values[..given];
            let fits = |(a, b): (&LLType, &LLType)| a == b || (a.is_gc_ptr() && b.is_gc_ptr());
            let fits = takes.len() == given && takes.iter().zip(values).all(fits);
            if fits && (same || fitting.is_none()) {
                fitting = Some(sym);
            }
        }
        let Some(sym) = fitting else {
            return Err(format!(
                "{name} is called elsewhere in the program, with values of other types"
            ));
        };
        if !result.is(sym.ty().result) {
            return Err(format!("{name} does not return {result}"));
        }
        *place = Some(sym);
    }
    Ok(hooks)
}

/// A function, or its copies if it is specialised.
fn copies(db: &dyn Db, roots: Roots, func: ObjId) -> Vec<Spec> {
    let all = taipan_annotator::specs_of(db, roots);
    all.iter().copied().filter(|s| s.func(db) == func).collect()
}

noted! {
    /// The driver with a merge point that an object is.
    fn driver(db, key: DriverKey) -> Option<DriverInfo> {
        let roots = key.roots(db);
        let all = jit_drivers(db, roots).ok()?;
        let is_it = |d: &&DriverInfo| {
            let markers = marked(db, LLFunction::new(db, roots, d.function.clone()));
            markers
                .iter()
                .any(|m| m.kind == MarkerKind::MergePoint && m.driver == key.object(db))
        };
        all.iter().find(is_it).cloned()
    }
}

/// A function as the RTyper made it, with questions for compiled code in the place of its
/// markers if compiled code is wanted at all, and with what tells the compiler of writes to
/// fields that seldom change.
pub(crate) fn entered(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Option<Result<Arc<LLGraph>, Diagnostic>> {
    let graph = match rtyped(db, roots, f)? {
        Ok(graph) => graph,
        Err(d) => return Some(Err(d)),
    };
    if !jit_is_on(db) {
        return Some(Ok(graph));
    }
    let program = StageProgram::new(db, roots, GraphStage::Entered);
    let concerned = taipan_jit::runner_of(f).is_some()
        || taipan_jit::has_markers(&graph)
        || taipan_jit::writes_quasi_immutable(&graph, &program);
    if !concerned {
        return Some(Ok(graph));
    }
    let key = LLFunction::new(db, roots, f.clone());
    Some(Ok(entered_graph(db, key).unwrap_or(graph)))
}

noted! {
    fn entered_graph(db, f: LLFunction) -> Option<Arc<LLGraph>> {
        let roots = f.roots(db);
        if let Some(portal) = taipan_jit::runner_of(f.sym(db)) {
            let drivers = jit_drivers(db, roots).ok()?;
            let info = drivers.iter().find(|d| d.portal == *portal);
            return Some(Arc::new(taipan_jit::runner(portal, info)));
        }
        let graph = rtyped(db, roots, f.sym(db))?.ok()?;
        let driver = |object| driver(db, DriverKey::new(db, roots, object));
        let mut graph = taipan_jit::enter_compiled_code(f.sym(db), &graph, &driver);
        let program = StageProgram::new(db, roots, GraphStage::Entered);
        taipan_jit::force_quasi_immutable(&mut graph, &program);
        Some(Arc::new(graph))
    }
}

impl JitProgram for StageProgram<'_> {
    fn hints(&self, f: &FuncSym) -> FunctionHints {
        function_hints(self.db, LLFunction::new(self.db, self.roots, f.clone()))
    }

    fn looks_inside(&self, f: &FuncSym) -> bool {
        looks_inside(self.db, LLFunction::new(self.db, self.roots, f.clone()))
    }

    fn driver(&self, f: &FuncSym) -> Option<DriverInfo> {
        let drivers = jit_drivers(self.db, self.roots).ok()?;
        let is_it = |d: &&DriverInfo| d.function == *f || d.portal == *f;
        drivers.iter().find(is_it).cloned()
    }

    fn can_raise(&self, f: &FuncSym) -> bool {
        match f.kind() {
            FuncKind::External { can_raise, .. } => *can_raise,
            _ => {
                let key = LLFunction::new(self.db, self.roots, f.clone());
                jit_effects(self.db, key).can_raise
            }
        }
    }

    fn is_elidable(&self, f: &FuncSym) -> bool {
        taipan_jit::is_elidable(self, f)
    }

    fn is_search(&self, f: &FuncSym) -> bool {
        taipan_jit::is_search(self, f)
    }

    fn timeshifted(&self, f: &FuncSym) -> Option<Arc<TsGraph>> {
        timeshifted(self.db, LLFunction::new(self.db, self.roots, f.clone()))
    }

    fn touches(&self, f: &FuncSym) -> Arc<OwnTouches> {
        own_touches(self.db, LLFunction::new(self.db, self.roots, f.clone()))
    }

    fn line(&self, place: &CodePlace) -> Option<SourceLine> {
        let (file, spans, lines) = source_of(self.db, self.roots, written_as(&place.func))?;
        let line = line_of(self.db, file, &spans, &lines, place.at);
        let file = file.path(self.db).as_str().into();
        (line > 0).then_some(SourceLine { file, line })
    }

    fn stays_call(&self, f: &FuncSym) -> Option<StaysCall> {
        if self.is_elidable(f) {
            return Some(StaysCall::Elidable);
        }
        if self.looks_inside(f) {
            return None;
        }
        let f = LLFunction::new(self.db, self.roots, f.clone());
        match jit_graph_once(self.db, f) {
            Some(graph) => taipan_jit::stays_call(&function_hints(self.db, f), &graph),
            None => Some(StaysCall::External),
        }
    }

    fn loop_line(&self, f: &FuncSym) -> Option<SourceLine> {
        let key = LLFunction::new(self.db, self.roots, f.clone());
        let graph = jit_graph_once(self.db, key)?;
        let lines = taipan_graph::find_loops(&graph)
            .into_iter()
            .filter_map(|l| {
                let operations = l.blocks.iter().flat_map(|b| &graph.block(*b).operations);
                let lines = operations.filter_map(|op| {
                    let func = f.clone();
                    self.line(&CodePlace { func, at: op.at })
                });
                lines.min_by_key(|l| l.line)
            });
        lines.min_by_key(|l| l.line)
    }

    fn is_settled(&self, class: &StructId, field: &str) -> bool {
        let StructId::Instance(class) = class else {
            return false;
        };
        let rewritten = rewritten_fields(self.db, self.roots);
        !rewritten.contains(&(*class, field.into()))
    }

    fn check_cancelled(&self) {
        self.db.unwind_if_revision_cancelled();
    }
}

pub(crate) fn function_hints(db: &dyn Db, f: LLFunction) -> FunctionHints {
    let said = jit_attributes(db, f);
    let name = |text: &str| text.split('(').next().unwrap_or_default().to_owned();
    FunctionHints {
        elidable: said.elidable,
        // What is not to be in compiled code at all is called, so that it does what it does
        // without.
        look_inside: match &said.oopspec {
            Some(o) if o.text.starts_with("jit.not_in_trace") => Some(false),
            _ => said.look_inside,
        },
        unroll_safe: said.unroll_safe,
        promote_args: said.promote_args.as_ref().map(|text| match &**text {
            "all" => PromotedArguments::All,
            some => PromotedArguments::Some(
                some.split(',')
                    .filter_map(|n| n.trim().parse().ok())
                    .collect(),
            ),
        }),
        has_merge_point: has_merge_point(db, f),
        oopspec: said.oopspec.as_ref().map(|o| name(&o.text)),
    }
}

/// Whether compilers of drivers follow calls of a function.
#[salsa::tracked(returns(copy))]
pub(crate) fn looks_inside(db: &dyn Db, f: LLFunction) -> bool {
    match jit_graph_once(db, f) {
        Some(graph) => taipan_jit::looks_inside(&function_hints(db, f), &graph),
        None => false,
    }
}

/// A function as compilers of drivers read it. Depends on its own graph and on which
/// functions they follow, on no other body.
#[salsa::tracked(returns(clone))]
fn timeshifted(db: &dyn Db, f: LLFunction) -> Option<Arc<TsGraph>> {
    let program = StageProgram::new(db, f.roots(db), GraphStage::Jit);
    let graph = graph_to_follow_once(db, f)?;
    let graph = taipan_transform::optimize_followed(&graph, &program);
    taipan_jit::timeshift_function(&program, f.sym(db), &graph)
}

/// What a function does to memory. The exception transform changes nothing of that.
#[salsa::tracked(returns(clone))]
fn own_touches(db: &dyn Db, f: LLFunction) -> Arc<OwnTouches> {
    // Its drivers determine which virtualizables own their lists.
    let program = StageProgram::new(db, f.roots(db), GraphStage::Jit);
    let graph = rtyped(db, f.roots(db), f.sym(db));
    let Some(graph) = graph.transpose().ok() else {
        return Arc::new(OwnTouches::anything());
    };
    Arc::new(OwnTouches::new(&program, f.sym(db), graph.as_deref()))
}
