//! Losses of a score p against a target y, and their slopes dL/dp. Classes are y = -1 and y = +1.
//!
//! hinge max(0, 1 - yp) | squared hinge its square | log ln(1 + exp(-yp)) | modified Huber
//! (1 - yp)² inside -1 <= yp <= 1 and -4yp below | perceptron max(0, -yp) | squared ½(p - y)² |
//! Huber ½r² up to |r| = ε, then linear | ε-insensitive max(0, |r| - ε) | its square.

use super::perceptron::ZeroIs;
use learnt_core::linalg::vector_math;
use learnt_core::prelude::*;

/// Losses of a classifier.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassLoss {
    /// max(0, 1 - y p): a linear support vector machine.
    Hinge,
    /// ln(1 + exp(-y p)): logistic regression, with probabilities.
    LogLoss,
    /// A squared hinge that goes on as a line for outliers; with probabilities.
    ModifiedHuber,
    /// The square of the hinge.
    SquaredHinge,
    /// max(0, -y p): the perceptron.
    Perceptron,
    /// ½ (p - y)² on classes coded -1 and 1.
    SquaredError,
    /// ½ (p - y)² up to a distance of `epsilon`, then a line.
    Huber,
    /// The distance |p - y| beyond `epsilon`.
    EpsilonInsensitive,
    /// The square of the distance beyond `epsilon`.
    SquaredEpsilonInsensitive,
    /// Minus the logarithm of the softmax of all classes at once; with probabilities.
    Multinomial,
}

/// Losses of a regressor.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealLoss {
    /// ½ (p - y)².
    SquaredError,
    /// ½ (p - y)² up to a distance of `epsilon`, then a line.
    Huber,
    /// The distance |p - y| beyond `epsilon`.
    EpsilonInsensitive,
    /// The square of the distance beyond `epsilon`.
    SquaredEpsilonInsensitive,
}

/// A loss with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    Hinge,
    Log,
    ModifiedHuber,
    SquaredHinge,
    Perceptron(ZeroIs),
    /// Factor times ½ (p - y)².
    Squared(f64),
    Huber(f64),
    EpsilonInsensitive(f64),
    SquaredEpsilonInsensitive(f64),
}

impl Loss {
    pub(super) fn of_classes(loss: ClassLoss, epsilon: f64) -> Loss {
        match loss {
            ClassLoss::Hinge => Loss::Hinge,
            ClassLoss::LogLoss | ClassLoss::Multinomial => Loss::Log,
            ClassLoss::ModifiedHuber => Loss::ModifiedHuber,
            ClassLoss::SquaredHinge => Loss::SquaredHinge,
            ClassLoss::Perceptron => Loss::Perceptron(ZeroIs::Mistake),
            ClassLoss::SquaredError => Loss::Squared(1.0),
            ClassLoss::Huber => Loss::Huber(epsilon),
            ClassLoss::EpsilonInsensitive => Loss::EpsilonInsensitive(epsilon),
            ClassLoss::SquaredEpsilonInsensitive => Loss::SquaredEpsilonInsensitive(epsilon),
        }
    }

    pub(super) fn of_numbers(loss: RealLoss, epsilon: f64, factor: f64) -> Loss {
        match loss {
            RealLoss::SquaredError => Loss::Squared(factor),
            RealLoss::Huber => Loss::Huber(epsilon),
            RealLoss::EpsilonInsensitive => Loss::EpsilonInsensitive(epsilon),
            RealLoss::SquaredEpsilonInsensitive => Loss::SquaredEpsilonInsensitive(epsilon),
        }
    }

    /// Whether slopes grow with the error, so that steps that are too long explode.
    pub(super) fn explodes(self) -> bool {
        matches!(self, Loss::Squared(_) | Loss::SquaredHinge | Loss::SquaredEpsilonInsensitive(_))
    }

    #[inline(always)]
    pub(super) fn value(self, p: f64, y: f64) -> f64 {
        match self {
            Loss::Hinge => (1.0 - p * y).max(0.0),
            Loss::Log => {
                let z = p * y;
                vector_math::ln_1p_unit(vector_math::exp(-z.abs())) + (-z).max(0.0)
            }
            Loss::ModifiedHuber => match p * y {
                z if z >= 1.0 => 0.0,
                z if z >= -1.0 => (1.0 - z) * (1.0 - z),
                z => -4.0 * z,
            },
            Loss::SquaredHinge => (1.0 - p * y).max(0.0).powi(2),
            Loss::Perceptron(_) => (-p * y).max(0.0),
            Loss::Squared(factor) => factor * 0.5 * (p - y) * (p - y),
            Loss::Huber(width) => match (p - y).abs() {
                r if r <= width => 0.5 * r * r,
                r => width * (r - 0.5 * width),
            },
            Loss::EpsilonInsensitive(width) => ((p - y).abs() - width).max(0.0),
            Loss::SquaredEpsilonInsensitive(width) => ((p - y).abs() - width).max(0.0).powi(2),
        }
    }

    #[inline(always)]
    pub(super) fn slope(self, p: f64, y: f64) -> f64 {
        match self {
            Loss::Hinge => {
                if p * y <= 1.0 {
                    -y
                } else {
                    0.0
                }
            }
            Loss::Log => -y / (1.0 + vector_math::exp(p * y)),
            Loss::ModifiedHuber => match p * y {
                z if z >= 1.0 => 0.0,
                z if z >= -1.0 => -2.0 * (1.0 - z) * y,
                _ => -4.0 * y,
            },
            Loss::SquaredHinge => -2.0 * (1.0 - p * y).max(0.0) * y,
            Loss::Perceptron(zero) => {
                if zero.is_mistake(p, y) {
                    -y
                } else {
                    0.0
                }
            }
            Loss::Squared(factor) => factor * (p - y),
            Loss::Huber(width) => (p - y).clamp(-width, width),
            Loss::EpsilonInsensitive(width) => beyond(p - y, width).signum_or_zero(),
            Loss::SquaredEpsilonInsensitive(width) => 2.0 * beyond(p - y, width),
        }
    }
}

/// What of r lies outside [-width, width].
#[inline(always)]
fn beyond(r: f64, width: f64) -> f64 {
    r - r.clamp(-width, width)
}

trait SignumOrZero {
    fn signum_or_zero(self) -> f64;
}

impl SignumOrZero for f64 {
    #[inline(always)]
    fn signum_or_zero(self) -> f64 {
        if self == 0.0 { 0.0 } else { self.signum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives_of_the_values() {
        let all = [
            Loss::Hinge,
            Loss::Log,
            Loss::ModifiedHuber,
            Loss::SquaredHinge,
            Loss::Perceptron(ZeroIs::Mistake),
            Loss::Squared(2.0),
            Loss::Huber(0.3),
            Loss::EpsilonInsensitive(0.3),
            Loss::SquaredEpsilonInsensitive(0.3),
        ];
        for loss in all {
            for p in [-3.1, -0.9, -0.05, 0.2, 0.93, 1.4, 5.0] {
                for y in [-1.0, 1.0] {
                    let h = 1e-6;
                    let numeric = (loss.value(p + h, y) - loss.value(p - h, y)) / (2.0 * h);
                    assert!((loss.slope(p, y) - numeric).abs() < 1e-7, "{loss:?} at {p}, {y}");
                }
            }
        }
    }

    #[test]
    fn losses_of_huge_scores_are_finite_or_infinite_but_never_nan() {
        for loss in [Loss::Hinge, Loss::Log, Loss::ModifiedHuber, Loss::Huber(0.1)] {
            for p in [1e300, -1e300] {
                assert!(!loss.value(p, 1.0).is_nan() && loss.slope(p, 1.0).is_finite());
            }
        }
    }
}
