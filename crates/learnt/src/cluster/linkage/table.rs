//! Clusters as a table of distances, pairs once: n (n-1) / 2 numbers, updated by Lance and Williams.

use super::{Linkage, LinkageUpdate, Space};
use crate::metrics::tiles;
use crate::neighbors::Metric;
use learnt_core::linalg::Pages;
use learnt_core::prelude::*;

/// Distances of live clusters; squared where the linkage is defined by means.
pub(super) struct Table<'a> {
    linkage: Linkage,
    own: Option<LinkageUpdate<'a>>,
    n: usize,
    values: Pages,
    sizes: Vec<f64>,
    live: Vec<u32>,
}

impl<'a> Table<'a> {
    fn claim(n: usize, run: &Context) -> Result<()> {
        let pairs = n as u64 * (n as u64).saturating_sub(1) / 2;
        run.claim(8 * pairs, "the distances of all pairs of rows")
    }

    /// Distances of the rows of a table; squares, of `euclidean`, where the linkage is defined by means.
    pub(super) fn of_rows(
        x: MatRef,
        linkage: Linkage,
        metric: Metric,
        run: &Context,
    ) -> Result<Table<'a>> {
        let n = x.nrows();
        Self::claim(n, run)?;
        let rows = x.to_matrix();
        let mut values = Pages::zeros(n * n.saturating_sub(1) / 2);
        let mut rest: &mut [f64] = &mut values;
        let mut pairs = Vec::with_capacity(n);
        for i in 0..n {
            let (own, later) = rest.split_at_mut(n - i - 1);
            pairs.push(own);
            rest = later;
        }
        let squares = linkage.needs_means();
        tiles::distances(&rows, &rows, (metric, squares), &mut pairs, run)?;
        Self::of_pairs(n, values, linkage)
    }

    /// Given distances: square, symmetric, none negative.
    pub(super) fn of_distances(
        distances: MatRef,
        linkage: Linkage,
        run: &Context,
    ) -> Result<Table<'a>> {
        let n = distances.nrows();
        if distances.ncols() != n {
            let found = format!("({n}, {})", distances.ncols());
            let message = format!("Distance matrix should be square, got matrix of shape {found}");
            return Err(Error::new(Code::Shape, message));
        }
        Self::claim(n, run)?;
        let mut values = Pages::zeros(n * n.saturating_sub(1) / 2);
        let mut pairs = values.iter_mut();
        for i in 0..n {
            for j in i + 1..n {
                let (there, back) = (distances.at(i, j), distances.at(j, i));
                if (there - back).abs() > 1e-9 * there.abs().max(back.abs()) {
                    let message = format!(
                        "the distance from row {} to row {} is {there}, and {back} back",
                        i + 1,
                        j + 1
                    );
                    return Err(Error::new(Code::Usage, message)
                        .hint("take (D + D') / 2, which is symmetric"));
                }
                if let Some(pair) = pairs.next() {
                    *pair = there;
                }
            }
        }
        if linkage.needs_means() {
            values.iter_mut().for_each(|value| *value *= *value);
        }
        Self::of_pairs(n, values, linkage)
    }

    fn of_pairs(n: usize, values: Pages, linkage: Linkage) -> Result<Table<'a>> {
        if let Some(bad) = values.iter().find(|value| !(**value >= 0.0 && value.is_finite())) {
            let message = format!("a distance is {bad}, and must be a number of at least 0");
            return Err(Error::new(Code::NotFinite, message));
        }
        let live = (0..n as u32).collect();
        Ok(Table { linkage, own: None, n, values, sizes: vec![1.0; n], live })
    }

    /// With coefficients of one's own, between the distances as they are.
    pub(super) fn by(self, own: LinkageUpdate<'a>) -> Table<'a> {
        Table { own: Some(own), ..self }
    }
}

/// The place of a pair of rows.
#[inline(always)]
fn pair(n: usize, a: usize, b: usize) -> usize {
    let (a, b) = (a.min(b), a.max(b));
    start(n, a).wrapping_add(b)
}

/// The place before which the pairs of a row begin: add the other row.
#[inline(always)]
fn start(n: usize, i: usize) -> usize {
    // i (n - 1) - i (i + 1) / 2 + (i + 1) - 1 - i, without going below zero.
    (i * (2 * n - i - 1) / 2).wrapping_sub(i + 1)
}

impl Space for Table<'_> {
    fn nearest(&mut self, of: usize) -> (usize, f64) {
        let mut best = (usize::MAX, f64::INFINITY);
        let values: &[f64] = &self.values;
        let split = self.live.partition_point(|&other| (other as usize) < of);
        for &other in &self.live[..split] {
            let distance = values[start(self.n, other as usize).wrapping_add(of)];
            if distance < best.1 {
                best = (other as usize, distance);
            }
        }
        let start = start(self.n, of);
        for &other in self.live[split..].iter().filter(|&&other| other as usize != of) {
            let distance = values[start.wrapping_add(other as usize)];
            if distance < best.1 {
                best = (other as usize, distance);
            }
        }
        if best.0 == usize::MAX {
            let other = self.live.iter().find(|&&other| other as usize != of);
            best.0 = other.map_or(of, |&other| other as usize);
        }
        best
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        self.values[pair(self.n, a, b)]
    }

    fn merge(&mut self, gone: usize, kept: usize) {
        let between = self.distance(gone, kept);
        if let Ok(place) = self.live.binary_search(&(gone as u32)) {
            self.live.remove(place);
        }
        let Table { linkage, own, n, ref sizes, ref live, .. } = *self;
        let values: &mut [f64] = &mut self.values;
        let (i, j) = (sizes[gone], sizes[kept]);
        for other in live.iter().map(|&other| other as usize).filter(|&other| other != kept) {
            let to = pair(n, kept, other);
            let (x, y) = (values[pair(n, gone, other)], values[to]);
            values[to] = match (own, linkage) {
                (Some(own), _) => {
                    let [a, b, c, g] = own(i, j, sizes[other]);
                    a * x + b * y + c * between + g * (x - y).abs()
                }
                (None, Linkage::Single) => x.min(y),
                (None, Linkage::Complete) => x.max(y),
                (None, _) => {
                    let [a, b, c, _] = linkage.update(i, j, sizes[other]);
                    a * x + b * y + c * between
                }
            };
        }
        self.sizes[kept] += self.sizes[gone];
    }

    fn height(&self, distance: f64) -> f64 {
        if self.linkage.needs_means() { distance.max(0.0).sqrt() } else { distance }
    }
}
