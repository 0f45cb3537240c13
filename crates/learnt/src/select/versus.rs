//! Two learners against each other on the same rows, by three tests.
//!
//! Corrected resampled t test of the scores in repeated folds; 5x2cv F test of the scores in five
//! repetitions of two folds; for classifiers McNemar's test of which rows are predicted right by the fit that
//! did not see them. The first two see the spread over training sets, the last that over test rows. Folds
//! and seeds are the same for both learners.
//!
//! References: Nadeau and Bengio (2003); Alpaydin (1999); Dietterich (1998).

use super::cross_validate::{CrossValidation, cross_validate, usual_splitter};
use super::folds::{Split, Splitter};
use super::paired_tests::{McNemarFound, corrected_t_test, five_by_two_test, mcnemar};
use crate::learner::offered;
use crate::metrics::Metric;
use learnt_core::answer::Datum;
use learnt_core::prelude::*;
use learnt_core::trained::check_rows;

/// How two learners are compared.
#[derive(Clone, Copy, Debug)]
pub struct Contest {
    /// What is measured.
    pub metric: &'static Metric,
    /// Number of folds of the t test and of McNemar's.
    pub folds: usize,
    /// How often those folds are drawn for the t test.
    pub repeats: usize,
}

/// What the tests say about two learners.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Mean score of the first in repeated folds.
    pub first: f64,
    /// Mean score of the second.
    pub second: f64,
    /// Mean of first less second.
    pub difference: f64,
    /// Folds in which the first is better.
    pub wins: u64,
    /// Folds in which both are equal.
    pub ties: u64,
    /// Folds in which the second is better.
    pub losses: u64,
    /// Statistic of the corrected resampled t test.
    pub t: f64,
    /// Its p-value.
    pub t_pvalue: f64,
    /// Statistic of the 5x2cv F test.
    pub f: f64,
    /// Its p-value.
    pub f_pvalue: f64,
    /// Rows that only the first predicts right, of classifiers.
    pub only_first: Option<u64>,
    /// Rows that only the second predicts right.
    pub only_second: Option<u64>,
    /// p-value of McNemar's exact test.
    pub mcnemar_pvalue: Option<f64>,
}

impl Contest {
    /// Compares two learners.
    pub fn run(
        &self,
        first: &dyn AnyEstimator,
        second: &dyn AnyEstimator,
        data: &Dataset,
        run: &Context,
    ) -> Result<Verdict> {
        let inner = usual_splitter(data, self.folds);
        let once: Vec<Split> = inner.splits(data, &run.child(0))?.collect();
        let repeated = Splitter::Repeated { n_repeats: self.repeats, inner: Box::new(inner) };
        let splits: Vec<Split> = repeated.splits(data, run)?.collect();
        let (a, b) =
            (self.scores(first, data, &splits, run)?, self.scores(second, data, &splits, run)?);
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let rows = |f: fn(&Split) -> usize| splits.iter().map(f).sum::<usize>() as f64;
        let ratio = rows(|split| split.test.len()) / rows(|split| split.train.len());
        let few = || Error::new(Code::TooFew, "at least two folds are needed");
        let (t, t_pvalue) = corrected_t_test(&differences, ratio).ok_or_else(few)?;

        let halves = Splitter::Repeated { n_repeats: 5, inner: Box::new(usual_splitter(data, 2)) };
        let halves: Vec<Split> = halves.splits(data, &run.child(1))?.collect();
        let (c, d) =
            (self.scores(first, data, &halves, run)?, self.scores(second, data, &halves, run)?);
        let ten: Vec<f64> = c.iter().zip(&d).map(|(c, d)| c - d).collect();
        let (f, f_pvalue) = five_by_two_test(&ten).ok_or_else(few)?;

        let tested = match data.y {
            Some(Target::Class { .. }) => Some(by_rows(first, second, data, &once, run)?),
            _ => None,
        };
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let count = |f: &dyn Fn(f64, f64) -> bool| {
            a.iter().zip(&b).filter(|(a, b)| f(**a, **b)).count() as u64
        };
        Ok(Verdict {
            first: mean(&a),
            second: mean(&b),
            difference: mean(&differences),
            wins: count(&|a, b| self.metric.better(a, b)),
            ties: count(&|a, b| a == b),
            losses: count(&|a, b| self.metric.better(b, a)),
            t,
            t_pvalue,
            f,
            f_pvalue,
            only_first: tested.as_ref().map(|tested| tested.only_first),
            only_second: tested.as_ref().map(|tested| tested.only_second),
            mcnemar_pvalue: tested.map(|tested| tested.pvalue),
        })
    }

    /// The score in every split, or why one is missing.
    fn scores(
        &self,
        learner: &dyn AnyEstimator,
        data: &Dataset,
        splits: &[Split],
        run: &Context,
    ) -> Result<Vec<f64>> {
        let found: CrossValidation = cross_validate(learner, data, splits, &[self.metric], run)?;
        let name = learner.about().command();
        match (found.failed(), found.unscored(0), found.complete(0)) {
            (Some((folds, error)), ..) | (None, Some((folds, error)), _) => Err(error
                .clone()
                .within(&format!("{name} has no score in {folds} of {} folds", splits.len()))),
            (_, _, Some(scores)) => Ok(scores),
            _ => Err(Error::internal("a cross-validation without a score")),
        }
    }
}

/// McNemar's test of the rows that fits predict right which did not see them.
fn by_rows(
    first: &dyn AnyEstimator,
    second: &dyn AnyEstimator,
    data: &Dataset,
    splits: &[Split],
    run: &Context,
) -> Result<McNemarFound> {
    let counts = run.try_par_map(splits.len(), |k| {
        let run = run.child(k as u64).with_threads(1);
        let (train, test) = (data.gather(&splits[k].train), data.gather(&splits[k].test));
        let right = |learner: &dyn AnyEstimator| right_rows(learner, &train, &test, &run);
        let (a, b) = (right(first)?, right(second)?);
        let only = |x: &[bool], y: &[bool]| x.iter().zip(y).filter(|(x, y)| **x && !**y).count();
        Ok((only(&a, &b) as u64, only(&b, &a) as u64))
    })?;
    let sum = |f: fn(&(u64, u64)) -> u64| counts.iter().map(f).sum::<u64>();
    Ok(mcnemar(sum(|count| count.0), sum(|count| count.1), true))
}

fn right_rows(
    learner: &dyn AnyEstimator,
    train: &OwnedDataset,
    test: &OwnedDataset,
    run: &Context,
) -> Result<Vec<bool>> {
    let (train, test) = (train.view(), test.view());
    let model = learner.fit_any(&offered(&train, train.x, learner.any_accepts()), run)?;
    check_rows(learner.about(), model.as_ref(), &test.x, run)?;
    let classifier = model.as_classifier().ok_or_else(|| {
        Error::unsupported(format!("{} predicts no classes", learner.about().name()))
    })?;
    let codes = classifier.classify_in(&test.x, run)?;
    Ok(codes.iter().zip(test.class_target()?.0).map(|(a, b)| a == b).collect())
}

impl Verdict {
    /// The tests in a table.
    pub fn report(&self, names: [&str; 2], contest: &Contest) -> Answer {
        let [one, two] = names;
        let metric = contest.metric.name;
        let mut answer = Answer::new(format!("{one} versus {two} by {metric}"));
        answer.push("first", self.first);
        answer.push("second", self.second);
        answer.push("difference", self.difference);
        answer.push("wins", self.wins);
        answer.push("ties", self.ties);
        answer.push("losses", self.losses);
        answer.push("t_pvalue", Datum::P(self.t_pvalue));
        answer.push("f_pvalue", Datum::P(self.f_pvalue));
        answer.push_some("mcnemar_pvalue", self.mcnemar_pvalue.map(Datum::P));
        let mut tests = vec!["corrected resampled t", "5x2cv F"];
        let mut statistics = vec![self.t, self.f];
        let mut values = vec![self.t_pvalue, self.f_pvalue];
        if let (Some(p), Some(a), Some(b)) =
            (self.mcnemar_pvalue, self.only_first, self.only_second)
        {
            tests.push("McNemar, exact");
            statistics.push(a.min(b) as f64);
            values.push(p);
            answer.notes.push(format!(
                "McNemar: {a} rows only {one} predicts right, {b} only {two}, each by the fit that did not see it"
            ));
        }
        let tests = tests.into_iter().map(ToString::to_string).collect();
        answer.tables.push(
            Columns::titled("")
                .texts("test", tests)
                .reals("statistic", statistics)
                .p_values("p_value", values),
        );
        let folds = contest.folds * contest.repeats;
        answer.notes.push(format!("first: {one}; second: {two}; means over {folds} folds"));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::DummyClassifier;
    use crate::metrics::find;
    use crate::neighbors::KNeighborsClassifier;

    fn contest() -> Contest {
        Contest { metric: find("accuracy").unwrap(), folds: 5, repeats: 2 }
    }

    #[test]
    fn a_learner_is_no_better_than_itself() {
        let data = crate::datasets::load("iris").unwrap();
        let knn = KNeighborsClassifier::default();
        let found = contest().run(&knn, &knn, &data.view(), &Context::default()).unwrap();
        assert_eq!((found.difference, found.ties), (0.0, 10));
        assert_eq!((found.t_pvalue, found.f_pvalue, found.mcnemar_pvalue), (1.0, 1.0, Some(1.0)));
    }

    #[test]
    fn neighbours_beat_chance_by_every_test_on_any_number_of_threads() {
        let data = crate::datasets::load("iris").unwrap();
        let (knn, chance) = (KNeighborsClassifier::default(), DummyClassifier::default());
        let run = |threads: usize| {
            let run = Context::default().with_threads(threads);
            contest().run(&knn, &chance, &data.view(), &run).unwrap()
        };
        let found = run(1);
        assert_eq!(found, run(4));
        assert!(found.t_pvalue < 1e-6 && found.f_pvalue < 1e-3, "{found:?}");
        assert!(found.mcnemar_pvalue.unwrap() < 1e-12 && found.wins == 10, "{found:?}");
        let report = found.report(["knn", "chance"], &contest());
        assert_eq!(report.tables[0].len(), 3);
    }
}
