//! Least squares, inference and ridge against reference numbers.

use crate::golden::{columns, head, labels};
use crate::golden_case::{Case, matrix, numbers, texts};
use learnt::linear::diagnostics::{
    breusch_pagan, durbin_watson, influence, jarque_bera, normal_pairs, reset,
};
use learnt::linear::{
    Inference, IntervalKind, LinearRegression, LinearRegressionModel, Ridge, RidgeSolver,
};
use learnt::prelude::*;

fn case(id: &str) -> Case {
    Case::new("linear.json", id)
}

/// Of the cases that the shared ones lack.
fn own_case(id: &str) -> Case {
    Case::new("least_squares.json", id)
}

fn designed(names: &[String], columns: &[Vec<f64>], y: Vec<f64>) -> OwnedDataset {
    let x = Matrix::from_fn(y.len(), columns.len(), |i, j| columns[j][i]);
    let table = Table::new(x, Schema::numeric(names.to_vec()).unwrap()).unwrap();
    OwnedDataset { x: table, ..OwnedDataset::regression(Matrix::zeros(y.len(), 0), y) }
}

fn column_of(set: &str, name: &str) -> Vec<f64> {
    columns(set, &[name]).column(0)
}

/// One where the text is the level, else zero.
fn indicator(set: &str, name: &str, level: &str) -> Vec<f64> {
    labels(set, name).iter().map(|label| f64::from(*label == Label::from(level))).collect()
}

fn fit(data: &OwnedDataset) -> LinearRegressionModel {
    LinearRegression::default().fit(&data.view()).unwrap()
}

fn through_origin(data: &OwnedDataset) -> LinearRegressionModel {
    LinearRegression { fit_intercept: false, ..Default::default() }.fit(&data.view()).unwrap()
}

fn all_coefficients(model: &LinearRegressionModel) -> Vec<f64> {
    [&model.intercept[..1], model.coef.row(0)].concat()
}

fn column(table: &Inference, value: impl Fn(&learnt::linear::CoefficientTest) -> f64) -> Vec<f64> {
    table.coefficients.iter().map(value).collect()
}

#[test]
fn three_points_project_onto_the_columns() {
    let case = case("ols-three-points");
    let data = case.regression();
    let model = through_origin(&data);
    case.close("w", model.coef.row(0));
    let influence = influence(&model, &data.view(), 0).unwrap();
    case.close("fitted", &influence.fitted);
    case.close("residual", &influence.residual);
    case.close("leverage", &influence.leverage);
    case.close("hat_trace", [influence.leverage.iter().sum::<f64>()]);
    // Mean of squared errors with each row left out: the notes' value 27.
    assert!((influence.press / 3.0 - 27.0).abs() < 1e-10);
}

#[test]
fn ridge_penalises_every_weight_on_request() {
    let case = case("ridge-three-points-all-penalised");
    let data = case.regression();
    let inside = Ridge { fit_intercept: false, ..Ridge::default() }.fit(&data.view()).unwrap();
    case.close("w", inside.coef.row(0));
    case.close("hat_trace", [inside.effective_df.as_ref().unwrap()[0]]);
    // The same with the column of ones as a penalised intercept, by both solvers.
    let x = Matrix::column_vector(data.x.values().column(1));
    let slope_only = OwnedDataset::regression(x, vec![6.0, 0.0, 0.0]);
    for solver in [RidgeSolver::Auto, RidgeSolver::Svd] {
        let learner = Ridge { penalize_intercept: true, solver, ..Ridge::default() };
        let model = learner.fit(&slope_only.view()).unwrap();
        case.close("w", [model.intercept[0], model.coef[(0, 0)]]);
        case.close("hat_trace", [model.effective_df.as_ref().unwrap()[0]]);
    }
}

#[test]
fn the_norm_of_ridge_falls_with_the_penalty() {
    let case = case("ridge-norm-path");
    let data = case.regression();
    let norms: Vec<f64> = numbers(case.input("lam"))
        .into_iter()
        .map(|alpha| {
            let learner = Ridge { alpha, fit_intercept: false, ..Ridge::default() };
            learner.fit(&data.view()).unwrap().coef.as_slice().iter().map(|b| b * b).sum()
        })
        .collect();
    case.close("norm2", &norms);
}

#[test]
fn four_houses() {
    let case = case("ols-four-houses");
    let data = case.regression();
    let model = fit(&data);
    let table = model.inference(0, 0.95).unwrap();
    case.close("intercept", [model.intercept[0]]);
    case.close("slope", [model.coef[(0, 0)]]);
    case.close("rss", [table.rss]);
    case.close("half_mse", [table.rss / 8.0]);
    case.close("r2", [table.r2.unwrap()]);
    case.close("fitted", model.predict(&data.x.frame()).unwrap().as_slice());
    let query = Table::unnamed(matrix(case.input("query")));
    case.close("prediction", model.predict(&query.frame()).unwrap().as_slice());
}

#[test]
fn a_cubic_through_four_points_is_exact_and_says_so() {
    let case = case("cubic-interpolates-houses");
    let data = case.regression();
    let x = data.x.values();
    let cubic = Matrix::from_fn(4, 3, |i, j| (x[(i, 0)] / 1000.0).powi(j as i32 + 1));
    let data = OwnedDataset::regression(cubic, numbers(case.input("y")));
    let model = fit(&data);
    case.close("fitted", model.predict(&data.x.frame()).unwrap().as_slice());
    let error = model.inference(0, 0.95).unwrap_err();
    assert!(error.message().contains("4 rows leave nothing"), "{error}");
    assert!(model.report(&Names::default()).unwrap().notes[0].contains("4 rows"));
}

#[test]
fn five_points_by_least_squares_and_both_ridges() {
    let case = case("simple-regression-ridge-lasso");
    let data = case.regression();
    let model = fit(&data);
    case.close("intercept", [model.intercept[0]]);
    case.close("slope", [model.coef[(0, 0)]]);
    case.close("sse", [model.inference(0, 0.95).unwrap().rss]);
    for solver in [RidgeSolver::Auto, RidgeSolver::Cholesky, RidgeSolver::Svd] {
        for (key, penalize_intercept) in
            [("ridge_all_penalised", true), ("ridge_intercept_free", false)]
        {
            let learner = Ridge { penalize_intercept, solver, ..Ridge::default() };
            let model = learner.fit(&data.view()).unwrap();
            case.close(key, [model.intercept[0], model.coef[(0, 0)]]);
        }
    }
}

#[test]
fn shifting_an_input_moves_only_the_intercept() {
    let case = case("shift-invariance");
    let data = case.regression();
    let shifted = |by: f64, y_by: f64| {
        let x = Matrix::from_fn(5, 1, |i, _| data.x.values()[(i, 0)] + by);
        let y = numbers(case.input("y")).iter().map(|y| y + y_by).collect();
        fit(&OwnedDataset::regression(x, y))
    };
    for (key, by, y_by) in [
        ("intercept", 0.0, 0.0),
        ("intercept_shifted", 10.0, 0.0),
        ("intercept_centred_x", -3.0, 0.0),
        ("intercept_centred_both", -3.0, -4.0),
    ] {
        case.close(key, [shifted(by, y_by).intercept[0]]);
        case.close("slope", [shifted(by, y_by).coef[(0, 0)]]);
    }
}

#[test]
fn five_rows_with_z_scores_and_the_test_of_one_column() {
    let case = case("ols-inference-gram-schmidt");
    let data = case.regression();
    let model = fit(&data);
    let table = model.inference(0, 0.95).unwrap();
    case.close("beta", all_coefficients(&model));
    case.close("rss", [table.rss]);
    case.close("sigma2", [table.sigma2]);
    case.close("z", column(&table, |row| row.t));
    case.close("F_drop_x2", [model.test_columns(0, &["x1"]).unwrap().statistic]);
    case.close("v22", [model.covariance(0).unwrap()[(2, 2)] / table.sigma2]);
    let trace: f64 = influence(&model, &data.view(), 0).unwrap().leverage.iter().sum();
    case.close("hat_trace", [trace]);
}

fn check_table(case: &Case, data: &OwnedDataset) {
    let model = fit(data);
    let table = model.inference(0, 0.95).unwrap();
    case.close("coef", column(&table, |row| row.estimate));
    case.close("se", column(&table, |row| row.standard_error));
    case.close("t", column(&table, |row| row.t));
    case.close("p", column(&table, |row| row.p));
    let ends: Vec<[f64; 2]> = table.coefficients.iter().map(|row| [row.lower, row.upper]).collect();
    case.close("ci95", Matrix::from_rows(&ends).unwrap().as_slice());
    let f = table.f_test.unwrap();
    case.close("F_df", [f.df, f.df_residual]);
    for (key, got) in [
        ("sigma", table.sigma2.sqrt()),
        ("df", table.df),
        ("r2", table.r2.unwrap()),
        ("adj_r2", table.adjusted_r2.unwrap()),
        ("F", f.statistic),
        ("F_p", f.p),
        ("loglik", table.log_likelihood),
        ("aic", table.aic),
        ("bic", table.bic),
        ("rss", table.rss),
    ] {
        case.close(key, [got]);
    }
}

#[test]
fn tables_of_numeric_columns() {
    for id in ["lm-mtcars", "lm-swiss"] {
        let case = case(id);
        check_table(&case, &case.regression());
    }
}

#[test]
fn tables_with_factors_and_interactions() {
    let interaction = case("lm-iris-interaction");
    let length = column_of("iris", "petal_length");
    let is = |level: &str| indicator("iris", "species", level);
    let times = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let (second, third) = (is("versicolor"), is("virginica"));
    let products = [times(&length, &second), times(&length, &third)];
    let [a, b] = products;
    let y = column_of("iris", "sepal_length");
    check_names(&interaction, &[length, second, third, a, b], y);

    let is = |name: &str, level: &str| indicator("warpbreaks", name, level);
    let (wool, low, middle) = (is("wool", "B"), is("tension", "L"), is("tension", "M"));
    let (c, d) = (times(&wool, &low), times(&wool, &middle));
    let y = column_of("warpbreaks", "breaks");
    check_names(&case("lm-warpbreaks"), &[wool, low, middle, c, d], y);
}

fn check_names(case: &Case, columns: &[Vec<f64>], y: Vec<f64>) {
    let names = texts(case.expect("names"))[1..].to_vec();
    check_table(case, &designed(&names, columns, y));
}

#[test]
fn influence_intervals_and_the_test_of_two_columns() {
    let case = case("lm-mtcars-diagnostics");
    let data = case.regression();
    let model = fit(&data);
    case.close("vcov", model.covariance(0).unwrap().as_slice());
    let rows_of = influence(&model, &data.view(), 0).unwrap();
    case.close("leverage", &rows_of.leverage);
    case.close("rstandard", &rows_of.standardised);
    case.close("rstudent", &rows_of.studentised);
    case.close("cooks", &rows_of.cook);
    case.close("press", [rows_of.press]);
    let nested = model.test_columns(0, &["hp", "qsec"]).unwrap();
    case.close("nested_F", [nested.statistic]);
    case.close("nested_p", [nested.p]);
    case.close("nested_df", [nested.df, nested.df_residual]);
    let query = Table::new(matrix(case.input("query")), data.x.schema().clone()).unwrap();
    let mean = model.intervals(&query.frame(), 0, 0.95, IntervalKind::Mean).unwrap();
    case.close("mean_ci95", mean.as_slice());
    let new = model.intervals(&query.frame(), 0, 0.9, IntervalKind::Observation).unwrap();
    case.close("prediction_interval90", new.as_slice());
}

#[test]
fn tests_of_the_assumptions() {
    let case = own_case("residual-tests-mtcars");
    let data = case.regression();
    let model = fit(&data);
    let residual = influence(&model, &data.view(), 0).unwrap().residual;
    let powers = reset(&model, &data.view(), 0, 3).unwrap();
    let spread = breusch_pagan(&model, &data.view(), 0).unwrap();
    let shape = jarque_bera(&residual).unwrap();
    case.close("reset_F", [powers.statistic]);
    case.close("reset_p", [powers.p]);
    case.close("breusch_pagan", [spread.statistic]);
    case.close("breusch_pagan_p", [spread.p]);
    case.close("durbin_watson", [durbin_watson(&residual).unwrap()]);
    case.close("jarque_bera", [shape.statistic]);
    case.close("jarque_bera_p", [shape.p]);
    let pairs = normal_pairs(&residual);
    assert!(pairs.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn weights_are_precisions_in_the_table() {
    let case = case("wls-mtcars");
    let mut data = case.regression();
    data.weights = Some(column_of("mtcars", "qsec"));
    let table = fit(&data).inference(0, 0.95).unwrap();
    case.close("coef", column(&table, |row| row.estimate));
    case.close("se", column(&table, |row| row.standard_error));
    case.close("sigma", [table.sigma2.sqrt()]);
    case.close("r2", [table.r2.unwrap()]);
    case.close("weighted_rss", [table.rss]);
}

#[test]
fn dependent_columns_have_the_smallest_coefficients_and_are_named() {
    let case = case("ols-rank-deficient");
    let data = case.regression();
    let recorder = learnt::context::Recorder::new(&learnt::context::Quiet);
    let run = Context::default().observed_by(&recorder);
    let model = LinearRegression::default().fit_in(&data.view(), &run).unwrap();
    case.close("coef", all_coefficients(&model));
    // The reference counts the column of ones.
    case.close("rank", [model.rank as f64 + 1.0]);
    case.close("fitted", model.predict(&data.x.frame()).unwrap().as_slice());
    assert!(recorder.warnings()[0].message.contains("'x2'"), "{:?}", recorder.warnings());
    let table = model.inference(0, 0.95).unwrap();
    assert_eq!(table.undetermined, ["x0", "x1", "x2"]);
    assert_eq!(table.coefficients.len(), 1);
    assert!(model.report(&Names::default()).unwrap().notes[0].contains("'x2'"));
}

#[test]
fn several_outputs_share_one_fit() {
    let case = case("multi-output-ols");
    let mut data = OwnedDataset::unsupervised(columns("swiss", &["education", "catholic"]));
    let y = columns("swiss", &["fertility", "infant_mortality"]);
    data.y = Some(OwnedTarget::Real(y));
    let model = fit(&data);
    let b = Matrix::from_fn(3, 2, |i, t| match i {
        0 => model.intercept[t],
        _ => model.coef[(t, i - 1)],
    });
    case.close("B", b.as_slice());
    case.close("residual_covariance", model.residual_covariance().unwrap().as_slice());
}

#[test]
fn stack_loss_with_its_influential_row() {
    let case = case("ols-stackloss");
    let data = case.regression();
    let model = fit(&data);
    let table = model.inference(0, 0.95).unwrap();
    case.close("coef", column(&table, |row| row.estimate));
    case.close("se", column(&table, |row| row.standard_error));
    case.close("t", column(&table, |row| row.t));
    case.close("p", column(&table, |row| row.p));
    case.close("sigma2", [table.sigma2]);
    case.close("r2", [table.r2.unwrap()]);
    case.close("F", [table.f_test.unwrap().statistic]);
    case.close("condition_number", [table.condition.unwrap()]);
    let rows_of = influence(&model, &data.view(), 0).unwrap();
    case.close("durbin_watson", [durbin_watson(&rows_of.residual).unwrap()]);
    let far = |values: &[f64]| {
        (0..values.len()).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).unwrap()
    };
    for (key, values) in
        [("largest_cook", &rows_of.cook), ("largest_rstudent", &rows_of.studentised)]
    {
        let row = case.expect(key)["row"].as_u64().unwrap();
        assert_eq!(far(values) as u64, row);
        case.close(&format!("{key}.value"), [values[far(values)]]);
    }
}

#[test]
fn ridge_on_diabetes_with_its_degrees_of_freedom() {
    let case = case("ridge-diabetes");
    let data = case.regression();
    for (key, alpha) in [("0.1", 0.1), ("10.0", 10.0), ("500.0", 500.0)] {
        let expected = case.expect(key);
        for solver in [RidgeSolver::Auto, RidgeSolver::Svd] {
            let learner = Ridge { alpha, solver, ..Ridge::default() };
            let model = learner.fit(&data.view()).unwrap();
            case.same(key, &expected["intercept"], [model.intercept[0]]);
            case.same(key, &expected["coef"], model.coef.row(0));
            let df = model.effective_df.unwrap()[0] - 1.0;
            case.same(key, &expected["df"], [df]);
        }
    }
}

#[test]
fn each_output_may_have_its_own_penalty() {
    let data = case("ridge-diabetes").regression();
    let mut both = data.clone();
    let Some(OwnedTarget::Real(y)) = &data.y else { panic!() };
    let y = Matrix::from_fn(y.nrows(), 2, |i, _| y[(i, 0)]);
    both.y = Some(OwnedTarget::Real(y));
    let learner = Ridge { alpha_per_target: Some(vec![0.1, 500.0]), ..Ridge::default() };
    let model = learner.fit(&both.view()).unwrap();
    for (t, alpha) in [0.1, 500.0].into_iter().enumerate() {
        let single = Ridge { alpha, ..Ridge::default() }.fit(&data.view()).unwrap();
        for (a, b) in model.coef.row(t).iter().zip(single.coef.row(0)) {
            assert!((a - b).abs() < 1e-9 * b.abs().max(1.0));
        }
    }
    let error = learner.fit(&data.view()).unwrap_err();
    assert!(error.message().contains("alpha"), "{error}");
}

#[test]
fn nonnegative_least_squares_and_ridge() {
    let case = own_case("nonnegative-diabetes");
    let data = case.regression();
    let learner = LinearRegression { positive: true, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    case.close("coef", model.coef.row(0));
    case.close("intercept", [model.intercept[0]]);
    assert!(model.inference(0, 0.95).unwrap_err().message().contains("positive"));
    let ridge = Ridge { alpha: 10.0, positive: true, ..Ridge::default() };
    case.close("ridge_coef", ridge.fit(&data.view()).unwrap().coef.row(0));
}

#[test]
fn longley_to_ten_digits() {
    let case = own_case("longley-nist");
    let scaled = |name: &str, factor: f64| -> Vec<f64> {
        column_of("longley", name).iter().map(|x| (x * factor * 10.0).round() / 10.0).collect()
    };
    let columns = [
        scaled("gnp_deflator", 1.0),
        scaled("gnp", 1000.0),
        scaled("unemployed", 10.0),
        scaled("armed_forces", 10.0),
        scaled("population", 1000.0),
        scaled("year", 1.0),
    ];
    let names = head("longley")[..6].to_vec();
    let data = designed(&names, &columns, scaled("employed", 1000.0));
    let table = fit(&data).inference(0, 0.95).unwrap();
    case.close("coef", column(&table, |row| row.estimate));
    case.close("se", column(&table, |row| row.standard_error));
    case.close("sigma", [table.sigma2.sqrt()]);
    case.close("r2", [table.r2.unwrap()]);
    case.close("F", [table.f_test.unwrap().statistic]);
}
