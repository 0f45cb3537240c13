//! A short, seeded run of the fuzz targets from their corpus; `fuzz/` runs them for as long as you like, and so
//! does this with `LEARNT_FUZZ_ROUNDS` copies of each file and `LEARNT_FUZZ_SEED`, without a nightly compiler.

#[path = "../../../../fuzz/entry.rs"]
mod entry;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Damaged copies of each file of the corpus.
const ROUNDS: u64 = 150;

/// A number from the environment.
fn told(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A small generator, so that failures can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

fn damaged(seed: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.roll(5) {
        let at = dice.roll(bytes.len() + 1);
        let end = (at + dice.roll(40)).min(bytes.len());
        match dice.roll(6) {
            0 if at < bytes.len() => bytes[at] = dice.roll(256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << dice.roll(8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let from = dice.roll(other.len() + 1);
                let to = (from + dice.roll(60)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            _ => bytes
                .splice(at..end, [b'\r', b'\n', b'"', 0xff, b'9'][..dice.roll(6)].iter().copied())
                .for_each(drop),
        }
    }
    bytes
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("fuzz/corpus").join(name)];
    if name == "model" {
        folders.push(root.join("tests/golden/models"));
    }
    let listed = |folder| std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = folders.into_iter().flat_map(listed).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn every_reader_survives_damaged_copies_of_the_corpus() {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut failures = Vec::new();
    for (name, entry) in entry::ALL {
        let seeds = corpus(name);
        assert!(!seeds.is_empty(), "no corpus for {name}");
        let seed = told("LEARNT_FUZZ_SEED").unwrap_or_default();
        let mut dice = Dice(name.len() as u64 + (seed << 8));
        for (k, seed) in seeds.iter().enumerate() {
            let rounds = told("LEARNT_FUZZ_ROUNDS").unwrap_or(ROUNDS);
            let rounds = if *name == "model" { rounds / 12 } else { rounds };
            for round in 0..=rounds {
                let other = &seeds[(k + 1) % seeds.len()];
                let bytes = if round == 0 { seed.clone() } else { damaged(seed, other, &mut dice) };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| entry(&bytes))) {
                    let why = panic
                        .downcast_ref::<String>()
                        .cloned()
                        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                    let shown: String = String::from_utf8_lossy(&bytes).chars().take(400).collect();
                    failures.push(format!("{name}, file {k}, round {round}: {why:?}\n{shown:?}"));
                }
            }
        }
    }
    std::panic::set_hook(quiet);
    let _ = std::fs::remove_dir_all(entry::temporaries());
    let (count, shown) = (failures.len(), &failures[..failures.len().min(12)]);
    assert!(failures.is_empty(), "{count} failures, of which\n{}", shown.join("\n"));
}

/// Entry points, targets of the fuzzer, their declarations and the folders of the corpus go by the same names.
#[test]
fn every_entry_point_has_a_target_and_a_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let listed = |folder: &str| {
        let files = std::fs::read_dir(root.join(folder)).unwrap().flatten();
        let stem =
            |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_string();
        files.map(|file| stem(file.path())).collect::<std::collections::BTreeSet<String>>()
    };
    let names = entry::ALL.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(listed("fuzz_targets"), names);
    for (name, _) in entry::ALL {
        let bin = format!("[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&bin), "{name}");
        let target = root.join("fuzz_targets").join(name).with_extension("rs");
        let target = std::fs::read_to_string(target).unwrap();
        assert!(target.contains(&format!("entry::{name}(bytes)")), "{name}");
        assert!(!corpus(name).is_empty(), "{name}");
    }
    assert!(listed("corpus").is_subset(&names));
    assert!(root.join("Cargo.lock").exists());
}
