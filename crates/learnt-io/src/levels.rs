//! Different texts, each with a number: the levels of a column while it is read.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

const EMPTY: u32 = u32::MAX;

/// The different texts met so far, numbered in order of arrival, with how often each was met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    texts: String,
    ends: Vec<usize>,
    counts: Vec<u64>,
    hashes: Vec<u64>,
    slots: Vec<u32>,
}

impl Levels {
    /// Number of different texts.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text with this number.
    pub(crate) fn text(&self, code: usize) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.texts[start..self.ends[code]]
    }

    /// How often the text with this number was met.
    pub(crate) fn count(&self, code: usize) -> u64 {
        self.counts[code]
    }

    /// Texts with their counts, in order of arrival.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        (0..self.len()).map(|code| (self.text(code), self.counts[code]))
    }

    /// The number of a text, a new one if it is new.
    pub(crate) fn add(&mut self, text: &str) -> u32 {
        self.add_times(text, 1)
    }

    /// The same for a text met several times.
    pub(crate) fn add_times(&mut self, text: &str, times: u64) -> u32 {
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let hash = hash(text.as_bytes());
        let slot = self.slot(text, hash);
        if self.slots[slot] == EMPTY {
            self.slots[slot] = self.len() as u32;
            self.texts.push_str(text);
            self.ends.push(self.texts.len());
            self.counts.push(0);
            self.hashes.push(hash);
        }
        let code = self.slots[slot];
        self.counts[code as usize] += times;
        code
    }

    /// The number of a text, if it was met.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let code = self.slots[self.slot(text, hash(text.as_bytes()))];
        (code != EMPTY).then_some(code)
    }

    /// Adds all texts of another; gives the numbers that its numbers become.
    pub(crate) fn merge(&mut self, other: &Levels) -> Vec<u32> {
        other.iter().map(|(text, count)| self.add_times(text, count)).collect()
    }

    /// The texts in sorted order, and for each in order of arrival its place among them.
    pub(crate) fn sorted(&self) -> (Vec<String>, Vec<f64>) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by_key(|&code| self.text(code as usize));
        let mut places = vec![0.0; self.len()];
        order.iter().zip(0_u32..).for_each(|(&code, k)| places[code as usize] = f64::from(k));
        (order.iter().map(|&code| self.text(code as usize).to_string()).collect(), places)
    }

    /// About how many bytes they take.
    pub(crate) fn bytes(&self) -> u64 {
        let each = size_of::<(usize, u64, u64)>() + 3 * size_of::<u32>() + size_of::<String>();
        (self.texts.len() + each * self.len()) as u64
    }

    /// Where a text is, or where it would be.
    fn slot(&self, text: &str, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let code = self.slots[slot];
            let found = code == EMPTY
                || (self.hashes[code as usize] == hash && self.text(code as usize) == text);
            if found {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(16);
        self.slots = vec![EMPTY; size];
        for (code, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & (size - 1);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = code as u32;
        }
    }
}

/// Eight bytes at a time, each folded in by a wide multiplication with a secret of this process: whoever writes
/// a file cannot choose texts that all go to one slot. Numbers of texts do not depend on it.
fn hash(bytes: &[u8]) -> u64 {
    static SECRET: OnceLock<(u64, u64)> = OnceLock::new();
    let (start, factor) = *SECRET.get_or_init(|| {
        let draw = || RandomState::new().build_hasher().finish();
        (draw(), draw() | 1)
    });
    mixed(bytes, start, factor)
}

fn mixed(bytes: &[u8], start: u64, factor: u64) -> u64 {
    let fold = |a: u64, b: u64| {
        let wide = u128::from(a) * u128::from(b);
        (wide as u64) ^ (wide >> 64) as u64
    };
    let mut state = start ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = fold(state ^ u64::from_le_bytes(word), factor).rotate_left(23);
    }
    fold(state ^ 0xd6e8_feb8_6659_fd93, factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers_while_the_index_grows() {
        let mut levels = Levels::default();
        for round in 0..3 {
            for i in 0..5000_u32 {
                assert_eq!(levels.add(&format!("level {i}")), i, "round {round}");
            }
        }
        assert_eq!(levels.len(), 5000);
        assert_eq!(levels.count(17), 3);
        assert_eq!(levels.find("level 4999"), Some(4999));
        assert_eq!(levels.find("level 5000"), None);
    }

    /// Texts of two words of eight letters, of which the second undoes what the first did to the state of a
    /// hash whose secret is known.
    fn colliding(count: usize, start: u64, factor: u64) -> Vec<String> {
        let state = |word: u64| {
            let wide = u128::from(start ^ 16 ^ word) * u128::from(factor);
            ((wide as u64) ^ (wide >> 64) as u64).rotate_left(23)
        };
        let letters = |mut i: u64| {
            let mut word = [b'a'; 8];
            word.iter_mut().for_each(|letter| {
                *letter = b'a' + (i % 26) as u8;
                i /= 26;
            });
            word
        };
        let mut found = Vec::new();
        for i in 0_u64.. {
            let first = letters(i);
            let second = (state(u64::from_le_bytes(first)) ^ 0x0123_4567_0123_4567).to_le_bytes();
            if second.iter().all(u8::is_ascii) {
                found.push(String::from_utf8([first, second].concat()).unwrap());
            }
            if found.len() == count {
                break;
            }
        }
        found
    }

    #[test]
    fn a_file_cannot_choose_texts_that_share_a_slot() {
        const KNOWN: u64 = 0x9e37_79b9_7f4a_7c15;
        let texts = colliding(2000, KNOWN, KNOWN);
        let first = mixed(texts[0].as_bytes(), KNOWN, KNOWN);
        assert!(texts.iter().all(|text| mixed(text.as_bytes(), KNOWN, KNOWN) == first));
        let mut levels = Levels::default();
        texts.iter().for_each(|text| {
            levels.add(text);
        });
        let mask = levels.slots.len() - 1;
        let away = |(slot, &code): (usize, &u32)| match code {
            EMPTY => 0,
            code => slot.wrapping_sub(levels.hashes[code as usize] as usize) & mask,
        };
        let longest = levels.slots.iter().enumerate().map(away).max();
        assert!(longest < Some(100), "{longest:?} slots from its own");
    }

    #[test]
    fn merging_translates_numbers() {
        let (mut a, mut b) = (Levels::default(), Levels::default());
        a.add("x");
        b.add("y");
        b.add("x");
        assert_eq!(a.merge(&b), [1, 0]);
        assert_eq!((a.count(0), a.sorted().0), (2, vec!["x".to_string(), "y".to_string()]));
        assert_eq!(b.sorted().1, [1.0, 0.0]);
    }
}
