//! Linear classification by stochastic gradient descent.
//!
//! Minimises  (1/n) Σ w_i L(y_i, w·x_i + b) + α R(w)  with y = ±1, R half the squares, the absolute
//! values, or a mixture; b is free. Steps from one row (or `batch_size` rows) at a time, in a new
//! random order each pass. More than two classes are one line a class against the others; the loss
//! `multinomial` trains them together. Stops after `n_iter_no_change` passes whose mean loss is not
//! below the best by `tol`. Score 0 is the second class; equal scores go to the first.
//! A row's weight multiplies its step.
//!
//! Bottou (2012), Stochastic Gradient Descent Tricks; Shalev-Shwartz et al. (2011), Mathematical
//! Programming 127, 3–30; Crammer et al. (2006), JMLR 7, 551–585, for `pa1` and `pa2`.

use super::classes::{self, ClassRows};
use super::effort;
use super::line::{Line, Task};
use super::loss::{ClassLoss, Loss};
use super::options::{LearningRate, Passes, Steps};
use super::softmax;
use crate::linear::ClassWeight;
use learnt_core::estimator::Offers;
use learnt_core::linalg::vector_math;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Linear classifier trained by stochastic gradient descent (SGD), also on more rows later.
///
/// Scale the columns first. `batch_size`, `momentum` and the loss `multinomial` are additions to
/// scikit-learn's parameters; `warm_start` is not needed, because training goes on with updates.
///
/// ```
/// use learnt::{linear::SGDClassifier, prelude::*};
/// let x = Matrix::from_rows(&[[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])?;
/// let data = OwnedDataset::classification(x, &[1, 1, 2, 2].map(Label::Int));
/// let model = SGDClassifier::default().fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct SGDClassifier {
    /// The loss function.
    #[param(positional, default = ClassLoss::Hinge)]
    pub loss: ClassLoss,
    /// What a step is made of.
    #[param(flatten)]
    pub steps: Steps,
    /// How many passes there are.
    #[param(flatten)]
    pub passes: Passes,
    /// The learning rate schedule: how long steps are.
    #[param(default = LearningRate::Optimal)]
    pub learning_rate: LearningRate,
    /// Exponent of the learning rate `invscaling`.
    #[param(default = 0.5, range = 0.0..)]
    pub power_t: f64,
    /// Weights of the classes, which multiply the row weights.
    #[param(default = ClassWeight::Equal)]
    pub class_weight: ClassWeight,
}

/// A fitted [`SGDClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate, report = table, converged = converged, looks)]
pub struct SGDClassifierModel {
    /// Weights: one row for two classes, else one a class (n_classes × n_features).
    #[shape(lines, columns)]
    #[finite]
    pub coef: Matrix,
    /// Intercepts, one for each row of the weights; 0 without intercept.
    #[shape(lines)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Passes made, the most of any class.
    pub n_iter: usize,
    /// Steps made plus one.
    pub t: u64,
    loss: ClassLoss,
    converged: bool,
    #[shape(steps, columns)]
    lines: Vec<Line>,
}

impl Estimator for SGDClassifier {
    type Model = SGDClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("linear_model.SGDClassifier")
        .alias(&["sgd"])
        .weights()
        .decision_scores()
        .without_probabilities()
        .some_probabilities()
        .randomness()
        .threads()
        .iterations()
        .online()
        .scaling()
        .complexity(20)
        .cost("n p K time a pass, p K memory")
        .reference("Bottou (2012), Stochastic Gradient Descent Tricks, LNCS 7700, 421–436")
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
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<SGDClassifierModel> {
        self.descend(None, data, run)
    }

    fn update(
        &self,
        model: Option<&SGDClassifierModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<SGDClassifierModel> {
        classes::check_online(self.class_weight)?;
        self.descend(Some(model), data, run)
    }

    fn offers(&self) -> Offers {
        Offers { probabilities: has_probabilities(self.loss), ..Self::ABOUT.offers }
    }
}

fn has_probabilities(loss: ClassLoss) -> bool {
    matches!(loss, ClassLoss::LogLoss | ClassLoss::ModifiedHuber | ClassLoss::Multinomial)
}

impl SGDClassifier {
    fn constraints(&self) -> Result<()> {
        self.learning_rate.check(self.steps.alpha, self.steps.eta0)?;
        if self.learning_rate.is_passive_aggressive() && self.loss != ClassLoss::Hinge {
            return Err(Error::parameter("loss", "'hinge' with pa1 and pa2", self.loss));
        }
        if self.passes.early_stopping && self.loss == ClassLoss::Multinomial {
            return Err(Error::parameter("early_stopping", "false with multinomial", "true"));
        }
        Ok(())
    }

    /// All passes without `online`; with it one, from the lines of a model if there is one.
    fn descend(
        &self,
        online: Option<Option<&SGDClassifierModel>>,
        data: &Dataset,
        run: &Context,
    ) -> Result<SGDClassifierModel> {
        let loss = Loss::of_classes(self.loss, self.steps.epsilon);
        let plan = self.steps.plan(loss, self.learning_rate, self.power_t);
        let effort = self.passes.effort(true);
        let copy = classes::row_copy(data.x.values(), run)?;
        let x = copy.as_ref().map_or(data.x.values(), Matrix::view);
        let rows = ClassRows::new(x, data, self.class_weight)?;
        let together = self.loss == ClassLoss::Multinomial;
        let wanted = if together { rows.classes.len() } else { rows.lines() };
        let before = match online.flatten() {
            Some(model) => {
                classes::check_lines(&model.lines, wanted, x.ncols())?;
                Some(&model.lines)
            }
            None => None,
        };
        let fresh = || Line::new(x.ncols(), &plan);
        let ended = if together {
            let codes: Vec<f64> = rows.codes.iter().map(|&code| f64::from(code)).collect();
            let weights = rows.row_weights();
            let task = Task { x, targets: &codes, weights: weights.as_deref() };
            let blank = online.map(|_| vec![fresh(); wanted]);
            let before = before.or(blank.as_ref()).map(Vec::as_slice);
            softmax::descend_all(&plan, &effort, &task, wanted, before, run)?.into()
        } else {
            rows.each_line(run, |k, task, run| match online {
                None => effort::descend(&plan, &effort, task, run),
                Some(_) => {
                    let line = before.map_or_else(fresh, |lines| lines[k].clone());
                    effort::one_more_pass(&plan, &effort, line, task, run)
                }
            })?
        };
        let converged = ended.iter().all(|end| end.converged);
        let n_iter = ended.iter().map(|end| end.n_iter).max().unwrap_or(0);
        if !converged {
            let message = format!(
                "stochastic descent did not converge in {n_iter} passes; raise max_iter or scale the columns"
            );
            run.warn(Code::NotConverged, message);
        }
        let lines: Vec<Line> = ended.into_iter().map(|end| end.line).collect();
        let (mut coef, mut intercept) = classes::gathered(&lines, &plan, x.ncols());
        if together {
            (coef, intercept) = softmax::difference(&coef, &intercept);
        }
        let t = 1 + lines.iter().map(|line| line.steps).max().unwrap_or(0);
        let loss = self.loss;
        Ok(SGDClassifierModel { coef, intercept, n_iter, t, loss, converged, lines })
    }
}

impl Classifier for SGDClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        classes::decision_scores(x, &self.coef, &self.intercept, run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        if !has_probabilities(self.loss) {
            let message = format!("the loss '{}' gives no probabilities", self.loss);
            return Err(Error::unsupported(message)
                .hint("choose loss='log_loss', 'modified_huber' or 'multinomial'"));
        }
        let scores = self.decision_scores_in(x, run)?;
        let mut out = Matrix::zeros(x.nrows(), classes::count_of(self.coef.nrows()));
        vectorized!(for (i, scores) in scores.rows().enumerate() {
            fill_probabilities(self.loss, scores, out.row_mut(i));
        });
        Ok(out)
    }
}

/// Shares of the classes from their scores.
#[inline(always)]
fn fill_probabilities(loss: ClassLoss, scores: &[f64], out: &mut [f64]) {
    let single = |score: f64| match loss {
        ClassLoss::ModifiedHuber => 0.5 * (score.clamp(-1.0, 1.0) + 1.0),
        _ => (1.0 + vector_math::exp(-score)).recip(),
    };
    if let ([score], [first, second]) = (scores, &mut *out) {
        // The smaller one is computed, so that the two sum to one.
        let smaller = single(-score.abs());
        (*first, *second) =
            if *score >= 0.0 { (smaller, 1.0 - smaller) } else { (1.0 - smaller, smaller) };
        return;
    }
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (out, &score) in out.iter_mut().zip(scores) {
        *out = match loss {
            ClassLoss::Multinomial => vector_math::exp(score - largest),
            _ => single(score),
        };
    }
    let total: f64 = out.iter().sum();
    match total > 0.0 && total.is_finite() {
        true => out.iter_mut().for_each(|share| *share /= total),
        false => {
            let best = learnt_core::estimator::first_maximum(scores) as usize;
            out.iter_mut()
                .enumerate()
                .for_each(|(k, share)| *share = f64::from(u8::from(k == best)));
        }
    }
}

impl SGDClassifierModel {
    fn validate(&self) -> Result<()> {
        let wanted = match self.loss {
            ClassLoss::Multinomial => classes::count_of(self.coef.nrows()),
            _ => self.coef.nrows(),
        };
        match self.lines.len() == wanted {
            true => Ok(()),
            false => Err(invalid("weights do not fit the classes")),
        }
    }

    fn table(&self, names: &Names) -> Answer {
        let title = format!("SGD classifier, loss {}, {} passes", self.loss, self.n_iter);
        classes::weight_table(&title, &self.coef, &self.intercept, names)
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Average;
    use super::*;

    /// Three classes at the corners of a triangle.
    fn corners() -> OwnedDataset {
        let x = Matrix::from_fn(90, 2, |i, j| {
            let angle = (i % 3) as f64 * 2.1;
            let centre = if j == 0 { angle.cos() } else { angle.sin() };
            2.0 * centre + 0.4 * ((i * 37 + j * 11) as f64).sin()
        });
        let labels: Vec<Label> = (0..90).map(|i| ["a", "b", "c"][i % 3].into()).collect();
        OwnedDataset::classification(x, &labels)
    }

    fn right(learner: &SGDClassifier, data: &OwnedDataset) -> usize {
        let model = learner.fit(&data.view()).unwrap();
        let codes = data.view().class_target().unwrap().0;
        let predicted = model.classify(&data.x.frame()).unwrap();
        predicted.iter().zip(codes).filter(|(a, b)| a == b).count()
    }

    #[test]
    fn every_loss_and_option_learns_three_corners() {
        use ClassLoss::{Hinge, LogLoss, ModifiedHuber, Multinomial, Perceptron, SquaredHinge};
        for loss in [Hinge, LogLoss, ModifiedHuber, Multinomial, Perceptron, SquaredHinge] {
            // The first steps of the rate `optimal` are too long for slopes that grow.
            let learning_rate = match loss {
                SquaredHinge => LearningRate::Invscaling,
                _ => LearningRate::Optimal,
            };
            let plain = SGDClassifier {
                loss,
                learning_rate,
                steps: Steps { eta0: 0.05, ..Steps::default() },
                ..Default::default()
            };
            let mut ways = vec![
                SGDClassifier {
                    steps: Steps { average: Average::Always(true), ..plain.steps },
                    ..plain.clone()
                },
                SGDClassifier { class_weight: ClassWeight::Balanced, ..plain.clone() },
                SGDClassifier {
                    learning_rate: LearningRate::Invscaling,
                    steps: Steps { batch_size: 8, momentum: 0.5, eta0: 0.1, ..plain.steps },
                    ..plain.clone()
                },
            ];
            if loss != Multinomial {
                ways.push(SGDClassifier {
                    passes: Passes { early_stopping: true, ..plain.passes },
                    ..plain.clone()
                });
            }
            ways.push(plain);
            for learner in ways {
                assert!(right(&learner, &corners()) >= 87, "{learner:?}");
            }
        }
    }

    #[test]
    fn probabilities_of_two_and_three_classes_sum_to_one() {
        let three = corners();
        let two = three.view().gather(&(0..90).filter(|i| i % 3 < 2).collect::<Vec<_>>());
        let labels: Vec<Label> = (0..60).map(|i| Label::Int(i % 2)).collect();
        let two = OwnedDataset { y: Some(OwnedTarget::from_labels(&labels)), ..two };
        for loss in [ClassLoss::LogLoss, ClassLoss::ModifiedHuber, ClassLoss::Multinomial] {
            for data in [&two, &three] {
                let model = SGDClassifier { loss, ..Default::default() }.fit(&data.view()).unwrap();
                for row in model.probabilities(&data.x.frame()).unwrap().rows() {
                    assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{loss}: {row:?}");
                    assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
                }
            }
        }
        let hinge = SGDClassifier::default().fit(&two.view()).unwrap();
        let error = hinge.probabilities(&two.x.frame()).unwrap_err();
        assert!(error.hint_text().unwrap().contains("log_loss"));
    }

    #[test]
    fn steps_that_are_too_long_are_an_error_that_names_a_length() {
        let learner = SGDClassifier { loss: ClassLoss::SquaredHinge, ..Default::default() };
        let error = learner.fit(&corners().view()).unwrap_err();
        assert_eq!(error.code(), Code::Numeric);
        let eta0 = error.hint_text().unwrap().rsplit('=').next().unwrap().parse().unwrap();
        let learner = SGDClassifier {
            learning_rate: LearningRate::Invscaling,
            steps: Steps { eta0, ..learner.steps },
            ..learner
        };
        assert!(right(&learner, &corners()) >= 87);
    }

    #[test]
    fn updates_refuse_what_needs_all_rows() {
        let learner = SGDClassifier { class_weight: ClassWeight::Balanced, ..Default::default() };
        let error = learner.update_in(None, &corners().view(), &Context::default()).unwrap_err();
        assert_eq!(error.code(), Code::Parameter);
        let one = SGDClassifier::default();
        let data =
            OwnedDataset::classification(Matrix::zeros(3, 1), &["a", "a", "a"].map(Label::from));
        assert_eq!(one.fit(&data.view()).unwrap_err().code(), Code::OneClass);
    }
}
