//! What the nearest-neighbour learners share: choices, the stored index, and how much each neighbour
//! counts.
//!
//! A row of weight w counts as w of the k neighbours, so that weight 2 is the row twice: rows are
//! taken from the nearest on until their weights reach k, and the last one counts with the rest.

use super::index::{Index, Metric, Neighbors, Structure};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// How much a neighbour counts.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum NeighborWeights {
    /// All the same.
    Uniform,
    /// One over the distance; where neighbours are at distance 0, those alone.
    Distance,
    /// One over the squared distance; where neighbours are at distance 0, those alone.
    DistanceSquared,
    /// 1 - u, with u the distance as a share of the reach: the distance of the next row after the k
    /// neighbours, or the radius.
    Triangular,
    /// 1 - u².
    Epanechnikov,
    /// (1 - u²)².
    Biweight,
    /// (1 - u³)³.
    Tricube,
    /// exp(-2 u²): a normal law whose deviation is half the reach.
    Gaussian,
}

impl NeighborWeights {
    /// The kernel at a share of the reach; none where weights need no reach.
    fn kernel(self, u: f64) -> Option<f64> {
        let inside = (1.0 - u).max(0.0);
        Some(match self {
            NeighborWeights::Triangular => inside,
            NeighborWeights::Epanechnikov => inside * (1.0 + u),
            NeighborWeights::Biweight => (inside * (1.0 + u)).powi(2),
            NeighborWeights::Tricube => (inside * (1.0 + u + u * u)).powi(3),
            NeighborWeights::Gaussian => (-2.0 * u * u).exp(),
            _ => return None,
        })
    }

    fn has_kernel(self) -> bool {
        self.kernel(0.0).is_some()
    }

    /// Multiplies the parts of neighbours by how much their distances make them count. Inverse
    /// distances are shares of the smallest, so that nothing overflows; where a kernel leaves
    /// nothing, because all are as far as its reach, parts stay as they are.
    pub(super) fn weigh(self, distances: &[f64], reach: f64, parts: &mut [f64]) {
        if self.has_kernel() {
            let share = |d: f64| if d == reach { 1.0 } else { d / reach };
            let factor = |d: f64| self.kernel(share(d)).unwrap_or(0.0);
            let counts = |(&d, &part): (&f64, &f64)| part > 0.0 && factor(d) > 0.0;
            if distances.iter().zip(&*parts).any(counts) {
                parts.iter_mut().zip(distances).for_each(|(part, &d)| *part *= factor(d));
            }
            return;
        }
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        for (part, &distance) in parts.iter_mut().zip(distances) {
            let share = if distance == nearest { 1.0 } else { nearest / distance };
            *part = match self {
                NeighborWeights::Distance => *part * share,
                NeighborWeights::DistanceSquared => *part * share * share,
                _ => *part,
            };
        }
    }
}

/// How neighbours are found. The result is the same, only time differs.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// A k-d tree for many rows of few columns, else brute force.
    Auto,
    /// Every query against every row.
    Brute,
    /// A tree of boxes.
    KdTree,
    /// A tree of balls.
    BallTree,
}

/// Names of distances.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MetricName {
    /// The p-th root of the sum of absolute differences to the power `p`.
    Minkowski,
    /// The root of the sum of squared differences.
    Euclidean,
    /// Another name for `euclidean`.
    L2,
    /// The sum of absolute differences.
    Manhattan,
    /// Another name for `manhattan`.
    Cityblock,
    /// Another name for `manhattan`.
    L1,
    /// The largest absolute difference.
    Chebyshev,
    /// One minus the cosine of the angle; brute force only, and no row may be zero.
    Cosine,
}

impl MetricName {
    /// The distance, with this power where it is Minkowski's.
    pub fn with_power(self, p: f64) -> Metric {
        match self {
            MetricName::Minkowski => Metric::minkowski(p),
            MetricName::Euclidean | MetricName::L2 => Metric::Euclidean,
            MetricName::Manhattan | MetricName::Cityblock | MetricName::L1 => Metric::Manhattan,
            MetricName::Chebyshev => Metric::Chebyshev,
            MetricName::Cosine => Metric::Cosine,
        }
    }
}

/// The distance between rows, or that the table holds distances.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum RowDistance {
    /// A distance by name.
    Named(MetricName),
    /// The table holds the distances itself: square, symmetric, of any proximity.
    Precomputed,
}

impl RowDistance {
    /// The root of the sum of squared differences.
    pub const EUCLIDEAN: RowDistance = RowDistance::Named(MetricName::Euclidean);

    /// The distance, with this power where it is Minkowski's; none where distances are given.
    pub fn with_power(self, p: f64) -> Option<Metric> {
        match self {
            RowDistance::Named(name) => Some(name.with_power(p)),
            RowDistance::Precomputed => None,
        }
    }

    /// The same where no power can be given: Minkowski's is 2.
    pub fn metric(self) -> Option<Metric> {
        self.with_power(2.0)
    }
}

impl Algorithm {
    /// The structure to search a table of this size.
    pub fn structure(self, metric: Metric, rows: usize, columns: usize) -> Structure {
        match self {
            Algorithm::Auto => Structure::suited(metric, rows, columns),
            Algorithm::Brute => Structure::Brute,
            Algorithm::KdTree => Structure::KdTree,
            Algorithm::BallTree => Structure::BallTree,
        }
    }
}

/// The parameters of both learners.
pub(super) struct Settings {
    pub(super) n_neighbors: usize,
    pub(super) weights: NeighborWeights,
    pub(super) algorithm: Algorithm,
    pub(super) leaf_size: usize,
    pub(super) p: f64,
    pub(super) metric: MetricName,
}

impl Settings {
    fn metric(&self) -> Metric {
        self.metric.with_power(self.p)
    }

    fn structure(&self, rows: usize, columns: usize) -> Structure {
        match self.algorithm {
            Algorithm::Auto if self.n_neighbors >= rows / 2 => Structure::Brute,
            algorithm => algorithm.structure(self.metric(), rows, columns),
        }
    }

    /// Refuses a tree that cannot search by the metric.
    pub(super) fn constraints(&self) -> Result<()> {
        self.structure(usize::MAX, 1).check(self.metric())
    }

    /// Prepares the training rows.
    pub(super) fn train(&self, data: &Dataset, run: &Context) -> Result<Neighborhood> {
        let x = data.x.values();
        let structure = self.structure(x.nrows(), x.ncols());
        let unequal = data.weights.filter(|weights| weights.iter().any(|&w| w != 1.0));
        Ok(Neighborhood {
            index: Index::build(x, self.metric(), structure, self.leaf_size, run)?,
            n_neighbors: self.n_neighbors,
            weights: self.weights,
            row_weights: unequal.map(<[f64]>::to_vec),
        })
    }
}

/// The weight of each class. Rows without weights are counted in several tables, so that a row need not wait for the
/// one before it.
pub(super) fn class_totals(data: &Dataset, codes: &[u32], classes: usize) -> Vec<f64> {
    const TABLES: usize = 4;
    let mut totals = vec![0.0; classes];
    if let Some(weights) = data.weights {
        codes.iter().zip(weights).for_each(|(&code, weight)| totals[code as usize] += weight);
        return totals;
    }
    let mut counts = vec![[0_u64; TABLES]; classes];
    let (groups, rest) = codes.as_chunks::<TABLES>();
    for group in groups {
        (0..TABLES).for_each(|k| counts[group[k] as usize][k] += 1);
    }
    rest.iter().for_each(|&code| counts[code as usize][0] += 1);
    counts.iter().map(|counts| counts.iter().sum::<u64>() as f64).collect()
}

/// Training rows, and how many of them count how much.
#[derive(Stored, Clone, Debug)]
#[stored(validate = validate)]
pub(super) struct Neighborhood {
    pub(super) index: Index,
    n_neighbors: usize,
    weights: NeighborWeights,
    row_weights: Option<Vec<f64>>,
}

impl Neighborhood {
    fn validate(&self) -> Result<()> {
        let good = |weights: &Vec<f64>| {
            weights.len() == self.index.nrows() && weights.iter().all(|w| w.is_finite() && *w > 0.0)
        };
        match self.n_neighbors > 0 && self.row_weights.as_ref().is_none_or(good) {
            true => Ok(()),
            false => Err(invalid("weights or number of neighbours")),
        }
    }

    /// Whether votes are surely numbers: those that count alike are, whatever the distances.
    pub(super) fn is_sure(&self) -> bool {
        self.weights == NeighborWeights::Uniform
    }

    /// How many neighbours vote.
    pub(super) fn voters_wanted(&self) -> usize {
        self.n_neighbors
    }

    /// The `k` nearest training rows of each row of `x`.
    pub(super) fn neighbors(&self, x: &Frame, k: usize, run: &Context) -> Result<Neighbors> {
        self.enough(k as f64, self.index.nrows() as f64)?;
        self.index.nearest(x.values(), k, run)
    }

    fn enough(&self, wanted: f64, there: f64) -> Result<()> {
        if wanted <= there {
            return Ok(());
        }
        let message = format!(
            "expected n_neighbors <= n_samples_fit, but n_neighbors = {wanted}, n_samples_fit = {there}"
        );
        Err(Error::new(Code::TooFew, message).hint("lower n_neighbors or train on more rows"))
    }

    /// Fills `width` numbers for each row of `x` by `answer(neighbours, how much each counts, out)`.
    pub(super) fn predict(
        &self,
        x: &Frame,
        width: usize,
        run: &Context,
        answer: impl Fn(&[u32], &[f64], &mut [f64]) + Sync,
    ) -> Result<Matrix> {
        const QUERIES: usize = 256;
        let found = self.voters(x, run)?;
        run.claim_table(x.nrows(), width, "the predictions")?;
        let mut out = Matrix::zeros(x.nrows(), width);
        run.par_fill(out.as_mut_slice(), QUERIES * width, |first, piece| {
            let mut counts = Vec::new();
            for (i, out) in piece.chunks_mut(width.max(1)).enumerate() {
                let query = first / width.max(1) + i;
                let rows = found.rows(query);
                self.count(rows, found.distances(query), &mut counts);
                answer(rows, &counts, out);
            }
        });
        Ok(out)
    }

    /// So many nearest rows that their weights reach the number of neighbours, and one more where a
    /// kernel needs its reach.
    fn voters(&self, x: &Frame, run: &Context) -> Result<Neighbors> {
        let (n, wanted) = (self.index.nrows(), self.n_neighbors as f64);
        let beyond = usize::from(self.weights.has_kernel());
        let Some(weights) = &self.row_weights else {
            self.enough(wanted, n as f64)?;
            return self.index.nearest(x.values(), (self.n_neighbors + beyond).min(n), run);
        };
        self.enough(wanted, weights.iter().sum())?;
        let mut k = (self.n_neighbors + beyond).min(n);
        loop {
            let found = self.index.nearest(x.values(), k, run)?;
            let total = |i: usize| {
                let rows = &found.rows(i)[..k - beyond.min(k - 1)];
                rows.iter().map(|&row| weights[row as usize]).sum()
            };
            if k == n || (0..found.len()).all(|i| wanted <= total(i)) {
                return Ok(found);
            }
            k = (2 * k).min(n);
        }
    }

    /// How much each neighbour counts: its part of the k, by its distance.
    fn count(&self, rows: &[u32], distances: &[f64], counts: &mut Vec<f64>) {
        let mut left = self.n_neighbors as f64;
        let mut reach = None;
        counts.clear();
        for (&row, &distance) in rows.iter().zip(distances) {
            let weight = self.row_weights.as_ref().map_or(1.0, |w| w[row as usize]);
            let part = weight.min(left);
            left -= part;
            counts.push(part);
            if part < weight {
                reach.get_or_insert(distance);
            }
        }
        let farthest = distances.last().copied().unwrap_or(0.0);
        self.weights.weigh(distances, reach.unwrap_or(farthest), counts);
    }
}

#[cfg(test)]
mod tests;
