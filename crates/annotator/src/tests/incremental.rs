//! Random programs under random edits: what the mended state says is what a solve
//! from scratch says, and every contribution follows from older ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use taipan_base::File;
use taipan_code::{CodeId, Origin};
use taipan_flow::{FlowResult, Signature};
use taipan_graph::{
    BlockId, Const, ExitCase, ExitSwitch, FunctionGraph, HlOp, Link, ObjId, Operand, Operation,
    VarId,
};
use taipan_interp::{Builtin, ClassData, FunctionData, InstanceData, ObjData, named_id, stable_id};
use taipan_testkit::TestDb;

use crate::eval::Root;
use crate::facts::{Facts, Request};
use crate::project::Sites;
use crate::solver::Solver;
use crate::store::{NodeKey, SlotKey, SpecIx, SpecKey, Stamp};
use crate::{InputType, SomeKind, SomeValue};

const CLASSES: usize = 8;
const INSTANCES: usize = 6;
const FUNCTIONS: usize = 24;
const ATTRS: [&str; 3] = ["x", "y", "z"];

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// What a random variable is meant to be; wrong guesses are welcome.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Str,
    List,
    Dict,
    Instance,
    Function,
    Any,
}

fn func_id(i: usize) -> ObjId {
    stable_id(&["test function", &i.to_string()])
}

fn class_id(i: usize) -> ObjId {
    stable_id(&["test class", &i.to_string()])
}

fn instance_id(i: usize) -> ObjId {
    stable_id(&["test instance", &i.to_string()])
}

/// A graph under construction.
struct Builder {
    graph: FunctionGraph,
    block: BlockId,
    vars: Vec<(VarId, Kind)>,
}

impl Builder {
    fn push(&mut self, op: HlOp, args: Vec<Operand<taipan_graph::HighLevel>>, kind: Kind) -> VarId {
        let result = self.graph.new_var("", ());
        self.graph.block_mut(self.block).operations.push(Operation {
            op,
            args: args.into(),
            result,
            at: 0,
        });
        self.vars.push((result, kind));
        result
    }

    fn get(&self, kind: Kind, r: &mut Rng) -> Operand<taipan_graph::HighLevel> {
        let of_kind: Vec<VarId> = self
            .vars
            .iter()
            .filter(|(_, k)| kind == Kind::Any || *k == kind)
            .map(|(v, _)| *v)
            .collect();
        if !of_kind.is_empty() && r.below(10) > 0 {
            return Operand::Var(of_kind[r.below(of_kind.len())]);
        }
        Operand::Const(match kind {
            Kind::Int => Const::Int(r.below(5) as i64 - 1),
            Kind::Str => Const::str(["a", "bc", ""][r.below(3)]),
            Kind::Function => Const::Obj(func_id(r.below(FUNCTIONS))),
            Kind::Instance if r.below(3) > 0 => Const::Obj(instance_id(r.below(INSTANCES))),
            _ => Const::None,
        })
    }

    fn random_op(&mut self, r: &mut Rng) {
        let obj = |o: ObjId| Operand::Const(Const::Obj(o));
        let value_kinds = [
            Kind::Int,
            Kind::Int,
            Kind::Str,
            Kind::List,
            Kind::Instance,
            Kind::Any,
        ];
        match r.below(17) {
            0 | 1 => {
                let (a, b) = (self.get(Kind::Int, r), self.get(Kind::Int, r));
                let op = [HlOp::Add, HlOp::Sub, HlOp::Mul][r.below(3)];
                self.push(op, vec![a, b], Kind::Int);
            }
            2 => {
                let (a, b) = (self.get(Kind::Str, r), self.get(Kind::Str, r));
                self.push(HlOp::Add, vec![a, b], Kind::Str);
            }
            3 | 4 => {
                let f = func_id(r.below(FUNCTIONS));
                let args = vec![
                    obj(f),
                    self.get(value_kinds[f.0 as usize % 5], r),
                    self.get(value_kinds[(f.0 >> 8) as usize % 5], r),
                ];
                let kind = value_kinds[(f.0 >> 16) as usize % 5];
                self.push(HlOp::SimpleCall, args, kind);
            }
            5 => {
                let c = class_id(r.below(CLASSES));
                self.push(HlOp::SimpleCall, vec![obj(c)], Kind::Instance);
            }
            6 | 7 => {
                let x = self.get(Kind::Instance, r);
                let i = r.below(ATTRS.len());
                let kind = [Kind::Int, Kind::List, Kind::Instance][i];
                let v = self.get(kind, r);
                let n = Operand::Const(Const::str(ATTRS[i]));
                self.push(HlOp::SetAttr, vec![x, n, v], Kind::Any);
            }
            8 | 9 => {
                let x = self.get(Kind::Instance, r);
                let i = r.below(ATTRS.len());
                let kind = [Kind::Int, Kind::List, Kind::Instance][i];
                let n = Operand::Const(Const::str(ATTRS[i]));
                self.push(HlOp::GetAttr, vec![x, n], kind);
            }
            10 => {
                let v = self.get(value_kinds[r.below(4)], r);
                self.push(HlOp::NewList, vec![v], Kind::List);
            }
            11 => {
                let (l, i) = (self.get(Kind::List, r), self.get(Kind::Int, r));
                self.push(HlOp::GetItem, vec![l, i], Kind::Any);
            }
            12 => {
                let l = self.get(Kind::List, r);
                let n = Operand::Const(Const::str("append"));
                let m = self.push(HlOp::GetAttr, vec![l, n], Kind::Any);
                let v = self.get(value_kinds[r.below(6)], r);
                self.push(HlOp::SimpleCall, vec![Operand::Var(m), v], Kind::Any);
            }
            13 => {
                let x = self.get(Kind::Instance, r);
                let n = Operand::Const(Const::str("m"));
                let m = self.push(HlOp::GetAttr, vec![x, n], Kind::Function);
                let v = self.get(Kind::Int, r);
                self.push(HlOp::SimpleCall, vec![Operand::Var(m), v], Kind::Any);
            }
            14 => {
                let x = self.get(Kind::Instance, r);
                self.push(HlOp::Type, vec![x], Kind::Any);
            }
            15 => {
                let d = self.push(HlOp::NewDict, vec![], Kind::Dict);
                let (k, v) = (self.get(Kind::Str, r), self.get(Kind::Any, r));
                self.push(HlOp::SetItem, vec![Operand::Var(d), k, v], Kind::Any);
            }
            _ => {
                let f = self.get(Kind::Function, r);
                let (a, b) = (self.get(Kind::Int, r), self.get(Kind::Any, r));
                self.push(HlOp::SimpleCall, vec![f, a, b], Kind::Any);
            }
        }
    }
}

/// A function of some operations, a branch that may loop back, and more operations.
fn random_graph(i: usize, seed: u64) -> FunctionGraph {
    let mut r = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (i as u64 + 1) << 20 | 1);
    for _ in 0..4 {
        r.next();
    }
    let id = func_id(i);
    let value_kinds = [Kind::Int, Kind::Int, Kind::Str, Kind::List, Kind::Instance];
    let mut graph = FunctionGraph::new(&format!("f{i}"), (), (), ());
    let a = graph.new_var("a", ());
    let b = graph.new_var("b", ());
    let start = graph.startblock;
    graph.block_mut(start).inputargs = vec![a, b];
    let kinds = [
        value_kinds[id.0 as usize % 5],
        value_kinds[(id.0 >> 8) as usize % 5],
    ];
    let mut builder = Builder {
        graph,
        block: start,
        vars: vec![(a, kinds[0]), (b, kinds[1])],
    };
    for _ in 0..3 + r.below(5) {
        builder.random_op(&mut r);
    }
    // start -> body -> (body | end)
    let (x, kind) = builder.vars[r.below(builder.vars.len())];
    let (p, q) = (
        builder.graph.new_var("p", ()),
        builder.graph.new_var("q", ()),
    );
    let body = builder.graph.new_block(vec![p, q]);
    let link = Link::new(body, vec![Operand::Var(x), Operand::Var(b)]);
    builder.graph.block_mut(start).exits = vec![link];
    builder.block = body;
    builder.vars = vec![(p, kind), (q, kinds[1])];
    for _ in 0..2 + r.below(6) {
        builder.random_op(&mut r);
    }
    let test = builder.push(HlOp::Bool, vec![Operand::Var(p)], Kind::Int);
    let (back, _) = builder.vars[r.below(builder.vars.len())];
    let wanted = value_kinds[(id.0 >> 16) as usize % 5];
    let result = builder.get(wanted, &mut r);
    let mut graph = builder.graph;
    let target = graph.returnblock;
    let block = graph.block_mut(body);
    block.exitswitch = ExitSwitch::Value(Operand::Var(test));
    block.exits = vec![
        Link::with_case(target, vec![result], ExitCase::Bool(false)),
        Link::with_case(
            body,
            vec![Operand::Var(back), Operand::Var(q)],
            ExitCase::Bool(true),
        ),
    ];
    graph.compact();
    graph
}

struct World {
    objects: BTreeMap<ObjId, ObjData>,
    graphs: BTreeMap<ObjId, Arc<FlowResult>>,
}

fn flow(graph: FunctionGraph, params: usize) -> Arc<FlowResult> {
    Arc::new(FlowResult {
        graph: Ok(Arc::new(graph)),
        errors: Arc::new([]),
        recovered: None,
        dead: Arc::new([]),
        signature: Signature {
            argnames: (0..params).map(|i| format!("a{i}").into()).collect(),
            ..Signature::default()
        },
    })
}

impl World {
    fn new(seed: u64) -> World {
        let db = TestDb::default();
        let file: File = db.file("/main.py");
        let mut world = World {
            objects: BTreeMap::new(),
            graphs: BTreeMap::new(),
        };
        let object = named_id("__builtin__.object");
        let mut r = Rng(seed << 8 | 5);
        for _ in 0..4 {
            r.next();
        }
        for i in 0..CLASSES {
            world.random_class(i, &mut r);
        }
        for i in 0..INSTANCES {
            world.random_instance(i, &mut r);
        }
        world.objects.insert(
            object,
            ObjData::Class(ClassData {
                name: "object".into(),
                module: "__builtin__".into(),
                bases: vec![],
                mro: vec![],
                metaclass: named_id("__builtin__.type"),
                dict: vec![],
                mixed_in: vec![],
                old_style: false,
                builtin: true,
            }),
        );
        for i in 0..FUNCTIONS {
            world.objects.insert(
                func_id(i),
                ObjData::Function(FunctionData {
                    name: format!("f{i}").into(),
                    module: "main".into(),
                    code: CodeId::new(&db, Origin::File(file), format!("f{i}").into_boxed_str(), 0),
                    globals: named_id("main"),
                    defaults: vec![],
                    closure: vec![],
                    attrs: vec![],
                    class: None,
                }),
            );
            world
                .graphs
                .insert(func_id(i), flow(random_graph(i, seed), 2));
        }
        world
    }

    /// A class on one of those before it, which are in a chain mostly.
    fn random_class(&mut self, i: usize, r: &mut Rng) {
        let base = match i {
            0 => None,
            _ if r.below(3) == 0 => Some(class_id(r.below(i))),
            _ => Some(class_id(i - 1)),
        };
        let mut dict = Vec::new();
        if i == 0 || r.below(2) == 0 {
            dict.push(("m".into(), Const::Obj(func_id(r.below(8)))));
        }
        if r.below(4) == 0 {
            dict.push(("x".into(), Const::Int(-3)));
        }
        if r.below(6) == 0 {
            dict.push(("z".into(), Const::None));
        }
        self.set_class(i, base, dict);
    }

    fn set_class(&mut self, i: usize, base: Option<ObjId>, dict: Vec<(Box<str>, Const)>) {
        let class = ObjData::Class(ClassData {
            name: format!("C{i}").into(),
            module: "main".into(),
            bases: vec![base.unwrap_or(named_id("__builtin__.object"))],
            mro: vec![],
            metaclass: named_id("__builtin__.type"),
            dict,
            mixed_in: vec![],
            old_style: false,
            builtin: false,
        });
        self.objects.insert(class_id(i), class);
        self.linearize();
    }

    /// Mends the mro of all classes.
    fn linearize(&mut self) {
        for i in 0..CLASSES {
            let mut mro = vec![class_id(i)];
            while let Some(ObjData::Class(c)) = self.objects.get(&mro[mro.len() - 1])
                && c.bases[0] != named_id("__builtin__.object")
            {
                mro.push(c.bases[0]);
            }
            if let Some(ObjData::Class(c)) = self.objects.get_mut(&class_id(i)) {
                c.mro = mro;
            }
        }
    }

    fn random_instance(&mut self, i: usize, r: &mut Rng) {
        let mut attrs = vec![];
        if r.below(2) == 0 {
            attrs.push(("x".into(), Const::Int(r.below(3) as i64 - 1)));
        }
        if r.below(2) == 0 {
            attrs.push(("z".into(), Const::Obj(instance_id(r.below(INSTANCES)))));
        }
        let instance = ObjData::Instance(InstanceData {
            class: class_id(r.below(CLASSES)),
            attrs,
            frozen: false,
            payload: None,
            refused: None,
            value: None,
        });
        self.objects.insert(instance_id(i), instance);
    }

    fn fetch(&self, facts: &mut Facts, wanted: Vec<Request>) {
        for r in wanted {
            match r {
                Request::Object(o) => {
                    facts
                        .objects
                        .insert(o, self.objects.get(&o).cloned().map(Arc::new));
                }
                Request::Graph(f) => {
                    facts.set_flow(f, self.graphs[&f].clone());
                }
                Request::Global(m, n) => {
                    facts.globals.insert((m, n), None);
                }
                Request::Memo(f, a) => {
                    facts.memos.insert((f, a), Err(String::new()));
                }
            }
        }
    }

    fn solve(&self, solver: &mut Solver) {
        loop {
            let wanted = solver.ascend();
            if wanted.is_empty() {
                return;
            }
            self.fetch(&mut solver.facts, wanted);
        }
    }

    /// Solves the program after an edit: what comes of it is what comes of solving it from
    /// scratch.
    fn assert_exact(&self, warm: &mut Solver, what: &str) {
        self.solve(warm);
        let mut cold = Solver::new(Facts::default(), warm.roots.clone());
        self.solve(&mut cold);
        assert_eq!(warm.audit(), 0, "{what}");
        let (a, b) = (outcome(warm), outcome(&cold));
        for (k, v) in &a {
            assert_eq!(Some(v), b.get(k), "{what}: {k}");
        }
        let lost = b.keys().find(|k| !a.contains_key(*k));
        assert_eq!(lost, None, "{what}");
    }
}

fn roots() -> Vec<Root> {
    let int = InputType::Integer {
        nonneg: true,
        kind: taipan_graph::IntKind::SIGNED,
    };
    (0..4)
        .map(|i| Root::Call {
            func: func_id(i * 5),
            args: vec![int.clone(), int.clone()],
            classes: vec![],
        })
        .collect()
}

/// Everything that is known, under names that do not depend on history.
fn outcome(solver: &Solver) -> BTreeMap<String, SomeValue> {
    let sites = Sites::of(&solver.store);
    let mut out = BTreeMap::new();
    for (_, slot) in solver.store.slots.iter() {
        if slot.current().is_bottom() {
            continue;
        }
        // Where an attribute is used on a base class as well, nobody sees it of this one.
        if let SlotKey::Attr(class, name)
        | SlotKey::AttrUsed(class, name)
        | SlotKey::AttrSet(class, name)
        | SlotKey::Bound(class, name) = &slot.key
        {
            let bases = solver.facts.chain(*class).expect("it is known");
            let used = |c: &ObjId| solver.store.value(&SlotKey::AttrUsed(*c, name.clone()));
            if bases.iter().skip(1).any(|c| !used(c).is_bottom()) {
                continue;
            }
        }
        let spec = |s: &SpecIx| format!("{:?}", solver.store.specs[*s]);
        let name = match &slot.key {
            SlotKey::Called(s) => format!("called {}", spec(s)),
            SlotKey::Arg(s, i) => format!("arg {} {i}", spec(s)),
            SlotKey::Ret(s) => format!("ret {}", spec(s)),
            // These depend on the way there, but come to the same.
            SlotKey::Edge(..)
            | SlotKey::Homes(..)
            | SlotKey::FieldUsed(..)
            | SlotKey::SetUsed(_)
            | SlotKey::SetPlain(_)
            | SlotKey::SetMixed(_)
            | SlotKey::SetCalled(..)
            | SlotKey::SetArg(..)
            | SlotKey::SetRet(..) => continue,
            SlotKey::SubClasses(c) => {
                let members = slot.members(Stamp::MAX);
                let value = SomeValue {
                    kind: SomeKind::Builtin(Builtin::Other(format!("{members:?}").into())),
                    const_: None,
                };
                out.insert(format!("subclasses {c:?}"), value);
                continue;
            }
            SlotKey::Flags(s) => {
                let text = format!("{:?}", slot.current().flags());
                let value = SomeValue {
                    kind: SomeKind::Builtin(Builtin::Other(text.into())),
                    const_: None,
                };
                out.insert(format!("flags {:?}", sites.find(*s)), value);
                continue;
            }
            SlotKey::Item(s) => format!("item {:?}", sites.find(*s)),
            SlotKey::Key(s) => format!("key {:?}", sites.find(*s)),
            SlotKey::Value(s) => format!("value {:?}", sites.find(*s)),
            other => format!("{other:?}"),
        };
        out.insert(name, sites.some_value(slot.current()));
    }
    out
}

/// Another body of a function.
fn edit_function(world: &mut World, warm: &mut Solver, i: usize, seed: u64) {
    set_function(world, warm, i, flow(random_graph(i, seed), 2));
}

fn set_function(world: &mut World, warm: &mut Solver, i: usize, graph: Arc<FlowResult>) {
    world.graphs.insert(func_id(i), graph.clone());
    if warm.facts.graphs.contains_key(&func_id(i)) {
        warm.facts.set_flow(func_id(i), graph);
    }
    let specs = warm.store.specs.iter();
    let nodes: Vec<_> = (specs.filter(|(_, key)| key.func == func_id(i)))
        .filter_map(|(s, _)| warm.store.find_node(&NodeKey::Spec(s)))
        .collect();
    warm.retract(&nodes, &Default::default());
}

/// Another class, which may stand elsewhere, or another prebuilt instance.
fn edit_objects(world: &mut World, warm: &mut Solver, r: &mut Rng) {
    set_objects(world, warm, |world| match r.below(2) {
        0 => world.random_class(r.below(CLASSES), r),
        _ => world.random_instance(r.below(INSTANCES), r),
    });
}

fn set_objects(world: &mut World, warm: &mut Solver, edit: impl FnOnce(&mut World)) {
    let before = world.objects.clone();
    edit(world);
    let changed: Vec<_> = (world.objects.iter())
        .filter(|(id, data)| before[id] != **data && warm.facts.objects.contains_key(id))
        .map(|(id, data)| (*id, Some(Arc::new(data.clone()))))
        .collect();
    let mut objects: Vec<ObjId> = changed.iter().map(|(id, _)| *id).collect();
    let reshaped = warm.facts.set_objects(changed);
    objects.extend(reshaped.classes);
    objects.extend(reshaped.holders);
    let nodes = warm.readers_of(&objects);
    warm.retract(&nodes, &reshaped.hierarchy);
}

#[test]
fn edits_give_what_a_solve_from_scratch_gives() {
    let programs = if cfg!(debug_assertions) { 12 } else { 200 };
    // What was wrong once.
    for program in (0..programs).chain([933, 1005, 1248, 22991]) {
        let mut world = World::new(program);
        let mut warm = Solver::new(Facts::default(), roots());
        world.solve(&mut warm);
        assert_eq!(warm.audit(), 0, "program {program}");
        for edit in 0..12 {
            let mut r = Rng(program * 1000 + edit + 7);
            for _ in 0..3 {
                r.next();
            }
            if r.below(3) == 0 {
                edit_objects(&mut world, &mut warm, &mut r);
            } else {
                let seed = match r.below(3) {
                    0 => program,
                    _ => 1000 + edit,
                };
                edit_function(&mut world, &mut warm, r.below(FUNCTIONS), seed);
            }
            world.assert_exact(&mut warm, &format!("program {program} edit {edit}"));
        }
    }
}

/// A function without branches.
fn plain_function(
    params: usize,
    body: impl FnOnce(&mut Builder, Vec<VarId>) -> VarId,
) -> Arc<FlowResult> {
    let mut graph = FunctionGraph::new("f", (), (), ());
    let args: Vec<VarId> = (0..params).map(|_| graph.new_var("a", ())).collect();
    let block = graph.startblock;
    graph.block_mut(block).inputargs = args.clone();
    let mut builder = Builder {
        graph,
        block,
        vars: vec![],
    };
    let result = body(&mut builder, args);
    let mut graph = builder.graph;
    let link = Link::new(graph.returnblock, vec![Operand::Var(result)]);
    graph.block_mut(block).exits = vec![link];
    flow(graph, params)
}

/// A program whose root is function 0. Class 0 has a method, function 1, which class 3
/// overrides with function 2; each class derives from the one before.
fn methods(functions: Vec<(usize, Arc<FlowResult>)>) -> (World, Solver) {
    let mut world = World::new(0);
    for (i, method) in [(0usize, Some(1)), (1, None), (2, None), (3, Some(2))] {
        let method = method.map(|f| ("m".into(), Const::Obj(func_id(f))));
        let base = i.checked_sub(1).map(class_id);
        world.set_class(i, base, method.into_iter().collect());
    }
    let method = |f| (f, plain_function(1, |_, args| args[0]));
    for (f, function) in functions.into_iter().chain([1, 2].map(method)) {
        world.graphs.insert(func_id(f), function);
    }
    let root = Root::Call {
        func: func_id(0),
        args: vec![],
        classes: vec![],
    };
    let mut warm = Solver::new(Facts::default(), vec![root]);
    world.assert_exact(&mut warm, "before the edit");
    (world, warm)
}

fn new_instance(b: &mut Builder, class: usize) -> VarId {
    let class = Operand::Const(Const::Obj(class_id(class)));
    b.push(HlOp::SimpleCall, vec![class], Kind::Instance)
}

/// Makes instances of classes 2 and 3 and works with the former.
fn with_instances(body: impl FnOnce(&mut Builder, VarId) -> VarId) -> Arc<FlowResult> {
    plain_function(0, |b, _| {
        new_instance(b, 3);
        let x = new_instance(b, 2);
        body(b, x)
    })
}

fn get_m(b: &mut Builder, x: VarId) -> VarId {
    let name = Operand::Const(Const::str("m"));
    b.push(HlOp::GetAttr, vec![Operand::Var(x), name], Kind::Function)
}

fn call_m(b: &mut Builder, x: VarId) -> VarId {
    let m = get_m(b, x);
    b.push(HlOp::SimpleCall, vec![Operand::Var(m)], Kind::Any)
}

/// Whether a function is called.
fn is_called(solver: &Solver, f: usize) -> bool {
    let spec = SpecKey {
        func: func_id(f),
        key: "".into(),
    };
    outcome(solver).contains_key(&format!("called {spec:?}"))
}

#[test]
fn a_class_in_between_overrides_a_method() {
    let (mut world, mut warm) = methods(vec![(0, with_instances(call_m))]);
    assert!(is_called(&warm, 1) && is_called(&warm, 2));
    set_objects(&mut world, &mut warm, |world| {
        let method = ("m".into(), Const::Obj(func_id(2)));
        world.set_class(1, Some(class_id(0)), vec![method]);
    });
    world.assert_exact(&mut warm, "after the edit");
    assert!(!is_called(&warm, 1) && is_called(&warm, 2));
}

#[test]
fn an_instance_has_a_value_in_the_place_of_a_method() {
    let (mut world, mut warm) = methods(vec![(0, with_instances(get_m))]);
    let assigned = with_instances(|b, x| {
        let name = Operand::Const(Const::str("m"));
        let args = vec![Operand::Var(x), name, Operand::Const(Const::Int(5))];
        b.push(HlOp::SetAttr, args, Kind::Any);
        get_m(b, x)
    });
    set_function(&mut world, &mut warm, 0, assigned);
    world.assert_exact(&mut warm, "after the edit");
}

#[test]
fn instances_of_a_base_class_take_the_place_of_others() {
    let call = |class| {
        plain_function(0, |b, _| {
            let callee = Operand::Const(Const::Obj(func_id(3)));
            let x = Operand::Var(new_instance(b, class));
            b.push(HlOp::SimpleCall, vec![callee, x], Kind::Any)
        })
    };
    let callee = plain_function(1, |b, args| call_m(b, args[0]));
    let (mut world, mut warm) = methods(vec![(0, call(3)), (3, callee)]);
    assert!(!is_called(&warm, 1) && is_called(&warm, 2));
    set_function(&mut world, &mut warm, 0, call(2));
    world.assert_exact(&mut warm, "after the edit");
    assert!(is_called(&warm, 1) && !is_called(&warm, 2));
}

#[test]
fn a_class_with_prebuilt_instances_moves() {
    // Classes 1 and 2 stand side by side; class 3 is below the former, and then the latter.
    let mut world = World::new(0);
    for i in 1..4 {
        world.set_class(i, Some(class_id(i / 3)), vec![]);
    }
    let instance = ObjData::Instance(InstanceData {
        class: class_id(3),
        attrs: vec![("z".into(), Const::str("a"))],
        frozen: false,
        payload: None,
        refused: None,
        value: None,
    });
    world.objects.insert(instance_id(0), instance);
    let function = plain_function(0, |b, _| {
        for class in [1, 2] {
            let x = Operand::Var(new_instance(b, class));
            let name = Operand::Const(Const::str("z"));
            let args = vec![x, name, Operand::Const(Const::Int(5))];
            b.push(HlOp::SetAttr, args, Kind::Any);
        }
        let prebuilt = Operand::Const(Const::Obj(instance_id(0)));
        b.push(HlOp::NewList, vec![prebuilt], Kind::List)
    });
    world.graphs.insert(func_id(0), function);
    let root = Root::Call {
        func: func_id(0),
        args: vec![],
        classes: vec![],
    };
    let mut warm = Solver::new(Facts::default(), vec![root]);
    world.assert_exact(&mut warm, "before the edit");
    set_objects(&mut world, &mut warm, |world| {
        world.set_class(3, Some(class_id(2)), vec![]);
    });
    world.assert_exact(&mut warm, "after the edit");
}

#[test]
fn a_list_meets_an_instance() {
    let function = |instance: bool| {
        with_instances(move |b, x| {
            let (x, zero) = (Operand::Var(x), Operand::Const(Const::Int(0)));
            let name = |name| Operand::Const(Const::str(name));
            let list = b.push(HlOp::NewList, vec![zero.clone()], Kind::List);
            let mut values = vec![list];
            if instance {
                values.push(new_instance(b, 1));
            }
            for v in values {
                let args = vec![x.clone(), name("z"), Operand::Var(v)];
                b.push(HlOp::SetAttr, args, Kind::Any);
            }
            let v = Operand::Var(b.push(HlOp::GetAttr, vec![x, name("z")], Kind::Any));
            let item = b.push(HlOp::GetItem, vec![v.clone(), zero], Kind::Any);
            let append = b.push(HlOp::GetAttr, vec![v, name("append")], Kind::Any);
            let args = vec![Operand::Var(append), Operand::Var(item)];
            b.push(HlOp::SimpleCall, args, Kind::Any)
        })
    };
    let (mut world, mut warm) = methods(vec![(0, function(false))]);
    set_function(&mut world, &mut warm, 0, function(true));
    world.assert_exact(&mut warm, "after the edit");
}
