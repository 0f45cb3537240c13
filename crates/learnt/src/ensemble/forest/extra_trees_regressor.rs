//! Extremely randomised trees: f(x) = mean over trees of the number in their leaves.
//!
//! Each node looks at `max_features` columns drawn afresh, draws one cut of each evenly between the
//! smallest and largest value in the node, and takes the best of them. By default trees see all rows.
//! Ties go to the first column.
//!
//! Over files and on engines, trees grow level by level, with the bits of a fit in memory. The exact method,
//! `max_leaf_nodes`, `oob_importance`, several targets and absolute error need all rows in memory.
//!
//! Geurts, Ernst and Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006), 3-42.

use super::by_rounds::ForestOutput;
use super::model::ForestRegressorModel;
use super::options::ForestGrowth;
use super::{ForestModel, ForestRounds, Goal, forest, joined, repeated};
use crate::ensemble::members::{OfMembers, of_members};
use crate::tree::{MaxFeatures, TreeRegressorCriterion};
use learnt_core::prelude::*;
use std::ops::Range;

/// Extra-trees (extremely randomised trees) regressor: the mean of trees with random cuts.
///
/// Takes categories, several targets and missing values as they are. Leaves predict
/// the median with the criterion `absolute_error`.
///
/// ```
/// use learnt::{ensemble::ExtraTreesRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let forest = ExtraTreesRegressor { n_estimators: 20, ..Default::default() };
/// let model = forest.fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.nrows(), data.x.values().nrows());
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct ExtraTreesRegressor {
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
    #[param(default = false)]
    pub bootstrap: bool,
    /// When trees stop growing and what they see.
    #[param(flatten)]
    pub growth: ForestGrowth,
}

impl Estimator for ExtraTreesRegressor {
    type Model = ForestRegressorModel;
    type Fit = ForestRounds;
    const ABOUT: &'static About = &About::regressor("ensemble.ExtraTreesRegressor")
        .alias(&["extra-trees"])
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
        .reference("Geurts, Ernst and Wehenkel (2006), Machine Learning 63, 3-42")
        .check_with(&[("n_estimators", "10")]);

    of_members!();

    /// Rounds add up bins; what needs the rows of a node side by side stays in memory.
    fn job(&self) -> Option<Box<dyn rounds::Job>> {
        if self.plan().has_rounds() { rounds::job(self) } else { None }
    }
}

forest!(ExtraTreesRegressor, ForestRegressorModel);

impl ExtraTreesRegressor {
    fn constraints(&self) -> Result<()> {
        self.growth.constraints(self.bootstrap)
    }

    fn plan(&self) -> ForestRounds {
        ForestRounds {
            n_estimators: self.n_estimators,
            max_features: self.max_features,
            bootstrap: self.bootstrap,
            random: true,
            growth: self.growth.clone(),
            goal: Goal::Reals(self.criterion),
        }
    }
}
