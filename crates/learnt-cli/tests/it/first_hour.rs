//! The first hour with a real table: rare classes, parts of files, pages that say what runs.

use crate::{fails, file, ok};
use serde_json::Value as Json;
use std::path::Path;

fn place(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_string()
}

/// Rows of two classes of which `yes` is rare and grows with x, and one model of them.
fn rare(folder: &Path) -> (String, String) {
    let mut text = String::from("x,z,y\n");
    for i in 0..400 {
        let (x, z) = (i % 40, (i * 7) % 11);
        let yes = x + z % 5 >= 37 || i % 97 == 0;
        text += &format!("{x},{z},{}\n", if yes { "yes" } else { "no" });
    }
    let data = file(folder, "rare.csv", text);
    let model = place(folder, "rare.learnt");
    ok(&["fit", "logistic", &data, "-t", "y", "--C", "0.0001", "-o", &model]);
    (data, model)
}

fn json(words: &[&str]) -> Json {
    serde_json::from_str(&ok(&[words, &["--json"]].concat()).out).unwrap()
}

#[test]
fn a_model_of_one_class_is_mended_by_a_threshold_or_by_costs() {
    let folder = tempfile::tempdir().unwrap();
    let (data, model) = rare(folder.path());
    let silent = ok(&["score", &model, &data]);
    assert!(silent.err.contains("every row is predicted as 'no'"), "{}", silent.err);
    let recall = |more: &[&str]| {
        let found = json(&[&["score", &model, &data], more].concat());
        found["classes"][1]["recall"].as_f64().unwrap()
    };
    assert_eq!(recall(&[]), 0.0);
    for flag in ["--threshold", "--cost"] {
        let words = silent.err.split([' ', ',']).skip_while(|word| *word != flag);
        let words: Vec<&str> = words.take(2).collect();
        assert!(recall(&words) > 0.0, "{words:?}: {}", silent.err);
    }
    assert!(recall(&["--threshold", "0.1"]) > 0.5);
    // A threshold of c_FP / (c_FP + c_FN) is what costs say: 1 / (1 + 9).
    assert_eq!(recall(&["--threshold", "0.1"]), recall(&["--cost", "yes=9"]));
    let predicted = |more: &[&str]| ok(&[&["predict", &model, &data], more].concat()).out;
    let count = |text: &str| text.lines().filter(|line| *line == "yes").count();
    assert_eq!(count(&predicted(&[])), 0);
    assert_eq!(predicted(&["--threshold", "0.1"]), predicted(&["--cost", "yes:no=9,no=1"]));
    assert!(count(&predicted(&["--threshold", "0.1"])) > 20);
    let costly = ok(&["score", &model, &data, "--cost", "yes=9"]);
    assert!(costly.out.starts_with(" metric") && costly.out.contains(" cost "), "{}", costly.out);
    assert!(costly.out.contains("on these rows threshold"), "{}", costly.out);
}

#[test]
fn the_positive_class_is_the_one_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (data, model) = rare(folder.path());
    let precision = |more: &[&str]| {
        let words = ["score", &model, &data, "--metric", "precision,auc", "--threshold", "0.1"];
        let found = json(&[&words, more].concat());
        (found["metrics"]["precision"]["value"].clone(), found["metrics"]["auc"]["value"].clone())
    };
    let (yes, no) = (precision(&[]), precision(&["--positive", "no"]));
    assert_ne!(yes.0, no.0);
    assert_eq!(yes.1, no.1);
    let shown = ok(&["score", &model, &data, "--positive", "no"]).out;
    let line = shown.lines().find(|line| line.contains("positive")).unwrap();
    assert!(line.trim_start().starts_with("no "), "{shown}");
    fails(&["score", &model, &data, "--positive", "maybe"], 2, &["maybe", "yes"]);
    fails(&["score", &model, &data, "--threshold", "1.5"], 2, &["[0, 1]"]);
    fails(&["score", &model, &data, "--cost", "yes"], 2, &["CLASS=X"]);
    fails(&["cv", "tree", "cpu", "--threshold", "0.5"], 3, &["numeric"]);
    fails(&["predict", &model, &data, "--threshold", "0.5", "--cost", "yes=2"], 2, &["--cost"]);
    // A parameter of a regressor keeps its name.
    ok(&["cv", "ridge", "cpu", "--positive", "--folds", "3"]);
}

#[test]
fn comparisons_show_the_classes_of_the_chosen_model_and_models_of_one_class() {
    let folder = tempfile::tempdir().unwrap();
    let (data, _) = rare(folder.path());
    let words =
        ["compare", &data, "-t", "y", "--only", "logistic,tree,dummy-classifier,perceptron"];
    let done = ok(&[&words[..], &["--folds", "4"]].concat());
    for part in ["on the test rows of all folds", "precision", "actual", "positive"] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    assert!(done.out.contains("baseline one class"), "{}", done.out);
    let found = json(&[&words[..], &["--folds", "4", "--cost", "yes=9"]].concat());
    assert_eq!(found["answer"]["values"]["sorted_by"], "cost", "{found}");
    let notes = found["answer"]["notes"].to_string();
    assert!(notes.contains("from probability 0.1 on"), "{notes}");
    let cv = ok(&["cv", "logistic", &data, "-t", "y", "--folds", "4", "--threshold", "0.2"]);
    assert!(cv.out.contains("recall") && cv.out.contains("from probability 0.2 on"), "{}", cv.out);
}

#[test]
fn scores_stand_beside_predictions() {
    let folder = tempfile::tempdir().unwrap();
    let model = place(folder.path(), "p.learnt");
    ok(&["fit", "perceptron", "breast_cancer", "-o", &model]);
    let out = ok(&["predict", &model, "breast_cancer", "--scores"]).out;
    assert!(out.starts_with("prediction,decision_scores\n"), "{}", &out[..60]);
    fails(&["predict", &model, "breast_cancer", "--threshold", "0.3"], 2, &["probabilities"]);
}

#[test]
fn a_file_is_cut_into_parts_that_keep_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("id;zip;when;y\r\n");
    for i in 0..40 {
        let class = if i % 4 == 0 { "b" } else { "a" };
        text +=
            &format!("{};0{:04};2024-{:02}-{:02};{class}\r\n", i / 2, i, 1 + i / 28, 1 + i % 28);
    }
    let data = file(folder.path(), "t.csv", &text);
    let out = place(folder.path(), "cut.csv");
    let words = ["split", &data, "-t", "y", "--test", "0.25", "--validation", "4", "-o", &out];
    let done = ok(&words);
    assert!(done.err.trim_end().lines().last().unwrap().starts_with("next: learnt compare"));
    let part = |name: &str| {
        std::fs::read_to_string(folder.path().join(format!("cut-{name}.csv"))).unwrap()
    };
    let rows = |name: &str| part(name).lines().skip(1).map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((rows("train").len(), rows("validation").len(), rows("test").len()), (26, 4, 10));
    // Lines are those of the file, byte for byte, and each is in one part.
    let mut all: Vec<String> =
        ["train", "validation", "test"].iter().flat_map(|name| rows(name)).collect();
    all.sort();
    let mut lines: Vec<String> = text.lines().skip(1).map(ToString::to_string).collect();
    lines.sort();
    assert_eq!(all, lines);
    assert!(part("test").starts_with("id;zip;when;y\r\n") && part("test").contains(";00"));
    // A quarter of the rows is of class b, in every part within one row.
    let share = |name: &str| rows(name).iter().filter(|line| line.ends_with(";b")).count();
    assert!(share("test").abs_diff(3) <= 1 && share("validation") == 1);
    fails(&words, 2, &["exists", "-f"]);
    // Groups stay whole, and the last rows by time are the test rows.
    ok(&["split", &data, "--group", "id", "-o", &out, "-f"]);
    let id = |line: &String| line.split(';').next().unwrap().to_string();
    let (train, test) = (rows("train"), rows("test"));
    assert!(test.iter().all(|line| !train.iter().any(|other| id(other) == id(line))));
    ok(&["split", &data, "--time", "when", "--test", "10", "-o", &out, "-f"]);
    assert_eq!(rows("test"), text.lines().skip(31).collect::<Vec<_>>());
    // Another seed draws other rows, the same seed the same.
    let drawn = |seed: &str| {
        ok(&["split", &data, "--seed", seed, "-o", &out, "-f"]);
        rows("test")
    };
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
    fails(&["split", &data, "--time", "y", "-o", &out, "-f"], 3, &["no dates"]);
    fails(
        &["split", &data, "--test", "2", "--validation", "38", "-o", &out, "-f"],
        3,
        &["cannot be split"],
    );
    // Functions of the verb are still there.
    assert!(ok(&["split", "k-fold", "iris", "--n-splits", "3"]).out.contains("fold"));
}

#[test]
fn long_tables_of_coefficients_show_the_largest_and_count_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = (0..250).map(|j| format!("c{j},")).collect::<String>() + "y\n";
    for i in 0..400_u64 {
        let mixed = |j: u64| (i * 7919 + j * 104_729 + 1).wrapping_mul(2_654_435_761_987) >> 20;
        let cell = |j: u64| (mixed(j) % 1000) as f64 / 100.0;
        text += &(0..250).map(|j| format!("{},", cell(j))).collect::<String>();
        text += &format!("{}\n", 3.0 * cell(77) + 0.01 * cell(3));
    }
    let data = file(folder.path(), "wide.csv", text);
    let model = place(folder.path(), "wide.learnt");
    ok(&["fit", "ridge", &data, "-t", "y", "--alpha", "0.1", "-o", &model]);
    let short = ok(&["summary", &model]).out;
    assert!(short.contains("the 59 largest of 250 coefficients; 0 are zero; --all"), "{short}");
    let rows: Vec<&str> = short.lines().skip_while(|line| !line.contains("(intercept)")).collect();
    assert!(rows[1].trim_start().starts_with("c77 "), "{short}");
    let whole = ok(&["summary", &model, "--all"]).out;
    assert!(whole.lines().count() > 250 && !whole.contains("largest of"), "{whole}");
}

#[test]
fn describe_draws_its_columns() {
    let wide = crate::command(&["describe", "iris"]).env("COLUMNS", "200").output().unwrap();
    let wide = String::from_utf8_lossy(&wide.stdout).into_owned();
    assert!(wide.contains("picture") && wide.contains('█') && wide.contains("75%"), "{wide}");
    let narrow = crate::command(&["describe", "iris"]).env("COLUMNS", "70").output().unwrap();
    let narrow = String::from_utf8_lossy(&narrow.stdout).into_owned();
    assert!(narrow.contains("note") && narrow.contains('█') && !narrow.contains("75%"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 70), "{narrow}");
}

/// Commands of the reference pages with what they print.
fn examples() -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let page = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for block in page.split("```console\n").skip(1) {
            let mut lines = block.lines().take_while(|line| *line != "```");
            let command = lines.next().unwrap().strip_prefix("$ ").unwrap().to_string();
            out.push((command, lines.map(ToString::to_string).collect()));
        }
    }
    out.sort();
    out
}

#[test]
#[cfg(unix)]
fn commands_of_the_reference_print_what_the_pages_show() {
    let all = examples();
    assert!(all.len() > 80, "only {} examples", all.len());
    let binary = env!("CARGO_BIN_EXE_learnt");
    for (command, expected) in all {
        let line = command.replacen("learnt", binary, 1);
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{err}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let shown: Vec<&str> = text.lines().map(str::trim_end).collect();
        let wanted = expected.iter().take_while(|line| !line.starts_with('…'));
        for (k, line) in wanted.enumerate() {
            assert_eq!(shown.get(k).copied(), Some(line.as_str()), "{command}\n{text}");
        }
    }
}

#[test]
#[cfg(unix)]
fn examples_in_the_help_of_learners_with_required_parameters_run() {
    let names = [
        "pipeline",
        "column-transformer",
        "voting-classifier",
        "voting-regressor",
        "stacking-classifier",
        "stacking-regressor",
    ];
    for name in names {
        let help = ok(&["fit", name, "--help"]).out;
        let line = help.lines().map(str::trim).find(|line| line.starts_with("learnt fit")).unwrap();
        let line = line.replacen("learnt", env!("CARGO_BIN_EXE_learnt"), 1);
        let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
        assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
#[cfg(unix)]
fn an_interrupt_is_answered_at_once_and_ends_the_command_within_a_second() {
    use learnt::clock::Moment;
    use std::io::Read;
    use std::process::Stdio;
    use std::time::Duration;
    let words = ["cv", "random-forest-classifier", "breast_cancer", "--n-estimators", "20000"];
    let mut child =
        crate::command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    if child.try_wait().unwrap().is_some() {
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        panic!("ended too early: {err}");
    }
    let sent = Moment::now();
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(3), "{:?}", sent.elapsed());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains("stopping\n") && err.contains("E062"), "{err}");
}

#[test]
fn words_of_other_tools_and_names_without_a_verb_lead_on() {
    fails(&["train", "ridge", "cpu"], 2, &["no verb 'train'", "learnt fit"]);
    fails(&["ridge", "cpu"], 2, &["ridge is a learner: learnt fit ridge DATA"]);
    fails(&["moons"], 2, &["learnt make moons"]);
    fails(&["compair", "iris"], 2, &["did you mean 'compare'?"]);
    fails(&["help", "compair"], 2, &["did you mean 'compare'?"]);
    assert!(ok(&["help", "ridge"]).out.starts_with("ridge (linear_model.Ridge)"));
    assert!(ok(&["help", "moons"]).out.starts_with("learnt make moons"));
    for verb in ["fit", "cv", "tune", "cluster", "reduce", "metric", "study", "make"] {
        let done = crate::learnt(&[verb]);
        assert_eq!(done.code, 2, "{verb}: {}", done.err);
        assert!(done.err.contains("for example: learnt "), "{verb}: {}", done.err);
        assert!(done.err.lines().count() <= 3, "{verb}: {}", done.err);
    }
    fails(&["compare", "iris", "--models", "lda"], 2, &["it is called --only here"]);
    fails(&["fit", "ridge", "cpu", "--random-state", "1"], 2, &["it is called --seed here"]);
    fails(&["cv", "ridge", "cpu", "--nfolds", "5"], 2, &["it is called --folds here"]);
    fails(&["fit", "ridge", "cpu", "--nfolds", "5"], 2, &["unexpected argument '--nfolds'"]);
    assert!(!ok(&["describe", "iris", "--ignore", "species"]).err.contains("next:"));
    fails(&["fit", "fit", "iris"], 2, &["no learner named 'fit'"]);
}

#[test]
fn the_hint_for_a_rare_class_names_it_where_it_is_not_the_last_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (data, _) = rare(folder.path());
    let text = std::fs::read_to_string(data).unwrap().replace("yes", "leave").replace("no", "stay");
    let data = file(folder.path(), "leave.csv", text);
    let model = place(folder.path(), "leave.learnt");
    ok(&["fit", "logistic", &data, "-t", "y", "--C", "0.0001", "-o", &model]);
    let silent = ok(&["score", &model, &data]);
    assert!(silent.err.contains("--positive leave --threshold 0."), "{}", silent.err);
    let words = silent.err.split([' ', ',']).skip_while(|word| *word != "--positive");
    let words: Vec<&str> = words.take(4).collect();
    let found = json(&[&["score", &model, &data], &words[..]].concat());
    assert!(found["classes"][0]["recall"].as_f64().unwrap() > 0.5, "{found}");
}

/// What `next:` proposes, as words of the command.
fn next(said: &str) -> Vec<String> {
    let line = said.lines().find_map(|line| line.strip_prefix("next: learnt ")).unwrap();
    line.split(' ').map(ToString::to_string).collect()
}

#[test]
fn what_split_proposes_next_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("town;size;price\n");
    for i in 0..90 {
        text += &format!("t{};{},5;{}\n", i % 9, i % 7, 3 * (i % 7) + i % 4);
    }
    let data = file(folder.path(), "a.csv", text);
    let out = |name: &str| place(folder.path(), name);
    let runs = |words: &[&str]| {
        let words = next(&ok(words).err);
        ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
        words.join(" ")
    };
    assert!(runs(&["split", &data, "-o", &out("b.csv")]).starts_with("describe "));
    let tree = |words: &[&str]| {
        let words = next(&ok(words).err);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ok(&[&words[..], &["--only", "tree", "--folds", "3"]].concat());
        words.join(" ")
    };
    let grouped = ["split", &data, "-t", "price", "--group", "town", "--task", "regress"];
    let said = tree(&[&grouped[..], &["-o", &out("c.csv")]].concat());
    assert!(said.contains("--group town"), "{said}");
    // The parts are written anew, with commas and the new name.
    let renamed = ["split", &data, "-t", "cost", "--rename", "price=cost", "--task", "regress"];
    let more = ["--delimiter", ";", "-o", &out("d.csv")];
    let said = tree(&[&renamed[..], &more].concat());
    assert!(!said.contains("--rename") && !said.contains("--delimiter"), "{said}");
}

#[test]
fn shares_are_kept_of_classes_and_parts_have_rows() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..100).map(|i| format!("{i}.5,{}\n", i % 3)).collect();
    let data = file(folder.path(), "a.csv", format!("x,y\n{text}"));
    let out = place(folder.path(), "b.csv");
    let words = ["split", &data, "-o", &out];
    let stratified = [&words[..], &["--stratify", "x"]].concat();
    fails(&stratified, 2, &["x has 100 different values", "column of classes"]);
    fails(&[&words[..], &["--test", "0"]].concat(), 2, &["--test", "above 0", "--test 0.25"]);
    ok(&[&words[..], &["--stratify", "y"]].concat());
}
