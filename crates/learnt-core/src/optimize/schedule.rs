//! Rates of descent as a function of the step.
//!
//! Step k = 1, 2, ... has the rate  η  (constant),  η / k^p  (inverse; p = 1 is η₁ / k),
//! η q^(k-1)  (exponential)  or  η q^⌊(k-1) / every⌋  (stairs).
//!
//! On a quadratic with largest curvature λ a constant rate converges only below 2 / λ. Rates whose
//! sum diverges while the sum of their squares does not (inverse, 1/2 < p <= 1) let descent on
//! random gradients converge; Robbins and Monro (1951), Annals of Mathematical Statistics 22.

use crate::error::{Error, Result};
use learnt_derive::Stored;

/// The rate of every step.
///
/// ```
/// use learnt_core::optimize::Schedule;
/// assert_eq!(Schedule::Inverse { rate: 1.0, power: 1.0 }.rate(4), 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Stored)]
pub enum Schedule {
    /// η.
    Constant {
        /// η.
        rate: f64,
    },
    /// η / k^p.
    Inverse {
        /// η, the rate of the first step.
        rate: f64,
        /// p.
        power: f64,
    },
    /// η q^(k-1).
    Exponential {
        /// η, the rate of the first step.
        rate: f64,
        /// q, in (0, 1].
        factor: f64,
    },
    /// η, multiplied by q after every so many steps.
    Stairs {
        /// η, the rate of the first step.
        rate: f64,
        /// q, in (0, 1].
        factor: f64,
        /// Steps between two changes.
        every: usize,
    },
}

impl Default for Schedule {
    /// A constant 0.1.
    fn default() -> Self {
        Schedule::Constant { rate: 0.1 }
    }
}

impl Schedule {
    /// The rate of step `k`, counted from 1.
    pub fn rate(&self, k: usize) -> f64 {
        let done = k.saturating_sub(1) as f64;
        match *self {
            Schedule::Constant { rate } => rate,
            Schedule::Inverse { rate, power } => rate / (done + 1.0).powf(power),
            Schedule::Exponential { rate, factor } => rate * factor.powf(done),
            Schedule::Stairs { rate, factor, every } => {
                rate * factor.powf((done / every.max(1) as f64).floor())
            }
        }
    }

    /// Refuses rates that are not positive and schedules that do not fall.
    pub fn check(&self) -> Result<()> {
        let (rate, factor, power) = match *self {
            Schedule::Constant { rate } => (rate, 1.0, 0.0),
            Schedule::Inverse { rate, power } => (rate, 1.0, power),
            Schedule::Exponential { rate, factor } | Schedule::Stairs { rate, factor, .. } => {
                (rate, factor, 0.0)
            }
        };
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::parameter("rate", "positive and finite", rate));
        }
        if !(factor > 0.0 && factor <= 1.0) {
            return Err(Error::parameter("factor", "above 0 and at most 1", factor));
        }
        if !(power >= 0.0 && power.is_finite()) {
            return Err(Error::parameter("power", "zero or more", power));
        }
        match self {
            Schedule::Stairs { every: 0, .. } => {
                Err(Error::parameter("every", "a number of steps above 0", 0))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_starts_at_its_rate_and_falls_as_stated() {
        let at = |schedule: Schedule| [1, 2, 3, 4].map(|k| schedule.rate(k));
        assert_eq!(at(Schedule::default()), [0.1; 4]);
        assert_eq!(
            at(Schedule::Inverse { rate: 1.0, power: 1.0 }),
            [1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0]
        );
        assert_eq!(at(Schedule::Exponential { rate: 8.0, factor: 0.5 }), [8.0, 4.0, 2.0, 1.0]);
        assert_eq!(at(Schedule::Stairs { rate: 8.0, factor: 0.5, every: 2 }), [8.0, 8.0, 4.0, 4.0]);
    }

    #[test]
    fn a_rate_that_is_not_positive_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Schedule::Constant { rate }.check().is_err());
        }
        assert!(Schedule::Exponential { rate: 1.0, factor: 1.5 }.check().is_err());
        assert!(Schedule::Stairs { rate: 1.0, factor: 0.5, every: 0 }.check().is_err());
        assert!(Schedule::Inverse { rate: 1.0, power: 0.5 }.check().is_ok());
    }
}
