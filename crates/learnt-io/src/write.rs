//! Tables to files. A path holds the old file or the whole new one, never a part. What is written
//! can be read again: numbers to the last bit, missing values as missing.

use crate::options::Format;
#[cfg(feature = "columnar")]
use crate::write_columns::{arrow, parquet};
use crate::write_text::{arff, delimited, libsvm, ndjson};
use learnt_core::data::Frame;
use learnt_core::error::{Error, Result, plain};
use std::io::{BufWriter, Write};
use std::path::Path;

/// How a table is written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The format; found from the name otherwise, CSV without one.
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
    let format = options.format.or_else(|| Format::of_path(path)).unwrap_or(Format::Csv);
    if path.as_os_str() == "-" {
        return write_to(&mut BufWriter::new(std::io::stdout()), table, format, options);
    }
    let place = plain(&path.display().to_string());
    write_file(path, table, format, options).map_err(|error| error.within(&place))
}

fn write_file(path: &Path, table: &Frame, format: Format, options: &WriteOptions) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".learnt-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let packing = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    {
        let mut sink = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        match packing.as_deref() {
            Some("gz") => {
                let level = flate2::Compression::default();
                let mut packed = flate2::write::GzEncoder::new(&mut sink, level);
                write_to(&mut packed, table, format, options)?;
                packed.finish()?;
            }
            Some("zst") => {
                let mut packed = zstd::stream::write::Encoder::new(&mut sink, 3)?;
                write_to(&mut packed, table, format, options)?;
                packed.finish()?;
            }
            _ => write_to(&mut sink, table, format, options)?,
        }
        sink.flush()?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| Error::from(error.error))?;
    Ok(())
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
