//! Parameters that forests share.

use crate::tree::{Method, MinSamplesLeaf, MinSamplesSplit};
use learnt_core::prelude::*;

/// When the trees of a forest stop growing and what they see.
#[derive(Params, Clone, Debug)]
pub struct ForestGrowth {
    /// Maximum depth of a tree; none means no limit.
    #[param(default = None, range = 1.., search = set(none, 4, 8, 16))]
    pub max_depth: Option<usize>,
    /// Minimum number of rows to split a node: a count, or a share of all rows.
    #[param(default = MinSamplesSplit::Count(2))]
    pub min_samples_split: MinSamplesSplit,
    /// Minimum number of rows in a leaf: a count, or a share of all rows.
    #[param(default = MinSamplesLeaf::Count(1), search = set(1, 3, 10))]
    pub min_samples_leaf: MinSamplesLeaf,
    /// Minimum share of all weight in a leaf.
    #[param(default = 0.0, range = 0.0..=0.5)]
    pub min_weight_fraction_leaf: f64,
    /// Maximum number of leaves of a tree; it then grows best-first.
    #[param(default = None, range = 2..)]
    pub max_leaf_nodes: Option<usize>,
    /// Minimum decrease of impurity by a split, times the node's share of all weight.
    #[param(default = 0.0, range = 0.0..)]
    pub min_impurity_decrease: f64,
    /// Whether columns are drawn for each node or once a tree.
    #[param(default = DrawFeatures::Node)]
    pub draw_features: DrawFeatures,
    /// Whether the rows that trees did not draw estimate the score (out-of-bag); needs `bootstrap`.
    #[param(default = false)]
    pub oob_score: bool,
    /// Whether the importance of columns is estimated from the rows that trees did not draw; needs `bootstrap`.
    #[param(default = false)]
    pub oob_importance: bool,
    /// Complexity parameter of minimal cost-complexity pruning; 0 prunes nothing.
    #[param(default = 0.0, range = 0.0..)]
    pub ccp_alpha: f64,
    /// Number of rows that each tree draws: a count, or a share of all rows; none means all.
    #[param(default = None)]
    pub max_samples: Option<MaxSamples>,
    /// How splits are searched: in bins that all trees share, or between all distinct values.
    #[param(default = Method::Histogram)]
    pub method: Method,
    /// Maximum number of bins of a column, for the method `histogram`.
    #[param(default = 255, range = 2..=255)]
    pub max_bins: usize,
    /// Direction of each column: 1 for a prediction that may only rise with it, -1 only fall, 0 either. Of two
    /// classes it is the probability of the second. Splits are then searched by the method `exact`.
    #[param(default = None)]
    pub monotonic_cst: Option<Vec<i64>>,
}

/// When the columns are drawn that a node looks at.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum DrawFeatures {
    /// Afresh for every node.
    Node,
    /// Once, for all nodes of a tree.
    Tree,
}

/// A number of rows to draw.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MaxSamples {
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
    /// This share of all rows.
    #[choice(above = 0.0, range = ..=1.0)]
    Fraction(f64),
}

impl MaxSamples {
    /// As a count from 1 to the number of rows.
    pub(crate) fn rows(self, rows: usize) -> Result<usize> {
        match self {
            MaxSamples::Count(count) if count > rows => {
                Err(Error::parameter("max_samples", format!("at most {rows}, the rows"), count))
            }
            MaxSamples::Count(count) => Ok(count),
            MaxSamples::Fraction(share) => Ok(((share * rows as f64).round() as usize).max(1)),
        }
    }
}

/// Weights of classes in a forest.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ForestClassWeight {
    /// n / (number of classes * n of the class), over all rows.
    Balanced,
    /// The same over the rows that a tree has drawn.
    BalancedSubsample,
}

impl ForestGrowth {
    /// What both kinds of forests refuse.
    pub(super) fn constraints(&self, bootstrap: bool) -> Result<()> {
        if self.oob_score && !bootstrap {
            let expected = "false without `bootstrap`: every tree sees all rows";
            return Err(Error::parameter("oob_score", expected, "true"));
        }
        if self.oob_importance && !bootstrap {
            let expected = "false without `bootstrap`: every tree sees all rows";
            return Err(Error::parameter("oob_importance", expected, "true"));
        }
        match self.max_samples.is_some() && !bootstrap {
            true => {
                let expected = "none without `bootstrap`: every tree sees all rows";
                Err(Error::parameter("max_samples", expected, "a number"))
            }
            false => Ok(()),
        }
    }
}
