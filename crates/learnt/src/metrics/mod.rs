//! Scores: how good predictions and clusterings are, as functions and by name.
//!
//! A score that does not exist for these rows (one class, nothing predicted positive, a constant truth)
//! is an error with the reason; in a lenient run ([`Context::lenient`], as from Python) it is a warning,
//! and the value is the one that is usual.

mod accuracy;
mod agreement;
mod brier_decomposition;
mod by_class;
mod calibration_curve;
mod cluster_scores;
mod compactness;
mod confusion_counts;
mod confusion_matrix;
mod contingency;
mod cost_threshold;
mod cross_entropy;
mod decision;
mod deviance;
mod information_scores;
mod loss_functions;
pub mod losses;
mod pair_indices;
mod pairwise;
mod precision_recall;
mod precision_recall_curve;
mod probability;
mod ranking;
mod registry;
mod regression;
mod residuals;
mod roc_curve;
mod roc_interval;
mod row_losses;
pub(crate) mod tiles;

pub use accuracy::{
    AccuracyScore, BalancedAccuracyScore, CohenKappaScore, CostWeightedError, Disagreement,
    MatthewsCorrcoef, TwoLabelings, ZeroOneLoss,
};
pub use agreement::{
    AdjustedRandScore, Agreement, ClusterF, ClusterFScore, ConditionalEntropy, ContingencyMatrix,
    ContingencyTable, EntropyMean, FowlkesMallowsScore, MaximumMatchingScore, MutualInfoScore,
    NormalizedMutualInfoScore, PairJaccardScore, PurityScore, RandScore, VariationOfInformation,
};
pub use brier_decomposition::{BrierDecomposition, BrierParts, ClassesAndProbability};
pub use by_class::{ByClass, SHOWN as CLASSES_SHOWN, by_class};
pub use calibration_curve::{Bins, CalibrationCurve, CalibrationPoints, PositiveProbability};
pub use cluster_scores::{
    BetaCvScore, CalinskiHarabaszScore, Clustered, DaviesBouldinScore, DunnScore, Inertia,
    ScatterDecomposition, ScatterParts, SilhouetteSamples, SilhouetteScore, Silhouettes,
};
pub use compactness::{Compactness, Scatter, Spread};
pub use confusion_counts::ConfusionCounts;
pub use confusion_matrix::{Cells, Confusion, ConfusionMatrix, Normalize};
pub use contingency::Contingency;
pub use cost_threshold::{CostCurve, CostThreshold};
pub use cross_entropy::{
    ClassesAndProbabilities, ClassesAndScores, CrossEntropy, Entropies, MultinomialDeviance,
};
pub use decision::Decision;
pub use deviance::{
    D2TweedieScore, MeanGammaDeviance, MeanPoissonDeviance, MeanTweedieDeviance, OneOutput,
};
pub use information_scores::{
    AdjustedMutualInfoScore, CompletenessScore, HomogeneityCompletenessV,
    HomogeneityCompletenessVMeasure, HomogeneityScore, VMeasureScore,
};
pub use learnt_core::function::{Direction, Task};
pub use loss_functions::{
    Decided, HingeLoss, HuberLoss, LossCurves, LossTable, MarginKind, MarginLoss, Margins,
};
pub use pair_indices::{Indices, PairIndices};
pub use pairwise::{CosineSimilarity, DistanceKind, PairwiseDistances, RowsAndRows};
pub use precision_recall::{
    Average, Averaging, ClassScores, ClassificationReport, F1Score, FbetaScore,
    PrecisionRecallFscoreSupport, PrecisionScore, RecallScore, ReportTable, SpecificityScore,
    ZeroDivision,
};
pub use precision_recall_curve::{
    AveragePrecisionScore, LiftCurve, LiftPoints, PrecisionRecallCurve, PrecisionRecallPoints,
};
pub use probability::{BrierScoreLoss, Foretold, Half, LogLoss, Probable};
pub use ranking::Steps;
pub use registry::{Metric, Outcome, Predictions, all, find, usual, usual_for};
pub use regression::{
    Compared, ExplainedVarianceScore, MaxError, MeanAbsoluteError, MeanAbsolutePercentageError,
    MeanSquaredError, MedianAbsoluteError, MultiOutput, R2Score, RootMeanSquaredError,
    SumSquaredError,
};
pub use residuals::Residuals;
pub use roc_curve::{Auc, CurvePoints, MultiClass, RocAucScore, RocCurve, RocPoints};
pub use roc_interval::{AreaInterval, RocAucInterval, TwoScores};
pub use row_losses::{
    Gap, GeneralizationGap, HeldOut, HoldoutEstimate, KnownLosses, LossesOfRows,
    NumbersAndPredictions, RegressionLoss, RowLoss, TrainAndTest,
};

use learnt_core::answer::DatumType;
use learnt_core::prelude::*;

/// The functions of this family.
pub const FUNCTIONS: &[FunctionEntry] = &[
    function::<AccuracyScore>(),
    function::<ZeroOneLoss>(),
    function::<BalancedAccuracyScore>(),
    function::<ConfusionMatrix>(),
    function::<PrecisionScore>(),
    function::<RecallScore>(),
    function::<SpecificityScore>(),
    function::<F1Score>(),
    function::<FbetaScore>(),
    function::<PrecisionRecallFscoreSupport>(),
    function::<ClassificationReport>(),
    function::<MatthewsCorrcoef>(),
    function::<CohenKappaScore>(),
    function::<CostWeightedError>(),
    function::<RocAucScore>(),
    function::<RocCurve>(),
    function::<Auc>(),
    function::<RocAucInterval>(),
    function::<CostThreshold>(),
    function::<AveragePrecisionScore>(),
    function::<PrecisionRecallCurve>(),
    function::<LiftCurve>(),
    function::<LogLoss>(),
    function::<BrierScoreLoss>(),
    function::<BrierDecomposition>(),
    function::<CalibrationCurve>(),
    function::<CrossEntropy>(),
    function::<MultinomialDeviance>(),
    function::<GeneralizationGap>(),
    function::<MarginLoss>(),
    function::<HingeLoss>(),
    function::<HuberLoss>(),
    function::<LossCurves>(),
    function::<RegressionLoss>(),
    function::<HoldoutEstimate>(),
    function::<RootMeanSquaredError>(),
    function::<MeanSquaredError>(),
    function::<MeanAbsoluteError>(),
    function::<MedianAbsoluteError>(),
    function::<MaxError>(),
    function::<MeanAbsolutePercentageError>(),
    function::<SumSquaredError>(),
    function::<R2Score>(),
    function::<ExplainedVarianceScore>(),
    function::<MeanTweedieDeviance>(),
    function::<MeanPoissonDeviance>(),
    function::<MeanGammaDeviance>(),
    function::<D2TweedieScore>(),
    function::<SilhouetteScore>(),
    function::<SilhouetteSamples>(),
    function::<DaviesBouldinScore>(),
    function::<CalinskiHarabaszScore>(),
    function::<Inertia>(),
    function::<DunnScore>(),
    function::<BetaCvScore>(),
    function::<PairIndices>(),
    function::<ScatterDecomposition>(),
    function::<ContingencyMatrix>(),
    function::<AdjustedRandScore>(),
    function::<RandScore>(),
    function::<MutualInfoScore>(),
    function::<NormalizedMutualInfoScore>(),
    function::<AdjustedMutualInfoScore>(),
    function::<HomogeneityScore>(),
    function::<CompletenessScore>(),
    function::<VMeasureScore>(),
    function::<HomogeneityCompletenessVMeasure>(),
    function::<FowlkesMallowsScore>(),
    function::<PurityScore>(),
    function::<MaximumMatchingScore>(),
    function::<ClusterFScore>(),
    function::<PairJaccardScore>(),
    function::<VariationOfInformation>(),
    function::<ConditionalEntropy>(),
    function::<PairwiseDistances>(),
    function::<CosineSimilarity>(),
];

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

impl Predicted<'_> {
    fn counts(&self) -> Result<ConfusionCounts> {
        let classes = self.y_true.classes.len();
        ConfusionCounts::new(self.y_true.codes, self.y_pred.codes, classes, self.sample_weight)
    }
}

/// Scores beside the actual classes.
#[derive(Inputs, Clone, Copy)]
pub struct Ranked<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// The score of each row: higher means more likely positive. Several columns are one a class.
    pub y_score: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Predicted numbers beside the actual ones.
#[derive(Inputs, Clone, Copy)]
pub struct Estimated<'a> {
    /// The actual numbers; several columns are several outputs.
    pub y_true: MatRef<'a>,
    /// The predicted numbers, of the same shape.
    pub y_pred: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// One number, or one for each class or output.
#[derive(Clone, Debug, PartialEq)]
pub enum Score {
    /// One number.
    One(f64),
    /// One number each.
    Each(Vec<f64>),
}

impl Score {
    /// The number; `None` where there are several.
    pub fn one(&self) -> Option<f64> {
        match self {
            Score::One(value) => Some(*value),
            Score::Each(_) => None,
        }
    }

    /// All numbers.
    pub fn each(&self) -> &[f64] {
        match self {
            Score::One(value) => std::slice::from_ref(value),
            Score::Each(values) => values,
        }
    }
}

impl DatumType for Score {
    fn into_datum(self) -> Datum {
        match self {
            Score::One(value) => Datum::Real(value),
            Score::Each(values) => Datum::Reals(values),
        }
    }
    fn from_datum(datum: Datum) -> Result<Self> {
        match datum {
            Datum::Reals(values) => Ok(Score::Each(values)),
            datum => f64::from_datum(datum).map(Score::One),
        }
    }
}

impl Output for Score {
    const FIELDS: &'static [(&'static str, &'static str)] = &[("value", "")];
    fn into_data(self) -> Vec<Datum> {
        vec![self.into_datum()]
    }
    fn from_data(data: Vec<Datum>) -> Result<Self> {
        Score::from_datum(data.into_iter().next().unwrap_or(Datum::Missing))
    }
}

/// A value as a class.
fn class_of(name: &str, value: &Value) -> Result<Label> {
    Label::from_value(value).ok_or_else(|| Error::parameter(name, "a class", value))
}

/// Where a class stands in the sorted list; whole numbers and yes or no stand for each other as in
/// scikit-learn.
fn position(classes: &[Label], class: &Label) -> Option<usize> {
    let found = classes.binary_search_by(|known| known.order(class)).ok();
    found.or_else(|| match class {
        Label::Int(i @ 0..=1) => classes.iter().position(|known| *known == Label::Bool(*i == 1)),
        Label::Bool(b) => position(classes, &Label::Int(i64::from(*b))),
        _ => None,
    })
}

/// Where each wanted class stands among those of the data; all of them in order by default.
fn class_positions(wanted: Option<&[Value]>, classes: &[Label]) -> Result<Vec<Option<usize>>> {
    let Some(wanted) = wanted else { return Ok((0..classes.len()).map(Some).collect()) };
    let one = |value: &Value| Ok(position(classes, &class_of("labels", value)?));
    let found = wanted.iter().map(one).collect::<Result<Vec<_>>>()?;
    match found.iter().any(Option::is_some) {
        true => Ok(found),
        false => Err(Error::parameter("labels", "classes of which some occur", "none that occurs")),
    }
}

/// The code of the positive class of two; without a name, the larger of 0 or -1 and 1.
fn positive_class(pos_label: Option<&Value>, y: &Classes) -> Result<Option<u32>> {
    if y.classes.len() > 2 {
        let message = format!("this needs two classes, and there are {}", y.classes.len());
        return Err(Error::new(Code::Target, message));
    }
    if let Some(value) = pos_label {
        let class = class_of("pos_label", value)?;
        return match position(y.classes, &class) {
            Some(k) => Ok(Some(k as u32)),
            None if y.classes.len() < 2 => Ok(None),
            None => {
                let known: Vec<String> = y.classes.iter().map(ToString::to_string).collect();
                Err(Error::parameter("pos_label", format!("one of {}", known.join(", ")), class))
            }
        };
    }
    let usual = |label: &Label| match label {
        Label::Bool(_) => true,
        Label::Int(i) => (-1..=1).contains(i),
        Label::Real(x) => [-1.0, 0.0, 1.0].contains(x),
        Label::Text(_) => false,
    };
    match y.classes.iter().all(usual) {
        true => Ok(position(y.classes, &Label::Int(1)).map(|k| k as u32)),
        false => Err(Error::new(Code::Usage, "the positive class is not 1")
            .hint("say which one it is: pos_label")),
    }
}

/// The error for a score that does not exist.
fn undefined(score: &str, reason: impl std::fmt::Display) -> Error {
    Error::new(Code::Undefined, format!("{score} is undefined: {reason}"))
}

/// An error for a score that does not exist; in a lenient run a warning and the usual value.
fn undefined_or(run: &Context, score: &str, reason: &str, usual: f64) -> Result<f64> {
    let error = undefined(score, reason);
    match run.is_lenient() {
        true => {
            run.warn(Code::Undefined, format!("{}, and taken as {usual}", error.message()));
            Ok(usual)
        }
        false => Err(error),
    }
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

/// The mean with weights.
fn weighted_mean(values: &[f64], weights: Option<&[f64]>) -> f64 {
    match weights {
        None => values.iter().sum::<f64>() / values.len() as f64,
        Some(weights) => {
            let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            sum / weights.iter().sum::<f64>()
        }
    }
}
