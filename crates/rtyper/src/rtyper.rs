//! What typing one function reads: the annotations, classes and image objects of its
//! program (RPython: `RPythonTyper`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::{
    Class, ClassAttributes, HelperKey, Roots, SiteId, SomeKind, SomeValue, Target,
};
use taipan_base::{Db, ErrorCode, Program};
use taipan_graph::{Const, ObjId};
use taipan_interp::{ModuleName, Name, Names, ObjData, Object, module_named};
use taipan_language::Exc;
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, HelperArg, LLConst, LLType, StructBody, StructId, StructType,
    TypeKind, VoidConst, forward_body,
};

use crate::exceptions::exception_id;
use crate::queries::{self, ClassAttr, DefaultField};
use crate::reprs::{
    AdtMethRepr, BuiltinMethodRepr, ErasedRepr, InstanceRepr, IntegerRepr, InteriorPtrRepr, PtrRepr,
};
use crate::statics::VtableLevels;
use crate::{Repr, Typed, TyperError, containers, exceptions, reprs};

/// The code of a type that would be a part of itself.
pub(crate) const INFINITE: ErrorCode = ErrorCode::InfiniteType;

/// Whose functions are typed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Universe {
    /// The user's program, as annotated from its roots.
    User(Roots),
    /// The prelude: helpers depend on no user program.
    Prelude(Program),
}

impl Universe {
    /// The program whose image constants refer to.
    pub fn program(self, db: &dyn Db) -> Program {
        match self {
            Universe::User(roots) => roots.program(db),
            Universe::Prelude(p) => p,
        }
    }
}

/// The typer of one function or one piece of data. Short-lived; all that it knows
/// comes from queries.
pub struct RTyper<'a> {
    /// The database.
    pub db: &'a dyn Db,
    /// Whose function it is.
    pub universe: Universe,
    /// The function is of a test module: what it compares is compared as in Python, or not
    /// at all.
    pub(crate) in_test: bool,
    /// The operations at hand are followed by one that makes an AssertionError: texts are for
    /// its message, which nothing in the program reads.
    pub(crate) before_failure: Cell<bool>,
    reprs: RefCell<FxHashMap<SomeValue, Repr>>,
    in_progress: RefCell<Vec<ObjId>>,
    /// The containers of the cycle inside of which a Repr is being made.
    inside: RefCell<BTreeSet<SiteId>>,
}

/// Says that a Repr is being made, until dropped.
pub(crate) struct InProgress<'r>(&'r RefCell<Vec<ObjId>>);

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().pop();
    }
}

impl<'a> RTyper<'a> {
    /// A typer for functions of that universe.
    pub fn new(db: &'a dyn Db, universe: Universe) -> Self {
        RTyper {
            db,
            universe,
            in_test: false,
            before_failure: Cell::new(false),
            reprs: RefCell::default(),
            in_progress: RefCell::default(),
            inside: RefCell::default(),
        }
    }

    /// The program whose image constants refer to.
    pub fn program(&self) -> Program {
        self.universe.program(self.db)
    }

    /// Whether the function is the user's, and its program a checked build.
    pub(crate) fn is_checked(&self) -> bool {
        matches!(self.universe, Universe::User(_)) && self.program().options(self.db).checked
    }

    /// Whether operations of the function raise what nothing catches where they are: in modules
    /// for Python, which does.
    pub(crate) fn raises_uncaught(&self) -> bool {
        matches!(self.universe, Universe::User(_)) && self.program().options(self.db).extension
    }

    /// The roots of the user's program; an error in helpers, which know no classes,
    /// lists and dicts of annotation.
    pub fn roots(&self) -> Typed<Roots> {
        match self.universe {
            Universe::User(roots) => Ok(roots),
            Universe::Prelude(_) => Err(TyperError::internal(
                "a prelude helper uses a high-level value",
            )),
        }
    }

    /// The representation of values with this annotation.
    pub fn getrepr(&self, s: &SomeValue) -> Typed<Repr> {
        use SomeKind::{Dict, List, Tuple};
        // Parts of a container of a cycle look otherwise than elsewhere.
        if !self.inside.borrow().is_empty()
            && matches!(s.kind, List { .. } | Dict { .. } | Tuple(_))
        {
            return self.makerepr(s);
        }
        if let Some(r) = self.reprs.borrow().get(s) {
            return Ok(r.clone());
        }
        let r = self.inside(BTreeSet::new(), || self.makerepr(s))?;
        self.reprs.borrow_mut().insert(s.clone(), r.clone());
        Ok(r)
    }

    /// Makes Reprs of what is inside of a container of a cycle.
    pub(crate) fn inside<T>(&self, cycle: BTreeSet<SiteId>, make: impl FnOnce() -> T) -> T {
        let outer = self.inside.replace(cycle);
        let result = make();
        self.inside.replace(outer);
        result
    }

    /// Whether the program may have threads: it imports a module about them.
    pub(crate) fn has_threads(&self) -> bool {
        ["rpython.rlib.rthread", "rpython.rlib.rgil"]
            .into_iter()
            .any(|module| {
                let name = ModuleName::new(self.db, self.program(), module);
                matches!(module_named(self.db, name), Some(Ok(_)))
            })
    }

    /// Whether a Repr is being made of what is inside of a container that contains those
    /// of this site and is contained in them.
    pub(crate) fn is_inside(&self, site: SiteId) -> bool {
        self.inside.borrow().contains(&site)
    }

    fn makerepr(&self, s: &SomeValue) -> Typed<Repr> {
        Ok(match &s.kind {
            SomeKind::Impossible => Repr::Impossible,
            SomeKind::Integer { kind, .. } => Repr::Int(IntegerRepr::new(*kind)),
            SomeKind::Bool => Repr::Bool,
            SomeKind::Float => Repr::Float,
            SomeKind::SingleFloat => Repr::SingleFloat,
            SomeKind::Char { .. } => Repr::Char,
            SomeKind::UniChar => Repr::UniChar,
            SomeKind::Str { .. } => Repr::Str,
            SomeKind::Unicode { .. } => Repr::Unicode,
            SomeKind::ByteArray { .. } => Repr::ByteArray,
            SomeKind::List { site, .. } => containers::list_repr(self, *site)?,
            SomeKind::Dict { site, .. } => containers::dict_repr(self, *site)?,
            SomeKind::Tuple(items) => containers::tuple_repr(self, items)?,
            SomeKind::Iterator { container, variant } => {
                containers::iterator_repr(self, container, variant)?
            }
            SomeKind::Builder { unicode, .. } => {
                Repr::Builder(containers::BuilderRepr { unicode: *unicode })
            }
            SomeKind::Slice(parts) => containers::slice_repr(self, parts)?,
            SomeKind::Instance { class, .. } => {
                match class.and_then(|c| ErasedRepr::of_class(self, c)) {
                    Some(erased) => Repr::Erased(erased),
                    None => Repr::Instance(InstanceRepr::new(self, *class)),
                }
            }
            SomeKind::Exception(classes) => {
                Repr::Instance(InstanceRepr::new(self, self.common_base_of(classes)))
            }
            SomeKind::Type => Repr::Type,
            SomeKind::None => Repr::None,
            SomeKind::Pbc { descs, can_be_none } => reprs::pbc_repr(self, descs, *can_be_none)?,
            SomeKind::Builtin(f) => Repr::Builtin(f.clone()),
            SomeKind::BuiltinMethod { name, of } => Repr::BuiltinMethod(Arc::new(
                BuiltinMethodRepr::new(name.clone(), (**of).clone(), self.getrepr(of)?),
            )),
            SomeKind::WeakRef { class } => Repr::WeakRef(InstanceRepr::new(self, *class)),
            SomeKind::Ptr(t) => Repr::Ptr(PtrRepr { ty: *t }),
            SomeKind::InteriorPtr { parent, path, to } => {
                Repr::InteriorPtr(Arc::new(InteriorPtrRepr {
                    parent: *parent,
                    path: path.clone(),
                    to: *to,
                }))
            }
            SomeKind::AdtMeth { ptr, name } => Repr::AdtMeth(Arc::new(AdtMethRepr {
                ptr: *ptr,
                name: name.clone(),
            })),
            SomeKind::Address => Repr::Address,
            SomeKind::LLType(t) => Repr::LLType(*t),
            SomeKind::LLFunc(f) => Repr::LLFunc(f.clone()),
            SomeKind::Conflict => {
                return Err(TyperError::new(
                    "values of different kinds come together here",
                ));
            }
        })
    }

    /// Notes that the Repr of a family of functions, or of a creation site, is being
    /// made; an error if it is already: its type would not be finite.
    pub(crate) fn enter(&self, family: ObjId, cycle: &str) -> Typed<InProgress<'_>> {
        if self.in_progress.borrow().contains(&family) {
            return Err(TyperError::with_code(INFINITE, cycle));
        }
        self.in_progress.borrow_mut().push(family);
        Ok(InProgress(&self.in_progress))
    }

    /// The representation of values of a low-level type, in helpers and externals.
    pub fn lltype_repr(&self, t: LLType) -> Repr {
        match t.kind() {
            TypeKind::Void => Repr::None,
            TypeKind::Bool => Repr::Bool,
            TypeKind::Char => Repr::Char,
            TypeKind::UniChar => Repr::UniChar,
            TypeKind::Int(kind) => Repr::Int(IntegerRepr::new(*kind)),
            TypeKind::Float => Repr::Float,
            TypeKind::SingleFloat => Repr::SingleFloat,
            TypeKind::Address => Repr::Address,
            _ => Repr::Ptr(PtrRepr { ty: t }),
        }
    }

    // ---- functions ----

    /// A prelude helper specialised for these arguments; its result type comes from
    /// annotating it.
    pub fn helper(&self, name: &str, args: Arc<[HelperArg]>) -> Typed<FuncSym> {
        let prelude = self.db.files().prelude(self.db);
        let key = HelperKey::new(self.db, prelude, Arc::from(name), args);
        queries::helper_sym_of(self.db, key)
    }

    /// Likewise with run-time arguments only.
    pub fn helper_for(&self, name: &str, args: &[LLType]) -> Typed<FuncSym> {
        self.helper(name, args.iter().map(|t| HelperArg::Type(*t)).collect())
    }

    /// The low-level function behind the target of a call.
    pub fn target_sym(&self, target: Target) -> Typed<FuncSym> {
        match target {
            Target::Spec(spec) => queries::func_sym_of(self.db, spec),
            Target::Helper(key) => queries::helper_sym_of(self.db, key),
        }
    }

    // ---- classes ----

    /// The key of a class in this universe. Helpers know builtin exceptions only.
    pub(crate) fn class_key(&self, class: ObjId) -> queries::ClassKey {
        queries::ClassKey::new(self.db, self.universe, class)
    }

    /// `module.Class`.
    pub fn class_name(&self, class: ObjId) -> Arc<str> {
        queries::class_name(self.db, self.class_key(class))
    }

    /// The base class; none directly below `object`.
    pub fn class_base(&self, class: ObjId) -> Option<ObjId> {
        queries::class_base(self.db, self.class_key(class))
    }

    /// The attributes of instances of a class that a class attribute may be the default of.
    pub(crate) fn default_fields(&self, class: ObjId) -> Arc<[DefaultField]> {
        queries::default_fields(self.db, self.class_key(class))
    }

    /// Which names a class and its bases have; perhaps some more.
    pub(crate) fn names_above(&self, class: ObjId) -> Names {
        taipan_interp::names_above(self.db, Object::new(self.db, self.program(), class))
    }

    /// What the vtables of a class and its bases declare.
    pub(crate) fn vtable_levels(&self, class: ObjId) -> Typed<Arc<VtableLevels>> {
        queries::vtable_levels(self.db, self.class_key(class))
    }

    /// Whether the first class is the second one or derives from it.
    pub fn is_subclass(&self, sub: ObjId, base: ObjId) -> bool {
        self.bases(sub).any(|c| c == base)
    }

    /// A class, its base, and so on upwards.
    pub(crate) fn bases(&self, class: ObjId) -> impl Iterator<Item = ObjId> {
        std::iter::successors(Some(class), |c| self.class_base(*c))
    }

    /// The smallest common base class; none for `object`.
    pub fn common_base(&self, a: Option<ObjId>, b: Option<ObjId>) -> Option<ObjId> {
        let (mut a, b) = (a, b?);
        while let Some(cls) = a {
            if self.is_subclass(b, cls) {
                return a;
            }
            a = self.class_base(cls);
        }
        None
    }

    fn common_base_of(&self, classes: &[ObjId]) -> Option<ObjId> {
        let (first, rest) = classes.split_first()?;
        rest.iter()
            .try_fold(*first, |acc, c| self.common_base(Some(acc), Some(*c)))
    }

    /// The layout of a class's instances, as a container type.
    pub fn instance_type(&self, class: Option<ObjId>) -> LLType {
        match class {
            None => *taipan_lltype::OBJECT,
            Some(c) => queries::instance_struct(&self.class_name(c), c),
        }
    }

    /// The layout of a class's vtable, as a container type.
    pub fn vtable_type(&self, class: Option<ObjId>) -> LLType {
        match class {
            None => *taipan_lltype::OBJECT_VTABLE,
            Some(c) => queries::vtable_struct(&self.class_name(c), c),
        }
    }

    /// An attribute of instances: which class declares it, and what it holds.
    pub(crate) fn class_attr(&self, class: ObjId, name: &str) -> Option<ClassAttr> {
        queries::class_attr(
            self.db,
            queries::AttrKey::new(self.db, self.class_key(class), name),
        )
    }

    /// The attributes that a class declares.
    pub(crate) fn class_attributes(&self, class: ObjId) -> Arc<ClassAttributes> {
        queries::class_attributes(self.db, self.class_key(class))
    }

    /// Whether a class is an exception class.
    pub(crate) fn is_exception(&self, class: ObjId) -> bool {
        let above = [Exc::Exception, Exc::BaseException].map(exception_id);
        self.bases(class).any(|c| above.contains(&c))
            || exceptions::builtin_exception(class).is_some()
    }

    /// `subclassrange_min` and `subclassrange_max` of a class.
    pub(crate) fn class_range(&self, class: ObjId) -> Typed<(i64, i64)> {
        Ok(queries::class_range(
            self.db,
            Class::new(self.db, self.roots()?, class),
        ))
    }

    /// Whether a class is known to have no subclasses in use.
    pub(crate) fn is_leaf(&self, class: ObjId) -> bool {
        match self.universe {
            Universe::User(roots) => queries::is_leaf(self.db, Class::new(self.db, roots, class)),
            Universe::Prelude(_) => false,
        }
    }

    /// What runs when an instance of this class dies.
    pub(crate) fn destructor(&self, class: ObjId) -> Typed<Option<FuncSym>> {
        match self.universe {
            Universe::User(roots) => {
                queries::destructor(self.db, Class::new(self.db, roots, class))
            }
            Universe::Prelude(_) => Ok(None),
        }
    }

    /// Whether instances are made of this class through its vtable.
    pub(crate) fn needs_instantiate(&self, class: ObjId) -> Typed<bool> {
        let def = taipan_annotator::class_def(self.db, Class::new(self.db, self.roots()?, class));
        Ok(def.generic_instantiate)
    }

    /// Fields of a struct.
    pub(crate) fn struct_body(&self, s: &StructType) -> Typed<Arc<StructBody>> {
        self.body_of(&s.id)
    }

    /// Fields of a struct, by where they are found.
    pub(crate) fn body_of(&self, id: &StructId) -> Typed<Arc<StructBody>> {
        match id {
            StructId::Inline(b) => return Ok(b.clone()),
            StructId::Forward(name) => {
                if let Some(b) = forward_body(name) {
                    return Ok(b);
                }
            }
            StructId::Instance(_) | StructId::Vtable(_) => {}
        }
        let key = queries::LayoutKey::new(self.db, self.roots()?, id);
        queries::struct_body(self.db, key).map_err(TyperError::of)
    }

    // ---- image ----

    /// A class attribute, found as the annotator finds it.
    pub(crate) fn read_class_attribute(&self, class: ObjId, name: &str) -> Option<Const> {
        let key = Name::new(self.db, self.program(), class, name);
        let value = taipan_interp::desc_attr(self.db, key).clone()?;
        // What stands for a name in `__slots__` is no default.
        let is_slot = match &value {
            Const::Obj(o) => matches!(
                taipan_interp::object(self.db, Object::new(self.db, self.program(), *o)).as_deref(),
                Some(ObjData::Other(kind)) if &**kind == "member_descriptor"
            ),
            _ => false,
        };
        (!is_slot).then_some(value)
    }

    /// A class attribute of a class's own.
    pub(crate) fn own_class_attribute(&self, class: ObjId, name: &str) -> Typed<Option<Const>> {
        Ok(match &*self.object(class)? {
            ObjData::Class(c) => c.get(name).cloned(),
            _ => None,
        })
    }

    /// A global of a module.
    pub(crate) fn module_global(&self, module: ObjId, name: &str) -> Option<Const> {
        let key = Name::new(self.db, self.program(), module, name);
        taipan_interp::module_global(self.db, key).clone()
    }

    /// The content of an image object.
    pub fn object(&self, obj: ObjId) -> Typed<Arc<ObjData>> {
        taipan_interp::object(self.db, Object::new(self.db, self.program(), obj))
            .clone()
            .ok_or_else(|| TyperError::internal(format!("no object {obj:?} in the image")))
    }

    /// The function behind a function object, a static method or an unbound method.
    pub(crate) fn underlying_function(&self, obj: ObjId) -> Typed<ObjId> {
        Ok(match &*self.object(obj)? {
            ObjData::StaticMethod(Const::Obj(f)) | ObjData::ClassMethod(Const::Obj(f)) => {
                self.underlying_function(*f)?
            }
            ObjData::Method {
                im_func: Const::Obj(f),
                ..
            } => self.underlying_function(*f)?,
            _ => obj,
        })
    }

    /// A constant in the low-level form that its type calls for.
    pub fn convert_const_to(&self, c: &Const, ty: LLType) -> Typed<LLConst> {
        crate::convert::convert_const(self, c, ty)
    }
}

/// The name of a prelude helper specialised for these arguments, returning that type.
pub fn helper_sym(name: &str, args: Vec<HelperArg>, result: LLType) -> FuncSym {
    let types = args.iter().map(helper_arg_type).collect();
    FuncSym::new(
        FuncKind::Helper {
            name: name.into(),
            args: args.into(),
        },
        FuncType {
            args: types,
            result,
        },
    )
}

/// The type in which a helper receives an argument.
pub(crate) fn helper_arg_type(arg: &HelperArg) -> LLType {
    match arg {
        HelperArg::Type(t) => *t,
        HelperArg::Const(_) => *taipan_lltype::VOID,
    }
}

/// A high-level constant as a Void one.
pub(crate) fn void_const(c: &Const) -> LLConst {
    match c {
        Const::None => LLConst::void(),
        other => LLConst::Void(VoidConst::Hl(other.clone())),
    }
}
