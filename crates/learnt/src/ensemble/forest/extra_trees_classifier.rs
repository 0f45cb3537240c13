//! Extremely randomised trees: f(x) = mean over trees of the class shares in their leaves.
//!
//! Each node looks at `max_features` columns drawn afresh, draws one cut of each evenly between the
//! smallest and largest value in the node, and takes the best of them. By default trees see all rows.
//! Ties go to the first column.
//!
//! Geurts, Ernst and Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006), 3-42.

use super::Plan;
use super::model::ForestClassifierModel;
use super::options::{ForestClassWeight, ForestGrowth};
use super::targets::ClassTarget;
use crate::tree::{MaxFeatures, TreeClassifierCriterion};
use learnt_core::prelude::*;
use std::ops::Range;

/// Extra-trees (extremely randomised trees) classifier: the mean of trees with random cuts.
///
/// Takes categories and missing values as they are. scikit-learn's `monotonic_cst`
/// is left out; `class_weight` takes no dictionary (use weights).
///
/// ```
/// use learnt::{ensemble::ExtraTreesClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let forest = ExtraTreesClassifier { n_estimators: 20, ..Default::default() };
/// let model = forest.fit(&data.view())?;
/// assert_eq!(model.probabilities(&data.x.frame())?.ncols(), 3);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct ExtraTreesClassifier {
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
    #[param(default = false)]
    pub bootstrap: bool,
    /// When trees stop growing and what they see.
    #[param(flatten)]
    pub growth: ForestGrowth,
    /// Weights of classes: none, `balanced`, or `balanced_subsample` for the rows of each tree.
    #[param(default = None)]
    pub class_weight: Option<ForestClassWeight>,
}

impl Estimator for ExtraTreesClassifier {
    type Model = ForestClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.ExtraTreesClassifier")
        .alias(&["extra-trees"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .extends()
        .threads()
        .complexity(70)
        .cost("n log n time a tree for the columns of a node; 1 byte a value, 40 bytes a node")
        .reference("Geurts, Ernst and Wehenkel (2006), Machine Learning 63, 3-42")
        .check_with(&[("n_estimators", "10")]);

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

impl ExtraTreesClassifier {
    fn constraints(&self) -> Result<()> {
        self.growth.constraints(self.bootstrap)
    }

    fn plan(&self) -> Plan<'_> {
        Plan {
            n_estimators: self.n_estimators,
            made: 0,
            max_features: self.max_features,
            bootstrap: self.bootstrap,
            random: true,
            growth: &self.growth,
        }
    }
}
