//! Formulas and inference as an R user asks for them, against the numbers of R (`tests/golden/statistics.json`,
//! made by `tests/golden/generate/statistics.R`).

use crate::{fails, file, ok};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

fn data(name: &str) -> String {
    golden("data").join(name).to_str().unwrap().to_string()
}

/// R's numbers by name, or in order.
fn expected(name: &str) -> Vec<(String, f64)> {
    let all: Json =
        serde_json::from_str(&std::fs::read_to_string(golden("statistics.json")).unwrap()).unwrap();
    match &all[name] {
        Json::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), value.as_f64().unwrap())).collect()
        }
        Json::Array(items) => {
            items.iter().map(|value| (String::new(), value.as_f64().unwrap())).collect()
        }
        other => panic!("{name}: {other}"),
    }
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn fit(&self, learner: &str, data: &str, formula: &str, extra: &[&str]) -> String {
        let model =
            self.path().join(format!("m{}.learnt", formula.len())).to_str().unwrap().to_string();
        let words = ["fit", learner, data, "--formula", formula, "-f", "-o", &model];
        ok(&[&words, extra].concat());
        model
    }
}

/// The rows of the first table of an answer.
fn rows(words: &[&str]) -> Vec<Json> {
    answer(words)["tables"][0]["rows"].as_array().unwrap().clone()
}

fn answer(words: &[&str]) -> Json {
    let document: Json = serde_json::from_str(&ok(&[words, &["--json"]].concat()).out).unwrap();
    document["report"].clone()
}

/// Compares a column by the names of its terms with R's.
fn same_terms(rows: &[Json], column: &str, name: &str, tolerance: f64) {
    let plain = |name: &str| name.replace("(Intercept)", "(intercept)").to_lowercase();
    let mut compared = 0;
    for (term, value) in expected(name) {
        let found = rows.iter().find(|row| plain(row["term"].as_str().unwrap()) == plain(&term));
        let Some(found) = found else {
            assert!(plain(&term) == "(intercept)", "{name}: no {term} in {rows:?}");
            continue;
        };
        let found = found[column].as_f64().unwrap();
        assert!((found - value).abs() <= tolerance * value.abs(), "{name} {term}: {found} {value}");
        compared += 1;
    }
    assert!(compared > 0, "{name}");
}

fn same_number(found: &Json, value: f64, tolerance: f64, name: &str) {
    let found = found.as_f64().unwrap();
    assert!((found - value).abs() <= tolerance * value.abs(), "{name}: {found} {value}");
}

/// Compares the first rows of a column with R's.
fn same_rows(rows: &[Json], column: &str, name: &str, tolerance: f64) {
    for ((_, value), row) in expected(name).iter().zip(rows) {
        let found = row[column].as_f64().unwrap();
        assert!((found - value).abs() <= tolerance * value.abs(), "{name}: {found} {value}");
    }
}

#[test]
fn every_kind_of_term_and_a_logarithm_of_the_target_are_those_of_r() {
    let (place, cars) = (Place::new(), data("mtcars.csv"));
    let formula = "log(mpg) ~ poly(hp, 2) + I(wt/2) + log(disp + 1) + factor(cyl)";
    for extra in [&[][..], &["--stream"]] {
        let model = place.fit("ols", &cars, formula, extra);
        let table = rows(&["ask", &model, "coefficients"]);
        same_terms(&table, "coefficient", "terms_coefficients", 1e-8);
        same_terms(&table, "std. error", "terms_errors", 1e-8);
        let predicted = ok(&["predict", &model, &cars]).out;
        for ((_, value), line) in expected("terms_predicted").iter().zip(predicted.lines().skip(1))
        {
            let found: f64 = line.parse().unwrap();
            assert!((found - value).abs() < 1e-8 * value, "{found} {value}");
        }
        let on_model = ok(&["predict", &model, &cars, "--method", "link"]).out;
        let first: f64 = on_model.lines().nth(1).unwrap().parse().unwrap();
        assert!((first - expected("terms_predicted")[0].1.ln()).abs() < 1e-9);
        let with = ["--with", "kind=observation", "--with", "level=0.9"];
        let ends = rows(&[&["ask", &model, "intervals", &cars], &with[..]].concat());
        same_rows(&ends, "lower", "terms_lower", 1e-8);
        let said = ok(&["summary", &model]).out;
        assert!(
            said.contains("formula log(mpg) ~ poly(hp, 2)") && said.contains("32 rows"),
            "{said}"
        );
    }
}

#[test]
fn sums_of_squares_of_three_types_are_those_of_r() {
    let place = Place::new();
    let text = std::fs::read_to_string(data("warpbreaks.csv")).unwrap();
    let left_out = [1, 2, 3, 20, 21, 40];
    let kept = text.lines().enumerate().filter(|(i, _)| !left_out.contains(i));
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    let part = file(place.path(), "part.csv", &(kept.join("\n") + "\n"));
    let model = place.fit("ols", &part, "breaks ~ wool * tension", &[]);
    for (kind, name) in [("I", "type_1"), ("II", "type_2"), ("III", "type_3")] {
        let table = rows(&["ask", &model, "anova", "--with", &format!("kind={kind}")]);
        same_terms(&table, "sum of squares", name, 1e-8);
    }
    same_terms(&rows(&["ask", &model, "anova"]), "p", "type_1_p", 1e-7);
    let sums = place.fit("ols", &part, "breaks ~ C(wool, sum) * C(tension, sum)", &[]);
    let table = rows(&["ask", &sums, "anova", "--with", "kind=III"]);
    let found: Vec<f64> = table.iter().map(|row| row["sum of squares"].as_f64().unwrap()).collect();
    let wanted = expected("type_3_sum");
    let at = |name: &str| wanted.iter().find(|(known, _)| known == name).unwrap().1;
    for (found, name) in
        found.iter().zip(["C(wool, sum)", "C(tension, sum)", "C(wool, sum):C(tension, sum)"])
    {
        assert!((found - at(name)).abs() < 1e-8 * at(name), "{name} {found}");
    }
}

#[test]
fn nested_models_and_inflation_are_those_of_r() {
    let (place, cars) = (Place::new(), data("mtcars.csv"));
    let models = ["mpg ~ wt", "mpg ~ wt + hp", "mpg ~ wt * hp + qsec"];
    let models = models.map(|formula| place.fit("ols", &cars, formula, &[]));
    let table = rows(&["anova", &models[0], &models[1], &models[2]]);
    same_rows(&table[1..], "F", "compared_f", 1e-8);
    same_rows(&table[1..], "p", "compared_p", 1e-7);
    let model = place.fit("ols", &cars, "mpg ~ wt + hp + factor(cyl)", &[]);
    same_terms(&rows(&["ask", &model, "vif"]), "VIF", "vif", 1e-8);
    let other = place.fit("ols", &data("iris.csv"), "sepal_length ~ sepal_width", &[]);
    fails(&["anova", &models[0], &other], 2, &["150 rows"]);
    fails(&["anova", &models[0]], 2, &["ask MODEL anova"]);
    let tree = place.path().join("tree.learnt").to_str().unwrap().to_string();
    ok(&["fit", "tree", &cars, "-t", "mpg", "-o", &tree]);
    fails(&["anova", &models[0], &tree], 2, &["versus"]);
}

#[test]
fn rows_with_holes_are_dropped_with_a_count_as_in_r() {
    let (place, air) = (Place::new(), data("airquality.csv"));
    let model = place.path().join("m.learnt").to_str().unwrap().to_string();
    let formula = "Ozone ~ Solar.R + Wind + Temp";
    let done = ok(&["fit", "ols", &air, "--formula", formula, "-o", &model, "--marks"]);
    assert!(done.err.contains("dropped 42 of 153 rows"), "{}", done.err);
    assert!(done.out.contains("42 dropped") && done.out.contains("***"), "{}", done.out);
    same_terms(&rows(&["ask", &model, "coefficients"]), "coefficient", "air_coefficients", 1e-9);
    assert_eq!(expected("air_dropped")[0].1, 42.0);
    same_terms(&rows(&["ask", &model, "robust", &air]), "std. error", "air_hc3", 1e-8);
    // The fifth row has holes: it has no prediction, and rows keep their numbers.
    let predicted = ok(&["predict", &model, &air]).out;
    assert_eq!(predicted.lines().count(), 154);
    assert!(predicted.lines().nth(1).unwrap().parse::<f64>().is_ok());
    assert!(predicted.lines().nth(5).unwrap().parse::<f64>().is_err());
    let influence = rows(&["ask", &model, "influence", &air]);
    assert_eq!((influence.len(), influence[4]["row"].as_i64().unwrap()), (111, 7));
    ok(&["plot", "diagnostics", &model, &air, "-o", &format!("{model}.svg")]);
    let scored = ok(&["score", &model, &air]);
    assert!(scored.err.contains("left out 42 of 153 rows"), "{}", scored.err);
    // A group may be an input of the model too.
    let by_month = place.fit("ols", &air, "Ozone ~ Temp + Month", &[]);
    let with = ["--with", "kind=cluster", "--group", "Month"];
    let clustered = rows(&[&["ask", &by_month, "robust", &air], &with[..]].concat());
    assert_eq!(clustered.len(), 3);
    assert_eq!(rows(&["ask", &by_month, "robust", &air, "--group", "Month"]), clustered);
    // What a question has no use for is not passed over: a setting of it is meant.
    fails(&["ask", &by_month, "anova", "--type", "III"], 2, &["--type", "--with NAME=VALUE"]);
    fails(&["ask", &by_month, "anova", "III"], 2, &["'III' is no file", "--with NAME=VALUE"]);
    let alone = ok(&["ask", &by_month, "vif", &air]);
    assert!(alone.err.contains("is not read"), "{}", alone.err);
    fails(&["fit", "ols", &air, "--formula", "Temp + Wind"], 3, &["before ~"]);
    let filled = ok(&["fit", "ols", &air, "--formula", "Temp ~ Solar.R", "--impute", "median"]);
    assert!(!filled.err.contains("dropped"), "{}", filled.err);
    let ridge = ok(&["fit", "ridge", &air, "--formula", "Temp ~ Solar.R + Wind"]);
    assert!(ridge.err.contains("filled by median"), "{}", ridge.err);
}

#[test]
fn logistic_regression_and_the_binomial_family_answer_as_r() {
    let (place, births) = (Place::new(), data("birthwt.csv"));
    let formula = "low ~ age + lwt + factor(race) + smoke";
    let logistic = place.fit("logistic", &births, formula, &["--penalty", "none", "--tol", "1e-8"]);
    let renamed = |mut table: Vec<Json>| {
        for row in &mut table {
            let name = row["term"].as_str().unwrap().replace("factor(race)", "race");
            row["term"] = Json::String(name);
        }
        table
    };
    let binomial = place.path().join("glm.learnt").to_str().unwrap().to_string();
    ok(&[
        "fit",
        "glm",
        &births,
        "--formula",
        formula,
        "--family",
        "binomial",
        "--tol",
        "1e-14",
        "-o",
        &binomial,
    ]);
    for model in [&logistic, &binomial] {
        let ask = |question: &str, extra: &[&str]| {
            renamed(rows(&[&["ask", model, question], extra].concat()))
        };
        same_terms(&ask("coefficients", &[]), "coefficient", "logit_coefficients", 1e-6);
        same_terms(&ask("ratios", &[]), "odds ratio", "logit_ratios", 1e-6);
        same_terms(&ask("ratios", &[]), "lower", "logit_wald_lower", 1e-6);
        let profile = ask("profile", &[&births]);
        same_terms(&profile, "lower", "logit_profile_lower", 1e-3);
        same_terms(&profile, "upper", "logit_profile_upper", 1e-3);
        same_terms(&ask("anova", &[&births]), "deviance", "logit_deviance_1", 1e-7);
        same_terms(
            &ask("anova", &[&births, "--with", "kind=II"]),
            "deviance",
            "logit_deviance_2",
            1e-6,
        );
        same_terms(
            &ask("robust", &[&births, "--with", "kind=hc0"]),
            "std. error",
            "logit_hc0",
            1e-6,
        );
        same_terms(&ask("robust", &[&births]), "std. error", "logit_hc3", 1e-6);
        let cluster = ["--with", "kind=cluster", "--group", "ftv"];
        let clustered = ask("robust", &[&[births.as_str()], &cluster[..]].concat());
        same_terms(&clustered, "std. error", "logit_cluster", 1e-6);
        let residuals = rows(&["ask", model, "residuals", &births]);
        for kind in ["response", "pearson", "deviance", "working"] {
            same_rows(&residuals, kind, &format!("logit_{kind}"), 1e-6);
        }
        let influence = rows(&["ask", model, "influence", &births]);
        same_rows(&influence, "leverage", "logit_leverage", 1e-6);
        same_rows(&influence, "cook", "logit_cook", 1e-5);
        same_rows(&influence, "standardised", "logit_standardised", 1e-6);
        let intervals = rows(&["ask", model, "intervals", &births]);
        same_rows(&intervals, "lower", "logit_interval_lower", 1e-6);
        same_terms(&ask("vif", &[]), "VIF", "logit_vif", 1e-6);
        let terms = ask("terms", &[]);
        let race = terms.iter().find(|row| row["term"] == "race").unwrap();
        let wald = expected("logit_wald_race")[0].1;
        assert!((race["chi2"].as_f64().unwrap() - wald).abs() < 1e-6 * wald);
    }
    ok(&["plot", "diagnostics", &binomial, &births, "-o", &format!("{binomial}.svg")]);
}

#[test]
fn rates_with_an_offset_are_those_of_r() {
    let place = Place::new();
    let text = std::fs::read_to_string(data("warpbreaks.csv")).unwrap();
    let with_days = |(i, line): (usize, &str)| match i {
        0 => format!("{line},days"),
        i => format!("{line},{}", 10 + i),
    };
    let lines: Vec<String> = text.lines().enumerate().map(with_days).collect();
    let table = file(place.path(), "days.csv", &(lines.join("\n") + "\n"));
    let formula = "breaks ~ wool + tension + offset(log(days))";
    for extra in [&[][..], &["--stream"]] {
        let model = place.fit(
            "glm",
            &table,
            formula,
            &[&["--family", "poisson", "--tol", "1e-14"], extra].concat(),
        );
        let found = rows(&["ask", &model, "coefficients"]);
        same_terms(&found, "coefficient", "rate_coefficients", 1e-7);
        same_terms(&found, "std. error", "rate_errors", 1e-7);
        assert!(found.iter().all(|row| row["term"] != "(offset)"));
        let predicted = ok(&["predict", &model, &table]).out;
        for ((_, value), line) in expected("rate_predicted").iter().zip(predicted.lines().skip(1)) {
            let found: f64 = line.parse().unwrap();
            assert!((found - value).abs() < 1e-7 * value, "{found} {value}");
        }
        same_terms(&rows(&["ask", &model, "anova", &table]), "deviance", "rate_deviance_1", 1e-7);
        let profile = rows(&["ask", &model, "profile", &table]);
        same_terms(&profile, "lower", "rate_profile_lower", 1e-3);
        let said = ok(&["summary", &model]).out;
        assert!(said.contains("(offset) is added"), "{said}");
    }
    let cars = data("mtcars.csv");
    let model = place.fit("ols", &cars, "mpg ~ wt + offset(0.1 * qsec)", &[]);
    same_terms(&rows(&["ask", &model, "coefficients"]), "coefficient", "offset_coefficients", 1e-9);
    let words = ["fit", "lda", &data("birthwt.csv"), "--formula", "low ~ age + offset(lwt)"];
    fails(&words, 2, &["takes no offset", "fit logistic"]);
}

/// Terms of the column `race` by R's names.
fn of_race(mut rows: Vec<Json>) -> Vec<Json> {
    for row in &mut rows {
        let name = row["term"].as_str().unwrap().replace("factor(race)", "race");
        row["term"] = Json::String(name);
    }
    rows
}

#[test]
fn logistic_regression_with_an_offset_is_that_of_r() {
    let (place, births) = (Place::new(), data("birthwt.csv"));
    let terms = "lwt + factor(race) + smoke + offset(age/40 - 0.5)";
    let free = ["--penalty", "none", "--tol", "1e-9"];
    for extra in [&[][..], &["--stream"]] {
        let words = [&free[..], extra].concat();
        let model = place.fit("logistic", &births, &format!("low ~ {terms}"), &words);
        let found = of_race(rows(&["ask", &model, "coefficients"]));
        same_terms(&found, "coefficient", "logit_offset_coefficients", 1e-7);
        same_terms(&found, "std. error", "logit_offset_errors", 1e-7);
        assert!(found.iter().all(|row| row["term"] != "(offset)"));
        let fit = answer(&["ask", &model, "goodness"]);
        for (name, key) in
            [("deviance", "logit_offset_deviance"), ("null deviance", "logit_offset_null")]
        {
            let (found, value) = (fit["values"][name].as_f64().unwrap(), expected(key)[0].1);
            assert!((found - value).abs() < 1e-8 * value, "{name}: {found} {value}");
        }
        let predicted = ok(&["predict", &model, &births, "--proba"]).out;
        for ((_, value), line) in
            expected("logit_offset_predicted").iter().zip(predicted.lines().skip(1))
        {
            let found: f64 = line.split(',').next_back().unwrap().parse().unwrap();
            assert!((found - value).abs() < 1e-7 * value, "{found} {value}");
        }
        let deviances = of_race(rows(&["ask", &model, "anova", &births]));
        same_terms(&deviances, "deviance", "logit_offset_deviance_1", 1e-6);
        // R reads the ends off a spline through the profile; the zeros themselves are a few 1e-5 away.
        let profile = of_race(rows(&["ask", &model, "profile", &births]));
        same_terms(&profile, "lower", "logit_offset_profile_lower", 1e-4);
        let zeros =
            [-1.7962267516, -0.0274132479693, 0.363064114863, 0.21776812867, 0.347506943585];
        for (row, zero) in profile.iter().zip(zeros) {
            let found = row["lower"].as_f64().unwrap();
            assert!((found - zero).abs() < 1e-8 * f64::abs(zero), "{row}: {zero}");
        }
        let said = ok(&["summary", &model]).out;
        assert!(said.contains("(offset) is added to the score"), "{said}");
    }
    let origin =
        place.fit("logistic", &births, "low ~ lwt + smoke + offset(age/40 - 0.5) - 1", &free);
    let null = answer(&["ask", &origin, "goodness"])["values"]["null deviance"].as_f64().unwrap();
    let value = expected("logit_offset_origin_null")[0].1;
    assert!((null - value).abs() < 1e-8 * value, "{null} {value}");
    // A penalty of either kind goes with an offset; classes of more than two do not.
    for penalty in ["l1", "l2"] {
        let formula = format!("low ~ {terms}");
        let words = ["fit", "logistic", &births, "--formula", &formula, "--penalty", penalty];
        let said = ok(&words).out;
        assert!(said.contains("(offset) is added to the score"), "{said}");
    }
    fails(
        &["fit", "logistic", &data("iris.csv"), "-t", "species", "--offset", "petal_width"],
        3,
        &["two classes"],
    );
}

#[test]
fn intervals_of_new_observations_are_quantiles_as_r_computes_them() {
    let (place, breaks) = (Place::new(), data("warpbreaks.csv"));
    let ends = |formula: &str, words: &[&str], level: &str| {
        let words = [words, &["--tol", "1e-14"]].concat();
        let model = place.fit("glm", &breaks, formula, &words);
        let level = format!("level={level}");
        let ask = ["ask", &model, "intervals", &breaks, "--with", "kind=observation"];
        let found = rows(&[&ask[..], &["--with", &level, "--all"]].concat());
        [0, 9, 49].map(|row| found[row].clone()).to_vec()
    };
    let (log, both) = (["--link", "log"], "breaks ~ wool * tension");
    let counts = ends(both, &["--family", "poisson"], "0.95");
    same_rows(&counts, "lower", "new_counts_lower", 0.0);
    same_rows(&counts, "upper", "new_counts_upper", 0.0);
    let gamma = ends(both, &[&["--family", "gamma"], &log[..]].concat(), "0.9");
    same_rows(&gamma, "lower", "new_gamma_lower", 1e-6);
    same_rows(&gamma, "upper", "new_gamma_upper", 1e-6);
    let inverse = ends("breaks ~ wool + tension", &["--family", "gamma"], "0.95");
    same_rows(&inverse, "upper", "new_inverse_upper", 1e-6);
    let words = [&["--family", "inverse-gaussian"], &log[..]].concat();
    same_rows(&ends("breaks ~ wool + tension", &words, "0.95"), "upper", "new_wald_upper", 1e-6);
    same_rows(&ends(both, &[], "0.95"), "upper", "new_normal_upper", 1e-8);
    let births = data("birthwt.csv");
    let model = place.fit("logistic", &births, "low ~ age", &["--penalty", "none"]);
    let ask = ["ask", &model, "intervals", &births, "--with", "kind=observation"];
    fails(&ask, 2, &["kind=mean"]);
}

#[test]
fn an_estimated_dispersion_is_tested_as_in_r() {
    let (place, breaks) = (Place::new(), data("warpbreaks.csv"));
    let words = ["--family", "gamma", "--link", "log", "--tol", "1e-14"];
    let model = place.fit("glm", &breaks, "breaks ~ wool * tension", &words);
    same_terms(&rows(&["ask", &model, "anova", &breaks]), "F", "gamma_f", 1e-6);
    let profile = rows(&["ask", &model, "profile", &breaks]);
    same_terms(&profile, "upper", "gamma_profile_upper", 1e-3);
}

#[test]
fn many_classes_and_discriminants_are_tested_as_in_r() {
    let (place, iris) = (Place::new(), data("iris.csv"));
    let births = data("birthwt.csv");
    let words = ["--penalty", "none", "--max-iter", "1000", "--tol", "1e-8"];
    let model = place.fit("logistic", &births, "race ~ age + lwt", &words);
    let table = rows(&["ask", &model, "anova", &births, "--with", "kind=II"]);
    same_terms(&table, "deviance", "classes_deviance_2", 1e-5);
    let ratios = rows(&["ask", &model, "ratios"]);
    assert!(ratios.iter().any(|row| row["term"] == "3: lwt"), "{ratios:?}");
    fails(&["ask", &model, "profile", &births], 2, &["two classes"]);
    let lda = place.path().join("lda.learnt").to_str().unwrap().to_string();
    ok(&["fit", "lda", &iris, "-t", "species", "-o", &lda]);
    let means = answer(&["ask", &lda, "tests", &iris])["values"].clone();
    for (name, value) in expected("wilks") {
        let said = match name.as_str() {
            "lambda" => &means["Wilks' lambda"],
            "f" => &means["F"],
            other => &means[other],
        };
        same_number(said, value, 1e-8, &name);
    }
    let covariances = answer(&["ask", &lda, "equal_covariances", &iris])["values"].clone();
    same_number(&covariances["M"], expected("box_m")[0].1, 1e-9, "box_m");
}

#[test]
fn mistakes_say_what_to_type_instead() {
    let (cars, births) = (data("mtcars.csv"), data("birthwt.csv"));
    let said = |learner: &str, data: &str, formula: &str, code: i32, part: &str| {
        fails(&["fit", learner, data, "--formula", formula], code, &[part]);
    };
    let place = Place::new();
    let odd = file(place.path(), "odd.csv", "the price,area (m2)\n3,1\n5,2\n9,3\n20,4\n33,5\n");
    ok(&["fit", "ols", &odd, "--formula", "log(`the price`) ~ log(`area (m2)`)"]);
    said("glm", &data("iris.csv"), "species ~ sepal_length", 3, "logistic --penalty none");
    said("ols", &cars, "abs(mpg) ~ wt", 2, "no inverse");
    said("ols", &cars, "log(vs) ~ wt", 3, "row 1");
    said("ols", &cars, "cbind(mpg, wt) ~ hp", 2, "--weight");
    said("ols", &cars, "mpg ~ ns(wt, 3)", 2, "poly(");
    said("ols", &cars, "mpg ~ poly(cyl, 3)", 3, "different values");
    said("ols", &cars, "mpg ~ C(cyl, 5)", 2, "level named '5'");
    said("logistic", &births, "log(low) ~ age", 2, "function of the target");
}

/// A table of `tests/golden/data` with one column more, made from each row's fields by name.
fn with_column(
    place: &Place,
    name: &str,
    column: &str,
    made: impl Fn(&dyn Fn(&str) -> f64) -> f64,
) -> String {
    let text = std::fs::read_to_string(data(name)).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut out = format!("{},{column}\n", head.join(","));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |wanted: &str| -> f64 {
            fields[head.iter().position(|known| *known == wanted).unwrap()].parse().unwrap()
        };
        out += &format!("{line},{}\n", made(&field));
    }
    file(place.path(), name, &out)
}

#[test]
fn weights_are_precisions_as_in_r_and_rows_of_weight_zero_do_not_count() {
    let place = Place::new();
    let cars = with_column(&place, "mtcars.csv", "times", |field| field("carb") - 1.0);
    let formula = "mpg ~ wt + factor(cyl)";
    let weight = ["--weight", "times"];
    let compared = |model: &str, name: &str| {
        let found = answer(&["ask", model, "goodness"])["values"].clone();
        for (figure, value) in expected(name) {
            let key = if figure.ends_with("ic") { figure.to_uppercase() } else { figure };
            same_number(&found[&key], value, 1e-8, name);
        }
    };
    for extra in [&weight[..], &["--weight", "times", "--stream"]] {
        let model = place.fit("ols", &cars, formula, extra);
        same_terms(&rows(&["ask", &model, "coefficients"]), "std. error", "weighted_errors", 1e-8);
        compared(&model, "weighted_fit");
        for kind in ["hc1", "hc3"] {
            let with = format!("kind={kind}");
            let table = rows(&["ask", &model, "robust", &cars, "--with", &with]);
            same_terms(&table, "std. error", &format!("weighted_{kind}"), 1e-8);
        }
        let all = rows(&["ask", &model, "influence", &cars]);
        let counted: Vec<Json> =
            all.into_iter().filter(|row| row["leverage"].as_f64().unwrap() > 0.0).collect();
        assert_eq!(counted.len(), expected("weighted_cook").len());
        same_rows(&counted, "cook", "weighted_cook", 1e-7);
        for (family, link) in [("normal", "identity"), ("gamma", "log")] {
            let words = ["--family", if family == "normal" { "gaussian" } else { family }];
            let law = [&words[..], &["--link", link, "--tol", "1e-14"], extra].concat();
            let model = place.fit("glm", &cars, formula, &law);
            let table = rows(&["ask", &model, "coefficients"]);
            same_terms(&table, "std. error", &format!("weighted_{family}_errors"), 1e-7);
            compared(&model, &format!("weighted_{family}_fit"));
        }
    }
    let law = ["--family", "gamma", "--link", "log", "--tol", "1e-14", "--weight", "times"];
    let model = place.fit("glm", &cars, formula, &law);
    same_terms(&rows(&["ask", &model, "anova", &cars]), "F", "weighted_gamma_f", 1e-7);
    let births = with_column(&place, "birthwt.csv", "times", |field| 1.0 + field("ftv"));
    let classes = ["--task", "classify", "--penalty", "none", "--tol", "1e-12"];
    let model =
        place.fit("logistic", &births, "low ~ age + lwt", &[&classes, &weight[..]].concat());
    compared(&model, "weighted_logit_fit");
}

#[test]
fn a_model_is_asked_with_the_weights_of_its_training() {
    let place = Place::new();
    let cars = with_column(&place, "mtcars.csv", "times", |field| field("carb") - 1.0);
    let model = place.fit("ols", &cars, "mpg ~ wt + factor(cyl)", &["--weight", "times"]);
    let said = ok(&["ask", &model, "robust", &cars]);
    assert!(said.err.contains("rows count by 'times', as in training"), "{}", said.err);
    let named = ok(&["ask", &model, "robust", &cars, "--weight", "times"]);
    assert_eq!(said.out, named.out);
    let without = ["ask", &model, "influence", &data("mtcars.csv")];
    fails(&without, 2, &["'times'", "--weight COLUMN"]);
    ok(&["ask", &model, "intervals", &data("mtcars.csv")]);
}

#[test]
fn an_offset_of_a_changed_target_is_in_fitted_values_and_intervals() {
    let (place, cars) = (Place::new(), data("mtcars.csv"));
    let model = place.fit("ols", &cars, "log(mpg) ~ wt + offset(hp / 200)", &[]);
    same_rows(&rows(&["ask", &model, "influence", &cars]), "fitted", "offset_fitted", 1e-9);
    let link = rows(&["ask", &model, "intervals", &cars, "--with", "scale=link"]);
    same_rows(&link, "lower", "offset_link_lower", 1e-9);
    same_rows(&rows(&["ask", &model, "intervals", &cars]), "lower", "offset_lower", 1e-9);
}

#[test]
fn terms_inside_terms_are_those_of_r() {
    let (place, breaks) = (Place::new(), data("warpbreaks.csv"));
    for (formula, name) in [
        ("breaks ~ wool / tension", "nested_coefficients"),
        ("breaks ~ wool + tension %in% wool", "inside_coefficients"),
    ] {
        let model = place.fit("ols", &breaks, formula, &[]);
        same_terms(&rows(&["ask", &model, "coefficients"]), "coefficient", name, 1e-9);
    }
}

#[test]
fn a_target_on_the_right_side_and_the_mean_alone_are_refused_with_what_to_type() {
    let cars = data("mtcars.csv");
    let fit = |formula| ["fit", "ols", &cars, "--formula", formula];
    fails(&fit("mpg ~ wt + mpg"), 2, &["'mpg' stands on both sides"]);
    fails(&fit("mpg ~ 1"), 2, &["learnt fit dummy"]);
}
