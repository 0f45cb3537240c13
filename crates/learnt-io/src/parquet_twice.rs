//! What a Parquet file says twice must agree, since checksums cover the values of pages and nothing else: types of
//! columns in the schema and at their parts, numbers of rows, and, where pages have checksums, ways of coding in the
//! heads of pages and at the parts of columns.

use crate::arrow::damaged;
use crate::input::Bytes;
use crate::parquet_depth::{Cursor, THRIFT_DEPTH};
use learnt_core::error::Result;

const WHAT: &str = "Parquet";

/// What a footer says, as far as it is said elsewhere too.
#[derive(Debug, Default)]
struct Facts {
    rows: i64,
    /// The types of columns, in the order of the schema.
    leaves: Vec<i64>,
    groups: Vec<Group>,
}

#[derive(Debug, Default)]
struct Group {
    rows: i64,
    parts: Vec<Part>,
}

/// The part of a column in a row group.
#[derive(Debug, Default)]
struct Part {
    kind: Option<i64>,
    codings: Vec<i64>,
    packed: i64,
    data: i64,
    dictionary: Option<i64>,
}

/// The head of a page.
#[derive(Debug, Default)]
struct Head {
    packed: i64,
    checked: bool,
    coding: Option<i64>,
    length: usize,
}

/// Refuses a file that contradicts itself.
pub(crate) fn refuse_contradictions(bytes: &Bytes, footer: &[u8]) -> Result<()> {
    // What is not understood here is for the library of the format to refuse.
    let Some(facts) = Facts::read(footer) else { return Ok(()) };
    let rows = facts.groups.iter().try_fold(0_i64, |sum, group| sum.checked_add(group.rows));
    if rows != Some(facts.rows) {
        return Err(damaged(
            WHAT,
            "its row groups hold other numbers of rows than its footer says",
        ));
    }
    for group in &facts.groups {
        let kinds = group.parts.iter().zip(&facts.leaves);
        if kinds.into_iter().any(|(part, leaf)| part.kind.is_some_and(|kind| kind != *leaf)) {
            return Err(damaged(
                WHAT,
                "a column has another type in the schema than at its values",
            ));
        }
    }
    for part in facts.groups.iter().flat_map(|group| &group.parts) {
        if !part.has_checksums(bytes)? {
            break;
        }
    }
    Ok(())
}

impl Part {
    /// Whether the pages have checksums; refuses one with a coding that the part does not name.
    fn has_checksums(&self, bytes: &Bytes) -> Result<bool> {
        let first = self.dictionary.filter(|&at| at > 0).unwrap_or(self.data).min(self.data);
        let (Ok(mut at), Ok(packed)) = (u64::try_from(first), u64::try_from(self.packed)) else {
            return Ok(false);
        };
        let end = at.saturating_add(packed).min(bytes.len());
        while at < end {
            let Some(head) = Head::read(bytes, at, end)? else { return Ok(false) };
            if !head.checked {
                return Ok(false);
            }
            if head.coding.is_some_and(|coding| !self.names(coding)) {
                return Err(damaged(
                    WHAT,
                    "a page is coded in a way that its column does not name",
                ));
            }
            let Ok(packed) = u64::try_from(head.packed) else { return Ok(false) };
            at = at.saturating_add(head.length as u64).saturating_add(packed);
        }
        Ok(true)
    }

    /// Codes of a dictionary have two names.
    fn names(&self, coding: i64) -> bool {
        let plain = |coding: i64| if coding == 2 { 8 } else { coding };
        self.codings.iter().any(|&known| plain(known) == plain(coding))
    }
}

impl Head {
    /// The head at a place, if it is understood.
    fn read(bytes: &Bytes, at: u64, end: u64) -> Result<Option<Head>> {
        const SHORT: u64 = 256;
        const LONG: u64 = 1 << 20;
        let mut buffer = Vec::new();
        for size in [SHORT, LONG] {
            let piece = bytes.read(at, end.min(at.saturating_add(size)), &mut buffer)?;
            if let Some(head) = Head::parse(piece) {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    fn parse(piece: &[u8]) -> Option<Head> {
        let mut head = Head::default();
        let mut cursor = Cursor { bytes: piece };
        cursor.fields(|cursor, field, kind| {
            match (field, kind) {
                (3, 5) => head.packed = cursor.signed()?,
                (4, 5) => head.checked = cursor.signed().is_some(),
                // A page of data, of the first and of the second version.
                (5, 12) => head.coding = cursor.number_of(2)?,
                (8, 12) => head.coding = cursor.number_of(4)?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        head.length = piece.len() - cursor.bytes.len();
        Some(head)
    }
}

impl Facts {
    fn read(footer: &[u8]) -> Option<Facts> {
        let mut facts = Facts::default();
        let mut cursor = Cursor { bytes: footer };
        cursor.fields(|cursor, field, kind| {
            match (field, kind) {
                (2, 9) => cursor.each(|cursor| {
                    facts.leaves.extend(cursor.number_of(1)?);
                    Some(())
                })?,
                (3, 6) => facts.rows = cursor.signed()?,
                (4, 9) => cursor.each(|cursor| {
                    facts.groups.push(Group::read(cursor)?);
                    Some(())
                })?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(facts)
    }
}

impl Group {
    fn read(cursor: &mut Cursor) -> Option<Group> {
        let mut group = Group::default();
        cursor.fields(|cursor, field, kind| {
            match (field, kind) {
                (1, 9) => cursor.each(|cursor| {
                    group.parts.push(Part::read(cursor)?);
                    Some(())
                })?,
                (3, 6) => group.rows = cursor.signed()?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(group)
    }
}

impl Part {
    fn read(cursor: &mut Cursor) -> Option<Part> {
        let mut part = Part::default();
        cursor.fields(|cursor, field, kind| {
            let inside = (field, kind) == (3, 12);
            if inside {
                part.read_facts(cursor)?;
            }
            Some(inside)
        })?;
        Some(part)
    }

    fn read_facts(&mut self, cursor: &mut Cursor) -> Option<()> {
        cursor.fields(|cursor, field, kind| {
            match (field, kind) {
                (1, 5) => self.kind = Some(cursor.signed()?),
                (2, 9) => {
                    let (count, _) = cursor.list()?;
                    for _ in 0..count {
                        self.codings.push(cursor.signed()?);
                    }
                }
                (7, 6) => self.packed = cursor.signed()?,
                (9, 6) => self.data = cursor.signed()?,
                (11, 6) => self.dictionary = Some(cursor.signed()?),
                _ => return Some(false),
            }
            Some(true)
        })
    }
}

impl Cursor<'_> {
    /// Goes over the fields of a structure; those that `see` does not read are skipped.
    fn fields(&mut self, mut see: impl FnMut(&mut Self, i64, u8) -> Option<bool>) -> Option<()> {
        let mut field = 0;
        loop {
            match self.field(&mut field)? {
                0 => return Some(()),
                kind => {
                    if !see(self, field, kind)? {
                        self.skip(kind, THRIFT_DEPTH)?;
                    }
                }
            }
        }
    }

    /// Goes over a list of structures.
    fn each(&mut self, mut see: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let (count, kind) = self.list()?;
        if kind != 12 {
            return None;
        }
        (0..count).try_for_each(|_| see(self))
    }

    /// Goes over a structure; gives its whole number with this number of a field, if it has one.
    fn number_of(&mut self, wanted: i64) -> Option<Option<i64>> {
        let mut found = None;
        self.fields(|cursor, field, kind| {
            let here = field == wanted && kind == 5;
            if here {
                found = Some(cursor.signed()?);
            }
            Some(here)
        })?;
        Some(found)
    }
}
