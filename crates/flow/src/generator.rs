//! Generators (RPython: `rpython/flowspace/generator.py`).
//!
//! A call of a generator function makes an `Entry` object that holds the arguments,
//! and a `GeneratorIterator` around it: a class of its own for every generator
//! function, made here along with its `next` method. `next` calls the function's
//! body as a second function object, whose graph takes the current position and
//! returns the next one along with the value yielded:
//!
//! ```text
//! v1 = yield_(v0)             v2 = simple_call(#Resume1)
//! v3 = op(v4)                 v5 = setattr(v2, 'g_v4', v4)
//!                             v6 = newtuple(v2, v0)
//!                             goto return(v6)
//!                         and block1(v7):
//!                             v8 = getattr(v7, 'g_v4')
//!                             v3 = op(v8)
//! ```

use camino::Utf8Path;
use taipan_base::SHIPPED;
use taipan_code::{Code, CodeId, Origin};
use taipan_graph::{
    BlockId, Const, ExitCase, ExitSwitch, FunctionGraph, HlOp, Link, ObjId, Operation, VarId,
    eliminate_empty_blocks,
};
use taipan_interp::{ClassData, FunctionData, ObjData, define_synthetic, named_id, stable_id};

use crate::context::{Built, raise_new};
use crate::simplify::simplify;
use crate::value::Operand;
use crate::world::World;
use crate::{FlowError, Signature};

/// Attribute of the function object that stands for a generator's body: its class.
pub(crate) const BODY_OF: &str = "_generator_next_method_of_";

/// The body takes a position.
pub(crate) fn body_signature() -> Signature {
    Signature {
        argnames: vec!["entry".into()],
        ..Signature::default()
    }
}

/// The graph that a call of the generator function runs.
pub(crate) fn entry_graph(
    world: World<'_>,
    id: ObjId,
    f: &FunctionData,
    code: &Code,
) -> FunctionGraph {
    let classes = Classes::of(id);
    classes.define(world, f);
    let mut graph = FunctionGraph::new(&f.name, (), (), ());
    let start = graph.startblock;
    let params = code.argcount + u32::from(code.varargs) + u32::from(code.varkeywords);
    let args: Vec<VarId> = (code.locals[..params as usize].iter())
        .map(|name| graph.new_var(name, ()))
        .collect();
    graph.block_mut(start).inputargs = args.clone();
    let names = attribute_names(&graph, &args);
    let entry = position_class(world, classes.iterator, "Entry", &names);
    let entry = push(&mut graph, start, HlOp::SimpleCall, vec![class(entry)]);
    store(&mut graph, start, entry, &args);
    let call = vec![class(classes.iterator), Operand::Var(entry)];
    let iterator = push(&mut graph, start, HlOp::SimpleCall, call);
    let target = graph.returnblock;
    graph.block_mut(start).exits = vec![Link::new(target, vec![Operand::Var(iterator)])];
    graph.compact();
    graph
}

/// The graph of the body, from the one with `yield_` operations.
pub(crate) fn body_graph(
    world: World<'_>,
    iterator: ObjId,
    built: Built,
) -> Result<FunctionGraph, FlowError> {
    let (mut graph, _) = simplify(world, built)?;
    let g = &mut graph;
    let names = attribute_names(g, g.args());
    let entry = position_class(world, iterator, "Entry", &names);
    let mut positions = vec![(entry, entry_position(g))];
    // The end of the body is the end of the iteration.
    let stop = g.new_block(vec![]);
    raise_new(g, stop, "exceptions.StopIteration");
    let returnblock = g.returnblock;
    let blocks = g.reachable();
    for b in &blocks {
        for link in &mut g.block_mut(*b).exits {
            if link.target == returnblock {
                link.target = stop;
                link.args.clear();
            }
        }
    }
    for b in blocks {
        for i in (0..g.block(b).operations.len()).rev() {
            if g.block(b).operations[i].op == HlOp::Yield {
                let name = format!("Resume{}", positions.len());
                positions.push(split_at_yield(world, g, iterator, &name, (b, i)));
            }
        }
    }
    dispatch(g, &positions);
    eliminate_empty_blocks(g);
    g.compact();
    Ok(graph)
}

/// A block that reads the arguments from the entry object and goes to the start block.
fn entry_position(g: &mut FunctionGraph) -> BlockId {
    let args = g.args().to_vec();
    let copies: Vec<VarId> = args.iter().map(|v| g.copy_var(*v)).collect();
    let block = g.new_block(copies.clone());
    let args = copies.into_iter().map(Operand::Var).collect();
    g.block_mut(block).exits = vec![Link::new(g.startblock, args)];
    load(g, block);
    block
}

/// Ends a block at a `yield_` and answers where to resume: the class of that
/// position, and the block.
fn split_at_yield(
    world: World<'_>,
    g: &mut FunctionGraph,
    iterator: ObjId,
    name: &str,
    (b, i): (BlockId, usize),
) -> (ObjId, BlockId) {
    let op = g.block_mut(b).operations.remove(i);
    let next = g.split_block(b, i);
    let saved: Vec<VarId> = (g.block(b).exits[0].args.iter())
        .filter_map(Operand::as_var)
        .collect();
    let resume = position_class(world, iterator, name, &attribute_names(g, &saved));
    let position = push(g, b, HlOp::SimpleCall, vec![class(resume)]);
    store(g, b, position, &saved);
    let yielded = op.args[0].clone();
    let pair = push(g, b, HlOp::NewTuple, vec![Operand::Var(position), yielded]);
    let returnblock = g.returnblock;
    g.block_mut(b).exits = vec![Link::new(returnblock, vec![Operand::Var(pair)])];
    load(g, next);
    (resume, next)
}

/// The new start block: goes where the position says.
fn dispatch(g: &mut FunctionGraph, positions: &[(ObjId, BlockId)]) {
    let mut v = g.new_var("entry", ());
    let mut block = g.new_block(vec![v]);
    g.startblock = block;
    for (position, target) in positions {
        let args = vec![Operand::Var(v), class(*position)];
        let test = push(g, block, HlOp::IsInstance, args);
        let next_v = g.copy_var(v);
        let next = g.new_block(vec![next_v]);
        let link = |to, case| Link::with_case(to, vec![Operand::Var(v)], ExitCase::Bool(case));
        let exits = vec![link(next, false), link(*target, true)];
        let b = g.block_mut(block);
        b.exitswitch = ExitSwitch::Value(Operand::Var(test));
        b.exits = exits;
        (v, block) = (next_v, next);
    }
    raise_new(g, block, "exceptions.AssertionError");
}

fn class(id: ObjId) -> Operand {
    Operand::Const(Const::Obj(id))
}

fn push(g: &mut FunctionGraph, b: BlockId, op: HlOp, args: Vec<Operand>) -> VarId {
    let result = g.new_var("", ());
    g.block_mut(b).operations.push(Operation {
        op,
        args: args.into(),
        result,
        at: 0,
    });
    result
}

/// Names of the attributes that hold variables.
fn attribute_names(g: &FunctionGraph, vars: &[VarId]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for v in vars {
        let name = match g.vars[v.index()].name.trim_matches(['_', '.']) {
            "" => "v",
            name => name,
        };
        let mut name = format!("g_{name}");
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

/// Keeps variables in a position.
fn store(g: &mut FunctionGraph, b: BlockId, position: VarId, vars: &[VarId]) {
    for (name, v) in attribute_names(g, vars).into_iter().zip(vars) {
        let name = Operand::Const(Const::str(&name));
        let args = vec![Operand::Var(position), name, Operand::Var(*v)];
        push(g, b, HlOp::SetAttr, args);
    }
}

/// Makes a block take a position instead of its input arguments.
fn load(g: &mut FunctionGraph, b: BlockId) {
    let vars = g.block(b).inputargs.clone();
    let names = attribute_names(g, &vars);
    let entry = g.new_var("entry", ());
    let block = g.block_mut(b);
    block.inputargs = vec![entry];
    let reads = names.iter().zip(&vars).map(|(name, v)| Operation {
        op: HlOp::GetAttr,
        args: vec![Operand::Var(entry), Operand::Const(Const::str(name))].into(),
        result: *v,
        at: 0,
    });
    block.operations.splice(0..0, reads);
}

/// Ids of what is made for a generator function.
struct Classes {
    owner: ObjId,
    iterator: ObjId,
}

fn part(of: ObjId, what: &str) -> ObjId {
    stable_id(&["generator", &format!("{of:?}"), what])
}

impl Classes {
    fn of(owner: ObjId) -> Classes {
        let iterator = part(owner, "GeneratorIterator");
        Classes { owner, iterator }
    }

    fn define(&self, world: World<'_>, f: &FunctionData) {
        let db = world.db;
        let path = Utf8Path::new(SHIPPED).join("rpython/flowspace/generator.py");
        let file = db.files().get(db, &path);
        let body = part(self.owner, "body");
        let method = |name: &str, qualname: &str, closure| FunctionData {
            name: name.into(),
            module: f.module.clone(),
            code: CodeId::new(db, Origin::File(file), qualname, 0),
            globals: f.globals,
            defaults: Vec::new(),
            closure,
            attrs: Vec::new(),
            class: Some(self.iterator),
        };
        let methods = [
            method("__init__", "GeneratorIterator.__init__", vec![]),
            method("__iter__", "GeneratorIterator.__iter__", vec![]),
            method(
                "next",
                "make_next.<locals>.next",
                vec![Some(Const::Obj(body))],
            ),
        ];
        let mut dict = Vec::new();
        for m in methods {
            let id = part(self.owner, &m.name);
            dict.push((m.name.clone(), Const::Obj(id)));
            define_synthetic(db, id, ObjData::Function(m));
        }
        let object = named_id("__builtin__.object");
        define_class(world, self.iterator, "GeneratorIterator", &[object], dict);
        let attrs = vec![
            (BODY_OF.into(), Const::Obj(self.iterator)),
            ("_always_inline_".into(), Const::Bool(true)),
        ];
        let body_function = FunctionData {
            name: format!("{}__next", f.name).into(),
            attrs,
            ..f.clone()
        };
        define_synthetic(db, body, ObjData::Function(body_function));
    }
}

/// Makes the class of a position with these attributes. They are listed in `_attrs_`:
/// reading one that is never set, because the position is never reached, is then no
/// error.
fn position_class(world: World<'_>, iterator: ObjId, name: &str, attrs: &[String]) -> ObjId {
    let mut parts = vec!["generator", name];
    let of = format!("{iterator:?}");
    parts.push(&of);
    parts.extend(attrs.iter().map(String::as_str));
    let id = stable_id(&parts);
    let object = named_id("__builtin__.object");
    let dict = |names: Vec<Const>| {
        vec![
            ("_immutable_".into(), Const::Bool(true)),
            ("_attrs_".into(), Const::Tuple(names.into())),
        ]
    };
    // The class of all positions.
    let base = stable_id(&["generator", "AbstractPosition"]);
    define_class(world, base, "AbstractPosition", &[object], dict(vec![]));
    let names = attrs.iter().map(|n| Const::str(n)).collect();
    define_class(world, id, name, &[base, object], dict(names));
    id
}

fn define_class(
    world: World<'_>,
    id: ObjId,
    name: &str,
    ancestors: &[ObjId],
    dict: taipan_interp::Attrs,
) {
    let mut mro = vec![id];
    mro.extend_from_slice(ancestors);
    let data = ClassData {
        name: name.into(),
        module: "rpython.flowspace.generator".into(),
        bases: vec![ancestors[0]],
        mro,
        metaclass: named_id("__builtin__.type"),
        dict,
        mixed_in: Vec::new(),
        old_style: false,
        builtin: false,
    };
    define_synthetic(world.db, id, ObjData::Class(data));
}
