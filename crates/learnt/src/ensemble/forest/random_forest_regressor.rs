//! Random forest: f(x) = mean over trees of the number in their leaves.
//!
//! Each tree sees n rows drawn with replacement; each node looks at `max_features` columns drawn afresh
//! and takes the best cut. A row that a tree did not draw tests it (out-of-bag). Trees are not pruned.
//! With all columns this is bagging. Ties go to the first column, then the smallest cut.
//!
//! Breiman, "Random forests", Machine Learning 45 (2001), 5-32.

use super::Plan;
use super::model::ForestRegressorModel;
use super::options::ForestGrowth;
use super::targets::RealTarget;
use crate::tree::{MaxFeatures, TreeRegressorCriterion};
use learnt_core::prelude::*;
use std::ops::Range;

/// Random forest regressor: the mean of trees on bootstrap samples with few columns a split.
///
/// Takes categories, several targets and missing values as they are. scikit-learn's `monotonic_cst`
/// is left out; leaves predict the median with the criterion `absolute_error`.
///
/// ```
/// use learnt::{ensemble::RandomForestRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let forest = RandomForestRegressor { n_estimators: 20, ..Default::default() };
/// let model = forest.fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.nrows(), data.x.values().nrows());
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct RandomForestRegressor {
    /// Number of trees.
    #[param(positional, default = 100, range = 1.., search = set(50, 200, 500))]
    pub n_estimators: usize,
    /// The error measure that splits reduce.
    #[param(default = TreeRegressorCriterion::SquaredError)]
    pub criterion: TreeRegressorCriterion,
    /// Number of columns (features) drawn at random for each split.
    #[param(default = MaxFeatures::All, search = set("sqrt", 0.33, none))]
    pub max_features: MaxFeatures,
    /// Whether each tree sees a bootstrap sample of the rows, not all of them.
    #[param(default = true)]
    pub bootstrap: bool,
    /// When trees stop growing and what they see.
    #[param(flatten)]
    pub growth: ForestGrowth,
}

impl Estimator for RandomForestRegressor {
    type Model = ForestRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.RandomForestRegressor")
        .alias(&["forest"])
        .weights()
        .missing()
        .categories()
        .many_outputs()
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

    fn train(&self, data: &Dataset, run: &Context) -> Result<ForestRegressorModel> {
        let plan = self.plan();
        let target = RealTarget::new(data, self.criterion)?;
        let trees = target.grow(&plan, &data.x, run)?;
        ForestRegressorModel::new(&plan, trees, data, run)
    }

    fn members(&self) -> Option<usize> {
        Some(self.n_estimators)
    }

    fn train_members(
        &self,
        members: Range<usize>,
        data: &Dataset,
        run: &Context,
    ) -> Result<ForestRegressorModel> {
        let plan = self.plan().only(members)?;
        let target = RealTarget::new(data, self.criterion)?;
        let trees = target.grow(&plan, &data.x, run)?;
        ForestRegressorModel::new(&plan, trees, data, run)
    }

    fn join(&self, parts: &[&ForestRegressorModel]) -> Result<ForestRegressorModel> {
        ForestRegressorModel::joined(parts)
    }

    fn extend(
        &self,
        model: &ForestRegressorModel,
        data: &Dataset,
        run: &Context,
    ) -> Result<ForestRegressorModel> {
        let plan = self.plan().after(model.len())?;
        let target = RealTarget::new(data, self.criterion)?;
        let trees = model.followed_by(target.grow(&plan, &data.x, run)?);
        ForestRegressorModel::new(&plan, trees, data, run)
    }
}

impl RandomForestRegressor {
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
