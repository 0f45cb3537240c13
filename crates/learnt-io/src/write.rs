//! Tables to files. A path holds the old file or the whole new one, never a part. What is written
//! can be read again: numbers to the last bit, missing values as missing.

use crate::options::Format;
use crate::write_text::{arff, delimited, libsvm, ndjson};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use learnt_core::data::{Column, ColumnKind, Frame};
use learnt_core::error::{Code, Error, Result, plain};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

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
        Format::Parquet => parquet(sink, table)?,
        Format::Arrow => arrow(sink, table)?,
    }
    Ok(sink.flush()?)
}

const BATCH: usize = 65_536;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Io, plain(&error.to_string()))
}

fn parquet<W: Write + Send>(sink: &mut W, table: &Frame) -> Result<()> {
    use parquet::basic::Compression;
    let schema = arrow_schema(table);
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_max_row_group_row_count(Some(16 * BATCH))
        .build();
    let mut writer = parquet::arrow::ArrowWriter::try_new(sink, schema.clone(), Some(properties))
        .map_err(failed)?;
    for batch in batches(table, &schema) {
        writer.write(&batch?).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn arrow<W: Write>(sink: &mut W, table: &Frame) -> Result<()> {
    let schema = arrow_schema(table);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(sink, &schema).map_err(failed)?;
    for batch in batches(table, &schema) {
        writer.write(&batch?).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}

fn arrow_schema(table: &Frame) -> SchemaRef {
    let field = |column: &Column| match column.kind {
        ColumnKind::Numeric => Field::new(&column.name, DataType::Float64, true),
        ColumnKind::Categorical { .. } => {
            let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Field::new(&column.name, kind, true)
        }
    };
    Arc::new(Schema::new(table.schema().columns().iter().map(field).collect::<Vec<_>>()))
}

/// The rows in batches; the dictionaries are the same in all.
fn batches<'a>(
    table: &'a Frame,
    schema: &'a SchemaRef,
) -> impl Iterator<Item = Result<RecordBatch>> + 'a {
    let dictionary = |column: &Column| {
        column.levels().map(|levels| Arc::new(StringArray::from_iter_values(levels)) as ArrayRef)
    };
    let dictionaries: Vec<Option<ArrayRef>> =
        table.schema().columns().iter().map(dictionary).collect();
    let count = table.nrows().div_ceil(BATCH);
    (0..count).map(move |k| {
        let rows = table.rows(k * BATCH, ((k + 1) * BATCH).min(table.nrows()));
        let columns = dictionaries.iter().enumerate().map(|(j, dictionary)| {
            let cells = rows.values().column(j);
            let cells = cells.into_iter().map(|cell| (!cell.is_nan()).then_some(cell));
            match dictionary {
                None => Ok(Arc::new(Float64Array::from_iter(cells)) as ArrayRef),
                Some(levels) => {
                    let keys =
                        Int32Array::from_iter(cells.map(|cell| cell.map(|code| code as i32)));
                    DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(levels))
                        .map(|array| Arc::new(array) as ArrayRef)
                        .map_err(failed)
                }
            }
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        RecordBatch::try_new(Arc::clone(schema), columns).map_err(failed)
    })
}
