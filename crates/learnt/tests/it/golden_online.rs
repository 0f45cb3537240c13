//! Stochastic descent, perceptrons and the classical procedures beside reference numbers.

use crate::golden_case::{Case, matrix, numbers};
use learnt::linear::{
    ClassLoss, DescentPenalty, HoKashyapClassifier, LearningRate, MinimumSquaredErrorClassifier,
    Passes, Perceptron, PerceptronMode, Reflected, SGDClassifier, SGDRegressor, SeparationSolver,
    Steps, ZeroIs, rectified_margin_step,
};
use learnt::params::LearnerSpec;
use learnt::persist::Node;
use learnt::prelude::*;
use learnt::trained::Trained;
use serde_json::Value as Json;

/// Two classes as listed: the first one is positive.
fn two_sets(set: &Json) -> OwnedDataset {
    let (first, second) = (matrix(&set["class1"]), matrix(&set["class2"]));
    let rows: Vec<&[f64]> = first.rows().chain(second.rows()).collect();
    let positive = |i: usize| Label::Int(i64::from(i < first.nrows()));
    let labels: Vec<Label> = (0..rows.len()).map(positive).collect();
    OwnedDataset::classification(Matrix::from_rows(&rows).unwrap(), &labels)
}

fn signs(case: &Case) -> OwnedDataset {
    let labels: Vec<Label> =
        numbers(case.input("y")).iter().map(|&y| Label::Int(y as i64)).collect();
    OwnedDataset::classification(matrix(case.input("X")), &labels)
}

/// Intercept and weights as one vector.
fn vector(intercept: &[f64], coef: &Matrix) -> Vec<f64> {
    intercept.iter().chain(coef.as_slice()).copied().collect()
}

#[test]
fn passes_in_listed_order_are_those_of_scikit_learn() {
    let case = Case::new("online.json", "descent-in-listed-order");
    let x = matrix(case.input("X"));
    let weights = numbers(case.input("weights"));
    let mut compared = 0;
    for fit in case.expect("fits").as_array().unwrap() {
        let name = fit["target"].as_str().unwrap();
        let target = numbers(case.input(name));
        let classes: Vec<Label> = target.iter().map(|&y| Label::Int(y as i64)).collect();
        let mut data = match name {
            "real" => OwnedDataset::regression(x.clone(), target),
            _ => OwnedDataset::classification(x.clone(), &classes),
        };
        if fit["weighted"] == true {
            data.weights = Some(weights.clone());
        }
        let params = fit["params"].as_object().unwrap();
        let params =
            params.iter().map(|(k, v)| (k.clone(), Value::from_json(v).unwrap())).collect();
        let learner = fit["learner"].as_str().unwrap().to_string();
        let learner = learnt::build(&LearnerSpec { learner, params }).unwrap();
        let trained = Trained::fit(learner.as_ref(), &data.view(), &[], &Context::default());
        let trained = trained.unwrap_or_else(|error| panic!("{fit}: {error}"));
        for (name, node) in trained.model.attributes() {
            let (expected, got) = match (name, node) {
                ("coef" | "intercept", Node::Reals(_, got)) => (numbers(&fit[name]), got),
                // A clean pass ends a perceptron here, and only later there.
                ("t", Node::Int(t)) if fit["params"].get("tol").is_some() => {
                    (numbers(&fit["t"]), vec![t as f64])
                }
                _ => continue,
            };
            assert_eq!(got.len(), expected.len());
            for (got, expected) in got.iter().zip(&expected) {
                let near = (got - expected).abs() <= 1e-9 + 1e-9 * expected.abs();
                assert!(
                    near,
                    "{} {}: {name} {got} is not {expected}",
                    fit["learner"], fit["params"]
                );
            }
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn the_perceptron_learns_and_under_three_rules_for_zero() {
    let case = Case::new("linear.json", "perceptron-and-gate");
    let data = signs(&case);
    let rules = [
        (ZeroIs::Mistake, "zero_is_wrong"),
        (ZeroIs::Positive, "zero_is_plus"),
        (ZeroIs::Negative, "zero_is_minus"),
    ];
    for (zero_is, name) in rules {
        let learner = Perceptron { zero_is, fit_intercept: false, ..Perceptron::textbook() };
        let model = learner.fit(&data.view()).unwrap();
        case.close(&format!("{name}.w"), model.coef.as_slice());
        case.close(&format!("{name}.updates"), [model.updates as f64]);
        case.close(&format!("{name}.passes"), [model.n_iter as f64]);
        assert!(model.separated && model.converged());
    }
}

#[test]
fn the_perceptron_never_ends_on_xor_and_says_so() {
    let case = Case::new("linear.json", "perceptron-xor-never-stops");
    let learner = Perceptron { fit_intercept: false, ..Perceptron::textbook() };
    let run = Context::default();
    let trained = Trained::fit(&learner, &signs(&case).view(), &[], &run).unwrap();
    assert_eq!(trained.model.converged(), case.expect("converged").as_bool().unwrap());
    assert!(trained.history.warnings[0].contains("no line separates the two classes"));
    assert!(trained.history.warnings[0].contains("1000 passes"));
}

#[test]
fn single_steps_and_batches_find_their_vectors() {
    let case = Case::new("linear.json", "perceptron-single-and-batch");
    for set in ["set1", "set2"] {
        let data = two_sets(case.input(set));
        let single = Perceptron::textbook().fit(&data.view()).unwrap();
        case.close(&format!("{set}.single.a"), vector(&single.intercept, &single.coef));
        case.close(&format!("{set}.single.updates"), [single.updates as f64]);
        case.close(&format!("{set}.single.sweeps"), [single.n_iter as f64]);
        let batch = Perceptron { mode: PerceptronMode::Batch, ..Perceptron::textbook() };
        let batch = batch.fit(&data.view()).unwrap();
        case.close(&format!("{set}.batch.a"), vector(&batch.intercept, &batch.coef));
        case.close(&format!("{set}.batch.updates"), [batch.updates as f64]);
    }
}

#[test]
fn the_perceptron_criterion_sums_the_mistakes() {
    let case = Case::new("linear.json", "perceptron-criterion");
    let reflected = Reflected::new(&two_sets(case.input("set")).view()).unwrap();
    let a = numbers(case.input("a"));
    case.close("margins", reflected.margins(&a).unwrap());
    case.close("J", [reflected.perceptron_criterion(&a).unwrap()]);
}

/// w ← w + ½ (y - f) x: nothing where f is right, twice y where it is not.
#[test]
fn a_perceptron_step_is_half_the_difference_of_target_and_sign() {
    let case = Case::new("linear.json", "perceptron-update-cases");
    let pairs = matrix(case.input("y_f"));
    let differences: Vec<f64> = pairs.rows().map(|pair| pair[0] - pair[1]).collect();
    case.close("y_minus_f", &differences);
    for (pair, difference) in pairs.rows().zip(differences) {
        let one = Perceptron {
            passes: Passes { max_iter: 1, ..Perceptron::textbook().passes },
            ..Perceptron::textbook()
        };
        let row = |y: f64| {
            let x = Matrix::column_vector(vec![2.0]);
            let mut data = OwnedDataset::classification(x, &[Label::Int(0)]);
            let codes = vec![u32::from(y > 0.0)];
            let classes = vec![Label::Int(-1), Label::Int(1)];
            data.y = Some(OwnedTarget::Class { codes, classes });
            data
        };
        let run = Context::default();
        let begun = one.update_in(None, &row(pair[1]).view(), &run).unwrap();
        let next = one.update_in(Some(&begun), &row(pair[0]).view(), &run).unwrap();
        assert_eq!(next.coef[(0, 0)] - begun.coef[(0, 0)], 0.5 * difference * 2.0);
    }
}

#[test]
fn minimum_squared_error_may_or_may_not_separate() {
    let check = |case: &Case, b: &str, end: &str| {
        let data = two_sets(case.input("set"));
        let margins = Some(numbers(case.input(b)));
        let learner = MinimumSquaredErrorClassifier { margins, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let a = vector(&model.intercept, &model.coef);
        case.close(&format!("a{end}"), &a);
        let reflected = Reflected::new(&data.view()).unwrap();
        case.close(&format!("Ya{end}"), reflected.margins(&a).unwrap());
        assert_eq!(model.separates, case.expect(&format!("separates{end}")) == true);
        assert_eq!(model.separates, reflected.is_separated_by(&a).unwrap());
    };
    check(&Case::new("linear.json", "mse-separating"), "b", "");
    let case = Case::new("linear.json", "mse-not-separating");
    check(&case, "b1", "1");
    check(&case, "b2", "2");
}

#[test]
fn shrinking_widrow_hoff_steps_reach_the_least_squares_vector() {
    let case = Case::new("linear.json", "widrow-hoff-target");
    let set = serde_json::json!({ "class1": case.input("class1"), "class2": case.input("class2") });
    let data = two_sets(&set);
    let learner = MinimumSquaredErrorClassifier {
        solver: SeparationSolver::WidrowHoff,
        max_iter: 20_000,
        tol: 0.0,
        ..Default::default()
    };
    let model = learner.fit(&data.view()).unwrap();
    case.close("a", vector(&model.intercept, &model.coef));
    let exact = MinimumSquaredErrorClassifier::default().fit(&data.view()).unwrap();
    case.close("a", vector(&exact.intercept, &exact.coef));
}

#[test]
fn ho_kashyap_separates_after_the_known_number_of_steps() {
    let case = Case::new("linear.json", "ho-kashyap-separates");
    let data = two_sets(case.input("set"));
    for (eta, key) in [(0.1, "0.1"), (0.5, "0.5"), (0.9, "0.9")] {
        let model = HoKashyapClassifier { eta, ..Default::default() }.fit(&data.view()).unwrap();
        assert_eq!(model.outcome, "separated");
        assert_eq!(model.n_iter as f64, case.expect("first_k")[key]);
        let b4 = case.expect("b4")[key].as_f64().unwrap();
        assert!((model.b[3] - b4).abs() < 1e-6, "{} is not {b4}", model.b[3]);
    }
    let to_the_end = HoKashyapClassifier {
        stop_when_separated: false,
        tol: 1e-9,
        max_iter: 100_000,
        eta: 0.9,
        ..Default::default()
    };
    let model = to_the_end.fit(&data.view()).unwrap();
    assert_eq!(model.outcome, "solved");
    case.close("limit_a", &model.a);
    case.close("limit_b", &model.b);
}

#[test]
fn ho_kashyap_proves_that_no_line_separates() {
    let case = Case::new("linear.json", "ho-kashyap-nonseparable");
    for set in ["xor", "five"] {
        let data = two_sets(case.input(set));
        let model = HoKashyapClassifier::default().fit(&data.view()).unwrap();
        assert_eq!((model.outcome.as_str(), model.n_iter), ("not separable", 1));
        case.close(&format!("{set}.a"), &model.a);
        case.close(&format!("{set}.e"), &model.e);
        let proof = learnt::linear::linear_separability(&data.view(), &Context::default());
        assert!(matches!(proof, Ok(learnt::linear::Separability::No { .. })));
    }
}

#[test]
fn a_rectified_step_never_shrinks_a_margin() {
    let case = Case::new("linear.json", "ho-kashyap-rectified-step");
    let (b, gradient) = (numbers(case.input("b")), numbers(case.input("grad")));
    let eta = case.input("eta").as_f64().unwrap();
    let plain: Vec<f64> = b.iter().zip(&gradient).map(|(b, g)| b - eta * g).collect();
    case.close("plain", plain);
    case.close("rectified", rectified_margin_step(&b, &gradient, eta));
    // The gradient is -2 e.
    let via_error: Vec<f64> =
        b.iter().zip(&gradient).map(|(b, g)| b + eta * (-0.5 * g + (-0.5 * g).abs())).collect();
    case.close("via_error", via_error);
}

/// Least squares by single passes in listed order.
fn least_squares(eta0: f64, batch_size: usize) -> SGDRegressor {
    SGDRegressor {
        learning_rate: LearningRate::Constant,
        steps: Steps { penalty: DescentPenalty::Nothing, eta0, batch_size, ..Steps::default() },
        passes: Passes { shuffle: false, tol: None, max_iter: 1, ..Passes::default() },
        ..Default::default()
    }
}

#[test]
fn one_epoch_of_batch_single_and_mini_batch_steps() {
    let case = Case::new("optimize.json", "batch-sgd-minibatch-step");
    let data = OwnedDataset::regression(matrix(case.input("X")), numbers(case.input("y")));
    for (size, name) in [(4, "batch"), (1, "sgd"), (2, "minibatch")] {
        let model = least_squares(1e-7, size).fit(&data.view()).unwrap();
        case.close(&format!("{name}.theta"), vector(&model.intercept, &model.coef));
        let predicted = model.predict(&data.x.frame()).unwrap();
        let y = numbers(case.input("y"));
        let pairs = predicted.as_slice().iter().zip(&y);
        let half_mean = pairs.map(|(h, y)| (h - y).powi(2)).sum::<f64>() / (2.0 * y.len() as f64);
        case.close(&format!("{name}.J"), [half_mean]);
    }
}

#[test]
fn the_factor_two_is_kept_on_request() {
    let case = Case::new("optimize.json", "lms-factor-two");
    let data = OwnedDataset::regression(matrix(case.input("X")), numbers(case.input("y")));
    for (size, name) in [(1, "lms_one_pass"), (5, "batch_one_step")] {
        let learner = SGDRegressor { factor2: true, ..least_squares(0.01, size) };
        let model = learner.fit(&data.view()).unwrap();
        case.close(name, vector(&model.intercept, &model.coef));
    }
}

/// Logistic steps of a constant length on rows as listed, the constant being one of the columns.
fn logistic(eta0: f64, passes: usize) -> SGDClassifier {
    SGDClassifier {
        loss: ClassLoss::LogLoss,
        learning_rate: LearningRate::Constant,
        steps: Steps {
            penalty: DescentPenalty::Nothing,
            eta0,
            fit_intercept: false,
            ..Steps::default()
        },
        passes: Passes { shuffle: false, tol: None, max_iter: passes, ..Passes::default() },
        ..Default::default()
    }
}

#[test]
fn fifty_alternating_logistic_steps() {
    let case = Case::new("optimize.json", "logistic-sgd-50");
    let model = logistic(0.1, 25).fit(&signs(&case).view()).unwrap();
    case.close("w1", [model.coef[(0, 1)]]);
    assert_eq!(model.t, 51);
    let margins = model.decision_scores_in(&signs(&case).x.frame(), &Context::default()).unwrap();
    let y = numbers(case.input("y"));
    let loss = |(p, y): (&f64, &f64)| (-y * p).exp().ln_1p();
    let e_in = margins.as_slice().iter().zip(&y).map(loss).sum::<f64>() / y.len() as f64;
    case.close("e_in", [e_in]);
}

/// The step from given weights is minus the gradient: it is read off two steps of tiny length.
#[test]
fn a_logistic_step_follows_the_gradient_of_one_row() {
    let case = Case::new("optimize.json", "logistic-sgd-gradient");
    let (w, x) = (numbers(case.input("w")), numbers(case.input("x")));
    // A first row along w brings the weights there: from zero, a step is eta (1/2) x.
    let classes = vec![Label::Int(-1), Label::Int(1)];
    let row = |values: &[f64]| {
        let x = Matrix::from_rows(&[values]).unwrap();
        let mut data = OwnedDataset::classification(x, &[Label::Int(1)]);
        data.y = Some(OwnedTarget::Class { codes: vec![1], classes: classes.clone() });
        data
    };
    let run = Context::default();
    let double: Vec<f64> = w.iter().map(|w| 2.0 * w).collect();
    let begun = logistic(1.0, 1).update_in(None, &row(&double).view(), &run).unwrap();
    for (a, b) in begun.coef.as_slice().iter().zip(&w) {
        assert!((a - b).abs() < 1e-15);
    }
    let next = logistic(1.0, 1).update_in(Some(&begun), &row(&x).view(), &run).unwrap();
    let pairs = next.coef.as_slice().iter().zip(begun.coef.as_slice());
    let gradient: Vec<f64> = pairs.map(|(after, before)| before - after).collect();
    case.close("grad", gradient);
}
