//! Studies of overfitting on polynomials whose errors out of sample are exact.
//!
//! Each run draws a target Σ a_q L_q(x) of a given degree ([`Legendre`]), N points x ~ U(-1, 1) and
//! y = f(x) + σε. Fits are least squares on Legendre polynomials, with a penalty λ Σ c_q w_q² where there
//! is one: (ZᵀZ + λC)⁻¹Zᵀy, by QR of Z over √(λC). The error is E (g - f)² over x, a sum over coefficients.
//!
//! Reference: Abu-Mostafa, Magdon-Ismail and Lin (2012), sections 4.1 to 4.3.

use crate::datasets::generate::{Legendre, LegendreTarget, legendre_values};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::PivotedQr;
use learnt_core::prelude::*;
use learnt_core::stats::{sample, summary};

/// Overfitting of a high degree against a low one, over numbers of points and levels of noise.
#[derive(Params, Clone, Debug)]
pub struct OverfittingStudy {
    /// Numbers of points.
    #[param(default = vec![20, 40, 80, 120], range = 1..)]
    pub points: Vec<u64>,
    /// Variances of the noise.
    #[param(default = vec![0.0, 0.5, 1.0, 2.0], range = 0.0..)]
    pub noise: Vec<f64>,
    /// Degree of the target.
    #[param(default = 20, range = 0..=100)]
    pub target_degree: usize,
    /// The low degree.
    #[param(default = 2, range = 0..=30)]
    pub low: usize,
    /// The high degree.
    #[param(default = 10, range = 0..=30)]
    pub high: usize,
    /// Data sets for each pair of a number and a level.
    #[param(default = 200, range = 1..)]
    pub data_sets: usize,
}

/// Medians over the data sets, for each number of points and level of noise.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct OverfittingTable {
    /// Number of points.
    pub points: Vec<u64>,
    /// Variance of the noise.
    pub noise: Vec<f64>,
    /// Median of E_out(high) - E_out(low).
    pub overfit: Vec<f64>,
    /// Median error out of sample of the low degree.
    pub error_low: Vec<f64>,
    /// Median error out of sample of the high degree.
    pub error_high: Vec<f64>,
    /// Mean part of the target that no polynomial of the low degree reaches: deterministic noise.
    pub deterministic_noise: Vec<f64>,
}

impl Function for OverfittingStudy {
    type Inputs<'a> = ();
    type Output = OverfittingTable;
    const ABOUT: &'static Callable =
        &Callable::new("theory.overfitting_study", FunctionKind::Study)
            .randomness()
            .threads()
            .reference("Abu-Mostafa, Magdon-Ismail and Lin (2012)");

    fn call(&self, _inputs: (), run: &Context) -> Result<OverfittingTable> {
        let mut table = OverfittingTable {
            points: Vec::new(),
            noise: Vec::new(),
            overfit: Vec::new(),
            error_low: Vec::new(),
            error_high: Vec::new(),
            deterministic_noise: Vec::new(),
        };
        for &points in &self.points {
            for &noise in &self.noise {
                let errors = run.try_par_map(self.data_sets, |set| {
                    let drawn = Drawn::new(self.target_degree, points, noise, set, run);
                    let errors = [self.low, self.high].map(|degree| drawn.error(degree, &[]));
                    Ok((errors[0], errors[1], drawn.target.beyond(self.low)))
                })?;
                let of =
                    |f: fn(&(f64, f64, f64)) -> f64| errors.iter().map(f).collect::<Vec<f64>>();
                let median = |values: Vec<f64>| summary::median(&values).unwrap_or(f64::NAN);
                table.points.push(points);
                table.noise.push(noise);
                table.overfit.push(median(of(|e| e.1 - e.0)));
                table.error_low.push(median(of(|e| e.0)));
                table.error_high.push(median(of(|e| e.1)));
                table
                    .deterministic_noise
                    .push(of(|e| e.2).iter().sum::<f64>() / errors.len() as f64);
            }
        }
        Ok(table)
    }

    fn chart(&self, found: &OverfittingTable) -> Option<Chart> {
        let mut panel = Panel::new("points", "median E_out(high) - E_out(low)");
        for &noise in &self.noise {
            let here = |i: &usize| found.noise[*i] == noise;
            let rows: Vec<usize> = (0..found.noise.len()).filter(here).collect();
            let x = rows.iter().map(|&i| found.points[i] as f64).collect();
            let y = rows.iter().map(|&i| found.overfit[i]).collect();
            panel = panel.mark(Mark::line(format!("noise {noise}"), x, y));
        }
        let about =
            "Overfitting of the high degree against the number of points, for each level of noise.";
        Some(Chart::new("Overfitting", about).panel(panel))
    }
}

/// Error out of sample against the penalty, for a uniform penalty and one on high orders.
#[derive(Params, Clone, Debug)]
pub struct RegularizationStudy {
    /// Penalties λ.
    #[param(default = vec![0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0], range = 0.0..)]
    pub penalties: Vec<f64>,
    /// Number of points.
    #[param(default = 30, range = 1..)]
    pub points: u64,
    /// Variance of the noise.
    #[param(default = 0.5, range = 0.0..)]
    pub noise: f64,
    /// Degree of the target.
    #[param(default = 15, range = 0..=100)]
    pub target_degree: usize,
    /// Degree of the fit.
    #[param(default = 15, range = 0..=30)]
    pub degree: usize,
    /// Number of data sets.
    #[param(default = 200, range = 1..)]
    pub data_sets: usize,
}

/// Mean errors for each penalty.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct RegularizationTable {
    /// Penalty λ.
    pub penalty: Vec<f64>,
    /// Error with the penalty λ Σ w_q².
    pub uniform: Vec<f64>,
    /// Error with the penalty λ Σ q w_q², which prefers low orders.
    pub low_order: Vec<f64>,
}

impl Function for RegularizationStudy {
    type Inputs<'a> = ();
    type Output = RegularizationTable;
    const ABOUT: &'static Callable =
        &Callable::new("theory.regularization_study", FunctionKind::Study)
            .randomness()
            .threads()
            .reference("Abu-Mostafa, Magdon-Ismail and Lin (2012)");

    fn call(&self, _inputs: (), run: &Context) -> Result<RegularizationTable> {
        let ones = vec![1.0; self.degree + 1];
        let orders: Vec<f64> = (0..=self.degree).map(|q| q as f64).collect();
        let errors = run.try_par_map(self.data_sets, |set| {
            let drawn = Drawn::new(self.target_degree, self.points, self.noise, set, run);
            let errors = |shape: &[f64]| {
                let one = |&penalty: &f64| {
                    let weights: Vec<f64> = shape.iter().map(|c| penalty * c).collect();
                    drawn.error(self.degree, &weights)
                };
                self.penalties.iter().map(one).collect::<Vec<f64>>()
            };
            Ok((errors(&ones), errors(&orders)))
        })?;
        let mean = |of: &dyn Fn(usize) -> f64| {
            (0..self.data_sets).map(of).sum::<f64>() / self.data_sets as f64
        };
        let count = self.penalties.len();
        Ok(RegularizationTable {
            penalty: self.penalties.clone(),
            uniform: (0..count).map(|k| mean(&|set| errors[set].0[k])).collect(),
            low_order: (0..count).map(|k| mean(&|set| errors[set].1[k])).collect(),
        })
    }

    fn chart(&self, found: &RegularizationTable) -> Option<Chart> {
        let line = |name: &str, y: &[f64]| Mark::line(name, found.penalty.clone(), y.to_vec());
        let panel = Panel::new("penalty", "error out of sample")
            .mark(line("uniform", &found.uniform))
            .mark(line("low order", &found.low_order));
        let about = "Mean error out of sample against the penalty, uniform and on high orders.";
        Some(Chart::new("Regularisation", about).panel(panel))
    }
}

/// Choosing between two degrees by a validation set, with and without fitting again to all points.
#[derive(Params, Clone, Debug)]
pub struct ValidationStudy {
    /// Sizes of the validation set.
    #[param(default = vec![3, 7, 15, 25], range = 1..)]
    pub validation: Vec<u64>,
    /// Number of points.
    #[param(default = 35, range = 2..)]
    pub points: u64,
    /// Variance of the noise.
    #[param(default = 0.4, range = 0.0..)]
    pub noise: f64,
    /// Degree of the target.
    #[param(default = 10, range = 0..=100)]
    pub target_degree: usize,
    /// Degrees to choose from, the simplest first.
    #[param(default = vec![2, 5], range = 0..=30)]
    pub degrees: Vec<u64>,
    /// Number of data sets.
    #[param(default = 300, range = 1..)]
    pub data_sets: usize,
}

/// Mean errors for each size of the validation set.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ValidationTable {
    /// Points in the validation set.
    pub validation: Vec<u64>,
    /// Error of the chosen fit without the validation set.
    pub kept: Vec<f64>,
    /// Error of the chosen degree fitted again to all points.
    pub retrained: Vec<f64>,
}

impl Function for ValidationStudy {
    type Inputs<'a> = ();
    type Output = ValidationTable;
    const ABOUT: &'static Callable = &Callable::new("theory.validation_study", FunctionKind::Study)
        .randomness()
        .threads()
        .reference("Abu-Mostafa, Magdon-Ismail and Lin (2012)");

    fn call(&self, _inputs: (), run: &Context) -> Result<ValidationTable> {
        if self.degrees.is_empty() {
            return Err(Error::parameter("degrees", "at least one degree", "none"));
        }
        if let Some(&k) = self.validation.iter().find(|&&k| k >= self.points) {
            return Err(Error::new(
                Code::Usage,
                format!("{k} of {} points to validate", self.points),
            )
            .hint("leave points for training"));
        }
        let (mut kept, mut retrained) = (Vec::new(), Vec::new());
        for &k in &self.validation {
            let errors = run.try_par_map(self.data_sets, |set| {
                let drawn = Drawn::new(self.target_degree, self.points, self.noise, set, run);
                Ok(self.errors_of(&drawn, k as usize))
            })?;
            kept.push(errors.iter().map(|e| e.0).sum::<f64>() / errors.len() as f64);
            retrained.push(errors.iter().map(|e| e.1).sum::<f64>() / errors.len() as f64);
        }
        Ok(ValidationTable { validation: self.validation.clone(), kept, retrained })
    }
}

impl ValidationStudy {
    /// Errors out of sample of the degree that does best on the last k points: as it was fitted, and
    /// fitted again to all.
    fn errors_of(&self, drawn: &Drawn, k: usize) -> (f64, f64) {
        let train = drawn.x.len() - k;
        let fits = self.degrees.iter().map(|&d| {
            let fit = least_squares(&drawn.x[..train], &drawn.y[..train], d as usize, &[]);
            let miss = |i: usize| {
                let values = legendre_values(drawn.x[i], d as usize);
                (values.iter().zip(&fit).map(|(l, w)| l * w).sum::<f64>() - drawn.y[i]).powi(2)
            };
            ((train..drawn.x.len()).map(miss).sum::<f64>(), d, fit)
        });
        let best = fits.reduce(|best, next| if next.0 < best.0 { next } else { best });
        let (_, degree, fit) = best.unwrap_or_default();
        (drawn.target.squared_distance(&fit), drawn.error(degree as usize, &[]))
    }
}

/// One data set and its target.
struct Drawn {
    target: LegendreTarget,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Drawn {
    fn new(degree: usize, points: u64, noise: f64, set: usize, run: &Context) -> Drawn {
        let run = run.child(set as u64);
        let target = Legendre { degree, ..Default::default() }.target(&run);
        let mut rng = run.rng(7);
        let x: Vec<f64> = (0..points).map(|_| 2.0 * sample::uniform(&mut rng) - 1.0).collect();
        let deviation = noise.sqrt();
        let y = x.iter().map(|&x| target.value(x) + deviation * sample::standard_normal(&mut rng));
        let y = y.collect();
        Drawn { target, x, y }
    }

    /// Error out of sample of a fit of this degree.
    fn error(&self, degree: usize, penalties: &[f64]) -> f64 {
        self.target.squared_distance(&least_squares(&self.x, &self.y, degree, penalties))
    }
}

/// Coefficients in the Legendre basis; `penalties` are those of the single coefficients.
fn least_squares(x: &[f64], y: &[f64], degree: usize, penalties: &[f64]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = x.iter().map(|&x| legendre_values(x, degree)).collect();
    let design = Matrix::from_fn(x.len() + penalties.len(), degree + 1, |i, q| {
        match i.checked_sub(x.len()) {
            None => rows[i][q],
            Some(k) if k == q => penalties[k].sqrt(),
            Some(_) => 0.0,
        }
    });
    let mut y = y.to_vec();
    y.resize(x.len() + penalties.len(), 0.0);
    PivotedQr::new(design.view()).solve(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overfitting_falls_with_points_and_rises_with_noise() {
        let study = OverfittingStudy { points: vec![40], data_sets: 2000, ..Default::default() };
        let found = study.compute(()).unwrap();
        for (found, expected) in found.overfit.iter().zip([-0.04, 0.19, 0.46, 0.99]) {
            assert!((found - expected).abs() < 0.06 + 0.1 * expected.abs(), "{found} {expected}");
        }
        let more =
            OverfittingStudy { points: vec![20, 80], noise: vec![0.5], ..Default::default() };
        let more = more.compute(()).unwrap().overfit;
        assert!(more[0] > 10.0 && more[1] < 0.2, "{more:?}");
    }

    #[test]
    fn too_little_regularisation_costs_more_than_too_much() {
        let found = RegularizationStudy {
            penalties: vec![0.01, 0.1, 1.0, 5.0],
            data_sets: 400,
            ..Default::default()
        };
        let found = found.compute(()).unwrap().uniform;
        let ranges = [(1.0, 1.5), (0.34, 0.46), (0.215, 0.26), (0.27, 0.33)];
        for (found, (low, high)) in found.iter().zip(ranges) {
            assert!(*found >= low * 0.9 && *found <= high * 1.1, "{found} {low} {high}");
        }
    }

    #[test]
    fn fitting_again_to_all_points_is_better_at_every_size() {
        let study = ValidationStudy { data_sets: 10_000, ..Default::default() };
        let found = study.compute(()).unwrap();
        let better = found.kept.iter().zip(&found.retrained).all(|(kept, again)| again < kept);
        assert!(better, "{found:?}");
        let gaps: Vec<f64> =
            found.kept.iter().zip(&found.retrained).map(|(kept, again)| kept - again).collect();
        assert!(gaps.windows(2).all(|pair| pair[1] > pair[0]), "{gaps:?}");
    }
}
