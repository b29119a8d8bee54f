//! Flow graphs as text, with names for the image objects in them.

use taipan_base::{Db, Program};
use taipan_graph::text::{HlNames, print_graph};
use taipan_graph::{Const, ExitCase, ExitSwitch, FunctionGraph, ObjId};
use taipan_interp::{Function, ObjData, Object, object};

use crate::flow_graph;
use crate::value::Operand;

/// The flow graph of a function in the text form, or the error that there is instead.
pub fn flow_text(db: &dyn Db, func: Function) -> String {
    match &flow_graph(db, func).graph {
        Ok(graph) => print_graph(graph, object_names(db, func.program(db), graph)),
        Err(e) => format!("error {}: {}\n", e.code, e.message),
    }
}

/// Names for all objects that a graph mentions.
pub fn object_names(db: &dyn Db, program: Program, graph: &FunctionGraph) -> HlNames {
    let mut names = HlNames::default();
    let mut constant = |c: &Const| name_objects(db, program, c, &mut names);
    for b in graph.reachable() {
        let block = graph.block(b);
        let mut operand = |o: &Operand| {
            if let Operand::Const(c) = o {
                constant(c);
            }
        };
        block
            .operations
            .iter()
            .flat_map(|op| &op.args)
            .for_each(&mut operand);
        block
            .exits
            .iter()
            .flat_map(|l| &l.args)
            .for_each(&mut operand);
        if let ExitSwitch::Value(o) = &block.exitswitch {
            operand(o);
        }
        for link in &block.exits {
            if let ExitCase::Exception(c) | ExitCase::Value(c) = &link.case {
                constant(c);
            }
        }
    }
    names
}

fn name_objects(db: &dyn Db, program: Program, c: &Const, names: &mut HlNames) {
    match c {
        Const::Obj(id) => names.insert(*id, &object_name(db, program, *id)),
        Const::Tuple(items) => {
            for c in items.iter() {
                name_objects(db, program, c, names);
            }
        }
        _ => {}
    }
}

/// A name for an image object: the qualified one where it has one, else its type with
/// some digits of its id.
fn object_name(db: &dyn Db, program: Program, id: ObjId) -> String {
    let data = |id| object(db, Object::new(db, program, id)).as_deref();
    let anonymous = |what: &str| format!("{what}@{:04x}", id.0 >> 48);
    match data(id) {
        Some(ObjData::Module { name }) => name.to_string(),
        Some(ObjData::Class(c)) => format!("{}.{}", c.module, c.name),
        Some(ObjData::Function(f)) => match f.class.and_then(data) {
            Some(ObjData::Class(c)) => format!("{}.{}.{}", c.module, c.name, f.name),
            _ => format!("{}.{}", f.module, f.name),
        },
        Some(ObjData::Instance(i)) => anonymous(&object_name(db, program, i.class)),
        Some(ObjData::Builtin {
            name,
            im_self: None,
        }) => name.to_string(),
        Some(ObjData::Builtin { name, .. }) => anonymous(name),
        Some(ObjData::List(_)) => anonymous("list"),
        Some(ObjData::Dict(_)) => anonymous("dict"),
        Some(ObjData::LLType(t)) => anonymous(&t.to_string().replace([' ', '*'], "_")),
        _ => anonymous("object"),
    }
}
