//! Dummy regression: one number for every row.
//!
//! Predicts the (weighted) mean, median or quantile of the training target, or a given constant.
//! The constant c that minimises Σ w_i (y_i - c)² is the mean; Σ w_i |y_i - c| the median.

use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// Baseline regressor: predicts one number (mean, median), whatever the inputs.
///
/// ```
/// use learnt::{baseline::DummyRegressor, prelude::*};
/// let data = OwnedDataset::regression(Matrix::zeros(3, 1), vec![1.0, 2.0, 6.0]);
/// let model = DummyRegressor::default().fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.row(0), [3.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct DummyRegressor {
    /// Which number to predict.
    #[param(default = RegressorStrategy::Mean)]
    pub strategy: RegressorStrategy,
    /// The number that the strategy `constant` predicts, one for each output.
    #[param(default = None)]
    pub constant: Option<Vec<f64>>,
    /// The share of rows below the number that the strategy `quantile` predicts.
    #[param(default = None, range = 0.0..=1.0)]
    pub quantile: Option<f64>,
}

/// Numbers to predict.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum RegressorStrategy {
    /// The mean of the target.
    Mean,
    /// The median of the target.
    Median,
    /// The quantile of the target that `quantile` names.
    Quantile,
    /// The number `constant`.
    Constant,
}

/// A fitted [`DummyRegressor`].
#[derive(Model, Clone, Debug)]
#[model(regressor)]
pub struct DummyRegressorModel {
    /// The prediction, one number for each output.
    pub constant: Vec<f64>,
}

impl DummyRegressor {
    fn constraints(&self) -> Result<()> {
        match (self.strategy, &self.constant, self.quantile) {
            (RegressorStrategy::Constant, None, _) => {
                Err(Error::parameter("constant", "given with the strategy 'constant'", "none"))
            }
            (RegressorStrategy::Quantile, _, None) => {
                Err(Error::parameter("quantile", "given with the strategy 'quantile'", "none"))
            }
            _ => Ok(()),
        }
    }
}

impl Estimator for DummyRegressor {
    type Model = DummyRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("dummy.DummyRegressor")
        .alias(&["dummy", "baseline"])
        .weights()
        .many_outputs()
        .missing()
        .infinite()
        .categories()
        .complexity(0)
        .cost("n log n time for the median, n for the mean")
        .baseline()
        .exempt(&[("beats_the_dummy", "it is the dummy")]);

    fn train(&self, data: &Dataset, _run: &Context) -> Result<DummyRegressorModel> {
        let y = data.real_target()?;
        let constant = match (&self.constant, self.strategy) {
            (Some(constant), RegressorStrategy::Constant) => {
                if constant.len() != y.ncols() {
                    let expected = format!("{} numbers, one for each output", y.ncols());
                    return Err(Error::parameter("constant", expected, constant.len()));
                }
                constant.clone()
            }
            _ => (0..y.ncols())
                .map(|j| self.summary(&y.column(j), data.weights))
                .collect::<Result<_>>()?,
        };
        Ok(DummyRegressorModel { constant })
    }
}

impl DummyRegressor {
    fn summary(&self, y: &[f64], weights: Option<&[f64]>) -> Result<f64> {
        let quantile = |share| match weights {
            Some(weights) => summary::weighted_quantile(y, weights, share),
            None => summary::quantile(y, share),
        };
        let value = match self.strategy {
            RegressorStrategy::Median => quantile(0.5),
            RegressorStrategy::Quantile => quantile(self.quantile.unwrap_or(0.5)),
            RegressorStrategy::Mean | RegressorStrategy::Constant => summary::mean(y, weights),
        };
        let finite = value.filter(|value| value.is_finite());
        finite.ok_or_else(|| Error::numeric("the target is too large to average"))
    }
}

impl Regressor for DummyRegressorModel {
    fn predict_in(&self, x: &Frame, _run: &Context) -> Result<Matrix> {
        Ok(Matrix::from_fn(x.nrows(), self.constant.len(), |_, j| self.constant[j]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_repeated_rows_is_the_weighted_median() {
        let median = DummyRegressor { strategy: RegressorStrategy::Median, ..Default::default() };
        let repeated = median.summary(&[1.0, 2.0, 2.0, 2.0, 9.0, 9.0], None).unwrap();
        let weighted = median.summary(&[9.0, 1.0, 2.0], Some(&[2.0, 1.0, 3.0])).unwrap();
        assert_eq!((repeated, weighted), (2.0, 2.0));
    }

    #[test]
    fn only_shares_of_the_weight_count() {
        let median = DummyRegressor { strategy: RegressorStrategy::Median, ..Default::default() };
        let y: Vec<f64> = (1..=101).map(f64::from).collect();
        assert_eq!(median.summary(&y, Some(&[1.0 / 101.0; 101])).unwrap(), 51.0);
    }

    #[test]
    fn the_constant_strategy_needs_a_constant() {
        let learner =
            DummyRegressor { strategy: RegressorStrategy::Constant, ..Default::default() };
        assert!(learner.check().unwrap_err().message().contains("`constant`"));
    }
}
