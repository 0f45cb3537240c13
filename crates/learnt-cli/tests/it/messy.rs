//! Tables as they leave offices: codes, titles above the names, units in cells, misspelt classes, several targets.

use crate::{fails, file, ok};
use serde_json::Value as Json;
use std::path::Path;

fn place(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_string()
}

fn described(words: &[&str]) -> Json {
    serde_json::from_str(&ok(&[&["describe"], words, &["--json"]].concat()).out).unwrap()
}

/// Prices of rows in some zip codes and shops.
fn prices(zips: &[&str]) -> String {
    let mut text = String::from("zip,shop_id,size,price\n");
    for i in 0..120 {
        let (zip, shop, size) = (zips[i % zips.len()], i * 7 % 12, 40 + i * 13 % 90);
        text += &format!("{zip},{shop},{size},{}\n", 3 * size + 50 * (i % zips.len()) + shop);
    }
    text
}

#[test]
fn whole_numbers_that_name_things_are_categories_unless_they_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "p.csv", prices(&["94103", "10001", "60601"]));
    let model = place(folder.path(), "m.learnt");
    let done = ok(&["fit", "ridge", &data, "-t", "price", "-o", &model]);
    assert!(done.out.contains("shop_id: 11"), "{}", done.out);
    let line = "as categories: shop_id is a code (12 different whole numbers); --keep shop_id";
    assert!(done.err.contains(line), "{}", done.err);
    ok(&["predict", &model, &data]);
    let kept = ok(&["fit", "ridge", &data, "-t", "price", "--keep", "shop_id"]);
    assert!(!kept.out.contains("shop_id: 11") && kept.out.contains("shop_id"), "{}", kept.out);
    assert_eq!(described(&[&data])["columns"][1]["look"], "code");
}

#[test]
fn a_title_above_the_names_is_told_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..30).map(|i| format!("{i};{};a\n", i * 2)).collect();
    for title in ["Sales 2024;;\n;;\n", "Sales 2024\n\n"] {
        let data = file(folder.path(), "t.csv", format!("{title}x;y;kind\n{rows}"));
        let words = ["line 1, 'Sales 2024', is a title", "--skip-lines 2 begins at line 3"];
        fails(&["describe", &data], 3, &words);
        let found = described(&[&data, "--skip-lines", "2"]);
        assert_eq!(found["columns"][0]["name"], "x");
        assert_eq!(found["data"]["rows"], 30);
        let bad = file(folder.path(), "b.csv", format!("{title}x;y;kind\n{rows}1;2\n"));
        fails(&["describe", &bad, "--skip-lines", "2"], 3, &["line 34 has 2 fields"]);
    }
}

#[test]
fn units_are_said_and_read_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..40).map(|i| format!("{} kg,${i}\n", i + 50)).collect();
    let data = file(folder.path(), "u.csv", format!("weight,n\n{rows}"));
    let done = ok(&["describe", &data]);
    assert!(done.err.contains("the unit in '50 kg'; --type weight=unit"), "{}", done.err);
    let found = described(&[&data, "--type", "weight=unit", "--type", "n=unit"]);
    assert_eq!(
        (&found["columns"][0]["max"], &found["columns"][1]["max"]),
        (&89.0.into(), &39.0.into())
    );
    let money = file(folder.path(), "m.csv", "a;b\n1.234,50 €;1\n99,00 €;2\n12,25 €;3\n");
    let done = ok(&["describe", &money]);
    let hint = "--type a=unit --decimal-comma --thousands . reads numbers";
    assert!(done.err.contains(hint), "{}", done.err);
    let found = described(&[&money, "--type", "a=unit", "--decimal-comma", "--thousands", "."]);
    assert_eq!(found["columns"][0]["max"], 1234.5);
    let shops = file(folder.path(), "s.csv", "shop,b\np1,1\np2,2\np3,3\n");
    assert!(!ok(&["describe", &shops]).err.contains("unit"));
}

#[test]
fn a_class_of_one_row_that_is_misspelt_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("x,status\n");
    (0..60)
        .for_each(|i| text += &format!("{i},{}\n", if i % 3 == 0 { "churned" } else { "active" }));
    let data = file(folder.path(), "c.csv", text + "61,actve\n");
    fails(&["cv", "tree", &data, "-t", "status"], 3, &["E031", "is it 'active' misspelt?"]);
}

#[test]
fn several_targets_have_their_names_and_learners_of_one_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String =
        (0..60).map(|i| format!("{i},{},{}\n", 2 * i + i % 3, 90 - i + i % 5)).collect();
    let data = file(folder.path(), "t.csv", format!("x,up,down\n{rows}"));
    let done = ok(&["fit", "ols", &data, "-t", "up,down"]);
    assert!(done.out.contains("\nup\n") && done.out.contains("\ndown\n"), "{}", done.out);
    let done = ok(&["compare", &data, "-t", "up,down"]);
    assert!(done.err.contains("left out: learners that take one target only"), "{}", done.err);
    assert!(done.err.contains("-t up,down"), "{}", done.err);
    assert!(!done.out.contains("failed"), "{}", done.out);
}

#[test]
fn strict_sees_a_perceptron_that_ends_with_mistakes() {
    fails(&["fit", "perceptron", "iris", "--strict"], 5, &["rows misclassified"]);
    ok(&["fit", "perceptron", "iris"]);
}

#[test]
fn signs_of_accounts_are_read_as_signs() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..40).map(|i| format!("{i},({}.5),{i}.25-\n", i + 1)).collect();
    let data = file(folder.path(), "a.csv", format!("n,paid,owed\n{rows}41,7,8\n"));
    let done = ok(&["describe", &data]);
    assert!(done.err.contains("the sign in '(1.5)'; --type paid=unit"), "{}", done.err);
    let found = described(&[&data, "--type", "paid=unit", "--type", "owed=unit"]);
    let ends = |j: usize| (found["columns"][j]["min"].clone(), found["columns"][j]["max"].clone());
    assert_eq!(ends(1), ((-40.5).into(), 7.0.into()));
    assert_eq!(ends(2), ((-39.25).into(), 8.0.into()));
}

#[test]
fn first_lines_of_spreadsheets_spaces_and_signs_of_print_are_read_or_said() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (1..20).map(|i| format!("{i};{i},5\n")).collect();
    let directed = file(folder.path(), "s.csv", format!("sep=;\r\na;b\n{rows}"));
    let found = described(&[&directed]);
    assert_eq!((&found["data"]["rows"], &found["columns"][1]["max"]), (&19.into(), &19.5.into()));
    let bad = file(folder.path(), "bad.csv", format!("sep=;\na;b\n{rows}1\n"));
    fails(&["describe", &bad], 3, &["line 22"]);
    let rows: String = (1..20).map(|i| format!("{i};1\u{a0}{i:03},5;−{i}\n")).collect();
    let french = file(folder.path(), "f.csv", format!("a;b;c\n{rows}"));
    let said = ok(&["describe", &french]).err;
    assert!(said.contains("--thousands ' ' reads numbers"), "{said}");
    let found = described(&[&french, "--thousands", " ", "--decimal-comma"]);
    assert_eq!(
        (&found["columns"][1]["max"], &found["columns"][2]["min"]),
        (&1019.5.into(), &(-19.0).into())
    );
    let rows: String = (1..20).map(|i| format!("{i} {}\n", 2 * i)).collect();
    let spaces = file(folder.path(), "p.csv", format!("a b\n{rows}"));
    assert!(ok(&["describe", &spaces]).err.contains("--delimiter ' ' reads them as 2 columns"));
    let hollow = file(folder.path(), "h.csv", "a,b\n1,2\n2,-\n3,4\n4,#N/A\n5,7\n6,9\n");
    let said = ok(&["describe", &hollow]).err;
    assert!(said.contains("because of '-', '#N/A'; --na '-,#N/A'"), "{said}");
    assert_eq!(described(&[&hollow, "--na", "-,#N/A"])["columns"][1]["max"], 9.0);
    let rows: String =
        (0..60).map(|i| format!("{i},{}\n", if i % 9 == 0 { -999 } else { i % 7 })).collect();
    let nines = file(folder.path(), "n.csv", format!("a,b\n{rows}"));
    for words in [
        &["describe", &nines][..],
        &["fit", "ols", &nines, "-t", "a"],
        &["fit", "ols", &nines, "-t", "b"],
    ] {
        let said = ok(words).err;
        assert!(said.contains("b: 7 values are -999, far from all others; --na -999"), "{said}");
    }
    assert_eq!(described(&[&nines, "--na", "-999"])["columns"][1]["missing"], 7);
    let streets = file(folder.path(), "t.csv", "a,b\n1,2\n2,Grvl\n3,4\n4,Pave\n5,7\n6,9\n");
    assert!(!ok(&["describe", &streets]).err.contains("--na"));
}

#[test]
fn months_by_name_and_times_with_one_digit_are_dates() {
    let folder = tempfile::tempdir().unwrap();
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"];
    let mut text = String::from("day,call,size,price\n");
    for i in 0..120 {
        let (month, day) = (i % 6, 1 + i % 28);
        let call = format!("{}/{day}/2024 {}:05 PM", month + 1, 1 + i % 9);
        let price = 10 * month + i % 5;
        text += &format!("{day:02} {} 2024,{call},{},{price}\n", months[month], i % 7);
    }
    let data = file(folder.path(), "days.csv", text);
    let columns = &described(&[&data])["columns"];
    assert_eq!((&columns[0]["look"], &columns[1]["look"]), (&"date".into(), &"date".into()));
    let dates = ["--date", "day=month,elapsed", "--date", "call=month,hour"];
    let fit = ok(&[&["fit", "ols", &data, "-t", "price"], &dates[..]].concat());
    assert!(fit.out.contains("day: month") && fit.out.contains("call: hour"), "{}", fit.out);
    // Numbers that are no dates are said to be taken as days.
    let days = ok(&["fit", "ols", &data, "-t", "price", "--date", "size=year"]).err;
    assert!(days.contains("size: numbers are taken as days after 1970-01-01, here 1970-01-01 to"));
    let out = place(folder.path(), "parts.csv");
    ok(&["split", &data, "--time", "day", "-o", &out]);
    let train = std::fs::read_to_string(place(folder.path(), "parts-train.csv")).unwrap();
    assert!(train.contains(" Jan ") && !train.contains(" Jun "), "{train}");
}

#[test]
fn the_hint_about_thousands_reads_numbers_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let tables = [
        ("a;b\n1,5;1.234,5\n2,25;12.000,25\n3,75;1.000,00\n", 1234.5),
        ("a;b\n1,5;1 234,5\n2,25;12 000,25\n3,75;1 000,00\n", 1234.5),
        ("a,b\n1.5,\"1,234.5\"\n2.25,\"12,000.25\"\n3.75,\"1,000.00\"\n", 1234.5),
    ];
    for (k, (text, median)) in tables.into_iter().enumerate() {
        let data = file(folder.path(), &format!("{k}.csv"), text);
        let note = ok(&["describe", &data]).err;
        let (_, hint) = note.split_once("'; ").unwrap();
        let flags = hint.split_once(" reads numbers").unwrap().0.replace("' '", "'_'");
        let flags: Vec<String> =
            flags.split(' ').map(|word| word.trim_matches('\'').replace("_", " ")).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let columns = &described(&[&[data.as_str()], &flags[..]].concat())["columns"];
        assert_eq!(columns[1]["median"], median, "{note}");
        assert_eq!(columns[0]["median"], 2.25, "{note}");
    }
    let data = file(folder.path(), "point.csv", "a;b\n1,5;1.234,5\n");
    fails(&["describe", &data, "--thousands", "."], 2, &["add --decimal-comma"]);
}

#[test]
fn dates_with_a_word_among_them_are_named_and_the_hint_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("when,size,price\n");
    for i in 0..60 {
        let when =
            if i == 7 { "not known".to_string() } else { format!("2024-01-{:02}", 1 + i % 28) };
        text += &format!("{when},{},{}\n", i % 7, i % 11);
    }
    let data = file(folder.path(), "when.csv", text);
    let said = ok(&["fit", "tree", &data, "-t", "price"]).err;
    assert!(said.contains("all values are dates but 'not known'"), "{said}");
    assert!(said.contains("--na 'not known' reads that as missing"), "{said}");
    let words =
        ["fit", "tree", &data, "-t", "price", "--na", "not known", "--date", "when=year,month"];
    assert!(!ok(&words).err.contains("all values are dates"));
}
