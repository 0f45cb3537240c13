//! The two steps of a mixture, over tiles of eight rows: what every row weighs in every component, and
//! the weighted moments of the components.
//!
//! ln π_k + ln N(x; μ_k, L Lᵀ) by forward substitution L z = x - μ_k; responsibilities by
//! log-sum-exp. A triangle that all components share is solved once for each row, about the mean of the
//! means. Moments are taken about the means before the step, which at convergence are the means after it, so
//! that nothing cancels. A row's numbers come from its own values alone.

use super::super::gaussian::factor_of;
use super::triangle::{packed, padded, solved_square};
use learnt_core::linalg::{add_gram, mirror_lower, vector_math};
use learnt_core::prelude::*;
use learnt_core::vectorized;
use std::f64::consts::TAU;

/// Rows of a tile.
pub(super) const LANES: usize = 8;

/// One number for each row of a tile.
pub(super) type Lanes = [f64; LANES];

/// Rows that are worked on together.
const CHUNK: usize = 256;

/// Columns up to which second moments are summed tile by tile, and beyond by matrix product.
const NARROW: usize = 32;

/// The form of the covariances.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum MixtureCovariance {
    /// Each component has its own covariance matrix.
    Full,
    /// All components share one covariance matrix.
    Tied,
    /// Each component has its own variances; its columns are independent.
    Diag,
    /// Each component has one variance.
    Spherical,
}

/// The parameters of a mixture.
#[derive(Stored, Clone, Debug)]
pub struct Components {
    /// Form of the covariances.
    pub form: MixtureCovariance,
    /// Share of each component.
    pub weights: Vec<f64>,
    /// Means, one row a component.
    pub means: Matrix,
    /// A matrix each for `full`, one for `tied`; one row of variances a component otherwise.
    pub covariances: Vec<Matrix>,
}

impl MixtureCovariance {
    /// Whether covariances between columns are free.
    pub(super) fn has_triangle(self) -> bool {
        matches!(self, MixtureCovariance::Full | MixtureCovariance::Tied)
    }

    /// Free parameters of the covariances of `k` components of `p` columns.
    pub fn parameters(self, k: usize, p: usize) -> usize {
        match self {
            MixtureCovariance::Full => k * p * (p + 1) / 2,
            MixtureCovariance::Tied => p * (p + 1) / 2,
            MixtureCovariance::Diag => k * p,
            MixtureCovariance::Spherical => k,
        }
    }
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// The covariance matrix of a component.
    pub fn covariance(&self, k: usize) -> Matrix {
        let width = self.means.ncols();
        match self.form {
            MixtureCovariance::Full => self.covariances[k].clone(),
            MixtureCovariance::Tied => self.covariances[0].clone(),
            _ => Matrix::from_fn(width, width, |i, j| match i == j {
                true => self.covariances[0][(k, j)],
                false => 0.0,
            }),
        }
    }

    /// In the order of their means, those of the first column first.
    pub(super) fn sorted(self) -> Components {
        let mut order: Vec<usize> = (0..self.count()).collect();
        let means = &self.means;
        order.sort_by(|&a, &b| {
            let columns = means.row(a).iter().zip(means.row(b));
            let differ = columns.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
            differ.unwrap_or(std::cmp::Ordering::Equal)
        });
        let covariances = match self.form {
            MixtureCovariance::Full => order.iter().map(|&k| self.covariances[k].clone()).collect(),
            MixtureCovariance::Tied => self.covariances,
            _ => vec![self.covariances[0].view().gather_rows(&order)],
        };
        let weights = order.iter().map(|&k| self.weights[k]).collect();
        let means = self.means.view().gather_rows(&order);
        Components { form: self.form, weights, means, covariances }
    }

    /// The components with rows whose variances are no more than what is added to each.
    pub(super) fn collapsed(&self, added: f64) -> Vec<usize> {
        let is_point = |k: usize| {
            let covariance = self.covariance(k);
            self.weights[k] > 0.0
                && (0..self.means.ncols()).all(|j| covariance[(j, j)] <= 1.000_001 * added)
        };
        (0..self.count()).filter(|&k| is_point(k)).collect()
    }

    /// Ready for rows; an error if a covariance is singular.
    pub(super) fn kernel(&self) -> Result<Kernel<'_>> {
        let width = self.means.ncols();
        let collapsed = |k: usize| {
            let message = format!("component {k} has collapsed: its covariance is singular");
            Error::numeric(message)
                .hint("raise reg_covar, ask for fewer components, or set covariance_type to diag")
        };
        let mut factors = Vec::new();
        let mut logarithms = Vec::new();
        if self.form.has_triangle() {
            for (k, covariance) in self.covariances.iter().enumerate() {
                let factor = factor_of(covariance).ok_or_else(|| collapsed(k))?;
                logarithms.push(factor.ln_determinant());
                factors.push(packed(&factor.lower));
            }
        } else {
            for (k, variances) in self.covariances[0].rows().enumerate() {
                if !variances.iter().all(|v| *v > 0.0 && v.is_finite()) {
                    return Err(collapsed(k));
                }
                logarithms.push(variances.iter().map(|v| v.ln()).sum());
                factors.push(variances.iter().map(|v| v.sqrt().recip()).collect());
            }
        }
        let constant = |k: usize| {
            let determinant = logarithms[k.min(logarithms.len() - 1)];
            self.weights[k].ln() - 0.5 * (width as f64 * TAU.ln() + determinant)
        };
        let constants = (0..self.count()).map(constant).collect();
        let (origin, solved) = match self.form {
            MixtureCovariance::Tied => self.solved_means(&factors[0]),
            _ => (Vec::new(), Matrix::zeros(0, width)),
        };
        Ok(Kernel { components: self, constants, factors, origin, solved })
    }

    /// The mean of the means, and the means about it after a triangle was solved for them.
    fn solved_means(&self, factor: &[f64]) -> (Vec<f64>, Matrix) {
        let (count, width) = (self.count(), self.means.ncols());
        let middle = |j: usize| self.means.column(j).iter().map(|mean| mean / count as f64).sum();
        let origin: Vec<f64> = (0..width).map(middle).collect();
        let mut work = padded(width);
        let mut solved = Matrix::zeros(count, width);
        for k in 0..count {
            for (work, (mean, origin)) in work.iter_mut().zip(self.means.row(k).iter().zip(&origin))
            {
                *work = [mean - origin; LANES];
            }
            vectorized!(solved_square(factor, width, &mut work));
            solved.row_mut(k).iter_mut().zip(&work).for_each(|(z, work)| *z = work[0]);
        }
        (origin, solved)
    }
}

/// A mixture with the factors of its covariances.
pub(super) struct Kernel<'a> {
    components: &'a Components,
    constants: Vec<f64>,
    factors: Vec<Vec<f64>>,
    /// What is subtracted from rows before the triangle that all share is solved.
    origin: Vec<f64>,
    /// The means, solved likewise.
    solved: Matrix,
}

impl Kernel<'_> {
    /// Number of components.
    pub(super) fn count(&self) -> usize {
        self.constants.len()
    }

    /// ln π_k + ln N(x; μ_k, Σ_k), one row of `out` for each row of `x`.
    pub(super) fn joint(&self, x: MatRef, out: &mut [f64]) {
        let count = self.count();
        let mut logs = vec![[0.0; LANES]; count];
        let mut work = padded(x.ncols());
        Tiles::new(x).each(|first, tile, inside| {
            vectorized!(self.joint_of_tile(tile, &mut work, &mut logs));
            for lane in 0..inside {
                let row = &mut out[(first + lane) * count..][..count];
                row.iter_mut().zip(&logs).for_each(|(out, logs)| *out = logs[lane]);
            }
        });
    }

    /// `work` is [`padded`].
    #[inline(always)]
    fn joint_of_tile(&self, tile: &[Lanes], work: &mut [Lanes], logs: &mut [Lanes]) {
        if self.components.form == MixtureCovariance::Tied {
            subtract(tile, &self.origin, work);
            solved_square(&self.factors[0], tile.len(), work);
        }
        for (k, log) in logs.iter_mut().enumerate() {
            let mean = self.components.means.row(k);
            let square = match self.components.form {
                MixtureCovariance::Tied => square_from(self.solved.row(k), work),
                MixtureCovariance::Full => {
                    subtract(tile, mean, work);
                    solved_square(&self.factors[k], tile.len(), work)
                }
                _ => scaled_square(&self.factors[k], mean, tile),
            };
            for lane in 0..LANES {
                log[lane] = self.constants[k] - 0.5 * square[lane];
            }
        }
    }
}

#[inline(always)]
fn subtract(tile: &[Lanes], mean: &[f64], out: &mut [Lanes]) {
    for ((out, x), &mean) in out.iter_mut().zip(tile).zip(mean) {
        for lane in 0..LANES {
            out[lane] = x[lane] - mean;
        }
    }
}

/// ‖z - m‖².
#[inline(always)]
fn square_from(mean: &[f64], z: &[Lanes]) -> Lanes {
    let mut square = [0.0; LANES];
    for (z, &mean) in z.iter().zip(mean) {
        for lane in 0..LANES {
            let d = z[lane] - mean;
            square[lane] += d * d;
        }
    }
    square
}

/// ‖s (x - m)‖².
#[inline(always)]
fn scaled_square(scales: &[f64], mean: &[f64], x: &[Lanes]) -> Lanes {
    let mut square = [0.0; LANES];
    for ((x, &mean), &scale) in x.iter().zip(mean).zip(scales) {
        for lane in 0..LANES {
            let z = (x[lane] - mean) * scale;
            square[lane] += z * z;
        }
    }
    square
}

/// Log-joint densities into responsibilities; gives ln p of each row. Rows beyond the reach of every
/// component belong to each by its share.
#[inline(always)]
fn respond(logs: &mut [Lanes], shares: &[f64]) -> Lanes {
    let mut most = [f64::NEG_INFINITY; LANES];
    for log in logs.iter() {
        for lane in 0..LANES {
            most[lane] = if log[lane] > most[lane] { log[lane] } else { most[lane] };
        }
    }
    let mut sums = [0.0; LANES];
    for (log, &share) in logs.iter_mut().zip(shares) {
        for lane in 0..LANES {
            let reached = most[lane] > f64::NEG_INFINITY;
            let exponent = if reached { log[lane] - most[lane] } else { 0.0 };
            let power = vector_math::exp(exponent);
            log[lane] = if reached { power } else { share };
            sums[lane] += log[lane];
        }
    }
    for log in logs.iter_mut() {
        for lane in 0..LANES {
            log[lane] /= sums[lane];
        }
    }
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        out[lane] = most[lane] + sums[lane].ln();
    }
    out
}

/// ln p from one row of log-joint densities, which become the responsibilities: the arithmetic of
/// [`respond`] for one row.
pub(super) fn respond_row(logs: &mut [f64], shares: &[f64]) -> f64 {
    let most =
        logs.iter().fold(f64::NEG_INFINITY, |most, &log| if log > most { log } else { most });
    let sum = if most > f64::NEG_INFINITY {
        vector_math::exp_beyond(logs, most)
    } else {
        logs.copy_from_slice(shares);
        shares.iter().sum()
    };
    logs.iter_mut().for_each(|log| *log /= sum);
    most + sum.ln()
}

/// Rows eight by eight, column after column; the last tile repeats its last row.
struct Tiles<'a> {
    x: MatRef<'a>,
}

impl<'a> Tiles<'a> {
    fn new(x: MatRef<'a>) -> Self {
        Tiles { x }
    }

    /// Calls `f` with the number of the first row, the tile and the rows inside it.
    fn each(&self, mut f: impl FnMut(usize, &[Lanes], usize)) {
        let (n, width) = (self.x.nrows(), self.x.ncols());
        let whole = self.x.col_stride() == 1;
        let mut copy = vec![0.0; if whole { 0 } else { CHUNK * width }];
        let mut tile = vec![[0.0; LANES]; width];
        for start in (0..n).step_by(CHUNK) {
            let end = (start + CHUNK).min(n);
            if !whole {
                self.x.rows(start, end).write_rows(&mut copy[..(end - start) * width]);
            }
            for first in (start..end).step_by(LANES) {
                let inside = LANES.min(end - first);
                let row = |lane: usize| {
                    let i = first + lane.min(inside - 1);
                    match self.x.row_slice(i) {
                        Some(row) => row,
                        None => &copy[(i - start) * width..(i - start + 1) * width],
                    }
                };
                let rows: [&[f64]; LANES] = std::array::from_fn(row);
                turn(&rows, &mut tile);
                f(first, &tile, inside);
            }
        }
    }
}

/// Rows as the lanes of a tile.
fn turn(rows: &[&[f64]; LANES], tile: &mut [Lanes]) {
    let width = tile.len();
    let [a, b, c, d, e, f, g, h] = rows.map(|row| &row[..width]);
    for j in 0..width {
        tile[j] = [a[j], b[j], c[j], d[j], e[j], f[j], g[j], h[j]];
    }
}

/// Σ r, Σ r d and Σ r d dᵀ of each component with d = x - mean before the step, and Σ w ln p.
#[derive(Stored, Clone, Debug, Merge)]
pub struct Moments {
    /// Σ r.
    pub weights: Vec<f64>,
    /// Σ r d.
    pub first: Matrix,
    /// Σ r d dᵀ, or Σ r d² as one row a component.
    pub second: Vec<Matrix>,
    /// Σ w ln p.
    pub log_likelihood: f64,
}

impl Moments {
    /// Of rows that belong to components as the mixture says.
    pub(super) fn expected(data: &Dataset, kernel: &Kernel) -> Moments {
        let shares = &kernel.components.weights;
        let mut log_likelihood = 0.0;
        let mut work = padded(data.x.ncols());
        let mut moments = Self::of(data, &kernel.components.means, kernel.components.form, {
            let log_likelihood = &mut log_likelihood;
            #[inline(always)]
            move |first, tile: &[Lanes], inside, r: &mut [Lanes]| {
                kernel.joint_of_tile(tile, &mut work, r);
                let logs = respond(r, shares);
                for (lane, log) in logs.iter().enumerate().take(inside) {
                    *log_likelihood += data.weight(first + lane) * log;
                }
            }
        });
        moments.log_likelihood = log_likelihood;
        moments
    }

    /// Of rows that belong to components as `fill` says, about these means.
    pub(super) fn of(
        data: &Dataset,
        means: &Matrix,
        form: MixtureCovariance,
        mut fill: impl FnMut(usize, &[Lanes], usize, &mut [Lanes]),
    ) -> Moments {
        let (count, width) = (means.nrows(), means.ncols());
        let mut sums = Sums::new(count, width, form);
        let mut r = vec![[0.0; LANES]; count];
        Tiles::new(data.x.values()).each(|first, tile, inside| {
            vectorized!({
                fill(first, tile, inside, &mut r);
                for lane in 0..LANES {
                    let weight = if lane < inside { data.weight(first + lane) } else { 0.0 };
                    r.iter_mut().for_each(|r| r[lane] *= weight);
                }
                sums.add(tile, means, &r);
            });
            if sums.waiting() {
                sums.flush();
            }
        });
        sums.finish()
    }
}

/// Lane by lane sums of a block. Wide second moments wait as rows √r d for a matrix product.
struct Sums {
    form: MixtureCovariance,
    width: usize,
    weights: Vec<Lanes>,
    first: Vec<Lanes>,
    second: Vec<Lanes>,
    rows: Vec<Vec<f64>>,
    products: Vec<Matrix>,
}

impl Sums {
    fn new(count: usize, width: usize, form: MixtureCovariance) -> Sums {
        let wide = form.has_triangle() && width > NARROW;
        let pairs = match (form.has_triangle(), wide) {
            (false, _) => width,
            (true, false) => width * (width + 1) / 2,
            (true, true) => 0,
        };
        let products = if wide { count } else { 0 };
        Sums {
            form,
            width,
            weights: vec![[0.0; LANES]; count],
            first: vec![[0.0; LANES]; count * width],
            second: vec![[0.0; LANES]; count * pairs],
            rows: vec![Vec::new(); products],
            products: vec![Matrix::zeros(width, width); products],
        }
    }

    #[inline(always)]
    fn add(&mut self, tile: &[Lanes], means: &Matrix, r: &[Lanes]) {
        let width = self.width;
        let pairs = self.second.len() / self.weights.len();
        let mut d = [[0.0; LANES]; NARROW];
        for (k, r) in r.iter().enumerate() {
            for lane in 0..LANES {
                self.weights[k][lane] += r[lane];
            }
            let first = &mut self.first[k * width..(k + 1) * width];
            let mean = means.row(k);
            if !self.form.has_triangle() {
                let second = &mut self.second[k * pairs..(k + 1) * pairs];
                for j in 0..width {
                    for lane in 0..LANES {
                        let d = tile[j][lane] - mean[j];
                        let scaled = r[lane] * d;
                        first[j][lane] += scaled;
                        second[j][lane] += scaled * d;
                    }
                }
            } else if width <= NARROW {
                let mut second = &mut self.second[k * pairs..(k + 1) * pairs];
                let d = &mut d[..width];
                for j in 0..width {
                    let mut scaled = [0.0; LANES];
                    for lane in 0..LANES {
                        d[j][lane] = tile[j][lane] - mean[j];
                        scaled[lane] = r[lane] * d[j][lane];
                        first[j][lane] += scaled[lane];
                    }
                    let (own, later) = second.split_at_mut(j + 1);
                    second = later;
                    for (sum, d) in own.iter_mut().zip(d.iter()) {
                        for lane in 0..LANES {
                            sum[lane] += scaled[lane] * d[lane];
                        }
                    }
                }
            } else {
                for lane in 0..LANES {
                    let root = r[lane].sqrt();
                    for j in 0..width {
                        let d = tile[j][lane] - mean[j];
                        first[j][lane] += r[lane] * d;
                        self.rows[k].push(root * d);
                    }
                }
            }
        }
    }

    fn waiting(&self) -> bool {
        self.rows.first().is_some_and(|rows| rows.len() >= CHUNK * self.width)
    }

    fn flush(&mut self) {
        for (rows, product) in self.rows.iter_mut().zip(&mut self.products) {
            if let Ok(view) = MatRef::row_major(rows, rows.len() / self.width, self.width) {
                add_gram(product.as_mut_slice(), view);
            }
            rows.clear();
        }
    }

    fn finish(mut self) -> Moments {
        self.flush();
        let (count, width) = (self.weights.len(), self.width);
        let total = |lanes: &Lanes| lanes.iter().sum::<f64>();
        let first = Matrix::from_fn(count, width, |k, j| total(&self.first[k * width + j]));
        let pairs = self.second.len() / count;
        let second = if !self.form.has_triangle() {
            vec![Matrix::from_fn(count, width, |k, j| total(&self.second[k * width + j]))]
        } else if width <= NARROW {
            (0..count)
                .map(|k| {
                    let own = &self.second[k * pairs..(k + 1) * pairs];
                    Matrix::from_fn(width, width, |i, j| {
                        let (i, j) = (i.max(j), i.min(j));
                        total(&own[i * (i + 1) / 2 + j])
                    })
                })
                .collect()
        } else {
            self.products.iter_mut().for_each(mirror_lower);
            self.products
        };
        let weights = self.weights.iter().map(total).collect();
        Moments { weights, first, second, log_likelihood: 0.0 }
    }
}

/// The parameters of greatest likelihood given the moments about the means of `old`. A component
/// that has lost all rows keeps its place, with a share of zero.
pub(super) fn maximize(old: &Components, moments: &Moments, reg_covar: f64) -> Result<Components> {
    let (count, width) = (old.count(), old.means.ncols());
    let total: f64 = moments.weights.iter().sum();
    let alive = |k: usize| moments.weights[k] > 1e-300 * total;
    let shift = Matrix::from_fn(count, width, |k, j| match alive(k) {
        true => moments.first[(k, j)] / moments.weights[k],
        false => 0.0,
    });
    let means = Matrix::from_fn(count, width, |k, j| old.means[(k, j)] + shift[(k, j)]);
    let ridge = |i: usize, j: usize| if i == j { reg_covar } else { 0.0 };
    let about = |k: usize, i: usize, j: usize| {
        let moved = moments.weights[k] * shift[(k, i)] * shift[(k, j)];
        let left = moments.second[k][(i, j)] - moved;
        if i == j { left.max(0.0) } else { left }
    };
    let variance = |k: usize, j: usize| {
        let moved = moments.weights[k] * shift[(k, j)] * shift[(k, j)];
        (moments.second[0][(k, j)] - moved).max(0.0) / moments.weights[k] + reg_covar
    };
    let covariances: Vec<Matrix> = match old.form {
        MixtureCovariance::Full => (0..count)
            .map(|k| match alive(k) {
                true => Matrix::from_fn(width, width, |i, j| {
                    about(k, i, j) / moments.weights[k] + ridge(i, j)
                }),
                false => old.covariances[k].clone(),
            })
            .collect(),
        MixtureCovariance::Tied => vec![Matrix::from_fn(width, width, |i, j| {
            let within: f64 = (0..count).map(|k| about(k, i, j)).sum();
            within / total + ridge(i, j)
        })],
        MixtureCovariance::Diag => vec![Matrix::from_fn(count, width, |k, j| match alive(k) {
            true => variance(k, j),
            false => old.covariances[0][(k, j)],
        })],
        MixtureCovariance::Spherical => {
            let mean = |k: usize| (0..width).map(|j| variance(k, j)).sum::<f64>() / width as f64;
            let variances: Vec<f64> = (0..count)
                .map(|k| if alive(k) { mean(k) } else { old.covariances[0][(k, 0)] })
                .collect();
            vec![Matrix::from_fn(count, width, |k, _| variances[k])]
        }
    };
    let numbers = covariances.iter().flat_map(|c| c.as_slice()).chain(means.as_slice());
    if !total.is_finite() || !numbers.into_iter().all(|value| value.is_finite()) {
        return Err(Error::numeric("the moments overflow: the values are too large")
            .hint("divide the columns by a large constant first"));
    }
    let weights = moments.weights.iter().map(|weight| weight / total).collect();
    Ok(Components { form: old.form, weights, means, covariances })
}
