//! Number of clusters by an outside task: how well a learner does that sees only the clusters.
//!
//! For every number of clusters and every fold, k-means is fitted to the training rows, all rows get
//! their cluster, and the learner predicts the target from the cluster alone (one column of zeros and
//! ones a cluster). The number of best mean score on the test rows is suggested, the lowest of equals.
//!
//! U. von Luxburg, R. Williamson and I. Guyon (2012), Clustering: science or art?, JMLR W&CP 27, 65-79.

use super::Examples;
use crate::Learner;
use crate::cluster::{KMeans, KMeansModel, Restarts};
use crate::metrics::{Direction, Metric, Predictions};
use crate::select::{Split, usual_splitter};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Number of clusters by an outside task: the score of a learner that sees only the clusters.
#[derive(Params, Clone, Debug)]
pub struct KByTask {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Largest number of clusters.
    #[param(default = 10, range = 2..=1000)]
    pub k_max: usize,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// The metric; accuracy or R² by default.
    pub scoring: Option<String>,
}

/// Scores by the number of clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct TaskScores {
    /// The number of best mean score, the lowest of equals.
    pub value: u64,
    /// Numbers of clusters.
    pub k: Vec<u64>,
    /// Mean score on the test rows.
    pub score: Vec<f64>,
    /// Standard deviation over the folds.
    pub deviation: Vec<f64>,
    /// Scores: one row a number of clusters, one column a fold.
    pub scores: Matrix,
}

impl Function for KByTask {
    type Inputs<'a> = Examples<'a>;
    type Output = TaskScores;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.k_by_task", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("von Luxburg, Williamson and Guyon (2012)");

    fn call(&self, given: Examples, run: &Context) -> Result<TaskScores> {
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let metric = target.metric(self.scoring.as_deref())?;
        let splits: Vec<Split> = usual_splitter(&data, self.cv).splits(&data, run)?.collect();
        let smallest = splits.iter().map(|split| split.train.len()).min().unwrap_or(0);
        let k: Vec<usize> = (1..=self.k_max.min(smallest)).collect();
        run.claim(16 * (data.nrows() * data.x.ncols()) as u64, "the rows of a fold")?;
        let found = run.try_par_map(k.len() * splits.len(), |job| {
            let inner = run.child(job as u64).with_threads(1);
            self.score(k[job / splits.len()], &splits[job % splits.len()], &data, metric, &inner)
        })?;
        let scores = Matrix::from_vec(k.len(), splits.len(), found)?;
        let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
        let score: Vec<f64> = scores.rows().map(mean).collect();
        let deviation = scores
            .rows()
            .zip(&score)
            .map(|(row, m)| mean(&row.iter().map(|s| (s - m).powi(2)).collect::<Vec<_>>()).sqrt())
            .collect();
        let better = |a: f64, b: f64| match metric.direction {
            Direction::Higher => a > b,
            Direction::Lower => a < b,
        };
        let best = (1..k.len()).fold(0, |b, i| if better(score[i], score[b]) { i } else { b });
        let k: Vec<u64> = k.into_iter().map(|k| k as u64).collect();
        Ok(TaskScores { value: k[best], k, score, deviation, scores })
    }

    fn chart(&self, found: &TaskScores) -> Option<Chart> {
        let k: Vec<f64> = found.k.iter().map(|&k| k as f64).collect();
        let pairs = || found.score.iter().zip(&found.deviation);
        let low = pairs().map(|(score, deviation)| score - deviation).collect();
        let high = pairs().map(|(score, deviation)| score + deviation).collect();
        let panel = Panel::new("clusters", "score on test rows")
            .mark(Mark::band("one deviation", k.clone(), low, high).unnamed())
            .mark(Mark::line("score", k, found.score.clone()).unnamed())
            .mark(Mark::vertical("best", vec![found.value as f64]).dashed());
        let text = "The score of a learner that sees only the clusters.";
        Some(Chart::new("Clusters for a task", text).panel(panel))
    }
}

impl KByTask {
    fn score(
        &self,
        k: usize,
        split: &Split,
        data: &Dataset,
        metric: &'static Metric,
        run: &Context,
    ) -> Result<f64> {
        let (train, test) = (data.gather(&split.train), data.gather(&split.test));
        let learner = KMeans { n_clusters: k, n_init: Restarts::Count(10), ..KMeans::default() };
        let unlabelled = Dataset { y: None, ..train.view() };
        let clusters = learner.fit_in(&unlabelled, &run.untraced())?;
        let (seen, new) = (one_hot(&clusters, &train, k, run)?, one_hot(&clusters, &test, k, run)?);
        let view = train.view();
        let seen = Dataset { x: seen.frame(), ..view };
        let accepts = self.estimator.any_accepts();
        let model =
            self.estimator.fit_any(&crate::learner::offered(&seen, seen.x, accepts), run)?;
        let said = Predictions::of(model.as_ref(), &new.frame(), run)?;
        metric.score(&said.with_truth(&Dataset { x: new.frame(), ..test.view() }), run)
    }
}

/// A column of zeros and ones for each cluster.
fn one_hot(model: &KMeansModel, rows: &OwnedDataset, k: usize, run: &Context) -> Result<Table> {
    let labels = model.assign_in(&rows.x.frame(), run)?;
    let own = |i: usize, j: usize| f64::from(u8::from(labels[i] == Some(j as u32)));
    Ok(Table::unnamed(Matrix::from_fn(labels.len(), k, own)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DecisionTreeClassifier;

    #[test]
    fn classes_that_are_groups_need_as_many_clusters() {
        let x = Matrix::from_fn(120, 2, |i, j| {
            let middle = [[0.0, 0.0], [9.0, 1.0], [4.0, 8.0]][i % 3][j];
            middle + ((i * (7 + 5 * j)) as f64 * 0.7).sin()
        });
        let table = Table::unnamed(x);
        let codes: Vec<u32> = (0..120).map(|i| i % 3).collect();
        let classes = ["a", "b", "c"].map(Label::from);
        let given = Examples {
            x: table.frame(),
            y: Classes { codes: &codes, classes: &classes },
            sample_weight: None,
        };
        let estimator: Learner = DecisionTreeClassifier::default().into();
        let learner = KByTask { estimator, k_max: 6, cv: 4, scoring: None };
        let found = learner.compute(given).unwrap();
        assert_eq!((found.value, found.k.len()), (3, 6));
        assert_eq!((found.scores.nrows(), found.scores.ncols()), (6, 4));
        assert!((found.score[0] - 1.0 / 3.0).abs() < 1e-12 && found.score[2] == 1.0);
    }
}
