//! Incremental principal components: one batch of rows after another, with the memory of one.
//!
//! A batch joins what is known as the rows of one table: the components times their singular values, the
//! rows about the mean of their batch, and the difference of the means times √(n m / (n + m)). Its
//! singular vectors are the new components, of which `n_components` are kept; what they leave out is
//! lost. With all components kept, and whatever the batches, they are those of all rows. Variances are
//! divided by n - `ddof`. In each component the largest loading by size, the first of equals, is positive;
//! `proper_rotation` may turn the last.
//!
//! D. Ross, J. Lim, R. Lin and M. Yang (2008), International Journal of Computer Vision 77, 125-141.

use super::form::{ComponentForm, Loadings, check_width};
use learnt_core::linalg::svd;
use learnt_core::prelude::*;

/// Incremental PCA: principal components from batches of rows, for tables that come in pieces.
///
/// `copy` does not exist.
///
/// ```
/// use learnt::{prelude::*, reduce::{IncrementalPCA, PCA}};
/// let x = Matrix::from_fn(40, 3, |i, j| ((i * (3 + j)) as f64).sin());
/// let data = OwnedDataset::unsupervised(x);
/// let learner = IncrementalPCA { batch_size: Some(10), ..Default::default() };
/// let (pieces, whole) = (learner.fit(&data.view())?, PCA::default().fit(&data.view())?);
/// assert!((pieces.explained_variance[0] - whole.explained_variance[0]).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct IncrementalPCA {
    /// Number of components to keep; by default the lesser of the rows of the first batch and the columns.
    #[param(positional, range = 1..)]
    pub n_components: Option<usize>,
    /// The form of the components.
    #[param(flatten)]
    pub form: ComponentForm,
    /// Rows of a batch of `fit`; five times the columns by default.
    #[param(range = 1..)]
    pub batch_size: Option<usize>,
}

/// A fitted [`IncrementalPCA`].
#[derive(Model, Clone, Debug)]
#[model(transformer, report = table, looks)]
pub struct IncrementalPCAModel {
    /// Directions in rows (n_components × n_features).
    #[shape(kept, columns)]
    #[finite]
    pub components: Matrix,
    /// Variance along each component, divisor n - ddof.
    #[shape(kept)]
    #[nonnegative]
    pub explained_variance: Vec<f64>,
    /// Share of the total variance.
    #[shape(kept)]
    #[nonnegative]
    pub explained_variance_ratio: Vec<f64>,
    /// Singular values of what is known.
    #[shape(kept)]
    #[nonnegative]
    pub singular_values: Vec<f64>,
    /// Mean of each column over all rows so far.
    #[shape(columns)]
    #[finite]
    pub mean: Vec<f64>,
    /// Variance of each column over all rows so far, divisor n.
    #[shape(columns)]
    #[nonnegative]
    pub var: Vec<f64>,
    /// Mean variance of the components left out of the last batch.
    pub noise_variance: f64,
    /// Number of components.
    #[shape(kept)]
    pub n_components: usize,
    /// Number of rows so far.
    pub n_samples_seen: u64,
    /// Rows of a batch.
    pub batch_size: usize,
    whiten: bool,
    #[shape(columns)]
    schema: Schema,
}

impl Estimator for IncrementalPCA {
    type Model = IncrementalPCAModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("decomposition.IncrementalPCA")
        .inverse_transform()
        .online()
        .complexity(18)
        .cost("n p (k + b) time in batches of b rows, (k + b) p memory")
        .reference("Ross, Lim, Lin and Yang (2008), International Journal of Computer Vision 77");

    fn train(&self, data: &Dataset, run: &Context) -> Result<IncrementalPCAModel> {
        let (n, width) = (data.nrows(), data.x.ncols());
        let batch = self.batch_size.unwrap_or(5 * width).max(1);
        let least = self.n_components.unwrap_or(0);
        let mut model: Option<IncrementalPCAModel> = None;
        let mut start = 0;
        let take = |start: usize, end: usize, model: &mut Option<IncrementalPCAModel>| {
            run.checkpoint()?;
            let part = data.rows(start, end);
            *model = Some(self.with_batch(model.as_ref(), &part, batch, run)?);
            Ok::<(), Error>(())
        };
        for _ in 0..n / batch {
            let end = start + batch;
            // A last batch that is too small for the components joins this one.
            if end + least > n && end != n {
                continue;
            }
            take(start, end, &mut model)?;
            start = end;
        }
        if start < n {
            take(start, n, &mut model)?;
        }
        model.ok_or_else(|| Error::new(Code::Empty, "no rows"))
    }

    fn update(
        &self,
        model: Option<&IncrementalPCAModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<IncrementalPCAModel> {
        let batch = self.batch_size.unwrap_or(5 * data.x.ncols()).max(1);
        self.with_batch(model, data, batch, run)
    }
}

impl IncrementalPCA {
    /// How many components are kept, given the first batch or what is known.
    fn kept(
        &self,
        model: Option<&IncrementalPCAModel>,
        rows: usize,
        width: usize,
    ) -> Result<usize> {
        let kept = match (self.n_components, model) {
            (None, Some(model)) => model.n_components,
            (None, None) => rows.min(width),
            (Some(count), _) => count,
        };
        let most = if model.is_none() { rows.min(width) } else { width };
        if kept > most {
            let expected = match kept > width {
                true => format!("at most {width}, the number of columns"),
                false => format!("n_components <= {rows}, the rows of the first batch"),
            };
            return Err(Error::parameter("n_components", expected, kept));
        }
        match model.filter(|model| model.n_components != kept) {
            None => Ok(kept),
            Some(model) => {
                let expected = format!("{} as before", model.n_components);
                Err(Error::parameter("n_components", expected, kept))
            }
        }
    }

    fn with_batch(
        &self,
        model: Option<&IncrementalPCAModel>,
        data: &Dataset,
        batch_size: usize,
        run: &Context,
    ) -> Result<IncrementalPCAModel> {
        let (rows, width) = (data.nrows(), data.x.ncols());
        if let Some(model) = model {
            check_width(&data.x, model.mean.len(), "in training")?;
        }
        let kept = self.kept(model, rows, width)?;
        let known = model.map_or(0, |model| model.n_components);
        let stacked = rows + known + usize::from(model.is_some());
        run.claim(24 * (stacked * width) as u64, "the batch and its singular vectors")?;
        let before = model.map_or(0.0, |model| model.n_samples_seen as f64);
        let total = before + rows as f64;
        if total < 2.0 {
            let message = "1 row has no variance: n_samples=1, and 2 are needed";
            return Err(Error::new(Code::TooFew, message));
        }
        let x = data.x.values();
        let own = means(x);
        let (mean, var) = joined_moments(model, x, &own, before);
        if !mean.iter().chain(&var).all(|value| value.is_finite()) {
            return Err(Error::numeric("columns overflow: their values are too large to square")
                .hint("divide them by a large constant first"));
        }
        let correction = (before / total * rows as f64).sqrt();
        let table = Matrix::from_fn(stacked, width, |i, j| match model {
            Some(model) if i < known => model.singular_values[i] * model.components[(i, j)],
            Some(model) if i == known + rows => correction * (model.mean[j] - own[j]),
            _ => x.at(i - known, j) - own[j],
        });
        let found = svd(table.view())?;
        let components = self.form.components(&found.v, kept);
        let squares: f64 = var.iter().map(|v| v * total).sum();
        let share = |s: &f64| if squares > 0.0 { s * s / squares } else { 0.0 };
        let divisor = self.form.divisor(total)?;
        let variances: Vec<f64> = found.s.iter().map(|s| s * (s / divisor)).collect();
        let left = &variances[kept.min(variances.len())..];
        let noise_variance = match left.is_empty() || kept == rows || kept == width {
            true => 0.0,
            false => left.iter().sum::<f64>() / left.len() as f64,
        };
        Ok(IncrementalPCAModel {
            components,
            explained_variance: variances[..kept].to_vec(),
            explained_variance_ratio: found.s[..kept].iter().map(share).collect(),
            singular_values: found.s[..kept].to_vec(),
            mean,
            var,
            noise_variance,
            n_components: kept,
            n_samples_seen: total as u64,
            batch_size,
            whiten: self.form.whiten,
            schema: model.map_or_else(|| data.x.schema().clone(), |model| model.schema.clone()),
        })
    }
}

/// Means of columns, about the first row.
fn means(x: MatRef) -> Vec<f64> {
    let n = x.nrows() as f64;
    let of = |j: usize| {
        let first = x.at(0, j);
        first + (0..x.nrows()).map(|i| (x.at(i, j) - first) / n).sum::<f64>()
    };
    (0..x.ncols()).map(of).collect()
}

/// Mean and variance (divisor n) of each column over the rows before and those of a batch.
fn joined_moments(
    model: Option<&IncrementalPCAModel>,
    x: MatRef,
    own: &[f64],
    before: f64,
) -> (Vec<f64>, Vec<f64>) {
    let rows = x.nrows() as f64;
    let total = before + rows;
    let of = |j: usize| {
        let squares: f64 = (0..x.nrows()).map(|i| (x.at(i, j) - own[j]).powi(2)).sum();
        let Some(model) = model else { return (own[j], squares / total) };
        let apart = own[j] - model.mean[j];
        let joined = model.var[j] * before + squares + apart * apart * before * rows / total;
        (model.mean[j] + apart * rows / total, joined / total)
    };
    (0..x.ncols()).map(of).unzip()
}

impl IncrementalPCAModel {
    fn loadings(&self) -> Loadings<'_> {
        Loadings {
            components: &self.components,
            variances: &self.explained_variance,
            ratios: &self.explained_variance_ratio,
            mean: &self.mean,
            whiten: self.whiten,
            schema: &self.schema,
            prefix: "incrementalpca",
        }
    }

    fn table(&self, _: &Names) -> Answer {
        let mut answer = self.loadings().report();
        answer.push("noise variance", self.noise_variance);
        answer.push("rows", self.n_samples_seen);
        answer
    }
}

impl Transformer for IncrementalPCAModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        self.loadings().transform(x, run)
    }

    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        self.loadings().inverse(x, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::PCA;

    fn rows() -> OwnedDataset {
        let x = Matrix::from_fn(73, 5, |i, j| {
            ((i * (3 + j)) as f64 * 0.7).sin() * (j + 1) as f64 + 100.0 * j as f64
        });
        OwnedDataset::unsupervised(x)
    }

    #[test]
    fn batches_of_any_size_with_all_components_are_the_pca_of_all_rows() {
        let data = rows();
        let whole = PCA::default().fit(&data.view()).unwrap();
        for batch_size in [5, 10, 36, 73, 500] {
            let learner =
                IncrementalPCA { batch_size: Some(batch_size), ..IncrementalPCA::default() };
            let model = learner.fit(&data.view()).unwrap();
            assert_eq!(model.n_samples_seen, 73);
            for (a, b) in model.components.as_slice().iter().zip(whole.components.as_slice()) {
                assert!((a - b).abs() < 1e-9, "{batch_size}");
            }
            for (a, b) in model.explained_variance.iter().zip(&whole.explained_variance) {
                assert!((a - b).abs() < 1e-9 * b.max(1.0), "{batch_size}");
            }
            for j in 0..5 {
                assert!((model.mean[j] - whole.mean[j]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn updates_are_batches_and_rows_lead_back() {
        let data = rows();
        let learner =
            IncrementalPCA { batch_size: Some(30), n_components: Some(5), ..Default::default() };
        let run = Context::default();
        let mut model = None;
        for (start, end) in [(0, 30), (30, 60), (60, 73)] {
            let part = data.view().rows(start, end);
            model = Some(learner.update_in(model.as_ref(), &part, &run).unwrap());
        }
        let model = model.unwrap();
        let whole = learner.fit(&data.view()).unwrap();
        assert_eq!(model.components, whole.components);
        let scores = model.transform(&data.x.frame()).unwrap();
        let back = model.inverse_transform_in(&scores.frame(), &run).unwrap();
        for (a, b) in back.values().as_slice().iter().zip(data.x.values().as_slice()) {
            assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn a_first_batch_below_the_components_is_refused() {
        let data = rows();
        let learner =
            IncrementalPCA { n_components: Some(4), batch_size: Some(3), ..Default::default() };
        let error = learner.fit(&data.view()).unwrap_err();
        assert!(error.to_string().contains("n_components"), "{error}");
    }
}
