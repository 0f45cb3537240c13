//! Expected squared errors that are known exactly.
//!
//! - Least squares with p inputs, N rows and noise σ²: σ²(1 - p/N) in sample; out of sample
//!   σ²(1 + p/(N - p - 1)) for Gaussian inputs without an intercept, near σ²(1 + p/N) for many rows; the
//!   variance in sample is σ²p/N and the optimism 2σ²p/N.
//! - At one point x₀: σ²(1 + x₀ᵀ(XᵀX)⁻¹x₀) + bias², by QR of X.
//! - k nearest neighbours at x₀, inputs fixed: σ² + (f(x₀) - mean of f over the k nearest)² + σ²/k.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), sections 2.5 and 7.3.

use learnt_core::linalg::PivotedQr;
use learnt_core::prelude::*;

/// Expected errors of least squares in and out of sample, for Gaussian inputs.
#[derive(Params, Clone, Debug)]
pub struct LinearExpectedError {
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Number of coefficients.
    #[param(required, positional, range = 0..)]
    pub p: u64,
    /// Standard deviation of the noise.
    #[param(default = 1.0, range = 0.0..)]
    pub sigma: f64,
}

/// Expected errors of a linear model that is right.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LinearErrors {
    /// Expected error in sample, σ²(1 - p/N).
    pub in_sample: f64,
    /// Expected error out of sample, σ²(1 + p/(N - p - 1)); infinite for N ≤ p + 1.
    pub out_of_sample: f64,
    /// Its form for many rows, σ²(1 + p/N).
    pub many_rows: f64,
    /// Variance of the fit in sample, σ²p/N.
    pub variance: f64,
    /// Optimism of the error in sample, 2σ²p/N.
    pub optimism: f64,
}

impl Function for LinearExpectedError {
    type Inputs<'a> = ();
    type Output = LinearErrors;
    const ABOUT: &'static Callable =
        &Callable::new("theory.linear_expected_error", FunctionKind::Theory)
            .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<LinearErrors> {
        let (n, p, noise) = (self.n as f64, self.p as f64, self.sigma * self.sigma);
        let spare = n - p - 1.0;
        Ok(LinearErrors {
            in_sample: noise * (1.0 - p / n).max(0.0),
            out_of_sample: match spare > 0.0 {
                true => noise * (1.0 + p / spare),
                false => f64::INFINITY,
            },
            many_rows: noise * (1.0 + p / n),
            variance: noise * p / n,
            optimism: 2.0 * noise * p / n,
        })
    }
}

/// Expected error of least squares at one point, for given inputs.
#[derive(Params, Clone, Debug)]
pub struct LinearErrorAt {
    /// The point, one value a column.
    #[param(required)]
    pub x0: Vec<f64>,
    /// Standard deviation of the noise.
    #[param(default = 1.0, range = 0.0..)]
    pub sigma: f64,
    /// Mean prediction less the truth at the point.
    pub bias: f64,
}

/// Inputs of a linear model.
#[derive(Inputs, Clone, Copy)]
pub struct Design<'a> {
    /// The inputs; a column of ones stands for an intercept.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

impl Function for LinearErrorAt {
    type Inputs<'a> = Design<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("theory.linear_error_at", FunctionKind::Theory)
        .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, given: Design, _run: &Context) -> Result<f64> {
        if self.x0.len() != given.x.ncols() {
            let expected = format!("{} values, one a column", given.x.ncols());
            return Err(Error::shape("x0", expected, self.x0.len()));
        }
        let qr = PivotedQr::new(given.x);
        if qr.rank < given.x.ncols() {
            return Err(Error::numeric(
                "columns are combinations of others: the fit is not unique",
            )
            .hint("leave columns out"));
        }
        let leverage = qr.leverage_at(&self.x0);
        Ok(self.sigma * self.sigma * (1.0 + leverage) + self.bias * self.bias)
    }
}

/// Expected error of k nearest neighbours at one point, for given inputs and a known target.
#[derive(Params, Clone, Debug)]
pub struct NeighborsExpectedError {
    /// The point, one value a column.
    #[param(required)]
    pub x0: Vec<f64>,
    /// The target at the point.
    #[param(required)]
    pub f0: f64,
    /// Numbers of neighbours.
    #[param(default = vec![1], range = 1..)]
    pub k: Vec<u64>,
    /// Standard deviation of the noise.
    #[param(default = 1.0, range = 0.0..)]
    pub sigma: f64,
}

/// Inputs and the target without noise.
#[derive(Inputs, Clone, Copy)]
pub struct KnownTarget<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The target without noise.
    pub f: &'a [f64],
}

/// The parts of the error for each number of neighbours.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct NeighborsErrors {
    /// Number of neighbours.
    pub k: Vec<u64>,
    /// Expected squared error.
    pub error: Vec<f64>,
    /// Squared bias.
    pub bias_squared: Vec<f64>,
    /// Variance, σ²/k.
    pub variance: Vec<f64>,
}

impl Function for NeighborsExpectedError {
    type Inputs<'a> = KnownTarget<'a>;
    type Output = NeighborsErrors;
    const ABOUT: &'static Callable =
        &Callable::new("theory.neighbors_expected_error", FunctionKind::Theory)
            .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, given: KnownTarget, _run: &Context) -> Result<NeighborsErrors> {
        let (n, p) = (given.x.nrows(), given.x.ncols());
        if self.x0.len() != p {
            return Err(Error::shape("x0", format!("{p} values, one a column"), self.x0.len()));
        }
        if let Some(k) = self.k.iter().find(|&&k| k > n as u64) {
            return Err(Error::new(Code::TooFew, format!("{k} neighbours of {n} rows"))
                .hint("take fewer neighbours"));
        }
        let distance =
            |i: usize| -> f64 { (0..p).map(|j| (given.x.at(i, j) - self.x0[j]).powi(2)).sum() };
        let mut order: Vec<(f64, usize)> = (0..n).map(|i| (distance(i), i)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let noise = self.sigma * self.sigma;
        let mean =
            |k: u64| order[..k as usize].iter().map(|&(_, i)| given.f[i]).sum::<f64>() / k as f64;
        let bias_squared: Vec<f64> = self.k.iter().map(|&k| (self.f0 - mean(k)).powi(2)).collect();
        let variance: Vec<f64> = self.k.iter().map(|&k| noise / k as f64).collect();
        let error = bias_squared.iter().zip(&variance).map(|(b, v)| noise + b + v).collect();
        Ok(NeighborsErrors { k: self.k.clone(), error, bias_squared, variance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_learning_curve_of_least_squares() {
        let errors = |n| LinearExpectedError { n, p: 5, sigma: 1.0 }.compute(()).unwrap();
        assert_eq!([10, 20, 40, 100].map(|n| errors(n).in_sample), [0.5, 0.75, 0.875, 0.95]);
        let out = [10, 20, 40, 100].map(|n| errors(n).out_of_sample);
        let expected = [2.25, 1.357_142_857_14, 1.147_058_823_53, 1.053_191_489_36];
        assert!(out.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-10));
        assert!((errors(50).out_of_sample - 1.113_636_363_64).abs() < 1e-10);
        assert!((errors(50).many_rows - 1.1).abs() < 1e-15);
        let optimism =
            LinearExpectedError { n: 20, p: 3, sigma: 1.0 }.compute(()).unwrap().optimism;
        assert!((optimism - 0.3).abs() < 1e-15);
        assert!(errors(6).out_of_sample.is_infinite());
    }

    #[test]
    fn at_a_point_the_leverage_counts() {
        let x = Matrix::from_rows(&[[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]).unwrap();
        let at = LinearErrorAt { x0: vec![1.0, 3.0], sigma: 2.0, bias: 0.5 };
        // 1/4 + (3 - 1.5)²/5 = 0.7.
        let error = at.compute(Design { x: x.view() }).unwrap();
        assert!((error - (4.0 * 1.7 + 0.25)).abs() < 1e-12);
    }

    #[test]
    fn neighbours_trade_bias_for_variance() {
        let x = Matrix::from_rows(&[[0.1], [0.3], [0.45], [0.6], [0.9]]).unwrap();
        let f: Vec<f64> = (0..5).map(|i| x[(i, 0)] * x[(i, 0)]).collect();
        let k = vec![1, 2, 3, 5];
        let function = NeighborsExpectedError { x0: vec![0.5], f0: 0.25, k, sigma: 0.2 };
        let found = function.compute(KnownTarget { x: x.view(), f: &f }).unwrap();
        let expected = [0.082_256_25, 0.060_976_562_5, 0.054_389_583_333_3, 0.049_980_25];
        assert!(found.error.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((found.variance[0] - 0.04).abs() < 1e-15);
    }
}
