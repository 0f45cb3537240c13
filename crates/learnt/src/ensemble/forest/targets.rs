//! Trees for classes and for numbers, in bins where their sums say all.

use super::options::ForestClassWeight;
use super::{Plan, Sampling};
use crate::tree::Method;
use crate::tree::binned::{
    BinnedTable, ClassEntropy, ClassGini, ClassMeasure, ClassPoint, Counts, Item, Measure, Poisson,
    RealPoint, SquaredError, grow_binned,
};
use crate::tree::grow::{self, Absolute, Entropy, Gini, Squared};
use crate::tree::nodes::Tree;
use crate::tree::prune::prune;
use crate::tree::{TreeClassifierCriterion, TreeRegressorCriterion};
use learnt_core::prelude::*;

/// The random stream of the columns and cuts of a tree.
const COLUMNS_STREAM: u64 = 0x636f_6c73;
/// More classes than this are not added up by bin.
const MOST_CLASSES: usize = 16;

/// The classes of rows, and how much each counts.
pub(super) struct ClassTarget<'a> {
    codes: &'a [u32],
    classes: usize,
    weights: Option<&'a [f64]>,
    class_weight: Option<ForestClassWeight>,
    criterion: TreeClassifierCriterion,
}

impl<'a> ClassTarget<'a> {
    pub(super) fn new(
        data: &Dataset<'a>,
        criterion: TreeClassifierCriterion,
        class_weight: Option<ForestClassWeight>,
    ) -> Result<Self> {
        let (codes, classes) = data.class_target()?;
        let classes = classes.len();
        Ok(ClassTarget { codes, classes, weights: data.weights, class_weight, criterion })
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// A factor for each class, from the weights of all rows or of those drawn.
    fn factors(&self, counts: Option<&[u32]>) -> Vec<f64> {
        let counts = match self.class_weight {
            None => return vec![1.0; self.classes],
            Some(ForestClassWeight::Balanced) => None,
            Some(ForestClassWeight::BalancedSubsample) => counts,
        };
        let mut sums = vec![0.0; self.classes];
        for (i, &code) in self.codes.iter().enumerate() {
            let count = counts.map_or(1.0, |counts| f64::from(counts[i]));
            sums[code as usize] += count * self.weight(i);
        }
        let present = sums.iter().filter(|&&sum| sum > 0.0).count() as f64;
        let total: f64 = sums.iter().sum();
        sums.iter().map(|&sum| if sum > 0.0 { total / (present * sum) } else { 1.0 }).collect()
    }

    pub(super) fn grow(&self, plan: &Plan, x: &Frame, run: &Context) -> Result<Vec<Tree>> {
        let entropy = self.criterion != TreeClassifierCriterion::Gini;
        if plan.growth.method == Method::Exact || self.classes > MOST_CLASSES {
            return match entropy {
                false => self.exactly(plan, x, run, Gini::new),
                true => self.exactly(plan, x, run, Entropy::new),
            };
        }
        let table = BinnedTable::new(x, plan.growth.max_bins, run)?;
        match entropy {
            false => self.by_width::<ClassGini>(plan, &table, run),
            true => self.by_width::<ClassEntropy>(plan, &table, run),
        }
    }

    fn exactly<C: grow::Criterion>(
        &self,
        plan: &Plan,
        x: &Frame,
        run: &Context,
        criterion: impl Fn(Vec<u32>, usize, Option<Vec<f64>>) -> C + Sync,
    ) -> Result<Vec<Tree>> {
        plan.grow_exactly(x, run, |rows, counts| {
            let factors = self.factors(counts);
            let codes: Vec<u32> = rows.iter().map(|&row| self.codes[row as usize]).collect();
            let weight = |&row: &u32| {
                let count = counts.map_or(1.0, |counts| f64::from(counts[row as usize]));
                count * self.weight(row as usize) * factors[self.codes[row as usize] as usize]
            };
            criterion(codes, self.classes, Some(rows.iter().map(weight).collect()))
        })
    }

    fn by_width<I: Counts>(
        &self,
        plan: &Plan,
        table: &BinnedTable,
        run: &Context,
    ) -> Result<Vec<Tree>> {
        match self.classes {
            0..=2 => self.in_bins::<I, 2>(plan, table, run),
            3..=4 => self.in_bins::<I, 4>(plan, table, run),
            5..=8 => self.in_bins::<I, 8>(plan, table, run),
            _ => self.in_bins::<I, MOST_CLASSES>(plan, table, run),
        }
    }

    fn in_bins<I: Counts, const K: usize>(
        &self,
        plan: &Plan,
        table: &BinnedTable,
        run: &Context,
    ) -> Result<Vec<Tree>> {
        let measure = ClassMeasure::<I, K>::new(self.classes);
        in_bins(plan, table, &measure, run, |counts| {
            let factors = self.factors(counts);
            move |row: usize, count: f64| ClassPoint {
                class: self.codes[row],
                weight: count * self.weight(row) * factors[self.codes[row] as usize],
            }
        })
    }
}

/// Trees over a table in bins; `points` makes what a drawn row contributes.
fn in_bins<M: Measure, P: Fn(usize, f64) -> M::Point>(
    plan: &Plan,
    table: &BinnedTable,
    measure: &M,
    run: &Context,
    points: impl Fn(Option<&[u32]>) -> P + Sync,
) -> Result<Vec<Tree>> {
    let sampling: Sampling = plan.sampling(table.rows)?;
    run.try_par_map(plan.n_estimators - plan.made, |k| {
        let t = plan.made + k;
        let inner = run.child(t as u64);
        let counts = sampling.counts(&inner);
        let point = points(counts.as_deref());
        let mut cell = M::Cell::default();
        let items: Vec<Item<M::Point>> = (0..table.rows)
            .filter_map(|row| {
                let count = counts.as_ref().map_or(1, |counts| counts[row]);
                (count > 0).then(|| Item { row: row as u32, point: point(row, f64::from(count)) })
            })
            .collect();
        items.iter().for_each(|item| M::add(&mut cell, &item.point));
        let settings = plan.settings(table.rows, table.kinds.len(), M::weight(&cell));
        let rng = inner.rng(COLUMNS_STREAM);
        let tree = grow_binned(table, measure, items, &settings, rng, &inner)?;
        Ok(prune(tree, plan.growth.ccp_alpha))
    })
}

/// The numeric targets of rows, and how much each counts.
pub(super) struct RealTarget<'a> {
    y: MatRef<'a>,
    weights: Option<&'a [f64]>,
    criterion: TreeRegressorCriterion,
}

impl<'a> RealTarget<'a> {
    pub(super) fn new(data: &Dataset<'a>, criterion: TreeRegressorCriterion) -> Result<Self> {
        Ok(RealTarget { y: data.real_target()?, weights: data.weights, criterion })
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    pub(super) fn grow(&self, plan: &Plan, x: &Frame, run: &Context) -> Result<Vec<Tree>> {
        use TreeRegressorCriterion as Kind;
        if self.criterion == Kind::Poisson {
            crate::tree::check_counts(&self.y)?;
        }
        let by_rows = plan.growth.method == Method::Exact
            || self.y.ncols() != 1
            || self.criterion == Kind::AbsoluteError;
        if by_rows {
            return match self.criterion {
                Kind::SquaredError | Kind::FriedmanMse => self.exactly(plan, x, run, Squared::new),
                Kind::AbsoluteError => self.exactly(plan, x, run, Absolute::new),
                Kind::Poisson => self.exactly(plan, x, run, grow::Poisson::new),
            };
        }
        let table = BinnedTable::new(x, plan.growth.max_bins, run)?;
        match self.criterion {
            Kind::Poisson => self.in_bins(plan, &table, &Poisson, 0.0, run),
            _ => {
                let centre = self.mean();
                self.in_bins(plan, &table, &SquaredError { centre }, centre, run)
            }
        }
    }

    fn mean(&self) -> f64 {
        let (mut total, mut sum) = (0.0, 0.0);
        let first = self.y.at(0, 0);
        for row in 0..self.y.nrows() {
            total += self.weight(row);
            sum += self.weight(row) * (self.y.at(row, 0) - first);
        }
        first + sum / total
    }

    fn in_bins<M: Measure<Point = RealPoint>>(
        &self,
        plan: &Plan,
        table: &BinnedTable,
        measure: &M,
        centre: f64,
        run: &Context,
    ) -> Result<Vec<Tree>> {
        in_bins(plan, table, measure, run, |_| {
            move |row: usize, count: f64| RealPoint {
                target: self.y.at(row, 0) - centre,
                weight: count * self.weight(row),
            }
        })
    }

    fn exactly<C: grow::Criterion>(
        &self,
        plan: &Plan,
        x: &Frame,
        run: &Context,
        criterion: impl Fn(Vec<f64>, usize, Option<Vec<f64>>) -> C + Sync,
    ) -> Result<Vec<Tree>> {
        let outputs = self.y.ncols();
        plan.grow_exactly(x, run, |rows, counts| {
            let target = |&row: &u32| (0..outputs).map(move |j| self.y.at(row as usize, j));
            let values: Vec<f64> = rows.iter().flat_map(target).collect();
            let weight = |&row: &u32| {
                let count = counts.map_or(1.0, |counts| f64::from(counts[row as usize]));
                count * self.weight(row as usize)
            };
            criterion(values, outputs, Some(rows.iter().map(weight).collect()))
        })
    }
}
