//! Confidence regions of all coefficients at once, and bands around the fit.
//!
//! {b: (b̂ - b)ᵀXᵀX(b̂ - b) <= σ² c} with c = k F(k, df) for k coefficients, the intercept with them,
//! or χ²(k) with many rows. All x with their intervals xᵀb̂ ± √(c xᵀVx), V the covariance of b̂, hold
//! together at the same level.
//!
//! Scheffé (1953), Biometrika 40(1/2), 87-104.

use super::evidence::absent;
use super::inference::{Sampling, check_level};
use super::linear_regression::LinearRegressionModel;
use learnt_core::linalg::{PivotedQr, dot, eigh};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous, FisherF};

/// An ellipsoid that holds the true coefficients with a given probability.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfidenceRegion {
    /// The estimate: the intercept, if there is one, then the coefficients.
    pub centre: Vec<f64>,
    /// Directions of the axes, one a column, longest first.
    pub directions: Matrix,
    /// Half the length of each axis.
    pub half_lengths: Vec<f64>,
    /// c σ².
    bound: f64,
    intercept: bool,
    weight: f64,
    mean: Vec<f64>,
    /// M with M Mᵀ the inverse of the centred products.
    root: Matrix,
}

impl ConfidenceRegion {
    /// Whether these coefficients, the intercept first if there is one, lie inside.
    pub fn contains(&self, b: &[f64]) -> Result<bool> {
        if b.len() != self.centre.len() {
            let expected = format!("{} numbers, the intercept first", self.centre.len());
            return Err(Error::shape("coefficients", expected, b.len()));
        }
        let away: Vec<f64> = b.iter().zip(&self.centre).map(|(b, centre)| b - centre).collect();
        let slopes = &away[usize::from(self.intercept)..];
        let along = PivotedQr::new(self.root.view()).solve(slopes);
        let level = if self.intercept { away[0] + dot(&self.mean, slopes) } else { 0.0 };
        Ok(dot(&along, &along) + self.weight * level * level <= self.bound)
    }
}

impl LinearRegressionModel {
    /// The region of one output's coefficients at this level.
    pub fn confidence_region(
        &self,
        output: usize,
        level: f64,
        sampling: Sampling,
    ) -> Result<ConfidenceRegion> {
        let evidence = &self.evidence;
        let factor = self.simultaneous(level, sampling)?;
        let noise = evidence.noise(output)?;
        let root = evidence.root()?;
        let d = root.nrows();
        if evidence.rank < d {
            return Err(absent("the data do not determine all coefficients"));
        }
        let spread = eigh(&self.covariance(output)?)?;
        let half = |value: &f64| (factor * value.max(0.0)).sqrt();
        let own = self.intercept[output];
        let centre = evidence.intercept.then_some(own).into_iter();
        Ok(ConfidenceRegion {
            centre: centre.chain(self.coef.row(output).iter().copied()).collect(),
            half_lengths: spread.values.iter().map(half).collect(),
            directions: spread.vectors,
            bound: factor * noise,
            intercept: evidence.intercept,
            weight: evidence.weight,
            mean: evidence.mean[..d].to_vec(),
            root: root.clone(),
        })
    }

    /// Fit, lower and upper end for each row of `x`: a band that holds the expected values of all
    /// rows together, however many, at this level.
    pub fn band(&self, x: &Frame, output: usize, level: f64, sampling: Sampling) -> Result<Matrix> {
        let factor = self.simultaneous(level, sampling)?;
        let noise = self.evidence.noise(output)?;
        let fit = self.predict(x)?;
        let leverage = self.unit_leverage(x)?;
        Ok(Matrix::from_fn(x.nrows(), 3, |i, j| {
            let width = (factor * noise * leverage[i]).sqrt();
            fit[(i, output)] + [0.0, -width, width][j]
        }))
    }

    /// c: the bound of the squared length, in variances, that all coefficients keep together.
    fn simultaneous(&self, level: f64, sampling: Sampling) -> Result<f64> {
        check_level(level)?;
        let df = self.evidence.freedom()?;
        let count = self.evidence.rank as f64 + f64::from(self.evidence.intercept);
        let tail = 1.0 - level;
        let quantile = match sampling {
            Sampling::Exact => FisherF::new(count, df).map(|f| count * f.upper_quantile(tail)),
            Sampling::LargeSample => ChiSquared::new(count).map(|chi| chi.upper_quantile(tail)),
        };
        quantile.ok_or_else(|| absent("there are no coefficients"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;
    use learnt_core::stats::sample::standard_normal;

    fn sample(seed: u64, n: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(seed);
        let x = Matrix::from_fn(n, 2, |_, j| standard_normal(&mut rng) + 3.0 * j as f64);
        let y =
            (0..n).map(|i| 1.0 + 2.0 * x[(i, 0)] - x[(i, 1)] + standard_normal(&mut rng)).collect();
        OwnedDataset::regression(x, y)
    }

    fn fit(data: &OwnedDataset) -> LinearRegressionModel {
        LinearRegression::default().fit(&data.view()).unwrap()
    }

    #[test]
    fn the_region_contains_the_estimate_and_ends_at_its_axes() {
        let model = fit(&sample(1, 30));
        for sampling in [Sampling::Exact, Sampling::LargeSample] {
            let region = model.confidence_region(0, 0.9, sampling).unwrap();
            assert!(region.contains(&region.centre).unwrap());
            for (k, half) in region.half_lengths.iter().enumerate() {
                let at = |share: f64| -> Vec<f64> {
                    let direction = region.directions.column(k);
                    region.centre.iter().zip(direction).map(|(c, v)| c + share * half * v).collect()
                };
                assert!(
                    region.contains(&at(0.999)).unwrap() && region.contains(&at(-0.999)).unwrap()
                );
                assert!(!region.contains(&at(1.001)).unwrap());
            }
            assert!(region.contains(&[0.0]).is_err());
        }
    }

    #[test]
    fn regions_and_bands_hold_the_truth_as_often_as_they_say() {
        let (runs, level) = (1500, 0.9);
        let x = Matrix::from_fn(9, 2, |i, j| (i as f64 - 4.0) * (1.0 - 2.0 * j as f64));
        let wide = Table::unnamed(x);
        let mut inside = [0, 0, 0];
        for seed in 0..runs {
            let model = fit(&sample(seed + 10, 12));
            let truth = [1.0, 2.0, -1.0];
            for (count, sampling) in inside.iter_mut().zip([Sampling::Exact, Sampling::LargeSample])
            {
                let region = model.confidence_region(0, level, sampling).unwrap();
                *count += usize::from(region.contains(&truth).unwrap());
            }
            let band = model.band(&wide.frame(), 0, level, Sampling::Exact).unwrap();
            let holds = |i: usize| {
                let row = wide.values().row(i);
                let mean = 1.0 + 2.0 * row[0] - row[1];
                band[(i, 1)] <= mean && mean <= band[(i, 2)]
            };
            inside[2] += usize::from((0..9).all(holds));
        }
        // Three standard deviations of the share are .023.
        let share = inside.map(|count| count as f64 / runs as f64);
        assert!((share[0] - level).abs() < 0.023, "{share:?}");
        // With 9 degrees of freedom the large-sample region is too small, and the band never is.
        assert!(share[1] < share[0] && share[2] >= share[0], "{share:?}");
    }

    #[test]
    fn a_simultaneous_band_is_wider_than_single_intervals() {
        let data = sample(2, 30);
        let model = fit(&data);
        let kind = crate::linear::IntervalKind::Mean;
        let single = model.intervals(&data.x.frame(), 0, 0.95, kind).unwrap();
        let all = model.band(&data.x.frame(), 0, 0.95, Sampling::Exact).unwrap();
        assert!((0..30).all(|i| all[(i, 1)] < single[(i, 1)] && all[(i, 2)] > single[(i, 2)]));
    }

    #[test]
    fn undetermined_coefficients_have_no_region() {
        let base = sample(3, 30);
        let x = Matrix::from_fn(30, 3, |i, j| base.x.values()[(i, j % 2)]);
        let model = fit(&OwnedDataset { x: Table::unnamed(x), ..base });
        let error = model.confidence_region(0, 0.9, Sampling::Exact).unwrap_err();
        assert!(error.message().contains("determine"), "{error}");
    }
}
