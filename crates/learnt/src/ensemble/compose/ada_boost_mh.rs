//! AdaBoost.MH: every class is a question of its own, and one set of weights covers them all.
//!
//! Row i and class y have the label v_i(y) = +1 if y is the row's class, else -1, and a weight D(i, y) that
//! starts at 1/(m k) (or the row's share of weight over k). A round fits the learner once a class to the
//! labels of that class with its weights: together the h(x, y) of the round. With err the weight of wrong
//! pairs, α = rate ½ ln((1 - err)/err); D is multiplied by exp(-α v h) and divided by its sum Z. The class
//! with the largest F(x, y) = Σ α h(x, y) is predicted, the first of equals; probabilities are the softmax
//! of F, with two classes 1/(1 + exp(-2 F)). The training error is at most k/2 Π Z. Rounds end at
//! `n_estimators`, with one that makes no error, or with one that is no better than guessing (err >= 1/2),
//! which is dropped.
//!
//! Schapire and Singer (1999), Machine Learning 37, 297-336.

use super::ada_boost_classifier::{fit_weighted, normalise, stump};
use super::{accepts_of_parts, check_classifiers, codes_of, member_report, parts_of};
use crate::learner::{Fitted, Learner};
use learnt_core::context::Progress;
use learnt_core::error::plain;
use learnt_core::estimator::{Accepts, first_maximum};
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::special::softmax_in_place;

/// What the learner of a class is asked: is it this class?
const SIDES: [Label; 2] = [Label::Bool(false), Label::Bool(true)];

/// AdaBoost.MH classifier: boosting of one yes-or-no question a class, with weights of rows and classes.
///
/// ```
/// use learnt::{ensemble::AdaBoostMHClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = AdaBoostMHClassifier::default().fit(&data.view())?;
/// assert_eq!(model.estimator_weights.len(), model.normalisers.len());
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct AdaBoostMHClassifier {
    /// The classifier of yes and no; none is a decision stump.
    #[param(positional, learner = classifier, default = None)]
    pub estimator: Option<Learner>,
    /// Maximum number of rounds.
    #[param(default = 50, range = 1.., search = set(50, 200))]
    pub n_estimators: usize,
    /// Learning rate: steps are multiplied by it.
    #[param(default = 1.0, above = 0.0, search = log(0.01, 2.0))]
    pub learning_rate: f64,
}

/// A fitted [`AdaBoostMHClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = report, accepts = accepts, parts = parts)]
#[model(questions = QUESTIONS)]
pub struct AdaBoostMHClassifierModel {
    /// Step of each round: ½ ln((1 - err)/err) times the learning rate.
    #[positive]
    pub estimator_weights: Vec<f64>,
    /// Weight of wrong pairs of rows and classes in each round.
    #[share]
    pub estimator_errors: Vec<f64>,
    /// Z of each round; the training error is at most k/2 times their product.
    #[positive]
    pub normalisers: Vec<f64>,
    /// Round by round, one a class.
    parts: Vec<Fitted>,
    classes: Vec<Label>,
}

impl Estimator for AdaBoostMHClassifier {
    type Model = AdaBoostMHClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.AdaBoostMHClassifier")
        .alias(&["adaboost-mh"])
        .weights()
        .missing()
        .categories()
        .decision_scores()
        .only_by_name()
        .randomness()
        .threads()
        .iterations()
        .complexity(73)
        .cost("a fit of the learner for each round and class")
        .reference("Schapire and Singer (1999)")
        .exempt(&[
            ("seeds_differ", "the default learner draws nothing"),
            (
                "weights_scale",
                "after many rounds members tie but for rounding, and another is taken",
            ),
        ]);

    fn accepts(&self) -> Accepts {
        let accepts =
            self.estimator.as_ref().map_or_else(|| stump().any_accepts(), |l| l.any_accepts());
        Accepts { many_outputs: false, weights: true, ..accepts }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<AdaBoostMHClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let (rows, count) = (data.nrows(), classes.len());
        let learner = self.estimator.clone().unwrap_or_else(stump);
        run.claim(16 * (rows as u64).saturating_mul(count as u64), "weights of rows and classes")?;
        let labels = signs(codes, count);
        let mut weights: Vec<f64> =
            (0..count * rows).map(|pair| data.weight(pair % rows)).collect();
        normalise(&mut weights);
        let mut model = AdaBoostMHClassifierModel {
            estimator_weights: Vec::new(),
            estimator_errors: Vec::new(),
            normalisers: Vec::new(),
            parts: Vec::new(),
            classes: classes.to_vec(),
        };
        for round in 0..self.n_estimators {
            let parts = run.try_par_map(count, |k| {
                let sides: Vec<u32> = codes.iter().map(|&c| u32::from(c as usize == k)).collect();
                let data = data.with_target(Target::Class { codes: &sides, classes: &SIDES });
                let mut own = weights[k * rows..(k + 1) * rows].to_vec();
                normalise(&mut own);
                let name = format!("round {}, {}", round + 1, plain(&classes[k].to_string()));
                fit_weighted(&learner, (&name, round * count + k), &data, &own, run)
            })?;
            let said = answers(&parts, &data.x, run)?;
            let wrong = said.iter().zip(&labels).map(|(h, v)| h * v < 0.0);
            let error: f64 = wrong.zip(&weights).filter(|(wrong, _)| *wrong).map(|(_, w)| w).sum();
            if error >= 0.5 - 1e-12 {
                break;
            }
            let perfect = error <= 1e-10;
            let step = self.learning_rate * 0.5 * ((1.0 - error) / error.max(1e-10)).ln();
            let z = reweigh(&mut weights, &labels, &said, step);
            model.parts.extend(parts);
            model.estimator_weights.push(step);
            model.estimator_errors.push(error.clamp(0.0, 1.0));
            model.normalisers.push(z);
            run.progress(&Progress {
                stage: "boosting",
                done: round as u64 + 1,
                total: Some(self.n_estimators as u64),
                objective: Some(error),
            })?;
            if perfect {
                break;
            }
        }
        match model.parts.is_empty() {
            false => Ok(model),
            true => {
                let message =
                    "the first round is no better than guessing, so there is nothing to boost";
                Err(Error::new(Code::Undefined, message).hint("give another estimator"))
            }
        }
    }
}

/// v_i(y), class by class.
fn signs(codes: &[u32], classes: usize) -> Vec<f64> {
    let sign = |k: usize, code: u32| if code as usize == k { 1.0 } else { -1.0 };
    (0..classes).flat_map(|k| codes.iter().map(move |&code| sign(k, code))).collect()
}

/// h(x, y), class by class.
fn answers(parts: &[Fitted], x: &Frame, run: &Context) -> Result<Vec<f64>> {
    let mut said = Vec::with_capacity(parts.len() * x.nrows());
    for part in parts {
        let codes = codes_of(part, 2, x, run)?;
        said.extend(codes.into_iter().map(|code| 2.0 * f64::from(code) - 1.0));
    }
    Ok(said)
}

/// Multiplies weights by exp(-step v h) and divides them by their sum, which it gives.
fn reweigh(weights: &mut [f64], labels: &[f64], said: &[f64], step: f64) -> f64 {
    for ((weight, v), h) in weights.iter_mut().zip(labels).zip(said) {
        *weight *= (-step * v * h).exp();
    }
    let z = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= z);
    z
}

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

const QUESTIONS: &[Question] = &[Question {
    name: "trace",
    doc: "Each round on its training rows: weighted error of pairs, step, Z, the bound k/2 Π Z and the training error below it.",
    needs: Needs::RowsAndTarget,
    arguments: || Box::new(NoArguments::default()),
}];

impl AdaBoostMHClassifierModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let data = asked.data.ok_or_else(|| Error::internal("a trace without rows"))?;
        let (codes, _) = data.class_target()?;
        let (rows, count) = (data.nrows(), self.classes.len());
        let labels = signs(codes, count);
        let mut weights: Vec<f64> =
            (0..count * rows).map(|pair| data.weight(pair % rows)).collect();
        normalise(&mut weights);
        let mut own: Vec<f64> = (0..rows).map(|i| data.weight(i)).collect();
        normalise(&mut own);
        let heads = ["round", "weighted error", "step", "Z", "bound", "training error"];
        let mut table = Columns::new("Rounds", &heads);
        let mut scores = vec![0.0; count * rows];
        let mut bound = count as f64 / 2.0;
        for (m, parts) in self.parts.chunks(count).enumerate() {
            let said = answers(parts, &data.x, &asked.run)?;
            let step = self.estimator_weights[m];
            let wrong = said.iter().zip(&labels).map(|(h, v)| h * v < 0.0);
            let error: f64 = wrong.zip(&weights).filter(|(wrong, _)| *wrong).map(|(_, w)| w).sum();
            let z = reweigh(&mut weights, &labels, &said, step);
            bound *= z;
            scores.iter_mut().zip(&said).for_each(|(score, h)| *score += step * h);
            let called = |i: usize| {
                let of_row: Vec<f64> = (0..count).map(|k| scores[k * rows + i]).collect();
                first_maximum(&of_row)
            };
            let missed: f64 = (0..rows).filter(|&i| called(i) != codes[i]).map(|i| own[i]).sum();
            table.push(vec![
                Cell::Count(m as i64 + 1),
                Cell::Number(error),
                Cell::Number(step),
                Cell::Number(z),
                Cell::Number(bound),
                Cell::Number(missed),
            ]);
        }
        let mut answer = Answer::new("Rounds of boosting");
        answer.tables.push(table);
        Ok(answer)
    }

    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, _: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, &SIDES))
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.parts)?;
        let rounds = self.estimator_weights.len();
        let fits = rounds.checked_mul(self.classes.len()) == Some(self.parts.len())
            && self.estimator_errors.len() == rounds
            && self.normalisers.len() == rounds;
        if fits { Ok(()) } else { Err(invalid("weights that do not fit the members")) }
    }

    fn report(&self, _: &Names) -> Answer {
        let count = self.classes.len();
        let steps: Vec<f64> =
            (0..self.parts.len()).map(|part| self.estimator_weights[part / count]).collect();
        let mut report = member_report("AdaBoost.MH", &self.parts, "step", &steps);
        let bound = self.normalisers.iter().product::<f64>() * count as f64 / 2.0;
        report.push("bound of the training error", bound);
        report
    }

    /// F(x, y), a column a class.
    fn scores(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let count = self.classes.len();
        let mut scores = Matrix::zeros(x.nrows(), count);
        for (parts, step) in self.parts.chunks(count).zip(&self.estimator_weights) {
            let said = answers(parts, x, run)?;
            for (pair, h) in said.iter().enumerate() {
                scores[(pair % x.nrows(), pair / x.nrows())] += step * h;
            }
        }
        Ok(scores)
    }
}

impl Classifier for AdaBoostMHClassifierModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        Ok(self.scores(x, run)?.rows().map(first_maximum).collect())
    }

    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let scores = self.scores(x, run)?;
        match self.classes.len() {
            2 => Ok(Matrix::column_vector(
                scores.rows().map(|row| 0.5 * (row[1] - row[0])).collect(),
            )),
            _ => Ok(scores),
        }
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut scores = self.scores(x, run)?;
        (0..scores.nrows()).for_each(|i| softmax_in_place(scores.row_mut(i)));
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(data: &OwnedDataset, learner: &AdaBoostMHClassifier) -> (Answer, f64) {
        let model = learner.fit(&data.view()).unwrap();
        let asked = QUESTIONS[0].ask(&[], Some(data.view()), Context::default()).unwrap();
        let (codes, _) = data.view().class_target().unwrap();
        let called = model.classify(&data.x.frame()).unwrap();
        let wrong = codes.iter().zip(&called).filter(|(a, b)| a != b).count();
        (model.answer(&asked).unwrap(), wrong as f64 / codes.len() as f64)
    }

    #[test]
    fn the_training_error_of_many_classes_stays_below_half_k_times_the_product_of_z() {
        let iris = crate::datasets::load("iris").unwrap();
        let learner = AdaBoostMHClassifier { n_estimators: 30, ..Default::default() };
        let (answer, error) = traced(&iris, &learner);
        let column = |name: &str| answer.column(name).unwrap().reals().unwrap();
        let (bounds, errors) = (column("bound"), column("training error"));
        assert!(errors.iter().zip(&bounds).all(|(error, bound)| error <= bound), "{errors:?}");
        assert!((errors.last().unwrap() - error).abs() < 1e-12 && error < 0.03, "{error}");
        for ((error, step), z) in
            column("weighted error").iter().zip(&column("step")).zip(&column("Z"))
        {
            assert!((z - 2.0 * (error * (1.0 - error)).sqrt()).abs() < 1e-9);
            assert!((step - 0.5 * ((1.0 - error) / error).ln()).abs() < 1e-9);
        }
    }

    #[test]
    fn two_classes_are_boosted_as_by_adaboost() {
        let x = Matrix::from_fn(10, 1, |i, _| i as f64);
        let y = [1, 1, 1, 0, 0, 0, 1, 1, 1, 0].map(Label::Int);
        let data = OwnedDataset::classification(x, &y);
        let learner = AdaBoostMHClassifier { n_estimators: 3, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let (answer, error) = traced(&data, &learner);
        assert_eq!((error, model.estimator_errors.len()), (0.0, 3));
        for (found, expected) in model.estimator_errors.iter().zip([0.3, 3.0 / 14.0, 2.0 / 11.0]) {
            assert!((found - expected).abs() < 1e-9, "{:?}", model.estimator_errors);
        }
        let bounds = answer.column("bound").unwrap().reals().unwrap();
        for (found, expected) in bounds.iter().zip([0.916_515_1, 0.752_139_8, 0.580_192_5]) {
            assert!((found - expected).abs() < 1e-6, "{bounds:?}");
        }
    }
}
