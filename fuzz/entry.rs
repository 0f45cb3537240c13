//! What fuzzers call, and what the tests call with damaged copies of the corpus: every reader of bytes
//! from outside. Bytes are read or refused, within 64 MB; what was read is written and read again.

#![allow(dead_code, reason = "every target calls one of these")]

use learnt::context::Context;
use learnt::data::{Frame, Matrix};
use learnt::params::Value;
use learnt::prepare::{Formula, Side};
use learnt_io::{Format, Loaded, Ragged, ReadOptions, WriteOptions, read_bytes, write_to};

/// What takes bytes from outside.
pub(crate) type Entry = fn(&[u8]);

/// The entry points by name: those of the targets, and of the folders of the corpus.
pub(crate) const ALL: &[(&str, Entry)] = &[
    ("csv", csv),
    ("tsv", tsv),
    ("ndjson", ndjson),
    ("arff", arff),
    ("libsvm", libsvm),
    ("parquet", parquet),
    ("arrow", arrow),
    ("model", model),
    ("formula", formula),
    ("value", value),
];

pub(crate) fn csv(bytes: &[u8]) {
    table(Format::Csv, bytes);
}
pub(crate) fn tsv(bytes: &[u8]) {
    table(Format::Tsv, bytes);
}
pub(crate) fn ndjson(bytes: &[u8]) {
    table(Format::Ndjson, bytes);
}
pub(crate) fn arff(bytes: &[u8]) {
    table(Format::Arff, bytes);
}
pub(crate) fn libsvm(bytes: &[u8]) {
    table(Format::Libsvm, bytes);
}
pub(crate) fn parquet(bytes: &[u8]) {
    table(Format::Parquet, bytes);
}
pub(crate) fn arrow(bytes: &[u8]) {
    table(Format::Arrow, bytes);
}

fn run() -> Context<'static> {
    Context::default().with_threads(1)
}

fn options(format: Format, ragged: Ragged) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        ragged,
        max_input: 64 << 20,
        max_features: 10_000,
        allow_empty: true,
        ..ReadOptions::default()
    }
}

fn table(format: Format, bytes: &[u8]) {
    for ragged in [Ragged::Error, Ragged::Skip] {
        if let Ok(loaded) = read_bytes("fuzz", bytes, &options(format, ragged), &run()) {
            comes_back(&loaded);
        }
    }
}

/// A table that was read can be written as CSV, and is the same when it is read again.
fn comes_back(loaded: &Loaded) {
    let (table, mut bytes) = (&loaded.table, Vec::new());
    let frame = table.frame();
    write_to(&mut bytes, &frame, Format::Csv, &WriteOptions::default())
        .expect("a table that was read cannot be written");
    let mut options = options(Format::Csv, Ragged::Error);
    options.header = learnt_io::Header::Yes;
    options.delimiter = Some(b',');
    for column in table.schema().columns() {
        let rule = if column.levels().is_some() { "cat" } else { "num" };
        let rule = learnt_io::TypeRule::parse(rule).expect("a rule that is known");
        options.types.push((column.name.clone(), rule));
    }
    // Names that CSV trims or that hold NUL are refused or changed by its own rules.
    let plain = |text: &str| text == text.trim() && !text.contains(['\0', '\r', '\u{feff}']);
    let texts = table.schema().columns().iter().flat_map(|column| column.levels().unwrap_or(&[]));
    let names = table.schema().names().all(|name| plain(name) && !name.is_empty());
    if !names || !texts.into_iter().all(|level| !level.contains('\0')) {
        return;
    }
    let again = read_bytes("again", &bytes, &options, &run())
        .unwrap_or_else(|error| panic!("what was written cannot be read: {error}"));
    assert_eq!(again.table.values().nrows(), frame.nrows(), "rows were lost");
    same(&frame, &again.table.frame());
}

fn same(a: &Frame, b: &Frame) {
    let text = |frame: &Frame, i: usize, j: usize| {
        let value = frame.values().at(i, j);
        match frame.schema().column(j).levels() {
            _ if value.is_nan() => None,
            Some(levels) => levels.get(value as usize).cloned(),
            None => Some(value.to_bits().to_string()),
        }
    };
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            assert_eq!(text(a, i, j), text(b, i, j), "row {i}, column {j}");
        }
    }
}

/// A model file as it is, and with its checksum made right, so that what is behind it is reached.
pub(crate) fn model(bytes: &[u8]) {
    loaded(bytes);
    if bytes.len() > 32 {
        use sha2::Digest;
        let body = &bytes[..bytes.len() - 32];
        loaded(&[body, &sha2::Sha256::digest(body)[..]].concat());
    }
}

fn loaded(bytes: &[u8]) {
    let Ok(trained) = learnt::from_bytes(bytes) else { return };
    let width = trained.history.schema.len();
    if width < 1000 {
        let rows = Matrix::zeros(2, width);
        if let Ok(frame) = Frame::new(rows.view(), &trained.history.schema) {
            let _ = trained.predict(&frame, &run());
        }
        let _ = trained.report();
    }
    let _ = trained.verify();
}

pub(crate) fn formula(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(side) = Side::split(text) {
        let schema = learnt::data::Schema::unnamed(4);
        let _ = Formula::parse(side.terms, &schema);
    }
}

/// A value as it is typed after a flag.
pub(crate) fn value(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let value = Value::parse(text);
    let _ = value.to_json().to_string();
}
