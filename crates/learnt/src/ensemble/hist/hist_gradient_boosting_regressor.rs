//! Histogram gradient boosting of numbers: f(x) = f_0 + rate Σ trees, by squared error, absolute error,
//! a quantile, or Poisson and gamma deviance with f the logarithm of the mean.
//!
//! See the folder's head for the method.
//!
//! Ke, Meng, Finley et al. (2017); Friedman (2001).

use super::boost;
use super::by_rounds::{HistOutput, HistRounds};
use super::options::HistGrowth;
use crate::ensemble::boosted::{Boosted, BoostedRegressorModel};
use crate::ensemble::loss::{Loss, Targets};
use learnt_core::prelude::*;

/// Histogram-based gradient boosting regressor (like LightGBM): trees over bins, one after another.
///
/// Takes categories and missing values as they are. scikit-learn's `scoring` is
/// left out: the loss judges.
///
/// ```
/// use learnt::{ensemble::HistGradientBoostingRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let model = HistGradientBoostingRegressor::default().fit(&data.view())?;
/// assert_eq!(model.n_iter, 100);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct HistGradientBoostingRegressor {
    /// The loss that rounds lower.
    #[param(default = HistLoss::SquaredError)]
    pub loss: HistLoss,
    /// The quantile that the loss `quantile` predicts.
    #[param(default = None, range = 0.0..=1.0)]
    pub quantile: Option<f64>,
    /// How trees grow and when rounds end.
    #[param(flatten)]
    pub growth: HistGrowth,
}

/// Losses of numbers.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum HistLoss {
    /// Squared error; predicts the mean.
    SquaredError,
    /// Absolute error; predicts the median.
    AbsoluteError,
    /// Gamma deviance of positive amounts; predicts the mean.
    Gamma,
    /// Poisson deviance of counts; predicts the mean.
    Poisson,
    /// Pinball loss; predicts the `quantile`.
    Quantile,
}

impl Estimator for HistGradientBoostingRegressor {
    type Model = BoostedRegressorModel;
    type Fit = HistRounds;
    const ABOUT: &'static About = &About::regressor("ensemble.HistGradientBoostingRegressor")
        .alias(&["boost", "hist-gradient-boosting"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .threads()
        .iterations()
        .streaming()
        .extends()
        .complexity(75)
        .cost("p n time a round for a few levels; 1 byte a value, 40 bytes a row")
        .reference("Ke, Meng, Finley et al. (2017); Friedman (2001)")
        .check_with(&[("max_iter", "30"), ("min_samples_leaf", "5")])
        .exempt(&[
            ("seeds_differ", "only `max_features` and the rows set aside are drawn"),
            ("weights_repeat", "`min_samples_leaf` counts rows, not weights"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "`min_samples_leaf` counts rows, not weights",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<BoostedRegressorModel> {
        self.grown(data, None, run)
    }

    fn extend(
        &self,
        model: &BoostedRegressorModel,
        data: &Dataset,
        run: &Context,
    ) -> Result<BoostedRegressorModel> {
        let before = model.boosted();
        before.check_rounds("max_iter", self.growth.max_iter)?;
        self.grown(data, Some(before), run)
    }
}

impl FitBy<HistRounds> for HistGradientBoostingRegressor {
    fn rounds(&self) -> HistRounds {
        HistRounds { growth: self.growth.clone(), loss: Some(self.loss()), balanced: false }
    }

    fn model(&self, output: HistOutput, _: &Context) -> Result<BoostedRegressorModel> {
        let HistOutput { boosted, outline } = output;
        BoostedRegressorModel::new(boosted, self.loss(), outline.view().schema)
    }
}

impl HistGradientBoostingRegressor {
    /// The model, from where another fit ended or from the start.
    fn grown(
        &self,
        data: &Dataset,
        before: Option<Boosted>,
        run: &Context,
    ) -> Result<BoostedRegressorModel> {
        let y: Vec<f64> = data.real_target()?.column(0);
        let loss = self.loss();
        let targets = Targets { y: &y, weights: data.weights };
        let boosted = boost(data, targets, loss, &self.growth, before, run)?;
        BoostedRegressorModel::new(boosted, loss, data.x.schema())
    }

    fn loss(&self) -> Loss {
        match self.loss {
            HistLoss::SquaredError => Loss::Squared,
            HistLoss::AbsoluteError => Loss::Absolute,
            HistLoss::Gamma => Loss::Gamma,
            HistLoss::Poisson => Loss::Poisson,
            HistLoss::Quantile => Loss::Quantile(self.quantile.unwrap_or(0.5)),
        }
    }

    fn constraints(&self) -> Result<()> {
        match self.loss == HistLoss::Quantile && self.quantile.is_none() {
            true => Err(Error::parameter("quantile", "given with the loss 'quantile'", "none")),
            false => Ok(()),
        }
    }
}
