//! What the flow space knows of image objects. Every answer is a query of the image,
//! so that a function depends on what it asked for and nothing else.

use std::sync::Arc;

use taipan_base::{Db, ErrorCode, Program};
use taipan_graph::{Const, ObjId};
use taipan_interp::constants::{Computed, ConstantSpace, Raised, class_has};
use taipan_interp::{
    Builtin, ClassData, FunctionData, InstanceData, ModuleName, Name, ObjData, Object, class_attr,
    is_standard_module, module_global, module_named, named_id, object,
};
use taipan_language::{Exc, KnownFunction};

use crate::FlowError;

/// The module of `unrolling_iterable`.
const UNROLL: &str = "rpython.rlib.unroll";

/// The image of a program.
#[derive(Clone, Copy)]
pub(crate) struct World<'db> {
    pub(crate) db: &'db dyn Db,
    pub(crate) program: Program,
}

impl<'db> World<'db> {
    pub(crate) fn object(self, id: ObjId) -> Option<&'db ObjData> {
        object(self.db, Object::new(self.db, self.program, id)).as_deref()
    }

    pub(crate) fn class(self, id: ObjId) -> Option<&'db ClassData> {
        match self.object(id)? {
            ObjData::Class(c) => Some(c),
            _ => None,
        }
    }

    pub(crate) fn function(self, id: ObjId) -> Option<&'db FunctionData> {
        match self.object(id)? {
            ObjData::Function(f) => Some(f),
            _ => None,
        }
    }

    pub(crate) fn instance(self, id: ObjId) -> Option<&'db InstanceData> {
        match self.object(id)? {
            ObjData::Instance(i) => Some(i),
            _ => None,
        }
    }

    /// A global of a module, or an item of the dict that serves as globals.
    pub(crate) fn global(self, globals: ObjId, name: &str) -> Option<Const> {
        let key = Name::new(self.db, self.program, globals, name);
        if let Some(c) = module_global(self.db, key) {
            return Some(c.clone());
        }
        match self.object(globals)? {
            ObjData::Dict(items) => {
                let key = Const::str(name);
                items
                    .iter()
                    .find(|(k, _)| *k == key)
                    .map(|(_, v)| v.clone())
            }
            _ => None,
        }
    }

    /// The name of a standard module without source.
    pub(crate) fn empty_module(self, id: ObjId) -> Option<&'db str> {
        match self.object(id)? {
            ObjData::Module { name }
                if is_standard_module(name) && self.global(id, "__file__").is_none() =>
            {
                Some(name)
            }
            _ => None,
        }
    }

    /// A module that has been imported, by its dotted name.
    pub(crate) fn module(self, name: &str) -> Option<Result<ObjId, FlowError>> {
        let found = module_named(self.db, ModuleName::new(self.db, self.program, name)).as_ref()?;
        Some(match found {
            Ok(id) => Ok(*id),
            Err(d) => {
                let mut e = FlowError::new(ErrorCode::FailedImport, d.message.clone())
                    .with_module(d.problem.clone());
                e.help = d.help.clone();
                Err(e)
            }
        })
    }

    /// The class with this attribute along the method resolution order, and it.
    pub(crate) fn class_attr(self, class: ObjId, name: &str) -> Option<(ObjId, Const)> {
        class_attr(self.db, Name::new(self.db, self.program, class, name)).clone()
    }

    /// What a function or class is that has no flow graph.
    pub(crate) fn builtin(self, c: &Const) -> Option<Builtin> {
        let Const::Obj(id) = c else { return None };
        Builtin::of(self.object(*id)?)
    }

    /// What a call of a constant may raise implicitly; none if that is not known. The functions and
    /// classes of `__builtin__` and `exceptions` are taken not to raise anything but what is known
    /// of them (RPython: `builtins_exceptions`).
    pub(crate) fn call_raises(self, callee: &Const) -> Option<&'static [Exc]> {
        match self.builtin(callee) {
            Some(Builtin::Known(f)) if f.module() == "__builtin__" => {
                Some(f.raises().unwrap_or(&[]))
            }
            Some(Builtin::Operation(_) | Builtin::Flow(_)) => Some(&[]),
            Some(Builtin::Other(name)) if name.starts_with("__builtin__.") => Some(&[]),
            Some(_) => None,
            None => {
                let Const::Obj(id) = callee else { return None };
                let class = self.class(*id)?;
                (class.builtin && &*class.module == "exceptions").then_some(&[])
            }
        }
    }

    /// The class of a constant, as far as it is known without running anything.
    pub(crate) fn class_of(self, c: &Const) -> Option<ObjId> {
        Some(named_id(match c {
            Const::None => "__builtin__.NoneType",
            Const::Bool(_) => "__builtin__.bool",
            Const::Int(_) => "__builtin__.int",
            Const::Long(_) => "__builtin__.long",
            Const::Float(_) => "__builtin__.float",
            Const::Complex(..) => "__builtin__.complex",
            Const::Str(_) => "__builtin__.str",
            Const::Unicode(_) => "__builtin__.unicode",
            Const::Tuple(_) => "__builtin__.tuple",
            Const::RInt(..) | Const::SingleFloat(_) | Const::Shape(_) => return None,
            Const::Obj(id) => match self.object(*id)? {
                ObjData::Instance(i) => return Some(i.class),
                ObjData::Class(c) => return Some(c.metaclass),
                ObjData::List(_) => "__builtin__.list",
                ObjData::Dict(_) => "__builtin__.dict",
                ObjData::Set { frozen: true, .. } => "__builtin__.frozenset",
                ObjData::Set { .. } => "__builtin__.set",
                ObjData::Function(_) => "__builtin__.function",
                ObjData::Builtin { .. } => "__builtin__.builtin_function_or_method",
                ObjData::Method { .. } => "__builtin__.instancemethod",
                ObjData::Module { .. } => "__builtin__.module",
                _ => return None,
            },
        }))
    }

    /// Whether one class is a subclass of another, or it. None where one of them is
    /// no class.
    pub(crate) fn is_subclass(self, class: ObjId, base: ObjId) -> Option<bool> {
        if class == base {
            return Some(true);
        }
        let mro = &self.class(class)?.mro;
        self.class(base)?;
        Some(mro.contains(&base))
    }

    /// Whether a class is the builtin exception of that name or derived from it.
    pub(crate) fn is_exception(self, class: ObjId, name: &str) -> bool {
        self.is_subclass(class, named_id(name)) == Some(true)
    }

    /// Whether operations on it may be computed while compiling
    /// (RPython: `Constant.foldable`): builtin values, functions, classes and
    /// modules, frozen instances and exceptions.
    pub(crate) fn foldable(self, c: &Const) -> bool {
        match c {
            Const::RInt(..) | Const::SingleFloat(_) | Const::Shape(_) => false,
            Const::Obj(id) => match self.object(*id) {
                Some(ObjData::Instance(i)) => {
                    i.frozen
                        || self.is_exception(i.class, "exceptions.BaseException")
                        || self.bytearray(c).is_some()
                }
                Some(ObjData::Method {
                    im_self: Some(c), ..
                })
                | Some(ObjData::Builtin {
                    im_self: Some(c), ..
                }) => self.foldable(c),
                // Memory: what it holds is known at run time.
                Some(ObjData::LLPtr { .. } | ObjData::LLContainer { .. }) => false,
                Some(_) => true,
                None => false,
            },
            _ => true,
        }
    }

    /// The bytes of a bytearray, as integers.
    pub(crate) fn bytearray(self, c: &Const) -> Option<&'db [Const]> {
        let Const::Obj(id) = c else { return None };
        let i = self.instance(*id)?;
        let class = self.class(i.class)?;
        match i.payload.as_deref() {
            Some(ObjData::List(bytes)) if class.builtin && &*class.name == "bytearray" => {
                Some(bytes)
            }
            _ => None,
        }
    }

    /// The tuple, string or number that an instance of a subclass of such a class is;
    /// other constants are themselves, and so are symbols, of which nothing is known.
    pub(crate) fn plain(self, c: &Const) -> Const {
        if let Const::Obj(id) = c
            && let Some(ObjData::Instance(i)) = self.object(*id)
            && let Some(v) = &i.value
            && self.class_attr(i.class, "_taipan_integer_").is_none()
        {
            return v.clone();
        }
        c.clone()
    }

    /// Whether it is the function `ovfcheck`.
    pub(crate) fn is_ovfcheck(self, c: &Const) -> bool {
        self.builtin(c) == Some(Builtin::Known(KnownFunction::Ovfcheck))
    }

    /// Whether code paths with different ones of these are kept apart
    /// (RPython: `SpecTag`).
    pub(crate) fn is_spec_tag(self, c: &Const) -> bool {
        let Const::Obj(id) = c else { return false };
        let Some(c) = self.instance(*id).and_then(|i| self.class(i.class)) else {
            return false;
        };
        c.mro
            .iter()
            .any(|base| self.is_named(*base, UNROLL, "SpecTag"))
    }

    /// Whether it is the class of that name of that module.
    fn is_named(self, class: ObjId, module: &str, name: &str) -> bool {
        self.class(class)
            .is_some_and(|c| &*c.name == name && &*c.module == module)
    }

    /// The items of an `unrolling_iterable`.
    pub(crate) fn unrolling_items(self, c: &Const) -> Option<Arc<[Const]>> {
        let Const::Obj(id) = c else { return None };
        let instance = self.instance(*id)?;
        if !self.is_named(instance.class, UNROLL, "unrolling_iterable") {
            return None;
        }
        let Some(Const::Obj(items)) = instance.get("_items") else {
            return None;
        };
        match self.object(*items)? {
            ObjData::List(items) => Some(items.clone().into()),
            _ => None,
        }
    }

    /// `obj.name` where the answer is the same for ever: globals of modules,
    /// attributes of classes, of functions, of frozen instances and exceptions.
    /// Bound methods are left to the annotator.
    pub(crate) fn getattr(
        self,
        space: &mut ConstantSpace<'_>,
        obj: &Const,
        name: &str,
    ) -> Computed {
        if !self.foldable(obj) {
            return Computed::Unknown;
        }
        let Const::Obj(id) = obj else {
            return match space.getattr(obj, name) {
                Computed::Raises(_) if may_be_lacking(name) => Computed::Unknown,
                computed => computed,
            };
        };
        match self.object(*id) {
            Some(ObjData::Module { name: module }) => self.module_attr(*id, module, name),
            Some(ObjData::Class(c)) => self.class_constant(*id, c, name),
            Some(ObjData::Function(f)) => match name {
                "__name__" | "func_name" => Computed::To(Const::str(&f.name)),
                "__module__" => Computed::To(Const::str(&f.module)),
                _ => match f.get(name) {
                    Some(c) => Computed::To(c.clone()),
                    None if name.starts_with("func_") => Computed::Unknown,
                    None => absent("function", name),
                },
            },
            Some(ObjData::Instance(i)) => self.instance_constant(i, name),
            Some(ObjData::List(_)) => builtin_attr("list", name),
            Some(ObjData::Dict(_)) => builtin_attr("dict", name),
            _ => Computed::Unknown,
        }
    }

    fn module_attr(self, id: ObjId, module: &str, name: &str) -> Computed {
        /// Attributes of `sys` that are the same when the program runs.
        const SYS: &[&str] = &[
            "maxint",
            "maxunicode",
            "api_version",
            "exit",
            "exc_info",
            "getrefcount",
            "getdefaultencoding",
        ];
        if module == "sys" && !SYS.contains(&name) {
            return Computed::Unknown;
        }
        match self.global(id, name) {
            Some(c) => Computed::To(c),
            None => no_attribute(format!("'module' object has no attribute '{name}'")),
        }
    }

    fn class_constant(self, id: ObjId, class: &ClassData, name: &str) -> Computed {
        match name {
            "__name__" => return Computed::To(Const::str(&class.name)),
            "__module__" => return Computed::To(Const::str(&class.module)),
            "__class__" => return Computed::To(Const::Obj(class.metaclass)),
            _ => {}
        }
        match self.class_attr(id, name) {
            Some((_, value)) => self.unbound(value),
            None if class.builtin
                && (may_be_lacking(name) || class_has(id, name) != Some(false)) =>
            {
                Computed::Unknown
            }
            None => no_attribute(if class.old_style {
                format!("class {} has no attribute '{name}'", class.name)
            } else {
                format!("type object '{}' has no attribute '{name}'", class.name)
            }),
        }
    }

    /// Whether what its instances lack no builtin class and no method of the program gives.
    fn has_own_attributes_only(self, class: &ClassData) -> bool {
        let object = named_id("__builtin__.object");
        class.mro.iter().all(|base| {
            *base == object
                || self.class(*base).is_some_and(|c| {
                    let hook = |n: &str| n == "__getattr__" || n == "__getattribute__";
                    !c.builtin && !c.dict.iter().any(|(n, _)| hook(n))
                })
        })
    }

    /// A class attribute as it looks on the class itself.
    fn unbound(self, value: Const) -> Computed {
        let Const::Obj(id) = &value else {
            return Computed::To(value);
        };
        match self.object(*id) {
            Some(ObjData::StaticMethod(f)) => Computed::To(f.clone()),
            Some(ObjData::ClassMethod(_) | ObjData::Property { .. }) => Computed::Unknown,
            _ => Computed::To(value),
        }
    }

    fn instance_constant(self, instance: &InstanceData, name: &str) -> Computed {
        if name == "__class__" {
            return Computed::To(Const::Obj(instance.class));
        }
        if let Some(c) = instance.get(name) {
            return Computed::To(c.clone());
        }
        let Some((_, value)) = self.class_attr(instance.class, name) else {
            return match self.class(instance.class) {
                Some(class) if self.has_own_attributes_only(class) => absent(&class.name, name),
                _ => Computed::Unknown,
            };
        };
        match &value {
            Const::Obj(id) if matches!(self.object(*id), Some(ObjData::Function(_))) => {
                Computed::Unknown
            }
            _ => self.unbound(value),
        }
    }
}

fn no_attribute(message: String) -> Computed {
    Computed::Raises(Raised {
        class: "AttributeError".into(),
        message: message.into(),
    })
}

/// Reading an attribute that an object of this class does not have.
fn absent(class: &str, name: &str) -> Computed {
    if name.starts_with("__") {
        Computed::Unknown
    } else {
        no_attribute(format!("'{class}' object has no attribute '{name}'"))
    }
}

/// An attribute of an object of a builtin class that has no attributes of its own.
fn builtin_attr(class: &str, name: &str) -> Computed {
    match class_has(named_id(&format!("__builtin__.{class}")), name) {
        Some(false) => absent(class, name),
        _ => Computed::Unknown,
    }
}

/// Whether the space may lack an attribute that a builtin class has: special methods, the
/// parts of numbers and of exceptions.
fn may_be_lacking(name: &str) -> bool {
    const LACKING: &[&str] = &[
        "real",
        "imag",
        "numerator",
        "denominator",
        "args",
        "message",
    ];
    name.starts_with('_') || LACKING.contains(&name)
}
