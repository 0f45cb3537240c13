//! The gamma, chi-squared and exponential distributions.
//!
//! Method: the regularised incomplete gamma function and its inverse; densities from its
//! prefactor; draws by G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
//! variables" (2000).

use super::distribution::{Continuous, Moments};
use super::incomplete_gamma::{ln_prefactor, prefactor};
use super::sample::{standard_exponential, standard_gamma};
use super::special::{
    inverse_regularised_gamma_lower, inverse_regularised_gamma_upper, ln_regularised_gamma_lower,
    ln_regularised_gamma_upper, regularised_gamma_lower, regularised_gamma_upper,
};
use rand_core::Rng;

/// The gamma distribution with density `x^(shape-1) exp(-x/scale) / (Gamma(shape) scale^shape)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    shape: f64,
    scale: f64,
}

impl Gamma {
    /// `None` unless both parameters are positive and finite.
    pub fn new(shape: f64, scale: f64) -> Option<Self> {
        let valid = shape > 0.0 && shape.is_finite() && scale > 0.0 && scale.is_finite();
        valid.then_some(Self { shape, scale })
    }
}

impl Moments for Gamma {
    fn mean(&self) -> Option<f64> {
        Some(self.shape * self.scale)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.shape * self.scale * self.scale)
    }
}

impl Continuous for Gamma {
    /// `shape / x` times the prefactor of the incomplete gamma function; at zero its limit.
    fn pdf(&self, x: f64) -> f64 {
        let ratio = x / self.scale;
        if ratio > 0.0 && ratio.is_finite() {
            self.shape * prefactor(self.shape, ratio) / x
        } else {
            self.ln_pdf(x).exp()
        }
    }

    fn ln_pdf(&self, x: f64) -> f64 {
        let ratio = x / self.scale;
        if ratio.is_nan() {
            f64::NAN
        } else if ratio < 0.0 || ratio == f64::INFINITY {
            f64::NEG_INFINITY
        } else if ratio > 0.0 {
            ln_prefactor(self.shape, ratio) + self.shape.ln() - x.ln()
        } else if self.shape == 1.0 {
            -self.scale.ln()
        } else if self.shape < 1.0 {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        regularised_gamma_lower(self.shape, x / self.scale)
    }

    fn sf(&self, x: f64) -> f64 {
        regularised_gamma_upper(self.shape, x / self.scale)
    }

    fn ln_cdf(&self, x: f64) -> f64 {
        ln_regularised_gamma_lower(self.shape, x / self.scale)
    }

    fn ln_sf(&self, x: f64) -> f64 {
        ln_regularised_gamma_upper(self.shape, x / self.scale)
    }

    fn quantile(&self, p: f64) -> f64 {
        self.scale * inverse_regularised_gamma_lower(self.shape, p)
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        self.scale * inverse_regularised_gamma_upper(self.shape, q)
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.scale * standard_gamma(rng, self.shape)
    }
}

/// Implements [`Continuous`] through the method that gives the equal gamma distribution.
macro_rules! continuous_as_gamma {
    ($name:ty) => {
        impl Moments for $name {
            fn mean(&self) -> Option<f64> {
                self.as_gamma().mean()
            }

            fn variance(&self) -> Option<f64> {
                self.as_gamma().variance()
            }
        }

        impl Continuous for $name {
            fn pdf(&self, x: f64) -> f64 {
                self.as_gamma().pdf(x)
            }

            fn ln_pdf(&self, x: f64) -> f64 {
                self.as_gamma().ln_pdf(x)
            }

            fn cdf(&self, x: f64) -> f64 {
                self.as_gamma().cdf(x)
            }

            fn sf(&self, x: f64) -> f64 {
                self.as_gamma().sf(x)
            }

            fn ln_cdf(&self, x: f64) -> f64 {
                self.as_gamma().ln_cdf(x)
            }

            fn ln_sf(&self, x: f64) -> f64 {
                self.as_gamma().ln_sf(x)
            }

            fn quantile(&self, p: f64) -> f64 {
                self.as_gamma().quantile(p)
            }

            fn upper_quantile(&self, q: f64) -> f64 {
                self.as_gamma().upper_quantile(q)
            }

            fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
                self.as_gamma().sample(rng)
            }
        }
    };
}

/// The chi-squared distribution: gamma with shape `df / 2` and scale two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquared {
    df: f64,
}

impl ChiSquared {
    /// `None` unless the degrees of freedom are positive and finite.
    pub fn new(df: f64) -> Option<Self> {
        (df > 0.0 && df.is_finite()).then_some(Self { df })
    }

    fn as_gamma(&self) -> Gamma {
        Gamma { shape: 0.5 * self.df, scale: 2.0 }
    }
}

continuous_as_gamma!(ChiSquared);

/// The exponential distribution with density `rate exp(-rate x)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    rate: f64,
}

impl Exponential {
    /// `None` unless the rate is positive and finite.
    pub fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate.is_finite()).then_some(Self { rate })
    }
}

impl Moments for Exponential {
    fn mean(&self) -> Option<f64> {
        Some(self.rate.recip())
    }

    fn variance(&self) -> Option<f64> {
        Some(self.rate.recip() / self.rate)
    }
}

impl Continuous for Exponential {
    fn pdf(&self, x: f64) -> f64 {
        if x < 0.0 { 0.0 } else { self.rate * (-self.rate * x).exp() }
    }

    fn ln_pdf(&self, x: f64) -> f64 {
        if x < 0.0 { f64::NEG_INFINITY } else { self.rate.ln() - self.rate * x }
    }

    fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { -(-self.rate * x).exp_m1() }
    }

    fn sf(&self, x: f64) -> f64 {
        if x <= 0.0 { 1.0 } else { (-self.rate * x).exp() }
    }

    fn ln_cdf(&self, x: f64) -> f64 {
        let lower = self.cdf(x);
        if lower < 0.5 { lower.ln() } else { (-self.sf(x)).ln_1p() }
    }

    fn ln_sf(&self, x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { -self.rate * x }
    }

    fn quantile(&self, p: f64) -> f64 {
        if (0.0..=1.0).contains(&p) { -(-p).ln_1p() / self.rate } else { f64::NAN }
    }

    fn upper_quantile(&self, q: f64) -> f64 {
        if (0.0..=1.0).contains(&q) { (-q.ln() / self.rate).max(0.0) } else { f64::NAN }
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        standard_exponential(rng) / self.rate
    }
}
