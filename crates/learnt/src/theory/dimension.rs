//! The curse of dimensionality in numbers.
//!
//! - A cube that holds a share r of uniform data in p dimensions has edges of length r^(1/p).
//! - The nearest of N uniform points in a p-ball of radius 1 lies at a median distance of
//!   (1 - (1/2)^(1/N))^(1/p) from its centre.
//! - One nearest neighbour predicts y = exp(-8‖x‖²) at the origin from N uniform points in [-1, 1]^p. The
//!   distance R of the nearest has P(R > t) = (1 - V_p t^p / 2^p)^N, V_p being the volume of the unit ball,
//!   for t up to 1; E exp(-8R²) and E exp(-16R²) are integrals of it over t (Simpson's rule). Beyond 1,
//!   where the ball leaves the cube, targets are below exp(-8) and count as 0.
//!
//! Reference: Bellman (1961); Hastie, Tibshirani and Friedman (2009), section 2.5.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::special::ln_gamma;

/// Edge of a cube that holds a share of uniform data.
#[derive(Params, Clone, Debug)]
pub struct NeighborhoodEdge {
    /// Share of the data.
    #[param(required, positional, above = 0.0, range = ..=1.0)]
    pub share: f64,
    /// Number of dimensions.
    #[param(required, positional, range = 1..)]
    pub p: u64,
}

impl Function for NeighborhoodEdge {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("theory.neighborhood_edge", FunctionKind::Theory)
            .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<f64> {
        Ok(self.share.powf(1.0 / self.p as f64))
    }
}

/// Median distance from the centre of a ball to the nearest of uniform points in it.
#[derive(Params, Clone, Debug)]
pub struct NearestPointDistance {
    /// Number of points.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Number of dimensions.
    #[param(required, positional, range = 1..)]
    pub p: u64,
}

impl Function for NearestPointDistance {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("theory.nearest_point_distance", FunctionKind::Theory)
            .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<f64> {
        let volume = -(-std::f64::consts::LN_2 / self.n as f64).exp_m1();
        Ok(volume.powf(1.0 / self.p as f64))
    }
}

/// Error of one nearest neighbour as dimensions are added, at the top of a bell.
#[derive(Params, Clone, Debug)]
pub struct NearestNeighborDimensions {
    /// Number of points.
    #[param(default = 1000, range = 1..)]
    pub n: u64,
    /// Numbers of dimensions.
    #[param(default = (1..=10).collect(), range = 1..=1000)]
    pub p: Vec<u64>,
}

/// The parts of the error for each number of dimensions.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DimensionTable {
    /// Number of dimensions.
    pub p: Vec<u64>,
    /// Mean squared error.
    pub mse: Vec<f64>,
    /// Squared bias.
    pub bias_squared: Vec<f64>,
    /// Variance.
    pub variance: Vec<f64>,
}

impl Function for NearestNeighborDimensions {
    type Inputs<'a> = ();
    type Output = DimensionTable;
    const ABOUT: &'static Callable =
        &Callable::new("theory.nearest_neighbor_dimensions", FunctionKind::Study)
            .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, _inputs: (), run: &Context) -> Result<DimensionTable> {
        let mut table = DimensionTable {
            p: self.p.clone(),
            mse: Vec::new(),
            bias_squared: Vec::new(),
            variance: Vec::new(),
        };
        for &p in &self.p {
            run.checkpoint()?;
            // 1 - y and (1 - y)², so that nothing cancels where the neighbour is close.
            let short = self.expectation(p, |t| -(-8.0 * t * t).exp_m1());
            let square = self.expectation(p, |t| (-8.0 * t * t).exp_m1().powi(2));
            table.mse.push(square);
            table.bias_squared.push(short * short);
            table.variance.push((square - short * short).max(0.0));
        }
        Ok(table)
    }

    fn chart(&self, found: &DimensionTable) -> Option<Chart> {
        let x: Vec<f64> = found.p.iter().map(|&p| p as f64).collect();
        let line = |name: &str, y: &[f64]| Mark::line(name, x.clone(), y.to_vec());
        let panel = Panel::new("dimensions", "error at the origin")
            .mark(line("mean squared error", &found.mse))
            .mark(line("squared bias", &found.bias_squared))
            .mark(line("variance", &found.variance));
        Some(
            Chart::new(
                "One nearest neighbour in many dimensions",
                "Mean squared error, squared bias and variance against the number of dimensions.",
            )
            .panel(panel),
        )
    }
}

impl NearestNeighborDimensions {
    /// E g(R) for a g that rises from g(0) = 0: the sum of g over slices of the distribution of R. Points of
    /// the grid are spread evenly in ln R, where R lives.
    fn expectation(&self, p: u64, g: impl Fn(f64) -> f64) -> f64 {
        const STEPS: usize = 20_000;
        const LOWEST: f64 = 1e-12;
        let (p, n) = (p as f64, self.n as f64);
        let log_ball = p / 2.0 * std::f64::consts::PI.ln() - ln_gamma(p / 2.0 + 1.0);
        // Share of the cube in a ball of radius t; never above 1 for t up to 1.
        let survival = |t: f64| {
            let inside = (log_ball + p * (t / 2.0).ln()).exp().min(1.0);
            (n * (-inside).ln_1p()).exp()
        };
        let point = |k: usize| LOWEST.powf(1.0 - k as f64 / STEPS as f64);
        let (mut total, mut alive) = (0.0, 1.0);
        for k in 0..STEPS {
            let (low, high) = (point(k), point(k + 1));
            let after = survival(high);
            total += (alive - after) * (g(low) + 4.0 * g((low + high) / 2.0) + g(high)) / 6.0;
            alive = after;
        }
        total + alive * 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_data_in_ten_dimensions_needs_most_of_each_axis() {
        let edge = |share| NeighborhoodEdge { share, p: 10 }.compute(()).unwrap();
        assert!((edge(0.1) - 0.794_328_234_724).abs() < 1e-11);
        assert!((edge(0.01) - 0.630_957_344_48).abs() < 1e-11);
    }

    #[test]
    fn the_nearest_of_500_points_in_ten_dimensions_is_beyond_half_of_the_radius() {
        let distance = |p| NearestPointDistance { n: 500, p }.compute(()).unwrap();
        assert!((distance(1) - 0.001_385_333_898_97).abs() < 1e-13);
        assert!((distance(2) - 0.037_220_073_871_1).abs() < 1e-11);
        assert!((distance(10) - 0.517_792_131_081).abs() < 1e-11);
    }

    #[test]
    fn one_neighbour_fails_as_dimensions_are_added() {
        let found = NearestNeighborDimensions::default().compute(()).unwrap();
        let mse = [
            1.520_378_822_84e-9,
            0.000_200_727_728,
            0.014_781_342_926,
            0.119_378_957_778,
            0.352_699_383_452,
            0.615_101_401_416,
            0.808_033_296_004,
            0.916_065_159_731,
            0.966_637_159_903,
            0.987_625_392_276,
        ];
        for (found, expected) in found.mse.iter().zip(mse) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
        assert!((found.mse[0] / mse[0] - 1.0).abs() < 1e-3);
        assert!((found.bias_squared[2] - 0.010_542_994_913_4).abs() < 1e-4);
        assert!((found.variance[4] - 0.025_964_533_451_4).abs() < 1e-4);
    }
}
