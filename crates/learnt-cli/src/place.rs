//! Where results go: the one place that decides about files that are written.
//!
//! Nothing is written over what is read, nothing over what is there without `-f`, and a place that cannot
//! be written is found before the work. Devices and pipes are written through as they are.

use crate::commands::Call;
use learnt::data::Table;
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::persist::place;
use learnt_io::WriteOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments that name what is written.
const OUTPUTS: &[&str] = &["out", "labels", "trace", "plot", "table", "to-path", "save"];
/// Arguments that name what is read.
const INPUTS: &[&str] = &["data", "model", "other"];
/// Verbs whose `-o` is a table, so that its ending chooses the format.
const TABLES: &[&str] = &["predict", "dataset", "make", "path", "cluster", "reduce"];

/// Refuses places that must not be written, before anything is read.
pub(crate) fn check(call: &Call, verb: &str) -> Result<()> {
    let mut named: Vec<(&str, &str)> =
        OUTPUTS.iter().filter_map(|name| Some((*name, call.text(name)?))).collect();
    if verb == "split" && call.args.try_contains_id("stratify").is_ok() {
        // Names of parts are made from this one.
        named.retain(|(name, _)| *name != "out");
    }
    if verb == "report" && call.text("out").is_none() {
        named.push(("out", super::commands::REPORT));
    }
    named.retain(|(_, path)| *path != "-");
    for (k, (name, path)) in named.iter().enumerate() {
        free(call, path)?;
        let table =
            (*name == "out" && TABLES.contains(&verb)) || ["labels", "trace"].contains(name);
        if table {
            learnt_io::format_of(Path::new(path))?;
        }
        if named[..k].iter().any(|(_, other)| is_same(path, other)) {
            let message = format!("{} is to be written twice", plain(path));
            return Err(Error::new(Code::Usage, message).hint("name two files"));
        }
    }
    Ok(())
}

/// Refuses to write what is read.
pub(crate) fn not_read(call: &Call, path: &str) -> Result<()> {
    for input in INPUTS.iter().filter_map(|input| call.text(input)) {
        if is_same(path, input) {
            let message = format!("{} is what is read, and would be replaced", plain(path));
            return Err(Error::new(Code::Usage, message).hint("write to another file"));
        }
    }
    Ok(())
}

/// The same for a file whose name follows from others.
pub(crate) fn may_be_written(call: &Call, path: &str) -> Result<()> {
    free(call, path)
}

/// Whether a file may be written: not one that is read, and none that is there without `-f`.
fn free(call: &Call, path: &str) -> Result<()> {
    let name = plain(path);
    not_read(call, path)?;
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => {
            Err(Error::new(Code::Io, format!("{name} is a directory, not a file")))
        }
        Ok(old) if old.is_file() && !call.flag("force") => {
            Err(Error::new(Code::Usage, format!("{name} exists")).hint("add -f to replace it"))
        }
        Ok(_) => Ok(()),
        Err(_) => {
            let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
            match folder.filter(|folder| !folder.is_dir()) {
                None => Ok(()),
                Some(folder) => {
                    let folder = folder.display().to_string();
                    let message = format!("{name} cannot be written: there is no folder for it");
                    Err(Error::new(Code::Io, message)
                        .hint(format!("make it with mkdir -p {}", shell(&folder))))
                }
            }
        }
    }
}

/// Whether two paths lead to one file.
fn is_same(a: &str, b: &str) -> bool {
    let real = |path: &str| -> Option<PathBuf> { std::fs::canonicalize(path).ok() };
    match (real(a), real(b)) {
        (Some(a), Some(b)) => a == b || is_linked(&a, &b),
        (None, None) => a == b,
        _ => false,
    }
}

/// Whether two names are of one file on disk.
#[cfg(unix)]
fn is_linked(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_linked(_: &Path, _: &Path) -> bool {
    false
}

/// Writes a file and says so.
pub(crate) fn bytes(call: &Call, path: &str, bytes: &[u8]) -> Result<()> {
    free(call, path)?;
    place::write_atomically(Path::new(path), bytes)?;
    call.say(&format!("wrote {path} ({} kB)", bytes.len().div_ceil(1000)));
    Ok(())
}

/// Writes pieces of text one after the other to a file, looks for the sign to stop between them, and says how much
/// was written.
pub(crate) fn pieces<'b>(
    call: &Call,
    path: &str,
    pieces: impl Iterator<Item = &'b [u8]>,
) -> Result<()> {
    const TOGETHER: usize = 1024;
    free(call, path)?;
    let mut size = 0;
    place::replace(Path::new(path), |sink| {
        for (k, piece) in pieces.enumerate() {
            if k.is_multiple_of(TOGETHER) {
                call.run.checkpoint()?;
            }
            size += piece.len();
            sink.write_all(piece)?;
        }
        Ok(())
    })?;
    call.say(&format!("wrote {path} ({} kB)", size.div_ceil(1000)));
    Ok(())
}

/// Writes a table to a file, or to standard output for `-`.
pub(crate) fn table(call: &Call, path: &str, table: &Table, options: &WriteOptions) -> Result<()> {
    let frame = table.frame();
    if path == "-" {
        let format = options.format.unwrap_or(learnt_io::Format::Csv);
        let mut out = std::io::BufWriter::new(crate::output::Out);
        return learnt_io::write_to(&mut out, &frame, format, options);
    }
    free(call, path)?;
    learnt_io::write(path, &frame, options)?;
    call.say(&format!("wrote {path} ({} rows x {} columns)", frame.nrows(), frame.ncols()));
    Ok(())
}
