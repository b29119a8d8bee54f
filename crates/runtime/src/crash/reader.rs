//! Numbers and texts as DWARF writes them.

use super::own::{number, text};

/// Bytes that are read one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<u64> {
        let n = number::<N>(self.bytes, self.at)?;
        self.at += N;
        Some(n)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|n| n as u8)
    }

    /// An offset, or a length: of four bytes, or of eight.
    pub(super) fn word(&mut self, wide: bool) -> Option<u64> {
        match wide {
            true => self.take::<8>(),
            false => self.take::<4>(),
        }
    }

    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let (mut n, mut shift) = (0, 0);
        loop {
            let b = self.byte()?;
            if shift < 64 {
                n |= u64::from(b & 0x7f) << shift;
            }
            shift += 7;
            if b & 0x80 == 0 {
                return Some(n);
            }
        }
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        let (mut n, mut shift) = (0i64, 0);
        loop {
            let b = self.byte()?;
            if shift < 64 {
                n |= i64::from(b & 0x7f) << shift;
            }
            shift += 7;
            if b & 0x80 == 0 {
                if shift < 64 && b & 0x40 != 0 {
                    n |= -1 << shift;
                }
                return Some(n);
            }
        }
    }

    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let t = text(self.bytes, self.at)?;
        self.at += t.len() + 1;
        Some(t)
    }

    pub(super) fn skip(&mut self, n: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(n).ok()?)?;
        (self.at <= self.bytes.len()).then_some(())
    }
}
