//! Least squares, inference and ridge against reference numbers (tests/golden/least_squares.json).

use learnt::linear::diagnostics::{
    breusch_pagan, durbin_watson, influence, jarque_bera, normal_pairs, reset,
};
use learnt::linear::{
    Inference, IntervalKind, LinearRegression, LinearRegressionModel, Ridge, RidgeSolver,
};
use learnt::prelude::*;
use serde_json::Value as Json;
use std::path::PathBuf;

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

struct Case(Json);

impl Case {
    fn new(id: &str) -> Case {
        let text = std::fs::read_to_string(golden().join("least_squares.json")).unwrap();
        let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
        Case(cases.into_iter().find(|case| case["id"] == id).unwrap())
    }

    fn close(&self, key: &str, got: f64, expected: f64) {
        let tolerance = &self.0["tol"];
        let part = |name: &str| tolerance[name].as_f64().unwrap_or(0.0);
        let bound = part("abs") + part("rel") * expected.abs();
        assert!(
            (got - expected).abs() <= bound,
            "{}: {key}: {got} is not {expected}",
            self.0["id"]
        );
    }

    fn one(&self, key: &str, got: f64) {
        self.close(key, got, self.0["expect"][key].as_f64().unwrap());
    }

    fn many(&self, key: &str, got: &[f64]) {
        let expected = numbers(&self.0["expect"][key]);
        assert_eq!(expected.len(), got.len(), "{key}");
        got.iter().zip(&expected).for_each(|(&got, &expected)| self.close(key, got, expected));
    }

    fn matrix(&self, key: &str, got: &Matrix) {
        let expected = rows(&self.0["expect"][key]);
        assert_eq!((expected.nrows(), expected.ncols()), (got.nrows(), got.ncols()), "{key}");
        for (&got, &expected) in got.as_slice().iter().zip(expected.as_slice()) {
            self.close(key, got, expected);
        }
    }

    /// The inline or named data with its numeric features.
    fn data(&self) -> OwnedDataset {
        let input = &self.0["input"];
        if input["X"].is_array() {
            return OwnedDataset::regression(rows(&input["X"]), numbers(&input["y"]));
        }
        let csv = Csv::new(input["dataset"].as_str().unwrap());
        let target = input["target"].as_str().unwrap();
        let features: Vec<String> = match input["features"].as_array() {
            Some(names) => names.iter().map(|name| name.as_str().unwrap().to_string()).collect(),
            None => csv.head.iter().filter(|name| *name != target).cloned().collect(),
        };
        let mut data = csv.dataset(&features, csv.numbers(target));
        if input["scale"]["method"] == "zscore" {
            standardise(data.x.values_mut());
        }
        data
    }
}

struct Csv {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    fn new(name: &str) -> Csv {
        let path = golden().join(format!("data/{name}.csv"));
        let text = std::fs::read_to_string(path).unwrap();
        let split = |line: &str| line.split(',').map(str::to_string).collect::<Vec<_>>();
        let mut lines = text.lines();
        Csv { head: split(lines.next().unwrap()), rows: lines.map(split).collect() }
    }

    fn text(&self, name: &str) -> Vec<String> {
        let j = self.head.iter().position(|head| head == name).unwrap();
        self.rows.iter().map(|row| row[j].clone()).collect()
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        self.text(name).iter().map(|cell| cell.parse().unwrap()).collect()
    }

    fn dataset(&self, features: &[String], y: Vec<f64>) -> OwnedDataset {
        let columns: Vec<Vec<f64>> = features.iter().map(|name| self.numbers(name)).collect();
        designed(features, &columns, y)
    }
}

fn designed(names: &[String], columns: &[Vec<f64>], y: Vec<f64>) -> OwnedDataset {
    let x = Matrix::from_fn(y.len(), columns.len(), |i, j| columns[j][i]);
    let table = Table::new(x, Schema::numeric(names.to_vec()).unwrap()).unwrap();
    OwnedDataset { x: table, ..OwnedDataset::regression(Matrix::zeros(y.len(), 0), y) }
}

fn standardise(x: &mut Matrix) {
    let n = x.nrows() as f64;
    for j in 0..x.ncols() {
        let column = x.column(j);
        let mean = column.iter().sum::<f64>() / n;
        let sd = (column.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
        (0..x.nrows()).for_each(|i| x[(i, j)] = (x[(i, j)] - mean) / sd);
    }
}

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn rows(json: &Json) -> Matrix {
    let rows: Vec<Vec<f64>> = json.as_array().unwrap().iter().map(numbers).collect();
    Matrix::from_rows(&rows).unwrap()
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
    let case = Case::new("ols-three-points");
    let data = case.data();
    let model = through_origin(&data);
    case.many("w", model.coef.row(0));
    let influence = influence(&model, &data.view(), 0).unwrap();
    case.many("fitted", &influence.fitted);
    case.many("residual", &influence.residual);
    case.many("leverage", &influence.leverage);
    case.one("hat_trace", influence.leverage.iter().sum());
    // Mean of squared errors with each row left out: the notes' value 27.
    assert!((influence.press / 3.0 - 27.0).abs() < 1e-10);
}

#[test]
fn ridge_penalises_every_weight_on_request() {
    let case = Case::new("ridge-three-points-all-penalised");
    let data = case.data();
    let inside = Ridge { fit_intercept: false, ..Ridge::default() }.fit(&data.view()).unwrap();
    case.many("w", inside.coef.row(0));
    case.one("hat_trace", inside.effective_df.as_ref().unwrap()[0]);
    // The same with the column of ones as a penalised intercept, by both solvers.
    let x = Matrix::column_vector(data.x.values().column(1));
    let slope_only = OwnedDataset::regression(x, vec![6.0, 0.0, 0.0]);
    for solver in [RidgeSolver::Auto, RidgeSolver::Svd] {
        let learner = Ridge { penalize_intercept: true, solver, ..Ridge::default() };
        let model = learner.fit(&slope_only.view()).unwrap();
        case.many("w", &[model.intercept[0], model.coef[(0, 0)]]);
        case.one("hat_trace", model.effective_df.as_ref().unwrap()[0]);
    }
}

#[test]
fn the_norm_of_ridge_falls_with_the_penalty() {
    let case = Case::new("ridge-norm-path");
    let data = case.data();
    let norms: Vec<f64> = numbers(&case.0["input"]["lam"])
        .into_iter()
        .map(|alpha| {
            let learner = Ridge { alpha, fit_intercept: false, ..Ridge::default() };
            learner.fit(&data.view()).unwrap().coef.as_slice().iter().map(|b| b * b).sum()
        })
        .collect();
    case.many("norm2", &norms);
}

#[test]
fn four_houses() {
    let case = Case::new("ols-four-houses");
    let data = case.data();
    let model = fit(&data);
    let table = model.inference(0, 0.95).unwrap();
    case.one("intercept", model.intercept[0]);
    case.one("slope", model.coef[(0, 0)]);
    case.one("rss", table.rss);
    case.one("half_mse", table.rss / 8.0);
    case.one("r2", table.r2.unwrap());
    case.many("fitted", model.predict(&data.x.frame()).unwrap().as_slice());
    let query = Table::unnamed(rows(&case.0["input"]["query"]));
    case.many("prediction", model.predict(&query.frame()).unwrap().as_slice());
}

#[test]
fn a_cubic_through_four_points_is_exact_and_says_so() {
    let case = Case::new("cubic-interpolates-houses");
    let data = case.data();
    let x = data.x.values();
    let cubic = Matrix::from_fn(4, 3, |i, j| (x[(i, 0)] / 1000.0).powi(j as i32 + 1));
    let data = OwnedDataset::regression(cubic, numbers(&case.0["input"]["y"]));
    let model = fit(&data);
    case.many("fitted", model.predict(&data.x.frame()).unwrap().as_slice());
    let error = model.inference(0, 0.95).unwrap_err();
    assert!(error.message().contains("4 rows leave nothing"), "{error}");
    assert!(model.report().unwrap().notes[0].contains("4 rows"));
}

#[test]
fn five_points_by_least_squares_and_both_ridges() {
    let case = Case::new("simple-regression-ridge-lasso");
    let data = case.data();
    let model = fit(&data);
    case.one("intercept", model.intercept[0]);
    case.one("slope", model.coef[(0, 0)]);
    case.one("sse", model.inference(0, 0.95).unwrap().rss);
    for solver in [RidgeSolver::Auto, RidgeSolver::Cholesky, RidgeSolver::Svd] {
        for (key, penalize_intercept) in
            [("ridge_all_penalised", true), ("ridge_intercept_free", false)]
        {
            let learner = Ridge { penalize_intercept, solver, ..Ridge::default() };
            let model = learner.fit(&data.view()).unwrap();
            case.many(key, &[model.intercept[0], model.coef[(0, 0)]]);
        }
    }
}

#[test]
fn shifting_an_input_moves_only_the_intercept() {
    let case = Case::new("shift-invariance");
    let data = case.data();
    let shifted = |by: f64, y_by: f64| {
        let x = Matrix::from_fn(5, 1, |i, _| data.x.values()[(i, 0)] + by);
        let y = numbers(&case.0["input"]["y"]).iter().map(|y| y + y_by).collect();
        fit(&OwnedDataset::regression(x, y))
    };
    for (key, by, y_by) in [
        ("intercept", 0.0, 0.0),
        ("intercept_shifted", 10.0, 0.0),
        ("intercept_centred_x", -3.0, 0.0),
        ("intercept_centred_both", -3.0, -4.0),
    ] {
        case.one(key, shifted(by, y_by).intercept[0]);
        case.one("slope", shifted(by, y_by).coef[(0, 0)]);
    }
}

#[test]
fn five_rows_with_z_scores_and_the_test_of_one_column() {
    let case = Case::new("ols-inference-gram-schmidt");
    let data = case.data();
    let model = fit(&data);
    let table = model.inference(0, 0.95).unwrap();
    case.many("beta", &all_coefficients(&model));
    Case::new("qr-scaling-erratum").many("beta_right", &all_coefficients(&model));
    case.one("rss", table.rss);
    case.one("sigma2", table.sigma2);
    case.many("z", &column(&table, |row| row.t));
    case.one("F_drop_x2", model.test_columns(0, &["x1"]).unwrap().statistic);
    case.one("v22", model.covariance(0).unwrap()[(2, 2)] / table.sigma2);
    let trace: f64 = influence(&model, &data.view(), 0).unwrap().leverage.iter().sum();
    case.one("hat_trace", trace);
}

fn check_table(case: &Case, data: &OwnedDataset) {
    let model = fit(data);
    let table = model.inference(0, 0.95).unwrap();
    case.many("coef", &column(&table, |row| row.estimate));
    case.many("se", &column(&table, |row| row.standard_error));
    case.many("t", &column(&table, |row| row.t));
    case.many("p", &column(&table, |row| row.p));
    let ends: Vec<[f64; 2]> = table.coefficients.iter().map(|row| [row.lower, row.upper]).collect();
    case.matrix("ci95", &Matrix::from_rows(&ends).unwrap());
    let f = table.f_test.unwrap();
    case.many("F_df", &[f.df, f.df_residual]);
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
        case.one(key, got);
    }
}

#[test]
fn tables_of_numeric_columns() {
    for id in ["lm-mtcars", "lm-swiss"] {
        let case = Case::new(id);
        check_table(&case, &case.data());
    }
}

#[test]
fn tables_with_factors_and_interactions() {
    let case = Case::new("lm-iris-interaction");
    let csv = Csv::new("iris");
    let (length, species) = (csv.numbers("petal_length"), csv.text("species"));
    let is = |level: &str| -> Vec<f64> {
        species.iter().map(|s| f64::from(u8::from(s == level))).collect()
    };
    let times = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let (second, third) = (is("versicolor"), is("virginica"));
    let products = [times(&length, &second), times(&length, &third)];
    let [a, b] = products;
    check_names(&case, &[length, second, third, a, b], csv.numbers("sepal_length"));

    let case = Case::new("lm-warpbreaks");
    let csv = Csv::new("warpbreaks");
    let is = |name: &str, level: &str| -> Vec<f64> {
        csv.text(name).iter().map(|s| f64::from(u8::from(s == level))).collect()
    };
    let (wool, low, middle) = (is("wool", "B"), is("tension", "L"), is("tension", "M"));
    let (c, d) = (times(&wool, &low), times(&wool, &middle));
    check_names(&case, &[wool, low, middle, c, d], csv.numbers("breaks"));
}

fn check_names(case: &Case, columns: &[Vec<f64>], y: Vec<f64>) {
    let names: Vec<String> = case.0["expect"]["names"].as_array().unwrap()[1..]
        .iter()
        .map(|name| name.as_str().unwrap().to_string())
        .collect();
    check_table(case, &designed(&names, columns, y));
}

#[test]
fn influence_intervals_and_the_test_of_two_columns() {
    let case = Case::new("lm-mtcars-diagnostics");
    let data = case.data();
    let model = fit(&data);
    case.matrix("vcov", &model.covariance(0).unwrap());
    let rows_of = influence(&model, &data.view(), 0).unwrap();
    case.many("leverage", &rows_of.leverage);
    case.many("rstandard", &rows_of.standardised);
    case.many("rstudent", &rows_of.studentised);
    case.many("cooks", &rows_of.cook);
    case.one("press", rows_of.press);
    let nested = model.test_columns(0, &["hp", "qsec"]).unwrap();
    case.one("nested_F", nested.statistic);
    case.one("nested_p", nested.p);
    case.many("nested_df", &[nested.df, nested.df_residual]);
    let query = Table::new(rows(&case.0["input"]["query"]), data.x.schema().clone()).unwrap();
    let mean = model.intervals(&query.frame(), 0, 0.95, IntervalKind::Mean).unwrap();
    case.matrix("mean_ci95", &mean);
    let new = model.intervals(&query.frame(), 0, 0.9, IntervalKind::Observation).unwrap();
    case.matrix("prediction_interval90", &new);
}

#[test]
fn tests_of_the_assumptions() {
    let case = Case::new("residual-tests-mtcars");
    let data = case.data();
    let model = fit(&data);
    let residual = influence(&model, &data.view(), 0).unwrap().residual;
    let powers = reset(&model, &data.view(), 0, 3).unwrap();
    let spread = breusch_pagan(&model, &data.view(), 0).unwrap();
    let shape = jarque_bera(&residual).unwrap();
    case.one("reset_F", powers.statistic);
    case.one("reset_p", powers.p);
    case.one("breusch_pagan", spread.statistic);
    case.one("breusch_pagan_p", spread.p);
    case.one("durbin_watson", durbin_watson(&residual).unwrap());
    case.one("jarque_bera", shape.statistic);
    case.one("jarque_bera_p", shape.p);
    let pairs = normal_pairs(&residual);
    assert!(pairs.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn weights_are_precisions_in_the_table() {
    let case = Case::new("wls-mtcars");
    let mut data = case.data();
    data.weights = Some(Csv::new("mtcars").numbers("qsec"));
    let table = fit(&data).inference(0, 0.95).unwrap();
    case.many("coef", &column(&table, |row| row.estimate));
    case.many("se", &column(&table, |row| row.standard_error));
    case.one("sigma", table.sigma2.sqrt());
    case.one("r2", table.r2.unwrap());
    case.one("weighted_rss", table.rss);
}

#[test]
fn dependent_columns_have_the_smallest_coefficients_and_are_named() {
    let case = Case::new("ols-rank-deficient");
    let data = case.data();
    let recorder = learnt::context::Recorder::new(&learnt::context::Quiet);
    let run = Context::default().observed_by(&recorder);
    let model = LinearRegression::default().fit_in(&data.view(), &run).unwrap();
    case.many("coef", &all_coefficients(&model));
    // The reference counts the column of ones.
    case.one("rank", model.rank as f64 + 1.0);
    case.many("fitted", model.predict(&data.x.frame()).unwrap().as_slice());
    assert!(recorder.warnings()[0].message.contains("'x2'"), "{:?}", recorder.warnings());
    let table = model.inference(0, 0.95).unwrap();
    assert_eq!(table.undetermined, ["x0", "x1", "x2"]);
    assert_eq!(table.coefficients.len(), 1);
    assert!(model.report().unwrap().notes[0].contains("'x2'"));
}

#[test]
fn several_outputs_share_one_fit() {
    let case = Case::new("multi-output-ols");
    let csv = Csv::new("swiss");
    let outputs = [csv.numbers("fertility"), csv.numbers("infant_mortality")];
    let features = ["education".to_string(), "catholic".to_string()];
    let mut data = csv.dataset(&features, outputs[0].clone());
    let y = Matrix::from_fn(outputs[0].len(), 2, |i, t| outputs[t][i]);
    data.y = Some(OwnedTarget::Real(y));
    let model = fit(&data);
    let b = Matrix::from_fn(3, 2, |i, t| match i {
        0 => model.intercept[t],
        _ => model.coef[(t, i - 1)],
    });
    case.matrix("B", &b);
    case.matrix("residual_covariance", &model.residual_covariance().unwrap());
}

#[test]
fn stack_loss_with_its_influential_row() {
    let case = Case::new("ols-stackloss");
    let data = case.data();
    let model = fit(&data);
    let table = model.inference(0, 0.95).unwrap();
    case.many("coef", &column(&table, |row| row.estimate));
    case.many("se", &column(&table, |row| row.standard_error));
    case.many("t", &column(&table, |row| row.t));
    case.many("p", &column(&table, |row| row.p));
    case.one("sigma2", table.sigma2);
    case.one("r2", table.r2.unwrap());
    case.one("F", table.f_test.unwrap().statistic);
    case.one("condition_number", table.condition.unwrap());
    let rows_of = influence(&model, &data.view(), 0).unwrap();
    case.one("durbin_watson", durbin_watson(&rows_of.residual).unwrap());
    let far = |values: &[f64]| {
        (0..values.len()).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).unwrap()
    };
    for (key, values) in
        [("largest_cook", &rows_of.cook), ("largest_rstudent", &rows_of.studentised)]
    {
        let expected = &case.0["expect"][key];
        assert_eq!(far(values) as u64, expected["row"].as_u64().unwrap());
        case.close(key, values[far(values)], expected["value"].as_f64().unwrap());
    }
}

#[test]
fn ridge_on_diabetes_with_its_degrees_of_freedom() {
    let case = Case::new("ridge-diabetes");
    let data = case.data();
    for (key, alpha) in [("0.1", 0.1), ("10.0", 10.0), ("500.0", 500.0)] {
        let expected = &case.0["expect"][key];
        for solver in [RidgeSolver::Auto, RidgeSolver::Svd] {
            let learner = Ridge { alpha, solver, ..Ridge::default() };
            let model = learner.fit(&data.view()).unwrap();
            case.close("intercept", model.intercept[0], expected["intercept"].as_f64().unwrap());
            for (&got, want) in model.coef.row(0).iter().zip(numbers(&expected["coef"])) {
                case.close("coef", got, want);
            }
            let df = model.effective_df.unwrap()[0] - 1.0;
            case.close("df", df, expected["df"].as_f64().unwrap());
        }
    }
}

#[test]
fn each_output_may_have_its_own_penalty() {
    let data = Case::new("ridge-diabetes").data();
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
    let case = Case::new("nonnegative-diabetes");
    let data = case.data();
    let learner = LinearRegression { positive: true, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    case.many("coef", model.coef.row(0));
    case.one("intercept", model.intercept[0]);
    assert!(model.inference(0, 0.95).unwrap_err().message().contains("positive"));
    let ridge = Ridge { alpha: 10.0, positive: true, ..Ridge::default() };
    case.many("ridge_coef", ridge.fit(&data.view()).unwrap().coef.row(0));
}

#[test]
fn longley_to_ten_digits() {
    let case = Case::new("longley-nist");
    let csv = Csv::new("longley");
    let scaled = |name: &str, factor: f64| -> Vec<f64> {
        csv.numbers(name).iter().map(|x| (x * factor * 10.0).round() / 10.0).collect()
    };
    let columns = [
        scaled("gnp_deflator", 1.0),
        scaled("gnp", 1000.0),
        scaled("unemployed", 10.0),
        scaled("armed_forces", 10.0),
        scaled("population", 1000.0),
        scaled("year", 1.0),
    ];
    let names: Vec<String> = csv.head[..6].to_vec();
    let data = designed(&names, &columns, scaled("employed", 1000.0));
    let table = fit(&data).inference(0, 0.95).unwrap();
    case.many("coef", &column(&table, |row| row.estimate));
    case.many("se", &column(&table, |row| row.standard_error));
    case.one("sigma", table.sigma2.sqrt());
    case.one("r2", table.r2.unwrap());
    case.one("F", table.f_test.unwrap().statistic);
}
