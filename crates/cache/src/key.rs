//! What entries are found by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The hash of everything that an entry was made from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(pub(super) [u8; 16]);

impl Key {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Key {
        Key::from_hash(blake3::hash(bytes))
    }

    /// Its bytes, to be hashed or stored in turn.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The key whose bytes these are.
    pub fn from_bytes(bytes: [u8; 16]) -> Key {
        Key(bytes)
    }

    // 128 bits are plenty against chance, and rows of packs stay small.
    fn from_hash(hash: blake3::Hash) -> Key {
        let mut key = [0; 16];
        key.copy_from_slice(&hash.as_bytes()[..16]);
        Key(key)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// Makes a key from several parts. Every part is framed by its length, so that no two
/// sequences of parts run together.
pub struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// A hasher for one purpose: the same parts for another give another key.
    pub fn new(purpose: &str) -> KeyHasher {
        let mut h = KeyHasher(blake3::Hasher::new());
        h.bytes(purpose.as_bytes());
        h
    }

    /// Adds a part.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a text.
    pub fn text(&mut self, part: &str) -> &mut Self {
        self.bytes(part.as_bytes())
    }

    /// Adds a number.
    pub fn number(&mut self, part: u64) -> &mut Self {
        self.0.update(&part.to_le_bytes());
        self
    }

    /// The key of all parts.
    pub fn finish(&self) -> Key {
        Key::from_hash(self.0.finalize())
    }
}
