//! What the operands and the results of low-level operations are, and whether those of a graph are.
//!
//! Each operation declares its [`Signature`] in the table of operations. The verifier compares every
//! operation of a graph with it, and what it says of fields, items and functions with the types of
//! containers: see [`check_operations`].

use std::fmt;
use std::sync::Arc;

use taipan_graph::{IntKind, Operation, VarId};

use crate::{
    FuncType, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp, StructBody,
    StructType, TypeKind, View, VoidConst,
};

/// What an operand or result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Nothing, as result.
    Void,
    /// Bool
    Bool,
    /// Signed
    Signed,
    /// Unsigned
    Unsigned,
    /// Char
    Char,
    /// UniChar
    UniChar,
    /// Float
    Float,
    /// A number, a character or a Bool of any kind.
    Primitive,
    /// Address
    Address,
    /// A pointer to anything.
    Pointer,
    /// A pointer to a function, or a function known while compiling.
    Function,
    /// A type, as a constant.
    Type,
    /// The name of a field, as a constant.
    Field,
    /// How memory is allocated, as a constant.
    Flavor,
    /// An object of the program while it is compiled, or nothing.
    Constant,
    /// The functions that an indirect call may mean, as a constant, or nothing.
    Targets,
    /// A step into an object: the name of a field or the index of an item.
    Step,
    /// Anything.
    Any,
}

/// How often an operand is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// Always.
    One,
    /// It may be missing.
    Optional,
    /// Any number of times.
    Any,
}

/// A declared operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// How many of it there are. One at the most of an operation's operands may vary.
    pub count: Count,
}

impl Param {
    pub(crate) const fn new(name: &'static str, kind: Kind, count: Count) -> Param {
        Param { name, kind, count }
    }
}

/// The operands and the result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Its operands, in order.
    pub params: &'static [Param],
    /// The result.
    pub result: Kind,
}

impl Signature {
    /// What each of so many operands is.
    ///
    /// # Errors
    /// How many there ought to be.
    pub fn operands(self, count: usize) -> Result<impl Iterator<Item = &'static Param>, String> {
        let needed = self.params.iter().filter(|p| p.count == Count::One).count();
        let varying = self.params.iter().find(|p| p.count != Count::One);
        let more = match varying.map(|p| p.count) {
            None | Some(Count::One) => Some(0),
            Some(Count::Optional) => Some(1),
            Some(Count::Any) => None,
        };
        let plural = |n: usize| match n {
            1 => "1 operand is".to_owned(),
            n => format!("{n} operands are"),
        };
        let extra = match (count.checked_sub(needed), more) {
            (Some(extra), None) => extra,
            (Some(extra), Some(most)) if extra <= most => extra,
            (_, Some(0)) => return Err(format!("{} needed", plural(needed))),
            (_, Some(most)) => return Err(format!("{needed} or {} needed", plural(needed + most))),
            (None, None) => return Err(format!("at least {} needed", plural(needed))),
        };
        let times = move |p: &Param| match p.count {
            Count::One => 1,
            Count::Optional | Count::Any => extra,
        };
        Ok((self.params.iter()).flat_map(move |p| std::iter::repeat_n(p, times(p))))
    }
}

impl Kind {
    /// Whether values of a type are of this kind.
    fn holds_type(self, ty: LLType) -> bool {
        let int = |k| *ty.kind() == TypeKind::Int(k);
        match self {
            Kind::Void => ty.is_void(),
            Kind::Bool => *ty.kind() == TypeKind::Bool,
            Kind::Signed => int(IntKind::SIGNED),
            Kind::Unsigned => int(IntKind::UNSIGNED),
            Kind::Char => *ty.kind() == TypeKind::Char,
            Kind::UniChar => *ty.kind() == TypeKind::UniChar,
            Kind::Float => *ty.kind() == TypeKind::Float,
            Kind::Primitive => matches!(
                ty.kind(),
                TypeKind::Bool
                    | TypeKind::Int(_)
                    | TypeKind::Char
                    | TypeKind::UniChar
                    | TypeKind::Float
                    | TypeKind::SingleFloat
            ),
            Kind::Address => *ty.kind() == TypeKind::Address,
            Kind::Pointer => ty.pointee().is_some(),
            Kind::Function => ty.pointee().is_some_and(|t| t.as_func().is_some()),
            Kind::Any => true,
            Kind::Step => int(IntKind::SIGNED),
            Kind::Type | Kind::Field | Kind::Flavor | Kind::Constant | Kind::Targets => false,
        }
    }

    fn holds(self, operand: &LLOperand, ty: LLType) -> bool {
        match (self, operand) {
            (Kind::Type, LLOperand::Const(LLConst::Void(VoidConst::Type(_))))
            | (Kind::Field | Kind::Step, LLOperand::Const(LLConst::Void(VoidConst::Field(_))))
            | (
                Kind::Constant,
                LLOperand::Const(LLConst::Void(VoidConst::Hl(_) | VoidConst::None)),
            )
            | (
                Kind::Targets,
                LLOperand::Const(LLConst::Void(VoidConst::Targets(_) | VoidConst::None)),
            )
            | (Kind::Flavor, LLOperand::Const(LLConst::Void(VoidConst::Flavor { .. })))
            | (Kind::Function, LLOperand::Const(LLConst::Void(VoidConst::Func(_)))) => true,
            _ => self.holds_type(ty),
        }
    }
}

impl LLOp {
    /// Its operands and its result.
    pub fn signature(self) -> Signature {
        match self {
            LLOp::Plain(op) => op.signature(),
            LLOp::Num(_, num) => Signature {
                params: match num.is_unary() {
                    true => const { &[Param::new("value", Kind::Primitive, Count::One)] },
                    false => {
                        const {
                            &[
                                Param::new("left", Kind::Primitive, Count::One),
                                Param::new("right", Kind::Primitive, Count::One),
                            ]
                        }
                    }
                },
                result: Kind::Primitive,
            },
        }
    }
}

impl NumFamily {
    /// The type that it computes on.
    pub fn ty(self) -> LLType {
        LLType::new(match self {
            NumFamily::Int => TypeKind::Int(IntKind::SIGNED),
            NumFamily::Uint => TypeKind::Int(IntKind::UNSIGNED),
            NumFamily::Lllong => TypeKind::Int(IntKind {
                signed: true,
                bits: 128,
            }),
            NumFamily::Ulllong => TypeKind::Int(IntKind {
                signed: false,
                bits: 128,
            }),
            NumFamily::Float => TypeKind::Float,
            NumFamily::Char => TypeKind::Char,
            NumFamily::Unichar => TypeKind::UniChar,
        })
    }
}

/// What is wrong with the operations of a graph, one line each: operands or a result that are not what
/// the table of operations says, fields that a struct does not have, values of another type than the
/// field, item or argument that they are for. `body` tells the fields of structs; none where they are
/// not to be looked at.
pub fn check_operations(
    graph: &LLGraph,
    body: &dyn Fn(&StructType) -> Option<Arc<StructBody>>,
) -> Vec<String> {
    let type_of = |o: &LLOperand| type_of(graph, o);
    let mut wrong = Vec::new();
    for b in graph.reachable() {
        for op in &graph.block(b).operations {
            let result = *graph.ty(op.result);
            if let Err(what) = check_operation(op.op, &op.args, result, &type_of, body) {
                wrong.push(format!("block{}: {}: {what}", b.0, Shown(graph, op)));
            }
        }
    }
    wrong
}

/// Whether one operation is what the table of operations says: see [`check_operations`].
///
/// # Errors
/// What is wrong with it.
pub fn check_operation(
    op: LLOp,
    args: &[LLOperand],
    result: LLType,
    type_of: &dyn Fn(&LLOperand) -> LLType,
    body: &dyn Fn(&StructType) -> Option<Arc<StructBody>>,
) -> Result<(), String> {
    let checker = Checker {
        args,
        result,
        type_of,
        body,
    };
    checker.operation(op)
}

/// Whether an operation takes operands of these types, as far as they are known.
///
/// # Errors
/// What is wrong with it.
pub fn check_types(op: LLOp, types: &[Option<LLType>], result: LLType) -> Result<(), String> {
    let known: Option<Vec<LLType>> = types.iter().copied().collect();
    let Some(known) = known else {
        return op.signature().operands(types.len()).map(drop);
    };
    let operands: Vec<LLOperand> = (0..known.len() as u32)
        .map(|i| LLOperand::Var(VarId(i)))
        .collect();
    let type_of = |o: &LLOperand| o.as_var().map_or(*crate::VOID, |v| known[v.index()]);
    check_operation(op, &operands, result, &type_of, &StructType::known_body)
}

/// An operation with the types of its operands.
struct Shown<'a>(&'a LLGraph, &'a Operation<LowLevel>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(graph, op) = self;
        write!(f, "{}(", op.op)?;
        for (i, a) in op.args.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            match a {
                LLOperand::Const(c @ LLConst::Void(_)) => write!(f, "{comma}{c}")?,
                a => write!(f, "{comma}{}", type_of(graph, a))?,
            }
        }
        write!(f, ") -> {}", graph.ty(op.result))
    }
}

fn type_of(graph: &LLGraph, o: &LLOperand) -> LLType {
    match o {
        LLOperand::Var(v) => *graph.ty(*v),
        LLOperand::Const(c) => c.ty(),
    }
}

/// One operation, being checked.
struct Checker<'a> {
    args: &'a [LLOperand],
    result: LLType,
    type_of: &'a dyn Fn(&LLOperand) -> LLType,
    body: &'a dyn Fn(&StructType) -> Option<Arc<StructBody>>,
}

impl Checker<'_> {
    fn ty(&self, o: &LLOperand) -> LLType {
        (self.type_of)(o)
    }

    fn operation(&self, op: LLOp) -> Result<(), String> {
        let signature = op.signature();
        for (param, a) in signature.operands(self.args.len())?.zip(self.args) {
            if !param.kind.holds(a, self.ty(a)) {
                return Err(format!("`{}` is no {:?}", param.name, param.kind));
            }
        }
        if !signature.result.holds_type(self.result) {
            return Err(format!("the result is no {:?}", signature.result));
        }
        self.types(op.view(self.args))
    }

    /// What the declared kinds do not say.
    fn types(&self, view: View<'_, LLOperand>) -> Result<(), String> {
        let result = self.result;
        match view {
            View::Unary { family, op, value } => self.number(family, op, &[value]),
            View::Binary {
                family,
                op,
                left,
                right,
            } => self.number(family, op, &[left, right]),
            View::Getfield { object, field } => match self.field(object, field)? {
                Some(field) => self.same(result, field),
                None => Ok(()),
            },
            View::Setfield {
                object,
                field,
                value,
            }
            | View::BareSetfield {
                object,
                field,
                value,
            } => match self.field(object, field)? {
                Some(field) => self.same(self.ty(value), field),
                None => Ok(()),
            },
            View::Getsubstruct { object, field } => match self.field(object, field)? {
                Some(field) => self.same(result, field.ptr()),
                None => Ok(()),
            },
            View::DirectFieldptr { object, field } => match self.field(object, field)? {
                Some(field) => self.same(result, LLType::new(TypeKind::FixedArray(field, 1)).ptr()),
                None => Ok(()),
            },
            View::Getarrayitem { array, .. } => self.same(result, self.item(self.ty(array))?),
            View::Setarrayitem { array, value, .. }
            | View::BareSetarrayitem { array, value, .. } => {
                self.same(self.ty(value), self.item(self.ty(array))?)
            }
            View::Getarraysubstruct { array, .. } => {
                self.same(result, self.item(self.ty(array))?.ptr())
            }
            View::Getarraysize { array } => self.item(self.ty(array)).map(drop),
            View::Getinteriorfield { object, path } => match self.interior(object, path)? {
                Some(part) => self.same(result, part),
                None => Ok(()),
            },
            View::Setinteriorfield {
                object,
                path,
                value,
            }
            | View::BareSetinteriorfield {
                object,
                path,
                value,
            } => match self.interior(object, path)? {
                Some(part) => self.same(self.ty(value), part),
                None => Ok(()),
            },
            View::Malloc { ty, .. }
            | View::MallocVarsize { ty, .. }
            | View::GcMallocFilled { ty, .. }
            | View::GcMallocNursery { ty, .. }
            | View::GcMallocReserved { ty, .. } => match ty {
                LLOperand::Const(LLConst::Void(VoidConst::Type(t))) => self.same(result, t.ptr()),
                _ => Ok(()),
            },
            View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
                self.call(callee, args, result)
            }
            View::SameAs { value } => self.same(self.ty(value), result),
            View::PtrEq { left, right } | View::PtrNe { left, right } => {
                self.same(self.ty(left), self.ty(right))
            }
            // Of the others, the kinds say all.
            _ => Ok(()),
        }
    }

    /// Arithmetic: all on one type, but for comparisons and shifts.
    fn number(&self, family: NumFamily, num: NumOp, args: &[&LLOperand]) -> Result<(), String> {
        use NumOp::*;
        let ty = family.ty();
        let shift = matches!(num, LShift | RShift);
        for (i, a) in args.iter().enumerate() {
            let wanted = if shift && i == 1 { *crate::SIGNED } else { ty };
            self.same(self.ty(a), wanted)?;
        }
        self.same(
            self.result,
            if num.is_comparison() {
                *crate::BOOL
            } else {
                ty
            },
        )
    }

    fn same(&self, got: LLType, wanted: LLType) -> Result<(), String> {
        match got == wanted {
            true => Ok(()),
            false => Err(format!("{got} where {wanted} is needed")),
        }
    }

    /// The type of a field behind a pointer; none if the fields are not to be looked at.
    fn field(&self, pointer: &LLOperand, name: &LLOperand) -> Result<Option<LLType>, String> {
        let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = name else {
            return Err("a field without a name".into());
        };
        let container = self.ty(pointer).pointee().ok_or("no pointer")?;
        self.field_of(container, name)
    }

    fn field_of(&self, container: LLType, name: &str) -> Result<Option<LLType>, String> {
        let none = || format!("{container} has no field {name}");
        let ty = match container.kind() {
            TypeKind::FixedArray(of, _) => *of,
            TypeKind::Struct(s) => match (self.body)(s) {
                Some(body) => {
                    let field = body.fields.iter().find(|f| *f.name == *name);
                    field.ok_or_else(none)?.ty
                }
                None => return Ok(None),
            },
            _ => return Err(none()),
        };
        Ok(Some(ty))
    }

    /// The type of the items of the array behind a pointer.
    fn item(&self, pointer: LLType) -> Result<LLType, String> {
        let container = pointer.pointee().ok_or("no pointer")?;
        self.item_of(container)
    }

    fn item_of(&self, container: LLType) -> Result<LLType, String> {
        match container.kind() {
            TypeKind::Array(a) => Ok(a.of),
            TypeKind::FixedArray(of, _) => Ok(*of),
            _ => Err(format!("{container} has no items")),
        }
    }

    /// The type of what is inside of a container, along fields and items; none as of fields.
    fn interior(
        &self,
        container: &LLOperand,
        path: &[LLOperand],
    ) -> Result<Option<LLType>, String> {
        let mut ty = self.ty(container).pointee().ok_or("no pointer")?;
        for step in path {
            ty = match step {
                LLOperand::Const(LLConst::Void(VoidConst::Field(name))) => {
                    match self.field_of(ty, name)? {
                        Some(field) => field,
                        None => return Ok(None),
                    }
                }
                step => {
                    self.same(self.ty(step), *crate::SIGNED)?;
                    self.item_of(ty)?
                }
            };
        }
        Ok(Some(ty))
    }

    fn function(&self, f: &LLOperand) -> Result<FuncType, String> {
        match f {
            LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) => {
                Ok(f.ty().clone())
            }
            f => {
                let ty = self.ty(f).pointee().and_then(LLType::as_func);
                ty.cloned().ok_or_else(|| "no function".into())
            }
        }
    }

    fn call(&self, f: &LLOperand, args: &[LLOperand], result: LLType) -> Result<(), String> {
        let ty = self.function(f)?;
        if ty.args.len() != args.len() {
            return Err(format!("{} arguments are needed", ty.args.len()));
        }
        for (a, wanted) in args.iter().zip(&ty.args) {
            self.same(self.ty(a), *wanted)?;
        }
        self.same(result, ty.result)
    }
}
