//! Slice arithmetic.

use super::value::Value;
use super::{Interp, R};

/// Indexes that a slice selects.
pub(crate) struct Indices {
    /// The first.
    pub(crate) start: i64,
    /// How many.
    pub(crate) count: usize,
    /// From one to the next.
    pub(crate) step: i64,
}

impl Indices {
    /// The indexes themselves.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let (start, step) = (self.start, self.step);
        (0..self.count as i64).map(move |i| (start + i * step) as usize)
    }
}

impl Interp<'_> {
    /// Bounds of `[start:stop]` on a sequence of `len` items.
    pub(crate) fn bounds(&mut self, start: &Value, stop: &Value, len: usize) -> R<(usize, usize)> {
        let len = len as i64;
        let clamp = |it: &mut Self, v: &Value, default: i64| -> R<i64> {
            if v.is_none() {
                return Ok(default);
            }
            let i = it.slice_index(v)?;
            Ok(if i < 0 { (i + len).max(0) } else { i.min(len) })
        };
        let a = clamp(self, start, 0)?;
        let b = clamp(self, stop, len)?;
        Ok((a as usize, b.max(a) as usize))
    }

    fn slice_index(&mut self, v: &Value) -> R<i64> {
        if let Value::Int(i) = v {
            return Ok((*i).clamp(i64::MIN / 2, i64::MAX / 2));
        }
        match self.big_int(v) {
            Some(b) => Ok(num_traits::ToPrimitive::to_i64(&b).unwrap_or(
                if super::number::is_negative(&b) {
                    i64::MIN / 2
                } else {
                    i64::MAX / 2
                },
            )),
            None => match self.call_special(v, "__index__", &[])? {
                Some(i) => self.index_of(&i),
                None => self.type_error(
                    "slice indices must be integers or None or have an __index__ method",
                ),
            },
        }
    }

    /// Indexes of a slice object on a sequence of `len` items.
    pub(crate) fn indices(&mut self, parts: &[Value; 3], len: usize) -> R<Indices> {
        let step = match &parts[2] {
            Value::None => 1,
            v => self.slice_index(v)?.clamp(-(1 << 62), 1 << 62),
        };
        if step == 0 {
            return self.value_error("slice step cannot be zero");
        }
        let len = len as i64;
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let clamp = |it: &mut Self, v: &Value, default: i64| -> R<i64> {
            if v.is_none() {
                return Ok(default);
            }
            let i = it.slice_index(v)?;
            let i = if i < 0 { i + len } else { i };
            Ok(i.clamp(low, high))
        };
        let (d0, d1) = if step > 0 { (low, high) } else { (high, low) };
        let start = clamp(self, &parts[0], d0)?;
        let stop = clamp(self, &parts[1], d1)?;
        let count = if step > 0 {
            (stop - start + step - 1).div_euclid(step)
        } else {
            (start - stop - step - 1).div_euclid(-step)
        };
        Ok(Indices {
            start,
            count: count.max(0) as usize,
            step,
        })
    }
}
