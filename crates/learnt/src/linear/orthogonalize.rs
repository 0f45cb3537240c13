//! Successive orthogonalisation, and the QR factors of a design.
//!
//! z₀ = 1, z_j = x_j less its regressions on z₀..z_{j-1} (modified Gram-Schmidt), so that X = Z Γ with
//! Γ unit upper triangular. With D = diag(‖z_j‖), X = (Z D⁻¹)(D Γ) = Q R. The coefficient of the last
//! column is ⟨z_p, y⟩ / ⟨z_p, z_p⟩ with variance σ² / ⟨z_p, z_p⟩: large where z_p is nearly nothing,
//! which is worth a warning. Columns of which nothing is left have z_j = 0 and no coefficients.
//!
//! Björck (1967), BIT 7, 1-21.

use learnt_core::linalg::{add_scaled, dot, norm};
use learnt_core::prelude::*;

/// Columns made orthogonal one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Orthogonalization {
    /// The names of the columns, `(intercept)` first if there is one.
    pub names: Vec<String>,
    /// The orthogonal columns (n_rows × n_columns); zero where a column depends on earlier ones.
    pub z: Matrix,
    /// Γ, unit upper triangular: X = Z Γ.
    pub gamma: Matrix,
    /// ‖z_j‖, the diagonal of D.
    pub norms: Vec<f64>,
    /// ‖z_j‖ / ‖x_j‖: what is left of each column beside the earlier ones.
    pub left: Vec<f64>,
}

/// Share of a column below which a warning names it.
const LITTLE: f64 = 1e-6;

/// Makes the columns of `x` orthogonal in order, after a column of ones if there is an intercept.
///
/// ```
/// use learnt::linear::successive_orthogonalization;
/// use learnt::prelude::*;
/// let x = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 8.0]];
/// let x = Table::unnamed(Matrix::from_rows(&x)?);
/// let factors = successive_orthogonalization(&x.frame(), true, &Context::default())?;
/// let b = factors.coefficients(&[1.0, 3.0, 2.0, 5.0, 4.0])?;
/// assert!((b[2] + 0.553571).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
pub fn successive_orthogonalization(
    x: &Frame,
    intercept: bool,
    run: &Context,
) -> Result<Orthogonalization> {
    x.check(learnt_core::estimator::Accepts::default(), run)?;
    let (n, first) = (x.nrows(), usize::from(intercept));
    let p = x.ncols() + first;
    run.claim(2 * 8 * (n * p) as u64, "the orthogonal columns")?;
    let mut names: Vec<String> = vec!["(intercept)".into(); first];
    names.extend(x.schema().names().map(str::to_string));
    let mut columns: Vec<Vec<f64>> = vec![vec![1.0; n]; first];
    columns.extend((0..x.ncols()).map(|j| x.values().column(j)));
    let lengths: Vec<f64> = columns.iter().map(|column| norm(column)).collect();
    if let Some(j) = lengths.iter().position(|length| !(length * length).is_finite()) {
        let message = format!("the squares of '{}' are too large for double precision", names[j]);
        return Err(Error::new(Code::NotFinite, message).column(&names[j]));
    }
    let tolerance = (n.max(p) as f64 * f64::EPSILON).max(1e-13);
    let mut gamma = Matrix::from_fn(p, p, |i, j| f64::from(i == j));
    let (mut norms, mut left) = (Vec::new(), Vec::new());
    for j in 0..p {
        run.checkpoint()?;
        let (before, rest) = columns.split_at_mut(j);
        let own = &mut rest[0];
        for (k, z) in before.iter().enumerate().filter(|(k, _)| norms[*k] > 0.0) {
            let along = dot(z, own) / (norms[k] * norms[k]);
            gamma[(k, j)] = along;
            add_scaled(own, -along, z);
        }
        let length = norm(own);
        let share = if lengths[j] > 0.0 { length / lengths[j] } else { 0.0 };
        if share <= tolerance {
            own.fill(0.0);
        }
        norms.push(if share <= tolerance { 0.0 } else { length });
        left.push(share);
        if share < LITTLE {
            run.warn(
                Code::Numeric,
                format!("beside earlier columns {share:.1e} of '{}' is left", names[j]),
            );
        }
    }
    let z = Matrix::from_fn(n, p, |i, j| columns[j][i]);
    Ok(Orthogonalization { names, z, gamma, norms, left })
}

impl Orthogonalization {
    /// Q = Z D⁻¹; zero columns stay zero.
    pub fn q(&self) -> Matrix {
        Matrix::from_fn(self.z.nrows(), self.z.ncols(), |i, j| match self.norms[j] > 0.0 {
            true => self.z[(i, j)] / self.norms[j],
            false => 0.0,
        })
    }

    /// R = D Γ, upper triangular: RᵀR = XᵀX.
    pub fn r(&self) -> Matrix {
        Matrix::from_fn(self.gamma.nrows(), self.gamma.ncols(), |i, j| {
            self.norms[i] * self.gamma[(i, j)]
        })
    }

    /// ⟨z_j, y⟩ / ⟨z_j, z_j⟩ for each column, taken one after the other; the last is the coefficient of
    /// the last column in the regression on all.
    pub fn successive_coefficients(&self, y: &[f64]) -> Result<Vec<f64>> {
        if y.len() != self.z.nrows() {
            let expected = format!("{} values, one for each row", self.z.nrows());
            return Err(Error::shape("y", expected, y.len()));
        }
        let mut rest = y.to_vec();
        let mut out = Vec::with_capacity(self.names.len());
        for (j, (name, length)) in self.names.iter().zip(&self.norms).enumerate() {
            if *length == 0.0 {
                let message = format!("column '{name}' depends on earlier ones");
                return Err(Error::numeric(message).column(name).hint("leave it out"));
            }
            let z = self.z.column(j);
            let along = dot(&z, &rest) / (length * length);
            add_scaled(&mut rest, -along, &z);
            out.push(along);
        }
        Ok(out)
    }

    /// The coefficients of the least-squares fit: b with R b = Qᵀy.
    pub fn coefficients(&self, y: &[f64]) -> Result<Vec<f64>> {
        let mut b = self.successive_coefficients(y)?;
        for i in (0..b.len()).rev() {
            let sum = dot(&self.gamma.row(i)[i + 1..], &b[i + 1..]);
            b[i] -= sum;
        }
        Ok(b)
    }

    /// Variance over σ² of the last column's coefficient, 1/⟨z_p, z_p⟩; none where that is zero.
    pub fn last_unit_variance(&self) -> Option<f64> {
        self.norms.last().filter(|length| **length > 0.0).map(|length| 1.0 / (length * length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::context::{Quiet, Recorder};
    use learnt_core::linalg::{gram, matmul};

    fn sample() -> Table {
        Table::unnamed(Matrix::from_fn(12, 4, |i, j| ((i * (2 * j + 3) + j * j) % 11) as f64))
    }

    fn close(a: &Matrix, b: &Matrix, tolerance: f64) {
        assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
        for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((a - b).abs() < tolerance, "{a} {b}");
        }
    }

    #[test]
    fn factors_multiply_back_and_q_is_orthonormal() {
        let x = sample();
        let factors = successive_orthogonalization(&x.frame(), true, &Context::default()).unwrap();
        let design =
            Matrix::from_fn(12, 5, |i, j| if j == 0 { 1.0 } else { x.values()[(i, j - 1)] });
        close(&matmul(factors.z.view(), factors.gamma.view()), &design, 1e-12);
        close(&matmul(factors.q().view(), factors.r().view()), &design, 1e-12);
        close(&gram(factors.r().view()), &gram(design.view()), 1e-10);
        let identity = Matrix::from_fn(5, 5, |i, j| f64::from(i == j));
        close(&gram(factors.q().view()), &identity, 1e-13);
    }

    #[test]
    fn nearly_nothing_left_is_a_warning_and_nothing_left_an_error() {
        let base = sample();
        for (share, dependent) in [(1e-8, false), (0.0, true)] {
            let x = Matrix::from_fn(12, 3, |i, j| match j {
                2 => base.values()[(i, 0)] + 2.0 * base.values()[(i, 1)] + share * (i % 3) as f64,
                j => base.values()[(i, j)],
            });
            let recorder = Recorder::new(&Quiet);
            let run = Context::default().observed_by(&recorder);
            let table = Table::unnamed(x);
            let factors = successive_orthogonalization(&table.frame(), true, &run).unwrap();
            assert!(recorder.warnings()[0].message.contains("'x2'"));
            assert_eq!(factors.coefficients(&[1.0; 12]).is_err(), dependent);
            assert_eq!(factors.last_unit_variance().is_none(), dependent);
        }
        let plain = successive_orthogonalization(&base.frame(), true, &Context::default()).unwrap();
        assert!(plain.coefficients(&[1.0; 3]).is_err());
    }
}
