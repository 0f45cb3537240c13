//! Ridge regression whose penalty is chosen by cross-validation.
//!
//! Without folds, by leave-one-out from one decomposition: with h_i(alpha) the leverage of row i, the
//! error of the fit without that row is r_i / (1 - h_i), so score = -(1/n) Σ w (r / (1 - h))². With
//! folds, by the mean R² of the test folds, averaged over outputs. The first penalty in the list of
//! equals wins. Tables with fewer rows than columns take the products of rows (`ridge_rows`, `spectrum`).
//!
//! Golub, Heath and Wahba (1979), Technometrics 21(2), 215-223.

use super::folds::Folds;
use super::problem::{Gram, Problem};
use super::ridge_rows::{RowProducts, rows_pay};
use super::spectrum::Spectrum;
use super::sums::Stage;
use crate::linear::coefficient_table::of_outputs;
use learnt_core::linalg::matmul;
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Source};

/// Ridge regression with a penalty chosen by cross-validation.
///
/// Left out of scikit-learn's parameters: `scoring` (always the default for the kind of folds),
/// `gcv_mode` (one decomposition serves all penalties), `store_cv_results`, and `alpha_per_target`
/// (fit outputs one by one for that). `cv` is a number of folds.
///
/// ```
/// use learnt::{linear::RidgeCV, prelude::*};
/// let x = Matrix::column_vector((0..20).map(f64::from).collect());
/// let y = (0..20).map(|i| f64::from(3 * i + i % 2)).collect();
/// let model = RidgeCV::default().fit(&OwnedDataset::regression(x, y).view())?;
/// assert!((model.coef[(0, 0)] - 3.0).abs() < 0.01 && model.alpha == 0.1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct RidgeCV {
    /// The penalties to choose from; above zero without folds.
    #[param(positional, default = vec![0.1, 1.0, 10.0], range = 0.0..)]
    pub alphas: Vec<f64>,
    /// Fit an intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// Number of cross-validation folds; none is leave-one-out, or five folds of whole groups.
    #[param(default = None, range = 2..)]
    pub cv: Option<usize>,
}

/// A fitted [`RidgeCV`].
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = report)]
pub struct RidgeCVModel {
    /// The chosen penalty.
    pub alpha: f64,
    /// Its score: minus the mean squared error of leave-one-out, or the mean R² of the folds.
    pub best_score: f64,
    /// Coefficients, (n_outputs × n_features).
    #[shape(outputs, columns)]
    #[finite]
    pub coef: Matrix,
    /// One intercept for each output; zero without `fit_intercept`.
    #[shape(outputs)]
    #[finite]
    pub intercept: Vec<f64>,
    effective_df: f64,
}

impl RidgeCV {
    fn constraints(&self) -> Result<()> {
        super::path::check_alphas(Some(&self.alphas))?;
        match self.cv.is_none() && self.alphas.contains(&0.0) {
            true => Err(Error::parameter("alphas", "numbers > 0 without folds", 0.0)
                .hint("use a small number, or set cv")),
            false => Ok(()),
        }
    }

    /// The place of the best score, the first of equals.
    fn best(&self, scores: &[f64]) -> Result<usize> {
        let mut best: Option<usize> = None;
        for (i, score) in scores.iter().enumerate() {
            if score.is_finite() && best.is_none_or(|best| *score > scores[best]) {
                best = Some(i);
            }
        }
        best.ok_or_else(|| Error::numeric("no penalty has a finite score"))
    }

    fn model(
        &self,
        problem: &Problem,
        spectrum: &Spectrum,
        scores: &[f64],
    ) -> Result<RidgeCVModel> {
        let best = self.best(scores)?;
        let a = self.alphas[best] / problem.weight;
        let coef: Vec<Vec<f64>> = (0..problem.right.len()).map(|t| spectrum.coef(t, a)).collect();
        self.chosen(problem, (best, scores[best]), coef, spectrum.freedom(a))
    }

    /// The model with the penalty at a place, its score, coefficients and degrees of freedom.
    fn chosen(
        &self,
        problem: &Problem,
        (best, best_score): (usize, f64),
        coef: Vec<Vec<f64>>,
        freedom: f64,
    ) -> Result<RidgeCVModel> {
        let intercept = |(t, coef): (usize, &Vec<f64>)| match self.fit_intercept {
            true => problem.intercept(t, coef),
            false => 0.0,
        };
        let intercept: Vec<f64> = coef.iter().enumerate().map(intercept).collect();
        if coef.iter().flatten().chain(&intercept).any(|x| !x.is_finite()) {
            return Err(Error::numeric("coefficients became too large for double precision"));
        }
        Ok(RidgeCVModel {
            alpha: self.alphas[best],
            best_score,
            coef: Matrix::from_rows(&coef)?,
            intercept,
            effective_df: freedom + f64::from(self.fit_intercept),
        })
    }

    fn by_folds(&self, data: &Dataset, folds: usize, run: &Context) -> Result<RidgeCVModel> {
        let folds = Folds::of(data, Some(folds), self.fit_intercept, run)?;
        let each = run.try_par_map(folds.count(), |k| {
            let problem = folds.problem(Some(k), &run.child(0))?;
            let spectrum = Spectrum::of(&problem, &run.child(0))?;
            Ok(self
                .alphas
                .iter()
                .map(|a| self.fold_score(&folds, k, &problem, &spectrum, *a))
                .collect())
        })?;
        let each: Vec<Vec<f64>> = each;
        let mean = |i: usize| each.iter().map(|scores| scores[i]).sum::<f64>() / each.len() as f64;
        let scores: Vec<f64> = (0..self.alphas.len()).map(mean).collect();
        let problem = folds.problem(None, run)?;
        self.model(&problem, &Spectrum::of(&problem, run)?, &scores)
    }

    /// R² on a test fold, averaged over outputs; of a constant target 1 if it is met, else 0.
    fn fold_score(
        &self,
        folds: &Folds,
        fold: usize,
        problem: &Problem,
        spectrum: &Spectrum,
        alpha: f64,
    ) -> f64 {
        let outputs = problem.right.len();
        let score = |t: usize| {
            let coef = spectrum.coef(t, alpha / problem.weight);
            let intercept = if self.fit_intercept { problem.intercept(t, &coef) } else { 0.0 };
            match folds.part(fold).errors(t, &coef, intercept) {
                (error, total) if total > 0.0 => 1.0 - error / total,
                (0.0, _) => 1.0,
                _ => 0.0,
            }
        };
        (0..outputs).map(score).sum::<f64>() / outputs as f64
    }

    fn by_leaving_one_out(&self, data: &Dataset, run: &Context) -> Result<RidgeCVModel> {
        let stage = Stage::begin(&InMemory::new(*data).outline(), run)?;
        let (problem, _) = stage.gather(data, self.fit_intercept, run)?;
        if let Some(model) = self.by_rows(data, &problem, run)? {
            return Ok(model);
        }
        let spectrum = Spectrum::of(&problem, run)?;
        let errors = LeaveOneOut::new(&problem, &spectrum, &self.alphas, self.fit_intercept);
        const ROWS: usize = 256;
        let parts = run
            .par_ranges(data.nrows(), ROWS, |range| errors.sum(&data.rows(range.start, range.end)));
        let mut sums = vec![0.0; self.alphas.len()];
        for part in parts {
            sums.iter_mut().zip(part?).for_each(|(sum, part)| *sum += part);
        }
        run.checkpoint()?;
        let count = (data.nrows() * problem.right.len()) as f64;
        let scores: Vec<f64> = sums.iter().map(|sum| -sum / count).collect();
        self.model(&problem, &spectrum, &scores)
    }
}

impl RidgeCV {
    /// Leave-one-out from the products of rows, where that is cheaper and has the digits.
    fn by_rows(
        &self,
        data: &Dataset,
        problem: &Problem,
        run: &Context,
    ) -> Result<Option<RidgeCVModel>> {
        let d = data.x.ncols();
        let Gram::Columns(columns) = &problem.gram else { return Ok(None) };
        if !rows_pay(data.nrows(), d, self.alphas.len()) {
            return Ok(None);
        }
        let means = &problem.mean[d..];
        let rows = RowProducts::new(columns, data, means, self.fit_intercept, run)?;
        let mut left = Vec::with_capacity(self.alphas.len());
        for alpha in &self.alphas {
            let Some(found) = rows.left(alpha / problem.weight, run)? else { return Ok(None) };
            left.push(found);
        }
        let count = (data.nrows() * problem.right.len()) as f64;
        let scores: Vec<f64> = left.iter().map(|left| -left.squares / count).collect();
        let best = self.best(&scores)?;
        let coef = left[best].shares.iter().map(|shares| rows.coef(shares)).collect();
        self.chosen(problem, (best, scores[best]), coef, left[best].freedom).map(Some)
    }
}

/// What leave-one-out needs of the decomposition.
struct LeaveOneOut<'a> {
    problem: &'a Problem,
    spectrum: &'a Spectrum,
    /// 1 / (λ + a), (eigenvalues × penalties).
    shrink: Matrix,
    /// q / (λ + a) of each output.
    along: Vec<Matrix>,
    intercept: bool,
}

impl<'a> LeaveOneOut<'a> {
    fn new(
        problem: &'a Problem,
        spectrum: &'a Spectrum,
        alphas: &[f64],
        intercept: bool,
    ) -> LeaveOneOut<'a> {
        let shrink = Matrix::from_fn(spectrum.values.len(), alphas.len(), |k, i| {
            1.0 / (spectrum.values[k] + alphas[i] / problem.weight)
        });
        let along = |q: &Vec<f64>| {
            Matrix::from_fn(shrink.nrows(), shrink.ncols(), |k, i| q[k] * shrink[(k, i)])
        };
        let along = spectrum.along.iter().map(along).collect();
        LeaveOneOut { problem, spectrum, shrink, along, intercept }
    }

    /// Σ w (r / (1 - h))² over some rows and all outputs, for each penalty.
    fn sum(&self, data: &Dataset) -> Result<Vec<f64>> {
        let y = data.real_target()?;
        let (x, d) = (data.x.values(), data.x.ncols());
        let mean = &self.problem.mean;
        let centred = Matrix::from_fn(data.nrows(), d, |i, j| x.at(i, j) - mean[j]);
        let mut along = matmul(centred.view(), self.spectrum.vectors.view().transposed());
        let fits: Vec<Matrix> = self.along.iter().map(|q| matmul(along.view(), q.view())).collect();
        along.as_mut_slice().iter_mut().for_each(|z| *z *= *z);
        let leverage = matmul(along.view(), self.shrink.view());
        let constant = f64::from(self.intercept);
        let mut sums = vec![0.0; self.shrink.ncols()];
        for i in 0..data.nrows() {
            let weight = data.weight(i);
            for (k, sum) in sums.iter_mut().enumerate() {
                let kept = 1.0 - weight * (constant + leverage[(i, k)]) / self.problem.weight;
                for (t, fit) in fits.iter().enumerate() {
                    let residual = y.at(i, t) - mean[d + t] - fit[(i, k)];
                    *sum += weight * (residual / kept).powi(2);
                }
            }
        }
        Ok(sums)
    }
}

impl Estimator for RidgeCV {
    type Model = RidgeCVModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("linear_model.RidgeCV")
        .weights()
        .groups()
        .many_outputs()
        .threads()
        .complexity(21)
        .cost("n p² + p³ time, p² memory; k p³ time and k p² memory with k folds")
        .reference("Golub, Heath and Wahba (1979), Technometrics 21(2), 215-223")
        .exempt(&[
            ("weights_scale", "the penalty's strength is absolute, as in scikit-learn"),
            ("weights_repeat", "leaving out a row of weight two leaves out both of its copies"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "leaving out a row of weight two leaves out both of its copies",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<RidgeCVModel> {
        match (self.cv, data.groups) {
            (Some(folds), _) => self.by_folds(data, folds, run),
            // To leave out a row alone would leave the rest of its group in.
            (None, Some(_)) => self.by_folds(data, 5, run),
            (None, None) => self.by_leaving_one_out(data, run),
        }
    }
}

impl RidgeCVModel {
    fn report(&self, names: &Names) -> Answer {
        let title = "Ridge regression, penalty by cross-validation";
        let mut report = of_outputs(title, &self.coef, &self.intercept, names);
        report.push("alpha", self.alpha);
        report.push("score", self.best_score);
        report.push("effective df", self.effective_df);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;
    use learnt_core::stats::sample::standard_normal;

    fn random(n: usize, d: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(2);
        let x = Matrix::from_fn(n, d, |_, _| standard_normal(&mut rng) + 2.0);
        let y = Matrix::from_fn(n, 2, |i, t| x[(i, t)] + standard_normal(&mut rng));
        let y = Some(OwnedTarget::Real(y));
        OwnedDataset { y, ..OwnedDataset::unsupervised(x) }
    }

    #[test]
    fn leave_one_out_is_that_of_explicit_fits() {
        for (n, d, fit_intercept) in
            [(25, 4, true), (25, 4, false), (9, 14, true), (9, 14, false), (14, 14, true)]
        {
            let data = random(n, d);
            let alpha = 2.0;
            let mut squares = 0.0;
            for i in 0..n {
                let rest: Vec<usize> = (0..n).filter(|&k| k != i).collect();
                let ridge = Ridge { alpha, fit_intercept, ..Ridge::default() };
                let model = ridge.fit(&data.view().gather(&rest).view()).unwrap();
                let fit = model.predict(&data.x.frame().rows(i, i + 1)).unwrap();
                let y = data.view().real_target().unwrap();
                squares += (0..2).map(|t| (y.at(i, t) - fit[(0, t)]).powi(2)).sum::<f64>();
            }
            let expected = -squares / (2 * n) as f64;
            let learner = RidgeCV { alphas: vec![alpha], fit_intercept, ..RidgeCV::default() };
            let model = learner.fit(&data.view()).unwrap();
            assert!((model.best_score / expected - 1.0).abs() < 1e-9, "{}", model.best_score);
            let ridge = Ridge { alpha, fit_intercept, ..Ridge::default() };
            let ridge = ridge.fit(&data.view()).unwrap();
            for (a, b) in ridge.coef.as_slice().iter().zip(model.coef.as_slice()) {
                assert!((a - b).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_best_score_wins_with_and_without_folds() {
        let data = random(40, 5);
        let alphas = vec![1e-3, 1.0, 10.0, 1e5];
        for cv in [None, Some(4)] {
            let scores: Vec<f64> = alphas
                .iter()
                .map(|alpha| {
                    let one = RidgeCV { alphas: vec![*alpha], cv, ..RidgeCV::default() };
                    one.fit(&data.view()).unwrap().best_score
                })
                .collect();
            let all = RidgeCV { alphas: alphas.clone(), cv, ..RidgeCV::default() };
            let all = all.fit(&data.view()).unwrap();
            let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(all.best_score, best);
            let place = alphas.iter().position(|alpha| *alpha == all.alpha).unwrap();
            assert_eq!(scores[place], best);
        }
    }

    #[test]
    fn factors_of_products_of_rows_give_what_eigenvectors_give() {
        let mut data = random(30, 50);
        data.weights = Some((0..30).map(|i| 0.5 + f64::from(i % 3)).collect());
        for fit_intercept in [true, false] {
            for scale in [1e-2, 1.0, 1e3] {
                let few = RidgeCV { alphas: vec![scale], fit_intercept, ..RidgeCV::default() };
                let many = RidgeCV { alphas: vec![scale; 13], ..few.clone() };
                assert!(rows_pay(30, 50, 1) && !rows_pay(30, 50, 13));
                let (a, b) = (few.fit(&data.view()).unwrap(), many.fit(&data.view()).unwrap());
                assert!((a.best_score / b.best_score - 1.0).abs() < 1e-9, "{scale}");
                assert!((a.effective_df - b.effective_df).abs() < 1e-9);
                for (a, b) in a.coef.as_slice().iter().zip(b.coef.as_slice()) {
                    assert!((a - b).abs() < 1e-10);
                }
            }
        }
        assert!(!rows_pay(51, 50, 1));
    }

    #[test]
    fn no_penalty_needs_folds() {
        let data = random(40, 5);
        let learner = RidgeCV { alphas: vec![0.0], ..RidgeCV::default() };
        assert_eq!(learner.fit(&data.view()).unwrap_err().code(), Code::Parameter);
        assert!(RidgeCV { cv: Some(3), ..learner }.fit(&data.view()).is_ok());
    }
}
