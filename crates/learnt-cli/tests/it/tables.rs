//! Tables as analysts have them: identifiers, dates, text, holes, many levels, rare classes.

use crate::{fails, file, ok};
use serde_json::Value as Json;
use std::path::Path;

fn make(folder: &Path, name: &str, rows: &str) -> String {
    let path = folder.join(format!("{name}.csv")).to_str().unwrap().to_string();
    ok(&["make", name, "--rows", rows, "-o", &path]);
    path
}

fn place(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_string()
}

#[test]
fn columns_that_are_no_inputs_are_named_once_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let churn = make(folder.path(), "churn", "1500");
    let described = ok(&["describe", &churn, "-t", "Churn", "--all"]);
    for words in ["an identifier (1500 different", "free text", "a date (", "constant"] {
        assert!(described.out.contains(words), "{words}: {}", described.out);
    }
    let model = place(folder.path(), "m.learnt");
    let fit = ok(&["fit", "logistic", &churn, "-t", "Churn", "-o", &model]);
    let left: Vec<&str> = fit.err.lines().filter(|line| line.starts_with("left out:")).collect();
    assert_eq!(left.len(), 5, "{}", fit.err);
    assert!(left.iter().any(|line| line.contains("--keep customerID")), "{}", fit.err);
    assert!(
        fit.err.contains("as a number: ZipCode is a postal code by its name; --type ZipCode=cat ")
    );
    let typed = ["fit", "tree", &churn, "-t", "Churn", "--type", "ZipCode=cat"];
    assert!(!ok(&typed).err.contains("postal code"), "{}", fit.err);
    let schema = ok(&["inspect", &model, "--schema"]).out;
    assert!(!schema.contains("customerID") && !schema.contains("Note"), "{schema}");
    let kept = ok(&["fit", "tree", &churn, "-t", "Churn", "--keep", "Country,ZipCode"]);
    assert!(!kept.err.contains("left out: Country"), "{}", kept.err);
    fails(&["fit", "tree", &churn, "-t", "Churn", "--keep", "Nowhere"], 2, &["Nowhere"]);
}

#[test]
fn levels_that_differ_in_capitals_alone_are_named_and_made_one_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "Paris,1,Yes\nparis ,2,yes\nLyon,3,No\n".repeat(20);
    let data = crate::file(folder.path(), "t.csv", format!("city,y,bought\n{rows}"));
    let fit = ["fit", "ols", &data, "-t", "y"];
    let said = "note: city: 'Paris' and 'paris ' differ in capitals or spaces alone, and are two levels; --type city=tidy";
    let model = place(folder.path(), "m.learnt");
    let tidy = ["--type", "city=tidy", "--type", "bought=tidy"];
    for (words, more) in [(&fit[..], &[][..]), (&fit, &["--stream"]), (&["describe", &data], &[])] {
        let done = ok(&[words, more].concat());
        assert!(done.err.contains(said), "{}", done.err);
        let done = ok(&[words, more, &tidy].concat());
        assert!(!done.err.contains("differ in capitals"), "{}", done.err);
    }
    let done = ok(&[&fit[..], &tidy, &["-o", &model]].concat());
    assert!(done.out.contains("city: paris") && !done.out.contains("Paris"), "{}", done.out);
    assert!(done.err.contains("NEW.csv --type city=tidy --type bought=tidy"), "{}", done.err);
    ok(&["predict", &model, &data, "--type", "city=tidy", "--type", "bought=tidy"]);
    let classes = ok(&["fit", "tree", &data, "-t", "bought"]);
    assert!(classes.err.contains("note: bought: 'Yes' and 'yes' differ"), "{}", classes.err);
}

#[test]
fn dates_of_several_kinds_say_what_to_type_and_are_read_so() {
    let folder = tempfile::tempdir().unwrap();
    let day = |i: usize| match i % 3 {
        0 => format!("2024-0{}-1{} 08:30", 1 + i % 9, i % 7),
        1 => format!("1{}.0{}.2024", i % 7, 1 + i % 9),
        _ => format!("2{}/{}/2023", i % 7, 1 + i % 9),
    };
    let rows: String = (0..90).map(|i| format!("{},{}\n", day(i), i * 7 % 31)).collect();
    let data = crate::file(folder.path(), "d.csv", format!("when,y\n{rows}"));
    let said = "--type when=dmy (day first) or when=mdy reads them, then --date when=year,month";
    let fit = ["fit", "tree", &data, "-t", "y", "--task", "regress"];
    for words in [&fit[..], &["describe", &data]] {
        let done = ok(words);
        assert!(done.err.contains(said), "{}", done.err);
    }
    let date = ["--date", "when=year,month,day,hour"];
    fails(&[&fit[..], &date].concat(), 3, &["written in several ways", "--type when=dmy"]);
    let model = place(folder.path(), "m.learnt");
    let done = ok(&[&fit[..], &date, &["--type", "when=dmy", "-o", &model]].concat());
    assert!(!done.err.contains("several ways"), "{}", done.err);
    let described = ok(&["describe", &data, "--type", "when=dmy"]);
    assert!(described.out.contains("a date (2023-03-2"), "{}", described.out);
    ok(&["predict", &model, &data, "--type", "when=dmy"]);
    let one = ["--type", "when=mdy"];
    fails(&[&["describe", &data], &one[..]].concat(), 3, &["is no date", "line 4", "'22/3/2023'"]);
    let holes = crate::file(folder.path(), "h.csv", format!("when,y\nNA,1\n,2\n{rows}"));
    let found = ok(&["describe", &holes, "--type", "when=dmy", "--json"]).out;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["columns"][0]["missing"], 2);
    let late = crate::file(folder.path(), "l.csv", format!("when,y\n{rows}soon,3\n"));
    fails(&["describe", &late, "--type", "when=dmy"], 3, &["line 92", "'soon'"]);
}

#[test]
fn points_between_thousands_before_a_decimal_comma_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..60).map(|i| format!("{i};{}.{:03},50\n", 1 + i % 3, i * 7)).collect();
    let data = crate::file(folder.path(), "t.csv", format!("n;sales\n{rows}"));
    let said = "sales: read as text because of the thousands separators in '1.000,50'; --decimal-comma --thousands '.'";
    let done = ok(&["describe", &data]);
    assert!(done.err.contains(said), "{}", done.err);
    let found = ok(&["describe", &data, "--decimal-comma", "--thousands", ".", "--json"]).out;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["columns"][1]["min"], 1000.5);
}

#[test]
fn streamed_fits_leave_the_same_texts_out() {
    let folder = tempfile::tempdir().unwrap();
    let churn = make(folder.path(), "churn", "600");
    let done = ok(&["fit", "logistic", &churn, "-t", "Churn", "--stream"]);
    assert!(done.err.contains("left out: customerID is an identifier"), "{}", done.err);
    assert!(done.err.contains("left out: Note is free text"), "{}", done.err);
}

#[test]
fn dates_and_texts_are_inputs_where_that_is_asked_for_and_new_ones_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let churn = make(folder.path(), "churn", "800");
    let model = place(folder.path(), "m.learnt");
    let words = ["fit", "ols", &churn, "-t", "MonthlyCharges", "-o", &model];
    let more = ["--date", "SignupDate=year,elapsed", "--text", "Note=hash:8", "--ignore", "Churn"];
    let more = [&more[..], &["--unknown", "other"]].concat();
    let fit = ok(&[&words[..], &more].concat());
    assert!(
        fit.out.contains("SignupDate: year") && fit.out.contains("Note: words 7"),
        "{}",
        fit.out
    );
    assert!(!fit.err.contains("left out: SignupDate"), "{}", fit.err);
    let other = folder.path().join("new.csv").to_str().unwrap().to_string();
    ok(&["make", "churn", "--rows", "50", "--seed", "9", "-o", &other]);
    let predicted = ok(&["predict", &model, &other]);
    assert_eq!(predicted.out.lines().count(), 51);
    let kept = std::fs::read(&model).unwrap();
    let text = String::from_utf8_lossy(&kept);
    assert!(!text.contains("technician"), "the model file holds texts of training rows");
    ok(&["verify", &model]);
    fails(&["fit", "ols", &churn, "-t", "tenure", "--date", "SignupDate=decade"], 2, &["decade"]);
    fails(&["fit", "ols", &churn, "-t", "tenure", "--date", "City"], 3, &["no date"]);
}

#[test]
fn categories_are_named_as_people_read_them_and_the_reference_level_is_said() {
    let fit = ok(&["fit", "ols", "iris", "-t", "sepal_length"]);
    let expected = [
        ("(intercept)", 2.171266),
        ("species: versicolor", -0.723562),
        ("species: virginica", -1.023498),
        ("sepal_width", 0.495889),
        ("petal_length", 0.829244),
        ("petal_width", -0.315155),
    ];
    for (name, value) in expected {
        let line = fit.out.lines().find(|line| line.trim_start().starts_with(name));
        let words: Vec<f64> = line.unwrap()[name.len() + 1..]
            .split_whitespace()
            .filter_map(|w| w.parse().ok())
            .collect();
        assert!((words[0] - value).abs() < 1e-5, "{name}: {words:?}");
    }
    assert!(fit.out.contains("reference levels: species = setosa"), "{}", fit.out);
    assert!(
        fit.out.contains("adjusted R2 0.862705") && fit.out.contains("F 188.251"),
        "{}",
        fit.out
    );
    assert!(!fit.out.contains('–') && !fit.err.contains("independent"), "{}{}", fit.out, fit.err);
}

#[test]
fn rare_levels_share_a_column_and_the_width_obeys_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let housing = make(folder.path(), "housing", "3000");
    let fit = ok(&["fit", "ridge", &housing, "-t", "SalePrice"]);
    assert!(
        fit.out.contains("Agent: (other)") && fit.out.contains("levels of Agent"),
        "{}",
        fit.out
    );
    assert!(fit.err.contains("columns become"), "{}", fit.err);
    assert!(!fit.err.contains("--na"), "{}", fit.err);
    let words = ["fit", "ridge", &housing, "-t", "SalePrice", "--max-memory", "2MB"];
    fails(&words, 7, &["E060"]);
}

#[test]
fn a_copy_of_the_target_a_training_file_and_a_new_level_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("x,leak,kind,y\n");
    for i in 0..200 {
        let y = if (i * 7919) % 13 < 5 { "yes" } else { "no" };
        text += &format!("{},{},{},{y}\n", (i * 31) % 17, u8::from(y == "yes"), ["a", "b"][i % 2]);
    }
    let data = file(folder.path(), "t.csv", &text);
    let model = place(folder.path(), "m.learnt");
    let fit = ok(&["fit", "logistic", &data, "-t", "y", "-o", &model]);
    assert!(fit.err.contains("'leak' (100.0%) alone predicts the target"), "{}", fit.err);
    assert!(fit.err.trim_end().lines().last().unwrap().starts_with("next: "), "{}", fit.err);
    let score = ok(&["score", &model, &data]);
    assert!(score.err.contains("trained on this very file"), "{}", score.err);
    assert!(score.out.contains("positive") && score.out.contains("precision"), "{}", score.out);
    let other = file(folder.path(), "u.csv", "x,leak,kind,y\n1,0,c,no\n2,1,c,yes\n");
    let lenient = place(folder.path(), "l.learnt");
    ok(&["fit", "logistic", &data, "-t", "y", "-o", &lenient, "--unknown", "other"]);
    let score = ok(&["score", &lenient, &other]);
    assert!(score.err.contains("kind holds 1 levels in 2 rows that training did not see: 'c'"));
    assert!(!score.err.contains("this very file"), "{}", score.err);
}

#[test]
fn an_imbalanced_target_gets_scores_that_suit_it_and_one_class_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let churn = make(folder.path(), "churn", "1000");
    let model = place(folder.path(), "m.learnt");
    let words = ["fit", "dummy-classifier", &churn, "-t", "Churn", "-o", &model];
    ok(&[&words[..], &["--unknown", "other"]].concat());
    let other = folder.path().join("new.csv").to_str().unwrap().to_string();
    ok(&["make", "churn", "--rows", "300", "--seed", "4", "-o", &other]);
    let score = ok(&["score", &model, &other]);
    assert!(score.out.contains("balanced-accuracy"), "{}", score.out);
    assert!(score.err.contains("every row is predicted as 'No'"), "{}", score.err);
    let json: Json = serde_json::from_str(&ok(&["score", &model, &other, "--json"]).out).unwrap();
    assert!(json["classes"][1]["class"] == "Yes", "{json}");
    let words = ["compare", &churn, "-t", "Churn", "--only", "tree,logistic", "--folds", "3"];
    let compared = ok(&[&words[..], &["--keep", "Country"]].concat());
    assert!(compared.out.contains("No 8") && compared.out.contains("Yes 1"), "{}", compared.out);
    let last = compared.err.trim_end().lines().last().unwrap().to_string();
    assert!(last.starts_with("next: ") && last.contains("--keep Country"), "{last}");
}

#[test]
fn semicolons_with_decimal_commas_and_thousands_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "t.csv", "a;b;c\n1,5;x;2\n2,25;y;3\n-0,5;x;4\n");
    let done = ok(&["describe", &data, "--json"]);
    let json: Json = serde_json::from_str(&done.out).unwrap();
    assert_eq!(json["columns"][0]["max"], 2.25, "{}", done.out);
    assert!(done.err.contains("decimal commas, such as '1,5'"), "{}", done.err);
    let even = file(folder.path(), "e.csv", "a;b\n1,5;2,5\n2,25;3,5\n");
    let json: Json = serde_json::from_str(&ok(&["describe", &even, "--json"]).out).unwrap();
    assert_eq!(json["columns"][1]["min"], 2.5);
    let points = file(folder.path(), "p.csv", "a;b\n1.5;x,y\n2.5;z,w\n");
    let json: Json = serde_json::from_str(&ok(&["describe", &points, "--json"]).out).unwrap();
    assert_eq!(json["columns"][0]["max"], 2.5);
    let grouped = file(folder.path(), "g.csv", "a,b\n\"1,234\",1\n\"12,500\",2\n\"999\",3\n");
    let done = ok(&["describe", &grouped]);
    assert!(done.err.contains("thousands separators in '1,234'; --thousands ','"), "{}", done.err);
    let json = ok(&["describe", &grouped, "--thousands", ",", "--json"]).out;
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(json["columns"][0]["max"], 12500.0);
    let holes = "a,b\n,1\n".to_string() + &",2\n".repeat(40) + "Grvl,3\nPave,4\n";
    let done = ok(&["describe", &file(folder.path(), "h.csv", holes)]);
    assert!(!done.err.contains("--na"), "{}", done.err);
}

#[test]
fn help_fits_a_screen_and_every_verb_begins_with_two_examples() {
    let page = ok(&["--help"]).out;
    assert!(page.lines().count() <= 25, "{} lines", page.lines().count());
    let verbs: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("Verbs:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .flat_map(|line| line.split_whitespace().skip(1))
        .collect();
    assert!(verbs.len() > 25, "{verbs:?}");
    let examples = |words: &[&str]| -> Vec<String> {
        let text = ok(words).out;
        let shown: Vec<String> = text
            .lines()
            .skip_while(|line| !line.starts_with("Examples:"))
            .skip(1)
            .take_while(|line| !line.is_empty())
            .map(|line| line.trim().to_string())
            .collect();
        assert!(text.starts_with("Examples:"), "{words:?}: {text}");
        assert!(shown.len() >= 2 && shown.iter().all(|line| line.contains("learnt ")), "{text}");
        shown
    };
    for verb in &verbs {
        let page = ok(&[verb, "--help"]).out;
        assert!(page.lines().count() <= 25, "{verb}: {} lines\n{page}", page.lines().count());
        let place = tempfile::tempdir().unwrap();
        for line in examples(&[verb, "--help"]) {
            crate::guides::shell(&line, place.path());
        }
    }
    for words in [["fit", "ridge"], ["cv", "tree"], ["tune", "knn"], ["curve", "ridge"]] {
        let place = tempfile::tempdir().unwrap();
        for line in examples(&[words[0], words[1], "--help"]) {
            crate::guides::shell(&line, place.path());
        }
    }
}

#[test]
fn help_of_a_learner_has_its_parameters_first_and_all_options_where_it_says() {
    let short = ok(&["fit", "ridge", "--help"]).out;
    assert!(short.lines().count() <= 25, "{} lines\n{short}", short.lines().count());
    let place =
        |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(place(&short, "--alpha") < place(&short, "--target"), "{short}");
    assert!(short.contains("learnt help fit ridge") && !short.contains("--delimiter"), "{short}");
    let whole = ok(&["help", "fit", "ridge"]).out;
    assert!(place(&whole, "--alpha") < place(&whole, "--target"), "{whole}");
    for flag in ["--delimiter", "--checkpoint", "--scale", "--max-memory", "--marks", "--all"] {
        assert!(whole.contains(flag), "{flag}: {whole}");
    }
    assert!(ok(&["help", "fit"]).out.contains("--checkpoint"));
    assert!(ok(&["help", "metric", "roc-curve"]).out.contains("--y-score"));
    let done = crate::learnt(&["fit", "ridg", "cpu"]);
    assert!(done.code == 2 && done.err.contains("did you mean 'ridge'?"), "{}", done.err);
    for (name, hint) in
        [("LightGBM", "'boost'"), ("rpart", "'tree'"), ("svm", "learnt list learners")]
    {
        let done = crate::learnt(&["fit", name, "cpu"]);
        assert!(done.code == 2 && done.err.contains(hint), "{}", done.err);
    }
    let done = crate::learnt(&["metric", "acuracy-score"]);
    assert!(done.code == 2 && done.err.contains("did you mean 'accuracy-score'?"), "{}", done.err);
    let done = crate::learnt(&["help", "fit", "rigde"]);
    assert!(done.code == 2 && done.err.contains("learnt fit --help"), "{}", done.err);
}

#[test]
fn help_of_every_learner_and_function_fits_a_screen() {
    let fits = |words: &[&str]| {
        let text = ok(&[words, &["--help"]].concat()).out;
        let count = text.lines().count();
        assert!(count <= 25, "{words:?}: {count} lines\n{text}");
    };
    for entry in learnt::entries() {
        fits(&["fit", &entry.about.command()]);
    }
    for verb in ["cv", "tune", "curve", "plan"] {
        fits(&[verb, "sgd-classifier"]);
        fits(&[verb, "random-forest-regressor"]);
    }
    for entry in learnt::functions() {
        fits(&[entry.about.kind.verb(), &entry.about.command()]);
    }
    assert!(ok(&["fit", "forest", "--help"]).out.contains("--n-estimators"));
    assert!(ok(&["tune", "forest", "--help"]).out.contains("--grid"));
}

#[test]
fn every_code_is_explained_with_an_example_and_its_mend() {
    let shown = ok(&["help", "E024"]).out;
    assert!(shown.contains("Example:  learnt fit ridge prices --no-prepare"), "{shown}");
    let run = |line: &str| crate::learnt(&line.split_whitespace().skip(1).collect::<Vec<_>>());
    for code in ["E002", "E003", "E004", "E016", "E021", "E024", "E025", "E031"] {
        let text = ok(&["help", code]).out;
        let after = |start: &str| {
            let line = text.lines().find(|line| line.starts_with(start)).unwrap();
            line[start.len()..].trim().to_string()
        };
        let wrong = run(&after("Example:"));
        assert!(wrong.err.contains(code), "{code}: {}", wrong.err);
        assert_eq!(run(&after("Mended:")).code, 0, "{code}");
    }
}

#[test]
fn tables_fit_the_terminal_and_say_what_is_left_out() {
    let shown = |columns: &str, words: &[&str]| {
        let output = crate::command(words).env("COLUMNS", columns).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for columns in ["60", "100", "200"] {
        let text = shown(columns, &["describe", "penguins"]);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{columns}: {widest}\n{text}");
    }
    let narrow = shown("60", &["describe", "penguins"]);
    assert!(narrow.contains("columns shown; --all") && narrow.contains("note"), "{narrow}");
    let all = shown("60", &["describe", "penguins", "--all"]);
    assert!(all.contains("note") && !all.contains("columns shown"), "{all}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("genes.csv").to_str().unwrap().to_string();
    ok(&["make", "genes", "--rows", "40", "--columns", "300", "-o", &path]);
    let fit = ok(&["fit", "ridge", &path, "-t", "gene0001", "--ignore", "subtype"]);
    assert!(
        fit.out.contains("largest of 299 coefficients") && fit.out.lines().count() < 100,
        "{}",
        fit.out
    );
}

#[test]
fn descriptions_keep_their_notes_at_every_width() {
    let folder = tempfile::tempdir().unwrap();
    let path = place(folder.path(), "churn.csv");
    ok(&["make", "churn", "--rows", "300", "-o", &path]);
    for columns in [60, 80, 100, 120, 150, 200] {
        let command = &mut crate::command(&["describe", &path]);
        let output = command.env("COLUMNS", columns.to_string()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}\n{text}");
        for word in ["an identif", "free text", "a date", "constant"] {
            assert!(text.contains(word), "{columns}: {word}\n{text}");
        }
        let whole = text.contains("distinct");
        assert_eq!(
            whole,
            !text.contains("of 13 summary columns shown; --all"),
            "{columns}\n{text}"
        );
    }
}

#[test]
fn a_learner_that_is_asked_for_is_compared_or_refused() {
    let words = ["compare", "iris", "--only", "ridge,logistic", "--folds", "3"];
    fails(
        &words,
        3,
        &["the target has classes, and 'ridge' is no classifier", "--role classifier"],
    );
    let words = ["compare", "cpu", "--only", "ridge,lda", "--folds", "3"];
    fails(&words, 3, &["the target is numeric, and 'lda' is no regressor"]);
}

#[test]
fn the_command_and_the_library_give_the_same_bits() {
    use learnt::context::Context;
    use learnt::params::LearnerSpec;
    use learnt::trained::Trained;
    let folder = tempfile::tempdir().unwrap();
    let data = learnt::datasets::load("cpu").unwrap();
    let run = Context::default();
    let bits = |trained: &Trained| -> Vec<u64> {
        let values = trained.predict(&data.x.frame(), &run).unwrap().into_matrix().into_vec();
        values.into_iter().map(f64::to_bits).collect()
    };
    for name in ["ridge", "lasso", "linear-regression"] {
        let path = learnt::find(name).unwrap().about.path.to_string();
        let learner = learnt::build(&LearnerSpec { learner: path, params: Vec::new() }).unwrap();
        let targets = ["performance".to_string()];
        let direct = Trained::fit(learner.as_ref(), &data.view(), &targets, &run).unwrap();
        for more in [&[][..], &["--no-prepare"]] {
            let file = place(folder.path(), &format!("{name}{}.learnt", more.len()));
            ok(&[&["fit", name, "cpu", "-o", &file][..], more].concat());
            assert_eq!(bits(&learnt::load(&file).unwrap()), bits(&direct), "{name} {more:?}");
        }
    }
}
