//! Quadratic discriminant analysis: normal classes with a covariance each.
//!
//! Chooses the class k with the largest  -½ ln det S_k - ½ (x-μ_k)ᵀ S_k⁻¹ (x-μ_k) + ln π_k,
//! with S_k of divisor N_k - 1. One pass sums the mean and scatter of each class, a second is made
//! for estimated shrinkage. S_k is scaled to unit variances and factored by Cholesky, so that units
//! do not matter. A score of 0 of two classes is of the second, equal scores of more go to the first.
//!
//! Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 4.3.

use super::gaussians::{Gaussians, covariances};
use super::passes::{ClassPasses, Known};
use super::posterior;
use super::questions::QUESTIONS;
use super::shrinkage::{Shrinkage, estimated, shrunk};
use super::tables::{class_means, determinants};
use learnt_core::estimator::shares_of_scores;
use learnt_core::linalg::eigh;
use learnt_core::prelude::*;

/// Quadratic discriminant analysis (QDA): normal classes with a covariance matrix each.
///
/// The covariances have the divisor N_k - 1; scikit-learn's have N_k. A class whose covariance is
/// singular, for example one with no more rows than columns, is an error that names its dependent
/// columns. `tol` is relative, so that units do not matter. There is no `covariance_estimator`.
///
/// ```
/// use learnt::{discriminant::QuadraticDiscriminantAnalysis, prelude::*};
/// let x = Matrix::column_vector(vec![-1.0, 0.0, 1.0, -9.0, 1.0, 10.0]);
/// let data = OwnedDataset::classification(x, &[1, 1, 1, 2, 2, 2].map(Label::Int));
/// let model = QuadraticDiscriminantAnalysis::default().fit(&data.view())?;
/// let row = Table::unnamed(Matrix::column_vector(vec![-8.0, 0.5, 8.0]));
/// assert_eq!(model.classify(&row.frame())?, [1, 0, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct QuadraticDiscriminantAnalysis {
    /// Which options there are; the result is the same.
    #[param(default = QuadraticDiscriminantSolver::Svd)]
    pub solver: QuadraticDiscriminantSolver,
    /// Shrinkage of the covariance matrices; only with `eigen`.
    #[param(default = Shrinkage::Nothing)]
    pub shrinkage: Shrinkage,
    /// Prior probabilities of the classes, in order; else their shares among the rows.
    #[param(default = None, range = 0.0..=1.0)]
    pub priors: Option<Vec<f64>>,
    /// Regularization: share of the identity in the covariance matrices.
    #[param(default = 0.0, range = 0.0..=1.0, search = log(1e-4, 1.0))]
    pub reg_param: f64,
    /// Keep the covariances.
    #[param(default = false)]
    pub store_covariance: bool,
    /// Share of a column's standard deviation, left by earlier columns, that counts as none.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
}

/// Which options there are.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuadraticDiscriminantSolver {
    /// Covariances as they are.
    Svd,
    /// Covariances that may be shrunk.
    Eigen,
}

/// A fitted [`QuadraticDiscriminantAnalysis`].
#[derive(Model, Clone, Debug)]
#[model(classifier, report = table, questions = QUESTIONS, looks, prepares)]
pub struct QuadraticDiscriminantAnalysisModel {
    /// Covariance of each class, divisor N_k - 1, if it was asked for.
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
    /// Principal axes of each class, in columns.
    #[shape(classes, columns, columns)]
    pub rotations: Vec<Matrix>,
    /// Variances along the principal axes of each class, largest first.
    #[shape(classes, columns)]
    pub scalings: Vec<Vec<f64>>,
    #[shape(classes, columns)]
    gaussians: Gaussians,
}

impl QuadraticDiscriminantAnalysis {
    fn constraints(&self) -> Result<()> {
        let is_svd = self.solver == QuadraticDiscriminantSolver::Svd;
        if is_svd && self.shrinkage != Shrinkage::Nothing {
            return Err(Error::parameter("shrinkage", "none with the solver 'svd'", "another")
                .hint("shrinkage needs solver 'eigen'"));
        }
        Ok(())
    }
}

impl Estimator for QuadraticDiscriminantAnalysis {
    type Model = QuadraticDiscriminantAnalysisModel;
    type Fit = ClassPasses;
    const ABOUT: &'static About =
        &About::classifier("discriminant_analysis.QuadraticDiscriminantAnalysis")
            .full_rank()
            .alias(&["qda"])
            .weights()
            .decision_scores()
            .threads()
            .streaming()
            .complexity(25)
            .check_with(&[("reg_param", "0.1")])
            .cost("n p² + K p³ time, K p² memory")
            .reference(
                "Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning",
            )
            .exempt(&[("weights_scale", "variances divide by the weight less one a class")]);
}

impl FitBy<ClassPasses> for QuadraticDiscriminantAnalysis {
    fn rounds(&self) -> ClassPasses {
        let (priors, estimated) = (self.priors.clone(), self.shrinkage == Shrinkage::Auto);
        ClassPasses { priors, by_class: true, estimated, rows_do: false }
    }

    fn model(&self, known: Known, run: &Context) -> Result<QuadraticDiscriminantAnalysisModel> {
        let covariances = self.covariances(&known)?;
        let Known { names, classes, all, .. } = known;
        let hint = "set reg_param above 0, such as 0.01, or use RegularizedDiscriminantAnalysis";
        let words = (names.as_slice(), classes.as_slice());
        let gaussians = Gaussians::new(&covariances, &all, words, self.tol, hint, run)?;
        let eigen = run.try_par_map(covariances.len(), |k| eigh(&covariances[k]))?;
        let (rotations, scalings) =
            eigen.into_iter().map(|eigen| (eigen.vectors, eigen.values)).unzip();
        Ok(QuadraticDiscriminantAnalysisModel {
            covariance: self.store_covariance.then_some(covariances),
            priors: posterior::priors(self.priors.as_deref(), &all.weight),
            means: all.mean,
            rotations,
            scalings,
            gaussians,
        })
    }
}

impl QuadraticDiscriminantAnalysis {
    fn covariances(&self, known: &Known) -> Result<Vec<Matrix>> {
        let all = &known.all;
        let scatter = |k: usize| match self.shrinkage {
            Shrinkage::Nothing => all.scatter[k].clone(),
            Shrinkage::Share(share) => shrunk(all.scatter[k].clone(), share),
            Shrinkage::Auto => estimated(all, k, known.fourth[k]),
        };
        let mut out = covariances(all, &known.classes, scatter)?;
        for covariance in &mut out {
            let left = 1.0 - self.reg_param;
            covariance.as_mut_slice().iter_mut().for_each(|value| *value *= left);
            (0..covariance.nrows()).for_each(|j| covariance[(j, j)] += self.reg_param);
        }
        Ok(out)
    }
}

impl QuadraticDiscriminantAnalysisModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        super::questions::answer(asked)
    }
}

impl Classifier for QuadraticDiscriminantAnalysisModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.gaussians.decision_scores(x, &self.means, &self.priors, run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        Ok(shares_of_scores(self.decision_scores_in(x, run)?, run))
    }
}

impl QuadraticDiscriminantAnalysisModel {
    /// ln det of the covariance of each class.
    pub fn ln_determinants(&self) -> &[f64] {
        &self.gaussians.ln_determinants
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("Quadratic discriminant analysis");
        report.tables.push(class_means(&self.priors, names, &self.means));
        report.tables.push(determinants(names, self.ln_determinants()));
        report
    }
}
