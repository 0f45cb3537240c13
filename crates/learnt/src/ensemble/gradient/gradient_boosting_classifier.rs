//! Gradient boosting of classes: scores f(x) = f_0 + rate Σ trees, by log loss or exponential loss.
//!
//! Two classes have one score; K classes have K scores and K trees a round. With exponential loss the
//! score is half the log-odds, as in AdaBoost. See the folder's head for the method.
//!
//! Friedman (2001), Annals of Statistics 29, 1189-1232.

use super::boost;
use super::options::BoostingGrowth;
use crate::ensemble::beginning::BoostingStart;
use crate::ensemble::boosted::{Beside, Boosted, BoostedClassifierModel};
use crate::ensemble::loss::Loss;
use learnt_core::estimator::Accepts;
use learnt_core::prelude::*;

/// Gradient boosting classifier with exact trees (MART, GBM): each tree fits what the others left.
///
/// Takes categories and missing values as they are. For many rows `HistGradientBoostingClassifier` is much faster.
///
/// ```
/// use learnt::{ensemble::GradientBoostingClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = GradientBoostingClassifier::default().fit(&data.view())?;
/// assert_eq!(model.probabilities(&data.x.frame())?.ncols(), 3);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GradientBoostingClassifier {
    /// The loss that rounds lower.
    #[param(default = ClassBoostingLoss::LogLoss)]
    pub loss: ClassBoostingLoss,
    /// How trees grow and when rounds end.
    #[param(flatten)]
    pub growth: BoostingGrowth,
    /// What rounds begin with: zero, or what a classifier predicts; none is the best constant.
    #[param(default = None, learner = classifier)]
    pub init: Option<BoostingStart>,
}

/// Losses of classes.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ClassBoostingLoss {
    /// Log loss: binomial or multinomial deviance.
    LogLoss,
    /// Exponential loss of two classes, as in AdaBoost.
    Exponential,
}

impl Estimator for GradientBoostingClassifier {
    type Model = BoostedClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.GradientBoostingClassifier")
        .alias(&["gradient-boosting", "gbm"])
        .weights()
        .missing()
        .categories()
        .decision_scores()
        .randomness()
        .threads()
        .iterations()
        .extends()
        .complexity(75)
        .cost("p n time a level, class and round, p n log n to sort once; 16 bytes a value")
        .reference("Friedman (2001), Annals of Statistics 29, 1189-1232")
        .check_with(&[("n_estimators", "20")])
        .exempt(&[("seeds_differ", "only `subsample` and `max_features` draw")]);

    fn accepts(&self) -> Accepts {
        BoostingStart::accepts(self.init.as_ref(), Self::ABOUT.accepts)
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<BoostedClassifierModel> {
        self.grown(data, None, run)
    }

    fn extend(
        &self,
        model: &BoostedClassifierModel,
        data: &Dataset,
        run: &Context,
    ) -> Result<BoostedClassifierModel> {
        let before = model.boosted();
        before.check_rounds("n_estimators", self.growth.n_estimators)?;
        self.grown(data, Some((before, model.beside())), run)
    }
}

impl GradientBoostingClassifier {
    /// The model, from where another fit ended or from the start.
    fn grown(
        &self,
        data: &Dataset,
        before: Option<(Boosted, Beside)>,
        run: &Context,
    ) -> Result<BoostedClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let loss = match (self.loss, classes.len()) {
            (ClassBoostingLoss::Exponential, 0..=2) => Loss::Exponential,
            (ClassBoostingLoss::Exponential, many) => {
                let expected = "'log_loss': exponential loss is for two classes";
                return Err(Error::parameter("loss", expected, format!("{many} classes")));
            }
            (_, 0..=2) => Loss::Logistic,
            (_, many) => Loss::Multinomial(many),
        };
        let y: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
        let with = (&self.growth, self.init.as_ref());
        let (boosted, beside) = boost(data, &y, loss, with, before, run)?;
        Ok(BoostedClassifierModel::new(boosted, loss, data.x.schema(), classes)?.with(beside))
    }
}
