//! Addresses such as `s3://bucket/folder`: told from paths, listed, and read through a pipe.
//!
//! What talks to a store is the Python package (`python -m learnt.distributed._fetch`), with what that Python has
//! installed and with the rights of the process that reads: this crate opens no connection, and no credential passes
//! through it. A file is taken in whole, because its SHA-256 is compared with that of the plan before a row is used.
//! `LEARNT_CACHE` names a folder where workers keep what they took, under that SHA-256, for later processes.

use crate::input::hex;
use crate::options::Format;
use learnt_core::error::{Code, Error, Result, plain};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// What is behind `file://`, and what a local name is.
pub(crate) enum Place<'a> {
    /// A file of this machine.
    Here(PathBuf),
    /// An address elsewhere.
    There(&'a str),
}

/// Where a name points to.
pub(crate) fn place(path: &Path) -> Result<Place<'_>> {
    let here = || Ok(Place::Here(path.to_path_buf()));
    let Some(text) = path.to_str() else { return here() };
    let Some((scheme, rest)) = text.split_once("://") else { return here() };
    match scheme {
        "file" => match rest.strip_prefix("localhost").unwrap_or(rest) {
            local if local.starts_with('/') => Ok(Place::Here(PathBuf::from(local))),
            _ => Err(Error::new(Code::Usage, format!("{} names a host", plain(text)))
                .hint("file:///folder/table.csv has three slashes")),
        },
        "s3" | "gs" | "gcs" | "az" | "abfs" | "abfss" | "http" | "https" => {
            refuse_secrets(scheme, rest)?;
            Ok(Place::There(text))
        }
        _ if !scheme.is_empty() && scheme.bytes().all(|c| c.is_ascii_alphanumeric()) => {
            Err(Error::new(Code::Usage, format!("{} is no address that is read", plain(text)))
                .hint("s3://, gs://, az://, http://, https:// and file:// are"))
        }
        _ => here(),
    }
}

/// Refuses addresses with a secret in them: names of files are shown, logged and part of jobs.
pub fn refuse_secrets(scheme: &str, rest: &str) -> Result<()> {
    let host = rest.split('/').next().unwrap_or_default();
    if !host.contains('@') && !rest.contains('?') {
        return Ok(());
    }
    let message =
        format!("an address {}://… holds a user name, a password or a token", plain(scheme));
    Err(Error::new(Code::Usage, message)
        .hint("workers read with rights of their own; leave secrets out of addresses"))
}

/// Whether an address stands for several files: a folder, or a pattern with `*`.
pub(crate) fn is_many(address: &str) -> bool {
    let name = address.rsplit('/').next().unwrap_or_default();
    let web = address.starts_with("http://") || address.starts_with("https://");
    name.contains('*') || (!web && Format::of_path(Path::new(name)).is_none())
}

/// The files in the folder of an address, or those that match its pattern, as Python sees them.
pub(crate) fn list(address: &str) -> Result<Vec<PathBuf>> {
    let mut text = String::new();
    Pipe::new("list", address)?.read_to_string(&mut text)?;
    Ok(text.lines().map(PathBuf::from).collect())
}

/// The bytes of a file, from its beginning to its end.
pub(crate) fn read(address: &str) -> Result<impl Read> {
    Pipe::new("copy", address)
}

/// What to open for a file whose content is known: a copy that an earlier process kept, or the address.
pub(crate) fn kept(address: &str, digest: &str) -> Result<PathBuf> {
    let Some(folder) = std::env::var_os("LEARNT_CACHE").map(PathBuf::from) else {
        return Ok(PathBuf::from(address));
    };
    // The ending says the format.
    let name = address.rsplit('/').next().unwrap_or_default();
    let ending = name.split_once('.').map_or("", |(_, ending)| ending);
    let copy = folder.join(format!("{digest}.{ending}"));
    if !copy.exists() {
        std::fs::create_dir_all(&folder)?;
        keep(address, digest, &folder, &copy)?;
    }
    Ok(copy)
}

/// Takes a file into the folder: whole, with the content that was planned, or not at all.
fn keep(address: &str, digest: &str, folder: &Path, copy: &Path) -> Result<()> {
    let mut source = read(address)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let got = source.read(&mut buffer)?;
        if got == 0 {
            break;
        }
        hash.update(&buffer[..got]);
        beside.write_all(&buffer[..got])?;
    }
    if hex(&hash.finalize()) != digest {
        return Err(crate::stream_files::other_content());
    }
    beside.persist(copy).map_err(|error| error.error)?;
    Ok(())
}

/// What Python writes; its failure is an error at the end.
struct Pipe {
    child: Child,
    out: ChildStdout,
    python: String,
    ended: bool,
}

impl Pipe {
    fn new(verb: &str, address: &str) -> Result<Pipe> {
        let python = std::env::var_os("LEARNT_PYTHON").unwrap_or_else(|| "python3".into());
        let name = python.to_string_lossy().into_owned();
        let mut command = Command::new(&python);
        command.args(["-m", "learnt.distributed._fetch", verb, address]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| no_python(&name, &error.to_string()))?;
        let out = child.stdout.take().ok_or_else(|| Error::internal("a pipe without an end"))?;
        Ok(Pipe { child, out, python: name, ended: false })
    }

    /// What Python says of its end.
    fn verdict(&mut self) -> Result<()> {
        self.ended = true;
        let mut said = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut said)?;
        }
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        // A refusal is one line behind this mark; anything else is a Python that could not even try.
        match said.lines().find_map(|line| line.strip_prefix("learnt-fetch: ")) {
            Some(reason) => {
                let (message, hint) = reason.split_once(" || ").unwrap_or((reason, ""));
                let error = Error::new(Code::Io, plain(message));
                Err(if hint.is_empty() { error } else { error.hint(plain(hint)) })
            }
            None => {
                let last = said.lines().last().unwrap_or_default();
                Err(no_python(&self.python, last))
            }
        }
    }
}

fn no_python(python: &str, reason: &str) -> Error {
    let (python, reason) = (plain(python), plain(reason));
    let message = format!(
        "addresses are read through the Python package, and {python} did not run it: {reason}"
    );
    Error::new(Code::Io, message).hint(
        "pip install learnt pyarrow, name that Python in LEARNT_PYTHON, or copy the files to this machine",
    )
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let got = self.out.read(buffer)?;
        if got == 0 && !buffer.is_empty() && !self.ended {
            self.verdict().map_err(std::io::Error::other)?;
        }
        Ok(got)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if !self.ended {
            // It may have ended by itself.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_there(text: &str) -> bool {
        matches!(place(Path::new(text)), Ok(Place::There(_)))
    }

    #[test]
    fn addresses_are_told_from_paths() {
        for text in ["s3://bucket/a.parquet", "https://x.org/a.csv", "az://box/parts", "gs://b/x"] {
            assert!(is_there(text), "{text}");
        }
        for (text, path) in [
            ("a.csv", "a.csv"),
            ("-", "-"),
            ("/data/a.csv", "/data/a.csv"),
            ("file:///data/a.csv", "/data/a.csv"),
            ("file://localhost/data/a.csv", "/data/a.csv"),
            ("odd name://x", "odd name://x"),
        ] {
            match place(Path::new(text)) {
                Ok(Place::Here(found)) => assert_eq!(found, Path::new(path)),
                _ => panic!("{text}"),
            }
        }
        for bad in ["ftp://x.org/a.csv", "file://host/a.csv", "hdfs://x/a.csv"] {
            assert_eq!(place(Path::new(bad)).err().unwrap().code(), Code::Usage, "{bad}");
        }
    }

    #[test]
    fn addresses_with_secrets_are_refused_without_repeating_them() {
        for bad in ["s3://key:abc123@bucket/a.csv", "https://x.org/a.csv?token=abc123"] {
            let error = place(Path::new(bad)).err().unwrap();
            assert!(!error.to_string().contains("abc123"), "{error}");
        }
    }

    #[test]
    fn folders_and_patterns_are_many_files() {
        for (address, many) in [
            ("s3://bucket/parts", true),
            ("s3://bucket/parts/", true),
            ("s3://bucket/parts/*.csv", true),
            ("s3://bucket/parts/a.csv.gz", false),
            ("https://x.org/a.parquet", false),
            ("https://x.org/download/17", false),
        ] {
            assert_eq!(is_many(address), many, "{address}");
        }
    }
}
