//! Parameters that both gradient boosters share.

use crate::tree::grow::Settings;
use crate::tree::{Growth, MaxFeatures, MinSamplesLeaf, MinSamplesSplit, Splitter};
use learnt_core::prelude::*;

/// How trees grow and when rounds end.
#[derive(Params, Clone, Debug)]
pub struct BoostingGrowth {
    /// Learning rate (shrinkage): each tree is multiplied by it.
    #[param(default = 0.1, range = 0.0.., search = log(0.01, 0.5))]
    pub learning_rate: f64,
    /// Number of rounds.
    #[param(default = 100, range = 1.., search = set(50, 100, 300))]
    pub n_estimators: usize,
    /// Share of rows drawn without replacement for each round; below 1 it is stochastic boosting.
    #[param(default = 1.0, above = 0.0, range = ..=1.0)]
    pub subsample: f64,
    /// The error measure of splits; both give the same.
    #[param(default = BoostingCriterion::FriedmanMse)]
    pub criterion: BoostingCriterion,
    /// Minimum number of rows to split a node: a count, or a share of all rows.
    #[param(default = MinSamplesSplit::Count(2))]
    pub min_samples_split: MinSamplesSplit,
    /// Minimum number of rows in a leaf: a count, or a share of all rows.
    #[param(default = MinSamplesLeaf::Count(1), search = set(1, 5, 20))]
    pub min_samples_leaf: MinSamplesLeaf,
    /// Minimum share of all weight in a leaf.
    #[param(default = 0.0, range = 0.0..=0.5)]
    pub min_weight_fraction_leaf: f64,
    /// Maximum depth of a tree; none means no limit.
    #[param(default = Some(3), range = 1.., search = set(1, 2, 3, 5))]
    pub max_depth: Option<usize>,
    /// Minimum decrease of impurity by a split, times the node's share of all weight.
    #[param(default = 0.0, range = 0.0..)]
    pub min_impurity_decrease: f64,
    /// Number of columns (features) drawn at random for each split.
    #[param(default = MaxFeatures::All)]
    pub max_features: MaxFeatures,
    /// Maximum number of leaves of a tree; it then grows best-first.
    #[param(default = None, range = 2..)]
    pub max_leaf_nodes: Option<usize>,
    /// Share of rows set aside where `n_iter_no_change` is given.
    #[param(default = 0.1, above = 0.0, below = 1.0)]
    pub validation_fraction: f64,
    /// Early stopping after this many rounds without a lower loss on rows set aside; none never stops.
    #[param(default = None, range = 1..)]
    pub n_iter_no_change: Option<usize>,
    /// Least decrease of the loss that counts for early stopping.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
    /// Complexity parameter of minimal cost-complexity pruning; 0 prunes nothing.
    #[param(default = 0.0, range = 0.0..)]
    pub ccp_alpha: f64,
}

/// The error measure of splits.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum BoostingCriterion {
    /// Friedman's improvement score.
    FriedmanMse,
    /// Squared error.
    SquaredError,
}

impl BoostingGrowth {
    /// What growing needs, for rows of this number and weight.
    pub(super) fn settings(&self, rows: usize, columns: usize, weight: f64) -> Settings {
        let BoostingGrowth {
            max_depth,
            min_samples_split,
            min_samples_leaf,
            min_weight_fraction_leaf,
            max_features,
            max_leaf_nodes,
            min_impurity_decrease,
            ..
        } = *self;
        let growth = Growth {
            max_depth,
            min_samples_split,
            min_samples_leaf,
            min_weight_fraction_leaf,
            max_features,
            max_leaf_nodes,
            min_impurity_decrease,
            ..Growth::default()
        };
        growth.settings(Splitter::Best, rows, columns, weight)
    }
}
