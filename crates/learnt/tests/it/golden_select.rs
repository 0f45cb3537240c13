//! Estimates of error against reference numbers (tests/golden/select.json).

use crate::golden_case::{Case, matrix, numbers};
use learnt::compose::Pipeline;
use learnt::datasets::generate::{Legendre, LegendreTarget, legendre_values};
use learnt::discriminant::LinearDiscriminantAnalysis;
use learnt::linear::diagnostics::influence;
use learnt::linear::{LinearRegression, LogisticRegression, Penalty, Ridge, RidgeCV};
use learnt::metrics;
use learnt::neighbors::KNeighborsClassifier;
use learnt::prelude::*;
use learnt::prepare::{PolynomialFeatures, StandardScaler};
use learnt::select::{Split, Splitter, cross_validate};
use learnt::stats::summary;
use serde_json::{Value as Json, json};

fn case(id: &str) -> Case {
    Case::new("select.json", id)
}

/// A part of a case's input as a case of its own.
fn part(id: &str, name: &str) -> Case {
    Case::of(json!({ "id": id, "input": case(id).input(name) }))
}

/// Means over the rows of scores on held-out parts.
fn held_out(
    learner: &dyn AnyEstimator,
    data: &OwnedDataset,
    splits: &[Split],
    names: &[&str],
) -> Vec<f64> {
    let metrics: Vec<_> = names.iter().map(|name| metrics::find(name).unwrap()).collect();
    let run = Context::default();
    let result = cross_validate(learner, &data.view(), splits, &metrics, &run).unwrap();
    let n = data.view().nrows() as f64;
    let mean = |m: usize| {
        let scores = result.complete(m).unwrap();
        scores.iter().zip(splits).map(|(score, s)| score * s.test.len() as f64 / n).sum()
    };
    (0..metrics.len()).map(mean).collect()
}

fn leave_one_out(data: &OwnedDataset) -> Vec<Split> {
    let run = Context::default();
    Splitter::LeaveOneOut.splits(&data.view(), &run).unwrap().collect()
}

/// Folds of the rows with equal remainders.
fn by_remainder(rows: usize, folds: usize) -> Vec<Split> {
    let fold = |k: usize| {
        let (test, train) = (0..rows).partition(|i| i % folds == k);
        Split { train, test }
    };
    (0..folds).map(fold).collect()
}

#[test]
fn leaving_out_each_of_three_points() {
    let case = case("loo-three-points");
    let data = case.regression();
    let plain = LinearRegression { fit_intercept: false, ..Default::default() };
    let model = plain.fit(&data.view()).unwrap();
    let found = influence(&model, &data.view(), 0).unwrap();
    case.close("leverage", &found.leverage);
    let splits = leave_one_out(&data);
    case.close("e_cv", held_out(&plain, &data, &splits, &["mse"]));
    let residuals: Vec<f64> = splits
        .iter()
        .map(|split| {
            let model = plain.fit(&data.view().gather(&split.train).view()).unwrap();
            let test = data.view().gather(&split.test);
            let Some(OwnedTarget::Real(y)) = &test.y else { panic!("numbers") };
            model.predict(&test.x.frame()).unwrap()[(0, 0)] - y[(0, 0)]
        })
        .collect();
    case.close("loo_residuals", residuals);
    let ridge = Ridge { alpha: 1.0, fit_intercept: false, ..Default::default() };
    case.close("ridge_e_cv", held_out(&ridge, &data, &splits, &["mse"]));
    case.close("ridge_e_cv", [analytic(1.0, &data)]);
    let trace = ridge.fit(&data.view()).unwrap().effective_df.unwrap();
    case.close("ridge_trace", trace);
}

/// The leave-one-out error of ridge without an intercept, by leverages.
fn analytic(alpha: f64, data: &OwnedDataset) -> f64 {
    let learner = RidgeCV { alphas: vec![alpha], fit_intercept: false, cv: None };
    -learner.fit(&data.view()).unwrap().best_score
}

#[test]
fn leave_one_out_by_leverage_keeps_the_penalty_of_all_rows() {
    let case = case("loo-lambda-scaling");
    let (x, y) = (numbers(case.input("x")), numbers(case.input("y")));
    let powers = Matrix::from_fn(x.len(), 5, |i, q| x[i].powi(q as i32));
    let data = OwnedDataset::regression(powers, y);
    let splits = leave_one_out(&data);
    let refits = |alpha: f64| {
        let ridge = Ridge { alpha, fit_intercept: false, ..Default::default() };
        held_out(&ridge, &data, &splits, &["mse"])
    };
    case.close("formula", [analytic(0.1, &data)]);
    case.close("refits_same_lambda", refits(0.1));
    // The mean of the losses has N lambda beside the sum of squares; without one row, N - 1 times.
    case.close("refits_shrunk_lambda", refits(0.1 * 11.0 / 12.0));
}

#[test]
fn cross_validation_is_that_of_r() {
    let (id, case) = ("cross-validation-glm", case("cross-validation-glm"));
    let cars = part(id, "mtcars").regression();
    let line = LinearRegression::default();
    case.close("loocv_mtcars", held_out(&line, &cars, &leave_one_out(&cars), &["mse"]));
    let births = part(id, "birthwt").classification();
    let logistic = LogisticRegression {
        penalty: Penalty::Nothing,
        tol: 1e-10,
        ..LogisticRegression::default()
    };
    let names = ["brier", "accuracy", "log-loss"];
    let one = held_out(&logistic, &births, &leave_one_out(&births), &names);
    case.close("loocv_birthwt_brier", &one[..1]);
    case.close("loocv_birthwt_error", [1.0 - one[1]]);
    let five = held_out(&logistic, &births, &by_remainder(births.view().nrows(), 5), &names);
    case.close("fivefold_birthwt_error", [1.0 - five[1]]);
    case.close("fivefold_birthwt_nll", &five[2..]);
}

#[test]
fn criteria_and_left_out_errors_of_polynomials() {
    let case = case("polynomial-degree-cars");
    let data = case.regression();
    let splits = leave_one_out(&data);
    let (mut aic, mut bic, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for degree in 1..=6 {
        let powers = PolynomialFeatures { degree, include_bias: false, ..Default::default() };
        let x = powers.fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
        let data = OwnedDataset { x, ..data.clone() };
        let line = LinearRegression::default();
        let table = line.fit(&data.view()).unwrap().inference(0, 0.95).unwrap();
        aic.push(table.aic);
        bic.push(table.bic);
        left_out.extend(held_out(&line, &data, &splits, &["mse"]));
    }
    case.close("aic", &aic);
    case.close("bic", &bic);
    case.close("loocv", &left_out);
    for (name, values) in [("aic", aic), ("bic", bic), ("loocv", left_out)] {
        let best = (0..6).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
        assert_eq!(best + 1, case.expect("best")[name].as_u64().unwrap() as usize, "{name}");
    }
}

#[test]
fn leave_one_out_of_ridge_on_diabetes() {
    let case = case("ridge-loo-gcv-diabetes");
    let data = case.regression();
    let (mut left_out, mut freedom) = (Vec::new(), Vec::new());
    for alpha in numbers(case.param("lam")) {
        let learner = RidgeCV { alphas: vec![alpha], ..RidgeCV::default() };
        left_out.push(-learner.fit(&data.view()).unwrap().best_score);
        let ridge = Ridge { alpha, ..Ridge::default() }.fit(&data.view()).unwrap();
        freedom.extend(ridge.effective_df.unwrap());
    }
    case.close("loocv", left_out);
    case.close("df", freedom);
}

#[test]
fn scaling_inside_the_folds_of_wine() {
    let case = case("knn-cv-scaling-inside");
    let data = case.classification();
    let rows = data.view().nrows();
    for (k, errors) in numbers(case.param("k")).iter().zip(numbers(case.expect("errors"))) {
        let neighbours = KNeighborsClassifier { n_neighbors: *k as usize, ..Default::default() };
        let learner = Pipeline::default()
            .then("scale", StandardScaler::default())
            .then("neighbours", neighbours);
        let accuracy = held_out(&learner, &data, &by_remainder(rows, 6), &["accuracy"])[0];
        let wrong = (1.0 - accuracy) * rows as f64;
        assert!((wrong - errors).abs() <= 1.0 + 1e-9, "{k}: {wrong} errors, not {errors}");
    }
}

#[test]
fn more_rows_of_iris_teach_more() {
    let case = case("learning-curve-lda");
    let data = case.classification();
    let order: Vec<usize> = (0..150).map(|i| 47 * i % 150).collect();
    let errors = |model: &dyn Classifier, rows: &[usize]| {
        crate::golden::errors(model, &data.view().gather(rows)) as f64
    };
    let expected = matrix(case.expect("train_test_errors"));
    for (i, size) in numbers(case.param("sizes")).iter().enumerate() {
        let train = &order[..*size as usize];
        let learner = LinearDiscriminantAnalysis::default();
        let model = learner.fit(&data.view().gather(train).view()).unwrap();
        let found = [errors(&model, train), errors(&model, &order[100..])];
        assert_eq!(found, expected.row(i), "{size}");
    }
}

/// A draw of the rows of a target of Legendre polynomials.
struct Draw {
    x: Vec<f64>,
    y: Vec<f64>,
    target: LegendreTarget,
}

fn draw(law: &Legendre, seed: u64) -> Draw {
    let run = Context::default().with_seed(seed);
    let data = law.compute_in((), &run).unwrap();
    let y = data.value.view().real_target().unwrap().column(0);
    Draw { x: data.value.x.values().column(0), y, target: law.target(&run) }
}

impl Draw {
    /// Coefficients of the polynomials up to a degree, fitted to some of the rows.
    fn fit(&self, rows: &[usize], degree: usize, alpha: f64) -> Vec<f64> {
        let x: Vec<Vec<f64>> = rows.iter().map(|&i| legendre_values(self.x[i], degree)).collect();
        let y = rows.iter().map(|&i| self.y[i]).collect();
        let data = OwnedDataset::regression(Matrix::from_rows(&x).unwrap(), y);
        let ridge = Ridge { alpha, fit_intercept: false, ..Ridge::default() };
        ridge.fit(&data.view()).unwrap().coef.as_slice().to_vec()
    }

    /// The exact error on new rows without their noise.
    fn error(&self, coefficients: &[f64]) -> f64 {
        self.target.squared_distance(coefficients)
    }
}

fn within(range: &Json, got: f64, what: &str) {
    let end = |name: &str| range[name].as_f64().unwrap();
    assert!((end("min")..=end("max")).contains(&got), "{what}: {got} is not in {range}");
}

#[test]
fn overfitting_falls_with_rows_and_rises_with_noise_as_recorded() {
    let case = case("overfit-catalysts");
    for rows in [20, 40, 80, 120] {
        for (variance, name) in [(0.5_f64, "0.5"), (2.0, "2")] {
            let law = Legendre {
                n_samples: rows,
                degree: 20,
                noise: variance.sqrt(),
                ..Default::default()
            };
            let all: Vec<usize> = (0..rows).collect();
            let excess = |seed: u64| {
                let draw = draw(&law, seed);
                let error = |degree: usize| draw.error(&draw.fit(&all, degree, 0.0));
                error(10) - error(2)
            };
            let median = summary::median(&(0..600).map(excess).collect::<Vec<_>>()).unwrap();
            let key = format!("N={rows},s2={name}");
            within(&case.expect("")[&key], median, &key);
        }
    }
}

#[test]
fn too_little_regularisation_costs_more_than_too_much() {
    let case = case("too-little-regularisation");
    let law = Legendre { n_samples: 30, degree: 15, noise: 0.5_f64.sqrt(), ..Default::default() };
    let all: Vec<usize> = (0..30).collect();
    for (name, range) in case.expect("e_out").as_object().unwrap() {
        let alpha: f64 = name.parse().unwrap();
        let error = |seed: u64| {
            let draw = draw(&law, seed);
            draw.error(&draw.fit(&all, 15, alpha))
        };
        within(range, (0..400).map(error).sum::<f64>() / 400.0, name);
    }
}

#[test]
fn retraining_on_all_rows_beats_the_partial_fit() {
    let case = case("validation-retrain-wins");
    let law = Legendre { n_samples: 35, degree: 10, noise: 0.4_f64.sqrt(), ..Default::default() };
    let all: Vec<usize> = (0..35).collect();
    let mut gaps = Vec::new();
    for held in numbers(case.param("K")) {
        let (train, validate) = all.split_at(35 - held as usize);
        let (mut partial, mut refitted) = (0.0, 0.0);
        for seed in 0..1000 {
            let draw = draw(&law, seed);
            let miss = |coefficients: &[f64]| -> f64 {
                let at = |&i: &usize| {
                    let values = legendre_values(draw.x[i], coefficients.len() - 1);
                    let fit: f64 = values.iter().zip(coefficients).map(|(v, c)| v * c).sum();
                    (draw.y[i] - fit).powi(2)
                };
                validate.iter().map(at).sum()
            };
            let fits = [2, 5].map(|degree| draw.fit(train, degree, 0.0));
            let best = usize::from(miss(&fits[1]) < miss(&fits[0]));
            partial += draw.error(&fits[best]) / 1000.0;
            refitted += draw.error(&draw.fit(&all, [2, 5][best], 0.0)) / 1000.0;
        }
        gaps.push(partial - refitted);
    }
    let better: Vec<bool> = gaps.iter().map(|gap| *gap > 0.0).collect();
    assert_eq!(json!(better), *case.expect("retrained_better"), "{gaps:?}");
    let grows = gaps.windows(2).all(|pair| pair[0] < pair[1]);
    assert_eq!(json!(grows), *case.expect("gap_grows_with_K"), "{gaps:?}");
}
