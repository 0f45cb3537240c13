//! Tables of many columns with known structure.

use super::{LAW, ROWS, claim, classes, even, normal};
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
    #[param(default = 1000, range = 1..)]
    pub rows: usize,
    /// Number of columns.
    #[param(default = 10, range = 1..)]
    pub columns: usize,
    /// Share of labels that are turned over.
    #[param(default = 0.0, range = 0.0..=1.0)]
    pub flip: f64,
}

impl NestedSpheres {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.rows, self.columns, run)?;
        let mut rng = run.rng(ROWS);
        let law = ChiSquared::new(self.columns as f64);
        let border = law.map(|law| law.quantile(0.5)).ok_or_else(|| Error::internal("chi"))?;
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for _ in 0..self.rows {
            let row: Vec<f64> =
                (0..self.columns).map(|_| sample::standard_normal(&mut rng)).collect();
            let outside = row.iter().map(|x| x * x).sum::<f64>() > border;
            codes.push(i64::from(outside != (sample::uniform(&mut rng) < self.flip)));
            points.push(row);
        }
        classes(points, codes, &mut rng)
    }
}

/// Normal clusters at corners of a cube, with redundant and useless columns and turned labels.
///
/// The first `informative` columns hold the clusters, each sheared by a random matrix; the next
/// `redundant` are random combinations of them; the rest is noise.
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Classification {
    /// Number of rows.
    #[param(default = 100, range = 1..)]
    pub rows: usize,
    /// Number of columns.
    #[param(default = 20, range = 1..)]
    pub columns: usize,
    /// Number of columns that hold the clusters.
    #[param(default = 2, range = 1..)]
    pub informative: usize,
    /// Number of columns made from those.
    #[param(default = 2)]
    pub redundant: usize,
    /// Number of classes.
    #[param(default = 2, range = 2..)]
    pub classes: usize,
    /// Clusters in each class.
    #[param(default = 2, range = 1..)]
    pub clusters: usize,
    /// Half the side of the cube.
    #[param(default = 1.0, range = 0.0..)]
    pub separation: f64,
    /// Share of labels that are drawn anew.
    #[param(default = 0.01, range = 0.0..=1.0)]
    pub flip: f64,
}

impl Classification {
    fn constraints(&self) -> Result<()> {
        if self.informative.saturating_add(self.redundant) > self.columns {
            let got = format!("{} + {}", self.informative, self.redundant);
            let expected = format!("at most {} columns", self.columns);
            return Err(Error::parameter("informative + redundant", expected, got));
        }
        let clusters = self.classes.saturating_mul(self.clusters);
        match self.informative >= 63 || clusters <= 1 << self.informative {
            true => Ok(()),
            false => {
                let expected = format!("at most 2^{} corners of the cube", self.informative);
                Err(Error::parameter("classes * clusters", expected, clusters))
            }
        }
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        let clusters = self.classes.saturating_mul(self.clusters);
        claim(self.rows.saturating_add(clusters), self.columns.max(self.informative), run)?;
        let (mut law, mut rng) = (run.rng(LAW), run.rng(ROWS));
        let k = self.informative;
        let corners = self.corners(&mut law, clusters);
        let mut matrix = |rows, columns| {
            Matrix::from_fn(rows, columns, |_, _| 2.0 * sample::uniform(&mut law) - 1.0)
        };
        let mix = matrix(k, self.redundant);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (c, count) in even(self.rows, clusters).into_iter().enumerate() {
            let shear = matrix(k, k);
            for _ in 0..count {
                let z: Vec<f64> = (0..k).map(|_| sample::standard_normal(&mut rng)).collect();
                let mut row: Vec<f64> = (0..k)
                    .map(|j| corners[c][j] + (0..k).map(|i| z[i] * shear[(i, j)]).sum::<f64>())
                    .collect();
                for j in 0..self.redundant {
                    row.push((0..k).map(|i| row[i] * mix[(i, j)]).sum());
                }
                row.resize_with(self.columns, || sample::standard_normal(&mut rng));
                points.push(row);
                let flipped = sample::uniform(&mut rng) < self.flip;
                let anew = sample::below(&mut rng, self.classes as u64) as i64;
                codes.push(if flipped { anew } else { (c % self.classes) as i64 });
            }
        }
        classes(points, codes, &mut rng)
    }

    /// Different corners of the cube, in random order. Of more than 2^20 corners, draws are all but
    /// certain to differ, and equal ones are drawn again.
    fn corners(&self, law: &mut learnt_core::context::Rng, count: usize) -> Vec<Vec<f64>> {
        let sides = |code: u64| -> Vec<f64> {
            let side = |j: usize| if code >> (j % 64) & 1 == 1 { 1.0 } else { -1.0 };
            (0..self.informative).map(|j| self.separation * side(j)).collect()
        };
        if self.informative <= 20 {
            let codes = sample::choose(law, 1 << self.informative, count);
            return codes.into_iter().map(|code| sides(code as u64)).collect();
        }
        let mut taken = std::collections::BTreeSet::new();
        let mut corners = Vec::with_capacity(count);
        while corners.len() < count {
            let code = sample::below(law, 1 << self.informative.min(63));
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
    #[param(default = 100, range = 1..)]
    pub rows: usize,
    /// Number of columns.
    #[param(default = 10, range = 1..)]
    pub columns: usize,
    /// Number of columns that count, with coefficients drawn evenly from 0 to 100.
    #[param(default = 5)]
    pub informative: usize,
    /// The target where all columns are 0.
    #[param(default = 0.0)]
    pub bias: f64,
    /// Standard deviation of the noise.
    #[param(default = 10.0, range = 0.0..)]
    pub noise: f64,
}

impl Regression {
    fn constraints(&self) -> Result<()> {
        match self.informative <= self.columns {
            true => Ok(()),
            false => {
                let expected = format!("at most {} columns", self.columns);
                Err(Error::parameter("informative", expected, self.informative))
            }
        }
    }

    /// The coefficients that belong to this seed.
    pub fn coefficients(&self, run: &Context) -> Vec<f64> {
        let mut law = run.rng(LAW);
        let draw = |j| if j < self.informative { 100.0 * sample::uniform(&mut law) } else { 0.0 };
        (0..self.columns).map(draw).collect()
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.rows, self.columns, run)?;
        let coefficients = self.coefficients(run);
        let mut rng = run.rng(ROWS);
        let x = Matrix::from_fn(self.rows, self.columns, |_, _| sample::standard_normal(&mut rng));
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
    #[param(default = 200, range = 1..)]
    pub rows: usize,
    /// Number of columns.
    #[param(default = 10, range = 5..)]
    pub columns: usize,
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
        claim(self.rows, self.columns, run)?;
        let mut rng = run.rng(ROWS);
        let x = Matrix::from_fn(self.rows, self.columns, |_, _| sample::uniform(&mut rng));
        Ok(super::noisy_target(x, Self::target, self.noise, &mut rng).data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_nested_spheres_are_outside() {
        let law = NestedSpheres { rows: 10_000, ..Default::default() };
        let data = law.rows(&Context::default()).unwrap();
        let view = data.view();
        let ones: u32 = view.class_target().unwrap().0.iter().sum();
        assert!((f64::from(ones) / 10_000.0 - 0.5).abs() < 0.02);
        let border = ChiSquared::new(10.0).unwrap().quantile(0.5);
        assert!((border - 9.341_818).abs() < 1e-6);
    }

    #[test]
    fn redundant_columns_are_combinations_and_counts_are_checked() {
        let law = Classification { columns: 4, classes: 3, flip: 0.0, ..Default::default() };
        assert!(law.check().is_err());
        let law = Classification { classes: 2, ..law };
        let data = law.rows(&Context::default()).unwrap();
        let gram = learnt_core::linalg::gram(data.x.values().view());
        assert!(learnt_core::linalg::svd(gram.view()).unwrap().rank() == 2);
    }

    #[test]
    fn a_linear_target_without_noise_is_linear() {
        let law = Regression { noise: 0.0, bias: 3.0, ..Default::default() };
        let run = Context::default();
        let data = law.rows(&run).unwrap();
        let b = law.coefficients(&run);
        let view = data.view();
        let y = view.real_target().unwrap().at(7, 0);
        let wanted = 3.0 + data.x.values().row(7).iter().zip(&b).map(|(x, b)| x * b).sum::<f64>();
        assert!((y - wanted).abs() < 1e-9);
        assert_eq!(b.iter().filter(|b| **b != 0.0).count(), 5);
    }
}
