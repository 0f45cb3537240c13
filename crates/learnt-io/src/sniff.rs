//! Which format a file has: as asked, by its first bytes, by its name, by its first line.

use crate::input::Bytes;
use crate::options::{Format, ReadOptions};
use learnt_core::error::{Error, Result};
use std::path::Path;

/// The format of an input.
pub(crate) fn format_of(path: &Path, bytes: &Bytes, options: &ReadOptions) -> Result<Format> {
    let mut buffer = Vec::new();
    let head = bytes.read(0, 4096, &mut buffer)?;
    let magic = match head {
        [b'P', b'A', b'R', b'1', ..] => Some(Format::Parquet),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
            Some(Format::Arrow)
        }
        _ => None,
    };
    if let Some(format) = options.format.or(magic) {
        return Ok(format);
    }
    if let Some(kind) = named_unsupported(head) {
        let error = Error::unsupported(format!("this is {kind}, which cannot be read"));
        return Err(error.hint("export it as CSV or Parquet"));
    }
    Ok(Format::of_path(path).unwrap_or_else(|| format_of_text(head)))
}

fn named_unsupported(head: &[u8]) -> Option<&'static str> {
    match head {
        [b'P', b'K', 3, 4, ..] => Some("a zip archive or an Excel workbook"),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => Some("an old Excel workbook"),
        [b'%', b'P', b'D', b'F', ..] => Some("a PDF document"),
        [0x89, b'H', b'D', b'F', ..] => Some("an HDF5 file"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some("a NumPy array"),
        [b'B', b'Z', b'h', ..] => Some("a bzip2 archive"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("an xz archive"),
        _ if head.starts_with(b"SQLite format 3") => Some("an SQLite database"),
        _ => None,
    }
}

fn format_of_text(head: &[u8]) -> Format {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let is_text = |line: &&[u8]| !line.is_empty() && line[0] != b'%';
    let Some(line) = lines.find(is_text) else { return Format::Csv };
    let lower = line.to_ascii_lowercase();
    if lower.starts_with(b"@relation") || lower.starts_with(b"@attribute") {
        return Format::Arff;
    }
    if line.starts_with(b"{\"") || line == b"{}" {
        return Format::Ndjson;
    }
    if looks_like_libsvm(line) { Format::Libsvm } else { Format::Csv }
}

fn looks_like_libsvm(line: &[u8]) -> bool {
    let number = |bytes: &[u8]| fast_float2::parse::<f64, _>(bytes).is_ok();
    let pair = |token: &[u8]| match token.iter().position(|&byte| byte == b':') {
        Some(at) => {
            token[..at].iter().all(u8::is_ascii_digit) && at > 0 && number(&token[at + 1..])
        }
        None => false,
    };
    let mut tokens = line.split(|&byte| byte == b' ').filter(|token| !token.is_empty());
    tokens.next().is_some_and(number) && tokens.next().is_some_and(pair)
}
