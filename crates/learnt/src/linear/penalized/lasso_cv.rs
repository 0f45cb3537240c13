//! Lasso whose penalty is chosen by cross-validation: `ElasticNetCV` with an L1 penalty alone.
//!
//! The path of each training set is followed down one grid of penalties, that of all rows; the
//! penalty of least mean squared error on the test folds, the largest of equals, is fitted to all
//! rows. Folds are consecutive rows.
//!
//! Friedman, Hastie and Tibshirani (2010), Journal of Statistical Software 33(1), 1-22.

use super::coordinate_descent::CoordinateDescent;
use super::folds::PenaltySearch;
use crate::linear::coefficient_table::of_sparse_outputs;
use learnt_core::prelude::*;

/// Lasso with a penalty chosen by cross-validation.
///
/// Products of columns are summed first whenever that is faster. `cv` is a number of folds.
///
/// ```
/// use learnt::{linear::LassoCV, prelude::*};
/// let x = Matrix::from_fn(40, 3, |i, j| ((i * (j + 3) + j) % 11) as f64);
/// let y = (0..40).map(|i| 2.0 * x[(i, 0)] + (i % 4) as f64).collect();
/// let model = LassoCV::default().fit(&OwnedDataset::regression(x, y).view())?;
/// assert!((model.coef[(0, 0)] - 2.0).abs() < 0.1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct LassoCV {
    /// The penalties and folds to choose by.
    #[param(flatten)]
    pub search: PenaltySearch,
    /// How the coefficients are found.
    #[param(flatten)]
    pub descent: CoordinateDescent,
}

/// A fitted [`LassoCV`].
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = report, converged = converged)]
pub struct LassoCVModel {
    /// The chosen penalty.
    pub alpha: f64,
    /// Coefficients, (1 × n_features).
    #[shape(1, columns)]
    #[finite]
    pub coef: Matrix,
    /// The intercept; zero without `fit_intercept`.
    #[shape(1)]
    #[finite]
    pub intercept: Vec<f64>,
    /// The penalties tried, largest first.
    #[shape(penalties)]
    pub alphas: Vec<f64>,
    /// Mean squared error on each test fold, (n_alphas × n_folds).
    #[shape(penalties, folds)]
    pub mse_path: Matrix,
    /// Duality gap of the final fit.
    pub dual_gap: f64,
    /// Passes over the coefficients in the final fit.
    pub n_iter: usize,
    converged: bool,
}

impl LassoCV {
    fn constraints(&self) -> Result<()> {
        self.search.fits(&[1.0])
    }
}

impl Estimator for LassoCV {
    type Model = LassoCVModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("linear_model.LassoCV")
        .weights()
        .groups()
        .threads()
        .iterations()
        .monotone()
        .randomness()
        .complexity(21)
        .cost("n p² time and k p² memory for k folds; p² time a penalty and fold")
        .reference("Friedman, Hastie and Tibshirani (2010), J. Stat. Software 33(1), 1-22")
        .exempt(&[
            ("seeds_differ", "only `selection` random draws; the default does not"),
            ("weights_repeat", "folds are cut by rows, so a row twice moves the cuts"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "folds are cut by rows, so a row twice moves the cuts",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<LassoCVModel> {
        let chosen = self.search.choose(&[1.0], &self.descent, data, run)?;
        let fit = chosen.model;
        Ok(LassoCVModel {
            alpha: chosen.alpha,
            alphas: chosen.alphas.into_iter().next().unwrap_or_default(),
            mse_path: chosen.errors.into_iter().next().unwrap_or_default(),
            dual_gap: fit.dual_gap.first().copied().unwrap_or_default(),
            n_iter: fit.n_iter.first().copied().unwrap_or_default(),
            converged: fit.converged(),
            coef: fit.coef,
            intercept: fit.intercept,
        })
    }
}

impl LassoCVModel {
    fn report(&self, names: &Names) -> Answer {
        let title = "Lasso, penalty by cross-validation";
        let mut report = of_sparse_outputs(title, &self.coef, &self.intercept, names);
        report.push("alpha", self.alpha);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::penalized::{Alphas, ElasticNetCV, L1Ratio, Lasso};

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(40, 4, |i, j| ((i * (2 * j + 3) + j) % 11) as f64);
        let y = (0..40).map(|i| 2.0 * x[(i, 0)] - x[(i, 2)] + (i % 4) as f64).collect();
        OwnedDataset::regression(x, y)
    }

    #[test]
    fn it_is_the_elastic_net_of_ratio_one() {
        let lasso = LassoCV::default().fit(&data().view()).unwrap();
        let net = ElasticNetCV { l1_ratio: L1Ratio::One(1.0), ..ElasticNetCV::default() };
        let net = net.fit(&data().view()).unwrap();
        assert_eq!((&lasso.coef, lasso.alpha), (&net.coef, net.alpha));
        assert_eq!(lasso.alphas.len(), 100);
        assert!((lasso.alphas[99] / lasso.alphas[0] - 1e-3).abs() < 1e-12);
    }

    #[test]
    fn folds_keep_groups_together() {
        let data = OwnedDataset { groups: Some((0..40).map(|i| i % 4).collect()), ..data() };
        let descent = CoordinateDescent { tol: 1e-13, max_iter: 100_000, ..Default::default() };
        let alphas = Alphas::Given(vec![0.1]);
        let search = PenaltySearch { alphas, cv: Some(4), ..Default::default() };
        let model = LassoCV { search, descent }.fit(&data.view()).unwrap();
        let error = |group: usize| {
            let train: Vec<usize> = (0..40).filter(|i| i % 4 != group).collect();
            let test: Vec<usize> = (0..40).filter(|i| i % 4 == group).collect();
            let lasso = Lasso { alpha: 0.1, descent };
            let fitted = lasso.fit(&data.view().gather(&train).view()).unwrap();
            let test = data.view().gather(&test);
            let (p, y) = (fitted.predict(&test.x.frame()).unwrap(), test.view());
            let y = y.real_target().unwrap();
            (0..10).map(|i| (y.at(i, 0) - p[(i, 0)]).powi(2)).sum::<f64>() / 10.0
        };
        let mut expected: Vec<f64> = (0..4).map(error).collect();
        let mut found = model.mse_path.row(0).to_vec();
        expected.sort_by(f64::total_cmp);
        found.sort_by(f64::total_cmp);
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-8 * b, "{found:?} {expected:?}");
        }
        let five = PenaltySearch { cv: Some(5), ..Default::default() };
        assert!(LassoCV { search: five, descent }.fit(&data.view()).is_err());
    }

    #[test]
    fn more_folds_than_rows_are_refused_with_what_to_do() {
        let error = LassoCV {
            search: PenaltySearch { cv: Some(41), ..PenaltySearch::default() },
            ..LassoCV::default()
        }
        .fit(&data().view());
        assert_eq!(error.unwrap_err().code(), Code::TooFew);
    }
}
