//! Integers of constants.

use std::fmt::{self, Debug, Display};

use serde::{Deserialize, Serialize};

/// An integer of up to 128 bits that is aligned like a word: constants are by far the
/// most frequent contents of graphs, and the alignment of an `i128` would make each of
/// them, whatever it holds, a third larger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wide {
    high: i64,
    low: u64,
}

impl Wide {
    /// The number.
    pub fn get(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }
}

impl From<i128> for Wide {
    fn from(v: i128) -> Wide {
        Wide {
            high: (v >> 64) as i64,
            low: v as u64,
        }
    }
}

impl Debug for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.get(), f)
    }
}

impl Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.get(), f)
    }
}

#[test]
fn wide_integers_keep_their_value() {
    for v in [
        0,
        1,
        -1,
        i128::MAX,
        i128::MIN,
        1 << 64,
        -(1 << 64),
        (1 << 64) - 1,
    ] {
        assert_eq!(Wide::from(v).get(), v);
    }
}
