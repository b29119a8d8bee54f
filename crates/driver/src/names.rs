//! Names of image objects for the text form of graphs.

use taipan_base::{Db, Program};
use taipan_graph::text::HlNames;
use taipan_graph::{Const, Dialect, ExitCase, ExitSwitch, FunctionGraph, Graph, ObjId, Operand};
use taipan_interp::{ObjData, Object};
use taipan_lltype::text::LLNames;
use taipan_lltype::{FuncKind, HelperArg, LLConst, LLGraph, StaticSym, VoidConst};

/// Names for what a flow graph mentions.
pub(crate) fn flow_names(db: &dyn Db, program: Program, graph: &FunctionGraph) -> HlNames {
    let mut names = HlNames::default();
    each_const(graph, &mut |c| insert(db, program, c, &mut names));
    names
}

/// Names for what a low-level graph mentions.
pub(crate) fn lowlevel_names(db: &dyn Db, program: Program, graph: &LLGraph) -> LLNames {
    let mut names = LLNames::default();
    each_const(graph, &mut |c| match c {
        LLConst::Static(
            StaticSym::Vtable(o) | StaticSym::Object(o, _) | StaticSym::Part(o, ..),
            _,
        ) => {
            insert(db, program, &Const::Obj(*o), &mut names.objects);
        }
        LLConst::Static(StaticSym::Value(c, _), _) | LLConst::Void(VoidConst::Hl(c)) => {
            insert(db, program, c, &mut names.objects);
        }
        LLConst::Func(f) => match f.kind() {
            FuncKind::User { func, .. } => {
                insert(db, program, &Const::Obj(*func), &mut names.objects);
            }
            FuncKind::Synth { args, .. } => {
                for a in args.iter() {
                    if let HelperArg::Const(VoidConst::Hl(c)) = a {
                        insert(db, program, c, &mut names.objects);
                    }
                }
            }
            _ => {}
        },
        _ => {}
    });
    names
}

fn each_const<D: Dialect>(graph: &Graph<D>, f: &mut dyn FnMut(&D::Const)) {
    for b in graph.reachable() {
        let block = graph.block(b);
        let operations = block.operations.iter().flat_map(|op| &op.args);
        let links = block.exits.iter().flat_map(|l| &l.args);
        let switch = match &block.exitswitch {
            ExitSwitch::Value(v) => Some(v),
            _ => None,
        };
        for operand in operations.chain(links).chain(switch) {
            if let Operand::Const(c) = operand {
                f(c);
            }
        }
        for link in &block.exits {
            if let ExitCase::Exception(c) | ExitCase::Value(c) = &link.case {
                f(c);
            }
        }
    }
}

fn insert(db: &dyn Db, program: Program, c: &Const, names: &mut HlNames) {
    match c {
        Const::Obj(id) => {
            if let Some(name) = object_name(db, program, *id) {
                names.insert(*id, &name);
            }
        }
        Const::Tuple(items) => items.iter().for_each(|c| insert(db, program, c, names)),
        _ => {}
    }
}

/// The qualified name of an object that has one.
pub(crate) fn object_name(db: &dyn Db, program: Program, id: ObjId) -> Option<String> {
    let data = taipan_interp::object(db, Object::new(db, program, id)).as_ref()?;
    Some(match &**data {
        ObjData::Module { name } => name.to_string(),
        ObjData::Class(c) => format!("{}.{}", c.module, c.name),
        ObjData::Function(f) => format!("{}.{}", f.module, f.code.qualname(db)),
        ObjData::Builtin { name, .. } => name.to_string(),
        _ => return None,
    })
}
