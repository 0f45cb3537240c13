//! Numbers at the ends of what there is: targets, weights and every numeric parameter at its bounds and
//! beyond. A clear error or a model that is whole, in bounded time and memory; never a panic.

use super::{easy, exempt, for_each, learners, noise, outputs};
use learnt::clock::Moment;
use learnt::context::Observer;
use learnt::error::Warning;
use learnt::params::{Kind, Variant};
use learnt::prelude::*;
use learnt::trained::Trained;
use learnt_core::faults::{Fault, fail_at};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How long a fit may go on before it is asked to stop, and how long it may take to do so.
const PATIENCE: Duration = Duration::from_millis(100);
const GRACE: Duration = Duration::from_secs(5);
/// What a fit of these small tables may hold beside what the tests do.
const ROOM: u64 = 256 << 20;

/// Asks a run to stop after a while.
struct Deadline(Moment);

impl Observer for Deadline {
    fn warning(&self, _: &Warning) {}
    fn cancelled(&self) -> bool {
        self.0.elapsed() > PATIENCE
    }
}

/// Fits in bounded time and memory. A model that comes out can be loaded, and gives finite numbers or an error;
/// only the logarithm of a density may be infinite.
fn holds(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    what: &str,
) -> std::result::Result<(), String> {
    let deadline = Deadline(Moment::now());
    let limit = learnt_core::memory::in_use() + ROOM;
    let run =
        Context::default().with_threads(2).with_memory_limit(Some(limit)).observed_by(&deadline);
    let attempt = catch_unwind(AssertUnwindSafe(|| Trained::fit(learner, data, &[], &run)));
    let took = deadline.0.elapsed();
    if took > PATIENCE + GRACE {
        return Err(format!("{what}: took {took:?} although it was asked to stop"));
    }
    let trained = match attempt {
        Err(_) => return Err(format!("{what}: panicked")),
        Ok(Err(error)) if error.code() == Code::Internal => return Err(format!("{what}: {error}")),
        Ok(Err(_)) => return Ok(()),
        Ok(Ok(trained)) => trained,
    };
    let whole = catch_unwind(AssertUnwindSafe(|| -> Result<bool> {
        learnt::from_bytes(&trained.to_bytes()?)?;
        let logs = trained.model.as_density().is_some() || trained.model.as_detector().is_some();
        let good = |value: &f64| if logs { !value.is_nan() } else { value.is_finite() };
        Ok(outputs(&trained, &data.x)?.iter().all(good))
    }));
    match whole {
        Err(_) => Err(format!("{what}: the model panics")),
        Ok(Err(error)) if error.code() == Code::FileInvalid || error.code() == Code::Internal => {
            Err(format!("{what}: the model is not whole: {error}"))
        }
        Ok(Ok(false)) if !trained.accepts().missing => {
            Err(format!("{what}: gives numbers that are not finite"))
        }
        Ok(_) => Ok(()),
    }
}

#[test]
fn extreme_targets_give_an_error_or_a_model_that_is_whole() {
    for_each("extreme_targets", |_, learner| {
        if !learner.any_roles().regressor {
            return Ok(());
        }
        for scale in [5e-324, 1e-300, 1e-160, 1e120, 1e160, 1e200, 1e300, 8e307] {
            let mut data = easy(30, learner.any_roles());
            let y = (0..30).map(|i| scale * (1.5 + noise(i, 5))).collect();
            data.y = Some(OwnedTarget::Real(Matrix::column_vector(y)));
            holds(learner, &data.view(), &format!("target {scale:e}"))?;
            let y = (0..30).map(|i| if i == 7 { scale } else { 1.5 + noise(i, 5) }).collect();
            data.y = Some(OwnedTarget::Real(Matrix::column_vector(y)));
            holds(learner, &data.view(), &format!("one target {scale:e}"))?;
        }
        Ok(())
    });
}

/// Squares near the largest number are no exact fit, and standard errors beyond it are no table with infinities.
#[test]
fn least_squares_of_extreme_sizes_tests_its_coefficients_or_says_why_not() {
    let fitted = |inputs: f64, target: f64| {
        let x = Matrix::from_fn(30, 2, |i, j| inputs * (1.1 + noise(i, j)));
        let y = (0..30).map(|i| target * (x[(i, 0)] / inputs + 0.1 * noise(i, 7))).collect();
        let data = OwnedDataset::regression(x, y);
        learnt::linear::LinearRegression::default().fit(&data.view()).unwrap()
    };
    let table = fitted(1.0, 1e153).inference(0, 0.95).unwrap();
    assert!(table.coefficients.iter().all(|row| row.upper.is_finite() && row.p < 1.0), "{table:?}");
    let x = Matrix::from_fn(4, 1, |i, _| [1.0, 2.0, 2.0, 1.0][i]);
    let data = OwnedDataset::regression(x, vec![2.9e153, -2.9e153, 2.9e153, -2.9e153]);
    let model = learnt::linear::LinearRegression::default().fit(&data.view()).unwrap();
    let table = model.inference(0, 0.95).unwrap();
    assert!(table.rss > 3e307 && table.log_likelihood.is_finite(), "{table:?}");
    let error = fitted(1e-150, 1e150).inference(0, 0.95).unwrap_err();
    assert!(error.message().contains("not finite"), "{error}");
}

#[test]
fn extreme_inputs_give_an_error_or_a_model_that_is_whole() {
    for_each("extreme_inputs", |_, learner| {
        for scale in [1e-300, 1e-160, 1e120, 1e200, 1e300, 8e307] {
            let mut data = easy(30, learner.any_roles());
            let x = Matrix::from_fn(30, 4, |i, j| scale * (1.1 + noise(i, j)));
            data.x = Table::unnamed(x);
            holds(learner, &data.view(), &format!("inputs {scale:e}"))?;
            let mut data = easy(30, learner.any_roles());
            data.x.values_mut()[(3, 1)] = scale;
            holds(learner, &data.view(), &format!("one input {scale:e}"))?;
        }
        Ok(())
    });
}

#[test]
fn extreme_weights_give_an_error_or_a_model_that_is_whole() {
    for_each("extreme_weights", |_, learner| {
        if !learner.any_accepts().weights {
            return Ok(());
        }
        for scale in [5e-324, 1e-300, 1e-160, 1e160, 1e200, 1e307, 1.7e308] {
            let mut data = easy(30, learner.any_roles());
            data.weights = Some(vec![scale; 30]);
            holds(learner, &data.view(), &format!("weights {scale:e}"))?;
            data.weights = Some((0..30).map(|i| if i == 7 { scale } else { 1.0 }).collect());
            holds(learner, &data.view(), &format!("one weight {scale:e}"))?;
        }
        Ok(())
    });
}

/// Values of a numeric parameter: its bounds, both sides of them, and the ends of what numbers there are.
fn values(kind: &Kind) -> Vec<Value> {
    match kind {
        Kind::Int(_) => [0, 1, -1, 2, i64::from(i32::MAX), 1 << 40, 1 << 53, i64::MAX, i64::MIN]
            .map(Value::Int)
            .to_vec(),
        Kind::Real(range) => {
            let bounds = [range.low, range.high].into_iter().flatten();
            let around = bounds.flat_map(|(x, _)| [x, x.next_up(), x.next_down()]);
            let ends =
                [0.0, 5e-324, 1e-300, 1.0, 1e10, 1e300, f64::MAX, -1e300, f64::INFINITY, f64::NAN];
            around.chain(ends).map(Value::Real).collect()
        }
        Kind::Optional(inner) => values(inner),
        Kind::List(inner) => {
            values(inner).into_iter().map(|value| Value::List(vec![value])).collect()
        }
        Kind::Choice(variants) => variants
            .iter()
            .filter_map(|variant| match variant {
                Variant::Of(kind, _) => Some(values(kind)),
                _ => None,
            })
            .flatten()
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_numeric_parameter_at_its_bounds_and_beyond_is_refused_or_survived() {
    let mut failures = Vec::new();
    let mut tried = 0;
    for (entry, learner) in learners() {
        if exempt(entry, "extreme_parameters") {
            continue;
        }
        let data = easy(30, learner.any_roles());
        for spec in learner.specs() {
            for value in values(&spec.kind) {
                let mut changed = learner.clone();
                tried += 1;
                if changed.set(spec.name, &value).is_err() {
                    continue;
                }
                let what = format!("{} = {value}", spec.name);
                if let Err(why) = holds(changed.as_ref(), &data.view(), &what) {
                    failures.push(format!("{}: {why}", entry.about.path));
                }
            }
        }
    }
    assert!(tried > 1000, "only {tried} values were tried");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

/// Infinity is no value of a parameter unless its declaration has it as an end of the range.
#[test]
fn infinities_are_refused_by_every_numeric_parameter_that_does_not_declare_them() {
    fn infinite(kind: &Kind) -> bool {
        match kind {
            Kind::Real(range) => range.high == Some((f64::INFINITY, true)),
            Kind::Optional(inner) | Kind::List(inner) => infinite(inner),
            Kind::Choice(variants) => variants
                .iter()
                .any(|variant| matches!(variant, Variant::Of(kind, _) if infinite(kind))),
            _ => false,
        }
    }
    let (mut tried, mut taken) = (0, Vec::new());
    for (entry, learner) in learners() {
        for spec in learner.specs().iter().filter(|spec| !values(&spec.kind).is_empty()) {
            for value in [f64::INFINITY, f64::NEG_INFINITY] {
                for value in [Value::Real(value), Value::List(vec![Value::Real(value)])] {
                    let mut changed = learner.clone();
                    tried += 1;
                    let set = changed.set(spec.name, &value).and_then(|()| changed.check());
                    if set.is_ok() && !infinite(&spec.kind) {
                        taken.push(format!("{}: {} = {value}", entry.about.path, spec.name));
                    }
                }
            }
        }
    }
    assert!(tried > 1000 && taken.is_empty(), "{tried}: {taken:?}");
    let mut logistic = learnt::linear::LogisticRegression::default();
    assert!(logistic.set("C", &Value::Real(f64::INFINITY)).is_ok() && logistic.check().is_ok());
}

/// Whichever claim of memory is refused, a fit says so and nothing else happens.
#[test]
fn every_claim_of_memory_that_is_refused_is_an_error() {
    for_each("refused_memory", |_, learner| {
        let data = easy(30, learner.any_roles());
        let run = Context::default().with_threads(1);
        for n in 0..200 {
            let fitted = || {
                catch_unwind(AssertUnwindSafe(|| Trained::fit(learner, &data.view(), &[], &run)))
            };
            match fail_at(Fault::Memory, n, fitted) {
                (Err(_), _) => return Err(format!("claim {n}: panicked")),
                (Ok(Err(error)), true) if error.code() == Code::Memory => {}
                (Ok(outcome), true) => {
                    return Err(format!(
                        "claim {n} was not heard: {:?}",
                        outcome.map(|_| "a model")
                    ));
                }
                (_, false) => return Ok(()),
            }
        }
        Ok(())
    });
}
