//! Every fault that a file can have, with the answer that is promised for it.

use learnt_core::context::Context;
use learnt_core::data::ColumnKind;
use learnt_core::error::{Code, Error};
use learnt_io::{Encoding, Format, Header, Loaded, Ragged, ReadOptions, TypeRule, read};
use std::io::Write;
use std::path::PathBuf;

struct File {
    folder: tempfile::TempDir,
    name: String,
}

impl File {
    fn new(name: &str, bytes: impl AsRef<[u8]>) -> File {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        File { folder, name: name.to_string() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    fn read(&self, options: &ReadOptions) -> Result<Loaded, Error> {
        let loaded = read(self.path(), options, &Context::default());
        let alone = read(self.path(), options, &Context::default().with_threads(1));
        match (&loaded, &alone) {
            (Ok(a), Ok(b)) => {
                let bits = |l: &Loaded| -> Vec<u64> {
                    l.table.values().as_slice().iter().map(|v| v.to_bits()).collect()
                };
                assert_eq!(bits(a), bits(b));
                assert_eq!(a.report, b.report);
            }
            (Err(a), Err(b)) => assert_eq!(a, b),
            _ => panic!("one thread and two disagree"),
        }
        loaded
    }
}

fn csv(text: impl AsRef<[u8]>) -> Loaded {
    File::new("t.csv", text).read(&ReadOptions::default()).unwrap()
}

fn csv_error(text: impl AsRef<[u8]>) -> Error {
    File::new("t.csv", text).read(&ReadOptions::default()).unwrap_err()
}

fn with(change: impl FnOnce(&mut ReadOptions)) -> ReadOptions {
    let mut options = ReadOptions::default();
    change(&mut options);
    options
}

fn levels(loaded: &Loaded, j: usize) -> Vec<String> {
    loaded.table.schema().column(j).levels().unwrap().to_vec()
}

fn column(loaded: &Loaded, j: usize) -> Vec<f64> {
    loaded.table.values().column(j)
}

#[test]
fn row_1_no_rows() {
    for text in ["", "\n\n", "a,b\n"] {
        let error = csv_error(text);
        assert_eq!(error.code(), Code::Empty, "{text:?}");
        assert!(error.message().contains("no rows"), "{error}");
    }
    let empty = File::new("t.csv", "a,b\n").read(&with(|o| o.allow_empty = true)).unwrap();
    assert_eq!((empty.report.rows, empty.table.schema().len()), (0, 2));
}

#[test]
fn row_2_the_header_is_found_and_stated_or_asked_for() {
    let bare = csv("1,2\n3,4\n");
    assert_eq!(bare.report.rows, 2);
    assert!(bare.report.notes[0].starts_with("no header"), "{:?}", bare.report.notes);
    assert_eq!(bare.table.schema().column(0).name, "x0");
    assert_eq!(csv("5.1,setosa\n4.9,setosa\n").report.rows, 2);
    assert_eq!(csv("a,b\nx,1\n").report.rows, 1);
    let doubtful = csv_error("id,2019\n1,5\n2,6\n");
    assert_eq!(doubtful.hint_text(), Some("say --header yes or --header no"));
    let repeated = csv_error("yes,no\nyes,yes\n");
    assert_eq!(repeated.hint_text(), Some("say --header yes or --header no"));
    let stated =
        File::new("t.csv", "id,2019\n1,5\n").read(&with(|o| o.header = Header::Yes)).unwrap();
    assert_eq!(stated.table.schema().column(1).name, "2019");
}

#[test]
fn row_3_ragged_rows_are_errors_or_counted() {
    let text = "a,b\n1,2\n3\n4,5\n6,7,8\n";
    let error = csv_error(text);
    assert_eq!((error.code(), error.row_number()), (Code::Ragged, Some(3)));
    assert!(error.message().contains("line 3 has 1 fields, and the first line has 2"), "{error}");
    let skipped = File::new("t.csv", text).read(&with(|o| o.ragged = Ragged::Skip)).unwrap();
    assert_eq!((skipped.report.rows, skipped.report.skipped), (2, 2));
    assert_eq!(column(&skipped, 0), [1.0, 4.0]);
}

#[test]
fn row_4_an_open_quote_is_an_error_at_its_line() {
    let error = csv_error("a,b\n1,2\n3,\"x\n4,5\n");
    assert_eq!((error.code(), error.row_number()), (Code::Parse, Some(3)));
    let mut long = b"a,b\n1,\"".to_vec();
    long.extend(vec![b'x'; 17 << 20]);
    long.extend(b"\"\n");
    assert_eq!(csv_error(&long).row_number(), Some(2));
}

#[test]
fn row_5_encodings() {
    let plain = csv("a,b\n1,x\n2,y\n");
    for text in ["\u{feff}a,b\n1,x\n2,y\n", "a,b\r\n1,x\r\n2,y\r\n", "a,b\n1,x\r\n2,y"] {
        assert_eq!(csv(text).table, plain.table, "{text:?}");
    }
    let nul = csv_error(b"a,b\n1,x\n2,y\0\n");
    assert_eq!(nul.code(), Code::Encoding);
    assert!(nul.message().contains("byte 11"), "{nul}");
    let latin = b"a,b\n1,caf\xe9\n2,x\n";
    let invalid = csv_error(latin);
    assert!(invalid.message().contains("byte 9 is not valid UTF-8"), "{invalid}");
    assert!(invalid.hint_text().unwrap().contains("--encoding latin-1"));
    let read = File::new("t.csv", latin).read(&with(|o| o.encoding = Encoding::Latin1)).unwrap();
    assert_eq!(levels(&read, 1), ["café", "x"]);
    let wide: Vec<u8> =
        "\u{feff}a,b\n1,é😀\n2,x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let named = csv_error(&wide);
    assert!(named.message().contains("UTF-16"), "{named}");
    assert!(csv_error(&wide[2..]).message().contains("UTF-16"));
    let as_wide = with(|o| o.encoding = Encoding::Utf16);
    let read = File::new("t.csv", &wide).read(&as_wide).unwrap();
    assert_eq!(levels(&read, 1), ["x", "é😀"]);
    let big: Vec<u8> = wide.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    for bytes in [&wide[2..], &big, &big[2..]] {
        assert_eq!(File::new("t.csv", bytes).read(&as_wide).unwrap().table, read.table);
    }
    let narrow = File::new("t.csv", b"a,b\n1,x\n2,y\n").read(&as_wide).unwrap_err();
    assert!(narrow.message().contains("not valid UTF-16"), "{narrow}");
    let wider = csv_error(b"\xff\xfe\0\0a\0\0\0\n\0\0\0");
    assert!(wider.message().contains("UTF-32"), "{wider}");
}

#[test]
fn row_6_no_row_vanishes_whatever_the_delimiter() {
    let semicolons = csv("a;b\n1,5;x\n2,5;y\n");
    assert_eq!(semicolons.report.delimiter, Some(b';'));
    let one_cell = csv("a,b\n1,x;y\n2,z\n");
    assert_eq!((one_cell.report.delimiter, one_cell.report.rows), (Some(b','), 2));
    let commas = csv("1,5;2,5\n1,6;2,7\n");
    assert_eq!((commas.report.delimiter, commas.report.rows), (Some(b';'), 2));
    assert_eq!(column(&commas, 1), [2.5, 2.7]);
    assert!(commas.report.notes.iter().any(|note| note.contains("decimal commas")));
    let doubtful = csv_error("a,b;c,d\nu,x;y,z\n");
    assert_eq!(doubtful.hint_text(), Some("say which with --delimiter"));
    let preamble = csv_error("made by hand\na,b\n1,2\n");
    assert_eq!(preamble.code(), Code::Ragged);
    let blank = csv("a,b\n1,2\n\n3,4\n\n");
    assert_eq!((blank.report.rows, blank.report.blank), (2, 2));
}

#[test]
fn row_7_a_word_after_many_numbers_names_its_line() {
    let mut text = String::from("a,b\n");
    for i in 0..200_000 {
        text += &format!("{i},{}\n", i % 7);
    }
    let late = text.clone() + "abc,1\n";
    let error = csv_error(&late);
    assert_eq!((error.code(), error.row_number()), (Code::Parse, Some(200_002)));
    assert!(error.message().contains("'abc' in column 'a'"), "{error}");
    assert!(error.hint_text().unwrap().contains("--type a=cat"));
    let rule = with(|o| o.types = vec![("a".into(), TypeRule::Categorical)]);
    assert_eq!(
        File::new("t.csv", &late).read(&rule).unwrap().report.columns[0].distinct,
        Some(200_001)
    );
    let early = csv("a\n1\n2\nabc\n3\n");
    assert_eq!(levels(&early, 0), ["1", "2", "3", "abc"]);
    let sparse = format!("a,b\n{}word,1\n", ",1\n".repeat(2000));
    assert_eq!(levels(&csv(&sparse), 0), ["word"]);
    let forced = with(|o| o.types = vec![("a".into(), TypeRule::Numeric)]);
    assert_eq!(File::new("t.csv", "a\n1\nabc\n").read(&forced).unwrap_err().row_number(), Some(3));
}

#[test]
fn row_8_no_digit_is_lost_silently() {
    assert_eq!(levels(&csv("zip,v\n01234,1\n56789,2\n"), 0), ["01234", "56789"]);
    assert_eq!(column(&csv("a\n1e5\n2\n"), 0), [1e5, 2.0]);
    let long = "id\n12345678901234567890\n1\n";
    let warned = csv(long);
    assert_eq!(warned.report.columns[0].rounded, 1);
    assert!(
        warned.report.notes.iter().any(|note| note.contains("2^53")),
        "{:?}",
        warned.report.notes
    );
    assert_eq!(
        File::new("t.csv", long).read(&with(|o| o.strict = true)).unwrap_err().code(),
        Code::Parse
    );
    let sizes = csv("a,b\n1e999,1\n-1e400,0\n1e-999,0.0\ninf,2\n");
    assert_eq!(sizes.report.columns.iter().map(|c| c.rounded).collect::<Vec<_>>(), [3, 0]);
    let lines = "{\"a\": \"1e999\"}\n{\"a\": \"9007199254740993\"}\n{\"a\": \"3\"}\n";
    let numbers = with(|o| o.types = vec![("a".into(), TypeRule::Numeric)]);
    let read = File::new("t.ndjson", lines).read(&numbers).unwrap();
    assert_eq!(read.report.columns[0].rounded, 2);
    let svm = "1 1:9007199254740993 2:1e400\n0 1:3\n";
    let read = File::new("t.libsvm", svm).read(&with(|_| ())).unwrap();
    assert!(read.report.notes.iter().any(|note| note.starts_with("2 numbers beyond")));
    assert!(File::new("t.libsvm", svm).read(&with(|o| o.strict = true)).is_err());
    let grouped = "a;b\n1.234,5;x\n2,5;y\n";
    assert_eq!(levels(&csv(grouped), 0), ["1.234,5", "2,5"]);
    let european = with(|o| {
        o.decimal_comma = true;
        o.thousands = Some(b'.');
    });
    assert_eq!(column(&File::new("t.csv", grouped).read(&european).unwrap(), 0), [1234.5, 2.5]);
}

#[test]
fn row_9_missing_tokens() {
    let text = "x,country\n1,NA\nNA,DE\n?,NA\nnull,\nNaN,FR\n";
    let loaded = csv(text);
    assert_eq!(loaded.report.columns[0].missing, 4);
    assert_eq!(loaded.report.columns[1].missing, 1);
    assert_eq!(levels(&loaded, 1), ["DE", "FR", "NA"]);
    let note = "country: 2 x 'NA' kept as text; --na NA to change";
    assert!(loaded.report.notes.iter().any(|found| found == note), "{:?}", loaded.report.notes);
    let dropped = File::new("t.csv", text).read(&with(|o| o.na = vec!["NA".into()])).unwrap();
    assert_eq!(
        (levels(&dropped, 1), dropped.report.columns[1].missing),
        (vec!["DE".into(), "FR".into()], 3)
    );
    let dash = csv("p\n1\n2\n3\n4\n5\n6\n7\n8\n9\n-\n");
    assert!(
        dash.report.notes[0].contains("read as text because of '-'"),
        "{:?}",
        dash.report.notes
    );
}

#[test]
fn row_10_names() {
    let error = csv_error("a,,a\n1,2,3\n");
    assert_eq!(error.code(), Code::Names);
    assert!(error.message().contains("'a' (columns 1 and 3)"), "{error}");
    let fixed = File::new("t.csv", "a,,a\n1,2,3\n").read(&with(|o| o.dedupe_names = true)).unwrap();
    assert_eq!(fixed.table.schema().names().collect::<Vec<_>>(), ["a", "column_2", "a_2"]);
}

#[test]
fn row_11_very_wide_and_very_narrow() {
    let names: Vec<String> = (0..100_000).map(|j| format!("c{j}")).collect();
    let row = vec!["1.5"; 100_000].join(",");
    let wide = csv(format!("{}\n{row}\n{row}\n", names.join(",")));
    assert_eq!((wide.report.rows, wide.table.schema().len()), (2, 100_000));
    assert_eq!(column(&csv("a\n1\n2"), 0), [1.0, 2.0]);
    let few = File::new("t.csv", "a,b,c\n1,2,3\n").read(&with(|o| o.max_features = 2)).unwrap_err();
    assert_eq!(few.code(), Code::Memory);
}

#[test]
fn row_12_a_misspelt_column_gets_its_neighbour() {
    let options = with(|o| o.columns = Some(vec!["prise".into()]));
    let error = File::new("t.csv", "price,b\n1,2\n").read(&options).unwrap_err();
    assert_eq!((error.code(), error.hint_text()), (Code::Unknown, Some("did you mean 'price'?")));
}

#[test]
fn row_17_infinities_and_signed_zeros_pass_through() {
    let values = column(&csv("a\n-0.0\ninf\n-inf\n1e308\n5e-324\n"), 0);
    assert_eq!(values[0].to_bits(), (-0.0_f64).to_bits());
    assert_eq!(&values[1..], [f64::INFINITY, f64::NEG_INFINITY, 1e308, 5e-324]);
}

#[test]
fn row_23_bombs_are_stopped() {
    let zeros = vec![b'1'; 64 << 20];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&zeros).unwrap();
    let bomb = gzip.finish().unwrap();
    let error = File::new("t.csv.gz", &bomb).read(&ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), Code::Memory, "{error}");
    let small = with(|o| o.max_input = 1000);
    let packed = zstd::encode_all(&zeros[..5000], 1).unwrap();
    assert_eq!(File::new("t.csv.zst", &packed).read(&small).unwrap_err().code(), Code::Memory);
}

#[test]
fn row_25_arff() {
    let text = "% c\n@RELATION r\n@attribute 'my x' REAL\n@attribute c {b, 'a a', c}\n@data\n1.5,b\n?,'a a'\n{0 2.5, 1 c}\n{}\n";
    let loaded = File::new("t.arff", text).read(&ReadOptions::default()).unwrap();
    assert_eq!(levels(&loaded, 1), ["b", "a a", "c"]);
    assert_eq!(column(&loaded, 1), [0.0, 1.0, 2.0, 0.0]);
    assert_eq!(column(&loaded, 0)[2..], [2.5, 0.0]);
    assert_eq!(loaded.report.columns[0].missing, 1);
    for kind in ["date", "string", "relational"] {
        let text = format!("@relation r\n@attribute when {kind}\n@attribute x real\n@data\nq,1\n");
        let error = File::new("t.arff", &text).read(&ReadOptions::default()).unwrap_err();
        assert_eq!(error.code(), Code::Unsupported);
        assert!(error.message().contains(kind) && error.message().contains("'when'"), "{error}");
        let skip = with(|o| o.types = vec![("when".into(), TypeRule::Skip)]);
        assert_eq!(File::new("t.arff", &text).read(&skip).unwrap().table.schema().len(), 1);
    }
    let names: Vec<String> = (0..100_000).map(|i| format!("v{i}")).collect();
    let many = format!("@relation r\n@attribute c {{{}}}\n@data\nv7\n", names.join(","));
    assert_eq!(column(&File::new("t.arff", many).read(&ReadOptions::default()).unwrap(), 0), [7.0]);
    let undeclared = "@relation r\n@attribute c {a}\n@data\nb\n";
    assert_eq!(
        File::new("t.arff", undeclared).read(&ReadOptions::default()).unwrap_err().row_number(),
        Some(4)
    );
}

#[test]
fn row_26_libsvm() {
    let read = |text: &str| File::new("t.libsvm", text).read(&ReadOptions::default());
    let one = read("1 1:0.5 3:2\n-1 2:1 # note\n").unwrap();
    assert_eq!(one.table.schema().names().collect::<Vec<_>>(), ["label", "x1", "x2", "x3"]);
    assert_eq!(one.table.values().row(0), [1.0, 0.5, 0.0, 2.0]);
    assert!(one.report.notes[0].contains("count from 1"));
    let zero = read("1 0:0.5 1:nan\n").unwrap();
    assert!(zero.report.notes[0].contains("count from 0"));
    assert_eq!(zero.report.missing(), 1);
    assert_eq!(read("1 2:1 1:1\n").unwrap_err().code(), Code::Parse);
    assert_eq!(read("1 -2:1\n").unwrap_err().code(), Code::Parse);
    assert_eq!(read("1 4000000000:1\n").unwrap_err().code(), Code::Memory);
    let bomb = format!("1 9999999:1\n{}", "1\n".repeat(1000));
    assert_eq!(read(&bomb).unwrap_err().code(), Code::Memory);
}

#[test]
fn row_28_formulas_are_data() {
    let loaded = csv("a,b\n1,=cmd|x\n2,-3\n");
    assert_eq!(levels(&loaded, 1), ["-3", "=cmd|x"]);
    let mut out = Vec::new();
    let safe = learnt_io::WriteOptions { spreadsheet_safe: true, ..Default::default() };
    learnt_io::write_to(&mut out, &loaded.table.frame(), Format::Csv, &safe).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "a,b\n1,'=cmd|x\n2,'-3\n");
}

#[test]
fn row_30_what_the_system_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let run = Context::default();
    let options = ReadOptions::default();
    let directory = read(folder.path(), &options, &run).unwrap_err();
    assert_eq!(directory.code(), Code::Io);
    assert!(directory.message().contains("directory"), "{directory}");
    let absent = read(folder.path().join("absent.csv"), &options, &run).unwrap_err();
    assert_eq!(absent.code(), Code::Io);
    assert!(absent.message().contains("absent.csv"), "{absent}");
}

#[test]
fn quotes_may_hold_delimiters_line_ends_and_quotes() {
    let text = "a,b\n1,\"x,y\"\n2,\"l1\nl2\"\n3,\"say \"\"hi\"\"\"\n4,5\" pipe\n\"5\",z\n";
    let loaded = csv(text);
    assert_eq!(levels(&loaded, 1), ["5\" pipe", "l1\nl2", "say \"hi\"", "x,y", "z"]);
    assert_eq!(column(&loaded, 0), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(csv_error("a,b\n1,\"x\"y\n").row_number(), Some(2));
}

#[test]
fn quotes_across_pieces_give_the_same_rows() {
    let mut text = String::from("n,t\n");
    for i in 0..100_000 {
        text += &format!("{i},\"multi\nline {}, \"\"quoted\"\"\"\n", i % 10);
        if i % 1000 == 0 {
            text += &format!("{i},5\" stray\n");
        }
    }
    let loaded = csv(&text);
    assert_eq!(loaded.report.rows, 100_100);
    assert_eq!(levels(&loaded, 1).len(), 11);
    let numbers = column(&loaded, 0);
    assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn other_kinds_of_file_are_named() {
    let zip = File::new("t.xlsx", b"PK\x03\x04rest").read(&ReadOptions::default()).unwrap_err();
    assert!(zip.message().contains("zip archive"), "{zip}");
    let lost =
        File::new("t.parquet", b"PAR1 nothing PAR1").read(&ReadOptions::default()).unwrap_err();
    assert!(lost.message().contains("damaged"), "{lost}");
}

#[test]
fn ordered_types_keep_their_order() {
    let rule = TypeRule::parse("ord(S<M<L)").unwrap();
    let options = with(|o| o.types = vec![("size".into(), rule)]);
    let loaded = File::new("t.csv", "size,x\nL,1\nS,2\n").read(&options).unwrap();
    assert_eq!(column(&loaded, 0), [2.0, 0.0]);
    assert!(matches!(
        loaded.table.schema().column(0).kind,
        ColumnKind::Categorical { ordered: true, .. }
    ));
    let error = File::new("t.csv", "size,x\nXL,1\n").read(&options).unwrap_err();
    assert!(error.message().contains("'XL'"), "{error}");
}

#[test]
fn ndjson_types_hold_and_nesting_is_named() {
    let read = |text: &str| File::new("t.ndjson", text).read(&ReadOptions::default());
    let loaded = read("{\"b\":1,\"a\":\"x\"}\n{\"a\":null,\"c\":true}\n").unwrap();
    assert_eq!(loaded.table.schema().names().collect::<Vec<_>>(), ["b", "a", "c"]);
    assert_eq!(loaded.report.missing(), 3);
    assert_eq!(read("{\"a\":1}\n{\"a\":\"x\"}\n").unwrap_err().row_number(), Some(2));
    assert_eq!(read("{\"a\":[1]}\n").unwrap_err().code(), Code::Unsupported);
    assert_eq!(read("{\"a\":1,\"a\":2}\n").unwrap_err().code(), Code::Names);
    assert_eq!(read("nothing\n").unwrap_err().code(), Code::Parse);
}
