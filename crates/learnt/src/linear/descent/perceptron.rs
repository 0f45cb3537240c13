//! The perceptron, its batch form and the pocket.
//!
//! Decreases the criterion Σ -y_i f(x_i) over mistakes by  w ← w + η y_i x_i, b ← b + η y_i  at each
//! mistake (`sample`), or by the sum over all mistakes of a pass (`batch`). A mistake is
//! y_i f(x_i) <= 0, so that zero weights move; `zero_is` has the other rules. On targets ±1 this is
//! w + ½ η (y - sign f) x. If a line separates the classes, mistakes end, and a pass without one is
//! the last. If not, `pocket` keeps the weights with the fewest mistakes on all rows, and a fit that ends with
//! mistakes says how many.
//! More than two classes are one line a class against the others. Score 0 is the second class.
//!
//! Rosenblatt (1958), Psychological Review 65, 386–408; Gallant (1990), IEEE Transactions on Neural
//! Networks 1, 179–191, for the pocket.

use super::classes::{self, ClassRows};
use super::effort::{self, Effort};
use super::line::{Line, Plan};
use super::loss::Loss;
use super::options::{DescentPenalty, LearningRate, Passes};
use super::pocket;
use crate::linear::ClassWeight;
use learnt_core::estimator::classes_of_scores;
use learnt_core::prelude::*;

/// Perceptron: a linear classifier that is updated at each misclassified row.
///
/// The rule of the textbooks takes rows as listed and goes on until a pass has no mistake:
/// [`Perceptron::textbook`], or `shuffle=False, tol=None` in Python. `mode`, `zero_is`,
/// `learning_rate` and `power_t` are additions to scikit-learn's parameters; `warm_start` is not
/// needed, because training goes on with updates. A clean pass without a penalty ends the fit at
/// once, where scikit-learn makes `n_iter_no_change` more that change nothing.
///
/// ```
/// use learnt::{linear::Perceptron, prelude::*};
/// let x = Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])?;
/// let and = OwnedDataset::classification(x, &[0, 0, 0, 1].map(Label::Int));
/// let model = Perceptron::textbook().fit(&and.view())?;
/// assert_eq!((model.coef.as_slice(), model.intercept[0]), (&[3.0, 2.0][..], -4.0));
/// assert_eq!((model.n_iter, model.updates), (9, 18));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Perceptron {
    /// The penalty (regularization) of the weights.
    #[param(default = DescentPenalty::Nothing)]
    pub penalty: DescentPenalty,
    /// Regularization strength (weight of the penalty).
    #[param(default = 1e-4, range = 0.0..)]
    pub alpha: f64,
    /// Share of the absolute values in the penalty `elasticnet`.
    #[param(default = 0.15, range = 0.0..=1.0)]
    pub l1_ratio: f64,
    /// Whether there are intercepts.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// How many passes there are.
    #[param(flatten)]
    pub passes: Passes,
    /// Learning rate: the length of steps.
    #[param(default = 1.0, above = 0.0)]
    pub eta0: f64,
    /// Weights of the classes, which multiply the row weights.
    #[param(default = ClassWeight::Equal)]
    pub class_weight: ClassWeight,
    /// What a step is made of.
    #[param(default = PerceptronMode::Sample)]
    pub mode: PerceptronMode,
    /// What score zero counts as while training.
    #[param(default = ZeroIs::Mistake)]
    pub zero_is: ZeroIs,
    /// The learning rate schedule: whether steps get shorter.
    #[param(default = PerceptronRate::Constant)]
    pub learning_rate: PerceptronRate,
    /// Exponent of the learning rate `invscaling`.
    #[param(default = 0.5, range = 0.0..)]
    pub power_t: f64,
}

/// What a step is made of.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerceptronMode {
    /// Each mistake.
    Sample,
    /// The sum of all mistakes of a pass.
    Batch,
    /// Each mistake; the weights with the fewest mistakes on all rows are kept.
    Pocket,
}

/// What score zero counts as while training.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroIs {
    /// A mistake, whatever the class.
    Mistake,
    /// The second class.
    Positive,
    /// The first class.
    Negative,
}

impl ZeroIs {
    /// Whether a score is on the wrong side of a target of ±1.
    #[inline(always)]
    pub(super) fn is_mistake(self, score: f64, y: f64) -> bool {
        let z = score * y;
        z < 0.0
            || (z == 0.0
                && match self {
                    ZeroIs::Mistake => true,
                    ZeroIs::Positive => y < 0.0,
                    ZeroIs::Negative => y > 0.0,
                })
    }
}

/// The learning rate schedule: how long steps are.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerceptronRate {
    /// `eta0`.
    Constant,
    /// `eta0` / t^`power_t` after t - 1 rows, or passes of the mode `batch`.
    Invscaling,
}

/// A fitted [`Perceptron`].
#[derive(Model, Clone, Debug)]
#[model(classifier, report = table, converged = converged, looks)]
pub struct PerceptronModel {
    /// Weights: one row for two classes, else one a class (n_classes × n_features).
    #[shape(lines, columns)]
    #[finite]
    pub coef: Matrix,
    /// Intercepts, one for each row of the weights; 0 without intercept.
    #[shape(lines)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Passes made, the clean one included; the most of any class.
    pub n_iter: usize,
    /// Rows (or batches) looked at, plus one.
    pub t: u64,
    /// Steps that changed weights, over all classes.
    pub updates: u64,
    /// Whether the last pass of every class had no mistake.
    pub separated: bool,
    zero_is: ZeroIs,
    converged: bool,
    #[shape(lines, columns)]
    lines: Vec<Line>,
}

impl Estimator for Perceptron {
    type Model = PerceptronModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("linear_model.Perceptron")
        .weights()
        .decision_scores()
        .without_probabilities()
        .randomness()
        .threads()
        .iterations()
        .online()
        .scaling()
        .complexity(20)
        .cost("n p K time a pass, p K memory")
        .reference("Rosenblatt (1958), The perceptron, Psychological Review 65, 386–408")
        .exempt(&[
            ("weights_scale", "a weight multiplies a step of absolute size, as in scikit-learn"),
            (
                "weights_repeat",
                "a weight multiplies one step, and a repeated row makes two steps from two places",
            ),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "a weight multiplies one step, and a repeated row makes two steps from two places",
            ),
            (
                "beats_the_dummy",
                "the middle one of three groups on a line has no line of its own against the others",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<PerceptronModel> {
        self.descend(None, data, run)
    }

    fn update(
        &self,
        model: Option<&PerceptronModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<PerceptronModel> {
        classes::check_online(self.class_weight)?;
        if self.mode == PerceptronMode::Pocket {
            let expected = "'sample' or 'batch' where training goes on with more rows";
            return Err(Error::parameter("mode", expected, self.mode));
        }
        self.descend(Some(model), data, run)
    }
}

impl Perceptron {
    /// Rows as listed, until a pass has no mistake or 1000 passes are made.
    pub fn textbook() -> Self {
        Perceptron {
            passes: Passes { shuffle: false, tol: None, ..Passes::default() },
            ..Self::default()
        }
    }

    fn constraints(&self) -> Result<()> {
        if self.mode != PerceptronMode::Sample && self.penalty != DescentPenalty::Nothing {
            return Err(Error::parameter(
                "penalty",
                "none unless the mode is 'sample'",
                self.penalty,
            ));
        }
        if self.mode == PerceptronMode::Pocket && self.passes.early_stopping {
            return Err(Error::parameter("early_stopping", "false in the mode 'pocket'", true));
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        let batch = self.mode == PerceptronMode::Batch;
        Plan {
            loss: Loss::Perceptron(self.zero_is),
            alpha: self.alpha,
            strengths: self.penalty.strengths(self.alpha, self.l1_ratio),
            learning_rate: match self.learning_rate {
                PerceptronRate::Constant => LearningRate::Constant,
                PerceptronRate::Invscaling => LearningRate::Invscaling,
            },
            eta0: self.eta0,
            power_t: self.power_t,
            fit_intercept: self.fit_intercept,
            batch_size: if batch { usize::MAX } else { 1 },
            sums: batch,
            momentum: 0.0,
            average: None,
        }
    }

    fn effort(&self) -> Effort {
        Effort {
            shuffle: self.passes.shuffle && self.mode != PerceptronMode::Batch,
            clean_pass_ends: self.penalty == DescentPenalty::Nothing,
            ..self.passes.effort(true)
        }
    }

    /// All passes without `online`; with it one, from the lines of a model if there is one.
    fn descend(
        &self,
        online: Option<Option<&PerceptronModel>>,
        data: &Dataset,
        run: &Context,
    ) -> Result<PerceptronModel> {
        let (plan, effort) = (self.plan(), self.effort());
        let copy = classes::row_copy(data.x.values(), run)?;
        let x = copy.as_ref().map_or(data.x.values(), Matrix::view);
        let rows = ClassRows::new(x, data, self.class_weight)?;
        let before = online.flatten();
        if let Some(model) = before {
            classes::check_lines(&model.lines, rows.lines(), x.ncols())?;
        }
        let ended = rows.each_line(run, |k, task, run| match (online, self.mode) {
            (Some(_), _) => {
                let fresh = || Line::new(x.ncols(), &plan);
                let line = before.map_or_else(fresh, |model| model.lines[k].clone());
                effort::one_more_pass(&plan, &effort, line, task, run)
            }
            (None, PerceptronMode::Pocket) => pocket::descend(&plan, &effort, task, run),
            (None, _) => effort::descend(&plan, &effort, task, run),
        })?;
        let converged = ended.iter().all(|end| end.converged);
        let n_iter = ended.iter().map(|end| end.n_iter).max().unwrap_or(0);
        let separated = ended.iter().all(|end| end.clean);
        let lines: Vec<Line> = ended.into_iter().map(|end| end.line).collect();
        let (coef, intercept) = classes::gathered(&lines, &plan, x.ncols());
        let mut model = PerceptronModel {
            coef,
            intercept,
            n_iter,
            t: 1 + lines.iter().map(|line| line.steps).max().unwrap_or(0),
            updates: lines.iter().map(|line| line.updates).sum(),
            separated,
            zero_is: self.zero_is,
            converged,
            lines,
        };
        if online.is_none() && !separated {
            model.converged = !self.tells_overlap(&model, data, run)?;
        }
        Ok(model)
    }

    /// A word about rows on the wrong side at the end of a fit; whether there was one to say.
    fn tells_overlap(
        &self,
        model: &PerceptronModel,
        data: &Dataset,
        run: &Context,
    ) -> Result<bool> {
        let (codes, classes) = data.class_target()?;
        let said = model.classify_in(&data.x, run)?;
        let wrong = said.iter().zip(codes).filter(|(said, code)| said != code).count();
        if wrong == 0 && model.converged {
            return Ok(false);
        }
        let (rows, passes) = (codes.len(), model.n_iter);
        let what = match classes.len() {
            2 => "no line separates the two classes",
            _ => "no line separates each class from the others",
        };
        let kept = match self.mode {
            PerceptronMode::Pocket => "",
            _ => "; mode='pocket' keeps the line with the fewest mistakes",
        };
        let message = format!(
            "the perceptron ended after {passes} passes with {wrong} of {rows} rows misclassified: {what}, or it was not found yet{kept}, and logistic regression is made for classes that overlap"
        );
        run.warn(Code::NotConverged, message);
        Ok(true)
    }
}

impl Classifier for PerceptronModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        classes::decision_scores(x, &self.coef, &self.intercept, run)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let scores = self.decision_scores_in(x, run)?;
        Ok(match (scores.ncols(), self.zero_is) {
            (1, ZeroIs::Negative) => {
                scores.as_slice().iter().map(|&score| u32::from(score > 0.0)).collect()
            }
            _ => classes_of_scores(&scores),
        })
    }
}

impl PerceptronModel {
    fn table(&self, names: &Names) -> Answer {
        let title = format!("Perceptron, {} passes, {} updates", self.n_iter, self.updates);
        classes::weight_table(&title, &self.coef, &self.intercept, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::context::{Quiet, Recorder};

    fn xor() -> OwnedDataset {
        let x =
            Matrix::from_fn(4, 2, |i, j| [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]][i][j]);
        OwnedDataset::classification(x, &[0, 1, 1, 0].map(Label::Int))
    }

    fn mistakes(model: &PerceptronModel, data: &OwnedDataset) -> usize {
        let predicted = model.classify(&data.x.frame()).unwrap();
        let codes = data.view().class_target().unwrap().0;
        predicted.iter().zip(codes).filter(|(a, b)| a != b).count()
    }

    #[test]
    fn one_pass_of_updates_row_by_row_is_one_epoch() {
        let learner = Perceptron {
            passes: Passes { max_iter: 1, ..Perceptron::textbook().passes },
            ..Perceptron::textbook()
        };
        let data = xor();
        let mut model = None;
        for i in 0..4 {
            let row = data.view().rows(i, i + 1);
            model = Some(learner.update_in(model.as_ref(), &row, &Context::default()).unwrap());
        }
        let (model, epoch) = (model.unwrap(), learner.fit(&data.view()).unwrap());
        assert_eq!((model.coef, model.intercept), (epoch.coef, epoch.intercept));
        assert_eq!((model.updates, model.t), (epoch.updates, epoch.t));
    }

    #[test]
    fn the_mistakes_of_the_pocket_never_rise_over_passes() {
        let x = Matrix::from_fn(60, 2, |i, j| ((i * [7, 13][j]) % 17) as f64 - 8.0);
        let labels: Vec<Label> = (0..60)
            .map(|i| {
                let noisy = i % 9 == 0;
                Label::Int(i64::from((x[(i, 0)] + x[(i, 1)] > 0.0) != noisy))
            })
            .collect();
        let data = OwnedDataset::classification(x, &labels);
        let mut last = usize::MAX;
        for passes in 1..25 {
            let pocket = Perceptron {
                mode: PerceptronMode::Pocket,
                passes: Passes { max_iter: passes, ..Perceptron::textbook().passes },
                ..Perceptron::textbook()
            };
            let now = mistakes(&pocket.fit(&data.view()).unwrap(), &data);
            assert!(now <= last, "{now} mistakes after {passes} passes, {last} before");
            last = now;
        }
        assert!(last <= 12, "{last} mistakes");
        let pocket = Perceptron { mode: PerceptronMode::Pocket, ..Perceptron::textbook() };
        assert!(mistakes(&pocket.fit(&xor().view()).unwrap(), &xor()) <= 2);
    }

    #[test]
    fn classes_that_overlap_are_told_once_and_separable_ones_not() {
        let heard = |learner: &Perceptron, data: &OwnedDataset| {
            let recorder = Recorder::new(&Quiet);
            let run = Context::default().observed_by(&recorder);
            let model = learner.fit_in(&data.view(), &run).unwrap();
            assert_eq!(model.converged(), recorder.warnings().is_empty());
            recorder.warnings().into_iter().map(|warning| warning.message).collect::<Vec<_>>()
        };
        let overlap = heard(&Perceptron::default(), &xor());
        assert_eq!(overlap.len(), 1, "{overlap:?}");
        assert!(overlap[0].contains("of 4 rows misclassified: no line separates"), "{overlap:?}");
        assert!(overlap[0].contains("pocket"), "{overlap:?}");
        let pocket = Perceptron { mode: PerceptronMode::Pocket, ..Perceptron::textbook() };
        let overlap = heard(&pocket, &xor());
        assert!(overlap.len() == 1 && !overlap[0].contains("pocket"), "{overlap:?}");
        let x = Matrix::column_vector(vec![-2.0, -1.0, 1.0, 2.0]);
        let apart = OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int));
        assert!(heard(&Perceptron::default(), &apart).is_empty());
    }

    #[test]
    fn steps_may_get_shorter() {
        let learner =
            Perceptron { learning_rate: PerceptronRate::Invscaling, ..Perceptron::textbook() };
        let x = Matrix::column_vector(vec![-2.0, -1.0, 1.0, 2.0]);
        let data = OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int));
        assert!(learner.fit(&data.view()).unwrap().separated);
    }
}
