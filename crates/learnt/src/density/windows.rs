//! Windows of kernel density estimates: K(u) of the length u of a difference in bandwidths, with
//! ∫ K over d columns, so that K / ∫ K is a density.
//!
//! V_d is the volume of the unit ball, π^(d/2) / Γ(d/2 + 1).

use learnt_core::linalg::vector_math;
use learnt_core::prelude::*;
use learnt_core::stats::sample::{standard_gamma, standard_normal, uniform};
use learnt_core::stats::special::ln_gamma;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// The window of a kernel density estimate.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// exp(-u²/2).
    Gaussian,
    /// 1 inside the unit ball.
    Tophat,
    /// 1 - u² inside the unit ball.
    Epanechnikov,
    /// exp(-u).
    Exponential,
    /// 1 - u inside the unit ball.
    Linear,
    /// cos(πu/2) inside the unit ball.
    Cosine,
    /// 1 where no column differs by more than half a bandwidth.
    Hypercube,
}

/// ln of the volume of the unit ball in d dimensions.
pub fn ln_ball_volume(d: usize) -> f64 {
    let half = d as f64 / 2.0;
    half * PI.ln() - ln_gamma(half + 1.0)
}

impl Window {
    /// ln ∫ K over d columns.
    pub fn ln_mass(self, d: usize) -> f64 {
        let width = d as f64;
        let ball = ln_ball_volume(d);
        match self {
            Window::Gaussian => width / 2.0 * TAU.ln(),
            Window::Tophat => ball,
            Window::Epanechnikov => ball + (2.0 / (width + 2.0)).ln(),
            Window::Exponential => ball + ln_gamma(width + 1.0),
            Window::Linear => ball - (width + 1.0).ln(),
            Window::Cosine => ball + (width * cosine_moment(d - 1)).ln(),
            Window::Hypercube => 0.0,
        }
    }

    /// Whether it reaches everywhere; the others end at length 1.
    pub fn is_endless(self) -> bool {
        matches!(self, Window::Gaussian | Window::Exponential)
    }

    /// ln K, from the squared length in bandwidths, of a window that is endless.
    #[inline(always)]
    pub(super) fn ln_endless(self, square: f64) -> f64 {
        match self {
            Window::Gaussian => -0.5 * square,
            _ => -square.sqrt(),
        }
    }

    /// K from the squared length in bandwidths; for a hypercube, the largest difference squared.
    /// `shift` is added to the logarithm of windows that are endless.
    #[inline(always)]
    pub(super) fn value(self, square: f64, shift: f64) -> f64 {
        match self {
            Window::Gaussian => vector_math::exp(shift - 0.5 * square),
            Window::Exponential => vector_math::exp(shift - square.sqrt()),
            Window::Tophat => f64::from(u8::from(square <= 1.0)),
            Window::Hypercube => f64::from(u8::from(square <= 0.25)),
            Window::Epanechnikov => (1.0 - square).max(0.0),
            Window::Linear => (1.0 - square.sqrt()).max(0.0),
            Window::Cosine if square < 1.0 => (FRAC_PI_2 * square.sqrt()).cos(),
            Window::Cosine => 0.0,
        }
    }

    /// [`Window::value`] of each square times `scale`, in place: one loop a window.
    #[inline(always)]
    pub(super) fn values(self, squares: &mut [f64], scale: f64, shift: f64) {
        match self {
            Window::Gaussian => {
                squares.iter_mut().for_each(|s| *s = Window::Gaussian.value(*s * scale, shift));
            }
            Window::Exponential => {
                squares.iter_mut().for_each(|s| *s = Window::Exponential.value(*s * scale, shift));
            }
            Window::Epanechnikov => {
                squares.iter_mut().for_each(|s| *s = Window::Epanechnikov.value(*s * scale, 0.0));
            }
            other => squares.iter_mut().for_each(|s| *s = other.value(*s * scale, 0.0)),
        }
    }

    /// A difference drawn from the window, in bandwidths.
    pub(super) fn draw(self, out: &mut [f64], rng: &mut learnt_core::context::Rng) {
        match self {
            Window::Gaussian => out.iter_mut().for_each(|x| *x = standard_normal(rng)),
            Window::Hypercube => out.iter_mut().for_each(|x| *x = uniform(rng) - 0.5),
            Window::Exponential => {
                let length = standard_gamma(rng, out.len() as f64);
                direction(out, length, rng);
            }
            _ => loop {
                let length = uniform(rng).powf(1.0 / out.len() as f64);
                if uniform(rng) <= self.value(length * length, 0.0) {
                    direction(out, length, rng);
                    break;
                }
            },
        }
    }
}

/// A vector of this length in a random direction.
pub(super) fn direction(out: &mut [f64], length: f64, rng: &mut learnt_core::context::Rng) {
    loop {
        out.iter_mut().for_each(|x| *x = standard_normal(rng));
        let norm = learnt_core::linalg::norm(out);
        if norm > 0.0 {
            out.iter_mut().for_each(|x| *x *= length / norm);
            return;
        }
    }
}

/// ∫ r^m cos(πr/2) over [0, 1], by Simpson's rule.
fn cosine_moment(m: usize) -> f64 {
    const STEPS: usize = 4096;
    let f = |i: usize| {
        let r = i as f64 / STEPS as f64;
        r.powi(m as i32) * (FRAC_PI_2 * r).cos()
    };
    let inner: f64 = (1..STEPS).map(|i| if i % 2 == 1 { 4.0 * f(i) } else { 2.0 * f(i) }).sum();
    (f(0) + inner + f(STEPS)) / (3 * STEPS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Window; 7] = [
        Window::Gaussian,
        Window::Tophat,
        Window::Epanechnikov,
        Window::Exponential,
        Window::Linear,
        Window::Cosine,
        Window::Hypercube,
    ];

    #[test]
    fn masses_are_the_integrals_in_one_and_two_columns() {
        for window in ALL {
            let step = 0.01;
            let grid: Vec<f64> = (-4000..4000).map(|i| (f64::from(i) + 0.5) * step).collect();
            let line: f64 = grid.iter().map(|x| window.value(x * x, 0.0) * step).sum();
            assert!((line.ln() - window.ln_mass(1)).abs() < 1e-3, "{window:?} {line}");
            let step = 0.031;
            let grid: Vec<f64> = (-400..400).map(|i| (f64::from(i) + 0.5) * step).collect();
            let mut plane = 0.0;
            for x in &grid {
                for y in &grid {
                    let square = match window {
                        Window::Hypercube => (x * x).max(y * y),
                        _ => x * x + y * y,
                    };
                    plane += window.value(square, 0.0) * step * step;
                }
            }
            assert!((plane.ln() - window.ln_mass(2)).abs() < 0.03, "{window:?} {plane}");
        }
    }

    #[test]
    fn drawn_differences_have_the_spread_of_their_windows() {
        let mut rng = Context::default().rng(3);
        for window in ALL {
            let mut draw = [0.0];
            let mut squares = 0.0;
            for _ in 0..40_000 {
                window.draw(&mut draw, &mut rng);
                squares += draw[0] * draw[0];
            }
            let step = 0.005;
            let grid = (-8000..8000).map(|i| (f64::from(i) + 0.5) * step);
            let (mut mass, mut second) = (0.0, 0.0);
            for x in grid {
                mass += window.value(x * x, 0.0);
                second += x * x * window.value(x * x, 0.0);
            }
            let (got, expected) = (squares / 40_000.0, second / mass);
            assert!((got / expected - 1.0).abs() < 0.06, "{window:?}: {got} {expected}");
        }
    }
}
