//! How a gradient becomes a step: plain, with momentum, Nesterov's, Adam.
//!
//! With rate η, gradient g and the previous change Δ:
//! plain  step = -η g;  momentum  Δ ← -η g + α Δ, step = Δ;  Nesterov  Δ ← -η g + α Δ,
//! step = -η g + α Δ;  Adam  m ← β₁ m + (1-β₁) g, v ← β₂ v + (1-β₂) g², step = -η m̂ / (√v̂ + ε)
//! with m̂ = m / (1-β₁^k), v̂ = v / (1-β₂^k). α = 0 is plain descent.
//!
//! At a constant rate this is the form v ← α v + g, step = -η v, and -η (g + α v) for Nesterov.
//! Polyak (1964); Nesterov (1983); Kingma and Ba (2015), algorithm 1.

use crate::error::{Error, Result};
use learnt_derive::Stored;

/// The rule that turns gradients into steps.
#[derive(Clone, Copy, Debug, PartialEq, Stored)]
pub enum Motion {
    /// Against the gradient.
    Plain,
    /// With a share of the previous step.
    Momentum {
        /// α, in [0, 1).
        momentum: f64,
    },
    /// Momentum that looks one step ahead.
    Nesterov {
        /// α, in [0, 1).
        momentum: f64,
    },
    /// Averages of the gradient and of its square, per coordinate.
    Adam {
        /// β₁, in [0, 1).
        beta1: f64,
        /// β₂, in [0, 1).
        beta2: f64,
        /// ε.
        epsilon: f64,
    },
}

impl Motion {
    /// Adam with β₁ = 0.9, β₂ = 0.999, ε = 1e-8; its usual rate is 0.001.
    pub const ADAM: Motion = Motion::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

    /// Refuses shares outside [0, 1).
    pub fn check(&self) -> Result<()> {
        let share = |name: &str, value: f64| match (0.0..1.0).contains(&value) {
            true => Ok(()),
            false => Err(Error::parameter(name, "at least 0 and below 1", value)),
        };
        match *self {
            Motion::Plain => Ok(()),
            Motion::Momentum { momentum } | Motion::Nesterov { momentum } => {
                share("momentum", momentum)
            }
            Motion::Adam { beta1, beta2, epsilon } => {
                share("beta1", beta1)?;
                share("beta2", beta2)?;
                match epsilon > 0.0 && epsilon.is_finite() {
                    true => Ok(()),
                    false => Err(Error::parameter("epsilon", "positive and finite", epsilon)),
                }
            }
        }
    }
}

/// A motion with what it remembers.
#[derive(Clone, Debug, Stored)]
pub(super) struct Mover {
    motion: Motion,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i64,
}

impl Mover {
    pub(super) fn new(motion: Motion, dimension: usize) -> Self {
        let second = if matches!(motion, Motion::Adam { .. }) { dimension } else { 0 };
        Mover { motion, first: vec![0.0; dimension], second: vec![0.0; second], steps: 0 }
    }

    /// The step that follows from a gradient.
    pub(super) fn step(&mut self, gradient: &[f64], rate: f64) -> Vec<f64> {
        self.steps += 1;
        match self.motion {
            Motion::Plain => gradient.iter().map(|g| -rate * g).collect(),
            Motion::Momentum { momentum } => {
                self.push(gradient, rate, momentum);
                self.first.clone()
            }
            Motion::Nesterov { momentum } => {
                self.push(gradient, rate, momentum);
                gradient.iter().zip(&self.first).map(|(g, d)| momentum * d - rate * g).collect()
            }
            Motion::Adam { beta1, beta2, epsilon } => {
                self.average(gradient, beta1, beta2);
                let (left, right) =
                    (1.0 - beta1.powf(self.steps as f64), 1.0 - beta2.powf(self.steps as f64));
                let moments = self.first.iter().zip(&self.second);
                moments.map(|(m, v)| -rate * (m / left) / ((v / right).sqrt() + epsilon)).collect()
            }
        }
    }

    /// Δ ← α Δ - η g.
    fn push(&mut self, gradient: &[f64], rate: f64, momentum: f64) {
        for (change, g) in self.first.iter_mut().zip(gradient) {
            *change = momentum * *change - rate * g;
        }
    }

    fn average(&mut self, gradient: &[f64], beta1: f64, beta2: f64) {
        for ((m, v), g) in self.first.iter_mut().zip(&mut self.second).zip(gradient) {
            *m = beta1 * *m + (1.0 - beta1) * g;
            *v = beta2 * *v + (1.0 - beta2) * g * g;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_momentum_all_steps_are_plain() {
        let gradient = [3.0, -4.0];
        for motion in [Motion::Momentum { momentum: 0.0 }, Motion::Nesterov { momentum: 0.0 }] {
            let mut mover = Mover::new(motion, 2);
            for _ in 0..3 {
                let plain = Mover::new(Motion::Plain, 2).step(&gradient, 0.1);
                assert_eq!(mover.step(&gradient, 0.1), plain);
            }
        }
    }

    #[test]
    fn the_first_step_of_adam_is_the_rate_in_every_coordinate() {
        let step = Mover::new(Motion::ADAM, 2).step(&[5.0, -1e-3], 0.01);
        assert!((step[0] + 0.01).abs() < 1e-9 && (step[1] - 0.01).abs() < 1e-6);
    }

    #[test]
    fn shares_of_one_and_more_are_refused() {
        assert!(Motion::Momentum { momentum: 1.0 }.check().is_err());
        assert!(Motion::Nesterov { momentum: -0.1 }.check().is_err());
        assert!(Motion::Adam { beta1: 0.9, beta2: 1.0, epsilon: 1e-8 }.check().is_err());
        assert!(Motion::Adam { beta1: 0.9, beta2: 0.9, epsilon: 0.0 }.check().is_err());
        assert!(Motion::ADAM.check().is_ok());
    }
}
