//! Climbing a kernel density with normal windows to its tops.
//!
//! f(x) = Σ exp(-‖x - x_i‖²/2h²) / (n h^d (2π)^(d/2)). `mean_shift` steps to the mean of the rows under
//! the window, a step h²/f along the gradient. `fixed` adds δ times the gradient, by default with the δ
//! that cannot overshoot anywhere, h² over the largest density that n rows can have. `backtracking`
//! halves the step until the density rises or the slope has not turned, and doubles it after a success.
//! A climb ends when the mean shift is at most `tol` bandwidths, or after `max_iter` steps.
//!
//! K. Fukunaga and L. Hostetler (1975), IEEE Trans. Inf. Theory 21; A. Hinneburg and D. Keim (1998), KDD.

use super::mean_shift::normal_mean;
use learnt_core::prelude::*;
use std::f64::consts::TAU;

/// How a climb steps.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ascent {
    /// To the mean of the rows under the window.
    MeanShift,
    /// By a fixed multiple of the gradient.
    Fixed,
    /// Along the gradient, halved until the density rises.
    Backtracking,
}

/// A density and how it is climbed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Climber<'a> {
    pub(super) x: &'a Matrix,
    pub(super) h: f64,
    pub(super) ascent: Ascent,
    /// δ of `fixed`.
    pub(super) step: Option<f64>,
    pub(super) max_iter: usize,
    pub(super) tol: f64,
}

/// Where a climb ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Top {
    pub(super) place: Vec<f64>,
    pub(super) density: f64,
    pub(super) steps: usize,
    pub(super) converged: bool,
}

impl Climber<'_> {
    /// ln (n h^d (2π)^(d/2)).
    fn ln_scale(&self) -> f64 {
        let d = self.x.ncols() as f64;
        (self.x.nrows() as f64).ln() + d * self.h.ln() + d / 2.0 * TAU.ln()
    }

    /// The density at a place.
    pub(super) fn density(&self, place: &[f64]) -> f64 {
        let (_, mass) = normal_mean(self.x, place, self.h);
        (mass.ln() - self.ln_scale()).exp()
    }

    /// From a place to the top above it.
    pub(super) fn climb(&self, from: &[f64]) -> Top {
        let mut place = from.to_vec();
        let (mut mean, mut mass) = normal_mean(self.x, &place, self.h);
        // Steps are multiples of the mean shift: h²/f times the gradient is one of it.
        let mut length = 1.0;
        let mut steps = 0;
        let mut converged = false;
        while steps < self.max_iter {
            let shift: Vec<f64> = mean.iter().zip(&place).map(|(m, p)| m - p).collect();
            if mass == 0.0 || learnt_core::linalg::norm(&shift) <= self.tol * self.h {
                converged = true;
                break;
            }
            let multiple = match (self.ascent, self.step) {
                (Ascent::MeanShift, _) => 1.0,
                // δ f / h², with f = mass / scale.
                (Ascent::Fixed, Some(step)) => {
                    step * (mass.ln() - self.ln_scale() - 2.0 * self.h.ln()).exp()
                }
                (Ascent::Fixed, None) => mass / self.x.nrows() as f64,
                (Ascent::Backtracking, _) => length,
            };
            let moved = |by: f64| -> Vec<f64> {
                place.iter().zip(&shift).map(|(p, s)| p + by * s).collect()
            };
            let mut next = moved(multiple);
            let (mut next_mean, mut next_mass) = normal_mean(self.x, &next, self.h);
            if self.ascent == Ascent::Backtracking {
                let mut tried = multiple;
                while tried > 1e-12 && !(next_mass >= mass || onward(&next_mean, &next, &shift)) {
                    tried /= 2.0;
                    next = moved(tried);
                    (next_mean, next_mass) = normal_mean(self.x, &next, self.h);
                }
                // Twice a step that turned would turn again.
                let turned = !onward(&next_mean, &next, &shift);
                length = if turned { tried / 2.0 } else { (2.0 * tried).min(64.0) };
            }
            (place, mean, mass) = (next, next_mean, next_mass);
            steps += 1;
        }
        let density = (mass.ln() - self.ln_scale()).exp();
        Top { place, density, steps, converged }
    }
}

/// Whether the slope at a place still points along a step.
fn onward(mean: &[f64], place: &[f64], step: &[f64]) -> bool {
    mean.iter().zip(place).zip(step).map(|((m, p), s)| (m - p) * s).sum::<f64>() >= 0.0
}

/// Tops that are apart, the densest first, and the top of each climb. Tops nearer than `near` to one
/// taken are that one.
pub(super) fn merged(all: &[Top], near: f64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| all[b].density.total_cmp(&all[a].density).then(a.cmp(&b)));
    let mut taken: Vec<usize> = Vec::new();
    let mut home = vec![0; all.len()];
    for i in order {
        let to = |top: usize| {
            learnt_core::linalg::squared_distance(&all[top].place, &all[i].place).sqrt()
        };
        let known = (0..taken.len()).find(|&k| to(taken[k]) <= near);
        home[i] = known.unwrap_or_else(|| {
            taken.push(i);
            taken.len() - 1
        });
    }
    (taken, home)
}

/// Rows of a density, and places to climb from.
#[derive(Inputs, Clone, Copy)]
pub struct RowsToClimb<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The places; the rows themselves by default.
    #[input(apart)]
    pub at: Option<MatRef<'a>>,
}

/// Density hill climbing: from each place up a kernel density to the top above it.
#[derive(Params, Clone, Debug)]
pub struct HillClimb {
    /// Width of the normal window.
    #[param(positional, default = 1.0, above = 0.0)]
    pub bandwidth: f64,
    /// How a climb steps.
    #[param(default = Ascent::Backtracking)]
    pub ascent: Ascent,
    /// The multiple δ of the gradient that `fixed` adds; small enough for any rows by default.
    #[param(above = 0.0)]
    pub step: Option<f64>,
    /// Maximum number of steps of a climb.
    #[param(default = 10_000, range = 1..)]
    pub max_iter: usize,
    /// Mean shift at which a climb ends, in bandwidths.
    #[param(default = 1e-9, range = 0.0..)]
    pub tol: f64,
}

/// Where climbs end.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Climbs {
    /// The top above each place (the attractor of a row), one a line.
    pub tops: Matrix,
    /// The density there.
    pub density: Vec<f64>,
    /// Steps of each climb.
    pub steps: Vec<u64>,
    /// Whether each climb ended at a top.
    pub converged: Vec<bool>,
}

impl Function for HillClimb {
    type Inputs<'a> = RowsToClimb<'a>;
    type Output = Climbs;
    const ABOUT: &'static Callable = &Callable::new("cluster.hill_climb", FunctionKind::Analysis)
        .threads()
        .reference("Fukunaga and Hostetler (1975); Hinneburg and Keim (1998)");

    fn call(&self, given: RowsToClimb, run: &Context) -> Result<Climbs> {
        let at = given.at.unwrap_or(given.x).to_matrix();
        let x = given.x.to_matrix();
        if at.ncols() != x.ncols() {
            let expected = format!("{} columns as X has", x.ncols());
            return Err(Error::shape("at", expected, format!("{} columns", at.ncols())));
        }
        let climber = Climber {
            x: &x,
            h: self.bandwidth,
            ascent: self.ascent,
            step: self.step,
            max_iter: self.max_iter,
            tol: self.tol,
        };
        let tops = run.try_par_map(at.nrows(), |i| {
            run.checkpoint()?;
            Ok(climber.climb(at.row(i)))
        })?;
        let places: Vec<&[f64]> = tops.iter().map(|top| top.place.as_slice()).collect();
        if !places.iter().all(|place| place.iter().all(|value| value.is_finite())) {
            return Err(Error::numeric("a climb left the numbers").hint("take a smaller step"));
        }
        let unfinished = tops.iter().filter(|top| !top.converged).count();
        if unfinished > 0 {
            let message = format!(
                "{unfinished} climbs did not end in {} steps; raise max_iter",
                self.max_iter
            );
            run.warn(Code::NotConverged, message);
        }
        Ok(Climbs {
            tops: Matrix::from_rows(&places)?,
            density: tops.iter().map(|top| top.density).collect(),
            steps: tops.iter().map(|top| top.steps as u64).collect(),
            converged: tops.iter().map(|top| top.converged).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ascents_reach_the_tops_of_mean_shift() {
        let x = Matrix::column_vector(vec![1.0, 2.0, 4.0, 4.5, 7.0]);
        let expected = [1.650_719_128_85, 4.145_805_778_8, 6.751_271_961_07];
        let densities = [0.146_060_805_473, 0.163_788_222_981, 0.085_501_305_597_2];
        for ascent in [Ascent::MeanShift, Ascent::Fixed, Ascent::Backtracking] {
            let learner = HillClimb { ascent, ..Default::default() };
            let found = learner.compute(RowsToClimb { x: x.view(), at: None }).unwrap();
            assert!(found.converged.iter().all(|done| *done), "{ascent:?}");
            for (i, top) in [0, 0, 1, 1, 2].into_iter().enumerate() {
                let got = (found.tops[(i, 0)], found.density[i]);
                assert!((got.0 - expected[top]).abs() < 1e-6, "{ascent:?} {got:?}");
                assert!((got.1 - densities[top]).abs() < 1e-9, "{ascent:?} {got:?}");
            }
        }
    }

    #[test]
    fn a_given_step_is_that_multiple_of_the_gradient() {
        let x = Matrix::from_rows(&[[0.0, 0.0], [2.0, 1.0], [1.0, 3.0]]).unwrap();
        let at = Matrix::from_rows(&[[0.5, 0.5]]).unwrap();
        let (h, delta) = (0.8, 0.37);
        let learner = HillClimb {
            bandwidth: h,
            ascent: Ascent::Fixed,
            step: Some(delta),
            max_iter: 1,
            ..Default::default()
        };
        let found = learner.compute(RowsToClimb { x: x.view(), at: Some(at.view()) }).unwrap();
        let density = |p: [f64; 2]| {
            let window = |row: &[f64]| {
                let square = (row[0] - p[0]).powi(2) + (row[1] - p[1]).powi(2);
                (-square / (2.0 * h * h)).exp()
            };
            x.rows().map(window).sum::<f64>() / (3.0 * h * h * TAU)
        };
        let slope = |j: usize| {
            let (mut up, mut down) = ([0.5, 0.5], [0.5, 0.5]);
            up[j] += 1e-6;
            down[j] -= 1e-6;
            (density(up) - density(down)) / 2e-6
        };
        for j in 0..2 {
            assert!((found.tops[(0, j)] - 0.5 - delta * slope(j)).abs() < 1e-9);
        }
        assert!(!found.converged[0]);
    }
}
