//! Whether a score could be chance: cross-validation with the targets shuffled among the rows, many times.
//!
//! p = (C + 1) / (B + 1), where C of the B permutations score at least as well as the targets as they are.
//!
//! Reference: Ojala and Garriga (2010), Permutation tests for studying classifier performance.

use super::Examples;
use crate::Learner;
use crate::metrics::Metric;
use crate::select::{Split, cross_validate, usual_splitter};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Whether a cross-validated score could be chance: permutation test of a learner.
#[derive(Params, Clone, Debug)]
pub struct PermutationTest {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// Number of permutations.
    #[param(default = 100, range = 1..)]
    pub n_permutations: usize,
    /// The metric; accuracy or R² by default.
    pub scoring: Option<String>,
}

/// The score, those of permuted targets, and the p-value.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PermutationTestScore {
    /// The score with the targets as they are.
    pub score: f64,
    /// Scores with permuted targets.
    pub permutation_scores: Vec<f64>,
    /// Share of permutations that score at least as well, each side counting the targets themselves.
    pub pvalue: f64,
}

impl Function for PermutationTest {
    type Inputs<'a> = Examples<'a>;
    type Output = PermutationTestScore;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.permutation_test_score", FunctionKind::Analysis)
            .alias(&["permutation-test"])
            .randomness()
            .threads()
            .reference("Ojala and Garriga (2010)");

    fn call(&self, given: Examples, run: &Context) -> Result<PermutationTestScore> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let metric = target.metric(self.scoring.as_deref())?;
        let score = self.score(&data, metric, run)?;
        let permutation_scores = run.try_par_map(self.n_permutations, |b| {
            let run = run.child(b as u64).with_threads(1);
            let mut order: Vec<usize> = (0..data.nrows()).collect();
            sample::shuffle(&mut run.rng(0), &mut order);
            let shuffled = Dataset::new(data.x).with_target(data.y.ok_or_else(no_target)?);
            let shuffled = shuffled.gather(&order);
            let y = shuffled.view().y;
            self.score(&Dataset { y, ..data }, metric, &run)
        })?;
        let as_good = |other: &&f64| !metric.better(score, **other);
        let count = permutation_scores.iter().filter(as_good).count();
        let pvalue = (count as f64 + 1.0) / (self.n_permutations as f64 + 1.0);
        Ok(PermutationTestScore { score, permutation_scores, pvalue })
    }
}

fn no_target() -> Error {
    Error::internal("rows without a target")
}

impl PermutationTest {
    fn score(&self, data: &Dataset, metric: &'static Metric, run: &Context) -> Result<f64> {
        let splits: Vec<Split> = usual_splitter(data, self.cv).splits(data, run)?.collect();
        let found = cross_validate(self.estimator.0.as_ref(), data, &splits, &[metric], run)?;
        match (found.mean(0), found.failed(), found.unscored(0)) {
            (Some(mean), ..) => Ok(mean),
            (_, Some((_, error)), _) | (_, _, Some((_, error))) => Err(error.clone()),
            _ => Err(Error::internal("a cross-validation without a score")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::KNeighborsClassifier;

    #[test]
    fn iris_is_no_chance_and_noise_is() {
        let data = crate::datasets::load("iris").unwrap();
        let (codes, classes) = data.view().class_target().unwrap();
        let test = PermutationTest {
            estimator: KNeighborsClassifier::default().into(),
            n_permutations: 39,
            ..Default::default()
        };
        let given =
            Examples { x: data.view().x, y: Classes { codes, classes }, sample_weight: None };
        let found = test.compute(given).unwrap();
        assert!(found.score > 0.9 && (found.pvalue - 1.0 / 40.0).abs() < 1e-15, "{found:?}");
        let mut order: Vec<usize> = (0..150).collect();
        sample::shuffle(&mut Context::default().rng(9), &mut order);
        let noise: Vec<u32> = order.iter().map(|&i| codes[i]).collect();
        let noise = Examples { y: Classes { codes: &noise, classes }, ..given };
        assert!(test.compute(noise).unwrap().pvalue > 0.05);
    }
}
