//! Elastic net whose penalty and ratio are chosen by cross-validation.
//!
//! For every ratio the path of each training set is followed down one grid of penalties, that of all
//! rows; the pair of least mean squared error on the test folds is fitted to all rows. Folds are
//! consecutive rows. The first ratio and the largest penalty of equals win.
//!
//! Friedman, Hastie and Tibshirani (2010), Journal of Statistical Software 33(1), 1-22.

use super::coordinate_descent::CoordinateDescent;
use super::folds::PenaltySearch;
use crate::linear::coefficient_table::of_sparse_outputs;
use learnt_core::prelude::*;

/// Elastic net with penalties chosen by cross-validation.
///
/// Products of columns are summed first whenever that is faster. `cv` is a number of folds.
///
/// ```
/// use learnt::{linear::ElasticNetCV, prelude::*};
/// let x = Matrix::from_fn(40, 3, |i, j| ((i * (j + 3) + j) % 11) as f64);
/// let y = (0..40).map(|i| 2.0 * x[(i, 0)] + (i % 4) as f64).collect();
/// let model = ElasticNetCV::default().fit(&OwnedDataset::regression(x, y).view())?;
/// assert!((model.coef[(0, 0)] - 2.0).abs() < 0.1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct ElasticNetCV {
    /// Share of the L1 penalty, or several to choose from.
    #[param(default = L1Ratio::One(0.5))]
    pub l1_ratio: L1Ratio,
    /// The penalties and folds to choose by.
    #[param(flatten)]
    pub search: PenaltySearch,
    /// How the coefficients are found.
    #[param(flatten)]
    pub descent: CoordinateDescent,
}

/// One share of the L1 penalty, or several.
#[derive(Choice, Clone, Debug, PartialEq)]
pub enum L1Ratio {
    /// This one.
    #[choice(range = 0.0..=1.0)]
    One(f64),
    /// The best of these.
    #[choice(range = 0.0..=1.0)]
    Several(Vec<f64>),
}

/// A fitted [`ElasticNetCV`].
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = report, converged = converged)]
pub struct ElasticNetCVModel {
    /// The chosen penalty.
    pub alpha: f64,
    /// The chosen ratio.
    pub l1_ratio: f64,
    /// Coefficients, (1 × n_features).
    #[shape(1, columns)]
    #[finite]
    pub coef: Matrix,
    /// The intercept; zero without `fit_intercept`.
    #[shape(1)]
    #[finite]
    pub intercept: Vec<f64>,
    /// The penalties tried, largest first, (n_ratios × n_alphas).
    #[shape(ratios, penalties)]
    pub alphas: Matrix,
    /// Mean squared error on each test fold, one matrix (n_alphas × n_folds) for each ratio.
    #[shape(ratios, penalties, folds)]
    pub mse_path: Vec<Matrix>,
    /// Duality gap of the final fit.
    pub dual_gap: f64,
    /// Passes over the coefficients in the final fit.
    pub n_iter: usize,
    converged: bool,
}

impl ElasticNetCV {
    fn ratios(&self) -> &[f64] {
        match &self.l1_ratio {
            L1Ratio::One(ratio) => std::slice::from_ref(ratio),
            L1Ratio::Several(ratios) => ratios,
        }
    }

    fn constraints(&self) -> Result<()> {
        self.search.fits(self.ratios())
    }
}

impl Estimator for ElasticNetCV {
    type Model = ElasticNetCVModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("linear_model.ElasticNetCV")
        .weights()
        .groups()
        .threads()
        .iterations()
        .monotone()
        .randomness()
        .complexity(22)
        .cost("n p² time and k p² memory for k folds; p² time a penalty, ratio and fold")
        .reference("Friedman, Hastie and Tibshirani (2010), J. Stat. Software 33(1), 1-22")
        .exempt(&[
            ("seeds_differ", "only `selection` random draws; the default does not"),
            ("weights_repeat", "folds are cut by rows, so a row twice moves the cuts"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "folds are cut by rows, so a row twice moves the cuts",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<ElasticNetCVModel> {
        let chosen = self.search.choose(self.ratios(), &self.descent, data, run)?;
        let fit = chosen.model;
        Ok(ElasticNetCVModel {
            alpha: chosen.alpha,
            l1_ratio: chosen.l1_ratio,
            alphas: Matrix::from_rows(&chosen.alphas)?,
            mse_path: chosen.errors,
            dual_gap: fit.dual_gap.first().copied().unwrap_or_default(),
            n_iter: fit.n_iter.first().copied().unwrap_or_default(),
            converged: fit.converged(),
            coef: fit.coef,
            intercept: fit.intercept,
        })
    }
}

impl ElasticNetCVModel {
    fn report(&self, names: &Names) -> Answer {
        let title = "Elastic net, penalty by cross-validation";
        let mut report = of_sparse_outputs(title, &self.coef, &self.intercept, names);
        report.push("alpha", self.alpha);
        report.push("l1_ratio", self.l1_ratio);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::penalized::{Alphas, ElasticNet};
    use learnt_core::stats::sample::standard_normal;

    fn random(n: usize, d: usize, weighted: bool) -> OwnedDataset {
        let mut rng = Context::default().rng(8);
        let x = Matrix::from_fn(n, d, |_, _| standard_normal(&mut rng) + 1.0);
        let y = (0..n).map(|i| x[(i, 0)] - 2.0 * x[(i, 1)] + standard_normal(&mut rng)).collect();
        let weights = weighted.then(|| (0..n).map(|i| 0.5 + (i % 3) as f64).collect());
        OwnedDataset { weights, ..OwnedDataset::regression(x, y) }
    }

    /// Mean squared error of an explicit fit to the other rows.
    fn error_of(data: &OwnedDataset, fold: (usize, usize), learner: &ElasticNet) -> f64 {
        let n = data.x.values().nrows();
        let train: Vec<usize> = (0..n).filter(|&i| i < fold.0 || i >= fold.1).collect();
        let model = learner.fit(&data.view().gather(&train).view()).unwrap();
        let test = data.view().rows(fold.0, fold.1);
        let fit = model.predict(&test.x).unwrap();
        let y = test.real_target().unwrap();
        let rows = 0..fold.1 - fold.0;
        let weight: f64 = rows.clone().map(|i| test.weight(i)).sum();
        rows.map(|i| test.weight(i) * (y.at(i, 0) - fit[(i, 0)]).powi(2)).sum::<f64>() / weight
    }

    #[test]
    fn errors_on_folds_are_those_of_explicit_fits() {
        for (n, d, fit_intercept, weighted) in [
            (43, 5, true, false),
            (43, 5, false, true),
            (20, 30, true, true),
            (20, 30, false, false),
        ] {
            let data = random(n, d, weighted);
            let tight = ElasticNet {
                l1_ratio: 0.8,
                descent: CoordinateDescent {
                    fit_intercept,
                    tol: 1e-13,
                    max_iter: 100_000,
                    ..CoordinateDescent::default()
                },
                ..ElasticNet::default()
            };
            let learner = ElasticNetCV {
                l1_ratio: L1Ratio::Several(vec![0.8]),
                search: PenaltySearch {
                    alphas: Alphas::Given(vec![0.02, 0.3]),
                    cv: Some(3),
                    ..PenaltySearch::default()
                },
                descent: tight.descent,
            };
            let model = learner.fit(&data.view()).unwrap();
            let sizes = [n.div_ceil(3), (n + 1) / 3, n / 3];
            let mut start = 0;
            for (k, size) in sizes.into_iter().enumerate() {
                for (i, alpha) in [0.3, 0.02].into_iter().enumerate() {
                    let one = ElasticNet { alpha, ..tight.clone() };
                    let expected = error_of(&data, (start, start + size), &one);
                    let got = model.mse_path[0][(i, k)];
                    assert!((got - expected).abs() < 1e-5 * expected, "{got} {expected}");
                }
                start += size;
            }
        }
    }

    #[test]
    fn the_least_mean_error_wins_and_is_fitted_to_all_rows() {
        let data = random(60, 6, false);
        let learner = ElasticNetCV {
            l1_ratio: L1Ratio::Several(vec![0.3, 1.0]),
            search: PenaltySearch { alphas: Alphas::Count(20), ..PenaltySearch::default() },
            ..ElasticNetCV::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let mean = |ratio: usize, i: usize| model.mse_path[ratio].row(i).iter().sum::<f64>() / 5.0;
        let least = (0..40).map(|k| mean(k / 20, k % 20)).fold(f64::INFINITY, f64::min);
        let ratio = usize::from(model.l1_ratio == 1.0);
        let at = (0..20).find(|&i| model.alphas[(ratio, i)] == model.alpha).unwrap();
        assert_eq!(mean(ratio, at), least);
        let one = ElasticNet { alpha: model.alpha, l1_ratio: model.l1_ratio, ..Default::default() };
        let one = one.fit(&data.view()).unwrap();
        for (a, b) in one.coef.as_slice().iter().zip(model.coef.as_slice()) {
            assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn a_ratio_of_zero_needs_its_penalties() {
        let data = random(30, 3, false);
        let learner = ElasticNetCV { l1_ratio: L1Ratio::One(0.0), ..ElasticNetCV::default() };
        assert_eq!(learner.fit(&data.view()).unwrap_err().code(), Code::Parameter);
        let learner = ElasticNetCV {
            search: PenaltySearch {
                alphas: Alphas::Given(vec![0.1, 1.0]),
                ..learner.search.clone()
            },
            ..learner
        };
        assert!(learner.fit(&data.view()).is_ok());
    }
}
