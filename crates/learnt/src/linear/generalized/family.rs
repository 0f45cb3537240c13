//! Families and links: everything that one row contributes.
//!
//! A family is its variance V(μ): μ(1 - μ) for the binomial, else μ^p (0 Gaussian, 1 Poisson, 2
//! gamma, 3 inverse Gaussian, other Tweedie). With h the inverse link, a row of mean μ = h(η) has the
//! working weight h'² / V, the score h' (y - μ) / V and the unit deviance d(y, μ).
//! Logit and probit are written so that both tails of η keep their digits.
//!
//! McCullagh and Nelder (1989), Generalized Linear Models, chapter 2; Jørgensen (1987), Journal of
//! the Royal Statistical Society B 49(2), 127-162, for Tweedie.

use super::pass::Survey;
use learnt_core::prelude::*;
use learnt_core::stats::special::{erfcx, ln_gamma, sigmoid, softplus, stirling_error};
use std::f64::consts::{FRAC_2_PI, PI, SQRT_2};

/// The distribution of the target.
#[derive(Clone, Copy, Debug, PartialEq, Stored)]
pub(crate) enum Family {
    /// Successes, or shares of them.
    Binomial,
    /// Variance proportional to this power of the mean.
    Power(f64),
}

/// The link function: what the linear predictor is of the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Stored)]
pub(crate) enum Link {
    Identity,
    Log,
    Logit,
    Probit,
    Inverse,
    InverseSquared,
}

/// A family with its link.
#[derive(Clone, Copy, Debug, PartialEq, Stored)]
pub(crate) struct Law {
    pub(crate) family: Family,
    pub(crate) link: Link,
}

/// What a row contributes, for weight 1. An impossible mean has an infinite deviance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contribution {
    /// h'² / V.
    pub(super) weight: f64,
    /// h' (y - μ) / V.
    pub(super) score: f64,
    pub(super) deviance: f64,
    /// (y - μ)² / V.
    pub(super) pearson: f64,
}

const IMPOSSIBLE: Contribution =
    Contribution { weight: 0.0, score: 0.0, deviance: f64::INFINITY, pearson: 0.0 };

impl Family {
    /// Its name in messages.
    pub(super) fn name(self) -> String {
        match self {
            Family::Binomial => "binomial".to_string(),
            Family::Power(0.0) => "Gaussian".to_string(),
            Family::Power(1.0) => "Poisson".to_string(),
            Family::Power(2.0) => "gamma".to_string(),
            Family::Power(3.0) => "inverse Gaussian".to_string(),
            Family::Power(power) => format!("Tweedie (power {power})"),
        }
    }

    /// The targets that the family can have, if not all numbers.
    pub(super) fn allowed(self) -> Option<&'static str> {
        match self {
            Family::Binomial => Some("0, 1 or shares between them"),
            Family::Power(power) if power >= 2.0 => Some("numbers above 0"),
            Family::Power(power) if power >= 1.0 => Some("numbers of 0 or more"),
            Family::Power(_) => None,
        }
    }

    pub(super) fn allows(self, y: f64) -> bool {
        match self {
            Family::Binomial => (0.0..=1.0).contains(&y),
            Family::Power(power) if power >= 2.0 => y > 0.0,
            Family::Power(power) => power < 1.0 || y >= 0.0,
        }
    }

    /// Whether the variance is known given the mean.
    pub(super) fn has_known_dispersion(self) -> bool {
        matches!(self, Family::Binomial | Family::Power(1.0))
    }

    pub(super) fn can_have_mean(self, mean: f64) -> bool {
        match self {
            Family::Binomial => mean > 0.0 && mean < 1.0,
            Family::Power(power) => mean.is_finite() && (power == 0.0 || mean > 0.0),
        }
    }

    pub(super) fn variance(self, mean: f64) -> f64 {
        match self {
            Family::Binomial => mean * (1.0 - mean),
            Family::Power(0.0) => 1.0,
            Family::Power(1.0) => mean,
            Family::Power(2.0) => mean * mean,
            Family::Power(power) => mean.powf(power),
        }
    }

    /// The unit deviance of a possible mean.
    fn deviance(self, y: f64, mean: f64) -> f64 {
        let exact = match self {
            Family::Binomial => 2.0 * (x_ln(y, y / mean) + x_ln(1.0 - y, (1.0 - y) / (1.0 - mean))),
            Family::Power(0.0) => (y - mean) * (y - mean),
            Family::Power(1.0) => 2.0 * (x_ln(y, y / mean) - (y - mean)),
            Family::Power(2.0) => 2.0 * ((y - mean) / mean - (y / mean).ln()),
            Family::Power(3.0) => (y - mean) / mean * ((y - mean) / mean) / y,
            Family::Power(power) => {
                let (one, two) = (1.0 - power, 2.0 - power);
                let own = y.max(0.0).powf(two) / (one * two);
                2.0 * (own - y * mean.powf(one) / one + mean.powf(two) / two)
            }
        };
        exact.max(0.0)
    }

    /// What the likelihood has besides the deviance: the log-likelihood of a perfect fit where the
    /// dispersion is known, ln y where y scales with it.
    pub(super) fn constant(self, y: f64) -> f64 {
        match self {
            Family::Binomial => x_ln(y, y) + x_ln(1.0 - y, 1.0 - y),
            Family::Power(1.0) => x_ln(y, y) - y - ln_gamma(y + 1.0),
            Family::Power(power) if power >= 2.0 => y.ln(),
            Family::Power(_) => 0.0,
        }
    }

    /// The log-likelihood from sums over rows; an unknown dispersion is taken as deviance / weight, or as
    /// deviance / rows where weights divide the variance of normal targets. None for families without a density
    /// in closed form, and for exact fits.
    pub(super) fn log_likelihood(self, deviance: f64, all: &Survey) -> Option<f64> {
        let (weight, constant) = (all.weight, all.constant);
        let dispersion = deviance / weight;
        let value = match self {
            Family::Binomial | Family::Power(1.0) => constant - 0.5 * deviance,
            Family::Power(0.0) => {
                let variance = deviance / all.rows;
                0.5 * (all.ln_weight - all.rows * ((2.0 * PI * variance).ln() + 1.0))
            }
            Family::Power(2.0) => {
                let shape = dispersion.recip();
                let each = 0.5 * (shape / (2.0 * PI)).ln() - stirling_error(shape);
                weight * (each - 0.5) - constant
            }
            Family::Power(3.0) => {
                -0.5 * (weight * ((2.0 * PI * dispersion).ln() + 1.0) + 3.0 * constant)
            }
            Family::Power(_) => return None,
        };
        value.is_finite().then_some(value)
    }
}

/// a ln b, and 0 where a is.
fn x_ln(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * b.ln() }
}

impl Link {
    /// Its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Link::Identity => "identity",
            Link::Log => "log",
            Link::Logit => "logit",
            Link::Probit => "probit",
            Link::Inverse => "inverse",
            Link::InverseSquared => "inverse-squared",
        }
    }

    /// η of a mean.
    pub(super) fn of(self, mean: f64) -> f64 {
        match self {
            Link::Identity => mean,
            Link::Log => mean.ln(),
            Link::Logit => (mean / (1.0 - mean)).ln(),
            // Only asked for zero: every probit fit starts there.
            Link::Probit => 0.0,
            Link::Inverse => mean.recip(),
            Link::InverseSquared => (mean * mean).recip(),
        }
    }

    /// The mean of η; not a number where there is none.
    pub(crate) fn mean(self, eta: f64) -> f64 {
        match self {
            Link::Identity => eta,
            Link::Log => eta.exp(),
            Link::Logit => sigmoid(eta),
            Link::Probit => normal_below(eta),
            Link::Inverse => eta.recip(),
            Link::InverseSquared => eta.sqrt().recip(),
        }
    }

    /// The derivative of the mean, from η and the mean.
    pub(super) fn slope(self, eta: f64, mean: f64) -> f64 {
        match self {
            Link::Identity => 1.0,
            Link::Log => mean,
            Link::Logit => mean * (1.0 - mean),
            Link::Probit => normal_density(eta),
            Link::Inverse => -mean * mean,
            Link::InverseSquared => -0.5 * mean * mean * mean,
        }
    }

    /// Whether zero is a mean of every family, so that a fit can start there.
    pub(super) fn starts_at_zero(self) -> bool {
        matches!(self, Link::Logit | Link::Probit)
    }
}

impl Law {
    /// What a row with this target contributes at η.
    #[inline]
    pub(super) fn at(self, y: f64, eta: f64) -> Contribution {
        let found = match (self.family, self.link) {
            (Family::Binomial, Link::Logit) => logit_row(y, eta),
            (Family::Binomial, Link::Probit) => probit_row(y, eta),
            (family, link) => {
                let mean = link.mean(eta);
                if !family.can_have_mean(mean) {
                    return IMPOSSIBLE;
                }
                let variance = family.variance(mean);
                let slope = link.slope(eta, mean);
                let ratio = slope / variance;
                Contribution {
                    weight: ratio * slope,
                    score: ratio * (y - mean),
                    deviance: family.deviance(y, mean),
                    pearson: (y - mean) * (y - mean) / variance,
                }
            }
        };
        match found.weight.is_finite() && found.score.is_finite() && found.deviance.is_finite() {
            true => found,
            false => IMPOSSIBLE,
        }
    }

    /// The unit deviance at a mean, infinite where the mean is impossible.
    pub(super) fn deviance_at(self, y: f64, mean: f64) -> f64 {
        match self.family.can_have_mean(mean) {
            true => self.family.deviance(y, mean),
            false => f64::INFINITY,
        }
    }

    /// A possible mean close to the target, and its η.
    pub(super) fn near(self, y: f64, typical: f64) -> f64 {
        let mean = match self.family {
            Family::Binomial => (y + 0.5) / 2.0,
            Family::Power(0.0) if matches!(self.link, Link::Identity | Link::Inverse) => y,
            Family::Power(_) => y.max(0.1 * typical),
        };
        self.link.of(mean)
    }
}

/// 1 - μ and μ are precise in both tails; -ln μ is softplus(-η).
#[inline]
fn logit_row(y: f64, eta: f64) -> Contribution {
    let odds = (-eta.abs()).exp();
    let (likely, unlikely) = (1.0 / (1.0 + odds), odds / (1.0 + odds));
    let (yes, no) = if eta >= 0.0 { (likely, unlikely) } else { (unlikely, likely) };
    let weight = yes * no;
    let score = y * no - (1.0 - y) * yes;
    let lost = y * softplus(-eta) + (1.0 - y) * softplus(eta);
    let deviance = 2.0 * (lost + Family::Binomial.constant(y));
    Contribution {
        weight,
        score,
        deviance: deviance.max(0.0),
        pearson: squared_over(score, yes, no),
    }
}

/// With λ(t) = φ(t) / Φ(-t): weight λ(η) λ(-η), score y λ(-η) - (1 - y) λ(η).
fn probit_row(y: f64, eta: f64) -> Contribution {
    let (above, below) = (hazard(eta), hazard(-eta));
    let score = y * below - (1.0 - y) * above;
    let lost = -(y * ln_normal_below(eta) + (1.0 - y) * ln_normal_below(-eta));
    let deviance = 2.0 * (lost + Family::Binomial.constant(y));
    let (yes, no) = (normal_below(eta), normal_below(-eta));
    let residual = y * no - (1.0 - y) * yes;
    Contribution {
        weight: above * below,
        score,
        deviance: deviance.max(0.0),
        pearson: squared_over(residual, yes, no),
    }
}

fn squared_over(residual: f64, yes: f64, no: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual / yes * (residual / no) }
}

pub(super) fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

pub(super) fn normal_below(x: f64) -> f64 {
    0.5 * learnt_core::stats::special::erfc(-x / SQRT_2)
}

/// ln Φ(x), also far in the lower tail.
pub(super) fn ln_normal_below(x: f64) -> f64 {
    match x < 0.0 {
        true => (0.5 * erfcx(-x / SQRT_2)).ln() - 0.5 * x * x,
        false => (-normal_below(-x)).ln_1p(),
    }
}

/// φ(t) / Φ(-t), also far in the upper tail.
fn hazard(t: f64) -> f64 {
    match t > 0.0 {
        true => FRAC_2_PI.sqrt() / erfcx(t / SQRT_2),
        false => normal_density(t) / normal_below(-t),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: &[(Family, Link, f64, f64)] = &[
        (Family::Power(0.0), Link::Identity, -1.5, 0.7),
        (Family::Power(0.0), Link::Log, 2.0, 0.3),
        (Family::Power(1.0), Link::Log, 0.0, 0.4),
        (Family::Power(1.0), Link::Identity, 3.0, 2.5),
        (Family::Power(1.5), Link::Log, 0.0, -0.2),
        (Family::Power(2.0), Link::Inverse, 1.2, 0.6),
        (Family::Power(2.0), Link::Log, 1.2, 0.6),
        (Family::Power(3.0), Link::InverseSquared, 0.8, 1.7),
        (Family::Power(-1.0), Link::Log, 0.8, 0.2),
        (Family::Binomial, Link::Logit, 1.0, -1.3),
        (Family::Binomial, Link::Logit, 0.3, 2.0),
        (Family::Binomial, Link::Probit, 0.0, 0.9),
        (Family::Binomial, Link::Probit, 0.6, -0.4),
        (Family::Binomial, Link::Log, 1.0, -0.8),
    ];

    #[test]
    fn the_score_is_minus_half_the_slope_of_the_deviance() {
        for &(family, link, y, eta) in LAWS {
            let law = Law { family, link };
            let step = 1e-6;
            let slope = (law.at(y, eta + step).deviance - law.at(y, eta - step).deviance) / step;
            let here = law.at(y, eta);
            assert!((here.score + 0.25 * slope).abs() < 1e-7, "{family:?} {link:?}");
            let mean = link.mean(eta);
            let deviance = law.deviance_at(y, mean);
            assert!((here.deviance - deviance).abs() < 1e-12, "{family:?} {link:?}");
            let pearson = (y - mean).powi(2) / family.variance(mean);
            assert!((here.pearson - pearson).abs() < 1e-12, "{family:?} {link:?}");
        }
    }

    #[test]
    fn far_tails_are_finite() {
        for link in [Link::Logit, Link::Probit] {
            let law = Law { family: Family::Binomial, link };
            for eta in [-700.0, -40.0, 40.0, 700.0] {
                for y in [0.0, 0.5, 1.0] {
                    let row = law.at(y, eta);
                    assert!(row.deviance.is_finite() && row.weight >= 0.0, "{link:?} {eta} {y}");
                }
            }
            assert!((law.at(1.0, -30.0).score - link_tail(link)).abs() < 1e-3 * link_tail(link));
        }
    }

    fn link_tail(link: Link) -> f64 {
        if link == Link::Logit { 1.0 } else { 30.0 + 1.0 / 30.0 }
    }

    #[test]
    fn impossible_means_have_infinite_deviance() {
        let law = Law { family: Family::Power(1.0), link: Link::Identity };
        assert_eq!(law.at(1.0, -0.5).deviance, f64::INFINITY);
        let law = Law { family: Family::Power(2.0), link: Link::Log };
        assert_eq!(law.at(1.0, 1e4).deviance, f64::INFINITY);
    }
}
