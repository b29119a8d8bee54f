//! Operations on two and more values (RPython: `binaryop.py`).

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp};
use taipan_interp::constants;

use super::operations::Operand;
use super::remedies::{
    ASK_FOR_CLASS, INSTEAD_OF_TUPLE_INDEX, VARIABLE_TUPLE_INDEX, of_items, of_operation,
};
use super::{Cx, Knows, Local};
use crate::Desc;
use crate::facts::Known;
use crate::project::is_conflict;
use crate::store::SlotKey;
use crate::val::{Atom, Ints, Val};

/// Names of the bounds of a slice in messages.
const SLICING: &str = "slicing";

/// The remedy for ends of slices that are counted from the end.
const FROM_THE_FRONT: &str = "count from the front: `start = len(x) - n`, then `assert start >= 0`";

impl Cx<'_> {
    pub(super) fn binary(&mut self, op: HlOp, x: &Val, y: &Val) -> Known<Val> {
        let mut result = Val::default();
        for a in &x.atoms {
            if y.atoms.is_empty() && y.none && takes_none(op, a) {
                let r = self.binary_atoms(op, x, a, y, None)?;
                result = self.join(&result, &r);
            }
            for b in &y.atoms {
                let r = self.binary_atoms(op, x, a, y, Some(b))?;
                result = self.join(&result, &r);
            }
        }
        Ok(result)
    }

    /// One row per pair of kinds. `b` is absent where the second operand is None.
    fn binary_atoms(
        &mut self,
        op: HlOp,
        x: &Val,
        a: &Atom,
        y: &Val,
        b: Option<&Atom>,
    ) -> Known<Val> {
        use HlOp::*;
        let plain = op.not_inplace();
        let Some(b) = b else {
            return Ok(match (plain, a) {
                (GetItem | DelItem, Atom::Dict(site)) => self.dict_item(plain, *site, y),
                (Mod, Atom::Str { .. } | Atom::Uni { .. }) => {
                    self.format(x, a, std::slice::from_ref(y))
                }
                _ => Val::default(),
            });
        };
        Ok(match (plain, a, b) {
            (_, Atom::Int(i), Atom::Int(j)) => self.int_op(plain, *i, *j, x, y),
            (
                Add | Sub | Mul | Div | TrueDiv | Pow,
                Atom::Int(_) | Atom::Float,
                Atom::Int(_) | Atom::Float,
            ) => Atom::Float.into(),
            (Cmp, _, _) => Val::signed(),

            (Add, Atom::Str { no_nul: n, .. }, Atom::Str { no_nul: m, .. }) => {
                match (&x.const_, &y.const_) {
                    (Some(Const::Str(s)), Some(Const::Str(t))) => {
                        let both: Vec<u8> = s.iter().chain(t.iter()).copied().collect();
                        Val::str_(*n && *m).with_const(Some(Const::Str(both.into())))
                    }
                    _ => Val::str_(*n && *m),
                }
            }
            (Add, Atom::Uni { no_nul: n, .. }, Atom::Uni { no_nul: m, .. }) => {
                match (&x.const_, &y.const_) {
                    (Some(Const::Unicode(s)), Some(Const::Unicode(t))) => {
                        let both: Vec<u32> = s.iter().chain(t.iter()).copied().collect();
                        Val::unicode(*n && *m).with_const(Some(Const::Unicode(both.into())))
                    }
                    _ => Val::unicode(*n && *m),
                }
            }
            (Add, Atom::ByteArray, Atom::ByteArray | Atom::Str { .. })
            | (Add, Atom::Str { .. }, Atom::ByteArray) => Atom::ByteArray.into(),
            (Mul, Atom::Str { no_nul, .. }, Atom::Int(_))
            | (Mul, Atom::Int(_), Atom::Str { no_nul, .. }) => Val::str_(*no_nul),
            (Mul, Atom::Uni { no_nul, .. }, Atom::Int(_))
            | (Mul, Atom::Int(_), Atom::Uni { no_nul, .. }) => Val::unicode(*no_nul),
            (GetItem, Atom::Str { no_nul, .. }, Atom::Int(_)) => Val::char_(*no_nul),
            (GetItem, Atom::Uni { no_nul, .. }, Atom::Int(_)) => Val::unichar(*no_nul),
            (GetItem, Atom::ByteArray, Atom::Int(_)) => Val::signed(),
            (Mod, Atom::Str { .. } | Atom::Uni { .. }, Atom::Tuple(items)) => {
                self.format(x, a, items)
            }
            (Mod, Atom::Str { .. } | Atom::Uni { .. }, _) => {
                self.format(x, a, std::slice::from_ref(y))
            }

            (Add, Atom::List(l), _) if op == InplaceAdd => {
                self.extend(*l, y);
                x.non_none().not_const()
            }
            (Mul, Atom::List(l), Atom::Int(_)) if op == InplaceMul => {
                self.resize(*l);
                x.non_none().not_const()
            }
            (Add, Atom::List(l), Atom::List(m)) => self.offspring(&[*l, *m]),
            (Mul, Atom::List(l), Atom::Int(_)) | (Mul, Atom::Int(_), Atom::List(l)) => {
                self.offspring(&[*l])
            }
            (GetItem, Atom::List(l), Atom::Int(_)) => self.read(SlotKey::Item(*l)),
            (DelItem, Atom::List(l), Atom::Int(_)) => {
                self.resize(*l);
                Val::none()
            }
            (GetItem | DelItem, Atom::Dict(site), _) => self.dict_item(plain, *site, y),
            (GetItem, Atom::List(_) | Atom::Str { .. } | Atom::Uni { .. }, Atom::Slice(s)) => {
                let s = s.clone();
                if s[2].is_none() || s[2].const_i64() == Some(1) {
                    self.getslice(x, &s[0], &s[1])
                } else {
                    self.stepped_slice()
                }
            }

            (Add, Atom::Tuple(s), Atom::Tuple(t)) => {
                Val::tuple(s.iter().chain(t.iter()).cloned().collect())
            }
            (GetItem, Atom::Tuple(items), Atom::Int(_)) => match y.const_i64() {
                Some(i) => {
                    let i = if i < 0 { i + items.len() as i64 } else { i };
                    usize::try_from(i)
                        .ok()
                        .and_then(|i| items.get(i))
                        .cloned()
                        .unwrap_or_default()
                }
                None => {
                    let any = self.join_all(items.iter());
                    if is_conflict(&any) && !items.iter().any(is_conflict) {
                        self.problem_help(
                            ErrorCode::VariableTupleIndex,
                            VARIABLE_TUPLE_INDEX,
                            Some(INSTEAD_OF_TUPLE_INDEX),
                        );
                    }
                    any
                }
            },

            (GetItem, Atom::Ptr(_) | Atom::Interior { .. }, Atom::Int(_)) => self.pointer_item(a),
            (GetItem, Atom::BuiltinMethod { name, of }, Atom::Int(_))
                if of.single() == Some(&Atom::Address) =>
            {
                match super::lowlevel::accessed_type(name) {
                    Some(t) => super::lowlevel::lltype_to_annotation(t),
                    None => Val::default(),
                }
            }
            (Add | Sub, Atom::Address, Atom::Int(_)) => Atom::Address.into(),
            (Sub, Atom::Address, Atom::Address) => Val::signed(),
            _ => {
                let (s, t) = (self.facts.describe_atom(a), self.facts.describe_atom(b));
                if plain == DelItem {
                    return Ok(self.problem_help(
                        ErrorCode::UnsupportedOperands,
                        format!("cannot delete items of {s}"),
                        of_items(a),
                    ));
                }
                let message = format!("{} of {s} and {t} is not RPython", plain.spelt());
                let code = match (a, b) {
                    (Atom::Str { .. }, Atom::Uni { .. }) | (Atom::Uni { .. }, Atom::Str { .. }) => {
                        ErrorCode::MixedStrings
                    }
                    _ => ErrorCode::UnsupportedOperands,
                };
                self.problem_help(code, message, of_operation(plain, a, b))
            }
        })
    }

    fn dict_item(&mut self, op: HlOp, site: crate::SiteId, key: &Val) -> Val {
        self.write(SlotKey::Key(site), key.clone());
        match op {
            HlOp::DelItem => Val::none(),
            _ => self.read(SlotKey::Value(site)),
        }
    }

    /// Arithmetic of integers. As in RPython nothing is folded here: the flow space
    /// has folded what is constant.
    fn int_op(&mut self, op: HlOp, i: Ints, j: Ints, x: &Val, y: &Val) -> Val {
        use HlOp::*;
        let both = i.join(j);
        let kind = both.kind_or_widest();
        let nonneg = i.nonneg() && j.nonneg();
        match op {
            And | Or | Xor if i.is_bool() && j.is_bool() => bool_op(op, x, y),
            Add | Mul | Or | Xor | Div | FloorDiv | Mod | AddOvf | MulOvf | DivOvf
            | FloorDivOvf | ModOvf => {
                if both.kind().is_none() {
                    return self.problem_help(
                        ErrorCode::MixedSignedness,
                        "these integers may be of different signedness",
                        Some("convert one of them with r_uint() or intmask()"),
                    );
                }
                Val::int_like(kind, nonneg, both)
            }
            Pow => self.problem_help(
                ErrorCode::ReplacedOperation,
                "pow() of integers is not RPython: its result fits a machine word seldom",
                Some("raise a float() to a power, or multiply with ovfcheck()"),
            ),
            TrueDiv => Atom::Float.into(),
            Sub | SubOvf => Val::int_like(kind, false, both),
            And => Val::int_like(kind, i.nonneg() || j.nonneg(), both),
            LShift | LShiftOvf => Val::int_like(i.kind_or_widest(), false, i),
            RShift => Val::int_like(i.kind_or_widest(), i.nonneg(), i),
            DivMod => Val::tuple(vec![Val::int(kind, nonneg), Val::int(kind, nonneg)]),
            Cmp => Val::signed(),
            _ => self.problem(
                ErrorCode::UnsupportedOperands,
                format!("{} of integers is not RPython", op.spelt()),
            ),
        }
    }

    /// `string % values`
    fn format(&mut self, x: &Val, a: &Atom, items: &[Val]) -> Val {
        if x.const_.is_none() {
            return self.problem_help(
                ErrorCode::ConstantNeeded,
                "string formatting needs a constant string on the left of %",
                Some("write the text out in front of the `%`"),
            );
        }
        let (unicode, mut no_nul) = match a {
            Atom::Uni { no_nul, .. } => (true, *no_nul),
            Atom::Str { no_nul, .. } => (false, *no_nul),
            _ => (false, false),
        };
        for i in items {
            match i.single() {
                Some(Atom::Str { .. }) if unicode => return self.mixed_format(),
                Some(Atom::Uni { .. }) if !unicode => return self.mixed_format(),
                Some(Atom::Int(_) | Atom::Float) => {}
                Some(Atom::Str { no_nul: true, .. } | Atom::Uni { no_nul: true, .. }) => {}
                _ => no_nul = false,
            }
        }
        if unicode {
            Val::unicode(no_nul)
        } else {
            Val::str_(no_nul)
        }
    }

    fn mixed_format(&mut self) -> Val {
        self.problem_help(
            ErrorCode::MixedStrings,
            "string formatting mixes byte strings and unicode strings",
            Some("decode or encode one of them first"),
        )
    }

    pub(super) fn setitem(&mut self, x: &Val, index: &Val, value: &Val) -> Known<Val> {
        for a in &x.atoms {
            match a {
                Atom::List(site) => {
                    if index.ints().is_none() {
                        self.problem(
                            ErrorCode::UnsupportedOperands,
                            "a list index must be an integer",
                        );
                    }
                    self.mutate(*site);
                    self.write(SlotKey::Item(*site), value.clone());
                }
                Atom::Dict(site) => {
                    self.write(SlotKey::Key(*site), index.clone());
                    self.write(SlotKey::Value(*site), value.clone());
                }
                Atom::ByteArray => {
                    if index.ints().is_none() || value.ints().is_none() {
                        self.problem_help(
                            ErrorCode::UnsupportedOperands,
                            "the items of a bytearray are integers, and so are its indices",
                            Some("make an integer of a character: `ord(c)`"),
                        );
                    }
                }
                Atom::Ptr(_) | Atom::Interior { .. } => {}
                Atom::BuiltinMethod { of, .. } if of.single() == Some(&Atom::Address) => {}
                other => {
                    let what = self.facts.describe_atom(other);
                    self.problem_help(
                        ErrorCode::UnsupportedOperands,
                        format!("cannot assign items of {what}"),
                        of_items(other),
                    );
                }
            }
        }
        Ok(Val::none())
    }

    pub(super) fn stepped_slice(&mut self) -> Val {
        self.problem_help(
            ErrorCode::SliceWithStep,
            "a slice with a step is not RPython",
            Some("write a loop over `range(start, stop, step)`"),
        )
    }

    /// Slices and searches must start and stop at places that are known not to be negative. Slices
    /// may also stop at -1.
    pub(super) fn check_slice(&mut self, start: &Val, stop: &Val, what: &str) {
        let is_slice = what == SLICING;
        for (v, end) in [(start, "start"), (stop, "stop")] {
            if let Some(i) = v.ints()
                && !i.nonneg()
                && !(is_slice && end == "stop" && v.const_i64() == Some(-1))
            {
                self.problem_help(
                    ErrorCode::MaybeNegative,
                    format!("{what}: the {end} may be negative"),
                    Some(match v.const_i64() {
                        // No assert makes a negative constant another one.
                        Some(_) => FROM_THE_FRONT,
                        None if self.from_the_end => FROM_THE_FRONT,
                        None => "store it in a variable and put an `assert x >= 0` in front",
                    }),
                );
            }
        }
    }

    pub(super) fn getslice(&mut self, x: &Val, start: &Val, stop: &Val) -> Val {
        let mut result = Val::default();
        for a in &x.atoms {
            let r = match a {
                Atom::Tuple(items) => {
                    let n = items.len() as i64;
                    let end = |v: &Val, missing: i64| -> Option<usize> {
                        let i = if v.is_none() { missing } else { v.const_i64()? };
                        Some(if i < 0 { i + n } else { i }.clamp(0, n) as usize)
                    };
                    match (end(start, 0), end(stop, n)) {
                        (Some(i), Some(j)) => Val::tuple(items[i.min(j)..j].to_vec()),
                        _ => self.problem(
                            ErrorCode::ConstantNeeded,
                            "slices of tuples need constant bounds",
                        ),
                    }
                }
                Atom::List(site) => {
                    self.check_slice(start, stop, SLICING);
                    self.offspring(&[*site])
                }
                Atom::Str { no_nul, .. } => {
                    self.check_slice(start, stop, SLICING);
                    Val::str_(*no_nul)
                }
                Atom::Uni { no_nul, .. } => {
                    self.check_slice(start, stop, SLICING);
                    Val::unicode(*no_nul)
                }
                Atom::ByteArray => {
                    self.check_slice(start, stop, SLICING);
                    Atom::ByteArray.into()
                }
                other => {
                    let what = self.facts.describe_atom(other);
                    self.problem(
                        ErrorCode::UnsupportedOperands,
                        format!("cannot take a slice of {what}"),
                    )
                }
            };
            result = self.join(&result, &r);
        }
        result
    }

    pub(super) fn setslice(&mut self, x: &Val, start: &Val, stop: &Val, items: &Val) -> Val {
        for a in &x.atoms {
            let Atom::List(site) = a else {
                let what = self.facts.describe_atom(a);
                return self.problem(
                    ErrorCode::UnsupportedOperands,
                    format!("cannot assign a slice of {what}"),
                );
            };
            self.check_slice(start, stop, SLICING);
            match items.single() {
                Some(Atom::List(other)) => {
                    let other = *other;
                    self.agree(*site, other);
                    self.resize(*site);
                }
                _ => {
                    return self.problem(
                        ErrorCode::UnsupportedOperands,
                        "only a list can be assigned to a slice",
                    );
                }
            }
        }
        Val::none()
    }

    pub(super) fn delslice(&mut self, x: &Val, start: &Val, stop: &Val) -> Val {
        for a in &x.atoms {
            let Atom::List(site) = a else {
                let what = self.facts.describe_atom(a);
                return self.problem(
                    ErrorCode::UnsupportedOperands,
                    format!("cannot delete a slice of {what}"),
                );
            };
            self.check_slice(start, stop, SLICING);
            self.resize(*site);
        }
        Val::none()
    }

    /// `x is y`
    pub(super) fn is_op(&mut self, x: &Operand, y: &Operand) -> Known<Local> {
        let (a, b) = (x.val(), y.val());
        let class_of = |v: &Val| match v.single() {
            Some(Atom::Pbc(descs)) => descs.iter().all(|d| matches!(d, Desc::Class(_))),
            _ => false,
        };
        let is_instance = |v: &Val| matches!(v.single(), Some(Atom::Instance(_)));
        if is_instance(a) && class_of(b) || class_of(a) && is_instance(b) {
            let (a, b) = (self.facts.describe(a), self.facts.describe(b));
            let message = format!("`is` of {a} and {b} is not RPython");
            let val =
                self.problem_help(ErrorCode::UnsupportedOperands, message, Some(ASK_FOR_CLASS));
            return Ok(val.into());
        }
        let mut answer = None;
        match (&a.const_, &b.const_) {
            (Some(c), Some(d)) if is_identity(c) && is_identity(d) => answer = Some(c == d),
            _ => {}
        }
        for (c, other) in [(a, b), (b, a)] {
            if c.is_none() && !other.none {
                answer = Some(false);
            }
        }
        if answer.is_none()
            && let (Some(Atom::Pbc(s)), Some(Atom::Pbc(t))) = (a.single(), b.single())
            && !(a.none && b.none)
            && !s.iter().any(|d| t.contains(d))
        {
            answer = Some(false);
        }
        if let (Some(Atom::LLType(s)), Some(Atom::LLType(t))) = (a.single(), b.single()) {
            answer = Some(s == t);
        }
        let mut knows: Knows = Default::default();
        for (src, tgt) in [(y, x), (x, y)] {
            self.bind_is(src, tgt, &mut knows)?;
        }
        Ok(Local {
            val: answer.map_or_else(Val::bool_, Val::const_bool),
            knows: Some(Arc::new(knows)),
            type_of: None,
        })
    }

    /// What `tgt is src` says of `tgt`.
    fn bind_is(&mut self, src: &Operand, tgt: &Operand, knows: &mut Knows) -> Known<()> {
        let (s, t) = (src.val(), tgt.val());
        if let (Some(of), Some(Const::Obj(class))) = (&tgt.local.type_of, &s.const_)
            && matches!(s.single(), Some(Atom::Pbc(_)))
        {
            let i = self.instance(*class)?;
            for v in of.iter() {
                knows[1].push((*v, i.clone()));
            }
        }
        let Some(var) = tgt.var else { return Ok(()) };
        knows[1].push((var, s.clone()));
        if s.is_none() && t.none {
            knows[0].push((var, t.non_none()));
        }
        Ok(())
    }

    /// Comparisons.
    pub(super) fn compare(&mut self, op: HlOp, x: &Operand, y: &Operand) -> Known<Local> {
        let (a, b) = (x.val(), y.val());
        let mut answer = match (&a.const_, &b.const_) {
            (Some(Const::Obj(c)), Some(Const::Obj(d))) if c == d => {
                Some(matches!(op, HlOp::Eq | HlOp::Le | HlOp::Ge))
            }
            (Some(c), Some(d)) => constants::compare(op, c, d),
            _ => None,
        };
        if let (Some(Atom::LLType(s)), Some(Atom::LLType(t))) = (a.single(), b.single())
            && matches!(op, HlOp::Eq | HlOp::Ne)
        {
            answer = Some((s == t) == (op == HlOp::Eq));
        }
        let mut knows: Knows = Default::default();
        if let (Some(i), Some(j)) = (a.ints(), b.ints()) {
            let signed = |k: Ints| k.kind_or_widest().signed;
            if signed(i) && signed(j) {
                let case = |ops: [HlOp; 3]| usize::from(ops.contains(&op));
                if i.nonneg()
                    && let Some(v) = y.var
                {
                    let known = Val::int_like(j.kind_or_widest(), true, j);
                    knows[case([HlOp::Lt, HlOp::Le, HlOp::Eq])].push((v, known));
                }
                if j.nonneg()
                    && let Some(v) = x.var
                {
                    let known = Val::int_like(i.kind_or_widest(), true, i);
                    knows[case([HlOp::Gt, HlOp::Ge, HlOp::Eq])].push((v, known));
                }
                if y.var.is_none() && b.const_ == Some(Const::Int(0)) && i.nonneg() {
                    match op {
                        HlOp::Lt => answer = Some(false),
                        HlOp::Ge => answer = Some(true),
                        _ => {}
                    }
                }
            }
        }
        for s in &a.atoms {
            for t in &b.atoms {
                self.compare_atoms(op, s, t)?;
            }
        }
        Ok(Local {
            val: answer.map_or_else(Val::bool_, Val::const_bool),
            knows: Some(Arc::new(knows)),
            type_of: None,
        })
    }

    /// Side effects and errors of a comparison.
    fn compare_atoms(&mut self, op: HlOp, a: &Atom, b: &Atom) -> Known<()> {
        match (a, b) {
            (Atom::List(l), Atom::List(m)) if matches!(op, HlOp::Eq | HlOp::Ne) => {
                self.agree(*l, *m);
            }
            (Atom::Tuple(s), Atom::Tuple(t)) => {
                if matches!(op, HlOp::Eq | HlOp::Ne) {
                    if s.len() == t.len() {
                        for (x, y) in s.iter().zip(t.iter()) {
                            self.join(x, y);
                        }
                    }
                } else {
                    self.problem(
                        ErrorCode::UnsupportedOperands,
                        format!("{} of tuples is not RPython", op.spelt()),
                    );
                }
            }
            (Atom::Dict(_), Atom::Dict(_)) if op == HlOp::Ne => {
                self.problem(ErrorCode::UnsupportedOperands, "!= of dicts is not RPython");
            }
            (Atom::Str { .. }, Atom::Uni { .. }) | (Atom::Uni { .. }, Atom::Str { .. }) => {
                self.problem_help(
                    ErrorCode::MixedStrings,
                    "comparing a byte string with a unicode string is not RPython",
                    Some("decode or encode one of them first"),
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// `y in x`
    pub(super) fn contains(&mut self, x: &Operand, y: &Operand) -> Known<Local> {
        let (c, element) = (x.val(), y.val());
        if c.is_none() {
            return Ok(Val::const_bool(false).into());
        }
        let mut local = Local::from(Val::bool_());
        for a in &c.atoms {
            match a {
                Atom::List(site) => self.write(SlotKey::Item(*site), element.clone()),
                Atom::Dict(site) => {
                    self.write(SlotKey::Key(*site), element.clone());
                    if self.dict_is_empty(*site) && c.atoms.len() == 1 {
                        local.val = Val::const_bool(false);
                    }
                }
                Atom::Str { char_, .. } => {
                    if element.const_ == Some(Const::Str(Arc::from([0u8])))
                        && let Some(v) = x.var
                    {
                        let atom = Atom::Str {
                            char_: *char_,
                            no_nul: true,
                        };
                        let mut known = Val::from(atom);
                        known.none = c.none;
                        local.knows = Some(Arc::new([vec![(v, known)], Vec::new()]));
                    }
                }
                Atom::Int(_) | Atom::Float => {
                    self.problem(ErrorCode::UnsupportedOperands, "a number is not iterable");
                }
                Atom::Tuple(items) => {
                    self.join_all(items.iter());
                }
                _ => {}
            }
        }
        Ok(local)
    }
}

fn bool_op(op: HlOp, x: &Val, y: &Val) -> Val {
    let c = |v: &Val| match v.const_ {
        Some(Const::Bool(b)) => Some(b),
        _ => None,
    };
    let answer = match (op, c(x), c(y)) {
        (HlOp::And, Some(false), _) | (HlOp::And, _, Some(false)) => Some(false),
        (HlOp::Or, Some(true), _) | (HlOp::Or, _, Some(true)) => Some(true),
        (HlOp::And | HlOp::Or, Some(_), b) => b,
        (HlOp::Xor, Some(a), Some(b)) => Some(a ^ b),
        _ => None,
    };
    answer.map_or_else(Val::bool_, Val::const_bool)
}

/// Operations of RPython that make sense with None on the right.
fn takes_none(op: HlOp, a: &Atom) -> bool {
    match op {
        HlOp::GetItem | HlOp::DelItem => matches!(a, Atom::Dict(_)),
        HlOp::Mod | HlOp::InplaceMod => matches!(a, Atom::Str { .. } | Atom::Uni { .. }),
        _ => false,
    }
}

/// Values whose identity is their equality.
fn is_identity(c: &Const) -> bool {
    matches!(
        c,
        Const::None | Const::Bool(_) | Const::Obj(_) | Const::Int(_)
    )
}
