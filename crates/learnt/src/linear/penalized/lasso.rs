//! Lasso: least squares with an L1 penalty, which makes coefficients exactly zero.
//!
//! Minimises (1/2n) Σ w (y - a - xb)² + alpha ‖b‖₁, with n the sum of the weights and a free.
//! ‖y - Xb‖² + λ ‖b‖₁ is the same with λ = 2 n alpha.
//! Coordinate descent by soft thresholds (see `elastic_net`, whose `l1_ratio` is 1 here).
//!
//! Tibshirani (1996), Journal of the Royal Statistical Society B 58(1), 267-288.

use super::coordinate_descent::CoordinateDescent;
use super::elastic_net::{ElasticNetModel, Net};
use learnt_core::prelude::*;

/// Lasso: least squares with an L1 penalty, which sets coefficients to zero.
///
/// Products of columns are summed first whenever that is faster.
///
/// ```
/// use learnt::{linear::penalized::Lasso, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
/// let data = OwnedDataset::regression(x, vec![2.0, 4.0, 5.0, 4.0, 5.0]);
/// let model = Lasso { alpha: 0.4, ..Lasso::default() }.fit(&data.view())?;
/// assert!((model.coef[(0, 0)] - 0.4).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct Lasso {
    /// Regularization strength (weight of the penalty); 0 is plain least squares.
    #[param(positional, default = 1.0, range = 0.0.., search = log(1e-4, 1e2))]
    pub alpha: f64,
    /// How the coefficients are found.
    #[param(flatten)]
    pub descent: CoordinateDescent,
}

impl Estimator for Lasso {
    type Model = ElasticNetModel;
    type Fit = Net;
    const ABOUT: &'static About = &About::regressor("linear_model.Lasso")
        .weights()
        .many_outputs()
        .threads()
        .iterations()
        .monotone()
        .randomness()
        .streaming()
        .complexity(20)
        .cost("n p² time, p² memory; n p time a pass with more columns than rows")
        .reference("Tibshirani (1996), JRSS B 58(1), 267-288")
        .exempt(&[
            ("seeds_differ", "only `selection` random draws; the default does not"),
            (
                "beats_the_dummy",
                "the default alpha of 1 is scikit-learn's, and shrinks targets of variance near 1 by half",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<ElasticNetModel> {
        match self.rounds().train_on_demand(data, run)? {
            Some(model) => Ok(model),
            None => rounds::train(self, data, run),
        }
    }
}

impl FitBy<Net> for Lasso {
    fn rounds(&self) -> Net {
        Net {
            alpha: self.alpha,
            l1_ratio: 1.0,
            fit_intercept: self.descent.fit_intercept,
            settings: self.descent.settings(),
        }
    }

    fn model(&self, model: ElasticNetModel, _: &Context) -> Result<ElasticNetModel> {
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple() -> OwnedDataset {
        let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        OwnedDataset::regression(x, vec![2.0, 4.0, 5.0, 4.0, 5.0])
    }

    #[test]
    fn the_slope_is_soft_thresholded_and_zero_from_a_penalty_of_twelve() {
        for (lambda, slope) in [(4.0, 0.4), (11.9, 0.005), (12.0, 0.0), (20.0, 0.0)] {
            let lasso = Lasso { alpha: lambda / 10.0, ..Lasso::default() };
            let model = lasso.fit(&simple().view()).unwrap();
            assert!((model.coef[(0, 0)] - slope).abs() < 1e-12, "{lambda}");
            assert!((model.intercept[0] - (4.0 - 3.0 * slope)).abs() < 1e-12);
        }
    }

    #[test]
    fn weight_two_is_the_row_twice() {
        let data = simple();
        let weights = vec![1.0, 2.0, 1.0, 3.0, 1.0];
        let rows: Vec<usize> = vec![0, 1, 1, 2, 3, 3, 3, 4];
        let twice = data.view().gather(&rows);
        let weighted = OwnedDataset { weights: Some(weights), ..data };
        let lasso = Lasso { alpha: 0.3, ..Lasso::default() };
        let a = lasso.fit(&weighted.view()).unwrap();
        let b = lasso.fit(&twice.view()).unwrap();
        assert!((a.coef[(0, 0)] - b.coef[(0, 0)]).abs() < 1e-12);
        assert!((a.intercept[0] - b.intercept[0]).abs() < 1e-12);
    }

    #[test]
    fn without_an_intercept_the_line_goes_through_the_origin() {
        let lasso = Lasso {
            alpha: 1.0,
            descent: CoordinateDescent { fit_intercept: false, ..CoordinateDescent::default() },
        };
        let model = lasso.fit(&simple().view()).unwrap();
        assert!((model.coef[(0, 0)] - (66.0 - 5.0) / 55.0).abs() < 1e-12);
        assert_eq!(model.intercept, [0.0]);
    }
}
