//! Linear discriminant analysis: normal classes with one covariance.
//!
//! Chooses the class k with the largest  xᵀS⁻¹μ_k - ½ μ_kᵀS⁻¹μ_k + ln π_k.  S is the pooled covariance
//! within classes, divisor N - K, which does not depend on the priors. One pass sums class means
//! and the pooled scatter, a second is made for estimated shrinkage. Columns are sphered,
//! S⁻¹ = WᵀW, and the discriminant coordinates are the principal axes of the sphered class means
//! weighted by their priors: the covariance within classes is the identity on them, and the largest
//! loading of each, the first of equals, is positive. With `reduced`, S⁻¹ in the scores is that of the
//! `n_components` coordinates alone, so that a class is the nearest of the means projected onto them,
//! corrected by the priors; all coordinates give the classes of all columns. A score of 0 of two classes is of the second,
//! equal scores of more go to the first.
//!
//! Fisher (1936), Annals of Eugenics 7, 179-188; Rao (1948), J. Royal Statistical Society B 10.

use super::axes::{Axes, equal_shares, overall_mean, scores};
use super::passes::{ClassPasses, Known};
use super::posterior;
use super::questions::QUESTIONS;
use super::shrinkage::{Shrinkage, estimated, shrunk};
use super::sphering::{Correlation, listed};
use super::tables::class_means;
use learnt_core::estimator::{classes_of_scores, shares_of_scores};
use learnt_core::linalg::linear_predict;
use learnt_core::linalg::{Projection, add_scaled, squared_distance};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Linear discriminant analysis (LDA): normal classes that share one covariance matrix.
///
/// The covariance has the divisor N - K; scikit-learn's has N, so that its posteriors are a little
/// more certain. With `svd`, directions that do not vary within classes are left out, and a warning
/// names the columns; the other solvers refuse them. There is no `covariance_estimator`.
///
/// ```
/// use learnt::{discriminant::LinearDiscriminantAnalysis, prelude::*};
/// let x = Matrix::from_rows(&[[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])?;
/// let data = OwnedDataset::classification(x, &[1, 1, 1, 2, 2, 2].map(Label::Int));
/// let model = LinearDiscriminantAnalysis::default().fit(&data.view())?;
/// let row = Table::unnamed(Matrix::from_rows(&[[-0.8, -1.0]])?);
/// assert_eq!(model.classify(&row.frame())?, [0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct LinearDiscriminantAnalysis {
    /// What happens to directions that do not vary within classes, and what else is computed.
    #[param(positional, default = LinearDiscriminantSolver::Svd)]
    pub solver: LinearDiscriminantSolver,
    /// Shrinkage of the covariance matrix; not with `svd`.
    #[param(default = Shrinkage::Nothing)]
    pub shrinkage: Shrinkage,
    /// Prior probabilities of the classes, in order; else their shares among the rows.
    #[param(default = None, range = 0.0..=1.0)]
    pub priors: Option<Vec<f64>>,
    /// Number of discriminant coordinates of the transformation; else as many as there are.
    #[param(default = None, range = 1..)]
    pub n_components: Option<usize>,
    /// Choose classes in the `n_components` coordinates and not in all columns: reduced-rank LDA.
    #[param(default = false)]
    pub reduced: bool,
    /// How much the mean of each class counts for the coordinates.
    #[param(default = CentroidWeights::Priors)]
    pub centroid_weights: CentroidWeights,
    /// Keep the covariance also with `svd`.
    #[param(default = false)]
    pub store_covariance: bool,
    /// Singular values of columns scaled to unit variance that count as zero, with `svd`.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
}

/// How much the mean of each class counts for the discriminant coordinates.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CentroidWeights {
    /// As much as its prior probability.
    Priors,
    /// All alike.
    Equal,
}

/// What is computed.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearDiscriminantSolver {
    /// Scores about the overall mean and discriminant coordinates, in the space that varies.
    Svd,
    /// Scores alone, with a covariance that must be regular.
    Lsqr,
    /// Scores and discriminant coordinates, with a covariance that must be regular.
    Eigen,
}

/// A fitted [`LinearDiscriminantAnalysis`].
#[derive(Model, Clone, Debug)]
#[model(classifier, transformer, validate = validate, report = table, questions = QUESTIONS, looks, prepares)]
pub struct LinearDiscriminantAnalysisModel {
    /// Weights of the scores: one row for two classes, else one a class (n_classes × n_features).
    #[shape(scores, columns)]
    #[finite]
    pub coef: Matrix,
    /// Intercepts of the scores.
    #[shape(scores)]
    pub intercept: Vec<f64>,
    /// Pooled covariance within classes, divisor N - K; with `svd` only if it was asked for.
    #[shape(columns, columns)]
    pub covariance: Option<Matrix>,
    /// Share of the variance between classes along each coordinate; none with `lsqr`.
    pub explained_variance_ratio: Option<Vec<f64>>,
    /// Mean of each class (n_classes × n_features).
    #[shape(classes, columns)]
    #[finite]
    pub means: Matrix,
    /// Probability of each class.
    #[shape(classes)]
    #[share]
    pub priors: Vec<f64>,
    /// Discriminant coordinates in columns (n_features × n_coordinates); none with `lsqr`.
    #[shape(columns, coordinates)]
    #[finite]
    pub scalings: Option<Matrix>,
    /// Mean of the class means, weighted by the priors; only with `svd`.
    #[shape(columns)]
    #[finite]
    pub xbar: Option<Vec<f64>>,
    /// Ratio of deviations between and within classes along each coordinate.
    #[model(hidden)]
    #[shape(coordinates)]
    #[finite]
    pub ratios: Vec<f64>,
    components: usize,
    notes: Vec<String>,
}

impl LinearDiscriminantAnalysis {
    fn constraints(&self) -> Result<()> {
        if self.solver == LinearDiscriminantSolver::Svd && self.shrinkage != Shrinkage::Nothing {
            return Err(Error::parameter("shrinkage", "none with the solver 'svd'", "another")
                .hint("shrinkage needs solver 'lsqr' or 'eigen'"));
        }
        Ok(())
    }
}

impl Estimator for LinearDiscriminantAnalysis {
    type Model = LinearDiscriminantAnalysisModel;
    type Fit = ClassPasses;
    const ABOUT: &'static About =
        &About::classifier("discriminant_analysis.LinearDiscriminantAnalysis")
            .full_rank()
            .also_transformer()
            .alias(&["lda"])
            .weights()
            .decision_scores()
            .threads()
            .streaming()
            .complexity(20)
            .cost("n p² + p³ time, p² memory; n²p + n³ and n p with fewer rows than columns")
            .reference("Fisher (1936), Annals of Eugenics 7, 179-188")
            .exempt(&[("weights_scale", "variances divide by the weight less one a class")]);
}

impl FitBy<ClassPasses> for LinearDiscriminantAnalysis {
    fn rounds(&self) -> ClassPasses {
        let (priors, estimated) = (self.priors.clone(), self.shrinkage == Shrinkage::Auto);
        let rows_do = self.solver == LinearDiscriminantSolver::Svd && !self.store_covariance;
        ClassPasses { priors, by_class: estimated, estimated, rows_do }
    }

    fn admit(&self, outline: &Outline) -> Result<()> {
        let (classes, columns) = (outline.classes.len(), outline.schema.len());
        let most = classes.saturating_sub(1).min(columns);
        match self.n_components.filter(|&count| count > most && classes > 1) {
            Some(count) => {
                let expected = format!(
                    "at most {most}, the lesser of {columns} columns and {classes} classes less 1"
                );
                Err(Error::parameter("n_components", expected, count))
            }
            None => Ok(()),
        }
    }

    fn model(&self, known: Known, run: &Context) -> Result<LinearDiscriminantAnalysisModel> {
        let (covariance, (sphering, note)) = match &known.gathered {
            Some(rows) => (None, self.sphering_of_rows(rows.sphering(&known.all, self.tol, run)?)?),
            None => {
                let covariance = self.covariance(&known);
                let sphering = self.sphering(&covariance, &known.names)?;
                (Some(covariance), sphering)
            }
        };
        if let Some(note) = &note {
            run.warn(Code::Numeric, note.clone());
        }
        let all = known.all;
        let priors = posterior::priors(self.priors.as_deref(), &all.weight);
        let xbar = overall_mean(&all.mean, &priors);
        let axes = match self.centroid_weights {
            CentroidWeights::Priors => {
                Axes::new(&sphering, &all.mean, &xbar, &priors, all.total())?
            }
            CentroidWeights::Equal => {
                let equal = equal_shares(&priors);
                let centre = overall_mean(&all.mean, &equal);
                Axes::new(&sphering, &all.mean, &centre, &equal, all.total())?
            }
        };
        let is_svd = self.solver == LinearDiscriminantSolver::Svd;
        let has_axes = self.solver != LinearDiscriminantSolver::Lsqr;
        let origin = if is_svd { xbar.clone() } else { vec![0.0; xbar.len()] };
        let components = self.n_components.map_or(axes.ratios.len(), |n| n.min(axes.ratios.len()));
        let (coef, intercept) = match self.reduced {
            true => {
                let directions = axes.scalings.view().columns(0, components).transposed();
                scores(&directions.to_matrix(), &all.mean, &origin, &priors)
            }
            false => scores(&sphering, &all.mean, &origin, &priors),
        };
        Ok(LinearDiscriminantAnalysisModel {
            coef,
            intercept,
            covariance: covariance.filter(|_| !is_svd || self.store_covariance),
            explained_variance_ratio: has_axes.then(|| axes.shares(components)),
            means: all.mean,
            priors,
            scalings: has_axes.then_some(axes.scalings),
            xbar: is_svd.then_some(xbar),
            ratios: axes.ratios,
            components,
            notes: note.into_iter().collect(),
        })
    }
}

const HINT: &str = "drop those columns, shrink the covariance (solver 'eigen', shrinkage 'auto'), or use \
                    RegularizedDiscriminantAnalysis with gamma above 0";

impl LinearDiscriminantAnalysis {
    fn covariance(&self, known: &Known) -> Matrix {
        let all = &known.all;
        match self.shrinkage {
            Shrinkage::Nothing => all.pooled(),
            Shrinkage::Share(share) => shrunk(all.pooled(), share),
            Shrinkage::Auto => {
                let mut out = Matrix::zeros(all.mean.ncols(), all.mean.ncols());
                for (k, &fourth) in known.fourth.iter().enumerate() {
                    let scatter = estimated(all, k, fourth);
                    add_scaled(out.as_mut_slice(), all.freedom().recip(), scatter.as_slice());
                }
                out
            }
        }
    }

    /// The same from rows, of which there are no more than columns.
    fn sphering_of_rows(&self, sphering: Matrix) -> Result<(Matrix, Option<String>)> {
        let (rank, columns) = (sphering.nrows(), sphering.ncols());
        let message = format!(
            "the covariance within classes has rank {rank} of {columns} columns: there are too few rows"
        );
        match rank {
            0 => Err(Error::numeric(message).hint(HINT)),
            rank if rank == columns => Ok((sphering, None)),
            _ => Ok((sphering, Some(message + "; directions without variance were left out"))),
        }
    }

    /// W with WᵀW = S⁻¹, and a note if some directions are left out.
    fn sphering(&self, covariance: &Matrix, names: &[String]) -> Result<(Matrix, Option<String>)> {
        let lenient = self.solver == LinearDiscriminantSolver::Svd;
        let tol = if lenient { self.tol } else { 0.0 };
        let correlation = Correlation::new(covariance);
        let sphering = correlation.sphering(tol)?;
        let (rank, columns) = (sphering.nrows(), covariance.ncols());
        if rank == columns {
            return Ok((sphering, None));
        }
        let dependent = listed(&correlation.dependent(tol), names);
        let mut message =
            format!("the covariance within classes has rank {rank} of {columns} columns");
        if !dependent.is_empty() {
            message.push_str(&format!(
                "; constant within classes or dependent on earlier columns: {dependent}"
            ));
        }
        if lenient && rank > 0 {
            message.push_str("; directions without variance were left out");
            return Ok((sphering, Some(message)));
        }
        Err(Error::numeric(message).hint(HINT))
    }
}

impl LinearDiscriminantAnalysisModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        super::questions::answer(asked)
    }
}

impl Classifier for LinearDiscriminantAnalysisModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        linear_predict(x, &self.coef, &self.intercept, run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        Ok(shares_of_scores(self.decision_scores_in(x, run)?, run))
    }
}

impl Transformer for LinearDiscriminantAnalysisModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let values = self.coordinates(x, self.components, run)?;
        let name = |k| format!("lineardiscriminantanalysis{k}");
        Table::new(values, Schema::numeric((0..self.components).map(name))?)
    }
}

impl LinearDiscriminantAnalysisModel {
    /// The first discriminant coordinates of rows.
    fn coordinates(&self, x: &Frame, count: usize, run: &Context) -> Result<Matrix> {
        let Some(scalings) = &self.scalings else {
            return Err(Error::unsupported("the solver 'lsqr' gives no discriminant coordinates")
                .hint("fit with solver 'svd' or 'eigen'"));
        };
        if x.ncols() != scalings.nrows() {
            let expected = format!("{} columns as in training", scalings.nrows());
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let directions = scalings.view().columns(0, count).transposed().to_matrix();
        let origin = self.xbar.clone().unwrap_or_else(|| vec![0.0; x.ncols()]);
        let projection = Projection::new(&directions, &origin);
        projection.of_rows(x, run, |product, _| product)
    }

    /// ln P(first | x) - ln P(second | x) of two classes, for each row.
    pub fn log_odds_in(
        &self,
        x: &Frame,
        (first, second): (usize, usize),
        run: &Context,
    ) -> Result<Vec<f64>> {
        let classes = self.means.nrows();
        if first.max(second) >= classes {
            let got = format!("{first} and {second}");
            return Err(Error::parameter("classes", format!("below {classes}"), got));
        }
        let scores = self.decision_scores_in(x, run)?;
        let score = |row: &[f64], k: usize| match row {
            [margin] => margin * k as f64,
            row => row[k],
        };
        Ok(scores.rows().map(|row| score(row, first) - score(row, second)).collect())
    }

    /// Classes by the nearest class mean in the first `count` discriminant coordinates, corrected
    /// by the priors; with all coordinates these are the classes of the scores.
    pub fn classify_reduced_in(&self, x: &Frame, count: usize, run: &Context) -> Result<Vec<u32>> {
        let most = self.scalings.as_ref().map_or(0, Matrix::ncols);
        if self.scalings.is_some() && !(1..=most).contains(&count) {
            return Err(Error::parameter("count", format!("from 1 to {most}"), count));
        }
        let means = Table::unnamed(self.means.clone());
        let centres = self.coordinates(&means.frame(), count, run)?;
        let z = self.coordinates(x, count, run)?;
        let score =
            |z: &[f64], k: usize| self.priors[k].ln() - 0.5 * squared_distance(z, centres.row(k));
        let scores = Matrix::from_fn(z.nrows(), self.priors.len(), |i, k| score(z.row(i), k));
        Ok(classes_of_scores(&posterior::as_decision_scores(scores)))
    }

    fn validate(&self) -> Result<()> {
        let classes = self.means.nrows();
        let fits = classes > 1
            && self.coef.nrows() == if classes == 2 { 1 } else { classes }
            && !self.intercept.iter().any(|b| b.is_nan())
            && (1..=self.ratios.len()).contains(&self.components);
        if fits { Ok(()) } else { Err(invalid("scores do not fit the classes and columns")) }
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("Linear discriminant analysis");
        report.tables.push(class_means(&self.priors, names, &self.means));
        if let (Some(scalings), Some(shares)) = (&self.scalings, &self.explained_variance_ratio) {
            let shown = self.components.min(6);
            let axes: Vec<String> = (0..shown).map(|k| format!("LD{}", k + 1)).collect();
            let head: Vec<&str> =
                ["column"].into_iter().chain(axes.iter().map(String::as_str)).collect();
            let mut table = Columns::new("Discriminant coordinates", &head);
            for (j, name) in names.columns.iter().enumerate().take(scalings.nrows()) {
                let cells = (0..shown).map(|k| Cell::Number(scalings[(j, k)]));
                table.push([Cell::Text(name.clone())].into_iter().chain(cells).collect());
            }
            report.tables.push(Columns { weights: true, ..table });
            let mut table = Columns::new("Separation", &["coordinate", "between/within", "share"]);
            for k in 0..shown {
                let share = shares.get(k).copied().unwrap_or(0.0);
                let name = Cell::Text(axes[k].clone());
                table.push(vec![name, Cell::Number(self.ratios[k]), Cell::Number(share)]);
            }
            report.tables.push(table);
        }
        report.notes.extend(self.notes.iter().cloned());
        report
    }
}

#[cfg(test)]
mod tests;
