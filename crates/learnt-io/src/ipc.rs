//! Arrow IPC, files and streams. A file is a stream between its magic and its footer, so both are
//! read as messages. Sizes in messages are checked against the bytes that are there before the
//! Arrow library sees them.

use crate::arrow::{append, damaged, guarded, plan};
use crate::columns::{Collected, assemble};
use crate::input::Bytes;
use crate::options::{Format, ReadOptions};
use crate::report::{Loaded, ReadReport};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, convert::try_fb_to_schema, root_as_message};
use arrow_schema::SchemaRef;
use learnt_core::context::Context;
use learnt_core::error::{Error, Result};
use std::sync::Arc;

const WHAT: &str = "Arrow";

#[allow(clippy::disallowed_types)] // the Arrow library asks for this type; it is only looked up
type Dictionaries = std::collections::HashMap<i64, ArrayRef>;

/// Where a batch is.
#[derive(Clone, Copy, Debug)]
struct Place {
    metadata: (u64, u64),
    body: (u64, u64),
}

/// A file whose messages are known.
pub(crate) struct IpcFile {
    pub(crate) schema: SchemaRef,
    dictionaries: Dictionaries,
    /// About how many bytes the dictionaries have.
    texts: u64,
    batches: Vec<Place>,
}

/// Reads the whole file.
pub(crate) fn read(bytes: &Bytes, options: &ReadOptions, run: &Context) -> Result<Loaded> {
    let file = IpcFile::open(bytes, options, run)?;
    let mut report = ReadReport::new(Format::Arrow);
    let columns = plan(&file.schema, options, &mut report.notes)?;
    let names = file.schema.fields().iter().map(|field| field.name());
    report.left_out = names.filter(|name| options.skips(name)).cloned().collect();
    let wanted: Vec<usize> = columns.iter().map(|(j, _)| *j).collect();
    let mut columns: Vec<Collected> = columns.into_iter().map(|(_, column)| column).collect();
    let starts = file.starts(bytes)?;
    let rows = starts.last().copied().unwrap_or_default();
    let row_bytes = 8 * wanted.len() as u64;
    options.check_size(bytes.len(), rows.saturating_mul(row_bytes))?;
    let what = format!("a table of {rows} rows and {} columns", wanted.len());
    let mut first = 0;
    while first < file.batches() {
        let count = file.together(first, run);
        // The columns and the table that they become, but for what is there already; and these batches.
        let whole = rows.saturating_mul(2 * row_bytes) - starts[first].saturating_mul(row_bytes);
        let batches = file.bytes_of(first, count).saturating_mul(2);
        run.claim(
            whole.saturating_add(batches).saturating_add(file.texts.saturating_mul(8)),
            &what,
        )?;
        if first == 0 {
            columns.iter_mut().try_for_each(|column| column.reserve(rows))?;
        }
        let batches = run.try_par_map(count, |i| file.batch(bytes, first + i, &wanted, options))?;
        for (k, batch) in batches.into_iter().enumerate() {
            if batch.num_rows() as u64 != starts[first + k + 1] - starts[first + k] {
                return Err(damaged(WHAT, "its number of rows"));
            }
            for (array, column) in batch.columns().iter().zip(&mut columns) {
                append(array, column)?;
            }
        }
        first += count;
    }
    bytes.unchanged()?;
    let rows = columns.first().map_or(rows as usize, |column| column.cells.len());
    assemble(columns, rows, report, options, run)
}

impl IpcFile {
    /// Reads schema and dictionaries, and finds the batches.
    pub(crate) fn open(bytes: &Bytes, options: &ReadOptions, run: &Context) -> Result<IpcFile> {
        let mut buffer = Vec::new();
        let mut at = first_message(bytes)?;
        let mut schema: Option<SchemaRef> = None;
        let mut dictionaries = Dictionaries::new();
        let (mut texts, mut batches) = (0_u64, Vec::new());
        while let Some(place) = next_message(bytes, at)? {
            at = place.body.1;
            let metadata = bytes.read(place.metadata.0, place.metadata.1, &mut buffer)?;
            let message = root_as_message(metadata).map_err(|error| damaged(WHAT, error))?;
            let known = || schema.clone().ok_or_else(|| damaged(WHAT, "data before the schema"));
            match message.header_type() {
                MessageHeader::Schema if schema.is_none() => {
                    let found =
                        message.header_as_schema().ok_or_else(|| damaged(WHAT, "schema"))?;
                    schema = Some(guarded(WHAT, || {
                        try_fb_to_schema(found).map(Arc::new).map_err(|error| damaged(WHAT, error))
                    })?);
                }
                MessageHeader::DictionaryBatch => {
                    // Its bytes, its values, and the texts as they are looked up.
                    texts = texts.saturating_add(place.body.1 - place.body.0);
                    run.claim(texts.saturating_mul(8), "the texts of the file")?;
                    add_dictionary(bytes, &place, &message, &known()?, &mut dictionaries, options)?;
                }
                MessageHeader::RecordBatch => {
                    known()?;
                    batches.push(place);
                }
                _ => return Err(damaged(WHAT, "a message of another kind")),
            }
        }
        let schema = schema.ok_or_else(|| damaged(WHAT, "no schema"))?;
        Ok(IpcFile { schema, dictionaries, texts, batches })
    }

    /// Number of batches.
    pub(crate) fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Bytes of some batches, as they are stored.
    fn bytes_of(&self, first: usize, count: usize) -> u64 {
        self.batches[first..first + count].iter().map(|place| place.body.1 - place.body.0).sum()
    }

    /// How many batches are read at a time: some for each thread, while they are small beside what may be used.
    fn together(&self, first: usize, run: &Context) -> usize {
        const MOST: u64 = 64 << 20;
        let most = run.memory_limit().map_or(MOST, |limit| (limit / 16).min(MOST));
        let left = (4 * run.threads()).min(self.batches() - first);
        let fits = |count: &usize| self.bytes_of(first, *count) <= most;
        (1..=left).take_while(fits).last().unwrap_or(1)
    }

    /// The first row of each batch, and the number of rows.
    pub(crate) fn starts(&self, bytes: &Bytes) -> Result<Vec<u64>> {
        let mut starts = vec![0_u64];
        let mut buffer = Vec::new();
        for place in &self.batches {
            let metadata = bytes.read(place.metadata.0, place.metadata.1, &mut buffer)?;
            let message = root_as_message(metadata).map_err(|error| damaged(WHAT, error))?;
            let rows = message.header_as_record_batch().map(|batch| batch.length());
            let rows = rows.and_then(|rows| u64::try_from(rows).ok());
            let last = starts.last().copied().unwrap_or_default();
            let next = rows.and_then(|rows| last.checked_add(rows));
            starts.push(next.ok_or_else(|| damaged(WHAT, "its number of rows"))?);
        }
        Ok(starts)
    }

    /// The wanted columns of one batch.
    pub(crate) fn batch(
        &self,
        bytes: &Bytes,
        k: usize,
        wanted: &[usize],
        options: &ReadOptions,
    ) -> Result<RecordBatch> {
        let place = &self.batches[k];
        let mut buffer = Vec::new();
        let metadata = bytes.read(place.metadata.0, place.metadata.1, &mut buffer)?;
        let message = root_as_message(metadata).map_err(|error| damaged(WHAT, error))?;
        let batch = message.header_as_record_batch().ok_or_else(|| damaged(WHAT, "a batch"))?;
        let body = body(bytes, place, &batch, options)?;
        guarded(WHAT, || {
            read_record_batch(
                &body,
                batch,
                self.schema.clone(),
                &self.dictionaries,
                Some(wanted),
                &message.version(),
            )
            .map_err(|error| damaged(WHAT, error))
        })
    }
}

/// Where the messages begin: at the start of a stream, behind the magic and its padding in a file.
fn first_message(bytes: &Bytes) -> Result<u64> {
    const LONGEST_PADDING: u64 = 4096;
    let mut buffer = Vec::new();
    let head = bytes.read(0, LONGEST_PADDING, &mut buffer)?;
    if !head.starts_with(b"ARROW1") {
        return Ok(0);
    }
    let words = head.chunks_exact(8).skip(1);
    Ok(8 + 8 * words.take_while(|word| word.iter().all(|&byte| byte == 0)).count() as u64)
}

/// The message at an offset; `None` at the end of the stream.
fn next_message(bytes: &Bytes, at: u64) -> Result<Option<Place>> {
    let mut buffer = Vec::new();
    let head = bytes.read(at, at.saturating_add(8), &mut buffer)?;
    let word = |from: usize| {
        head.get(from..from + 4).and_then(|word| Some(u32::from_le_bytes(word.try_into().ok()?)))
    };
    let (length, skip) = match (word(0), word(4)) {
        (Some(u32::MAX), Some(length)) => (length, 8),
        (Some(length), _) if length != u32::MAX => (length, 4),
        _ if head.is_empty() => return Ok(None),
        _ => return Err(damaged(WHAT, "it ends within a message")),
    };
    if length == 0 {
        return Ok(None);
    }
    let start = at + skip;
    let end = start + u64::from(length);
    if end > bytes.len() {
        return Err(damaged(WHAT, "it ends within a message"));
    }
    let metadata = bytes.read(start, end, &mut buffer)?;
    let message = root_as_message(metadata).map_err(|error| damaged(WHAT, error))?;
    let body_length = u64::try_from(message.bodyLength()).map_err(|_| damaged(WHAT, "sizes"))?;
    match end.checked_add(body_length).filter(|&close| close <= bytes.len()) {
        Some(close) => Ok(Some(Place { metadata: (start, end), body: (end, close) })),
        None => Err(damaged(WHAT, "it ends within a batch")),
    }
}

fn add_dictionary(
    bytes: &Bytes,
    place: &Place,
    message: &Message<'_>,
    schema: &SchemaRef,
    dictionaries: &mut Dictionaries,
    options: &ReadOptions,
) -> Result<()> {
    let batch =
        message.header_as_dictionary_batch().ok_or_else(|| damaged(WHAT, "a dictionary"))?;
    let data = batch.data().ok_or_else(|| damaged(WHAT, "a dictionary without values"))?;
    if dictionaries.contains_key(&batch.id()) && !batch.isDelta() {
        return Err(Error::unsupported(
            "Arrow streams that replace dictionaries are not supported",
        ));
    }
    let body = body(bytes, place, &data, options)?;
    guarded(WHAT, || {
        read_dictionary(&body, batch, schema, dictionaries, &message.version())
            .map_err(|error| damaged(WHAT, error))
    })
}

/// The bytes of a batch, after a look at how large its compressed buffers say they are.
fn body(
    bytes: &Bytes,
    place: &Place,
    batch: &arrow_ipc::RecordBatch<'_>,
    options: &ReadOptions,
) -> Result<Buffer> {
    let body = bytes.take(place.body.0, place.body.1)?;
    let mut unpacked = 0_u64;
    for part in batch.buffers().into_iter().flatten() {
        let (start, length) = (part.offset(), part.length());
        let start = usize::try_from(start).map_err(|_| damaged(WHAT, "a buffer's place"))?;
        let length = usize::try_from(length).map_err(|_| damaged(WHAT, "a buffer's size"))?;
        let part = start.checked_add(length).and_then(|end| body.get(start..end));
        let part = part.ok_or_else(|| damaged(WHAT, "a buffer outside its batch"))?;
        if batch.compression().is_some() && length >= 8 {
            let stated = i64::from_le_bytes(part[..8].try_into().unwrap_or_default());
            unpacked = unpacked.saturating_add(u64::try_from(stated).unwrap_or(0));
        }
    }
    options.check_size(bytes.len(), unpacked)?;
    Ok(Buffer::from(body))
}
