//! Parameters that both histogram boosters share.

use super::plan::Shape;
use super::split::Rules;
use crate::ensemble::boosted::Boosted;
use crate::ensemble::loss::Loss;
use crate::ensemble::stopping::has_stalled;
use learnt_core::prelude::*;

/// How trees grow and when rounds end.
#[derive(Params, Clone, Debug)]
pub struct HistGrowth {
    /// Learning rate (shrinkage): each tree is multiplied by it.
    #[param(default = 0.1, above = 0.0, search = log(0.01, 0.5))]
    pub learning_rate: f64,
    /// Maximum number of rounds, each with one tree, or one a class for more than two classes.
    #[param(default = 100, range = 1.., search = set(50, 100, 300))]
    pub max_iter: usize,
    /// Maximum number of leaves of a tree; none means no limit.
    #[param(default = Some(31), range = 2.., search = set(7, 15, 31, 63))]
    pub max_leaf_nodes: Option<usize>,
    /// Maximum depth of a tree; none means no limit.
    #[param(default = None, range = 1..)]
    pub max_depth: Option<usize>,
    /// Minimum number of rows in a leaf. With log, Poisson and gamma loss they also count by their second derivative:
    /// a leaf needs that of so many average rows of the node that is split.
    #[param(default = 20, range = 1.., search = set(5, 20, 100))]
    pub min_samples_leaf: usize,
    /// Strength of the L2 penalty on the values of leaves.
    #[param(default = 0.0, range = 0.0.., search = log(1e-3, 1e2))]
    pub l2_regularization: f64,
    /// Share of columns (features) drawn at random for each split.
    #[param(default = 1.0, above = 0.0, range = ..=1.0)]
    pub max_features: f64,
    /// Maximum number of bins of a quantity, that of missing values apart; a category has one for each of up to 4,096
    /// levels.
    #[param(default = 255, range = 2..=255)]
    pub max_bins: usize,
    /// Direction of each column: 1 for a score that may only rise with it, -1 only fall, 0 either.
    #[param(default = None)]
    pub monotonic_cst: Option<Vec<i64>>,
    /// Columns that may meet on a path of a tree: `no_interactions`, `pairwise`, or lists of names or numbers.
    #[param(default = None)]
    pub interaction_cst: Option<Value>,
    /// Whether rounds end when the loss does not fall any more; `auto` above 10,000 rows.
    #[param(default = EarlyStopping::Auto)]
    pub early_stopping: EarlyStopping,
    /// Share of rows set aside for early stopping; none judges by the training loss.
    #[param(default = Some(0.1), above = 0.0, below = 1.0)]
    pub validation_fraction: Option<f64>,
    /// Early stopping after this many rounds without a lower loss.
    #[param(default = 10, range = 1..)]
    pub n_iter_no_change: usize,
    /// Least decrease of the loss that counts for early stopping.
    #[param(default = 1e-7, range = 0.0..)]
    pub tol: f64,
}

/// Whether rounds end early.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum EarlyStopping {
    /// With more than 10,000 rows.
    Auto,
    /// Yes or no.
    Always(bool),
}

impl EarlyStopping {
    pub(super) fn is_on(self, many_rows: bool) -> bool {
        match self {
            EarlyStopping::Auto => many_rows,
            EarlyStopping::Always(on) => on,
        }
    }
}

impl HistGrowth {
    /// What growing needs, for these columns, this loss and rows of this mean weight.
    pub(super) fn shape(&self, schema: &Schema, loss: Loss, unit: f64) -> Result<Shape> {
        let columns = schema.len();
        Ok(Shape {
            max_leaves: self.max_leaf_nodes.unwrap_or(usize::MAX),
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            learning_rate: self.learning_rate,
            max_features: ((self.max_features * columns as f64) as usize).clamp(1, columns.max(1)),
            rules: Rules {
                min_rows: self.min_samples_leaf,
                by_curvature: loss.bends(),
                l2: self.l2_regularization,
                unit,
                directions: self.directions(schema)?,
            },
            groups: self.groups(schema)?,
        })
    }

    /// Whether rounds end after the last: the loss that judges has stalled, or no tree can be split any more.
    pub(super) fn ends(&self, boosted: &Boosted, stops: bool, may_split: bool) -> bool {
        let judged = match boosted.validation_score.is_empty() {
            true => &boosted.train_score,
            false => &boosted.validation_score,
        };
        let stalled = stops && has_stalled(judged, self.n_iter_no_change, self.tol);
        stalled || !may_split
    }

    fn directions(&self, schema: &Schema) -> Result<Vec<i8>> {
        let found = crate::tree::grow::directions(self.monotonic_cst.as_deref(), schema)?;
        Ok(if found.is_empty() { vec![0; schema.len()] } else { found })
    }

    fn groups(&self, schema: &Schema) -> Result<Option<Vec<Vec<usize>>>> {
        let columns = schema.len();
        let wrong = |got: &Value| {
            let expected = "'no_interactions', 'pairwise', or lists of columns";
            Error::parameter("interaction_cst", expected, got)
        };
        let list = match &self.interaction_cst {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Text(word)) if word == "no_interactions" => {
                return Ok(Some((0..columns).map(|j| vec![j]).collect()));
            }
            Some(Value::Text(word)) if word == "pairwise" => {
                let with_later = |i: usize| (i + 1..columns).map(move |j| vec![i, j]);
                return Ok(Some((0..columns).flat_map(with_later).collect()));
            }
            Some(Value::List(list)) => list,
            Some(other) => return Err(wrong(other)),
        };
        let place = |item: &Value| match item {
            Value::Text(name) => schema.find(name),
            Value::Int(j) => usize::try_from(*j).ok().filter(|&j| j < columns).ok_or_else(|| {
                Error::parameter("interaction_cst", format!("columns below {columns}"), item)
            }),
            other => Err(wrong(other)),
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for group in list {
            match group {
                Value::List(items) => groups.push(items.iter().map(place).collect::<Result<_>>()?),
                other => return Err(wrong(other)),
            }
        }
        // Columns in no list are one group more.
        let rest: Vec<usize> =
            (0..columns).filter(|j| !groups.iter().any(|group| group.contains(j))).collect();
        if !rest.is_empty() {
            groups.push(rest);
        }
        Ok(Some(groups))
    }
}
