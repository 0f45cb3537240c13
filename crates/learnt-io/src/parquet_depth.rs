//! How deep the schema in a Parquet footer is nested, found without recursion on its depth, before
//! the Parquet library walks it recursively.
//!
//! The footer is a Thrift structure in compact encoding; its field 2 lists the schema's elements in
//! depth-first order, and field 5 of an element is its number of children.

/// Nesting of Thrift values inside one element that is still followed.
pub(crate) const THRIFT_DEPTH: usize = 16;

/// The depth of the deepest element; `None` if the footer cannot be understood.
pub(crate) fn schema_depth(footer: &[u8]) -> Option<usize> {
    let mut cursor = Cursor { bytes: footer };
    let mut field = 0;
    loop {
        let kind = cursor.field(&mut field)?;
        match (field, kind) {
            (_, 0) => return None,
            (2, 9) => return cursor.elements(),
            _ => cursor.skip(kind, THRIFT_DEPTH)?,
        }
    }
}

/// Bytes of Thrift's compact encoding that are still to be read.
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The type of the next field, whose number goes to `field`; 0 at the end of the structure.
    pub(crate) fn field(&mut self, field: &mut i64) -> Option<u8> {
        let head = self.byte()?;
        if head == 0 {
            return Some(0);
        }
        *field = match head >> 4 {
            0 => self.signed()?,
            delta => field.checked_add(i64::from(delta))?,
        };
        Some(head & 0x0f)
    }

    pub(crate) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((count, head & 0x0f))
    }

    pub(crate) fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => {}
            3 => {
                self.byte()?;
            }
            4..=6 => {
                self.varint()?;
            }
            7 => self.bytes = self.bytes.get(8..)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.bytes = self.bytes.get(length..)?;
            }
            9 | 10 => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    self.skip_element(kind, depth)?;
                }
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0x0f, depth)?;
                }
            }
            12 => {
                let mut field = 0;
                loop {
                    match self.field(&mut field)? {
                        0 => break,
                        kind => self.skip(kind, depth)?,
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Inside lists a boolean takes a byte of its own.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => self.byte().map(|_| ()),
            _ => self.skip(kind, depth),
        }
    }

    fn elements(&mut self) -> Option<usize> {
        let (count, kind) = self.list()?;
        if kind != 12 {
            return None;
        }
        let mut open: Vec<u64> = Vec::new();
        let mut deepest = 0;
        for _ in 0..count {
            let children = self.children()?;
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            open.push(children);
            deepest = deepest.max(open.len());
        }
        Some(deepest)
    }

    /// Reads an element; gives its number of children.
    fn children(&mut self) -> Option<u64> {
        let (mut field, mut children) = (0, 0);
        loop {
            match (self.field(&mut field)?, field) {
                (0, _) => return Some(children),
                (5, 5) => children = u64::try_from(self.signed()?).ok()?,
                (kind, _) => self.skip(kind, THRIFT_DEPTH)?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer whose schema is one chain of this many groups.
    fn chain(length: usize) -> Vec<u8> {
        let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
        let mut count = length;
        while count >= 0x80 {
            footer.push(count as u8 | 0x80);
            count >>= 7;
        }
        footer.push(count as u8);
        for i in 0..length {
            let children = if i + 1 < length { 2 } else { 0 };
            footer.extend([0x48, 0x01, b'g', 0x15, children, 0x00]);
        }
        footer.push(0);
        footer
    }

    #[test]
    fn chains_are_measured_whatever_their_length() {
        for length in [1, 20, 64, 200_000] {
            assert_eq!(schema_depth(&chain(length)), Some(length));
        }
    }

    #[test]
    fn nonsense_has_no_depth() {
        assert_eq!(schema_depth(b""), None);
        assert_eq!(schema_depth(&[0xff; 40]), None);
        assert_eq!(schema_depth(&chain(20)[..30]), None);
    }
}
