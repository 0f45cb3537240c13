//! Forests: many trees on bootstrap samples or on all rows, with few columns a node; their mean.
//!
//! Every tree has its own random stream, so any number of threads gives the same forest. A bootstrap
//! sample is a count of each row: rows that were not drawn cost nothing. Trees share one table in
//! bins (`method` histogram, the default), or sort the columns of their own rows (exact, and for what
//! sums over bins cannot do: absolute error, several targets, more than 16 classes).
//!
//! Forests in bins are rounds too (`by_rounds`), with the same bits: over files larger than memory, and on
//! engines.

mod by_rounds;
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
pub(super) use sampling::repeated;

use crate::tree::grow::Settings;
use crate::tree::nodes::Tree;
use crate::tree::{Growth, MaxFeatures, Method, Splitter};
use crate::tree::{TreeClassifierCriterion, TreeRegressorCriterion};
use learnt_core::prelude::*;
use out_of_bag::OutOfBag;
use sampling::Sampling;
use std::ops::Range;

/// A forest: in memory, or as rounds.
#[derive(Clone, Debug)]
pub struct ForestRounds {
    n_estimators: usize,
    max_features: MaxFeatures,
    bootstrap: bool,
    /// Cuts are drawn at random.
    random: bool,
    growth: ForestGrowth,
    goal: Goal,
}

/// What the trees of a forest predict, and how splits are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goal {
    Classes { criterion: TreeClassifierCriterion, class_weight: Option<ForestClassWeight> },
    Reals(TreeRegressorCriterion),
}

/// A model that is trees and what rows say that they did not draw.
trait ForestModel: Model {
    /// The model of trees for rows of this outline.
    fn assembled(trees: Vec<Tree>, outline: &Outline, out_of_bag: OutOfBag) -> Result<Self>
    where
        Self: Sized;

    /// Its trees.
    fn grown(&self) -> &[Tree];
}

impl ForestRounds {
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
        } = self.growth;
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

    /// Some trees of the forest, behind those that are there already, as a model.
    fn fit<M: ForestModel>(
        &self,
        members: Range<usize>,
        before: Option<&M>,
        data: &Dataset,
        run: &Context,
    ) -> Result<M> {
        let mut trees = before.map_or(Vec::new(), |before| before.grown().to_vec());
        trees.extend(self.grow(members, data, run)?);
        let out_of_bag = self.out_of_bag(&trees, data, run)?;
        M::assembled(trees, &Outline::of(data), out_of_bag)
    }

    /// The rows that trees did not draw say nothing before all are there.
    fn check_apart(&self) -> Result<()> {
        let asked =
            [(self.growth.oob_score, "oob_score"), (self.growth.oob_importance, "oob_importance")];
        match asked.into_iter().find(|(asked, _)| *asked) {
            Some((_, name)) => {
                Err(Error::parameter(name, "false where members are fitted apart", "true"))
            }
            None => Ok(()),
        }
    }

    /// Whether rounds can grow this forest: sums over bins say all that a split needs to know, and the order
    /// of splits changes nothing. The shuffled columns of out-of-bag importances need the rows side by side.
    fn has_rounds(&self) -> bool {
        self.growth.method == Method::Histogram
            && self.growth.monotonic_cst.is_none()
            && self.growth.max_leaf_nodes.is_none()
            && !self.growth.oob_importance
            && self.goal != Goal::Reals(TreeRegressorCriterion::AbsoluteError)
    }
}

/// One forest of the trees of several; none of them has looked at rows that trees did not draw.
fn joined<M: ForestModel>(parts: &[&M], outline: &Outline) -> Result<M> {
    let trees = parts.iter().flat_map(|part| part.grown().iter().cloned()).collect();
    M::assembled(trees, outline, OutOfBag::default())
}

/// A learner that is a forest: the plan of its rounds, and the members of the common trait.
macro_rules! forest {
    ($learner:ty, $model:ty) => {
        impl FitBy<ForestRounds> for $learner {
            fn rounds(&self) -> ForestRounds {
                self.plan()
            }

            fn model(&self, output: ForestOutput, _: &Context) -> Result<$model> {
                let ForestOutput { trees, outline, out_of_bag } = output;
                <$model>::assembled(trees, &outline.view(), out_of_bag)
            }
        }

        impl OfMembers for $learner {
            fn count(&self) -> usize {
                self.n_estimators
            }

            fn check_apart(&self) -> Result<()> {
                self.plan().check_apart()
            }

            fn made(model: &$model) -> usize {
                model.len()
            }

            fn grown(
                &self,
                members: Range<usize>,
                before: Option<&$model>,
                data: &Dataset,
                run: &Context,
            ) -> Result<$model> {
                self.plan().fit(members, before, data, run)
            }

            fn drawn(&self, rows: usize, run: &Context) -> Result<Vec<u32>> {
                let counts = self.plan().sampling(rows)?.counts(run);
                Ok(counts.map_or_else(|| (0..rows as u32).collect(), |counts| repeated(&counts)))
            }

            fn joined(parts: &[&$model]) -> Result<$model> {
                let first = parts.first().ok_or_else(|| Error::internal("no trees to join"))?;
                joined(parts, &first.outline())
            }
        }
    };
}
use forest;
