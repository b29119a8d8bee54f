//! Dispatch of flow-graph operations to transfer functions.

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{CallShape, Const, HlOp, VarId};

use super::args::Arguments;
use super::{Cx, Local};
use crate::ArgSource;
use crate::bounds::{NESTING, NESTING_MADE};
use crate::facts::Known;
use crate::val::{Atom, Step, Val};

/// An operand of an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operand {
    /// What is known of it.
    pub(crate) local: Local,
    /// The variable, unless it is a constant.
    pub(crate) var: Option<VarId>,
}

impl Operand {
    pub(crate) fn val(&self) -> &Val {
        &self.local.val
    }
}

/// Special methods that operations on instances stand for (RPython: the
/// `register_transform`s of `unaryop.py` and `binaryop.py`).
pub(crate) fn special_method(op: HlOp) -> Option<&'static str> {
    Some(match op {
        HlOp::Len => "__len__",
        HlOp::Iter => "__iter__",
        HlOp::Next => "next",
        HlOp::GetSlice => "__getslice__",
        HlOp::SetSlice => "__setslice__",
        HlOp::GetItem => "__getitem__",
        HlOp::SetItem => "__setitem__",
        HlOp::DelItem => "__delitem__",
        HlOp::Contains => "__contains__",
        _ => return None,
    })
}

/// Whether an operation may make a tuple of what it works on.
fn makes_tuples(op: HlOp, args: &[Operand]) -> bool {
    let of = args.first().and_then(|a| a.val().single());
    match op {
        HlOp::NewTuple => true,
        // `enumerate()` and the items of dicts.
        HlOp::Next => matches!(of, Some(Atom::Iterator { variant, .. }) if !variant.is_empty()),
        HlOp::SimpleCall => matches!(of, Some(Atom::BuiltinMethod { .. })),
        _ => false,
    }
}

impl Cx<'_> {
    /// The outcome of an operation; bottom if it cannot succeed (so far).
    pub(crate) fn operation(&mut self, op: HlOp, args: &[Operand], vars: &[Local]) -> Known<Local> {
        let result = self.any_operation(op, args, vars)?;
        let most = if makes_tuples(op, args) {
            &NESTING_MADE
        } else {
            &NESTING
        };
        if result.val.is_nested_beyond(most) {
            return Ok(self
                .problem_help(
                    ErrorCode::EndlessNesting,
                    "a value nested in a value of its own kind without end",
                    Some("a tuple has a fixed shape; use a class with an attribute for the inner one"),
                )
                .into());
        }
        Ok(result)
    }

    fn any_operation(&mut self, op: HlOp, args: &[Operand], vars: &[Local]) -> Known<Local> {
        if let Some(name) = special_method(op)
            && let Some(object) = args.first().map(Operand::val)
            && object.atoms.iter().any(is_instance)
        {
            let name: Arc<str> = name.into();
            if object.atoms.iter().all(is_instance) {
                return self
                    .special_call(object, &name, &args[1..])
                    .map(Local::from);
            }
            // A conflict, which is told where the value comes from. What it is besides an
            // instance goes its way as before that came.
            let (mut instances, mut others) = (object.clone(), object.non_none());
            instances.atoms.retain(|a| is_instance(a));
            others.atoms.retain(|a| !is_instance(a));
            let special = self.special_call(&instances, &name, &args[1..])?;
            let mut rest = args.to_vec();
            rest[0].local.val = others;
            let mut result = self.any_operation(op, &rest, vars)?;
            result.val = self.join(&result.val, &special);
            return Ok(result);
        }
        if op == HlOp::SimpleCall && self.is_virtual_ref(args[0].val())? {
            let name: Arc<str> = "__call__".into();
            return self
                .special_call(args[0].val(), &name, &args[1..])
                .map(Local::from);
        }
        let v = |i: usize| args[i].val();
        Ok(match op {
            HlOp::SimpleCall => {
                let arguments = Arguments::positional(call_sources(&args[1..], 1));
                self.call(v(0), arguments)?.into()
            }
            HlOp::CallArgs => self.call_args(args)?.into(),
            HlOp::GetAttr => self.getattr_op(v(0), v(1))?.into(),
            HlOp::SetAttr => self.setattr_op(v(0), v(1), v(2))?.into(),
            HlOp::DelAttr => self
                .problem(
                    ErrorCode::InvalidAttributeUse,
                    "deleting an attribute is not RPython",
                )
                .into(),
            HlOp::NewList => {
                let items: Vec<Val> = args.iter().map(|a| a.val().clone()).collect();
                self.new_list(&items, Step::List).into()
            }
            HlOp::NewDict => self.new_dict().1.into(),
            HlOp::NewTuple => Val::tuple(args.iter().map(|a| a.val().clone()).collect()).into(),
            HlOp::NewSlice => {
                if v(2).is_none() {
                    let parts = [v(0).clone(), v(1).clone(), v(2).clone()];
                    Val::from(Atom::Slice(Arc::new(parts))).into()
                } else {
                    self.stepped_slice().into()
                }
            }
            HlOp::SameAs => args[0].local.clone(),
            HlOp::Hint => self.fenced(v(0)).into(),
            HlOp::Type => self.type_op(&args[0]),
            HlOp::IsInstance => self.isinstance(&args[0], v(1))?,
            HlOp::IsSubtype => self.issubtype(&args[0], v(1), vars)?,
            HlOp::Bool => self.bool_op(&args[0])?,
            HlOp::Is => self.is_op(&args[0], &args[1])?,
            HlOp::Lt | HlOp::Le | HlOp::Eq | HlOp::Ne | HlOp::Gt | HlOp::Ge => {
                self.compare(op, &args[0], &args[1])?
            }
            HlOp::Contains => self.contains(&args[0], &args[1])?,
            HlOp::SetItem => self.setitem(v(0), v(1), v(2))?.into(),
            HlOp::GetSlice => self.getslice(v(0), v(1), v(2)).into(),
            HlOp::SetSlice => self.setslice(v(0), v(1), v(2), v(3)).into(),
            HlOp::DelSlice => self.delslice(v(0), v(1), v(2)).into(),
            HlOp::Pow | HlOp::InplacePow => self.binary(HlOp::Pow, v(0), v(1))?.into(),
            _ => match args {
                [a] => self.unary(op, a.val())?.into(),
                [a, b] => self.binary(op, a.val(), b.val())?.into(),
                _ => self
                    .problem(
                        ErrorCode::UnsupportedOperands,
                        format!("{op} takes other operands"),
                    )
                    .into(),
            },
        })
    }

    /// Whether a value is one of the virtual references of `rlib.jit`, the only instances
    /// that RPython can call.
    fn is_virtual_ref(&mut self, v: &Val) -> Known<bool> {
        match v.single() {
            Some(Atom::Instance(Some(class))) => self.is_virtual_ref_class(*class),
            _ => Ok(false),
        }
    }

    /// A special method of an instance: `getattr` and a call of what it gives.
    fn special_call(&mut self, object: &Val, name: &Arc<str>, args: &[Operand]) -> Known<Val> {
        let method = self.getattr(object, name)?;
        if method.is_error() {
            return Ok(method);
        }
        let result = self.call(&method, Arguments::positional(call_sources(args, 1)))?;
        self.record.special = Some((name.clone(), method));
        Ok(result)
    }

    /// `call_args`: keywords and `*args`.
    fn call_args(&mut self, args: &[Operand]) -> Known<Val> {
        let callee = args[0].val();
        let Some(Const::Shape(shape)) = &args[1].val().const_ else {
            return Ok(self.problem(ErrorCode::InvalidArguments, "call without a shape"));
        };
        let shape: Arc<CallShape> = shape.clone();
        let operands: Vec<&Val> = args.iter().map(Operand::val).collect();
        let mut arguments = Arguments::default();
        let mut i = 2;
        for _ in 0..shape.positional {
            arguments
                .positional
                .push((ArgSource::Operand(i as u32), operands[i].clone()));
            i += 1;
        }
        for name in &shape.keywords {
            arguments.keywords.push((
                name.clone(),
                ArgSource::Operand(i as u32),
                operands[i].clone(),
            ));
            i += 1;
        }
        if shape.star {
            let star = operands[i].clone();
            match star.single() {
                Some(Atom::Tuple(items)) if !star.none => {
                    for (n, item) in items.iter().enumerate() {
                        arguments
                            .positional
                            .push((ArgSource::Item(i as u32, n as u32), item.clone()));
                    }
                }
                _ => {
                    let got = self.facts.describe(&star);
                    return Ok(self.problem_help(
                        ErrorCode::InvalidArguments,
                        format!("*args of a call must be a tuple, not {got}"),
                        Some("a list has no length known while compiling; pass a tuple"),
                    ));
                }
            }
        }
        self.call(callee, arguments)
    }
}

/// Positional arguments; the first one is that operand of the operation.
fn call_sources(args: &[Operand], first: usize) -> Vec<(ArgSource, Val)> {
    args.iter()
        .enumerate()
        .map(|(i, a)| (ArgSource::Operand((i + first) as u32), a.val().clone()))
        .collect()
}

/// Whether a special method serves an operation on it.
pub(super) fn is_instance(a: &Atom) -> bool {
    matches!(a, Atom::Instance(Some(_)) | Atom::Exception(_))
}
