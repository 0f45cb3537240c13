//! Uniform asymptotic expansion shared by the incomplete gamma and beta functions.
//!
//! Method: N. M. Temme, "The asymptotic expansion of the incomplete gamma functions" (1979), with
//! the backward recursion of A. Gil, J. Segura and N. M. Temme, "Efficient and accurate algorithms
//! for the computation and inversion of the incomplete gamma function ratios" (2012), which needs
//! the Taylor coefficients of a single function. Both tails are written as
//! `prefactor * factor`, where the prefactor carries the exponential, so neither tail cancels.
//!
//! Let `u(eta)` be the relative distance of the argument from the peak of the integrand, with
//! `u u' = eta (c^2 + linear u + quadratic u^2)` and `u = c eta + ...`, and
//! `f(eta) = c eta / u(eta)`. The upper tail is `prefactor * (G sqrt(pi a / 2) erfcx(z) + T(eta))`
//! with `z = eta sqrt(a / 2)`, `G` the Stirling correction of the normalising constant and `T`
//! the solution of `T' / a = eta T + G - f`.

use super::special::erfcx;

/// Number of Taylor coefficients; at `|eta| <= 1` the last is below `(2 sqrt(pi))^-29`.
pub(super) const TERMS: usize = 30;

/// Smallest parameter and largest `|eta|` for which [`TERMS`] coefficients reach full precision.
pub(super) const PARAMETER_START: f64 = 16.0;
/// See [`PARAMETER_START`].
pub(super) const ETA_LIMIT: f64 = 1.0;

/// Taylor coefficients of `f(eta) = c eta / u(eta)`, where `u = c eta + ...` solves
/// `u u' = eta (c^2 + linear u + quadratic u^2)`.
pub(super) const fn coefficients(c: f64, linear: f64, quadratic: f64) -> [f64; TERMS] {
    let series = distance_series(c, linear, quadratic);
    let mut reciprocal = [0.0; TERMS];
    reciprocal[0] = 1.0;
    let mut order = 1;
    while order < TERMS {
        let (mut sum, mut index) = (0.0, 1);
        while index <= order {
            sum += series[index + 1] * reciprocal[order - index];
            index += 1;
        }
        reciprocal[order] = -sum / c;
        order += 1;
    }
    reciprocal
}

/// The coefficients of `u(eta)` by comparing powers of `eta` in its differential equation:
/// `(k + 1) c u_k = linear u_(k-1) + quadratic [u^2]_(k-1) - (k + 1) / 2 * sum u_i u_(k+1-i)`.
const fn distance_series(c: f64, linear: f64, quadratic: f64) -> [f64; TERMS + 1] {
    let mut series = [0.0; TERMS + 1];
    series[1] = c;
    let mut order = 2;
    while order <= TERMS {
        let (mut inner, mut index) = (0.0, 2);
        while index < order {
            inner += series[index] * series[order + 1 - index];
            index += 1;
        }
        let (mut square, mut index) = (0.0, 1);
        while index + 1 < order {
            square += series[index] * series[order - 1 - index];
            index += 1;
        }
        let next = (order + 1) as f64;
        let known = linear * series[order - 1] + quadratic * square - 0.5 * next * inner;
        series[order] = known / (next * c);
        order += 1;
    }
    series
}

/// The factor of the tail on the side of the sign of `eta`: the upper tail for `eta >= 0`, the
/// lower tail for `eta < 0`; `correction` is `G` of the module description.
pub(super) fn tail_factor(f: &[f64; TERMS], parameter: f64, eta: f64, correction: f64) -> f64 {
    let (mut later, mut latest) = (0.0, 0.0);
    let mut sum = 0.0;
    for order in (1..TERMS).rev() {
        let current = f[order] + (order + 1) as f64 * later / parameter;
        sum = sum * eta + current;
        (later, latest) = (latest, current);
    }
    let scaled = erfcx(eta.abs() * (0.5 * parameter).sqrt());
    let leading = correction * (0.5 * std::f64::consts::PI * parameter).sqrt() * scaled;
    if eta < 0.0 { leading - sum } else { leading + sum }
}
