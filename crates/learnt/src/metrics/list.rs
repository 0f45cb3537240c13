//! The metrics that can be asked for by name.

use super::classification::{Average, ConfusionMatrix};
use super::regression::{Residuals, over_outputs};
use super::{
    Compactness, Contingency, Direction, Metric, Outcome, Spread, Task, average_precision,
    brier_score, log_loss, roc_auc, roc_auc_one_vs_rest, undefined,
};
use learnt_core::prelude::*;

/// Describes one metric.
macro_rules! metric {
    ($name:literal, $aliases:expr, $task:ident, $direction:ident, $doc:literal, $score:expr) => {
        Metric {
            name: $name,
            aliases: &$aliases,
            doc: $doc,
            task: Task::$task,
            direction: Direction::$direction,
            score: $score,
        }
    };
}

/// Every metric, task by task.
pub const METRICS: &[Metric] = &[
    metric!(
        "accuracy",
        ["acc"],
        Classification,
        Higher,
        "Share of rows whose class is predicted right.",
        |outcome, _| defined("accuracy", confusion(outcome)?.accuracy())
    ),
    metric!(
        "balanced-accuracy",
        [],
        Classification,
        Higher,
        "Mean recall over the classes.",
        |outcome, _| defined("balanced-accuracy", confusion(outcome)?.balanced_accuracy())
    ),
    metric!(
        "auc",
        ["roc-auc", "roc-auc-ovr"],
        Classification,
        Higher,
        "Area under the ROC curve; mean over each class against the rest if there are several.",
        |outcome, _| area(outcome)
    ),
    metric!(
        "average-precision",
        ["ap"],
        Classification,
        Higher,
        "Area under precision against recall, by steps, for two classes.",
        |outcome, _| {
            let (positive, scores) = two_class_scores(outcome)?;
            average_precision(&positive, &scores, outcome.weights)
        }
    ),
    metric!(
        "log-loss",
        ["neg-log-loss", "cross-entropy"],
        Classification,
        Lower,
        "Mean of -ln p of the actual class.",
        |outcome, _| {
            let p = Outcome::given(outcome.probabilities, "probabilities")?;
            log_loss(outcome.class_truth()?.0, p, outcome.weights)
        }
    ),
    metric!(
        "brier",
        ["neg-brier-score"],
        Classification,
        Lower,
        "Mean squared distance of probabilities from the truth; half of it for two classes.",
        |outcome, _| {
            let p = Outcome::given(outcome.probabilities, "probabilities")?;
            brier_score(outcome.class_truth()?.0, p, outcome.weights)
        }
    ),
    metric!(
        "f1",
        ["f1-macro"],
        Classification,
        Higher,
        "2PR/(P+R) of the positive class; the plain mean over classes if there are several.",
        |outcome, _| of_class(outcome, "f1", |matrix, k| matrix.f_score(k, 1.0))
    ),
    metric!(
        "precision",
        ["precision-macro"],
        Classification,
        Higher,
        "TP/(TP+FP) of the positive class; the mean over several, 0 for one never predicted.",
        |outcome, _| of_class(outcome, "precision", ConfusionMatrix::precision)
    ),
    metric!(
        "recall",
        ["recall-macro", "sensitivity"],
        Classification,
        Higher,
        "TP/(TP+FN) of the positive class; the plain mean over classes if there are several.",
        |outcome, _| of_class(outcome, "recall", ConfusionMatrix::recall)
    ),
    metric!(
        "matthews",
        ["mcc", "matthews-corrcoef"],
        Classification,
        Higher,
        "Matthews' correlation of actual and predicted classes.",
        |outcome, _| Ok(confusion(outcome)?.matthews())
    ),
    metric!(
        "rmse",
        ["neg-root-mean-squared-error"],
        Regression,
        Lower,
        "Root of the mean squared error.",
        |outcome, _| residuals(outcome, Residuals::rmse)
    ),
    metric!(
        "mse",
        ["neg-mean-squared-error"],
        Regression,
        Lower,
        "Mean squared error.",
        |outcome, _| residuals(outcome, Residuals::mse)
    ),
    metric!(
        "mae",
        ["neg-mean-absolute-error"],
        Regression,
        Lower,
        "Mean absolute error.",
        |outcome, _| residuals(outcome, Residuals::mae)
    ),
    metric!(
        "median-ae",
        ["neg-median-absolute-error"],
        Regression,
        Lower,
        "Median absolute error.",
        |outcome, _| residuals(outcome, Residuals::median_absolute_error)
    ),
    metric!(
        "max-error",
        ["neg-max-error"],
        Regression,
        Lower,
        "Largest absolute error.",
        |outcome, _| residuals(outcome, |r| Ok(r.max_error()))
    ),
    metric!(
        "mape",
        ["neg-mean-absolute-percentage-error"],
        Regression,
        Lower,
        "Mean of |error| / |truth|; undefined where the truth is 0.",
        |outcome, _| residuals(outcome, Residuals::mape)
    ),
    metric!(
        "r2",
        [],
        Regression,
        Higher,
        "1 - residual over total sum of squares.",
        |outcome, _| residuals(outcome, Residuals::r2)
    ),
    metric!(
        "explained-variance",
        [],
        Regression,
        Higher,
        "1 - variance of the residuals over that of the truth.",
        |outcome, _| residuals(outcome, Residuals::explained_variance)
    ),
    metric!("silhouette", [], Unsupervised, Higher, "Mean silhouette.", |outcome, run| {
        compactness(outcome)?.silhouette(run)
    }),
    metric!(
        "davies-bouldin",
        [],
        Unsupervised,
        Lower,
        "Mean worst ratio of spreads to the distance of centres.",
        |outcome, _| compactness(outcome)?.davies_bouldin(Spread::Mean)
    ),
    metric!(
        "calinski-harabasz",
        [],
        Unsupervised,
        Higher,
        "Spread of the centres over spread around them.",
        |outcome, _| compactness(outcome)?.calinski_harabasz()
    ),
    metric!(
        "inertia",
        ["sse"],
        Unsupervised,
        Lower,
        "Sum of squared distances from the centres of the clusters.",
        |outcome, _| Ok(compactness(outcome)?.inertia())
    ),
    metric!(
        "dunn",
        [],
        Unsupervised,
        Higher,
        "Smallest distance between clusters over the largest inside one.",
        |outcome, run| compactness(outcome)?.dunn(run)
    ),
    metric!(
        "beta-cv",
        [],
        Unsupervised,
        Lower,
        "Mean distance inside clusters over that between them.",
        |outcome, run| compactness(outcome)?.beta_cv(run)
    ),
    metric!(
        "adjusted-rand",
        ["adjusted-rand-score", "ari"],
        Unsupervised,
        Higher,
        "Agreement of clusters and classes on pairs of rows, corrected for chance.",
        |outcome, _| Ok(contingency(outcome)?.adjusted_rand())
    ),
    metric!(
        "normalized-mutual-info",
        ["nmi"],
        Unsupervised,
        Higher,
        "Mutual information of clusters and classes over the geometric mean of their entropies.",
        |outcome, _| Ok(contingency(outcome)?.normalized_mutual_information())
    ),
    metric!(
        "purity",
        [],
        Unsupervised,
        Higher,
        "Share of rows in the most frequent class of their cluster.",
        |outcome, _| Ok(contingency(outcome)?.purity())
    ),
];

fn defined(name: &str, score: Option<f64>) -> Result<f64> {
    score.ok_or_else(|| undefined(name, "no row counts towards it"))
}

fn confusion(outcome: &Outcome) -> Result<ConfusionMatrix> {
    let (actual, classes) = outcome.class_truth()?;
    let predicted = Outcome::given(outcome.codes, "predicted classes")?;
    ConfusionMatrix::new(actual, predicted, classes.len(), outcome.weights)
}

/// The score of the positive class among two, the plain mean among more.
fn of_class(
    outcome: &Outcome,
    name: &str,
    score: impl Fn(&ConfusionMatrix, usize) -> Option<f64>,
) -> Result<f64> {
    let matrix = confusion(outcome)?;
    match matrix.classes() {
        2 => {
            let (_, classes) = outcome.class_truth()?;
            let k = positive_class(outcome, 2)?;
            score(&matrix, k).ok_or_else(|| {
                let reason = format!("no row is or is called class '{}'", classes[k]);
                undefined(name, reason)
            })
        }
        _ => defined(name, matrix.average(Average::Macro, score)),
    }
}

fn positive_class(outcome: &Outcome, classes: usize) -> Result<usize> {
    match outcome.positive.map_or(1, |code| code as usize) {
        k if k < classes => Ok(k),
        k => Err(Error::parameter("positive", format!("a code below {classes}"), k)),
    }
}

/// Scores as the ranking needs them: probabilities, else decision scores.
fn class_scores<'a>(outcome: &Outcome<'a>) -> Result<MatRef<'a>> {
    let scores = outcome.probabilities.or(outcome.decision_scores);
    Outcome::given(scores, "probabilities or decision scores")
}

/// Which rows are positive, and their scores, for two classes.
fn two_class_scores(outcome: &Outcome) -> Result<(Vec<bool>, Vec<f64>)> {
    let (codes, classes) = outcome.class_truth()?;
    if classes.len() != 2 {
        let message = format!("this score needs two classes, and there are {}", classes.len());
        return Err(Error::new(Code::Target, message));
    }
    let k = positive_class(outcome, 2)?;
    let scores = class_scores(outcome)?;
    let positive = codes.iter().map(|&code| code as usize == k).collect();
    let scores = match (scores.ncols(), k) {
        (1, 1) => scores.column(0),
        (1, _) => scores.column(0).iter().map(|score| -score).collect(),
        (2, _) => scores.column(k),
        (columns, _) => return Err(Error::shape("scores", "one or two columns", columns)),
    };
    Ok((positive, scores))
}

fn area(outcome: &Outcome) -> Result<f64> {
    let (codes, classes) = outcome.class_truth()?;
    if classes.len() == 2 {
        let (positive, scores) = two_class_scores(outcome)?;
        return roc_auc(&positive, &scores, outcome.weights);
    }
    let scores = class_scores(outcome)?;
    match scores.ncols() == classes.len() {
        true => roc_auc_one_vs_rest(codes, scores, outcome.weights),
        false => {
            let expected = format!("{} columns, one a class", classes.len());
            Err(Error::shape("scores", expected, scores.ncols()))
        }
    }
}

fn residuals(outcome: &Outcome, score: impl Fn(&Residuals) -> Result<f64>) -> Result<f64> {
    let values = Outcome::given(outcome.values, "predicted numbers")?;
    over_outputs(outcome.real_truth()?, values, outcome.weights, score)
}

fn compactness(outcome: &Outcome) -> Result<Compactness> {
    let x = Outcome::given(outcome.x, "the inputs")?;
    Compactness::new(x.values(), Outcome::given(outcome.clusters, "clusters")?)
}

fn contingency(outcome: &Outcome) -> Result<Contingency> {
    let clusters = Outcome::given(outcome.clusters, "clusters")?;
    Contingency::new(clusters, outcome.class_truth()?.0, outcome.weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::find;

    #[test]
    fn names_and_aliases_differ() {
        let mut names: Vec<&str> = METRICS
            .iter()
            .flat_map(|metric| metric.aliases.iter().copied().chain([metric.name]))
            .collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(find("ROC_AUC").unwrap().name, "auc");
        assert_eq!(find("acuracy").unwrap_err().code(), Code::Unknown);
    }

    #[test]
    fn decision_scores_stand_in_for_probabilities_and_the_positive_class_can_be_chosen() {
        let classes = ["a", "b"].map(Label::from);
        let decision_scores = Matrix::column_vector(vec![-1.0, 0.5, 2.0]);
        let truth = Target::Class { codes: &[0, 0, 1], classes: &classes };
        let outcome = Outcome {
            truth: Some(truth),
            decision_scores: Some(decision_scores.view()),
            ..Outcome::default()
        };
        let auc = find("auc").unwrap();
        let run = Context::default();
        assert_eq!((auc.score)(&outcome, &run).unwrap(), 1.0);
        let other = Outcome { positive: Some(0), ..outcome };
        assert_eq!((auc.score)(&other, &run).unwrap(), 1.0);
        let error = (find("log-loss").unwrap().score)(&outcome, &run).unwrap_err();
        assert_eq!(error.code(), Code::Unsupported);
    }
}
