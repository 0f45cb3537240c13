//! Random forest: f(x) = mean over trees of the class shares in their leaves.
//!
//! Each tree sees n rows drawn with replacement; each node looks at `max_features` columns drawn afresh
//! and takes the best cut. A row that a tree did not draw tests it (out-of-bag). Trees are not pruned.
//! With all columns this is bagging. Ties go to the first column, then the smallest cut.
//!
//! Breiman, "Random forests", Machine Learning 45 (2001), 5-32.

use super::Plan;
use super::model::ForestClassifierModel;
use super::options::{ForestClassWeight, ForestGrowth};
use super::targets::ClassTarget;
use crate::tree::{MaxFeatures, TreeClassifierCriterion};
use learnt_core::prelude::*;
use std::ops::Range;

/// Random forest classifier: the mean of trees on bootstrap samples with few columns a split.
///
/// Takes categories and missing values as they are. scikit-learn's `monotonic_cst`
/// is left out; `class_weight` takes no dictionary (use weights).
///
/// ```
/// use learnt::{ensemble::RandomForestClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let forest = RandomForestClassifier { n_estimators: 20, ..Default::default() };
/// let model = forest.fit(&data.view())?;
/// assert_eq!(model.probabilities(&data.x.frame())?.ncols(), 3);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct RandomForestClassifier {
    /// Number of trees.
    #[param(positional, default = 100, range = 1.., search = set(50, 200, 500))]
    pub n_estimators: usize,
    /// The impurity measure of a node: Gini or entropy.
    #[param(default = TreeClassifierCriterion::Gini)]
    pub criterion: TreeClassifierCriterion,
    /// Number of columns (features) drawn at random for each split.
    #[param(default = MaxFeatures::Sqrt, search = set("sqrt", 0.33, none))]
    pub max_features: MaxFeatures,
    /// Whether each tree sees a bootstrap sample of the rows, not all of them.
    #[param(default = true)]
    pub bootstrap: bool,
    /// When trees stop growing and what they see.
    #[param(flatten)]
    pub growth: ForestGrowth,
    /// Weights of classes: none, `balanced`, or `balanced_subsample` for the rows of each tree.
    #[param(default = None)]
    pub class_weight: Option<ForestClassWeight>,
}

impl Estimator for RandomForestClassifier {
    type Model = ForestClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.RandomForestClassifier")
        .alias(&["forest"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .extends()
        .threads()
        .complexity(70)
        .cost("n log n time a tree for the columns of a node; 1 byte a value, 40 bytes a node")
        .reference("Breiman (2001), Machine Learning 45, 5-32")
        .check_with(&[("n_estimators", "10")])
        .exempt(&[
            ("weights_repeat", "a weight does not change how often a row is drawn"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "a weight does not change how often a row is drawn",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<ForestClassifierModel> {
        let plan = self.plan();
        let target = ClassTarget::new(data, self.criterion, self.class_weight)?;
        let trees = target.grow(&plan, &data.x, run)?;
        ForestClassifierModel::new(&plan, trees, data, run)
    }

    fn members(&self) -> Option<usize> {
        Some(self.n_estimators)
    }

    fn train_members(
        &self,
        members: Range<usize>,
        data: &Dataset,
        run: &Context,
    ) -> Result<ForestClassifierModel> {
        let plan = self.plan().only(members)?;
        let target = ClassTarget::new(data, self.criterion, self.class_weight)?;
        let trees = target.grow(&plan, &data.x, run)?;
        ForestClassifierModel::new(&plan, trees, data, run)
    }

    fn join(&self, parts: &[&ForestClassifierModel]) -> Result<ForestClassifierModel> {
        ForestClassifierModel::joined(parts)
    }

    fn extend(
        &self,
        model: &ForestClassifierModel,
        data: &Dataset,
        run: &Context,
    ) -> Result<ForestClassifierModel> {
        let plan = self.plan().after(model.len())?;
        let target = ClassTarget::new(data, self.criterion, self.class_weight)?;
        let trees = model.followed_by(target.grow(&plan, &data.x, run)?);
        ForestClassifierModel::new(&plan, trees, data, run)
    }
}

impl RandomForestClassifier {
    fn constraints(&self) -> Result<()> {
        self.growth.constraints(self.bootstrap)
    }

    fn plan(&self) -> Plan<'_> {
        Plan {
            n_estimators: self.n_estimators,
            made: 0,
            max_features: self.max_features,
            bootstrap: self.bootstrap,
            random: false,
            growth: &self.growth,
        }
    }
}
