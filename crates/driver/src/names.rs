//! Names of image objects for the text form of graphs.

use taipan_base::{Db, Program};
use taipan_flow::name_objects;
use taipan_graph::{Const, Dialect, Graph, ObjId};
use taipan_interp::{ObjData, Object};
use taipan_lltype::text::LLNames;
use taipan_lltype::{FuncKind, HelperArg, LLConst, StaticSym, VoidConst};

/// Names for what a low-level graph mentions.
pub(crate) fn lowlevel_names<D: Dialect<Const = LLConst>>(
    db: &dyn Db,
    program: Program,
    graph: &Graph<D>,
) -> LLNames {
    let mut names = LLNames::default();
    graph.for_each_const(&mut |c| match c {
        LLConst::Static(s, _) => match s.root() {
            StaticSym::Vtable(o) | StaticSym::Object(o, _) | StaticSym::Part(o, ..) => {
                name_objects(db, program, &Const::Obj(*o), &mut names.objects);
            }
            StaticSym::Value(c, _) => name_objects(db, program, c, &mut names.objects),
            _ => {}
        },
        LLConst::Void(VoidConst::Hl(c)) => {
            name_objects(db, program, c, &mut names.objects);
        }
        LLConst::Func(f) => match f.kind() {
            FuncKind::User { func, .. } => {
                name_objects(db, program, &Const::Obj(*func), &mut names.objects);
            }
            FuncKind::Synth { args, .. } => {
                for a in args.iter() {
                    if let HelperArg::Const(VoidConst::Hl(c)) = a {
                        name_objects(db, program, c, &mut names.objects);
                    }
                }
            }
            _ => {}
        },
        _ => {}
    });
    names
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
