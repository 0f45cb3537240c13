//! What goes wrong, and what the command says about it (reliability list, rows 1 to 49).

use crate::{fails, file, houses, learnt, learnt_with, ok};

/// Runs a closure with a file of this content.
fn with(content: impl AsRef<[u8]>, test: impl FnOnce(&str)) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data.csv", content);
    test(&path);
}

#[test]
fn misspelt_words_get_their_neighbour() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    fails(&["fitt", "ridge", &data], 2, &["fit"]);
    fails(&["fit", "rigde", &data, "-t", "price"], 2, &["ridge"]);
    fails(&["show", "rigde"], 2, &["E003", "ridge"]);
    fails(&["fit", "ridge", &data, "-t", "price", "--alhpa", "1"], 2, &["--alpha"]);
    fails(&["fit", "ridge", &data, "-t", "prise"], 2, &["E003", "did you mean 'price'?"]);
    fails(&["score", "m.learnt", &data, "--metric", "accurracy"], 3, &["m.learnt"]);
    fails(&["compare", "irsi"], 3, &["iris"]);
    fails(
        &["fit", "dummy", "iris", "--strategy", "constant", "--constant", "setsa"],
        2,
        &["setosa"],
    );
}

#[test]
fn a_parameter_out_of_bounds_is_refused_before_data_are_read() {
    fails(
        &["fit", "ridge", "no-such-file.csv", "-t", "y", "--alpha", "-1"],
        2,
        &["E002", "`alpha`", ">= 0", "-1"],
    );
    fails(
        &["fit", "ridge", "no-such-file.csv", "-t", "y", "--alpha", "1o"],
        2,
        &["E002", "alpha", "1o"],
    );
    fails(&["fit", "k-means", "no-such-file.csv", "--n-clusters", "0"], 2, &["n_clusters"]);
    fails(&["fit", "ridge", "no-such-file.csv", "-t", "y", "--alpha", "nan"], 2, &["alpha"]);
}

#[test]
fn empty_and_header_only_files_have_no_rows() {
    with("", |path| {
        fails(&["fit", "ridge", path, "-t", "y"], 3, &["E010"]);
    });
    with("a,b,y\n", |path| {
        fails(&["fit", "ridge", path, "-t", "y"], 3, &["E010"]);
        ok(&["describe", path]);
    });
}

#[test]
fn ragged_rows_name_their_line_and_can_be_skipped_and_counted() {
    let ragged = "a,b\n1,2\n3,4,5\n6,7\n";
    with(ragged, |path| {
        fails(&["describe", path], 3, &["E011", "line 3"]);
        let done = ok(&["describe", path, "--ragged", "skip"]);
        assert!(done.err.contains("1") && done.err.contains("skipped"), "{}", done.err);
        assert!(done.out.contains("2 rows"), "{}", done.out);
    });
}

#[test]
fn unterminated_quotes_nul_bytes_and_foreign_encodings_are_named() {
    with("a,b\n1,\"x\n2,3\n", |path| {
        fails(&["describe", path], 3, &["line 2"]);
    });
    with(b"a,b\n1,\x00\n", |path| {
        fails(&["describe", path], 3, &["E012"]);
    });
    with(b"a,b\n1,caf\xe9\n", |path| {
        fails(&["describe", path], 3, &["E012", "--encoding"]);
        ok(&["describe", path, "--encoding", "latin-1"]);
    });
    with(b"\xff\xfea\x00,\x00b\x00\n\x00", |path| {
        fails(&["describe", path], 3, &["UTF-16"]);
    });
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    with("\u{feff}a,b\r\n1,2\r\n3,4\r\n", |path| {
        let done = ok(&["describe", path]);
        assert!(
            done.out.contains("2 rows x 2 columns") && !done.out.contains('\u{feff}'),
            "{}",
            done.out
        );
    });
}

#[test]
fn leading_zeros_stay_text_and_missing_tokens_are_counted() {
    with("zip,x,country\n01234,NA,NA\n02345,2,DE\n03456,3,FR\n", |path| {
        let done = ok(&["describe", path]);
        assert!(done.out.contains("cat(3)"), "{}", done.out);
        assert!(done.err.contains("NA") && done.err.contains("country"), "{}", done.err);
    });
}

#[test]
fn duplicate_names_are_listed() {
    with("a,a\n1,2\n", |path| {
        fails(&["describe", path], 3, &["E015", "'a'", "--dedupe-names"]);
        ok(&["describe", path, "--dedupe-names"]);
    });
}

#[test]
fn the_target_must_be_named_and_doubtful_tasks_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    fails(&["fit", "ridge", &data], 3, &["E025", "-t"]);
    with("x,y\n1,0\n2,1\n3,2\n4,1\n5,0\n6,2\n", |path| {
        fails(&["compare", path, "-t", "y"], 3, &["--task"]);
    });
    with("x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n", |path| {
        let done = ok(&["compare", path, "-t", "y", "--only", "dummy", "--folds", "2"]);
        assert!(
            done.err.contains("2 classes") && done.err.contains("--task regress"),
            "{}",
            done.err
        );
    });
    fails(&["fit", "logistic", &data, "-t", "price"], 3, &["E025", "--task classify"]);
    fails(&["fit", "ridge", "iris"], 3, &["E025"]);
}

#[test]
fn a_target_with_holes_is_refused_with_the_way_out() {
    with("x,y\n1,1.5\n2,\n3,2.5\n4,4.25\n", |path| {
        fails(&["fit", "ridge", path, "-t", "y"], 3, &["E021", "'y'", "--impute drop-rows"]);
        let done = ok(&["fit", "ridge", path, "-t", "y", "--impute", "drop-rows"]);
        assert!(done.err.contains("dropped 1 of 4 rows"), "{}", done.err);
    });
}

#[test]
fn folds_beyond_the_smallest_class_are_refused_by_name() {
    let mut text = String::from("x,c\n");
    for i in 0..20 {
        text += &format!("{i},{}\n", if i < 3 { "rare" } else { "usual" });
    }
    with(&text, |path| {
        fails(&["compare", path, "-t", "c", "--folds", "5"], 3, &["E031", "rare", "3"]);
    });
}

#[test]
fn infinite_values_are_refused_by_column_and_row() {
    with("x,y\n1,1.5\ninf,2.5\n3,4.5\n", |path| {
        fails(&["fit", "ridge", path, "-t", "y"], 3, &["E020", "'x'", "row 2"]);
    });
}

#[test]
fn weights_are_checked() {
    with("x,w,y\n1,1,1.5\n2,-1,2.5\n3,1,4.5\n", |path| {
        fails(&["fit", "ridge", path, "-t", "y", "--weight", "w"], 3, &["E023", "row 2"]);
    });
}

#[test]
fn columns_are_matched_by_name_at_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "tree", &data, "-t", "price", "-o", &model]);
    let expected = ok(&["predict", &model, &data]).out;
    let moved: String = houses()
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{},extra\n", cells[2], cells[3], cells[0], cells[1])
        })
        .collect();
    let moved = file(folder.path(), "moved.csv", moved);
    let done = ok(&["predict", &model, &moved]);
    assert_eq!(done.out, expected);
    assert!(done.err.contains("not used by the model"), "{}", done.err);
    let renamed = file(folder.path(), "renamed.csv", houses().replace("area", "aera"));
    fails(&["predict", &model, &renamed], 3, &["E014", "area", "aera"]);
    ok(&["predict", &model, &renamed, "--rename", "aera=area"]);
    let unseen = file(folder.path(), "unseen.csv", houses().replace("elm", "fir"));
    fails(&["predict", &model, &unseen], 3, &["E022", "'fir' (20)"]);
    let wrong = file(folder.path(), "wrong.csv", "area,rooms,street\nbig,2,elm\n");
    fails(&["predict", &model, &wrong], 3, &["E014", "area", "big"]);
}

#[test]
fn unseen_categories_are_missing_if_that_was_chosen_at_fit() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "tree", &data, "-t", "price", "-o", &model, "--unknown", "missing"]);
    let unseen = file(folder.path(), "unseen.csv", houses().replace("elm", "fir"));
    ok(&["predict", &model, &unseen]);
}

#[test]
fn no_rows_to_predict_give_a_header_and_success() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "tree", &data, "-t", "price", "-o", &model]);
    let done = learnt_with(&["predict", &model, "-"], b"area,rooms,street\n");
    assert_eq!((done.code, done.out.as_str()), (0, "prediction\n"), "{}", done.err);
}

#[test]
fn operating_system_errors_have_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    fails(&["describe", path], 3, &[path]);
    fails(&["describe", "/no/such/file.csv"], 3, &["/no/such/file.csv"]);
    fails(&["fit", "ridge", "mtcars-none.csv", "-t", "y"], 3, &["mtcars-none.csv"]);
}

#[test]
fn too_much_memory_is_refused_with_exit_seven() {
    let mut text = String::from("a,b,c,d,y\n");
    for i in 0..20_000 {
        text += &format!("{i}.5,{},{},{},{}.25\n", i * 2, i * 3, i % 7, i);
    }
    with(&text, |path| {
        fails(&["fit", "ridge", path, "-t", "y", "--max-memory", "100kB"], 7, &["E060"]);
    });
}

#[test]
fn one_failing_candidate_is_a_row_and_exit_eight() {
    // k = 5 neighbours and 3 training rows a fold: kNN fails, the others do not.
    let text = "x,y\n1,1.5\n2,2.25\n3,3.5\n4,4.75\n";
    with(text, |path| {
        let done = learnt(&["compare", path, "-t", "y", "--task", "regress", "--folds", "2"]);
        assert_eq!(done.code, 8, "{}{}", done.out, done.err);
        assert!(done.out.contains("failed in") && done.out.contains("ridge"), "{}", done.out);
    });
}

#[test]
fn terminal_escapes_in_data_are_not_printed() {
    with("a\u{1b}[31m,y\n1,2.5\n2,3.5\n3,5.5\n", |path| {
        let done = ok(&["describe", path]);
        assert!(!done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'));
        let done = learnt(&["fit", "ridge", path, "-t", "yy\u{1b}[31m"]);
        assert!(!done.err.contains('\u{1b}'), "{:?}", done.err);
    });
}
