//! Different texts, each with a number: the levels of a column while it is read.

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

    /// The texts in sorted order.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.iter().map(|(text, _)| text.to_string()).collect();
        texts.sort_unstable();
        texts
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

/// Eight bytes at a time, each folded in by a wide multiplication.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let wide = u128::from(a) * u128::from(b);
        (wide as u64) ^ (wide >> 64) as u64
    };
    let mut state = FACTOR ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = fold(state ^ u64::from_le_bytes(word), FACTOR | 1).rotate_left(23);
    }
    fold(state ^ 0xd6e8_feb8_6659_fd93, FACTOR)
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

    #[test]
    fn merging_translates_numbers() {
        let (mut a, mut b) = (Levels::default(), Levels::default());
        a.add("x");
        b.add("y");
        b.add("x");
        assert_eq!(a.merge(&b), [1, 0]);
        assert_eq!((a.count(0), a.sorted()), (2, vec!["x".to_string(), "y".to_string()]));
    }
}
