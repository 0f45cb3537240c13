//! What may be said about a file before it is read.

use learnt_core::dates::{self, Order};
use learnt_core::error::{Code, Error, Result, plain};
use std::path::Path;

/// Formats that can be read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a delimiter between fields.
    Csv,
    /// The same with tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, as a file or a stream.
    Arrow,
    /// Weka's attribute-relation format.
    Arff,
    /// `label index:value ...`.
    Libsvm,
    /// One JSON object a line.
    Ndjson,
}

impl Format {
    /// Every format, in the order of its names.
    pub const ALL: &[Format] = &[
        Format::Csv,
        Format::Tsv,
        Format::Parquet,
        Format::Arrow,
        Format::Arff,
        Format::Libsvm,
        Format::Ndjson,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::Arff => "arff",
            Format::Libsvm => "libsvm",
            Format::Ndjson => "ndjson",
        }
    }

    /// The format with this name.
    pub fn parse(name: &str) -> Result<Format> {
        let known = Format::ALL.iter().copied();
        known
            .clone()
            .find(|format| format.name() == name)
            .ok_or_else(|| Error::unknown("file format", name, known.map(Format::name)))
    }

    /// The format that the end of a file name says, compression left aside.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" | "txt" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "feather" | "ipc" | "arrows" => Some(Format::Arrow),
            "arff" => Some(Format::Arff),
            "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
            "ndjson" | "jsonl" => Some(Format::Ndjson),
            _ => None,
        }
    }

    /// The error of a build without this format.
    #[cfg(not(feature = "columnar"))]
    pub(crate) fn left_out(self) -> Error {
        left_out(self.name())
    }
}

/// The error of a build without what only `columnar` ones have.
#[cfg(not(feature = "columnar"))]
pub(crate) fn left_out(name: &str) -> Error {
    let hint = "build it with `--features columnar`, or convert the file to CSV elsewhere";
    Error::unsupported(format!("this build leaves out {name} files")).hint(hint)
}

/// Whether the first line of a CSV file names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Found out from the types of the columns; an error where that leaves doubt.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not: the columns are x0, x1, ...
    No,
}

/// What happens to a row with more or fewer fields than the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ragged {
    /// An error with its line.
    #[default]
    Error,
    /// It is left out and counted.
    Skip,
}

/// How text is written in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte-order mark.
    #[default]
    Utf8,
    /// ISO 8859-1: every byte is the character of that number.
    Latin1,
    /// UTF-16, in the order that its byte-order mark or its line ends say.
    Utf16,
}

impl Encoding {
    /// The encoding with this name.
    pub fn parse(name: &str) -> Result<Encoding> {
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "utf-8" | "utf8" => Ok(Encoding::Utf8),
            "latin-1" | "latin1" | "iso-8859-1" => Ok(Encoding::Latin1),
            "utf-16" | "utf16" => Ok(Encoding::Utf16),
            _ => Err(Error::unknown("encoding", name, ["utf-8", "latin-1", "utf-16"])),
        }
    }
}

/// What a column is to be, whatever its values look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeRule {
    /// A quantity; anything else in it is an error.
    Numeric,
    /// Categories, in sorted order.
    Categorical,
    /// Categories in this order; another value is an error.
    Ordered(Vec<String>),
    /// Categories without regard to capitals and spaces: `Paris`, `paris ` and `PARIS` are one level.
    Tidy,
    /// Dates that may be written in several ways, day or month first where the year is not; levels are
    /// `2024-07-01`.
    Dates(Order),
    /// A quantity with a unit in front or behind it: `$1000`, `12 kg`, `30%`.
    Measure,
    /// Left out.
    Skip,
}

impl TypeRule {
    /// From `num`, `cat`, `tidy`, `dmy`, `mdy`, `unit`, `skip` or `ord(S<M<L)`.
    pub fn parse(text: &str) -> Result<TypeRule> {
        let ordered = text.strip_prefix("ord(").and_then(|rest| rest.strip_suffix(')'));
        match (text, ordered) {
            ("num", _) => Ok(TypeRule::Numeric),
            ("cat", _) => Ok(TypeRule::Categorical),
            ("tidy", _) => Ok(TypeRule::Tidy),
            ("dmy", _) => Ok(TypeRule::Dates(Order::DayFirst)),
            ("mdy", _) => Ok(TypeRule::Dates(Order::MonthFirst)),
            ("unit", _) => Ok(TypeRule::Measure),
            ("skip", _) => Ok(TypeRule::Skip),
            (_, Some(inner)) => ordered_levels(text, inner).map(TypeRule::Ordered),
            _ => {
                let message = format!("no column type '{}'", plain(text));
                Err(Error::new(Code::Unknown, message)
                    .hint("types: num, cat, tidy, dmy, mdy, unit, skip, ord(S<M<L)"))
            }
        }
    }

    /// Whether values are texts, whatever they look like.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self, TypeRule::Numeric | TypeRule::Measure | TypeRule::Skip)
    }

    /// Whether texts are written anew before they are levels.
    pub(crate) fn rewrites(&self) -> bool {
        matches!(self, TypeRule::Tidy | TypeRule::Dates(_))
    }

    /// A text as this type writes it; none if it cannot be one, and nothing if it is missing.
    pub(crate) fn rewritten(&self, text: &str) -> Option<String> {
        match self {
            TypeRule::Tidy => {
                let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
                Some(words.join(" "))
            }
            TypeRule::Dates(_) if MISSING_TOKENS.contains(&text.trim()) => Some(String::new()),
            TypeRule::Dates(_) if text.trim().is_empty() => Some(String::new()),
            TypeRule::Dates(order) => dates::year_first(text, Order::YearFirst)
                .or_else(|| dates::year_first(text, *order)),
            _ => Some(text.to_string()),
        }
    }
}

impl std::fmt::Display for TypeRule {
    /// As [`TypeRule::parse`] reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TypeRule::Numeric => f.write_str("num"),
            TypeRule::Categorical => f.write_str("cat"),
            TypeRule::Tidy => f.write_str("tidy"),
            TypeRule::Dates(Order::MonthFirst) => f.write_str("mdy"),
            TypeRule::Dates(Order::DayFirst | Order::YearFirst) => f.write_str("dmy"),
            TypeRule::Measure => f.write_str("unit"),
            TypeRule::Skip => f.write_str("skip"),
            TypeRule::Ordered(levels) => write!(f, "ord({})", levels.join("<")),
        }
    }
}

fn ordered_levels(text: &str, inner: &str) -> Result<Vec<String>> {
    let levels: Vec<String> = inner.split('<').map(|level| level.trim().to_string()).collect();
    let mut sorted = levels.clone();
    sorted.sort();
    let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if levels.len() < 2 || twice || levels.iter().any(String::is_empty) {
        let message = format!("'{}' needs two or more different levels", plain(text));
        return Err(Error::new(Code::Usage, message).hint("write for example ord(S<M<L)"));
    }
    Ok(levels)
}

/// Tokens that are missing values in numeric columns; in text columns they stay text.
pub const MISSING_TOKENS: &[&str] =
    &["NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none", "?"];

/// What may be said about a file before it is read. The default finds everything out.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format; found from the name and the first bytes otherwise.
    pub format: Option<Format>,
    /// The delimiter of CSV; found from the first rows otherwise.
    pub delimiter: Option<u8>,
    /// Lines above the table: titles of a report.
    pub skip_lines: usize,
    /// Whether the first line names the columns.
    pub header: Header,
    /// Tokens that are missing values in every column, beside [`MISSING_TOKENS`] in numeric ones.
    pub na: Vec<String>,
    /// Types of columns by name.
    pub types: Vec<(String, TypeRule)>,
    /// How text is written in bytes.
    pub encoding: Encoding,
    /// What happens to rows with too many or too few fields.
    pub ragged: Ragged,
    /// Whether empty and repeated column names are numbered instead of refused.
    pub dedupe_names: bool,
    /// Whether `1,5` is one and a half.
    pub decimal_comma: bool,
    /// The character between groups of three digits, if there is one: `,`, `.`, `'`, `_` or a space.
    pub thousands: Option<u8>,
    /// The most bytes that are read, after decompression.
    pub max_input: u64,
    /// The most bytes that one byte of the file may become.
    pub max_ratio: u64,
    /// The most columns.
    pub max_features: usize,
    /// The columns to keep, in the order of the file; all otherwise.
    pub columns: Option<Vec<String>>,
    /// Whether warnings about lost digits are errors.
    pub strict: bool,
    /// Whether the SHA-256 of the file is computed.
    pub digest: bool,
    /// Whether a table without rows is accepted.
    pub allow_empty: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            delimiter: None,
            skip_lines: 0,
            header: Header::Auto,
            na: Vec::new(),
            types: Vec::new(),
            encoding: Encoding::Utf8,
            ragged: Ragged::Error,
            dedupe_names: false,
            decimal_comma: false,
            thousands: None,
            max_input: 64 << 30,
            max_ratio: 1000,
            max_features: 10_000_000,
            columns: None,
            strict: false,
            digest: false,
            allow_empty: false,
        }
    }
}

impl ReadOptions {
    /// The type asked for a column.
    pub fn rule(&self, name: &str) -> Option<&TypeRule> {
        self.types.iter().rev().find(|(column, _)| column == name).map(|(_, rule)| rule)
    }

    /// Whether a column is left out.
    pub fn skips(&self, name: &str) -> bool {
        let unlisted = |columns: &Vec<String>| !columns.iter().any(|column| column == name);
        self.columns.as_ref().is_some_and(unlisted) || self.rule(name) == Some(&TypeRule::Skip)
    }

    /// Refuses options that name columns which are not there, and too many columns.
    pub(crate) fn check_names(&self, names: &[String]) -> Result<()> {
        if names.len() > self.max_features {
            let message =
                format!("{} columns, and the limit is {}", names.len(), self.max_features);
            return Err(Error::new(Code::Memory, message).hint("raise --max-features"));
        }
        let asked = self.types.iter().map(|(name, _)| name);
        for name in asked.chain(self.columns.iter().flatten()) {
            if !names.contains(name) {
                return Err(Error::unknown("column", name, names.iter().map(String::as_str)));
            }
        }
        Ok(())
    }

    /// Refuses bytes that have become more than the limits allow.
    pub(crate) fn check_size(&self, packed: u64, unpacked: u64) -> Result<()> {
        const SMALL: u64 = 16 << 20;
        let message = if unpacked > self.max_input {
            format!("more than {} MB of input", self.max_input >> 20)
        } else if unpacked > SMALL && unpacked / self.max_ratio.max(1) > packed {
            format!("{packed} bytes became more than {} times as many", self.max_ratio)
        } else {
            return Ok(());
        };
        Err(Error::new(Code::Memory, message)
            .hint("raise --max-input if the file is to be trusted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_types_are_read_from_text() {
        assert_eq!(TypeRule::parse("num").unwrap(), TypeRule::Numeric);
        let levels = ["S", "M", "L"].map(String::from).to_vec();
        assert_eq!(TypeRule::parse("ord(S<M<L)").unwrap(), TypeRule::Ordered(levels));
        for word in ["tidy", "dmy", "mdy", "unit", "skip", "cat"] {
            assert_eq!(TypeRule::parse(word).unwrap().to_string(), word);
        }
        for bad in ["ord(S)", "ord(S<S)", "number", "ord(S<"] {
            assert!(TypeRule::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn formats_are_known_by_the_end_of_the_name() {
        let of = |name: &str| Format::of_path(Path::new(name));
        assert_eq!(of("a/b.CSV.gz"), Some(Format::Csv));
        assert_eq!(of("x.tsv.zst"), Some(Format::Tsv));
        assert_eq!(of("x.feather"), Some(Format::Arrow));
        assert_eq!(of("x.data"), None);
    }
}
