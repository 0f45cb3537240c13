//! A bias-variance study: polynomials fitted to many data sets from a known target.
//!
//! For K data sets of n points x ~ U(-1, 1), y = f(x) + σε, least squares gives g_k. At points of a grid
//! ḡ(x) = Σ g_k(x) / K, bias² = (ḡ - f)², variance = Σ (g_k - ḡ)² / K, averaged over the grid; the
//! expected squared error out of sample is their sum with σ². Fits use Legendre polynomials and pivoted
//! QR, so that coinciding points do no harm.
//!
//! Reference: Abu-Mostafa, Magdon-Ismail and Lin (2012), Learning from data, section 2.3.

use crate::datasets::generate::legendre_values;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::{PivotedQr, dot};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Bias-variance decomposition of polynomial regression, by simulation from a known target.
#[derive(Params, Clone, Debug)]
pub struct BiasVariance {
    /// The target.
    pub target: StudyTarget,
    /// Degrees of the polynomials that are compared.
    #[param(default = vec![0, 1], range = 0..=30)]
    pub degrees: Vec<u64>,
    /// Points of each data set.
    #[param(default = 2, range = 1..)]
    pub points: usize,
    /// Standard deviation of the noise.
    #[param(default = 0.0, range = 0.0..)]
    pub noise: f64,
    /// Number of data sets.
    #[param(default = 10_000, range = 2..)]
    pub data_sets: usize,
    /// Points at which fits are compared, evenly spread.
    #[param(default = 201, range = 2..)]
    pub grid: usize,
}

/// The target of the study.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StudyTarget {
    /// sin(πx).
    #[default]
    Sine,
    /// x².
    Square,
    /// 1 for x above 0, else -1.
    Step,
    /// exp(-8x²).
    Bump,
}

impl StudyTarget {
    fn at(self, x: f64) -> f64 {
        match self {
            StudyTarget::Sine => (std::f64::consts::PI * x).sin(),
            StudyTarget::Square => x * x,
            StudyTarget::Step => {
                if x > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            StudyTarget::Bump => (-8.0 * x * x).exp(),
        }
    }
}

/// The parts of the error for each degree.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Decomposition {
    /// Degree of the polynomial.
    pub degree: Vec<u64>,
    /// Squared distance of the mean fit from the target.
    pub bias_squared: Vec<f64>,
    /// Mean squared distance of fits from their mean.
    pub variance: Vec<f64>,
    /// Variance of the noise.
    pub noise: Vec<f64>,
    /// Expected squared error: the sum of the three.
    pub total: Vec<f64>,
    /// Points of the grid (first column), the target (second), and for each degree the mean fit and
    /// its standard deviation.
    pub curves: Matrix,
}

impl Function for BiasVariance {
    type Inputs<'a> = ();
    type Output = Decomposition;
    const ABOUT: &'static Callable =
        &Callable::new("theory.bias_variance", FunctionKind::Study).randomness().threads();

    fn call(&self, _inputs: (), run: &Context) -> Result<Decomposition> {
        let width = 2 + 2 * self.degrees.len();
        run.claim_table(self.grid, 2 + width, "the curves of the study")?;
        let x: Vec<f64> =
            (0..self.grid).map(|i| -1.0 + 2.0 * i as f64 / (self.grid - 1) as f64).collect();
        let target: Vec<f64> = x.iter().map(|&x| self.target.at(x)).collect();
        let mut curves = Matrix::zeros(self.grid, width);
        for (i, (&x, &f)) in x.iter().zip(&target).enumerate() {
            curves.row_mut(i)[..2].copy_from_slice(&[x, f]);
        }
        let (mut bias_squared, mut variance) = (Vec::new(), Vec::new());
        for (d, &degree) in self.degrees.iter().enumerate() {
            let (mean, spread) = self.fits(degree as usize, &x, run)?;
            let average =
                |f: &dyn Fn(usize) -> f64| (0..self.grid).map(f).sum::<f64>() / self.grid as f64;
            bias_squared.push(average(&|i| (mean[i] - target[i]).powi(2)));
            variance.push(average(&|i| spread[i]));
            for i in 0..self.grid {
                curves[(i, 2 + 2 * d)] = mean[i];
                curves[(i, 3 + 2 * d)] = spread[i].sqrt();
            }
        }
        let noise = self.noise * self.noise;
        Ok(Decomposition {
            degree: self.degrees.clone(),
            noise: vec![noise; self.degrees.len()],
            total: bias_squared.iter().zip(&variance).map(|(b, v)| b + v + noise).collect(),
            bias_squared,
            variance,
            curves,
        })
    }

    fn chart(&self, found: &Decomposition) -> Option<Chart> {
        let column = |j: usize| found.curves.view().column(j);
        let x = column(0);
        let mut chart = Chart::new(
            "Bias and variance",
            "The target, the mean fit and one standard deviation around it, for each degree.",
        );
        for (d, degree) in found.degree.iter().enumerate() {
            let (mean, sd) = (column(2 + 2 * d), column(3 + 2 * d));
            let low = mean.iter().zip(&sd).map(|(m, s)| m - s).collect();
            let high = mean.iter().zip(&sd).map(|(m, s)| m + s).collect();
            let title = format!(
                "degree {degree}: bias² {:.3}, variance {:.3}",
                found.bias_squared[d], found.variance[d]
            );
            chart = chart.panel(
                Panel::new("x", "y")
                    .title(title)
                    .mark(Mark::band("one standard deviation", x.clone(), low, high))
                    .mark(Mark::line("target", x.clone(), column(1)))
                    .mark(Mark::line("mean fit", x.clone(), mean)),
            );
        }
        Some(chart)
    }
}

impl BiasVariance {
    /// Mean and variance of the fits at each point of the grid.
    fn fits(&self, degree: usize, grid: &[f64], run: &Context) -> Result<(Vec<f64>, Vec<f64>)> {
        const SETS: usize = 256;
        let basis: Vec<Vec<f64>> = grid.iter().map(|&x| legendre_values(x, degree)).collect();
        let parts = run.try_par_map(self.data_sets.div_ceil(SETS), |k| {
            let sets = SETS.min(self.data_sets - k * SETS);
            let mut sums = vec![(0.0, 0.0); grid.len()];
            for set in 0..sets {
                let coefficients = self.fit(degree, (k * SETS + set) as u64, run);
                for (sum, basis) in sums.iter_mut().zip(&basis) {
                    let value = dot(basis, &coefficients);
                    *sum = (sum.0 + value, sum.1 + value * value);
                }
            }
            Ok(sums)
        })?;
        let count = self.data_sets as f64;
        let total = |i: usize, part: fn(&(f64, f64)) -> f64| {
            parts.iter().map(|sums| part(&sums[i])).sum::<f64>() / count
        };
        let mean: Vec<f64> = (0..grid.len()).map(|i| total(i, |sum| sum.0)).collect();
        let spread = (0..grid.len()).map(|i| (total(i, |sum| sum.1) - mean[i] * mean[i]).max(0.0));
        let spread = spread.collect();
        Ok((mean, spread))
    }

    /// Coefficients of Legendre polynomials fitted to one data set.
    fn fit(&self, degree: usize, set: u64, run: &Context) -> Vec<f64> {
        let mut rng = run.row_rng(degree as u64, set);
        let x: Vec<f64> = (0..self.points).map(|_| 2.0 * sample::uniform(&mut rng) - 1.0).collect();
        let noise = |rng: &mut _| match self.noise > 0.0 {
            true => self.noise * sample::standard_normal(rng),
            false => 0.0,
        };
        let y: Vec<f64> = x.iter().map(|&x| self.target.at(x) + noise(&mut rng)).collect();
        let rows: Vec<Vec<f64>> = x.iter().map(|&x| legendre_values(x, degree)).collect();
        let design = Matrix::from_fn(self.points, degree + 1, |i, q| rows[i][q]);
        PivotedQr::new(design.view()).solve(&y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_of_a_sine_prefer_the_constant() {
        let found = BiasVariance { data_sets: 40_000, ..Default::default() }.compute(()).unwrap();
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.03;
        assert!(close(found.bias_squared[0], 0.5) && close(found.variance[0], 0.25), "{found:?}");
        assert!(close(found.bias_squared[1], 0.206_717), "{:?}", found.bias_squared);
        assert!(close(found.variance[1], 1.676_282), "{:?}", found.variance);
    }

    #[test]
    fn the_right_degree_without_noise_has_neither_bias_nor_variance() {
        let study = BiasVariance {
            target: StudyTarget::Square,
            degrees: vec![2],
            points: 8,
            data_sets: 50,
            ..Default::default()
        };
        let found = study.compute(()).unwrap();
        assert!(found.bias_squared[0] < 1e-18 && found.variance[0] < 1e-15);
    }
}
