//! Gradient boosting against scikit-learn's numbers and worked examples.

use super::*;
use crate::ensemble::golden::{case, dataset, near, numbers};

fn stages(case: &serde_json::Value) -> Vec<usize> {
    numbers(&case["params"]["stages"]).into_iter().map(|stage| stage as usize).collect()
}

fn mean_square(model: &BoostedRegressorModel, data: &OwnedDataset, round: usize) -> f64 {
    let run = Context::default();
    let found = model.staged_predict(&data.x.frame(), round, &run).unwrap();
    let view = data.view();
    let y = view.real_target().unwrap().column(0);
    let sum: f64 = y.iter().zip(found.as_slice()).map(|(y, f)| (y - f).powi(2)).sum();
    sum / y.len() as f64
}

use crate::ensemble::boosted::BoostedRegressorModel;

#[test]
fn least_squares_agrees_with_scikit_learn() {
    for (id, depth, min_leaf) in [("gbm-ls-diabetes", 3, 5), ("gbm-stumps-diabetes", 1, 1)] {
        let case = case(id);
        let data = dataset(&case);
        let growth = BoostingGrowth {
            max_depth: Some(depth),
            min_samples_leaf: MinSamplesLeaf::Count(min_leaf),
            ..Default::default()
        };
        let learner = GradientBoostingRegressor { growth, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        for (round, expected) in stages(&case).into_iter().zip(numbers(&case["expect"]["mse"])) {
            near(mean_square(&model, &data, round), expected, 1e-6, id);
        }
        let found = model.predict(&data.x.frame()).unwrap();
        let first = numbers(&case["expect"]["prediction_first5"]);
        first.iter().enumerate().for_each(|(i, e)| near(found[(i, 0)], *e, 1e-6, id));
        if let Some(shares) = case["expect"]["importance"].as_array() {
            for (share, expected) in model.feature_importances.iter().zip(shares) {
                assert!((share - expected.as_f64().unwrap()).abs() < 0.01);
            }
        }
    }
}

use crate::tree::MinSamplesLeaf;

#[test]
fn absolute_loss_agrees_with_scikit_learn() {
    let case = case("gbm-lad-diabetes");
    let data = dataset(&case);
    let growth = BoostingGrowth {
        max_depth: Some(2),
        min_samples_leaf: MinSamplesLeaf::Count(10),
        ..Default::default()
    };
    let loss = BoostingLoss::AbsoluteError;
    let learner = GradientBoostingRegressor { loss, growth, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let view = data.view();
    let y = view.real_target().unwrap().column(0);
    let (mae, mse) = (numbers(&case["expect"]["mae"]), numbers(&case["expect"]["mse"]));
    for (k, round) in stages(&case).into_iter().enumerate() {
        let found = model.staged_predict(&data.x.frame(), round, &Context::default()).unwrap();
        let error: f64 = y.iter().zip(found.as_slice()).map(|(y, f)| (y - f).abs()).sum();
        near(error / y.len() as f64, mae[k], 0.03, "absolute");
        near(mean_square(&model, &data, round), mse[k], 0.03, "squares");
    }
}

#[test]
fn deviance_agrees_with_scikit_learn() {
    let case = case("gbm-deviance-pima");
    let data = dataset(&case);
    let growth = BoostingGrowth {
        max_depth: Some(2),
        min_samples_leaf: MinSamplesLeaf::Count(5),
        ..Default::default()
    };
    let learner = GradientBoostingClassifier { growth, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let view = data.view();
    let (codes, _) = view.class_target().unwrap();
    let (nll, wrong) =
        (numbers(&case["expect"]["nll"]), numbers(&case["expect"]["training_errors"]));
    for (k, round) in stages(&case).into_iter().enumerate() {
        let shares =
            model.staged_probabilities(&data.x.frame(), round, &Context::default()).unwrap();
        let loss: f64 = shares.rows().zip(codes).map(|(row, &c)| -row[c as usize].ln()).sum();
        near(loss / codes.len() as f64, nll[k], 1e-5, "nll");
        near(model.train_score[round], nll[k], 1e-5, "train_score");
        let errors = shares.rows().zip(codes).filter(|(row, c)| (row[1] > 0.5) != (**c == 1));
        assert_eq!(errors.count() as f64, wrong[k]);
        if round == 10 {
            let expected = numbers(&case["expect"]["proba_first3_round10"]);
            let first = shares.as_slice()[..6].iter();
            first.zip(expected).for_each(|(p, e)| near(*p, e, 1e-5, "probabilities"));
        }
    }
}

fn four_points() -> OwnedDataset {
    let x = Matrix::from_fn(4, 1, |i, _| i as f64 + 1.0);
    OwnedDataset::regression(x, vec![1.0, 2.0, 2.0, 7.0])
}

#[test]
fn the_first_step_of_least_squares_is_the_stump_of_the_residuals() {
    let case = case("ls-boosting-first-step");
    let data = four_points();
    for (rate, key) in [(1.0, "f1"), (0.1, "f1_shrunk")] {
        let growth = BoostingGrowth {
            max_depth: Some(1),
            n_estimators: 1,
            learning_rate: rate,
            ..Default::default()
        };
        let learner = GradientBoostingRegressor { growth, ..Default::default() };
        let found = learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
        for (f, e) in found.as_slice().iter().zip(numbers(&case["expect"][key])) {
            near(*f, e, 1e-9, key);
        }
    }
}

#[test]
fn of_equal_cuts_of_absolute_loss_the_lower_wins() {
    let data = four_points();
    let growth = BoostingGrowth {
        max_depth: Some(1),
        n_estimators: 1,
        learning_rate: 1.0,
        ..Default::default()
    };
    let loss = BoostingLoss::AbsoluteError;
    let learner = GradientBoostingRegressor { loss, growth, ..Default::default() };
    let found = learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
    // The start is 2; below 1.5 the residual is -1, above it the median of 0, 0, 5.
    assert_eq!(found.column(0), [1.0, 2.0, 2.0, 2.0]);
}

#[test]
fn huber_resists_an_outlier_that_moves_squared_error() {
    let x = Matrix::from_fn(200, 1, |i, _| (i % 2) as f64);
    let y = (0..200).map(|i| (i % 2) as f64 + if i == 4 { 1000.0 } else { 0.0 }).collect();
    let data = OwnedDataset::regression(x, y);
    let fit = |loss| {
        let learner = GradientBoostingRegressor { loss, ..Default::default() };
        learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap()[(0, 0)]
    };
    assert!(fit(BoostingLoss::SquaredError) > 5.0);
    assert!(fit(BoostingLoss::Huber).abs() < 0.5, "{}", fit(BoostingLoss::Huber));
}

#[test]
fn rounds_end_early_on_noise_and_subsamples_differ_by_seed() {
    let iris = crate::datasets::load("iris").unwrap();
    let growth = BoostingGrowth {
        n_iter_no_change: Some(5),
        n_estimators: 500,
        subsample: 0.5,
        ..Default::default()
    };
    let learner = GradientBoostingClassifier { growth, ..Default::default() };
    let fit = |seed| learner.fit_in(&iris.view(), &Context::default().with_seed(seed)).unwrap();
    let (one, two) = (fit(1), fit(2));
    assert!(one.n_iter < 300 && one != two);
    assert_eq!(fit(1), one);
}

#[test]
fn exponential_loss_is_for_two_classes_and_halves_the_log_odds() {
    let iris = crate::datasets::load("iris").unwrap();
    let learner =
        GradientBoostingClassifier { loss: ClassBoostingLoss::Exponential, ..Default::default() };
    assert!(learner.fit(&iris.view()).unwrap_err().message().contains("loss"));
    let x = Matrix::from_fn(100, 1, |i, _| (i % 10) as f64);
    let labels: Vec<Label> = (0..100).map(|i| Label::Bool(i % 10 > 4 || i % 7 == 0)).collect();
    let data = OwnedDataset::classification(x, &labels);
    let model = learner.fit(&data.view()).unwrap();
    let scores = model.decision_scores_in(&data.x.frame(), &Context::default()).unwrap();
    let shares = model.probabilities(&data.x.frame()).unwrap();
    for i in 0..100 {
        let p = 1.0 / (1.0 + (-2.0 * scores[(i, 0)]).exp());
        assert!((shares[(i, 1)] - p).abs() < 1e-12);
    }
}

#[test]
fn stumps_have_no_interaction() {
    let x = Matrix::from_fn(400, 2, |i, j| ((i * 37 + j * 91) % 101) as f64);
    let y = (0..400).map(|i| x[(i, 0)] * x[(i, 1)]).collect();
    let data = OwnedDataset::regression(x, y);
    let growth = BoostingGrowth { max_depth: Some(1), ..Default::default() };
    let learner = GradientBoostingRegressor { growth, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let corners = [[10.0, 10.0], [10.0, 90.0], [90.0, 10.0], [90.0, 90.0]];
    let corners = Table::unnamed(Matrix::from_rows(&corners).unwrap());
    let f = model.predict(&corners.frame()).unwrap().column(0);
    assert!((f[3] - f[2] - f[1] + f[0]).abs() < 1e-9);
}

/// A table whose target bends, with a line through it.
fn bent() -> OwnedDataset {
    let x = Matrix::from_fn(200, 2, |i, j| ((i * 37 + j * 91) % 101) as f64 / 101.0);
    let y = (0..200).map(|i| 5.0 * x[(i, 0)] + (7.0 * x[(i, 1)]).sin()).collect();
    OwnedDataset::regression(x, y)
}

#[test]
fn rounds_begin_with_zero_or_with_what_a_learner_says() {
    let data = bent();
    let growth = BoostingGrowth { n_estimators: 5, ..Default::default() };
    let fit = |init: Option<BoostingStart>| {
        let learner =
            GradientBoostingRegressor { growth: growth.clone(), init, ..Default::default() };
        learner.fit(&data.view()).unwrap()
    };
    let round = |model: &BoostedRegressorModel, round: usize| {
        model.staged_predict(&data.x.frame(), round, &Context::default()).unwrap().column(0)
    };
    assert!(round(&fit(Some(BoostingStart::Zero)), 0).iter().all(|&f| f == 0.0));
    let line = crate::linear::LinearRegression::default();
    let model = fit(Some(BoostingStart::Learner(line.clone().into())));
    let expected = line.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap().column(0);
    assert_eq!(round(&model, 0), expected);
    let error = |found: Vec<f64>| {
        let view = data.view();
        let y = view.real_target().unwrap().column(0);
        y.iter().zip(found).map(|(y, f)| (y - f).powi(2)).sum::<f64>() / 200.0
    };
    assert!(error(round(&model, 5)) < error(round(&model, 0)));
    assert!((2.0 * model.train_score[5] - error(round(&model, 5))).abs() < 1e-12);
    let read = BoostedRegressorModel::from_node(&model.to_node()).unwrap();
    assert_eq!(read.predict(&data.x.frame()).unwrap(), model.predict(&data.x.frame()).unwrap());
}

#[test]
fn a_classifier_that_says_nothing_is_the_same_as_zero() {
    let iris = crate::datasets::load("iris").unwrap();
    let fit = |init: BoostingStart| {
        let growth = BoostingGrowth { n_estimators: 5, ..Default::default() };
        let init = Some(init);
        let learner = GradientBoostingClassifier { growth, init, ..Default::default() };
        learner.fit(&iris.view()).unwrap().probabilities(&iris.x.frame()).unwrap()
    };
    // Three classes of fifty rows each: their shares are equal.
    let prior = crate::baseline::DummyClassifier::default();
    let (zero, prior) = (fit(BoostingStart::Zero), fit(BoostingStart::Learner(prior.into())));
    for (a, b) in zero.as_slice().iter().zip(prior.as_slice()) {
        assert!((a - b).abs() < 1e-12);
    }
    let start = crate::bayes::GaussianNB::default();
    let bayes = start.fit(&iris.view()).unwrap().probabilities(&iris.x.frame()).unwrap();
    let learner = GradientBoostingClassifier {
        init: Some(BoostingStart::Learner(start.into())),
        ..Default::default()
    };
    let model = learner.fit(&iris.view()).unwrap();
    let found = model.staged_probabilities(&iris.x.frame(), 0, &Context::default()).unwrap();
    for (a, b) in found.as_slice().iter().zip(bayes.as_slice()) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn more_rounds_after_a_learner_have_the_bytes_of_one_fit() {
    let data = bent();
    let of = |rounds: usize| {
        let growth = BoostingGrowth { n_estimators: rounds, subsample: 0.6, ..Default::default() };
        let line = crate::linear::LinearRegression::default();
        let init = Some(BoostingStart::Learner(line.into()));
        GradientBoostingRegressor { growth, init, ..Default::default() }
    };
    let run = Context::default();
    let whole = of(9).fit_in(&data.view(), &run).unwrap();
    let few = of(4).fit_in(&data.view(), &run).unwrap();
    assert_eq!(of(9).extend_in(&few, &data.view(), &run).unwrap(), whole);
}

#[test]
fn rows_that_a_round_did_not_draw_judge_it() {
    let data = bent();
    let growth = BoostingGrowth { n_estimators: 6, subsample: 0.5, ..Default::default() };
    let learner = GradientBoostingRegressor { growth, ..Default::default() };
    let run = Context::default();
    let model = learner.fit_in(&data.view(), &run).unwrap();
    assert_eq!((model.oob_scores.len(), model.oob_improvement.len()), (6, 6));
    let all: Vec<u32> = (0..200).collect();
    let view = data.view();
    let y = view.real_target().unwrap().column(0);
    for round in 1..=6 {
        let drawn = drawn(&all, 0.5, &run.child(round as u64));
        let left: Vec<u32> = all.iter().copied().filter(|row| !drawn.contains(row)).collect();
        let mean = |rows: &[u32], after: usize| {
            let found = model.staged_predict(&data.x.frame(), after, &run).unwrap();
            let loss = |&row: &u32| 0.5 * (y[row as usize] - found[(row as usize, 0)]).powi(2);
            rows.iter().map(loss).sum::<f64>() / rows.len() as f64
        };
        near(model.oob_scores[round - 1], mean(&left, round), 1e-12, "out of bag");
        near(model.train_score[round], mean(&drawn, round), 1e-12, "drawn");
        let before = if round == 1 { mean(&left, 0) } else { model.oob_scores[round - 2] };
        let improvement = before - model.oob_scores[round - 1];
        assert!((model.oob_improvement[round - 1] - improvement).abs() < 1e-12);
    }
    let all = GradientBoostingRegressor::default().fit(&data.view()).unwrap();
    assert!(all.oob_scores.is_empty());
}

#[test]
fn a_model_that_has_stalled_gets_no_more_rounds() {
    let iris = crate::datasets::load("iris").unwrap();
    let of = |rounds: usize| {
        let growth = BoostingGrowth {
            n_iter_no_change: Some(3),
            n_estimators: rounds,
            ..Default::default()
        };
        GradientBoostingClassifier { growth, ..Default::default() }
    };
    let run = Context::default();
    let stalled = of(400).fit_in(&iris.view(), &run).unwrap();
    assert!(stalled.n_iter < 400);
    assert_eq!(of(500).extend_in(&stalled, &iris.view(), &run).unwrap(), stalled);
}
