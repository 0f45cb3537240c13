//! Rules of the readers that are easy to get wrong in silence: empty lines, carriage returns, numbers that
//! mean missing, digits, checksums, and reads that fail.

use learnt_core::context::Context;
use learnt_core::error::Code;
use learnt_core::faults::{Fault, fail_at};
use learnt_io::{
    Format, Loaded, ReadOptions, TypeRule, WriteOptions, read, read_bytes, write, write_to,
};
use std::path::{Path, PathBuf};

fn csv(text: &str) -> learnt_core::error::Result<Loaded> {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    read_bytes("t.csv", text.as_bytes(), &options, &Context::default())
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/data").join(name)
}

#[test]
fn an_empty_line_is_a_row_of_one_column_and_nothing_in_wider_tables() {
    let loaded = csv("x\n1\n\n3\n\r\n5\n").unwrap();
    let values = loaded.table.values().as_slice().to_vec();
    assert_eq!(values.len(), 5);
    assert!(values[1].is_nan() && values[3].is_nan() && values[4] == 5.0);
    assert_eq!((loaded.report.empty, loaded.report.blank), (2, 0));
    assert!(loaded.report.notes.iter().any(|note| note.contains("2 empty lines are rows")));

    for (text, blank) in [("\n\r\nx,y\n1,2\n", 2), ("\nx\n1\n", 1), ("x\n1\n", 0)] {
        let loaded = csv(text).unwrap();
        assert_eq!((loaded.table.values().nrows(), loaded.report.blank), (1, blank), "{text:?}");
    }
    let wide = csv("x,y\n1,2\n\n3,4\n\n\n").unwrap();
    assert_eq!((wide.table.values().nrows(), wide.report.blank), (2, 3));
    assert!(wide.report.notes.iter().any(|note| note.contains("3 empty lines were skipped")));
}

#[test]
fn empty_lines_at_the_end_of_one_column_are_no_rows_and_are_counted() {
    for (text, rows, blank) in [
        ("x\n1\n2\n", 2, 0),
        ("x\n1\n2", 2, 0),
        ("x\n1\n2\n\n\n", 2, 2),
        ("x\r\n1\r\n\r\n2\r\n\r\n", 3, 1),
        ("x\n1\n\"\"\n", 2, 0),
    ] {
        let loaded = csv(text).unwrap();
        let found = (loaded.table.values().nrows(), loaded.report.blank);
        assert_eq!(found, (rows, blank), "{text:?}");
    }
    let long = format!("x\n1\n{}", "\n".repeat(200_000));
    let loaded = csv(&long).unwrap();
    assert_eq!((loaded.table.values().nrows(), loaded.report.blank), (1, 200_000));
    let inside = format!("x\n1\n{}2\n", "\n".repeat(2_200_000));
    assert_eq!(csv(&inside).unwrap().table.values().nrows(), 2_200_002);
}

#[test]
fn a_carriage_return_that_ends_no_line_is_named_with_its_line() {
    for (text, line) in [
        ("a,b\n1,2\n3,x\ry\n", 3),
        ("a,b\n1,2\r3,4\n", 2),
        ("a\rb,c\n1,2\n", 1),
        ("x\n1\n2\r3\n", 3),
    ] {
        let error = csv(text).unwrap_err();
        assert_eq!(error.code(), Code::Parse, "{text:?}: {error}");
        assert_eq!(error.row_number(), Some(line), "{text:?}: {error}");
        assert!(error.message().contains("carriage return"), "{error}");
    }
    let quoted = csv("a,b\n1,\"x\ry\"\n2,z\n").unwrap();
    assert_eq!(quoted.table.schema().column(1).levels().unwrap(), ["x\ry", "z"]);
    assert!(csv("a,b\r1,2\r3,4\r").unwrap_err().message().contains("carriage returns alone"));
}

#[test]
fn flipped_pages_are_refused_where_the_file_has_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let bytes = std::fs::read(golden("checksums.parquet")).unwrap();
    let run = Context::default().with_threads(1);
    let options = ReadOptions::default();
    let whole = read(golden("checksums.parquet"), &options, &run).unwrap().table;
    // Beside pages there are their headers and the footer, which have no checksums of their own.
    let (mut wrong, mut refused) = (0, 0);
    for at in (4..bytes.len() - 8).step_by(3) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        std::fs::write(&path, &flipped).unwrap();
        match read(&path, &options, &run) {
            Ok(loaded) => wrong += usize::from(loaded.table.values() != whole.values()),
            Err(_) => refused += 1,
        }
    }
    assert_eq!(wrong, 0, "flipped bytes gave another table");
    assert!(refused > 100, "only {refused} were refused");
}

#[test]
fn no_flipped_bit_of_a_file_with_checksums_gives_another_table() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/parquet/checked.parquet");
    let bytes = std::fs::read(place).unwrap();
    let (run, options) = (Context::default().with_threads(1), ReadOptions::default());
    let found = |bytes: &[u8]| {
        let table = read_bytes("t.parquet", bytes, &options, &run).ok()?.table;
        let bits: Vec<u64> = table.values().as_slice().iter().map(|v| v.to_bits()).collect();
        Some((bits, table.schema().columns().to_vec()))
    };
    let whole = found(&bytes);
    assert!(whole.is_some());
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let got = found(&flipped);
        assert!(got.is_none() || got == whole, "bit {} of byte {}: {got:?}", bit % 8, bit / 8);
    }
}

#[test]
fn numbers_that_are_asked_for_as_texts_keep_every_digit() {
    for (file, name, levels) in [
        (
            "ids.parquet",
            "signed",
            &["-4611686018427387905", "9007199254740992", "9007199254740993"][..],
        ),
        ("ids.parquet", "unsigned", &["18446744073709551614", "18446744073709551615", "7"]),
        (
            "decimals.parquet",
            "d",
            &["0.1", "1.25", "123456789012345.67", "12345678901234567890.12", "9007199254740993"],
        ),
    ] {
        let types = vec![(name.to_string(), TypeRule::Categorical)];
        let options = ReadOptions { types, ..ReadOptions::default() };
        let loaded = read(golden(file), &options, &Context::default()).unwrap();
        let column = loaded.table.schema().columns().iter().find(|column| column.name == name);
        assert_eq!(column.unwrap().levels().unwrap(), levels);
        let account = loaded.report.columns.iter().find(|column| column.name == name).unwrap();
        assert_eq!(account.rounded, 0);
    }
}

#[test]
fn decimals_that_lose_digits_are_counted() {
    let loaded = read(golden("decimals.parquet"), &ReadOptions::default(), &Context::default());
    let loaded = loaded.unwrap();
    assert_eq!(loaded.report.columns[0].rounded, 2);
    assert!(loaded.report.notes.iter().any(|note| note.contains("2 numbers beyond 2^53")));
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    let error = read(golden("decimals.parquet"), &strict, &Context::default()).unwrap_err();
    assert_eq!(error.code(), Code::Parse);
}

#[test]
fn a_packing_that_is_not_read_is_named_and_not_called_damage() {
    let error = read(golden("brotli.parquet"), &ReadOptions::default(), &Context::default());
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::Unsupported, "{error}");
    assert!(error.message().contains("Brotli"), "{error}");
}

#[test]
fn texts_with_line_ends_come_back_from_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let first = csv("c,y\n\"a\nb\",1\n\"c\td'\\\",2\nplain,3\n").unwrap();
    for name in ["t.csv", "t.arff", "t.ndjson", "t.parquet", "t.arrow", "t.tsv"] {
        let path = folder.path().join(name);
        write(&path, &first.table.frame(), &WriteOptions::default()).unwrap();
        let again = read(&path, &ReadOptions::default(), &Context::default()).unwrap();
        let levels = |loaded: &Loaded| loaded.table.schema().column(0).levels().unwrap().to_vec();
        assert_eq!(levels(&first), levels(&again), "{name}");
    }
}

/// Whichever read fails, a reader says so; it never gives a table that lacks something.
#[test]
fn every_read_that_fails_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let table = csv("a,c\n1,x\n2,y\n,x\n4,z\n").unwrap().table;
    let run = Context::default().with_threads(1);
    for name in ["t.csv", "t.csv.gz", "t.csv.zst", "t.ndjson", "t.arff", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write(&path, &table.frame(), &WriteOptions::default()).unwrap();
        let mut failed = 0;
        for n in 0..10_000 {
            let (outcome, met) =
                fail_at(Fault::Read, n, || read(&path, &ReadOptions::default(), &run));
            if !met {
                assert_eq!(outcome.unwrap().table.values().nrows(), 4, "{name}");
                break;
            }
            assert!(outcome.is_err(), "{name}: read {n} failed in silence");
            failed += 1;
        }
        assert!(failed > 0, "{name}: no read was made to fail");
    }
}

/// Whichever write fails, the old file stays.
#[test]
fn every_write_that_fails_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let table = csv("a,c\n1,x\n2,y\n,x\n4,z\n").unwrap().table;
    for name in ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "old").unwrap();
        for n in 0.. {
            let (written, met) =
                fail_at(Fault::Write, n, || write(&path, &table.frame(), &WriteOptions::default()));
            assert_eq!(written.is_err(), met, "{name}: write {n}");
            if !met {
                break;
            }
            assert_eq!(std::fs::read(&path).unwrap(), b"old", "{name}: write {n}");
        }
        assert_ne!(std::fs::read(&path).unwrap(), b"old");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
    let mut nowhere = Vec::new();
    write_to(&mut nowhere, &table.frame(), Format::Csv, &WriteOptions::default()).unwrap();
}
