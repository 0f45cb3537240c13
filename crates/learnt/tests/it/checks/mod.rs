//! Common checks: written once, run for every learner in the registry. A learner that cannot pass one
//! says so in its own file, with the reason (`About::exempt`).

mod behaviour;
mod clocks;
mod declarations;
mod engine;
mod extremes;
mod files;
mod functions;
mod online;
mod robustness;
mod traces;

use learnt::compose::{ColumnTransformer, Pipeline};
use learnt::params::LearnerSpec;
use learnt::prelude::*;
use learnt::trained::{Missing, Trained};
use learnt_core::estimator::Entry;

/// Every entry, with a learner that can be fitted on the easy data.
pub(crate) fn learners() -> Vec<(&'static Entry, Box<dyn AnyEstimator>)> {
    learnt::entries().map(|entry| (entry, ready(entry))).collect()
}

/// A learner with the parameters that its own file says for checks; composed ones get parts.
fn ready(entry: &Entry) -> Box<dyn AnyEstimator> {
    let scaler = learnt::prepare::StandardScaler::default;
    match entry.about.path {
        "pipeline.Pipeline" => Box::new(
            Pipeline::default()
                .then("impute", learnt::prepare::SimpleImputer::default())
                .then("z", scaler()),
        ),
        "compose.ColumnTransformer" => {
            Box::new(ColumnTransformer::default().with("z", scaler(), &["x0", "x1"]).with(
                "unit",
                scaler(),
                &["x2"],
            ))
        }
        _ => {
            let mut learner = (entry.build)();
            for (name, value) in entry.about.check_with {
                learner.set(name, &Value::parse(value)).unwrap();
            }
            learner
        }
    }
}

/// Whether the learner's own file excuses it from a check.
pub(crate) fn exempt(entry: &Entry, check: &str) -> bool {
    entry.about.exempt.iter().any(|(name, reason)| *name == check && !reason.is_empty())
}

/// Runs a check for every learner that is not excused; failures are gathered with their names.
pub(crate) fn for_each(
    check: &str,
    test: impl Fn(&Entry, &dyn AnyEstimator) -> std::result::Result<(), String>,
) {
    let mut failures = Vec::new();
    let mut run = 0;
    for (entry, learner) in learners() {
        if exempt(entry, check) {
            continue;
        }
        run += 1;
        if let Err(why) = test(entry, learner.as_ref()) {
            failures.push(format!("{}: {why}", entry.about.path));
        }
    }
    assert!(run > 0, "no learner ran the check {check}");
    assert!(failures.is_empty(), "{check} failed for\n{}", failures.join("\n"));
}

/// Numbers between -1 and 1 that look random and are always the same.
pub(crate) fn noise(i: usize, j: usize) -> f64 {
    let mut z = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (j as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Three well separated groups in four columns, of two classes where more are refused; a positive
/// numeric target that is nearly linear.
pub(crate) fn easy(rows: usize, roles: Roles) -> OwnedDataset {
    let x = Matrix::from_fn(rows, 4, |i, j| {
        ((i % 3) as f64 - 1.0) * (j as f64 + 1.0) + 0.4 * noise(i, j)
    });
    if roles.regressor {
        let y = (0..rows).map(|i| 2.0 * x[(i, 0)] - x[(i, 2)] + 4.5 + 0.01 * noise(i, 9)).collect();
        return OwnedDataset::regression(x, y);
    }
    let names = if roles.two_classes { ["red", "red", "blue"] } else { ["red", "green", "blue"] };
    let labels: Vec<Label> = (0..rows).map(|i| names[i % 3].into()).collect();
    if roles.needs_classes() {
        return OwnedDataset::classification(x, &labels);
    }
    OwnedDataset::unsupervised(x)
}

pub(crate) fn fit(learner: &dyn AnyEstimator, data: &Dataset) -> Result<Trained> {
    fit_in(learner, data, &Context::default().with_threads(2))
}

pub(crate) fn fit_in(learner: &dyn AnyEstimator, data: &Dataset, run: &Context) -> Result<Trained> {
    Trained::fit(learner, data, &[], run)
}

/// All that a model says about rows, as numbers.
pub(crate) fn outputs(trained: &Trained, x: &Frame) -> Result<Vec<f64>> {
    let run = Context::default();
    let rows = trained.admit(x, None, Missing::Error, &run)?;
    let mut out = Vec::new();
    for method in per_row_methods(trained) {
        match trained.call(method, &rows, &run) {
            Ok(prediction) => out.extend(prediction.into_matrix().into_vec()),
            Err(error) if error.code() == Code::Unsupported => {}
            Err(error) => return Err(error),
        }
    }
    Ok(out)
}

/// The methods of the model's roles that give something for each row.
pub(crate) fn per_row_methods(trained: &Trained) -> impl Iterator<Item = &'static str> {
    let whole = ["log_likelihood", "decoded_log_probability"];
    trained.methods().filter(move |method| !whole.contains(method))
}

pub(crate) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

pub(crate) fn spec(learner: &dyn AnyEstimator) -> LearnerSpec {
    let params = learnt::params::all_values(learner).unwrap();
    LearnerSpec { learner: learner.about().path.to_string(), params }
}
