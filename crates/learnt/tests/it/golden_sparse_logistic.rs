//! The functions of logistic regression, and its L1 and elastic-net penalties, against reference
//! numbers.

use crate::golden_case::{Case, matrix, numbers};
use learnt::linear::logistic_functions::{log_softmax, log_sum_exp, softmax, softmax_jacobian};
use learnt::linear::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
use learnt::prelude::*;
use learnt::trained::Trained;

fn learner(case: &Case) -> LogisticRegression {
    let mut learner = LogisticRegression { tol: 1e-8, ..Default::default() };
    for (name, value) in case.params() {
        learner.set(name, &Value::Real(value.as_f64().unwrap())).unwrap();
    }
    learner
}

/// The sum of losses and penalties.
fn objective(
    learner: &LogisticRegression,
    model: &LogisticRegressionModel,
    data: &OwnedDataset,
) -> f64 {
    let Some(OwnedTarget::Class { codes, .. }) = &data.y else { panic!("no classes") };
    let probabilities = model.probabilities(&data.x.frame()).unwrap();
    let lost: f64 =
        codes.iter().enumerate().map(|(i, &code)| -probabilities[(i, code as usize)].ln()).sum();
    let weights = model.coef.as_slice();
    let (sizes, squares): (f64, f64) =
        (weights.iter().map(|w| w.abs()).sum(), weights.iter().map(|w| w * w).sum());
    lost + (learner.l1_ratio * sizes + 0.5 * (1.0 - learner.l1_ratio) * squares) / learner.c
}

#[test]
fn sparse_weights_agree_with_scikit_learn() {
    for id in [
        "logit-l1-breast-cancer",
        "logit-elasticnet-breast-cancer",
        "softmax-l1-iris",
        "softmax-elasticnet-iris",
    ] {
        let case = Case::new("generalized.json", id);
        let data = case.classification();
        let learner = learner(&case);
        let model = learner.fit(&data.view()).unwrap();
        assert!(learnt::estimator::Model::converged(&model));
        case.close("coef", model.coef.as_slice());
        case.close("intercept", &model.intercept);
        case.close("objective", [objective(&learner, &model, &data)]);
        let nonzero = model.coef.as_slice().iter().filter(|w| **w != 0.0).count();
        case.close("nonzero", [nonzero as f64]);
        let zeros = matrix(case.expect("coef")).into_vec();
        for (got, expected) in model.coef.as_slice().iter().zip(zeros) {
            assert_eq!(*got == 0.0, expected == 0.0);
        }
        assert!(model.n_iter[0] <= 12, "{id}: {:?}", model.n_iter);
    }
}

#[test]
fn both_ways_to_say_a_penalty_are_one() {
    let data = Case::new("generalized.json", "logit-l1-breast-cancer").classification();
    let fit = |learner: LogisticRegression| learner.fit(&data.view()).unwrap().coef;
    let base = || LogisticRegression { c: 0.1, ..Default::default() };
    let l1 = fit(LogisticRegression { l1_ratio: 1.0, ..base() });
    assert_eq!(fit(LogisticRegression { penalty: Penalty::L1, ..base() }), l1);
    let both = LogisticRegression { penalty: Penalty::ElasticNet, l1_ratio: 1.0, ..base() };
    assert_eq!(fit(both), l1);
    for solver in [LogisticSolver::Liblinear, LogisticSolver::Saga, LogisticSolver::Lbfgs] {
        assert_eq!(fit(LogisticRegression { solver, l1_ratio: 1.0, ..base() }), l1);
    }
    let l2 = fit(base());
    assert_eq!(fit(LogisticRegression { penalty: Penalty::L2, ..base() }), l2);
    let none = fit(LogisticRegression { penalty: Penalty::ElasticNet, ..base() });
    assert_eq!(none, l2);
    let wrong = LogisticRegression { penalty: Penalty::L2, l1_ratio: 0.5, ..base() };
    assert_eq!(wrong.fit(&data.view()).unwrap_err().code(), Code::Parameter);
}

#[test]
fn a_small_l1_share_is_near_the_ridge() {
    let data = Case::new("generalized.json", "softmax-l1-iris").classification();
    let fit = |l1_ratio| {
        let learner = LogisticRegression { l1_ratio, tol: 1e-9, ..Default::default() };
        learner.fit(&data.view()).unwrap()
    };
    let (near, ridge) = (fit(1e-9), fit(0.0));
    for (a, b) in near.coef.as_slice().iter().zip(ridge.coef.as_slice()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    for (a, b) in near.intercept.iter().zip(&ridge.intercept) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn weights_and_threads_behave() {
    let base = Case::new("generalized.json", "softmax-l1-iris").classification();
    let learner = LogisticRegression {
        l1_ratio: 0.8,
        class_weight: ClassWeight::Balanced,
        tol: 1e-7,
        ..Default::default()
    };
    let weights: Vec<f64> = (0..150).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..150).flat_map(|i| vec![i; i % 3]).collect();
    let weighted = OwnedDataset { weights: Some(weights), ..base.clone() };
    let a = learner.fit(&weighted.view()).unwrap();
    let b = learner.fit(&base.view().gather(&repeated).view()).unwrap();
    for (a, b) in a.coef.as_slice().iter().zip(b.coef.as_slice()) {
        assert!((a - b).abs() < 1e-8);
    }
    let many: Vec<usize> = (0..40_000).map(|i| (i * 7 + i / 150) % 150).collect();
    let large = base.view().gather(&many);
    let bytes = [1, 2, 3].map(|threads| {
        let run = Context::default().with_threads(threads);
        Trained::fit(&learner, &large.view(), &[], &run).unwrap().to_bytes().unwrap()
    });
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
}

#[test]
fn a_constant_column_gets_no_weight_and_one_class_is_an_error() {
    let x = Matrix::from_fn(30, 2, |i, j| if j == 0 { 5.0 } else { (i % 7) as f64 });
    let labels: Vec<Label> = (0..30).map(|i| Label::Int(i64::from(i % 7 > 2))).collect();
    let data = OwnedDataset::classification(x.clone(), &labels);
    let learner = LogisticRegression { l1_ratio: 1.0, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    assert!(model.coef[(0, 0)].abs() < 1e-9 && model.coef[(0, 1)] > 0.0);
    let one = OwnedDataset::classification(x, &vec![Label::Int(1); 30]);
    assert_eq!(learner.fit(&one.view()).unwrap_err().code(), Code::OneClass);
}

#[test]
fn softmax_and_its_derivatives_are_the_worked_ones() {
    let case = Case::new("linear.json", "softmax-stable");
    let (a, b) = (numbers(case.input("a")), numbers(case.input("b")));
    case.close("softmax", softmax(&a));
    case.close("softmax_shifted", softmax(&b));
    case.close("lse", [log_sum_exp(&b)]);
    case.close("lse_negative", [log_sum_exp(&b.iter().map(|b| -b).collect::<Vec<_>>())]);
    case.close("nll_first", [-log_softmax(&b)[0]]);
    case.close("nll_third", [-log_softmax(&a)[2]]);
    let case = Case::new("linear.json", "softmax-jacobian");
    let jacobian = softmax_jacobian(&numbers(case.input("x")));
    case.close("jacobian", jacobian.as_slice());
}
