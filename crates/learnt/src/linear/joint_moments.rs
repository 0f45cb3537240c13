//! Least squares from moments instead of rows.
//!
//! b = Var(x)⁻¹ Cov(x, y), or E(xxᵀ)⁻¹ E(xy) without an intercept: all that the fit and its tables need
//! is the number of rows, the means and the second moments. Products have the square of the rows'
//! condition, so moments of nearly dependent columns are refused rather than solved badly.

use super::least_squares::SecondMoments;
use super::{LinearRegression, LinearRegressionModel};
use learnt_core::prelude::*;

/// Means and covariances of inputs and outputs together, inputs first.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMoments {
    /// Number of rows they were taken over.
    pub rows: u64,
    /// Number of outputs, the last columns.
    pub outputs: usize,
    /// Means.
    pub mean: Vec<f64>,
    /// Covariances with divisor `rows`.
    pub covariance: Matrix,
}

impl JointMoments {
    /// From moments about the origin: E(zzᵀ) of z = (x, y).
    pub fn about_origin(
        rows: u64,
        outputs: usize,
        mean: Vec<f64>,
        second: &Matrix,
    ) -> Result<JointMoments> {
        let width = mean.len();
        if (second.nrows(), second.ncols()) != (width, width) {
            let got = format!("{} x {}", second.nrows(), second.ncols());
            return Err(Error::shape("second moments", format!("{width} x {width}"), got));
        }
        let covariance = Matrix::from_fn(width, width, |i, j| second[(i, j)] - mean[i] * mean[j]);
        Ok(JointMoments { rows, outputs, mean, covariance })
    }

    fn check(&self, inputs: usize) -> Result<()> {
        let width = inputs + self.outputs;
        let shape = (self.covariance.nrows(), self.covariance.ncols());
        if self.outputs == 0 || self.mean.len() != width || shape != (width, width) {
            let expected = format!("{inputs} inputs and at least one output");
            let got =
                format!("{} means and {} x {} covariances", self.mean.len(), shape.0, shape.1);
            return Err(Error::shape("moments", expected, got));
        }
        let finite = self.mean.iter().chain(self.covariance.as_slice()).all(|x| x.is_finite());
        let scale = |i: usize| self.covariance[(i, i)].abs().sqrt();
        let symmetric = (0..width).all(|i| {
            (0..i).all(|j| {
                let difference = self.covariance[(i, j)] - self.covariance[(j, i)];
                difference.abs() <= 1e-9 * scale(i) * scale(j)
            })
        });
        match finite && symmetric && self.rows > 0 {
            true => Ok(()),
            false => {
                let message = "moments must be finite, symmetric and of at least one row";
                Err(Error::new(Code::NotFinite, message))
            }
        }
    }
}

impl LinearRegression {
    /// Fits to moments instead of rows; `schema` names the inputs. The model has all of its tables.
    pub fn fit_moments(
        &self,
        schema: &Schema,
        moments: &JointMoments,
        run: &Context,
    ) -> Result<LinearRegressionModel> {
        if self.positive {
            return Err(Error::parameter("positive", "false with moments", "true"));
        }
        moments.check(schema.len())?;
        let names = schema.names().map(str::to_string).collect();
        let second = SecondMoments {
            rows: moments.rows,
            outputs: moments.outputs,
            mean: &moments.mean,
            covariance: &moments.covariance,
        };
        self.model(self.rounds().solve_moments(names, &second)?, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(50, 3, |i, j| ((i * (2 * j + 3) + j * j) % 13) as f64 + 5.0);
        let y = Matrix::from_fn(50, 2, |i, t| x[(i, t)] + ((i * 5) % 7) as f64);
        let mut data = OwnedDataset::unsupervised(x);
        data.y = Some(OwnedTarget::Real(y));
        data
    }

    /// E(zzᵀ) and means of z = (x, y).
    fn moments(data: &OwnedDataset) -> JointMoments {
        let (x, y) = (data.x.values(), data.view().real_target().unwrap());
        let z = |i: usize, j: usize| if j < 3 { x[(i, j)] } else { y.at(i, j - 3) };
        let mean = (0..5).map(|j| (0..50).map(|i| z(i, j)).sum::<f64>() / 50.0).collect();
        let second =
            Matrix::from_fn(5, 5, |a, b| (0..50).map(|i| z(i, a) * z(i, b)).sum::<f64>() / 50.0);
        JointMoments::about_origin(50, 2, mean, &second).unwrap()
    }

    #[test]
    fn moments_give_the_fit_and_the_tables_of_the_rows() {
        let data = data();
        for fit_intercept in [true, false] {
            let learner = LinearRegression { fit_intercept, ..Default::default() };
            let rows = learner.fit(&data.view()).unwrap();
            let run = Context::default();
            let from = learner.fit_moments(data.x.schema(), &moments(&data), &run).unwrap();
            for output in 0..2 {
                let (a, b) =
                    (rows.inference(output, 0.9).unwrap(), from.inference(output, 0.9).unwrap());
                for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
                    assert!((a.estimate - b.estimate).abs() < 1e-10, "{a:?} {b:?}");
                    assert!((a.p - b.p).abs() < 1e-9 && (a.lower - b.lower).abs() < 1e-9);
                }
                assert!((a.log_likelihood - b.log_likelihood).abs() < 1e-9);
                assert!((a.r2.unwrap() - b.r2.unwrap()).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn moments_of_no_data_and_of_dependent_columns_are_refused() {
        let data = data();
        let (learner, run) = (LinearRegression::default(), Context::default());
        let refuse = |moments: &JointMoments| {
            learner.fit_moments(data.x.schema(), moments, &run).unwrap_err()
        };
        let good = moments(&data);
        let mut impossible = good.clone();
        impossible.covariance[(0, 3)] *= 100.0;
        impossible.covariance[(3, 0)] *= 100.0;
        assert!(refuse(&impossible).message().contains("of no data"));
        let mut dependent = good.clone();
        for j in 0..5 {
            dependent.covariance[(1, j)] = 2.0 * dependent.covariance[(0, j)];
        }
        for i in 0..5 {
            dependent.covariance[(i, 1)] = 2.0 * dependent.covariance[(i, 0)];
        }
        assert!(refuse(&dependent).message().contains("depend"));
        let lopsided = JointMoments { mean: vec![0.0; 4], ..good };
        assert_eq!(refuse(&lopsided).code(), Code::Shape);
    }
}
