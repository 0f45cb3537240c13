//! Mixtures of experts on lines, one expert and exclusive or.

use super::*;

fn two_lines() -> OwnedDataset {
    let x = Matrix::from_fn(80, 1, |i, _| i as f64 / 8.0);
    let noise = |i: usize| ((i * 37) % 11) as f64 / 50.0 - 0.1;
    let line = |i: usize, x: f64| if x < 5.0 { 2.0 * x } else { 20.0 - 2.0 * x } + noise(i);
    let y = (0..80).map(|i| line(i, x[(i, 0)])).collect();
    OwnedDataset::regression(x, y)
}

#[test]
fn two_lines_are_parted_where_they_break_and_the_objective_never_falls() {
    let data = two_lines();
    let run = Context::default();
    let model = MixtureOfExpertsRegressor::default().fit_in(&data.view(), &run).unwrap();
    // A strict driver refuses a fall; so the fit itself is the proof.
    assert!(model.converged && model.n_iter > 2);
    let asked = QUESTIONS[0].ask(&[], Some(data.view()), run).unwrap();
    let shares = model.answer(&asked).unwrap();
    let first = shares.column("expert 1").unwrap().reals().unwrap();
    let left = first[0] > 0.5;
    for (i, share) in first.iter().enumerate() {
        let x = i as f64 / 8.0;
        if !(4.3..5.7).contains(&x) {
            assert_eq!(*share > 0.5, left == (x < 5.0), "at {x}: {share}");
        }
    }
    let y = data.view().real_target().unwrap().column(0);
    let found = model.predict(&data.x.frame()).unwrap().into_vec();
    let squares: f64 = y.iter().zip(&found).map(|(a, b)| (a - b).powi(2)).sum();
    assert!((squares / 80.0).sqrt() < 0.25, "{}", (squares / 80.0).sqrt());
    assert!(model.variances.iter().all(|v| *v < 0.1), "{:?}", model.variances);
}

#[test]
fn one_expert_is_least_squares_and_a_hard_gate_answers_with_one_of_two() {
    let data = two_lines();
    let search = ExpertSearch { n_experts: 1, alpha: 1e-9, ..Default::default() };
    let one = MixtureOfExpertsRegressor { search }.fit(&data.view()).unwrap();
    let line = crate::linear::LinearRegression::default().fit(&data.view()).unwrap();
    let (a, b) = (one.predict(&data.x.frame()).unwrap(), line.predict(&data.x.frame()).unwrap());
    assert!(a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| (a - b).abs() < 1e-6));
    let search = ExpertSearch { gate: GateChoice::Hard, ..Default::default() };
    let hard = MixtureOfExpertsRegressor { search }.fit(&data.view()).unwrap();
    let z = hard.standard.rows(&data.x.frame());
    let found = hard.predict(&data.x.frame()).unwrap();
    for i in 0..80 {
        let own = |k: usize| hard.target[0] + hard.target[1] * linear(&z, &hard.experts, i, k);
        assert!((0..2).any(|k| (own(k) - found[(i, 0)]).abs() < 1e-9));
    }
}

#[test]
fn experts_separate_what_one_logistic_model_cannot() {
    // Exclusive or: each side of the first column has a line of its own.
    let x = Matrix::from_fn(200, 2, |i, j| ((i * (37 + 64 * j) + i / 7) % 101) as f64 / 50.5 - 1.0);
    let class = |i: usize| i64::from((x[(i, 0)] > 0.0) != (x[(i, 1)] > 0.0));
    let y: Vec<Label> = (0..200).map(|i| Label::Int(class(i))).collect();
    let data = OwnedDataset::classification(x, &y);
    let model = MixtureOfExpertsClassifier::default().fit(&data.view()).unwrap();
    let (codes, _) = data.view().class_target().unwrap();
    let called = model.classify(&data.x.frame()).unwrap();
    let right = codes.iter().zip(&called).filter(|(a, b)| a == b).count();
    assert!(right >= 190, "{right} of 200");
}
