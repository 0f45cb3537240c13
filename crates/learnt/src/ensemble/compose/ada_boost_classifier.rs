//! AdaBoost: classifiers one after another, each on the rows that the ones before got wrong.
//!
//! Weights start equal (or as given). A round fits the learner with the weights; with err the share of
//! weight that it gets wrong, its own weight is rate (ln((1 - err)/err) + ln(K - 1)) (SAMME), without
//! the last term for M1, and wrong rows are multiplied by exp of that. With two classes both are
//! AdaBoost, whose half weights are the steps of exponential loss. Rounds end at `n_estimators`, with a
//! member that makes no error, or with one that is no better than guessing (err >= 1 - 1/K, M1: 1/2),
//! which is dropped. Learners without weights see rows drawn by weight. Ties go to the lowest class.
//!
//! Freund and Schapire (1997), Journal of Computer and System Sciences 55, 119-139; Zhu, Zou, Rosset and
//! Hastie (2009), Statistics and Its Interface 2, 349-360.

use super::{accepts_of_parts, check_classifiers, codes_of, member_report, parts_of};
use crate::learner::{Fitted, Learner};
use crate::select::weighted_resample;
use crate::tree::{DecisionTreeClassifier, Growth};
use learnt_core::context::Progress;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::special::softmax_in_place;

/// The random stream of rows drawn by weight.
const ROWS_STREAM: u64 = 0x6164_6162;

/// AdaBoost classifier (SAMME, M1): weak classifiers one after another, on reweighted rows.
///
/// Decision scores and probabilities are scikit-learn's: weighted votes divided by the sum of weights.
///
/// ```
/// use learnt::{ensemble::AdaBoostClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = AdaBoostClassifier::default().fit(&data.view())?;
/// assert_eq!(model.estimator_weights.len(), model.estimator_errors.len());
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct AdaBoostClassifier {
    /// The classifier; none is a decision stump.
    #[param(positional, learner = classifier, default = None)]
    pub estimator: Option<Learner>,
    /// Maximum number of rounds.
    #[param(default = 50, range = 1.., search = set(50, 200))]
    pub n_estimators: usize,
    /// Learning rate: weights of members are multiplied by it.
    #[param(default = 1.0, above = 0.0, search = log(0.01, 2.0))]
    pub learning_rate: f64,
    /// How members are weighted with more than two classes.
    #[param(default = AdaBoostAlgorithm::Samme)]
    pub algorithm: AdaBoostAlgorithm,
}

/// How members are weighted with more than two classes.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum AdaBoostAlgorithm {
    /// With ln(K - 1) more, so that members need only beat guessing among K classes.
    #[choice(name = "SAMME")]
    Samme,
    /// As for two classes; members must be right more often than not.
    M1,
}

/// A fitted [`AdaBoostClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = report, accepts = accepts, parts = parts)]
#[model(questions = QUESTIONS)]
pub struct AdaBoostClassifierModel {
    /// Weight of each member: ln((1 - err)/err), with ln(K - 1) for SAMME, times the learning rate.
    #[finite]
    pub estimator_weights: Vec<f64>,
    /// Share of weight that each member got wrong.
    #[share]
    pub estimator_errors: Vec<f64>,
    parts: Vec<Fitted>,
    classes: Vec<Label>,
}

/// The learner of rounds: a stump unless another is given.
pub(super) fn stump() -> Learner {
    let growth = Growth { max_depth: Some(1), ..Default::default() };
    DecisionTreeClassifier { growth, ..Default::default() }.into()
}

impl Estimator for AdaBoostClassifier {
    type Model = AdaBoostClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.AdaBoostClassifier")
        .alias(&["adaboost", "ada-boost"])
        .weights()
        .missing()
        .categories()
        .decision_scores()
        .randomness()
        .threads()
        .iterations()
        .complexity(72)
        .cost("a fit of the learner for each round")
        .reference("Freund and Schapire (1997); Zhu, Zou, Rosset and Hastie (2009)")
        .exempt(&[("seeds_differ", "the default learner draws nothing")]);

    fn accepts(&self) -> Accepts {
        let accepts =
            self.estimator.as_ref().map_or_else(|| stump().any_accepts(), |l| l.any_accepts());
        Accepts { many_outputs: false, weights: true, ..accepts }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<AdaBoostClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let learner = self.estimator.clone().unwrap_or_else(stump);
        let mut model = AdaBoostClassifierModel {
            estimator_weights: Vec::new(),
            estimator_errors: Vec::new(),
            parts: Vec::new(),
            classes: classes.to_vec(),
        };
        let mut weights: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i)).collect();
        normalise(&mut weights);
        for round in 0..self.n_estimators {
            let name = format!("round {}", round + 1);
            let part = fit_weighted(&learner, (&name, round), data, &weights, run)?;
            let found = part.classifier()?.classify_in(&data.x, run)?;
            let wrong: Vec<bool> = found.iter().zip(codes).map(|(a, b)| a != b).collect();
            let error =
                weights.iter().zip(&wrong).filter(|(_, w)| **w).map(|(w, _)| w).sum::<f64>();
            if error >= self.guessing(classes.len()) - 1e-12 {
                break;
            }
            let perfect = error <= 1e-10;
            let weight = if perfect {
                self.perfect(classes.len())
            } else {
                self.weight(error, classes.len())
            };
            model.parts.push(part);
            model.estimator_errors.push(error.clamp(0.0, 1.0));
            model.estimator_weights.push(weight);
            run.progress(&Progress {
                stage: "boosting",
                done: round as u64 + 1,
                total: Some(self.n_estimators as u64),
                objective: Some(error),
            })?;
            if perfect {
                break;
            }
            let pairs = weights.iter_mut().zip(&wrong).filter(|(_, wrong)| **wrong);
            pairs.for_each(|(w, _)| *w *= weight.exp());
            normalise(&mut weights);
        }
        match model.parts.is_empty() {
            false => Ok(model),
            true => {
                let message =
                    "the first member is no better than guessing, so there is nothing to boost";
                Err(Error::new(Code::Undefined, message).hint("give another estimator"))
            }
        }
    }
}

pub(super) fn normalise(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
}

/// Fits a member with weights, or on rows drawn by them.
pub(super) fn fit_weighted(
    learner: &Learner,
    (name, stream): (&str, usize),
    data: &Dataset,
    weights: &[f64],
    run: &Context,
) -> Result<Fitted> {
    if !learner.any_accepts().weights {
        return fit_drawn(learner, (name, stream), data, weights, run);
    }
    let inner = run.child(stream as u64).with_threads(run.threads());
    // Some learners count weights as rows: they sum to the number of rows.
    let weights: Vec<f64> = weights.iter().map(|weight| weight * data.nrows() as f64).collect();
    Fitted::fit(&**learner, name, &data.with_weights(&weights), &inner)
}

/// Fits a member on as many rows as there are, drawn by their weights.
pub(super) fn fit_drawn(
    learner: &Learner,
    (name, stream): (&str, usize),
    data: &Dataset,
    weights: &[f64],
    run: &Context,
) -> Result<Fitted> {
    let inner = run.child(stream as u64).with_threads(run.threads());
    let rows = weighted_resample(weights, data.nrows(), &mut inner.rng(ROWS_STREAM))?;
    let plain = Dataset { weights: None, ..*data };
    Fitted::fit(&**learner, name, &plain.gather(&rows).view(), &inner)
}

impl AdaBoostClassifier {
    /// The error of a member that only guesses.
    fn guessing(&self, classes: usize) -> f64 {
        match self.algorithm {
            AdaBoostAlgorithm::Samme => 1.0 - 1.0 / classes.max(2) as f64,
            AdaBoostAlgorithm::M1 => 0.5,
        }
    }

    pub(super) fn weight(&self, error: f64, classes: usize) -> f64 {
        let more = match self.algorithm {
            AdaBoostAlgorithm::Samme => (classes.max(2) as f64 - 1.0).ln(),
            AdaBoostAlgorithm::M1 => 0.0,
        };
        self.learning_rate * (((1.0 - error) / error).ln() + more)
    }

    /// The weight of a member without error: as if it had one in ten thousand million.
    fn perfect(&self, classes: usize) -> f64 {
        self.weight(1e-10, classes)
    }
}

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

const QUESTIONS: &[Question] = &[
    Question {
        name: "trace",
        doc: "Each round on its training rows: weighted error, step, share of wrong weight after it, training error and its bound.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "row_weights",
        doc: "The weight of each training row at the start and after each round, and its margin.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
];

impl AdaBoostClassifierModel {
    /// After each round, the margin of each row: the weight of members for its class less the largest
    /// weight for another.
    pub(in crate::ensemble) fn staged_margins(
        &self,
        data: &Dataset,
        run: &Context,
    ) -> Result<Vec<Vec<f64>>> {
        let (codes, _) = data.class_target()?;
        let count = self.classes.len();
        let cells = (self.parts.len() as u64).saturating_mul(data.nrows() as u64);
        run.claim(8 * cells, "margins of rows by round")?;
        let mut votes = Matrix::zeros(data.nrows(), count);
        let mut staged = Vec::with_capacity(self.parts.len());
        for (part, weight) in self.parts.iter().zip(&self.estimator_weights) {
            run.checkpoint()?;
            for (i, k) in codes_of(part, count, &data.x, run)?.into_iter().enumerate() {
                votes[(i, k as usize)] += weight;
            }
            let margin = |i: usize| {
                let (row, own) = (votes.row(i), codes[i] as usize);
                let others = (0..count).filter(|&k| k != own).map(|k| row[k]);
                row[own] - others.fold(0.0, f64::max)
            };
            staged.push((0..data.nrows()).map(margin).collect());
        }
        Ok(staged)
    }

    /// Weights of rows, a row a round, and their margins after the last.
    fn row_weights(&self, data: &Dataset, run: &Context) -> Result<Answer> {
        let (codes, _) = data.class_target()?;
        let cells = (self.parts.len() as u64 + 1).saturating_mul(data.nrows() as u64);
        run.claim(8 * cells, "weights of rows by round")?;
        let mut weights: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i)).collect();
        normalise(&mut weights);
        let mut all = weights.clone();
        for (part, weight) in self.parts.iter().zip(&self.estimator_weights) {
            let found = codes_of(part, self.classes.len(), &data.x, run)?;
            for (i, k) in found.into_iter().enumerate() {
                if k != codes[i] {
                    weights[i] *= weight.exp();
                }
            }
            normalise(&mut weights);
            all.extend_from_slice(&weights);
        }
        let total: f64 = self.estimator_weights.iter().sum();
        let margins = self.staged_margins(data, run)?.pop().unwrap_or_default();
        let mut answer = Answer::new("Weights of rows");
        answer.push("weights", Matrix::from_vec(self.parts.len() + 1, data.nrows(), all)?);
        let margins = margins.into_iter().map(|margin| margin / total).collect();
        answer.tables.push(Columns::titled("Rows").reals("margin", margins));
        Ok(answer)
    }

    /// The rounds again on rows with their target.
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let data = asked.data.ok_or_else(|| Error::internal("a trace without rows"))?;
        if asked.name == "row_weights" {
            return self.row_weights(&data, &asked.run);
        }
        let (codes, _) = data.class_target()?;
        let mut weights: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i)).collect();
        normalise(&mut weights);
        let first = weights.clone();
        let mut answer = Answer::new("Rounds of boosting");
        let head = [
            "round",
            "weighted error",
            "half weight",
            "wrong share after",
            "Z",
            "bound",
            "training error",
        ];
        let mut table = Columns::new("Rounds", &head);
        let mut votes = Matrix::zeros(data.nrows(), self.classes.len());
        let mut bound = 1.0;
        for (m, part) in self.parts.iter().enumerate() {
            let found = codes_of(part, self.classes.len(), &data.x, &asked.run)?;
            let wrong: Vec<bool> = found.iter().zip(codes).map(|(a, b)| a != b).collect();
            let share = |weights: &[f64]| -> f64 {
                weights.iter().zip(&wrong).filter(|(_, w)| **w).map(|(w, _)| w).sum()
            };
            let error = share(&weights);
            let weight = self.estimator_weights[m];
            // With half weights: Z = Σ w exp(∓ half).
            let z = error * (0.5 * weight).exp() + (1.0 - error) * (-0.5 * weight).exp();
            bound *= z;
            let pairs = weights.iter_mut().zip(&wrong).filter(|(_, wrong)| **wrong);
            pairs.for_each(|(w, _)| *w *= weight.exp());
            normalise(&mut weights);
            found.iter().enumerate().for_each(|(i, &k)| votes[(i, k as usize)] += weight);
            let chosen = votes.rows().map(learnt_core::estimator::first_maximum);
            let missed = chosen.zip(codes).zip(&first).filter(|((a, b), _)| a != *b);
            let training: f64 = missed.map(|(_, w)| w).sum();
            table.push(vec![
                Cell::Count(m as i64 + 1),
                Cell::Number(error),
                Cell::Number(0.5 * weight),
                Cell::Number(share(&weights)),
                Cell::Number(z),
                Cell::Number(bound),
                Cell::Number(training),
            ]);
        }
        answer.tables.push(table);
        if self.classes.len() > 2 {
            answer.notes.push("the product of Z bounds the training error of two classes".into());
        }
        Ok(answer)
    }

    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.parts)?;
        let fits = self.estimator_weights.len() == self.parts.len()
            && self.estimator_errors.len() == self.parts.len()
            && self.estimator_weights.iter().sum::<f64>() > 0.0
            && self.estimator_weights.iter().all(|&w| w > 0.0)
            && !self.classes.is_empty();
        if fits { Ok(()) } else { Err(invalid("weights that do not fit the members")) }
    }

    fn report(&self, _: &Names) -> Answer {
        member_report("AdaBoost", &self.parts, "weight", &self.estimator_weights)
    }

    /// Shares of the weight of members, less those of the other classes evenly.
    fn votes(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let total: f64 = self.estimator_weights.iter().sum();
        let others = (self.classes.len().max(2) - 1) as f64;
        let mut votes = Matrix::zeros(x.nrows(), self.classes.len());
        for (part, weight) in self.parts.iter().zip(&self.estimator_weights) {
            for (i, k) in part.classifier()?.classify_in(x, run)?.into_iter().enumerate() {
                for (class, vote) in votes.row_mut(i).iter_mut().enumerate() {
                    let side = if class == k as usize { 1.0 } else { -1.0 / others };
                    *vote += side * weight / total;
                }
            }
        }
        Ok(votes)
    }
}

impl Classifier for AdaBoostClassifierModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let first_most = |votes: &[f64]| {
            let better = |best: usize, k: usize| if votes[k] > votes[best] { k } else { best };
            (1..votes.len()).fold(0, better) as u32
        };
        Ok(self.votes(x, run)?.rows().map(first_most).collect())
    }

    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let votes = self.votes(x, run)?;
        match self.classes.len() {
            2 => Ok(Matrix::column_vector(votes.column(1))),
            _ => Ok(votes),
        }
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut votes = self.votes(x, run)?;
        let others = (self.classes.len().max(2) - 1) as f64;
        for i in 0..votes.nrows() {
            let row = votes.row_mut(i);
            // Two classes: the votes are opposite, and half of each is the score.
            let factor = if row.len() == 2 { 0.5 } else { 1.0 / others };
            row.iter_mut().for_each(|vote| *vote *= factor);
            softmax_in_place(row);
        }
        Ok(votes)
    }
}
