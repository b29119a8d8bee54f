//! Flow graphs as text, with names for the image objects in them.

use taipan_base::{Db, Program};
use taipan_graph::text::{HlNames, print_graph};
use taipan_graph::{Const, FunctionGraph, ObjId};
use taipan_interp::{Function, ObjData, Object, object};

use crate::flow_graph;

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
    graph.for_each_const(&mut |c| name_objects(db, program, c, &mut names));
    names
}

/// Adds names for the objects in a constant.
pub fn name_objects(db: &dyn Db, program: Program, c: &Const, names: &mut HlNames) {
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
        Some(ObjData::Function(f)) => {
            let qualname = f.code.qualname(db);
            let own = qualname.rsplit('.').next() == Some(&f.name);
            format!("{}.{}", f.module, if own { qualname } else { &f.name })
        }
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
