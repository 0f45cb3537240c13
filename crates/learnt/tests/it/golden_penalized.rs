//! Lasso, elastic net, their paths and bounded least squares against reference numbers
//! (tests/golden/linear.json, optimize.json and penalized.json).

use crate::golden_case::{Case, golden, matrix, numbers};
use learnt::linear::penalized::{
    Alphas, Intercept, L1Ratio, PathKind, PathOptions, elastic_net_path, norm_constrained, path,
};
use learnt::linear::{
    CoordinateDescent, ElasticNet, ElasticNetCV, Lasso, LassoCV, PenaltySearch, Ridge, RidgeCV,
};
use learnt::prelude::*;
use serde_json::Value as Json;

fn weighted(data: OwnedDataset) -> OwnedDataset {
    let n = data.x.values().nrows();
    OwnedDataset { weights: Some((0..n).map(|i| 1.0 + (i % 3) as f64).collect()), ..data }
}

fn inline(case: &Case) -> OwnedDataset {
    OwnedDataset::regression(matrix(case.input("X")), numbers(case.input("y")))
}

/// The expectations of a case whose keys are numbers.
fn expectations(id: &str) -> Json {
    let cases: Vec<Json> = serde_json::from_str(&golden("linear.json")).unwrap();
    cases.into_iter().find(|case| case["id"] == id).unwrap()["expect"].clone()
}

#[test]
fn lasso_of_diabetes() {
    let case = Case::new("linear.json", "lasso-diabetes");
    let data = case.regression();
    let expected = expectations("lasso-diabetes");
    for (key, alpha) in [("0.1", 0.1), ("1.0", 1.0), ("10.0", 10.0)] {
        let expected = &expected[key];
        let lasso = Lasso {
            alpha,
            descent: CoordinateDescent { tol: 1e-12, ..CoordinateDescent::default() },
        };
        let model = lasso.fit(&data.view()).unwrap();
        let coef = numbers(&expected["coef"]);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 + 1e-5 * b.abs();
        for (got, expected) in model.coef.as_slice().iter().zip(&coef) {
            assert!(near(*got, *expected), "{got} is not {expected}");
            assert_eq!(*got == 0.0, *expected == 0.0);
        }
        assert!(near(model.intercept[0], expected["intercept"].as_f64().unwrap()));
        let kept = model.coef.as_slice().iter().filter(|b| **b != 0.0).count();
        assert_eq!(kept as u64, expected["nonzero"].as_u64().unwrap());
        let fit = model.predict(&data.x.frame()).unwrap();
        let y = data.view().real_target().unwrap().column(0);
        let squares: f64 = y.iter().zip(fit.as_slice()).map(|(y, fit)| (y - fit).powi(2)).sum();
        let size: f64 = model.coef.as_slice().iter().map(|b| b.abs()).sum();
        let objective = squares / (2 * y.len()) as f64 + alpha * size;
        assert!(near(objective, expected["objective"].as_f64().unwrap()), "{objective}");
    }
}

#[test]
fn lasso_of_five_points() {
    let case = Case::new("linear.json", "simple-regression-ridge-lasso");
    let data = inline(&case);
    let model = Lasso { alpha: 0.4, ..Lasso::default() }.fit(&data.view()).unwrap();
    case.close("lasso", [model.intercept[0], model.coef[(0, 0)]]);
    let options = PathOptions::default();
    let path = path(PathKind::Lasso, &data.view(), &options, &Context::default()).unwrap();
    case.close("lasso_zero_from", [2.0 * 5.0 * path.alphas[0]]);
}

#[test]
fn ridge_path_of_diabetes() {
    let case = Case::new("linear.json", "ridge-diabetes");
    let expected = expectations("ridge-diabetes");
    let options = PathOptions { alphas: Some(vec![0.1, 10.0, 500.0]), ..PathOptions::default() };
    let data = case.regression();
    let path = path(PathKind::Ridge, &data.view(), &options, &Context::default()).unwrap();
    for (i, key) in ["500.0", "10.0", "0.1"].into_iter().enumerate() {
        let near = |got: f64, expected: f64| (got - expected).abs() <= 1e-8 + 1e-6 * expected.abs();
        for (j, expected) in numbers(&expected[key]["coef"]).into_iter().enumerate() {
            assert!(near(path.coefs[0][(j, i)], expected));
        }
        assert!(near(path.df[(0, i)], expected[key]["df"].as_f64().unwrap()));
        assert!(near(path.intercepts[(0, i)], expected[key]["intercept"].as_f64().unwrap()));
    }
}

#[test]
fn squared_norm_along_the_ridge_path() {
    let case = Case::new("linear.json", "ridge-norm-path");
    let data = inline(&case);
    let run = Context::default();
    let lambda = numbers(case.input("lam"));
    let options = PathOptions {
        alphas: Some(lambda.clone()),
        fit_intercept: false,
        ..PathOptions::default()
    };
    let path = path(PathKind::Ridge, &data.view(), &options, &run).unwrap();
    let norm = |i: usize| (0..2).map(|j| path.coefs[0][(j, i)].powi(2)).sum::<f64>();
    let norms: Vec<f64> = (0..lambda.len()).rev().map(norm).collect();
    case.close("norm2", &norms);
    for (norm, lambda) in norms.iter().zip(lambda).skip(1) {
        let fit = norm_constrained(&data.view(), *norm, Intercept::Absent, &run).unwrap();
        assert!((fit.lambda[0] - lambda).abs() < 1e-8 * (1.0 + lambda));
    }
}

#[test]
fn soft_order_constraint_by_bisection() {
    let case = Case::new("optimize.json", "soft-order-bisection");
    let data = inline(&case);
    let run = Context::default();
    let fits: Vec<_> = numbers(case.input("C"))
        .into_iter()
        .map(|bound| norm_constrained(&data.view(), bound, Intercept::Absent, &run).unwrap())
        .collect();
    case.close("lam", fits.iter().map(|fit| fit.lambda[0]).collect::<Vec<_>>());
    case.close("w", fits.iter().flat_map(|fit| fit.coef.as_slice().to_vec()).collect::<Vec<_>>());
}

#[test]
fn elastic_net_with_weights_and_without_negative_coefficients() {
    let case = Case::new("penalized.json", "elastic-net-weighted");
    let net = ElasticNet {
        alpha: 0.5,
        l1_ratio: 0.3,
        descent: CoordinateDescent { tol: 1e-14, ..CoordinateDescent::default() },
    };
    let model = net.fit(&weighted(case.regression()).view()).unwrap();
    case.close("coef", model.coef.as_slice());
    case.close("intercept", &model.intercept);

    let case = Case::new("penalized.json", "elastic-net-positive");
    let net = ElasticNet {
        l1_ratio: 0.9,
        descent: CoordinateDescent { positive: true, ..net.descent },
        ..net
    };
    let model = net.fit(&case.regression().view()).unwrap();
    case.close("coef", model.coef.as_slice());
    case.close("intercept", &model.intercept);
}

#[test]
fn points_of_the_elastic_net_path() {
    let case = Case::new("penalized.json", "elastic-net-path");
    let options = PathOptions { n_alphas: 12, tol: 1e-14, ..PathOptions::default() };
    let data = case.regression();
    let path = elastic_net_path(0.7, &data.view(), &options, &Context::default()).unwrap();
    case.close("alphas", &path.alphas);
    case.close("coefs", path.coefs[0].as_slice());
}

#[test]
fn penalties_by_cross_validation() {
    for id in ["lasso-cv", "lasso-cv-weighted"] {
        let case = Case::new("penalized.json", id);
        let data = case.regression();
        let data = if id == "lasso-cv" { data } else { weighted(data) };
        let learner = LassoCV {
            search: PenaltySearch { alphas: Alphas::Count(20), ..PenaltySearch::default() },
            descent: CoordinateDescent { tol: 1e-14, ..CoordinateDescent::default() },
        };
        let model = learner.fit(&data.view()).unwrap();
        case.close("alphas", &model.alphas);
        case.close("mse_path", model.mse_path.as_slice());
        case.close("alpha", [model.alpha]);
        case.close("coef", model.coef.as_slice());
        case.close("intercept", &model.intercept);
    }
    let case = Case::new("penalized.json", "elastic-net-cv");
    let learner = ElasticNetCV {
        l1_ratio: L1Ratio::Several(vec![0.1, 0.5, 0.9]),
        search: PenaltySearch {
            alphas: Alphas::Count(10),
            cv: Some(4),
            ..PenaltySearch::default()
        },
        descent: CoordinateDescent { tol: 1e-14, ..CoordinateDescent::default() },
    };
    let model = learner.fit(&case.regression().view()).unwrap();
    case.close("alphas", model.alphas.as_slice());
    let errors: Vec<f64> = model.mse_path.iter().flat_map(|m| m.as_slice().to_vec()).collect();
    case.close("mse_path", &errors);
    case.close("alpha", [model.alpha]);
    case.close("l1_ratio", [model.l1_ratio]);
    case.close("coef", model.coef.as_slice());
}

#[test]
fn ridge_penalties_by_cross_validation() {
    for (cv, ids) in [
        (None, ["ridge-cv", "ridge-cv-weighted"]),
        (Some(5), ["ridge-cv-folds", "ridge-cv-folds-weighted"]),
    ] {
        for id in ids {
            let case = Case::new("penalized.json", id);
            let data = case.regression();
            let data = if id.ends_with("weighted") { weighted(data) } else { data };
            let alphas = vec![0.01, 1.0, 10.0, 30.0, 100.0];
            let model = RidgeCV { alphas, cv, ..RidgeCV::default() }.fit(&data.view()).unwrap();
            case.close("alpha", [model.alpha]);
            case.close("best_score", [model.best_score]);
            case.close("coef", model.coef.as_slice());
            case.close("intercept", &model.intercept);
            let ridge = Ridge { alpha: model.alpha, ..Ridge::default() };
            let ridge = ridge.fit(&data.view()).unwrap();
            case.close("coef", ridge.coef.as_slice());
        }
    }
}
