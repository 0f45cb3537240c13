//! The first few principal directions by a block Krylov space: Q, CQ, C²Q, … with C the covariance,
//! which is never formed.
//!
//! A pass over the rows gives C Q for the newest block Q of k + 10 directions; the next block is what
//! is new in C Q beside all earlier ones. The directions of largest variance inside the space are the
//! result (Rayleigh and Ritz). Stops when ‖Cv - θv‖ <= tol θ₁ for every direction that is wanted, when
//! the space is exhausted, or after so many passes. After q passes the space holds that of q - 1 power
//! iterations on the same start, and more; the start is fixed, so that equal tables give equal bits.
//!
//! C. Musco and C. Musco (2015), Advances in Neural Information Processing Systems 28.

use learnt_core::linalg::{self, PivotedQr, add_scaled, dot, eigh, matmul_into};
use learnt_core::prelude::*;
use learnt_core::stats::sample::standard_normal;
use learnt_core::vectorized;

/// Directions beyond those wanted.
const SPARE: usize = 10;

/// Σ w (x - mean)(x - mean)ᵀ Q over rows, with what is needed to merge blocks of rows.
#[derive(Stored, Clone, Debug)]
pub struct Product {
    pub(super) rows: u64,
    pub(super) weight: f64,
    pub(super) mean: Vec<f64>,
    /// Σ w ‖x - mean‖².
    pub(super) squares: f64,
    /// Qᵀ mean.
    shadow: Vec<f64>,
    /// n_columns × n_directions.
    pub(super) product: Matrix,
}

impl Product {
    /// Of one block, about the given origin or its first row. `directions` are columns.
    pub(super) fn of(data: &Dataset, directions: &Matrix, origin: Option<&[f64]>) -> Product {
        let (width, count) = (directions.nrows(), directions.ncols());
        let mut about = vec![0.0; width];
        match origin {
            Some(origin) => about.copy_from_slice(origin),
            None if data.nrows() > 0 => data.x.values().copy_row(0, &mut about),
            None => {}
        }
        let mut sums = vec![0.0; width];
        let (mut weight, mut squares) = (0.0, 0.0);
        let mut product = Matrix::zeros(width, count);
        let rows = ((1 << 18) / (8 * width.max(1))).clamp(16, 256);
        let mut chunk = vec![0.0; rows * width];
        let mut shadows = vec![0.0; rows * count];
        for start in (0..data.nrows()).step_by(rows) {
            let part = data.rows(start, (start + rows).min(data.nrows()));
            let n = part.nrows();
            let (chunk, shadows) = (&mut chunk[..n * width], &mut shadows[..n * count]);
            part.x.values().write_rows(chunk);
            squares += vectorized!(centre(chunk, &part, &about, &mut sums));
            weight += (0..n).map(|i| part.weight(i)).sum::<f64>();
            if let Ok(chunk) = MatRef::row_major(chunk, n, width) {
                matmul_into(shadows, false, 1.0, chunk, directions.view());
                if let Ok(shadows) = MatRef::row_major(shadows, n, count) {
                    matmul_into(product.as_mut_slice(), true, 1.0, chunk.transposed(), shadows);
                }
            }
        }
        let share = if weight > 0.0 { 1.0 / weight } else { 0.0 };
        let offset: Vec<f64> = sums.iter().map(|sum| sum * share).collect();
        let along = linalg::matvec(directions.view().transposed(), &offset);
        add_outer(&mut product, -weight, &offset, &along);
        squares = (squares - weight * dot(&offset, &offset)).max(0.0);
        add_scaled(&mut about, 1.0, &offset);
        let shadow = linalg::matvec(directions.view().transposed(), &about);
        Product { rows: data.nrows() as u64, weight, mean: about, squares, shadow, product }
    }
}

/// Rows x into √w (x - origin), w (x - origin) onto `sums`; gives Σ w ‖x - origin‖².
#[inline(always)]
fn centre(rows: &mut [f64], data: &Dataset, origin: &[f64], sums: &mut [f64]) -> f64 {
    let mut squares = 0.0;
    for (i, row) in rows.chunks_exact_mut(origin.len().max(1)).enumerate() {
        let weight = data.weight(i);
        let root = weight.sqrt();
        for ((x, origin), sum) in row.iter_mut().zip(origin).zip(sums.iter_mut()) {
            let difference = *x - origin;
            *sum += weight * difference;
            *x = root * difference;
        }
        squares += dot(row, row);
    }
    squares
}

/// A += factor u vᵀ.
fn add_outer(a: &mut Matrix, factor: f64, u: &[f64], v: &[f64]) {
    for (i, u) in u.iter().enumerate() {
        add_scaled(a.row_mut(i), factor * u, v);
    }
}

impl Merge for Product {
    fn merge(mut self, later: Self) -> Result<Self> {
        if later.weight == 0.0 {
            return Ok(self);
        }
        if self.weight == 0.0 {
            return Ok(later);
        }
        let total = self.weight + later.weight;
        let share = later.weight / total;
        let between = self.weight * share;
        let gap =
            |a: &[f64], b: &[f64]| -> Vec<f64> { b.iter().zip(a).map(|(b, a)| b - a).collect() };
        let delta = gap(&self.mean, &later.mean);
        let along = gap(&self.shadow, &later.shadow);
        add_scaled(self.product.as_mut_slice(), 1.0, later.product.as_slice());
        add_outer(&mut self.product, between, &delta, &along);
        self.squares += later.squares + between * dot(&delta, &delta);
        add_scaled(&mut self.mean, share, &delta);
        add_scaled(&mut self.shadow, share, &along);
        self.weight = total;
        self.rows += later.rows;
        Ok(self)
    }
}

/// The space between passes; also the checkpoint of a fit.
#[derive(Stored, Clone, Debug)]
pub struct Krylov {
    wanted: usize,
    tol: f64,
    passes: usize,
    /// Orthonormal directions in rows.
    basis: Matrix,
    /// Their products with the sum of squares and products.
    images: Matrix,
    /// The block that the next pass multiplies, in columns.
    pub(super) next: Matrix,
    /// The mean, once it is known.
    pub(super) mean: Option<Vec<f64>>,
}

/// The largest sums of squares along directions, and the directions in columns.
pub(super) struct Found {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Matrix,
    pub(super) converged: bool,
}

impl Krylov {
    /// Before the first pass: `wanted` of `columns` directions, in at most `passes`.
    pub(super) fn new(wanted: usize, rows: u64, columns: usize, tol: f64, passes: usize) -> Self {
        let most = columns.min(usize::try_from(rows).unwrap_or(usize::MAX)).max(1);
        let count = (wanted + SPARE).min(most);
        let mut rng = Context::default().rng(0x6b72_796c);
        let start = Matrix::from_fn(columns, count, |_, _| standard_normal(&mut rng));
        Krylov {
            wanted,
            tol,
            passes,
            basis: Matrix::zeros(0, columns),
            images: Matrix::zeros(0, columns),
            next: PivotedQr::new(start.view()).q(),
            mean: None,
        }
    }

    /// Takes in a pass; what was found, if that is enough.
    pub(super) fn tell(&mut self, pass: &Product) -> Result<Option<Found>> {
        self.mean = Some(pass.mean.clone());
        self.passes -= 1;
        let columns = self.next.nrows();
        append(&mut self.basis, &self.next.transposed())?;
        append(&mut self.images, &pass.product.transposed())?;
        let (mut found, residual) = self.directions()?;
        self.next = self.fresh(&pass.product);
        let bound = self.tol * found.values.first().copied().unwrap_or(0.0);
        let exhausted = self.next.ncols() == 0 || self.basis.nrows() >= columns;
        found.converged = exhausted || residual <= bound;
        Ok((found.converged || self.passes == 0).then_some(found))
    }

    /// The best directions inside the space, and the largest residual of those that are wanted.
    fn directions(&self) -> Result<(Found, f64)> {
        let products = linalg::matmul(self.basis.view(), self.images.view().transposed());
        let size = products.nrows();
        let even = Matrix::from_fn(size, size, |i, j| 0.5 * (products[(i, j)] + products[(j, i)]));
        let eigen = eigh(&even)?;
        let count = self.wanted.min(size);
        let mix = eigen.vectors.view().columns(0, count).transposed();
        let vectors = linalg::matmul(mix, self.basis.view());
        let images = linalg::matmul(mix, self.images.view());
        let values: Vec<f64> = eigen.values[..count].iter().map(|v| v.max(0.0)).collect();
        let residual = (0..count)
            .map(|k| {
                let mut left = images.row(k).to_vec();
                add_scaled(&mut left, -values[k], vectors.row(k));
                linalg::norm(&left)
            })
            .fold(0.0, f64::max);
        Ok((Found { values, vectors: vectors.transposed(), converged: false }, residual))
    }

    /// An orthonormal basis of what is new in the columns of `images` beside the space.
    fn fresh(&self, images: &Matrix) -> Matrix {
        let scale = images.as_slice().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let mut block = images.clone();
        if scale > 0.0 {
            block.as_mut_slice().iter_mut().for_each(|v| *v /= scale);
        }
        // Twice, because once leaves rounding of the size of what is new.
        let mut basis = Matrix::zeros(block.nrows(), 0);
        for _ in 0..2 {
            let along = linalg::matmul(self.basis.view(), block.view());
            let old = self.basis.view().transposed();
            matmul_into(block.as_mut_slice(), true, -1.0, old, along.view());
            let qr = PivotedQr::new(block.view());
            let floor = 1e-12 * block.nrows() as f64 * f64::from(basis.ncols() == 0);
            let rank = (0..qr.rank).take_while(|&k| qr.r[(k, k)].abs() > floor).count();
            basis = qr.q().view().columns(0, rank).to_matrix();
            block = basis.clone();
        }
        basis
    }
}

fn append(rows: &mut Matrix, more: &Matrix) -> Result<()> {
    let (count, width) = (rows.nrows() + more.nrows(), more.ncols());
    let mut values = std::mem::take(rows).into_vec();
    values.extend_from_slice(more.as_slice());
    *rows = Matrix::from_vec(count, width, values)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::Scatter;

    fn sample(n: usize, p: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(21);
        let x = Matrix::from_fn(n, p, |_, j| 1e3 + standard_normal(&mut rng) / (1.0 + j as f64));
        let weights = (0..n).map(|i| f64::from(1 + i as u32 % 3)).collect();
        OwnedDataset { weights: Some(weights), ..OwnedDataset::unsupervised(x) }
    }

    #[test]
    fn blocks_merge_to_the_product_with_the_scatter() {
        let data = sample(300, 7);
        let directions = Matrix::from_fn(7, 2, |i, j| (i * 3 + j) as f64 / 7.0);
        let parts = [(0, 1), (1, 130), (130, 300)]
            .map(|(a, b)| Product::of(&data.view().rows(a, b), &directions, None));
        let all = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
        let scatter = Scatter::of(&data.view());
        let expected = linalg::matmul(scatter.scatter.view(), directions.view());
        for (a, b) in all.product.as_slice().iter().zip(expected.as_slice()) {
            assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{a} {b}");
        }
        let trace: f64 = (0..7).map(|j| scatter.scatter[(j, j)]).sum();
        assert!((all.squares / trace - 1.0).abs() < 1e-9);
        let about = Product::of(&data.view(), &directions, Some(&all.mean));
        assert!((about.squares / trace - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_space_finds_the_largest_eigenvectors_to_its_tolerance() {
        let data = sample(400, 40);
        let mut krylov = Krylov::new(3, 400, 40, 1e-9, 50);
        let mut passes = 0;
        let found = loop {
            passes += 1;
            let pass = Product::of(&data.view(), &krylov.next, krylov.mean.as_deref());
            if let Some(found) = krylov.tell(&pass).unwrap() {
                break found;
            }
        };
        assert!(found.converged && passes <= 4, "{passes}");
        let eigen = eigh(&Scatter::of(&data.view()).scatter).unwrap();
        for k in 0..3 {
            assert!((found.values[k] / eigen.values[k] - 1.0).abs() < 1e-10);
            let cosine: f64 = (0..40).map(|j| found.vectors[(j, k)] * eigen.vectors[(j, k)]).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_space_without_anything_new_ends() {
        let x = Matrix::from_fn(50, 30, |i, j| if j == 0 { (i % 7) as f64 } else { 2.0 });
        let data = OwnedDataset::unsupervised(x);
        let mut krylov = Krylov::new(2, 50, 30, 1e-9, 50);
        let mut passes = 0;
        loop {
            passes += 1;
            let pass = Product::of(&data.view(), &krylov.next, krylov.mean.as_deref());
            if let Some(found) = krylov.tell(&pass).unwrap() {
                assert!(found.converged && found.values[1] <= 1e-9 * found.values[0]);
                break;
            }
        }
        assert!(passes <= 4, "{passes}");
    }
}
