//! Gradient boosting of numbers: f(x) = f_0 + rate Σ trees, by squared, absolute, Huber or quantile loss.
//!
//! See the folder's head for the method. Ties of splits go to the first column, then the smallest cut.
//!
//! Friedman (2001), Annals of Statistics 29, 1189-1232.

use super::boost;
use super::options::BoostingGrowth;
use crate::ensemble::beginning::BoostingStart;
use crate::ensemble::boosted::{Beside, Boosted, BoostedRegressorModel};
use crate::ensemble::loss::Loss;
use learnt_core::estimator::Accepts;
use learnt_core::prelude::*;

/// Gradient boosting regressor with exact trees (MART, GBM): each tree fits what the others left.
///
/// Takes categories and missing values as they are. For many rows `HistGradientBoostingRegressor` is much faster.
///
/// ```
/// use learnt::{ensemble::GradientBoostingRegressor, prelude::*};
/// let x = Matrix::from_fn(4, 1, |i, _| i as f64 + 1.0);
/// let data = OwnedDataset::regression(x, vec![1.0, 2.0, 2.0, 7.0]);
/// let mut learner = GradientBoostingRegressor::default();
/// learner.growth.max_depth = Some(1);
/// learner.growth.n_estimators = 1;
/// let found = learner.fit(&data.view())?.predict(&data.x.frame())?;
/// assert!((found[(3, 0)] - 3.4).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GradientBoostingRegressor {
    /// The loss that rounds lower.
    #[param(default = BoostingLoss::SquaredError)]
    pub loss: BoostingLoss,
    /// The quantile of the losses `quantile` and `huber` (of absolute residuals, within which squares count).
    #[param(default = 0.9, above = 0.0, below = 1.0)]
    pub alpha: f64,
    /// How trees grow and when rounds end.
    #[param(flatten)]
    pub growth: BoostingGrowth,
    /// What rounds begin with: zero, or what a regressor predicts; none is the best constant.
    #[param(default = None, learner = regressor)]
    pub init: Option<BoostingStart>,
}

/// Losses of numbers.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum BoostingLoss {
    /// Squared error; predicts the mean.
    SquaredError,
    /// Absolute error; predicts the median.
    AbsoluteError,
    /// Squares of small residuals, absolute values of large ones.
    Huber,
    /// Pinball loss; predicts the quantile `alpha`.
    Quantile,
}

impl Estimator for GradientBoostingRegressor {
    type Model = BoostedRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.GradientBoostingRegressor")
        .alias(&["gradient-boosting", "gbm"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .threads()
        .iterations()
        .extends()
        .complexity(75)
        .cost("p n time a level and round, p n log n to sort once; 16 bytes a value")
        .reference("Friedman (2001), Annals of Statistics 29, 1189-1232")
        .check_with(&[("n_estimators", "30")])
        .exempt(&[("seeds_differ", "only `subsample` and `max_features` draw")]);

    fn accepts(&self) -> Accepts {
        BoostingStart::accepts(self.init.as_ref(), Self::ABOUT.accepts)
    }

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
        before.check_rounds("n_estimators", self.growth.n_estimators)?;
        self.grown(data, Some((before, model.beside())), run)
    }
}

impl GradientBoostingRegressor {
    /// The model, from where another fit ended or from the start.
    fn grown(
        &self,
        data: &Dataset,
        before: Option<(Boosted, Beside)>,
        run: &Context,
    ) -> Result<BoostedRegressorModel> {
        let y: Vec<f64> = data.real_target()?.column(0);
        let loss = match self.loss {
            BoostingLoss::SquaredError => Loss::Squared,
            BoostingLoss::AbsoluteError => Loss::Absolute,
            BoostingLoss::Huber => Loss::Huber(self.alpha),
            BoostingLoss::Quantile => Loss::Quantile(self.alpha),
        };
        let with = (&self.growth, self.init.as_ref());
        let (boosted, beside) = boost(data, &y, loss, with, before, run)?;
        Ok(BoostedRegressorModel::new(boosted, loss, data.x.schema())?.with(beside))
    }
}
