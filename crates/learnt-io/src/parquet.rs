//! Parquet: every column of every row group is read on its own, on all threads.

use crate::arrow::{append, damaged, guarded, plan};
use crate::columns::{Collected, assemble};
use crate::input::Bytes;
use crate::options::{Format, ReadOptions};
use crate::parquet_depth::schema_depth;
use crate::parquet_twice::refuse_contradictions;
use crate::report::{Loaded, ReadReport};
use learnt_core::context::Context;
use learnt_core::error::{Error, Result, plain};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::sync::Arc;

const WHAT: &str = "Parquet";
const BATCH: usize = 16_384;

/// The most readers of one row group.
const READERS: usize = 256;

/// A file whose footer is known.
pub(crate) struct ParquetFile {
    bytes: Shared,
    metadata: ArrowReaderMetadata,
    /// The first row of each row group, and the number of rows.
    pub(crate) starts: Vec<u64>,
}

/// Reads the whole file.
pub(crate) fn read(bytes: &Arc<Bytes>, options: &ReadOptions, run: &Context) -> Result<Loaded> {
    let file = ParquetFile::open(bytes, options)?;
    let mut report = ReadReport::new(Format::Parquet);
    let columns = file.plan(options, &mut report)?;
    let rows = file.rows() as usize;
    let size = (rows as u64).saturating_mul(8 * columns.len() as u64);
    options.check_size(bytes.len(), size)?;
    let what = format!("a table of {rows} rows and {} columns", columns.len());
    let texts = file.text_bytes(&columns).saturating_mul(8);
    run.claim(size.saturating_mul(2).saturating_add(texts), &what)?;
    let groups = file.starts.len() - 1;
    // Each reader looks at the whole schema: many columns share one.
    let beside = columns.len().div_ceil(READERS).max(1);
    let parts = run.try_par_map(groups * columns.len().div_ceil(beside), |task| {
        let (first, group) = (task / groups.max(1) * beside, task % groups.max(1));
        let some = &columns[first..columns.len().min(first + beside)];
        let places: Vec<usize> = some.iter().map(|(place, _)| *place).collect();
        let empty = some.iter().map(|(_, column)| column.empty_like(&column.name));
        let mut parts: Vec<Collected> = empty.collect();
        let count = file.starts[group + 1] - file.starts[group];
        file.append(&[group], 0, count, &places, &mut parts)?;
        Ok(parts)
    })?;
    let mut whole: Vec<Collected> = columns.into_iter().map(|(_, column)| column).collect();
    for (task, parts) in parts.into_iter().enumerate() {
        let first = task / groups.max(1) * beside;
        for (column, part) in whole[first..].iter_mut().zip(parts) {
            let so_far = std::mem::replace(column, Collected::numeric(""));
            *column = so_far.join(part);
        }
    }
    bytes.unchanged()?;
    assemble(whole, rows, report, options, run)
}

impl ParquetFile {
    /// Reads the footer.
    pub(crate) fn open(bytes: &Arc<Bytes>, options: &ReadOptions) -> Result<ParquetFile> {
        refuse_wrong(bytes)?;
        let bytes = Shared(Arc::clone(bytes));
        let metadata = guarded(WHAT, || {
            ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new())
                .map_err(|error| damaged(WHAT, error))
        })?;
        let mut starts = vec![0_u64];
        for group in metadata.metadata().row_groups() {
            let last = starts.last().copied().unwrap_or_default();
            let rows = u64::try_from(group.num_rows()).ok();
            let next = rows.and_then(|rows| last.checked_add(rows));
            starts.push(next.ok_or_else(|| damaged(WHAT, "its number of rows"))?);
        }
        let unpacked = metadata
            .metadata()
            .row_groups()
            .iter()
            .map(|group| u64::try_from(group.total_byte_size()).unwrap_or(u64::MAX));
        options.check_size(bytes.len(), unpacked.fold(0, u64::saturating_add))?;
        refuse_packing(metadata.metadata())?;
        Ok(ParquetFile { bytes, metadata, starts })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// The columns to keep, by position, each empty.
    pub(crate) fn plan(
        &self,
        options: &ReadOptions,
        report: &mut ReadReport,
    ) -> Result<Vec<(usize, Collected)>> {
        let schema = self.metadata.schema();
        let names = schema.fields().iter().map(|field| field.name());
        report.left_out = names.filter(|name| options.skips(name)).cloned().collect();
        plan(schema, options, &mut report.notes)
    }

    /// About how many bytes the texts of the columns have.
    fn text_bytes(&self, columns: &[(usize, Collected)]) -> u64 {
        let texts = columns.iter().filter(|(_, column)| column.levels.is_some());
        let texts: BTreeSet<usize> = texts.map(|(place, _)| *place).collect();
        let is_text = |root: usize| texts.contains(&root);
        let schema = self.metadata.parquet_schema();
        let groups = self.metadata.metadata().row_groups().iter();
        let chunks = groups.flat_map(|group| group.columns().iter().enumerate());
        let of_texts = chunks.filter(|(leaf, _)| {
            *leaf < schema.num_columns() && is_text(schema.get_column_root_idx(*leaf))
        });
        let bytes = |size: i64| u64::try_from(size).unwrap_or_default();
        of_texts.map(|(_, chunk)| bytes(chunk.uncompressed_size())).fold(0, u64::saturating_add)
    }

    /// Adds `count` rows of the row groups, from the `skip`-th on, to columns that are at `places`,
    /// in rising order.
    pub(crate) fn append(
        &self,
        groups: &[usize],
        skip: u64,
        count: u64,
        places: &[usize],
        columns: &mut [Collected],
    ) -> Result<()> {
        let roots = ProjectionMask::roots(self.metadata.parquet_schema(), places.iter().copied());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.bytes.clone(),
            self.metadata.clone(),
        );
        let got = guarded(WHAT, || {
            let reader = builder
                .with_row_groups(groups.to_vec())
                .with_projection(roots)
                .with_batch_size(BATCH)
                .with_offset(skip as usize)
                .with_limit(count as usize)
                .build()
                .map_err(|error| damaged(WHAT, error))?;
            let mut got = 0;
            for batch in reader {
                let batch = batch.map_err(|error| damaged(WHAT, error))?;
                got += batch.num_rows() as u64;
                for (array, column) in batch.columns().iter().zip(columns.iter_mut()) {
                    append(array, column)?;
                }
            }
            Ok(got)
        })?;
        match got == count {
            true => Ok(()),
            false => Err(damaged(WHAT, format!("{got} rows where its footer says {count}"))),
        }
    }
}

/// Names a packing that this build does not read: the file is whole.
fn refuse_packing(metadata: &ParquetMetaData) -> Result<()> {
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let name = match column.compression() {
            Compression::BROTLI(_) => "Brotli",
            Compression::LZO => "LZO",
            _ => continue,
        };
        let path = plain(&column.column_path().string());
        let message = format!("column '{path}' is packed with {name}, which is not read");
        return Err(Error::unsupported(message)
            .column(path)
            .hint("write the file with Snappy, gzip, LZ4 or Zstandard"));
    }
    Ok(())
}

/// Refuses schemas that are nested so deep that walking them could exhaust the stack, and files that contradict
/// themselves.
fn refuse_wrong(bytes: &Bytes) -> Result<()> {
    const DEEPEST: usize = 64;
    let mut buffer = Vec::new();
    let end = bytes.len().saturating_sub(8);
    let tail = bytes.read(end, bytes.len(), &mut buffer)?;
    let length = match tail {
        [a, b, c, d, b'P', b'A', b'R', b'1'] => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => return Err(damaged(WHAT, "it does not end as it should")),
    };
    let start = end.checked_sub(length).ok_or_else(|| damaged(WHAT, "the footer's size"))?;
    let footer = bytes.read(start, end, &mut buffer)?;
    match schema_depth(footer) {
        Some(depth) if depth <= DEEPEST => refuse_contradictions(bytes, footer),
        Some(depth) => Err(damaged(WHAT, format!("columns nested {depth} deep"))),
        None => Err(damaged(WHAT, "the footer")),
    }
}

/// Bytes as the Parquet library wants them.
#[derive(Clone)]
struct Shared(Arc<Bytes>);

/// A reader of the bytes from some place on.
struct From {
    bytes: Arc<Bytes>,
    at: u64,
    buffer: Vec<u8>,
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl Read for From {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let end = self.at.saturating_add(out.len() as u64);
        let got = self.bytes.read(self.at, end, &mut self.buffer).map_err(std::io::Error::other)?;
        out[..got.len()].copy_from_slice(got);
        self.at += got.len() as u64;
        Ok(got.len())
    }
}

impl ChunkReader for Shared {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> std::result::Result<Self::T, ParquetError> {
        let reader = From { bytes: Arc::clone(&self.0), at: start, buffer: Vec::new() };
        Ok(BufReader::with_capacity(1024, reader))
    }

    fn get_bytes(
        &self,
        start: u64,
        length: usize,
    ) -> std::result::Result<bytes::Bytes, ParquetError> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.len());
        let end = end.ok_or_else(|| ParquetError::EOF("a part outside the file".to_string()))?;
        let mut buffer = Vec::new();
        let got = self.0.read(start, end, &mut buffer);
        let got = got.map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(bytes::Bytes::copy_from_slice(got))
    }
}
