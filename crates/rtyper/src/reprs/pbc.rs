//! Functions, bound methods and frozen instances as values (RPython: `rpbc.py`).

use std::sync::Arc;

use taipan_annotator::{CallFamily, Desc, Descs, Family, SomeKind, SomeValue, Target};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_lltype::{
    BOOL, Field, FuncSym, LLConst, LLOperand, LLType, PlainOp, StructBody, StructId, StructType,
    TypeKind, VOID, View,
};

use crate::hop::cvoid;
use crate::queries;
use crate::reprs::InstanceRepr;
use crate::reprs::class::{class_conversion, class_pair, classes_repr};
use crate::rtyper::void_const;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// The Repr of a PBC.
pub(crate) fn pbc_repr(rt: &RTyper<'_>, descs: &Descs, can_be_none: bool) -> Typed<Repr> {
    let first = descs
        .first()
        .ok_or_else(|| TyperError::internal("a PBC of nothing"))?;
    if descs.is_mixed() {
        return Err(TyperError::with_code(
            ErrorCode::MixedConstants,
            "functions, classes, methods and prebuilt instances cannot come together in one variable",
        ));
    }
    match first {
        Desc::Function(f) if descs.len() == 1 && !can_be_none => {
            Ok(Repr::Function(Arc::new(FunctionRepr { func: *f })))
        }
        Desc::Function(f) => match FunctionsPbcRepr::of_family(rt, *f)? {
            Some(r) => Ok(Repr::Functions(Arc::new(r))),
            None => frozen_repr(rt, descs, can_be_none),
        },
        Desc::Class(_) => Ok(classes_repr(descs, can_be_none)),
        Desc::Method { .. } => methods_repr(rt, descs),
        Desc::Frozen(_) => frozen_repr(rt, descs, can_be_none),
        Desc::FrozenMethod { func, .. } => {
            let selves: Descs = descs
                .iter()
                .filter_map(|d| match d {
                    Desc::FrozenMethod { func: f, frozen } if f == func => {
                        Some(Desc::Frozen(*frozen))
                    }
                    _ => None,
                })
                .collect();
            if selves.len() != descs.len() || can_be_none {
                return Err(TyperError::with_code(
                    ErrorCode::MixedConstants,
                    "different methods of prebuilt constants, or one and None, come together here",
                )
                .with_help("pass the object itself, and call its method where it is used"));
            }
            Ok(Repr::FrozenMethod(Arc::new(FrozenMethodRepr {
                func: *func,
                im_self: frozen_repr(rt, &selves, false)?,
            })))
        }
    }
}

/// One known function: Void.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionRepr {
    /// The function.
    pub func: ObjId,
}

impl ReprMethods for FunctionRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::a("function")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        Ok(void_const(c))
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        constant_attribute(hop, self.describe())
    }

    fn rtype_bool(&self, _: &Hop<'_>) -> RType {
        Ok(Some(crate::hop::cbool(true)))
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

fn constant_attribute(hop: &Hop<'_>, what: Description) -> RType {
    match hop.result_const() {
        Some(c) => c.map(Some),
        None => Err(TyperError::with_code(
            ErrorCode::AttributeWithoutRepr,
            format!(
                "the attribute `{}` of {what} is not a constant",
                hop.const_name(1)?
            ),
        )),
    }
}

/// The functions that are called where this one is.
pub(crate) fn call_family(rt: &RTyper<'_>, func: ObjId) -> Typed<Arc<CallFamily>> {
    let roots = rt.roots()?;
    Ok(taipan_annotator::call_family(
        rt.db,
        Family::new(rt.db, roots, func),
    ))
}

/// Several functions, or None: a pointer to the function, or to a struct of pointers
/// to its variants where call sites pick different ones.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionsPbcRepr {
    /// The smallest function of the family.
    pub family: ObjId,
    /// Types of the distinct rows of the family's call table.
    pub variants: Vec<LLType>,
    /// For every row of the family the variant that serves it.
    pub rows: Vec<usize>,
    /// The low-level type.
    pub ty: LLType,
}

/// A row of the call table, perhaps several rows of the family in one.
struct UniqueRow {
    ty: LLType,
    targets: Vec<(ObjId, Target)>,
    of: Vec<usize>,
}

/// Rows that agree on the functions that they share become one (RPython:
/// `LLCallTable`).
fn unique_rows(rt: &RTyper<'_>, family: &CallFamily) -> Typed<Vec<UniqueRow>> {
    let mut unique: Vec<UniqueRow> = Vec::new();
    for (i, row) in family.rows.iter().enumerate() {
        let mut args = Vec::with_capacity(row.signature.args.len());
        for s in &row.signature.args {
            args.push(rt.getrepr(s)?.lowleveltype());
        }
        let result = rt.getrepr(&row.signature.result)?.lowleveltype();
        let mut new = UniqueRow {
            ty: LLType::func(args, result).ptr(),
            targets: row.targets.clone(),
            of: vec![i],
        };
        while let Some(at) = unique.iter().position(|old| matches(old, &new)) {
            let old = unique.remove(at);
            for t in old.targets {
                if !new.targets.contains(&t) {
                    new.targets.push(t);
                }
            }
            new.of.extend(old.of);
        }
        new.of.sort_unstable();
        unique.push(new);
    }
    unique.sort_by_key(|r| r.of[0]);
    Ok(unique)
}

fn matches(a: &UniqueRow, b: &UniqueRow) -> bool {
    if a.ty != b.ty {
        return false;
    }
    let mut common = false;
    for (f, t) in &a.targets {
        if let Some((_, u)) = b.targets.iter().find(|(g, _)| g == f) {
            if u != t {
                return false;
            }
            common = true;
        }
    }
    common
}

impl FunctionsPbcRepr {
    /// The Repr of the family of a function; none if nothing in it is ever called.
    fn of_family(rt: &RTyper<'_>, func: ObjId) -> Typed<Option<Self>> {
        let family = call_family(rt, func)?;
        if family.rows.is_empty() {
            return Ok(None);
        }
        let name = family.functions.first().copied().unwrap_or(func);
        let _guard = rt.enter(
            name,
            "the type of a function mentions itself: it gets itself as an argument",
        )?;
        let unique = unique_rows(rt, &family)?;
        let mut rows = vec![0; family.rows.len()];
        for (i, u) in unique.iter().enumerate() {
            for r in &u.of {
                rows[*r] = i;
            }
        }
        let variants: Vec<LLType> = unique.iter().map(|u| u.ty).collect();
        let ty = match &variants[..] {
            [one] => *one,
            several => specfunc(several).ptr(),
        };
        Ok(Some(FunctionsPbcRepr {
            family: name,
            variants,
            rows,
            ty,
        }))
    }

    /// The pointer that call sites of a row call.
    pub(crate) fn row_pointer(&self, llops: &LLOps<'_>, v: LLOperand, row: u32) -> LLOperand {
        if self.variants.len() == 1 {
            return v;
        }
        let variant = self.rows.get(row as usize).copied().unwrap_or(0);
        let field = crate::hop::cfield(&format!("variant{variant}"));
        llops.genop(
            View::Getfield {
                object: &v,
                field: &field,
            },
            self.variants[variant],
        )
    }
}

/// The struct of a function's variants.
fn specfunc(variants: &[LLType]) -> LLType {
    let fields: Vec<Field> = variants
        .iter()
        .enumerate()
        .map(|(i, t)| Field {
            name: format!("variant{i}").into(),
            ty: *t,
        })
        .collect();
    let immutable = fields.iter().map(|f| f.name.clone()).collect();
    LLType::raw_struct(
        "specfunc",
        StructBody {
            fields,
            adtmeths: None,
            immutable,
            ..StructBody::default()
        },
    )
}

/// The low-level functions of a function's variants, where the family has any.
pub(crate) fn variants_of(rt: &RTyper<'_>, func: ObjId) -> Typed<Vec<(LLType, Option<FuncSym>)>> {
    let family = call_family(rt, func)?;
    let mut out = Vec::new();
    for row in unique_rows(rt, &family)? {
        let sym = match row.targets.iter().find(|(f, _)| *f == func) {
            Some((_, t)) => Some(rt.target_sym(*t)?),
            None => None,
        };
        out.push((row.ty, sym));
    }
    Ok(out)
}

impl ReprMethods for FunctionsPbcRepr {
    fn lowleveltype(&self) -> LLType {
        self.ty
    }

    fn describe(&self) -> Description {
        Description::a("function")
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        pointer_bool(hop)
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        constant_attribute(hop, self.describe())
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

fn pointer_bool(hop: &Hop<'_>) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
    Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
}

/// Bound methods of one name: represented as their self.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodsPbcRepr {
    /// The name that they have in their classes.
    pub name: Arc<str>,
    /// What they are bound to: instances of the class that declares the name.
    pub im_self: InstanceRepr,
    /// What the vtable has under that name.
    pub function: Repr,
}

fn methods_repr(rt: &RTyper<'_>, descs: &Descs) -> Typed<Repr> {
    let set = queries::MethodSet::new(rt.db, rt.universe, descs.clone());
    let methods = queries::bound_methods(rt.db, set)?;
    Ok(Repr::Methods(Arc::new(MethodsPbcRepr {
        name: methods.name.clone(),
        im_self: InstanceRepr::new(rt, Some(methods.owner)),
        function: super::class::repr_of_functions(rt, &methods.function)?,
    })))
}

/// What the methods of a set have in common.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct BoundMethods {
    /// Their name.
    name: Arc<str>,
    /// The class that declares it.
    owner: ObjId,
    /// What its vtable has under that name.
    function: SomeValue,
}

/// Looks at all members, so that no function that calls them has to.
pub(crate) fn common_to_methods(rt: &RTyper<'_>, descs: &[Desc]) -> Typed<BoundMethods> {
    let mut name: Option<&Arc<str>> = None;
    let mut class: Option<Option<ObjId>> = None;
    for d in descs {
        let Desc::Method {
            name: n,
            self_class,
            origin,
            ..
        } = d
        else {
            continue;
        };
        if let Some(other) = name.filter(|x| *x != n) {
            // In an order that does not depend on the objects' ids.
            let (one, two) = (other.min(n), other.max(n));
            return Err(TyperError::with_code(
                ErrorCode::IncompatibleFunctions,
                format!("one call cannot reach methods of different names: `{one}` and `{two}`"),
            )
            .with_help("pass the object, and choose by `if` which method is called"));
        }
        name = Some(n);
        let c = self_class.unwrap_or(*origin);
        class = Some(match class {
            None => Some(c),
            Some(x) => rt.common_base(x, Some(c)),
        });
    }
    let (Some(name), Some(Some(class))) = (name, class) else {
        return Err(TyperError::with_code(
            ErrorCode::IncompatibleFunctions,
            "one call cannot reach methods of classes that have no base class in common",
        )
        .with_help("define the method in a common base class"));
    };
    let attr = rt.class_attr(class, name).ok_or_else(|| {
        TyperError::internal(format!(
            "{} does not know its method '{name}'",
            rt.class_name(class)
        ))
    })?;
    let function = super::class::vtable_value(rt, attr.owner, &attr.value);
    Ok(BoundMethods {
        name: name.clone(),
        owner: attr.owner,
        function: function.unwrap_or(attr.value),
    })
}

impl ReprMethods for MethodsPbcRepr {
    fn lowleveltype(&self) -> LLType {
        self.im_self.ty
    }

    fn describe(&self) -> Description {
        Description::named(format!("the bound method `{}`", self.name))
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        pointer_bool(hop)
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

/// Frozen prebuilt instances.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FrozenPbcRepr {
    /// One: Void.
    Single(ObjId),
    /// Several whose attributes are read at the same places, or None: a pointer to a
    /// struct of these attributes.
    Multiple {
        /// The smallest member of the family.
        family: ObjId,
        /// The low-level type.
        ty: LLType,
    },
    /// Several that have nothing in common, or None: all one can do is to compare.
    Unrelated,
}

/// Pointer to a frozen instance of which nothing is read.
pub(crate) fn unrelated_type() -> LLType {
    LLType::new(TypeKind::Opaque {
        name: "pbc".into(),
        gc: false,
    })
    .ptr()
}

/// The struct of the attributes that are read of a family of frozen instances.
pub(crate) fn frozen_struct(family: ObjId) -> LLType {
    LLType::new(TypeKind::Struct(StructType {
        name: "pbc".into(),
        gc: false,
        id: StructId::Forward(format!("{FROZEN_PREFIX}{:016x}", family.0).into()),
    }))
}

const FROZEN_PREFIX: &str = "pbc ";

/// The family behind the name of a struct made by [`frozen_struct`].
pub(crate) fn family_of_struct(name: &str) -> Option<ObjId> {
    let hex = name.strip_prefix(FROZEN_PREFIX)?;
    u64::from_str_radix(hex, 16).ok().map(ObjId)
}

/// Whether a type is that of pointers to frozen instances, of one family or of several.
pub(crate) fn points_to_frozen(ty: LLType) -> bool {
    let family = |t: LLType| match t.as_struct().map(|s| &s.id) {
        Some(StructId::Forward(name)) => family_of_struct(name).is_some(),
        _ => false,
    };
    ty == unrelated_type() || ty.pointee().is_some_and(family)
}

/// The family of a frozen instance, if attributes of it are read.
pub(crate) fn attr_family(rt: &RTyper<'_>, member: ObjId) -> Typed<Option<ObjId>> {
    let roots = rt.roots()?;
    let family = taipan_annotator::attr_family(rt.db, Family::new(rt.db, roots, member));
    Ok(family
        .members
        .first()
        .copied()
        .filter(|_| !family.attrs.is_empty()))
}

fn frozen_repr(rt: &RTyper<'_>, descs: &[Desc], can_be_none: bool) -> Typed<Repr> {
    let member = |d: &Desc| match d {
        Desc::Frozen(o) | Desc::Function(o) | Desc::Class(o) => Some(*o),
        _ => None,
    };
    let members: Vec<ObjId> = descs.iter().filter_map(member).collect();
    let repr = match &members[..] {
        [one] if !can_be_none => FrozenPbcRepr::Single(*one),
        [] => return Err(TyperError::internal("a PBC of nothing")),
        [first, rest @ ..] => {
            let family = attr_family(rt, *first)?;
            let mut same = true;
            for o in rest {
                same &= attr_family(rt, *o)? == family;
            }
            match family {
                Some(family) if same => FrozenPbcRepr::Multiple {
                    family,
                    ty: frozen_struct(family).ptr(),
                },
                _ => FrozenPbcRepr::Unrelated,
            }
        }
    };
    Ok(Repr::Frozen(Arc::new(repr)))
}

impl ReprMethods for FrozenPbcRepr {
    fn lowleveltype(&self) -> LLType {
        match self {
            FrozenPbcRepr::Single(_) => *VOID,
            FrozenPbcRepr::Multiple { ty, .. } => *ty,
            FrozenPbcRepr::Unrelated => unrelated_type(),
        }
    }

    fn describe(&self) -> Description {
        Description::a("prebuilt constant")
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        match self {
            FrozenPbcRepr::Single(_) => Ok(Some(crate::hop::cbool(true))),
            _ => pointer_bool(hop),
        }
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let name = hop.const_name(1)?.to_owned();
        if let Repr::FrozenMethod(m) = &hop.r_result {
            let r = hop.args_r[0].clone();
            let v = hop.inputarg(&r, 0)?;
            return hop.llops.convertvar(v, &r, &m.im_self).map(Some);
        }
        match self {
            FrozenPbcRepr::Single(o) => match frozen_attribute(hop.rt, *o, &name)? {
                Some(c) => hop.inputconst(&hop.r_result, &c).map(Some),
                None => constant_attribute(hop, self.describe()),
            },
            FrozenPbcRepr::Unrelated => constant_attribute(hop, self.describe()),
            FrozenPbcRepr::Multiple { family, .. } => {
                let roots = hop.rt.roots()?;
                let key = Family::new(hop.rt.db, roots, *family);
                let attrs = taipan_annotator::attr_family(hop.rt.db, key);
                let attr = attrs.attrs.get(&*name).ok_or_else(|| {
                    TyperError::internal(format!("no attribute '{name}' in a family"))
                })?;
                let r = hop.rt.getrepr(&attr.value)?;
                let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
                let field = crate::hop::cfield(&format!("pbc_{name}"));
                let v = hop.genop(
                    View::Getfield {
                        object: &v,
                        field: &field,
                    },
                    r.lowleveltype(),
                );
                hop.convert_result(v, &r).map(Some)
            }
        }
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

/// An attribute of a frozen instance or module, also from its class.
pub(crate) fn frozen_attribute(rt: &RTyper<'_>, obj: ObjId, name: &str) -> Typed<Option<Const>> {
    Ok(match &*rt.object(obj)? {
        ObjData::Instance(i) => match i.get(name) {
            Some(c) => Some(c.clone()),
            None => match rt.read_class_attribute(i.class, name) {
                // A bound method is represented as what it is bound to.
                Some(Const::Obj(f)) if matches!(&*rt.object(f)?, ObjData::Function(_)) => {
                    Some(Const::Obj(obj))
                }
                other => other,
            },
        },
        ObjData::Module { .. } => rt.module_global(obj, name),
        ObjData::Function(f) => f.get(name).cloned(),
        ObjData::Class(_) => rt.read_class_attribute(obj, name),
        _ => None,
    })
}

/// A function bound to frozen instances: represented as these.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FrozenMethodRepr {
    /// The function.
    pub func: ObjId,
    /// The Repr of what it is bound to.
    pub im_self: Repr,
}

impl ReprMethods for FrozenMethodRepr {
    fn lowleveltype(&self) -> LLType {
        self.im_self.lowleveltype()
    }

    fn describe(&self) -> Description {
        Description::a("method").with("of a prebuilt constant")
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        if let Const::Obj(o) = c
            && let ObjData::Method {
                im_self: Some(s), ..
            } = &*rt.object(*o)?
        {
            return self.im_self.convert_const(rt, s);
        }
        if self.is_void() {
            return Ok(void_const(c));
        }
        self.im_self.convert_const(rt, c)
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::reprs::jit::rtype_marker(self, hop).unwrap_or_else(|| crate::calls::rtype_call(hop))
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::reprs::jit::rtype_marker(self, hop).unwrap_or_else(|| crate::calls::rtype_call(hop))
    }
}

impl FrozenMethodRepr {
    fn is_void(&self) -> bool {
        self.lowleveltype().is_void()
    }
}

fn is_constant_kind(r: &Repr) -> bool {
    matches!(
        r,
        Repr::Function(_) | Repr::Functions(_) | Repr::Frozen(_) | Repr::Methods(_)
    )
}

/// Comparison of functions, classes and frozen instances.
pub(crate) fn pbc_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    if let Some(result) = class_pair(hop, r1, r2) {
        return Some(result);
    }
    if !is_constant_kind(r1) || !is_constant_kind(r2) {
        return None;
    }
    match hop.op {
        HlOp::Is => Some(compare(hop)),
        HlOp::Eq | HlOp::Ne => Some(Err(not_by_value(hop, r1))),
        _ => None,
    }
}

/// What `==` and `!=` are, unless the flow space knows both sides.
pub(super) fn not_by_value(hop: &Hop<'_>, r: &Repr) -> TyperError {
    TyperError::missing(hop.op.spelt(), r.methods().describe()).with_help("compare by `is`")
}

fn compare(hop: &Hop<'_>) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let mut all: Vec<Desc> = Vec::new();
    let mut none = false;
    for s in &hop.args_s {
        if let SomeKind::Pbc { descs, can_be_none } = &s.kind {
            all.extend(descs.iter().cloned());
            none |= can_be_none;
        }
    }
    all.sort();
    all.dedup();
    let union = SomeValue {
        kind: SomeKind::Pbc {
            descs: all.into(),
            can_be_none: none,
        },
        const_: None,
    };
    let r = hop.rt.getrepr(&union)?;
    if r.is_void() {
        return Ok(Some(crate::hop::cbool(true)));
    }
    let args = hop.inputargs([&r, &r])?;
    Ok(Some(hop.genop(PlainOp::PtrEq.view(&args), *BOOL)))
}

/// Conversions among PBCs.
pub(crate) fn pbc_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    if let Some(result) = class_conversion(llops, v.clone(), from, to) {
        return Some(result);
    }
    let known = match from {
        Repr::Function(f) => Some(f.func),
        Repr::Frozen(f) => match **f {
            FrozenPbcRepr::Single(o) => Some(o),
            _ => None,
        },
        _ => None,
    };
    match (from, to) {
        (Repr::FrozenMethod(a), Repr::FrozenMethod(b)) => {
            return Some(llops.convertvar(v, &a.im_self, &b.im_self));
        }
        (Repr::Methods(a), Repr::Methods(b)) if a.name == b.name => {
            return Some(llops.convertvar(
                v,
                &Repr::Instance(a.im_self),
                &Repr::Instance(b.im_self),
            ));
        }
        _ => {}
    }
    if !is_constant_kind(from) || !is_constant_kind(to) {
        return None;
    }
    if to.is_void() {
        return Some(Ok(cvoid()));
    }
    if let Some(o) = known {
        return Some(
            to.convert_const(llops.rt, &Const::Obj(o))
                .map(Operand::Const),
        );
    }
    if from.lowleveltype() == to.lowleveltype() {
        return Some(Ok(v));
    }
    if let Repr::Frozen(f) = to
        && **f == FrozenPbcRepr::Unrelated
    {
        return Some(Ok(
            llops.genop(View::CastOpaquePtr { value: &v }, unrelated_type())
        ));
    }
    None
}
