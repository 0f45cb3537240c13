//! The beta, Student t and Fisher F distributions.
//!
//! Method: the regularised incomplete beta function at a point given by `x`, `1 - x` and the
//! distance from the mean, each formed without cancellation from the argument of the
//! distribution; quantiles from the log odds of that point.

use super::distribution::{Continuous, Moments};
use super::incomplete_beta::{BetaPoint, inverse_log_odds};
use super::incomplete_gamma::Side;
use super::sample::{standard_gamma, standard_normal};
use super::special::{
    inverse_regularised_beta_lower, inverse_regularised_beta_upper, ln_beta, ln_gamma_ratio,
    ln_regularised_beta_lower, ln_regularised_beta_upper, regularised_beta_lower,
    regularised_beta_upper,
};
use rand_core::Rng;
use std::f64::consts::{LN_2, PI};

fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// The beta distribution with density `x^(a-1) (1-x)^(b-1) / B(a, b)` on [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
}

impl Beta {
    /// `None` unless both parameters are positive and finite.
    pub fn new(a: f64, b: f64) -> Option<Self> {
        (positive(a) && positive(b)).then_some(Self { a, b })
    }

    /// The logarithm of the density at an end of the support whose parameter is `near`.
    fn ln_pdf_at_end(near: f64, far: f64) -> f64 {
        if near > 1.0 {
            f64::NEG_INFINITY
        } else if near < 1.0 {
            f64::INFINITY
        } else {
            far.ln()
        }
    }
}

impl Moments for Beta {
    fn mean(&self) -> Option<f64> {
        Some(self.a / (self.a + self.b))
    }

    fn variance(&self) -> Option<f64> {
        let total = self.a + self.b;
        Some(self.a / total * (self.b / total) / (total + 1.0))
    }
}

impl Continuous for Beta {
    fn pdf(&self, x: f64) -> f64 {
        if x > 0.0 && x < 1.0 {
            BetaPoint::new(self.a, self.b, x).prefactor() / x / (1.0 - x)
        } else {
            self.ln_pdf(x).exp()
        }
    }

    fn ln_pdf(&self, x: f64) -> f64 {
        if x.is_nan() {
            f64::NAN
        } else if x == 0.0 {
            Self::ln_pdf_at_end(self.a, self.b)
        } else if x == 1.0 {
            Self::ln_pdf_at_end(self.b, self.a)
        } else if x > 0.0 && x < 1.0 {
            BetaPoint::new(self.a, self.b, x).ln_prefactor() - x.ln() - (-x).ln_1p()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        regularised_beta_lower(self.a, self.b, x)
    }

    fn sf(&self, x: f64) -> f64 {
        regularised_beta_upper(self.a, self.b, x)
    }

    fn ln_cdf(&self, x: f64) -> f64 {
        ln_regularised_beta_lower(self.a, self.b, x)
    }

    fn ln_sf(&self, x: f64) -> f64 {
        ln_regularised_beta_upper(self.a, self.b, x)
    }

    fn quantile(&self, p: f64) -> f64 {
        inverse_regularised_beta_lower(self.a, self.b, p)
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        inverse_regularised_beta_upper(self.a, self.b, q)
    }

    /// `G_a / (G_a + G_b)` of two gamma draws.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let (first, second) = (standard_gamma(rng, self.a), standard_gamma(rng, self.b));
        let total = first + second;
        if total > 0.0 { first / total } else { f64::from(u8::from(self.a > self.b)) }
    }
}

/// Student's t distribution with density
/// `Gamma((df+1)/2) / (sqrt(df pi) Gamma(df/2)) (1 + t^2/df)^(-(df+1)/2)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    df: f64,
}

impl StudentT {
    /// `t^2 / df` from which the tail is its leading power to the last bit.
    const POWER_TAIL: f64 = 1e20;

    /// `None` unless the degrees of freedom are positive and finite.
    pub fn new(df: f64) -> Option<Self> {
        positive(df).then_some(Self { df })
    }

    /// The logarithm of the probability of a value above `t > 0` with huge `t^2 / df`:
    /// `(sqrt(df) / t)^df / (df B(df/2, 1/2))`.
    fn ln_power_tail(&self, t: f64) -> f64 {
        let df = self.df;
        df * (0.5 * df.ln() - t.ln()) - df.ln() - ln_beta(0.5 * df, 0.5)
    }

    /// The point `x = 1 / (1 + t^2/df)` of the beta distribution with parameters `df/2`, `1/2`,
    /// where `slack = (t^2 - 1) / (2 (1 + t^2/df))`.
    fn point(&self, t: f64) -> BetaPoint {
        let ratio = t / self.df.sqrt() * (t / self.df.sqrt());
        let x = (1.0 + ratio).recip();
        let slack = 0.5 * ((t - 1.0) * x) * (t + 1.0);
        BetaPoint { a: 0.5 * self.df, b: 0.5, x, y: ratio * x, slack }
    }

    fn is_central(t: f64, df: f64) -> bool {
        t * (t / df) < f64::MIN_POSITIVE
    }
}

impl Moments for StudentT {
    fn mean(&self) -> Option<f64> {
        (self.df > 1.0).then_some(0.0)
    }

    fn variance(&self) -> Option<f64> {
        (self.df > 2.0).then(|| self.df / (self.df - 2.0))
    }
}

impl Continuous for StudentT {
    fn pdf(&self, x: f64) -> f64 {
        self.ln_pdf(x).exp()
    }

    fn ln_pdf(&self, x: f64) -> f64 {
        let df = self.df;
        let scaled = x.abs() / df.sqrt();
        let ln_base = if scaled > 1e10 { 2.0 * scaled.ln() } else { (scaled * scaled).ln_1p() };
        let constant = -ln_gamma_ratio(0.5 * df, 0.5) - 0.5 * (df.ln() + PI.ln());
        constant - 0.5 * (df + 1.0) * ln_base
    }

    fn cdf(&self, x: f64) -> f64 {
        self.sf(-x)
    }

    fn sf(&self, x: f64) -> f64 {
        if x.is_nan() || x.is_infinite() {
            return if x.is_nan() { x } else { f64::from(u8::from(x < 0.0)) };
        }
        if Self::is_central(x, self.df) {
            return 0.5;
        }
        let size = x.abs();
        let tail = if size * (size / self.df) > Self::POWER_TAIL {
            self.ln_power_tail(size).exp()
        } else {
            0.5 * self.point(size).probability(Side::Lower)
        };
        if x > 0.0 { tail } else { 1.0 - tail }
    }

    fn ln_cdf(&self, x: f64) -> f64 {
        self.ln_sf(-x)
    }

    fn ln_sf(&self, x: f64) -> f64 {
        if x.is_nan() || x.is_infinite() || x <= 0.0 || Self::is_central(x, self.df) {
            return if x < 0.0 { (-self.sf(-x)).ln_1p() } else { self.sf(x).ln() };
        }
        if x * (x / self.df) > Self::POWER_TAIL {
            self.ln_power_tail(x)
        } else {
            self.point(x).ln_probability(Side::Lower) - LN_2
        }
    }

    /// `+- sqrt(df (1 - x) / x)` where the beta tail at `x` is `2 p`, taken from the side of the
    /// beta distribution on which `2 p` or `1 - 2 p` is exact.
    fn quantile(&self, p: f64) -> f64 {
        if !(0.0..=1.0).contains(&p) {
            return f64::NAN;
        }
        let tail = p.min(1.0 - p);
        let log_odds = if tail <= 0.25 {
            inverse_log_odds(0.5 * self.df, 0.5, 2.0 * tail, Side::Lower)
        } else {
            inverse_log_odds(0.5 * self.df, 0.5, 2.0 * (p - 0.5).abs(), Side::Upper)
        };
        let size = self.df.sqrt() * (-0.5 * log_odds).exp();
        if p < 0.5 { -size } else { size }
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        -self.quantile(q)
    }

    /// `Z / sqrt(G / (df/2))` with `G` gamma of shape `df/2`.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let normal = standard_normal(rng);
        normal / (standard_gamma(rng, 0.5 * self.df) / (0.5 * self.df)).sqrt()
    }
}

/// Fisher's F distribution: the ratio of two independent chi-squared variables, each divided by
/// its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FisherF {
    df1: f64,
    df2: f64,
}

impl FisherF {
    /// `None` unless both degrees of freedom are positive and finite.
    pub fn new(df1: f64, df2: f64) -> Option<Self> {
        (positive(df1) && positive(df2)).then_some(Self { df1, df2 })
    }

    /// The point `x = r / (1 + r)`, `r = f df1 / df2`, of the beta distribution with parameters
    /// `df1/2`, `df2/2`, where `slack = df1/2 (1 - f) / (1 + r)`; `None` at the ends of the
    /// support and beyond.
    fn point(&self, f: f64) -> Option<BetaPoint> {
        let ratio = f * (self.df1 / self.df2);
        if !(ratio > 0.0 && ratio.is_finite()) {
            return None;
        }
        let y = (1.0 + ratio).recip();
        let (a, b) = (0.5 * self.df1, 0.5 * self.df2);
        Some(BetaPoint { a, b, x: ratio * y, y, slack: a * ((1.0 - f) * y) })
    }

    fn probability(&self, f: f64, side: Side) -> f64 {
        match self.point(f) {
            Some(point) => point.probability(side),
            None if f.is_nan() => f,
            None => f64::from(u8::from((f <= 1.0) == (side == Side::Upper))),
        }
    }

    fn ln_probability(&self, f: f64, side: Side) -> f64 {
        match self.point(f) {
            Some(point) => point.ln_probability(side),
            None => self.probability(f, side).ln(),
        }
    }

    fn inverse(&self, probability: f64, side: Side) -> f64 {
        let log_odds = inverse_log_odds(0.5 * self.df1, 0.5 * self.df2, probability, side);
        let value = self.df2 / self.df1 * log_odds.exp();
        if value.is_nan() { (self.df2.ln() - self.df1.ln() + log_odds).exp() } else { value }
    }
}

impl Moments for FisherF {
    fn mean(&self) -> Option<f64> {
        (self.df2 > 2.0).then(|| self.df2 / (self.df2 - 2.0))
    }

    fn variance(&self) -> Option<f64> {
        let (df1, df2) = (self.df1, self.df2);
        let ratio = df2 / (df2 - 2.0);
        (df2 > 4.0).then(|| 2.0 * ratio * ratio * ((df1 + df2 - 2.0) / (df1 * (df2 - 4.0))))
    }
}

impl Continuous for FisherF {
    /// The beta prefactor at the point of `f`, divided by `f`.
    fn pdf(&self, x: f64) -> f64 {
        match self.point(x) {
            Some(point) => point.prefactor() / x,
            None => self.ln_pdf(x).exp(),
        }
    }

    fn ln_pdf(&self, x: f64) -> f64 {
        match self.point(x) {
            Some(point) => point.ln_prefactor() - x.ln(),
            None if x.is_nan() => x,
            None if x == 0.0 && self.df1 == 2.0 => 0.0,
            None if x == 0.0 && self.df1 < 2.0 => f64::INFINITY,
            None => f64::NEG_INFINITY,
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        self.probability(x, Side::Lower)
    }

    fn sf(&self, x: f64) -> f64 {
        self.probability(x, Side::Upper)
    }

    fn ln_cdf(&self, x: f64) -> f64 {
        self.ln_probability(x, Side::Lower)
    }

    fn ln_sf(&self, x: f64) -> f64 {
        self.ln_probability(x, Side::Upper)
    }

    fn quantile(&self, p: f64) -> f64 {
        self.inverse(p, Side::Lower)
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        self.inverse(q, Side::Upper)
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let numerator = standard_gamma(rng, 0.5 * self.df1) / self.df1;
        numerator / (standard_gamma(rng, 0.5 * self.df2) / self.df2)
    }
}
