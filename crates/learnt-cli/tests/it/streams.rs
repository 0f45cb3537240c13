//! A fit from a stream is the fit in memory: the same model, the same refusals, the same rows in messages.

use crate::jobs::scheduled;
use crate::{fails, file, learnt, ok};

/// Rows of which whole blocks, and rows here and there, have the weight zero.
fn weighed(count: usize, hole: Option<usize>) -> String {
    let mut text = String::from("a,b,w,y,c\n");
    for i in 0..count {
        let (a, b) = ((i * 7919) % 1000, (i * 104_729) % 777);
        let weight = match i {
            0..17_000 => 0,
            45_000..65_000 => 0,
            _ => i % 3,
        };
        let a = if hole == Some(i + 1) { String::new() } else { format!("{a}.25") };
        let noise = (i * 31) % 11;
        text += &format!("{a},{b},{weight},{},{}\n", 3 * b + noise, ["u", "v"][(b + noise) % 2]);
    }
    text
}

/// Blocks have 16,384 rows: the first holds no row that counts, and neither does the fourth.
#[test]
fn rows_of_weight_zero_are_left_out_of_streams_as_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let csv = file(folder.path(), "t.csv", weighed(80_000, None));
    let (parquet, arrow) = (place("t.parquet"), place("t.arrow"));
    ok(&["convert", &csv, &parquet]);
    ok(&["convert", &csv, &arrow]);
    let learners = [
        vec!["ridge", "-t", "y", "--ignore", "c"],
        vec!["logistic", "-t", "c", "--ignore", "y"],
        vec!["gaussian-nb", "-t", "c", "--ignore", "y"],
        vec!["standard-scaler", "--ignore", "y,c"],
        vec!["k-means", "--n-clusters", "3", "--ignore", "y,c"],
        vec!["ridge", "-t", "y", "--ignore", "c", "--scale"],
    ];
    for words in &learners {
        let fit = |source: &str, name: &str, stream: bool| {
            let model = place(name);
            let mut all = vec!["fit", words[0], source, "--weight", "w", "-f", "-o", &model];
            all.extend(&words[1..]);
            if stream {
                all.push("--stream");
            }
            ok(&all);
            std::fs::read(model).unwrap()
        };
        for source in [&csv, &parquet, &arrow] {
            let (whole, streamed) = (fit(source, "m", false), fit(source, "s", true));
            assert!(whole == streamed, "{words:?} from {source}: another model");
        }
    }
    let none = weighed(17_000, None);
    let none = file(folder.path(), "none.csv", none);
    for stream in [None, Some("--stream")] {
        let words = ["fit", "ridge", &none, "-t", "y", "--weight", "w", "--ignore", "c"];
        let words: Vec<&str> = words.into_iter().chain(stream).collect();
        fails(&words, 3, &["all weights are zero"]);
    }
}

/// Jobs cut the same blocks.
#[test]
fn tasks_of_weighed_tables_make_the_model_of_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let csv = file(folder.path(), "t.csv", weighed(80_000, None));
    let model = folder.path().join("m").to_str().unwrap().to_string();
    let words = ["ridge", &csv, "-t", "y", "--weight", "w", "--ignore", "c"];
    ok(&[&["fit"], &words[..], &["--stream", "--seed", "4", "-o", &model]].concat());
    let expected = std::fs::read(model).unwrap();
    for tasks in [1, 2] {
        let work = tempfile::tempdir().unwrap();
        assert!(scheduled(&words, work.path(), tasks) == expected, "{tasks} tasks");
    }
}

/// Also of a row that would be left out.
#[test]
fn what_cannot_be_taken_is_named_by_its_row_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    for hole in [70_001, 50_001] {
        let csv = file(folder.path(), "t.csv", weighed(80_000, Some(hole)));
        let words = ["fit", "ridge", &csv, "-t", "y", "--weight", "w", "--ignore", "c"];
        let words = [&words[..], &["--no-prepare"]].concat();
        for stream in [None, Some("--stream")] {
            let words: Vec<&str> = words.iter().copied().chain(stream).collect();
            let done = learnt(&words);
            assert_eq!(done.code, 3, "{}{}", done.out, done.err);
            assert!(done.err.contains(&format!("row {hole}")), "{words:?}: {}", done.err);
        }
    }
}

#[test]
fn weights_that_a_learner_cannot_take_are_refused_in_streams_too() {
    let folder = tempfile::tempdir().unwrap();
    let csv = file(folder.path(), "t.csv", weighed(500, None).replace(",0,", ",1,"));
    for stream in [None, Some("--stream")] {
        let words = ["fit", "min-max-scaler", &csv, "--weight", "w", "--ignore", "y,c"];
        let words: Vec<&str> = words.into_iter().chain(stream).collect();
        let done = learnt(&words);
        assert_eq!(done.code, 3, "{words:?}: {}{}", done.out, done.err);
        assert!(done.err.contains("takes no weights"), "{}", done.err);
    }
}

/// A stream cannot leave out rows by their holes; it says so and fills nothing in silence.
#[test]
fn rows_with_holes_are_left_out_of_tables_and_never_in_silence_of_streams() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "a,b,y\n1,2,3\n2,3,\n4,,5\n5,6,7\n7,8,9.5\n9,1,2\n";
    let csv = file(folder.path(), "t.csv", rows);
    let fit = |learner: &str, more: &[&str]| learnt(&[&["fit", learner, &csv], more].concat());
    let none = fit("ridge", &["-t", "y"]);
    assert!(none.err.contains("--drop-unlabelled leaves out"), "{}", none.err);
    let done = fit("ridge", &["-t", "y", "--drop-unlabelled"]);
    assert!(done.err.contains("dropped 1 of 6 rows without a target"), "{}", done.err);
    assert!(done.out.contains("5 rows"), "{}", done.out);
    for flags in [&["--drop-unlabelled"][..], &["--impute", "drop-rows"]] {
        let words = [&["fit", "ridge", &csv, "-t", "y", "--stream"], flags].concat();
        fails(&words, 2, &["needs the whole table"]);
    }
    let known = file(folder.path(), "k.csv", rows.replace("2,3,\n", ""));
    let words = ["fit", "ols", &known, "--formula", "y ~ .", "--stream"];
    fails(&words, 2, &["left out for tests and intervals", "--impute median"]);
    ok(&[&words[..], &["--impute", "median"]].concat());
}
