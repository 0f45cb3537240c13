//! Scores: how good predictions are, by name and as functions.
//!
//! [`METRICS`] lists what the command line and comparisons can ask for; each takes an [`Outcome`],
//! which holds the truth and what a model predicted. A score that does not exist for these rows (one
//! class, nothing predicted positive, a constant truth) is an error with the reason, never NaN.

mod classification;
mod compactness;
mod confusion_matrix;
mod contingency;
mod list;
pub mod losses;
mod probability;
mod ranking;
mod regression;

pub use classification::{Average, ConfusionMatrix as ConfusionCounts};
pub use compactness::{Compactness, Scatter, Spread};
pub use confusion_matrix::{ConfusionMatrix, Normalize};
pub use contingency::Contingency;
pub use list::METRICS;
pub use probability::{brier_score, log_loss};
pub use ranking::{
    GainCurve, PrecisionRecallCurve, RocCurve, average_precision, gain_curve,
    precision_recall_curve, roc_auc, roc_auc_one_vs_rest, roc_curve,
};
pub use regression::Residuals;

use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[function::<ConfusionMatrix>()];

/// Predicted classes beside the actual ones.
#[derive(Inputs, Clone, Copy)]
pub struct Predicted<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// The predicted class of each row.
    pub y_pred: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Where each wanted class stands among those of the data; all of them in order by default.
fn class_positions(wanted: Option<&[Value]>, classes: &[Label]) -> Result<Vec<Option<usize>>> {
    let Some(wanted) = wanted else { return Ok((0..classes.len()).map(Some).collect()) };
    let position = |value: &Value| -> Result<Option<usize>> {
        let label =
            Label::from_value(value).ok_or_else(|| Error::parameter("labels", "classes", value))?;
        Ok(classes.binary_search_by(|class| class.order(&label)).ok())
    };
    let found = wanted.iter().map(position).collect::<Result<Vec<_>>>()?;
    match found.iter().any(Option::is_some) {
        true => Ok(found),
        false => Err(Error::parameter("labels", "classes of which some occur", "none that occurs")),
    }
}

/// What a target calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Classes.
    Classification,
    /// Numbers.
    Regression,
    /// No target.
    Unsupervised,
}

impl Task {
    /// The task that the target calls for.
    pub fn of(data: &Dataset) -> Task {
        match data.y {
            Some(Target::Class { .. }) => Task::Classification,
            Some(Target::Real(_)) => Task::Regression,
            None => Task::Unsupervised,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Task::Classification => "classification",
            Task::Regression => "regression",
            Task::Unsupervised => "unsupervised",
        }
    }
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Larger scores are better.
    Higher,
    /// Smaller scores are better.
    Lower,
}

/// A score by name.
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub doc: &'static str,
    /// The task it belongs to.
    pub task: Task,
    /// Which way is better.
    pub direction: Direction,
    /// The score, or why there is none.
    pub score: fn(&Outcome, &Context) -> Result<f64>,
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Metric({})", self.name)
    }
}

impl Metric {
    /// Whether score `a` is better than `b`.
    pub fn better(&self, a: f64, b: f64) -> bool {
        match self.direction {
            Direction::Higher => a > b,
            Direction::Lower => a < b,
        }
    }
}

/// The metric with this name; `_` and `-` are the same.
pub fn find(name: &str) -> Result<&'static Metric> {
    let wanted = name.to_lowercase().replace('_', "-");
    METRICS
        .iter()
        .find(|metric| metric.name == wanted || metric.aliases.contains(&wanted.as_str()))
        .ok_or_else(|| Error::unknown("metric", name, METRICS.iter().map(|metric| metric.name)))
}

/// What is shown if nothing is asked for; the first decides.
pub fn usual(task: Task) -> Vec<&'static Metric> {
    let names: &[&str] = match task {
        Task::Classification => &["auc", "accuracy", "log-loss"],
        Task::Regression => &["rmse", "mae", "r2"],
        Task::Unsupervised => &["silhouette", "davies-bouldin", "calinski-harabasz"],
    };
    names.iter().filter_map(|name| find(name).ok()).collect()
}

/// The truth about some rows, and what a model predicted about them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome<'a> {
    /// What is true, for supervised models.
    pub truth: Option<Target<'a>>,
    /// The inputs, for scores of clusterings.
    pub x: Option<Frame<'a>>,
    /// Predicted numbers.
    pub values: Option<MatRef<'a>>,
    /// Predicted class codes.
    pub codes: Option<&'a [u32]>,
    /// Predicted probabilities, one column a class.
    pub probabilities: Option<MatRef<'a>>,
    /// Predicted scores, one column for two classes, else one a class.
    pub decision_scores: Option<MatRef<'a>>,
    /// Clusters; `None` is noise.
    pub clusters: Option<&'a [Option<u32>]>,
    /// How much each row counts.
    pub weights: Option<&'a [f64]>,
    /// The class of interest among two; the second by default.
    pub positive: Option<u32>,
}

impl<'a> Outcome<'a> {
    fn class_truth(&self) -> Result<(&'a [u32], &'a [Label])> {
        match self.truth {
            Some(Target::Class { codes, classes }) => Ok((codes, classes)),
            _ => Err(Error::new(Code::Target, "this score needs a target of classes")),
        }
    }

    fn real_truth(&self) -> Result<MatRef<'a>> {
        match self.truth {
            Some(Target::Real(values)) => Ok(values),
            _ => Err(Error::new(Code::Target, "this score needs a numeric target")),
        }
    }

    fn given<T>(part: Option<T>, what: &str) -> Result<T> {
        part.ok_or_else(|| Error::unsupported(format!("this score needs {what}")))
    }
}

/// The predictions of a model, kept so that an [`Outcome`] can point to them.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    values: Option<Matrix>,
    codes: Option<Vec<u32>>,
    probabilities: Option<Matrix>,
    decision_scores: Option<Matrix>,
    clusters: Option<Vec<Option<u32>>>,
}

impl Predictions {
    /// All that the model says about the rows.
    pub fn of(model: &dyn Model, x: &Frame, run: &Context) -> Result<Predictions> {
        let mut predictions = Predictions::default();
        if let Some(regressor) = model.as_regressor() {
            predictions.values = Some(regressor.predict_in(x, run)?);
        }
        if let Some(classifier) = model.as_classifier() {
            predictions.codes = Some(classifier.classify_in(x, run)?);
            predictions.probabilities = offered(classifier.probabilities_in(x, run))?;
            if predictions.probabilities.is_none() {
                predictions.decision_scores = offered(classifier.decision_scores_in(x, run))?;
            }
        }
        if let Some(clusterer) = model.as_clusterer() {
            predictions.clusters = offered(clusterer.assign_in(x, run))?;
        }
        Ok(predictions)
    }

    /// The predictions beside the truth.
    pub fn with_truth<'a>(&'a self, data: &Dataset<'a>) -> Outcome<'a> {
        Outcome {
            truth: data.y,
            x: Some(data.x),
            values: self.values.as_ref().map(Matrix::view),
            codes: self.codes.as_deref(),
            probabilities: self.probabilities.as_ref().map(Matrix::view),
            decision_scores: self.decision_scores.as_ref().map(Matrix::view),
            clusters: self.clusters.as_deref(),
            weights: data.weights,
            positive: None,
        }
    }
}

/// `None` for what a model does not offer.
fn offered<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == Code::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}

/// The error for a score that does not exist.
fn undefined(score: &str, reason: impl std::fmt::Display) -> Error {
    Error::numeric(format!("{score} is undefined: {reason}"))
}

/// The error for lengths that differ.
fn same_length(what: &str, expected: usize, got: usize) -> Result<()> {
    match expected == got {
        true => Ok(()),
        false => Err(Error::shape(what, format!("{expected} rows"), format!("{got} rows"))),
    }
}

/// The weight of a row; 1 without weights.
fn weight_of(weights: Option<&[f64]>, i: usize) -> f64 {
    weights.and_then(|weights| weights.get(i)).copied().unwrap_or(1.0)
}
