//! What a reader found, to be printed before anything is fitted.

use crate::options::Format;
use learnt_core::data::Table;
use std::fmt;

/// A table with the account of how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The table.
    pub table: Table,
    /// How it was read.
    pub report: ReadReport,
}

/// How a table was read: what was inferred, what was left out, what may surprise.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadReport {
    /// The format.
    pub format: Format,
    /// How the bytes were packed.
    pub packing: Packing,
    /// The delimiter, for CSV.
    pub delimiter: Option<u8>,
    /// Whether the first line named the columns, for CSV.
    pub header: Option<FoundHeader>,
    /// Rows in the table.
    pub rows: u64,
    /// Rows left out because of their number of fields.
    pub skipped: u64,
    /// Lines without anything on them that were skipped.
    pub blank: u64,
    /// Lines without anything on them that are rows of a table of one column.
    pub empty: u64,
    /// The columns of the table, in order.
    pub columns: Vec<ColumnReport>,
    /// Names of columns left out on request.
    pub left_out: Vec<String>,
    /// SHA-256 of the file's bytes, if it was asked for.
    pub digest: Option<String>,
    /// Sentences that the user should read.
    pub notes: Vec<String>,
}

/// How the bytes of a file were packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    #[default]
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// Whether the first line named the columns, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundHeader {
    /// Names, as stated.
    Stated,
    /// Names, found out.
    Found,
    /// No names, as stated.
    StatedNone,
    /// No names, found out.
    FoundNone,
}

impl FoundHeader {
    /// Whether the first line named the columns.
    pub fn present(self) -> bool {
        matches!(self, FoundHeader::Stated | FoundHeader::Found)
    }
}

/// What was found in one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnReport {
    /// The name.
    pub name: String,
    /// `num`, `cat` or `ord`.
    pub kind: &'static str,
    /// Missing values.
    pub missing: u64,
    /// Different values, for categories.
    pub distinct: Option<u64>,
    /// Integers and decimals with more digits than `f64` holds.
    pub rounded: u64,
    /// How often each word of [`MISSING_TOKENS`](crate::MISSING_TOKENS) stayed text.
    pub kept: Vec<(String, u64)>,
}

impl ReadReport {
    /// An empty account.
    pub(crate) fn new(format: Format) -> Self {
        ReadReport {
            format,
            packing: Packing::Plain,
            delimiter: None,
            header: None,
            rows: 0,
            skipped: 0,
            blank: 0,
            empty: 0,
            columns: Vec::new(),
            left_out: Vec::new(),
            digest: None,
            notes: Vec::new(),
        }
    }

    /// Missing values in all columns.
    pub fn missing(&self) -> u64 {
        self.columns.iter().map(|column| column.missing).sum()
    }

    /// Adds the sentences that follow from the columns.
    pub(crate) fn note_columns(&mut self) {
        use learnt_core::error::plain;
        let mut notes = Vec::new();
        for column in &self.columns {
            let name = plain(&column.name);
            for (token, count) in &column.kept {
                let token = plain(token);
                notes.push(format!(
                    "{name}: {count} x '{token}' kept as text; --na {token} to change"
                ));
            }
            if column.rounded > 0 {
                notes.push(format!(
                    "{name}: {} numbers beyond 2^53, 1.8e308 or 5e-324 lost digits; --type {name}=cat keeps text as it is",
                    column.rounded
                ));
            }
        }
        if self.skipped > 0 {
            notes.push(format!("{} rows with a wrong number of fields were skipped", self.skipped));
        }
        if self.blank > 0 {
            notes.push(format!("{} empty lines were skipped", self.blank));
        }
        if self.empty > 0 {
            notes.push(format!("{} empty lines are rows with a missing value", self.empty));
        }
        self.notes.append(&mut notes);
    }
}

impl fmt::Display for ReadReport {
    /// `569 rows x 31 columns  csv ',' header`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows x {} columns  {}", self.rows, self.columns.len(), self.format.name())?;
        match self.delimiter {
            Some(b'\t') if self.format == Format::Tsv => {}
            Some(b'\t') => write!(f, " tab")?,
            Some(delimiter) => write!(f, " '{}'", char::from(delimiter))?,
            None => {}
        }
        match self.packing {
            Packing::Plain => {}
            Packing::Gzip => write!(f, " gzip")?,
            Packing::Zstd => write!(f, " zstd")?,
        }
        match self.header {
            Some(header) if header.present() => write!(f, " header")?,
            Some(_) => write!(f, " no header")?,
            None => {}
        }
        match &self.digest {
            Some(digest) => write!(f, "  sha256 {}…", digest.get(..12).unwrap_or(digest)),
            None => Ok(()),
        }
    }
}
