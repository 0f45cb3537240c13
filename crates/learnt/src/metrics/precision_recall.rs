//! Precision, recall, specificity and F of each class, and averages of them.
//!
//! P = TP / (TP + FP), R = TP / (TP + FN), specificity TN / (TN + FP),
//! F_β = (1 + β²) TP / ((1 + β²) TP + β² FN + FP). Averages: plain (macro), by the actual rows (weighted),
//! of the sums of counts (micro). A class without a denominator has no score of its own: an error for one
//! class, and 0 in averages, unless `zero_division` says otherwise.

use super::{Predicted, Score, class_of, class_positions, position, undefined, weighted_mean};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

/// Which classes count, and how their scores become one.
#[derive(Params, Clone, Debug)]
pub struct Averaging {
    /// The classes that count, in their order; all that occur by default.
    pub labels: Option<Vec<Value>>,
    /// The class of interest among two, for the average `binary`.
    #[param(default = Value::Int(1))]
    pub pos_label: Value,
    /// How the scores of the classes become one.
    #[param(default = Average::Binary)]
    pub average: Average,
    /// What a score is that would divide by zero.
    #[param(default = ZeroDivision::Warn)]
    pub zero_division: ZeroDivision,
}

/// Ways to make one number of the scores of all classes.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// The score of the positive class of two.
    Binary,
    /// From the sums of counts over classes.
    Micro,
    /// The plain mean over classes.
    Macro,
    /// The mean weighted by the number of actual rows.
    Weighted,
    /// None: a score for each class.
    #[choice(none)]
    Each,
}

/// What a score is that would divide by zero.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ZeroDivision {
    /// 0 with a warning in Python; elsewhere an error, and 0 within averages.
    Warn,
    /// Not a number, left out of averages.
    Nan,
    /// This number.
    #[choice(range = 0.0..=1.0)]
    Value(f64),
}

/// Counts of one class, or sums over classes.
#[derive(Clone, Copy, Default)]
struct Tally {
    hits: f64,
    actual: f64,
    predicted: f64,
    total: f64,
}

/// A score of a class.
#[derive(Clone, Copy)]
enum Part {
    Precision,
    Recall,
    Specificity,
    F(f64),
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Precision => "precision",
            Part::Recall => "recall",
            Part::Specificity => "specificity",
            Part::F(_) => "F",
        }
    }

    fn why_not(self) -> &'static str {
        match self {
            Part::Precision => "no row is called that class",
            Part::Recall => "no row is of that class",
            Part::Specificity => "every row is of that class",
            Part::F(_) => "no row is or is called that class",
        }
    }

    fn of(self, tally: &Tally) -> Option<f64> {
        let (above, below) = match self {
            Part::Precision => (tally.hits, tally.predicted),
            Part::Recall => (tally.hits, tally.actual),
            Part::Specificity => {
                let negative = tally.total - tally.actual;
                (negative - (tally.predicted - tally.hits), negative)
            }
            Part::F(beta) => {
                let square = beta * beta;
                ((1.0 + square) * tally.hits, square * tally.actual + tally.predicted)
            }
        };
        (below > 0.0).then(|| above / below)
    }
}

impl Averaging {
    /// The averaging that gives a score for each class.
    fn each() -> Self {
        Averaging { average: Average::Each, ..Averaging::default() }
    }

    /// The classes that count, with their tallies.
    fn tallies(&self, given: &Predicted) -> Result<Vec<Tally>> {
        let counts = given.counts()?;
        let classes = given.y_true.classes;
        let wanted: Vec<Option<usize>> = match (self.average, &self.labels) {
            (Average::Binary, _) => vec![self.positive(classes)?],
            (_, Some(labels)) => class_positions(Some(labels), classes)?,
            (_, None) => occurring(given).into_iter().map(Some).collect(),
        };
        let total = counts.total();
        let tally = |k: usize| Tally {
            hits: counts.counts()[(k, k)],
            actual: counts.actual(k),
            predicted: counts.predicted(k),
            total,
        };
        let none = Tally { total, ..Tally::default() };
        let tallies: Vec<Tally> = wanted.iter().map(|k| k.map_or(none, tally)).collect();
        Ok(match self.average {
            Average::Micro => vec![sum(&tallies)],
            _ => tallies,
        })
    }

    fn positive(&self, classes: &[Label]) -> Result<Option<usize>> {
        if classes.len() > 2 {
            let message = format!("there are {} classes, and the average is binary", classes.len());
            return Err(Error::new(Code::Usage, message)
                .hint("choose average: micro, macro, weighted or None"));
        }
        let class = class_of("pos_label", &self.pos_label)?;
        match position(classes, &class) {
            None if classes.len() == 2 => {
                let expected = format!("one of {}, {}", classes[0], classes[1]);
                Err(Error::parameter("pos_label", expected, class))
            }
            found => Ok(found),
        }
    }

    /// One part of every tally, and the average.
    fn score(&self, part: Part, tallies: &[Tally], run: &Context) -> Result<Score> {
        let found: Vec<Option<f64>> = tallies.iter().map(|tally| part.of(tally)).collect();
        if found.contains(&None) && self.zero_division == ZeroDivision::Warn {
            let alone = matches!(self.average, Average::Binary | Average::Micro);
            let error = undefined(part.name(), part.why_not());
            if alone && !run.is_lenient() {
                return Err(error);
            }
            let message = format!("{}, and taken as 0", error.message());
            run.warn(Code::Undefined, message);
        }
        let instead = match self.zero_division {
            ZeroDivision::Warn => 0.0,
            ZeroDivision::Nan => f64::NAN,
            ZeroDivision::Value(value) => value,
        };
        let values: Vec<f64> = found.into_iter().map(|score| score.unwrap_or(instead)).collect();
        Ok(match self.average {
            Average::Each => Score::Each(values),
            Average::Binary | Average::Micro => Score::One(values[0]),
            Average::Macro => Score::One(mean(&values, None)),
            Average::Weighted => {
                let weights: Vec<f64> = tallies.iter().map(|tally| tally.actual).collect();
                Score::One(mean(&values, Some(&weights)))
            }
        })
    }
}

/// Codes that occur in either list.
fn occurring(given: &Predicted) -> Vec<usize> {
    let mut seen = vec![false; given.y_true.classes.len()];
    for &code in given.y_true.codes.iter().chain(given.y_pred.codes) {
        seen[code as usize] = true;
    }
    (0..seen.len()).filter(|&k| seen[k]).collect()
}

fn sum(tallies: &[Tally]) -> Tally {
    tallies.iter().fold(Tally::default(), |sum, tally| Tally {
        hits: sum.hits + tally.hits,
        actual: sum.actual + tally.actual,
        predicted: sum.predicted + tally.predicted,
        total: sum.total + tally.total,
    })
}

/// The mean of the values that are numbers; plain where all weights are 0.
fn mean(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let kept: Vec<usize> = (0..values.len()).filter(|&k| !values[k].is_nan()).collect();
    let numbers: Vec<f64> = kept.iter().map(|&k| values[k]).collect();
    let weights: Option<Vec<f64>> =
        weights.map(|weights| kept.iter().map(|&k| weights[k]).collect());
    let weights = weights.filter(|weights| weights.iter().sum::<f64>() > 0.0);
    weighted_mean(&numbers, weights.as_deref())
}

/// One function for a part.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident, $path:literal, $part:expr, $scorers:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Params, Clone, Debug)]
        pub struct $name {
            /// Which classes count, and how their scores become one.
            #[param(flatten)]
            pub averaging: Averaging,
        }

        impl Function for $name {
            type Inputs<'a> = Predicted<'a>;
            type Output = Score;
            const ABOUT: &'static Callable =
                &Callable::new($path, FunctionKind::Metric).scores(&$scorers);

            fn call(&self, given: Predicted, run: &Context) -> Result<Score> {
                self.averaging.score($part, &self.averaging.tallies(&given)?, run)
            }
        }
    )*};
}

const TASK: Task = Task::Classification;

parts! {
    /// Precision: of the rows called a class, the share that is.
    PrecisionScore, "metrics.precision_score", Part::Precision, [Scorer::higher(
        "precision",
        TASK,
        "TP/(TP+FP) of the positive class; the mean over several, 0 for one never predicted.",
    ).alias(&["precision-macro"])];
    /// Recall: of the rows of a class, the share that is called so.
    RecallScore, "metrics.recall_score", Part::Recall, [Scorer::higher(
        "recall",
        TASK,
        "TP/(TP+FN) of the positive class; the plain mean over classes if there are several.",
    ).alias(&["recall-macro", "sensitivity"])];
    /// Specificity: of the rows of other classes, the share that is not called this class.
    SpecificityScore, "metrics.specificity_score", Part::Specificity, [Scorer::higher(
        "specificity",
        TASK,
        "TN/(TN+FP) of the positive class; the plain mean over classes if there are several.",
    )];
    /// F1: the harmonic mean of precision and recall.
    F1Score, "metrics.f1_score", Part::F(1.0), [Scorer::higher(
        "f1",
        TASK,
        "2PR/(P+R) of the positive class; the plain mean over classes if there are several.",
    ).alias(&["f1-macro"])];
}

/// F-beta: the harmonic mean of precision and recall, in which recall counts β² times.
#[derive(Params, Clone, Debug)]
pub struct FbetaScore {
    /// How much recall counts beside precision.
    #[param(required, range = 0.0..)]
    pub beta: f64,
    /// Which classes count, and how their scores become one.
    #[param(flatten)]
    pub averaging: Averaging,
}

impl Function for FbetaScore {
    type Inputs<'a> = Predicted<'a>;
    type Output = Score;
    const ABOUT: &'static Callable = &Callable::new("metrics.fbeta_score", FunctionKind::Metric);

    fn call(&self, given: Predicted, run: &Context) -> Result<Score> {
        self.averaging.score(Part::F(self.beta), &self.averaging.tallies(&given)?, run)
    }
}

/// Precision, recall, F and the number of rows of each class, or their averages.
#[derive(Params, Clone, Debug)]
pub struct PrecisionRecallFscoreSupport {
    /// How much recall counts beside precision in F.
    #[param(default = 1.0, range = 0.0..)]
    pub beta: f64,
    /// Which classes count, and how their scores become one.
    #[param(flatten, default = Averaging::each())]
    pub averaging: Averaging,
}

/// Scores of each class, or their averages.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ClassScores {
    /// Of the rows called a class, the share that is.
    pub precision: Score,
    /// Of the rows of a class, the share that is called so.
    pub recall: Score,
    /// Their harmonic mean.
    pub fscore: Score,
    /// Rows of each class, or the sum of their weights; none for averages.
    pub support: Datum,
}

impl Function for PrecisionRecallFscoreSupport {
    type Inputs<'a> = Predicted<'a>;
    type Output = ClassScores;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.precision_recall_fscore_support", FunctionKind::Metric)
            .exempt(&[("scaled weights", "support is a sum of weights")]);

    fn call(&self, given: Predicted, run: &Context) -> Result<ClassScores> {
        let tallies = self.averaging.tallies(&given)?;
        let score = |part: Part| self.averaging.score(part, &tallies, run);
        let support = match (self.averaging.average, given.sample_weight) {
            (Average::Each, None) => {
                Datum::Counts(tallies.iter().map(|tally| tally.actual as i64).collect())
            }
            (Average::Each, _) => Datum::Reals(tallies.iter().map(|tally| tally.actual).collect()),
            _ => Datum::Missing,
        };
        Ok(ClassScores {
            precision: score(Part::Precision)?,
            recall: score(Part::Recall)?,
            fscore: score(Part::F(self.beta))?,
            support,
        })
    }
}

/// Precision, recall, F1 and rows of every class, and their means, as a table.
#[derive(Params, Clone, Debug)]
pub struct ClassificationReport {
    /// The classes that count, in their order; all that occur by default.
    pub labels: Option<Vec<Value>>,
    /// What a score is that would divide by zero.
    #[param(default = ZeroDivision::Warn)]
    pub zero_division: ZeroDivision,
}

/// A row for each class, then the plain and the weighted mean.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ReportTable {
    /// The class, or which mean.
    pub class: Vec<String>,
    /// Of the rows called that class, the share that is.
    pub precision: Vec<f64>,
    /// Of the rows of that class, the share that is called so.
    pub recall: Vec<f64>,
    /// Their harmonic mean.
    pub f1_score: Vec<f64>,
    /// Rows of that class, or the sum of their weights.
    pub support: Vec<f64>,
    /// Share of all rows whose class is predicted right.
    pub accuracy: f64,
}

impl Function for ClassificationReport {
    type Inputs<'a> = Predicted<'a>;
    type Output = ReportTable;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.classification_table", FunctionKind::Metric)
            .alias(&["classification-report"])
            .exempt(&[("scaled weights", "support is a sum of weights")]);

    fn call(&self, given: Predicted, run: &Context) -> Result<ReportTable> {
        let averaging = Averaging {
            labels: self.labels.clone(),
            zero_division: self.zero_division,
            ..Averaging::each()
        };
        let tallies = averaging.tallies(&given)?;
        let column = |part: Part| -> Result<Vec<f64>> {
            let mut out = averaging.score(part, &tallies, run)?.each().to_vec();
            for average in [Average::Macro, Average::Weighted] {
                let mean = Averaging { average, ..averaging.clone() };
                out.extend(mean.score(part, &tallies, &Context::default())?.one());
            }
            Ok(out)
        };
        let mut class: Vec<String> = match &self.labels {
            Some(labels) => labels
                .iter()
                .map(|value| Ok(class_of("labels", value)?.to_string()))
                .collect::<Result<_>>()?,
            None => {
                let name = |k: usize| given.y_true.classes[k].to_string();
                occurring(&given).into_iter().map(name).collect()
            }
        };
        class.extend(["macro avg".to_string(), "weighted avg".to_string()]);
        let mut support: Vec<f64> = tallies.iter().map(|tally| tally.actual).collect();
        let total: f64 = support.iter().sum();
        support.extend([total, total]);
        let accuracy = given.counts()?.accuracy();
        Ok(ReportTable {
            class,
            precision: column(Part::Precision)?,
            recall: column(Part::Recall)?,
            f1_score: column(Part::F(1.0))?,
            support,
            accuracy: accuracy.ok_or_else(|| undefined("accuracy", "no row counts"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_is_never_predicted_has_no_precision() {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &[0, 1, 1], classes: &classes };
        let y_pred = Classes { codes: &[0, 0, 0], classes: &classes };
        let given = Predicted { y_true, y_pred, sample_weight: None };
        let mut precision = PrecisionScore::default();
        assert_eq!(precision.compute(given).unwrap_err().code(), Code::Undefined);
        let lenient = Context::default().lenient();
        assert_eq!(precision.compute_in(given, &lenient).unwrap(), Score::One(0.0));
        precision.averaging.zero_division = ZeroDivision::Value(1.0);
        assert_eq!(precision.compute(given).unwrap(), Score::One(1.0));
        precision.averaging.average = Average::Macro;
        assert_eq!(precision.compute(given).unwrap(), Score::One((1.0 / 3.0 + 1.0) / 2.0));
        precision.averaging.zero_division = ZeroDivision::Nan;
        assert_eq!(precision.compute(given).unwrap(), Score::One(1.0 / 3.0));
    }

    #[test]
    fn the_average_of_three_classes_must_be_said() {
        let classes = ["a", "b", "c"].map(Label::from);
        let y = Classes { codes: &[0, 1, 2], classes: &classes };
        let given = Predicted { y_true: y, y_pred: y, sample_weight: None };
        assert_eq!(F1Score::default().compute(given).unwrap_err().code(), Code::Usage);
    }
}
