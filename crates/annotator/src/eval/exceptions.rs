//! Which exceptions an operation may raise (RPython: the `can_only_throw`
//! attributes), and what of them an exception link catches.

use taipan_graph::{Block, Const, ExitCase, HighLevel, HlOp, Link, ObjId};
use taipan_interp::{Builtin, named_id};
use taipan_language::{DictMethod, Exc, ListMethod, TextMethod};

use super::Cx;
use super::operations::Operand;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Val};

/// What may be raised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Raises {
    /// Any exception.
    Any,
    /// Instances of exactly these builtin classes.
    Only(Vec<Exc>),
}

impl Raises {
    /// Adds MemoryError if the operation may make an object.
    pub(super) fn add_memory_error(&mut self, op: HlOp, args: &[Operand]) {
        use HlOp::*;
        let all = |of: fn(&Atom) -> bool| args.iter().all(|a| a.val().atoms.iter().all(of));
        let grows = |a: &Atom| matches!(a, Atom::Slice(_) | Atom::Dict(_));
        let makes = match op.not_inplace() {
            Str | Repr | Unicode | Hex | Oct | DivMod | NewList | NewDict | NewTuple => true,
            GetItem | SetItem | DelItem => args.iter().any(|a| a.val().atoms.iter().any(grows)),
            op => op.may_allocate() && !all(|a| matches!(a, Atom::Int(_) | Atom::Float)),
        };
        if let Raises::Only(names) = self
            && makes
        {
            names.push(Exc::MemoryError);
        }
    }
}

/// Whether an exception link of a block is for MemoryError itself.
pub(super) fn catches_memory_error(block: &Block<HighLevel>) -> bool {
    let class = builtin_class(Exc::MemoryError);
    let named = |l: &Link<HighLevel>| l.case == ExitCase::Exception(Const::Obj(class));
    block.exits.iter().any(named)
}

/// The id of a builtin exception class.
pub(crate) fn builtin_class(e: Exc) -> ObjId {
    named_id(e.qualified())
}

impl Cx<'_> {
    /// What an operation may raise on these operands.
    pub(super) fn raises(&mut self, op: HlOp, args: &[Operand]) -> Raises {
        let mut sum: Vec<Exc> = Vec::new();
        let first = args.first().map(|a| a.val().clone()).unwrap_or_default();
        for a in &first.atoms {
            match self.atom_raises(op, a, args) {
                Raises::Any => return Raises::Any,
                Raises::Only(names) => {
                    for n in names {
                        if !sum.contains(&n) {
                            sum.push(n);
                        }
                    }
                }
            }
        }
        Raises::Only(sum)
    }

    fn atom_raises(&mut self, op: HlOp, a: &Atom, args: &[Operand]) -> Raises {
        use HlOp::*;
        let custom = |cx: &mut Self, site, only: &[Exc]| {
            if cx.read(SlotKey::Custom(site)).is_bottom() {
                Raises::Only(only.to_vec())
            } else {
                Raises::Any
            }
        };
        let instance = matches!(a, Atom::Instance(_) | Atom::Exception(_));
        match (op, a) {
            (SimpleCall | CallArgs, Atom::Builtin(f)) => {
                let raises = match f {
                    Builtin::Helper(f) => Some(f.raises),
                    Builtin::Known(f) => f.raises(),
                    // Others may call what the program brings.
                    _ => None,
                };
                raises.map_or(Raises::Any, |all| Raises::Only(all.to_vec()))
            }
            (SimpleCall | CallArgs, Atom::BuiltinMethod { name, of }) => {
                let mut sum = Vec::new();
                for o in of.atoms.clone() {
                    match self.method_raises(&o, name) {
                        Raises::Any => return Raises::Any,
                        Raises::Only(n) => sum.extend(n),
                    }
                }
                Raises::Only(sum)
            }
            (SimpleCall | CallArgs, Atom::WeakRef(_)) => Raises::Only(vec![]),
            (SimpleCall | CallArgs, _) => Raises::Any,
            (GetAttr | SetAttr, _) => {
                // A property is a call.
                if instance && self.record.special.is_some() {
                    Raises::Any
                } else {
                    Raises::Only(vec![])
                }
            }
            (
                GetItem | SetItem | DelItem | GetSlice | SetSlice | DelSlice | Contains | Len
                | Iter | Next,
                _,
            ) if instance => Raises::Any,
            (GetItem | DelItem, Atom::Dict(site)) => custom(self, *site, &[Exc::KeyError]),
            (SetItem | Contains, Atom::Dict(site)) => custom(self, *site, &[]),
            (
                GetItem | SetItem | DelItem,
                Atom::List(_)
                | Atom::Str { .. }
                | Atom::Uni { .. }
                | Atom::Tuple(_)
                | Atom::ByteArray,
            ) => {
                let slice = args
                    .get(1)
                    .and_then(|i| i.val().single())
                    .is_some_and(|i| matches!(i, Atom::Slice(_)));
                Raises::Only(if slice { vec![] } else { vec![Exc::IndexError] })
            }
            (Next, Atom::Iterator { of, .. }) => {
                let mut names = vec![Exc::StopIteration];
                if of.atoms.iter().any(|o| matches!(o, Atom::Dict(_))) {
                    names.push(Exc::RuntimeError);
                }
                Raises::Only(names)
            }
            (_, Atom::Int(_) | Atom::Float) => {
                let float = args
                    .iter()
                    .any(|x| matches!(x.val().single(), Some(Atom::Float)));
                Raises::Only(arithmetic_raises(op, float))
            }
            (Int | Float, Atom::Str { .. } | Atom::Uni { .. }) => {
                Raises::Only(vec![Exc::ValueError])
            }
            (Chr, _) => Raises::Only(vec![Exc::ValueError]),
            _ => Raises::Only(vec![]),
        }
    }

    fn method_raises(&mut self, of: &Atom, name: &str) -> Raises {
        let only = |names: &[Exc]| Raises::Only(names.to_vec());
        match of {
            Atom::List(_) => only(ListMethod::named(name).map_or(&[], ListMethod::raises)),
            Atom::Dict(site) => {
                if !self.read(SlotKey::Custom(*site)).is_bottom() {
                    return Raises::Any;
                }
                only(DictMethod::named(name).map_or(&[], DictMethod::raises))
            }
            Atom::Str { .. } | Atom::Uni { .. } => match TextMethod::named(name) {
                Some(method) => method.raises().map_or(Raises::Any, only),
                None => only(&[]),
            },
            Atom::Iterator { of, .. } => {
                let mut names = vec![Exc::StopIteration];
                if of.atoms.iter().any(|o| matches!(o, Atom::Dict(_))) {
                    names.push(Exc::RuntimeError);
                }
                Raises::Only(names)
            }
            _ => only(&[]),
        }
    }

    /// What may be raised, as a value.
    pub(super) fn exception_val(&mut self, raises: &Raises) -> Known<Val> {
        let mut classes: Vec<ObjId> = Vec::new();
        match raises {
            Raises::Any => return self.instance(builtin_class(Exc::Exception)),
            Raises::Only(names) => {
                for n in names {
                    let class = builtin_class(*n);
                    self.use_class(class)?;
                    classes.push(class);
                }
            }
        }
        if classes.is_empty() {
            return Ok(Val::default());
        }
        classes.sort_unstable();
        classes.dedup();
        Ok(Atom::Exception(classes.into()).into())
    }

    /// The part of what is raised that a class catches.
    pub(super) fn caught(&mut self, raised: &Val, class: ObjId) -> Known<Val> {
        self.use_class(class)?;
        Ok(match raised.single() {
            Some(Atom::Exception(classes)) => {
                let mut kept = Vec::new();
                for c in classes.iter() {
                    if self.facts.is_subclass(*c, class)? {
                        kept.push(*c);
                    }
                }
                if kept.is_empty() {
                    Val::default()
                } else {
                    Atom::Exception(kept.into()).into()
                }
            }
            Some(Atom::Instance(Some(c))) => {
                if self.facts.is_subclass(*c, class)? {
                    raised.clone()
                } else if self.facts.is_subclass(class, *c)? {
                    Val::instance(class)
                } else {
                    Val::default()
                }
            }
            _ => Val::default(),
        })
    }

    /// The part that it does not catch.
    pub(super) fn uncaught(&mut self, raised: &Val, class: ObjId) -> Known<Val> {
        Ok(match raised.single() {
            Some(Atom::Exception(classes)) => {
                let mut kept = Vec::new();
                for c in classes.iter() {
                    if !self.facts.is_subclass(*c, class)? {
                        kept.push(*c);
                    }
                }
                if kept.is_empty() {
                    Val::default()
                } else {
                    Atom::Exception(kept.into()).into()
                }
            }
            Some(Atom::Instance(Some(c))) if self.facts.is_subclass(*c, class)? => Val::default(),
            _ => raised.clone(),
        })
    }
}

/// Exceptions of arithmetic: those of the operation that can happen with these operands.
fn arithmetic_raises(op: HlOp, float: bool) -> Vec<Exc> {
    use Exc::*;
    let all: &[Exc] = match op.not_inplace() {
        HlOp::Div | HlOp::TrueDiv if float => &[],
        HlOp::Div | HlOp::TrueDiv | HlOp::FloorDiv | HlOp::Mod | HlOp::DivMod => {
            &[ZeroDivisionError]
        }
        HlOp::Int | HlOp::Long if float => &[OverflowError, ValueError],
        // Not arithmetic: numbers have no items, and are not called.
        HlOp::GetItem | HlOp::SetItem | HlOp::DelItem | HlOp::Contains | HlOp::Next => &[],
        HlOp::SimpleCall | HlOp::CallArgs => &[],
        op => op.raises(),
    };
    all.to_vec()
}
