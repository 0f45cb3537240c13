//! Tables to files by columns: Parquet and Arrow, through batches of Arrow arrays.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use learnt_core::data::{Column, ColumnKind, Frame};
use learnt_core::error::{Code, Error, Result, plain};
use std::io::Write;
use std::sync::Arc;

/// Rows of a batch.
const BATCH: usize = 65_536;
/// What the writer of a column takes, however few its rows are.
const COLUMN_BYTES: u64 = 60_000;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Io, plain(&error.to_string()))
}

/// Parquet, compressed with Zstandard.
pub(crate) fn parquet<W: Write + Send>(sink: &mut W, table: &Frame) -> Result<()> {
    use parquet::basic::Compression;
    let schema = arrow_schema(table);
    let width = schema.fields().len();
    let what = format!("the writers of {width} columns");
    learnt_core::context::Context::default().claim(COLUMN_BYTES * width as u64, &what)?;
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

/// An Arrow IPC file.
pub(crate) fn arrow<W: Write>(sink: &mut W, table: &Frame) -> Result<()> {
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
