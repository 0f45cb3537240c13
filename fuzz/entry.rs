//! What fuzzers call, and what the tests call with damaged copies of the corpus: every reader of bytes
//! from outside. Bytes are read or refused, within 64 MB; what was read is written and read again.

#![allow(dead_code, reason = "every target calls one of these")]

use learnt::context::Context;
use learnt::data::{Frame, Matrix};
use learnt::params::{LearnerSpec, Value};
use learnt::prepare::{Formula, Side};
use learnt::rounds::Source;
use learnt_io::{
    ColumnRoles, Format, Loaded, Ragged, ReadOptions, WriteOptions, open_stream, open_stream_bytes,
    read, read_bytes, write_to,
};
use learnt_jobs::{Job, Settings, plan};
use std::path::PathBuf;
use std::sync::OnceLock;

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
    ("packed", packed),
    ("stream", stream),
    ("model", model),
    ("job", job),
    ("formula", formula),
    ("value", value),
];

pub(crate) fn csv(bytes: &[u8]) {
    table(Format::Csv, bytes);
}
pub(crate) fn tsv(bytes: &[u8]) {
    table(Format::Tsv, bytes);
    stream_of(Format::Tsv, bytes);
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
    stream_of(Format::Parquet, bytes);
}
pub(crate) fn arrow(bytes: &[u8]) {
    table(Format::Arrow, bytes);
    stream_of(Format::Arrow, bytes);
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

/// A file of this process.
fn place(name: &str) -> PathBuf {
    let folder = temporaries();
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder.join(name)
}

/// Where files of this process are.
pub(crate) fn temporaries() -> PathBuf {
    std::env::temp_dir().join(format!("learnt-fuzz-{}", std::process::id()))
}

/// A packed CSV file (gzip, zstd), by its first bytes.
pub(crate) fn packed(bytes: &[u8]) {
    let path = place("table");
    std::fs::write(&path, bytes).expect("a temporary file");
    if let Ok(loaded) = read(&path, &options(Format::Csv, Ragged::Error), &run()) {
        comes_back(&loaded);
    }
}

pub(crate) fn stream(bytes: &[u8]) {
    stream_of(Format::Csv, bytes);
}

/// Block by block: where the stream and the table in memory are both read, they are the same.
fn stream_of(format: Format, bytes: &[u8]) {
    let options = options(format, Ragged::Error);
    let roles = ColumnRoles::default();
    let Ok(source) = open_stream_bytes("fuzz", bytes, &options, &roles, &run()) else { return };
    let mut parts = Vec::new();
    for index in 0..source.blocks() {
        let gone = source.with(index, &mut |block| {
            parts.push(block.data.x.to_table());
            Ok(())
        });
        if gone.is_err() {
            return;
        }
    }
    let Ok(whole) = read_bytes("fuzz", bytes, &options, &run()) else { return };
    let (frame, mut first) = (whole.table.frame(), 0);
    for part in &parts {
        let rows = part.values().nrows();
        assert!(first + rows <= frame.nrows(), "the stream has more rows");
        same(&frame.rows(first, first + rows), &part.frame());
        first += rows;
    }
    assert_eq!(first, frame.nrows(), "the stream has fewer rows");
}

/// A model file as it is, and with its checksum made right, so that what is behind it is reached.
pub(crate) fn model(bytes: &[u8]) {
    loaded(bytes);
    if let Some(right) = summed(bytes) {
        loaded(&right);
    }
}

/// The bytes with the checksum at their end made right.
fn summed(bytes: &[u8]) -> Option<Vec<u8>> {
    use sha2::Digest;
    let body = bytes.get(..bytes.len().checked_sub(32)?)?;
    Some([body, &sha2::Sha256::digest(body)[..]].concat())
}

/// The messages of a fit as a job, which name the build that made them and so cannot be kept in a file: the plan,
/// a state, a task, its answer and what tasks know of the state. The bytes are changes to one of them: its number, then place, place, mask.
pub(crate) fn job(bytes: &[u8]) {
    static MESSAGES: OnceLock<[Vec<u8>; 5]> = OnceLock::new();
    let (&which, changes) = bytes.split_first().unwrap_or((&0, &[]));
    let mut forged = MESSAGES.get_or_init(messages).clone();
    let message = &mut forged[usize::from(which % 5)];
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % message.len();
        message[at] ^= change[2];
    }
    if which < 128 {
        *message = summed(message).expect("a message has a checksum");
    }
    let [plan, state, task, answer, told] = &forged;
    let Ok(job) = Job::open(plan) else { return };
    let _ = job.answer(told, task, &run());
    let _ = job.read(state).and_then(|state| job.advance(state, &[answer], &run()));
    let _ = job.facts().to_string();
}

fn messages() -> [Vec<u8>; 5] {
    let path = place("job.csv");
    let row = |i: usize| format!("{},{},{}\n", i % 7, (i * i) % 11, ["no", "yes"][i % 2]);
    let rows: String = (0..40).map(row).collect();
    std::fs::write(&path, format!("a,b,y\n{rows}")).expect("a temporary file");
    let targets = ["y".to_string()];
    let roles = ColumnRoles { targets: &targets, ..ColumnRoles::default() };
    // Files of a job are told by their digests.
    let options = ReadOptions { digest: true, ..options(Format::Csv, Ragged::Error) };
    let source = open_stream(&path, &options, &roles, &run());
    let spec = LearnerSpec { learner: "logistic".into(), params: Vec::new() };
    let learner = learnt::build(&spec).expect("a learner");
    let settings = Settings { targets: targets.to_vec(), ..Settings::default() };
    let plan = plan(learner.as_ref(), &source.expect("a table"), &settings).expect("a plan");
    let job = Job::open(&plan).expect("a job");
    let state = job.begin(&run()).expect("a state");
    let told = job.for_tasks(&state).expect("what tasks know");
    let task = job.tasks(1, 1).expect("tasks").remove(0);
    let answer = job.answer(&told, &task, &run()).expect("an answer");
    [plan, job.to_bytes(&state).expect("bytes of a state"), task, answer, told]
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
