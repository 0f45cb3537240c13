//! Parameters that trees share.

use super::grow::{
    Columns, Criterion, Limits, MOST_LEVELS, Settings, directions, grow, unordered_levels,
};
use super::nodes::Tree;
use super::prune::prune;
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// How splits are searched.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Every cut between distinct values.
    Exact,
    /// Cuts between at most `max_bins` bins of each column: faster on many rows.
    Histogram,
}

/// Which cut of a column is taken.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Splitter {
    /// The best.
    Best,
    /// One drawn at random between the smallest and largest value of the node.
    Random,
}

/// A number of rows.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MinSamplesSplit {
    /// This many.
    #[choice(range = 2..)]
    Count(usize),
    /// This share of all rows, rounded up.
    #[choice(above = 0.0, range = ..=1.0)]
    Fraction(f64),
}

/// A number of rows.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MinSamplesLeaf {
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
    /// This share of all rows, rounded up.
    #[choice(above = 0.0, below = 1.0)]
    Fraction(f64),
}

/// How many columns a node looks at.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MaxFeatures {
    /// All of them.
    #[choice(none)]
    All,
    /// The square root of their number.
    Sqrt,
    /// The logarithm of their number to base 2.
    Log2,
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
    /// This share of them.
    #[choice(above = 0.0, range = ..=1.0)]
    Fraction(f64),
}

fn rows_of(share: f64, rows: usize, least: usize) -> usize {
    ((share * rows as f64).ceil() as usize).max(least)
}

impl MinSamplesSplit {
    /// As a count.
    pub(crate) fn rows(self, rows: usize) -> usize {
        match self {
            MinSamplesSplit::Count(count) => count,
            MinSamplesSplit::Fraction(share) => rows_of(share, rows, 2),
        }
    }
}

impl MinSamplesLeaf {
    /// As a count.
    pub(crate) fn rows(self, rows: usize) -> usize {
        match self {
            MinSamplesLeaf::Count(count) => count,
            MinSamplesLeaf::Fraction(share) => rows_of(share, rows, 1),
        }
    }
}

impl MaxFeatures {
    /// As a count, at least 1 and at most all.
    pub(crate) fn count(self, columns: usize) -> usize {
        let share = columns as f64;
        let count = match self {
            MaxFeatures::All => columns,
            MaxFeatures::Sqrt => share.sqrt() as usize,
            MaxFeatures::Log2 => share.log2() as usize,
            MaxFeatures::Count(count) => count,
            MaxFeatures::Fraction(fraction) => (fraction * share) as usize,
        };
        count.clamp(1, columns.max(1))
    }
}

/// When a tree stops growing, what a node looks at, and what is pruned: the parameters that all
/// trees share.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Growth {
    /// Maximum depth of the tree; none means no limit.
    #[param(default = None, range = 1.., search = set(none, 2, 4, 8, 16))]
    pub max_depth: Option<usize>,
    /// Minimum number of rows to split a node: a count, or a share of all rows.
    #[param(default = MinSamplesSplit::Count(2))]
    pub min_samples_split: MinSamplesSplit,
    /// Minimum number of rows in a leaf: a count, or a share of all rows.
    #[param(default = MinSamplesLeaf::Count(1), search = set(1, 5, 20))]
    pub min_samples_leaf: MinSamplesLeaf,
    /// Minimum share of all weight in a leaf.
    #[param(default = 0.0, range = 0.0..=0.5)]
    pub min_weight_fraction_leaf: f64,
    /// Number of columns (features) drawn at random for each split.
    #[param(default = MaxFeatures::All)]
    pub max_features: MaxFeatures,
    /// Maximum number of leaves; the tree then grows best-first.
    #[param(default = None, range = 2..)]
    pub max_leaf_nodes: Option<usize>,
    /// Minimum decrease of impurity by a split, times the node's share of all weight.
    #[param(default = 0.0, range = 0.0..)]
    pub min_impurity_decrease: f64,
    /// Complexity parameter of minimal cost-complexity pruning; 0 prunes nothing.
    #[param(default = 0.0, range = 0.0..)]
    pub ccp_alpha: f64,
    /// How splits are searched.
    #[param(default = Method::Exact)]
    pub method: Method,
    /// Maximum number of bins of a column, for the method `histogram`.
    #[param(default = 255, range = 2..=255)]
    pub max_bins: usize,
    /// Direction of each column: 1 for a prediction that may only rise with it, -1 only fall, 0 either. Of two
    /// classes it is the probability of the second.
    #[param(default = None)]
    pub monotonic_cst: Option<Vec<i64>>,
}

/// What single trees can and forests do not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras {
    /// All partitions of levels.
    pub(crate) exhaustive: bool,
    /// Most surrogates of a split.
    pub(crate) surrogates: usize,
}

impl Extras {
    /// Refuses too many levels, and surrogates of bins.
    fn check(self, method: Method, schema: &Schema) -> Result<()> {
        if self.surrogates > 0 && method == Method::Histogram {
            let expected = "0 with the method 'histogram', whose bins hide values";
            return Err(Error::parameter("max_surrogates", expected, self.surrogates));
        }
        let levels = |column: &&Column| unordered_levels(column).unwrap_or(0) > MOST_LEVELS;
        match schema.columns().iter().find(levels) {
            Some(column) if self.exhaustive => {
                let name = plain(&column.name);
                let message = format!(
                    "column '{name}' has more than {MOST_LEVELS} levels, too many for all partitions"
                );
                let hint = "set categorical_splits to 'ordered', or merge rare levels";
                Err(Error::new(Code::Parameter, message).column(name).hint(hint))
            }
            _ => Ok(()),
        }
    }
}

impl Growth {
    /// What growing needs, for a table of this size and weight.
    pub(crate) fn settings(
        &self,
        splitter: Splitter,
        rows: usize,
        columns: usize,
        weight: f64,
    ) -> Settings {
        let min_rows = self.min_samples_leaf.rows(rows);
        Settings {
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            min_samples_split: self.min_samples_split.rows(rows).max(min_rows.saturating_mul(2)),
            limits: Limits {
                min_rows,
                min_weight: self.min_weight_fraction_leaf * weight,
                only: None,
                monotone: None,
            },
            max_features: self.max_features.count(columns),
            max_leaf_nodes: self.max_leaf_nodes,
            min_impurity_decrease: self.min_impurity_decrease,
            random: splitter == Splitter::Random,
            exhaustive: false,
            surrogates: 0,
            columns_once: false,
            directions: Vec::new(),
        }
    }

    /// The directions of the columns.
    fn directions(&self, extras: Extras, schema: &Schema) -> Result<Vec<i8>> {
        let found = directions(self.monotonic_cst.as_deref(), schema)?;
        if !found.is_empty() && extras.surrogates > 0 {
            let expected = "0 with `monotonic_cst`: surrogates move rows between the sides";
            return Err(Error::parameter("max_surrogates", expected, extras.surrogates));
        }
        Ok(found)
    }

    /// A tree by this criterion, pruned.
    pub(crate) fn grow<C: Criterion>(
        &self,
        splitter: Splitter,
        extras: Extras,
        x: &Frame,
        criterion: &C,
        run: &Context,
    ) -> Result<Tree> {
        extras.check(self.method, x.schema())?;
        let rows: Vec<u32> = (0..x.nrows() as u32).collect();
        let weight = criterion.summary(&rows).weight;
        let mut settings = self.settings(splitter, x.nrows(), x.ncols(), weight);
        settings.exhaustive = extras.exhaustive;
        settings.surrogates = extras.surrogates;
        settings.directions = self.directions(extras, x.schema())?;
        let columns = match self.method {
            Method::Histogram => Columns::binned(x, self.max_bins, run)?,
            Method::Exact if extras.surrogates > 0 => Columns::ranked(x, run)?,
            Method::Exact if settings.random => Columns::unsorted(x, run)?,
            // Few columns a node: sorting them there costs less than keeping all sorted.
            Method::Exact if settings.max_features * 3 <= x.ncols() => Columns::ranked(x, run)?,
            Method::Exact => Columns::sorted(x, run)?,
        };
        Ok(prune(grow(columns, criterion, &settings, run)?, self.ccp_alpha))
    }
}
