//! How tight and how far apart clusters are, from the inputs alone.
//!
//! Silhouette (b - a) / max(a, b): a the mean distance to the other rows of the own cluster, b the
//! least mean distance to another cluster; 0 for a cluster of one. Distances are Euclidean; noise is
//! left out. Silhouette, BetaCV and Dunn look at all pairs, n² p time and no n² memory. Rows lie cluster
//! by cluster, so that each sum of distances runs over neighbours in memory.

use super::{same_length, undefined};
use learnt_core::linalg::{Distances, squared_distance};
use learnt_core::prelude::*;

/// Clustered rows, ready to be scored.
#[derive(Clone, Debug)]
pub struct Compactness {
    x: Matrix,
    /// The row of the data that each row of `x` is.
    rows: Vec<usize>,
    cluster: Vec<usize>,
    sizes: Vec<f64>,
    centres: Matrix,
}

/// Sums and counts of distances between pairs of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Sum of distances inside clusters.
    pub within: f64,
    /// Sum of distances between clusters.
    pub between: f64,
    /// Pairs inside clusters.
    pub pairs_within: f64,
    /// Pairs between clusters.
    pub pairs_between: f64,
    /// Largest distance inside a cluster.
    pub widest: f64,
    /// Smallest distance between clusters; infinite if there is one cluster.
    pub nearest: f64,
}

/// Spread of a cluster for the Davies-Bouldin index.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Mean distance to the centre, as in scikit-learn.
    Mean,
    /// Root of the mean squared distance.
    RootMeanSquare,
}

/// Rows that one task of a loop over pairs takes.
const ROWS: usize = 64;

/// Points that rows are measured against at a time.
const POINTS: usize = 128;

impl Compactness {
    /// Rows with their clusters; at least one must not be noise, and every number finite.
    pub fn new(x: MatRef, clusters: &[Option<u32>]) -> Result<Self> {
        same_length("clusters", x.nrows(), clusters.len())?;
        let mut names: Vec<u32> = clusters.iter().flatten().copied().collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Err(undefined("the score", "every row is noise"));
        }
        let place = |name: &u32| names.binary_search(name).unwrap_or_default();
        let mut order: Vec<(usize, usize)> = (0..clusters.len())
            .filter_map(|i| clusters[i].as_ref().map(|name| (place(name), i)))
            .collect();
        order.sort_unstable();
        let (cluster, rows): (Vec<usize>, Vec<usize>) = order.into_iter().unzip();
        let x = x.gather_rows(&rows);
        if x.as_slice().iter().any(|value| !value.is_finite()) {
            return Err(undefined("the score", "inputs are missing or infinite"));
        }
        let mut sizes = vec![0.0; names.len()];
        let mut centres = Matrix::zeros(names.len(), x.ncols());
        for (row, &k) in x.rows().zip(&cluster) {
            sizes[k] += 1.0;
            centres.row_mut(k).iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        for (k, size) in sizes.iter().enumerate() {
            centres.row_mut(k).iter_mut().for_each(|sum| *sum /= size);
        }
        Ok(Compactness { x, rows, cluster, sizes, centres })
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.sizes.len()
    }

    /// The rows that are not noise, cluster by cluster.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    fn several(&self, score: &str) -> Result<()> {
        match self.clusters() {
            1 => Err(undefined(score, "there is one cluster")),
            k if k == self.x.nrows() => Err(undefined(score, "every row is a cluster of its own")),
            _ => Ok(()),
        }
    }

    /// Sum of squared distances from the centres.
    pub fn inertia(&self) -> f64 {
        self.x.rows().zip(&self.cluster).map(|(row, &k)| self.squared_radius(row, k)).sum()
    }

    fn squared_radius(&self, row: &[f64], k: usize) -> f64 {
        squared_distance(row, self.centres.row(k))
    }

    /// The silhouette of each row that is not noise, in the order of [`Compactness::rows`].
    pub fn silhouettes(&self, run: &Context) -> Result<Vec<f64>> {
        self.several("silhouette")?;
        let panels = self.panels();
        self.silhouettes_by(run, |range, sums| {
            let block = self.x.view().rows(range.start, range.end);
            let mut squares = vec![0.0; range.len() * POINTS];
            for (k, points, panel) in &panels {
                let squares = &mut squares[..range.len() * points];
                panel.of(block, squares);
                for (row, sums) in squares.chunks_exact(*points).zip(sums.iter_mut()) {
                    sums[*k] += sum_of_roots(row);
                }
            }
        })
    }

    /// The same with any distance between two rows.
    pub fn silhouettes_with(
        &self,
        distance: impl Fn(&[f64], &[f64]) -> f64 + Sync,
        run: &Context,
    ) -> Result<Vec<f64>> {
        self.several("silhouette")?;
        self.silhouettes_by(run, |range, sums| {
            for (i, sums) in range.zip(sums) {
                for (row, &k) in self.x.rows().zip(&self.cluster) {
                    sums[k] += distance(self.x.row(i), row);
                }
            }
        })
    }

    /// Silhouettes from the sums of distances to each cluster, which `add` fills for a range of rows.
    fn silhouettes_by(
        &self,
        run: &Context,
        add: impl Fn(std::ops::Range<usize>, &mut [Vec<f64>]) + Sync,
    ) -> Result<Vec<f64>> {
        let blocks = run.par_ranges(self.x.nrows(), ROWS, |range| {
            run.checkpoint()?;
            let mut sums = vec![vec![0.0; self.clusters()]; range.len()];
            add(range.clone(), &mut sums);
            Ok(range.zip(&sums).map(|(i, sums)| self.silhouette_of(i, sums)).collect::<Vec<f64>>())
        });
        Ok(blocks.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    fn silhouette_of(&self, i: usize, sums: &[f64]) -> f64 {
        let own = self.cluster[i];
        if self.sizes[own] == 1.0 {
            return 0.0;
        }
        let inside = sums[own] / (self.sizes[own] - 1.0);
        let outside = (0..sums.len())
            .filter(|&k| k != own)
            .map(|k| sums[k] / self.sizes[k])
            .fold(f64::INFINITY, f64::min);
        let larger = inside.max(outside);
        if larger > 0.0 { (outside - inside) / larger } else { 0.0 }
    }

    /// The rows of each cluster in pieces, ready to be measured against: cluster, size, panel.
    fn panels(&self) -> Vec<(usize, usize, Distances)> {
        let mut out = Vec::new();
        let mut start = 0;
        for k in 0..self.clusters() {
            let end = start + self.sizes[k] as usize;
            while start < end {
                let stop = (start + POINTS).min(end);
                let piece: Vec<usize> = (start..stop).collect();
                let points = self.x.view().gather_rows(&piece);
                out.push((k, stop - start, Distances::new(&points)));
                start = stop;
            }
        }
        out
    }

    /// The mean silhouette.
    pub fn silhouette(&self, run: &Context) -> Result<f64> {
        let all = self.silhouettes(run)?;
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The mean silhouette of each cluster.
    pub fn silhouette_by_cluster(&self, run: &Context) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.clusters()];
        for (score, &k) in self.silhouettes(run)?.iter().zip(&self.cluster) {
            sums[k] += score;
        }
        Ok(sums.iter().zip(&self.sizes).map(|(sum, size)| sum / size).collect())
    }

    /// Distances between all pairs.
    pub fn scatter(&self, run: &Context) -> Result<Scatter> {
        let n = self.x.nrows();
        let blocks: Vec<Result<Scatter>> = run.par_ranges(n, ROWS, |range| {
            run.checkpoint()?;
            let mut part = Scatter { nearest: f64::INFINITY, ..Scatter::default() };
            for i in range {
                for j in i + 1..n {
                    let same = self.cluster[i] == self.cluster[j];
                    part.add(squared_distance(self.x.row(i), self.x.row(j)).sqrt(), same);
                }
            }
            Ok(part)
        });
        let mut all = Scatter { nearest: f64::INFINITY, ..Scatter::default() };
        for part in blocks {
            let part = part?;
            all.within += part.within;
            all.between += part.between;
            all.pairs_within += part.pairs_within;
            all.pairs_between += part.pairs_between;
            all.widest = all.widest.max(part.widest);
            all.nearest = all.nearest.min(part.nearest);
        }
        Ok(all)
    }

    /// Root mean square or mean distance to the centre, cluster by cluster.
    pub fn spreads(&self, spread: Spread) -> Vec<f64> {
        let mut sums = vec![0.0; self.clusters()];
        for (row, &k) in self.x.rows().zip(&self.cluster) {
            let square = self.squared_radius(row, k);
            sums[k] += if spread == Spread::Mean { square.sqrt() } else { square };
        }
        let finish = |(sum, size): (&f64, &f64)| match spread {
            Spread::Mean => sum / size,
            Spread::RootMeanSquare => (sum / size).sqrt(),
        };
        sums.iter().zip(&self.sizes).map(finish).collect()
    }

    /// Mean over clusters of the largest (s_i + s_j) / d(c_i, c_j).
    pub fn davies_bouldin(&self, spread: Spread) -> Result<f64> {
        self.several("davies-bouldin")?;
        let spreads = self.spreads(spread);
        let k = self.clusters();
        let mut sum = 0.0;
        for i in 0..k {
            let ratio = |j: usize| {
                let distance = squared_distance(self.centres.row(i), self.centres.row(j)).sqrt();
                (spreads[i] + spreads[j]) / distance
            };
            sum += (0..k).filter(|&j| j != i).map(ratio).fold(0.0, f64::max);
        }
        match sum.is_finite() {
            true => Ok(sum / k as f64),
            false => Err(undefined("davies-bouldin", "two clusters have one centre")),
        }
    }

    /// (B / (k - 1)) / (W / (n - k)) with B the spread of centres and W that around them.
    pub fn calinski_harabasz(&self) -> Result<f64> {
        self.several("calinski-harabasz")?;
        let (n, k) = (self.x.nrows() as f64, self.clusters() as f64);
        let mean: Vec<f64> =
            (0..self.x.ncols()).map(|j| self.x.column(j).iter().sum::<f64>() / n).collect();
        let far = |c: usize| self.sizes[c] * squared_distance(self.centres.row(c), &mean);
        let between: f64 = (0..self.clusters()).map(far).sum();
        let within = self.inertia();
        match within > 0.0 && n > k {
            true => Ok(between / (k - 1.0) / (within / (n - k))),
            false => Err(undefined("calinski-harabasz", "clusters have no spread")),
        }
    }

    /// Smallest distance between clusters over the largest inside one.
    pub fn dunn(&self, run: &Context) -> Result<f64> {
        self.several("dunn")?;
        let scatter = self.scatter(run)?;
        match scatter.widest > 0.0 {
            true => Ok(scatter.nearest / scatter.widest),
            false => Err(undefined("dunn", "clusters have no spread")),
        }
    }

    /// Mean distance inside clusters over that between them.
    pub fn beta_cv(&self, run: &Context) -> Result<f64> {
        self.several("beta-cv")?;
        self.scatter(run)?.beta_cv()
    }
}

/// Σ √v, in eight sums so that the roots are taken side by side.
fn sum_of_roots(values: &[f64]) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, value) in sums.iter_mut().zip(eight) {
            *sum += value.sqrt();
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|value| value.sqrt()).sum::<f64>()
}

impl Scatter {
    fn add(&mut self, distance: f64, same: bool) {
        if same {
            self.within += distance;
            self.pairs_within += 1.0;
            self.widest = self.widest.max(distance);
        } else {
            self.between += distance;
            self.pairs_between += 1.0;
            self.nearest = self.nearest.min(distance);
        }
    }

    /// Mean distance inside clusters over that between them.
    pub fn beta_cv(&self) -> Result<f64> {
        match self.pairs_within > 0.0 && self.between > 0.0 {
            true => Ok(self.within / self.pairs_within / (self.between / self.pairs_between)),
            false => Err(undefined("beta-cv", "every cluster has one row, or all rows are equal")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_left_out_and_one_cluster_has_no_silhouette() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 10.0, 11.0, 5.0]);
        let labels = [Some(3), Some(3), Some(7), Some(7), None];
        let scored = Compactness::new(x.view(), &labels).unwrap();
        assert_eq!(scored.rows(), [0, 1, 2, 3]);
        let mean = scored.silhouette(&Context::default()).unwrap();
        assert!((mean - 0.899_749_373_434).abs() < 1e-11);
        let one = Compactness::new(x.view(), &[Some(0); 5]).unwrap();
        assert!(one.silhouette(&Context::default()).is_err());
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let x = Matrix::from_fn(300, 3, |i, j| ((i * 37 + j * 11) % 101) as f64 / 7.0);
        let labels: Vec<Option<u32>> = (0..300).map(|i| Some(i % 4)).collect();
        let scored = Compactness::new(x.view(), &labels).unwrap();
        let with = |threads| {
            let run = Context::default().with_threads(threads);
            (scored.silhouettes(&run).unwrap(), scored.scatter(&run).unwrap())
        };
        assert_eq!(with(1), with(4));
    }
}
