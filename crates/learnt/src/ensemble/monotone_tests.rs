//! Trees and forests whose predictions may only rise or fall with a column.

use super::{ExtraTreesClassifier, RandomForestRegressor};
use crate::tree::{
    DecisionTreeClassifier, DecisionTreeRegressor, Growth, Method, Splitter,
    TreeClassifierCriterion, TreeRegressorCriterion,
};
use learnt_core::prelude::*;

/// Noise around a sum that rises with the first column and falls with the second, and a third that bends.
fn rows() -> (Matrix, Vec<f64>) {
    let x = Matrix::from_fn(300, 3, |i, j| ((i * [37, 53, 71][j] + 11 * j) % 101) as f64 / 101.0);
    let noise = |i: usize| ((i * 7919) % 997) as f64 / 997.0 - 0.5;
    let y = (0..300)
        .map(|i| x[(i, 0)] - x[(i, 1)] + (6.0 * x[(i, 2)]).sin() + 2.0 * noise(i))
        .collect();
    (x, y)
}

fn numbers(directions: Option<Vec<i64>>) -> (DecisionTreeRegressor, OwnedDataset) {
    let (x, y) = rows();
    let growth = Growth { monotonic_cst: directions, ..Growth::default() };
    (
        DecisionTreeRegressor { growth, ..Default::default() },
        OwnedDataset::regression(x, y.iter().map(|y| y + 2.0).map(|y| y.max(0.0)).collect()),
    )
}

fn two_classes() -> OwnedDataset {
    let (x, y) = rows();
    let labels: Vec<Label> = y.iter().map(|&y| Label::Bool(y > 0.4)).collect();
    OwnedDataset::classification(x, &labels)
}

/// The largest step against the direction of a column as it moves and the others stay.
fn worst_step(predict: impl Fn(&Frame) -> Vec<f64>, column: usize, direction: f64) -> f64 {
    let (x, _) = rows();
    let mut worst = f64::NEG_INFINITY;
    for row in 0..40 {
        let line = Matrix::from_fn(60, 3, |i, j| match j == column {
            true => i as f64 / 59.0,
            false => x[(row * 7, j)],
        });
        let said = predict(&Table::unnamed(line).frame());
        worst = said.windows(2).map(|pair| direction * (pair[0] - pair[1])).fold(worst, f64::max);
    }
    worst
}

fn check(predict: impl Fn(&Frame) -> Vec<f64>, what: &str) {
    assert!(worst_step(&predict, 0, 1.0) <= 0.0, "{what} falls with the first column");
    assert!(worst_step(&predict, 1, -1.0) <= 0.0, "{what} rises with the second column");
    assert!(worst_step(&predict, 2, 1.0) > 0.0, "{what} does not bend with the third column");
}

#[test]
fn predictions_of_numbers_follow_their_directions() {
    let (free, data) = numbers(None);
    let free = free.fit(&data.view()).unwrap();
    let predict = |x: &Frame| free.predict(x).unwrap().column(0);
    assert!(worst_step(predict, 0, 1.0) > 0.0 && worst_step(predict, 1, -1.0) > 0.0);
    use TreeRegressorCriterion as Kind;
    for criterion in [Kind::SquaredError, Kind::AbsoluteError, Kind::Poisson] {
        for (splitter, leaves) in [(Splitter::Best, None), (Splitter::Random, Some(40))] {
            let (mut learner, data) = numbers(Some(vec![1, -1, 0]));
            (learner.criterion, learner.splitter) = (criterion, splitter);
            learner.growth.max_leaf_nodes = leaves;
            let model = learner.fit(&data.view()).unwrap();
            let what = format!("{criterion:?} {splitter:?}");
            assert!(model.n_leaves > 20, "{what}: {} leaves", model.n_leaves);
            check(|x| model.predict(x).unwrap().column(0), &what);
        }
    }
    let (mut learner, data) = numbers(Some(vec![1, -1, 0]));
    learner.growth.method = Method::Histogram;
    let model = learner.fit(&data.view()).unwrap();
    check(|x| model.predict(x).unwrap().column(0), "histogram");
}

#[test]
fn probabilities_of_the_second_class_follow_their_directions() {
    let data = two_classes();
    use TreeClassifierCriterion as Kind;
    for criterion in [Kind::Gini, Kind::Entropy, Kind::Exponential] {
        let growth = Growth { monotonic_cst: Some(vec![1, -1, 0]), ..Growth::default() };
        let learner = DecisionTreeClassifier { criterion, growth, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        check(|x| model.probabilities(x).unwrap().column(1), &format!("{criterion:?}"));
    }
}

#[test]
fn forests_follow_their_directions() {
    let mut learner = ExtraTreesClassifier { n_estimators: 8, ..Default::default() };
    learner.growth.monotonic_cst = Some(vec![1, -1, 0]);
    let model = learner.fit(&two_classes().view()).unwrap();
    check(|x| model.probabilities(x).unwrap().column(1), "extra trees");
    let mut learner = RandomForestRegressor { n_estimators: 8, ..Default::default() };
    learner.growth.monotonic_cst = Some(vec![1, -1, 0]);
    let model = learner.fit(&numbers(None).1.view()).unwrap();
    check(|x| model.predict(x).unwrap().column(0), "random forest");
}

#[test]
fn directions_that_nothing_can_follow_are_refused() {
    let refused = |directions: Vec<i64>, data: &OwnedDataset| {
        let (learner, _) = numbers(Some(directions));
        learner.fit(&data.view()).unwrap_err().message().to_string()
    };
    let (_, data) = numbers(None);
    assert!(refused(vec![1, 0], &data).contains("3 numbers"));
    assert!(refused(vec![1, 2, 0], &data).contains("-1, 0 or 1"));
    let iris = crate::datasets::load("iris").unwrap();
    let growth = Growth { monotonic_cst: Some(vec![0; 4]), ..Growth::default() };
    let learner = DecisionTreeClassifier { growth, ..Default::default() };
    assert!(learner.fit(&iris.view()).unwrap_err().message().contains("multiclass"));
    let mut forest = ExtraTreesClassifier { n_estimators: 2, ..Default::default() };
    forest.growth.monotonic_cst = Some(vec![0; 4]);
    assert!(forest.fit(&iris.view()).unwrap_err().message().contains("multiclass"));
    let (mut learner, data) = numbers(Some(vec![1, 0, 0]));
    learner.max_surrogates = 2;
    assert!(learner.fit(&data.view()).unwrap_err().message().contains("max_surrogates"));
}
