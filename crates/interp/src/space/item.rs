//! Subscripts, slices, membership and length.

use num_traits::ToPrimitive;

use super::heap::{Kind, Ref};
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

impl Interp<'_> {
    /// `len(v)`
    pub(crate) fn len(&mut self, v: &Value) -> R<usize> {
        Ok(match v {
            Value::Str(s) => s.len(),
            Value::Unicode(s) => s.len(),
            Value::Tuple(t) => t.len(),
            Value::Ref(r) => {
                if let Some(n) = self.call_special(v, "__len__", &[])? {
                    let n = self.index_of(&n)?;
                    if n < 0 {
                        return self.value_error("__len__() should return >= 0");
                    }
                    return Ok(n as usize);
                }
                match self.heap.kind(*r) {
                    Kind::List(l) => l.len(),
                    Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => d.len(),
                    Kind::XRange(_, n, _) => *n as usize,
                    Kind::LLPtr(p) => {
                        let p = *p;
                        return self.pointer_len(p);
                    }
                    Kind::Boxed(inner) => {
                        let inner = inner.clone();
                        return self.len(&inner);
                    }
                    _ => return self.no_len(v),
                }
            }
            _ => return self.no_len(v),
        })
    }

    fn no_len<T>(&mut self, v: &Value) -> R<T> {
        let t = self.heap.type_name(v).to_owned();
        self.type_error(format!("object of type '{t}' has no len()"))
    }

    /// Position of an index in a sequence of `len` items.
    fn position(&mut self, key: &Value, len: usize, what: &str) -> R<usize> {
        let i = match key {
            Value::Int(i) => *i,
            _ => match self.big_int(key) {
                Some(n) => match n.to_i64() {
                    Some(i) => i,
                    None => {
                        return self.index_error("cannot fit 'long' into an index-sized integer");
                    }
                },
                None => match self.call_special(key, "__index__", &[])? {
                    Some(i) => self.index_of(&i)?,
                    None => {
                        let t = self.heap.type_name(key).to_owned();
                        return self
                            .type_error(format!("{what} indices must be integers, not {t}"));
                    }
                },
            },
        };
        let at = if i < 0 { i + len as i64 } else { i };
        if at < 0 || at >= len as i64 {
            return self.index_error(format!("{what} index out of range"));
        }
        Ok(at as usize)
    }

    fn slice_parts(&self, key: &Value) -> Option<[Value; 3]> {
        match key {
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::Slice(s) => Some((**s).clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// `obj[key]`
    pub(crate) fn getitem(&mut self, obj: &Value, key: &Value) -> R {
        match obj {
            Value::Tuple(t) => {
                if let Some(parts) = self.slice_parts(key) {
                    let ix = self.indices(&parts, t.len())?;
                    return Ok(Value::tuple(ix.iter().map(|i| t[i].clone()).collect()));
                }
                let i = self.position(key, t.len(), "tuple")?;
                Ok(t[i].clone())
            }
            Value::Str(s) => {
                if let Some(parts) = self.slice_parts(key) {
                    let ix = self.indices(&parts, s.len())?;
                    return Ok(Value::Str(ix.iter().map(|i| s[i]).collect()));
                }
                let i = self.position(key, s.len(), "string")?;
                Ok(Value::bytes(&s[i..=i]))
            }
            Value::Unicode(s) => {
                if let Some(parts) = self.slice_parts(key) {
                    let ix = self.indices(&parts, s.len())?;
                    return Ok(Value::Unicode(ix.iter().map(|i| s[i]).collect()));
                }
                let i = self.position(key, s.len(), "string")?;
                Ok(Value::Unicode(s[i..=i].into()))
            }
            Value::Ref(r) => self.getitem_object(obj, *r, key),
            _ => self.no_getitem(obj),
        }
    }

    fn no_getitem<T>(&mut self, obj: &Value) -> R<T> {
        let class = self.heap.type_of(obj);
        if self.heap.the_class(class).old_style {
            let name = self.heap.class_name(class).to_owned();
            return self.raise(
                ty::ATTRIBUTE_ERROR,
                format!("{name} instance has no attribute '__getitem__'"),
            );
        }
        let t = self.heap.type_name(obj).to_owned();
        self.type_error(format!("'{t}' object has no attribute '__getitem__'"))
    }

    fn getitem_object(&mut self, obj: &Value, r: Ref, key: &Value) -> R {
        if let Some(v) = self.call_special(obj, "__getitem__", std::slice::from_ref(key))? {
            return Ok(v);
        }
        match self.heap.shape(r) {
            Kind::List(l) => {
                let len = l.len();
                if let Some(parts) = self.slice_parts(key) {
                    let ix = self.indices(&parts, len)?;
                    let Kind::List(l) = self.heap.kind(r) else {
                        return Ok(Value::None);
                    };
                    let items = ix.iter().filter_map(|i| l.get(i).cloned()).collect();
                    return Ok(self.heap.list(items));
                }
                let i = self.position(key, len, "list")?;
                match self.heap.list_items(r).and_then(|l| l.get(i)) {
                    Some(v) => Ok(v.clone()),
                    None => self.index_error("list index out of range"),
                }
            }
            Kind::Dict(_) => match self.dict_get(r, key)? {
                Some(v) => Ok(v),
                None => match self.call_special(obj, "__missing__", std::slice::from_ref(key))? {
                    Some(v) => Ok(v),
                    None => self.key_error(key),
                },
            },
            Kind::Boxed(inner) => {
                let inner = inner.clone();
                self.getitem(&inner, key)
            }
            Kind::XRange(start, n, step) => {
                let (start, n, step) = (*start, *n, *step);
                let i = self.position(key, n as usize, "xrange object")?;
                Ok(Value::Int(start + i as i64 * step))
            }
            Kind::Exception(e) => {
                let args = e.args.clone();
                self.getitem(&args, key)
            }
            Kind::LLType(_) => super::modules::lltype::getitem(self, r, key),
            Kind::LLPtr(p) => {
                let p = *p;
                self.pointer_item(p, key)
            }
            Kind::Class(_) => {
                let meta = self.heap.get(r).class;
                match self.lookup(meta, "__getitem__").cloned() {
                    Some(f) => self.call(&f, &[obj.clone(), key.clone()]),
                    None => self.no_getitem(obj),
                }
            }
            _ => self.no_getitem(obj),
        }
    }

    /// `obj[key] = v`
    pub(crate) fn setitem(&mut self, obj: &Value, key: &Value, v: Value) -> R<()> {
        if let Value::Ref(r) = obj {
            if self
                .call_special(obj, "__setitem__", &[key.clone(), v.clone()])?
                .is_some()
            {
                return Ok(());
            }
            match self.heap.shape(*r) {
                Kind::List(l) => {
                    let len = l.len();
                    if let Some(parts) = self.slice_parts(key) {
                        return self.set_extended_slice(*r, &parts, Some(&v));
                    }
                    let i = match self.position(key, len, "list") {
                        Ok(i) => i,
                        Err(e) => {
                            return match self.catch::<()>(Err(e), ty::INDEX_ERROR)? {
                                None => self.index_error("list assignment index out of range"),
                                Some(()) => Ok(()),
                            };
                        }
                    };
                    if let Kind::List(l) = &mut self.heap.get_mut(*r).kind
                        && let Some(slot) = l.get_mut(i)
                    {
                        *slot = v;
                    }
                    return Ok(());
                }
                Kind::Dict(_) => return self.dict_set(*r, key.clone(), v),
                Kind::LLPtr(p) => {
                    let p = *p;
                    return self.set_pointer_item(p, key, &v);
                }
                _ => {}
            }
        }
        let t = self.heap.type_name(obj).to_owned();
        self.type_error(format!("'{t}' object does not support item assignment"))
    }

    /// `del obj[key]`
    pub(crate) fn delitem(&mut self, obj: &Value, key: &Value) -> R<()> {
        if let Value::Ref(r) = obj {
            if self
                .call_special(obj, "__delitem__", std::slice::from_ref(key))?
                .is_some()
            {
                return Ok(());
            }
            match self.heap.kind(*r) {
                Kind::List(l) => {
                    let len = l.len();
                    if let Some(parts) = self.slice_parts(key) {
                        return self.set_extended_slice(*r, &parts, None);
                    }
                    let i = self.position(key, len, "list")?;
                    if let Kind::List(l) = &mut self.heap.get_mut(*r).kind
                        && i < l.len()
                    {
                        l.remove(i);
                    }
                    return Ok(());
                }
                Kind::Dict(_) => {
                    return match self.dict_remove(*r, key)? {
                        Some(_) => Ok(()),
                        None => self.key_error(key),
                    };
                }
                _ => {}
            }
        }
        let t = self.heap.type_name(obj).to_owned();
        self.type_error(format!("'{t}' object doesn't support item deletion"))
    }

    fn set_extended_slice(&mut self, r: Ref, parts: &[Value; 3], v: Option<&Value>) -> R<()> {
        let len = self.heap.list_items(r).map_or(0, Vec::len);
        if matches!(parts[2], Value::None | Value::Int(1)) {
            return self.setslice(&Value::Ref(r), &parts[0], &parts[1], v);
        }
        let ix = self.indices(parts, len)?;
        let Some(v) = v else {
            let gone: Vec<usize> = ix.iter().collect();
            if let Kind::List(l) = &mut self.heap.get_mut(r).kind {
                let mut i = 0;
                l.retain(|_| {
                    i += 1;
                    !gone.contains(&(i - 1))
                });
            }
            return Ok(());
        };
        let items = self.list_of(v)?;
        if items.len() != ix.count {
            return self.value_error(format!(
                "attempt to assign sequence of size {} to extended slice of size {}",
                items.len(),
                ix.count
            ));
        }
        if let Kind::List(l) = &mut self.heap.get_mut(r).kind {
            for (i, x) in ix.iter().zip(items) {
                if let Some(slot) = l.get_mut(i) {
                    *slot = x;
                }
            }
        }
        Ok(())
    }

    /// `obj[start:stop]`
    pub(crate) fn getslice(&mut self, obj: &Value, start: &Value, stop: &Value) -> R {
        match obj {
            Value::Str(s) => {
                let (a, b) = self.bounds(start, stop, s.len())?;
                return Ok(Value::bytes(&s[a..b]));
            }
            Value::Unicode(s) => {
                let (a, b) = self.bounds(start, stop, s.len())?;
                return Ok(Value::Unicode(s[a..b].into()));
            }
            Value::Tuple(t) => {
                let (a, b) = self.bounds(start, stop, t.len())?;
                return Ok(Value::tuple(t[a..b].to_vec()));
            }
            Value::Ref(r) => {
                if let Some(m) = self.special(obj, "__getslice__")? {
                    let (a, b) = self.slice_args(obj, start, stop)?;
                    return self.call(&m, &[a, b]);
                }
                if let Kind::List(l) = self.heap.kind(*r) {
                    let len = l.len();
                    let (a, b) = self.bounds(start, stop, len)?;
                    let items = match self.heap.list_items(*r) {
                        Some(l) => l.get(a..b).unwrap_or_default().to_vec(),
                        None => vec![],
                    };
                    return Ok(self.heap.list(items));
                }
                if let Kind::Boxed(inner) = self.heap.kind(*r) {
                    let inner = inner.clone();
                    return self.getslice(&inner, start, stop);
                }
            }
            _ => {}
        }
        let s = Kind::Slice(Box::new([start.clone(), stop.clone(), Value::None]));
        let s = Value::Ref(self.heap.alloc(ty::SLICE, s));
        self.getitem(obj, &s)
    }

    /// What `__getslice__` and its kin are given.
    fn slice_args(&mut self, obj: &Value, start: &Value, stop: &Value) -> R<(Value, Value)> {
        let part = |it: &mut Self, v: &Value, default: i64| -> R {
            match v {
                Value::None => Ok(Value::Int(default)),
                Value::Int(i) if *i < 0 => {
                    let len = it.len(obj)? as i64;
                    Ok(Value::Int(i + len))
                }
                other => Ok(other.clone()),
            }
        };
        Ok((part(self, start, 0)?, part(self, stop, i64::MAX)?))
    }

    /// `obj[start:stop] = v`, or its deletion.
    pub(crate) fn setslice(
        &mut self,
        obj: &Value,
        start: &Value,
        stop: &Value,
        v: Option<&Value>,
    ) -> R<()> {
        if let Value::Ref(r) = obj {
            let hook = match v {
                Some(_) => "__setslice__",
                None => "__delslice__",
            };
            if let Some(m) = self.special(obj, hook)? {
                let (a, b) = self.slice_args(obj, start, stop)?;
                let mut args = vec![a, b];
                args.extend(v.cloned());
                self.call(&m, &args)?;
                return Ok(());
            }
            if matches!(self.heap.kind(*r), Kind::List(_)) {
                let items = match v {
                    Some(v) => self.list_of(v)?,
                    None => vec![],
                };
                let len = self.heap.list_items(*r).map_or(0, Vec::len);
                let (a, b) = self.bounds(start, stop, len)?;
                if let Kind::List(l) = &mut self.heap.get_mut(*r).kind {
                    let len = l.len();
                    l.splice(a.min(len)..b.min(len), items);
                }
                return Ok(());
            }
        }
        let s = Kind::Slice(Box::new([start.clone(), stop.clone(), Value::None]));
        let s = Value::Ref(self.heap.alloc(ty::SLICE, s));
        match v {
            Some(v) => self.setitem(obj, &s, v.clone()),
            None => self.delitem(obj, &s),
        }
    }

    /// `x in c`
    pub(crate) fn contains(&mut self, c: &Value, x: &Value) -> R<bool> {
        match c {
            Value::Str(s) => match self.unboxed(x) {
                Value::Str(n) => return Ok(self.find(s, &n)?.is_some()),
                Value::Unicode(n) => {
                    let hay = self.code_points(c)?;
                    return Ok(self.find(&hay, &n)?.is_some());
                }
                _ => {
                    let t = self.heap.type_name(x).to_owned();
                    return self.type_error(format!(
                        "'in <string>' requires string as left operand, not {t}"
                    ));
                }
            },
            Value::Unicode(s) => {
                let needle = self.code_points(x)?;
                return Ok(self.find(s, &needle)?.is_some());
            }
            Value::Tuple(t) => {
                for y in t.clone().iter() {
                    self.work(1)?;
                    if self.eq_item(y, x)? {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            Value::Ref(r) => {
                if let Some(v) = self.call_special(c, "__contains__", std::slice::from_ref(x))? {
                    return self.truth(&v);
                }
                match self.heap.shape(*r) {
                    Kind::Dict(_) | Kind::Set(_) | Kind::FrozenSet(_) => {
                        let hash = self.hash(x)?;
                        return Ok(self.find_in(*r, x, hash)?.is_some());
                    }
                    Kind::Boxed(inner) => {
                        let inner = inner.clone();
                        return self.contains(&inner, x);
                    }
                    Kind::List(_) if self.heap.get(*r).class == ty::LIST => {
                        return self.list_contains(*r, x);
                    }
                    _ => {}
                }
            }
            _ => {
                let t = self.heap.type_name(c).to_owned();
                return self.type_error(format!("argument of type '{t}' is not iterable"));
            }
        }
        let it = self.iter(c)?;
        while let Some(y) = self.next_item(&it)? {
            if self.eq_item(&y, x)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Comparing items may run Python code, which may change the list.
    fn list_contains(&mut self, list: Ref, x: &Value) -> R<bool> {
        let mut at = 0;
        loop {
            let items = self.heap.list_items(list).map_or(&[][..], |l| &l[..]);
            // What needs no code goes without a copy of the item.
            let told = items[at.min(items.len())..]
                .iter()
                .map(|y| y.plainly_equals(x));
            let left = items.len().saturating_sub(at);
            let told = told.enumerate().find(|(_, t)| *t != Some(false));
            self.work_items(told.map_or(left, |(skipped, _)| skipped))?;
            match told {
                None => return Ok(false),
                Some((_, Some(_))) => return Ok(true),
                Some((skipped, None)) => {
                    self.work(1)?;
                    at += skipped + 1;
                    let items = self.heap.list_items(list);
                    let Some(y) = items.and_then(|l| l.get(at - 1)).cloned() else {
                        return Ok(false);
                    };
                    if self.eq_item(&y, x)? {
                        return Ok(true);
                    }
                }
            }
        }
    }
}
