//! How alike the trees of a forest are, against the number of columns that a node looks at.
//!
//! Training sets are drawn again and again from y = Σ x_j / √p + noise with p standard normal columns. On
//! each, two trees of a forest are grown with m columns a node. Over the training sets, at fixed points,
//! their predictions have the correlation ρ(m) and the variance σ²(m); ρ σ² is what an average of very many
//! trees keeps, ρ σ² + (1 - ρ) σ²/B the variance of B of them.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 15.4.

use super::RandomForestRegressor;
use crate::tree::MaxFeatures;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Correlation and variance of the trees of a forest against the columns that a node looks at.
#[derive(Params, Clone, Debug)]
pub struct TreeCorrelation {
    /// Numbers of columns that a node looks at.
    #[param(default = vec![1, 2, 5, 10, 20], range = 1..)]
    pub max_features: Vec<usize>,
    /// Number of columns.
    #[param(default = 20, range = 1..=1000)]
    pub columns: usize,
    /// Rows of a training set.
    #[param(default = 100, range = 10..=100_000)]
    pub rows: usize,
    /// Number of training sets.
    #[param(default = 100, range = 3..=10_000)]
    pub repeats: usize,
    /// Number of points where trees predict.
    #[param(default = 100, range = 1..=10_000)]
    pub points: usize,
    /// Standard deviation of the noise.
    #[param(default = 1.0, range = 0.0..)]
    pub noise: f64,
}

/// Numbers for each number of columns.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct TreeCorrelations {
    /// Columns that a node looks at.
    pub max_features: Vec<u64>,
    /// Correlation of the predictions of two trees of the same training set.
    pub correlation: Vec<f64>,
    /// Variance of the prediction of one tree.
    pub variance: Vec<f64>,
    /// Their product: the variance of the mean of very many trees.
    pub limit: Vec<f64>,
}

impl Function for TreeCorrelation {
    type Inputs<'a> = ();
    type Output = TreeCorrelations;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.tree_correlation", FunctionKind::Study)
            .reference("Hastie, Tibshirani and Friedman (2009), section 15.4")
            .randomness()
            .threads();

    fn call(&self, _: (), run: &Context) -> Result<TreeCorrelations> {
        if let Some(&m) = self.max_features.iter().find(|&&m| m > self.columns) {
            let expected = format!("at most the number of columns, {}", self.columns);
            return Err(Error::parameter("max_features", expected, m));
        }
        let cells = 16 * (self.repeats as u64) * self.points as u64;
        run.claim(cells + 8 * (self.rows * self.columns) as u64, "predictions of trees")?;
        let points = normals(self.points, self.columns, &mut run.rng(1));
        let mut found = TreeCorrelations {
            max_features: Vec::new(),
            correlation: Vec::new(),
            variance: Vec::new(),
            limit: Vec::new(),
        };
        for &m in &self.max_features {
            let pairs = run.try_par_map(self.repeats, |repeat| {
                self.predictions(m, &points, &run.child(repeat as u64))
            })?;
            let (correlation, variance) = moments(&pairs, self.points);
            found.max_features.push(m as u64);
            found.correlation.push(correlation);
            found.variance.push(variance);
            found.limit.push(correlation * variance);
        }
        Ok(found)
    }

    fn chart(&self, found: &TreeCorrelations) -> Option<Chart> {
        let x: Vec<f64> = found.max_features.iter().map(|&m| m as f64).collect();
        let heads = "columns that a node looks at";
        let first = Panel::new(heads, "correlation").mark(Mark::line(
            "correlation of two trees",
            x.clone(),
            found.correlation.clone(),
        ));
        let second = Panel::new(heads, "variance")
            .mark(Mark::line("one tree", x.clone(), found.variance.clone()))
            .mark(Mark::line("very many trees", x, found.limit.clone()));
        let about =
            "Fewer columns a node make trees less alike, and the mean of many of them steadier.";
        Some(Chart::new("Trees of a forest", about).panel(first).panel(second))
    }
}

fn normals(rows: usize, columns: usize, rng: &mut learnt_core::context::Rng) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| sample::standard_normal(rng))
}

impl TreeCorrelation {
    /// What two trees of one training set say at the points.
    fn predictions(&self, m: usize, points: &Matrix, run: &Context) -> Result<[Vec<f64>; 2]> {
        let mut rng = run.rng(2);
        let x = normals(self.rows, self.columns, &mut rng);
        let scale = (self.columns as f64).sqrt();
        let y = (0..self.rows)
            .map(|i| {
                x.row(i).iter().sum::<f64>() / scale
                    + self.noise * sample::standard_normal(&mut rng)
            })
            .collect();
        let data = OwnedDataset::regression(x, y);
        let max_features = MaxFeatures::Count(m);
        let learner = RandomForestRegressor { n_estimators: 2, max_features, ..Default::default() };
        let model = learner.fit_in(&data.view(), run)?;
        let table = Table::unnamed(points.clone());
        let said = |k: usize| -> Result<Vec<f64>> {
            Ok(model.trees()[k].predict(&table.frame(), run)?.into_vec())
        };
        Ok([said(0)?, said(1)?])
    }
}

/// Correlation of pairs and variance over training sets, each the mean over the points.
fn moments(pairs: &[[Vec<f64>; 2]], points: usize) -> (f64, f64) {
    let n = pairs.len() as f64;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for k in 0..points {
        // Both trees have one law, so they share their mean and variance.
        let mean = pairs.iter().map(|[a, b]| a[k] + b[k]).sum::<f64>() / (2.0 * n);
        covariance += pairs.iter().map(|[a, b]| (a[k] - mean) * (b[k] - mean)).sum::<f64>() / n;
        let squares = pairs.iter().map(|[a, b]| (a[k] - mean).powi(2) + (b[k] - mean).powi(2));
        variance += squares.sum::<f64>() / (2.0 * n);
    }
    let correlation = if variance > 0.0 { covariance / variance } else { 0.0 };
    (correlation, variance / points as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_less_alike_when_nodes_look_at_fewer_columns() {
        let study = TreeCorrelation { max_features: vec![1, 4, 20], ..Default::default() };
        let found = study.compute(()).unwrap();
        assert!(found.correlation.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
        assert!(found.correlation.iter().all(|rho| (0.0..1.0).contains(rho)), "{found:?}");
        assert!(TreeCorrelation { columns: 3, ..study }.compute(()).is_err());
    }
}
