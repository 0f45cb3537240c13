//! Tables to files. A path holds the old file or the whole new one, never a part. What is written
//! can be read again: numbers to the last bit, missing values as missing.

use crate::options::Format;
#[cfg(feature = "columnar")]
use crate::write_columns::{arrow, parquet};
use crate::write_text::{arff, delimited, libsvm, ndjson};
use learnt_core::data::Frame;
use learnt_core::error::{Code, Error, Result, plain};
use learnt_core::persist::place;
use std::io::{BufWriter, Write};
use std::path::Path;

/// How a table is written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The format; found from the name otherwise.
    pub format: Option<Format>,
    /// Whether texts that a spreadsheet would run as formulas get an apostrophe in front.
    pub spreadsheet_safe: bool,
    /// Whether CSV begins with the names.
    pub header: bool,
    /// The label of LIBSVM rows; the first column otherwise.
    pub target: Option<String>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { format: None, spreadsheet_safe: false, header: true, target: None }
    }
}

/// Writes a table to a file, or to standard output if the path is `-`.
pub fn write(path: impl AsRef<Path>, table: &Frame, options: &WriteOptions) -> Result<()> {
    let path = path.as_ref();
    let format = options.format.map_or_else(|| format_of(path), Ok)?;
    if path.as_os_str() == "-" {
        return write_to(&mut BufWriter::new(std::io::stdout()), table, format, options);
    }
    write_file(path, table, format, options)
}

/// The format that a file's name asks for; CSV for standard output, devices and pipes.
pub fn format_of(path: &Path) -> Result<Format> {
    let special = || std::fs::metadata(path).is_ok_and(|old| !old.is_file() && !old.is_dir());
    match Format::of_path(path) {
        // Before anything is computed that could not be written.
        #[cfg(not(feature = "columnar"))]
        Some(format @ (Format::Parquet | Format::Arrow)) => Err(format.left_out()),
        Some(format) => Ok(format),
        None if path.as_os_str() == "-" || special() => Ok(Format::Csv),
        None => {
            let name = plain(&path.display().to_string());
            let message = format!("the end of '{name}' names no file format");
            Err(Error::new(Code::Unknown, message).hint(
                "end it in .csv, .tsv, .parquet, .arrow, .arff, .libsvm or .ndjson, with .gz or .zst behind if it is to be packed",
            ))
        }
    }
}

fn write_file(path: &Path, table: &Frame, format: Format, options: &WriteOptions) -> Result<()> {
    let packing = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    place::replace(path, |sink| match packing.as_deref() {
        Some("gz") => {
            let level = flate2::Compression::default();
            let mut packed = flate2::write::GzEncoder::new(sink, level);
            write_to(&mut packed, table, format, options)?;
            packed.finish().map(drop).map_err(Error::from)
        }
        #[cfg(not(feature = "columnar"))]
        Some("zst") => Err(crate::options::left_out("zstd")),
        #[cfg(feature = "columnar")]
        Some("zst") => {
            let mut packed = zstd::stream::write::Encoder::new(sink, 3)?;
            write_to(&mut packed, table, format, options)?;
            packed.finish().map(drop).map_err(Error::from)
        }
        _ => write_to(sink, table, format, options),
    })
}

/// Writes a table in a format.
pub fn write_to<W: Write + Send>(
    sink: &mut W,
    table: &Frame,
    format: Format,
    options: &WriteOptions,
) -> Result<()> {
    match format {
        Format::Csv => delimited(sink, table, b',', options)?,
        Format::Tsv => delimited(sink, table, b'\t', options)?,
        Format::Ndjson => ndjson(sink, table)?,
        Format::Arff => arff(sink, table)?,
        Format::Libsvm => libsvm(sink, table, options.target.as_deref())?,
        #[cfg(feature = "columnar")]
        Format::Parquet => parquet(sink, table)?,
        #[cfg(feature = "columnar")]
        Format::Arrow => arrow(sink, table)?,
        #[cfg(not(feature = "columnar"))]
        Format::Parquet | Format::Arrow => return Err(format.left_out()),
    }
    Ok(sink.flush()?)
}
