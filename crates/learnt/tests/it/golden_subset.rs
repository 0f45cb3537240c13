//! Subset selection and the rest of least-squares inference against reference numbers.

use crate::golden_case::{Case, numbers, texts};
use learnt::linear::diagnostics::{self, gaussian_log_likelihood};
use learnt::linear::{
    BestSubsetRegression, Direction, LinearRegression, Sampling, StepwiseRegression,
    SubsetRegressionModel, nested_test, simple_regression, successive_orthogonalization,
};
use learnt::prelude::*;

#[test]
fn best_subsets_of_swiss() {
    let case = Case::new("linear.json", "best-subset-swiss");
    let data = case.regression();
    let model = BestSubsetRegression::default().fit(&data.view()).unwrap();
    let n = data.view().nrows() as f64;
    case.close("rss", &model.rss[1..]);
    case.close("cp", &model.cp.as_ref().unwrap()[1..]);
    case.close("adj_r2", &model.adjusted_r2.as_ref().unwrap()[1..]);
    // The case's BIC leaves out n ln(TSS/n).
    let constant = n * (model.rss[0] / n).ln();
    let bic: Vec<f64> = model.bic[1..].iter().map(|bic| bic - constant).collect();
    case.close("bic", bic);
    let names = texts(case.input("features"));
    for (size, expected) in case.expect("subsets").as_array().unwrap().iter().enumerate() {
        let got: Vec<&str> = model.subsets[size + 1].iter().map(|&j| names[j].as_str()).collect();
        assert_eq!(got, texts(expected));
    }
    assert_eq!(model.selected.len(), 4);
}

fn steps(id: &str, direction: Direction) -> (Case, SubsetRegressionModel) {
    let case = Case::new("linear.json", id);
    let learner = StepwiseRegression { direction, ..Default::default() };
    let model = learner.fit(&case.regression().view()).unwrap();
    (case, model)
}

fn agrees(case: &Case, model: &SubsetRegressionModel) {
    assert_eq!(model.path, texts(case.expect("path")));
    case.close("aic", &model.aic);
    let mut selected = model.selected.clone();
    selected.sort();
    let mut wanted = texts(case.expect("final"));
    wanted.sort();
    assert_eq!(selected, wanted);
    case.close("coef.(Intercept)", &model.intercept);
    let names = texts(case.input("features"));
    for name in &model.selected {
        let j = names.iter().position(|known| known == name).unwrap();
        case.close(&format!("coef.{name}"), [model.coef[(0, j)]]);
    }
}

#[test]
fn forward_steps_on_mtcars() {
    let (case, model) = steps("step-forward-mtcars", Direction::Forward);
    agrees(&case, &model);
}

#[test]
fn backward_steps_on_mtcars() {
    let (case, model) = steps("step-backward-mtcars", Direction::Backward);
    agrees(&case, &model);
}

#[test]
fn lines_through_the_notes_points() {
    let case = Case::new("linear.json", "simple-regression-ridge-lasso");
    let (x, y) = (numbers(case.input("X")), numbers(case.input("y")));
    let line = simple_regression(&x, &y, None, false).unwrap();
    case.close("intercept", [line.intercept]);
    case.close("slope", [line.slope]);
    case.close("sse", [line.rss]);
    let fitted: Vec<f64> = x.iter().map(|&x| line.at(x)).collect();
    case.close("loglik_sigma1", [gaussian_log_likelihood(&y, &fitted, 1.0).unwrap()]);
    let case = Case::new("linear.json", "ols-four-houses");
    let (x, y) = (numbers(case.input("X")), numbers(case.input("y")));
    let line = simple_regression(&x, &y, None, false).unwrap();
    case.close("intercept", [line.intercept]);
    case.close("slope", [line.slope]);
    case.close("rss", [line.rss]);
    case.close("r2", [line.r.unwrap().powi(2)]);
    case.close("prediction", [line.at(1500.0)]);
}

#[test]
fn five_rows_by_successive_orthogonalisation() {
    let case = Case::new("linear.json", "ols-inference-gram-schmidt");
    let data = case.regression();
    let y = numbers(case.input("y"));
    let run = Context::default();
    let factors = successive_orthogonalization(&data.x.frame(), true, &run).unwrap();
    case.close("beta", factors.coefficients(&y).unwrap());
    let successive = factors.successive_coefficients(&y).unwrap();
    case.close("last_gs_coefficient", &successive[2..]);
    case.close("v22", [factors.last_unit_variance().unwrap()]);
    let erratum = Case::new("linear.json", "qr-scaling-erratum");
    erratum.close("beta_right", factors.coefficients(&y).unwrap());
    // With squared norms for D the coefficients are Γ⁻¹D⁻¹ of these, which is wrong.
    let mut wrong: Vec<f64> =
        successive.iter().zip(&factors.norms).map(|(c, norm)| c / (norm * norm)).collect();
    for i in (0..3).rev() {
        wrong[i] -= (i + 1..3).map(|j| factors.gamma[(i, j)] * wrong[j]).sum::<f64>();
    }
    erratum.close("beta_if_squared_norm", wrong);
}

#[test]
fn dropping_a_column_of_five_rows() {
    let case = Case::new("linear.json", "ols-inference-gram-schmidt");
    let data = case.regression();
    let narrow = OwnedDataset { x: data.x.frame().select(&[0]), ..data.clone() };
    let learner = LinearRegression::default();
    let (small, large) = (learner.fit(&narrow.view()).unwrap(), learner.fit(&data.view()).unwrap());
    case.close("rss_without_x2", [small.inference(0, 0.95).unwrap().rss]);
    let test = nested_test(&small, &large, 0, Sampling::Exact).unwrap();
    case.close("F_drop_x2", [test.statistic]);
    let hat = diagnostics::hat_matrix(&large, &data.view(), &Context::default()).unwrap();
    case.close("hat_trace", [(0..5).map(|i| hat[(i, i)]).sum::<f64>()]);
}

#[test]
fn intervals_by_the_normal_distribution() {
    let case = Case::new("linear.json", "lm-mtcars");
    let model = LinearRegression::default().fit(&case.regression().view()).unwrap();
    for (level, quantile) in [(0.95, 1.959_964), (0.9, 1.644_854)] {
        let exact = model.inference(0, level).unwrap();
        let normal = model.inference_by(0, level, Sampling::LargeSample).unwrap();
        for (a, b) in exact.coefficients.iter().zip(&normal.coefficients) {
            assert!(((b.upper - b.estimate) / b.standard_error - quantile).abs() < 5e-7);
            assert!(a.t == b.t && a.p > b.p && a.lower < b.lower);
        }
    }
    assert!(model.inference(0, 1.0).is_err());
}

#[test]
fn several_outputs_are_as_many_separate_fits() {
    let case = Case::new("linear.json", "lm-swiss");
    let one = case.regression();
    let y = one.view().real_target().unwrap().column(0);
    let both = Matrix::from_fn(y.len(), 2, |i, t| if t == 0 { y[i] } else { y[i] * y[i] });
    let second = both.column(1);
    let data = OwnedDataset { y: Some(OwnedTarget::Real(both)), ..one.clone() };
    let learner = LinearRegression::default();
    let together = learner.fit(&data.view()).unwrap();
    for (t, y) in [y, second].into_iter().enumerate() {
        let target = Some(OwnedTarget::Real(Matrix::column_vector(y)));
        let alone = learner.fit(&OwnedDataset { y: target, ..one.clone() }.view()).unwrap();
        for (a, b) in together.coef.row(t).iter().zip(alone.coef.row(0)) {
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}");
        }
    }
}

#[test]
fn the_report_of_stack_loss_names_its_row() {
    let case = Case::new("linear.json", "ols-stackloss");
    let data = case.regression();
    let model = LinearRegression::default().fit(&data.view()).unwrap();
    let report = diagnostics::report(&model, &data.view()).unwrap();
    let row = case.expect("largest_cook.row").as_i64().unwrap() + 1;
    assert_eq!(report.tables[1].columns[0].reals().unwrap()[0], row as f64);
    let watson = report.tables[0].columns[2].reals().unwrap()[2];
    case.close("durbin_watson", [watson]);
}
