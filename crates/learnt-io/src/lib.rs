//! Tables from files and to files, whole or in blocks.
//!
//! [`read`] gives a table and an account of how it was read: what was inferred, what was left out,
//! what may surprise. No row is dropped and no value changed without a word in that account, and a
//! file, standard input and compressed files give the same table. [`write()`] is its counterpart.

mod address;
mod arff;
#[cfg(feature = "columnar")]
mod arrow;
mod columns;
mod csv;
mod dataset;
mod description;
mod input;
#[cfg(feature = "columnar")]
mod ipc;
mod levels;
mod libsvm;
mod memory;
mod names;
mod ndjson;
mod options;
#[cfg(feature = "columnar")]
mod parquet;
#[cfg(feature = "columnar")]
mod parquet_depth;
#[cfg(feature = "columnar")]
mod parquet_twice;
mod report;
mod sniff;
mod stream;
#[cfg(feature = "columnar")]
mod stream_columns;
mod stream_counted;
mod stream_csv;
mod stream_files;
mod stream_kept;
mod write;
#[cfg(feature = "columnar")]
mod write_columns;
mod write_text;

pub use address::refuse_secrets;
pub use dataset::{ColumnRoles, Prepared, TargetTask, to_dataset};
pub use options::{Encoding, Format, Header, MISSING_TOKENS, Ragged, ReadOptions, TypeRule};
pub use report::{ColumnReport, FoundHeader, Loaded, Packing, ReadReport};
pub use stream::{FileSource, open_stream, open_stream_bytes, open_streams};
pub use stream_files::expand;
pub use write::{WriteOptions, format_of, write, write_to};

use learnt_core::context::Context;
use learnt_core::error::Result;
use std::path::Path;

/// Reads a table from a file, or from standard input if the path is `-`.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions, run: &Context) -> Result<Loaded> {
    let path = path.as_ref();
    let input = input::open(path, options, false, run)?;
    read_input(path, &input, options, run).map_err(|error| error.within(&input.name))
}

/// Reads a table from bytes; `name` stands in messages, and its ending may say the format.
pub fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    run: &Context,
) -> Result<Loaded> {
    let input = input::from_memory(name, bytes);
    read_input(Path::new(name), &input, options, run).map_err(|error| error.within(&input.name))
}

fn read_input(
    path: &Path,
    input: &input::Input,
    options: &ReadOptions,
    run: &Context,
) -> Result<Loaded> {
    let format = sniff::format_of(path, &input.bytes, options)?;
    let wants_digest = options.digest && input.digest.is_none();
    let parts = run.par_map(1 + usize::from(wants_digest), |part| match part {
        0 => read_format(input, options, format, run).map(|loaded| (Some(loaded), None)),
        _ => input::digest_of(&input.bytes).map(|digest| (None, Some(digest))),
    });
    let mut loaded = None;
    let mut digest = input.digest.clone();
    for part in parts {
        let (table, hash) = part?;
        loaded = table.or(loaded);
        digest = hash.or(digest);
    }
    let mut loaded =
        loaded.ok_or_else(|| learnt_core::error::Error::internal("a file without its table"))?;
    loaded.report.digest = digest;
    loaded.report.packing = input.packing;
    Ok(loaded)
}

fn read_format(
    input: &input::Input,
    options: &ReadOptions,
    format: Format,
    run: &Context,
) -> Result<Loaded> {
    match format {
        Format::Csv | Format::Tsv => csv::read(&input.bytes, options, format, run),
        #[cfg(feature = "columnar")]
        Format::Parquet => parquet::read(&input.bytes, options, run),
        #[cfg(feature = "columnar")]
        Format::Arrow => ipc::read(&input.bytes, options, run),
        #[cfg(not(feature = "columnar"))]
        Format::Parquet | Format::Arrow => Err(format.left_out()),
        Format::Arff => arff::read(&input.bytes, options, run),
        Format::Libsvm => libsvm::read(&input.bytes, options, run),
        Format::Ndjson => ndjson::read(&input.bytes, options, run),
    }
}
