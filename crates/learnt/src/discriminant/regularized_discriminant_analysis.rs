//! Regularised discriminant analysis: between one covariance for all classes and one for each.
//!
//! Scores as in quadratic discriminant analysis, with the covariance of class k
//! S_k(α) = α S + (1-α) S_k,  then  S_k(α, γ) = (1-γ) S_k(α) + γ trace(S_k(α))/p I,
//! where S is pooled (divisor N - K) and S_k the class's own (divisor N_k - 1, zero for one row).
//! α = 1, γ = 0 is linear, α = 0, γ = 0 quadratic discriminant analysis. One pass. A score of 0 of two
//! classes is of the second, equal scores of more go to the first.
//!
//! Friedman (1989), Journal of the American Statistical Association 84, 165-175.

use super::gaussians::{Gaussians, covariances};
use super::passes::{ClassPasses, Known};
use super::posterior;
use super::questions::QUESTIONS;
use super::shrinkage::shrunk;
use super::tables::{class_means, determinants};
use learnt_core::estimator::shares_of_scores;
use learnt_core::linalg::add_scaled;
use learnt_core::prelude::*;

/// Regularized discriminant analysis: class covariances shrunk to the pooled one and to a sphere.
///
/// It cures singular covariances of small classes.
///
/// ```
/// use learnt::{discriminant::RegularizedDiscriminantAnalysis, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 7.0]);
/// let data = OwnedDataset::classification(x, &["a", "a", "a", "b"].map(Label::from));
/// let model = RegularizedDiscriminantAnalysis::default().fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 0, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct RegularizedDiscriminantAnalysis {
    /// Share of the pooled covariance in that of a class: 1 is linear, 0 quadratic.
    #[param(default = 0.5, range = 0.0..=1.0, search = linear(0.0, 1.0))]
    pub alpha: f64,
    /// Share of a multiple of the identity in the covariance.
    #[param(default = 0.0, range = 0.0..=1.0, search = linear(0.0, 1.0))]
    pub gamma: f64,
    /// Prior probabilities of the classes, in order; else their shares among the rows.
    #[param(default = None, range = 0.0..=1.0)]
    pub priors: Option<Vec<f64>>,
    /// Keep the covariances.
    #[param(default = false)]
    pub store_covariance: bool,
    /// Share of a column's standard deviation, left by earlier columns, that counts as none.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
}

/// A fitted [`RegularizedDiscriminantAnalysis`].
#[derive(Model, Clone, Debug)]
#[model(classifier, report = table, questions = QUESTIONS, looks, prepares)]
pub struct RegularizedDiscriminantAnalysisModel {
    /// Covariance of each class, if it was asked for.
    #[shape(classes, columns, columns)]
    pub covariance: Option<Vec<Matrix>>,
    /// Mean of each class (n_classes × n_features).
    #[shape(classes, columns)]
    #[finite]
    pub means: Matrix,
    /// Probability of each class.
    #[shape(classes)]
    #[share]
    pub priors: Vec<f64>,
    #[shape(classes, columns)]
    gaussians: Gaussians,
}

impl Estimator for RegularizedDiscriminantAnalysis {
    type Model = RegularizedDiscriminantAnalysisModel;
    type Fit = ClassPasses;
    const ABOUT: &'static About =
        &About::classifier("discriminant_analysis.RegularizedDiscriminantAnalysis")
            .full_rank()
            .alias(&["rda"])
            .weights()
            .decision_scores()
            .threads()
            .streaming()
            .complexity(25)
            .check_with(&[("gamma", "0.1")])
            .cost("n p² + K p³ time, K p² memory")
            .reference("Friedman (1989), Journal of the American Statistical Association 84")
            .exempt(&[("weights_scale", "variances divide by the weight less one a class")]);
}

impl FitBy<ClassPasses> for RegularizedDiscriminantAnalysis {
    fn rounds(&self) -> ClassPasses {
        let (priors, estimated) = (self.priors.clone(), false);
        ClassPasses { priors, by_class: true, estimated, rows_do: false }
    }

    fn model(&self, known: Known, run: &Context) -> Result<RegularizedDiscriminantAnalysisModel> {
        let Known { names, classes, all, .. } = known;
        let pooled = all.pooled();
        let mut blends = match self.alpha < 1.0 {
            true => covariances(&all, &classes, |k| all.scatter[k].clone())?,
            false => vec![Matrix::zeros(names.len(), names.len()); classes.len()],
        };
        for blend in &mut blends {
            blend.as_mut_slice().iter_mut().for_each(|value| *value *= 1.0 - self.alpha);
            add_scaled(blend.as_mut_slice(), self.alpha, pooled.as_slice());
        }
        let blends: Vec<Matrix> =
            blends.into_iter().map(|blend| shrunk(blend, self.gamma)).collect();
        let hint = "raise alpha or set gamma above 0, such as 0.01";
        let words = (names.as_slice(), classes.as_slice());
        let gaussians = Gaussians::new(&blends, &all, words, self.tol, hint, run)?;
        Ok(RegularizedDiscriminantAnalysisModel {
            covariance: self.store_covariance.then_some(blends),
            priors: posterior::priors(self.priors.as_deref(), &all.weight),
            means: all.mean,
            gaussians,
        })
    }
}

impl RegularizedDiscriminantAnalysisModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        super::questions::answer(asked)
    }
}

impl Classifier for RegularizedDiscriminantAnalysisModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.gaussians.decision_scores(x, &self.means, &self.priors, run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        Ok(shares_of_scores(self.decision_scores_in(x, run)?, run))
    }
}

impl RegularizedDiscriminantAnalysisModel {
    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("Regularised discriminant analysis");
        report.tables.push(class_means(&self.priors, names, &self.means));
        report.tables.push(determinants(names, &self.gaussians.ln_determinants));
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discriminant::{LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis};
    use learnt_core::stats::sample::standard_normal;

    /// Classes whose columns are spread by `spread(class, column)`.
    fn sample(n: usize, spread: impl Fn(usize, usize) -> f64) -> OwnedDataset {
        let mut rng = Context::default().rng(5);
        let x = Matrix::from_fn(n, 3, |i, j| {
            (i % 3) as f64 + spread(i % 3, j) * standard_normal(&mut rng)
        });
        let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % 3) as i64)).collect();
        OwnedDataset::classification(x, &labels)
    }

    fn assert_close(a: &Matrix, b: &Matrix) {
        for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    #[test]
    fn one_is_linear_and_zero_is_quadratic() {
        let data = sample(200, |k, j| 1.0 + (k * j) as f64);
        let frame = data.x.frame();
        let with = |alpha| RegularizedDiscriminantAnalysis { alpha, ..Default::default() };
        let linear = LinearDiscriminantAnalysis::default().fit(&data.view()).unwrap();
        let at_one = with(1.0).fit(&data.view()).unwrap();
        assert_close(
            &at_one.probabilities(&frame).unwrap(),
            &linear.probabilities(&frame).unwrap(),
        );
        let quadratic = QuadraticDiscriminantAnalysis::default().fit(&data.view()).unwrap();
        let at_zero = with(0.0).fit(&data.view()).unwrap();
        let expected = quadratic.probabilities(&frame).unwrap();
        assert_close(&at_zero.probabilities(&frame).unwrap(), &expected);
    }

    #[test]
    fn equal_covariances_make_quadratic_decisions_linear() {
        let cloud = sample(80, |_, j| 1.0 + j as f64);
        let x = Matrix::from_fn(240, 3, |i, j| {
            cloud.x.values()[(i % 80, j)] + [0.0, 2.0, -1.0][i / 80] * (j + 1) as f64
        });
        let labels: Vec<Label> = (0..240).map(|i| Label::Int((i / 80) as i64)).collect();
        let data = OwnedDataset::classification(x, &labels);
        let linear = LinearDiscriminantAnalysis::default().fit(&data.view()).unwrap();
        let quadratic = QuadraticDiscriminantAnalysis::default().fit(&data.view()).unwrap();
        let frame = data.x.frame();
        assert_eq!(linear.classify(&frame).unwrap(), quadratic.classify(&frame).unwrap());
        assert_close(
            &linear.probabilities(&frame).unwrap(),
            &quadratic.probabilities(&frame).unwrap(),
        );
    }

    #[test]
    fn a_singular_class_is_named_and_cured() {
        // One class varies in two columns only, another has one row.
        let data = sample(61, |k, j| if (k, j) == (1, 2) { 0.0 } else { 1.0 });
        let error = QuadraticDiscriminantAnalysis::default().fit(&data.view()).unwrap_err();
        assert!(error.message().contains("class '1'"), "{error}");
        assert!(error.message().contains("'x2'"), "{error}");
        assert!(error.to_string().contains("reg_param"), "{error}");
        let reg_param = QuadraticDiscriminantAnalysis { reg_param: 0.01, ..Default::default() };
        assert!(reg_param.fit(&data.view()).is_ok());
        let rows: Vec<usize> = (0..61).filter(|i| i % 3 != 2 || *i == 2).collect();
        let few = data.view().gather(&rows);
        let error = reg_param.fit(&few.view());
        assert!(error.is_ok());
        let plain = QuadraticDiscriminantAnalysis::default().fit(&few.view()).unwrap_err();
        assert!(plain.message().contains("class"), "{plain}");
        let model = RegularizedDiscriminantAnalysis::default().fit(&few.view()).unwrap();
        let probabilities = model.probabilities(&few.x.frame()).unwrap();
        assert!(probabilities.as_slice().iter().all(|p| p.is_finite()));
    }

    #[test]
    fn units_of_columns_do_not_matter() {
        let data = sample(200, |k, j| 1.0 + (k * j) as f64);
        let x = data.x.values();
        let scaled = Matrix::from_fn(200, 3, |i, j| x[(i, j)] * [1e-9, 1.0, 1e9][j]);
        let scaled = OwnedDataset { x: Table::unnamed(scaled), ..data.clone() };
        let learner = QuadraticDiscriminantAnalysis::default();
        let (a, b) = (learner.fit(&data.view()).unwrap(), learner.fit(&scaled.view()).unwrap());
        assert_close(
            &a.probabilities(&data.x.frame()).unwrap(),
            &b.probabilities(&scaled.x.frame()).unwrap(),
        );
    }
}
