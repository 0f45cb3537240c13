//! DIANA: divisive clustering, from one cluster of all rows down to single rows.
//!
//! The cluster of largest diameter splits (or of largest mean distance, or of largest sum of squares Σ d² /
//! n over pairs), the one of the lowest row of equals: its row of largest mean distance to the others begins a
//! splinter, and rows follow while they are on average nearer to the splinter than to the rest, the one
//! with the largest difference first; or 2-means, the best of ten starts, divides its rows. Rows without
//! distances among them lose their first one. The height of a split is the measure of the cluster before
//! it. The divisive coefficient is the mean over rows of 1 - (diameter of the last
//! cluster that the row shares) / (diameter of all). Needs n (n-1) / 2 distances, which it claims first.
//!
//! P. Macnaughton-Smith et al. (1964), Nature 202; L. Kaufman and P. Rousseeuw (1990), chapter 6.

use super::dendrogram::RowsToLink;
use super::linkage::Tree;
use super::{KMeans, Restarts};
use crate::neighbors::RowDistance;
use learnt_core::chart::Chart;
use learnt_core::prelude::*;

/// Divisive clustering (DIANA): the table of splits as mergers, the highest last.
#[derive(Params, Clone, Debug)]
pub struct Diana {
    /// The distance between rows.
    #[param(positional, default = RowDistance::EUCLIDEAN)]
    pub metric: RowDistance,
    /// How a cluster splits.
    #[param(default = Division::Splinter)]
    pub split: Division,
    /// Which cluster splits next; its measure is the height of the split.
    #[param(default = NextSplit::Diameter)]
    pub next: NextSplit,
}

/// How a cluster splits.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// Rows leave one by one for a splinter while they are nearer to it.
    Splinter,
    /// By k-means with two centres; for rows, not for given distances.
    TwoMeans,
}

/// Which cluster splits next.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum NextSplit {
    /// That of the largest distance of two rows.
    Diameter,
    /// That of the largest mean distance over pairs of different rows.
    MeanPairs,
    /// That of the largest mean distance over all n² pairs.
    MeanAll,
    /// That of the largest sum of squares: squared distances of pairs over the number of rows.
    SumOfSquares,
}

/// A tree made from the top.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DivisiveTree {
    /// Two nodes, the measure of their union, the rows below; see `linkage`.
    pub value: Matrix,
    /// How clear the clusters are, from 0 to 1.
    pub coefficient: f64,
}

/// All distances, pairs once.
struct Pairs {
    n: usize,
    values: Vec<f64>,
}

impl Pairs {
    fn new(x: MatRef, metric: RowDistance, run: &Context) -> Result<Pairs> {
        let n = x.nrows();
        run.claim(8 * (n as u64) * (n as u64) / 2, "the distances of all pairs of rows")?;
        if metric.metric().is_none() && x.ncols() != n {
            let found = format!("{n} x {}", x.ncols());
            return Err(Error::shape("X", "a square table of distances", found));
        }
        let rows = x.to_matrix();
        let lines = run.try_par_map(n, |i| {
            let distance = |j: usize| match metric.metric() {
                Some(metric) => metric.distance(rows.row(i), rows.row(j)),
                None => rows[(i, j)],
            };
            Ok((i + 1..n).map(distance).collect::<Vec<f64>>())
        })?;
        let values = lines.concat();
        match values.iter().all(|value| *value >= 0.0 && value.is_finite()) {
            true => Ok(Pairs { n, values }),
            false => Err(Error::new(Code::NotFinite, "a distance is no number of at least 0")),
        }
    }

    fn at(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.min(b), a.max(b));
        if a == b { 0.0 } else { self.values[a * (2 * self.n - a - 1) / 2 + b - a - 1] }
    }

    /// What the next cluster to split is chosen by.
    fn measure(&self, rows: &[usize], next: NextSplit) -> f64 {
        let pairs =
            rows.iter().enumerate().flat_map(|(k, &a)| rows[..k].iter().map(move |&b| (a, b)));
        let distances = pairs.map(|(a, b)| self.at(a, b));
        let n = rows.len() as f64;
        match next {
            NextSplit::Diameter => distances.fold(0.0, f64::max),
            NextSplit::MeanPairs if rows.len() < 2 => 0.0,
            NextSplit::MeanPairs => 2.0 * distances.sum::<f64>() / (n * (n - 1.0)),
            NextSplit::MeanAll => 2.0 * distances.sum::<f64>() / (n * n),
            NextSplit::SumOfSquares => distances.map(|d| d * d).sum::<f64>() / n,
        }
    }

    /// Divides rows into those that stay and the splinter.
    fn split(&self, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let mut stay = rows.to_vec();
        let mut splinter: Vec<usize> = Vec::new();
        let mut to_stay: Vec<f64> =
            stay.iter().map(|&a| stay.iter().map(|&b| self.at(a, b)).sum()).collect();
        let mut to_splinter = vec![0.0; stay.len()];
        while stay.len() > 1 {
            let others = (stay.len() - 1) as f64;
            let gain = |k: usize| {
                let own = to_stay[k] / others;
                if splinter.is_empty() { own } else { own - to_splinter[k] / splinter.len() as f64 }
            };
            let mut best = 0;
            for k in 1..stay.len() {
                if gain(k) > gain(best) {
                    best = k;
                }
            }
            if !splinter.is_empty() && gain(best) <= 0.0 {
                break;
            }
            let row = stay.remove(best);
            to_stay.remove(best);
            to_splinter.remove(best);
            for (k, &other) in stay.iter().enumerate() {
                let distance = self.at(row, other);
                to_stay[k] -= distance;
                to_splinter[k] += distance;
            }
            splinter.push(row);
        }
        splinter.sort_unstable();
        (stay, splinter)
    }
}

impl Function for Diana {
    type Inputs<'a> = RowsToLink<'a>;
    type Output = DivisiveTree;
    const ABOUT: &'static Callable = &Callable::new("cluster.diana", FunctionKind::Analysis)
        .threads()
        .randomness()
        .reference("Kaufman and Rousseeuw (1990), chapter 6");

    fn call(&self, given: RowsToLink, run: &Context) -> Result<DivisiveTree> {
        if self.split == Division::TwoMeans && self.metric.metric().is_none() {
            return Err(Error::parameter(
                "split",
                "'splinter' where distances are given",
                "two_means",
            )
            .hint("give the rows themselves for splits by 2-means"));
        }
        let pairs = Pairs::new(given.x, self.metric, run)?;
        let all: Vec<usize> = (0..pairs.n).collect();
        let widest = pairs.measure(&all, self.next);
        let mut open = vec![(all, widest)];
        let mut splits: Vec<(usize, usize, f64)> = Vec::new();
        let mut last = vec![widest; pairs.n];
        while let Some(at) = widest_of(&open) {
            run.checkpoint()?;
            let (rows, diameter) = open.swap_remove(at);
            let (stay, splinter) = match self.split {
                Division::Splinter => pairs.split(&rows),
                Division::TwoMeans => halves(given.x, &rows, &run.child(splits.len() as u64))?,
            };
            splits.push((stay[0], splinter[0], diameter));
            for part in [stay, splinter] {
                if part.len() == 1 {
                    last[part[0]] = diameter;
                    continue;
                }
                let diameter = pairs.measure(&part, self.next);
                open.push((part, diameter));
            }
        }
        splits.reverse();
        let shares = last.iter().map(|d| if widest > 0.0 { 1.0 - d / widest } else { 0.0 });
        let coefficient = shares.sum::<f64>() / pairs.n as f64;
        let tree = Tree::from_pairs(pairs.n, splits)?;
        Ok(DivisiveTree { value: tree.to_matrix(), coefficient })
    }

    fn chart(&self, found: &DivisiveTree) -> Option<Chart> {
        Tree::from_matrix(found.value.view()).ok().map(|tree| tree.chart(None))
    }
}

/// Divides rows by k-means with two centres: those with the first row, and the others.
fn halves(x: MatRef, rows: &[usize], run: &Context) -> Result<(Vec<usize>, Vec<usize>)> {
    let part = OwnedDataset::unsupervised(x.gather_rows(rows));
    let learner = KMeans { n_clusters: 2, n_init: Restarts::Count(10), ..KMeans::default() };
    // Equal rows are divided by number: a warning that they have one cluster says nothing here.
    let labels = match distinct(part.x.values()) {
        true => learner.fit_in(&part.view(), &run.untraced())?.labels,
        false => Vec::new(),
    };
    let with_first = |k: usize| labels.get(k).map_or(k == 0, |label| *label == labels[0]);
    let (stay, leave): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&k| with_first(k));
    let of = |places: Vec<usize>| places.into_iter().map(|k| rows[k]).collect();
    Ok((of(stay), of(leave)))
}

/// Whether two rows differ.
fn distinct(x: &Matrix) -> bool {
    x.rows().any(|row| row != x.row(0))
}

/// The place of the open cluster with the largest diameter, that of the lowest row of equals.
fn widest_of(open: &[(Vec<usize>, f64)]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (k, (rows, diameter)) in open.iter().enumerate() {
        let better = best.is_none_or(|best| {
            let (other, widest) = &open[best];
            diameter > widest || (diameter == widest && rows[0] < other[0])
        });
        if better {
            best = Some(k);
        }
    }
    best.filter(|&k| open[k].0.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_far_apart_split_first() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.5, 20.0, 21.0]);
        let found = Diana::default().compute(RowsToLink { x: x.view() }).unwrap();
        let tree = Tree::from_matrix(found.value.view()).unwrap();
        assert_eq!(tree.cut_count(2), [0, 0, 0, 1, 1]);
        assert_eq!(tree.heights, [1.0, 1.0, 2.5, 21.0]);
        assert!(tree.is_monotone() && found.coefficient > 0.8);
    }

    #[test]
    fn two_means_split_far_groups_first_by_every_measure() {
        let x = Matrix::column_vector(vec![20.0, 0.0, 1.0, 2.5, 21.0, 0.4]);
        for next in
            [NextSplit::Diameter, NextSplit::MeanPairs, NextSplit::MeanAll, NextSplit::SumOfSquares]
        {
            let learner = Diana { split: Division::TwoMeans, next, ..Default::default() };
            let found = learner.compute(RowsToLink { x: x.view() }).unwrap();
            let tree = Tree::from_matrix(found.value.view()).unwrap();
            assert_eq!(tree.cut_count(2), [0, 1, 1, 1, 0, 1], "{next:?}");
            // Of 0, 0.4, 1 and 2.5 the last is alone: 2-means leaves 0.5067, other divisions more.
            assert_eq!(tree.cut_count(3), [0, 1, 1, 2, 0, 1], "{next:?}");
        }
        let learner = Diana { next: NextSplit::SumOfSquares, ..Default::default() };
        let found = learner.compute(RowsToLink { x: x.view() }).unwrap();
        // The sum of squares about the mean, 7.4833.
        let mean = 44.9 / 6.0;
        let squares: f64 = x.as_slice().iter().map(|v| (v - mean).powi(2)).sum();
        assert!((found.value[(4, 2)] - squares).abs() < 1e-9);
        let metric = RowDistance::Precomputed;
        let given = Diana { split: Division::TwoMeans, metric, ..Default::default() };
        assert!(given.compute(RowsToLink { x: Matrix::zeros(3, 3).view() }).is_err());
    }

    #[test]
    fn equal_rows_and_one_row_have_trees() {
        for split in [Division::Splinter, Division::TwoMeans] {
            let learner = Diana { split, ..Default::default() };
            let equal = learner.compute(RowsToLink { x: Matrix::zeros(6, 2).view() }).unwrap();
            assert_eq!((equal.value.nrows(), equal.coefficient), (5, 0.0));
            let one = learner.compute(RowsToLink { x: Matrix::zeros(1, 2).view() }).unwrap();
            assert_eq!(one.value.nrows(), 0);
        }
    }
}
