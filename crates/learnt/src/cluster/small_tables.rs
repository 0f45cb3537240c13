//! Exact and teaching methods for small tables: the best of all partitions, and vector quantisation of
//! an image.

use super::choose_k::RowsToCluster;
use super::{Init, KMeans};
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;

/// The partition with the least sum of squares of all there are; for up to 14 rows.
#[derive(Params, Clone, Debug)]
pub struct ExhaustiveClustering {
    /// Number of clusters.
    #[param(positional, default = 2, range = 1..=14)]
    pub n_clusters: usize,
}

/// The best partition.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct BestPartition {
    /// The cluster of each row, numbered by first rows.
    pub value: Vec<i64>,
    /// Its sum of squared distances from the centres.
    pub inertia: f64,
    /// How many partitions there are.
    pub partitions: u64,
}

impl Function for ExhaustiveClustering {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = BestPartition;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.exhaustive_clustering", FunctionKind::Analysis);

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<BestPartition> {
        let x = given.x.to_matrix();
        let (n, k) = (x.nrows(), self.n_clusters);
        if n > 14 {
            let message = format!("{n} rows have too many partitions: at most 14 rows");
            return Err(Error::new(Code::Usage, message).hint("use cluster.KMeans"));
        }
        if k > n {
            let message = format!("n_samples={n} should be >= n_clusters={k}");
            return Err(Error::new(Code::TooFew, message));
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        let mut partitions = 0;
        // Restricted growth: a row joins a cluster that has begun, or begins the next.
        let mut labels = vec![0_usize; n];
        loop {
            let used = labels.iter().max().map_or(0, |most| most + 1);
            if used == k {
                partitions += 1;
                let cost = sum_of_squares(&x, &labels, k);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, labels.clone()));
                }
                if partitions % 65_536 == 0 {
                    run.checkpoint()?;
                }
            }
            if !next_partition(&mut labels, k) {
                break;
            }
        }
        let (inertia, labels) = best.ok_or_else(|| Error::internal("no partition"))?;
        if !inertia.is_finite() {
            return Err(Error::numeric("distances overflow: the values are too large"));
        }
        let value = labels.into_iter().map(|label| label as i64).collect();
        Ok(BestPartition { value, inertia, partitions })
    }
}

/// The next labels in order, each at most one above those before it and below `k`.
fn next_partition(labels: &mut [usize], k: usize) -> bool {
    for i in (1..labels.len()).rev() {
        let most = labels[..i].iter().max().copied().unwrap_or(0);
        if labels[i] <= most && labels[i] + 1 < k {
            labels[i] += 1;
            labels[i + 1..].fill(0);
            return true;
        }
    }
    false
}

fn sum_of_squares(x: &Matrix, labels: &[usize], k: usize) -> f64 {
    let mut sums = Matrix::zeros(k, x.ncols());
    let mut counts = vec![0.0; k];
    for (row, &label) in x.rows().zip(labels) {
        counts[label] += 1.0;
        sums.row_mut(label).iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    for (label, count) in counts.iter().enumerate() {
        sums.row_mut(label).iter_mut().for_each(|sum| *sum /= count);
    }
    x.rows().zip(labels).map(|(row, &label)| squared_distance(row, sums.row(label))).sum()
}

/// An image.
#[derive(Inputs, Clone, Copy)]
pub struct Image<'a> {
    /// Brightness of each pixel, one row of pixels a row.
    pub image: MatRef<'a>,
}

/// Vector quantisation: an image as blocks, each replaced by the nearest of few codewords (k-means).
#[derive(Params, Clone, Debug)]
pub struct VectorQuantization {
    /// Number of codewords.
    #[param(positional, default = 4, range = 1..)]
    pub n_codes: usize,
    /// Side of a block in pixels.
    #[param(default = 2, range = 1..)]
    pub block: usize,
    /// Numbers of the blocks that the codewords start at, row by row; k-means++ without.
    pub start_blocks: Option<Vec<usize>>,
}

/// A coded image.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CodedImage {
    /// The codewords, one a row, the pixels of a block row by row.
    pub codebook: Matrix,
    /// The codeword of each block, row by row.
    pub codes: Vec<u32>,
    /// The image made of codewords.
    pub decoded: Matrix,
    /// Mean squared difference of a pixel.
    pub mse: f64,
    /// Bits a pixel, without the codebook.
    pub bits_per_pixel: f64,
}

impl Function for VectorQuantization {
    type Inputs<'a> = Image<'a>;
    type Output = CodedImage;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.vector_quantization", FunctionKind::Analysis)
            .alias(&["vq"])
            .randomness()
            .threads()
            .reference("Gersho and Gray (1992)");

    fn call(&self, given: Image, run: &Context) -> Result<CodedImage> {
        let (image, side) = (given.image, self.block);
        if image.nrows() % side != 0 || image.ncols() % side != 0 {
            let expected = format!("sides that are multiples of block={side}");
            let found = format!("{} x {}", image.nrows(), image.ncols());
            return Err(Error::shape("image", expected, found));
        }
        let across = image.ncols() / side;
        let blocks = image.nrows() / side * across;
        let pixel = |block: usize, place: usize| {
            (block / across * side + place / side, block % across * side + place % side)
        };
        let x = Matrix::from_fn(blocks, side * side, |block, place| {
            let (i, j) = pixel(block, place);
            image.at(i, j)
        });
        let mut learner = KMeans { n_clusters: self.n_codes, tol: 0.0, ..KMeans::default() };
        if let Some(start) = &self.start_blocks {
            if let Some(bad) = start.iter().find(|&&block| block >= blocks) {
                return Err(Error::parameter("start_blocks", format!("below {blocks}"), bad));
            }
            learner.init =
                Init::Centers(start.iter().map(|&block| x.row(block).to_vec()).collect());
        }
        let data = OwnedDataset::unsupervised(x);
        let model = learner.fit_in(&data.view(), run)?;
        let mut decoded = Matrix::zeros(image.nrows(), image.ncols());
        for (block, &code) in model.labels.iter().enumerate() {
            for (place, &value) in model.cluster_centers.row(code as usize).iter().enumerate() {
                decoded[pixel(block, place)] = value;
            }
        }
        let pixels = (image.nrows() * image.ncols()) as f64;
        Ok(CodedImage {
            mse: model.inertia / pixels,
            bits_per_pixel: (self.n_codes as f64).log2() / (side * side) as f64,
            codebook: model.cluster_centers,
            codes: model.labels,
            decoded,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_all_partitions_is_never_worse_than_k_means() {
        for seed in 0..4 {
            let x = Matrix::from_fn(9, 2, |i, j| ((i * (3 + j) + seed) as f64 * 1.7).sin());
            for n_clusters in 1..5 {
                let best = ExhaustiveClustering { n_clusters }
                    .compute(RowsToCluster { x: x.view() })
                    .unwrap();
                let data = OwnedDataset::unsupervised(x.clone());
                let learner = KMeans { n_clusters, ..Default::default() };
                let found = learner.fit(&data.view()).unwrap();
                assert!(best.inertia <= found.inertia + 1e-12);
            }
        }
        let many = Matrix::zeros(15, 1);
        let error = ExhaustiveClustering::default().compute(RowsToCluster { x: many.view() });
        assert!(error.is_err());
    }

    #[test]
    fn as_many_codewords_as_distinct_blocks_lose_nothing() {
        let image = Matrix::from_fn(4, 6, |i, j| ((i / 2 + j / 2) % 3) as f64);
        let coded = VectorQuantization { n_codes: 3, ..Default::default() }
            .compute(Image { image: image.view() })
            .unwrap();
        assert_eq!((coded.mse, coded.decoded), (0.0, image));
        assert!((coded.bits_per_pixel - 3.0_f64.log2() / 4.0).abs() < 1e-12);
    }
}
