//! Files that are written: a path holds the old bytes or the new, never a part.
//!
//! A new file is written beside the old one, synced, and renamed over it; it keeps the mode of the old
//! one. Links are followed, so that the file they name is replaced and not the link. What is no regular
//! file (a device, a pipe) is written through. Temporary files of processes that died are swept when the
//! same path is written again.

use crate::error::{Code, Error, Result, plain};
use crate::faults::{Fault, meet};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most links that are followed from one to the next.
const MOST_LINKS: usize = 40;
const BUFFER: usize = 1 << 20;

/// Temporary files that are being written.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Where a file's bytes go.
pub struct Sink {
    file: File,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        meet(Fault::Write)?;
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes bytes so that the path holds the old content or the new, whatever happens.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, |sink| Ok(sink.write_all(bytes)?))
}

/// The same with a writer.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<Sink>) -> Result<()>) -> Result<()> {
    let replaced = match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(Error::new(Code::Io, "is a directory, not a file")),
        Ok(old) if !old.is_file() => through(path, write),
        Ok(old) => followed(path).and_then(|target| beside(&target, Some(&old), write)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            followed(path).and_then(|target| beside(&target, None, write))
        }
        Err(error) => Err(error.into()),
    };
    replaced.map_err(|error| error.within(&plain(&path.display().to_string())))
}

/// The file that a path names, behind all links; it need not be there.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            // An absolute link replaces the folder, a relative one is seen from it.
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(Error::new(Code::Io, "too many links that name each other"))
}

fn written(file: File, write: impl FnOnce(&mut BufWriter<Sink>) -> Result<()>) -> Result<File> {
    let mut sink = BufWriter::with_capacity(BUFFER, Sink { file });
    let wrote = write(&mut sink);
    // What a failed write left in the buffer must not be tried again when it is dropped.
    let flushed = wrote.and_then(|()| Ok(sink.flush()?));
    let (sink, _) = sink.into_parts();
    flushed.map(|()| sink.file)
}

/// Writes to a device or a pipe as it is.
fn through(path: &Path, write: impl FnOnce(&mut BufWriter<Sink>) -> Result<()>) -> Result<()> {
    written(OpenOptions::new().write(true).open(path)?, write).map(drop)
}

fn beside(
    path: &Path,
    old: Option<&Metadata>,
    write: impl FnOnce(&mut BufWriter<Sink>) -> Result<()>,
) -> Result<()> {
    sweep(path);
    let temporary = temporary_beside(path);
    let open = Open::new(temporary.clone());
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    if let Some(old) = old {
        keep_rights(&file, old)?;
    }
    let file = written(file, write)?;
    meet(Fault::Write)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, path)?;
    open.renamed();
    // Makes the rename itself last. Some systems cannot open folders: then it cannot be done.
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The mode of the file that is replaced, and its owner where this process may give files away.
fn keep_rights(file: &File, old: &Metadata) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    Ok(file.set_permissions(old.permissions())?)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file that is removed unless it was renamed.
struct Open(PathBuf);

impl Open {
    fn new(path: PathBuf) -> Open {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Open(path)
    }

    fn renamed(&self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).retain(|open| *open != self.0);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains(&self.0) {
            open.retain(|path| *path != self.0);
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// Removes all temporary files that are being written: for a process that is about to end.
pub fn remove_temporaries() {
    for path in OPEN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = std::fs::remove_file(path);
    }
}

/// A name in the same folder that no other process and no other call uses.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{}{}-{count}.tmp", prefix(path), std::process::id()))
}

/// How the names of temporary files of a path begin.
fn prefix(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    format!(".{}.", name.unwrap_or_default())
}

/// Removes temporary files of this path whose processes are gone.
pub fn sweep(path: &Path) {
    let prefix = prefix(path);
    for entry in std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name
            .strip_prefix(&prefix)
            .and_then(|rest| rest.strip_suffix(".tmp"))
            .and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(|process| process != std::process::id() && is_gone(process)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether no process has this number; false where that cannot be known.
fn is_gone(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::fail_at;

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn saving_replaces_the_old_file_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.learnt");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), 1);
        assert!(write_atomically(&folder.path().join("no/m.learnt"), b"x").is_err());
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.learnt");
        write_atomically(&path, b"old").unwrap();
        let long = vec![7; 3 * BUFFER];
        for n in 0.. {
            let (saved, met) = fail_at(Fault::Write, n, || write_atomically(&path, &long));
            assert_eq!(saved.is_err(), met);
            assert_eq!(names(folder.path()), 1);
            if !met {
                assert!(n > 1, "no write was made to fail");
                break;
            }
            assert_eq!(std::fs::read(&path).unwrap(), b"old", "write {n}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), long);
    }

    #[test]
    fn files_left_by_processes_that_died_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.learnt");
        let dead = folder.path().join(".m.learnt.4294967294-0.tmp");
        let other = folder.path().join(".n.learnt.4294967294-0.tmp");
        std::fs::write(&dead, b"half").unwrap();
        std::fs::write(&other, b"half").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert!(!dead.exists() || !Path::new("/proc/self").exists());
        assert!(other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_modes_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&file, b"old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink("real", &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        symlink(&two, &one).unwrap();
        symlink(&one, &two).unwrap();
        assert!(write_atomically(&one, b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_through() {
        use std::os::unix::fs::FileTypeExt;
        let null = Path::new("/dev/null");
        write_atomically(null, b"gone").unwrap();
        assert!(std::fs::metadata(null).unwrap().file_type().is_char_device());
        if Path::new("/dev/full").exists() {
            assert!(write_atomically(Path::new("/dev/full"), b"x").is_err());
        }
    }
}
