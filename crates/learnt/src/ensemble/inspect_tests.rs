//! What models of many trees pay attention to.

use super::golden::{case, dataset, near, numbers};
use super::{GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor};
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
    // One forest of 30 trees may lean on either of two columns that say much the same.
    let seeds = 0..6;
    let mut means = [0.0; 3];
    for seed in seeds.clone() {
        let run = Context::default().with_seed(seed);
        let model = forest.fit_in(&data.view(), &run).unwrap();
        let (base, drops) = permutation_importance(&model, &data.view(), 5, &run).unwrap();
        assert!(base > 0.95);
        let count = 5.0 * seeds.end as f64;
        (0..3).for_each(|j| means[j] += drops.row(j).iter().sum::<f64>() / count);
    }
    assert!(means[0] > 0.1 && means[1] > 0.1, "{means:?}");
    assert!(means[2] < 0.05, "{means:?}");
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
    let both = ["bmi", "s5"];
    let columns: Vec<usize> = both.iter().map(|name| frame.schema().find(name).unwrap()).collect();
    let grids: Vec<Vec<f64>> =
        both.iter().map(|name| numbers(&case["params"]["joint"][name])).collect();
    let run = Context::default();
    let joint =
        crate::inspect::joint_dependence(&model, &frame, (&columns, &grids), 0, &run).unwrap();
    for (mean, expected) in joint.iter().zip(numbers(&case["expect"]["joint"])) {
        near(*mean, expected, 0.002, "bmi and s5");
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

/// A question by name about rows.
fn ask(model: &dyn Model, name: &str, columns: &str, x: &OwnedDataset) -> Answer {
    let question = model.questions().iter().find(|q| q.name == name).unwrap();
    let given: Vec<(String, Value)> = match columns {
        "" => Vec::new(),
        columns => vec![("columns".into(), Value::Text(columns.into()))],
    };
    model.answer(&question.ask(&given, Some(x.view()), Context::default()).unwrap()).unwrap()
}

fn cpu() -> OwnedDataset {
    crate::datasets::load("cpu").unwrap()
}

#[test]
fn stumps_have_no_terms_of_two_columns() {
    let data = cpu();
    let with_depth = |depth: usize| {
        let mut learner = GradientBoostingRegressor::default();
        learner.growth.max_depth = Some(depth);
        learner.fit(&data.view()).unwrap()
    };
    let share = |model: &dyn Model| {
        let answer = ask(model, "functional_anova", "mmax,cach", &data);
        answer.column("share").unwrap().reals().unwrap()[2]
    };
    assert!(share(&with_depth(1)) < 1e-12);
    assert!(share(&with_depth(3)) > 1e-3);
}

#[test]
fn panels_hold_predictions_of_the_rows() {
    let data = cpu();
    let model = GradientBoostingRegressor::default().fit(&data.view()).unwrap();
    let few = OwnedDataset { x: data.x.frame().gather(&[3, 50]), ..OwnedDataset::default() };
    let answer = ask(&model, "conditional", "mmax", &few);
    assert_eq!(answer.charts[0].panels.len(), 2);
    let column = |name: &str| answer.column(name).unwrap().reals().unwrap();
    let (rows, values, found) = (column("row"), column("mmax"), column("prediction"));
    let mmax = data.x.schema().find("mmax").unwrap();
    for k in 0..rows.len() {
        let mut row = data.x.frame().gather(&[if rows[k] == 1.0 { 3 } else { 50 }]);
        row.values_mut()[(0, mmax)] = values[k];
        let expected = model.predict(&row.frame()).unwrap()[(0, 0)];
        assert_eq!(found[k], expected);
    }
}

#[test]
fn walked_trees_give_the_mean_where_nothing_is_given() {
    use crate::inspect::Attentive;
    let data = cpu();
    let y = data.view().real_target().unwrap().column(0);
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let boosted = GradientBoostingRegressor::default().fit(&data.view()).unwrap();
    near(boosted.walked(&|_| None)[0], mean, 1e-9, "boosting");
    let answer = ask(&boosted, "tree_dependence", "mmax", &data);
    let scores = answer.column("mean score").unwrap().reals().unwrap();
    assert!(scores.last().unwrap() > &scores[0]);
}

#[test]
fn rows_of_one_leaf_are_near() {
    let data = cpu();
    let forest = RandomForestRegressor { n_estimators: 7, ..Default::default() };
    let model = forest.fit(&data.view()).unwrap();
    let few = OwnedDataset { x: data.x.frame().gather(&[0, 0, 9, 80]), ..OwnedDataset::default() };
    let answer = ask(&model, "proximities", "", &few);
    let Some(Datum::Matrix(found)) = answer.value("proximities") else { panic!("no matrix") };
    assert_eq!(found[(0, 1)], 1.0);
    for (i, j) in [(0, 2), (0, 3), (2, 3)] {
        let meet = |tree: &&crate::tree::nodes::Tree| {
            let leaves = tree.apply(&few.x.frame(), &Context::default()).unwrap();
            leaves[i] == leaves[j]
        };
        let share = model.trees().iter().filter(meet).count() as f64 / 7.0;
        assert!((found[(i, j)] - share).abs() < 1e-12 && found[(i, j)] == found[(j, i)]);
    }
}

#[test]
fn curves_of_rows_have_the_partial_dependence_as_their_mean() {
    let data = cpu();
    let model = GradientBoostingRegressor::default().fit(&data.view()).unwrap();
    let curves = ask(&model, "individual_dependence", "mmax", &data);
    let column = |name: &str| curves.column(name).unwrap().reals().unwrap();
    let mmax = data.x.schema().find("mmax").unwrap();
    let values = column("mmax");
    let found =
        partial_dependence(&model, &data.x.frame(), mmax, &values, &Context::default()).unwrap();
    for (mean, expected) in column("mean").iter().zip(found.as_slice()) {
        assert!((mean - expected).abs() < 1e-9);
    }
    assert_eq!(column("row 1").len(), values.len());
    let joint = ask(&model, "joint_dependence", "mmax,cach", &data);
    assert_eq!(joint.charts.len(), 1);
    let effects = ask(&model, "accumulated_effects", "mmax", &data);
    let effects = effects.column("effect").unwrap().reals().unwrap();
    assert!(effects.last().unwrap() > &effects[0]);
}
