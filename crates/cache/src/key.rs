//! What entries are found by.

use std::fmt;
use std::hash::{Hash, Hasher};

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

    /// Adds all of a value. A derived `Hash` leaves no field out, so that a new one is part of the key.
    pub fn value(&mut self, value: &impl Hash) -> &mut Self {
        value.hash(&mut Whole(&mut self.0));
        self
    }

    /// The key of all parts.
    pub fn finish(&self) -> Key {
        Key::from_hash(self.0.finalize())
    }
}

/// The bytes that a value hashes, as part of a key.
struct Whole<'a>(&'a mut blake3::Hasher);

impl Hasher for Whole<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        hash.as_bytes()
            .iter()
            .take(8)
            .fold(0, |n, b| n << 8 | u64::from(*b))
    }
}
