use super::*;

fn answer() -> Answer {
    let mut answer = Answer::new("A <test>");
    answer.push("F", 900.0);
    answer.push("p of F", Datum::P(0.0));
    answer.push("x", vec![1.0, f64::NAN]);
    answer.push("n", vec![3_i64, 4]);
    answer.tables.push(Columns::titled("t").texts("name", vec!["a,b".into(), "c|d".into()]));
    answer.notes.push("a note".to_string());
    answer
}

#[test]
fn a_p_value_is_never_printed_as_zero() {
    assert_eq!(probability(0.0), "<1e-300");
    assert_eq!(probability(2.6e-20), "2.6e-20");
    assert_eq!(probability(0.04999), "0.050");
    assert!(answer().to_text().contains("F 900   p of F <1e-300"));
}

#[test]
fn numbers_keep_six_digits() {
    assert_eq!(number(37.227_270_1), "37.2273");
    assert_eq!(number(-0.031_772_9), "-0.0317729");
    assert_eq!(number(1e-12), "1.0000e-12");
    assert_eq!(number(150.0), "150");
}

#[test]
fn columns_line_up() {
    let table = Columns::titled("t")
        .texts("name", vec!["a".into(), "long".into()])
        .reals("value", vec![1.5, 150.0]);
    assert_eq!(table.to_text(), "t\n name  value\n a       1.5\n long    150\n");
}

#[test]
fn long_tables_show_their_ends() {
    let table = Columns::titled("").counts("i", (0..100).collect());
    let text = table.to_text_fitted(4, 80);
    assert_eq!(text, "  i\n  0\n  1\n … 100 rows in all; --all\n 98\n 99\n");
    // Only the command has flags.
    assert!(table.to_text_within(4).contains(" … 100 rows in all\n"));
    assert!(table.to_text_cut(4, 80, "to_text()").contains(" … 100 rows in all; to_text()\n"));
    assert_eq!(table.to_text_within(100).lines().count(), 101);
}

#[test]
fn short_lines_tell_rows_apart_and_keep_their_notes() {
    let towns = ["Greenfield", "Greenview", "Fairdale"];
    let table = Columns::titled("")
        .texts("term", towns.map(|town| format!("Neighborhood of the house: {town}")).to_vec())
        .reals("first", vec![1.0, 2.0, 3.0])
        .reals("second number", vec![1.0, 2.0, 3.0])
        .texts("note", vec!["best".into(), String::new(), "failed".into()]);
    for width in [60, 56, 50] {
        let text = table.to_text_fitted(9, width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
        assert!(text.contains("failed") && !text.contains("second"), "{width}\n{text}");
        let names: Vec<&str> = text.lines().map(|line| line.split("  ").next().unwrap()).collect();
        assert!(names[1] != names[2] && names[1].contains("Green"), "{width}\n{text}");
        assert!(text.contains("3 of 4 columns shown; --all"), "{width}\n{text}");
    }
    assert!(!table.to_text_fitted(9, 100).contains("shown"));
}

#[test]
fn of_very_many_weights_the_largest_are_shown() {
    let weights = |k: usize| (0..300).map(|i| if i == k { -5.0 } else { 0.0 }).collect();
    let names = (0..300).map(|i| format!("x{i}")).collect();
    let table = Columns::titled("").texts("column", names);
    let table = table.reals("LD1", weights(150)).reals("LD2", weights(160));
    let table = Columns { weights: true, ..table };
    let text = table.to_text_within(4);
    assert!(text.contains("x150") && text.contains("x160"), "{text}");
    assert!(text.contains("the 4 largest of 300 coefficients; 298 are zero"), "{text}");
}

#[test]
fn long_notes_are_whole() {
    let mut answer = Answer::new("");
    answer.notes.push(format!("reference levels: {}", "region = north, ".repeat(30)));
    assert!(!answer.to_text().contains('…'), "{}", answer.to_text());
}

#[test]
fn every_form_comes_from_the_same_columns() {
    let answer = answer();
    let json = answer.to_json();
    assert_eq!(json["values"]["x"], json!([1.0, null]));
    assert_eq!(json["tables"][0]["rows"][1]["name"], "c|d");
    let drawn = Answer { charts: vec![Chart::new("a picture", "of nothing")], ..answer.clone() };
    assert_eq!(drawn.to_json()["charts"][0]["title"], "a picture");
    assert_eq!(answer.to_csv(), "x,n\n1,3\n,4\n\nname\n\"a,b\"\nc|d\n");
    assert!(answer.to_markdown().contains("| c\\|d |"));
    let html = answer.to_html_within(10);
    assert!(html.contains("A &lt;test&gt;") && html.contains("<td class=\"number\">–</td>"));
}
