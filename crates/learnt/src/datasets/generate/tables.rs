//! Tables of many columns with known structure.

use super::{DISTRIBUTION, ROWS, claim, classes, even, normal};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous};
use learnt_core::stats::sample;
use std::f64::consts::PI;

/// Standard normal columns; class 1 lies outside the sphere that holds half of them.
///
/// The class is Σ x² > median of χ² with as many degrees of freedom as columns.
#[derive(Params, Clone, Debug)]
pub struct NestedSpheres {
    /// Number of rows.
    #[param(positional, default = 1000, range = 1..)]
    pub n_samples: usize,
    /// Number of columns.
    #[param(positional, default = 10, range = 1..)]
    pub n_features: usize,
    /// Share of labels that are turned over.
    #[param(default = 0.0, range = 0.0..=1.0)]
    pub flip: f64,
}

impl NestedSpheres {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, self.n_features, run)?;
        let mut rng = run.rng(ROWS);
        let distribution = ChiSquared::new(self.n_features as f64);
        let border = distribution
            .map(|distribution| distribution.quantile(0.5))
            .ok_or_else(|| Error::internal("chi"))?;
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for _ in 0..self.n_samples {
            let row: Vec<f64> =
                (0..self.n_features).map(|_| sample::standard_normal(&mut rng)).collect();
            let outside = row.iter().map(|x| x * x).sum::<f64>() > border;
            codes.push(i64::from(outside != (sample::uniform(&mut rng) < self.flip)));
            points.push(row);
        }
        classes(points, codes, &mut rng)
    }
}

/// Normal clusters at corners of a cube, with redundant and useless columns and turned labels.
///
/// The first `n_informative` columns hold the clusters, each sheared by a random matrix; the next
/// `n_redundant` are random combinations of them; the rest is noise.
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Classification {
    /// Number of rows.
    #[param(positional, default = 100, range = 1..)]
    pub n_samples: usize,
    /// Number of columns.
    #[param(positional, default = 20, range = 1..)]
    pub n_features: usize,
    /// Number of columns that hold the clusters.
    #[param(default = 2, range = 1..)]
    pub n_informative: usize,
    /// Number of columns made from those.
    #[param(default = 2)]
    pub n_redundant: usize,
    /// Number of classes.
    #[param(default = 2, range = 2..)]
    pub n_classes: usize,
    /// Clusters in each class.
    #[param(default = 2, range = 1..)]
    pub n_clusters_per_class: usize,
    /// Half the side of the cube.
    #[param(default = 1.0, range = 0.0..)]
    pub class_sep: f64,
    /// Share of labels that are drawn anew.
    #[param(default = 0.01, range = 0.0..=1.0)]
    pub flip_y: f64,
}

impl Classification {
    fn constraints(&self) -> Result<()> {
        if self.n_informative.saturating_add(self.n_redundant) > self.n_features {
            let got = format!("{} + {}", self.n_informative, self.n_redundant);
            let expected = format!("at most {} columns", self.n_features);
            return Err(Error::parameter("n_informative + n_redundant", expected, got));
        }
        let clusters = self.n_classes.saturating_mul(self.n_clusters_per_class);
        match self.n_informative >= 63 || clusters <= 1 << self.n_informative {
            true => Ok(()),
            false => {
                let expected = format!("at most 2^{} corners of the cube", self.n_informative);
                Err(Error::parameter("n_classes * n_clusters_per_class", expected, clusters))
            }
        }
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        let clusters = self.n_classes.saturating_mul(self.n_clusters_per_class);
        claim(
            self.n_samples.saturating_add(clusters),
            self.n_features.max(self.n_informative),
            run,
        )?;
        let (mut distribution, mut rng) = (run.rng(DISTRIBUTION), run.rng(ROWS));
        let k = self.n_informative;
        let corners = self.corners(&mut distribution, clusters);
        let mut matrix = |rows, columns| {
            Matrix::from_fn(rows, columns, |_, _| 2.0 * sample::uniform(&mut distribution) - 1.0)
        };
        let mix = matrix(k, self.n_redundant);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (c, count) in even(self.n_samples, clusters).into_iter().enumerate() {
            let shear = matrix(k, k);
            for _ in 0..count {
                let z: Vec<f64> = (0..k).map(|_| sample::standard_normal(&mut rng)).collect();
                let mut row: Vec<f64> = (0..k)
                    .map(|j| corners[c][j] + (0..k).map(|i| z[i] * shear[(i, j)]).sum::<f64>())
                    .collect();
                for j in 0..self.n_redundant {
                    row.push((0..k).map(|i| row[i] * mix[(i, j)]).sum());
                }
                row.resize_with(self.n_features, || sample::standard_normal(&mut rng));
                points.push(row);
                let flipped = sample::uniform(&mut rng) < self.flip_y;
                let anew = sample::below(&mut rng, self.n_classes as u64) as i64;
                codes.push(if flipped { anew } else { (c % self.n_classes) as i64 });
            }
        }
        classes(points, codes, &mut rng)
    }

    /// Different corners of the cube, in random order. Of more than 2^20 corners, draws are all but
    /// certain to differ, and equal ones are drawn again.
    fn corners(&self, distribution: &mut learnt_core::context::Rng, count: usize) -> Vec<Vec<f64>> {
        let sides = |code: u64| -> Vec<f64> {
            let side = |j: usize| if code >> (j % 64) & 1 == 1 { 1.0 } else { -1.0 };
            (0..self.n_informative).map(|j| self.class_sep * side(j)).collect()
        };
        if self.n_informative <= 20 {
            let codes = sample::choose(distribution, 1 << self.n_informative, count);
            return codes.into_iter().map(|code| sides(code as u64)).collect();
        }
        let mut taken = std::collections::BTreeSet::new();
        let mut corners = Vec::with_capacity(count);
        while corners.len() < count {
            let code = sample::below(distribution, 1 << self.n_informative.min(63));
            if taken.insert(code) {
                corners.push(sides(code));
            }
        }
        corners
    }
}

/// A linear target of standard normal columns, of which the first few count.
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Regression {
    /// Number of rows.
    #[param(positional, default = 100, range = 1..)]
    pub n_samples: usize,
    /// Number of columns.
    #[param(positional, default = 10, range = 1..)]
    pub n_features: usize,
    /// Number of columns that count, with coefficients drawn evenly from 0 to 100.
    #[param(default = 5)]
    pub n_informative: usize,
    /// The target where all columns are 0.
    #[param(default = 0.0)]
    pub bias: f64,
    /// Standard deviation of the noise.
    #[param(default = 10.0, range = 0.0..)]
    pub noise: f64,
}

impl Regression {
    fn constraints(&self) -> Result<()> {
        match self.n_informative <= self.n_features {
            true => Ok(()),
            false => {
                let expected = format!("at most {} columns", self.n_features);
                Err(Error::parameter("n_informative", expected, self.n_informative))
            }
        }
    }

    /// The coefficients that belong to this seed.
    pub fn coefficients(&self, run: &Context) -> Vec<f64> {
        let mut distribution = run.rng(DISTRIBUTION);
        let draw = |j| {
            if j < self.n_informative { 100.0 * sample::uniform(&mut distribution) } else { 0.0 }
        };
        (0..self.n_features).map(draw).collect()
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, self.n_features, run)?;
        let coefficients = self.coefficients(run);
        let mut rng = run.rng(ROWS);
        let x = Matrix::from_fn(self.n_samples, self.n_features, |_, _| {
            sample::standard_normal(&mut rng)
        });
        let linear = |row: &[f64]| {
            self.bias + row.iter().zip(&coefficients).map(|(x, b)| x * b).sum::<f64>()
        };
        let y = x.rows().map(|row| normal(&mut rng, linear(row), self.noise)).collect();
        Ok(OwnedDataset::regression(x, y))
    }
}

/// Friedman's first function: y = 10 sin(π x₁x₂) + 20 (x₃ - 1/2)² + 10 x₄ + 5 x₅ + noise, columns
/// uniform on [0, 1], all after the fifth useless.
#[derive(Params, Clone, Debug)]
pub struct Friedman1 {
    /// Number of rows.
    #[param(positional, default = 200, range = 1..)]
    pub n_samples: usize,
    /// Number of columns.
    #[param(positional, default = 10, range = 5..)]
    pub n_features: usize,
    /// Standard deviation of the noise.
    #[param(default = 1.0, range = 0.0..)]
    pub noise: f64,
}

impl Friedman1 {
    /// The target without noise; `row` has at least five values.
    pub fn target(row: &[f64]) -> f64 {
        let bend = 20.0 * (row[2] - 0.5) * (row[2] - 0.5);
        10.0 * (PI * row[0] * row[1]).sin() + bend + 10.0 * row[3] + 5.0 * row[4]
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, self.n_features, run)?;
        let mut rng = run.rng(ROWS);
        let x = Matrix::from_fn(self.n_samples, self.n_features, |_, _| sample::uniform(&mut rng));
        Ok(super::noisy_target(x, Self::target, self.noise, &mut rng).data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_nested_spheres_are_outside() {
        let distribution = NestedSpheres { n_samples: 10_000, ..Default::default() };
        let data = distribution.rows(&Context::default()).unwrap();
        let view = data.view();
        let ones: u32 = view.class_target().unwrap().0.iter().sum();
        assert!((f64::from(ones) / 10_000.0 - 0.5).abs() < 0.02);
        let border = ChiSquared::new(10.0).unwrap().quantile(0.5);
        assert!((border - 9.341_818).abs() < 1e-6);
    }

    #[test]
    fn redundant_columns_are_combinations_and_counts_are_checked() {
        let distribution =
            Classification { n_features: 4, n_classes: 3, flip_y: 0.0, ..Default::default() };
        assert!(distribution.check().is_err());
        let distribution = Classification { n_classes: 2, ..distribution };
        let data = distribution.rows(&Context::default()).unwrap();
        let gram = learnt_core::linalg::gram(data.x.values().view());
        assert!(learnt_core::linalg::svd(gram.view()).unwrap().rank() == 2);
    }

    #[test]
    fn a_linear_target_without_noise_is_linear() {
        let distribution = Regression { noise: 0.0, bias: 3.0, ..Default::default() };
        let run = Context::default();
        let data = distribution.rows(&run).unwrap();
        let b = distribution.coefficients(&run);
        let view = data.view();
        let y = view.real_target().unwrap().at(7, 0);
        let wanted = 3.0 + data.x.values().row(7).iter().zip(&b).map(|(x, b)| x * b).sum::<f64>();
        assert!((y - wanted).abs() < 1e-9);
        assert_eq!(b.iter().filter(|b| **b != 0.0).count(), 5);
    }
}
