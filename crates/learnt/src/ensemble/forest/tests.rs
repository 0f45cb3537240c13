//! Forests against single trees, reference ranges and their own claims.

use super::*;
use crate::tree::nodes::Tree;
use crate::tree::{DecisionTreeRegressor, Method, MinSamplesLeaf};
use learnt_core::estimator::first_maximum;
use learnt_core::trained::Trained;

fn noise(i: usize, j: usize) -> f64 {
    let mut z = (i as u64 * 31 + j as u64 * 17 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Three classes over two quantities, a quantity of noise with gaps, and a category.
pub(super) fn mixed(rows: usize) -> OwnedDataset {
    let levels = (0..5).map(|l| format!("l{l}")).collect();
    let schema = Schema::new(vec![
        Column::numeric("a"),
        Column::numeric("b"),
        Column::numeric("gaps"),
        Column::categorical("c", levels),
    ])
    .unwrap();
    let x = Matrix::from_fn(rows, 4, |i, j| match j {
        2 if i % 7 == 0 => f64::NAN,
        3 => (noise(i, 3) * 5.0).floor(),
        _ => noise(i, j),
    });
    let class =
        |i: usize| match (x[(i, 0)] + x[(i, 1)] > 1.0, (x[(i, 3)] as usize).is_multiple_of(2)) {
            (true, true) => "p",
            (true, false) => "q",
            _ => "r",
        };
    let labels: Vec<Label> = (0..rows).map(|i| Label::from(class(i))).collect();
    let data = OwnedDataset::classification(x.clone(), &labels);
    OwnedDataset { x: Table::new(x, schema).unwrap(), ..data }
}

fn accuracy(model: &dyn Classifier, data: &OwnedDataset) -> f64 {
    let view = data.view();
    let (codes, _) = view.class_target().unwrap();
    let found = model.classify(&data.x.frame()).unwrap();
    found.iter().zip(codes).filter(|(a, b)| a == b).count() as f64 / codes.len() as f64
}

#[test]
fn forests_learn_quantities_categories_and_gaps() {
    let (train, test) = (mixed(3000), mixed(6000));
    for method in [Method::Histogram, Method::Exact] {
        let growth = ForestGrowth { method, ..Default::default() };
        let forest = RandomForestClassifier {
            n_estimators: 30,
            growth: growth.clone(),
            ..Default::default()
        };
        assert!(accuracy(&forest.fit(&train.view()).unwrap(), &test) > 0.95);
        let extra = ExtraTreesClassifier { n_estimators: 30, growth, ..Default::default() };
        assert!(accuracy(&extra.fit(&train.view()).unwrap(), &test) > 0.95);
    }
}

#[test]
fn one_tree_of_all_rows_and_columns_is_the_decision_tree() {
    let rows = 400;
    let x = Matrix::from_fn(rows, 3, |i, j| (noise(i, j) * 40.0).floor());
    let y: Vec<f64> = (0..rows).map(|i| x[(i, 0)] * x[(i, 1)] + noise(i, 7)).collect();
    let data = OwnedDataset::regression(x, y);
    let forest = RandomForestRegressor { n_estimators: 1, bootstrap: false, ..Default::default() };
    let forest = forest.fit(&data.view()).unwrap();
    let alone = DecisionTreeRegressor::default().fit(&data.view()).unwrap();
    let new = Table::unnamed(Matrix::from_fn(500, 3, |i, j| noise(i + 9000, j) * 40.0));
    let (a, b) = (forest.predict(&new.frame()).unwrap(), alone.predict(&new.frame()).unwrap());
    let far = a.as_slice().iter().zip(b.as_slice()).position(|(a, b)| (a - b).abs() > 1e-9);
    assert_eq!(far, None);
    for (a, b) in forest.feature_importances.iter().zip(&alone.feature_importances) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn bins_and_exact_search_grow_the_same_forest_from_few_distinct_values() {
    let rows = 600;
    let x = Matrix::from_fn(rows, 4, |i, j| (noise(i, j) * 30.0).floor());
    // Whole numbers, so that rounding is far below the differences that decide ties.
    let y: Vec<f64> = (0..rows)
        .map(|i| x[(i, 0)] + x[(i, 1)] * x[(i, 2)] + (noise(i, 7) * 50.0).floor())
        .collect();
    let data = OwnedDataset::regression(x, y);
    let fit = |method| {
        let growth = ForestGrowth { method, ..Default::default() };
        RandomForestRegressor { n_estimators: 7, growth, ..Default::default() }
            .fit(&data.view())
            .unwrap()
    };
    let (bins, exact) = (fit(Method::Histogram), fit(Method::Exact));
    for (a, b) in bins.trees().iter().zip(exact.trees()) {
        for node in 0..a.len() {
            let said = |t: &Tree| (t.feature[node], t.threshold[node], t.rows[node]);
            assert_eq!(said(a), said(b), "node {node} of {} rows", a.rows[node]);
            assert!((a.values[node] - b.values[node]).abs() < 1e-9 * (1.0 + b.values[node].abs()));
            let costs = (a.impurity[node] - b.impurity[node]).abs();
            assert!(costs < 1e-9 * (1.0 + b.impurity[0]), "{costs}");
        }
    }
}

#[test]
fn a_forest_that_looks_at_all_columns_is_bagged_trees_with_the_same_seeds() {
    let data = crate::datasets::load("cpu").unwrap();
    let mut forest = RandomForestRegressor { n_estimators: 5, ..Default::default() };
    forest.max_features = MaxFeatures::All;
    forest.growth.method = Method::Exact;
    let run = Context::default().with_seed(3);
    let model = forest.fit_in(&data.view(), &run).unwrap();
    let rows = data.view().nrows();
    let sampling = Sampling { rows, drawn: Some(rows) };
    for (t, tree) in model.trees().iter().enumerate() {
        let counts = sampling.counts(&run.child(t as u64)).unwrap();
        let drawn: Vec<usize> =
            sampling.drawn_rows(Some(&counts)).iter().map(|&row| row as usize).collect();
        let weights: Vec<f64> = drawn.iter().map(|&row| f64::from(counts[row])).collect();
        let sample = data.view().gather(&drawn);
        let sample = OwnedDataset { weights: Some(weights), ..sample };
        let single = DecisionTreeRegressor::default().fit(&sample.view()).unwrap();
        let expected = single.predict(&data.x.frame()).unwrap();
        assert_eq!(tree.predict(&data.x.frame(), &run).unwrap(), expected, "tree {t}");
    }
}

#[test]
fn every_column_is_drawn_as_often_at_roots_and_below_them() {
    let data = crate::datasets::load("iris").unwrap();
    let forest = RandomForestClassifier {
        n_estimators: 800,
        max_features: MaxFeatures::Count(1),
        ..Default::default()
    };
    let model = forest.fit(&data.view()).unwrap();
    let nodes: [fn(&Tree) -> usize; 3] =
        [|_| 0, |tree| tree.left[0] as usize, |tree| tree.right[0] as usize];
    for node in nodes {
        let features = model.trees().iter().map(|tree| tree.feature[node(tree)]);
        let asked: Vec<u32> = features.filter(|&feature| feature < 4).collect();
        for column in 0..4 {
            let share = asked.iter().filter(|&&f| f == column).count() as f64 / asked.len() as f64;
            let error = (0.25 * 0.75 / asked.len() as f64).sqrt();
            assert!((share - 0.25).abs() < 4.0 * error, "column {column}: {share}");
        }
    }
}

#[test]
fn columns_drawn_once_are_the_only_ones_of_a_tree() {
    let data = crate::datasets::load("breast_cancer").unwrap();
    for method in [Method::Histogram, Method::Exact] {
        let mut forest = RandomForestClassifier { n_estimators: 6, ..Default::default() };
        forest.max_features = MaxFeatures::Count(3);
        forest.growth.method = method;
        let asked = |forest: &RandomForestClassifier| -> Vec<usize> {
            let model = forest.fit(&data.view()).unwrap();
            let features = |tree: &Tree| {
                let mut all: Vec<u32> = tree.feature.iter().copied().filter(|f| *f < 30).collect();
                all.sort_unstable();
                all.dedup();
                all.len()
            };
            model.trees().iter().map(features).collect()
        };
        assert!(asked(&forest).iter().all(|&count| count > 3), "{method:?}");
        forest.growth.draw_features = DrawFeatures::Tree;
        assert!(asked(&forest).iter().all(|&count| count <= 3), "{method:?}");
    }
}

#[test]
fn out_of_bag_errors_lie_in_the_reference_ranges() {
    let ranges =
        [("iris", 0.025, 0.0817), ("wine", 0.00747, 0.0431), ("breast_cancer", 0.0201, 0.0572)];
    for (name, low, high) in ranges {
        let data = crate::datasets::load(name).unwrap();
        let growth = ForestGrowth { oob_score: true, ..Default::default() };
        let forest = RandomForestClassifier { n_estimators: 200, growth, ..Default::default() };
        let model = forest.fit(&data.view()).unwrap();
        let error = 1.0 - model.oob_score.unwrap();
        assert!((low..=high).contains(&error), "{name}: {error}");
        let view = data.view();
        let (codes, _) = view.class_target().unwrap();
        let shares = &model.oob_decision_function;
        let wrong = shares.rows().zip(codes).filter(|(row, code)| first_maximum(row) != **code);
        assert!((wrong.count() as f64 / codes.len() as f64 - error).abs() < 1e-12);
    }
}

#[test]
fn out_of_bag_r2_is_near_that_of_new_rows() {
    let make = |first: usize, rows: usize| {
        let x = Matrix::from_fn(rows, 5, |i, j| noise(i + first, j));
        let y = (0..rows)
            .map(|i| {
                (6.0 * x[(i, 0)]).sin() + 2.0 * x[(i, 1)] * x[(i, 2)] + 0.3 * noise(i + first, 9)
            })
            .collect();
        OwnedDataset::regression(x, y)
    };
    let (train, test) = (make(0, 1500), make(50_000, 3000));
    let growth = ForestGrowth { oob_score: true, ..Default::default() };
    let forest = RandomForestRegressor { n_estimators: 60, growth, ..Default::default() };
    let model = forest.fit(&train.view()).unwrap();
    let predicted = model.predict(&test.x.frame()).unwrap();
    let view = test.view();
    let y = view.real_target().unwrap();
    let mean = (0..3000).map(|i| y.at(i, 0)).sum::<f64>() / 3000.0;
    let error: f64 = (0..3000).map(|i| (y.at(i, 0) - predicted[(i, 0)]).powi(2)).sum();
    let spread: f64 = (0..3000).map(|i| (y.at(i, 0) - mean).powi(2)).sum();
    let score = 1.0 - error / spread;
    assert!((model.oob_score.unwrap() - score).abs() < 0.02, "{score} {:?}", model.oob_score);
    assert!(score > 0.9);
}

#[test]
fn every_row_drawn_by_every_tree_has_no_out_of_bag_prediction() {
    let data = mixed(4);
    let growth = ForestGrowth { oob_score: true, ..Default::default() };
    let forest = RandomForestClassifier { n_estimators: 1, growth, ..Default::default() };
    let model = forest.fit(&data.view()).unwrap();
    assert!(model.oob_decision_function.as_slice().iter().any(|share| share.is_nan()));
}

#[test]
fn what_needs_a_bootstrap_is_refused_without_one() {
    let data = mixed(20);
    let growth = ForestGrowth { oob_score: true, ..Default::default() };
    let extra = ExtraTreesClassifier { growth, ..Default::default() };
    assert!(extra.fit(&data.view()).unwrap_err().message().contains("oob_score"));
    let growth =
        ForestGrowth { max_samples: Some(MaxSamples::Fraction(0.5)), ..Default::default() };
    let extra = ExtraTreesClassifier { growth, ..Default::default() };
    assert!(extra.fit(&data.view()).unwrap_err().message().contains("max_samples"));
}

#[test]
fn more_draws_than_rows_are_refused() {
    let growth = ForestGrowth { max_samples: Some(MaxSamples::Count(21)), ..Default::default() };
    let forest = RandomForestClassifier { growth, ..Default::default() };
    let error = forest.fit(&mixed(20).view()).unwrap_err();
    assert!(error.message().contains("at most 20"), "{error}");
}

#[test]
fn limits_hold_in_every_tree() {
    let data = mixed(2000);
    let growth = ForestGrowth {
        max_depth: Some(6),
        min_samples_leaf: MinSamplesLeaf::Count(9),
        max_leaf_nodes: Some(12),
        min_weight_fraction_leaf: 0.01,
        max_samples: Some(MaxSamples::Count(1000)),
        ..Default::default()
    };
    let forest = RandomForestClassifier { n_estimators: 8, growth, ..Default::default() };
    let model = forest.fit(&data.view()).unwrap();
    for tree in model.trees() {
        assert!(tree.depth() <= 6 && tree.leaves() <= 12 && tree.leaves() > 6);
        assert!((tree.weight[0] - 1000.0).abs() < 1e-9);
        for node in 0..tree.len() {
            assert!(tree.rows[node] >= 9 && tree.weight[node] >= 10.0 - 1e-9);
        }
    }
}

#[test]
fn balanced_classes_count_the_same_in_every_tree() {
    let x = Matrix::zeros(100, 1);
    let labels: Vec<Label> = (0..100).map(|i| Label::Bool(i < 10)).collect();
    let data = OwnedDataset::classification(x, &labels);
    let fit = |class_weight| {
        let forest =
            RandomForestClassifier { n_estimators: 20, class_weight, ..Default::default() };
        forest.fit(&data.view()).unwrap().probabilities(&data.x.frame()).unwrap()[(0, 1)]
    };
    assert!((fit(Some(ForestClassWeight::BalancedSubsample)) - 0.5).abs() < 1e-12);
    assert!((fit(Some(ForestClassWeight::Balanced)) - 0.5).abs() < 0.15);
    assert!(fit(None) < 0.2);
}

#[test]
fn twenty_classes_and_several_targets_are_taken() {
    let x = Matrix::from_fn(600, 2, |i, j| (i % 20) as f64 + 0.1 * noise(i, j));
    let labels: Vec<Label> = (0..600).map(|i| Label::Int((i % 20) as i64)).collect();
    let data = OwnedDataset::classification(x.clone(), &labels);
    let forest = RandomForestClassifier { n_estimators: 10, ..Default::default() };
    assert!(accuracy(&forest.fit(&data.view()).unwrap(), &data) > 0.99);
    let y = Matrix::from_fn(600, 2, |i, j| (i % 20 * (j + 1)) as f64);
    let data = OwnedDataset {
        x: Table::unnamed(x),
        y: Some(OwnedTarget::Real(y.clone())),
        ..OwnedDataset::default()
    };
    let extra = ExtraTreesRegressor { n_estimators: 10, ..Default::default() };
    let found = extra.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
    let far = found.as_slice().iter().zip(y.as_slice()).filter(|(a, b)| (*a - *b).abs() > 1.0);
    assert_eq!(far.count(), 0);
}

#[test]
fn many_levels_share_bins_and_still_predict() {
    let names: Vec<String> = (0..5000).map(|i| format!("l{i}")).collect();
    let schema = Schema::new(vec![Column::categorical("c", names)]).unwrap();
    let x = Matrix::from_fn(20_000, 1, |i, _| (i % 5000) as f64);
    let y = Matrix::from_fn(20_000, 1, |i, _| if i % 5000 < 100 { 5.0 } else { 0.0 });
    let data = OwnedDataset {
        x: Table::new(x, schema).unwrap(),
        y: Some(OwnedTarget::Real(y)),
        ..OwnedDataset::default()
    };
    let forest = RandomForestRegressor { n_estimators: 5, ..Default::default() };
    let found = forest.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
    assert!(found[(5, 0)] > 4.0 && found[(4000, 0)] < 1.0);
}

#[test]
fn a_thousand_trees_save_and_load_within_a_second() {
    let data = mixed(2000);
    let forest = RandomForestClassifier { n_estimators: 1000, ..Default::default() };
    let run = Context::default();
    let trained = Trained::fit(&forest, &data.view(), &[], &run).unwrap();
    let started = learnt_core::clock::Moment::now();
    let bytes = trained.to_bytes().unwrap();
    let again = crate::from_bytes(&bytes).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    // Tests are compiled for speed of compilation: several times slower than a release build.
    assert!(seconds < 5.0, "{seconds} s for {} bytes", bytes.len());
    assert_eq!(again.to_bytes().unwrap(), bytes);
}

#[test]
fn rows_predicted_together_get_what_each_gets_alone() {
    for columns in [3, 20, 70] {
        for holes in [false, true] {
            let rows = 700;
            let x = Matrix::from_fn(rows, columns, |i, j| match holes && (i + j) % 11 == 0 {
                true => f64::NAN,
                false => noise(i, j),
            });
            let y = (0..rows).map(|i| noise(i, 0) + noise(i, 1)).collect();
            let data = OwnedDataset::regression(x.clone(), y);
            let forest = RandomForestRegressor { n_estimators: 5, ..Default::default() };
            let model = forest.fit(&data.view()).unwrap();
            let together = model.predict(&data.x.frame()).unwrap();
            for i in 0..rows {
                let alone = model.predict(&data.x.frame().rows(i, i + 1)).unwrap();
                assert_eq!(alone[(0, 0)], together[(i, 0)], "{columns} columns, row {i}");
            }
        }
    }
}
