//! What the operands and the results of low-level operations are, and whether those of a graph are.
//!
//! Each operation declares its [`Signature`] in the table of operations. The verifier compares every
//! operation of a graph with it, and what it says of fields, items and functions with the types of
//! containers: see [`check_operations`].

use std::fmt;
use std::sync::Arc;

use taipan_graph::{IntKind, Operation};

use crate::{
    FuncType, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp, PlainOp,
    StructBody, StructType, TypeKind, VoidConst,
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
    /// Anything.
    Any,
    /// Any number of operands of any kind, at the end.
    Rest,
}

/// The operands and the result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// One per operand; the last one may be [`Kind::Rest`].
    pub args: &'static [Kind],
    /// The result.
    pub result: Kind,
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
            Kind::Any | Kind::Rest => true,
            Kind::Type | Kind::Field | Kind::Flavor => false,
        }
    }

    fn holds(self, operand: &LLOperand, ty: LLType) -> bool {
        match (self, operand) {
            (Kind::Type, LLOperand::Const(LLConst::Void(VoidConst::Type(_))))
            | (Kind::Field, LLOperand::Const(LLConst::Void(VoidConst::Field(_))))
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
            LLOp::Num(..) => Signature {
                args: &[Kind::Primitive, Kind::Rest],
                result: Kind::Primitive,
            },
        }
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
        let (args, more) = match signature.args {
            [args @ .., Kind::Rest] => (args, true),
            args => (args, false),
        };
        let n = self.args.len();
        if n < args.len() || n > args.len() && !more {
            return Err(format!("{} operands are needed", args.len()));
        }
        for (i, (kind, a)) in args.iter().zip(self.args).enumerate() {
            if !kind.holds(a, self.ty(a)) {
                return Err(format!("operand {i} is no {kind:?}"));
            }
        }
        if !signature.result.holds_type(self.result) {
            return Err(format!("the result is no {:?}", signature.result));
        }
        match op {
            LLOp::Num(family, num) => self.number(family, num),
            LLOp::Plain(plain) => self.plain(plain),
        }
    }

    /// Arithmetic: all on one type, but for comparisons and shifts.
    fn number(&self, family: NumFamily, num: NumOp) -> Result<(), String> {
        let result = self.result;
        let ty = LLType::new(match family {
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
        });
        use NumOp::*;
        let unary = matches!(num, IsTrue | Neg | Abs | Invert);
        if self.args.len() != if unary { 1 } else { 2 } {
            return Err("another number of operands is needed".into());
        }
        let shift = matches!(num, LShift | RShift);
        for (i, a) in self.args.iter().enumerate() {
            let wanted = if shift && i == 1 { *crate::SIGNED } else { ty };
            self.same(self.ty(a), wanted)?;
        }
        let compares = matches!(num, IsTrue | Lt | Le | Eq | Ne | Gt | Ge);
        self.same(result, if compares { *crate::BOOL } else { ty })
    }

    fn plain(&self, plain: PlainOp) -> Result<(), String> {
        use PlainOp::*;
        let (args, result) = (self.args, self.result);
        let arg = |i: usize| self.ty(&args[i]);
        match plain {
            Getfield => match self.field(&args[0], &args[1])? {
                Some(field) => self.same(result, field),
                None => Ok(()),
            },
            Setfield | BareSetfield => match self.field(&args[0], &args[1])? {
                Some(field) => self.same(arg(2), field),
                None => Ok(()),
            },
            Getsubstruct | DirectFieldptr => {
                let Some(field) = self.field(&args[0], &args[1])? else {
                    return Ok(());
                };
                match plain {
                    Getsubstruct => self.same(result, field.ptr()),
                    _ => self.same(result, LLType::new(TypeKind::FixedArray(field, 1)).ptr()),
                }
            }
            Getarrayitem => self.same(result, self.item(arg(0))?),
            Setarrayitem | BareSetarrayitem => self.same(arg(2), self.item(arg(0))?),
            Getarraysubstruct => self.same(result, self.item(arg(0))?.ptr()),
            Getarraysize => self.item(arg(0)).map(drop),
            Getinteriorfield => match self.interior(args)? {
                Some(part) => self.same(result, part),
                None => Ok(()),
            },
            Setinteriorfield | BareSetinteriorfield => {
                let (value, path) = args.split_last().ok_or("it has no value")?;
                match self.interior(path)? {
                    Some(part) => self.same(self.ty(value), part),
                    None => Ok(()),
                }
            }
            Malloc | MallocVarsize | GcMallocFilled | GcMallocNursery => match &args[0] {
                LLOperand::Const(LLConst::Void(VoidConst::Type(t))) => self.same(result, t.ptr()),
                _ => Ok(()),
            },
            DirectCall => self.call(&args[0], &args[1..], result),
            IndirectCall => {
                let mut args = &args[1..];
                let callee = &self.args[0];
                // The candidates, if it has any.
                if let Some(LLOperand::Const(LLConst::Void(
                    VoidConst::Targets(_) | VoidConst::None,
                ))) = args.last()
                    && self.function(callee)?.args.len() < args.len()
                {
                    args = &args[..args.len() - 1];
                }
                self.call(callee, args, result)
            }
            SameAs => self.same(arg(0), result),
            PtrEq | PtrNe => self.same(arg(0), arg(1)),
            _ => Ok(()),
        }
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
    fn interior(&self, path: &[LLOperand]) -> Result<Option<LLType>, String> {
        let (container, steps) = path.split_first().ok_or("no container")?;
        let mut ty = self.ty(container).pointee().ok_or("no pointer")?;
        for step in steps {
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
