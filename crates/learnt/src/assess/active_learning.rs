//! Active learning: the learner chooses the next row that an oracle labels.
//!
//! From a pool whose labels are hidden, `initial` rows are drawn (one of each class at least); then, query
//! by query, the learner is fitted to the labelled rows and asks for the row
//! - uncertainty: with the smallest largest probability;
//! - margin: with the smallest difference of the two largest probabilities;
//! - random: any.
//!
//! Ties go to the first row. The error is that over the whole pool. A threshold on a line is found with
//! about log2(1/ε) queries by margin, and with about 1/ε by chance.
//!
//! Reference: Settles (2009), Active learning literature survey.

use super::Examples;
use super::examples::fitted;
use crate::Learner;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::trained::check_rows;

/// Error of a classifier that chooses the rows it is told the labels of.
#[derive(Params, Clone, Debug)]
pub struct ActiveLearning {
    /// The classifier.
    #[param(positional, required, learner = classifier)]
    pub estimator: Learner,
    /// How the next row is chosen.
    pub strategy: QueryStrategy,
    /// Rows whose labels are known at the start.
    #[param(default = 2, range = 1..)]
    pub initial: usize,
    /// Number of queries.
    #[param(default = 20, range = 1..)]
    pub queries: usize,
}

/// How the next row is chosen.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryStrategy {
    /// The smallest largest probability.
    #[default]
    Uncertainty,
    /// The smallest difference of the two largest probabilities.
    Margin,
    /// Any row.
    Random,
}

/// The error as labels come in.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct QueryCurve {
    /// Number of labelled rows.
    pub labeled: Vec<u64>,
    /// Share of wrong classes over the pool.
    pub error: Vec<f64>,
    /// The rows whose labels were asked for, from 0, in order.
    pub asked: Vec<u64>,
}

impl Function for ActiveLearning {
    type Inputs<'a> = Examples<'a>;
    type Output = QueryCurve;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.active_learning", FunctionKind::Analysis)
            .randomness()
            .reference("Settles (2009)");

    fn call(&self, given: Examples, run: &Context) -> Result<QueryCurve> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let (codes, _) = data.class_target()?;
        let mut labeled = self.first_rows(codes, run);
        let mut curve = QueryCurve { labeled: Vec::new(), error: Vec::new(), asked: Vec::new() };
        let mut monitor = run.monitor("queries", self.queries + 1);
        while monitor.advance()? {
            let model = fitted(&self.estimator, &data, &labeled, run)?;
            check_rows(self.estimator.about(), model.as_ref(), &data.x, run)?;
            let classifier = model
                .as_classifier()
                .ok_or_else(|| Error::unsupported("active learning needs a classifier"))?;
            let said = classifier.classify_in(&data.x, run)?;
            let wrong = said.iter().zip(codes).filter(|(said, code)| said != code).count();
            curve.labeled.push(labeled.len() as u64);
            curve.error.push(wrong as f64 / codes.len() as f64);
            if labeled.len() == codes.len() || curve.asked.len() == self.queries {
                break;
            }
            let next = self.choose(classifier, &data.x, &labeled, run)?;
            labeled.push(next);
            curve.asked.push(next as u64);
        }
        Ok(curve)
    }

    fn chart(&self, found: &QueryCurve) -> Option<Chart> {
        let x = found.labeled.iter().map(|&n| n as f64).collect();
        let panel = Panel::new("labelled rows", "error over the pool").mark(Mark::line(
            "error",
            x,
            found.error.clone(),
        ));
        let about = "Share of wrong classes over the pool against the number of labelled rows.";
        Some(Chart::new("Active learning", about).panel(panel))
    }
}

impl ActiveLearning {
    /// Rows in random order: so many, and on until each class has one.
    fn first_rows(&self, codes: &[u32], run: &Context) -> Vec<usize> {
        let mut order: Vec<usize> = (0..codes.len()).collect();
        sample::shuffle(&mut run.rng(0), &mut order);
        let new_class = |k: usize| !order[..k].iter().any(|&i| codes[i] == codes[order[k]]);
        let kept = (0..order.len()).filter(|&k| k < self.initial || new_class(k));
        kept.map(|k| order[k]).collect()
    }

    /// The row to ask for.
    fn choose(
        &self,
        classifier: &dyn Classifier,
        x: &Frame,
        labeled: &[usize],
        run: &Context,
    ) -> Result<usize> {
        let open: Vec<usize> = (0..x.nrows()).filter(|i| !labeled.contains(i)).collect();
        if self.strategy == QueryStrategy::Random {
            let draw = sample::uniform(&mut run.row_rng(1, labeled.len() as u64));
            return Ok(open[((draw * open.len() as f64) as usize).min(open.len() - 1)]);
        }
        let probabilities = classifier.probabilities_in(x, run)?;
        let sureness = |i: usize| {
            let (mut first, mut second) = (0.0_f64, 0.0_f64);
            for &p in probabilities.row(i) {
                (first, second) = if p > first { (p, first) } else { (first, second.max(p)) };
            }
            if self.strategy == QueryStrategy::Margin { first - second } else { first }
        };
        let mut best = (f64::INFINITY, open[0]);
        for &i in &open {
            let sure = sureness(i);
            if sure < best.0 {
                best = (sure, i);
            }
        }
        Ok(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LogisticRegression;

    #[test]
    fn a_threshold_takes_few_queries_by_margin_and_many_by_chance() {
        let n = 1024;
        let x = Table::unnamed(Matrix::from_fn(n, 1, |i, _| i as f64 / n as f64));
        let codes: Vec<u32> = (0..n).map(|i| u32::from(i > 300)).collect();
        let classes = [Label::Int(0), Label::Int(1)];
        let y = Classes { codes: &codes, classes: &classes };
        let given = Examples { x: x.frame(), y, sample_weight: None };
        let error = |strategy| {
            let estimator = LogisticRegression { c: 1e4, ..Default::default() }.into();
            let function = ActiveLearning { estimator, strategy, initial: 2, queries: 16 };
            *function.compute(given).unwrap().error.last().unwrap()
        };
        let margin = error(QueryStrategy::Margin);
        assert!(margin < 0.005, "{margin}");
        assert!(error(QueryStrategy::Random) > 2.0 * margin);
    }
}
