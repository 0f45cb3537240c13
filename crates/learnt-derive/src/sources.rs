//! A word for the sources that a build is compiled from.

use std::path::{Path, PathBuf};

/// The digest of the sources of crates that stand beside the calling one, and of the versions of all
/// dependencies; nothing where they are not there, as in a crate from a registry, whose version says it.
pub(crate) fn digest(crates: &str) -> String {
    let Some(home) = std::env::var_os("CARGO_MANIFEST_DIR") else { return String::new() };
    let Some(beside) = Path::new(&home).parent().map(Path::to_path_buf) else {
        return String::new();
    };
    let mut files = vec![beside.join("../Cargo.lock")];
    for name in crates.split_whitespace() {
        let folder = beside.join(name);
        files.push(folder.join("Cargo.toml"));
        walk(&folder.join("src"), &mut files);
    }
    let mut sum = Sum::default();
    for file in files {
        let Ok(bytes) = std::fs::read(&file) else { return String::new() };
        let name = file.strip_prefix(&beside).unwrap_or(&file).to_string_lossy().into_owned();
        sum.add(name.as_bytes());
        sum.add(&bytes);
    }
    format!("{:016x}{:016x}", sum.0, sum.1)
}

/// The files below a folder, in order.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        match entry.is_dir() {
            true => walk(&entry, files),
            false => files.push(entry),
        }
    }
}

/// Two sums of 64 bits by the method of Fowler, Noll and Vo, from different starts.
struct Sum(u64, u64);

impl Default for Sum {
    fn default() -> Self {
        Sum(0xcbf2_9ce4_8422_2325, 0x9ae1_6a3b_2f90_404f)
    }
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
            self.1 = (self.1.rotate_left(5) ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
}
