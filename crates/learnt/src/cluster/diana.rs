//! DIANA: divisive clustering, from one cluster of all rows down to single rows.
//!
//! The cluster of largest diameter splits, the one of the lowest row of equals: its row of largest
//! mean distance to the others begins a splinter, and rows follow while they are on average nearer to
//! the splinter than to the rest, the one with the largest difference first. The height of a split is
//! the diameter before it. The divisive coefficient is the mean over rows of 1 - (diameter of the last
//! cluster that the row shares) / (diameter of all). Needs n (n-1) / 2 distances, which it claims first.
//!
//! P. Macnaughton-Smith et al. (1964), Nature 202; L. Kaufman and P. Rousseeuw (1990), chapter 6.

use super::agglomerative::RowDistance;
use super::dendrogram::RowsToLink;
use super::linkage::Tree;
use learnt_core::chart::Chart;
use learnt_core::prelude::*;

/// Divisive clustering (DIANA): the table of splits as mergers, the highest last.
#[derive(Params, Clone, Debug)]
pub struct Diana {
    /// The distance between rows.
    #[param(positional, default = RowDistance::Euclidean)]
    pub metric: RowDistance,
}

/// A tree made from the top.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DivisiveTree {
    /// Two nodes, the diameter of their union, the rows below; see `linkage`.
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

    fn diameter(&self, rows: &[usize]) -> f64 {
        let pairs =
            rows.iter().enumerate().flat_map(|(k, &a)| rows[..k].iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| self.at(a, b)).fold(0.0, f64::max)
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
        .reference("Kaufman and Rousseeuw (1990), chapter 6");

    fn call(&self, given: RowsToLink, run: &Context) -> Result<DivisiveTree> {
        let pairs = Pairs::new(given.x, self.metric, run)?;
        let all: Vec<usize> = (0..pairs.n).collect();
        let widest = pairs.diameter(&all);
        let mut open = vec![(all, widest)];
        let mut splits: Vec<(usize, usize, f64)> = Vec::new();
        let mut last = vec![widest; pairs.n];
        while let Some(at) = widest_of(&open) {
            run.checkpoint()?;
            let (rows, diameter) = open.swap_remove(at);
            let (stay, splinter) = pairs.split(&rows);
            splits.push((stay[0], splinter[0], diameter));
            for part in [stay, splinter] {
                if part.len() == 1 {
                    last[part[0]] = diameter;
                    continue;
                }
                let diameter = pairs.diameter(&part);
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
    fn equal_rows_and_one_row_have_trees() {
        let equal = Diana::default().compute(RowsToLink { x: Matrix::zeros(6, 2).view() }).unwrap();
        assert_eq!((equal.value.nrows(), equal.coefficient), (5, 0.0));
        let one = Diana::default().compute(RowsToLink { x: Matrix::zeros(1, 2).view() }).unwrap();
        assert_eq!(one.value.nrows(), 0);
    }
}
