//! Intervals for a new observation of a generalised linear model.
//!
//! The predictive distribution at a row is that of the family over what is not known of the linear predictor:
//! P(Y <= y) = ∫ F(y; h(η + s z), φ) φ(z) dz with η and its standard error s, the dispersion taken as it is
//! estimated. The ends of an interval are its quantiles; of counts the least counts with so much probability. For
//! normal errors and the identity link they are those of Student's t, η ± t √(φ + s²), which is exact. F, as a
//! function of z, falls from 1 to 0 around h⁻¹(y); outside of that the integral is Φ, inside it is taken by
//! 64 nodes of Gauss and Legendre. The quantile is bracketed and found by the Illinois rule to 10⁻¹¹ of the bracket.
//! Observations of 0 and 1 have no interval, and Tweedie distributions of other powers no formula.
//!
//! Lawless and Fredette (2005), Biometrika 92(3), 529-542.

use super::asked::Likely;
use super::family::{Family, Law, Link, ln_normal_below, normal_below, normal_density};
use super::root::root;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Discrete, Gamma, Normal, Poisson};

/// Standard errors beyond which nothing is left of a normal distribution.
const FAR: f64 = 8.3;
/// Standard deviations of an observation in which F falls from 1 to 0.
const FALL: f64 = 20.0;
/// Nodes of the integral.
const NODES: usize = 64;

impl Likely<'_> {
    /// Mean, lower and upper end for a new observation at each row.
    pub(super) fn observation_answer(
        &self,
        x: &Frame,
        level: f64,
        run: &Context,
    ) -> Result<Answer> {
        self.observable()?;
        let (eta, variances) = (self.predictor(x)?, self.variances(x));
        let exact = self.law.family == Family::Power(0.0) && self.law.link == Link::Identity;
        let half = self.estimates.scale.half_width(level)?;
        let rule = legendre(NODES);
        let ends = run.try_par_map(eta.len(), |i| {
            let error = variances[i].max(0.0).sqrt();
            if exact {
                let spread = half * (self.dispersion + variances[i].max(0.0)).sqrt();
                return Ok((eta[i] - spread, eta[i] + spread));
            }
            let at = Predictive {
                law: self.law,
                dispersion: self.dispersion,
                eta: eta[i],
                error,
                rule: &rule,
            };
            let end = |share: f64| {
                at.quantile(share).ok_or_else(|| {
                    let message = format!("row {} has no distribution with this link", i + 1);
                    Error::numeric(message).row(i as u64 + 1)
                })
            };
            run.checkpoint()?;
            Ok((end(0.5 * (1.0 - level))?, end(0.5 * (1.0 + level))?))
        })?;
        let (lower, upper) = ends.into_iter().unzip();
        let table = Columns::titled("")
            .counts("row", (1..=eta.len() as i64).collect())
            .reals("fit", eta.iter().map(|&eta| self.law.link.mean(eta)).collect())
            .reals("lower", lower)
            .reals("upper", upper);
        let mut answer = Answer {
            tables: vec![table],
            ..Answer::new(format!("Intervals of a new observation, level {level}"))
        };
        if !exact {
            answer.notes.push(
                "quantiles of the family's distribution over the uncertainty of the linear predictor"
                    .to_string(),
            );
        }
        Ok(answer)
    }

    fn observable(&self) -> Result<()> {
        match self.law.family {
            Family::Binomial => {
                Err(Error::unsupported("an observation of two classes has no interval")
                    .hint("ask for kind=mean: the interval of the probability"))
            }
            Family::Power(0.0 | 1.0 | 2.0 | 3.0) => Ok(()),
            Family::Power(_) => Err(Error::unsupported(
                "the Tweedie distribution has no distribution function here",
            )
            .hint("ask for kind=mean")),
        }
    }
}

/// The distribution of a new observation at a row.
struct Predictive<'a> {
    law: Law,
    dispersion: f64,
    eta: f64,
    error: f64,
    rule: &'a [(f64, f64)],
}

impl Predictive<'_> {
    fn is_count(&self) -> bool {
        self.law.family == Family::Power(1.0)
    }

    /// F(y) of the family at a linear predictor; an impossible mean is beyond every y.
    fn below(&self, y: f64, eta: f64) -> f64 {
        let (mean, phi) = (self.law.link.mean(eta), self.dispersion);
        if !self.law.family.can_have_mean(mean) {
            return 0.0;
        }
        let found = match self.law.family {
            Family::Power(1.0) => Poisson::new(mean).map(|one| one.cdf(y as u64)),
            Family::Power(2.0) => Gamma::new(phi.recip(), mean * phi).map(|one| one.cdf(y)),
            Family::Power(3.0) => Some(inverse_gaussian_below(y, mean, phi.recip())),
            _ => Normal::new(mean, phi.sqrt()).map(|one| one.cdf(y)),
        };
        found.unwrap_or(0.0)
    }

    /// P(Y <= y).
    fn probability(&self, y: f64) -> f64 {
        if self.error == 0.0 {
            return self.below(y, self.eta);
        }
        let (law, s) = (self.law, self.error);
        let near = if self.is_count() { y + 0.5 } else { y };
        let eta = law.link.of(near);
        let slope = law.link.slope(eta, near).abs();
        let spread = (self.dispersion * law.family.variance(near)).sqrt() / slope;
        let (centre, fall) = ((eta - self.eta) / s, FALL * spread / s);
        let (mut low, mut high) = (centre - fall, centre + fall);
        if !(low.is_finite() && high.is_finite()) {
            (low, high) = (-FAR, FAR);
        }
        let (low, high) = (low.clamp(-FAR, FAR), high.clamp(-FAR, FAR));
        let falls = matches!(law.link, Link::Inverse | Link::InverseSquared);
        let outside = if falls { normal_below(-high) } else { normal_below(low) };
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let inside = self.rule.iter().map(|(node, weight)| {
            let z = middle + half * node;
            weight * self.below(y, self.eta + s * z) * normal_density(z)
        });
        outside + half * inside.sum::<f64>()
    }

    /// The least y with at least this probability below it.
    fn quantile(&self, share: f64) -> Option<f64> {
        let mean = self.law.link.mean(self.eta);
        if !self.law.family.can_have_mean(mean) {
            return None;
        }
        let slope = self.law.link.slope(self.eta, mean);
        let variance = self.dispersion * self.law.family.variance(mean);
        let spread = (variance + (slope * self.error).powi(2)).sqrt();
        match self.law.family {
            Family::Power(0.0) => {
                let low = self.bracket(share, mean, -spread)?;
                let high = self.bracket(share, mean, spread)?;
                self.solve(share, low, high, |y| y)
            }
            Family::Power(1.0) => self.count(share, self.bracket(share, mean, spread)?),
            _ => {
                let high = self.bracket(share, mean, spread)?;
                let mut low = mean.min(high);
                while self.probability(low) > share {
                    low *= 0.5;
                    if low < f64::MIN_POSITIVE {
                        return Some(0.0);
                    }
                }
                self.solve(share, low.ln(), high.ln(), f64::exp).map(f64::exp)
            }
        }
    }

    /// Where the probability of `y(t)` is this share, between two places on its sides.
    fn solve(&self, share: f64, low: f64, high: f64, y: impl Fn(f64) -> f64) -> Option<f64> {
        let off = |t: f64| self.probability(y(t)) - share;
        let ends = ((low, off(low)), (high, off(high)));
        root(ends.0, ends.1, (1e-11 * (high - low), 1e-15), |t| Ok(off(t))).ok()
    }

    /// A place on that side of the mean beyond the quantile.
    fn bracket(&self, share: f64, mean: f64, step: f64) -> Option<f64> {
        let beyond = |y: f64| match step > 0.0 {
            true => self.probability(y) >= share,
            false => self.probability(y) <= share,
        };
        let mut step = step;
        for _ in 0..1000 {
            let place = mean + step;
            if !place.is_finite() {
                return None;
            }
            if beyond(place) {
                return Some(place);
            }
            step *= 2.0;
        }
        None
    }

    /// The least count with at least this probability, not above `high`.
    fn count(&self, share: f64, high: f64) -> Option<f64> {
        let (mut low, mut high) = (0_u64, high.ceil() as u64);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.probability(middle as f64) >= share {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Some(low as f64)
    }
}

/// P(Y <= y) of an inverse Gaussian with this mean and shape.
fn inverse_gaussian_below(y: f64, mean: f64, shape: f64) -> f64 {
    let root = (shape / y).sqrt();
    let first = normal_below(root * (y / mean - 1.0));
    let second = 2.0 * shape / mean + ln_normal_below(-root * (y / mean + 1.0));
    (first + second.exp()).min(1.0)
}

/// Nodes and weights of Gauss and Legendre on (-1, 1), by Newton's method on the polynomial.
fn legendre(nodes: usize) -> Vec<(f64, f64)> {
    let n = nodes as f64;
    let node = |i: usize| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut before, mut here) = (0.0, 1.0);
            for k in 1..=nodes {
                let k = k as f64;
                (before, here) = (here, ((2.0 * k - 1.0) * x * here - (k - 1.0) * before) / k);
            }
            slope = n * (x * here - before) / (x * x - 1.0);
            let step = here / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..nodes).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(family: f64, link: Link) -> Law {
        Law { family: Family::Power(family), link }
    }

    fn at<'a>(
        law: Law,
        dispersion: f64,
        eta: f64,
        error: f64,
        rule: &'a [(f64, f64)],
    ) -> Predictive<'a> {
        Predictive { law, dispersion, eta, error, rule }
    }

    #[test]
    fn the_rule_is_exact_for_polynomials() {
        let rule = legendre(NODES);
        let integral = |power: i32| rule.iter().map(|(x, w)| w * x.powi(power)).sum::<f64>();
        assert!((integral(0) - 2.0).abs() < 1e-13);
        assert!((integral(10) - 2.0 / 11.0).abs() < 1e-13);
        assert!(integral(7).abs() < 1e-14);
    }

    #[test]
    fn a_normal_mixture_of_normals_is_normal() {
        let rule = legendre(NODES);
        for error in [1e-4, 0.1, 1.0, 7.0, 5000.0] {
            let found =
                at(law(0.0, Link::Identity), 4.0, 1.5, error, &rule).quantile(0.975).unwrap();
            let expected = 1.5 + 1.959963984540054 * (4.0 + error * error).sqrt();
            assert!((found / expected - 1.0).abs() < 1e-8, "{error}: {found} {expected}");
        }
    }

    /// Numbers of R: uniroot over integrate of pgamma, ppois and statmod's pinvgauss against dnorm.
    #[test]
    fn without_uncertainty_the_ends_are_quantiles_of_the_family() {
        let rule = legendre(NODES);
        let counts = at(law(1.0, Link::Log), 1.0, 3_f64.ln(), 0.0, &rule);
        assert_eq!((counts.quantile(0.025), counts.quantile(0.975)), (Some(0.0), Some(7.0)));
        // qgamma(c(.025, .975), shape = 4, scale = 0.5)
        let times = at(law(2.0, Link::Log), 0.25, 2_f64.ln(), 0.0, &rule);
        assert!((times.quantile(0.025).unwrap() - 0.5449327).abs() < 1e-6);
        assert!((times.quantile(0.975).unwrap() - 4.383638).abs() < 1e-5);
    }
}
