//! How much memory there is, and how much this process holds.
//!
//! A run has a budget: `--max-memory`, or what the machine and its control group have left less a margin.
//! Whatever grows with data or parameters is claimed from it before it is taken ([`Context::claim`]).
//! What the process holds is measured, so claims add up without anybody returning them: memory in use is
//! the larger of the resident set and the claims that are still held ([`Context::hold`]).
//!
//! [`Context::claim`]: crate::context::Context::claim
//! [`Context::hold`]: crate::context::Context::hold

use crate::error::{Code, Error, Result};
use crate::faults::{Fault, meet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Claims of fewer bytes than this are not worth a look at the system.
const SMALL: u64 = 256 << 10;
/// The share of what is free that is left to others.
const MARGIN: u64 = 10;

/// Bytes of the claims that are still held.
static HELD: AtomicU64 = AtomicU64::new(0);

/// Memory that was claimed and is counted until this is dropped.
#[derive(Debug)]
#[must_use = "the claim ends when this is dropped"]
pub struct Held(u64);

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Whether `bytes` more can be had, within a limit or within what the system has.
pub(crate) fn claim(limit: Option<u64>, bytes: u64, what: &str) -> Result<()> {
    meet(Fault::Memory).map_err(|_| refused(bytes, 0, limit, what))?;
    if is_little(limit, bytes) {
        return Ok(());
    }
    let free = room(limit);
    match bytes <= free {
        true => Ok(()),
        false => Err(refused(bytes, free, limit, what)),
    }
}

/// The same for what can be done without: nothing fails.
pub(crate) fn has_room(limit: Option<u64>, bytes: u64) -> bool {
    is_little(limit, bytes) || bytes <= room(limit)
}

/// Whether it is not worth a look at what is free.
fn is_little(limit: Option<u64>, bytes: u64) -> bool {
    bytes < SMALL && limit.is_none_or(|limit| bytes < limit / 100)
}

/// What can be claimed now, within a limit or within what the system has.
pub(crate) fn room(limit: Option<u64>) -> u64 {
    match limit {
        Some(limit) => limit.saturating_sub(in_use()),
        None => available().map_or(u64::MAX, |free| free - free / MARGIN),
    }
}

/// The same, counted until it is dropped.
pub(crate) fn hold(limit: Option<u64>, bytes: u64, what: &str) -> Result<Held> {
    claim(limit, bytes, what)?;
    HELD.fetch_add(bytes, Ordering::Relaxed);
    Ok(Held(bytes))
}

fn refused(bytes: u64, free: u64, limit: Option<u64>, what: &str) -> Error {
    let needed = size(bytes);
    let message = match limit {
        Some(limit) => format!(
            "{what} needs about {needed}; the limit is {}, of which {} are left",
            size(limit),
            size(free)
        ),
        None => format!("{what} needs about {needed}, and {} are free", size(free)),
    };
    let hint = match limit {
        Some(_) => "raise --max-memory, or use fewer rows, columns or categories",
        None => "use fewer rows, columns or categories, or a machine with more memory",
    };
    Error::new(Code::Memory, message).hint(hint)
}

/// Bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 10_000_000_000 => format!("{} GB", b.div_ceil(1_000_000_000)),
        b => format!("{} MB", b.div_ceil(1_000_000)),
    }
}

/// What this process holds: its resident set, or what is claimed and held where that is more.
pub fn in_use() -> u64 {
    resident().unwrap_or(0).max(HELD.load(Ordering::Relaxed))
}

/// The resident set of this process; `None` where the system does not say it.
pub fn resident() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// What can still be had: free memory of the machine or of the control group, whichever is less.
pub fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| kilobytes(&text, "MemAvailable:"));
    match (machine, group_left()) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The value of a line such as `VmRSS:   1234 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// What the control group of this process has left, over all groups around it.
fn group_left() -> Option<u64> {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let folders = FOLDERS.get_or_init(group_folders);
    folders.iter().filter_map(|folder| left_in(folder)).min()
}

/// Folders of control groups that limit the memory of this process.
fn group_folders() -> Vec<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut folders = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next(), parts.next(), parts.next());
        let root = match controllers {
            Some("") => "/sys/fs/cgroup",
            Some(list) if list.split(',').any(|name| name == "memory") => "/sys/fs/cgroup/memory",
            _ => continue,
        };
        let path = path.unwrap_or_default().trim_start_matches('/');
        // Inside a container the path may be that of the host: the mounted root is then the group.
        let around = Path::new(path).ancestors().map(|inner| Path::new(root).join(inner));
        folders.extend(around.filter(|folder| left_in(folder).is_some()));
    }
    folders
}

/// The limit less what is used, not counting the files that the system may forget.
fn left_in(folder: &Path) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let statistics = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = statistics.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        matches!(name, "inactive_file" | "total_inactive_file").then(|| value.parse().ok())?
    });
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_what_the_process_holds_and_what_is_held_for_it() {
        if let Some(resident) = resident() {
            assert!(claim(Some(resident / 2), 1 << 20, "a table").is_err());
            assert!(claim(Some(resident + (256 << 20)), 1 << 20, "a table").is_ok());
        }
        let limit = Some(1 << 40);
        let first = hold(limit, 1 << 39, "half").unwrap();
        let second = hold(limit, 1 << 39, "the other half").unwrap();
        assert_eq!(hold(limit, 1 << 34, "a bit more").unwrap_err().code(), Code::Memory);
        drop((first, second));
        assert!(claim(limit, 1 << 39, "half").is_ok());
    }

    #[test]
    fn nobody_is_given_more_than_the_machine_has() {
        let Some(free) = available() else { return };
        assert!(free > 0);
        let error = claim(None, 1 << 60, "a table of 2^57 numbers").unwrap_err();
        assert_eq!(error.code(), Code::Memory);
        assert!(error.message().contains("2^57"), "{error}");
    }

    #[test]
    fn lines_of_the_system_are_read_in_bytes() {
        assert_eq!(kilobytes("VmRSS:\t  12 kB\n", "VmRSS:"), Some(12 << 10));
        assert_eq!(kilobytes("VmRSS: x kB", "VmRSS:"), None);
    }
}
