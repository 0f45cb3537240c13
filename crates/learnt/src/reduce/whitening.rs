//! Whitening: y = W (x - mean) with the covariance of y the identity.
//!
//! With C = U diag(λ) Uᵀ, `zca` is W = U diag(λ^-½) Uᵀ, the whitening that changes rows least; `pca`
//! is diag(λ^-½) Uᵀ, components of variance one. Directions with λ at most `tol` times the largest
//! are left out: zero for `zca`, no column for `pca`; or, with `floor`, their λ is raised to that. In each
//! component of `pca` the largest loading by size, the first of equals, is positive. One pass.
//!
//! A. Kessy, A. Lewin and K. Strimmer (2018), The American Statistician 72, 309-314.

use learnt_core::linalg::{Projection, Scatter, eigh};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Whitening (sphering): columns without correlation and with variance one.
///
/// ```
/// use learnt::{prelude::*, reduce::Whitening};
/// let x = Matrix::from_rows(&[[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])?;
/// let learner = Whitening { ddof: 0, ..Default::default() };
/// let model = learner.fit(&OwnedDataset::unsupervised(x).view())?;
/// assert!((model.matrix[(0, 0)] - 0.75).abs() < 1e-12 && (model.matrix[(0, 1)] + 0.25).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Whitening {
    /// The form of the matrix.
    #[param(positional, default = WhiteningForm::Zca)]
    pub method: WhiteningForm,
    /// Share of the largest variance up to which a variance is small.
    #[param(default = 1e-12, range = 0.0.., below = 1.0)]
    pub tol: f64,
    /// What happens to directions of small variance.
    #[param(default = SmallVariances::Drop)]
    pub small_variances: SmallVariances,
    /// Subtracted from the number of rows in the divisor of the covariance.
    #[param(default = 1, range = 0..=1)]
    pub ddof: usize,
}

/// The form of the matrix.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum WhiteningForm {
    /// Symmetric: changes rows least.
    Zca,
    /// Components of variance one.
    Pca,
}

/// What happens to directions of small variance.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum SmallVariances {
    /// They are left out.
    Drop,
    /// They are divided by the root of the share `tol` of the largest variance.
    Floor,
}

impl Whitening {
    fn constraints(&self) -> Result<()> {
        match self.small_variances == SmallVariances::Floor && self.tol == 0.0 {
            true => Err(Error::parameter("tol", "above 0 with small_variances='floor'", 0)),
            false => Ok(()),
        }
    }
}

/// A fitted [`Whitening`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate, looks)]
pub struct WhiteningModel {
    /// Mean of each column.
    #[shape(columns)]
    #[finite]
    pub mean: Vec<f64>,
    /// W (n_outputs × n_features).
    #[shape(outputs, columns)]
    #[finite]
    pub matrix: Matrix,
    /// Variances along the principal axes, the largest first.
    #[shape(columns)]
    #[finite]
    pub eigenvalues: Vec<f64>,
    symmetric: bool,
}

impl Estimator for Whitening {
    type Model = WhiteningModel;
    type Fit = Pass<Scatter>;
    const ABOUT: &'static About = &About::transformer("decomposition.Whitening")
        .alias(&["sphering", "zca"])
        .weights()
        .threads()
        .streaming()
        .complexity(15)
        .cost("n p² + p³ time in one pass, p² memory")
        .reference("Kessy, Lewin and Strimmer (2018), The American Statistician 72, 309-314")
        .exempt(&[("weights_scale", "the covariance divides by the weight less ddof")]);
}

impl OnePass<Scatter> for Whitening {
    fn finish(&self, all: Scatter, _outline: &Outline) -> Result<WhiteningModel> {
        let divisor = all.weight - self.ddof as f64;
        if divisor <= 0.0 {
            let message =
                format!("the rows weigh {}, and more than {} is needed", all.weight, self.ddof);
            return Err(Error::new(Code::TooFew, message));
        }
        let width = all.mean.len();
        let covariance = Matrix::from_fn(width, width, |i, j| all.scatter[(i, j)] / divisor);
        if !covariance.as_slice().iter().all(|value| value.is_finite()) {
            return Err(Error::numeric("the covariance overflows: the values are too large"));
        }
        let found = eigh(&covariance)?;
        let most = found.values.first().copied().unwrap_or(0.0);
        let least = self.tol * most;
        let kept = match self.small_variances {
            SmallVariances::Drop => found.values.iter().take_while(|v| **v > least).count(),
            SmallVariances::Floor => width,
        };
        if most <= 0.0 || kept == 0 {
            return Err(Error::numeric("all columns are constant: nothing to whiten"));
        }
        let sign = |k: usize| {
            let column = found.vectors.column(k);
            let largest =
                column.iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() { *b } else { a });
            if largest < 0.0 { -1.0 } else { 1.0 }
        };
        let signs: Vec<f64> = (0..kept).map(sign).collect();
        let scale = |k: usize| found.values[k].max(least).sqrt().recip();
        let matrix = match self.method {
            WhiteningForm::Pca => {
                Matrix::from_fn(kept, width, |k, j| signs[k] * scale(k) * found.vectors[(j, k)])
            }
            WhiteningForm::Zca => Matrix::from_fn(width, width, |i, j| {
                (0..kept).map(|k| found.vectors[(i, k)] * scale(k) * found.vectors[(j, k)]).sum()
            }),
        };
        let symmetric = self.method == WhiteningForm::Zca;
        Ok(WhiteningModel { mean: all.mean, matrix, eigenvalues: found.values, symmetric })
    }
}

impl WhiteningModel {
    fn validate(&self) -> Result<()> {
        let good = !self.symmetric || self.matrix.nrows() == self.matrix.ncols();
        if good { Ok(()) } else { Err(invalid("a symmetric matrix that is not square")) }
    }
}

impl Transformer for WhiteningModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let (count, width) = (self.matrix.nrows(), self.matrix.ncols());
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let schema = match self.symmetric {
            true => Schema::numeric(x.schema().names())?,
            false => Schema::numeric((0..count).map(|k| format!("whitening{k}")))?,
        };
        let projection = Projection::new(&self.matrix, &self.mean);
        Table::new(projection.of_rows(x, run, |product, _| product)?, schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitened_rows_have_the_identity_as_covariance_in_both_forms() {
        let x = Matrix::from_fn(80, 3, |i, j| {
            let t = i as f64 * 0.7;
            [3.0 * t.sin(), t.sin() + (1.3 * t).cos(), (2.1 * t).sin() - t.cos()][j] + 10.0
        });
        let data = OwnedDataset::unsupervised(x);
        for method in [WhiteningForm::Zca, WhiteningForm::Pca] {
            let model = Whitening { method, ..Default::default() }.fit(&data.view()).unwrap();
            let out = model.transform(&data.x.frame()).unwrap();
            let found = Scatter::of(&Dataset::new(out.frame()));
            for i in 0..3 {
                for j in 0..3 {
                    let expected = f64::from(u8::from(i == j));
                    assert!((found.scatter[(i, j)] / 79.0 - expected).abs() < 1e-10);
                }
            }
            let symmetric =
                (0..3).all(|i| (0..3).all(|j| model.matrix[(i, j)] == model.matrix[(j, i)]));
            assert_eq!(symmetric, method == WhiteningForm::Zca);
        }
    }

    #[test]
    fn dependent_columns_lose_a_direction() {
        let x = Matrix::from_fn(30, 2, |i, j| (i * i % 7) as f64 * (j + 1) as f64);
        let data = OwnedDataset::unsupervised(x);
        let pca = Whitening { method: WhiteningForm::Pca, ..Default::default() };
        assert_eq!(pca.fit(&data.view()).unwrap().matrix.nrows(), 1);
        // With a floor it stays, and is divided by a tenth of the largest deviation.
        let small_variances = SmallVariances::Floor;
        let floor = Whitening { tol: 0.01, small_variances, ..pca };
        let model = floor.fit(&data.view()).unwrap();
        assert_eq!(model.matrix.nrows(), 2);
        let length = |k: usize| model.matrix.row(k).iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((length(1) / length(0) - 10.0).abs() < 1e-9, "{:?}", model.matrix);
        assert!(Whitening { tol: 0.0, ..floor }.fit(&data.view()).is_err());
        let constant = OwnedDataset::unsupervised(Matrix::zeros(5, 2));
        assert!(Whitening::default().fit(&constant.view()).is_err());
    }
}
