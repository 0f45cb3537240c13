//! Weight, mean and scatter of each class, or their scatter pooled, by blocks of rows.
//!
//! A block is summed about the first row of each class in it, which keeps constant columns exactly
//! constant, and again about the means if those rows are far from them. Blocks merge by
//! S = S₁ + S₂ + (w₁w₂/w) δδᵀ for each class, with δ the difference of its means.
//!
//! Chan, Golub and LeVeque (1983), American Statistician 37(3), 242-247.

use learnt_core::error::plain;
use learnt_core::linalg::{RankUpdate, add_scaled, prefetch_rows, rows_ahead};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// What a pass brings back about the classes.
#[derive(Stored, Clone, Debug)]
pub struct ClassScatter {
    /// Rows of each class.
    pub(super) rows: Vec<u64>,
    /// Weight of each class.
    pub(super) weight: Vec<f64>,
    /// Mean of each class, zeros without rows (n_classes × n_features).
    pub(super) mean: Matrix,
    /// Σ w (x - mean)(x - mean)ᵀ: one matrix for each class, or one for all.
    pub(super) scatter: Vec<Matrix>,
}

/// Squared distance from first rows to means, in variances, from which a block is summed again: up
/// to there at most two digits are lost.
const FAR: f64 = 256.0;

impl ClassScatter {
    /// Of one block.
    pub(super) fn of(data: &Dataset, by_class: bool) -> Result<ClassScatter> {
        let (codes, classes) = data.class_target()?;
        let copy = (data.x.values().col_stride() != 1).then(|| data.x.values().to_matrix());
        let x = copy.as_ref().map_or(data.x.values(), Matrix::view);
        let mut origin = Matrix::zeros(classes.len(), x.ncols());
        let mut seen = vec![false; classes.len()];
        for (i, &code) in codes.iter().enumerate() {
            if !std::mem::replace(&mut seen[code as usize], true) {
                x.copy_row(i, origin.row_mut(code as usize));
            }
        }
        let block = ClassBlock { x, codes, data };
        let first = block.about(&origin, by_class);
        match first.far_from(&origin) {
            true => Ok(block.about(&first.mean, by_class)),
            false => Ok(first),
        }
    }

    /// Which scatter a class belongs to.
    fn place(&self, class: usize) -> usize {
        if self.scatter.len() == 1 { 0 } else { class }
    }

    fn far_from(&self, origin: &Matrix) -> bool {
        let columns = self.mean.ncols();
        let mut distance = Matrix::zeros(self.scatter.len(), columns);
        for (k, &weight) in self.weight.iter().enumerate() {
            let place = self.place(k);
            for j in 0..columns {
                let gap = self.mean[(k, j)] - origin[(k, j)];
                distance[(place, j)] += weight * gap * gap;
            }
        }
        let is_far =
            |place: usize, j: usize| distance[(place, j)] > FAR * self.scatter[place][(j, j)];
        (0..self.scatter.len()).any(|place| (0..columns).any(|j| is_far(place, j)))
    }

    /// The weight of all rows.
    pub(super) fn total(&self) -> f64 {
        self.weight.iter().sum()
    }

    /// Number of classes that have rows.
    pub(super) fn present(&self) -> usize {
        self.rows.iter().filter(|&&rows| rows > 0).count()
    }

    /// The weight less the number of classes: the divisor of the pooled covariance.
    pub(super) fn freedom(&self) -> f64 {
        self.total() - self.present() as f64
    }

    /// The pooled covariance, divisor N - K.
    pub(super) fn pooled(&self) -> Matrix {
        let columns = self.mean.ncols();
        let mut out = Matrix::zeros(columns, columns);
        for scatter in &self.scatter {
            add_scaled(out.as_mut_slice(), self.freedom().recip(), scatter.as_slice());
        }
        out
    }

    /// Refuses what has no covariance: fewer than two classes, no rows beyond one a class, and
    /// values whose squares overflow.
    pub(super) fn check(&self, names: &[String], classes: &[String]) -> Result<()> {
        if self.present() < 2 {
            let only = (0..classes.len()).find(|&k| self.rows[k] > 0).map_or("", |k| &classes[k]);
            let message =
                format!("only class '{}' has rows, and two classes are needed", plain(only));
            return Err(Error::new(Code::OneClass, message));
        }
        let overflows = |&j: &usize| {
            let squares = self.scatter.iter().any(|s| !s[(j, j)].is_finite());
            squares || (0..classes.len()).any(|k| !self.mean[(k, j)].is_finite())
        };
        if let Some(j) = (0..names.len()).find(overflows) {
            let name = plain(&names[j]);
            let message =
                format!("the squares of column '{name}' are too large for double precision");
            return Err(Error::new(Code::NotFinite, message)
                .column(name)
                .hint("divide it by its largest value"));
        }
        if self.freedom() > 0.0 {
            return Ok(());
        }
        let message = format!(
            "weight {} in {} classes leaves no variance within classes, which is divided by their difference",
            self.total(),
            self.present()
        );
        Err(Error::new(Code::TooFew, message)
            .hint("classes need more than one row each, and weights should count rows"))
    }
}

/// Rows of a block, each row's values neighbours in memory.
struct ClassBlock<'a> {
    x: MatRef<'a>,
    codes: &'a [u32],
    data: &'a Dataset<'a>,
}

impl ClassBlock<'_> {
    fn about(&self, origin: &Matrix, by_class: bool) -> ClassScatter {
        let (classes, columns) = (origin.nrows(), origin.ncols());
        let mut out = ClassScatter {
            rows: vec![0; classes],
            weight: vec![0.0; classes],
            mean: origin.clone(),
            scatter: Vec::new(),
        };
        let mut sums = Matrix::zeros(classes, columns);
        let ahead = rows_ahead(columns);
        for group in self.groups(classes, by_class) {
            let mut products = RankUpdate::new(columns);
            vectorized!({
                for (at, &i) in group.iter().enumerate() {
                    if let Some(&later) = group.get(at + ahead) {
                        prefetch_rows(self.x, later as usize, 1);
                    }
                    let k = self.codes[i as usize] as usize;
                    let weight = self.data.weight(i as usize);
                    let Some(row) = self.x.row_slice(i as usize).filter(|_| weight > 0.0) else {
                        continue;
                    };
                    out.rows[k] += 1;
                    out.weight[k] += weight;
                    let (sums, origin) = (sums.row_mut(k), origin.row(k));
                    products.push(
                        #[inline(always)]
                        |out| centre(row, weight, origin, sums, out),
                    );
                }
            });
            out.scatter.push(products.finish());
        }
        out.shift(&sums);
        out
    }

    /// The rows of each class, or all of them.
    fn groups(&self, classes: usize, by_class: bool) -> Vec<Vec<u32>> {
        if !by_class {
            return vec![(0..self.codes.len() as u32).collect()];
        }
        let mut groups = vec![Vec::new(); classes];
        for (i, &code) in (0..).zip(self.codes) {
            groups[code as usize].push(i);
        }
        groups
    }
}

/// √w (x - origin) into `out`, and w (x - origin) onto `sums`.
#[inline(always)]
fn centre(row: &[f64], weight: f64, origin: &[f64], sums: &mut [f64], out: &mut [f64]) {
    let root = weight.sqrt();
    for ((x, origin), (sum, out)) in row.iter().zip(origin).zip(sums.iter_mut().zip(out)) {
        let gap = x - origin;
        *sum += weight * gap;
        *out = root * gap;
    }
}

impl ClassScatter {
    /// From sums about an origin to sums about the means.
    fn shift(&mut self, sums: &Matrix) {
        for k in 0..self.weight.len() {
            let weight = self.weight[k];
            if weight <= 0.0 {
                continue;
            }
            let offset: Vec<f64> = sums.row(k).iter().map(|sum| sum / weight).collect();
            add_scaled(self.mean.row_mut(k), 1.0, &offset);
            let place = self.place(k);
            add_outer(&mut self.scatter[place], -weight, &offset);
        }
        for scatter in &mut self.scatter {
            (0..scatter.nrows()).for_each(|j| scatter[(j, j)] = scatter[(j, j)].max(0.0));
        }
    }
}

/// A += factor v vᵀ.
fn add_outer(a: &mut Matrix, factor: f64, v: &[f64]) {
    for (i, &value) in v.iter().enumerate() {
        add_scaled(a.row_mut(i), factor * value, v);
    }
}

impl Merge for ClassScatter {
    fn merge(mut self, later: Self) -> Result<Self> {
        for (own, other) in self.scatter.iter_mut().zip(&later.scatter) {
            add_scaled(own.as_mut_slice(), 1.0, other.as_slice());
        }
        for k in 0..self.weight.len() {
            self.rows[k] += later.rows[k];
            let (own, other) = (self.weight[k], later.weight[k]);
            if own == 0.0 {
                self.mean.row_mut(k).copy_from_slice(later.mean.row(k));
            } else if other > 0.0 {
                let (mean, other_mean) = (self.mean.row_mut(k), later.mean.row(k));
                let delta: Vec<f64> =
                    other_mean.iter().zip(mean.iter()).map(|(b, a)| b - a).collect();
                let share = other / (own + other);
                add_scaled(mean, share, &delta);
                let place = self.place(k);
                add_outer(&mut self.scatter[place], own * share, &delta);
            }
            self.weight[k] = own + other;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(3);
        let normal = learnt_core::stats::sample::standard_normal;
        let x =
            Matrix::from_fn(n, 3, |i, j| 1e4 * (i % 3) as f64 + (j + 1) as f64 * normal(&mut rng));
        let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % 3) as i64)).collect();
        OwnedDataset::classification(x, &labels)
    }

    fn close(a: &Matrix, b: &Matrix, tolerance: f64) {
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{x} {y}");
        }
    }

    #[test]
    fn blocks_merge_to_the_whole_and_classes_to_the_pool() {
        let data = sample(900);
        let data = data.view();
        let whole = ClassScatter::of(&data, true).unwrap();
        let first = ClassScatter::of(&data.rows(0, 301), true).unwrap();
        let rest = ClassScatter::of(&data.rows(301, 900), true).unwrap();
        let merged = first.merge(rest).unwrap();
        close(&merged.mean, &whole.mean, 1e-13);
        close(&merged.pooled(), &whole.pooled(), 1e-10);
        let pooled = ClassScatter::of(&data, false).unwrap();
        close(&pooled.pooled(), &whole.pooled(), 1e-10);
        assert_eq!(whole.freedom(), 897.0);
    }

    #[test]
    fn classes_absent_from_a_block_come_from_the_other() {
        let data = sample(30);
        let only = |wanted: u32| -> OwnedDataset {
            let codes = data.view().class_target().unwrap().0;
            let rows: Vec<usize> = (0..30).filter(|&i| codes[i] == wanted).collect();
            data.view().gather(&rows)
        };
        let parts: Vec<ClassScatter> =
            (0..3).map(|k| ClassScatter::of(&only(k).view(), true).unwrap()).collect();
        let [a, b, c] = parts.try_into().unwrap();
        let merged = a.merge(b).unwrap().merge(c).unwrap();
        let whole = ClassScatter::of(&data.view(), true).unwrap();
        close(&merged.mean, &whole.mean, 1e-14);
        assert_eq!(merged.rows, [10; 3]);
    }
}
