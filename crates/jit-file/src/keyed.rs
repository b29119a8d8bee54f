//! Tables in the file that are looked up by key. Only the entries that are found are read.
//!
//! ```text
//! number of entries │ hash and end of each entry, in the order of the hashes │ entries: key, value
//! ```
//!
//! Hashes are those of the process that wrote the file. The types of keys hash by content, so they are the same in
//! the process that reads it.

use std::hash::{BuildHasher as _, Hash};
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use serde::de::DeserializeOwned;
use taipan_lltype::SharedNames;

use crate::container::Pieces;

/// Size of the number of entries.
const COUNT: usize = 4;
/// Size of the word that entries are sorted by.
const WORD: usize = 8;
/// Size of a word and its number.
const ENTRY: usize = WORD + 4;

/// The error of a damaged table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Damaged;

/// The table of these entries, and the position of each entry in it. None if a key or value cannot be serialized.
pub(crate) fn keyed<K: Hash + Serialize, V: Serialize>(
    names: &SharedNames,
    entries: &[(K, V)],
) -> Option<(Vec<u8>, Vec<u32>)> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    let hashes: Vec<u64> = entries.iter().map(|(key, _)| hash(key)).collect();
    order.sort_by_key(|i| hashes[*i]);
    let mut positions = vec![0; entries.len()];
    let mut ends = Vec::new();
    let mut records = Vec::new();
    for (position, i) in (0..).zip(order) {
        positions[i] = position;
        records.extend(names.to_bytes(&entries[i])?);
        ends.push((hashes[i], records.len() as u32));
    }
    let mut bytes = sorted(&ends);
    bytes.extend(records);
    Some((bytes, positions))
}

/// The serialized form of sorted words with a number each, for [`Sorted`].
pub(crate) fn sorted(entries: &[(u64, u32)]) -> Vec<u8> {
    let mut bytes = (entries.len() as u32).to_le_bytes().to_vec();
    for (word, number) in entries {
        bytes.extend_from_slice(&word.to_le_bytes());
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Sorted words with a number each.
pub(crate) struct Sorted {
    bytes: Pieces,
    count: usize,
}

impl Sorted {
    /// Reads a section.
    pub(crate) fn new(bytes: Pieces) -> Result<Sorted, Damaged> {
        let count = number(&bytes, 0)?;
        Ok(Sorted { bytes, count })
    }

    /// The position of a word, or of the first of several.
    pub(crate) fn position(&self, word: u64) -> Result<Option<usize>, Damaged> {
        let (mut at, mut end) = (0, self.count);
        while at < end {
            let middle = at + (end - at) / 2;
            match self.word(middle)? < word {
                true => at = middle + 1,
                false => end = middle,
            }
        }
        Ok((at < self.count && self.word(at)? == word).then_some(at))
    }

    /// The number at a position.
    pub(crate) fn number(&self, position: usize) -> Result<usize, Damaged> {
        number(&self.bytes, COUNT + position * ENTRY + WORD)
    }

    fn word(&self, position: usize) -> Result<u64, Damaged> {
        let start = COUNT + position * ENTRY;
        let bytes = part(&self.bytes, start..start + WORD)?;
        Ok(u64::from_le_bytes(*bytes.first_chunk().ok_or(Damaged)?))
    }
}

/// A table that is looked up by key.
pub(crate) struct Keyed(Sorted);

impl Keyed {
    /// Opens the table of a section.
    pub(crate) fn new(bytes: Pieces) -> Result<Keyed, Damaged> {
        Sorted::new(bytes).map(Keyed)
    }

    /// The value of a key. None if the table has no such key.
    pub(crate) fn find<K, V>(&self, names: &SharedNames, key: &K) -> Result<Option<V>, Damaged>
    where
        K: Hash + Eq + DeserializeOwned,
        V: DeserializeOwned,
    {
        let hash = hash(key);
        let Some(mut at) = self.0.position(hash)? else {
            return Ok(None);
        };
        while at < self.0.count && self.0.word(at)? == hash {
            let (found, value) = self.entry::<K, V>(names, at)?;
            if found == *key {
                return Ok(Some(value));
            }
            at += 1;
        }
        Ok(None)
    }

    /// The entry at a position.
    pub(crate) fn entry<K, V>(
        &self,
        names: &SharedNames,
        position: usize,
    ) -> Result<(K, V), Damaged>
    where
        K: DeserializeOwned,
        V: DeserializeOwned,
    {
        let first = COUNT + self.0.count * ENTRY;
        let start = match position.checked_sub(1) {
            Some(before) => self.0.number(before)?,
            None => 0,
        };
        let end = self.0.number(position)?;
        let record = part(&self.0.bytes, first + start..first + end)?;
        names.from_bytes(record).ok_or(Damaged)
    }

    /// All entries.
    pub(crate) fn all<K, V>(&self, names: &SharedNames) -> Result<Vec<(K, V)>, Damaged>
    where
        K: DeserializeOwned,
        V: DeserializeOwned,
    {
        let positions = 0..self.0.count;
        positions.map(|at| self.entry(names, at)).collect()
    }
}

fn part(bytes: &Pieces, range: Range<usize>) -> Result<&'static [u8], Damaged> {
    bytes.get(range).ok_or(Damaged)
}

fn number(bytes: &Pieces, start: usize) -> Result<usize, Damaged> {
    let bytes = part(bytes, start..start + 4)?;
    let number = u32::from_le_bytes(*bytes.first_chunk().ok_or(Damaged)?);
    Ok(number as usize)
}

fn hash<K: Hash>(key: &K) -> u64 {
    FxBuildHasher.hash_one(key)
}

#[cfg(test)]
mod tests {
    use taipan_lltype::SharedNames;

    use super::{Damaged, Keyed, Sorted, keyed, sorted};
    use crate::container::Pieces;

    #[test]
    fn each_key_has_its_value() {
        let entries: Vec<(String, u32)> = (0..100).map(|i| (format!("key {i}"), i * 7)).collect();
        let (names, _) = SharedNames::of(&entries).expect("no names");
        let (bytes, positions) = keyed(&names, &entries).expect("bytes");
        let table = Keyed::new(Pieces::of(bytes)).expect("a table");
        for ((key, value), position) in entries.iter().zip(positions) {
            assert_eq!(table.find(&names, key), Ok(Some(*value)));
            let entry = table.entry(&names, position as usize);
            assert_eq!(entry, Ok((key.clone(), *value)));
        }
        let missing = table.find::<String, u32>(&names, &"key 100".into());
        assert_eq!(missing, Ok(None));
        let mut all: Vec<(String, u32)> = table.all(&names).expect("entries");
        all.sort_by_key(|(_, value)| *value);
        assert_eq!(all, entries);
    }

    #[test]
    fn an_empty_table_has_no_key() {
        let (names, _) = SharedNames::of(&()).expect("no names");
        let (bytes, _) = keyed::<u32, u32>(&names, &[]).expect("bytes");
        assert_eq!(
            Keyed::new(Pieces::of(bytes[1..].to_vec())).err(),
            Some(Damaged)
        );
        let table = Keyed::new(Pieces::of(bytes)).expect("a table");
        assert_eq!(table.find::<u32, u32>(&names, &1), Ok(None));
    }

    #[test]
    fn words_have_positions() {
        let bytes = sorted(&[(10, 2), (20, 0), (20, 5), (30, 1)]);
        let words = Sorted::new(Pieces::of(bytes)).expect("words");
        let found = [5, 10, 15, 20, 30, 31].map(|word| words.position(word));
        let expected = [None, Some(0), None, Some(1), Some(3), None];
        assert_eq!(found, expected.map(Ok));
        assert_eq!(words.number(3), Ok(1));
    }
}
