//! Thousands of damaged files: every one is read or refused, none brings the process down.

use learnt_core::context::Context;
use learnt_core::data::{Column, Matrix, Schema, Table};
use learnt_io::{
    ColumnRoles, Format, Ragged, ReadOptions, TargetTask, WriteOptions, open_stream, read, write_to,
};

/// A small generator, so that failures can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }
}

fn table() -> Table {
    let levels = ["a b", "it's", "q\"x", "x,y", "é"].map(String::from).to_vec();
    let columns =
        vec![Column::numeric("x"), Column::categorical("c", levels), Column::numeric("y")];
    let values = Matrix::from_fn(40, 3, |i, j| match j {
        0 if i % 9 == 3 => f64::NAN,
        1 => (i % 5) as f64,
        _ => i as f64 / 7.0 - 3.0,
    });
    Table::new(values, Schema::new(columns).unwrap()).unwrap()
}

fn numbers() -> Table {
    Table::unnamed(Matrix::from_fn(20, 4, |i, j| if i % 3 == j { 0.0 } else { (i + j) as f64 }))
}

fn damage(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    const TRICKS: &[&[u8]] = &[
        b"\"",
        b"\n",
        b"\r\n",
        b",",
        b";",
        b"\0",
        b"{",
        b"}",
        b"[[[[[[",
        b":",
        b"?",
        b"NA",
        b"\xff",
        b"1e999",
        b"-0",
        b"99999999999999999999",
        b"%",
        b"@data\n",
        b"'",
        b"\\",
        b"\xef\xbb\xbf",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x80",
        b"\xff\xff\xff\x7f",
    ];
    let mut bytes = seed.to_vec();
    for _ in 0..1 + dice.roll(4) {
        let at = dice.roll(bytes.len() + 1);
        match dice.roll(7) {
            0 if at < bytes.len() => bytes[at] = dice.roll(256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << dice.roll(8),
            2 => bytes.truncate(at),
            3 => {
                let trick = TRICKS[dice.roll(TRICKS.len())];
                bytes.splice(at..at, trick.iter().copied());
            }
            4 => {
                let end = (at + dice.roll(20)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            5 => {
                let end = (at + dice.roll(60)).min(bytes.len());
                let copy = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                let trick = TRICKS[dice.roll(TRICKS.len())];
                let end = (at + trick.len()).min(bytes.len());
                bytes.splice(at.min(end)..end, trick.iter().copied());
            }
        }
    }
    bytes
}

fn survive(format: Format, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let table = if format == Format::Libsvm { numbers() } else { table() };
    let mut seed = Vec::new();
    write_to(&mut seed, &table.frame(), format, &WriteOptions::default()).unwrap();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ format as u64);
    let run = Context::default().with_threads(1);
    let mut options =
        ReadOptions { format: Some(format), max_input: 1 << 28, ..ReadOptions::default() };
    let mut read_well = 0;
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for round in 0..rounds {
        let bytes = damage(&seed, &mut dice);
        std::fs::write(&path, &bytes).unwrap();
        options.ragged = if round % 2 == 0 { Ragged::Error } else { Ragged::Skip };
        options.dedupe_names = round % 3 == 0;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let targets = [table.schema().column(0).name.clone()];
            let roles = ColumnRoles {
                targets: &targets,
                task: Some(TargetTask::Regress),
                ..ColumnRoles::default()
            };
            if round % 8 == 0 {
                let _ = open_stream(&path, &options, &roles, &run);
            }
            read(&path, &options, &run).is_ok()
        }));
        match result {
            Ok(good) => read_well += usize::from(good),
            Err(_) => {
                std::panic::set_hook(quiet);
                panic!("{} panicked in round {round}: {bytes:?}", format.name());
            }
        }
    }
    std::panic::set_hook(quiet);
    assert!(read_well > 0 && read_well < rounds, "{}: {read_well} of {rounds}", format.name());
}

#[test]
fn damaged_files_are_read_or_refused() {
    for &format in Format::ALL {
        survive(format, if format == Format::Parquet { 600 } else { 1500 });
    }
}

#[test]
fn every_truncation_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let run = Context::default().with_threads(1);
    for &format in &[Format::Parquet, Format::Arrow, Format::Arff] {
        let mut seed = Vec::new();
        write_to(&mut seed, &table().frame(), format, &WriteOptions::default()).unwrap();
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        for end in 0..seed.len() {
            std::fs::write(&path, &seed[..end]).unwrap();
            let refused = read(&path, &options, &run).is_err();
            assert!(refused || format != Format::Parquet, "{} cut at {end}", format.name());
        }
    }
}
