//! Optimisation of functions of the user. `learnt.optimize` has the signatures; what crosses the
//! boundary here is one call each.

mod constrained;
mod minimize;
mod statistics;

use learnt_core::error::{Error, Result};
use learnt_core::optimize::{Motion, Rules, Schedule, Stopped};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    minimize::register(module)?;
    statistics::register(module)?;
    constrained::register(module)
}

/// (max_iter, target, gradient, decrease, change).
#[derive(FromPyObject)]
pub(super) struct RulesGiven(usize, Option<f64>, Option<f64>, Option<f64>, Option<f64>);

impl RulesGiven {
    pub(super) fn rules(&self) -> Rules {
        let RulesGiven(max_iter, target, gradient, decrease, change) = *self;
        Rules { max_iter, target, gradient, decrease, change }
    }
}

/// (schedule, rate, factor or power, every).
#[derive(FromPyObject)]
pub(super) struct PaceGiven(pub(super) String, pub(super) f64, f64, usize);

impl PaceGiven {
    pub(super) fn schedule(&self) -> Result<Schedule> {
        let PaceGiven(name, rate, shape, every) = self;
        let (rate, shape, every) = (*rate, *shape, *every);
        Ok(match name.as_str() {
            "constant" => Schedule::Constant { rate },
            "inverse" => Schedule::Inverse { rate, power: shape },
            "exponential" => Schedule::Exponential { rate, factor: shape },
            "stairs" => Schedule::Stairs { rate, factor: shape, every },
            other => {
                let known = ["constant", "inverse", "exponential", "stairs"];
                return Err(Error::unknown("schedule", other, known));
            }
        })
    }
}

/// (method, momentum or beta1, beta2, epsilon).
#[derive(FromPyObject)]
pub(super) struct MotionGiven(pub(super) String, f64, f64, f64);

impl MotionGiven {
    pub(super) fn motion(&self) -> Result<Motion> {
        let MotionGiven(name, first, beta2, epsilon) = self;
        Ok(match name.as_str() {
            "gradient-descent" => Motion::Plain,
            "momentum" => Motion::Momentum { momentum: *first },
            "nesterov" => Motion::Nesterov { momentum: *first },
            "adam" => Motion::Adam { beta1: *first, beta2: *beta2, epsilon: *epsilon },
            other => return Err(Error::unknown("method of descent", other, METHODS)),
        })
    }
}

/// The methods that turn gradients into steps.
const METHODS: [&str; 4] = ["gradient-descent", "momentum", "nesterov", "adam"];

/// success, status and message of the rule that fired.
pub(super) fn outcome(out: &Bound<'_, PyDict>, stopped: Stopped) -> PyResult<()> {
    out.set_item("success", stopped.is_success())?;
    out.set_item("status", stopped.name())?;
    out.set_item("message", stopped.to_string())
}
