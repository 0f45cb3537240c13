//! Random forest: f(x) = mean over trees of the number in their leaves.
//!
//! Each tree sees n rows drawn with replacement; each node looks at `max_features` columns drawn afresh
//! and takes the best cut. A row that a tree did not draw tests it (out-of-bag). Trees are not pruned.
//! With all columns this is bagging. Ties go to the first column, then the smallest cut.
//!
//! Over files and on engines, trees grow level by level, with the bits of a fit in memory. The exact method,
//! `max_leaf_nodes`, `oob_importance`, several targets and absolute error need all rows in memory.
//!
//! Breiman, "Random forests", Machine Learning 45 (2001), 5-32.

use super::by_rounds::ForestOutput;
use super::model::ForestRegressorModel;
use super::options::ForestGrowth;
use super::{ForestModel, ForestRounds, Goal, forest, joined, repeated};
use crate::ensemble::members::{OfMembers, of_members};
use crate::tree::{MaxFeatures, TreeRegressorCriterion};
use learnt_core::prelude::*;
use std::ops::Range;

/// Random forest regressor: the mean of trees on bootstrap samples with few columns a split.
///
/// Takes categories, several targets and missing values as they are. Leaves predict
/// the median with the criterion `absolute_error`.
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
    type Fit = ForestRounds;
    const ABOUT: &'static About = &About::regressor("ensemble.RandomForestRegressor")
        .alias(&["forest", "random-forest"])
        .weights()
        .missing()
        .categories()
        .many_outputs()
        .randomness()
        .extends()
        .threads()
        .streaming()
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

    of_members!();

    /// Rounds add up bins; what needs the rows of a node side by side stays in memory.
    fn job(&self) -> Option<Box<dyn rounds::Job>> {
        if self.plan().has_rounds() { rounds::job(self) } else { None }
    }
}

forest!(RandomForestRegressor, ForestRegressorModel);

impl RandomForestRegressor {
    fn constraints(&self) -> Result<()> {
        self.growth.constraints(self.bootstrap)
    }

    fn plan(&self) -> ForestRounds {
        ForestRounds {
            n_estimators: self.n_estimators,
            max_features: self.max_features,
            bootstrap: self.bootstrap,
            random: false,
            growth: self.growth.clone(),
            goal: Goal::Reals(self.criterion),
        }
    }
}
