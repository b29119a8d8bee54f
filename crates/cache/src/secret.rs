//! What entries are authenticated by: who does not know it can neither make an entry nor say which
//! question a stored one answers.

use std::ffi::CStr;
use std::sync::OnceLock;

use taipan_platform::user_secret;

use crate::{Key, build_id};

/// The environment variable with a key for caches that several machines share. It has to be as hard
/// to guess as a password that is never typed: 32 random bytes in hexadecimal, for example.
const VARIABLE: &CStr = c"TAIPAN_CACHE_KEY";

/// Domain separation between kinds of messages.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// A key of an entry, as it stands in a pack.
    Key,
    /// A value.
    Value,
    /// The table of a pack.
    Table,
}

/// 128 bits of a keyed hash.
pub(crate) type Tag = [u8; 16];

/// The key that entries of a cache are authenticated by. The bytes are in a static, not on the heap,
/// which is saved to files (`taipan_heap`).
#[derive(Clone, Copy)]
pub struct CacheSecret(&'static [u8; 32]);

impl CacheSecret {
    /// The one of this process: by the variable TAIPAN_CACHE_KEY, else by the user's secret; another one
    /// for each build of Taipan. None where there is neither.
    pub fn of_process() -> Option<CacheSecret> {
        static SECRET: OnceLock<Option<[u8; 32]>> = OnceLock::new();
        let derive = || {
            let mut h = blake3::Hasher::new_derive_key("Taipan 2026 entries of the cache");
            match given_key() {
                Some(given) => h.update(b"given").update(given),
                None => h.update(b"user").update(user_secret().ok()?),
            };
            let mut build = blake3::Hasher::new_keyed(h.finalize().as_bytes());
            build.update(build_id().as_bytes());
            Some(*build.finalize().as_bytes())
        };
        SECRET.get_or_init(derive).as_ref().map(CacheSecret)
    }

    /// These bytes, for tests.
    pub const fn fixed(bytes: &'static [u8; 32]) -> CacheSecret {
        CacheSecret(bytes)
    }

    /// The tag of a message in parts of which all but the last have a length that goes with the purpose.
    pub(crate) fn tag(self, purpose: Purpose, parts: &[&[u8]]) -> Tag {
        let mut h = blake3::Hasher::new_keyed(self.0);
        h.update(&[purpose as u8]);
        for part in parts {
            h.update(part);
        }
        let mut tag = Tag::default();
        tag.copy_from_slice(&h.finalize().as_bytes()[..size_of::<Tag>()]);
        tag
    }

    /// The key of an entry of some kind, as packs have it.
    pub(crate) fn stored_key(self, kind: &str, key: Key) -> Key {
        Key(self.tag(Purpose::Key, &[&key.0, kind.as_bytes()]))
    }
}

/// The value of the variable, where it stands: [`std::env::var_os`] would copy it to the heap.
fn given_key() -> Option<&'static [u8]> {
    // SAFETY: the name has an end. Nobody changes the environment while a cache is opened.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the value of a variable is a string with an end, and stays where it is.
    let value = unsafe { CStr::from_ptr(value) }.to_bytes();
    (!value.is_empty()).then_some(value)
}
