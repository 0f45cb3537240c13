//! Scores of classes that are normal with a covariance each:
//! ln π_k - ½ ln det S_k - ½ ‖R_k (x - μ_k)‖²  with R_kᵀR_k = S_k⁻¹.

use super::posterior;
use super::scatter::ClassScatter;
use super::sphering::{Correlation, listed};
use learnt_core::context::piece_rows;
use learnt_core::error::plain;
use learnt_core::linalg::{Projection, dot};
use learnt_core::persist::{Shaped, Side, Sizes};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// The covariances of the classes in the form that scores need.
#[derive(Stored, Clone, Debug)]
pub(super) struct Gaussians {
    /// R_k (n_features × n_features).
    #[finite]
    roots: Vec<Matrix>,
    /// ln det S_k; 0 of a class without rows.
    #[finite]
    pub(super) ln_determinants: Vec<f64>,
}

/// Of so many classes and columns.
impl Shaped for Gaussians {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        let [classes, columns] = *sides else { return false };
        self.roots.fits(sizes, &[classes, columns, columns])
            && self.ln_determinants.fits(sizes, &[classes])
    }
}

impl Gaussians {
    /// From the covariance of each class; a singular one is an error that names class and columns.
    pub(super) fn new(
        covariances: &[Matrix],
        all: &ClassScatter,
        (names, classes): (&[String], &[String]),
        tol: f64,
        hint: &str,
        run: &Context,
    ) -> Result<Gaussians> {
        let parts = run.try_par_map(covariances.len(), |k| {
            let p = names.len();
            if all.rows[k] == 0 {
                return Ok((Matrix::zeros(p, p), 0.0));
            }
            let correlation = Correlation::new(&covariances[k]);
            let dependent = correlation.dependent(tol);
            match correlation.inverse_root().filter(|_| dependent.is_empty()) {
                Some(found) => Ok(found),
                None => Err(singular(&classes[k], all.rows[k], &dependent, names, hint)),
            }
        })?;
        let (roots, ln_determinants) = parts.into_iter().unzip();
        Ok(Gaussians { roots, ln_determinants })
    }

    /// Scores of all classes, or of the second less the first for two. A row has the same bits in
    /// any company.
    pub(super) fn decision_scores(
        &self,
        x: &Frame,
        means: &Matrix,
        priors: &[f64],
        run: &Context,
    ) -> Result<Matrix> {
        const ROWS: usize = 256;
        let (classes, columns) = (means.nrows(), means.ncols());
        if x.ncols() != columns {
            let expected = format!("{columns} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let projections: Vec<Projection> =
            (0..classes).map(|k| Projection::new(&self.roots[k], means.row(k))).collect();
        let constant = |k: usize| priors[k].ln() - 0.5 * self.ln_determinants[k];
        let constants: Vec<f64> = (0..classes).map(constant).collect();
        let mut out = Matrix::zeros(x.nrows(), classes);
        run.par_fill(out.as_mut_slice(), piece_rows(columns) * classes, |first, out| {
            let mut sphered = vec![0.0; ROWS * columns];
            for (c, out) in out.chunks_mut(ROWS * classes).enumerate() {
                let (start, rows) = (first / classes + c * ROWS, out.len() / classes);
                let x = x.read(start, start + rows);
                for (k, projection) in projections.iter().enumerate() {
                    let sphered = &mut sphered[..rows * columns];
                    projection.of(x, sphered);
                    add_distances(sphered, columns, constants[k], &mut out[k..], classes);
                }
            }
        });
        run.checkpoint()?;
        Ok(posterior::as_decision_scores(out))
    }
}

/// constant - ½ ‖z‖² of each row z, `stride` apart in `out`; the least or largest number where it overflows.
fn add_distances(z: &[f64], columns: usize, constant: f64, out: &mut [f64], stride: usize) {
    vectorized!({
        for (row, out) in z.chunks_exact(columns).zip(out.iter_mut().step_by(stride)) {
            let score = constant - 0.5 * dot(row, row);
            *out = if score.is_nan() { f64::MIN } else { score.clamp(f64::MIN, f64::MAX) };
        }
    });
}

fn singular(class: &str, rows: u64, dependent: &[usize], names: &[String], hint: &str) -> Error {
    let mut message =
        format!("the covariance of class '{}' ({rows} rows) is singular", plain(class));
    if !dependent.is_empty() {
        message.push_str(&format!(
            "; constant in it or dependent on earlier columns: {}",
            listed(dependent, names)
        ));
    }
    let code = if rows <= names.len() as u64 { Code::TooFew } else { Code::Numeric };
    Error::new(code, message).hint(hint)
}

/// The covariance of each class, divisor N_k - 1; zero of a single row.
pub(super) fn covariances(
    all: &ClassScatter,
    classes: &[String],
    scatter: impl Fn(usize) -> Matrix,
) -> Result<Vec<Matrix>> {
    (0..all.weight.len())
        .map(|k| {
            let (mut scatter, divisor) = (scatter(k), all.weight[k] - 1.0);
            if scatter.as_slice().iter().all(|&s| s == 0.0) {
                return Ok(scatter);
            }
            if divisor <= 0.0 {
                let message = format!(
                    "class '{}' has weight {}, and its covariance is divided by that less 1",
                    plain(&classes[k]),
                    all.weight[k]
                );
                let error = Error::new(Code::TooFew, message);
                return Err(error.hint("scale the weights so that they count rows"));
            }
            scatter.as_mut_slice().iter_mut().for_each(|s| *s /= divisor);
            Ok(scatter)
        })
        .collect()
}
