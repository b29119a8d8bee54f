//! Tables keyed by Python equality: what dicts and sets do.

use super::builtin::Args;
use super::dict::Dict;
use super::heap::{Kind, Ref};
use super::journal::Part;
use super::value::Value;
use super::{Interp, R};

impl Interp<'_> {
    /// The slot of a key in a dict, set or frozenset object.
    pub(crate) fn find_in(&mut self, r: Ref, key: &Value, hash: u64) -> R<Option<usize>> {
        let Some(table) = self.table_part(r, hash) else {
            return Ok(None);
        };
        match find_simple(table, key, hash) {
            Some(found) => Ok(found),
            None => {
                let candidates = table.candidates(hash);
                for (slot, k) in candidates {
                    if self.eq_item(&k, key)? {
                        return Ok(Some(slot));
                    }
                }
                Ok(None)
            }
        }
    }

    /// The slot of a key in a free-standing table.
    pub(crate) fn find_key(&mut self, table: &Dict, key: &Value, hash: u64) -> R<Option<usize>> {
        match find_simple(table, key, hash) {
            Some(found) => Ok(found),
            None => {
                for (slot, k) in table.candidates(hash) {
                    if self.eq_item(&k, key)? {
                        return Ok(Some(slot));
                    }
                }
                Ok(None)
            }
        }
    }

    /// The table of a dict, set or frozenset.
    pub(crate) fn table(&self, r: Ref) -> Option<&Dict> {
        match self.heap.kind(r) {
            Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => Some(d),
            _ => None,
        }
    }

    /// The same. The caller uses only the items whose keys have the hash.
    fn table_part(&self, r: Ref, hash: u64) -> Option<&Dict> {
        match &self.heap.get_part(r, || Part::items(hash)).kind {
            Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => Some(d),
            _ => None,
        }
    }

    fn table_mut(&mut self, r: Ref, part: Part) -> &mut Dict {
        match &mut self.heap.get_mut_part(r, || Some(part)).kind {
            Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => d,
            _ => unreachable!("no table"),
        }
    }

    /// `d.get(key)`
    pub(crate) fn dict_get(&mut self, r: Ref, key: &Value) -> R<Option<Value>> {
        let hash = self.hash(key)?;
        let slot = self.find_in(r, key, hash)?;
        Ok(slot.and_then(|s| Some(self.table_part(r, hash)?.at(s).clone())))
    }

    /// `d[key] = value`
    pub(crate) fn dict_set(&mut self, r: Ref, key: Value, value: Value) -> R<()> {
        let hash = self.hash(&key)?;
        match self.find_in(r, &key, hash)? {
            Some(slot) => self.table_mut(r, Part::items(hash)).set_at(slot, value),
            None => {
                let table = self.table_mut(r, Part::items(hash));
                table.push(hash, key, value);
                let n = table.len();
                self.check_items(n)?;
                self.heap.fresh += super::meter::ENTRY;
            }
        }
        Ok(())
    }

    /// Takes an item out of a dict or set.
    pub(crate) fn dict_remove(&mut self, r: Ref, key: &Value) -> R<Option<(Value, Value)>> {
        let hash = self.hash(key)?;
        let slot = self.find_in(r, key, hash)?;
        Ok(slot.map(|slot| self.table_mut(r, Part::WHOLE).remove_at(slot)))
    }

    /// Items of a dict object, copied.
    pub(crate) fn dict_items(&mut self, r: Ref) -> R<Vec<(Value, Value)>> {
        self.copy_items(2 * self.table(r).map_or(0, Dict::len))?;
        let items = self
            .table(r)
            .into_iter()
            .flat_map(Dict::iter)
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        Ok(items)
    }

    /// Items of any mapping.
    pub(crate) fn mapping_items(&mut self, v: &Value) -> R<Vec<(Value, Value)>> {
        if let Value::Ref(r) = v
            && let Kind::Dict(_) = self.heap.kind(*r)
        {
            return self.dict_items(*r);
        }
        let keys = self.call_method(v, "keys", &[])?;
        let mut items = Vec::new();
        for k in self.list_of(&keys)? {
            let value = self.getitem(v, &k)?;
            items.push((k, value));
        }
        Ok(items)
    }

    /// `d.update(...)`
    pub(crate) fn dict_update(&mut self, r: Ref, args: Args<'_>) -> R<()> {
        if let Some(src) = args.get(0) {
            let mapping = match src {
                Value::Ref(s) if matches!(self.heap.kind(*s), Kind::Dict(_)) => true,
                _ => self.getattr_opt(src, "keys")?.is_some(),
            };
            let items = if mapping {
                self.mapping_items(src)?
            } else {
                let mut items = Vec::new();
                for (i, pair) in self.list_of(src)?.iter().enumerate() {
                    let pair = self.list_of(pair)?;
                    let [k, v] = &pair[..] else {
                        return self.value_error(format!(
                            "dictionary update sequence element #{i} has length {}; 2 is required",
                            pair.len()
                        ));
                    };
                    items.push((k.clone(), v.clone()));
                }
                items
            };
            for (k, v) in items {
                self.dict_set(r, k, v)?;
            }
        }
        for (k, v) in args.kw {
            self.dict_set(r, Value::str(k), v.clone())?;
        }
        Ok(())
    }

    /// A table with these keys.
    pub(crate) fn make_table(&mut self, items: &[Value]) -> R<Dict> {
        let mut table = Dict::default();
        for k in items {
            self.gather_bytes(super::meter::ENTRY)?;
            self.table_add(&mut table, k)?;
        }
        Ok(table)
    }

    /// Adds a key to a free-standing table.
    pub(crate) fn table_add(&mut self, table: &mut Dict, k: &Value) -> R<()> {
        self.work(1)?;
        let hash = self.hash(k)?;
        if self.find_key(table, k, hash)?.is_none() {
            table.push(hash, k.clone(), Value::None);
        }
        Ok(())
    }

    /// Whether all keys of `a` are in `b`.
    pub(crate) fn is_subset(&mut self, a: &Dict, b: &Dict) -> R<bool> {
        if a.len() > b.len() {
            return Ok(false);
        }
        for k in a.keys() {
            self.work(1)?;
            let hash = self.hash(k)?;
            if self.find_key(b, k, hash)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Looks a key up where equality needs no Python code: outer None where it does.
pub(crate) fn find_simple(table: &Dict, key: &Value, hash: u64) -> Option<Option<usize>> {
    match key {
        Value::Str(s) => {
            let mut other = false;
            let found = table.find(hash, |k| match k {
                Value::Str(x) => x == s,
                _ => {
                    other = true;
                    false
                }
            });
            if found.is_none() && other {
                None
            } else {
                Some(found)
            }
        }
        Value::Int(i) => {
            let mut other = false;
            let found = table.find(hash, |k| match k {
                Value::Int(x) => x == i,
                Value::Str(_) => false,
                _ => {
                    other = true;
                    false
                }
            });
            if found.is_none() && other {
                None
            } else {
                Some(found)
            }
        }
        _ => {
            let mut other = false;
            let found = table.find(hash, |k| {
                let told = k.plainly_equals(key);
                other |= told.is_none();
                told == Some(true)
            });
            if found.is_none() && other {
                None
            } else {
                Some(found)
            }
        }
    }
}
