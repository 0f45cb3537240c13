//! Histogram gradient boosting of classes: score f(x) = f_0 + rate Σ trees, by log loss.
//!
//! Two classes have one score, the log-odds; K classes have K scores and K trees a round, with the
//! softmax as probabilities. See the folder's head for the method.
//!
//! Ke, Meng, Finley et al. (2017); Friedman (2001).

use super::by_rounds::{HistOutput, HistRounds};
use super::options::HistGrowth;
use super::{boost, class_sums};
use crate::ensemble::boosted::{Boosted, BoostedClassifierModel};
use crate::ensemble::loss::{Loss, Targets};
use crate::tree::{ClassWeight, balanced_weights};
use learnt_core::prelude::*;

/// Histogram-based gradient boosting classifier (like LightGBM): trees over bins, one after another.
///
/// Takes categories and missing values as they are. scikit-learn's `scoring` is
/// left out: the loss judges.
/// `class_weight` takes no dictionary (use weights). The usual log loss is the only loss.
///
/// ```
/// use learnt::{ensemble::HistGradientBoostingClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = HistGradientBoostingClassifier::default().fit(&data.view())?;
/// assert_eq!(model.probabilities(&data.x.frame())?.ncols(), 3);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct HistGradientBoostingClassifier {
    /// How trees grow and when rounds end.
    #[param(flatten)]
    pub growth: HistGrowth,
    /// Weights of classes: none, or `balanced` to make all classes count the same.
    #[param(default = None)]
    pub class_weight: Option<ClassWeight>,
}

impl Estimator for HistGradientBoostingClassifier {
    type Model = BoostedClassifierModel;
    type Fit = HistRounds;
    const ABOUT: &'static About = &About::classifier("ensemble.HistGradientBoostingClassifier")
        .alias(&["boost", "hist-gradient-boosting"])
        .weights()
        .missing()
        .categories()
        .decision_scores()
        .randomness()
        .threads()
        .iterations()
        .streaming()
        .extends()
        .complexity(75)
        .cost("p n time a round for a few levels; 1 byte a value, 40 bytes a row")
        .reference("Ke, Meng, Finley et al. (2017); Friedman (2001)")
        .check_with(&[("max_iter", "20"), ("min_samples_leaf", "5")])
        .exempt(&[
            ("seeds_differ", "only `max_features` and the rows set aside are drawn"),
            ("weights_repeat", "`min_samples_leaf` counts rows, not weights"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "`min_samples_leaf` counts rows, not weights",
            ),
        ]);

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
        before.check_rounds("max_iter", self.growth.max_iter)?;
        self.grown(data, Some(before), run)
    }
}

impl HistGradientBoostingClassifier {
    /// The model, from where another fit ended or from the start.
    fn grown(
        &self,
        data: &Dataset,
        before: Option<Boosted>,
        run: &Context,
    ) -> Result<BoostedClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let loss = Loss::of_classes(classes.len());
        let y: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
        let balanced = self.class_weight.map(|ClassWeight::Balanced| {
            let sums = class_sums(codes, classes.len(), data.weights, run);
            balanced_weights(&sums, codes, data.weights)
        });
        let targets = Targets { y: &y, weights: balanced.as_deref().or(data.weights) };
        let boosted = boost(data, targets, loss, &self.growth, before, run)?;
        BoostedClassifierModel::new(boosted, loss, data.x.schema(), classes)
    }
}

impl FitBy<HistRounds> for HistGradientBoostingClassifier {
    fn rounds(&self) -> HistRounds {
        let balanced = self.class_weight.is_some();
        HistRounds { growth: self.growth.clone(), loss: None, balanced }
    }

    fn model(&self, output: HistOutput, _: &Context) -> Result<BoostedClassifierModel> {
        let HistOutput { boosted, outline } = output;
        let outline = outline.view();
        let loss = Loss::of_classes(outline.classes.len());
        BoostedClassifierModel::new(boosted, loss, outline.schema, outline.classes)
    }
}
