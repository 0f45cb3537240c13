//! Forests: many trees on bootstrap samples or on all rows, with few columns a node; their mean.
//!
//! Every tree has its own random stream, so any number of threads gives the same forest. A bootstrap
//! sample is a count of each row: rows that were not drawn cost nothing. Trees share one table in
//! bins (`method` histogram, the default), or sort the columns of their own rows (exact, and for what
//! sums over bins cannot do: absolute error, several targets, more than 16 classes).

mod correlation_study;
mod extra_trees_classifier;
mod extra_trees_regressor;
mod model;
mod options;
mod out_of_bag;
mod random_forest_classifier;
mod random_forest_regressor;
mod sampling;
mod targets;

#[cfg(test)]
mod tests;

pub use correlation_study::{TreeCorrelation, TreeCorrelations};
pub use extra_trees_classifier::ExtraTreesClassifier;
pub use extra_trees_regressor::ExtraTreesRegressor;
pub use model::{ForestClassifierModel, ForestRegressorModel};
pub(super) use model::{determination, members_of};
pub use options::{DrawFeatures, ForestClassWeight, ForestGrowth, MaxSamples};
pub use random_forest_classifier::RandomForestClassifier;
pub use random_forest_regressor::RandomForestRegressor;

use super::boosted::fewer;
use crate::tree::grow::{Columns, Criterion, Settings};
use crate::tree::nodes::Tree;
use crate::tree::{Growth, MaxFeatures, Splitter};
use learnt_core::prelude::*;
use sampling::Sampling;
use std::ops::Range;

/// What makes one kind of forest differ from another.
pub(super) struct Plan<'a> {
    pub(super) n_estimators: usize,
    /// Trees that are there already.
    pub(super) made: usize,
    pub(super) max_features: MaxFeatures,
    pub(super) bootstrap: bool,
    /// Cuts are drawn at random.
    pub(super) random: bool,
    pub(super) growth: &'a ForestGrowth,
}

impl Plan<'_> {
    /// Some trees of the same forest. The rows that trees did not draw say nothing before all are there.
    fn only(self, trees: Range<usize>) -> Result<Self> {
        for (asked, name) in
            [(self.growth.oob_score, "oob_score"), (self.growth.oob_importance, "oob_importance")]
        {
            if asked {
                return Err(Error::parameter(name, "false where members are fitted apart", "true"));
            }
        }
        Ok(Plan { n_estimators: trees.end, made: trees.start, ..self })
    }

    /// The same forest behind so many trees of it.
    fn after(self, made: usize) -> Result<Self> {
        match made > self.n_estimators {
            true => Err(fewer("n_estimators", made, self.n_estimators)),
            false => Ok(Plan { made, ..self }),
        }
    }

    fn sampling(&self, rows: usize) -> Result<Sampling> {
        let drawn = match self.growth.max_samples {
            _ if !self.bootstrap => None,
            None => Some(rows),
            Some(max_samples) => Some(max_samples.rows(rows)?),
        };
        Ok(Sampling { rows, drawn })
    }

    /// What growing needs, for a table of this size and trees of this weight.
    fn settings(&self, rows: usize, columns: usize, weight: f64) -> Settings {
        let ForestGrowth {
            max_depth,
            min_samples_split,
            min_samples_leaf,
            min_weight_fraction_leaf,
            max_leaf_nodes,
            min_impurity_decrease,
            ..
        } = *self.growth;
        let growth = Growth {
            max_depth,
            min_samples_split,
            min_samples_leaf,
            min_weight_fraction_leaf,
            max_features: self.max_features,
            max_leaf_nodes,
            min_impurity_decrease,
            ..Growth::default()
        };
        let splitter = if self.random { Splitter::Random } else { Splitter::Best };
        let settings = growth.settings(splitter, rows, columns, weight);
        Settings { columns_once: self.growth.draw_features == DrawFeatures::Tree, ..settings }
    }

    /// Trees by a criterion that needs the rows of a node, not their sums.
    fn grow_exactly<C: Criterion>(
        &self,
        x: &Frame,
        run: &Context,
        criterion: impl Fn(&[u32], Option<&[u32]>) -> C + Sync,
    ) -> Result<Vec<Tree>> {
        let sampling = self.sampling(x.nrows())?;
        run.try_par_map(self.n_estimators - self.made, |k| {
            let t = self.made + k;
            let inner = run.child(t as u64);
            let counts = sampling.counts(&inner);
            let rows: Vec<u32> = sampling.drawn_rows(counts.as_deref());
            let places: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
            let part = x.gather(&places);
            let criterion = criterion(&rows, counts.as_deref());
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let weight = criterion.summary(&all).weight;
            let settings = self.settings(x.nrows(), x.ncols(), weight);
            let columns = match settings.max_features * 3 <= x.ncols() {
                true => Columns::ranked(&part.frame(), &inner)?,
                false => Columns::sorted(&part.frame(), &inner)?,
            };
            let tree = crate::tree::grow::grow(columns, &criterion, &settings, &inner)?;
            Ok(crate::tree::prune::prune(tree, self.growth.ccp_alpha))
        })
    }
}
