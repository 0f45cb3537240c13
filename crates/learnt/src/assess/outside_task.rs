//! How many clusters, judged by a task outside: for each k the clusters of the training rows become columns
//! of 0 and 1, alone or beside the inputs, and a learner that predicts the target from them is
//! cross-validated. Clusters are found on the training rows of each fold; test rows are assigned to them.
//!
//! Reference: von Luxburg, Williamson and Guyon (2012), Clustering: science or art?

use super::Examples;
use crate::Learner;
use crate::cluster::KMeans;
use crate::learner::offered;
use crate::metrics::Predictions;
use crate::select::{Split, usual_splitter};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::trained::check_rows;

/// Number of clusters by the score of a task that uses them.
#[derive(Params, Clone, Debug)]
pub struct ClustersForTask {
    /// The learner that predicts from the clusters.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// The clusterer; it must assign new rows.
    #[param(learner = clusterer, default = KMeans)]
    pub clusterer: Learner,
    /// Name of its parameter that is the number of clusters.
    #[param(default = "n_clusters".to_string())]
    pub param_name: String,
    /// Numbers of clusters.
    #[param(default = (2..=10).collect(), range = 1..)]
    pub k: Vec<usize>,
    /// Keep the inputs beside the clusters.
    #[param(default = false)]
    pub keep_inputs: bool,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// The metric; accuracy or R² by default.
    pub scoring: Option<String>,
}

/// The score for each number of clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct TaskScores {
    /// The number with the best mean score, the first of equals.
    pub value: u64,
    /// Numbers of clusters.
    pub k: Vec<u64>,
    /// Mean score over the folds.
    pub score: Vec<f64>,
    /// Standard error of the mean.
    pub standard_error: Vec<f64>,
}

impl Function for ClustersForTask {
    type Inputs<'a> = Examples<'a>;
    type Output = TaskScores;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.clusters_for_task", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("von Luxburg, Williamson and Guyon (2012), Clustering: science or art?");

    fn call(&self, given: Examples, run: &Context) -> Result<TaskScores> {
        if self.k.is_empty() {
            return Err(Error::parameter("k", "at least one number", "none"));
        }
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let metric = target.metric(self.scoring.as_deref())?;
        let splits: Vec<Split> = usual_splitter(&data, self.cv).splits(&data, run)?.collect();
        run.claim(16 * (data.nrows() * data.x.ncols()) as u64, "the rows of a fold")?;
        let folds = splits.len();
        let scores = run.try_par_map(self.k.len() * folds, |job| {
            let (k, split) = (self.k[job / folds], &splits[job % folds]);
            let run = run.child((job % folds) as u64).with_threads(1);
            let (train, test) = (data.gather(&split.train), data.gather(&split.test));
            let (train, test) = (train.view(), test.view());
            let [inside, outside] = self.features(k, &train.x, &test.x, &run)?;
            let learner = &self.estimator;
            let seen = Dataset { x: inside.frame(), ..train };
            let model = learner.fit_any(&offered(&seen, seen.x, learner.any_accepts()), &run)?;
            check_rows(learner.about(), model.as_ref(), &outside.frame(), &run)?;
            let said = Predictions::of(model.as_ref(), &outside.frame(), &run)?;
            metric.score(&said.with_truth(&Dataset { x: outside.frame(), ..test }), &run)
        })?;
        let mut out = TaskScores {
            value: 0,
            k: self.k.iter().map(|&k| k as u64).collect(),
            score: Vec::new(),
            standard_error: Vec::new(),
        };
        for scores in scores.chunks(folds) {
            let mean = scores.iter().sum::<f64>() / folds as f64;
            let square = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>();
            out.standard_error.push((square / (folds as f64 - 1.0) / folds as f64).sqrt());
            out.score.push(mean);
        }
        let mut best = 0;
        for (i, &score) in out.score.iter().enumerate() {
            if metric.better(score, out.score[best]) {
                best = i;
            }
        }
        out.value = out.k[best];
        Ok(out)
    }

    fn chart(&self, found: &TaskScores) -> Option<Chart> {
        let k: Vec<f64> = found.k.iter().map(|&k| k as f64).collect();
        let panel = Panel::new("clusters", "score of the task")
            .mark(Mark::line("score", k, found.score.clone()).unnamed())
            .mark(Mark::vertical("best", vec![found.value as f64]).dashed());
        let about =
            "The cross-validated score of a learner that sees the clusters, against their number.";
        Some(Chart::new("Clusters for a task", about).panel(panel))
    }
}

impl ClustersForTask {
    /// Columns of 0 and 1 for the clusters of training and of test rows; noise has none.
    fn features(&self, k: usize, train: &Frame, test: &Frame, run: &Context) -> Result<[Table; 2]> {
        let mut learner = self.clusterer.clone();
        learner.0.set(&self.param_name, &Value::Int(k as i64))?;
        learner.check()?;
        let model = learner.fit_any(&Dataset::new(*train), run)?;
        let clusterer = model.as_clusterer().ok_or_else(|| {
            Error::unsupported(format!("{} finds no clusters", learner.about().name()))
        })?;
        let (inside, outside) = (clusterer.assign_in(train, run)?, clusterer.assign_in(test, run)?);
        let most = inside.iter().chain(&outside).flatten().max().map_or(0, |&most| most as usize);
        let kept = if self.keep_inputs { train.ncols() } else { 0 };
        let table = |frame: &Frame, labels: &[Option<u32>]| {
            let values = frame.values();
            Table::unnamed(Matrix::from_fn(labels.len(), kept + most + 1, |i, j| match j < kept {
                true => values.at(i, j),
                false => f64::from(labels[i] == Some((j - kept) as u32)),
            }))
        };
        Ok([table(train, &inside), table(test, &outside)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    #[test]
    fn three_groups_with_three_levels_need_three_clusters() {
        let x = Table::unnamed(Matrix::from_fn(90, 1, |i, _| {
            (i % 3) as f64 * 10.0 + (i as f64 * 0.7).sin()
        }));
        let y: Vec<Label> = (0..90)
            .map(|i| Label::Real([0.0, 7.0, -3.0][i % 3] + 0.1 * (i as f64).cos()))
            .collect();
        let (codes, classes) = Label::encode(&y);
        let function = ClustersForTask {
            estimator: LinearRegression::default().into(),
            k: vec![1, 2, 3],
            ..Default::default()
        };
        let y = Classes { codes: &codes, classes: &classes };
        let given = Examples { x: x.frame(), y, sample_weight: None };
        let found = function.compute(given).unwrap();
        assert_eq!(found.value, 3, "{found:?}");
        assert!(found.score[2] > 0.99 && found.score[0] < 0.1, "{found:?}");
    }
}
