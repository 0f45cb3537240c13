//! What is written is read again, in every format; streams give the same bits as whole tables.

use learnt_core::context::Context;
use learnt_core::data::{Column, Matrix, Schema, Table};
use learnt_core::rounds::{InMemory, Source, block_rows};
use learnt_io::{
    ColumnRoles, Format, ReadOptions, TargetTask, WriteOptions, open_stream, read, to_dataset,
    write,
};
use std::path::Path;

fn sample(rows: usize) -> Table {
    let levels = ["a b", "it's", "q\"x", "x,y", "é"].map(String::from).to_vec();
    let columns =
        vec![Column::numeric("x"), Column::categorical("c", levels), Column::numeric("y z")];
    let values = Matrix::from_fn(rows, 3, |i, j| match j {
        0 if i % 11 == 3 => f64::NAN,
        0 => (i as f64).sin() * 10_f64.powi(i as i32 % 40 - 20),
        1 if i % 13 == 5 => f64::NAN,
        1 => (i % 5) as f64,
        _ => i as f64 / 7.0 - 3.0,
    });
    Table::new(values, Schema::new(columns).unwrap()).unwrap()
}

fn bits(values: &Matrix) -> Vec<u64> {
    let canonical = |v: &f64| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() };
    values.as_slice().iter().map(canonical).collect()
}

#[test]
fn tables_of_many_columns_come_back_from_files_by_columns() {
    let folder = tempfile::tempdir().unwrap();
    let names = |j: usize| match j % 3 {
        0 => Column::categorical(format!("c{j}"), vec!["a".to_string(), format!("b{j}")]),
        _ => Column::numeric(format!("c{j}")),
    };
    let schema = Schema::new((0..700).map(names).collect()).unwrap();
    let cell = |i: usize, j: usize| {
        if j.is_multiple_of(3) { ((i + j) % 2) as f64 } else { (i * j) as f64 }
    };
    let table = Table::new(Matrix::from_fn(30, 700, cell), schema).unwrap();
    for name in ["t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write(&path, &table.frame(), &WriteOptions::default()).unwrap();
        let loaded = read(&path, &ReadOptions::default(), &Context::default()).unwrap();
        assert_eq!(loaded.table, table, "{name}");
    }
}

#[test]
fn every_format_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let table = sample(500);
    for name in
        ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.arrow", "t.arff", "t.ndjson"]
    {
        let path = folder.path().join(name);
        write(&path, &table.frame(), &WriteOptions::default()).unwrap();
        let loaded = read(&path, &ReadOptions::default(), &Context::default()).unwrap();
        assert_eq!(loaded.table.schema(), table.schema(), "{name}");
        assert_eq!(bits(loaded.table.values()), bits(table.values()), "{name}");
        assert_eq!(loaded.report.missing(), 85, "{name}");
    }
}

#[test]
fn libsvm_gives_back_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let values =
        Matrix::from_fn(20, 4, |i, j| if (i + j) % 3 == 0 { 0.0 } else { (i * j) as f64 + 0.1 });
    let table = Table::new(values, Schema::numeric(["label", "x1", "x2", "x3"]).unwrap()).unwrap();
    let path = folder.path().join("t.libsvm");
    write(&path, &table.frame(), &WriteOptions::default()).unwrap();
    let loaded = read(&path, &ReadOptions::default(), &Context::default()).unwrap();
    assert_eq!(loaded.table, table);
}

#[test]
fn the_digest_is_that_of_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    let options = ReadOptions { digest: true, ..ReadOptions::default() };
    let loaded = read(&path, &options, &Context::default()).unwrap();
    let digest = loaded.report.digest.unwrap();
    assert_eq!(digest, "492d5ea496056f1a6a6592241032fab764c321596317930b4fa0e1e8bc3b7470");
    let packed = folder.path().join("t.csv.gz");
    write(&packed, &loaded.table.frame(), &WriteOptions::default()).unwrap();
    let again = read(&packed, &options, &Context::default()).unwrap();
    assert_eq!(again.table, loaded.table);
    assert_ne!(again.report.digest.unwrap(), digest);
}

#[test]
fn gaps_are_counted_as_weka_counts_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let cases: serde_json::Value =
        serde_json::from_slice(&std::fs::read(root.join("io.json")).unwrap()).unwrap();
    for (name, expected) in cases[0]["expect"].as_object().unwrap() {
        let path = root.join(format!("data/{name}.csv"));
        let loaded = read(path, &ReadOptions::default(), &Context::default()).unwrap();
        assert_eq!(loaded.report.rows, expected["rows"].as_u64().unwrap(), "{name}");
        assert_eq!(loaded.report.columns.len() as u64, expected["columns"].as_u64().unwrap());
        assert_eq!(loaded.report.missing(), expected["missing"].as_u64().unwrap(), "{name}");
        let last = loaded.table.schema().len() - 1;
        let levels = loaded.table.schema().column(last).levels().unwrap().to_vec();
        let codes = loaded.table.values().column(last);
        for (level, count) in expected["classes"].as_object().unwrap() {
            let code = levels.iter().position(|known| known == level).unwrap() as f64;
            let found = codes.iter().filter(|&&c| c == code).count() as u64;
            assert_eq!(found, count.as_u64().unwrap(), "{name} {level}");
        }
    }
}

fn same_blocks(path: &Path, target: &str, weight: Option<&str>, task: Option<TargetTask>) {
    let run = Context::default();
    let options = ReadOptions::default();
    let targets = [target.to_string()];
    let roles = ColumnRoles { targets: &targets, weight, task, ..ColumnRoles::default() };
    let streamed = open_stream(path, &options, &roles, &run).unwrap();
    let loaded = read(path, &options, &run).unwrap();
    assert_eq!(streamed.report(), &loaded.report);
    let prepared = to_dataset(loaded.table, &roles).unwrap();
    assert_eq!(streamed.notes(), prepared.notes);
    let whole = InMemory::new(prepared.data.view());
    let (a, b) = (streamed.outline(), whole.outline());
    assert_eq!((a.rows, a.outputs, a.weighted), (b.rows, b.outputs, b.weighted));
    assert_eq!((a.schema, a.classes), (b.schema, b.classes));
    for index in 0..a.rows.div_ceil(block_rows(a.schema.len()) as u64) {
        let mut texts = Vec::new();
        for source in [&streamed as &dyn Source, &whole] {
            source
                .with(index, &mut |block| {
                    let x = bits(&block.data.x.values().to_matrix());
                    let y = format!(
                        "{:?}",
                        block.data.y.map(|y| match y {
                            learnt_core::data::Target::Real(v) =>
                                (bits(&v.to_matrix()), Vec::new()),
                            learnt_core::data::Target::Class { codes, .. } =>
                                (Vec::new(), codes.to_vec()),
                        })
                    );
                    texts.push((block.first_row, x, y, block.data.weights.map(<[f64]>::to_vec)));
                    Ok(())
                })
                .unwrap();
        }
        assert!(texts[0] == texts[1], "{} block {index}", path.display());
    }
}

#[test]
fn streams_give_the_blocks_of_the_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 60_000;
    let levels: Vec<String> = (0..300).map(|i| format!("level {i:03}")).collect();
    let classes = ["no", "yes"].map(String::from).to_vec();
    let columns = vec![
        Column::numeric("a"),
        Column::categorical("c", levels),
        Column::numeric("k"),
        Column::categorical("t", classes),
        Column::numeric("w"),
    ];
    let values = Matrix::from_fn(rows, 5, |i, j| match j {
        0 if i % 17 == 0 => f64::NAN,
        0 => (i as f64 * 0.37).sin(),
        1 => ((rows - i) * 7919 % 300) as f64,
        2 => (i % 4) as f64,
        3 => (i / 3 % 2) as f64,
        _ => 1.0 + (i % 2) as f64,
    });
    let table = Table::new(values, Schema::new(columns).unwrap()).unwrap();
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write(&path, &table.frame(), &WriteOptions::default()).unwrap();
        same_blocks(&path, "t", Some("w"), None);
        same_blocks(&path, "w", None, Some(TargetTask::Regress));
        same_blocks(&path, "k", None, Some(TargetTask::Classify));
    }
}

#[test]
fn a_stream_that_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,2.5\n3,4.5\n").unwrap();
    let targets = ["b".to_string()];
    let roles = ColumnRoles { targets: &targets, ..ColumnRoles::default() };
    let source = open_stream(&path, &ReadOptions::default(), &roles, &Context::default()).unwrap();
    std::fs::write(&path, "a,b\n1,2.5\n3,4.5\n5,6.5\n").unwrap();
    let error = source.with(0, &mut |_| Ok(())).unwrap_err();
    assert!(error.message().contains("changed"), "{error}");
}

#[test]
fn formats_are_known_without_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let table = sample(50);
    for format in [Format::Csv, Format::Parquet, Format::Arrow, Format::Arff, Format::Ndjson] {
        let path = folder.path().join("data");
        let options = WriteOptions { format: Some(format), ..WriteOptions::default() };
        write(&path, &table.frame(), &options).unwrap();
        let loaded = read(&path, &ReadOptions::default(), &Context::default()).unwrap();
        assert_eq!(loaded.report.format, format);
        assert_eq!(bits(loaded.table.values()), bits(table.values()));
    }
}
