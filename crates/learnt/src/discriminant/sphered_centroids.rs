//! Sphering and the nearest centroid: linear discriminant analysis as geometry.
//!
//! X* = D^(-1/2) Uᵀ X for the pooled covariance S = U D Uᵀ of columns scaled to unit variance; a row
//! goes to the class whose centroid μ*_k is nearest in X*, corrected by the priors: the smallest
//! ½ ‖x* - μ*_k‖² - ln π_k, the first of equals.

use super::posterior;
use super::scatter::ClassScatter;
use super::sphering::Correlation;
use learnt_core::context::piece_rows;
use learnt_core::estimator::first_maximum;
use learnt_core::linalg::{Projection, squared_distance};
use learnt_core::prelude::*;
use learnt_core::rounds::{Merger, block_rows};

/// Coordinates in which classes have the identity as covariance, and the centroids there.
///
/// ```
/// use learnt::{discriminant::SpheredCentroids, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 7.0, 8.0, 9.0]);
/// let data = OwnedDataset::classification(x, &["a", "a", "a", "b", "b", "b"].map(Label::from));
/// let centroids = SpheredCentroids::of(&data.view(), &Context::default())?;
/// assert_eq!(centroids.nearest(&data.x.frame(), &Context::default())?, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpheredCentroids {
    /// Directions in rows (rank × n_features).
    pub directions: Matrix,
    /// Mean of all rows, the origin of the coordinates.
    pub origin: Vec<f64>,
    /// Centroids of the classes in the coordinates (n_classes × rank).
    pub centroids: Matrix,
    /// Probability of each class.
    pub priors: Vec<f64>,
}

impl SpheredCentroids {
    /// From rows with classes; priors are the shares of the classes.
    pub fn of(data: &Dataset, run: &Context) -> Result<SpheredCentroids> {
        let (_, classes) = data.class_target()?;
        let rows = block_rows(data.x.ncols());
        let blocks = data.nrows().div_ceil(rows);
        let parts = run.try_par_map(blocks, |b| {
            ClassScatter::of(&data.rows(b * rows, ((b + 1) * rows).min(data.nrows())), false)
        })?;
        let mut merger = Merger::new(blocks as u64);
        for (b, part) in (0..).zip(parts) {
            merger.add(b, part, Merge::merge)?;
        }
        let all = merger.total()?;
        let names: Vec<String> = data.x.schema().names().map(str::to_string).collect();
        let classes: Vec<String> = classes.iter().map(ToString::to_string).collect();
        all.check(&names, &classes)?;
        let directions = Correlation::new(&all.pooled()).sphering(1e-4)?;
        if directions.nrows() == 0 {
            return Err(Error::numeric("no column varies within the classes"));
        }
        let priors = posterior::priors(None, &all.weight);
        let mut origin = vec![0.0; names.len()];
        for (mean, &prior) in all.mean.rows().zip(&priors) {
            learnt_core::linalg::add_scaled(&mut origin, prior, mean);
        }
        let means = Table::unnamed(all.mean);
        let mut out = SpheredCentroids { directions, origin, centroids: Matrix::default(), priors };
        out.centroids = out.sphere(&means.frame(), run)?;
        Ok(out)
    }

    /// Rows in the sphered coordinates.
    pub fn sphere(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let rank = self.directions.nrows();
        if x.ncols() != self.origin.len() {
            let expected = format!("{} columns as in training", self.origin.len());
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let projection = Projection::new(&self.directions, &self.origin);
        let mut out = Matrix::zeros(x.nrows(), rank);
        let rows = piece_rows(self.origin.len());
        run.par_fill(out.as_mut_slice(), rows * rank.max(1), |start, piece| {
            let first = start / rank;
            projection.of(x.values().rows(first, first + piece.len() / rank), piece);
        });
        Ok(out)
    }

    /// The class of the nearest centroid, corrected by the priors.
    pub fn nearest(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let ln_priors: Vec<f64> = self.priors.iter().map(|prior| prior.ln()).collect();
        let class = |z: &[f64]| {
            let scores: Vec<f64> = (self.centroids.rows().zip(&ln_priors))
                .map(|(centroid, ln_prior)| ln_prior - 0.5 * squared_distance(z, centroid))
                .collect();
            first_maximum(&scores)
        };
        Ok(self.sphere(x, run)?.rows().map(class).collect())
    }
}
