//! Drivers: where the markers of a `JitDriver` stand, and what the compiler makes of
//! them (RPython: `split_graph_and_record_jitdriver`, `rewrite_can_enter_jit` and
//! `rewrite_jit_merge_point` of `warmspot.py`).
//!
//! From a function with a merge point comes the *portal*: the same graph from the merge
//! point on, whose arguments are greens, then reds.
//!
//! ```text
//! f(n):                                     portal of f(pc, n):
//!     goto b1(0, n)                             goto b1(pc, n)
//! b1(pc, n):                                b1(pc, n):
//!     jit_marker(.jit_merge_point, pc, n)       jit_marker(.jit_merge_point, pc, n)
//!     ...                                       ...
//! ```
//!
//! It is what the JIT generator reads, and what code goes on in when nothing is compiled.
//! In code that runs, the function calls its portal, and where compiled code can be
//! entered stands a question for it:
//!
//! ```text
//!     jit_marker(.can_enter_jit, pc, n)         code = jit_enter(number, pc)
//!     goto b1(pc, n)                            if code: return code(n)
//!                                               goto b1(pc, n)
//! ```

use serde::{Deserialize, Serialize};
use taipan_graph::{
    BlockId, Const, ExitCase, ExitSwitch, Link, ObjId, Operation, VarId, cleanup, ssa_to_ssi,
};
use taipan_lltype::{
    BOOL, CHAR, ConstantOperand, FuncKind, FuncSym, FuncType, HelperArg, LLConst, LLGraph,
    LLOperand, LLType, LowLevel, NamedOperands, NumFamily, NumOp, OBJECT, OBJECT_VTABLE, PlainOp,
    SIGNED, TypeKind, UNICHAR, UNSIGNED, VOID, View, VoidConst, word_const,
};

use crate::prepare::call_stub;
use crate::purity::operand_ty;

/// What a marker says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkerKind {
    /// `jit_merge_point`: the head of the interpreter's loop.
    MergePoint,
    /// `can_enter_jit`: where a loop of the interpreted program closes.
    CanEnterJit,
}

/// A marker in a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    /// What it says.
    pub kind: MarkerKind,
    /// Of which driver.
    pub driver: ObjId,
    /// Where the instruction is in the source.
    pub at: u32,
    block: BlockId,
    op: usize,
    greens: usize,
    /// All that is used afterwards and not green is red.
    automatic: bool,
}

/// A driver of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DriverInfo {
    /// Its place among the drivers of the program.
    pub number: u32,
    /// For people.
    pub name: String,
    /// The function that the merge point stands in.
    pub function: FuncSym,
    /// That function from the merge point on.
    pub portal: FuncSym,
    /// What calls the portal, or code that was compiled for the greens if there is some
    /// (RPython: `ll_portal_runner`).
    pub runner: FuncSym,
    /// What calls the portal with the values that compiled code has left, as long as there are
    /// some (RPython: the loop around `ContinueRunningNormally` in `ll_portal_runner`).
    pub rest: FuncSym,
    /// Types of the greens; those without a value at run time are left out.
    pub greens: Vec<LLType>,
    /// Types of the reds, likewise.
    pub reds: Vec<LLType>,
    /// Compiled code is entered at the merge point: there is no `can_enter_jit` in the
    /// function, or others have some.
    pub enters_at_merge_point: bool,
    /// The functions of the program that it names.
    pub hooks: DriverHooks,
    /// `is_recursive`: the interpreter calls itself.
    pub is_recursive: bool,
}

/// What a driver has the compiler ask. All functions get the words of the greens; if they
/// raise, what they would have said is not known.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DriverHooks {
    /// `get_printable_location`: a string that says where that is.
    pub printable_location: Option<FuncSym>,
    /// `get_location`: file, line, function, index and operation, a tuple.
    pub location: Option<FuncSym>,
    /// `confirm_enter_jit`: whether code may be compiled and entered. It gets the reds as
    /// well.
    pub confirm_enter_jit: Option<FuncSym>,
    /// `can_never_inline`: whether a call that gets to the merge point with these greens
    /// stays a call.
    pub can_never_inline: Option<FuncSym>,
    /// `should_unroll_one_iteration`: whether a loop that starts with these greens is
    /// entered in the second round only.
    pub should_unroll_one_iteration: Option<FuncSym>,
    /// `get_unique_id`: a number for the code that runs.
    pub unique_id: Option<FuncSym>,
}

impl DriverHooks {
    /// All that are there.
    pub fn functions(&self) -> impl Iterator<Item = &FuncSym> {
        let all = [
            &self.printable_location,
            &self.location,
            &self.confirm_enter_jit,
            &self.can_never_inline,
            &self.should_unroll_one_iteration,
            &self.unique_id,
        ];
        all.into_iter().flatten()
    }
}

impl DriverInfo {
    /// The type of residual code: it takes the reds.
    pub fn entry_type(&self) -> FuncType {
        FuncType {
            args: self.reds.clone(),
            result: self.portal.ty().result,
        }
    }

    /// Whether compiled code can leave the values of a merge point to the interpreter.
    pub fn can_leave(&self) -> bool {
        left_values(&self.portal).is_some()
    }
}

const PORTAL_OF: &str = "portal of ";

/// The function that a portal is a part of.
pub fn portal_of(f: &FuncSym) -> Option<&FuncSym> {
    match f.kind() {
        FuncKind::Synth { name, args } if name.starts_with(PORTAL_OF) => match &args[..] {
            [HelperArg::Const(VoidConst::Func(function))] => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// The marker that an operation is.
pub(crate) fn marker_kind(op: &Operation<LowLevel>) -> Option<MarkerKind> {
    let View::JitMarker { kind, .. } = op.view_among(&[PlainOp::JitMarker])? else {
        return None;
    };
    match kind.as_field()? {
        "jit_merge_point" => Some(MarkerKind::MergePoint),
        "can_enter_jit" => Some(MarkerKind::CanEnterJit),
        _ => None,
    }
}

/// The values that a marker names, those of Void left out, and how many are green.
pub(crate) fn marker_values(graph: &LLGraph, op: &Operation<LowLevel>) -> (Vec<LLOperand>, usize) {
    let greens = shape(op).map_or(0, |s| s.0);
    let mut count = 0;
    let mut values = Vec::new();
    let View::JitMarker { values: named, .. } = op.view() else {
        return (values, count);
    };
    for (i, o) in named.iter().enumerate() {
        if !operand_ty(graph, o).is_void() {
            count += usize::from(i < greens);
            values.push(o.clone());
        }
    }
    (values, count)
}

fn shape(op: &Operation<LowLevel>) -> Option<(usize, bool)> {
    let View::JitMarker { shape, .. } = op.view() else {
        return None;
    };
    match shape {
        LLOperand::Const(LLConst::Void(VoidConst::Hl(Const::Tuple(items)))) => match &items[..] {
            [Const::Int(n), Const::Bool(automatic)] => Some((*n as usize, *automatic)),
            _ => None,
        },
        _ => None,
    }
}

/// The markers of a graph as the RTyper made it, in order.
pub fn markers(graph: &LLGraph) -> Vec<Marker> {
    let mut out = Vec::new();
    for b in graph.reachable() {
        for (i, op) in graph.block(b).operations.iter().enumerate() {
            let (Some(kind), Some((greens, automatic))) = (marker_kind(op), shape(op)) else {
                continue;
            };
            if let View::JitMarker {
                driver: LLOperand::Const(LLConst::Void(VoidConst::Hl(Const::Obj(driver)))),
                ..
            } = op.view()
            {
                out.push(Marker {
                    kind,
                    driver: *driver,
                    at: op.at,
                    block: b,
                    op: i,
                    greens,
                    automatic,
                });
            }
        }
    }
    out
}

/// Whether something in a graph is for the compiler of drivers.
pub fn has_markers(graph: &LLGraph) -> bool {
    (graph.blocks.iter().flat_map(|b| &b.operations))
        .any(|op| op.op == PlainOp::JitMarker.into() || op.op == PlainOp::JitSetParam.into())
}

/// A function from its merge point on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Portal {
    /// Its name.
    pub sym: FuncSym,
    /// Its graph, with the marker at the head of the block that its first block leads to.
    pub graph: LLGraph,
    /// The graph of the whole function, with the marker in the same form: where its calls
    /// are followed, this is read.
    pub whole: LLGraph,
    /// How many of its arguments are green.
    pub greens: usize,
}

/// Why a function cannot be split before its merge point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MisplacedMarker {
    /// In words.
    pub message: String,
    /// The remedy.
    pub help: &'static str,
}

fn no_merge_point() -> MisplacedMarker {
    MisplacedMarker {
        message: "there is no merge point".to_owned(),
        help: "call `jit_merge_point()` at the head of the interpreter's loop",
    }
}

/// Splits a function before its merge point.
pub fn portal(
    function: &FuncSym,
    graph: &LLGraph,
    marker: &Marker,
) -> Result<Portal, MisplacedMarker> {
    let mut g = graph.clone();
    let after = g.split_block(marker.block, marker.op + 1);
    let Some(op) = g.block_mut(marker.block).operations.pop() else {
        return Err(no_merge_point());
    };
    let needed = g.block(marker.block).exits[0].args.clone();
    let View::JitMarker {
        kind,
        driver,
        values: given,
        ..
    } = op.view()
    else {
        return Err(no_merge_point());
    };
    let (mut values, greens) = marker_values(&g, &op);
    if marker.automatic {
        let new = needed.iter().filter(|o| !given.contains(o));
        values.extend(new.filter(|o| !operand_ty(&g, o).is_void()).cloned());
    }
    // One variable for each of the values, in the block that starts with the marker.
    let mut inputs = Vec::new();
    for (i, o) in values.iter().enumerate() {
        if let (LLOperand::Var(_), Some(first)) = (o, values[..i].iter().position(|x| x == o)) {
            let name = |i: usize| if i < greens { "green" } else { "red" };
            let v = values[i].as_var().map_or("", |v| &*g.vars[v.index()].name);
            return Err(MisplacedMarker {
                message: format!(
                    "the {} variable `{v}` of the merge point is a {} one as well",
                    name(i),
                    name(first),
                ),
                help: "name it once",
            });
        }
        let ty = operand_ty(&g, o);
        inputs.push(match o {
            LLOperand::Var(v) => g.copy_var(*v),
            LLOperand::Const(_) => g.new_var("", ty),
        });
    }
    let mut passed = Vec::new();
    for o in &needed {
        let at = values.iter().position(|v| v == o);
        passed.push(match at {
            Some(i) => LLOperand::Var(inputs[i]),
            None if operand_ty(&g, o).is_void() => LLOperand::Const(LLConst::void()),
            None => {
                let name = o.as_var().map_or("", |v| &*g.vars[v.index()].name);
                return Err(MisplacedMarker {
                    message: match name {
                        "" => "a value that is used after the merge point is neither green nor red"
                            .to_owned(),
                        name => format!(
                            "`{name}` is used after the merge point, and is neither green nor red"
                        ),
                    },
                    help: "add it to the reds of the driver, and pass it to `jit_merge_point()`",
                });
            }
        });
    }
    let head = g.new_block(inputs.clone());
    let shape = Const::Tuple([Const::Int(greens as i64), Const::Bool(false)].into());
    let named: Vec<_> = inputs.iter().map(|v| LLOperand::Var(*v)).collect();
    let marker_op = View::JitMarker {
        kind,
        driver,
        shape: &LLOperand::Const(LLConst::Void(VoidConst::Hl(shape))),
        values: &named,
    };
    let marker_op = marker_op.operation(op.result, op.at);
    g.block_mut(head).operations.push(marker_op);
    g.block_mut(head).exits = vec![Link::new(after, passed)];
    g.block_mut(marker.block).exits = vec![Link::new(head, values)];
    let mut whole = g.clone();
    whole.compact();
    let own: Vec<VarId> = inputs.iter().map(|v| g.copy_var(*v)).collect();
    let start = g.new_block(own.clone());
    let args = own.iter().map(|v| LLOperand::Var(*v)).collect();
    g.block_mut(start).exits = vec![Link::new(head, args)];
    g.startblock = start;
    let types = own.iter().map(|v| *g.ty(*v)).collect();
    let sym = portal_sym(function, types);
    g.name = sym.name().into();
    g.compact();
    Ok(Portal {
        sym,
        graph: g,
        whole,
        greens,
    })
}

fn portal_sym(function: &FuncSym, args: Vec<LLType>) -> FuncSym {
    FuncSym::new(
        FuncKind::Synth {
            name: format!("{PORTAL_OF}{}", function.name()).into(),
            args: [HelperArg::Const(VoidConst::Func(function.clone()))].into(),
        },
        FuncType {
            args,
            result: function.ty().result,
        },
    )
}

const RUNNER_OF: &str = "runner of ";

/// The runner of a portal.
pub fn runner_sym(portal: &FuncSym) -> FuncSym {
    FuncSym::new(
        FuncKind::Synth {
            name: format!("{RUNNER_OF}{}", portal.name()).into(),
            args: [HelperArg::Const(VoidConst::Func(portal.clone()))].into(),
        },
        portal.ty().clone(),
    )
}

/// The portal that a runner calls.
pub fn runner_of(f: &FuncSym) -> Option<&FuncSym> {
    match f.kind() {
        FuncKind::Synth { name, args } if name.starts_with(RUNNER_OF) => match &args[..] {
            [HelperArg::Const(VoidConst::Func(portal))] => Some(portal),
            _ => None,
        },
        _ => None,
    }
}

/// The graph of a runner: it calls the portal, with a question for compiled code before
/// if `info` is given.
pub fn runner(portal: &FuncSym, info: Option<&DriverInfo>) -> LLGraph {
    let mut g = call_stub(portal);
    if let Some(info) = info {
        let start = g.startblock;
        let values = g.block(start).inputargs.clone();
        let values: Vec<_> = values.into_iter().map(LLOperand::Var).collect();
        let direct = g.split_block(start, 0);
        let args = g.block(start).exits[0].args.clone();
        let returned = g.block(direct).exits[0].args[0].clone();
        return_rest(&mut g, direct, info, returned);
        ask(&mut g, start, info, &values, Link::new(direct, args), false);
        ssa_to_ssi(&mut g);
        cleanup(&mut g);
        g.compact();
    }
    g
}

const REST_OF: &str = "rest of ";

/// See [`DriverInfo::rest`].
pub fn rest_sym(portal: &FuncSym) -> FuncSym {
    FuncSym::new(
        FuncKind::Synth {
            name: format!("{REST_OF}{}", portal.name()).into(),
            args: [HelperArg::Const(VoidConst::Func(portal.clone()))].into(),
        },
        FuncType {
            args: Vec::new(),
            result: portal.ty().result,
        },
    )
}

/// The portal that such a function calls.
pub fn rest_of(f: &FuncSym) -> Option<&FuncSym> {
    match f.kind() {
        FuncKind::Synth { name, args } if name.starts_with(REST_OF) => match &args[..] {
            [HelperArg::Const(VoidConst::Func(portal))] => Some(portal),
            _ => None,
        },
        _ => None,
    }
}

/// The functions of the runtime that give the values of a portal which compiled code has left, by
/// argument. None if one of them does not fit into a word.
fn left_values(portal: &FuncSym) -> Option<Vec<Option<FuncSym>>> {
    let mut number = 0;
    let mut all = Vec::with_capacity(portal.ty().args.len());
    for ty in &portal.ty().args {
        let (name, result) = match ty.kind() {
            TypeKind::Void => {
                all.push(None);
                continue;
            }
            TypeKind::Float => ("rpy_jit_left_float", *ty),
            TypeKind::Ptr(_) | TypeKind::Address => ("rpy_jit_left_word", *ty),
            _ if [*SIGNED, *UNSIGNED].contains(ty) => ("rpy_jit_left_word", *ty),
            // Each value was widened to a word; narrow it again.
            _ if [*BOOL, *CHAR, *UNICHAR].contains(ty) => ("rpy_jit_left_word", *SIGNED),
            _ => return None,
        };
        number += 1;
        all.push(Some(runtime_sym(name, vec![*SIGNED], result)));
    }
    (number <= MOST_LEFT).then_some(all)
}

/// Maximum number of values that compiled code leaves to the interpreter. The runtime's buffer holds at least this
/// number.
pub const MOST_LEFT: usize = 63;

fn runtime_sym(name: &str, args: Vec<LLType>, result: LLType) -> FuncSym {
    FuncSym::new(
        FuncKind::External {
            name: name.into(),
            can_collect: false,
            can_raise: false,
            releases_gil: false,
            library: None,
        },
        FuncType { args, result },
    )
}

/// The graph of [`DriverInfo::rest`]. Where nothing can be left it is never called.
pub fn rest(portal: &FuncSym) -> LLGraph {
    let result = portal.ty().result;
    let name = rest_sym(portal);
    let mut g = LLGraph::new(name.name(), result, OBJECT_VTABLE.ptr(), OBJECT.ptr());
    let start = g.startblock;
    let again = g.new_block(Vec::new());
    // Clears the flag: the caller has checked it.
    take_left(&mut g, start);
    g.block_mut(start).exits = vec![Link::new(again, Vec::new())];
    let mut args = Vec::new();
    let mut number = 0;
    for (i, ty) in portal.ty().args.iter().enumerate() {
        let value = left_values(portal).and_then(|all| all[i].clone());
        args.push(match value {
            None if ty.is_void() => LLOperand::Const(LLConst::void()),
            None => LLOperand::Const(word_const(0, *ty).unwrap_or(LLConst::Null(*ty))),
            Some(value) => {
                let result = value.ty().result;
                let callee = LLOperand::Const(LLConst::Func(value));
                let call = View::DirectCall {
                    callee: &callee,
                    args: &[LLOperand::Const(LLConst::signed(number))],
                };
                number += 1;
                let word = push(&mut g, again, call, result);
                let value = &word;
                match *ty {
                    t if t == *BOOL => {
                        let is_true = View::Binary {
                            family: NumFamily::Int,
                            op: NumOp::Ne,
                            left: value,
                            right: &LLOperand::Const(LLConst::signed(0)),
                        };
                        push(&mut g, again, is_true, t)
                    }
                    t if t == *CHAR => push(&mut g, again, View::CastIntToChar { value }, t),
                    t if t == *UNICHAR => push(&mut g, again, View::CastIntToUnichar { value }, t),
                    _ => word,
                }
            }
        });
    }
    let callee = LLOperand::Const(LLConst::Func(portal.clone()));
    let call = View::DirectCall {
        callee: &callee,
        args: &args,
    };
    let returned = push(&mut g, again, call, result);
    let left = take_left(&mut g, again);
    let on = g.new_block(Vec::new());
    return_(&mut g, on, returned);
    let block = g.block_mut(again);
    block.exitswitch = ExitSwitch::Value(left);
    block.exits = vec![
        Link::with_case(on, Vec::new(), ExitCase::Bool(false)),
        Link::with_case(again, Vec::new(), ExitCase::Bool(true)),
    ];
    ssa_to_ssi(&mut g);
    g.compact();
    g
}

/// The function of the runtime that says whether compiled code has left values.
pub(crate) const TAKE_LEFT: &str = "rpy_jit_take_left";

fn take_left(g: &mut LLGraph, b: BlockId) -> LLOperand {
    let callee = runtime_sym(TAKE_LEFT, Vec::new(), *BOOL);
    let callee = LLOperand::Const(LLConst::Func(callee));
    let call = View::DirectCall {
        callee: &callee,
        args: &[],
    };
    push(g, b, call, *BOOL)
}

/// Returns the result of a portal or of compiled code; if the latter left values to the interpreter, the
/// result of [`DriverInfo::rest`].
fn return_rest(g: &mut LLGraph, b: BlockId, info: &DriverInfo, returned: LLOperand) {
    if !info.can_leave() {
        return return_(g, b, returned);
    }
    let left = take_left(g, b);
    let (direct, rest) = (g.new_block(Vec::new()), g.new_block(Vec::new()));
    return_(g, direct, returned);
    let callee = LLOperand::Const(LLConst::Func(info.rest.clone()));
    let call = View::DirectCall {
        callee: &callee,
        args: &[],
    };
    let returned = push(g, rest, call, info.portal.ty().result);
    return_(g, rest, returned);
    let block = g.block_mut(b);
    block.exitswitch = ExitSwitch::Value(left);
    block.exits = vec![
        Link::with_case(direct, Vec::new(), ExitCase::Bool(false)),
        Link::with_case(rest, Vec::new(), ExitCase::Bool(true)),
    ];
}

/// Makes questions for compiled code of the markers of a function, for code that runs.
/// `driver` says what is known of a driver that has a portal.
pub fn enter_compiled_code(
    function: &FuncSym,
    graph: &LLGraph,
    driver: &dyn Fn(ObjId) -> Option<DriverInfo>,
) -> LLGraph {
    let mut g = graph.clone();
    let portal = portal_of(function);
    let own = portal.unwrap_or(function);
    for op in g.blocks.iter_mut().flat_map(|b| &mut b.operations) {
        if op.op == PlainOp::JitSetParam.into() {
            set_param(op, driver);
        }
    }
    loop {
        let all = markers(&g);
        let of_here = |m: &&Marker| driver(m.driver).is_some_and(|d| d.function == *own);
        // The merge point first: what follows it may be in the portal alone.
        let first = (all.iter().filter(of_here)).min_by_key(|m| m.kind == MarkerKind::CanEnterJit);
        let Some((m, info)) = first.and_then(|m| Some((m, driver(m.driver)?))) else {
            break;
        };
        match m.kind {
            MarkerKind::CanEnterJit => {
                let after = g.split_block(m.block, m.op + 1);
                let args = g.block(m.block).exits[0].args.clone();
                let values = take_marker(&mut g, m.block);
                let goes_on = Link::new(after, args);
                ask(&mut g, m.block, &info, &values, goes_on, portal.is_some());
            }
            MarkerKind::MergePoint if portal.is_some() => {
                let head = m.block;
                g.block_mut(head).operations.remove(m.op);
                if info.enters_at_merge_point {
                    ask_on_the_way(&mut g, head, &info);
                }
            }
            MarkerKind::MergePoint => {
                g.split_block(m.block, m.op + 1);
                let values = take_marker(&mut g, m.block);
                enter_portal(&mut g, m.block, &info, values);
            }
        }
    }
    // Others say nothing here: their driver has no merge point, or one elsewhere.
    for b in &mut g.blocks {
        b.operations.retain(|op| marker_kind(op).is_none());
    }
    ssa_to_ssi(&mut g);
    cleanup(&mut g);
    g.compact();
    g
}

/// Takes a marker off the end of a block; its values.
fn take_marker(g: &mut LLGraph, b: BlockId) -> Vec<LLOperand> {
    match g.block_mut(b).operations.pop() {
        Some(op) => marker_values(g, &op).0,
        None => Vec::new(),
    }
}

fn push(g: &mut LLGraph, b: BlockId, op: View<'_, LLOperand>, ty: LLType) -> LLOperand {
    let result = g.new_var("", ty);
    g.block_mut(b).operations.push(op.operation(result, 0));
    LLOperand::Var(result)
}

/// Ends a block with a question for compiled code. Where there is none, code goes on as
/// `otherwise` says. What compiled code leaves is the business of who has called the portal, if
/// the graph is that one's.
fn ask(
    g: &mut LLGraph,
    b: BlockId,
    info: &DriverInfo,
    values: &[LLOperand],
    otherwise: Link<LowLevel>,
    in_portal: bool,
) {
    let b = match &info.hooks.confirm_enter_jit {
        Some(confirm) => confirmed(g, b, confirm, values, &otherwise),
        None => b,
    };
    let (greens, reds) = values.split_at(info.greens.len().min(values.len()));
    let ptr = LLType::new(TypeKind::Func(info.entry_type())).ptr();
    let driver = &LLOperand::Const(LLConst::signed(i64::from(info.number)));
    let code = push(g, b, View::JitEnter { driver, greens }, ptr);
    let is_there = push(g, b, View::PtrNonzero { value: &code }, *BOOL);
    let enter = g.new_block(Vec::new());
    let call = View::IndirectCall {
        callee: &code,
        args: reds,
        // Nobody knows what may be called.
        targets: &LLOperand::Const(LLConst::void()),
    };
    let returned = push(g, enter, call, info.portal.ty().result);
    match in_portal {
        true => return_(g, enter, returned),
        false => return_rest(g, enter, info, returned),
    }
    let block = g.block_mut(b);
    block.exitswitch = ExitSwitch::Value(is_there);
    block.exits = vec![
        Link::with_case(otherwise.target, otherwise.args, ExitCase::Bool(false)),
        Link::with_case(enter, Vec::new(), ExitCase::Bool(true)),
    ];
}

/// Asks the program whether compiled code may be entered; the block for yes.
fn confirmed(
    g: &mut LLGraph,
    b: BlockId,
    confirm: &FuncSym,
    values: &[LLOperand],
    otherwise: &Link<LowLevel>,
) -> BlockId {
    let mut values = values.iter();
    let mut args = Vec::with_capacity(confirm.ty().args.len());
    for ty in &confirm.ty().args {
        if ty.is_void() {
            args.push(LLOperand::Const(LLConst::void()));
        } else if let Some(v) = values.next() {
            args.push(match operand_ty(g, v) == *ty {
                true => v.clone(),
                false => push(g, b, View::CastPointer { value: v }, *ty),
            });
        }
    }
    let call = View::DirectCall {
        callee: &LLOperand::Const(LLConst::Func(confirm.clone())),
        args: &args,
    };
    let yes = push(g, b, call, *BOOL);
    let on = g.new_block(Vec::new());
    let block = g.block_mut(b);
    block.exitswitch = ExitSwitch::Value(yes);
    block.exits = vec![
        Link::with_case(
            otherwise.target,
            otherwise.args.clone(),
            ExitCase::Bool(false),
        ),
        Link::with_case(on, Vec::new(), ExitCase::Bool(true)),
    ];
    on
}

fn return_(g: &mut LLGraph, b: BlockId, value: LLOperand) {
    let value = match g.ty(g.returnvar()).is_void() {
        true => LLOperand::Const(LLConst::void()),
        false => value,
    };
    let target = g.returnblock;
    g.block_mut(b).exitswitch = ExitSwitch::None;
    g.block_mut(b).exits = vec![Link::new(target, vec![value])];
}

/// Asks wherever the interpreter's loop comes back to its head, but not at the start.
fn ask_on_the_way(g: &mut LLGraph, head: BlockId, info: &DriverInfo) {
    let inputs = g.block(head).inputargs.clone();
    let own: Vec<VarId> = inputs.iter().map(|v| g.copy_var(*v)).collect();
    let values: Vec<LLOperand> = own.iter().map(|v| LLOperand::Var(*v)).collect();
    let question = g.new_block(own);
    let start = g.startblock;
    for (i, block) in g.blocks.iter_mut().enumerate() {
        if i != start.index() {
            for link in &mut block.exits {
                if link.target == head {
                    link.target = question;
                }
            }
        }
    }
    let goes_on = Link::new(head, values.clone());
    ask(g, question, info, &values, goes_on, true);
}

/// Ends a block with the way into the loop: into compiled code, else into the portal.
fn enter_portal(g: &mut LLGraph, b: BlockId, info: &DriverInfo, mut values: Vec<LLOperand>) {
    // Reds that are found automatically are no operands of the marker.
    let missing = info.portal.ty().args.len().saturating_sub(values.len());
    if missing > 0 {
        let needed = g.block(b).exits[0].args.clone();
        let new = needed.iter().filter(|o| !values.contains(o));
        let new = new.filter(|o| !operand_ty(g, o).is_void());
        let new: Vec<_> = new.take(missing).cloned().collect();
        values.extend(new);
    }
    let direct = g.new_block(Vec::new());
    let callee = LLOperand::Const(LLConst::Func(info.portal.clone()));
    let call = View::DirectCall {
        callee: &callee,
        args: &values,
    };
    let returned = push(g, direct, call, info.portal.ty().result);
    return_rest(g, direct, info, returned);
    ask(g, b, info, &values, Link::new(direct, Vec::new()), false);
}

/// The function of the runtime that sets a parameter: driver, or -1 for all; the
/// parameter, by its place in [`PARAMETERS`]; its value, or the least integer for the
/// default.
pub const SET_PARAM: &str = "rpy_jit_set_param";

/// The parameters that have an effect.
pub const PARAMETERS: [&str; 1] = ["threshold"];

fn set_param(op: &mut Operation<LowLevel>, driver: &dyn Fn(ObjId) -> Option<DriverInfo>) {
    let View::JitSetParam {
        driver: of,
        name,
        value,
    } = op.view()
    else {
        return;
    };
    let signed = |n: i64| LLOperand::Const(LLConst::signed(n));
    let number = match of {
        LLOperand::Const(LLConst::Void(VoidConst::Hl(Const::Obj(d)))) => {
            driver(*d).map(|d| i64::from(d.number))
        }
        _ => Some(-1),
    };
    let name = name.as_field();
    let parameter = name.and_then(|name| PARAMETERS.iter().position(|p| *p == name));
    let (Some(number), Some(parameter)) = (number, parameter) else {
        // It means nothing here; simplifying drops it.
        return;
    };
    let value = value.cloned().unwrap_or_else(|| signed(i64::MIN));
    let callee = runtime_sym(SET_PARAM, vec![*SIGNED; 3], *VOID);
    let callee = LLOperand::Const(LLConst::Func(callee));
    let call = View::DirectCall {
        callee: &callee,
        args: &[signed(number), signed(parameter as i64), value],
    };
    *op = call.operation(op.result, op.at);
}
