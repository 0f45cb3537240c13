//! What trees of a forest aim at: classes or numbers, and how much rows count.
//!
//! Sums over bins say all for Gini's index, the entropy, the squared error and the Poisson deviance of one
//! target. Weights and weights times targets lie on grids that follow from their sums over the rows of a
//! tree, so that sums of some of them have no rounding, in whatever order and by whomever they are made.

use super::options::ForestClassWeight;
use super::{ForestRounds, Goal, Sampling};
use crate::tree::binned::{
    BinLimits, BinnedTable, ClassEntropy, ClassGini, ClassMeasure, Counts, Grid, Ground, Item,
    Measure, Poisson, SquaredError, Start, View, grow_binned, total,
};
use crate::tree::grow::{self, Absolute, Entropy, Gini, Settings, Squared};
use crate::tree::nodes::Tree;
use crate::tree::prune::prune;
use crate::tree::{Method, TreeClassifierCriterion, TreeRegressorCriterion};
use learnt_core::prelude::*;
use learnt_core::rounds::tree_sums;
use std::ops::Range;

/// More classes than this are not added up by bin.
pub(super) const MOST_CLASSES: usize = 16;

/// What sums over bins are for.
#[derive(Stored, Clone, Copy, Debug, PartialEq)]
pub(super) enum Aim {
    /// The impurity of so many classes.
    Gini(usize),
    Entropy(usize),
    /// The squared error of numbers that are moved by this one.
    Squared(f64),
    Poisson,
}

/// What is done with a measure.
pub(super) trait Work {
    type Out;
    fn run<M: Measure>(self, measure: &M) -> Self::Out;
}

impl Aim {
    /// Numbers that the scales of a tree follow from.
    pub(super) fn width(self) -> usize {
        match self {
            Aim::Gini(classes) | Aim::Entropy(classes) => classes,
            Aim::Squared(_) | Aim::Poisson => 3,
        }
    }

    fn has_classes(self) -> bool {
        matches!(self, Aim::Gini(_) | Aim::Entropy(_))
    }

    /// A target as trees see it.
    pub(super) fn target(self, y: f64) -> f64 {
        if let Aim::Squared(centre) = self { y - centre } else { y }
    }

    /// Adds a row to what the scales of a tree follow from.
    pub(super) fn add(self, target: f64, weight: f64, sums: &mut [f64]) {
        let spread = match self {
            Aim::Gini(_) | Aim::Entropy(_) => {
                sums[target as usize] += weight;
                return;
            }
            Aim::Squared(_) => SquaredError::spread_of(target),
            Aim::Poisson => Poisson::spread_of(target),
        };
        sums[0] += weight;
        sums[1] += weight * target.abs();
        sums[2] += weight * spread.abs();
    }

    /// The scales of a tree by the sums of its rows, where classes have these factors.
    pub(super) fn scales(self, sums: &[f64], factors: Vec<f64>) -> Scales {
        let grids = match self.has_classes() {
            true => [sums.iter().zip(&factors).map(|(sum, factor)| sum * factor).sum(), 0.0, 0.0],
            false => [sums[0], sums[1], sums[2]],
        };
        let [weights, moments, spreads] = grids.map(Grid::new);
        Scales { factors, weights, moments, spreads }
    }

    /// Does some work with the measure of a tree.
    pub(super) fn measured<W: Work>(self, scales: &Scales, work: W) -> W::Out {
        let Scales { moments, spreads, .. } = *scales;
        match self {
            Aim::Gini(classes) => by_width::<ClassGini, W>(classes, work),
            Aim::Entropy(classes) => by_width::<ClassEntropy, W>(classes, work),
            Aim::Squared(centre) => work.run(&SquaredError { centre, moments, spreads }),
            Aim::Poisson => work.run(&Poisson { moments, spreads }),
        }
    }
}

fn by_width<I: Counts, W: Work>(classes: usize, work: W) -> W::Out {
    match classes {
        0..=2 => work.run(&ClassMeasure::<I, 2>::new(classes)),
        3..=4 => work.run(&ClassMeasure::<I, 4>::new(classes)),
        5..=8 => work.run(&ClassMeasure::<I, 8>::new(classes)),
        _ => work.run(&ClassMeasure::<I, MOST_CLASSES>::new(classes)),
    }
}

/// How much rows of a tree count, and the grids of what is added up.
pub(super) struct Scales {
    /// A factor for each class; none for numbers.
    factors: Vec<f64>,
    weights: Grid,
    moments: Grid,
    spreads: Grid,
}

impl Scales {
    /// The weight of a row with this target, from its own and how often it was drawn.
    pub(super) fn weight(&self, target: f64, count: u32, weight: f64) -> f64 {
        let factor = self.factors.get(target as usize).copied().unwrap_or(1.0);
        self.weights.positive(f64::from(count) * weight * factor)
    }
}

/// A factor for each class by which classes with these sums of weights count the same.
pub(super) fn balanced_factors(sums: &[f64]) -> Vec<f64> {
    let present = sums.iter().filter(|&&sum| sum > 0.0).count() as f64;
    let total: f64 = sums.iter().sum();
    sums.iter().map(|&sum| if sum > 0.0 { total / (present * sum) } else { 1.0 }).collect()
}

/// Targets of rows as numbers: a column for each, codes of classes as one.
pub(super) fn targets(data: &Dataset) -> Result<Matrix> {
    match data.y {
        Some(Target::Class { codes, .. }) => {
            Ok(Matrix::column_vector(codes.iter().map(|&code| f64::from(code)).collect()))
        }
        _ => {
            let y = data.real_target()?;
            Ok(Matrix::from_fn(y.nrows(), y.ncols(), |i, j| y.at(i, j)))
        }
    }
}

/// The sum of the weights, then those of the weights times each target; of classes the weight of each.
pub(super) fn target_sums(y: &Matrix, classes: usize, data: &Dataset, run: &Context) -> Vec<f64> {
    let width = if classes > 0 { classes } else { 1 + y.ncols() };
    tree_sums(y.nrows(), width, run, |range, sums| {
        for i in range {
            if classes > 0 {
                sums[y[(i, 0)] as usize] += data.weight(i);
                continue;
            }
            sums[0] += data.weight(i);
            (0..y.ncols()).for_each(|j| sums[1 + j] += data.weight(i) * y[(i, j)]);
        }
    })
}

/// The means of targets from their sums; zero where they are too large to be added up.
pub(super) fn means(sums: &[f64]) -> Vec<f64> {
    let mean = |sum: &f64| Some(sum / sums[0]).filter(|mean| mean.is_finite()).unwrap_or(0.0);
    sums[1..].iter().map(mean).collect()
}

impl ForestRounds {
    /// What sums over bins are for, by what `target_sums` gives; none where they do not say all.
    pub(super) fn aim(&self, classes: usize, outputs: usize, sums: &[f64]) -> Option<Aim> {
        use TreeRegressorCriterion as Kind;
        if self.growth.method == Method::Exact || self.growth.monotonic_cst.is_some() {
            return None;
        }
        match self.goal {
            Goal::Classes { .. } if classes > MOST_CLASSES => None,
            Goal::Classes { criterion: TreeClassifierCriterion::Gini, .. } => {
                Some(Aim::Gini(classes))
            }
            Goal::Classes { .. } => Some(Aim::Entropy(classes)),
            Goal::Reals(Kind::AbsoluteError) => None,
            Goal::Reals(_) if outputs != 1 => None,
            Goal::Reals(Kind::Poisson) => Some(Aim::Poisson),
            Goal::Reals(_) => Some(Aim::Squared(means(sums)[0])),
        }
    }

    /// The factors of classes of a tree: by all rows or by those it has drawn.
    pub(super) fn factors(&self, all: &[f64], drawn: &[f64]) -> Vec<f64> {
        match self.goal {
            Goal::Reals(_) => Vec::new(),
            Goal::Classes { class_weight: None, .. } => vec![1.0; all.len()],
            Goal::Classes { class_weight: Some(ForestClassWeight::Balanced), .. } => {
                balanced_factors(all)
            }
            Goal::Classes { .. } => balanced_factors(drawn),
        }
    }

    /// Some trees of the forest, by number, with the whole table in memory.
    pub(super) fn grow(
        &self,
        members: Range<usize>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Vec<Tree>> {
        let y = targets(data)?;
        let classes = match data.y {
            Some(Target::Class { classes, .. }) => classes.len(),
            _ => 0,
        };
        grow::check_one_number(self.growth.monotonic_cst.is_some(), classes, y.ncols())?;
        if self.goal == Goal::Reals(TreeRegressorCriterion::Poisson) {
            crate::tree::check_counts(&y.view())?;
        }
        let sums = target_sums(&y, classes, data, run);
        let sampling = self.sampling(data.nrows())?;
        let rows = Rows { y: &y, data, sampling, sums: &sums };
        match self.aim(classes, y.ncols(), &sums) {
            None => self.grow_exactly(members, &rows, classes, run),
            Some(aim) => {
                let table =
                    BinnedTable::new(&data.x, BinLimits::narrow(self.growth.max_bins), run)?;
                run.try_par_map(members.len(), |k| {
                    let inner = run.child((members.start + k) as u64);
                    self.grow_one(aim, &table, &rows, &inner)
                })
            }
        }
    }

    /// One tree over a table in bins.
    fn grow_one(&self, aim: Aim, table: &BinnedTable, rows: &Rows, run: &Context) -> Result<Tree> {
        let counts = rows.sampling.counts(run);
        let count = |row: usize| counts.as_ref().map_or(1, |counts| counts[row]);
        let sums = tree_sums(table.rows, aim.width(), run, |range, sums| {
            for row in range.filter(|&row| count(row) > 0) {
                let weight = f64::from(count(row)) * rows.data.weight(row);
                aim.add(aim.target(rows.y[(row, 0)]), weight, sums);
            }
        });
        let scales = aim.scales(&sums, self.factors(rows.sums, &sums));
        let points = (0..table.rows).filter(|&row| count(row) > 0).map(|row| {
            let target = aim.target(rows.y[(row, 0)]);
            (row as u32, target, scales.weight(target, count(row), rows.data.weight(row)))
        });
        aim.measured(&scales, GrowOne { rounds: self, table, points, run })
    }

    /// Trees by a criterion that needs the rows of a node, not their sums.
    fn grow_exactly(
        &self,
        members: Range<usize>,
        rows: &Rows,
        classes: usize,
        run: &Context,
    ) -> Result<Vec<Tree>> {
        let all = rows.sums;
        let weight = |row: u32, count: u32| f64::from(count) * rows.data.weight(row as usize);
        let code = |row: u32| rows.y[(row as usize, 0)] as u32;
        let of_classes = |drawn: &[(u32, u32)]| {
            let mut sums = vec![0.0; classes];
            drawn.iter().for_each(|&(row, count)| sums[code(row) as usize] += weight(row, count));
            let factors = self.factors(all, &sums);
            let weights = drawn
                .iter()
                .map(|&(row, count)| weight(row, count) * factors[code(row) as usize])
                .collect();
            (drawn.iter().map(|&(row, _)| code(row)).collect(), classes, Some(weights))
        };
        let outputs = rows.y.ncols();
        let of_numbers = |drawn: &[(u32, u32)]| {
            let values: Vec<f64> =
                drawn.iter().flat_map(|&(row, _)| rows.y.row(row as usize).to_vec()).collect();
            let weights: Vec<f64> = drawn.iter().map(|&(row, count)| weight(row, count)).collect();
            (values, outputs, Some(weights))
        };
        use TreeRegressorCriterion as Kind;
        match self.goal {
            Goal::Classes { criterion: TreeClassifierCriterion::Gini, .. } => {
                self.exact_trees(members, rows, run, |drawn| {
                    let (codes, classes, weights) = of_classes(drawn);
                    Gini::new(codes, classes, weights)
                })
            }
            Goal::Classes { .. } => self.exact_trees(members, rows, run, |drawn| {
                let (codes, classes, weights) = of_classes(drawn);
                Entropy::new(codes, classes, weights)
            }),
            Goal::Reals(Kind::SquaredError | Kind::FriedmanMse) => {
                self.exact_trees(members, rows, run, |drawn| {
                    let (values, outputs, weights) = of_numbers(drawn);
                    Squared::new(values, outputs, weights)
                })
            }
            Goal::Reals(Kind::AbsoluteError) => self.exact_trees(members, rows, run, |drawn| {
                let (values, outputs, weights) = of_numbers(drawn);
                Absolute::new(values, outputs, weights)
            }),
            Goal::Reals(Kind::Poisson) => self.exact_trees(members, rows, run, |drawn| {
                let (values, outputs, weights) = of_numbers(drawn);
                grow::Poisson::new(values, outputs, weights)
            }),
        }
    }

    /// Trees over the columns of their own rows, sorted unless cuts are drawn; `criterion` knows rows with their
    /// counts.
    fn exact_trees<C: grow::Criterion>(
        &self,
        members: Range<usize>,
        rows: &Rows,
        run: &Context,
        criterion: impl Fn(&[(u32, u32)]) -> C + Sync,
    ) -> Result<Vec<Tree>> {
        let x = &rows.data.x;
        let directions = grow::directions(self.growth.monotonic_cst.as_deref(), x.schema())?;
        run.try_par_map(members.len(), |k| {
            let inner = run.child((members.start + k) as u64);
            let counts = rows.sampling.counts(&inner);
            let drawn: Vec<(u32, u32)> = (rows.sampling.drawn_rows(counts.as_deref()).into_iter())
                .map(|row| (row, counts.as_ref().map_or(1, |counts| counts[row as usize])))
                .collect();
            let places: Vec<usize> = drawn.iter().map(|&(row, _)| row as usize).collect();
            let part = x.gather(&places);
            let criterion = criterion(&drawn);
            let all: Vec<u32> = (0..drawn.len() as u32).collect();
            let weight = criterion.summary(&all).weight;
            let settings = Settings {
                directions: directions.clone(),
                ..self.settings(x.nrows(), x.ncols(), weight)
            };
            let columns = match settings.max_features * 3 <= x.ncols() {
                _ if settings.random => grow::Columns::unsorted(&part.frame(), &inner)?,
                true => grow::Columns::ranked(&part.frame(), &inner)?,
                false => grow::Columns::sorted(&part.frame(), &inner)?,
            };
            let tree = grow::grow(columns, &criterion, &settings, &inner)?;
            Ok(prune(tree, self.growth.ccp_alpha))
        })
    }
}

/// Rows in memory.
struct Rows<'a> {
    y: &'a Matrix,
    data: &'a Dataset<'a>,
    sampling: Sampling,
    /// What `target_sums` gives.
    sums: &'a [f64],
}

/// A tree from the table and the rows that it sees, with their targets and weights.
struct GrowOne<'a, P> {
    rounds: &'a ForestRounds,
    table: &'a BinnedTable,
    points: P,
    run: &'a Context<'a>,
}

impl<P: Iterator<Item = (u32, f64, f64)>> Work for GrowOne<'_, P> {
    type Out = Result<Tree>;

    fn run<M: Measure>(self, measure: &M) -> Result<Tree> {
        let GrowOne { rounds, table, points, run } = self;
        let items: Vec<Item<M::Point>> = points
            .map(|(row, target, weight)| Item { row, point: measure.point(target, weight) })
            .collect();
        let weight = M::weight(&total(measure, &items));
        let settings = &rounds.settings(table.rows, table.kinds.len(), weight);
        let ground = Ground { kinds: &table.kinds, measure, settings, weight, run };
        let view = View { bins: &table.bins, rows: table.rows };
        let (tree, _) = grow_binned(&ground, view, items, Start::ROOT)?;
        Ok(prune(tree, rounds.growth.ccp_alpha))
    }
}
