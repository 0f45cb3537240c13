//! What models of many trees pay attention to.

use super::golden::{case, dataset, near, numbers};
use super::{GradientBoostingRegressor, RandomForestClassifier};
use crate::inspect::{QUESTIONS, partial_dependence, permutation_importance};
use learnt_core::prelude::*;

#[test]
fn a_column_of_noise_has_no_importance_and_the_others_have() {
    let iris = crate::datasets::load("iris").unwrap();
    let x = Matrix::from_fn(150, 3, |i, j| match j {
        0 => iris.x.values()[(i, 2)],
        1 => iris.x.values()[(i, 3)],
        _ => ((i * 7919) % 101) as f64,
    });
    let data = OwnedDataset { x: Table::unnamed(x), ..iris };
    let forest = RandomForestClassifier { n_estimators: 30, ..Default::default() };
    let model = forest.fit(&data.view()).unwrap();
    let (base, drops) =
        permutation_importance(&model, &data.view(), 5, &Context::default()).unwrap();
    assert!(base > 0.95);
    let mean = |j: usize| drops.row(j).iter().sum::<f64>() / 5.0;
    assert!(mean(0) > 0.1 && mean(1) > 0.1, "{drops:?}");
    assert!(mean(2) < 0.05, "{drops:?}");
}

#[test]
fn dependence_of_boosting_agrees_with_scikit_learn() {
    let case = case("partial-dependence-diabetes");
    let data = dataset(&case);
    let mut learner = GradientBoostingRegressor::default();
    learner.growth.min_samples_leaf = crate::tree::MinSamplesLeaf::Count(5);
    let model = learner.fit(&data.view()).unwrap();
    let values = numbers(&case["params"]["bmi"]);
    let frame = data.x.frame();
    let column = frame.schema().find("bmi").unwrap();
    let found = partial_dependence(&model, &frame, column, &values, &Context::default()).unwrap();
    let expected = numbers(&case["expect"]["bmi"]);
    for (mean, expected) in found.as_slice().iter().zip(expected) {
        near(*mean, expected, 0.002, "bmi");
    }
    let asked = QUESTIONS[1]
        .ask(
            &[("columns".into(), Value::Text("bmi,s5".into()))],
            Some(data.view()),
            Context::default(),
        )
        .unwrap();
    let answer = model.answer(&asked).unwrap();
    assert_eq!((answer.tables.len(), answer.charts.len()), (2, 2));
}

#[test]
fn contributions_add_up_to_scores_and_probabilities() {
    let data = crate::datasets::load("iris").unwrap();
    let run = Context::default();
    let sums = |model: &dyn Model, output: i64| {
        let given = [("output".to_string(), Value::Int(output))];
        let asked = QUESTIONS[2].ask(&given, Some(data.view().rows(40, 60)), run).unwrap();
        let answer = model.answer(&asked).unwrap();
        match &answer.tables[0].columns.last().unwrap().data {
            learnt_core::answer::Series::Reals(sums) => sums.clone(),
            _ => panic!("no numbers"),
        }
    };
    let growth = super::HistGrowth { max_iter: 10, ..Default::default() };
    let boosted = super::HistGradientBoostingClassifier { growth, ..Default::default() };
    let boosted = boosted.fit(&data.view()).unwrap();
    let forest = RandomForestClassifier { n_estimators: 10, ..Default::default() };
    let forest = forest.fit(&data.view()).unwrap();
    let rows = data.x.frame().rows(40, 60);
    let scores = boosted.decision_scores_in(&rows, &run).unwrap();
    let shares = forest.probabilities_in(&rows, &run).unwrap();
    for output in 0..3 {
        for (i, sum) in sums(&boosted, output as i64).iter().enumerate() {
            assert!((sum - scores[(i, output)]).abs() < 1e-9);
        }
        for (i, sum) in sums(&forest, output as i64).iter().enumerate() {
            assert!((sum - shares[(i, output)]).abs() < 1e-9);
        }
    }
}
