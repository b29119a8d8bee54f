//! Operations on values: builtin ones first, special methods around them; and the
//! space as the engine sees it.

use num_traits::ToPrimitive;
use taipan_code::{CallDesc, Code, CodeId, ImportDesc, Instr};
use taipan_graph::HlOp;

use super::builtin::Args;
use super::builtins::functions::{RANGE, iterated_range};
use super::dict::Name;
use super::heap::{Function, Kind, Ref};
use super::meant::Lacks;
use super::sizes::{MOST_BYTES, MOST_ITEMS};
use super::types::{self, ty};
use super::value::Value;
use super::words;
use super::{Body, Fatal, Interp, R};
use taipan_engine::{Frame, Named, Next, ObjectSpace, Truth, Unwind};

/// Own, reflected and in-place special methods of a binary operation, and its sign.
fn binary_names(op: HlOp) -> Option<(&'static str, &'static str, &'static str, &'static str)> {
    Some(match op {
        HlOp::Add => ("__add__", "__radd__", "__iadd__", "+"),
        HlOp::Sub => ("__sub__", "__rsub__", "__isub__", "-"),
        HlOp::Mul => ("__mul__", "__rmul__", "__imul__", "*"),
        HlOp::Div => ("__div__", "__rdiv__", "__idiv__", "/"),
        HlOp::TrueDiv => ("__truediv__", "__rtruediv__", "__itruediv__", "/"),
        HlOp::FloorDiv => ("__floordiv__", "__rfloordiv__", "__ifloordiv__", "//"),
        HlOp::Mod => ("__mod__", "__rmod__", "__imod__", "%"),
        HlOp::DivMod => ("__divmod__", "__rdivmod__", "__idivmod__", "divmod()"),
        HlOp::Pow => ("__pow__", "__rpow__", "__ipow__", "** or pow()"),
        HlOp::LShift => ("__lshift__", "__rlshift__", "__ilshift__", "<<"),
        HlOp::RShift => ("__rshift__", "__rrshift__", "__irshift__", ">>"),
        HlOp::And => ("__and__", "__rand__", "__iand__", "&"),
        HlOp::Or => ("__or__", "__ror__", "__ior__", "|"),
        HlOp::Xor => ("__xor__", "__rxor__", "__ixor__", "^"),
        _ => return None,
    })
}

/// Maximum number of items of a `*` argument that are put on the stack of the caller.
const MOST_SPREAD: usize = 64;

/// Bytes that an item of a sequence takes.
fn size_of_item(sequence: &Value) -> usize {
    match sequence {
        Value::Str(_) => 1,
        Value::Unicode(_) => size_of::<u32>(),
        _ => size_of::<Value>(),
    }
}

impl Interp<'_> {
    /// A binary operation.
    pub(crate) fn binary(&mut self, op: HlOp, a: &Value, b: &Value) -> R {
        if let Some(v) = self.binary_special(op, a, b)? {
            return Ok(v);
        }
        let (ua, ub) = (self.unboxed(a), self.unboxed(b));
        if let Some(v) = self.binary_builtin(op, &ua, &ub)? {
            return Ok(v);
        }
        if let Some(v) = self.absent_result([a, b]) {
            return Ok(v);
        }
        let sign = binary_names(op).map_or("?", |n| n.3);
        let (ta, tb) = (
            self.heap.type_name(a).to_owned(),
            self.heap.type_name(b).to_owned(),
        );
        if op == HlOp::Add && matches!(a, Value::Str(_)) {
            return self.type_error(format!("cannot concatenate 'str' and '{tb}' objects"));
        }
        self.type_error(format!(
            "unsupported operand type(s) for {sign}: '{ta}' and '{tb}'"
        ))
    }

    /// By the special methods of classes written in Python.
    fn binary_special(&mut self, op: HlOp, a: &Value, b: &Value) -> R<Option<Value>> {
        if !matches!(a, Value::Ref(_)) && !matches!(b, Value::Ref(_)) {
            return Ok(None);
        }
        let Some((own, reflected, ..)) = binary_names(op) else {
            return Ok(None);
        };
        let (ta, tb) = (self.heap.type_of(a), self.heap.type_of(b));
        let b_first = ta != tb && self.heap.is_subclass(tb, ta);
        let mut tries = [(a, b, own), (b, a, reflected)];
        if b_first {
            tries.reverse();
        }
        for (x, y, name) in tries {
            if let Some(v) = self.call_special(x, name, std::slice::from_ref(y))?
                && !v.is(&Value::Ref(types::NOT_IMPLEMENTED))
            {
                return Ok(Some(v));
            }
        }
        Ok(None)
    }

    /// On builtin values; None if the operation is not defined for them.
    pub(crate) fn binary_builtin(&mut self, op: HlOp, a: &Value, b: &Value) -> R<Option<Value>> {
        if op == HlOp::DivMod {
            let Some(d) = self.arithmetic(HlOp::FloorDiv, a, b)? else {
                return Ok(None);
            };
            let m = self.arithmetic(HlOp::Mod, a, b)?.unwrap_or(Value::None);
            return Ok(Some(Value::tuple(vec![d, m])));
        }
        if let Some(v) = self.arithmetic(op, a, b)? {
            return Ok(Some(v));
        }
        match (op, a, b) {
            (HlOp::Mod, Value::Str(_) | Value::Unicode(_), _) => {
                return Ok(Some(self.format_percent(a, b)?));
            }
            (HlOp::Add, Value::Str(x), Value::Str(y)) => {
                return Ok(Some(Value::joined(x, y)));
            }
            (HlOp::Add, Value::Str(_) | Value::Unicode(_), Value::Str(_) | Value::Unicode(_)) => {
                let (x, y) = (self.code_points(a)?, self.code_points(b)?);
                return Ok(Some(Value::Unicode([&x[..], &y[..]].concat().into())));
            }
            (HlOp::Add, Value::Tuple(x), Value::Tuple(y)) => {
                return Ok(Some(Value::tuple([&x[..], &y[..]].concat())));
            }
            (HlOp::Mul, _, Value::Int(_) | Value::Long(_) | Value::Bool(_)) => {
                return self.repeat(a, b);
            }
            (HlOp::Mul, Value::Int(_) | Value::Long(_) | Value::Bool(_), _) => {
                return self.repeat(b, a);
            }
            _ => {}
        }
        let (Value::Ref(x), Value::Ref(y)) = (a, b) else {
            return Ok(None);
        };
        match (op, self.heap.kind(*x), self.heap.kind(*y)) {
            (HlOp::Add, Kind::List(p), Kind::List(q)) => {
                let items = [&p[..], &q[..]].concat();
                Ok(Some(self.heap.list(items)))
            }
            (
                HlOp::And | HlOp::Or | HlOp::Xor | HlOp::Sub,
                Kind::Set(p) | Kind::FrozenSet(p),
                Kind::Set(q) | Kind::FrozenSet(q),
            ) => {
                let (p, q) = (p.clone(), q.clone());
                let frozen = matches!(self.heap.kind(*x), Kind::FrozenSet(_));
                let table = self.set_op(op, &p, &q)?;
                Ok(Some(self.new_set(table, frozen)))
            }
            _ => Ok(None),
        }
    }

    /// A sequence so many times; None if it is none.
    fn repeat(&mut self, v: &Value, times: &Value) -> R<Option<Value>> {
        let len = match v {
            Value::Str(s) => s.len(),
            Value::Unicode(s) => s.len(),
            Value::Tuple(t) => t.len(),
            Value::Ref(r) => match self.heap.list_items(*r) {
                Some(l) => l.len(),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(n) = self.big_int(times).and_then(|n| n.to_i64()) else {
            let message = "cannot fit 'long' into an index-sized integer";
            return self.raise(ty::OVERFLOW_ERROR, message);
        };
        let n = n.max(0) as usize;
        let string = matches!(v, Value::Str(_) | Value::Unicode(_));
        if string
            && len
                .checked_mul(n)
                .is_none_or(|n| isize::try_from(n).is_err())
        {
            return self.raise(ty::OVERFLOW_ERROR, "repeated string is too long");
        }
        let most = match v {
            Value::Str(_) | Value::Unicode(_) => MOST_BYTES / size_of_item(v),
            _ => MOST_ITEMS,
        };
        if len.saturating_mul(n) > most {
            return self.too_large();
        }
        self.reserve((len * n * size_of_item(v)) as u64)?;
        self.work_items(len * n)?;
        Ok(Some(match v {
            Value::Str(s) => Value::Str(s.repeat(n).into()),
            Value::Unicode(s) => Value::Unicode(s.repeat(n).into()),
            Value::Tuple(t) => {
                let mut items = Vec::with_capacity(t.len() * n);
                for _ in 0..n {
                    items.extend_from_slice(t);
                }
                Value::tuple(items)
            }
            Value::Ref(r) => match self.heap.list_items(*r) {
                Some(l) => {
                    let mut items = Vec::with_capacity(l.len() * n);
                    for _ in 0..n {
                        items.extend_from_slice(l);
                    }
                    self.heap.list(items)
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// An augmented assignment's operation.
    fn inplace(&mut self, op: HlOp, a: &Value, b: &Value) -> R {
        let plain = op.not_inplace();
        if let Value::Ref(r) = a {
            if let Some((_, _, name, _)) = binary_names(plain)
                && let Some(v) = self.call_special(a, name, std::slice::from_ref(b))?
                && !v.is(&Value::Ref(types::NOT_IMPLEMENTED))
            {
                return Ok(v);
            }
            match (plain, self.heap.kind(*r)) {
                (HlOp::Add, Kind::List(_)) => {
                    let items = self.list_of(b)?;
                    if let Kind::List(l) = &mut self.heap.get_mut(*r).kind {
                        l.extend(items);
                    }
                    return Ok(a.clone());
                }
                (HlOp::Mul, Kind::List(_)) => {
                    self.index_of(b)?;
                    if let Some(Value::Ref(new)) = self.repeat(a, b)?
                        && let Kind::List(items) = self.heap.kind(new).clone()
                    {
                        self.heap.get_mut(*r).kind = Kind::List(items);
                    }
                    return Ok(a.clone());
                }
                (HlOp::Or | HlOp::And | HlOp::Sub | HlOp::Xor, Kind::Set(p)) => {
                    if let Value::Ref(o) = b
                        && let Kind::Set(q) | Kind::FrozenSet(q) = self.heap.kind(*o)
                    {
                        let (p, q) = (p.clone(), q.clone());
                        let table = self.set_op(plain, &p, &q)?;
                        self.heap.get_mut(*r).kind = Kind::Set(table);
                        return Ok(a.clone());
                    }
                }
                _ => {}
            }
        }
        self.binary(plain, a, b)
    }

    fn unary(&mut self, op: HlOp, v: &Value) -> R {
        let name = match op {
            HlOp::Pos => "__pos__",
            HlOp::Neg => "__neg__",
            HlOp::Abs => "__abs__",
            _ => "__invert__",
        };
        if let Some(r) = self.call_special(v, name, &[])? {
            return Ok(r);
        }
        let u = self.unboxed(v);
        match self.unary_number(op, &u) {
            Some(r) => Ok(r),
            None => {
                let t = self.heap.type_name(v).to_owned();
                let sign = match op {
                    HlOp::Pos => "unary +",
                    HlOp::Neg => "unary -",
                    HlOp::Abs => "abs()",
                    _ => "unary ~",
                };
                self.type_error(format!("bad operand type for {sign}: '{t}'"))
            }
        }
    }

    /// An operation of the flow model on concrete values.
    pub(crate) fn operation(&mut self, op: HlOp, args: &[Value]) -> R {
        match (op, args) {
            (HlOp::Is, [a, b]) => Ok(Value::Bool(self.identical(a, b))),
            (HlOp::Lt | HlOp::Le | HlOp::Eq | HlOp::Ne | HlOp::Gt | HlOp::Ge, [a, b]) => {
                if let (Value::Str(x), Value::Str(y)) = (a, b) {
                    self.work_bytes(x.len().min(y.len()))?;
                }
                self.compare(op, a, b)
            }
            (HlOp::Contains, [c, x]) => Ok(Value::Bool(self.contains(c, x)?)),
            (HlOp::GetItem, [a, k]) => self.getitem(a, k),
            (HlOp::SetItem, [a, k, v]) => {
                self.setitem(a, k, v.clone())?;
                Ok(Value::None)
            }
            (HlOp::DelItem, [a, k]) => {
                self.delitem(a, k)?;
                Ok(Value::None)
            }
            (HlOp::GetSlice, [a, start, stop]) => self.getslice(a, start, stop),
            (HlOp::SetSlice, [a, start, stop, v]) => {
                self.setslice(a, start, stop, Some(v))?;
                self.check_size(a)?;
                Ok(Value::None)
            }
            (HlOp::DelSlice, [a, start, stop]) => {
                self.setslice(a, start, stop, None)?;
                Ok(Value::None)
            }
            (HlOp::Pos | HlOp::Neg | HlOp::Abs | HlOp::Invert, [a]) => self.unary(op, a),
            (HlOp::Bool, [a]) => Ok(Value::Bool(self.truth(a)?)),
            (HlOp::Iter, [a]) => self.iter(a),
            (HlOp::Len, [a]) => Ok(Value::from(self.len(a)?)),
            (HlOp::Repr, [a]) => Ok(Value::bytes(&self.repr(a)?)),
            (HlOp::Str, [a]) => self.str_of(a),
            (HlOp::Type, [a]) => Ok(Value::Ref(self.heap.type_of(a))),
            (HlOp::NewTuple, items) => Ok(Value::Tuple(items.into())),
            (HlOp::NewList, items) => Ok(self.heap.list(items.to_vec())),
            (HlOp::NewDict, items) => {
                let d = self.heap.dict(Default::default());
                for pair in items.chunks_exact(2) {
                    self.dict_set(d, pair[0].clone(), pair[1].clone())?;
                }
                Ok(Value::Ref(d))
            }
            (HlOp::NewSlice, [a, b, c]) => Ok(Value::Ref(self.heap.alloc(
                ty::SLICE,
                Kind::Slice(Box::new([a.clone(), b.clone(), c.clone()])),
            ))),
            (_, [a, b]) if op.not_inplace() != op => self.inplace(op, a, b),
            (_, [a, b]) => self.binary(op, a, b),
            _ => self.type_error(format!("operation {op} with {} operands", args.len())),
        }
    }
}

/// A running body as the object space of the engine.
pub(crate) struct Running<'a, 'db> {
    /// The interpreter that runs it.
    pub(crate) it: &'a mut Interp<'db>,
    /// The body.
    pub(crate) body: &'a Body,
}

impl ObjectSpace for Running<'_, '_> {
    type Value = Value;
    type Stop = Fatal;

    #[inline(always)]
    fn code_constant(&self, i: u32) -> &Value {
        &self.body.consts[i as usize]
    }

    #[inline(always)]
    fn push_copy(stack: &mut Vec<Value>, v: &Value) {
        words::push_copy(stack, v);
    }

    fn push_global(&mut self, frame: &mut Frame<Value>, name: Named<'_>) -> R<()> {
        if let Value::Ref(globals) = frame.globals {
            let key = self.body.names[name.index as usize].name();
            let found = match self.it.heap.names(globals, key).get_name(key) {
                None => self.it.heap.names(self.it.builtins, key).get_name(key),
                found => found,
            };
            if let Some(v) = found {
                words::push_copy(&mut frame.stack, v);
                return Ok(());
            }
        }
        let v = self.load_global(frame, name)?;
        frame.stack.push(v);
        Ok(())
    }

    fn attr_of_top(&mut self, frame: &mut Frame<Value>, name: Named<'_>) -> R<()> {
        let (key, hint) = self.body.name(name.index);
        let Some(top) = frame.stack.last_mut() else {
            unreachable!("an operand");
        };
        if !self.it.simple_attr(top, key, hint) {
            let v = self.it.getattr(top, name.text)?;
            words::put(top, v);
        }
        Ok(())
    }

    #[inline(always)]
    fn push_next(&mut self, frame: &mut Frame<Value>) -> R<Next<Option<Value>>> {
        let Some(Value::Ref(r)) = frame.stack.last() else {
            return Ok(self.next(frame.top(0))?.without_item(&mut frame.stack));
        };
        if let Some(more) = self.it.quick_next(*r, &mut frame.stack)? {
            return Ok(match more {
                true => Next::Item(None),
                false => Next::Exhausted,
            });
        }
        Ok(self.next(frame.top(0))?.without_item(&mut frame.stack))
    }

    fn call_top(
        &mut self,
        code: &Code,
        frame: &mut Frame<Value>,
        desc: &CallDesc,
        n: usize,
    ) -> R<()> {
        let plain = desc.keywords.is_empty() && !desc.star && !desc.dstar;
        let at = frame.stack.len() - n - 1;
        if plain && self.call_quick(code, frame, at)? || self.call_star(code, frame, desc, at)? {
            return Ok(());
        }
        let v = self.call(code, frame, frame.top(n), desc, frame.top_n(n))?;
        frame.replace::<Self>(n + 1, v);
        Ok(())
    }

    fn unpack_top(&mut self, frame: &mut Frame<Value>, n: u32) -> R<()> {
        if let Some(Value::Tuple(t)) = frame.stack.last()
            && t.len() == n as usize
        {
            let t = t.clone();
            for v in t.iter() {
                self.it.check_item(v)?;
            }
            Self::discard(&mut frame.stack, 1);
            for v in t.iter().rev() {
                words::push_copy(&mut frame.stack, v);
            }
            return Ok(());
        }
        let items = self.unpack(frame.top(0), n)?;
        Self::discard(&mut frame.stack, 1);
        frame.stack.extend(items.into_iter().rev());
        Ok(())
    }

    #[inline(always)]
    fn pop_into(stack: &mut Vec<Value>, local: &mut Option<Value>) {
        match (stack.last(), &mut *local) {
            (Some(Value::Int(i)), Some(Value::Int(old))) => {
                *old = *i;
                std::mem::forget(stack.pop());
            }
            (Some(Value::Ref(r)), Some(Value::Ref(old))) => {
                *old = *r;
                std::mem::forget(stack.pop());
            }
            _ => *local = stack.pop(),
        }
    }

    fn set_item(&mut self, obj: &Value, key: &Value, v: &Value) -> R<()> {
        if self.it.quick_setitem(obj, key, v) {
            return Ok(());
        }
        self.it.with_buffers(|it| it.setitem(obj, key, v.clone()))
    }

    fn push_cell(&mut self, cell: &Value, name: &str, stack: &mut Vec<Value>) -> R<()> {
        if let Value::Ref(r) = cell
            && let Kind::Cell(Some(v)) = self.it.heap.kind(*r)
        {
            words::push_copy(stack, v);
            return Ok(());
        }
        let v = self.load_cell(cell, name)?;
        stack.push(v);
        Ok(())
    }

    #[inline(always)]
    fn discard(stack: &mut Vec<Value>, n: usize) {
        for _ in 0..n {
            words::discard(stack);
        }
    }

    #[inline(always)]
    fn put(place: &mut Value, v: Value) {
        words::put(place, v);
    }

    #[inline(always)]
    fn op_in_place(op: HlOp, a: &mut Value, b: &Value) -> bool {
        super::quick::in_place(op, a, b)
    }

    fn op(&mut self, op: HlOp, args: &[Value]) -> R {
        if let [a, b] = args
            && let Some(result) = self.it.quick(op, a, b)
        {
            self.it.check_size(&result)?;
            return Ok(result);
        }
        let result = self.it.with_buffers(|it| it.operation(op, args))?;
        self.it.check_size(&result)?;
        Ok(result)
    }

    #[inline(always)]
    fn truth(&mut self, v: &Value) -> R<Truth> {
        Ok(Truth::Known(match v {
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::None => false,
            _ => Interp::truth(self.it, v)?,
        }))
    }

    fn suppresses(&mut self, v: &Value) -> R<bool> {
        Interp::truth(self.it, v)
    }

    fn bool(&mut self, b: bool) -> Value {
        Value::Bool(b)
    }

    fn next(&mut self, it: &Value) -> R<Next<Value>> {
        Ok(match self.it.next_item(it)? {
            Some(v) => {
                self.it.check_size(&v)?;
                Next::Item(v)
            }
            None => Next::Exhausted,
        })
    }

    fn unpack(&mut self, v: &Value, n: u32) -> R<Vec<Value>> {
        let items = match v {
            Value::Tuple(t) => t.to_vec(),
            _ => self.it.list_of(v)?,
        };
        if items.len() < n as usize {
            let s = if items.len() == 1 { "" } else { "s" };
            return self
                .it
                .value_error(format!("need more than {} value{s} to unpack", items.len()));
        }
        if items.len() > n as usize {
            return self.it.value_error("too many values to unpack");
        }
        for v in &items {
            self.it.check_size(v)?;
        }
        Ok(items)
    }

    fn build_set(&mut self, items: &[Value]) -> R {
        let table = self.it.make_table(items)?;
        Ok(self.it.new_set(table, false))
    }

    fn list_append(&mut self, list: &Value, v: Value) -> R<()> {
        if let Value::Ref(r) = list
            && let Kind::List(l) = &mut self.it.heap.get_mut(*r).kind
        {
            l.push(v);
            let n = l.len();
            self.it.check_items(n)?;
            self.it.heap.fresh += super::meter::ENTRY;
        }
        Ok(())
    }

    fn set_add(&mut self, set: &Value, v: Value) -> R<()> {
        match set {
            Value::Ref(r) => self.it.dict_set(*r, v, Value::None),
            _ => Ok(()),
        }
    }

    fn dict_add(&mut self, dict: &Value, key: Value, v: Value) -> R<()> {
        match dict {
            Value::Ref(r) => self.it.dict_set(*r, key, v),
            _ => Ok(()),
        }
    }

    fn load_attr(&mut self, obj: &Value, name: Named<'_>) -> R {
        self.it.getattr(obj, name.text)
    }

    fn store_attr(&mut self, obj: &Value, name: Named<'_>, v: Value) -> R<()> {
        let key = &self.body.names[name.index as usize];
        if self.it.simple_setattr(obj, key, &v) {
            return Ok(());
        }
        self.it.setattr(obj, name.text, v)
    }

    fn delete_attr(&mut self, obj: &Value, name: &str) -> R<()> {
        self.it.delattr(obj, name)
    }

    fn unbound_local(&mut self, name: &str) -> Unwind<Value, Fatal> {
        let message = format!("local variable '{name}' referenced before assignment");
        match self.it.raise::<()>(ty::UNBOUND_LOCAL_ERROR, message) {
            Err(e) => e,
            Ok(()) => Unwind::Stop(Fatal::StepLimit),
        }
    }

    fn load_global(&mut self, frame: &Frame<Value>, name: Named<'_>) -> R {
        let Value::Ref(globals) = frame.globals else {
            return self.it.type_error("globals must be a dict");
        };
        let key = self.body.names[name.index as usize].name();
        self.it.global(globals, key, name.text, "global name ")
    }

    fn store_global(&mut self, frame: &Frame<Value>, name: Named<'_>, v: Value) -> R<()> {
        if let Value::Ref(globals) = frame.globals {
            let key = &self.body.names[name.index as usize];
            self.it
                .heap
                .names_mut(globals, key.name())
                .set_known(key, v);
        }
        Ok(())
    }

    fn delete_global(&mut self, frame: &Frame<Value>, name: &str) -> R<()> {
        if let Value::Ref(globals) = frame.globals
            && self
                .it
                .heap
                .the_dict_mut(globals)
                .remove_str(name)
                .is_some()
        {
            return Ok(());
        }
        self.it.raise(
            ty::NAME_ERROR,
            format!("global name '{name}' is not defined"),
        )
    }

    fn load_name(&mut self, frame: &Frame<Value>, name: Named<'_>) -> R {
        let key = self.body.names[name.index as usize].name();
        if let Some(Value::Ref(names)) = frame.names {
            match self.it.heap.names_opt(names, key) {
                Some(d) => {
                    if let Some(v) = d.get_name(key) {
                        return Ok(v.clone());
                    }
                }
                None => {
                    let got = self.it.getitem(&Value::Ref(names), &Value::str(name.text));
                    if let Some(v) = self.it.catch(got, ty::KEY_ERROR)? {
                        return Ok(v);
                    }
                }
            }
        }
        let Value::Ref(globals) = frame.globals else {
            return self.it.type_error("globals must be a dict");
        };
        self.it.global(globals, key, name.text, "name ")
    }

    fn store_name(&mut self, frame: &Frame<Value>, name: Named<'_>, v: Value) -> R<()> {
        if let Some(Value::Ref(names)) = frame.names {
            let key = &self.body.names[name.index as usize];
            if self.it.heap.names_opt(names, key.name()).is_some() {
                self.it.heap.names_mut(names, key.name()).set_known(key, v);
                return Ok(());
            }
            return self
                .it
                .setitem(&Value::Ref(names), &Value::str(name.text), v);
        }
        self.store_global(frame, name, v)
    }

    fn delete_name(&mut self, frame: &Frame<Value>, name: &str) -> R<()> {
        if let Some(Value::Ref(names)) = frame.names
            && self.it.heap.dict_of(names).is_some()
        {
            if self.it.heap.the_dict_mut(names).remove_str(name).is_some() {
                return Ok(());
            }
            return self
                .it
                .raise(ty::NAME_ERROR, format!("name '{name}' is not defined"));
        }
        self.delete_global(frame, name)
    }

    fn new_cell(&mut self, contents: Option<Value>) -> Value {
        Value::Ref(self.it.heap.alloc(ty::CELL, Kind::Cell(contents)))
    }

    fn load_cell(&mut self, cell: &Value, name: &str) -> R {
        if let Value::Ref(r) = cell
            && let Kind::Cell(Some(v)) = self.it.heap.kind(*r)
        {
            return Ok(v.clone());
        }
        self.it.raise(
            ty::NAME_ERROR,
            format!("free variable '{name}' referenced before assignment in enclosing scope"),
        )
    }

    fn store_cell(&mut self, cell: &Value, v: Value) -> R<()> {
        if let Value::Ref(r) = cell {
            self.it.heap.get_mut(*r).kind = Kind::Cell(Some(v));
        }
        Ok(())
    }

    fn call(
        &mut self,
        code: &Code,
        frame: &Frame<Value>,
        callee: &Value,
        desc: &CallDesc,
        args: &[Value],
    ) -> R {
        if let Value::Ref(r) = callee
            && let Kind::Builtin(b) = self.it.heap.kind(*r)
            && b.wants_frame
        {
            let b = *b;
            return super::builtins::frames::call(self.it, b, code, frame, args);
        }
        if desc.keywords.is_empty() && !desc.star && !desc.dstar {
            return self.it.call(callee, args);
        }
        self.it.call_desc(callee, desc, args)
    }

    fn make_function(
        &mut self,
        frame: &Frame<Value>,
        body: CodeId,
        defaults: &[Value],
        closure: &[Value],
    ) -> R {
        let Value::Ref(globals) = frame.globals else {
            return self.it.type_error("globals must be a dict");
        };
        let qualname = body.qualname(self.it.db);
        let name = qualname.rsplit('.').next().unwrap_or(qualname).into();
        let f = Function {
            code: body,
            name,
            globals,
            defaults: defaults.to_vec(),
            closure: closure.to_vec(),
            class: None,
        };
        Ok(Value::Ref(
            self.it
                .heap
                .alloc(ty::FUNCTION, Kind::Function(Box::new(f))),
        ))
    }

    fn build_class(
        &mut self,
        frame: &Frame<Value>,
        name: &Value,
        bases: &Value,
        body: &Value,
    ) -> R {
        let Value::Ref(globals) = frame.globals else {
            return self.it.type_error("globals must be a dict");
        };
        self.it.build_class_object(globals, name, bases, body)
    }

    fn raise(&mut self, operands: &[Value]) -> Unwind<Value, Fatal> {
        let raised = self.it.raise_operands(operands);
        let has_traceback = operands.get(2).is_some_and(|tb| !tb.is_none());
        self.it.raises_again = operands.is_empty() || has_traceback;
        match raised {
            Ok((t, v)) => Unwind::raised(t, v),
            Err(e) => e,
        }
    }

    fn exc_match(&mut self, etype: &Value, class: &Value) -> R {
        Ok(Value::Bool(self.it.matches(etype, class)))
    }

    fn import(&mut self, frame: &Frame<Value>, desc: &ImportDesc) -> R {
        let Value::Ref(globals) = frame.globals else {
            return self.it.type_error("globals must be a dict");
        };
        self.it.import_statement(globals, desc)
    }

    fn import_from(&mut self, module: &Value, name: &str) -> R {
        self.it.import_name_from(module, name)
    }

    fn import_star(&mut self, frame: &Frame<Value>, module: &Value) -> R<()> {
        let target = match (&frame.names, &frame.globals) {
            (Some(Value::Ref(n)), _) | (None, Value::Ref(n)) => *n,
            _ => return Ok(()),
        };
        self.it.import_all(target, module)
    }

    fn print_item(&mut self, file: Option<&Value>, v: &Value) -> R<()> {
        self.it.print(file, v)
    }

    fn print_newline(&mut self, file: Option<&Value>) -> R<()> {
        self.it.print_end(file)
    }

    fn exec(
        &mut self,
        code: &Code,
        frame: &mut Frame<Value>,
        source: &Value,
        globals: &Value,
        locals: &Value,
    ) -> R<()> {
        super::builtins::frames::exec(self.it, code, frame, source, globals, locals)
    }
}

impl Running<'_, '_> {
    /// Calls a function or builtin function at a place of the stack with the values above it, and replaces all of them
    /// by the result. False for other callees; nothing is changed then.
    fn call_quick(&mut self, code: &Code, frame: &mut Frame<Value>, at: usize) -> R<bool> {
        let (func, slf) = match &frame.stack[at] {
            Value::Ref(r) => (*r, None),
            Value::Bound(m) => (m.func, Some(Value::Ref(m.slf))),
            Value::Method(m) => match (&m.func, &m.slf) {
                (Value::Ref(f), Some(slf)) => (*f, Some(slf.clone())),
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        let n = frame.stack.len() - at - 1;
        match self.it.heap.kind(func) {
            Kind::Function(_) => {
                let mut result = Value::None;
                let args = Args::new(&frame.stack[at + 1..]);
                self.it
                    .call_function(func, slf.as_ref(), args, &mut result)?;
                Self::discard(&mut frame.stack, n);
                words::put(&mut frame.stack[at], result);
            }
            Kind::Builtin(b) if !b.wants_frame => {
                let b = *b;
                let from = match slf {
                    // The object takes the place of its method.
                    Some(slf) => {
                        words::put(&mut frame.stack[at], slf);
                        at
                    }
                    None => at + 1,
                };
                let args = Args::new(&frame.stack[from..]);
                let next = code.instrs.get(frame.pc as usize + 1);
                let result = match (b.name, next) {
                    (RANGE, Some(Instr::GetIter)) => iterated_range(self.it, args)?,
                    _ => self.it.call_builtin(b, args)?,
                };
                Self::discard(&mut frame.stack, n);
                words::put(&mut frame.stack[at], result);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The same with the items of a tuple on top of the stack as the last arguments (`f(a, *args)`).
    fn call_star(
        &mut self,
        code: &Code,
        frame: &mut Frame<Value>,
        desc: &CallDesc,
        at: usize,
    ) -> R<bool> {
        if !desc.star || desc.dstar || !desc.keywords.is_empty() {
            return Ok(false);
        }
        let is_function = match &frame.stack[at] {
            Value::Ref(r) => matches!(self.it.heap.kind(*r), Kind::Function(_)),
            Value::Bound(m) => matches!(self.it.heap.kind(m.func), Kind::Function(_)),
            _ => false,
        };
        let Some(Value::Tuple(items)) = frame.stack.last() else {
            return Ok(false);
        };
        if !is_function || items.len() > MOST_SPREAD {
            return Ok(false);
        }
        let items = items.clone();
        Self::discard(&mut frame.stack, 1);
        for v in items.iter() {
            words::push_copy(&mut frame.stack, v);
        }
        self.call_quick(code, frame, at)
    }
}

impl Interp<'_> {
    /// A global, else a builtin.
    fn global(&mut self, globals: Ref, key: Name<'_>, name: &str, what: &str) -> R {
        if let Some(v) = self.heap.names(globals, key).get_name(key) {
            return Ok(v.clone());
        }
        if let Some(v) = self.heap.names(self.builtins, key).get_name(key) {
            return Ok(v.clone());
        }
        match self.absent_global(globals, name) {
            Some(v) => Ok(v),
            None => {
                let message = format!("{what}'{name}' is not defined");
                let lacks = Lacks::Global(globals, name.into());
                self.raise_lacking(ty::NAME_ERROR, message, lacks)
            }
        }
    }
}
