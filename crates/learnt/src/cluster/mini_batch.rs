//! Mini-batch k-means: centres that follow the means of small batches of rows.
//!
//! Begins at the centres of k-means over `init_size` rows drawn at random. A step draws `batch_size`
//! rows (at most as many as there are) with replacement, in proportion to their weights; each joins its nearest centre, which moves
//! to the mean of all rows that have joined it. Ends when the centres of a step move by less than
//! `tol` (squared, in mean variances), when the smoothed inertia of batches has not fallen for
//! `max_no_improvement` steps, or after `max_iter` times the rows. Equal distances go to the lowest
//! cluster.
//!
//! D. Sculley (2010), WWW, 1177-1178.

use super::centres::total_shift;
use super::k_means::{Init, KMeans, KMeansModel, Restarts};
use learnt_core::linalg::{ColumnMoments, squared_distance};
use learnt_core::prelude::*;
use learnt_core::stats::sample::uniform;

/// Mini-batch k-means: nearly the clusters of k-means, from small batches of rows.
///
/// `reassignment_ratio` does not exist.
///
/// ```
/// use learnt::{cluster::MiniBatchKMeans, prelude::*};
/// let x = Matrix::from_fn(300, 1, |i, _| (i % 2) as f64 * 10.0 + (i % 7) as f64 * 0.1);
/// let data = OwnedDataset::unsupervised(x);
/// let model = MiniBatchKMeans { n_clusters: 2, ..Default::default() }.fit(&data.view())?;
/// assert!(model.inertia < 15.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MiniBatchKMeans {
    /// Number of clusters.
    #[param(positional, default = 8, range = 1.., search = linear(2, 20))]
    pub n_clusters: usize,
    /// Initialization of the centroids.
    #[param(default = Init::Greedy)]
    pub init: Init,
    /// Passes over as many rows as the table has, at most.
    #[param(default = 100, range = 1..)]
    pub max_iter: usize,
    /// Rows of a batch.
    #[param(default = 1024, range = 1..)]
    pub batch_size: usize,
    /// Squared shift of the centres at which steps end, as a multiple of the mean variance of the
    /// columns; 0 leaves it to the inertia.
    #[param(default = 0.0, range = 0.0..)]
    pub tol: f64,
    /// Steps without a fall of the smoothed inertia after which they end.
    #[param(default = Some(10), range = 1..)]
    pub max_no_improvement: Option<usize>,
    /// Rows that the first centres are found from; three batches by default.
    #[param(range = 1..)]
    pub init_size: Option<usize>,
    /// Number of random starts.
    #[param(default = Restarts::Auto)]
    pub n_init: Restarts,
}

impl MiniBatchKMeans {
    fn learner(&self) -> KMeans {
        let MiniBatchKMeans { n_clusters, init, n_init, .. } = self.clone();
        KMeans { n_clusters, init, n_init, ..KMeans::default() }
    }
}

/// Draws rows in proportion to their weights.
struct Draw {
    ends: Vec<f64>,
}

impl Draw {
    fn new(data: &Dataset) -> Draw {
        let mut reached = 0.0;
        let add = |i: usize| {
            reached += data.weight(i);
            reached
        };
        Draw { ends: (0..data.nrows()).map(add).collect() }
    }

    fn rows(&self, count: usize, rng: &mut learnt_core::context::Rng) -> Vec<usize> {
        let total = self.ends.last().copied().unwrap_or(0.0);
        let one = |_| {
            let at = uniform(rng) * total;
            self.ends.partition_point(|&end| end <= at).min(self.ends.len() - 1)
        };
        (0..count).map(one).collect()
    }
}

impl Estimator for MiniBatchKMeans {
    type Model = KMeansModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.MiniBatchKMeans")
        .also_transformer()
        .weights()
        .assign()
        .randomness()
        .threads()
        .iterations()
        .online()
        .scaling()
        .complexity(30)
        .cost("p k time a row of a batch, a pass for the labels; n memory")
        .reference("Sculley (2010), WWW, 1177-1178")
        .check_with(&[("n_clusters", "3")])
        .exempt(&[
            (
                "weights_repeat",
                "batches are drawn, and a row twice is drawn otherwise than a row of weight two",
            ),
            ("sklearn:check_sample_weight_equivalence_on_dense_data", "batches are drawn"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<KMeansModel> {
        let n = data.nrows();
        if n < self.n_clusters {
            let message = format!("n_samples={n} should be >= n_clusters={}", self.n_clusters);
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer clusters"));
        }
        let draw = Draw::new(data);
        let mut rng = run.rng(0x6d62_6b6d);
        let batch_size = self.batch_size.min(n);
        let first = self.init_size.unwrap_or(3 * batch_size).max(3 * self.n_clusters);
        let mut model = match first >= n {
            true => {
                // Rows that join count one each, so the weight of a centre is counted in rows.
                let mut model = self.learner().train(data, run)?;
                let each = n as f64 / model.weights.iter().sum::<f64>();
                model.weights.iter_mut().for_each(|weight| *weight *= each);
                model
            }
            false => {
                let rows = draw.rows(first, &mut rng);
                let sample = OwnedDataset { weights: None, ..data.gather(&rows) };
                self.learner().train(&sample.view(), run)?
            }
        };
        let moments = ColumnMoments::of(data);
        let variance = moments.variance(0.0);
        let tolerance = self.tol * variance.iter().sum::<f64>() / variance.len().max(1) as f64;
        let steps = self.max_iter.saturating_mul(n).div_ceil(batch_size);
        let smooth = (2.0 * batch_size as f64 / (n as f64 + 1.0)).min(1.0);
        let (mut smoothed, mut least, mut waited) = (None, f64::INFINITY, 0);
        let mut taken = 0;
        while taken < steps {
            run.checkpoint()?;
            let rows = draw.rows(batch_size, &mut rng);
            let batch = OwnedDataset { weights: None, ..data.gather(&rows) };
            let before = model.cluster_centers.clone();
            let inertia = model.follow(&batch, run)? / batch_size as f64;
            taken += 1;
            let now = smoothed.map_or(inertia, |old: f64| old + smooth * (inertia - old));
            smoothed = Some(now);
            run.record("smoothed inertia", taken as u64, now);
            if self.tol > 0.0 && total_shift(&before, &model.cluster_centers) <= tolerance {
                break;
            }
            waited = if now < least { 0 } else { waited + 1 };
            least = least.min(now);
            if self.max_no_improvement.is_some_and(|most| waited >= most) {
                break;
            }
        }
        model.n_iter = (taken * batch_size).div_ceil(n);
        model.n_steps = Some(taken);
        model.measure(data, run)?;
        Ok(model)
    }

    fn update(
        &self,
        model: Option<&KMeansModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<KMeansModel> {
        let steps = model.and_then(|model| model.n_steps).unwrap_or(0);
        let mut model = self.learner().update(model, data, run)?;
        model.n_steps = Some(steps + 1);
        Ok(model)
    }
}

impl KMeansModel {
    /// Moves centres to the means of all rows that have joined them; gives the inertia before.
    fn follow(&mut self, batch: &OwnedDataset, run: &Context) -> Result<f64> {
        let labels = self.nearest(&batch.x.frame(), run)?;
        let mut inertia = 0.0;
        let before = self.cluster_centers.clone();
        for (row, &label) in batch.x.values().rows().zip(&labels) {
            let k = label as usize;
            inertia += squared_distance(row, before.row(k));
            self.weights[k] += 1.0;
            let share = self.weights[k].recip();
            for (c, x) in self.cluster_centers.row_mut(k).iter_mut().zip(row) {
                *c += share * (x - *c);
            }
        }
        match inertia.is_finite() {
            true => Ok(inertia),
            false => Err(Error::numeric("distances overflow: the values are too large")),
        }
    }

    /// Labels, inertia and weights of all rows.
    fn measure(&mut self, data: &Dataset, run: &Context) -> Result<()> {
        self.labels = self.nearest(&data.x, run)?;
        self.inertia = 0.0;
        self.weights.fill(0.0);
        let mut row = vec![0.0; data.x.ncols()];
        for (i, &label) in self.labels.iter().enumerate() {
            data.x.values().copy_row(i, &mut row);
            let distance = squared_distance(&row, self.cluster_centers.row(label as usize));
            self.inertia += data.weight(i) * distance;
            self.weights[label as usize] += data.weight(i);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inertia_is_near_that_of_k_means() {
        let noise = |i: usize, j: usize| {
            let z = ((i * 7919 + j * 104_729 + 13) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as f64 / u64::MAX as f64
        };
        let x = Matrix::from_fn(20_000, 3, |i, j| (i % 5) as f64 * (j + 2) as f64 + noise(i, j));
        let data = OwnedDataset::unsupervised(x);
        let whole = KMeans { n_clusters: 5, ..Default::default() }.fit(&data.view()).unwrap();
        let learner = MiniBatchKMeans { n_clusters: 5, ..Default::default() };
        let batches = learner.fit(&data.view()).unwrap();
        assert!(batches.inertia < 1.05 * whole.inertia, "{} {}", batches.inertia, whole.inertia);
        assert_eq!(batches.labels.len(), 20_000);
    }
}
