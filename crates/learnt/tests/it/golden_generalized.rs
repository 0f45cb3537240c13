//! Generalised linear models against reference numbers, and against each other.

use crate::golden::{columns, labels};
use crate::golden_case::{Case, numbers, texts};
use learnt::context::Recorder;
use learnt::linear::{
    FamilyName, GammaRegressor, GeneralizedLinearModel, GeneralizedModel, LinearRegression,
    LinkName, LogisticRegression, Penalty, PoissonRegressor, TweedieRegressor,
};
use learnt::prelude::*;
use learnt::prepare::design_matrix;

fn family(family: FamilyName) -> GeneralizedLinearModel {
    GeneralizedLinearModel { family, tol: 1e-12, ..Default::default() }
}

/// A learner with the parameters of a case, read by their names.
fn named<T: Estimator>(case: &Case, mut learner: T, tol: f64) -> T {
    for (name, value) in case.params() {
        let value = match value.as_str() {
            Some(text) => Value::Text(text.to_string()),
            None => {
                value.as_bool().map_or_else(|| Value::Real(value.as_f64().unwrap()), Value::Bool)
            }
        };
        learner.set(name, &value).unwrap();
    }
    learner.set("tol", &Value::Real(tol)).unwrap();
    learner
}

fn all_coefficients(model: &GeneralizedModel) -> Vec<f64> {
    [&[model.intercept], &model.coef[..]].concat()
}

/// Everything that a table of Wald tests has.
fn check_table(case: &Case, model: &GeneralizedModel, statistic: &str) {
    let inference = model.inference.as_ref().unwrap();
    let tests = inference.tests(0.95).unwrap();
    let column = |value: fn(&learnt::linear::CoefficientTest) -> f64| -> Vec<f64> {
        tests.iter().map(value).collect()
    };
    case.close("coef", column(|test| test.estimate));
    case.close("coef", all_coefficients(model));
    case.close("se", column(|test| test.standard_error));
    case.close(statistic, column(|test| test.t));
    case.close("p", column(|test| test.p));
    if !case.expect("deviance").is_null() {
        case.close("deviance", [model.deviance]);
        case.close("null_deviance", [inference.null_deviance.unwrap()]);
        case.close("aic", [inference.aic().unwrap()]);
    }
    case.close("loglik", [inference.log_likelihood.unwrap()]);
    assert!(learnt::estimator::Model::converged(model));
}

fn check_fitted(case: &Case, model: &GeneralizedModel, data: &OwnedDataset) {
    let fitted = model.predict(&data.x.frame()).unwrap();
    case.close("fitted_first5", &fitted.as_slice()[..5]);
}

/// The design of a formula without its column of ones, with the columns that it names.
fn designed(set: &str, categorical: &[&str], formula: &str, target: &str) -> OwnedDataset {
    let features: Vec<&str> = ["wool", "tension", "age", "lwt", "race", "smoke", "ht"]
        .into_iter()
        .filter(|name| formula.contains(name))
        .collect();
    let coded = |name: &str| {
        let (codes, levels) = Label::encode(&labels(set, name));
        (codes, levels.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let schema = features.iter().map(|name| match categorical.contains(name) {
        true => Column::categorical(*name, coded(name).1),
        false => Column::numeric(*name),
    });
    let values: Vec<Vec<f64>> = features
        .iter()
        .map(|name| match categorical.contains(name) {
            true => coded(name).0.into_iter().map(f64::from).collect(),
            false => columns(set, &[name]).into_vec(),
        })
        .collect();
    let values = Matrix::from_rows(&values).unwrap().transposed();
    let table = Table::new(values, Schema::new(schema.collect()).unwrap()).unwrap();
    let design = design_matrix(&table.frame(), formula).unwrap();
    let inputs: Vec<usize> = (1..design.schema().len()).collect();
    let y = columns(set, &[target]).into_vec();
    OwnedDataset {
        x: design.frame().select(&inputs),
        ..OwnedDataset::regression(Matrix::zeros(y.len(), 1), y)
    }
}

#[test]
fn log_linear_counts_with_factors_agree_with_glm() {
    let case = Case::new("linear.json", "poisson-warpbreaks");
    let data = designed("warpbreaks", &["wool", "tension"], "wool * tension", "breaks");
    let names: Vec<&str> = data.x.schema().names().collect();
    assert_eq!(names, texts(case.expect("names"))[1..]);
    let model = family(FamilyName::Poisson).fit(&data.view()).unwrap();
    check_table(&case, &model, "z");
    check_fitted(&case, &model, &data);
    let learner = PoissonRegressor { alpha: 0.0, tol: 1e-9, ..Default::default() };
    case.close("coef", all_coefficients(&learner.fit(&data.view()).unwrap()));
}

#[test]
fn the_binomial_family_is_logistic_regression() {
    let case = Case::new("linear.json", "logit-birthwt");
    let data = designed("birthwt", &["race"], "age + lwt + race + smoke + ht", "low");
    let model = family(FamilyName::Binomial).fit(&data.view()).unwrap();
    check_table(&case, &model, "z");
    check_fitted(&case, &model, &data);
    for id in ["logit-pima", "logit-pima-768"] {
        let case = Case::new("linear.json", id);
        let classes = case.classification();
        let Some(OwnedTarget::Class { codes, .. }) = &classes.y else { panic!("no classes") };
        let y = codes.iter().map(|&code| f64::from(code)).collect();
        let data = OwnedDataset {
            x: classes.x.clone(),
            ..OwnedDataset::regression(Matrix::zeros(codes.len(), 1), y)
        };
        let model = family(FamilyName::Binomial).fit(&data.view()).unwrap();
        check_table(&case, &model, "z");
        let logistic =
            LogisticRegression { penalty: Penalty::Nothing, tol: 1e-8, ..Default::default() };
        let logistic = logistic.fit(&classes.view()).unwrap();
        for (a, b) in model.coef.iter().zip(logistic.coef.row(0)) {
            assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()));
        }
        if id == "logit-pima-768" {
            let inference = model.inference.as_ref().unwrap();
            case.close("loglik_null", [inference.null_log_likelihood.unwrap()]);
            case.close("lr_statistic", [inference.overall().unwrap().statistic]);
            let own = logistic.inference.as_ref().unwrap();
            assert!((inference.bic().unwrap() - own.bic()).abs() < 1e-6);
        }
    }
}

#[test]
fn the_steps_from_zero_are_those_of_irls() {
    let case = Case::new("optimize.json", "irls-birthwt-steps");
    let data = case.regression();
    for (k, step) in case.expect("newton_from_zero").as_array().unwrap().iter().enumerate().take(4)
    {
        let learner =
            GeneralizedLinearModel { max_iter: k + 1, tol: 0.0, ..family(FamilyName::Binomial) };
        let model = learner.fit(&data.view()).unwrap();
        for (got, expected) in all_coefficients(&model).iter().zip(numbers(&step["coef"])) {
            assert!(
                (got - expected).abs() <= 1e-9 + 1e-6 * expected.abs(),
                "{k}: {got} {expected}"
            );
        }
        let deviance = step["deviance"].as_f64().unwrap();
        assert!((model.deviance - deviance).abs() <= 1e-6 * deviance);
    }
}

#[test]
fn families_and_links_agree_with_statsmodels() {
    for id in [
        "probit-birthwt",
        "gamma-log-mtcars",
        "gamma-inverse-mtcars",
        "inverse-gaussian-mtcars",
        "gaussian-log-mtcars",
        "poisson-identity-mtcars",
    ] {
        let case = Case::new("generalized.json", id);
        let data = case.regression();
        let learner = named(&case, GeneralizedLinearModel::default(), 1e-14);
        let model = learner.fit(&data.view()).unwrap();
        check_table(&case, &model, "statistic");
        check_fitted(&case, &model, &data);
        let inference = model.inference.as_ref().unwrap();
        case.close("dispersion", [inference.dispersion]);
        case.close("bic", [inference.bic().unwrap()]);
        let tests = inference.tests(0.95).unwrap();
        case.close(
            "interval",
            tests.iter().flat_map(|test| [test.lower, test.upper]).collect::<Vec<_>>(),
        );
    }
}

fn check_penalised<T>(id: &str, learner: T)
where
    T: Estimator<Model = GeneralizedModel>,
{
    let case = Case::new("generalized.json", id);
    let plain = case.regression();
    let weights = (0..plain.view().nrows()).map(|i| (1 + i % 3) as f64).collect();
    let weighted = OwnedDataset { weights: Some(weights), ..plain.clone() };
    let learner = named(&case, learner, 1e-9);
    for (key, data) in [("plain", &plain), ("weighted", &weighted)] {
        let model = learner.fit(&data.view()).unwrap();
        case.close(&format!("coef_{key}"), &model.coef);
        case.close(&format!("intercept_{key}"), [model.intercept]);
        assert!(model.inference.is_none());
    }
}

#[test]
fn penalised_regressors_agree_with_scikit_learn() {
    check_penalised("poisson-l2-mtcars", PoissonRegressor::default());
    check_penalised("gamma-l2-mtcars", GammaRegressor::default());
    check_penalised("tweedie-l2-mtcars", TweedieRegressor::default());
    check_penalised("tweedie-identity-mtcars", TweedieRegressor::default());
}

#[test]
fn the_identity_link_is_least_squares() {
    let data = Case::new("generalized.json", "gamma-log-mtcars").regression();
    let model = family(FamilyName::Gaussian).fit(&data.view()).unwrap();
    let squares = LinearRegression::default().fit(&data.view()).unwrap();
    let table = squares.inference(0, 0.95).unwrap();
    let inference = model.inference.as_ref().unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}");
    for (own, other) in inference.tests(0.95).unwrap().iter().zip(&table.coefficients) {
        assert_eq!(own.name, other.name);
        close(own.estimate, other.estimate);
        close(own.standard_error, other.standard_error);
        close(own.upper, other.upper);
        close(own.p, other.p);
    }
    close(inference.dispersion, table.sigma2);
    close(model.deviance, table.rss);
    close(inference.aic().unwrap(), table.aic);
    close(inference.bic().unwrap(), table.bic);
    close(inference.overall().unwrap().statistic, table.f_test.unwrap().statistic);
    assert_eq!(model.n_iter, 2);
}

#[test]
fn an_intercept_alone_fits_the_link_of_the_mean() {
    let y = vec![3.0, 0.0, 1.0, 8.0, 2.0];
    let constant = OwnedDataset::regression(Matrix::zeros(5, 1), y);
    let model = family(FamilyName::Poisson).fit(&constant.view()).unwrap();
    assert!((model.intercept - 2.8_f64.ln()).abs() < 1e-14);
    assert_eq!(model.coef, [0.0]);
    let tests = model.inference.as_ref().unwrap().tests(0.95).unwrap();
    assert_eq!(tests.len(), 1);
    // The information of the intercept is the sum of the means.
    assert!((tests[0].standard_error - 14_f64.sqrt().recip()).abs() < 1e-12);
}

fn warnings_of(
    learner: &GeneralizedLinearModel,
    data: &OwnedDataset,
) -> (GeneralizedModel, Vec<Code>) {
    let recorder = Recorder::new(&learnt::context::Quiet);
    let run = Context::default().observed_by(&recorder);
    let model = learner.fit_in(&data.view(), &run).unwrap();
    (model, recorder.warnings().iter().map(|warning| warning.code).collect())
}

#[test]
fn separated_zeros_and_ones_are_said() {
    let x = Matrix::column_vector((0..12).map(f64::from).collect());
    let complete = (0..12).map(|i| f64::from(i > 5)).collect();
    let data = OwnedDataset::regression(x.clone(), complete);
    for link in [LinkName::Logit, LinkName::Probit] {
        let learner = GeneralizedLinearModel { link, ..family(FamilyName::Binomial) };
        let (model, codes) = warnings_of(&learner, &data);
        assert_eq!(codes, [Code::Separation]);
        assert!(model.inference.is_none());
        assert!(!learnt::estimator::Model::converged(&model));
    }
    // A group that is always 1 beside one that is mixed.
    let group = Matrix::column_vector((0..12).map(|i| f64::from(i % 2)).collect());
    let quasi = (0..12).map(|i| f64::from(i % 2 == 1 || i % 3 == 0)).collect();
    let data = OwnedDataset::regression(group.clone(), quasi);
    let (model, codes) =
        warnings_of(&GeneralizedLinearModel { tol: 1e-8, ..family(FamilyName::Binomial) }, &data);
    assert_eq!(codes, [Code::Separation]);
    assert!(model.inference.is_none());
    let zeros = (0..12).map(|i| if i % 2 == 1 { 0.0 } else { 2.0 + f64::from(i) }).collect();
    let data = OwnedDataset::regression(group, zeros);
    let (_, codes) =
        warnings_of(&GeneralizedLinearModel { tol: 1e-8, ..family(FamilyName::Poisson) }, &data);
    assert_eq!(codes, [Code::Separation]);
}

#[test]
fn targets_out_of_range_are_named_with_their_row() {
    let x = Matrix::column_vector((0..4).map(f64::from).collect());
    for (name, bad, allowed) in [
        (FamilyName::Binomial, 1.5, "shares"),
        (FamilyName::Poisson, -1.0, "0 or more"),
        (FamilyName::Gamma, 0.0, "above 0"),
        (FamilyName::InverseGaussian, -2.0, "above 0"),
    ] {
        let data = OwnedDataset::regression(x.clone(), vec![1.0, 0.5, bad, 0.25]);
        let error = family(name).fit(&data.view()).unwrap_err();
        assert_eq!((error.code(), error.row_number()), (Code::Target, Some(3)));
        assert!(error.message().contains(allowed), "{error}");
    }
    for (name, constant) in [(FamilyName::Poisson, 0.0), (FamilyName::Binomial, 1.0)] {
        let data = OwnedDataset::regression(x.clone(), vec![constant; 4]);
        assert_eq!(family(name).fit(&data.view()).unwrap_err().code(), Code::Target);
    }
}

#[test]
fn dependent_columns_are_named_and_share_their_coefficients() {
    let base = Case::new("generalized.json", "gamma-log-mtcars").regression();
    let x = base.x.values();
    let wide =
        Matrix::from_fn(x.nrows(), 4, |i, j| [x[(i, 0)], 7.0, x[(i, 1)], 2.0 * x[(i, 1)] + 1.0][j]);
    let data = OwnedDataset { x: Table::unnamed(wide), ..base.clone() };
    let learner = GeneralizedLinearModel { link: LinkName::Log, ..family(FamilyName::Gamma) };
    let (model, codes) = warnings_of(&learner, &data);
    assert_eq!(codes, [Code::Numeric]);
    let plain = learner.fit(&base.view()).unwrap();
    let inference = model.inference.as_ref().unwrap();
    assert_eq!(inference.undetermined(), ["x1", "x2", "x3"]);
    let (a, b) = (
        &inference.tests(0.95).unwrap()[1],
        &plain.inference.as_ref().unwrap().tests(0.95).unwrap()[1],
    );
    assert!((a.t - b.t).abs() < 1e-8 * b.t.abs());
    assert!((model.coef[3] - 2.0 * model.coef[2]).abs() < 1e-12);
    let (p, q) = (model.predict(&data.x.frame()).unwrap(), plain.predict(&base.x.frame()).unwrap());
    for (p, q) in p.as_slice().iter().zip(q.as_slice()) {
        assert!((p - q).abs() < 1e-9 * q);
    }
    // Fewer rows than columns: the Gaussian family interpolates.
    let few = OwnedDataset::regression(
        Matrix::from_fn(3, 5, |i, j| ((i * 3 + j * j) % 5) as f64),
        vec![1.0, 4.0, 2.0],
    );
    let (model, codes) = warnings_of(&family(FamilyName::Gaussian), &few);
    assert_eq!(codes, [Code::Numeric]);
    assert!(model.inference.is_none() && model.deviance < 1e-20);
    let smallest = LinearRegression::default().fit(&few.view()).unwrap();
    for (a, b) in model.coef.iter().zip(smallest.coef.row(0)) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn without_an_intercept_every_link_finds_a_start() {
    let x = Matrix::from_fn(40, 2, |i, j| 1.0 + ((i * (j + 2)) % 7) as f64);
    for (name, link) in [
        (FamilyName::Poisson, LinkName::Log),
        (FamilyName::Poisson, LinkName::Identity),
        (FamilyName::Gamma, LinkName::Inverse),
        (FamilyName::Gamma, LinkName::Log),
        (FamilyName::InverseGaussian, LinkName::InverseSquared),
        (FamilyName::Binomial, LinkName::Probit),
    ] {
        let eta = |i: usize| 0.05 * x[(i, 0)] + 0.02 * x[(i, 1)];
        let y = (0..40).map(|i| match (name, link) {
            (FamilyName::Binomial, _) => f64::from(i % 3 == 0),
            (_, LinkName::Identity) => eta(i),
            (_, LinkName::Log) => eta(i).exp(),
            (_, LinkName::Inverse) => eta(i).recip(),
            _ => eta(i).sqrt().recip(),
        });
        let data = OwnedDataset::regression(x.clone(), y.collect());
        let learner = GeneralizedLinearModel { link, fit_intercept: false, ..family(name) };
        let model = learner.fit(&data.view()).unwrap();
        assert_eq!(model.intercept, 0.0);
        if name != FamilyName::Binomial {
            assert!((model.coef[0] - 0.05).abs() < 1e-6, "{name} {link} {:?}", model.coef);
        }
    }
}
