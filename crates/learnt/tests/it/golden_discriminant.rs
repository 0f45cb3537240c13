//! Discriminant analysis, indicator regression, masking and linear machines against reference numbers
//! (tests/golden/linear.json and discriminant.json).

use crate::golden_case::{Case, matrix, numbers};
use learnt::discriminant::{
    LinearDiscriminantAnalysis, LinearDiscriminantAnalysisModel, LinearDiscriminantSolver,
    QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis, Shrinkage, SpheredCentroids,
    masking,
};
use learnt::linear::{IndicatorRegression, LinearMachine, OnBoundary};
use learnt::prelude::*;
use learnt::stats::distribution::{Continuous, Normal};

fn rows(case: &Case) -> Vec<usize> {
    numbers(case.input("posterior_rows")).iter().map(|&i| i as usize).collect()
}

fn posterior(model: &dyn Classifier, data: &OwnedDataset, rows: &[usize]) -> Vec<f64> {
    model.probabilities(&data.x.frame().gather(rows).frame()).unwrap().into_vec()
}

/// True classes in rows, predictions in columns.
fn confusion(model: &dyn Classifier, data: &OwnedDataset) -> Vec<f64> {
    let view = data.view();
    let (truth, classes) = view.class_target().unwrap();
    let mut out = vec![0.0; classes.len() * classes.len()];
    for (&t, p) in truth.iter().zip(model.classify(&data.x.frame()).unwrap()) {
        out[t as usize * classes.len() + p as usize] += 1.0;
    }
    out
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.abs()).collect()
}

#[test]
fn linear_discriminants_of_iris() {
    let case = Case::new("linear.json", "lda-iris");
    let data = case.classification();
    let model = LinearDiscriminantAnalysis::default().fit(&data.view()).unwrap();
    case.close("prior", &model.priors);
    case.close("means", model.means.as_slice());
    case.close("scaling_abs", absolute(model.scalings.as_ref().unwrap().as_slice()));
    case.close("svd", &model.ratios);
    case.close("posterior", posterior(&model, &data, &rows(&case)));
    case.close("confusion", confusion(&model, &data));
    let scores = model.transform(&data.x.frame().rows(0, 1)).unwrap();
    case.close("scores_abs_row0", absolute(scores.values().as_slice()));
    let whole = RegularizedDiscriminantAnalysis { alpha: 1.0, ..Default::default() };
    let whole = whole.fit(&data.view()).unwrap();
    case.close("posterior", posterior(&whole, &data, &rows(&case)));
}

#[test]
fn sphered_centroids_of_iris_are_linear_discriminants() {
    let data = Case::new("linear.json", "lda-iris").classification();
    let (frame, run) = (data.x.frame(), Context::default());
    let model = LinearDiscriminantAnalysis::default().fit(&data.view()).unwrap();
    let expected = model.classify(&frame).unwrap();
    let centroids = SpheredCentroids::of(&data.view(), &run).unwrap();
    assert_eq!(centroids.nearest(&frame, &run).unwrap(), expected);
    assert_eq!(model.classify_reduced_in(&frame, 2, &run).unwrap(), expected);
}

#[test]
fn priors_change_posteriors_and_not_the_covariance() {
    let case = Case::new("linear.json", "lda-wine-priors");
    let data = case.classification();
    let learner = |priors| LinearDiscriminantAnalysis {
        priors,
        store_covariance: true,
        ..Default::default()
    };
    let model = learner(Some(vec![0.2, 0.5, 0.3])).fit(&data.view()).unwrap();
    case.close("posterior", posterior(&model, &data, &rows(&case)));
    case.close("svd", &model.ratios);
    let errors = confusion(&model, &data).iter().sum::<f64>()
        - (0..3).map(|k| confusion(&model, &data)[4 * k]).sum::<f64>();
    case.close("training_errors", [errors]);
    assert_eq!(model.covariance, learner(None).fit(&data.view()).unwrap().covariance);
}

#[test]
fn quadratic_discriminants_of_iris() {
    let case = Case::new("linear.json", "qda-iris");
    let data = case.classification();
    let model = QuadraticDiscriminantAnalysis::default().fit(&data.view()).unwrap();
    case.close("ldet", model.ln_determinants());
    case.close("posterior", posterior(&model, &data, &rows(&case)));
    case.close("confusion", confusion(&model, &data));
}

#[test]
fn shrunk_covariances() {
    for (id, shrinkage) in
        [("lda-shrinkage-auto", Shrinkage::Auto), ("lda-shrinkage-0.3", Shrinkage::Share(0.3))]
    {
        let case = Case::new("discriminant.json", id);
        let data = case.classification();
        let solver = LinearDiscriminantSolver::Eigen;
        let learner = LinearDiscriminantAnalysis { solver, shrinkage, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        // The reference divides by N, not N - K.
        let covariance = model.covariance.unwrap();
        let scaled: Vec<f64> = covariance.as_slice().iter().map(|c| c * 147.0 / 150.0).collect();
        case.close("covariance", scaled);
    }
}

/// Scores as they were with the divisor N in place of N - K.
fn with_divisor(model: &LinearDiscriminantAnalysisModel, ratio: f64) -> (Vec<f64>, Vec<f64>) {
    let coef = model.coef.as_slice().iter().map(|w| w * ratio).collect();
    let prior = |k: usize| match model.intercept.len() {
        1 => 0.0,
        _ => model.priors[k].ln(),
    };
    let intercept = |(k, b): (usize, &f64)| (b - prior(k)) * ratio + prior(k);
    (coef, model.intercept.iter().enumerate().map(intercept).collect())
}

#[test]
fn scores_of_two_and_three_classes() {
    let case = Case::new("discriminant.json", "lda-svd");
    let data = case.classification();
    let model = LinearDiscriminantAnalysis::default().fit(&data.view()).unwrap();
    let (coef, intercept) = with_divisor(&model, 150.0 / 147.0);
    case.close("coef", coef);
    case.close("intercept", intercept);
    case.close("explained_variance_ratio", model.explained_variance_ratio.as_ref().unwrap());
    let transformed = model.transform(&data.x.frame().rows(0, 3)).unwrap();
    let scale = f64::sqrt(150.0 / 147.0);
    let transformed = transformed.values().as_slice().iter().map(|z| (z * scale).abs());
    case.close("transformed_abs", transformed.collect::<Vec<_>>());
    let case = Case::new("discriminant.json", "lda-two-classes");
    let view = data.view().rows(0, 100);
    let (codes, classes) = view.class_target().unwrap();
    let two = view.with_target(Target::Class { codes, classes: &classes[..2] });
    let model = LinearDiscriminantAnalysis::default().fit(&two).unwrap();
    let (coef, intercept) = with_divisor(&model, 100.0 / 98.0);
    case.close("coef", coef);
    case.close("intercept", intercept);
}

#[test]
fn a_share_of_the_identity_in_quadratic_discriminants() {
    let case = Case::new("discriminant.json", "qda-reg-param");
    let data = case.classification();
    let learner = QuadraticDiscriminantAnalysis { reg_param: 0.2, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let scalings = model.scalings.concat();
    let scalings: Vec<f64> = scalings.iter().map(|s| (s - 0.2) * 49.0 / 50.0 + 0.2).collect();
    case.close("scalings", scalings);
}

#[test]
fn indicator_regression_separates_six_points() {
    let case = Case::new("linear.json", "multiclass-mse");
    let classes = numbers(case.input("classes"));
    let labels: Vec<Label> = classes.iter().map(|&c| Label::Int(c as i64)).collect();
    let data = OwnedDataset::classification(matrix(case.input("X")), &labels);
    let model = IndicatorRegression::default().fit(&data.view()).unwrap();
    let a = Matrix::from_fn(3, 3, |k, j| match j {
        0 => model.intercept[k],
        j => model.coef[(k, j - 1)],
    });
    case.close("A", a.as_slice());
    let exact = [1045.0 / 978.0, -157.0 / 978.0, -86.0 / 489.0];
    a.row(0).iter().zip(exact).for_each(|(a, exact)| assert!((a - exact).abs() < 1e-12));
    let predicted = model.classify(&data.x.frame()).unwrap();
    let predicted: Vec<f64> = predicted.iter().map(|&code| f64::from(code + 1)).collect();
    case.close("predicted", predicted);
    let fitted = model.fitted_in(&data.x.frame(), &Context::default()).unwrap();
    fitted.rows().for_each(|row| case.close("row_sum", [row.iter().sum::<f64>()]));
}

#[test]
fn indicator_regression_on_iris() {
    let case = Case::new("linear.json", "indicator-regression-iris");
    let data = case.classification();
    let model = IndicatorRegression::default().fit(&data.view()).unwrap();
    let b = Matrix::from_fn(5, 3, |i, k| match i {
        0 => model.intercept[k],
        i => model.coef[(k, i - 1)],
    });
    case.close("B", b.as_slice());
    case.close("confusion", confusion(&model, &data));
}

#[test]
fn the_middle_class_is_masked_and_cured() {
    let case = Case::new("linear.json", "indicator-masking");
    let normal = Normal::standard();
    let x: Vec<f64> = (0..300)
        .map(|i| {
            let quantile = normal.quantile(((i % 100) as f64 + 0.5) / 100.0);
            [-4.0, 0.0, 4.0][i / 100] + 0.5 * quantile
        })
        .collect();
    let labels: Vec<Label> = (0..300).map(|i| Label::Int(i / 100)).collect();
    let data = OwnedDataset::classification(Matrix::column_vector(x), &labels);
    let found = masking(&data.view(), &Context::default()).unwrap();
    let counts: Vec<f64> = found.linear.counts.iter().map(|&count| count as f64).collect();
    case.close("linear_counts", counts);
    case.close("linear_errors", [found.linear.errors as f64]);
    case.close("quadratic_errors", [found.quadratic.as_ref().unwrap().errors as f64]);
    case.close("lda_errors", [found.discriminant.as_ref().unwrap().errors as f64]);
    assert_eq!(found.masked(), [1]);
    assert!(found.report().notes[0].contains("class '1' is never predicted"));
}

#[test]
fn a_fitted_value_on_the_threshold_is_of_the_first_class() {
    let case = Case::new("linear.json", "two-class-threshold");
    let fitted = numbers(case.input("yhat"));
    let class = |fit: &f64| f64::from(OnBoundary::First.class(*fit, 0.5));
    case.close("predicted", fitted.iter().map(class).collect::<Vec<_>>());
}

#[test]
fn a_linear_machine_and_the_distance_to_its_boundary() {
    let case = Case::new("linear.json", "linear-machine-distance");
    let weights = [numbers(case.input("w1")), numbers(case.input("w2"))];
    let intercepts = [case.input("w10"), case.input("w20")].map(|w| w.as_f64().unwrap());
    let machine =
        LinearMachine::new(Matrix::from_rows(&weights).unwrap(), intercepts.to_vec()).unwrap();
    let x = numbers(case.input("x"));
    case.close("g", machine.scores(&x).unwrap());
    case.close("distance", [machine.distance(&x, 0, 1).unwrap()]);
    case.close("assigned", [f64::from(machine.class(&x).unwrap() + 1)]);
}
