//! One against one: a two-class learner made to choose among many classes by votes.
//!
//! For each pair of classes the learner is fitted on their rows alone; every model votes for one of
//! its classes. Most votes win; equal votes go to the class of the larger sum of scores (margins, or
//! probabilities less ½, taken from the class's side), then to the first. Two classes are one
//! problem, the learner's own.
//!
//! Friedman (1996), "Another approach to polychotomous classification".

use super::two_class::{accepts, add_tables, class_rows, two_class_scores};
use crate::learner::{Fitted, Learner};
use crate::linear::LogisticRegression;
use learnt_core::error::plain;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// One-vs-one multiclass classification: a two-class classifier for each pair of classes, which vote.
///
/// The decision scores are votes, with the sum of scores squeezed into a third of a vote.
///
/// ```
/// use learnt::{compose::OneVsOneClassifier, linear::LogisticRegression, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 5.0, 6.0, 9.0, 10.0]);
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b", "c", "c"].map(Label::from));
/// let estimator = LogisticRegression { c: 10.0, ..Default::default() }.into();
/// let model = OneVsOneClassifier { estimator }.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct OneVsOneClassifier {
    /// The two-class classifier; by default logistic regression.
    #[param(positional, learner = classifier, default = LogisticRegression)]
    pub estimator: Learner,
}

/// A fitted [`OneVsOneClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = table, converged = converged)]
#[model(accepts = accepts, parts = parts)]
pub struct OneVsOneClassifierModel {
    /// Number of classes.
    pub n_classes: usize,
    classes: Vec<String>,
    pairs: Vec<Pair>,
    converged: bool,
}

/// The model of two classes.
#[derive(Stored, Debug)]
struct Pair {
    first: usize,
    second: usize,
    part: Fitted,
}

impl Estimator for OneVsOneClassifier {
    type Model = OneVsOneClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("multiclass.OneVsOneClassifier")
        .without_probabilities()
        .alias(&["one-vs-one", "ovo"])
        .weights()
        .only_by_name()
        .decision_scores()
        .threads()
        .iterations()
        .complexity(30)
        .cost("a fit for each pair of classes, on their rows")
        .reference("Friedman (1996), Another approach to polychotomous classification")
        .exempt(&[("weights_scale", "the default learner has an absolute penalty")]);

    fn accepts(&self) -> Accepts {
        accepts(&self.estimator)
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<OneVsOneClassifierModel> {
        let rows = class_rows(data)?;
        let learner = &*self.estimator;
        let pairs = match rows.len() {
            2 => {
                let part = Fitted::fit(learner, &pair_name(data, 0, 1)?, data, run)?;
                vec![Pair { first: 0, second: 1, part }]
            }
            _ => {
                let present: Vec<usize> = (0..rows.len()).filter(|&k| rows[k] > 0).collect();
                claim(data, &rows, run)?;
                let pairs = pairs_of(&present);
                run.try_par_fits(pairs.len(), |p, run| {
                    let (first, second) = pairs[p];
                    let part = fit_pair(learner, data, pairs[p], run)?;
                    Ok(Pair { first, second, part })
                })?
            }
        };
        let converged = pairs.iter().all(|pair| pair.part.model.converged());
        let classes = data.class_target()?.1.iter().map(ToString::to_string).collect();
        Ok(OneVsOneClassifierModel { n_classes: rows.len(), classes, pairs, converged })
    }
}

fn pairs_of(classes: &[usize]) -> Vec<(usize, usize)> {
    let after = |i: usize| classes[i + 1..].iter().map(move |&second| (classes[i], second));
    (0..classes.len()).flat_map(after).collect()
}

/// Every thread copies the rows of two classes.
fn claim(data: &Dataset, rows: &[usize], run: &Context) -> Result<()> {
    let most = rows.iter().copied().max().unwrap_or(0) as u64;
    let bytes = 16 * most * data.x.ncols() as u64 * run.threads() as u64;
    run.claim(bytes, "copies of the rows of two classes")
}

fn pair_name(data: &Dataset, first: usize, second: usize) -> Result<String> {
    let (_, classes) = data.class_target()?;
    let class = |k: usize| plain(&classes[k].to_string());
    Ok(format!("class {} against {}", class(second), class(first)))
}

fn fit_pair(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    (first, second): (usize, usize),
    run: &Context,
) -> Result<Fitted> {
    let (codes, classes) = data.class_target()?;
    let belongs = |&i: &usize| [first, second].contains(&(codes[i] as usize));
    let kept: Vec<usize> = (0..codes.len()).filter(belongs).collect();
    let mut part = data.gather(&kept);
    part.y = Some(OwnedTarget::Class {
        codes: kept.iter().map(|&i| u32::from(codes[i] as usize == second)).collect(),
        classes: vec![classes[first].clone(), classes[second].clone()],
    });
    Fitted::fit(learner, &pair_name(data, first, second)?, &part.view(), run)
}

/// Votes and summed scores of each class (n_rows × n_classes each).
struct Tally {
    votes: Matrix,
    sums: Matrix,
}

impl OneVsOneClassifierModel {
    /// The models with the classes they tell apart.
    pub fn models(&self) -> impl Iterator<Item = (usize, usize, &dyn Model)> {
        self.pairs.iter().map(|pair| (pair.first, pair.second, pair.part.model.as_ref()))
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let two = |pair: &Pair| -> Vec<Label> {
            [pair.first, pair.second].iter().filter_map(|&k| classes.get(k).cloned()).collect()
        };
        Ok(self.pairs.iter().map(|pair| pair.part.part(schema.clone(), &two(pair))).collect())
    }

    /// The model of the only problem, if there are two classes.
    fn only(&self) -> Option<&Fitted> {
        self.pairs.first().map(|pair| &pair.part).filter(|_| self.n_classes == 2)
    }

    fn tally(&self, x: &Frame, run: &Context) -> Result<Tally> {
        let mut votes = Matrix::zeros(x.nrows(), self.n_classes);
        let mut sums = Matrix::zeros(x.nrows(), self.n_classes);
        for pair in &self.pairs {
            let scores = two_class_scores(&pair.part, x, run)?;
            let codes = pair.part.classifier()?.classify_in(x, run)?;
            for (i, (score, code)) in scores.into_iter().zip(codes).enumerate() {
                votes[(i, if code == 0 { pair.first } else { pair.second })] += 1.0;
                sums[(i, pair.first)] -= score;
                sums[(i, pair.second)] += score;
            }
        }
        Ok(Tally { votes, sums })
    }

    fn accepts(&self) -> Accepts {
        self.pairs.first().map(|pair| pair.part.accepts()).unwrap_or_default()
    }

    fn validate(&self) -> Result<()> {
        let sane = |pair: &Pair| {
            pair.first < pair.second
                && pair.second < self.n_classes
                && pair.part.model.as_classifier().is_some()
        };
        let fits = self.n_classes > 1
            && self.n_classes == self.classes.len()
            && !self.pairs.is_empty()
            && self.pairs.iter().all(sane);
        if fits { Ok(()) } else { Err(invalid("models do not fit the classes")) }
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("One against one");
        let both = |pair: &Pair| vec![names.class(pair.first), names.class(pair.second)];
        let parts = self.pairs.iter().map(|pair| (&pair.part, names.with_classes(both(pair))));
        add_tables(&mut report, parts);
        report
    }
}

impl Classifier for OneVsOneClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        if let Some(part) = self.only() {
            return Ok(Matrix::column_vector(two_class_scores(part, x, run)?));
        }
        let Tally { votes, sums } = self.tally(x, run)?;
        let squeezed = |sum: f64| match sum.is_finite() {
            true => sum / (3.0 * (sum.abs() + 1.0)),
            false => sum.signum() / 3.0,
        };
        let margin = |i, k| votes[(i, k)] + squeezed(sums[(i, k)]);
        Ok(Matrix::from_fn(x.nrows(), self.n_classes, margin))
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        if let Some(part) = self.only() {
            return part.classifier()?.classify_in(x, run);
        }
        let tally = self.tally(x, run)?;
        Ok((0..x.nrows()).map(|i| winner(tally.votes.row(i), tally.sums.row(i))).collect())
    }
}

/// Most votes, then the largest sum, then the first.
fn winner(votes: &[f64], sums: &[f64]) -> u32 {
    let mut best = 0;
    for k in 1..votes.len() {
        let more = votes[k] > votes[best] || (votes[k] == votes[best] && sums[k] > sums[best]);
        best = if more { k } else { best };
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bayes::GaussianNB;

    fn sample(n: usize, classes: usize) -> OwnedDataset {
        let noise = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 23.0;
        let x = Matrix::from_fn(n, 2, |i, j| {
            let angle = (i % classes) as f64 * std::f64::consts::TAU / classes as f64;
            3.0 * if j == 0 { angle.cos() } else { angle.sin() } + 2.0 * noise(i, j)
        });
        let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % classes) as i64)).collect();
        OwnedDataset::classification(x, &labels)
    }

    #[test]
    fn two_classes_are_the_two_class_learner() {
        let data = sample(60, 2);
        let (frame, run) = (data.x.frame(), Context::default());
        let alone = LogisticRegression::default().fit(&data.view()).unwrap();
        let model = OneVsOneClassifier::default().fit(&data.view()).unwrap();
        assert_eq!(
            model.decision_scores_in(&frame, &run).unwrap(),
            alone.decision_scores_in(&frame, &run).unwrap()
        );
        assert_eq!(model.classify(&frame).unwrap(), alone.classify(&frame).unwrap());
    }

    #[test]
    fn ties_of_votes_go_to_the_larger_sum_and_then_to_the_first() {
        assert_eq!(winner(&[1.0, 1.0, 1.0], &[0.1, 0.3, 0.2]), 1);
        assert_eq!(winner(&[1.0, 1.0, 1.0], &[0.3, 0.1, 0.3]), 0);
        assert_eq!(winner(&[0.0, 2.0, 1.0], &[9.0, 0.0, 9.0]), 1);
    }

    #[test]
    fn the_largest_margin_is_the_winner_for_margins_and_for_probabilities() {
        let data = sample(200, 4);
        let run = Context::default();
        let logistic = Learner::from(LogisticRegression::default());
        for estimator in [logistic, Learner::from(GaussianNB::default())] {
            let model = OneVsOneClassifier { estimator }.fit(&data.view()).unwrap();
            assert_eq!(model.models().count(), 6);
            let margins = model.decision_scores_in(&data.x.frame(), &run).unwrap();
            let codes = model.classify(&data.x.frame()).unwrap();
            for (row, &code) in margins.rows().zip(&codes) {
                assert_eq!(learnt_core::estimator::first_maximum(row), code);
            }
            let right = codes.iter().enumerate().filter(|(i, k)| i % 4 == **k as usize).count();
            assert!(right > 180, "{right}");
        }
    }

    #[test]
    fn a_class_without_rows_has_no_models() {
        let data = sample(90, 4);
        let rows: Vec<usize> = (0..90).filter(|i| i % 4 != 1).collect();
        let part = data.view().gather(&rows);
        let model = OneVsOneClassifier::default().fit(&part.view()).unwrap();
        assert_eq!(model.models().count(), 3);
        assert!(model.classify(&data.x.frame()).unwrap().iter().all(|&code| code != 1));
    }
}
