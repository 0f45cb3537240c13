//! Gaussian naive Bayes against reference numbers.

use learnt::bayes::GaussianNB;
use learnt::prelude::*;

use crate::golden::{self, Golden};

#[test]
fn iris_agrees_with_scikit_learn() {
    let case = Golden::load("gaussian_nb", "gaussian-nb-iris");
    let data = case.classification("species");
    let learner = GaussianNB { var_smoothing: 0.0, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    for k in 0..3 {
        golden::close_all(model.theta.row(k), &case.rows("theta")[k], 1e-6, 1e-9);
        golden::close_all(model.var.row(k), &case.rows("var")[k], 1e-6, 1e-9);
    }
    let probabilities = model.probabilities(&data.x.frame()).unwrap();
    for (&row, expected) in [0, 70, 83, 106, 133].iter().zip(case.rows("posterior")) {
        golden::close_all(probabilities.row(row), &expected, 1e-6, 1e-9);
    }
    let Some(OwnedTarget::Class { codes, .. }) = &data.y else { panic!("no classes") };
    let mut confusion = vec![vec![0.0; 3]; 3];
    for (got, &code) in model.classify(&data.x.frame()).unwrap().iter().zip(codes) {
        confusion[code as usize][*got as usize] += 1.0;
    }
    assert_eq!(confusion, case.rows("confusion"));
}
