//! What functions and classes without a flow graph are to translated programs: where their names
//! become entries of the language's tables.

use std::borrow::Cow;
use std::sync::Arc;

use taipan_graph::HlOp;
use taipan_language::{FlowFunction, HelperFunction, KnownFunction, ShippedFunction};
use taipan_lltype::{EXTERNALS, External, LLOp, MARKERS};

use crate::ObjData;

/// The object whose attributes are low-level operations.
const LLOP: &str = "rpython.rtyper.lltypesystem.lloperation.llop";

/// The module of the functions of the runtime.
const RUNTIME: &str = "taipan_lowlevel";

/// What a call of a function or class without a flow graph means.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Builtin {
    /// An operation, where it has as many arguments as that has operands: `len`, `operator.add`.
    Operation(HlOp),
    /// What the flow space does, or refuses.
    Flow(FlowFunction),
    /// A call of a function of a shipped module.
    Shipped(&'static ShippedFunction),
    /// A call of a prelude helper.
    Helper(&'static HelperFunction),
    /// What annotator and RTyper have code for.
    Known(KnownFunction),
    /// A low-level operation: `llop.int_add`.
    LowLevel(LLOp),
    /// A low-level operation that does nothing with this runtime, by name.
    Marker(&'static str),
    /// A call of a function of the runtime.
    Runtime(&'static External),
    /// A mistake: it is called where a module is imported that fails while it loads.
    FailedImport,
    /// Nothing: it is of use while a program is loaded. By qualified name.
    Other(Arc<str>),
}

impl Builtin {
    /// What an object is, if it is called without a flow graph.
    pub fn of(data: &ObjData) -> Option<Builtin> {
        match data {
            ObjData::Builtin {
                name,
                im_self: None,
            } => Some(match name.rsplit_once('.') {
                Some((module, short)) => Builtin::named(module, short),
                None => Builtin::Other((&**name).into()),
            }),
            ObjData::Class(c) if c.builtin && &*c.module != "exceptions" => {
                Some(Builtin::named(&c.module, &c.name))
            }
            ObjData::Class(c) => Builtin::instead_of(&c.module, &c.name),
            ObjData::Function(f) => Builtin::instead_of(&f.module, &f.name),
            _ => None,
        }
    }

    /// What stands for a function or class that is written in Python.
    fn instead_of(module: &str, name: &str) -> Option<Builtin> {
        let known = KnownFunction::named(module, name).map(Builtin::Known);
        known.or_else(|| HelperFunction::named(module, name).map(Builtin::Helper))
    }

    /// The builtin of that name in a module or class.
    fn named(module: &str, name: &str) -> Builtin {
        let of_module = match module {
            LLOP => {
                let marker = MARKERS.iter().find(|m| **m == name);
                let operation = || LLOp::from_name(name).map(Builtin::LowLevel);
                marker.map(|m| Builtin::Marker(m)).or_else(operation)
            }
            RUNTIME => {
                let function = EXTERNALS.iter().find(|e| e.name == name);
                function.map(Builtin::Runtime)
            }
            _ => None,
        };
        of_module
            .or_else(|| HlOp::of_function(module, name).map(Builtin::Operation))
            .or_else(|| FlowFunction::named(module, name).map(Builtin::Flow))
            .or_else(|| ShippedFunction::named(module, name).map(Builtin::Shipped))
            .or_else(|| Builtin::instead_of(module, name))
            .unwrap_or_else(|| Builtin::Other(format!("{module}.{name}").into()))
    }

    /// Its qualified name, without the module where that is `__builtin__`.
    pub fn name(&self) -> Cow<'_, str> {
        let qualified = match self {
            Builtin::Operation(op) => return op.name().into(),
            Builtin::Flow(f) => return f.name().into(),
            Builtin::Known(f) => match f.module() {
                "__builtin__" => return f.name().into(),
                module => return format!("{module}.{}", f.name()).into(),
            },
            Builtin::LowLevel(op) => return format!("{LLOP}.{op}").into(),
            Builtin::Marker(name) => return format!("{LLOP}.{name}").into(),
            Builtin::Runtime(f) => return format!("{RUNTIME}.{}", f.name).into(),
            Builtin::FailedImport => return "import".into(),
            Builtin::Shipped(f) => f.name,
            Builtin::Helper(f) => f.name,
            Builtin::Other(name) => name,
        };
        qualified
            .strip_prefix("__builtin__.")
            .unwrap_or(qualified)
            .into()
    }
}
