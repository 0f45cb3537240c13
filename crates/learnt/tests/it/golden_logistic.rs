//! Logistic regression against reference numbers, and against itself on other paths.

use learnt::context::Recorder;
use learnt::linear::{
    ClassWeight, LogisticRegression, LogisticRegressionModel, LogisticSolver, Penalty,
};
use learnt::prelude::*;
use learnt::rounds::{Block, Outline, Source, block_rows};
use learnt::trained::Trained;

use crate::golden::{self, Golden};

fn free() -> LogisticRegression {
    LogisticRegression { penalty: Penalty::Nothing, tol: 1e-8, ..Default::default() }
}

fn standardised(data: &OwnedDataset) -> OwnedDataset {
    let x = data.x.values();
    let n = x.nrows() as f64;
    let mut out = x.clone();
    for j in 0..x.ncols() {
        let column = x.column(j);
        let mean = column.iter().sum::<f64>() / n;
        let sd = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        (0..x.nrows()).for_each(|i| out[(i, j)] = (x[(i, j)] - mean) / sd);
    }
    OwnedDataset { x: Table::unnamed(out), ..data.clone() }
}

/// Intercept first, as the references have it.
fn intercept_first(matrix: &Matrix, row: usize) -> Vec<f64> {
    let row = matrix.row(row);
    let mut out = vec![row[row.len() - 1]];
    out.extend_from_slice(&row[..row.len() - 1]);
    out
}

fn check_wald_table(case: &Golden, model: &LogisticRegressionModel) {
    let inference = model.inference.as_ref().unwrap();
    case.check("coef", &intercept_first(&inference.estimates, 0));
    case.check("se", &intercept_first(&inference.standard_errors, 0));
    case.check("z", &intercept_first(&inference.z(), 0));
    case.check("p", &intercept_first(&inference.p(), 0));
    case.check("loglik", &[inference.log_likelihood]);
}

#[test]
fn pima_agrees_with_statsmodels() {
    let case = Golden::load("logistic", "logit-pima-768");
    let data = case.classification("class");
    let model = free().fit(&data.view()).unwrap();
    check_wald_table(&case, &model);
    let inference = model.inference.as_ref().unwrap();
    case.check("loglik_null", &[inference.null_log_likelihood]);
    case.check("mcfadden_r2", &[inference.pseudo_r_squared()]);
    let ratio = inference.likelihood_ratio(data.x.values().ncols()).unwrap();
    case.check("lr_statistic", &[ratio.statistic]);
    case.check("lr_p", &[ratio.p]);
    case.check("training_errors", &[golden::errors(&model, &data) as f64]);
}

#[test]
fn pima_training_rows_agree_with_glm() {
    let case = Golden::load("logistic", "logit-pima");
    let data = case.classification("type");
    let model = free().fit(&data.view()).unwrap();
    check_wald_table(&case, &model);
    let inference = model.inference.as_ref().unwrap();
    case.check("deviance", &[inference.deviance()]);
    case.check("null_deviance", &[inference.null_deviance()]);
    case.check("aic", &[inference.aic()]);
    case.check("fitted_first5", &model.probabilities(&data.x.frame()).unwrap().column(1)[..5]);
    let names = Names::new(data.x.schema(), data.view().class_target().unwrap().1);
    let report = learnt::estimator::Model::report(&model, &names).unwrap();
    assert!(report.to_text().contains("(intercept)"));
    let head = ["term", "coefficient", "std. error", "z", "p", "2.5%", "97.5%"];
    assert!(report.tables[0].columns.iter().map(|column| &column.name).eq(head));
    let figures: Vec<&str> = report.values.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "log-likelihood",
        "deviance",
        "null deviance",
        "pseudo R2",
        "likelihood ratio",
        "p of likelihood ratio",
        "AIC",
        "BIC",
    ];
    assert_eq!(figures, expected);
}

#[test]
fn a_factor_of_three_levels_agrees_with_glm() {
    let case = Golden::load("logistic", "logit-birthwt");
    let columns = golden::columns("birthwt", &["age", "lwt", "race", "smoke", "ht"]);
    let x = Matrix::from_fn(columns.nrows(), 6, |i, j| match j {
        0 | 1 => columns[(i, j)],
        2 => f64::from(columns[(i, 2)] == 2.0),
        3 => f64::from(columns[(i, 2)] == 3.0),
        _ => columns[(i, j - 1)],
    });
    let data = OwnedDataset::classification(x, &golden::labels("birthwt", "low"));
    let model = free().fit(&data.view()).unwrap();
    check_wald_table(&case, &model);
    case.check("aic", &[model.inference.as_ref().unwrap().aic()]);
    case.check("fitted_first5", &model.probabilities(&data.x.frame()).unwrap().column(1)[..5]);
}

#[test]
fn three_classes_agree_with_multinom() {
    let case = Golden::load("logistic", "multinomial-birthwt");
    let data = case.classification("race");
    for solver in [LogisticSolver::Auto, LogisticSolver::Lbfgs] {
        let model = LogisticRegression { solver, ..free() }.fit(&data.view()).unwrap();
        let probabilities = model.probabilities(&data.x.frame()).unwrap();
        for (i, expected) in case.rows("fitted_first5").iter().enumerate() {
            golden::close_all(probabilities.row(i), expected, 1e-4, 1e-5);
        }
        if solver == LogisticSolver::Auto {
            let inference = model.inference.as_ref().unwrap();
            for k in 0..2 {
                golden::close_all(
                    &intercept_first(&inference.estimates, k),
                    &case.rows("coef")[k],
                    1e-4,
                    1e-5,
                );
                golden::close_all(
                    &intercept_first(&inference.standard_errors, k),
                    &case.rows("se")[k],
                    1e-4,
                    1e-5,
                );
            }
            case.check("deviance", &[inference.deviance()]);
            case.check("aic", &[inference.aic()]);
        }
    }
}

#[test]
fn penalised_softmax_agrees_with_scikit_learn_by_both_solvers() {
    let case = Golden::load("logistic", "softmax-l2-iris");
    let data = standardised(&case.classification("species"));
    for solver in [LogisticSolver::NewtonCholesky, LogisticSolver::Lbfgs] {
        let learner = LogisticRegression { solver, tol: 1e-7, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        for k in 0..3 {
            golden::close_all(model.coef.row(k), &case.rows("coef")[k], 1e-4, 1e-5);
        }
        case.check("intercept", &model.intercept);
        let probabilities = model.probabilities(&data.x.frame()).unwrap();
        case.check("proba_row0", probabilities.row(0));
        case.check("proba_row70", probabilities.row(70));
        case.check("training_errors", &[golden::errors(&model, &data) as f64]);
    }
}

#[test]
fn penalised_two_classes_agree_with_scikit_learn() {
    let case = Golden::load("logistic", "logit-l2-breast-cancer");
    let data = standardised(&case.classification("diagnosis"));
    for solver in [LogisticSolver::NewtonCholesky, LogisticSolver::Lbfgs] {
        let learner = LogisticRegression { c: 0.1, solver, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        // The reference counts benign as 1; the sorted first class here is benign.
        let coef: Vec<f64> = model.coef.row(0).iter().map(|w| -w).collect();
        case.check("coef", &coef);
        case.check("intercept", &[-model.intercept[0]]);
        case.check("training_errors", &[golden::errors(&model, &data) as f64]);
        assert!(model.inference.is_none());
    }
}

#[test]
fn newton_makes_the_steps_of_irls() {
    let case = Golden::load("logistic", "irls-birthwt-steps");
    let data = case.classification("low");
    let steps = case.expect("newton_from_zero");
    for (i, step) in steps.as_array().unwrap().iter().enumerate().take(3) {
        let learner = LogisticRegression { max_iter: i + 1, tol: 0.0, ..free() };
        let model = learner.fit(&data.view()).unwrap();
        let mut got = vec![model.intercept[0]];
        got.extend_from_slice(model.coef.row(0));
        golden::close_all(&got, &golden::numbers(&step["coef"]), 1e-6, 1e-9);
    }
}

/// Forty thousand rows: three blocks, with a class code of `classes` possible.
fn large(classes: u32) -> OwnedDataset {
    let noise = |i: usize, j: usize| {
        let mixed = (i as u64)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add((j as u64).wrapping_mul(1_442_695_040_888_963_407));
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64
            / (1 << 24) as f64
            - 0.5
    };
    let x = Matrix::from_fn(40_000, 5, noise);
    let labels: Vec<Label> = (0..40_000)
        .map(|i| {
            let score = 3.0 * x[(i, 0)] - 2.0 * x[(i, 3)] + 2.0 * noise(i, 77);
            Label::Int(
                ((score + 2.0) * f64::from(classes) / 4.0).clamp(0.0, f64::from(classes) - 1.0)
                    as i64,
            )
        })
        .collect();
    OwnedDataset::classification(x, &labels)
}

/// Blocks as a file would give them: each a copy of its own.
struct Stream<'a>(&'a OwnedDataset);

impl Source for Stream<'_> {
    fn outline(&self) -> Outline<'_> {
        let classes: &[Label] = match &self.0.y {
            Some(OwnedTarget::Class { classes, .. }) => classes,
            _ => &[],
        };
        Outline {
            schema: self.0.x.schema(),
            rows: self.0.x.values().nrows() as u64,
            outputs: 0,
            classes,
            weighted: self.0.weights.is_some(),
            cuts: None,
        }
    }
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        let size = block_rows(self.0.x.values().ncols());
        let start = index as usize * size;
        let rows: Vec<usize> = (start..(start + size).min(self.0.x.values().nrows())).collect();
        let copy = self.0.view().gather(&rows);
        f(&Block { index, first_row: start as u64, data: copy.view() })
    }
}

#[test]
fn streams_threads_and_memory_orders_give_the_same_bits() {
    for (classes, solver) in [
        (2, LogisticSolver::NewtonCholesky),
        (3, LogisticSolver::NewtonCholesky),
        (3, LogisticSolver::Lbfgs),
    ] {
        let data = large(classes);
        let learner = LogisticRegression {
            solver,
            class_weight: ClassWeight::Balanced,
            ..Default::default()
        };
        let one = Context::default().with_threads(1);
        let expected = Trained::fit(&learner, &data.view(), &[], &one).unwrap().to_bytes().unwrap();
        let four = Context::default().with_threads(4);
        let streamed = Trained::fit_source(&learner, &Stream(&data), &[], &four).unwrap();
        assert_eq!(streamed.to_bytes().unwrap(), expected);
        let by_column = data.x.values().transposed();
        let turned = Frame::new(by_column.view().transposed(), data.x.schema()).unwrap();
        let turned = Dataset { x: turned, ..data.view() };
        let other = Trained::fit(&learner, &turned, &[], &four).unwrap();
        assert_eq!(other.to_bytes().unwrap(), expected);
    }
}

fn mean_loss(model: &LogisticRegressionModel, data: &OwnedDataset) -> f64 {
    let Some(OwnedTarget::Class { codes, .. }) = &data.y else { panic!("no classes") };
    let probabilities = model.probabilities(&data.x.frame()).unwrap();
    let lost = codes.iter().enumerate().map(|(i, &code)| -probabilities[(i, code as usize)].ln());
    lost.sum::<f64>() / codes.len() as f64
}

#[test]
fn the_solvers_agree_to_eight_digits_of_the_objective() {
    for classes in [2, 5] {
        let data = large(classes);
        let objective = |solver| {
            let learner = LogisticRegression { solver, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            let squares: f64 = model.coef.as_slice().iter().map(|w| w * w).sum();
            mean_loss(&model, &data) + 0.5 * squares / data.x.values().nrows() as f64
        };
        let newton = objective(LogisticSolver::NewtonCholesky);
        let lbfgs = objective(LogisticSolver::Lbfgs);
        assert!((newton - lbfgs).abs() < 1e-8, "{newton} {lbfgs}");
    }
}

#[test]
fn columns_of_very_different_scale_and_place_converge() {
    let mut data = large(3);
    let x = data.x.values().clone();
    let moved = Matrix::from_fn(x.nrows(), 5, |i, j| {
        x[(i, j)] * 10_f64.powi(3 * j as i32 - 6) + 100.0 * j as f64
    });
    let plain = free().fit(&data.view()).unwrap();
    data.x = Table::unnamed(moved);
    for solver in [LogisticSolver::NewtonCholesky, LogisticSolver::Lbfgs] {
        let model = LogisticRegression { solver, tol: 1e-5, ..free() }.fit(&data.view()).unwrap();
        assert!(learnt::estimator::Model::converged(&model));
        assert!(model.n_iter[0] < 40, "{:?}", model.n_iter);
        let original = OwnedDataset { x: Table::unnamed(x.clone()), ..data.clone() };
        assert!((mean_loss(&model, &data) - mean_loss(&plain, &original)).abs() < 1e-8);
    }
}

#[test]
fn weight_two_is_a_repeated_row() {
    let case = Golden::load("logistic", "multinomial-birthwt");
    let data = case.classification("race");
    let n = data.x.values().nrows();
    let twice: Vec<usize> = (0..n).chain((0..n).filter(|i| i % 3 == 0)).collect();
    let weights: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    for class_weight in [ClassWeight::Equal, ClassWeight::Balanced] {
        let learner = LogisticRegression { class_weight, tol: 1e-8, ..Default::default() };
        let repeated = learner.fit(&data.view().gather(&twice).view()).unwrap();
        let weighted = learner.fit(&data.view().with_weights(&weights)).unwrap();
        golden::close_all(weighted.coef.as_slice(), repeated.coef.as_slice(), 1e-8, 1e-10);
        golden::close_all(&weighted.intercept, &repeated.intercept, 1e-8, 1e-10);
    }
}

fn warnings_of(
    learner: &LogisticRegression,
    data: &OwnedDataset,
) -> (LogisticRegressionModel, Vec<String>) {
    let recorder = Recorder::new(&learnt::context::Quiet);
    let run = Context::default();
    let model = learner.fit_in(&data.view(), &run.observed_by(&recorder)).unwrap();
    let texts = recorder.warnings().iter().map(ToString::to_string).collect();
    (model, texts)
}

#[test]
fn a_separating_column_is_named_and_inference_withheld() {
    let x = Matrix::from_fn(20, 2, |i, j| if j == 0 { ((i * 7) % 5) as f64 } else { i as f64 });
    let labels: Vec<Label> = (0..20).map(|i| Label::Int(i64::from(i >= 9))).collect();
    let (model, warnings) = warnings_of(&free(), &OwnedDataset::classification(x.clone(), &labels));
    assert!(warnings[0].contains("column 'x1'") && warnings[0].contains("E041"), "{warnings:?}");
    assert!(model.inference.is_none());
    assert!(model.coef.as_slice().iter().all(|w| w.is_finite()));
    assert!(!learnt::estimator::Model::converged(&model));
    let (_, penalised) =
        warnings_of(&LogisticRegression::default(), &OwnedDataset::classification(x, &labels));
    assert!(penalised.is_empty());
}

#[test]
fn separation_by_several_columns_is_noticed_complete_or_not() {
    let x = Matrix::from_fn(30, 2, |i, j| ((i * [7, 11][j]) % 13) as f64);
    let side = |i: usize| x[(i, 0)] + 1.5 * x[(i, 1)] - 15.2;
    let labels: Vec<Label> = (0..30).map(|i| Label::Int(i64::from(side(i) > 0.0))).collect();
    let complete = OwnedDataset::classification(x.clone(), &labels);
    let (model, warnings) = warnings_of(&free(), &complete);
    assert!(warnings[0].contains("completely") && !warnings[0].contains("quasi"), "{warnings:?}");
    assert!(model.inference.is_none());

    // Rows where a + b = 6 lie on the border and are of both classes; all others are on their side.
    let points: Vec<[f64; 2]> = (0..=12)
        .flat_map(|a| [[f64::from(a) / 2.0, 6.0 - f64::from(a) / 2.0]; 2])
        .chain((0..10).map(|a| [f64::from(a), 4.0 - f64::from(a) / 3.0]))
        .collect();
    let x = Matrix::from_rows(&points).unwrap();
    let labels: Vec<Label> = points
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let side = p[0] + p[1] - 6.0;
            Label::Int(if side.abs() < 1e-9 { i as i64 % 2 } else { i64::from(side > 0.0) })
        })
        .collect();
    let (model, warnings) = warnings_of(&free(), &OwnedDataset::classification(x, &labels));
    assert!(warnings[0].contains("quasi-completely"), "{warnings:?}");
    assert!(model.inference.is_none());
}

#[test]
fn dependent_columns_have_finite_estimates_and_no_standard_errors() {
    let data = large(2);
    let x = Matrix::from_fn(500, 3, |i, j| match j {
        2 => 2.0 * data.x.values()[(i, 0)] - 1.0,
        _ => data.x.values()[(i, j)],
    });
    let rows: Vec<usize> = (0..500).collect();
    let data = OwnedDataset { x: Table::unnamed(x), ..data.view().gather(&rows) };
    let (model, warnings) = warnings_of(&free(), &data);
    assert!(model.inference.is_none() && warnings.is_empty(), "{warnings:?}");
    assert!(model.coef.as_slice().iter().all(|w| w.abs() < 100.0));
    let names = Names::new(data.x.schema(), data.view().class_target().unwrap().1);
    let notes = learnt::estimator::Model::report(&model, &names).unwrap().notes;
    assert!(notes[0].contains("depend on each other"));
}

#[test]
fn a_score_of_zero_is_of_the_second_class() {
    let x = Matrix::column_vector(vec![-1.0, 1.0, 0.0]);
    let data = OwnedDataset::classification(x, &[0, 1, 0].map(Label::Int));
    let learner = LogisticRegression { fit_intercept: false, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    assert_eq!(model.classify(&data.x.frame()).unwrap(), [0, 1, 1]);
    assert_eq!(model.intercept, [0.0]);
}

#[test]
fn one_class_and_a_wrong_width_are_errors() {
    let x = Matrix::column_vector(vec![1.0, 2.0]);
    let one = OwnedDataset::classification(x.clone(), &[3, 3].map(Label::Int));
    assert_eq!(LogisticRegression::default().fit(&one.view()).unwrap_err().code(), Code::OneClass);
    let two = OwnedDataset::classification(x, &[3, 4].map(Label::Int));
    let hidden = two.view().with_weights(&[1.0, 0.0]);
    assert_eq!(LogisticRegression::default().fit(&hidden).unwrap_err().code(), Code::OneClass);
    let model = LogisticRegression::default().fit(&two.view()).unwrap();
    let wide = Table::unnamed(Matrix::zeros(2, 3));
    assert_eq!(model.classify(&wide.frame()).unwrap_err().code(), Code::Shape);
}

#[test]
fn a_model_survives_its_file() {
    let case = Golden::load("logistic", "logit-pima");
    let data = case.classification("type");
    let learner = free();
    let trained = Trained::fit(&learner, &data.view(), &[], &Context::default()).unwrap();
    let loaded = learnt::from_bytes(&trained.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.verify().unwrap(), Some(true));
}
