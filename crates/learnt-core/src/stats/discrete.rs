//! The binomial and Poisson distributions.
//!
//! Method: probabilities by C. Loader, "Fast and accurate computation of binomial probabilities"
//! (2000); distribution functions through the incomplete beta and gamma functions; quantiles by
//! bracketing and bisection on whole numbers from the normal approximation; draws by the exact
//! reductions of J. H. Ahrens and U. Dieter, "Computer methods for sampling from gamma, beta,
//! Poisson and binomial distributions" (1974).

use super::distribution::{Discrete, Moments};
use super::incomplete_beta::BetaPoint;
use super::incomplete_gamma::{Side, ln_prefactor, prefactor};
use super::normal::standard_normal_quantile;
use super::sample::{standard_gamma, uniform};
use super::special::{
    ln_regularised_gamma_lower, ln_regularised_gamma_upper, regularised_gamma_lower,
    regularised_gamma_upper,
};
use rand_core::Rng;

/// The number of successes in `n` independent trials of probability `p`:
/// `pmf(k) = n! / (k! (n-k)!) p^k (1-p)^(n-k)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binomial {
    n: u64,
    p: f64,
}

impl Binomial {
    /// `None` unless `0 <= p <= 1`.
    pub fn new(n: u64, p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self { n, p })
    }

    /// For `k < n` the point of the beta distribution with parameters `k + 1`, `n - k` at `p`,
    /// whose upper tail is the probability of at most `k`.
    fn point(&self, k: u64) -> BetaPoint {
        BetaPoint::new(k as f64 + 1.0, (self.n - k) as f64, self.p)
    }

    /// The value of `k` that is certain, when `p` or `n` leaves only one.
    fn certain(&self) -> Option<u64> {
        if self.p == 0.0 || self.n == 0 { Some(0) } else { (self.p == 1.0).then_some(self.n) }
    }
}

impl Moments for Binomial {
    fn mean(&self) -> Option<f64> {
        Some(self.n as f64 * self.p)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.n as f64 * self.p * (1.0 - self.p))
    }
}

impl Discrete for Binomial {
    /// For inner `k`: the beta prefactor with parameters `k`, `n - k`, times `n / (k (n - k))`.
    fn pmf(&self, k: u64) -> f64 {
        if let Some(value) = self.certain() {
            return f64::from(u8::from(k == value));
        }
        if k == 0 || k >= self.n {
            return self.ln_pmf(k).exp();
        }
        let (successes, failures) = (k as f64, (self.n - k) as f64);
        let point = BetaPoint::new(successes, failures, self.p);
        point.prefactor() * (self.n as f64 / successes / failures)
    }

    fn ln_pmf(&self, k: u64) -> f64 {
        if let Some(value) = self.certain() {
            return if k == value { 0.0 } else { f64::NEG_INFINITY };
        }
        let n = self.n as f64;
        if k > self.n {
            f64::NEG_INFINITY
        } else if k == 0 {
            n * (-self.p).ln_1p()
        } else if k == self.n {
            n * self.p.ln()
        } else {
            let (successes, failures) = (k as f64, (self.n - k) as f64);
            let point = BetaPoint::new(successes, failures, self.p);
            point.ln_prefactor() + (n / successes / failures).ln()
        }
    }

    fn cdf(&self, k: u64) -> f64 {
        match self.certain() {
            Some(value) => f64::from(u8::from(k >= value)),
            None if k >= self.n => 1.0,
            None => self.point(k).probability(Side::Upper),
        }
    }

    fn sf(&self, k: u64) -> f64 {
        match self.certain() {
            Some(value) => f64::from(u8::from(k < value)),
            None if k >= self.n => 0.0,
            None => self.point(k).probability(Side::Lower),
        }
    }

    fn ln_cdf(&self, k: u64) -> f64 {
        match self.certain() {
            None if k < self.n => self.point(k).ln_probability(Side::Upper),
            _ => self.cdf(k).ln(),
        }
    }

    fn ln_sf(&self, k: u64) -> f64 {
        match self.certain() {
            None if k < self.n => self.point(k).ln_probability(Side::Lower),
            _ => self.sf(k).ln(),
        }
    }

    fn quantile(&self, p: f64) -> Option<u64> {
        let guess = normal_guess(self, p)?;
        first_where(guess.min(self.n), self.n, |k| self.cdf(k) >= p)
    }

    fn upper_quantile(&self, q: f64) -> Option<u64> {
        let guess = normal_guess(self, 1.0 - q)?;
        first_where(guess.min(self.n), self.n, |k| self.sf(k) <= q)
    }

    /// While many trials remain, the middle order statistic of their uniforms (a beta draw) tells
    /// which half is decided at once; the last few are trials.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let (mut trials, mut p, mut successes) = (self.n, self.p, 0);
        while trials > 32 {
            let rank = trials / 2 + 1;
            let below = standard_gamma(rng, rank as f64);
            let above = standard_gamma(rng, (trials - rank + 1) as f64);
            let middle = below / (below + above);
            if middle <= p {
                successes += rank;
                trials -= rank;
                p = ((p - middle) / (1.0 - middle)).clamp(0.0, 1.0);
            } else {
                trials = rank - 1;
                p = (p / middle).clamp(0.0, 1.0);
            }
        }
        successes + (0..trials).filter(|_| uniform(rng) < p).count() as u64
    }
}

/// Counts of independent events at a constant rate: `pmf(k) = rate^k exp(-rate) / k!`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    rate: f64,
}

impl Poisson {
    /// `None` unless the rate is positive and finite.
    pub fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate.is_finite()).then_some(Self { rate })
    }
}

impl Moments for Poisson {
    fn mean(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.rate)
    }
}

impl Discrete for Poisson {
    fn pmf(&self, k: u64) -> f64 {
        prefactor(k as f64, self.rate)
    }

    fn ln_pmf(&self, k: u64) -> f64 {
        ln_prefactor(k as f64, self.rate)
    }

    fn cdf(&self, k: u64) -> f64 {
        regularised_gamma_upper(k as f64 + 1.0, self.rate)
    }

    fn sf(&self, k: u64) -> f64 {
        regularised_gamma_lower(k as f64 + 1.0, self.rate)
    }

    fn ln_cdf(&self, k: u64) -> f64 {
        ln_regularised_gamma_upper(k as f64 + 1.0, self.rate)
    }

    fn ln_sf(&self, k: u64) -> f64 {
        ln_regularised_gamma_lower(k as f64 + 1.0, self.rate)
    }

    fn quantile(&self, p: f64) -> Option<u64> {
        let guess = normal_guess(self, p)?;
        if p < 1.0 { first_where(guess, u64::MAX, |k| self.cdf(k) >= p) } else { None }
    }

    fn upper_quantile(&self, q: f64) -> Option<u64> {
        let guess = normal_guess(self, 1.0 - q)?;
        if q > 0.0 { first_where(guess, u64::MAX, |k| self.sf(k) <= q) } else { None }
    }

    /// While the rate is large, the time of the `m`-th event (a gamma draw), `m` about seven
    /// eighths of the rate, either lies within reach and the rest is Poisson, or beyond and the
    /// count is binomial; the last few events are counted by products of uniforms.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let (mut rate, mut events) = (self.rate, 0_u64);
        while rate > 16.0 {
            let step = (0.875 * rate).floor();
            let time = standard_gamma(rng, step);
            if time > rate {
                let count = Binomial { n: step as u64 - 1, p: rate / time };
                return events.saturating_add(count.sample(rng));
            }
            rate -= time;
            events = events.saturating_add(step as u64);
        }
        let limit = libm::exp(-rate);
        let mut product = uniform(rng);
        while product > limit {
            product *= uniform(rng);
            events = events.saturating_add(1);
        }
        events
    }
}

/// The normal approximation of a quantile; `None` for a probability outside [0, 1].
fn normal_guess(distribution: &impl Discrete, p: f64) -> Option<u64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let mean = distribution.mean()?;
    let sd = distribution.variance()?.sqrt();
    let score = standard_normal_quantile(p).clamp(-40.0, 40.0);
    Some((mean + score * sd).round().max(0.0) as u64)
}

/// The smallest number up to `last` for which a monotone condition holds, searched outwards from
/// `guess` in doubling steps and then by bisection.
fn first_where(guess: u64, last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (guess, guess);
    let mut step = 1_u64;
    if holds(guess) {
        while low > 0 && holds(low) {
            high = low;
            low = low.saturating_sub(step);
            step = step.saturating_mul(2);
        }
        if holds(low) {
            return Some(low);
        }
    } else {
        while !holds(high) {
            if high == last {
                return None;
            }
            low = high;
            high = high.saturating_add(step).min(last);
            step = step.saturating_mul(2);
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
