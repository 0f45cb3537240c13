//! Histogram boosting against its own claims.

use super::*;
use crate::ensemble::stopping::has_stalled;
use crate::tree::ClassWeight;
use learnt_core::rounds::{ByteJob, InMemory};

fn noise(i: usize, j: usize) -> f64 {
    let mut z = (i as u64 * 37 + j as u64 * 17 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn numbers(first: usize, rows: usize) -> OwnedDataset {
    let x = Matrix::from_fn(rows, 6, |i, j| noise(i + first, j));
    let y = (0..rows)
        .map(|i| {
            let f = (6.0 * x[(i, 0)]).sin() + 2.0 * x[(i, 1)] * x[(i, 2)] - x[(i, 3)];
            f + 0.2 * (noise(i + first, 9) - 0.5)
        })
        .collect();
    OwnedDataset::regression(x, y)
}

fn r2(model: &dyn Regressor, data: &OwnedDataset) -> f64 {
    let found = model.predict(&data.x.frame()).unwrap();
    let view = data.view();
    let y = view.real_target().unwrap().column(0);
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let error: f64 = y.iter().zip(found.as_slice()).map(|(y, f)| (y - f).powi(2)).sum();
    1.0 - error / y.iter().map(|y| (y - mean).powi(2)).sum::<f64>()
}

#[test]
fn one_round_of_squared_error_moves_leaves_to_their_means() {
    let data = numbers(0, 500);
    let growth = HistGrowth { max_iter: 1, learning_rate: 1.0, ..Default::default() };
    let model = HistGradientBoostingRegressor { growth, ..Default::default() };
    let model = model.fit(&data.view()).unwrap();
    let found = model.predict(&data.x.frame()).unwrap();
    let view = data.view();
    let y = view.real_target().unwrap().column(0);
    let mut groups: std::collections::BTreeMap<u64, Vec<f64>> = Default::default();
    for (f, y) in found.as_slice().iter().zip(&y) {
        groups.entry(f.to_bits()).or_default().push(*y);
    }
    assert!(groups.len() > 8 && groups.len() <= 31);
    for (bits, y) in groups {
        assert!(y.len() >= 20);
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        assert!((f64::from_bits(bits) - mean).abs() < 1e-9);
    }
}

#[test]
fn losses_fall_and_new_rows_are_predicted() {
    let (train, test) = (numbers(0, 4000), numbers(100_000, 4000));
    let model = HistGradientBoostingRegressor::default().fit(&train.view()).unwrap();
    assert!(model.train_score.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12));
    assert!(r2(&model, &test) > 0.97, "{}", r2(&model, &test));
    for loss in [HistLoss::AbsoluteError, HistLoss::Quantile] {
        let learner =
            HistGradientBoostingRegressor { loss, quantile: Some(0.5), ..Default::default() };
        let score = r2(&learner.fit(&train.view()).unwrap(), &test);
        assert!(score > 0.95, "{loss:?} {score}");
    }
}

#[test]
fn a_quantile_has_its_share_of_rows_below() {
    let (train, test) = (numbers(0, 6000), numbers(100_000, 6000));
    for q in [0.1, 0.5, 0.9] {
        let growth = HistGrowth { max_leaf_nodes: Some(7), ..Default::default() };
        let loss = HistLoss::Quantile;
        let learner = HistGradientBoostingRegressor { loss, quantile: Some(q), growth };
        let found = learner.fit(&train.view()).unwrap().predict(&test.x.frame()).unwrap();
        let view = test.view();
        let y = view.real_target().unwrap();
        let below = (0..6000).filter(|&i| y.at(i, 0) <= found[(i, 0)]).count() as f64 / 6000.0;
        assert!((below - q).abs() < 0.05, "{q} {below}");
    }
}

#[test]
fn counts_and_amounts_have_positive_means_of_the_right_size() {
    let x = Matrix::from_fn(3000, 2, noise);
    let y: Vec<f64> = (0..3000).map(|i| ((3.0 * x[(i, 0)]).exp() * noise(i, 5)).ceil()).collect();
    let data = OwnedDataset::regression(x, y.clone());
    for loss in [HistLoss::Poisson, HistLoss::Gamma] {
        let learner = HistGradientBoostingRegressor { loss, ..Default::default() };
        let found = learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
        assert!(found.as_slice().iter().all(|&mean| mean > 0.0));
        // Where the gradient of the loss vanishes: Σ (f - y) for counts, Σ (1 - y / f) for amounts.
        let ratio = match loss {
            HistLoss::Poisson => y.iter().sum::<f64>() / found.as_slice().iter().sum::<f64>(),
            _ => y.iter().zip(found.as_slice()).map(|(y, f)| y / f).sum::<f64>() / 3000.0,
        };
        assert!((ratio - 1.0).abs() < 0.02, "{loss:?} {ratio}");
    }
    let zero = OwnedDataset::regression(Matrix::zeros(3, 1), vec![0.0, 1.0, 2.0]);
    let learner = HistGradientBoostingRegressor { loss: HistLoss::Gamma, ..Default::default() };
    assert!(learner.fit(&zero.view()).unwrap_err().message().contains("row 1"));
}

fn classes(first: usize, rows: usize, count: usize) -> OwnedDataset {
    let x =
        Matrix::from_fn(
            rows,
            4,
            |i, j| {
                if (i + j) % 11 == 0 { f64::NAN } else { noise(i + first, j) }
            },
        );
    let known = |value: f64| if value.is_nan() { 0.8 } else { value };
    let labels: Vec<Label> = (0..rows)
        .map(|i| {
            let f = known(x[(i, 0)]) + 0.5 * known(x[(i, 1)]) + 0.05 * noise(i + first, 8);
            Label::Int((f * count as f64 / 1.56) as i64)
        })
        .collect();
    OwnedDataset::classification(x, &labels)
}

#[test]
fn two_and_more_classes_with_gaps_are_learnt() {
    for count in [2, 3, 6] {
        let (train, test) = (classes(0, 5000, count), classes(70_000, 5000, count));
        let model = HistGradientBoostingClassifier::default().fit(&train.view()).unwrap();
        let found = model.classify(&test.x.frame()).unwrap();
        let view = test.view();
        let (codes, _) = view.class_target().unwrap();
        let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
        assert!(right > 4600, "{count} classes: {right} of 5000 right");
        let shares = model.probabilities(&test.x.frame()).unwrap();
        assert!(shares.rows().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    }
}

#[test]
fn categories_split_by_their_gradients_and_rare_ones_share() {
    for (levels, least) in [(12, 0.999), (700, 0.99), (5000, 0.5)] {
        let names: Vec<String> = (0..levels).map(|l| format!("l{l}")).collect();
        let schema = Schema::new(vec![Column::categorical("c", names)]).unwrap();
        let rows = 30 * levels;
        let code = |i: usize| (i * 7919) % levels;
        let x = Matrix::from_fn(rows, 1, |i, _| code(i) as f64);
        let wave = |l: usize| (noise(l, 1) * 4.0).floor();
        let y = Matrix::from_fn(rows, 1, |i, _| wave(code(i)));
        let data = OwnedDataset {
            x: Table::new(x, schema).unwrap(),
            y: Some(OwnedTarget::Real(y)),
            ..OwnedDataset::default()
        };
        let model = HistGradientBoostingRegressor::default().fit(&data.view()).unwrap();
        assert!(r2(&model, &data) > least, "{levels}: {}", r2(&model, &data));
    }
}

#[test]
fn directions_hold_everywhere() {
    let data = numbers(0, 3000);
    let growth = HistGrowth { monotonic_cst: Some(vec![1, -1, 0, 0, 0, 0]), ..Default::default() };
    let learner = HistGradientBoostingRegressor { growth, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let mut broken = 0;
    for k in 0..50 {
        let row: Vec<f64> = (0..6).map(|j| noise(k + 500_000, j)).collect();
        for (column, sign) in [(0, 1.0), (1, -1.0)] {
            let x =
                Matrix::from_fn(100, 6, |i, j| if j == column { i as f64 / 99.0 } else { row[j] });
            let found = model.predict(&Table::unnamed(x).frame()).unwrap();
            let rises = |pair: &[f64]| sign * (pair[1] - pair[0]) >= -1e-12;
            broken += found.as_slice().windows(2).filter(|pair| !rises(pair)).count();
        }
    }
    assert_eq!(broken, 0);
    let wrong = HistGrowth { monotonic_cst: Some(vec![1, 2]), ..Default::default() };
    let learner = HistGradientBoostingRegressor { growth: wrong, ..Default::default() };
    assert!(learner.fit(&data.view()).unwrap_err().message().contains("monotonic_cst"));
}

#[test]
fn columns_that_may_not_meet_have_no_interaction() {
    let data = numbers(0, 3000);
    let growth = HistGrowth {
        interaction_cst: Some(Value::Text("no_interactions".into())),
        ..Default::default()
    };
    let free = HistGradientBoostingRegressor::default().fit(&data.view()).unwrap();
    let learner = HistGradientBoostingRegressor { growth, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let corner = |a: f64, b: f64| vec![0.5, a, b, 0.5, 0.5, 0.5];
    let x = Matrix::from_rows(&[
        corner(0.1, 0.1),
        corner(0.9, 0.1),
        corner(0.1, 0.9),
        corner(0.9, 0.9),
    ])
    .unwrap();
    let x = Table::unnamed(x);
    let mixed = |model: &BoostedRegressorModelRef| {
        let f = model.predict(&x.frame()).unwrap().column(0);
        (f[3] - f[2] - f[1] + f[0]).abs()
    };
    assert!(mixed(&model) < 1e-9, "{}", mixed(&model));
    assert!(mixed(&free) > 0.5);
}

type BoostedRegressorModelRef = crate::ensemble::boosted::BoostedRegressorModel;

#[test]
fn rounds_end_when_the_loss_on_other_rows_does_not_fall() {
    let x = Matrix::from_fn(2000, 3, noise);
    let labels: Vec<Label> = (0..2000).map(|i| Label::Bool(noise(i, 9) < 0.5)).collect();
    let data = OwnedDataset::classification(x, &labels);
    let growth = HistGrowth {
        early_stopping: EarlyStopping::Always(true),
        n_iter_no_change: 5,
        ..Default::default()
    };
    let learner = HistGradientBoostingClassifier { growth, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    assert!(model.n_iter < 60, "{}", model.n_iter);
    assert_eq!(model.validation_score.len(), model.n_iter + 1);
    assert!(
        has_stalled(&[1.0, 0.9, 0.95, 0.91], 2, 0.0) && !has_stalled(&[1.0, 0.9, 0.95], 2, 0.0)
    );
}

#[test]
fn staged_scores_are_those_of_shorter_fits() {
    let data = classes(0, 2000, 3);
    let fit = |max_iter| {
        let growth = HistGrowth { max_iter, ..Default::default() };
        HistGradientBoostingClassifier { growth, ..Default::default() }.fit(&data.view()).unwrap()
    };
    let (short, long) = (fit(7), fit(15));
    let run = Context::default();
    let frame = data.x.frame();
    assert_eq!(
        long.staged_probabilities(&frame, 7, &run).unwrap(),
        short.probabilities(&frame).unwrap()
    );
}

#[test]
fn weights_and_balanced_classes_count() {
    let data = classes(0, 3000, 2);
    let balanced = HistGradientBoostingClassifier {
        class_weight: Some(ClassWeight::Balanced),
        ..Default::default()
    };
    let model = balanced.fit(&data.view()).unwrap();
    assert!(model.decision_scores_in(&data.x.frame(), &Context::default()).is_ok());
    let constant = OwnedDataset {
        weights: Some(vec![3.0, 1.0]),
        ..OwnedDataset::regression(Matrix::zeros(2, 1), vec![0.0, 4.0])
    };
    let model = HistGradientBoostingRegressor::default().fit(&constant.view()).unwrap();
    assert!((model.predict(&constant.x.frame()).unwrap()[(0, 0)] - 1.0).abs() < 1e-12);
}

#[test]
fn sums_of_whole_numbers_are_exact_for_very_unequal_weights() {
    let rows = 2000;
    let x = Matrix::from_fn(rows, 2, noise);
    let y = (0..rows).map(|i| if x[(i, 0)] > 0.5 { 1.0 } else { 0.0 }).collect();
    let weights = (0..rows).map(|i| if i == 0 { 1e9 } else { 1.0 }).collect();
    let data = OwnedDataset { weights: Some(weights), ..OwnedDataset::regression(x, y) };
    let model = HistGradientBoostingRegressor::default().fit(&data.view()).unwrap();
    assert!(r2(&model, &data) > 0.99);
}

#[test]
fn of_two_children_the_histogram_of_one_is_asked_for() {
    let data = numbers(0, 3000);
    let growth = HistGrowth {
        max_iter: 1,
        early_stopping: EarlyStopping::Always(false),
        ..Default::default()
    };
    let learner = HistGradientBoostingRegressor { growth, ..Default::default() };
    let run = Context::default();
    let job = ByteJob::new(&learner, &Outline::of(&data.view()), None, &run).unwrap();
    let mut state = job.begin(&run).unwrap();
    let mut sizes = Vec::new();
    loop {
        let told = job.for_tasks(&state).unwrap();
        let answer = job.task(&told, &InMemory::new(data.view()), &[0], &run).unwrap();
        sizes.push(answer.len());
        match job.advance(state, &[&answer], &run).unwrap() {
            Step::Again(next) => state = next,
            Step::Done(_) => break,
        }
    }
    // Values, ends of bins, sums of derivatives; then the root, its children, theirs.
    let histogram = 16 * 6 * 256;
    let rounds: Vec<usize> = sizes[3..6].iter().map(|size| size / histogram).collect();
    assert_eq!(rounds, [1, 1, 2], "{sizes:?}");
}
